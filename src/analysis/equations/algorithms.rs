//! Operations whose result elements each depend on many elements: of a line, a window, a feature, a matrix.

use super::products;
use super::sides::{Equations, Related, Sides};
use super::windows::{Ranges, place};
use crate::analysis::relation::{Direction, Relation};
use crate::operations::operation::{Algorithm, WindowDim};
use crate::text::Error;

/// The equations between an operand and a result: an element of the operand may change the element of the result.
pub fn algorithm(algorithm: &Algorithm, s: &Sides) -> Equations {
    let rank = s.input().len();
    match algorithm {
        // Any element of a line may move to a place, or decide which one does.
        Algorithm::Sort { dim } => linked(s, (0..rank).filter(|k| k != dim).map(|k| (k, k))),
        Algorithm::TopK { .. } => linked(s, (0..rank - 1).map(|k| (k, k))),
        Algorithm::SelectAndScatter { window } => select_and_scatter(window, s),
        Algorithm::BatchNormTraining { feature } => match (s.operand, s.result) {
            (0, 0) => linked(s, [(*feature, *feature)]),
            (0, _) => linked(s, [(0, *feature)]),
            (_, 0) => linked(s, [(*feature, 0)]),
            _ => nothing(),
        },
        Algorithm::BatchNormInference { .. } if s.operand == 0 => s.identity(),
        Algorithm::BatchNormInference { feature } => linked(s, [(*feature, 0)]),
        Algorithm::BatchNormGrad { feature } => batch_norm_grad(*feature, s),
        Algorithm::Fft { lengths, .. } => linked(s, (0..rank - lengths.len()).map(|k| (k, k))),
        Algorithm::Cholesky { lower } => cholesky(*lower, s),
        Algorithm::CholeskyInPlace { lower } if s.result == 0 => in_place(*lower, s),
        Algorithm::CholeskyInPlace { lower } => {
            // Any element of the triangle may decide which minor is not positive.
            let mut r = s.relation();
            (0..rank - 2).try_for_each(|k| r.link(k, k))?;
            let (row, column) = if *lower { (rank - 2, rank - 1) } else { (rank - 1, rank - 2) };
            let (row, column) = (r.input(row), r.input(column));
            ordered(&mut r, s.input()[rank - 1], column, row, 0)?;
            Ok(r.into())
        }
        Algorithm::TriangularSolve { left, lower, transposed, unit } => {
            let triangle = Triangle { forward: lower != transposed, transposed: *transposed, unit: *unit };
            triangular_solve(*left, triangle, s)
        }
        Algorithm::RandomBits => Ok(s.relation().into()),
        Algorithm::Joined => linked(s, (0..rank - 1).map(|k| (k, k))),
        Algorithm::DimensionSize { .. } => nothing(),
        Algorithm::ScaledDot(dims) => products::scaled_dot(dims, s),
        Algorithm::RaggedDot(dot) => products::ragged_dot(dot, s),
        Algorithm::Scan { dim, inputs, reversed } => scan(*dim, *inputs, *reversed, s),
        Algorithm::DynamicReshape => Ok(Related::Unknown("sizes are known at run time only".to_string())),
    }
}

fn nothing() -> Equations {
    Ok(Related::By(Vec::new()))
}

/// All pairs with equal indices along these dimensions of the result and the operand.
fn linked(s: &Sides, dims: impl IntoIterator<Item = (usize, usize)>) -> Equations {
    let mut r = s.relation();
    dims.into_iter().try_for_each(|(out, input)| r.link(out, input))?;
    Ok(r.into())
}

/// A step reads all of its slices and of the carries, which depend on the slices of earlier steps.
fn scan(dim: usize, inputs: usize, reversed: bool, s: &Sides) -> Equations {
    let mut r = s.relation();
    let outputs = s.outs.len() - (s.ins.len() - inputs);
    if s.operand < inputs && s.result < outputs {
        let (before, after) = if reversed { (r.out(dim), r.input(dim)) } else { (r.input(dim), r.out(dim)) };
        ordered(&mut r, s.input()[dim], before, after, 0)?;
    }
    Ok(r.into())
}

/// An element of the result may come from each window that contains it, and all elements of these windows decide.
fn select_and_scatter(window: &[WindowDim], s: &Sides) -> Equations {
    let mut r = s.relation();
    let windows = &s.ins[1];
    for (k, dim) in window.iter().enumerate() {
        let (out, input) = (r.out(k), if s.operand == 2 { 0 } else { r.input(k) });
        match s.operand {
            0 => {
                let o = r.unknown(0, windows[k] - 1);
                r.range(o);
                place(&mut r, dim, o, out, Ranges::Neither)?;
                place(&mut r, dim, o, input, Ranges::Neither)?;
                if dim.size > 1 && s.direction == Direction::Reads {
                    r.range(input);
                } else if dim.size > 1 {
                    r.range(out);
                }
            }
            1 => {
                let ranges = if s.direction == Direction::Reads { Ranges::Windows } else { Ranges::Places };
                place(&mut r, dim, input, out, ranges)?;
            }
            _ => {}
        }
    }
    Ok(r.into())
}

/// The operands are data, scale, mean, variance and the gradient of the result; the results are the gradients of data,
/// scale and offset.
fn batch_norm_grad(feature: usize, s: &Sides) -> Equations {
    let own = if matches!(s.operand, 0 | 4) { feature } else { 0 };
    match (s.operand, s.result) {
        // The gradient of the scale does not depend on the scale; the gradient of the offset depends only on the
        // result's.
        (1, 1) | (0..=3, 2) => nothing(),
        (_, 0) => linked(s, [(feature, own)]),
        _ => linked(s, [(0, own)]),
    }
}

/// `A = L L*`: the element of `L` in row `i` and column `j <= i` depends on the elements of `A` in rows and columns up
/// to `j`, and on row `i` in these columns. Only the requested triangle of a symmetric matrix is read.
fn cholesky(lower: bool, s: &Sides) -> Equations {
    let rank = s.input().len();
    let (row, column) = if lower { (rank - 2, rank - 1) } else { (rank - 1, rank - 2) };
    let n = s.out()[row];
    let common = || -> Result<Relation, Error> {
        let mut r = s.relation();
        (0..rank - 2).try_for_each(|k| r.link(k, k))?;
        let [to_row, to_column, of_row, of_column] = [r.out(row), r.out(column), r.input(row), r.input(column)];
        // In the triangle on both sides, in columns up to the result's.
        ordered(&mut r, n, to_column, to_row, 0)?;
        ordered(&mut r, n, of_column, of_row, 0)?;
        ordered(&mut r, n, of_column, to_column, 0)?;
        Ok(r)
    };
    let (mut above, mut same) = (common()?, common()?);
    let [to_row, to_column, of_row] = [same.out(row), same.out(column), same.input(row)];
    ordered(&mut above, n, of_row, to_column, 0)?;
    // On the diagonal, `above` covers the row of the result.
    same.link(row, row)?;
    ordered(&mut same, n, to_column, to_row, 1)?;
    Ok(Related::By(vec![above, same]))
}

/// The factor in one triangle, and the operand itself in the other.
fn in_place(lower: bool, s: &Sides) -> Equations {
    let Related::By(mut all) = cholesky(lower, s)? else { return nothing() };
    let rank = s.input().len();
    let mut other = s.relation();
    (0..rank).try_for_each(|k| other.link(k, k))?;
    let (row, column) = if lower { (rank - 2, rank - 1) } else { (rank - 1, rank - 2) };
    let (row, column) = (other.out(row), other.out(column));
    ordered(&mut other, s.out()[rank - 1], row, column, 1)?;
    all.push(other);
    Ok(Related::By(all))
}

/// Adds `a + gap <= b` for two unknowns in `[0, n)`.
fn ordered(r: &mut Relation, n: i64, a: usize, b: usize, gap: i64) -> Result<(), Error> {
    r.within(vec![(b, 1), (a, -1)], gap, n)
}

/// The triangle of the matrix of a linear system.
struct Triangle {
    /// Whether it is the lower triangle, after transposition.
    forward: bool,
    transposed: bool,
    /// Whether the diagonal is not read.
    unit: bool,
}

/// `op(A) x = b`, with `op(A)` lower triangular if `forward`: row `i` of `x` depends on the rows of `b` up to `i`, and
/// on the elements of `op(A)` in the triangle of these rows. For `x op(A) = b`, the columns are those of the transposed
/// matrix.
fn triangular_solve(left: bool, triangle: Triangle, s: &Sides) -> Equations {
    let rank = s.input().len();
    let mut r = s.relation();
    (0..rank - 2).try_for_each(|k| r.link(k, k))?;
    let (solved, free) = if left { (rank - 2, rank - 1) } else { (rank - 1, rank - 2) };
    let n = s.out()[solved];
    // On the right, the transposed system is solved from the left: forward becomes backward.
    let forward = triangle.forward == left;
    let order = |r: &mut Relation, a: usize, b: usize, gap: i64| match forward {
        true => ordered(r, n, a, b, gap),
        false => ordered(r, n, b, a, gap),
    };
    let out = r.out(solved);
    if s.operand == 1 {
        r.link(free, free)?;
        let input = r.input(solved);
        order(&mut r, input, out, 0)?;
        return Ok(r.into());
    }
    // Row and column of the matrix of the left-hand system.
    let turned = triangle.transposed == left;
    let (row, column) =
        if turned { (r.input(rank - 1), r.input(rank - 2)) } else { (r.input(rank - 2), r.input(rank - 1)) };
    order(&mut r, row, out, 0)?;
    order(&mut r, column, row, i64::from(triangle.unit))?;
    Ok(r.into())
}
