//! Operations whose result elements each depend on many elements: the dispatch to their functions.

use super::scan::Scan;
use super::solve::{cholesky, triangular};
use super::{batch_norm, bits, fft, ragged, random, scan, select_and_scatter, shapes, solve, sort};
use crate::builder::Builder;
use crate::tensor::{ImportResult, Tensor};
use minijinja::context;
use tensor_layout::hlo::Instruction;
use tensor_layout::operations::Algorithm;

/// Writes an operation on lines, windows, features or matrices.
///
/// # Errors
/// The operation has no counterpart on elements of these types.
pub fn algorithm(
    b: &mut Builder,
    i: &Instruction,
    algorithm: &Algorithm,
    ins: &[Tensor],
    outs: Vec<Tensor>,
) -> ImportResult<Vec<Tensor>> {
    match algorithm {
        Algorithm::Sort { dim } => sort::sort(b, i, *dim, ins, outs, None),
        Algorithm::TopK { .. } => sort::top(b, i.attribute("largest") != Some("false"), ins, outs, None),
        Algorithm::Joined => Ok(vec![bits::joined(b, &ins[0], &outs[0])?]),
        Algorithm::SelectAndScatter { window } => {
            Ok(vec![select_and_scatter::select_and_scatter(b, i, window, ins, &outs[0])?])
        }
        Algorithm::BatchNormTraining { feature } => batch_norm::training(b, i, *feature, ins, outs),
        Algorithm::BatchNormInference { feature } => Ok(vec![batch_norm::inference(b, i, *feature, ins, &outs[0])?]),
        Algorithm::BatchNormGrad { feature } => batch_norm::gradient(b, i, *feature, ins, outs),
        Algorithm::Fft { kind, lengths } => Ok(vec![fft::fft(b, *kind, lengths, &ins[0], &outs[0])?]),
        Algorithm::Cholesky { lower } => Ok(vec![cholesky(b, *lower, &ins[0], &outs[0])?]),
        Algorithm::CholeskyInPlace { lower } => solve::cholesky_in_place(b, *lower, &ins[0], &outs),
        Algorithm::TriangularSolve { left, lower, transposed, unit } => {
            let adjoint = i.attribute("transpose_a") == Some("ADJOINT");
            Ok(vec![triangular(b, context! { left, lower, transposed, adjoint, unit }, ins, &outs[0])?])
        }
        Algorithm::RandomBits => random::bits(b, i, &ins[0], outs),
        Algorithm::ScaledDot(dims) => Ok(vec![ragged::scaled_dot(b, dims, ins, &outs[0])?]),
        Algorithm::RaggedDot(dot) => Ok(vec![ragged::ragged_dot(b, dot, ins, &outs[0])?]),
        Algorithm::Scan { dim, inputs, reversed } => {
            let over = Scan { dim: *dim, inputs: *inputs, reversed: *reversed };
            scan::scan(b, i, &over, ins, &outs)
        }
        Algorithm::DynamicReshape => {
            let data = b.precise(&ins[0], &outs[0])?;
            Ok(vec![shapes::reshape(b, &data, &outs[0])])
        }
        Algorithm::DimensionSize { dim } => {
            let size = b.w.constant(&ins[0].sizes[*dim].to_string(), "i32");
            Ok(vec![b.named(&outs[0], &format!("tensor.from_elements {size} : {}", outs[0].ty))])
        }
    }
}
