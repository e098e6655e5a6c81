//! Scaled and ragged products, and scans, by their definitions.

use super::number::product;
use super::{Number, Value, array, each, run};
use tensor_layout::hlo::{Instruction, Module};
use tensor_layout::operations::{Contraction, Ragged, RaggedDot, leaves};

/// Visits the indices of both operands of each product, and of the result without groups.
fn products(dims: &Contraction, right: &[usize], x: &[&Value], mut f: impl FnMut(&[i64], &[i64], &[i64])) {
    let left = dims.lhs_free(x[0].sizes.len());
    let of_lhs: Vec<usize> = dims.lhs_batch.iter().chain(&left).copied().collect();
    let mut loops: Vec<i64> = of_lhs.iter().map(|k| x[0].sizes[*k]).collect();
    loops.extend(right.iter().map(|k| x[1].sizes[*k]));
    let results = loops.len();
    loops.extend(dims.lhs_contracting.iter().map(|k| x[0].sizes[*k]));
    each(&loops, |at| {
        let (mut lhs, mut rhs) = (vec![0; x[0].sizes.len()], vec![0; x[1].sizes.len()]);
        of_lhs.iter().zip(at).for_each(|(k, index)| lhs[*k] = *index);
        dims.rhs_batch.iter().zip(at).for_each(|(k, index)| rhs[*k] = *index);
        right.iter().zip(&at[of_lhs.len()..]).for_each(|(k, index)| rhs[*k] = *index);
        dims.lhs_contracting.iter().zip(&at[results..]).for_each(|(k, index)| lhs[*k] = *index);
        dims.rhs_contracting.iter().zip(&at[results..]).for_each(|(k, index)| rhs[*k] = *index);
        f(&lhs, &rhs, &at[..results]);
    });
}

/// A zero array for sums.
fn zeros(i: &Instruction) -> Value {
    let out = array(&i.shape);
    Value::build(out.element, &out.sizes().unwrap(), |_| Number::Float(0.0))
}

fn add(sums: &mut [f64], out: &Value, at: &[i64], value: f64) {
    sums[out.place(at)] += value;
}

fn rounded(out: Value, sums: Vec<f64>) -> Value {
    let data = sums.into_iter().map(|x| Number::Float(x).to(out.element)).collect();
    Value { data, ..out }
}

/// A scaled product, with the scale of the element's block.
pub fn scaled_dot(i: &Instruction, dims: &Contraction, x: &[&Value]) -> Value {
    let out = zeros(i);
    let mut sums = vec![0.0; out.data.len()];
    let scaled = |side: usize, at: &[i64]| {
        let (data, scale) = (x[side], x[side + 2]);
        let block: Vec<i64> = (0..at.len()).map(|k| at[k] / (data.sizes[k] / scale.sizes[k])).collect();
        data.at(at).real() * scale.at(&block).real()
    };
    products(dims, &dims.rhs_free(x[1].sizes.len()), x, |lhs, rhs, at| {
        add(&mut sums, &out, at, scaled(0, lhs) * scaled(1, rhs));
    });
    rounded(out, sums)
}

/// A ragged product. Groups are consecutive along a dimension; products outside of all groups are skipped.
pub fn ragged_dot(i: &Instruction, dot: &RaggedDot, x: &[&Value]) -> Value {
    let out = zeros(i);
    let mut sums = vec![0.0; out.data.len()];
    let count = *x[2].sizes.last().unwrap();
    products(&dot.dims, &dot.rhs_free(x[1].sizes.len()), x, |lhs, rhs, at| {
        let prefix: Vec<i64> = match x[2].sizes.len() {
            1 => Vec::new(),
            _ => dot.prefix(lhs.len()).iter().map(|k| lhs[*k]).collect(),
        };
        let size = |group: i64| x[2].at(&[&prefix[..], &[group]].concat()).int() as i64;
        let within = |group: &i64| {
            let begin: i64 = (0..*group).map(size).sum();
            (begin..begin + size(*group)).contains(&lhs[dot.ragged])
        };
        let group = (0..count).find(within);
        let (mut rhs, mut at) = (rhs.to_vec(), at.to_vec());
        match (dot.kind(), group) {
            (Ragged::Batch, _) => {}
            (_, None) => return,
            (Ragged::Free, Some(group)) => rhs[dot.group.unwrap()] = group,
            (Ragged::Contracting, Some(group)) => at.insert(0, group),
        }
        add(&mut sums, &out, &at, product(x[0].at(lhs).parts(), x[1].at(&rhs).parts()).0);
    });
    rounded(out, sums)
}

/// A scan, which runs the computation once for each index along the dimension.
pub fn scan(
    module: &Module,
    i: &Instruction,
    (dim, inputs, reversed): (usize, usize, bool),
    x: &[&Value],
) -> Vec<Value> {
    let mut carries: Vec<Value> = x[inputs..].iter().map(|v| (*v).clone()).collect();
    let shapes = leaves(&i.shape);
    let outputs = shapes.len() - carries.len();
    let mut out: Vec<Value> = shapes[..outputs].iter().map(|array| super::zeros(array)).collect();
    let steps = x[0].sizes[dim];
    for step in 0..steps {
        let at = if reversed { steps - 1 - step } else { step };
        let slice = |v: &&Value| {
            let mut sizes = v.sizes.clone();
            sizes.remove(dim);
            Value::build(v.element, &sizes, |index| v.at(&[&index[..dim], &[at], &index[dim..]].concat()))
        };
        let arguments = x[..inputs].iter().map(slice).chain(carries).map(|v| vec![v]).collect::<Vec<_>>();
        let mut made = run(module, i.called[0], &arguments);
        carries = made.split_off(outputs);
        for (v, made) in out.iter_mut().zip(made) {
            each(&made.sizes, |index| {
                let place = v.place(&[&index[..dim], &[at], &index[dim..]].concat());
                v.data[place] = made.at(index);
            });
        }
    }
    out.into_iter().chain(carries).collect()
}
