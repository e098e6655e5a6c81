//! The instructions: the dispatch in [`instruction`], and the functions by kind.

mod algorithms;
mod batch_norm;
mod bitcast;
mod bits;
mod blocks;
mod collectives;
mod computation;
mod control;
mod custom;
mod dynamic;
mod dynamic_blocks;
mod fft;
mod gather;
mod monoid;
mod pairs;
mod products;
mod ragged;
mod random;
mod reductions;
mod running;
mod scan;
mod scatter;
mod select_and_scatter;
mod shapes;
mod solve;
mod sort;
mod varying;

use crate::builder::{Builder, Operand};
use crate::collectives::{Collectives, is_device};
use crate::scalar::{elementwise, literal};
use crate::tensor::{Fault, ImportResult, Tensor, tensors};
use tensor_layout::element::ElementType;
use tensor_layout::hlo::{Instruction, Literal, Values};
use tensor_layout::operations::{Exchange, Operation, Shape};

/// An instruction, with the shapes and the tensors of its operands.
#[derive(Clone, Copy)]
pub struct Site<'a> {
    pub i: &'a Instruction,
    pub shapes: &'a [&'a Shape],
    pub operands: &'a [&'a [Tensor]],
    /// The trip count of a loop, if it is known.
    pub trips: Option<i64>,
}

/// Writes an instruction; returns the tensors of its results.
///
/// # Errors
/// The instruction has no counterpart.
pub fn instruction(b: &mut Builder, site: &Site) -> ImportResult<Vec<Tensor>> {
    let i = site.i;
    let results = tensors(&i.shape)?;
    let ins: Vec<Tensor> = site.operands.concat();
    match &i.operation {
        Operation::Tuple if !is_barrier(i) => b.all_converted(&ins, &results),
        Operation::Call { computation } => control::call(b, *computation, &ins, &results),
        Operation::While { condition, body } => control::repeat(b, [*condition, *body], site.trips, &ins),
        Operation::Conditional { branches } => control::branch(b, branches, site.operands, &results),
        Operation::Start(start) => pairs::start(b, site, start),
        Operation::Leaves { .. } if matches!(&*i.opcode, "infeed" | "recv-done") => {
            Ok(pairs::received(b, site, &results))
        }
        Operation::Leaves { numbers } => {
            if i.opcode == "send" {
                pairs::sent(b, site, &ins);
            }
            pairs::leaves_of(b, site, numbers)
        }
        _ if i.opcode == "outfeed" => Ok(pairs::sent(b, site, &ins)),
        _ if i.opcode == "after-all" => Ok(Vec::new()),
        _ if is_barrier(i) || i.opcode == "copy" && matches!(i.shape, Shape::Tuple(_)) => {
            let each = ins.iter().zip(&results);
            each.map(|(from, to)| b.precise(from, to).map(|t| b.converted(&t, to))).collect()
        }
        // The cases above take varying sizes as further values.
        _ if dynamic::varies(&i.shape) || site.shapes.iter().any(|shape| dynamic::varies(shape)) => {
            dynamic::instruction(b, site)
        }
        Operation::Collective(c) => match c.exchange {
            Exchange::PermuteBlocks { sets } => blocks::permuted(b, i, (c, sets), &ins, &results),
            _ => collectives::collective(b, site, c, &ins, &results),
        },
        Operation::Other { .. } if i.opcode == "collective-broadcast" && b.collectives == Collectives::Single => {
            b.all_converted(&ins[..results.len()], &results)
        }
        _ if is_device(i) => Ok(vec![collectives::device_id(b, i, &results[0])]),
        // A result without elements does not depend on the operands.
        operation if !matches!(operation, Operation::Other { .. }) && results.iter().all(Tensor::is_empty) => {
            Ok(results.iter().map(|out| b.empty(out)).collect())
        }
        operation
            if i.opcode == "custom-call"
                && !matches!(operation, Operation::Concatenate { .. } | Operation::Algorithm(_)) =>
        {
            custom::custom_call(b, site, &ins, results)
        }
        Operation::Reduce { dims } => reductions::reduce(b, i, dims, &ins, results),
        Operation::Scatter(g) => scatter::scatter(b, i, g, &ins, results),
        Operation::Algorithm(algorithm) => algorithms::algorithm(b, i, algorithm, &ins, results),
        Operation::ReduceWindow { window } => reductions::reduce_window(b, i, window, &ins, results),
        Operation::Constant if matches!(i.shape, Shape::Tuple(_)) && i.literal.is_some() => constants(b, i, &results),
        _ if results.len() != 1 => Err(not_imported(i)),
        _ => Ok(vec![one(b, site, &ins, &results[0])?]),
    }
}

fn is_barrier(i: &Instruction) -> bool {
    &*i.opcode == "opt-barrier"
}

/// Whether the result of an elementwise instruction is its operand.
fn is_identity(i: &Instruction) -> bool {
    is_barrier(i) || matches!(&*i.opcode, "copy" | "domain" | "set-dimension-size")
}

fn not_imported(i: &Instruction) -> Fault {
    let reason = match &i.operation {
        Operation::Other { reason } => reason.strip_prefix(&*i.opcode).unwrap_or_default(),
        _ => "",
    };
    format!("`{}` cannot be imported{reason}", i.opcode).into()
}

/// Writes an instruction with one result.
fn one(b: &mut Builder, site: &Site, ins: &[Tensor], out: &Tensor) -> ImportResult<Tensor> {
    let i = site.i;
    let ins =
        if only_moves(i) { ins.iter().map(|t| b.precise(t, out)).collect::<ImportResult<_>>()? } else { ins.to_vec() };
    match &i.operation {
        Operation::Constant if i.opcode == "rng-get-and-update-state" => Ok(random::state(b, i, out)),
        Operation::Constant => match &i.literal {
            Some(literal) => constant(b, i, literal, out),
            None => Err(not_imported(i)),
        },
        Operation::Elementwise | Operation::Select if i.opcode == "copy" => Ok(b.converted(&ins[0], out)),
        Operation::Elementwise if i.opcode == "domain" => Ok(b.converted(&ins[0], out)),
        Operation::Elementwise if i.opcode == "map" => map(b, i, &ins, out),
        Operation::Elementwise | Operation::Other { .. } if i.opcode == "rng" => random::numbers(b, i, &ins[..2], out),
        // Another size would be one up to a bound: this is the whole operand.
        Operation::Elementwise if i.opcode == "set-dimension-size" => Ok(b.converted(&ins[0], out)),
        Operation::Elementwise | Operation::Select => elementwise(b, i, &ins, out),
        Operation::Broadcast { .. } if i.opcode == "bitcast-convert" => shapes::parts(b, &ins[0], out),
        Operation::Broadcast { dims } => shapes::broadcast(b, dims, &ins[0], out),
        Operation::Transpose { permutation } => shapes::transpose(b, permutation, &ins[0], out),
        Operation::Reverse { dims } => shapes::reverse(b, dims, &ins[0], out),
        Operation::Reshape => Ok(shapes::reshape(b, &ins[0], out)),
        Operation::Bitcast => bitcast::bitcast(b, i, site.shapes[0], &ins[0], out),
        Operation::Slice { starts, strides, .. } => Ok(shapes::slice(b, starts, strides, &ins[0], out)),
        Operation::Concatenate { dim } => Ok(shapes::concatenate(b, *dim, &ins, out)),
        Operation::Pad { low, high, interior } => shapes::pad(b, [low, high, interior], &ins, out),
        Operation::Dot { lhs_batch, rhs_batch, lhs_contracting, rhs_contracting } => {
            products::dot(b, [lhs_batch, rhs_batch], [lhs_contracting, rhs_contracting], &ins, out)
        }
        Operation::Convolution(convolution) => products::convolution(b, convolution, &ins, out),
        Operation::DynamicSlice { sizes } => Ok(shapes::dynamic_slice(b, sizes, &ins, out)),
        Operation::DynamicUpdateSlice => Ok(shapes::dynamic_update_slice(b, &ins, out)),
        Operation::Gather(g) => gather::gather(b, g, &ins, out),
        Operation::Other { .. } if i.opcode == "dynamic-update-slice" => {
            // The starts are one array.
            let starts = (0..out.sizes.len()).map(|k| b.element_as_tensor(&ins[2], k)).collect::<Vec<_>>();
            Ok(shapes::dynamic_update_slice(b, &[&ins[..2], &starts].concat(), out))
        }
        Operation::Iota { dim } => iota(b, *dim, out),
        _ => Err(not_imported(i)),
    }
}

/// Whether an instruction only moves elements: then operands are rounded to the precision of the result first.
fn only_moves(i: &Instruction) -> bool {
    match &i.operation {
        Operation::Elementwise => is_identity(i),
        _ if i.opcode == "bitcast-convert" => false,
        Operation::Select | Operation::Bitcast | Operation::Dot { .. } | Operation::Convolution(_) => false,
        _ => true,
    }
}

fn constant(b: &mut Builder, i: &Instruction, literal: &Literal, out: &Tensor) -> ImportResult<Tensor> {
    if literal.values == Values::Elided {
        return b.elided(i, out);
    }
    let value = literal::dense(literal, out.element, &out.sizes);
    let value = value.ok_or("MLIR has no text for the value of this constant")?;
    Ok(b.named(out, &format!("arith.constant dense<{value}> : {}", out.ty)))
}

/// A tuple of constants.
fn constants(b: &mut Builder, i: &Instruction, outs: &[Tensor]) -> ImportResult<Vec<Tensor>> {
    let literal = i.literal.as_ref().ok_or_else(|| not_imported(i))?;
    let leaves = literal.leaves();
    let each = outs.iter().enumerate();
    // A tuple without its value has no parts in the text.
    each.map(|(k, out)| constant(b, i, leaves.get(k).copied().unwrap_or(literal), out)).collect()
}

fn elementwise(b: &mut Builder, i: &Instruction, ins: &[Tensor], out: &Tensor) -> ImportResult<Tensor> {
    let from: Vec<ElementType> = ins.iter().map(|t| t.element).collect();
    b.each(ins.iter().map(Operand::own).collect(), out, |w, args| {
        elementwise::elementwise(w, i, &args[..from.len()], &from, out.element)
    })
}

/// Applies the computation to the elements at each index.
fn map(b: &mut Builder, i: &Instruction, ins: &[Tensor], out: &Tensor) -> ImportResult<Tensor> {
    let number = i.called.first().copied().ok_or("a map needs a computation")?;
    let (module, from) = (b.module, ins.iter().map(|t| t.element).collect::<Vec<_>>());
    b.each(ins.iter().map(Operand::own).collect(), out, |w, args| {
        let done = computation::applied(module, number, w, &args[..from.len()], &from, &[out.element])?;
        done.into_iter().next().ok_or_else(|| "a map must have a result".into())
    })
}

fn iota(b: &mut Builder, dim: usize, out: &Tensor) -> ImportResult<Tensor> {
    b.each(Vec::new(), out, |w, _| {
        let index = w.op(&format!("linalg.index {dim} : index"));
        let wide = w.op(&format!("arith.index_cast {index} : index to i64"));
        let value = crate::scalar::convert::convert(w, &wide, ElementType::S64, out.element);
        value.ok_or_else(|| "an `iota` of this type cannot be imported".into())
    })
}
