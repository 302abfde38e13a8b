//! Lives, loans and threads of objects.
mod support;

use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use lib3pt::{
    Config, Context, Dataset, Decoder, Model, Optimizer, Result, Sampling, Status, Tokenizer,
    Trainer,
};
use support::{config, model, TOKENS};

const NO_BATCH: &str = "batch 0 x seq 2; at least 1 x 1 is allowed";
const WEIGHTS: &str = "blocks.1.attn.q.weight";

#[test]
fn objects_go_from_thread_to_thread() {
    fn check<T: Send + Sync>() {}
    check::<Context>();
    check::<lib3pt::CancelHandle>();
    check::<Config>();
    check::<Model>();
    check::<Trainer>();
    check::<Optimizer>();
    check::<Decoder>();
    check::<Dataset>();
    check::<Tokenizer>();
    check::<lib3pt::Error>();
}

/// The most bytes that this process has held in memory.
fn peak() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<usize>().unwrap() << 10
}

#[test]
fn objects_write_no_room_that_is_refused() {
    let many = 1 << 30;
    let (model, data) = (model(None), Dataset::from_tokens(None, &TOKENS).unwrap());
    let before = peak();
    assert_eq!(model.dc_profile(0, many).unwrap_err().status(), Status::ARGUMENT);
    assert_eq!(data.window(0, many).unwrap_err().status(), Status::ARGUMENT);
    assert_eq!(data.random(&mut 1, 1, many).unwrap_err().status(), Status::ARGUMENT);
    assert!(peak() - before < many);
}

fn greedy(model: &Model) -> Vec<i32> {
    let mut decoder = Decoder::create(model, 0).unwrap();
    decoder.feed(&TOKENS[..3]).unwrap();
    decoder.tokens().collect::<Result<_>>().unwrap()
}

#[test]
fn objects_outlive_what_they_were_made_from() {
    let context = Context::new().unwrap();
    let model = model(&context);
    let expected = greedy(&model);
    let mut trainer = Trainer::create(&model, None).unwrap();
    let mut decoder = Decoder::create(&model, 0).unwrap();
    let optimizer = Optimizer::create(&mut trainer, None).unwrap();
    drop((context, model, trainer));
    decoder.feed(&TOKENS[..3]).unwrap();
    assert_eq!(decoder.tokens().collect::<Result<Vec<_>>>().unwrap(), expected);
    assert_eq!(optimizer.step_count().unwrap(), 0);
}

#[test]
fn objects_decoders_of_one_model_on_two_threads() {
    let model = model(None);
    let expected = greedy(&model);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                for _ in 0..20 {
                    assert_eq!(greedy(&model), expected);
                }
            });
        }
    });
}

#[test]
fn objects_weights_written_between_reads() {
    let model = model(None);
    let weights = model.get_tensor(WEIGHTS).unwrap();
    let expected = greedy(&model);
    thread::scope(|scope| {
        scope.spawn(|| {
            for _ in 0..50 {
                assert_eq!(greedy(&model), expected); // the same weights are written
            }
        });
        for _ in 0..200 {
            model.set_tensor(WEIGHTS, &weights).unwrap();
        }
    });
}

#[test]
fn objects_parameters_hold_the_weights() {
    let model = model(None);
    let mut decoder = Decoder::create(&model, 0).unwrap();
    let parameters = model.parameters().unwrap();
    let error = decoder.feed(&TOKENS).unwrap_err();
    assert_eq!(error.status(), Status::STATE);
    assert!(error.message().contains("Parameters"), "{error}");
    let (sender, receiver) = mpsc::channel();
    thread::scope(|scope| {
        scope.spawn(|| {
            sender.send(decoder.feed(&TOKENS).map(|logits| logits.len())).unwrap();
        });
        assert!(receiver.recv_timeout(Duration::from_millis(50)).is_err(), "it did not wait");
        drop(parameters);
        assert_eq!(receiver.recv().unwrap(), Ok(256));
    });
}

#[test]
fn objects_parameters_are_written() {
    let model = model(None);
    model.parameters().unwrap()[0] = 0.25;
    let first = &model.tensors().unwrap()[0].name;
    assert_eq!(model.get_tensor(first).unwrap()[0], 0.25);
}

#[test]
fn objects_an_optimizer_steps_its_own_trainer() {
    let model = model(None);
    let mut trainer = Trainer::create(&model, None).unwrap();
    let mut other = Trainer::create(&model, None).unwrap();
    let mut optimizer = Optimizer::create(&mut trainer, None).unwrap();
    let error = optimizer.step(&mut other).unwrap_err();
    assert_eq!(error.status(), Status::ARGUMENT);
    assert!(optimizer.step(&mut trainer).is_ok());
    assert_eq!(optimizer.step_count().unwrap(), 1);
}

#[test]
fn objects_gradients_are_the_trainers() {
    let model = model(None);
    let mut trainer = Trainer::create(&model, None).unwrap();
    trainer.gradients().unwrap().fill(2.0);
    assert_eq!(trainer.get_gradient(WEIGHTS).unwrap(), vec![2.0; 24 * 24]);
}

/// Who holds the Parameters may ask and drop an optimizer, though a call on its trainer waits for them.
#[test]
fn objects_an_optimizer_beside_parameters_does_not_wait_for_ever() {
    let model = model(None);
    let mut trainer = Trainer::create(&model, None).unwrap();
    let first = Optimizer::create(&mut trainer, None).unwrap();
    let second = Optimizer::create(&mut trainer, None).unwrap();
    let parameters = model.parameters().unwrap();
    let waiting = thread::spawn(move || trainer.forward(&TOKENS, 2, 4).map(|()| trainer));
    thread::sleep(Duration::from_millis(50));
    assert!(first.lr().unwrap() >= 0.0);
    assert_eq!(second.step_count(), Ok(0));
    drop(second);
    drop(parameters);
    waiting.join().unwrap().unwrap();
}

#[test]
fn objects_counts_are_compared() {
    let mut trainer = Trainer::create(&model(None), None).unwrap();
    let error = trainer.forward(&TOKENS, 2, 3).unwrap_err();
    assert_eq!(error.message(), "tokens has 8 values; batch x seq, 2 x 3, needs 6");
    let error = trainer.accumulate(&TOKENS, &TOKENS[..7], 2, 4).unwrap_err();
    assert_eq!(error.message(), "targets has 7 values; batch x seq, 2 x 4, needs 8");
    trainer.forward(&TOKENS, 2, 4).unwrap();
    let error = trainer.forward(&TOKENS, 1 << 63, 2).unwrap_err();
    let words = "batch x seq, 9223372036854775808 x 2, is more than there can be";
    assert_eq!((error.status(), error.message()), (Status::ARGUMENT, words));
    assert_eq!(trainer.forward(&TOKENS, 0, 2).unwrap_err().message(), NO_BATCH);
    let error = trainer.loss(&TOKENS[..7]).unwrap_err();
    assert_eq!(error.message(), "targets has 7 values; the last forward needs 8");
    assert_eq!(trainer.loss(&TOKENS).map(f64::is_finite), Ok(true));
    trainer.accumulate(&TOKENS[..2], &TOKENS[..2], 1, 2).unwrap();
    for count in [0, 2, 7, 8] {
        let status = trainer.loss(&TOKENS[..count]).unwrap_err().status();
        assert_eq!(status, Status::STATE, "{count} targets where there is no forward");
    }
}

#[test]
fn objects_counts_of_several_are_compared() {
    let data = Dataset::from_tokens(None, &TOKENS).unwrap();
    let (mut few, mut right) = ([0; 3], [0; 4]);
    let error = data.random_into(&mut 1, 2, 2, &mut right, &mut few).unwrap_err();
    assert_eq!(error.message(), "targets has 3 values; batch x seq, 2 x 2, needs 4");
    let mut decoder = Decoder::create(&model(None), 0).unwrap();
    let error = Decoder::feed_many([&mut decoder], &few).unwrap_err();
    assert_eq!(error.message(), "tokens has 3 values; one for each of decoders needs 1");
    assert_eq!(Decoder::feed_many([], &[]).unwrap_err().message(), "decoders is empty");
}

/// What C refuses whatever the memory is.
#[test]
fn objects_c_refuses_before_there_is_room() {
    let data = Dataset::from_tokens(None, &[1, 2, 3]).unwrap();
    let needs = |seq: usize| format!("the dataset has 3 tokens; a window of seq {seq} needs");
    for seq in [3, 1 << 20, 1 << 40] {
        for error in [data.window(0, seq).unwrap_err(), data.random(&mut 1, 4, seq).unwrap_err()] {
            assert_eq!(error.status(), Status::ARGUMENT, "{error}");
            assert!(error.message().starts_with(&needs(seq)), "{error}");
        }
    }
    assert_eq!(data.window(9, 1 << 62).unwrap_err().status(), Status::ARGUMENT);
    assert_eq!(data.random(&mut 1, 4, 1 << 62).unwrap_err().status(), Status::ARGUMENT);
    let error = data.random(&mut 1, 1 << 62, 2).unwrap_err();
    let words = "batch x seq, 4611686018427387904 x 2, is more than there can be";
    assert_eq!((error.status(), error.message()), (Status::ARGUMENT, words));
}

#[test]
fn objects_a_stream_needs_a_prompt() {
    let mut decoder = Decoder::create(&model(None), 0).unwrap();
    let error = decoder.stream(&Tokenizer::bytes(None).unwrap(), "").unwrap_err();
    let words = "prompt has no tokens; at least 1 is needed";
    assert_eq!((error.status(), error.message()), (Status::ARGUMENT, words));
}

#[test]
fn objects_no_texts_with_nul() {
    let error = config().set("model.d_model", "4\0 8").unwrap_err();
    assert_eq!(error.to_string(), "TPT_E_ARGUMENT: value has a NUL byte");
    assert!(Model::load(None, "a\0b", None).is_err());
}

#[test]
fn objects_empty_arguments() {
    assert_eq!(Dataset::from_tokens(None, &[]).unwrap().count(), Ok(0));
    assert_eq!(Config::parse("").unwrap().format(), Config::new().unwrap().format());
    let tokenizer = Tokenizer::bytes(None).unwrap();
    assert_eq!(tokenizer.encode("").unwrap(), []);
    assert_eq!(tokenizer.decode(&[]).unwrap(), "");
    assert!(Decoder::feed_many([], &[]).is_err());
    assert_eq!(Model::load_memory(None, &[], None).unwrap_err().status(), Status::FORMAT);
}

#[test]
fn objects_a_stream_ends_when_full() {
    let mut decoder = Decoder::create(&model(None), 8).unwrap();
    decoder.set_sampling(Sampling { temperature: 1.0, ..Default::default() }).unwrap();
    let tokenizer = Tokenizer::bytes(None).unwrap();
    assert_eq!(decoder.stream(&tokenizer, "Three").unwrap().count(), 3);
    assert_eq!(decoder.position(), Ok(8));
}

#[test]
fn objects_a_stream_ends_after_an_error() {
    let mut decoder = Decoder::create(&model(None), 8).unwrap();
    let mut tokens = decoder.tokens(); // nothing was fed
    assert_eq!(tokens.next().unwrap().unwrap_err().status(), Status::STATE);
    assert!(tokens.next().is_none());
}

#[test]
fn objects_keep_their_last_error() {
    let mut decoder = Decoder::create(&model(None), 0).unwrap();
    assert_eq!(decoder.last_error().unwrap(), "");
    let error = decoder.feed(&[256]).unwrap_err();
    thread::scope(|scope| {
        scope.spawn(|| {
            assert_eq!(decoder.last_error().unwrap(), error.message());
            assert_eq!(lib3pt::error_message(), "");
        });
    });
}

#[test]
fn objects_long_results_are_asked_for_again() {
    let user = vec![7; 10_000];
    let path = std::env::temp_dir().join(format!("lib3pt-rust-{}-user", std::process::id()));
    let model = model(None);
    let mut trainer = Trainer::create(&model, None).unwrap();
    let mut optimizer = Optimizer::create(&mut trainer, None).unwrap();
    trainer.save_checkpoint(&optimizer, &path, &user).unwrap();
    let read = trainer.load_checkpoint(&mut optimizer, &path);
    std::fs::remove_file(&path).unwrap();
    assert_eq!(read.unwrap(), user);
    assert!(config().format().unwrap().len() > 511);
}
