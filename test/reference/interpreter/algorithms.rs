//! Definitions of `Algorithm` operations, such as sorts, batch normalizations and Fourier transforms.

use super::number::{Number, product};
use super::reads::under;
use super::{Value, array, combine, each, products, random};
use std::cmp::Ordering;
use tensor_layout::element::ElementType;
use tensor_layout::hlo::{Instruction, Module};
use tensor_layout::operations::{Algorithm, Fourier, Shape, WindowDim, leaves};

/// The results of an operation of this kind.
pub fn algorithm(module: &Module, i: &Instruction, algorithm: &Algorithm, x: &[&Value]) -> Vec<Value> {
    match algorithm {
        Algorithm::Sort { dim } => {
            sort(x, *dim, &|pairs, types| combine(module, i.called[0], pairs, types)[0].int() != 0)
        }
        Algorithm::TopK { k } => top(x[0], *k, i.attribute("largest") != Some("false")),
        Algorithm::SelectAndScatter { window } => vec![select_and_scatter(module, i, window, x)],
        Algorithm::BatchNormTraining { feature } => {
            let (mean, variance) = moments(x[0], *feature);
            let stand = [x[0], x[1], x[2], &mean, &variance];
            let out = normal(i, *feature, &stand);
            vec![out, mean, variance]
        }
        Algorithm::BatchNormInference { feature } => vec![normal(i, *feature, x)],
        Algorithm::BatchNormGrad { feature } => gradient(i, *feature, x),
        Algorithm::Fft { kind, lengths } => vec![fft(i, *kind, lengths, x[0])],
        Algorithm::Cholesky { lower } => vec![cholesky(x[0], *lower)],
        Algorithm::CholeskyInPlace { lower } => in_place(x[0], *lower),
        Algorithm::TriangularSolve { left, lower, transposed, unit } => {
            let adjoint = i.attribute("transpose_a") == Some("ADJOINT");
            vec![solve(x, *left, *lower, *transposed, *unit, adjoint)]
        }
        Algorithm::RandomBits => random::bits(i, x[0]),
        Algorithm::Joined => vec![joined(i, x[0])],
        Algorithm::ScaledDot(dims) => vec![products::scaled_dot(i, dims, x)],
        Algorithm::RaggedDot(dot) => vec![products::ragged_dot(i, dot, x)],
        Algorithm::Scan { dim, inputs, reversed } => products::scan(module, i, (*dim, *inputs, *reversed), x),
        Algorithm::DynamicReshape => {
            let sizes = array(&i.shape).sizes().unwrap();
            vec![Value { sizes, ..x[0].clone() }]
        }
        Algorithm::DimensionSize { dim } => vec![Value::scalar(ElementType::S32, Number::Int(x[0].sizes[*dim].into()))],
    }
}

/// The index with one entry replaced.
fn with(index: &[i64], dim: usize, entry: i64) -> Vec<i64> {
    let mut index = index.to_vec();
    index[dim] = entry;
    index
}

/// Calls back with an index in each line along a dimension.
fn each_line(sizes: &[i64], dim: usize, f: impl FnMut(&[i64])) {
    each(&with(sizes, dim, sizes[dim].min(1)), f);
}

/// Whether the first of two elements, in pairs for each operand, sorts before the second.
type Before<'a> = &'a dyn Fn(&[Number], &[ElementType]) -> bool;

/// Insertion sort of each line: an element goes after the last one that it does not precede.
fn sort(x: &[&Value], dim: usize, before: Before) -> Vec<Value> {
    let types: Vec<ElementType> = x.iter().flat_map(|v| [v.element; 2]).collect();
    let mut out: Vec<Value> = x.iter().map(|v| (*v).clone()).collect();
    each_line(&x[0].sizes, dim, |line| {
        let mut order: Vec<i64> = Vec::new();
        for k in 0..x[0].sizes[dim] {
            let earlier = |other: &i64| {
                let pairs: Vec<Number> =
                    x.iter().flat_map(|v| [v.at(&with(line, dim, k)), v.at(&with(line, dim, *other))]).collect();
                before(&pairs, &types)
            };
            let place = order.iter().position(earlier).unwrap_or(order.len());
            order.insert(place, k);
        }
        for (to, from) in order.iter().enumerate() {
            for (v, out) in x.iter().zip(&mut out) {
                let place = out.place(&with(line, dim, to as i64));
                out.data[place] = v.at(&with(line, dim, *from));
            }
        }
    });
    out
}

/// The first elements of each line in descending or ascending order, and their indices.
fn top(x: &Value, k: i64, largest: bool) -> Vec<Value> {
    let dim = x.sizes.len() - 1;
    let places = Value::build(ElementType::S32, &x.sizes, |index| Number::Int(index[dim].into()));
    let sorted = sort(&[x, &places], dim, &|pairs, _| {
        let order = match (pairs[0], pairs[1]) {
            (Number::Int(a), Number::Int(b)) => a.cmp(&b),
            (a, b) => a.real().total_cmp(&b.real()),
        };
        order == if largest { std::cmp::Ordering::Greater } else { std::cmp::Ordering::Less }
    });
    let sizes = with(&x.sizes, dim, k);
    sorted.iter().map(|v| Value::build(v.element, &sizes, |index| v.at(index))).collect()
}

/// Selects, in each window, the first element that keeps its place against all later ones.
fn select_and_scatter(module: &Module, i: &Instruction, window: &[WindowDim], x: &[&Value]) -> Value {
    let (data, source) = (x[0], x[1]);
    let mut out = Value::build(data.element, &data.sizes, |_| x[2].data[0]);
    let places: Vec<i64> = window.iter().map(|dim| dim.size).collect();
    each(&source.sizes, |o| {
        let mut selected: Option<Vec<i64>> = None;
        each(&places, |w| {
            let place = |k: usize| under(&window[k], data.sizes[k], o[k], w[k]);
            let Some(at) = (0..w.len()).map(place).collect::<Option<Vec<i64>>>() else { return };
            let keeps = selected.as_ref().is_some_and(|old| {
                let pair = [data.at(old), data.at(&at)];
                combine(module, i.called[0], &pair, &[data.element; 2])[0].int() != 0
            });
            if !keeps {
                selected = Some(at);
            }
        });
        if let Some(at) = selected {
            let place = out.place(&at);
            out.data[place] = combine(module, i.called[1], &[out.data[place], source.at(o)], &[data.element; 2])[0];
        }
    });
    out
}

/// The sum of `f` over the elements of each feature, given their indices.
fn sums(like: &Value, feature: usize, f: impl Fn(&[i64]) -> f64) -> Vec<f64> {
    let mut sums = vec![0.0; like.sizes[feature] as usize];
    each(&like.sizes, |index| sums[index[feature] as usize] += f(index));
    sums
}

/// An array of one number for each feature.
fn per_feature(like: &Value, data: Vec<f64>) -> Value {
    let sizes = vec![data.len() as i64];
    Value { element: like.element, sizes, data: data.into_iter().map(|x| Number::Float(x).to(like.element)).collect() }
}

/// The number of elements of a feature.
fn count(x: &Value, feature: usize) -> f64 {
    x.data.len() as f64 / x.sizes[feature] as f64
}

/// The mean and the variance of each feature.
fn moments(x: &Value, feature: usize) -> (Value, Value) {
    let n = count(x, feature);
    let mean: Vec<f64> = sums(x, feature, |at| x.at(at).real()).into_iter().map(|sum| sum / n).collect();
    let square = |at: &[i64]| (x.at(at).real() - mean[at[feature] as usize]).powi(2);
    let variance = sums(x, feature, square).into_iter().map(|sum| sum / n).collect();
    (per_feature(x, mean), per_feature(x, variance))
}

fn epsilon(i: &Instruction) -> f64 {
    i.attribute("epsilon").unwrap().parse().unwrap()
}

/// Normalizes data; the operands are data, scale, offset, mean and variance.
fn normal(i: &Instruction, feature: usize, x: &[&Value]) -> Value {
    Value::build(x[0].element, &x[0].sizes, |at| {
        let of = |k: usize| x[k].data[at[feature] as usize].real();
        Number::Float((x[0].at(at).real() - of(3)) / (of(4) + epsilon(i)).sqrt() * of(1) + of(2))
    })
}

/// The operands are data, scale, mean, variance and the gradient of the result. The gradient of the data is that of
/// `scale * (x - mean(x)) / sqrt(var(x) + epsilon)`, whose mean and variance depend on the data.
fn gradient(i: &Instruction, feature: usize, x: &[&Value]) -> Vec<Value> {
    let [data, scale, mean, variance, from] = x[..] else { panic!("five operands") };
    let of = |v: &Value, at: &[i64]| v.data[at[feature] as usize].real();
    let gap = |at: &[i64]| data.at(at).real() - of(mean, at);
    let root = |at: &[i64]| (of(variance, at) + epsilon(i)).sqrt();
    let n = count(data, feature);
    let sum = sums(data, feature, |at| from.at(at).real());
    let along = sums(data, feature, |at| from.at(at).real() * gap(at));
    let of_scale = sums(data, feature, |at| from.at(at).real() * gap(at) / root(at));
    let of_data = Value::build(data.element, &data.sizes, |at| {
        let feature = at[feature] as usize;
        let rest = from.at(at).real() - sum[feature] / n - gap(at) * along[feature] / n / root(at).powi(2);
        Number::Float(of(scale, at) / root(at) * rest)
    });
    vec![of_data, per_feature(data, of_scale), per_feature(data, sum)]
}

/// The sum over all elements of the line, plane or space, each times its root of unity.
fn fft(i: &Instruction, kind: Fourier, lengths: &[i64], x: &Value) -> Value {
    let to = array(&i.shape);
    let first = x.sizes.len() - lengths.len();
    let sign = if matches!(kind, Fourier::Forward | Fourier::Real) { -1.0 } else { 1.0 };
    // If only half of the last dimension is stored, the other half is its mirrored conjugate.
    let whole = |at: &[i64]| {
        let last = at.len() - 1;
        if kind != Fourier::InverseReal || at[last] < x.sizes[last] {
            return x.at(at).parts();
        }
        let mirrored: Vec<i64> = (0..at.len())
            .map(|k| if k < first { at[k] } else { (lengths[k - first] - at[k]) % lengths[k - first] })
            .collect();
        let (re, im) = x.at(&mirrored).parts();
        (re, -im)
    };
    Value::build(to.element, &to.sizes().unwrap(), |out| {
        let mut sum = (0.0, 0.0);
        each(lengths, |index| {
            let angle: f64 = (0..lengths.len())
                .map(|k| (out[first + k] * index[k] % lengths[k]) as f64 / lengths[k] as f64)
                .sum::<f64>();
            let (sin, cos) = (sign * std::f64::consts::TAU * angle).sin_cos();
            let (re, im) = product(whole(&[&out[..first], index].concat()), (cos, sin));
            sum = (sum.0 + re, sum.1 + im);
        });
        let scale = if sign > 0.0 { lengths.iter().product::<i64>() as f64 } else { 1.0 };
        match to.element.is_complex() {
            true => Number::Complex(sum.0 / scale, sum.1 / scale),
            false => Number::Float(sum.0 / scale),
        }
    })
}

/// The triangular factor of each real matrix, element by element; the other triangle is 0.
fn cholesky(x: &Value, lower: bool) -> Value {
    let rank = x.sizes.len();
    let n = x.sizes[rank - 1];
    let mut out = Value::build(x.element, &x.sizes, |_| Number::Float(0.0));
    each(&x.sizes[..rank - 2], |batch| {
        let at = |i: i64, j: i64| [batch, &if lower { [i, j] } else { [j, i] }].concat();
        for j in 0..n {
            for i in j..n {
                let known = (0..j).map(|k| out.at(&at(i, k)).real() * out.at(&at(j, k)).real()).sum::<f64>();
                let rest = x.at(&at(i, j)).real() - known;
                let value = if i == j { rest.sqrt() } else { rest / out.at(&at(j, j)).real() };
                let place = out.place(&at(i, j));
                out.data[place] = Number::Float(value).to(x.element);
            }
        }
    });
    out
}

/// The factor with the operand's other triangle; and the first element of the diagonal that is not positive.
fn in_place(x: &Value, lower: bool) -> Vec<Value> {
    let (rank, factor) = (x.sizes.len(), cholesky(x, lower));
    let inside = |at: &[i64]| if lower { at[rank - 2] >= at[rank - 1] } else { at[rank - 2] <= at[rank - 1] };
    let out = Value::build(x.element, &x.sizes, |at| if inside(at) { factor.at(at) } else { x.at(at) });
    let info = Value::build(ElementType::S32, &x.sizes[..rank - 2], |batch| {
        let fails =
            |k: &i64| factor.at(&[batch, &[*k, *k]].concat()).real().partial_cmp(&0.0) != Some(Ordering::Greater);
        Number::Int((0..x.sizes[rank - 1]).find(fails).map_or(0, |k| k as i128 + 1))
    });
    vec![out, info]
}

/// Substitution, row by row or column by column of the result.
fn solve(x: &[&Value], left: bool, lower: bool, transposed: bool, unit: bool, adjoint: bool) -> Value {
    let (matrix, right) = (x[0], x[1]);
    let rank = right.sizes.len();
    let n = matrix.sizes[rank - 1];
    let free = right.sizes[if left { rank - 1 } else { rank - 2 }];
    let mut out = right.clone();
    assert!(!adjoint || !matrix.element.is_complex(), "no adjoints of complex numbers");
    each(&right.sizes[..rank - 2], |batch| {
        // The matrix that multiplies result columns from the left.
        let a = |i: i64, j: i64| {
            let (i, j) = if transposed == left { (j, i) } else { (i, j) };
            if unit && i == j { 1.0 } else { matrix.at(&[batch, &[i, j]].concat()).real() }
        };
        let at = |i: i64, k: i64| [batch, &if left { [i, k] } else { [k, i] }].concat();
        let is_lower = (lower != transposed) == left;
        for k in 0..free {
            for step in 0..n {
                let i = if is_lower { step } else { n - 1 - step };
                let known = if is_lower { 0..i } else { i + 1..n };
                let sum: f64 = known.map(|j| a(i, j) * out.at(&at(j, k)).real()).sum();
                let place = out.place(&at(i, k));
                out.data[place] = Number::Float((right.at(&at(i, k)).real() - sum) / a(i, i)).to(right.element);
            }
        }
    });
    out
}

/// Joins elements along the last dimension, the least significant part first.
fn joined(i: &Instruction, x: &Value) -> Value {
    let shape: &Shape = &i.shape;
    let to = leaves(shape)[0];
    let width = x.element.bits().unwrap();
    Value::build(to.element, &to.sizes().unwrap(), |index| {
        let part = |k: i64| x.at(&[index, &[k]].concat()).bits(x.element) << (k * width);
        Number::of_bits(to.element, (0..to.element.bits().unwrap() / width).map(part).sum())
    })
}
