//! `layout-strip-memory-spaces`: puts all buffers of `#layout.memory_space` in the one memory that a CPU has.

use crate::buffers::type_converter::TypeConverter;
use layout_dialect::MACHINE;
use layout_ir::{self as ir, Op, Shaped};
use melior::ir::operation::OperationMutLike;

/// Removes the memory spaces of this dialect from all memref types of a module, and the machine that it was for.
pub fn run(module: Op) {
    let location = ir::location(module);
    let mut strip = TypeConverter::new(|t| {
        let shaped = ir::memref(t)?;
        layout_dialect::memory_space(shaped.space?)?;
        ir::memref_type(location, &Shaped { space: None, ..shaped })
    });
    for op in ir::all_operations(module) {
        strip.operation(op);
    }
    // It is no error where there is none.
    let _ = ir::edit(module).remove_attribute(MACHINE);
}
