use lib3pt::Dataset;
use serde_json::json;

use super::training::Run;
use super::values::{self, Json, Scratch};

pub fn run(inputs: &Json) -> Json {
    results(inputs).unwrap()
}

fn evaluations(r: &Run, data: &Dataset, inputs: &Json) -> lib3pt::Result<Json> {
    let one = |windows: &Json| {
        let seq = values::size(inputs, "seq");
        let e = r.model.evaluate(None, data, seq, values::number_of(windows))?;
        Ok(json!({
            "loss": values::f64_bits(e.loss),
            "perplexity": values::f64_bits(e.perplexity),
            "tokens": values::u64_text(e.tokens),
        }))
    };
    values::list(inputs, "max_windows").iter().map(one).collect()
}

fn results(inputs: &Json) -> lib3pt::Result<Json> {
    let r = Run::whole(&inputs["training"])?;
    let ids = r.tokenizer.encode(values::text(inputs, "text"))?;
    let path = Scratch::new("evaluate.u16");
    let bytes: Vec<u8> = ids.iter().flat_map(|id| (*id as u16).to_le_bytes()).collect();
    std::fs::write(&path.0, bytes).expect("the file is written");
    let held = Dataset::from_tokens(&r.context, &ids)?;
    let stored = Dataset::open(None, &path.0)?;
    let seq = values::size(inputs, "seq");
    let (tokens, targets) = held.window(values::size(inputs, "window"), seq)?;
    Ok(json!({
        "count": held.count()?,
        "window_count": held.window_count(seq)?,
        "window": {"tokens": tokens, "targets": targets},
        "evaluations": evaluations(&r, &held, inputs)?,
        "from_file": evaluations(&r, &stored, inputs)?,
    }))
}
