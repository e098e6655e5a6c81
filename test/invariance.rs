//! The cost of a plan depends on the program's graph alone: not on the order of independent instructions in the text,
//! on names, on explicit default layouts, or on dead instructions.

#[path = "invariance/programs.rs"]
mod programs;

use fastrand::Rng;
use programs::{Program, Written};
use std::env;
use tensor_layout::hlo::Module;
use tensor_layout::places::Machine;
use tensor_layout::plan::{EntryLayouts, Planner, Unplanned};
use tensor_layout::solver::Options;
use tensor_layout::spreading::Spreader;
use tensor_layout::targets::Target;

/// The cost and the lower bound of a text's plan on a machine.
fn planned(text: &str, machine: &str, entry: EntryLayouts) -> Result<(i64, i64), Unplanned> {
    let module = Module::parse(text).unwrap_or_else(|errors| panic!("{errors:?}\n{text}"));
    let (graphs, facts) = (module.graphs(), module.facts());
    let target = Target::parse(machine).unwrap();
    if target.machine().axes.is_empty() {
        let planner = Planner::new(&graphs, module.entry, &facts, &target, entry)?;
        let plan = planner.plan(&Options::default(), &mut |_| true)?;
        return Ok((plan.cost, plan.bound));
    }
    let machine = Machine::parse(machine).unwrap();
    let spreader = Spreader::new(&graphs, module.entry, &facts, &machine)?;
    let plan = spreader.plan(&Options::default(), &mut |_| true)?;
    Ok((plan.cost, plan.bound))
}

/// The number of programs in a test: `INVARIANCE_CASES`, or `usual`.
fn cases(usual: u64) -> u64 {
    env::var("INVARIANCE_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
}

/// Compares programs of consecutive seeds, and lists all texts that differ.
fn compare(count: u64, differ: impl Fn(u64) -> Option<String>) {
    let found: Vec<String> = (0..cases(count)).filter_map(differ).collect();
    assert!(found.is_empty(), "{} differ:\n{}", found.len(), found.join("\n\n"));
}

/// Two texts of one program, if their costs differ.
fn differing(seed: u64, machine: &str, texts: [(&str, EntryLayouts); 2]) -> Option<String> {
    let [one, other] = texts.map(|(text, entry)| planned(text, machine, entry).map_err(|why| why.to_string()));
    let [a, b] = texts.map(|(text, _)| text);
    (one != other).then(|| format!("seed {seed} on {machine}: {one:?} and {other:?}\n{a}\n{b}"))
}

/// A machine of few nodes, so that many programs are cut unevenly.
const PLACES: &str = "axes: (2_G, 4_PE), memories: (LM: 1 at PE with 32768 bytes), word: 32";

#[test]
fn the_order_of_the_text_and_names_change_nothing() {
    for (machine, count) in [("tpu_v5e", 12), ("cpu", 12), (PLACES, 12), ("mn_core_2", 2), ("tpu_v5e_8", 4)] {
        compare(count, |seed| {
            let mut rng = Rng::with_seed(seed);
            let program = Program::random(&mut rng);
            let entry = if rng.bool() { EntryLayouts::Default } else { EntryLayouts::Free };
            let one = program.text(&Written::default());
            let other = program.text(&Written::shuffled(&program, &mut rng));
            differing(seed, machine, [(&one, entry), (&other, entry)])
        });
    }
}

#[test]
fn dead_code_costs_nothing() {
    for (machine, count) in [("tpu_v5e", 12), ("cpu", 12)] {
        compare(count, |seed| {
            let program = Program::random(&mut Rng::with_seed(seed));
            let one = program.text(&Written::default());
            let other = program.without_dead_code().text(&Written::default());
            differing(seed, machine, [(&one, EntryLayouts::Free), (&other, EntryLayouts::Free)])
        });
    }
    // Dead code has neither the first read of a value nor is it merged with live code, at any position.
    let sum = "  v4 = f32[3] add(v1, v1)\n";
    let dead = "  v7 = f32[3] add(v1, v1)\n  v8 = f32[3] tanh(v4)\n";
    let text = |lines: &str| {
        format!("HloModule m\nENTRY main {{\n  v1 = f32[3] parameter(0)\n{lines}  ROOT root = (f32[3]) tuple(v4)\n}}\n")
    };
    let (before, after) = dead.split_at(dead.find("  v8").expect("the second one"));
    for lines in [sum.to_string(), format!("{before}{sum}{after}"), format!("{sum}{dead}")] {
        let cost = planned(&text(&lines), "tpu_v5e", EntryLayouts::Default).unwrap();
        assert_eq!(cost, (1_827, 1_827), "{lines}");
    }
}

/// Skips programs with reshapes: a layout that the text states gives a reshape more strategies than a default layout.
#[test]
fn default_layouts_that_the_text_says_change_nothing() {
    for machine in ["tpu_v5e", "cpu"] {
        let target = Target::parse(machine).unwrap();
        compare(16, |seed| {
            let program = Program::random(&mut Rng::with_seed(seed));
            let plain = program.text(&Written::default());
            if plain.contains("reshape(") {
                return None;
            }
            let ends = program.text(&Written { layouts: Some((&target, true)), ..Written::default() });
            let all = program.text(&Written { layouts: Some((&target, false)), ..Written::default() });
            let plain = (&*plain, EntryLayouts::Default);
            let texts = [(&*ends, EntryLayouts::Fixed), (&*all, EntryLayouts::Default), (&*all, EntryLayouts::Fixed)];
            texts.into_iter().find_map(|text| differing(seed, machine, [plain, text]))
        });
    }
}

/// A reshape into many dimensions before a transpose has a plan.
#[test]
fn reshapes_before_transposes_are_planned() {
    for order in ["0,3,4,2,1", "0,4,3,1,2", "0,4,3,2,1", "0,1,2,3,4"] {
        let text = format!(
            "HloModule m\nENTRY main {{\n  x = f32[2,36,36] parameter(0)\n  r = f32[2,6,6,6,6] reshape(x)\n  \
             ROOT t = f32[2,6,6,6,6] transpose(r), dimensions={{{order}}}\n}}\n"
        );
        planned(&text, "tpu_v5e", EntryLayouts::Default).unwrap_or_else(|error| panic!("{order}: {error:?}"));
    }
}
