package lib3pt;

/** Where a draw of windows begins; {@link Dataset#random} moves it on. */
public final class RandomState {
  private long value;

  /**
   * A beginning.
   *
   * @param value any number, unsigned 64 bits
   */
  public RandomState(long value) {
    this.value = value;
  }

  /**
   * Where it is, to be kept for later.
   *
   * @return unsigned 64 bits
   */
  public long value() {
    return value;
  }

  /**
   * Goes on from another place.
   *
   * @param value unsigned 64 bits
   */
  public void set(long value) {
    this.value = value;
  }
}
