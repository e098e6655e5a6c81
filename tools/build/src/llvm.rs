//! The installation of LLVM and MLIR.
//!
//! `llvm-config` gives it: the program below the prefix in the variable `MLIR_SYS_220_PREFIX`, which the `mlir-sys`
//! crate reads too, or else the one on the `PATH`. `tblgen` reads `TABLEGEN_220_PREFIX` in the same way, so both
//! variables must have the same prefix, or neither be set.
//!
//! Only shared libraries are linked. With static ones the plugin and the compiler that loads it would each have a copy
//! of MLIR, and the first type that both know would crash the process. `mlir-sys` links static libraries unless
//! `MLIR_SYS_LINK_SHARED` is 1.
//!
//! An archive links no library. Where CMake builds one for an LLVM without `libMLIR.so`, an `llvm-config` of its own
//! names no shared library (`tools/embed/llvm-config.in`), and none is needed.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

/// The LLVM version of the crates `mlir-sys`, `melior` and `tblgen`.
const VERSION: u32 = 22;

/// An installation of LLVM with MLIR.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Llvm {
    /// The folder of the installation, with its programs in `bin`.
    pub prefix: PathBuf,
    /// The folder of the libraries, and of `lib/cmake`.
    pub libdir: PathBuf,
    /// The folder of the headers and of MLIR's TableGen files.
    pub include: PathBuf,
}

impl Llvm {
    /// Finds LLVM by the environment of this build script.
    ///
    /// # Errors
    /// There is none, or one of another version, or one without MLIR, or the variables contradict each other.
    pub fn find() -> Result<Llvm, String> {
        let variables = [format!("MLIR_SYS_{VERSION}0_PREFIX"), format!("TABLEGEN_{VERSION}0_PREFIX")];
        let [prefix, tablegen] = variables.each_ref().map(|name| env::var_os(name).map(PathBuf::from));
        // With a prefix the PATH names nothing, and differs between calls of Cargo: rustup, pages and Python extend it.
        let path = prefix.is_none().then_some("PATH");
        for name in variables.iter().map(String::as_str).chain([SHARED]).chain(path) {
            println!("cargo:rerun-if-env-changed={name}");
        }
        Llvm::at(prefix.as_deref(), tablegen.as_deref(), env::var(SHARED).ok().as_deref())
    }

    /// [`Llvm::find`] with the values of the three variables.
    fn at(prefix: Option<&Path>, tablegen: Option<&Path>, shared: Option<&str>) -> Result<Llvm, String> {
        if prefix != tablegen {
            return Err(format!(
                "MLIR_SYS_{VERSION}0_PREFIX and TABLEGEN_{VERSION}0_PREFIX must be the same prefix of LLVM {VERSION}, found {} and {}",
                shown(prefix),
                shown(tablegen)
            ));
        }
        if shared != Some("1") {
            let found = shared.map_or("nothing".into(), |value| format!("`{value}`"));
            return Err(format!(
                "{SHARED} must be 1, found {found}: only the shared libraries of LLVM and MLIR can be linked"
            ));
        }
        let program = prefix.map_or("llvm-config".into(), |prefix| prefix.join("bin/llvm-config"));
        let version = ask(&program, "--version").map_err(|error| format!("{error}; {}", advice()))?;
        if version.split('.').next() != Some(&VERSION.to_string()) {
            return Err(format!(
                "expected LLVM {VERSION}, found LLVM {version} by {}; {}",
                program.display(),
                advice()
            ));
        }
        let folder = |what| ask(&program, what).map(PathBuf::from);
        let found = Llvm { prefix: folder("--prefix")?, libdir: folder("--libdir")?, include: folder("--includedir")? };
        let links = ask(&program, "--link-shared --libnames").map_or(true, |names| !names.is_empty());
        let shared = links.then_some(["libMLIR.so", "libLLVM.so"]);
        for file in shared.iter().flatten().chain(&["libMLIRCAPIIR.a", "cmake/mlir/MLIRConfig.cmake"]) {
            if !found.libdir.join(file).exists() {
                return Err(format!(
                    "expected {file} in {}, found none: MLIR must be installed beside LLVM, with shared libraries \
                     (LLVM_BUILD_LLVM_DYLIB, MLIR_BUILD_MLIR_DYLIB), its C API and its CMake files; without shared \
                     libraries CMake builds the archive of Layout::Static",
                    found.libdir.display()
                ));
            }
        }
        Ok(found)
    }

    /// The archives of MLIR's C API, which `libMLIR.so` lacks, and the shared libraries that they need, if any.
    ///
    /// # Errors
    /// The folder of libraries cannot be read.
    pub fn c_api(&self) -> Result<Vec<PathBuf>, String> {
        let entries = fs::read_dir(&self.libdir).map_err(|error| format!("{}: {error}", self.libdir.display()))?;
        let mut found: Vec<_> = entries
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(|path| {
                let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
                name.starts_with("libMLIRCAPI") && name.ends_with(".a")
            })
            .collect();
        found.sort();
        let shared = ["libMLIR.so", "libLLVM.so"].map(|name| self.libdir.join(name));
        found.extend(shared.into_iter().filter(|path| path.exists()));
        Ok(found)
    }
}

/// The variable that makes `mlir-sys` link shared libraries, if 1.
const SHARED: &str = "MLIR_SYS_LINK_SHARED";

/// The output of `llvm-config`.
fn ask(program: &Path, what: &str) -> Result<String, String> {
    let output = Command::new(program).args(what.split(' ')).output();
    let output = output.map_err(|error| format!("{} cannot be run: {error}", program.display()))?;
    if !output.status.success() {
        return Err(format!("{} {what} failed: {}", program.display(), output.status));
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim().into())
}

/// The advice to set the variables, with the prefix where a program with the version in its name is on the `PATH`.
fn advice() -> String {
    let known = ask(Path::new(&format!("llvm-config-{VERSION}")), "--prefix");
    let prefix = known.unwrap_or_else(|_| format!("the prefix of LLVM {VERSION}"));
    format!("set MLIR_SYS_{VERSION}0_PREFIX and TABLEGEN_{VERSION}0_PREFIX to {prefix}")
}

fn shown(prefix: Option<&Path>) -> String {
    prefix.map_or("nothing".into(), |prefix| prefix.display().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    /// A folder with a script as its `llvm-config`.
    fn prefix(name: &str, script: &str) -> PathBuf {
        let folder = env::temp_dir().join(format!("layout-build-{}-{name}", std::process::id()));
        fs::create_dir_all(folder.join("bin")).unwrap();
        let program = folder.join("bin/llvm-config");
        fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        folder
    }

    fn error(prefix: Option<&Path>, tablegen: Option<&Path>, shared: Option<&str>) -> String {
        Llvm::at(prefix, tablegen, shared).unwrap_err()
    }

    #[test]
    fn what_is_wrong_is_one_sentence() {
        let old = prefix("old", "echo 21.1.2");
        let said = error(Some(&old), Some(&old), Some("1"));
        assert!(said.starts_with("expected LLVM 22, found LLVM 21.1.2 by ") && !said.contains('\n'), "{said}");

        let none = Path::new("/no/such/folder");
        let said = error(Some(none), Some(none), Some("1"));
        assert!(said.starts_with("/no/such/folder/bin/llvm-config cannot be run: "), "{said}");
        assert!(said.contains("; set MLIR_SYS_220_PREFIX and TABLEGEN_220_PREFIX to "), "{said}");

        let said = error(Some(none), None, Some("1"));
        assert!(said.ends_with("the same prefix of LLVM 22, found /no/such/folder and nothing"), "{said}");
        for (shared, found) in [(None, "nothing"), (Some("0"), "`0`")] {
            let said = error(Some(none), Some(none), shared);
            assert!(said.starts_with(&format!("MLIR_SYS_LINK_SHARED must be 1, found {found}: ")), "{said}");
        }

        let bare = prefix("bare", "case $1 in --version) echo 22.1.8;; *) echo /no/such/lib;; esac");
        let said = error(Some(&bare), Some(&bare), Some("1"));
        assert!(said.starts_with("expected libMLIR.so in /no/such/lib, found none: "), "{said}");

        let names = "case $* in --version) echo 22.1.8;; *libnames) ;; *) echo /no/such/lib;; esac";
        let archives = prefix("archives", names);
        let said = error(Some(&archives), Some(&archives), Some("1"));
        assert!(said.starts_with("expected libMLIRCAPIIR.a in /no/such/lib, found none: "), "{said}");
        for folder in [old, bare, archives] {
            fs::remove_dir_all(folder).unwrap();
        }
    }
}
