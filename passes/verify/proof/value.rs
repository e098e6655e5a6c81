//! Values that are followed back to what makes them.

use crate::proof::linear::{Linear, Shown, Var, replaced};
use crate::proof::operation::Operation;
use crate::proof::statements::{BlockId, BufferId};
use crate::proof::subscript::ValueId;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::{Deref, DerefMut};
use std::rc::Rc;

/// Where in the loops of a program. Many values share one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LoopPosition(Rc<LoopIterations>);

/// LoopIterations of loops, as values of their induction variables.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LoopIterations {
    pub at: BTreeMap<BlockId, Linear>,
    /// The values that loops carry, of one lane.
    pub carried: BTreeMap<(BlockId, usize), (Linear, Rc<Thunk>)>,
    /// Elements that loops load and store again: buffer, address, the loops, and what is there.
    pub kept: Vec<(BufferId, Linear, Vec<BlockId>, Rc<Thunk>)>,
}

impl Deref for LoopPosition {
    type Target = LoopIterations;

    fn deref(&self) -> &LoopIterations {
        &self.0
    }
}

impl DerefMut for LoopPosition {
    fn deref_mut(&mut self) -> &mut LoopIterations {
        Rc::make_mut(&mut self.0)
    }
}

impl LoopPosition {
    /// The place without what is of other loops.
    pub fn within(&self, loops: &BTreeSet<BlockId>) -> LoopPosition {
        let has = |blocks: &[BlockId]| blocks.iter().any(|block| loops.contains(block));
        let mut place = self.clone();
        if !place.at.keys().all(|block| loops.contains(block)) {
            place.at.retain(|block, _| loops.contains(block));
        }
        if !place.carried.keys().all(|(block, _)| loops.contains(block)) {
            place.carried.retain(|(block, _), _| loops.contains(block));
        }
        if !place.kept.iter().all(|kept| has(&kept.2)) {
            place.kept.retain(|kept| has(&kept.2));
        }
        place
    }

    pub fn replaced(&self, with: &BTreeMap<Var, Linear>) -> Shown<LoopPosition> {
        let mut place = self.clone();
        for (lane, thunk) in place.carried.values_mut() {
            (*lane, *thunk) = (replaced(lane, with)?, Rc::new(thunk.replaced(with)?));
        }
        for (_, address, _, thunk) in &mut place.kept {
            (*address, *thunk) = (replaced(address, with)?, Rc::new(thunk.replaced(with)?));
        }
        for e in place.at.values_mut() {
            *e = replaced(e, with)?;
        }
        Ok(place)
    }
}

impl Thunk {
    /// The same value with other expressions in the place of variables.
    pub fn replaced(&self, with: &BTreeMap<Var, Linear>) -> Shown<Thunk> {
        Ok(match self {
            Thunk::Value { side, value, lane, place } => {
                Thunk::Value { side: *side, value: *value, lane: replaced(lane, with)?, place: place.replaced(with)? }
            }
            Thunk::Memory { side, buffer, address, at, place } => Thunk::Memory {
                side: *side,
                buffer: *buffer,
                address: replaced(address, with)?,
                at: *at,
                place: place.replaced(with)?,
            },
            Thunk::Fold(fold) => Thunk::Fold(Box::new(fold.replaced(with)?)),
            Thunk::Known(head) => Thunk::Known(Box::new(match head.as_ref() {
                Head::Elements(operation, operands) => {
                    let operands = operands.iter().map(|operand| operand.replaced(with)).collect::<Shown<_>>()?;
                    Head::Elements(operation.clone(), operands)
                }
                Head::Index(e) => Head::Index(replaced(e, with)?),
                Head::Input(name, e) => Head::Input(name.clone(), replaced(e, with)?),
                Head::Fold(fold) => Head::Fold(Box::new(fold.replaced(with)?)),
                Head::Start(element) => Head::Start(Box::new(element.replaced(with)?)),
                Head::Constant(_) | Head::Before(_) => head.as_ref().clone(),
            })),
            Thunk::Before(k) => Thunk::Before(*k),
        })
    }
}

impl Fold {
    /// The same iterations with other expressions in the place of variables that are not their own.
    pub fn replaced(&self, with: &BTreeMap<Var, Linear>) -> Shown<Fold> {
        let carrier = match &self.carrier {
            Carrier::Element(buffer, address, blocks) => {
                Carrier::Element(*buffer, replaced(address, with)?, blocks.clone())
            }
            value => value.clone(),
        };
        Ok(Fold {
            first: self.first.replaced(with)?,
            lane: replaced(&self.lane, with)?,
            place: self.place.replaced(with)?,
            carrier,
            ..self.clone()
        })
    }
}

/// A value that is not yet followed.
#[derive(Clone, Debug, PartialEq)]
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
    /// The value that one iteration gets from the one before.
    Before(usize),
}

/// LoopPosition, in lexicographic order of the variables, of which each makes a value of what the one before made.
#[derive(Clone, Debug, PartialEq)]
pub struct Fold {
    pub side: usize,
    pub dims: Vec<Dim>,
    pub first: Thunk,
    pub value: ValueId,
    pub lane: Linear,
    pub place: LoopPosition,
    pub carrier: Carrier,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Dim {
    pub var: Var,
    pub extent: i64,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Carrier {
    Value(BlockId, usize),
    Element(BufferId, Linear, Vec<BlockId>),
}

/// An element of a program's buffer at a point, in these iterations of the loops around.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ElementIn {
    pub side: usize,
    pub buffer: BufferId,
    pub at: (BlockId, usize),
    pub iterations: BTreeMap<BlockId, Linear>,
    pub address: Linear,
}

impl ElementIn {
    pub fn expressions(&mut self) -> impl Iterator<Item = &mut Linear> {
        self.iterations.values_mut().chain([&mut self.address])
    }

    /// The same element with other expressions in the place of variables.
    pub fn replaced(&self, with: &BTreeMap<Var, Linear>) -> Shown<ElementIn> {
        let mut element = self.clone();
        element.expressions().try_for_each(|e| replaced(e, with).map(|new| *e = new))?;
        Ok(element)
    }

    pub fn thunk(&self) -> Thunk {
        let ElementIn { side, buffer, at, iterations, address } = self.clone();
        let place = LoopPosition(Rc::new(LoopIterations { at: iterations, ..LoopIterations::default() }));
        Thunk::Memory { side, buffer, address, at, place }
    }
}

/// A value, as far as its outermost operation.
#[derive(Clone, Debug, PartialEq)]
pub enum Head {
    Elements(Operation, Vec<Thunk>),
    Index(Linear),
    Constant(String),
    Input(String, Linear),
    Fold(Box<Fold>),
    Before(usize),
    /// An element of a buffer of a program at the beginning of an iteration of a loop.
    Start(Box<ElementIn>),
}

/// Where an element is from.
#[derive(Debug)]
pub enum Origin {
    /// The value that a store left.
    Stored(Thunk),
    /// The initial contents in an iteration of a loop: of one with a data-dependent end in any, else of this value.
    Start(BlockId, Option<Linear>),
    /// The initial contents of the buffer.
    Outside,
}

/// A term as text with a mark for each index, and these.
pub type TermText = (Rc<str>, Vec<Linear>);
