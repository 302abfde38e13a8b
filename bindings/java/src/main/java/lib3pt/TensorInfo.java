package lib3pt;

import java.util.List;

/**
 * A parameter tensor.
 *
 * @param name as in the published code's state_dict, "blocks.0.attn.q.weight"
 * @param shape one or two numbers; a linear map is [out, in]
 * @param offset of its first element in {@link Model#parameters}
 * @param count elements
 */
public record TensorInfo(String name, List<Long> shape, long offset, long count) {}
