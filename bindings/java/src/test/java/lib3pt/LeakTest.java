package lib3pt;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SegmentAllocator;
import java.lang.foreign.StructLayout;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Memory stays flat over many lives, in a process without compiler threads. */
class LeakTest {
  private static final int ROUNDS = 1000;
  private static final int WINDOWS = 8;
  private static final long MOST_OF_C = 16 * ROUNDS; // bytes: half of malloc's least block a round
  private static final long MOST_OF_JAVA = 8 * ROUNDS; // bytes: half of the least object a round
  private static final int LOST_BYTES = 256; // a round, on purpose: far more than what the machine itself gives back
  private static final List<Object> LOST = new ArrayList<>();

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

  @SuppressWarnings("restricted")
  private static Optional<MethodHandle> ofC(String name, FunctionDescriptor type) {
    Linker linker = Linker.nativeLinker();
    return linker.defaultLookup().find(name).map(address -> linker.downcallHandle(address, type));
  }

  private static final StructLayout INFO = MemoryLayout.structLayout(Stream.of("arena", "ordblks", "smblks", "hblks",
      "hblkhd", "usmblks", "fsmblks", "uordblks", "fordblks", "keepcost").map(ValueLayout.JAVA_LONG::withName)
      .toArray(MemoryLayout[]::new));
  /** glibc has it since 2.33, other C libraries have not. */
  private static final Optional<MethodHandle> MALLINFO2 = ofC("mallinfo2", FunctionDescriptor.of(INFO));
  private static final MethodHandle MALLOC =
      ofC("malloc", FunctionDescriptor.of(ValueLayout.ADDRESS, ValueLayout.JAVA_LONG)).orElseThrow();

  private static long field(MemorySegment info, String name) {
    return info.get(ValueLayout.JAVA_LONG, INFO.byteOffset(MemoryLayout.PathElement.groupElement(name)));
  }

  /** Bytes that malloc has given out, in all its arenas. Pages of the process come and go with nothing lost. */
  private static long heldByC() throws Throwable {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment info = (MemorySegment) MALLINFO2.orElseThrow().invoke((SegmentAllocator) arena);
      return field(info, "uordblks") + field(info, "hblkhd");
    }
  }

  /** The least after some collections: threads that clean up behind them let go of more for the next. */
  private static long heldByJava() throws InterruptedException {
    long least = Long.MAX_VALUE;
    for (int i = 0; i < 5; i++) {
      System.gc();
      Thread.sleep(20);
      least = Math.min(least, Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory());
    }
    return least;
  }

  private static void lose() throws Throwable {
    MemorySegment block = (MemorySegment) MALLOC.invoke((long) LOST_BYTES);
  }

  private interface Round {
    void run() throws Throwable;
  }

  /**
   * What the windows grew by, up to the first one that stays flat; "" where it does. The machine takes and gives back
   * memory of its own in the first windows, a leak grows in all; one in which much was given back tells nothing.
   */
  private static String growth(Round round) throws Throwable {
    StringBuilder grown = new StringBuilder();
    for (int window = 0; window < WINDOWS; window++) {
      long java = heldByJava(), c = heldByC();
      for (int i = 0; i < ROUNDS; i++) round.run();
      java = heldByJava() - java;
      c = heldByC() - c;
      if (Math.abs(c) <= MOST_OF_C && Math.abs(java) <= MOST_OF_JAVA) return "";
      grown.append("C ").append(c).append(", Java ").append(java).append("; ");
    }
    return grown.toString();
  }

  /** What the test starts: a line of growth each for lives, for a block a round and an object a round that are lost. */
  public static void main(String[] args) throws Throwable {
    try (Config config = Config.parse("model: {vocab_size: 16, d_model: 12, n_layers: 1, n_q_heads: 3, "
        + "n_kv_heads: 3, d_ff: 8, max_seq_len: 8}\ntrain: {batch: 1}\n")) {
      System.out.println(growth(() -> cycle(config)));
      System.out.println(Hooks.registered());
      System.out.println(!growth(() -> lose()).isEmpty());
      System.out.println(!growth(() -> LOST.add(new byte[LOST_BYTES])).isEmpty());
    }
  }

  @Test
  void a_thousand_cycles_take_no_memory() throws Exception {
    assumeTrue(MALLINFO2.isPresent(), "no mallinfo2");
    String tests = Path.of(LeakTest.class.getProtectionDomain().getCodeSource().getLocation().toURI()).toString();
    Setup.Said said = Setup.java(List.of("-Xint", "-XX:+UseSerialGC", "-Xms64m", "-Xmx64m",
        "--enable-native-access=ALL-UNNAMED", "-cp",
        String.join(":", Setup.classes(), tests, System.getProperty("java.class.path"))), "lib3pt.LeakTest");
    String[] got = said.out().split("\n");
    assertEquals(4, got.length, said.err());
    assertEquals("", got[0], "bytes in windows of " + ROUNDS + " cycles");
    assertEquals("0", got[1]);
    assertEquals("true", got[2], "a block a round is lost and not seen");
    assertEquals("true", got[3], "an object a round is lost and not seen");
  }
}
