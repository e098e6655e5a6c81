//! Comparison of shapes as in HLO, and their text in messages.
//!
//! Layouts are not compared; they are the compiler's choice. A size known only at run time fits any. Like XLA, the
//! rules accept floats of mixed precision.

use crate::element::ElementType;
use crate::operations::shape::{Array, Dim, Shape};
use crate::operations::sizes::{Size, Sizes};
use crate::text::{Cursor, Error};
use crate::tiled::layout::Layout;

/// Whether two shapes are equal except for layouts.
pub(super) fn fits(a: &Shape, b: &Shape) -> bool {
    agree(a, b, &|a, b| a == b)
}

/// Like [`fits`], with another comparison of element types. Recursion is as deep as the shapes.
pub(super) fn agree(a: &Shape, b: &Shape, elements: &dyn Fn(ElementType, ElementType) -> bool) -> bool {
    match (a, b) {
        (Shape::Tuple(a), Shape::Tuple(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| agree(a, b, elements)),
        (Shape::Array(a), Shape::Array(b)) | (Shape::Buffer(a), Shape::Buffer(b)) => {
            elements(a.element, b.element) && Sizes::of(a).fits(&Sizes::of(b))
        }
        _ => false,
    }
}

/// Whether one type is accepted in place of the other: floats may differ in precision.
pub(super) fn alike(a: ElementType, b: ElementType) -> bool {
    a == b || a.is_float() && b.is_float()
}

/// The result type that XLA infers for these operand types: complex numbers before floats before integers, then the
/// largest range, then the most bits. `bf16` has a larger range than `f16`.
pub(super) fn finest(elements: &[ElementType]) -> ElementType {
    let range = |element: &ElementType| match element {
        ElementType::F64 | ElementType::C128 => 11,
        ElementType::F32 | ElementType::BF16 | ElementType::C64 => 8,
        ElementType::F16 => 5,
        // The bits of the exponent are in the name, as in `f8e4m3fn`.
        small if small.is_float() => {
            small.name().split_once('e').and_then(|(_, rest)| rest[..1].parse().ok()).unwrap_or(0)
        }
        _ => 0,
    };
    let key = |e: &ElementType| (e.is_complex(), e.is_float(), range(e), e.bits(), e.is_signed());
    elements.iter().copied().reduce(|a, b| if key(&b) > key(&a) { b } else { a }).unwrap_or(ElementType::Pred)
}

/// An array without a layout.
pub(super) fn array(element: ElementType, sizes: &[Size]) -> Shape {
    let dims = sizes.iter().map(|size| size.map_or(Dim::Unbounded, Dim::Exact)).collect::<Vec<_>>();
    Shape::Array(Array { element, layout: Layout::row_major(dims.len()), dims })
}

/// A scalar.
pub(super) fn scalar(element: ElementType) -> Shape {
    array(element, &[])
}

/// One shape itself, several as a tuple.
pub(super) fn together(mut shapes: Vec<Shape>) -> Shape {
    if shapes.len() == 1 { shapes.remove(0) } else { Shape::Tuple(shapes) }
}

/// Parses `{f32[2]{0}, s32[]}`, each shape with its position.
pub(super) fn list(cursor: &mut Cursor) -> Result<Vec<(Shape, usize)>, Error> {
    cursor.expect("{", "`{` to open the shapes")?;
    let mut shapes = Vec::new();
    while !cursor.eat("}") {
        if !shapes.is_empty() {
            cursor.expect(",", "`,` or `}` to close the shapes")?;
        }
        let at = cursor.at();
        shapes.push((Shape::read(cursor, 0)?, at));
    }
    Ok(shapes)
}

/// The text of a shape in messages: without layouts, and not too long.
pub(super) fn plain(shape: &Shape) -> String {
    const LONGEST: usize = 100;
    fn write(shape: &Shape, text: &mut String) {
        match shape {
            _ if text.len() > LONGEST => {}
            Shape::Tuple(parts) => {
                for (i, part) in parts.iter().enumerate() {
                    text.push_str(if i == 0 { "(" } else { ", " });
                    write(part, text);
                }
                text.push_str(if parts.is_empty() { "()" } else { ")" });
            }
            Shape::Buffer(array) | Shape::Array(array) => {
                let dims: Vec<_> = array.dims.iter().map(Dim::to_string).collect();
                let inner = format!("{}[{}]", array.element, dims.join(","));
                text.push_str(&if matches!(shape, Shape::Buffer(_)) { format!("b({inner})") } else { inner });
            }
        }
    }
    let mut text = String::new();
    write(shape, &mut text);
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}..", &text[..end]),
        None => text,
    }
}
