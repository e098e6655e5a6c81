//! A function's process, and the start and end of MPI.
//!
//! ```mlir
//! func.func @main() {
//!   mpi.init {processes = 4 : i64}
//!   %world = mpi.comm_world : !mpi.comm
//!   %rank = mpi.comm_rank(%world) {processes = 4 : i64} : i32
//!   ..
//!   mpi.finalize
//!   return
//! }
//! ```
//!
//! `layout-call-mpi` reads `processes`, and makes the program fail if the number of processes differs.

use crate::analysis::functions::{ends, symbol};
use crate::distribute::{IMPLEMENTATION, PROCESSES};
use layout_ir::{self as ir, Builder, Op, Val};
use melior::ir::attribute::IntegerAttribute;
use melior::ir::operation::OperationMutLike;
use melior::ir::r#type::IntegerType;
use melior::ir::{Attribute, Identifier, Type};
use std::cell::Cell;

/// The function that starts and ends MPI.
const MAIN: &str = "main";

/// A function's process.
pub struct Process<'c> {
    function: Op<'c>,
    /// Its rank, of type index.
    pub rank: Val<'c>,
    /// All processes, of type `!mpi.comm`.
    pub world: Val<'c>,
    /// The last operation of the latest started exchange: later ones start after it.
    pub begun: Cell<Option<Op<'c>>>,
}

impl<'c> Process<'c> {
    /// The process of a function with a body; inserts the operations that query it.
    pub fn of(function: Op<'c>, processes: i64) -> Process<'c> {
        let operations = ir::operations(ir::blocks(function)[0]);
        let begun = operations.iter().find(|op| ir::name(**op) == "mpi.init").and_then(|op| ir::next(*op));
        let b = Builder::before(begun.unwrap_or(operations[0])).located(function);
        let comm = Type::parse(b.context(), "!mpi.comm").expect("a type of the dialect");
        let int32 = IntegerType::new(b.context(), 32).into();
        let world = b.value("mpi.comm_world", &[], comm, &[]);
        let rank = b.value("mpi.comm_rank", &[world], int32, &[count(b, processes)]);
        let rank = b.value("arith.index_cast", &[rank], Type::index(b.context()), &[]);
        Process { function, rank, world, begun: Cell::new(None) }
    }

    /// The insertion point at the start of the function.
    pub fn entry(&self) -> Builder<'c> {
        Builder::before(ir::operations(ir::blocks(self.function)[0])[0])
    }

    /// The latest of three operations: the given one, the first one after the process queries, and the one after the
    /// latest started exchange in this block.
    pub fn not_before(&self, op: Op<'c>) -> Op<'c> {
        let begun = self.begun.get().and_then(ir::next);
        let later =
            |op: Op<'c>, other: Option<Op<'c>>| other.filter(|other| ir::comes_before(op, *other)).unwrap_or(op);
        later(later(op, ir::after(self.rank)), begun)
    }
}

fn count<'c>(b: Builder<'c>, processes: i64) -> (Identifier<'c>, Attribute<'c>) {
    b.named(PROCESSES, IntegerAttribute::new(IntegerType::new(b.context(), 64).into(), processes))
}

/// Makes `main`, if the module has it, start MPI, and sets the implementation. Returns `main` if it has to end MPI.
pub fn begin<'c>(module: Op<'c>, processes: i64) -> Option<Op<'c>> {
    let context = Builder::before(module).context();
    if ir::attribute(module, IMPLEMENTATION.0).is_none() {
        let which = Attribute::parse(context, IMPLEMENTATION.1).expect("an attribute of the dialect");
        ir::edit(module).set_attribute(IMPLEMENTATION.0, which);
    }
    let functions = ir::blocks(module).into_iter().flat_map(ir::operations).filter(|op| ir::name(*op) == "func.func");
    let main = functions.into_iter().find(|op| symbol(*op) == Some(MAIN) && !ir::blocks(*op).is_empty())?;
    if ir::all_operations(main).into_iter().any(|op| ir::name(op) == "mpi.init") {
        return None;
    }
    let b = Builder::before(ir::operations(ir::blocks(main)[0])[0]).located(main);
    b.op("mpi.init", &[], &[], &[count(b, processes)]);
    Some(main)
}

/// Makes `main` end MPI, after all its waits.
pub fn end(main: Op) {
    for end in ends(main) {
        Builder::before(end).op("mpi.finalize", &[], &[], &[]);
    }
}
