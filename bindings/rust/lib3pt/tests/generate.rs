//! A continuation in one call.
mod support;

use std::ops::ControlFlow;
use std::panic::{self, AssertUnwindSafe};

use lib3pt::{Config, Context, Decoder, Model, Result, Sampling, Status};
use support::{model, TOKENS};

const PROMPT: usize = 3;

fn prompted(model: &Model, temperature: f64) -> Decoder {
    let mut decoder = Decoder::create(model, 0).unwrap();
    decoder.set_sampling(Sampling { temperature, seed: 7, ..Default::default() }).unwrap();
    decoder.feed(&TOKENS[..PROMPT]).unwrap();
    decoder
}

fn one_by_one(model: &Model, temperature: f64, count: usize) -> Vec<i32> {
    prompted(model, temperature).tokens().take(count).collect::<Result<_>>().unwrap()
}

#[test]
fn generate_is_sample_and_feed() {
    let model = model(None);
    for temperature in [0.0, 2.0] {
        let want = one_by_one(&model, temperature, 12);
        let (mut decoder, mut got) = (prompted(&model, temperature), Vec::new());
        assert_eq!(decoder.generate(1, None, &mut got), Ok(1));
        assert_eq!(decoder.generate(10, None, &mut got), Ok(10));
        assert_eq!(got, want[..11]);
        assert_eq!(decoder.position(), Ok(PROMPT + 11));
        assert_eq!(decoder.sample(), Ok(want[11]));
    }
}

#[test]
fn generate_ends_after_stop() {
    let model = model(None);
    let want = one_by_one(&model, 2.0, 12);
    for stop in &want {
        let (mut decoder, mut got) = (prompted(&model, 2.0), vec![-5]);
        let made = want.iter().position(|token| token == stop).unwrap() + 1;
        assert_eq!(decoder.generate(12, Some(*stop), &mut got), Ok(made));
        assert_eq!((got[0], &got[1..]), (-5, &want[..made]));
        assert_eq!(decoder.position(), Ok(PROMPT + made));
    }
}

#[test]
fn generate_refuses() {
    let model = model(None); // room for 16
    let (mut decoder, mut got) = (Decoder::create(&model, 0).unwrap(), vec![-5]);
    assert_eq!(decoder.generate(1, None, &mut got).unwrap_err().status(), Status::STATE);
    decoder.feed(&TOKENS[..PROMPT]).unwrap();
    for (count, stop, about) in [
        (0, None, "count is 0"),
        (14, None, "count is 14"),
        (usize::MAX, None, "count is "),
        (1, Some(256), "stop is 256;"),
        (1, Some(-2), "stop is -2;"),
    ] {
        let error = decoder.generate(count, stop, &mut got).unwrap_err();
        assert_eq!(error.status(), Status::ARGUMENT);
        assert!(error.message().starts_with(about), "{}", error.message());
        assert_eq!((got.as_slice(), decoder.position()), (&[-5][..], Ok(PROMPT)));
    }
    assert_eq!(decoder.generate(13, None, &mut got), Ok(13));
    assert_eq!((got.len(), decoder.position()), (14, Ok(16)));
}

/// One whose continuation takes much longer than the 5 ms between two calls of a progress function.
fn slow(context: &Context) -> Model {
    let mut config = Config::preset("3pt-5m").unwrap();
    config.set("model.max_seq_len", "512").unwrap();
    Model::create(context, &config, 1).unwrap()
}

/// `end` ends a call when its progress function is first called; how many it had made.
fn ended(
    context: &Context,
    decoder: &mut Decoder,
    left: usize,
    got: &mut Vec<i32>,
    end: fn() -> ControlFlow<()>,
) -> usize {
    let before = got.len();
    context.set_progress(move |_| end()).unwrap();
    let run = panic::catch_unwind(AssertUnwindSafe(|| decoder.generate(left, None, got)));
    context.clear_progress().unwrap();
    let made = got.len() - before;
    match run {
        Ok(Ok(count)) => assert_eq!((count, made), (left, left)),
        Ok(Err(error)) => assert_eq!(error.status(), Status::CANCELLED),
        Err(payload) => assert_eq!(payload.downcast_ref::<&str>(), Some(&"no progress today")),
    }
    made
}

/// Ended again and again, with a token in peace after each end.
#[test]
fn generate_loses_nothing_to_a_cancel() {
    const COUNT: usize = 400;
    let context = Context::builder().threads(1).build().unwrap();
    let model = slow(&context);
    let (mut want, mut got) = (Vec::new(), Vec::new());
    prompted(&model, 2.0).generate(COUNT, None, &mut want).unwrap();

    let mut decoder = prompted(&model, 2.0);
    let ends: [fn() -> ControlFlow<()>; 2] =
        [|| ControlFlow::Break(()), || panic!("no progress today")];
    let mut halves = 0;
    for end in ends.into_iter().cycle() {
        let made = ended(&context, &mut decoder, COUNT - got.len(), &mut got, end);
        if got.len() == COUNT {
            break;
        }
        halves += usize::from(made > 0);
        assert_eq!(decoder.generate(1, None, &mut got), Ok(1));
        assert_eq!(decoder.position(), Ok(PROMPT + got.len()));
        if got.len() == COUNT {
            break;
        }
    }
    assert_eq!(got, want);
    assert!(halves >= 2, "{halves} calls were ended with something made");
}

#[test]
fn generate_is_cancelled_before_it_begins() {
    let context = Context::new().unwrap();
    let model = model(&context);
    let want = one_by_one(&model, 2.0, 4);
    let (mut decoder, mut got) = (prompted(&model, 2.0), Vec::new());
    context.cancel_handle().cancel();
    let error = decoder.generate(4, None, &mut got).unwrap_err();
    assert_eq!((error.status(), got.len()), (Status::CANCELLED, 0));
    context.cancel_handle().reset();
    assert_eq!(decoder.generate(4, None, &mut got), Ok(4));
    assert_eq!(got, want);
}
