//! Faults in lowered programs: the answer of verification for each, against the results of the faulty program.
//!
//! | file | what it does |
//! |---|---|
//! | `programs.rs` | functions of the tests' files, lowered with several sets of options |
//! | `text.rs` | MLIR's generic form, line by line |
//! | `fault.rs`, `retype.rs` | one random fault in it |
//! | `interface.rs` | random arguments, in their layouts |
//! | `memory.rs` | memory with guard pages around each buffer |
//! | `reverse.rs` | parallel loops in the reverse order |
//! | `run.rs` | compiles a program and calls it, in separate processes |
//!
//! A program is lowered; one operation of the result is changed, such that MLIR still accepts it; and `layout-verify`
//! compares the result with the program before lowering, and so does its core alone. If either proves equivalence, both
//! programs run on random numbers, and all bits must be equal. If verification reports an error, some numbers should
//! differ; cases without such numbers are counted.
//!
//! `LAYOUT_SEED` and `LAYOUT_FAULTS` make a longer run, `LAYOUT_FIRST` skips that many. `LAYOUT_KEEP` names a folder
//! for faults that were proved harmless but change numbers, and for reported errors that change none.

mod fault;
mod interface;
#[path = "../jit.rs"]
mod jit;
mod memory;
mod programs;
mod retype;
mod reverse;
mod run;
mod text;

use interface::{Element, Value};
use layout_reference::choices::Choices;
use layout_test::Sample;
use libtest_mimic::{Arguments, Failed, Trial};
use melior::Context;
use melior::ir::Module;
use programs::{Case, OPTIONS, Program};
use run::How;
use std::collections::{BTreeMap, HashMap};
use std::env;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

/// The seed, unless `LAYOUT_SEED` says otherwise.
const SEED: u64 = 1;
/// Faults, unless `LAYOUT_FAULTS` says otherwise.
const FAULTS: u32 = 100;
/// The number of consecutive faults in one program, which is compiled and proved once.
const BURST: u64 = 8;
/// The number of attempts to find a fault that MLIR accepts in a program.
const ATTEMPTS: usize = 200;
/// The relative tolerance of numbers if options allow another rounding.
const TOLERANCE: f64 = 1e-3;
/// One in this many reported errors is run.
const ERRORS_RUN: u64 = 8;

fn main() -> ExitCode {
    let number = |name, default| env::var(name).map_or(default, |n| n.parse().expect("a number"));
    let (faults, seed) = Sample::from_env().random(FAULTS, SEED);
    let (seed, faults) = (number("LAYOUT_SEED", seed), number("LAYOUT_FAULTS", faults.into()));
    let trial = Trial::test("faults", move || faults_are_seen(seed, faults));
    // This process forks, so it must have no other threads.
    let arguments = Arguments { test_threads: Some(1), ..Arguments::from_args() };
    libtest_mimic::run(&arguments, vec![trial]).exit_code()
}

/// The outcome of a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Fate {
    /// An error of verification.
    Caught,
    /// An error, but no numbers were found that differ.
    CaughtButSame,
    /// Not proved, and numbers are the same, or did not run.
    Open,
    /// Not proved, and numbers differ.
    OpenButDifferent,
    /// Proved equivalent, and numbers are the same.
    ProvedAndSame,
    /// Proved equivalent, but does not compile.
    ProvedAndNotRun,
    /// Proved equivalent, but numbers differ.
    ProvedButDifferent,
    /// Verification panicked.
    Panic,
}

fn faults_are_seen(seed: u64, faults: u64) -> Result<(), Failed> {
    let context = jit::context();
    context.enable_multi_threading(false);
    context.attach_diagnostic_handler(|_| true);
    let programs = programs::all(&context);
    let mut cases: HashMap<(usize, usize), Option<Case>> = HashMap::new();
    let mut counts: BTreeMap<Fate, BTreeMap<&str, u64>> = BTreeMap::new();
    let mut wrong = vec![];
    let (mut number, mut found) = (env::var("LAYOUT_FIRST").map_or(0, |n| n.parse().expect("a number")), 0);
    while found < faults {
        number += 1;
        let numbered = |number: u64| Choices::random(seed.wrapping_mul(1_000_003).wrapping_add(number));
        // Several consecutive faults share a program.
        let mut chosen = numbered(number / BURST * BURST);
        let key = (chosen.usize(0..programs.len()), chosen.usize(0..OPTIONS.len()));
        let mut choices = numbered(number << 32);
        let program = &programs[key.0];
        let case = cases.entry(key).or_insert_with(|| program.case(&context, OPTIONS[key.1], seed));
        let Some(case) = case else { continue };
        let Some((kind, text, result, said)) = one(&context, program, case, seed, &mut choices) else { continue };
        found += 1;
        *counts.entry(result).or_default().entry(kind).or_default() += 1;
        let bad = matches!(result, Fate::ProvedButDifferent | Fate::Panic);
        if bad || matches!(result, Fate::CaughtButSame | Fate::ProvedAndNotRun | Fate::OpenButDifferent) {
            keep(program, case, &text, &format!("{result:?}-{seed}-{number}"), &format!("{kind}: {said}"));
        }
        if bad {
            let about = format!(
                "{result:?}: {kind}, LAYOUT_SEED={seed}, number {number}, of @{} of {} with {}:\n{}\n{said}",
                program.name,
                program.file,
                case.options,
                difference(&case.text, &text)
            );
            println!("{about}\n");
            wrong.push(about);
        }
        if found % 500 == 0 {
            report(&counts, found);
        }
    }
    report(&counts, found);
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n\n").into()) }
}

fn report(counts: &BTreeMap<Fate, BTreeMap<&str, u64>>, found: u64) {
    println!("{found} faults");
    for (result, kinds) in counts {
        println!("{result:?}: {} {kinds:?}", kinds.values().sum::<u64>());
    }
}

/// The lines that differ between two texts.
fn difference(before: &str, after: &str) -> String {
    let (a, b): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    let first = a.iter().zip(&b).take_while(|(a, b)| a == b).count();
    let rest = a[first..].iter().rev().zip(b[first..].iter().rev()).take_while(|(a, b)| a == b).count();
    let lines =
        |sign: &str, lines: &[&str]| lines.iter().take(20).map(|line| format!("{sign} {line}\n")).collect::<String>();
    lines("-", &a[first..a.len() - rest]) + &lines("+", &b[first..b.len() - rest])
}

fn keep(program: &Program, case: &Case, text: &str, name: &str, said: &str) {
    let Ok(folder) = env::var("LAYOUT_KEEP") else { return };
    let about = format!("// {} @{} {}\n// {}\n", program.file, program.name, case.options, said.replace('\n', "\n// "));
    let difference: String = difference(&case.text, text).lines().map(|line| format!("// {line}\n")).collect();
    let all = format!("{about}{difference}{}// -----\n{}// -----\n{text}", program.text, case.text);
    fs::write(format!("{folder}/{name}.mlir"), all).expect("the folder of LAYOUT_KEEP");
}

/// Makes a fault in a program. Returns its outcome.
fn one(
    context: &Context,
    program: &Program,
    case: &Case,
    seed: u64,
    choices: &mut Choices,
) -> Option<(&'static str, String, Fate, String)> {
    let (kind, text, after) = (0..ATTEMPTS).find_map(|_| {
        let (kind, text) = fault::fault(choices, &case.text)?;
        let module = Module::parse(context, &text)?;
        let text = programs::generic(&module);
        (text != case.text).then_some((kind, text, module))
    })?;
    let before = Module::parse(context, &program.text)?;
    let numbered = case.numbered.as_ref().and_then(|text| Module::parse(context, text));
    let verified = || programs::verified(&before, numbered.as_ref(), &after, case.limits);
    let said = catch_unwind(AssertUnwindSafe(verified));
    let Ok((errors, open)) = said else {
        return Some((kind, text, Fate::Panic, String::new()));
    };
    // Draws that crash the faultless program show nothing.
    let draws: [bool; run::DRAWS] = std::array::from_fn(|draw| case.left[draw].is_some());
    let run = |patience| {
        let how = How { tensors: case.tensors, draws: &draws, patience, reverse: true };
        run::run(context, &text, &case.interface, seed, how)
    };
    let judged = || match run(2) {
        None => (Fate::ProvedAndNotRun, String::new()),
        Some(left) => match differs(case, &left) {
            Some(how) => (Fate::ProvedButDifferent, how),
            None => (Fate::ProvedAndSame, String::new()),
        },
    };
    if let Some(error) = errors.first() {
        let result = match choices.one_in(ERRORS_RUN).then(|| run(1)).flatten() {
            Some(left) if differs(case, &left).is_none() => Fate::CaughtButSame,
            _ => Fate::Caught,
        };
        return Some((kind, text, result, error.clone()));
    }
    if let Some(open) = open.first() {
        return Some(match run(2).and_then(|left| differs(case, &left)) {
            Some(how) => (kind, text, Fate::OpenButDifferent, format!("{open}; {how}")),
            None => (kind, text, Fate::Open, open.clone()),
        });
    }
    let (mut result, mut said) = judged();
    if result == Fate::ProvedButDifferent {
        // The first run may have timed out.
        (result, said) = judged();
    }
    Some((kind, text, result, said))
}

/// The difference between the expected and the actual results of a program.
fn differs(case: &Case, left: &run::Left) -> Option<String> {
    let count = |value: &Value| if let Value::Memory(memory) = value { memory.count() } else { 1 };
    let memories = case.interface.arguments.iter().filter(|value| matches!(value, Value::Memory(_)));
    let elements: Vec<Element> = case
        .interface
        .results
        .iter()
        .chain(memories)
        .flat_map(|value| std::iter::repeat_n(value.element(), count(value)))
        .collect();
    for (draw, (expected, found)) in case.left.iter().zip(left).enumerate() {
        let Some(expected) = expected else { continue };
        // Sums with infinities depend on their order.
        if case.rounds && draw % 3 == 2 {
            continue;
        }
        let Some(found) = found else { return Some(format!("draw {draw} does not end well")) };
        if found.len() != expected.len() || found.last() != Some(&1) {
            return Some(format!("draw {draw} touches memory that is not its own"));
        }
        for (k, ((a, b), element)) in expected.iter().zip(found).zip(&elements).enumerate() {
            let near = || {
                let (Some(a), Some(b)) = (element.number(*a), element.number(*b)) else { return false };
                case.rounds && (a - b).abs() <= TOLERANCE * a.abs().max(1.0)
            };
            if a != b && !near() {
                return Some(format!("draw {draw}: element {k} is {b:#x}, and was {a:#x}"));
            }
        }
    }
    None
}
