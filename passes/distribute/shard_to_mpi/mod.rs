//! `layout-shard-to-mpi`: lowers communication from upstream's dialect `shard` to its dialect `mpi`.
//!
//! A program runs in each process of a grid, on the process's own part of each tensor. Each collective operation becomes
//! an exchange of pieces between the processes of a group (see `exchange`), with tensor operations before
//! and after it:
//!
//! | operation | sent by each of `n` processes | before | after |
//! |---|---|---|---|
//! | `all_gather` | the tensor to `n - 1` | | pieces joined |
//! | `all_to_all` | a piece to each of `n - 1` | cut | pieces joined |
//! | `reduce_scatter` | a piece to each of `n - 1` | cut | pieces reduced |
//! | `all_reduce` | as `reduce_scatter` and then `all_gather`, of all elements in a row; few elements to all at once | cut | reduced, joined |
//! | `shift`, `send`, `recv` | the tensor to one | | |
//! | `all_slice` | nothing | | its slice |
//!
//! `all_gather`, `all_to_all` and `reduce_scatter` send the minimum of any algorithm, and so does `all_reduce` with
//! `2 (n - 1) / n` times its bytes for `n` processes.
//!
//! Sends and receives start as soon as their data are ready, and are waited for before the first use of the result:
//! the operations in between overlap with them. Bytes are sent, whatever the element type.

mod collectives;
mod entry;
mod exchange;
mod grid;
mod messages;
pub mod reduction;
mod tensors;

use crate::pass::diagnostic::Diagnostic;
use crate::pass::stages::{Next, StageInput, StageResult};
use collectives::{Kind, MessageStep};
use entry::Process;
use grid::RankGrid;
use layout_ir::{self as ir, Op};
use melior::ir::attribute::FlatSymbolRefAttribute;
use std::collections::HashMap;

/// Operations of this dialect that exist only before programs are partitioned by process.
const BEFORE: [&str; 4] = ["shard.shard", "shard.sharding", "shard.get_sharding", "shard.shard_shape"];

/// Lowers a module; returns [`Next::Unchanged`] if it has no grid.
///
/// # Errors
/// An operation of `shard` that cannot be lowered, dynamic or indivisible sizes, and grids with different
/// numbers of processes. The module is then unchanged.
pub(crate) fn run<'c>(stage: StageInput<'c>) -> StageResult<'c> {
    let rewriter = stage.rewriter;
    let module = rewriter.root();
    let all = ir::all_operations(module);
    let all: Vec<Op<'c>> = all.into_iter().filter(|op| ir::name(*op).starts_with("shard.")).collect();
    let (mut grids, mut steps, mut errors) = (HashMap::new(), Vec::new(), Vec::new());
    for op in all.iter().filter(|op| ir::name(**op) == "shard.grid") {
        match RankGrid::of(*op) {
            Ok(grid) => {
                grids.insert(ir::attribute(*op, "sym_name").and_then(ir::text).unwrap_or_default(), grid);
            }
            Err(reason) => errors.push(refused(*op, &reason)),
        }
    }
    let Some(processes) = grids.values().map(|grid| grid.processes).max() else {
        return if errors.is_empty() && all.is_empty() { Ok(Next::Unchanged) } else { Err(with_missing(errors, &all)) };
    };
    if let Some(other) = grids.values().map(|grid| grid.processes).find(|n| *n != processes) {
        let message = format!("the grids of a module have the same number of processes; found {processes} and {other}");
        errors.push(Diagnostic::error(ir::location(module), message));
    }
    for op in all.iter().filter(|op| ir::name(**op) != "shard.grid") {
        if BEFORE.contains(&ir::name(*op)) {
            errors.push(refused(*op, &unknown(*op)));
            continue;
        }
        let symbol = ir::attribute(*op, "grid").and_then(|grid| FlatSymbolRefAttribute::try_from(grid).ok());
        let found = symbol.and_then(|symbol| grids.get(symbol.value()));
        let step =
            found.ok_or_else(|| unknown(*op)).and_then(|grid| Ok((MessageStep::of(*op, grid)?, function_of(*op)?)));
        match step {
            Ok((step, function)) => steps.push((*op, step, function)),
            Err(reason) => errors.push(refused(*op, &reason)),
        }
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    let main = entry::begin(module, processes);
    let mut known: HashMap<usize, Process<'c>> = HashMap::new();
    // Tag 0 is for the program's own sends and receives.
    let mut tag = 0;
    for (op, step, function) in steps {
        let needs_process = !matches!(step.kind, Kind::Shape(_));
        if needs_process {
            let process = known.entry(ir::op_key(function)).or_insert_with(|| Process::of(function, processes));
            tag += 1;
            step.follow(op, process, tag);
        } else {
            step.sizes(op);
        }
        rewriter.erase(op);
    }
    all.iter().filter(|op| ir::name(**op) == "shard.grid").for_each(|op| rewriter.erase(*op));
    main.into_iter().for_each(entry::end);
    Ok(Next::Changed)
}

/// The function with a body around an operation.
fn function_of(op: Op) -> Result<Op, String> {
    let function = std::iter::successors(Some(op), |op| ir::parent(*op)).find(|op| ir::name(*op) == "func.func");
    function.ok_or_else(|| "expected it inside of a `func.func`".into())
}

fn unknown(op: Op) -> String {
    match BEFORE.contains(&ir::name(op)) {
        true => "it is for modules that are not yet cut into a program for each process: use layout-partition".into(),
        false => "expected the symbol of a `shard.grid` of the module".into(),
    }
}

fn refused<'c>(op: Op<'c>, reason: &str) -> Diagnostic<'c> {
    Diagnostic::error(ir::location(op), format!("'{}' op cannot be lowered to MPI: {reason}", ir::name(op)))
}

/// These errors, or else one for each operation without a grid.
fn with_missing<'c>(errors: Vec<Diagnostic<'c>>, all: &[Op<'c>]) -> Vec<Diagnostic<'c>> {
    if errors.is_empty() { all.iter().map(|op| refused(*op, &unknown(*op))).collect() } else { errors }
}
