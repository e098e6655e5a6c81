//! Masks of a block: the elements that exist at ragged ends.
//!
//! At ragged ends a block lacks some of its elements. For static sizes the mask is a constant; else it is a
//! comparison with the number of remaining elements, emitted at the end: one for a register whose elements exist
//! all or not at all, one for each lane otherwise.

use super::kernel::{At, Kernel};
use super::plan::Mode;
use super::registers::{Key, place};
use super::tail::{GREATER, LESS, Tail, compare};
use layout_ir::{self as ir, Builder, Val};
use melior::ir::attribute::{DenseElementsAttribute, IntegerAttribute};
use melior::ir::r#type::IntegerType;
use melior::ir::{Attribute, Type};

/// The condition under which an element exists.
#[derive(Clone, PartialEq)]
pub enum LaneMask {
    Never,
    /// Exists if more elements than these numbers are left in these dimensions; always if the list is empty.
    If(Vec<(usize, i64)>),
}

impl LaneMask {
    fn is_certain(&self) -> bool {
        matches!(self, LaneMask::If(needs) if needs.is_empty())
    }

    pub fn is_possible(&self) -> bool {
        *self != LaneMask::Never
    }
}

/// The existing lanes of a register.
pub enum Mask<'c> {
    None,
    All,
    /// Only this lane.
    One(i64),
    /// All or none, by this bit.
    Whole(Val<'c>),
    /// Lanes whose bits are set.
    Lanes(Val<'c>),
}

impl<'c> Kernel<'_, 'c> {
    /// The condition for an element of the block, in an operand or, with all its bits, in the iteration.
    pub fn there(&self, at: &At, operand: Option<usize>, key: Key) -> LaneMask {
        let mut sums = vec![0i64; at.tails.len()];
        for (number, level) in self.plan.levels.iter().enumerate() {
            let step = level.step(key);
            if step >= level.size {
                return LaneMask::Never;
            }
            match at.tails[level.dim] {
                Some((scale, _)) if level.scale <= scale => sums[level.dim] += step * level.scale,
                _ => {
                    let (from, to) = at.ranges[number].unwrap_or((0, level.chunk));
                    let has = operand.is_none_or(|o| level.is_of(o));
                    if has && level.chunk > 1 && !(from..to).contains(&step) {
                        return LaneMask::Never;
                    }
                }
            }
        }
        let mut needs = Vec::new();
        for (dim, (tail, sum)) in at.tails.iter().zip(sums).enumerate() {
            match tail {
                Some((_, Tail::Known(left))) if sum >= *left => return LaneMask::Never,
                // At least one element is left, and fewer than the bound.
                Some((_, Tail::Open { below, .. })) if sum + 1 >= *below => return LaneMask::Never,
                Some((_, Tail::Open { .. })) if sum > 0 => needs.push((dim, sum)),
                _ => {}
            }
        }
        LaneMask::If(needs)
    }

    /// The condition for each lane of a register.
    pub fn lane_masks(&self, at: &At, operand: Option<usize>, lanes: &[usize], key: Key) -> Vec<LaneMask> {
        (0..1usize << lanes.len()).map(|lane| self.there(at, operand, place(lanes, key, lane))).collect()
    }

    /// Whether any element of a register may exist.
    pub fn has_lanes(&self, at: &At, operand: Option<usize>, lanes: &[usize], key: Key) -> bool {
        self.lane_masks(at, operand, lanes, key).iter().any(LaneMask::is_possible)
    }

    /// A key of an operand that exists whenever the block does: the first of those that differ from this one only in
    /// dimensions with an open rest.
    pub fn first_lane(&self, at: &At, key: Key) -> Key {
        self.plan.levels.iter().fold(key, |key, level| match at.tails[level.dim] {
            Some((scale, Tail::Open { .. })) if level.scale <= scale => key & !level.mask(),
            _ => key,
        })
    }

    /// The mask of the lanes that an operation may access.
    pub fn mask(&self, b: Builder<'c>, at: &At, there: &[LaneMask]) -> Mask<'c> {
        let possible: Vec<usize> = (0..there.len()).filter(|lane| there[*lane].is_possible()).collect();
        match possible[..] {
            [] => return Mask::None,
            // One lane is accessed as a scalar: if a number is narrowed before a store with a mask of one lane, LLVM
            // stores all bytes.
            [lane] if there[lane].is_certain() => return Mask::One(lane as i64),
            _ => {}
        }
        if there.iter().all(LaneMask::is_certain) {
            return Mask::All;
        }
        if let LaneMask::If(needs) = &there[0]
            && there.iter().all(|other| *other == there[0])
        {
            return Mask::Whole(self.holds(b, at, needs));
        }
        Mask::Lanes(self.lanes_mask(b, at, there))
    }

    /// Whether more elements than these numbers are left.
    fn holds(&self, b: Builder<'c>, at: &At, needs: &[(usize, i64)]) -> Val<'c> {
        let bit: Type<'c> = IntegerType::new(b.context(), 1).into();
        let each = needs.iter().map(|(dim, number)| compare(b, GREATER, self.left(at, *dim).0, b.index(*number), bit));
        each.collect::<Vec<_>>().into_iter().reduce(|x, y| b.value("arith.andi", &[x, y], bit, &[])).expect("a need")
    }

    /// The number of remaining elements of a dimension, and its exclusive bound.
    fn left(&self, at: &At, dim: usize) -> (Val<'c>, i64) {
        match at.tails[dim] {
            Some((_, Tail::Open { var, below })) => (self.vars.bound(var), below),
            _ => unreachable!("only open dimensions are compared"),
        }
    }

    /// A bit for each lane.
    pub fn lanes_mask(&self, b: Builder<'c>, at: &At, there: &[LaneMask]) -> Val<'c> {
        let count = there.len() as i64;
        let bits = ir::vector_type(&[count], IntegerType::new(b.context(), 1).into());
        let mut dims: Vec<usize> = Vec::new();
        for there in there {
            if let LaneMask::If(needs) = there {
                dims.extend(needs.iter().map(|need| need.0));
            }
        }
        dims.sort_unstable();
        dims.dedup();
        if dims.is_empty() {
            let possible: Vec<i32> = there.iter().map(|there| i32::from(there.is_possible())).collect();
            return b.constant(DenseElementsAttribute::bool_values(bits, &possible).into());
        }
        let compared = dims.into_iter().map(|dim| {
            let (left, below) = self.left(at, dim);
            let narrow = below <= i64::from(i32::MAX);
            let number: Type<'c> = IntegerType::new(b.context(), if narrow { 32 } else { 64 }).into();
            let t = ir::vector_type(&[count], number);
            let need = |there: &LaneMask| match there {
                LaneMask::If(needs) => needs.iter().find(|need| need.0 == dim).map_or(0, |need| need.1),
                LaneMask::Never if narrow => i64::from(i32::MAX),
                LaneMask::Never => i64::MAX,
            };
            let needs: Vec<Attribute<'c>> =
                there.iter().map(|there| IntegerAttribute::new(number, need(there)).into()).collect();
            let needs = b.constant(DenseElementsAttribute::new(t, &needs).expect("numbers make a constant").into());
            let left = b.value("arith.index_cast", &[left], number, &[]);
            compare(b, LESS, needs, b.value("vector.broadcast", &[left], t, &[]), bits)
        });
        let masks: Vec<Val<'c>> = compared.collect();
        masks.into_iter().reduce(|x, y| b.value("arith.andi", &[x, y], bits, &[])).expect("a mask")
    }

    /// The lanes of a register that count in a sum: not those of missing elements of reduced dimensions. Lanes outside
    /// the output are not stored, so they may hold anything.
    pub fn counting(&self, at: &At, key: Key) -> Vec<LaneMask> {
        debug_assert!(self.plan.mode != Mode::Elementwise);
        let is_reduced = |dim: usize| {
            let mut levels = self.plan.levels.iter().filter(|level| level.dim == dim);
            levels.all(|level| !level.is_of(self.output))
        };
        let lane = |lane: usize| {
            let element = place(&self.plan.lanes, key, lane);
            match self.there(at, None, element) {
                LaneMask::If(needs) => LaneMask::If(needs.into_iter().filter(|need| is_reduced(need.0)).collect()),
                LaneMask::Never if self.there(at, Some(self.output), element & !self.plan.reduced).is_possible() => {
                    LaneMask::Never
                }
                LaneMask::Never => LaneMask::If(Vec::new()),
            }
        };
        (0..1usize << self.plan.lanes.len()).map(lane).collect()
    }
}
