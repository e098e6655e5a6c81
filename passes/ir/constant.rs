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
    let bytes = element_bytes(shape.element).unwrap_or_else(|| panic!("expected elements that are numbers, found {t}"));
    let zeros = vec![0u8; bytes];
    // SAFETY: the type is alive and shaped, its sizes are known, and the buffer has the bytes of one element, which
    // MLIR copies. The result is null where MLIR refuses the buffer.
    let made = unsafe {
        Attribute::from_option_raw(sys::mlirDenseElementsAttrRawBufferGet(t.to_raw(), bytes, zeros.as_ptr().cast()))
    };
    made.unwrap_or_else(|| panic!("expected a type that has zeros, found {t}"))
}

/// The shape of a type with static sizes.
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

/// The bytes of an element in a constant; `None` if elements are no numbers.
pub fn element_bytes(element: Type) -> Option<usize> {
    let raw = element.to_raw();
    // SAFETY: the type is alive, and its part is read only if it is complex.
    unsafe {
        if sys::mlirTypeIsAIndex(raw) {
            Some(8)
        } else if sys::mlirTypeIsAComplex(raw) {
            Some(2 * element_bytes(Type::from_raw(sys::mlirComplexTypeGetElementType(raw)))?)
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
    /// The type of an element.
    pub element: Type<'c>,
}

/// The constant of numbers in an attribute; `None` for any other attribute.
pub fn constant<'c>(attribute: Attribute<'c>) -> Option<Constant<'c>> {
    let raw = attribute.to_raw();
    // SAFETY: the attribute is alive; its type and its splat are read only if it has dense elements.
    unsafe {
        if !sys::mlirAttributeIsADenseElements(raw) {
            return None;
        }
        let Shape { elements, element } = Shape::of(Type::from_raw(sys::mlirAttributeGetType(raw)))?;
        element_bytes(element)?;
        Some(Constant { splat: sys::mlirDenseElementsAttrIsSplat(raw), attribute, elements, element })
    }
}

impl<'c> Constant<'c> {
    /// The same data with another type; `None` unless it has as many elements of the same type.
    pub fn reshaped(&self, t: Type<'c>) -> Option<Attribute<'c>> {
        let fits = Shape::of(t).is_some_and(|to| to.element == self.element && to.elements == self.elements);
        // SAFETY: the constant and the type are alive and have the same elements, and as many.
        fits.then(|| unsafe {
            Attribute::from_raw(sys::mlirDenseElementsAttrReshapeGet(self.attribute.to_raw(), t.to_raw()))
        })
    }

    /// The element of a splat; `None` for other constants.
    pub fn splat_element(&self) -> Option<Attribute<'c>> {
        // SAFETY: the constant is a splat, whose element lives with the context.
        self.splat
            .then(|| unsafe { Attribute::from_raw(sys::mlirDenseElementsAttrGetSplatValue(self.attribute.to_raw())) })
    }

    /// A constant of any shape with this splat's element; `None` if this is no splat, or the type has other elements.
    pub fn resplat(&self, t: Type<'c>) -> Option<Attribute<'c>> {
        let fits = self.splat && Shape::of(t).is_some_and(|to| to.element == self.element);
        // SAFETY: the constant is a splat, whose element fits into the type.
        fits.then(|| unsafe {
            let value = sys::mlirDenseElementsAttrGetSplatValue(self.attribute.to_raw());
            Attribute::from_raw(sys::mlirDenseElementsAttrSplatGet(t.to_raw(), value))
        })
    }

    /// The data in another order: element `k` of the result is element `source[k]`, or zero if that is `None`. `None`
    /// if the type has other elements or another number of them, or a source is out of range.
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
        let (bytes, data) = self.data()?;
        let mut buffer = vec![0u8; source.len().checked_mul(bytes)?];
        for (slot, from) in buffer.chunks_exact_mut(bytes).zip(source) {
            if let Some(k) = from {
                let start = if self.splat { 0 } else { k * bytes };
                slot.copy_from_slice(&data[start..start + bytes]);
            }
        }
        raw_buffer(t, &buffer)
    }

    /// The data in another order, packed into integers of another type from bit `first` on, `bits` for each, lowest
    /// first: element `k` of the result is element `source[k]`, or zero if that is `None`. `None` if the type does
    /// not have the bytes of the result, or a source is out of range.
    pub fn packed(&self, t: Type<'c>, first: usize, bits: usize, source: &[Option<usize>]) -> Option<Attribute<'c>> {
        let to = Shape::of(t)?;
        let size = usize::try_from(to.elements).ok()?.checked_mul(element_bytes(to.element)?)?;
        if source.len().checked_mul(bits)?.checked_add(first)?.div_ceil(8) != size {
            return None;
        }
        let mut buffer = vec![0u8; size];
        for (k, from) in source.iter().enumerate() {
            if let Some(from) = *from {
                put(&mut buffer, first + k * bits, &self.low_bytes(from)?);
            }
        }
        raw_buffer(t, &buffer)
    }

    /// A constant of the type packed from copies of this splat's element, `bits` for each, lowest first; `None` if this
    /// is no splat.
    pub fn packed_splat(&self, t: Type<'c>, bits: usize) -> Option<Attribute<'c>> {
        let mut buffer = vec![0u8; element_bytes(Shape::of(t)?.element)?];
        let value = self.splat.then(|| self.low_bytes(0)).flatten()?;
        (0..buffer.len() * 8 / bits).for_each(|k| put(&mut buffer, k * bits, &value));
        raw_buffer(t, &buffer)
    }

    /// The bytes of an element, lowest first; those of less than a byte with zeros above.
    fn low_bytes(&self, k: usize) -> Option<Vec<u8>> {
        let bits = bits(self.element)? as usize;
        let inside = (k as i64) < self.elements;
        if bits == 1 {
            // SAFETY: the constant's elements are booleans, and `k` is below their number.
            let value =
                unsafe { inside.then(|| sys::mlirDenseElementsAttrGetBoolValue(self.attribute.to_raw(), k as isize)) };
            return Some(vec![value?.into()]);
        }
        let (bytes, data) = self.data()?;
        let start = if self.splat { 0 } else { k.checked_mul(bytes)? };
        let mut value = data.get(start..start.checked_add(bytes)?)?.to_vec();
        if let Some(last) = value.last_mut().filter(|_| !bits.is_multiple_of(8)) {
            *last &= (1 << (bits % 8)) - 1;
        }
        Some(value)
    }

    /// The bytes of an element, and the data: that of each element, or of the only one where all are alike. Not of
    /// booleans, which MLIR packs.
    fn data(&self) -> Option<(usize, &'c [u8])> {
        let bytes = element_bytes(self.element)?;
        let kept = if self.splat { 1 } else { self.elements as usize };
        if kept == 0 {
            return Some((bytes, &[]));
        }
        // SAFETY: the data have `bytes` bytes for each element, or for the only one where all are alike, and live with
        // the context.
        let data = unsafe {
            let first = sys::mlirDenseElementsAttrGetRawData(self.attribute.to_raw()).cast::<u8>();
            std::slice::from_raw_parts(first, kept * bytes)
        };
        Some((bytes, data))
    }
}

/// Adds the bits of a value, lowest byte first, from a bit of the buffer on.
fn put(buffer: &mut [u8], at: usize, value: &[u8]) {
    for (k, byte) in value.iter().enumerate() {
        let [low, high] = (u16::from(*byte) << (at % 8)).to_le_bytes();
        buffer[at / 8 + k] |= low;
        if high != 0 {
            buffer[at / 8 + k + 1] |= high;
        }
    }
}

/// A constant of these bytes; `None` if MLIR refuses them.
fn raw_buffer<'c>(t: Type<'c>, buffer: &[u8]) -> Option<Attribute<'c>> {
    // SAFETY: the type is alive and shaped and its sizes are known; the buffer has the bytes of all its elements, or of
    // one where all are alike, which MLIR copies. The result is null where MLIR refuses the buffer.
    unsafe {
        let made = sys::mlirDenseElementsAttrRawBufferGet(t.to_raw(), buffer.len(), buffer.as_ptr().cast());
        Attribute::from_option_raw(made)
    }
}
