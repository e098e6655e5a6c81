//! Live ranges of the buffers that messages are sent from or received in.
//!
//! ```mlir
//! %0 = mpi.isend(%x, %tag, %rank, %comm) : .. -> !mpi.request
//! %1 = builtin.unrealized_conversion_cast %0 : !mpi.request to i64
//! memref.store %1, %list[%i] : memref<2xi64>
//! ..                                                    %x is in use
//! %2 = memref.load %list[%j] : memref<2xi64>
//! ```

use crate::analysis::ownership::order::Numbered;
use layout_ir::{self as ir, Op};

/// The numbers of the operations that wait for a message's request or read the list that holds it; the end of the
/// function if the request is used otherwise.
pub fn ends<'c>(order: &Numbered<'c>, message: Op<'c>) -> Vec<usize> {
    let Some(request) = ir::results(message).pop() else { return vec![usize::MAX] };
    let (mut values, mut found) = (vec![request], Vec::new());
    while let Some(value) = values.pop() {
        for (user, operand) in ir::uses(value) {
            match ir::name(user) {
                "mpi.wait" => found.push(order.number(user)),
                "builtin.unrealized_conversion_cast" => values.push(ir::result(user, 0)),
                "memref.store" if operand == 0 => {
                    let list = ir::uses(ir::operands(user)[1]).into_iter().map(|(user, _)| user);
                    found.extend(list.filter(|user| ir::name(*user) != "memref.store").map(|user| order.number(user)));
                }
                _ => found.push(usize::MAX),
            }
        }
    }
    if found.is_empty() { vec![usize::MAX] } else { found }
}
