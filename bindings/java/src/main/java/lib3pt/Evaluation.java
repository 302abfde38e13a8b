package lib3pt;

/**
 * A model's loss on a dataset.
 *
 * @param loss mean cross-entropy, nats a token
 * @param perplexity exp(loss)
 * @param tokens targets counted
 */
public record Evaluation(double loss, double perplexity, long tokens) {}
