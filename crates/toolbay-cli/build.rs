//! Lays the functions that run at every start, and in every call, beside each other in the program, where the linker can.
//! What is written in `link/order.txt` (by `cargo xtask order`) and is not there any more does no harm.

use std::{env, fs, path::Path, process::Command};

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=link/order.txt");
    let is = |name: &str, value: &str| env::var(name).is_ok_and(|set| set == value);
    if !is("TARGET", "x86_64-unknown-linux-gnu") || !is("PROFILE", "release") {
        return;
    }
    let (Ok(here), Ok(out)) = (env::var("CARGO_MANIFEST_DIR"), env::var("OUT_DIR")) else { return };
    let order = Path::new(&here).join("link/order.txt");
    let args = [format!("-Wl,--symbol-ordering-file={}", order.display()), "-Wl,--no-warn-symbol-ordering".into()];
    if links_with(&args, Path::new(&out)) {
        args.iter().for_each(|arg| println!("cargo:rustc-link-arg-bins={arg}"));
    }
}

/// Whether the linker in use takes these; another one than LLD may not.
fn links_with(args: &[String], out: &Path) -> bool {
    let source = out.join("probe.rs");
    if fs::write(&source, "fn main() {}").is_err() {
        return false;
    }
    let mut rustc = Command::new(env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
    rustc.arg(&source).arg("--out-dir").arg(out).args(["--crate-name", "probe"]);
    rustc.args(env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default().split('\u{1f}').filter(|flag| !flag.is_empty()));
    if let Ok(linker) = env::var("RUSTC_LINKER") {
        rustc.arg(format!("-Clinker={linker}"));
    }
    rustc.args(args.iter().map(|arg| format!("-Clink-arg={arg}")));
    rustc.output().is_ok_and(|done| done.status.success())
}
