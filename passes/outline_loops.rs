//! `layout-outline-loops`: the loop nests of a large function become functions, and equal ones the same function.
//!
//! ```text
//! func @layers(%x, %y) {            func private @loops_0(%p: !llvm.ptr, %q: !llvm.ptr) {
//!   for %i { y[i] = 2 * x[i] }        for %i { q[i] = 2 * p[i] }
//!   for %i { x[i] = 2 * y[i] }      }
//! }                                 func @layers(%x, %y) { call @loops_0(&x, &y); call @loops_0(&y, &x) }
//! ```
//!
//! A *nest* is a loop, or an operation of linalg on memrefs, in which nothing is called, allocated or freed. Of a loop
//! that is none, or that holds too many loops, those inside are looked at. What a nest takes from outside is passed to it,
//! constants and globals excepted, which it gets as its own. Two nests are equal if they are so operation by operation,
//! with what they take from outside numbered in the order of its first use.
//!
//! A memref whose type has all sizes, strides and its offset is passed as a pointer, from which the function makes the
//! same descriptor: a call of `memref<2x8x128xf32>` then has one operand in LLVM IR, not nine. The others are passed as
//! they are.

use crate::buffers::index::constant_value;
use crate::descriptors::{at_pointer, descriptor, number, pointer_type, position};
use crate::options::OutlineLoopsOptions;
use crate::upstream;
use layout_ir::{self as ir, Builder, Op, Rewriter, Shaped, Val};
use melior::ir::attribute::{
    ArrayAttribute, AttributeLike, DenseI32ArrayAttribute, FlatSymbolRefAttribute, StringAttribute, TypeAttribute,
};
use melior::ir::r#type::IntegerType;
use melior::ir::{Attribute, Identifier, Type, TypeLike, ValueLike};
use std::collections::{HashMap, HashSet};

/// Loops, each of which may begin a nest.
const LOOPS: [&str; 6] = ["affine.for", "affine.parallel", "scf.for", "scf.forall", "scf.parallel", "scf.while"];

/// What a nest has not in it.
const NOT_INSIDE: [&str; 6] =
    ["func.call", "func.call_indirect", "memref.alloc", "memref.dealloc", "memref.realloc", "func.return"];

/// What a nest gets as its own instead of an argument. LLVM then knows the values.
const COPIED: [&str; 2] = ["arith.constant", "memref.get_global"];

/// MLIR's dialect conversion numbers all operations of a block anew for each value that it replaces in it, so that time is
/// quadratic in the operations of a block.
const MOST_IN_BLOCK: usize = 256;

/// Outlines the loop nests of a module that has more loops than the options say; false for any other.
pub fn run<'c>(rewriter: &'c Rewriter, options: OutlineLoopsOptions) -> bool {
    let module = rewriter.root();
    let body: Vec<Op<'c>> = ir::blocks(module).into_iter().flat_map(ir::operations).collect();
    let mut outline = Outline {
        rewriter,
        // The descriptors that are made have sizes of 64 bits.
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
        return false;
    }
    for function in functions {
        for nest in nests(function, options.loops) {
            outline.outline(function, nest);
        }
        cut(function);
    }
    outline.erase_views();
    true
}

/// The nests of a function of no more than `most` loops each.
fn nests<'c>(function: Op<'c>, most: u64) -> Vec<Op<'c>> {
    let operations = ir::all_operations(function);
    let number: HashMap<usize, usize> = operations.iter().enumerate().map(|(k, op)| (ir::op_key(*op), k)).collect();
    // Of each operation and what is in it: how many loops and operations, and whether it may be in a nest.
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

/// Ends a block of a function by a branch to the next after every [`MOST_IN_BLOCK`] operations or so: loops ended them before.
fn cut(function: Op) {
    for block in ir::blocks(function) {
        let mut ends = Vec::new();
        for (k, op) in ir::operations(block).into_iter().enumerate() {
            if k - ends.last().map_or(0, |(last, _)| *last) >= MOST_IN_BLOCK && ir::name(op) == "func.call" {
                ends.push((k, op));
            }
        }
        // Each takes what comes after it along.
        ends.into_iter().rev().for_each(|(_, op)| ir::end_block_after(op));
    }
}

/// Whether an operation is a loop, or becomes one.
fn is_loop(op: Op) -> bool {
    let name = ir::name(op);
    LOOPS.contains(&name) || (name.starts_with("linalg.") && !ir::blocks(op).is_empty())
}

fn may_be_inside(name: &str) -> bool {
    !NOT_INSIDE.contains(&name) && !name.starts_with("cf.") && !name.starts_with("bufferization.")
}

/// The functions made so far.
struct Outline<'c> {
    rewriter: &'c Rewriter,
    /// Whether memrefs may be passed as pointers.
    pointers: bool,
    /// The symbols of the module.
    symbols: HashSet<&'c str>,
    /// How many names have been tried.
    names: usize,
    /// The name of the function for a nest, by what the nest is.
    functions: HashMap<Vec<usize>, String>,
    /// The pointers to the buffers of memrefs.
    known: HashMap<usize, Val<'c>>,
    /// What `known` has been found through, each after its source.
    views: Vec<Op<'c>>,
}

impl<'c> Outline<'c> {
    /// Replaces a nest by a call of a function that is it.
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

    /// A symbol that the module does not have.
    fn name(&mut self) -> String {
        loop {
            let name = format!("loops_{}", self.names);
            self.names += 1;
            if !self.symbols.contains(name.as_str()) {
                return name;
            }
        }
    }

    /// How a value is passed, and as what.
    fn passed(&mut self, value: Val<'c>) -> (Passed, Val<'c>) {
        let memref = ir::memref(value.r#type()).filter(|t| self.pointers && t.space.is_none());
        match memref.and_then(|t| numbers(&t)) {
            Some(numbers) => (Passed::Pointer(numbers), self.pointer(value)),
            None => (Passed::Whole, value),
        }
    }

    /// The pointer to the buffer of a memref, made once, where the memref is. That of a transposed one is the same, and
    /// that of a part of an allocation is so many bytes from the allocation's.
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

    /// Erases the views of which only the pointers are used.
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

/// A memref that begins so many bytes after the first operand of its operation.
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

/// The offset of a memref, its sizes and its strides, where its type says them all.
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

/// How a function gets a value.
enum Passed {
    /// As it is.
    Whole,
    /// As a pointer, to be put into a descriptor with this offset and these sizes and strides.
    Pointer(Vec<i64>),
}

impl Passed {
    /// The value of this type that the function has for its argument.
    fn argument<'c>(&self, b: Builder<'c>, argument: Val<'c>, t: Type<'c>) -> Val<'c> {
        let Passed::Pointer(numbers) = self else { return argument };
        at_pointer(b, argument, numbers, t)
    }
}

/// The attributes of the function for a nest of another one.
fn attributes<'c>(b: Builder<'c>, of: Op<'c>, name: &str, t: Type<'c>) -> Vec<(Identifier<'c>, Attribute<'c>)> {
    let string = |text: &str| Attribute::from(StringAttribute::new(b.context(), text));
    let internal = Attribute::parse(b.context(), "#llvm.linkage<internal>").expect("an attribute of the LLVM dialect");
    let mut all = vec![
        b.named("sym_name", string(name)),
        b.named("function_type", TypeAttribute::new(t)),
        b.named("sym_visibility", string("private")),
        b.named("llvm.linkage", internal),
    ];
    // It would be inlined again, into what is too large then. `no_inline` is lost in the conversion to LLVM.
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

/// The attribute that has attributes of LLVM IR, as they are written there.
const PASSTHROUGH: &str = "passthrough";

/// The attributes of a function that say what its code is made for.
const MACHINE: [&str; 6] = [PASSTHROUGH, "frame_pointer", "target_cpu", "target_features", "tune_cpu", "vscale_range"];

/// What a nest is.
struct NestKey<'c> {
    /// All that makes it differ from others: addresses of what MLIR keeps once, such as attributes, and numbers.
    words: Vec<usize>,
    /// What it takes from outside, in the order of first use.
    captured: Vec<Val<'c>>,
    /// What is outside of it and it gets as its own.
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

    /// Takes note of an operation; what is in it comes next.
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

    /// What an operation does, apart from its operands and what is in it.
    fn itself(&mut self, op: Op<'c>) {
        self.words.extend([ir::name(op).as_ptr().addr(), upstream::attributes(op).to_raw().ptr.addr()]);
        let results = ir::results(op);
        self.words.push(results.len());
    }

    fn define(&mut self, value: Val<'c>) {
        self.words.push(value.r#type().to_raw().ptr.addr());
        self.numbers.insert(ir::key(value), self.numbers.len());
    }

    /// The number of a value, which is from outside if it has none yet.
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
