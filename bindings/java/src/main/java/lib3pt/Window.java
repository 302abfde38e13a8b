package lib3pt;

/**
 * Tokens of a dataset and what follows each.
 *
 * @param tokens [seq] ids
 * @param targets [seq] ids, each one place further
 */
public record Window(int[] tokens, int[] targets) {}
