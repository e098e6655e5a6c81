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
use super::slices::{OperationSlices, SlicedArray};
use super::spread::Spread;
use super::steps::{PlannedSteps, SteppedTouch};
use super::time::TimeCut;
use crate::plan::layout_plan::Unplanned;
use crate::plan::planned_layout::PlannedLayout;
use crate::plan::program::{ArrayName, InstanceKind};
use tensor_layout::numbers::ceil_div_wide;
use tensor_layout::operations::shape::Array;
use tensor_layout::text::Error;
use tensor_layout::tiled::expansion::Expansion;
use tensor_layout::tiled::layout::Layout;

/// An operation with what it works on.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct WorkingSet<'a> {
    /// The graph, and the number of the node in it.
    pub node: (usize, usize),
    /// The kind of the instance.
    pub kind: InstanceKind<'a>,
    /// How often it runs.
    pub times: i64,
    /// The arrays that it reads, and those that it makes.
    pub operands: Vec<WorkingArray<'a>>,
    /// See `operands`.
    pub results: Vec<WorkingArray<'a>>,
    /// Whether it moves nothing: its result is made again where it is used, or is another name of its operand.
    pub is_free: bool,
    /// The bytes of the fastest memory that arrays leave while it runs.
    pub room: i64,
    /// The bytes that they may take of it.
    pub capacity: i64,
}

/// An array of an operation.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct WorkingArray<'a> {
    /// The array.
    pub at: ArrayName,
    /// Its shape.
    pub array: &'a Array,
    /// The layout in which it is read or made.
    pub layout: Layout,
    /// The part of it that does not lie in the fastest memory, in millionths; what is made again where it is used is nowhere.
    pub far: i64,
}

/// All of an array, in millionths.
pub const ALL: i64 = 1_000_000;

/// The steps of each operation that works on something that is not in the fastest memory; of operations of which nothing is
/// known, none.
///
/// # Errors
/// A cost or the bytes of a layout do not fit in 64 bits.
pub fn tile_steps(sets: &[WorkingSet]) -> Result<Vec<PlannedSteps>, Unplanned> {
    let mut all = Vec::new();
    for set in sets.iter().filter(|set| matches!(set.kind, InstanceKind::Operation(_)) && !set.is_free) {
        all.extend(steps_of(set).map_err(|error| Unplanned::Wrong(Some(set.node), error))?);
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
fn steps_of(set: &WorkingSet) -> Result<Option<PlannedSteps>, Error> {
    let [operands, results] =
        [&set.operands, &set.results].map(|own| own.iter().map(|own| own.array).collect::<Vec<&Array>>());
    let nest = LoopNest::new(&set.kind, &operands, &results);
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
    let mut planned = PlannedSteps::new(set.node, 1, rule);
    planned.least = vec![once.saturating_mul(set.times)];
    (planned.room, planned.needs) = (Some(set.room), (needed > set.room).then_some(needed));
    // The first cut is the one for all of the room.
    let Some(CutChoice { cut, bytes, .. }) = found.into_iter().next().filter(|_| planned.needs.is_none()) else {
        return Ok(Some(planned));
    };
    let count = |of: usize| cut.count(of, &nest, &spread);
    planned.cut(&cut, &nest, &spread);
    for (array, brought) in arrays.iter().zip(&brought) {
        let [piece, moved] = pieces(&nest, &spread, brought, &cut);
        let along = |(dim, range): (usize, &IndexRange)| (dim, range.of_loop().map_or(1, count));
        planned.add(SteppedTouch {
            at: array.own.at,
            operand: array.operand,
            in_place: array.is_near(),
            cut: brought.ranges.iter().enumerate().map(along).filter(|(_, count)| *count > 1).collect(),
            layout: Some(PlannedLayout::Tiled(array.own.layout.clone())),
            bytes: if array.is_near() { 0 } else { piece },
            is_double: false,
            levels: vec![part(moved, array.own.far).saturating_mul(set.times)],
        });
    }
    let changes = |k: usize| !arrays[k].is_scattered && cut.changes(arrays[k].indices);
    planned.double(set.room.saturating_sub(bytes), &changes);
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

/// The arrays as the lower bound sees them: the elements themselves, without padding.
fn least_arrays<'s>(arrays: &'s [InTiles]) -> Vec<LeastArray<'s>> {
    let one = |array: &'s InTiles| {
        let is_outside = array.own.far == ALL && !array.is_scattered;
        let bits = array.own.array.element.bits().unwrap_or(8);
        LeastArray::new((array.indices, &array.sizes), bits, array.operand.is_none(), is_outside)
    };
    arrays.iter().map(one).collect()
}

/// The slices that an operation takes in steps, scalars included.
fn slices(set: &WorkingSet, nest: &LoopNest, spread: &Spread, cut: &TimeCut) -> Option<OperationSlices> {
    let all = set.operands.iter().zip(&nest.operands).map(|own| (own, false));
    let all: Vec<_> = all.chain(set.results.iter().zip(&nest.results).map(|own| (own, true))).collect();
    let sizes: Vec<Vec<i64>> = all.iter().map(|((own, _), _)| sizes(own.array)).collect();
    let arrays = all.iter().zip(&sizes);
    let arrays = arrays.map(|(((_, ranges), is_result), sizes)| SlicedArray { ranges, sizes, is_result: *is_result });
    OperationSlices::new(nest, spread, cut, &arrays.collect::<Vec<_>>())
}
