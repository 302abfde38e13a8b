package lib3pt;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;

/** Several threads at once. */
class ThreadsTest {
  private static final int COUNT = 30;

  private static int[] continuation(Model model, int first) {
    int[] made = new int[COUNT];
    try (Decoder decoder = Decoder.create(model)) {
      decoder.setSampling(1, 0, 1, first);
      decoder.feed(first);
      for (int i = 0; i < COUNT; i++) decoder.feed(made[i] = decoder.sample());
    }
    return made;
  }

  private static void twoDecoders(ExecutorService threads) throws Exception {
    try (Config config = Config.parse(Setup.TINY); Model model = Model.create(config, 1)) {
      int[] one = continuation(model, 1);
      int[] two = continuation(model, 2);
      for (int i = 0; i < 20; i++) {
        List<Callable<int[]>> both = List.of(() -> continuation(model, 1), () -> continuation(model, 2));
        List<Future<int[]>> made = threads.invokeAll(both);
        assertArrayEquals(one, made.get(0).get());
        assertArrayEquals(two, made.get(1).get());
      }
    }
  }

  @Test
  void two_threads_decode_with_one_model() throws Exception {
    try (ExecutorService threads = Executors.newFixedThreadPool(2)) {
      twoDecoders(threads);
    }
  }

  @Test
  void two_virtual_threads_decode_with_one_model() throws Exception {
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      twoDecoders(threads);
    }
  }

  /**
   * Runs a call that stands still in its progress function while `meanwhile` runs on this thread, whose
   * calls go on when they are asked. The call must be long enough that its progress is asked for.
   */
  private static void during(Context context, Runnable call, Runnable meanwhile) throws Exception {
    CountDownLatch inside = new CountDownLatch(1);
    CountDownLatch goOn = new CountDownLatch(1);
    context.setProgress((handle, done) -> {
      if (inside.getCount() == 0) return true;
      inside.countDown();
      try {
        goOn.await();
      } catch (InterruptedException e) {
        throw new AssertionError(e);
      }
      return true;
    });
    try (ExecutorService thread = Executors.newSingleThreadExecutor()) {
      Future<?> running = thread.submit(call);
      while (!inside.await(10, TimeUnit.MILLISECONDS)) {
        if (!running.isDone() || inside.getCount() == 0) continue;
        running.get();
        throw new AssertionError("the call was over before its progress was asked for");
      }
      try {
        meanwhile.run();
      } finally {
        goOn.countDown();
      }
      running.get();
    }
  }

  private static final int[] TOKENS = new int[8 * 128];

  @Test
  void an_object_in_use_refuses_a_second_call() throws Exception {
    try (Context context = Context.create(); Config config = Config.parse(Setup.LARGE);
        Model model = Model.create(context, config, 1); Trainer trainer = Trainer.create(model);
        Optimizer optimizer = Optimizer.create(trainer)) {
      during(context, () -> trainer.forward(TOKENS, 8, 128), () -> {
        assertEquals("the trainer is in use by another call",
            assertThrows(IllegalStateException.class, trainer::backward).getMessage());
        assertThrows(IllegalStateException.class, optimizer::step);
        assertEquals("", trainer.lastError());
        assertEquals(1000, model.vocab);
        assertTrue(model.tensors().size() > 0);
      });
      trainer.logits();
    }
  }

  /** Settings belong to all that was made: a running call would lose its threads. */
  @Test
  void settings_wait_for_no_running_call() throws Exception {
    int[] prompt = new int[2048];
    String description = "model: {vocab_size: 1000, d_model: 192, n_layers: 3, max_seq_len: 2048}\ntrain: {batch: 1}\n";
    try (Context context = Context.create(); Config config = Config.parse(description);
        Model model = Model.create(context, config, 1); Trainer trainer = Trainer.create(model);
        Decoder decoder = Decoder.create(model); Model folded = model.fold(); Decoder second = Decoder.create(folded);
        Dataset data = Dataset.fromTokens(context, new int[2049])) {
      List<Runnable> calls = List.of(() -> trainer.forward(prompt, 1, 2048), () -> decoder.feed(prompt),
          () -> second.feed(prompt), () -> model.evaluate(null, data, 2048, 0));
      for (Runnable call : calls) {
        during(context, call, () -> assertEquals("the context is in use by another call",
            assertThrows(IllegalStateException.class, () -> context.setThreads(1)).getMessage()));
        context.setThreads(2);
      }
      context.setProgress((handle, done) -> {
        context.setThreads(1);
        return true;
      });
      assertThrows(IllegalStateException.class, () -> trainer.forward(prompt, 1, 2048));
    }
  }

  private static void assertInUse(String what, Executable call) {
    assertEquals(what + " is in use by another call", assertThrows(IllegalStateException.class, call).getMessage());
  }

  /** Weights that change would spoil what a running call reads; who only reads is not in its way. */
  @Test
  void weights_wait_for_no_running_call(@TempDir Path scratch) throws Exception {
    int[] prompt = new int[2048];
    String description = "model: {vocab_size: 1000, d_model: 192, n_layers: 3, max_seq_len: 2048}\ntrain: {batch: 1}\n";
    try (Context context = Context.create(); Config config = Config.parse(description);
        Model model = Model.create(context, config, 1); Trainer trainer = Trainer.create(model);
        Trainer other = Trainer.create(model); Optimizer optimizer = Optimizer.create(other);
        Decoder decoder = Decoder.create(model); Decoder second = Decoder.create(model);
        Dataset data = Dataset.fromTokens(context, new int[2049]); Model folded = model.fold()) {
      Path checkpoint = scratch.resolve("some.safetensors");
      other.saveCheckpoint(optimizer, checkpoint);
      String name = model.tensors().get(0).name();
      float[] values = model.getTensor(name);
      Runnable writes = () -> {
        assertInUse("the model", () -> model.setTensor(name, values));
        assertInUse("the model of the optimizer", optimizer::step);
        assertInUse("the model of the trainer", () -> other.loadCheckpoint(optimizer, checkpoint));
        folded.setTensor(name, values);
        assertArrayEquals(values, model.getTensor(name));
        second.feed(1);
      };
      during(context, () -> model.evaluate(null, data, 2048, 0), writes);
      during(context, () -> trainer.forward(prompt, 1, 2048), writes);
      during(context, () -> decoder.feed(prompt), () -> {
        writes.run();
        Trainer.create(model).close();
        assertTrue(model.parameters().byteSize() > 0);
      });
      other.accumulate(prompt, prompt, 1, 2048);
      optimizer.step();
      other.loadCheckpoint(optimizer, checkpoint);
      model.setTensor(name, values);
    }
  }

  /** The other way round. A call that writes is too short to be met: here one has begun that does nothing. */
  @Test
  void no_call_reads_weights_while_they_change() {
    try (Context context = Context.create(); Config config = Config.parse(Setup.TINY);
        Model model = Model.create(context, config, 1); Trainer trainer = Trainer.create(model);
        Optimizer optimizer = Optimizer.create(trainer); Decoder decoder = Decoder.create(model);
        Dataset data = Dataset.fromTokens(context, 1, 2, 3, 4); Model folded = model.fold()) {
      Map<String, Executable> reads = Map.of("the model", () -> model.evaluate(data, 3, 0),
          "the model of the decoder", () -> decoder.feed(1),
          "the model of the trainer", () -> trainer.forward(new int[2], 1, 2),
          "the model of the optimizer", optimizer::step);
      try (Call writing = new Call().writing(model)) {
        reads.forEach(ThreadsTest::assertInUse);
        assertEquals("", decoder.lastError());
        folded.evaluate(data, 3, 0);
      }
      decoder.feed(1);
      try (Call writing = new Call().writing(optimizer)) {
        assertInUse("the model", () -> model.getTensor("x"));
        assertInUse("the model of the decoder", () -> decoder.feed(1));
        assertInUse("the trainer", () -> trainer.forward(new int[2], 1, 2));
      }
      decoder.feed(1);
    }
  }

  /** A checkpoint into an optimizer of another trainer of the model is C's to refuse: the call is in nobody's way. */
  @Test
  void a_call_is_not_in_its_own_way() {
    try (Config config = Config.parse(Setup.TINY); Model model = Model.create(config, 1);
        Trainer trainer = Trainer.create(model); Trainer other = Trainer.create(model);
        Optimizer optimizer = Optimizer.create(other)) {
      assertEquals("the optimizer belongs to another trainer", assertThrows(TptException.class,
          () -> trainer.loadCheckpoint(optimizer, Path.of("none"))).getMessage());
      assertEquals(0, optimizer.stepCount());
    }
  }

  @Test
  void a_call_keeps_its_object_past_a_close() throws Exception {
    try (Context context = Context.create(); Config config = Config.parse(Setup.LARGE);
        Model model = Model.create(context, config, 1)) {
      Trainer trainer = Trainer.create(model);
      during(context, () -> trainer.forward(TOKENS, 8, 128), trainer::close);
      assertThrows(IllegalStateException.class, trainer::logits);
    }
  }

  /** Loads a file that is not there, again and again: each failure names the file of its own call. */
  private static Void failOften(Context context, Path missing) {
    for (int i = 0; i < 5000; i++) {
      TptException e = assertThrows(TptException.class, () -> Model.load(context, missing, null));
      assertTrue(e.getMessage().endsWith(missing.toString()), e.getMessage());
    }
    return null;
  }

  private static void failTogether(ExecutorService threads) throws Exception {
    try (Context context = Context.create()) {
      List<Callable<Void>> both =
          List.of(() -> failOften(context, Path.of("/no/one")), () -> failOften(context, Path.of("/no/other")));
      for (Future<Void> ended : threads.invokeAll(both)) ended.get();
    }
  }

  @Test
  void a_failure_has_the_text_of_its_own_call() throws Exception {
    try (ExecutorService threads = Executors.newFixedThreadPool(2)) {
      failTogether(threads);
    }
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      failTogether(threads);
    }
  }
}
