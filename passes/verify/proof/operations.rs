//! Operations as statements.

use crate::proof::equations;
use crate::proof::flatten::{Flat, Flatten, Known, contents};
use crate::proof::layout::{AddressMap, reshaped, row_major};
use crate::proof::operation::Operation;
use crate::proof::statements::{Maker, Statement};
use crate::proof::subscript::{Subscript, ValueId};
use crate::proof::view::{MemoryView, UNKNOWN_SIZE};
use crate::reader::calc::Calc;
use crate::reader::flags::{CONTRACT, NUW};
use crate::reader::model::{Access, Condition, Expr, Kind, Nest, Operator, Place, Region, Size, Slot, Step, Type};

impl Flatten<'_> {
    pub(super) fn load(&mut self, view: &MemoryView, index: &[Subscript]) -> ValueId {
        let (address, mask) = (view.layout.address(index), self.mask);
        self.note_indices(&view.sizes, index, mask);
        let loaded = self.make(Maker::Load { buffer: view.buffer, address, stride: 0, lanes: 1, mask });
        self.shown_as(view, loaded)
    }

    /// Notes the indices below these sizes, of a load or a part, that data are part of.
    fn note_indices(&mut self, sizes: &[i64], index: &[Subscript], mask: Option<ValueId>) {
        for (s, size) in index.iter().zip(sizes).filter(|_| mask.is_none()) {
            let is_made = |value: &ValueId| matches!(self.program.values[*value].0, Maker::Elements { .. });
            let mut values = vec![];
            s.values(&mut values);
            if values.iter().any(is_made) && *size != UNKNOWN_SIZE {
                self.program.indexed.push((self.block, s.clone(), *size));
            }
        }
    }

    /// A loaded value, as an element of the view.
    fn shown_as(&mut self, view: &MemoryView, loaded: ValueId) -> ValueId {
        if !view.as_bytes {
            return loaded;
        }
        let operation = equations::operation("arith.extui", ("i1", 1), ("i8", 8));
        self.make(Maker::Elements { operation, operands: vec![loaded] })
    }

    /// An element of the view, as one of its buffer.
    fn kept_as(&mut self, view: &MemoryView, stored: ValueId) -> ValueId {
        if view.as_bytes { self.make(Maker::Bool(stored)) } else { stored }
    }

    pub(super) fn store(&mut self, view: &MemoryView, index: &[Subscript], value: ValueId) {
        self.written(view);
        let value = self.kept_as(view, value);
        let (address, mask) = (self.simple(view.layout.address(index)), self.mask);
        let store = Statement::Store { buffer: view.buffer, address, stride: 0, lanes: 1, value, mask };
        self.program.blocks[self.block].statements.push(store);
    }

    /// Notes a store: one to a constant has no meaning here.
    pub(super) fn written(&mut self, view: &MemoryView) {
        self.writes_constant |= self.constants.contains(&view.buffer);
    }

    /// Copies elements: that at an index of `to` is at the index `of` it in `from`.
    pub(super) fn copy(
        &mut self,
        from: &MemoryView,
        to: &MemoryView,
        of: &dyn Fn(&[Subscript]) -> Vec<Subscript>,
    ) -> Flat<()> {
        self.each(&to.sizes, &mut vec![], &mut |flatten, index| {
            let value = flatten.load(from, &of(index));
            flatten.store(to, index, value);
            Ok(())
        })
    }

    pub(super) fn parallel(
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

    pub(super) fn either(&mut self, condition: &Condition, regions: &[Region]) -> Flat<Vec<Known>> {
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

    pub(super) fn constant(&mut self, result: Slot, items: &[u64]) -> Flat<Vec<Known>> {
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

    pub(super) fn compute(&mut self, result: Slot, operator: &Operator, operands: &[Slot]) -> Flat<Vec<Known>> {
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

    pub(super) fn operation(&mut self, operator: &Operator, values: &[ValueId]) -> ValueId {
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
            // Of addresses it is not known here that they are never below zero.
            (_, "index") if operator.flags & NUW != 0 => None,
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
                let operation = Operation::of(operator);
                let fused = operation.calc() == Calc::Fma && (self.allowed | operation.flags) & CONTRACT != 0;
                let [x, y, z] = values[..] else {
                    return self.make(Maker::Elements { operation, operands: values.to_vec() });
                };
                if !fused {
                    return self.make(Maker::Elements { operation, operands: values.to_vec() });
                }
                let [times, plus] = ["arith.mulf", "arith.addf"]
                    .map(|name| Operation::of(&Operator { name: name.to_owned(), ..operator.clone() }));
                let product = self.make(Maker::Elements { operation: times, operands: vec![x, y] });
                self.make(Maker::Elements { operation: plus, operands: vec![product, z] })
            }
        }
    }

    pub(super) fn access(&mut self, step: &Step, access: &Access) -> Flat<Vec<Known>> {
        let view = self.view_of(access.buffer)?;
        let index = self.exprs(&access.map, &access.operands)?;
        let address = self.simple(view.layout.address(&index));
        let is_packed = match self.type_of(access.buffer) {
            Type::Shaped { kind: Kind::MemRef, element, .. } => element.pitch() != element.bits,
            _ => false,
        };
        let (stride, lanes) = match &access.lanes[..] {
            [] => (0, 1),
            [lane] if is_packed && lane.size > 1 => return Err("a vector whose lanes share bytes".to_owned()),
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
                let value = self.kept_as(&view, value);
                // Lanes that a constant leaves out behind the others are none.
                let first = own.and_then(|mask| self.first_lanes(mask, lanes));
                let (lanes, own) = first.map_or((lanes, own), |first| (first, None));
                if lanes == 0 {
                    return Ok(vec![]);
                }
                let mask = match (self.mask, own) {
                    (Some(a), Some(b)) => Some(self.make(Maker::And(a, b))),
                    (a, b) => a.or(b),
                };
                self.written(&view);
                let store = Statement::Store { buffer: view.buffer, address, stride, lanes, value, mask };
                self.program.blocks[self.block].statements.push(store);
                Ok(vec![])
            }
            None => {
                let mask = match (self.mask, own) {
                    (Some(a), Some(b)) => Some(self.make(Maker::And(a, b))),
                    (a, b) => a.or(b),
                };
                if lanes == 1 {
                    self.note_indices(&view.sizes, &index, mask);
                }
                let mut value = self.make(Maker::Load { buffer: view.buffer, address, stride, lanes, mask });
                value = self.shown_as(&view, value);
                if let (Some(mask), Some(other)) = (own, access.other) {
                    let other = self.value_of(other)?;
                    value = self.make(Maker::Select(mask, value, other));
                }
                debug_assert_eq!(step.results.len(), 1);
                Ok(vec![Known::Value(value)])
            }
        }
    }

    pub(super) fn slice(
        &mut self,
        result: Slot,
        source: Slot,
        insert: Option<Slot>,
        parts: [&[Size]; 3],
    ) -> Flat<Vec<Known>> {
        let view = self.view_of(source)?;
        let offsets = parts[0].iter().map(|size| self.size(*size)).collect::<Flat<Vec<_>>>()?;
        let number = |size: &Size| {
            if let Size::Static(n) = size { Ok(*n) } else { Err("sizes known only at run time".to_owned()) }
        };
        let sizes = parts[1].iter().map(number).collect::<Flat<Vec<i64>>>()?;
        let strides = parts[2].iter().map(number).collect::<Flat<Vec<i64>>>()?;
        // A slice without elements may be anywhere.
        if insert.is_none() && sizes.iter().chain(&strides).all(|number| *number > 0) {
            let reach = |d: usize| view.sizes[d].saturating_sub((sizes[d] - 1).saturating_mul(strides[d]));
            let ends: Vec<i64> = (0..sizes.len()).map(reach).collect();
            self.note_indices(&ends, &offsets, self.mask);
        }
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
            let (part, to) = (self.view_of(slot)?, self.made_of(result, &view)?);
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
        let layout = view.layout.part(dims);
        Ok(vec![Known::View(MemoryView { buffer: view.buffer, sizes: small, layout, as_bytes: view.as_bytes })])
    }

    pub(super) fn reshape(&mut self, result: Slot, source: Slot) -> Flat<Vec<Known>> {
        let view = self.view_of(source)?;
        let sizes = self.sizes(result)?;
        if matches!(self.type_of(result), Type::Shaped { kind: Kind::MemRef, .. }) {
            let Some(AddressMap::Strided(_, whole)) = row_major(&view.sizes).filter(|_| row_major(&sizes).is_some())
            else {
                return Err("a size beyond 64 bits".to_owned());
            };
            let AddressMap::Strided(first, strides) = &view.layout else {
                let layout = AddressMap::Reshaped(Box::new(view.layout), view.sizes, sizes.clone());
                return Ok(vec![Known::View(MemoryView { sizes, layout, ..view })]);
            };
            // What lies in row-major order does so in any shape; of others, the type says the strides.
            let layout = match (*strides == whole, row_major(&sizes)) {
                (true, Some(AddressMap::Strided(_, own))) => AddressMap::Strided(first.clone(), own),
                _ => match self.type_of(result) {
                    Type::Shaped { place: Place::Strided { pending: None, .. }, .. } => self.layout(result, false)?,
                    _ => AddressMap::Reshaped(Box::new(view.layout.clone()), view.sizes.clone(), sizes.clone()),
                },
            };
            return Ok(vec![Known::View(MemoryView { sizes, layout, ..view })]);
        }
        let to = self.fresh(result, None, false)?;
        let from = view.sizes.clone();
        if [&sizes, &from].iter().any(|sizes| row_major(sizes).is_none()) {
            return Err("a size beyond 64 bits".to_owned());
        }
        self.copy(&view, &to, &|index| reshaped(index, &sizes, &from).unwrap_or_default())?;
        Ok(vec![Known::View(to)])
    }

    /// How many lanes a constant mask has; none where these are not the first ones.
    fn first_lanes(&self, mask: ValueId, lanes: i64) -> Option<i64> {
        let Maker::Constant(items, ..) = &self.program.values[mask].0 else { return None };
        let first = items.iter().take_while(|item| **item != 0).count();
        match items[..] {
            [_] => Some(if first == 1 { lanes } else { 0 }),
            _ => items[first..].iter().all(|item| *item == 0).then_some(first as i64),
        }
    }

    pub(super) fn concat(&mut self, result: Slot, parts: &[Slot], dim: usize) -> Flat<Vec<Known>> {
        let to = self.fresh(result, None, false)?;
        let mut first = 0;
        for part in parts {
            let part = self.view_of(*part)?;
            self.each(&part.sizes.clone(), &mut vec![], &mut |flatten, index| {
                let value = flatten.load(&part, index);
                let mut at = index.to_vec();
                at[dim] = Subscript::Sum(vec![at[dim].clone(), Subscript::Constant(first)]);
                flatten.store(&to, &at, value);
                Ok(())
            })?;
            first += part.sizes.get(dim).ok_or("a dimension that is not there")?;
        }
        Ok(vec![Known::View(to)])
    }

    pub(super) fn generate(
        &mut self,
        result: Slot,
        source: Option<&(Slot, Vec<Size>, Vec<Size>)>,
        body: &Region,
    ) -> Flat<Vec<Known>> {
        let to = self.fresh(result, None, false)?;
        let inner = match source {
            Some((source, low, _)) => {
                let low = low.iter().map(|size| self.size(*size)).collect::<Flat<Vec<_>>>()?;
                Some((self.view_of(*source)?, low))
            }
            None => None,
        };
        self.each(&to.sizes.clone(), &mut vec![], &mut |flatten, index| {
            let at: Vec<Known> =
                index.iter().map(|i| Known::Value(flatten.make(Maker::Subscript(i.clone())))).collect();
            // The region is run for padding alone, which is stored before the elements.
            let outer = flatten.mask;
            if let Some((view, low)) = &inner {
                flatten.mask = Some(flatten.is_outside(index, low, &view.sizes));
            }
            let region = flatten.region(body, &at);
            flatten.mask = outer;
            let [Known::Value(value)] = region?[..] else { return Err("no element".to_owned()) };
            flatten.store(&to, index, value);
            Ok(())
        })?;
        if let Some((view, low)) = inner {
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

    /// Whether an index is outside of a part, where the mask is.
    fn is_outside(&mut self, index: &[Subscript], low: &[Subscript], sizes: &[i64]) -> ValueId {
        let all = self.make(Maker::AtLeastZero(Subscript::Constant(0)));
        let outer = self.mask.unwrap_or(all);
        let mut inside = outer;
        for ((i, low), size) in index.iter().zip(low).zip(sizes) {
            let [minus_low, minus_i] = [low, i].map(|s| Subscript::Times(Box::new(s.clone()), -1));
            let behind = Subscript::Sum(vec![low.clone(), Subscript::Constant(size - 1), minus_i]);
            for e in [Subscript::Sum(vec![i.clone(), minus_low]), behind] {
                let is = self.make(Maker::AtLeastZero(e));
                inside = self.make(Maker::And(inside, is));
            }
        }
        self.make(Maker::AndNot(outer, inside))
    }

    pub(super) fn nest(&mut self, step: &Step, nest: &Nest) -> Flat<Vec<Known>> {
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
        let mut all: Vec<Known> = operands.iter().map(|slot| self.operand(*slot)).collect::<Flat<_>>()?;
        // Of a tensor, the result is a buffer of its own.
        let mut results = Vec::new();
        for (k, result) in step.results.iter().enumerate() {
            let from = self.view_of(nest.outputs[k])?;
            let to = self.made_of(*result, &from)?;
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
