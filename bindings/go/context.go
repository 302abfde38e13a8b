package threept

// #include "shim.h"
import "C"

import (
	"context"
	"runtime/cgo"
	"sync"
	"unsafe"
)

// Version is the version of the library in use, "1.0.0".
func Version() string { return C.GoString(C.tpt_version()) }

// BuildInfo says which matrix kernels, instruction sets and options are in use; one line, for a bug report.
func BuildInfo() string { return C.GoString(C.tpt_build_info()) }

// CheckVersion says whether the library in use is of this major version and at least this one. The package asks once by
// itself, with the version that it was compiled for; whatever is made first gives the error.
func CheckVersion(major, minor, patch int) error {
	if err := int32s(number{"major", major}, number{"minor", minor}, number{"patch", patch}); err != nil {
		return err
	}
	return (*root)(nil).run(nil, nil, func() C.tpt_status {
		return C.tpt_check_version(C.int32_t(major), C.int32_t(minor), C.int32_t(patch))
	})
}

var compatible = sync.OnceValue(func() error {
	return CheckVersion(C.TPT_VERSION_MAJOR, C.TPT_VERSION_MINOR, C.TPT_VERSION_PATCH)
})

// Context has the threads, the memory, the log and the progress function of what is made from it. One for the whole
// program is usually right.
type Context struct{ *handle }

var contextKind = &kind{"context", func(p unsafe.Pointer) { C.tpt_context_destroy((*C.tpt_context)(p)) }}

func (c *Context) c() *C.tpt_context { return (*C.tpt_context)(c.p) }

// NewContext makes a context with the defaults: as many threads as the process may use, the C library's memory, no log,
// no progress function.
func NewContext() (*Context, error) {
	if err := compatible(); err != nil {
		return nil, err
	}
	var made *C.tpt_context
	if err := (*root)(nil).run(nil, nil, func() C.tpt_status { return C.tpt_context_create(&made) }); err != nil {
		return nil, err
	}
	r := &root{}
	r.self = cgo.NewHandle(r)
	c := &Context{wrap(unsafe.Pointer(made), contextKind, r, &r.guard)}
	return c, c.do(nil, exclusive, func() C.tpt_status { return C.tptgo_set_progress(c.c(), C.uintptr_t(r.self)) })
}

// createIn makes an object from c, or from a context of its own where c is nil.
func createIn(ctx context.Context, c *Context, k *kind, f func(in *C.tpt_context, out *unsafe.Pointer) C.tpt_status, others ...use) (*handle, error) {
	if c == nil {
		own, err := NewContext()
		if err != nil {
			return nil, err
		}
		defer own.Close()
		c = own
	}
	return c.create(ctx, shared, k, func(out *unsafe.Pointer) C.tpt_status { return f(c.c(), out) }, others...)
}

// Close gives the context back. What was made from it keeps it alive.
func (c *Context) Close() error {
	if c == nil {
		return nil
	}
	return c.close()
}

// LastError is the text of the last failed call on the context, "" where none has failed.
func (c *Context) LastError() (string, error) { return c.lastError() }

// ID is the context in a progress function.
func (c *Context) ID() ID { return c.id() }

// SetThreads sets the threads of a call, the caller's own among them: 1 to 256; 0 is the default, as many as the process
// may use. Only while idle.
func (c *Context) SetThreads(threads int) error {
	if err := int32s(number{"threads", threads}); err != nil {
		return err
	}
	return c.do(nil, exclusive, func() C.tpt_status { return C.tpt_context_set_threads(c.c(), C.int32_t(threads)) })
}

// Threads is how many a call uses now.
func (c *Context) Threads() (int, error) {
	var threads C.int32_t
	err := c.do(nil, shared, func() C.tpt_status { return C.tpt_context_threads(c.c(), &threads) })
	return int(threads), err
}

// Cancel ends running and coming long calls of everything made from the context, until Cancel(false). From any
// goroutine. To end one call give it a context.Context.
func (c *Context) Cancel(on bool) error {
	var number C.int32_t
	if on {
		number = 1
	}
	return c.anyTime(func() C.tpt_status { return C.tpt_context_cancel(c.c(), number) })
}

// LogLevel is how serious a message is.
type LogLevel int32

const (
	LogError LogLevel = iota
	LogWarning
	LogInfo
	LogDebug
)

// SetLog sets where messages go that are no failures of a call; nil is silence. The function is called while
// a call waits for it, on a goroutine of its own, and must not call the object that the call is on. A panic in it, or
// runtime.Goexit, ends the call and goes on in its caller. What it refers to lives until all that the context made is
// closed, and so does the context, where it refers to one of these. Only while idle.
func (c *Context) SetLog(log func(level LogLevel, text string)) error {
	return c.do(nil, exclusive, func() C.tpt_status {
		var on C.int32_t
		if log != nil {
			on = 1
		}
		c.root.log = log
		c.root.listen()
		return C.tptgo_set_log(c.c(), C.uintptr_t(c.root.self), on)
	})
}

// SetProgress sets what is called every few milliseconds of a long call, with the object that the call is on and the
// share done from 0 to 1, NaN where it is not known; nil is no function. False ends the call with ErrCancelled. Otherwise
// as SetLog.
func (c *Context) SetProgress(progress func(on ID, done float64) (goOn bool)) error {
	return c.do(nil, exclusive, func() C.tpt_status {
		c.root.progress = progress
		c.root.listen()
		return C.TPT_OK
	})
}

// Allocator is the program's own memory for what is made from a context. Both functions may be called from any thread,
// also from several at once, and must not call this package but for CMemory. Memory of Go will not do: the library keeps
// pointers to it.
type Allocator interface {
	// Allocate gives a block at a multiple of alignment, or nil.
	Allocate(bytes, alignment int) unsafe.Pointer
	// Release takes a block back, with the numbers that it was asked with.
	Release(block unsafe.Pointer, bytes, alignment int)
}

// CMemory is the C library's memory, for an Allocator that counts or limits.
type CMemory struct{}

// Allocate gives a block of posix_memalign.
func (CMemory) Allocate(bytes, alignment int) unsafe.Pointer {
	return C.tptgo_allocate(C.size_t(bytes), C.size_t(alignment))
}

// Release frees it.
func (CMemory) Release(block unsafe.Pointer, bytes, alignment int) { C.tptgo_free(block) }

// SetAllocator sets the memory of everything that is made from the context from now on; nothing made from it may be
// alive. After a failure the old one stays. A panic in the allocator, or runtime.Goexit, is a refusal and goes on in the caller
// of the call; where the library's own threads or the garbage collector asked for it, of some later call. It lives as SetLog's
// function.
func (c *Context) SetAllocator(allocator Allocator) error {
	if allocator == nil {
		return argument("the allocator is nil")
	}
	if c.handle == nil {
		return errNeverMade
	}
	next := cgo.NewHandle(&memory{c.root, allocator})
	defer func() {
		if next != 0 {
			next.Delete()
		}
	}()
	return c.do(nil, exclusive, func() C.tpt_status {
		status := C.tptgo_set_allocator(c.c(), C.uintptr_t(next))
		if status == C.TPT_OK {
			next, c.root.allocator = c.root.allocator, next
			c.root.listen()
		}
		return status
	})
}
