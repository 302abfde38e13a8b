use lib3pt::{
    Config, Context, Dataset, Decoder, Error, Model, Sampling, Status, Tokenizer, Trainer,
};
use lib3pt_sys as sys;
use serde_json::json;

use super::forward::point;
use super::stage::{Budget, Stage};
use super::values::{self, ids, int, parsed, size, text, Json};

type Failed = lib3pt::Result<()>;

pub fn run(inputs: &Json) -> Json {
    let cases = values::list(inputs, "cases").iter();
    json!({"cases": cases.map(|case| result(inputs, case)).collect::<Json>()})
}

/// Two `&mut` of one decoder is what the compiler refuses, so this one goes by the declarations.
fn feed_twice(s: &Stage, token: i32) -> Failed {
    let (decoders, tokens) = ([s.decoder.as_ptr(); 2], [token; 2]);
    let logits = std::ptr::null_mut();
    // SAFETY: live handles, two tokens.
    let status =
        unsafe { sys::tpt_decoder_feed_many(decoders.as_ptr(), 2, tokens.as_ptr(), logits) };
    assert_eq!(status, Status::ARGUMENT.code());
    Ok(())
}

/// The call on an object that takes the case's numbers, and what that object says of it.
fn call(s: &mut Stage, c: &Json) -> (Failed, Option<String>) {
    let name = text(c, "call");
    let context = &s.context;
    macro_rules! on {
        ($object:ident, $call:expr) => {
            ($call.map(drop), Some(s.$object.last_error().expect("a live handle")))
        };
    }
    macro_rules! alone {
        ($call:expr) => {
            ($call.map(drop), None)
        };
    }
    match name {
        "check_version" => {
            alone!(lib3pt::check_version(int(c, "major"), int(c, "minor"), int(c, "patch")))
        }
        "config_preset" => alone!(Config::preset(text(c, "preset"))),
        "config_parse" => alone!(Config::parse(text(c, "yaml"))),
        "config_load" => alone!(Config::load(text(c, "path"))),
        "config_set" => on!(config, s.config.set(text(c, "key"), text(c, "value"))),
        "config_get" => on!(config, s.config.get(text(c, "key"))),
        "config_check" => {
            s.config.set(text(c, "key"), text(c, "value")).unwrap();
            on!(config, s.config.check())
        }
        "context_set_threads" => on!(context, context.set_threads(int(c, "threads"))),
        "context_set_allocator" => alone!(small(c)),
        "context_set_allocator_late" => {
            on!(context, context.set_allocator(Budget::new(usize::MAX)))
        }
        "model_create_within" => {
            let preset = Config::preset(text(c, "preset")).unwrap();
            alone!(Model::create(&small(c).unwrap(), &preset, 1))
        }
        "model_create" => on!(context, Model::create(context, &s.config, s.seed)),
        "model_load" => on!(context, Model::load(context, text(c, "path"), None)),
        "model_load_memory" => {
            on!(context, Model::load_memory(context, text(c, "text").as_bytes(), None))
        }
        "model_save" => on!(model, s.model.save(text(c, "path"))),
        "model_save_memory" => on!(model, s.model.save_memory()),
        "model_convert" => on!(model, s.model.convert(text(c, "precision"))),
        "model_fold" => on!(model, s.model.fold()),
        "model_get_tensor" => on!(model, s.model.get_tensor(text(c, "tensor"))),
        "trainer_create" => on!(model, Trainer::create(&s.model, None)),
        "trainer_forward" => {
            on!(trainer, s.trainer.forward(&ids(c, "tokens"), size(c, "batch"), size(c, "seq")))
        }
        "trainer_accumulate" => {
            let (tokens, targets) = (ids(c, "tokens"), ids(c, "targets"));
            let (batch, seq) = (size(c, "batch"), size(c, "seq"));
            on!(trainer, s.trainer.accumulate(&tokens, &targets, batch, seq))
        }
        "trainer_loss" => on!(trainer, s.trainer.loss(&ids(c, "targets"))),
        "trainer_logits" => on!(trainer, s.trainer.logits().map(drop)),
        "trainer_backward" => on!(trainer, s.trainer.backward()),
        "trainer_get_gradient" => on!(trainer, s.trainer.get_gradient(text(c, "tensor"))),
        "trainer_activation" => {
            let (point, layer) = point(c);
            on!(trainer, s.trainer.activation(point, layer).map(drop))
        }
        "geometry_phase_means" => {
            let (point, layer) = point(c);
            on!(trainer, s.trainer.phase_means(point, layer))
        }
        "geometry_zero_sum" => on!(trainer, s.trainer.zero_sum()),
        "optimizer_step" => on!(optimizer, s.optimizer.step(&mut s.trainer)),
        "optimizer_set_lr" => on!(optimizer, s.optimizer.set_lr(parsed(c, "lr"))),
        "checkpoint_save" => {
            on!(trainer, s.trainer.save_checkpoint(&s.optimizer, text(c, "path"), &[]))
        }
        "checkpoint_load" => {
            on!(trainer, s.trainer.load_checkpoint(&mut s.optimizer, text(c, "path")))
        }
        "decoder_create" => on!(model, Decoder::create(&s.model, size(c, "max_positions"))),
        "decoder_feed" => on!(decoder, s.decoder.feed(&ids(c, "tokens")).map(drop)),
        "decoder_feed_many_twice" => on!(decoder, feed_twice(s, int(c, "token"))),
        "decoder_score" => on!(decoder, s.decoder.score(&ids(c, "tokens"))),
        "decoder_rewind" => on!(decoder, s.decoder.rewind(size(c, "position"))),
        "decoder_set_sampling" => on!(
            decoder,
            s.decoder.set_sampling(Sampling {
                temperature: parsed(c, "temperature"),
                top_k: int(c, "top_k"),
                top_p: parsed(c, "top_p"),
                seed: parsed(c, "seed"),
            })
        ),
        "decoder_sample" => on!(decoder, s.decoder.sample()),
        "dataset_open" => on!(context, Dataset::open(context, text(c, "path"))),
        "dataset_from_tokens" => on!(context, Dataset::from_tokens(context, &ids(c, "tokens"))),
        "dataset_random" => on!(data, s.data.random(&mut 1, size(c, "batch"), size(c, "seq"))),
        "dataset_window" => on!(data, s.data.window(size(c, "index"), size(c, "seq"))),
        "dataset_window_count" => on!(data, s.data.window_count(size(c, "seq"))),
        "evaluate" => {
            let (seq, windows) = (size(c, "seq"), size(c, "max_windows"));
            on!(model, s.model.evaluate(None, &s.data, seq, windows))
        }
        "tokenizer_words" => {
            on!(context, Tokenizer::words(context, text(c, "text"), size(c, "vocab")))
        }
        "tokenizer_bpe" => on!(context, Tokenizer::bpe(context, text(c, "text"), size(c, "vocab"))),
        "tokenizer_load" => on!(context, Tokenizer::load(context, text(c, "path"))),
        "tokenizer_parse" => on!(context, Tokenizer::parse(context, text(c, "json"))),
        "tokenizer_decode" => on!(tokenizer, s.tokenizer.decode(&ids(c, "ids"))),
        "tokenizer_id" => on!(tokenizer, s.tokenizer.token_id(text(c, "token"))),
        "tokenizer_token" => on!(tokenizer, s.tokenizer.token(int(c, "id"))),
        "geometry_dc_profile" => on!(model, s.model.dc_profile(size(c, "first"), size(c, "count"))),
        "geometry_theta" => on!(model, s.model.theta(size(c, "layer"))),
        "geometry_angles" => on!(model, s.model.angles(size(c, "layer"), size(c, "phase"))),
        "geometry_drift" => on!(model, s.model.drift(size(c, "layer"))),
        name => panic!("{name} is no call"),
    }
}

/// A context of the case's budget.
fn small(case: &Json) -> lib3pt::Result<Context> {
    Context::builder().threads(1).allocator(Budget::new(size(case, "budget"))).build()
}

fn result(inputs: &Json, case: &Json) -> Json {
    let name = text(case, "name");
    let mut stage = Stage::new(inputs).unwrap();
    for step in values::texts(case, "before") {
        stage.before(step).unwrap_or_else(|e| panic!("{name}: {step}: {e}"));
    }
    let (result, last) = call(&mut stage, case);
    let message = lib3pt::error_message();
    if let Some(last) = last {
        assert_eq!(last, message, "{name}: the handle");
    }
    let status = if name == "one decoder twice" {
        Status::ARGUMENT
    } else {
        status(&result, name, &message)
    };
    json!({"name": name, "status": status.code(), "message": message})
}

fn status(result: &Failed, name: &str, message: &str) -> Status {
    let error: &Error = result.as_ref().expect_err(name);
    assert_eq!(error.message(), message, "{name}: the error");
    error.status()
}
