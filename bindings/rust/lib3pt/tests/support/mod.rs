//! A small model, for the tests of objects.
#![allow(dead_code)] // not every test uses all
use lib3pt::{Config, Context, Model};

pub const YAML: &str = "model: {vocab_size: 256, d_model: 24, n_layers: 2, n_q_heads: 3, \
                        n_kv_heads: 3, d_ff: 48, max_seq_len: 16}\ntrain: {batch: 2}\n";
pub const TOKENS: [i32; 8] = [1, 2, 3, 4, 5, 6, 7, 8];

pub fn config() -> Config {
    Config::parse(YAML).unwrap()
}

pub fn model<'a>(context: impl Into<Option<&'a Context>>) -> Model {
    Model::create(context, &config(), 1).unwrap()
}
