//! Attributes taken apart and made.

use crate::read::{Op, parent};
use layout_dialect::affine;
use melior::Context;
use melior::ir::attribute::{ArrayAttribute, AttributeLike, DenseI64ArrayAttribute, IntegerAttribute, TypeAttribute};
use melior::ir::operation::OperationLike;
use melior::ir::r#type::IntegerType;
use melior::ir::{AffineExpr, AffineMap, Attribute, Identifier, Type};
use mlir_sys as sys;
use tensor_layout::expr::Expr;

/// An operation's attribute.
pub fn attribute<'c>(op: Op<'c>, name: &str) -> Option<Attribute<'c>> {
    op.attribute(name).ok()
}

/// The integers that an attribute of an operation lists, such as `static_sizes` or `operandSegmentSizes`: a dense array
/// of 32 or 64 bits, a tensor of one dimension, or an array of integer attributes. Empty for a missing attribute and
/// for one of any other kind.
pub fn integers(op: Op, name: &str) -> Vec<i64> {
    attribute(op, name).and_then(listed).unwrap_or_default()
}

fn listed(attribute: Attribute) -> Option<Vec<i64>> {
    let raw = attribute.to_raw();
    // SAFETY: the attribute is alive, elements are read below their count, and each reader runs on the kind that the
    // condition before this call has found. An element of a tensor of integers is an attribute: its width is not
    // assumed.
    unsafe {
        if sys::mlirAttributeIsADenseI64Array(raw) {
            let n = sys::mlirDenseArrayGetNumElements(raw);
            Some((0..n).map(|k| sys::mlirDenseI64ArrayGetElement(raw, k)).collect())
        } else if sys::mlirAttributeIsADenseI32Array(raw) {
            let n = sys::mlirDenseArrayGetNumElements(raw);
            Some((0..n).map(|k| sys::mlirDenseI32ArrayGetElement(raw, k).into()).collect())
        } else if sys::mlirAttributeIsADenseIntElements(raw) {
            if sys::mlirShapedTypeGetRank(sys::mlirAttributeGetType(raw)) != 1 {
                return None;
            }
            let element = |k: u64| Attribute::from_raw(sys::mlirElementsAttrGetValue(raw, 1, &mut { k }));
            (0..sys::mlirElementsAttrGetNumElements(raw) as u64).map(element).map(integer).collect()
        } else {
            array_elements(attribute)?.into_iter().map(integer).collect()
        }
    }
}

/// Whether an attribute is `unit`.
pub fn is_unit(attribute: Attribute) -> bool {
    // SAFETY: the attribute is alive.
    unsafe { sys::mlirAttributeIsAUnit(attribute.to_raw()) }
}

/// The boolean of a boolean attribute; `None` for any other.
pub fn boolean(attribute: Attribute) -> Option<bool> {
    // SAFETY: the attribute is alive, and read as a boolean only if it is one.
    unsafe { sys::mlirAttributeIsABool(attribute.to_raw()).then(|| sys::mlirBoolAttrGetValue(attribute.to_raw())) }
}

/// The booleans that an attribute of an operation lists; `None` if it is missing, is not an array, or has an element
/// that is not a boolean.
pub fn booleans(op: Op, name: &str) -> Option<Vec<bool>> {
    array_elements(attribute(op, name)?)?.into_iter().map(boolean).collect()
}

/// The elements of an array attribute of an operation; empty if it is missing or of another kind.
pub fn elements<'c>(op: Op<'c>, name: &str) -> Vec<Attribute<'c>> {
    attribute(op, name).map(array).unwrap_or_default()
}

/// The elements of an array attribute; empty for any other.
pub fn array<'c>(attribute: Attribute<'c>) -> Vec<Attribute<'c>> {
    array_elements(attribute).unwrap_or_default()
}

fn array_elements<'c>(attribute: Attribute<'c>) -> Option<Vec<Attribute<'c>>> {
    let raw = attribute.to_raw();
    // SAFETY: the attribute is alive and an array, and elements are read below its count.
    unsafe {
        sys::mlirAttributeIsAArray(raw).then(|| {
            let n = sys::mlirArrayAttrGetNumElements(raw);
            (0..n).map(|k| Attribute::from_raw(sys::mlirArrayAttrGetElement(raw, k))).collect()
        })
    }
}

/// A dictionary of these entries.
pub fn dictionary_attribute<'c>(context: &'c Context, entries: &[(Identifier<'c>, Attribute<'c>)]) -> Attribute<'c> {
    let entry = |(name, value): &(Identifier, Attribute)| {
        // SAFETY: both are alive.
        unsafe { sys::mlirNamedAttributeGet(name.to_raw(), value.to_raw()) }
    };
    let entries: Vec<_> = entries.iter().map(entry).collect();
    // SAFETY: the count is that of the entries, which MLIR copies.
    unsafe {
        let raw = sys::mlirDictionaryAttrGet(context.to_raw(), entries.len() as isize, entries.as_ptr());
        Attribute::from_raw(raw)
    }
}

/// The reassociation of a reshape: the dimensions of the longer shape, grouped by those of the shorter. `None` for an
/// operation without it as arrays of numbers.
pub fn reassociation(op: Op) -> Option<Vec<Vec<usize>>> {
    let number = |a: Attribute| usize::try_from(integer(a)?).ok();
    let group = |g: Attribute| array_elements(g)?.into_iter().map(number).collect();
    array_elements(attribute(op, "reassociation")?)?.into_iter().map(group).collect()
}

/// The integer of an integer attribute; `None` for any other, and beyond `i64`.
pub fn integer(attribute: Attribute) -> Option<i64> {
    let raw = attribute.to_raw();
    // SAFETY: the attribute is alive and an integer; its type is `index`, which has 64 bits, or an integer type. What
    // has more than 64 bits is not read, and each signedness by its own reader.
    unsafe {
        if !sys::mlirAttributeIsAInteger(raw) {
            return None;
        }
        let t = sys::mlirAttributeGetType(raw);
        if sys::mlirTypeIsAIndex(t) || sys::mlirIntegerTypeGetWidth(t) <= 64 && sys::mlirIntegerTypeIsSignless(t) {
            Some(sys::mlirIntegerAttrGetValueInt(raw))
        } else if sys::mlirIntegerTypeGetWidth(t) > 64 {
            None
        } else if sys::mlirIntegerTypeIsSigned(t) {
            Some(sys::mlirIntegerAttrGetValueSInt(raw))
        } else {
            sys::mlirIntegerAttrGetValueUInt(raw).try_into().ok()
        }
    }
}

/// The affine map of an affine map attribute.
pub fn affine_map<'c>(attribute: Attribute<'c>) -> Option<AffineMap<'c>> {
    // SAFETY: the attribute is alive, and read as a map only if it is one.
    unsafe {
        sys::mlirAttributeIsAAffineMap(attribute.to_raw())
            .then(|| AffineMap::from_raw(sys::mlirAffineMapAttrGetValue(attribute.to_raw())))
    }
}

/// An attribute that holds an affine map.
pub fn affine_map_attribute<'c>(map: AffineMap<'c>) -> Attribute<'c> {
    // SAFETY: the map is alive, and the attribute belongs to its context.
    unsafe { Attribute::from_raw(sys::mlirAffineMapAttrGet(map.to_raw())) }
}

/// The constraints of an integer set, each with whether it is an equality; `None` if one is not affine.
pub fn integer_set(attribute: Attribute) -> Option<Vec<(Expr, bool)>> {
    // SAFETY: the attribute is alive and an integer set, and constraints are read below its count.
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

/// The indexing maps of a structured operation, one for each operand; `None` for other operations.
pub fn indexing_maps<'c>(op: Op<'c>) -> Option<Vec<AffineMap<'c>>> {
    // SAFETY: the operation is alive; the result is null where it is not structured, and else an attribute.
    let maps = unsafe { Attribute::from_option_raw(sys::mlirLinalgGetIndexingMapsAttribute(op.to_raw())) };
    array_elements(maps?)?.into_iter().map(affine_map).collect()
}

/// The innermost structured operation around an operation, the one that a `linalg.index` there refers to.
pub fn nearest_structured<'c>(inside: Op<'c>) -> Option<Op<'c>> {
    std::iter::successors(parent(inside), |op| parent(*op)).find(|op| indexing_maps(*op).is_some())
}

/// An attribute of 64-bit integers.
pub fn integers_attribute<'c>(context: &'c Context, values: &[i64]) -> Attribute<'c> {
    DenseI64ArrayAttribute::new(context, values).into()
}

/// The `reassociation` of a reshape: the dimensions of the longer shape, grouped by those of the shorter.
pub fn reassociation_attribute<'c>(context: &'c Context, groups: &[Vec<usize>]) -> Attribute<'c> {
    let number = |dim: &usize| IntegerAttribute::new(IntegerType::new(context, 64).into(), *dim as i64).into();
    let group = |group: &Vec<usize>| ArrayAttribute::new(context, &group.iter().map(number).collect::<Vec<_>>()).into();
    ArrayAttribute::new(context, &groups.iter().map(group).collect::<Vec<_>>()).into()
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

/// The entries of a dictionary attribute; empty for any other.
pub fn entries<'c>(attribute: Attribute<'c>) -> Vec<(String, Attribute<'c>)> {
    let raw = attribute.to_raw();
    // SAFETY: the attribute is alive and a dictionary, and entries are read below its count.
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
