//! Global variables of `ml_program`. Upstream's bufferization gives a load the buffer of the variable, which a later store
//! overwrites, and stores the bytes of a new buffer where the stored tensor is used elsewhere, too
//! (`test/upstream/globals.mlir`). So each load of a variable and each stored tensor is copied. The load of a global
//! that is no variable is a constant. Upstream knows tensors with a value alone: a number becomes a tensor without
//! dimensions, and a variable without a value has memory that nothing initialises.

use crate::pass::diagnostic::Diagnostic;
use layout_ir::{self as ir, Builder, Op, Rewriter, Shaped, Val};
use melior::ir::attribute::{AttributeLike, DenseElementsAttribute, TypeAttribute};
use melior::ir::operation::OperationMutLike;
use melior::ir::{Attribute, Type, TypeLike, ValueLike};
use std::collections::HashMap;

/// The errors of globals without memory of a known size, and of those whose value has another type.
pub(crate) fn refused<'c>(operations: &[Op<'c>]) -> Vec<Diagnostic<'c>> {
    let globals = operations.iter().filter(|op| is_global(**op));
    let error = |op: &Op<'c>| {
        let message = format!("'ml_program.global' op cannot be lowered: {}", why_refused(*op)?);
        Some(Diagnostic::error(ir::location(*op), message))
    };
    globals.filter_map(error).collect()
}

fn why_refused(global: Op) -> Option<String> {
    let ty = type_of(global)?;
    let tensor = ir::tensor(ty);
    let is_number = ty.is_integer() || ty.is_float() || ty.is_index();
    if !tensor.as_ref().map_or(is_number, |tensor| !tensor.shape.contains(&None)) {
        return Some(format!("expected a number or a tensor of known sizes, found {ty}"));
    }
    let value = ir::attribute(global, "value").filter(|value| !ir::is_unit(*value))?;
    let is_typed = if tensor.is_some() { value.is_elements() } else { value.is_integer() || value.is_float() };
    let found = if is_typed { value.r#type().to_string() } else { value.to_string() };
    (!is_typed || value.r#type() != ty).then(|| format!("expected a value of type {ty}, found {found}"))
}

/// Copies what is loaded from the global variables of a module, and what is stored there; each becomes a tensor.
pub(crate) fn separate<'c>(rewriter: &'c Rewriter, copied: impl Fn(Builder<'c>, Val<'c>) -> Val<'c>) {
    let operations = ir::all_operations(rewriter.root());
    let symbol = |op: Op<'c>| ir::attribute(op, "sym_name").and_then(ir::text);
    let globals: HashMap<&str, Op> =
        operations.iter().filter(|op| is_global(**op)).filter_map(|op| Some((symbol(*op)?, *op))).collect();
    for op in &operations {
        match ir::name(*op) {
            "ml_program.global_load" | "ml_program.global_load_const" => load(rewriter, *op, &globals, &copied),
            "ml_program.global_store" => {
                let (b, stored) = (Builder::before(*op), ir::operands(*op)[0]);
                let is_tensor = ir::tensor(stored.r#type()).is_some();
                let one = || b.value("tensor.from_elements", &[stored], held(stored.r#type()), &[]);
                ir::set_operands(*op, &[if is_tensor { copied(b, stored) } else { one() }]);
            }
            _ => {}
        }
    }
    globals.into_values().for_each(hold);
}

fn is_global(op: Op) -> bool {
    ir::name(op) == "ml_program.global"
}

fn type_of(global: Op) -> Option<Type> {
    ir::attribute(global, "type").and_then(ir::type_in)
}

/// The tensor that a global of a type holds.
fn held(ty: Type) -> Type {
    let one = Shaped { shape: Vec::new(), element: ty, layout: None, space: None };
    if ir::tensor(ty).is_some() { ty } else { ir::tensor_type(&one) }
}

/// Gives a global the type and the value of the tensor that it holds.
fn hold(global: Op) {
    let Some(ty) = type_of(global) else { return };
    let unit = Attribute::unit(Builder::before(global).context());
    let value = ir::attribute(global, "value").unwrap_or(unit);
    let is_number = ir::tensor(ty).is_none() && value != unit;
    let one = || DenseElementsAttribute::new(held(ty), &[value]).expect("a number of the type of its global");
    ir::edit(global).set_attribute("value", if is_number { one().into() } else { value });
    ir::edit(global).set_attribute("type", TypeAttribute::new(held(ty)).into());
}

fn load<'c>(
    rewriter: &'c Rewriter,
    op: Op<'c>,
    globals: &HashMap<&str, Op<'c>>,
    copied: &impl Fn(Builder<'c>, Val<'c>) -> Val<'c>,
) {
    let (result, b) = (ir::result(op, 0), Builder::before(op));
    let ty = result.r#type();
    let name = ir::attribute(op, "global").map(|name| name.to_string()).unwrap_or_default();
    let global = name.strip_prefix('@').and_then(|name| globals.get(name));
    let value = global.and_then(|global| constant(*global, ty)).map(|value| b.constant(value));
    let variable = || {
        let loaded = copied(b, b.value("ml_program.global_load", &[], held(ty), &b.attributes_of(op)));
        if ir::tensor(ty).is_some() { loaded } else { b.value("tensor.extract", &[loaded], ty, &[]) }
    };
    ir::replace_all_uses(result, value.unwrap_or_else(variable));
    rewriter.erase(op);
}

/// The value of a global that nothing changes, as a constant of the type of a load.
fn constant<'c>(global: Op<'c>, loaded: Type<'c>) -> Option<Attribute<'c>> {
    let value = ir::attribute(global, "value").filter(|_| ir::attribute(global, "is_mutable").is_none())?;
    (value.r#type() == loaded).then_some(value)
}
