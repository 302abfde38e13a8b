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
// last one. What is never closed is closed some time after the garbage collector has found it unreachable. Every call
// on a closed object gives [ErrClosed].
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
// to be idle. The package does not see one thing: Optimizer.Step, Model.SetTensor and Trainer.LoadCheckpoint write the
// weights, and must not run while a decoder or another trainer of the model does.
//
// # Cancelling
//
// Calls whose work grows with a model, file or text take a context.Context. When it is done the call ends within some
// milliseconds, and no other call does. The error is then both [ErrCancelled] and the context's: errors.Is finds either.
// A nil context.Context is never done.
//
// # Borrowed memory
//
// Logits, activations, parameters and gradients stay in the library's memory. A [View] reads them there, keeps their
// owner alive, and gives [ErrStale] where the library has moved on.
package threept
