//! Reductions over dimensions and over windows, as `linalg.generic` with the computation of the reduction in its region.

use super::computation::applied;
use super::shapes::padded;
use crate::builder::{Builder, Generic, Operand};
use crate::syntax::{dims, plain};
use crate::tensor::{Done, Tensor};
use tensor_layout::element::ElementType;
use tensor_layout::hlo::Instruction;
use tensor_layout::operations::WindowDim;

/// The operands are the inputs, then as many initial values.
pub fn reduce(
    b: &mut Builder,
    i: &Instruction,
    reduced: &[usize],
    ins: &[Tensor],
    outs: Vec<Tensor>,
) -> Done<Vec<Tensor>> {
    let (inputs, initial) = ins.split_at(outs.len());
    let rank = inputs[0].sizes.len();
    let kept: Vec<usize> = (0..rank).filter(|k| !reduced.contains(k)).collect();
    // The loops are those of the result, then the reduced ones.
    let place = |k: usize| match kept.iter().position(|dim| *dim == k) {
        Some(place) => place,
        None => kept.len() + reduced.iter().position(|dim| *dim == k).unwrap_or(0),
    };
    let index = dims((0..rank).map(place));
    let operands = inputs.iter().map(|t| Operand::new(t, index.clone())).collect();
    let inits = initial.iter().zip(&outs).map(|(t, out)| Ok(Some(b.number(t, out.element)?))).collect::<Done<_>>()?;
    combined(b, i, Generic { loops: rank, ins: operands, outs, inits }, inputs)
}

/// The operands are the inputs, then as many initial values, which are the padding, too.
pub fn reduce_window(
    b: &mut Builder,
    i: &Instruction,
    window: &[WindowDim],
    ins: &[Tensor],
    outs: Vec<Tensor>,
) -> Done<Vec<Tensor>> {
    let (inputs, initial) = ins.split_at(outs.len());
    let rank = window.len();
    let part = |of: fn(&WindowDim) -> i64| window.iter().map(of).collect::<Vec<i64>>();
    let (low, high, between) = (part(|w| w.low), part(|w| w.high), part(|w| w.base_dilation - 1));
    // The loops are those of the result, then those of the window.
    let index = |k: usize| format!("d{k} * {} + d{} * {}", window[k].stride, rank + k, window[k].window_dilation);
    let index = (0..rank).map(index).collect::<Vec<_>>().join(", ");
    let (mut operands, mut inits) = (Vec::new(), Vec::new());
    for ((t, init), out) in inputs.iter().zip(initial).zip(&outs) {
        let value = b.number(init, t.element)?;
        let padded = padded(b, t, [&low, &high, &between], &value)?;
        operands.push(Operand::new(&padded, index.clone()));
        inits.push(Some(b.number(init, out.element)?));
    }
    operands.push(window_operand(b, window, rank));
    combined(b, i, Generic { loops: 2 * rank, ins: operands, outs, inits }, inputs)
}

/// An operand that is not read: its sizes are those of the window's loops, which no other operand gives.
pub fn window_operand(b: &mut Builder, window: &[WindowDim], first: usize) -> Operand {
    let sizes: Vec<i64> = window.iter().map(|w| w.size).collect();
    let ty = plain(&sizes, "i1");
    let name = b.w.op(&format!("tensor.empty() : {ty}"));
    let tensor = Tensor { name, sizes, element: ElementType::Pred, of: "i1".to_string(), ty };
    Operand::new(&tensor, dims(first..first + window.len()))
}

/// Writes a reduction whose region is the called computation: it combines the elements of the results so far with those
/// of the inputs, which are the first operands.
fn combined(b: &mut Builder, i: &Instruction, generic: Generic, inputs: &[Tensor]) -> Done<Vec<Tensor>> {
    let number = i.called.first().copied().ok_or("a reduction needs a computation")?;
    let (module, behind) = (b.module, generic.ins.len());
    let from: Vec<ElementType> = generic.outs.iter().chain(inputs).map(|t| t.element).collect();
    let count = inputs.len();
    b.generic(generic, |w, args| applied(module, number, w, &[&args[behind..], &args[..count]].concat(), &from, &from))
}
