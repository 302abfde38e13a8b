package lib3pt;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;

/**
 * A call while it runs: the objects it uses, its temporary memory, and what a function of the host
 * threw meanwhile. Its methods but close may be used only within a try with this as its resource.
 */
final class Call implements AutoCloseable {
  private static final ThreadLocal<Call> CURRENT = new ThreadLocal<>();
  private static final Charset PATHS = Charset.forName(System.getProperty("sun.jnu.encoding", "UTF-8"));
  private static final int FIRST_TEXT = 512;

  private final Call outer = CURRENT.get();
  private Handle[] handles = new Handle[2];
  private Use[] uses = new Use[2];
  private int count;
  private Arena arena;
  private Throwable thrown;
  private Handle made;
  boolean interrupted;

  Call() {
    CURRENT.set(this);
  }

  /** The one that this thread is inside of; null where there is none. */
  static Call current() {
    return CURRENT.get();
  }

  /* ---- beginning ---- */

  Call any(Handle handle) {
    return use(handle, Use.ANY);
  }

  Call shared(Handle handle) {
    return use(handle, Use.SHARED);
  }

  Call alone(Handle handle) {
    return use(handle, Use.ALONE);
  }

  /** handle: null is left out, and what has entered already. */
  private Call use(Handle handle, Use use) {
    if (handle == null) return this;
    for (int i = 0; i < count; i++) if (handles[i] == handle) return this;
    for (int i = 0; i < count && use != Use.ANY; i++) if (handles[i].guard == handle.guard) use = Use.ANY;
    if (count == handles.length) {
      handles = Arrays.copyOf(handles, 2 * count);
      uses = Arrays.copyOf(uses, 2 * count);
    }
    try {
      handle.enter(use);
    } catch (Throwable e) {
      close();
      throw e;
    }
    handles[count] = handle;
    uses[count++] = use;
    return this;
  }

  /** A call that may be cancelled does not begin on an interrupted thread. */
  Call cancellable() {
    if (!Thread.currentThread().isInterrupted()) return this;
    close();
    throw new TptInterruptedException("the thread was interrupted before the call");
  }

  Handle first() {
    return count > 0 ? handles[0] : null;
  }

  /* ---- ending ---- */

  /** Keeps the first thing that a function of the host threw. */
  void threw(Throwable t) {
    if (thrown == null) thrown = t;
  }

  boolean hasThrown() {
    return thrown != null;
  }

  void check(int status) {
    if (status == Native.TPT_OK) return;
    rethrow();
    if (interrupted && status == Native.TPT_E_CANCELLED) // C only knows that this package's function ended it
      throw new TptInterruptedException("the thread was interrupted, which ended the call");
    throw new TptException(status, message());
  }

  /**
   * Of the failure just now. An object used alone has it, also where a virtual thread has moved; one
   * that is shared may have that of another thread's call, so there it is this thread's.
   */
  private String message() {
    boolean own = count > 0 && uses[0] == Use.ALONE;
    return own ? handles[0].errorText() : Library.text(Native.tpt_error_message());
  }

  private void rethrow() {
    Throwable t = thrown;
    thrown = null;
    if (t == null) return;
    if (t instanceof Error e) throw e;
    if (t instanceof RuntimeException e) throw e;
    throw new IllegalStateException(t);
  }

  /** A new object, closed again where a log function threw though the call succeeded. */
  <T extends Handle> T made(T handle) {
    made = handle;
    return handle;
  }

  @Override
  public void close() {
    CURRENT.set(outer);
    if (arena != null) arena.close();
    while (count > 0) handles[--count].leave(uses[count]);
    if (thrown != null && made != null) made.close();
    rethrow();
  }

  /* ---- arguments and results ---- */

  Arena arena() {
    if (arena == null) arena = Arena.ofConfined();
    return arena;
  }

  static MemorySegment pointer(Handle handle) {
    return handle == null ? MemorySegment.NULL : handle.pointer;
  }

  /** The pointer of an object that must be there. */
  static MemorySegment pointer(Handle handle, String what) {
    return given(handle, what).pointer;
  }

  /** An argument that must not be null. */
  static <T> T given(T value, String what) {
    if (value == null) throw new NullPointerException(what + " is null");
    return value;
  }

  MemorySegment place() {
    return arena().allocate(ADDRESS);
  }

  MemorySegment longs(long... values) {
    return arena().allocateFrom(JAVA_LONG, values);
  }

  MemorySegment ints(int[] values, String what) {
    return ints(given(values, what));
  }

  MemorySegment ints(int... values) {
    return arena().allocateFrom(JAVA_INT, values);
  }

  MemorySegment floats(float[] values, String what) {
    return arena().allocateFrom(JAVA_FLOAT, given(values, what));
  }

  MemorySegment bytes(byte... values) {
    return arena().allocateFrom(JAVA_BYTE, values);
  }

  /** NUL-terminated. */
  MemorySegment text(String text, String what) {
    return terminated(utf8(text, what), what);
  }

  MemorySegment path(Path path) {
    return terminated(encoded(given(path, "path").toString(), PATHS, "path"), "path");
  }

  static byte[] utf8(String text, String what) {
    return encoded(given(text, what), StandardCharsets.UTF_8, what);
  }

  /** The bytes of a text; String.getBytes would make a question mark of what has none. */
  private static byte[] encoded(String text, Charset charset, String what) {
    try {
      ByteBuffer bytes = charset.newEncoder().encode(CharBuffer.wrap(text));
      return Arrays.copyOf(bytes.array(), bytes.limit());
    } catch (CharacterCodingException e) {
      throw wrong(what + " has a character that " + charset
          + " cannot say, as half of a surrogate pair; whole characters of it are allowed");
    }
  }

  private MemorySegment terminated(byte[] bytes, String what) {
    for (byte b : bytes) if (b == 0) throw wrong(what + " has a NUL character, which ends a text in C");
    return bytes(Arrays.copyOf(bytes, bytes.length + 1));
  }

  static TptException wrong(String message) {
    return new TptException(Status.ARGUMENT, message);
  }

  /** How many elements of a size a segment of the host's has. */
  static long elements(MemorySegment segment, long size, String what) {
    if (given(segment, what).byteSize() % size == 0) return segment.byteSize() / size;
    throw wrong(what + " has " + segment.byteSize() + " bytes; a multiple of " + size + " is allowed");
  }

  /** The same of one that is written. */
  static long room(MemorySegment segment, long size, String what) {
    if (given(segment, what).isReadOnly()) throw wrong(what + " is read-only");
    return elements(segment, size, what);
  }

  static void need(long have, long want, String what) {
    if (have != want) throw wrong(what + " has " + have + " elements; it must have " + want);
  }

  /** A number that C takes as a size_t, which would make a huge one of what is below 0. */
  static long size(long number, String what) {
    if (number >= 0) return number;
    throw wrong(what + " is " + number + "; 0 or more is allowed");
  }

  /** batch x seq, as C counts them. */
  static long product(long batch, long seq) {
    long count = size(batch, "batch") * size(seq, "seq");
    if (Math.multiplyHigh(batch, seq) == 0 && count >= 0) return count;
    throw wrong("batch " + batch + " x seq " + seq + " is no size");
  }

  /** The same as the length of a Java array. */
  static int arrayProduct(long batch, long seq) {
    return array(product(batch, seq));
  }

  /** count: 0 or more. */
  static int array(long count) {
    if (count <= Integer.MAX_VALUE - 8) return (int) count;
    throw wrong(count + " elements do not fit in a Java array; use a MemorySegment");
  }

  /** A function with a text result. */
  interface TextResult {
    int get(MemorySegment text, long room, MemorySegment length);
  }

  String string(TextResult function) {
    return new String(result(function, FIRST_TEXT), StandardCharsets.UTF_8);
  }

  static String string(Arena arena, TextResult function) {
    MemorySegment text = arena.allocate(FIRST_TEXT);
    return function.get(text, FIRST_TEXT, arena.allocate(JAVA_LONG)) == Native.TPT_OK ? text.getString(0) : "";
  }

  /** Asks with some room, and again where it was too little; a NUL takes one more byte. */
  byte[] result(TextResult function, long room) {
    MemorySegment length = longs(0);
    for (;;) {
      MemorySegment text = arena().allocate(room);
      check(function.get(text, room, length));
      long have = length.get(JAVA_LONG, 0);
      if (have < room) return text.asSlice(0, array(have)).toArray(JAVA_BYTE);
      room = have + 1;
    }
  }

  /** The same of ids. */
  int[] idResult(TextResult function, long room) {
    MemorySegment length = longs(0);
    for (;;) {
      MemorySegment ids = arena().allocate(JAVA_INT, room);
      check(function.get(ids, room, length));
      long have = length.get(JAVA_LONG, 0);
      if (have <= room) return ids.asSlice(0, JAVA_INT.byteSize() * array(have)).toArray(JAVA_INT);
      room = have;
    }
  }
}
