package lib3pt;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_DOUBLE;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;
import java.nio.IntBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** A sequence in progress: keys and values of its tokens, the last logits, a sampler. */
@Calls("tpt_decoder_destroy")
public final class Decoder extends Handle {
  private final long vocab; // V
  private final long room; // tokens that it can hold

  private Decoder(MemorySegment pointer, Model model, long maxPositions) {
    super(pointer, new Guard(), model, Native::tpt_decoder_destroy);
    this.vocab = model.vocab;
    this.room = maxPositions == 0 ? model.positions : maxPositions;
  }

  /**
   * An empty sequence, greedy sampling.
   *
   * @param model read at every feed
   * @param maxPositions 1 to max_seq_len; 0: max_seq_len
   * @return to be closed
   * @throws TptException ARGUMENT, MEMORY
   */
  @Calls("tpt_decoder_create")
  public static Decoder create(Model model, long maxPositions) {
    try (Call call = new Call().shared(model)) {
      MemorySegment place = call.place();
      call.check(Native.tpt_decoder_create(
          Call.pointer(model, "model"), Call.size(maxPositions, "max_positions"), place));
      return call.made(new Decoder(place.get(ADDRESS, 0), model, maxPositions));
    }
  }

  /**
   * The same with room for max_seq_len tokens.
   *
   * @param model read at every feed
   * @return to be closed
   */
  public static Decoder create(Model model) {
    return create(model, 0);
  }

  /**
   * Copies positions, cache, last logits, sampler and its random state.
   *
   * @param target of the same model, long enough
   * @throws TptException ARGUMENT
   */
  @Calls("tpt_decoder_copy")
  public void copyTo(Decoder target) {
    try (Call call = new Call().shared(this).alone(target)) {
      call.check(Native.tpt_decoder_copy(pointer, Call.pointer(target, "target")));
    }
  }

  /* ---- feeding ---- */

  /** logits: MemorySegment.NULL, or where their address goes. */
  private void feed(Call call, MemorySegment tokens, MemorySegment logits) {
    call.check(
        Native.tpt_decoder_feed(pointer, tokens, Call.elements(tokens, Integer.BYTES, "tokens"), logits));
  }

  private MemorySegment feedForLogits(Call call, MemorySegment tokens) {
    MemorySegment place = call.place();
    feed(call, tokens, place);
    return place.get(ADDRESS, 0);
  }

  /**
   * A prompt or one token. After a failure everything is as before.
   *
   * @param tokens 0 to V - 1
   * @throws TptException ARGUMENT, CANCELLED
   */
  @Calls("tpt_decoder_feed")
  public void feed(int... tokens) {
    try (Call call = new Call().alone(this).cancellable()) {
      feed(call, call.ints(tokens, "tokens"), MemorySegment.NULL);
    }
  }

  /**
   * The same of native memory.
   *
   * @param tokens ints
   */
  @Calls("tpt_decoder_feed")
  public void feed(MemorySegment tokens) {
    try (Call call = new Call().alone(this).cancellable()) {
      feed(call, tokens, MemorySegment.NULL);
    }
  }

  /**
   * Feeds and gives the logits after the last token.
   *
   * @param tokens 0 to V - 1
   * @return a copy, [V]
   */
  @Calls("tpt_decoder_feed")
  public float[] feedLogits(int... tokens) {
    try (Call call = new Call().alone(this).cancellable()) {
      return copy(feedForLogits(call, call.ints(tokens, "tokens")), vocab);
    }
  }

  @SuppressWarnings("restricted")
  private static float[] copy(MemorySegment logits, long vocab) {
    return logits.reinterpret(vocab * Float.BYTES).toArray(JAVA_FLOAT);
  }

  /**
   * Feeds and copies the logits after the last token to native memory.
   *
   * @param tokens ints
   * @param logits [V] floats, written
   */
  @Calls("tpt_decoder_feed")
  @SuppressWarnings("restricted")
  public void feed(MemorySegment tokens, MemorySegment logits) {
    Call.given(tokens, "tokens");
    Call.need(Call.room(logits, Float.BYTES, "logits"), vocab, "logits", "model.vocab_size");
    try (Call call = new Call().alone(this).cancellable()) {
      logits.copyFrom(feedForLogits(call, tokens).reinterpret(logits.byteSize()));
    }
  }

  /**
   * Feeds and gives a view of the logits until the next call on this decoder.
   *
   * @param tokens 0 to V - 1
   * @return [V] floats, not to be written
   */
  @Calls("tpt_decoder_feed")
  public MemorySegment feedView(int... tokens) {
    try (Call call = new Call().alone(this).cancellable()) {
      return lendForTurn(feedForLogits(call, call.ints(tokens, "tokens")), vocab * Float.BYTES);
    }
  }

  /* ---- several at once ---- */

  /** places: MemorySegment.NULL, or where the addresses of the logits go. */
  private static void feedMany(Call call, List<Decoder> decoders, int[] tokens, MemorySegment places) {
    Call.need(Call.given(tokens, "tokens").length, decoders.size(), "tokens", "one for each decoder");
    MemorySegment pointers = call.arena().allocate(ADDRESS, decoders.size());
    for (int i = 0; i < tokens.length; i++) pointers.setAtIndex(ADDRESS, i, decoders.get(i).pointer);
    call.check(Native.tpt_decoder_feed_many(pointers, tokens.length, call.ints(tokens, "tokens"), places));
  }

  private static List<Decoder> allOf(List<Decoder> decoders) {
    List<Decoder> all = new ArrayList<>(Call.given(decoders, "decoders"));
    for (int i = 0; i < all.size(); i++) Call.given(all.get(i), "decoders[" + i + "]");
    return all;
  }

  /** decoders: a copy, which nobody changes while they are in use. */
  private static Call callOf(List<Decoder> decoders) {
    Call call = new Call();
    for (Decoder decoder : decoders) call.alone(decoder);
    return call.cancellable();
  }

  /**
   * One token to each of several decoders of one model, with the weights read once: all or none move.
   *
   * @param decoders each once
   * @param tokens one for each
   * @throws TptException ARGUMENT, CANCELLED
   */
  @Calls("tpt_decoder_feed_many")
  public static void feedMany(List<Decoder> decoders, int... tokens) {
    List<Decoder> all = allOf(decoders);
    try (Call call = callOf(all)) {
      feedMany(call, all, tokens, MemorySegment.NULL);
    }
  }

  /**
   * The same with the logits after each token.
   *
   * @param decoders each once
   * @param tokens one for each
   * @return copies, [V] of each decoder
   */
  @Calls("tpt_decoder_feed_many")
  public static float[][] feedManyLogits(List<Decoder> decoders, int... tokens) {
    List<Decoder> all = allOf(decoders);
    try (Call call = callOf(all)) {
      MemorySegment places = call.arena().allocate(ADDRESS, all.size());
      feedMany(call, all, tokens, places);
      float[][] logits = new float[tokens.length][];
      for (int i = 0; i < tokens.length; i++)
        logits[i] = copy(places.getAtIndex(ADDRESS, i), all.get(i).vocab);
      return logits;
    }
  }

  /* ---- the rest ---- */

  /**
   * Feeds tokens and says how likely they were.
   *
   * @param tokens 0 to V - 1
   * @return [tokens]: ln P(token given what was before it), 0 at position 0
   * @throws TptException ARGUMENT, STATE, CANCELLED
   */
  @Calls("tpt_decoder_score")
  public double[] score(int... tokens) {
    try (Call call = new Call().alone(this).cancellable()) {
      MemorySegment likely = call.arena().allocate(JAVA_DOUBLE, Call.given(tokens, "tokens").length);
      call.check(Native.tpt_decoder_score(pointer, call.ints(tokens, "tokens"), tokens.length, likely));
      return likely.toArray(JAVA_DOUBLE);
    }
  }

  /**
   * The same of native memory.
   *
   * @param tokens ints
   * @param likely as many doubles, written
   */
  @Calls("tpt_decoder_score")
  public void score(MemorySegment tokens, MemorySegment likely) {
    long count = Call.elements(tokens, Integer.BYTES, "tokens");
    Call.need(Call.room(likely, Double.BYTES, "likely"), count, "likely", "one for each of tokens");
    try (Call call = new Call().alone(this).cancellable()) {
      call.check(Native.tpt_decoder_score(pointer, tokens, count, likely));
    }
  }

  /**
   * Forgets what is at and after a position, and the last logits.
   *
   * @param position at most the present one
   * @throws TptException ARGUMENT
   */
  @Calls("tpt_decoder_rewind")
  public void rewind(long position) {
    try (Call call = new Call().alone(this)) {
      call.check(Native.tpt_decoder_rewind(pointer, call.index(position)));
    }
  }

  /**
   * Tokens held.
   *
   * @return 0 or more
   */
  @Calls("tpt_decoder_position")
  public long position() {
    try (Call call = new Call().shared(this)) {
      MemorySegment position = call.longs(0);
      call.check(Native.tpt_decoder_position(pointer, position));
      return position.get(JAVA_LONG, 0);
    }
  }

  /**
   * How {@link #sample} draws; restarts its random state.
   *
   * @param temperature 0: greedy
   * @param topK so many candidates; 0: all
   * @param topP 0 to 1; 1: all
   * @param seed unsigned 64 bits
   * @throws TptException ARGUMENT: out of range
   */
  @Calls("tpt_decoder_set_sampling")
  public void setSampling(double temperature, int topK, double topP, long seed) {
    try (Call call = new Call().alone(this)) {
      call.check(Native.tpt_decoder_set_sampling(pointer, temperature, topK, topP, seed));
    }
  }

  /**
   * Draws a token from the last feed's logits, without feeding it.
   *
   * @return 0 to V - 1
   * @throws TptException STATE: nothing was fed; NUMERIC: the logits are not finite
   */
  @Calls("tpt_decoder_sample")
  public int sample() {
    try (Call call = new Call().alone(this)) {
      MemorySegment token = call.ints(0);
      call.check(Native.tpt_decoder_sample(pointer, token));
      return token.get(JAVA_INT, 0);
    }
  }

  /* ---- a continuation in one call ---- */

  /** count: of tokens, as many as the buffer has room for. */
  private void generate(IntBuffer tokens, int count, int stop) {
    try (Call call = new Call().alone(this).cancellable()) {
      MemorySegment drawn = call.arena().allocate(JAVA_INT, tokens.remaining());
      MemorySegment made = call.longs(0);
      int status = Native.tpt_decoder_generate(pointer, stop, drawn, count, made);
      tokens.put(drawn.asSlice(0, JAVA_INT.byteSize() * made.get(JAVA_LONG, 0)).toArray(JAVA_INT));
      call.check(status);
    }
  }

  /**
   * Samples a token and feeds it, again and again, in one call. Where it fails the decoder has gone on
   * by what was made until then, which {@link #generate(IntBuffer, int)} tells.
   *
   * @param count of tokens, 1 to what room is left
   * @param stop a token that ends it, the last that is made; -1: none
   * @return what was made, fewer than count after stop
   * @throws TptException ARGUMENT; STATE, NUMERIC: as {@link #sample}; CANCELLED
   */
  @Calls("tpt_decoder_generate")
  public int[] generate(int count, int stop) {
    IntBuffer tokens = IntBuffer.allocate((int) Math.min(Call.size(count, "count"), room));
    generate(tokens, count, stop);
    return Arrays.copyOf(tokens.array(), tokens.position());
  }

  /**
   * The same without a token that ends it.
   *
   * @param count of tokens, 1 to what room is left
   * @return what was made
   */
  @Calls("tpt_decoder_generate")
  public int[] generate(int count) {
    return generate(count, -1);
  }

  /**
   * The same into a buffer, until it is full. Its position moves by what was made, also where the call
   * fails, so nothing is lost: another call goes on with what would have come.
   *
   * @param tokens from its position to its limit, at most what room is left
   * @param stop a token that ends it, the last that is made; -1: none
   */
  @Calls("tpt_decoder_generate")
  public void generate(IntBuffer tokens, int stop) {
    if (Call.given(tokens, "tokens").isReadOnly()) throw Call.wrong("tokens is read-only");
    generate(tokens, tokens.remaining(), stop);
  }
}
