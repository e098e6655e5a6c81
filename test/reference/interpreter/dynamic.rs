//! Arrays of bounded dynamic sizes: each instruction runs on arrays of the actual sizes.

use super::{Number, Value, array, instruction};
use tensor_layout::hlo::{Instruction, Module};
use tensor_layout::operations::{Algorithm, Array, Dim, Gather, Operation, Shape, WindowDim, leaves};

/// Whether an array of the shape has a bounded dynamic size.
fn varies(shape: &Shape) -> bool {
    leaves(shape).iter().any(|array| array.dims.iter().any(|dim| matches!(dim, Dim::Bounded(_))))
}

/// The results of an instruction.
pub fn sized(module: &Module, i: &Instruction, operands: &[Vec<Value>], shapes: &[&Shape]) -> Vec<Value> {
    let passes = matches!(
        &i.operation,
        Operation::Tuple
            | Operation::GetTupleElement { .. }
            | Operation::Call { .. }
            | Operation::While { .. }
            | Operation::Conditional { .. }
    );
    if passes || !varies(&i.shape) && !shapes.iter().any(|shape| varies(shape)) {
        return instruction(module, i, operands, shapes);
    }
    let mut x: Vec<Value> = operands.iter().map(|leaves| leaves[0].clone()).collect();
    match i.attribute("custom_call_target") {
        Some("\"SliceToDynamic\"") => return vec![cropped(&x[0], &scalars(&x[1..]))],
        Some("\"PadToStatic\"") => {
            let of = |n: &i64| Value::scalar(tensor_layout::element::ElementType::S32, Number::Int((*n).into()));
            let sizes: Vec<Value> = x[0].sizes.iter().map(of).collect();
            let bounds = array(shapes[0]).sizes().unwrap();
            return std::iter::once(cropped(&x[0], &bounds)).chain(sizes).collect();
        }
        _ => {}
    }
    if i.opcode == "set-dimension-size" {
        let mut sizes = x[0].sizes.clone();
        sizes[i.numbers("dimensions").unwrap()[0] as usize] = x[1].data[0].int() as i64;
        return vec![cropped(&x[0], &sizes)];
    }
    let bounds: Vec<Vec<i64>> = leaves(&i.shape).iter().map(|array| array.sizes().unwrap()).collect();
    let sizes = sizes(i, &x, shapes, &bounds[0]);
    if matches!(i.operation, Operation::Elementwise | Operation::Select) {
        x.iter_mut().filter(|v| !v.sizes.is_empty()).for_each(|v| *v = cropped(v, &sizes));
    }
    let exact =
        |array: &Array, sizes: &[i64]| Array { dims: sizes.iter().map(|n| Dim::Exact(*n)).collect(), ..array.clone() };
    let fixed: Vec<Shape> =
        shapes.iter().zip(&x).map(|(shape, v)| Shape::Array(exact(array(shape), &v.sizes))).collect();
    let made: Vec<Shape> = leaves(&i.shape).iter().map(|array| Shape::Array(exact(array, &sizes))).collect();
    let shape = if let [one] = &made[..] { one.clone() } else { Shape::Tuple(made) };
    // A block over a whole dimension has the dimension's actual size.
    let mut operation = i.operation.clone();
    match &mut operation {
        Operation::Gather(g) => g.slice_sizes = blocks(array(shapes[0]), &x[0], &g.slice_sizes),
        Operation::DynamicSlice { sizes } => *sizes = blocks(array(shapes[0]), &x[0], sizes),
        Operation::Slice { limits, .. } => {
            limits.iter_mut().zip(&x[0].sizes).for_each(|(limit, n)| *limit = (*limit).min(*n))
        }
        _ => {}
    }
    let i = Instruction { shape, operation, ..i.clone() };
    let operands: Vec<Vec<Value>> = x.into_iter().map(|v| vec![v]).collect();
    instruction(module, &i, &operands, &fixed.iter().collect::<Vec<_>>())
}

fn blocks(data: &Array, x: &Value, block: &[i64]) -> Vec<i64> {
    let bounds = data.sizes().unwrap();
    (0..block.len()).map(|k| if block[k] == bounds[k] { x.sizes[k] } else { block[k] }).collect()
}

fn scalars(x: &[Value]) -> Vec<i64> {
    x.iter().map(|v| v.data[0].int() as i64).collect()
}

/// The array with other sizes; new elements are zero.
fn cropped(v: &Value, sizes: &[i64]) -> Value {
    let zero = Value::build(v.element, &[], |_| Number::Int(0).to(v.element)).data[0];
    let inside = |at: &[i64]| at.iter().zip(&v.sizes).all(|(i, n)| i < n);
    Value::build(v.element, sizes, |at| if inside(at) { v.at(at) } else { zero })
}

/// The number of window positions in a dimension of `n` elements, by enumeration.
fn windows(w: &WindowDim, n: i64) -> i64 {
    let whole = w.low + w.high + if n > 0 { (n - 1) * w.base_dilation + 1 } else { 0 };
    let ends = (0..).map(|k| k * w.stride + (w.size - 1) * w.window_dilation + 1);
    ends.take_while(|end| *end <= whole).count() as i64
}

/// The sizes of the result within these bounds.
fn sizes(i: &Instruction, x: &[Value], shapes: &[&Shape], bounds: &[i64]) -> Vec<i64> {
    let of = |k: usize| x[k].sizes.clone();
    match &i.operation {
        Operation::Elementwise | Operation::Select => {
            let least = |k: usize| x.iter().filter_map(|v| v.sizes.get(k)).min().copied();
            (0..bounds.len()).map(|k| least(k).unwrap_or(bounds[k])).collect()
        }
        Operation::Broadcast { dims } => {
            let place = |k| dims.iter().position(|dim| *dim == k);
            (0..bounds.len()).map(|k| place(k).map_or(bounds[k], |from| x[0].sizes[from])).collect()
        }
        Operation::Transpose { permutation } => permutation.iter().map(|k| x[0].sizes[*k]).collect(),
        Operation::Reduce { dims } => {
            (0..x[0].sizes.len()).filter(|k| !dims.contains(k)).map(|k| x[0].sizes[k]).collect()
        }
        Operation::Dot { lhs_batch, rhs_batch, lhs_contracting, rhs_contracting } => {
            let batch: Vec<i64> = lhs_batch.iter().map(|d| x[0].sizes[*d]).collect();
            [batch, free(&x[0], [lhs_batch, lhs_contracting]), free(&x[1], [rhs_batch, rhs_contracting])].concat()
        }
        Operation::Concatenate { dim } => {
            let mut sizes = of(0);
            sizes[*dim] = x.iter().map(|v| v.sizes[*dim]).sum();
            sizes
        }
        Operation::Pad { low, high, interior } => (0..low.len())
            .map(|k| x[0].sizes[k] + (x[0].sizes[k] - 1).max(0) * interior[k] + low[k] + high[k])
            .collect(),
        Operation::Algorithm(algorithm) if matches!(**algorithm, Algorithm::DynamicReshape) => scalars(&x[1..]),
        Operation::Algorithm(algorithm) if matches!(**algorithm, Algorithm::DimensionSize { .. }) => Vec::new(),
        Operation::Reshape => reshaped(i, &x[0], bounds),
        Operation::Iota { .. } => bounds.to_vec(),
        Operation::Slice { starts, limits, strides } => (0..bounds.len())
            .map(|k| (starts[k]..limits[k].min(x[0].sizes[k])).step_by(strides[k] as usize).count() as i64)
            .collect(),
        Operation::Gather(g) => gathered(g, x, &blocks(array(shapes[0]), &x[0], &g.slice_sizes), bounds),
        Operation::DynamicSlice { sizes } => blocks(array(shapes[0]), &x[0], sizes),
        Operation::ReduceWindow { window } => window.iter().zip(&x[0].sizes).map(|(w, n)| windows(w, *n)).collect(),
        Operation::Convolution(c) => {
            let mut sizes = bounds.to_vec();
            for ((input, output), w) in c.input_spatial.iter().zip(&c.output_spatial).zip(&c.window) {
                sizes[*output] = windows(w, x[0].sizes[*input]);
            }
            sizes[c.output_batch] = x[0].sizes[c.input_batch];
            sizes
        }
        _ => of(0),
    }
}

/// The sizes of the dimensions in none of two lists.
fn free(v: &Value, lists: [&Vec<usize>; 2]) -> Vec<i64> {
    let kept = (0..v.sizes.len()).filter(|d| !lists.iter().any(|list| list.contains(d)));
    kept.map(|d| v.sizes[d]).collect()
}

/// The sizes of a reshape, of which one is dynamic.
fn reshaped(i: &Instruction, x: &Value, bounds: &[i64]) -> Vec<i64> {
    let dynamic = array(&i.shape).dims.iter().position(|dim| matches!(dim, Dim::Bounded(_)));
    let mut sizes = bounds.to_vec();
    if let Some(k) = dynamic {
        sizes[k] = 1;
        sizes[k] = x.sizes.iter().product::<i64>() / sizes.iter().product::<i64>();
    }
    sizes
}

/// The sizes of a gather of blocks of these sizes.
fn gathered(g: &Gather, x: &[Value], block: &[i64], bounds: &[i64]) -> Vec<i64> {
    let mut counted = (0..x[1].sizes.len()).filter(|k| *k != g.index_vector_dim);
    let kept = |k: &usize| !g.collapsed_slice_dims.contains(k) && !g.operand_batching_dims.contains(k);
    let mut inside = (0..block.len()).filter(kept);
    let size = |k| match g.offset_dims.contains(&k) {
        true => block[inside.next().unwrap()],
        false => x[1].sizes[counted.next().unwrap()],
    };
    (0..bounds.len()).map(size).collect()
}
