//! The flow of buffers between operations: definitions, views, and values carried from block to block.

use crate::buffers::operations::{IN_ORDER, SAME_BUFFER, SLICE_OR_RESHAPE, UNREALIZED_CAST, is};
use layout_ir::{self as ir, Op, Val};
use melior::ir::ValueLike;

/// The relation of an operation's buffer results to other buffers.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// New buffers, owned by the operation's block.
    New,
    /// Buffers that the block does not own.
    Lent,
    /// The operands, or parts of them.
    Shown,
    /// Values that its regions yield.
    Carried,
}

/// The origin of an operation's results; `None` if unknown.
pub fn made(op: Op) -> Option<Origin> {
    match ir::name(op) {
        "bufferization.clone" | "func.call" | "func.call_indirect" | "memref.alloc" => Some(Origin::New),
        "memref.alloca" | "memref.get_global" => Some(Origin::Lent),
        "arith.select" | "memref.extract_strided_metadata" => Some(Origin::Shown),
        name if name.starts_with("scf.") && is(name, IN_ORDER) => Some(Origin::Carried),
        name if is(name, SAME_BUFFER) || is(name, SLICE_OR_RESHAPE) => Some(Origin::Shown),
        _ => None,
    }
}

/// The value that an allocation or a call defines and of whose buffer another value is a view; `None` if unknown.
pub fn allocation(mut value: Val) -> Option<Val> {
    loop {
        let op = ir::defining_op(value)?;
        match made(op)? {
            Origin::New => return Some(value),
            Origin::Shown => {
                let [source] = ir::operands(op).into_iter().filter(|v| is_buffer(*v)).collect::<Vec<_>>()[..] else {
                    return None;
                };
                value = source;
            }
            Origin::Lent | Origin::Carried => return None,
        }
    }
}

/// Whether a value is a buffer.
pub fn is_buffer(value: Val) -> bool {
    ir::is_buffer(value.r#type())
}

/// Values of control flow: any operand of `from` may become all values of `to`.
pub struct Carried<'c> {
    /// The operands: operation and operand number.
    pub from: Vec<(Op<'c>, usize)>,
    /// Results of the operation, and arguments of its blocks.
    pub to: Vec<Val<'c>>,
}

/// The `wanted` values that an operation with regions carries; `None` if unknown.
pub fn carried<'c>(op: Op<'c>, wanted: impl Fn(Val<'c>) -> bool) -> Option<Vec<Carried<'c>>> {
    let blocks = ir::blocks(op);
    if blocks.is_empty() {
        return Some(Vec::new());
    }
    let (results, arguments): (_, Vec<_>) =
        (ir::results(op), blocks.iter().map(|block| ir::arguments(*block)).collect());
    let ends: Vec<Op> = blocks.iter().filter_map(|block| ir::operations(*block).pop()).collect();
    let all: Vec<Carried> = match ir::name(op) {
        "scf.execute_region" | "scf.if" | "scf.index_switch" => {
            let from = |k| ends.iter().map(|end| (*end, k)).collect();
            results.iter().enumerate().map(|(k, result)| Carried { from: from(k), to: vec![*result] }).collect()
        }
        "scf.for" => {
            let (end, variables) = (*ends.first()?, arguments.first()?.get(1..)?);
            let carried = |(k, (result, variable)): (usize, (&Val<'c>, &Val<'c>))| Carried {
                from: vec![(op, 3 + k), (end, k)],
                to: vec![*variable, *result],
            };
            results.iter().zip(variables).enumerate().map(carried).collect()
        }
        "scf.while" => {
            let ([condition, end], [before, after]) = (&ends[..], &arguments[..]) else { return None };
            let again = before.iter().enumerate();
            let again = again.map(|(k, value)| Carried { from: vec![(op, k), (*end, k)], to: vec![*value] });
            let on = results.iter().zip(after).enumerate();
            let on =
                on.map(|(k, (result, value))| Carried { from: vec![(*condition, 1 + k)], to: vec![*value, *result] });
            again.chain(on).collect()
        }
        _ if arguments.iter().flatten().chain(&results).any(|v| wanted(*v)) => return None,
        _ => Vec::new(),
    };
    Some(all.into_iter().filter(|carried| carried.to.iter().any(|v| wanted(*v))).collect())
}

/// Whether an operation may let the address of a buffer escape into a value that is no buffer.
pub fn leaks_address(op: Op) -> bool {
    let dialect = ir::name(op).split('.').next().unwrap_or_default();
    let known =
        ["affine", "arith", "bufferization", "func", "layout", "linalg", "math", "memref", "mpi", "scf", "vector"];
    let is_cast = ir::name(op) == UNREALIZED_CAST && ir::results(op).into_iter().all(is_buffer);
    !known.contains(&dialect) && !is_cast
        || ir::name(op) == "memref.extract_aligned_pointer_as_index" && !is_of_alignment(op)
}

/// Whether an address is used only for its alignment: the lowest bits, which do not identify the buffer.
fn is_of_alignment(op: Op) -> bool {
    let constant = |v: Val| ir::attribute(ir::defining_op(v)?, "value").and_then(ir::integer);
    let mut addresses = vec![ir::result(op, 0)];
    for _ in 0..TESTS {
        let Some(address) = addresses.pop() else { return true };
        for (user, _) in ir::uses(address) {
            let masks = || ir::operands(user).into_iter().filter_map(constant);
            match ir::name(user) {
                "arith.ori" => addresses.push(ir::result(user, 0)),
                "arith.andi" if masks().any(|mask| (0..PAGE).contains(&mask)) => {}
                _ => return false,
            }
        }
    }
    false
}

/// The limit of values followed to find the uses of an address: a kernel's test of its alignment has one address and
/// one stride for each dimension of a buffer.
const TESTS: usize = 64;

/// The bytes of the smallest page. No allocator aligns beyond the larger of the requested alignment and this.
const PAGE: i64 = 4096;
