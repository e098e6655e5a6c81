//! Builds the C++ of the passes.

use layout_build::{
    glue::{Glue, headers_of},
    llvm::Llvm,
    or_stop,
};

fn main() {
    let include = or_stop(headers_of("layout_dialect_glue"));
    or_stop(Glue { target: "layout_passes_glue", file: "Passes.cmake", include }.build(&or_stop(Llvm::find())));
}
