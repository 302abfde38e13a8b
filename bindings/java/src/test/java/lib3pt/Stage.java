package lib3pt;

import static org.junit.jupiter.api.Assertions.assertThrows;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;

/** Fresh objects for one case of the scenario "errors", and the calls that fail on them. */
final class Stage implements AutoCloseable {
  private static final String WEIGHTS = "blocks.1.attn.q.weight";
  private static final int[] TOKENS = {1, 2, 3};
  private static final int[] TARGETS = {2, 3, 4};

  final Context context = Context.create();
  final Config config;
  final Tokenizer tokenizer;
  final Dataset data;
  Model model;
  final Trainer trainer;
  final Optimizer optimizer;
  final Decoder decoder;
  final Context other = Context.create();
  final long seed;
  Handle first; // of the call; null where it has none

  Stage(Vector in) {
    seed = in.u64("seed");
    context.setThreads(in.number("threads"));
    other.setThreads(1);
    config = Config.parse(in.text("yaml"));
    tokenizer = Tokenizer.bytes(context);
    data = Dataset.fromTokens(context, tokenizer.encode(in.text("text")));
    model = Model.create(context, config, seed);
    trainer = Trainer.create(model);
    optimizer = Optimizer.create(trainer);
    decoder = Decoder.create(model);
  }

  private void become(Model made) {
    model.close();
    model = made;
  }

  private void weights(float value) {
    float[] values = model.getTensor(WEIGHTS);
    Arrays.fill(values, value);
    model.setTensor(WEIGHTS, values);
  }

  private void spoil() {
    context.cancel(true);
    assertThrows(TptException.class, () -> trainer.accumulate(TOKENS, TARGETS, 1, TOKENS.length));
    context.cancel(false);
  }

  void before(String step) {
    switch (step) {
      case "cancel" -> context.cancel(true);
      case "forward" -> trainer.forward(TOKENS, 1, TOKENS.length);
      case "loss" -> trainer.loss(TARGETS);
      case "backward" -> trainer.backward();
      case "feed" -> decoder.feed(1);
      case "rewind" -> decoder.rewind(1);
      case "convert" -> become(model.convert("int8"));
      case "fold" -> become(model.fold());
      case "nan" -> weights(Float.NaN);
      case "weights" -> weights(0);
      case "spoil" -> spoil();
      default -> throw new IllegalArgumentException(step);
    }
  }

  private <T extends Handle> T on(T handle) {
    first = handle;
    return handle;
  }

  private static Path path(Vector w) {
    return Path.of(w.text("path"));
  }

  private void createWithin(Vector w) {
    other.setAllocator(new Budget(w.number("budget")));
    try (Config preset = Config.preset(w.text("preset"))) {
      Model.create(on(other), preset, 1);
    }
  }

  private void check(Vector w) {
    config.set(w.text("key"), w.text("value"));
    on(config).check();
  }

  void call(Vector w) {
    if (!callOfModels(w) && !callOfTexts(w)) throw new IllegalArgumentException(w.text("call"));
  }

  private boolean callOfModels(Vector w) {
    switch (w.text("call")) {
      case "context_set_threads" -> on(context).setThreads(w.number("threads"));
      case "context_set_allocator" -> on(other).setAllocator(new Budget(w.number("budget")));
      case "context_set_allocator_late" -> on(context).setAllocator(new Budget(Long.MAX_VALUE));
      case "model_create_within" -> createWithin(w);
      case "model_create" -> Model.create(on(context), config, seed);
      case "model_load" -> Model.load(on(context), path(w), null);
      case "model_load_memory" -> Model.load(on(context), w.text("text").getBytes(StandardCharsets.UTF_8), null);
      case "model_save" -> on(model).save(path(w));
      case "model_save_memory" -> on(model).saveBytes();
      case "model_convert" -> on(model).convert(w.text("precision"));
      case "model_fold" -> on(model).fold();
      case "model_get_tensor" -> on(model).getTensor(w.text("tensor"));
      case "trainer_create" -> Trainer.create(on(model));
      case "trainer_forward" -> on(trainer).forward(w.ints("tokens"), w.number("batch"), w.number("seq"));
      case "trainer_accumulate" ->
          on(trainer).accumulate(w.ints("tokens"), w.ints("targets"), w.number("batch"), w.number("seq"));
      case "trainer_loss" -> on(trainer).loss(w.ints("targets"));
      case "trainer_logits" -> on(trainer).logits();
      case "trainer_backward" -> on(trainer).backward();
      case "trainer_get_gradient" -> on(trainer).gradient(w.text("tensor"));
      case "trainer_activation" -> on(trainer).activation(Point.of(w.number("point")), w.number("layer"));
      case "optimizer_step" -> on(optimizer).step();
      case "optimizer_set_lr" -> on(optimizer).setLr(w.decimal("lr"));
      case "checkpoint_save" -> on(trainer).saveCheckpoint(optimizer, path(w));
      case "checkpoint_load" -> on(trainer).loadCheckpoint(optimizer, path(w));
      case "decoder_create" -> Decoder.create(on(model), w.number("max_positions"));
      case "decoder_feed" -> on(decoder).feed(w.ints("tokens"));
      case "decoder_feed_many_twice" ->
          Decoder.feedMany(List.of(on(decoder), decoder), w.number("token"), w.number("token"));
      case "decoder_score" -> on(decoder).score(w.ints("tokens"));
      case "decoder_rewind" -> on(decoder).rewind(w.number("position"));
      case "decoder_set_sampling" -> on(decoder).setSampling(
          w.decimal("temperature"), w.number("top_k"), w.decimal("top_p"), w.u64("seed"));
      case "decoder_sample" -> on(decoder).sample();
      case "geometry_dc_profile" -> on(model).dcProfile(w.number("first"), w.number("count"));
      case "geometry_theta" -> on(model).theta(w.number("layer"));
      case "geometry_angles" -> on(model).angles(w.number("layer"), w.number("phase"));
      case "geometry_drift" -> on(model).drift(w.number("layer"));
      case "geometry_phase_means" -> on(trainer).phaseMeans(Point.of(w.number("point")), w.number("layer"));
      case "geometry_zero_sum" -> on(trainer).zeroSum();
      default -> {
        return false;
      }
    }
    return true;
  }

  private boolean callOfTexts(Vector w) {
    switch (w.text("call")) {
      case "check_version" -> Library.checkVersion(w.number("major"), w.number("minor"), w.number("patch"));
      case "config_preset" -> Config.preset(w.text("preset"));
      case "config_parse" -> Config.parse(w.text("yaml"));
      case "config_load" -> Config.load(path(w));
      case "config_set" -> on(config).set(w.text("key"), w.text("value"));
      case "config_get" -> on(config).get(w.text("key"));
      case "config_check" -> check(w);
      case "dataset_open" -> Dataset.open(on(context), path(w));
      case "dataset_from_tokens" -> Dataset.fromTokens(on(context), w.ints("tokens"));
      case "dataset_random" -> on(data).random(new RandomState(1), w.number("batch"), w.number("seq"));
      case "dataset_window" -> on(data).window(w.number("index"), w.number("seq"));
      case "dataset_window_count" -> on(data).windowCount(w.number("seq"));
      case "evaluate" -> on(model).evaluate(data, w.number("seq"), w.number("max_windows"));
      case "tokenizer_words" -> Tokenizer.words(on(context), w.text("text"), w.number("vocab"));
      case "tokenizer_bpe" -> Tokenizer.bpe(on(context), w.text("text"), w.number("vocab"));
      case "tokenizer_load" -> Tokenizer.load(on(context), path(w));
      case "tokenizer_parse" -> Tokenizer.parse(on(context), w.text("json"));
      case "tokenizer_decode" -> on(tokenizer).decode(w.ints("ids"));
      case "tokenizer_id" -> on(tokenizer).id(w.text("token"));
      case "tokenizer_token" -> on(tokenizer).token(w.number("id"));
      default -> {
        return false;
      }
    }
    return true;
  }

  @Override
  public void close() {
    for (Handle handle :
        new Handle[] {decoder, optimizer, trainer, model, data, tokenizer, config, context, other}) handle.close();
  }
}
