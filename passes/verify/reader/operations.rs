//! The reader: a module of MLIR as a [`Program`]. What each operation means is written here, once.
//!
//! An operation that is not in the table is [`Action::Unknown`]: the evaluator stops where it would run.

use crate::reader::bytes::{self, OnBytes};
use crate::reader::flags;
use crate::reader::lanes;
use crate::reader::mlir::{self, DYNAMIC, Op, attribute, integers, mixed};
use crate::reader::model::{
    Access, Action, Block, Bound, Condition, End, Expr, Function, Global, Kind, Lane, Nest, Operator, Other, Program,
    Region, Size, Slot, Step, Type,
};
use crate::reader::prints;
use melior::ir::attribute::AttributeLike;
use melior::ir::block::BlockLike;
use melior::ir::operation::OperationLike;
use melior::ir::{Attribute, Type as MlirType, TypeLike, Value, ValueLike};
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// The attribute with the numbers of the operations that an operation implements.
pub const ORIGINS: &str = "layout.origins";

/// Reads the functions and globals of a module.
pub fn program(module: Op) -> Program {
    let mut program = Program { axes: mlir::axes(module), ..Program::default() };
    let mut printer = None;
    for op in mlir::blocks(module, 0).into_iter().flat_map(mlir::operations) {
        let (name, symbol) = (mlir::name(op), attribute(op, "sym_name").and_then(mlir::text));
        let public = attribute(op, "sym_visibility").and_then(mlir::text).is_none_or(|text| text == "public");
        match (&*name, &symbol) {
            ("func.func", Some(symbol)) => {
                if let Some(function) = function(op, public) {
                    program.functions.insert(symbol.clone(), function);
                    continue;
                }
            }
            ("memref.global", Some(symbol)) => {
                if let Some(global) = global(op, public) {
                    program.globals.insert(symbol.clone(), global);
                    continue;
                }
            }
            _ => (),
        }
        let symbol = symbol.unwrap_or_else(|| program.others.len().to_string());
        let text = printer.get_or_insert_with(|| mlir::Printer::new(module)).text(op);
        program.others.insert(symbol, Other { operation: name, text });
    }
    program
}

/// The types that the functions of a module take, and then those that they return, by name.
pub fn interfaces(module: Op) -> BTreeMap<String, Vec<Type>> {
    let functions = mlir::blocks(module, 0).into_iter().flat_map(mlir::operations);
    let interface = |op: Op| {
        let (arguments, results) = mlir::signature(attribute(op, "function_type")?)?;
        Some((attribute(op, "sym_name").and_then(mlir::text)?, [arguments, results].concat()))
    };
    functions.filter_map(interface).collect()
}

fn global(op: Op, public: bool) -> Option<Global> {
    let r#type = mlir::type_of(attribute(op, "type")?)?;
    let Type::Shaped { element, .. } = &r#type else { return None };
    let items = attribute(op, "initial_value").and_then(|value| mlir::items(value, element));
    let own = |name: &str| matches!(name, "sym_name" | "sym_visibility") || name == "initial_value" && items.is_some();
    let rest = op.attributes().filter_map(|(name, value)| {
        let name = name.as_string_ref().as_str().unwrap_or_default();
        (!own(name)).then(|| format!("{name} = {value}; "))
    });
    let rest = rest.collect();
    Some(Global { rest, items, constant: attribute(op, "constant").is_some(), r#type, public })
}

fn function(op: Op, public: bool) -> Option<Function> {
    let (arguments, results) = mlir::signature(attribute(op, "function_type")?)?;
    let mut reader = Reader::default();
    let body = (!mlir::blocks(op, 0).is_empty()).then(|| reader.region(op, 0));
    let [of_arguments, of_results] =
        ["arg_attrs", "res_attrs"].map(|name| attribute(op, name).and_then(mlir::array).unwrap_or_default());
    // A promise of the element's type, also where elements are packed in a wider one.
    let padding = |k: usize| {
        let value = mlir::entry(*of_arguments.get(k)?, "layout.padding")?;
        mlir::items(value, &mlir::element(value.r#type())?)?.first().copied()
    };
    let padding = (0..arguments.len()).map(padding).collect();
    let of_llvm = |all: Vec<String>| all.into_iter().filter(|text| text.starts_with("llvm.")).collect::<BTreeSet<_>>();
    let of_each = |all: &[Attribute], count: usize| {
        (0..count).map(|k| of_llvm(all.get(k).map_or(vec![], |own| mlir::entries(*own)))).collect()
    };
    let own = op.attributes().map(|(name, value)| format!("{} = {value}", name.as_string_ref().as_str().unwrap_or("")));
    let attributes =
        [of_each(&of_arguments, arguments.len()), of_each(&of_results, results.len()), vec![of_llvm(own.collect())]];
    let (slots, names) = (Rc::new(reader.types), reader.names);
    Some(Function { arguments, results, slots, body, public, padding, names, attributes })
}

/// The state while a function is read.
#[derive(Default)]
struct Reader {
    slots: FxHashMap<usize, Slot>,
    types: Vec<Type>,
    /// The types that were read, and the flags of attributes, by their addresses: to print them takes longer than all the rest.
    known_types: FxHashMap<usize, Type>,
    known_flags: FxHashMap<usize, u32>,
    names: BTreeSet<String>,
}

impl Reader {
    fn slot(&mut self, value: Value) -> Slot {
        let known = self.types.len() as Slot;
        let slot = *self.slots.entry(mlir::key(value)).or_insert(known);
        if slot == known {
            let r#type = self.read_type(value.r#type());
            self.types.push(r#type);
        }
        slot
    }

    fn read_type(&mut self, from: MlirType) -> Type {
        self.known_types.entry(from.to_raw().ptr as usize).or_insert_with(|| mlir::r#type(from)).clone()
    }

    fn type_of(&self, slot: Slot) -> &Type {
        &self.types[slot as usize]
    }

    fn region(&mut self, op: Op, number: usize) -> Region {
        let blocks = mlir::blocks(op, number);
        let numbers = blocks.iter().enumerate().map(|(number, block)| (block.to_raw().ptr as usize, number));
        let numbers: FxHashMap<usize, usize> = numbers.collect();
        let blocks = blocks.into_iter().map(|block| {
            let arguments = (0..block.argument_count()).filter_map(|k| block.argument(k).ok());
            let arguments = arguments.map(|argument| self.slot(argument.into())).collect();
            let mut operations = mlir::operations(block);
            // What ends a block otherwise is an operation that is not known.
            let last = operations.pop_if(|op| mlir::ends_block(&mlir::name(*op)));
            let steps = operations.into_iter().flat_map(|op| self.steps(op)).collect();
            let end = last.map_or(End::Yield { values: vec![], inserts: vec![] }, |op| self.end(op, &numbers));
            Block { arguments, steps, end }
        });
        Region { blocks: blocks.collect() }
    }

    fn operands(&mut self, op: Op) -> Vec<Slot> {
        op.operands().map(|operand| self.slot(operand)).collect()
    }

    /// The operands in the segments that the operation's attribute gives.
    fn segments(&mut self, op: Op) -> Option<Vec<Vec<Slot>>> {
        let mut operands = self.operands(op).into_iter();
        let sizes = integers(op, "operandSegmentSizes")?;
        Some(sizes.into_iter().map(|n| operands.by_ref().take(n.max(0) as usize).collect()).collect())
    }

    fn end(&mut self, op: Op, numbers: &FxHashMap<usize, usize>) -> End {
        let operands = self.operands(op);
        let targets: Vec<usize> =
            op.successors().filter_map(|block| numbers.get(&(block.to_raw().ptr as usize)).copied()).collect();
        match (&*mlir::name(op), &targets[..]) {
            ("cf.br", [target]) => End::Branch { condition: None, targets: vec![(*target, operands)] },
            ("cf.cond_br", [yes, no]) => {
                let sizes = integers(op, "operandSegmentSizes").unwrap_or_default();
                let first = sizes.get(1).map_or(0, |n| *n as usize).min(operands.len() - 1);
                let (left, right) = operands[1..].split_at(first);
                let targets = vec![(*yes, left.to_vec()), (*no, right.to_vec())];
                End::Branch { condition: Some(operands[0]), targets }
            }
            ("scf.forall.in_parallel", _) => {
                let inserts = mlir::blocks(op, 0).into_iter().flat_map(mlir::operations);
                End::Yield { values: vec![], inserts: inserts.flat_map(|op| self.steps(op)).collect() }
            }
            _ => End::Yield { values: operands, inserts: vec![] },
        }
    }

    fn steps(&mut self, op: Op) -> Vec<Step> {
        let name = mlir::name(op);
        let results: Vec<Slot> = op.results().map(|result| self.slot(result.into())).collect();
        let location = op.location().to_raw().ptr as usize;
        let origins = op.attribute(ORIGINS).ok().and_then(mlir::listed).unwrap_or_default();
        if let Some(each) = lanes::of_each_result(&name, &self.types, &results, || self.slots_of(op)) {
            let step = |(result, action)| Step {
                name: name.clone(),
                location,
                results: vec![result],
                action,
                origins: origins.clone(),
            };
            return results.iter().copied().zip(each).map(step).collect();
        }
        let action = self.action(op, &name, &results).unwrap_or(Action::Unknown);
        if action == Action::Unknown {
            mlir::add_named(op, &mut self.names);
        }
        vec![Step { name, location, results, action, origins }]
    }

    fn slots_of(&self, op: Op) -> Vec<Slot> {
        op.operands().filter_map(|operand| self.slots.get(&mlir::key(operand)).copied()).collect()
    }

    fn action(&mut self, op: Op, name: &str, results: &[Slot]) -> Option<Action> {
        let operands = self.operands(op);
        let (dialect, short) = name.split_once('.')?;
        let segments = self.segments(op);
        let first = operands.first().copied();
        let region = |reader: &mut Reader| reader.region(op, 0);
        Some(match (dialect, short) {
            ("arith" | "func", "constant") => {
                let (Type::Scalar(element) | Type::Shaped { element, .. }) = self.type_of(*results.first()?) else {
                    return None;
                };
                Action::Constant(mlir::items(attribute(op, "value")?, element)?)
            }
            ("arith", "bitcast") | ("vector", "bitcast") => Action::Bitcast(first?),
            ("arith" | "math" | "complex", _) => match self.complex_constant(op, name, results) {
                Some(bits) => Action::Constant(vec![bits]),
                None => Action::Compute { operator: self.operator(op, name, results)?, operands },
            },
            ("vector", "fma") => Action::Compute { operator: self.operator(op, "math.fma", results)?, operands },
            ("affine", "apply" | "min" | "max") => {
                Action::Index(Bound { exprs: mlir::map(attribute(op, "map")?)?, operands, greatest: short == "max" })
            }
            ("affine", "load" | "vector_load") | ("memref" | "vector", "load") => {
                let (operands, map) = (operands[1..].to_vec(), self.subscripts(op, first?)?);
                Action::Access(self.access(first?, None, map, operands, results[0])?)
            }
            ("affine", "store" | "vector_store") | ("memref" | "vector", "store") => {
                let (buffer, rest) = (operands[1], operands[2..].to_vec());
                let map = self.subscripts(op, buffer)?;
                Action::Access(self.access(buffer, first, map, rest, first?)?)
            }
            ("vector", "maskedload" | "maskedstore") => {
                let (indices, last) = operands[1..].split_at(operands.len() - 3);
                let load = short == "maskedload";
                let vector = if load { results[0] } else { last[1] };
                let map = self.subscripts(op, first?)?;
                let access = self.access(first?, (!load).then_some(vector), map, indices.to_vec(), vector)?;
                Action::Access(Access { mask: Some(last[0]), other: load.then_some(last[1]), ..access })
            }
            ("vector", "transfer_read") => {
                let [source, indices, padding, mask] = &segments?[..] else { return None };
                self.transfer(op, source[0], None, indices, mask, padding.first().copied(), results[0])?
            }
            ("vector", "transfer_write") => {
                let [value, source, indices, mask] = &segments?[..] else { return None };
                if !results.is_empty() {
                    return None;
                }
                self.transfer(op, source[0], value.first().copied(), indices, mask, None, value[0])?
            }
            ("memref", "atomic_rmw") => {
                let map = self.subscripts(op, operands[1])?;
                let access = self.access(operands[1], first, map, operands[2..].to_vec(), first?)?;
                Action::Access(Access { atomic: Some(self.operator(op, name, results)?), ..access })
            }
            ("tensor", "extract") => Action::Extract { source: first?, at: slots(&operands[1..]) },
            ("tensor", "insert") => Action::Insert { item: first?, into: operands[1], at: slots(&operands[2..]) },
            ("vector", "extract" | "insert") if integers(op, "static_position")?.contains(&DYNAMIC) => {
                let skip = if short == "insert" { 2 } else { 1 };
                let at = mixed(&integers(op, "static_position")?, &operands[skip..])?;
                let of_one = self.rank(operands[skip - 1]) == Some(at.len());
                match (of_one, short) {
                    (true, "insert") => Action::Insert { item: first?, into: operands[1], at },
                    (true, _) => Action::Extract { source: first?, at },
                    (false, _) => return None,
                }
            }
            ("cf", "assert") => {
                Action::Assert { condition: first?, message: attribute(op, "msg").and_then(mlir::text)? }
            }
            ("vector", "print") => Action::Print(prints::pieces(op, first.map(|slot| (slot, self.type_of(slot))))?),
            ("vector", _) | ("tensor", "from_elements" | "splat") => {
                let sources = lanes::sources(op, short, &self.types, &operands, *results.first()?)?;
                Action::Lanes { operands, sources }
            }
            ("tensor", "empty") | ("memref", "alloc" | "alloca") => Action::Empty(operands),
            ("memref", "dealloc") => Action::Free(first?),
            ("memref", "copy") => Action::Copy { from: first?, to: operands[1] },
            ("bufferization", "clone") => Action::Clone(first?),
            ("memref", "get_global") => Action::Global(attribute(op, "name").and_then(mlir::text)?),
            ("memref" | "tensor", "cast") | ("layout", "convert") | ("bufferization", "to_tensor" | "to_buffer") => {
                let memref = |slot| matches!(self.type_of(slot), Type::Shaped { kind: Kind::MemRef, .. });
                if (dialect == "layout" || dialect == "bufferization") && memref(first?) {
                    return None;
                }
                Action::Cast(first?)
            }
            ("memref" | "tensor", "dim") => Action::Dim { source: first?, dim: operands[1] },
            ("tensor", "extract_slice") | ("memref", "subview") => {
                let [_, offsets, sizes, strides] = &segments?[..] else { return None };
                self.slice(op, first?, None, [offsets, sizes, strides])?
            }
            ("tensor", "insert_slice" | "parallel_insert_slice") => {
                let [_, into, offsets, sizes, strides] = &segments?[..] else { return None };
                self.slice(op, into[0], first, [offsets, sizes, strides])?
            }
            ("tensor" | "memref", "collapse_shape" | "expand_shape") => {
                let groups = mlir::array(attribute(op, "reassociation")?)?.into_iter();
                let groups = groups.map(|group| {
                    Some(mlir::array(group)?.into_iter().filter_map(mlir::integer).map(|d| d as usize).collect())
                });
                let sizes = match integers(op, "static_output_shape") {
                    Some(sizes) => Some(mixed(&sizes, &operands[1..])?),
                    None => None,
                };
                Action::Reshape { source: first?, groups: groups.collect::<Option<_>>()?, sizes }
            }
            ("memref", "transpose") => {
                let map = mlir::map(attribute(op, "permutation")?)?;
                let dim = |e: Expr| if let Expr::Operand(d) = e { Some(d as usize) } else { None };
                Action::Transpose { source: first?, permutation: map.into_iter().map(dim).collect::<Option<_>>()? }
            }
            ("memref", "reinterpret_cast") => {
                let [_, offset, sizes, strides] = &segments?[..] else { return None };
                Action::Reinterpret {
                    source: first?,
                    offset: *mixed(&integers(op, "static_offsets")?, offset)?.first()?,
                    sizes: mixed(&integers(op, "static_sizes")?, sizes)?,
                    strides: mixed(&integers(op, "static_strides")?, strides)?,
                }
            }
            ("memref", "extract_strided_metadata") => Action::Metadata(first?),
            ("memref", "view") => {
                Action::Bytes(OnBytes::View { source: first?, shift: operands[1], sizes: operands[2..].to_vec() })
            }
            ("memref", "extract_aligned_pointer_as_index") => Action::Bytes(OnBytes::Address(first?)),
            ("memref", "dma_start") => {
                let is_memref = |slot| matches!(self.type_of(slot), Type::Shaped { .. });
                Action::Bytes(bytes::start(&operands, is_memref)?)
            }
            ("memref", "dma_wait") => {
                let (elements, tag) = operands.split_last()?;
                Action::Bytes(OnBytes::Wait { tag: tag.to_vec(), elements: *elements })
            }
            ("builtin", "unrealized_conversion_cast") if operands.len() == 1 => {
                let bits = |slot: Slot| match self.type_of(slot) {
                    Type::Shaped { kind: Kind::MemRef, element, .. } => Some(element.bits),
                    _ => None,
                };
                let is_recast = bits(first?).is_some() && bits(first?) == bits(*results.first()?);
                Action::Bytes(if is_recast { OnBytes::Recast(first?) } else { OnBytes::Bools(first?) })
            }
            ("layout", "await") => Action::Cast(first?),
            ("memref", "prefetch" | "assume_alignment") if results.is_empty() => Action::Nothing,
            ("affine", "prefetch") | ("linalg", "index") => Action::Nothing,
            ("tensor", "generate") => Action::Generate { source: None, sizes: operands, body: region(self) },
            ("tensor", "pad") => {
                let [_, low, high] = &segments?[..] else { return None };
                let low = mixed(&integers(op, "static_low")?, low)?;
                let high = mixed(&integers(op, "static_high")?, high)?;
                Action::Generate { source: Some((first?, low, high)), sizes: vec![], body: region(self) }
            }
            ("tensor", "concat") => Action::Concat {
                parts: operands,
                dim: usize::try_from(attribute(op, "dim").and_then(mlir::integer)?).ok()?,
            },
            ("linalg", _) => Action::Nest(self.nest(op, operands)?),
            // Bounds of unsigned numbers are not modelled.
            ("scf", "for") if attribute(op, "unsignedCmp").is_none() => {
                let [lower, upper, step] = operands[..3] else { return None };
                let [lower, upper] = [bound(Size::Slot(lower)), bound(Size::Slot(upper))];
                let carried = operands[3..].to_vec();
                Action::Loop { lower, upper, step: Size::Slot(step), carried, body: region(self) }
            }
            ("affine", "for") => {
                let [lower, upper, carried] = <[Vec<Slot>; 3]>::try_from(segments?).ok()?;
                let lower =
                    Bound { exprs: mlir::map(attribute(op, "lowerBoundMap")?)?, operands: lower, greatest: true };
                let upper =
                    Bound { exprs: mlir::map(attribute(op, "upperBoundMap")?)?, operands: upper, greatest: false };
                let step = Size::Static(attribute(op, "step").and_then(mlir::integer)?);
                Action::Loop { lower, upper, step, carried, body: region(self) }
            }
            ("scf", "forall") => {
                let [lower, upper, steps, outputs] = <[Vec<Slot>; 4]>::try_from(segments?).ok()?;
                let list = |name, slots: &[Slot]| mixed(&integers(op, name)?, slots);
                let lower = list("staticLowerBound", &lower)?.into_iter().map(bound).collect();
                let upper = list("staticUpperBound", &upper)?.into_iter().map(bound).collect();
                let steps = list("staticStep", &steps)?;
                Action::Parallel { lower, upper, steps, outputs, body: region(self) }
            }
            ("scf", "parallel") => {
                let [lower, upper, steps, carried] = <[Vec<Slot>; 4]>::try_from(segments?).ok()?;
                if !carried.is_empty() {
                    return None;
                }
                let each = |slots: Vec<Slot>| slots.into_iter().map(|slot| bound(Size::Slot(slot))).collect();
                Action::Parallel {
                    lower: each(lower),
                    upper: each(upper),
                    steps: slots(&steps),
                    outputs: vec![],
                    body: region(self),
                }
            }
            ("scf", "if") => Action::If { condition: Condition::Value(first?), regions: self.regions(op) },
            ("affine", "if") => {
                let constraints = mlir::set(attribute(op, "condition")?)?;
                Action::If { condition: Condition::Set { constraints, operands }, regions: self.regions(op) }
            }
            ("scf", "while") => Action::While { carried: operands, regions: self.regions(op) },
            ("scf", "index_switch") => {
                Action::Switch { on: first?, cases: integers(op, "cases")?, regions: self.regions(op) }
            }
            ("scf", "execute_region") => Action::Run(region(self)),
            ("func", "call") => {
                let callee = attribute(op, "callee").and_then(mlir::text)?;
                self.names.insert(callee.clone());
                Action::Call { callee, arguments: operands }
            }
            _ => return None,
        })
    }

    fn regions(&mut self, op: Op) -> Vec<Region> {
        let count = op.region_count();
        (0..count).filter(|k| !mlir::blocks(op, *k).is_empty()).map(|k| self.region(op, k)).collect()
    }

    fn rank(&self, slot: Slot) -> Option<usize> {
        if let Type::Shaped { sizes, .. } = self.type_of(slot) { Some(sizes.len()) } else { None }
    }

    /// The bits of a complex number of at most 64 bits, the real part first.
    fn complex_constant(&self, op: Op, name: &str, results: &[Slot]) -> Option<u64> {
        let ("complex.constant", Type::Scalar(element)) = (name, self.type_of(*results.first()?)) else { return None };
        let part = element.part().filter(|part| part.bits <= 32)?;
        let parts = mlir::array(attribute(op, "value")?)?.into_iter().map(|number| mlir::items(number, &part));
        let parts = parts.collect::<Option<Vec<_>>>()?.concat();
        Some(parts.first()? | parts.get(1)? << part.bits)
    }

    /// An elementwise operation, with the attributes that decide what it computes.
    fn operator(&mut self, op: Op, name: &str, results: &[Slot]) -> Option<Operator> {
        let element = |r#type: &Type| match r#type {
            Type::Scalar(element) | Type::Shaped { element, .. } => Some(element.clone()),
            Type::Other(_) => None,
        };
        let (mut attributes, mut all) = (String::new(), 0);
        for (name, value) in op.attributes() {
            let name = name.as_string_ref().as_str().unwrap_or_default();
            match name {
                _ if attribute(op, name).is_none() => (),
                "fastmath" | "overflowFlags" => {
                    all |= *self
                        .known_flags
                        .entry(value.to_raw().ptr as usize)
                        .or_insert_with(|| flags::said(&value.to_string()));
                }
                "isExact" | "nonNeg" => all |= flags::EXACT,
                _ => attributes += &format!("{name} = {value}; "),
            }
        }
        let to = element(self.type_of(*results.first()?))?;
        // What is combined with memory is of the type of its elements; behind it are the memory and the indices.
        let on = if name == "memref.atomic_rmw" { 1 } else { usize::MAX };
        let on = op.operands().take(on).map(|operand| element(&self.read_type(operand.r#type())));
        let on = on.collect::<Option<Vec<_>>>()?;
        let from = on.last().unwrap_or(&to).clone();
        for other in on.iter().filter(|other| **other != from) {
            attributes += &format!("on {}; ", other.text);
        }
        Some(Operator { name: name.to_owned(), attributes, flags: all, from, to })
    }

    /// The map of a load or store: its own, or one index for each dimension.
    fn subscripts(&self, op: Op, buffer: Slot) -> Option<Vec<Expr>> {
        match attribute(op, "map") {
            Some(map) => mlir::map(map),
            None => Some((0..self.rank(buffer)?).map(|d| Expr::Operand(d as u32)).collect()),
        }
    }

    /// A load or store, whose lanes lie along the last dimensions.
    fn access(
        &self,
        buffer: Slot,
        store: Option<Slot>,
        map: Vec<Expr>,
        operands: Vec<Slot>,
        value: Slot,
    ) -> Option<Access> {
        let rank = self.rank(buffer)?;
        let lanes = match self.type_of(value) {
            Type::Shaped { kind: Kind::Vector, sizes, .. } => {
                let first = rank.checked_sub(sizes.len())?;
                let lane =
                    |(k, n): (usize, &Option<i64>)| Some(Lane { size: (*n)?, dim: Some(first + k), in_bounds: true });
                sizes.iter().enumerate().map(lane).collect::<Option<_>>()?
            }
            _ => vec![],
        };
        Some(Access { buffer, store, map, operands, lanes, mask: None, other: None, atomic: None })
    }

    #[allow(clippy::too_many_arguments, reason = "the parts of a transfer")]
    fn transfer(
        &self,
        op: Op,
        buffer: Slot,
        store: Option<Slot>,
        indices: &[Slot],
        mask: &[Slot],
        other: Option<Slot>,
        vector: Slot,
    ) -> Option<Action> {
        let Type::Shaped { sizes, .. } = self.type_of(vector) else { return None };
        let (map, bounds) = (mlir::map(attribute(op, "permutation_map")?)?, integers(op, "in_bounds")?);
        let identity = (0..indices.len()).map(|d| Expr::Operand(d as u32)).collect();
        let lane = |(k, size): (usize, &Option<i64>)| {
            let dim = if let Expr::Operand(d) = map.get(k)? { Some(*d as usize) } else { None };
            Some(Lane { size: (*size)?, dim, in_bounds: *bounds.get(k)? != 0 })
        };
        let lanes = sizes.iter().enumerate().map(lane).collect::<Option<_>>()?;
        let (operands, mask) = (indices.to_vec(), mask.first().copied());
        Some(Action::Access(Access { buffer, store, map: identity, operands, lanes, mask, other, atomic: None }))
    }

    fn slice(&self, op: Op, source: Slot, insert: Option<Slot>, dynamic: [&Vec<Slot>; 3]) -> Option<Action> {
        let list = |name, slots| mixed(&integers(op, name)?, slots);
        let [offsets, sizes, strides] = dynamic;
        Some(Action::Slice {
            source,
            insert,
            offsets: list("static_offsets", offsets)?,
            sizes: list("static_sizes", sizes)?,
            strides: list("static_strides", strides)?,
        })
    }

    fn nest(&mut self, op: Op, operands: Vec<Slot>) -> Option<Nest> {
        let maps = mlir::indexing_maps(op)?;
        let dims = mlir::map_dims(op)?;
        let outputs = self.nest_outputs(op, operands.len())?;
        let body = self.region(op, 0);
        let indices = mlir::blocks(op, 0).into_iter().flat_map(mlir::operations);
        let indices = indices.filter(|op| mlir::name(*op) == "linalg.index").filter_map(|op| {
            let dim = attribute(op, "dim").and_then(mlir::integer)?;
            Some((self.slot(op.result(0).ok()?.into()), usize::try_from(dim).ok()?))
        });
        let indices = indices.collect();
        let (inputs, outputs) = (operands[..outputs].to_vec(), operands[outputs..].to_vec());
        (body.blocks.len() == 1 && maps.len() == operands.len()).then_some(Nest {
            dims,
            maps,
            inputs,
            outputs,
            body,
            indices,
        })
    }

    /// The number of the first operand that is an output: as many as there are values at the end of the body.
    fn nest_outputs(&self, op: Op, operands: usize) -> Option<usize> {
        let block = mlir::blocks(op, 0).pop()?;
        operands.checked_sub(mlir::operations(block).pop()?.operand_count())
    }
}

fn slots(all: &[Slot]) -> Vec<Size> {
    all.iter().map(|slot| Size::Slot(*slot)).collect()
}

fn bound(size: Size) -> Bound {
    let (exprs, operands) = match size {
        Size::Static(n) => (vec![Expr::Constant(n)], vec![]),
        Size::Slot(slot) => (vec![Expr::Operand(0)], vec![slot]),
    };
    Bound { exprs, operands, greatest: false }
}
