//! Constants of many elements.
//!
//! MLIR keeps the elements of a constant as bytes, each element in whole bytes, and a constant whose elements are all
//! alike (a *splat*) as one element; booleans of `dense` are packed, eight in a byte. The data of a `dense_resource` are
//! those of the module's resource of that name, where it has one. Constants of strings are not looked into.

use crate::types::bits;
use melior::ir::attribute::AttributeLike;
use melior::ir::{Attribute, Type, TypeLike};
use mlir_sys as sys;
use std::borrow::Cow;

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
    // SAFETY: the type is alive.
    unsafe {
        if sys::mlirTypeIsAIndex(raw) {
            Some(8)
        } else if let Some(part) = complex_part(element) {
            Some(2 * element_bytes(part)?)
        } else {
            Some((bits(element)? as usize).div_ceil(8))
        }
    }
}

/// The type of the two parts of a complex number; `None` for any other type.
fn complex_part(element: Type) -> Option<Type> {
    let raw = element.to_raw();
    // SAFETY: the type is alive, and its part is read only if it is complex.
    unsafe { sys::mlirTypeIsAComplex(raw).then(|| Type::from_raw(sys::mlirComplexTypeGetElementType(raw))) }
}

/// The numbers of a constant.
pub struct Constant<'c> {
    /// All elements alike.
    pub splat: bool,
    attribute: Attribute<'c>,
    elements: i64,
    /// The type of an element.
    pub element: Type<'c>,
    /// The bytes of an element.
    bytes: usize,
    /// The bytes of each element, or of the only one of a splat; or packed booleans.
    data: &'c [u8],
    packed: bool,
}

/// The constant of numbers in an attribute; `None` for any other attribute, and for a resource that the module lacks or
/// that has another number of bytes.
pub fn constant<'c>(attribute: Attribute<'c>) -> Option<Constant<'c>> {
    let raw = attribute.to_raw();
    // SAFETY: the attribute is alive; its type is read only if it has elements.
    let (is_dense, t) = unsafe {
        let is_dense = sys::mlirAttributeIsADenseElements(raw);
        if !is_dense && !sys::mlirAttributeIsADenseResourceElements(raw) {
            return None;
        }
        (is_dense, Type::from_raw(sys::mlirAttributeGetType(raw)))
    };
    let Shape { elements, element } = Shape::of(t)?;
    let bytes = element_bytes(element)?;
    // SAFETY: the attribute has dense elements where this is asked.
    let splat = is_dense && unsafe { sys::mlirDenseElementsAttrIsSplat(raw) };
    let number = if splat { elements.min(1) } else { elements } as usize;
    let (unpacked, packed) = (number.checked_mul(bytes)?, number.div_ceil(8));
    let is_boolean = bits(element) == Some(1);
    let data = match layout_dialect::resource_data(attribute) {
        Some(data) => Some(data).filter(|data| data.len() == unpacked || is_boolean && data.len() == packed)?,
        None if !is_dense => return None,
        None if number == 0 => &[],
        // SAFETY: the data have as many bytes, and live with the context.
        None => unsafe {
            let first = sys::mlirDenseElementsAttrGetRawData(raw).cast::<u8>();
            std::slice::from_raw_parts(first, if is_boolean { packed } else { unpacked })
        },
    };
    let packed = is_boolean && (is_dense || data.len() < unpacked);
    Some(Constant { splat, attribute, elements, element, bytes, data, packed })
}

/// Whether an attribute is a `dense_resource`.
pub fn is_resource(attribute: Attribute) -> bool {
    // SAFETY: the attribute is alive.
    unsafe { sys::mlirAttributeIsADenseResourceElements(attribute.to_raw()) }
}

impl<'c> Constant<'c> {
    /// The same data with another type; `None` unless it has as many elements of the same type.
    pub fn reshaped(&self, t: Type<'c>) -> Option<Attribute<'c>> {
        let fits = Shape::of(t).is_some_and(|to| to.element == self.element && to.elements == self.elements);
        // SAFETY: the constant and the type are alive and have the same elements, and as many.
        let dense = || unsafe {
            Attribute::from_raw(sys::mlirDenseElementsAttrReshapeGet(self.attribute.to_raw(), t.to_raw()))
        };
        fits.then(|| layout_dialect::resource_with_type(self.attribute, t).unwrap_or_else(dense))
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

    /// The data in another order: each element of the result is that of a number, or zero if that is `None`. `None` if the
    /// type has other elements or another number of them, or a number is out of range.
    pub fn gathered(&self, t: Type<'c>, source: impl Iterator<Item = Option<usize>>) -> Option<Attribute<'c>> {
        let to = Shape::of(t).filter(|to| to.element == self.element)?;
        let inside = |k: Option<usize>| k.is_none_or(|k| (k as i64) < self.elements).then_some(k);
        let mut source = source.map(inside);
        if bits(self.element) == Some(1) {
            let values = source.map(|k| Some(k?.is_some_and(|k| self.boolean(k)).into()));
            let values: Vec<i32> = values.collect::<Option<_>>()?;
            if values.len() as i64 != to.elements {
                return None;
            }
            // SAFETY: the type has elements that are booleans, as many as the values, which MLIR copies.
            return unsafe {
                let made = sys::mlirDenseElementsAttrBoolGet(t.to_raw(), values.len() as isize, values.as_ptr());
                Attribute::from_option_raw(made)
            };
        }
        let mut buffer = vec![0u8; usize::try_from(to.elements).ok()?.checked_mul(self.bytes)?];
        for slot in buffer.chunks_exact_mut(self.bytes) {
            if let Some(k) = source.next()?? {
                slot.copy_from_slice(self.bytes_of(k));
            }
        }
        source.next().is_none().then(|| raw_buffer(t, &buffer))?
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

    /// The elements as LLVM has them in memory: each in a power of two of bytes, lowest first, with zeros above its bits;
    /// complex numbers as two. `None` for a splat, and for elements whose size in memory depends on the machine.
    pub fn in_memory(&self) -> Option<Cow<'c, [u8]>> {
        let part = complex_part(self.element).unwrap_or(self.element);
        let (bits, bytes) = (bits(part).unwrap_or(64) as usize, element_bytes(part)?);
        let size = bytes.next_power_of_two();
        if self.splat || !matches!(bytes, 1..=8 | 16) {
            return None;
        }
        if self.packed {
            return Some((0..self.elements as usize).map(|k| self.boolean(k).into()).collect());
        }
        if bits == 8 * size {
            return Some(Cow::Borrowed(self.data));
        }
        let mut memory = vec![0u8; self.data.len() / bytes * size];
        for (slot, value) in memory.chunks_exact_mut(size).zip(self.data.chunks_exact(bytes)) {
            slot[..bytes].copy_from_slice(value);
            slot[bytes - 1] &= u8::MAX >> (8 * bytes - bits);
        }
        Some(Cow::Owned(memory))
    }

    /// The bytes of an element, lowest first; those of less than a byte with zeros above.
    fn low_bytes(&self, k: usize) -> Option<Vec<u8>> {
        let bits = bits(self.element)? as usize;
        if k as i64 >= self.elements {
            return None;
        }
        if bits == 1 {
            return Some(vec![self.boolean(k).into()]);
        }
        let mut value = self.bytes_of(k).to_vec();
        if let Some(last) = value.last_mut().filter(|_| !bits.is_multiple_of(8)) {
            *last &= (1 << (bits % 8)) - 1;
        }
        Some(value)
    }

    /// The bytes of an element that is no packed boolean.
    fn bytes_of(&self, k: usize) -> &'c [u8] {
        let start = if self.splat { 0 } else { k * self.bytes };
        &self.data[start..start + self.bytes]
    }

    /// An element that is a boolean.
    fn boolean(&self, k: usize) -> bool {
        let k = if self.splat { 0 } else { k };
        if self.packed { self.data[k / 8] >> (k % 8) & 1 == 1 } else { self.data[k] & 1 == 1 }
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
