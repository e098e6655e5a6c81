//! The shared code of the layout dialect's build scripts.
//!
//! | module | purpose |
//! |---|---|
//! | [`llvm`] | finds LLVM and MLIR, and refuses other versions, and static libraries where something is linked |
//! | [`glue`] | builds the C++ of a package with CMake and prints its link options |
//! | [`records`] | reads the passes, options and pipelines of a TableGen file |
//!
//! For the packages of this project alone: the interface may change in any version.

pub mod glue;
pub mod llvm;
pub mod records;

use std::process::exit;

/// The value; an error ends the build script with its message.
pub fn or_stop<T>(result: Result<T, String>) -> T {
    result.unwrap_or_else(|message| {
        println!("cargo:warning={message}");
        eprintln!("error: {message}");
        exit(1)
    })
}
