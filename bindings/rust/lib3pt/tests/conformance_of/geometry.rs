use serde_json::json;

use super::forward::point;
use super::training::Run;
use super::values::{self, Json};

pub fn run(inputs: &Json) -> Json {
    results(inputs).unwrap()
}

fn measures(r: &Run, place: &Json) -> lib3pt::Result<Json> {
    let (at, layer) = point(place);
    let mut entry = place.clone();
    entry["phase_means"] = values::f64s(&r.trainer.phase_means(at, layer)?);
    entry["phase_rms"] = values::f64s(&r.trainer.phase_rms(at, layer)?);
    entry["phase_cosine"] = values::f64s(&r.trainer.phase_cosine(at, layer)?);
    entry["dc_energy"] = values::f64s(&r.trainer.dc_energy(at, layer)?);
    entry["dc"] = values::f32s(&r.trainer.dc(at, layer)?);
    Ok(entry)
}

fn drift(r: &Run, layer: usize) -> lib3pt::Result<Json> {
    let d = r.model.drift(layer)?;
    let bits = values::f64_bits;
    Ok(json!({"start": bits(d.start), "mean": bits(d.mean), "l2": bits(d.l2), "max": bits(d.max)}))
}

fn each(count: usize, run: impl Fn(usize) -> lib3pt::Result<Json>) -> lib3pt::Result<Json> {
    (0..count).map(run).collect()
}

fn results(inputs: &Json) -> lib3pt::Result<Json> {
    let mut r = Run::whole(&inputs["training"])?;
    r.accumulate()?;
    let number = |key| r.config.get(key).map(|text| text.parse::<usize>().expect("a number"));
    let (layers, phases) = (number("model.n_layers")?, number("model.n_phases")?);
    let profile = &inputs["profile"];
    let profile =
        r.model.dc_profile(values::size(profile, "first"), values::size(profile, "count"))?;
    let zero_sum = r.trainer.zero_sum()?;
    let angles = |layer, phase| Ok(values::f32s(&r.model.angles(layer, phase)?));
    let points = values::list(inputs, "points").iter();
    Ok(json!({
        "dc_profile": values::f32s(&profile),
        "theta": each(layers, |layer| Ok(values::f32s(&r.model.theta(layer)?)))?,
        "angles": each(layers, |layer| each(phases, |phase| angles(layer, phase)))?,
        "drift": each(layers, |layer| drift(&r, layer))?,
        "displacement": each(layers, |layer| r.trainer.displacement(layer).map(values::f64_bits))?,
        "zero_sum": {
            "measured": values::f64_bits(zero_sum.measured),
            "analytic": values::f64_bits(zero_sum.analytic),
        },
        "points": points.map(|place| measures(&r, place)).collect::<lib3pt::Result<Json>>()?,
    }))
}
