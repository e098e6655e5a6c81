//! Steps of operations on machines without places: what does not lie in the fastest memory is brought there in pieces of
//! whole tiles, and taken back.
//!
//! `f32[1024,512] · f32[512,512]` in `{1,0:T(8,128)}` and 1 MiB of fast memory: steps of 512 × 512 × 128 have buffers of 128,
//! 128 and 256 tiles of 4,096 bytes, which are 2 MiB, and do not fit; steps of 256 × 256 × 128 fit.
//!
//! The fastest memory is that of one place, and all else lies beside it, so steps are those of [`cuts`](mod@super::cuts) with
//! buffers of whole tiles. An operation has the room that arrays leave in this memory while it runs, and uses those of its
//! own that are there where they are. Of an array of which some slices are there the others are brought, in buffers for all.
//!
//! Each operation is taken alone: an array between two of a kernel, which the plan has in registers, is brought and taken
//! too. What is made again where it is used is in no memory.

use super::cuts::{Brought, CutChoice, cuts, least, pieces};
use super::lower_bound::{LeastArray, LeastRule};
use super::reading::{IndexRange, LoopNest, sizes};
use super::schedule::StepLoop;
use super::slices::{OperationSlices, SlicedArray};
use super::spread::Spread;
use super::time::TimeCut;
use crate::plan::layout_plan::{ArrayName, LayoutPlan, Unplanned};
use crate::plan::planner::Planner;
use crate::plan::program::Doing;
use crate::plan::working::{ALL, WorkingArray, WorkingSet};
use crate::solver::{Options, Progress};
use tensor_layout::numbers::ceil_div_wide;
use tensor_layout::operations::shape::Array;
use tensor_layout::text::Error;
use tensor_layout::tiled::expansion::Expansion;
use tensor_layout::tiled::layout::Layout;

/// The steps of an operation.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct TileSteps {
    /// The operation.
    pub by: (usize, usize),
    /// The loops that run in several steps, the outermost first.
    pub loops: Vec<StepLoop>,
    /// What it reads, then what it makes; scalars apart.
    pub arrays: Vec<TiledTouch>,
    /// The bytes that are brought to the fastest memory and taken from it, as often as the operation runs.
    pub bytes: i64,
    /// Those that are at least, whatever the layouts and steps are.
    pub least: i64,
    /// By which rule.
    pub rule: LeastRule,
    /// The bytes of the fastest memory that arrays leave.
    pub room: i64,
    /// Those that it may take.
    pub capacity: i64,
    /// The bytes that the smallest steps need, where there is less room: then there are no loops, and the operation reads and
    /// writes its arrays where they lie.
    pub needs: Option<i64>,
    /// What it takes in steps; `None` where a slice is no range of indices.
    pub slices: Option<OperationSlices>,
}

/// An array of an operation that runs in steps.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct TiledTouch {
    /// The array.
    pub at: ArrayName,
    /// Which operand it is; `None` for a result.
    pub operand: Option<usize>,
    /// Whether all of it is in the fastest memory; else that has a buffer for a piece.
    pub is_near: bool,
    /// Which of its dimensions are cut, each with the number of steps.
    pub cut: Vec<(usize, i64)>,
    /// In which layout it is used, of which pieces are whole tiles.
    pub layout: Layout,
    /// The bytes of the buffer, padding included.
    pub bytes: i64,
    /// Whether there is a second buffer, in which the next piece comes while one is used.
    pub is_double: bool,
    /// The bytes that are brought and taken, as often as the operation runs.
    pub moved: i64,
}

/// The best plan in which each operation has room for its smallest steps, its steps, and the bytes of the fastest memory that
/// are left to pieces for this: as many as those steps need where arrays would leave less, none where they leave enough.
/// Operations whose smallest steps need more than the capacity are not cut, nor are those for which no plan leaves so many.
/// `go_on` is asked now and then; when it says no, the best plan so far is taken.
///
/// # Errors
/// Why there is no plan.
pub fn plan_in_steps(
    planner: &mut Planner,
    options: &Options,
    go_on: &mut dyn FnMut(&Progress) -> bool,
) -> Result<(LayoutPlan, Vec<TileSteps>, i64), Unplanned> {
    let mut kept = 0;
    let mut last: Option<(LayoutPlan, Vec<TileSteps>, i64)> = None;
    loop {
        let room = if kept > 0 { planner.keep(kept) } else { Ok(()) };
        let found = room.and_then(|()| planner.plan(options, &mut *go_on));
        let (plan, steps) = match (found, last) {
            (Ok(plan), _) => tile_steps(planner, &plan).map(|steps| (plan, steps))?,
            (Err(_), Some(last)) => return planner.keep(last.2).map(|()| last),
            (Err(why), None) => return Err(why),
        };
        let needed = steps.iter().filter_map(|own| own.needs.filter(|needs| *needs <= own.capacity)).max();
        match needed {
            // What needs no more than is kept has room, so this is more each time.
            Some(needs) if needs > kept => (last, kept) = (Some((plan, steps, kept)), needs),
            _ => return Ok((plan, steps, kept)),
        }
    }
}

/// The steps of each operation of a plan that works on something that is not in the fastest memory, where that has a
/// capacity; of operations of which nothing is known, none.
///
/// # Errors
/// A cost or the bytes of a layout do not fit in 64 bits.
pub fn tile_steps(planner: &Planner, plan: &LayoutPlan) -> Result<Vec<TileSteps>, Unplanned> {
    let mut all = Vec::new();
    for set in planner.working_sets(plan)? {
        if matches!(set.doing, Doing::Operation(_)) && !set.is_free {
            let found = steps_of(&set).map_err(|error| Unplanned::Wrong(Some(set.node), error))?;
            all.extend(found);
        }
    }
    Ok(all)
}

/// An array with its tiles.
struct InTiles<'s> {
    own: &'s WorkingArray<'s>,
    operand: Option<usize>,
    indices: &'s [IndexRange],
    sizes: Vec<i64>,
    /// By dimension, the elements of a tile, and the bits that one takes.
    units: Vec<i64>,
    bits: i64,
    is_scattered: bool,
}

impl<'s> InTiles<'s> {
    fn new(
        own: &'s WorkingArray<'s>,
        operand: Option<usize>,
        indices: &'s [IndexRange],
        is_scattered: bool,
    ) -> Result<InTiles<'s>, Error> {
        let sizes = sizes(own.array);
        let tile = Expansion::new(&vec![1; sizes.len()], &own.layout)?.whole_sizes();
        let elements = |sizes: &[i64]| sizes.iter().fold(1i128, |n, size| n.saturating_mul(i128::from(*size)));
        let in_bits = |sizes: &[i64]| -> Result<i128, Error> {
            Ok(i128::from(Expansion::new(sizes, &own.layout)?.padded_bytes(own.array.element)?) * 8)
        };
        let bits = in_bits(&tile)? / elements(&tile).max(1);
        let whole: Vec<i64> = sizes.iter().zip(&tile).map(|(size, unit)| (size - 1) / unit * unit + unit).collect();
        // Of what is not made of such tiles, as where dimensions are merged, all is one.
        let (units, bits) = match bits > 0 && in_bits(&sizes)? == elements(&whole) * bits {
            true => (tile, bits),
            false => (sizes.clone(), (in_bits(&sizes)? + elements(&sizes) - 1) / elements(&sizes).max(1)),
        };
        let bits = i64::try_from(bits).map_err(|_| Error::new("the bits of an element do not fit"))?;
        Ok(InTiles { own, operand, indices, sizes, units, bits, is_scattered })
    }

    fn is_near(&self) -> bool {
        self.own.far == 0
    }

    fn brought(&self) -> Brought<'_> {
        let array = Brought {
            is_scattered: self.is_scattered,
            units: &self.units,
            ..Brought::new((self.indices, &self.sizes), self.bits, self.operand.is_none(), 0)
        };
        let whole = self.sizes.iter().zip(&self.units).fold(1i64, |n, (size, unit)| {
            n.saturating_mul(((size - 1) / unit).saturating_add(1).saturating_mul(*unit))
        });
        Brought { weight: part(bytes_of(whole, self.bits), self.own.far), ..array }
    }
}

fn bytes_of(elements: i64, bits: i64) -> i64 {
    i64::try_from((i128::from(elements) * i128::from(bits) + 7) / 8).unwrap_or(i64::MAX)
}

/// So many millionths of some bytes, rounded up.
fn part(bytes: i64, millionths: i64) -> i64 {
    i64::try_from(ceil_div_wide(i128::from(bytes) * i128::from(millionths), i128::from(ALL))).unwrap_or(i64::MAX)
}

/// The steps of one operation; none where all that it works on is near, or nothing is known of what it reads.
fn steps_of(set: &WorkingSet) -> Result<Option<TileSteps>, Error> {
    let [operands, results] =
        [&set.operands, &set.results].map(|own| own.iter().map(|own| own.array).collect::<Vec<&Array>>());
    let nest = LoopNest::new(&set.doing, &operands, &results);
    let is_known = operands.is_empty() || nest.scattered.contains(&false);
    if results.is_empty() || !is_known || [nest.operands.len(), nest.results.len()] != [operands.len(), results.len()] {
        return Ok(None);
    }
    let arrays = in_tiles(set, &nest)?;
    if arrays.iter().all(InTiles::is_near) {
        return Ok(None);
    }
    let spread = Spread::default();
    let brought: Vec<Brought> = arrays.iter().map(|array| array.brought()).collect();
    let near: Vec<bool> = arrays.iter().map(InTiles::is_near).collect();
    let needed = least(&nest, &spread, &brought);
    let needed = needed.iter().zip(&near).filter(|(_, near)| !**near);
    let needed = needed.fold(0i64, |sum, (bytes, _)| sum.saturating_add(*bytes));
    let found = cuts(&nest, &spread, &brought, std::slice::from_ref(&near), set.room);
    let rule = LeastRule::of(&nest, &least_arrays(&arrays));
    let once = rule.bytes(&nest, &least_arrays(&arrays), 1, set.capacity);
    let mut planned = TileSteps {
        by: set.node,
        loops: Vec::new(),
        arrays: Vec::new(),
        bytes: 0,
        least: once.saturating_mul(set.times),
        rule,
        room: set.room,
        capacity: set.capacity,
        needs: (needed > set.room).then_some(needed),
        slices: None,
    };
    // The first cut is the one for all of the room.
    let Some(CutChoice { cut, bytes, .. }) = found.into_iter().next().filter(|_| planned.needs.is_none()) else {
        return Ok(Some(planned));
    };
    let count = |of: usize| cut.count(of, &nest, &spread);
    planned.loops = cut.order.iter().map(|of| StepLoop { of: *of, step: cut.steps[*of], count: count(*of) }).collect();
    for (array, brought) in arrays.iter().zip(&brought) {
        let [piece, moved] = pieces(&nest, &spread, brought, &cut);
        let along = |(dim, range): (usize, &IndexRange)| (dim, range.of_loop().map_or(1, count));
        planned.arrays.push(TiledTouch {
            at: array.own.at,
            operand: array.operand,
            is_near: array.is_near(),
            cut: brought.ranges.iter().enumerate().map(along).filter(|(_, count)| *count > 1).collect(),
            layout: array.own.layout.clone(),
            bytes: if array.is_near() { 0 } else { piece },
            is_double: false,
            moved: part(moved, array.own.far).saturating_mul(set.times),
        });
    }
    planned.bytes = planned.arrays.iter().fold(0i64, |sum, own| sum.saturating_add(own.moved));
    double(&mut planned.arrays, &brought, &cut, set.room.saturating_sub(bytes));
    planned.slices = slices(set, &nest, &spread, &cut);
    Ok(Some(planned))
}

/// The arrays of an operation with their tiles, scalars apart.
fn in_tiles<'s>(set: &'s WorkingSet, nest: &'s LoopNest) -> Result<Vec<InTiles<'s>>, Error> {
    let has_dims = |own: &WorkingArray| !own.array.dims.is_empty();
    let mut arrays = Vec::new();
    for (k, own) in set.operands.iter().enumerate().filter(|(_, own)| has_dims(own)) {
        arrays.push(InTiles::new(own, Some(k), &nest.operands[k], nest.scattered.get(k) == Some(&true))?);
    }
    for (own, indices) in set.results.iter().zip(&nest.results).filter(|(own, _)| has_dims(own)) {
        arrays.push(InTiles::new(own, None, indices, false)?);
    }
    Ok(arrays)
}

/// Gives a second buffer to each array that changes between steps, those that move most first, while there is room.
fn double(arrays: &mut [TiledTouch], brought: &[Brought], cut: &TimeCut, mut room: i64) {
    let mut order: Vec<usize> = (0..arrays.len()).collect();
    order.sort_by_key(|k| std::cmp::Reverse(arrays[*k].moved));
    for k in order {
        let own = &mut arrays[k];
        if !own.is_near && own.bytes > 0 && own.bytes <= room && cut.changes(brought[k].ranges) {
            (own.is_double, room) = (true, room - own.bytes);
        }
    }
}

/// The arrays as the lower bound sees them: the elements themselves, without padding.
fn least_arrays<'s>(arrays: &'s [InTiles]) -> Vec<LeastArray<'s>> {
    let one = |array: &'s InTiles| {
        let is_outside = array.own.far == ALL && !array.is_scattered;
        let bits = array.own.array.element.bits().unwrap_or(8);
        LeastArray::new((array.indices, &array.sizes), bits, array.operand.is_none(), is_outside)
    };
    arrays.iter().map(one).collect()
}

/// What an operation takes in steps, scalars included.
fn slices(set: &WorkingSet, nest: &LoopNest, spread: &Spread, cut: &TimeCut) -> Option<OperationSlices> {
    let all = set.operands.iter().zip(&nest.operands).map(|own| (own, false));
    let all: Vec<_> = all.chain(set.results.iter().zip(&nest.results).map(|own| (own, true))).collect();
    let sizes: Vec<Vec<i64>> = all.iter().map(|((own, _), _)| sizes(own.array)).collect();
    let arrays = all.iter().zip(&sizes);
    let arrays = arrays.map(|(((_, ranges), is_result), sizes)| SlicedArray { ranges, sizes, is_result: *is_result });
    OperationSlices::new(nest, spread, cut, &arrays.collect::<Vec<_>>())
}
