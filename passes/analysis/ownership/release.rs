//! The end of each buffer that a function's blocks own, read from a function that already frees its buffers.

use crate::analysis::ownership::order::{BranchEnds, Numbered};
use crate::analysis::ownership::sets::{Owned, Sets};
use crate::analysis::ownership::{define, hand_on};
use layout_ir::{self as ir, Op, Val};
use std::collections::HashMap;

/// A value that a block owns.
pub struct Owner<'c> {
    /// The result or block argument.
    pub value: Val<'c>,
    /// The end of its buffer, one in each branch if a conditional releases it; none if that is unknown.
    pub releases: Vec<Release<'c>>,
}

/// The end of a buffer.
pub enum Release<'c> {
    /// An operation frees it.
    Freed(Op<'c>),
    /// Operand `operand` of `op` hands it on: to owners of these numbers, or to the caller.
    Transferred { op: Op<'c>, operand: usize, to: Vec<usize> },
    /// Unknown.
    Unknown,
}

impl<'c> Release<'c> {
    /// The operation; `None` if it is unknown.
    pub fn op(&self) -> Option<Op<'c>> {
        match self {
            Release::Freed(op) | Release::Transferred { op, .. } => Some(*op),
            Release::Unknown => None,
        }
    }
}

/// The buffers that a function's blocks own; `None` if ownership is unknown.
pub fn owners<'c>(function: Op<'c>) -> Option<Vec<Owner<'c>>> {
    let order = Numbered::of(function)?;
    let mut sets = Sets::default();
    define(&order, &mut sets)?;
    let handed_on = hand_on(&order, &mut sets)?;
    let numbers: HashMap<usize, usize> = sets.owned.iter().enumerate().map(|(k, o)| (ir::key(o.value), k)).collect();
    let mut releases: Vec<Vec<Release>> = sets.owned.iter().map(|_| Vec::new()).collect();
    for operand in handed_on {
        let to: Vec<usize> = operand.to.iter().map(|v| numbers[&ir::key(*v)]).collect();
        let known = sets.of(operand.value).only().filter(|only| is_released_by(&order, &sets.owned[*only], operand.op));
        match known {
            Some(only) => releases[only].push(Release::Transferred { op: operand.op, operand: operand.operand, to }),
            // The receiver does not know what it gets.
            None => {
                let all = sets.of(operand.value).owned.clone();
                all.into_iter().chain(to).for_each(|number| releases[number].push(Release::Unknown));
            }
        }
    }
    for op in order.operations.iter().filter(|op| ir::name(**op) == "memref.dealloc") {
        let value = ir::operands(*op)[0];
        let own = numbers.get(&ir::key(value)).copied();
        match own.filter(|number| is_released_by(&order, &sets.owned[*number], *op)) {
            Some(number) => releases[number].push(Release::Freed(*op)),
            None => {
                let all = sets.of(value).owned.clone();
                all.into_iter().for_each(|number| releases[number].push(Release::Unknown));
            }
        }
    }
    let is_known = |number: usize, releases: &[Release]| is_complete(&order, &sets.owned[number], releases);
    spread_unknown(&mut releases, is_known);
    for (number, releases) in releases.iter_mut().enumerate() {
        if !is_known(number, releases) {
            releases.clear();
        }
    }
    let owners = sets.owned.into_iter().zip(releases);
    Some(owners.map(|(owned, releases)| Owner { value: owned.value, releases }).collect())
}

/// Whether an operation is in the block that owns a buffer, or in a branch of conditionals there.
fn is_released_by(order: &Numbered, owned: &Owned, op: Op) -> bool {
    let at = order.number(op);
    order.block(at) == owned.block || order.conditionals(at, owned.block).is_some()
}

/// Whether a buffer has one release, in its block, or one in each branch of a conditional or of those in the branch.
fn is_complete(order: &Numbered, owned: &Owned, releases: &[Release]) -> bool {
    let at: Option<Vec<usize>> = releases.iter().map(|release| Some(order.number(release.op()?))).collect();
    let Some(at) = at else { return false };
    if let [only] = at[..]
        && order.block(only) == owned.block
    {
        return true;
    }
    let around: Option<Vec<_>> = at.iter().map(|at| order.conditionals(*at, owned.block)).collect();
    let Some(around) = around else { return false };
    let Some(outermost) = around.first().and_then(|around| around.last()) else { return false };
    let mut ends = BranchEnds::default();
    at.iter().zip(&around).all(|(at, around)| around.last() == Some(outermost) && ends.add(order, *at, around))
        && ends.others(order, *outermost).is_empty()
}

/// Marks as unknown each owner that receives a buffer from an owner without a known release.
fn spread_unknown(releases: &mut [Vec<Release>], is_known: impl Fn(usize, &[Release]) -> bool) {
    let mut open: Vec<usize> = (0..releases.len()).filter(|number| !is_known(*number, &releases[*number])).collect();
    while let Some(number) = open.pop() {
        let to = |release: &Release| if let Release::Transferred { to, .. } = release { to.clone() } else { vec![] };
        for other in releases[number].iter().flat_map(to).collect::<Vec<usize>>() {
            if is_known(other, &releases[other]) {
                open.push(other);
                releases[other].push(Release::Unknown);
            }
        }
    }
}
