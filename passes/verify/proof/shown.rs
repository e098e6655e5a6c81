//! Buffers of both programs that hold the same elements, each shown once.
//!
//! ```text
//! %h = linalg.matmul(..)       x at i, j of both programs leads to h at i, k, and that to all that makes it;
//! %x = linalg.matmul(%h, ..)   with `h = h` shown once for each i and k, it leads to h alone
//! ```
//!
//! Where elements of two buffers are compared, all elements of both are, at indices that are variables of their own. Then two
//! elements at equal indices are equal, whoever asks. A buffer is meant as it is at one point of the function, outside of its
//! loops, or in an iteration of those whose end data decide, so what is shown of one depends only on those that were written before.

use crate::proof::follow::Proof;
use crate::proof::index_range::{IndexRange, Place};
use crate::proof::layout::{AddressMap, row_major};
use crate::proof::linear::{Linear, Shown, Space, unproved};
use crate::proof::pairs::{ElementAt, Pair};
use crate::proof::statements::{BlockId, BufferAt, BufferId, Statement};
use crate::proof::value::{Head, LoopPosition, Thunk};

impl Proof<'_> {
    /// The elements of which it is to be shown whether they have names.
    pub(super) fn unnamed(&mut self) -> [Option<BufferAt>; 2] {
        self.naming.as_mut().map_or([None; 2], |naming| std::mem::take(&mut naming.unnamed))
    }

    /// From here on, these elements have no names.
    pub(super) fn leave_unnamed(&mut self, side: usize, of: BufferAt) {
        if let Some(naming) = &mut self.naming {
            naming.left[side].insert(of);
            self.namings[0] += 1;
            naming.numbers[side] = self.namings[0];
        }
    }

    /// A new number of a naming.
    pub(super) fn next_naming(&mut self) -> usize {
        self.namings[0] += 1;
        self.namings[0]
    }

    /// From here on, other elements have names.
    pub(super) fn note_names(&mut self) {
        self.usual.numbers = [self.next_naming(); 2];
        let number = self.next_naming();
        self.naming.iter_mut().for_each(|naming| naming.numbers = [number; 2]);
        self.namings[1] = number;
    }

    /// The name of an element of a buffer that is shown to hold the same as one of the other side.
    ///
    /// # Errors
    /// Where that is not known.
    pub(super) fn named(&mut self, side: usize, element: &ElementAt) -> Shown<Option<Head>> {
        if self.naming.is_none() {
            return Ok(None);
        }
        if let Some((name, offset)) = self.name(side, element.of) {
            return Ok(Some(Head::Input(name, element.address.add(-offset)?)));
        }
        let Some(naming) = &mut self.naming else { return Ok(None) };
        if naming.left[side].contains(&element.of) {
            return Ok(None);
        }
        naming.unnamed[side] = Some(element.of);
        unproved("an element that may have a name")
    }

    /// The name of a buffer's elements, and how many elements further those of that name are.
    pub(super) fn name(&self, side: usize, of: BufferAt) -> Option<(String, i64)> {
        let ((buffer, at), offset) = match side {
            0 => self.facts.names[0].get(&of).map(|_| (of, 0))?,
            _ => *self.facts.names[1].get(&of)?,
        };
        Some((format!("buffer {buffer} at {at:?}{:?}", self.moment(side, of.1.0)), offset))
    }

    /// Gives elements of two buffers one name, if they have none.
    pub(super) fn give_name(&mut self, a: BufferAt, b: BufferAt, offset: i64) -> bool {
        let is_free = |side: usize, of: &BufferAt| !self.facts.names[side].contains_key(of);
        let is_new = is_free(0, &a) && is_free(1, &b);
        if is_new {
            self.facts.names[0].insert(a, (b, 0));
            self.facts.names[1].insert(b, (a, offset));
            self.note_names();
        }
        is_new
    }

    /// Whether two buffers hold the same elements in the same order, which gives these a name.
    pub(super) fn are_same(&mut self, a: BufferAt, b: BufferAt) -> bool {
        let Some(Some((sizes, _))) = self.programs[0].shapes.get(a.0).cloned() else { return false };
        let Some(plain) = row_major(&sizes) else { return false };
        if !self.are_at_once([a.1.0, b.1.0]) {
            return false;
        }
        if !self.facts.pairs.contains_key(&(a, b)) {
            self.show_pair(&sizes, a, b, (&plain, 0));
        }
        match self.facts.pairs.get(&(a, b)) {
            Some(Pair::Same(layout, offset)) if *layout == plain => {
                let offset = *offset;
                self.give_name(a, b, offset)
            }
            _ => false,
        }
    }

    /// The element that an address is, where all that writes to the buffer is in blocks without iterations.
    pub(super) fn element(
        &self,
        side: usize,
        buffer: BufferId,
        address: &Linear,
        (mut block, mut index): (BlockId, usize),
    ) -> Option<ElementAt> {
        loop {
            for k in (0..index).rev() {
                let writes = match &self.programs[side].blocks[block].statements[k] {
                    Statement::Allocate(other) | Statement::Store { buffer: other, .. } => *other == buffer,
                    Statement::Loop(inner) => self.stored[side][*inner].contains(&buffer),
                    Statement::Value(_) => false,
                };
                if writes {
                    let is_single = self.programs[side].is_single(block);
                    return is_single.then(|| ElementAt { of: (buffer, (block, k + 1)), address: address.clone() });
                }
            }
            if self.stored[side][block].contains(&buffer) {
                let of = (buffer, (block, 0));
                return self.is_start(side, of).then(|| ElementAt { of, address: address.clone() });
            }
            (block, index) = self.programs[side].blocks[block].parent?;
        }
    }

    /// The index whose row-major number an address is; none where it is not one index in all cases.
    fn index_of(&mut self, address: &Linear, sizes: &[i64], strides: &[i64]) -> Shown<Option<Vec<Linear>>> {
        let mut index = Vec::new();
        let mut rest = address.clone();
        for (n, stride) in sizes.iter().zip(strides) {
            let (i, below) = self.space.divide(&rest, *stride)?;
            let (low, high) = self.space.range(&i)?;
            if low < 0 || high >= *n {
                return Ok(None);
            }
            index.push(i);
            rest = below;
        }
        Ok(Some(index))
    }

    /// Whether two elements are equal as all elements of their buffers are. `false` says nothing.
    pub(super) fn is_shown(&mut self, a: &ElementAt, b: &ElementAt) -> Shown<bool> {
        let Some(Some((sizes, tiled))) = self.programs[0].shapes.get(a.of.0).cloned() else { return Ok(false) };
        let plain = row_major(&sizes);
        let Some(AddressMap::Strided(_, strides)) = &plain else { return Ok(false) };
        let index = match self.index_of(&a.address, &sizes, strides) {
            Ok(Some(index)) => index,
            Ok(None) | Err(_) => return Ok(false),
        };
        let key = (a.of, b.of);
        if !self.are_at_once([a.of.1.0, b.of.1.0]) {
            return Ok(false);
        }
        match self.facts.pairs.get(&key) {
            Some(Pair::Open) => return Ok(false),
            Some(Pair::Same(layout, offset)) => {
                let (layout, offset) = (layout.clone(), *offset);
                let Ok(found) = self.address(&layout, &index) else { return Ok(false) };
                let found = found.add(offset)?;
                let same = self.space.is_zero(&found.minus(&b.address)?)?;
                if same {
                    self.note_order("an element that is shown", &found, &b.address, None);
                }
                return Ok(same);
            }
            None => {}
        }
        for layout in tiled.into_iter().chain(plain.clone()) {
            let Ok(at) = self.address(&layout, &index) else { continue };
            let Some(offset) = self.space.normal(&b.address.minus(&at)?)?.as_constant() else { continue };
            let is_shown = self.show_pair(&sizes, a.of, b.of, (&layout, offset));
            if is_shown {
                self.note_order("an element that is shown", &at.add(offset)?, &b.address, None);
            }
            return Ok(is_shown);
        }
        Ok(false)
    }

    /// Shows that all elements of a buffer are those of another one, if so, and notes it.
    fn show_pair(&mut self, sizes: &[i64], a: BufferAt, b: BufferAt, place: (&AddressMap, i64)) -> bool {
        let [first, second] = [(0, a), (1, b)].map(|(side, of)| self.signatures[side].get(&of));
        if first.zip(second).is_some_and(|(first, second)| first != second) {
            self.facts.pairs.insert((a, b), Pair::Open);
            return false;
        }
        let is_shown = match self.is_start(0, a) && self.is_start(1, b) {
            true => self.show_invariant(sizes, [a, b], place),
            false => {
                // What depends on itself is not shown.
                self.facts.pairs.insert((a, b), Pair::Open);
                self.show(sizes, a, b, place).is_ok()
            }
        };
        self.facts.pairs.insert((a, b), if is_shown { Pair::Same(place.0.clone(), place.1) } else { Pair::Open });
        is_shown
    }

    /// Proves that all elements of a buffer are those of another one.
    pub(super) fn show(&mut self, sizes: &[i64], a: BufferAt, b: BufferAt, place: (&AddressMap, i64)) -> Shown<()> {
        self.elsewhere(Space::default(), [a.1.0, b.1.0], |proof| proof.show_here(sizes, a, b, place))
    }

    /// Shows something of other variables, in these blocks.
    pub(super) fn elsewhere(
        &mut self,
        space: Space,
        home: [BlockId; 2],
        shown: impl FnOnce(&mut Self) -> Shown<()>,
    ) -> Shown<()> {
        let home = std::mem::replace(&mut self.home, home);
        let named = self.namings[1];
        let space = std::mem::replace(&mut self.space, space);
        let memo = std::mem::take(&mut self.memo);
        let naming = self.naming.take();
        // A range that assertions say at a place is not of these variables.
        let ranges = self.index_ranges.clone();
        let is_anywhere = |known: &IndexRange| !known.places.iter().any(|place| matches!(place, Place::At(_)));
        self.index_ranges.retain(|known| !known.places.is_empty() && is_anywhere(known));
        let was_finding = std::mem::replace(&mut self.is_finding_ranges, false);
        let shown = shown(self);
        (self.index_ranges, self.is_finding_ranges) = (ranges, was_finding);
        self.space = space;
        self.memo = memo;
        self.naming = naming;
        if self.namings[1] != named {
            self.note_names();
        }
        self.home = home;
        shown
    }

    fn show_here(
        &mut self,
        sizes: &[i64],
        a: BufferAt,
        b: BufferAt,
        (layout, offset): (&AddressMap, i64),
    ) -> Shown<()> {
        let Some(plain) = row_major(sizes) else { return unproved("a size beyond 64 bits") };
        let index: Vec<Linear> = sizes.iter().map(|n| Linear::var(self.space.var(*n))).collect();
        let first = self.address(&plain, &index)?;
        let second = self.address(layout, &index)?.add(offset)?;
        let [first, second] = [(0, a, first), (1, b, second)].map(|(side, (buffer, at), address)| Thunk::Memory {
            side,
            buffer,
            address,
            at,
            place: LoopPosition::default(),
        });
        self.equal(&first, &second)
    }
}
