//! What moves where when a tensor goes from one placement to another.
//!
//! From `((4_PE, 4:1))` to `((4:1, 4_PE))`, element `i` goes from PE `i floordiv 4` to PE `i mod 4`: with the digits
//! `a = i floordiv 4` and `b = i mod 4`, from PE `a`, address `b` to PE `b`, address `a`. That is a [`Block`], of which
//! a few say the whole. The 4 elements with `a = b` stay, the other 12 go to another PE.
//!
//! 1. *Digits.* The weights of both sides' digits cut each dimension into segments; each digit is cut further where the
//!    other side's strides along its axis, or the groups of a machine, cut it. Where weights do not divide each other,
//!    as 3 and 4, the values of the segment between two common multiples are gone through one by one.
//! 2. *Boxes.* The indices below a size that is no product of digits are a box for each digit: the digits above are
//!    those of the size, this one is less than the size's, those below are free.
//! 3. *Counts.* Along an axis whose strides nest, both coordinates are numbers in one mixed radix, so they are equal
//!    where their digits are: variables fall into classes of equal ones, and the elements of a box that stay are a
//!    product over the classes. Strides that do not nest are gone through value by value, up to a bound.
//!
//! So costs grow with the number of digits, not of elements; of boxes there are more where several dimensions are
//! padded, or have weights that do not divide each other.
//!
//! Not promised: an order or a schedule of the copies, and room in the memories, which [`Machine::check`] verifies.

use crate::numbers::{gcd, inverse};
use crate::places::machine::{Machine, Memory, TIME, WORD};
use crate::places::placement::{Copies, Placement};
use crate::text::Error;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::fmt;

/// What has to be done to bring a tensor from one placement to another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The named axes: those of the machine from parent to child, without one those of the layouts in order of their
    /// appearance; after them `Time` and `W`, where a layout names them.
    pub axes: Vec<String>,
    /// The memories that hold the source and the destination, as numbers in [`Machine::memories`]: those that
    /// [`Machine::check`] chooses. `None` without a machine, and where it names none: the places of the last axis.
    pub memories: [Option<usize>; 2],
    /// The elements to be put in place, each counted once for each of its copies in the destination.
    pub elements: i64,
    /// Those that stay where they are: the same memory of the same place holds them before and after, so both are at
    /// one coordinate along each axis down to the memory's. None where the sides are in different memories.
    pub stay: i64,
    /// Those of them that do not move at all, neither in time, nor along the address, nor inside a word. Where only one
    /// side has words, an address there counts as many elements as a word has.
    pub unmoved: i64,
    /// The levels of the tree, outermost first.
    pub levels: Vec<Level>,
    /// The copies that do it. Together they fill every place of the destination once.
    pub blocks: Vec<Block>,
}

/// A level of the tree of places: the places of an axis, or groups of them, below a common parent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Level {
    /// The axis.
    pub axis: String,
    /// How many places of the axis one place of the level has: 1, or more for a level of groups.
    pub group: i64,
    /// The elements for which this is the outermost level at which source and destination are in different places. A
    /// side whose memory hangs above the level has no place there, which differs from each place of a side that has
    /// one: between memories at different depths, what is not counted further out is counted at the first level below
    /// the upper one. Below both memories it is 0.
    pub cross: i64,
    /// The bytes that leave the busiest place of this level for its parent: those of the elements that come from the
    /// place and go to another place of the level, whether it has the same parent or not, or to a memory above. 0 where
    /// the source's memory hangs above the level.
    pub up: i64,
    /// The bytes that the busiest place of this level gets from its parent, likewise: from another place of the level,
    /// or from a memory above. 0 where the destination's memory hangs above the level.
    pub down: i64,
}

/// Coordinates as affine functions of counters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Affine {
    /// The coordinate along each axis of the plan, 0 where the side's memory has none, and last the address, where all
    /// counters are 0.
    pub base: Vec<i64>,
    /// What a step of each counter adds to each of them.
    pub strides: Vec<Vec<i64>>,
}

/// A strided copy: for all values of the counters, what is at `source` goes to `destination`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// How many values each counter has, each at least 2.
    pub sizes: Vec<i64>,
    /// Where from.
    pub source: Affine,
    /// Where to.
    pub destination: Affine,
}

/// A strided copy from one place to one place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Copy {
    /// The source's coordinate along each axis of the plan, and last the first address.
    pub source: Vec<i64>,
    /// The destination's.
    pub destination: Vec<i64>,
    /// How many values each counter has.
    pub sizes: Vec<i64>,
    /// What a step of each counter adds to the source's address.
    pub source_strides: Vec<i64>,
    /// What a step of each counter adds to the destination's address.
    pub destination_strides: Vec<i64>,
}

/// The most blocks of a plan.
pub const MAX_BLOCKS: usize = 1 << 14;

/// The most values that are gone through where strides do not nest.
const MAX_STEPS: usize = 1 << 21;

/// The most places that are tried as the busiest, before all are gone through.
const MAX_TRIED: usize = 1 << 14;

/// The most boxes that are made to take the nearest of partial copies.
const MAX_SPLIT: usize = 1 << 12;

/// The most values that are gone through for it.
const MAX_SPLIT_STEPS: usize = 1 << 18;

const FROM: usize = 0;
const TO: usize = 1;

/// Says what has to be moved between two placements of a tensor of elements of `element_bits` bits, densely counted.
///
/// On a machine each side is in the memory that [`Machine::check`] chooses, whether it has room or not; on one without
/// memories, in the places of the last axis. The axes below a memory's are no coordinates in it: there are no copies
/// along them, and coordinates in [`Plan::blocks`] are 0. Those that a layout names below its memory, where the machine
/// has no deeper one, number parts of the memory beside the address.
///
/// Without a machine each axis is a level, in the order in which the layouts name them, and has as many places as they
/// reach. An axis that a layout does not name, or broadcasts, has a copy at each of its places; of `W`, which says how
/// elements pack, an unnamed one is no copy. Each copy in the destination is filled. Of the copies in the source the
/// nearest is taken, along each axis on its own: the one with the destination's own coordinate, if there is one, else
/// one in the smallest group of the axis that holds both. Where strides do not nest, or a part of an axis that a
/// `B@[n_X:s]` spans ends elsewhere than the digits, this splits boxes value by value; where that takes too many values
/// or boxes, copies are taken along this axis that may not be the nearest.
///
/// `Time` and `W` are no levels of the tree: what moves along them alone stays at its place and is a copy inside it.
///
/// # Errors
/// Other sizes, a layout that reaches beyond the machine, counts beyond 64 bits, and strides for which counting takes
/// too many steps.
///
/// # Example
/// ```
/// use tensor_layout::places::{Machine, Placement, plan};
/// let board = Machine::parse("mn_core").unwrap();
/// let rows = Placement::parse("((16_L2B, 8_L1B, 8:8), (16_MAB, 8:1, 4_PE))").unwrap();
/// let other = Placement::parse("((8_L1B, 16_L2B, 8:8), (16_MAB, 4_PE, 8:1))").unwrap();
/// let plan = plan(&rows, &other, Some(&board), 32).unwrap();
/// assert_eq!((plan.elements, plan.stay, plan.blocks.len()), (1024 * 512, 2048, 1));
/// // Of 16 L2Bs one keeps what it has: 15 of 16 elements cross between L2Bs.
/// assert_eq!(plan.levels[0].cross, 1024 * 512 / 16 * 15);
/// ```
pub fn plan(from: &Placement, to: &Placement, machine: Option<&Machine>, element_bits: i64) -> Result<Plan, Error> {
    if from.sizes() != to.sizes() {
        return Err(Error::new(format!("the sizes are {:?} and {:?}", from.sizes(), to.sizes())));
    }
    if element_bits < 1 {
        return Err(Error::new(format!("an element must have at least 1 bit, found {element_bits}")));
    }
    if let Some(machine) = machine {
        machine.reach(from, element_bits)?;
        machine.reach(to, element_bits)?;
    }
    let nearest = plan_with(from, to, machine, element_bits, true);
    // Without the nearest of partial copies there are fewer boxes to count in.
    let partial = || from.digits().iter().any(|digit| digit.dim.is_none());
    nearest.or_else(|error| if partial() { plan_with(from, to, machine, element_bits, false) } else { Err(error) })
}

/// [`plan`], which looks for the nearest of partial copies where `nearest` says so.
fn plan_with(
    from: &Placement,
    to: &Placement,
    machine: Option<&Machine>,
    element_bits: i64,
    nearest: bool,
) -> Result<Plan, Error> {
    let memories = match machine {
        Some(machine) => [memory(machine, from, element_bits)?, memory(machine, to, element_bits)?],
        None => [None; 2],
    };
    let tree = Tree::new([from, to], machine, memories, element_bits);
    let joint = Joint::new(&tree, [from, to], nearest)?;
    let mut steps = Budget(MAX_STEPS);
    let mut count = |constraints: &[SamePlace]| joint.total(&joint.equal(constraints), &mut steps);
    let elements = count(&[])?;
    let mut same = Vec::new();
    let mut staying = elements;
    let mut levels = Vec::new();
    for level in &tree.levels {
        let (axis, group) = (tree.axes[level.axis].clone(), level.unit);
        let has = tree.depths.map(|depth| level.axis < depth);
        if has == [false; 2] {
            levels.push(Level { axis, group, cross: 0, up: 0, down: 0 });
            continue;
        }
        same.push(*level);
        let mut equal = joint.equal(&same);
        equal.never = has[FROM] != has[TO];
        let left = joint.total(&equal, &mut steps)?;
        let mut busiest = |side: usize| -> Result<i64, Error> {
            if !has[side] {
                return Ok(0);
            }
            let moved = joint.busiest(side, &same, &equal, &mut steps)?;
            let bits = i128::from(moved) * i128::from(element_bits);
            i64::try_from((bits + 7) / 8).map_err(|_| too_many())
        };
        levels.push(Level { axis, group, cross: staying - left, up: busiest(FROM)?, down: busiest(TO)? });
        staying = left;
    }
    if memories[FROM] != memories[TO] {
        staying = 0;
    }
    same.extend(tree.local.iter().map(|&axis| SamePlace { axis, unit: 1 }));
    let unmoved = if staying == 0 { 0 } else { joint.total(&joint.equal(&same), &mut steps)? };
    let blocks = joint.boxes.iter().map(|ranges| joint.block(&tree, ranges)).collect();
    Ok(Plan { axes: tree.axes, memories, elements, stay: staying, unmoved, levels, blocks })
}

/// The memory that [`Machine::check`] chooses, whether the tensor has room in it or not.
fn memory(machine: &Machine, side: &Placement, element_bits: i64) -> Result<Option<usize>, Error> {
    // Of memories at one axis the largest is chosen: all become as large as can be, in the same order.
    let mut roomy = machine.clone();
    for memory in &mut roomy.memories {
        let larger = machine.memories.iter().filter(|other| other.bytes > memory.bytes).count();
        memory.bytes = i64::MAX.saturating_sub_unsigned(larger as u64);
    }
    Ok(roomy.check(side, element_bits, None)?.memory)
}

fn too_many() -> Error {
    Error::new("the number of elements and copies, or of their bytes, does not fit in 64 bits")
}

/// The product of counts.
fn product(mut counts: impl Iterator<Item = i64>) -> Result<i64, Error> {
    counts.try_fold(1i64, i64::checked_mul).ok_or_else(too_many)
}

/// The sum of two counts.
fn sum(a: i64, b: i64) -> Result<i64, Error> {
    a.checked_add(b).ok_or_else(too_many)
}

/// The number of values in a box.
fn elements(ranges: &[Range]) -> Result<i64, Error> {
    product(ranges.iter().map(|range| range.1))
}

/// That both sides agree on `coordinate floordiv unit` along an axis.
#[derive(Clone, Copy)]
struct SamePlace {
    axis: usize,
    unit: i64,
}

/// The axes of both sides. Behind the named ones are the address and the position, which is the address in elements.
struct Tree {
    axes: Vec<String>,
    /// The number of places along each named axis.
    places: Vec<i64>,
    /// How many of the named axes are those of the tree; the others are inside a place.
    tree_axes: usize,
    /// The levels of the tree, each as what its places have in common.
    levels: Vec<SamePlace>,
    /// How many of the axes, from the first on, are coordinates of a memory of each side.
    depths: [usize; 2],
    /// The axes inside a place.
    local: Vec<usize>,
    /// The elements of a word.
    word: i64,
}

impl Tree {
    fn new(sides: [&Placement; 2], machine: Option<&Machine>, memories: [Option<usize>; 2], element_bits: i64) -> Tree {
        let mut axes: Vec<String> =
            machine.map_or(Vec::new(), |m| m.axes.iter().map(|axis| axis.name.clone()).collect());
        let mut places: Vec<i64> =
            machine.map_or(Vec::new(), |m| m.axes.iter().map(|axis| axis.extent.max(1)).collect());
        let inside = |axis: &str| axis == TIME || axis == WORD;
        let named = || sides.into_iter().flat_map(|side| side.axes().iter().zip(side.extents()));
        let others = named().filter(|(axis, _)| !inside(axis));
        let inner = named().filter(|(axis, _)| inside(axis));
        let mut tree_axes = axes.len();
        for (axis, reach) in others.chain(inner) {
            match axes.iter().position(|known| known == axis) {
                Some(known) if machine.is_none() || inside(axis) => places[known] = places[known].max(reach),
                Some(_) => {}
                None => {
                    axes.push(axis.clone());
                    places.push(reach);
                    tree_axes += usize::from(!inside(axis));
                }
            }
        }
        let mut levels = Vec::new();
        for (axis, places) in places.iter().enumerate().take(tree_axes) {
            let groups = machine.and_then(|m| m.axes.get(axis)).map_or(&[][..], |axis| &axis.groups);
            let mut unit = 1i64;
            let mut inner = vec![1];
            for group in groups.iter().skip(1).rev().filter(|group| **group > 1) {
                unit = unit.saturating_mul(*group);
                inner.push(unit);
            }
            // A level of which there is one place is none.
            inner.retain(|unit| *unit == 1 || unit < places);
            levels.extend(inner.into_iter().rev().map(|unit| SamePlace { axis, unit }));
        }
        let (address, position) = (axes.len(), axes.len() + 1);
        let word_axis = axes.iter().position(|axis| axis == WORD);
        let word =
            machine.map(|m| m.word_bits / element_bits).or_else(|| word_axis.map(|w| places[w])).unwrap_or(1).max(1);
        if let (Some(w), Some(_)) = (word_axis, machine) {
            places[w] = word;
        }
        let in_words = sides.map(|side| side.axes().iter().any(|axis| axis == WORD));
        let depths = memories.map(|memory| {
            let memory = machine.zip(memory).map(|(machine, memory)| (machine, &machine.memories[memory]));
            let below = |(machine, memory): (&Machine, &Memory)| match &memory.axis {
                Some(axis) => machine.depth(axis).map_or(tree_axes, |depth| depth + 1),
                None => 0,
            };
            memory.map_or(tree_axes, below)
        });
        // A layout names axes below its memory only if no memory is deeper: there they are parts of the address.
        let mut local: Vec<usize> =
            (depths[FROM].max(depths[TO])..axes.len()).filter(|axis| Some(*axis) != word_axis).collect();
        match in_words {
            [true, true] => local.extend([address].into_iter().chain(word_axis)),
            [false, false] => local.push(address),
            _ => local.push(position),
        }
        Tree { axes, places, tree_axes, levels, depths, local, word }
    }

    fn address(&self) -> usize {
        self.axes.len()
    }

    /// Whether each element of a side is at every place along an axis.
    fn everywhere(&self, sides: [&Placement; 2], side: usize, axis: usize) -> bool {
        if (self.depths[side]..self.tree_axes).contains(&axis) {
            return false;
        }
        let side = sides[side];
        match side.axes().iter().position(|name| *name == self.axes[axis]) {
            Some(known) => side.copies(known) == Copies::All,
            None => self.axes[axis] != WORD,
        }
    }
}

/// A digit of one side.
#[derive(Clone, Copy)]
struct Piece {
    /// The dimension; a copy in the destination counts as an index of a dimension of its own, one in the source as
    /// none.
    dim: Option<usize>,
    weight: i64,
    extent: i64,
    axis: usize,
    stride: i64,
}

/// The digits of a side that matter below the sizes.
fn pieces(tree: &Tree, side: &Placement) -> Vec<Piece> {
    let axis = |axis: usize| match side.axes().get(axis) {
        Some(name) => tree.axes.iter().position(|known| known == name).unwrap_or(tree.address()),
        None => tree.address(),
    };
    let digits = side.digits().iter().filter_map(|digit| {
        let extent = match digit.dim.map(|dim| side.sizes()[dim]) {
            Some(size) => digit.extent.min((size - 1) / digit.weight + 1),
            None => digit.extent,
        };
        let piece =
            Piece { dim: digit.dim, weight: digit.weight, extent, axis: axis(digit.axis), stride: digit.stride };
        (extent > 1).then_some(piece)
    });
    digits.collect()
}

/// Cuts the digits of both sides until none is cut further by the other's weights, or by strides along its axis.
fn refine(tree: &Tree, sizes: &[i64], sides: &mut [Vec<Piece>; 2]) {
    let mut again = true;
    while std::mem::take(&mut again) {
        for side in [FROM, TO] {
            let mut k = 0;
            while let Some(piece) = sides[side].get(k).copied() {
                let Some(factor) = cut(tree, sizes, sides, &piece) else {
                    k += 1;
                    continue;
                };
                again = true;
                sides[side][k] = Piece { extent: factor, ..piece };
                // The highest digit is cut off by the size, so its upper part may be larger than it was.
                let extent = (piece.extent - 1) / factor + 1;
                let weight = if piece.dim.is_some() { piece.weight * factor } else { 1 };
                sides[side].push(Piece { weight, extent, stride: piece.stride * factor, ..piece });
            }
        }
    }
}

/// Where a digit can be cut: the number of values of its lower part.
fn cut(tree: &Tree, sizes: &[i64], sides: &[Vec<Piece>; 2], piece: &Piece) -> Option<i64> {
    let top = |dim: usize| i128::from(piece.weight) * i128::from(piece.extent) >= i128::from(sizes[dim]);
    let factor = |step: i64, other: i64| {
        // Most are outside, which needs no division to see.
        let inside = other > step && step > 0 && other < step.saturating_mul(piece.extent) && other % step == 0;
        Some(other / step.max(1)).filter(|factor| {
            inside
                && (piece.extent % factor == 0 || piece.dim.is_some_and(top))
                && piece.dim.is_none_or(|dim| divides(sides, dim, piece.weight * factor))
        })
    };
    let mut others = sides.iter().flatten();
    let found = others.find_map(|other| {
        let by_weight = || factor(piece.weight, other.weight).filter(|_| piece.dim.is_some() && other.dim == piece.dim);
        let by_stride = || factor(piece.stride, other.stride);
        // A copy is chosen for whole digits, so it cuts where it ends too.
        let end = || other.stride.checked_mul(other.extent).filter(|_| other.dim.is_none());
        let by_end = || end().and_then(|end| factor(piece.stride, end));
        let along = || if other.axis == piece.axis { by_stride().or_else(by_end) } else { None };
        by_weight().or_else(along)
    });
    let groups = || tree.levels.iter().filter(|level| level.axis == piece.axis);
    found.or_else(|| groups().find_map(|level| factor(piece.stride, level.unit)))
}

/// Whether a weight of a dimension divides or is divided by each weight of both sides.
fn divides(sides: &[Vec<Piece>; 2], dim: usize, weight: i64) -> bool {
    let mut others = sides.iter().flatten().filter(|piece| piece.dim == Some(dim)).map(|piece| piece.weight);
    others.all(|other| weight % other == 0 || other % weight == 0)
}

/// The values that a variable takes in a box: the least, and how many.
type Range = (i64, i64);

/// Values of some variables.
type Assignment = Vec<(usize, i64)>;

/// A digit of both sides: what it adds to the coordinates of each.
struct Var {
    extent: i64,
    /// For each side the axes and strides.
    steps: [Vec<(usize, i64)>; 2],
}

/// Both sides in common digits.
struct Joint {
    vars: Vec<Var>,
    /// The ranges of all variables, which together give each element and copy once.
    boxes: Vec<Vec<Range>>,
    /// For each axis, the address and the position: the variables of each side with their strides.
    coordinates: Vec<[Vec<(usize, i64)>; 2]>,
    /// For each of them, whether both sides are numbers in one mixed radix.
    nested: Vec<bool>,
}

/// A digit between two weights that divide all others.
struct CommonDigit {
    weight: i64,
    extent: i64,
    /// The variables, each with its weight in the segment. One, unless the sides' weights do not divide each other.
    vars: Vec<(usize, i64)>,
}

impl Joint {
    fn new(tree: &Tree, sides: [&Placement; 2], nearest: bool) -> Result<Joint, Error> {
        let sizes = sides[TO].sizes();
        let everywhere = |side: usize, axis: usize| tree.everywhere(sides, side, axis);
        let mut joint = Joint { vars: Vec::new(), boxes: Vec::new(), coordinates: Vec::new(), nested: Vec::new() };
        if !sizes.contains(&0) {
            let mut cut = sides.map(|side| pieces(tree, side));
            for (axis, extent) in tree.places.iter().copied().enumerate().filter(|(_, extent)| *extent > 1) {
                if everywhere(TO, axis) {
                    cut[TO].push(Piece { dim: None, weight: 1, extent, axis, stride: 1 });
                }
            }
            let mut sizes = sizes.to_vec();
            for copies in cut[TO].iter_mut().filter(|piece| piece.dim.is_none()) {
                copies.dim = Some(sizes.len());
                sizes.push(copies.extent);
            }
            refine(tree, &sizes, &mut cut);
            joint.join(&sizes, &cut)?;
            joint.choose(tree, &cut[FROM], |axis| axis < tree.axes.len() && everywhere(FROM, axis), nearest);
        }
        joint.locate(tree, sides)?;
        Ok(joint)
    }

    /// Makes variables of digits, and boxes of sizes.
    fn join(&mut self, sizes: &[i64], sides: &[Vec<Piece>; 2]) -> Result<(), Error> {
        let mut boxes: Vec<Vec<(usize, Range)>> = vec![Vec::new()];
        for (dim, size) in sizes.iter().enumerate() {
            let pieces = |side: usize| sides[side].iter().filter(move |piece| piece.dim == Some(dim));
            let weights = pieces(FROM).chain(pieces(TO)).map(|piece| piece.weight);
            let mut weights: Vec<i64> = weights.filter(|weight| divides(sides, dim, *weight)).collect();
            weights.sort_unstable();
            weights.dedup();
            let mut segments = Vec::new();
            for (k, &weight) in weights.iter().enumerate() {
                let next = weights.get(k + 1).copied();
                let extent = next.map_or((size - 1) / weight + 1, |next| next / weight);
                let within = |piece: &&Piece| piece.weight >= weight && next.is_none_or(|next| piece.weight < next);
                let parts = [FROM, TO].map(|side| pieces(side).filter(within).collect::<Vec<_>>());
                let step = |piece: &Piece| (piece.axis, piece.stride);
                let vars = match [&parts[FROM][..], &parts[TO][..]] {
                    [[a], [b]] => vec![(self.var(extent, [vec![step(a)], vec![step(b)]]), 1)],
                    [from, to] => {
                        let from = from.iter().map(|p| (p.extent, [vec![step(p)], vec![]], p.weight / weight));
                        let to = to.iter().map(|p| (p.extent, [vec![], vec![step(p)]], p.weight / weight));
                        from.chain(to).map(|(extent, steps, weight)| (self.var(extent, steps), weight)).collect()
                    }
                };
                segments.push(CommonDigit { weight, extent, vars });
            }
            let mut of_dim = Vec::new();
            self.fill(&segments, *size, &mut of_dim)?;
            if boxes.len().checked_mul(of_dim.len()).is_none_or(|count| count > MAX_BLOCKS) {
                return Err(too_many_blocks());
            }
            boxes = boxes.iter().flat_map(|b| of_dim.iter().map(|of| [&b[..], of].concat())).collect();
        }
        let free: Vec<Range> = self.vars.iter().map(|var| (0, var.extent)).collect();
        self.boxes = boxes
            .into_iter()
            .map(|set| {
                let mut ranges = free.clone();
                set.into_iter().for_each(|(var, range)| ranges[var] = range);
                ranges
            })
            .collect();
        self.boxes.iter().try_fold(0, |total, ranges| sum(total, elements(ranges)?)).map(|_| ())
    }

    fn var(&mut self, extent: i64, steps: [Vec<(usize, i64)>; 2]) -> usize {
        self.vars.push(Var { extent, steps });
        self.vars.len() - 1
    }

    /// The boxes of the indices of a dimension, whose segments are given from the least weight on.
    fn fill(&self, segments: &[CommonDigit], size: i64, boxes: &mut Vec<Vec<(usize, Range)>>) -> Result<(), Error> {
        // The ranges of segments, the least weight first.
        let mut split: Vec<Vec<Range>> = Vec::new();
        let digit = |k: usize| {
            let digit = size / segments[k].weight;
            if k + 1 == segments.len() { digit } else { digit % segments[k].extent }
        };
        for k in (0..segments.len()).rev().filter(|k| digit(*k) > 0) {
            let range = |other: usize| match other.cmp(&k) {
                std::cmp::Ordering::Less => (0, segments[other].extent),
                std::cmp::Ordering::Equal => (0, digit(k)),
                std::cmp::Ordering::Greater => (digit(other), 1),
            };
            split.push((0..segments.len()).map(range).collect());
        }
        if segments.is_empty() {
            split.push(Vec::new());
        }
        for ranges in split {
            let mut found: Vec<Vec<(usize, Range)>> = vec![Vec::new()];
            for (segment, range) in segments.iter().zip(ranges) {
                if let [(var, _)] = segment.vars[..] {
                    found.iter_mut().for_each(|b| b.push((var, range)));
                    continue;
                }
                let values = usize::try_from(range.1).ok().and_then(|values| values.checked_mul(found.len()));
                if values.is_none_or(|values| values + boxes.len() > MAX_BLOCKS) {
                    return Err(too_many_blocks());
                }
                let value = |value: i64| {
                    let parts = segment.vars.iter();
                    parts.map(move |&(var, weight)| (var, (value / weight % self.vars[var].extent, 1)))
                };
                let values = || range.0..range.0 + range.1;
                found =
                    found.iter().flat_map(|b| values().map(|v| b.iter().copied().chain(value(v)).collect())).collect();
            }
            boxes.extend(found);
        }
        Ok(())
    }

    /// Takes the nearest of the copies in the source.
    fn choose(&mut self, tree: &Tree, from: &[Piece], everywhere: impl Fn(usize) -> bool, nearest: bool) {
        for var in &mut self.vars {
            let here: Vec<_> = var.steps[TO].iter().copied().filter(|(axis, _)| everywhere(*axis)).collect();
            var.steps[FROM].extend(here);
        }
        let partial: Vec<Piece> = from.iter().filter(|piece| piece.dim.is_none()).copied().collect();
        let mut axes: Vec<usize> = partial.iter().map(|piece| piece.axis).collect();
        axes.sort_unstable();
        axes.dedup();
        for axis in axes {
            let copies: Vec<Piece> = partial.iter().filter(|piece| piece.axis == axis).copied().collect();
            if nearest && self.choose_along(tree, axis, &copies) {
                continue;
            }
            for copies in copies {
                let step = (axis, copies.stride);
                let same = |var: &&mut Var| var.extent <= copies.extent && var.steps[TO].contains(&step);
                if let Some(var) = self.vars.iter_mut().find(same) {
                    var.steps[FROM].push(step);
                }
            }
        }
    }

    /// Takes the nearest of the partial copies along an axis, if not too many boxes are needed for it.
    fn choose_along(&mut self, tree: &Tree, axis: usize, copies: &[Piece]) -> bool {
        let along = |vars: &[Var], side: usize| {
            let steps = |(k, var): (usize, &Var)| {
                let along: Vec<(usize, i64)> =
                    var.steps[side].iter().filter(|(a, _)| *a == axis).map(|(_, stride)| (k, *stride)).collect();
                along
            };
            vars.iter().enumerate().flat_map(steps).collect::<Vec<_>>()
        };
        let [source, destination] = [FROM, TO].map(|side| along(&self.vars, side));
        let units: Vec<i64> = tree.levels.iter().filter(|level| level.axis == axis).map(|level| level.unit).collect();
        let digits = |steps: &[(usize, i64)]| -> Vec<(i64, i64)> {
            steps.iter().map(|(var, stride)| (self.vars[*var].extent, *stride)).collect()
        };
        let copied = copies.iter().map(|piece| (piece.extent, piece.stride));
        let sides = [digits(&source).into_iter().chain(copied).collect(), digits(&destination)];
        if !is_nested(&sides, units.iter().copied()) {
            return self.split(axis, &source, &destination, copies, &units);
        }
        // Digit by digit.
        let before = (self.vars.len(), self.boxes.clone());
        let mut whole = Vec::new();
        for copies in copies {
            match destination.iter().find(|(_, stride)| *stride == copies.stride) {
                Some(&(var, stride)) if self.vars[var].extent <= copies.extent => whole.push((var, stride)),
                Some(&digit) if !self.split(axis, &[], &[digit], std::slice::from_ref(copies), &[]) => {
                    self.vars.truncate(before.0);
                    self.boxes = before.1;
                    return false;
                }
                _ => {}
            }
        }
        whole.into_iter().for_each(|(var, stride)| self.vars[var].steps[FROM].push((axis, stride)));
        true
    }

    /// Splits the boxes so that in each one copy along an axis is the nearest; returns whether the boxes are few
    /// enough.
    fn split(
        &mut self,
        axis: usize,
        source: &[(usize, i64)],
        destination: &[(usize, i64)],
        copies: &[Piece],
        units: &[i64],
    ) -> bool {
        let mut offsets = BTreeMap::from([(0i128, Vec::new())]);
        for copies in copies {
            if i128::from(copies.extent) * offsets.len() as i128 > MAX_SPLIT as i128 {
                return false;
            }
            let with = |(offset, digits): (&i128, &Vec<i64>), digit: i64| {
                (offset + i128::from(digit) * i128::from(copies.stride), [&digits[..], &[digit]].concat())
            };
            let all = offsets.iter().flat_map(|known| (0..copies.extent).map(move |digit| with(known, digit)));
            offsets = all.collect();
        }
        let mut vars: Vec<usize> = source.iter().chain(destination).map(|(var, _)| *var).collect();
        vars.sort_unstable();
        vars.dedup();
        let step = |steps: &[(usize, i64)], var: usize| -> i128 {
            steps.iter().filter(|(v, _)| *v == var).map(|(_, stride)| i128::from(*stride)).sum()
        };
        let moves: Vec<[i128; 2]> = vars.iter().map(|var| [step(source, *var), step(destination, *var)]).collect();
        let nearest = Nearest { offsets, units, moves };
        let first = self.vars.len();
        let mut steps = Budget(MAX_SPLIT_STEPS);
        let mut boxes = Vec::new();
        for ranges in &self.boxes {
            let of_vars: Vec<Range> = vars.iter().map(|var| ranges[*var]).collect();
            let Ok(parts) = nearest.parts(&of_vars, [0, 0], &mut steps) else { return false };
            if boxes.len() + parts.len() > MAX_SPLIT.max(self.boxes.len()) {
                return false;
            }
            for (part, offset) in parts {
                let mut ranges = ranges.clone();
                // The ranges of a part are those of the last variable first.
                vars.iter().zip(part.iter().rev()).for_each(|(var, range)| ranges[*var] = *range);
                ranges.extend(nearest.offsets[&offset].iter().map(|digit| (*digit, 1)));
                boxes.push(ranges);
            }
        }
        for copies in copies {
            self.var(copies.extent, [vec![(axis, copies.stride)], Vec::new()]);
        }
        debug_assert!(boxes.iter().all(|ranges| ranges.len() == first + copies.len()));
        self.boxes = boxes;
        true
    }

    /// Lists the variables of each coordinate.
    fn locate(&mut self, tree: &Tree, sides: [&Placement; 2]) -> Result<(), Error> {
        let (address, position) = (tree.address(), tree.address() + 1);
        let word = tree.axes.iter().position(|axis| axis == WORD);
        self.coordinates = vec![[Vec::new(), Vec::new()]; position + 1];
        for (k, var) in self.vars.iter().enumerate() {
            for (side, steps) in var.steps.iter().enumerate() {
                let in_words = sides[side].axes().iter().any(|axis| axis == WORD);
                for &(axis, stride) in steps {
                    self.coordinates[axis][side].push((k, stride));
                    if !tree.local.contains(&position) {
                        continue;
                    }
                    if axis == address {
                        let stride =
                            if in_words { stride.checked_mul(tree.word).ok_or_else(too_many)? } else { stride };
                        self.coordinates[position][side].push((k, stride));
                    } else if Some(axis) == word {
                        self.coordinates[position][side].push((k, stride));
                    }
                }
            }
        }
        self.nested = (0..=position)
            .map(|axis| {
                let units = tree.levels.iter().filter(|level| level.axis == axis);
                let digits = |steps: &Vec<(usize, i64)>| {
                    steps.iter().map(|(var, stride)| (self.vars[*var].extent, *stride)).collect::<Vec<_>>()
                };
                is_nested(&self.coordinates[axis].each_ref().map(digits), units.map(|level| level.unit))
            })
            .collect();
        Ok(())
    }

    /// The variables that constraints make equal.
    fn equal(&self, constraints: &[SamePlace]) -> Equal {
        let mut class: Vec<usize> = (0..self.vars.len()).collect();
        let mut zero = vec![false; self.vars.len()];
        let mut tangled = Vec::new();
        for constraint in constraints {
            let [from, to] = &self.coordinates[constraint.axis];
            if !self.nested[constraint.axis] {
                tangled.push(*constraint);
                continue;
            }
            let with = |side: &[(usize, i64)], stride| side.iter().find(|(_, s)| *s == stride).map(|(var, _)| *var);
            for &(var, stride) in from.iter().filter(|(_, stride)| *stride >= constraint.unit) {
                match with(to, stride) {
                    Some(other) => {
                        let (keep, gone) = (class[var], class[other]);
                        class.iter_mut().filter(|class| **class == gone).for_each(|class| *class = keep);
                    }
                    None => zero[var] = true,
                }
            }
            for &(var, stride) in to.iter().filter(|(_, stride)| *stride >= constraint.unit) {
                zero[var] |= with(from, stride).is_none();
            }
        }
        let mut classes: Vec<Class> = Vec::new();
        for name in 0..self.vars.len() {
            let vars: Vec<usize> = (0..self.vars.len()).filter(|var| class[*var] == name).collect();
            let zero = vars.iter().any(|var| zero[*var]);
            if !vars.is_empty() {
                classes.push(Class { vars, zero });
            }
        }
        Equal { classes, tangled, never: false }
    }

    /// The number of elements and copies for which the constraints hold.
    fn total(&self, equal: &Equal, steps: &mut Budget) -> Result<i64, Error> {
        if equal.never {
            return Ok(0);
        }
        self.boxes.iter().try_fold(0, |total, ranges| {
            steps.take()?;
            sum(total, self.count(equal, ranges, steps)?)
        })
    }

    /// Those of one box.
    fn count(&self, equal: &Equal, ranges: &[Range], steps: &mut Budget) -> Result<i64, Error> {
        if equal.tangled.is_empty() {
            return product(equal.classes.iter().map(|class| class.count(ranges)));
        }
        if let [SamePlace { axis, unit: 1 }] = equal.tangled[..] {
            return self.solutions(axis, equal, ranges, steps);
        }
        let mut count = 0i64;
        let involved = self.involved(&equal.tangled);
        each(&involved, ranges, steps, &mut |ranges| {
            if equal.tangled.iter().all(|constraint| self.holds(*constraint, ranges)) {
                count = sum(count, product(equal.classes.iter().map(|class| class.count(ranges)))?)?;
            }
            Ok(())
        })?;
        Ok(count)
    }

    /// Those of one box where the classes hold and both coordinates along an axis whose strides do not nest are equal.
    fn solutions(&self, axis: usize, equal: &Equal, ranges: &[Range], steps: &mut Budget) -> Result<i64, Error> {
        let (mut wanted, mut free, mut terms) = (0, 1i64, Vec::new());
        for class in &equal.classes {
            let step = |side: usize| {
                let steps = self.coordinates[axis][side].iter().filter(|(var, _)| class.vars.contains(var));
                steps.map(|(_, stride)| i128::from(*stride)).sum::<i128>()
            };
            let (factor, count) = (step(FROM) - step(TO), class.count(ranges));
            wanted -= factor * i128::from(class.low(ranges));
            match factor {
                0 => free = product([free, count].into_iter())?,
                _ if count == 0 => free = 0,
                _ => terms.push((factor, i128::from(count))),
            }
        }
        terms.sort_by_key(|(factor, _)| std::cmp::Reverse(factor.abs()));
        if free == 0 { Ok(0) } else { product([free, solutions(&terms, wanted, steps)?].into_iter()) }
    }

    /// The variables that constraints are about.
    fn involved(&self, constraints: &[SamePlace]) -> Vec<usize> {
        let sides = constraints.iter().flat_map(|constraint| &self.coordinates[constraint.axis]);
        let mut vars: Vec<usize> = sides.flatten().map(|(var, _)| *var).collect();
        vars.sort_unstable();
        vars.dedup();
        vars
    }

    /// Whether a constraint holds where all its variables have one value.
    fn holds(&self, constraint: SamePlace, ranges: &[Range]) -> bool {
        let [from, to] = [FROM, TO].map(|side| self.coordinate(constraint, side, ranges));
        from == to
    }

    fn coordinate(&self, constraint: SamePlace, side: usize, ranges: &[Range]) -> i128 {
        let steps = self.coordinates[constraint.axis][side].iter();
        let sum: i128 = steps.map(|(var, stride)| i128::from(ranges[*var].0) * i128::from(*stride)).sum();
        sum.div_euclid(i128::from(constraint.unit))
    }

    /// The elements that leave the busiest place of a side for other places, where `same` says what a place is.
    ///
    /// A place is a value of each variable that follows its coordinates. The number that leaves is constant in between
    /// the bounds of ranges, but for places where equal variables differ, so a few values from each bound on are
    /// enough.
    fn busiest(&self, side: usize, same: &[SamePlace], equal: &Equal, steps: &mut Budget) -> Result<i64, Error> {
        let mut fixed: Vec<usize> = Vec::new();
        for constraint in same {
            let coordinate = self.coordinates[constraint.axis][side].iter();
            fixed.extend(coordinate.filter(|(_, stride)| *stride >= constraint.unit).map(|(var, _)| *var));
        }
        fixed.sort_unstable();
        fixed.dedup();
        let Some(first) = self.boxes.first() else { return Ok(0) };
        if equal.tangled.is_empty()
            && let Some((choices, tried)) = self.places_to_try(first, &fixed, equal)
        {
            let mut most = 0;
            for number in 0..tried {
                let mut rest = number;
                let place = choices.iter().flat_map(|values| {
                    let value = &values[rest % values.len()];
                    rest /= values.len();
                    value.iter().copied()
                });
                most = most.max(self.leaving(&place.collect::<Vec<_>>(), equal)?);
            }
            return Ok(most);
        }
        let involved = self.involved(same);
        let mut leaving: FxHashMap<Vec<i128>, i64> = FxHashMap::default();
        for ranges in &self.boxes {
            each(&involved, ranges, steps, &mut |ranges| {
                if equal.never || !same.iter().all(|constraint| self.holds(*constraint, ranges)) {
                    let place = same.iter().map(|constraint| self.coordinate(*constraint, side, ranges)).collect();
                    let all = leaving.entry(place).or_default();
                    *all = sum(*all, elements(ranges)?)?;
                }
                Ok(())
            })?;
        }
        Ok(leaving.into_values().max().unwrap_or(0))
    }

    /// For each class the values of its variables that are worth trying, and how many places that makes; `None` where
    /// these are too many. `fixed` are the variables that say which place it is, `first` are the ranges of the first
    /// box.
    fn places_to_try(&self, first: &[Range], fixed: &[usize], equal: &Equal) -> Option<(Vec<Vec<Assignment>>, usize)> {
        let mut choices: Vec<Vec<Assignment>> = Vec::new();
        let mut tried = self.boxes.len();
        for class in &equal.classes {
            let among: Vec<usize> = class.vars.iter().copied().filter(|var| fixed.contains(var)).collect();
            let uniform = self.boxes.iter().all(|ranges| class.vars.iter().all(|var| ranges[*var] == first[*var]));
            let mut values: Vec<Assignment> = vec![Vec::new()];
            for var in &among {
                let bounds = self.bounds_of(class, *var, uniform.then_some(first), among.len() > 1);
                tried = tried.saturating_mul(bounds.len());
                if tried > MAX_TRIED {
                    return None;
                }
                let with = |some: &Assignment, bound: &i64| [&some[..], &[(*var, *bound)]].concat();
                values = values.iter().flat_map(|some| bounds.iter().map(move |bound| with(some, bound))).collect();
            }
            if uniform {
                // The same in all boxes: where the fewest stay, the most leave, whatever the other classes do.
                let staying = |some: &Assignment| class.count(&placed(first, some));
                tried /= values.len().max(1);
                values = values.into_iter().min_by_key(staying).into_iter().collect();
            }
            choices.push(values);
        }
        Some((choices, tried / self.boxes.len()))
    }

    /// The values of a variable of a class at which the number that leaves may change: the bounds of the class's ranges
    /// in all boxes, or in the first where all are alike, and with `next` the values after them.
    fn bounds_of(&self, class: &Class, var: usize, alike: Option<&[Range]>, next: bool) -> Vec<i64> {
        let mut bounds = if class.zero { vec![0, 1] } else { vec![0] };
        for ranges in self.boxes.iter().take(if alike.is_some() { 1 } else { MAX_BLOCKS }) {
            bounds.extend(class.vars.iter().flat_map(|var| [ranges[*var].0, ranges[*var].0 + ranges[*var].1]));
        }
        if next {
            bounds.extend(bounds.clone().into_iter().map(|bound| bound + 1));
        }
        bounds.sort_unstable();
        bounds.dedup();
        let range = alike.map_or((0, self.vars[var].extent), |first| first[var]);
        bounds.retain(|bound| (range.0..range.0 + range.1).contains(bound));
        bounds
    }

    /// The elements with these values of variables that are not where the classes would have them.
    fn leaving(&self, place: &[(usize, i64)], equal: &Equal) -> Result<i64, Error> {
        let mut leaving = 0i64;
        for ranges in &self.boxes {
            let inside = |&(var, value): &(usize, i64)| (0..ranges[var].1).contains(&(value - ranges[var].0));
            if place.iter().all(inside) {
                let ranges = placed(ranges, place);
                let counts = equal.classes.iter().map(|class| class.count(&ranges));
                let staying = if equal.never { 0 } else { product(counts)? };
                leaving = sum(leaving, elements(&ranges)? - staying)?;
            }
        }
        Ok(leaving)
    }

    /// A box as a strided copy.
    fn block(&self, tree: &Tree, ranges: &[Range]) -> Block {
        let all = tree.axes.len() + 1;
        let mut base = [vec![0; all], vec![0; all]];
        let mut counters: Vec<(i64, [Vec<i64>; 2])> = Vec::new();
        for (var, (low, count)) in self.vars.iter().zip(ranges) {
            let mut strides = [vec![0; all], vec![0; all]];
            for (side, steps) in var.steps.iter().enumerate() {
                for (axis, stride) in steps {
                    base[side][*axis] += low * stride;
                    strides[side][*axis] += stride;
                }
            }
            if *count > 1 {
                counters.push((*count, strides));
            }
        }
        // What steps from place to place first, and then as the destination's coordinates order it.
        counters.sort_by_cached_key(|(_, [source, destination])| {
            let places = source[..all - 1].iter().chain(&destination[..all - 1]).any(|stride| *stride != 0);
            std::cmp::Reverse((places, destination.clone(), source.clone()))
        });
        while let Some((outer, inner)) = continued(&counters) {
            counters[inner].0 *= counters[outer].0;
            counters.remove(outer);
        }
        let [source, destination] = [FROM, TO].map(|side| Affine {
            base: std::mem::take(&mut base[side]),
            strides: counters.iter().map(|(_, strides)| strides[side].clone()).collect(),
        });
        Block { sizes: counters.iter().map(|(count, _)| *count).collect(), source, destination }
    }
}

/// Whether the coordinates of both sides along an axis, given by extents and strides, are numbers in one mixed radix,
/// where units end digits.
fn is_nested(sides: &[Vec<(i64, i64)>; 2], units: impl Iterator<Item = i64>) -> bool {
    let mut radices: Vec<i64> = sides.iter().flatten().map(|(_, stride)| *stride).chain(units).collect();
    radices.sort_unstable();
    radices.dedup();
    let chain = radices.windows(2).all(|pair| pair[0] > 0 && pair[1] % pair[0] == 0);
    let below = |&(extent, stride): &(i64, i64)| {
        let next = radices.iter().find(|radix| **radix > stride);
        stride > 0 && next.is_none_or(|next| (extent - 1) < next / stride)
    };
    let once = |side: &Vec<(i64, i64)>| {
        side.iter().enumerate().all(|(k, (_, stride))| side[..k].iter().all(|(_, other)| other != stride))
    };
    chain && sides.iter().all(|side| once(side) && side.iter().all(below))
}

/// The ranges of some variables, and what the nearest copy adds to the coordinate there.
type SplitRanges = (Vec<Range>, i128);

/// Which of partial copies along an axis is the nearest.
struct Nearest<'a> {
    /// What a copy adds to the coordinate, and its digits.
    offsets: BTreeMap<i128, Vec<i64>>,
    /// How many places the groups of the axis have, the largest first.
    units: &'a [i64],
    /// What a step of each variable adds to the coordinate of the source and of the destination.
    moves: Vec<[i128; 2]>,
}

impl Nearest<'_> {
    /// The offset of the copy at the destination's coordinate, else of one in the smallest group around it, else 0.
    fn offset(&self, [source, destination]: [i128; 2]) -> i128 {
        let within = |unit: i64| {
            let unit = i128::from(unit);
            let low = destination.div_euclid(unit) * unit - source;
            self.offsets.range(low..low + unit).next().map(|(offset, _)| *offset)
        };
        within(1).or_else(|| self.units.iter().rev().find_map(|unit| within(*unit))).unwrap_or(0)
    }

    /// Parts of the ranges of the last variables in which one copy is the nearest, where those before add up to `at`.
    fn parts(&self, ranges: &[Range], at: [i128; 2], steps: &mut Budget) -> Result<Vec<SplitRanges>, Error> {
        steps.take()?;
        let Some((&(low, count), rest)) = ranges.split_first() else {
            return Ok(vec![(Vec::new(), self.offset(at))]);
        };
        let [source, destination] = self.moves[self.moves.len() - ranges.len()];
        let mut found: Vec<(Range, Vec<SplitRanges>)> = Vec::new();
        for value in low..low + count {
            let now = [at[FROM] + source * i128::from(value), at[TO] + destination * i128::from(value)];
            let parts = self.parts(rest, now, steps)?;
            match found.last_mut() {
                Some((range, last)) if *last == parts => range.1 += 1,
                _ => found.push(((value, 1), parts)),
            }
        }
        let of = |(range, parts): (Range, Vec<SplitRanges>)| {
            parts.into_iter().map(move |(part, offset)| ([&part[..], &[range]].concat(), offset))
        };
        Ok(found.into_iter().flat_map(of).collect())
    }
}

/// Ranges with single values of some variables.
fn placed(ranges: &[Range], values: &[(usize, i64)]) -> Vec<Range> {
    let mut ranges = ranges.to_vec();
    values.iter().for_each(|(var, value)| ranges[*var] = (*value, 1));
    ranges
}

/// Two counters of which the first goes on where the second ends.
fn continued(counters: &[(i64, [Vec<i64>; 2])]) -> Option<(usize, usize)> {
    let follows = |outer: &[Vec<i64>; 2], count: i64, inner: &[Vec<i64>; 2]| {
        let steps = outer.iter().flatten().zip(inner.iter().flatten());
        steps.into_iter().all(|(outer, inner)| inner.checked_mul(count) == Some(*outer))
    };
    for (o, outer) in counters.iter().enumerate() {
        for (i, inner) in counters.iter().enumerate() {
            if o != i && follows(&outer.1, inner.0, &inner.1) {
                return Some((o, i));
            }
        }
    }
    None
}

fn too_many_blocks() -> Error {
    Error::new(format!(
        "a plan must have at most {MAX_BLOCKS} blocks, found more: the layouts have too little in common"
    ))
}

/// Which variables are equal.
struct Equal {
    classes: Vec<Class>,
    /// What the classes do not say.
    tangled: Vec<SamePlace>,
    /// Whether source and destination are in different places whatever the variables are.
    never: bool,
}

/// Variables that are equal, and maybe 0.
struct Class {
    vars: Vec<usize>,
    zero: bool,
}

impl Class {
    /// The number of values that all have in common.
    fn count(&self, ranges: &[Range]) -> i64 {
        let low = self.low(ranges);
        let high = self.vars.iter().map(|var| ranges[*var].0 + ranges[*var].1).min().unwrap_or(1);
        let high = if self.zero { high.min(1) } else { high };
        (high - low).max(0)
    }

    /// The least value that they may have in common.
    fn low(&self, ranges: &[Range]) -> i64 {
        self.vars.iter().map(|var| ranges[*var].0).max().unwrap_or(0)
    }
}

/// How many values of unknowns, each from 0 up to its count, bring `sum(factor * unknown)` to `wanted`. The factors are
/// not 0, the largest first: of all but two unknowns the values are gone through that the smaller ones can make up for.
fn solutions(terms: &[(i128, i128)], wanted: i128, steps: &mut Budget) -> Result<i64, Error> {
    steps.take()?;
    let divisor = terms.iter().fold(0, |divisor, (factor, _)| gcd(divisor, *factor));
    if wanted.checked_rem(divisor).unwrap_or(wanted) != 0 {
        return Ok(0);
    }
    let (factor, count, rest) = match terms {
        [] => return Ok(1),
        [(factor, count)] => return Ok(i64::from((0..*count).contains(&(wanted / factor)))),
        [first, second] => return pairs(*first, *second, wanted),
        [(factor, count), rest @ ..] => (*factor, *count, rest),
    };
    let ends = |(factor, count): &(i128, i128)| factor * (count - 1);
    let (least, most) = (rest.iter().map(|t| ends(t).min(0)).sum(), rest.iter().map(|t| ends(t).max(0)).sum());
    let (low, high) = within(factor, wanted, least, most);
    let mut found = 0;
    for value in low.max(0)..=high.min(count - 1) {
        found = sum(found, solutions(rest, wanted - factor * value, steps)?)?;
    }
    Ok(found)
}

/// The least and the most `k` with `least <= start - step * k <= most`.
fn within(step: i128, start: i128, least: i128, most: i128) -> (i128, i128) {
    let (a, b) = if step > 0 { (start - most, start - least) } else { (least - start, most - start) };
    (-(-a).div_euclid(step.abs()), b.div_euclid(step.abs()))
}

/// [`solutions`] for two unknowns, whose greatest common divisor divides what is wanted.
fn pairs((a, n): (i128, i128), (b, m): (i128, i128), wanted: i128) -> Result<i64, Error> {
    let divisor = gcd(a, b);
    let (a, b, wanted) = (a / divisor, b / divisor, wanted / divisor);
    let inverse = inverse(a, b.abs()).ok_or_else(entangled)?;
    // One solution is the least first unknown; all others are `b` apart.
    let product = wanted.rem_euclid(b.abs()).checked_mul(inverse).ok_or_else(entangled)?;
    let x = product.rem_euclid(b.abs());
    let y = (wanted - a * x) / b;
    let (low, high) = within(a * b.signum(), y, 0, m - 1);
    let count = high.min((n - 1 - x).div_euclid(b.abs())) - low.max(0) + 1;
    i64::try_from(count.max(0)).map_err(|_| too_many())
}

/// How many values may still be gone through.
struct Budget(usize);

impl Budget {
    fn take(&mut self) -> Result<(), Error> {
        self.0 = self.0.checked_sub(1).ok_or_else(entangled)?;
        Ok(())
    }
}

fn entangled() -> Error {
    Error::new(
        "counting what moves takes too many steps: the strides of the two layouts divide the indices in too many ways",
    )
}

/// Goes through all values of some variables: their ranges become single values.
fn each(
    vars: &[usize],
    ranges: &[Range],
    steps: &mut Budget,
    visit: &mut dyn FnMut(&[Range]) -> Result<(), Error>,
) -> Result<(), Error> {
    let mut now = ranges.to_vec();
    vars.iter().for_each(|var| now[*var].1 = 1);
    loop {
        steps.take()?;
        visit(&now)?;
        let more = vars.iter().find(|&&var| {
            now[var].0 += 1;
            let inside = now[var].0 < ranges[var].0 + ranges[var].1;
            if !inside {
                now[var].0 = ranges[var].0;
            }
            inside
        });
        if more.is_none() {
            return Ok(());
        }
    }
}

impl Affine {
    fn at(&self, counters: &[i64]) -> Vec<i64> {
        let mut at = self.base.clone();
        for (strides, counter) in self.strides.iter().zip(counters) {
            let moved = |at: i64, stride: i64| at.saturating_add(stride.saturating_mul(*counter));
            at.iter_mut().zip(strides).for_each(|(at, stride)| *at = moved(*at, *stride));
        }
        at
    }
}

/// A table: how many elements stay, how many blocks there are, and what crosses each level.
impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "elements  {}", self.elements)?;
        writeln!(f, "stay      {} ({} do not move at all)", self.stay, self.unmoved)?;
        writeln!(f, "blocks    {}", self.blocks.len())?;
        let mut rows = vec![["level", "cross", "bytes up", "bytes down"].map(String::from)];
        for level in &self.levels {
            let name = match level.group {
                1 => level.axis.clone(),
                group => format!("{group} {}", level.axis),
            };
            rows.push([name, level.cross.to_string(), level.up.to_string(), level.down.to_string()]);
        }
        let width = |column: usize| rows.iter().map(|row| row[column].len()).max().unwrap_or(0);
        let widths = [0, 1, 2, 3].map(width);
        for row in &rows {
            write!(f, "{:<1$}", row[0], widths[0])?;
            for column in 1..4 {
                write!(f, "  {:>1$}", row[column], widths[column])?;
            }
            writeln!(f)?;
        }
        Ok(())
    }
}

impl Block {
    /// The number of elements that it copies; `i64::MAX` where 64 bits do not hold it, as in no block of a [`Plan`].
    pub fn elements(&self) -> i64 {
        self.sizes.iter().copied().fold(1, i64::saturating_mul)
    }

    /// The copies between single places that it is made up of.
    pub fn copies(&self) -> impl Iterator<Item = Copy> + '_ {
        let moves = |k: &usize| {
            let places = |strides: &[i64]| strides.split_last().is_some_and(|(_, axes)| axes.iter().any(|s| *s != 0));
            places(&self.source.strides[*k]) || places(&self.destination.strides[*k])
        };
        let (outer, inner): (Vec<usize>, Vec<usize>) = (0..self.sizes.len()).partition(moves);
        let addresses =
            |strides: &[Vec<i64>]| inner.iter().map(|k| strides[*k].last().copied().unwrap_or(0)).collect::<Vec<_>>();
        let (source_strides, destination_strides) =
            (addresses(&self.source.strides), addresses(&self.destination.strides));
        let sizes: Vec<i64> = inner.iter().map(|k| self.sizes[*k]).collect();
        let mut counters = Some(vec![0; self.sizes.len()]);
        std::iter::from_fn(move || {
            let now = counters.take()?;
            let copy = Copy {
                source: self.source.at(&now),
                destination: self.destination.at(&now),
                sizes: sizes.clone(),
                source_strides: source_strides.clone(),
                destination_strides: destination_strides.clone(),
            };
            let mut next = now;
            let more = outer.iter().rev().any(|&k| {
                next[k] = (next[k] + 1) % self.sizes[k];
                next[k] != 0
            });
            counters = more.then_some(next);
            Some(copy)
        })
    }
}
