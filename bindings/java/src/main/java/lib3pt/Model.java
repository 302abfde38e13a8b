package lib3pt;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_DOUBLE;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemoryLayout.PathElement;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Weights and their description. Any number of decoders, trainers and evaluations may read one at a
 * time. Whoever writes weights ({@link #setTensor}, {@link Optimizer#step}, {@link
 * Trainer#loadCheckpoint}) has the model alone: while another call reads it, through a decoder or a
 * trainer too, that is an IllegalStateException, and so is a call that would read it meanwhile.
 */
@Calls("tpt_model_destroy")
public final class Model extends Handle {
  private static final String PROFILE = "embedding.dc_profile";
  static final String SEGMENT = "the method that takes a segment"; // instead of one that gives an array

  final long width; // D
  final long phases; // N
  final long vocab; // V
  final long positions; // max_seq_len
  private List<TensorInfo> tensors;

  private Model(Call call, MemorySegment pointer) {
    super(pointer, new Guard(), call.first(), Native::tpt_model_destroy);
    MemorySegment config = Native.tpt_model_config(pointer);
    this.width = setting(call, config, "model.d_model");
    this.phases = setting(call, config, "model.n_phases");
    this.vocab = setting(call, config, "model.vocab_size");
    this.positions = setting(call, config, "model.max_seq_len");
  }

  private static long setting(Call call, MemorySegment config, String key) {
    MemorySegment name = call.text(key, "key");
    return Long.parseLong(
        call.string((text, room, length) -> Native.tpt_config_get(config, name, text, room, length)));
  }

  private static Model made(Call call, MemorySegment place) {
    return call.made(new Model(call, place.get(ADDRESS, 0)));
  }

  /**
   * A model with random weights, a function of description and seed alone.
   *
   * @param context may be null
   * @param config checked and copied
   * @param seed unsigned 64 bits
   * @return to be closed
   * @throws TptException CONFIG, MEMORY, CANCELLED
   */
  @Calls("tpt_model_create")
  public static Model create(Context context, Config config, long seed) {
    return Context.with(context, c -> {
      try (Call call = new Call().shared(c).shared(config).cancellable()) {
        MemorySegment place = call.place();
        call.check(Native.tpt_model_create(c.pointer, Call.pointer(config, "config"), seed, place));
        return made(call, place);
      }
    });
  }

  /**
   * The same in a context of its own.
   *
   * @param config checked and copied
   * @param seed unsigned 64 bits
   * @return to be closed
   */
  public static Model create(Config config, long seed) {
    return create(null, config, seed);
  }

  /**
   * From a safetensors file, a checkpoint among them.
   *
   * @param context may be null
   * @param path of the file
   * @param config may be null where the file holds one
   * @return to be closed
   * @throws TptException IO, FORMAT, CONFIG, MEMORY, CANCELLED
   */
  @Calls("tpt_model_load")
  public static Model load(Context context, Path path, Config config) {
    return Context.with(context, c -> {
      try (Call call = new Call().shared(c).shared(config).cancellable()) {
        MemorySegment place = call.place();
        call.check(Native.tpt_model_load(c.pointer, call.path(path), Call.pointer(config), place));
        return made(call, place);
      }
    });
  }

  /**
   * From a safetensors file that holds its description, in a context of its own.
   *
   * @param path of the file
   * @return to be closed
   */
  public static Model load(Path path) {
    return load(null, path, null);
  }

  /**
   * From the bytes of a file.
   *
   * @param context may be null
   * @param data native memory
   * @param config may be null where the file holds one
   * @return to be closed
   * @throws TptException FORMAT, CONFIG, MEMORY, CANCELLED
   */
  @Calls("tpt_model_load_memory")
  public static Model load(Context context, MemorySegment data, Config config) {
    return Context.with(context, c -> {
      try (Call call = new Call().shared(c).shared(config).cancellable()) {
        MemorySegment place = call.place();
        long size = Call.elements(data, 1, "data");
        call.check(Native.tpt_model_load_memory(c.pointer, data, size, Call.pointer(config), place));
        return made(call, place);
      }
    });
  }

  /**
   * From the bytes of a file.
   *
   * @param context may be null
   * @param data the file
   * @param config may be null where the file holds one
   * @return to be closed
   */
  @Calls("tpt_model_load_memory")
  public static Model load(Context context, byte[] data, Config config) {
    try (Call call = new Call()) {
      return load(context, call.bytes(Call.given(data, "data")), config);
    }
  }

  /**
   * Writes weights and description as a safetensors file, which appears whole or not at all.
   *
   * @param path of the file
   * @throws TptException IO, MEMORY, CANCELLED; UNSUPPORTED: a converted model
   */
  @Calls("tpt_model_save")
  public void save(Path path) {
    try (Call call = new Call().shared(this).cancellable()) {
      call.check(Native.tpt_model_save(pointer, call.path(path)));
    }
  }

  /**
   * The bytes of that file.
   *
   * @return a copy
   */
  @Calls("tpt_model_save_memory")
  public byte[] saveBytes() {
    try (Call call = new Call().shared(this).cancellable()) {
      MemorySegment length = call.longs(0);
      call.check(Native.tpt_model_save_memory(pointer, MemorySegment.NULL, 0, length));
      long room = Call.array(length.get(JAVA_LONG, 0), SEGMENT) + 1L;
      return call.result((data, capacity, out) -> Native.tpt_model_save_memory(pointer, data, capacity, out), room);
    }
  }

  /**
   * The same into memory of the host's.
   *
   * @param data may be too short: compare its size with the result
   * @return bytes that the whole has
   */
  @Calls("tpt_model_save_memory")
  public long save(MemorySegment data) {
    try (Call call = new Call().shared(this).cancellable()) {
      MemorySegment length = call.longs(0);
      call.check(Native.tpt_model_save_memory(pointer, data, Call.room(data, 1, "data"), length));
      return length.get(JAVA_LONG, 0);
    }
  }

  /**
   * The model's description as it is now.
   *
   * @return a copy, to be closed
   */
  @Calls("tpt_model_config")
  public Config config() {
    try (Call call = new Call().shared(this)) {
      return Config.copyOf(call, Native.tpt_model_config(pointer));
    }
  }

  /**
   * A snapshot with the same logits whose rotations and gains are multiplied into the linear maps.
   *
   * @return an ordinary model, to be closed
   * @throws TptException UNSUPPORTED: a converted model; CANCELLED
   */
  @Calls("tpt_model_fold")
  public Model fold() {
    try (Call call = new Call().shared(this).cancellable()) {
      MemorySegment place = call.place();
      call.check(Native.tpt_model_fold(pointer, place));
      return made(call, place);
    }
  }

  /**
   * A snapshot for decoding and evaluation only.
   *
   * @param precision "f32", "bf16" or "int8"
   * @return to be closed
   * @throws TptException UNSUPPORTED, ARGUMENT, CANCELLED
   */
  @Calls("tpt_model_convert")
  public Model convert(String precision) {
    try (Call call = new Call().shared(this).cancellable()) {
      MemorySegment place = call.place();
      call.check(Native.tpt_model_convert(pointer, call.text(precision, "precision"), place));
      return made(call, place);
    }
  }

  /* ---- weights ---- */

  /**
   * Parameter tensors, in the order of the published code's state_dict.
   *
   * @return unchangeable
   */
  @Calls({"tpt_model_tensor_count", "tpt_model_tensor_info"})
  public List<TensorInfo> tensors() {
    try (Call call = new Call().shared(this)) {
      return readTensors(call);
    }
  }

  private synchronized List<TensorInfo> readTensors(Call call) {
    if (tensors != null) return tensors;
    MemorySegment count = call.longs(0);
    MemorySegment info = call.arena().allocate(Native.tpt_tensor_info);
    call.check(Native.tpt_model_tensor_count(pointer, count));
    List<TensorInfo> read = new ArrayList<>();
    for (long i = 0; i < count.get(JAVA_LONG, 0); i++) {
      info.set(JAVA_LONG, 0, info.byteSize());
      call.check(Native.tpt_model_tensor_info(pointer, i, info));
      read.add(tensor(info));
    }
    return tensors = List.copyOf(read);
  }

  private static TensorInfo tensor(MemorySegment info) {
    StructLayout layout = Native.tpt_tensor_info;
    long shape = layout.byteOffset(PathElement.groupElement("shape"));
    List<Long> sizes = new ArrayList<>();
    for (long i = 0; i < number(info, "ndim"); i++) sizes.add(info.get(JAVA_LONG, shape + i * Long.BYTES));
    String name = Library.text(info.get(ADDRESS, layout.byteOffset(PathElement.groupElement("name"))));
    return new TensorInfo(name, List.copyOf(sizes), number(info, "offset"), number(info, "count"));
  }

  private static long number(MemorySegment info, String field) {
    return info.get(JAVA_LONG, Native.tpt_tensor_info.byteOffset(PathElement.groupElement(field)));
  }

  /** Elements of a tensor; 1 where there is none of that name, which C then says. */
  long count(Call call, String name) {
    if (Call.given(name, "name").equals(PROFILE)) return positions;
    for (TensorInfo t : readTensors(call)) if (t.name().equals(name)) return t.count();
    return 1;
  }

  /**
   * Copies a tensor out.
   *
   * @param name as in {@link TensorInfo}, or "embedding.dc_profile"
   * @return its elements; of the profile [max_seq_len]
   * @throws TptException ARGUMENT: no such tensor
   */
  @Calls("tpt_model_get_tensor")
  public float[] getTensor(String name) {
    try (Call call = new Call().shared(this)) {
      MemorySegment values = call.arena().allocate(JAVA_FLOAT, Call.array(count(call, name), SEGMENT));
      get(call, name, values);
      return values.toArray(JAVA_FLOAT);
    }
  }

  /**
   * Copies a tensor out.
   *
   * @param name as above
   * @param values as many floats as the tensor has
   */
  @Calls("tpt_model_get_tensor")
  public void getTensor(String name, MemorySegment values) {
    try (Call call = new Call().shared(this)) {
      get(call, name, values);
    }
  }

  private void get(Call call, String name, MemorySegment values) {
    long count = Call.room(values, Float.BYTES, "values");
    call.check(Native.tpt_model_get_tensor(pointer, call.text(name, "name"), values, count));
  }

  /**
   * Copies a tensor in. It ends the forward of every trainer of the model.
   *
   * @param name as in {@link #getTensor(String)}
   * @param values as many floats as the tensor has
   * @throws IllegalStateException where another call uses the model, a decoder or a trainer of it
   * @throws TptException ARGUMENT; UNSUPPORTED: a converted model
   */
  @Calls("tpt_model_set_tensor")
  public void setTensor(String name, float[] values) {
    try (Call call = new Call().writing(this)) {
      set(call, name, call.floats(values, "values"));
    }
  }

  /**
   * Copies a tensor in.
   *
   * @param name as above
   * @param values as many floats as the tensor has
   */
  @Calls("tpt_model_set_tensor")
  public void setTensor(String name, MemorySegment values) {
    try (Call call = new Call().writing(this)) {
      set(call, name, values);
    }
  }

  private void set(Call call, String name, MemorySegment values) {
    long count = Call.elements(values, Float.BYTES, "values");
    call.check(Native.tpt_model_set_tensor(pointer, call.text(name, "name"), values, count));
  }

  /**
   * A view of all weights, float32, in the order of {@link #tensors}, until this model's close. It
   * may be written between calls; begin anew with a forward then. Nothing sees who writes to it: not
   * while a call reads the model is the caller's to see to.
   *
   * @return [parameter count] floats
   * @throws TptException UNSUPPORTED: a converted model
   */
  @Calls("tpt_model_parameters")
  public MemorySegment parameters() {
    try (Call call = new Call().alone(this)) {
      MemorySegment place = call.place();
      MemorySegment count = call.longs(0);
      call.check(Native.tpt_model_parameters(pointer, place, count));
      return lend(place.get(ADDRESS, 0), count.get(JAVA_LONG, 0) * Float.BYTES);
    }
  }

  /* ---- evaluation and geometry ---- */

  /**
   * Loss on the windows of a dataset, each read from position 0.
   *
   * @param config may be null: the model's
   * @param dataset what is read
   * @param seq T of a window, 1 to max_seq_len
   * @param maxWindows the first so many; 0: all
   * @return loss, perplexity and how many tokens counted
   * @throws TptException ARGUMENT, CONFIG, IO, FORMAT, MEMORY, CANCELLED, NUMERIC
   */
  @Calls("tpt_evaluate")
  public Evaluation evaluate(Config config, Dataset dataset, long seq, long maxWindows) {
    try (Call call = new Call().shared(this).shared(config).shared(dataset).cancellable()) {
      MemorySegment result = call.arena().allocate(Native.tpt_evaluation);
      result.set(JAVA_LONG, 0, result.byteSize());
      call.check(
          Native.tpt_evaluate(pointer, Call.pointer(config), Call.pointer(dataset, "dataset"), Call.size(seq, "seq"),
              Call.size(maxWindows, "max_windows"), result));
      return new Evaluation(field(Native.tpt_evaluation, result, "loss"),
          field(Native.tpt_evaluation, result, "perplexity"),
          result.get(JAVA_LONG, Native.tpt_evaluation.byteOffset(PathElement.groupElement("tokens"))));
    }
  }

  /**
   * The same with the model's description.
   *
   * @param dataset what is read
   * @param seq T of a window
   * @param maxWindows the first so many; 0: all
   * @return loss, perplexity and how many tokens counted
   */
  public Evaluation evaluate(Dataset dataset, long seq, long maxWindows) {
    return evaluate(null, dataset, seq, maxWindows);
  }

  private static double field(StructLayout layout, MemorySegment from, String name) {
    return from.get(JAVA_DOUBLE, layout.byteOffset(PathElement.groupElement(name)));
  }

  /** A measure that fills an array of floats. */
  private interface Floats {
    int fill(Call call, MemorySegment values, long count);
  }

  /** most: what C can give; it refuses a count beyond without looking at the values. */
  private float[] floats(long count, long most, Floats measure) {
    try (Call call = new Call().shared(this)) {
      MemorySegment values = call.arena().allocate(JAVA_FLOAT, Call.array(Math.min(count, most), ""));
      call.check(measure.fill(call, values, count));
      return values.toArray(JAVA_FLOAT);
    }
  }

  /** P / 2 */
  private long pairs() {
    return width / phases / 2;
  }

  /**
   * The profile of DC injection.
   *
   * @param first 0 to max_seq_len - 1
   * @param count how many from there
   * @return [count]
   * @throws TptException ARGUMENT; UNSUPPORTED: the profile is none
   */
  @Calls("tpt_geometry_dc_profile")
  public float[] dcProfile(long first, long count) {
    return floats(Call.size(count, "count"), positions,
        (call, values, n) -> Native.tpt_geometry_dc_profile(pointer, call.index(first), values, n));
  }

  /**
   * The angles that a layer has learned.
   *
   * @param layer 0 to L - 1
   * @return [P / 2], radians
   * @throws TptException ARGUMENT; UNSUPPORTED: there is no rotation
   */
  @Calls("tpt_geometry_theta")
  public float[] theta(long layer) {
    return floats(pairs(), pairs(),
        (call, values, n) -> Native.tpt_geometry_theta(pointer, call.index(layer), values, n));
  }

  /**
   * By what the pairs of a phase turn.
   *
   * @param layer 0 to L - 1
   * @param phase 0 to N - 1
   * @return [P / 2], radians
   * @throws TptException ARGUMENT; UNSUPPORTED: there is no rotation
   */
  @Calls("tpt_geometry_angles")
  public float[] angles(long layer, long phase) {
    return floats(pairs(), pairs(),
        (call, values, n) -> Native.tpt_geometry_angles(pointer, call.index(layer), call.index(phase), values, n));
  }

  /**
   * How far a layer's angles are from their start.
   *
   * @param layer 0 to L - 1
   * @return radians
   * @throws TptException ARGUMENT; UNSUPPORTED: there is no rotation
   */
  @Calls("tpt_geometry_drift")
  public Drift drift(long layer) {
    StructLayout layout = Native.tpt_drift;
    try (Call call = new Call().shared(this)) {
      MemorySegment result = call.arena().allocate(layout);
      result.set(JAVA_LONG, 0, result.byteSize());
      call.check(Native.tpt_geometry_drift(pointer, call.index(layer), result));
      return new Drift(field(layout, result, "start"), field(layout, result, "mean"),
          field(layout, result, "l2"), field(layout, result, "max"));
    }
  }
}
