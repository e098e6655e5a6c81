//! The remaining conversions: their sources, merging, and position.

use super::classes::{Space, reshaped};
use crate::analysis::execution_counts::constant_trips;
use crate::buffers::operations::{ELEMENTWISE, is};
use layout_ir::{self as ir, Builder, Op, Rewriter, Val};
use melior::ir::block::BlockLike;
use melior::ir::operation::{OperationLike, OperationMutLike};
use melior::ir::{Type, ValueLike};
use std::collections::HashMap;

/// Makes each conversion of a conversion read the first source, unless the first one moves data to another memory or to
/// the places of a machine. `convert(convert(x : A to B) : B to C)` is `convert(x : A to C)`.
pub fn shorten_chains(module: Op) {
    for op in ir::all_operations(module).into_iter().filter(|op| super::is_conversion(*op)) {
        // Earlier conversions are shortened already, so one step is enough.
        let between = ir::operands(op)[0];
        let Some(first) = ir::defining_op(between).filter(|op| super::is_conversion(*op)) else { continue };
        let source = ir::operands(first)[0];
        let space = |v: Val| ir::tensor(v.r#type()).map_or(Space::Other, |t| Space::of(t.layout));
        if source.r#type() == ir::result(op, 0).r#type()
            || space(between) == Space::Unstated
            || space(between) != Space::Other && space(between) == space(source)
        {
            ir::edit(op).set_operand(0, source);
        }
    }
}

/// Gives each use of a conversion its own copy, beside the others, so that one can disappear while another
/// stays. [`settle`] merges those that stay.
pub fn split_uses(module: Op) {
    for op in ir::all_operations(module).into_iter().filter(|op| super::is_conversion(*op)) {
        let result = ir::result(op, 0);
        for (user, operand) in ir::uses(result).into_iter().skip(1) {
            let own = Builder::before(op).value("layout.convert", &ir::operands(op), result.r#type(), &[]);
            ir::edit(user).set_operand(operand, own);
        }
    }
}

/// Moves the remaining conversions to where they run least often, and merges equal ones.
pub fn settle(rewriter: &Rewriter, conversions: Vec<Op>) {
    let mut kept = Vec::new();
    for op in conversions {
        match made_anew(op) {
            Some(value) => {
                ir::replace_all_uses(ir::result(op, 0), value);
                rewriter.erase(op);
            }
            None => kept.push(op),
        }
    }
    for op in &kept {
        hoist(*op);
    }
    for op in merged(rewriter) {
        sink(op);
    }
}

/// An empty tensor, a constant or a fill, defined directly in the type of its conversion.
fn made_anew<'c>(op: Op<'c>) -> Option<Val<'c>> {
    let (source, t) = (ir::defining_op(ir::operands(op)[0])?, ir::result(op, 0).r#type());
    let b = Builder::before(op);
    match ir::name(source) {
        "tensor.empty" | "tensor.splat" => Some(b.value(ir::name(source), &ir::operands(source), t, &[])),
        "arith.constant" => Some(b.constant(reshaped(source, t)?)),
        "linalg.fill" => {
            let [value, target] = ir::operands(source)[..] else { return None };
            let empty = ir::defining_op(target).filter(|op| ir::name(*op) == "tensor.empty")?;
            let empty = b.value("tensor.empty", &ir::operands(empty), t, &[]);
            Some(ir::result(b.named_structured("linalg.fill", &[value, empty], &[1, 1], t), 0))
        }
        _ => None,
    }
}

/// Moves a conversion out of the loops that do not change its source and certainly run.
fn hoist(op: Op) {
    let source = ir::operands(op)[0];
    while let Some(around) = ir::parent(op).filter(|around| certainly_runs(*around, op)) {
        let inside = match (ir::defining_op(source), ir::block_argument(source)) {
            (Some(made), _) => is_inside(made, around),
            (None, Some((owner, _))) => owner == around || is_inside(owner, around),
            (None, None) => true,
        };
        if inside {
            return;
        }
        ir::move_before(op, around);
    }
}

/// Whether a loop runs the block that contains an operation in every execution.
fn certainly_runs(around: Op, op: Op) -> bool {
    match ir::name(around) {
        "scf.for" => constant_trips(around).is_some_and(|trips| trips > 0),
        "scf.while" => op.block() == ir::blocks(around).first().copied(),
        _ => false,
    }
}

fn is_inside(op: Op, around: Op) -> bool {
    std::iter::successors(ir::parent(op), |op| ir::parent(*op)).any(|op| op == around)
}

/// Merges conversions of one value to one type into the first, in its block and inside; returns the remaining ones.
fn merged<'c>(rewriter: &'c Rewriter) -> Vec<Op<'c>> {
    let mut known: HashMap<(usize, Type<'c>), Vec<Op<'c>>> = HashMap::new();
    let mut left = Vec::new();
    for op in ir::all_operations(rewriter.root()).into_iter().filter(|op| super::is_conversion(*op)) {
        let same = known.entry((ir::key(ir::operands(op)[0]), ir::result(op, 0).r#type())).or_default();
        let earlier = same.iter().find(|first| {
            // Operations come in the order of their blocks, so an ancestor of this one in that block is after it.
            std::iter::successors(Some(op), |op| ir::parent(*op)).any(|around| around.block() == first.block())
        });
        match earlier {
            Some(first) => {
                ir::replace_all_uses(ir::result(op, 0), ir::result(*first, 0));
                rewriter.erase(op);
            }
            None => {
                same.push(op);
                left.push(op);
            }
        }
    }
    left
}

/// Moves a conversion into the branch of a conditional that holds all its users.
fn sink(op: Op) {
    let users: Vec<Op> = ir::uses(ir::result(op, 0)).into_iter().map(|u| u.0).collect();
    loop {
        let home = op.block();
        let mut branches = users.iter().map(|user| {
            // The operation around the user in the conversion's block, and the block inside it.
            let mut inner = None;
            let mut at = *user;
            while at.block() != home {
                inner = at.block();
                at = ir::parent(at)?;
            }
            Some((at, inner?))
        });
        let Some(Some((conditional, branch))) = branches.next() else { return };
        let alone = branches.all(|other| other == Some((conditional, branch)));
        if !alone || !matches!(ir::name(conditional), "scf.if" | "scf.index_switch" | "scf.execute_region") {
            return;
        }
        let Some(first) = branch.first_operation() else { return };
        ir::move_before(op, first);
    }
}

/// Erases operations whose tensors nothing reads.
pub fn erase_dead(rewriter: &Rewriter) {
    // Readers follow their operands, so one backward walk removes chains.
    for op in ir::all_operations(rewriter.root()).into_iter().rev() {
        if is_dead(op) {
            rewriter.erase(op);
        }
    }
}

/// Whether an operation only computes tensors that nothing reads.
fn is_dead(op: Op) -> bool {
    let results = ir::results(op);
    let name = ir::name(op);
    !results.is_empty()
        && results.iter().all(|v| ir::tensor(v.r#type()).is_some() && !ir::is_used(*v))
        && (name == "layout.convert"
            || name == "arith.constant"
            || name.starts_with("tensor.")
            || is(name, ELEMENTWISE)
            || ir::indexing_maps(op).is_some())
        && ir::all_operations(op).into_iter().skip(1).all(|inner| is_pure(ir::name(inner)))
}

/// Whether an operation inside a structured one only computes.
fn is_pure(name: &str) -> bool {
    ["arith.", "math.", "complex.", "tensor.", "affine.", "linalg."].iter().any(|dialect| name.starts_with(dialect))
}
