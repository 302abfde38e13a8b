package lib3pt;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** How the library is found, and what is said where it is not. Each in a process of its own. */
class LookupTest {
  private static final String SHOW = """
      import lib3pt.Library;
      import java.nio.file.Path;
      public class Show {
        public static void main(String[] args) {
          if (args.length > 0) Library.load(Path.of(args[0]));
          for (int i = 0; i < 2; i++) {
            try {
              System.out.println(Library.version().charAt(0));
            } catch (UnsatisfiedLinkError e) {
              System.out.println(e.getMessage());
              if (e.getCause() != null) System.out.println(e.getCause().getClass().getSimpleName());
            }
          }
        }
      }
      """;
  private static final String LIBRARY = System.getenv("LIB3PT_LIBRARY");

  @TempDir Path scratch;

  private Setup.Said show(List<String> options, String variable, String... arguments) throws Exception {
    Path source = scratch.resolve("Show.java");
    Files.writeString(source, SHOW);
    ProcessBuilder builder = Setup.builder(options, source.toString());
    builder.command().addAll(List.of(arguments));
    builder.environment().remove("LIB3PT_LIBRARY");
    if (variable != null) builder.environment().put("LIB3PT_LIBRARY", variable);
    return Setup.run(builder);
  }

  private static List<String> denying(String... more) throws Exception {
    List<String> options = new ArrayList<>(Setup.denying());
    options.addAll(0, List.of(more));
    return options;
  }

  @Test
  void by_path_property_and_variable() throws Exception {
    assertEquals("1\n1\n", show(denying("-Dlib3pt.library=/no/such/file"), "/no/such/file", LIBRARY).out());
    assertEquals("1\n1\n", show(denying("-Dlib3pt.library=" + LIBRARY), "/no/such/file").out());
    assertEquals("1\n1\n", show(denying(), LIBRARY).out());
  }

  @Test
  void one_sentence_where_there_is_none() throws Exception {
    String sentence = "lib3pt was not found: looked for /no/lib3pt.so (the environment variable LIB3PT_LIBRARY); "
        + "install lib3pt, or name its file in LIB3PT_LIBRARY or -Dlib3pt.library\nIllegalArgumentException\n";
    assertEquals(sentence + sentence, show(denying(), "/no/lib3pt.so").out());
  }

  @Test
  void a_name_that_is_not_found_says_how_to_learn_more() throws Exception {
    String sentence = "lib3pt was not found: looked for no3pt.so (the environment variable LIB3PT_LIBRARY); "
        + "install lib3pt, or name its file in LIB3PT_LIBRARY or -Dlib3pt.library, which also says what a library that "
        + "is there lacks\nIllegalArgumentException\n";
    assertEquals(sentence + sentence, show(denying(), "no3pt.so").out());
  }

  /** The reason is the system's, the words around it are ours. */
  private void found(Path file, String reason) throws Exception {
    String said = show(denying(), file.toString()).out();
    String start = "lib3pt was found at " + file + " (the environment variable LIB3PT_LIBRARY) but cannot be loaded: ";
    assertTrue(said.startsWith(start), said);
    assertTrue(said.contains(reason), said);
    assertTrue(said.endsWith("\nUnsatisfiedLinkError\n"), said);
  }

  @Test
  void a_file_that_is_there_says_why_it_cannot_be_loaded() throws Exception {
    Path text = Files.writeString(scratch.resolve("lib3pt.so.1"), "This is no library, but long enough.\n".repeat(99));
    found(text, "invalid ELF header");
    found(scratch, "cannot read file data");
  }

  /** A copy of the library that names a library which is not there. */
  @Test
  void a_library_that_lacks_another_says_which() throws Exception {
    String library = Files.readString(Path.of(LIBRARY), StandardCharsets.ISO_8859_1);
    assumeTrue(library.contains("\0libyaml-0.so.2\0"), "linked without libyaml");
    Path copy = Files.writeString(scratch.resolve("lib3pt.so.1"),
        library.replace("\0libyaml-0.so.2\0", "\0libyams-0.so.2\0"), StandardCharsets.ISO_8859_1);
    found(copy, "libyams-0.so.2: cannot open shared object file");
  }

  @Test
  void what_is_empty_is_not_given() throws Exception {
    assertEquals("1\n1\n", show(denying("-Dlib3pt.library="), LIBRARY).out());
    String said = show(denying("-Dlib3pt.library="), "").out();
    assertTrue(said.startsWith("1\n") || said.contains("looked for lib3pt.so.1 (its name"), said);
  }

  @Test
  void another_library_is_refused() throws Exception {
    Setup.Said said = show(denying(), "libm.so.6");
    assertEquals("libm.so.6 is not lib3pt: it has no tpt_check_version\n".repeat(2), said.out());
  }

  @Test
  void without_leave_nothing_native_is_done() throws Exception {
    List<String> options = denying();
    options.remove("--enable-native-access=lib3pt");
    if (Runtime.version().feature() < 24) options.add("--enable-native-access=java.logging");
    Setup.Said said = show(options, LIBRARY);
    assertTrue(said.status() != 0 && said.err().contains("IllegalCallerException"), said.err());
  }
}
