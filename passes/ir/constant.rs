//! Constants of many elements.
//!
//! MLIR keeps the elements of a constant as bytes, each element in whole bytes, and a constant whose elements are all
//! alike (a *splat*) as one element. Constants whose data are elsewhere (resources), and constants of strings, are not
//! looked into.

use crate::types::bits;
use melior::ir::attribute::AttributeLike;
use melior::ir::{Attribute, Type, TypeLike};
use mlir_sys as sys;

/// The constant of a shaped type whose elements are all zero.
///
/// # Panics
/// Where the type has sizes known only at run time, or elements that are no numbers.
pub fn zeros<'c>(t: Type<'c>) -> Attribute<'c> {
    let shape = Shape::of(t).unwrap_or_else(|| panic!("expected a type of known sizes, found {t}"));
    let bytes = bytes(shape.element).unwrap_or_else(|| panic!("expected elements that are numbers, found {t}"));
    let zeros = vec![0u8; bytes];
    // SAFETY: the type is alive and shaped, its sizes are known, and the buffer has the bytes of one element, which
    // MLIR copies. The result is null where MLIR refuses the buffer.
    let made = unsafe {
        Attribute::from_option_raw(sys::mlirDenseElementsAttrRawBufferGet(t.to_raw(), bytes, zeros.as_ptr().cast()))
    };
    made.unwrap_or_else(|| panic!("expected a type that has zeros, found {t}"))
}

/// A shaped type of known sizes.
struct Shape<'c> {
    elements: i64,
    element: Type<'c>,
}

impl<'c> Shape<'c> {
    fn of(t: Type<'c>) -> Option<Shape<'c>> {
        let raw = t.to_raw();
        // SAFETY: the type is alive and shaped, has a rank, and no size is known only at run time.
        unsafe {
            if !sys::mlirTypeIsAShaped(raw)
                || !sys::mlirShapedTypeHasRank(raw)
                || !sys::mlirShapedTypeHasStaticShape(raw)
            {
                return None;
            }
            let mut sizes =
                (0..sys::mlirShapedTypeGetRank(raw)).map(|k| sys::mlirShapedTypeGetDimSize(raw, k as isize));
            Some(Shape {
                elements: sizes.try_fold(1i64, i64::checked_mul)?,
                element: Type::from_raw(sys::mlirShapedTypeGetElementType(raw)),
            })
        }
    }
}

/// The bytes in which a constant keeps an element; none where elements are no numbers.
fn bytes(element: Type) -> Option<usize> {
    let raw = element.to_raw();
    // SAFETY: the type is alive, and its part is read only if it is complex.
    unsafe {
        if sys::mlirTypeIsAIndex(raw) {
            Some(8)
        } else if sys::mlirTypeIsAComplex(raw) {
            Some(2 * bytes(Type::from_raw(sys::mlirComplexTypeGetElementType(raw)))?)
        } else {
            Some((bits(element)? as usize).div_ceil(8))
        }
    }
}

/// The numbers of a constant.
pub struct Constant<'c> {
    /// All elements alike.
    pub splat: bool,
    attribute: Attribute<'c>,
    elements: i64,
    element: Type<'c>,
}

/// Looks into a constant of numbers; none for any other attribute.
pub fn constant<'c>(attribute: Attribute<'c>) -> Option<Constant<'c>> {
    let raw = attribute.to_raw();
    // SAFETY: the attribute is alive; its type and its splat are read only if it has dense elements.
    unsafe {
        if !sys::mlirAttributeIsADenseElements(raw) {
            return None;
        }
        let Shape { elements, element } = Shape::of(Type::from_raw(sys::mlirAttributeGetType(raw)))?;
        bytes(element)?;
        Some(Constant { splat: sys::mlirDenseElementsAttrIsSplat(raw), attribute, elements, element })
    }
}

impl<'c> Constant<'c> {
    /// The same data with another type; none unless it has as many elements of the same type.
    pub fn reshaped(&self, t: Type<'c>) -> Option<Attribute<'c>> {
        let fits = Shape::of(t).is_some_and(|to| to.element == self.element && to.elements == self.elements);
        // SAFETY: the constant and the type are alive and have the same elements, and as many.
        fits.then(|| unsafe {
            Attribute::from_raw(sys::mlirDenseElementsAttrReshapeGet(self.attribute.to_raw(), t.to_raw()))
        })
    }

    /// A constant of any shape all of whose elements are this splat's; none where this is no splat, or the type has
    /// other elements.
    pub fn resplat(&self, t: Type<'c>) -> Option<Attribute<'c>> {
        let fits = self.splat && Shape::of(t).is_some_and(|to| to.element == self.element);
        // SAFETY: the constant is a splat, whose element fits into the type.
        fits.then(|| unsafe {
            let value = sys::mlirDenseElementsAttrGetSplatValue(self.attribute.to_raw());
            Attribute::from_raw(sys::mlirDenseElementsAttrSplatGet(t.to_raw(), value))
        })
    }

    /// The data in another order: element `k` of the result is element `source[k]`, or zero where there is none. None
    /// where the type has other elements or another number of them, or a source is not below the number of elements.
    pub fn gathered(&self, t: Type<'c>, source: &[Option<usize>]) -> Option<Attribute<'c>> {
        let to = Shape::of(t)?;
        let inside = |k: &Option<usize>| k.is_none_or(|k| (k as i64) < self.elements);
        if to.element != self.element || to.elements != source.len() as i64 || !source.iter().all(inside) {
            return None;
        }
        let raw = self.attribute.to_raw();
        if bits(self.element) == Some(1) {
            // Booleans are packed in memory.
            // SAFETY: the constant's elements are booleans, and `k` is below their number.
            let get = |k: usize| unsafe { sys::mlirDenseElementsAttrGetBoolValue(raw, k as isize) };
            let values: Vec<i32> = source.iter().map(|k| k.is_some_and(get).into()).collect();
            // SAFETY: the type has elements that are booleans, as many as the values, which MLIR copies.
            return unsafe {
                let made = sys::mlirDenseElementsAttrBoolGet(t.to_raw(), values.len() as isize, values.as_ptr());
                Attribute::from_option_raw(made)
            };
        }
        let bytes = bytes(self.element)?;
        // SAFETY: the data have `bytes` bytes for each element, or for the only one where all are alike, and live with
        // the context.
        let data = unsafe {
            let first = sys::mlirDenseElementsAttrGetRawData(raw).cast::<u8>();
            let kept = if self.splat { 1 } else { self.elements as usize };
            if kept == 0 { &[][..] } else { std::slice::from_raw_parts(first, kept * bytes) }
        };
        let mut buffer = vec![0u8; source.len().checked_mul(bytes)?];
        for (slot, from) in buffer.chunks_exact_mut(bytes).zip(source) {
            if let Some(k) = from {
                let start = if self.splat { 0 } else { k * bytes };
                slot.copy_from_slice(&data[start..start + bytes]);
            }
        }
        // SAFETY: the type is alive and shaped and its sizes are known; the buffer has the bytes of all its elements,
        // which MLIR copies. The result is null where MLIR refuses the buffer.
        unsafe {
            let made = sys::mlirDenseElementsAttrRawBufferGet(t.to_raw(), buffer.len(), buffer.as_ptr().cast());
            Attribute::from_option_raw(made)
        }
    }
}
