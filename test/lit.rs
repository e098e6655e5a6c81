//! Runs LLVM's `lit` once over this folder; each of its tests (`.mlir` and `.test` files) is a test of Cargo.
//!
//! `lit.cfg.py` selects tests and defines substitutions for their `RUN:` lines; without Cargo:
//! `cargo build && /usr/lib/llvm-22/bin/lit test`. The tools under test are built first, in the profile of this test.
//!
//! `cargo test -p layout-test --test lit -- dialect/` runs the files whose path contains `dialect/`. The variable
//! `LIT_OPTS` adds options of lit, for example `--timeout=60`.

use layout_test::{Checkout, Sample};
use libtest_mimic::{Arguments, Completion, Failed, Trial};
use serde_json::Value;
use std::{
    collections::HashMap,
    error::Error,
    fs,
    path::PathBuf,
    process::{Command, ExitCode, Stdio},
    sync::{Arc, OnceLock},
};

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let arguments = Arguments::from_args();
    let suite = Suite::new();
    let names = suite.names()?;
    let selected = names.iter().filter(|name| is_selected(&arguments, name)).cloned().collect();
    let run = Arc::new(Run { suite, selected, threads: arguments.test_threads, results: OnceLock::new() });
    let trials = names.into_iter().map(|name| {
        let run = run.clone();
        Trial::ignorable_test(name.clone(), move || run.result(&name))
    });
    Ok(libtest_mimic::run(&arguments, trials.collect()).exit_code())
}

/// Whether the command line selects a test; lit must run the same tests as `libtest_mimic` selects.
fn is_selected(arguments: &Arguments, name: &str) -> bool {
    let matches = |filter: &String| if arguments.exact { name == filter } else { name.contains(filter.as_str()) };
    arguments.filter.as_ref().is_none_or(matches) && !arguments.skip.iter().any(matches)
}

/// The folders of lit, its tests, and the tools under test.
struct Suite {
    /// The folder of the tests.
    folder: PathBuf,
    /// The tools under test, and LLVM.
    checkout: Checkout,
}

impl Suite {
    fn new() -> Suite {
        Suite { folder: env!("CARGO_MANIFEST_DIR").into(), checkout: Checkout::new() }
    }

    /// A lit command with this suite's parameters.
    fn lit(&self) -> Command {
        let mut lit = Command::new(self.checkout.llvm.join("bin/lit"));
        lit.arg(format!("--param=tools={}", self.checkout.tools.display()));
        lit.arg(format!("--param=llvm={}", self.checkout.llvm.display()));
        lit
    }

    /// The names of the tests of the sample: paths relative to the folder.
    fn names(&self) -> Result<Vec<String>, Box<dyn Error>> {
        let output = self.lit().arg("--show-tests").arg(&self.folder).output()?;
        let [stdout, stderr] = [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
        // A line for each test, such as `  layout :: dialect/convert.mlir`.
        let names = stdout.lines().filter_map(|line| Some(line.split_once(" :: ")?.1.to_owned()));
        let sample = Sample::from_env();
        let names: Vec<String> = names.filter(|name| sample.runs(&format!("lit::{name}"))).collect();
        if !output.status.success() || names.is_empty() {
            return Err(format!("lit does not list its tests: {}\n{stdout}{stderr}", output.status).into());
        }
        Ok(names)
    }

    /// Runs these tests in one process of lit.
    fn run(&self, names: &[String], threads: Option<usize>) -> Result<HashMap<String, TestResult>, Box<dyn Error>> {
        self.checkout.build_tools();
        let results = tempfile::NamedTempFile::new()?;
        let mut lit = self.lit();
        lit.args(["--quiet", "--output"]).arg(results.path());
        if let Some(threads) = threads {
            lit.arg(format!("--threads={threads}"));
        }
        // This test prints the same report.
        let status = lit.args(names.iter().map(|name| self.folder.join(name))).stdout(Stdio::null()).status()?;
        // Status 1 means that a test failed; if lit itself fails, it writes no report.
        let report: Value = serde_json::from_str(&fs::read_to_string(results.path())?)
            .map_err(|error| format!("lit ended with {status} and without a report: {error}"))?;
        let tests = report["tests"].as_array().ok_or("lit's report has no list of tests")?;
        let text = |test: &Value, key: &str| test[key].as_str().unwrap_or_default().to_owned();
        let result = |test| {
            let name = text(test, "name");
            let name = name.split_once(" :: ").map_or(&*name, |(_, path)| path).to_owned();
            (name, TestResult { code: text(test, "code"), output: text(test, "output") })
        };
        Ok(tests.iter().map(result).collect())
    }
}

/// The report of lit on one test.
struct TestResult {
    /// `PASS`, `FAIL`, `UNSUPPORTED`, ...
    code: String,
    /// The commands and their output.
    output: String,
}

/// The single run of lit. The first test that needs a result starts it; the others wait.
struct Run {
    suite: Suite,
    /// The selected tests.
    selected: Vec<String>,
    /// The number of parallel tests, unless lit decides.
    threads: Option<usize>,
    /// The result of each test, or the reason for its absence.
    results: OnceLock<Result<HashMap<String, TestResult>, String>>,
}

impl Run {
    fn result(&self, name: &str) -> Result<Completion, Failed> {
        let start = || self.suite.run(&self.selected, self.threads).map_err(|error| error.to_string());
        let results = self.results.get_or_init(start).as_ref()?;
        let result = results.get(name).ok_or("lit reports nothing about this test")?;
        match &*result.code {
            "PASS" | "FLAKYPASS" | "XFAIL" => Ok(Completion::Completed),
            "UNSUPPORTED" | "SKIPPED" => Ok(Completion::ignored_with(result.output.trim())),
            code => Err(format!("{code}\n{}", result.output).into()),
        }
    }
}
