//! Keeps alias sets small, as the analysis of upstream's bufferization takes time quadratic to cubic in their size.
//!
//! For each operand, upstream looks at all reads and writes of all tensors that may be in its buffer. So time is linear in
//! a function only if such uses are few. Here, on tensors that are ready for bufferization:
//!
//! - each operation that may write into a `tensor.empty` gets its own, and, if several may write into one
//!   result of `linalg.fill`, each but one gets its own fill, which costs less than the copy that it would get;
//! - a tensor with many uses is read by [`READERS`] of them at a time through `bufferization.to_buffer` and
//!   `to_tensor`, where upstream's analysis stops. The tensor is a constant or an argument that is not writable; or no
//!   use writes to it and its buffer has no other tensor: it is an argument, or defined in an empty tensor of its own;
//! - a tensor whose buffer may hold [`VERSIONS`] tensors, because of updates, loops, conditionals and calls, is copied
//!   once. In a chain of updates this is one copy for every [`VERSIONS`] of them.

use crate::analysis::ownership::{Carried, carried};
use crate::buffers::operations::{READS, SLICE_OR_RESHAPE, is};
use layout_ir::{self as ir, Builder, Op, Shaped, Val};
use melior::ir::operation::{OperationLike, OperationMutLike};
use melior::ir::{Attribute, ValueLike};
use std::collections::HashMap;
use tensor_layout::sets::DisjointSets;

/// The uses that read one tensor. One-shot-bufferize of 2,000 operations that all read one argument, in groups of this
/// size, takes 0.11 s in groups of 1 to 16, 0.12 s of 32, 0.13 s of 64, 0.15 s of 128, 0.22 s of 256, and 1.15 s in
/// one: the largest number that costs nothing, as each group adds two operations.
const READERS: usize = 16;
/// The tensors that may be in one buffer. One-shot-bufferize of 2,000 updates of one tensor, with a copy after this
/// many of them, takes 0.70, 0.75, 1.08, 3.4 and 21 s for 6, 12, 24, 48 and 96. The program pays for each copy in every
/// run, so this is the largest number for which 1,000 updates are lowered in less than two seconds.
const VERSIONS: usize = 48;

/// Bounds the alias sets of a module. `copied` emits a copy of a tensor.
pub fn bound<'c>(module: Op<'c>, copied: impl Fn(Builder<'c>, Val<'c>) -> Val<'c>) {
    for op in ir::all_operations(module) {
        match ir::name(op) {
            _ if !ir::results(op).into_iter().any(is_tensor) => {}
            "tensor.empty" => split(op, |op| vec![op]),
            // The copy of a fill would overwrite any other tensor.
            "linalg.fill" => {
                let into = ir::defining_op(ir::operands(op)[1]).filter(|from| ir::name(*from) == "tensor.empty");
                if let Some(empty) = into {
                    split(op, |op| vec![empty, op]);
                }
            }
            _ => {}
        }
    }
    let operations = ir::all_operations(module);
    for op in &operations {
        let arguments = (ir::name(*op) == "func.func").then(|| ir::blocks(*op).into_iter().next()).flatten();
        let arguments: Vec<Val> = arguments.map(ir::arguments).unwrap_or_default();
        for value in arguments.into_iter().chain(ir::results(*op)).filter(|v| is_tensor(*v)) {
            read_in_groups(value);
        }
    }
    cut(&operations, &copied);
}

pub fn is_tensor(value: Val) -> bool {
    ir::tensor(value.r#type()).is_some()
}

/// The operand whose buffer an operation's result may be in, judged by the operation alone.
pub fn updated<'c>(op: Op<'c>, result: usize) -> Option<usize> {
    match ir::name(op) {
        "tensor.insert" | "tensor.insert_slice" => Some(1),
        name if is(name, SLICE_OR_RESHAPE) => Some(0),
        _ if ir::indexing_maps(op).is_some() => (ir::operands(op).len() - ir::results(op).len()).checked_add(result),
        _ => None,
    }
}

/// Whether an operation may write to an operand.
fn writes(op: Op, operand: usize) -> bool {
    (0..ir::results(op).len()).any(|result| updated(op, result) == Some(operand)) && !is(ir::name(op), SLICE_OR_RESHAPE)
}

/// Gives each writer of another operation's result its own, defined by copies of the operations that `parts` lists;
/// the last of them takes the result of the one before as its last operand.
fn split<'c>(op: Op<'c>, parts: impl Fn(Op<'c>) -> Vec<Op<'c>>) {
    let uses = ir::uses(ir::result(op, 0));
    if uses.len() < 2 {
        return;
    }
    let mut writers = uses.into_iter().filter(|at| !only_reads(*at));
    let Some((kept, _)) = writers.next() else { return };
    for (user, operand) in writers {
        let mut made: Option<Val<'c>> = None;
        for part in parts(op) {
            let copy = ir::copy_before(part, user);
            if let Some(made) = made {
                ir::edit(copy).set_operand(ir::operands(copy).len() - 1, made);
            }
            made = Some(ir::result(copy, 0));
        }
        ir::edit(user).set_operand(operand, made.expect("there is a part"));
    }
    // A buffer lives from its tensor's definition; the original may serve the last writer.
    let is_for_one = |part: Op<'c>| ir::uses(ir::result(part, 0)).len() == 1 && part.block() == kept.block();
    if is_for_one(op) {
        parts(op).into_iter().filter(|part| is_for_one(*part)).for_each(|part| ir::move_before(part, kept));
    }
}

/// Whether a tensor's buffer holds no other tensor, except those from its uses.
pub fn has_own_buffer(value: Val) -> bool {
    let mut value = value;
    loop {
        let Some(op) = ir::defining_op(value) else {
            return ir::block_argument(value).is_some_and(|(op, _)| ir::name(op) == "func.func");
        };
        match ir::name(op) {
            "arith.constant" | "tensor.empty" | "tensor.from_elements" => return true,
            _ => {}
        }
        let from = ir::result_number(value).and_then(|result| updated(op, result)).map(|k| ir::operands(op)[k]);
        let Some(from) = from.filter(|from| ir::uses(*from).len() == 1) else { return false };
        value = from;
    }
}

/// Whether bufferization never writes to a tensor itself, only to a copy.
pub fn is_constant(value: Val) -> bool {
    if let Some(op) = ir::defining_op(value) {
        return ir::name(op) == "arith.constant";
    }
    let Some((function, number)) = ir::block_argument(value).filter(|(op, _)| ir::name(*op) == "func.func") else {
        return false;
    };
    let attributes = ir::elements(function, "arg_attrs").get(number).map(|all| ir::entries(*all)).unwrap_or_default();
    let writable = attributes.iter().find(|(name, _)| name == "bufferization.writable");
    writable.is_some_and(|(_, writable)| ir::boolean(*writable) == Some(false))
}

/// Whether a use only reads, directly or through a slice or reshape.
pub fn only_reads((op, operand): (Op, usize)) -> bool {
    match ir::name(op) {
        "func.return" => true,
        "tensor.insert" | "tensor.insert_slice" => operand != 1,
        name if is(name, SLICE_OR_RESHAPE) => ir::uses(ir::result(op, 0))
            .into_iter()
            .all(|(user, operand)| !is(ir::name(user), SLICE_OR_RESHAPE) && only_reads((user, operand))),
        name => is(name, READS) || ir::indexing_maps(op).is_some() && !writes(op, operand),
    }
}

/// Splits the uses of a tensor into groups that read it, if they are many and nothing writes to it.
fn read_in_groups(value: Val) {
    let uses = ir::uses(value);
    let is_read = || is_constant(value) || has_own_buffer(value) && uses.iter().all(|at| only_reads(*at));
    if uses.len() <= READERS || !is_read() {
        return;
    }
    let first = match ir::defining_op(value) {
        Some(op) => ir::next(op),
        None => {
            ir::block_argument(value).and_then(|(op, _)| ir::operations(*ir::blocks(op).first()?).into_iter().next())
        }
    };
    let Some(first) = first else { return };
    let b = Builder::before(first);
    let Some(tensor) = ir::tensor(value.r#type()) else { return };
    let shaped = Shaped { layout: None, space: tensor.layout, ..tensor };
    let Some(buffer) = ir::memref_type(b.location, &shaped) else { return };
    let unit = Attribute::unit(b.context());
    let buffer = b.value("bufferization.to_buffer", &[value], buffer, &[b.named("read_only", unit)]);
    for group in uses.chunks(READERS) {
        let read = b.value("bufferization.to_tensor", &[buffer], value.r#type(), &[b.named("restrict", unit)]);
        for (user, operand) in group {
            ir::edit(*user).set_operand(*operand, read);
        }
    }
}

/// The number of tensors that may be in one buffer.
#[derive(Default)]
struct Versions {
    numbers: HashMap<usize, usize>,
    sets: DisjointSets,
    sizes: Vec<usize>,
}

impl Versions {
    fn find(&mut self, value: Val) -> usize {
        let number = *self.numbers.entry(ir::key(value)).or_insert_with(|| {
            self.sizes.push(1);
            self.sets.add()
        });
        self.sets.find(number)
    }

    fn of(&mut self, value: Val) -> usize {
        let at = self.find(value);
        self.sizes[at]
    }

    fn join(&mut self, one: Val, other: Val) {
        let (one, other) = (self.find(one), self.find(other));
        if one != other {
            self.sets.join(one, other);
            self.sizes[one] += self.sizes[other];
        }
    }
}

/// Copies tensors whose buffers may hold many others, before the operation that adds one more.
fn cut<'c>(operations: &[Op<'c>], copied: &impl Fn(Builder<'c>, Val<'c>) -> Val<'c>) {
    let mut versions = Versions::default();
    // The targets of operands in control flow.
    let mut targets: HashMap<(usize, usize), Val<'c>> = HashMap::new();
    for op in operations {
        for Carried { from, to } in carried(*op, is_tensor).unwrap_or_default() {
            to.iter().for_each(|v| versions.join(to[0], *v));
            targets.extend(from.into_iter().map(|(op, operand)| ((ir::op_key(op), operand), to[0])));
        }
        let results = ir::results(*op);
        for (operand, value) in ir::operands(*op).into_iter().enumerate().filter(|(_, v)| is_tensor(*v)) {
            let mut into: Vec<Val> = targets.get(&(ir::op_key(*op), operand)).copied().into_iter().collect();
            let in_place = |result: &usize| updated(*op, *result) == Some(operand) || ir::name(*op) == "func.call";
            into.extend((0..results.len()).filter(in_place).map(|result| results[result]).filter(|v| is_tensor(*v)));
            let is_new = into.iter().any(|into| versions.find(*into) != versions.find(value));
            let value = if is_new && versions.of(value) >= VERSIONS && !is(ir::name(*op), SLICE_OR_RESHAPE) {
                let copy = copied(Builder::before(*op), value);
                ir::edit(*op).set_operand(operand, copy);
                copy
            } else {
                value
            };
            into.into_iter().for_each(|into| versions.join(into, value));
        }
    }
}
