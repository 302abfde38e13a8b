package lib3pt;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Log, progress, allocator; the ways to end a long call. */
class CallbackTest {
  private static final int BATCH = 8;
  private static final int SEQ = 128;
  private static final int[] TOKENS = new int[BATCH * SEQ];

  @TempDir Path scratch;
  private int registeredBefore;
  private Context context;
  private Config config;
  private Model model;
  private Trainer trainer;

  @BeforeEach
  void make() {
    registeredBefore = Hooks.registered();
    context = Context.create();
    config = Config.parse(Setup.LARGE);
    model = Model.create(context, config, 1);
    trainer = Trainer.create(model);
  }

  @AfterEach
  void close() {
    assertTrue(Hooks.registered() > registeredBefore);
    for (Handle h : new Handle[] {context, config, model, trainer}) h.close();
    assertEquals(registeredBefore, Hooks.registered());
    Thread.interrupted();
  }

  private void accumulate() {
    trainer.accumulate(TOKENS, TOKENS, BATCH, SEQ);
  }

  /** It can be used again as any that was cancelled. */
  private void assertGoesOn() {
    trainer.zeroGradients();
    accumulate();
  }

  @Test
  void progress_is_told_the_object_and_the_share() {
    List<Double> shares = new ArrayList<>();
    context.setProgress((handle, done) -> {
      assertSame(trainer, handle);
      return shares.add(done);
    });
    accumulate();
    assertTrue(shares.size() > 1);
    for (double share : shares) assertTrue(Double.isNaN(share) || share >= 0 && share <= 1, shares.toString());
    int count = shares.size();
    context.setProgress(null);
    accumulate();
    assertEquals(count, shares.size());
  }

  @Test
  void progress_that_says_no_cancels() {
    context.setProgress((handle, done) -> false);
    TptException e = assertThrows(TptException.class, this::accumulate);
    assertEquals(Status.CANCELLED, e.status());
    assertTrue(e.getMessage().contains("progress function"), e.getMessage());
    assertFalse(e instanceof TptInterruptedException);
    context.setProgress(null);
    assertGoesOn();
  }

  @Test
  void what_progress_throws_comes_out_of_the_call() {
    Error thrown = new AssertionError("on purpose");
    context.setProgress((handle, done) -> {
      throw thrown;
    });
    assertSame(thrown, assertThrows(AssertionError.class, this::accumulate));
    context.setProgress(null);
    assertGoesOn();
  }

  @Test
  void progress_may_use_other_objects_but_not_the_same() {
    List<String> seen = new ArrayList<>();
    context.setProgress((handle, done) -> {
      seen.add(config.get("model.d_model"));
      assertThrows(TptException.class, () -> config.get("no.key"));
      trainer.dc(Point.EMBEDDING, 0);
      return true;
    });
    assertThrows(IllegalStateException.class, this::accumulate);
    assertEquals(List.of("192"), seen);
  }

  @Test
  void another_thread_cancels() throws Exception {
    CountDownLatch inside = new CountDownLatch(1);
    context.setProgress((handle, done) -> {
      inside.countDown();
      return true;
    });
    Thread other = new Thread(() -> {
      try {
        inside.await();
      } catch (InterruptedException e) {
        throw new AssertionError(e);
      }
      context.cancel(true);
    });
    other.start();
    TptException e = assertThrows(TptException.class, () -> {
      for (;;) accumulate();
    });
    other.join();
    assertEquals(Status.CANCELLED, e.status());
    assertTrue(e.getMessage().contains("tpt_context_cancel"), e.getMessage());
    assertFalse(e.getMessage().contains("progress function"), e.getMessage());
    context.cancel(false);
    context.setProgress(null);
    assertGoesOn();
  }

  private void interruptMe(Thread me, CountDownLatch inside) {
    try {
      inside.await();
      me.interrupt();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void an_interrupt_cancels() throws Exception {
    CountDownLatch inside = new CountDownLatch(1);
    Thread me = Thread.currentThread();
    Thread other = new Thread(() -> interruptMe(me, inside));
    context.setProgress((handle, done) -> {
      inside.countDown();
      return true;
    });
    other.start();
    TptException e = assertThrows(TptInterruptedException.class, () -> {
      for (;;) accumulate();
    });
    assertEquals(Status.CANCELLED, e.status());
    assertTrue(Thread.interrupted());
    other.join();
    trainer.zeroGradients();
    accumulate();
  }

  @Test
  void an_interrupt_inside_a_call_without_a_context_cancels() {
    try (Model own = Model.create(config, 1); Trainer alone = Trainer.create(own)) {
      Thread me = Thread.currentThread();
      Thread other = new Thread(() -> {
        try {
          Thread.sleep(30);
        } catch (InterruptedException e) {
          throw new AssertionError(e);
        }
        me.interrupt();
      });
      alone.zeroGradients();
      other.start();
      TptException e = assertThrows(TptInterruptedException.class, () -> {
        for (;;) alone.accumulate(TOKENS, TOKENS, BATCH, SEQ);
      });
      assertEquals("the thread was interrupted, which ended the call", e.getMessage());
      assertTrue(Thread.interrupted());
    }
  }

  @Test
  void a_long_call_does_not_begin_on_an_interrupted_thread() {
    Thread.currentThread().interrupt();
    assertThrows(TptInterruptedException.class, this::accumulate);
    assertThrows(TptInterruptedException.class, () -> Model.create(context, config, 1));
    assertEquals("192", config.get("model.d_model"));
    assertTrue(Thread.interrupted());
    accumulate();
  }

  @Test
  void log_gets_messages() {
    List<String> texts = new ArrayList<>();
    context.setLog((level, text) -> texts.add(level + " " + text));
    try (Optimizer optimizer = Optimizer.create(trainer)) {
      assertTrue(texts.getFirst().matches("2 optimizer: \\d+ bytes"), texts.toString());
      Path path = scratch.resolve("run.safetensors");
      trainer.saveCheckpoint(optimizer, path);
      assertEquals("2 checkpoint of step 0: " + path, texts.getLast());
    }
    int count = texts.size();
    context.setLog(null);
    Decoder.create(model).close();
    assertEquals(count, texts.size());
  }

  @Test
  void what_log_throws_comes_out_of_the_call() {
    IllegalArgumentException thrown = new IllegalArgumentException("on purpose");
    context.setLog((level, text) -> {
      throw thrown;
    });
    assertSame(thrown, assertThrows(IllegalArgumentException.class, () -> Decoder.create(model)));
    context.setLog(null);
    Decoder.create(model).close();
  }

  @Test
  void an_allocator_gives_and_gets_back_all() {
    Budget budget = new Budget(Long.MAX_VALUE);
    try (Context counted = Context.create()) {
      counted.setAllocator(budget);
      counted.setThreads(2);
      try (Config tiny = Config.parse(Setup.TINY); Model made = Model.create(counted, tiny, 1);
          Trainer small = Trainer.create(made); Optimizer optimizer = Optimizer.create(small);
          Decoder decoder = Decoder.create(made)) {
        decoder.feed(1, 2, 3);
        small.accumulate(new int[128], new int[128], 4, 32);
        optimizer.step();
        assertTrue(budget.blocks.get() > 4);
      }
    }
    assertEquals(0, budget.held.get());
  }

  /** What comes out of a call whose allocator gives other blocks than the true ones. */
  private String refused(UnaryOperator<MemorySegment> change) {
    Budget budget = new Budget(Long.MAX_VALUE);
    AtomicBoolean changes = new AtomicBoolean();
    Allocator allocator = new Allocator() {
      @Override
      public MemorySegment allocate(long bytes, long alignment) {
        if (!changes.get()) return budget.allocate(bytes, alignment);
        return change.apply(Arena.ofAuto().allocate(bytes, alignment));
      }

      @Override
      public void release(MemorySegment memory, long bytes, long alignment) {
        budget.release(memory, bytes, alignment);
      }
    };
    try (Context counted = Context.create()) {
      counted.setAllocator(allocator);
      changes.set(true);
      String text = assertThrows(IllegalArgumentException.class, () -> Model.create(counted, config, 1)).getMessage();
      changes.set(false);
      Model.create(counted, config, 1).close();
      return text;
    }
  }

  @Test
  void a_block_that_does_not_fit_is_refused() {
    String text = refused(block -> block.asSlice(0, block.byteSize() - 1));
    assertTrue(text.matches("the allocator gave a block of \\d+ bytes where \\d+ were asked for; .*"), text);
    text = refused(block -> MemorySegment.ofAddress(block.address()));
    assertTrue(text.startsWith("the allocator gave a block of 0 bytes where "), text);
    assertEquals("the allocator gave a block that is read-only", refused(MemorySegment::asReadOnly));
    assertEquals("the allocator gave a block of the Java heap",
        refused(block -> MemorySegment.ofArray(new byte[(int) block.byteSize()])));
  }

  @Test
  void what_an_allocator_throws_comes_out_of_the_call() {
    class Refuses implements Allocator {
      final Allocator inner = new Budget(Long.MAX_VALUE);
      volatile RuntimeException thrown;

      @Override
      public MemorySegment allocate(long bytes, long alignment) {
        if (thrown != null) throw thrown;
        return inner.allocate(bytes, alignment);
      }

      @Override
      public void release(MemorySegment memory, long bytes, long alignment) {
        inner.release(memory, bytes, alignment);
      }
    }
    Refuses allocator = new Refuses();
    try (Context counted = Context.create()) {
      counted.setAllocator(allocator);
      allocator.thrown = new UnsupportedOperationException("on purpose");
      assertSame(allocator.thrown,
          assertThrows(UnsupportedOperationException.class, () -> Model.create(counted, config, 1)));
      allocator.thrown = null;
      Model.create(counted, config, 1).close();
    }
  }
}
