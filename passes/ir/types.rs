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

/// The sizes of a type of known rank.
///
/// # Safety
/// It is one.
unsafe fn shape_of(raw: sys::MlirType) -> Vec<i64> {
    // SAFETY: the type has a rank, and sizes are read below it.
    unsafe { (0..sys::mlirShapedTypeGetRank(raw)).map(|k| sys::mlirShapedTypeGetDimSize(raw, k as isize)).collect() }
}

/// Takes a memref type of known rank apart.
pub fn memref<'c>(t: Type<'c>) -> Option<Shaped<'c>> {
    let raw = t.to_raw();
    // SAFETY: the type is alive and a memref of known rank, which always has a layout.
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
    // SAFETY: the type is alive and a ranked tensor.
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
    // SAFETY: the type is alive and a vector, which has a rank.
    unsafe {
        if !sys::mlirTypeIsAVector(raw) || sys::mlirVectorTypeIsScalable(raw) {
            return None;
        }
        let element = Type::from_raw(sys::mlirShapedTypeGetElementType(raw));
        Some(Shaped { shape: shape_of(raw), element, layout: None, space: None })
    }
}

const NONE: sys::MlirAttribute = sys::MlirAttribute { ptr: std::ptr::null() };

/// The memref type with these parts; none, with a diagnostic at the location, where no memref has them.
pub fn memref_type<'c>(location: Location<'c>, s: &Shaped<'c>) -> Option<Type<'c>> {
    let (element, rank, shape) = (s.element.to_raw(), s.shape.len() as isize, s.shape.as_ptr());
    let space = s.space.map_or(NONE, |space| space.to_raw());
    // SAFETY: all parts are alive; the rank is that of the sizes, which MLIR copies. The result is null where MLIR's
    // checks refuse the parts.
    unsafe {
        Type::from_option_raw(match s.layout {
            None => sys::mlirMemRefTypeContiguousGetChecked(location.to_raw(), element, rank, shape, space),
            Some(layout) => {
                sys::mlirMemRefTypeGetChecked(location.to_raw(), element, rank, shape, layout.to_raw(), space)
            }
        })
    }
}

/// A vector type.
///
/// # Panics
/// Where no vector has such elements or such sizes.
pub fn vector_type<'c>(shape: &[i64], element: Type<'c>) -> Type<'c> {
    // SAFETY: the element is alive; the rank is that of the sizes, which MLIR copies. The result is null where MLIR's
    // checks refuse the parts.
    let made = unsafe {
        let location = sys::mlirLocationUnknownGet(sys::mlirTypeGetContext(element.to_raw()));
        let (rank, sizes) = (shape.len() as isize, shape.as_ptr());
        Type::from_option_raw(sys::mlirVectorTypeGetChecked(location, rank, sizes, element.to_raw()))
    };
    made.unwrap_or_else(|| panic!("expected sizes and an element of a vector, found {shape:?} of {element}"))
}

/// The ranked tensor type with these parts.
///
/// # Panics
/// Where no tensor has them.
pub fn tensor_type<'c>(s: &Shaped<'c>) -> Type<'c> {
    let encoding = s.layout.map_or(NONE, |a| a.to_raw());
    // SAFETY: all parts are alive; the rank is that of the sizes, which MLIR copies. The result is null where MLIR's
    // checks refuse the parts.
    let made = unsafe {
        let location = sys::mlirLocationUnknownGet(sys::mlirTypeGetContext(s.element.to_raw()));
        let (rank, sizes) = (s.shape.len() as isize, s.shape.as_ptr());
        Type::from_option_raw(sys::mlirRankedTensorTypeGetChecked(location, rank, sizes, s.element.to_raw(), encoding))
    };
    made.unwrap_or_else(|| panic!("expected the parts of a tensor, found {s:?}"))
}

/// The offset of a memref type with a `strided` layout.
pub fn offset_of(t: &Shaped) -> Option<i64> {
    let raw = t.layout?.to_raw();
    // SAFETY: the layout is alive, and read as `strided` only if it is.
    unsafe { sys::mlirAttributeIsAStridedLayout(raw).then(|| sys::mlirStridedLayoutAttrGetOffset(raw)) }
}

/// A function type in the context of `of`.
pub fn function_type<'c>(of: Type<'c>, inputs: &[Type<'c>], results: &[Type<'c>]) -> Type<'c> {
    let raw = |types: &[Type<'c>]| types.iter().map(|t| t.to_raw()).collect::<Vec<_>>();
    let (inputs, results) = (raw(inputs), raw(results));
    // SAFETY: all types are alive; the counts are those of the lists, which MLIR copies.
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
    // SAFETY: the type is alive and a function type, and types are read below their counts.
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
    // SAFETY: the type is alive, and its width is read by the reader of its kind.
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
