//! What interface/3pt.json has is in the declarations.
use std::fs;
use std::path::Path;

type Json = serde_json::Value;

const BINDINGS: &str = include_str!("../src/bindings.rs");

fn interface() -> Json {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = fs::read_to_string(here.join("../../../interface/3pt.json")).expect("3pt.json");
    serde_json::from_str(&text).expect("3pt.json is JSON")
}

fn list<'a>(of: &'a Json, key: &str) -> &'a [Json] {
    of[key].as_array().unwrap_or_else(|| panic!("{key} is no list"))
}

fn name(of: &Json) -> &str {
    of["name"].as_str().expect("a name")
}

/// From `start` to `end`.
fn part(start: &str, end: &str) -> &'static str {
    let at = BINDINGS.find(start).unwrap_or_else(|| panic!("there is no `{start}`"));
    let rest = &BINDINGS[at + start.len()..];
    &rest[..rest.find(end).expect("it ends")]
}

#[test]
fn coverage_functions() {
    for function in list(&interface(), "functions") {
        let declared = part(&format!("pub fn {}(", name(function)), ";");
        let arguments: Vec<&str> = declared
            .split(',')
            .filter_map(|a| a.split_once(": "))
            .map(|a| a.0.trim())
            .map(|a| a.trim_end_matches('_'))
            .collect(); // `use_`: a word of Rust
        let wanted: Vec<&str> = list(function, "arguments").iter().map(name).collect();
        assert_eq!(arguments, wanted, "{}", name(function));
    }
}

#[test]
fn coverage_enums() {
    for values in list(&interface(), "enums") {
        for value in list(values, "values") {
            let start = format!("pub const {}: {} = ", name(value), name(values));
            assert_eq!(part(&start, ";"), value["value"].to_string(), "{}", name(value));
        }
    }
}

#[test]
fn coverage_structs() {
    for described in list(&interface(), "structs") {
        let fields = part(&format!("pub struct {} {{", name(described)), "\n}");
        let declared: Vec<&str> =
            fields.split("pub ").skip(1).filter_map(|f| f.split_once(':')).map(|f| f.0).collect();
        let wanted: Vec<&str> = list(described, "fields").iter().map(name).collect();
        assert_eq!(declared, wanted, "{}", name(described));
    }
}

#[test]
fn coverage_types() {
    let interface = interface();
    for handle in list(&interface, "handles") {
        part(&format!("pub struct {} {{", name(handle)), "}");
    }
    for function in list(&interface, "function_types") {
        part(&format!("pub type {} =", name(function)), ";");
    }
}

#[test]
fn coverage_version() {
    let parts = [
        lib3pt_sys::TPT_VERSION_MAJOR,
        lib3pt_sys::TPT_VERSION_MINOR,
        lib3pt_sys::TPT_VERSION_PATCH,
    ];
    assert_eq!(parts.map(|part| part.to_string()).join("."), interface()["version"]);
    // SAFETY: takes any numbers.
    let status = unsafe { lib3pt_sys::tpt_check_version(parts[0], parts[1], parts[2]) };
    assert_eq!(status, lib3pt_sys::TPT_OK);
}
