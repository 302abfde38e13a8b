package threept

// #include "shim.h"
import "C"

import (
	"context"
	"unsafe"
)

// Optimizer is AdamW: moments, schedule, step count. It counts as one object with its trainer.
type Optimizer struct{ *handle }

var optimizerKind = &kind{"optimizer", func(p unsafe.Pointer) { C.tpt_optimizer_destroy((*C.tpt_optimizer)(p)) }}

func (o *Optimizer) c() *C.tpt_optimizer {
	if o == nil {
		return nil
	}
	return (*C.tpt_optimizer)(o.p)
}

func (o *Optimizer) use(how access) use {
	if o == nil {
		return use{}
	}
	return use{o.handle, how, true}
}

// NewOptimizer makes an optimizer with moments of 0. config may be nil: the trainer's.
func (t *Trainer) NewOptimizer(ctx context.Context, config *Config) (*Optimizer, error) {
	h, err := t.create(ctx, exclusive, optimizerKind, func(out *unsafe.Pointer) C.tpt_status {
		return C.tpt_optimizer_create(t.c(), config.c(), (**C.tpt_optimizer)(unsafe.Pointer(out)))
	}, config.use())
	if err != nil {
		return nil, err
	}
	h.weights = t.weights
	return &Optimizer{h}, nil
}

// Close gives the optimizer back.
func (o *Optimizer) Close() error {
	if o == nil {
		return nil
	}
	return o.close()
}

// LastError is the text of the last failed call on the optimizer, "" where none has failed.
func (o *Optimizer) LastError() (string, error) { return o.lastError() }

// ID is the optimizer in a progress function.
func (o *Optimizer) ID() ID { return o.id() }

// Step is one step of AdamW. It gives the norm of the gradients before clipping, ends the forward of every trainer of
// the model, and is never cancelled.
func (o *Optimizer) Step() (gradientNorm float64, err error) {
	var norm C.double
	err = o.do(nil, writing, func() C.tpt_status { return C.tpt_optimizer_step(o.c(), &norm) })
	return float64(norm), err
}

// SetLR sets the rate instead of the schedule, until it is set to NaN.
func (o *Optimizer) SetLR(lr float64) error {
	return o.do(nil, exclusive, func() C.tpt_status { return C.tpt_optimizer_set_lr(o.c(), C.double(lr)) })
}

// LR is the rate of the next step.
func (o *Optimizer) LR() (float64, error) {
	var lr C.double
	err := o.do(nil, shared, func() C.tpt_status { return C.tpt_optimizer_lr(o.c(), &lr) })
	return float64(lr), err
}

// StepCount is how many steps are done, those before a checkpoint among them.
func (o *Optimizer) StepCount() (uint64, error) {
	var steps C.uint64_t
	err := o.do(nil, shared, func() C.tpt_status { return C.tpt_optimizer_step_count(o.c(), &steps) })
	return uint64(steps), err
}

// SaveCheckpoint writes description, weights, moments, step, rate, and the caller's own bytes, whole or not at all. The
// optimizer is one of this trainer.
func (t *Trainer) SaveCheckpoint(ctx context.Context, o *Optimizer, path string, user []byte) error {
	return terminated("path", path, func(path *C.char) error {
		return t.do(ctx, shared, func() C.tpt_status {
			return C.tptgo_checkpoint_save(t.c(), o.c(), path, octets(user), C.size_t(len(user)))
		}, o.use(shared))
	})
}

// userRoom is enough for a random state and a place in the data: where there is more, the file is read a second time.
const userRoom = 4096

// LoadCheckpoint reads it, all or nothing, and gives the caller's own bytes. The gradients are left alone; the forward
// ends. Where there are more than 4096 of these bytes the file is read twice, and an error of the second time leaves the
// trainer as the first has made it.
func (t *Trainer) LoadCheckpoint(ctx context.Context, o *Optimizer, path string) ([]byte, error) {
	user := make([]byte, userRoom)
	var size C.size_t
	err := terminated("path", path, func(path *C.char) error {
		return t.do(ctx, writing, func() C.tpt_status {
			for {
				status := C.tptgo_checkpoint_load(t.c(), o.c(), path, octets(user), C.size_t(len(user)), &size)
				if status != C.TPT_OK || int(size) <= len(user) {
					return status
				}
				user = make([]byte, int(size))
			}
		}, o.use(writing))
	})
	if err != nil {
		return nil, err
	}
	return user[:size], nil
}
