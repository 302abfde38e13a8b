package lib3pt;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.AbstractList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

/** Lives of objects and of what is borrowed from them. */
class HandleTest {
  private static final int[] TOKENS = {1, 2, 3, 4};

  private Context context;
  private Config config;
  private Model model;
  private Trainer trainer;
  private Optimizer optimizer;
  private Decoder decoder;
  private Dataset data;
  private Tokenizer tokenizer;

  @BeforeEach
  void make() {
    context = Context.create();
    config = Config.parse(Setup.TINY);
    model = Model.create(context, config, 1);
    trainer = Trainer.create(model);
    optimizer = Optimizer.create(trainer);
    decoder = Decoder.create(model);
    data = Dataset.fromTokens(context, TOKENS);
    tokenizer = Tokenizer.bytes(context);
  }

  @AfterEach
  void close() {
    for (Handle h : new Handle[] {context, config, model, trainer, optimizer, decoder, data, tokenizer}) h.close();
  }

  private static void assertGone(String message, Executable call) {
    assertEquals(message, assertThrows(IllegalStateException.class, call).getMessage());
  }

  @Test
  void a_closed_object_refuses_calls() {
    close();
    close();
    Map<String, Executable> calls = Map.of(
        "context", () -> context.threads(), "config", () -> config.format(), "model", () -> model.tensors(),
        "trainer", () -> trainer.backward(), "optimizer", () -> optimizer.step(), "decoder", () -> decoder.sample(),
        "dataset", () -> data.count(), "tokenizer", () -> tokenizer.encode("x"));
    calls.forEach((name, call) -> assertGone("the " + name + " is closed", call));
    assertGone("the context is closed", () -> Model.create(context, config, 1));
    assertGone("the context is closed", () -> context.cancel(true));
    assertGone("the decoder is closed", () -> decoder.lastError());
    assertGone("the model is closed", () -> Decoder.create(model));
  }

  @Test
  void children_outlive_their_parents() {
    context.close();
    config.close();
    model.close();
    decoder.feed(1, 2);
    assertTrue(decoder.sample() >= 0);
    trainer.accumulate(TOKENS, TOKENS, 1, TOKENS.length);
    trainer.close();
    assertTrue(optimizer.step() > 0);
    assertEquals(1, optimizer.stepCount());
  }

  @Test
  void an_object_that_was_forgotten_is_destroyed() throws Exception {
    Budget budget = new Budget(Long.MAX_VALUE);
    try (Context counted = Context.create()) {
      counted.setAllocator(budget);
      Model.create(counted, config, 1).close(); // the threads' own memory stays with the context
      long before = budget.held.get();
      forget(counted);
      for (int i = 0; i < 1000 && budget.held.get() != before; i++) {
        System.gc();
        Thread.sleep(20);
      }
      assertEquals(before, budget.held.get());
    }
    assertEquals(0, budget.held.get());
  }

  private void forget(Context counted) {
    Model lost = Model.create(counted, config, 1);
    assertTrue(lost.parameters().byteSize() > 0);
  }

  @Test
  void a_view_of_the_weights_ends_with_the_model() {
    MemorySegment weights = model.parameters();
    assertEquals(config.parameterCount() * Float.BYTES, weights.byteSize());
    weights.setAtIndex(ValueLayout.JAVA_FLOAT, 0, 42);
    assertEquals(42, model.getTensor(model.tensors().get(0).name())[0]);
    assertThrows(IndexOutOfBoundsException.class, () -> weights.getAtIndex(ValueLayout.JAVA_FLOAT, config.parameterCount()));
    model.close();
    assertThrows(IllegalStateException.class, () -> weights.getAtIndex(ValueLayout.JAVA_FLOAT, 0));
  }

  @Test
  void a_view_keeps_its_owner_alive() throws Exception {
    MemorySegment gradients = Trainer.create(model).gradients();
    for (int i = 0; i < 5; i++) {
      System.gc();
      Thread.sleep(10);
    }
    assertEquals(0, gradients.getAtIndex(ValueLayout.JAVA_FLOAT, 0));
  }

  @Test
  void a_view_of_logits_ends_with_the_next_call() {
    MemorySegment logits = decoder.feedView(1, 2);
    float[] copy = logits.toArray(ValueLayout.JAVA_FLOAT);
    assertEquals(256, copy.length);
    assertThrows(RuntimeException.class, () -> logits.setAtIndex(ValueLayout.JAVA_FLOAT, 0, 1));
    decoder.sample();
    assertThrows(IllegalStateException.class, () -> logits.getAtIndex(ValueLayout.JAVA_FLOAT, 0));
    decoder.rewind(0);
    assertEquals(copy[7], decoder.feedLogits(1, 2)[7]);
  }

  @Test
  void a_view_of_an_activation_ends_with_the_next_call() {
    trainer.forward(TOKENS, 1, TOKENS.length);
    MemorySegment stream = trainer.activationView(Point.BLOCK, 1);
    assertEquals(4 * 24 * Float.BYTES, stream.byteSize());
    MemorySegment logits = trainer.logitsView();
    assertThrows(IllegalStateException.class, () -> stream.getAtIndex(ValueLayout.JAVA_FLOAT, 0));
    trainer.close();
    assertThrows(IllegalStateException.class, () -> logits.getAtIndex(ValueLayout.JAVA_FLOAT, 0));
  }

  @Test
  void memory_segments_do_what_arrays_do() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment tokens = arena.allocateFrom(ValueLayout.JAVA_INT, TOKENS);
      MemorySegment logits = arena.allocate(ValueLayout.JAVA_FLOAT, 256);
      decoder.feed(tokens, logits);
      decoder.rewind(0);
      assertEquals(decoder.feedLogits(TOKENS)[9], logits.getAtIndex(ValueLayout.JAVA_FLOAT, 9));
      double loss = trainer.accumulate(tokens, tokens, 1, TOKENS.length);
      assertEquals(loss, trainer.accumulate(TOKENS, TOKENS, 1, TOKENS.length));
      trainer.forward(tokens, 1, TOKENS.length);
      assertEquals(loss, trainer.loss(tokens));
      MemorySegment file = arena.allocate(model.saveBytes().length);
      assertEquals(file.byteSize(), model.save(file));
      try (Model copy = Model.load(context, file, null)) {
        assertEquals(-1, copy.parameters().mismatch(model.parameters()));
      }
    }
  }

  @Test
  void a_text_with_a_nul_is_refused_before_the_call() {
    assertEquals("key has a NUL character, which ends a text in C",
        assertThrows(TptException.class, () -> config.get("model\0.d_model")).getMessage());
  }

  @Test
  void an_error_names_its_status_and_stays_with_the_object() throws Exception {
    assertEquals("", decoder.lastError());
    TptException e = assertThrows(TptException.class, () -> decoder.feed(256));
    assertEquals("tokens[0] is 256; ids from 0 to below model.vocab_size (256) are allowed", e.getMessage());
    assertEquals(Status.ARGUMENT, e.status());
    Thread other = new Thread(() -> assertDoesNotThrow(() -> assertEquals(e.getMessage(), decoder.lastError())));
    other.start();
    other.join();
    assertEquals(Status.UNKNOWN, Status.of(99));
  }

  /** A list that gives its first decoder and then fails. */
  private List<Decoder> failing() {
    return new AbstractList<>() {
      @Override
      public Decoder get(int index) {
        if (index > 0) throw new UnsupportedOperationException("no more");
        return decoder;
      }

      @Override
      public int size() {
        return 2;
      }
    };
  }

  @Test
  void a_list_that_fails_leaves_no_decoder_in_use() {
    assertThrows(UnsupportedOperationException.class, () -> Decoder.feedMany(failing(), 1, 2));
    assertThrows(UnsupportedOperationException.class, () -> Decoder.feedManyLogits(failing(), 1, 2));
    assertThrows(NullPointerException.class, () -> Decoder.feedMany(Arrays.asList(decoder, null), 1, 2));
    assertThrows(NullPointerException.class, () -> Decoder.feedMany(null, 1));
    assertNull(Call.current());
    decoder.feed(1);
  }

  @Test
  void the_description_of_a_model_is_a_copy() {
    try (Config copy = model.config()) {
      model.close();
      assertEquals("24", copy.get("model.d_model"));
      copy.set("model.d_model", "48");
    }
    assertEquals("24", config.get("model.d_model"));
  }
}
