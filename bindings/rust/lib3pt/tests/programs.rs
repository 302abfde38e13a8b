//! The five programs print what those in C print: LIB3PT_PROGRAMS has NAME.txt of each.
use std::path::PathBuf;
use std::process::Command;
use std::{env, fs};

/// Cargo builds the examples before it runs this, beside it.
fn output(name: &str) -> String {
    let here = env::current_exe().expect("this test has a path");
    let folder = here.parent().and_then(|deps| deps.parent()).expect("target/PROFILE/deps/NAME");
    let done = Command::new(folder.join("examples").join(name)).output().expect("it was built");
    assert!(done.status.success(), "{name}: {}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stdout).expect("UTF-8")
}

fn compare(name: &str) {
    let found = output(name);
    let Some(folder) = env::var_os("LIB3PT_PROGRAMS") else {
        eprintln!("skipped: LIB3PT_PROGRAMS is not set");
        return;
    };
    let file = PathBuf::from(folder).join(name).with_extension("txt");
    assert_eq!(found, fs::read_to_string(&file).unwrap_or_else(|e| panic!("{file:?}: {e}")));
}

#[test]
fn program_train_tiny() {
    compare("train_tiny");
}

#[test]
fn program_continue_text() {
    compare("continue_text");
}

#[test]
fn program_stream_text() {
    compare("stream_text");
}

#[test]
fn program_inspect_geometry() {
    compare("inspect_geometry");
}

#[test]
fn program_handle_error() {
    compare("handle_error");
}
