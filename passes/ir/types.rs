//! Shaped types and function types taken apart and made.

use crate::attributes::affine_map;
use melior::ir::attribute::AttributeLike;
use melior::ir::{Attribute, Location, Type, TypeLike};
use mlir_sys as sys;

/// The size or stride that stands for one known only at run time.
pub const DYNAMIC: i64 = i64::MIN;

/// A memref or ranked tensor type taken apart.
#[derive(Clone, Debug, PartialEq)]
pub struct Shaped<'c> {
    /// Sizes, [`DYNAMIC`] where known only at run time.
    pub shape: Vec<i64>,
    /// The type of an element.
    pub element: Type<'c>,
    /// A tensor's encoding, or a memref's layout unless it is the identity.
    pub layout: Option<Attribute<'c>>,
    /// A memref's memory space.
    pub space: Option<Attribute<'c>>,
}

fn shape_of(raw: sys::MlirType) -> Vec<i64> {
    unsafe { (0..sys::mlirShapedTypeGetRank(raw)).map(|k| sys::mlirShapedTypeGetDimSize(raw, k as isize)).collect() }
}

/// Takes a memref type apart.
pub fn memref<'c>(t: Type<'c>) -> Option<Shaped<'c>> {
    let raw = t.to_raw();
    unsafe {
        if !sys::mlirTypeIsAMemRef(raw) {
            return None;
        }
        let layout = Attribute::from_raw(sys::mlirMemRefTypeGetLayout(raw));
        let plain = affine_map(layout).is_some_and(|m| m.is_identity());
        Some(Shaped {
            shape: shape_of(raw),
            element: Type::from_raw(sys::mlirShapedTypeGetElementType(raw)),
            layout: (!plain).then_some(layout),
            space: Attribute::from_option_raw(sys::mlirMemRefTypeGetMemorySpace(raw)),
        })
    }
}

/// Takes a ranked tensor type apart.
pub fn tensor<'c>(t: Type<'c>) -> Option<Shaped<'c>> {
    let raw = t.to_raw();
    unsafe {
        if !sys::mlirTypeIsARankedTensor(raw) {
            return None;
        }
        Some(Shaped {
            shape: shape_of(raw),
            element: Type::from_raw(sys::mlirShapedTypeGetElementType(raw)),
            layout: Attribute::from_option_raw(sys::mlirRankedTensorTypeGetEncoding(raw)),
            space: None,
        })
    }
}

/// Takes a vector type of fixed length apart.
pub fn vector<'c>(t: Type<'c>) -> Option<Shaped<'c>> {
    let raw = t.to_raw();
    unsafe {
        if !sys::mlirTypeIsAVector(raw) || sys::mlirVectorTypeIsScalable(raw) {
            return None;
        }
        let element = Type::from_raw(sys::mlirShapedTypeGetElementType(raw));
        Some(Shaped { shape: shape_of(raw), element, layout: None, space: None })
    }
}

/// The memref type with these parts.
pub fn memref_type<'c>(location: Location<'c>, s: &Shaped<'c>) -> Option<Type<'c>> {
    let null = sys::MlirAttribute { ptr: std::ptr::null() };
    let raw = |a: Option<Attribute<'c>>| a.map_or(null, |a| a.to_raw());
    unsafe {
        let (rank, shape) = (s.shape.len() as isize, s.shape.as_ptr());
        Type::from_option_raw(match s.layout {
            None => sys::mlirMemRefTypeContiguousGetChecked(
                location.to_raw(),
                s.element.to_raw(),
                rank,
                shape,
                raw(s.space),
            ),
            Some(layout) => sys::mlirMemRefTypeGetChecked(
                location.to_raw(),
                s.element.to_raw(),
                rank,
                shape,
                layout.to_raw(),
                raw(s.space),
            ),
        })
    }
}

/// A vector type.
pub fn vector_type<'c>(shape: &[i64], element: Type<'c>) -> Type<'c> {
    unsafe { Type::from_raw(sys::mlirVectorTypeGet(shape.len() as isize, shape.as_ptr(), element.to_raw())) }
}

/// The ranked tensor type with these parts.
pub fn tensor_type<'c>(s: &Shaped<'c>) -> Type<'c> {
    let null = sys::MlirAttribute { ptr: std::ptr::null() };
    let encoding = s.layout.map_or(null, |a| a.to_raw());
    unsafe {
        let (rank, shape) = (s.shape.len() as isize, s.shape.as_ptr());
        Type::from_raw(sys::mlirRankedTensorTypeGet(rank, shape, s.element.to_raw(), encoding))
    }
}

/// The offset of a memref type with a `strided` layout.
pub fn offset_of(t: &Shaped) -> Option<i64> {
    let raw = t.layout?.to_raw();
    unsafe { sys::mlirAttributeIsAStridedLayout(raw).then(|| sys::mlirStridedLayoutAttrGetOffset(raw)) }
}

/// A function type.
pub fn function_type<'c>(of: Type<'c>, inputs: &[Type<'c>], results: &[Type<'c>]) -> Type<'c> {
    let raw = |types: &[Type<'c>]| types.iter().map(|t| t.to_raw()).collect::<Vec<_>>();
    let (inputs, results) = (raw(inputs), raw(results));
    unsafe {
        Type::from_raw(sys::mlirFunctionTypeGet(
            sys::mlirTypeGetContext(of.to_raw()),
            inputs.len() as isize,
            inputs.as_ptr(),
            results.len() as isize,
            results.as_ptr(),
        ))
    }
}

/// A function type taken apart: inputs and results.
pub fn function<'c>(t: Type<'c>) -> Option<(Vec<Type<'c>>, Vec<Type<'c>>)> {
    let raw = t.to_raw();
    unsafe {
        sys::mlirTypeIsAFunction(raw).then(|| {
            let inputs = sys::mlirFunctionTypeGetNumInputs(raw);
            let results = sys::mlirFunctionTypeGetNumResults(raw);
            (
                (0..inputs).map(|k| Type::from_raw(sys::mlirFunctionTypeGetInput(raw, k))).collect(),
                (0..results).map(|k| Type::from_raw(sys::mlirFunctionTypeGetResult(raw, k))).collect(),
            )
        })
    }
}

/// The bits of an integer or floating-point type.
pub fn bits(t: Type) -> Option<i64> {
    let raw = t.to_raw();
    unsafe {
        if sys::mlirTypeIsAInteger(raw) {
            Some(sys::mlirIntegerTypeGetWidth(raw).into())
        } else if sys::mlirTypeIsAFloat(raw) {
            Some(sys::mlirFloatTypeGetWidth(raw).into())
        } else {
            None
        }
    }
}
