//! Values that are followed back to what makes them.

use crate::proof::linear::{Linear, Shown, Var};
use crate::proof::statements::{BlockId, BufferId};
use crate::proof::subscript::ValueId;
use std::collections::BTreeMap;
use std::rc::Rc;

/// Where in the loops of a program: their iterations, as values of their induction variables.
#[derive(Clone, Debug, Default)]
pub struct LoopPosition {
    pub at: BTreeMap<BlockId, Linear>,
    /// What loops carry, of one lane.
    pub carried: BTreeMap<(BlockId, usize), (Linear, Rc<Thunk>)>,
    /// Elements that loops load and store again: buffer, address, the loops, and what is there.
    pub kept: Vec<(BufferId, Linear, Vec<BlockId>, Rc<Thunk>)>,
}

impl LoopPosition {
    pub fn replaced(&self, with: &BTreeMap<Var, Linear>) -> Shown<LoopPosition> {
        let mut place = self.clone();
        let lanes = place.carried.values_mut().map(|carried| &mut carried.0);
        for e in place.at.values_mut().chain(place.kept.iter_mut().map(|kept| &mut kept.1)).chain(lanes) {
            *e = replaced(e, with)?;
        }
        Ok(place)
    }
}

pub fn replaced(e: &Linear, with: &BTreeMap<Var, Linear>) -> Shown<Linear> {
    let mut result = Linear::constant(e.constant);
    for (var, a) in &e.terms {
        let value = with.get(var).cloned().unwrap_or_else(|| Linear::var(*var));
        result = result.plus(&value.times(*a)?)?;
    }
    Ok(result)
}

/// A value that is not yet followed.
#[derive(Clone, Debug)]
pub enum Thunk {
    Value {
        side: usize,
        value: ValueId,
        lane: Linear,
        place: LoopPosition,
    },
    Memory {
        side: usize,
        buffer: BufferId,
        address: Linear,
        at: (BlockId, usize),
        place: LoopPosition,
    },
    Fold(Box<Fold>),
    /// A value that is followed.
    Known(Box<Head>),
    /// What one iteration gets from the one before.
    Before(usize),
}

/// LoopPosition, in lexicographic order of the variables, of which each makes a value of what the one before made.
#[derive(Clone, Debug)]
pub struct Fold {
    pub side: usize,
    pub dims: Vec<Dim>,
    pub first: Thunk,
    pub value: ValueId,
    pub lane: Linear,
    pub place: LoopPosition,
    pub carrier: Carrier,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dim {
    pub var: Var,
    pub extent: i64,
}

#[derive(Clone, Debug)]
pub enum Carrier {
    Value(BlockId, usize),
    Element(BufferId, Linear, Vec<BlockId>),
}

/// A value, as far as its outermost operation.
#[derive(Clone, Debug)]
pub enum Head {
    Elements(String, Vec<Thunk>),
    Index(Linear),
    Constant(String),
    Input(String, Linear),
    Fold(Box<Fold>),
    Before(usize),
}
