package threept

// #include "shim.h"
import "C"

import (
	"context"
	"errors"
	"unsafe"
)

// Trainer is the activations and gradients of one model. A step is ZeroGradients, one or more Accumulate (or Forward,
// Loss, Backward), Optimizer.Step.
type Trainer struct {
	*handle
	shape      shape // the model's
	batch, seq int   // of the last forward; with the guard
	positions  int   // of the last forward or accumulate; with the guard
}

var trainerKind = &kind{"trainer", func(p unsafe.Pointer) { C.tpt_trainer_destroy((*C.tpt_trainer)(p)) }}

func (t *Trainer) c() *C.tpt_trainer { return (*C.tpt_trainer)(t.p) }

// NewTrainer makes a trainer with room for train.batch x train.seq_len tokens. config may be nil: the model's.
func (m *Model) NewTrainer(ctx context.Context, config *Config) (*Trainer, error) {
	h, err := m.create(ctx, exclusive, trainerKind, func(out *unsafe.Pointer) C.tpt_status {
		return C.tpt_trainer_create(m.c(), config.c(), (**C.tpt_trainer)(unsafe.Pointer(out)))
	}, config.use())
	if err != nil {
		return nil, err
	}
	h.weights = m.own
	return &Trainer{handle: h, shape: m.shape}, nil
}

// Close gives the trainer back.
func (t *Trainer) Close() error {
	if t == nil {
		return nil
	}
	return t.close()
}

// LastError is the text of the last failed call on the trainer, "" where none has failed.
func (t *Trainer) LastError() (string, error) { return t.lastError() }

// ID is the trainer in a progress function.
func (t *Trainer) ID() ID { return t.id() }

// Forward computes the stream of a batch, [batch, seq] tokens, up to what the head reads.
func (t *Trainer) Forward(ctx context.Context, tokens []int32, batch, seq int) error {
	if err := exact("tokens", len(tokens), batch, seq); err != nil {
		return err
	}
	return t.do(ctx, exclusive, func() C.tpt_status {
		status := C.tpt_trainer_forward(t.c(), ids(tokens), C.size_t(batch), C.size_t(seq))
		if status == C.TPT_OK {
			t.batch, t.seq, t.positions = batch, seq, seq
		}
		return status
	})
}

// Logits are those of the last Forward, [batch, seq, V], borrowed until the next call on the trainer.
func (t *Trainer) Logits(ctx context.Context) (View, error) {
	var view View
	err := t.do(ctx, exclusive, func() C.tpt_status {
		var logits *C.float
		status := C.tpt_trainer_logits(t.c(), &logits)
		view = t.view(logits, t.batch*t.seq*t.shape.vocab, passing)
		return status
	})
	return view, err
}

// Loss is that of the last Forward: mean cross-entropy over the targets that are not train.ignore_index, plus the
// auxiliary part.
func (t *Trainer) Loss(ctx context.Context, targets []int32) (float64, error) {
	var loss C.double
	var wrong error
	err := t.do(ctx, exclusive, func() C.tpt_status {
		given := ids(targets)
		if wrong = exact("targets", len(targets), t.batch, t.seq); wrong != nil {
			given = nil // the library looks for the forward first
		}
		return C.tpt_trainer_loss(t.c(), given, &loss)
	})
	if wrong != nil && errors.Is(err, ErrArgument) {
		err = wrong
	}
	return float64(loss), err
}

// Backward adds the gradients of the last Loss.
func (t *Trainer) Backward(ctx context.Context) error {
	return t.do(ctx, exclusive, func() C.tpt_status { return C.tpt_trainer_backward(t.c()) })
}

// BackwardLogits adds the gradients of a loss of the caller's own: its derivatives by each logit, [batch, seq, V].
func (t *Trainer) BackwardLogits(ctx context.Context, dlogits []float32) error {
	return t.do(ctx, exclusive, func() C.tpt_status {
		return C.tpt_trainer_backward_logits(t.c(), floats(dlogits), C.size_t(len(dlogits)))
	})
}

// Accumulate is Forward, Loss and Backward in one, the same bits: the fast path. tokens and targets are [batch, seq].
func (t *Trainer) Accumulate(ctx context.Context, tokens, targets []int32, batch, seq int) (float64, error) {
	if err := exact("tokens", len(tokens), batch, seq); err != nil {
		return 0, err
	}
	if err := exact("targets", len(targets), batch, seq); err != nil {
		return 0, err
	}
	var loss C.double
	err := t.do(ctx, exclusive, func() C.tpt_status {
		status := C.tpt_trainer_accumulate(t.c(), ids(tokens), ids(targets), C.size_t(batch), C.size_t(seq), &loss)
		if status == C.TPT_OK || status == C.TPT_E_NUMERIC {
			t.positions = seq
		}
		return status
	})
	return float64(loss), err
}

// ZeroGradients sets all gradients to 0, also after ErrCancelled or ErrNumeric, which spoil them.
func (t *Trainer) ZeroGradients(ctx context.Context) error {
	return t.do(ctx, exclusive, func() C.tpt_status { return C.tpt_trainer_zero_gradients(t.c()) })
}

// Gradients are laid out as Model.Parameters, writable between calls.
func (t *Trainer) Gradients() (View, error) {
	var view View
	err := t.do(nil, exclusive, func() C.tpt_status {
		var values *C.float
		var count C.size_t
		status := C.tpt_trainer_gradients(t.c(), &values, &count)
		view = t.view(values, int(count), lasting)
		return status
	})
	return view, err
}

// Gradient is a copy of one tensor's gradient.
func (t *Trainer) Gradient(name string) ([]float32, error) {
	values := make([]float32, t.shape.size(name))
	return values, terminated("name", name, func(name *C.char) error {
		return t.do(nil, shared, func() C.tpt_status {
			return C.tpt_trainer_get_gradient(t.c(), name, floats(values), C.size_t(len(values)))
		})
	})
}

// Point is a point of the residual stream, together with a layer.
type Point int32

const (
	PointEmbedding Point = C.TPT_POINT_EMBEDDING // after DC injection; layer is 0
	PointAttention Point = C.TPT_POINT_ATTENTION // after attention is added, before the rotation
	PointRotation  Point = C.TPT_POINT_ROTATION  // after the rotation, before the feed-forward part
	PointBlock     Point = C.TPT_POINT_BLOCK     // after the block
)

// Activation is the stream of the last Forward or Accumulate, [batch, seq, D], borrowed until the next call on the
// trainer.
func (t *Trainer) Activation(point Point, layer int) (View, error) {
	if err := sizes(number{"layer", layer}); err != nil {
		return View{}, err
	}
	var view View
	err := t.do(nil, exclusive, func() C.tpt_status {
		var values *C.float
		var count C.size_t
		status := C.tpt_trainer_activation(t.c(), C.tpt_point(point), C.size_t(layer), &values, &count)
		view = t.view(values, int(count), passing)
		return status
	})
	return view, err
}
