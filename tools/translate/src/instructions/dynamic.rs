//! Sizes up to a bound, `f32[<=8]`: an array is a tensor of the bound, followed by a scalar of `i32` for each such
//! dimension, its size. Elements behind the size are undefined, and are kept out of sums.
//!
//! An instruction works on tensors of the bounds; this module takes the sizes off before it and puts those of the result
//! on after it. Only instructions whose dimensions are those of an operand have such results.

use super::Site;
use crate::builder::{Builder, Operand};
use crate::tensor::{Done, Tensor, static_shape, tensors};
use tensor_layout::element::ElementType;
use tensor_layout::hlo::Instruction;
use tensor_layout::operations::{Algorithm, Array, Dim, Operation, Shape, leaves};

/// Whether an array of a shape has a size up to a bound.
pub fn varies(shape: &Shape) -> bool {
    leaves(shape).iter().any(|array| array.dims.iter().any(|dim| matches!(dim, Dim::Bounded(_))))
}

/// An array: the tensor of its bounds, and the sizes that it has where these are not the bounds.
struct Varying {
    data: Tensor,
    sizes: Vec<Option<Tensor>>,
}

impl Varying {
    /// The array that these tensors are.
    fn new(array: &Array, tensors: &[Tensor]) -> Varying {
        let mut sizes = tensors[1..].iter();
        let size = |dim: &Dim| if matches!(dim, Dim::Bounded(_)) { sizes.next().cloned() } else { None };
        let sizes = array.dims.iter().map(size).collect();
        Varying { data: tensors[0].clone(), sizes }
    }
}

/// The operands and their dimensions that a dimension of the result is.
type Origin = fn(&Operation, &[Varying], usize) -> Vec<(usize, usize)>;

/// Writes an instruction of which an operand or the result has sizes up to a bound.
///
/// # Errors
/// The dimensions of the result are not those of an operand.
pub fn instruction(b: &mut Builder, site: &Site) -> Done<Vec<Tensor>> {
    let i = site.i;
    let wrong = || format!("`{}` of sizes that vary cannot be imported", i.opcode);
    let arrays = site.shapes.iter().map(|shape| match shape {
        Shape::Array(array) => Ok(array),
        _ => Err(wrong()),
    });
    let arrays = arrays.collect::<Done<Vec<_>>>()?;
    let mut ins: Vec<Varying> = arrays.iter().zip(site.operands).map(|(a, all)| Varying::new(a, all)).collect();
    let of_dim: Origin = match &i.operation {
        Operation::Algorithm(algorithm) if matches!(**algorithm, Algorithm::DimensionSize { .. }) => {
            let Algorithm::DimensionSize { dim } = **algorithm else { return Err(wrong()) };
            if let Some(size) = &ins[0].sizes[dim] {
                return Ok(vec![size.clone()]);
            }
            of_same
        }
        Operation::Elementwise if i.opcode == "set-dimension-size" => {
            let dim =
                i.numbers("dimensions").and_then(|dims| usize::try_from(*dims.first()?).ok()).ok_or_else(wrong)?;
            let size = ins.pop().ok_or_else(wrong)?.data;
            ins[0].sizes[dim] = Some(size);
            of_same
        }
        Operation::Elementwise | Operation::Select => of_same,
        Operation::Broadcast { .. } | Operation::Transpose { .. } => of_moved,
        Operation::Reduce { dims } => {
            let count = ins.len() / 2;
            for k in 0..count {
                let value = b.scalar(&ins[count + k].data);
                ins[k].data = masked(b, &ins[k], dims, &value)?;
            }
            of_kept
        }
        Operation::Dot { lhs_contracting, rhs_contracting, .. } => {
            for (varying, dims) in ins.iter_mut().zip([lhs_contracting, rhs_contracting]) {
                let zero = b.zero(&varying.data);
                varying.data = masked(b, varying, dims, &zero)?;
            }
            of_product
        }
        _ => return Err(wrong()),
    };
    let fixed = Instruction { shape: static_shape(&i.shape), ..i.clone() };
    let shapes: Vec<Shape> = site.shapes.iter().map(|shape| static_shape(shape)).collect();
    let shapes: Vec<&Shape> = shapes.iter().collect();
    let operands: Vec<&[Tensor]> = ins.iter().map(|v| std::slice::from_ref(&v.data)).collect();
    let done = match i.opcode == "set-dimension-size" {
        true => {
            let out = tensors(&fixed.shape)?.remove(0);
            vec![b.converted(&ins[0].data, &out)]
        }
        false => super::instruction(b, &Site { i: &fixed, shapes: &shapes, operands: &operands })?,
    };
    let mut results = Vec::new();
    for (data, array) in done.into_iter().zip(leaves(&i.shape)) {
        results.push(data);
        for (dim, of) in array.dims.iter().enumerate() {
            let Dim::Bounded(most) = of else { continue };
            let sizes = of_dim(&i.operation, &ins, dim).into_iter().filter_map(|(k, dim)| ins[k].sizes[dim].clone());
            results.push(least(b, &sizes.collect::<Vec<_>>(), *most));
        }
    }
    Ok(results)
}

/// The least of some sizes, and of the bound.
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

/// The data, with a value in place of the elements behind the sizes of these dimensions.
fn masked(b: &mut Builder, v: &Varying, dims: &[usize], value: &str) -> Done<Tensor> {
    let bounded: Vec<(usize, &Tensor)> = dims.iter().filter_map(|dim| Some((*dim, v.sizes[*dim].as_ref()?))).collect();
    if bounded.is_empty() {
        return Ok(v.data.clone());
    }
    let sizes: Vec<(usize, String)> = bounded.into_iter().map(|(dim, size)| (dim, b.scalar(size))).collect();
    b.each(vec![Operand::own(&v.data)], &v.data, |w, args| {
        let mut element = args[0].clone();
        for (dim, size) in &sizes {
            let index = w.op(&format!("linalg.index {dim} : index"));
            let index = w.index_as(&index, "i32");
            let inside = w.compare("slt", &index, size, "i32");
            element = w.select(&inside, &element, value, &v.data.of);
        }
        Ok(element)
    })
}

/// The operands and their dimensions that a dimension of the result is: of an elementwise instruction all that are no
/// scalars.
fn of_same(_: &Operation, ins: &[Varying], dim: usize) -> Vec<(usize, usize)> {
    (0..ins.len()).filter(|k| dim < ins[*k].sizes.len()).map(|k| (k, dim)).collect()
}

/// The same of a broadcast and a transpose.
fn of_moved(operation: &Operation, _: &[Varying], dim: usize) -> Vec<(usize, usize)> {
    let place = match operation {
        Operation::Broadcast { dims } => dims.iter().position(|to| *to == dim),
        Operation::Transpose { permutation } => Some(permutation[dim]),
        _ => None,
    };
    place.map(|dim| (0, dim)).into_iter().collect()
}

/// The same of a reduction.
fn of_kept(operation: &Operation, ins: &[Varying], dim: usize) -> Vec<(usize, usize)> {
    let Operation::Reduce { dims } = operation else { return Vec::new() };
    (0..ins[0].sizes.len()).filter(|k| !dims.contains(k)).nth(dim).map(|dim| (0, dim)).into_iter().collect()
}

/// The same of a product: its dimensions are batch, then the left's and the right's others.
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
