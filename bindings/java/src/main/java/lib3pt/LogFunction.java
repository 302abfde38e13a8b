package lib3pt;

/** Gets messages that are no failure of a call, on the thread that is inside the call. */
@FunctionalInterface
public interface LogFunction {
  /**
   * A message.
   *
   * @param level 0 error, 1 warning, 2 info, 3 debug
   * @param text one line
   */
  void log(int level, String text);
}
