import java.util.Arrays;
import lib3pt.*;

/** The same with a seeded sampler, printed piece by piece as soon as a character is whole. */
public class StreamText {
  static final String YAML = """
      model: {vocab_size: 256, d_model: 48, n_layers: 2, n_q_heads: 6, n_kv_heads: 3, d_ff: 96, max_seq_len: 40}
      train: {batch: 4, steps: 1000, warmup: 1, lr: 1e-2}
      """;
  static final int BATCH = 4, SEQ = 40, STEPS = 60;

  static void learn(Model model, int[] ids) {
    try (var data = Dataset.fromTokens(null, ids); var trainer = Trainer.create(model);
        var optimizer = Optimizer.create(trainer)) {
      var state = new RandomState(1);
      for (int step = 0; step < STEPS; step++) {
        var window = data.random(state, BATCH, SEQ);
        trainer.zeroGradients();
        trainer.accumulate(window.tokens(), window.targets(), BATCH, SEQ);
        optimizer.step();
      }
    }
  }

  public static void main(String[] args) throws Exception {
    var out = new java.io.PrintStream(System.out, true, "UTF-8");
    try (var tokenizer = Tokenizer.bytes(); var config = Config.parse(YAML);
        var model = Model.create(config, 1); var decoder = Decoder.create(model)) {
      learn(model, tokenizer.encode("Three phases turn \u00b7 sum to zero \u00b7 ".repeat(4)));
      decoder.setSampling(0.5, 4, 0.9, 7);
      int[] ids = tokenizer.encode("Three");
      decoder.feed(ids);
      out.print("Three|");
      for (int done = ids.length; done < SEQ; done++) {
        ids = Arrays.copyOf(ids, done + 1);
        decoder.feed(ids[done] = decoder.sample());
        out.print(tokenizer.decodeTail(ids, done) + "|");
      }
      out.println();
    }
  }
}
