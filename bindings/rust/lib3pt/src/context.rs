//! Threads, memory, messages and cancelling.
use std::ffi::c_void;
use std::ops::ControlFlow;
use std::ptr;
use std::sync::{Arc, PoisonError};

use lib3pt_sys as sys;

use crate::callback::{self, Allocator, Level, LogFn, Progress, ProgressFn};
use crate::error::Result;
use crate::gate::Write;
use crate::handle::{self, common, Owned, Shared};

/// Threads, allocator, log and progress function of what is made from it. A cheap handle: a clone
/// is the same context, and what was made from it keeps it.
///
/// Where a function takes `impl Into<Option<&Context>>`, `None` stands for a context of the
/// object's own with the defaults.
///
/// ```
/// use lib3pt::{Config, Context, Model};
/// # fn main() -> lib3pt::Result<()> {
/// let context = Context::builder().threads(2).log(|level, text| eprintln!("{level:?} {text}")).build()?;
/// assert_eq!(context.threads()?, 2);
/// let model = Model::create(&context, &Config::parse("model: {vocab_size: 64, d_model: 24, n_layers: 1, n_q_heads: 3, n_kv_heads: 3, d_ff: 24}")?, 1)?;
/// # Ok(()) }
/// ```
#[derive(Clone)]
#[doc(alias = "tpt_context_destroy")]
pub struct Context {
    raw: Arc<Owned<sys::tpt_context>>,
}

common!(Context, tpt_context, raw);

/// A context that is not made yet.
#[derive(Default)]
#[must_use]
pub struct ContextBuilder {
    threads: i32,
    log: Option<LogFn>,
    progress: Option<ProgressFn>,
    allocator: Option<Box<dyn Allocator>>,
}

impl ContextBuilder {
    /// See [`Context::set_threads`].
    pub fn threads(mut self, threads: i32) -> Self {
        self.threads = threads;
        self
    }

    /// See [`Context::set_log`].
    pub fn log(mut self, log: impl Fn(Level, &str) + Send + Sync + 'static) -> Self {
        self.log = Some(Box::new(log));
        self
    }

    /// See [`Context::set_progress`].
    pub fn progress(
        mut self,
        progress: impl Fn(Progress) -> ControlFlow<()> + Send + Sync + 'static,
    ) -> Self {
        self.progress = Some(Box::new(progress));
        self
    }

    /// See [`Context::set_allocator`].
    pub fn allocator(mut self, allocator: impl Allocator + 'static) -> Self {
        self.allocator = Some(Box::new(allocator));
        self
    }

    /// Makes it.
    pub fn build(self) -> Result<Context> {
        let context = Context::new()?;
        if let Some(allocator) = self.allocator {
            context.register_allocator(allocator)?;
        }
        context.set_threads(self.threads)?;
        context.register_log(self.log)?;
        context.register_progress(self.progress)?;
        Ok(context)
    }
}

/// A box as C keeps it; NULL for none.
fn registered<T>(function: Option<T>) -> *mut c_void {
    function.map_or(ptr::null_mut(), |function| Box::into_raw(Box::new(function)).cast())
}

impl Context {
    /// As many threads as the process may use, the C library's allocator, no log, no progress
    /// function.
    #[doc(alias = "tpt_context_create")]
    pub fn new() -> Result<Context> {
        // SAFETY: the result is a place for a handle.
        let raw = handle::make(&Arc::default(), |at| unsafe { sys::tpt_context_create(at) })?;
        Ok(Context { raw: Arc::new(raw) })
    }

    /// One with settings.
    pub fn builder() -> ContextBuilder {
        ContextBuilder::default()
    }

    pub(crate) fn shared(&self) -> &Arc<Shared> {
        &self.raw.shared
    }

    /// No call runs on anything made from it, and none begins.
    fn idle(&self) -> Result<Write<'_>> {
        let why = "settings change only while no call runs on anything made from the context";
        self.shared().gate.try_write(why)
    }

    /// Threads of a call, the caller's own among them: 1 to 256; 0 (default): the smaller of
    /// affinity mask and quota. A result's bits do not depend on it.
    ///
    /// [`Status::STATE`](crate::Status::STATE), as with all settings, where a call runs on
    /// something made from the context.
    #[doc(alias = "tpt_context_set_threads")]
    pub fn set_threads(&self, threads: i32) -> Result<()> {
        let _idle = self.idle()?;
        // SAFETY: a live handle, idle.
        handle::call(|| unsafe { sys::tpt_context_set_threads(self.as_ptr(), threads) })
    }

    /// How many a call uses now.
    #[doc(alias = "tpt_context_threads")]
    pub fn threads(&self) -> Result<i32> {
        let _inside = self.shared().gate.read()?;
        let mut threads = 0;
        // SAFETY: a live handle; const.
        handle::call(|| unsafe { sys::tpt_context_threads(self.as_ptr(), &mut threads) })?;
        Ok(threads)
    }

    /// The memory of everything made from the context from now on; after a failure the old one
    /// stays. [`Status::STATE`](crate::Status::STATE) where something made from it is alive.
    #[doc(alias = "tpt_context_set_allocator")]
    pub fn set_allocator(&self, allocator: impl Allocator + 'static) -> Result<()> {
        self.register_allocator(Box::new(allocator))
    }

    fn register_allocator(&self, allocator: Box<dyn Allocator>) -> Result<()> {
        let _idle = self.idle()?; // before the lock: the allocator's own call of this would wait for it
        let mut kept = self.shared().allocator.lock().unwrap_or_else(PoisonError::into_inner);
        let new = Box::new(allocator);
        let user: *const Box<dyn Allocator> = &*new;
        let functions = sys::tpt_allocator {
            size: std::mem::size_of::<sys::tpt_allocator>(),
            user: user.cast_mut().cast(),
            allocate: Some(callback::allocate),
            release: Some(callback::release),
        };
        // SAFETY: a live handle, idle; what C has taken is kept as long as anything of the context.
        let result =
            handle::begin(|| unsafe { sys::tpt_context_set_allocator(self.as_ptr(), &functions) });
        let unused = if result.is_ok() { kept.replace(new) } else { Some(new) };
        drop(kept);
        drop(unused);
        callback::resume();
        result
    }

    /// Where messages go that are no failures of a call; called only on the thread that is inside
    /// a call. A panic goes on after the call. It must not use the object that the call is on:
    /// [`Status::STATE`](crate::Status::STATE) where that would have to wait.
    ///
    /// The context holds the function. One that in turn holds the context, a [`CancelHandle`] or
    /// anything made from it keeps all of them for ever, unless [`clear_log`](Context::clear_log)
    /// is called or another function set.
    #[doc(alias = "tpt_context_set_log")]
    pub fn set_log(&self, log: impl Fn(Level, &str) + Send + Sync + 'static) -> Result<()> {
        self.register_log(Some(Box::new(log)))
    }

    /// Silence, as at first.
    pub fn clear_log(&self) -> Result<()> {
        self.register_log(None)
    }

    fn register_log(&self, log: Option<LogFn>) -> Result<()> {
        let _idle = self.idle()?;
        let function: sys::tpt_log_fn = if log.is_some() { Some(callback::log) } else { None };
        let done: sys::tpt_done_fn = log.as_ref().map(|_| callback::done::<LogFn> as _);
        let user = registered(log);
        // SAFETY: a live handle, idle, which cannot fail: the box is C's until done.
        handle::call(|| unsafe { sys::tpt_context_set_log(self.as_ptr(), function, user, done) })
    }

    /// Called every few milliseconds of a long call, on its thread. A panic ends the call and goes
    /// on after it. What holds for the log function holds here, with
    /// [`clear_progress`](Context::clear_progress).
    ///
    /// ```
    /// use std::ops::ControlFlow;
    /// let context = lib3pt::Context::new()?;
    /// context.set_progress(|progress| match progress.done {
    ///     Some(done) if done > 0.5 => ControlFlow::Break(()),
    ///     _ => ControlFlow::Continue(()),
    /// })?;
    /// # Ok::<(), lib3pt::Error>(())
    /// ```
    #[doc(alias = "tpt_context_set_progress")]
    pub fn set_progress(
        &self,
        progress: impl Fn(Progress) -> ControlFlow<()> + Send + Sync + 'static,
    ) -> Result<()> {
        self.register_progress(Some(Box::new(progress)))
    }

    /// None, as at first.
    pub fn clear_progress(&self) -> Result<()> {
        self.register_progress(None)
    }

    fn register_progress(&self, progress: Option<ProgressFn>) -> Result<()> {
        let _idle = self.idle()?;
        let function: sys::tpt_progress_fn =
            if progress.is_some() { Some(callback::progress) } else { None };
        let done: sys::tpt_done_fn = progress.as_ref().map(|_| callback::done::<ProgressFn> as _);
        let user = registered(progress);
        // SAFETY: as for the log.
        handle::call(|| unsafe {
            sys::tpt_context_set_progress(self.as_ptr(), function, user, done)
        })
    }

    /// From any thread: while on, running and coming calls whose work grows with a model, file or
    /// text end with [`Status::CANCELLED`](crate::Status::CANCELLED).
    #[doc(alias = "tpt_context_cancel")]
    pub fn cancel(&self, on: bool) -> Result<()> {
        // SAFETY: a live handle; from any thread.
        handle::call(|| unsafe { sys::tpt_context_cancel(self.as_ptr(), i32::from(on)) })
    }

    /// To cancel from elsewhere: another thread, a signal's handler thread.
    pub fn cancel_handle(&self) -> CancelHandle {
        CancelHandle(self.clone())
    }
}

/// Ends the calls of a context, from any thread. It keeps the context, as a clone of that does: a
/// log or progress function of the context that holds one is never dropped, and the context neither,
/// before it is cleared or replaced. A progress function can return `ControlFlow::Break` instead.
///
/// ```
/// use lib3pt::{Config, Context, Model, Status};
/// let context = Context::new()?;
/// let handle = context.cancel_handle();
/// std::thread::spawn(move || handle.cancel()).join().unwrap();
/// let error = Model::create(&context, &Config::new()?, 1).unwrap_err();
/// assert_eq!(error.status(), Status::CANCELLED);
/// context.cancel_handle().reset();
/// # Ok::<(), lib3pt::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct CancelHandle(Context);

impl CancelHandle {
    /// Running and coming calls end.
    pub fn cancel(&self) {
        let _ = self.0.cancel(true); // fails only of a handle that is none
    }

    /// Calls run again.
    pub fn reset(&self) {
        let _ = self.0.cancel(false);
    }
}

/// The handle of an optional context, and what its children share.
pub(crate) fn of(context: Option<&Context>) -> (*mut sys::tpt_context, Arc<Shared>) {
    match context {
        Some(context) => (context.as_ptr(), context.shared().clone()),
        None => (ptr::null_mut(), Arc::default()),
    }
}
