//! A range that accesses promise of an index which the program reads.

use crate::proof::linear::Linear;

/// A range of the index that is a term; the ends of ranges are one more than the last value.
#[derive(Clone, Debug)]
pub struct IndexRange {
    pub(super) term: String,
    /// The places at which the term is read.
    pub(super) places: Vec<Place>,
    pub(super) range: (i64, i64),
}

#[derive(Clone, Debug)]
pub enum Place {
    /// Each of a range that is so many further than the first one, once or more often.
    Any(i64, i64, i64),
    /// So much further than an earlier one.
    Beyond(usize, i64),
    /// This one.
    At(Linear),
}
