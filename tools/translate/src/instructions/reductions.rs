//! Reductions over dimensions and over windows: `linalg.generic` with the reduction's computation in its region.

use super::computation::applied;
use super::monoid::Monoids;
use super::running::{self, Fold, Running};
use super::shapes::{broadcast, padded};
use crate::builder::{Builder, Generic, Operand};
use crate::scalar::convert::converted;
use crate::syntax::{dims, plain};
use crate::tensor::{ImportResult, Tensor};
use tensor_layout::element::ElementType;
use tensor_layout::hlo::Instruction;
use tensor_layout::operations::WindowDim;

/// Writes a reduction over dimensions. The operands are the inputs, then as many initial values.
pub fn reduce(
    b: &mut Builder,
    i: &Instruction,
    reduced: &[usize],
    ins: &[Tensor],
    outs: Vec<Tensor>,
) -> ImportResult<Vec<Tensor>> {
    let (inputs, initial) = ins.split_at(outs.len());
    let rank = inputs[0].sizes.len();
    let kept: Vec<usize> = (0..rank).filter(|k| !reduced.contains(k)).collect();
    // Loops over the result, then over the reduced dimensions.
    let place = |k: usize| match kept.iter().position(|dim| *dim == k) {
        Some(place) => place,
        None => kept.len() + reduced.iter().position(|dim| *dim == k).unwrap_or(0),
    };
    let index = dims((0..rank).map(place));
    let operands = inputs.iter().map(|t| Operand::new(t, index.clone())).collect();
    let inits =
        initial.iter().zip(&outs).map(|(t, out)| Ok(Some(b.number(t, out.element)?))).collect::<ImportResult<_>>()?;
    combined(b, i, Generic { loops: rank, ins: operands, outs, inits }, inputs, None)
}

/// Writes a reduction over windows. The operands are the inputs, then as many initial values. A window combines the
/// initial value with its elements in the order of their places; padding is no element.
pub fn reduce_window(
    b: &mut Builder,
    i: &Instruction,
    window: &[WindowDim],
    ins: &[Tensor],
    outs: Vec<Tensor>,
) -> ImportResult<Vec<Tensor>> {
    let (inputs, initial) = ins.split_at(outs.len());
    let (from, to) = (&inputs[0].sizes, &outs[0].sizes);
    if let Some((own, whole)) = whole_dims(window, from, to) {
        let sizes: Vec<i64> = own.iter().map(|k| from[*k]).collect();
        let bare = |out: &Tensor| Tensor { ty: plain(&sizes, &out.element_text), sizes: sizes.clone(), ..out.clone() };
        let reduced = reduce(b, i, &whole, ins, outs.iter().map(bare).collect())?;
        return reduced.iter().zip(&outs).map(|(reduced, out)| broadcast(b, &own, reduced, out)).collect();
    }
    let computation = *i.called.first().ok_or("a reduction needs a computation")?;
    let types: Vec<ElementType> = outs.iter().chain(inputs).map(|t| t.element).collect();
    let monoids = Monoids::new(b.module, computation, &types);
    let inits = initial.iter().zip(&outs).map(|(t, out)| b.number(t, out.element)).collect::<ImportResult<Vec<_>>>()?;
    let neutral = match &monoids {
        Some(monoids) if window.iter().any(is_padded) => monoids.neutral(&mut b.w, &inits),
        _ => None,
    };
    let others = (0..window.len()).filter(|k| !is_own(&window[*k]));
    let runs = |k: &usize| Running::new(&window[*k], from[*k], to[*k]).map(|running| (*k, running));
    let (along, others): (Vec<usize>, Vec<usize>) = others.partition(|k| runs(k).is_some());
    let along: Vec<(usize, Running)> = along.iter().filter_map(runs).collect();
    let may_run = match (&along[..], &others[..]) {
        ([], _) => false,
        ([(_, running)], []) => !running.backward || monoids.is_some(),
        _ => monoids.is_some(),
    };
    if may_run {
        let fold = Fold { module: b.module, computation, from: types };
        return along_each(b, i, fold, (window, &along, &others), (inputs, &inits), outs, neutral.as_deref());
    }
    windows(b, i, window, (inputs, &inits), outs, neutral.as_deref())
}

/// A reduction over windows along one dimension after the other: those `along` which windows run, the last one first,
/// and then the `others`. The initial value belongs to each window once, so only the last step begins with it. Without
/// a neutral value there is one step for all others.
fn along_each(
    b: &mut Builder,
    i: &Instruction,
    mut fold: Fold,
    (window, along, others): (&[WindowDim], &[(usize, Running)], &[usize]),
    (inputs, inits): (&[Tensor], &[String]),
    outs: Vec<Tensor>,
    neutral: Option<&[String]>,
) -> ImportResult<Vec<Tensor>> {
    let mut now = inputs.to_vec();
    let mut sizes = now[0].sizes.clone();
    let made = |sizes: &[i64]| -> Vec<Tensor> {
        outs.iter().map(|t| Tensor { ty: plain(sizes, &t.element_text), sizes: sizes.to_vec(), ..t.clone() }).collect()
    };
    for (number, (dim, running)) in along.iter().enumerate().rev() {
        let begin = (number == 0 && others.is_empty()).then_some(inits);
        sizes[*dim] = running.windows;
        now = running::running(b, &fold, (*dim, *running), &now, begin, &made(&sizes))?;
        fold.from = outs.iter().chain(&outs).map(|t| t.element).collect();
    }
    let together = if neutral.is_some() { 1 } else { others.len().max(1) };
    for (number, dims) in others.chunks(together).enumerate().rev() {
        let begin = if number == 0 { inits } else { neutral.unwrap_or(inits) };
        dims.iter().for_each(|dim| sizes[*dim] = outs[0].sizes[*dim]);
        let own: Vec<WindowDim> = (0..window.len()).map(|k| if dims.contains(&k) { window[k] } else { OWN }).collect();
        now = windows(b, i, &own, (&now, begin), made(&sizes), neutral)?;
    }
    // Windows without elements.
    let between = vec![0; sizes.len()];
    let (mut low, mut high) = (between.clone(), between.clone());
    for (dim, running) in along {
        *(if running.backward { &mut high[*dim] } else { &mut low[*dim] }) = running.empty;
    }
    if low.iter().chain(&high).any(|n| *n > 0) {
        let whole = now.iter().zip(inits).map(|(t, init)| padded(b, t, [&low, &high, &between], init));
        now = whole.collect::<ImportResult<_>>()?;
    }
    b.all_converted(&now, &outs)
}

/// A window of one element, at its own index.
const OWN: WindowDim =
    WindowDim { size: 1, stride: 1, low: 0, high: 0, window_dilation: 1, base_dilation: 1, reversed: false };

fn is_own(w: &WindowDim) -> bool {
    let WindowDim { size, stride, low, high, base_dilation, .. } = *w;
    (size, stride, low, high, base_dilation) == (OWN.size, OWN.stride, OWN.low, OWN.high, OWN.base_dilation)
}

/// Whether some places of the windows along a dimension may have no element.
fn is_padded(w: &WindowDim) -> bool {
    w.low > 0 || w.high > 0 || w.base_dilation > 1
}

/// Reduces window by window. The padding has the neutral values; without them it is masked.
fn windows(
    b: &mut Builder,
    i: &Instruction,
    window: &[WindowDim],
    (inputs, inits): (&[Tensor], &[String]),
    outs: Vec<Tensor>,
    neutral: Option<&[String]>,
) -> ImportResult<Vec<Tensor>> {
    let rank = window.len();
    let part = |of: fn(&WindowDim) -> i64| window.iter().map(of).collect::<Vec<i64>>();
    let (low, high, between) = (part(|w| w.low), part(|w| w.high), part(|w| w.base_dilation - 1));
    // Loops over the result, then over the window.
    let index = |k: usize| format!("d{k} * {} + d{} * {}", window[k].stride, rank + k, window[k].window_dilation);
    let index = (0..rank).map(index).collect::<Vec<_>>().join(", ");
    let mut operands = Vec::new();
    for ((t, value), out) in inputs.iter().zip(neutral.unwrap_or(inits)).zip(&outs) {
        let value = converted(&mut b.w, value, out.element, t.element)?;
        let padded = padded(b, t, [&low, &high, &between], &value)?;
        operands.push(Operand::new(&padded, index.clone()));
    }
    let inits = inits.iter().cloned().map(Some).collect();
    let mask = (neutral.is_none() && window.iter().any(is_padded)).then_some(operands.len());
    if mask.is_some() {
        let inside = mask_of(b, &inputs[0].sizes, [&low, &high, &between])?;
        operands.push(Operand::new(&inside, index));
    }
    operands.push(window_operand(b, window, rank));
    combined(b, i, Generic { loops: 2 * rank, ins: operands, outs, inits }, inputs, mask)
}

/// An array of bytes, 1 where there is an element, and 0 in padding.
fn mask_of(b: &mut Builder, sizes: &[i64], padding: [&[i64]; 3]) -> ImportResult<Tensor> {
    let [one, zero] = ["1", "0"].map(|value| b.w.constant(value, "i8"));
    let elements = b.filled(&array(sizes, ElementType::U8, "i8"), &one);
    padded(b, &elements, padding, &zero)
}

/// An array without a name, with elements of type `of`.
fn array(sizes: &[i64], element: ElementType, of: &str) -> Tensor {
    Tensor { sizes: sizes.to_vec(), ty: plain(sizes, of), ..Tensor::scalar(element, of) }
}

/// The own and the whole dimensions, if each window covers whole dimensions, besides padding, and in the others one
/// element of its own index. Such windows have equal results along the whole dimensions, where places times
/// windows would be quadratic work. `None` otherwise, and where there is only one window.
fn whole_dims(window: &[WindowDim], sizes: &[i64], windows: &[i64]) -> Option<(Vec<usize>, Vec<usize>)> {
    let (own, whole): (Vec<usize>, Vec<usize>) = (0..window.len()).partition(|k| is_own(&window[*k]));
    let all = whole.iter().all(|k| meets_all(&window[*k], sizes[*k], windows[*k]));
    (all && whole.iter().any(|k| windows[*k] > 1)).then_some((own, whole))
}

/// Whether each window along a dimension covers each of its `size` elements. Element `e` is at place
/// `(low + e * base_dilation - o * stride) / window_dilation` of window `o`: least for the first element in the last
/// window, greatest for the last element in the first window.
fn meets_all(w: &WindowDim, size: i64, windows: i64) -> bool {
    let [last, last_window, last_place] = [size - 1, windows - 1, w.size - 1].map(i128::from);
    let [low, of_element, of_window, of_place] = [w.low, w.base_dilation, w.stride, w.window_dilation].map(i128::from);
    let at_places = low % of_place == 0
        && (last == 0 || of_element % of_place == 0)
        && (last_window == 0 || of_window % of_place == 0);
    let within = low - last_window * of_window >= 0 && low + last * of_element <= last_place * of_place;
    last >= 0 && last_window >= 0 && at_places && within
}

/// An operand that is not read: it gives the sizes of the window's loops, which no other operand has.
pub fn window_operand(b: &mut Builder, window: &[WindowDim], first: usize) -> Operand {
    let sizes: Vec<i64> = window.iter().map(|w| w.size).collect();
    let tensor = b.empty(&array(&sizes, ElementType::Pred, "i1"));
    Operand::new(&tensor, dims(first..first + window.len()))
}

/// Writes a reduction whose region is the called computation, on the results so far and on the elements of the inputs,
/// the first operands. Where the operand `mask` is 0, there is no element.
fn combined(
    b: &mut Builder,
    i: &Instruction,
    generic: Generic,
    inputs: &[Tensor],
    mask: Option<usize>,
) -> ImportResult<Vec<Tensor>> {
    let number = i.called.first().copied().ok_or("a reduction needs a computation")?;
    let (module, behind) = (b.module, generic.ins.len());
    let from: Vec<ElementType> = generic.outs.iter().chain(inputs).map(|t| t.element).collect();
    let of: Vec<String> = generic.outs.iter().map(|t| t.element_text.clone()).collect();
    let count = inputs.len();
    b.generic(generic, |w, args| {
        let so_far = &args[behind..];
        let new = applied(module, number, w, &[so_far, &args[..count]].concat(), &from, &from)?;
        let Some(mask) = mask else { return Ok(new) };
        let zero = w.constant("0", "i8");
        let inside = w.compare("ne", &args[mask], &zero, "i8");
        let each = new.iter().zip(so_far).zip(&of);
        Ok(each.map(|((new, old), of)| w.select(&inside, new, old, of)).collect())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use tensor_layout::hlo::Module;

    /// Whether each window covers each element, checked place by place.
    fn meets_all_by_definition(w: &WindowDim, size: i64, windows: i64) -> bool {
        (0..windows).all(|o| {
            let places = (0..w.size).map(|p| o * w.stride + p * w.window_dilation - w.low);
            let met: Vec<i64> = places.filter(|at| at % w.base_dilation == 0).map(|at| at / w.base_dilation).collect();
            (0..size).all(|e| met.contains(&e))
        })
    }

    /// All windows with small numbers over up to 4 elements, also those that negative padding cuts.
    #[test]
    fn windows_that_meet_all_elements_are_those_of_the_definition() {
        let (mut whole, mut others) = (0, 0);
        for n in 0..6 * 3 * 3 * 3 * 3i64 {
            let [size, stride, window_dilation, base_dilation, elements] =
                [n % 6 + 1, n / 6 % 3 + 1, n / 18 % 3 + 1, n / 54 % 3 + 1, n / 162 % 3 + 1];
            for pads in 0..81 {
                let [low, high] = [pads % 9 - 2, pads / 9 - 2];
                let padded = low + (elements - 1) * base_dilation + 1 + high;
                let span = (size - 1) * window_dilation + 1;
                if padded < span {
                    continue;
                }
                let windows = (padded - span) / stride + 1;
                let w = WindowDim { size, stride, low, high, window_dilation, base_dilation, reversed: false };
                let found = meets_all(&w, elements, windows);
                assert_eq!(found, meets_all_by_definition(&w, elements, windows), "{w:?} over {elements}");
                *(if found { &mut whole } else { &mut others }) += 1;
            }
        }
        assert!(whole > 1000 && others > 1000, "{whole} windows meet all elements, {others} do not");
    }

    /// The import of a `reduce-window` over `f32[3,4]` with this computation, initial value and window.
    fn imported(opcode: &str, initial: &str, shape: &str, window: &str) -> String {
        let text = format!(
            "HloModule m\nfold {{\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT c = f32[] {opcode}(a, b)\n}}\n\
             ENTRY main {{\n  x = f32[3,4]{{1,0}} parameter(0)\n  v = f32[] constant({initial})\n  \
             ROOT y = f32[{shape}] reduce-window(x, v), window={{{window}}}, to_apply=fold\n}}\n"
        );
        let module = Module::parse(&text).expect("HLO");
        crate::import(&module, &text, "m.hlo").expect("MLIR")
    }

    /// A window with loops of its own has an operand of `i1` for their sizes.
    #[test]
    fn windows_over_a_whole_dimension_have_no_loops() {
        let whole = ("3,4", "size=1x7 pad=0_0x3_3");
        for (opcode, initial, (shape, window), has_loops) in [
            ("maximum", "7", whole, false),
            ("add", "0", whole, false),
            ("add", "-0", whole, false),
            ("multiply", "1", ("2,4", "size=4x7 pad=1_1x3_3"), false),
            ("add", "1", whole, false),
            ("multiply", "0", whole, false),
            ("subtract", "0", whole, false),
            // A dimension is covered in part, by all windows or by one; not one element of its own index.
            ("maximum", "7", ("3,4", "size=1x5 pad=0_0x2_2"), true),
            ("maximum", "7", ("2,4", "size=2x7 pad=0_0x3_3"), true),
            ("maximum", "7", ("2,4", "size=1x7 stride=2x1 pad=0_0x3_3"), true),
            // The last windows cover all elements, or the first ones.
            ("maximum", "7", ("3,4", "size=1x6 pad=0_0x3_2"), false),
            ("maximum", "7", ("3,5", "size=1x7 pad=0_0x3_4"), false),
            ("maximum", "7", ("3,2", "size=1x4 pad=0_0x2_2 rhs_dilate=1x2"), true),
            // One window takes the same time in both ways.
            ("maximum", "7", ("3,1", "size=1x4"), true),
        ] {
            let text = imported(opcode, initial, shape, window);
            assert_eq!(text.contains("xi1>"), has_loops, "{opcode} from {initial}, {window}:\n{text}");
        }
    }
}
