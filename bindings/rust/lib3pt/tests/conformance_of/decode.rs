use lib3pt::{Decoder, Model, Sampling};
use serde_json::json;

use super::training::Run;
use super::values::{self, Json, Scratch};

pub fn run(inputs: &Json) -> Json {
    results(inputs).unwrap()
}

fn go_on(decoder: &mut Decoder, count: usize) -> lib3pt::Result<Vec<i32>> {
    decoder.tokens().take(count).collect()
}

fn sampling(how: &Json) -> Sampling {
    Sampling {
        temperature: values::parsed(how, "temperature"),
        top_k: values::int(how, "top_k"),
        top_p: values::parsed(how, "top_p"),
        seed: values::parsed(how, "seed"),
    }
}

/// sampled, copied, resampled, generated
fn sampled(model: &Model, prompt: &[i32], inputs: &Json) -> lib3pt::Result<[Vec<i32>; 4]> {
    let count = values::size(inputs, "sampled");
    let (mut decoder, mut copy) = (Decoder::create(model, 0)?, Decoder::create(model, 0)?);
    decoder.set_sampling(sampling(&inputs["sampling"]))?;
    decoder.feed(prompt)?;
    decoder.copy_to(&mut copy)?;
    let (first, second) = (go_on(&mut decoder, count)?, go_on(&mut copy, count)?);
    decoder.rewind(0)?;
    decoder.feed(prompt)?;
    let third = go_on(&mut decoder, count)?;

    let (mut another, mut generated) = (Decoder::create(model, 0)?, Vec::new());
    another.set_sampling(sampling(&inputs["sampling"]))?;
    another.feed(prompt)?;
    another.generate(count, Some(first[7]), &mut generated)?;
    Ok([first, second, third, generated])
}

fn many(r: &Run, model: &Model, inputs: &Json) -> lib3pt::Result<Json> {
    let mut decoders = Vec::new();
    for prompt in values::texts(inputs, "prompts") {
        let mut decoder = Decoder::create(model, 0)?;
        decoder.feed(&r.tokenizer.encode(prompt)?)?;
        decoders.push(decoder);
    }
    let logits = Decoder::feed_many(&mut decoders, &values::ids(inputs, "tokens"))?;
    Ok(logits.into_iter().map(values::floats).collect())
}

fn snapshot(model: &Model, prompt: &[i32], name: &str, count: usize) -> lib3pt::Result<Json> {
    let made = if name == "fold" { model.fold()? } else { model.convert(name)? };
    let mut decoder = Decoder::create(&made, 0)?;
    let logits = values::floats(decoder.feed(prompt)?);
    Ok(json!({"name": name, "logits": logits, "greedy": go_on(&mut decoder, count)?}))
}

fn results(inputs: &Json) -> lib3pt::Result<Json> {
    let r = Run::whole(&inputs["training"])?;
    let path = Scratch::new("decode.safetensors");
    r.model.save(&path.0)?;
    let bytes = std::fs::read(&path.0).expect("the file was written");
    let model = Model::load(&r.context, &path.0, None)?;
    let prompt = r.tokenizer.encode(values::text(inputs, "prompt"))?;
    let count = values::size(inputs, "greedy");

    let mut decoder = Decoder::create(&model, 0)?;
    let logits = values::f32s(decoder.feed(&prompt)?);
    let greedy = go_on(&mut decoder, count)?;
    let [sampled, copied, resampled, generated] = sampled(&model, &prompt, inputs)?;
    let score = r.tokenizer.encode(values::text(inputs, "score"))?;
    let snapshots = values::texts(inputs, "snapshots").into_iter();
    let from_memory = Model::load_memory(&r.context, &bytes, None)?;
    let (parameters, from_memory) =
        (model.parameters()?.to_vec(), from_memory.parameters()?.to_vec());
    Ok(json!({
        "file": values::file(&bytes),
        "parameters": values::floats(&parameters),
        "from_memory": values::floats(&from_memory),
        "logits": logits,
        "greedy_text": values::hex(&r.tokenizer.decode_bytes(&greedy)?),
        "greedy": greedy,
        "position": decoder.position()?,
        "sampled": sampled,
        "copied": copied,
        "resampled": resampled,
        "generated": generated,
        "score": values::f64s(&Decoder::create(&model, 0)?.score(&score)?),
        "many": many(&r, &model, &inputs["many"])?,
        "snapshots": snapshots
            .map(|name| snapshot(&model, &prompt, name, count))
            .collect::<lib3pt::Result<Vec<Json>>>()?,
    }))
}
