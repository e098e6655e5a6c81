//! Attributes taken apart and made.

use crate::read::Op;
use layout::expr::Expr;
use layout_dialect::affine;
use melior::Context;
use melior::ir::attribute::{AttributeLike, DenseI64ArrayAttribute, TypeAttribute};
use melior::ir::operation::OperationLike;
use melior::ir::{AffineExpr, AffineMap, Attribute, Identifier, Location, Type};
use mlir_sys as sys;

/// An operation's attribute.
pub fn attribute<'c>(op: Op<'c>, name: &str) -> Option<Attribute<'c>> {
    op.attribute(name).ok()
}

/// An attribute made of integers, as an operation's static sizes are; elements of tensors have 32 bits.
pub fn integers(op: Op, name: &str) -> Vec<i64> {
    let Some(attribute) = attribute(op, name) else { return Vec::new() };
    let raw = attribute.to_raw();
    unsafe {
        if sys::mlirAttributeIsADenseI64Array(raw) {
            let n = sys::mlirDenseArrayGetNumElements(raw);
            (0..n).map(|k| sys::mlirDenseI64ArrayGetElement(raw, k)).collect()
        } else if sys::mlirAttributeIsADenseI32Array(raw) {
            let n = sys::mlirDenseArrayGetNumElements(raw);
            (0..n).map(|k| sys::mlirDenseI32ArrayGetElement(raw, k).into()).collect()
        } else if sys::mlirAttributeIsADenseIntElements(raw) {
            let n = sys::mlirElementsAttrGetNumElements(raw);
            (0..n).map(|k| sys::mlirDenseElementsAttrGetInt32Value(raw, k as isize).into()).collect()
        } else if sys::mlirAttributeIsAArray(raw) {
            let n = sys::mlirArrayAttrGetNumElements(raw);
            let each = (0..n).map(|k| Attribute::from_raw(sys::mlirArrayAttrGetElement(raw, k)));
            each.map(integer).collect::<Option<_>>().unwrap_or_default()
        } else {
            Vec::new()
        }
    }
}

/// Whether an attribute is `unit`.
pub fn is_unit(attribute: Attribute) -> bool {
    unsafe { sys::mlirAttributeIsAUnit(attribute.to_raw()) }
}

/// An attribute made of booleans.
pub fn booleans(op: Op, name: &str) -> Vec<bool> {
    elements(op, name).into_iter().map(|a| unsafe { sys::mlirBoolAttrGetValue(a.to_raw()) }).collect()
}

/// The elements of an array attribute.
pub fn elements<'c>(op: Op<'c>, name: &str) -> Vec<Attribute<'c>> {
    let Some(attribute) = attribute(op, name) else { return Vec::new() };
    array(attribute)
}

/// The elements of an array attribute; none for any other.
pub fn array<'c>(attribute: Attribute<'c>) -> Vec<Attribute<'c>> {
    let raw = attribute.to_raw();
    unsafe {
        if !sys::mlirAttributeIsAArray(raw) {
            return Vec::new();
        }
        let n = sys::mlirArrayAttrGetNumElements(raw);
        (0..n).map(|k| Attribute::from_raw(sys::mlirArrayAttrGetElement(raw, k))).collect()
    }
}

/// A dictionary of these entries.
pub fn dictionary_attribute<'c>(context: &'c Context, entries: &[(Identifier<'c>, Attribute<'c>)]) -> Attribute<'c> {
    let entry =
        |(name, value): &(Identifier, Attribute)| unsafe { sys::mlirNamedAttributeGet(name.to_raw(), value.to_raw()) };
    let entries: Vec<_> = entries.iter().map(entry).collect();
    unsafe {
        let raw = sys::mlirDictionaryAttrGet(context.to_raw(), entries.len() as isize, entries.as_ptr());
        Attribute::from_raw(raw)
    }
}

/// The reassociation of a reshape: the dimensions of the longer shape, grouped by those of the shorter.
pub fn reassociation(op: Op) -> Vec<Vec<usize>> {
    let integer = |a: Attribute| unsafe { sys::mlirIntegerAttrGetValueInt(a.to_raw()) as usize };
    elements(op, "reassociation").into_iter().map(|g| array(g).into_iter().map(integer).collect()).collect()
}

/// The integer of an integer attribute.
pub fn integer(attribute: Attribute) -> Option<i64> {
    unsafe {
        sys::mlirAttributeIsAInteger(attribute.to_raw()).then(|| sys::mlirIntegerAttrGetValueInt(attribute.to_raw()))
    }
}

/// The affine map of an affine map attribute.
pub fn affine_map<'c>(attribute: Attribute<'c>) -> Option<AffineMap<'c>> {
    unsafe {
        sys::mlirAttributeIsAAffineMap(attribute.to_raw())
            .then(|| AffineMap::from_raw(sys::mlirAffineMapAttrGetValue(attribute.to_raw())))
    }
}

/// An attribute that holds an affine map.
pub fn affine_map_attribute<'c>(map: AffineMap<'c>) -> Attribute<'c> {
    unsafe { Attribute::from_raw(sys::mlirAffineMapAttrGet(map.to_raw())) }
}

/// The constraints of an integer set, each with whether it is an equality; none where one is not affine.
pub fn integer_set(attribute: Attribute) -> Option<Vec<(Expr, bool)>> {
    unsafe {
        if !sys::mlirAttributeIsAIntegerSet(attribute.to_raw()) {
            return None;
        }
        let set = sys::mlirIntegerSetAttrGetValue(attribute.to_raw());
        let dims = sys::mlirIntegerSetGetNumDims(set) as usize;
        let variables: Vec<Expr> = (0..sys::mlirIntegerSetGetNumInputs(set) as usize).map(Expr::Var).collect();
        let constraint = |k| {
            let e = AffineExpr::from_raw(sys::mlirIntegerSetGetConstraint(set, k));
            Some((affine::expr_of(e, dims, &variables)?, sys::mlirIntegerSetIsConstraintEq(set, k)))
        };
        (0..sys::mlirIntegerSetGetNumConstraints(set)).map(constraint).collect()
    }
}

/// The indexing maps of a structured operation, one for each operand; none for other operations.
pub fn indexing_maps<'c>(op: Op<'c>) -> Option<Vec<AffineMap<'c>>> {
    let raw = unsafe { sys::mlirLinalgGetIndexingMapsAttribute(op.to_raw()) };
    if raw.ptr.is_null() {
        return None;
    }
    array(unsafe { Attribute::from_raw(raw) }).into_iter().map(affine_map).collect()
}

/// An attribute of 64-bit integers.
pub fn integers_attribute<'c>(context: &'c Context, values: &[i64]) -> Attribute<'c> {
    DenseI64ArrayAttribute::new(context, values).into()
}

/// The `strided<[..], offset: n>` attribute.
pub fn strided<'c>(location: Location<'c>, offset: i64, strides: &[i64]) -> Attribute<'c> {
    unsafe {
        Attribute::from_raw(sys::mlirStridedLayoutAttrGet(
            sys::mlirLocationGetContext(location.to_raw()),
            offset,
            strides.len() as isize,
            strides.as_ptr(),
        ))
    }
}

/// The strides of a `strided` attribute.
pub fn strides_of(attribute: Attribute) -> Option<Vec<i64>> {
    let raw = attribute.to_raw();
    unsafe {
        sys::mlirAttributeIsAStridedLayout(raw).then(|| {
            let n = sys::mlirStridedLayoutAttrGetNumStrides(raw);
            (0..n).map(|k| sys::mlirStridedLayoutAttrGetStride(raw, k)).collect()
        })
    }
}

/// The type in a type attribute.
pub fn type_in(attribute: Attribute) -> Option<Type> {
    TypeAttribute::try_from(attribute).ok().map(|t| t.value())
}

/// All attributes of an operation, with their names.
pub fn attributes<'c>(op: Op<'c>) -> Vec<(String, Attribute<'c>)> {
    op.attributes().map(|(name, a)| (name.as_string_ref().as_str().unwrap_or_default().to_owned(), a)).collect()
}

/// The text of a string attribute.
pub fn text<'c>(attribute: Attribute<'c>) -> Option<&'c str> {
    melior::ir::attribute::StringAttribute::try_from(attribute).ok().map(|a| a.value())
}

/// The entries of a dictionary attribute.
pub fn entries<'c>(attribute: Attribute<'c>) -> Vec<(String, Attribute<'c>)> {
    let raw = attribute.to_raw();
    unsafe {
        if !sys::mlirAttributeIsADictionary(raw) {
            return Vec::new();
        }
        let entry = |k| {
            let e = sys::mlirDictionaryAttrGetElement(raw, k);
            let name = Identifier::from_raw(e.name);
            (name.as_string_ref().as_str().unwrap_or_default().to_owned(), Attribute::from_raw(e.attribute))
        };
        (0..sys::mlirDictionaryAttrGetNumElements(raw)).map(entry).collect()
    }
}
