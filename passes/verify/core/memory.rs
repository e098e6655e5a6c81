//! Operations on memory and on tensors: loads and stores of one element and of vectors, and parts.

use crate::compile::{Compiler, gives, int};
use crate::elements::types;
use crate::machine::{Done, Index, Instruction, Machine, Origin, Value, View, each_index, row_major};
use crate::mlir::{self, DYNAMIC, Expr, Kind, Op};
use crate::terms::Item;
use std::rc::Rc;

/// A load or store.
struct Access {
    memory: usize,
    base: Index,
    /// The size of each dimension of the vector, the one of memory that it goes along, and whether it is inside.
    lanes: Vec<(i64, Option<usize>, bool)>,
    mask: Option<usize>,
    /// What lanes outside, or where the mask is off, have: an element, or one for each lane.
    other: Option<usize>,
    /// What is stored; none of a load.
    stored: Option<usize>,
    result: Option<(usize, Kind)>,
}

impl Access {
    fn run(&self, m: &mut Machine) -> Done {
        let (base, view) = (m.index(&self.base)?, m.view(self.memory)?);
        let mut part = |slot: Option<usize>| slot.map(|slot| m.items(slot)).transpose();
        let (mask, other, stored) = (part(self.mask)?, part(self.other)?, part(self.stored)?);
        // What is stored into a tensor makes another one.
        let view = if stored.is_some() && self.result.is_some() { m.copy(self.memory)? } else { view };
        let (mut items, mut lane) = (vec![], 0);
        each_index(&self.lanes.iter().map(|lane| lane.0).collect::<Vec<_>>(), |index| {
            m.step(1)?;
            let (mut at, mut inside) = (base.clone(), true);
            for (i, (_, dim, in_bounds)) in index.iter().zip(&self.lanes) {
                let Some(d) = *dim else { continue };
                at[d] = at[d].checked_add(*i).ok_or("an index beyond 64 bits")?;
                inside &= *in_bounds || (0..view.sizes[d]).contains(&at[d]);
            }
            match mask.as_ref().map(|mask| mask[lane]) {
                None | Some(Item::Number(1)) => (),
                Some(Item::Number(0)) => inside = false,
                _ => return Err("a mask that depends on data".into()),
            }
            let other = other.as_ref().map(|all| all[if all.len() == 1 { 0 } else { lane }]);
            match &stored {
                Some(items) if inside => m.store(&view, &at, items[lane])?,
                Some(_) => (),
                None if inside => items.push(m.load(&view, &at)?),
                None => items.push(other.ok_or("lanes that nothing is known of")?),
            }
            lane += 1;
            Ok(())
        })?;
        if let Some((result, kind)) = &self.result {
            m.frame[*result] = if stored.is_some() { Value::Memory(view) } else { m.shaped(items, kind)? };
        }
        Ok(())
    }
}

impl Compiler<'_> {
    /// A load or store of any dialect.
    pub fn access(&mut self, op: Op, name: &str) -> Option<Instruction> {
        let (operands, [from, to]) = (self.operands(op), types(op)?);
        let result = self.results(op).first().copied().zip(to.first().cloned());
        let (mut mask, mut other, mut stored) = (None, None, None);
        // The position of the memory, the number of indices behind it, and the type of what is moved.
        let (at, count, vector) = match name {
            "vector.transfer_read" | "vector.transfer_write" => {
                let (parts, at) = (self.segments(op)?, usize::from(name.ends_with("write")));
                mask = parts[3].first().copied();
                *if at == 1 { &mut stored } else { &mut other } = Some(parts[if at == 1 { 0 } else { 2 }][0]);
                (at, parts[at + 1].len(), if at == 1 { &from[0] } else { &to[0] })
            }
            "vector.maskedload" | "vector.maskedstore" => {
                let last = operands.len() - 1;
                mask = Some(operands[last - 1]);
                *if result.is_some() { &mut other } else { &mut stored } = Some(operands[last]);
                (0, last.checked_sub(2)?, &from[last])
            }
            _ if result.is_some() && name != "tensor.insert" => (0, operands.len().checked_sub(1)?, &to[0]),
            _ => {
                stored = Some(operands[0]);
                (1, operands.len().checked_sub(2)?, &from[0])
            }
        };
        // Lanes of fewer bits share bytes of memory, and elements do not.
        let is_whole = vector.element.bits >= 8 && vector.element.bits.is_power_of_two();
        (is_whole || from[at].kind == 't' || vector.sizes.iter().all(|n| *n == 1)).then_some(())?;
        let slots = &operands[at + 1..at + 1 + count];
        let base = Self::map(op, "map", slots.to_vec()).unwrap_or_else(|| Self::slots(slots));
        let skip = from[at].sizes.len().checked_sub(vector.sizes.len());
        let minor = || (0..vector.sizes.len()).map(|k| Some(skip? + k)).collect();
        let (dims, inside): (Vec<_>, _) = match mlir::attribute(op, "permutation_map") {
            None => skip.map(|_| (minor(), vec![1; vector.sizes.len()]))?,
            Some(map) => {
                let dim = |e| if let Expr::Operand(d) = e { Some(d) } else { None };
                let dims: Vec<Option<usize>> = mlir::map(map)?.1.into_iter().map(dim).collect();
                // A mask has the shape of what is in memory.
                (mask.is_none() || dims == minor()).then_some(())?;
                (dims, mlir::integers(op, "in_bounds")?)
            }
        };
        let lanes =
            vector.sizes.iter().zip(dims).zip(inside).map(|((n, dim), inside)| (*n, dim, inside != 0)).collect();
        let access = Access { memory: operands[at], base, lanes, mask, other, stored, result };
        Some(Box::new(move |m| access.run(m)))
    }

    /// An operation of `memref`, `tensor`, `bufferization` or `layout`. Memory in a layout of this project is seen by its
    /// indices: where they lie is for the other form.
    pub fn memory(&mut self, op: Op, name: &str) -> Option<Instruction> {
        let (operands, results) = (self.operands(op), self.results(op));
        let [from, to] = types(op)?;
        if name == "memref.get_global" {
            let (symbol, kind) = (mlir::text(op, "name")?, to.first()?.clone());
            return gives(results[0], move |m| of_type(m.global(&symbol)?, &kind));
        }
        let (kind, first) = (to.first().cloned(), operands.first().copied());
        let sizes = kind.as_ref().map(|kind| Self::mixed(&kind.sizes, &operands));
        match name {
            "tensor.empty" | "memref.alloc" | "memref.alloca" => {
                let origin = if name == "memref.alloca" { Origin::Stack } else { Origin::Heap };
                let (sizes, kind) = (sizes?, kind?);
                return gives(results[0], move |m| {
                    let sizes = m.index(&sizes)?;
                    let items = vec![Item::Undefined; m.count(&sizes)?];
                    of_type(m.allocate(items, &sizes, origin)?, &kind)
                });
            }
            "memref.dealloc" => {
                return Some(Box::new(move |m| {
                    let buffer = m.view(operands[0])?.buffer;
                    let origin = std::mem::replace(&mut m.buffers[buffer].origin, Origin::Freed);
                    let may = origin == Origin::Heap && m.parallel.iter().all(|parallel| parallel.buffers <= buffer);
                    may.then_some(()).ok_or_else(|| "memory that cannot be freed".into())
                }));
            }
            "memref.copy" | "tensor.insert_slice" => {
                let part = if results.is_empty() { None } else { Some(self.part(op, 2)?) };
                let of = from[0].sizes.clone();
                return Some(Box::new(move |m| {
                    let (items, sizes) = (m.items(operands[0])?, m.view(operands[0])?.sizes.clone());
                    let whole = if part.is_some() { m.copy(operands[1])? } else { m.view(operands[1])? };
                    let target = part.as_ref().map_or(Ok((*whole).clone()), |part| sliced(m, &whole, part, &of))?;
                    let mut items = items.iter().copied();
                    if target.sizes != sizes || target.buffer == m.view(operands[0])?.buffer {
                        return Err("a copy of other sizes".into());
                    }
                    each_index(&sizes, |index| m.store(&target, index, items.next().ok_or("no element")?))?;
                    m.assign(&results, vec![Value::Memory(whole)])
                }));
            }
            "bufferization.clone" | "bufferization.to_tensor" => {
                return gives(results[0], move |m| Ok(Value::Memory(m.copy(operands[0])?)));
            }
            "layout.convert" | "layout.await" if from[0].kind == 't' => {
                return gives(results[0], move |m| Ok(m.frame[operands[0]].clone()));
            }
            "memref.dim" | "tensor.dim" => {
                return gives(results[0], move |m| {
                    let (view, d) = (m.view(operands[0])?, m.int(operands[1])? as usize);
                    Ok(int(*view.sizes.get(d).ok_or("no such dimension")?))
                });
            }
            _ => (),
        }
        type Viewed = Box<dyn Fn(&mut Machine, &View) -> Done<View>>;
        let (to, first) = (kind?, first?);
        // Where the elements of memory in a layout of this project lie is not known here.
        [&from[0], &to].iter().all(|of| of.kind != 'm' || of.layout.is_none()).then_some(())?;
        let view: Viewed = match name.split_once('.')?.1 {
            "cast" => Box::new(|_, view| Ok(view.clone())),
            "subview" | "extract_slice" => {
                let (part, of) = (self.part(op, 1)?, to.sizes.clone());
                Box::new(move |m, view| sliced(m, view, &part, &of))
            }
            "reinterpret_cast" => {
                let [offset, sizes, strides] = self.part(op, 1)?;
                Box::new(move |m, view| {
                    let (offset, sizes, strides) = (m.index(&offset)?[0], m.index(&sizes)?, m.index(&strides)?);
                    Ok(View { buffer: view.buffer, offset, sizes, strides })
                })
            }
            "transpose" if name == "memref.transpose" => {
                let dims = Self::map(op, "permutation", vec![])?.map;
                Box::new(move |_, view| {
                    let pick = |all: &[i64]| dims.iter().map(|d| d.value(all)).collect::<Option<_>>();
                    let (sizes, strides) = pick(&view.sizes).zip(pick(&view.strides)).ok_or("no permutation")?;
                    Ok(View { sizes, strides, ..*view })
                })
            }
            "collapse_shape" | "expand_shape" => {
                let group = |of| mlir::array(of)?.into_iter().map(mlir::integer).collect();
                let groups = mlir::array(mlir::attribute(op, "reassociation")?)?.into_iter().map(group);
                let groups = groups.collect::<Option<Vec<Vec<i64>>>>()?;
                let sizes = mlir::integers(op, "static_output_shape").map(|all| Self::mixed(&all, &operands[1..]));
                let kind = to.clone();
                Box::new(move |m, view| {
                    // A tensor that is a part of another one does not lie in one piece.
                    let view = if kind.kind == 't' { &*m.copy(first)? } else { view };
                    reshaped(view, &groups, sizes.as_ref().map(|sizes| m.index(sizes)).transpose()?)
                })
            }
            _ => return self.elements(op, name),
        };
        gives(results[0], move |m| of_type(Rc::new(view(m, &*m.view(first)?)?), &to))
    }

    /// The offsets, sizes and strides of a part, whose operands follow `skip` other segments.
    fn part(&mut self, op: Op, skip: usize) -> Option<[Index; 3]> {
        let segments = self.segments(op)?;
        let of = |k: usize, name| Some(Self::mixed(&mlir::integers(op, name)?, segments.get(skip + k)?));
        Some([of(0, "static_offsets")?, of(1, "static_sizes")?, of(2, "static_strides")?])
    }
}

/// A value of memory, if it is of a type.
fn of_type(view: Rc<View>, kind: &Kind) -> Done<Value> {
    if view.is_of(kind) { Ok(Value::Memory(view)) } else { Err("memory that is not of its type".into()) }
}

/// A part of a view, with the dimensions that its type has: others have one element.
fn sliced(m: &Machine, view: &View, part: &[Index; 3], of: &[i64]) -> Done<View> {
    let [offsets, sizes, steps] = [m.index(&part[0])?, m.index(&part[1])?, m.index(&part[2])?];
    let mut made = View { buffer: view.buffer, offset: view.offset, ..View::default() };
    let mut of = of.iter().peekable();
    let ends = (0..sizes.len()).map(|d| (sizes[d].checked_sub(1)?).checked_mul(steps[d])?.checked_add(offsets[d]));
    let (ends, empty) = (ends.collect::<Option<Vec<_>>>(), sizes.contains(&0));
    let inside = steps.iter().all(|n| *n > 0)
        && sizes.iter().all(|n| *n >= 0)
        && ends.is_some_and(|ends| view.address(&ends).is_some());
    match view.address(&offsets) {
        Some(offset) if inside => made.offset = offset as i64,
        _ if empty => (),
        _ => return Err("a part outside of its memory".into()),
    }
    for d in 0..sizes.len() {
        let said = if let Expr::Number(n) = part[1].map[d] { n } else { DYNAMIC };
        if of.next_if(|n| **n == said).is_some() {
            made.sizes.push(sizes[d]);
            made.strides.push(steps[d].saturating_mul(view.strides[d]));
        } else if said != 1 {
            return Err("a part of another shape".into());
        }
    }
    Ok(made)
}

/// A view with the dimensions of each group as one; or, with `sizes`, each dimension as those of a group.
fn reshaped(view: &View, groups: &[Vec<i64>], sizes: Option<Vec<i64>>) -> Done<View> {
    let mut made = View { buffer: view.buffer, offset: view.offset, ..View::default() };
    for (g, group) in groups.iter().enumerate() {
        let pick = |all: &[i64]| group.iter().map(|d| all[*d as usize]).collect::<Vec<_>>();
        if let Some(sizes) = &sizes {
            let own = pick(sizes);
            if own.iter().try_fold(1i64, |all, n| all.checked_mul(*n)) != Some(view.sizes[g]) {
                return Err("a shape of another size".into());
            }
            made.strides.extend(row_major(&own)?.iter().map(|stride| stride.saturating_mul(view.strides[g])));
            made.sizes.extend(own);
        } else {
            // A dimension goes on where the next one ends; one element has no stride.
            let pairs = pick(&view.sizes).into_iter().zip(pick(&view.strides));
            let pairs: Vec<(i64, i64)> = pairs.filter(|(n, _)| *n != 1).collect();
            if pairs.windows(2).any(|pair| pair[1].0.checked_mul(pair[1].1) != Some(pair[0].1)) {
                return Err("dimensions that do not lie one behind the other".into());
            }
            made.sizes.push(pairs.iter().fold(1i64, |all, pair| all.saturating_mul(pair.0)));
            made.strides.push(pairs.last().map_or(1, |pair| pair.1));
        }
    }
    Ok(made)
}

impl Machine<'_> {
    fn global(&mut self, symbol: &str) -> Done<Rc<View>> {
        if let Some(view) = self.globals.get(symbol) {
            return Ok(view.clone());
        }
        let (items, kind) = self.form.globals.get(symbol).ok_or("a global that is no constant")?;
        let view = self.allocate(items.clone(), &kind.sizes, Origin::Constant)?;
        self.globals.insert(symbol.to_owned(), view.clone());
        Ok(view)
    }
}
