package threept

// #include "shim.h"
import "C"

import (
	"context"
	"unsafe"
)

// Dataset is a sequence of token ids, in memory or in a file.
type Dataset struct{ *handle }

var datasetKind = &kind{"dataset", func(p unsafe.Pointer) { C.tpt_dataset_destroy((*C.tpt_dataset)(p)) }}

func (d *Dataset) c() *C.tpt_dataset {
	if d == nil {
		return nil
	}
	return (*C.tpt_dataset)(d.p)
}

func (d *Dataset) use() use {
	if d == nil {
		return use{}
	}
	return use{d.handle, shared, true}
}

func datasetOf(h *handle, err error) (*Dataset, error) {
	if err != nil {
		return nil, err
	}
	return &Dataset{h}, nil
}

// OpenDataset opens a file of flat little-endian ids: .u16, .bin (16 bit), .u32. c may be nil.
func OpenDataset(c *Context, path string) (data *Dataset, err error) {
	err = terminated("path", path, func(path *C.char) (err error) {
		data, err = datasetOf(createIn(nil, c, datasetKind, func(in *C.tpt_context, out *unsafe.Pointer) C.tpt_status {
			return C.tpt_dataset_open(in, path, (**C.tpt_dataset)(unsafe.Pointer(out)))
		}))
		return err
	})
	return data, err
}

// DatasetFromTokens copies ids, each at least 0. c may be nil.
func DatasetFromTokens(ctx context.Context, c *Context, tokens []int32) (*Dataset, error) {
	return datasetOf(createIn(ctx, c, datasetKind, func(in *C.tpt_context, out *unsafe.Pointer) C.tpt_status {
		return C.tpt_dataset_from_tokens(in, ids(tokens), C.size_t(len(tokens)), (**C.tpt_dataset)(unsafe.Pointer(out)))
	}))
}

// Close closes the file, or gives the copy back.
func (d *Dataset) Close() error {
	if d == nil {
		return nil
	}
	return d.close()
}

// LastError is the text of the last failed call on the dataset, "" where none has failed.
func (d *Dataset) LastError() (string, error) { return d.lastError() }

// ID is the dataset in a progress function.
func (d *Dataset) ID() ID { return d.id() }

// Count is how many tokens there are.
func (d *Dataset) Count() (int, error) {
	var count C.size_t
	err := d.do(nil, shared, func() C.tpt_status { return C.tpt_dataset_count(d.c(), &count) })
	return int(count), err
}

// Random fills tokens and targets, [batch, seq] each, with windows from places drawn uniformly; a target is the next
// token. The random state is moved on: any number at first, the same number gives the same windows.
func (d *Dataset) Random(randomState *uint64, batch, seq int, tokens, targets []int32) error {
	if err := exact("tokens", len(tokens), batch, seq); err != nil {
		return err
	}
	if err := exact("targets", len(targets), batch, seq); err != nil {
		return err
	}
	return d.do(nil, shared, func() C.tpt_status {
		return C.tpt_dataset_random(d.c(), (*C.uint64_t)(randomState), C.size_t(batch), C.size_t(seq), ids(tokens), ids(targets))
	})
}

// WindowCount is how many windows of seq tokens there are that do not overlap.
func (d *Dataset) WindowCount(seq int) (int, error) {
	if err := sizes(number{"seq", seq}); err != nil {
		return 0, err
	}
	var count C.size_t
	err := d.do(nil, shared, func() C.tpt_status { return C.tpt_dataset_window_count(d.c(), C.size_t(seq), &count) })
	return int(count), err
}

// Window is the one of an index below WindowCount: its tokens from index x seq on, and the targets one further.
func (d *Dataset) Window(index, seq int) (tokens, targets []int32, err error) {
	if err := sizes(number{"index", index}, number{"seq", seq}); err != nil {
		return nil, nil, err
	}
	count, err := d.Count()
	if err != nil {
		return nil, nil, err
	}
	room := min(seq, count) // a longer window is the library's to refuse
	tokens, targets = make([]int32, room), make([]int32, room)
	err = d.do(nil, shared, func() C.tpt_status {
		return C.tpt_dataset_window(d.c(), C.size_t(index), C.size_t(seq), ids(tokens), ids(targets))
	})
	if err != nil {
		return nil, nil, err
	}
	return tokens, targets, nil
}
