package lib3pt;

/** A call that failed. The text says what was wrong, where, and what is allowed. */
public class TptException extends RuntimeException {
  private static final long serialVersionUID = 1;

  /** The number of the status. */
  private final int code;

  TptException(int code, String message) {
    super(message);
    this.code = code;
  }

  TptException(Status status, String message) {
    this(status.value(), message);
  }

  /**
   * What to decide by.
   *
   * @return the status of the call
   */
  public Status status() {
    return Status.of(code);
  }

  /**
   * The number of the status, also of one that this version does not know.
   *
   * @return the value of the C enum
   */
  public int code() {
    return code;
  }
}
