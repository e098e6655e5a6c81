//! Builds the dialect's C++ and gives everything above it MLIR's C API as a shared library.

use layout_build::{
    glue::{Glue, out, write},
    llvm::Llvm,
    or_stop,
};

fn main() {
    let llvm = or_stop(Llvm::find());
    let glue = Glue { target: "layout_dialect_glue", file: "Dialect.cmake", include: Vec::new() };
    or_stop(glue.build(&llvm));

    // mlir-sys asks for libMLIR-C.so, which not every LLVM has: the C API comes in archives beside libMLIR.so. A linker
    // script of that name stands for them. The shared libraries are named again because rustc links as needed.
    let archives: Vec<String> = or_stop(llvm.c_api()).iter().map(|path| path.display().to_string()).collect();
    let folder = out().join("capi");
    or_stop(write(&folder.join("libMLIR-C.so"), &format!("GROUP ( {} )\n", archives.join(" "))));
    println!("cargo:rustc-link-search=native={}", folder.display());
}
