//! `layout-shorten-interfaces`: a function of many memrefs takes pointers to them, and writes those that it gives where its
//! caller says.
//!
//! Upstream makes two functions of one that C can call. `@f` has its code and takes each part of a memref as an argument,
//! 7 for a matrix; it gives all results as one struct. `@_mlir_ciface_f` has pointers to memrefs, reads them and calls
//! `@f`. LLVM's scheduler is quadratic in the loads and stores between two calls: of 481 arguments and 361 results it takes
//! 9 of 12 s. Here the code moves behind the pointers:
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
//! A result is stored where it is made, between the calls that allocate memory, and after all arguments have been read:
//! results may be where arguments were. What is left of `@f` is compiled without optimisation.

use crate::descriptors::{descriptor, number, pointer_type};
use crate::options::ShortenInterfacesOptions;
use layout_ir::{self as ir, Builder, Op, Rewriter, Val};
use melior::ir::attribute::{DenseI32ArrayAttribute, FlatSymbolRefAttribute, TypeAttribute};
use melior::ir::operation::OperationMutLike;
use melior::ir::r#type::IntegerType;
use melior::ir::{Attribute, Identifier, Type, TypeLike, ValueLike};
use std::collections::{BTreeMap, HashMap};

/// What the name of a function that C calls has before that of the function.
const PREFIX: &str = "_mlir_ciface_";

/// The bytes of a word, of which descriptors of memrefs are made: a pointer, or an integer of 64 bits.
const WORD: i64 = 8;

/// The largest rank of memrefs whose descriptors are known by their types; results of others are stored at the end.
const MOST_RANK: usize = 16;

/// Moves the code of functions that take more words, and give more, than the options say behind pointers; false if there
/// are none.
pub fn run<'c>(rewriter: &'c Rewriter, options: ShortenInterfacesOptions) -> bool {
    let module = rewriter.root();
    // Then words may have other bits.
    if ir::attribute(module, "dlti.dl_spec").is_some() {
        return false;
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
    !interfaces.is_empty()
}

fn name<'c>(function: Op<'c>) -> Option<&'c str> {
    ir::text(ir::attribute(function, "sym_name")?)
}

/// A function and the one that C calls, which reads descriptors, calls it, and stores what it gives.
struct Interface<'c> {
    function: Op<'c>,
    wrapper: Op<'c>,
    call: Op<'c>,
    /// The operations of the wrapper before the call.
    reads: Vec<Op<'c>>,
    /// Whether the first argument of the wrapper is where results go.
    stores: bool,
    /// The only return of the function.
    end: Op<'c>,
}

impl<'c> Interface<'c> {
    /// That of a function that has been made for C.
    fn of(wrapper: Op<'c>, functions: &HashMap<&str, Op<'c>>) -> Option<Interface<'c>> {
        let function = *functions.get(name(wrapper)?.strip_prefix(PREFIX)?)?;
        let [block] = ir::blocks(wrapper)[..] else { return None };
        let all = ir::operations(block);
        let at = all.iter().position(|op| ir::name(*op) == "llvm.call")?;
        let (reads, call) = (all[..at].to_vec(), all[at]);
        let callee = ir::attribute(call, "callee")?;
        let callee = FlatSymbolRefAttribute::try_from(callee).ok()?;
        let reads_only = reads.iter().all(|op| ["llvm.load", "llvm.extractvalue"].contains(&ir::name(*op)));
        // Whoever asks for it to be inlined wants another code than is made here.
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

    /// How many words the function takes and gives.
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

    /// Stores the results where they are made, but those that are arguments before `first`, behind the reads of all.
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

    /// Makes a function with the name and type of this one that calls the one for C.
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
        // A descriptor that nobody reads has no loads.
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

/// Where the parts of a struct are, in words from its start, and what puts them together, last first. The struct itself
/// where its parts are not of words.
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

/// The words of a pointer, of an integer of 64 bits, or of a descriptor.
fn words<'c>(b: Builder<'c>, t: Type<'c>) -> Option<i64> {
    if t == pointer_type(b) || t == IntegerType::new(b.context(), 64).into() {
        return Some(1);
    }
    (0..=MOST_RANK).find(|rank| t == descriptor(b, *rank)).map(|rank| 3 + 2 * rank as i64)
}
