package lib3pt;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Parameter;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

/** Sizes that are wrong: below 0, of every method, so that none that is new is forgotten; of arrays; beyond arrays. */
class SizesTest {
  private static final Set<String> SEEDED = Set.of("Model.create", "Decoder.setSampling");
  /** What C refuses itself, and says what is allowed. */
  private static final Map<String, String> ALLOWED = Map.of(
      "layer", "layer is %s; 0 to 1 is allowed", "phase", "phase is %s; 0 to 2 is allowed",
      "first", "first is %s, count 1; positions 0 to 31 are allowed",
      "position", "position is %s; the decoder holds 0 tokens",
      "index", "index is %s; the dataset has 3 windows of 1 token: the dataset in memory");

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
        MemorySegment.class, Arena.ofAuto().allocate(4, 4), Point.class, Point.BLOCK,
        RandomState.class, new RandomState(1)));
  }

  private <T> T one(Class<T> kind) {
    return kind.cast(given.get(kind));
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

  /** A parameter's name as C spells it. */
  private static String spelt(Parameter parameter) {
    return parameter.getName().replaceAll("([A-Z])", "_$1").toLowerCase();
  }

  private void refused(Method method, Parameter parameter, Object[] arguments, long number) {
    Throwable e = assertThrows(InvocationTargetException.class,
        () -> method.invoke(given.get(method.getDeclaringClass()), arguments), method.toString()).getCause();
    TptException wrong = assertInstanceOf(TptException.class, e, method.toString());
    assertEquals(Status.ARGUMENT, wrong.status());
    String words = ALLOWED.getOrDefault(parameter.getName(), spelt(parameter) + " is %s; it cannot be negative");
    assertEquals(words.formatted(number), wrong.getMessage(), method.toString());
  }

  /** How many sizes the method has. */
  private int tried(Method method) {
    int sizes = 0;
    Parameter[] parameters = method.getParameters();
    for (int i = 0; i < parameters.length; i++) {
      if (parameters[i].getType() != long.class) continue;
      sizes++;
      for (long number : new long[] {-1, Long.MIN_VALUE}) {
        Object[] arguments = arguments(method);
        arguments[i] = number;
        refused(method, parameters[i], arguments, number);
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
    Decoder decoder = one(Decoder.class);
    for (int count : new int[] {-1, Integer.MIN_VALUE})
      for (TptException e : new TptException[] {assertThrows(TptException.class, () -> decoder.generate(count)),
          assertThrows(TptException.class, () -> decoder.generate(count, 3))})
        assertEquals("count is " + count + "; it cannot be negative", e.getMessage());
  }

  private static void says(String words, Executable call) {
    TptException e = assertThrows(TptException.class, call);
    assertEquals(words, e.getMessage());
    assertEquals(Status.ARGUMENT, e.status());
  }

  @Test
  void an_array_of_a_wrong_length_is_refused_before_the_call() {
    Trainer trainer = one(Trainer.class);
    Dataset data = one(Dataset.class);
    int[] two = new int[2], three = new int[3];
    MemorySegment ints = Arena.ofAuto().allocate(8, 8), more = Arena.ofAuto().allocate(16, 8);
    says("tokens has 3 values; batch x seq, 1 x 2, needs 2", () -> trainer.forward(three, 1, 2));
    says("tokens has 3 values; batch x seq, 1 x 2, needs 2", () -> trainer.accumulate(three, two, 1, 2));
    says("targets has 3 values; batch x seq, 1 x 2, needs 2", () -> trainer.accumulate(two, three, 1, 2));
    says("tokens has 4 values; batch x seq, 1 x 2, needs 2", () -> data.random(new RandomState(1), 1, 2, more, ints));
    says("targets has 4 values; batch x seq, 1 x 2, needs 2", () -> data.random(new RandomState(1), 1, 2, ints, more));
    says("targets has 4 values; one for each of tokens needs 2", () -> data.window(0, ints, more));
    trainer.forward(two, 1, 2);
    says("targets has 3 values; batch x seq, 1 x 2, needs 2", () -> trainer.loss(three));
    trainer.accumulate(new int[1], new int[1], 1, 1);
    for (int count : new int[] {0, 1, 2, 3}) { // no forward to take a loss of
      TptException e = assertThrows(TptException.class, () -> trainer.loss(new int[count]));
      assertEquals(Status.STATE, e.status());
    }
    Decoder decoder = one(Decoder.class);
    says("tokens has 2 values; one for each decoder needs 1", () -> Decoder.feedMany(List.of(decoder), two));
    says("logits has 2 values; model.vocab_size needs 256", () -> decoder.feed(ints, ints));
    says("likely has 1 values; one for each of tokens needs 2", () -> decoder.score(ints, ints));
  }

  @Test
  void a_product_beyond_what_there_can_be_is_refused() {
    String words = "batch x seq, 4611686018427387904 x 4, is more than there can be";
    says(words, () -> one(Trainer.class).forward(new int[4], 1L << 62, 4));
    says(words, () -> one(Trainer.class).accumulate(new int[4], new int[4], 1L << 62, 4));
    says(words, () -> one(Dataset.class).random(new RandomState(1), 1L << 62, 4));
  }

  /** No array is made for what C refuses; only where it would not, and another method can, that is said. */
  @Test
  void what_no_array_holds_is_refused_by_c() {
    Dataset data = one(Dataset.class);
    for (long count : new long[] {33, 1L << 33, Long.MAX_VALUE})
      says("first is 0, count " + count + "; positions 0 to 31 are allowed",
          () -> one(Model.class).dcProfile(0, count));
    for (long seq : new long[] {4, 2_000_000_000, 1L << 33}) {
      String words = "the dataset has 4 tokens; a window of seq " + seq + " needs " + (seq + 1)
          + " (seq + 1): the dataset in memory";
      says(words, () -> data.window(0, seq));
      says(words, () -> data.random(new RandomState(1), 1 << 20, seq));
    }
    says("4294967296 values are more than a Java array holds, 2147483639; use the method that takes segments",
        () -> data.random(new RandomState(1), 1L << 31, 2));
  }
}
