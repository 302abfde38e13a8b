package threept

// #include <stdlib.h>
// #include "shim.h"
import "C"

import (
	"strings"
	"unsafe"
)

// nothing is what an empty slice or text points at: a count of 0 is the library's to judge, a NULL would be another fault.
var nothing [1]uint64

func first[T any](values []T) unsafe.Pointer {
	if len(values) == 0 {
		return unsafe.Pointer(&nothing)
	}
	return unsafe.Pointer(unsafe.SliceData(values))
}

// Typed: of an untyped pointer cgo looks through the whole object that it points into for pointers of Go's.
func octets(values []byte) *C.uint8_t  { return (*C.uint8_t)(first(values)) }
func ids(values []int32) *C.int32_t    { return (*C.int32_t)(first(values)) }
func floats(values []float32) *C.float { return (*C.float)(first(values)) }
func doubles(values []float64) *C.double {
	return (*C.double)(first(values))
}

// chars is a text that is handed over with its length.
func chars(text string) (*C.char, C.size_t) {
	if text == "" {
		return (*C.char)(unsafe.Pointer(&nothing)), 0
	}
	return (*C.char)(unsafe.Pointer(unsafe.StringData(text))), C.size_t(len(text))
}

// terminated gives f a copy that ends with a NUL. A text with a NUL in it would be cut there: it is refused.
func terminated(name, text string, f func(text *C.char) error) error {
	if strings.IndexByte(text, 0) >= 0 {
		return argument("%s has a NUL byte", name)
	}
	c := C.CString(text)
	defer C.free(unsafe.Pointer(c))
	return f(c)
}

// result reads a text result: into room for hint bytes, and again while it is longer.
func result(text *string, hint int, f func(to *C.char, capacity C.size_t, length *C.size_t) C.tpt_status) C.tpt_status {
	buffer := make([]byte, max(hint, 248)+8)
	for {
		var length C.size_t
		status := f((*C.char)(first(buffer)), C.size_t(len(buffer)), &length)
		if status != C.TPT_OK {
			return status
		}
		if int(length) < len(buffer) {
			*text = string(buffer[:length])
			return status
		}
		buffer = make([]byte, int(length)+1)
	}
}

// View is a row of floats in the library's memory. It keeps their owner alive, but not what they say: logits and
// activations are valid until the next call on their owner, parameters and gradients until its Close.
type View struct {
	owner *handle
	p     unsafe.Pointer
	n     int
	turn  uint64 // the owner's guard at the borrow; 0: valid until the owner is closed
}

const (
	passing = true  // until the next call
	lasting = false // until Close
)

// view is made inside the call that borrows; an empty one where that failed.
func (h *handle) view(p *C.float, n int, passing bool) View {
	if p == nil {
		return View{}
	}
	v := View{owner: h, p: unsafe.Pointer(p), n: n}
	if passing {
		h.own.mu.Lock()
		defer h.own.mu.Unlock()
		v.turn = h.own.turn
	}
	return v
}

// Len is how many floats there are.
func (v View) Len() int { return v.n }

// Use gives f the memory itself, without a copy. Meanwhile a Close of the owner is put off, and a call that needs the
// owner alone gives ErrBusy, so the slice is good until f returns, and no longer: f must not keep it. Parameters and
// gradients may be written.
func (v View) Use(f func(values []float32)) error {
	if v.owner == nil {
		return argument("the View is empty")
	}
	id, stale := calls.Add(1), false
	err := v.owner.pin(func() bool {
		stale = v.turn != 0 && v.turn != v.owner.own.turn
		return stale || v.owner.own.admit(id, false)
	})
	if err != nil {
		return err
	}
	if stale {
		v.owner.unpin(func() {})
		return ErrStale
	}
	defer v.owner.unpin(func() { v.owner.own.dismiss(id) })
	f(unsafe.Slice((*float32)(v.p), v.n))
	return nil
}

// Copy is a slice of its own with the values.
func (v View) Copy() ([]float32, error) {
	values := make([]float32, v.n)
	err := v.CopyTo(values)
	if err != nil {
		return nil, err
	}
	return values, nil
}

// CopyTo copies as many values as to has room for.
func (v View) CopyTo(to []float32) error {
	return v.Use(func(values []float32) { copy(to, values) })
}
