//! The operations of a function in program order, by number.

use layout_ir::{self as ir, Op};
use melior::ir::block::BlockLike;
use melior::ir::operation::OperationLike;
use melior::ir::{BlockRef, RegionLike};
use std::collections::HashMap;
use std::ops::RangeInclusive;

/// The identity of a block.
pub type BlockKey = usize;

/// The identity of a block, as a key.
pub fn block_key(block: BlockRef) -> BlockKey {
    block.to_raw().ptr as usize
}

/// A function's operations, each before the operations inside it.
pub struct Numbered<'c> {
    /// The operations; the first is the function.
    pub operations: Vec<Op<'c>>,
    /// The block that each is in.
    blocks: Vec<BlockKey>,
    /// The number of the operation that each is in.
    parents: Vec<usize>,
    /// The number of the last operation inside each, or its own.
    ends: Vec<usize>,
    numbers: HashMap<usize, usize>,
    /// The last operation of each block.
    terminators: HashMap<BlockKey, Op<'c>>,
}

impl<'c> Numbered<'c> {
    /// Numbers the operations of a function; `None` if a region has several blocks, whose order is no order of time.
    pub fn of(function: Op<'c>) -> Option<Numbered<'c>> {
        let (mut operations, mut blocks, mut parents) = (Vec::new(), Vec::new(), Vec::new());
        let mut terminators = HashMap::new();
        let mut stack = vec![(function, 0, 0)];
        while let Some((op, block, parent)) = stack.pop() {
            let number = operations.len();
            operations.push(op);
            blocks.push(block);
            parents.push(parent);
            if op.regions().any(|region| region.first_block().is_some_and(|block| block.next_in_region().is_some())) {
                return None;
            }
            for block in ir::blocks(op).into_iter().rev() {
                let inside = ir::operations(block);
                terminators.extend(inside.last().map(|last| (block_key(block), *last)));
                stack.extend(inside.into_iter().rev().map(|op| (op, block_key(block), number)));
            }
        }
        let mut ends: Vec<usize> = (0..operations.len()).collect();
        for number in (1..ends.len()).rev() {
            ends[parents[number]] = ends[parents[number]].max(ends[number]);
        }
        let numbers = operations.iter().enumerate().map(|(number, op)| (ir::op_key(*op), number)).collect();
        Some(Numbered { operations, blocks, parents, ends, numbers, terminators })
    }

    /// The number of an operation of the function.
    pub fn number(&self, op: Op) -> usize {
        self.numbers[&ir::op_key(op)]
    }

    /// The block that the operation of this number is in.
    pub fn block(&self, number: usize) -> BlockKey {
        self.blocks[number]
    }

    /// The last operation of a block.
    pub fn terminator(&self, block: BlockKey) -> Op<'c> {
        self.terminators[&block]
    }

    /// The number of the last operation inside that of this number, or its own.
    pub fn end(&self, number: usize) -> usize {
        self.ends[number]
    }

    /// The operations of a block and those inside them.
    pub fn range(&self, block: BlockRef<'c, 'c>) -> RangeInclusive<usize> {
        self.number(ir::operations(block)[0])..=self.number(self.terminators[&block_key(block)])
    }

    /// The conditionals around the operation of this number, innermost first: each is in a branch of the next one, and
    /// the last in `block`; `None` if other operations are between. One of the branches of each always runs.
    pub fn conditionals(&self, number: usize, block: BlockKey) -> Option<Vec<usize>> {
        let mut all = Vec::new();
        let mut around = self.parents[number];
        loop {
            let op = self.operations[around];
            let is_conditional = matches!(ir::name(op), "scf.if" | "scf.index_switch");
            if !is_conditional || op.regions().any(|region| region.first_block().is_none()) {
                return None;
            }
            all.push(around);
            if self.blocks[around] == block {
                return Some(all);
            }
            around = self.parents[around];
        }
    }

    /// Whether the operation numbered `number` is inside that numbered `around`.
    pub fn is_inside(&self, number: usize, around: usize) -> bool {
        around < number && number <= self.ends[around]
    }

    /// The operation of this number and those around it, innermost first, without the function.
    pub fn outwards(&self, number: usize) -> impl Iterator<Item = usize> {
        std::iter::successors(Some(number), |n| Some(self.parents[*n])).take_while(|n| *n > 0)
    }

    /// The operation of a block that is or contains the one of this number.
    pub fn of_block(&self, number: usize, block: BlockKey) -> Option<usize> {
        self.outwards(number).find(|n| self.blocks[*n] == block)
    }
}

/// The branches of conditionals in which a buffer ends: at an operation of the branch, or in the branches of this
/// conditional in it.
#[derive(Default)]
pub struct BranchEnds(HashMap<BlockKey, Option<usize>>);

impl BranchEnds {
    /// Adds an end at the operation of this number inside these conditionals, innermost first. False if the buffer has
    /// another end in one of the branches.
    pub fn add(&mut self, order: &Numbered, at: usize, conditionals: &[usize]) -> bool {
        let (_, inner) = conditionals.split_last().expect("an end in a branch");
        let is_first = self.0.insert(order.block(at), None).is_none();
        let mut through = inner.iter().map(|inside| (order.block(*inside), Some(*inside)));
        is_first && through.all(|(block, inside)| *self.0.entry(block).or_insert(inside) == inside)
    }

    /// The branches in which the buffer has no end, of a conditional and of those inside it.
    pub fn others<'c>(&self, order: &Numbered<'c>, conditional: usize) -> Vec<BlockRef<'c, 'c>> {
        let (mut others, mut open) = (Vec::new(), vec![conditional]);
        while let Some(conditional) = open.pop() {
            for block in ir::blocks(order.operations[conditional]) {
                match self.0.get(&block_key(block)) {
                    Some(inside) => open.extend(inside),
                    None => others.push(block),
                }
            }
        }
        others
    }
}
