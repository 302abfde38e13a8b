package lib3pt;

/**
 * The zero-sum of the phases: the two agree to rounding.
 *
 * @param measured sum of the phase means at the embedding of the last forward
 * @param analytic N mean r(p) of the profile, NaN without one
 */
public record ZeroSum(double measured, double analytic) {}
