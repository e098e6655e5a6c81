//! Compilers that link MLIR's static libraries: the commands of `docs/static.md`; `examples/embed-cpp` in both ways, and with
//! an LLVM that has no shared libraries; another archive of Rust in the program; what ends configuration.
//!
//! Everything is built below `<target>/<profile>/static`. `BLESS=1` writes the output of commands into the page.

use layout_test::{
    Checkout, long_test,
    pages::{self, Place},
};
use std::{
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    process::{Command, Output},
};

/// The folders of the test.
struct Hosts {
    checkout: Checkout,
    folder: PathBuf,
}

#[test]
fn static_hosts_do_what_shared_ones_do() {
    long_test!();
    let hosts = Hosts::new();
    hosts.page();
    hosts.install();
    let shared = hosts.build("shared", "examples/embed-cpp", &[]);
    let expected = hosts.lowered(&shared);
    let linkage = "-DLAYOUT_LINKAGE=Static";
    let plain = hosts.build("plain", "examples/embed-cpp", &[linkage]);
    assert_eq!(hosts.lowered(&plain), expected);

    let tree = hosts.folder.join("llvm");
    let script = hosts.checkout.root.join("test/embed/static-llvm.sh");
    succeed(Command::new(script).arg(&hosts.checkout.llvm).arg(&tree));
    let mlir = format!("-DMLIR_DIR={}", tree.join("lib/cmake/mlir").display());
    let alone = hosts.build("alone", "examples/embed-cpp", &[linkage, &mlir]);
    assert_eq!(hosts.lowered(&alone), expected);
    let libraries = succeed(Command::new("ldd").arg(alone.join("mini-opt")));
    assert!(!libraries.contains("MLIR") && !libraries.contains("LLVM"), "{libraries}");
    for build in [plain, alone] {
        fs::remove_dir_all(build).expect("the programs are large");
    }

    let two = hosts.build("two", "test/embed/static", &[]);
    for program in ["before", "behind"] {
        assert_eq!(succeed(&mut Command::new(two.join(program))), "512000 1 2 -1\n");
    }
    let output = hosts.configure("mixed", "test/embed/static", &["-DMIXED=ON"]).output().expect("cmake runs");
    refused(&output, "LAYOUT_LINKAGE already determined for \"before\"");
    hosts.other_versions();
}

impl Hosts {
    fn new() -> Hosts {
        let checkout = Checkout::new();
        let folder = checkout.tools.join("static");
        fs::create_dir_all(&folder).expect("a folder of the test's own");
        Hosts { checkout, folder }
    }

    /// The commands of the page, whose clone is this checkout.
    fn page(&self) {
        let folder = self.folder.join("page");
        fs::create_dir_all(&folder).expect("a folder of the test's own");
        if !folder.join("layout").exists() {
            symlink(&self.checkout.root, folder.join("layout")).expect("a link to the checkout");
        }
        let environment = vec![
            ("CARGO_TARGET_DIR", self.checkout.target().into()),
            ("LAYOUT_CARGO_PROFILE", self.checkout.profile().into()),
        ];
        let place = Place { root: &self.checkout.root, folder: folder.clone(), shell: folder, environment };
        let failures = pages::check(&place, "docs/static.md");
        assert!(failures.is_empty(), "{}", failures.join("\n"));
    }

    /// Installs what the page built, with the shared library.
    fn install(&self) {
        let build = self.folder.join("page/build");
        succeed(Command::new("cmake").arg("--build").arg(&build).args(["--target", "layout/all"]));
        succeed(Command::new("cmake").arg("--install").arg(build.join("layout")).arg("--prefix").arg(self.prefix()));
    }

    fn prefix(&self) -> PathBuf {
        self.folder.join("prefix")
    }

    /// The command that configures a project of the checkout with the installed package.
    fn configure(&self, name: &str, source: &str, definitions: &[&str]) -> Command {
        let mut cmake = Command::new("cmake");
        cmake.args(["-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release"]).arg("-S").arg(self.checkout.root.join(source));
        cmake.arg("-B").arg(self.folder.join(name)).args(definitions);
        cmake.arg(format!("-DCMAKE_PREFIX_PATH={}", self.prefix().display()));
        cmake
    }

    /// The folder of a project that is built.
    fn build(&self, name: &str, source: &str, definitions: &[&str]) -> PathBuf {
        succeed(&mut self.configure(name, source, definitions));
        let build = self.folder.join(name);
        succeed(Command::new("cmake").arg("--build").arg(&build));
        build
    }

    /// What the example's compiler prints.
    fn lowered(&self, build: &Path) -> Vec<String> {
        let commands: [&[&str]; 4] = [
            &["--mini-place"],
            &["--mini-pipeline"],
            &["--mini-place", "--layout-to-memref=form=strided"],
            &["--mini-place", "--layout-to-llvm"],
        ];
        let lower = |arguments: &&[&str]| {
            let mut mini = Command::new(build.join("mini-opt"));
            succeed(mini.arg("matmul.mlir").args(*arguments).current_dir(self.checkout.root.join("examples/embed-cpp")))
        };
        commands.iter().map(lower).collect()
    }

    /// LLVM 23 ends configuration with one sentence, of the installed package and of the checkout.
    fn other_versions(&self) {
        let other = self.folder.join("llvm-23");
        fs::create_dir_all(&other).expect("a folder of the test's own");
        let text = "set(LLVM_PACKAGE_VERSION 23.0.0)\nset(LLVM_VERSION_MAJOR 23)\nset(LLVM_VERSION_MINOR 0)\n";
        fs::write(other.join("MLIRConfig.cmake"), text).expect("a file of the test's own");
        let mlir = format!("-DMLIR_DIR={}", other.display());
        let sentences = [
            ("test/embed/static", "Layout was built with LLVM 22.1, found LLVM 23.0.0 by", "set MLIR_DIR to"),
            (".", "Layout needs LLVM 22, found LLVM 23.0.0 by", "set MLIR_DIR to the folder"),
        ];
        for (source, found, advice) in sentences {
            let build = self.folder.join("other");
            let _ = fs::remove_dir_all(&build);
            let output = self.configure("other", source, &[&mlir]).output().expect("cmake runs");
            refused(&output, found);
            refused(&output, advice);
        }
    }
}

/// Checks that CMake failed with a text.
fn refused(output: &Output, text: &str) {
    let errors = String::from_utf8_lossy(&output.stderr).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(!output.status.success() && errors.contains(text), "expected {text:?} in {errors}");
}

/// The output of a program that must succeed.
fn succeed(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let [printed, errors] = [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text));
    assert!(output.status.success(), "{command:?}: {}\n{printed}\n{errors}", output.status);
    printed.into_owned()
}
