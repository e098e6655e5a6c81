//! Operations that only move the lanes of vectors: for each lane of the result, the operand and its lane.

use crate::reader::mlir::{DYNAMIC, Op, integers};
use crate::reader::model::{Action, Kind, Slot, Type};

/// The most lanes that are listed one by one. The vectors of programs have thousands at most.
const MOST: usize = 1 << 20;

/// The sizes of a vector or tensor of static shape, none of one element, and their product; nothing for more than [`MOST`].
pub fn shape(r#type: &Type) -> Option<(Vec<usize>, usize)> {
    let sizes: Vec<usize> = match r#type {
        Type::Scalar(_) => vec![],
        Type::Shaped { kind: Kind::Vector | Kind::Tensor, sizes, .. } => {
            sizes.iter().map(|n| usize::try_from((*n)?).ok()).collect::<Option<_>>()?
        }
        _ => return None,
    };
    let count = sizes.iter().try_fold(1_usize, |count, n| count.checked_mul(*n)).filter(|count| *count <= MOST)?;
    Some((sizes, count))
}

fn sizes(r#type: &Type) -> Option<Vec<usize>> {
    shape(r#type).map(|(sizes, _)| sizes)
}

/// The indices of a shape, in row-major order.
fn indices(sizes: &[usize]) -> impl Iterator<Item = Vec<usize>> {
    let sizes = sizes.to_vec();
    (0..sizes.iter().product()).map(move |mut k| {
        let mut index = vec![0; sizes.len()];
        for d in (0..sizes.len()).rev() {
            (index[d], k) = (k % sizes[d], k / sizes[d]);
        }
        index
    })
}

/// The row-major number of an index.
fn number(index: &[usize], sizes: &[usize]) -> usize {
    index.iter().zip(sizes).fold(0, |number, (i, n)| number * n + i)
}

/// Operations with several results, each as if it were one operation.
pub fn of_each_result(
    name: &str,
    types: &[Type],
    results: &[Slot],
    operands: impl Fn() -> Vec<Slot>,
) -> Option<Vec<Action>> {
    let lanes: fn(usize, usize) -> usize = match name {
        "vector.deinterleave" => |result, lane| lane * 2 + result,
        "vector.to_elements" => |result, _| result,
        _ => return None,
    };
    let each = results.iter().enumerate().map(|(k, result)| {
        let (_, count) = shape(&types[*result as usize])?;
        let sources = (0..count).map(|lane| (0, lanes(k, lane) as u32)).collect();
        Some(Action::Lanes { operands: operands(), sources })
    });
    each.collect()
}

/// The sources of the lanes of an operation's only result; one for a tensor whose elements are all the same.
pub fn sources(op: Op, name: &str, types: &[Type], operands: &[Slot], result: Slot) -> Option<Vec<(u32, u32)>> {
    if name == "splat" {
        return Some(vec![(0, 0)]);
    }
    let of = |k: usize| sizes(&types[*operands.get(k)? as usize]);
    let (to, count) = shape(&types[result as usize])?;
    let list = |name: &str| -> Option<Vec<usize>> {
        integers(op, name)?.into_iter().map(|n| if n == DYNAMIC { None } else { usize::try_from(n).ok() }).collect()
    };
    let each = |source: &dyn Fn(Vec<usize>) -> (usize, usize)| {
        let pair = |(operand, lane): (usize, usize)| (operand as u32, lane as u32);
        Some(indices(&to).map(|index| pair(source(index))).collect())
    };
    match name {
        "shape_cast" => each(&|index| (0, number(&index, &to))),
        "from_elements" => each(&|index| (number(&index, &to), 0)),
        "broadcast" => {
            let from = of(0)?;
            let skip = to.len().checked_sub(from.len())?;
            each(&|index| {
                let index: Vec<usize> =
                    index[skip..].iter().zip(&from).map(|(i, n)| if *n == 1 { 0 } else { *i }).collect();
                (0, number(&index, &from))
            })
        }
        "transpose" => {
            let (from, permutation) = (of(0)?, list("permutation")?);
            each(&|index| {
                let mut source = vec![0; index.len()];
                permutation.iter().zip(&index).for_each(|(d, i)| source[*d] = *i);
                (0, number(&source, &from))
            })
        }
        "interleave" => each(&|index| {
            let lane = number(&index, &to);
            (lane % 2, lane / 2)
        }),
        "shuffle" => {
            let (mask, from) = (list("mask")?, of(0)?);
            let (rows, row) = (*from.first().unwrap_or(&1), count / mask.len().max(1));
            each(&|index| {
                let lane = number(&index, &to);
                let from = mask[lane / row];
                (usize::from(from >= rows), (from - if from >= rows { rows } else { 0 }) * row + lane % row)
            })
        }
        "extract" => {
            let (from, at) = (of(0)?, list("static_position")?);
            let first = number(&at, &from) * count;
            each(&|index| (0, first + number(&index, &to)))
        }
        "insert" => {
            let (item, at) = (of(0)?, list("static_position")?);
            let item: usize = item.iter().product();
            let first = number(&at, &to) * item;
            each(&|index| {
                let lane = number(&index, &to);
                if (first..first + item).contains(&lane) { (0, lane - first) } else { (1, lane) }
            })
        }
        "extract_strided_slice" => {
            let (from, offsets, strides) = (of(0)?, list("offsets")?, list("strides")?);
            each(&|mut index| {
                for (d, offset) in offsets.iter().enumerate() {
                    index[d] = offset + index[d] * strides[d];
                }
                (0, number(&index, &from))
            })
        }
        "insert_strided_slice" => {
            let (item, offsets) = (of(0)?, list("offsets")?);
            let skip = to.len().checked_sub(item.len())?;
            each(&|index| {
                let inside = |d: usize| index[d].checked_sub(offsets[d]);
                let at: Option<Vec<usize>> = (0..to.len()).map(inside).collect();
                let at = at.filter(|at| {
                    at[..skip].iter().all(|i| *i == 0) && at[skip..].iter().zip(&item).all(|(i, n)| i < n)
                });
                at.map_or((1, number(&index, &to)), |at| (0, number(&at[skip..], &item)))
            })
        }
        _ => None,
    }
}
