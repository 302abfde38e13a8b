package lib3pt;

/**
 * Is asked every few milliseconds of a long call, on the thread that is inside it. It may use other
 * objects, not the call's.
 */
@FunctionalInterface
public interface ProgressFunction {
  /**
   * How far the call is.
   *
   * @param handle the call's first object
   * @param done 0 to 1, NaN where it is not known
   * @return true to go on, false to end the call with CANCELLED
   */
  boolean proceed(Handle handle, double done);
}
