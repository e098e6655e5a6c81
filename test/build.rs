//! Lets the tests find libMLIR, which Debian keeps off the loader's path.

use std::env;

fn main() {
    let prefix = env::vars().find(|(name, _)| name.starts_with("MLIR_SYS_") && name.ends_with("_PREFIX"));
    let (name, prefix) = prefix.expect("MLIR_SYS_*_PREFIX says where LLVM is; .cargo/config.toml sets it");
    println!("cargo:rerun-if-env-changed={name}");
    println!("cargo:rustc-link-arg-tests=-Wl,-rpath,{prefix}/lib");
}
