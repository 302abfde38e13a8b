package threept

// #include "shim.h"
import "C"

import (
	"context"
	"iter"
	"slices"
	"unsafe"
)

// Tokenizer makes ids of text and text of ids. It is immutable: any number of goroutines may use one.
type Tokenizer struct{ *handle }

var tokenizerKind = &kind{"tokenizer", func(p unsafe.Pointer) { C.tpt_tokenizer_destroy((*C.tpt_tokenizer)(p)) }}

func (t *Tokenizer) c() *C.tpt_tokenizer { return (*C.tpt_tokenizer)(t.p) }

func newTokenizer(ctx context.Context, c *Context, f func(in *C.tpt_context, out **C.tpt_tokenizer) C.tpt_status) (*Tokenizer, error) {
	h, err := createIn(ctx, c, tokenizerKind, func(in *C.tpt_context, out *unsafe.Pointer) C.tpt_status {
		return f(in, (**C.tpt_tokenizer)(unsafe.Pointer(out)))
	})
	if err != nil {
		return nil, err
	}
	return &Tokenizer{h}, nil
}

// BytesTokenizer has 256 ids: a byte is its own. c may be nil.
func BytesTokenizer(c *Context) (*Tokenizer, error) {
	return newTokenizer(nil, c, func(in *C.tpt_context, out **C.tpt_tokenizer) C.tpt_status {
		return C.tpt_tokenizer_bytes(in, out)
	})
}

// WordsTokenizer has the commonest words of a text; id 0 is the unknown word. c may be nil.
func WordsTokenizer(ctx context.Context, c *Context, text string, vocab int) (*Tokenizer, error) {
	if err := sizes(number{"vocab", vocab}); err != nil {
		return nil, err
	}
	return newTokenizer(ctx, c, func(in *C.tpt_context, out **C.tpt_tokenizer) C.tpt_status {
		p, length := chars(text)
		return C.tpt_tokenizer_words(in, p, length, C.size_t(vocab), out)
	})
}

// BPETokenizer is byte-level BPE of a text; fewer ids than vocab where the text is exhausted. c may be nil.
func BPETokenizer(ctx context.Context, c *Context, text string, vocab int) (*Tokenizer, error) {
	if err := sizes(number{"vocab", vocab}); err != nil {
		return nil, err
	}
	return newTokenizer(ctx, c, func(in *C.tpt_context, out **C.tpt_tokenizer) C.tpt_status {
		p, length := chars(text)
		return C.tpt_tokenizer_bpe(in, p, length, C.size_t(vocab), out)
	})
}

// LoadTokenizer reads a tokenizer.json. c may be nil.
func LoadTokenizer(ctx context.Context, c *Context, path string) (t *Tokenizer, err error) {
	err = terminated("path", path, func(path *C.char) (err error) {
		t, err = newTokenizer(ctx, c, func(in *C.tpt_context, out **C.tpt_tokenizer) C.tpt_status {
			return C.tpt_tokenizer_load(in, path, out)
		})
		return err
	})
	return t, err
}

// ParseTokenizer does the same from memory. c may be nil.
func ParseTokenizer(ctx context.Context, c *Context, json string) (*Tokenizer, error) {
	return newTokenizer(ctx, c, func(in *C.tpt_context, out **C.tpt_tokenizer) C.tpt_status {
		p, length := chars(json)
		return C.tpt_tokenizer_parse(in, p, length, out)
	})
}

// Close ends the tokenizer.
func (t *Tokenizer) Close() error {
	if t == nil {
		return nil
	}
	return t.close()
}

// LastError is the text of the last failed call on the tokenizer, "" where none has failed.
func (t *Tokenizer) LastError() (string, error) { return t.lastError() }

// ID is the tokenizer in a progress function.
func (t *Tokenizer) ID() ID { return t.id() }

// Save writes a tokenizer.json, whole or not at all.
func (t *Tokenizer) Save(ctx context.Context, path string) error {
	return terminated("path", path, func(path *C.char) error {
		return t.do(ctx, shared, func() C.tpt_status { return C.tpt_tokenizer_save(t.c(), path) })
	})
}

// text makes a call with a text result.
func (t *Tokenizer) text(ctx context.Context, hint int, f func(to *C.char, capacity C.size_t, length *C.size_t) C.tpt_status) (text string, err error) {
	err = t.do(ctx, shared, func() C.tpt_status { return result(&text, hint, f) })
	return text, err
}

// Format is the text that Save writes.
func (t *Tokenizer) Format(ctx context.Context) (string, error) {
	return t.text(ctx, 0, func(to *C.char, capacity C.size_t, length *C.size_t) C.tpt_status {
		return C.tpt_tokenizer_format(t.c(), to, capacity, length)
	})
}

// VocabSize is the largest id + 1: the least model.vocab_size for its ids.
func (t *Tokenizer) VocabSize() (int, error) {
	var count C.size_t
	err := t.do(nil, shared, func() C.tpt_status { return C.tpt_tokenizer_vocab_size(t.c(), &count) })
	return int(count), err
}

// encode asks with room for an id a byte, which is enough but for odd normalizers, and again where it is not.
func (t *Tokenizer) encode(ctx context.Context, text string, f func(text *C.char, length C.size_t, to *C.int32_t, capacity C.size_t, count *C.size_t) C.tpt_status) ([]int32, error) {
	found := make([]int32, len(text)+1)
	var count C.size_t
	err := t.do(ctx, shared, func() C.tpt_status {
		p, length := chars(text)
		status := f(p, length, ids(found), C.size_t(len(found)), &count)
		if status == C.TPT_OK && int(count) > len(found) {
			found = make([]int32, int(count))
			status = f(p, length, ids(found), C.size_t(len(found)), &count)
		}
		return status
	})
	if err != nil {
		return nil, err
	}
	return slices.Clip(found[:count]), nil
}

// Encode gives the ids of a text. Added tokens in the text are recognised, none is put in.
func (t *Tokenizer) Encode(ctx context.Context, text string) ([]int32, error) {
	return t.encode(ctx, text, func(text *C.char, length C.size_t, to *C.int32_t, capacity C.size_t, count *C.size_t) C.tpt_status {
		return C.tpt_tokenizer_encode(t.c(), text, length, to, capacity, count)
	})
}

// EncodeText reads special tokens as plain text: for untrusted text.
func (t *Tokenizer) EncodeText(ctx context.Context, text string) ([]int32, error) {
	return t.encode(ctx, text, func(text *C.char, length C.size_t, to *C.int32_t, capacity C.size_t, count *C.size_t) C.tpt_status {
		return C.tpt_tokenizer_encode_text(t.c(), text, length, to, capacity, count)
	})
}

// Decode gives the text of ids. Special tokens are left out.
func (t *Tokenizer) Decode(ctx context.Context, tokens ...int32) (string, error) {
	return t.text(ctx, 8*len(tokens), func(to *C.char, capacity C.size_t, length *C.size_t) C.tpt_status {
		return C.tpt_tokenizer_decode(t.c(), ids(tokens), C.size_t(len(tokens)), to, capacity, length)
	})
}

// DecodeTail is what tokens[done:] add to the text of tokens[:done]; a character not yet complete is held back until the
// id that ends it.
func (t *Tokenizer) DecodeTail(ctx context.Context, tokens []int32, done int) (string, error) {
	if err := sizes(number{"done", done}); err != nil {
		return "", err
	}
	return t.text(ctx, 0, func(to *C.char, capacity C.size_t, length *C.size_t) C.tpt_status {
		return C.tpt_tokenizer_decode_tail(t.c(), ids(tokens), C.size_t(len(tokens)), C.size_t(done), to, capacity, length)
	})
}

// Stream is the text of generated tokens, piece by piece: one for each token, "" where it ends no character. What the
// tokens follow, a prompt, is before. An error is the last that the loop gets. ctx ends it between two pieces, so that the
// text of a token that was made is not lost.
func (t *Tokenizer) Stream(ctx context.Context, before []int32, tokens iter.Seq2[int32, error]) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		all := slices.Clone(before)
		for token, err := range tokens {
			var piece string
			if err == nil {
				all = append(all, token)
				piece, err = t.DecodeTail(nil, all, len(all)-1)
			}
			if !yield(piece, err) || err != nil {
				return
			}
			if err = over(ctx); err != nil {
				yield("", err)
				return
			}
		}
	}
}

// TokenID is the id of a token as tokenizer.json spells it.
func (t *Tokenizer) TokenID(token string) (int32, error) {
	var number C.int32_t
	err := terminated("token", token, func(token *C.char) error {
		return t.do(nil, shared, func() C.tpt_status { return C.tpt_tokenizer_id(t.c(), token, &number) })
	})
	return int32(number), err
}

// Token is the other way.
func (t *Tokenizer) Token(id int32) (string, error) {
	return t.text(nil, 0, func(to *C.char, capacity C.size_t, length *C.size_t) C.tpt_status {
		return C.tpt_tokenizer_token(t.c(), C.int32_t(id), to, capacity, length)
	})
}
