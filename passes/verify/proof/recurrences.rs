//! Loops with a number of iterations, in both programs: what holds at the beginning of each iteration.
//!
//! ```text
//! for t { x = f(x, y); y = g(x, y) }      for t { u = f(u, v); v = g(u, v) }
//! ```
//!
//! Where no rule finds which store of an earlier iteration left an element, it stays what the iteration begins with. Behind a loop,
//! it is what one more iteration would begin with. Two such elements of loops with the same numbers are equal in each iteration `t`
//! if they are for the first one, and if those of `t + 1` follow from those of `t`. That may be taken for shown meanwhile, of as
//! many elements as it takes: what an element is followed to is older than the element, in the order of the first program.

use crate::proof::follow::Proof;
use crate::proof::lemmas::{numbered, space_of};
use crate::proof::linear::{Linear, Shown};
use crate::proof::pairs::{ElementAt, Lemma};
use crate::proof::statements::{BlockId, BufferAt};
use crate::proof::subscript::Subscript;
use crate::proof::value::{ElementIn, LoopPosition, TermText};

/// The values of a loop's induction variable, where they are numbers of the text.
#[derive(Clone, Copy, PartialEq)]
pub struct Counted {
    lower: i64,
    step: i64,
    trips: i64,
}

impl Counted {
    /// The value behind the last one.
    pub fn end(&self) -> i64 {
        self.lower + self.step * self.trips
    }
}

impl Proof<'_> {
    /// The values of a loop's induction variable; none of a loop without an order, without iterations, or with other bounds.
    pub(super) fn counted(&self, side: usize, block: BlockId) -> Option<Counted> {
        let body = &self.programs[side].blocks[block];
        let (Some(Subscript::Constant(lower)), [Subscript::Constant(upper)]) = (&body.lower, &body.uppers[..]) else {
            return None;
        };
        let (lower, step) = (*lower, body.step);
        let trips = upper.checked_sub(lower)?.checked_add(step - 1)?.div_euclid(step);
        trips.checked_mul(step)?.checked_add(lower)?;
        trips.checked_add(1)?;
        (!body.parallel && trips > 0).then_some(Counted { lower, step, trips })
    }

    /// An element at the beginning of an iteration, at a place in the loops around it.
    pub(super) fn started(
        &self,
        (side, (buffer, at)): (usize, BufferAt),
        address: Linear,
        iteration: Option<Linear>,
        place: &LoopPosition,
    ) -> Shown<ElementIn> {
        let of = |block: BlockId| match &iteration {
            Some(iteration) if block == at.0 => Ok(iteration.clone()),
            _ => self.iteration_of(block, place),
        };
        let loops = self.programs[side].counted_loops(at.0).into_iter();
        let iterations = loops.map(|block| Ok((block, of(block)?))).collect::<Shown<_>>()?;
        Ok(ElementIn { side, buffer, at, iterations, address })
    }

    /// Whether an element of the first program and one of the second are equal at the beginning of each iteration.
    pub(super) fn is_same_start(&mut self, a: &ElementIn, b: &ElementIn) -> Shown<bool> {
        let blocks = [a.at.0, b.at.0];
        let [now, other] = [a, b].map(|element| element.iterations.get(&element.at.0).cloned().unwrap_or_default());
        match [0, 1].map(|side| self.counted(side, blocks[side])) {
            [Some(count), Some(same)] if count == same => {
                if !self.are_at_once(blocks) || !self.space.is_zero(&now.minus(&other)?)? {
                    return Ok(false);
                }
                let whole = self.in_each_iteration([a, b], &count, true)?;
                let one = self.in_each_iteration([a, b], &count, false)?;
                Ok([whole, one].into_iter().flatten().any(|lemma| self.recurs(lemma, &count)))
            }
            [None, None] if self.programs[0].blocks[blocks[0]].exit.is_some() => {
                let [first, second] = [a, b].map(|e| ElementAt { of: (e.buffer, e.at), address: e.address.clone() });
                self.is_shown(&first, &second)
            }
            _ => Ok(false),
        }
    }

    /// Two elements in any iteration of their loops, or behind it; all elements of both buffers, if `whole`.
    fn in_each_iteration(&self, elements: [&ElementIn; 2], count: &Counted, whole: bool) -> Shown<Option<Lemma>> {
        let [a, b] = elements;
        let sizes = elements.map(|element| self.programs[element.side].buffers[element.buffer].0);
        let is_one_of_all = a.address == b.address && sizes[0] == sizes[1];
        if whole && !(is_one_of_all && elements.iter().all(|element| element.iterations.len() == 1)) {
            return Ok(None);
        }
        let mut space = self.space.clone();
        let iteration = Linear::var(space.var(count.trips + 1)).times(count.step)?.add(count.lower)?;
        let all = Linear::var(space.var(sizes[0]));
        let general = elements.map(|element| {
            let mut element = element.clone();
            element.iterations.insert(element.at.0, iteration.clone());
            if whole {
                element.address = all.clone();
            }
            element
        });
        numbered(&space, general).map(Some)
    }

    /// Whether two elements are equal in each iteration, by induction.
    fn recurs(&mut self, lemma: Lemma, count: &Counted) -> bool {
        if let Some(known) = self.facts.lemmas.get(&lemma) {
            return *known;
        }
        let is_shown = self.or_forgotten(|proof| {
            proof.facts.lemmas.insert(lemma.clone(), true);
            let parents = [0, 1].map(|k| {
                let ElementIn { side, at, .. } = lemma.elements[k];
                proof.programs[side].blocks[at.0].parent.unwrap_or_default()
            });
            let outside = [0, 1].map(|k| {
                let mut element = ElementIn { at: parents[k], ..lemma.elements[k].clone() };
                element.iterations.remove(&lemma.elements[k].at.0);
                element.thunk()
            });
            let [first, second] = &outside;
            proof.elsewhere(space_of(&lemma), parents.map(|at| at.0), |proof| proof.equal(first, second))?;
            let next = [0, 1].map(|k| {
                let element = lemma.elements[k].clone();
                let block = element.at.0;
                let end = proof.programs[element.side].blocks[block].statements.len();
                ElementIn { at: (block, end), ..element }.thunk()
            });
            let [first, second] = &next;
            let mut space = space_of(&lemma);
            let now = &lemma.elements[0].iterations[&lemma.elements[0].at.0];
            now.terms.vars().all(|number| space.restrict(number, 0, count.trips));
            proof.elsewhere(space, lemma.elements.each_ref().map(|element| element.at.0), |proof| {
                proof.equal(first, second)
            })
        });
        self.facts.lemmas.insert(lemma, is_shown);
        is_shown
    }

    /// An element that an iteration begins with as a term: of the second program, the one of the first that it is equal to.
    pub(super) fn start_term(&mut self, element: &ElementIn) -> Shown<TermText> {
        if self.programs[element.side].blocks[element.at.0].exit.is_some() {
            let (name, offset) = self.start_name(element.side, (element.buffer, element.at));
            return Ok((format!("{name}[#]").into(), vec![element.address.add(-offset)?]));
        }
        let of = match element.side {
            0 => {
                let of = (element.buffer, element.at);
                if !self.starts.contains(&of) {
                    self.starts.push(of);
                }
                element.clone()
            }
            _ => self.counterpart(element)?,
        };
        let moment = self.moment(of.side, of.at.0);
        let indices: Vec<Linear> = of.iterations.into_values().chain([of.address]).collect();
        let places = vec!["#"; indices.len()];
        Ok((format!("start {} {} {:?}{moment:?}{places:?}", of.side, of.buffer, of.at).into(), indices))
    }

    /// The element of the first program that one of the second is equal to in each iteration, or the one itself.
    fn counterpart(&mut self, made: &ElementIn) -> Shown<ElementIn> {
        for (buffer, at) in self.starts.clone() {
            let loops = self.programs[0].counted_loops(at.0);
            if loops.len() != made.iterations.len() {
                continue;
            }
            let iterations = loops.into_iter().zip(made.iterations.values().cloned()).collect();
            let meant = ElementIn { side: 0, buffer, at, iterations, address: made.address.clone() };
            if self.is_same_start(&meant, made)? {
                return Ok(meant);
            }
        }
        Ok(made.clone())
    }
}
