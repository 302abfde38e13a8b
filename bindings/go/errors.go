package threept

// #cgo pkg-config: 3pt
// #include "shim.h"
import "C"

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"reflect"
)

// Status is what a call came to. It is an error, for errors.Is. Treat an unknown one as a failure.
type Status int32

const (
	OK             Status = C.TPT_OK
	ErrArgument    Status = C.TPT_E_ARGUMENT    // an argument is out of its range, or nil
	ErrMemory      Status = C.TPT_E_MEMORY      // an allocation failed; the object is as before the call
	ErrIO          Status = C.TPT_E_IO          // the system refused to open, read, write, sync or rename
	ErrFormat      Status = C.TPT_E_FORMAT      // a file is not what it must be
	ErrConfig      Status = C.TPT_E_CONFIG      // a description is wrong or contradicts itself
	ErrState       Status = C.TPT_E_STATE       // the call has no sense now
	ErrUnsupported Status = C.TPT_E_UNSUPPORTED // right, but not something this build, model or version does
	ErrNumeric     Status = C.TPT_E_NUMERIC     // a loss or gradient is not finite; weights and moments are untouched
	ErrCancelled   Status = C.TPT_E_CANCELLED   // a context.Context, the progress function or Context.Cancel ended the call
	ErrInternal    Status = C.TPT_E_INTERNAL    // a bug of the library
)

// Error is the status's name, "TPT_E_IO".
func (s Status) Error() string {
	return C.GoString(C.tpt_status_name(C.tpt_status(s)))
}

var (
	// ErrClosed is the error of a call on an object after its Close, or on one that no function of this package has made.
	ErrClosed = errors.New("closed")
	// ErrBusy is the error of a call that needs an object alone while another one uses it.
	ErrBusy = errors.New("in use by another call")
	// ErrStale is the error of a View whose memory the library has used again.
	ErrStale = errors.New("the borrowed memory has been used again by a later call")
)

// Error is a failure of a call: what was wrong, where, and what is allowed.
type Error struct {
	Status  Status
	Message string
	cause   error // of a call that a context.Context ended: the context's
	done    error // the same: context.Canceled or context.DeadlineExceeded
}

func ended(ctx context.Context, message string) *Error {
	return &Error{ErrCancelled, message, context.Cause(ctx), ctx.Err()}
}

// Error is the name of the status, the message, and the cause of the context.Context that ended the call.
func (e *Error) Error() string {
	text := e.Status.Error() + ": " + e.Message
	if e.cause != nil {
		text += ": " + e.cause.Error()
	}
	return text
}

// Is tells errors.Is that the error is its Status, and Err of the context.Context that ended the call.
func (e *Error) Is(target error) bool {
	if status, ok := target.(Status); ok {
		return status == e.Status
	}
	return e.done != nil && reflect.TypeOf(target).Comparable() && target == e.done
}

// Unwrap gives the cause of the context.Context that ended the call, else nil.
func (e *Error) Unwrap() error { return e.cause }

// failure is the calling thread's last one. The thread is locked since the call.
func failure(status Status) *Error {
	return &Error{Status: status, Message: C.GoString(C.tpt_error_message())}
}

func argument(format string, values ...any) *Error {
	return &Error{Status: ErrArgument, Message: fmt.Sprintf(format, values...)}
}

// number is an int argument and its name.
type number struct {
	name  string
	value int
}

// sizes refuses the first number below 0, before a size_t would make a huge one of it.
func sizes(numbers ...number) error {
	for _, n := range numbers {
		if n.value < 0 {
			return argument("%s is %d; it cannot be negative", n.name, n.value)
		}
	}
	return nil
}

// int32s refuses the first number that no int32_t can say. What it can say is the library's to judge.
func int32s(numbers ...number) error {
	for _, n := range numbers {
		if n.value < math.MinInt32 || n.value > math.MaxInt32 {
			return argument("%s is %d; a number of 32 bits is needed", n.name, n.value)
		}
	}
	return nil
}

// exact refuses a slice that has not batch x seq elements, before the library would read or write past its end.
func exact(name string, length, batch, seq int) error {
	if err := sizes(number{"batch", batch}, number{"seq", seq}); err != nil {
		return err
	}
	high, low := bits.Mul(uint(batch), uint(seq))
	if high != 0 || low > math.MaxInt {
		return argument("batch x seq, %d x %d, is more than there can be", batch, seq)
	}
	if low != uint(length) {
		return argument("%s has %d values; batch x seq, %d x %d, needs %d", name, length, batch, seq, low)
	}
	return nil
}
