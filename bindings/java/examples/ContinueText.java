import lib3pt.*;

/** Trains a model on a sentence and lets it continue a prompt, by the likeliest byte each time. */
public class ContinueText {
  static final String YAML = """
      model: {vocab_size: 256, d_model: 48, n_layers: 2, n_q_heads: 6, n_kv_heads: 3, d_ff: 96, max_seq_len: 40}
      train: {batch: 4, steps: 1000, warmup: 1, lr: 1e-2}
      """;
  static final int BATCH = 4, SEQ = 40, STEPS = 60, ADDED = 29;

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

  public static void main(String[] args) {
    String prompt = "Three";
    try (var tokenizer = Tokenizer.bytes(); var config = Config.parse(YAML);
        var model = Model.create(config, 1)) {
      learn(model, tokenizer.encode("Three phases turn and sum to zero. ".repeat(4)));
      try (var decoder = Decoder.create(model)) {
        decoder.feed(tokenizer.encode(prompt));
        System.out.println(prompt + "|" + tokenizer.decode(decoder.generate(ADDED)));
      }
    }
  }
}
