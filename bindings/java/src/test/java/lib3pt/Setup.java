package lib3pt;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Where things are, and processes of their own for what would change this one. */
final class Setup {
  static final String TINY =
      "model: {vocab_size: 256, d_model: 24, n_layers: 2, n_q_heads: 3, n_kv_heads: 3, d_ff: 48, max_seq_len: 32}\n"
          + "train: {batch: 4}\n";
  /** Every long call on it takes more than some milliseconds. */
  static final String LARGE = "model: {vocab_size: 1000, d_model: 192, n_layers: 3, max_seq_len: 128}\ntrain: {batch: 8}\n";

  private static final int MINUTES = 5;

  private Setup() {}

  private static Path folder(String variable) {
    String folder = System.getenv(variable);
    assertTrue(folder != null, variable + " is not set: run bindings/java/test");
    return Path.of(folder);
  }

  static Path vectors() {
    return folder("LIB3PT_VECTORS");
  }

  static Path programs() {
    return folder("LIB3PT_PROGRAMS");
  }

  /** bindings/java. Maven runs tests there. */
  static Path here() {
    return Path.of("").toAbsolutePath();
  }

  static Vector description() throws IOException {
    return new Vector(Json.read(Files.readString(here().resolve("../../interface/3pt.json"))));
  }

  /** What a process wrote, and how it ended. */
  record Said(int status, String out, String err) {}

  /** Where the binding's own classes are. */
  static String classes() throws Exception {
    return Path.of(Context.class.getProtectionDomain().getCodeSource().getLocation().toURI()).toString();
  }

  /** The options that a program needs which denies native access to all modules but this one. */
  static List<String> denying() throws Exception {
    List<String> options = new ArrayList<>(List.of("--module-path", classes(), "--add-modules", "lib3pt",
        "--enable-native-access=lib3pt"));
    if (Runtime.version().feature() >= 24) options.add("--illegal-native-access=deny");
    return options;
  }

  static Said java(List<String> options, String... more) throws Exception {
    return run(builder(options, more));
  }

  static ProcessBuilder builder(List<String> options, String... more) {
    List<String> command = new ArrayList<>(List.of(Path.of(System.getProperty("java.home"), "bin/java").toString()));
    command.addAll(options);
    command.addAll(List.of(more));
    return new ProcessBuilder(command);
  }

  static Said run(ProcessBuilder builder) throws Exception {
    Path out = Files.createTempFile("lib3pt", ".out");
    Path err = Files.createTempFile("lib3pt", ".err");
    try {
      Process process = builder.redirectOutput(out.toFile()).redirectError(err.toFile()).start();
      if (!process.waitFor(MINUTES, TimeUnit.MINUTES)) process.destroyForcibly();
      return new Said(process.waitFor(), Files.readString(out), Files.readString(err));
    } finally {
      Files.delete(out);
      Files.delete(err);
    }
  }
}
