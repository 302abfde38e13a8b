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
import java.nio.file.FileSystems;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * A call while it runs: the objects it uses, its temporary memory, and what a function of the host
 * threw meanwhile. Its methods but close may be used only within a try with this as its resource.
 */
final class Call implements AutoCloseable {
  private static final ThreadLocal<Call> CURRENT = new ThreadLocal<>();
  private static final Charset PATHS = Charset.forName(System.getProperty("sun.jnu.encoding", "UTF-8"));
  private static final int FIRST_TEXT = 512;
  private static final int MOST_OF_ARRAY = Integer.MAX_VALUE - 8; // elements that every JVM gives

  private final Call outer = CURRENT.get();
  private Handle[] handles = new Handle[2];
  private int count;
  private Guard[] guards = new Guard[3]; // most calls need no more: of the object, its context and its model
  private int held;
  private boolean own; // nobody else uses the first object
  private Arena arena;
  private Throwable thrown;
  private Handle made;
  private List<Long> below = List.of(); // indices below 0
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

  /** handle: whose model's weights change. */
  Call writing(Handle handle) {
    return use(handle, Use.WRITING);
  }

  /** handle: null is left out, and what has entered already. */
  private Call use(Handle handle, Use use) {
    if (handle == null) return this;
    for (int i = 0; i < count; i++) if (handles[i] == handle) return this;
    if (count == handles.length) handles = Arrays.copyOf(handles, 2 * count);
    try {
      handle.hold();
      handles[count++] = handle;
      if (use != Use.ANY) enter(handle, use);
    } catch (Throwable e) {
      close();
      throw e;
    }
    return this;
  }

  private void enter(Handle handle, Use use) {
    boolean alone = use != Use.SHARED;
    take(handle.context, false, "the context of the ", handle);
    take(handle.guard, alone, "the ", handle);
    take(handle.weights, use == Use.WRITING, handle instanceof Model ? "the " : "the model of the ", handle);
    handle.endTurn();
    if (count == 1) own = alone;
  }

  /** guard: null is left out, and what this call has already: who has it alone comes first. */
  private void take(Guard guard, boolean alone, String what, Handle handle) {
    if (guard == null) return;
    for (int i = 0; i < held; i++) if (guards[i] == guard) return;
    if (held == guards.length) guards = Arrays.copyOf(guards, 2 * held);
    if (alone ? !guard.take() : !guard.share())
      throw new IllegalStateException(what + handle.name() + " is in use by another call");
    guards[held++] = guard;
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
    String text = own ? handles[0].errorText() : Library.text(Native.tpt_error_message());
    for (long index : below) text = text.replace(Long.toUnsignedString(index), Long.toString(index));
    return text;
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
    while (held > 0) guards[--held].leave();
    while (count > 0) handles[--count].release();
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
    return terminated(encoded(local(path, "path").toString(), PATHS, "path"), "path");
  }

  /** A path that C can open: that of a file in an archive would name another file, or none, on the disk. */
  static Path local(Path path, String what) {
    if (given(path, what).getFileSystem() == FileSystems.getDefault()) return path;
    throw new IllegalArgumentException(what + " is " + path + " of the file system provider \""
        + path.getFileSystem().provider().getScheme() + "\"; paths of the default file system are allowed");
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

  /** whose: what says how many there must be. */
  static void need(long have, long want, String what, String whose) {
    if (have != want) throw wrong(what + " has " + have + " values; " + whose + " needs " + want);
  }

  static void needProduct(long have, long batch, long seq, String what) {
    need(have, product(batch, seq), what, "batch x seq, " + batch + " x " + seq + ",");
  }

  /** A count, which C takes as a size_t: that would make a huge one of what is below 0. */
  static long size(long number, String what) {
    if (number >= 0) return number;
    throw wrong(what + " is " + number + "; it cannot be negative");
  }

  /** Where something is, of which C knows how much there is: it refuses what is below 0 with what is allowed. */
  long index(long number) {
    if (number >= 0) return number;
    below = new ArrayList<>(below);
    below.add(number);
    return number;
  }

  /** batch x seq, as C counts them. */
  static long product(long batch, long seq) {
    long count = size(batch, "batch") * size(seq, "seq");
    if (Math.multiplyHigh(batch, seq) == 0 && count >= 0) return count;
    throw wrong("batch x seq, " + batch + " x " + seq + ", is more than there can be");
  }

  /** The length of a Java array. count: 0 or more. instead: a method that gives so many, "" where there is none. */
  static int array(long count, String instead) {
    if (count <= MOST_OF_ARRAY) return (int) count;
    throw wrong(count + " values are more than a Java array holds, " + MOST_OF_ARRAY
        + (instead.isEmpty() ? "" : "; use " + instead));
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
      if (have < room) return text.asSlice(0, array(have, "")).toArray(JAVA_BYTE);
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
      if (have <= room) return ids.asSlice(0, JAVA_INT.byteSize() * array(have, "")).toArray(JAVA_INT);
      room = have;
    }
  }
}
