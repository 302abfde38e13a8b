package lib3pt;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.io.File;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.nio.file.Path;

/**
 * The C library: where it is, which version. It is loaded at the first use of this package, from the
 * first of these that is given: {@link #load}, the system property {@code lib3pt.library}, the
 * environment variable {@code LIB3PT_LIBRARY} (all three the path of a file; an empty one counts as
 * not given), or by its name where the system looks for libraries. Only 64-bit systems are supported.
 */
@SuppressWarnings("restricted")
public final class Library {
  private static volatile SymbolLookup found;

  private Library() {}

  /**
   * Loads the library from a file.
   *
   * @param file lib3pt.so.1 or the like
   * @throws IllegalArgumentException where file is not of the default file system
   * @throws IllegalStateException where one is loaded already
   * @throws UnsatisfiedLinkError where it cannot be loaded, whose cause then is the JVM's own error, or
   *     has another major version or an older one than this package was made for
   */
  public static synchronized void load(Path file) {
    Call.local(file, "file");
    if (found != null) throw new IllegalStateException("lib3pt is loaded already");
    found = open(file.toAbsolutePath().toString(), "the path given to Library.load");
  }

  static SymbolLookup find() {
    SymbolLookup lookup = found;
    return lookup != null ? lookup : findOnce();
  }

  private static synchronized SymbolLookup findOnce() {
    if (found != null) return found;
    String property = System.getProperty("lib3pt.library");
    String variable = System.getenv("LIB3PT_LIBRARY");
    if (isGiven(property)) return found = open(property, "the system property lib3pt.library");
    if (isGiven(variable)) return found = open(variable, "the environment variable LIB3PT_LIBRARY");
    return found = open(Native.SONAME, "its name, where the system looks for libraries");
  }

  private static boolean isGiven(String name) {
    return name != null && !name.isEmpty();
  }

  private static SymbolLookup open(String name, String source) {
    SymbolLookup lookup;
    if (ADDRESS.byteSize() != Long.BYTES)
      throw new UnsatisfiedLinkError("lib3pt for Java needs a 64-bit system");
    try {
      lookup = name.contains("/")
          ? SymbolLookup.libraryLookup(Path.of(name), Arena.global())
          : SymbolLookup.libraryLookup(name, Arena.global());
    } catch (IllegalArgumentException e) {
      throw notLoaded(name, source, e);
    }
    checkVersion(lookup, name);
    return lookup;
  }

  /** Why not, as far as the JVM says: of a name, which no file has to have, it does not. */
  private static UnsatisfiedLinkError notLoaded(String name, String source, Throwable cause) {
    String said;
    if (name.contains("/") && new File(name).exists()) {
      cause = reason(new File(name), cause);
      said = "lib3pt was found at " + name + " (" + source + ") but cannot be loaded: " + cause.getMessage();
    } else {
      said = "lib3pt was not found: looked for " + name + " (" + source
          + "); install lib3pt, or name its file in LIB3PT_LIBRARY or -Dlib3pt.library";
      if (!name.contains("/")) said += ", which also says what a library that is there lacks";
    }
    UnsatisfiedLinkError error = new UnsatisfiedLinkError(said);
    error.initCause(cause);
    return error;
  }

  /** The system's words, which System.load has and libraryLookup has not. known: where these are not to be had. */
  private static Throwable reason(File file, Throwable known) {
    try {
      System.load(file.getAbsolutePath());
      return known;
    } catch (UnsatisfiedLinkError e) {
      return e;
    }
  }

  private static MemorySegment symbol(SymbolLookup lookup, String symbol, String name) {
    return lookup.find(symbol)
        .orElseThrow(() -> new UnsatisfiedLinkError(name + " is not lib3pt: it has no " + symbol));
  }

  /** Before Native is touched, which needs every function of its version. */
  private static void checkVersion(SymbolLookup lookup, String name) {
    Linker linker = Linker.nativeLinker();
    var check = linker.downcallHandle(symbol(lookup, "tpt_check_version", name),
        FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT));
    var message = linker.downcallHandle(symbol(lookup, "tpt_error_message", name),
        FunctionDescriptor.of(ADDRESS));
    try {
      int status = (int) check.invokeExact(
          Native.VERSION_MAJOR, Native.VERSION_MINOR, Native.VERSION_PATCH);
      if (status == Native.TPT_OK) return;
      throw new UnsatisfiedLinkError(name + ": " + text((MemorySegment) message.invokeExact()));
    } catch (Throwable t) {
      if (t instanceof Error e) throw e;
      throw new IllegalStateException(t);
    }
  }

  /** A text of the library's; null of NULL. */
  static String text(MemorySegment address) {
    return address.equals(MemorySegment.NULL) ? null : address.reinterpret(Long.MAX_VALUE).getString(0);
  }

  /**
   * The version of the library in use.
   *
   * @return as "1.0.0"
   */
  @Calls("tpt_version")
  public static String version() {
    find();
    return text(Native.tpt_version());
  }

  /**
   * Is the library of this major version and at least this one?
   *
   * @param major first number
   * @param minor second number
   * @param patch third number
   * @throws TptException UNSUPPORTED: it is not; both versions are in the message
   */
  @Calls("tpt_check_version")
  public static void checkVersion(int major, int minor, int patch) {
    find();
    try (Call call = new Call()) {
      call.check(Native.tpt_check_version(major, minor, patch));
    }
  }

  /**
   * Which kernels, instruction sets and options are in use, for a bug report.
   *
   * @return one line
   */
  @Calls("tpt_build_info")
  public static String buildInfo() {
    find();
    return text(Native.tpt_build_info());
  }

  /**
   * The name of a status in C.
   *
   * @param status any number
   * @return as "TPT_E_IO"
   */
  @Calls("tpt_status_name")
  public static String statusName(int status) {
    find();
    return text(Native.tpt_status_name(status));
  }

  /**
   * This thread's last failure. Exceptions have it already.
   *
   * @return one line, "" before the first failure
   */
  @Calls("tpt_error_message")
  public static String errorMessage() {
    find();
    return text(Native.tpt_error_message());
  }
}
