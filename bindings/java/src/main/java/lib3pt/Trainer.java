package lib3pt;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_DOUBLE;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;
import java.nio.file.Path;

/**
 * Activations and gradients of one model. A step is: {@link #zeroGradients}, one or more {@link
 * #accumulate} (or {@link #forward}, {@link #loss}, {@link #backward}), {@link Optimizer#step}. B and T
 * are those of the last forward or accumulate.
 */
@Calls("tpt_trainer_destroy")
public final class Trainer extends Handle {
  private static final int FIRST_USER_BYTES = 4096;

  private final Model model; // for its sizes and names; may be closed
  private long batch; // B, 0 before the first forward
  private long seq; // T

  private Trainer(MemorySegment pointer, Model model) {
    super(pointer, new Guard(), model, Native::tpt_trainer_destroy);
    this.model = model;
  }

  /**
   * Room for train.batch x train.seq_len tokens. The gradients are 0.
   *
   * @param model whose weights it trains
   * @param config may be null: the model's
   * @return to be closed
   * @throws TptException CONFIG, MEMORY, CANCELLED; UNSUPPORTED: a converted model
   */
  @Calls("tpt_trainer_create")
  public static Trainer create(Model model, Config config) {
    try (Call call = new Call().alone(model).shared(config).cancellable()) {
      MemorySegment place = call.place();
      call.check(Native.tpt_trainer_create(Call.pointer(model, "model"), Call.pointer(config), place));
      return call.made(new Trainer(place.get(ADDRESS, 0), model));
    }
  }

  /**
   * The same with the model's description.
   *
   * @param model whose weights it trains
   * @return to be closed
   */
  public static Trainer create(Model model) {
    return create(model, null);
  }

  /* ---- forward, loss, backward ---- */

  /**
   * The stream of a batch up to what the head reads.
   *
   * @param tokens [batch, seq], 0 to V - 1
   * @param batch B, at least 1
   * @param seq T, 1 to max_seq_len
   * @throws TptException ARGUMENT, CANCELLED
   */
  @Calls("tpt_trainer_forward")
  public void forward(int[] tokens, long batch, long seq) {
    try (Call call = new Call().alone(this).cancellable()) {
      forward(call, call.ints(tokens, "tokens"), batch, seq);
    }
  }

  /**
   * The same of native memory.
   *
   * @param tokens [batch, seq] ints
   * @param batch B
   * @param seq T
   */
  @Calls("tpt_trainer_forward")
  public void forward(MemorySegment tokens, long batch, long seq) {
    try (Call call = new Call().alone(this).cancellable()) {
      forward(call, tokens, batch, seq);
    }
  }

  private void forward(Call call, MemorySegment tokens, long batch, long seq) {
    Call.needProduct(Call.elements(tokens, Integer.BYTES, "tokens"), batch, seq, "tokens");
    call.check(Native.tpt_trainer_forward(pointer, tokens, batch, seq));
    this.batch = batch;
    this.seq = seq;
  }

  private MemorySegment logits(Call call) {
    MemorySegment place = call.place();
    call.check(Native.tpt_trainer_logits(pointer, place));
    return place.get(ADDRESS, 0);
  }

  private long logitBytes() {
    return batch * seq * model.vocab * Float.BYTES;
  }

  /** A copy of floats of C's. instead: the method that does not copy. */
  @SuppressWarnings("restricted")
  private static float[] array(MemorySegment at, long bytes, String instead) {
    Call.array(bytes / Float.BYTES, instead);
    return at.reinterpret(bytes).toArray(JAVA_FLOAT);
  }

  /**
   * Logits of the last forward.
   *
   * @return a copy, [B, T, V]
   * @throws TptException STATE, MEMORY, CANCELLED
   */
  @Calls("tpt_trainer_logits")
  public float[] logits() {
    try (Call call = new Call().alone(this).cancellable()) {
      return array(logits(call), logitBytes(), "logitsView");
    }
  }

  /**
   * The same as a view until the next call on this trainer.
   *
   * @return [B, T, V] floats, not to be written
   */
  @Calls("tpt_trainer_logits")
  public MemorySegment logitsView() {
    try (Call call = new Call().alone(this).cancellable()) {
      return lendForTurn(logits(call), logitBytes());
    }
  }

  /**
   * Loss of the last forward.
   *
   * @param targets [B, T], 0 to V - 1 or train.ignore_index
   * @return nats a token
   * @throws TptException ARGUMENT, STATE, NUMERIC, CANCELLED
   */
  @Calls("tpt_trainer_loss")
  public double loss(int[] targets) {
    try (Call call = new Call().alone(this).cancellable()) {
      return loss(call, call.ints(targets, "targets"));
    }
  }

  /**
   * The same of native memory.
   *
   * @param targets [B, T] ints
   * @return nats a token
   */
  @Calls("tpt_trainer_loss")
  public double loss(MemorySegment targets) {
    try (Call call = new Call().alone(this).cancellable()) {
      return loss(call, targets);
    }
  }

  private double loss(Call call, MemorySegment targets) {
    long count = Call.elements(targets, Integer.BYTES, "targets");
    boolean fits = count == batch * seq;
    MemorySegment loss = call.arena().allocate(JAVA_DOUBLE);
    int status = Native.tpt_trainer_loss(pointer, fits ? targets : MemorySegment.NULL, loss); // looks for the forward first
    if (status == Native.TPT_E_ARGUMENT) Call.needProduct(count, batch, seq, "targets");
    call.check(status);
    return loss.get(JAVA_DOUBLE, 0);
  }

  /**
   * Adds the gradients of the last loss, once a forward.
   *
   * @throws TptException STATE; CANCELLED: the gradients are spoiled
   */
  @Calls("tpt_trainer_backward")
  public void backward() {
    try (Call call = new Call().alone(this).cancellable()) {
      call.check(Native.tpt_trainer_backward(pointer));
    }
  }

  /**
   * Instead, of a loss of the caller's own.
   *
   * @param dlogits [B, T, V], derivatives of that loss by each logit
   * @throws TptException ARGUMENT, STATE, CANCELLED
   */
  @Calls("tpt_trainer_backward_logits")
  public void backward(float[] dlogits) {
    try (Call call = new Call().alone(this).cancellable()) {
      backward(call, call.floats(dlogits, "dlogits"));
    }
  }

  /**
   * The same of native memory.
   *
   * @param dlogits [B, T, V] floats
   */
  @Calls("tpt_trainer_backward_logits")
  public void backward(MemorySegment dlogits) {
    try (Call call = new Call().alone(this).cancellable()) {
      backward(call, dlogits);
    }
  }

  private void backward(Call call, MemorySegment dlogits) {
    long count = Call.elements(dlogits, Float.BYTES, "dlogits");
    call.check(Native.tpt_trainer_backward_logits(pointer, dlogits, count));
  }

  /**
   * Forward, loss and backward in one: the fast path.
   *
   * @param tokens [batch, seq], 0 to V - 1
   * @param targets [batch, seq], 0 to V - 1 or train.ignore_index
   * @param batch B, at least 1
   * @param seq T, 1 to max_seq_len
   * @return the loss, nats a token
   * @throws TptException ARGUMENT, STATE; NUMERIC or CANCELLED: the gradients are spoiled
   */
  @Calls("tpt_trainer_accumulate")
  public double accumulate(int[] tokens, int[] targets, long batch, long seq) {
    try (Call call = new Call().alone(this).cancellable()) {
      return accumulate(call, call.ints(tokens, "tokens"), call.ints(targets, "targets"), batch, seq);
    }
  }

  /**
   * The same of native memory.
   *
   * @param tokens [batch, seq] ints
   * @param targets [batch, seq] ints
   * @param batch B
   * @param seq T
   * @return the loss, nats a token
   */
  @Calls("tpt_trainer_accumulate")
  public double accumulate(MemorySegment tokens, MemorySegment targets, long batch, long seq) {
    try (Call call = new Call().alone(this).cancellable()) {
      return accumulate(call, tokens, targets, batch, seq);
    }
  }

  private double accumulate(Call call, MemorySegment tokens, MemorySegment targets, long batch, long seq) {
    Call.needProduct(Call.elements(tokens, Integer.BYTES, "tokens"), batch, seq, "tokens");
    Call.needProduct(Call.elements(targets, Integer.BYTES, "targets"), batch, seq, "targets");
    MemorySegment loss = call.arena().allocate(JAVA_DOUBLE);
    int status = Native.tpt_trainer_accumulate(pointer, tokens, targets, batch, seq, loss);
    if (status == Native.TPT_OK || status == Native.TPT_E_NUMERIC) { // activations can be read
      this.batch = batch;
      this.seq = seq;
    }
    call.check(status);
    return loss.get(JAVA_DOUBLE, 0);
  }

  /**
   * Sets all gradients to 0.
   *
   * @throws TptException CANCELLED: call it again
   */
  @Calls("tpt_trainer_zero_gradients")
  public void zeroGradients() {
    try (Call call = new Call().alone(this).cancellable()) {
      call.check(Native.tpt_trainer_zero_gradients(pointer));
    }
  }

  /* ---- arrays ---- */

  /**
   * A view of the gradients, laid out as {@link Model#parameters}, until this trainer's close. It may
   * be written between calls.
   *
   * @return [parameter count] floats
   */
  @Calls("tpt_trainer_gradients")
  public MemorySegment gradients() {
    try (Call call = new Call().alone(this)) {
      MemorySegment place = call.place();
      MemorySegment count = call.longs(0);
      call.check(Native.tpt_trainer_gradients(pointer, place, count));
      return lend(place.get(ADDRESS, 0), count.get(JAVA_LONG, 0) * Float.BYTES);
    }
  }

  /**
   * Copies one tensor's gradient out. The names and sizes are those of the model, which must not be
   * closed.
   *
   * @param name of a parameter
   * @return its elements
   * @throws TptException ARGUMENT: no such parameter
   */
  @Calls("tpt_trainer_get_gradient")
  public float[] gradient(String name) {
    try (Call call = new Call().shared(this).any(model)) {
      MemorySegment values = call.arena().allocate(JAVA_FLOAT, Call.array(model.count(call, name), Model.SEGMENT));
      gradient(call, name, values);
      return values.toArray(JAVA_FLOAT);
    }
  }

  /**
   * The same into native memory; the model may be closed.
   *
   * @param name of a parameter
   * @param values as many floats as the tensor has
   */
  @Calls("tpt_trainer_get_gradient")
  public void gradient(String name, MemorySegment values) {
    try (Call call = new Call().shared(this)) {
      gradient(call, name, values);
    }
  }

  private void gradient(Call call, String name, MemorySegment values) {
    long count = Call.room(values, Float.BYTES, "values");
    call.check(Native.tpt_trainer_get_gradient(pointer, call.text(name, "name"), values, count));
  }

  /** The address of an activation. count: result. */
  private MemorySegment activation(Call call, Point point, long layer, MemorySegment count) {
    MemorySegment place = call.place();
    call.check(Native.tpt_trainer_activation(
        pointer, Call.given(point, "point").value(), call.index(layer), place, count));
    return place.get(ADDRESS, 0);
  }

  /**
   * The stream of the last forward or accumulate.
   *
   * @param point where
   * @param layer 0 to L - 1; of EMBEDDING 0
   * @return a copy, [B, T, D]
   * @throws TptException ARGUMENT, STATE; UNSUPPORTED: not kept with train.recompute: block
   */
  @Calls("tpt_trainer_activation")
  public float[] activation(Point point, long layer) {
    try (Call call = new Call().alone(this)) {
      MemorySegment count = call.longs(0);
      MemorySegment at = activation(call, point, layer, count);
      return array(at, count.get(JAVA_LONG, 0) * Float.BYTES, "activationView");
    }
  }

  /**
   * The same as a view until the next call on this trainer.
   *
   * @param point where
   * @param layer 0 to L - 1; of EMBEDDING 0
   * @return [B, T, D] floats, not to be written
   */
  @Calls("tpt_trainer_activation")
  public MemorySegment activationView(Point point, long layer) {
    try (Call call = new Call().alone(this)) {
      MemorySegment count = call.longs(0);
      MemorySegment at = activation(call, point, layer, count);
      return lendForTurn(at, count.get(JAVA_LONG, 0) * Float.BYTES);
    }
  }

  /* ---- checkpoints ---- */

  /**
   * Writes description, weights, moments, step, lr and the caller's own bytes; the file appears whole
   * or not at all.
   *
   * @param optimizer one of this trainer
   * @param path of the file
   * @param user the caller's own: its random state, its place in the data
   * @throws TptException ARGUMENT, IO, MEMORY, CANCELLED
   */
  @Calls("tpt_checkpoint_save")
  public void saveCheckpoint(Optimizer optimizer, Path path, byte... user) {
    try (Call call = new Call().shared(this).shared(optimizer).cancellable()) {
      MemorySegment bytes = call.bytes(Call.given(user, "user"));
      call.check(Native.tpt_checkpoint_save(
          pointer, Call.pointer(optimizer, "optimizer"), call.path(path), bytes, user.length));
    }
  }

  /**
   * Goes on where a checkpoint was written: all or nothing. It writes the model's weights. Where the caller's own bytes
   * are 4096 or more the file is read twice, and what ends the second time leaves the trainer as the first has made it.
   *
   * @param optimizer one of this trainer
   * @param path of the file
   * @return the caller's own bytes
   * @throws IllegalStateException where another call uses the model, a decoder or a trainer of it
   * @throws TptException ARGUMENT, IO, FORMAT, MEMORY, CANCELLED; CONFIG: of another model
   */
  @Calls("tpt_checkpoint_load")
  public byte[] loadCheckpoint(Optimizer optimizer, Path path) {
    try (Call call = new Call().writing(this).alone(optimizer).cancellable()) {
      MemorySegment file = call.path(path);
      return call.result((user, room, size) -> Native.tpt_checkpoint_load(
          pointer, Call.pointer(optimizer, "optimizer"), file, user, room, size), FIRST_USER_BYTES);
    }
  }

  /* ---- geometry of the last forward or accumulate ---- */

  /** A measure at a point that fills an array. */
  private interface Measure {
    int fill(MemorySegment trainer, int point, long layer, MemorySegment values, long count);
  }

  private double[] measure(Point point, long layer, long count, Measure measure) {
    try (Call call = new Call().shared(this)) {
      MemorySegment values = call.arena().allocate(JAVA_DOUBLE, count);
      call.check(measure.fill(pointer, Call.given(point, "point").value(), call.index(layer), values, count));
      return values.toArray(JAVA_DOUBLE);
    }
  }

  /**
   * Mean of each phase.
   *
   * @param point where
   * @param layer 0 to L - 1; of EMBEDDING 0
   * @return [N]
   * @throws TptException ARGUMENT, STATE, UNSUPPORTED
   */
  @Calls("tpt_geometry_phase_means")
  public double[] phaseMeans(Point point, long layer) {
    return measure(point, layer, model.phases, Native::tpt_geometry_phase_means);
  }

  /**
   * Root of the mean square of each phase.
   *
   * @param point where
   * @param layer 0 to L - 1; of EMBEDDING 0
   * @return [N]
   * @throws TptException ARGUMENT, STATE, UNSUPPORTED
   */
  @Calls("tpt_geometry_phase_rms")
  public double[] phaseRms(Point point, long layer) {
    return measure(point, layer, model.phases, Native::tpt_geometry_phase_rms);
  }

  /**
   * Mean over tokens of the cosine between two phases.
   *
   * @param point where
   * @param layer 0 to L - 1; of EMBEDDING 0
   * @return [N, N], row by row
   * @throws TptException ARGUMENT, STATE, UNSUPPORTED
   */
  @Calls("tpt_geometry_phase_cosine")
  public double[] phaseCosine(Point point, long layer) {
    return measure(point, layer, model.phases * model.phases, Native::tpt_geometry_phase_cosine);
  }

  /**
   * The share of the energy that is a phase's mean.
   *
   * @param point where
   * @param layer 0 to L - 1; of EMBEDDING 0
   * @return [N]
   * @throws TptException ARGUMENT, STATE, UNSUPPORTED
   */
  @Calls("tpt_geometry_dc_energy")
  public double[] dcEnergy(Point point, long layer) {
    return measure(point, layer, model.phases, Native::tpt_geometry_dc_energy);
  }

  /**
   * Mean over B and D at each position.
   *
   * @param point where
   * @param layer 0 to L - 1; of EMBEDDING 0
   * @return [T]
   * @throws TptException ARGUMENT, STATE, UNSUPPORTED
   */
  @Calls("tpt_geometry_dc")
  public float[] dc(Point point, long layer) {
    try (Call call = new Call().shared(this)) {
      MemorySegment room = call.arena().allocate(JAVA_FLOAT, Math.max(model.positions, 1));
      int where = Call.given(point, "point").value();
      long of = call.index(layer), count = Math.max(seq, 1);
      int status = Native.tpt_geometry_dc(pointer, where, of, room, count);
      // of a call that was cancelled the library alone knows whether its stream is there
      for (long tried = 1; status == Native.TPT_E_ARGUMENT && tried <= model.positions; tried++) {
        count = tried;
        status = Native.tpt_geometry_dc(pointer, where, of, room, count);
      }
      call.check(status);
      return room.asSlice(0, count * Float.BYTES).toArray(JAVA_FLOAT);
    }
  }

  /**
   * The sum of the phase means at the embedding.
   *
   * @return measured and by the profile
   * @throws TptException STATE
   */
  @Calls("tpt_geometry_zero_sum")
  public ZeroSum zeroSum() {
    try (Call call = new Call().shared(this)) {
      MemorySegment measured = call.arena().allocate(JAVA_DOUBLE);
      MemorySegment analytic = call.arena().allocate(JAVA_DOUBLE);
      call.check(Native.tpt_geometry_zero_sum(pointer, measured, analytic));
      return new ZeroSum(measured.get(JAVA_DOUBLE, 0), analytic.get(JAVA_DOUBLE, 0));
    }
  }

  /**
   * How far a layer's rotation moves the stream.
   *
   * @param layer 0 to L - 1
   * @return a share of its length
   * @throws TptException ARGUMENT, STATE, UNSUPPORTED
   */
  @Calls("tpt_geometry_displacement")
  public double displacement(long layer) {
    try (Call call = new Call().shared(this)) {
      MemorySegment mean = call.arena().allocate(JAVA_DOUBLE);
      call.check(Native.tpt_geometry_displacement(pointer, call.index(layer), mean));
      return mean.get(JAVA_DOUBLE, 0);
    }
  }
}
