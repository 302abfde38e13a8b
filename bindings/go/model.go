package threept

// #include "shim.h"
import "C"

import (
	"context"
	"unsafe"
)

// Model is weights and their description.
type Model struct {
	*handle
	shape shape
}

// shape is what sizes the arrays of a model's calls.
type shape struct {
	vocab, width, phases, positions int
	sizes                           map[string]int // elements of each tensor
}

// pairs is P / 2; 0 of a model that was never made.
func (s shape) pairs() int { return s.width / max(s.phases, 1) / 2 }

// size is 1 of a tensor that is not there, which is the library's to say.
func (s shape) size(name string) int { return max(s.sizes[name], 1) }

var modelKind = &kind{"model", func(p unsafe.Pointer) { C.tpt_model_destroy((*C.tpt_model)(p)) }}

func (m *Model) c() *C.tpt_model { return (*C.tpt_model)(m.p) }

// modelOf reads the shape.
func modelOf(h *handle, err error) (*Model, error) {
	if err != nil {
		return nil, err
	}
	m := &Model{handle: h}
	config, err := m.Config()
	if err != nil {
		return nil, err
	}
	defer config.Close()
	for key, to := range map[string]*int{"model.vocab_size": &m.shape.vocab, "model.d_model": &m.shape.width,
		"model.n_phases": &m.shape.phases, "model.max_seq_len": &m.shape.positions} {
		if *to, err = config.number(key); err != nil {
			return nil, err
		}
	}
	tensors, err := m.Tensors()
	m.shape.sizes = map[string]int{"embedding.dc_profile": m.shape.positions}
	for _, t := range tensors {
		m.shape.sizes[t.Name] = t.Count
	}
	return m, err
}

// NewModel makes a model with random weights, a function of the description and the seed alone. c may be nil.
func NewModel(ctx context.Context, c *Context, config *Config, seed uint64) (*Model, error) {
	return modelOf(createIn(ctx, c, modelKind, func(in *C.tpt_context, out *unsafe.Pointer) C.tpt_status {
		return C.tpt_model_create(in, config.c(), C.uint64_t(seed), (**C.tpt_model)(unsafe.Pointer(out)))
	}, config.use()))
}

// LoadModel reads a safetensors file, a checkpoint among them, or a state_dict of the published code. c may be nil;
// config may be nil where the file holds one.
func LoadModel(ctx context.Context, c *Context, path string, config *Config) (m *Model, err error) {
	err = terminated("path", path, func(path *C.char) (err error) {
		m, err = modelOf(createIn(ctx, c, modelKind, func(in *C.tpt_context, out *unsafe.Pointer) C.tpt_status {
			return C.tpt_model_load(in, path, config.c(), (**C.tpt_model)(unsafe.Pointer(out)))
		}, config.use()))
		return err
	})
	return m, err
}

// LoadModelBytes does the same from the bytes of a file.
func LoadModelBytes(ctx context.Context, c *Context, data []byte, config *Config) (*Model, error) {
	return modelOf(createIn(ctx, c, modelKind, func(in *C.tpt_context, out *unsafe.Pointer) C.tpt_status {
		return C.tptgo_model_load_memory(in, octets(data), C.size_t(len(data)), config.c(), (**C.tpt_model)(unsafe.Pointer(out)))
	}, config.use()))
}

// Close gives the model back; what was made from it keeps the weights.
func (m *Model) Close() error {
	if m == nil {
		return nil
	}
	return m.close()
}

// LastError is the text of the last failed call on the model, "" where none has failed.
func (m *Model) LastError() (string, error) { return m.lastError() }

// ID is the model in a progress function.
func (m *Model) ID() ID { return m.id() }

// Save writes weights and description as one safetensors file, which appears whole or not at all.
func (m *Model) Save(ctx context.Context, path string) error {
	return terminated("path", path, func(path *C.char) error {
		return m.do(ctx, shared, func() C.tpt_status { return C.tpt_model_save(m.c(), path) })
	})
}

// Bytes are those that Save writes.
func (m *Model) Bytes(ctx context.Context) ([]byte, error) {
	var data []byte
	err := m.do(ctx, shared, func() C.tpt_status {
		var length C.size_t
		status := C.tpt_model_save_memory(m.c(), nil, 0, &length)
		if status == C.TPT_OK {
			data = make([]byte, int(length))
			status = C.tptgo_model_save_memory(m.c(), octets(data), length, &length)
		}
		return status
	})
	if err != nil {
		return nil, err
	}
	return data, nil
}

// Config is a copy of the model's description.
func (m *Model) Config() (*Config, error) {
	h, err := m.create(nil, shared, configKind, func(out *unsafe.Pointer) C.tpt_status {
		return C.tpt_config_copy(C.tpt_model_config(m.c()), (**C.tpt_config)(unsafe.Pointer(out)))
	})
	if err != nil {
		return nil, err
	}
	h.root, h.above = nil, nil // a description has no context
	return &Config{h}, nil
}

// Fold makes a snapshot with the same logits, whose rotations and gains are multiplied into the linear maps.
func (m *Model) Fold(ctx context.Context) (*Model, error) {
	return modelOf(m.create(ctx, shared, modelKind, func(out *unsafe.Pointer) C.tpt_status {
		return C.tpt_model_fold(m.c(), (**C.tpt_model)(unsafe.Pointer(out)))
	}))
}

// Convert makes a snapshot for decoding and evaluation, folded, with matrices held in "f32", "bf16" or "int8".
func (m *Model) Convert(ctx context.Context, precision string) (converted *Model, err error) {
	err = terminated("precision", precision, func(precision *C.char) (err error) {
		converted, err = modelOf(m.create(ctx, shared, modelKind, func(out *unsafe.Pointer) C.tpt_status {
			return C.tpt_model_convert(m.c(), precision, (**C.tpt_model)(unsafe.Pointer(out)))
		}))
		return err
	})
	return converted, err
}

// TensorInfo is a parameter tensor.
type TensorInfo struct {
	Name   string // "blocks.0.attn.q.weight"
	Shape  []int  // a linear map is [out, in]
	Offset int    // of its first element in Model.Parameters
	Count  int    // elements
}

// TensorCount is how many parameter tensors there are.
func (m *Model) TensorCount() (int, error) {
	var count C.size_t
	err := m.do(nil, shared, func() C.tpt_status { return C.tpt_model_tensor_count(m.c(), &count) })
	return int(count), err
}

// TensorInfo is the name, shape and place of one, index below TensorCount.
func (m *Model) TensorInfo(index int) (TensorInfo, error) {
	if err := sizes(number{"index", index}); err != nil {
		return TensorInfo{}, err
	}
	var t TensorInfo
	err := m.do(nil, shared, func() C.tpt_status {
		info := C.tpt_tensor_info{size: C.sizeof_tpt_tensor_info}
		status := C.tpt_model_tensor_info(m.c(), C.size_t(index), &info)
		if status == C.TPT_OK {
			t = TensorInfo{Name: C.GoString(info.name), Offset: int(info.offset), Count: int(info.count)}
			for _, n := range info.shape[:info.ndim] {
				t.Shape = append(t.Shape, int(n))
			}
		}
		return status
	})
	return t, err
}

// Tensors are all of them, in order.
func (m *Model) Tensors() ([]TensorInfo, error) {
	count, err := m.TensorCount()
	if err != nil {
		return nil, err
	}
	all := make([]TensorInfo, count)
	for i := range all {
		if all[i], err = m.TensorInfo(i); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// Tensor is a copy of a tensor, or of "embedding.dc_profile".
func (m *Model) Tensor(name string) ([]float32, error) {
	values := make([]float32, m.shape.size(name))
	return values, terminated("name", name, func(name *C.char) error {
		return m.do(nil, shared, func() C.tpt_status {
			return C.tpt_model_get_tensor(m.c(), name, floats(values), C.size_t(len(values)))
		})
	})
}

// SetTensor copies a tensor in. It ends the forward of every trainer of the model.
func (m *Model) SetTensor(name string, values []float32) error {
	return terminated("name", name, func(name *C.char) error {
		return m.do(nil, exclusive, func() C.tpt_status {
			return C.tpt_model_set_tensor(m.c(), name, floats(values), C.size_t(len(values)))
		})
	})
}

// Parameters are all, one array without gaps in the order of Tensors, writable between calls. After writing begin anew
// with a forward.
func (m *Model) Parameters() (View, error) {
	var view View
	err := m.do(nil, exclusive, func() C.tpt_status {
		var values *C.float
		var count C.size_t
		status := C.tpt_model_parameters(m.c(), &values, &count)
		view = m.view(values, int(count), lasting)
		return status
	})
	return view, err
}

// Evaluation is the result of Evaluate. Where no target counted: loss 0, perplexity 1, tokens 0.
type Evaluation struct {
	Loss       float64 // mean cross-entropy, nats a token, without the auxiliary loss
	Perplexity float64 // exp(Loss)
	Tokens     uint64  // targets counted
}

// Evaluate is the model's loss on the first maxWindows windows of seq tokens, all where it is 0. config may be nil: the
// model's.
func (m *Model) Evaluate(ctx context.Context, config *Config, data *Dataset, seq, maxWindows int) (Evaluation, error) {
	if err := sizes(number{"seq", seq}, number{"max_windows", maxWindows}); err != nil {
		return Evaluation{}, err
	}
	var e Evaluation
	err := m.do(ctx, shared, func() C.tpt_status {
		raw := C.tpt_evaluation{size: C.sizeof_tpt_evaluation}
		status := C.tpt_evaluate(m.c(), config.c(), data.c(), C.size_t(seq), C.size_t(maxWindows), &raw)
		e = Evaluation{float64(raw.loss), float64(raw.perplexity), uint64(raw.tokens)}
		return status
	}, config.use(), data.use())
	return e, err
}
