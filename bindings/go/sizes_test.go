package threept_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"lib3pt/threept"
)

// anything is an argument that is in no call's way before its sizes are looked at; 1 for an int.
func anything(kind reflect.Type) reflect.Value {
	switch kind {
	case reflect.TypeFor[int]():
		return reflect.ValueOf(1)
	case reflect.TypeFor[context.Context]():
		return reflect.ValueOf(background)
	}
	return reflect.Zero(kind)
}

// outcomeOf calls a method and gives its error, that of the first turn where it returns a loop.
func outcomeOf(method reflect.Value, arguments []reflect.Value) (err error) {
	results := method.Call(arguments)
	last := results[len(results)-1]
	if last.Kind() != reflect.Func {
		err, _ = last.Interface().(error)
		return err
	}
	for _, e := range last.Seq2() {
		err, _ = e.Interface().(error)
		break
	}
	return err
}

func refusesBelowZero(t *testing.T, name string, n int, err error) {
	want := fmt.Sprintf(" is %d; it cannot be negative", n)
	var e *threept.Error
	if !errors.As(err, &e) || e.Status != threept.ErrArgument || !strings.HasSuffix(e.Message, want) {
		t.Errorf("%s: %v, not %q", name, err, want)
	}
}

// trySizes gives each int of a method a number below 0, one at a time, and says how many there were.
func trySizes(t *testing.T, name string, method reflect.Value) (tried int) {
	kind := method.Type()
	for i := range kind.NumIn() {
		if kind.In(i).Kind() != reflect.Int {
			continue
		}
		tried++
		for _, n := range []int{-1, math.MinInt} {
			arguments := make([]reflect.Value, kind.NumIn())
			for k := range arguments {
				arguments[k] = anything(kind.In(k))
			}
			arguments[i] = reflect.ValueOf(n)
			refusesBelowZero(t, name, n, outcomeOf(method, arguments))
		}
	}
	return tried
}

// Of every method, so that none that is new is forgotten: its ints are sizes, but for the number of threads.
func TestSizesBelowZeroAreRefused(t *testing.T) {
	o, tried := newObjects(nil), 0
	defer o.close()
	for _, object := range o.all() {
		methods := reflect.ValueOf(object)
		for i := range methods.NumMethod() {
			if name := methods.Type().Method(i).Name; name != "SetThreads" {
				tried += trySizes(t, fmt.Sprintf("%T.%s", object, name), methods.Method(i))
			}
		}
	}
	tried += trySizes(t, "WordsTokenizer", reflect.ValueOf(threept.WordsTokenizer))
	tried += trySizes(t, "BPETokenizer", reflect.ValueOf(threept.BPETokenizer))
	if tried < 30 {
		t.Errorf("only %d numbers were tried", tried)
	}
	if must(o.decoder.Position()) != 0 {
		t.Error("something was fed")
	}
}

func TestNumbersBeyond32BitsAreNamed(t *testing.T) {
	if math.MaxInt == math.MaxInt32 {
		t.Skip("no int is so large here")
	}
	o := newObjects(nil)
	defer o.close()
	for _, n := range []int{math.MaxInt, math.MinInt, math.MaxInt32 + 1, math.MinInt32 - 1} {
		for _, err := range []error{o.context.SetThreads(n), o.decoder.SetSampling(threept.Sampling{TopK: n, TopP: 1}),
			threept.CheckVersion(n, 0, 0), threept.CheckVersion(1, n, 0), threept.CheckVersion(1, 0, n)} {
			var e *threept.Error
			if !errors.As(err, &e) || e.Status != threept.ErrArgument || !strings.HasSuffix(e.Message, fmt.Sprintf(" is %d; a number of 32 bits is needed", n)) {
				t.Errorf("%d: %v", n, err)
			}
		}
	}
}
