//! Constants of many elements.

use crate::types::bits;
use melior::ir::attribute::AttributeLike;
use melior::ir::{Attribute, Type, TypeLike};
use mlir_sys as sys;

/// The constant of a shaped type whose elements are all zero bits.
pub fn zeros<'c>(t: Type<'c>) -> Attribute<'c> {
    let zeros = [0u8; 64];
    unsafe {
        let element = Type::from_raw(sys::mlirShapedTypeGetElementType(t.to_raw()));
        let zero = if sys::mlirTypeIsAFloat(element.to_raw()) {
            sys::mlirFloatAttrDoubleGet(sys::mlirTypeGetContext(t.to_raw()), element.to_raw(), 0.0)
        } else if bits(element).is_some() || sys::mlirTypeIsAIndex(element.to_raw()) {
            sys::mlirIntegerAttrGet(element.to_raw(), 0)
        } else {
            return Attribute::from_raw(sys::mlirDenseElementsAttrRawBufferGet(t.to_raw(), 16, zeros.as_ptr().cast()));
        };
        Attribute::from_raw(sys::mlirDenseElementsAttrSplatGet(t.to_raw(), zero))
    }
}

/// The elements of a constant, each as an attribute; none where the data are not in the module (resources).
pub struct Constant<'c> {
    /// All elements alike.
    pub splat: bool,
    raw: sys::MlirAttribute,
    element: Type<'c>,
}

/// Looks into a constant of dense elements.
pub fn constant<'c>(attribute: Attribute<'c>) -> Option<Constant<'c>> {
    let raw = attribute.to_raw();
    unsafe {
        if !sys::mlirAttributeIsADenseElements(raw) {
            return None;
        }
        let shaped = sys::mlirAttributeGetType(raw);
        let element = Type::from_raw(sys::mlirShapedTypeGetElementType(shaped));
        Some(Constant { splat: sys::mlirDenseElementsAttrIsSplat(raw), raw, element })
    }
}

impl<'c> Constant<'c> {
    /// The same data with another type that has as many elements.
    pub fn reshaped(&self, t: Type<'c>) -> Attribute<'c> {
        unsafe { Attribute::from_raw(sys::mlirDenseElementsAttrReshapeGet(self.raw, t.to_raw())) }
    }

    /// A constant all of whose elements are this splat's, of any shape.
    pub fn resplat(&self, t: Type<'c>) -> Attribute<'c> {
        unsafe {
            let value = sys::mlirDenseElementsAttrGetSplatValue(self.raw);
            Attribute::from_raw(sys::mlirDenseElementsAttrSplatGet(t.to_raw(), value))
        }
    }

    /// The data in another order: element `k` of the result is element `source[k]`, or zero where there is none.
    pub fn gathered(&self, t: Type<'c>, source: &[Option<usize>]) -> Option<Attribute<'c>> {
        unsafe {
            let raw = self.element.to_raw();
            if sys::mlirTypeIsAInteger(raw) && sys::mlirIntegerTypeGetWidth(raw) == 1 {
                // Booleans are packed in memory; go through the accessors.
                let get = |k: &Option<usize>| {
                    k.is_some_and(|k| sys::mlirDenseElementsAttrGetBoolValue(self.raw, k as isize)).into()
                };
                let values: Vec<i32> = source.iter().map(get).collect();
                let made = sys::mlirDenseElementsAttrBoolGet(t.to_raw(), values.len() as isize, values.as_ptr());
                return Attribute::from_option_raw(made);
            }
            let bytes = if sys::mlirTypeIsAIndex(raw) {
                8
            } else if sys::mlirTypeIsAComplex(raw) {
                let part = Type::from_raw(sys::mlirComplexTypeGetElementType(raw));
                2 * (bits(part)? as usize).div_ceil(8)
            } else {
                (bits(self.element)? as usize).div_ceil(8)
            };
            let data = sys::mlirDenseElementsAttrGetRawData(self.raw).cast::<u8>();
            let mut buffer = vec![0u8; source.len() * bytes];
            for (slot, from) in buffer.chunks_exact_mut(bytes).zip(source) {
                if let Some(k) = from {
                    std::ptr::copy_nonoverlapping(data.add(k * bytes), slot.as_mut_ptr(), bytes);
                }
            }
            let made = sys::mlirDenseElementsAttrRawBufferGet(t.to_raw(), buffer.len(), buffer.as_ptr().cast());
            Attribute::from_option_raw(made)
        }
    }
}
