package lib3pt;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_DOUBLE;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;

/** AdamW: moments, schedule, step count. With its trainer it counts as one object. */
@Calls("tpt_optimizer_destroy")
public final class Optimizer extends Handle {
  private Optimizer(MemorySegment pointer, Trainer trainer) {
    super(pointer, trainer.guard, trainer, Native::tpt_optimizer_destroy);
  }

  /**
   * Moments 0, step count 0.
   *
   * @param trainer whose gradients it reads
   * @param config may be null: the trainer's
   * @return to be closed
   * @throws TptException CONFIG, MEMORY, CANCELLED
   */
  @Calls("tpt_optimizer_create")
  public static Optimizer create(Trainer trainer, Config config) {
    try (Call call = new Call().alone(trainer).shared(config).cancellable()) {
      MemorySegment place = call.place();
      call.check(Native.tpt_optimizer_create(Call.pointer(trainer, "trainer"), Call.pointer(config), place));
      return call.made(new Optimizer(place.get(ADDRESS, 0), trainer));
    }
  }

  /**
   * The same with the trainer's description.
   *
   * @param trainer whose gradients it reads
   * @return to be closed
   */
  public static Optimizer create(Trainer trainer) {
    return create(trainer, null);
  }

  /**
   * One step of AdamW. Never cancelled. It writes the model's weights.
   *
   * @return the norm of the gradients before clipping
   * @throws IllegalStateException where another call uses the model, a decoder or a trainer of it
   * @throws TptException NUMERIC: it is not finite; STATE: spoiled gradients
   */
  @Calls("tpt_optimizer_step")
  public double step() {
    try (Call call = new Call().writing(this)) {
      MemorySegment norm = call.arena().allocate(JAVA_DOUBLE);
      call.check(Native.tpt_optimizer_step(pointer, norm));
      return norm.get(JAVA_DOUBLE, 0);
    }
  }

  /**
   * A rate instead of the schedule's.
   *
   * @param lr 0 to 1e6; NaN: the schedule again
   * @throws TptException ARGUMENT
   */
  @Calls("tpt_optimizer_set_lr")
  public void setLr(double lr) {
    try (Call call = new Call().alone(this)) {
      call.check(Native.tpt_optimizer_set_lr(pointer, lr));
    }
  }

  /**
   * The rate of the next step.
   *
   * @return the schedule's, or what was set
   */
  @Calls("tpt_optimizer_lr")
  public double lr() {
    try (Call call = new Call().shared(this)) {
      MemorySegment lr = call.arena().allocate(JAVA_DOUBLE);
      call.check(Native.tpt_optimizer_lr(pointer, lr));
      return lr.get(JAVA_DOUBLE, 0);
    }
  }

  /**
   * Steps done, those before a checkpoint among them.
   *
   * @return unsigned 64 bits
   */
  @Calls("tpt_optimizer_step_count")
  public long stepCount() {
    try (Call call = new Call().shared(this)) {
      MemorySegment steps = call.longs(0);
      call.check(Native.tpt_optimizer_step_count(pointer, steps));
      return steps.get(JAVA_LONG, 0);
    }
  }
}
