package lib3pt;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

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

  /** Runs a call that stands still in its progress function while `meanwhile` runs on this thread. */
  private static void during(Context context, Runnable call, Runnable meanwhile) throws Exception {
    CountDownLatch inside = new CountDownLatch(1);
    CountDownLatch goOn = new CountDownLatch(1);
    context.setProgress((handle, done) -> {
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
      inside.await();
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

  @Test
  void a_call_keeps_its_object_past_a_close() throws Exception {
    try (Context context = Context.create(); Config config = Config.parse(Setup.LARGE);
        Model model = Model.create(context, config, 1)) {
      Trainer trainer = Trainer.create(model);
      during(context, () -> trainer.forward(TOKENS, 8, 128), trainer::close);
      assertThrows(IllegalStateException.class, trainer::logits);
    }
  }
}
