//! The provenance of values: constants, indices or data.

use crate::proof::statements::{BlockId, Contents, Maker, Statement, Statements};
use crate::proof::subscript::{Subscript, ValueId};

/// How often a program is walked through; what is not settled then is taken for data. A buffer that a loop reads before it
/// writes data to it takes a second walk.
const WALKS: usize = 4;

/// The origin of a value; each kind has those before it, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Provenance {
    /// Constants alone.
    Constant,
    /// Indices of loops, and elements of constants at such indices.
    Index,
    /// Elements of arguments, and what no rule knows.
    Data,
}

/// The provenance of each value, followed through buffers.
pub fn provenances(program: &Statements) -> Vec<Provenance> {
    let source = |contents: &Option<Contents>| match contents {
        None | Some(Contents::Splat(_)) => Provenance::Constant,
        Some(Contents::Table(_) | Contents::Moved(_)) => Provenance::Index,
        Some(Contents::Named(_)) => Provenance::Data,
    };
    let buffers = program.buffers.iter().map(|(_, contents)| source(contents)).collect();
    let values = vec![Provenance::Constant; program.values.len()];
    let mut walk = ProvenanceWalk { program, values, buffers, is_settled: false };
    for _ in 0..WALKS {
        walk.is_settled = true;
        walk.block(0);
        if walk.is_settled {
            return walk.values;
        }
    }
    vec![Provenance::Data; program.values.len()]
}

/// A walk through a program in its order.
struct ProvenanceWalk<'p> {
    program: &'p Statements,
    values: Vec<Provenance>,
    /// The provenance of the elements of each buffer so far.
    buffers: Vec<Provenance>,
    is_settled: bool,
}

impl ProvenanceWalk<'_> {
    fn block(&mut self, block: BlockId) {
        for statement in &self.program.blocks[block].statements {
            match statement {
                Statement::Value(value) => self.values[*value] = self.provenance(&self.program.values[*value].0),
                Statement::Loop(inner) => self.block(*inner),
                Statement::Store { buffer, value, mask, .. } => {
                    let stored = self.of(&[Some(*value), *mask].into_iter().flatten().collect::<Vec<_>>());
                    if self.buffers[*buffer] < stored {
                        (self.buffers[*buffer], self.is_settled) = (stored, false);
                    }
                }
                Statement::Allocate(_) => {}
            }
        }
    }

    fn of(&self, values: &[ValueId]) -> Provenance {
        values.iter().map(|value| self.values[*value]).max().unwrap_or(Provenance::Constant)
    }

    /// The provenance of indices of loops, or of the values that they are computed of.
    fn of_indices(&self, indices: &[&Subscript]) -> Provenance {
        let mut values = vec![];
        indices.iter().for_each(|s| s.values(&mut values));
        self.of(&values).max(Provenance::Index)
    }

    fn provenance(&self, maker: &Maker) -> Provenance {
        match maker {
            Maker::Constant(..) => Provenance::Constant,
            Maker::Elements { operands, .. } => self.of(operands),
            Maker::Load { buffer, address, .. } => match self.buffers[*buffer] {
                Provenance::Constant => Provenance::Constant,
                held => held.max(self.of_indices(&[address])),
            },
            Maker::Bits(value, _) | Maker::Bool(value) => self.of(&[*value]),
            Maker::And(x, y) | Maker::AndNot(x, y) => self.of(&[*x, *y]),
            Maker::Select(c, x, y) => self.of(&[*c, *x, *y]),
            Maker::Lanes(sources) => self.of(&sources.iter().map(|(value, _)| *value).collect::<Vec<_>>()),
            Maker::Iteration(_) => Provenance::Index,
            Maker::Subscript(s) | Maker::AtLeastZero(s) => self.of_indices(&[s]),
            Maker::Extreme(several, _) => self.of_indices(&several.iter().collect::<Vec<_>>()),
            Maker::Extract(vector, k, _) => self.of(&[*vector]).max(self.of_indices(&[k])),
            Maker::Argument(_) | Maker::Result(..) | Maker::Carried(..) => Provenance::Data,
        }
    }
}
