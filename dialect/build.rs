//! Builds the dialect's C++ and gives everything above it MLIR's C API as a shared library.

#[path = "../tools/glue.rs"]
mod glue;

use std::{env, fs, path::PathBuf};

fn main() {
    glue::build("layout_dialect_glue", &["dialect"]);

    // mlir-sys asks for libMLIR-C.so, which Debian does not have: the C API comes in archives beside libMLIR.so. A
    // linker script of that name stands for them. The shared libraries are named again because rustc links as needed.
    let libdir = glue::libdir();
    let mut archives: Vec<_> = fs::read_dir(&libdir)
        .expect("LLVM's library folder is readable")
        .map(|entry| entry.expect("an entry of the folder").path())
        .filter(|path| {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            name.starts_with("libMLIRCAPI") && name.ends_with(".a")
        })
        .chain(["libMLIR.so", "libLLVM.so"].map(|name| libdir.join(name)))
        .map(|path| path.display().to_string())
        .collect();
    archives.sort();
    let capi = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it")).join("capi");
    fs::create_dir_all(&capi).expect("OUT_DIR is writable");
    fs::write(capi.join("libMLIR-C.so"), format!("GROUP ( {} )\n", archives.join(" "))).expect("OUT_DIR is writable");
    println!("cargo:rustc-link-search=native={}", capi.display());
}
