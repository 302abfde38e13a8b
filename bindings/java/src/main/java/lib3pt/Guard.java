package lib3pt;

import java.util.concurrent.atomic.AtomicInteger;

/** Who uses what counts as one object: nobody, any number of readers, or one caller alone. */
final class Guard {
  private static final int ALONE = -1;
  private final AtomicInteger users = new AtomicInteger();

  boolean share() {
    for (int now = users.get(); now != ALONE; now = users.get())
      if (users.compareAndSet(now, now + 1)) return true;
    return false;
  }

  boolean take() {
    return users.compareAndSet(0, ALONE);
  }

  /** Of who has it: until then it stays alone, or shared. */
  void leave() {
    if (users.get() == ALONE) users.set(0);
    else users.decrementAndGet();
  }
}
