//! Instructions that give their operands other names, and what such a name stands for.

use crate::hlo::{Computation, Instruction};
use crate::operations::operation::Operation;
use crate::operations::shape::{Shape, count};

/// A leaf of the result of an instruction: the instruction's number, and the leaf's.
pub type Leaf = (usize, usize);

/// Whether an instruction gives its operands other names, and which: for each leaf of the result the leaf among those of
/// all operands.
pub fn renamed(computation: &Computation, instruction: &Instruction) -> Option<Vec<Option<usize>>> {
    let shape = |k: usize| &computation.instructions[instruction.operands[k]].shape;
    let leaves = count(&instruction.shape);
    match &instruction.operation {
        Operation::Tuple => Some((0..leaves).map(Some).collect()),
        Operation::GetTupleElement { index } => {
            let Shape::Tuple(parts) = shape(0) else { return None };
            let before: usize = parts[..*index].iter().map(count).sum();
            Some((before..before + leaves).map(Some).collect())
        }
        Operation::Leaves { numbers } => Some(numbers.clone()),
        Operation::Start(start) => {
            start.operands?;
            Some((0..leaves).map(|leaf| start.operand(leaf)).collect())
        }
        Operation::Bitcast => Some((0..leaves).map(Some).collect()),
        Operation::Elementwise if matches!(&*instruction.opcode, "opt-barrier" | "domain") => {
            Some((0..leaves).map(Some).collect())
        }
        _ => None,
    }
}

/// The leaf that a leaf is a name of: itself, where its instruction does not rename it.
pub fn source(computation: &Computation, leaf: Leaf) -> Leaf {
    let (mut instruction, mut number) = leaf;
    loop {
        let own = &computation.instructions[instruction];
        let operand = renamed(computation, own).and_then(|names| *names.get(number)?);
        let Some(mut operand) = operand else { return (instruction, number) };
        let of = own.operands.iter().find(|k| {
            let count = count(&computation.instructions[**k].shape);
            let inside = operand < count;
            operand -= if inside { 0 } else { count };
            inside
        });
        let Some(of) = of else { return (instruction, number) };
        (instruction, number) = (*of, operand);
    }
}

/// The same for each leaf of an instruction.
pub fn sources(computation: &Computation, instruction: usize) -> Vec<Leaf> {
    let own = &computation.instructions[instruction];
    let names = renamed(computation, own);
    let leaves = |k: &usize| count(&computation.instructions[*k].shape);
    let taken: Vec<Leaf> = own.operands.iter().flat_map(|k| (0..leaves(k)).map(move |leaf| (*k, leaf))).collect();
    let operand = |leaf: usize| taken.get((*names.as_ref()?.get(leaf)?)?).copied();
    let of = |leaf: usize| operand(leaf).map_or((instruction, leaf), |operand| source(computation, operand));
    (0..count(&own.shape)).map(of).collect()
}

/// Whether an instruction reads its operands; tuples and their parts only name them.
pub(super) fn reads(instruction: &Instruction) -> bool {
    !matches!(&*instruction.opcode, "tuple" | "get-tuple-element")
}
