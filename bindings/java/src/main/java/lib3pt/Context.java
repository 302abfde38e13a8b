package lib3pt;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemoryLayout.PathElement;
import java.lang.foreign.MemorySegment;

/**
 * Threads, allocator, log and progress function of what is made from it. Any number of threads may
 * make things from one. Where a method takes a context it may be null: then the defaults hold.
 */
@Calls("tpt_context_destroy")
public final class Context extends Handle {
  private final Hooks hooks;

  private Context(MemorySegment pointer, Hooks hooks) {
    super(pointer, new Guard(), null, Native::tpt_context_destroy);
    this.hooks = hooks;
  }

  /**
   * A context with as many threads as the process may use.
   *
   * @return to be closed
   */
  @Calls("tpt_context_create")
  public static Context create() {
    Library.find();
    try (Call call = new Call()) {
      MemorySegment place = call.place();
      call.check(Native.tpt_context_create(place));
      Hooks hooks = new Hooks();
      Context context = new Context(place.get(ADDRESS, 0), hooks);
      MemorySegment number = Hooks.register(hooks);
      call.check(Native.tpt_context_set_log(context.pointer, Hooks.LOG, number, MemorySegment.NULL));
      call.check(Native.tpt_context_set_progress(context.pointer, Hooks.PROGRESS, number, Hooks.DONE));
      return context;
    }
  }

  /** What makes something from a context. */
  interface Maker<T> {
    T make(Context context);
  }

  /** With the context, or one of the object's own where it is null: that too can be interrupted. */
  static <T> T with(Context context, Maker<T> maker) {
    if (context != null) return maker.make(context);
    try (Context own = create()) {
      return maker.make(own);
    }
  }

  /**
   * Threads of a call, the caller's own among them. Only while no call runs on anything made from the
   * context, and none begins meanwhile: else an IllegalStateException.
   *
   * @param threads 1 to 256; 0 as many as the process may use
   * @throws TptException ARGUMENT
   */
  @Calls("tpt_context_set_threads")
  public void setThreads(int threads) {
    try (Call call = new Call().alone(this)) {
      call.check(Native.tpt_context_set_threads(pointer, threads));
    }
  }

  /**
   * How many threads a call uses now.
   *
   * @return 1 or more
   */
  @Calls("tpt_context_threads")
  public int threads() {
    try (Call call = new Call().shared(this)) {
      MemorySegment threads = call.ints(0);
      call.check(Native.tpt_context_threads(pointer, threads));
      return threads.get(JAVA_INT, 0);
    }
  }

  /**
   * The allocator of everything made from the context from now on.
   *
   * @param allocator in use until all that was made is closed
   * @throws TptException STATE: something made from the context is alive; MEMORY: it refused
   */
  @Calls("tpt_context_set_allocator")
  public void setAllocator(Allocator allocator) {
    MemorySegment number = Hooks.register(Call.given(allocator, "allocator"));
    MemorySegment unused = number;
    try (Call call = new Call().alone(this); Arena arena = Arena.ofConfined()) {
      MemorySegment given = arena.allocate(Native.tpt_allocator);
      given.set(JAVA_LONG, 0, given.byteSize());
      put(given, "user", number);
      put(given, "allocate", Hooks.ALLOCATE);
      put(given, "release", Hooks.RELEASE);
      call.check(Native.tpt_context_set_allocator(pointer, given));
      unused = hooks.allocator;
      hooks.allocator = number;
    } finally {
      Hooks.forget(unused);
    }
  }

  private static void put(MemorySegment given, String field, MemorySegment value) {
    given.set(ADDRESS, Native.tpt_allocator.byteOffset(PathElement.groupElement(field)), value);
  }

  /**
   * Where messages go that are no failures of a call. From any thread; what it throws comes out of
   * the call that gave the message.
   *
   * @param log null: silence
   */
  @Calls("tpt_context_set_log")
  public void setLog(LogFunction log) {
    try (Call call = new Call().any(this)) {
      hooks.log = log;
    }
  }

  /**
   * Asked every few milliseconds of a long call. From any thread; what it throws ends the call and
   * comes out of it.
   *
   * @param progress null: long calls run on
   */
  @Calls("tpt_context_set_progress")
  public void setProgress(ProgressFunction progress) {
    try (Call call = new Call().any(this)) {
      hooks.progress = progress;
    }
  }

  /**
   * From any thread: running and coming long calls end with CANCELLED until it is switched off.
   *
   * @param on false: off
   */
  @Calls("tpt_context_cancel")
  public void cancel(boolean on) {
    try (Call call = new Call().any(this)) {
      call.check(Native.tpt_context_cancel(pointer, on ? 1 : 0));
    }
  }
}
