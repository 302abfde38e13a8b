import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import lib3pt.*;

/** What a token costs, for comparison with bindings/conformance/overhead.c: Bench SECONDS. */
public class Bench {
  static final int TOKENS = 127;

  static double round(Decoder decoder) {
    long start = System.nanoTime();
    int token = 0;
    for (int i = 0; i < TOKENS; i++) {
      decoder.feed(token);
      token = decoder.sample();
    }
    decoder.rewind(0);
    return 1e-9 * (System.nanoTime() - start);
  }

  public static void main(String[] args) {
    double seconds = args.length > 0 ? Double.parseDouble(args[0]) : 1;
    try (var context = Context.create();
        var config = Config.preset("3pt-5m");
        var model = Model.create(context, config, 1);
        var decoder = Decoder.create(model)) {
      List<Double> rounds = new ArrayList<>();
      long end = System.nanoTime() + (long) (1e9 * seconds);
      do rounds.add(round(decoder));
      while (System.nanoTime() < end);
      Collections.sort(rounds);
      System.out.printf(Locale.ROOT, "{\"tokens_per_s\": %.1f}%n", TOKENS / rounds.get(rounds.size() / 2));
    }
  }
}
