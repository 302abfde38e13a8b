package lib3pt;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Sizes below 0, of every method, so that none that is new is forgotten. */
class SizesTest {
  private static final Set<String> SEEDED = Set.of("Model.create", "Decoder.setSampling");

  private final Map<Class<?>, Object> given = new HashMap<>();

  @BeforeEach
  void make() {
    Context context = Context.create();
    Config config = Config.parse(Setup.TINY);
    Model model = Model.create(context, config, 1);
    for (Handle h : new Handle[] {context, config, model, Trainer.create(model), Decoder.create(model),
        Dataset.fromTokens(context, 1, 2, 3, 4), Tokenizer.bytes(context)})
      given.put(h.getClass(), h);
    given.put(Optimizer.class, Optimizer.create((Trainer) given.get(Trainer.class)));
    given.putAll(Map.of(long.class, 1L, int.class, 1, String.class, "x", int[].class, new int[0],
        MemorySegment.class, MemorySegment.NULL, Point.class, Point.BLOCK, RandomState.class, new RandomState(1)));
  }

  @AfterEach
  void close() {
    for (Object each : given.values()) if (each instanceof Handle h) h.close();
  }

  private Object[] arguments(Method method) {
    Object[] arguments = new Object[method.getParameterCount()];
    for (int i = 0; i < arguments.length; i++) arguments[i] = given.get(method.getParameterTypes()[i]);
    return arguments;
  }

  private void refused(Method method, Object[] arguments, long number) {
    Throwable e = assertThrows(InvocationTargetException.class,
        () -> method.invoke(given.get(method.getDeclaringClass()), arguments), method.toString()).getCause();
    TptException wrong = assertInstanceOf(TptException.class, e, method.toString());
    assertEquals(Status.ARGUMENT, wrong.status());
    assertTrue(wrong.getMessage().matches("[a-z_]+ is " + number + "; 0 or more is allowed"), method + ": " + wrong.getMessage());
  }

  /** How many sizes the method has. */
  private int tried(Method method) {
    int sizes = 0;
    for (int i = 0; i < method.getParameterCount(); i++) {
      if (method.getParameterTypes()[i] != long.class) continue;
      sizes++;
      for (long number : new long[] {-1, Long.MIN_VALUE}) {
        Object[] arguments = arguments(method);
        arguments[i] = number;
        refused(method, arguments, number);
      }
    }
    return sizes;
  }

  /** A long is a size, but for seeds. */
  @Test
  void every_size_below_0_is_refused() {
    int sizes = 0;
    for (Class<?> kind : Handle.class.getPermittedSubclasses())
      for (Method method : kind.getDeclaredMethods())
        if (Modifier.isPublic(method.getModifiers()) && !SEEDED.contains(kind.getSimpleName() + "." + method.getName()))
          sizes += tried(method);
    assertTrue(sizes >= 30, sizes + " sizes");
  }

  @Test
  void so_is_a_count_that_is_an_int() {
    Decoder decoder = (Decoder) given.get(Decoder.class);
    for (int count : new int[] {-1, Integer.MIN_VALUE})
      for (TptException e : new TptException[] {assertThrows(TptException.class, () -> decoder.generate(count)),
          assertThrows(TptException.class, () -> decoder.generate(count, 3))})
        assertEquals("count is " + count + "; 0 or more is allowed", e.getMessage());
  }
}
