use serde_json::json;

use super::training::Run;
use super::values::{self, Json};

pub fn run(inputs: &Json) -> Json {
    results(&inputs["training"]).unwrap()
}

fn results(training: &Json) -> lib3pt::Result<Json> {
    let mut r = Run::start(training, values::parsed(training, "seed"))?;
    let (losses, norms) = r.train(r.steps)?;
    let tensors = r.model.tensors()?;
    assert_eq!(r.model.parameters()?.len(), r.config.parameter_count()?);
    Ok(json!({
        "tokens": r.data.count()?,
        "losses": values::f64s(&losses),
        "norms": values::f64s(&norms),
        "random_state": values::u64_text(r.random_state),
        "step_count": values::u64_text(r.optimizer.step_count()?),
        "lr": values::f64_bits(r.optimizer.lr()?),
        "parameter_count": r.config.parameter_count()?,
        "parameters": r.parameters()?,
        "gradients": values::floats(r.trainer.gradients()?),
        "file": values::file(&r.model.save_memory()?),
        "first_tensor": values::floats(&r.model.get_tensor(&tensors[0].name)?),
        "tensors": tensors.iter().map(|tensor| json!({
            "name": tensor.name,
            "shape": tensor.shape,
            "offset": tensor.offset,
            "count": tensor.count,
        })).collect::<Json>(),
    }))
}
