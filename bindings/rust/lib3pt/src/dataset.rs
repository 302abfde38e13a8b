//! Sequences of token ids, in memory or in a file.
use std::path::Path;
use std::sync::Arc;

use lib3pt_sys as sys;

use crate::context::{self, Context};
use crate::error::Result;
use crate::gate::Read;
use crate::handle::{self, c_path, check_rows, common, start, Owned, Shared};

/// Token ids to draw from. A cheap handle: a clone is the same data, for any thread.
///
/// ```
/// let data = lib3pt::Dataset::from_tokens(None, &[1, 2, 3, 4, 5, 6, 7])?;
/// assert_eq!(data.window_count(3)?, 2);
/// assert_eq!(data.window(1, 3)?, (vec![4, 5, 6], vec![5, 6, 7])); // [T] tokens, [T] targets
/// # Ok::<(), lib3pt::Error>(())
/// ```
#[derive(Clone)]
#[doc(alias = "tpt_dataset_destroy")]
pub struct Dataset {
    raw: Arc<Owned<sys::tpt_dataset>>,
}

common!(Dataset, tpt_dataset, raw);

impl Dataset {
    pub(crate) fn shared(&self) -> &Arc<Shared> {
        &self.raw.shared
    }

    fn inside(&self) -> Result<Read<'_>> {
        self.raw.shared.gate.read()
    }

    /// Flat little-endian ids: .u16, .bin (16 bit), .u32; read as needed, never whole.
    #[doc(alias = "tpt_dataset_open")]
    pub fn open<'a>(
        context: impl Into<Option<&'a Context>>,
        path: impl AsRef<Path>,
    ) -> Result<Dataset> {
        let (raw, shared) = context::of(context.into());
        let path = c_path(path.as_ref())?;
        let _inside = shared.gate.read()?;
        // SAFETY: a live handle or NULL, a place for the result; here and below.
        let raw =
            handle::make(&shared, |at| unsafe { sys::tpt_dataset_open(raw, path.as_ptr(), at) })?;
        Ok(Dataset { raw: Arc::new(raw) })
    }

    /// A copy of ids in memory.
    #[doc(alias = "tpt_dataset_from_tokens")]
    pub fn from_tokens<'a>(
        context: impl Into<Option<&'a Context>>,
        tokens: &[i32],
    ) -> Result<Dataset> {
        let (raw, shared) = context::of(context.into());
        let _inside = shared.gate.read()?;
        let raw = handle::make(&shared, |at| unsafe {
            sys::tpt_dataset_from_tokens(raw, start(tokens), tokens.len(), at)
        })?;
        Ok(Dataset { raw: Arc::new(raw) })
    }

    /// Tokens in it.
    #[doc(alias = "tpt_dataset_count")]
    pub fn count(&self) -> Result<usize> {
        let _inside = self.inside()?;
        let mut tokens = 0;
        // SAFETY: a live handle; const; here and below.
        handle::call(|| unsafe { sys::tpt_dataset_count(self.as_ptr(), &mut tokens) })?;
        Ok(tokens)
    }

    /// Windows from places drawn uniformly: tokens and targets, `[batch, seq]` each. The same
    /// `random_state` gives the same windows; it is moved on.
    #[doc(alias = "tpt_dataset_random")]
    pub fn random(
        &self,
        random_state: &mut u64,
        batch: usize,
        seq: usize,
    ) -> Result<(Vec<i32>, Vec<i32>)> {
        let count = if self.holds(seq)? { handle::product(batch, seq)? } else { 0 };
        let (mut tokens, mut targets) = (handle::room(count)?, handle::room(count)?);
        self.draw(random_state, (batch, seq), &mut tokens, &mut targets)?;
        Ok((tokens, targets))
    }

    /// Is there a window of so many tokens? Where there is none C refuses, and nothing is written:
    /// no room is needed.
    fn holds(&self, seq: usize) -> Result<bool> {
        Ok(seq < self.count()?)
    }

    /// Into arrays of batch x seq.
    fn draw(
        &self,
        random_state: &mut u64,
        (batch, seq): (usize, usize),
        tokens: &mut [i32],
        targets: &mut [i32],
    ) -> Result<()> {
        let _inside = self.inside()?;
        handle::call(|| unsafe {
            let (tokens, targets) = (tokens.as_mut_ptr(), targets.as_mut_ptr());
            sys::tpt_dataset_random(self.as_ptr(), random_state, batch, seq, tokens, targets)
        })
    }

    /// The same into arrays of batch x seq.
    pub fn random_into(
        &self,
        random_state: &mut u64,
        batch: usize,
        seq: usize,
        tokens: &mut [i32],
        targets: &mut [i32],
    ) -> Result<()> {
        check_rows("tokens", tokens.len(), batch, seq)?;
        check_rows("targets", targets.len(), batch, seq)?;
        self.draw(random_state, (batch, seq), tokens, targets)
    }

    /// (tokens - 1) / seq.
    #[doc(alias = "tpt_dataset_window_count")]
    pub fn window_count(&self, seq: usize) -> Result<usize> {
        let _inside = self.inside()?;
        let mut count = 0;
        handle::call(|| unsafe { sys::tpt_dataset_window_count(self.as_ptr(), seq, &mut count) })?;
        Ok(count)
    }

    /// One of the sequential windows that do not overlap: tokens and targets, `[seq]` each.
    #[doc(alias = "tpt_dataset_window")]
    pub fn window(&self, index: usize, seq: usize) -> Result<(Vec<i32>, Vec<i32>)> {
        let count = if self.holds(seq)? { seq } else { 0 };
        let (mut tokens, mut targets) = (handle::room(count)?, handle::room(count)?);
        let _inside = self.inside()?;
        handle::call(|| unsafe {
            let (tokens, targets) = (tokens.as_mut_ptr(), targets.as_mut_ptr());
            sys::tpt_dataset_window(self.as_ptr(), index, seq, tokens, targets)
        })?;
        Ok((tokens, targets))
    }
}
