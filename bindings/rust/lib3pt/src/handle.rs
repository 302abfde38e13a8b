//! Handles of C with an owner, and how calls are made.
use std::alloc::{alloc_zeroed, Layout};
use std::ffi::{c_char, c_void, CString};
use std::path::Path;
use std::ptr::{self, NonNull};
use std::sync::{Arc, Mutex, OnceLock};

use lib3pt_sys as sys;

use crate::callback::{self, Allocator};
use crate::error::{check, Error, Result, Status};
use crate::gate::Gate;

/// What everything made from one context shares.
#[derive(Default)]
pub(crate) struct Shared {
    /// Calls read, settings write.
    pub(crate) gate: Gate,
    /// Lives until the last handle is gone.
    pub(crate) allocator: Mutex<Option<Box<Box<dyn Allocator>>>>,
}

/// A handle's own `_destroy`.
pub(crate) trait Destroy {
    unsafe fn destroy(raw: *mut Self);
}

macro_rules! destroyed_by {
    ($($handle:ident $destroy:ident)*) => {$(
        impl Destroy for sys::$handle {
            unsafe fn destroy(raw: *mut Self) {
                // SAFETY: the caller's: a handle that nobody uses any more.
                unsafe { sys::$destroy(raw) }
            }
        }
    )*};
}

destroyed_by! {
    tpt_context tpt_context_destroy
    tpt_config tpt_config_destroy
    tpt_model tpt_model_destroy
    tpt_trainer tpt_trainer_destroy
    tpt_optimizer tpt_optimizer_destroy
    tpt_decoder tpt_decoder_destroy
    tpt_dataset tpt_dataset_destroy
    tpt_tokenizer tpt_tokenizer_destroy
}

/// A handle of the caller's. `family`: of a trainer and its optimizers, which count as one.
pub(crate) struct Owned<T: Destroy> {
    raw: NonNull<T>,
    pub(crate) shared: Arc<Shared>,
    pub(crate) family: Option<Arc<Gate>>,
}

// SAFETY: 3pt.h: a handle may go from thread to thread, and its const functions may run at once;
// the types around this one take `&mut self`, or a gate, for all others.
unsafe impl<T: Destroy> Send for Owned<T> {}
unsafe impl<T: Destroy> Sync for Owned<T> {}

impl<T: Destroy> Owned<T> {
    pub(crate) fn raw(&self) -> *mut T {
        self.raw.as_ptr()
    }

    /// The last failure of a call on this handle.
    pub(crate) fn last_error(&self) -> Result<String> {
        // SAFETY: a live handle; from any thread.
        text(|at, room, length| unsafe { sys::tpt_error_of(self.raw().cast(), at, room, length) })
    }
}

impl<T: Destroy> Drop for Owned<T> {
    fn drop(&mut self) {
        let family = self.family.as_ref().map(|gate| gate.write());
        let calls = self.shared.gate.read();
        let free = calls.is_ok() || self.shared.gate.is_mine(); // a setting gives its function back
        if !free || matches!(family, Some(Err(_))) {
            return; // dropped by a callback of the call that it would have to wait for: it stays
        }
        // SAFETY: the only owner.
        callback::quietly(|| unsafe { T::destroy(self.raw()) });
    }
}

/// Is the library that was loaded the one that was declared?
fn check_loaded() -> Result<()> {
    static LOADED: OnceLock<Result<()>> = OnceLock::new();
    let found = LOADED.get_or_init(|| {
        let [major, minor, patch] =
            [sys::TPT_VERSION_MAJOR, sys::TPT_VERSION_MINOR, sys::TPT_VERSION_PATCH];
        crate::check_version(major, minor, patch)
    });
    found.clone()
}

/// A call of which something must be noted before a panic goes on: the caller calls
/// `callback::resume` after it.
pub(crate) fn begin(run: impl FnOnce() -> sys::tpt_status) -> Result<()> {
    check(run())
}

/// A call that makes nothing.
pub(crate) fn call(run: impl FnOnce() -> sys::tpt_status) -> Result<()> {
    let result = check(run());
    callback::resume();
    result
}

/// A call that makes a handle.
pub(crate) fn make<T: Destroy>(
    shared: &Arc<Shared>,
    run: impl FnOnce(*mut *mut T) -> sys::tpt_status,
) -> Result<Owned<T>> {
    check_loaded()?;
    let mut raw = ptr::null_mut();
    let status = run(&mut raw);
    let shared = shared.clone();
    let owned = NonNull::new(raw).map(|raw| Owned { raw, shared, family: None });
    call(|| status)?;
    owned.ok_or_else(|| Error::new(Status::INTERNAL, "no handle was given"))
}

/// A text result: asked for with some room, and again where it is longer.
pub(crate) fn bytes(
    first: usize,
    mut run: impl FnMut(*mut c_char, usize, *mut usize) -> sys::tpt_status,
) -> Result<Vec<u8>> {
    let mut room = room::<u8>(first + 1)?;
    let mut length = 0;
    call(|| run(room.as_mut_ptr().cast(), room.len(), &mut length))?;
    if length >= room.len() {
        room = self::room(length + 1)?;
        call(|| run(room.as_mut_ptr().cast(), room.len(), &mut length))?;
    }
    room.truncate(length);
    Ok(room)
}

/// The same where it is UTF-8 by the library's promise.
pub(crate) fn text(
    run: impl FnMut(*mut c_char, usize, *mut usize) -> sys::tpt_status,
) -> Result<String> {
    Ok(whole_text(bytes(FIRST_ROOM, run)?))
}

/// Bytes of a text result with no promise ask for; the messages have at most 511.
pub(crate) const FIRST_ROOM: usize = 511;

/// The same of the caller's own bytes in a checkpoint.
pub(crate) const USER_ROOM: usize = 4096;

/// What is not UTF-8 becomes U+FFFD.
pub(crate) fn whole_text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|e| String::from_utf8_lossy(e.as_bytes()).into_owned())
}

/// Numbers that are 0 where all of their bytes are.
pub(crate) trait Number: Copy {}
impl Number for u8 {}
impl Number for i32 {}
impl Number for f32 {}
impl Number for f64 {}

fn no_memory<T>(count: usize) -> Error {
    let size = std::mem::size_of::<T>();
    Error::new(Status::MEMORY, format!("no memory for a result of {count} x {size} bytes"))
}

/// Zeros for a result; an error where there is no memory for them. Nothing is written: a count that
/// C refuses costs no time.
pub(crate) fn room<T: Number>(count: usize) -> Result<Vec<T>> {
    let layout = Layout::array::<T>(count).map_err(|_| no_memory::<T>(count))?;
    if layout.size() == 0 {
        return Ok(Vec::new());
    }
    // SAFETY: a layout of some bytes; a number of zero bytes is one; allocated as a Vec does it.
    unsafe {
        let start = alloc_zeroed(layout).cast::<T>();
        if start.is_null() {
            return Err(no_memory::<T>(count));
        }
        Ok(Vec::from_raw_parts(start, count, count))
    }
}

/// Room at the end of what there is, not yet filled.
pub(crate) fn reserve<T>(values: &mut Vec<T>, count: usize) -> Result<()> {
    values.try_reserve(count).map_err(|_| no_memory::<T>(count))
}

/// An argument of so many values as `what` needs.
pub(crate) fn check_count(name: &str, found: usize, what: &str, needed: usize) -> Result<()> {
    if found == needed {
        return Ok(());
    }
    Err(Error::argument(format!("{name} has {found} values; {what} needs {needed}")))
}

/// batch x seq; an error where no array has so many values of 4 bytes.
pub(crate) fn product(batch: usize, seq: usize) -> Result<usize> {
    let count = batch.checked_mul(seq).filter(|&count| Layout::array::<i32>(count).is_ok());
    count.ok_or_else(|| {
        Error::argument(format!("batch x seq, {batch} x {seq}, is more than there can be"))
    })
}

/// An argument of batch x seq values. C says which of the two is 0, and reads nothing then.
pub(crate) fn check_rows(name: &str, found: usize, batch: usize, seq: usize) -> Result<()> {
    if batch == 0 || seq == 0 {
        return Ok(());
    }
    check_count(name, found, &format!("batch x seq, {batch} x {seq},"), product(batch, seq)?)
}

/// A text argument with a NUL at its end.
pub(crate) fn c_text(name: &str, text: &str) -> Result<CString> {
    CString::new(text).map_err(|_| Error::argument(format!("{name} has a NUL byte")))
}

/// A path as the system has it.
pub(crate) fn c_path(path: &Path) -> Result<CString> {
    #[cfg(unix)]
    let bytes = std::os::unix::ffi::OsStrExt::as_bytes(path.as_os_str());
    #[cfg(not(unix))]
    let text = path.to_string_lossy();
    #[cfg(not(unix))]
    let bytes = text.as_bytes();
    CString::new(bytes).map_err(|_| Error::argument("path has a NUL byte"))
}

/// A slice as C takes it: NULL where it is empty.
pub(crate) fn start<T>(values: &[T]) -> *const T {
    if values.is_empty() {
        ptr::null()
    } else {
        values.as_ptr()
    }
}

/// The same of bytes that are text.
pub(crate) fn text_start(text: &[u8]) -> *const c_char {
    start(text).cast()
}

/// The same of any bytes.
pub(crate) fn bytes_start(bytes: &[u8]) -> *const c_void {
    start(bytes).cast()
}

/// What every type has that stands for a handle.
macro_rules! common {
    ($type:ident, $handle:ident, $($raw:tt)+) => {
        impl $type {
            /// The text of the last failed call on this object, "" where none has failed: for
            /// hosts whose work moves between threads.
            #[doc(alias = "tpt_error_of")]
            pub fn last_error(&self) -> $crate::Result<String> {
                self.$($raw)+.last_error()
            }

            /// To know it again, as in [`Progress`](crate::Progress).
            pub fn id(&self) -> $crate::HandleId {
                $crate::HandleId::of(self.$($raw)+.raw())
            }

            /// The handle of C, for calls of `lib3pt_sys`. It is valid as long as this object;
            /// the caller keeps the rules of `3pt.h`.
            pub fn as_ptr(&self) -> *mut lib3pt_sys::$handle {
                self.$($raw)+.raw()
            }
        }

        impl std::fmt::Debug for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.debug_tuple(stringify!($type)).field(&self.as_ptr()).finish()
            }
        }
    };
}
pub(crate) use common;
