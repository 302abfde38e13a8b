//! Every function of interface/3pt.json is called by the crate, and has a friendly name: the item
//! with `#[doc(alias = "tpt_...")]`, by which it is also found in the documentation.
use std::collections::HashSet;
use std::fs;
use std::path::Path;

type Json = serde_json::Value;

fn interface() -> Json {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = fs::read_to_string(here.join("../../../interface/3pt.json")).expect("3pt.json");
    serde_json::from_str(&text).expect("3pt.json is JSON")
}

fn functions(interface: &Json) -> Vec<&str> {
    let functions = interface["functions"].as_array().expect("functions");
    functions.iter().map(|f| f["name"].as_str().expect("a name")).collect()
}

fn sources() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let files = fs::read_dir(folder).expect("src").map(|file| file.expect("a file").path());
    files.map(|path| fs::read_to_string(path).expect("a source file")).collect()
}

/// What each alias stands on: the first line after it that is no attribute.
fn friendly(source: &str) -> Vec<(&str, &str)> {
    let mut found = Vec::new();
    let lines: Vec<&str> = source.lines().map(str::trim).collect();
    for (i, line) in lines.iter().enumerate() {
        let Some(alias) = line.strip_prefix("#[doc(alias = \"") else { continue };
        let item = lines[i..].iter().find(|line| !line.starts_with("#[")).expect("an item");
        found.push((alias.trim_end_matches("\")]"), *item));
    }
    found
}

#[test]
fn coverage_calls() {
    let interface = interface();
    let sources = sources();
    let lines = sources.iter().flat_map(|source| source.lines());
    let code = lines.filter(|line| !line.trim().starts_with("#[doc") && !line.contains("//"));
    let words: HashSet<&str> =
        code.flat_map(|line| line.split(|c: char| !c.is_alphanumeric() && c != '_')).collect();
    let missing: Vec<_> =
        functions(&interface).into_iter().filter(|f| !words.contains(f)).collect();
    assert!(missing.is_empty(), "never called: {missing:?}");
}

#[test]
fn coverage_friendly_names() {
    let (interface, sources) = (interface(), sources());
    let names: Vec<_> = sources.iter().flat_map(|source| friendly(source)).collect();
    for name in functions(&interface) {
        let items: Vec<_> = names.iter().filter(|(alias, _)| *alias == name).collect();
        assert!(!items.is_empty(), "{name} has no friendly name");
        for (_, item) in items {
            assert!(item.starts_with("pub "), "{name} stands on `{item}`");
        }
    }
    for (alias, _) in names {
        assert!(functions(&interface).contains(&alias), "{alias} is no function");
    }
}
