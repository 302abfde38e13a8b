package threept

// #include "shim.h"
import "C"

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"
)

// guard says who may use an object now: one call alone, or any number that share it.
type guard struct {
	mu     sync.Mutex
	alone  uint64 // the call that has it alone, or 0
	depth  int    // how often that call has it
	shared int    // how often other calls have it
	turn   uint64 // calls begun: what the last one borrowed ends with the next
}

// admit is called with mu held.
func (g *guard) admit(id uint64, exclusive bool) bool {
	switch {
	case g.alone == id:
		g.depth++
	case g.alone != 0 || exclusive && g.shared > 0:
		return false
	case exclusive:
		g.alone, g.depth = id, 1
	default:
		g.shared++
	}
	return true
}

// dismiss is called with mu held.
func (g *guard) dismiss(id uint64) {
	if g.alone != id {
		g.shared--
	} else if g.depth--; g.depth == 0 {
		g.alone = 0
	}
}

// enter is nothing where there is no guard.
func (g *guard) enter(id uint64, exclusive bool) bool {
	if g == nil {
		return true
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.admit(id, exclusive)
}

func (g *guard) leave(id uint64) {
	if g == nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.dismiss(id)
}

// kind is what the library calls an object and how it takes it back.
type kind struct {
	name    string
	destroy func(unsafe.Pointer)
}

// handle is an object of the library's.
type handle struct {
	p       unsafe.Pointer
	kind    *kind
	root    *root  // of the context that it was made from; nil for a description
	own     *guard // its own; an optimizer has its trainer's
	above   *guard // the context's; nil for a context and a description
	weights *guard // the model's, where it reads them: a decoder, a trainer, an optimizer; else nil
	users   int    // calls that are in it; with own.mu held
	closed  bool   // with own.mu held
	cleanup runtime.Cleanup
}

func wrap(p unsafe.Pointer, k *kind, r *root, own *guard) *handle {
	h := &handle{p: p, kind: k, root: r, own: own}
	if r != nil && own != &r.guard {
		h.above = &r.guard
	}
	h.cleanup = runtime.AddCleanup(h, k.destroy, p)
	return h
}

// errNeverMade is of a zero value, which the language lets anybody write.
var errNeverMade = fmt.Errorf("the object was never made by this package and counts as %w", ErrClosed)

// close destroys now or, where calls are in it, with the last of them.
func (h *handle) close() error {
	if h == nil {
		return nil
	}
	h.own.mu.Lock()
	first := !h.closed
	h.closed = true
	last := first && h.users == 0
	h.own.mu.Unlock()
	if last {
		h.end()
	}
	return nil
}

func (h *handle) end() {
	h.cleanup.Stop()
	h.kind.destroy(h.p)
	if h.root != nil {
		h.root.raise()
	}
}

// pin keeps a Close from destroying until unpin.
func (h *handle) pin(admitted func() bool) error {
	if h == nil {
		return errNeverMade
	}
	h.own.mu.Lock()
	defer h.own.mu.Unlock()
	if h.closed {
		return fmt.Errorf("the %s is %w", h.kind.name, ErrClosed)
	}
	if !admitted() {
		return fmt.Errorf("the %s is %w", h.kind.name, ErrBusy)
	}
	h.users++
	return nil
}

func (h *handle) unpin(dismiss func()) {
	h.own.mu.Lock()
	dismiss()
	h.users--
	last := h.closed && h.users == 0
	h.own.mu.Unlock()
	if last {
		h.end()
	}
}

// enter takes what a call needs, or nothing: the context shared; the weights alone where it writes them, else shared; the
// handle.
func (h *handle) enter(id uint64, how access) error {
	if h == nil {
		return errNeverMade
	}
	if !h.above.enter(id, false) {
		return fmt.Errorf("the context of the %s is %w", h.kind.name, ErrBusy)
	}
	if !h.weights.enter(id, how == writing) {
		h.above.leave(id)
		return fmt.Errorf("the model of the %s is %w", h.kind.name, ErrBusy)
	}
	err := h.pin(func() bool {
		admitted := h.own.admit(id, how != shared)
		if admitted {
			h.own.turn++
		}
		return admitted
	})
	if err != nil {
		h.weights.leave(id)
		h.above.leave(id)
	}
	return err
}

func (h *handle) leave(id uint64) {
	defer h.above.leave(id)
	defer h.weights.leave(id)
	h.unpin(func() { h.own.dismiss(id) })
}

// access is what a call needs an object for.
type access int

const (
	shared    access = iota // others may, too
	exclusive               // nobody else may
	writing                 // nobody else may, nor use the weights
)

// use is a handle that a call works on besides its first; none where the argument is nil.
type use struct {
	h     *handle
	how   access
	given bool
}

var calls atomic.Uint64

// do makes one call: f runs with h and the others held, on one thread. ctx may be nil.
func (h *handle) do(ctx context.Context, how access, f func() C.tpt_status, others ...use) error {
	id := calls.Add(1)
	if err := h.enter(id, how); err != nil {
		return err
	}
	defer h.leave(id)
	for _, other := range others {
		if !other.given {
			continue
		}
		if err := other.h.enter(id, other.how); err != nil {
			return err
		}
		defer other.h.leave(id)
	}
	return h.root.run(ctx, h.p, f)
}

// anyTime makes a call that may be made while others run.
func (h *handle) anyTime(f func() C.tpt_status) error {
	if err := h.pin(func() bool { return true }); err != nil {
		return err
	}
	defer h.unpin(func() {})
	return h.root.run(nil, h.p, f)
}

// lastError is what tpt_error_of says, "" where no call has failed.
func (h *handle) lastError() (string, error) {
	var text string
	err := h.anyTime(func() C.tpt_status {
		return result(&text, 0, func(to *C.char, capacity C.size_t, length *C.size_t) C.tpt_status {
			return C.tpt_error_of(h.p, to, capacity, length)
		})
	})
	return text, err
}

// create makes an object from h.
func (h *handle) create(ctx context.Context, how access, k *kind, f func(out *unsafe.Pointer) C.tpt_status, others ...use) (*handle, error) {
	var made *handle
	out := new(unsafe.Pointer)
	defer func() { // a callback panicked, and yet the object was made
		if made == nil && *out != nil {
			k.destroy(*out)
			if h.root != nil {
				h.root.thrown.Store(nil) // of the allocator's Release: one panic is on its way already
			}
		}
	}()
	if err := h.do(ctx, how, func() C.tpt_status { return f(out) }, others...); err != nil {
		return nil, err
	}
	own := new(guard)
	if k == optimizerKind { // counts as one with its trainer
		own = h.own
	}
	made = wrap(*out, k, h.root, own)
	return made, nil
}

// ID tells objects apart in a progress function.
type ID uintptr

// id is 0 where the object was never made.
func (h *handle) id() ID {
	if h == nil {
		return 0
	}
	return ID(uintptr(h.p))
}
