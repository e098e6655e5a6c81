//! Arguments and results whose layouts a reshape decides about in a way that costs do not know well.
//!
//! A reshape that moves elements is a chain of copies, or one kernel, as the compiler sees fit. So an argument that goes
//! into one, or a result that comes out of one, with nothing but elementwise operations, transposes and slices between, leaves its
//! default layout only for more than a share of what its own relayout costs.

use super::classes::LayoutClasses;
use super::program::{Doing, Program};
use crate::operations::operation::Operation;

/// How many operations are looked at from an argument or a result on.
const MOST_SEEN: usize = 64;

/// For each instance whether it is an argument or a result near a reshape that moves something in default layouts.
pub fn doubts(program: &Program, users: &[Vec<(usize, usize)>], classes: &LayoutClasses, class: &[usize]) -> Vec<bool> {
    // The classes of a reshape that does more than to add and to leave out dimensions of size 1.
    let reshape = |k: usize| {
        let instance = &program.instances[k];
        let ([from], [to]) = (&instance.operands[..], &instance.results[..]) else { return None };
        let ends = [from, to].map(|made| &classes.all[class[*made]]);
        let long = |k: usize| ends[k].sizes.iter().filter(|size| **size != 1);
        (matches!(instance.doing, Doing::Operation(Operation::Reshape)) && !long(0).eq(long(1))).then_some(ends)
    };
    let moves = |k: usize| reshape(k).is_some_and(|[from, to]| from.rows[0].is_none() || from.rows[0] != to.rows[0]);
    let passes = |k: usize| {
        let Doing::Operation(operation) = program.instances[k].doing else { return false };
        match operation {
            Operation::Elementwise | Operation::Select | Operation::Transpose { .. } | Operation::Slice { .. } => true,
            Operation::Reshape => reshape(k).is_none(),
            _ => false,
        }
    };
    let near = |k: usize| {
        let forwards = matches!(program.instances[k].doing, Doing::Argument(..));
        let next = |k: usize| -> Vec<usize> {
            let instance = &program.instances[k];
            match forwards {
                true => instance.results.iter().flat_map(|made| &users[*made]).map(|(user, _)| *user).collect(),
                false => instance.operands.iter().map(|made| program.made[*made].by).collect(),
            }
        };
        let (mut open, mut seen) = (next(k), 0);
        while let Some(k) = open.pop() {
            seen += 1;
            if moves(k) {
                return true;
            }
            if passes(k) && seen < MOST_SEEN {
                open.extend(next(k));
            }
        }
        false
    };
    let end = |k: usize| matches!(program.instances[k].doing, Doing::Argument(..) | Doing::Result(_));
    (0..program.instances.len()).map(|k| end(k) && near(k)).collect()
}
