package lib3pt;

/** The training that several scenarios need, step by step. */
final class Run implements AutoCloseable {
  final Vector how;
  final Context context = Context.create();
  final Tokenizer tokenizer;
  final Dataset data;
  final Config config;
  final Model model;
  final Trainer trainer;
  final Optimizer optimizer;
  final RandomState state;
  double[] losses = {};
  double[] norms = {};

  Run(Vector how, long seed) {
    this.how = how;
    context.setThreads(how.number("threads"));
    tokenizer = Tokenizer.bytes(context);
    data = Dataset.fromTokens(context, tokenizer.encode(how.text("text")));
    config = Config.parse(how.text("yaml"));
    model = Model.create(context, config, seed);
    trainer = Trainer.create(model);
    optimizer = Optimizer.create(trainer);
    state = new RandomState(how.u64("random_state"));
  }

  static Run whole(Vector how) {
    Run run = new Run(how, how.u64("seed"));
    run.go(how.number("steps"));
    return run;
  }

  void gather() {
    Window window = data.random(state, how.number("batch"), how.number("seq"));
    trainer.zeroGradients();
    double loss = trainer.accumulate(window.tokens(), window.targets(), how.number("batch"), how.number("seq"));
    losses = grown(losses, loss);
  }

  void go(int steps) {
    for (int i = 0; i < steps; i++) {
      gather();
      norms = grown(norms, optimizer.step());
    }
  }

  private static double[] grown(double[] values, double value) {
    double[] made = java.util.Arrays.copyOf(values, values.length + 1);
    made[values.length] = value;
    return made;
  }

  @Override
  public void close() {
    for (Handle handle : new Handle[] {context, model, trainer, optimizer, config, data, tokenizer}) handle.close();
  }
}
