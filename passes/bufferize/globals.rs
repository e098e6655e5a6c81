//! Global variables of `ml_program`. Upstream's bufferization gives a load the buffer of the variable, which a later store
//! overwrites, and stores the bytes of a new buffer where the stored tensor is used elsewhere, too
//! (`test/upstream/globals.mlir`). So each load of a variable and each stored tensor is copied. The load of a global
//! that is no variable is a constant.

use layout_ir::{self as ir, Builder, Op, Rewriter, Val};
use melior::ir::{Attribute, ValueLike};
use std::collections::HashMap;

/// Copies what is loaded from the global variables of a module, and what is stored there.
pub(crate) fn separate<'c>(rewriter: &'c Rewriter, copied: impl Fn(Builder<'c>, Val<'c>) -> Val<'c>) {
    let operations = ir::all_operations(rewriter.root());
    let is_global = |op: &&Op<'c>| ir::name(**op) == "ml_program.global";
    let symbol = |op: Op<'c>| ir::attribute(op, "sym_name").and_then(ir::text);
    let globals: HashMap<&str, Op> =
        operations.iter().filter(is_global).filter_map(|op| Some((symbol(*op)?, *op))).collect();
    for op in &operations {
        match ir::name(*op) {
            "ml_program.global_load" | "ml_program.global_load_const" => load(rewriter, *op, &globals, &copied),
            "ml_program.global_store" if ir::tensor(ir::operands(*op)[0].r#type()).is_some() => {
                ir::set_operands(*op, &[copied(Builder::before(*op), ir::operands(*op)[0])]);
            }
            _ => {}
        }
    }
}

fn load<'c>(
    rewriter: &'c Rewriter,
    op: Op<'c>,
    globals: &HashMap<&str, Op<'c>>,
    copied: &impl Fn(Builder<'c>, Val<'c>) -> Val<'c>,
) {
    let (result, b) = (ir::result(op, 0), Builder::before(op));
    let name = ir::attribute(op, "global").map(|name| name.to_string()).unwrap_or_default();
    let global = name.strip_prefix('@').and_then(|name| globals.get(name));
    if let Some(value) = global.and_then(|global| constant(*global, result)) {
        ir::replace_all_uses(result, b.constant(value));
        rewriter.erase(op);
    } else if ir::tensor(result.r#type()).is_some() {
        let loaded = b.value("ml_program.global_load", &[], result.r#type(), &b.attributes_of(op));
        ir::replace_all_uses(result, copied(b, loaded));
        rewriter.erase(op);
    }
}

/// The value of a global that nothing changes, as a constant of the type of a load.
fn constant<'c>(global: Op<'c>, loaded: Val<'c>) -> Option<Attribute<'c>> {
    let value = ir::attribute(global, "value").filter(|_| ir::attribute(global, "is_mutable").is_none())?;
    value.to_string().ends_with(&format!(": {}", loaded.r#type())).then_some(value)
}
