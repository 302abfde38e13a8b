//! Declarations of lib3pt, as `3pt.h` has them, and the linking. The crate `lib3pt` is the safe
//! side of it; this one is for who needs a call in its C form.
//!
//! Enums are constants of a number type: a later library may give values that are not here.
//!
//! The library is found when this crate is built, by the first of
//!
//! 1. the environment variable `LIB3PT_LIBRARY`, the file `lib3pt.so.1` itself;
//! 2. `LIB3PT_PREFIX`, where lib3pt is installed;
//! 3. `pkg-config 3pt`.
#![no_std]
#![allow(non_camel_case_types)]
#![allow(rustdoc::broken_intra_doc_links, rustdoc::invalid_html_tags)]

mod bindings;
pub use bindings::*;
