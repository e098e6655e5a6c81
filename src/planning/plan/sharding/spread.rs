//! How dimensions, or loops, are cut into pieces along the axes of a machine.
//!
//! On axes of 8 L2B and 8 L1B, `[[(0, 2), (1, 4)], [(1, 8)]]` cuts dimension 0 into 2 pieces and dimension 1 into 4 along
//! L2B, and each of those into 8 along L1B: the TensorLayout `((2_L2B:4, n:m), (4_L2B:1, 8_L1B, m:1))`. Pieces are blocks of
//! neighbouring elements, of one size but for the last ones. Places along an axis beyond its cuts hold nothing.
//!
//! The cuts of a dimension are nested by [`AxisCut::nesting`], and parents first where that is the same. With nesting 1 for
//! the cut of dimension 1 along L2B it is `(8_L1B, 4_L2B:1, m:1)`: each L1B of an L2B has every eighth piece of it, and the
//! L2Bs share out what an L1B has.

use std::cmp::Reverse;
use tensor_layout::limits;
use tensor_layout::places::{Broadcast, Machine, Part, TIME, TensorLayout, WORD};
use tensor_layout::text::Error;

/// The most pieces of a dimension along the address.
const MOST_LOCAL: i64 = limits::PLAN_PIECES;

/// A cut along an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub struct AxisCut {
    /// The dimension or loop; `None` where pieces are copies of each other.
    pub of: Option<usize>,
    /// The number of pieces.
    pub pieces: i64,
    /// Cuts of a dimension with a higher number are inside of those with a lower one.
    pub nesting: usize,
}

impl AxisCut {
    /// A cut of a dimension, parents first.
    pub fn of(dim: usize, pieces: i64) -> AxisCut {
        AxisCut { of: Some(dim), pieces, nesting: 0 }
    }

    /// Copies.
    pub fn copies(pieces: i64) -> AxisCut {
        AxisCut { of: None, pieces, nesting: 0 }
    }
}

/// The cuts along each axis of a machine, most significant first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Spread {
    /// By axis of the machine.
    pub axes: Vec<Vec<AxisCut>>,
    /// Cuts along the address, in any order: pieces of one place that are no neighbours.
    pub local: Vec<AxisCut>,
}

/// A cut of a dimension, and where it stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct NestedCut {
    /// The axis of the machine; a number beyond them for the address.
    pub axis: usize,
    /// Its place among the cuts along the axis.
    pub position: usize,
    pub pieces: i64,
}

/// A dimension's part of time, or one of copies.
#[derive(Clone, Copy, Debug)]
pub(super) struct StepPart {
    /// The elements of a place in a step.
    pub step: i64,
    /// The number of steps.
    pub count: i64,
    /// The steps of all loops together between two of these.
    pub stride: i64,
}

/// The number that stands for the address in place of an axis.
const ADDRESS: usize = usize::MAX;

impl NestedCut {
    /// Whether its pieces are at addresses of one place.
    pub(super) fn is_address(&self) -> bool {
        self.axis == ADDRESS
    }
}

impl Spread {
    /// In no place, but in a memory beside them.
    pub fn outside() -> Spread {
        Spread::default()
    }

    /// Whether it is in no place.
    pub fn is_outside(&self) -> bool {
        self.axes.is_empty()
    }

    /// The cuts of a dimension, the outermost first.
    pub(super) fn digits(&self, dim: usize) -> Vec<NestedCut> {
        let along = |(axis, cuts): (usize, &Vec<AxisCut>)| {
            let own = cuts.iter().enumerate().filter(|(_, cut)| cut.of == Some(dim));
            own.map(|(position, cut)| (cut.nesting, NestedCut { axis, position, pieces: cut.pieces }))
                .collect::<Vec<_>>()
        };
        let all = self.axes.iter().enumerate().chain([(ADDRESS, &self.local)]);
        let mut all: Vec<(usize, NestedCut)> = all.flat_map(along).collect();
        all.sort_by_key(|(nesting, digit)| (*nesting, digit.axis, digit.position));
        all.into_iter().map(|(_, digit)| digit).collect()
    }

    fn cuts(&self) -> impl Iterator<Item = &AxisCut> {
        self.axes.iter().flatten().chain(&self.local)
    }

    /// Into how many pieces a dimension is cut.
    pub fn pieces(&self, dim: usize) -> i64 {
        let cuts = self.cuts().filter(|cut| cut.of == Some(dim));
        cuts.fold(1i64, |n, cut| n.saturating_mul(cut.pieces))
    }

    /// The elements of a piece of a dimension of size `size`, at most.
    pub fn block(&self, dim: usize, size: i64) -> i64 {
        let pieces = self.pieces(dim);
        size / pieces + i64::from(size % pieces != 0)
    }

    /// The places that are used along an axis.
    pub fn used(&self, axis: usize) -> i64 {
        self.axes[axis].iter().fold(1i64, |n, cut| n.saturating_mul(cut.pieces))
    }

    /// How far a step of a cut moves along its axis.
    pub(super) fn stride(&self, axis: usize, position: usize) -> i64 {
        self.axes[axis][position + 1..].iter().fold(1i64, |n, cut| n.saturating_mul(cut.pieces))
    }

    /// The dimensions' cuts as those of others: `names[dim]` for `dim`, a copy where there is none.
    pub fn renamed(&self, names: &dyn Fn(usize) -> Option<usize>) -> Spread {
        let cut = |cut: &AxisCut| match cut.of.and_then(names) {
            Some(dim) => AxisCut { of: Some(dim), ..*cut },
            None => AxisCut::copies(cut.pieces),
        };
        let local = self.local.iter().map(cut).filter(|cut| cut.of.is_some()).collect();
        Spread { axes: self.axes.iter().map(|cuts| cuts.iter().map(cut).collect()).collect(), local }
    }

    /// The same without copies: what places have in common is shared out among them, so that each holds a part of what it
    /// had. Of the dimensions, first those in whole pieces, then those that are not cut, then those of which most is left.
    /// Where too little is left, places are empty.
    pub fn without_copies(&self, sizes: &[i64]) -> Spread {
        let mut spread = self.clone();
        for axis in 0..spread.axes.len() {
            let mut cuts = std::mem::take(&mut spread.axes[axis]);
            let mut k = 0;
            while k < cuts.len() {
                let AxisCut { of: None, pieces, .. } = cuts[k] else {
                    k += 1;
                    continue;
                };
                // The cuts along this axis count, too.
                spread.axes[axis] = cuts.clone();
                let shared = spread.shared_out(pieces, sizes);
                let rest = shared.map(|cut| pieces / cut.pieces).filter(|rest| *rest > 1);
                let more = shared.into_iter().chain(rest.map(AxisCut::copies));
                cuts.splice(k..=k, more);
            }
            spread.axes[axis] = cuts;
        }
        spread.settle();
        spread
    }

    /// A cut inside of all others that shares out as many of so many copies as can be.
    fn shared_out(&self, copies: i64, sizes: &[i64]) -> Option<AxisCut> {
        let one = |dim: usize| {
            let left = self.block(dim, sizes[dim]);
            let pieces = (2..=copies.min(left)).rev().find(|n| copies % n == 0)?;
            let uncut = self.pieces(dim) == 1;
            let even = left % pieces == 0 && sizes[dim] % left == 0;
            let nesting = self.cuts().filter(|cut| cut.of == Some(dim)).map(|cut| cut.nesting + 1).max();
            let cut = AxisCut { of: Some(dim), pieces, nesting: nesting.unwrap_or(0) };
            Some(((pieces, even, uncut, left, Reverse(dim)), cut))
        };
        (0..sizes.len()).filter_map(one).max_by_key(|(key, _)| *key).map(|(_, cut)| cut)
    }

    /// Brings the same cuts into the same form: neighbours that are one are joined, cuts of one piece are left out, and
    /// nesting is as low as can be.
    pub fn settle(&mut self) {
        self.axes.iter_mut().chain([&mut self.local]).for_each(|cuts| cuts.retain(|cut| cut.pieces > 1));
        let dims = self.cuts().filter_map(|cut| cut.of).max().map_or(0, |most| most + 1);
        for dim in 0..dims {
            let (mut nesting, mut last) = (0, None::<NestedCut>);
            for mut digit in self.digits(dim) {
                nesting +=
                    usize::from(last.is_some_and(|last| (last.axis, last.position) > (digit.axis, digit.position)));
                // The outer one goes into the inner one, which later ones may join.
                let outer = last.filter(|last| last.axis == digit.axis && last.position + 1 == digit.position);
                if let Some(outer) = outer {
                    digit.pieces = digit.pieces.saturating_mul(outer.pieces);
                    self.along(digit.axis)[outer.position].pieces = 1;
                }
                let cut = &mut self.along(digit.axis)[digit.position];
                (cut.nesting, cut.pieces) = (nesting, digit.pieces);
                last = Some(digit);
            }
        }
        for cuts in self.axes.iter_mut().chain([&mut self.local]) {
            let mut joined: Vec<AxisCut> = Vec::with_capacity(cuts.len());
            for cut in cuts.iter().filter(|cut| cut.pieces > 1) {
                match joined.last_mut().filter(|last| last.of.is_none() && cut.of.is_none()) {
                    Some(last) => last.pieces = last.pieces.saturating_mul(cut.pieces),
                    None => joined.push(*cut),
                }
            }
            *cuts = joined;
        }
    }

    fn along(&mut self, axis: usize) -> &mut Vec<AxisCut> {
        if axis == ADDRESS { &mut self.local } else { &mut self.axes[axis] }
    }

    /// The TensorLayout of an array of these sizes; rows are in order at the addresses of a place.
    ///
    /// # Errors
    /// Addresses do not fit in 64 bits.
    pub fn layout(&self, sizes: &[i64], machine: &Machine) -> Result<TensorLayout, Error> {
        self.layout_in_steps(sizes, machine, &vec![None; sizes.len()], &[])
    }

    /// The same over time: of some dimensions, the piece of a place comes in so many steps; and all comes again in others.
    ///
    /// # Errors
    /// Addresses do not fit in 64 bits.
    pub(super) fn layout_in_steps(
        &self,
        sizes: &[i64],
        machine: &Machine,
        steps: &[Option<StepPart>],
        again: &[StepPart],
    ) -> Result<TensorLayout, Error> {
        let (mut dims, mut broadcast): (Vec<Vec<Part>>, _) = (Vec::with_capacity(sizes.len()), Vec::new());
        let (mut next, mut padded) = (1i64, false);
        for (dim, size) in sizes.iter().enumerate().rev() {
            let block = self.block(dim, *size);
            padded |= block.saturating_mul(self.pieces(dim)) != *size;
            let mut local = |extent: i64| {
                let part = Part::local(extent, next);
                let wide = || Error::new("the addresses of the array do not fit in 64 bits");
                next = next.checked_mul(extent).ok_or_else(wide)?;
                Ok::<Part, Error>(part)
            };
            let mut parts = match steps[dim] {
                None if block == 1 => Vec::new(),
                None => vec![local(block)?],
                Some(StepPart { step, count, stride }) => vec![Part::along(TIME, count, stride), local(step)?],
            };
            for digit in self.digits(dim).into_iter().rev() {
                parts.insert(
                    0,
                    match machine.axes.get(digit.axis) {
                        Some(axis) => Part::along(&axis.name, digit.pieces, self.stride(digit.axis, digit.position)),
                        None => local(digit.pieces)?,
                    },
                );
            }
            dims.insert(0, parts);
        }
        for (number, (axis, cuts)) in machine.axes.iter().zip(&self.axes).enumerate() {
            // An axis that a layout does not name is one of copies.
            if let (true, true, Some(first)) = (cuts.is_empty(), axis.extent > 1, dims.first_mut()) {
                first.insert(0, Part::along(&axis.name, 1, 1));
            }
            let everywhere = cuts.iter().all(|cut| cut.of.is_none()) && self.used(number) == axis.extent;
            for (position, cut) in cuts.iter().enumerate().filter(|(_, cut)| cut.of.is_none() && !everywhere) {
                let (axis, stride) = (axis.name.clone(), Some(self.stride(number, position)));
                broadcast.push(Broadcast::Part { extent: cut.pieces, axis, stride });
            }
        }
        for StepPart { count, stride, .. } in again {
            broadcast.push(Broadcast::Part { extent: *count, axis: TIME.to_string(), stride: Some(*stride) });
        }
        let mut layout = TensorLayout::new(dims)?;
        layout.shape = padded.then(|| sizes.to_vec());
        layout.broadcast = broadcast;
        layout.check().map_err(|(_, error)| error)?;
        Ok(layout)
    }

    /// The spread that a TensorLayout is, addresses apart.
    ///
    /// # Errors
    /// It is cut over time, it uses an axis with gaps, or it has many pieces along the address.
    pub fn of(layout: &TensorLayout, machine: &Machine) -> Result<Spread, Error> {
        let mut found: Vec<Vec<(i64, AxisCut)>> = vec![Vec::new(); machine.axes.len()];
        let mut local = Vec::new();
        let unknown = || Error::new("the machine must have all axes");
        for (dim, parts) in layout.dims.iter().enumerate() {
            let mut many = 1i64;
            let own: Vec<&Part> = parts.iter().filter(|part| part.extent > 1).collect();
            // What is at the end is in one block.
            let is_local = |part: &Part| part.axis.as_deref().is_none_or(|axis| axis == WORD);
            let end = own.iter().rposition(|part| !is_local(part)).map_or(0, |last| last + 1);
            for (nesting, part) in own[..end].iter().enumerate() {
                let cut = AxisCut { of: Some(dim), pieces: part.extent, nesting };
                match part.axis.as_deref() {
                    _ if is_local(part) => {
                        many = many.saturating_mul(part.extent);
                        local.push(cut);
                    }
                    Some(TIME) => return Err(Error::new("a spread has no pieces over time")),
                    axis => {
                        let depth = axis.and_then(|axis| machine.depth(axis)).ok_or_else(unknown)?;
                        found[depth].push((part.stride, cut));
                    }
                }
            }
            if many > MOST_LOCAL {
                let message = format!("dimension {dim} must have at most {MOST_LOCAL} pieces in a place, found {many}");
                return Err(Error::new(message));
            }
        }
        for broadcast in &layout.broadcast {
            if let Broadcast::Part { extent, axis, stride } = broadcast {
                let depth = machine.depth(axis).ok_or_else(unknown)?;
                found[depth].push((stride.unwrap_or(1), AxisCut::copies(*extent)));
            }
        }
        let named: Vec<&str> = layout.dims.iter().flatten().filter_map(|part| part.axis.as_deref()).collect();
        let mut spread = Spread::default();
        for (axis, mut cuts) in machine.axes.iter().zip(found) {
            if cuts.is_empty() && !named.contains(&axis.name.as_str()) {
                cuts.push((1, AxisCut::copies(axis.extent)));
            }
            cuts.sort_by_key(|(stride, _)| Reverse(*stride));
            let mut next = 1;
            for (stride, cut) in cuts.iter().rev().filter(|(_, cut)| cut.pieces > 1) {
                if *stride != next {
                    return Err(Error::new("an axis must be used without gaps"));
                }
                next *= cut.pieces;
            }
            spread.axes.push(cuts.into_iter().map(|(_, cut)| cut).collect());
        }
        spread.local = local;
        spread.settle();
        Ok(spread)
    }
}
