//! The bits of an element.

use crate::imports::complex_element;
use melior::ir::{Type, TypeLike, r#type::IntegerType};

/// The bits of a number type; an index counts as 64.
pub fn bits(element: Type) -> Option<i64> {
    if let Ok(integer) = IntegerType::try_from(element) {
        Some(integer.width().into())
    } else if element.is_index() {
        Some(64)
    } else if element.is_float() {
        Some(element.float_width().into())
    } else if element.is_complex() {
        bits(complex_element(element)).map(|bits| 2 * bits)
    } else {
        None
    }
}
