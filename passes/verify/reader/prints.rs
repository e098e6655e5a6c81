//! The output of `vector.print`: the text around elements, and the elements of a vector one by one.
//!
//! A vector of two rows is written as `( ( a, b ), ( c, d ) )`. `--convert-vector-to-scf` makes a print of each element and of
//! each text between them, so that both write the same.

use crate::reader::lanes;
use crate::reader::mlir::{self, Op, attribute};
use crate::reader::model::{PrintPiece, Slot, Type};

/// The pieces of a print; none where it is not known what it writes.
pub fn pieces(op: Op, operand: Option<(Slot, &Type)>) -> Option<Vec<PrintPiece>> {
    let mut all = vec![];
    if let Some((slot, r#type)) = operand {
        let (sizes, _) = lanes::shape(r#type)?;
        let is_vector = matches!(r#type, Type::Shaped { .. });
        nested(&sizes, is_vector, &mut 0, &mut all, slot);
    }
    if let Some(text) = attribute(op, "stringLiteral") {
        all.push(PrintPiece::Text(mlir::text(text)?));
        return Some(all);
    }
    let said = attribute(op, "punctuation").map(|of| of.to_string());
    let after = match said.as_deref().map(|text| text.trim_start_matches("#vector.punctuation")) {
        None | Some("<newline>") => "\n",
        Some("<comma>") => ", ",
        Some("<open>") => "( ",
        Some("<close>") => " )",
        Some("<no_punctuation>") => "",
        Some(_) => return None,
    };
    all.push(PrintPiece::Text(after.to_owned()));
    Some(all)
}

/// The elements of a vector, with brackets around each dimension; a vector without dimensions has them, too.
fn nested(sizes: &[usize], is_vector: bool, lane: &mut usize, all: &mut Vec<PrintPiece>, of: Slot) {
    let text = |text: &str| PrintPiece::Text(text.to_owned());
    if is_vector {
        all.push(text("( "));
    }
    match sizes.split_first() {
        Some((size, inner)) => (0..*size).for_each(|k| {
            if k > 0 {
                all.push(text(", "));
            }
            nested(inner, !inner.is_empty(), lane, all, of);
        }),
        None => {
            all.push(PrintPiece::Element(of, *lane));
            *lane += 1;
        }
    }
    if is_vector {
        all.push(text(" )"));
    }
}
