//! The number of executions of an operation for each call of the module's public functions.
//!
//! A loop without a constant trip count and without [`TRIP_COUNT`] counts as [`UNKNOWN_TRIPS`]; each branch of a conditional
//! counts as taken. A private function runs as often as its calls do. For mutually recursive functions, only calls from
//! outside count.

use crate::analysis::functions::{callee, symbol};
use layout_dialect::TRIP_COUNT;
use layout_ir::{self as ir, Op};
use std::collections::HashMap;
use tensor_layout::numbers::ceil_div_wide;
use tensor_layout::operations::UNKNOWN_TRIPS;

/// The numbers of executions of a module's operations.
pub struct ExecutionCounts {
    /// The executions of the blocks of an operation with regions, by its key.
    inside: HashMap<usize, u64>,
}

impl ExecutionCounts {
    /// Counts the executions of these operations, each after its parent.
    pub fn of(operations: &[Op]) -> ExecutionCounts {
        let functions: Vec<usize> = (0..operations.len()).filter(|k| ir::name(operations[*k]) == "func.func").collect();
        let mut calls: HashMap<&str, Vec<(usize, u64)>> = HashMap::new();
        let numbers: HashMap<&str, usize> =
            functions.iter().enumerate().filter_map(|(n, k)| Some((symbol(operations[*k])?, n))).collect();
        // Executions for each call of the function, and the function of each operation.
        let mut runs = ExecutionCounts { inside: HashMap::new() };
        let mut function = 0;
        for op in operations {
            if ir::name(*op) == "func.func" {
                function = symbol(*op).and_then(|name| numbers.get(name)).copied().unwrap_or(0);
                runs.inside.insert(ir::op_key(*op), 1);
            } else {
                let around = runs.of_op(*op);
                if !ir::blocks(*op).is_empty() {
                    runs.inside.insert(ir::op_key(*op), around.saturating_mul(trips(*op)));
                }
                if let Some(callee) = callee(*op) {
                    calls.entry(callee).or_default().push((function, around));
                }
            }
        }
        let of_function = totals(&functions.iter().map(|k| operations[*k]).collect::<Vec<_>>(), &numbers, &calls);
        let mut times = 1;
        for op in operations {
            if ir::name(*op) == "func.func" {
                times = symbol(*op).and_then(|name| numbers.get(name)).map_or(1, |n| of_function[*n]);
            }
            if let Some(inside) = runs.inside.get_mut(&ir::op_key(*op)).filter(|_| ir::name(*op) != "builtin.module") {
                *inside = inside.saturating_mul(times);
            }
        }
        runs
    }

    /// The number of executions of an operation.
    pub fn of_op(&self, op: Op) -> u64 {
        ir::parent(op).and_then(|around| self.inside.get(&ir::op_key(around))).copied().unwrap_or(1)
    }
}

/// The executions of each function, from those of its calls.
fn totals(functions: &[Op], numbers: &HashMap<&str, usize>, calls: &HashMap<&str, Vec<(usize, u64)>>) -> Vec<u64> {
    let private = |op: Op| ir::attribute(op, "sym_visibility").and_then(ir::text) == Some("private");
    let mut totals: Vec<u64> = functions.iter().map(|op| u64::from(!private(*op))).collect();
    let mut callees: Vec<Vec<(usize, u64)>> = vec![Vec::new(); functions.len()];
    let mut waits = vec![0usize; functions.len()];
    for (callee, sites) in calls {
        let Some(callee) = numbers.get(callee) else { continue };
        waits[*callee] += sites.len();
        for (caller, times) in sites {
            callees[*caller].push((*callee, *times));
        }
    }
    // Callers before callees; recursive functions keep the executions known so far.
    let mut ready: Vec<usize> = (0..functions.len()).filter(|n| waits[*n] == 0).collect();
    while let Some(caller) = ready.pop() {
        for (callee, times) in &callees[caller] {
            totals[*callee] = totals[*callee].saturating_add(times.saturating_mul(totals[caller]));
            waits[*callee] -= 1;
            if waits[*callee] == 0 {
                ready.push(*callee);
            }
        }
    }
    totals
}

/// The executions of an operation's regions for each execution of the operation.
fn trips(op: Op) -> u64 {
    match ir::name(op) {
        "scf.for" => constant_trips(op).unwrap_or_else(|| said_trips(op)),
        "scf.while" | "scf.forall" | "scf.parallel" => said_trips(op),
        _ => 1,
    }
}

/// The trip count that a loop says, or that of an unknown loop.
fn said_trips(op: Op) -> u64 {
    let said = ir::attribute(op, TRIP_COUNT).and_then(ir::integer).unwrap_or(UNKNOWN_TRIPS);
    u64::try_from(said).unwrap_or(0)
}

/// The trip count of an `scf.for` whose bounds and step are constants.
pub fn constant_trips(op: Op) -> Option<u64> {
    let number = |k: usize| {
        let bound = ir::defining_op(ir::operands(op)[k]).filter(|op| ir::name(*op) == "arith.constant")?;
        ir::attribute(bound, "value").and_then(ir::integer)
    };
    let (from, to, step) = (number(0)?, number(1)?, number(2)?);
    let span = i128::from(to) - i128::from(from);
    let trips = if span > 0 && step > 0 { ceil_div_wide(span, i128::from(step)) } else { 0 };
    u64::try_from(trips).ok()
}
