//! Sums of products: dot and convolution, as `linalg.generic`.

use super::reductions::window_operand;
use super::shapes::padded;
use crate::builder::{Builder, Generic, Operand};
use crate::scalar::convert::converted;
use crate::syntax::{dims, plain};
use crate::tensor::{ImportResult, Tensor};
use crate::writer::Writer;
use tensor_layout::element::ElementType;
use tensor_layout::operations::{Convolution, DegenerateWindow, Progression};

/// Writes a product; `batch` and `contracting` are dimensions of the left and of the right operand. Loops run over the
/// result (batch, then the left's and the right's other dimensions), then over the contracting dimensions.
pub fn dot(
    b: &mut Builder,
    batch: [&[usize]; 2],
    contracting: [&[usize]; 2],
    ins: &[Tensor],
    out: &Tensor,
) -> ImportResult<Tensor> {
    let rank = out.sizes.len();
    let mut first_free = batch[0].len();
    let mut operands = Vec::new();
    for side in 0..2 {
        let sizes = ins[side].sizes.len();
        let free = (0..sizes).filter(|k| !batch[side].contains(k) && !contracting[side].contains(k));
        let free: Vec<usize> = free.collect();
        let mut index = vec![0; sizes];
        batch[side].iter().enumerate().for_each(|(k, dim)| index[*dim] = k);
        free.iter().enumerate().for_each(|(k, dim)| index[*dim] = first_free + k);
        contracting[side].iter().enumerate().for_each(|(k, dim)| index[*dim] = rank + k);
        first_free += free.len();
        operands.push(Operand::new(&ins[side], dims(index)));
    }
    product(b, contracting[0].len(), operands, [ins[0].element, ins[1].element], out)
}

/// Writes a convolution. The operands are the input and the kernel. Windows with one place on the data each have no
/// loop over places and no padding: so batch dimensions of products, which XLA:TPU writes as windows over dilated data,
/// cost nothing.
pub fn convolution(b: &mut Builder, c: &Convolution, ins: &[Tensor], out: &Tensor) -> ImportResult<Tensor> {
    let (input, kernel) = (&ins[0], &ins[1]);
    let rank = out.sizes.len();
    let zero = b.zero(input);
    let mut padding = [vec![0; rank], vec![0; rank], vec![0; rank]];
    let (mut places, mut looped) = (Vec::new(), Vec::new());
    for (k, w) in c.window.iter().enumerate() {
        let dim = c.input_spatial[k];
        let windows = out.sizes[c.output_spatial[k]];
        // An array indexed by the window alone must have as many elements as there are windows.
        let fits = |line: &Progression, size| (line.start, line.step) != (0, 1) || size == windows;
        // A window of one place without padding has a loop of one iteration, as every window of a convolution.
        let is_unit = w.size == 1 && (w.low, w.high, w.base_dilation) == (0, 0, 1);
        let only = if is_unit { None } else { w.degenerate_window(input.sizes[dim], windows) };
        if let Some(only) = only.filter(|only| fits(&only.element, input.sizes[dim]) && fits(&only.place, w.size)) {
            places.push(Place::Only(only));
            continue;
        }
        (padding[0][dim], padding[1][dim], padding[2][dim]) = (w.low, w.high, w.base_dilation - 1);
        places.push(Place::Loop(rank + looped.len()));
        looped.push(*w);
    }
    let padded = padded(b, input, padding.each_ref().map(|all| &all[..]), &zero)?;
    let (of_input, of_kernel) =
        indices(c, &places, rank + looped.len(), kernel.sizes[c.kernel_input_feature], &out.sizes);
    let reversed = places.iter().zip(&c.window).any(|(place, w)| match place {
        Place::Loop(_) => w.reversed,
        Place::Only(only) => only.place.step < 0,
    });
    let kernel = if reversed { b.without_encoding(kernel) } else { kernel.clone() };
    let mut operands = vec![Operand::new(&padded, of_input), Operand::new(&kernel, of_kernel)];
    if !looped.is_empty() {
        operands.push(window_operand(b, &looped, rank));
    }
    product(b, looped.len() + 1, operands, [input.element, kernel.element], out)
}

/// The places of a window that are read.
enum Place {
    /// All, in this loop.
    Loop(usize),
    /// Only this one.
    Only(DegenerateWindow),
}

/// The indices of the input and the kernel. Loops run over the result (`sizes`), over windows, and `deep` over the
/// `features` of the input in a group.
fn indices(c: &Convolution, places: &[Place], deep: usize, features: i64, sizes: &[i64]) -> (String, String) {
    let rank = sizes.len();
    let (batch, feature) = (c.output_batch, c.output_feature);
    let group = |groups: i64| format!("d{feature} floordiv {}", (sizes[feature] / groups).max(1));
    let mut of_input = vec![String::new(); rank];
    of_input[c.input_batch] = match c.batch_groups {
        1 => format!("d{batch}"),
        groups => format!("({}) * {} + d{batch}", group(groups), sizes[batch]),
    };
    of_input[c.input_feature] = match c.feature_groups {
        1 => format!("d{deep}"),
        groups => format!("({}) * {features} + d{deep}", group(groups)),
    };
    let mut of_kernel = vec![String::new(); rank];
    of_kernel[c.kernel_input_feature] = format!("d{deep}");
    of_kernel[c.kernel_output_feature] = format!("d{feature}");
    for (k, (w, place)) in c.window.iter().zip(places).enumerate() {
        let o = c.output_spatial[k];
        (of_input[c.input_spatial[k]], of_kernel[c.kernel_spatial[k]]) = match place {
            Place::Only(DegenerateWindow { place, element }) => {
                let line = |line: &Progression| format!("d{o} * {} + {}", line.step, line.start);
                (line(element), line(place))
            }
            Place::Loop(place) => {
                let of_input = format!("d{o} * {} + d{place} * {}", w.stride, w.window_dilation);
                (of_input, if w.reversed { format!("-d{place} + {}", w.size - 1) } else { format!("d{place}") })
            }
        };
    }
    (of_input.join(", "), of_kernel.join(", "))
}

/// Sums of products of the first two operands, of types `from`, over the `reduced` loops after the result's loops.
fn product(
    b: &mut Builder,
    reduced: usize,
    ins: Vec<Operand>,
    from: [ElementType; 2],
    out: &Tensor,
) -> ImportResult<Tensor> {
    let to = out.element;
    if to.is_float() && to.bits().is_some_and(|bits| bits < 32) {
        // The sum is in `f32`, and rounded once.
        let (element, of) = (ElementType::F32, "f32".to_string());
        let wide = Tensor { element, ty: plain(&out.sizes, &of), element_text: of, ..out.clone() };
        let sum = product(b, reduced, ins, from, &wide)?;
        return b.each(vec![Operand::own(&sum)], out, |w, args| converted(w, &args[0], element, to));
    }
    let zero = b.zero(out);
    let loops = out.sizes.len() + reduced;
    let generic = Generic { loops, ins, outs: vec![out.clone()], inits: vec![Some(zero)] };
    let summed = b.generic(generic, |w, args| {
        let mut factor = |k: usize| converted(w, &args[k], from[k], to);
        let factors = [factor(0)?, factor(1)?];
        Ok(vec![added(w, &args[args.len() - 1], &factors, to, &out.element_text)])
    });
    summed.map(|mut all| all.remove(0))
}

/// The sum plus the product of two factors, all of type `to`, whose text is `of`.
fn added(w: &mut Writer, sum: &str, factors: &[String; 2], to: ElementType, of: &str) -> String {
    let (multiply, add) = match to {
        ElementType::Pred => ("arith.andi", "arith.ori"),
        _ if to.is_complex() => ("complex.mul", "complex.add"),
        _ if to.is_float() => ("arith.mulf", "arith.addf"),
        _ => ("arith.muli", "arith.addi"),
    };
    let product = w.same(multiply, factors, of);
    w.same(add, &[sum.to_string(), product], of)
}
