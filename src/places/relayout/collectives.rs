//! A relayout as a chain of collectives between the places of the axes.
//!
//! The digits on the axes are cut until they are common to both sides, as in step 1. Then each part of an axis has a
//! digit of one dimension, or copies, and there are four cases, each with its collective, ordered so that places hold
//! few elements while they receive others:
//!
//! | before | after | collective |
//! |---|---|---|
//! | copies | a digit that was inside of the places | slice: each place keeps what it needs |
//! | a digit | a digit that another part had | permute: each place has what one other place had |
//! | a digit | one that was inside, where the first one goes | all-to-all |
//! | a digit | copies | all-gather |
//!
//! A permutation brings copies to the sources of its digits. If the wanted digit was inside of the places, a slice
//! before the permutation makes the elements fewer.

use super::digits::{Piece, pieces, refine};
use super::tree::{FROM, TO, Tree};
use crate::places::machine::{TIME, WORD};
use crate::places::placement::Placement;
use crate::text::Error;

/// Kinds of collectives between places that each have a part of an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CollectiveKind {
    /// Each keeps a part of its elements.
    Slice,
    /// Each gets the elements of one other.
    Permute,
    /// Each gets a part of the elements of each of the others.
    AllToAll,
    /// Each gets all elements of the others.
    AllGather,
    /// Each gets a part of the elements of each of the others, added up.
    ReduceScatter,
    /// Each gets all elements of the others, added up.
    AllReduce,
}

impl CollectiveKind {
    /// The name in MLIR's dialects.
    pub fn name(self) -> &'static str {
        match self {
            CollectiveKind::Slice => "slice",
            CollectiveKind::Permute => "permute",
            CollectiveKind::AllToAll => "all-to-all",
            CollectiveKind::AllGather => "all-gather",
            CollectiveKind::ReduceScatter => "reduce-scatter",
            CollectiveKind::AllReduce => "all-reduce",
        }
    }
}

/// A digit of the index along a dimension: `index floordiv weight mod extent`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct IndexDigit {
    /// The dimension.
    pub dim: usize,
    /// The elements of a step.
    pub weight: i64,
    /// The number of steps.
    pub extent: i64,
}

/// The digit on a part of an axis before and after a collective; `None` are copies.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DigitExchange {
    /// The axis.
    pub axis: String,
    /// The distance between the places along the axis.
    pub stride: i64,
    /// The number of places.
    pub extent: i64,
    /// The digit before.
    pub before: Option<IndexDigit>,
    /// The digit after.
    pub after: Option<IndexDigit>,
}

impl DigitExchange {
    /// The two exchanges as one, if `next` is the next part of the axis with the next part of the digits.
    fn joined(&self, next: &DigitExchange) -> Option<DigitExchange> {
        let digits = |a: Option<IndexDigit>, b: Option<IndexDigit>| match (a, b) {
            (None, None) => Some(None),
            (Some(a), Some(b)) if a.dim == b.dim && a.weight.checked_mul(a.extent) == Some(b.weight) => {
                Some(Some(IndexDigit { extent: a.extent.checked_mul(b.extent)?, ..a }))
            }
            _ => None,
        };
        let follows = self.axis == next.axis && self.stride.checked_mul(self.extent) == Some(next.stride);
        let (before, after) = (digits(self.before, next.before)?, digits(self.after, next.after)?);
        follows.then_some(DigitExchange { extent: self.extent * next.extent, before, after, ..self.clone() })
    }
}

/// A step of a relayout.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RelayoutStep {
    /// The collective.
    pub kind: CollectiveKind,
    /// The parts of axes in which the participating places differ.
    pub along: Vec<DigitExchange>,
    /// The most elements that a place gets from others: exact where sizes divide, else an upper bound.
    pub received: i64,
}

/// A part of an axis with the digit of each side there.
struct AxisDigit {
    axis: usize,
    stride: i64,
    extent: i64,
    sides: [Option<IndexDigit>; 2],
}

/// The collectives that bring a tensor from one placement to another, in order; `None` if there is no such chain, as
/// where sides cut a dimension at sizes that do not divide each other. Places without an element take part: each ends
/// with the other placement's content.
///
/// # Errors
/// Different sizes, and counts beyond 64 bits.
///
/// # Example
/// ```
/// use tensor_layout::places::{CollectiveKind, Placement, collectives};
/// let rows = Placement::parse("((4_PE, 3:8), (8:1))").unwrap();
/// let columns = Placement::parse("((12:2), (4_PE, 2:1))").unwrap();
/// let chain = collectives(&rows, &columns).unwrap().unwrap();
/// // Of 24 elements, each of 4 PEs keeps 6 and gets 6 from each of the others.
/// assert_eq!((chain[0].kind, chain[0].received, chain.len()), (CollectiveKind::AllToAll, 18, 1));
/// ```
pub fn collectives(from: &Placement, to: &Placement) -> Result<Option<Vec<RelayoutStep>>, Error> {
    if from.sizes() != to.sizes() {
        return Err(Error::new(format!("the sizes are {:?} and {:?}", from.sizes(), to.sizes())));
    }
    if from.sizes().contains(&0) {
        return Ok(Some(Vec::new()));
    }
    let tree = Tree::new([from, to], None, [None; 2], 1);
    if tree.axes.iter().any(|axis| axis == TIME || axis == WORD) {
        return Ok(None);
    }
    let mut sides = [from, to].map(|side| pieces(&tree, side));
    sides.iter_mut().for_each(|pieces| pieces.retain(|piece| piece.axis < tree.tree_axes));
    refine(&tree, None, &mut sides);
    let Some(parts) = parts(&tree, [from, to], &sides) else { return Ok(None) };
    RelayoutChain {
        tree: &tree,
        state: parts.iter().map(|part| part.sides[FROM]).collect(),
        parts,
        sizes: from.sizes(),
        steps: Vec::new(),
    }
    .run()
}

/// The parts of axes on which both sides have one digit or copies each.
fn parts(tree: &Tree, sides: [&Placement; 2], pieces: &[Vec<Piece>; 2]) -> Option<Vec<AxisDigit>> {
    let mut parts: Vec<AxisDigit> = Vec::new();
    for (side, pieces) in pieces.iter().enumerate() {
        for piece in pieces {
            let digit = piece.dim.map(|dim| IndexDigit { dim, weight: piece.weight, extent: piece.extent });
            let known = |part: &&mut AxisDigit| {
                (part.axis, part.stride, part.extent) == (piece.axis, piece.stride, piece.extent)
            };
            match parts.iter_mut().find(known) {
                Some(part) => part.sides[side] = digit,
                None => {
                    // The digit of the other side is still to come, or there are copies at all places, or nothing.
                    let mut own = [None; 2];
                    own[side] = digit;
                    parts.push(AxisDigit { axis: piece.axis, stride: piece.stride, extent: piece.extent, sides: own });
                }
            }
        }
    }
    parts.sort_by_key(|part| (part.axis, part.stride));
    let is_there = |side: usize, part: &AxisDigit| {
        let same = |piece: &&Piece| (piece.axis, piece.stride, piece.extent) == (part.axis, part.stride, part.extent);
        pieces[side].iter().any(|piece| same(&piece)) || tree.everywhere(sides, side, part.axis)
    };
    let all = parts.iter().all(|part| is_there(FROM, part) && is_there(TO, part));
    let nested = parts.windows(2).all(|pair| {
        let end = pair[0].stride.checked_mul(pair[0].extent);
        pair[0].axis != pair[1].axis || end.is_some_and(|end| end <= pair[1].stride)
    });
    // Two digits of a dimension are the same one, or one is above the other.
    let on_axes = |side: usize| parts.iter().filter_map(move |part| part.sides[side]);
    let above = |a: IndexDigit, b: IndexDigit| a.weight.checked_mul(a.extent).is_some_and(|end| b.weight % end == 0);
    let apart = |a: IndexDigit, b: IndexDigit| a == b || a.dim != b.dim || above(a, b) || above(b, a);
    let are_digits = on_axes(FROM).all(|a| on_axes(TO).all(|b| apart(a, b)));
    (all && nested && are_digits).then_some(parts)
}

/// The chain so far.
struct RelayoutChain<'t> {
    tree: &'t Tree,
    parts: Vec<AxisDigit>,
    /// The present digit of each part.
    state: Vec<Option<IndexDigit>>,
    sizes: &'t [i64],
    steps: Vec<RelayoutStep>,
}

impl RelayoutChain<'_> {
    fn target(&self, k: usize) -> Option<IndexDigit> {
        self.parts[k].sides[TO]
    }

    /// Whether some part has the digit at present.
    fn has(&self, digit: IndexDigit) -> bool {
        self.state.contains(&Some(digit))
    }

    fn wants(&self, digit: IndexDigit) -> bool {
        self.parts.iter().any(|part| part.sides[TO] == Some(digit))
    }

    fn run(mut self) -> Result<Option<Vec<RelayoutStep>>, Error> {
        let all = 0..self.parts.len();
        self.slice();
        self.permute()?;
        self.slice();
        let exchanged = |k: &usize| {
            self.state[*k].zip(self.target(*k)).is_some_and(|(now, next)| !self.wants(now) && !self.has(next))
        };
        let exchanged: Vec<usize> = all.clone().filter(exchanged).collect();
        self.step(CollectiveKind::AllToAll, &exchanged, |chain, k| chain.target(k));
        let gathered: Vec<usize> =
            all.filter(|k| self.target(*k).is_none() && self.state[*k].is_some_and(|now| !self.wants(now))).collect();
        self.step(CollectiveKind::AllGather, &gathered, |_, _| None);
        let done = self.state.iter().zip(&self.parts).all(|(now, part)| *now == part.sides[TO]);
        Ok(done.then_some(self.steps))
    }

    /// Appends a step along some parts.
    fn step(&mut self, kind: CollectiveKind, along: &[usize], after: impl Fn(&Self, usize) -> Option<IndexDigit>) {
        let changed: Vec<(usize, Option<IndexDigit>)> = along.iter().map(|k| (*k, after(self, *k))).collect();
        let exchange = |(k, after): &(usize, Option<IndexDigit>)| DigitExchange {
            axis: self.tree.axes[self.parts[*k].axis].clone(),
            stride: self.parts[*k].stride,
            extent: self.parts[*k].extent,
            before: self.state[*k],
            after: *after,
        };
        let mut along: Vec<DigitExchange> = Vec::new();
        for next in changed.iter().map(exchange) {
            match along.iter_mut().find_map(|own| own.joined(&next).map(|joined| (own, joined))) {
                Some((own, joined)) => *own = joined,
                None => along.push(next),
            }
        }
        let before = self.state.clone();
        changed.into_iter().for_each(|(k, after)| self.state[k] = after);
        if !along.is_empty() {
            let received = self.received(kind, &before);
            self.steps.push(RelayoutStep { kind, along, received });
        }
    }

    /// The most elements that a place gets, from the state `before`. The first place has the largest parts of a cut;
    /// the last place had least of a joined digit.
    fn received(&self, kind: CollectiveKind, before: &[Option<IndexDigit>]) -> i64 {
        let (mut cut, mut joined, mut had) = (1i128, 1i128, 1i128);
        for (dim, size) in self.sizes.iter().enumerate() {
            let digits = |state: &[Option<IndexDigit>]| {
                state.iter().flatten().filter(|digit| digit.dim == dim).copied().collect::<Vec<_>>()
            };
            let (old, new) = (digits(before), digits(&self.state));
            let largest = i128::from(elements(*size, &new, false));
            if kind == CollectiveKind::Permute || old.iter().all(|digit| new.contains(digit)) {
                cut = cut.saturating_mul(largest);
            } else {
                joined = joined.saturating_mul(largest);
                had = had.saturating_mul(elements(*size, &[old, new].concat(), true).into());
            }
        }
        let all = match kind {
            CollectiveKind::Slice => 0,
            CollectiveKind::Permute => cut,
            _ => cut.saturating_mul(joined - had),
        };
        i64::try_from(all).unwrap_or(i64::MAX)
    }

    /// Replaces copies by digits that were inside of the places: at their targets, or where a permutation fetches them
    /// from.
    fn slice(&mut self) {
        let mut sliced: Vec<(usize, IndexDigit)> = Vec::new();
        for k in 0..self.parts.len() {
            let Some(next) = self.target(k).filter(|next| !self.has(*next)) else { continue };
            let at = match self.state[k] {
                None => Some(k),
                Some(now) => {
                    let waits = |a: &usize| self.target(*a) == Some(now) && self.state[*a].is_none();
                    (0..self.parts.len()).find(waits)
                }
            };
            sliced.extend(at.filter(|at| sliced.iter().all(|own| own.0 != *at)).map(|at| (at, next)));
        }
        let along: Vec<usize> = sliced.iter().map(|own| own.0).collect();
        let after = |_: &Self, k: usize| sliced.iter().find(|own| own.0 == k).map(|own| own.1);
        self.step(CollectiveKind::Slice, &along, after);
    }

    /// Moves digits to their target parts, and the digits there to the parts that become free.
    fn permute(&mut self) -> Result<(), Error> {
        let mut next = self.state.clone();
        let (mut filled, mut left) = (Vec::new(), Vec::new());
        for (k, own) in next.iter_mut().enumerate() {
            let Some(wanted) = self.target(k).filter(|wanted| self.state[k] != Some(*wanted)) else { continue };
            if let Some(at) = self.state.iter().position(|now| *now == Some(wanted)) {
                *own = Some(wanted);
                filled.push(k);
                left.push(at);
            }
        }
        let mut homeless: Vec<usize> = filled.iter().copied().filter(|k| !left.contains(k)).collect();
        for empty in left.iter().filter(|k| !filled.contains(k)) {
            let fits = |k: &&usize| self.parts[**k].extent == self.parts[*empty].extent;
            let best = homeless.iter().filter(fits).max_by_key(|k| self.state[**k] == self.target(*empty)).copied();
            let from = best.ok_or_else(|| Error::new("a permutation of parts of other sizes"))?;
            homeless.retain(|k| *k != from);
            next[*empty] = self.state[from];
        }
        let along: Vec<usize> = (0..next.len()).filter(|k| next[*k] != self.state[*k]).collect();
        self.step(CollectiveKind::Permute, &along, |_, k| next[k]);
        Ok(())
    }
}

/// The number of indices below `size` that have the first value of each digit, or with `last` the last one.
fn elements(size: i64, digits: &[IndexDigit], last: bool) -> i64 {
    let mut order = digits.to_vec();
    order.sort_by_key(|digit| std::cmp::Reverse(digit.weight));
    order.dedup();
    count(size, &order, last)
}

/// [`elements`] for digits of falling weights.
fn count(size: i64, digits: &[IndexDigit], last: bool) -> i64 {
    let Some((digit, below)) = digits.split_first() else { return size };
    let all = digit.weight.saturating_mul(digit.extent);
    let begin = if last { all - digit.weight } else { 0 };
    let rest = (size % all - begin).clamp(0, digit.weight);
    size / all * count(digit.weight, below, last) + count(rest, below, last)
}
