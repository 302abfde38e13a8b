package lib3pt;

/**
 * How far a layer's angles are from their start, all in radians.
 *
 * @param start what the description starts the layer at
 * @param mean mean of the angles now
 * @param l2 norm of (now - start)
 * @param max largest (now - start) without its sign
 */
public record Drift(double start, double mean, double l2, double max) {}
