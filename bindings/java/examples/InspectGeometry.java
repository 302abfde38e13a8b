import java.util.Locale;
import java.util.stream.IntStream;
import lib3pt.*;

/** What a model's phases look like: profile, angles, and the sum of the phase means. */
public class InspectGeometry {
  static final String YAML = """
      model: {vocab_size: 256, d_model: 24, n_layers: 2, n_q_heads: 3,
        n_kv_heads: 3, d_ff: 48, max_seq_len: 32}
      train: {batch: 1}
      """;
  static final int SEQ = 32, PHASES = 3, LAYERS = 2;

  public static void main(String[] args) {
    try (var config = Config.parse(YAML); var model = Model.create(config, 1);
        var trainer = Trainer.create(model)) {
      float[] r = model.dcProfile(0, 4);
      System.out.printf(Locale.ROOT, "profile %.3f %.3f %.3f %.3f%n", r[0], r[1], r[2], r[3]);
      for (int layer = 0; layer < LAYERS; layer++)
        for (int phase = 0; phase < PHASES; phase++)
          System.out.printf(Locale.ROOT, "layer %d, phase %d: %.1f degrees%n", layer, phase,
              Math.toDegrees(model.angles(layer, phase)[0]));
      trainer.forward(IntStream.range(0, SEQ).toArray(), 1, SEQ);
      var sum = trainer.zeroSum();
      System.out.printf(Locale.ROOT, "sum of the phase means %.4f, by the profile %.4f%n",
          sum.measured(), sum.analytic());
    }
  }
}
