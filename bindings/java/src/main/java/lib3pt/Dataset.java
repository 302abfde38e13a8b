package lib3pt;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;
import java.nio.file.Path;

/** A sequence of token ids, in memory or in a file. Any number of threads may read one. */
@Calls("tpt_dataset_destroy")
public final class Dataset extends Handle {
  private Dataset(MemorySegment pointer, Context context) {
    super(pointer, new Guard(), context, Native::tpt_dataset_destroy);
  }

  /**
   * A file of flat little-endian ids: .u16, .bin (16 bit) or .u32, read as needed.
   *
   * @param context may be null
   * @param path of the file
   * @return to be closed
   * @throws TptException IO, FORMAT
   */
  @Calls("tpt_dataset_open")
  public static Dataset open(Context context, Path path) {
    return Context.with(context, c -> {
      try (Call call = new Call().shared(c)) {
        MemorySegment place = call.place();
        call.check(Native.tpt_dataset_open(c.pointer, call.path(path), place));
        return call.made(new Dataset(place.get(ADDRESS, 0), c));
      }
    });
  }

  /**
   * The same in a context of its own.
   *
   * @param path of the file
   * @return to be closed
   */
  public static Dataset open(Path path) {
    return open(null, path);
  }

  /**
   * A copy of ids.
   *
   * @param context may be null
   * @param tokens 0 to 2^31 - 1
   * @return to be closed
   * @throws TptException ARGUMENT, MEMORY, CANCELLED
   */
  @Calls("tpt_dataset_from_tokens")
  public static Dataset fromTokens(Context context, int... tokens) {
    try (Call call = new Call()) {
      return fromTokens(context, call.ints(tokens, "tokens"));
    }
  }

  /**
   * A copy of ids in native memory.
   *
   * @param context may be null
   * @param tokens ints
   * @return to be closed
   */
  @Calls("tpt_dataset_from_tokens")
  public static Dataset fromTokens(Context context, MemorySegment tokens) {
    return Context.with(context, c -> {
      try (Call call = new Call().shared(c).cancellable()) {
        MemorySegment place = call.place();
        long count = Call.elements(tokens, Integer.BYTES, "tokens");
        call.check(Native.tpt_dataset_from_tokens(c.pointer, tokens, count, place));
        return call.made(new Dataset(place.get(ADDRESS, 0), c));
      }
    });
  }

  /**
   * Tokens in it.
   *
   * @return 0 or more
   */
  @Calls("tpt_dataset_count")
  public long count() {
    try (Call call = new Call().shared(this)) {
      MemorySegment tokens = call.longs(0);
      call.check(Native.tpt_dataset_count(pointer, tokens));
      return tokens.get(JAVA_LONG, 0);
    }
  }

  /**
   * Windows of seq tokens, each from a place drawn uniformly; a target is the next token.
   *
   * @param state moved on where the call succeeds; used by one thread at a time
   * @param batch B, at least 1
   * @param seq T, at least 1
   * @param tokens [batch, seq] ints, written
   * @param targets [batch, seq] ints, written
   * @throws TptException ARGUMENT: fewer than seq + 1 tokens; IO, FORMAT
   */
  @Calls("tpt_dataset_random")
  public void random(RandomState state, long batch, long seq, MemorySegment tokens, MemorySegment targets) {
    Call.needProduct(Call.room(tokens, Integer.BYTES, "tokens"), batch, seq, "tokens");
    Call.needProduct(Call.room(targets, Integer.BYTES, "targets"), batch, seq, "targets");
    draw(state, batch, seq, tokens, targets);
  }

  private void draw(RandomState state, long batch, long seq, MemorySegment tokens, MemorySegment targets) {
    try (Call call = new Call().shared(this)) {
      MemorySegment number = call.longs(Call.given(state, "state").value());
      call.check(Native.tpt_dataset_random(pointer, number, batch, seq, tokens, targets));
      state.set(number.get(JAVA_LONG, 0));
    }
  }

  /**
   * The same as Java arrays.
   *
   * @param state moved on where the call succeeds
   * @param batch B, at least 1
   * @param seq T, at least 1
   * @return both [batch, seq]
   */
  @Calls("tpt_dataset_random")
  public Window random(RandomState state, long batch, long seq) {
    return filled(room(Call.product(batch, seq), seq),
        (tokens, targets) -> draw(state, batch, seq, tokens, targets));
  }

  /** Fills tokens and targets. */
  private interface Filler {
    void fill(MemorySegment tokens, MemorySegment targets);
  }

  /** Elements for a call's arrays: 0 where there are too few tokens for one window, which C then says. */
  private int room(long wanted, long seq) {
    return seq < count() ? Call.array(wanted, "the method that takes segments") : 0;
  }

  private static Window filled(int count, Filler filler) {
    try (Call call = new Call()) {
      MemorySegment tokens = call.arena().allocate(JAVA_INT, count);
      MemorySegment targets = call.arena().allocate(JAVA_INT, count);
      filler.fill(tokens, targets);
      return new Window(tokens.toArray(JAVA_INT), targets.toArray(JAVA_INT));
    }
  }

  /**
   * Sequential windows: (tokens - 1) / seq.
   *
   * @param seq at least 1
   * @return 0 or more
   * @throws TptException ARGUMENT
   */
  @Calls("tpt_dataset_window_count")
  public long windowCount(long seq) {
    try (Call call = new Call().shared(this)) {
      MemorySegment count = call.longs(0);
      call.check(Native.tpt_dataset_window_count(pointer, Call.size(seq, "seq"), count));
      return count.get(JAVA_LONG, 0);
    }
  }

  /**
   * A sequential window: tokens from index x seq on, targets one further.
   *
   * @param index below the window count
   * @param tokens [seq] ints, written
   * @param targets [seq] ints, written
   * @throws TptException ARGUMENT, IO, FORMAT
   */
  @Calls("tpt_dataset_window")
  public void window(long index, MemorySegment tokens, MemorySegment targets) {
    long seq = Call.room(tokens, Integer.BYTES, "tokens");
    Call.need(Call.room(targets, Integer.BYTES, "targets"), seq, "targets", "one for each of tokens");
    copy(index, seq, tokens, targets);
  }

  private void copy(long index, long seq, MemorySegment tokens, MemorySegment targets) {
    try (Call call = new Call().shared(this)) {
      call.check(Native.tpt_dataset_window(pointer, call.index(index), seq, tokens, targets));
    }
  }

  /**
   * The same as Java arrays.
   *
   * @param index below the window count
   * @param seq T
   * @return both [seq]
   */
  @Calls("tpt_dataset_window")
  public Window window(long index, long seq) {
    return filled(room(Call.size(seq, "seq"), seq), (tokens, targets) -> copy(index, seq, tokens, targets));
  }
}
