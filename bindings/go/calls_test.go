package threept_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"lib3pt/threept"
)

const longYAML = `model: {vocab_size: 256, d_model: 48, n_layers: 4, n_q_heads: 6, n_kv_heads: 3, d_ff: 96, max_seq_len: 64}
train: {batch: 8}
`

// long is a model and so much data that its evaluation takes a second or more.
type long struct {
	context *threept.Context
	model   *threept.Model
	data    *threept.Dataset
}

func newLong(m threept.Allocator) *long {
	c := contextOf(2)
	if m != nil {
		check(c.SetAllocator(m))
	}
	return &long{c, must(threept.NewModel(background, c, must(threept.ParseConfig(longYAML)), 1)),
		must(threept.DatasetFromTokens(background, c, slices.Repeat([]int32{1, 2, 3, 4, 5}, 100000)))}
}

func (l *long) evaluate(ctx context.Context, windows int) (threept.Evaluation, error) {
	return l.model.Evaluate(ctx, nil, l.data, 64, windows)
}

func TestTwoGoroutines(t *testing.T) {
	model := newLong(nil).model
	answer := func() []int32 {
		decoder := must(model.NewDecoder(0))
		defer decoder.Close()
		check(decoder.Feed(background, 1, 2, 3))
		return continued(decoder, 60)
	}
	alone := answer()
	var group sync.WaitGroup
	for range 2 {
		group.Add(1)
		go func() {
			defer group.Done()
			for range 5 {
				if !slices.Equal(answer(), alone) {
					t.Error("other tokens than alone")
				}
			}
		}()
	}
	group.Wait()
}

func TestOneDecoderOfTwoGoroutines(t *testing.T) {
	model := newLong(nil).model
	decoder := must(model.NewDecoder(0))
	var fed, busy atomic.Int64
	var group sync.WaitGroup
	for range 2 {
		group.Add(1)
		go func() {
			defer group.Done()
			for range 30 {
				switch err := decoder.Feed(background, 1); {
				case err == nil:
					fed.Add(1)
				case errors.Is(err, threept.ErrBusy):
					busy.Add(1)
				default:
					t.Error(err)
				}
			}
		}()
	}
	group.Wait()
	if position := must(decoder.Position()); int64(position) != fed.Load() || fed.Load()+busy.Load() != 60 {
		t.Errorf("%d tokens are held; %d were fed, %d refused", position, fed.Load(), busy.Load())
	}
}

func TestCancelEndsOneCall(t *testing.T) {
	l := newLong(nil)
	const windows = 400
	alone := must(l.evaluate(background, windows))
	ctx, cancel := context.WithCancel(background)
	ended := make(chan error, 1)
	go func() { ended <- only(l.evaluate(ctx, 0)) }()
	time.Sleep(20 * time.Millisecond)
	cancel()
	if beside := must(l.evaluate(background, windows)); beside != alone {
		t.Errorf("%v beside a cancelled call, %v alone", beside, alone)
	}
	err := <-ended
	if !errors.Is(err, threept.ErrCancelled) || !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if want := "TPT_E_CANCELLED: the context.Context ended the call: context canceled"; err.Error() != want {
		t.Errorf("%v; want %s", err, want)
	}
}

func TestCancelledByTheProgressFunctionSaysSo(t *testing.T) {
	l := newLong(nil)
	ctx, cancel := context.WithCancel(background)
	defer cancel()
	check(l.context.SetProgress(func(threept.ID, float64) bool { return false }))
	_, err := l.evaluate(ctx, 0)
	if !errors.Is(err, threept.ErrCancelled) || !strings.Contains(err.Error(), "progress function") {
		t.Error(err)
	}
}

func TestCallInsideACancelledCall(t *testing.T) {
	outer, inner := newLong(nil), newLong(nil)
	ctx, cancel := context.WithCancel(background)
	var inside error
	check(outer.context.SetProgress(func(threept.ID, float64) bool {
		if ctx.Err() == nil {
			cancel()
			inside = only(inner.evaluate(background, 400))
		}
		return true
	}))
	if _, err := outer.evaluate(ctx, 0); !errors.Is(err, context.Canceled) || inside != nil {
		t.Errorf("outside %v, inside %v", err, inside)
	}
}

func TestDeadline(t *testing.T) {
	ctx, cancel := context.WithTimeout(background, 20*time.Millisecond)
	defer cancel()
	if _, err := newLong(nil).evaluate(ctx, 0); !errors.Is(err, threept.ErrCancelled) || !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}

func TestErrAndCauseOfAContext(t *testing.T) {
	cause, l := errors.New("enough"), newLong(nil)
	cancelled, cancel := context.WithCancelCause(background)
	cancel(cause)
	during, stop := context.WithTimeoutCause(background, 20*time.Millisecond, cause)
	defer stop()
	for ctx, done := range map[context.Context]error{cancelled: context.Canceled, during: context.DeadlineExceeded} {
		_, err := l.evaluate(ctx, 0)
		for _, each := range []error{threept.ErrCancelled, done, cause} {
			if !errors.Is(err, each) {
				t.Errorf("%v is not %v", err, each)
			}
		}
		if errors.Is(err, threept.ErrState) || errors.Unwrap(err) != cause {
			t.Error(err)
		}
	}
}

func TestCauseOfACancelledContext(t *testing.T) {
	cause := errors.New("enough")
	ctx, cancel := context.WithCancelCause(background)
	cancel(cause)
	o := newObjects(nil)
	defer o.close()
	if err := o.decoder.Feed(ctx, 1); !errors.Is(err, cause) || !errors.Is(err, threept.ErrCancelled) {
		t.Error(err)
	}
	if must(o.decoder.Position()) != 0 {
		t.Error("the token was fed")
	}
}

func TestAnEndedCallSaysWhy(t *testing.T) {
	l := newLong(nil)
	before, cancel := context.WithCancel(background)
	cancel()
	during, cancel := context.WithTimeout(background, 20*time.Millisecond)
	defer cancel()
	for ctx, why := range map[context.Context]string{before: "context canceled", during: "context deadline exceeded"} {
		if _, err := l.evaluate(ctx, 0); err == nil || !strings.HasSuffix(err.Error(), why) || strings.Count(err.Error(), why) != 1 {
			t.Error(err)
		}
	}
}

func TestGoroutinesBranchFromOneDecoder(t *testing.T) {
	o := newObjects(nil)
	defer o.close()
	check(o.decoder.Feed(background, 1, 2, 3))
	var group sync.WaitGroup
	for range 4 {
		group.Add(1)
		go func() {
			defer group.Done()
			branch := must(o.model.NewDecoder(0))
			defer branch.Close()
			for range 500 {
				if err := o.decoder.CopyTo(branch); err != nil {
					t.Error(err)
					return
				}
			}
			if must(branch.Position()) != 3 {
				t.Error("the branch is another sequence")
			}
		}()
	}
	group.Wait()
	check(o.decoder.CopyTo(o.decoder))
}

func TestContextCancelEndsAll(t *testing.T) {
	l := newLong(nil)
	check(l.context.Cancel(true))
	_, err := l.evaluate(background, 0)
	if !errors.Is(err, threept.ErrCancelled) || errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	check(l.context.Cancel(false))
	must(l.evaluate(background, 1))
}

func TestProgress(t *testing.T) {
	l := newLong(nil)
	var most float64
	check(l.context.SetProgress(func(on threept.ID, done float64) bool {
		if on != l.model.ID() {
			t.Errorf("progress on %x, not %x", on, l.model.ID())
		}
		if err := l.context.SetThreads(1); !errors.Is(err, threept.ErrBusy) {
			t.Errorf("a setting inside a call: %v", err)
		}
		if !math.IsNaN(done) {
			most = max(most, done)
		}
		return most == 0
	}))
	if _, err := l.evaluate(background, 0); !errors.Is(err, threept.ErrCancelled) || most <= 0 || most > 1 {
		t.Errorf("%v at %v", err, most)
	}
	check(l.context.SetProgress(nil))
	must(l.evaluate(background, 1))
}

// caught is what f panics with.
func caught(f func()) (value any) {
	defer func() { value = recover() }()
	f()
	return nil
}

func TestPanicInProgress(t *testing.T) {
	l := newLong(nil)
	check(l.context.SetProgress(func(threept.ID, float64) bool { panic("stop") }))
	if value := caught(func() { l.evaluate(background, 0) }); value != "stop" {
		t.Errorf("the caller got %v", value)
	}
	check(l.context.SetProgress(nil))
	must(l.evaluate(background, 1))
}

func TestLogAndItsPanic(t *testing.T) {
	c := contextOf(1)
	var texts []string
	check(c.SetLog(func(level threept.LogLevel, text string) { texts = append(texts, text) }))
	config := must(threept.ParseConfig(smallYAML))
	must(threept.NewModel(background, c, config, 1))
	if len(texts) == 0 || texts[0] == "" {
		t.Error("no message of a new model")
	}
	check(c.SetLog(func(threept.LogLevel, string) { panic("stop") }))
	if value := caught(func() { threept.NewModel(background, c, config, 1) }); value != "stop" {
		t.Errorf("the caller got %v", value)
	}
	check(c.SetLog(nil))
	must(threept.NewModel(background, c, config, 1))
}

// broken panics when it is asked for memory.
type broken struct {
	threept.CMemory
	on atomic.Bool
}

func (m *broken) Allocate(bytes, alignment int) unsafe.Pointer {
	if m.on.Load() {
		panic("no memory")
	}
	return m.CMemory.Allocate(bytes, alignment)
}

func TestPanicInAllocator(t *testing.T) {
	c, m := contextOf(1), &broken{}
	check(c.SetAllocator(m))
	config := must(threept.ParseConfig(smallYAML))
	m.on.Store(true)
	if value := caught(func() { threept.NewModel(background, c, config, 1) }); value != "no memory" {
		t.Errorf("the caller got %v", value)
	}
	m.on.Store(false)
	must(threept.NewModel(background, c, config, 1))
}

func TestCallbacksAreReleased(t *testing.T) {
	var gone atomic.Int64
	kept := func() func() {
		object := new([64]byte)
		runtime.AddCleanup(object, func(int) { gone.Add(1) }, 0)
		return func() { object[0]++ }
	}
	func() {
		c := must(threept.NewContext())
		log, progress := kept(), kept()
		check(c.SetLog(func(threept.LogLevel, string) { log() }))
		check(c.SetProgress(func(threept.ID, float64) bool { progress(); return true }))
		check(c.Close())
	}()
	for end := time.Now().Add(20 * time.Second); gone.Load() != 2; {
		if time.Now().After(end) {
			t.Fatalf("%d of 2 are released", gone.Load())
		}
		runtime.GC()
		time.Sleep(time.Millisecond)
	}
}

func TestWrongArguments(t *testing.T) {
	o := newObjects(nil)
	defer o.close()
	check(o.trainer.Forward(background, someTokens, 2, 4))
	state := uint64(1)
	for name, err := range map[string]error{
		"NUL in a key":       o.config.Set("model\x00", "1"),
		"NUL in a path":      o.model.Save(background, "a\x00b"),
		"few tokens":         o.trainer.Forward(background, someTokens, 2, 5),
		"few targets":        only(o.trainer.Loss(background, someTokens[:7])),
		"few of a product":   o.trainer.Forward(background, someTokens, math.MinInt, 2),
		"few rows":           o.data.Random(&state, 1, 2, someTokens[:2], nil),
		"no decoder":         only(threept.FeedMany(background, nil, nil)),
		"a nil decoder":      only(threept.FeedMany(background, []*threept.Decoder{o.decoder, nil}, []int32{1, 1})),
		"no description":     only(threept.NewModel(background, o.context, nil, 1)),
		"no dataset":         only(o.model.Evaluate(background, nil, nil, 2, 0)),
		"no optimizer":       o.trainer.SaveCheckpoint(background, nil, "x", nil),
		"no target":          o.decoder.CopyTo(nil),
		"no allocator":       o.context.SetAllocator(nil),
		"positions below 0":  only(o.model.NewDecoder(-1)),
		"threads beyond int": o.context.SetThreads(1<<32 + 1),
		"a window below 0":   only2(o.data.Window(0, -1)),
		"a profile below 0":  only(o.model.DCProfile(0, -1)),
	} {
		if !errors.Is(err, threept.ErrArgument) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestErrorsOfStatus(t *testing.T) {
	_, err := threept.ParseConfig("model: {d_model: 25}\n")
	var e *threept.Error
	if !errors.As(err, &e) || e.Status != threept.ErrConfig || !errors.Is(err, threept.ErrConfig) || errors.Is(err, threept.ErrIO) {
		t.Fatal(err)
	}
	if err.Error() != "TPT_E_CONFIG: "+e.Message || !strings.HasPrefix(e.Message, "line 1: ") {
		t.Error(err)
	}
}

func TestErrorsOfManyGoroutines(t *testing.T) {
	config := must(threept.NewConfig())
	var group sync.WaitGroup
	for g := range 16 {
		group.Add(1)
		go func() {
			defer group.Done()
			key := fmt.Sprintf("key%d.of.mine", g)
			for range 1000 {
				if err := only(config.Get(key)); !strings.Contains(err.Error(), key) {
					t.Errorf("%s: %v", key, err)
					return
				}
				runtime.Gosched()
			}
		}()
	}
	group.Wait()
}

func TestLoopsMayStop(t *testing.T) {
	o := newObjects(nil)
	defer o.close()
	check(o.decoder.Feed(background, 1))
	for range o.decoder.Tokens(background, 5) {
		break
	}
	if must(o.decoder.Position()) != 2 {
		t.Error("a loop that stopped fed on")
	}
	var last error
	pieces := 0
	for _, err := range o.tokenizer.Stream(background, nil, o.decoder.Tokens(background, 100)) {
		last = err
		pieces++
	}
	if !errors.Is(last, threept.ErrArgument) || pieces != 7 { // room for 8, and the error
		t.Errorf("%d pieces, then %v", pieces, last)
	}
}

// What lies beside the bytes that are handed over is nobody's business: cgo would refuse a pointer there.
func TestBytesBesidePointers(t *testing.T) {
	o := newObjects(nil)
	defer o.close()
	type state struct {
		name *string
		data [64]byte
	}
	text, path := "Go memory", filepath.Join(t.TempDir(), "run.safetensors")
	s := &state{name: &text}
	s.data[63] = 7
	check(o.trainer.SaveCheckpoint(background, o.optimizer, path, s.data[:]))
	if user := must(o.trainer.LoadCheckpoint(background, o.optimizer, path)); !bytes.Equal(user, s.data[:]) {
		t.Errorf("%v", user)
	}
	whole := must(o.model.Bytes(background))
	file := &struct {
		name *string
		data [1 << 17]byte
	}{name: &text}
	copied := copy(file.data[:], whole)
	if copied < len(whole) {
		t.Fatalf("the model has %d bytes", len(whole))
	}
	must(threept.LoadModelBytes(background, nil, file.data[:copied], nil)).Close()
}

// More of the caller's own bytes than are read at first, less one, and so on.
func TestUserBytesOfAnyLength(t *testing.T) {
	o := newObjects(nil)
	defer o.close()
	path := filepath.Join(t.TempDir(), "run.safetensors")
	for _, count := range []int{0, 1, 4095, 4096, 4097, 100000} {
		given := bytes.Repeat([]byte{byte(count), 3}, count)[:count]
		check(o.trainer.SaveCheckpoint(background, o.optimizer, path, given))
		if user := must(o.trainer.LoadCheckpoint(background, o.optimizer, path)); !bytes.Equal(user, given) {
			t.Errorf("%d of %d bytes", len(user), count)
		}
	}
}

// erring is a context.Context of a program's own, whose Err panics once a call has begun.
type erring struct {
	context.Context
	asked int
}

func (e *erring) Done() <-chan struct{} { return make(chan struct{}) }

func (e *erring) Err() error {
	if e.asked++; e.asked > 1 {
		panic("asked in a callback")
	}
	return nil
}

func TestNothingOfAContextRunsInACallback(t *testing.T) {
	model := must(threept.NewModel(background, nil, must(threept.PresetConfig("3pt-5m")), 1))
	defer model.Close()
	must(model.Bytes(&erring{Context: background}))
	must(must(model.NewTrainer(background, nil)).Accumulate(&erring{Context: background}, make([]int32, 512), make([]int32, 512), 4, 128))
}

// refusing panics in Allocate once it is on.
type refusing struct {
	threept.CMemory
	on atomic.Bool
}

func (r *refusing) Allocate(bytes, alignment int) unsafe.Pointer {
	if r.on.Load() {
		panic("refused")
	}
	return r.CMemory.Allocate(bytes, alignment)
}

func TestAnAllocatorsPanicIsOfItsCall(t *testing.T) {
	memory := new(refusing)
	c := must(threept.NewContext())
	defer c.Close()
	check(c.SetThreads(1))
	check(c.SetAllocator(memory))
	config := must(threept.ParseConfig(longYAML))
	defer config.Close()
	model := must(threept.NewModel(background, c, config, 1))
	defer model.Close()
	memory.on.Store(true)
	var over atomic.Bool
	var others sync.WaitGroup
	others.Add(1)
	go func() {
		defer others.Done()
		defer func() {
			if value := recover(); value != nil {
				t.Errorf("another call: %v", value)
			}
		}()
		for !over.Load() {
			must(model.TensorCount())
		}
	}()
	for range 300 {
		if value := func() (value any) {
			defer func() { value = recover() }()
			model.NewDecoder(0)
			return nil
		}(); value != "refused" {
			t.Errorf("its own call: %v", value)
		}
	}
	over.Store(true)
	others.Wait()
	memory.on.Store(false)
}

// What is left of an Accumulate that was cancelled behind its forward can be read, all of it.
func TestDCAfterACancel(t *testing.T) {
	c := must(threept.NewContext())
	defer c.Close()
	model := must(threept.NewModel(background, c, must(threept.PresetConfig("3pt-5m")), 1))
	defer model.Close()
	trainer := must(model.NewTrainer(background, nil))
	must(trainer.Accumulate(background, make([]int32, 8), make([]int32, 8), 1, 8))
	check(c.SetProgress(func(_ threept.ID, done float64) bool { return done < 0.6 }))
	tokens := make([]int32, 16*128)
	if _, err := trainer.Accumulate(background, tokens, tokens, 16, 128); !errors.Is(err, threept.ErrCancelled) {
		t.Fatal(err)
	}
	check(c.SetProgress(nil))
	if values := must(trainer.DC(threept.PointEmbedding, 0)); len(values) != 128 {
		t.Errorf("%d values", len(values))
	}
	if _, err := trainer.DC(threept.PointEmbedding, 9); !errors.Is(err, threept.ErrArgument) {
		t.Error(err)
	}
}

func TestTopPIsOffWhereItIsLeftOut(t *testing.T) {
	model := must(threept.NewModel(background, nil, must(threept.ParseConfig(longYAML)), 1))
	defer model.Close()
	draw := func(s threept.Sampling) []int32 {
		decoder := must(model.NewDecoder(0))
		defer decoder.Close()
		check(decoder.SetSampling(s))
		check(decoder.Feed(background, 1))
		return must(decoder.Generate(background, 40, -1))
	}
	left, off := draw(threept.Sampling{Temperature: 2, Seed: 3}), draw(threept.Sampling{Temperature: 2, TopP: 1, Seed: 3})
	if !slices.Equal(left, off) || slices.Equal(left, draw(threept.Sampling{})) {
		t.Errorf("%v, %v", left, off)
	}
}
