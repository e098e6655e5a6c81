//! The test whether a tensor moves when its type changes.
//!
//! From `tensor<8x128xf32>` the transpose to `tensor<128x8xf32, #layout.tiled<{0,1}>>` is free, and the one to
//! `tensor<128x8xf32>` moves. The types give the shapes and layouts, and a tensor without an encoding is row-major;
//! [`::tensor_layout::analysis::movement()`] does the rest.

use crate::element::{alike, bits, not_a_number, stored_bits};
use crate::imports::shape;
use crate::values::{layout, tiled};
use ::tensor_layout::analysis::{self, Movement};
use ::tensor_layout::operations::{Array, Operation, Shape};
use ::tensor_layout::tiled::Layout;
use melior::ir::Type;
use melior::ir::r#type::{RankedTensorType, ShapedTypeLike};

/// Whether a change of a tensor's type moves it: a transpose, where dimension `k` of the result is dimension
/// `permutation[k]` of the operand, or else a change with its elements in the same row-major order, as in a reshape or
/// a change of only the layout.
///
/// # Errors
/// Types that are not tensors of static sizes without an encoding or with `#layout.tiled`, elements of different types,
/// and those of [`analysis::movement()`].
pub fn movement(from: Type, to: Type, permutation: Option<&[i64]>) -> Result<Movement, String> {
    let [operand, result] = [array(from)?, array(to)?];
    let elements = [element(from)?, element(to)?];
    if elements[0] != elements[1] {
        return Err(format!("expected the same element type, found '{}' and '{}'", elements[0], elements[1]));
    }
    let operation = match permutation {
        None => Operation::Reshape,
        Some(dims) => {
            let dim = |dim: &i64| usize::try_from(*dim).map_err(|_| format!("expected a dimension, found {dim}"));
            Operation::Transpose { permutation: dims.iter().map(dim).collect::<Result<_, _>>()? }
        }
    };
    analysis::movement(&operation, &Shape::Array(operand), &Shape::Array(result)).map_err(|error| error.message)
}

fn element(of: Type) -> Result<Type, String> {
    let tensor = RankedTensorType::try_from(of).map_err(|_| format!("expected a ranked tensor, found '{of}'"))?;
    Ok(tensor.element())
}

/// The array of a tensor. The type of its elements is any of as many bits.
fn array(of: Type) -> Result<Array, String> {
    let element = element(of)?;
    let sizes = shape(of).and_then(|sizes| sizes.into_iter().collect::<Option<Vec<i64>>>());
    let sizes = sizes.ok_or_else(|| format!("expected static sizes, found '{of}'"))?;
    let own = match layout(of) {
        None => Layout::row_major(sizes.len()),
        Some(encoding) => {
            tiled(encoding).ok_or_else(|| format!("expected no encoding or #layout.tiled, found {encoding}"))?
        }
    };
    let bits = bits(element).ok_or_else(|| not_a_number(&own.to_string(), element))?;
    let known = alike(bits).or_else(|| alike(stored_bits(bits)));
    let known = known.ok_or_else(|| format!("expected elements of at most 16 bytes, found '{element}'"))?;
    Array::new(known, &sizes, own).map_err(|error| error.message)
}
