//! Proofs one kernel at a time: a form whose operations say which operations of a form before they implement.
//!
//! `layout-lower-memrefs` replaces operations on whole buffers by kernels, and hands their numbers on to the code of each
//! kernel ([`Step::origins`]). Both functions are then sequences of *segments*:
//!
//! ```text
//! before                                        after
//! %m = memref.alloc()            {0}            %m = memref.alloc()            {0}
//! linalg.exp ins(%x) outs(%m)    {1}            scf.for .. vector.store ..     {1, 2}
//! linalg.neg ins(%m) outs(%y)    {2}            memref.dealloc %m
//! ```
//!
//! A segment is shown to do with the buffers that it reaches what the operations of its numbers do with theirs. By induction
//! over the segments all buffers are the same after each of them, if
//!
//! - each operation with effects is in one segment, on both sides;
//! - operations that change places in the order of the segments reach no buffer that one of them writes, and are no assertions;
//! - a buffer without a counterpart is reached in one segment alone, or never written;
//! - of two buffers that one stands for, the second is reached from the last segment on that reaches the first. Where that is one
//!   segment, the former program copies the second one to the first behind it, which nothing reaches any longer;
//! - nothing reaches a buffer behind the `memref.dealloc` of it, and none ends twice.
//!
//! Numbers are only a claim: wrong ones make segments that differ. A segment is shown by [`proof::same`], as two functions of
//! the buffers and scalars that it uses, so the work is linear in the number of kernels.

use crate::proof::formula::Obligations;
use crate::proof::{self, Pairs, Why};
use crate::reader::bytes::OnBytes;
use crate::reader::model::{Access, Action, Block, End, Expr, Function, Kind, Program, Region, Slot, Step, Type};
use crate::reader::uses::{region_uses, regions, uses, viewed, within};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;

type Found<T> = Result<T, Why>;

/// Why a function is not shown to be the same.
pub struct Unproved {
    pub why: Why,
    /// The location of the kernel that is not; `None` where it is the function as a whole.
    pub kernel: Option<usize>,
}

impl From<Why> for Unproved {
    fn from(why: Why) -> Unproved {
        Unproved { why, kernel: None }
    }
}

fn open<T>(why: impl Into<String>) -> Found<T> {
    Err(Why::Open(why.into()))
}

/// Proves that two functions do the same, segment by segment; `made` is a form after `meant`. If `is_exact`, a segment whose
/// buffers hold other elements is wrong; else it may be right for those that they have.
///
/// # Errors
/// Why that is not shown.
pub fn same(
    meant: (&Program, &Function),
    made: (&Program, &Function),
    (allowed, looks, is_exact): (u32, &mut usize, bool),
    noted: bool,
) -> Result<Obligations, Unproved> {
    let (before, after) = (Side::new(meant.1)?, Side::new(made.1)?);
    let segments = after.segments()?;
    before.check_origins(&after)?;
    let comparison = Comparison::new(&before, &after, &segments)?;
    comparison.keep_order()?;
    let mut all = Obligations::default();
    for number in 0..=segments.len() {
        let Some(mut pair) = comparison.functions(number)? else { continue };
        pair.iter_mut().for_each(|function| function.public = is_exact);
        let [a, b] = pair;
        let shown = proof::same((meant.0, &a), (made.0, &b), (allowed, &mut *looks, Pairs::All), noted);
        all.extend(shown.map_err(|why| comparison.unproved(number, why))?);
    }
    Ok(all)
}

/// The part that a step has in a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    /// It computes a value, a view or a size: each segment that uses it has a copy.
    Pure,
    /// It reads memory: each segment that uses it has a copy, as nothing between writes that memory.
    Read,
    /// It allocates: the one segment that uses it has it.
    Allocation,
    /// It has effects, and an origin.
    Anchor,
    /// `memref.dealloc`.
    Free,
}

/// A function of one block.
struct Side<'f> {
    function: &'f Function,
    block: &'f Block,
    roles: Vec<Role>,
    uses: Vec<Vec<Slot>>,
    /// The step that defines a slot.
    makers: FxHashMap<Slot, usize>,
    /// The buffers that the views of a function are of, by slot.
    bases: FxHashMap<Slot, Slot>,
    /// The buffers that a step may write.
    written: FxHashSet<Slot>,
}

impl<'f> Side<'f> {
    fn new(function: &'f Function) -> Found<Side<'f>> {
        let [block] = function.body.as_ref().map_or(&[][..], |body| &body.blocks) else {
            return open("branches between blocks");
        };
        let mut side = Side {
            function,
            block,
            roles: vec![],
            uses: vec![],
            makers: FxHashMap::default(),
            bases: block.arguments.iter().map(|slot| (*slot, *slot)).collect(),
            written: FxHashSet::default(),
        };
        let is_tensor = |of: &Type| matches!(of, Type::Shaped { kind: Kind::Tensor, .. });
        if function.slots.iter().any(is_tensor) {
            return open("tensors");
        }
        for (number, step) in block.steps.iter().enumerate() {
            side.roles.push(role(step)?);
            if !side.has_dimension(step) {
                return open("a dimension that may not be there");
            }
            side.uses.push(uses(step));
            for slot in &step.results {
                side.makers.insert(*slot, number);
                let source = viewed(&step.action).filter(|source| side.is_memory(*source));
                let is_new = side.roles[number] == Role::Allocation || matches!(step.action, Action::Global(_));
                if side.is_memory(*slot) && source.is_none() && !is_new {
                    return open(format!("the memory that {} gives", step.name));
                }
                let base = source.and_then(|source| side.bases.get(&source)).copied().unwrap_or(*slot);
                side.bases.insert(*slot, base);
            }
            if side.roles[number] == Role::Anchor {
                side.written.extend(side.writes(number));
            }
        }
        Ok(side)
    }

    fn is_memory(&self, slot: Slot) -> bool {
        matches!(self.function.slots[slot as usize], Type::Shaped { kind: Kind::MemRef, .. })
    }

    /// The buffers that a step reaches.
    fn reached(&self, number: usize) -> impl Iterator<Item = Slot> {
        let memory = self.uses[number].iter().filter(|slot| self.is_memory(**slot));
        memory.filter_map(|slot| self.bases.get(slot)).copied()
    }

    /// The buffers that a step may write.
    fn writes(&self, number: usize) -> Vec<Slot> {
        let base = |slot: &Slot| self.bases.get(slot).copied();
        if self.roles[number] == Role::Read {
            return vec![];
        }
        match &self.block.steps[number].action {
            Action::Nest(nest) if !region_uses(&nest.body).iter().any(|slot| self.is_memory(*slot)) => {
                nest.outputs.iter().filter_map(base).collect()
            }
            Action::Copy { to, .. } => base(to).into_iter().collect(),
            _ => self.reached(number).collect(),
        }
    }

    /// The steps in segments: of one set of numbers each, one behind the other.
    fn segments(&self) -> Found<Vec<Segment>> {
        let mut segments: Vec<Segment> = vec![];
        let mut seen = FxHashSet::default();
        for (number, step) in self.block.steps.iter().enumerate().filter(|(n, _)| self.roles[*n] == Role::Anchor) {
            match segments.last_mut() {
                Some(last) if last.numbers == step.origins => last.anchors.push(number),
                _ => {
                    if !step.origins.iter().all(|origin| seen.insert(*origin)) {
                        return open("kernels that are not one behind the other");
                    }
                    segments.push(Segment { numbers: step.origins.clone(), anchors: vec![number] });
                }
            }
        }
        Ok(segments)
    }
}

impl Side<'_> {
    /// All steps, and those inside of them.
    fn all_steps(&self) -> impl Iterator<Item = &Step> {
        self.block.steps.iter().flat_map(within)
    }

    /// Checks that the numbers of a later form's steps are of operations of this one.
    fn check_origins(&self, later: &Side) -> Result<(), Unproved> {
        let known: FxHashSet<i64> = self.all_steps().flat_map(|step| &step.origins).copied().collect();
        for step in later.all_steps() {
            if let Some(number) = step.origins.iter().find(|number| !known.contains(number)) {
                let why = format!("{}: no operation has the number {number}", step.name);
                return Err(Unproved { why: Why::Wrong(why), kernel: Some(step.location) });
            }
        }
        Ok(())
    }

    /// Whether a step gives the size of a dimension that there is, or anything else.
    fn has_dimension(&self, step: &Step) -> bool {
        let Action::Dim { source, dim } = &step.action else { return true };
        let Type::Shaped { sizes, .. } = &self.function.slots[*source as usize] else { return false };
        let maker = self.makers.get(dim).map(|maker| &self.block.steps[*maker].action);
        matches!(maker, Some(Action::Constant(items)) if items.iter().all(|item| *item < sizes.len() as u64))
    }
}

/// Steps of the later form with the same numbers.
struct Segment {
    numbers: Vec<i64>,
    /// The steps with effects.
    anchors: Vec<usize>,
}

/// The role of a step; an error for a step that has none.
fn role(step: &Step) -> Found<Role> {
    let traps = |name: &str| ["div", "rem"].iter().any(|part| name.contains(part)) && !name.ends_with('f');
    let mut inner = regions(&step.action).iter().flat_map(|region| &region.blocks).flat_map(|block| &block.steps);
    Ok(match &step.action {
        Action::Free(_) => Role::Free,
        Action::Empty(_) if step.name.starts_with("memref.") => Role::Allocation,
        _ if !step.origins.is_empty() => Role::Anchor,
        Action::Compute { operator, .. } if traps(&operator.name) => return open("a division outside of loops"),
        Action::Index(bound) if bound.exprs.iter().any(divides_by_operand) => {
            return open("a division outside of loops");
        }
        Action::Loop { .. } | Action::If { .. } | Action::Switch { .. } | Action::Run(_)
            if inner.all(|step| matches!(role(step), Ok(Role::Pure | Role::Read))) =>
        {
            Role::Read
        }
        Action::Index(_)
        | Action::Constant(_)
        | Action::Compute { .. }
        | Action::Lanes { .. }
        | Action::Bitcast(_)
        | Action::Insert { .. }
        | Action::Global(_)
        | Action::Cast(_)
        | Action::Slice { insert: None, .. }
        | Action::Reshape { .. }
        | Action::Transpose { .. }
        | Action::Reinterpret { .. }
        | Action::Metadata(_)
        | Action::Dim { .. }
        | Action::Bytes(OnBytes::View { .. } | OnBytes::Bools(_) | OnBytes::Recast(_) | OnBytes::Address(_))
        | Action::Nothing => Role::Pure,
        Action::Access(Access { store: None, .. }) | Action::Extract { .. } => Role::Read,
        _ => return open(format!("{} without an origin", step.name)),
    })
}

/// The steps of both forms by the segments of the later one.
struct Comparison<'s, 'f> {
    sides: [&'s Side<'f>; 2],
    segments: &'s [Segment],
    /// The segments of each step; the end is behind the last.
    owners: [Vec<Vec<usize>>; 2],
    /// The steps of each segment, in their order.
    members: [Vec<Vec<usize>>; 2],
    /// The later counterparts of former buffers and of arguments.
    kept: FxHashMap<Slot, Slot>,
    /// The former buffers of each later one, each with the first and the last segment that reach it.
    former: FxHashMap<Slot, Vec<(Slot, [usize; 2])>>,
    /// The former buffers that one later buffer stands for in one segment: what is reached for the last time, and what takes its
    /// place.
    replaced: FxHashMap<usize, Vec<[Slot; 2]>>,
}

impl<'s, 'f> Comparison<'s, 'f> {
    fn new(before: &'s Side<'f>, after: &'s Side<'f>, segments: &'s [Segment]) -> Found<Comparison<'s, 'f>> {
        if before.block.arguments.len() != after.block.arguments.len() {
            return open("arguments of another number");
        }
        let arguments = before.block.arguments.iter().copied().zip(after.block.arguments.iter().copied());
        let mut comparison = Comparison {
            sides: [before, after],
            segments,
            owners: [before, after].map(|side| vec![vec![]; side.block.steps.len()]),
            members: [0, 1].map(|_| vec![vec![]; segments.len() + 1]),
            kept: arguments.clone().collect(),
            former: arguments.map(|(former, later)| (later, vec![(former, [0, segments.len()])])).collect(),
            replaced: FxHashMap::default(),
        };
        comparison.find_owners()?;
        comparison.find_buffers();
        comparison.leave_local();
        for side in 0..2 {
            comparison.pull(side)?;
            for (step, owners) in comparison.owners[side].iter().enumerate() {
                owners.iter().for_each(|owner| comparison.members[side][*owner].push(step));
            }
        }
        let is_dead = |number: usize| after.roles[number] == Role::Read && comparison.owners[1][number].is_empty();
        if (0..after.roles.len()).any(is_dead) {
            return open("a load that nothing uses");
        }
        comparison.find_spans()?;
        comparison.check_frees()?;
        Ok(comparison)
    }

    /// Gives each step with effects its segment.
    fn find_owners(&mut self) -> Found<()> {
        let mut of_numbers = FxHashMap::default();
        for (number, segment) in self.segments.iter().enumerate() {
            segment.anchors.iter().for_each(|step| self.owners[1][*step].push(number));
            of_numbers.extend(segment.numbers.iter().map(|origin| (*origin, number)));
        }
        let before = self.sides[0];
        for (number, step) in before.block.steps.iter().enumerate().filter(|(n, _)| before.roles[*n] == Role::Anchor) {
            match step.origins.first().and_then(|origin| of_numbers.get(origin)) {
                Some(owner) => self.owners[0][number].push(*owner),
                None => return open(format!("{} that nothing implements", step.name)),
            }
        }
        Ok(())
    }

    /// Finds the allocations that are the same in both forms: the only ones with their numbers. One of the later form may have
    /// the numbers of several, whose buffers are reached one after the other; each begins with undefined elements, which may be
    /// those that the one before left.
    fn find_buffers(&mut self) {
        let [former, later] = self.sides.map(|side| {
            let steps = side.block.steps.iter().zip(&side.roles).filter(|(_, role)| **role == Role::Allocation);
            steps.map(|(step, _)| step).collect::<Vec<&Step>>()
        });
        let mut by_number: FxHashMap<i64, Vec<&Step>> = FxHashMap::default();
        later.iter().for_each(|step| {
            step.origins.iter().for_each(|number| by_number.entry(*number).or_default().push(step));
        });
        for step in former {
            let Some([made]) = step.origins.first().and_then(|number| by_number.get(number)).map(|steps| &steps[..])
            else {
                continue;
            };
            if let ([former], [later], true) = (&step.results[..], &made.results[..], step.name == made.name) {
                self.kept.insert(*former, *later);
                self.former.entry(*later).or_default().push((*former, [usize::MAX, 0]));
            }
        }
    }

    /// Takes buffers that one segment alone reaches, the same one in both forms, out of those that are compared: what it leaves
    /// there, nobody reads.
    fn leave_local(&mut self) {
        let [former, later] = [0, 1].map(|side| self.local(side));
        let arguments: FxHashSet<Slot> = self.sides[0].block.arguments.iter().copied().collect();
        let is_local = |a: &Slot, b: &Slot| {
            let segment = former.get(a).copied().flatten();
            !arguments.contains(a) && segment.is_some() && segment == later.get(b).copied().flatten()
        };
        let local: Vec<(Slot, Slot)> =
            self.kept.iter().map(|(a, b)| (*a, *b)).filter(|(a, b)| is_local(a, b)).collect();
        for (former, later) in local {
            self.kept.remove(&former);
            self.former.remove(&later);
        }
    }

    /// The segment whose operations alone reach a buffer, by buffer; `None` where others may.
    fn local(&self, number: usize) -> FxHashMap<Slot, Option<usize>> {
        let side = self.sides[number];
        let mut all: FxHashMap<Slot, Option<usize>> = FxHashMap::default();
        for (step, role) in side.roles.iter().enumerate() {
            let segment = match role {
                Role::Anchor => self.owners[number][step].first().copied(),
                Role::Read => None,
                Role::Pure | Role::Allocation | Role::Free => continue,
            };
            for base in side.reached(step) {
                all.entry(base).and_modify(|known| *known = known.filter(|_| *known == segment)).or_insert(segment);
            }
        }
        let End::Yield { values, .. } = &side.block.end else { return all };
        all.extend(values.iter().filter_map(|slot| side.bases.get(slot)).map(|base| (*base, None)));
        all
    }

    /// Finds the segments in which each buffer is reached: those of two that one buffer stands for follow each other.
    fn find_spans(&mut self) -> Found<()> {
        let side = self.sides[0];
        let mut spans: FxHashMap<Slot, [usize; 2]> = FxHashMap::default();
        let End::Yield { values, .. } = &side.block.end else { return open("branches between blocks") };
        let returned = values.iter().filter_map(|slot| side.bases.get(slot)).map(|base| (*base, self.segments.len()));
        let reached = self.owners[0].iter().enumerate().flat_map(|(number, owners)| {
            side.reached(number).flat_map(|base| owners.iter().map(move |owner| (base, *owner)))
        });
        for (base, segment) in reached.chain(returned) {
            let [first, last] = spans.entry(base).or_insert([segment; 2]);
            (*first, *last) = (segment.min(*first), segment.max(*last));
        }
        let end = self.segments.len();
        for several in self.former.values_mut().filter(|former| former.len() > 1) {
            several.retain(|(former, _)| spans.contains_key(former));
            several.iter_mut().for_each(|(former, span)| *span = spans[former]);
            several.sort_by_key(|(_, span)| *span);
            let of = |slot: Slot| &side.function.slots[slot as usize];
            let is_apart = several.windows(2).all(|pair| {
                let [(old, [_, last]), (new, [first, _])] = [pair[0], pair[1]];
                last < first || last == first && first < end && of(old) == of(new)
            });
            if !is_apart || several.windows(3).any(|three| three[0].1[1] == three[2].1[0]) {
                return open("a buffer that stands for two at once");
            }
            for pair in several.windows(2).filter(|pair| pair[0].1[1] == pair[1].1[0]) {
                self.replaced.entry(pair[0].1[1]).or_default().push([pair[0].0, pair[1].0]);
            }
        }
        Ok(())
    }

    /// The former buffer or argument that a later one stands for in a segment.
    fn former(&self, later: Slot, segment: usize) -> Option<Slot> {
        match &self.former[&later][..] {
            [(former, _)] => Some(*former),
            several => {
                several.iter().find(|(_, span)| (span[0]..=span[1]).contains(&segment)).map(|(former, _)| *former)
            }
        }
    }

    /// Whether a slot is an argument of the function of a segment.
    fn is_input(&self, side: usize, slot: Slot, segment: usize) -> bool {
        let is_new = |pairs: &Vec<[Slot; 2]>| pairs.iter().any(|[_, new]| *new == slot);
        self.is_shared(side, slot) && (side == 1 || !self.replaced.get(&segment).is_some_and(is_new))
    }

    /// Whether a slot is an argument of the functions of segments.
    fn is_shared(&self, side: usize, slot: Slot) -> bool {
        if side == 0 { self.kept.contains_key(&slot) } else { self.former.contains_key(&slot) }
    }

    /// Gives what is read and what is allocated for one segment alone to the segment that uses it.
    fn pull(&mut self, number: usize) -> Found<()> {
        let side = self.sides[number];
        let (steps, End::Yield { values, .. }) = (&side.block.steps, &side.block.end) else {
            return open("branches between blocks");
        };
        let end = self.segments.len();
        let mut wanted: Vec<(Slot, usize)> = values.iter().map(|slot| (*slot, end)).collect();
        for (step, owners) in self.owners[number].iter().enumerate() {
            wanted.extend(owners.iter().flat_map(|owner| side.uses[step].iter().map(|slot| (*slot, *owner))));
        }
        let mut seen: FxHashSet<(Slot, usize)> = FxHashSet::default();
        while let Some((slot, owner)) = wanted.pop() {
            if self.is_shared(number, slot) || !seen.insert((slot, owner)) {
                continue;
            }
            let Some(step) = side.makers.get(&slot).copied() else { return open("a value of another block") };
            let owners = &mut self.owners[number][step];
            match (side.roles[step], owners.contains(&owner)) {
                (Role::Pure, _) | (_, true) => {}
                (Role::Read, _) => owners.push(owner),
                (Role::Allocation, _) if owners.is_empty() => owners.push(owner),
                // What nobody writes is undefined in each copy.
                (Role::Allocation, _) if !side.written.contains(&slot) => owners.push(owner),
                _ => return open(format!("the result of {}, which two kernels use", steps[step].name)),
            }
            wanted.extend(side.uses[step].iter().map(|slot| (*slot, owner)));
        }
        Ok(())
    }

    /// Checks that a freed buffer was allocated here, is freed once, and is not reached afterwards.
    fn check_frees(&self) -> Found<()> {
        for side in self.sides {
            let mut freed = FxHashSet::default();
            // Buffers that may end inside of a step.
            let mut inside = FxHashSet::default();
            for (number, step) in side.block.steps.iter().enumerate() {
                if side.reached(number).any(|base| freed.contains(&base)) {
                    return open("a buffer that is used behind its end");
                }
                let Action::Free(slot) = step.action else {
                    if within(step).iter().any(|step| matches!(step.action, Action::Free(_) | Action::Call { .. })) {
                        inside.extend(side.reached(number));
                    }
                    continue;
                };
                if inside.contains(&slot) {
                    return open("a buffer that may end twice");
                }
                let maker = side.makers.get(&slot).map(|maker| &side.block.steps[*maker]);
                if maker.is_none_or(|maker| maker.name != "memref.alloc") {
                    return open("memory that is freed and was not allocated here");
                }
                freed.insert(slot);
            }
            let End::Yield { values, .. } = &side.block.end else { continue };
            if values.iter().any(|slot| side.bases.get(slot).is_some_and(|base| freed.contains(base))) {
                return open("a buffer that is returned and freed");
            }
        }
        Ok(())
    }

    /// Checks that both forms may run in the order of the segments: a step comes behind those of later segments only where
    /// neither writes what the other one reaches, and neither may end the program.
    fn keep_order(&self) -> Found<()> {
        for (side, owners) in self.sides.into_iter().zip(&self.owners) {
            // The last segments that reached and that wrote a buffer; of no buffer, that are done and that may end the program.
            let mut last: FxHashMap<Option<Slot>, [usize; 2]> = FxHashMap::default();
            for (number, owners) in owners.iter().enumerate() {
                let (Some(first), Some(end)) = (owners.iter().min(), owners.iter().max()) else { continue };
                let written = side.writes(number);
                let may_end = may_end(&side.block.steps[number]);
                // Memory that nobody reaches may be there or not where a program ends.
                let is_done = side.roles[number] != Role::Allocation;
                for base in side.reached(number).map(Some).chain(is_done.then_some(None)) {
                    let [reached, wrote] = last.entry(base).or_default();
                    let is_written = base.map_or(may_end, |base| written.contains(&base));
                    if *wrote > *first || is_written && *reached > *first {
                        return open("kernels in another order");
                    }
                    *reached = (*end).max(*reached);
                    if is_written {
                        *wrote = (*end).max(*wrote);
                    }
                }
            }
        }
        Ok(())
    }

    /// Both functions of a segment, or behind the last, of what the forms return; none where they do nothing.
    fn functions(&self, segment: usize) -> Found<Option<[Function; 2]>> {
        let steps = [0, 1].map(|side| self.steps(side, segment));
        if steps.iter().all(Vec::is_empty) && segment < self.segments.len() {
            return Ok(None);
        }
        let [former, later] = [0, 1].map(|side| self.inputs(side, &steps[side], segment));
        let mut pairs: BTreeMap<Slot, Slot> = BTreeMap::new();
        for slot in later {
            let Some(former) = self.former(slot, segment) else { return open("a buffer that stands for none") };
            pairs.insert(slot, former);
        }
        pairs.extend(former.into_iter().map(|slot| (self.kept[&slot], slot)));
        Ok(Some([0, 1].map(|side| {
            let arguments = pairs.iter().map(|(b, a)| if side == 0 { *a } else { *b }).collect();
            self.function(side, arguments, &steps[side], segment)
        })))
    }

    /// Why a segment is not shown to be the same, with its name.
    fn unproved(&self, segment: usize, why: Why) -> Unproved {
        let first = self.segments.get(segment).map(|segment| &self.sides[1].block.steps[segment.anchors[0]]);
        let named = |why: String| format!("{}: {why}", first.map_or("the results", |step| &step.name));
        let why = match why {
            Why::Open(why) => Why::Open(named(why)),
            Why::Wrong(why) => Why::Wrong(named(why)),
        };
        Unproved { why, kernel: first.map(|step| step.location) }
    }

    /// The steps of a segment, in their order, with those that they use.
    fn steps(&self, number: usize, segment: usize) -> Vec<usize> {
        let side = self.sides[number];
        let is_input = |slot: &Slot| self.is_input(number, *slot, segment);
        let members = self.members[number][segment].iter().copied();
        let mut wanted: Vec<usize> =
            members.filter(|step| !side.block.steps[*step].results.iter().any(is_input)).collect();
        if let (End::Yield { values, .. }, true) = (&side.block.end, segment == self.segments.len()) {
            wanted.extend(values.iter().filter(|slot| !is_input(slot)).filter_map(|s| side.makers.get(s)));
        }
        let mut steps: FxHashSet<usize> = FxHashSet::default();
        while let Some(step) = wanted.pop() {
            if !steps.insert(step) {
                continue;
            }
            let inner = side.uses[step].iter().filter(|slot| !is_input(slot));
            wanted.extend(inner.filter_map(|slot| side.makers.get(slot)));
        }
        let mut steps: Vec<usize> = steps.into_iter().collect();
        steps.sort_unstable();
        steps
    }

    /// The buffers and scalars of both forms that a segment uses.
    fn inputs(&self, number: usize, steps: &[usize], segment: usize) -> Vec<Slot> {
        let side = self.sides[number];
        let mut inputs: Vec<Slot> = steps.iter().flat_map(|step| side.uses[*step].iter().copied()).collect();
        if let (End::Yield { values, .. }, true) = (&side.block.end, segment == self.segments.len()) {
            inputs.extend(values);
        }
        inputs.retain(|slot| self.is_input(number, *slot, segment));
        inputs
    }

    fn function(&self, number: usize, arguments: Vec<Slot>, steps: &[usize], segment: usize) -> Function {
        let side = self.sides[number];
        let values = match &side.block.end {
            End::Yield { values, .. } if segment == self.segments.len() => values.clone(),
            _ => vec![],
        };
        let types = |slots: &[Slot]| slots.iter().map(|slot| side.function.slots[*slot as usize].clone()).collect();
        let mut steps: Vec<Step> = steps.iter().map(|step| side.block.steps[*step].clone()).collect();
        if number == 0 {
            steps.extend(self.replaced.get(&segment).into_iter().flatten().map(|[old, new]| Step {
                name: "memref.copy".to_owned(),
                location: 0,
                results: vec![],
                action: Action::Copy { from: *new, to: *old },
                origins: vec![],
            }));
        }
        Function {
            results: types(&values),
            arguments: types(&arguments),
            slots: side.function.slots.clone(),
            padding: vec![None; arguments.len()],
            body: Some(Region {
                blocks: vec![Block { arguments, steps, end: End::Yield { values, inserts: vec![] } }],
            }),
            public: false,
            names: Default::default(),
            attributes: Default::default(),
        }
    }
}

/// Whether a step asks an assertion or may run forever, or may do so in another function.
fn may_end(step: &Step) -> bool {
    let is_it =
        |step: &&Step| matches!(step.action, Action::Assert { .. } | Action::Call { .. } | Action::While { .. });
    within(step).iter().any(is_it)
}

/// Whether an expression divides by what is no number of the text.
fn divides_by_operand(expr: &Expr) -> bool {
    match expr {
        Expr::Operand(_) | Expr::Constant(_) => false,
        Expr::Add(sides) | Expr::Mul(sides) => divides_by_operand(&sides.0) || divides_by_operand(&sides.1),
        Expr::Mod(sides) | Expr::FloorDiv(sides) | Expr::CeilDiv(sides) => {
            !matches!(sides.1, Expr::Constant(1..)) || divides_by_operand(&sides.0)
        }
    }
}
