//! Parts of buffers, and what a function leaves in them.

use crate::proof::flatten::Flatten;
use crate::proof::layout::{AddressMap, constant, of_text};
use crate::proof::statements::{BufferId, FunctionResult, ResultElements};
use crate::reader::layouts;
use crate::reader::model::{Kind, Place, Slot, Type};

/// A part of a buffer, or a tensor.
#[derive(Clone, Debug)]
pub struct MemoryView {
    pub(super) buffer: BufferId,
    pub(super) sizes: Vec<i64>,
    pub(super) layout: AddressMap,
    /// Whether it was cut out of another.
    pub(super) is_part: bool,
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

impl Flatten<'_> {
    pub(super) fn outcome(&self, slot: Slot, view: MemoryView) -> FunctionResult {
        let text = self.type_of(slot).layout();
        let there = match text.map(|text| of_text(text, &view.sizes, &self.module.axes).ok_or(text)) {
            None => None,
            Some(Ok(there)) => Some(there),
            Some(Err(text)) => return FunctionResult::Unknown(format!("the layout {text}")),
        };
        if self.on_stack.contains(&view.buffer) {
            return FunctionResult::Unknown("memory of the stack".to_owned());
        }
        if view.as_bytes {
            return FunctionResult::Unknown("memory as other elements".to_owned());
        }
        if self.constants.contains(&view.buffer) {
            return FunctionResult::Unknown("memory that nobody may write".to_owned());
        }
        let Type::Shaped { kind, element, .. } = self.type_of(slot) else {
            return FunctionResult::Unknown("no memory".to_owned());
        };
        FunctionResult::Elements(ResultElements {
            buffer: view.buffer,
            sizes: view.sizes,
            of: element.text.clone(),
            is_memref: *kind == Kind::MemRef,
            here: view.layout,
            there,
        })
    }
}
