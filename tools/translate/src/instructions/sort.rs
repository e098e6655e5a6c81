//! Sort and top-k: a merge sort of each line along a dimension, stable, in `n * log2(n)` steps: `layout_programs::SORT`.

use super::computation::applied;
use crate::builder::Builder;
use crate::loops::Typed;
use crate::scalar::order;
use crate::syntax::plain;
use crate::tensor::{ImportResult, Tensor};
use crate::writer::Writer;
use layout_programs::SORT;
use minijinja::{Value, context};
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
    let lines: Vec<Typed> = data.iter().map(|t| Typed::new("", &plain(&[n], &t.element_text))).collect();
    let array = |(t, line): (&Tensor, &Typed)| context! { whole => t.ty, line => line.ty, element => t.element_text };
    let arrays: Vec<Value> = data.iter().zip(&lines).map(array).collect();
    let mut begin = Typed::all(&data);
    for line in lines.iter().chain(&lines) {
        begin.push(Typed::new(&b.w.op(&format!("tensor.empty() : {}", line.ty)), &line.ty));
    }
    let length = length.unwrap_or_else(|| b.w.index(n));
    // Each round makes runs four times as long.
    let rounds = (0..).find(|k| 4i128.pow(*k) >= i128::from(n)).map_or(0, i64::from);
    let mut bounds = data[0].sizes.clone();
    bounds[dim] = 1;
    let rounds = b.w.index(rounds);
    let values = context! { arrays, dim, arguments => Vec::<String>::new() };
    let done = b.w.inline_nest(&SORT, values, &bounds, &[length, rounds], begin, &mut |w, _, elements| {
        let (left, right) = elements.split_at(data.len());
        Ok(vec![before(w, left, right)?])
    })?;
    Ok(data.iter().zip(done).map(|(t, v)| Tensor { name: v.name, ..t.clone() }).collect())
}
