//! Blocks, windows and lines of arrays with sizes up to a bound. Elements past a size are not read: blocks begin where
//! they fit into the size, windows see padding there, and lines end there.

use super::Site;
use super::sort;
use super::varying::{Varying, indices, masked};
use crate::builder::{Builder, Operand};
use crate::syntax::plain;
use crate::tensor::{ImportResult, Tensor, static_shape, tensors};
use crate::writer::Writer;
use tensor_layout::element::ElementType;
use tensor_layout::operations::{Algorithm, Convolution, Gather, WindowDim};

/// The sizes of a result's dimensions, by the dimension, where they come from no operand.
pub type Sizes = Vec<(usize, Tensor)>;

/// A computed size, as a tensor.
fn size(b: &mut Builder, index: &str) -> Tensor {
    let value = b.w.index_as(index, "i32");
    let to = Tensor::scalar(ElementType::S32, "i32");
    b.named(&to, &format!("tensor.from_elements {value} : {}", to.ty))
}

/// The size of a dimension as a number of type `index`; `None` where the size is the bound.
fn length(b: &mut Builder, v: &Varying, dim: usize) -> Option<String> {
    v.sizes[dim].as_ref()?;
    Some(indices(b, &v.data.sizes[dim..=dim], &v.sizes[dim..=dim]).remove(0))
}

/// The value clamped between 0 and `most`, in its own type.
fn clamped(w: &mut Writer, value: &str, t: &Tensor, most: &str) -> String {
    let zero = w.index(0);
    let index = if t.element.is_signed() {
        let index = w.op(&format!("arith.index_cast {value} : {} to index", t.element_text));
        let raised = w.on_index("maxsi", &index, &zero);
        w.on_index("minsi", &raised, most)
    } else {
        let index = w.op(&format!("arith.index_castui {value} : {} to index", t.element_text));
        w.on_index("minui", &index, most)
    };
    w.index_as(&index, &t.element_text)
}

/// The last start of a block of `block` elements in a dimension: the size less the block, or 0.
fn last_begin(b: &mut Builder, v: &Varying, dim: usize, block: i64) -> Option<String> {
    let size = length(b, v, dim)?;
    let (block, zero) = (b.w.index(block), b.w.index(0));
    let most = b.w.on_index("subi", &size, &block);
    Some(b.w.on_index("maxsi", &most, &zero))
}

/// Clamps the starts of blocks of these sizes in the first operand, so that each ends before the size.
pub fn starts(b: &mut Builder, ins: &mut [Varying], block: &[i64], first: usize) {
    for (dim, block) in block.iter().enumerate() {
        let Some(most) = last_begin(b, &ins[0], dim, *block) else { continue };
        let t = ins[first + dim].data.clone();
        let value = b.scalar(&t);
        let value = clamped(&mut b.w, &value, &t, &most);
        ins[first + dim].data = b.named(&t, &format!("tensor.from_elements {value} : {}", t.ty));
    }
}

/// The indices of a gather, clamped so that its blocks end before the sizes.
pub fn gathered(b: &mut Builder, g: &Gather, data: &Varying, indices: &Tensor) -> ImportResult<Tensor> {
    let entries = g.start_index_map.iter().enumerate();
    let most: Vec<(usize, String)> =
        entries.filter_map(|(k, dim)| Some((k, last_begin(b, data, *dim, g.slice_sizes[*dim])?))).collect();
    if most.is_empty() {
        return Ok(indices.clone());
    }
    b.each(vec![Operand::own(indices)], indices, |w, args| {
        let mut value = args[0].clone();
        for (entry, most) in &most {
            let inside = clamped(w, &value, indices, most);
            value = if g.index_vector_dim < indices.sizes.len() {
                let place = w.op(&format!("linalg.index {} : index", g.index_vector_dim));
                let entry = w.index(*entry as i64);
                let is_entry = w.compare("eq", &place, &entry, "index");
                w.select(&is_entry, &inside, &value, &indices.element_text)
            } else {
                inside
            };
        }
        Ok(value)
    })
}

/// The indices of a scatter as signed numbers of 64 bits, -1 past a size: no block fits there.
pub fn scattered(b: &mut Builder, g: &Gather, indices: &Varying) -> ImportResult<Tensor> {
    let counted: Vec<usize> = (0..indices.sizes.len()).filter(|dim| *dim != g.index_vector_dim).collect();
    if counted.iter().all(|dim| indices.sizes[*dim].is_none()) {
        return Ok(indices.data.clone());
    }
    let t = &indices.data;
    let wide =
        Tensor { element: ElementType::S64, element_text: "i64".to_string(), ty: plain(&t.sizes, "i64"), ..t.clone() };
    let data = b.each(vec![Operand::own(t)], &wide, |w, args| {
        crate::scalar::convert::converted(w, &args[0], t.element, ElementType::S64)
    })?;
    let none = b.w.constant("-1", "i64");
    masked(b, &Varying { data, sizes: indices.sizes.clone() }, &counted, &none)
}

/// Writes a block whose size varies over a part of the first operand. The other operands are the block and its starts.
pub fn updated(b: &mut Builder, site: &Site, ins: &[Varying]) -> ImportResult<Vec<Tensor>> {
    let out = tensors(&static_shape(&site.i.shape))?.remove(0);
    let (data, block) = (&ins[0], &ins[1]);
    let kept: Vec<Tensor> = data.sizes.iter().flatten().cloned().collect();
    let precise = b.precise(&data.data, &out)?;
    let mut results = vec![b.converted(&precise, &out)];
    if !block.data.is_empty() && !data.data.is_empty() {
        let new = b.precise(&block.data, &out)?;
        let new = b.without_encoding(&new);
        let (wholes, lengths) =
            (indices(b, &data.data.sizes, &data.sizes), indices(b, &block.data.sizes, &block.sizes));
        let zero = b.w.index(0);
        let mut begins = Vec::new();
        for (start, (whole, length)) in ins[2..].iter().zip(wholes.iter().zip(&lengths)) {
            let most = b.w.on_index("subi", whole, length);
            let most = b.w.on_index("maxsi", &most, &zero);
            let value = b.scalar(&start.data);
            let value = clamped(&mut b.w, &value, &start.data, &most);
            let kind = if start.data.element.is_signed() { "index_cast" } else { "index_castui" };
            begins.push(b.w.op(&format!("arith.{kind} {value} : {} to index", start.data.element_text)));
        }
        results[0] = b.each(vec![Operand::own(&results[0])], &out, |w, args| {
            let (mut at, mut element) = (Vec::new(), None);
            for (dim, (begin, length)) in begins.iter().zip(&lengths).enumerate() {
                let index = w.op(&format!("linalg.index {dim} : index"));
                let offset = w.on_index("subi", &index, begin);
                // As an unsigned number, an index before the block is larger than any size.
                let inside = w.compare("ult", &offset, length, "index");
                element = Some(match element {
                    Some(all) => w.same("arith.andi", &[all, inside], "i1"),
                    None => inside,
                });
                at.push(w.between(&offset, new.sizes[dim] - 1));
            }
            let value = w.op(&format!("tensor.extract {}[{}] : {}", new.name, at.join(", "), new.ty));
            Ok(match element {
                Some(inside) => w.select(&inside, &value, &args[0], &out.element_text),
                None => value,
            })
        })?;
    }
    results.extend(kept);
    Ok(results)
}

/// Reverses dimensions up to their sizes.
pub fn reversed(b: &mut Builder, site: &Site, v: &Varying, dims: &[usize]) -> ImportResult<Vec<Tensor>> {
    let out = tensors(&static_shape(&site.i.shape))?.remove(0);
    let kept = v.sizes.iter().flatten().cloned();
    let source = b.precise(&v.data, &out)?;
    let source = b.without_encoding(&source);
    let lengths = indices(b, &source.sizes, &v.sizes);
    let one = b.w.index(1);
    let data = b.each(Vec::new(), &out, |w, _| {
        let mut at = Vec::new();
        for (dim, length) in lengths.iter().enumerate() {
            let index = w.op(&format!("linalg.index {dim} : index"));
            at.push(if dims.contains(&dim) {
                let last = w.on_index("subi", length, &one);
                let turned = w.on_index("subi", &last, &index);
                w.between(&turned, source.sizes[dim] - 1)
            } else {
                index
            });
        }
        Ok(w.op(&format!("tensor.extract {}[{}] : {}", source.name, at.join(", "), source.ty)))
    })?;
    Ok(std::iter::once(data).chain(kept).collect())
}

/// Sorts lines up to the size of the dimension; elements past it stay in place.
pub fn sorted(b: &mut Builder, site: &Site, algorithm: &Algorithm, ins: &[Varying]) -> ImportResult<Vec<Tensor>> {
    let outs = tensors(&static_shape(&site.i.shape))?;
    let dim = match algorithm {
        Algorithm::Sort { dim } => *dim,
        _ => ins[0].sizes.len().saturating_sub(1),
    };
    let lengths: Vec<String> = ins.iter().filter_map(|v| length(b, v, dim)).collect();
    let length = lengths.into_iter().reduce(|a, c| b.w.on_index("minsi", &a, &c));
    let data: Vec<Tensor> = ins.iter().map(|v| v.data.clone()).collect();
    match algorithm {
        Algorithm::Sort { dim } => sort::sort(b, site.i, *dim, &data, outs, length),
        _ => sort::top(b, site.i.attribute("largest") != Some("false"), &data, outs, length),
    }
}

/// Replaces the elements past the sizes by the initial values of a reduction over windows; the sizes of the result.
pub fn windows(b: &mut Builder, window: &[WindowDim], ins: &mut [Varying]) -> ImportResult<Sizes> {
    let (count, all) = (ins.len() / 2, (0..window.len()).collect::<Vec<usize>>());
    for k in 0..count {
        let value = b.number(&ins[count + k].data, ins[k].data.element)?;
        ins[k].data = masked(b, &ins[k], &all, &value)?;
    }
    let mut sizes = Vec::new();
    for (dim, window) in window.iter().enumerate() {
        if let Some(length) = (0..count).find_map(|k| length(b, &ins[k], dim)) {
            sizes.push((dim, windowed(b, &length, window)?));
        }
    }
    Ok(sizes)
}

/// The same for a convolution, with zeros.
pub fn convolved(b: &mut Builder, c: &Convolution, ins: &mut [Varying]) -> ImportResult<Sizes> {
    let varies = |k: usize, dim: usize| ins[k].sizes[dim].is_some();
    let grouped = c.feature_groups > 1 && (varies(0, c.input_feature) || varies(1, c.kernel_output_feature))
        || c.batch_groups > 1 && (varies(0, c.input_batch) || varies(1, c.kernel_output_feature));
    if grouped || c.kernel_spatial.iter().any(|dim| varies(1, *dim)) {
        return Err("a `convolution` whose groups or windows have sizes that vary cannot be imported".into());
    }
    for v in ins.iter_mut() {
        let zero = b.zero(&v.data);
        v.data = masked(b, v, &(0..v.sizes.len()).collect::<Vec<_>>(), &zero)?;
    }
    let mut sizes = Vec::new();
    for ((input, output), window) in c.input_spatial.iter().zip(&c.output_spatial).zip(&c.window) {
        if let Some(length) = length(b, &ins[0], *input) {
            sizes.push((*output, windowed(b, &length, window)?));
        }
    }
    Ok(sizes)
}

/// The number of windows in a dimension of this size.
fn windowed(b: &mut Builder, length: &str, window: &WindowDim) -> ImportResult<Tensor> {
    let large = "the sizes of the windows do not fit in 64 bits";
    let extent = (window.size - 1).checked_mul(window.window_dilation).and_then(|n| n.checked_add(1)).ok_or(large)?;
    // The room for the first window to move in, and one more step: none where the window does not fit.
    let around = window.low.checked_add(window.high).and_then(|n| n.checked_sub(extent)).ok_or(large)?;
    let around = around.checked_add(window.stride).ok_or(large)?;
    let (zero, one) = (b.w.index(0), b.w.index(1));
    let [dilation, around, stride] = [window.base_dilation, around, window.stride].map(|n| b.w.index(n));
    let gaps = b.w.on_index("subi", length, &one);
    let gaps = b.w.on_index("maxsi", &gaps, &zero);
    let gaps = b.w.on_index("muli", &gaps, &dilation);
    let last = b.w.on_index("minsi", length, &one);
    let spread = b.w.on_index("addi", &gaps, &last);
    let steps = b.w.on_index("addi", &spread, &around);
    let steps = b.w.on_index("maxsi", &steps, &zero);
    let count = b.w.on_index("divui", &steps, &stride);
    Ok(size(b, &count))
}

/// The varying sizes of a slice: the elements between its ends.
pub fn sliced(b: &mut Builder, [starts, limits, strides]: [&[i64]; 3], v: &Varying) -> Sizes {
    let mut sizes = Vec::new();
    for dim in 0..starts.len() {
        let Some(whole) = length(b, v, dim) else { continue };
        let [zero, start, limit, stride, before] =
            [0, starts[dim], limits[dim], strides[dim], strides[dim] - 1].map(|n| b.w.index(n));
        let end = b.w.on_index("minsi", &whole, &limit);
        let left = b.w.on_index("subi", &end, &start);
        let left = b.w.on_index("maxsi", &left, &zero);
        let left = b.w.on_index("addi", &left, &before);
        let count = b.w.on_index("divui", &left, &stride);
        sizes.push((dim, size(b, &count)));
    }
    sizes
}
