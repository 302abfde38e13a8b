//! Who may be inside: any number of readers, or one writer. It keeps the promise of `3pt.h` that
//! the caller orders: no settings while a call runs, no write to weights that a call reads.
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};

use crate::callback::in_callback;
use crate::error::{Error, Result, Status};

#[derive(Debug, Default)]
pub(crate) struct Gate {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    readers: usize,
    writer: Option<ThreadId>,
    waiting: usize,  // writers, which readers let pass
    sleeping: usize, // of both; nobody is woken where there are none: it is a system call
}

#[derive(Debug)]
pub(crate) struct Read<'a>(&'a Gate);

#[derive(Debug)]
pub(crate) struct Write<'a>(&'a Gate);

fn busy(why: &str) -> Error {
    Error::new(Status::STATE, why)
}

/// Waiting would be for ever: for the call whose callback this is, or for this thread itself.
fn check_wait(state: &State) -> Result<()> {
    if in_callback() {
        return Err(busy("this would wait for the call whose callback it was made from"));
    }
    if state.writer == Some(thread::current().id()) {
        return Err(busy("this thread holds the model's Parameters: drop them before the call"));
    }
    Ok(())
}

impl Gate {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(&'a self, mut state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        state.sleeping += 1;
        let mut state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        state.sleeping -= 1;
        state
    }

    /// Waits for writers; an error where that would be for ever.
    pub(crate) fn read(&self) -> Result<Read<'_>> {
        let mut state = self.lock();
        while state.writer.is_some() || (state.waiting > 0 && !in_callback()) {
            check_wait(&state)?;
            state = self.wait(state);
        }
        state.readers += 1;
        Ok(Read(self))
    }

    /// Waits for all others.
    pub(crate) fn write(&self) -> Result<Write<'_>> {
        let mut state = self.lock();
        while state.writer.is_some() || state.readers > 0 {
            check_wait(&state)?;
            state.waiting += 1;
            state = self.wait(state);
            state.waiting -= 1;
        }
        state.writer = Some(thread::current().id());
        Ok(Write(self))
    }

    /// Does this thread have it for itself?
    pub(crate) fn is_mine(&self) -> bool {
        self.lock().writer == Some(thread::current().id())
    }

    /// Does not wait.
    pub(crate) fn try_write(&self, why: &str) -> Result<Write<'_>> {
        let mut state = self.lock();
        if state.writer.is_some() || state.readers > 0 {
            return Err(busy(why));
        }
        state.writer = Some(thread::current().id());
        Ok(Write(self))
    }
}

impl Drop for Read<'_> {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.readers -= 1;
        if state.readers == 0 && state.sleeping > 0 {
            self.0.changed.notify_all();
        }
    }
}

impl Drop for Write<'_> {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.writer = None;
        if state.sleeping > 0 {
            self.0.changed.notify_all();
        }
    }
}
