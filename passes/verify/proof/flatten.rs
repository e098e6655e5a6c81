//! A function as statements: tensors are buffers, operations of linalg are loops.

use crate::model::{
    self, Access, Action, Bound, Condition, End, Expr, Function, Kind, Nest, Operator, Place, Region, Size, Slot, Step,
    Type,
};
use crate::proof::layout::{AddressMap, row_major, tiled};
use crate::proof::statements::{BlockId, Body, BufferId, Contents, FunctionResult, Maker, Statement, Statements};
use crate::proof::subscript::{Subscript, ValueId};
use std::collections::BTreeMap;

/// Why a function is not statements.
type Flat<T> = Result<T, String>;

/// A part of a buffer, or a tensor.
#[derive(Clone, Debug)]
pub struct MemoryView {
    buffer: BufferId,
    sizes: Vec<i64>,
    layout: AddressMap,
}

#[derive(Clone, Debug)]
enum Known {
    Value(ValueId),
    View(MemoryView),
}

/// The statements of a function.
///
/// # Errors
/// An operation that has none, and why.
pub fn program(module: &model::Program, function: &Function) -> Flat<Statements> {
    let body = function.body.as_ref().ok_or("it is a declaration")?;
    let program = Statements { blocks: vec![Body::default()], ..Statements::default() };
    let mut flatten = Flatten { module, function, program, block: 0, known: BTreeMap::new(), mask: None };
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
            _ => Known::Value(flatten.elements(&name, vec![])),
        };
        flatten.known.insert(*slot, known);
    }
    let yields = flatten.steps(&block.steps, &block.end)?;
    let mut results = Vec::new();
    for slot in yields {
        results.push(match flatten.known(slot)? {
            Known::Value(value) => FunctionResult::Value(value),
            Known::View(view) => flatten.outcome(slot, view),
        });
    }
    for (k, view) in arguments {
        results.push(flatten.outcome(block.arguments[k], view));
    }
    flatten.program.results = results;
    Ok(flatten.program)
}

/// The elements of a constant.
fn contents(items: &[u64], of: &str) -> Contents {
    match items {
        [item] => Contents::Splat(format!("{of} {item}")),
        items => Contents::Named(format!("{of} {items:?}")),
    }
}

struct Flatten<'f> {
    module: &'f model::Program,
    function: &'f Function,
    program: Statements,
    block: BlockId,
    known: BTreeMap<Slot, Known>,
    /// When the statements at hand run.
    mask: Option<ValueId>,
}

impl Flatten<'_> {
    fn type_of(&self, slot: Slot) -> &Type {
        &self.function.slots[slot as usize]
    }

    fn known(&self, slot: Slot) -> Flat<Known> {
        self.known.get(&slot).cloned().ok_or_else(|| "a value of an operation that is not modelled".to_owned())
    }

    fn value_of(&self, slot: Slot) -> Flat<ValueId> {
        match self.known(slot)? {
            Known::Value(value) => Ok(value),
            Known::View(_) => Err("memory in the place of a value".to_owned()),
        }
    }

    fn view_of(&self, slot: Slot) -> Flat<MemoryView> {
        match self.known(slot)? {
            Known::View(view) => Ok(view),
            Known::Value(_) => Err("a value in the place of memory".to_owned()),
        }
    }

    fn make(&mut self, maker: Maker) -> ValueId {
        let statements = &mut self.program.blocks[self.block].statements;
        let value = self.program.values.len();
        self.program.values.push((maker, (self.block, statements.len())));
        self.program.types.push(String::new());
        statements.push(Statement::Value(value));
        value
    }

    fn elements(&mut self, name: &str, operands: Vec<ValueId>) -> ValueId {
        self.make(Maker::Elements { name: name.to_owned(), operands })
    }

    fn sizes(&self, slot: Slot) -> Flat<Vec<i64>> {
        match self.type_of(slot) {
            Type::Shaped { sizes, .. } => {
                sizes.iter().copied().collect::<Option<_>>().ok_or_else(|| "sizes known only at run time".to_owned())
            }
            _ => Ok(vec![]),
        }
    }

    /// The layout of a type; of a buffer of this function alone, any layout will do for elements of a tiled one.
    fn layout(&self, slot: Slot, outside: bool) -> Flat<AddressMap> {
        let sizes = self.sizes(slot)?;
        let Type::Shaped { place, .. } = self.type_of(slot) else { return Err("no memory".to_owned()) };
        let of_text = |text: &str| {
            if outside {
                tiled(text, &sizes).ok_or_else(|| format!("the layout {text}"))
            } else {
                Ok(row_major(&sizes))
            }
        };
        match place {
            Place::RowMajor(None) => Ok(row_major(&sizes)),
            Place::RowMajor(Some(text)) | Place::Layout(text) | Place::Strided { pending: Some(text), .. } => {
                of_text(text)
            }
            Place::Strided { offset, strides, pending: None } => {
                let strides = strides.iter().copied().collect::<Option<_>>().zip(*offset);
                let (strides, offset) = strides.ok_or("strides known only at run time")?;
                Ok(AddressMap::Strided(Subscript::Constant(offset), strides))
            }
        }
    }

    /// A new buffer.
    fn fresh(&mut self, slot: Slot, contents: Option<Contents>, outside: bool) -> Flat<MemoryView> {
        let view = MemoryView {
            buffer: self.program.buffers.len(),
            sizes: self.sizes(slot)?,
            layout: self.layout(slot, outside)?,
        };
        let size = view.layout.size(&view.sizes).ok_or("a size beyond 64 bits")?;
        if !outside {
            self.program.blocks[self.block].statements.push(Statement::Allocate(view.buffer));
        }
        self.program.buffers.push((size, contents));
        Ok(view)
    }

    fn outcome(&self, slot: Slot, view: MemoryView) -> FunctionResult {
        let text = match self.type_of(slot) {
            Type::Shaped {
                place: Place::RowMajor(Some(text)) | Place::Layout(text) | Place::Strided { pending: Some(text), .. },
                ..
            } => Some(text),
            _ => None,
        };
        match text.map(|text| tiled(text, &view.sizes).ok_or_else(|| text.clone())) {
            None => FunctionResult::Elements { buffer: view.buffer, sizes: view.sizes, here: view.layout, there: None },
            Some(Ok(there)) => FunctionResult::Elements {
                buffer: view.buffer,
                sizes: view.sizes,
                here: view.layout,
                there: Some(there),
            },
            Some(Err(text)) => FunctionResult::Unknown(format!("the layout {text}")),
        }
    }

    fn index(&self, slot: Slot) -> Flat<Subscript> {
        let value = self.value_of(slot)?;
        Ok(match &self.program.values[value].0 {
            Maker::Subscript(s @ Subscript::Constant(_)) => s.clone(),
            _ => Subscript::Value(value),
        })
    }

    fn size(&self, size: Size) -> Flat<Subscript> {
        match size {
            Size::Static(n) => Ok(Subscript::Constant(n)),
            Size::Slot(slot) => self.index(slot),
        }
    }

    fn expr(&self, e: &Expr, operands: &[Subscript]) -> Flat<Subscript> {
        let number = |s: &Subscript| if let Subscript::Constant(n) = s { Some(*n) } else { None };
        let divided = |sides: &(Expr, Expr)| -> Flat<(Box<Subscript>, i64)> {
            let (a, b) = (self.expr(&sides.0, operands)?, self.expr(&sides.1, operands)?);
            let by = number(&b).filter(|n| *n > 0).ok_or("a division by what is no positive number")?;
            Ok((Box::new(a), by))
        };
        Ok(match e {
            Expr::Operand(k) => operands.get(*k as usize).cloned().ok_or("an operand that is missing")?,
            Expr::Constant(n) => Subscript::Constant(*n),
            Expr::Add(sides) => {
                let (a, b) = (self.expr(&sides.0, operands)?, self.expr(&sides.1, operands)?);
                match (number(&a), number(&b)) {
                    (Some(a), Some(b)) => Subscript::Constant(a.checked_add(b).ok_or("numbers beyond 64 bits")?),
                    _ => Subscript::Sum(vec![a, b]),
                }
            }
            Expr::Mul(sides) => {
                let (a, b) = (self.expr(&sides.0, operands)?, self.expr(&sides.1, operands)?);
                match (number(&a), number(&b)) {
                    (Some(a), Some(b)) => Subscript::Constant(a.checked_mul(b).ok_or("numbers beyond 64 bits")?),
                    (Some(n), None) => Subscript::Times(Box::new(b), n),
                    (None, Some(n)) => Subscript::Times(Box::new(a), n),
                    (None, None) => return Err("a product of two indices".to_owned()),
                }
            }
            Expr::Mod(sides) => {
                let (a, by) = divided(sides)?;
                Subscript::Remainder(a, by)
            }
            Expr::FloorDiv(sides) => {
                let (a, by) = divided(sides)?;
                Subscript::Quotient(a, by)
            }
            Expr::CeilDiv(sides) => {
                let (a, by) = divided(sides)?;
                Subscript::Times(Box::new(Subscript::Quotient(Box::new(Subscript::Times(a, -1)), by)), -1)
            }
        })
    }

    fn exprs(&self, exprs: &[Expr], operands: &[Slot]) -> Flat<Vec<Subscript>> {
        let operands = operands.iter().map(|slot| self.index(*slot)).collect::<Flat<Vec<_>>>()?;
        exprs.iter().map(|e| self.expr(e, &operands)).collect()
    }

    fn bound(&self, bound: &Bound) -> Flat<Vec<Subscript>> {
        self.exprs(&bound.exprs, &bound.operands)
    }

    /// Runs `body` in a new loop, and returns what it carries out.
    fn looped(
        &mut self,
        lower: Subscript,
        uppers: Vec<Subscript>,
        step: i64,
        first: &[ValueId],
        parallel: bool,
        body: impl FnOnce(&mut Self, ValueId, &[ValueId]) -> Flat<Vec<ValueId>>,
    ) -> Flat<Vec<ValueId>> {
        let block = self.program.blocks.len();
        let statements = &mut self.program.blocks[self.block].statements;
        let parent = Some((self.block, statements.len()));
        statements.push(Statement::Loop(block));
        self.program.blocks.push(Body { parent, lower: Some(lower), uppers, step, parallel, ..Body::default() });
        let outer = std::mem::replace(&mut self.block, block);
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
    fn each(
        &mut self,
        sizes: &[i64],
        index: &mut Vec<Subscript>,
        body: &mut dyn FnMut(&mut Self, &[Subscript]) -> Flat<()>,
    ) -> Flat<()> {
        let Some(size) = sizes.get(index.len()) else { return body(self, index) };
        self.looped(Subscript::Constant(0), vec![Subscript::Constant(*size)], 1, &[], false, |flatten, i, _| {
            index.push(Subscript::Value(i));
            flatten.each(sizes, index, body)?;
            index.pop();
            Ok(vec![])
        })?;
        Ok(())
    }

    fn load(&mut self, view: &MemoryView, index: &[Subscript]) -> ValueId {
        self.make(Maker::Load {
            buffer: view.buffer,
            address: view.layout.address(index),
            stride: 0,
            lanes: 1,
            mask: self.mask,
        })
    }

    fn store(&mut self, view: &MemoryView, index: &[Subscript], value: ValueId) {
        let (address, mask) = (view.layout.address(index), self.mask);
        let store = Statement::Store { buffer: view.buffer, address, stride: 0, lanes: 1, value, mask };
        self.program.blocks[self.block].statements.push(store);
    }

    /// Copies elements: that at an index of `to` is at the index `of` it in `from`.
    fn copy(&mut self, from: &MemoryView, to: &MemoryView, of: &dyn Fn(&[Subscript]) -> Vec<Subscript>) -> Flat<()> {
        self.each(&to.sizes, &mut vec![], &mut |flatten, index| {
            let value = flatten.load(from, &of(index));
            flatten.store(to, index, value);
            Ok(())
        })
    }

    fn steps(&mut self, steps: &[Step], end: &End) -> Flat<Vec<Slot>> {
        for step in steps {
            let results = self.step(step).map_err(|why| format!("{}: {why}", step.name))?;
            for (slot, known) in step.results.iter().zip(&results) {
                if let (Known::Value(value), Type::Scalar(element) | Type::Shaped { element, .. }) =
                    (known, self.type_of(*slot))
                {
                    self.program.types[*value] = element.text.clone();
                }
            }
            self.known.extend(step.results.iter().copied().zip(results));
        }
        match end {
            End::Yield { values, inserts } if inserts.is_empty() => Ok(values.clone()),
            _ => Err("branches, or insertions of scf.forall".to_owned()),
        }
    }

    fn region(&mut self, region: &Region, arguments: &[Known]) -> Flat<Vec<Known>> {
        let [block] = &region.blocks[..] else { return Err("branches between blocks".to_owned()) };
        self.known.extend(block.arguments.iter().copied().zip(arguments.iter().cloned()));
        let yields = self.steps(&block.steps, &block.end)?;
        yields.into_iter().map(|slot| self.known(slot)).collect()
    }

    fn step(&mut self, step: &Step) -> Flat<Vec<Known>> {
        let values = |values: Vec<ValueId>| Ok(values.into_iter().map(Known::Value).collect());
        let one = |value: ValueId| Ok(vec![Known::Value(value)]);
        let result = || step.results.first().copied().ok_or_else(|| "no result".to_owned());
        match &step.action {
            Action::Nothing => Ok(vec![]),
            Action::Free(slot) => {
                if self.mask.is_some() {
                    return Err("a buffer that is freed under a condition".to_owned());
                }
                let view = self.view_of(*slot)?;
                self.program.blocks[self.block].statements.push(Statement::Free(view.buffer));
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
                match self.known(*source)? {
                    Known::View(view) => one(self.load(&view, &at)),
                    Known::Value(value) if at.len() == 1 => one(self.make(Maker::Extract(value, at[0].clone()))),
                    Known::Value(_) => Err("a vector of several dimensions".to_owned()),
                }
            }
            Action::Empty(dynamic) if dynamic.is_empty() => {
                Ok(vec![Known::View(self.fresh(result()?, None, false)?)])
            }
            Action::Global(name) => {
                let global = self.module.globals.get(name).ok_or("a global that is not there")?;
                // Another operation may give the same memory.
                if !global.constant {
                    return Err("a global that may be written".to_owned());
                }
                let contents = match (&global.items, &global.r#type) {
                    (Some(items), Type::Shaped { element, .. }) => contents(items, &element.text),
                    _ => Contents::Named(format!("global {name}")),
                };
                Ok(vec![Known::View(self.fresh(result()?, Some(contents), false)?)])
            }
            Action::Copy { from, to } => {
                let (from, to) = (self.view_of(*from)?, self.view_of(*to)?);
                self.copy(&from, &to, &|index| index.to_vec())?;
                Ok(vec![])
            }
            Action::Clone(from) => {
                let (from, to) = (self.view_of(*from)?, self.fresh(result()?, None, false)?);
                self.copy(&from, &to, &|index| index.to_vec())?;
                Ok(vec![Known::View(to)])
            }
            Action::Cast(source) => {
                let kind = |flatten: &Self, slot| match flatten.type_of(slot) {
                    Type::Shaped { kind, .. } => Some(*kind),
                    _ => None,
                };
                match kind(self, *source) == kind(self, result()?) {
                    true => Ok(vec![self.known(*source)?]),
                    false => Err("a tensor that becomes memory".to_owned()),
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
                Ok(vec![Known::View(MemoryView { buffer: view.buffer, sizes, layout: view.layout.part(dims) })])
            }
            Action::Reinterpret { source, offset, sizes, strides } => {
                let view = self.view_of(*source)?;
                let number = |size: &Size| {
                    if let Size::Static(n) = size { Ok(*n) } else { Err("strides known only at run time".to_owned()) }
                };
                let strides = strides.iter().map(number).collect::<Flat<_>>()?;
                let sizes = sizes.iter().map(number).collect::<Flat<_>>()?;
                Ok(vec![Known::View(MemoryView {
                    buffer: view.buffer,
                    sizes,
                    layout: AddressMap::Strided(self.size(*offset)?, strides),
                })])
            }
            Action::Dim { source, dim } => match (self.index(*dim)?, self.sizes(*source)?) {
                (Subscript::Constant(d), sizes) if (d as usize) < sizes.len() => {
                    one(self.make(Maker::Subscript(Subscript::Constant(sizes[d as usize]))))
                }
                _ => Err("a dimension known only at run time".to_owned()),
            },
            Action::Access(access) => self.access(step, access),
            Action::Generate { source, sizes, body } if sizes.is_empty() => {
                self.generate(result()?, source.as_ref(), body)
            }
            Action::Nest(nest) => self.nest(step, nest),
            Action::Loop { lower, upper, step, carried, body } => {
                let [lower] = &self.bound(lower)?[..] else { return Err("several lower bounds".to_owned()) };
                let uppers = self.bound(upper)?;
                if upper.greatest && uppers.len() > 1 {
                    return Err("the greatest of several bounds".to_owned());
                }
                let Subscript::Constant(step @ 1..) = self.size(*step)? else {
                    return Err("a step known only at run time".to_owned());
                };
                let first = carried.iter().map(|slot| self.value_of(*slot)).collect::<Flat<Vec<_>>>()?;
                let lower = lower.clone();
                let out = self.looped(lower, uppers, step, &first, false, |flatten, induction, carried| {
                    let arguments: Vec<Known> =
                        [induction].iter().chain(carried).map(|value| Known::Value(*value)).collect();
                    flatten
                        .region(body, &arguments)?
                        .into_iter()
                        .map(|known| match known {
                            Known::Value(value) => Ok(value),
                            Known::View(_) => Err("a loop that carries memory".to_owned()),
                        })
                        .collect()
                })?;
                values(out)
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
            Action::If { condition, regions } => self.either(condition, regions),
            Action::Run(region) => self.region(region, &[]),
            _ => Err("not modelled".to_owned()),
        }
    }

    fn parallel(
        &mut self,
        bounds: &[(Subscript, Vec<Subscript>)],
        steps: &[i64],
        body: &Region,
        at: &mut Vec<Known>,
    ) -> Flat<()> {
        let Some((lower, uppers)) = bounds.get(at.len()) else { return self.region(body, at).map(|_| ()) };
        let step = steps[at.len()];
        self.looped(lower.clone(), uppers.clone(), step, &[], true, |flatten, induction, _| {
            at.push(Known::Value(induction));
            flatten.parallel(bounds, steps, body, at)?;
            at.pop();
            Ok(vec![])
        })?;
        Ok(())
    }

    fn either(&mut self, condition: &Condition, regions: &[Region]) -> Flat<Vec<Known>> {
        let when = match condition {
            Condition::Value(slot) => self.value_of(*slot)?,
            Condition::Set { constraints, operands } => {
                let mut when = None;
                for (e, equal) in constraints {
                    let e = self.exprs(std::slice::from_ref(e), operands)?.remove(0);
                    let mut all = vec![e.clone()];
                    all.extend(equal.then(|| Subscript::Times(Box::new(e), -1)));
                    for e in all {
                        let is = self.make(Maker::AtLeastZero(e));
                        when = Some(when.map_or(is, |when| self.make(Maker::And(when, is))));
                    }
                }
                when.ok_or("no condition")?
            }
        };
        let outer = self.mask;
        let mut yields = Vec::new();
        for (k, region) in regions.iter().enumerate() {
            let yes = outer.unwrap_or(when);
            self.mask = Some(match (k, outer) {
                (0, None) => when,
                (0, Some(_)) => self.make(Maker::And(yes, when)),
                (_, None) => {
                    let all = self.make(Maker::AtLeastZero(Subscript::Constant(0)));
                    self.make(Maker::AndNot(all, when))
                }
                (_, Some(_)) => self.make(Maker::AndNot(yes, when)),
            });
            yields.push(self.region(region, &[])?);
        }
        self.mask = outer;
        let Some(first) = yields.first().filter(|first| !first.is_empty()) else { return Ok(vec![]) };
        let pairs = first.iter().zip(yields.get(1).ok_or("a condition without a second region")?);
        pairs
            .map(|pair| match pair {
                (Known::Value(a), Known::Value(b)) => Ok(Known::Value(self.make(Maker::Select(when, *a, *b)))),
                _ => Err("a condition that yields memory".to_owned()),
            })
            .collect()
    }

    fn constant(&mut self, result: Slot, items: &[u64]) -> Flat<Vec<Known>> {
        let (Type::Scalar(element) | Type::Shaped { element, .. }) = self.type_of(result).clone() else {
            return Err("no elements".to_owned());
        };
        if let (Type::Scalar(_), "index", [item]) = (self.type_of(result), &*element.text, items) {
            return Ok(vec![Known::Value(self.make(Maker::Subscript(Subscript::Constant(*item as i64))))]);
        }
        let tensor = matches!(self.type_of(result), Type::Shaped { kind: Kind::Tensor, .. });
        if !tensor {
            let maker = Maker::Constant(items.to_vec(), element.text.clone(), element.text == "index");
            return Ok(vec![Known::Value(self.make(maker))]);
        }
        Ok(vec![Known::View(self.fresh(result, Some(contents(items, &element.text)), false)?)])
    }

    fn compute(&mut self, result: Slot, operator: &Operator, operands: &[Slot]) -> Flat<Vec<Known>> {
        if matches!(self.type_of(result), Type::Shaped { kind: Kind::Tensor, .. }) {
            let views = operands.iter().map(|slot| self.view_of(*slot)).collect::<Flat<Vec<_>>>()?;
            let to = self.fresh(result, None, false)?;
            self.each(&to.sizes.clone(), &mut vec![], &mut |flatten, index| {
                let values: Vec<ValueId> = views.iter().map(|view| flatten.load(view, index)).collect();
                let value = flatten.operation(operator, &values);
                flatten.store(&to, index, value);
                Ok(())
            })?;
            return Ok(vec![Known::View(to)]);
        }
        let values = operands.iter().map(|slot| self.value_of(*slot)).collect::<Flat<Vec<_>>>()?;
        Ok(vec![Known::Value(self.operation(operator, &values))])
    }

    fn operation(&mut self, operator: &Operator, values: &[ValueId]) -> ValueId {
        let index = |k: usize| Subscript::Value(values[k]);
        let number = |flatten: &Self, k: usize| match &flatten.program.values[values[k]].0 {
            Maker::Subscript(Subscript::Constant(n)) => Some(*n),
            Maker::Constant(items, _, true) if items.len() == 1 => Some(items[0] as i64),
            Maker::Lanes(sources) => match &flatten.program.values[sources[0].0].0 {
                Maker::Subscript(Subscript::Constant(n)) if sources.iter().all(|s| s.0 == sources[0].0) => Some(*n),
                _ => None,
            },
            _ => None,
        };
        let difference = |a: usize, b: usize, less: i64| {
            Subscript::Sum(vec![index(a), Subscript::Times(Box::new(index(b)), -1), Subscript::Constant(-less)])
        };
        let predicate =
            operator.attributes.split("predicate = ").nth(1).and_then(|text| text.split_whitespace().next());
        let maker = match (&*operator.name, &*operator.from.text) {
            ("arith.select", _) => Some(Maker::Select(values[0], values[1], values[2])),
            ("arith.andi", "i1") => Some(Maker::And(values[0], values[1])),
            ("arith.addi", "index") => Some(Maker::Subscript(Subscript::Sum(vec![index(0), index(1)]))),
            ("arith.subi", "index") => Some(Maker::Subscript(difference(0, 1, 0))),
            ("arith.muli", "index") => match (number(self, 0), number(self, 1)) {
                (_, Some(n)) => Some(Maker::Subscript(Subscript::Times(Box::new(index(0)), n))),
                (Some(n), _) => Some(Maker::Subscript(Subscript::Times(Box::new(index(1)), n))),
                _ => None,
            },
            ("arith.minsi", "index") => Some(Maker::Extreme(vec![index(0), index(1)], false)),
            ("arith.maxsi", "index") => Some(Maker::Extreme(vec![index(0), index(1)], true)),
            ("arith.cmpi", "index") => match predicate {
                Some("2") => Some(Maker::AtLeastZero(difference(1, 0, 1))),
                Some("3") => Some(Maker::AtLeastZero(difference(1, 0, 0))),
                Some("4") => Some(Maker::AtLeastZero(difference(0, 1, 1))),
                Some("5") => Some(Maker::AtLeastZero(difference(0, 1, 0))),
                _ => None,
            },
            _ => None,
        };
        match maker {
            Some(maker) => self.make(maker),
            None => {
                let name = format!(
                    "{} {}{} {} {}",
                    operator.name, operator.attributes, operator.fast_math, operator.from.text, operator.to.text
                );
                self.elements(&name, values.to_vec())
            }
        }
    }

    fn access(&mut self, step: &Step, access: &Access) -> Flat<Vec<Known>> {
        let view = self.view_of(access.buffer)?;
        let index = self.exprs(&access.map, &access.operands)?;
        let address = view.layout.address(&index);
        let (stride, lanes) = match &access.lanes[..] {
            [] => (0, 1),
            [lane] => match (&view.layout, lane.dim) {
                _ if !lane.in_bounds => return Err("lanes that may be out of bounds".to_owned()),
                (AddressMap::Strided(_, strides), Some(dim)) => (strides[dim], lane.size),
                _ => return Err("lanes that are not along a dimension".to_owned()),
            },
            _ => return Err("a vector of several dimensions".to_owned()),
        };
        if access.atomic.is_some() {
            return Err("an atomic operation".to_owned());
        }
        let own = access.mask.map(|slot| self.value_of(slot)).transpose()?;
        match access.store {
            Some(slot) => {
                let value = self.value_of(slot)?;
                let mask = match (self.mask, own) {
                    (Some(a), Some(b)) => Some(self.make(Maker::And(a, b))),
                    (a, b) => a.or(b),
                };
                let store = Statement::Store { buffer: view.buffer, address, stride, lanes, value, mask };
                self.program.blocks[self.block].statements.push(store);
                Ok(vec![])
            }
            None => {
                let mask = match (self.mask, own) {
                    (Some(a), Some(b)) => Some(self.make(Maker::And(a, b))),
                    (a, b) => a.or(b),
                };
                let mut value = self.make(Maker::Load { buffer: view.buffer, address, stride, lanes, mask });
                if let (Some(mask), Some(other)) = (own, access.other) {
                    let other = self.value_of(other)?;
                    value = self.make(Maker::Select(mask, value, other));
                }
                debug_assert_eq!(step.results.len(), 1);
                Ok(vec![Known::Value(value)])
            }
        }
    }

    fn slice(&mut self, result: Slot, source: Slot, insert: Option<Slot>, parts: [&[Size]; 3]) -> Flat<Vec<Known>> {
        let view = self.view_of(source)?;
        let offsets = parts[0].iter().map(|size| self.size(*size)).collect::<Flat<Vec<_>>>()?;
        let number = |size: &Size| {
            if let Size::Static(n) = size { Ok(*n) } else { Err("sizes known only at run time".to_owned()) }
        };
        let sizes = parts[1].iter().map(number).collect::<Flat<Vec<i64>>>()?;
        let strides = parts[2].iter().map(number).collect::<Flat<Vec<i64>>>()?;
        // The part with all of its dimensions, then without those that the result leaves out.
        let small = match insert {
            Some(slot) => self.sizes(slot)?,
            None => self.sizes(result)?,
        };
        let mut kept = Vec::new();
        let mut next = 0;
        for (d, n) in sizes.iter().enumerate() {
            if next < small.len()
                && small[next] == *n
                && sizes.len() - d > small.len() - next - 1
                && !(*n == 1 && sizes.len() - d > small.len() - next)
            {
                kept.push(d);
                next += 1;
            }
        }
        if kept.len() != small.len() {
            return Err("a part whose dimensions are not those of the result".to_owned());
        }
        let of = |index: &[Subscript]| -> Vec<Subscript> {
            (0..sizes.len())
                .map(|d| match kept.iter().position(|k| *k == d) {
                    Some(k) => Subscript::Sum(vec![
                        offsets[d].clone(),
                        Subscript::Times(Box::new(index[k].clone()), strides[d]),
                    ]),
                    None => offsets[d].clone(),
                })
                .collect()
        };
        if let Some(slot) = insert {
            let (part, to) = (self.view_of(slot)?, self.fresh(result, None, false)?);
            self.copy(&view, &to, &|index| index.to_vec())?;
            self.each(&part.sizes.clone(), &mut vec![], &mut |flatten, index| {
                let value = flatten.load(&part, index);
                flatten.store(&to, &of(index), value);
                Ok(())
            })?;
            return Ok(vec![Known::View(to)]);
        }
        if matches!(self.type_of(result), Type::Shaped { kind: Kind::Tensor, .. }) {
            let to = self.fresh(result, None, false)?;
            self.copy(&view, &to, &of)?;
            return Ok(vec![Known::View(to)]);
        }
        let along = |d: usize| kept.iter().position(|k| *k == d);
        let dims = (0..sizes.len()).map(|d| (offsets[d].clone(), strides[d], along(d))).collect();
        Ok(vec![Known::View(MemoryView { buffer: view.buffer, sizes: small, layout: view.layout.part(dims) })])
    }

    fn reshape(&mut self, result: Slot, source: Slot) -> Flat<Vec<Known>> {
        let view = self.view_of(source)?;
        let sizes = self.sizes(result)?;
        if matches!(self.type_of(result), Type::Shaped { kind: Kind::MemRef, .. }) {
            return Ok(vec![Known::View(MemoryView {
                buffer: view.buffer,
                sizes,
                layout: self.layout(result, false)?,
            })]);
        }
        let to = self.fresh(result, None, false)?;
        let (from, number) = (view.sizes.clone(), row_major(&sizes));
        let AddressMap::Strided(_, strides) = row_major(&from) else { return Err("no strides".to_owned()) };
        self.copy(&view, &to, &|index| {
            let number = number.address(index);
            from.iter()
                .zip(&strides)
                .map(|(n, stride)| {
                    let above = Subscript::Quotient(Box::new(number.clone()), *stride);
                    Subscript::Remainder(Box::new(above), *n)
                })
                .collect()
        })?;
        Ok(vec![Known::View(to)])
    }

    fn generate(
        &mut self,
        result: Slot,
        source: Option<&(Slot, Vec<Size>, Vec<Size>)>,
        body: &Region,
    ) -> Flat<Vec<Known>> {
        let to = self.fresh(result, None, false)?;
        self.each(&to.sizes.clone(), &mut vec![], &mut |flatten, index| {
            let at: Vec<Known> =
                index.iter().map(|i| Known::Value(flatten.make(Maker::Subscript(i.clone())))).collect();
            let [Known::Value(value)] = flatten.region(body, &at)?[..] else { return Err("no element".to_owned()) };
            flatten.store(&to, index, value);
            Ok(())
        })?;
        if let Some((source, low, _)) = source {
            let view = self.view_of(*source)?;
            let low = low.iter().map(|size| self.size(*size)).collect::<Flat<Vec<_>>>()?;
            self.each(&view.sizes.clone(), &mut vec![], &mut |flatten, index| {
                let value = flatten.load(&view, index);
                let at: Vec<Subscript> =
                    index.iter().zip(&low).map(|(i, low)| Subscript::Sum(vec![i.clone(), low.clone()])).collect();
                flatten.store(&to, &at, value);
                Ok(())
            })?;
        }
        Ok(vec![Known::View(to)])
    }

    fn nest(&mut self, step: &Step, nest: &Nest) -> Flat<Vec<Known>> {
        let operands: Vec<Slot> = nest.inputs.iter().chain(&nest.outputs).copied().collect();
        let mut sizes = vec![None; nest.dims];
        for (slot, map) in operands.iter().zip(&nest.maps) {
            let of = self.sizes(*slot)?;
            for (e, n) in map.iter().zip(of) {
                if let Expr::Operand(d) = e {
                    sizes[*d as usize] = Some(n);
                }
            }
        }
        let sizes: Vec<i64> = sizes.into_iter().collect::<Option<_>>().ok_or("a domain that operands do not say")?;
        let mut all: Vec<Known> = operands.iter().map(|slot| self.known(*slot)).collect::<Flat<_>>()?;
        // Of a tensor, the result is a buffer of its own.
        let mut results = Vec::new();
        for (k, result) in step.results.iter().enumerate() {
            let from = self.view_of(nest.outputs[k])?;
            let to = self.fresh(*result, None, false)?;
            self.copy(&from, &to, &|index| index.to_vec())?;
            all[nest.inputs.len() + k] = Known::View(to.clone());
            results.push(Known::View(to));
        }
        self.each(&sizes, &mut vec![], &mut |flatten, index| {
            let mut arguments = Vec::new();
            let mut at = Vec::new();
            for (known, map) in all.iter().zip(&nest.maps) {
                let place = map.iter().map(|e| flatten.expr(e, index)).collect::<Flat<Vec<_>>>()?;
                arguments.push(match known {
                    Known::Value(value) => Known::Value(*value),
                    Known::View(view) => Known::Value(flatten.load(view, &place)),
                });
                at.push(place);
            }
            for (slot, dim) in &nest.indices {
                let value = flatten.make(Maker::Subscript(index[*dim].clone()));
                flatten.known.insert(*slot, Known::Value(value));
            }
            let yields = flatten.region(&nest.body, &arguments)?;
            for (k, known) in yields.iter().enumerate() {
                let (Known::Value(value), Known::View(view)) = (known, &all[nest.inputs.len() + k]) else {
                    return Err("an output that is no memory".to_owned());
                };
                flatten.store(view, &at[nest.inputs.len() + k], *value);
            }
            Ok(())
        })?;
        Ok(results)
    }
}
