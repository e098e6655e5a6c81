//! `layout-strip-memory-spaces`: moves all data to the one memory of a CPU.

use crate::buffers::lowered::AnyLayout;
use crate::buffers::type_converter::TypeConverter;
use crate::pass::stages::{Next, StageInput, StageResult};
use layout_dialect::MACHINE;
use layout_ir::{self as ir, Builder, Shaped};
use melior::Context;
use melior::ir::Attribute;
use melior::ir::operation::OperationMutLike;
use tensor_layout::swizzled::{Inner, SwizzledLayout};
use tensor_layout::tiled::Layout;

/// Removes the memory spaces of this dialect from all types of tensors and memrefs of a module, and its
/// machine, unless something remains to be lowered for it; returns [`Next::Unchanged`] if there was none of them.
pub(crate) fn run<'c>(stage: StageInput<'c>) -> StageResult<'c> {
    let module = stage.root();
    let (location, context) = (ir::location(module), Builder::before(module).context());
    let (mut found, mut is_lowered) = (false, true);
    let mut strip = TypeConverter::new(|t| {
        let tensor = ir::tensor(t);
        let (is_tensor, shaped) = (tensor.is_some(), tensor.or_else(|| ir::memref(t))?);
        is_lowered &= !is_tensor && shaped.layout.and_then(AnyLayout::of).is_none();
        let space = shaped.space.and_then(layout_dialect::memory_space);
        let layout = shaped.layout.and_then(|layout| without_space(context, layout));
        if space.is_none() && layout.is_none() {
            return None;
        }
        found = true;
        let space = shaped.space.filter(|_| space.is_none());
        let shaped = Shaped { layout: layout.or(shaped.layout), space, ..shaped };
        if is_tensor { Some(ir::tensor_type(&shaped)) } else { ir::memref_type(location, &shaped) }
    });
    for op in ir::all_operations(module) {
        strip.operation(op);
    }
    let machine = is_lowered && ir::edit(module).remove_attribute(MACHINE).is_ok();
    Ok(Next::of(found || machine))
}

/// A layout with a memory space, without it.
fn without_space<'c>(context: &'c Context, layout: Attribute<'c>) -> Option<Attribute<'c>> {
    let stripped = |tiled: Layout| Layout { memory_space: 0, ..tiled };
    let layout = AnyLayout::of(layout).filter(|layout| layout.memory_space() != 0)?;
    let attribute = match layout {
        AnyLayout::Tiled(tiled) => layout_dialect::tiled_attribute(context, &stripped(tiled)),
        AnyLayout::Swizzled(SwizzledLayout { swizzle, inner: Inner::Tiled(tiled) }) => {
            let swizzled = SwizzledLayout { swizzle, inner: Inner::Tiled(stripped(tiled)) };
            layout_dialect::swizzled_attribute(context, &swizzled)
        }
        _ => return None,
    };
    Some(attribute.expect("the dialect is loaded"))
}
