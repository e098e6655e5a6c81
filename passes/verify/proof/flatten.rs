//! A function as statements: tensors are buffers, operations of linalg are loops.

use crate::proof::equations;
use crate::proof::layout::{AddressMap, of_text, row_major};
use crate::proof::statements::{BlockId, Body, BufferId, Contents, FunctionResult, Maker, Statement, Statements};
use crate::proof::subscript::{Subscript, ValueId};
use crate::proof::table::Table;
use crate::proof::view::{MemoryView, UNKNOWN_SIZE};
use crate::reader::bytes::OnBytes;
use crate::reader::layouts;
use crate::reader::model::{self, Action, End, Function, Kind, Place, Region, Size, Slot, Step, Type};
use crate::reader::uses;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// Why a function is not statements.
pub type Flat<T> = Result<T, String>;

#[derive(Clone, Debug)]
pub enum Known {
    Value(ValueId),
    View(MemoryView),
}

/// The statements of a function.
///
/// # Errors
/// An operation that has none, and why.
pub fn program(module: &model::Program, function: &Function, (allowed, most): (u32, usize)) -> Flat<Statements> {
    let body = function.body.as_ref().ok_or("it is a declaration")?;
    let program = Statements { blocks: vec![Body::default()], ..Statements::default() };
    let mut flatten = Flatten {
        module,
        function,
        program,
        block: 0,
        known: BTreeMap::new(),
        mask: None,
        on_stack: vec![],
        constants: vec![],
        heap: vec![],
        homes: vec![],
        ended: BTreeSet::new(),
        writes_constant: false,
        allowed,
        calls: 0,
        most,
        carries_memory: false,
        recast: uses::recast_buffers(body),
        overwriting: BTreeSet::new(),
    };
    let [block] = &body.blocks[..] else { return Err("branches between blocks".to_owned()) };
    let mut arguments = Vec::new();
    for (k, slot) in block.arguments.iter().enumerate() {
        let name = format!("argument {k}");
        let known = match flatten.type_of(*slot) {
            Type::Shaped { kind: Kind::Tensor | Kind::MemRef, .. } => {
                let view = flatten.fresh(*slot, Some(Contents::Named(name)), true)?;
                arguments.push((k, view.clone()));
                Known::View(view)
            }
            Type::Other(text) => return Err(format!("an argument of type {text}")),
            _ => Known::Value(flatten.make(Maker::Argument(name))),
        };
        flatten.has_type(*slot, &known);
        flatten.known.insert(*slot, known);
    }
    let yields = flatten.steps(&block.steps, &block.end)?;
    let mut results = Vec::new();
    for slot in yields {
        results.push(match flatten.known(slot)? {
            Known::Value(value) => match flatten.type_of(slot) {
                Type::Other(text) => FunctionResult::Unknown(format!("a result of type {text}")),
                Type::Scalar(element) => FunctionResult::Value { value, lanes: 1, of: element.text.clone() },
                Type::Shaped { element, .. } => {
                    let lanes = flatten.sizes(slot)?.into_iter().try_fold(1i64, i64::checked_mul);
                    let lanes = lanes.filter(|lanes| *lanes > 0).ok_or("a vector without lanes")?;
                    FunctionResult::Value {
                        value,
                        lanes,
                        of: format!("{:?} of {}", flatten.sizes(slot)?, element.text),
                    }
                }
            },
            Known::View(view) => flatten.outcome(slot, view),
        });
    }
    flatten.program.arguments = arguments.len();
    for (k, view) in arguments {
        results.push(flatten.outcome(block.arguments[k], view));
    }
    if flatten.writes_constant {
        return Err("a store to a constant".to_owned());
    }
    flatten.program.results = results;
    Ok(flatten.program)
}

/// The elements of a constant.
pub fn contents(items: &[u64], of: &str) -> Contents {
    match items {
        [item, rest @ ..] if rest.iter().all(|other| other == item) => {
            Contents::Splat(equations::constant_text(of, *item))
        }
        items => Contents::Table(Rc::new(Table::new(items, of))),
    }
}

/// A function whose statements are being written.
pub struct Flatten<'f> {
    pub(super) module: &'f model::Program,
    pub(super) function: &'f Function,
    pub(super) program: Statements,
    pub(super) block: BlockId,
    pub(super) known: BTreeMap<Slot, Known>,
    /// Buffers of the stack, those of constants, and those that may be freed.
    pub(super) on_stack: Vec<BufferId>,
    pub(super) constants: Vec<BufferId>,
    pub(super) heap: Vec<BufferId>,
    /// The block that each buffer is of.
    pub(super) homes: Vec<BlockId>,
    /// Buffers that are freed.
    pub(super) ended: BTreeSet<BufferId>,
    pub(super) writes_constant: bool,
    /// Flags of fast math that hold for all operations.
    pub(super) allowed: u32,
    /// How deep the function at hand is in calls.
    pub(super) calls: usize,
    /// How many values there may be where another function is called.
    pub(super) most: usize,
    /// When the statements at hand run.
    pub(super) mask: Option<ValueId>,
    /// Whether a loop around the statements at hand, whose end data decide, carries memory.
    pub(super) carries_memory: bool,
    /// Buffers whose bytes are seen under several layouts: each element has the address that the layout gives it.
    pub(super) recast: BTreeSet<Slot>,
    /// Tensors in the buffers of those that they are made of.
    pub(super) overwriting: BTreeSet<Slot>,
}

impl Flatten<'_> {
    pub(super) fn type_of(&self, slot: Slot) -> &Type {
        &self.function.slots[slot as usize]
    }

    pub(super) fn known(&self, slot: Slot) -> Flat<Known> {
        self.known.get(&slot).cloned().ok_or_else(|| "a value of an operation that is not modelled".to_owned())
    }

    pub(super) fn value_of(&self, slot: Slot) -> Flat<ValueId> {
        match self.known(slot)? {
            Known::Value(value) => Ok(value),
            Known::View(_) => Err("memory in the place of a value".to_owned()),
        }
    }

    pub(super) fn view_of(&self, slot: Slot) -> Flat<MemoryView> {
        match self.known(slot)? {
            Known::View(view) if self.ended.contains(&view.buffer) => {
                Err("a buffer that is used after it is freed".to_owned())
            }
            Known::View(view) => Ok(view),
            Known::Value(_) => Err("a value in the place of memory".to_owned()),
        }
    }

    /// The induction variable of a loop, as the integer that it is there.
    pub(super) fn induction(&mut self, body: &Region, index: ValueId) -> ValueId {
        let slot = body.blocks.first().and_then(|block| block.arguments.first());
        let element = slot.and_then(|slot| match self.type_of(*slot) {
            Type::Scalar(element) if element.text != "index" => Some(element.clone()),
            _ => None,
        });
        let Some(element) = element else { return index };
        let operation = equations::operation("arith.index_cast", ("index", 64), (&element.text, element.bits));
        self.make(Maker::Elements { operation, operands: vec![index] })
    }

    /// The buffer of a memref, its offset, sizes and strides. Only the type says the stride of one element.
    fn metadata(&mut self, source: Slot) -> Flat<Vec<Known>> {
        let (view, sizes) = (self.view_of(source)?, self.sizes(source)?);
        let stated = layouts::stated(self.type_of(source), &sizes);
        let (AddressMap::Strided(offset, strides), Some((_, stated))) = (&view.layout, stated) else {
            return Err("a layout without strides".to_owned());
        };
        let stride = |d: usize| stated[d].or_else(|| (sizes[d] != 1).then_some(strides[d]));
        let strides: Option<Vec<i64>> = (0..sizes.len()).map(stride).collect();
        let strides = strides.ok_or("the stride of a dimension of one element")?;
        let numbers = sizes.iter().chain(&strides).map(|n| Subscript::Constant(*n));
        let numbers: Vec<Subscript> = [offset.clone()].into_iter().chain(numbers).collect();
        let numbers = numbers.into_iter().map(|n| Known::Value(self.make(Maker::Subscript(n)))).collect();
        let layout = AddressMap::Strided(Subscript::Constant(0), vec![]);
        Ok([vec![Known::View(MemoryView { sizes: vec![], layout, ..view })], numbers].concat())
    }

    /// A value, or memory that is not freed.
    pub(super) fn operand(&self, slot: Slot) -> Flat<Known> {
        match self.known(slot)? {
            Known::View(_) => self.view_of(slot).map(Known::View),
            value => Ok(value),
        }
    }

    pub(super) fn make(&mut self, maker: Maker) -> ValueId {
        let maker = match maker {
            Maker::Subscript(s) => Maker::Subscript(self.simple(s)),
            Maker::AtLeastZero(s) => Maker::AtLeastZero(self.simple(s)),
            Maker::Extreme(all, greatest) => {
                Maker::Extreme(all.into_iter().map(|s| self.simple(s)).collect(), greatest)
            }
            Maker::Load { buffer, address, stride, lanes, mask } => {
                Maker::Load { buffer, address: self.simple(address), stride, lanes, mask }
            }
            maker => maker,
        };
        let statements = &mut self.program.blocks[self.block].statements;
        let value = self.program.values.len();
        self.program.values.push((maker, (self.block, statements.len())));
        self.program.types.push(String::new());
        statements.push(Statement::Value(value));
        value
    }

    pub(super) fn sizes(&self, slot: Slot) -> Flat<Vec<i64>> {
        match self.type_of(slot) {
            Type::Shaped { sizes, .. } => {
                sizes.iter().copied().collect::<Option<_>>().ok_or_else(|| "sizes known only at run time".to_owned())
            }
            _ => Ok(vec![]),
        }
    }

    /// Where the elements of a value lie in memory of their own type.
    pub(super) fn of_layout(&self, slot: Slot, text: &str, sizes: &[i64]) -> Option<AddressMap> {
        let Type::Shaped { element, .. } = self.type_of(slot) else { return None };
        of_text(text, element.bits, sizes, &self.module.axes)
    }

    /// The layout of a type; of a buffer of this function alone, any layout will do for elements of a tiled one.
    pub(super) fn layout(&self, slot: Slot, outside: bool) -> Flat<AddressMap> {
        let sizes = self.sizes(slot)?;
        let place = match self.type_of(slot) {
            Type::Shaped { place, .. } => place,
            Type::Scalar(_) => &Place::RowMajor(None),
            Type::Other(_) => return Err("no memory".to_owned()),
        };
        let of_layout = |text: &str| {
            if outside || self.recast.contains(&slot) {
                self.of_layout(slot, text, &sizes).ok_or_else(|| format!("the layout {text}"))
            } else {
                row_major(&sizes).ok_or_else(|| "a size beyond 64 bits".to_owned())
            }
        };
        match place {
            Place::RowMajor(None) => row_major(&sizes).ok_or_else(|| "a size beyond 64 bits".to_owned()),
            Place::RowMajor(Some(text)) | Place::Layout(text) | Place::Strided { pending: Some(text), .. } => {
                of_layout(text)
            }
            Place::Strided { offset, strides, pending: None } => {
                let strides = strides.iter().copied().collect::<Option<_>>().zip(*offset);
                let (strides, offset) = strides.ok_or("strides known only at run time")?;
                Ok(AddressMap::Strided(Subscript::Constant(offset), strides))
            }
        }
    }

    /// A new buffer.
    pub(super) fn fresh(&mut self, slot: Slot, contents: Option<Contents>, outside: bool) -> Flat<MemoryView> {
        let view = MemoryView {
            buffer: self.program.buffers.len(),
            sizes: self.sizes(slot)?,
            layout: self.layout(slot, outside)?,
            as_bytes: false,
        };
        let size = view.layout.size(&view.sizes).ok_or("a size beyond 64 bits")?;
        if !outside {
            self.program.blocks[self.block].statements.push(Statement::Allocate(view.buffer));
        }
        self.program.buffers.push((size, contents));
        self.homes.push(self.block);
        let is_plain = row_major(&view.sizes).as_ref() == Some(&view.layout) && !view.sizes.contains(&0);
        let text = self.type_of(slot).layout().and_then(|text| self.of_layout(slot, text, &view.sizes));
        // Where elements have several places, none of them is that of all.
        let text = text.filter(|layout| layout.copies().is_empty());
        self.program.shapes.push(is_plain.then(|| (view.sizes.clone(), text)));
        Ok(view)
    }

    /// Begins a loop. Gives the block that it is in.
    pub(super) fn enter(&mut self, body: Body) -> BlockId {
        let block = self.program.blocks.len();
        let statements = &mut self.program.blocks[self.block].statements;
        let parent = Some((self.block, statements.len()));
        statements.push(Statement::Loop(block));
        self.program.blocks.push(Body { parent, ..body });
        std::mem::replace(&mut self.block, block)
    }

    /// Runs `body` in a new loop, and returns what it carries out.
    pub(super) fn looped(
        &mut self,
        lower: Subscript,
        uppers: Vec<Subscript>,
        step: i64,
        first: &[ValueId],
        parallel: bool,
        body: impl FnOnce(&mut Self, ValueId, &[ValueId]) -> Flat<Vec<ValueId>>,
    ) -> Flat<Vec<ValueId>> {
        let outer = self.enter(Body { lower: Some(lower), uppers, step, parallel, ..Body::default() });
        let block = self.block;
        let induction = self.make(Maker::Iteration(block));
        let carried: Vec<ValueId> = (0..first.len()).map(|k| self.make(Maker::Carried(block, k))).collect();
        let yields = body(self, induction, &carried)?;
        if yields.len() != first.len() {
            return Err("a loop that yields more or less than it carries".to_owned());
        }
        self.program.blocks[block].carried = first.iter().copied().zip(yields).collect();
        self.block = outer;
        Ok((0..first.len()).map(|k| self.make(Maker::Result(block, k))).collect())
    }

    /// Runs `body` for each index below the sizes.
    pub(super) fn each(
        &mut self,
        sizes: &[i64],
        index: &mut Vec<Subscript>,
        body: &mut dyn FnMut(&mut Self, &[Subscript]) -> Flat<()>,
    ) -> Flat<()> {
        let Some(size) = sizes.get(index.len()) else { return body(self, index) };
        if *size == UNKNOWN_SIZE {
            return Err("sizes known only at run time".to_owned());
        }
        self.looped(Subscript::Constant(0), vec![Subscript::Constant(*size)], 1, &[], false, |flatten, i, _| {
            index.push(Subscript::Value(i));
            flatten.each(sizes, index, body)?;
            index.pop();
            Ok(vec![])
        })?;
        Ok(())
    }

    pub(super) fn steps(&mut self, steps: &[Step], end: &End) -> Flat<Vec<Slot>> {
        for step in steps {
            // A call of a call is said once.
            let inside = |why: String| if why.starts_with(&step.name) { why } else { format!("{}: {why}", step.name) };
            let results = self.step(step).map_err(inside)?;
            for (slot, known) in step.results.iter().zip(&results) {
                self.has_type(*slot, known);
            }
            self.known.extend(step.results.iter().copied().zip(results));
        }
        match end {
            End::Yield { values, inserts } if inserts.is_empty() => Ok(values.clone()),
            _ => Err("branches, or insertions of scf.forall".to_owned()),
        }
    }

    /// Notes the type of a value's elements.
    fn has_type(&mut self, slot: Slot, known: &Known) {
        if let (Known::Value(value), Type::Scalar(element) | Type::Shaped { element, .. }) = (known, self.type_of(slot))
        {
            self.program.types[*value] = element.text.clone();
        }
    }

    pub(super) fn region(&mut self, region: &Region, arguments: &[Known]) -> Flat<Vec<Known>> {
        let [block] = &region.blocks[..] else { return Err("branches between blocks".to_owned()) };
        for (slot, known) in block.arguments.iter().zip(arguments) {
            self.has_type(*slot, known);
            self.known.insert(*slot, known.clone());
        }
        let yields = self.steps(&block.steps, &block.end)?;
        yields.into_iter().map(|slot| self.known(slot)).collect()
    }

    pub(super) fn step(&mut self, step: &Step) -> Flat<Vec<Known>> {
        let one = |value: ValueId| Ok(vec![Known::Value(value)]);
        let result = || step.results.first().copied().ok_or_else(|| "no result".to_owned());
        match &step.action {
            Action::Nothing => Ok(vec![]),
            Action::Free(slot) => {
                if self.mask.is_some() {
                    return Err("a buffer that is freed under a condition".to_owned());
                }
                let view = self.view_of(*slot)?;
                if !self.heap.contains(&view.buffer) || self.homes[view.buffer] != self.block {
                    return Err("memory that is freed where it was not allocated".to_owned());
                }
                self.ended.insert(view.buffer);
                Ok(vec![])
            }
            Action::Index(bound) => {
                let mut all = self.bound(bound)?;
                match all.len() {
                    1 => one(self.make(Maker::Subscript(all.remove(0)))),
                    _ => one(self.make(Maker::Extreme(all, bound.greatest))),
                }
            }
            Action::Constant(items) => self.constant(result()?, items),
            Action::Compute { operator, operands } => self.compute(result()?, operator, operands),
            Action::Lanes { operands, sources }
                if matches!(self.type_of(result()?), Type::Shaped { kind: Kind::Tensor, .. }) =>
            {
                let view = self.fresh(result()?, None, false)?;
                let [(_, 0)] = sources[..] else { return Err("a tensor of several elements".to_owned()) };
                let value = self.value_of(operands[0])?;
                self.each(&view.sizes.clone(), &mut vec![], &mut |flatten, index| {
                    flatten.store(&view, index, value);
                    Ok(())
                })?;
                Ok(vec![Known::View(view)])
            }
            Action::Lanes { operands, sources } => {
                let sources =
                    sources.iter().map(|(k, lane)| Ok((self.value_of(operands[*k as usize])?, i64::from(*lane))));
                let sources = sources.collect::<Flat<_>>()?;
                one(self.make(Maker::Lanes(sources)))
            }
            Action::Bitcast(source) => {
                let lanes = |flatten: &Self, slot| match flatten.type_of(slot) {
                    Type::Scalar(_) => Some(vec![]),
                    Type::Shaped { kind: Kind::Vector, sizes, .. } => Some(sizes.clone()),
                    _ => None,
                };
                let (from, to) = (lanes(self, *source), lanes(self, result()?));
                let (Type::Scalar(element) | Type::Shaped { element, .. }) = self.type_of(result()?).clone() else {
                    return Err("no elements".to_owned());
                };
                if from.is_none() || from != to {
                    return Err("lanes of other widths".to_owned());
                }
                let source = self.value_of(*source)?;
                one(self.make(Maker::Bits(source, element.text)))
            }
            Action::Extract { source, at } => {
                let at = at.iter().map(|size| self.size(*size)).collect::<Flat<Vec<_>>>()?;
                match self.operand(*source)? {
                    Known::View(view) => one(self.load(&view, &at)),
                    Known::Value(value) if at.len() == 1 => {
                        let lanes = self.sizes(*source)?.first().copied().unwrap_or(0);
                        one(self.make(Maker::Extract(value, at[0].clone(), lanes)))
                    }
                    Known::Value(_) => Err("a vector of several dimensions".to_owned()),
                }
            }
            Action::Insert { item, into, at }
                if matches!(self.type_of(result()?), Type::Shaped { kind: Kind::Tensor, .. }) =>
            {
                let at = at.iter().map(|size| self.size(*size)).collect::<Flat<Vec<_>>>()?;
                let (value, view) = (self.value_of(*item)?, self.view_of(*into)?);
                let to = self.made_of(result()?, &view)?;
                self.store(&to, &at, value);
                Ok(vec![Known::View(to)])
            }
            Action::Empty(dynamic) if dynamic.is_empty() => {
                let view = self.fresh(result()?, None, false)?;
                match &*step.name {
                    "memref.alloca" => self.on_stack.push(view.buffer),
                    _ => self.heap.push(view.buffer),
                }
                Ok(vec![Known::View(view)])
            }
            Action::Global(name) => {
                let global = self.module.globals.get(name).ok_or("a global that is not there")?;
                // Another operation may give the same memory.
                if !global.constant {
                    return Err("a global that may be written".to_owned());
                }
                let (Some(items), Type::Shaped { element, .. }) = (&global.items, &global.r#type) else {
                    return Err("a global whose elements are not known".to_owned());
                };
                let view = self.fresh(result()?, Some(contents(items, &element.text)), false)?;
                // Its elements are in the order of their indices.
                if Some(&view.layout) != row_major(&view.sizes).as_ref() {
                    return Err("a global in a layout".to_owned());
                }
                self.constants.push(view.buffer);
                Ok(vec![Known::View(view)])
            }
            Action::Copy { from, to } => {
                let (from, to) = (self.view_of(*from)?, self.view_of(*to)?);
                if from.buffer == to.buffer {
                    return Err("a copy inside of a buffer".to_owned());
                }
                self.copy(&from, &to, &|index| index.to_vec())?;
                Ok(vec![])
            }
            Action::Clone(from) => {
                let (from, to) = (self.view_of(*from)?, self.fresh(result()?, None, false)?);
                self.heap.push(to.buffer);
                self.copy(&from, &to, &|index| index.to_vec())?;
                Ok(vec![Known::View(to)])
            }
            Action::Cast(source) => {
                let kind = |flatten: &Self, slot| match flatten.type_of(slot) {
                    Type::Shaped { kind, .. } => Some(*kind),
                    _ => None,
                };
                if kind(self, *source) != kind(self, result()?) {
                    return Err("a tensor that becomes memory".to_owned());
                }
                let known = self.known(*source)?;
                match (&known, kind(self, *source)) {
                    (Known::View(view), Some(Kind::MemRef)) if !view.is_of(self.type_of(result()?)) => {
                        Err("a cast to a type that the value may not have".to_owned())
                    }
                    _ => Ok(vec![known]),
                }
            }
            Action::Slice { source, insert, offsets, sizes, strides } => {
                self.slice(result()?, *source, *insert, [offsets, sizes, strides])
            }
            Action::Reshape { source, .. } => self.reshape(result()?, *source),
            Action::Transpose { source, permutation } => {
                let view = self.view_of(*source)?;
                let along = |d: usize| permutation.iter().position(|k| *k == d);
                let dims = (0..permutation.len()).map(|d| (Subscript::Constant(0), 1, along(d))).collect();
                let sizes = permutation.iter().map(|d| view.sizes[*d]).collect();
                Ok(vec![Known::View(MemoryView { sizes, layout: view.layout.part(dims), ..view })])
            }
            Action::Metadata(source) => self.metadata(*source),
            Action::Reinterpret { source, offset, sizes, strides } => {
                let view = self.view_of(*source)?;
                let number = |size: &Size| {
                    if let Size::Static(n) = size { Ok(*n) } else { Err("strides known only at run time".to_owned()) }
                };
                let strides = strides.iter().map(number).collect::<Flat<_>>()?;
                let sizes = sizes.iter().map(|size| number(size).unwrap_or(UNKNOWN_SIZE)).collect();
                let layout = AddressMap::Strided(self.size(*offset)?, strides);
                Ok(vec![Known::View(MemoryView { sizes, layout, ..view })])
            }
            Action::Dim { source, dim } => match (self.index(*dim)?, self.sizes(*source)?) {
                (Subscript::Constant(d), sizes) if (d as usize) < sizes.len() => {
                    one(self.make(Maker::Subscript(Subscript::Constant(sizes[d as usize]))))
                }
                _ => Err("a dimension known only at run time".to_owned()),
            },
            Action::Bytes(OnBytes::Bools(source)) => {
                let view = self.view_of(*source)?;
                let of = |slot: Slot| match self.type_of(slot) {
                    Type::Shaped { kind: Kind::MemRef, element, .. } => element.bits,
                    _ => 0,
                };
                if view.as_bytes || of(*source) != 1 || of(result()?) != 8 {
                    return Err("memory as other elements".to_owned());
                }
                Ok(vec![Known::View(MemoryView { as_bytes: true, ..view })])
            }
            Action::Bytes(OnBytes::Recast(source)) => {
                let view = self.view_of(*source)?;
                let (sizes, layout) = (self.sizes(result()?)?, self.layout(result()?, true)?);
                let is_whole = view.sizes == self.sizes(*source)? && view.layout == self.layout(*source, true)?;
                let (buffer, _) = self.program.buffers[view.buffer];
                if view.as_bytes || !is_whole || layout.size(&sizes).is_none_or(|size| size > buffer) {
                    return Err("memory as other elements".to_owned());
                }
                Ok(vec![Known::View(MemoryView { sizes, layout, ..view })])
            }
            Action::Access(access) => self.access(step, access),
            Action::Generate { source, sizes, body } if sizes.is_empty() => {
                self.generate(result()?, source.as_ref(), body)
            }
            Action::Concat { parts, dim } => self.concat(result()?, parts, *dim),
            Action::Nest(nest) => self.nest(step, nest),
            Action::Loop { lower, upper, step: by, carried, body } => {
                let [lower] = &self.bound(lower)?[..] else { return Err("several lower bounds".to_owned()) };
                let uppers = self.bound(upper)?;
                if upper.greatest && uppers.len() > 1 {
                    return Err("the greatest of several bounds".to_owned());
                }
                let Subscript::Constant(by @ 1..) = self.size(*by)? else {
                    return Err("a step known only at run time".to_owned());
                };
                if carried.iter().any(|slot| self.is_memory(*slot)) {
                    let header = Body { lower: Some(lower.clone()), uppers, step: by, ..Body::default() };
                    return self.repeat(carried, header, None, body);
                }
                let tensors = self.carried_tensors(&step.results, carried, body)?;
                let scalars = carried.iter().zip(&tensors).filter(|(_, tensor)| tensor.is_none());
                let first = scalars.map(|(slot, _)| self.value_of(*slot)).collect::<Flat<Vec<_>>>()?;
                let buffers: Vec<MemoryView> = tensors.iter().flatten().cloned().collect();
                let with_tensors = |scalars: &[ValueId]| -> Vec<Known> {
                    let mut scalars = scalars.iter();
                    let value = |scalar: Option<&ValueId>| scalar.map(|value| Known::Value(*value));
                    let known = |tensor: &Option<MemoryView>| tensor.clone().map(Known::View);
                    tensors.iter().filter_map(|tensor| known(tensor).or_else(|| value(scalars.next()))).collect()
                };
                let out = self.looped(lower.clone(), uppers, by, &first, false, |flatten, induction, scalars| {
                    let induction = flatten.induction(body, induction);
                    let arguments = [vec![Known::Value(induction)], with_tensors(scalars)].concat();
                    let (mut values, mut views) = (vec![], vec![]);
                    for (known, slot) in flatten.region(body, &arguments)?.into_iter().zip(carried) {
                        match known {
                            Known::Value(value) => values.push(value),
                            Known::View(view) => views.push((view, *slot)),
                        }
                    }
                    if views.len() != buffers.len() {
                        return Err("a loop that carries memory".to_owned());
                    }
                    flatten.yield_tensors(&buffers, &views)?;
                    Ok(values)
                })?;
                Ok(with_tensors(&out))
            }
            Action::Parallel { lower, upper, steps, outputs, body } if outputs.is_empty() => {
                let bounds = lower
                    .iter()
                    .zip(upper)
                    .map(|(lower, upper)| Ok((self.bound(lower)?.remove(0), self.bound(upper)?)));
                let bounds = bounds.collect::<Flat<Vec<_>>>()?;
                let steps = steps.iter().map(|size| match self.size(*size)? {
                    Subscript::Constant(n @ 1..) => Ok(n),
                    _ => Err("a step known only at run time".to_owned()),
                });
                let steps = steps.collect::<Flat<Vec<_>>>()?;
                self.parallel(&bounds, &steps, body, &mut vec![])?;
                Ok(vec![])
            }
            Action::While { carried, regions } => {
                let [before, after] = &regions[..] else { return Err("no two regions".to_owned()) };
                self.repeat(carried, Body { exit: Some((0, 0)), ..Body::default() }, Some(before), after)
            }
            Action::If { condition, regions } => self.either(condition, regions),
            Action::Run(region) => self.region(region, &[]),
            Action::Call { callee, arguments } => self.call(callee, arguments),
            Action::Assert { condition, message } => self.assert(*condition, message),
            _ => Err("not modelled".to_owned()),
        }
    }
}
