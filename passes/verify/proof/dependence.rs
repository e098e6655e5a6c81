//! The loops whose iterations a value depends on.

use crate::proof::statements::{BlockId, BufferId, Maker, Statements};
use crate::proof::subscript::{Subscript, ValueId};
use std::collections::BTreeSet;

/// The loops around each value of a program that it depends on: on their iteration, or on a value or buffer that they change.
/// `stored` are the buffers that each block writes, `around` the loops that it is in.
pub fn loops(program: &Statements, stored: &[Vec<BufferId>], around: &[Vec<BlockId>]) -> Vec<BTreeSet<BlockId>> {
    let mut all: Vec<BTreeSet<BlockId>> = vec![];
    for (maker, (block, _)) in &program.values {
        let of = |values: &[ValueId]| -> BTreeSet<BlockId> {
            values.iter().flat_map(|value| all[*value].iter().copied()).collect()
        };
        let indices = |indices: &[&Subscript]| {
            let mut values = vec![];
            indices.iter().for_each(|s| s.values(&mut values));
            of(&values)
        };
        let loops = match maker {
            Maker::Elements { operands, .. } => of(operands),
            Maker::Argument(_) | Maker::Constant(..) => BTreeSet::new(),
            Maker::Subscript(s) | Maker::AtLeastZero(s) => indices(&[s]),
            Maker::Extreme(several, _) => indices(&several.iter().collect::<Vec<_>>()),
            Maker::Load { buffer, address, .. } => {
                let mut loops = indices(&[address]);
                loops.extend(around[*block].iter().filter(|block| stored[**block].contains(buffer)));
                loops
            }
            Maker::Lanes(sources) => of(&sources.iter().map(|(value, _)| *value).collect::<Vec<_>>()),
            Maker::Bits(value, _) | Maker::Bool(value) => of(&[*value]),
            Maker::Extract(vector, k, _) => &of(&[*vector]) | &indices(&[k]),
            Maker::And(x, y) | Maker::AndNot(x, y) => of(&[*x, *y]),
            Maker::Select(c, x, y) => of(&[*c, *x, *y]),
            // A loop that carries one value to the place of another is refused, so a result depends on its own alone.
            Maker::Result(inner, k) => {
                let body = &program.blocks[*inner];
                let (first, yielded) = body.carried[*k];
                let mut loops =
                    &of(&[first, yielded]) | &indices(&body.uppers.iter().chain(&body.lower).collect::<Vec<_>>());
                loops.remove(inner);
                loops
            }
            Maker::Carried(inner, _) | Maker::Iteration(inner) => BTreeSet::from([*inner]),
        };
        all.push(loops);
    }
    all
}
