import java.nio.file.Path;
import lib3pt.*;

/** A wrong description, a file that is not there, a token that the model has not: what each says. */
public class HandleError {
  static final String RIGHT = """
      model: {vocab_size: 256, d_model: 24, n_layers: 1, n_q_heads: 3,
        n_kv_heads: 3, d_ff: 48, max_seq_len: 8}
      """;

  static void show(Runnable call) {
    try {
      call.run();
    } catch (TptException e) {
      System.out.println(Library.statusName(e.code()) + ": " + e.getMessage());
    }
  }

  public static void main(String[] args) {
    show(() -> Config.parse("model: {d_model: 25}\n"));
    show(() -> Model.load(Path.of("no-such-folder/model.safetensors")));
    try (var config = Config.parse(RIGHT); var model = Model.create(config, 1);
        var decoder = Decoder.create(model)) {
      show(() -> decoder.feed(256));
    }
  }
}
