package threept

// #include "shim.h"
import "C"

import (
	"context"
	"runtime"
	"runtime/cgo"
	"sync/atomic"
	"unsafe"
)

// root is what all objects of a context share. The library holds it by a cgo.Handle until the last of them is gone.
type root struct {
	guard
	self      cgo.Handle
	listens   atomic.Bool // a log or progress function or an allocator is set: every call is told to its thread
	progress  func(on ID, done float64) (goOn bool)
	log       func(level LogLevel, text string)
	allocator cgo.Handle                  // of a memory, or 0
	thrown    atomic.Pointer[thrownValue] // of a callback outside of any call
}

// thrownValue is how a callback ended that did not return: by a panic or by runtime.Goexit.
type thrownValue struct {
	value any
	exits bool
}

// goOn ends the caller of the call in the same way.
func (t *thrownValue) goOn() {
	if t.exits {
		runtime.Goexit()
	}
	panic(t.value)
}

// call is one that callbacks can find: by its thread.
type call struct {
	ctx    context.Context // may be nil
	over   <-chan struct{} // of ctx; asked before the call: a callback runs nothing of the program's but apart
	first  ID              // the call's first handle
	thrown *thrownValue
	done   bool // ctx ended it
}

// begin tells the thread, which is locked, until the function that it returns is called.
func (c *call) begin() (end func()) {
	self := cgo.NewHandle(c)
	former := C.tptgo_enter(C.uintptr_t(self))
	return func() {
		C.tptgo_enter(former)
		self.Delete()
	}
}

func (r *root) listen() {
	r.listens.Store(r.log != nil || r.progress != nil || r.allocator != 0)
}

func (c *call) ended(on ID) bool {
	if c == nil || c.first != on {
		return false
	}
	select {
	case <-c.over:
		c.done = c.done || c.thrown == nil
	default:
	}
	return c.done || c.thrown != nil
}

// over is the error of what would begin when ctx is done already.
func over(ctx context.Context) error {
	if ctx == nil || ctx.Err() == nil {
		return nil
	}
	return ended(ctx, "the context.Context was done before the call")
}

// run calls f and makes an error of its status. r is nil where there is no context.
func (r *root) run(ctx context.Context, first unsafe.Pointer, f func() C.tpt_status) error {
	if err := over(ctx); err != nil {
		return err
	}
	var over <-chan struct{}
	if ctx != nil {
		over = ctx.Done()
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if r == nil {
		return outcome(f())
	}
	if !r.listens.Load() && over == nil {
		err := outcome(f())
		r.raise()
		return err
	}
	c := &call{ctx: ctx, over: over, first: ID(uintptr(first))}
	defer c.begin()()
	err := c.outcome(f())
	if c.thrown != nil {
		c.thrown.goOn()
	}
	r.raise()
	return err
}

func outcome(status C.tpt_status) error {
	if status == C.TPT_OK {
		return nil
	}
	return failure(Status(status))
}

// outcome says what ended the call where that was its context.Context: the library only knows that a progress function
// did, which is this package's own.
func (c *call) outcome(status C.tpt_status) error {
	if c.done && Status(status) == ErrCancelled {
		return ended(c.ctx, "the context.Context ended the call")
	}
	return outcome(status)
}

// raise goes on with what ended a callback outside of any call.
func (r *root) raise() {
	if r.thrown.Load() == nil {
		return
	}
	if thrown := r.thrown.Swap(nil); thrown != nil {
		thrown.goOn()
	}
}

// keep has what ended a callback wait for the end of the call.
func (r *root) keep(c *call, thrown *thrownValue) {
	if c == nil {
		r.thrown.CompareAndSwap(nil, thrown)
	} else if c.thrown == nil {
		c.thrown = thrown
	}
}

// apart runs a function of the program's, and says whether it returned. It has a goroutine of its own: neither a panic nor
// runtime.Goexit, which nothing can stop, may cross the frames of C below.
func (r *root) apart(c *call, f func()) bool {
	ended := make(chan *thrownValue)
	go func() {
		thrown := &thrownValue{exits: true}
		defer func() {
			if value := recover(); value != nil {
				thrown = &thrownValue{value: value}
			}
			ended <- thrown
		}()
		f()
		thrown = nil
	}()
	thrown := <-ended
	if thrown != nil {
		r.keep(c, thrown)
	}
	return thrown == nil
}

func currentCall(current C.uintptr_t) *call {
	if current == 0 {
		return nil
	}
	return cgo.Handle(current).Value().(*call)
}

//export tptgoProgress
func tptgoProgress(user, current, on C.uintptr_t, done C.double) C.int32_t {
	r := cgo.Handle(user).Value().(*root)
	if r.tick(currentCall(current), ID(on), float64(done)) {
		return 0
	}
	return 1
}

func (r *root) tick(c *call, on ID, done float64) (goOn bool) {
	if c.ended(on) {
		return false
	}
	if r.progress == nil {
		return true
	}
	return r.apart(c, func() { goOn = r.progress(on, done) }) && goOn
}

//export tptgoLog
func tptgoLog(user, current C.uintptr_t, level C.int32_t, text *C.char) {
	r := cgo.Handle(user).Value().(*root)
	r.apart(currentCall(current), func() { r.log(LogLevel(level), C.GoString(text)) })
}

// The context's last holder is gone.
//
//export tptgoDone
func tptgoDone(user C.uintptr_t) {
	r := cgo.Handle(user).Value().(*root)
	if r.allocator != 0 {
		r.allocator.Delete()
	}
	r.self.Delete()
}

// memory is an allocator and the context that it is of.
type memory struct {
	r         *root
	allocator Allocator
}

//export tptgoAllocate
func tptgoAllocate(user, current C.uintptr_t, bytes, alignment C.size_t) (block unsafe.Pointer) {
	m := cgo.Handle(user).Value().(*memory)
	if !m.r.apart(currentCall(current), func() { block = m.allocator.Allocate(int(bytes), int(alignment)) }) {
		return nil
	}
	return block
}

//export tptgoRelease
func tptgoRelease(user, current C.uintptr_t, block unsafe.Pointer, bytes, alignment C.size_t) {
	m := cgo.Handle(user).Value().(*memory)
	m.r.apart(currentCall(current), func() { m.allocator.Release(block, int(bytes), int(alignment)) })
}
