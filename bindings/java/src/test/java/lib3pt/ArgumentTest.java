package lib3pt;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Parameter;
import java.nio.IntBuffer;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BiPredicate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;

/**
 * What no call takes: null, text that is no Unicode, a file in an archive. Each public method is tried with each of its
 * parameters.
 */
class ArgumentTest {
  private static final Class<?>[] PUBLIC = {
    Library.class, Context.class, Config.class, Model.class, Trainer.class, Optimizer.class, Decoder.class,
    Dataset.class, Tokenizer.class
  };
  private static final Set<Class<?>> MAY_BE_NULL = Set.of(Context.class, LogFunction.class, ProgressFunction.class);
  private static final String HALF = "a\ud800";

  @TempDir Path scratch;
  private final Map<Class<?>, Object> right = new HashMap<>();

  @BeforeEach
  void make() {
    Context context = put(Context.create());
    Config config = put(Config.parse(Setup.TINY));
    Model model = put(Model.create(context, config, 1));
    Trainer trainer = put(Trainer.create(model));
    put(Optimizer.create(trainer));
    right.put(List.class, List.of(put(Decoder.create(model))));
    put(Dataset.fromTokens(context, 1, 2, 3));
    put(Tokenizer.bytes(context));
    put(new RandomState(1));
    right.put(Path.class, scratch.resolve("none"));
    right.put(MemorySegment.class, Arena.ofAuto().allocate(8, 8));
    right.put(IntBuffer.class, IntBuffer.allocate(1));
    for (Object each : new Object[] {"x", new int[2], new byte[2], new float[2], Point.EMBEDDING, MemoryUse.values()[0]})
      put(each);
    right.put(long.class, 1L);
    right.put(int.class, 1);
    right.put(double.class, 1.0);
    right.put(boolean.class, false);
  }

  private <T> T put(T value) {
    right.put(value.getClass(), value);
    return value;
  }

  @AfterEach
  void close() {
    for (Object each : right.values()) if (each instanceof Handle h) h.close();
  }

  private static List<Method> methods() {
    List<Method> all = new ArrayList<>();
    for (Class<?> c : PUBLIC)
      for (Method m : c.getDeclaredMethods()) if (Modifier.isPublic(m.getModifiers()) && !m.isSynthetic()) all.add(m);
    return all;
  }

  /** What the method says when one argument is this and the others are right. */
  private Throwable thrown(Method method, int index, Object value) throws IllegalAccessException {
    Parameter[] parameters = method.getParameters();
    Object[] arguments = Arrays.stream(parameters).map(p -> right.get(p.getType())).toArray();
    for (int i = 0; i < arguments.length; i++) // [batch, seq] of 1 x 2
      if (parameters[i].getName().equals("seq")) arguments[i] = 2L;
    arguments[index] = value;
    try {
      method.invoke(right.get(method.getDeclaringClass()), arguments);
      return null;
    } catch (InvocationTargetException e) {
      return e.getCause();
    }
  }

  private static boolean mayBeNull(Method method, Class<?> type) {
    boolean needs = method.getDeclaringClass() == Model.class && method.getName().equals("create");
    return type.isPrimitive() || MAY_BE_NULL.contains(type) || type == Config.class && !needs;
  }

  /** Each wanted parameter in turn is the value; said looks at what is thrown and at the parameter's name. */
  private void refused(Object value, int least, BiPredicate<Method, Class<?>> wanted,
      BiPredicate<Throwable, String> said) throws IllegalAccessException {
    List<String> wrong = new ArrayList<>();
    int tried = 0;
    for (Method method : methods()) {
      Parameter[] parameters = method.getParameters();
      for (int i = 0; i < parameters.length; i++) {
        if (!wanted.test(method, parameters[i].getType())) continue;
        Throwable t = thrown(method, i, value);
        tried++;
        if (!said.test(t, parameters[i].getName())) wrong.add(method + " " + parameters[i].getName() + ": " + t);
      }
    }
    assertEquals("", String.join("\n", wrong));
    assertTrue(tried > least, tried + " parameters");
  }

  @Test
  void a_null_is_named() throws Exception {
    refused(null, 50, (method, type) -> !mayBeNull(method, type),
        (t, name) -> t instanceof NullPointerException && (name + " is null").equals(t.getMessage()));
  }

  @Test
  void a_decoder_that_is_null_is_named() {
    List<Decoder> decoders = Arrays.asList((Decoder) right.get(Decoder.class), null);
    Executable feed = () -> Decoder.feedMany(decoders, 1, 2);
    assertEquals("decoders[1] is null", assertThrows(NullPointerException.class, feed).getMessage());
  }

  @Test
  void half_a_surrogate_pair_is_refused() throws Exception {
    refused(HALF, 10, (method, type) -> type == String.class,
        (t, name) -> t instanceof TptException e && e.status() == Status.ARGUMENT
            && e.getMessage().startsWith(name + " has a character that UTF-8 cannot say"));
  }

  @Test
  void a_path_of_another_file_system_is_refused() throws Exception {
    try (FileSystem zip = FileSystems.newFileSystem(scratch.resolve("some.zip"), Map.of("create", "true"))) {
      Path inside = zip.getPath(right.get(Path.class).toString());
      Files.createDirectories(inside.getParent());
      String words =
          " is " + inside + " of the file system provider \"jar\"; paths of the default file system are allowed";
      refused(inside, 10, (method, type) -> type == Path.class,
          (t, name) -> t instanceof IllegalArgumentException && (name + words).equals(t.getMessage()));
      assertTrue(Files.notExists(scratch.resolve("none")) && Files.notExists(inside));
    }
  }

  @Test
  void a_whole_surrogate_pair_is_text() {
    Tokenizer tokenizer = (Tokenizer) right.get(Tokenizer.class);
    assertEquals("\ud83d\ude00", tokenizer.decode(tokenizer.encode("\ud83d\ude00")));
  }
}
