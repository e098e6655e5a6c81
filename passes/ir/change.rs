//! Changing operations in place, and erasing them.
//!
//! References to operations are copied freely, so it is unknown whether one of them still refers to an operation when
//! that is destroyed. A [`Rewriter`] therefore destroys nothing while references can exist: an erased operation leaves
//! its block and its operands at once and is destroyed with the rewriter, from which all references are borrowed. Until
//! then no operation made later has its address, so an address identifies an operation in a table (see
//! [`crate::op_key`]).

use crate::read::{
    Op, Val, all_operations, arguments, blocks, is_used, location, location_context, name, operations, parent, results,
};
use layout_dialect::borrowed;
use melior::ir::operation::{OperationBuilder, OperationLike, OperationMutLike, OperationRefMut};
use melior::ir::{Block, BlockLike, BlockRef, Location, Module, Operation, OperationRef, Type, TypeLike, ValueLike};
use mlir_sys as sys;
use std::cell::RefCell;
use std::mem::ManuallyDrop;

/// Operations in no block, which are destroyed with it.
#[derive(Default)]
pub struct Detached(RefCell<Vec<sys::MlirOperation>>);

impl Detached {
    /// Keeps an operation.
    pub fn keep<'s>(&'s self, op: Operation<'_>) -> Op<'s> {
        let raw = op.into_raw();
        self.0.borrow_mut().push(raw);
        // SAFETY: the operation is alive; it is destroyed with the list, from which the reference is borrowed.
        unsafe { OperationRef::from_raw(raw) }
    }
}

impl Drop for Detached {
    fn drop(&mut self) {
        for op in self.0.take() {
            // SAFETY: the list owns the operation; references to it were borrowed from the list.
            unsafe { sys::mlirOperationDestroy(op) }
        }
    }
}

/// The operation that a pass works on, and the operations that the pass has erased below it.
pub struct Rewriter {
    root: sys::MlirOperation,
    copies: Detached,
    erased: RefCell<Vec<sys::MlirOperation>>,
}

impl Rewriter {
    /// Starts work on an operation and everything below it.
    ///
    /// # Safety
    /// The operation is alive until the rewriter is dropped, and nothing else reads or changes it or operations below
    /// it meanwhile. A reference to an operation below it that was made in another way is not used once the rewriter
    /// has erased that operation and is dropped.
    pub unsafe fn new(root: sys::MlirOperation) -> Rewriter {
        Rewriter { root, copies: Detached::default(), erased: RefCell::default() }
    }

    /// The operation that the pass works on.
    pub fn root(&self) -> Op<'_> {
        // SAFETY: it is alive for as long as the rewriter.
        unsafe { OperationRef::from_raw(self.root) }
    }

    /// A copy of an operation, in no block; it lives as long as the rewriter.
    pub fn copy<'s>(&'s self, op: Op<'s>) -> Op<'s> {
        self.copies.keep((*op).clone())
    }

    /// The module with a text, in no block; it lives as long as the rewriter. `None` if the text is not that of a module,
    /// which MLIR has reported.
    pub fn parse(&self, text: &str) -> Option<Op<'_>> {
        let context = location_context(location(self.root()));
        let module = Module::parse(borrowed(&context), text)?;
        // SAFETY: the module is alive; it is destroyed with the rewriter only.
        unsafe {
            let raw = sys::mlirModuleGetOperation(ManuallyDrop::new(module).to_raw());
            Some(self.copies.keep(Operation::from_raw(raw)))
        }
    }

    /// Removes an operation. A reference to it still gives its name, attributes and results, and has no operands.
    ///
    /// # Panics
    /// Where a result of it is used, and where it is in no block, as when it was erased before.
    pub fn erase(&self, op: Op<'_>) {
        assert!(!results(op).into_iter().any(is_used), "`{}` cannot be erased: a result of it is used", name(op));
        self.detach(op);
    }

    /// Replaces the operations of the module `to` by those of the module `from`, which is empty then.
    ///
    /// # Panics
    /// Where one of them is no module, or `to` is inside `from`.
    pub fn replace_contents(&self, to: Op<'_>, from: Op<'_>) {
        let body = |op| match blocks(op)[..] {
            [body] if name(op) == "builtin.module" => body,
            _ => panic!("expected a module, found `{}`", name(op)),
        };
        let (body, new) = (body(to), operations(body(from)));
        assert!(new.iter().all(|op| !is_inside(to, *op)), "a module cannot be put into itself");
        operations(body).into_iter().for_each(|op| self.detach(op));
        for op in new {
            // SAFETY: the operation is alive and in no block when the body, which is alive, takes it over.
            unsafe {
                sys::mlirOperationRemoveFromParent(op.to_raw());
                sys::mlirBlockAppendOwnedOperation(body.to_raw(), op.to_raw());
            }
        }
    }

    /// Takes an operation out of its block, and from it and all below it their operands.
    fn detach(&self, op: Op<'_>) {
        assert!(op.block().is_some(), "`{}` cannot be erased: it is in no block", name(op));
        for inside in all_operations(op) {
            // SAFETY: the operation is alive, and MLIR reads none of no operands.
            unsafe { sys::mlirOperationSetOperands(inside.to_raw(), 0, std::ptr::null()) }
        }
        // SAFETY: the operation is alive and in a block, whose ownership goes over to the list.
        unsafe { sys::mlirOperationRemoveFromParent(op.to_raw()) }
        self.erased.borrow_mut().push(op.to_raw());
    }
}

impl Drop for Rewriter {
    fn drop(&mut self) {
        drop(std::mem::take(&mut self.copies));
        for erased in self.erased.take() {
            // SAFETY: the operation is alive, in no block, and owned by the rewriter.
            let op: Op<'_> = unsafe { OperationRef::from_raw(erased) };
            let values = |op| results(op).into_iter().chain(blocks(op).into_iter().flat_map(arguments));
            // A value that was put to use again after its operation was erased would dangle; so the operation stays.
            if !all_operations(op).into_iter().flat_map(values).any(is_used) {
                // SAFETY: nothing uses it, and references to it were borrowed from the rewriter.
                unsafe { sys::mlirOperationDestroy(erased) }
            }
        }
    }
}

/// Gives a value another type.
pub fn set_type<'c>(v: Val<'c>, r#type: Type<'c>) {
    v.set_type(r#type);
}

/// Lets all users of `v` use `with`.
pub fn replace_all_uses<'c>(v: Val<'c>, with: Val<'c>) {
    // SAFETY: both values are alive.
    unsafe { sys::mlirValueReplaceAllUsesOfWith(v.to_raw(), with.to_raw()) }
}

/// The same operation, for methods that change it.
pub fn edit<'c>(op: Op<'c>) -> OperationRefMut<'c, 'c> {
    // SAFETY: the operation is alive. MLIR changes operations through any handle, and there is no reference of Rust's
    // into one.
    unsafe { OperationRefMut::from_raw(op.to_raw()) }
}

/// Takes an operation out of its block and puts it before another.
///
/// # Panics
/// Where one of them is in no block, or the second is inside the first.
pub fn move_before<'c>(op: Op<'c>, other: Op<'c>) {
    assert!(op.block().is_some() && other.block().is_some(), "an operation in no block cannot be moved");
    assert!(!is_inside(other, op), "an operation cannot be moved into itself");
    // SAFETY: both operations are alive and in blocks, and the move makes no cycle.
    unsafe { sys::mlirOperationMoveBefore(op.to_raw(), other.to_raw()) }
}

/// Ends an operation's block after it by a branch to a new block, which takes the rest, and gets the results as arguments.
///
/// # Panics
/// Where the operation is in no block.
pub fn end_block_after<'c>(op: Op<'c>) {
    let block = op.block().expect("an operation in a block");
    let rest: Vec<Op<'c>> = std::iter::successors(op.next_in_block(), |op| op.next_in_block())
        // SAFETY: operations live as long as their block.
        .map(|op| unsafe { OperationRef::from_raw(op.to_raw()) })
        .collect();
    let results = results(op);
    let location = location(op);
    let types: Vec<(Type, _)> = results.iter().map(|v| (v.r#type(), location)).collect();
    let new = Block::new(&types);
    // SAFETY: the block and the operations are alive; the region takes over the new block, which takes over the rest.
    let next = unsafe {
        let next = new.into_raw();
        sys::mlirRegionInsertOwnedBlockAfter(sys::mlirBlockGetParentRegion(block.to_raw()), block.to_raw(), next);
        for op in rest {
            sys::mlirOperationRemoveFromParent(op.to_raw());
            sys::mlirBlockAppendOwnedOperation(next, op.to_raw());
        }
        BlockRef::from_raw(next)
    };
    for (result, argument) in results.iter().zip(arguments(next)) {
        replace_all_uses(*result, argument);
    }
    let branch = OperationBuilder::new("cf.br", location).add_operands(&results).add_successors(&[&next]).build();
    block.append_operation(branch.expect("a branch can be built"));
}

/// Gives an operation and all below it another location.
pub fn set_location<'c>(op: Op<'c>, location: Location<'c>) {
    for op in all_operations(op) {
        // SAFETY: the operation and the location are alive.
        unsafe { sys::mlirOperationSetLocation(op.to_raw(), location.to_raw()) }
    }
}

/// Whether an operation is `around` or inside it.
fn is_inside<'c>(op: Op<'c>, around: Op<'c>) -> bool {
    std::iter::successors(Some(op), |op| parent(*op)).any(|op| op == around)
}

/// A copy of an operation, before another.
///
/// # Panics
/// Where the other is in no block.
pub fn copy_before<'c>(op: Op<'c>, other: Op<'c>) -> Op<'c> {
    let block = other.block().expect("an operation is copied into a block").to_raw();
    // SAFETY: both operations are alive, and the block, which the other one is in, takes over the copy.
    unsafe {
        let copy = sys::mlirOperationClone(op.to_raw());
        sys::mlirBlockInsertOwnedOperationBefore(block, other.to_raw(), copy);
        OperationRef::from_raw(copy)
    }
}

/// Gives a block one more argument, the last.
pub fn add_argument<'c>(block: BlockRef<'c, 'c>, r#type: Type<'c>, location: Location<'c>) -> Val<'c> {
    // SAFETY: the block is alive; its argument lives as long.
    unsafe { Val::from_raw(sys::mlirBlockAddArgument(block.to_raw(), r#type.to_raw(), location.to_raw())) }
}

/// Takes the first arguments of a block away.
///
/// # Panics
/// Where one of them is used, or there are fewer.
pub fn erase_arguments(block: BlockRef<'_, '_>, count: usize) {
    assert!(!arguments(block)[..count].iter().any(|v| is_used(*v)), "an argument that is used cannot be erased");
    // From the last on, so that fewer have to move.
    for number in (0..count).rev() {
        // SAFETY: the block is alive and has so many arguments, of which nothing uses this one.
        unsafe { sys::mlirBlockEraseArgument(block.to_raw(), number as u32) }
    }
}

/// Replaces all operands of an operation.
pub fn set_operands<'c>(op: Op<'c>, values: &[Val<'c>]) {
    edit(op).set_operands(values);
}

/// Puts the operations of a module's text before another.
///
/// # Panics
/// Where the text is not that of a module, and where the other operation is in no block.
pub fn parse_before<'c>(text: &str, other: Op<'c>) {
    let module = Module::parse(borrowed(&location_context(location(other))), text).expect("the text of a module");
    // SAFETY: the module is alive until all of its operations are moved.
    let root: Op<'c> = unsafe { OperationRef::from_raw(module.as_operation().to_raw()) };
    blocks(root).into_iter().flat_map(operations).for_each(|op| move_before(op, other));
}
