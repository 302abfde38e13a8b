// Package threept trains and runs Three-Phase Transformers (arXiv:2604.14430) by lib3pt, the C library behind 3pt.h.
//
// The names are those of the C interface: a [Config] describes a model, a [Model] has the weights, a [Trainer] and an
// [Optimizer] change them, a [Decoder] is a sequence in progress, a [Dataset] gives batches, a [Tokenizer] makes ids of
// text and text of ids. A [Context] has the threads; where a function takes one, nil stands for a context of its own
// with the defaults.
//
// # Closing
//
// Close gives the memory back at once; it may be called twice, in any order, and while a call runs, which then is the
// last one. What is never closed is closed some time after the garbage collector has found it unreachable: it does not
// see how large an object is, for the library's memory is none of Go's and not in runtime.MemStats. Every call on a closed
// object gives [ErrClosed], and so does one on a zero value. Close of a nil pointer is nothing.
//
// # Errors
//
// A failure of the library is an [*Error] with its [Status] and the library's own text. The statuses are errors too, so
// that errors.Is(err, threept.ErrIO) asks for one. Sizes are ints; one below 0 is [ErrArgument].
//
// # Goroutines
//
// Calls on different objects may run at once, and any number of calls that only read one: Model.NewDecoder,
// Tokenizer.Encode, Dataset.Random. A call that needs an object alone and finds it in use does not wait: it gives
// [ErrBusy]. A trainer and its optimizers count as one object; the settings of a Context need all that was made from it
// to be idle. Optimizer.Step, Model.SetTensor and Trainer.LoadCheckpoint write the weights, and need the model, its decoders
// and its other trainers to be idle. Who writes to the [View] of Model.Parameters sees to that by himself.
//
// # Cancelling
//
// Calls whose work grows with a model, file or text take a context.Context. When it is done the call ends within some
// milliseconds, and no other call does. The error is then [ErrCancelled], the context's Err and its Cause: errors.Is finds
// each.
// A nil context.Context is never done.
//
// # Borrowed memory
//
// Logits, activations, parameters and gradients stay in the library's memory. A [View] reads them there, keeps their
// owner alive, and gives [ErrStale] where the library has moved on.
package threept
