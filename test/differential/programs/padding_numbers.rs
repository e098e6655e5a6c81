//! Numbers in programs on ragged tiles.

use crate::array::Array;
use crate::element::{Element, F32, F64, Kind};
use layout_reference::choices::Choices;

/// The limit of an element's magnitude that is computed with again, where all numbers are integers.
pub const MOST: f64 = 300.0;

/// A random number for a body or a fill: its text and its magnitude.
pub fn number(rng: &mut Choices, element: Element) -> (String, f64) {
    let infinite = rng.one_in(8);
    let negative = rng.bool();
    match element {
        F32 if infinite => (if negative { "0xFF800000" } else { "0x7F800000" }.into(), 1.0),
        F64 if infinite => (if negative { "0xFFF0000000000000" } else { "0x7FF0000000000000" }.into(), 1.0),
        Element { kind: Kind::Float, .. } => {
            let n = rng.choice(&["0.0", "0.0", "1.0", "2.0"]);
            (if negative { format!("-{n}") } else { n.into() }, 2.0)
        }
        of if infinite => {
            let greatest = (1i64 << (of.bits - 1)) - 1;
            (if negative { -greatest - 1 } else { greatest }.to_string(), MOST)
        }
        _ => (rng.choice(&[0, 0, 1, -1, 2]).to_string(), 2.0),
    }
}

/// The elements of a constant matrix: a splat or random ones; with `powers`, each is a power of two up to sign.
pub fn data(rng: &mut Choices, array: &Array, powers: bool) -> String {
    let number = |rng: &mut Choices| {
        let n = if powers { rng.choice(&[1, -1, 2]) } else { rng.i64(-2..=2) };
        format!("{n}{}", array.element.point())
    };
    if rng.bool() {
        return number(rng);
    }
    let row =
        |rng: &mut Choices| format!("[{}]", (0..array.sizes[1]).map(|_| number(rng)).collect::<Vec<_>>().join(", "));
    format!("[{}]", (0..array.sizes[0]).map(|_| row(rng)).collect::<Vec<_>>().join(", "))
}
