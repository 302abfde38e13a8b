package lib3pt;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Memory stays flat over many lives, in a process whose Java heap cannot grow. */
class LeakTest {
  private static final int WARM = 300;
  private static final int CYCLES = 1000;
  private static final long MOST_A_CYCLE = 1024; // bytes
  private static final int PAGE = 4096;

  private static void cycle(Config config) {
    try (Context context = Context.create()) {
      context.setThreads(1);
      context.setProgress((handle, done) -> true);
      context.setLog((level, text) -> {});
      try (Model model = Model.create(context, config, 1); Trainer trainer = Trainer.create(model);
          Optimizer optimizer = Optimizer.create(trainer); Decoder decoder = Decoder.create(model);
          Tokenizer tokenizer = Tokenizer.bytes(context);
          Dataset data = Dataset.fromTokens(context, tokenizer.encode("abc")); Config copy = model.config()) {
        decoder.feedView((int) data.count());
        model.parameters();
        trainer.gradients();
        optimizer.stepCount();
        copy.get("model.d_model");
        Tokenizer.bytes().close();
      }
    }
  }

  private static long resident() throws Exception {
    System.gc();
    return PAGE * Long.parseLong(Files.readString(Path.of("/proc/self/statm")).split(" ")[1]);
  }

  /** What the test starts: prints the growth in bytes. */
  public static void main(String[] args) throws Exception {
    try (Config config = Config.parse("model: {vocab_size: 16, d_model: 12, n_layers: 1, n_q_heads: 3, "
        + "n_kv_heads: 3, d_ff: 8, max_seq_len: 8}\ntrain: {batch: 1}\n")) {
      for (int i = 0; i < WARM; i++) cycle(config);
      long before = resident();
      for (int i = 0; i < CYCLES; i++) cycle(config);
      System.out.print(resident() - before + " " + Hooks.registered());
    }
  }

  @Test
  void a_thousand_cycles_take_no_memory() throws Exception {
    String tests = Path.of(LeakTest.class.getProtectionDomain().getCodeSource().getLocation().toURI()).toString();
    Setup.Said said = Setup.java(List.of("-Xint", "-XX:+UseSerialGC", "-Xms64m", "-Xmx64m", "-XX:+AlwaysPreTouch",
        "--enable-native-access=ALL-UNNAMED", "-cp",
        String.join(":", Setup.classes(), tests, System.getProperty("java.class.path"))), "lib3pt.LeakTest");
    String[] got = said.out().split(" ");
    assertEquals(2, got.length, said.err());
    assertTrue(Long.parseLong(got[0]) < CYCLES * MOST_A_CYCLE, got[0] + " bytes in " + CYCLES + " cycles");
    assertEquals("0", got[1]);
  }
}
