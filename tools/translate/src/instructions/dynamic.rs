//! Sizes up to a bound, `f32[<=8]`: an array is a tensor of the bound, followed by a scalar of `i32` for each such
//! dimension, its size. Elements past the size are undefined, and are kept out of sums.
//!
//! An instruction works on tensors of the bounds; this module removes the sizes of its operands and adds those of its
//! results.

use super::varying::{Varying, indices, masked};
use super::{Site, dynamic_blocks};
use crate::builder::Builder;
use crate::tensor::{Fault, ImportResult, Tensor, static_shape, tensors};
use tensor_layout::element::ElementType;
use tensor_layout::hlo::Instruction;
use tensor_layout::operations::{Algorithm, Dim, Gather, Operation, Shape, leaves};

/// Whether an array of a shape has a size up to a bound.
pub fn varies(shape: &Shape) -> bool {
    leaves(shape).iter().any(|array| array.dims.iter().any(|dim| matches!(dim, Dim::Bounded(_))))
}

/// The dimensions of operands that a dimension of the result has its size from: pairs of operand and dimension.
type Origin = fn(&Operation, &[Varying], usize) -> Vec<(usize, usize)>;

/// Writes an instruction with an operand or a result whose sizes are up to a bound.
///
/// # Errors
/// A dimension of the result has its size from no operand.
pub fn instruction(b: &mut Builder, site: &Site) -> ImportResult<Vec<Tensor>> {
    let i = site.i;
    if let Some(target @ ("SliceToDynamic" | "PadToStatic")) = custom_target(i) {
        return renamed(b, site, target);
    }
    let arrays = site.shapes.iter().map(|shape| match shape {
        Shape::Array(array) if array.element != ElementType::Token => Ok(array),
        _ => Err(no_import(i)),
    });
    let arrays = arrays.collect::<ImportResult<Vec<_>>>()?;
    let mut ins: Vec<Varying> = arrays.iter().zip(site.operands).map(|(a, all)| Varying::new(a, all)).collect();
    if let Some(results) = rewritten(b, site, &ins)? {
        return Ok(results);
    }
    let bounded = Bounded::new(b, site, &mut ins)?;
    let fixed = Instruction { shape: static_shape(&i.shape), ..i.clone() };
    let shapes: Vec<Shape> = site.shapes.iter().map(|shape| static_shape(shape)).collect();
    let shapes: Vec<&Shape> = shapes.iter().collect();
    let operands: Vec<&[Tensor]> = ins.iter().map(|v| std::slice::from_ref(&v.data)).collect();
    let done = match bounded.lines {
        Some(lines) => lines,
        None if i.opcode == "set-dimension-size" => {
            let out = tensors(&fixed.shape)?.remove(0);
            let data = b.precise(&ins[0].data, &out)?;
            vec![b.converted(&data, &out)]
        }
        None => super::instruction(b, &Site { i: &fixed, shapes: &shapes, operands: &operands, trips: None })?,
    };
    let mut results = Vec::new();
    for (data, array) in done.into_iter().zip(leaves(&i.shape)) {
        results.push(data);
        for (dim, of) in array.dims.iter().enumerate() {
            let Dim::Bounded(most) = of else { continue };
            if let Some((_, size)) = bounded.computed.iter().find(|(of, _)| *of == dim) {
                results.push(size.clone());
                continue;
            }
            let from = (bounded.of_dim)(&i.operation, &ins, dim);
            let sizes = from.into_iter().filter_map(|(k, dim)| ins[k].sizes[dim].clone());
            results.push(least(b, &sizes.collect::<Vec<_>>(), *most));
        }
    }
    Ok(results)
}

/// An instruction on tensors of the bounds.
struct Bounded {
    /// The origin of the sizes of the result.
    of_dim: Origin,
    /// The sizes that come from no operand, by dimension.
    computed: dynamic_blocks::Sizes,
    /// The results, where they are already written.
    lines: Option<Vec<Tensor>>,
}

impl Bounded {
    /// Brings the operands into a form in which what is past their sizes changes nothing.
    fn new(b: &mut Builder, site: &Site, ins: &mut Vec<Varying>) -> ImportResult<Bounded> {
        let i = site.i;
        let (mut computed, mut lines) = (Vec::new(), None);
        let of_dim: Origin = match &i.operation {
            Operation::Elementwise if i.opcode == "set-dimension-size" => {
                set_size(i, ins)?;
                of_same
            }
            Operation::Elementwise
            | Operation::Select
            | Operation::Iota { .. }
            | Operation::Reverse { .. }
            | Operation::Concatenate { .. } => of_same,
            Operation::Slice { starts, limits, strides } => {
                computed = dynamic_blocks::sliced(b, [starts, limits, strides], &ins[0]);
                of_none
            }
            Operation::DynamicSlice { sizes } => {
                dynamic_blocks::starts(b, ins, sizes, 1);
                of_slice
            }
            Operation::Gather(g) => {
                ins[1].data = dynamic_blocks::gathered(b, g, &ins[0], &ins[1].data)?;
                of_gather
            }
            Operation::Scatter(g) => {
                scatter(b, g, ins)?;
                of_first
            }
            Operation::ReduceWindow { window } => {
                computed = dynamic_blocks::windows(b, window, ins)?;
                of_none
            }
            Operation::Convolution(c) => {
                computed = dynamic_blocks::convolved(b, c, ins)?;
                of_convolution
            }
            Operation::DynamicUpdateSlice => of_first,
            Operation::Algorithm(algorithm) => match **algorithm {
                Algorithm::DimensionSize { .. } => of_same,
                Algorithm::Sort { .. } | Algorithm::TopK { .. } => {
                    lines = Some(dynamic_blocks::sorted(b, site, algorithm, ins)?);
                    of_same
                }
                _ => return Err(no_import(i)),
            },
            Operation::Broadcast { .. } | Operation::Transpose { .. } => of_moved,
            Operation::Reduce { dims } => {
                reduce(b, dims, ins)?;
                of_kept
            }
            Operation::Dot { lhs_contracting, rhs_contracting, .. } => {
                product(b, [lhs_contracting, rhs_contracting], ins)?;
                of_product
            }
            _ => return Err(no_import(i)),
        };
        Ok(Bounded { of_dim, computed, lines })
    }
}

/// The results of an instruction that is another one where sizes vary.
fn rewritten(b: &mut Builder, site: &Site, ins: &[Varying]) -> ImportResult<Option<Vec<Tensor>>> {
    match &site.i.operation {
        Operation::Algorithm(_) | Operation::Reshape if matches!(&*site.i.opcode, "reshape" | "dynamic-reshape") => {
            reshaped(b, site, ins).map(Some)
        }
        Operation::Algorithm(algorithm) => {
            let Algorithm::DimensionSize { dim } = **algorithm else { return Ok(None) };
            Ok(ins[0].sizes[dim].clone().map(|size| vec![size]))
        }
        Operation::Reverse { dims } if dims.iter().any(|dim| ins[0].sizes[*dim].is_some()) => {
            dynamic_blocks::reversed(b, site, &ins[0], dims).map(Some)
        }
        Operation::Concatenate { dim } if ins.iter().any(|v| v.sizes[*dim].is_some()) => {
            concatenated(b, site, *dim, ins).map(Some)
        }
        Operation::Pad { low, high, interior } => padded(b, site, [low, high, interior], ins).map(Some),
        Operation::DynamicUpdateSlice if ins[1..].iter().any(|v| v.sizes.iter().any(Option::is_some)) => {
            dynamic_blocks::updated(b, site, ins).map(Some)
        }
        _ => Ok(None),
    }
}

fn no_import(i: &Instruction) -> Fault {
    Fault::from(format!("`{}` of sizes that vary cannot be imported", i.opcode))
}

/// Gives the first operand of a `set-dimension-size` the size that the second is.
fn set_size(i: &Instruction, ins: &mut Vec<Varying>) -> ImportResult<()> {
    let dim = i.numbers("dimensions").and_then(|dims| usize::try_from(*dims.first()?).ok());
    let dim = dim.ok_or_else(|| no_import(i))?;
    let size = ins.pop().ok_or_else(|| no_import(i))?.data;
    ins[0].sizes[dim] = Some(size);
    Ok(())
}

/// Takes out of the indices of a scatter those past their sizes.
fn scatter(b: &mut Builder, g: &Gather, ins: &mut [Varying]) -> ImportResult<()> {
    let n = ins.len() / 2;
    let windows = g.offset_dims.iter().any(|dim| ins[n + 1..].iter().any(|v| v.sizes[*dim].is_some()));
    if windows && ins[..n].iter().all(|v| v.sizes.iter().all(Option::is_none)) {
        return Err("a `scatter` of blocks whose sizes vary cannot be imported".into());
    }
    ins[n].data = dynamic_blocks::scattered(b, g, &ins[n])?;
    Ok(())
}

/// Puts zeros past the sizes of the operands of a product.
fn product(b: &mut Builder, contracting: [&[usize]; 2], ins: &mut [Varying]) -> ImportResult<()> {
    for (varying, dims) in ins.iter_mut().zip(contracting) {
        let zero = b.zero(&varying.data);
        varying.data = masked(b, varying, dims, &zero)?;
    }
    Ok(())
}

/// Puts the initial values of a reduction past the sizes of its operands.
fn reduce(b: &mut Builder, dims: &[usize], ins: &mut [Varying]) -> ImportResult<()> {
    let count = ins.len() / 2;
    for k in 0..count {
        let value = b.number(&ins[count + k].data, ins[k].data.element)?;
        ins[k].data = masked(b, &ins[k], dims, &value)?;
    }
    Ok(())
}

/// The target of a custom call, without its quotes.
fn custom_target(i: &Instruction) -> Option<&str> {
    if i.opcode == "custom-call" { i.attribute("custom_call_target").map(|name| name.trim_matches('"')) } else { None }
}

/// `SliceToDynamic` takes an array and the size of each dimension; `PadToStatic` returns them: the same tensors.
fn renamed(b: &mut Builder, site: &Site, target: &str) -> ImportResult<Vec<Tensor>> {
    let wrong = || Fault::from(format!("a `{target}` of these shapes cannot be imported"));
    let to_static = target == "PadToStatic";
    let (varying, others) = match (to_static, site.shapes, &site.i.shape) {
        (true, [Shape::Array(from)], Shape::Tuple(parts)) => (from, parts.len()),
        (false, [_, ..], Shape::Array(out)) => (out, site.shapes.len()),
        _ => return Err(wrong()),
    };
    let outs = tensors(&site.i.shape)?;
    let data = site.operands[0].first().ok_or_else(wrong)?;
    if others != varying.dims.len() + 1 || outs[0].sizes != data.sizes || outs[0].element != data.element {
        return Err(wrong());
    }
    let mut results = vec![b.converted(data, &outs[0])];
    let from = Varying::new(varying, if to_static { site.operands[0] } else { &results });
    for (k, dim) in varying.dims.iter().enumerate() {
        match (to_static, dim) {
            (true, _) => results.push(match &from.sizes[k] {
                Some(size) => size.clone(),
                None => least(b, &[], dim.bound().ok_or_else(wrong)?),
            }),
            (false, Dim::Bounded(_)) => results.push(site.operands[k + 1].first().ok_or_else(wrong)?.clone()),
            (false, _) => {}
        }
    }
    Ok(results)
}

/// The sizes of a reshape's result, and its elements in the operand's order, without those past the sizes.
fn reshaped(b: &mut Builder, site: &Site, ins: &[Varying]) -> ImportResult<Vec<Tensor>> {
    let out = tensors(&static_shape(&site.i.shape))?.remove(0);
    let dims = &leaves(&site.i.shape)[0].dims;
    let from = &ins[0];
    let mut sizes: Vec<Option<Tensor>> = vec![None; out.sizes.len()];
    for k in (0..dims.len()).filter(|k| matches!(dims[*k], Dim::Bounded(_))) {
        sizes[k] = Some(match ins.get(k + 1) {
            Some(size) => size.data.clone(),
            None => left_over(b, from, dims, k)?,
        });
    }
    let own = indices(b, &from.data.sizes, &from.sizes);
    let new = indices(b, &out.sizes, &sizes);
    let source = b.precise(&from.data, &out)?;
    let source = b.without_encoding(&source);
    let data = b.each(Vec::new(), &out, |w, _| {
        let mut number = w.index(0);
        for (k, size) in new.iter().enumerate() {
            let index = w.op(&format!("linalg.index {k} : index"));
            let before = w.on_index("muli", &number, size);
            number = w.on_index("addi", &before, &index);
        }
        let mut at = Vec::new();
        let one = w.index(1);
        for (size, n) in own.iter().zip(&source.sizes).rev() {
            // A size of 0 has no elements; the divisor is at least 1.
            let size = w.on_index("maxsi", size, &one);
            let index = w.on_index("remui", &number, &size);
            number = w.on_index("divui", &number, &size);
            at.push(w.between(&index, n - 1));
        }
        at.reverse();
        Ok(w.op(&format!("tensor.extract {}[{}] : {}", source.name, at.join(", "), source.ty)))
    })?;
    Ok(std::iter::once(data).chain(sizes.into_iter().flatten()).collect())
}

/// The size of the only varying dimension of a reshape's result: the number of elements, divided by the other sizes.
/// Where several vary, the size of the operand's dimension with as many elements before it.
fn left_over(b: &mut Builder, from: &Varying, dims: &[Dim], k: usize) -> ImportResult<Tensor> {
    let bounds: Vec<i64> = dims.iter().filter_map(|dim| dim.bound()).collect();
    let before = |sizes: &[i64]| sizes.iter().try_fold(1i64, |all, n| all.checked_mul(*n));
    if dims.iter().filter(|dim| matches!(dim, Dim::Bounded(_))).count() > 1 {
        let same =
            |j: &usize| from.data.sizes[*j] == bounds[k] && before(&from.data.sizes[..*j]) == before(&bounds[..k]);
        let found = (0..from.sizes.len()).filter(same).find_map(|j| from.sizes[j].clone());
        return found.ok_or_else(|| "a `reshape` that mixes sizes that vary cannot be imported".into());
    }
    let mut number = b.w.index(1);
    for size in indices(b, &from.data.sizes, &from.sizes) {
        number = b.w.on_index("muli", &number, &size);
    }
    let others = before(&bounds.iter().enumerate().filter(|(j, _)| *j != k).map(|(_, n)| *n).collect::<Vec<_>>());
    let others = others.ok_or("the number of elements does not fit in 64 bits")?;
    let others = b.w.index(others.max(1));
    let size = b.w.on_index("divui", &number, &others);
    let size = b.w.index_as(&size, "i32");
    let to = Tensor::scalar(ElementType::S32, "i32");
    Ok(b.named(&to, &format!("tensor.from_elements {size} : {}", to.ty)))
}

/// A pad: its value also replaces the elements past the sizes.
fn padded(
    b: &mut Builder,
    site: &Site,
    [low, high, interior]: [&[i64]; 3],
    ins: &[Varying],
) -> ImportResult<Vec<Tensor>> {
    let fixed = static_shape(&site.i.shape);
    let out = tensors(&fixed)?.remove(0);
    let (source, padding) = (b.precise(&ins[0].data, &out)?, b.precise(&ins[1].data, &out)?);
    let value = b.scalar(&padding);
    let all: Vec<usize> = (0..low.len()).collect();
    let data = masked(b, &Varying { data: source, sizes: ins[0].sizes.clone() }, &all, &value)?;
    let done = super::shapes::pad(b, [low, high, interior], &[data, padding], &out)?;
    let mut results = vec![done];
    let sizes = indices(b, &ins[0].data.sizes, &ins[0].sizes);
    for (k, dim) in leaves(&site.i.shape)[0].dims.iter().enumerate() {
        if !matches!(dim, Dim::Bounded(_)) {
            continue;
        }
        let (one, zero, between) = (b.w.index(1), b.w.index(0), b.w.index(interior[k]));
        let gaps = b.w.on_index("subi", &sizes[k], &one);
        let gaps = b.w.on_index("maxsi", &gaps, &zero);
        let gaps = b.w.on_index("muli", &gaps, &between);
        let around = low[k].checked_add(high[k]).ok_or("the padding does not fit in 64 bits")?;
        let around = b.w.index(around);
        let size = b.w.on_index("addi", &sizes[k], &gaps);
        let size = b.w.on_index("addi", &size, &around);
        let size = b.w.on_index("maxsi", &size, &zero);
        let size = b.w.index_as(&size, "i32");
        let to = Tensor::scalar(ElementType::S32, "i32");
        results.push(b.named(&to, &format!("tensor.from_elements {size} : {}", to.ty)));
    }
    Ok(results)
}

/// A concatenate: each operand is written at the end of the one before, over the elements past its size.
fn concatenated(b: &mut Builder, site: &Site, dim: usize, ins: &[Varying]) -> ImportResult<Vec<Tensor>> {
    let out = tensors(&static_shape(&site.i.shape))?.remove(0);
    let plain = Tensor { ty: out.plain(), ..out.clone() };
    let zero = b.zero(&plain);
    let mut all = b.filled(&plain, &zero);
    let mut end = b.w.index(0);
    for v in ins.iter().filter(|v| !v.data.is_empty()) {
        let data = b.precise(&v.data, &out)?;
        let data = b.without_encoding(&data);
        let mut offsets = vec!["0".to_string(); data.sizes.len()];
        offsets[dim] = end.clone();
        all = b.named(&plain, &Builder::insertion(&data, &all, &offsets));
        let size = indices(b, &v.data.sizes[dim..=dim], &v.sizes[dim..=dim]).remove(0);
        end = b.w.on_index("addi", &end, &size);
    }
    let mut results = vec![b.converted(&all, &out)];
    for (k, of) in leaves(&site.i.shape)[0].dims.iter().enumerate() {
        let Dim::Bounded(most) = of else { continue };
        results.push(match k == dim {
            true => {
                let end = b.w.index_as(&end, "i32");
                let to = Tensor::scalar(ElementType::S32, "i32");
                b.named(&to, &format!("tensor.from_elements {end} : {}", to.ty))
            }
            false => least(b, &ins.iter().filter_map(|v| v.sizes[k].clone()).collect::<Vec<_>>(), *most),
        });
    }
    Ok(results)
}

/// The minimum of some sizes and of the bound.
fn least(b: &mut Builder, sizes: &[Tensor], bound: i64) -> Tensor {
    if let [size] = sizes {
        return size.clone();
    }
    let mut value = b.w.constant(&bound.to_string(), "i32");
    for size in sizes {
        let size = b.scalar(size);
        value = b.w.same("arith.minsi", &[value, size], "i32");
    }
    let to = Tensor::scalar(ElementType::S32, "i32");
    b.named(&to, &format!("tensor.from_elements {value} : {}", to.ty))
}

/// The origin of the sizes of an elementwise instruction: all operands but scalars.
fn of_same(_: &Operation, ins: &[Varying], dim: usize) -> Vec<(usize, usize)> {
    (0..ins.len()).filter(|k| dim < ins[*k].sizes.len()).map(|k| (k, dim)).collect()
}

/// The origin where no dimension comes from an operand.
fn of_none(_: &Operation, _: &[Varying], _: usize) -> Vec<(usize, usize)> {
    Vec::new()
}

/// The origin for a slice: dimensions that it takes as a whole.
fn of_slice(operation: &Operation, ins: &[Varying], dim: usize) -> Vec<(usize, usize)> {
    let Operation::DynamicSlice { sizes } = operation else { return Vec::new() };
    if sizes[dim] == ins[0].data.sizes[dim] { vec![(0, dim)] } else { Vec::new() }
}

/// The origin for a gather: dimensions of the indices that count blocks, and whole dimensions of the blocks.
fn of_gather(operation: &Operation, ins: &[Varying], dim: usize) -> Vec<(usize, usize)> {
    let Operation::Gather(g) = operation else { return Vec::new() };
    if let Some(k) = g.offset_dims.iter().position(|d| *d == dim) {
        let kept = |d: &usize| !g.collapsed_slice_dims.contains(d) && !g.operand_batching_dims.contains(d);
        let from = (0..ins[0].sizes.len()).filter(kept).nth(k);
        return from.filter(|d| g.slice_sizes[*d] == ins[0].data.sizes[*d]).map(|d| (0, d)).into_iter().collect();
    }
    let before = (0..dim).filter(|d| !g.offset_dims.contains(d)).count();
    let counted = (0..ins[1].sizes.len()).filter(|d| *d != g.index_vector_dim).nth(before);
    counted.map(|d| (1, d)).into_iter().collect()
}

/// The origin for a convolution: the input's batches, the kernel's features.
fn of_convolution(operation: &Operation, _: &[Varying], dim: usize) -> Vec<(usize, usize)> {
    let Operation::Convolution(c) = operation else { return Vec::new() };
    match dim {
        _ if dim == c.output_batch => vec![(0, c.input_batch)],
        _ if dim == c.output_feature => vec![(1, c.kernel_output_feature)],
        _ => Vec::new(),
    }
}

/// The origin for a block that is written into the first operand.
fn of_first(_: &Operation, _: &[Varying], dim: usize) -> Vec<(usize, usize)> {
    vec![(0, dim)]
}

/// The origin for a broadcast and a transpose.
fn of_moved(operation: &Operation, _: &[Varying], dim: usize) -> Vec<(usize, usize)> {
    let place = match operation {
        Operation::Broadcast { dims } => dims.iter().position(|to| *to == dim),
        Operation::Transpose { permutation } => Some(permutation[dim]),
        _ => None,
    };
    place.map(|dim| (0, dim)).into_iter().collect()
}

/// The origin for a reduction.
fn of_kept(operation: &Operation, ins: &[Varying], dim: usize) -> Vec<(usize, usize)> {
    let Operation::Reduce { dims } = operation else { return Vec::new() };
    (0..ins[0].sizes.len()).filter(|k| !dims.contains(k)).nth(dim).map(|dim| (0, dim)).into_iter().collect()
}

/// The origin for a product: its dimensions are batch, then the left's and the right's others.
fn of_product(operation: &Operation, ins: &[Varying], dim: usize) -> Vec<(usize, usize)> {
    let Operation::Dot { lhs_batch, rhs_batch, lhs_contracting, rhs_contracting } = operation else {
        return Vec::new();
    };
    let free = |k: usize, batch: &[usize], contracting: &[usize]| {
        let dims = (0..ins[k].sizes.len()).filter(|d| !batch.contains(d) && !contracting.contains(d));
        dims.map(|d| (k, d)).collect::<Vec<_>>()
    };
    let batch = lhs_batch.iter().map(|d| (0, *d)).collect();
    let all = [batch, free(0, lhs_batch, lhs_contracting), free(1, rhs_batch, rhs_contracting)].concat();
    all.get(dim).copied().into_iter().collect()
}
