//! Running on symbolic elements.
//!
//! | file | what it holds |
//! |---|---|
//! | `terms`, `differ` | symbolic elements, and the rules by which they are equal; whether others have other values |
//! | `machine`, `bytes` | values and memory of a program that runs |
//! | `actions`, `nest`, `arenas`, `parallel`, `prints` | the evaluator, beside this file |
//! | `least` | how many steps it takes at least |
//! | `physical` | how elements lie in lowered memory |
//! | `interface` | what callers see of a function |
//! | `inputs` | the inputs of both forms |
//! | `compare` | whether the results of both forms are the same |
//!
//! The evaluator runs a function on symbolic elements. Indices, and with them addresses and the order of steps, are
//! numbers; elements are terms. An element that decides a branch or an address is taken by its value in one choice of
//! inputs.

mod actions;
mod arenas;
mod bytes;
pub mod compare;
mod differ;
pub mod inputs;
pub mod interface;
pub mod least;
mod machine;
mod nest;
mod parallel;
mod physical;
mod prints;
pub mod terms;

use crate::reader::arith;
use crate::reader::layouts::{Layout, row_major};
use crate::reader::model::{
    Access, Action, Block, Bound, Element, End, Expr, Function, Operator, Program, Region, Size, Slot, Step, Type,
};
use crate::run::bytes::{SeenAs, Started};
use crate::run::machine::{Buffer, Iterations, Many, Origin, Value, View, each_index};
use crate::run::terms::{Term, Terms, Undefined};
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;

/// Why a run ended before its end.
#[derive(Clone, Debug)]
pub enum Stop {
    /// It takes more steps than allowed.
    Steps,
    /// An operation, or a use of one, that is not modelled, and where.
    Unknown(String, usize),
    /// An action that a program must not do, and where.
    Fault(String, usize),
}

/// Why a run ended, as text.
pub fn reason(stop: &Stop) -> String {
    match stop {
        Stop::Steps => "too many steps".into(),
        Stop::Unknown(what, _) => format!("{what} is not modelled"),
        Stop::Fault(what, _) => what.clone(),
    }
}

/// A piece of what is printed.
#[derive(Clone, Debug, PartialEq)]
pub enum Printed {
    /// All text up to the next element.
    Text(String),
    /// An element of a type.
    Element(String, Term),
}

/// A program that runs.
pub struct Run<'p> {
    /// The program that runs.
    pub program: &'p Program,
    /// The terms of all runs.
    pub terms: &'p mut Terms,
    /// All memory.
    pub buffers: Vec<Buffer>,
    /// The printed pieces.
    pub printed: Vec<Printed>,
    /// How many more steps there may be.
    pub steps: u64,
    /// The numbers of the operations that it has computed, by their addresses.
    operators: FxHashMap<*const Operator, u32>,
    /// The views of globals.
    pub globals: FxHashMap<String, Value>,
    /// The iterations that run now in any order.
    pub iterations: Option<Iterations>,
    /// The number of the next of them.
    pub next_iteration: u32,
    /// Copies that have started and for which nothing waited yet.
    pub started: Vec<Started>,
    depth: u32,
    /// The location of the operation that runs.
    pub at: usize,
    /// The elements that decided a branch or an address: nothing is known of their other values.
    pub decided: RefCell<BTreeSet<Term>>,
}

/// The values of a function's slots.
pub type Frame<'f> = (&'f Function, Vec<Option<Value>>);

/// How often functions may call each other. The stack of a thread holds as many.
const DEPTH: u32 = 16;

impl<'p> Run<'p> {
    /// A program before it runs.
    pub fn new(program: &'p Program, terms: &'p mut Terms, steps: u64) -> Run<'p> {
        Run {
            program,
            terms,
            buffers: vec![],
            printed: vec![],
            steps,
            operators: FxHashMap::default(),
            globals: FxHashMap::default(),
            iterations: None,
            next_iteration: 1,
            started: vec![],
            depth: 0,
            at: 0,
            decided: RefCell::default(),
        }
    }

    pub fn fault<T>(&self, what: impl Into<String>) -> Result<T, Stop> {
        Err(Stop::Fault(what.into(), self.at))
    }

    pub fn unknown<T>(&self, what: impl Into<String>) -> Result<T, Stop> {
        Err(Stop::Unknown(what.into(), self.at))
    }

    pub fn count(&mut self, steps: usize) -> Result<(), Stop> {
        self.steps = self.steps.checked_sub(steps as u64).ok_or(Stop::Steps)?;
        Ok(())
    }

    /// Runs a function to its end.
    pub fn call(&mut self, function: &'p Function, arguments: Vec<Value>) -> Result<Vec<Value>, Stop> {
        let Some(body) = &function.body else { return self.unknown("a function that is only declared") };
        if self.depth >= DEPTH {
            return self.unknown("functions that call themselves");
        }
        self.depth += 1;
        let mut frame = (function, vec![None; function.slots.len()]);
        let known = self.buffers.len();
        let results = self.region(&mut frame, body, arguments)?;
        self.depth -= 1;
        self.leave(known);
        if self.depth == 0 && !self.started.is_empty() {
            return self.fault("a copy for which nothing waits");
        }
        Ok(results)
    }

    /// Memory of the stack that is newer than so many buffers is gone.
    pub fn leave(&mut self, known: usize) {
        self.buffers[known..].iter_mut().for_each(|buffer| buffer.freed |= buffer.origin == Origin::Stack);
    }

    pub fn get(&self, frame: &Frame, slot: Slot) -> Result<Value, Stop> {
        match &frame.1[slot as usize] {
            Some(value) => Ok(value.clone()),
            None => self.unknown("a value that was not computed"),
        }
    }

    pub fn all(&self, frame: &Frame, slots: &[Slot]) -> Result<Vec<Value>, Stop> {
        slots.iter().map(|slot| self.get(frame, *slot)).collect()
    }

    /// The number of an index or of an element that decides something.
    pub fn int(&self, value: &Value) -> Result<i64, Stop> {
        match value {
            Value::Index(n) => Ok(*n),
            Value::One(term) => {
                let info = self.terms.info(*term);
                if info.undefined != Undefined::None {
                    return self.fault("a branch or an address that depends on padding or on memory that nobody wrote");
                }
                if let Some(name) = self.terms.not_computed(*term) {
                    return self.unknown(format!("'{name}', which is not computed, decides a branch or an address"));
                }
                if self.terms.as_constant(*term).is_none() {
                    self.decided.borrow_mut().insert(*term);
                }
                let unused = 64 - u32::from(info.width.max(1));
                Ok(((info.values[self.terms.choice] << unused) as i64) >> unused)
            }
            _ => self.unknown("a tensor as an index"),
        }
    }

    pub fn index(&self, frame: &Frame, slot: Slot) -> Result<i64, Stop> {
        match &frame.1[slot as usize] {
            Some(Value::Index(n)) => Ok(*n),
            Some(value) => self.int(value),
            None => self.unknown("an index that was not computed"),
        }
    }

    pub fn size(&self, frame: &Frame, size: Size) -> Result<i64, Stop> {
        match size {
            Size::Static(n) => Ok(n),
            Size::Slot(slot) => self.index(frame, slot),
        }
    }

    pub fn sizes(&self, frame: &Frame, sizes: &[Size]) -> Result<Vec<i64>, Stop> {
        sizes.iter().map(|size| self.size(frame, *size)).collect()
    }

    pub fn expr(&self, frame: &Frame, expr: &Expr, operands: &[Slot]) -> Result<i64, Stop> {
        if let Expr::Operand(k) = expr {
            return self.index(frame, operands[*k as usize]);
        }
        let value = expr.at(&|k| self.index(frame, *operands.get(k as usize)?).ok());
        value.map_or_else(|| self.fault("an index that is no number"), Ok)
    }

    pub fn bound(&self, frame: &Frame, bound: &Bound) -> Result<i64, Stop> {
        let mut values = bound.exprs.iter().map(|expr| self.expr(frame, expr, &bound.operands));
        let Some(first) = values.next() else { return self.unknown("a bound of nothing") };
        let pick = if bound.greatest { i64::max } else { i64::min };
        values.try_fold(first?, |best, value| Ok(pick(best, value?)))
    }

    pub fn region(
        &mut self,
        frame: &mut Frame<'p>,
        region: &'p Region,
        arguments: Vec<Value>,
    ) -> Result<Vec<Value>, Stop> {
        let (mut number, mut arguments) = (0, arguments);
        loop {
            let Some(block) = region.blocks.get(number) else { return self.unknown("a region without blocks") };
            self.block(frame, block, arguments)?;
            match &block.end {
                End::Yield { values, .. } => return self.all(frame, values),
                End::Branch { condition, targets } => {
                    let taken = match condition {
                        Some(condition) => usize::from(self.index(frame, *condition)? & 1 == 0),
                        None => 0,
                    };
                    let Some((target, values)) = targets.get(taken) else { return self.unknown("a branch") };
                    (number, arguments) = (*target, self.all(frame, values)?);
                    self.count(1)?;
                }
            }
        }
    }

    pub fn block(&mut self, frame: &mut Frame<'p>, block: &'p Block, arguments: Vec<Value>) -> Result<(), Stop> {
        if arguments.len() != block.arguments.len() {
            return self.unknown("other arguments than a block has");
        }
        for (slot, value) in block.arguments.iter().zip(arguments) {
            frame.1[*slot as usize] = Some(value);
        }
        block.steps.iter().try_for_each(|step| self.step(frame, step))
    }

    pub fn step(&mut self, frame: &mut Frame<'p>, step: &'p Step) -> Result<(), Stop> {
        self.at = step.location;
        self.count(1)?;
        let results = match &step.action {
            Action::Nothing => return Ok(()),
            Action::Index(bound) => {
                self.terms.note_map();
                let value = self.bound(frame, bound)?;
                frame.1[step.results[0] as usize] = Some(Value::Index(value));
                return Ok(());
            }
            Action::Compute { operator, operands } => self.compute(frame, operator, operands, step.results[0])?,
            Action::Access(access) => match self.access(frame, access)? {
                Some(value) => value,
                None => return Ok(()),
            },
            Action::Unknown => return self.unknown(format!("'{}'", step.name)),
            action => {
                let results = self.action(frame, step, action)?;
                for (slot, value) in step.results.iter().zip(results) {
                    frame.1[*slot as usize] = Some(value);
                }
                return Ok(());
            }
        };
        frame.1[step.results[0] as usize] = Some(results);
        Ok(())
    }

    /// Elements as a value of the type of a slot.
    pub fn of_type(&self, frame: &Frame, slot: Slot, sizes: Vec<i64>, items: Vec<Term>) -> Result<Value, Stop> {
        match &frame.0.slots[slot as usize] {
            Type::Scalar(_) => Ok(self.scalar(frame, slot, items[0])),
            _ => Ok(Value::Many(Rc::new(Many { sizes, items }))),
        }
    }

    pub fn element<'f>(&self, frame: &Frame<'f>, slot: Slot) -> Result<&'f Element, Stop> {
        match &frame.0.slots[slot as usize] {
            Type::Scalar(element) | Type::Shaped { element, .. } => Ok(element),
            Type::Other(text) => self.unknown(format!("the type {text}")),
        }
    }

    fn compute(
        &mut self,
        frame: &Frame,
        operator: &'p Operator,
        operands: &[Slot],
        result: Slot,
    ) -> Result<Value, Stop> {
        // Indices are the most frequent operands of all.
        if let (true, [a, b]) = (operator.to.text == "index", operands)
            && let (Some(Value::Index(a)), Some(Value::Index(b))) = (&frame.1[*a as usize], &frame.1[*b as usize])
            && let Some(value) = arith::on_indices(operator, *a, *b)
        {
            return Ok(Value::Index(value));
        }
        let number = match self.operators.get(&std::ptr::from_ref(operator)) {
            Some(number) => *number,
            None => {
                let number = self.terms.operator(operator);
                self.operators.insert(operator, number);
                number
            }
        };
        // Operations on scalars of at most three operands are the most frequent ones after those.
        let mut terms = [0; 3];
        let scalars = operands.iter().zip(&mut terms).all(|(slot, term)| match &frame.1[*slot as usize] {
            Some(value @ (Value::Index(_) | Value::One(_))) => {
                *term = value.item(self.terms).unwrap_or_default();
                true
            }
            _ => false,
        });
        if scalars && (1..=3).contains(&operands.len()) && matches!(frame.0.slots[result as usize], Type::Scalar(_)) {
            self.count(1)?;
            let term = self.terms.apply(number, &terms[..operands.len()]);
            return Ok(self.scalar(frame, result, term));
        }
        let values = self.all(frame, operands)?;
        if let (true, [condition, yes, no]) = (matches!(values.last(), Some(Value::View(_))), &values[..]) {
            // Which buffer, as a branch would decide.
            return Ok(if self.int(condition)? & 1 == 1 { yes } else { no }.clone());
        }
        let mut lists = Vec::with_capacity(values.len());
        for value in &values {
            let Some(items) = value.items(self.terms) else { return self.unknown("a memref as an operand") };
            lists.push(items);
        }
        let sizes = values.last().map_or(vec![], |value| value.sizes().to_vec());
        let count = lists.iter().map(Vec::len).max().unwrap_or(1);
        self.count(count)?;
        let mut items = Vec::with_capacity(count);
        let mut each = vec![0; lists.len()];
        for k in 0..count {
            for (operand, list) in each.iter_mut().zip(&lists) {
                let item = if list.len() == 1 { list.first() } else { list.get(k) };
                let Some(item) = item else { return self.fault("operands of several shapes") };
                *operand = *item;
            }
            items.push(self.terms.apply(number, &each));
        }
        self.of_type(frame, result, sizes, items)
    }

    /// A new buffer of a shape, and a view of all of it.
    pub fn buffer(&mut self, items: Vec<Term>, sizes: Vec<i64>, layout: Option<Rc<Layout>>) -> Result<Value, Stop> {
        let Some(strides) = row_major(&sizes) else { return self.unknown("a buffer of that size") };
        self.buffers.push(Buffer::new(items));
        let buffer = self.buffers.len() - 1;
        let view = View { buffer, offset: 0, sizes, strides, layout, shown: SeenAs::Same };
        Ok(Value::View(Rc::new(view)))
    }

    pub fn view(&self, value: Value) -> Result<Rc<View>, Stop> {
        if let Value::View(view) = value { Ok(view) } else { self.unknown("a value that is no memref") }
    }

    /// Reads or writes one element of a memref.
    pub fn element_at(
        &mut self,
        view: &View,
        index: &[i64],
        write: Option<(Term, Option<&Operator>)>,
    ) -> Result<Term, Stop> {
        let Some(address) = view.address(index) else {
            return self.fault(format!("index {index:?} of a memref of sizes {:?}", view.sizes));
        };
        match view.shown {
            SeenAs::Same if self.is_plain(view) => (),
            SeenAs::Same => return self.unknown("memory of bytes as it is and as other elements"),
            _ if matches!(write, Some((_, Some(_)))) => return self.unknown("an atomic operation on bytes"),
            shown => return self.element_of_bytes(view, shown, address, write.map(|(new, _)| new)),
        }
        let (iterations, terms) = (self.iterations, &mut *self.terms);
        let (mut unseen, mut atomic) = (0, None);
        if let (Some((new, Some(operator))), Some(_)) = (write, iterations) {
            unseen = terms.undefined(operator.to.bits);
            atomic = Some(terms.atomic(operator, new));
        }
        let mut change = |old: Term| match write {
            Some((new, Some(operator))) => {
                let number = terms.operator(operator);
                terms.apply(number, &[new, old])
            }
            Some((new, None)) => new,
            None => old,
        };
        let buffer = &mut self.buffers[view.buffer];
        let done = match (write, iterations) {
            (Some((_, Some(_))), Some(iterations)) => {
                let noted = atomic.map_or(Ok(()), |atomic| buffer.note_atomic(address, iterations, atomic));
                // What was there before depends on the order.
                noted.and_then(|()| buffer.access(address, None, true, &mut change)).map(|_| unseen)
            }
            _ => buffer.access(address, iterations, write.is_some(), &mut change),
        };
        done.map_err(|what| Stop::Fault(what, self.at))
    }

    /// All elements of a memref, tensor or vector in row-major order.
    pub fn contents(&mut self, value: &Value) -> Result<Vec<Term>, Stop> {
        let Value::View(view) = value else { return Ok(value.items(self.terms).unwrap_or_default()) };
        let mut items = vec![];
        each_index(&view.sizes, |index| {
            self.count(1)?;
            items.push(self.element_at(view, index, None)?);
            Ok(())
        })?;
        Ok(items)
    }

    fn access(&mut self, frame: &Frame, access: &Access) -> Result<Option<Value>, Stop> {
        let element = self.element(frame, access.buffer)?;
        let source = self.get(frame, access.buffer)?;
        let base: Vec<i64> =
            access.map.iter().map(|expr| self.expr(frame, expr, &access.operands)).collect::<Result<_, _>>()?;
        let optional = |run: &Run, slot: Option<Slot>| slot.map(|slot| run.get(frame, slot)).transpose();
        let stored = optional(self, access.store)?;
        if let (Value::View(view), true) = (&source, access.lanes.is_empty() && access.mask.is_none()) {
            let write = match &stored {
                Some(value) => match value.item(self.terms) {
                    Some(item) => Some((item, access.atomic.as_ref())),
                    None => return self.unknown("this element"),
                },
                None => None,
            };
            let read = self.element_at(view, &base, write)?;
            let read = self.terms.alone(read, element);
            if access.atomic.is_some() {
                return Ok(Some(Value::One(read)));
            }
            let constant = self.terms.as_constant(read).filter(|_| element.text == "index");
            let value = constant.map_or(Value::One(read), |bits| Value::Index(bits as i64));
            return Ok(stored.is_none().then_some(value));
        }
        let (mask, other) = (optional(self, access.mask)?, optional(self, access.other)?);
        let mut lists = vec![];
        for value in [&stored, &mask, &other] {
            lists.push(value.as_ref().and_then(|value| value.items(self.terms)));
        }
        let sizes: Vec<i64> = access.lanes.iter().map(|lane| lane.size).collect();
        // A mask has the dimensions of memory, in their order.
        let mut of_mask: Vec<usize> = (0..sizes.len()).filter(|k| access.lanes[*k].dim.is_some()).collect();
        of_mask.sort_by_key(|k| access.lanes[*k].dim);
        let is_packed = element.pitch() != element.bits && sizes.iter().any(|n| *n != 1);
        let (mut items, mut number) = (vec![], 0);
        each_index(&sizes, |lane| {
            self.count(1)?;
            let masked = of_mask.iter().fold(0, |number, k| number * sizes[*k] as usize + lane[*k] as usize);
            let pick = |k: usize, at: usize| lists[k].as_ref().map(|list| list[if list.len() == 1 { 0 } else { at }]);
            let [stored, mask, other] = [pick(0, number), pick(1, masked), pick(2, number)];
            number += 1;
            let (mut index, mut inside) = (base.clone(), true);
            for (shape, i) in access.lanes.iter().zip(lane) {
                let Some(d) = shape.dim else { continue };
                let Some(at) = index.get_mut(d) else { return self.unknown("lanes along no dimension") };
                *at = at.saturating_add(*i);
                inside &= shape.in_bounds || (0..source.sizes()[d]).contains(at);
            }
            if let Some(mask) = mask {
                inside &= self.int(&Value::One(mask))? & 1 == 1;
            }
            let item = match (&source, inside, other) {
                (Value::View(view), true, _) if is_packed => {
                    self.packed(view, (&base, access, lane), element, stored)?
                }
                (Value::View(view), true, _) => self.element_at(view, &index, stored.map(|term| (term, None)))?,
                (Value::Many(many), true, _) if stored.is_none() => many.items[self.number(&many.sizes, &index)?],
                (_, false, Some(other)) => other,
                (_, false, None) if stored.is_some() => return Ok(()),
                _ => return self.unknown("this access"),
            };
            items.push(item);
            Ok(())
        })?;
        Ok(stored.is_none().then(|| Value::Many(Rc::new(Many { sizes, items }))))
    }

    /// Reads or writes a lane of a vector whose elements are no whole bytes: the bits of its lanes follow each other from the
    /// first element on, while each element has bytes of its own.
    fn packed(
        &mut self,
        view: &View,
        (base, access, lane): (&[i64], &Access, &[i64]),
        element: &Element,
        write: Option<Term>,
    ) -> Result<Term, Stop> {
        let (last, along) = (base.len().checked_sub(1), access.lanes.last().and_then(|lane| lane.dim));
        let is_row = view.strides.last() == Some(&1) && along == last && element.bits <= 64;
        let (Some(last), true, SeenAs::Same) = (last, is_row, view.shown) else {
            return self.unknown("a vector whose lanes share bytes");
        };
        let (bits, pitch) = (element.bits as u8, element.pitch() as u8);
        let mut index = base.to_vec();
        for (shape, i) in access.lanes.iter().zip(lane).rev().skip(1) {
            shape.dim.into_iter().for_each(|d| index[d] = index[d].saturating_add(*i));
        }
        let first = lane.last().map_or(0, |i| i * i64::from(bits));
        let (mut done, mut pieces) = (0, vec![]);
        while done < bits {
            let at = first + i64::from(done);
            let low = (at % i64::from(pitch)) as u8;
            let len = (bits - done).min(pitch - low);
            index[last] = base[last].saturating_add(at / i64::from(pitch));
            let old = self.element_at(view, &index, None)?;
            let old = self.terms.widened(old, pitch);
            if let Some(write) = write {
                let mut all = self.terms.pieces(old, 0, low);
                all.extend(self.terms.pieces(write, done, len));
                all.extend(self.terms.pieces(old, low + len, pitch - low - len));
                let new = self.terms.bits(all);
                self.element_at(view, &index, Some((new, None)))?;
            }
            pieces.extend(self.terms.pieces(old, low, len));
            done += len;
        }
        Ok(self.terms.bits(pieces))
    }

    /// The row-major number of an index.
    pub fn number(&self, sizes: &[i64], index: &[i64]) -> Result<usize, Stop> {
        let outside = index.len() != sizes.len() || index.iter().zip(sizes).any(|(i, n)| i < &0 || i >= n);
        if outside {
            return self.fault(format!("index {index:?} of a tensor of sizes {sizes:?}"));
        }
        Ok(index.iter().zip(sizes).fold(0, |number, (i, n)| number * *n as usize + *i as usize))
    }

    /// An element as a value of the type of a slot.
    pub fn scalar(&self, frame: &Frame, slot: Slot, term: Term) -> Value {
        match (&frame.0.slots[slot as usize], self.terms.as_constant(term)) {
            (Type::Scalar(element), Some(bits)) if element.text == "index" => Value::Index(bits as i64),
            _ => Value::One(term),
        }
    }
}
