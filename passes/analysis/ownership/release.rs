//! The end of each buffer that a function's blocks own, read from a function that already frees its buffers.

use crate::analysis::ownership::order::Numbered;
use crate::analysis::ownership::sets::Sets;
use crate::analysis::ownership::{define, hand_on};
use layout_ir::{self as ir, Op, Val};
use std::collections::HashMap;

/// A value that a block owns.
pub struct Owner<'c> {
    /// The result or block argument.
    pub value: Val<'c>,
    /// The end of its buffer.
    pub release: Release<'c>,
}

/// The end of a buffer.
pub enum Release<'c> {
    /// An operation of its block frees it.
    Freed(Op<'c>),
    /// Operand `operand` of `op` hands it on: to owners of these numbers, or to the caller.
    Transferred { op: Op<'c>, operand: usize, to: Vec<usize> },
    /// Unknown, or never freed.
    Unknown,
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
        let set = sets.of(operand.value);
        let only = if let ([only], false) = (&set.owned[..], set.lent) { Some(*only) } else { None };
        let known = only.filter(|only| sets.owned[*only].block == order.block(order.number(operand.op)));
        match known {
            Some(only) => releases[only].push(Release::Transferred { op: operand.op, operand: operand.operand, to }),
            // The receiver does not know what it gets.
            None => {
                let all = sets.of(operand.value).owned.clone();
                all.into_iter()
                    .chain(to)
                    .for_each(|number| releases[number].extend([Release::Unknown, Release::Unknown]));
            }
        }
    }
    for op in order.operations.iter().filter(|op| ir::name(**op) == "memref.dealloc") {
        let value = ir::operands(*op)[0];
        let own = numbers.get(&ir::key(value)).copied();
        match own.filter(|number| sets.owned[*number].block == order.block(order.number(*op))) {
            Some(number) => releases[number].push(Release::Freed(*op)),
            None => {
                let all = sets.of(value).owned.clone();
                all.into_iter().for_each(|number| releases[number].extend([Release::Unknown, Release::Unknown]));
            }
        }
    }
    spread_unknown(&mut releases);
    let only = |mut releases: Vec<Release<'c>>| match releases.pop() {
        Some(release) if releases.is_empty() => release,
        _ => Release::Unknown,
    };
    let owners = sets.owned.into_iter().zip(releases);
    Some(owners.map(|(owned, releases)| Owner { value: owned.value, release: only(releases) }).collect())
}

/// Marks as unknown each owner that receives a buffer from an owner without a known release.
fn spread_unknown(releases: &mut [Vec<Release>]) {
    let is_known = |releases: &[Release]| matches!(releases, [Release::Freed(_) | Release::Transferred { .. }]);
    let mut open: Vec<usize> = (0..releases.len()).filter(|number| !is_known(&releases[*number])).collect();
    while let Some(number) = open.pop() {
        let to = |release: &Release| if let Release::Transferred { to, .. } = release { to.clone() } else { vec![] };
        for other in releases[number].iter().flat_map(to).collect::<Vec<usize>>() {
            if is_known(&releases[other]) {
                open.push(other);
                releases[other].push(Release::Unknown);
            }
        }
    }
}
