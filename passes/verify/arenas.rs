//! Buffers that are parts of an arena: one memory of bytes, an argument or an allocation.
//!
//! ```text
//! %a = memref.view %arena[%c0]     : memref<64xi8> to memref<8xf32>    bytes 0 to 31    ─┐
//! linalg.exp ins(%x) outs(%a)                                                            │
//! linalg.neg ins(%a) outs(%y)                                                           ─┘
//! %b = memref.view %arena[%c16]    : memref<64xi8> to memref<8xf32>    bytes 16 to 47   ─┐
//! linalg.exp ins(%y) outs(%b)                                                           ─┘
//! ```
//!
//! The *life* of a view in a block is from the operation that makes it to the last one that reaches it. Where no two views
//! of shared bytes are alive at once, each may as well be memory of its own, whose elements are undefined at first: those
//! that the view finds are some of them. [`separated`] gives the function in which it is, and proofs are about that one.
//! Callers give an arena that is no other memory.

use crate::reader::bytes::OnBytes;
use crate::reader::model::{Action, Block, End, Function, Kind, Place, Program, Region, Slot, Step, Type};
use crate::reader::uses::{regions, regions_mut, uses, viewed, within};
use rustc_hash::{FxHashMap, FxHashSet};
use std::ops::Range;

/// The function with an allocation in place of each view of an arena, and without arenas; `None` if it has none. The last
/// `count` arguments are arenas.
///
/// # Errors
/// Why two views may be of the same bytes at once.
pub fn separated((program, function): (&Program, &Function), count: usize) -> Result<Option<Function>, String> {
    let Some(Region { blocks }) = &function.body else { return Ok(None) };
    let [block] = &blocks[..] else { return Ok(None) };
    let arenas = Arenas::new(function, block, count)?;
    if arenas.sizes.is_empty() {
        return Ok(None);
    }
    let views = Views::new((program, function), block, &arenas)?;
    views.check(block)?;
    let mut body = Region { blocks: blocks.clone() };
    views.separate(&mut body);
    let first = function.arguments.len() - count;
    body.blocks[0].arguments.truncate(first);
    let mut separated = Function { body: Some(body), ..function.clone() };
    separated.arguments.truncate(first);
    separated.padding.truncate(first);
    separated.attributes[0].truncate(first);
    Ok(Some(separated))
}

/// The bytes of a memref in row-major order, with the width of its elements; none of another type.
fn bytes(r#type: &Type) -> Option<i64> {
    let Type::Shaped { kind: Kind::MemRef, element, sizes, place: Place::RowMajor(None), .. } = r#type else {
        return None;
    };
    let width = i64::from(element.pitch() / 8);
    sizes.iter().try_fold(width, |product, size| product.checked_mul((*size)?))
}

/// Whether elements of a type may begin at a byte of an arena.
fn is_aligned(start: i64, r#type: &Type) -> bool {
    matches!(r#type, Type::Shaped { element, .. } if start % i64::from(element.pitch() / 8) == 0)
}

/// The arenas of a function.
struct Arenas {
    /// The bytes of each.
    sizes: FxHashMap<Slot, i64>,
    /// The arenas that callers give.
    given: Vec<Slot>,
}

impl Arenas {
    fn new(function: &Function, block: &Block, count: usize) -> Result<Arenas, String> {
        let given: Vec<Slot> = block.arguments.iter().rev().take(count).copied().collect();
        let allocated = block.steps.iter().filter(|step| is_allocation(step)).flat_map(|step| step.results.clone());
        let mut arenas: FxHashSet<Slot> = allocated.filter(|slot| function.slots[*slot as usize].is_bytes()).collect();
        let mut seen: FxHashSet<Slot> = FxHashSet::default();
        for (outer, step) in
            block.steps.iter().flat_map(|outer| within(outer).into_iter().map(move |step| (outer, step)))
        {
            match &step.action {
                Action::Bytes(OnBytes::View { source, .. }) => drop(seen.insert(*source)),
                Action::Free(_) if std::ptr::eq(outer, step) => {}
                _ if regions(&step.action).is_empty() => uses(step).iter().for_each(|slot| {
                    arenas.remove(slot);
                }),
                _ => {}
            }
        }
        arenas.retain(|slot| seen.contains(slot));
        let all = arenas.into_iter().chain(given.iter().copied());
        let sizes: FxHashMap<Slot, i64> =
            all.filter_map(|slot| Some((slot, bytes(&function.slots[slot as usize])?))).collect();
        match given.iter().all(|slot| sizes.contains_key(slot)) {
            true => Ok(Arenas { sizes, given }),
            false => Err("an arena whose bytes are not one after the other".to_owned()),
        }
    }
}

fn is_allocation(step: &Step) -> bool {
    step.name == "memref.alloc" && matches!(step.action, Action::Empty(_))
}

/// The views of a function's arenas.
struct Views<'f> {
    program: &'f Program,
    function: &'f Function,
    arenas: &'f Arenas,
    /// The arena and the bytes of each view of one.
    parts: FxHashMap<Slot, (Slot, Range<i64>)>,
    /// The view of an arena that a memref is a view of.
    bases: FxHashMap<Slot, Slot>,
}

/// When a view is reached in a block, by the numbers of the steps.
struct Life {
    view: Slot,
    first: usize,
    last: usize,
    /// Whether it is made inside of the step, not in the block.
    is_inside: bool,
}

impl<'f> Views<'f> {
    fn new(
        (program, function): (&'f Program, &'f Function),
        block: &'f Block,
        arenas: &'f Arenas,
    ) -> Result<Views<'f>, String> {
        let mut views = Views { program, function, arenas, parts: FxHashMap::default(), bases: FxHashMap::default() };
        let mut numbers: FxHashMap<Slot, i64> = FxHashMap::default();
        for step in block.steps.iter().flat_map(within) {
            if let (Action::Constant(items), [slot]) = (&step.action, &step.results[..]) {
                numbers.extend(items.first().map(|item| (*slot, *item as i64)));
            }
            if let (Action::Bytes(OnBytes::View { source, shift, .. }), [slot]) = (&step.action, &step.results[..])
                && let Some(size) = arenas.sizes.get(source)
            {
                let r#type = &function.slots[*slot as usize];
                let part = numbers.get(shift).filter(|start| is_aligned(**start, r#type)).zip(bytes(r#type));
                let part = part.and_then(|(start, bytes)| Some(*start..start.checked_add(bytes)?));
                let inside = part.filter(|part| 0 <= part.start && part.end <= *size);
                let part = inside.ok_or("a view of an arena whose bytes are not known, not aligned, or not in it")?;
                views.parts.insert(*slot, (*source, part));
                views.bases.insert(*slot, *slot);
            } else if let Some(base) = viewed(&step.action).and_then(|source| views.bases.get(&source)).copied() {
                views.bases.extend(step.results.iter().map(|slot| (*slot, base)));
            } else {
                views.check_step(step)?;
            }
        }
        Ok(views)
    }

    fn is_memory(&self, slot: Slot) -> bool {
        matches!(self.function.slots[slot as usize], Type::Shaped { kind: Kind::MemRef, .. })
    }

    /// Checks that a step lets nothing but views reach the memory of arenas.
    fn check_step(&self, step: &Step) -> Result<(), String> {
        let is_new = is_allocation(step) || matches!(step.action, Action::Global(_) | Action::Empty(_));
        let gives = |slots: &[Slot]| slots.iter().any(|slot| self.is_memory(*slot));
        if !is_new && viewed(&step.action).is_none() && gives(&step.results) {
            return Err(format!("arenas beside the memory that {} gives", step.name));
        }
        let stays = matches!(step.action, Action::Bytes(OnBytes::Start { .. } | OnBytes::Address(_)));
        if stays && uses(step).iter().any(|slot| self.bases.contains_key(slot)) {
            return Err(format!("{} of a part of an arena", step.name));
        }
        if let Action::Call { callee, .. } = &step.action
            && uses(step).iter().any(|slot| self.bases.contains_key(slot))
            && self.may_free(callee)
        {
            return Err("a part of an arena that a function may free".to_owned());
        }
        if let Action::Free(slot) = step.action {
            let is_given = self.arenas.given.contains(&slot);
            return if is_given || self.bases.contains_key(&slot) {
                Err("an arena that ends here".to_owned())
            } else {
                Ok(())
            };
        }
        if regions(&step.action).is_empty() && uses(step).iter().any(|slot| self.arenas.sizes.contains_key(slot)) {
            return Err(format!("{} of an arena", step.name));
        }
        let inner = regions(&step.action).iter().flat_map(|region| &region.blocks);
        let makes_views = || within(step).iter().any(|step| self.is_view(step));
        if matches!(step.action, Action::Parallel { .. }) && makes_views() {
            return Err("a view of an arena in a parallel loop".to_owned());
        }
        let takes_memory =
            !matches!(step.action, Action::Nest(_)) && inner.clone().any(|block| gives(&block.arguments));
        if takes_memory || regions(&step.action).iter().any(|region| region.blocks.len() != 1) {
            return Err(format!("arenas beside {}", step.name));
        }
        Ok(())
    }

    /// Whether a function, or one that it calls, frees memory.
    fn may_free(&self, function: &str) -> bool {
        let (mut open, mut seen) = (vec![function], FxHashSet::default());
        while let Some(name) = open.pop() {
            let Some(function) = self.program.functions.get(name).filter(|_| seen.insert(name)) else { continue };
            let steps =
                function.body.iter().flat_map(|body| &body.blocks).flat_map(|block| &block.steps).flat_map(within);
            if steps.into_iter().any(|step| matches!(step.action, Action::Free(_))) {
                return true;
            }
            open.extend(function.names.iter().map(String::as_str));
        }
        false
    }

    fn is_view(&self, step: &Step) -> bool {
        matches!(&step.action, Action::Bytes(OnBytes::View { source, .. }) if self.arenas.sizes.contains_key(source))
    }

    /// Checks that views of shared bytes are not alive at once in a block, and that nothing reaches an arena behind its end.
    /// Returns the views that are made in it.
    fn check(&self, block: &Block) -> Result<Vec<Slot>, String> {
        let mut lives: FxHashMap<Slot, Life> = FxHashMap::default();
        let mut freed: FxHashSet<Slot> = FxHashSet::default();
        for (number, step) in block.steps.iter().enumerate() {
            let mut made: Vec<(Slot, bool)> = vec![];
            for block in regions(&step.action).iter().flat_map(|region| &region.blocks) {
                made.extend(self.check(block)?.into_iter().map(|view| (view, true)));
            }
            if self.is_view(step) {
                made.extend(step.results.iter().map(|view| (*view, false)));
            }
            for (view, is_inside) in made {
                lives.insert(view, Life { view, first: number, last: number, is_inside });
            }
            for slot in uses(step) {
                let view = self.bases.get(&slot);
                if let Some(life) = view.and_then(|view| lives.get_mut(view)) {
                    life.last = number;
                }
                // A view that is made inside of the step is of an arena that the step uses.
                if freed.contains(&view.map_or(slot, |view| self.parts[view].0)) {
                    return Err("an arena that is reached behind its end".to_owned());
                }
            }
            if let Action::Free(slot) = step.action
                && self.arenas.sizes.contains_key(&slot)
            {
                freed.insert(slot);
            }
        }
        let End::Yield { values, .. } = &block.end else { return Err("arenas beside branches".to_owned()) };
        for slot in values.iter().filter(|slot| self.is_memory(**slot)) {
            if self.arenas.sizes.contains_key(slot) {
                return Err("an arena that is returned".to_owned());
            }
            let Some(view) = self.bases.get(slot) else { continue };
            // A private function may return what its callers give.
            let is_given = self.arenas.given.contains(&self.parts[view].0) && !self.function.public;
            let life = lives.get_mut(view).filter(|_| is_given).ok_or("a result in an arena")?;
            life.last = usize::MAX;
        }
        let mut lives: Vec<Life> = lives.into_values().collect();
        lives.sort_unstable_by_key(|life| (life.first, life.view));
        self.check_lives(&lives)?;
        Ok(lives.into_iter().map(|life| life.view).collect())
    }

    /// Checks that no two lives, in the order of their beginnings, are of shared bytes at once.
    fn check_lives(&self, lives: &[Life]) -> Result<(), String> {
        let mut alive: Vec<&Life> = vec![];
        for life in lives {
            alive.retain(|other| other.last >= life.first);
            let (arena, part) = &self.parts[&life.view];
            for other in &alive {
                // What is made in two blocks of one step is not alive at once; what is made in one is checked there.
                let is_beside = other.is_inside && life.is_inside && other.first == life.first;
                let (of_other, other) = &self.parts[&other.view];
                if !is_beside && arena == of_other && part.start < other.end && other.start < part.end {
                    return Err("two buffers in the same bytes of an arena at once".to_owned());
                }
            }
            alive.push(life);
        }
        Ok(())
    }

    /// Makes allocations of the views of arenas, and removes the arenas.
    fn separate(&self, region: &mut Region) {
        for block in &mut region.blocks {
            block.steps.retain(|step| match &step.action {
                Action::Free(slot) => !self.arenas.sizes.contains_key(slot),
                Action::Empty(_) => !step.results.iter().any(|slot| self.arenas.sizes.contains_key(slot)),
                _ => true,
            });
            for step in &mut block.steps {
                if self.is_view(step) {
                    (step.name, step.action) = ("memref.alloc".to_owned(), Action::Empty(vec![]));
                }
                regions_mut(&mut step.action).iter_mut().for_each(|region| self.separate(region));
            }
        }
    }
}
