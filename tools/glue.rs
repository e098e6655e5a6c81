//! What the build scripts share: where LLVM is, how the C++ glue of a package is built, how it is linked.

use std::{
    env, fs,
    path::{Path, PathBuf},
};

/// Builds one target of the top CMakeLists.txt, which the package links by the same name.
///
/// `folders` hold the C++ and TableGen files that the target reads, relative to the top. Nothing else makes it build again.
pub fn build(target: &str, folders: &[&str]) {
    let top = top();
    let mut inputs = vec![top.join("CMakeLists.txt"), top.join("tools/glue.rs")];
    for folder in folders {
        let entries = fs::read_dir(top.join(folder)).expect("the folder of the glue is readable");
        inputs.extend(entries.map(|entry| entry.expect("an entry of the folder").path()).filter(|path| {
            path.extension().is_some_and(|extension| ["cpp", "h", "td"].iter().any(|known| extension == *known))
        }));
    }
    inputs.sort();
    for input in inputs {
        println!("cargo:rerun-if-changed={}", input.display());
    }

    let built = cmake::Config::new(&top)
        .generator("Ninja")
        .profile("Release")
        .define("MLIR_DIR", libdir().join("cmake/mlir"))
        .define("LAYOUT_GLUE_ONLY", "ON")
        .build_target(target)
        .build()
        .join("build");
    println!("cargo:rustc-link-search=native={}", built.display());
    // Debian keeps libMLIR.so off the loader's path.
    println!("cargo:rustc-link-arg=-Wl,-rpath,{}", libdir().display());
    println!("cargo:libdir={}", libdir().display());
    println!("cargo:include={}:{}", top.display(), built.display());
}

/// The root of the workspace.
pub fn top() -> PathBuf {
    let package = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let top = package.ancestors().find(|folder| folder.join("CMakeLists.txt").is_file());
    top.expect("a folder above the package has CMakeLists.txt").to_path_buf()
}

/// Where LLVM's libraries are: under the prefix that mlir-sys is told, whose variable names LLVM's version.
pub fn libdir() -> PathBuf {
    let (name, prefix) = env::vars()
        .find(|(name, _)| name.starts_with("MLIR_SYS_") && name.ends_with("_PREFIX"))
        .expect("MLIR_SYS_*_PREFIX says where LLVM is; .cargo/config.toml sets it");
    println!("cargo:rerun-if-env-changed={name}");
    Path::new(&prefix).join("lib")
}
