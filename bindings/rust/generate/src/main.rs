//! Compares lib3pt-sys/src/bindings.rs with what bindgen makes of include/3pt/3pt.h; exit status 1
//! where they differ. With --write it writes the file.
use std::path::Path;
use std::process::exit;

const FIRST_LINE: &str = "// Generated from include/3pt/3pt.h by bindings/rust/generate; not to be edited.";

fn declarations(header: &Path) -> String {
    let made = bindgen::Builder::default()
        .header(header.to_str().expect("the path is UTF-8"))
        .clang_args(["-DTPT_API=", "-fparse-all-comments"])
        .allowlist_item("(tpt|TPT)_.*")
        .default_enum_style(bindgen::EnumVariation::Consts)
        .prepend_enum_name(false)
        .layout_tests(false) // they hold one word size
        .use_core()
        .ctypes_prefix("core::ffi")
        .default_macro_constant_type(bindgen::MacroTypeVariation::Signed)
        .rust_target(bindgen::RustTarget::Stable_1_73)
        .disable_header_comment()
        .raw_line(FIRST_LINE)
        .formatter(bindgen::Formatter::Rustfmt)
        .generate();
    made.expect("3pt.h is read").to_string()
}

fn main() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let file = here.join("../lib3pt-sys/src/bindings.rs");
    let wanted = declarations(&here.join("../../../include/3pt/3pt.h"));
    if std::env::args().nth(1).as_deref() == Some("--write") {
        std::fs::write(&file, wanted).expect("bindings.rs is written");
        return;
    }
    if std::fs::read_to_string(&file).ok().as_deref() != Some(wanted.as_str()) {
        eprintln!("lib3pt-sys/src/bindings.rs is not what 3pt.h gives: run this with --write");
        exit(1);
    }
}
