//! Facts about two buffers, and about the names of elements.

use crate::proof::layout::AddressMap;
use crate::proof::linear::{Linear, Shown, Var, replaced};
use crate::proof::statements::{BlockId, BufferAt, BufferId};
use crate::proof::value::{LoopPosition, Thunk};
use rustc_hash::FxHashSet;
use std::collections::BTreeMap;

/// An element: where it was asked for, and the address.
#[derive(Clone, Debug)]
pub struct ElementAt {
    pub of: BufferAt,
    pub address: Linear,
}

/// The facts about two buffers.
#[derive(Clone, Debug)]
pub enum Pair {
    /// It is being shown, or it was not.
    Open,
    /// The elements of the first one, at the index that is its row-major number, are those of the second one at the address of
    /// this layout, so many elements further.
    Same(AddressMap, i64),
}

/// Elements as terms that have names.
#[derive(Clone, Debug, Default)]
pub struct Naming {
    /// The number of each side's naming: another one wherever other elements have names.
    pub numbers: [usize; 2],
    /// A buffer of each side of which it is not known whether it has a name.
    pub unnamed: [Option<BufferAt>; 2],
    /// The buffers of each side that have none.
    pub left: [FxHashSet<BufferAt>; 2],
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
        let mut place = LoopPosition::default();
        place.at = iterations;
        Thunk::Memory { side, buffer, address, at, place }
    }
}

/// Two elements, and the ranges of the variables in their expressions.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Lemma {
    pub elements: [ElementIn; 2],
    pub ranges: Vec<(i64, i64)>,
}
