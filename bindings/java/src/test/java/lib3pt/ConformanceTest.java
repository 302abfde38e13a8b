package lib3pt;

import static lib3pt.Vector.f32;
import static lib3pt.Vector.f64;
import static lib3pt.Vector.file;
import static lib3pt.Vector.hash;
import static lib3pt.Vector.hex;
import static lib3pt.Vector.ids;
import static lib3pt.Vector.of;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The same inputs as C, the same bits. */
class ConformanceTest {
  private static final int STOP_AT = 7;

  @TempDir Path scratch;

  @Test
  void train() throws Exception {
    Vector vector = Vector.read("train");
    try (Run run = Run.whole(vector.at("inputs").at("training"))) {
      List<Object> tensors = new ArrayList<>();
      for (TensorInfo t : run.model.tensors())
        tensors.add(of("name", t.name(), "shape", t.shape(), "offset", t.offset(), "count", t.count()));
      assertEquals(run.config.parameterCount(), run.model.parameters().byteSize() / Float.BYTES);
      vector.assertResults(of(
          "tokens", run.data.count(), "losses", f64(run.losses), "norms", f64(run.norms),
          "random_state", Long.toUnsignedString(run.state.value()),
          "step_count", Long.toUnsignedString(run.optimizer.stepCount()), "lr", f64(run.optimizer.lr()),
          "parameter_count", run.config.parameterCount(), "parameters", hash(run.model.parameters()),
          "gradients", hash(run.trainer.gradients()), "file", file(run.model.saveBytes()), "tensors", tensors,
          "first_tensor", hash(run.model.getTensor(run.model.tensors().get(0).name()))));
    }
  }

  private static int[] goOn(Decoder decoder, int count) {
    int[] made = new int[count];
    for (int i = 0; i < count; i++) decoder.feed(made[i] = decoder.sample());
    return made;
  }

  @Test
  void decode() throws Exception {
    Vector vector = Vector.read("decode");
    Vector in = vector.at("inputs");
    Path path = scratch.resolve("model.safetensors");
    try (Run run = Run.whole(in.at("training"))) {
      run.model.save(path);
      try (Model model = Model.load(run.context, path, null);
          Model copy = Model.load(run.context, Files.readAllBytes(path), null)) {
        Map<String, Object> got = of("file", file(path), "parameters", hash(model.parameters()),
            "from_memory", hash(copy.parameters()));
        int[] prompt = run.tokenizer.encode(in.text("prompt"));
        greedy(run, model, prompt, in, got);
        sampled(model, prompt, in, got);
        many(run, model, in, got);
        got.put("snapshots", in.list("snapshots").stream().map(n -> snapshot(model, (String) n, prompt, in)).toList());
        vector.assertResults(got);
      }
    }
  }

  private static void greedy(Run run, Model model, int[] prompt, Vector in, Map<String, Object> got) {
    try (Decoder decoder = Decoder.create(model); Decoder scorer = Decoder.create(model)) {
      got.put("logits", f32(decoder.feedLogits(prompt)));
      int[] made = goOn(decoder, in.number("greedy"));
      got.put("greedy", ids(made));
      got.put("greedy_text", hex(run.tokenizer.decodeBytes(made)));
      got.put("position", decoder.position());
      got.put("score", f64(scorer.score(run.tokenizer.encode(in.text("score")))));
    }
  }

  private static void prompt(Decoder decoder, Vector how, int[] prompt) {
    decoder.setSampling(how.decimal("temperature"), how.number("top_k"), how.decimal("top_p"), how.u64("seed"));
    decoder.feed(prompt);
  }

  private static void sampled(Model model, int[] prompt, Vector in, Map<String, Object> got) {
    int count = in.number("sampled");
    try (Decoder decoder = Decoder.create(model); Decoder copy = Decoder.create(model, 0);
        Decoder other = Decoder.create(model)) {
      prompt(decoder, in.at("sampling"), prompt);
      decoder.copyTo(copy);
      int[] made = goOn(decoder, count);
      got.put("sampled", ids(made));
      got.put("copied", ids(goOn(copy, count)));
      decoder.rewind(0);
      decoder.feed(prompt);
      got.put("resampled", ids(goOn(decoder, count)));
      prompt(other, in.at("sampling"), prompt);
      got.put("generated", ids(other.generate(count, made[STOP_AT])));
    }
  }

  private static void many(Run run, Model model, Vector in, Map<String, Object> got) {
    List<Decoder> decoders = new ArrayList<>();
    for (Object prompt : in.at("many").list("prompts")) {
      decoders.add(Decoder.create(model));
      decoders.getLast().feed(run.tokenizer.encode((String) prompt));
    }
    float[][] logits = Decoder.feedManyLogits(decoders, in.at("many").ints("tokens"));
    got.put("many", Arrays.stream(logits).map(l -> hash(l)).toList());
    decoders.forEach(Decoder::close);
  }

  private static Object snapshot(Model model, String name, int[] prompt, Vector in) {
    try (Model made = name.equals("fold") ? model.fold() : model.convert(name);
        Decoder decoder = Decoder.create(made)) {
      return of("name", name, "logits", hash(decoder.feedView(prompt)), "greedy",
          ids(goOn(decoder, in.number("greedy"))));
    }
  }

  @Test
  void forward() throws Exception {
    Vector vector = Vector.read("forward");
    Vector in = vector.at("inputs");
    int batch = in.number("batch");
    int seq = in.number("seq");
    try (Context context = Context.create(); Config config = Config.parse(in.text("yaml"))) {
      context.setThreads(in.number("threads"));
      try (Model model = Model.create(context, config, in.u64("seed")); Trainer trainer = Trainer.create(model)) {
        trainer.forward(in.ints("tokens"), batch, seq);
        float[] logits = trainer.logits();
        assertArrayEquals(logits, trainer.logitsView().toArray(java.lang.foreign.ValueLayout.JAVA_FLOAT));
        List<Object> points = new ArrayList<>();
        for (Vector p : in.all("points")) {
          float[] values = trainer.activation(Point.of(p.number("point")), p.number("layer"));
          points.add(of("point", (long) p.number("point"), "layer", (long) p.number("layer"), "count",
              (long) values.length, "values", hash(values)));
        }
        double loss = trainer.loss(in.ints("targets"));
        trainer.backward();
        float[] gradient = trainer.gradient(in.text("tensor"));
        Map<String, Object> got = of("logits", hash(logits),
            "first_logits", f32(Arrays.copyOf(logits, Integer.parseInt(config.get("model.vocab_size")))),
            "activations", points, "loss", f64(loss), "gradients", hash(trainer.gradients()),
            "gradient", of("count", (long) gradient.length, "values", hash(gradient)));
        float[] d = dlogits(in.at("dlogits"), logits.length);
        trainer.zeroGradients();
        trainer.forward(in.ints("tokens"), batch, seq);
        trainer.backward(d);
        got.put("dlogits", hash(d));
        got.put("gradients_of_logits", hash(trainer.gradients()));
        vector.assertResults(got);
      }
    }
  }

  private static float[] dlogits(Vector rule, int count) {
    float[] d = new float[count];
    for (int i = 0; i < count; i++)
      d[i] = ((float) ((long) i * rule.number("multiplier") % rule.number("modulus")) - rule.number("offset"))
          / rule.number("divisor");
    return d;
  }

  @Test
  void checkpoint() throws Exception {
    Vector vector = Vector.read("checkpoint");
    Vector in = vector.at("inputs");
    Vector how = in.at("training");
    Path path = scratch.resolve("run.safetensors");
    Map<String, Object> got = of();
    try (Run whole = Run.whole(how); Run part = new Run(how, how.u64("seed"))) {
      got.put("losses", f64(whole.losses));
      got.put("parameters", hash(whole.model.parameters()));
      part.go(in.number("at"));
      part.trainer.saveCheckpoint(part.optimizer, path,
          Long.toUnsignedString(part.state.value()).getBytes(StandardCharsets.US_ASCII));
    }
    try (Run fresh = new Run(how, in.u64("fresh_seed"))) {
      String user = new String(fresh.trainer.loadCheckpoint(fresh.optimizer, path), StandardCharsets.US_ASCII);
      fresh.state.set(Long.parseUnsignedLong(user));
      got.put("file", file(path));
      got.put("user", user);
      got.put("step_count", Long.toUnsignedString(fresh.optimizer.stepCount()));
      got.put("lr", f64(fresh.optimizer.lr()));
      fresh.go(how.number("steps") - in.number("at"));
      got.put("resumed_losses", f64(fresh.losses));
      got.put("resumed_parameters", hash(fresh.model.parameters()));
    }
    vector.assertResults(got);
  }

  @Test
  void geometry() throws Exception {
    Vector vector = Vector.read("geometry");
    Vector in = vector.at("inputs");
    try (Run run = Run.whole(in.at("training"))) {
      run.gather();
      int layers = Integer.parseInt(run.config.get("model.n_layers"));
      int phases = Integer.parseInt(run.config.get("model.n_phases"));
      List<Object> theta = new ArrayList<>();
      List<Object> angles = new ArrayList<>();
      List<Object> drifts = new ArrayList<>();
      List<Object> displacement = new ArrayList<>();
      for (int layer = 0; layer < layers; layer++) {
        theta.add(f32(run.model.theta(layer)));
        List<Object> each = new ArrayList<>();
        for (int phase = 0; phase < phases; phase++) each.add(f32(run.model.angles(layer, phase)));
        angles.add(each);
        Drift d = run.model.drift(layer);
        drifts.add(of("start", f64(d.start()), "mean", f64(d.mean()), "l2", f64(d.l2()), "max", f64(d.max())));
        displacement.add(f64(run.trainer.displacement(layer)));
      }
      ZeroSum sum = run.trainer.zeroSum();
      vector.assertResults(of(
          "dc_profile", f32(run.model.dcProfile(in.at("profile").number("first"), in.at("profile").number("count"))),
          "theta", theta, "angles", angles, "drift", drifts, "displacement", displacement,
          "zero_sum", of("measured", f64(sum.measured()), "analytic", f64(sum.analytic())),
          "points", in.all("points").stream().map(p -> measures(run.trainer, p)).toList()));
    }
  }

  private static Object measures(Trainer trainer, Vector p) {
    Point point = Point.of(p.number("point"));
    int layer = p.number("layer");
    return of("point", (long) point.value(), "layer", (long) layer,
        "phase_means", f64(trainer.phaseMeans(point, layer)), "phase_rms", f64(trainer.phaseRms(point, layer)),
        "phase_cosine", f64(trainer.phaseCosine(point, layer)), "dc_energy", f64(trainer.dcEnergy(point, layer)),
        "dc", f32(trainer.dc(point, layer)));
  }

  @Test
  void tokenizer() throws Exception {
    Vector vector = Vector.read("tokenizer");
    Vector in = vector.at("inputs");
    List<String> samples = in.list("samples").stream().map(s -> (String) s).toList();
    List<Object> all = new ArrayList<>();
    for (Vector t : in.all("tokenizers")) {
      try (Tokenizer made = tokenizer(t, in.text("text"))) {
        all.add(described(made, t, samples));
      }
    }
    Vector special = in.at("special");
    try (Tokenizer t = Tokenizer.parse(null, special.text("json"))) {
      int[] ids = t.encode(special.text("text"));
      vector.assertResults(of("tokenizers", all, "special", of("vocab_size", t.vocabSize(), "ids", ids(ids),
          "text_ids", ids(t.encodeText(special.text("text"))), "decoded", t.decode(ids))));
    }
  }

  private static Tokenizer tokenizer(Vector t, String text) {
    return switch (t.text("kind")) {
      case "bytes" -> Tokenizer.bytes();
      case "words" -> Tokenizer.words(null, text, t.number("vocab"));
      default -> Tokenizer.bpe(null, text, t.number("vocab"));
    };
  }

  private Object described(Tokenizer made, Vector t, List<String> samples) throws Exception {
    Path path = scratch.resolve(t.text("kind") + ".json");
    made.save(path);
    List<String> tokens = Arrays.stream(t.ints("ids")).mapToObj(made::token).toList();
    assertArrayEquals(t.ints("ids"), tokens.stream().mapToInt(made::id).toArray());
    try (Tokenizer parsed = Tokenizer.parse(null, made.format()); Tokenizer loaded = Tokenizer.load(null, path)) {
      return of("kind", t.text("kind"), "vocab_size", made.vocabSize(),
          "format", file(made.format().getBytes(StandardCharsets.UTF_8)), "tokens", tokens,
          "samples", samples.stream().map(s -> sample(made, s)).toList(),
          "parsed", samples.stream().map(s -> ids(parsed.encode(s))).toList(), "saved", file(path),
          "loaded", samples.stream().map(s -> ids(loaded.encode(s))).toList());
    }
  }

  private static Object sample(Tokenizer t, String text) {
    int[] ids = t.encode(text);
    List<String> pieces = new ArrayList<>();
    for (int k = 1; k <= ids.length; k++) pieces.add(hex(t.decodeTailBytes(Arrays.copyOf(ids, k), k - 1)));
    return of("ids", ids(ids), "text_ids", ids(t.encodeText(text)), "decoded", t.decode(ids), "pieces", pieces);
  }

  @Test
  void config() throws Exception {
    Vector vector = Vector.read("config");
    Vector in = vector.at("inputs");
    List<Object> presets = new ArrayList<>();
    for (String name : Config.presetNames()) {
      try (Config preset = Config.preset(name)) {
        presets.add(of("name", name, "parameter_count", preset.parameterCount(), "inference",
            preset.memory(MemoryUse.INFERENCE), "training", preset.memory(MemoryUse.TRAINING)));
      }
    }
    try (Config config = Config.parse(in.text("yaml"))) {
      for (Vector set : in.all("set")) config.set(set.text("key"), set.text("value"));
      String format = config.format();
      Path path = scratch.resolve("model.yaml");
      Files.writeString(path, format);
      try (Config parsed = Config.parse(format); Config loaded = Config.load(path); Config broken = config.copy()) {
        config.check();
        broken.set(in.at("break").text("key"), in.at("break").text("value"));
        TptException e = assertThrows(TptException.class, broken::check);
        config.check();
        vector.assertResults(of("presets", presets, "format", format,
            "get", in.list("get").stream().map(k -> config.get((String) k)).toList(), "parsed", parsed.format(),
            "loaded", loaded.format(), "check", 0L,
            "broken", of("status", (long) e.code(), "message", e.getMessage()), "unbroken", 0L));
      }
    }
  }

  @Test
  void evaluate() throws Exception {
    Vector vector = Vector.read("evaluate");
    Vector in = vector.at("inputs");
    Path path = scratch.resolve("text.u16");
    int seq = in.number("seq");
    try (Run run = Run.whole(in.at("training"))) {
      int[] ids = run.tokenizer.encode(in.text("text"));
      ByteBuffer bytes = ByteBuffer.allocate(2 * ids.length).order(ByteOrder.LITTLE_ENDIAN);
      for (int id : ids) bytes.putShort((short) id);
      Files.write(path, bytes.array());
      try (Dataset data = Dataset.fromTokens(run.context, ids); Dataset file = Dataset.open(run.context, path)) {
        Window window = data.window(in.number("window"), seq);
        vector.assertResults(of("count", data.count(), "window_count", data.windowCount(seq),
            "window", of("tokens", ids(window.tokens()), "targets", ids(window.targets())),
            "evaluations", evaluations(run.model, data, in), "from_file", evaluations(run.model, file, in)));
      }
    }
  }

  private static List<Object> evaluations(Model model, Dataset data, Vector in) {
    List<Object> all = new ArrayList<>();
    for (int most : in.ints("max_windows")) {
      Evaluation e = model.evaluate(data, in.number("seq"), most);
      all.add(of("loss", f64(e.loss()), "perplexity", f64(e.perplexity()), "tokens", Long.toUnsignedString(e.tokens())));
    }
    return all;
  }

  @Test
  void errors() throws Exception {
    Vector vector = Vector.read("errors");
    Vector in = vector.at("inputs");
    List<Object> cases = new ArrayList<>();
    for (Vector what : in.all("cases")) {
      try (Stage stage = new Stage(in)) {
        for (Object step : what.list("before")) stage.before((String) step);
        TptException e = assertThrows(TptException.class, () -> stage.call(what), what.text("name"));
        assertEquals(e.getMessage(), Library.errorMessage(), what.text("name"));
        if (stage.first != null) assertEquals(e.getMessage(), stage.first.lastError(), what.text("name"));
        assertEquals(Status.of(e.code()), e.status());
        cases.add(of("name", what.text("name"), "status", (long) e.code(), "message", e.getMessage()));
      }
    }
    vector.assertResults(of("cases", cases));
  }
}
