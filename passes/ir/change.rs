//! Changing operations in place.

use crate::read::{Op, Val, blocks, operations};
use melior::ir::operation::{OperationMutLike, OperationRefMut};
use melior::ir::{Operation, Type, ValueLike};
use mlir_sys as sys;

/// Gives a value another type.
pub fn set_type<'c>(v: Val<'c>, r#type: Type<'c>) {
    v.set_type(r#type);
}

/// Lets all users of `v` use `with`.
pub fn replace_all_uses<'c>(v: Val<'c>, with: Val<'c>) {
    unsafe { sys::mlirValueReplaceAllUsesOfWith(v.to_raw(), with.to_raw()) }
}

/// Removes an operation that has no uses left.
pub fn erase(op: Op) {
    unsafe { sys::mlirOperationDestroy(op.to_raw()) }
}

/// The same operation, for methods that change it.
pub fn edit<'c>(op: Op<'c>) -> OperationRefMut<'c, 'c> {
    unsafe { OperationRefMut::from_raw(op.to_raw()) }
}

/// A copy of an operation, in no block yet.
pub fn clone<'c>(op: Op<'c>) -> Operation<'c> {
    unsafe { Operation::from_raw(sys::mlirOperationClone(op.to_raw())) }
}

/// Takes an operation out of its block and puts it in front of another.
pub fn move_before<'c>(op: Op<'c>, other: Op<'c>) {
    unsafe { sys::mlirOperationMoveBefore(op.to_raw(), other.to_raw()) }
}

/// Makes `to` hold what `from` holds, and takes over its attributes; both are modules.
pub fn replace_contents<'c>(to: Op<'c>, from: Op<'c>) {
    let (old, new) = (blocks(to)[0], blocks(from)[0]);
    for op in operations(old) {
        erase(op);
    }
    for op in operations(new) {
        unsafe {
            sys::mlirOperationRemoveFromParent(op.to_raw());
            sys::mlirBlockAppendOwnedOperation(old.to_raw(), op.to_raw());
        }
    }
}

/// Replaces all operands of an operation.
pub fn set_operands<'c>(op: Op<'c>, values: &[Val<'c>]) {
    edit(op).set_operands(values);
}
