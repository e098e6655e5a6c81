//! Relayouts and slices as strided copies for a DMA engine.
//!
//! ```
//! use tensor_layout::operations::Array;
//! use tensor_layout::transfers::{CopyRules, Window, strided_copies};
//!
//! // 4 rows of 256 in row-major order, into 2 tiles of 4×128: of each row two runs of 128.
//! let from: Array = "f32[4,256]{1,0}".parse().unwrap();
//! let to: Array = "f32[4,256]{1,0:T(4,128)S(1)}".parse().unwrap();
//! let copies = strided_copies(&from, &to, &Window::whole(&[4, 256]), &CopyRules::default()).unwrap();
//! assert_eq!(copies.len(), 1);
//! assert_eq!((&*copies[0].sizes, &*copies[0].from_strides, &*copies[0].to_strides),
//!     (&[2, 4, 128][..], &[128, 256, 1][..], &[512, 128, 1][..]));
//! ```
//!
//! Without `*` an offset is a sum of one function for each dimension, so products of strided pieces of the dimensions
//! are strided pieces of the whole. The pieces of a dimension come from the offsets of all its indices (`series`); if a
//! layout merges dimensions, from the offsets of all elements. Loops of a piece that continue each other on both sides
//! are merged.
//!
//! Every element of the window is copied once. The number of copies for one dimension up to size 9 is the least of all
//! partitions, in all but one of the 450 cases of `test/layouts/transfers.rs`; for more dimensions it is the least
//! product. Padding is untouched, or copied with [`CopyRules::padding`] if that needs fewer copies.
//!
//! | file | content |
//! |---|---|
//! | `series` | a sequence of offsets as strided pieces |

mod series;

use crate::operations::shape::{Array, bits};
use crate::text::Error;
use crate::tiled::expansion::Expansion;
use crate::tiled::layout::{Layout, TileEntry};
use series::{OffsetPair, StridedPiece, joined, pieces};

/// The limit on indices of a dimension, or on elements if a layout merges dimensions, and on copies.
pub const MAX_STEPS: i64 = 1 << 20;

/// The elements to copy: a box, into a box of the same sizes.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Window {
    /// The sizes of the box.
    pub sizes: Vec<i64>,
    /// The index of its first element in the source.
    pub from: Vec<i64>,
    /// The step between its elements in the source, along each dimension.
    pub steps: Vec<i64>,
    /// The index of its first element in the destination.
    pub to: Vec<i64>,
}

impl Window {
    /// All elements of an array of these sizes.
    pub fn whole(sizes: &[i64]) -> Window {
        Window {
            sizes: sizes.to_vec(),
            from: vec![0; sizes.len()],
            steps: vec![1; sizes.len()],
            to: vec![0; sizes.len()],
        }
    }

    /// A strided slice of the source, which fills the whole destination.
    pub fn slice(sizes: &[i64], from: &[i64], steps: &[i64]) -> Window {
        Window { from: from.to_vec(), steps: steps.to_vec(), ..Window::whole(sizes) }
    }
}

/// The rules for copies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CopyRules {
    /// The limit on loops of a copy; unlimited if `None`.
    pub rank: Option<usize>,
    /// Whether padding of the source may be copied to padding of the destination.
    pub padding: bool,
}

impl CopyRules {
    /// Limits copies to so many loops.
    pub fn with_rank(self, rank: usize) -> CopyRules {
        CopyRules { rank: Some(rank), ..self }
    }

    /// Allows copies to write padding.
    pub fn with_padding(self) -> CopyRules {
        CopyRules { padding: true, ..self }
    }
}

/// A strided copy: each element at the source's offset plus its strides times the counters goes to the same of the
/// destination. Offsets and strides are in elements.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StridedCopy {
    /// The number of values of each counter, 2 or more; the innermost is last.
    pub sizes: Vec<i64>,
    /// The offset of the first element in the source.
    pub from: i64,
    /// The stride of each counter in the source.
    pub from_strides: Vec<i64>,
    /// The offset of the first element in the destination.
    pub to: i64,
    /// The stride of each counter in the destination.
    pub to_strides: Vec<i64>,
}

impl StridedCopy {
    /// The number of elements copied.
    pub fn elements(&self) -> i64 {
        self.sizes.iter().product()
    }

    /// The length of the innermost run that is contiguous on both sides.
    pub fn run(&self) -> i64 {
        let last = (self.sizes.last(), self.from_strides.last(), self.to_strides.last());
        if let (Some(size), Some(1), Some(1)) = last { *size } else { 1 }
    }
}

/// A copy of an array's whole memory to an array of the same layout, maybe in another memory: one run of all elements,
/// padding included.
///
/// # Errors
/// An unbounded size, or a layout that does not fit the sizes.
pub fn whole_copy(array: &Array) -> Result<StridedCopy, Error> {
    let sizes = array.sizes().ok_or_else(|| Error::new(format!("each size must be known, found {array}")))?;
    let elements = Expansion::new(&sizes, &array.layout)?.elements();
    let (sizes, steps) = if elements == 1 { (Vec::new(), Vec::new()) } else { (vec![elements], vec![1]) };
    Ok(StridedCopy { sizes, from: 0, from_strides: steps.clone(), to: 0, to_strides: steps })
}

/// The strided copies of a window's elements from one array into another, of the same element type, in any memories.
///
/// # Errors
/// Different element types, an unbounded size, a window outside an array, a layout cut across memories, and more than
/// [`MAX_STEPS`] indices or copies.
pub fn strided_copies(from: &Array, to: &Array, window: &Window, rules: &CopyRules) -> Result<Vec<StridedCopy>, Error> {
    if from.element != to.element || bits(from).is_none() || bits(from) != bits(to) {
        let message = format!("both must have one type of elements, found {} and {}", from.element, to.element);
        return Err(Error::new(message));
    }
    if rules.rank == Some(0) {
        return Err(Error::new("a copy must have at least one loop"));
    }
    let mut sides = [
        WindowSide::new(from, &window.from, &window.steps)?,
        WindowSide::new(to, &window.to, &vec![1; window.to.len()])?,
    ];
    let rank = window.sizes.len();
    for (side, array) in sides.iter().zip([from, to]) {
        side.check(&window.sizes, array)?;
    }
    if window.sizes.contains(&0) {
        return Ok(Vec::new());
    }
    let merges = [from, to].iter().any(|array| merges(&array.layout));
    let groups: Vec<Vec<usize>> = if merges { vec![(0..rank).collect()] } else { (0..rank).map(|k| vec![k]).collect() };
    let copies = copies_of(&sides, &window.sizes, &groups, rules.rank)?;
    if !rules.padding || copies.len() < 2 || !sides.iter().all(|side| side.is_whole(&window.sizes)) {
        return Ok(copies);
    }
    if (Layout { memory_space: to.layout.memory_space, ..from.layout.clone() }) == to.layout {
        let loops = vec![(sides[0].expansion.elements(), (1, 1))];
        return limited(StridedPiece { start: (0, 0), loops }, rules.rank);
    }
    let extents = sides.iter_mut().map(WindowSide::extend).collect::<Result<Vec<_>, Error>>()?;
    let sizes: Vec<i64> = extents[0].iter().zip(&extents[1]).map(|(a, b)| *a.min(b)).collect();
    let padded = copies_of(&sides, &sizes, &groups, rules.rank)?;
    Ok(if padded.len() < copies.len() { padded } else { copies })
}

/// The copies of a box at the start of both sides' boxes. Dimensions of one group are enumerated together.
///
/// # Errors
/// Too many indices or copies.
fn copies_of(
    sides: &[WindowSide; 2],
    sizes: &[i64],
    groups: &[Vec<usize>],
    rank: Option<usize>,
) -> Result<Vec<StridedCopy>, Error> {
    let first = vec![0; sizes.len()];
    let start = (sides[0].offset(&first)?, sides[1].offset(&first)?);
    let mut all = vec![StridedPiece { start, loops: Vec::new() }];
    for group in groups {
        let of_group = pieces(&offsets(sides, sizes, group, start)?);
        let count = all.len().checked_mul(of_group.len()).filter(|count| *count as i64 <= MAX_STEPS);
        count.ok_or_else(|| Error::new(format!("there must be at most {MAX_STEPS} copies")).too_large())?;
        let product = |whole: &StridedPiece| {
            let (start, loops) = (whole.start, whole.loops.clone());
            let part = |part: &StridedPiece| StridedPiece {
                start: (start.0 + part.start.0, start.1 + part.start.1),
                loops: loops.iter().chain(&part.loops).copied().collect(),
            };
            of_group.iter().map(part).collect::<Vec<_>>()
        };
        all = all.iter().flat_map(product).collect();
    }
    all.iter_mut().for_each(coalesce);
    let mut all = joined(all);
    all.iter_mut().for_each(coalesce);
    let copies = all.into_iter().map(|piece| limited(piece, rank)).collect::<Result<Vec<_>, Error>>()?;
    Ok(copies.into_iter().flatten().collect())
}

/// An array with a box in it.
struct WindowSide {
    expansion: Expansion,
    layout: Layout,
    first: Vec<i64>,
    steps: Vec<i64>,
}

impl WindowSide {
    fn new(array: &Array, first: &[i64], steps: &[i64]) -> Result<WindowSide, Error> {
        let sizes = array.sizes().ok_or_else(|| Error::new(format!("each size must be known, found {array}")))?;
        let expansion = Expansion::new(&sizes, &array.layout)?;
        Ok(WindowSide { expansion, layout: array.layout.clone(), first: first.to_vec(), steps: steps.to_vec() })
    }

    /// # Errors
    /// A box outside the array.
    fn check(&self, sizes: &[i64], array: &Array) -> Result<(), Error> {
        let all = self.expansion.logical_sizes();
        let ranks = [self.first.len(), self.steps.len(), sizes.len()];
        if ranks.iter().any(|rank| *rank != all.len()) {
            return Err(Error::new(format!("the window must have {} dimensions, as {array} has", all.len())));
        }
        for (dim, size) in sizes.iter().enumerate() {
            let (first, step) = (self.first[dim], self.steps[dim]);
            let last = step.checked_mul((size - 1).max(0)).and_then(|last| last.checked_add(first));
            let inside = last.is_some_and(|last| last < all[dim] || *size == 0);
            if *size < 0 || first < 0 || step < 1 || !inside {
                let message = format!("the window must be inside of dimension {dim} of {array}");
                return Err(Error::new(format!("{message}, found {size} from {first} on in steps of {step}")));
            }
        }
        Ok(())
    }

    fn is_whole(&self, sizes: &[i64]) -> bool {
        self.expansion.logical_sizes() == sizes && self.steps.iter().all(|step| *step == 1)
    }

    /// Grows the sizes to the largest in the same memory, so that padding becomes elements, and returns them.
    fn extend(&mut self) -> Result<Vec<i64>, Error> {
        let mut sizes = self.expansion.logical_sizes().to_vec();
        let fits = |sizes: &[i64]| {
            Expansion::new(sizes, &self.layout)
                .is_ok_and(|of| of.sizes() == self.expansion.sizes() && of.same_offsets(&self.expansion))
        };
        for dim in 0..sizes.len() {
            let (mut low, mut high) = (sizes[dim], self.expansion.elements().saturating_add(1));
            while high - low > 1 {
                sizes[dim] = low + (high - low) / 2;
                if fits(&sizes) { low = sizes[dim] } else { high = sizes[dim] }
            }
            sizes[dim] = low;
        }
        self.expansion = Expansion::new(&sizes, &self.layout)?;
        Ok(sizes)
    }

    /// The offset of an element of the box.
    fn offset(&self, index: &[i64]) -> Result<i64, Error> {
        let place = |dim: usize| self.first[dim] + index[dim] * self.steps[dim];
        self.expansion.offset(&(0..index.len()).map(place).collect::<Vec<_>>())
    }
}

/// Whether a layout merges dimensions.
fn merges(layout: &Layout) -> bool {
    layout.tiles.iter().flatten().any(|entry| *entry == TileEntry::Combine)
}

/// The offsets of the elements along some dimensions, in row-major order, relative to the first one.
///
/// # Errors
/// Too many elements.
fn offsets(
    sides: &[WindowSide; 2],
    sizes: &[i64],
    dims: &[usize],
    start: OffsetPair,
) -> Result<Vec<OffsetPair>, Error> {
    let count = dims.iter().try_fold(1_i64, |count, dim| count.checked_mul(sizes[*dim]));
    let count = count.filter(|count| *count <= MAX_STEPS).ok_or_else(|| {
        let what = if dims.len() > 1 { "elements, as the layout merges dimensions," } else { "indices of a dimension" };
        Error::new(format!("at most {MAX_STEPS} {what} can be gone through")).too_large()
    })?;
    let mut index = vec![0; sizes.len()];
    let mut found = Vec::new();
    for _ in 0..count {
        found.push((sides[0].offset(&index)? - start.0, sides[1].offset(&index)? - start.1));
        for dim in dims.iter().rev() {
            index[*dim] += 1;
            if index[*dim] < sizes[*dim] {
                break;
            }
            index[*dim] = 0;
        }
    }
    Ok(found)
}

/// Merges two loops that continue each other on both sides, and sorts the loops by the destination's strides.
fn coalesce(piece: &mut StridedPiece) {
    let loops = &mut piece.loops;
    loops.sort_by_key(|(_, (from, to))| std::cmp::Reverse((to.unsigned_abs(), from.unsigned_abs())));
    let mut at = 0;
    while at < loops.len() {
        let (size, (from, to)) = loops[at];
        let continues = |outer: &(i64, OffsetPair)| outer.1.0 == from * size && outer.1.1 == to * size;
        match loops.iter().position(continues) {
            Some(outer) if outer != at => {
                loops[at].0 *= loops[outer].0;
                loops.remove(outer);
                at = 0;
            }
            _ => at += 1,
        }
    }
}

/// Splits a piece into copies of at most so many loops: the longest loops are kept, with a copy for each step of the
/// others.
///
/// # Errors
/// Too many copies.
fn limited(piece: StridedPiece, rank: Option<usize>) -> Result<Vec<StridedCopy>, Error> {
    let rank = rank.unwrap_or(piece.loops.len());
    let mut by_size: Vec<usize> = (0..piece.loops.len()).collect();
    by_size.sort_by_key(|k| std::cmp::Reverse((piece.loops[*k].0, *k)));
    let (kept, split) = by_size.split_at(rank.min(by_size.len()));
    let mut starts = vec![piece.start];
    for (size, (from, to)) in split.iter().map(|k| piece.loops[*k]) {
        if starts.len() as i64 > MAX_STEPS / size {
            return Err(Error::new(format!("there must be at most {MAX_STEPS} copies")).too_large());
        }
        let steps = |start: OffsetPair| (0..size).map(move |k| (start.0 + k * from, start.1 + k * to));
        starts = starts.into_iter().flat_map(steps).collect();
    }
    let loops: Vec<(i64, OffsetPair)> =
        (0..piece.loops.len()).filter(|k| kept.contains(k)).map(|k| piece.loops[k]).collect();
    let copy = |(from, to): OffsetPair| StridedCopy {
        sizes: loops.iter().map(|of| of.0).collect(),
        from,
        from_strides: loops.iter().map(|of| of.1.0).collect(),
        to,
        to_strides: loops.iter().map(|of| of.1.1).collect(),
    };
    Ok(starts.into_iter().map(copy).collect())
}
