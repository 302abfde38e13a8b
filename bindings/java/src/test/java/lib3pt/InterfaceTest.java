package lib3pt;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.foreign.MemoryLayout.PathElement;
import java.lang.foreign.StructLayout;
import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** Everything in 3pt.json is here: declared, and reached by a public method. */
class InterfaceTest {
  private static final Class<?>[] PUBLIC = {
    Library.class, Handle.class, Context.class, Config.class, Model.class, Trainer.class, Optimizer.class,
    Decoder.class, Dataset.class, Tokenizer.class
  };

  private static Set<String> names(Vector interfaces, String list) {
    Set<String> names = new TreeSet<>();
    for (Vector each : interfaces.all(list)) names.add(each.text("name"));
    return names;
  }

  @Test
  void every_function_is_declared() throws Exception {
    for (Vector f : Setup.description().all("functions")) {
      int arguments = f.list("arguments").size();
      assertTrue(Arrays.stream(Native.class.getDeclaredMethods())
          .anyMatch(m -> m.getName().equals(f.text("name")) && m.getParameterCount() == arguments), f.text("name"));
    }
  }

  @Test
  void every_enum_value_is_declared() throws Exception {
    for (Vector e : Setup.description().all("enums"))
      for (Vector v : e.all("values"))
        assertEquals(v.number("value"), Native.class.getDeclaredField(v.text("name")).getInt(null), v.text("name"));
    for (Status s : Status.values())
      if (s != Status.UNKNOWN) assertTrue(Library.statusName(s.value()).endsWith(s.name()), s.name());
  }

  @Test
  void every_struct_is_declared() throws Exception {
    for (Vector s : Setup.description().all("structs")) {
      StructLayout layout = (StructLayout) Native.class.getDeclaredField(s.text("name")).get(null);
      assertEquals(s.list("fields").size(), layout.memberLayouts().size(), s.text("name"));
      for (Vector f : s.all("fields")) layout.byteOffset(PathElement.groupElement(f.text("name")));
    }
  }

  private static void collect(AnnotatedElement element, Set<String> reached) {
    Calls calls = element.getAnnotation(Calls.class);
    if (calls != null) reached.addAll(Set.of(calls.value()));
  }

  @Test
  void every_function_is_reached() throws Exception {
    Set<String> reached = new TreeSet<>();
    for (Class<?> c : PUBLIC) {
      collect(c, reached);
      for (Method m : c.getDeclaredMethods()) if (Modifier.isPublic(m.getModifiers())) collect(m, reached);
    }
    Set<String> missing = names(Setup.description(), "functions");
    assertTrue(missing.containsAll(reached), reached.toString());
    missing.removeAll(reached);
    assertEquals(Set.of(), missing);
  }

  @Test
  void every_function_is_called() throws Exception {
    StringBuilder sources = new StringBuilder();
    Path folder = Setup.here().resolve("src/main/java/lib3pt");
    try (DirectoryStream<Path> files = Files.newDirectoryStream(folder, "*.java")) {
      for (Path file : files)
        if (!file.endsWith("Native.java")) sources.append(Files.readString(file)).append('\n');
    }
    for (String name : names(Setup.description(), "functions"))
      assertTrue(sources.toString().matches("(?s).*Native(\\.|::)" + name + "\\b.*"), name);
  }

  @Test
  void the_generated_files_are_up_to_date() throws IOException, InterruptedException {
    Process process = new ProcessBuilder("python3", Setup.here().resolve("generate.py").toString())
        .redirectErrorStream(true).start();
    String said = new String(process.getInputStream().readAllBytes());
    assertEquals(0, process.waitFor(), said);
  }

  @Test
  void the_library_names_itself() {
    assertTrue(Library.version().startsWith("1."));
    assertTrue(Library.buildInfo().length() > 0);
    assertEquals("TPT_E_IO", Library.statusName(Native.TPT_E_IO));
    Library.checkVersion(1, 0, 0);
  }
}
