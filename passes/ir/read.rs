//! Reads operations, values and blocks, and walks over them.

use melior::ContextRef;
use melior::ir::block::BlockLike;
use melior::ir::operation::OperationLike;
use melior::ir::{BlockRef, Location, OperationRef, RegionLike, Value, ValueLike};
use mlir_sys as sys;

/// An operation in the module that a pass works on.
pub type Op<'c> = OperationRef<'c, 'c>;
/// A value in the module that a pass works on.
pub type Val<'c> = Value<'c, 'c>;

/// The identity of a value, as a key.
pub fn key(v: Val) -> usize {
    v.to_raw().ptr as usize
}

/// The identity of an operation, as a key.
pub fn op_key(op: Op) -> usize {
    op.to_raw().ptr as usize
}

/// The location of an operation.
pub fn location<'c>(op: Op<'c>) -> Location<'c> {
    // SAFETY: the operation is alive, and its location lives with the context.
    unsafe { Location::from_raw(sys::mlirOperationGetLocation(op.to_raw())) }
}

/// The operation's name, such as `memref.load`.
pub fn name<'c>(op: Op<'c>) -> &'c str {
    let identifier = op.name();
    let text = identifier.as_string_ref().as_str().unwrap_or("?");
    // SAFETY: identifiers are kept in the context, so the text lives as long as it, not only as long as `identifier`.
    unsafe { std::mem::transmute::<&str, &'c str>(text) }
}

/// Whether the operation's dialect is loaded and has such an operation.
pub fn is_registered(op: Op) -> bool {
    let raw = op.to_raw();
    // SAFETY: the operation is alive, and its name lives as long as its context.
    unsafe {
        let name = sys::mlirIdentifierStr(sys::mlirOperationGetName(raw));
        sys::mlirContextIsRegisteredOperation(sys::mlirOperationGetContext(raw), name)
    }
}

/// The operation whose result a value is.
pub fn defining_op<'c>(v: Val<'c>) -> Option<Op<'c>> {
    if !v.is_operation_result() {
        return None;
    }
    // SAFETY: the value is alive and a result, so its operation is alive as well.
    Some(unsafe { OperationRef::from_raw(sys::mlirOpResultGetOwner(v.to_raw())) })
}

/// The number of a result; `None` for a block argument.
pub fn result_number(v: Val) -> Option<usize> {
    // SAFETY: the value is alive and a result.
    v.is_operation_result().then(|| unsafe { sys::mlirOpResultGetResultNumber(v.to_raw()) as usize })
}

/// The operation around the block whose argument a value is, and the argument's number.
pub fn block_argument<'c>(v: Val<'c>) -> Option<(Op<'c>, usize)> {
    if !v.is_block_argument() {
        return None;
    }
    // SAFETY: the value is alive and a block argument; the operation around its block is null for a block in no region,
    // and else alive.
    unsafe {
        let block = sys::mlirBlockArgumentGetOwner(v.to_raw());
        let parent = OperationRef::from_option_raw(sys::mlirBlockGetParentOperation(block))?;
        Some((parent, sys::mlirBlockArgumentGetArgNumber(v.to_raw()) as usize))
    }
}

/// The operation around an operation.
pub fn parent<'c>(op: Op<'c>) -> Option<Op<'c>> {
    // SAFETY: the operation is alive; the one around it is null for the outermost, and else alive.
    unsafe { OperationRef::from_option_raw(sys::mlirOperationGetParentOperation(op.to_raw())) }
}

/// A result of an operation.
pub fn result<'c>(op: Op<'c>, index: usize) -> Val<'c> {
    op.result(index).expect("an operation has the results that its definition says").into()
}

/// All operands.
pub fn operands<'c>(op: Op<'c>) -> Vec<Val<'c>> {
    op.operands().collect()
}

/// All results.
pub fn results<'c>(op: Op<'c>) -> Vec<Val<'c>> {
    op.results().map(Into::into).collect()
}

/// The blocks of an operation's regions, in order.
pub fn blocks<'c>(op: Op<'c>) -> Vec<BlockRef<'c, 'c>> {
    let mut all = Vec::new();
    for region in op.regions() {
        let mut next = region.first_block();
        while let Some(block) = next {
            // SAFETY: the block lives as long as its operation, for `'c`.
            all.push(unsafe { BlockRef::from_raw(block.to_raw()) });
            next = block.next_in_region();
        }
    }
    all
}

/// Whether a region of an operation has several blocks.
pub fn has_branches(op: Op) -> bool {
    op.regions().any(|region| region.first_block().is_some_and(|block| block.next_in_region().is_some()))
}

/// The operations of a block, in order.
pub fn operations<'c>(block: BlockRef<'c, 'c>) -> Vec<Op<'c>> {
    let mut all = Vec::new();
    let mut next = block.first_operation();
    while let Some(op) = next {
        next = op.next_in_block();
        // SAFETY: the operation lives as long as its block, for `'c`.
        all.push(unsafe { OperationRef::from_raw(op.to_raw()) });
    }
    all
}

/// The arguments of a block.
pub fn arguments<'c>(block: BlockRef<'c, 'c>) -> Vec<Val<'c>> {
    (0..block.argument_count()).map(|k| block.argument(k).expect("k is below the count").into()).collect()
}

/// An operation and all below it, each before the operations inside it. The stack is on the heap: nesting costs no
/// recursion.
pub fn all_operations<'c>(root: Op<'c>) -> Vec<Op<'c>> {
    let mut all = Vec::new();
    let mut stack = vec![root];
    while let Some(op) = stack.pop() {
        all.push(op);
        for block in blocks(op).into_iter().rev() {
            stack.extend(operations(block).into_iter().rev());
        }
    }
    all
}

/// The users of a value, each with the operand number.
pub fn uses<'c>(v: Val<'c>) -> Vec<(Op<'c>, usize)> {
    let mut all = Vec::new();
    // SAFETY: the value is alive; a use is null after the last one, and else belongs to an operation that is alive.
    unsafe {
        let mut next = sys::mlirValueGetFirstUse(v.to_raw());
        while !next.ptr.is_null() {
            let user = OperationRef::from_raw(sys::mlirOpOperandGetOwner(next));
            all.push((user, sys::mlirOpOperandGetOperandNumber(next) as usize));
            next = sys::mlirOpOperandGetNextUse(next);
        }
    }
    all
}

/// The operation after another in its block.
pub fn next<'c>(op: Op<'c>) -> Option<Op<'c>> {
    // SAFETY: the operation is alive; the next one is null after the last, and else alive.
    unsafe { OperationRef::from_option_raw(sys::mlirOperationGetNextInBlock(op.to_raw())) }
}

/// The first operation after a value's definition: the next one, or the first of the block whose argument it is.
pub fn after<'c>(v: Val<'c>) -> Option<Op<'c>> {
    if let Some(op) = defining_op(v) {
        return next(op);
    }
    // SAFETY: the value is alive and a block argument; the first operation of its block is null for none, and else alive.
    unsafe {
        let block = sys::mlirBlockArgumentGetOwner(v.to_raw());
        OperationRef::from_option_raw(sys::mlirBlockGetFirstOperation(block))
    }
}

/// The first operation of the block that an operation is in; itself where it is in none.
pub fn first_of_block<'c>(op: Op<'c>) -> Op<'c> {
    // SAFETY: the operation is alive; its block is null for none, and else has an operation, which is alive.
    let first = unsafe {
        let block = sys::mlirOperationGetBlock(op.to_raw());
        if block.ptr.is_null() {
            return op;
        }
        OperationRef::from_option_raw(sys::mlirBlockGetFirstOperation(block))
    };
    first.unwrap_or(op)
}

/// Whether one operation is before another in the same block.
pub fn comes_before<'c>(op: Op<'c>, other: Op<'c>) -> bool {
    op.block() == other.block() && op.is_before_in_block(other)
}

/// Whether anything uses a value.
pub fn is_used(v: Val) -> bool {
    // SAFETY: the value is alive.
    unsafe { !sys::mlirValueGetFirstUse(v.to_raw()).ptr.is_null() }
}

/// The context of a location.
pub fn location_context<'c>(location: Location<'c>) -> ContextRef<'c> {
    // SAFETY: the location is alive, and so is its context.
    unsafe { ContextRef::from_raw(sys::mlirLocationGetContext(location.to_raw())) }
}
