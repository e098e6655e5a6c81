//! The evaluator's operations on shapes, memory and control flow.

use crate::reader::layouts::{self, Layout};
use crate::reader::model::{Action, Condition, Element, Kind, Place, Region, Size, Slot, Step, Type};
use crate::run::machine::{Many, Origin, Value, View, each_index, product};
use crate::run::terms::Term;
use crate::run::{Frame, Run, Stop};
use std::rc::Rc;

fn many(sizes: Vec<i64>, items: Vec<Term>) -> Value {
    Value::Many(Rc::new(Many { sizes, items }))
}

impl<'p> Run<'p> {
    /// Runs an operation and gives its results.
    pub fn action(&mut self, frame: &mut Frame<'p>, step: &'p Step, action: &'p Action) -> Result<Vec<Value>, Stop> {
        let result = step.results.first().copied();
        let one = match action {
            Action::Constant(items) => {
                let slot = result.unwrap_or_default();
                let bits = self.element(frame, slot)?.bits;
                let mut terms: Vec<Term> = items.iter().map(|item| self.terms.constant(bits, *item)).collect();
                let sizes = self.static_sizes(frame, slot)?;
                let count = product(&sizes).unwrap_or(0);
                self.count(count)?;
                if terms.len() == 1 {
                    terms = vec![terms[0]; count];
                }
                self.of_type(frame, slot, sizes, terms)?
            }
            Action::Lanes { operands, sources } if sources.len() == 1 => {
                let slot = result.unwrap_or_default();
                let sizes = self.static_sizes(frame, slot)?;
                let count = product(&sizes).ok_or(Stop::Steps)?;
                self.count(count)?;
                let (operand, lane) = sources[0];
                let items = self.get(frame, operands[operand as usize])?.items(self.terms).unwrap_or_default();
                let Some(item) = items.get(lane as usize) else { return self.unknown("a lane that is not there") };
                self.of_type(frame, slot, sizes, vec![*item; count])?
            }
            Action::Lanes { operands, sources } => {
                let mut lists = vec![];
                for value in self.all(frame, operands)? {
                    lists.push(value.items(self.terms).unwrap_or_default());
                }
                self.count(sources.len())?;
                let item = |(operand, lane): &(u32, u32)| lists.get(*operand as usize)?.get(*lane as usize).copied();
                let Some(items) = sources.iter().map(item).collect() else {
                    return self.unknown("a lane that is not there");
                };
                let slot = result.unwrap_or_default();
                self.of_type(frame, slot, self.static_sizes(frame, slot)?, items)?
            }
            Action::Bitcast(source) => self.bitcast(frame, *source, result.unwrap_or_default())?,
            Action::Extract { source, at } => {
                let (source, at) = (self.get(frame, *source)?, self.sizes(frame, at)?);
                let Value::Many(source) = source else { return self.unknown("this source") };
                let item = source.items[self.number(&source.sizes, &at)?];
                self.scalar(frame, result.unwrap_or_default(), item)
            }
            Action::Insert { item, into, at } => {
                let (item, into, at) = (self.get(frame, *item)?, self.get(frame, *into)?, self.sizes(frame, at)?);
                let Value::Many(mut into) = into else { return self.unknown("this target") };
                let number = self.number(&into.sizes, &at)?;
                self.count(into.items.len() / 16)?;
                Rc::make_mut(&mut into).items[number] = item.items(self.terms).unwrap_or_default()[0];
                Value::Many(into)
            }
            Action::Empty(dynamic) => {
                let made = self.empty(frame, result.unwrap_or_default(), dynamic)?;
                if let (Value::View(view), "memref.alloca") = (&made, &*step.name) {
                    self.buffers[view.buffer].origin = Origin::Stack;
                }
                made
            }
            Action::Global(name) => self.global(name)?,
            Action::Free(buffer) => {
                let view = self.view(self.get(frame, *buffer)?)?;
                let buffer = &mut self.buffers[view.buffer];
                let (origin, copied) = (buffer.origin, !buffer.copied.is_empty());
                if std::mem::replace(&mut buffer.freed, true) {
                    return self.fault("memory that is freed twice");
                }
                if origin != Origin::Heap {
                    return self.fault("memory that is freed and was not allocated");
                }
                if copied {
                    return self.fault("memory of a copy that is freed before the wait for the copy");
                }
                return Ok(vec![]);
            }
            Action::Copy { from, to } => {
                let (from, to) = (self.get(frame, *from)?, self.view(self.get(frame, *to)?)?);
                if from.sizes() != to.sizes {
                    return self.fault("a copy between shapes that differ");
                }
                let items = self.contents(&from)?;
                let mut items = items.into_iter();
                each_index(&to.sizes.clone(), |index| {
                    let item = items.next().expect("both have the same shape");
                    self.element_at(&to, index, Some((item, None))).map(|_| ())
                })?;
                return Ok(vec![]);
            }
            Action::Clone(source) => {
                let view = self.view(self.get(frame, *source)?)?;
                if self.buffers[view.buffer].freed {
                    return self.fault("a clone of memory that was freed before");
                }
                let items = self.buffers[view.buffer].items.clone();
                self.count(items.len())?;
                let copy = self.buffer(items, vec![], None)?;
                let copy = self.view(copy)?;
                self.buffers[copy.buffer].stored = self.buffers[view.buffer].stored.clone();
                Value::View(Rc::new(View { buffer: copy.buffer, ..(*view).clone() }))
            }
            Action::Cast(source) => {
                let (source, to) = (self.get(frame, *source)?, &frame.0.slots[result.unwrap_or_default() as usize]);
                let is = match (&source, to) {
                    (Value::View(view), to) => view.is_of(to),
                    (Value::Many(many), Type::Shaped { sizes, .. }) => {
                        many.sizes.iter().zip(sizes).all(|(n, said)| said.is_none_or(|said| said == *n))
                    }
                    _ => true,
                };
                if !is {
                    return self.fault("a cast to a type that the value does not have");
                }
                self.with_stated_strides(frame, result, source)
            }
            Action::Bytes(action) => return self.on_bytes(frame, step, action),
            Action::Slice { source, insert, offsets, sizes, strides } => {
                let list = |list: &[Size]| self.sizes(frame, list);
                let (offsets, extents, steps) = (list(offsets)?, list(sizes)?, list(strides)?);
                let source = self.get(frame, *source)?;
                for (d, n) in source.sizes().iter().enumerate() {
                    let last = extents[d].checked_sub(1).and_then(|last| last.checked_mul(steps[d]));
                    let last = last.and_then(|last| last.checked_add(offsets[d]));
                    if extents[d] > 0 && (offsets[d] < 0 || last.is_none_or(|last| last < 0 || last >= *n)) {
                        return self
                            .fault(format!("a slice at {offsets:?} of sizes {extents:?} of {:?}", source.sizes()));
                    }
                }
                let insert = insert.map(|slot| self.get(frame, slot)).transpose()?;
                let kept = self.kept(frame, result, sizes);
                let made = self.slice(&source, insert, [offsets, extents, steps], &kept)?;
                self.with_stated_strides(frame, result, made)
            }
            Action::Reshape { source, groups, sizes } => {
                let source = self.get(frame, *source)?;
                let expanded = sizes.as_ref().map(|sizes| self.sizes(frame, sizes)).transpose()?;
                let made = self.reshape(&source, groups, expanded)?;
                self.with_stated_strides(frame, result, made)
            }
            Action::Transpose { source, permutation } => {
                let view = self.view(self.get(frame, *source)?)?;
                let [sizes, strides] =
                    [&view.sizes, &view.strides].map(|list| permutation.iter().map(|d| list[*d]).collect());
                Value::View(Rc::new(View { sizes, strides, ..(*view).clone() }))
            }
            Action::Reinterpret { source, offset, sizes, strides } => {
                let view = self.view(self.get(frame, *source)?)?;
                let (offset, sizes) = (self.size(frame, *offset)?, self.sizes(frame, sizes)?);
                let strides = self.sizes(frame, strides)?;
                Value::View(Rc::new(View { offset, sizes, strides, ..(*view).clone() }))
            }
            Action::Metadata(source) => {
                let view = self.view(self.get(frame, *source)?)?;
                let base = View { offset: 0, sizes: vec![], strides: vec![], ..(*view).clone() };
                let numbers = [view.offset].into_iter().chain(view.sizes.clone()).chain(view.strides.clone());
                return Ok([Value::View(Rc::new(base))].into_iter().chain(numbers.map(Value::Index)).collect());
            }
            Action::Dim { source, dim } => {
                let (source, dim) = (self.get(frame, *source)?, self.index(frame, *dim)?);
                let size = usize::try_from(dim).ok().and_then(|dim| source.sizes().get(dim).copied());
                let Some(size) = size else { return self.fault(format!("dimension {dim}")) };
                Value::Index(size)
            }
            Action::Generate { source, sizes, body } => {
                let slot = result.unwrap_or_default();
                let (inner, low, whole) = match source {
                    Some((slot, before, behind)) => {
                        let value = self.get(frame, *slot)?;
                        let (low, mut whole) = (self.sizes(frame, before)?, self.sizes(frame, behind)?);
                        for d in 0..low.len() {
                            let size = low[d].checked_add(value.sizes()[d]).and_then(|n| n.checked_add(whole[d]));
                            let Some(size) = size else { return self.unknown("a size that does not fit") };
                            whole[d] = size;
                        }
                        (Some(value), low, whole)
                    }
                    None => (None, vec![], self.sizes_of(frame, slot, sizes)?),
                };
                let mut items = vec![];
                each_index(&whole, |index| {
                    self.count(1)?;
                    if let Some(Value::Many(inner)) = &inner {
                        let at: Vec<i64> = index.iter().zip(&low).map(|(i, low)| i.wrapping_sub(*low)).collect();
                        if at.iter().zip(&inner.sizes).all(|(i, n)| (0..*n).contains(i)) {
                            items.push(inner.items[self.number(&inner.sizes, &at)?]);
                            return Ok(());
                        }
                    }
                    let values = self.region(frame, body, index.iter().map(|i| Value::Index(*i)).collect())?;
                    items.push(values[0].items(self.terms).unwrap_or_default()[0]);
                    Ok(())
                })?;
                many(whole, items)
            }
            Action::Nest(nest) => {
                let outputs = self.nest(frame, nest)?;
                return Ok(if step.results.is_empty() { vec![] } else { outputs });
            }
            Action::Concat { parts, dim } => {
                let parts = self.all(frame, parts)?;
                let mut sizes = parts[0].sizes().to_vec();
                sizes[*dim] = parts.iter().map(|part| part.sizes()[*dim]).sum();
                let rows = product(&sizes[..*dim]).unwrap_or(0);
                let mut items = vec![];
                for row in 0..rows {
                    for part in &parts {
                        let Value::Many(part) = part else { return self.unknown("this part") };
                        let count = part.items.len() / rows;
                        items.extend_from_slice(&part.items[row * count..(row + 1) * count]);
                    }
                }
                self.count(items.len())?;
                many(sizes, items)
            }
            Action::Loop { lower, upper, step, carried, body } => {
                let (mut at, end, step) =
                    (self.bound(frame, lower)?, self.bound(frame, upper)?, self.size(frame, *step)?);
                let mut values = self.all(frame, carried)?;
                if step <= 0 {
                    return self.fault(format!("a loop of step {step}"));
                }
                while at < end {
                    self.count(1)?;
                    values.insert(0, self.induction(frame, body, at)?);
                    let known = self.buffers.len();
                    values = self.region(frame, body, values)?;
                    self.leave(known);
                    at = at.saturating_add(step);
                }
                return Ok(values);
            }
            Action::Parallel { lower, upper, steps, outputs, body } => {
                let bounds =
                    |bounds: &[_]| bounds.iter().map(|bound| self.bound(frame, bound)).collect::<Result<Vec<_>, _>>();
                let (lower, upper, steps) = (bounds(lower)?, bounds(upper)?, self.sizes(frame, steps)?);
                return self.parallel(frame, [lower, upper, steps], outputs, body);
            }
            Action::If { condition, regions } => {
                let taken = match condition {
                    Condition::Value(slot) => self.index(frame, *slot)? & 1 == 1,
                    Condition::Set { constraints, operands } => {
                        let mut all = true;
                        for (expr, equality) in constraints {
                            let value = self.expr(frame, expr, operands)?;
                            all &= if *equality { value == 0 } else { value >= 0 };
                        }
                        all
                    }
                };
                let Some(region) = regions.get(usize::from(!taken)) else { return Ok(vec![]) };
                return self.region(frame, region, vec![]);
            }
            Action::While { carried, regions } => {
                let [before, after] = &regions[..] else { return self.unknown("this loop") };
                let mut values = self.all(frame, carried)?;
                loop {
                    self.count(1)?;
                    let mut results = self.region(frame, before, values)?;
                    let condition = results.remove(0);
                    if self.int(&condition)? & 1 == 0 {
                        return Ok(results);
                    }
                    values = self.region(frame, after, results)?;
                }
            }
            Action::Switch { on, cases, regions } => {
                let on = self.index(frame, *on)?;
                let taken = cases.iter().position(|case| *case == on).map_or(0, |case| case + 1);
                let Some(region) = regions.get(taken) else { return self.unknown("this case") };
                return self.region(frame, region, vec![]);
            }
            Action::Run(region) => return self.region(frame, region, vec![]),
            Action::Call { callee, arguments } => {
                let arguments = self.all(frame, arguments)?;
                let Some(function) = self.program.functions.get(callee).filter(|function| function.body.is_some())
                else {
                    return self.unknown(format!("the function @{callee}, which is only declared,"));
                };
                return self.call(function, arguments);
            }
            Action::Assert { condition, message } => {
                if self.index(frame, *condition)? == 0 {
                    return self.fault(format!("an assertion that fails: {message}"));
                }
                return Ok(vec![]);
            }
            Action::Print(pieces) => return self.print(frame, pieces).map(|()| vec![]),
            _ => return self.unknown(format!("'{}'", step.name)),
        };
        Ok(vec![one])
    }

    /// The value of a loop's induction variable: an index, or an integer of its type.
    fn induction(&mut self, frame: &Frame, body: &Region, at: i64) -> Result<Value, Stop> {
        let Some(slot) = body.blocks.first().and_then(|block| block.arguments.first()) else {
            return self.unknown("a loop without an induction variable");
        };
        let element = self.element(frame, *slot)?;
        if element.text == "index" {
            return Ok(Value::Index(at));
        }
        Ok(Value::One(self.terms.constant(element.bits, at as u64)))
    }

    pub fn static_sizes(&self, frame: &Frame, slot: Slot) -> Result<Vec<i64>, Stop> {
        self.sizes_of(frame, slot, &[])
    }

    /// The sizes of a slot's type, those that only the program has from values.
    pub fn sizes_of(&self, frame: &Frame, slot: Slot, dynamic: &[Slot]) -> Result<Vec<i64>, Stop> {
        let Type::Shaped { sizes, .. } = &frame.0.slots[slot as usize] else { return Ok(vec![]) };
        let mut dynamic = dynamic.iter();
        let size = |size: &Option<i64>| match size {
            Some(n) => Ok(*n),
            None => match dynamic.next() {
                Some(slot) => self.index(frame, *slot),
                None => self.unknown("a size that is not known"),
            },
        };
        sizes.iter().map(size).collect()
    }

    fn empty(&mut self, frame: &Frame, slot: Slot, dynamic: &[Slot]) -> Result<Value, Stop> {
        let sizes = self.sizes_of(frame, slot, dynamic)?;
        let Type::Shaped { element, place, .. } = &frame.0.slots[slot as usize] else {
            return self.unknown("this type");
        };
        let memory = self.memory(&sizes, element, place)?;
        if let Type::Shaped { kind: Kind::Tensor, .. } = &frame.0.slots[slot as usize] {
            return Ok(many(sizes, memory.0));
        }
        self.buffer(memory.0, sizes, memory.1)
    }

    /// Memory without contents for a shape, and the layout that is the type's own.
    pub fn memory(
        &mut self,
        sizes: &[i64],
        element: &Element,
        place: &Place,
    ) -> Result<(Vec<Term>, Option<Rc<Layout>>), Stop> {
        let (layout, count) = match place {
            Place::Layout(text) => {
                let Some(layout) = Layout::read(text) else { return self.unknown(format!("the layout {text}")) };
                let count = layout.size(sizes).and_then(|n| usize::try_from(n).ok());
                (Some(Rc::new(layout)), count)
            }
            Place::RowMajor(_) => (None, product(sizes)),
            Place::Strided { .. } => return self.unknown("memory with strides"),
        };
        let Some(count) = count else { return self.fault(format!("sizes {sizes:?}")) };
        self.count(count / 16)?;
        let undefined = self.terms.undefined(element.bits);
        Ok((vec![undefined; count], layout))
    }

    fn global(&mut self, name: &str) -> Result<Value, Stop> {
        if let Some(value) = self.globals.get(name) {
            return Ok(value.clone());
        }
        let Some(global) = self.program.globals.get(name) else { return self.unknown(format!("the global @{name}")) };
        if !global.constant {
            return self.unknown(format!("the global @{name}, which may be written,"));
        }
        let (Type::Shaped { element, sizes, place, .. }, Some(bits)) = (&global.r#type, &global.items) else {
            return self.unknown(format!("the contents of @{name}"));
        };
        let Some(sizes) = sizes.iter().copied().collect::<Option<Vec<i64>>>() else { return self.unknown("its sizes") };
        let (items, layout) = self.memory(&sizes, element, place)?;
        let value = self.buffer(items, sizes, layout)?;
        let (view, mut number) = (self.view(value.clone())?, 0);
        each_index(&view.sizes.clone(), |index| {
            self.count(1)?;
            let Some(bits) = bits.get(if bits.len() == 1 { 0 } else { number }) else {
                return self.unknown("its contents");
            };
            let term = self.terms.constant(element.bits, *bits);
            number += 1;
            self.element_at(&view, index, Some((term, None))).map(|_| ())
        })?;
        self.buffers[view.buffer].origin = Origin::Constant;
        self.globals.insert(name.to_owned(), value.clone());
        Ok(value)
    }

    /// A view with the strides that its type says: a dimension of one element has any other one.
    fn with_stated_strides(&self, frame: &Frame, result: Option<Slot>, value: Value) -> Value {
        let Value::View(view) = &value else { return value };
        let stated = result.and_then(|slot| layouts::stated(&frame.0.slots[slot as usize], &view.sizes));
        let Some((_, stated)) = stated else { return value };
        let strides = view.strides.iter().zip(stated).map(|(stride, stated)| stated.unwrap_or(*stride)).collect();
        Value::View(Rc::new(View { strides, ..(**view).clone() }))
    }

    /// Marks the dimensions of a slice that the result has: one of size 1 may be left out.
    fn kept(&self, frame: &Frame, result: Option<Slot>, sizes: &[Size]) -> Vec<bool> {
        let Some(Type::Shaped { sizes: to, .. }) = result.map(|slot| &frame.0.slots[slot as usize]) else {
            return vec![true; sizes.len()];
        };
        let mut next = 0;
        let kept = |size: &Size| {
            let kept = *size != Size::Static(1) || to.get(next) == Some(&Some(1));
            next += usize::from(kept);
            kept
        };
        sizes.iter().map(kept).collect()
    }

    fn slice(
        &mut self,
        source: &Value,
        insert: Option<Value>,
        at: [Vec<i64>; 3],
        kept: &[bool],
    ) -> Result<Value, Stop> {
        let [offsets, sizes, steps] = at;
        if sizes.iter().any(|n| *n < 0) {
            return self.fault("a part of a size below zero");
        }
        let only =
            |list: &[i64]| list.iter().zip(kept).filter(|(_, kept)| **kept).map(|(n, _)| *n).collect::<Vec<i64>>();
        // Dimensions of one element may be left out of what is inserted.
        let others = |sizes: &[i64]| sizes.iter().copied().filter(|n| *n != 1).collect::<Vec<_>>();
        if insert.as_ref().is_some_and(|part| others(part.sizes()) != others(&sizes)) {
            return self.fault("a part of other sizes than its place");
        }
        match (source, insert) {
            (Value::View(view), None) if view.layout.is_none() => {
                // Where a part has elements, they are inside; the address of one that has none does not matter.
                let mut each = offsets.iter().zip(&view.strides);
                let offset = each.try_fold(view.offset, |at, (i, stride)| i.checked_mul(*stride)?.checked_add(at));
                let strides = steps.iter().zip(&view.strides).map(|(step, stride)| step.checked_mul(*stride));
                let (Some(offset), Some(strides)) = (offset, strides.collect::<Option<Vec<i64>>>()) else {
                    return self.unknown("a part whose address does not fit");
                };
                let (sizes, strides) = (only(&sizes), only(&strides));
                Ok(Value::View(Rc::new(View { offset, sizes, strides, ..(**view).clone() })))
            }
            (Value::Many(source), insert) => {
                let (mut items, mut whole, mut number) = (vec![], (**source).clone(), 0);
                self.count(whole.items.len() / 16)?;
                let part = insert.as_ref().map(|insert| insert.items(self.terms).unwrap_or_default());
                each_index(&sizes, |index| {
                    self.count(1)?;
                    let index: Vec<i64> = (0..index.len()).map(|d| offsets[d] + index[d] * steps[d]).collect();
                    let place = self.number(&whole.sizes, &index)?;
                    match &part {
                        Some(part) => whole.items[place] = part[number],
                        None => items.push(whole.items[place]),
                    }
                    number += 1;
                    Ok(())
                })?;
                Ok(if insert.is_some() { Value::Many(Rc::new(whole)) } else { many(only(&sizes), items) })
            }
            _ => self.unknown("a slice of this"),
        }
    }

    fn reshape(&mut self, source: &Value, groups: &[Vec<usize>], expanded: Option<Vec<i64>>) -> Result<Value, Stop> {
        let from = source.sizes();
        let fine = expanded.as_deref().unwrap_or(from);
        let product = |group: &Vec<usize>| group.iter().try_fold(1_i64, |n, d| n.checked_mul(*fine.get(*d)?));
        let Some(coarse) = groups.iter().map(product).collect::<Option<Vec<i64>>>() else {
            return self.unknown("these sizes");
        };
        if expanded.is_some() && coarse != from {
            return self.fault(format!("sizes {fine:?} of {from:?}"));
        }
        let sizes = expanded.clone().unwrap_or_else(|| coarse.clone());
        match source {
            Value::Many(source) => Ok(many(sizes, source.items.clone())),
            Value::View(view) if view.layout.is_none() => {
                let mut strides = vec![1; sizes.len()];
                for (k, group) in groups.iter().enumerate() {
                    if expanded.is_some() {
                        let mut stride = view.strides[k];
                        for d in group.iter().rev() {
                            strides[*d] = stride;
                            stride = stride.saturating_mul(sizes[*d]);
                        }
                        continue;
                    }
                    // Dimensions of size 1 have any stride.
                    let mut wide = group.iter().rev().filter(|d| from[**d] != 1);
                    let last = wide.next().or(group.last());
                    let mut next = last.map_or(1, |d| view.strides[*d]);
                    strides[k] = next;
                    next = next.saturating_mul(last.map_or(1, |d| from[*d]));
                    for d in wide {
                        if view.strides[*d] != next && !from.contains(&0) {
                            return self.fault("dimensions put together that are apart in memory");
                        }
                        next = next.saturating_mul(from[*d]);
                    }
                }
                Ok(Value::View(Rc::new(View { sizes, strides, ..(**view).clone() })))
            }
            _ => self.unknown("another shape of this"),
        }
    }
}
