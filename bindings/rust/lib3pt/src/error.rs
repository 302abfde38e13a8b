//! What a call came to.
use std::ffi::CStr;
use std::fmt;

use lib3pt_sys as sys;

/// What kind of failure it was. A later library may give one that has no name here.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Status(u32);

impl Status {
    /// An argument is out of its range.
    pub const ARGUMENT: Status = Status(sys::TPT_E_ARGUMENT);
    /// An allocation failed; the object is as before the call.
    pub const MEMORY: Status = Status(sys::TPT_E_MEMORY);
    /// The system refused to open, read, write, sync or rename.
    pub const IO: Status = Status(sys::TPT_E_IO);
    /// A file is not what it must be.
    pub const FORMAT: Status = Status(sys::TPT_E_FORMAT);
    /// A description is wrong or contradicts itself.
    pub const CONFIG: Status = Status(sys::TPT_E_CONFIG);
    /// The call has no sense now: backward before loss, sample before feed.
    pub const STATE: Status = Status(sys::TPT_E_STATE);
    /// Right, but not something this build, model or version does.
    pub const UNSUPPORTED: Status = Status(sys::TPT_E_UNSUPPORTED);
    /// A loss or gradient is not finite; weights and moments are untouched.
    pub const NUMERIC: Status = Status(sys::TPT_E_NUMERIC);
    /// The progress function or [`Context::cancel`](crate::Context::cancel) ended the call.
    pub const CANCELLED: Status = Status(sys::TPT_E_CANCELLED);
    /// A bug of the library.
    pub const INTERNAL: Status = Status(sys::TPT_E_INTERNAL);

    /// The number of C.
    pub fn code(self) -> u32 {
        self.0
    }

    /// The name of C, `"TPT_E_IO"`.
    #[doc(alias = "tpt_status_name")]
    pub fn name(self) -> &'static str {
        // SAFETY: takes any number; the text lives as long as the library is loaded.
        unsafe { borrowed_text(sys::tpt_status_name(self.0)) }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Debug for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A failure: its kind, and what was wrong, where, and what is allowed.
///
/// ```
/// let error = lib3pt::Config::parse("model: {d_model: 25}").unwrap_err();
/// assert_eq!(error.status(), lib3pt::Status::CONFIG);
/// assert!(error.to_string().starts_with("TPT_E_CONFIG: line 1: model.d_model is 25"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    status: Status,
    message: String,
}

/// What a call gives.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    pub(crate) fn new(status: Status, message: impl Into<String>) -> Error {
        Error { status, message: message.into() }
    }

    pub(crate) fn argument(message: impl Into<String>) -> Error {
        Error::new(Status::ARGUMENT, message)
    }

    /// Its kind.
    pub fn status(&self) -> Status {
        self.status
    }

    /// The library's one line, without the status.
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.status, self.message)
    }
}

impl std::error::Error for Error {}

/// The last failure of a call on this thread, "" before the first; success does not clear it.
#[doc(alias = "tpt_error_message")]
pub fn error_message() -> String {
    // SAFETY: the text lives until the next failing call on this thread, and is copied here.
    unsafe { borrowed_text(sys::tpt_error_message()) }.to_owned()
}

/// The status as a result, with this thread's message.
pub(crate) fn check(status: sys::tpt_status) -> Result<()> {
    if status == sys::TPT_OK {
        return Ok(());
    }
    Err(Error::new(Status(status), error_message()))
}

/// A text of the library; "" where it is not UTF-8, which it always is.
///
/// # Safety
/// `text` is NUL-terminated and lives as long as the result.
pub(crate) unsafe fn borrowed_text<'a>(text: *const std::ffi::c_char) -> &'a str {
    // SAFETY: the caller's promise.
    unsafe { CStr::from_ptr(text) }.to_str().unwrap_or_default()
}
