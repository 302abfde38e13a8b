//! Encodings of bindings/conformance/README.md.
use std::path::PathBuf;
use std::{env, fs, process};

use serde_json::json;

pub type Json = serde_json::Value;

/// None, and a line about it, where there are no vectors.
pub fn vector(name: &str) -> Option<Json> {
    let Some(folder) = env::var_os("LIB3PT_VECTORS") else {
        eprintln!("skipped: LIB3PT_VECTORS is not set");
        return None;
    };
    let path = PathBuf::from(folder).join(format!("{name}.json"));
    let text = fs::read_to_string(&path).unwrap_or_else(|e| panic!("{path:?}: {e}"));
    Some(serde_json::from_str(&text).expect("a vector file is JSON"))
}

/// FNV-1a 64.
pub fn hash(bytes: &[u8]) -> Json {
    let step = |h: u64, byte: &u8| (h ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
    json!(format!("{:016x}", bytes.iter().fold(0xcbf2_9ce4_8422_2325, step)))
}

pub fn floats(values: &[f32]) -> Json {
    hash(&values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>())
}

pub fn file(bytes: &[u8]) -> Json {
    json!({"size": bytes.len(), "hash": hash(bytes)})
}

pub fn f32s(values: &[f32]) -> Json {
    values.iter().map(|value| value.to_bits()).collect()
}

pub fn f64_bits(value: f64) -> Json {
    json!(format!("{:016x}", value.to_bits()))
}

pub fn f64s(values: &[f64]) -> Json {
    values.iter().copied().map(f64_bits).collect()
}

pub fn u64_text(value: u64) -> Json {
    json!(value.to_string())
}

pub fn hex(bytes: &[u8]) -> Json {
    json!(bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>())
}

pub fn text<'a>(inputs: &'a Json, key: &str) -> &'a str {
    inputs[key].as_str().unwrap_or_else(|| panic!("{key} is no text"))
}

pub fn size(inputs: &Json, key: &str) -> usize {
    number_of(&inputs[key])
}

pub fn number_of(value: &Json) -> usize {
    value.as_u64().unwrap_or_else(|| panic!("{value} is no count")).try_into().expect("it fits")
}

pub fn int(inputs: &Json, key: &str) -> i32 {
    inputs[key]
        .as_i64()
        .unwrap_or_else(|| panic!("{key} is no number"))
        .try_into()
        .expect("it fits")
}

pub fn parsed<T: std::str::FromStr>(inputs: &Json, key: &str) -> T {
    text(inputs, key).parse().unwrap_or_else(|_| panic!("{key} is no number"))
}

pub fn list<'a>(inputs: &'a Json, key: &str) -> &'a [Json] {
    inputs[key].as_array().unwrap_or_else(|| panic!("{key} is no list"))
}

pub fn ids(inputs: &Json, key: &str) -> Vec<i32> {
    list(inputs, key).iter().map(|id| id.as_i64().expect("an id") as i32).collect()
}

pub fn texts<'a>(inputs: &'a Json, key: &str) -> Vec<&'a str> {
    list(inputs, key).iter().map(|text| text.as_str().expect("a text")).collect()
}

/// The first place where two differ, with what is there.
pub fn difference(found: &Json, wanted: &Json) -> Option<String> {
    match (found, wanted) {
        (Json::Object(f), Json::Object(w)) if f.keys().eq(w.keys()) => {
            f.iter().find_map(|(key, value)| Some(format!(".{key}{}", difference(value, &w[key])?)))
        }
        (Json::Array(f), Json::Array(w)) if f.len() == w.len() => {
            let mut pairs = f.iter().zip(w).enumerate();
            pairs.find_map(|(i, (f, w))| Some(format!("[{i}]{}", difference(f, w)?)))
        }
        _ if found == wanted => None,
        _ => Some(format!(" is {found:.200}; {wanted:.200} is wanted")),
    }
}

/// A file that is gone after the test.
pub struct Scratch(pub PathBuf);

impl Scratch {
    pub fn new(name: &str) -> Scratch {
        Scratch(env::temp_dir().join(format!("lib3pt-rust-{}-{name}", process::id())))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}
