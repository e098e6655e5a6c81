//! Layouts as they are written in a text that may be wrong or unfinished.
//!
//! Only brackets are looked at, in a window before the cursor, so that the time does not grow with the file.

use tensor_layout::element::ElementType;
use tensor_layout::tiled::{Expansion, Layout};

/// How every attribute of the dialect begins.
pub const ATTRIBUTE: &str = "#layout.";

/// The most bytes before the cursor that are looked at, and the most of a type.
pub const WINDOW: usize = 1 << 16;

/// The deepest brackets of a type that is explained: MLIR's parser calls itself for each.
pub const MAX_DEPTH: usize = 64;

/// The sizes of a type, `None` where they are dynamic, and its element, where it is one that the maths knows.
#[derive(Debug, PartialEq)]
pub struct Shape {
    pub sizes: Vec<Option<i64>>,
    pub element: Option<ElementType>,
}

/// The bytes of a text up to the `>` that closes its first bracket; `None` where brackets do not match, nest too deep, or
/// close too late.
pub fn length(text: &str) -> Option<usize> {
    let (mut depth, mut before) = (0usize, ' ');
    for (at, c) in text.char_indices() {
        match c {
            _ if at > WINDOW => return None,
            '>' if before == '-' => {}
            '<' | '(' | '[' | '{' if depth == MAX_DEPTH => return None,
            '<' | '(' | '[' | '{' => depth += 1,
            '>' | ')' | ']' | '}' => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return (c == '>').then_some(at + 1);
                }
            }
            _ => {}
        }
        before = c;
    }
    None
}

/// Where the window before an offset begins.
pub fn window(text: &str, offset: usize) -> usize {
    (offset.saturating_sub(WINDOW)..=offset).find(|at| text.is_char_boundary(*at)).unwrap_or(offset)
}

/// What is written of the attribute that the offset is in, behind `#layout.`; `None` where it is in none.
pub fn open_attribute(text: &str, offset: usize) -> Option<&str> {
    let before = &text[window(text, offset)..offset];
    let typed = &before[before.rfind(ATTRIBUTE)? + ATTRIBUTE.len()..];
    let name = typed.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(typed.len());
    let open = match typed[name..].trim_start().strip_prefix('<') {
        Some(inner) => !inner.contains('\n') && length(&typed[name..]).is_none(),
        None => name == typed.len(),
    };
    open.then_some(typed)
}

/// The shape of the type in which an attribute begins at this offset.
pub fn shape_before(text: &str, offset: usize) -> Option<Shape> {
    let before = &text[window(text, offset)..offset];
    let start = before.rfind("tensor<").max(before.rfind("memref<"))?;
    let (shape, between) = before[start + "tensor<".len()..].split_once(',')?;
    // Another type or another line is between.
    if between.contains(['>', '\n']) || shape.contains('\n') {
        return None;
    }
    let mut sizes = Vec::new();
    let mut rest = shape.trim();
    while rest.starts_with(|c: char| c.is_ascii_digit() || c == '?') {
        let (size, after) = rest.split_once('x')?;
        sizes.push(if size == "?" { None } else { Some(size.parse().ok()?) });
        rest = after;
    }
    Some(Shape { sizes, element: element(rest) })
}

/// The element type of this name in MLIR.
fn element(name: &str) -> Option<ElementType> {
    let own = match name {
        "i1" => "pred".into(),
        "index" => "s64".into(),
        "complex<f32>" => "c64".into(),
        "complex<f64>" => "c128".into(),
        name => match name.strip_prefix("ui") {
            Some(bits) => format!("u{bits}"),
            None => name.replacen("si", "s", 1).replacen('i', "s", usize::from(name.starts_with('i'))).to_lowercase(),
        },
    };
    ElementType::from_name(&own).filter(|element| element.is_data())
}

/// The padded bytes and their waste, for elements of so many bits, each in whole bytes unless the layout says otherwise.
pub fn padding(sizes: &[i64], layout: &Layout, bits: i64) -> Option<String> {
    let expansion = Expansion::new(sizes, layout).ok()?;
    let bits = if layout.element_bits == 0 { (bits + 7) / 8 * 8 } else { layout.element_bits };
    Some(waste(expansion.logical_elements().ok()?, expansion.allocated_elements(), Some(bits)))
}

/// `96 bytes, 37.5 % waste`; in elements where their size is not known.
pub fn waste(logical: i64, padded: i64, bits: Option<i64>) -> String {
    let percent = percent(logical, padded);
    match bits {
        Some(bits) => format!("{} bytes, {percent}", (i128::from(padded) * i128::from(bits) + 7) / 8),
        None => format!("{padded} elements, {percent}"),
    }
}

/// `37.5 % waste`: the share of padding in all.
pub fn percent(logical: i64, padded: i64) -> String {
    let waste = if padded == 0 { 0.0 } else { (padded - logical) as f64 * 100.0 / padded as f64 };
    format!("{waste:.1} % waste")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_are_read() {
        let shape = |text: &str| shape_before(text, text.len());
        let read = |sizes: &[Option<i64>], element| Some(Shape { sizes: sizes.into(), element });
        assert_eq!(shape("tensor<3x?xbf16, "), read(&[Some(3), None], Some(ElementType::BF16)));
        assert_eq!(shape("memref<f8E4M3FN, "), read(&[], Some(ElementType::F8E4M3FN)));
        assert_eq!(shape("memref<2xi4,"), read(&[Some(2)], Some(ElementType::S4)));
        assert_eq!(shape("memref<2xui16,"), read(&[Some(2)], Some(ElementType::U16)));
        assert_eq!(shape("memref<2xi1,"), read(&[Some(2)], Some(ElementType::Pred)));
        assert_eq!(shape("memref<2xvector<4xf32>,"), read(&[Some(2)], None));
        for none in
            ["", "tensor<", "tensor<3x", "tensor<3,", "tensor<99999999999999999999xf32, ", "tensor<2xf32, #a>, "]
        {
            assert_eq!(shape(none), None, "{none}");
        }
    }
}
