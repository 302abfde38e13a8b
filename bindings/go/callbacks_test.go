package threept_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"unsafe"

	"lib3pt/threept"
)

// goesOn says whether f returned, on a goroutine of its own: runtime.Goexit ends that.
func goesOn(f func()) (returned bool) {
	over := make(chan struct{})
	go func() {
		defer close(over)
		f()
		returned = true
	}()
	<-over
	return returned
}

func TestGoexitInProgressEndsTheCaller(t *testing.T) {
	l := newLong(nil)
	check(l.context.SetProgress(func(threept.ID, float64) bool { runtime.Goexit(); return true }))
	if goesOn(func() { l.evaluate(background, 0) }) {
		t.Error("the call returned")
	}
	check(l.context.SetProgress(nil))
	must(l.evaluate(background, 1))
}

func TestGoexitInLogEndsTheCaller(t *testing.T) {
	c, config := contextOf(1), must(threept.ParseConfig(smallYAML))
	check(c.SetLog(func(threept.LogLevel, string) { runtime.Goexit() }))
	if goesOn(func() { threept.NewModel(background, c, config, 1) }) {
		t.Error("the call returned")
	}
	check(c.SetLog(nil))
	must(threept.NewModel(background, c, config, 1))
}

// leaving ends the goroutine that asks it for memory.
type leaving struct {
	threept.CMemory
	on atomic.Bool
}

func (m *leaving) Allocate(bytes, alignment int) unsafe.Pointer {
	if m.on.Load() {
		runtime.Goexit()
	}
	return m.CMemory.Allocate(bytes, alignment)
}

func TestGoexitInAllocatorEndsTheCaller(t *testing.T) {
	c, m, config := contextOf(1), &leaving{}, must(threept.ParseConfig(smallYAML))
	check(c.SetAllocator(m))
	m.on.Store(true)
	if goesOn(func() { threept.NewModel(background, c, config, 1) }) {
		t.Error("the call returned")
	}
	m.on.Store(false)
	must(threept.NewModel(background, c, config, 1))
}

func TestWeightsChangeOnlyWhileNobodyReadsThem(t *testing.T) {
	l := newLong(nil)
	l.model = must(threept.NewModel(background, l.context, must(threept.ParseConfig(strings.Replace(longYAML, "max_seq_len: 64", "max_seq_len: 1024", 1))), 1))
	trainer, other := must(l.model.NewTrainer(background, nil)), must(l.model.NewTrainer(background, nil))
	optimizer, decoder := must(trainer.NewOptimizer(background, nil)), must(l.model.NewDecoder(0))
	name := must(l.model.TensorInfo(0)).Name
	values, file := must(l.model.Tensor(name)), filepath.Join(t.TempDir(), "c.safetensors")
	batch := make([]int32, 8*64)
	must(trainer.Accumulate(background, batch, batch, 8, 64))
	check(trainer.SaveCheckpoint(background, optimizer, file, nil))
	writes := map[string]func() error{
		"Step":           func() error { return only(optimizer.Step()) },
		"SetTensor":      func() error { return l.model.SetTensor(name, values) },
		"LoadCheckpoint": func() error { return only(trainer.LoadCheckpoint(background, optimizer, file)) },
	}
	reads := map[string]func(){
		"Evaluate":   func() { must(l.evaluate(background, 100)) },
		"Accumulate": func() { must(other.Accumulate(background, batch, batch, 8, 64)) },
		"Generate":   func() { check(decoder.Feed(background, 1)); must(decoder.Generate(background, 1000, threept.NoStop)) },
	}
	var seen int
	// From the progress function of what reads them: there is nobody else to take turns with.
	check(l.context.SetProgress(func(threept.ID, float64) bool {
		for write, call := range writes {
			if err := call(); !errors.Is(err, threept.ErrBusy) {
				t.Errorf("%s: %v", write, err)
			}
		}
		seen++
		return true
	}))
	for read, call := range reads {
		seen = 0
		call()
		if seen == 0 {
			t.Errorf("%s: no progress", read)
		}
	}
	check(l.context.SetProgress(nil))
	for _, call := range writes {
		check(call())
	}
}

func TestLengthsThatMustAgree(t *testing.T) {
	o := newObjects(nil)
	defer o.close()
	var state uint64
	three, huge := someTokens[:3], 1<<62
	for want, err := range map[string]error{
		"tokens has 3 values; batch x seq, 1 x 2, needs 2":                  o.trainer.Forward(background, three, 1, 2),
		"targets has 3 values; batch x seq, 1 x 2, needs 2":                 o.data.Random(&state, 1, 2, three[:2], three),
		fmt.Sprintf("batch x seq, %d x 4, is more than there can be", huge): o.trainer.Forward(background, three, huge, 4),
	} {
		var e *threept.Error
		if !errors.As(err, &e) || e.Status != threept.ErrArgument || !strings.HasSuffix(e.Message, want) {
			t.Errorf("%v, not %q", err, want)
		}
	}
}

// After Accumulate there is no forward to take a loss of, however many targets are given.
func TestLossNeedsAForward(t *testing.T) {
	o := newObjects(nil)
	defer o.close()
	loss := func(count int) error {
		_, err := o.trainer.Loss(background, someTokens[:count])
		return err
	}
	check(o.trainer.Forward(background, someTokens[:4], 2, 2))
	if err := loss(3); err == nil || !strings.HasSuffix(err.Error(), "targets has 3 values; batch x seq, 2 x 2, needs 4") {
		t.Error(err)
	}
	must(o.trainer.Accumulate(background, someTokens[:2], someTokens[:2], 1, 2))
	for _, count := range []int{0, 2, 3, 4} {
		if err := loss(count); !errors.Is(err, threept.ErrState) {
			t.Errorf("%d targets: %v", count, err)
		}
	}
}
