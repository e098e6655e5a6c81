//! Arithmetic on floats and complex numbers by one name.

use crate::syntax::element_type;
use crate::writer::Writer;
use tensor_layout::element::ElementType;

/// Floats or complex numbers of one type.
#[derive(Clone)]
pub struct Field {
    pub element: ElementType,
    /// The type's text.
    pub of: String,
}

impl Field {
    /// The arithmetic of a type; `None` for integers.
    pub fn new(element: ElementType) -> Option<Field> {
        let of = element_type(element)?;
        (element.is_float() || element.is_complex()).then_some(Field { element, of })
    }

    /// `add`, `sub`, `mul` or `div` of two numbers.
    pub fn on(&self, w: &mut Writer, name: &str, a: &str, b: &str) -> String {
        let of = &self.of;
        match self.element.is_complex() {
            true => w.op(&format!("complex.{name} {a}, {b} : {of}")),
            false => w.op(&format!("arith.{name}f {a}, {b} : {of}")),
        }
    }

    /// The square root.
    pub fn sqrt(&self, w: &mut Writer, a: &str) -> String {
        let dialect = if self.element.is_complex() { "complex" } else { "math" };
        w.op(&format!("{dialect}.sqrt {a} : {}", self.of))
    }

    /// The complex conjugate of the number.
    pub fn conjugate(&self, w: &mut Writer, a: &str) -> String {
        if self.element.is_complex() { w.op(&format!("complex.conj {a} : {}", self.of)) } else { a.to_string() }
    }
}

/// The sum plus the product of two factors, all of type `to`, whose text is `of`.
pub fn added(w: &mut Writer, sum: &str, factors: &[String; 2], to: ElementType, of: &str) -> String {
    let (multiply, add) = match to {
        ElementType::Pred => ("arith.andi", "arith.ori"),
        _ if to.is_complex() => ("complex.mul", "complex.add"),
        _ if to.is_float() => ("arith.mulf", "arith.addf"),
        _ => ("arith.muli", "arith.addi"),
    };
    let product = w.same(multiply, factors, of);
    w.same(add, &[sum.to_string(), product], of)
}
