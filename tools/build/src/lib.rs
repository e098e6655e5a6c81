//! What the build scripts of the layout dialect share.
//!
//! | module | what it does |
//! |---|---|
//! | [`llvm`] | finds LLVM and MLIR, and refuses other versions and static libraries |
//! | [`glue`] | builds the C++ of a package with CMake and says how to link it |
//! | [`records`] | reads the passes, options and pipelines of a TableGen file |
//!
//! For the packages of this project alone: the interface may change in any version.

pub mod glue;
pub mod llvm;
pub mod records;

use std::process::exit;

/// The value, or the end of the build script with one line that says what is wrong.
pub fn or_stop<T>(result: Result<T, String>) -> T {
    result.unwrap_or_else(|message| {
        println!("cargo:warning={message}");
        eprintln!("error: {message}");
        exit(1)
    })
}
