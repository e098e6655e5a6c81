//! Arguments and results whose layouts a reshape decides about in a way that costs do not know well.
//!
//! A reshape that moves elements is a chain of copies, or one kernel, as the compiler sees fit. So an argument that goes
//! into one, or a result that comes out of one, with nothing but elementwise operations, transposes and slices between, leaves its
//! default layout only for more than a share of what its own relayout costs. Where what the reshape makes is summed up, that
//! is all of it: compilers sum up first, in the dimensions that are there, so that the reshape is not in the program at all.

use super::classes::{ArrayClass, LayoutClasses};
use super::program::{Doing, Program};
use tensor_layout::operations::operation::Operation;

/// How many operations are looked at from an argument or a result on.
const MOST_SEEN: usize = 64;

/// The part of its own relayout that an argument or a result costs in another layout than the default where a reshape that
/// moves elements comes after it or before it. Of 84 programs 79 cost no more than with the default or with XLA's own
/// choice with a fifth and a fourth of it, 77 with nothing, and 78 with a half.
const DOUBT: i64 = 4;

/// For each instance that is an argument or a result near a reshape that moves something in default layouts, by what its
/// relayout is to be divided.
pub fn doubts(
    program: &Program,
    users: &[Vec<(usize, usize)>],
    classes: &LayoutClasses,
    class: &[usize],
) -> Vec<Option<i64>> {
    let reshapes = Reshapes { program, users, classes, class };
    let end = |k: usize| matches!(program.instances[k].doing, Doing::Argument(..) | Doing::Result(_));
    (0..program.instances.len()).map(|k| if end(k) { reshapes.near(k) } else { None }).collect()
}

/// The reshapes of a program.
struct Reshapes<'p> {
    program: &'p Program<'p>,
    users: &'p [Vec<(usize, usize)>],
    classes: &'p LayoutClasses<'p>,
    class: &'p [usize],
}

impl Reshapes<'_> {
    /// The classes of a reshape that does more than to add and to leave out dimensions of size 1.
    fn ends(&self, k: usize) -> Option<[&ArrayClass; 2]> {
        let instance = &self.program.instances[k];
        let ([from], [to]) = (&instance.operands[..], &instance.results[..]) else { return None };
        let ends = [from, to].map(|made| &self.classes.all[self.class[*made]]);
        let long = |k: usize| ends[k].sizes.iter().filter(|size| **size != 1);
        (matches!(instance.doing, Doing::Operation(Operation::Reshape)) && !long(0).eq(long(1))).then_some(ends)
    }

    /// Whether an instance is a reshape that moves something in default layouts.
    fn moves(&self, k: usize) -> bool {
        self.ends(k).is_some_and(|[from, to]| from.rows[0].is_none() || from.rows[0] != to.rows[0])
    }

    /// Whether an instance may be between a reshape and the end of the program that it decides about.
    fn passes(&self, k: usize) -> bool {
        let Doing::Operation(operation) = self.program.instances[k].doing else { return false };
        match operation {
            Operation::Elementwise | Operation::Select | Operation::Transpose { .. } | Operation::Slice { .. } => true,
            Operation::Reshape => self.ends(k).is_none(),
            _ => false,
        }
    }

    /// Whether what an instance makes is summed up, with nothing but elementwise operations between.
    fn summed(&self, k: usize) -> bool {
        let (mut open, mut seen) = (self.program.instances[k].results.clone(), 0);
        while let Some(made) = open.pop() {
            for (user, _) in &self.users[made] {
                seen += 1;
                let instance = &self.program.instances[*user];
                match instance.doing {
                    Doing::Operation(Operation::Reduce { .. }) => return true,
                    Doing::Operation(Operation::Elementwise) if seen < MOST_SEEN => open.extend(&instance.results),
                    _ => {}
                }
            }
        }
        false
    }

    /// The instances after an argument, or before what goes into a result.
    fn next(&self, k: usize, forwards: bool) -> Vec<usize> {
        let instance = &self.program.instances[k];
        match forwards {
            true => instance.results.iter().flat_map(|made| &self.users[*made]).map(|(user, _)| *user).collect(),
            false => instance.operands.iter().map(|made| self.program.made[*made].by).collect(),
        }
    }

    /// By what the relayout of an argument or a result is to be divided, if a reshape that moves something is near.
    fn near(&self, k: usize) -> Option<i64> {
        let forwards = matches!(self.program.instances[k].doing, Doing::Argument(..));
        let (mut open, mut seen) = (self.next(k, forwards), 0);
        while let Some(k) = open.pop() {
            seen += 1;
            if self.moves(k) {
                return Some(if forwards && self.summed(k) { 1 } else { DOUBT });
            }
            if self.passes(k) && seen < MOST_SEEN {
                open.extend(self.next(k, forwards));
            }
        }
        None
    }
}
