//! Two placements in common digits: variables, and boxes of their values that together cover all elements.

use super::counts::{Budget, Range, elements, sum, too_many};
use super::digits::{Piece, divides, pieces, reached, refine};
use super::moves::{Affine, Block, MAX_BLOCKS};
use super::tree::{FROM, TO, Tree};
use crate::places::machine::WORD;
use crate::places::placement::Placement;
use crate::text::Error;
use std::collections::BTreeMap;

/// The most boxes for the nearest of partial copies.
const MAX_SPLIT: usize = 1 << 12;

/// The most values enumerated for the nearest of partial copies.
const MAX_SPLIT_STEPS: usize = 1 << 18;

/// A digit of both sides, with its steps in the coordinates of each.
pub struct Var {
    pub extent: i64,
    /// For each side the axes and strides.
    pub steps: [Vec<(usize, i64)>; 2],
}

/// Both sides in common digits.
pub struct Joint {
    pub vars: Vec<Var>,
    /// The ranges of all variables, which together give each element and copy once.
    pub boxes: Vec<Vec<Range>>,
    /// For each axis, the address and the position: the variables of each side with their strides.
    pub coordinates: Vec<[Vec<(usize, i64)>; 2]>,
    /// For each of them, whether both sides are numbers in one mixed radix.
    pub nested: Vec<bool>,
}

/// A digit between two weights that divide all others.
struct CommonDigit {
    weight: i64,
    extent: i64,
    /// The variables, each with its weight in the segment. One, unless the sides' weights do not divide each other.
    vars: Vec<(usize, i64)>,
}

impl Joint {
    pub fn new(tree: &Tree, sides: [&Placement; 2], nearest: bool) -> Result<Joint, Error> {
        let sizes = sides[TO].sizes();
        let everywhere = |side: usize, axis: usize| tree.everywhere(sides, side, axis);
        let mut joint = Joint { vars: Vec::new(), boxes: Vec::new(), coordinates: Vec::new(), nested: Vec::new() };
        if !sizes.contains(&0) {
            let mut cut = sides.map(|side| reached(pieces(tree, side), sizes));
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
            refine(tree, Some(&sizes), &mut cut);
            joint.join(&sizes, &cut)?;
            joint.choose(tree, &cut[FROM], |axis| axis < tree.axes.len() && everywhere(FROM, axis), nearest);
        }
        joint.locate(tree, sides)?;
        Ok(joint)
    }

    /// Adds variables for digits, and boxes for sizes.
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

    /// Chooses the nearest of the copies in the source.
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

    /// Chooses the nearest of the partial copies along an axis, if that needs few boxes.
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

    /// A box as a strided copy.
    pub fn block(&self, tree: &Tree, ranges: &[Range]) -> Block {
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
        // Counters that step from place to place first, then in the order of the destination's coordinates.
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
/// in which `units` are ends of digits.
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

/// The ranges of some variables, and the offset of the nearest copy there.
type SplitRanges = (Vec<Range>, i128);

/// The choice of the nearest of partial copies along an axis.
struct Nearest<'a> {
    /// The offset of each copy in the coordinate, with its digits.
    offsets: BTreeMap<i128, Vec<i64>>,
    /// The number of places in each kind of group of the axis, the largest first.
    units: &'a [i64],
    /// The stride of each variable in the coordinates of the source and of the destination.
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

    /// Parts of the ranges of the last variables in which one copy is the nearest; the variables before add up to `at`.
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

/// Two counters of which the second continues where the first ends, if there are such.
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
    .too_large()
}
