/* A model that is made in no time. */
#ifndef TINY_HPP
#define TINY_HPP

#include <3pt/3pt.hpp>

inline constexpr std::string_view TINY =
    "model: {vocab_size: 256, d_model: 24, n_layers: 2, n_q_heads: 3, n_kv_heads: 3, d_ff: 48,\n"
    "  max_seq_len: 16}\n"
    "train: {batch: 2}\n";

inline const std::vector<std::int32_t> FOUR{84, 104, 114, 101}, NEXT{104, 114, 101, 101};

#endif
