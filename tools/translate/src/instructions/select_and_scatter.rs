//! Select-and-scatter: each window of the data selects one element, and the source's element for the window
//! is combined into the result at the selected index.

use super::computation::applied;
use crate::builder::Builder;
use crate::loops::Typed;
use crate::tensor::{ImportResult, Tensor};
use crate::writer::Writer;
use tensor_layout::element::ElementType;
use tensor_layout::hlo::Instruction;
use tensor_layout::operations::WindowDim;

/// Writes a select-and-scatter. The operands are the data, the source and the initial value of the result.
pub fn select_and_scatter(
    b: &mut Builder,
    i: &Instruction,
    window: &[WindowDim],
    ins: &[Tensor],
    out: &Tensor,
) -> ImportResult<Tensor> {
    let [select, scatter] = i.called[..] else { return Err("two computations must be named".into()) };
    let precise = [b.precise(&ins[0], out)?, b.precise(&ins[1], out)?];
    let [data, source] = precise.each_ref().map(|t| b.without_encoding(t));
    let init = b.number(&ins[2], out.element)?;
    let filled = b.filled(&data, &init);
    let zero = b.zero(&data);
    let (module, element) = (b.module, out.element);
    let all = [Typed::new(&data.name, &data.ty), Typed::new(&source.name, &source.ty)];
    let w = &mut b.w;
    let windows: Vec<String> = source.sizes.iter().map(|n| w.index(*n)).collect();
    let places: Vec<String> = window.iter().map(|dim| w.index(dim.size)).collect();
    let begin = Typed::all(&[filled]);
    let done = w.nest(&windows, begin, &mut |w, at, values| {
        // The selected element, its index, and whether there is one: padding is never selected.
        let (none, first) = (w.constant("false", "i1"), w.index(0));
        let mut chosen = vec![Typed::new(&none, "i1"), Typed::new(&zero, &data.element_text)];
        chosen.extend(window.iter().map(|_| Typed::new(&first, "index")));
        let chosen = w.nest(&places, chosen, &mut |w, place, chosen| {
            let (index, inside) = under(w, window, &data.sizes, at, place);
            let value = w.load(&all[0], &index);
            let pair = [chosen[1].name.clone(), value.clone()];
            let keeps = applied(module, select, w, &pair, &[element; 2], &[ElementType::Pred])?;
            let keeps = w.same("arith.andi", &[chosen[0].name.clone(), keeps[0].clone()], "i1");
            let yes = w.constant("true", "i1");
            let turned = w.same("arith.xori", &[keeps, yes], "i1");
            let take = w.same("arith.andi", &[inside.clone(), turned], "i1");
            let some = w.same("arith.ori", &[chosen[0].name.clone(), inside], "i1");
            let new = [vec![some.clone(), value], index].concat();
            let next = chosen.iter().zip(new).enumerate().map(|(k, (old, new))| match k {
                0 => Typed::new(&some, "i1"),
                _ => Typed::new(&w.select(&take, &new, &old.name, &old.ty), &old.ty),
            });
            Ok(next.collect())
        })?;
        let one = w.index(1);
        let times = w.select(&chosen[0].name, &one, &first, "index");
        let index: Vec<String> = chosen[2..].iter().map(|v| v.name.clone()).collect();
        w.repeat([&first, &times, &one], values, &mut |w, _, values| {
            let pair = [w.load(&values[0], &index), w.load(&all[1], at)];
            let sum = applied(module, scatter, w, &pair, &[element; 2], &[element])?;
            Ok(vec![w.store(&sum[0], &values[0], &index)])
        })
    })?;
    Ok(b.converted(&Tensor { name: done[0].name.clone(), ..data }, out))
}

/// The index of the data at a place of a window, clamped where that is padding; and whether it is an element.
fn under(
    w: &mut Writer,
    window: &[WindowDim],
    sizes: &[i64],
    at: &[String],
    place: &[String],
) -> (Vec<String>, String) {
    let mut inside = w.constant("true", "i1");
    let mut index = Vec::with_capacity(window.len());
    for (k, dim) in window.iter().enumerate() {
        let [stride, dilation, low, base] =
            [dim.stride, dim.window_dilation, dim.low, dim.base_dilation].map(|n| w.index(n));
        let start = w.on_index("muli", &at[k], &stride);
        let offset = w.on_index("muli", &place[k], &dilation);
        let sum = w.on_index("addi", &start, &offset);
        let position = w.on_index("subi", &sum, &low);
        // As an unsigned number, a position before the data is beyond it.
        let quotient = w.on_index("divui", &position, &base);
        let rest = w.on_index("remui", &position, &base);
        let (zero, size, last) = (w.index(0), w.index(sizes[k]), w.index(sizes[k] - 1));
        for holds in [w.compare("eq", &rest, &zero, "index"), w.compare("ult", &quotient, &size, "index")] {
            inside = w.same("arith.andi", &[inside, holds], "i1");
        }
        index.push(w.on_index("minui", &quotient, &last));
    }
    (index, inside)
}
