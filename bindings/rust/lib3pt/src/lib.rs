//! Train and run Three-Phase Transformers (arXiv:2604.14430) in your own process, by the C library
//! lib3pt.
//!
//! ```
//! use lib3pt::{Config, Dataset, Decoder, Model, Optimizer, Tokenizer, Trainer};
//!
//! # fn main() -> lib3pt::Result<()> {
//! let tokenizer = Tokenizer::bytes(None)?;
//! let data = Dataset::from_tokens(None, &tokenizer.encode("Three phases turn. ".repeat(8))?)?;
//! let config = Config::parse(
//!     "model: {vocab_size: 256, d_model: 24, n_q_heads: 3, n_kv_heads: 3, d_ff: 48, max_seq_len: 32}
//! train: {batch: 4, steps: 100, warmup: 1, lr: 1e-2}",
//! )?;
//! let model = Model::create(None, &config, 1)?;
//! let mut trainer = Trainer::create(&model, None)?;
//! let mut optimizer = Optimizer::create(&mut trainer, None)?;
//! let mut random_state = 1;
//! for _ in 0..10 {
//!     let (tokens, targets) = data.random(&mut random_state, 4, 32)?; // [B, T] each
//!     trainer.zero_gradients()?;
//!     trainer.accumulate(&tokens, &targets, 4, 32)?;
//!     optimizer.step(&mut trainer)?;
//! }
//!
//! let mut decoder = Decoder::create(&model, 0)?;
//! for piece in decoder.stream(&tokenizer, "Three")?.take(16) {
//!     print!("{}", piece?);
//! }
//! # Ok(()) }
//! ```
//!
//! Shapes are row-major. B batch, T positions of a row, D model.d_model, N model.n_phases,
//! P = D / N, V model.vocab_size, L model.n_layers.
//!
//! Every type is [`Send`] and [`Sync`]; what changes an object takes `&mut self`. A failure is an
//! [`Error`] with the library's [`Status`] and message. A panic in a callback ends the call and
//! goes on where the call was made. An object may be dropped before those that it was made from,
//! or after. One that a callback drops while the call that runs it uses that very object is never
//! destroyed.
#![deny(missing_docs)]
#![deny(unsafe_op_in_unsafe_fn)] // forbid is what thread_local! of Rust 1.74 does not compile under

mod callback;
mod config;
mod context;
mod dataset;
mod decoder;
mod error;
mod gate;
mod geometry;
mod handle;
mod model;
mod optimizer;
mod tokenizer;
mod trainer;

pub use callback::{Allocator, HandleId, Level, LogFn, Progress, ProgressFn};
pub use config::{Config, MemoryUse};
pub use context::{CancelHandle, Context, ContextBuilder};
pub use dataset::Dataset;
pub use decoder::{Decoder, Sampling, Stream, Tokens};
pub use error::{error_message, Error, Result, Status};
pub use geometry::{Drift, ZeroSum};
pub use model::{Evaluation, Model, Parameters, TensorInfo};
pub use optimizer::Optimizer;
pub use tokenizer::Tokenizer;
pub use trainer::{Point, Trainer};

/// The version of the library in use, `"1.0.0"`.
#[doc(alias = "tpt_version")]
pub fn version() -> &'static str {
    // SAFETY: a text that lives as long as the library is loaded; here and below.
    unsafe { error::borrowed_text(lib3pt_sys::tpt_version()) }
}

/// Is the library in use of this major version and at least this one? It is asked before the first
/// object is made.
#[doc(alias = "tpt_check_version")]
pub fn check_version(major: i32, minor: i32, patch: i32) -> Result<()> {
    // SAFETY: takes any numbers.
    handle::call(|| unsafe { lib3pt_sys::tpt_check_version(major, minor, patch) })
}

/// Which kernels, instruction sets and options are in use; one line, for a bug report.
#[doc(alias = "tpt_build_info")]
pub fn build_info() -> &'static str {
    unsafe { error::borrowed_text(lib3pt_sys::tpt_build_info()) }
}
