//! Activations and gradients of one model.
use std::path::Path;
use std::slice;
use std::sync::Arc;

use lib3pt_sys as sys;

use crate::callback;
use crate::config::{self, Config};
use crate::error::{Result, Status};
use crate::gate::{Gate, Read, Write};
use crate::handle::{self, bytes_start, c_path, c_text, check_count, check_rows, common, Owned};
use crate::model::{Inner, Model};
use crate::optimizer::Optimizer;

/// A point of the residual stream, together with a layer. A later library may know more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Point(u32);

impl Point {
    /// After DC injection; layer is 0.
    pub const EMBEDDING: Point = Point(sys::TPT_POINT_EMBEDDING);
    /// After attention is added, before the rotation.
    pub const ATTENTION: Point = Point(sys::TPT_POINT_ATTENTION);
    /// After the rotation, before the feed-forward part.
    pub const ROTATION: Point = Point(sys::TPT_POINT_ROTATION);
    /// After the block.
    pub const BLOCK: Point = Point(sys::TPT_POINT_BLOCK);

    /// By the number of C; what the library does not know is refused in the call.
    pub fn from_code(code: u32) -> Point {
        Point(code)
    }

    /// The number of C.
    pub fn code(self) -> u32 {
        self.0
    }
}

/// Room for train.batch x train.seq_len tokens of one model.
///
/// A step is: zero the gradients, one or more accumulate (or forward, loss, backward), one
/// [`Optimizer::step`]. What is borrowed from a trainer ends at the next call on it, which the
/// compiler sees:
///
/// ```compile_fail,E0499
/// # fn stale(trainer: &mut lib3pt::Trainer) -> lib3pt::Result<f32> {
/// let logits = trainer.logits()?;
/// trainer.zero_gradients()?;
/// Ok(logits[0])
/// # }
/// ```
///
/// ```
/// use lib3pt::{Config, Dataset, Model, Optimizer, Trainer};
/// let config = Config::parse("model: {vocab_size: 64, d_model: 24, n_layers: 1, n_q_heads: 3, n_kv_heads: 3, d_ff: 24, max_seq_len: 8}")?;
/// let model = Model::create(None, &config, 1)?;
/// let mut trainer = Trainer::create(&model, None)?;
/// let mut optimizer = Optimizer::create(&mut trainer, None)?;
/// let data = Dataset::from_tokens(None, &[5, 6, 7, 8, 5, 6, 7, 8, 5])?;
/// let mut random_state = 1;
/// let (tokens, targets) = data.random(&mut random_state, 2, 4)?; // [B, T] each
/// trainer.zero_gradients()?;
/// let loss = trainer.accumulate(&tokens, &targets, 2, 4)?;
/// let norm = optimizer.step(&mut trainer)?;
/// assert!(loss > 0.0 && norm > 0.0);
///
/// trainer.forward(&tokens, 2, 4)?;
/// assert_eq!(trainer.logits()?.len(), 2 * 4 * 64); // [B, T, V]
/// # Ok::<(), lib3pt::Error>(())
/// ```
#[doc(alias = "tpt_trainer_destroy")]
pub struct Trainer {
    pub(crate) raw: Owned<sys::tpt_trainer>,
    pub(crate) model: Arc<Inner>,
    pub(crate) family: Arc<Gate>, // with its optimizers it counts as one handle
    rows: usize,                  // B x T of the last forward, 0 before
    seq: usize,                   // T of the last forward or accumulate
}

common!(Trainer, tpt_trainer, raw);

pub(crate) type Reading<'a> = (Read<'a>, Read<'a>, Read<'a>);
pub(crate) type Working<'a> = (Read<'a>, Write<'a>, Read<'a>);
pub(crate) type Writing<'a> = (Read<'a>, Write<'a>, Write<'a>);

// Weights before the family: who holds the Parameters of the model may ask an optimizer.
impl Trainer {
    /// For a const call.
    pub(crate) fn reading(&self) -> Result<Reading<'_>> {
        let shared = self.raw.shared.gate.read()?;
        let weights = self.model.weights.read()?;
        Ok((shared, self.family.read()?, weights))
    }

    /// For a call that changes the trainer.
    pub(crate) fn working(&self) -> Result<Working<'_>> {
        let shared = self.raw.shared.gate.read()?;
        let weights = self.model.weights.read()?;
        Ok((shared, self.family.write()?, weights))
    }

    /// For a call that changes the weights.
    pub(crate) fn writing(&self) -> Result<Writing<'_>> {
        let shared = self.raw.shared.gate.read()?;
        let weights = self.model.weights.write()?;
        Ok((shared, self.family.write()?, weights))
    }

    pub(crate) fn phases(&self) -> usize {
        self.model.dims.phases
    }

    pub(crate) fn max_seq(&self) -> usize {
        self.model.dims.max_seq
    }

    pub(crate) fn seq(&self) -> usize {
        self.seq
    }

    /// The gradients are 0. Several trainers may share a model. `config` may be `None`: the
    /// model's; else its model part must equal it.
    #[doc(alias = "tpt_trainer_create")]
    pub fn create(model: &Model, config: Option<&Config>) -> Result<Trainer> {
        let _inside = model.inner.writing()?;
        // SAFETY: live handles, the model exclusive by the gate.
        let mut raw = handle::make(&model.inner.raw.shared, |at| unsafe {
            sys::tpt_trainer_create(model.as_ptr(), config::of(config), at)
        })?;
        let family = Arc::<Gate>::default();
        raw.family = Some(family.clone());
        Ok(Trainer { raw, model: model.inner.clone(), family, rows: 0, seq: 1 })
    }

    /// The model that it trains.
    pub fn model(&self) -> Model {
        Model { inner: self.model.clone() }
    }

    /// The stream of a batch up to what the head reads. `tokens`: `[batch, seq]`.
    #[doc(alias = "tpt_trainer_forward")]
    pub fn forward(&mut self, tokens: &[i32], batch: usize, seq: usize) -> Result<()> {
        check_rows("tokens", tokens.len(), batch, seq)?;
        let inside = self.working()?;
        // SAFETY: a live handle, exclusive by `&mut` and the gates; arrays of the shapes that C
        // reads or writes. Here and below.
        let result = handle::begin(|| unsafe {
            sys::tpt_trainer_forward(self.as_ptr(), tokens.as_ptr(), batch, seq)
        });
        drop(inside);
        if result.is_ok() {
            (self.rows, self.seq) = (tokens.len(), seq);
        }
        callback::resume();
        result
    }

    /// Of the last forward, computed now: `[B, T, V]`.
    #[doc(alias = "tpt_trainer_logits")]
    pub fn logits(&mut self) -> Result<&[f32]> {
        let _inside = self.working()?;
        let mut logits = std::ptr::null();
        handle::call(|| unsafe { sys::tpt_trainer_logits(self.as_ptr(), &mut logits) })?;
        let count = self.rows * self.model.dims.vocab;
        // SAFETY: valid until the next call on the trainer, which `&mut self` rules out.
        Ok(unsafe { slice::from_raw_parts(logits, count) })
    }

    /// Loss of the last forward, nats. `targets`: `[B, T]`.
    #[doc(alias = "tpt_trainer_loss")]
    pub fn loss(&mut self, targets: &[i32]) -> Result<f64> {
        // What does not fit is none for the library, which looks for the forward first.
        let fits = targets.len() == self.rows;
        let given = if fits { targets.as_ptr() } else { std::ptr::null() };
        let _inside = self.working()?;
        let mut loss = 0.0;
        let result =
            handle::call(|| unsafe { sys::tpt_trainer_loss(self.as_ptr(), given, &mut loss) });
        match result {
            Err(e) if e.status() == Status::ARGUMENT => {
                check_count("targets", targets.len(), "the last forward", self.rows)?;
                Err(e)
            }
            result => result.map(|()| loss),
        }
    }

    /// Of the last loss, once a forward; adds to the gradients.
    #[doc(alias = "tpt_trainer_backward")]
    pub fn backward(&mut self) -> Result<()> {
        let _inside = self.working()?;
        handle::call(|| unsafe { sys::tpt_trainer_backward(self.as_ptr()) })
    }

    /// Instead, of a loss of the caller's own. `dlogits`: `[B, T, V]`.
    #[doc(alias = "tpt_trainer_backward_logits")]
    pub fn backward_logits(&mut self, dlogits: &[f32]) -> Result<()> {
        let _inside = self.working()?;
        handle::call(|| unsafe {
            sys::tpt_trainer_backward_logits(self.as_ptr(), dlogits.as_ptr(), dlogits.len())
        })
    }

    /// Forward, loss and backward in one, the fast path; gives the loss. `tokens`, `targets`:
    /// `[batch, seq]`.
    #[doc(alias = "tpt_trainer_accumulate")]
    pub fn accumulate(
        &mut self,
        tokens: &[i32],
        targets: &[i32],
        batch: usize,
        seq: usize,
    ) -> Result<f64> {
        check_rows("tokens", tokens.len(), batch, seq)?;
        check_rows("targets", targets.len(), batch, seq)?;
        let inside = self.working()?;
        let mut loss = 0.0;
        let result = handle::begin(|| unsafe {
            let (tokens, targets) = (tokens.as_ptr(), targets.as_ptr());
            sys::tpt_trainer_accumulate(self.as_ptr(), tokens, targets, batch, seq, &mut loss)
        });
        drop(inside);
        match &result {
            Err(e) if e.status() != Status::NUMERIC => {}
            _ => self.seq = seq, // can be read
        }
        callback::resume();
        result.map(|()| loss)
    }

    /// Sets all gradients to 0.
    #[doc(alias = "tpt_trainer_zero_gradients")]
    pub fn zero_gradients(&mut self) -> Result<()> {
        let _inside = self.working()?;
        handle::call(|| unsafe { sys::tpt_trainer_zero_gradients(self.as_ptr()) })
    }

    /// Laid out as the parameters, to read and to write.
    #[doc(alias = "tpt_trainer_gradients")]
    pub fn gradients(&mut self) -> Result<&mut [f32]> {
        let _inside = self.working()?;
        let (mut values, mut count) = (std::ptr::null_mut(), 0);
        handle::call(|| unsafe {
            sys::tpt_trainer_gradients(self.as_ptr(), &mut values, &mut count)
        })?;
        // SAFETY: as long as the trainer; every call that uses them needs the trainer.
        Ok(unsafe { slice::from_raw_parts_mut(values, count) })
    }

    /// A copy of one tensor's gradient.
    #[doc(alias = "tpt_trainer_get_gradient")]
    pub fn get_gradient(&self, name: &str) -> Result<Vec<f32>> {
        let c_name = c_text("name", name)?;
        let _inside = self.reading()?;
        let mut values = handle::room::<f32>(self.model.count_of(name))?;
        // SAFETY: a live handle; const; so many elements.
        handle::call(|| unsafe {
            let (at, count) = (values.as_mut_ptr(), values.len());
            sys::tpt_trainer_get_gradient(self.as_ptr(), c_name.as_ptr(), at, count)
        })?;
        Ok(values)
    }

    /// The stream of the last forward or accumulate: `[B, T, D]`.
    #[doc(alias = "tpt_trainer_activation")]
    pub fn activation(&mut self, point: Point, layer: usize) -> Result<&[f32]> {
        let _inside = self.working()?;
        let (mut values, mut count) = (std::ptr::null(), 0);
        handle::call(|| unsafe {
            sys::tpt_trainer_activation(self.as_ptr(), point.0, layer, &mut values, &mut count)
        })?;
        // SAFETY: valid until the next call on the trainer, which `&mut self` rules out.
        Ok(unsafe { slice::from_raw_parts(values, count) })
    }

    /// Description, weights, moments, step, rate and the caller's own bytes, as one file.
    #[doc(alias = "tpt_checkpoint_save")]
    pub fn save_checkpoint(
        &self,
        optimizer: &Optimizer,
        path: impl AsRef<Path>,
        user: &[u8],
    ) -> Result<()> {
        let path = c_path(path.as_ref())?;
        self.check_own(optimizer)?;
        let _inside = self.reading()?;
        // SAFETY: live handles of one family; const; so many bytes.
        handle::call(|| unsafe {
            let (trainer, optimizer) = (self.as_ptr(), optimizer.as_ptr());
            let (bytes, size) = (bytes_start(user), user.len());
            sys::tpt_checkpoint_save(trainer, optimizer, path.as_ptr(), bytes, size)
        })
    }

    /// All or nothing; gives the caller's own bytes. Continues with the bits of the run that was
    /// never stopped. Where the caller's own are more than 4096 bytes the file is read twice, and
    /// what ends the second time leaves the trainer as the first has made it.
    #[doc(alias = "tpt_checkpoint_load")]
    pub fn load_checkpoint(
        &mut self,
        optimizer: &mut Optimizer,
        path: impl AsRef<Path>,
    ) -> Result<Vec<u8>> {
        let path = c_path(path.as_ref())?;
        self.check_own(optimizer)?;
        let _inside = self.writing()?;
        let (trainer, optimizer) = (self.as_ptr(), optimizer.as_ptr());
        let mut user = handle::room::<u8>(handle::USER_ROOM)?;
        let mut size = 0;
        let mut load = |user: &mut Vec<u8>| {
            // SAFETY: live handles of one family, exclusive; so much room.
            handle::call(|| unsafe {
                let (at, room) = (user.as_mut_ptr().cast(), user.len());
                sys::tpt_checkpoint_load(trainer, optimizer, path.as_ptr(), at, room, &mut size)
            })?;
            Ok(size)
        };
        loop {
            let whole = load(&mut user)?;
            if whole <= user.len() {
                user.truncate(whole);
                return Ok(user);
            }
            user = handle::room(whole)?; // once more: the same file gives the same state
        }
    }
}
