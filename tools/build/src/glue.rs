//! The C++ of a package: built with CMake, linked with the package's crate.
//!
//! A package with C++ has a file `NAME.cmake` with its targets, which `CMakeLists.txt` at the top of the repository
//! includes as well. Here a project is generated from that file alone, so a package builds without the others. Headers
//! go from package to package by the metadata `include` of a build script, see [`headers_of`].

use crate::llvm::Llvm;
use std::{
    env, fs,
    path::{Path, PathBuf},
};

/// The CMake code shared by all `.cmake` files.
const COMMON: &str = include_str!("../layout.cmake");

/// The C++ of the build script's package.
#[derive(Clone, Debug)]
pub struct Glue<'a> {
    /// The CMake target, a static library; the crate links it by this name.
    pub target: &'a str,
    /// The file with the target, in the package's folder.
    pub file: &'a str,
    /// Folders with headers that the target includes, beside its own.
    pub include: Vec<PathBuf>,
}

impl Glue<'_> {
    /// Builds the target, unless its inputs are unchanged, and prints the link options for Cargo. Clippy needs these alone.
    ///
    /// # Errors
    /// The folder of the package cannot be read, or Cargo's folder for this script not be written.
    ///
    /// # Panics
    /// CMake or the compiler fails; they say why.
    pub fn build(&self, llvm: &Llvm) -> Result<(), String> {
        let package = package();
        for entry in fs::read_dir(&package).map_err(|error| format!("{}: {error}", package.display()))? {
            let path = entry.map_err(|error| error.to_string())?.path();
            let known = ["cpp", "h", "td", "cmake"];
            if path.extension().is_some_and(|extension| known.iter().any(|known| extension == *known)) {
                println!("cargo:rerun-if-changed={}", path.display());
            }
        }

        let project = out().join("project");
        write(&project.join("layout.cmake"), COMMON)?;
        let text = format!(
            "cmake_minimum_required(VERSION 3.21)\nproject(layout_glue LANGUAGES C CXX)\ninclude(layout.cmake)\n\
             include(\"{}\")\n",
            package.join(self.file).display()
        );
        write(&project.join("CMakeLists.txt"), &text)?;
        let include: Vec<String> = self.include.iter().map(|folder| folder.display().to_string()).collect();
        let built = out().join("build");
        // Clippy links nothing. Build scripts that it compiled are of the checkout, and have folders of their own.
        if !cfg!(clippy) {
            cmake::Config::new(&project)
                .generator("Ninja")
                .profile("Release")
                .define("MLIR_DIR", llvm.libdir.join("cmake/mlir"))
                .define("LAYOUT_INCLUDE", include.join(";"))
                .build_target(self.target)
                .build();
        }
        println!("cargo:rustc-link-search=native={}", built.display());
        link_with(llvm);
        println!("cargo:libdir={}", llvm.libdir.display());
        let own = ["headers", "include", "include/layout"].map(|folder| built.join(folder));
        let include = env::join_paths(own.iter().chain(&self.include)).map_err(|error| error.to_string())?;
        println!("cargo:include={}", include.display());
        Ok(())
    }
}

/// Lets the loader find LLVM's shared libraries, which may be outside of its search path.
pub fn link_with(llvm: &Llvm) {
    println!("cargo:rustc-link-arg=-Wl,-rpath,{}", llvm.libdir.display());
}

/// The folders with the headers of the package that links the library `links`, and of its dependencies.
///
/// # Errors
/// The build script's package does not depend on it.
pub fn headers_of(links: &str) -> Result<Vec<PathBuf>, String> {
    let name = format!("DEP_{}_INCLUDE", links.to_uppercase());
    let folders = env::var_os(&name).ok_or_else(|| format!("{name} must be set by the build script of {links}"))?;
    Ok(env::split_paths(&folders).collect())
}

/// The folder of the build script's package.
pub fn package() -> PathBuf {
    env::var_os("CARGO_MANIFEST_DIR").expect("Cargo sets it for build scripts").into()
}

/// The output folder of the build script.
pub fn out() -> PathBuf {
    env::var_os("OUT_DIR").expect("Cargo sets it for build scripts").into()
}

/// Writes a file unless it already has this text, so that its dependents are not rebuilt.
///
/// # Errors
/// The file cannot be written.
pub fn write(file: &Path, text: &str) -> Result<(), String> {
    if fs::read_to_string(file).is_ok_and(|old| old == text) {
        return Ok(());
    }
    let folder = file.parent().unwrap_or(Path::new("."));
    let written = fs::create_dir_all(folder).and_then(|()| fs::write(file, text));
    written.map_err(|error| format!("{}: {error}", file.display()))
}
