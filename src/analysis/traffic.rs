//! The bytes that a graph moves: as one kernel, or with one kernel per operation.
//!
//! `y = a + b; z = y * y` over `f32[1000]` reads 8000 bytes and writes 4000 as one kernel; as two, `y` is written and
//! read once more: 12000 and 8000.

use super::access::Access;
use super::amount::{Count, Traffic};
use super::flow::{FlowTable, ValueRef};
use super::walk::{Solved, Walk};
use crate::operations::graph::Graph;
use crate::operations::operation::Operation;
use crate::operations::shape::{Array, bits};
use crate::text::Error;
use std::collections::BTreeMap;

const NONE: Traffic = Traffic { read: ZERO, written: ZERO };
const ZERO: Count = Count { least: 0, most: Some(0) };
const UNKNOWN: Count = Count { least: 0, most: None };

fn add(a: Traffic, b: Traffic) -> Traffic {
    Traffic { read: a.read.plus(b.read), written: a.written.plus(b.written) }
}

/// The bounds of either of two traffics.
fn either(a: Traffic, b: Traffic) -> Traffic {
    let join =
        |a: Count, b: Count| Count { least: a.least.min(b.least), most: a.most.zip(b.most).map(|(a, b)| a.max(b)) };
    Traffic { read: join(a.read, b.read), written: join(a.written, b.written) }
}

/// The traffic of a graph with one kernel per operation; `apart` has the traffic of its callees.
pub(super) fn apart(
    graphs: &[Graph],
    number: usize,
    known: &FlowTable,
    solved: &Solved,
    apart: &BTreeMap<usize, Traffic>,
) -> Result<Traffic, Error> {
    let mut walk = Walk::new(graphs, number, known, solved)?;
    let mut sum = NONE;
    for (k, node) in graphs[number].nodes.iter().enumerate() {
        let more = match &node.operation {
            Operation::Parameter { .. }
            | Operation::Constant
            | Operation::Tuple
            | Operation::GetTupleElement { .. }
            | Operation::Leaves { .. }
            | Operation::Bitcast => NONE,
            Operation::Call { computation } => apart[computation],
            Operation::Start(start) => match &start.operation {
                Operation::Call { computation } => apart[computation],
                _ => moved(&mut walk, k)?,
            },
            Operation::Conditional { branches } => branches.iter().map(|b| apart[b]).reduce(either).unwrap_or(NONE),
            // The trip count is unknown.
            Operation::While { .. } => Traffic { read: UNKNOWN, written: UNKNOWN },
            _ => moved(&mut walk, k)?,
        };
        sum = add(sum, more);
    }
    Ok(sum)
}

/// The traffic of a graph as one kernel: parameters are read as the roots need them, and roots are written, unless they
/// are parameters unchanged.
pub(super) fn fused(graphs: &[Graph], number: usize, known: &FlowTable, solved: &Solved) -> Result<Traffic, Error> {
    let (walk, flow) = (Walk::new(graphs, number, known, solved)?, &known[&number]);
    let mut sum = NONE;
    let mut read: BTreeMap<(usize, usize), Access<ValueRef>> = BTreeMap::new();
    let mut others = Access::none();
    for root in (0..flow.roots()).filter(|root| !flow.passes_on(*root)) {
        join(&mut others, flow.others(root));
        for (parameter, leaf) in flow.related(root) {
            join(read.entry((parameter, leaf)).or_insert_with(Access::none), flow.reads(parameter, leaf, root));
        }
    }
    for (parameter, leaves) in walk.parameter_arrays().into_iter().enumerate() {
        for (leaf, array) in leaves.into_iter().enumerate() {
            let mut access = read.remove(&(parameter, leaf)).unwrap_or_else(Access::none);
            join(&mut access, Some(&others));
            sum.read = sum.read.plus(bytes(array, &access));
        }
    }
    let written = walk.root_arrays().into_iter().enumerate().filter(|(root, _)| !flow.passes_on(*root));
    sum.written = written.map(|(_, array)| whole(array)).fold(ZERO, Count::plus);
    Ok(sum)
}

/// The bytes that one operation reads and writes.
fn moved(walk: &mut Walk, k: usize) -> Result<Traffic, Error> {
    let mut read = Count::exactly(0);
    // Arrays that are only passed on are neither read nor written. Each result of an unknown operation reads the same.
    let other = matches!(walk.operation(k), Operation::Other { .. });
    let made = (0..walk.applied[k].results.len()).filter(|result| walk.applied[k].makes(*result));
    let made: Vec<usize> = made.take(if other { 1 } else { usize::MAX }).collect();
    for operand in 0..walk.applied[k].operands.len() {
        let mut access = Access::none();
        for &result in &made {
            join(&mut access, Some(&walk.pair(k, operand, result)?.0));
        }
        read = read.plus(bytes(walk.applied[k].operands[operand], &access));
    }
    let written =
        made.iter().map(|result| whole(walk.applied[k].results[*result])).fold(Count::exactly(0), Count::plus);
    Ok(Traffic { read, written })
}

/// Adds an access to another.
fn join<S: Clone + PartialEq>(to: &mut Access<S>, other: Option<&Access<S>>) {
    let Some(other) = other else { return };
    to.maps.extend(other.maps.iter().filter(|m| !to.maps.contains(m)).cloned().collect::<Vec<_>>());
    to.unknown.extend(other.unknown.iter().cloned());
}

fn in_bytes(array: &Array, elements: Count) -> Count {
    let bits = u128::try_from(bits(array).unwrap_or(0)).unwrap_or(0);
    let up = |n: u128| n.checked_mul(bits).map(|n| n.div_ceil(8));
    Count { least: up(elements.least).unwrap_or(u128::MAX), most: elements.most.and_then(up) }
}

fn whole(array: &Array) -> Count {
    let sizes = array.sizes().map(|sizes| Access::<usize>::none().usage(&sizes).size);
    in_bytes(array, sizes.map_or(Count { least: 0, most: None }, Count::exactly))
}

fn bytes<S: Clone + PartialEq>(array: &Array, access: &Access<S>) -> Count {
    // A device reads its share of the elements that all devices read.
    let n = access.devices().map_or(1, |n| u128::try_from(n).unwrap_or(1));
    let each = |c: Count| Count { least: c.least / n, most: c.most.map(|most| most.div_ceil(n)) };
    let elements = array.sizes().map(|sizes| each(access.usage(&sizes).elements));
    in_bytes(array, elements.unwrap_or(Count { least: 0, most: None }))
}
