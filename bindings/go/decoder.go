package threept

// #include "shim.h"
import "C"

import (
	"context"
	"iter"
	"runtime"
	"sync/atomic"
	"time"
	"unsafe"
)

// Decoder is a sequence in progress: keys and values of its tokens, the logits after the last, a sampler.
type Decoder struct {
	*handle
	vocab int
	room  int          // tokens that it can hold
	fed   atomic.Int64 // when takeTurn was called last, in ns
}

var decoderKind = &kind{"decoder", func(p unsafe.Pointer) { C.tpt_decoder_destroy((*C.tpt_decoder)(p)) }}

func (d *Decoder) c() *C.tpt_decoder {
	if d == nil {
		return nil
	}
	return (*C.tpt_decoder)(d.p)
}

func (d *Decoder) use(how access) use {
	if d == nil {
		return use{}
	}
	return use{d.handle, how, true}
}

// NewDecoder makes an empty sequence with room for maxPositions tokens, max_seq_len where it is 0, and greedy sampling.
func (m *Model) NewDecoder(maxPositions int) (*Decoder, error) {
	if err := sizes(number{"max_positions", maxPositions}); err != nil {
		return nil, err
	}
	h, err := m.create(nil, shared, decoderKind, func(out *unsafe.Pointer) C.tpt_status {
		return C.tpt_decoder_create(m.c(), C.size_t(maxPositions), (**C.tpt_decoder)(unsafe.Pointer(out)))
	})
	if err != nil {
		return nil, err
	}
	h.weights = m.own
	room := maxPositions
	if room == 0 {
		room = m.shape.positions
	}
	return &Decoder{handle: h, vocab: m.shape.vocab, room: room}, nil
}

// Close ends the sequence.
func (d *Decoder) Close() error {
	if d == nil {
		return nil
	}
	return d.close()
}

// LastError is the text of the last failed call on the decoder, "" where none has failed.
func (d *Decoder) LastError() (string, error) { return d.lastError() }

// ID is the decoder in a progress function.
func (d *Decoder) ID() ID { return d.id() }

// CopyTo copies positions, cache, last logits, sampler and its random state to a decoder of the same model: a way to
// branch. Any number of goroutines may copy from one.
func (d *Decoder) CopyTo(target *Decoder) error {
	from := shared
	if target == d {
		from = exclusive
	}
	return d.do(nil, from, func() C.tpt_status { return C.tpt_decoder_copy(d.c(), target.c()) }, target.use(exclusive))
}

// slice is how long the monitor leaves a goroutine its P without looking whether it was scheduled.
const slice = 10 * time.Millisecond

// takeTurn is for short calls that follow each other: from Go 1.26 on the monitor takes the P from every call of a
// goroutine that has not been scheduled for a slice, which costs a third of a small model's speed. A long call is better
// off without its P: the monitor sleeps then.
func (d *Decoder) takeTurn() {
	if d == nil {
		return
	}
	now := time.Now().UnixNano()
	if now-d.fed.Swap(now) < int64(slice) {
		runtime.Gosched()
	}
}

// Feed takes a prompt or one token. A failed one leaves the decoder as it was.
func (d *Decoder) Feed(ctx context.Context, tokens ...int32) error {
	d.takeTurn()
	return d.do(ctx, exclusive, func() C.tpt_status {
		return C.tpt_decoder_feed(d.c(), ids(tokens), C.size_t(len(tokens)), nil)
	})
}

// FeedLogits is Feed and gives the V logits after the last token, borrowed until the next call on the decoder.
func (d *Decoder) FeedLogits(ctx context.Context, tokens ...int32) (View, error) {
	var view View
	d.takeTurn()
	err := d.do(ctx, exclusive, func() C.tpt_status {
		var logits *C.float
		status := C.tpt_decoder_feed(d.c(), ids(tokens), C.size_t(len(tokens)), &logits)
		view = d.view(logits, d.vocab, passing)
		return status
	})
	return view, err
}

// FeedMany feeds tokens[i] to decoders[i], different decoders of one model: the bits of single feeds, all or none. It
// gives the logits of each, borrowed until the next call on that decoder.
func FeedMany(ctx context.Context, decoders []*Decoder, tokens []int32) ([]View, error) {
	if len(decoders) == 0 || len(decoders) != len(tokens) || decoders[0] == nil {
		return nil, argument("there are %d decoders and %d tokens; as many of both, at least 1, and no nil are needed", len(decoders), len(tokens))
	}
	others := make([]use, len(decoders))
	raw := make([]*C.tpt_decoder, len(decoders))
	logits := make([]*C.float, len(decoders))
	views := make([]View, len(decoders))
	for i, d := range decoders[1:] {
		others[i+1] = d.use(exclusive)
	}
	decoders[0].takeTurn()
	err := decoders[0].do(ctx, exclusive, func() C.tpt_status {
		for i, d := range decoders {
			raw[i] = d.c()
		}
		status := C.tpt_decoder_feed_many(&raw[0], C.size_t(len(raw)), ids(tokens), &logits[0])
		for i := range views {
			if status == C.TPT_OK {
				views[i] = decoders[i].view(logits[i], decoders[i].vocab, passing)
			}
		}
		return status
	}, others...)
	if err != nil {
		return nil, err
	}
	return views, nil
}

// Score feeds tokens and says how likely they were: ln P(token | what was before it), 0 at position 0.
func (d *Decoder) Score(ctx context.Context, tokens ...int32) ([]float64, error) {
	likely := make([]float64, len(tokens))
	err := d.do(ctx, exclusive, func() C.tpt_status {
		return C.tpt_decoder_score(d.c(), ids(tokens), C.size_t(len(tokens)), doubles(likely))
	})
	return likely, err
}

// Rewind forgets what is at and after a position, and the last logits. The sampler stays.
func (d *Decoder) Rewind(position int) error {
	if err := sizes(number{"position", position}); err != nil {
		return err
	}
	return d.do(nil, exclusive, func() C.tpt_status { return C.tpt_decoder_rewind(d.c(), C.size_t(position)) })
}

// Position is how many tokens are held.
func (d *Decoder) Position() (int, error) {
	var position C.size_t
	err := d.do(nil, shared, func() C.tpt_status { return C.tpt_decoder_position(d.c(), &position) })
	return int(position), err
}

// Sampling is how Sample chooses: temperature, then TopK, then TopP.
type Sampling struct {
	Temperature float64 // logits are divided by it; 0: greedy
	TopK        int     // so many candidates, the likeliest; 0: all
	TopP        float64 // the smallest set whose share reaches it; 0 or 1: all
	Seed        uint64  // of the draws
}

// SetSampling sets it and restarts the random state.
func (d *Decoder) SetSampling(s Sampling) error {
	if err := int32s(number{"top_k", s.TopK}); err != nil {
		return err
	}
	if s.TopP == 0 { // for the library the likeliest alone, which Temperature 0 says too
		s.TopP = 1
	}
	return d.do(nil, exclusive, func() C.tpt_status {
		return C.tpt_decoder_set_sampling(d.c(), C.double(s.Temperature), C.int32_t(s.TopK), C.double(s.TopP), C.uint64_t(s.Seed))
	})
}

// Sample chooses a token by the last feed's logits; it does not feed it.
func (d *Decoder) Sample() (int32, error) {
	var token C.int32_t
	err := d.do(nil, exclusive, func() C.tpt_status { return C.tpt_decoder_sample(d.c(), &token) })
	return int32(token), err
}

// NoStop is no token: none ends a Generate, and none comes with an error of Tokens.
const NoStop int32 = -1

// Generate is a continuation in one call: it samples a token and feeds it, count times or until after the token stop.
// What it made comes with an error too, also where ctx ended it; a later call goes on with what would have come. After
// a callback's panic Position tells how many were made.
func (d *Decoder) Generate(ctx context.Context, count int, stop int32) ([]int32, error) {
	if err := sizes(number{"count", count}); err != nil {
		return nil, err
	}
	tokens := make([]int32, min(count, d.room)) // the library refuses a count that is more
	var made C.size_t
	err := d.do(ctx, exclusive, func() C.tpt_status {
		return C.tpt_decoder_generate(d.c(), C.int32_t(stop), ids(tokens), C.size_t(count), &made)
	})
	return tokens[:made], err
}

// next is a Generate of one token, NoStop where it fails.
func (d *Decoder) next(ctx context.Context) (int32, error) {
	var token C.int32_t
	var made C.size_t
	d.takeTurn()
	err := d.do(ctx, exclusive, func() C.tpt_status {
		return C.tpt_decoder_generate(d.c(), C.int32_t(NoStop), &token, 1, &made)
	})
	if err != nil {
		return NoStop, err
	}
	return int32(token), nil
}

// Tokens goes on for count tokens, one by one: each is sampled, fed, and then given to the loop. An error comes with
// NoStop for a token and is the last that the loop gets. No token was made then, and its draw is taken back: a later
// loop or Generate goes on with what would have come.
func (d *Decoder) Tokens(ctx context.Context, count int) iter.Seq2[int32, error] {
	return func(yield func(int32, error) bool) {
		if err := sizes(number{"count", count}); err != nil {
			yield(NoStop, err)
			return
		}
		for range count {
			token, err := d.next(ctx)
			if !yield(token, err) || err != nil {
				return
			}
		}
	}
}
