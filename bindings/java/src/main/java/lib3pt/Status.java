// Generated from interface/3pt.json by bindings/java/generate.py; do not edit.
package lib3pt;

/** What a call came to. Values are never changed or used again; a later version may add some, so
 * treat an unknown one as a failure. */
public enum Status {
  /** The call succeeded. */
  OK(0),

  /** An argument is out of its range, or NULL. */
  ARGUMENT(1),

  /** An allocation failed; the handle is as before the call. */
  MEMORY(2),

  /** The system refused to open, read, write, sync or rename. */
  IO(3),

  /** A file is not what it must be. */
  FORMAT(4),

  /** A description is wrong or contradicts itself. */
  CONFIG(5),

  /** The call has no sense now: backward before loss, sample before feed. */
  STATE(6),

  /** Right, but not something this build, model or version does. */
  UNSUPPORTED(7),

  /** A loss or gradient is not finite; weights and moments are untouched. */
  NUMERIC(8),

  /** The progress function or tpt_context_cancel ended the call. */
  CANCELLED(9),

  /** A bug of the library, or of one that it uses. */
  INTERNAL(10),

  /** A status of a later version of the library; a failure. */
  UNKNOWN(-1);

  private final int value;

  Status(int value) {
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
   * @return the constant; UNKNOWN where there is none
   */
  public static Status of(int value) {
    for (Status each : values()) if (each.value == value) return each;
    return UNKNOWN;
  }
}
