package lib3pt;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;

/** Inputs and results of a scenario, with their encodings (bindings/conformance/README.md). */
final class Vector {
  private static final long FNV_START = 0xcbf29ce484222325L;
  private static final long FNV_PRIME = 0x100000001b3L;

  private final Map<String, Object> map;

  Vector(Object map) {
    this.map = object(map);
  }

  @SuppressWarnings("unchecked")
  static Map<String, Object> object(Object map) {
    return (Map<String, Object>) map;
  }

  static Vector read(String scenario) throws IOException {
    return new Vector(Json.read(Files.readString(Setup.vectors().resolve(scenario + ".json"))));
  }

  /* ---- inputs ---- */

  Vector at(String key) {
    return new Vector(map.get(key));
  }

  String text(String key) {
    return (String) map.get(key);
  }

  int number(String key) {
    return Math.toIntExact((Long) map.get(key));
  }

  long u64(String key) {
    return Long.parseUnsignedLong(text(key));
  }

  double decimal(String key) {
    return Double.parseDouble(text(key));
  }

  List<?> list(String key) {
    return (List<?>) map.get(key);
  }

  List<Vector> all(String key) {
    return list(key).stream().map(Vector::new).toList();
  }

  int[] ints(String key) {
    return list(key).stream().mapToInt(n -> Math.toIntExact((Long) n)).toArray();
  }

  /* ---- results ---- */

  /** The whole of the results, so that none is left out. */
  void assertResults(Map<String, ?> got) {
    Map<String, Object> want = object(map.get("results"));
    for (String key : want.keySet()) assertEquals(want.get(key), got.get(key), key);
    assertEquals(new TreeSet<>(want.keySet()), new TreeSet<>(got.keySet()));
  }

  static Map<String, Object> of(Object... keysAndValues) {
    Map<String, Object> made = new LinkedHashMap<>();
    for (int i = 0; i < keysAndValues.length; i += 2) made.put((String) keysAndValues[i], keysAndValues[i + 1]);
    return made;
  }

  static String f64(double value) {
    return String.format("%016x", Double.doubleToRawLongBits(value));
  }

  static List<String> f64(double... values) {
    return Arrays.stream(values).mapToObj(Vector::f64).toList();
  }

  static List<Long> f32(float... values) {
    List<Long> bits = new ArrayList<>();
    for (float value : values) bits.add(Integer.toUnsignedLong(Float.floatToRawIntBits(value)));
    return bits;
  }

  static List<Long> ids(int... values) {
    return Arrays.stream(values).asLongStream().boxed().toList();
  }

  static String hex(byte... bytes) {
    return HexFormat.of().formatHex(bytes);
  }

  static String hash(byte... bytes) {
    long hash = FNV_START;
    for (byte b : bytes) hash = (hash ^ (b & 0xff)) * FNV_PRIME;
    return String.format("%016x", hash);
  }

  static String hash(MemorySegment segment) {
    return hash(segment.toArray(ValueLayout.JAVA_BYTE));
  }

  static String hash(float... values) {
    return hash(MemorySegment.ofArray(values));
  }

  static Map<String, Object> file(byte... bytes) {
    return of("size", (long) bytes.length, "hash", hash(bytes));
  }

  static Map<String, Object> file(Path path) throws IOException {
    return file(Files.readAllBytes(path));
  }
}
