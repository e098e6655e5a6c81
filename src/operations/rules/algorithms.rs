//! Algorithms: operations in which an element of a result depends on many elements.

use super::arrays::{Arrays, Verdict, dimension, entries};
use super::windows::windows;
use super::{products, scan};
use crate::operations::operation::{Algorithm, Fourier, WindowDim};
use crate::operations::refusal::{Refusal, Subject};
use crate::operations::sizes::Size;

/// Checks the rules of each algorithm, and of `get_dimension_size`:
///
/// - `dimension_size_c1`: there are one operand and one result.
/// - `dimension_size_c2`: the dimension is one of the operand's.
/// - `dimension_size_c3`: the result is a scalar.
pub fn algorithm(algorithm: &Algorithm, arrays: &Arrays) -> Verdict {
    match algorithm {
        Algorithm::Sort { dim } => sort(*dim, arrays),
        Algorithm::TopK { k } => top_k(*k, arrays),
        Algorithm::SelectAndScatter { window } => select_and_scatter(window, arrays),
        Algorithm::BatchNormTraining { feature } => batch_norm(*feature, 3, 3, arrays),
        Algorithm::BatchNormInference { feature } => batch_norm(*feature, 5, 1, arrays),
        Algorithm::BatchNormGrad { feature } => batch_norm(*feature, 5, 3, arrays),
        Algorithm::Fft { kind, lengths } => fft(*kind, lengths, arrays),
        Algorithm::Cholesky { .. } => {
            arrays.count("cholesky_c1", 1, 1)?;
            square("cholesky_c2", arrays)?;
            arrays.result("cholesky_c3", 0, &arrays.ins[0].0)
        }
        Algorithm::CholeskyInPlace { .. } => {
            arrays.count("cholesky_in_place_c1", 1, 2)?;
            square("cholesky_in_place_c2", arrays)?;
            let sizes = &arrays.ins[0].0;
            arrays.result("cholesky_in_place_c3", 0, sizes)?;
            arrays.result("cholesky_in_place_c4", 1, &sizes[..sizes.len() - 2])
        }
        Algorithm::TriangularSolve { left, .. } => triangular_solve(*left, arrays),
        Algorithm::RandomBits => random_bits(arrays),
        Algorithm::Joined => joined(arrays),
        Algorithm::DimensionSize { dim } => {
            arrays.count("dimension_size_c1", 1, 1)?;
            dimension("dimension_size_c2", "dim", *dim, arrays.ins[0].rank())?;
            arrays.result("dimension_size_c3", 0, &[])
        }
        Algorithm::ScaledDot(dims) => products::scaled_dot(dims, arrays),
        Algorithm::RaggedDot(dot) => products::ragged_dot(dot, arrays),
        Algorithm::Scan { dim, inputs, .. } => scan::scan(*dim, *inputs, arrays),
        Algorithm::DynamicReshape => scan::dynamic_reshape(arrays),
    }
}

/// - `sort_c1`: there is an operand, and a result for each.
/// - `sort_c2`: the dimension is one of the operands'.
/// - `sort_c3`: all operands have the same sizes.
/// - `sort_c4`: the results have these sizes.
fn sort(dim: usize, arrays: &Arrays) -> Verdict {
    let Some(first) = arrays.ins.first() else {
        return Err(Refusal::new("sort_c1", Subject::Whole, "must have an operand, found none"));
    };
    arrays.count("sort_c1", arrays.ins.len(), arrays.ins.len())?;
    dimension("sort_c2", "dim", dim, first.rank())?;
    (1..arrays.ins.len()).try_for_each(|k| arrays.operand("sort_c3", k, &first.0))?;
    arrays.results("sort_c4", &first.0)
}

/// - `top_k_c1`: there are one operand, of rank 1 at least, and two results.
/// - `top_k_c2`: `k` is between 0 and the size of the last dimension.
/// - `top_k_c3`: the results have the sizes of the operand, but `k` for the last.
fn top_k(k: i64, arrays: &Arrays) -> Verdict {
    arrays.count("top_k_c1", 1, 2)?;
    let Some((last, outer)) = arrays.ins[0].0.split_last() else {
        return Err(Refusal::new("top_k_c1", Subject::Operand(0), "must have a dimension, found none"));
    };
    if k < 0 || last.is_some_and(|last| k > last) {
        let most = last.map_or("at least 0".to_string(), |last| format!("between 0 and the size {last}"));
        return Err(Refusal::field("top_k_c2", "k", format!("must be {most}, found {k}")));
    }
    arrays.results("top_k_c3", &[outer, &[Some(k)]].concat())
}

/// The rules of windows, and:
///
/// - `select_and_scatter_c1`: there are three operands and one result.
/// - `select_and_scatter_c2`: `window` has an entry for each dimension of the first operand.
/// - `select_and_scatter_c3`: the second operand has an element for each window.
/// - `select_and_scatter_c4`: the initial value is a scalar.
/// - `select_and_scatter_c5`: the result has the sizes of the first operand.
fn select_and_scatter(window: &[WindowDim], arrays: &Arrays) -> Verdict {
    arrays.count("select_and_scatter_c1", 3, 1)?;
    let data = &arrays.ins[0];
    let of = "one for each dimension of the first operand";
    entries("select_and_scatter_c2", "window", window.len(), data.rank(), of)?;
    let source = data.0.iter().zip(window).enumerate().map(|(k, (size, dim))| windows(k, *size, dim));
    arrays.operand("select_and_scatter_c3", 1, &source.collect::<Result<Vec<Size>, _>>()?)?;
    arrays.operand("select_and_scatter_c4", 2, &[])?;
    arrays.result("select_and_scatter_c5", 0, &data.0)
}

/// - `batch_norm_c1`: there are three operands and three results in training, five and one in inference, five and three
///   of the gradient.
/// - `batch_norm_c2`: the feature is a dimension of the first operand.
/// - `batch_norm_c3`: the last operand of the gradient has the sizes of the first one; all others have one dimension,
///   of the features.
/// - `batch_norm_c4`: the first result has the sizes of the first operand; all others have one dimension, of the
///   features.
fn batch_norm(feature: usize, operands: usize, results: usize, arrays: &Arrays) -> Verdict {
    arrays.count("batch_norm_c1", operands, results)?;
    let data = &arrays.ins[0];
    dimension("batch_norm_c2", "feature", feature, data.rank())?;
    let features = [data.0[feature]];
    for k in 1..operands {
        let whole = operands == 5 && results == 3 && k == 4;
        arrays.operand("batch_norm_c3", k, if whole { &data.0 } else { &features })?;
    }
    arrays.result("batch_norm_c4", 0, &data.0)?;
    (1..results).try_for_each(|k| arrays.result("batch_norm_c4", k, &features))
}

/// - `fft_c1`: there are one operand and one result.
/// - `fft_c2`: there are 1 to 3 lengths, not more than the operand has dimensions, and each is at least 1.
/// - `fft_c3`: they are the sizes of the operand's last dimensions; for `InverseReal` the last size is `n / 2 + 1`.
/// - `fft_c4`: the result has the sizes of the operand; the last size is `n / 2 + 1` for `Real`, and `n` for
///   `InverseReal`.
fn fft(kind: Fourier, lengths: &[i64], arrays: &Arrays) -> Verdict {
    arrays.count("fft_c1", 1, 1)?;
    let sizes = &arrays.ins[0].0;
    let most = sizes.len().min(3);
    let (Some(last), true) = (lengths.last(), lengths.len() <= most) else {
        let must = format!("must have 1 to {most} entries, found {}", lengths.len());
        return Err(Refusal::field("fft_c2", "lengths", must));
    };
    if let Some((k, n)) = lengths.iter().enumerate().find(|(_, n)| **n < 1) {
        return Err(Refusal::entry("fft_c2", "lengths", k, format!("must be at least 1, found {n}")));
    }
    let half = last / 2 + 1;
    let whole: Vec<Size> =
        sizes[..sizes.len() - lengths.len()].iter().copied().chain(lengths.iter().map(|n| Some(*n))).collect();
    let mut halved = whole.clone();
    halved[sizes.len() - 1] = Some(half);
    let (expected, result) = match kind {
        Fourier::Forward | Fourier::Inverse => (&whole, &whole),
        Fourier::Real => (&whole, &halved),
        Fourier::InverseReal => (&halved, &whole),
    };
    arrays.operand("fft_c3", 0, expected)?;
    arrays.result("fft_c4", 0, result)
}

/// Checks that the last two dimensions of the first operand have one size.
///
/// - `cholesky_c1`: there are one operand and one result.
/// - `cholesky_c2`: the operand has two dimensions at least, and the last two have one size.
/// - `cholesky_c3`: the result has the sizes of the operand.
/// - `cholesky_in_place_c1`: there are one operand and two results.
/// - `cholesky_in_place_c2`: the operand has two dimensions at least, and the last two have one size.
/// - `cholesky_in_place_c3`: the first result has the sizes of the operand.
/// - `cholesky_in_place_c4`: the second result has these without the last two.
fn square(rule: &'static str, arrays: &Arrays) -> Verdict {
    let sizes = &arrays.ins[0].0;
    let [.., rows, columns] = sizes[..] else {
        let must = format!("must have 2 dimensions or more, found {}", sizes.len());
        return Err(Refusal::new(rule, Subject::Operand(0), must));
    };
    let mut expected = sizes.clone();
    expected[sizes.len() - 1] = rows.or(columns);
    arrays.operand(rule, 0, &expected)
}

/// - `triangular_solve_c1`: there are two operands and one result.
/// - `triangular_solve_c2`: the first has two dimensions at least, and the last two have one size.
/// - `triangular_solve_c3`: the second has the same rank and sizes, except for one dimension: the columns if the matrix
///   is the left factor, else the rows.
/// - `triangular_solve_c4`: the result has the sizes of the second.
fn triangular_solve(left: bool, arrays: &Arrays) -> Verdict {
    arrays.count("triangular_solve_c1", 2, 1)?;
    square("triangular_solve_c2", arrays)?;
    let (matrix, found) = (&arrays.ins[0].0, &arrays.ins[1].0);
    let mut expected = matrix.clone();
    let free = if left { matrix.len() - 1 } else { matrix.len() - 2 };
    if let Some(size) = found.get(free).filter(|_| found.len() == matrix.len()) {
        expected[free] = *size;
    }
    arrays.operand("triangular_solve_c3", 1, &expected)?;
    arrays.result("triangular_solve_c4", 0, found)
}

/// - `random_bits_c1`: there are one operand and two results.
/// - `random_bits_c2`: the operand has one dimension.
/// - `random_bits_c3`: the first result has its size.
fn random_bits(arrays: &Arrays) -> Verdict {
    arrays.count("random_bits_c1", 1, 2)?;
    let state = &arrays.ins[0];
    if state.rank() != 1 {
        let must = format!("must have 1 dimension, found {}", state.rank());
        return Err(Refusal::new("random_bits_c2", Subject::Operand(0), must));
    }
    arrays.result("random_bits_c3", 0, &state.0)
}

/// - `joined_c1`: there are one operand and one result.
/// - `joined_c2`: the operand has a dimension.
/// - `joined_c3`: the result has the sizes of the operand without the last one.
fn joined(arrays: &Arrays) -> Verdict {
    arrays.count("joined_c1", 1, 1)?;
    match arrays.ins[0].0.split_last() {
        Some((_, sizes)) => arrays.result("joined_c3", 0, sizes),
        None => Err(Refusal::new("joined_c2", Subject::Operand(0), "must have a dimension, found none")),
    }
}
