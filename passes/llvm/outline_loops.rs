//! `layout-outline-loops`: outlines the loop nests of a large function; equal nests share one function.
//!
//! ```text
//! func @layers(%x, %y) {            func private @loops_0(%p: !llvm.ptr, %q: !llvm.ptr) {
//!   for %i { y[i] = 2 * x[i] }        for %i { q[i] = 2 * p[i] }
//!   for %i { x[i] = 2 * y[i] }      }
//! }                                 func @layers(%x, %y) { call @loops_0(&x, &y); call @loops_0(&y, &x) }
//! ```
//!
//! A *nest* is a loop, or an operation of linalg on memrefs, without calls, allocations and deallocations inside. If a
//! loop is no nest, or holds too many loops, the pass looks at the loops inside. Values from outside are passed as
//! arguments, except constants and globals, which are cloned. Two nests are equal if all their operations are, with
//! values from outside numbered in the order of first use.
//!
//! A memref with static sizes, strides and offset is passed as a pointer, from which the function rebuilds the
//! descriptor: a call with `memref<2x8x128xf32>` then has one operand in LLVM IR, not nine. Other memrefs are passed
//! whole.

use crate::buffers::descriptors::{at_pointer, descriptor, number, pointer_type, position};
use crate::buffers::index::constant_value;
use crate::buffers::operations::{LOOP, is};
use crate::pass::options::OutlineLoopsOptions;
use crate::pass::stages::{Next, StageInput, StageResult};
use crate::pass::upstream;
use layout_ir::{self as ir, Builder, Op, Rewriter, Shaped, Val};
use melior::ir::attribute::{
    ArrayAttribute, AttributeLike, DenseI32ArrayAttribute, FlatSymbolRefAttribute, StringAttribute, TypeAttribute,
};
use melior::ir::r#type::IntegerType;
use melior::ir::{Attribute, Identifier, Type, TypeLike, ValueLike};
use std::collections::{HashMap, HashSet};

/// Operations that a nest must not contain.
const NOT_INSIDE: [&str; 6] =
    ["func.call", "func.call_indirect", "memref.alloc", "memref.dealloc", "memref.realloc", "func.return"];

/// Operations that are cloned into a nest's function instead of passed. LLVM then knows the values.
const COPIED: [&str; 2] = ["arith.constant", "memref.get_global"];

/// The least number of operations between two splits of a block. MLIR's dialect conversion renumbers all operations of
/// a block for each value that it replaces there: quadratic time in the block's length.
const MOST_IN_BLOCK: usize = 256;

/// Outlines the loop nests of a module with more loops than the option allows; returns [`Next::Unchanged`] for other
/// modules.
pub(crate) fn run<'c>(stage: StageInput<'c, OutlineLoopsOptions>) -> StageResult<'c> {
    let StageInput { rewriter, options, .. } = stage;
    let module = rewriter.root();
    let body: Vec<Op<'c>> = ir::blocks(module).into_iter().flat_map(ir::operations).collect();
    let mut outline = Outline {
        rewriter,
        // The rebuilt descriptors have 64-bit sizes.
        pointers: ir::attribute(module, "dlti.dl_spec").is_none(),
        symbols: body.iter().filter_map(|op| ir::text(ir::attribute(*op, "sym_name")?)).collect(),
        names: 0,
        functions: HashMap::new(),
        known: HashMap::new(),
        views: Vec::new(),
    };
    let functions: Vec<Op<'c>> = body.into_iter().filter(|op| ir::name(*op) == "func.func").collect();
    let loops = functions.iter().flat_map(|op| ir::all_operations(*op)).filter(|op| is_loop(*op)).count();
    if loops as u64 <= options.loops {
        return Ok(Next::Unchanged);
    }
    for function in functions {
        for nest in nests(function, options.loops) {
            outline.outline(function, nest);
        }
        cut(function);
    }
    outline.erase_views();
    Ok(Next::Changed)
}

/// The nests of a function, each of at most `most` loops.
fn nests<'c>(function: Op<'c>, most: u64) -> Vec<Op<'c>> {
    let operations = ir::all_operations(function);
    let number: HashMap<usize, usize> = operations.iter().enumerate().map(|(k, op)| (ir::op_key(*op), k)).collect();
    // For each operation with its regions: the numbers of loops and operations, and whether it may be in a nest.
    let mut loops: Vec<u64> = operations.iter().map(|op| is_loop(*op).into()).collect();
    let mut count = vec![1; operations.len()];
    let mut inside: Vec<bool> = operations.iter().map(|op| may_be_inside(ir::name(*op))).collect();
    for k in (1..operations.len()).rev() {
        let around = ir::parent(operations[k]).map(|parent| number[&ir::op_key(parent)]);
        let around = around.expect("an operation below the function is in another one");
        loops[around] += loops[k];
        count[around] += count[k];
        inside[around] &= inside[k];
    }
    let (mut found, mut k) = (Vec::new(), 1);
    while let Some(op) = operations.get(k).copied() {
        let plain = |v: Val<'c>| ir::memref(v.r#type()).is_none() && ir::tensor(v.r#type()).is_none();
        let is_nest = inside[k] && loops[k] <= most && is_loop(op) && ir::results(op).into_iter().all(plain);
        if is_nest {
            found.push(op);
        }
        k += if is_nest { count[k] } else { 1 };
    }
    found
}

/// Splits blocks after calls, about every [`MOST_IN_BLOCK`] operations: loops split them before.
fn cut(function: Op) {
    for block in ir::blocks(function) {
        let mut ends = Vec::new();
        for (k, op) in ir::operations(block).into_iter().enumerate() {
            if k - ends.last().map_or(0, |(last, _)| *last) >= MOST_IN_BLOCK && ir::name(op) == "func.call" {
                ends.push((k, op));
            }
        }
        // Each split moves all operations after it.
        ends.into_iter().rev().for_each(|(_, op)| ir::end_block_after(op));
    }
}

/// Whether an operation is a loop, or becomes one.
fn is_loop(op: Op) -> bool {
    let name = ir::name(op);
    is(name, LOOP) || (name.starts_with("linalg.") && !ir::blocks(op).is_empty())
}

fn may_be_inside(name: &str) -> bool {
    !NOT_INSIDE.contains(&name) && !name.starts_with("cf.") && !name.starts_with("bufferization.")
}

/// The functions outlined so far.
struct Outline<'c> {
    rewriter: &'c Rewriter,
    /// Whether memrefs may be passed as pointers.
    pointers: bool,
    /// The symbols of the module.
    symbols: HashSet<&'c str>,
    /// How many names have been tried.
    names: usize,
    /// Function names by the key of their nest.
    functions: HashMap<Vec<usize>, String>,
    /// The pointers to the buffers of memrefs.
    known: HashMap<usize, Val<'c>>,
    /// The views behind `known`, each after its source.
    views: Vec<Op<'c>>,
}

impl<'c> Outline<'c> {
    /// Replaces a nest by a call of its function.
    fn outline(&mut self, function: Op<'c>, nest: Op<'c>) {
        let NestKey { words, captured, copied, .. } = NestKey::of(function, nest);
        let b = Builder::before(nest);
        let (passed, operands): (Vec<Passed>, Vec<Val<'c>>) = captured.iter().map(|v| self.passed(*v)).unzip();
        let results: Vec<Type<'c>> = ir::results(nest).into_iter().map(|v| v.r#type()).collect();
        let known = self.functions.get(&words).cloned();
        let name = known.clone().unwrap_or_else(|| self.name());
        let callee = b.named("callee", FlatSymbolRefAttribute::new(b.context(), &name));
        let call = b.op("func.call", &operands, &results, &[callee]);
        for (result, given) in ir::results(nest).into_iter().zip(ir::results(call)) {
            ir::replace_all_uses(result, given);
        }
        if known.is_some() {
            self.rewriter.erase(nest);
            return;
        }
        let types: Vec<Type<'c>> = operands.iter().map(|v| v.r#type()).collect();
        let attributes = attributes(b, function, &name, ir::function_type(Type::index(b.context()), &types, &results));
        let (made, end) =
            Builder::before(function).with_body("func.func", &[], &[], &attributes, &types, "func.return");
        ir::move_before(nest, end);
        ir::set_operands(end, &ir::results(nest));
        let b = Builder::before(nest);
        let arguments = ir::arguments(ir::blocks(made)[0]);
        let mut own: HashMap<usize, Val<'c>> = HashMap::new();
        for ((value, argument), passed) in captured.iter().zip(arguments).zip(&passed) {
            own.insert(ir::key(*value), passed.argument(b, argument, value.r#type()));
        }
        own.extend(copied.iter().map(|op| (ir::key(ir::result(*op, 0)), ir::result(b.copy(*op), 0))));
        for op in ir::all_operations(nest) {
            let replaced = |v: Val<'c>| own.get(&ir::key(v)).copied().unwrap_or(v);
            let operands = ir::operands(op);
            if operands.iter().any(|v| own.contains_key(&ir::key(*v))) {
                ir::set_operands(op, &operands.into_iter().map(replaced).collect::<Vec<_>>());
            }
        }
        self.functions.insert(words, name);
    }

    /// A new symbol of the module.
    fn name(&mut self) -> String {
        loop {
            let name = format!("loops_{}", self.names);
            self.names += 1;
            if !self.symbols.contains(name.as_str()) {
                return name;
            }
        }
    }

    /// How a value is passed, and the operand of the call.
    fn passed(&mut self, value: Val<'c>) -> (Passed, Val<'c>) {
        let memref = ir::memref(value.r#type()).filter(|t| self.pointers && t.space.is_none());
        match memref.and_then(|t| numbers(&t)) {
            Some(numbers) => (Passed::Pointer(numbers), self.pointer(value)),
            None => (Passed::Whole, value),
        }
    }

    /// The pointer to a memref's buffer, computed once, at the memref's definition. A transposed memref has the same
    /// pointer; a part of an allocation has the allocation's pointer plus an offset in bytes.
    fn pointer(&mut self, value: Val<'c>) -> Val<'c> {
        let (mut views, mut base) = (Vec::new(), value);
        while let (None, Some(view)) = (self.known.get(&ir::key(base)), View::of(base)) {
            base = ir::operands(view.op)[0];
            views.push(view);
        }
        let after = |v: Val<'c>| Builder::before(ir::after(v).expect("the nest comes after what it takes"));
        let mut pointer = self.known.get(&ir::key(base)).copied().unwrap_or_else(|| {
            let b = after(base);
            let rank = ir::memref(base.r#type()).map_or(0, |t| t.shape.len());
            let made = b.value("builtin.unrealized_conversion_cast", &[base], descriptor(b, rank), &[]);
            b.value("llvm.extractvalue", &[made], pointer_type(b), &[position(b, &[1])])
        });
        self.known.insert(ir::key(base), pointer);
        for view in views.into_iter().rev() {
            let value = ir::result(view.op, 0);
            if view.bytes != 0 {
                let b = after(value);
                let attributes = [
                    b.named("rawConstantIndices", DenseI32ArrayAttribute::new(b.context(), &[i32::MIN])),
                    b.named("elem_type", TypeAttribute::new(IntegerType::new(b.context(), 8).into())),
                ];
                pointer =
                    b.value("llvm.getelementptr", &[pointer, number(b, view.bytes)], pointer_type(b), &attributes);
            }
            self.known.insert(ir::key(value), pointer);
            self.views.push(view.op);
        }
        pointer
    }

    /// Erases the views that are used only for their pointers.
    fn erase_views(&self) {
        for op in self.views.iter().rev().filter(|op| !ir::is_used(ir::result(**op, 0))) {
            let shift = ir::operands(*op).get(1).copied();
            self.rewriter.erase(*op);
            if let Some(constant) = shift.filter(|v| !ir::is_used(*v)).and_then(ir::defining_op) {
                self.rewriter.erase(constant);
            }
        }
    }
}

/// A memref that begins `bytes` after the first operand of its operation.
struct View<'c> {
    op: Op<'c>,
    bytes: i64,
}

impl<'c> View<'c> {
    fn of(value: Val<'c>) -> Option<View<'c>> {
        let op = ir::defining_op(value)?;
        let bytes = match ir::name(op) {
            "memref.transpose" => 0,
            "memref.view" => constant_value(ir::operands(op)[1])?,
            _ => return None,
        };
        Some(View { op, bytes })
    }
}

/// The offset, sizes and strides of a memref, if all are static.
fn numbers(t: &Shaped) -> Option<Vec<i64>> {
    let sizes = t.sizes()?;
    let (offset, strides) = match t.layout {
        Some(layout) => (ir::offset_of(t)?, ir::strides_of(layout)?.into_iter().collect::<Option<Vec<i64>>>()?),
        None => {
            let mut strides = vec![1; sizes.len()];
            for k in (1..sizes.len()).rev() {
                strides[k - 1] = sizes[k].checked_mul(strides[k])?;
            }
            (0, strides)
        }
    };
    Some([vec![offset], sizes, strides].concat())
}

/// How a value is passed to a function.
enum Passed {
    /// Unchanged.
    Whole,
    /// As a pointer, for a descriptor with this offset, these sizes and strides.
    Pointer(Vec<i64>),
}

impl Passed {
    /// The value of this type that the function computes from its argument.
    fn argument<'c>(&self, b: Builder<'c>, argument: Val<'c>, t: Type<'c>) -> Val<'c> {
        let Passed::Pointer(numbers) = self else { return argument };
        at_pointer(b, argument, numbers, t)
    }
}

/// The attributes of the function for a nest of function `of`.
fn attributes<'c>(b: Builder<'c>, of: Op<'c>, name: &str, t: Type<'c>) -> Vec<(Identifier<'c>, Attribute<'c>)> {
    let string = |text: &str| Attribute::from(StringAttribute::new(b.context(), text));
    let internal = Attribute::parse(b.context(), "#llvm.linkage<internal>").expect("an attribute of the LLVM dialect");
    let mut all = vec![
        b.named("sym_name", string(name)),
        b.named("function_type", TypeAttribute::new(t)),
        b.named("sym_visibility", string("private")),
        b.named("llvm.linkage", internal),
    ];
    // LLVM would inline it again. `no_inline` is lost in the conversion to LLVM.
    let mut passed_on = vec![string("noinline")];
    for name in MACHINE {
        match ir::attribute(of, name) {
            Some(attribute) if name == PASSTHROUGH => passed_on.extend(ir::array(attribute)),
            Some(attribute) => all.push(b.named(name, attribute)),
            None => {}
        }
    }
    all.push(b.named(PASSTHROUGH, ArrayAttribute::new(b.context(), &passed_on)));
    all
}

/// The attribute that holds attributes of LLVM IR in their own spelling.
const PASSTHROUGH: &str = "passthrough";

/// The attributes of a function that describe its target.
const MACHINE: [&str; 6] = [PASSTHROUGH, "frame_pointer", "target_cpu", "target_features", "tune_cpu", "vscale_range"];

/// The identity of a nest.
struct NestKey<'c> {
    /// Everything that distinguishes it: numbers, and addresses of objects that MLIR uniques, such as attributes.
    words: Vec<usize>,
    /// The values used from outside, in the order of first use.
    captured: Vec<Val<'c>>,
    /// Operations outside that are cloned into it.
    copied: Vec<Op<'c>>,
    /// The number of each value.
    numbers: HashMap<usize, usize>,
}

impl<'c> NestKey<'c> {
    fn of(function: Op<'c>, nest: Op<'c>) -> NestKey<'c> {
        let address = |name| ir::attribute(function, name).map_or(0, |attribute| attribute.to_raw().ptr.addr());
        let words = MACHINE.into_iter().map(address).collect();
        let mut made = NestKey { words, captured: Vec::new(), copied: Vec::new(), numbers: HashMap::new() };
        for op in ir::all_operations(nest) {
            made.operation(op);
        }
        made
    }

    /// Records an operation; the operations inside follow.
    fn operation(&mut self, op: Op<'c>) {
        self.itself(op);
        let operands = ir::operands(op);
        self.words.push(operands.len());
        for value in operands {
            let number = self.number(value);
            self.words.push(number);
        }
        ir::results(op).into_iter().for_each(|v| self.define(v));
        let blocks = ir::blocks(op);
        self.words.push(blocks.len());
        for block in blocks {
            let arguments = ir::arguments(block);
            self.words.extend([arguments.len(), ir::operations(block).len()]);
            arguments.into_iter().for_each(|v| self.define(v));
        }
    }

    /// Records an operation without its operands and regions.
    fn itself(&mut self, op: Op<'c>) {
        self.words.extend([ir::name(op).as_ptr().addr(), upstream::attributes(op).to_raw().ptr.addr()]);
        let results = ir::results(op);
        self.words.push(results.len());
    }

    fn define(&mut self, value: Val<'c>) {
        self.words.push(value.r#type().to_raw().ptr.addr());
        self.numbers.insert(ir::key(value), self.numbers.len());
    }

    /// The number of a value; a value without one is from outside.
    fn number(&mut self, value: Val<'c>) -> usize {
        if let Some(number) = self.numbers.get(&ir::key(value)) {
            return *number;
        }
        let number = self.numbers.len();
        self.define(value);
        match ir::defining_op(value).filter(|op| COPIED.contains(&ir::name(*op))) {
            Some(op) => {
                self.itself(op);
                self.copied.push(op);
            }
            None => self.captured.push(value),
        }
        number
    }
}
