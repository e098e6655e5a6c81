//! Arrays that are arguments or results of the program under other names.
//!
//! A transpose puts no element elsewhere: its result has the order that goes with its operand's. A reshape does so between
//! some layouts. A copy before or after them is one from the argument's memory, or into the result's.

use super::program::{InstanceKind, Program};
use tensor_layout::operations::operation::Operation;

/// The arrays that are arguments, and the instances that are results, under another name.
#[derive(Clone, Debug, Default)]
pub struct Renames {
    /// For each array, whether it is an argument that operations which may rename have been applied to.
    pub of_argument: Vec<bool>,
    /// For each instance, whether it is such an operation, of which only one takes the result: a result of the program, or
    /// another such operation.
    pub to_result: Vec<bool>,
}

impl Renames {
    /// The renames of a program; `users` are those of its arrays, and `moves` says of which reshapes elements move in the
    /// layouts in which they are made.
    pub fn new(program: &Program, users: &[Vec<(usize, usize)>], moves: impl Fn(usize) -> bool) -> Renames {
        let may = |k: usize| {
            let renames = |operation| matches!(operation, &Operation::Reshape | &Operation::Transpose { .. });
            matches!(program.instances[k].kind, InstanceKind::Operation(operation) if renames(operation)) && !moves(k)
        };
        let mut of_argument = vec![false; program.made.len()];
        for (k, instance) in program.instances.iter().enumerate().filter(|(k, _)| may(*k)) {
            let argument = |made: usize| {
                let by = program.made[made].by;
                by < k && (of_argument[made] || matches!(program.instances[by].kind, InstanceKind::Argument(..)))
            };
            if let ([operand], [result]) = (&instance.operands[..], &instance.results[..]) {
                of_argument[*result] = argument(*operand);
            }
        }
        let mut to_result = vec![false; program.instances.len()];
        for (k, instance) in program.instances.iter().enumerate().rev().filter(|(k, _)| may(*k)) {
            let users = instance.results.first().map_or(&[][..], |made| &users[*made]);
            if let [(user, _)] = users {
                to_result[k] = to_result[*user] || matches!(program.instances[*user].kind, InstanceKind::Result(_));
            }
        }
        Renames { of_argument, to_result }
    }
}
