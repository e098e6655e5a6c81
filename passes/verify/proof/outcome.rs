//! The memory that a function leaves.

use crate::proof::flatten::Flatten;
use crate::proof::statements::{FunctionResult, ResultElements};
use crate::proof::view::{MemoryView, UNKNOWN_SIZE};
use crate::reader::model::{Kind, Slot, Type};

impl Flatten<'_> {
    pub(super) fn outcome(&self, slot: Slot, view: MemoryView) -> FunctionResult {
        let text = self.type_of(slot).layout();
        let there = match text.map(|text| self.of_layout(slot, text, &view.sizes).ok_or(text)) {
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
        if self.ended.contains(&view.buffer) {
            return FunctionResult::Unknown("a buffer that is freed".to_owned());
        }
        if self.constants.contains(&view.buffer) {
            return FunctionResult::Unknown("memory that nobody may write".to_owned());
        }
        if view.sizes.contains(&UNKNOWN_SIZE) {
            return FunctionResult::Unknown("memory of sizes known only at run time".to_owned());
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
