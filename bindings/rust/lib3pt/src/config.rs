//! Descriptions of models and of their training.
use std::path::Path;
use std::str::FromStr;
use std::sync::Arc;

use lib3pt_sys as sys;

use crate::error::{borrowed_text, Error, Result};
use crate::handle::{self, c_path, c_text, common, text_start, Owned};

/// What [`Config::memory`] counts. A later library may know more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MemoryUse(u32);

impl MemoryUse {
    /// The model and one decoder with room for max_seq_len tokens.
    pub const INFERENCE: MemoryUse = MemoryUse(sys::TPT_MEMORY_INFERENCE);
    /// The model, its trainer, its optimizer.
    pub const TRAINING: MemoryUse = MemoryUse(sys::TPT_MEMORY_TRAINING);

    /// By the number of C; what the library does not know is refused in the call.
    pub fn from_code(code: u32) -> MemoryUse {
        MemoryUse(code)
    }
}

/// A description with the keys of the YAML file, each with a default.
///
/// ```
/// use lib3pt::{Config, MemoryUse};
/// let mut config: Config = "model: {d_model: 48, n_q_heads: 6}".parse()?;
/// config.set("train.lr", "1e-3")?;
/// assert_eq!(config.get("model.n_phases")?, "3");
/// config.check()?;
/// assert!(config.memory(MemoryUse::TRAINING)? > config.memory(MemoryUse::INFERENCE)?);
/// # Ok::<(), lib3pt::Error>(())
/// ```
#[doc(alias = "tpt_config_destroy")]
pub struct Config {
    raw: Owned<sys::tpt_config>,
}

common!(Config, tpt_config, raw);

fn made(run: impl FnOnce(*mut *mut sys::tpt_config) -> sys::tpt_status) -> Result<Config> {
    Ok(Config { raw: handle::make(&Arc::default(), run)? })
}

impl Config {
    /// All defaults: the preset `"3pt-5m"`.
    #[doc(alias = "tpt_config_create")]
    pub fn new() -> Result<Config> {
        // SAFETY: the result is a place for a handle, here and below.
        made(|at| unsafe { sys::tpt_config_create(at) })
    }

    /// A named preset.
    #[doc(alias = "tpt_config_preset")]
    pub fn preset(name: &str) -> Result<Config> {
        let name = c_text("name", name)?;
        // SAFETY: a text with its NUL.
        made(|at| unsafe { sys::tpt_config_preset(name.as_ptr(), at) })
    }

    /// The names that [`preset`](Config::preset) takes.
    ///
    /// ```
    /// assert!(lib3pt::Config::preset_names().any(|name| name == "3pt-5m"));
    /// ```
    #[doc(alias = "tpt_config_preset_name")]
    pub fn preset_names() -> impl Iterator<Item = &'static str> {
        (0..).map_while(|index| {
            // SAFETY: any index; the text lives as long as the library is loaded.
            unsafe {
                let name = sys::tpt_config_preset_name(index);
                (!name.is_null()).then(|| borrowed_text(name))
            }
        })
    }

    /// From a YAML file: its keys over the defaults, checked as a whole.
    #[doc(alias = "tpt_config_load")]
    pub fn load(path: impl AsRef<Path>) -> Result<Config> {
        let path = c_path(path.as_ref())?;
        // SAFETY: a text with its NUL.
        made(|at| unsafe { sys::tpt_config_load(path.as_ptr(), at) })
    }

    /// The same from a text.
    #[doc(alias = "tpt_config_parse")]
    pub fn parse(yaml: &str) -> Result<Config> {
        // SAFETY: so many bytes.
        made(|at| unsafe { sys::tpt_config_parse(text_start(yaml.as_bytes()), yaml.len(), at) })
    }

    /// A second description, equal and independent.
    #[doc(alias = "tpt_config_copy")]
    pub fn copy(&self) -> Result<Config> {
        // SAFETY: a live handle; const.
        unsafe { Config::copy_of(self.as_ptr()) }
    }

    /// # Safety
    /// `config` is a live handle that nobody changes meanwhile.
    pub(crate) unsafe fn copy_of(config: *const sys::tpt_config) -> Result<Config> {
        // SAFETY: the caller's promise.
        made(|at| unsafe { sys::tpt_config_copy(config, at) })
    }

    /// Sets one key; rules between keys are left to [`check`](Config::check).
    ///
    /// `value` is YAML, as it would stand in the file: `"4"`, `"1e-3"`, `"none"`, `"[0.1, 0.2]"`.
    #[doc(alias = "tpt_config_set")]
    pub fn set(&mut self, key: &str, value: &str) -> Result<()> {
        let (key, value) = (c_text("key", key)?, c_text("value", value)?);
        // SAFETY: a live handle, exclusive.
        handle::call(|| unsafe { sys::tpt_config_set(self.as_ptr(), key.as_ptr(), value.as_ptr()) })
    }

    /// The value of a key, such that [`set`](Config::set) takes it.
    #[doc(alias = "tpt_config_get")]
    pub fn get(&self, key: &str) -> Result<String> {
        // SAFETY: a live handle; const.
        unsafe { get(self.as_ptr(), key) }
    }

    /// YAML, every key, in a form that [`parse`](Config::parse) takes.
    #[doc(alias = "tpt_config_format")]
    pub fn format(&self) -> Result<String> {
        // SAFETY: a live handle; const, here and below.
        handle::text(|at, room, length| unsafe {
            sys::tpt_config_format(self.as_ptr(), at, room, length)
        })
    }

    /// The rules between keys.
    #[doc(alias = "tpt_config_check")]
    pub fn check(&self) -> Result<()> {
        handle::call(|| unsafe { sys::tpt_config_check(self.as_ptr()) })
    }

    /// Trainable numbers of the described model.
    #[doc(alias = "tpt_config_parameter_count")]
    pub fn parameter_count(&self) -> Result<usize> {
        let mut count = 0;
        handle::call(|| unsafe { sys::tpt_config_parameter_count(self.as_ptr(), &mut count) })?;
        Ok(count)
    }

    /// Bytes that will be asked of the allocator, at 2 threads.
    #[doc(alias = "tpt_config_memory")]
    pub fn memory(&self, of: MemoryUse) -> Result<usize> {
        let mut bytes = 0;
        handle::call(|| unsafe { sys::tpt_config_memory(self.as_ptr(), of.0, &mut bytes) })?;
        Ok(bytes)
    }
}

impl FromStr for Config {
    type Err = Error;

    fn from_str(yaml: &str) -> Result<Config> {
        Config::parse(yaml)
    }
}

/// # Safety
/// `config` is a live handle that nobody changes meanwhile.
pub(crate) unsafe fn get(config: *const sys::tpt_config, key: &str) -> Result<String> {
    let key = c_text("key", key)?;
    // SAFETY: the caller's promise.
    handle::text(|at, room, length| unsafe {
        sys::tpt_config_get(config, key.as_ptr(), at, room, length)
    })
}

/// The handle of an optional description.
pub(crate) fn of(config: Option<&Config>) -> *const sys::tpt_config {
    config.map_or(std::ptr::null(), |config| config.as_ptr().cast_const())
}
