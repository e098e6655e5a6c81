//! What is known of two buffers, and of the names of elements.

use crate::proof::layout::AddressMap;
use crate::proof::linear::Linear;
use crate::proof::statements::BufferId;
use rustc_hash::FxHashSet;

/// A buffer as a statement of the function's own block finds it.
pub type BufferAt = (BufferId, usize);

/// An element: where it was asked for, and the address.
#[derive(Clone, Debug)]
pub struct ElementAt {
    pub of: BufferAt,
    pub address: Linear,
}

/// What is known of two buffers.
#[derive(Clone, Debug)]
pub enum Pair {
    /// It is being shown, or it was not.
    Open,
    /// The elements of the first one, at the index that is its row-major number, are those of the second one at the address of
    /// this layout, so many elements further.
    Same(AddressMap, i64),
}

/// Elements as terms that have names.
#[derive(Debug, Default)]
pub struct Naming {
    /// Of each side, one of which it is not known whether it has a name.
    pub unnamed: [Option<BufferAt>; 2],
    /// Of each side, those that have none.
    pub left: [FxHashSet<BufferAt>; 2],
}
