//! The bits of element types: the one place that knows them for MLIR's types.
//!
//! | type | bits |
//! |---|---|
//! | `i7`, `bf16`, `f8E4M3FN` | 7, 16, 8: its width |
//! | `index` | 64, as on the machines that lowering is for |
//! | `complex<f32>` | 64: twice those of its part |
//! | `vector<4xf32>`, `!llvm.ptr`, `memref<2xf32>` | unknown |

use crate::imports::complex_element;
use ::tensor_layout::element::ElementType;
use melior::ir::{Type, TypeLike, r#type::IntegerType};

/// The bits of a number type, which is an integer, index, floating-point or complex type; `None` for any other type.
pub fn bits(element: Type) -> Option<i64> {
    if let Ok(integer) = IntegerType::try_from(element) {
        Some(integer.width().into())
    } else if element.is_index() {
        Some(64)
    } else if element.is_float() {
        Some(element.float_width().into())
    } else {
        bits(complex_element(element)?).map(|bits| 2 * bits)
    }
}

/// The least bits of an element, for checks of a memory's capacity: [`bits`], a byte if they are
/// unknown, and 1 for `i0`.
pub fn least_bits(element: Type) -> i64 {
    bits(element).map_or(8, |bits| bits.max(1))
}

/// The bits in memory of an element of this width, unless the layout says otherwise: whole bytes.
pub fn stored_bits(bits: i64) -> i64 {
    (bits + 7) / 8 * 8
}

/// An element type of `tensor-layout` with this width, which is all that layouts know of elements; for MLIR's booleans,
/// of one bit, it is `pred`. `None` if there is no such type.
pub fn alike(bits: i64) -> Option<ElementType> {
    // Booleans take a byte, and are no numbers of one bit.
    let alike = |t: &&ElementType| if bits == 1 { **t == ElementType::Pred } else { t.bits() == Some(bits) };
    ElementType::ALL.iter().find(alike).copied()
}

/// The element type of `tensor-layout` that a number type is: by its name, integers without a sign as those with one, else
/// one of its width. `None` if there is no such type.
pub fn named(element: Type) -> Option<ElementType> {
    let bits = bits(element)?;
    let name = match () {
        () if element.is_float() => element.to_string().to_lowercase(),
        () if complex_element(element).is_some() => format!("c{bits}"),
        () if bits != 1 => format!("s{bits}"),
        () => return alike(bits),
    };
    ElementType::from_name(&name).or_else(|| alike(bits))
}

/// The error of a tensor whose layout needs to know the size of its elements.
pub(crate) fn not_a_number(layout: &str, element: Type) -> String {
    format!("layout {layout}: expected an integer, index, floating-point or complex element type, found '{element}'")
}

#[cfg(test)]
mod tests {
    use super::*;
    use melior::Context;

    #[test]
    fn element_types_by_name() {
        let context = Context::new();
        let of = |text| named(Type::parse(&context, text).expect(text)).map(ElementType::name);
        let known = [("f32", "f32"), ("bf16", "bf16"), ("f8E4M3FN", "f8e4m3fn"), ("i8", "s8"), ("i1", "pred")];
        for (text, expected) in known.into_iter().chain([("index", "s64"), ("complex<f32>", "c64"), ("ui16", "s16")]) {
            assert_eq!(of(text), Some(expected), "{text}");
        }
        assert_eq!(of("i7"), None);
    }

    #[test]
    fn bits_of_each_kind_of_type() {
        let context = Context::new();
        let of = |text| bits(Type::parse(&context, text).expect(text));
        let numbers = [("i0", 0), ("i1", 1), ("i7", 7), ("index", 64), ("bf16", 16), ("f8E4M3FN", 8), ("f4E2M1FN", 4)];
        for (text, expected) in numbers {
            assert_eq!(of(text), Some(expected), "{text}");
        }
        for (text, expected) in [("complex<f32>", 64), ("complex<i4>", 8), ("complex<bf16>", 32)] {
            assert_eq!(of(text), Some(expected), "{text}");
        }
        for other in ["vector<4xf32>", "memref<2xf32>", "tuple<>", "none"] {
            assert_eq!(of(other), None, "{other}");
            assert_eq!(least_bits(Type::parse(&context, other).unwrap()), 8, "{other}");
        }
        assert_eq!(least_bits(Type::parse(&context, "i0").unwrap()), 1);
        assert_eq!([0, 1, 8, 9].map(stored_bits), [0, 8, 8, 16]);
    }
}
