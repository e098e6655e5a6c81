//! Signatures of buffers: what their elements are computed of, wherever these are.
//!
//! Two buffers that hold the same elements have in general one signature. So a proof that two buffers hold the same is not tried
//! where their signatures differ, which would take as long as one that succeeds. Operations whose operands come in any order
//! have the set of their terms, so that neither the loops of a sum nor the buffers between count:
//!
//! ```text
//! linalg.matmul, linalg.add     addf {mulf {x, w}, b}       as a fused loop has it, too
//! ```

use crate::proof::operation::Operation;
use crate::proof::provenance::Provenance;
use crate::proof::statements::{BlockId, BufferAt, BufferId, Contents, Maker, Statement, Statements};
use crate::proof::subscript::ValueId;
use rustc_hash::{FxHashMap, FxHasher};
use std::collections::BTreeSet;
use std::hash::{Hash, Hasher};
use std::rc::Rc;

/// The operations and arguments that an element is computed of.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Signature {
    /// A constant or an index.
    Plain,
    /// An argument, or an operation on signatures.
    Of(u64),
    /// An operation whose operands come in any order, and its terms but for constants.
    Terms(Rc<str>, BTreeSet<u64>),
}

impl Signature {
    fn of(parts: impl Hash) -> Signature {
        Signature::Of(hash(parts))
    }
}

fn hash(parts: impl Hash) -> u64 {
    let mut hasher = FxHasher::default();
    parts.hash(&mut hasher);
    hasher.finish()
}

/// The signature of each buffer behind each statement that writes it, outside of loops; `allowed` are flags of fast math.
pub fn signatures(
    program: &Statements,
    provenances: &[Provenance],
    stored: &[Vec<BufferId>],
    allowed: u32,
) -> FxHashMap<BufferAt, u64> {
    let buffers = program.buffers.iter().map(|(_, contents)| match contents {
        Some(Contents::Named(name)) => Signature::of(name),
        Some(Contents::Table(_) | Contents::Moved(_) | Contents::Splat(_)) | None => Signature::Plain,
    });
    let (values, buffers) = (vec![Signature::Plain; program.values.len()], buffers.collect());
    let mut walk =
        SignatureWalk { program, provenances, stored, allowed, values, buffers, found: FxHashMap::default() };
    walk.block(0);
    walk.found
}

/// A walk through a program in its order, each loop once.
struct SignatureWalk<'p> {
    program: &'p Statements,
    provenances: &'p [Provenance],
    stored: &'p [Vec<BufferId>],
    allowed: u32,
    values: Vec<Signature>,
    buffers: Vec<Signature>,
    found: FxHashMap<BufferAt, u64>,
}

impl SignatureWalk<'_> {
    fn block(&mut self, block: BlockId) {
        let program = self.program;
        for (number, statement) in program.blocks[block].statements.iter().enumerate() {
            let mut written = vec![];
            match statement {
                Statement::Value(value) => self.values[*value] = self.signature(*value),
                Statement::Allocate(buffer) => self.buffers[*buffer] = Signature::Plain,
                Statement::Store { buffer, value, .. } => {
                    let both = [self.buffers[*buffer].clone(), self.values[*value].clone()];
                    self.buffers[*buffer] = match (&both, self.reads(*value, *buffer)) {
                        (_, true) => both[1].clone(),
                        _ => either(&both),
                    };
                    written.push(*buffer);
                }
                Statement::Loop(inner) => {
                    self.block(*inner);
                    written.extend(&self.stored[*inner]);
                }
            }
            for buffer in written.into_iter().filter(|_| program.is_single(block)) {
                self.found.insert((buffer, (block, number + 1)), hash(&self.buffers[buffer]));
            }
        }
    }

    /// Whether a value is made of what is in a buffer, by an operation that gains terms.
    fn reads(&self, value: ValueId, buffer: BufferId) -> bool {
        let is_load =
            |value: &ValueId| matches!(self.program.values[*value].0, Maker::Load { buffer: of, .. } if of == buffer);
        matches!(&self.program.values[value].0, Maker::Elements { operands, .. } if operands.iter().any(is_load))
    }

    fn signature(&self, value: ValueId) -> Signature {
        let of = |value: &ValueId| self.values[*value].clone();
        let all = |values: &[ValueId]| values.iter().map(of).collect::<Vec<_>>();
        match &self.program.values[value].0 {
            Maker::Load { buffer, address, .. } => match (&self.buffers[*buffer], address.constant()) {
                (Signature::Plain, _) => Signature::Plain,
                (whole, 0) => whole.clone(),
                (whole, first) => Signature::of((whole, first)),
            },
            _ if self.provenances[value] != Provenance::Data => Signature::Plain,
            Maker::Elements { operation, operands } => self.of_operation(operation, &all(operands)),
            Maker::Argument(name) => Signature::of(name),
            Maker::Lanes(sources) => either(&sources.iter().map(|(value, _)| of(value)).collect::<Vec<_>>()),
            Maker::Extract(vector, ..) => of(vector),
            Maker::Bits(value, to) => Signature::of(("bits", to, of(value))),
            Maker::Bool(value) => of(value),
            Maker::And(x, y) | Maker::AndNot(x, y) => Signature::of(("and", of(x), of(y))),
            // A condition of indices cuts off padding.
            Maker::Select(c, x, y) if self.provenances[*c] != Provenance::Data => either(&[of(x), of(y)]),
            Maker::Select(c, x, y) => Signature::of(("select", all(&[*c, *x, *y]))),
            Maker::Result(block, k) => of(&self.program.blocks[*block].carried[*k].1),
            _ => Signature::Plain,
        }
    }

    fn of_operation(&self, operation: &Operation, operands: &[Signature]) -> Signature {
        if !operation.in_any_order(self.allowed) {
            let mut operands: Vec<u64> = operands.iter().map(hash).collect();
            if operation.calc().commutes() {
                operands.sort_unstable();
            }
            return Signature::of((&operation.name, operands));
        }
        let mut terms = BTreeSet::new();
        for operand in operands.iter().filter(|operand| **operand != Signature::Plain) {
            match operand {
                Signature::Terms(name, inner) if *name == operation.name => terms.extend(inner),
                other => drop(terms.insert(hash(other))),
            }
        }
        if terms.is_empty() { Signature::Plain } else { Signature::Terms(operation.name.clone(), terms) }
    }
}

/// The signature of what is one of several elements; constants beside others are padding.
fn either(all: &[Signature]) -> Signature {
    let several: BTreeSet<u64> = all.iter().filter(|one| **one != Signature::Plain).map(hash).collect();
    match all.iter().find(|one| **one != Signature::Plain) {
        Some(one) if several.len() == 1 => one.clone(),
        Some(_) => Signature::of(several),
        None => Signature::Plain,
    }
}
