// Generated from interface/3pt.json by bindings/java/generate.py; do not edit.
package lib3pt;

/** Points of the residual stream [B, T, D] of a trainer's last forward or accumulate, together with
 * a layer from 0 to L - 1. With train.recompute: block, ATTENTION and ROTATION are not kept. */
public enum Point {
  /** After DC injection (3.4); layer is 0. */
  EMBEDDING(0),

  /** After attention is added, before the rotation. */
  ATTENTION(1),

  /** After the rotation (3.2), before the feed-forward part; without a rotation the same as
   * ATTENTION. */
  ROTATION(2),

  /** After the block. */
  BLOCK(3);

  private final int value;

  Point(int value) {
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
  public static Point of(int value) {
    for (Point each : values()) if (each.value == value) return each;
    return null;
  }
}
