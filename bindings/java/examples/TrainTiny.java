import java.util.Locale;
import lib3pt.*;

/** Trains a tiny model on a sentence that repeats, and prints its loss. */
public class TrainTiny {
  static final String YAML = """
      model: {vocab_size: 256, d_model: 24, n_layers: 2, n_q_heads: 3,
        n_kv_heads: 3, d_ff: 48, max_seq_len: 32}
      train: {batch: 4, steps: 1000, warmup: 1, lr: 1e-2}
      """;
  static final String SENTENCE = "Three phases turn and sum to zero. ";
  static final int BATCH = 4, SEQ = 32, STEPS = 60;

  public static void main(String[] args) {
    try (var tokenizer = Tokenizer.bytes();
        var data = Dataset.fromTokens(null, tokenizer.encode(SENTENCE.repeat(4)));
        var config = Config.parse(YAML);
        var model = Model.create(config, 1);
        var trainer = Trainer.create(model);
        var optimizer = Optimizer.create(trainer)) {
      System.out.printf(Locale.ROOT, "%d parameters, %d tokens%n", config.parameterCount(), data.count());
      var state = new RandomState(1);
      for (int step = 1; step <= STEPS; step++) {
        var window = data.random(state, BATCH, SEQ);
        trainer.zeroGradients();
        double loss = trainer.accumulate(window.tokens(), window.targets(), BATCH, SEQ);
        optimizer.step();
        if (step == 1 || step % 20 == 0) System.out.printf(Locale.ROOT, "step %d: loss %.2f%n", step, loss);
      }
    }
  }
}
