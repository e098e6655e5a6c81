//! Instructions that rename their operands, and the definition behind a name.

use std::collections::HashMap;
use tensor_layout::hlo::{Computation, Instruction};
use tensor_layout::operations::operation::Operation;
use tensor_layout::operations::shape::{Shape, count, firsts};

/// A leaf of the result of an instruction: the numbers of the instruction and of the leaf.
pub type Leaf = (usize, usize);

/// The names that the instructions of a computation give to leaves of their operands.
pub struct Names<'c> {
    computation: &'c Computation,
    /// The number of the first leaf of each part of a tuple, by its instruction.
    parts: HashMap<usize, Vec<usize>>,
    /// The number of the first leaf of each operand, among the leaves of all operands, by instruction.
    operands: HashMap<usize, Vec<usize>>,
}

impl<'c> Names<'c> {
    pub fn new(computation: &'c Computation) -> Names<'c> {
        Names { computation, parts: HashMap::new(), operands: HashMap::new() }
    }

    /// The operand leaf behind a name; `None` if its instruction does not rename it.
    pub fn operand(&mut self, (k, leaf): Leaf) -> Option<Leaf> {
        let all = &self.computation.instructions;
        let own = &all[k];
        if let Operation::GetTupleElement { index } = &own.operation {
            let tuple = own.operands[0];
            let Shape::Tuple(parts) = &all[tuple].shape else { return None };
            let firsts = self.parts.entry(tuple).or_insert_with(|| firsts(parts));
            return Some((tuple, firsts.get(*index)? + leaf));
        }
        let number = operand_leaf(own, leaf)?;
        let shapes = own.operands.iter().map(|operand| &all[*operand].shape);
        let firsts = self.operands.entry(k).or_insert_with(|| firsts(shapes));
        // An operand without leaves has the first leaf of the next one.
        let place = firsts.partition_point(|first| *first <= number).checked_sub(1)?;
        Some((*own.operands.get(place)?, number - firsts[place]))
    }

    /// The definition behind a leaf; the leaf itself if its instruction does not rename it.
    pub fn source(&mut self, mut leaf: Leaf) -> Leaf {
        while let Some(operand) = self.operand(leaf) {
            leaf = operand;
        }
        leaf
    }

    /// The definition behind each leaf of an instruction.
    pub fn sources(&mut self, instruction: usize) -> Vec<Leaf> {
        let leaves = count(&self.computation.instructions[instruction].shape);
        (0..leaves).map(|leaf| self.source((instruction, leaf))).collect()
    }
}

/// The operand leaf, numbered over all operands, that a leaf of the result renames; for instructions that take no part
/// of a tuple.
fn operand_leaf(instruction: &Instruction, leaf: usize) -> Option<usize> {
    match &instruction.operation {
        Operation::Tuple | Operation::Bitcast => Some(leaf),
        Operation::Elementwise if matches!(&*instruction.opcode, "opt-barrier" | "domain") => Some(leaf),
        Operation::Leaves { numbers } => *numbers.get(leaf)?,
        Operation::Start(start) => {
            start.operands?;
            start.operand(leaf)
        }
        _ => None,
    }
}

/// Whether an instruction reads its operands; tuples and their parts only rename them.
pub(super) fn reads(instruction: &Instruction) -> bool {
    !matches!(&*instruction.opcode, "tuple" | "get-tuple-element")
}
