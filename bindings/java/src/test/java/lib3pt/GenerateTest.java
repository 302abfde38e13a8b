package lib3pt;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.nio.IntBuffer;
import java.util.Arrays;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Continuations in one call: the tokens of sample and feed, and nothing lost where the call ends early. */
class GenerateTest {
  private static final int[] PROMPT = {65, 66};
  private static final int COUNT = 20;
  private static final int LONG = 1000; // tokens that take many times as long as progress is silent

  private Context context;
  private Config config;
  private Model model;
  private Decoder decoder;

  @BeforeEach
  void make() {
    context = Context.create();
    config = Config.parse(Setup.TINY);
    config.set("model.d_model", "96");
    config.set("model.max_seq_len", Integer.toString(PROMPT.length + LONG));
    model = Model.create(context, config, 1);
    decoder = Decoder.create(model);
    prompt(1);
  }

  @AfterEach
  void close() {
    for (Handle h : new Handle[] {context, config, model, decoder}) h.close();
    Thread.interrupted();
  }

  /** temperature: 0 is greedy. */
  private void prompt(double temperature) {
    decoder.rewind(0);
    decoder.setSampling(temperature, 0, 1, 5);
    decoder.feed(PROMPT);
  }

  /** What comes, and the decoder as before. */
  private int[] byHand(int count) {
    int[] made = new int[count];
    try (Decoder copy = Decoder.create(model)) {
      decoder.copyTo(copy);
      for (int i = 0; i < count; i++) copy.feed(made[i] = copy.sample());
    }
    return made;
  }

  private void assertAt(int made) {
    assertEquals(PROMPT.length + made, decoder.position());
  }

  @Test
  void it_is_sample_and_feed() {
    for (double temperature : new double[] {0, 1}) {
      prompt(temperature);
      int[] want = byHand(COUNT + 1);
      assertArrayEquals(Arrays.copyOf(want, COUNT), decoder.generate(COUNT));
      assertAt(COUNT);
      assertEquals(want[COUNT], decoder.sample());
      prompt(temperature);
      assertArrayEquals(new int[] {want[0]}, decoder.generate(1));
      assertArrayEquals(Arrays.copyOfRange(want, 1, COUNT), decoder.generate(COUNT - 1, -1));
      assertAt(COUNT);
    }
  }

  private static int indexOf(int token, int[] tokens) {
    for (int i = 0; ; i++) if (tokens[i] == token) return i;
  }

  @Test
  void it_ends_after_stop() {
    int[] want = byHand(COUNT);
    for (int stop : want) {
      int length = indexOf(stop, want) + 1;
      prompt(1);
      assertArrayEquals(Arrays.copyOf(want, length), decoder.generate(COUNT, stop));
      assertAt(length);
    }
  }

  @Test
  void a_buffer_is_filled_from_its_position_to_its_limit() {
    int[] want = byHand(COUNT);
    for (IntBuffer tokens : new IntBuffer[] {IntBuffer.allocate(COUNT + 2), ByteBuffer.allocateDirect(88).asIntBuffer()}) {
      prompt(1);
      tokens.position(1).limit(COUNT + 1);
      decoder.generate(tokens, -1);
      assertEquals(0, tokens.remaining());
      assertEquals(0, tokens.get(0));
      assertEquals(IntBuffer.wrap(want), tokens.position(1));
      assertEquals(0, tokens.limit(COUNT + 2).get(COUNT + 1));
    }
    IntBuffer tokens = IntBuffer.allocate(COUNT);
    prompt(1);
    decoder.generate(tokens, want[0]);
    assertEquals(1, tokens.position());
  }

  private void refused(String message, int count, int stop) {
    TptException e = assertThrows(TptException.class, () -> decoder.generate(count, stop));
    assertEquals(Status.ARGUMENT, e.status());
    assertTrue(e.getMessage().startsWith(message), e.getMessage());
  }

  @Test
  void it_refuses_in_the_words_of_the_library() {
    String holds = "; the decoder holds 2 tokens and has room for 1002 (max_positions)";
    refused("count is 1001" + holds, LONG + 1, -1);
    refused("count is 2147483647" + holds, Integer.MAX_VALUE, -1);
    refused("count is -1; it cannot be negative", -1, -1);
    refused("count is 0; at least 1 is allowed", 0, -1);
    refused("stop is 256; 0 to 255 (model.vocab_size less 1), or -1 for none, is allowed", 1, 256);
    refused("stop is -2; ", 1, -2);
    IntBuffer tokens = IntBuffer.allocate(LONG + 1);
    assertThrows(TptException.class, () -> decoder.generate(tokens, -1));
    assertThrows(TptException.class, () -> decoder.generate(tokens.asReadOnlyBuffer(), -1));
    assertEquals(0, tokens.position());
    assertAt(0);
    decoder.rewind(0);
    assertEquals(Status.STATE, assertThrows(TptException.class, () -> decoder.generate(1)).status());
  }

  @Test
  void a_short_decoder_has_its_own_room() {
    int[] want = byHand(3);
    try (Decoder other = Decoder.create(model, PROMPT.length + 3)) {
      decoder.copyTo(other);
      TptException e = assertThrows(TptException.class, () -> other.generate(4));
      assertTrue(e.getMessage().startsWith("count is 4; the decoder holds 2 tokens and has room for 5"), e.getMessage());
      assertArrayEquals(want, other.generate(3));
    }
  }

  @Test
  void ended_before_it_begins_it_makes_nothing_and_goes_on() {
    int[] want = byHand(COUNT);
    IntBuffer tokens = IntBuffer.allocate(COUNT);
    context.cancel(true);
    TptException e = assertThrows(TptException.class, () -> decoder.generate(tokens, -1));
    assertEquals(Status.CANCELLED, e.status());
    context.cancel(false);
    Thread.currentThread().interrupt();
    assertThrows(TptInterruptedException.class, () -> decoder.generate(tokens, -1));
    assertTrue(Thread.interrupted());
    assertEquals(0, tokens.position());
    assertAt(0);
    decoder.generate(tokens, -1);
    assertArrayEquals(want, tokens.array());
  }

  /** Ended as often as progress comes, with one token in peace after each end: how it ended the last time. */
  private RuntimeException inPieces(IntBuffer tokens, ProgressFunction progress) {
    RuntimeException ended = null;
    while (tokens.hasRemaining()) {
      context.setProgress(progress);
      try {
        decoder.generate(tokens, -1);
      } catch (RuntimeException e) {
        ended = e;
      }
      context.setProgress(null);
      Thread.interrupted();
      assertAt(tokens.position());
      if (tokens.hasRemaining()) tokens.put(decoder.generate(1));
    }
    return ended;
  }

  @Test
  void what_was_made_until_an_end_is_not_lost() {
    int[] want = decoder.generate(LONG);
    RuntimeException thrown = new IllegalArgumentException("on purpose");
    ProgressFunction no = (handle, done) -> false;
    ProgressFunction throwing = (handle, done) -> {
      throw thrown;
    };
    ProgressFunction interrupting = (handle, done) -> {
      Thread.currentThread().interrupt();
      return true;
    };
    for (ProgressFunction progress : new ProgressFunction[] {no, throwing, interrupting}) {
      IntBuffer tokens = IntBuffer.allocate(LONG);
      prompt(1);
      RuntimeException ended = inPieces(tokens, progress);
      assertArrayEquals(want, tokens.array());
      if (progress == throwing) assertSame(thrown, ended);
      else assertSame(progress == no ? TptException.class : TptInterruptedException.class, ended.getClass());
    }
  }
}
