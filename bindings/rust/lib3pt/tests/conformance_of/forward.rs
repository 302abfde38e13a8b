use lib3pt::{Config, Context, Model, Point, Trainer};
use serde_json::json;

use super::values::{self, Json};

pub fn run(inputs: &Json) -> Json {
    results(inputs).unwrap()
}

pub fn point(place: &Json) -> (Point, usize) {
    let code = values::size(place, "point").try_into().expect("it fits");
    (Point::from_code(code), values::size(place, "layer"))
}

fn activation(trainer: &mut Trainer, place: &Json) -> lib3pt::Result<Json> {
    let (point, layer) = point(place);
    let stream = trainer.activation(point, layer)?;
    let mut entry = place.clone();
    entry["count"] = json!(stream.len());
    entry["values"] = values::floats(stream);
    Ok(entry)
}

fn dlogits(rule: &Json, count: usize) -> Vec<f32> {
    let number = |key| rule[key].as_i64().expect("a number");
    let [multiplier, modulus] = [number("multiplier"), number("modulus")];
    let [offset, divisor] = [number("offset"), number("divisor")];
    (0..count as i64)
        .map(|i| ((i * multiplier) % modulus - offset) as f32 / divisor as f32)
        .collect()
}

fn results(inputs: &Json) -> lib3pt::Result<Json> {
    let context = Context::builder().threads(values::int(inputs, "threads")).build()?;
    let config = Config::parse(values::text(inputs, "yaml"))?;
    let model = Model::create(&context, &config, values::parsed(inputs, "seed"))?;
    let mut trainer = Trainer::create(&model, None)?;
    let tokens = values::ids(inputs, "tokens");
    let (batch, seq) = (values::size(inputs, "batch"), values::size(inputs, "seq"));
    let vocab: usize = config.get("model.vocab_size")?.parse().expect("a number");

    trainer.forward(&tokens, batch, seq)?;
    let logits = trainer.logits()?;
    let (all, first) = (values::floats(logits), values::f32s(&logits[..vocab]));
    let activations = values::list(inputs, "points")
        .iter()
        .map(|place| activation(&mut trainer, place))
        .collect::<lib3pt::Result<Vec<Json>>>()?;
    let loss = trainer.loss(&values::ids(inputs, "targets"))?;
    trainer.backward()?;
    let gradients = values::floats(trainer.gradients()?);
    let gradient = trainer.get_gradient(values::text(inputs, "tensor"))?;

    let d = dlogits(&inputs["dlogits"], batch * seq * vocab);
    trainer.zero_gradients()?;
    trainer.forward(&tokens, batch, seq)?;
    trainer.backward_logits(&d)?;
    Ok(json!({
        "logits": all,
        "first_logits": first,
        "activations": activations,
        "loss": values::f64_bits(loss),
        "gradients": gradients,
        "gradient": {"count": gradient.len(), "values": values::floats(&gradient)},
        "dlogits": values::floats(&d),
        "gradients_of_logits": values::floats(trainer.gradients()?),
    }))
}
