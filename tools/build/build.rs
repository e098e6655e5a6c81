//! Finds LLVM before any crate that needs it is built, so that an error is one sentence: other crates'
//! build scripts would fail later, and each in its own way.

#[path = "src/llvm.rs"]
#[expect(dead_code, reason = "what is found is for the build scripts of the packages")]
mod llvm;

use std::process::exit;

fn main() {
    println!("cargo:rerun-if-changed=src/llvm.rs");
    if let Err(message) = llvm::Llvm::find() {
        eprintln!("error: {message}");
        exit(1);
    }
}
