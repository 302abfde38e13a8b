package threept_test

import (
	"errors"
	"math"
	"reflect"
	"runtime"
	"testing"
	"time"

	"lib3pt/threept"
	"lib3pt/threept/internal/inuse"
)

const smallYAML = `model: {vocab_size: 256, d_model: 24, n_layers: 1, n_q_heads: 3, n_kv_heads: 3, d_ff: 48, max_seq_len: 8}
train: {batch: 1}
`

var someTokens = []int32{1, 2, 3, 4, 5, 6, 7, 8}

// objects is one of each kind.
type objects struct {
	context   *threept.Context
	config    *threept.Config
	tokenizer *threept.Tokenizer
	data      *threept.Dataset
	model     *threept.Model
	trainer   *threept.Trainer
	optimizer *threept.Optimizer
	decoder   *threept.Decoder
}

func newObjects(m threept.Allocator) *objects {
	o := &objects{context: contextOf(1), config: must(threept.ParseConfig(smallYAML))}
	if m != nil {
		check(o.context.SetAllocator(m))
	}
	o.tokenizer = must(threept.BytesTokenizer(o.context))
	o.data = must(threept.DatasetFromTokens(background, o.context, someTokens))
	o.model = must(threept.NewModel(background, o.context, o.config, 1))
	o.trainer = must(o.model.NewTrainer(background, nil))
	o.optimizer = must(o.trainer.NewOptimizer(background, nil))
	o.decoder = must(o.model.NewDecoder(0))
	return o
}

func (o *objects) all() []interface{ Close() error } {
	return []interface{ Close() error }{o.context, o.config, o.tokenizer, o.data, o.model, o.trainer, o.optimizer, o.decoder}
}

func (o *objects) close() {
	for _, object := range o.all() {
		check(object.Close())
	}
}

func (o *objects) work() {
	check(o.decoder.Feed(background, 1, 2))
	must(o.trainer.Accumulate(background, someTokens[:7], someTokens[1:], 1, 7))
	must(o.optimizer.Step())
	check(o.trainer.ZeroGradients(background))
}

// arguments are zero but for what a method looks at before the object.
func arguments(method reflect.Type) []reflect.Value {
	var all []reflect.Value
	for i := range method.NumIn() {
		switch method.In(i) {
		case reflect.TypeOf(&background).Elem():
			all = append(all, reflect.ValueOf(background))
		case reflect.TypeFor[threept.Allocator]():
			all = append(all, reflect.ValueOf(threept.CMemory{}))
		default:
			all = append(all, reflect.Zero(method.In(i)))
		}
	}
	return all
}

// zeros are values that no function has made.
func zeros() []interface{ Close() error } {
	return []interface{ Close() error }{&threept.Context{}, &threept.Config{}, &threept.Tokenizer{}, &threept.Dataset{},
		&threept.Model{}, &threept.Trainer{}, &threept.Optimizer{}, &threept.Decoder{}}
}

// Zero values count as closed.
func TestUseAfterClose(t *testing.T) {
	o := newObjects(nil)
	o.close()
	o.close()
	calls := 0
	for _, object := range append(o.all(), zeros()...) {
		of := reflect.ValueOf(object)
		for i := range of.NumMethod() {
			name, method := of.Type().Method(i).Name, of.Method(i)
			last := method.Type().NumOut() - 1
			if name == "Close" || method.Type().Out(last) != reflect.TypeFor[error]() {
				continue
			}
			call := method.Call
			if method.Type().IsVariadic() {
				call = method.CallSlice
			}
			err, _ := call(arguments(method.Type()))[last].Interface().(error)
			if !errors.Is(err, threept.ErrClosed) {
				t.Errorf("%T.%s: %v", object, name, err)
			}
			calls++
		}
	}
	if calls < 160 {
		t.Errorf("only %d methods were called", calls)
	}
}

func TestClosedArguments(t *testing.T) {
	o := newObjects(nil)
	defer o.close()
	check(o.config.Close())
	if _, err := threept.NewModel(background, o.context, o.config, 1); !errors.Is(err, threept.ErrClosed) {
		t.Error(err)
	}
	check(o.data.Close())
	if _, err := o.model.Evaluate(background, nil, o.data, 2, 0); !errors.Is(err, threept.ErrClosed) {
		t.Error(err)
	}
}

func TestZeroArguments(t *testing.T) {
	o := newObjects(nil)
	defer o.close()
	for name, err := range map[string]error{
		"Config":    only(o.model.NewTrainer(background, &threept.Config{})),
		"Context":   only(threept.NewModel(background, &threept.Context{}, o.config, 1)),
		"Dataset":   only(o.model.Evaluate(background, nil, &threept.Dataset{}, 2, 0)),
		"Decoder":   o.decoder.CopyTo(&threept.Decoder{}),
		"Optimizer": o.trainer.SaveCheckpoint(background, &threept.Optimizer{}, "x", nil),
	} {
		if !errors.Is(err, threept.ErrClosed) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestCloseOfNothing(t *testing.T) {
	for _, zero := range zeros() {
		check(zero.Close())
		check(reflect.Zero(reflect.TypeOf(zero)).Interface().(interface{ Close() error }).Close())
	}
}

func TestParentsMayCloseFirst(t *testing.T) {
	o := newObjects(nil)
	check(o.context.Close())
	check(o.config.Close())
	check(o.model.Close())
	o.work()
	check(o.trainer.Close())
	must(o.optimizer.Step())
	o.close()
}

func TestCloseInsideACall(t *testing.T) {
	m, closed := &limited{budget: math.MaxInt64}, false
	l := newLong(m)
	check(l.context.SetProgress(func(threept.ID, float64) bool {
		held := m.held.Load()
		check(l.model.Close())
		if m.held.Load() != held {
			t.Error("the model is gone while a call is in it")
		}
		closed = true
		return true
	}))
	before := m.held.Load()
	if e := must(l.evaluate(background, 400)); e.Tokens != 400*64 || !closed {
		t.Errorf("%v; closed: %v", e, closed)
	}
	if m.held.Load() >= before {
		t.Error("the model is still there after the call")
	}
	if _, err := l.evaluate(background, 1); !errors.Is(err, threept.ErrClosed) {
		t.Error(err)
	}
}

// living is what Go holds, in bytes.
func living() int {
	var stats runtime.MemStats
	runtime.GC()
	runtime.GC() // cleanups of the first are done
	runtime.ReadMemStats(&stats)
	return int(stats.HeapAlloc)
}

// staysFlat says whether nothing is lost in some thousand rounds. Allowed in a round is half of what the least lost thing
// takes: 32 bytes of malloc, 8 of Go. Freed blocks that malloc keeps for each thread grow in the first windows, a leak in
// all of them; a window in which much was given back tells nothing. It is not resident memory that is looked at: pages
// come and go by megabytes with nothing lost.
func staysFlat(t *testing.T, round func()) bool {
	const rounds, windows = 1000, 10
	const mostOfC, mostOfGo = 16 * rounds, 4 * rounds
	for range windows {
		inC, inGo := inuse.Bytes(), living()
		for range rounds {
			round()
		}
		inGo, inC = living()-inGo, inuse.Bytes()-inC
		if max(inC, -inC) <= mostOfC && inGo <= mostOfGo {
			return true
		}
		t.Logf("%d rounds took %d bytes of C, %d of Go; %d and %d are allowed", rounds, inC, inGo, mostOfC, mostOfGo)
	}
	return false
}

func TestCyclesKeepMemoryFlat(t *testing.T) {
	if !inuse.Known() {
		t.Skip("no mallinfo2")
	}
	m := &limited{budget: math.MaxInt64}
	cycle := func() {
		o := newObjects(m)
		check(o.context.SetLog(func(threept.LogLevel, string) {}))
		check(o.context.SetProgress(func(threept.ID, float64) bool { return true }))
		o.work()
		must(o.trainer.Gradients())
		o.close()
	}
	if !staysFlat(t, cycle) {
		t.Error("memory grows, again and again")
	}
	if held := m.held.Load(); held != 0 {
		t.Errorf("%d bytes were not given back", held)
	}
}

func TestLeaksAreSeen(t *testing.T) {
	if !inuse.Known() {
		t.Skip("no mallinfo2")
	}
	var lost []*int64
	if staysFlat(t, inuse.Lose) || staysFlat(t, func() { lost = append(lost, new(int64)) }) {
		t.Error("a leak is not seen")
	}
	runtime.KeepAlive(lost)
}

func TestGarbageIsClosed(t *testing.T) {
	m := &limited{budget: math.MaxInt64}
	newObjects(m).work()
	for end := time.Now().Add(20 * time.Second); m.held.Load() != 0; {
		if time.Now().After(end) {
			t.Fatalf("%d bytes are still held", m.held.Load())
		}
		runtime.GC()
		time.Sleep(time.Millisecond)
	}
}

func TestViewKeepsItsOwner(t *testing.T) {
	m := &limited{budget: math.MaxInt64}
	view := func() threept.View {
		o := newObjects(m)
		return must(o.decoder.FeedLogits(background, 1))
	}()
	for range 10 {
		runtime.GC()
		time.Sleep(time.Millisecond)
	}
	if values := must(view.Copy()); len(values) != 256 || m.held.Load() == 0 {
		t.Error("the decoder is gone")
	}
	runtime.KeepAlive(view)
}

func TestViewEndsWithTheNextCall(t *testing.T) {
	o := newObjects(nil)
	defer o.close()
	first := must(o.decoder.FeedLogits(background, 1))
	kept := must(first.Copy())
	check(first.Use(func(borrowed []float32) {
		if hashFloats(borrowed) != hashFloats(kept) || first.Len() != 256 {
			t.Error("the copy is another one")
		}
	}))
	second := must(o.decoder.FeedLogits(background, 2))
	for _, err := range []error{only(first.Copy()), first.CopyTo(kept), first.Use(func([]float32) { t.Error("was lent") })} {
		if !errors.Is(err, threept.ErrStale) {
			t.Error(err)
		}
	}
	check(second.Use(func([]float32) {
		if err := o.decoder.Rewind(0); !errors.Is(err, threept.ErrBusy) {
			t.Errorf("a call while a view is in use: %v", err)
		}
	}))
	check(o.decoder.Close())
	if _, err := second.Copy(); !errors.Is(err, threept.ErrClosed) {
		t.Error(err)
	}
	if _, err := (threept.View{}).Copy(); !errors.Is(err, threept.ErrArgument) {
		t.Error(err)
	}
}

func TestViewsOfATrainerEndWithItsOptimizersCalls(t *testing.T) {
	o := newObjects(nil)
	defer o.close()
	check(o.trainer.Forward(background, someTokens, 1, 8))
	logits := must(o.trainer.Logits(background))
	if logits.Len() != 8*256 {
		t.Errorf("%d logits", logits.Len())
	}
	must(o.optimizer.Step())
	if _, err := logits.Copy(); !errors.Is(err, threept.ErrStale) {
		t.Error(err)
	}
}

func TestParametersAreWritable(t *testing.T) {
	o := newObjects(nil)
	defer o.close()
	all := must(o.model.Parameters())
	check(all.Use(func(values []float32) { clear(values) }))
	must(o.model.TensorCount()) // a later call does not end it
	if must(all.Copy())[0] != 0 || must(o.model.Tensor(must(o.model.TensorInfo(0)).Name))[0] != 0 {
		t.Error("the weights are not 0")
	}
}
