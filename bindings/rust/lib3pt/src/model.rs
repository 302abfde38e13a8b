//! Weights and their description.
use std::collections::HashMap;
use std::ffi::CStr;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::path::Path;
use std::slice;
use std::sync::Arc;

use lib3pt_sys as sys;

use crate::config::{self, Config};
use crate::context::{self, Context};
use crate::dataset::Dataset;
use crate::error::{Error, Result, Status};
use crate::gate::{Gate, Read, Write};
use crate::handle::{self, c_path, c_text, common, Owned};

/// The tensor that every profile but `none` has, also where it is no parameter.
const PROFILE: &str = "embedding.dc_profile";

/// A parameter tensor.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TensorInfo {
    /// As in the published code's state_dict, `"blocks.0.attn.q.weight"`.
    pub name: String,
    /// One or two numbers; a linear map is `[out, in]`.
    pub shape: Vec<usize>,
    /// Of its first element in [`Model::parameters`].
    pub offset: usize,
    /// Elements.
    pub count: usize,
}

/// How a model does on a dataset.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Evaluation {
    /// Mean cross-entropy, nats a token.
    pub loss: f64,
    /// exp(loss).
    pub perplexity: f64,
    /// Targets counted.
    pub tokens: u64,
}

/// Numbers of the description that do not change.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Dims {
    pub(crate) vocab: usize,
    pub(crate) width: usize,
    pub(crate) phases: usize,
    pub(crate) max_seq: usize,
}

pub(crate) struct Inner {
    pub(crate) raw: Owned<sys::tpt_model>,
    pub(crate) weights: Arc<Gate>,
    pub(crate) dims: Dims,
    counts: HashMap<String, usize>, // elements by tensor
}

/// A model. A cheap handle: a clone is the same model, and what is made from it keeps the weights.
///
/// Any number of threads may use it. Calls that read the weights (decoders feeding, trainers,
/// saving) run at once; calls that write them ([`set_tensor`](Model::set_tensor),
/// [`Optimizer::step`](crate::Optimizer::step), [`Trainer::load_checkpoint`](crate::Trainer::load_checkpoint),
/// [`parameters`](Model::parameters)) wait for those and hold them up meanwhile.
///
/// ```
/// use lib3pt::{Config, Model};
/// let config = Config::parse("model: {vocab_size: 64, d_model: 24, n_layers: 1, n_q_heads: 3, n_kv_heads: 3, d_ff: 24}")?;
/// let model = Model::create(None, &config, 1)?;
/// let tensor = &model.tensors()?[0];
/// assert_eq!(tensor.shape, [64, 24]); // V x D
/// assert_eq!(model.get_tensor(&tensor.name)?.len(), 64 * 24);
/// # Ok::<(), lib3pt::Error>(())
/// ```
#[derive(Clone)]
#[doc(alias = "tpt_model_destroy")]
pub struct Model {
    pub(crate) inner: Arc<Inner>,
}

common!(Model, tpt_model, inner.raw);

/// All parameters at once; other calls on the model's weights wait, or fail on this thread, until
/// it is dropped.
#[derive(Debug)]
pub struct Parameters<'a> {
    values: &'a mut [f32],
    _write: Write<'a>,
    _thread: PhantomData<*const ()>, // the gate knows this thread
}

impl Deref for Parameters<'_> {
    type Target = [f32];

    fn deref(&self) -> &[f32] {
        self.values
    }
}

impl DerefMut for Parameters<'_> {
    fn deref_mut(&mut self) -> &mut [f32] {
        self.values
    }
}

/// # Safety
/// `model` is a live handle.
unsafe fn dims(model: *const sys::tpt_model) -> Result<Dims> {
    let number = |key: &str| -> Result<usize> {
        // SAFETY: nobody else knows the model yet.
        let text = unsafe { config::get(sys::tpt_model_config(model), key) }?;
        text.parse().map_err(|_| Error::new(Status::INTERNAL, format!("{key} is {text}")))
    };
    Ok(Dims {
        vocab: number("model.vocab_size")?,
        width: number("model.d_model")?,
        phases: number("model.n_phases")?,
        max_seq: number("model.max_seq_len")?,
    })
}

/// # Safety
/// `model` is a live handle, and `index` below its tensor count.
unsafe fn tensor(model: *const sys::tpt_model, index: usize) -> Result<TensorInfo> {
    let size = std::mem::size_of::<sys::tpt_tensor_info>();
    let nothing = std::ptr::null();
    let mut info =
        sys::tpt_tensor_info { size, name: nothing, ndim: 0, shape: [0; 4], offset: 0, count: 0 };
    // SAFETY: the caller's promise; the name lives as long as the model and is copied.
    let name = unsafe {
        handle::call(|| sys::tpt_model_tensor_info(model, index, &mut info))?;
        CStr::from_ptr(info.name).to_string_lossy().into_owned()
    };
    let shape = info.shape[..info.ndim].to_vec();
    Ok(TensorInfo { name, shape, offset: info.offset, count: info.count })
}

/// # Safety
/// `model` is a live handle.
unsafe fn tensors(model: *const sys::tpt_model) -> Result<Vec<TensorInfo>> {
    let mut count = 0;
    // SAFETY: the caller's promise.
    unsafe {
        handle::call(|| sys::tpt_model_tensor_count(model, &mut count))?;
        (0..count).map(|index| tensor(model, index)).collect()
    }
}

fn wrap(raw: Owned<sys::tpt_model>) -> Result<Model> {
    // SAFETY: a live handle.
    let (dims, tensors) = unsafe { (dims(raw.raw())?, tensors(raw.raw())?) };
    let mut counts = HashMap::from([(PROFILE.to_owned(), dims.max_seq)]);
    counts.extend(tensors.into_iter().map(|tensor| (tensor.name, tensor.count)));
    Ok(Model { inner: Arc::new(Inner { raw, weights: Arc::default(), dims, counts }) })
}

impl Inner {
    /// For a call that reads the weights.
    pub(crate) fn reading(&self) -> Result<(Read<'_>, Read<'_>)> {
        Ok((self.raw.shared.gate.read()?, self.weights.read()?))
    }

    /// For a call that writes them.
    pub(crate) fn writing(&self) -> Result<(Read<'_>, Write<'_>)> {
        Ok((self.raw.shared.gate.read()?, self.weights.write()?))
    }

    /// Elements of a tensor; of one that there is not 1, and the library says so.
    pub(crate) fn count_of(&self, name: &str) -> usize {
        self.counts.get(name).copied().unwrap_or(1)
    }
}

impl Model {
    /// Random weights, a function of description and seed alone.
    #[doc(alias = "tpt_model_create")]
    pub fn create<'a>(
        context: impl Into<Option<&'a Context>>,
        config: &Config,
        seed: u64,
    ) -> Result<Model> {
        let (raw, shared) = context::of(context.into());
        let _inside = shared.gate.read()?;
        // SAFETY: live handles or NULL, a place for the result; here and below.
        wrap(handle::make(&shared, |at| unsafe {
            sys::tpt_model_create(raw, config.as_ptr(), seed, at)
        })?)
    }

    /// From a safetensors file, a checkpoint among them. `config` may be `None` where the file
    /// holds one.
    #[doc(alias = "tpt_model_load")]
    pub fn load<'a>(
        context: impl Into<Option<&'a Context>>,
        path: impl AsRef<Path>,
        config: Option<&Config>,
    ) -> Result<Model> {
        let (raw, shared) = context::of(context.into());
        let path = c_path(path.as_ref())?;
        let _inside = shared.gate.read()?;
        wrap(handle::make(&shared, |at| unsafe {
            sys::tpt_model_load(raw, path.as_ptr(), config::of(config), at)
        })?)
    }

    /// The same from the bytes of a file.
    #[doc(alias = "tpt_model_load_memory")]
    pub fn load_memory<'a>(
        context: impl Into<Option<&'a Context>>,
        data: &[u8],
        config: Option<&Config>,
    ) -> Result<Model> {
        let (raw, shared) = context::of(context.into());
        let _inside = shared.gate.read()?;
        wrap(handle::make(&shared, |at| unsafe {
            let data = (data.as_ptr().cast(), data.len()); // an empty file is a wrong one, no NULL
            sys::tpt_model_load_memory(raw, data.0, data.1, config::of(config), at)
        })?)
    }

    /// Writes weights and description as one safetensors file, whole or not at all.
    #[doc(alias = "tpt_model_save")]
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        let path = c_path(path.as_ref())?;
        let _inside = self.inner.reading()?;
        // SAFETY: a live handle; const, here and below where nothing else is said.
        handle::call(|| unsafe { sys::tpt_model_save(self.as_ptr(), path.as_ptr()) })
    }

    /// The same bytes into memory.
    #[doc(alias = "tpt_model_save_memory")]
    pub fn save_memory(&self) -> Result<Vec<u8>> {
        let _inside = self.inner.reading()?;
        let mut size = 0;
        let nothing = std::ptr::null_mut();
        handle::call(|| unsafe {
            sys::tpt_model_save_memory(self.as_ptr(), nothing, 0, &mut size)
        })?;
        let mut data = handle::room::<u8>(size)?;
        handle::call(|| unsafe {
            sys::tpt_model_save_memory(self.as_ptr(), data.as_mut_ptr().cast(), size, &mut size)
        })?;
        Ok(data)
    }

    /// A copy of the model's own description.
    #[doc(alias = "tpt_model_config")]
    pub fn config(&self) -> Result<Config> {
        let _inside = self.inner.reading()?;
        unsafe { Config::copy_of(sys::tpt_model_config(self.as_ptr())) }
    }

    /// A snapshot with the same logits, its rotations and gains multiplied into the linear maps.
    #[doc(alias = "tpt_model_fold")]
    pub fn fold(&self) -> Result<Model> {
        let _inside = self.inner.reading()?;
        let shared = &self.inner.raw.shared;
        wrap(handle::make(shared, |at| unsafe { sys::tpt_model_fold(self.as_ptr(), at) })?)
    }

    /// A snapshot for decoding and evaluation only: `"f32"`, `"bf16"` or `"int8"`.
    #[doc(alias = "tpt_model_convert")]
    pub fn convert(&self, precision: &str) -> Result<Model> {
        let precision = c_text("precision", precision)?;
        let _inside = self.inner.reading()?;
        wrap(handle::make(&self.inner.raw.shared, |at| unsafe {
            sys::tpt_model_convert(self.as_ptr(), precision.as_ptr(), at)
        })?)
    }

    /// All parameter tensors, in the order of the published code's state_dict.
    #[doc(alias = "tpt_model_tensor_count")]
    #[doc(alias = "tpt_model_tensor_info")]
    pub fn tensors(&self) -> Result<Vec<TensorInfo>> {
        let _inside = self.inner.reading()?;
        unsafe { tensors(self.as_ptr()) }
    }

    /// A copy of a tensor, or of `"embedding.dc_profile"` of any profile but none.
    #[doc(alias = "tpt_model_get_tensor")]
    pub fn get_tensor(&self, name: &str) -> Result<Vec<f32>> {
        let c_name = c_text("name", name)?;
        let _inside = self.inner.reading()?;
        let mut values = handle::room::<f32>(self.inner.count_of(name))?;
        handle::call(|| unsafe {
            let (at, count) = (values.as_mut_ptr(), values.len());
            sys::tpt_model_get_tensor(self.as_ptr(), c_name.as_ptr(), at, count)
        })?;
        Ok(values)
    }

    /// Copies a tensor in, which ends the forward of every trainer of the model.
    #[doc(alias = "tpt_model_set_tensor")]
    pub fn set_tensor(&self, name: &str, values: &[f32]) -> Result<()> {
        let name = c_text("name", name)?;
        let _inside = self.inner.writing()?;
        // SAFETY: nobody reads the weights meanwhile; so many values.
        handle::call(|| unsafe {
            sys::tpt_model_set_tensor(self.as_ptr(), name.as_ptr(), values.as_ptr(), values.len())
        })
    }

    /// All parameters, one array without gaps in the order of [`tensors`](Model::tensors), to read
    /// and to write. After writing begin anew with a forward: a trainer cannot see it.
    ///
    /// ```
    /// # use lib3pt::{Config, Model};
    /// # let config = Config::parse("model: {vocab_size: 64, d_model: 24, n_layers: 1, n_q_heads: 3, n_kv_heads: 3, d_ff: 24}")?;
    /// let model = Model::create(None, &config, 1)?;
    /// let mut parameters = model.parameters()?;
    /// assert_eq!(parameters.len(), config.parameter_count()?);
    /// parameters[0] = 0.5;
    /// assert!(model.fold().is_err()); // on this thread nothing else while they are held
    /// drop(parameters);
    /// model.fold()?;
    /// # Ok::<(), lib3pt::Error>(())
    /// ```
    #[doc(alias = "tpt_model_parameters")]
    pub fn parameters(&self) -> Result<Parameters<'_>> {
        let _call = self.inner.raw.shared.gate.read()?;
        let write = self.inner.weights.write()?;
        let (mut values, mut count) = (std::ptr::null_mut(), 0);
        // SAFETY: exclusive by the gate; the array lives as long as the handle, and is ours alone
        // as long as `write`.
        let values = unsafe {
            handle::call(|| sys::tpt_model_parameters(self.as_ptr(), &mut values, &mut count))?;
            slice::from_raw_parts_mut(values, count)
        };
        Ok(Parameters { values, _write: write, _thread: PhantomData })
    }

    /// Loss on the windows of a dataset, each of `seq` tokens read from position 0; `max_windows`
    /// 0: all. `config` may be `None`: the model's.
    #[doc(alias = "tpt_evaluate")]
    pub fn evaluate(
        &self,
        config: Option<&Config>,
        dataset: &Dataset,
        seq: usize,
        max_windows: usize,
    ) -> Result<Evaluation> {
        let (ours, theirs) = (&self.inner.raw.shared, dataset.shared());
        let other = !Arc::ptr_eq(ours, theirs);
        let _data = other.then(|| theirs.gate.read()).transpose()?;
        let _inside = self.inner.reading()?;
        let size = std::mem::size_of::<sys::tpt_evaluation>();
        let mut e = sys::tpt_evaluation { size, loss: 0.0, perplexity: 0.0, tokens: 0 };
        handle::call(|| unsafe {
            let (config, data) = (config::of(config), dataset.as_ptr());
            sys::tpt_evaluate(self.as_ptr(), config, data, seq, max_windows, &mut e)
        })?;
        Ok(Evaluation { loss: e.loss, perplexity: e.perplexity, tokens: e.tokens })
    }
}
