//! `layout-call-mpi`: lowers operations of `mpi` that upstream does not convert to calls of Open MPI.
//!
//! | operation | call |
//! |---|---|
//! | `mpi.isend`, `mpi.irecv` | `MPI_Isend`, `MPI_Irecv`, of the buffer's bytes |
//! | `mpi.wait` | `MPI_Wait` |
//! | `mpi.comm_size` | `MPI_Comm_size` |
//! | `processes` on `mpi.init` and `mpi.comm_rank` | `MPI_Comm_size`; where it is another number, an error and `MPI_Abort` |
//!
//! A communicator and a request are pointers of Open MPI, here integers of 64 bits, as in upstream's conversion.

use crate::analysis::functions::symbol;
use crate::buffers::descriptors::pointer_type;
use crate::distribute::PROCESSES;
use crate::pass::diagnostic::Diagnostic;
use crate::pass::stages::{Next, StageInput, StageResult};
use layout_ir::{self as ir, Builder, Op, Val};
use melior::ir::attribute::{DenseI32ArrayAttribute, FlatSymbolRefAttribute, IntegerAttribute, TypeAttribute};
use melior::ir::operation::OperationMutLike;
use melior::ir::r#type::IntegerType;
use melior::ir::{Type, ValueLike};
use std::collections::HashSet;

/// The function that ends a program started with another number of processes.
const CHECK: &str = "layout_check_processes";

/// The called functions, each with its declaration.
const LIBRARY: [(&str, &str); 7] = [
    ("MPI_Isend", "llvm.func @MPI_Isend(!llvm.ptr, i32, !llvm.ptr, i32, i32, !llvm.ptr, !llvm.ptr) -> i32"),
    ("MPI_Irecv", "llvm.func @MPI_Irecv(!llvm.ptr, i32, !llvm.ptr, i32, i32, !llvm.ptr, !llvm.ptr) -> i32"),
    ("MPI_Wait", "llvm.func @MPI_Wait(!llvm.ptr, !llvm.ptr) -> i32"),
    ("MPI_Comm_size", "llvm.func @MPI_Comm_size(!llvm.ptr, !llvm.ptr) -> i32"),
    (
        "ompi_mpi_byte",
        "llvm.mlir.global external @ompi_mpi_byte() : !llvm.struct<\"ompi_predefined_datatype_t\", opaque>",
    ),
    (
        "ompi_mpi_long_long_int",
        "llvm.mlir.global external @ompi_mpi_long_long_int() : !llvm.struct<\"ompi_predefined_datatype_t\", opaque>",
    ),
    (
        "ompi_mpi_comm_world",
        "llvm.mlir.global external @ompi_mpi_comm_world() : !llvm.struct<\"ompi_communicator_t\", opaque>",
    ),
];

/// Further functions that the check calls.
const LIBRARY_OF_CHECK: [(&str, &str); 2] = [
    ("MPI_Abort", "llvm.func @MPI_Abort(!llvm.ptr, i32) -> i32"),
    ("dprintf", "llvm.func @dprintf(i32, !llvm.ptr, ...) -> i32"),
];

/// Operations that become calls.
const CALLS: [&str; 4] = ["mpi.isend", "mpi.irecv", "mpi.wait", "mpi.comm_size"];

/// The words of `dlti.map` that select Open MPI; upstream's default is another MPI.
const OPEN_MPI: &str = "\"OpenMPI\"";

/// Converts a module; returns [`Next::Unchanged`] if there is nothing to convert.
///
/// # Errors
/// Another MPI than Open MPI, buffers of dynamic size or not contiguous, messages that are too long, and
/// symbols of the module with the name of a called function.
pub(crate) fn run<'c>(stage: StageInput<'c>) -> StageResult<'c> {
    let rewriter = stage.rewriter;
    let module = rewriter.root();
    let all = ir::all_operations(module);
    let checked: Vec<Op<'c>> = all.iter().copied().filter(|op| expected(*op).is_some()).collect();
    let calls: Vec<Op<'c>> = all.iter().copied().filter(|op| CALLS.contains(&ir::name(*op))).collect();
    if checked.is_empty() && calls.is_empty() {
        return Ok(Next::Unchanged);
    }
    let body: Vec<Op<'c>> = ir::blocks(module).into_iter().flat_map(ir::operations).collect();
    let wanted = LIBRARY.iter().chain(LIBRARY_OF_CHECK.iter().filter(|_| !checked.is_empty()));
    let (mut added, in_the_way) = declarations(module, &body, wanted);
    let errors: Vec<_> = other_library(module)
        .into_iter()
        .chain(in_the_way)
        .chain(calls.iter().filter_map(|op| no_message(*op)))
        .collect();
    if !errors.is_empty() {
        return Err(errors);
    }
    if !checked.is_empty() {
        added += CHECK_TEXT;
    }
    ir::parse_before(&added, body[0]);
    for op in checked {
        check(op);
    }
    for op in calls {
        match ir::name(op) {
            "mpi.wait" => wait(op),
            "mpi.comm_size" => size(op),
            _ => begin(op),
        }
        rewriter.erase(op);
    }
    Ok(Next::Changed)
}

/// The error that a module is for another MPI.
fn other_library<'c>(module: Op<'c>) -> Option<Diagnostic<'c>> {
    let which = ir::attribute(module, "dlti.map").map(|map| map.to_string()).unwrap_or_default();
    let message = "expected a module for Open MPI: dlti.map = #dlti.map<\"MPI:Implementation\" = \"OpenMPI\">";
    (!which.contains(OPEN_MPI)).then(|| Diagnostic::error(ir::location(module), message))
}

/// The declarations of the called functions that a module with this body lacks, and an error for each symbol in their
/// way.
fn declarations<'c>(
    module: Op<'c>,
    body: &[Op<'c>],
    wanted: impl Iterator<Item = &'static (&'static str, &'static str)>,
) -> (String, Vec<Diagnostic<'c>>) {
    let (mut added, mut errors) = (String::new(), Vec::new());
    let there: HashSet<&str> = body.iter().filter_map(|op| symbol(*op)).collect();
    let own = |op: &&Op<'c>| !ir::name(**op).starts_with("llvm.");
    let own: HashSet<&str> = body.iter().filter(own).filter_map(|op| symbol(*op)).collect();
    for (name, declaration) in wanted {
        if own.contains(name) {
            let message = format!("`{name}` is that of a library that is called; give this another name");
            let at = body.iter().find(|op| symbol(**op) == Some(name)).map_or(module, |op| *op);
            errors.push(Diagnostic::error(ir::location(at), message));
        }
        if !there.contains(name) {
            added += &format!("{declaration}\n");
        }
    }
    if there.contains(CHECK) {
        errors.push(Diagnostic::error(ir::location(module), format!("`{CHECK}` is made; give this another name")));
    }
    (added, errors)
}

/// The error that the buffer of an operation is no message.
fn no_message<'c>(op: Op<'c>) -> Option<Diagnostic<'c>> {
    let buffer = ir::operands(op).first().copied().filter(|v| ir::is_buffer(v.r#type()))?;
    let reason = message_of(buffer).err()?;
    let message = format!("'{}' op cannot be converted: {reason}", ir::name(op));
    Some(Diagnostic::error(ir::location(op), message))
}

/// The number of processes in an operation's attribute.
fn expected(op: Op) -> Option<i64> {
    let says = matches!(ir::name(op), "mpi.init" | "mpi.comm_rank");
    says.then(|| ir::attribute(op, PROCESSES)).flatten().and_then(ir::integer)
}

/// The message for a buffer: count, MPI type, and the bytes of an element.
fn message_of(buffer: Val) -> Result<(i64, &'static str, i64), String> {
    let t = ir::memref(buffer.r#type()).ok_or("expected a memref of known rank")?;
    let sizes = t.sizes().ok_or("expected a memref of static sizes")?;
    let mut inner = 1;
    if let Some(strides) =
        t.layout.map(|layout| ir::strides_of(layout).ok_or("expected a memref with strides")).transpose()?
    {
        for (size, stride) in sizes.iter().zip(strides).rev() {
            if *size != 1 && stride != Some(inner) {
                return Err(format!("expected a contiguous buffer, found {}", buffer.r#type()));
            }
            inner = inner.saturating_mul(*size);
        }
    }
    let each = bytes(t.element).ok_or_else(|| format!("the bytes of {} are not known", t.element))?;
    let all = sizes.iter().try_fold(each, |n, size| n.checked_mul(*size));
    let all = all.ok_or("it has too many elements")?;
    let (count, unit) = match all <= i64::from(i32::MAX) || all % 8 != 0 {
        true => (all, "ompi_mpi_byte"),
        false => (all / 8, "ompi_mpi_long_long_int"),
    };
    if count > i64::from(i32::MAX) {
        return Err(format!("a message has at most {} parts of at most 8 bytes, found {all} bytes", i32::MAX));
    }
    Ok((count, unit, each))
}

/// The bytes from an element of a memref to the next in LLVM; `None` for integers longer than any machine's.
fn bytes(t: Type) -> Option<i64> {
    let bytes = ir::element_bytes(t)?.next_power_of_two();
    i64::try_from(bytes).ok().filter(|bytes| *bytes <= 32)
}

fn int<'c>(b: Builder<'c>, bits: u32) -> Type<'c> {
    IntegerType::new(b.context(), bits).into()
}

fn constant<'c>(b: Builder<'c>, bits: u32, n: i64) -> Val<'c> {
    let t = int(b, bits);
    b.value("llvm.mlir.constant", &[], t, &[b.named("value", IntegerAttribute::new(t, n))])
}

/// A value of another dialect cast to its type in LLVM's.
fn cast<'c>(b: Builder<'c>, v: Val<'c>, to: Type<'c>) -> Val<'c> {
    b.value("builtin.unrealized_conversion_cast", &[v], to, &[])
}

fn address<'c>(b: Builder<'c>, name: &str) -> Val<'c> {
    let name = b.named("global_name", FlatSymbolRefAttribute::new(b.context(), name));
    b.value("llvm.mlir.addressof", &[], pointer_type(b), &[name])
}

fn to_pointer<'c>(b: Builder<'c>, v: Val<'c>) -> Val<'c> {
    b.value("llvm.inttoptr", &[v], pointer_type(b), &[])
}

/// A stack slot for one value in the frame of the function around an operation.
fn slot<'c>(b: Builder<'c>, op: Op<'c>, bits: u32) -> Val<'c> {
    let function = std::iter::successors(Some(op), |op| ir::parent(*op)).find(|op| ir::name(*op) == "func.func");
    let entry = function.and_then(|function| ir::operations(ir::blocks(function)[0]).first().copied());
    let b = Builder::before(entry.unwrap_or(op)).located(b.before);
    let t = b.named("elem_type", TypeAttribute::new(int(b, bits)));
    b.value("llvm.alloca", &[constant(b, 64, 1)], pointer_type(b), &[t])
}

fn call<'c>(b: Builder<'c>, name: &str, operands: &[Val<'c>], results: &[Type<'c>]) {
    let callee = b.named("callee", FlatSymbolRefAttribute::new(b.context(), name));
    let segments = b.segments(&[operands.len() as i32, 0]);
    let bundles = b.named("op_bundle_sizes", DenseI32ArrayAttribute::new(b.context(), &[]));
    b.op("llvm.call", operands, results, &[callee, segments, bundles]);
}

/// Lowers `mpi.isend` and `mpi.irecv`.
fn begin(op: Op) {
    let b = Builder::before(op);
    let [buffer, tag, rank, comm] = ir::operands(op)[..] else { return };
    let Ok((count, unit, each)) = message_of(buffer) else { return };
    let name = if ir::name(op) == "mpi.isend" { "MPI_Isend" } else { "MPI_Irecv" };
    let data = start_of(b, buffer, each);
    let request = slot(b, op, 64);
    let comm = to_pointer(b, cast(b, comm, int(b, 64)));
    let operands = [data, constant(b, 32, count), address(b, unit), rank, tag, comm, request];
    call(b, name, &operands, &[int(b, 32)]);
    let begun = b.value("llvm.load", &[request], int(b, 64), &[]);
    replace(b, op, begun);
}

/// The address of a memref's first element.
fn start_of<'c>(b: Builder<'c>, buffer: Val<'c>, each: i64) -> Val<'c> {
    let index = Type::index(b.context());
    let base = b.value("memref.extract_aligned_pointer_as_index", &[buffer], index, &[]);
    let t = ir::memref(buffer.r#type()).expect("a memref");
    let start = match ir::offset_of(&t) {
        Some(0) => base,
        None if t.layout.is_none() => base,
        _ => {
            let offset = b.value("arith.muli", &[b.metadata(buffer)[1], b.index(each)], index, &[]);
            b.value("arith.addi", &[base, offset], index, &[])
        }
    };
    to_pointer(b, b.value("arith.index_cast", &[start], int(b, 64), &[]))
}

/// Replaces the last result by a value. The first of two results, an error code, becomes success: a failing call
/// ends the program.
fn replace<'c>(b: Builder<'c>, op: Op<'c>, made: Val<'c>) {
    let results = ir::results(op);
    let last = results.len() - 1;
    ir::replace_all_uses(results[last], cast(b, made, results[last].r#type()));
    succeed(b, op, last);
}

fn succeed<'c>(b: Builder<'c>, op: Op<'c>, results: usize) {
    for failed in ir::results(op).into_iter().take(results).filter(|v| ir::is_used(*v)) {
        ir::replace_all_uses(failed, cast(b, constant(b, 32, 0), failed.r#type()));
    }
}

fn wait(op: Op) {
    let b = Builder::before(op);
    let place = slot(b, op, 64);
    b.op("llvm.store", &[cast(b, ir::operands(op)[0], int(b, 64)), place], &[], &[]);
    let ignored = b.value("llvm.mlir.zero", &[], pointer_type(b), &[]);
    call(b, "MPI_Wait", &[place, ignored], &[int(b, 32)]);
    succeed(b, op, ir::results(op).len());
}

fn size(op: Op) {
    let b = Builder::before(op);
    let place = slot(b, op, 32);
    let comm = to_pointer(b, cast(b, ir::operands(op)[0], int(b, 64)));
    call(b, "MPI_Comm_size", &[comm, place], &[int(b, 32)]);
    let found = b.value("llvm.load", &[place], int(b, 32), &[]);
    replace(b, op, found);
}

/// Calls the check after an operation with an expected number of processes.
fn check(op: Op) {
    let (Some(count), Some(after)) = (expected(op), ir::next(op)) else { return };
    let b = Builder::before(after).located(op);
    call(b, CHECK, &[constant(b, 32, count)], &[]);
    let _ = ir::edit(op).remove_attribute(PROCESSES);
}

/// The definition of [`CHECK`].
const CHECK_TEXT: &str = r#"
llvm.mlir.global private constant @layout_check_processes_text("error: this program is for %d processes, and was started as %d: use mpirun -n %d\0A\00") {addr_space = 0 : i32}
llvm.func internal @layout_check_processes(%expected: i32) {
  %one = llvm.mlir.constant(1 : i32) : i32
  %two = llvm.mlir.constant(2 : i32) : i32
  %slot = llvm.alloca %one x i32 : (i32) -> !llvm.ptr
  %world = llvm.mlir.addressof @ompi_mpi_comm_world : !llvm.ptr
  %0 = llvm.call @MPI_Comm_size(%world, %slot) : (!llvm.ptr, !llvm.ptr) -> i32
  %found = llvm.load %slot : !llvm.ptr -> i32
  %same = llvm.icmp "eq" %found, %expected : i32
  llvm.cond_br %same, ^done, ^wrong
^wrong:
  %text = llvm.mlir.addressof @layout_check_processes_text : !llvm.ptr
  %1 = llvm.call @dprintf(%two, %text, %expected, %found, %expected) vararg(!llvm.func<i32 (i32, ptr, ...)>) : (i32, !llvm.ptr, i32, i32, i32) -> i32
  %2 = llvm.call @MPI_Abort(%world, %one) : (!llvm.ptr, i32) -> i32
  llvm.br ^done
^done:
  llvm.return
}
"#;
