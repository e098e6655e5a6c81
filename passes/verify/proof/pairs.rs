//! Facts about two buffers, and about the names of elements.

use crate::proof::layout::AddressMap;
use crate::proof::linear::Linear;
use crate::proof::statements::BufferAt;
use crate::proof::value::ElementIn;
use rustc_hash::FxHashSet;

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

/// Two elements, and the ranges of the variables in their expressions.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Lemma {
    pub elements: [ElementIn; 2],
    pub ranges: Vec<(i64, i64)>,
}
