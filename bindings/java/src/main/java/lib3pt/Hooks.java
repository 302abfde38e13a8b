package lib3pt;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The host's functions of a context. C gets one function for all contexts, which is never freed, and
 * a number as its user pointer; the number goes with the context's last holder. Nothing thrown
 * leaves them: an exception that reaches C ends the process.
 */
@SuppressWarnings("restricted")
final class Hooks {
  static final MemorySegment LOG = stub("log", Native.tpt_log_fn);
  static final MemorySegment PROGRESS = stub("progress", Native.tpt_progress_fn);
  static final MemorySegment DONE = stub("done", Native.tpt_done_fn);
  static final MemorySegment ALLOCATE = stub("allocate", Native.tpt_allocator_allocate);
  static final MemorySegment RELEASE = stub("release", Native.tpt_allocator_release);

  private static final Map<Long, Object> REGISTERED = new ConcurrentHashMap<>();
  private static final AtomicLong LAST = new AtomicLong();

  volatile LogFunction log;
  volatile ProgressFunction progress;
  volatile MemorySegment allocator = MemorySegment.NULL; // number of the one in use

  private static MemorySegment stub(String name, FunctionDescriptor types) {
    MethodType type = types.toMethodType();
    try {
      var function = MethodHandles.lookup().findStatic(Hooks.class, name, type);
      return Linker.nativeLinker().upcallStub(function, types, Arena.global());
    } catch (ReflectiveOperationException e) {
      throw new AssertionError(e);
    }
  }

  static MemorySegment register(Object object) {
    long number = LAST.incrementAndGet();
    REGISTERED.put(number, object);
    return MemorySegment.ofAddress(number);
  }

  static void forget(MemorySegment number) {
    REGISTERED.remove(number.address());
  }

  /** For the tests: nothing stays behind. */
  static int registered() {
    return REGISTERED.size();
  }

  /* ---- called by C ---- */

  private static void log(MemorySegment user, int level, MemorySegment text) {
    Call call = Call.current();
    try {
      LogFunction log = ((Hooks) REGISTERED.get(user.address())).log;
      if (log != null && !call.hasThrown()) log.log(level, Library.text(text));
    } catch (Throwable t) {
      if (call != null) call.threw(t);
    }
  }

  private static int progress(MemorySegment user, MemorySegment handle, double done) {
    Call call = Call.current();
    try {
      if (call.hasThrown()) return 1;
      if (Thread.currentThread().isInterrupted()) {
        call.interrupted = true;
        return 1;
      }
      ProgressFunction progress = ((Hooks) REGISTERED.get(user.address())).progress;
      return progress == null || progress.proceed(call.first(), done) ? 0 : 1;
    } catch (Throwable t) {
      if (call != null) call.threw(t);
      return 1;
    }
  }

  private static void done(MemorySegment user) {
    if (REGISTERED.remove(user.address()) instanceof Hooks hooks) forget(hooks.allocator);
  }

  private static MemorySegment allocate(MemorySegment user, long bytes, long alignment) {
    try {
      MemorySegment memory = ((Allocator) REGISTERED.get(user.address())).allocate(bytes, alignment);
      if (memory == null || memory.isNative() && memory.address() == 0) return MemorySegment.NULL;
      return fitting(memory, bytes);
    } catch (Throwable t) {
      Call call = Call.current();
      if (call != null) call.threw(t);
      return MemorySegment.NULL;
    }
  }

  /** The block, which C will write to its end: one that is shorter would spoil what is behind it. */
  private static MemorySegment fitting(MemorySegment memory, long bytes) {
    if (!memory.isNative()) throw new IllegalArgumentException("the allocator gave a block of the Java heap");
    if (memory.isReadOnly()) throw new IllegalArgumentException("the allocator gave a block that is read-only");
    if (memory.byteSize() >= bytes) return memory;
    throw new IllegalArgumentException("the allocator gave a block of " + memory.byteSize() + " bytes where " + bytes
        + " were asked for; where its size is not known, reinterpret(bytes) says it");
  }

  private static void release(MemorySegment user, MemorySegment memory, long bytes, long alignment) {
    try {
      ((Allocator) REGISTERED.get(user.address())).release(memory.reinterpret(bytes), bytes, alignment);
    } catch (Throwable t) {
      Call call = Call.current();
      if (call != null) call.threw(t);
    }
  }
}
