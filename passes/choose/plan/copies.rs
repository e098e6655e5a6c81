//! The copies of a plan between memories, as pairs of operations: where each starts, where it is done, and who reads what.
//!
//! ```mlir
//! %a = linalg.matmul ..                                   made in memory space 1
//! %b = linalg.exp ins(%a) ..                              reads %a there
//! %1 = layout.convert %a {async} : .. to S(0)             starts before the operation that the plan says
//! %c = linalg.matmul ..                                   runs beside it
//! %2 = layout.await %1                                    is done
//! %d = linalg.add ins(%c, %2) ..                          reads %2
//! ```
//!
//! A tensor that is copied several times is a chain of values: the one that is made, and one behind each copy. An operation
//! reads the last one that is there when its kernel runs. Where the operation stands before that in its block, as one does
//! that is computed inside of a later kernel, the copy is done before it, or, where it has not started yet, the one before
//! is read. So both operations are in the block of the tensor.
//!
//! A copy is read until it is done. So what is copied may not be written: not by operations that begin with it, and only
//! the last value of a chain is taken by operations of which that is not known.

use super::loops::has_loops;
use super::remarks::what;
use super::steps::{ArrayId, StepKind, Steps, Want, layout_in};
use super::walk::operations_of;
use crate::choose::indexing_analysis::reads;
use crate::choose::remove_conversions::PLANNED;
use crate::pass::diagnostic::Diagnostic;
use layout_ir::{self as ir, Builder, Op, Val};
use layout_plan::plan::PlannedTransfer;
use melior::Context;
use melior::ir::operation::{OperationLike, OperationMutLike};
use melior::ir::{Attribute, Type, ValueLike};
use std::collections::HashMap;
use tensor_layout::text::Error;
use tensor_layout::tiled::Layout;

/// The copies of all tensors of a plan.
#[derive(Default)]
pub struct PlannedCopies<'c> {
    chains: Vec<CopyChain<'c>>,
}

/// The copies of one tensor.
struct CopyChain<'c> {
    array: ArrayId,
    value: Val<'c>,
    /// The memory space that it is made in.
    made_in: u8,
    /// The operations of its block.
    block: Vec<Op<'c>>,
    copies: Vec<MemoryCopy>,
    /// Its uses, and what each takes.
    uses: Vec<(Op<'c>, usize, Taken)>,
}

/// A copy, before which operations of the block it starts and is done.
struct MemoryCopy {
    to: u8,
    start: usize,
    done: usize,
}

/// The source of a tensor's elements at a use.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Taken {
    /// The tensor as it is made.
    Made,
    /// The result of the copy of this number.
    Copy(usize),
    /// None of its elements.
    Nothing,
}

impl<'c> PlannedCopies<'c> {
    /// The copies of a plan, and a remark at each tensor of which they cannot be written: that is in memory space 0.
    pub fn of(
        module: Op<'c>,
        steps: &Steps<'c>,
        transfers: &[PlannedTransfer],
    ) -> (PlannedCopies<'c>, Vec<Diagnostic<'c>>) {
        let mut values: HashMap<ArrayId, Vec<Val<'c>>> = HashMap::new();
        for op in operations_of(module) {
            let arguments = ir::blocks(op).into_iter().flat_map(ir::arguments);
            for v in ir::results(op).into_iter().chain(arguments) {
                steps.array(v).into_iter().for_each(|array| values.entry(array).or_default().push(v));
            }
        }
        let (mut chains, mut remarks) = (Vec::new(), Vec::new());
        for group in transfers.chunk_by(|one, other| one.at == other.at) {
            let step = &steps.steps[group[0].at.1];
            let array = step.results[group[0].at.2];
            let values = values.get(&array).map_or(&[][..], Vec::as_slice);
            match TransferredTensor::of(steps, array, values, group).and_then(CopyChain::of) {
                Ok(chain) => chains.push(chain),
                Err(why) => {
                    let message = format!("{} stays in memory space 0: {why}", what(step.op, &step.kind));
                    remarks.push(Diagnostic::remark(ir::location(step.op), message));
                }
            }
        }
        (PlannedCopies { chains }, remarks)
    }

    /// The memory space that a copied array is made in.
    pub fn made_in(&self, array: ArrayId) -> Option<u8> {
        self.chains.iter().find(|chain| chain.array == array).map(|chain| chain.made_in)
    }

    /// The types that each tensor has behind its copies; `types` are those of arrays.
    ///
    /// # Errors
    /// A layout is none in MLIR.
    pub fn types(
        &self,
        context: &'c Context,
        steps: &Steps<'c>,
        types: &[Type<'c>],
    ) -> Result<Vec<Vec<Type<'c>>>, Error> {
        let of = |chain: &CopyChain<'c>| {
            let made = types[chain.array];
            let layout = |copy: &MemoryCopy| Layout { memory_space: copy.to, ..layout_in(made) };
            chain.copies.iter().map(|copy| steps.with_layout(context, made, &layout(copy))).collect()
        };
        self.chains.iter().map(of).collect()
    }

    /// Writes the copies, whose types these are, and gives them to who reads them.
    pub fn write(&self, types: &[Vec<Type<'c>>]) {
        self.chains.iter().zip(types).for_each(|(chain, types)| chain.write(types));
    }
}

/// A tensor, and the transfers that a plan has for it.
struct TransferredTensor<'a, 'c> {
    steps: &'a Steps<'c>,
    array: ArrayId,
    value: Val<'c>,
    transfers: &'a [PlannedTransfer],
    is_argument: bool,
    /// The operations of its block, and their places.
    block: Vec<Op<'c>>,
    places: HashMap<usize, usize>,
    /// The place after it.
    first: usize,
}

impl<'a, 'c> TransferredTensor<'a, 'c> {
    /// # Errors
    /// Why it cannot be copied.
    fn of(
        steps: &'a Steps<'c>,
        array: ArrayId,
        values: &[Val<'c>],
        transfers: &'a [PlannedTransfer],
    ) -> Result<TransferredTensor<'a, 'c>, String> {
        let own = &steps.arrays[array];
        let step = &steps.steps[own.by];
        let is_argument = matches!(step.kind, StepKind::Argument(_));
        let [value] = values else { return Err("it is no value of the program, or several".into()) };
        if !own.is_whole() || own.cheap || transfers.windows(2).any(|pair| pair[0].to != pair[1].from) {
            return Err("it is made several times".into());
        }
        if own.fixed && layout_in(own.r#type).memory_space != transfers[0].from {
            return Err("its type says so".into());
        }
        if !is_argument && !reads_anywhere(step.op) {
            return Err("it may be in the buffer of an operand".into());
        }
        let after = ir::after(*value).ok_or("its block has no end")?;
        let block = after.block().map(ir::operations).ok_or("it is in no block")?;
        let places: HashMap<usize, usize> = block.iter().enumerate().map(|(at, op)| (ir::op_key(*op), at)).collect();
        let first = places[&ir::op_key(after)];
        Ok(TransferredTensor { steps, array, value: *value, transfers, is_argument, block, places, first })
    }

    /// The place of the operation in the block that is another one or contains it.
    fn place(&self, op: Op<'c>) -> Option<usize> {
        let mut around = std::iter::successors(Some(op), |op| ir::parent(*op));
        around.find_map(|op| self.places.get(&ir::op_key(op)).copied())
    }

    fn copies(&self) -> Vec<MemoryCopy> {
        let (first, last) = (self.first, self.block.len() - 1);
        let place = |node: (usize, usize), outside: usize| match &self.steps.steps[node.1] {
            step if matches!(step.kind, StepKind::Argument(_)) => first,
            step if matches!(step.kind, StepKind::Result(_)) => last,
            step => self.place(step.op).unwrap_or(outside),
        };
        let mut copies: Vec<MemoryCopy> = Vec::new();
        for transfer in self.transfers {
            let from = copies.last().map_or(first, |copy| copy.done);
            let start = place(transfer.nodes[0], first).clamp(from, last);
            copies.push(MemoryCopy { to: transfer.to, start, done: place(transfer.nodes[1], last).clamp(start, last) });
        }
        copies
    }

    /// The source of an operand, at a place.
    fn taken(&self, copies: &[MemoryCopy], op: Op<'c>, operand: usize, here: usize) -> Result<Taken, String> {
        let wants = self.steps.wants.get(&ir::op_key(op)).into_iter().flatten();
        let want = wants.filter(|(own, _)| *own == operand).map(|(_, want)| *want).next();
        let by = match want {
            Some(Want::Taken(step, _)) if has_loops(op) => Some(step),
            None if reads_anywhere(op) => self.steps.steps.iter().position(|step| step.op == op),
            _ => None,
        };
        match (want, by) {
            (_, Some(step)) => {
                let reads = |transfer: &PlannedTransfer| transfer.read_by.contains(&(0, step));
                let planned = self.transfers.iter().rposition(reads).map_or(0, |copy| copy + 1);
                // What has not started yet is not there.
                let number = copies[..planned].iter().rposition(|copy| copy.start <= here);
                Ok(number.map_or(Taken::Made, Taken::Copy))
            }
            (Some(Want::Filled(_)), _) => Ok(Taken::Nothing),
            _ if ir::indexing_maps(op).is_some() && reads(op, operand) => {
                Err(format!("`{}` writes over it", ir::name(op)))
            }
            _ => match copies.iter().rposition(|copy| copy.to == 0 && copy.done <= here) {
                None if self.is_argument => Ok(Taken::Made),
                Some(number) if number + 1 == copies.len() => Ok(Taken::Copy(number)),
                _ => Err(format!("`{}` takes it in memory space 0", ir::name(op))),
            },
        }
    }
}

impl<'c> CopyChain<'c> {
    /// # Errors
    /// Why the copies cannot be written.
    fn of(tensor: TransferredTensor<'_, 'c>) -> Result<CopyChain<'c>, String> {
        let (mut copies, mut uses) = (tensor.copies(), Vec::new());
        for (op, operand) in ir::uses(tensor.value) {
            let here = tensor.place(op).ok_or("it is used in another block")?;
            let taken = tensor.taken(&copies, op, operand, here)?;
            if let Taken::Copy(number) = taken {
                copies[number].done = copies[number].done.min(here);
            }
            uses.push((op, operand, taken));
        }
        let TransferredTensor { array, value, transfers, block, .. } = tensor;
        Ok(CopyChain { array, value, made_in: transfers[0].from, block, copies, uses })
    }

    fn write(&self, types: &[Type<'c>]) {
        let mut made = vec![self.value];
        for (copy, t) in self.copies.iter().zip(types) {
            let located = |at: usize| {
                let b = Builder::before(self.block[at]);
                ir::defining_op(self.value).map_or(b, |op| b.located(op))
            };
            let (b, source) = (located(copy.start), *made.last().expect("the first is made"));
            let unit = Attribute::unit(b.context());
            let attributes = ["async", "keep", PLANNED].map(|name| b.named(name, unit));
            let started = b.value("layout.convert", &[source], *t, &attributes);
            made.push(located(copy.done).value("layout.await", &[started], *t, &[]));
        }
        for (op, operand, taken) in &self.uses {
            let v = match taken {
                Taken::Made => continue,
                Taken::Copy(number) => made[number + 1],
                Taken::Nothing => Builder::before(*op).value("tensor.empty", &[], self.value.r#type(), &[]),
            };
            ir::edit(*op).set_operand(*operand, v);
        }
    }
}

/// Whether an operation reads from any memory and writes a buffer of its own in any.
fn reads_anywhere(op: Op) -> bool {
    has_loops(op) || ir::name(op) == "layout.convert"
}
