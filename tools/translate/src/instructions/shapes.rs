//! Instructions that only move elements: broadcast, transpose, reverse, reshape, slice, concatenate, pad.

use crate::builder::{Builder, Operand};
use crate::scalar::convert;
use crate::syntax::{dims, plain};
use crate::tensor::{Fault, ImportResult, Tensor, names, types};
use std::ops::Range;

pub fn broadcast(b: &mut Builder, of: &[usize], from: &Tensor, out: &Tensor) -> ImportResult<Tensor> {
    b.moved(Operand::new(from, dims(of.iter().copied())), out)
}

pub fn transpose(b: &mut Builder, permutation: &[usize], from: &Tensor, out: &Tensor) -> ImportResult<Tensor> {
    let mut index = vec![0; out.sizes.len()];
    permutation.iter().enumerate().for_each(|(k, dim)| index[*dim] = k);
    b.moved(Operand::new(from, dims(index)), out)
}

pub fn reverse(b: &mut Builder, reversed: &[usize], from: &Tensor, out: &Tensor) -> ImportResult<Tensor> {
    let source = b.without_encoding(from);
    let index = |k: usize| match reversed.contains(&k) {
        true => format!("-d{k} + {}", out.sizes[k] - 1),
        false => format!("d{k}"),
    };
    let map = (0..out.sizes.len()).map(index).collect::<Vec<_>>().join(", ");
    b.moved(Operand::new(&source, map), out)
}

pub fn reshape(b: &mut Builder, from: &Tensor, out: &Tensor) -> Tensor {
    let reshaped = reshaped_row_major(b, from, &out.sizes);
    b.converted(&reshaped, out)
}

/// The same elements in row-major order, without an encoding: runs of dimensions are collapsed into one each, then each is
/// expanded into those of the result.
fn reshaped_row_major(b: &mut Builder, t: &Tensor, sizes: &[i64]) -> Tensor {
    let mut t = b.without_encoding(t);
    let runs = runs(&t.sizes, sizes);
    let groups = |side: usize| {
        let all = runs.iter().map(|run| run[side].clone().map(|k| k.to_string()).collect::<Vec<_>>().join(", "));
        format!("[{}]", all.map(|run| format!("[{run}]")).collect::<Vec<_>>().join(", "))
    };
    let line: Vec<i64> = runs.iter().map(|run| t.sizes[run[0].clone()].iter().product()).collect();
    if t.sizes != line {
        let (groups, to) = (groups(0), Tensor { sizes: line, ..t.clone() });
        t = b.as_plain(&to, &format!("tensor.collapse_shape {} {groups} : {} into {}", t.name, t.ty, to.plain()));
    }
    if t.sizes != sizes {
        let (groups, to) = (groups(1), Tensor { sizes: sizes.to_vec(), ..t.clone() });
        let text =
            format!("tensor.expand_shape {} {groups} output_shape {sizes:?} : {} into {}", t.name, t.ty, to.plain());
        t = b.as_plain(&to, &text);
    }
    t
}

/// The shortest runs of dimensions of two lists of sizes, from major to minor, that have the same elements; all dimensions
/// where an array has no elements, and none where one side has no dimensions.
fn runs(from: &[i64], to: &[i64]) -> Vec<[Range<usize>; 2]> {
    if from.is_empty() || to.is_empty() {
        return Vec::new();
    }
    let mut runs: Vec<[Range<usize>; 2]> = Vec::new();
    let (mut ends, mut left) = ([0, 0], [1, 1]);
    while ends[0] < from.len() && ends[1] < to.len() && !from.contains(&0) {
        let starts = ends;
        for (side, sizes) in [from, to].into_iter().enumerate() {
            (left[side], ends[side]) = (sizes[ends[side]], ends[side] + 1);
        }
        while left[0] != left[1] {
            let side = usize::from(left[0] > left[1]);
            left[side] *= [from, to][side][ends[side]];
            ends[side] += 1;
        }
        runs.push([starts[0]..ends[0], starts[1]..ends[1]]);
    }
    // Dimensions of size 1 are left on one side.
    match runs.last_mut() {
        Some(last) => [last[0].end, last[1].end] = [from.len(), to.len()],
        None => runs.push([0..from.len(), 0..to.len()]),
    }
    runs
}

/// A `bitcast-convert` to narrower elements: the parts of each element along a last dimension, the least significant
/// first.
pub fn parts(b: &mut Builder, from: &Tensor, out: &Tensor) -> ImportResult<Tensor> {
    let last = out.sizes.len() - 1;
    let operand = Operand::new(from, dims(0..last));
    b.each(vec![operand], out, |w, args| {
        let wrong =
            || Fault::from(format!("parts of {} cannot be imported as {}", from.element.name(), out.element.name()));
        convert::part(w, &args[0], from.element, out.element, last).ok_or_else(wrong)
    })
}

pub fn slice(b: &mut Builder, starts: &[i64], strides: &[i64], from: &Tensor, out: &Tensor) -> Tensor {
    let offsets: Vec<String> = starts.iter().map(i64::to_string).collect();
    let cut = b.extract_slice(from, &offsets, &out.sizes, strides);
    b.converted(&cut, out)
}

pub fn concatenate(b: &mut Builder, dim: usize, ins: &[Tensor], out: &Tensor) -> Tensor {
    let parts: Vec<Tensor> = ins.iter().filter(|t| !t.is_empty()).map(|t| b.without_encoding(t)).collect();
    let text = format!("tensor.concat dim({dim}) {} : ({}) -> {}", names(&parts), types(&parts), out.plain());
    let all = b.as_plain(out, &text);
    b.converted(&all, out)
}

/// Writes a pad. The operands are the data and the value of the padding.
pub fn pad(b: &mut Builder, [low, high, interior]: [&[i64]; 3], ins: &[Tensor], out: &Tensor) -> ImportResult<Tensor> {
    let value = b.scalar(&ins[1]);
    let padded = padded(b, &ins[0], [low, high, interior], &value)?;
    Ok(b.converted(&padded, out))
}

/// The intermediate sizes of a pad.
struct PaddedSizes {
    /// Whether there is padding between elements.
    spreads: bool,
    /// The sizes with all padding that is not negative.
    whole: Vec<i64>,
    /// The sizes after negative padding has cut elements off.
    left: Vec<i64>,
}

impl PaddedSizes {
    /// The sizes; `None` where they do not fit in 64 bits.
    fn new(sizes: &[i64], [low, high, interior]: [&[i64]; 3]) -> Option<PaddedSizes> {
        let mut all = PaddedSizes { spreads: false, whole: Vec::new(), left: Vec::new() };
        for (k, n) in sizes.iter().enumerate() {
            let spread = (n - 1).max(0).checked_mul(interior[k].checked_add(1)?)?.checked_add(*n.min(&1))?;
            let whole = spread.checked_add(low[k].max(0))?.checked_add(high[k].max(0))?;
            all.left.push(whole.checked_add(low[k].min(0))?.checked_add(high[k].min(0))?);
            all.spreads |= spread != *n;
            all.whole.push(whole);
        }
        Some(all)
    }
}

/// The data with padding before, after and between the elements, without an encoding.
pub fn padded(b: &mut Builder, t: &Tensor, padding: [&[i64]; 3], value: &str) -> ImportResult<Tensor> {
    let mut t = b.without_encoding(t);
    let [low, high, interior] = padding;
    let PaddedSizes { spreads, whole, left } =
        PaddedSizes::new(&t.sizes, padding).ok_or("the padded sizes do not fit in 64 bits")?;
    let bare = |sizes: Vec<i64>| Tensor { ty: plain(&sizes, &t.element_text), sizes, ..t.clone() };
    let (whole, rest) = (bare(whole), bare(left));
    if t.is_empty() {
        return Ok(b.filled(&rest, value));
    }
    let positive = |all: &[i64]| all.iter().map(|n| (*n).max(0)).collect::<Vec<i64>>();
    if spreads {
        // The elements are written into a block of the value, with strides.
        let filled = b.filled(&whole, value);
        let strides: Vec<i64> = interior.iter().map(|n| n + 1).collect();
        let text = format!(
            "tensor.insert_slice {} into {}{:?} {:?} {strides:?} : {} into {}",
            t.name,
            filled.name,
            positive(low),
            t.sizes,
            t.ty,
            whole.ty
        );
        t = b.named(&whole, &text);
    }
    if whole.sizes != t.sizes {
        let (before, behind) = (positive(low), positive(high));
        let name = b.w.fresh();
        b.w.line(&format!("{name} = tensor.pad {} low{before:?} high{behind:?} {{", t.name));
        let indices: Vec<String> = whole.sizes.iter().map(|_| format!("{}: index", b.w.fresh())).collect();
        b.w.line(&format!("^bb0({}):", indices.join(", ")));
        b.w.located(&format!("  tensor.yield {value} : {}", t.element_text));
        b.w.located(&format!("}} : {} to {}", t.ty, whole.ty));
        t = Tensor { name, ..whole };
    }
    if rest.sizes != t.sizes {
        let offsets: Vec<String> = low.iter().map(|n| n.min(&0).unsigned_abs().to_string()).collect();
        t = b.extract_slice(&t, &offsets, &rest.sizes, &vec![1; low.len()]);
    }
    Ok(t)
}

/// Writes a dynamic slice. The operands are the data and a start for each dimension.
pub fn dynamic_slice(b: &mut Builder, sizes: &[i64], ins: &[Tensor], out: &Tensor) -> Tensor {
    let offsets = starts(b, &ins[1..], &ins[0].sizes, sizes);
    let cut = b.extract_slice(&ins[0], &offsets, sizes, &vec![1; out.sizes.len()]);
    b.converted(&cut, out)
}

/// Writes a dynamic update slice. The operands are the data, the block, and a start for each dimension.
pub fn dynamic_update_slice(b: &mut Builder, ins: &[Tensor], out: &Tensor) -> Tensor {
    if ins[1].is_empty() {
        return b.converted(&ins[0], out);
    }
    let offsets = starts(b, &ins[2..], &ins[0].sizes, &ins[1].sizes);
    let (data, update) = (b.without_encoding(&ins[0]), b.without_encoding(&ins[1]));
    let written = b.as_plain(out, &Builder::insertion(&update, &data, &offsets));
    b.converted(&written, out)
}

/// Starts, clamped so that a block of these sizes fits into the data.
pub fn starts(b: &mut Builder, scalars: &[Tensor], data: &[i64], block: &[i64]) -> Vec<String> {
    let each = scalars.iter().zip(data.iter().zip(block));
    each.map(|(t, (n, size))| {
        let value = b.scalar(t);
        Builder::clamped(&mut b.w, &value, t, n - size)
    })
    .collect()
}
