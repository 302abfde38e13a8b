//! Log, progress and allocator: called, cancelling, panicking, given back.
mod support;

use std::alloc::{self, Layout};
use std::any::Any;
use std::ops::ControlFlow;
use std::panic::{self, AssertUnwindSafe};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{mpsc, Arc, Mutex};
use std::thread;
use std::time::Duration;

use lib3pt::{Allocator, Config, Context, Decoder, HandleId, Level, Model, Status, Trainer};
use support::{config, model};

/// A trainer whose accumulate takes long enough for a progress function to be called.
fn slow(context: &Context) -> (Trainer, Vec<i32>) {
    let mut config = Config::preset("3pt-5m").unwrap();
    config.set("train.batch", "4").unwrap();
    let model = Model::create(context, &config, 1).unwrap();
    (Trainer::create(&model, None).unwrap(), vec![1; 4 * 128])
}

fn text_of(payload: Box<dyn Any + Send>) -> String {
    payload.downcast_ref::<&str>().expect("a text").to_string()
}

#[test]
fn callbacks_log() {
    let lines = Arc::new(Mutex::new(Vec::new()));
    let kept = lines.clone();
    let log = move |level, text: &str| kept.lock().unwrap().push((level, text.to_owned()));
    let context = Context::builder().log(log).build().unwrap();
    Decoder::create(&model(&context), 0).unwrap();
    let lines = lines.lock().unwrap();
    let (level, text) = lines.last().expect("a line");
    assert_eq!(*level, Level::INFO);
    assert!(text.starts_with("decoder: room for 16 tokens"), "{text}");
}

#[test]
fn callbacks_log_panics() {
    let context = Context::new().unwrap();
    let model = model(&context);
    context.set_log(|_, _| panic!("no log today")).unwrap();
    let made = panic::catch_unwind(AssertUnwindSafe(|| Decoder::create(&model, 0)));
    assert_eq!(text_of(made.expect_err("the panic goes on")), "no log today");
    context.clear_log().unwrap();
    Decoder::create(&model, 0).unwrap();
}

#[test]
fn callbacks_progress_tells_the_handle_and_breaks() {
    let context = Context::new().unwrap();
    let (mut trainer, tokens) = slow(&context);
    let seen = Arc::new(Mutex::new(None::<HandleId>));
    let kept = seen.clone();
    let progress = move |progress: lib3pt::Progress| {
        *kept.lock().unwrap() = Some(progress.handle);
        ControlFlow::Break(())
    };
    context.set_progress(progress).unwrap();
    let error = trainer.accumulate(&tokens, &tokens, 4, 128).unwrap_err();
    assert_eq!(error.status(), Status::CANCELLED);
    assert_eq!(*seen.lock().unwrap(), Some(trainer.id()));
    context.clear_progress().unwrap();
    trainer.zero_gradients().unwrap();
    trainer.accumulate(&tokens, &tokens, 4, 128).unwrap();
}

#[test]
fn callbacks_progress_panics() {
    let context = Context::new().unwrap();
    let (mut trainer, tokens) = slow(&context);
    context.set_progress(|_| panic!("no progress today")).unwrap();
    let run = AssertUnwindSafe(|| trainer.accumulate(&tokens, &tokens, 4, 128));
    assert_eq!(text_of(panic::catch_unwind(run).unwrap_err()), "no progress today");
    assert!(trainer.last_error().unwrap().contains("progress"));
    context.clear_progress().unwrap(); // no call is counted as running
    trainer.zero_gradients().unwrap();
}

#[test]
fn callbacks_cannot_wait_for_their_own_call() {
    let context = Context::new().unwrap();
    let (mut trainer, tokens) = slow(&context);
    let (kept, model) = (context.clone(), trainer.model());
    let statuses = Arc::new(Mutex::new(Vec::new()));
    let found = statuses.clone();
    let progress = move |_| {
        let calls = [kept.set_threads(1), model.set_tensor("embedding.weight", &[])];
        *found.lock().unwrap() = calls.map(|call| call.unwrap_err().status()).to_vec();
        model.tensors().unwrap(); // who only reads may
        ControlFlow::Break(())
    };
    context.set_progress(progress).unwrap();
    trainer.accumulate(&tokens, &tokens, 4, 128).unwrap_err();
    assert_eq!(*statuses.lock().unwrap(), [Status::STATE, Status::STATE]);
    context.clear_progress().unwrap(); // else the context would hold itself
}

#[test]
fn callbacks_cancel_from_another_thread() {
    let context = Context::new().unwrap();
    let (mut trainer, tokens) = slow(&context);
    let (sender, started) = mpsc::channel();
    context
        .set_progress(move |_| {
            let _ = sender.send(());
            ControlFlow::Continue(())
        })
        .unwrap();
    let handle = context.cancel_handle();
    let canceller = thread::spawn(move || {
        started.recv().unwrap();
        handle.cancel();
    });
    let run = |trainer: &mut Trainer| loop {
        if let Err(error) = trainer.accumulate(&tokens, &tokens, 4, 128) {
            return error;
        }
    };
    assert_eq!(run(&mut trainer).status(), Status::CANCELLED);
    canceller.join().unwrap();
    context.cancel_handle().reset();
    trainer.zero_gradients().unwrap();
}

#[test]
fn callbacks_are_given_back() {
    let held = Arc::new(());
    let (log, progress) = (held.clone(), held.clone());
    let context = Context::new().unwrap();
    context.set_log(move |_, _| drop(log.clone())).unwrap();
    context
        .set_progress(move |_| {
            drop(progress.clone());
            ControlFlow::Continue(())
        })
        .unwrap();
    assert_eq!(Arc::strong_count(&held), 3);
    context.set_log(|_, _| {}).unwrap();
    assert_eq!(Arc::strong_count(&held), 2);
    let model = model(&context);
    drop(context);
    assert_eq!(Arc::strong_count(&held), 2); // the model holds the context
    drop(model);
    assert_eq!(Arc::strong_count(&held), 1);
}

#[derive(Default)]
struct Counting {
    held: AtomicUsize,
    panics: AtomicBool,
}

struct Counted(Arc<Counting>);

// SAFETY: blocks are the global allocator's.
unsafe impl Allocator for Counted {
    fn allocate(&self, layout: Layout) -> *mut u8 {
        assert!(!self.0.panics.load(Ordering::SeqCst), "no memory today");
        self.0.held.fetch_add(layout.size(), Ordering::SeqCst);
        unsafe { alloc::alloc(layout) }
    }

    unsafe fn release(&self, memory: *mut u8, layout: Layout) {
        self.0.held.fetch_sub(layout.size(), Ordering::SeqCst);
        unsafe { alloc::dealloc(memory, layout) }
        assert!(!self.0.panics.load(Ordering::SeqCst), "no way back today");
    }
}

#[test]
fn callbacks_allocator_gets_all_back() {
    let counting = Arc::new(Counting::default());
    let context = Context::builder().allocator(Counted(counting.clone())).build().unwrap();
    let model = model(&context);
    assert!(counting.held.load(Ordering::SeqCst) > 4 * config().parameter_count().unwrap());
    drop(context);
    assert_eq!(Arc::strong_count(&counting), 2);
    drop(model);
    assert_eq!(counting.held.load(Ordering::SeqCst), 0);
    assert_eq!(Arc::strong_count(&counting), 1);
}

#[test]
fn callbacks_allocator_panics() {
    let counting = Arc::new(Counting::default());
    let context = Context::builder().allocator(Counted(counting.clone())).build().unwrap();
    counting.panics.store(true, Ordering::SeqCst);
    let made = panic::catch_unwind(AssertUnwindSafe(|| Model::create(&context, &config(), 1)));
    assert_eq!(text_of(made.unwrap_err()), "no memory today");
    assert!(context.last_error().unwrap().contains("bytes"));
    counting.panics.store(false, Ordering::SeqCst);
    model(&context);
}

#[test]
fn callbacks_allocator_stays_after_the_panic_of_another() {
    let (first, second) = (Arc::new(Counting::default()), Arc::new(Counting::default()));
    let context = Context::builder().allocator(Counted(first.clone())).build().unwrap();
    first.panics.store(true, Ordering::SeqCst);
    let set = AssertUnwindSafe(|| context.set_allocator(Counted(second.clone())));
    assert_eq!(text_of(panic::catch_unwind(set).unwrap_err()), "no way back today");
    assert_eq!(Arc::strong_count(&first), 1);
    assert_eq!(Arc::strong_count(&second), 2);
    model(&context);
    drop(context);
    assert_eq!(second.held.load(Ordering::SeqCst), 0);
}

/// One that breaks the rule of its trait and calls the library.
struct Meddling {
    context: Context,
    told: Arc<Mutex<Vec<Status>>>,
}

// SAFETY: blocks are the global allocator's.
unsafe impl Allocator for Meddling {
    fn allocate(&self, layout: Layout) -> *mut u8 {
        let again = self.context.set_allocator(Counted(Arc::default()));
        self.told.lock().unwrap().extend(again.err().map(|e| e.status()));
        self.told.lock().unwrap().extend(self.context.threads().err().map(|e| e.status()));
        unsafe { alloc::alloc(layout) }
    }

    unsafe fn release(&self, memory: *mut u8, layout: Layout) {
        unsafe { alloc::dealloc(memory, layout) }
    }
}

#[test]
fn callbacks_allocator_never_waits_for_its_own_call() {
    let told = Arc::<Mutex<Vec<Status>>>::default();
    let context = Context::new().unwrap();
    let meddling = Meddling { context: context.clone(), told: told.clone() };
    let (done, ended) = mpsc::channel();
    thread::spawn(move || done.send(context.set_allocator(meddling).is_ok()));
    assert_eq!(ended.recv_timeout(Duration::from_secs(20)), Ok(true)); // else it waits for ever
    let told = told.lock().unwrap();
    assert!(!told.is_empty() && told.iter().all(|status| *status == Status::STATE), "{told:?}");
}

/// A function that held the last handle of something gives that back when it is replaced.
#[test]
fn callbacks_what_a_function_held_is_given_back() {
    let memory: Arc<Counting> = Arc::default();
    let context = Context::builder().allocator(Counted(memory.clone())).build().unwrap();
    let held = || memory.held.load(Ordering::SeqCst);
    let model = || Model::create(&context, &Config::preset("3pt-5m").unwrap(), 1).unwrap();
    context.set_log(|_, _| {}).unwrap();
    context.set_progress(|_| ControlFlow::Continue(())).unwrap();
    let before = held();
    let (first, second) = (model(), model());
    context.set_log(move |_, _| drop(first.tensors())).unwrap();
    context
        .set_progress(move |_| {
            drop(second.tensors());
            ControlFlow::Continue(())
        })
        .unwrap();
    assert!(held() > before + 40_000_000, "{} bytes of two models", held() - before);
    context.clear_log().unwrap();
    context.set_progress(|_| ControlFlow::Continue(())).unwrap();
    assert!(held() < before + 4_000_000, "{} bytes more", held() - before);
}
