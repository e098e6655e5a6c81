//! Random tensor programs over processes, partitioned, and run by an evaluator of all processes: each process receives
//! and returns its parts of the whole program's arguments and results.
//!
//! | file | what it does |
//! |---|---|
//! | `programs.rs`, `programs/` | random programs, on grids of 2 to 8 processes |
//! | `networks.rs` | a training step and attention, with several shardings |
//!
//! `LAYOUT_SEED` and `LAYOUT_PROGRAMS` make a longer run; a failure prints its program.

mod networks;
mod programs;

use crate::evaluator::tensor::{Tensor, each};
use crate::evaluator::{Processes, Value};
use fastrand::Rng;
use layout_passes::{Pass, PlanOptions};
use layout_reference::places::along;
use layout_test::Sample;
use melior::Context;
use melior::dialect::DialectRegistry;
use melior::ir::{Module, OperationRef};
use melior::pass::PassManager;
use networks::NETWORKS;
use programs::{Array, Program, program};
use std::env;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use tensor_layout::places::{Placement, TensorLayout};

pub fn context() -> Context {
    let registry = DialectRegistry::new();
    melior::utility::register_all_dialects(&registry);
    layout_dialect::register(&registry);
    let context = Context::new_with_registry(&registry, false);
    context.load_all_available_dialects();
    context
}

fn number(name: &str, default: u64) -> u64 {
    env::var(name).ok().map_or(default, |text| text.parse().expect("a number"))
}

/// The part of an array on a process: along each dimension its indices, in order.
fn part(all: &Tensor, layout: &str, process: usize) -> Tensor {
    if layout.is_empty() {
        return all.clone();
    }
    let sizes: Vec<i64> = all.sizes.iter().map(|size| *size as i64).collect();
    let layout = TensorLayout::parse(layout).expect("a layout");
    let placement = Placement::new(&layout, Some(&sizes)).expect("a placement");
    let axis = placement.axes().iter().position(|name| name == "Process");
    let has = |index: &[usize]| {
        let Some(axis) = axis else { return true };
        let index: Vec<i64> = index.iter().map(|at| *at as i64).collect();
        let first = placement.place(&index).expect("a place")[axis];
        along(&placement.copies(axis), first).is_none_or(|copies| copies.contains(&(process as i64)))
    };
    let held: Vec<Vec<usize>> = each(&all.sizes).filter(|index| has(index)).collect();
    let own: Vec<usize> = (0..all.sizes.len())
        .map(|dim| {
            let mut indices: Vec<usize> = held.iter().map(|index| index[dim]).collect();
            indices.sort_unstable();
            indices.dedup();
            indices.len()
        })
        .collect();
    assert_eq!(own.iter().product::<usize>(), held.len(), "what a process has is a box");
    Tensor { sizes: own, data: held.iter().map(|index| all.at(index)).collect() }
}

/// The program after some passes.
fn after<'c>(context: &'c Context, text: &str, all: &[Pass]) -> Module<'c> {
    let mut module = Module::parse(context, text).expect("a program");
    let passes = PassManager::new(context);
    all.iter().for_each(|pass| pass.add_to(passes.as_operation_pass_manager()).expect("the pass"));
    passes.run(&mut module).expect("a program that can be partitioned");
    module
}

/// The difference between a process's result and the expected part, if any.
fn difference(expected: &Tensor, array: &Array, process: usize, found: &Tensor) -> Option<String> {
    let expected = part(expected, &array.layout, process);
    let scale = expected.data.iter().fold(1.0f64, |most, x| if x.is_finite() { most.max(x.abs()) } else { most });
    let near = |(x, y): (&f64, &f64)| x == y || (x - y).abs() <= 1e-9 * scale;
    let same = expected.sizes == found.sizes && expected.data.iter().zip(&found.data).all(near);
    (!same).then(|| format!("{} at process {process}: {found:?}\nand not {expected:?}", array.name))
}

/// Runs a program as a whole and partitioned, on random numbers.
fn check(context: &Context, program: &Program, passes: &[Pass], rng: &mut Rng) {
    let numbers: Vec<Tensor> =
        program.arguments.iter().map(|a| Tensor::build(&a.sizes, |_| f64::from(rng.i32(-3..4)))).collect();
    let whole = Module::parse(context, &program.text).expect("a program");
    let parts = after(context, &program.text, passes);
    let of = |tensor: Tensor| Value::Tensor(Rc::new(tensor));
    let root: OperationRef = whole.as_operation();
    let mut one = Processes::new(root);
    let expected = one.run("main", &[numbers.iter().cloned().map(of).collect()]).remove(0);
    let root: OperationRef = parts.as_operation();
    let mut all = Processes::new(root);
    assert_eq!(all.count(), program.processes);
    let own =
        |process| program.arguments.iter().zip(&numbers).map(|(a, all)| of(part(all, &a.layout, process))).collect();
    let arguments: Vec<Vec<Value>> = (0..program.processes).map(own).collect();
    let found = all.run("main", &arguments);
    for (process, results) in found.iter().enumerate() {
        for ((array, expected), found) in program.results.iter().zip(&expected).zip(results) {
            if let Some(why) = difference(expected.tensor(), array, process, found.tensor()) {
                panic!("{why}");
            }
        }
    }
    let called = |processes: &Processes| processes.called.iter().map(|c| (c.0, c.1.clone())).collect::<Vec<_>>();
    assert_eq!(called(&all), called(&one), "process 0 prints, and no other");
}

#[test]
fn processes_compute_their_parts() {
    let context = context();
    let (seed, count) = (number("LAYOUT_SEED", 1), number("LAYOUT_PROGRAMS", 150));
    for k in Sample::from_env().select(0..count) {
        let mut rng = Rng::with_seed(seed.wrapping_mul(1_000_003) + k);
        let steps = rng.usize(1..7);
        let program = program(&mut rng, steps);
        let checked = catch_unwind(AssertUnwindSafe(|| check(&context, &program, &[Pass::Partition], &mut rng)));
        if checked.is_err() {
            let text = || after(&context, &program.text, &[Pass::Partition]).as_operation().to_string();
            let text = catch_unwind(AssertUnwindSafe(text)).unwrap_or_default();
            panic!("program {k} of seed {seed}:\n{}\n{text}", program.text);
        }
    }
}

/// The number of each collective in a module.
fn collectives(module: &Module) -> Vec<(String, usize)> {
    let text = module.as_operation().to_string();
    let names = ["all_gather", "all_reduce", "all_slice", "all_to_all", "recv", "reduce_scatter"];
    let count = |name: &str| text.matches(&format!("= shard.{name} ")).count();
    names.iter().map(|name| (name.to_string(), count(name))).filter(|own| own.1 > 0).collect()
}

#[test]
fn networks_send_what_is_known_to_be_least() {
    let context = context();
    for network in NETWORKS {
        let program = network.program();
        let module = after(&context, &program.text, &[Pass::Partition]);
        let expected: Vec<(String, usize)> = network.collectives.iter().map(|own| (own.0.to_string(), own.1)).collect();
        assert_eq!(collectives(&module), expected, "{}:\n{}", network.name, module.as_operation());
        check(&context, &program, &[Pass::Partition], &mut Rng::with_seed(3));
    }
}

/// Partitioning works with the layouts of `layout-plan`.
#[test]
fn networks_are_planned() {
    let context = context();
    for network in NETWORKS {
        let program = network.unspread();
        let passes = [Pass::Plan { options: PlanOptions::default() }, Pass::Partition];
        let module = after(&context, &program.text, &passes);
        assert!(!collectives(&module).is_empty(), "{}:\n{}", network.name, module.as_operation());
        check(&context, &program, &passes, &mut Rng::with_seed(4));
    }
}
