//! The report on a shape or a layout: a line for each fact, then a picture.
//!
//! ```text
//! shape     f32[3,5]{1,0:T(2,2)}
//! logical   15 elements, 60 bytes
//! padded    24 elements, 96 bytes
//! waste     36 bytes, 37.5 %
//! ```
//!
//! A tuple has a report for each array. [`parse`] distinguishes the two notations: a text that begins with a shape of
//! XLA, and a TensorLayout.

use crate::numbers::counted;
use crate::{maps, places, text_picture};
use std::fmt::Write;
use tensor_layout::conversion::to_tensor_layout;
use tensor_layout::notations::read;
use tensor_layout::operations::{Array, Shape};
use tensor_layout::places::is_tensor_layout;
use tensor_layout::places::{Misplaced, Placement};
use tensor_layout::text::Error;
use tensor_layout::tiled::{Expansion, memory_space};

/// A text in one of the two notations.
pub enum Subject {
    /// A shape, as XLA writes it.
    Shape(Shape),
    /// A TensorLayout, whose parts give its sizes.
    Places(Box<Placement>),
}

/// Reads a shape or a TensorLayout.
pub fn parse(text: &str) -> Result<Subject, Misplaced> {
    match is_tensor_layout(text) {
        true => Placement::parse(text).map(|placement| Subject::Places(Box::new(placement))),
        false => Ok(Subject::Shape(Shape::parse(text)?)),
    }
}

/// The array of a shape, with its sizes; `None` for tuples, `token`, `opaque` and unbounded sizes.
pub fn laid_out(shape: &Shape) -> Option<(&Array, Vec<i64>)> {
    match shape {
        Shape::Array(array) | Shape::Buffer(array) if array.element.is_data() => Some((array, array.sizes()?)),
        _ => None,
    }
}

/// The TensorLayout of a text in any notation, on its sizes.
pub fn placement(text: &str) -> Result<Placement, Error> {
    read(text)?.placement()
}

/// The report on a text.
pub fn report(text: &str) -> Result<String, Error> {
    match parse(text).map_err(|misplaced| misplaced.error)? {
        Subject::Places(placement) => places::report(&placement),
        Subject::Shape(shape) => {
            let mut out = String::new();
            write(&mut out, &shape).map_err(|e| in_sizes(text, e))?;
            Ok(out)
        }
    }
}

/// The error with a place: without one it is about the sizes, after the first bracket of the text.
pub fn in_sizes(text: &str, error: Error) -> Error {
    let at = error.at.or_else(|| text.find('[').map(|k| k + 1));
    error.with_offset(at)
}

fn write(out: &mut String, shape: &Shape) -> Result<(), Error> {
    // A `String` takes all that is written to it.
    let mut line = |name: &str, value: String| writeln!(out, "{name:<9} {value}").unwrap();
    line("shape", shape.to_string());
    if let Shape::Tuple(elements) = shape {
        line("elements", elements.len().to_string());
        for element in elements {
            if !matches!(element, Shape::Tuple(_)) {
                out.push('\n');
                write(out, element)?;
            }
        }
        return Ok(());
    }
    let Some((array, sizes)) = laid_out(shape) else { return Ok(()) };
    let expansion = Expansion::new(&sizes, &array.layout)?;
    let (logical, padded) = (expansion.logical_bytes(array.element)?, expansion.padded_bytes(array.element)?);
    let elements = |n: i64, bytes: i64| format!("{}, {}", counted(n, "element"), counted(bytes, "byte"));
    line("logical", elements(expansion.logical_elements()?, logical));
    line("padded", elements(expansion.allocated_elements(), padded));
    if expansion.is_split_across_memories() {
        line("waste", "counted in no piece: the layout is cut across memories, padded is the largest".to_string());
    } else {
        let percent = if padded == 0 { 0.0 } else { (padded - logical) as f64 * 100.0 / padded as f64 };
        line("waste", format!("{}, {percent:.1} %", counted(padded - logical, "byte")));
    }
    line("expanded", format!("{:?}", expansion.sizes()));
    line("strides", format!("{:?}", expansion.strides()));
    line("space", space(array.layout.memory_space));
    if !expansion.is_split_across_memories() {
        let (map, offset_map) = maps::texts(&expansion);
        line("map", map);
        line("offset", offset_map);
    }
    let parts = to_tensor_layout(&expansion, &array.layout);
    line("as", parts.map_or_else(|why| format!("no TensorLayout: {why}"), |parts| parts.to_string()));
    let picture = text_picture::picture(&expansion, &array.layout);
    if !picture.is_empty() {
        out.push_str("\noffsets\n");
        out.push_str(&picture);
    }
    Ok(())
}

fn space(number: u8) -> String {
    let named = memory_space::NAMED.iter().find(|(_, named)| *named == number);
    format!("{number} ({})", named.map_or("device", |(name, _)| name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_picture_shows_padding() {
        let report = report("f32[3,5]{1,0:T(2,2)}").unwrap();
        let expected = "\
shape     f32[3,5]{1,0:T(2,2)}
logical   15 elements, 60 bytes
padded    24 elements, 96 bytes
waste     36 bytes, 37.5 %
expanded  [2, 3, 2, 2]
strides   [12, 4, 2, 1]
space     0 (hbm)
";
        let picture = "
offsets
          0  1  2  3  4
     0    0  1  4  5  8  .
     1    2  3  6  7 10  .
     2   12 13 16 17 20  .
          .  .  .  .  .  .
";
        assert!(report.starts_with(expected), "{report}");
        assert!(report.ends_with(picture), "{report}");
    }

    #[test]
    fn every_kind_of_shape_has_a_report() {
        for text in [
            "f32[]",
            "f32[0,3]",
            "token[]",
            "(f32[2], (s8[]))",
            "b(s8[4]{0:T(3)})",
            "f32[?]",
            "f32[6]{0:SC(0:1)}",
            "f32[2,3,70,90]{3,2,1,0:T(8,128)}",
            "f32[99999,1,2]",
            "s32[1]{0:T(*,2)L(7)}",
        ] {
            assert!(report(text).unwrap().starts_with("shape     "), "{text}");
        }
        assert_eq!(report("((16))").unwrap_err().at, Some(2));
        assert_eq!(report("((f32[)").unwrap_err().at, Some(6));
    }
}
