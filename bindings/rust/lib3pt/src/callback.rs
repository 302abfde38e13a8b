//! The host's functions as C calls them. A panic never crosses C: it is kept for the thread, ends
//! the call where it can, and goes on in the Rust code that made the call.
use std::alloc::Layout;
use std::any::Any;
use std::cell::{Cell, RefCell};
use std::ffi::{c_char, c_void};
use std::ops::ControlFlow;
use std::panic::{self, AssertUnwindSafe};
use std::ptr;

use crate::error::borrowed_text;

type Payload = Box<dyn Any + Send>;

thread_local! {
    static PANIC: RefCell<Option<Payload>> = const { RefCell::new(None) };
    static DEPTH: Cell<usize> = const { Cell::new(0) };
}

/// Is this thread inside a log or progress function?
pub(crate) fn in_callback() -> bool {
    DEPTH.try_with(|depth| depth.get() > 0).unwrap_or(false)
}

/// After a call: goes on with the panic of a function that it called.
pub(crate) fn resume() {
    if let Some(payload) = take() {
        panic::resume_unwind(payload);
    }
}

/// Where nothing can be resumed: a panic that `run` leaves is dropped.
pub(crate) fn quietly(run: impl FnOnce()) {
    let before = take();
    run();
    let _ = PANIC.try_with(|kept| *kept.borrow_mut() = before);
}

fn take() -> Option<Payload> {
    PANIC.try_with(|kept| kept.borrow_mut().take()).ok().flatten()
}

fn pending() -> bool {
    PANIC.try_with(|kept| kept.borrow().is_some()).unwrap_or(false)
}

/// The first panic is the one that is told.
fn keep(payload: Payload) {
    let _ = PANIC.try_with(|kept| {
        kept.borrow_mut().get_or_insert(payload);
    });
}

fn caught<T>(run: impl FnOnce() -> T) -> Option<T> {
    let _ = DEPTH.try_with(|depth| depth.set(depth.get() + 1));
    let result = panic::catch_unwind(AssertUnwindSafe(run));
    let _ = DEPTH.try_with(|depth| depth.set(depth.get() - 1));
    result.map_err(keep).ok()
}

/// How grave a message is. A later library may give one that has no name here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Level(i32);

impl Level {
    /// Something went wrong.
    pub const ERROR: Level = Level(0);
    /// Something may go wrong.
    pub const WARNING: Level = Level(1);
    /// What was made, how large it is.
    pub const INFO: Level = Level(2);
    /// For who looks for a fault.
    pub const DEBUG: Level = Level(3);

    /// The number of C.
    pub fn code(self) -> i32 {
        self.0
    }
}

/// Which object: the `id()` of a handle, to be compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct HandleId(usize);

impl HandleId {
    pub(crate) fn of<T>(handle: *const T) -> HandleId {
        HandleId(handle as usize)
    }
}

/// How far a long call is.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Progress {
    /// The object that the call was made on.
    pub handle: HandleId,
    /// 0 to 1; `None` where it is not known.
    pub done: Option<f64>,
}

/// A log function.
pub type LogFn = Box<dyn Fn(Level, &str) + Send + Sync>;
/// A progress function: [`ControlFlow::Break`] ends the call with
/// [`Status::CANCELLED`](crate::Status::CANCELLED).
pub type ProgressFn = Box<dyn Fn(Progress) -> ControlFlow<()> + Send + Sync>;

pub(crate) unsafe extern "C" fn log(user: *mut c_void, level: i32, text: *const c_char) {
    if pending() {
        return;
    }
    // SAFETY: `user` is the box that was registered, `text` lives until this returns.
    let (log, text) = unsafe { (&*user.cast::<LogFn>(), borrowed_text(text)) };
    caught(|| log(Level(level), text));
}

pub(crate) unsafe extern "C" fn progress(
    user: *mut c_void,
    handle: *const c_void,
    done: f64,
) -> i32 {
    if pending() {
        return 1;
    }
    // SAFETY: `user` is the box that was registered.
    let progress = unsafe { &*user.cast::<ProgressFn>() };
    let now = Progress { handle: HandleId::of(handle), done: (!done.is_nan()).then_some(done) };
    i32::from(caught(|| progress(now)).map_or(true, |flow| flow.is_break()))
}

/// Gives a registered box back.
pub(crate) unsafe extern "C" fn done<T>(user: *mut c_void) {
    // SAFETY: C calls this once for what `Box::into_raw` gave.
    let registered = unsafe { Box::from_raw(user.cast::<T>()) };
    caught(|| drop(registered));
}

/// The host's memory, for everything that is made from a context.
///
/// A panic counts as a refusal, and goes on on the caller's side where it happened on the thread
/// that made the call.
///
/// # Safety
/// `allocate` gives null or a block as `Layout` asks for it, which stays until `release`. Both may
/// be called from any thread, and neither calls this library.
pub unsafe trait Allocator: Send + Sync {
    /// A block; null when there is none.
    fn allocate(&self, layout: Layout) -> *mut u8;

    /// Takes a block back.
    ///
    /// # Safety
    /// `memory` came from `allocate` with this layout.
    unsafe fn release(&self, memory: *mut u8, layout: Layout);
}

pub(crate) unsafe extern "C" fn allocate(
    user: *mut c_void,
    bytes: usize,
    alignment: usize,
) -> *mut c_void {
    // SAFETY: `user` is the box that the context's Shared holds.
    let allocator = unsafe { &*user.cast::<Box<dyn Allocator>>() };
    let Ok(layout) = Layout::from_size_align(bytes, alignment) else {
        return ptr::null_mut();
    };
    caught(|| allocator.allocate(layout)).unwrap_or(ptr::null_mut()).cast()
}

pub(crate) unsafe extern "C" fn release(
    user: *mut c_void,
    memory: *mut c_void,
    bytes: usize,
    alignment: usize,
) {
    // SAFETY: as in `allocate`; the size and alignment were a layout there.
    caught(|| unsafe {
        let layout = Layout::from_size_align_unchecked(bytes, alignment);
        (*user.cast::<Box<dyn Allocator>>()).release(memory.cast(), layout);
    });
}
