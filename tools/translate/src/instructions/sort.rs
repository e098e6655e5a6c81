//! Sort and top-k: a merge sort of each line along a dimension, stable, in `n * log2(n)` steps.
//!
//! A line of `n` elements is copied into scratch. Runs of 1, 2, 4, ... elements are merged from one scratch array into
//! the other and back, two widths in each round, so the sorted line is always in the first. A width beyond
//! the line merges as a copy.

use super::computation::applied;
use crate::builder::Builder;
use crate::loops::Typed;
use crate::scalar::order;
use crate::syntax::plain;
use crate::tensor::{ImportResult, Tensor};
use crate::writer::Writer;
use tensor_layout::element::ElementType;
use tensor_layout::hlo::Instruction;

/// Whether the elements of the second list come before those of the first; a list has one element of each array.
type Before<'a> = &'a mut dyn FnMut(&mut Writer, &[String], &[String]) -> ImportResult<String>;

/// Sorts the operands together along a dimension, up to `length` if given; the called computation compares two
/// elements of each.
pub fn sort(
    b: &mut Builder,
    i: &Instruction,
    dim: usize,
    ins: &[Tensor],
    outs: Vec<Tensor>,
    length: Option<String>,
) -> ImportResult<Vec<Tensor>> {
    let precise = ins.iter().zip(&outs).map(|(t, out)| b.precise(t, out)).collect::<ImportResult<Vec<_>>>()?;
    let number = i.called.first().copied().ok_or("a sort needs a computation")?;
    let module = b.module;
    let types: Vec<ElementType> = precise.iter().flat_map(|t| [t.element; 2]).collect();
    let sorted = merged(b, &precise, (dim, length), &mut |w, a, b| {
        let pairs: Vec<String> = a.iter().zip(b).flat_map(|(a, b)| [b.clone(), a.clone()]).collect();
        let found = applied(module, number, w, &pairs, &types, &[ElementType::Pred])?;
        found.into_iter().next().ok_or_else(|| "a comparison must have a result".into())
    })?;
    b.all_converted(&sorted, &outs)
}

/// The first elements of each line, of `length` elements if given, in descending or ascending order, and their
/// indices.
pub fn top(
    b: &mut Builder,
    largest: bool,
    ins: &[Tensor],
    outs: Vec<Tensor>,
    length: Option<String>,
) -> ImportResult<Vec<Tensor>> {
    let data = b.without_encoding(&ins[0]);
    let (rank, element) = (data.sizes.len(), data.element);
    let last = rank.checked_sub(1).ok_or("`topk` of a scalar cannot be imported")?;
    let of = outs[1].element_text.clone();
    let places =
        Tensor { element: outs[1].element, ty: plain(&data.sizes, &of), element_text: of.clone(), ..data.clone() };
    let places = b.each(Vec::new(), &places, |w, _| {
        let index = w.op(&format!("linalg.index {last} : index"));
        Ok(w.index_as(&index, &of))
    })?;
    let sorted = merged(b, &[data, places], (last, length), &mut |w, a, b| {
        let (low, high) = if largest { (&a[0], &b[0]) } else { (&b[0], &a[0]) };
        order::less(w, low, high, element)
            .ok_or_else(|| format!("`topk` of {} cannot be imported", element.name()).into())
    })?;
    let zeros = vec!["0".to_string(); rank];
    let cut: Vec<Tensor> =
        sorted.iter().zip(&outs).map(|(t, out)| b.extract_slice(t, &zeros, &out.sizes, &vec![1; rank])).collect();
    let cut = cut.iter().zip(&outs).map(|(t, out)| b.precise(t, out)).collect::<ImportResult<Vec<_>>>()?;
    b.all_converted(&cut, &outs)
}

/// The tensors sorted together by `before` along a dimension, without encodings. Elements past the length of
/// a line stay in place.
fn merged(
    b: &mut Builder,
    tensors: &[Tensor],
    (dim, length): (usize, Option<String>),
    before: Before,
) -> ImportResult<Vec<Tensor>> {
    let data: Vec<Tensor> = tensors.iter().map(|t| b.without_encoding(t)).collect();
    let n = data[0].sizes[dim];
    if n < 2 {
        return Ok(data);
    }
    let w = &mut b.w;
    let lines: Vec<Typed> = data.iter().map(|t| Typed::new("", &plain(&[n], &t.element_text))).collect();
    let scratch = |w: &mut Writer| -> Vec<Typed> {
        lines.iter().map(|t| Typed { name: w.op(&format!("tensor.empty() : {}", t.ty)), ty: t.ty.clone() }).collect()
    };
    let begin = [Typed::all(&data), scratch(w), scratch(w)].concat();
    let bounds: Vec<String> =
        (0..data[0].sizes.len()).map(|k| w.index(if k == dim { 1 } else { data[0].sizes[k] })).collect();
    let (zero, one, two) = (w.index(0), w.index(1), w.index(2));
    let length = length.unwrap_or_else(|| w.index(n));
    // Each round makes runs four times as long.
    let rounds = (0..).find(|k| 4i128.pow(*k) >= i128::from(n)).unwrap_or(0);
    let rounds = w.index(i64::from(rounds));
    let count = data.len();
    let of: Vec<&str> = data.iter().map(|t| t.element_text.as_str()).collect();
    let done = w.nest(&bounds, begin, &mut |w, line, values| {
        let at = |k: &String| {
            let mut at = line.to_vec();
            at[dim] = k.clone();
            at
        };
        let (whole, scratch) = values.split_at(count);
        let (first, second) = scratch.split_at(count);
        let first = w.repeat([&zero, &length, &one], first.to_vec(), &mut |w, k, into| {
            let loaded: Vec<String> = whole.iter().map(|t| w.load(t, &at(&k[0]))).collect();
            Ok(loaded.iter().zip(&into).map(|(value, t)| w.store(value, t, k)).collect())
        })?;
        let both = w.repeat([&zero, &rounds, &one], [first, second.to_vec()].concat(), &mut |w, round, both| {
            let (first, second) = both.split_at(count);
            let shift = w.on_index("muli", &round[0], &two);
            let width = w.on_index("shli", &one, &shift);
            let second = pass(w, [&length, &width], &of, [first, second], before)?;
            let width = w.on_index("muli", &width, &two);
            let first = pass(w, [&length, &width], &of, [&second, first], before)?;
            Ok([first, second].concat())
        })?;
        let whole = w.repeat([&zero, &length, &one], whole.to_vec(), &mut |w, k, into| {
            let loaded: Vec<String> = both[..count].iter().map(|t| w.load(t, k)).collect();
            Ok(loaded.iter().zip(&into).map(|(value, t)| w.store(value, t, &at(&k[0]))).collect())
        })?;
        Ok([whole, both].concat())
    })?;
    Ok(data.iter().zip(done).map(|(t, v)| Tensor { name: v.name, ..t.clone() }).collect())
}

/// Merges each two runs of `width` elements of one line into a run of the other line.
fn pass(
    w: &mut Writer,
    [length, width]: [&str; 2],
    of: &[&str],
    [from, into]: [&[Typed]; 2],
    before: Before,
) -> ImportResult<Vec<Typed>> {
    let (zero, one) = (w.index(0), w.index(1));
    let last = w.on_index("subi", length, &one);
    let step = w.on_index("addi", width, width);
    w.repeat([&zero, length, &step], into.to_vec(), &mut |w, low, into| {
        let middle = w.on_index("addi", &low[0], width);
        let middle = w.on_index("minui", &middle, length);
        let high = w.on_index("addi", &low[0], &step);
        let high = w.on_index("minui", &high, length);
        let index = |name: &str| Typed::new(name, "index");
        // The next elements of the left run and of the right one.
        let begin = [vec![index(&low[0]), index(&middle)], into].concat();
        let done = w.repeat([&low[0], &high, &one], begin, &mut |w, k, values| {
            let (left, right) = (&values[0].name, &values[1].name);
            let elements = |w: &mut Writer, at: &str| -> Vec<String> {
                let inside = [w.on_index("minui", at, &last)];
                from.iter().map(|t| w.load(t, &inside)).collect()
            };
            let (lefts, rights) = (elements(w, left), elements(w, right));
            let first = before(w, &lefts, &rights)?;
            let ended = w.compare("uge", left, &middle, "index");
            let first = w.same("arith.ori", &[ended, first], "i1");
            let some = w.compare("ult", right, &high, "index");
            let take = w.same("arith.andi", &[some, first], "i1");
            let after = |w: &mut Writer, at: &str| w.on_index("addi", at, &one);
            let (next_left, next_right) = (after(w, left), after(w, right));
            let mut next = vec![
                index(&w.select(&take, left, &next_left, "index")),
                index(&w.select(&take, &next_right, right, "index")),
            ];
            for (number, t) in values[2..].iter().enumerate() {
                let value = w.select(&take, &rights[number], &lefts[number], of[number]);
                next.push(w.store(&value, t, k));
            }
            Ok(next)
        })?;
        Ok(done[2..].to_vec())
    })
}
