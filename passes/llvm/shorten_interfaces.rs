//! `layout-shorten-interfaces`: moves the code of a function with many memrefs behind pointers, and writes results to
//! the caller's memory.
//!
//! Upstream makes two functions of one that C can call. `@f` has its code and takes each part of a memref as an argument,
//! 7 for a matrix; it returns all results as one struct. `@_mlir_ciface_f` takes pointers to memrefs, reads them and
//! calls `@f`. LLVM's scheduler is quadratic in the loads and stores between two calls: with 481 arguments and 361
//! results it takes 9 of 12 s. Here the code moves behind the pointers:
//!
//! ```text
//! @f(a0, .., a13) -> struct {             @_mlir_ciface_f(result, x, y) {
//!   p = alloc(); s = insert(p, poison)      a0, .., a13 = load x, load y
//!   q = alloc(); t = insert(q, s)           p = alloc(); store p, result
//!   return t                                q = alloc(); store q, result + 56
//! }                                         return
//! @_mlir_ciface_f(result, x, y) {         }
//!   a0, .., a13 = load x, load y          @f(a0, .., a13) -> struct {
//!   t = call @f(a0, .., a13)                x, y = alloca, alloca; store a0, x; ..
//!   store t, result                         call @_mlir_ciface_f(result, x, y)
//! }                                         return load result
//!                                         }
//! ```
//!
//! A result is stored at its definition, between the calls that allocate memory, and after all arguments have been
//! read: results may share memory with arguments. The rest of `@f` is compiled without optimisation.

use crate::buffers::descriptors::{descriptor, number, pointer_type};
use crate::pass::options::ShortenInterfacesOptions;
use crate::pass::stages::{Next, StageInput, StageResult};
use layout_ir::{self as ir, Builder, Op, Rewriter, Val};
use melior::ir::attribute::{DenseI32ArrayAttribute, FlatSymbolRefAttribute, TypeAttribute};
use melior::ir::operation::OperationMutLike;
use melior::ir::r#type::IntegerType;
use melior::ir::{Attribute, Identifier, Type, TypeLike, ValueLike};
use std::collections::{BTreeMap, HashMap};

/// The prefix of the name of a function's C wrapper.
const PREFIX: &str = "_mlir_ciface_";

/// The bytes of a word of a memref descriptor: a pointer, or an integer of 64 bits.
const WORD: i64 = 8;

/// The largest rank of memrefs whose descriptors are known by their types; other results are stored at the end.
const MOST_RANK: usize = 16;

/// Moves the code of functions with more words of arguments and results than the options allow behind pointers; returns
/// [`Next::Unchanged`] if there are none.
pub(crate) fn run<'c>(stage: StageInput<'c, ShortenInterfacesOptions>) -> StageResult<'c> {
    let StageInput { rewriter, options, .. } = stage;
    let module = rewriter.root();
    // Words may then have another width.
    if ir::attribute(module, "dlti.dl_spec").is_some() {
        return Ok(Next::Unchanged);
    }
    let is_function = |op: &Op<'c>| ir::name(*op) == "llvm.func" && !ir::blocks(*op).is_empty();
    let all = ir::blocks(module).into_iter().flat_map(ir::operations).filter(is_function);
    let functions: HashMap<&str, Op<'c>> = all.filter_map(|op| Some((name(op)?, op))).collect();
    let mut interfaces: Vec<Interface<'c>> =
        functions.values().filter_map(|wrapper| Interface::of(*wrapper, &functions)).collect();
    interfaces.retain(|interface| interface.words() > options.words);
    for interface in &interfaces {
        interface.shorten(rewriter);
    }
    Ok(Next::of(!interfaces.is_empty()))
}

fn name<'c>(function: Op<'c>) -> Option<&'c str> {
    ir::text(ir::attribute(function, "sym_name")?)
}

/// A function and its C wrapper, which reads descriptors, calls the function, and stores the results.
struct Interface<'c> {
    function: Op<'c>,
    wrapper: Op<'c>,
    call: Op<'c>,
    /// The operations of the wrapper before the call.
    reads: Vec<Op<'c>>,
    /// Whether the first argument of the wrapper is the memory for results.
    stores: bool,
    /// The only return of the function.
    end: Op<'c>,
}

impl<'c> Interface<'c> {
    /// The interface of a function with a C wrapper.
    fn of(wrapper: Op<'c>, functions: &HashMap<&str, Op<'c>>) -> Option<Interface<'c>> {
        let function = *functions.get(name(wrapper)?.strip_prefix(PREFIX)?)?;
        let [block] = ir::blocks(wrapper)[..] else { return None };
        let all = ir::operations(block);
        let at = all.iter().position(|op| ir::name(*op) == "llvm.call")?;
        let (reads, call) = (all[..at].to_vec(), all[at]);
        let callee = ir::attribute(call, "callee")?;
        let callee = FlatSymbolRefAttribute::try_from(callee).ok()?;
        let reads_only = reads.iter().all(|op| ["llvm.load", "llvm.extractvalue"].contains(&ir::name(*op)));
        // A function to be inlined expects other code.
        if Some(callee.value()) != name(function) || !reads_only || ir::attribute(function, "always_inline").is_some() {
            return None;
        }
        let stores = match all[at + 1..] {
            [store, end] => {
                let into = ir::operands(store);
                let is_store = ir::name(store) == "llvm.store" && ir::operands(end).is_empty();
                if !is_store || into[..] != [ir::result(call, 0), *ir::arguments(block).first()?] {
                    return None;
                }
                true
            }
            [_] => false,
            _ => return None,
        };
        let ends: Vec<Op<'c>> =
            ir::blocks(function).into_iter().filter_map(|block| ir::operations(block).pop()).collect();
        let ends: Vec<Op<'c>> = ends.into_iter().filter(|op| ir::name(*op) == "llvm.return").collect();
        let [end] = ends[..] else { return None };
        Some(Interface { function, wrapper, call, reads, stores, end })
    }

    /// The number of words of the function's arguments and results.
    fn words(&self) -> u64 {
        let results = match self.stores {
            true => parts(ir::operands(self.end)[0]).0.last().map_or(0, |(offset, _)| *offset as u64 + 1),
            false => 0,
        };
        ir::operands(self.call).len() as u64 + results
    }

    fn shorten(&self, rewriter: &'c Rewriter) {
        self.keep_name();
        let entry = ir::blocks(self.function)[0];
        let first = ir::operations(entry)[0];
        let taken = ir::arguments(entry);
        for old in ir::arguments(ir::blocks(self.wrapper)[0]) {
            ir::replace_all_uses(old, ir::add_argument(entry, old.r#type(), ir::location(self.function)));
        }
        self.reads.iter().for_each(|op| ir::move_before(*op, first));
        for (old, new) in taken.iter().zip(ir::operands(self.call)) {
            ir::replace_all_uses(*old, new);
        }
        ir::erase_arguments(entry, taken.len());
        if self.stores {
            self.store(rewriter, ir::arguments(entry)[0], first);
        }
        for name in ["sym_name", "function_type", "arg_attrs", "res_attrs"] {
            match ir::attribute(self.wrapper, name) {
                Some(of_wrapper) => ir::edit(self.function).set_attribute(name, of_wrapper),
                None if ir::attribute(self.function, name).is_some() => {
                    ir::edit(self.function).remove_attribute(name).expect("the function has it");
                }
                None => {}
            }
        }
        rewriter.erase(self.wrapper);
    }

    /// Stores each result at its definition, or before `first` if that is later, so that all arguments are read before.
    fn store(&self, rewriter: &'c Rewriter, into: Val<'c>, first: Op<'c>) {
        let (parts, made_by) = parts(ir::operands(self.end)[0]);
        for (offset, part) in parts {
            let place = ir::after(part).expect("the return comes after what it gives");
            let place = if ir::comes_before(place, first) { first } else { place };
            let b = Builder::before(place).located(self.end);
            let at = match offset {
                0 => into,
                _ => {
                    let attributes = [
                        b.named("rawConstantIndices", DenseI32ArrayAttribute::new(b.context(), &[i32::MIN])),
                        b.named("elem_type", TypeAttribute::new(IntegerType::new(b.context(), 8).into())),
                    ];
                    let bytes = number(b, offset * WORD);
                    b.value("llvm.getelementptr", &[into, bytes], pointer_type(b), &attributes)
                }
            };
            b.op("llvm.store", &[part, at], &[], &[]);
        }
        ir::set_operands(self.end, &[]);
        made_by.into_iter().for_each(|op| rewriter.erase(op));
    }

    /// Adds a function with the name and type of this one that calls the C wrapper.
    fn keep_name(&self) {
        let b = Builder::before(self.function);
        let mut attributes: Vec<(Identifier<'c>, Attribute<'c>)> = b.attributes_of(self.function);
        let unit = Attribute::unit(b.context());
        for name in ["no_inline", "optimize_none"] {
            attributes.retain(|(known, _)| *known != Identifier::new(b.context(), name));
            attributes.push(b.named(name, unit));
        }
        let taken = ir::operands(self.call);
        let types: Vec<Type<'c>> = taken.iter().map(|v| v.r#type()).collect();
        let (made, end) = b.with_body("llvm.func", &[], &[], &attributes, &types, "llvm.return");
        let b = b.at(end);
        let arguments = ir::arguments(ir::blocks(made)[0]);
        let own: HashMap<usize, Val<'c>> = taken.iter().map(|v| ir::key(*v)).zip(arguments).collect();
        let mut passed: Vec<Option<Val<'c>>> = Vec::new();
        for argument in ir::arguments(ir::blocks(self.wrapper)[0]) {
            passed.push(own.get(&ir::key(argument)).copied());
        }
        let one = number(b, 1);
        let room = |t: Type<'c>| {
            b.value("llvm.alloca", &[one], pointer_type(b), &[b.named("elem_type", TypeAttribute::new(t))])
        };
        for load in self.reads.iter().filter(|op| ir::name(**op) == "llvm.load") {
            let read = ir::result(*load, 0);
            let t = read.r#type();
            let mut whole = b.value("llvm.mlir.poison", &[], t, &[]);
            for (part, _) in ir::uses(read).into_iter().rev() {
                if let Some(value) = own.get(&ir::key(ir::result(part, 0))) {
                    let position = ir::attribute(part, "position").expect("what is extracted has a position");
                    whole = b.value("llvm.insertvalue", &[whole, *value], t, &[b.named("position", position)]);
                }
            }
            let at = room(t);
            b.op("llvm.store", &[whole, at], &[], &[]);
            if let Some((_, number)) = ir::block_argument(ir::operands(*load)[0]) {
                passed[number] = Some(at);
            }
        }
        let results: Vec<Type<'c>> = ir::results(self.call).into_iter().map(|v| v.r#type()).collect();
        if self.stores {
            passed[0] = Some(room(results[0]));
        }
        // A descriptor without readers has no loads.
        let zero = |t: Type<'c>| b.value("llvm.mlir.zero", &[], t, &[]);
        let passed: Vec<Val<'c>> = passed.into_iter().map(|v| v.unwrap_or_else(|| zero(pointer_type(b)))).collect();
        let name = name(self.wrapper).expect("functions have names");
        let attributes = [
            b.named("callee", FlatSymbolRefAttribute::new(b.context(), name)),
            b.segments(&[i32::try_from(passed.len()).unwrap_or(i32::MAX), 0]),
            b.named("op_bundle_sizes", DenseI32ArrayAttribute::new(b.context(), &[])),
        ];
        let call = b.op("llvm.call", &passed, if self.stores { &[] } else { &results }, &attributes);
        let given = match self.stores {
            true => vec![b.value("llvm.load", &[passed[0]], results[0], &[])],
            false => ir::results(call),
        };
        ir::set_operands(end, &given);
    }
}

/// The parts of a struct, with their offsets in words, and the insertions that build it, last first. The struct itself
/// if its parts are no words.
fn parts<'c>(whole: Val<'c>) -> (Vec<(i64, Val<'c>)>, Vec<Op<'c>>) {
    let itself = (vec![(0, whole)], Vec::new());
    let (mut found, mut made_by, mut at) = (BTreeMap::new(), Vec::new(), whole);
    while let Some(op) = ir::defining_op(at).filter(|op| ir::name(*op) == "llvm.insertvalue") {
        let [index] = ir::integers(op, "position")[..] else { return itself };
        if ir::uses(at).len() != 1 {
            return itself;
        }
        let [before, part] = ir::operands(op)[..] else { return itself };
        found.entry(index).or_insert(part);
        made_by.push(op);
        at = before;
    }
    let is_nothing = |op: &Op<'c>| ["llvm.mlir.poison", "llvm.mlir.undef"].contains(&ir::name(*op));
    let Some(nothing) = ir::defining_op(at).filter(is_nothing) else { return itself };
    if ir::uses(at).len() == 1 {
        made_by.push(nothing);
    }
    if found.keys().ne((0..found.len() as i64).collect::<Vec<_>>().iter()) {
        return itself;
    }
    let mut known: HashMap<usize, Option<i64>> = HashMap::new();
    let (mut placed, mut offset) = (Vec::new(), 0i64);
    for part in found.into_values() {
        let t = part.r#type();
        let words = *known.entry(t.to_raw().ptr.addr()).or_insert_with(|| words(Builder::before(made_by[0]), t));
        let Some(words) = words else { return itself };
        placed.push((offset, part));
        offset += words;
    }
    (placed, made_by)
}

/// The number of words of a pointer, of an integer of 64 bits, or of a descriptor.
fn words<'c>(b: Builder<'c>, t: Type<'c>) -> Option<i64> {
    if t == pointer_type(b) || t == IntegerType::new(b.context(), 64).into() {
        return Some(1);
    }
    (0..=MOST_RANK).find(|rank| t == descriptor(b, *rank)).map(|rank| 3 + 2 * rank as i64)
}
