//! Random programs over random layouts, each run twice: with its layouts and without.
//!
//! | file | what it does |
//! |---|---|
//! | `programs/` | makes random programs, one function for each kind |
//! | `templates/` | their texts, with places to fill in |
//! | `array.rs`, `board.rs`, `element.rs` | random types: sizes, elements, layouts |
//! | `program.rs`, `template.rs` | a program, and its text |
//! | `engine.rs`, `buffer.rs` | compiles it, and calls it on buffers |
//! | `compare.rs` | compares what the two runs leave |
//! | `part.rs`, `main.rs` | runs all programs of a kind in their own process, and shrinks one that fails |
//!
//! The programs are functions of tensors or memrefs, most with random layouts. The pipeline `layout-to-llvm` lowers
//! them in both forms; they run on buffers that the slow evaluator of `definition.rs` lays out, with garbage in the
//! padding and around the buffers. Afterwards every element must equal that of the program without layouts, at the
//! offset of the definition, and memory around the buffers must be unchanged. All numbers are small integers, so
//! floating-point sums are exact.
//!
//! A result over places must hold only garbage between its elements. Reused memory may hold elements of an earlier
//! tensor there, so this is checked only where it cannot: memory is filled with garbage before reuse, and no two
//! layouts allocate the same memory.
//!
//! In half of the cases `layout-plan` runs first, on the program with its layouts and without them, and chooses the
//! layouts of intermediate values.
//!
//! As many programs, of larger sizes, become vector code, with new options for every few of them. If the options keep
//! the rounding and the program fixes the order of its sums, the numbers are such that every sum is rounded: all bits
//! must equal those of scalar code without layouts.
//!
//! Programs on incomplete tiles (`programs/padding.rs`) become vector code with `padding=typed`. In most of them a
//! kernel iterates over whole tiles, which `padding/widened` counts.
//!
//! Lowering includes verification, whose errors are failures, unless `LAYOUT_UNVERIFIED` is set: that takes half of the
//! time.
//!
//! A failing program is shrunk, see `choices.rs`: each smaller one runs in its own process, and the smallest failing
//! one is reported. `LAYOUT_SEED` and `LAYOUT_PROGRAMS` (for each kind and form) make a longer run, and `LAYOUT_SAMPLE` a
//! shorter one; a report names the seed.

mod array;
mod board;
mod buffer;
mod compare;
mod element;
mod engine;
#[path = "../jit.rs"]
mod jit;
mod part;
mod program;
mod programs;
mod template;

use layout_passes::Form;
use layout_reference::choices::{Choices, Search, runner};
use layout_test::Sample;
use libtest_mimic::{Arguments, Failed, Trial};
use part::{DIFFERENT, FAILED, MARK, Part};
use programs::KINDS;
use proptest::test_runner::{TestCaseError, TestError};
use std::process::{Command, ExitCode};
use std::{env, process};

/// The seed, unless `LAYOUT_SEED` says otherwise.
const SEED: u64 = 22;
/// Programs for each kind and form, unless `LAYOUT_PROGRAMS` says otherwise; as many again become vector code.
const PROGRAMS: u64 = 8;
/// The limit of smaller programs that shrinking tries, each in its own process.
const SHRINKS: u32 = 500;
/// Tells a process which programs to run: the text of a [`Part`], and with a record only its one program.
const PART: &str = "LAYOUT_DIFFERENTIAL_PART";
const RECORD: &str = "LAYOUT_DIFFERENTIAL_RECORD";

fn main() -> ExitCode {
    let number = |name, default| env::var(name).map_or(default, |n| n.parse().expect("a number"));
    let sample = Sample::from_env();
    let seed = number("LAYOUT_SEED", sample.seed.unwrap_or(SEED));
    let programs = number("LAYOUT_PROGRAMS", PROGRAMS.div_ceil(sample.share));
    if let Ok(text) = env::var(PART) {
        let part = Part::parse(&text, seed, programs);
        let record = |record: String| record.split(',').map(|n| n.parse().expect("a number")).collect();
        return match env::var(RECORD) {
            Ok(text) => part.run_one(&part.case(&mut Choices::replay(record(text)))),
            Err(_) => part.run(),
        };
    }
    let parts = KINDS.iter().flat_map(|kind| [Form::Strided, Form::Physical].map(|form| (kind, form)));
    let trials = parts.map(|(kind, form)| {
        let part = Part { kind, form, vectors: false, seed, programs };
        Trial::test(format!("{}/{}", kind.0, form.name()), move || run(part))
    });
    let widened = Trial::test("padding/widened", || Ok(part::widened(SEED)?));
    libtest_mimic::run(&Arguments::from_args(), trials.chain([widened]).collect()).exit_code()
}

/// The output and exit status of a process.
struct Ended {
    output: process::Output,
    stdout: String,
    stderr: String,
}

/// Runs a part, or one case of it, in its own process, so that a trap or a wild store ends only that one.
fn start(part: Part, record: Option<&[u64]>) -> Result<Ended, Failed> {
    let mut command = Command::new(env::current_exe()?);
    // glibc fills fresh memory with the complement of this value.
    command.env("MALLOC_PERTURB_", (!buffer::GARBAGE[1]).to_string());
    command.env("GLIBC_TUNABLES", "glibc.malloc.tcache_count=0");
    command.env(PART, part.to_string());
    if let Some(record) = record {
        command.env(RECORD, record.iter().map(ToString::to_string).collect::<Vec<_>>().join(","));
    }
    let output = command.output()?;
    let [stdout, stderr] = [&output.stdout, &output.stderr].map(|s| String::from_utf8_lossy(s).into_owned());
    Ok(Ended { output, stdout, stderr })
}

impl Ended {
    /// The failure message, if the process failed.
    fn failure(&self) -> Option<String> {
        match self.output.status.code() {
            Some(0) => None,
            Some(DIFFERENT) => Some(self.stderr.clone()),
            _ => {
                let last = self.stdout.rsplit(MARK).next().unwrap_or_default();
                Some(format!("{} in\n{last}\n{}", self.output.status, self.stderr))
            }
        }
    }

    /// The numbers of the programs that failed; after a crash, of the current ones.
    fn suspects(&self) -> Vec<u64> {
        let numbers = |line: &str| line.split(' ').map_while(|n| n.parse().ok()).collect();
        let failed = self.stdout.lines().find_map(|line| line.strip_prefix(FAILED));
        let at = self.stdout.lines().rfind(|line| line.starts_with(MARK)).and_then(|line| line.strip_prefix(MARK));
        failed.or(at).map(numbers).unwrap_or_default()
    }
}

/// Runs the programs of a part; the error holds the smallest failing one.
fn run(part: Part) -> Result<(), Failed> {
    let ended = start(part, None)?;
    let Some(failure) = ended.failure() else { return Ok(()) };
    for number in ended.suspects() {
        let part = Part { vectors: number >= part.programs, ..part };
        let generate = |choices: &mut Choices| {
            let case = part.case(choices);
            (choices.made().to_vec(), case)
        };
        let search = Search::new(&generate, Choices::replay(part.record(number)));
        let smallest = runner(1, 0, SHRINKS).run_one(search, |case| {
            match start(part, Some(&case.0)).map(|ended| ended.failure()) {
                Ok(Some(failure)) => Err(TestCaseError::fail(failure)),
                Ok(None) => Ok(()),
                Err(error) => panic!("a process does not start: {error:?}"),
            }
        });
        if let Err(TestError::Fail(why, _)) = smallest {
            return Err(Failed::from(format!(
                "LAYOUT_SEED={}\n{failure}\nThe smallest program that fails:\n{why}",
                part.seed
            )));
        }
    }
    Err(Failed::from(format!("LAYOUT_SEED={}\n{failure}\nEach of these programs passes when it is alone.", part.seed)))
}
