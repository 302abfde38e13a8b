package lib3pt;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** A description: the keys of the YAML file (3pt.yaml(5)), each with a default. */
@Calls("tpt_config_destroy")
public final class Config extends Handle {
  private Config(MemorySegment pointer) {
    super(pointer, new Guard(), null, Native::tpt_config_destroy);
  }

  /** A function of C that makes a description. */
  private interface Maker {
    int make(Call call, MemorySegment place);
  }

  private static Config make(Maker maker) {
    Library.find();
    try (Call call = new Call()) {
      MemorySegment place = call.place();
      call.check(maker.make(call, place));
      return new Config(place.get(ADDRESS, 0));
    }
  }

  /**
   * All defaults: the preset "3pt-5m".
   *
   * @return to be closed
   */
  @Calls("tpt_config_create")
  public static Config create() {
    return make((call, place) -> Native.tpt_config_create(place));
  }

  /**
   * A named preset.
   *
   * @param name one of {@link #presetNames}
   * @return to be closed
   * @throws TptException ARGUMENT: there is none of that name
   */
  @Calls("tpt_config_preset")
  public static Config preset(String name) {
    return make((call, place) -> Native.tpt_config_preset(call.text(name, "name"), place));
  }

  /**
   * Names of the presets.
   *
   * @return in the library's order
   */
  @Calls("tpt_config_preset_name")
  public static List<String> presetNames() {
    Library.find();
    List<String> names = new ArrayList<>();
    for (String name = presetName(0); name != null; name = presetName(names.size())) names.add(name);
    return List.copyOf(names);
  }

  private static String presetName(long index) {
    return Library.text(Native.tpt_config_preset_name(index));
  }

  /**
   * From a YAML file.
   *
   * @param path of the file
   * @return to be closed
   * @throws TptException IO, FORMAT; CONFIG: names the line and what is allowed
   */
  @Calls("tpt_config_load")
  public static Config load(Path path) {
    return make((call, place) -> Native.tpt_config_load(call.path(path), place));
  }

  /**
   * From a text.
   *
   * @param yaml its keys are set over the defaults
   * @return to be closed
   * @throws TptException CONFIG: names the line and what is allowed
   */
  @Calls("tpt_config_parse")
  public static Config parse(String yaml) {
    byte[] bytes = Call.utf8(yaml, "yaml");
    return make((call, place) -> Native.tpt_config_parse(call.bytes(bytes), bytes.length, place));
  }

  /** A copy of C's description, for what is borrowed. call: has entered what lends it. */
  static Config copyOf(Call call, MemorySegment config) {
    MemorySegment place = call.place();
    call.check(Native.tpt_config_copy(config, place));
    return call.made(new Config(place.get(ADDRESS, 0)));
  }

  /**
   * A second description, equal and independent.
   *
   * @return to be closed
   */
  @Calls("tpt_config_copy")
  public Config copy() {
    try (Call call = new Call().shared(this)) {
      return copyOf(call, pointer);
    }
  }

  /**
   * Sets one key; rules between keys are left to {@link #check}.
   *
   * @param key the dotted name, "model.n_phases"
   * @param value as it would stand in the YAML file
   * @return this
   * @throws TptException CONFIG: an unknown key, a wrong type or an impossible value
   */
  @Calls("tpt_config_set")
  public Config set(String key, String value) {
    try (Call call = new Call().alone(this)) {
      call.check(Native.tpt_config_set(pointer, call.text(key, "key"), call.text(value, "value")));
      return this;
    }
  }

  /**
   * The value of a key, such that {@link #set} takes it.
   *
   * @param key the dotted name
   * @return YAML
   * @throws TptException CONFIG: an unknown key
   */
  @Calls("tpt_config_get")
  public String get(String key) {
    try (Call call = new Call().shared(this)) {
      MemorySegment name = call.text(key, "key");
      return call.string((text, room, length) -> Native.tpt_config_get(pointer, name, text, room, length));
    }
  }

  /**
   * Every key, as YAML that {@link #parse} takes.
   *
   * @return a text of many lines
   */
  @Calls("tpt_config_format")
  public String format() {
    try (Call call = new Call().shared(this)) {
      return call.string((text, room, length) -> Native.tpt_config_format(pointer, text, room, length));
    }
  }

  /**
   * The rules between keys.
   *
   * @throws TptException CONFIG: the keys, their values and the rule
   */
  @Calls("tpt_config_check")
  public void check() {
    try (Call call = new Call().shared(this)) {
      call.check(Native.tpt_config_check(pointer));
    }
  }

  /**
   * Trainable numbers of the described model.
   *
   * @return elements of {@link Model#parameters}
   */
  @Calls("tpt_config_parameter_count")
  public long parameterCount() {
    try (Call call = new Call().shared(this)) {
      MemorySegment count = call.longs(0);
      call.check(Native.tpt_config_parameter_count(pointer, count));
      return count.get(JAVA_LONG, 0);
    }
  }

  /**
   * What will be asked of the allocator, at 2 threads.
   *
   * @param use what for
   * @return bytes
   */
  @Calls("tpt_config_memory")
  public long memory(MemoryUse use) {
    try (Call call = new Call().shared(this)) {
      MemorySegment bytes = call.longs(0);
      call.check(Native.tpt_config_memory(pointer, Call.given(use, "use").value(), bytes));
      return bytes.get(JAVA_LONG, 0);
    }
  }
}
