//! Lets the loader find libMLIR for the tests of this crate.

use layout_build::{glue::link_with, llvm::Llvm, or_stop};

fn main() {
    link_with(&or_stop(Llvm::find()));
}
