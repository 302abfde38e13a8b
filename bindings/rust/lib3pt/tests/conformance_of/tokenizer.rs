use lib3pt::Tokenizer;
use serde_json::json;

use super::values::{self, Json, Scratch};

pub fn run(inputs: &Json) -> Json {
    results(inputs).unwrap()
}

fn made(how: &Json, text: &str) -> lib3pt::Result<Tokenizer> {
    match values::text(how, "kind") {
        "bytes" => Tokenizer::bytes(None),
        "words" => Tokenizer::words(None, text, values::size(how, "vocab")),
        "bpe" => Tokenizer::bpe(None, text, values::size(how, "vocab")),
        kind => panic!("{kind} is no kind"),
    }
}

fn token(tokenizer: &Tokenizer, id: i32) -> lib3pt::Result<String> {
    let token = tokenizer.token(id)?;
    assert_eq!(tokenizer.token_id(&token)?, id);
    Ok(token)
}

fn sample(tokenizer: &Tokenizer, text: &str) -> lib3pt::Result<Json> {
    let ids = tokenizer.encode(text)?;
    let piece = |k: usize| Ok(values::hex(&tokenizer.decode_tail_bytes(&ids[..k], k - 1)?));
    Ok(json!({
        "text_ids": tokenizer.encode_text(text)?,
        "decoded": tokenizer.decode(&ids)?,
        "pieces": (1..=ids.len()).map(piece).collect::<lib3pt::Result<Json>>()?,
        "ids": ids,
    }))
}

fn all_ids(tokenizer: &Tokenizer, samples: &[&str]) -> lib3pt::Result<Json> {
    samples.iter().map(|text| Ok(json!(tokenizer.encode(text)?))).collect()
}

fn entry(how: &Json, text: &str, samples: &[&str]) -> lib3pt::Result<Json> {
    let tokenizer = made(how, text)?;
    let path = Scratch::new("tokenizer.json");
    let format = tokenizer.format()?;
    tokenizer.save(&path.0)?;
    let saved = std::fs::read(&path.0).expect("the file was written");
    let ids = values::ids(how, "ids").into_iter();
    Ok(json!({
        "kind": how["kind"],
        "vocab_size": tokenizer.vocab_size()?,
        "format": values::file(format.as_bytes()),
        "tokens": ids.map(|id| token(&tokenizer, id)).collect::<lib3pt::Result<Vec<_>>>()?,
        "samples": samples.iter().map(|t| sample(&tokenizer, t)).collect::<lib3pt::Result<Json>>()?,
        "parsed": all_ids(&Tokenizer::parse(None, &format)?, samples)?,
        "saved": values::file(&saved),
        "loaded": all_ids(&Tokenizer::load(None, &path.0)?, samples)?,
    }))
}

fn results(inputs: &Json) -> lib3pt::Result<Json> {
    let (text, samples) = (values::text(inputs, "text"), values::texts(inputs, "samples"));
    let special = Tokenizer::parse(None, values::text(&inputs["special"], "json"))?;
    let text_of_special = values::text(&inputs["special"], "text");
    let ids = special.encode(text_of_special)?;
    let kinds = values::list(inputs, "tokenizers").iter();
    Ok(json!({
        "tokenizers": kinds.map(|how| entry(how, text, &samples)).collect::<lib3pt::Result<Json>>()?,
        "special": {
            "vocab_size": special.vocab_size()?,
            "text_ids": special.encode_text(text_of_special)?,
            "decoded": special.decode(&ids)?,
            "ids": ids,
        },
    }))
}
