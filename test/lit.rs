//! Runs the lit tests: every `.mlir` and `.test` file below this folder, as LLVM's `lit` would (`lit.cfg.py` is for that one).
//!
//! A file's `RUN:` lines, with `\` at the end of a line that goes on in the next, are one shell script that stops at
//! the first command that fails, in a pipe too. Before it runs, these are put in:
//!
//! | text | stands for |
//! |---|---|
//! | `%s`, `%S` | the file, its folder |
//! | `%t` | a path of the test's own for what it writes |
//! | `%{plugin}` | the dialect and its passes as a plugin of stock `mlir-opt` |
//! | `%{runner_libs}` | what `mlir-runner -shared-libs=` needs for printing |
//! | `%%` | a per cent sign |
//!
//! `REQUIRES: a, b` skips a file where one of these is missing; the architecture's name (`x86_64`) is all there is.
//! The tools are built first, in the profile of this test. `cargo test -p layout-test --test lit -- dialect/` runs the
//! files whose path contains that.

use layout_test::Checkout;
use libtest_mimic::{Arguments, Failed, Trial};
use std::{
    env, fs,
    path::{Path, PathBuf},
    process::{Command, ExitCode},
    sync::Arc,
};

/// Seconds after which a test counts as hanging.
const PATIENCE: &str = "600";

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let suite = Arc::new(Suite::new());
    if !arguments.list {
        suite.checkout.build_tools();
    }
    let mut files = Vec::new();
    find(&suite.folder, &mut files);
    files.sort();
    let trials = files.into_iter().map(|file| suite.clone().trial(file)).collect();
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// All `.mlir` and `.test` files below a folder; those in folders called `Inputs` are no tests.
fn find(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("the folder of the tests is readable") {
        let path = entry.expect("an entry of the folder").path();
        if path.is_dir() && !path.ends_with("Inputs") {
            find(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "mlir" || extension == "test") {
            files.push(path);
        }
    }
}

/// Where everything is.
struct Suite {
    /// The tests.
    folder: PathBuf,
    /// The tools under test, and LLVM.
    checkout: Checkout,
}

impl Suite {
    fn new() -> Suite {
        Suite { folder: env!("CARGO_MANIFEST_DIR").into(), checkout: Checkout::new() }
    }

    fn trial(self: Arc<Self>, file: PathBuf) -> Trial {
        let name = file.strip_prefix(&self.folder).expect("a file below the folder").display().to_string();
        let text = fs::read(&file).expect("a test is readable");
        let text = String::from_utf8_lossy(&text).into_owned();
        let missing = directives(&text, "REQUIRES:")
            .flat_map(|list| list.split(','))
            .any(|feature| feature.trim() != env::consts::ARCH);
        Trial::test(name.clone(), move || self.run(&name, &file, &text)).with_ignored_flag(missing)
    }

    fn run(&self, name: &str, file: &Path, text: &str) -> Result<(), Failed> {
        let own = self.checkout.tools.join("lit").join(name);
        fs::create_dir_all(own.parent().expect("a path below the target folder"))?;
        let runner_libs = ["libmlir_runner_utils.so", "libmlir_c_runner_utils.so"]
            .map(|library| self.checkout.llvm.join("lib").join(library).display().to_string())
            .join(",");
        let values = [
            ("%{plugin}", self.checkout.tools.join("liblayout_plugin.so").display().to_string()),
            ("%{runner_libs}", runner_libs),
            ("%%", "%".into()),
            ("%s", file.display().to_string()),
            ("%S", file.parent().expect("a file is in a folder").display().to_string()),
            ("%t", format!("{}.tmp", own.display())),
        ];
        let script = script(text);
        if script.is_empty() {
            return Err("there is no RUN line".into());
        }
        let script = format!("set -e -o pipefail\n{}", substitute(&script, &values));

        let path = env::var_os("PATH").unwrap_or_default();
        let path =
            [self.checkout.tools.clone(), self.checkout.llvm.join("bin")].into_iter().chain(env::split_paths(&path));
        let output = Command::new("timeout")
            .args([PATIENCE, "bash", "-c", &script])
            .env("PATH", env::join_paths(path)?)
            .current_dir(own.parent().expect("a path below the target folder"))
            .output()?;
        if output.status.success() {
            return Ok(());
        }
        let [stdout, stderr] = [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
        Err(format!("{}\n{script}\n--- stdout\n{stdout}\n--- stderr\n{stderr}", output.status).into())
    }
}

/// What stands behind a keyword, line by line.
fn directives<'a>(text: &'a str, keyword: &'a str) -> impl Iterator<Item = &'a str> {
    text.lines().filter_map(move |line| Some(line.split_once(keyword)?.1.trim()))
}

/// The RUN lines, those that go on joined.
fn script(text: &str) -> String {
    let lines: Vec<_> = directives(text, "RUN:").collect();
    lines.join("\n").replace("\\\n", "")
}

/// Puts in the values from left to right; a value is not looked at again.
fn substitute(script: &str, values: &[(&str, String)]) -> String {
    let mut result = String::new();
    let mut rest = script;
    while let Some(at) = rest.find('%') {
        result += &rest[..at];
        rest = &rest[at..];
        match values.iter().find(|(text, _)| rest.starts_with(text)) {
            Some((text, value)) => {
                result += value;
                rest = &rest[text.len()..];
            }
            None => {
                result.push('%');
                rest = &rest[1..];
            }
        }
    }
    result + rest
}
