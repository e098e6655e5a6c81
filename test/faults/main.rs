//! Faults in lowered programs: what verification says of each, beside what the program with the fault computes.
//!
//! | file | what it does |
//! |---|---|
//! | `programs.rs` | functions of the tests' files, lowered with several sets of options |
//! | `text.rs` | MLIR's generic form, line by line |
//! | `fault.rs`, `retype.rs` | one random fault in it |
//! | `interface.rs` | random arguments, in their layouts |
//! | `memory.rs` | memory in which what is outside of a buffer is guarded |
//! | `reverse.rs` | parallel loops in the reverse order |
//! | `run.rs` | compiles a program and calls it, in processes of its own |
//!
//! A program is lowered; one operation of what was made is changed, such that MLIR still takes it; and `layout-verify`
//! compares the result with the program before lowering, and its core does by itself. Where either shows that both compute the
//! same, both are run on random numbers, and all bits must be the same. Where it says that they differ, they should differ for some numbers; what does
//! not is counted.
//!
//! `LAYOUT_SEED` and `LAYOUT_FAULTS` make a longer run, `LAYOUT_FIRST` leaves out as many as it says. `LAYOUT_KEEP` names a
//! folder for faults that were proved to be none but change numbers, and for those that were said to be one but change none.

#[path = "../choices.rs"]
mod choices;
#[expect(dead_code, reason = "the expanded sizes are for those who test the maths")]
#[path = "../definition.rs"]
mod definition;
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

use choices::Choices;
use interface::{Element, Value};
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
const FAULTS: u64 = 100;
/// Faults of a program before it is the turn of another one: it is compiled and proved for the first.
const BURST: u64 = 8;
/// How often a fault that MLIR takes is looked for in a program.
const ATTEMPTS: usize = 200;
/// How far numbers may be from what they were, relatively, where options allow another rounding.
const TOLERANCE: f64 = 1e-3;
/// Of so many faults that are errors, one runs.
const ERRORS_RUN: u64 = 8;

fn main() -> ExitCode {
    let number = |name, default| env::var(name).map_or(default, |n| n.parse().expect("a number"));
    let (seed, faults) = (number("LAYOUT_SEED", SEED), number("LAYOUT_FAULTS", FAULTS));
    let trial = Trial::test("faults", move || faults_are_seen(seed, faults));
    // Processes are made of this one, which then must have no other threads.
    let arguments = Arguments { test_threads: Some(1), ..Arguments::from_args() };
    libtest_mimic::run(&arguments, vec![trial]).exit_code()
}

/// What became of a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Fate {
    /// An error of verification.
    Caught,
    /// An error, of which no numbers were found that show it.
    CaughtButSame,
    /// Not proved.
    Open,
    /// Shown to be none, and numbers are the same.
    ProvedAndSame,
    /// Shown to be none, but cannot be compiled.
    ProvedAndNotRun,
    /// Shown to be none, and numbers differ.
    ProvedButDifferent,
    /// Not shown, but confirmed by the core, and numbers are the same.
    ConfirmedAndSame,
    /// Confirmed by the core alone, but numbers differ.
    ConfirmedButDifferent,
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
        // The program of a few faults one after the other.
        let mut chosen = numbered(number / BURST * BURST);
        let key = (chosen.usize(0..programs.len()), chosen.usize(0..OPTIONS.len()));
        let mut choices = numbered(number << 32);
        let program = &programs[key.0];
        let case = cases.entry(key).or_insert_with(|| program.case(&context, OPTIONS[key.1], seed));
        let Some(case) = case else { continue };
        let Some((kind, text, result, said)) = one(&context, program, case, seed, &mut choices) else { continue };
        found += 1;
        *counts.entry(result).or_default().entry(kind).or_default() += 1;
        let bad = matches!(result, Fate::ProvedButDifferent | Fate::ConfirmedButDifferent | Fate::Panic);
        if bad || matches!(result, Fate::CaughtButSame | Fate::ProvedAndNotRun) {
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

/// The lines of a text that are not in the one before it.
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

/// Makes a fault in a program, and says what became of it.
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
    let said = catch_unwind(AssertUnwindSafe(|| programs::verified(&before, &after, case.limits)));
    let core = catch_unwind(AssertUnwindSafe(|| programs::confirmed(&before, &after, &program.name, case.limits)));
    let (Ok((errors, open)), Ok(is_confirmed)) = (said, core) else {
        return Some((kind, text, Fate::Panic, String::new()));
    };
    // Draws that the program without faults does not survive say nothing.
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
    if let (true, Some(said)) = (is_confirmed, errors.first().or(open.first())) {
        return Some(match judged() {
            (Fate::ProvedButDifferent, how) => (kind, text, Fate::ConfirmedButDifferent, format!("{said}; {how}")),
            _ => (kind, text, Fate::ConfirmedAndSame, said.clone()),
        });
    }
    if let Some(error) = errors.first() {
        let result = match choices.one_in(ERRORS_RUN).then(|| run(1)).flatten() {
            Some(left) if differs(case, &left).is_none() => Fate::CaughtButSame,
            _ => Fate::Caught,
        };
        return Some((kind, text, result, error.clone()));
    }
    if let Some(open) = open.first() {
        return Some((kind, text, Fate::Open, open.clone()));
    }
    let (mut result, mut said) = judged();
    if result == Fate::ProvedButDifferent {
        // It may have run out of time.
        (result, said) = judged();
    }
    Some((kind, text, result, said))
}

/// How what a program left differs from what it should leave.
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
        // Sums of what is infinite depend on their order.
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
