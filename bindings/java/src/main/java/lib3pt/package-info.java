/**
 * Three-Phase Transformers. A {@link lib3pt.Config} describes, a {@link lib3pt.Model} holds weights,
 * a {@link lib3pt.Trainer} and a {@link lib3pt.Optimizer} train it, a {@link lib3pt.Decoder}
 * continues a text.
 *
 * <p>Shapes are row-major: B batch, T positions of a row, D model.d_model, N model.n_phases, P = D /
 * N, V model.vocab_size, L model.n_layers. Sizes are long. Seeds, random states and step counts are
 * unsigned 64-bit numbers in a long: {@link java.lang.Long#toUnsignedString(long)} shows them.
 *
 * <p>Every object is closed with {@code close}, in any order, as often as one likes; a Cleaner closes
 * what was forgotten. glibc may keep memory that was freed so: a process that forgets many large
 * objects grows more than one that closes them. A call on a closed object is an {@link
 * java.lang.IllegalStateException}. What the library refuses is a {@link lib3pt.TptException} with
 * status and text. A {@link java.nio.file.Path} is of the default file system, else it is an
 * IllegalArgumentException.
 *
 * <p>One object is used by one thread at a time, except for what only reads it; a call on an object
 * that another thread is using is an IllegalStateException. A trainer and its optimizers count as one
 * object. Who writes weights has their model alone. A call that another thread has running keeps its object alive past a {@code close}.
 *
 * <p>Long calls end early by {@link lib3pt.Context#cancel}, by a progress function that says no, and
 * by {@link java.lang.Thread#interrupt}, which gives a {@link lib3pt.TptInterruptedException}. What a
 * log, progress or allocator function throws comes out of the call that it ran in.
 *
 * <p>Arrays are copied, unless a method says "view": a segment of the library's own memory, which
 * cannot be read any more (IllegalStateException) when the time that its method names is over. A
 * MemorySegment that is given must be native; of floats, ints or doubles it holds as many as fit.
 */
package lib3pt;
