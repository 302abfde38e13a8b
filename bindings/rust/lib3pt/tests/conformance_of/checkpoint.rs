use serde_json::json;

use super::training::Run;
use super::values::{self, Json, Scratch};

pub fn run(inputs: &Json) -> Json {
    results(inputs).unwrap()
}

fn results(inputs: &Json) -> lib3pt::Result<Json> {
    let training = &inputs["training"];
    let (seed, at) = (values::parsed(training, "seed"), values::size(inputs, "at"));
    let path = Scratch::new("checkpoint.safetensors");

    let mut unbroken = Run::start(training, seed)?;
    let (losses, _) = unbroken.train(unbroken.steps)?;

    let mut first = Run::start(training, seed)?;
    first.train(at)?;
    let user = first.random_state.to_string();
    first.trainer.save_checkpoint(&first.optimizer, &path.0, user.as_bytes())?;
    let bytes = std::fs::read(&path.0).expect("the file was written");

    let mut fresh = Run::start(training, values::parsed(inputs, "fresh_seed"))?;
    let user = fresh.trainer.load_checkpoint(&mut fresh.optimizer, &path.0)?;
    let user = String::from_utf8(user).expect("digits");
    fresh.random_state = user.parse().expect("a random state");
    let (step_count, lr) = (fresh.optimizer.step_count()?, fresh.optimizer.lr()?);
    let (resumed, _) = fresh.train(fresh.steps - at)?;
    Ok(json!({
        "losses": values::f64s(&losses),
        "parameters": unbroken.parameters()?,
        "file": values::file(&bytes),
        "user": user,
        "step_count": values::u64_text(step_count),
        "lr": values::f64_bits(lr),
        "resumed_losses": values::f64s(&resumed),
        "resumed_parameters": fresh.parameters()?,
    }))
}
