//! Finds lib3pt: the file LIB3PT_LIBRARY, else the tree LIB3PT_PREFIX, else what pkg-config knows.
use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::exit;

/// The version that src/bindings.rs was made from.
const NEEDED: &str = "1.0.0";

fn main() {
    for name in ["LIB3PT_LIBRARY", "LIB3PT_PREFIX", "DOCS_RS"] {
        println!("cargo:rerun-if-env-changed={name}");
    }
    if given("DOCS_RS").is_some() {
        return; // documentation links nothing
    }
    if let Err(why) = find() {
        eprintln!("error: {why}");
        exit(1);
    }
}

/// What an environment variable says; an empty one counts as not set.
fn given(name: &str) -> Option<OsString> {
    env::var_os(name).filter(|value| !value.is_empty())
}

fn find() -> Result<(), String> {
    if let Some(file) = given("LIB3PT_LIBRARY") {
        return link_file(Path::new(&file));
    }
    if let Some(prefix) = given("LIB3PT_PREFIX") {
        prefer(Path::new(&prefix))?;
    }
    let found = pkg_config::Config::new().atleast_version(NEEDED).probe("3pt");
    found.map(|_| ()).map_err(|e| {
        format!(
            "lib3pt {NEEDED} or newer was looked for by `pkg-config 3pt` and not found; install the \
             package lib3pt-dev or build it (meson setup build; meson install -C build), or set \
             LIB3PT_PREFIX to where it is installed or LIB3PT_LIBRARY to the file lib3pt.so.1 \
             itself.\n{}",
            said(&e)
        )
    })
}

/// What pkg-config said, without its crate's guess at the name of a package.
fn said(error: &pkg_config::Error) -> String {
    match error {
        pkg_config::Error::ProbeFailure { command, output, .. } => {
            format!("{command}: {}", String::from_utf8_lossy(&output.stderr).trim_end())
        }
        other => other.to_string(),
    }
}

/// Links this very file. Its version is compared when the program starts to use it.
fn link_file(file: &Path) -> Result<(), String> {
    let whole = fs::canonicalize(file).map_err(|e| format!("LIB3PT_LIBRARY is {file:?}: {e}"))?;
    let shared =
        whole.to_string_lossy().contains(".so") || whole.extension() == Some("dylib".as_ref());
    if !shared {
        return Err(format!(
            "LIB3PT_LIBRARY is {file:?}: a shared library, lib3pt.so.1, is needed"
        ));
    }
    if !names_its_check(&whole)? {
        return Err(format!("LIB3PT_LIBRARY is {file:?}: no lib3pt, it has no tpt_check_version"));
    }
    let (Some(folder), Some(name)) = (file.parent(), file.file_name()) else {
        return Err(format!("LIB3PT_LIBRARY is {file:?}, which is no file"));
    };
    println!("cargo:rustc-link-search=native={}", folder.display());
    println!("cargo:rustc-link-lib=dylib:+verbatim={}", name.to_string_lossy());
    Ok(())
}

/// Whether the name of lib3pt's first function stands in the file.
fn names_its_check(file: &Path) -> Result<bool, String> {
    let bytes = fs::read(file).map_err(|e| format!("LIB3PT_LIBRARY is {file:?}: {e}"))?;
    let name = b"\0tpt_check_version\0";
    Ok(bytes.windows(name.len()).any(|window| window == name))
}

/// Lets pkg-config look under this prefix first.
fn prefer(prefix: &Path) -> Result<(), String> {
    let file = description(prefix).ok_or_else(|| {
        format!("LIB3PT_PREFIX is {prefix:?}: no 3pt.pc in its lib/pkgconfig or lib/*/pkgconfig")
    })?;
    let mut path = file.into_os_string();
    if let Some(old) = given("PKG_CONFIG_PATH") {
        path.push(":");
        path.push(old);
    }
    env::set_var("PKG_CONFIG_PATH", path);
    Ok(())
}

/// The folder of 3pt.pc: lib, lib64 or the distribution's lib/x86_64-linux-gnu.
fn description(prefix: &Path) -> Option<PathBuf> {
    let mut folders = vec![prefix.join("lib"), prefix.join("lib64")];
    let inner = fs::read_dir(prefix.join("lib")).into_iter().flatten().flatten();
    folders.extend(inner.map(|entry| entry.path()));
    let described = folders.into_iter().map(|folder| folder.join("pkgconfig"));
    described.into_iter().find(|folder| folder.join("3pt.pc").is_file())
}
