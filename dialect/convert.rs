//! `layout.convert`: its verifier, its folder and its memory effects.
//!
//! A chain of conversions folds to one: after `%1 = convert %0 : A to B`, `convert %1 : B to A` is `%0`, and
//! `convert %1 : B to C` becomes `convert %0 : A to C`, because layouts do not change values. An
//! `async` conversion is a planned copy, so neither it nor a chain through it folds.

use crate::imports::{ConvertOp, shape};
use melior::ir::{
    Location, Operation, Type, TypeLike, Value, ValueLike,
    operation::OperationBuilder,
    r#type::{MemRefType, RankedTensorType, ShapedTypeLike},
};

/// Builds a `layout.convert` of a value to another type, which differs in its layout only.
///
/// The types are checked by the verifier and not here, as for the operations that melior builds.
pub fn convert<'c>(source: Value<'c, '_>, to: Type<'c>, location: Location<'c>) -> Operation<'c> {
    let operation = OperationBuilder::new("layout.convert", location).add_operands(&[source]).add_results(&[to]);
    operation.build().expect("an operation whose results are given")
}

/// Checks the types of the operand and the result.
pub fn verify(op: &ConvertOp) -> Result<(), String> {
    let (from, to) = (op.source().r#type(), op.result().r#type());
    // (convert_c1) Both types are ranked tensors or both are memrefs.
    if from.is_ranked_tensor() != to.is_ranked_tensor() {
        return Err(format!("expected two tensors or two memrefs, found '{from}' and '{to}'"));
    }
    // (convert_c2) Both have the same shape.
    let (from_shape, to_shape) = (sizes(from), sizes(to));
    if from_shape != to_shape {
        return Err(format!("expected the same shape, found {from_shape} and {to_shape}"));
    }
    // (convert_c3) Both have the same element type.
    let (from_element, to_element) = (element(from), element(to));
    if from_element != to_element {
        return Err(format!("expected the same element type, found '{from_element}' and '{to_element}'"));
    }
    Ok(())
}

/// A replacement for the result: a value of the same type, among the source and the sources of conversions before it.
///
/// Otherwise, if the source is a conversion, the operation takes that one's source and returns its own result.
pub fn fold<'c, 'a>(op: &ConvertOp<'c, 'a>) -> Option<Value<'c, 'a>> {
    let (result, source) = (op.result(), op.source());
    if op.is_async() {
        return None;
    }
    let mut origin = source;
    // Conversions form a cycle only where nothing is executed; there is nothing to gain there.
    let mut seen = vec![result];
    loop {
        if seen.contains(&origin) {
            return None;
        }
        if origin.r#type() == result.r#type() {
            return Some(origin);
        }
        seen.push(origin);
        match ConvertOp::defining(origin).filter(|convert| !convert.is_async()) {
            Some(convert) => origin = convert.source(),
            None if origin == source => return None,
            None => break,
        }
    }
    op.set_source(origin);
    Some(result)
}

/// Whether the operation reads memory: on memrefs.
pub fn reads_memory(op: &ConvertOp) -> bool {
    op.source().r#type().is_mem_ref()
}

fn element(of: Type) -> Type {
    match RankedTensorType::try_from(of) {
        Ok(tensor) => tensor.element(),
        Err(_) => MemRefType::try_from(of).expect("the operation takes tensors and memrefs").element(),
    }
}

/// The sizes as text: `[3, ?]`.
fn sizes(of: Type) -> String {
    let shape = shape(of).expect("the operation takes tensors and memrefs");
    let sizes: Vec<_> = shape.iter().map(|size| size.map_or("?".into(), |size| size.to_string())).collect();
    format!("[{}]", sizes.join(", "))
}
