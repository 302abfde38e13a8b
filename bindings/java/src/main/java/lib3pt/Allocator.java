package lib3pt;

import java.lang.foreign.MemorySegment;

/**
 * The host's memory. Both methods may be called from any thread, and must not call this library. What
 * they throw on the thread inside a call comes out of the call; an allocate that throws has refused.
 */
public interface Allocator {
  /**
   * A block, which stays valid until its release. One whose byteSize() is below bytes, of the Java
   * heap, or read-only is refused as if it were null: it is not used, not released, and the call
   * throws an IllegalArgumentException that says so. What a function of C gave has size 0: say the
   * true one with {@link MemorySegment#reinterpret(long)}.
   *
   * @param bytes at least so many, never 0
   * @param alignment a power of two; the address is a multiple of it
   * @return native memory, or {@link MemorySegment#NULL} (or null) where there is none
   */
  MemorySegment allocate(long bytes, long alignment);

  /**
   * Takes a block back.
   *
   * @param memory its address, with a size of bytes
   * @param bytes what it was asked with
   * @param alignment what it was asked with
   */
  void release(MemorySegment memory, long bytes, long alignment);
}
