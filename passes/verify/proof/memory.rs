//! The last store to an element.

use crate::proof::follow::Proof;
use crate::proof::linear::{Linear, Shown, Undecided, Var, replaced, unproved};
use crate::proof::statements::{BlockId, BufferId, Statement};
use crate::proof::value::{Carrier, Dim, Fold, LoopPosition, Origin, Thunk};
use std::cmp::Ordering;
use std::collections::BTreeMap;

/// A store that reaches the address, in the iterations of `place`, and in all of the loops `free`.
#[derive(Clone, Debug)]
pub struct Hit {
    at: (BlockId, usize),
    pub(super) place: LoopPosition,
    pub(super) lane: Linear,
    /// Loops, outermost first.
    chain: Vec<BlockId>,
    pub(super) free: Vec<BlockId>,
}

impl Proof<'_> {
    /// The origin of an element before a statement.
    pub(super) fn stored_at(
        &mut self,
        side: usize,
        buffer: BufferId,
        address: &Linear,
        at: (BlockId, usize),
        place: &LoopPosition,
    ) -> Shown<Origin> {
        let (mut block, mut index) = at;
        let program = self.programs[side];
        'block: loop {
            for k in (0..index).rev() {
                match &program.blocks[block].statements[k] {
                    Statement::Allocate(new) if *new == buffer => return Ok(Origin::Outside),
                    Statement::Value(_) | Statement::Allocate(_) => {}
                    Statement::Store { buffer: stored, .. } if *stored != buffer => {}
                    Statement::Store { .. } => {
                        if let Some(hit) = self.hit(side, &[], (block, k), address, place)? {
                            return self.value_of(side, hit, address).map(Origin::Stored);
                        }
                    }
                    Statement::Loop(inner) if !self.stored[side][*inner].contains(&buffer) => {}
                    Statement::Loop(inner) => {
                        if let Some((exit, _)) = program.blocks[*inner].exit {
                            (block, index) = (*inner, exit);
                            continue 'block;
                        }
                        match self.last_of(side, buffer, *inner, address, place, None) {
                            Ok(Some(thunk)) => return Ok(Origin::Stored(thunk)),
                            Ok(None) => {}
                            // It is what another iteration would begin with.
                            Err(stop) => {
                                let end = self.counted(side, *inner).map(|counted| Linear::constant(counted.end()));
                                return self.start_of(*inner, end, stop);
                            }
                        }
                    }
                }
            }
            let Some(parent) = program.blocks[block].parent else { return Ok(Origin::Outside) };
            if program.blocks[block].exit.is_some() && self.stored[side][block].contains(&buffer) {
                return Ok(Origin::Start(block, None));
            }
            for (kept, kept_at, blocks, thunk) in place.kept.iter().rev() {
                if *kept == buffer && blocks.contains(&block) && self.space.is_zero(&kept_at.minus(address)?)? {
                    self.note_order("what an iteration before left", kept_at, address, None);
                    return Ok(Origin::Stored(thunk.as_ref().clone()));
                }
            }
            if self.stored[side][block].contains(&buffer) {
                let now = self.iteration_of(block, place)?;
                match self.last_of(side, buffer, block, address, place, Some(&now)) {
                    Ok(Some(thunk)) => return Ok(Origin::Stored(thunk)),
                    Ok(None) => {}
                    Err(stop) => {
                        let now = self.counted(side, block).map(|_| now);
                        return self.start_of(block, now, stop);
                    }
                }
            }
            (block, index) = parent;
        }
    }

    /// The element that an iteration of a loop begins with, where it is not found which store left it.
    fn start_of(&self, block: BlockId, iteration: Option<Linear>, stop: Undecided) -> Shown<Origin> {
        match (stop, iteration) {
            (Undecided::Unproved(_), Some(iteration)) => Ok(Origin::Start(block, Some(iteration))),
            (stop, _) => Err(stop),
        }
    }

    /// The value that a loop's last store to an address leaves there, of all iterations or of those before one.
    fn last_of(
        &mut self,
        side: usize,
        buffer: BufferId,
        block: BlockId,
        address: &Linear,
        place: &LoopPosition,
        before: Option<&Linear>,
    ) -> Shown<Option<Thunk>> {
        let mut stores = Vec::new();
        self.stores(side, buffer, block, &mut vec![block], &mut stores);
        let mut last: Option<Hit> = None;
        let mut others = Vec::new();
        for (at, chain) in stores {
            let Some(hit) = self.hit(side, &chain, at, address, place)? else { continue };
            if let Some(before) = before {
                if hit.free.contains(&block) {
                    return unproved("an element that earlier iterations write, each of them");
                }
                let iteration = self.iteration_of(block, &hit.place)?;
                if self.programs[side].blocks[block].parallel && !self.space.is_zero(&before.minus(&iteration)?)? {
                    return unproved("an element that one iteration writes and another reads, in no order");
                }
                let earlier = self.space.at_least_zero(&before.minus(&iteration)?.add(-1)?)?;
                self.note_order("a store in an earlier iteration, or not", &iteration, before, Some(earlier));
                if !earlier {
                    continue;
                }
            }
            let later = match &last {
                None => true,
                Some(last) => self.order(side, last, &hit)? == Ordering::Less,
            };
            others.extend(if later { last.replace(hit) } else { Some(hit) });
        }
        let Some(last) = last else { return Ok(None) };
        // Of an element that a loop loads and stores again, nothing else in the loop may write.
        if let Some(outermost) = last.free.first() {
            let inside = |hit: &Hit| hit.chain.contains(outermost);
            if others.iter().any(inside) {
                return unproved("an element that two stores of a loop write");
            }
        }
        self.value_of(side, last, address).map(Some)
    }

    fn stores(
        &self,
        side: usize,
        buffer: BufferId,
        block: BlockId,
        chain: &mut Vec<BlockId>,
        found: &mut Vec<((BlockId, usize), Vec<BlockId>)>,
    ) {
        for (k, statement) in self.programs[side].blocks[block].statements.iter().enumerate() {
            match statement {
                Statement::Store { buffer: stored, .. } if *stored == buffer => found.push(((block, k), chain.clone())),
                Statement::Loop(inner) if self.stored[side][*inner].contains(&buffer) => {
                    chain.push(*inner);
                    self.stores(side, buffer, *inner, chain, found);
                    chain.pop();
                }
                _ => {}
            }
        }
    }

    /// The order of two stores, in the last iterations of their free loops.
    fn order(&mut self, side: usize, a: &Hit, b: &Hit) -> Shown<Ordering> {
        for (x, y) in a.chain.iter().zip(&b.chain) {
            if x != y {
                break;
            }
            match (a.free.contains(x), b.free.contains(x)) {
                (true, true) => {}
                (false, false) => {
                    let (first, second) = (self.iteration_of(*x, &a.place)?, self.iteration_of(*x, &b.place)?);
                    let difference = second.minus(&first)?;
                    if !self.space.is_zero(&difference)? {
                        if self.programs[side].blocks[*x].parallel {
                            return unproved("an element that two iterations write, in no order");
                        }
                        let later = self.space.at_least_zero(&difference.add(-1)?)?;
                        self.note_order("the later of two stores", &first, &second, Some(later));
                        return Ok(if later { Ordering::Less } else { Ordering::Greater });
                    }
                    self.note_order("two stores in one iteration", &first, &second, None);
                }
                _ => return unproved("an element that some iterations of a loop write, and others again"),
            }
        }
        Ok(self.path(side, a.at).cmp(&self.path(side, b.at)))
    }

    /// The numbers of the statements that a statement is in, from the outermost on, and its own.
    pub(super) fn path(&self, side: usize, at: (BlockId, usize)) -> Vec<usize> {
        let mut path = vec![at.1];
        let mut block = at.0;
        while let Some((parent, index)) = self.programs[side].blocks[block].parent {
            path.push(index);
            block = parent;
        }
        path.reverse();
        path
    }

    /// [`Proof::reach`], with what is known.
    fn hit(
        &mut self,
        side: usize,
        chain: &[BlockId],
        at: (BlockId, usize),
        address: &Linear,
        place: &LoopPosition,
    ) -> Shown<Option<Hit>> {
        let miss = (side, at, chain.to_vec(), address.clone(), place.at.clone());
        if self.memo.is_miss(&miss) {
            return Ok(None);
        }
        let hit = self.reach(side, chain, at, address, place)?;
        self.note_store(side, chain, at, (address, place), hit.as_ref());
        if hit.is_none() {
            self.memo.note_miss(miss);
        }
        Ok(hit)
    }

    /// The iterations in which a store reaches an address; `chain` are the loops around it that `place` does not have.
    fn reach(
        &mut self,
        side: usize,
        chain: &[BlockId],
        at: (BlockId, usize),
        address: &Linear,
        place: &LoopPosition,
    ) -> Shown<Option<Hit>> {
        self.look()?;
        let program = self.programs[side];
        let Statement::Store { address: subscript, stride, lanes, .. } = &program.blocks[at.0].statements[at.1] else {
            return unproved("no store");
        };
        let lane = self.space.var(*lanes);
        let mut shifts = vec![0; chain.len()];
        let (inside, fresh, reached) = loop {
            let Some((inside, fresh)) = self.inside_of(side, chain, &shifts, place)? else { return Ok(None) };
            match self.subscript(side, subscript, &Linear::default(), &inside) {
                Err(Undecided::Split(var, at)) if self.shift(&mut shifts, &fresh, (var, at))? => {}
                reached => break (inside, fresh, reached?.plus(&Linear::var(lane).times(*stride)?)?),
            }
        };
        let all: Vec<Var> = fresh.iter().copied().chain([lane]).collect();
        let reached = self.space.normal(&reached)?;
        // What an iteration reads cannot say which iteration it is.
        let found = chain.iter().filter_map(|block| inside.at.get(block)).chain([&reached]);
        let data = found.flat_map(|e| e.terms.vars()).filter(|var| self.space.is_data(self.space.root_of(*var)));
        if data.into_iter().any(|var| self.space.depends(var, &|root| all.contains(&root))) {
            return unproved("an address that depends on data of each iteration");
        }
        // The digits of the new variables are unknown.
        let digits: Vec<Var> = all.iter().flat_map(|var| self.space.digits_of(*var)).collect();
        let unknown: Vec<(Var, i64)> = reached.terms.iter().filter(|(var, _)| digits.contains(var)).collect();
        let mut known = address.clone();
        for (var, a) in reached.terms.iter().filter(|(var, _)| !digits.contains(var)) {
            known = known.minus(&Linear::var(var).times(a)?)?;
        }
        known = known.add(-reached.constant)?;
        let mut ranges: Vec<(i64, i64, i64)> = Vec::new();
        for (var, a) in &unknown {
            let (low, high) = self.space.range_of(*var);
            ranges.push((*a, low, high));
        }
        // Loops over tiles of `size`, `y = size * x + z`, with the number of `y`: one unknown in place of two.
        let mut merged: Vec<(usize, usize, i64)> = Vec::new();
        for block in chain {
            let iteration = self.iteration_of(*block, &inside)?;
            for upper in &program.blocks[*block].uppers {
                let upper = self.subscript(side, upper, &Linear::default(), &inside)?;
                let room = self.space.normal(&upper.minus(&iteration)?.add(-1)?)?;
                let find = |var: Var| unknown.iter().position(|(known, _)| *known == var);
                let Some(size) = room.terms.iter().map(|(_, a)| -a).max().filter(|size| *size > 1) else { continue };
                let terms: Vec<(Option<usize>, i64)> = room.terms.iter().map(|(var, a)| (find(var), -a)).collect();
                let [(Some(x), m), (Some(z), n)] = terms[..] else { continue };
                let (outer, inner) = if m == size { (x, z) } else { (z, x) };
                let ((a, 0, _), (b, 0, most)) = (ranges[outer], ranges[inner]) else { continue };
                let free = merged.iter().all(|(o, i, _)| ![o, i].contains(&&outer) && ![o, i].contains(&&inner));
                if m.min(n) == 1 && free && b.checked_mul(size) == Some(a) && most <= size && room.constant >= 0 {
                    ranges[inner] = (b, 0, room.constant + 1);
                    merged.push((outer, inner, size));
                }
            }
        }
        let kept: Vec<usize> = (0..ranges.len()).filter(|k| merged.iter().all(|(outer, ..)| outer != k)).collect();
        let asked: Vec<(i64, i64, i64)> = kept.iter().map(|k| ranges[*k]).collect();
        let Some(found) = self.space.solve(&known, &asked)? else { return Ok(None) };
        let mut values = vec![Linear::default(); unknown.len()];
        kept.iter().zip(found).for_each(|(k, value)| values[*k] = value);
        for (outer, inner, size) in merged {
            let (q, r) = self.space.divide(&values[inner], size)?;
            let end = self.space.range_of(unknown[outer].0).1;
            if !self.space.at_least_zero(&Linear::constant(end - 1).minus(&q)?)? {
                return Ok(None);
            }
            let most = self.space.range_of(unknown[inner].0).1;
            if !self.space.at_least_zero(&Linear::constant(most - 1).minus(&r)?)? {
                return Ok(None);
            }
            (values[outer], values[inner]) = (q, r);
        }
        let with = unknown.iter().map(|(var, _)| *var).zip(values).collect();
        let mut hit =
            Hit { at, place: place.clone(), lane: Linear::default(), chain: chain.to_vec(), free: Vec::new() };
        for ((block, var), shift) in chain.iter().zip(&fresh).zip(shifts) {
            let of = self.space.digits_of(*var);
            let found = of.iter().filter(|digit| unknown.iter().any(|(var, _)| var == *digit)).count();
            let single = |digit: &Var| {
                let (low, high) = self.space.range_of(*digit);
                low + 1 == high
            };
            let (low, high) = self.space.range_of(*var);
            let body = &program.blocks[*block];
            if found == 0 && high - low > 1 && !of.iter().all(single) {
                if body.parallel {
                    return unproved("an element that several iterations write, in no order");
                }
                hit.free.push(*block);
                hit.place.at.remove(block);
                continue;
            }
            if of.iter().any(|digit| !single(digit) && !unknown.iter().any(|(var, _)| var == digit)) {
                return unproved("a loop of which a part of the iterations write the same element");
            }
            if !self.has_digits(*var, &with, true)? {
                return Ok(None);
            }
            let value = replaced(&self.space.normal(&Linear::var(*var))?, &with)?.add(-shift)?;
            if shift > 0 && !self.space.at_least_zero(&value)? {
                return Ok(None);
            }
            let lower = self.lower(side, *block, &hit.place)?;
            let iteration = value.times(body.step)?.plus(&lower)?;
            hit.place.at.insert(*block, iteration.clone());
            hit.place.carried.retain(|(carrying, _), _| carrying != block);
            for upper in &body.uppers {
                let upper = self.subscript(side, upper, &Linear::default(), &hit.place)?;
                if !self.space.at_least_zero(&upper.minus(&iteration)?.add(-1)?)? {
                    return Ok(None);
                }
            }
        }
        hit.place.kept.retain(|kept| !kept.2.iter().any(|block| chain.contains(block)));
        // Of the loops around the one that asks, those that are around the store, so that equal values have equal places.
        let around = &self.around[side][at.0];
        hit.place.at.retain(|block, _| around.contains(block));
        hit.place.carried.retain(|(block, _), _| around.contains(block));
        hit.place.kept.retain(|kept| kept.2.iter().any(|block| around.contains(block)));
        if !self.has_digits(lane, &with, false)? {
            return Ok(None);
        }
        hit.lane = replaced(&self.space.normal(&Linear::var(lane))?, &with)?;
        if let Statement::Store { mask: Some(mask), .. } = &program.blocks[at.0].statements[at.1] {
            let mask = Thunk::Value { side, value: *mask, lane: hit.lane.clone(), place: hit.place.clone() };
            match self.known(mask)? {
                Some(true) => {}
                Some(false) => return Ok(None),
                None => return unproved("a store under a mask that depends on data"),
            }
        }
        Ok(Some(hit))
    }

    /// Whether a variable, and each digit of it that is cut again, has the value of the digits that are found: they may have
    /// more than it has. The end of one that counts a loop's iterations `is_bounded` by the loop.
    fn has_digits(&mut self, var: Var, found: &BTreeMap<Var, Linear>, is_bounded: bool) -> Shown<bool> {
        for whole in self.space.inexact(var) {
            let (low, high) = self.space.range_of(whole);
            let value = replaced(&self.space.normal(&Linear::var(whole))?, found)?;
            if value.terms.vars().any(|part| self.space.root_of(part) == var) {
                return unproved("an element that a part of the lanes write");
            }
            let is_end = whole == var && is_bounded;
            if !self.space.at_least_zero(&value.add(-low)?)?
                || !is_end && !self.space.at_least_zero(&Linear::constant(high - 1).minus(&value)?)?
            {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The place in loops inside of another, at iterations that are variables less these numbers; none where a loop has no
    /// iteration.
    fn inside_of(
        &mut self,
        side: usize,
        chain: &[BlockId],
        shifts: &[i64],
        place: &LoopPosition,
    ) -> Shown<Option<(LoopPosition, Vec<Var>)>> {
        let mut inside = place.clone();
        let mut fresh: Vec<Var> = Vec::new();
        for (block, shift) in chain.iter().zip(shifts) {
            let extent = self.most_trips(side, *block, &inside)?;
            if extent == 0 {
                return Ok(None);
            }
            let var = self.space.var(extent.saturating_add(*shift));
            fresh.push(var);
            let lower = self.lower(side, *block, &inside)?;
            let iteration = Linear::var(var).add(-shift)?.times(self.programs[side].blocks[*block].step)?;
            inside.at.insert(*block, iteration.plus(&lower)?);
            inside.carried.retain(|(carrying, _), _| carrying != block);
        }
        inside.kept.retain(|kept| !kept.2.iter().any(|block| chain.contains(block)));
        Ok(Some((inside, fresh)))
    }

    /// Shifts the iterations of a loop such that a digit of them, to which a number is added, has no carry.
    ///
    /// ```text
    /// (i + 1) div 8, (i + 1) mod 8, for i = 8 x + y    y + 1 = 8 where y = 7, but not for i = 8 x + y - 1
    /// ```
    fn shift(&mut self, shifts: &mut [i64], fresh: &[Var], (digit, at): (Var, i64)) -> Shown<bool> {
        let root = self.space.root_of(digit);
        let Some(number) = fresh.iter().position(|var| *var == root).filter(|number| shifts[*number] == 0) else {
            return Ok(false);
        };
        let (low, high) = self.space.range_of(digit);
        let factor = self.space.normal(&Linear::var(root))?.terms.get(digit).unwrap_or(0);
        shifts[number] = (high - at).saturating_mul(factor);
        Ok(low == 0 && shifts[number] > 0)
    }

    /// At least as many iterations as a loop has.
    pub(super) fn most_trips(&mut self, side: usize, block: BlockId, place: &LoopPosition) -> Shown<i64> {
        let body = &self.programs[side].blocks[block];
        let mut most = None;
        for upper in &body.uppers {
            let upper = self.subscript(side, upper, &Linear::default(), place)?;
            let lower = self.lower(side, block, place)?;
            let high = self.space.range(&upper.minus(&lower)?)?.1;
            most = Some(most.map_or(high, |most: i64| most.min(high)));
        }
        Ok((most.unwrap_or(0).saturating_add(body.step - 1)).div_euclid(body.step).max(0))
    }

    /// The value that a store leaves, after all iterations of its free loops.
    fn value_of(&mut self, side: usize, hit: Hit, address: &Linear) -> Shown<Thunk> {
        let program = self.programs[side];
        let Statement::Store { buffer, value, .. } = program.blocks[hit.at.0].statements[hit.at.1] else {
            return unproved("no store");
        };
        let Some(outermost) = hit.free.first() else {
            return Ok(Thunk::Value { side, value, lane: hit.lane, place: hit.place });
        };
        let mut outside = hit.place.clone();
        let first_inside = hit.chain.iter().position(|block| block == outermost).unwrap_or(0);
        hit.chain[first_inside..].iter().for_each(|block| drop(outside.at.remove(block)));
        let Some(at) = program.blocks[*outermost].parent else { return unproved("no loop") };
        let first = Thunk::Memory { side, buffer, address: address.clone(), at, place: outside };
        let carrier = Carrier::Element(buffer, address.clone(), hit.chain[first_inside..].to_vec());
        self.kept(side, &hit, None, first, value, &carrier)
    }

    /// The fold over the free loops, in the outermost only over iterations of these numbers.
    fn kept(
        &mut self,
        side: usize,
        hit: &Hit,
        part: Option<(i64, i64)>,
        first: Thunk,
        value: usize,
        carrier: &Carrier,
    ) -> Shown<Thunk> {
        let mut place = hit.place.clone();
        let mut dims: Vec<Dim> = Vec::new();
        for block in &hit.free {
            let body = &self.programs[side].blocks[*block];
            let (from, extent) = match (self.trips(side, *block, &place), part) {
                (Err(Undecided::Split(var, at)), _) if dims.first().is_some_and(|d| d.var == var) => {
                    // From some iteration of the outermost loop on, this one runs another number of times.
                    let from = part.map_or(0, |part| part.0);
                    let end = from + dims[0].extent;
                    let first = self.kept(side, hit, Some((from, from + at)), first, value, carrier)?;
                    return self.kept(side, hit, Some((from + at, end)), first, value, carrier);
                }
                (Err(stop), _) => return Err(stop),
                (Ok(_), Some((from, end))) if dims.is_empty() => (from, end - from),
                (Ok(extent), _) => (0, extent),
            };
            if extent == 0 {
                return Ok(first);
            }
            let var = self.space.var(extent);
            dims.push(Dim { var, extent });
            let lower = self.lower(side, *block, &place)?;
            place.at.insert(*block, Linear::var(var).add(from)?.times(body.step)?.plus(&lower)?);
        }
        self.flat(Fold { side, dims, first, value, lane: hit.lane.clone(), place, carrier: carrier.clone() })
    }
}
