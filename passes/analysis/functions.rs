//! The functions of a module: their names, callers, and types.

use layout_ir::{self as ir, Op, Rewriter};
use melior::ir::ValueLike;
use melior::ir::attribute::{FlatSymbolRefAttribute, TypeAttribute};
use melior::ir::operation::OperationMutLike;
use std::collections::{HashMap, HashSet};

/// The name of a function.
pub fn symbol<'c>(op: Op<'c>) -> Option<&'c str> {
    ir::text(ir::attribute(op, "sym_name")?)
}

/// The name of the function that a `func.call` calls.
pub fn callee<'c>(op: Op<'c>) -> Option<&'c str> {
    let callee = (ir::name(op) == "func.call").then(|| ir::attribute(op, "callee")).flatten()?;
    FlatSymbolRefAttribute::try_from(callee).ok().map(|symbol| symbol.value())
}

/// The private functions with a body that are only referenced by calls.
pub fn called_only_functions<'c>(operations: &[Op<'c>]) -> HashMap<&'c str, Op<'c>> {
    let module = operations[0];
    let named = symbols(operations, &|op, name| (ir::name(op), name) != ("func.call", "callee"));
    let is_called_only = |op: &Op<'c>| {
        ir::name(*op) == "func.func"
            && ir::parent(*op) == Some(module)
            && ir::attribute(*op, "sym_visibility").and_then(ir::text) == Some("private")
            && ends(*op).next().is_some()
            && symbol(*op).is_some_and(|name| !named.contains(name))
    };
    operations.iter().filter(|op| is_called_only(op)).filter_map(|op| Some((symbol(*op)?, *op))).collect()
}

/// The referenced functions of a module.
pub fn referred(operations: &[Op]) -> HashSet<String> {
    symbols(operations, &|_, _| true)
}

/// The symbols in the `wanted` attributes of operations.
fn symbols(operations: &[Op], wanted: &dyn Fn(Op, &str) -> bool) -> HashSet<String> {
    // The dialects whose operations reference no function.
    let plain = ["linalg.", "tensor.", "arith.", "math.", "scf.", "memref.", "affine.", "layout."];
    let others = operations.iter().filter(|op| !plain.iter().any(|dialect| ir::name(**op).starts_with(dialect)));
    let of = |op: &Op| -> Vec<String> {
        let attributes = ir::attributes(*op).into_iter().filter(|(name, _)| wanted(*op, name));
        attributes.flat_map(|(_, attribute)| references(attribute)).collect()
    };
    others.flat_map(of).collect()
}

/// The symbols in an attribute, including arrays of symbols.
fn references(attribute: melior::ir::Attribute) -> Vec<String> {
    let own = FlatSymbolRefAttribute::try_from(attribute).ok().map(|symbol| symbol.value().to_owned());
    own.into_iter().chain(ir::array(attribute).into_iter().flat_map(references)).collect()
}

/// The terminators of an operation's blocks.
pub fn terminators<'c>(op: Op<'c>) -> impl Iterator<Item = Op<'c>> {
    ir::blocks(op).into_iter().filter_map(|block| ir::operations(block).pop())
}

/// The returns of a function.
pub fn ends<'c>(function: Op<'c>) -> impl Iterator<Item = Op<'c>> {
    terminators(function).filter(|end| ir::name(*end) == "func.return")
}

/// Sets a function's type from its arguments and returned values.
pub fn set_function_type(function: Op) {
    let Some(old) = ir::attribute(function, "function_type").and_then(ir::type_in) else { return };
    let Some(entry) = ir::blocks(function).first().copied() else { return };
    let returned = ir::blocks(function).into_iter().filter_map(|block| ir::operations(block).pop());
    let Some(returned) = returned.into_iter().find(|end| ir::name(*end) == "func.return") else { return };
    let [inputs, results] = [ir::arguments(entry), ir::operands(returned)]
        .map(|values| values.into_iter().map(|v| v.r#type()).collect::<Vec<_>>());
    let new = ir::function_type(old, &inputs, &results);
    ir::edit(function).set_attribute("function_type", TypeAttribute::new(new).into());
}

/// Moves the operations of a function in place of a call, and erases both.
pub fn inline_body<'c>(rewriter: &'c Rewriter, call: Op<'c>, function: Op<'c>) {
    let body = ir::blocks(function)[0];
    for (argument, given) in ir::arguments(body).into_iter().zip(ir::operands(call)) {
        ir::replace_all_uses(argument, given);
    }
    let end = ends(function).next().expect("a function that is only called returns");
    ir::operations(body).into_iter().filter(|op| *op != end).for_each(|op| ir::move_before(op, call));
    for (result, value) in ir::results(call).into_iter().zip(ir::operands(end)) {
        ir::replace_all_uses(result, value);
    }
    rewriter.erase(call);
    rewriter.erase(function);
}
