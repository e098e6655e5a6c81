//! Builds the C++ of the tools.

use layout_build::{glue::Glue, llvm::Llvm, or_stop};

fn main() {
    let glue = Glue { target: "layout_opt_glue", file: "Opt.cmake", include: Vec::new() };
    or_stop(glue.build(&or_stop(Llvm::find())));
}
