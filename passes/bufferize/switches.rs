//! `scf.index_switch` of tensors as a tree of `scf.if`.
//!
//! MLIR 22's one-shot analysis misses that the result of a switch may be in the buffer of a case's yielded value: an
//! operation after a switch that yields an argument then writes into the argument, even if that is read-only
//! (`test/upstream/result-of-switch.mlir`). For `scf.if` it finds this.
//!
//! The analysis takes twice as long for each nested level of conditionals: for a chain of 24 cases, 22 s. So the cases
//! are numbered, and each conditional has one half of them in each branch: 24 cases and the default take 5 levels.

use layout_ir::{self as ir, Builder, Op, Rewriter, Val};
use melior::ir::attribute::IntegerAttribute;
use melior::ir::r#type::IntegerType;
use melior::ir::{BlockRef, Type, ValueLike};
use std::ops::Range;

/// Predicates of `arith.cmpi`.
const EQUAL: i64 = 0;
const UNSIGNED_LESS: i64 = 6;

/// Replaces a switch by a tree of `scf.if`, whose leaves are its cases in their order and the default.
pub fn as_branches(rewriter: &Rewriter, op: Op) {
    let b = Builder::before(op);
    let mut leaves = ir::blocks(op);
    leaves.rotate_left(1);
    let types = ir::results(op).into_iter().map(|v| v.r#type()).collect();
    let choice = Choice::of(b, ir::operands(op)[0], &ir::integers(op, "cases"));
    let tree = Tree { switch: op, types, choice, leaves };
    tree.put(b, None, 0..tree.leaves.len());
    rewriter.erase(op);
}

/// The number of nested conditionals for a switch.
pub fn levels(switch: Op) -> usize {
    let leaves = ir::blocks(switch).len().max(1);
    leaves.next_power_of_two().ilog2() as usize
}

/// The selector of a leaf.
enum Choice<'c> {
    /// A single case, with this index.
    Only(Val<'c>, i64),
    /// The number of the case, 0 for the first; at least the number of cases for the default.
    Number(Val<'c>),
}

impl<'c> Choice<'c> {
    fn of(b: Builder<'c>, index: Val<'c>, cases: &[i64]) -> Choice<'c> {
        match cases {
            [one] => Choice::Only(index, *one),
            [first, ..] if cases.iter().zip(0..).all(|(case, k)| first.checked_add(k) == Some(*case)) => {
                // Unsigned, indices below the first wrap above all others.
                let number = if *first == 0 {
                    index
                } else {
                    b.value("arith.subi", &[index, b.index(*first)], index.r#type(), &[])
                };
                Choice::Number(number)
            }
            _ => {
                let mut number = b.index(cases.len() as i64);
                for (k, case) in cases.iter().enumerate().rev() {
                    let chosen = compared(b, EQUAL, index, *case);
                    number = b.value("arith.select", &[chosen, b.index(k as i64), number], index.r#type(), &[]);
                }
                Choice::Number(number)
            }
        }
    }

    /// Whether the leaf is before this one.
    fn before(&self, b: Builder<'c>, leaf: usize) -> Val<'c> {
        match self {
            Choice::Only(index, case) => compared(b, EQUAL, *index, *case),
            Choice::Number(number) => compared(b, UNSIGNED_LESS, *number, leaf as i64),
        }
    }
}

/// The tree of a switch.
struct Tree<'c> {
    switch: Op<'c>,
    types: Vec<Type<'c>>,
    choice: Choice<'c>,
    leaves: Vec<BlockRef<'c, 'c>>,
}

impl<'c> Tree<'c> {
    /// Emits these leaves before `end`, the terminator of a branch that takes their results; at the root before the
    /// switch.
    fn put(&self, b: Builder<'c>, end: Option<Op<'c>>, leaves: Range<usize>) {
        if leaves.len() == 1 {
            let results = moved(ir::operations(self.leaves[leaves.start]), end.unwrap_or(self.switch));
            return deliver(self.switch, end, &results);
        }
        let middle = leaves.start + leaves.len() / 2;
        let (first, second) = b.conditional(self.choice.before(b, middle), &self.types);
        deliver(self.switch, end, &ir::results(ir::parent(first).expect("a terminator is in an operation")));
        self.put(b.at(first), Some(first), leaves.start..middle);
        self.put(b.at(second), Some(second), middle..leaves.end);
    }
}

/// An index compared with a number.
fn compared<'c>(b: Builder<'c>, predicate: i64, index: Val<'c>, value: i64) -> Val<'c> {
    let int64 = IntegerType::new(b.context(), 64).into();
    let predicate = b.named("predicate", IntegerAttribute::new(int64, predicate));
    b.value("arith.cmpi", &[index, b.index(value)], IntegerType::new(b.context(), 1).into(), &[predicate])
}

/// Moves the operations of a case before another operation; returns its yielded values.
fn moved<'c>(case: Vec<Op<'c>>, before: Op<'c>) -> Vec<Val<'c>> {
    let (end, operations) = case.split_last().expect("a case ends in a yield");
    operations.iter().for_each(|op| ir::move_before(*op, before));
    ir::operands(*end)
}

/// Makes values the results of a branch, at its terminator, or of the whole switch.
fn deliver<'c>(switch: Op<'c>, end: Option<Op<'c>>, values: &[Val<'c>]) {
    match end {
        Some(end) => ir::set_operands(end, values),
        None => ir::results(switch).into_iter().zip(values).for_each(|(old, new)| ir::replace_all_uses(old, *new)),
    }
}
