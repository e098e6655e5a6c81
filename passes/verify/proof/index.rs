//! The values of indices, as sums of index variables.

use crate::proof::equations::{bits_of, constant_text};
use crate::proof::follow::{DEPTH, Proof};
use crate::proof::layout::AddressMap;
use crate::proof::linear::{Linear, Shown, unproved};
use crate::proof::provenance::Provenance;
use crate::proof::statements::{BlockId, BufferId, FunctionResult, Maker, Statements};
use crate::proof::subscript::Subscript;
use crate::proof::value::{Head, LoopPosition, Thunk};
use crate::reader::arith;
use crate::reader::calc::Calc;
use crate::reader::flags::NSW;

/// The bits of integers whose sums and products are numbers of 64 bits here. Of wider ones, what is promised counts.
const WIDE: u32 = 32;

/// The bits of an index whose products with sizes do not wrap around.
const INDEX: u32 = 62;

impl Proof<'_> {
    /// The address of an index.
    pub(super) fn address(&mut self, layout: &AddressMap, index: &[Linear]) -> Shown<Linear> {
        // The dimensions stand for values that are not there.
        let dims: Vec<Subscript> = (0..index.len()).map(|d| Subscript::Value(usize::MAX - d)).collect();
        let address = layout.address(&dims);
        let found = self.addressed(&address, index)?;
        self.note_layout(&address, index, &found);
        Ok(found)
    }

    pub(super) fn addressed(&mut self, s: &Subscript, index: &[Linear]) -> Shown<Linear> {
        Ok(match s {
            Subscript::Constant(c) => Linear::constant(*c),
            Subscript::Value(value) => match index.get(usize::MAX - value) {
                Some(e) => e.clone(),
                None => return unproved("an offset known only at run time"),
            },
            Subscript::Sum(all) => {
                let mut sum = Linear::default();
                for s in all {
                    sum = sum.plus(&self.addressed(s, index)?)?;
                }
                sum
            }
            Subscript::Times(s, c) => self.addressed(s, index)?.times(*c)?,
            Subscript::Quotient(s, c) => {
                let e = self.addressed(s, index)?;
                self.space.divide(&e, *c)?.0
            }
            Subscript::Remainder(s, c) => {
                let e = self.addressed(s, index)?;
                self.space.divide(&e, *c)?.1
            }
        })
    }

    /// The address of the first copy of an argument's element in lowered memory: less all steps from copy to copy.
    pub(super) fn first_copy(&mut self, side: usize, buffer: BufferId, mut address: Linear) -> Shown<Linear> {
        let [meant, made] = self.programs;
        let number = (buffer < made.arguments).then(|| (made.results.len() - made.arguments) + buffer);
        let of = |program: &'_ Statements| match program.results.get(number?) {
            Some(FunctionResult::Elements(argument)) => argument.there.clone(),
            _ => None,
        };
        let (Some(AddressMap::Spread(places)), None, 1) = (of(meant), of(made), side) else { return Ok(address) };
        for copies in places.copies.iter().filter(|(n, step)| *n != 1 && *step != 0) {
            let Some(unit) = places.unit_around(*copies) else {
                return unproved("copies of elements between other elements");
            };
            let inside = self.space.divide(&address, unit)?.1;
            let copy = self.space.divide(&inside, copies.1)?.0;
            address = address.minus(&copy.times(copies.1)?)?;
        }
        Ok(address)
    }

    /// The one value of an expression; where it has several, a case for each.
    pub(super) fn one(&mut self, e: &Linear) -> Shown<i64> {
        let (low, high) = self.space.range(e)?;
        if low == high {
            return Ok(low);
        }
        match self.space.at_least_zero(&e.add(-(low + (high - low + 1) / 2))?) {
            Err(stop) => Err(stop),
            Ok(_) => unproved("a number that is not known"),
        }
    }

    /// The element of a constant at a lane.
    pub(super) fn constant(&mut self, items: &[u64], of: &str, index: bool, lane: &Linear) -> Shown<Head> {
        if let [item] = items {
            return Ok(if index {
                Head::Index(Linear::constant(*item as i64))
            } else {
                Head::Constant(constant_text(of, *item))
            });
        }
        let (low, high) = self.space.range(lane)?;
        let Some(part) =
            usize::try_from(low).ok().zip(usize::try_from(high).ok()).and_then(|(low, high)| items.get(low..=high))
        else {
            return unproved("a lane that is not there");
        };
        let step = part.get(1).map_or(0, |next| next.wrapping_sub(part[0]) as i64);
        if part.iter().all(|item| *item == part[0]) && !index {
            return Ok(Head::Constant(constant_text(of, part[0])));
        }
        if index && part.windows(2).all(|pair| pair[1].wrapping_sub(pair[0]) as i64 == step) {
            return Ok(Head::Index(lane.add(-low)?.times(step)?.add(part[0] as i64)?));
        }
        let lane = self.one(lane)?;
        self.constant(&items[lane as usize..=lane as usize], of, index, &Linear::default())
    }

    /// The numbers that operands are; none where one of them is none.
    pub(super) fn of_each<T>(
        &mut self,
        operands: &[Thunk],
        of: impl Fn(&mut Self, &Head) -> Shown<Option<T>>,
    ) -> Shown<Option<Vec<T>>> {
        if self.depth >= DEPTH {
            return Ok(None);
        }
        let mut numbers = vec![];
        for operand in operands {
            let head = self.head(operand.clone())?;
            self.depth += 1;
            let number = of(self, &head);
            self.depth -= 1;
            let Some(number) = number? else { return Ok(None) };
            numbers.push(number);
        }
        Ok(Some(numbers))
    }

    /// The number that an integer is, where it is computed of indices and constants, and fits its type as a signed number.
    pub(super) fn integer(&mut self, head: &Head) -> Shown<Option<Linear>> {
        let (operation, operands) = match head {
            Head::Index(e) => return Ok(Some(e.clone())),
            Head::Constant(text) => {
                let number =
                    text.split_once(' ').and_then(|(of, bits)| Some((bits_of(of)?, bits.parse::<u64>().ok()?)));
                return Ok(number.map(|(bits, n)| Linear::constant((n << (64 - bits)) as i64 >> (64 - bits))));
            }
            Head::Elements(operation, operands) => (operation, operands),
            _ => return Ok(None),
        };
        let is_computed = matches!(operation.calc(), Calc::Add | Calc::Sub | Calc::Mul | Calc::Trunc | Calc::ExtS);
        // What fits as a signed number keeps the promise that nothing overflows as one.
        let is_computed = is_computed && operation.flags & !NSW == 0;
        let (Some(bits), true) = (bits_of(&operation.element().text), is_computed) else { return Ok(None) };
        let Some(numbers) = self.of_each(operands, Self::integer)? else { return Ok(None) };
        let number = match (operation.calc(), &numbers[..]) {
            (Calc::Trunc | Calc::ExtS, [x]) => x.clone(),
            (Calc::Add, [x, y]) => x.plus(y)?,
            (Calc::Sub, [x, y]) => x.minus(y)?,
            (Calc::Mul, [x, y]) => match (x.as_constant(), y.as_constant()) {
                (_, Some(n)) => x.times(n)?,
                (Some(n), _) => y.times(n)?,
                _ => return Ok(None),
            },
            _ => return Ok(None),
        };
        let (low, high) = self.space.range(&number)?;
        let (least, most) = (i64::MIN >> (64 - bits), i64::MAX >> (64 - bits));
        Ok((least <= low && high <= most).then_some(number))
    }

    /// The bits of what is computed of indices and constants, and their number: a case for each value of these indices.
    fn bits(&mut self, head: &Head) -> Shown<Option<(u64, u32)>> {
        // A float is the operand of a conversion alone.
        let number =
            |text: &str| text.split_once(' ').and_then(|(of, n)| Some((n.parse().ok()?, bits_of(of).unwrap_or(64))));
        let (operation, operands) = match head {
            Head::Index(e) => return self.one(e).map(|n| Some((n as u64, 64))),
            Head::Constant(text) => return Ok(number(text)),
            Head::Elements(operation, operands) => (operation, operands),
            _ => return Ok(None),
        };
        let is_free = |operand: &Thunk| matches!(operand, Thunk::Value { side, value, .. } if self.provenances[*side][*value] != Provenance::Data);
        if !operands.iter().all(is_free) {
            return Ok(None);
        }
        let Some(numbers) = self.of_each(operands, Self::bits)? else { return Ok(None) };
        if *operation.name == *"select" {
            return Ok(numbers.first().map(|(c, _)| numbers[if *c & 1 == 1 { 1 } else { 2 }]));
        }
        let numbers: Vec<u64> = numbers.into_iter().map(|(bits, _)| bits).collect();
        Ok(operation.evaluated(&numbers, self.allowed).map(|bits| (bits, operation.element().bits)))
    }

    /// An index that is a signed integer of the program's data: any number of that integer's that is promised, the same one for the
    /// same term with the same indices in it.
    fn data_index(&mut self, head: &Head) -> Shown<Linear> {
        let unknown = || unproved("an index that depends on data");
        if let Some(number) = self.integer(head)? {
            return Ok(number);
        }
        if let Some((bits, width)) = self.bits(head)? {
            return Ok(Linear::constant(arith::signed(bits, width)));
        }
        let Head::Elements(cast, _) = head else { return unknown() };
        let mut words = cast.name.split_whitespace();
        let (Some(name), Some(to), Some(from)) = (words.next(), words.next_back(), words.next_back()) else {
            return unknown();
        };
        let bits =
            from.strip_prefix('i').and_then(|bits| bits.parse::<u32>().ok()).filter(|bits| (1..=64).contains(bits));
        let (low, high) = match (name, to, bits) {
            ("arith.index_cast", "index", Some(bits)) => (-(1 << (bits - 1).min(INDEX)), 1 << (bits - 1).min(INDEX)),
            ("arith.index_castui", "index", Some(bits @ ..64)) => (0, 1 << bits.min(INDEX)),
            ("arith.index_castui", "index", _) => (-(1 << INDEX), 1 << INDEX),
            _ => return unknown(),
        };
        let (text, indices) = self.term(head)?;
        if text.contains("before ") {
            return unknown();
        }
        let places = indices.iter().map(|index| self.space.normal(index)).collect::<Shown<Vec<_>>>()?;
        let range = match self.range_of_index(&text, &places)? {
            Some((least, end)) => (low.max(least), high.min(end)),
            None if bits > Some(WIDE) && !self.is_finding_ranges => return unknown(),
            None => (low, high),
        };
        Ok(Linear::var(self.space.data(&text, &places, range)?))
    }

    /// The value of an index, at a lane where it is a vector.
    pub(super) fn subscript(
        &mut self,
        side: usize,
        s: &Subscript,
        lane: &Linear,
        place: &LoopPosition,
    ) -> Shown<Linear> {
        Ok(match s {
            Subscript::Constant(c) => Linear::constant(*c),
            Subscript::Value(value) => match &self.programs[side].values[*value].0 {
                Maker::Iteration(block) => self.iteration_of(*block, place)?,
                Maker::Subscript(s) => {
                    self.look()?;
                    self.subscript(side, s, lane, place)?
                }
                _ => match self.head(Thunk::Value { side, value: *value, lane: lane.clone(), place: place.clone() })? {
                    Head::Index(e) => e,
                    head => self.data_index(&head)?,
                },
            },
            Subscript::Sum(all) => {
                let mut sum = Linear::default();
                for s in all {
                    sum = sum.plus(&self.subscript(side, s, lane, place)?)?;
                }
                sum
            }
            Subscript::Times(s, c) => self.subscript(side, s, lane, place)?.times(*c)?,
            Subscript::Quotient(s, c) => {
                let e = self.subscript(side, s, lane, place)?;
                self.space.divide(&e, *c)?.0
            }
            Subscript::Remainder(s, c) => {
                let e = self.subscript(side, s, lane, place)?;
                self.space.divide(&e, *c)?.1
            }
        })
    }

    /// The first value of a loop's induction variable.
    pub(super) fn lower(&mut self, side: usize, block: BlockId, place: &LoopPosition) -> Shown<Linear> {
        match &self.programs[side].blocks[block].lower {
            Some(lower) => self.subscript(side, lower, &Linear::default(), place),
            None => Ok(Linear::default()),
        }
    }
}
