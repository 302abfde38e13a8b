// Generated from interface/3pt.json by bindings/java/generate.py; do not edit.
package lib3pt;

/** What tpt_config_memory counts. */
public enum MemoryUse {
  /** The model and one decoder with room for max_seq_len tokens. */
  INFERENCE(0),

  /** The model, its trainer, its optimizer. */
  TRAINING(1);

  private final int value;

  MemoryUse(int value) {
    this.value = value;
  }

  /**
   * The number that it has in C.
   *
   * @return the value of the C enum
   */
  public int value() {
    return value;
  }

  /**
   * The constant of a number.
   *
   * @param value a number of the C enum
   * @return the constant; null where there is none
   */
  public static MemoryUse of(int value) {
    for (MemoryUse each : values()) if (each.value == value) return each;
    return null;
  }
}
