//! Shaped types and function types taken apart and made.

use crate::attributes::{affine_map, integers, integers_attribute};
use crate::read::Op;
use melior::Context;
use melior::ir::attribute::AttributeLike;
use melior::ir::{Attribute, Location, Type, TypeLike};
use mlir_sys as sys;
use tensor_layout::maps::Interval;

/// MLIR's number for a dynamic size, stride or offset. Nothing in this project computes with it: a dynamic number is
/// the `None` of an [`Option`].
const DYNAMIC: i64 = i64::MIN;

/// A size, stride or offset from MLIR's number.
pub(crate) fn known(n: i64) -> Option<i64> {
    (n != DYNAMIC).then_some(n)
}

/// Sizes, strides or offsets as MLIR's numbers.
pub(crate) fn raw(numbers: &[Option<i64>]) -> Vec<i64> {
    numbers.iter().map(|n| n.unwrap_or(DYNAMIC)).collect()
}

/// The indices of a dimension of some size.
pub fn indices_below(size: Option<i64>) -> Interval {
    Interval::new(0, size.map_or(i64::MAX, |n| n.saturating_sub(1)))
}

/// A ranked tensor type without its encoding; any other type as it is.
pub fn without_layout(t: Type) -> Type {
    tensor(t).map_or(t, |shaped| tensor_type(&Shaped { layout: None, ..shaped }))
}

/// A memref or ranked tensor type taken apart.
#[derive(Clone, Debug, PartialEq)]
pub struct Shaped<'c> {
    /// Sizes; `None` if known only at run time.
    pub shape: Vec<Option<i64>>,
    /// The type of an element.
    pub element: Type<'c>,
    /// A tensor's encoding, or a memref's layout unless it is the identity.
    pub layout: Option<Attribute<'c>>,
    /// A memref's memory space.
    pub space: Option<Attribute<'c>>,
}

impl Shaped<'_> {
    /// The sizes, if all are known.
    pub fn sizes(&self) -> Option<Vec<i64>> {
        self.shape.iter().copied().collect()
    }
}

/// A vector type taken apart.
#[derive(Clone, Debug, PartialEq)]
pub struct Vector<'c> {
    /// Its sizes.
    pub shape: Vec<i64>,
    /// The type of an element.
    pub element: Type<'c>,
}

/// The sizes of a type of known rank.
///
/// # Safety
/// The type is shaped and ranked.
unsafe fn shape_of(raw: sys::MlirType) -> impl Iterator<Item = i64> {
    // SAFETY: the type has a rank, and sizes are read below it.
    let rank = unsafe { sys::mlirShapedTypeGetRank(raw) };
    // SAFETY: as above.
    (0..rank).map(move |k| unsafe { sys::mlirShapedTypeGetDimSize(raw, k as isize) })
}

/// Whether a type is a memref, of known rank or not.
pub fn is_buffer(t: Type) -> bool {
    // SAFETY: the type is alive.
    unsafe { sys::mlirTypeIsAMemRef(t.to_raw()) || sys::mlirTypeIsAUnrankedMemRef(t.to_raw()) }
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
        // A layout of this dialect holds more than its map.
        let own = layout_dialect::tiled(layout).is_some() || layout_dialect::swizzled(layout).is_some();
        let plain = !own && affine_map(layout).is_some_and(|m| m.is_identity());
        Some(Shaped {
            shape: shape_of(raw).map(known).collect(),
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
            shape: shape_of(raw).map(known).collect(),
            element: Type::from_raw(sys::mlirShapedTypeGetElementType(raw)),
            layout: Attribute::from_option_raw(sys::mlirRankedTensorTypeGetEncoding(raw)),
            space: None,
        })
    }
}

/// Takes a vector type of fixed length apart.
pub fn vector<'c>(t: Type<'c>) -> Option<Vector<'c>> {
    let raw = t.to_raw();
    // SAFETY: the type is alive and a vector, which has a rank.
    unsafe {
        if !sys::mlirTypeIsAVector(raw) || sys::mlirVectorTypeIsScalable(raw) {
            return None;
        }
        let element = Type::from_raw(sys::mlirShapedTypeGetElementType(raw));
        Some(Vector { shape: shape_of(raw).collect(), element })
    }
}

const NONE: sys::MlirAttribute = sys::MlirAttribute { ptr: std::ptr::null() };

/// The memref type with these parts; `None`, with a diagnostic at the location, if no memref can have them.
pub fn memref_type<'c>(location: Location<'c>, s: &Shaped<'c>) -> Option<Type<'c>> {
    let sizes = raw(&s.shape);
    let (element, rank, shape) = (s.element.to_raw(), sizes.len() as isize, sizes.as_ptr());
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
/// If no vector type has such elements or sizes.
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
    // SAFETY: the context of a type is alive.
    let location =
        unsafe { Location::from_raw(sys::mlirLocationUnknownGet(sys::mlirTypeGetContext(s.element.to_raw()))) };
    checked_tensor_type(location, s).unwrap_or_else(|| panic!("expected the parts of a tensor, found {s:?}"))
}

/// The type of a tensor; `None` if MLIR's checks refuse the parts, which it reports at the location.
pub fn checked_tensor_type<'c>(location: Location<'c>, s: &Shaped<'c>) -> Option<Type<'c>> {
    let encoding = s.layout.map_or(NONE, |a| a.to_raw());
    // SAFETY: all parts are alive; the rank is that of the sizes, which MLIR copies. The result is null where MLIR's
    // checks refuse the parts.
    unsafe {
        let (location, sizes) = (location.to_raw(), raw(&s.shape));
        let (rank, sizes) = (sizes.len() as isize, sizes.as_ptr());
        Type::from_option_raw(sys::mlirRankedTensorTypeGetChecked(location, rank, sizes, s.element.to_raw(), encoding))
    }
}

/// The `strided<[..], offset: n>` attribute.
pub fn strided<'c>(location: Location<'c>, offset: Option<i64>, strides: &[Option<i64>]) -> Attribute<'c> {
    let (offset, strides) = (offset.unwrap_or(DYNAMIC), raw(strides));
    // SAFETY: the location gives a live context; the count is that of the strides, which MLIR copies.
    unsafe {
        let context = sys::mlirLocationGetContext(location.to_raw());
        let (count, strides) = (strides.len() as isize, strides.as_ptr());
        Attribute::from_raw(sys::mlirStridedLayoutAttrGet(context, offset, count, strides))
    }
}

/// The strides of a `strided` attribute, each `None` if known only at run time; `None` for any other attribute.
pub fn strides_of(attribute: Attribute) -> Option<Vec<Option<i64>>> {
    let raw = attribute.to_raw();
    // SAFETY: the attribute is alive and `strided`, and strides are read below their count.
    unsafe {
        sys::mlirAttributeIsAStridedLayout(raw).then(|| {
            let n = sys::mlirStridedLayoutAttrGetNumStrides(raw);
            (0..n).map(|k| known(sys::mlirStridedLayoutAttrGetStride(raw, k))).collect()
        })
    }
}

/// The strides and the offset of a memref type, each `None` if known only at run time; `None` if its layout has no
/// strided form.
pub fn strides_and_offset(t: Type) -> Option<(Vec<Option<i64>>, Option<i64>)> {
    let mut strides = vec![0; memref(t)?.shape.len()];
    let mut offset = 0;
    // SAFETY: the type is alive and a memref, and there is a place for each stride.
    let known_now =
        unsafe { sys::mlirMemRefTypeGetStridesAndOffset(t.to_raw(), strides.as_mut_ptr(), &mut offset).value != 0 };
    known_now.then(|| (strides.into_iter().map(known).collect(), known(offset)))
}

/// The sizes, strides or offsets that an attribute of an operation lists, such as `static_sizes`: see
/// [`integers`](crate::integers). A number is `None` if known only at run time.
pub fn sizes(op: Op, name: &str) -> Vec<Option<i64>> {
    integers(op, name).into_iter().map(known).collect()
}

/// An attribute of sizes, strides or offsets.
pub fn sizes_attribute<'c>(context: &'c Context, values: &[Option<i64>]) -> Attribute<'c> {
    integers_attribute(context, &raw(values))
}

/// The offset of a memref type with a `strided` layout; `None` if known only at run time, and for another layout.
pub fn offset_of(t: &Shaped) -> Option<i64> {
    let raw = t.layout?.to_raw();
    // SAFETY: the layout is alive, and read as `strided` only if it is.
    let offset = unsafe { sys::mlirAttributeIsAStridedLayout(raw).then(|| sys::mlirStridedLayoutAttrGetOffset(raw)) };
    offset.and_then(known)
}

/// A function type in the context of `of`.
pub fn function_type<'c>(of: Type<'c>, inputs: &[Type<'c>], results: &[Type<'c>]) -> Type<'c> {
    let handles = |types: &[Type<'c>]| types.iter().map(|t| t.to_raw()).collect::<Vec<_>>();
    let (inputs, results) = (handles(inputs), handles(results));
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
