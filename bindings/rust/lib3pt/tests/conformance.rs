//! The scenarios of bindings/conformance, compared with what C gave. Vectors are in the folder
//! LIB3PT_VECTORS.
mod conformance_of;

use conformance_of::{checkpoint, config, decode, errors, evaluate, forward, geometry};
use conformance_of::{tokenizer, train, values};

/// Runs a scenario, and compares every result.
fn compare(name: &str, run: impl Fn(&values::Json) -> values::Json) {
    let Some(vector) = values::vector(name) else { return };
    let found = run(&vector["inputs"]);
    let difference = values::difference(&found, &vector["results"]);
    assert!(difference.is_none(), "{name}{}", difference.unwrap_or_default());
}

#[test]
fn conformance_train() {
    compare("train", train::run);
}

#[test]
fn conformance_decode() {
    compare("decode", decode::run);
}

#[test]
fn conformance_forward() {
    compare("forward", forward::run);
}

#[test]
fn conformance_checkpoint() {
    compare("checkpoint", checkpoint::run);
}

#[test]
fn conformance_geometry() {
    compare("geometry", geometry::run);
}

#[test]
fn conformance_tokenizer() {
    compare("tokenizer", tokenizer::run);
}

#[test]
fn conformance_config() {
    compare("config", config::run);
}

#[test]
fn conformance_evaluate() {
    compare("evaluate", evaluate::run);
}

#[test]
fn conformance_errors() {
    compare("errors", errors::run);
}
