//! `layout-strip-memory-spaces`: puts all buffers of `#layout.memory_space` in the one memory that a CPU has.

use crate::buffers::type_converter::TypeConverter;
use layout_dialect::MACHINE;
use layout_ir::{self as ir, Op, Shaped};
use melior::ir::operation::OperationMutLike;

/// Removes the memory spaces of this dialect from all memref types of a module, and the machine that it was for; true
/// where there was any of them.
pub fn run(module: Op) -> bool {
    let (location, mut found) = (ir::location(module), false);
    let mut strip = TypeConverter::new(|t| {
        let shaped = ir::memref(t)?;
        layout_dialect::memory_space(shaped.space?)?;
        found = true;
        ir::memref_type(location, &Shaped { space: None, ..shaped })
    });
    for op in ir::all_operations(module) {
        strip.operation(op);
    }
    let machine = ir::edit(module).remove_attribute(MACHINE).is_ok();
    found || machine
}
