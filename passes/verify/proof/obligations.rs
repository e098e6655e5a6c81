//! Obligations of a proof about addresses, as formulas over integers that another solver can decide again.
//!
//! ```text
//! for %i = 0 to 8 { store %x, %a[%i] }    asked for: the element at j, 0 <= j < 8
//!
//! reached     0 <= j < 8                                  =>  0 <= j and j < 8 and j = j         (iteration j stores there)
//! only there  0 <= j < 8 and 0 <= i and i < 8 and i = j   =>  i = j                              (and no other does)
//! ```
//!
//! Addresses, bounds and masks stand in the formulas as they stand in the program: with the quotients and remainders that it
//! computes, and with the bounds of its loops. What the proof found is an expression of digits; a digit is written as the
//! quotient or remainder of what it is a digit of, and a case as the bounds of digits. So a solver follows neither the way in
//! which digits are cut nor that in which an equation is solved.
//!
//! Not written are the order of statements in a block, and which iterations of two folds belong together.

use crate::proof::follow::Proof;
use crate::proof::formula::{Formula, Obligation};
use crate::proof::linear::{Linear, Space, Var};
use crate::proof::memory::Hit;
use crate::proof::statements::{BlockId, Maker, Statements};
use crate::proof::subscript::{Subscript, ValueId};
use crate::proof::value::LoopPosition;
use std::collections::BTreeMap;

/// How many parts the expressions of an obligation may have: a value that is used twice is written twice.
const PARTS: usize = 10_000;

fn times(s: Subscript, factor: i64) -> Subscript {
    match s {
        s if factor == 1 => s,
        Subscript::Constant(c) => match c.checked_mul(factor) {
            Some(product) => Subscript::Constant(product),
            None => Subscript::Times(Box::new(Subscript::Constant(c)), factor),
        },
        s => Subscript::Times(Box::new(s), factor),
    }
}

fn minus(a: Subscript, b: Subscript, less: i64) -> Subscript {
    Subscript::Sum(vec![a, times(b, -1), Subscript::Constant(less.saturating_neg())])
}

/// `low <= s < high`.
fn between(s: &Subscript, low: i64, high: i64) -> [Formula; 2] {
    let [low, high] = [low, high].map(Subscript::Constant);
    [Formula::AtLeastZero(minus(s.clone(), low, 0)), Formula::AtLeastZero(minus(high, s.clone(), 1))]
}

/// One obligation that is being written. [`None`] is what cannot be.
pub struct Writer<'w> {
    program: &'w Statements,
    space: &'w Space,
    place: &'w LoopPosition,
    variables: usize,
    premises: Vec<Formula>,
    /// Variables of the space that are no digits.
    roots: BTreeMap<Var, Subscript>,
    /// Iterations other than those of the place.
    iterations: BTreeMap<BlockId, Subscript>,
    parts: usize,
}

impl Writer<'_> {
    fn variable(&mut self) -> Subscript {
        self.variables += 1;
        Subscript::Value(self.variables - 1)
    }

    /// A variable of the space, and with the first of its digits the ranges of all of them as premises.
    fn digit(&mut self, var: Var) -> Subscript {
        match self.space.part_of(var) {
            Some((whole, size, outer)) => {
                let whole = Box::new(self.digit(whole));
                if outer { Subscript::Quotient(whole, size) } else { Subscript::Remainder(whole, size) }
            }
            None => {
                if let Some(known) = self.roots.get(&var) {
                    return known.clone();
                }
                let new = self.variable();
                self.roots.insert(var, new.clone());
                let ranges = self.ranges(self.space, var);
                self.premises.extend(ranges);
                new
            }
        }
    }

    /// The ranges that a variable and its digits have in a space.
    fn ranges(&mut self, space: &Space, var: Var) -> Vec<Formula> {
        let (low, high) = space.range_of(var);
        let mut all = between(&self.digit(var), low, high).to_vec();
        for part in space.cut_of(var).into_iter().flat_map(|(outer, inner, _)| [outer, inner]) {
            all.extend(self.ranges(space, part));
        }
        all
    }

    pub fn sum(&mut self, e: &Linear) -> Subscript {
        let mut all: Vec<Subscript> = e.terms.iter().map(|(var, a)| times(self.digit(var), a)).collect();
        if e.constant != 0 || all.is_empty() {
            all.push(Subscript::Constant(e.constant));
        }
        if all.len() == 1 { all.remove(0) } else { Subscript::Sum(all) }
    }

    /// An index of the program, at a lane.
    fn index(&mut self, s: &Subscript, lane: &Subscript) -> Option<Subscript> {
        self.parts = self.parts.checked_sub(1)?;
        Some(match s {
            Subscript::Constant(c) => Subscript::Constant(*c),
            Subscript::Value(value) => self.value(*value, lane)?,
            Subscript::Sum(all) => Subscript::Sum(all.iter().map(|s| self.index(s, lane)).collect::<Option<Vec<_>>>()?),
            Subscript::Times(s, c) => times(self.index(s, lane)?, *c),
            Subscript::Quotient(s, c) => Subscript::Quotient(Box::new(self.index(s, lane)?), *c),
            Subscript::Remainder(s, c) => Subscript::Remainder(Box::new(self.index(s, lane)?), *c),
        })
    }

    fn value(&mut self, value: ValueId, lane: &Subscript) -> Option<Subscript> {
        match &self.program.values[value].0 {
            Maker::Iteration(block) => match (self.iterations.get(block), self.place.at.get(block)) {
                (Some(known), _) => Some(known.clone()),
                (None, Some(e)) => Some(self.sum(e)),
                (None, None) => None,
            },
            Maker::Subscript(s) => self.index(s, lane),
            Maker::Extreme(all, greatest) => {
                let all = all.iter().map(|s| self.index(s, lane)).collect::<Option<Vec<_>>>()?;
                let new = self.variable();
                let beyond = |s: &Subscript| {
                    let (a, b) = if *greatest { (new.clone(), s.clone()) } else { (s.clone(), new.clone()) };
                    Formula::AtLeastZero(minus(a, b, 0))
                };
                self.premises.extend(all.iter().map(beyond));
                self.premises.push(Formula::Any(all.into_iter().map(|s| Formula::Equal(new.clone(), s)).collect()));
                Some(new)
            }
            Maker::Constant(items, _, true) => match &items[..] {
                [item] => Some(Subscript::Constant(*item as i64)),
                items => {
                    let new = self.variable();
                    let item = |(k, item): (usize, &u64)| {
                        let [k, item] = [k as i64, *item as i64].map(Subscript::Constant);
                        Formula::All(vec![Formula::Equal(lane.clone(), k), Formula::Equal(new.clone(), item)])
                    };
                    self.premises.push(Formula::Any(items.iter().enumerate().map(item).collect()));
                    Some(new)
                }
            },
            Maker::Select(c, x, y) => {
                let (c, x, y) = (self.truth(*c, lane)?, self.value(*x, lane)?, self.value(*y, lane)?);
                let new = self.variable();
                let either = [(c.clone(), x), (Formula::Not(Box::new(c)), y)];
                let either = either.map(|(c, x)| Formula::All(vec![c, Formula::Equal(new.clone(), x)]));
                self.premises.push(Formula::Any(either.to_vec()));
                Some(new)
            }
            Maker::Lanes(sources) => {
                let (value, lane) = lane_of(sources, lane)?;
                self.value(value, &lane)
            }
            Maker::Extract(vector, k, _) => {
                let k = self.index(k, lane)?;
                self.value(*vector, &k)
            }
            _ => None,
        }
    }

    /// A condition of the program, at a lane.
    fn truth(&mut self, value: ValueId, lane: &Subscript) -> Option<Formula> {
        self.parts = self.parts.checked_sub(1)?;
        Some(match &self.program.values[value].0 {
            Maker::AtLeastZero(s) => Formula::AtLeastZero(self.index(s, lane)?),
            Maker::And(x, y) => Formula::All(vec![self.truth(*x, lane)?, self.truth(*y, lane)?]),
            Maker::AndNot(x, y) => {
                Formula::All(vec![self.truth(*x, lane)?, Formula::Not(Box::new(self.truth(*y, lane)?))])
            }
            Maker::Constant(items, ..) if items.len() == 1 => match items[0] {
                0 => Formula::Any(vec![]),
                _ => Formula::All(vec![]),
            },
            Maker::Constant(items, ..) => {
                let yes = (0i64..).zip(items).filter(|(_, item)| **item != 0);
                Formula::Any(yes.map(|(k, _)| Formula::Equal(lane.clone(), Subscript::Constant(k))).collect())
            }
            Maker::Lanes(sources) => {
                let (value, lane) = lane_of(sources, lane)?;
                self.truth(value, &lane)?
            }
            _ => return None,
        })
    }

    /// The conditions under which an iteration is one of a loop.
    fn runs(&mut self, block: BlockId, iteration: &Subscript) -> Option<Vec<Formula>> {
        let (body, none) = (&self.program.blocks[block], Subscript::Constant(0));
        let lower = self.index(body.lower.as_ref().unwrap_or(&none), &none)?;
        let from = minus(iteration.clone(), lower, 0);
        let mut all = vec![Formula::AtLeastZero(from.clone())];
        if body.step != 1 {
            all.push(Formula::Equal(Subscript::Remainder(Box::new(from), body.step), none.clone()));
        }
        for upper in &body.uppers {
            all.push(Formula::AtLeastZero(minus(self.index(upper, &none)?, iteration.clone(), 1)));
        }
        Some(all)
    }

    /// Any iteration of these loops, the outermost first.
    fn any_iterations(&mut self, chain: &[BlockId]) -> Option<()> {
        for block in chain {
            let iteration = self.variable();
            let runs = self.runs(*block, &iteration)?;
            self.premises.extend(runs);
            self.iterations.insert(*block, iteration);
        }
        Some(())
    }

    fn any_lane(&mut self, lanes: i64) -> Subscript {
        if lanes == 1 {
            return Subscript::Constant(0);
        }
        let lane = self.variable();
        self.premises.extend(between(&lane, 0, lanes));
        lane
    }

    fn address(&mut self, address: &Subscript, stride: i64, lane: &Subscript) -> Option<Subscript> {
        let first = self.index(address, &Subscript::Constant(0))?;
        Some(if stride == 0 { first } else { Subscript::Sum(vec![first, times(lane.clone(), stride)]) })
    }
}

/// The lane that a lane is of: each of the same one, or of the same number.
fn lane_of(sources: &[(ValueId, i64)], lane: &Subscript) -> Option<(ValueId, Subscript)> {
    let first = *sources.first()?;
    if sources.iter().all(|source| *source == first) {
        return Some((first.0, Subscript::Constant(first.1)));
    }
    let same = (0..).zip(sources).all(|(k, source)| *source == (first.0, k));
    same.then(|| (first.0, lane.clone()))
}

impl Proof<'_> {
    /// Writes an obligation, where they are wanted: its claim is what `claim` gives.
    pub(super) fn note(
        &mut self,
        about: &'static str,
        (side, place): (usize, &LoopPosition),
        claim: impl FnOnce(&mut Writer) -> Option<Formula>,
    ) {
        let Some(obligations) = &mut self.obligations else { return };
        let (roots, iterations) = (BTreeMap::new(), BTreeMap::new());
        let (program, space) = (self.programs[side], &self.space);
        let mut writer =
            Writer { program, space, place, variables: 0, premises: vec![], roots, iterations, parts: PARTS };
        let Some(claim) = claim(&mut writer) else {
            obligations.unwritten += 1;
            return;
        };
        if matches!(&claim, Formula::Equal(a, b) if a == b) {
            return;
        }
        for fact in space.facts() {
            let fact = writer.sum(fact);
            writer.premises.push(Formula::AtLeastZero(fact));
        }
        let new = Obligation { about, variables: writer.variables, premises: writer.premises, claim };
        obligations.add(new);
    }

    /// Records that two sums are equal, or the first is less or not.
    pub(super) fn note_order(&mut self, about: &'static str, a: &Linear, b: &Linear, less: Option<bool>) {
        self.note(about, (0, &LoopPosition::default()), |writer| {
            let (a, b) = (writer.sum(a), writer.sum(b));
            Some(match less {
                None => Formula::Equal(a, b),
                Some(true) => Formula::AtLeastZero(minus(b, a, 1)),
                Some(false) => Formula::AtLeastZero(minus(a, b, 0)),
            })
        });
    }

    /// Records that a sum is the address of an access, at a lane.
    pub(super) fn note_address(
        &mut self,
        (side, place): (usize, &LoopPosition),
        (address, stride): (&Subscript, i64),
        lane: &Linear,
        found: &Linear,
    ) {
        self.note("the address of a load", (side, place), |writer| {
            let lane = writer.sum(lane);
            Some(Formula::Equal(writer.address(address, stride, &lane)?, writer.sum(found)))
        });
    }

    /// Records that an element's index has this address, in which value `usize::MAX - d` is the index of dimension `d`.
    pub(super) fn note_layout(&mut self, address: &Subscript, index: &[Linear], found: &Linear) {
        fn with(s: &Subscript, index: &[Subscript]) -> Option<Subscript> {
            Some(match s {
                Subscript::Constant(c) => Subscript::Constant(*c),
                Subscript::Value(value) => index.get(usize::MAX - value)?.clone(),
                Subscript::Sum(all) => Subscript::Sum(all.iter().map(|s| with(s, index)).collect::<Option<_>>()?),
                Subscript::Times(s, c) => times(with(s, index)?, *c),
                Subscript::Quotient(s, c) => Subscript::Quotient(Box::new(with(s, index)?), *c),
                Subscript::Remainder(s, c) => Subscript::Remainder(Box::new(with(s, index)?), *c),
            })
        }
        self.note("the address of an element", (0, &LoopPosition::default()), |writer| {
            let index: Vec<Subscript> = index.iter().map(|e| writer.sum(e)).collect();
            Some(Formula::Equal(with(address, &index)?, writer.sum(found)))
        });
    }

    /// Records that a load or a store is inside of a buffer of this size, in all iterations in which it runs.
    pub(super) fn note_bounds(&mut self, side: usize, at: (BlockId, usize), chain: &[BlockId], size: i64) {
        let program = self.programs[side];
        let Some((address, stride, lanes, mask)) = program.access(at) else { return };
        self.note("an access inside of its buffer", (side, &LoopPosition::default()), |writer| {
            writer.any_iterations(chain)?;
            let lane = writer.any_lane(lanes);
            // Where a mask depends on data, all lanes have to be inside.
            if let Some(mask) = mask.and_then(|mask| writer.truth(mask, &lane)) {
                writer.premises.push(mask);
            }
            let address = writer.address(address, stride, &lane)?;
            Some(Formula::All(between(&address, 0, size).to_vec()))
        });
    }

    /// Records that a store does not reach an address, or in which iterations of `chain` it does.
    pub(super) fn note_store(
        &mut self,
        side: usize,
        chain: &[BlockId],
        at: (BlockId, usize),
        (asked, place): (&Linear, &LoopPosition),
        hit: Option<&Hit>,
    ) {
        let program = self.programs[side];
        let Some((address, stride, lanes, mask)) = program.access(at) else { return };
        let about = if hit.is_some() { "no other iteration of a store" } else { "a store elsewhere" };
        self.note(about, (side, place), |writer| {
            writer.any_iterations(chain)?;
            let lane = writer.any_lane(lanes);
            if let Some(mask) = mask {
                let mask = writer.truth(mask, &lane)?;
                writer.premises.push(mask);
            }
            let reached = Formula::Equal(writer.address(address, stride, &lane)?, writer.sum(asked));
            writer.premises.push(reached);
            let Some(hit) = hit else { return Some(Formula::Any(vec![])) };
            let mut same = vec![];
            for block in chain.iter().filter(|block| !hit.free.contains(block)) {
                same.push(Formula::Equal(writer.iterations[block].clone(), writer.sum(hit.place.at.get(block)?)));
            }
            if stride != 0 {
                same.push(Formula::Equal(lane, writer.sum(&hit.lane)));
            }
            Some(Formula::All(same))
        });
        let Some(hit) = hit else { return };
        self.note("an iteration of a store", (side, &hit.place), |writer| {
            let mut holds = vec![];
            for block in chain {
                match hit.place.at.get(block) {
                    Some(e) if !hit.free.contains(block) => {
                        let iteration = writer.sum(e);
                        holds.extend(writer.runs(*block, &iteration)?);
                    }
                    _ => writer.any_iterations(&[*block])?,
                }
            }
            let lane = writer.sum(&hit.lane);
            holds.extend(between(&lane, 0, lanes));
            if let Some(mask) = mask {
                holds.push(writer.truth(mask, &lane)?);
            }
            holds.push(Formula::Equal(writer.address(address, stride, &lane)?, writer.sum(asked)));
            Some(Formula::All(holds))
        });
    }

    /// Records that a loop runs as often as this.
    pub(super) fn note_trips(&mut self, side: usize, block: BlockId, place: &LoopPosition, trips: i64) {
        self.note("how often a loop runs", (side, place), |writer| {
            let (body, none) = (&writer.program.blocks[block], Subscript::Constant(0));
            let lower = writer.index(body.lower.as_ref().unwrap_or(&none), &none)?;
            let number =
                |n: i64| Some(Subscript::Sum(vec![lower.clone(), Subscript::Constant(n.checked_mul(body.step)?)]));
            let mut holds = vec![];
            if trips > 0 {
                holds.extend(writer.runs(block, &number(trips - 1)?)?);
            }
            holds.push(Formula::Not(Box::new(Formula::All(writer.runs(block, &number(trips)?)?))));
            Some(Formula::All(holds))
        });
    }

    /// Records that the cases of a variable are all that there are.
    pub(super) fn note_cases(&mut self, var: Var, parts: [(i64, i64); 2]) {
        if self.obligations.is_none() {
            return;
        }
        let parts = parts.map(|(low, high)| {
            let mut part = self.space.clone();
            part.restrict(var, low, high).then_some(part)
        });
        self.note("the cases of an index", (0, &LoopPosition::default()), |writer| {
            let root = writer.space.root_of(var);
            writer.digit(root);
            let cases = parts.iter().flatten().map(|space| Formula::All(writer.ranges(space, root)));
            Some(Formula::Any(cases.collect()))
        });
    }
}
