//! The computations that an instruction runs with buffers of their own, and when.

use tensor_layout::hlo::{Computation, Instruction};
use tensor_layout::operations::operation::Operation;

/// How a computation runs, which decides who owns its parameters and results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum RunsAs {
    /// The program itself: its parameters are the arguments, its results the outputs.
    Entry,
    /// The target of a `call`, a branch, or a loop condition: the caller owns both. Only updates overwrite parameters.
    Called,
    /// The body of a loop: each parameter and result is the loop's state, which is overwritten.
    Body,
}

/// The computations that an instruction runs with buffers of their own, and how.
pub fn called(instruction: &Instruction) -> Vec<(usize, RunsAs)> {
    match &instruction.operation {
        Operation::Call { computation } if instruction.opcode == "call" => vec![(*computation, RunsAs::Called)],
        Operation::While { condition, body } => vec![(*condition, RunsAs::Called), (*body, RunsAs::Body)],
        Operation::Conditional { branches } => branches.iter().map(|branch| (*branch, RunsAs::Called)).collect(),
        Operation::Start(start) => match &start.operation {
            Operation::Call { computation } => vec![(*computation, RunsAs::Called)],
            _ => Vec::new(),
        },
        _ => Vec::new(),
    }
}

/// For each instruction, the last instruction at which its called computations run: itself, or the end of its
/// asynchronous pair.
pub fn until(computation: &Computation) -> Vec<usize> {
    let mut last: Vec<usize> = (0..computation.instructions.len()).collect();
    let mut start = last.clone();
    for (k, instruction) in computation.instructions.iter().enumerate() {
        let ends = instruction.opcode.ends_with("-done") || instruction.opcode.ends_with("-update");
        if let (true, Some(operand)) = (ends, instruction.operands.first()) {
            start[k] = start[*operand];
            last[start[k]] = k;
        }
    }
    last
}
