import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.function.Consumer;
import lib3pt.*;

/** What a token costs, for comparison with bindings/conformance/overhead.c: Bench SECONDS. */
public class Bench {
  static final int TOKENS = 127;
  static final double WARM = 4; // seconds, until the JVM has compiled what is called

  /** A token a call. */
  static void stepByStep(Decoder decoder) {
    int token = 0;
    for (int i = 0; i < TOKENS; i++) {
      decoder.feed(token);
      token = decoder.sample();
    }
  }

  /** As many are fed, in one call but for the first. */
  static void inOneCall(Decoder decoder) {
    decoder.feed(0);
    decoder.generate(TOKENS - 1);
  }

  static double round(Decoder decoder, Consumer<Decoder> run) {
    long start = System.nanoTime();
    run.accept(decoder);
    decoder.rewind(0);
    return 1e-9 * (System.nanoTime() - start);
  }

  /** Tokens a second in the round of median length. */
  static double rate(Decoder decoder, double seconds, Consumer<Decoder> run) {
    List<Double> rounds = new ArrayList<>();
    long end = System.nanoTime() + (long) (1e9 * seconds);
    do rounds.add(round(decoder, run));
    while (System.nanoTime() < end);
    Collections.sort(rounds);
    return TOKENS / rounds.get(rounds.size() / 2);
  }

  public static void main(String[] args) {
    double seconds = args.length > 0 ? Double.parseDouble(args[0]) : 1;
    try (var context = Context.create();
        var config = Config.preset("3pt-5m");
        var model = Model.create(context, config, 1);
        var decoder = Decoder.create(model)) {
      rate(decoder, WARM, Bench::stepByStep);
      System.out.printf(Locale.ROOT, "{\"tokens_per_s\": %.1f, \"generated_per_s\": %.1f}%n",
          rate(decoder, seconds / 2, Bench::stepByStep), rate(decoder, seconds / 2, Bench::inOneCall));
    }
  }
}
