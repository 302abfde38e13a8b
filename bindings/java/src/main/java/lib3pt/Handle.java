package lib3pt;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.ref.Cleaner;
import java.lang.ref.Reference;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/** What all objects of the library have: a close, and the text of their last failure. */
public abstract sealed class Handle implements AutoCloseable
    permits Config, Context, Dataset, Decoder, Model, Optimizer, Tokenizer, Trainer {
  private static final Cleaner CLEANER = Cleaner.create();
  private static final int CLOSED = 1 << 30; // more than there are calls at once

  final MemorySegment pointer;
  final Guard guard; // of its own calls; an optimizer's is that of its trainer
  final Guard context; // its settings change while nobody has it; null where there is none
  final Guard weights; // of the model that its calls read or write; null where there is none
  private final AtomicInteger calls = new AtomicInteger(); // running, and CLOSED
  private final Cleaner.Cleanable destroyed;
  private Arena life; // of views until close
  private volatile Arena turn; // of views until the next call

  /** from: what it was made from; null of a context and of a description. */
  Handle(MemorySegment pointer, Guard guard, Handle from, Consumer<MemorySegment> destroy) {
    this.pointer = pointer;
    this.guard = guard;
    this.context = from instanceof Context ? from.guard : from == null ? null : from.context;
    this.weights = this instanceof Model ? new Guard() : from == null ? null : from.weights;
    this.destroyed = CLEANER.register(this, () -> destroy.accept(pointer));
  }

  /**
   * Gives the object back. What was made from it lives on. A second close does nothing. Where
   * another thread has a call running, the memory goes when that ends.
   *
   * @throws IllegalStateException where a call of another thread is reading a view of this object:
   *     then it is not closed
   */
  @Override
  public final synchronized void close() {
    if ((calls.get() & CLOSED) != 0) return;
    endTurn();
    if (life != null) life.close();
    if (calls.getAndAdd(CLOSED) == 0) destroyed.clean();
  }

  /**
   * The last failure of a call whose first object was this one. From any thread. The words are the
   * library's, which takes an interrupt for a progress function and has no numbers below 0.
   *
   * @return one line, "" where no call has failed
   */
  @Calls("tpt_error_of")
  public final String lastError() {
    try (Call call = new Call().any(this)) {
      return errorText();
    }
  }

  final String errorText() {
    try (Arena arena = Arena.ofConfined()) {
      return Call.string(arena, (text, room, length) -> Native.tpt_error_of(pointer, text, room, length));
    }
  }

  final String name() {
    return getClass().getSimpleName().toLowerCase(Locale.ROOT);
  }

  /** Keeps the memory until release, also past a close. */
  final void hold() {
    for (int now = calls.get(); (now & CLOSED) == 0; now = calls.get())
      if (calls.compareAndSet(now, now + 1)) return;
    throw new IllegalStateException("the " + name() + " is closed");
  }

  final void release() {
    if (calls.decrementAndGet() == CLOSED) destroyed.clean();
  }

  final void endTurn() {
    if (turn == null) return;
    synchronized (this) {
      if (turn == null) return;
      turn.close();
      turn = null;
    }
  }

  /** A view until close, of bytes at an address. */
  final synchronized MemorySegment lend(MemorySegment at, long bytes) {
    stillOpen();
    if (life == null) life = Arena.ofShared();
    return view(at, bytes, life);
  }

  /** A view until the next call, which cannot be written. */
  final synchronized MemorySegment lendForTurn(MemorySegment at, long bytes) {
    stillOpen();
    if (turn == null) turn = Arena.ofShared();
    return view(at, bytes, turn).asReadOnly();
  }

  private void stillOpen() {
    if ((calls.get() & CLOSED) != 0) throw new IllegalStateException("the " + name() + " is closed");
  }

  /** What is to be done at the arena's end holds this, so a view keeps its owner alive. */
  @SuppressWarnings("restricted")
  private MemorySegment view(MemorySegment at, long bytes, Arena arena) {
    return at.reinterpret(bytes, arena, ignored -> Reference.reachabilityFence(this));
  }
}
