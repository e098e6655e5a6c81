//! Proofs that two programs leave the same elements, for sizes of any kind: each element is followed to its origin.
//!
//! An element of a result is asked of both programs, at an address that is an expression of index variables. In each,
//! the last store that reaches the address is found, which makes the iteration of its loops an expression of the same
//! variables; then the value that it stores is followed, operation by operation. Loads ask memory again, at the point
//! where they stand. A sum over a loop is a [`Fold`], of a value that the loop carries or of an element that it loads
//! and stores again; folds are equal where their iterations are the same in the same order, however they are cut.
//!
//! Where the answer depends on a variable (a store of the first half of a row, another of the rest), the ranges of the
//! variable are looked at one by one.

use crate::proof::dependence;
use crate::proof::formula::Obligations;

use crate::proof::index_range::IndexRange;
use crate::proof::linear::{Linear, Looks, Shown, Space, Undecided, unproved};
use crate::proof::memo::Memo;
use crate::proof::multiset::Family;
use crate::proof::operation::Operation;
use crate::proof::pairs::{ElementAt, Lemma, Naming, Pair};
use crate::proof::provenance::{Provenance, provenances};
use crate::proof::signatures::signatures;
use crate::proof::statements::{BlockId, BufferAt, BufferId, Contents, Maker, Statement, Statements};
use crate::proof::subscript::ValueId;
use crate::proof::value::{Head, LoopPosition, Origin, Thunk};
use crate::reader::flags::REASSOC;
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;
use std::rc::Rc;

/// How deep comparisons may be in each other: an operation on elements is a level, which takes 3 KiB of the stack.
pub(super) const DEPTH: usize = 400;

/// How often values may turn out not to be of the same terms in any order, until they are compared in their order alone. Of the
/// functions of test/passes and test/run, 4 shows as many as 32; `matmul.mlir` takes 0.15 s with 2, 0.18 s with 4.
const FAILURES: usize = 4;

/// A comparison in order takes one in so many of the looks that are left. Of 30 programs from linalg and torch-mlir, 24 are proved
/// with 4 and with 16, lowered and verified in 10.1 and 10.2 s; with 64 there are 23, in 17.6 s.
const IN_ORDER: usize = 16;

/// Comparisons of operands in their order, where these come in any.
#[derive(Default)]
struct InOrder {
    is_tried: bool,
    failures: usize,
}

/// A comparison of two programs: the one that is meant and the one that was made of it.
pub struct Proof<'p> {
    pub(super) programs: [&'p Statements; 2],
    pub(super) space: Space,
    pub(super) before: usize,
    /// How many values may be looked at, and how deep comparisons are in each other.
    pub(super) looks: Looks,
    pub(super) depth: usize,
    /// Flags of fast math that hold for all operations.
    pub(super) allowed: u32,
    /// The last number of what iterations get from the one before, of loops that are outside of what is compared.
    pub(super) outer: usize,
    /// The first variable that is new in the terms that are looked for.
    pub(super) first_point: usize,
    /// Whether the terms that are looked for are those of the second program.
    pub(super) is_made: bool,
    /// How often values were not of the same terms in any order.
    failures: usize,
    /// Whether what takes cases is compared in order, and how often that failed.
    order: InOrder,
    /// The families of terms in any order, by their text, with their operation.
    pub(super) nests: FxHashMap<Rc<str>, (Operation, Vec<Family>)>,
    /// The facts found in the cases that are being looked at.
    pub(super) memo: Memo,
    /// The obligations, where they are to be recorded.
    pub(super) obligations: Option<Obligations>,
    /// The buffers that a block stores to, itself or in a loop inside.
    pub(super) stored: [Vec<Vec<BufferId>>; 2],
    /// The loops that a block is in, and itself.
    pub(super) around: [Vec<Vec<BlockId>>; 2],
    /// The loops whose iterations each value depends on.
    pub(super) dependence: [Rc<Vec<BTreeSet<BlockId>>>; 2],
    /// The provenance of each value.
    pub(super) provenances: [Vec<Provenance>; 2],
    /// The signatures of the buffers of each side, where pairs with others are not tried.
    pub(super) signatures: [FxHashMap<BufferAt, u64>; 2],
    /// The ranges of indices that the first program reads, and whether they are being found.
    pub(super) index_ranges: Vec<IndexRange>,
    pub(super) is_finding_ranges: bool,
    /// The facts that rest on none of these ranges.
    pub(super) without_ranges: Facts,
    /// The last element of a buffer on the way to the value that was followed last.
    pub(super) element: Option<ElementAt>,
    pub(super) facts: Facts,
    /// The buffers of the first program that are terms as an iteration of a loop begins with them.
    pub(super) starts: Vec<BufferAt>,
    /// The blocks that what is compared stands in.
    pub(super) home: [BlockId; 2],
    /// Whether elements are to have names.
    pub(super) naming: Option<Naming>,
    /// The naming under which values were shown to have the same terms last.
    pub(super) usual: Naming,
    /// The last number of a naming, and the last one that there was when a name was given.
    pub(super) namings: [usize; 2],
}

/// The relations between the two programs that are shown, or are known not to be.
#[derive(Clone, Default)]
pub struct Facts {
    /// Buffers that hold the same, or may not.
    pub(super) pairs: FxHashMap<(BufferAt, BufferAt), Pair>,
    /// The buffers of each side whose elements are terms with names: that of the other side, and how many elements further.
    pub(super) names: [FxHashMap<BufferAt, (BufferAt, i64)>; 2],
    /// Whether loops whose end data decide have the same number of iterations.
    pub(super) in_step: FxHashMap<[BlockId; 2], bool>,
    /// Pairs of elements, and whether they are shown.
    pub(super) lemmas: FxHashMap<Lemma, bool>,
}

impl Facts {
    /// How many facts there are.
    pub(super) fn len(&self) -> usize {
        self.pairs.len() + self.names.iter().map(FxHashMap::len).sum::<usize>() + self.in_step.len() + self.lemmas.len()
    }
}

impl<'p> Proof<'p> {
    pub fn new(
        [meant, made]: [&'p Statements; 2],
        (allowed, looks): (u32, usize),
        obligations: Option<Obligations>,
    ) -> Proof<'p> {
        let stored = [meant, made].map(|program| {
            let mut stored = vec![Vec::new(); program.blocks.len()];
            for block in (0..program.blocks.len()).rev() {
                for statement in &program.blocks[block].statements {
                    let more = match statement {
                        Statement::Store { buffer, .. } => vec![*buffer],
                        Statement::Loop(inner) => stored[*inner].clone(),
                        Statement::Value(_) | Statement::Allocate(_) => Vec::new(),
                    };
                    stored[block].extend(more);
                }
            }
            stored
        });
        let around = [meant, made].map(|program| {
            let mut around: Vec<Vec<BlockId>> = Vec::new();
            for (block, body) in program.blocks.iter().enumerate() {
                let outer = body.parent.and_then(|(parent, _)| around.get(parent)).cloned().unwrap_or_default();
                around.push([&outer[..], &[block]].concat());
            }
            around
        });
        let dependence =
            [0, 1].map(|side| Rc::new(dependence::loops([meant, made][side], &stored[side], &around[side])));
        Proof {
            around,
            dependence,
            provenances: [meant, made].map(provenances),
            signatures: Default::default(),
            index_ranges: vec![],
            is_finding_ranges: false,
            facts: Facts::default(),
            without_ranges: Facts::default(),
            programs: [meant, made],
            space: Space::default(),
            before: 0,
            looks: Looks(looks),
            depth: 0,
            allowed,
            outer: 0,
            first_point: 0,
            is_made: false,
            failures: 0,
            order: InOrder::default(),
            nests: FxHashMap::default(),
            memo: Memo::default(),
            obligations,
            stored,
            element: None,
            starts: vec![],
            home: [0; 2],
            naming: None,
            usual: Naming { numbers: [1; 2], ..Naming::default() },
            namings: [1, 0],
        }
    }

    /// From here on, two buffers are compared only if they are computed of the same.
    pub(super) fn sign_buffers(&mut self) {
        self.signatures = [0, 1]
            .map(|side| signatures(self.programs[side], &self.provenances[side], &self.stored[side], self.allowed));
    }

    /// Proves that two values are equal, for each value of the variables.
    pub(super) fn equal(&mut self, a: &Thunk, b: &Thunk) -> Shown<()> {
        self.cases(&mut |proof| if proof.is_lemma(a, b)? { Ok(()) } else { proof.equal_here(a, b) })
    }

    /// Proves a claim for each value of the variables that there are, case by case.
    pub(super) fn cases(&mut self, holds: &mut dyn FnMut(&mut Self) -> Shown<()>) -> Shown<()> {
        if self.depth == DEPTH {
            return unproved("operations on elements in a longer chain");
        }
        let known = self.memo.len();
        self.depth += 1;
        let shown = self.case(holds);
        self.depth -= 1;
        self.memo.forget(known);
        shown
    }

    /// Counts a value that is looked at.
    pub(super) fn look(&mut self) -> Shown<()> {
        self.looks.take(1)
    }

    pub(super) fn case(&mut self, holds: &mut dyn FnMut(&mut Self) -> Shown<()>) -> Shown<()> {
        self.look()?;
        let known = self.space.len();
        let found = match holds(self) {
            Err(Undecided::Unproved(why)) => Err(self.space.loose(known).unwrap_or(Undecided::Unproved(why))),
            found => found,
        };
        let (var, at) = match found {
            Err(Undecided::Split(var, at)) => (var, at),
            Err(Undecided::Order(e, at)) => return self.ordered(&e, at, known, holds),
            found => return found,
        };
        let root = self.space.root_of(var);
        if self.space.depends(root, &|root| root >= known) {
            return unproved("an index whose cases are not those of an element");
        }
        let (low, high) = self.space.range_of(var);
        if at <= low || at >= high {
            return unproved("a case that cannot be cut");
        }
        let parts = [(low, at), (at, high)];
        self.note_cases(var, parts);
        let whole = self.space.mark();
        parts.into_iter().try_for_each(|(low, high)| {
            let has_point = self.space.restrict(var, low, high);
            let shown = if has_point { self.cases(holds) } else { Ok(()) };
            self.space.undo(whole);
            shown
        })
    }

    /// Proves a claim where an expression is below a number, and elsewhere.
    #[inline(never)]
    fn ordered(
        &mut self,
        e: &Linear,
        at: i64,
        known: usize,
        holds: &mut dyn FnMut(&mut Self) -> Shown<()>,
    ) -> Shown<()> {
        if e.terms.vars().any(|var| self.space.depends(var, &|root| root >= known)) {
            return unproved("an index whose cases are not those of an element");
        }
        let whole = self.space.mark();
        [Linear::constant(at - 1).minus(e)?, e.add(-at)?].into_iter().try_for_each(|fact| {
            self.space.assume(fact);
            let shown = self.cases(holds);
            self.space.undo(whole);
            shown
        })
    }

    pub(super) fn equal_here(&mut self, a: &Thunk, b: &Thunk) -> Shown<()> {
        let a = self.head(a.clone())?;
        let first = self.element.take();
        let b = self.head(b.clone())?;
        let second = self.element.take();
        if let (Some(first), Some(second)) = (first, second)
            && is_made(&a)
            && is_made(&b)
            && self.is_shown(&first, &second)?
        {
            return Ok(());
        }
        let by = match self.any_order(&a)? {
            // What the first program has none of promises nothing there.
            None => self.any_order(&b)?.map(|by| Operation { flags: by.flags & (self.allowed | REASSOC), ..by }),
            by => by,
        };
        if let Some(by) = by.filter(|_| self.failures < FAILURES) {
            match self.same_terms(&a, &b, &by) {
                Err(Undecided::Unproved(_)) => self.failures += 1,
                Err(stop @ (Undecided::Split(..) | Undecided::Order(..))) => {
                    return if self.is_in_order(&a, &b) { Ok(()) } else { Err(stop) };
                }
                found => return found,
            }
        }
        self.same_in_order(&a, &b)
    }

    /// Whether two values are equal in the order of their operands, where terms in any order take cases: what a product packs is
    /// shown to be the same once, and not in each case of each register of a block.
    fn is_in_order(&mut self, a: &Head, b: &Head) -> bool {
        if self.order.is_tried {
            return self.same_in_order(a, b).is_ok();
        }
        if self.order.failures == FAILURES {
            return false;
        }
        let (space, known, looks, failures) = (self.space.mark(), self.memo.len(), self.looks.0, self.failures);
        self.looks.0 = looks / IN_ORDER;
        self.order.is_tried = true;
        let is_shown = self.same_in_order(a, b).is_ok();
        (self.order.is_tried, self.failures) = (false, failures);
        self.looks.0 += looks - looks / IN_ORDER;
        if !is_shown {
            self.order.failures += 1;
            self.space.undo(space);
            self.memo.forget(known);
        }
        is_shown
    }

    fn same_in_order(&mut self, a: &Head, b: &Head) -> Shown<()> {
        match (a, b) {
            (Head::Before(a), Head::Before(b)) if a == b => Ok(()),
            (Head::Constant(a), Head::Constant(b)) if a == b => Ok(()),
            (Head::Index(x), Head::Index(y)) => match self.space.is_zero(&x.minus(y)?)? {
                true => {
                    self.note_order("two indices", x, y, None);
                    Ok(())
                }
                false => unproved("two subscripts differ"),
            },
            (Head::Input(m, x), Head::Input(n, y)) if m == n => match self.space.is_zero(&x.minus(y)?)? {
                true => {
                    self.note_order("an element of an argument", x, y, None);
                    Ok(())
                }
                false => {
                    unproved(format!("{m} is read at {:?} and at {:?}", self.space.normal(x)?, self.space.normal(y)?))
                }
            },
            (Head::Elements(m, x), Head::Elements(n, y)) if n.may_stand_for(m, self.allowed) && x.len() == y.len() => {
                x.iter().zip(y).try_for_each(|(x, y)| self.equal(x, y))
            }
            (Head::Start(x), Head::Start(y)) if (x.side, y.side) == (0, 1) => match self.is_same_start(x, y)? {
                true => Ok(()),
                false => unproved("what two loops begin an iteration with differs"),
            },
            (Head::Fold(x), Head::Fold(y)) => self.equal_folds(x, y),
            (Head::Fold(x), _) => {
                let last = self.last_iteration(x)?;
                self.equal(&last, &followed(b))
            }
            (_, Head::Fold(y)) => {
                let last = self.last_iteration(y)?;
                self.equal(&followed(a), &last)
            }
            _ => unproved(format!("{} differs from {}", name(a), name(b))),
        }
    }

    /// Follows a value to its outermost operation.
    pub(super) fn head(&mut self, thunk: Thunk) -> Shown<Head> {
        let thunk = match thunk {
            Thunk::Value { side, value, lane, place } => {
                Thunk::Value { side, value, lane, place: place.within(&self.dependence[side][value]) }
            }
            thunk => thunk,
        };
        let names = if let Thunk::Value { side, .. } = thunk { self.names_number(side) } else { 0 };
        if let Some((head, element)) = self.memo.head(&thunk, names) {
            self.look()?;
            self.element = element;
            return Ok(head);
        }
        let mut element = None;
        let head = self.followed_to(thunk.clone(), &mut element);
        self.element = element;
        if let (Ok(head), true) = (&head, self.is_worth_noting(&thunk)) {
            self.memo.note_head(thunk, names, head, self.element.as_ref());
        }
        head
    }

    /// The number of the names that elements of a side have here.
    pub(super) fn names_number(&self, side: usize) -> usize {
        self.naming.as_ref().map_or(0, |naming| naming.numbers[side])
    }

    /// Whether it takes more to follow a value than to find what it was followed to.
    fn is_worth_noting(&self, thunk: &Thunk) -> bool {
        let Thunk::Value { side, value, .. } = thunk else { return false };
        let is_short = |maker: &Maker| {
            matches!(maker, Maker::Constant(..) | Maker::Iteration(_) | Maker::Argument(_) | Maker::Subscript(_))
        };
        !is_short(&self.programs[*side].values[*value].0)
    }

    fn followed_to(&mut self, mut thunk: Thunk, last: &mut Option<ElementAt>) -> Shown<Head> {
        loop {
            self.look()?;
            thunk = match thunk {
                Thunk::Before(k) => return Ok(Head::Before(k)),
                Thunk::Known(head) => return Ok(*head),
                Thunk::Fold(fold) if fold.dims.iter().all(|d| d.extent == 1) => self.last_iteration(&fold)?,
                Thunk::Fold(fold) => return Ok(Head::Fold(fold)),
                Thunk::Memory { side, buffer, address, at, place } => {
                    let element = self.element(side, buffer, &address, at);
                    if let Some(element) = &element
                        && self.naming.is_some()
                    {
                        // A constant or an argument has a name already.
                        let naming = self.naming.take();
                        let place = place.clone();
                        let head = self.head(Thunk::Memory { side, buffer, address: address.clone(), at, place });
                        self.naming = naming;
                        if is_made(&head?)
                            && let Some(named) = self.named(side, element)?
                        {
                            return Ok(named);
                        }
                    }
                    *last = element.or(last.take());
                    match self.stored_at(side, buffer, &address, at, &place)? {
                        Origin::Stored(thunk) => thunk,
                        Origin::Start(block, iteration) => {
                            let of = (side, (buffer, (block, 0)));
                            let start = self.started(of, address, iteration, &place)?;
                            return Ok(Head::Start(Box::new(start)));
                        }
                        Origin::Outside => match &self.programs[side].buffers[buffer].1 {
                            Some(Contents::Named(name)) => {
                                let address = self.first_copy(side, buffer, address)?;
                                return Ok(Head::Input(name.clone(), address));
                            }
                            Some(Contents::Splat(bits)) => return Ok(Head::Constant(bits.clone())),
                            Some(Contents::Table(table)) => return self.of_table(table, address),
                            Some(Contents::Moved(moved)) => return self.of_moved(moved, &address),
                            None => return unproved("an element that nothing has written"),
                        },
                    }
                }
                Thunk::Value { side, value, lane, place } => {
                    let (maker, at) = &self.programs[side].values[value];
                    let same = |value: ValueId, lane: Linear| Thunk::Value { side, value, lane, place: place.clone() };
                    match maker {
                        Maker::Elements { operation, operands } => {
                            let here = same(value, lane.clone());
                            match self.of_known(operation, operands, &here)? {
                                Some(known) => known,
                                None => {
                                    let dependence = &self.dependence[side];
                                    let operand = |operand: &ValueId| Thunk::Value {
                                        side,
                                        value: *operand,
                                        lane: lane.clone(),
                                        place: place.within(&dependence[*operand]),
                                    };
                                    let operands = operands.iter().map(operand).collect();
                                    return Ok(Head::Elements(operation.clone(), operands));
                                }
                            }
                        }
                        Maker::Subscript(s) => return Ok(Head::Index(self.subscript(side, s, &lane, &place)?)),
                        Maker::Extreme(all, greatest) => {
                            let mut best: Option<Linear> = None;
                            for s in all {
                                let next = self.subscript(side, s, &lane, &place)?;
                                best = Some(match best {
                                    Some(best) if self.is_less(&next, &best)? == *greatest => best,
                                    _ => next,
                                });
                            }
                            return Ok(Head::Index(best.unwrap_or_default()));
                        }
                        Maker::Constant(items, of, index) => return self.constant(items, of, *index, &lane),
                        Maker::Load { buffer, address: subscript, stride, .. } => {
                            let none = Linear::default();
                            let address =
                                self.subscript(side, subscript, &none, &place)?.plus(&lane.times(*stride)?)?;
                            self.note_address((side, &place), (subscript, *stride), &lane, &address);
                            Thunk::Memory { side, buffer: *buffer, address, at: *at, place }
                        }
                        Maker::Lanes(sources) => {
                            let (value, lane) = self.source_of(sources, &lane)?;
                            same(value, lane)
                        }
                        Maker::Bits(source, of) => match self.head(same(*source, lane.clone()))? {
                            Head::Elements(bits, mut operands) if *bits.name == format!("bits of {of}") => {
                                operands.remove(0)
                            }
                            Head::Constant(bits) => {
                                let bits = bits.split_once(' ').map_or(&*bits, |(_, bits)| bits);
                                return Ok(Head::Constant(format!("{of} {bits}")));
                            }
                            _ => {
                                let integer = same(*source, lane);
                                if let Some(found) = self.as_integers(&integer, of)? {
                                    return Ok(found);
                                }
                                let from = &self.programs[side].types[*source];
                                return Ok(Head::Elements(Operation::named(&format!("bits of {from}")), vec![integer]));
                            }
                        },
                        Maker::Bool(byte) => match self.as_bool(same(*byte, lane))? {
                            Some(thunk) => thunk,
                            None => return unproved("a byte of an i1 that may be another number than 0 and 1"),
                        },
                        Maker::Extract(vector, k, lanes) => {
                            let k = self.subscript(side, k, &Linear::default(), &place)?;
                            let last = Linear::constant(lanes - 1).minus(&k)?;
                            if !self.space.at_least_zero(&k)? || !self.space.at_least_zero(&last)? {
                                return unproved("a lane that is not there");
                            }
                            same(*vector, k)
                        }
                        Maker::AtLeastZero(s) => match self.subscript(side, s, &lane, &place) {
                            Ok(e) => {
                                let is = self.space.at_least_zero(&e)?;
                                return Ok(Head::Constant(format!("i1 {}", u8::from(is))));
                            }
                            Err(Undecided::Unproved(_)) => {
                                let (pattern, values) = s.pattern();
                                let operation = Operation::named(&format!("at least zero {pattern:?}"));
                                let operands = values.into_iter().map(|value| same(value, lane.clone())).collect();
                                return Ok(Head::Elements(operation, operands));
                            }
                            Err(stop) => return Err(stop),
                        },
                        Maker::And(x, y) => match self.known(same(*x, lane.clone()))? {
                            Some(true) => same(*y, lane),
                            Some(false) => return Ok(Head::Constant("i1 0".to_owned())),
                            None => match self.known(same(*y, lane.clone()))? {
                                Some(true) => same(*x, lane),
                                Some(false) => return Ok(Head::Constant("i1 0".to_owned())),
                                None => {
                                    return Ok(Head::Elements(
                                        Operation::conjunction(),
                                        vec![same(*x, lane.clone()), same(*y, lane)],
                                    ));
                                }
                            },
                        },
                        Maker::AndNot(x, y) => {
                            match (self.known(same(*x, lane.clone()))?, self.known(same(*y, lane.clone()))?) {
                                (Some(false), _) | (_, Some(true)) => return Ok(Head::Constant("i1 0".to_owned())),
                                (_, Some(false)) => same(*x, lane),
                                _ => {
                                    return Ok(Head::Elements(
                                        Operation::named("and not"),
                                        vec![same(*x, lane.clone()), same(*y, lane)],
                                    ));
                                }
                            }
                        }
                        Maker::Select(c, x, y) => match self.known(same(*c, lane.clone()))? {
                            Some(yes) => same(if yes { *x } else { *y }, lane),
                            None => {
                                let operands = [*c, *x, *y].map(|o| same(o, lane.clone()));
                                return Ok(Head::Elements(Operation::named("select"), operands.to_vec()));
                            }
                        },
                        Maker::Iteration(block) => return Ok(Head::Index(self.iteration_of(*block, &place)?)),
                        Maker::Carried(block, k) => match place.carried.get(&(*block, *k)).cloned() {
                            Some((of, carried)) if self.space.is_zero(&lane.minus(&of)?)? => carried.as_ref().clone(),
                            Some(_) => return unproved("a lane of what a loop carries that becomes another"),
                            None => return unproved("a loop that carries several values from one to another"),
                        },
                        Maker::Argument(name) => return Ok(Head::Input(name.clone(), lane)),
                        Maker::Result(block, k) => self.result(side, *block, *k, lane, &place)?,
                    }
                }
            }
        }
    }

    /// Whether an index is less than another one, or, of two that may be equal, never more.
    fn is_less(&mut self, a: &Linear, b: &Linear) -> Shown<bool> {
        let difference = a.minus(b)?;
        Ok(self.space.range(&difference)?.1 <= 0 || !self.space.at_least_zero(&difference)?)
    }

    pub(super) fn iteration_of(&self, block: BlockId, place: &LoopPosition) -> Shown<Linear> {
        place.at.get(&block).cloned().ok_or_else(|| Undecided::Unproved("a loop that is not around".to_owned()))
    }

    /// Whether a condition is true or false; none where that depends on data.
    pub(super) fn known(&mut self, thunk: Thunk) -> Shown<Option<bool>> {
        Ok(match self.head(thunk)? {
            Head::Constant(bits) => match &*bits {
                "i1 1" => Some(true),
                "i1 0" => Some(false),
                _ => None,
            },
            _ => None,
        })
    }
}

pub(super) fn followed(head: &Head) -> Thunk {
    match head {
        Head::Fold(fold) => Thunk::Fold(fold.clone()),
        Head::Before(k) => Thunk::Before(*k),
        other => Thunk::Known(Box::new(other.clone())),
    }
}

/// Whether a value is made of others.
fn is_made(head: &Head) -> bool {
    matches!(head, Head::Elements(..) | Head::Fold(_))
}

fn name(head: &Head) -> String {
    match head {
        Head::Elements(operation, operands) => format!("{} of {}", operation.name, operands.len()),
        Head::Index(_) => "a subscript".to_owned(),
        Head::Constant(bits) => format!("the constant {bits}"),
        Head::Input(k, _) => k.clone(),
        Head::Fold(_) => "a fold".to_owned(),
        Head::Start(..) => "what an iteration begins with".to_owned(),
        Head::Before(_) => "what the iteration before made".to_owned(),
    }
}
