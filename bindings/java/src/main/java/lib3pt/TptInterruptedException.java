package lib3pt;

/**
 * A long call that ended, or did not begin, because its thread was interrupted. The thread's
 * interrupt status is still set; {@link Thread#interrupted} clears it. What the call leaves behind is
 * as after any cancelled call.
 */
public final class TptInterruptedException extends TptException {
  private static final long serialVersionUID = 1;

  TptInterruptedException(String message) {
    super(Status.CANCELLED, message);
  }
}
