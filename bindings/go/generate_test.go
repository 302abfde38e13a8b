package threept_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"lib3pt/threept"
)

const prompted = 3 // tokens of the prompt

// promptedDecoder has the prompt and samples.
func promptedDecoder(model *threept.Model, temperature float64) *threept.Decoder {
	decoder := must(model.NewDecoder(0))
	check(decoder.SetSampling(threept.Sampling{Temperature: temperature, TopP: 1, Seed: 7}))
	check(decoder.Feed(background, someTokens[:prompted]...))
	return decoder
}

func TestGenerateIsSampleAndFeed(t *testing.T) {
	model := newLong(nil).model
	for _, temperature := range []float64{0, 2} {
		want := continued(promptedDecoder(model, temperature), 41)
		decoder := promptedDecoder(model, temperature)
		got := slices.Concat(must(decoder.Generate(background, 1, threept.NoStop)), must(decoder.Generate(background, 39, threept.NoStop)))
		if !slices.Equal(got, want[:40]) {
			t.Errorf("at temperature %v %v are made, %v one by one", temperature, got, want[:40])
		}
		if position := must(decoder.Position()); position != prompted+40 {
			t.Errorf("%d tokens are held", position)
		}
		if next := must(decoder.Sample()); next != want[40] {
			t.Errorf("%d comes after them, not %d", next, want[40])
		}
	}
}

func TestGenerateEndsAfterStop(t *testing.T) {
	model := newLong(nil).model
	want := continued(promptedDecoder(model, 2), 20)
	for _, stop := range want {
		decoder := promptedDecoder(model, 2)
		got, made := must(decoder.Generate(background, 20, stop)), slices.Index(want, stop)+1
		if !slices.Equal(got, want[:made]) || must(decoder.Position()) != prompted+made {
			t.Errorf("%v are made until %d, not %v", got, stop, want[:made])
		}
	}
}

func TestGenerateRefuses(t *testing.T) {
	o := newObjects(nil) // room for 8
	defer o.close()
	if tokens, err := o.decoder.Generate(background, 1, threept.NoStop); !errors.Is(err, threept.ErrState) || len(tokens) != 0 {
		t.Errorf("before a feed %v, %v", tokens, err)
	}
	check(o.decoder.Feed(background, someTokens[:prompted]...))
	for _, wrong := range []struct {
		count int
		stop  int32
		about string
	}{
		{0, threept.NoStop, "count is 0"}, {6, threept.NoStop, "count is 6"}, {math.MaxInt, threept.NoStop, "count is "},
		{-1, threept.NoStop, "count is "}, {math.MinInt, threept.NoStop, "count is "}, {1, 256, "stop is 256;"}, {1, -2, "stop is -2;"},
	} {
		tokens, err := o.decoder.Generate(background, wrong.count, wrong.stop)
		var e *threept.Error
		if !errors.As(err, &e) || e.Status != threept.ErrArgument || len(tokens) != 0 || !strings.HasPrefix(e.Message, wrong.about) {
			t.Errorf("%d until %d: %v, %v", wrong.count, wrong.stop, tokens, err)
		}
	}
	if len(must(o.decoder.Generate(background, 5, threept.NoStop))) != 5 || must(o.decoder.Position()) != 8 {
		t.Error("the room is not filled")
	}
}

// slow has a model whose continuation takes much longer than the 5 ms between two calls of a progress function.
func slow() (*threept.Context, *threept.Model) {
	c, config := contextOf(1), must(threept.PresetConfig("3pt-5m"))
	check(config.Set("model.max_seq_len", "512"))
	return c, must(threept.NewModel(background, c, config, 1))
}

// ended is a call that ends when its progress function is first called: by the context.Context or by the function.
func ended(t *testing.T, c *threept.Context, decoder *threept.Decoder, left int, byContext bool) []int32 {
	ctx, cancel := context.WithCancel(background)
	defer cancel()
	check(c.SetProgress(func(threept.ID, float64) bool {
		if byContext {
			cancel()
		}
		return byContext
	}))
	tokens, err := decoder.Generate(ctx, left, threept.NoStop)
	check(c.SetProgress(nil))
	if len(tokens) < left && (!errors.Is(err, threept.ErrCancelled) || errors.Is(err, context.Canceled) != byContext) {
		t.Errorf("%d of %d are made, then %v", len(tokens), left, err)
	}
	return tokens
}

// Calls are ended again and again, with a token in peace after each end.
func TestGenerateLosesNothingToACancel(t *testing.T) {
	const count = 400
	c, model := slow()
	want := must(promptedDecoder(model, 2).Generate(background, count, threept.NoStop))
	decoder := promptedDecoder(model, 2)
	var got []int32
	halves := 0
	for byContext := false; len(got) < count-1; byContext = !byContext {
		made := ended(t, c, decoder, count-1-len(got), byContext)
		halves += min(len(made), 1)
		got = append(append(got, made...), must(decoder.Generate(background, 1, threept.NoStop))...)
		if position := must(decoder.Position()); position != prompted+len(got) {
			t.Fatalf("%d tokens are held, %d are made", position, len(got))
		}
	}
	if !slices.Equal(got, want[:len(got)]) {
		t.Error("other tokens than in one call")
	}
	if halves < 3 { // the last may be whole
		t.Errorf("%d calls had made something", halves)
	}
}

func TestGenerateIsCancelledBeforeItBegins(t *testing.T) {
	o := newObjects(nil)
	defer o.close()
	want := continued(promptedDecoder(o.model, 2), 4)
	decoder := promptedDecoder(o.model, 2)
	ctx, cancel := context.WithCancel(background)
	cancel()
	check(o.context.Cancel(true))
	for _, ctx := range []context.Context{ctx, background} {
		tokens, err := decoder.Generate(ctx, 4, threept.NoStop)
		if !errors.Is(err, threept.ErrCancelled) || len(tokens) != 0 {
			t.Errorf("%v and %v", tokens, err)
		}
	}
	check(o.context.Cancel(false))
	if got := must(decoder.Generate(background, 4, threept.NoStop)); !slices.Equal(got, want) {
		t.Errorf("%v are made, not %v", got, want)
	}
}

// turns are those of a loop that end is called in, after so many tokens; what it got after that is its last.
func turns(decoder *threept.Decoder, ctx context.Context, count, before int, end func()) (tokens []int32, last int32, err error) {
	for token, err := range decoder.Tokens(ctx, count) {
		if err != nil {
			return tokens, token, err
		}
		if tokens = append(tokens, token); len(tokens) == before {
			end()
		}
	}
	return tokens, threept.NoStop, nil
}

func TestTokensLoseNothingToACancel(t *testing.T) {
	const count, before = 20, 7
	l := newLong(nil)
	want := must(promptedDecoder(l.model, 2).Generate(background, count, threept.NoStop))
	ctx, cancel := context.WithCancel(background)
	for _, end := range []func(){cancel, func() { check(l.context.Cancel(true)) }} {
		decoder := promptedDecoder(l.model, 2)
		tokens, last, err := turns(decoder, ctx, count, before, end)
		if !errors.Is(err, threept.ErrCancelled) || last != threept.NoStop || !slices.Equal(tokens, want[:before]) {
			t.Errorf("%v, then %d and %v; %v come", tokens, last, err, want[:before])
		}
		check(l.context.Cancel(false))
		ctx = background
		if position := must(decoder.Position()); position != prompted+before {
			t.Errorf("%d tokens are held", position)
		}
		rest, _, err := turns(decoder, ctx, count-before, 0, nil)
		if err != nil || !slices.Equal(rest, want[before:]) {
			t.Errorf("%v come after the cancel, %v; without it %v", rest, err, want[before:])
		}
	}
}

func TestTokensEndWithAnError(t *testing.T) {
	o := newObjects(nil) // room for 8
	defer o.close()
	check(o.decoder.Feed(background, someTokens[:prompted]...))
	tokens, last, err := turns(o.decoder, background, 100, 0, nil)
	if !errors.Is(err, threept.ErrArgument) || last != threept.NoStop || len(tokens) != 8-prompted || must(o.decoder.Position()) != 8 {
		t.Errorf("%v, then %d and %v", tokens, last, err)
	}
}

func TestStreamLosesNothingToACancel(t *testing.T) {
	const count, before = 12, 5
	o := newObjects(nil)
	defer o.close()
	model := newLong(nil).model
	tokens := must(promptedDecoder(model, 2).Generate(background, count, threept.NoStop))
	prompt := someTokens[:prompted]
	want := must(o.tokenizer.DecodeTail(background, slices.Concat(prompt, tokens), prompted))
	decoder := promptedDecoder(model, 2)
	ctx, cancel := context.WithCancel(background)
	defer cancel()
	var got string
	var last error
	pieces := 0
	for piece, err := range o.tokenizer.Stream(ctx, prompt, decoder.Tokens(background, count)) {
		got, last = got+piece, err
		if pieces++; pieces == before {
			cancel()
		}
	}
	if !errors.Is(last, threept.ErrCancelled) || !errors.Is(last, context.Canceled) || pieces != before+1 {
		t.Errorf("%d pieces, then %v", pieces, last)
	}
	held := must(decoder.Position())
	if held != prompted+before {
		t.Errorf("%d tokens are held, %d pieces are given", held, before)
	}
	sofar := slices.Concat(prompt, tokens[:held-prompted])
	for piece, err := range o.tokenizer.Stream(nil, sofar, decoder.Tokens(background, count-held+prompted)) {
		got += must(piece, err)
	}
	if got != want {
		t.Errorf("%q, not %q", got, want)
	}
}
