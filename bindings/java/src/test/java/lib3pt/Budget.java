package lib3pt;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/** An allocator that never gives more than so many bytes in all at a time. */
final class Budget implements Allocator {
  final AtomicLong held = new AtomicLong();
  final AtomicLong blocks = new AtomicLong(); // given so far
  private final long budget;
  private final Map<Long, Arena> arenas = new ConcurrentHashMap<>();

  Budget(long budget) {
    this.budget = budget;
  }

  @Override
  public MemorySegment allocate(long bytes, long alignment) {
    if (bytes > budget - held.get()) return null;
    Arena arena = Arena.ofShared();
    MemorySegment memory = arena.allocate(bytes, alignment);
    arenas.put(memory.address(), arena);
    held.addAndGet(bytes);
    blocks.incrementAndGet();
    return memory;
  }

  @Override
  public void release(MemorySegment memory, long bytes, long alignment) {
    if (memory.byteSize() != bytes) throw new AssertionError("a block of another size");
    arenas.remove(memory.address()).close();
    held.addAndGet(-bytes);
  }
}
