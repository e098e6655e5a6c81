//! Parts of buffers.

use crate::proof::layout::{AddressMap, constant};
use crate::proof::statements::BufferId;
use crate::reader::layouts;
use crate::reader::model::{Place, Type};

/// A size that only the running program knows, of memory whose elements are reached one by one.
pub const UNKNOWN_SIZE: i64 = i64::MAX;

/// A part of a buffer, or a tensor.
#[derive(Clone, Debug)]
pub struct MemoryView {
    pub(super) buffer: BufferId,
    pub(super) sizes: Vec<i64>,
    pub(super) layout: AddressMap,
    /// Whether it shows each `i1` as a byte that is 0 or 1.
    pub(super) as_bytes: bool,
}

impl MemoryView {
    /// Whether it has the sizes that a type says, and of one without layout the offset and strides.
    pub fn is_of(&self, r#type: &Type) -> bool {
        match (r#type, &self.layout) {
            (
                Type::Shaped {
                    sizes,
                    place: Place::Layout(_) | Place::RowMajor(Some(_)) | Place::Strided { pending: Some(_), .. },
                    ..
                },
                _,
            ) => layouts::are_sizes(&self.sizes, sizes),
            (_, AddressMap::Strided(offset, strides)) => layouts::is_of(r#type, &self.sizes, constant(offset), strides),
            _ => false,
        }
    }
}
