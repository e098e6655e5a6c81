//! Whether a reshape, transpose or copy moves bytes, the first element that moves, and a layout that avoids it.
//!
//! `f32[8,128]{1,0}` transposed to `f32[128,8]{0,1}` moves nothing, because dimension 0 of the result varies fastest,
//! as dimension 1 of the operand does. To `f32[128,8]{1,0}`, element `(0, 1)` moves from byte 512 to byte 4; with the
//! layout `{0,1}` nothing would.
//!
//! The rule: with the result's index substituted into the operand's offset, both offsets must be the same expression.
//! The normal form decides, or else enumeration of the elements. A change of memory space is a move, too.
//!
//! Proposed layouts of the result have passed the same check. Candidates are the operand's tiles with each size moved
//! to the dimensions that a reshape has made: `T(8,128)` of `f32[15,256]` is `T(*,8,128)` of `f32[3,5,256]`. If these
//! fail, tiles combine all dimensions, cut them as the operand's are, and put them in its order.

use super::access::Access;
use super::count::COUNTED;
use super::linear::linear;
use super::maps::maps;
use crate::expr::Expr;
use crate::maps::domain::Interval;
use crate::maps::map::IndexingMap;
use crate::maps::simplify::Form;
use crate::numbers::ceil_div;
use crate::operations::operation::Operation;
use crate::operations::shape::{Array, Shape, bits};
use crate::text::Error;
use crate::tiled::expansion::Expansion;
use crate::tiled::layout::{Layout, Tile, TileEntry};
use std::collections::HashSet;
use std::fmt;

/// Whether an operation moves any element.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Movement {
    /// Every element stays at its byte: the operation is a bitcast.
    Free,
    /// An element moves.
    Moves {
        /// The reason.
        cause: Cause,
        /// The layout nearest to the given one, among those tried, with which nothing moves; or the reason why none was
        /// found. Another one may exist.
        nearest: Result<Layout, String>,
    },
    /// Undecided: no element was found that moves, nor a proof that none does.
    Unknown {
        /// The checks that were tried.
        reason: String,
    },
}

/// The reason why an operation is no bitcast.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Cause {
    /// An element moves: the first in row-major order of the result.
    Element(Moved),
    /// All elements stay, but the result takes more memory than the operand has.
    Larger,
    /// The result is in another memory space.
    Space {
        /// The memory space of the operand.
        from: u8,
        /// The memory space of the result.
        to: u8,
    },
}

/// An element that moves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moved {
    /// The index in the result.
    pub index: Vec<i64>,
    /// The offset in the operand, in elements.
    pub from: i64,
    /// The offset in the result, in elements.
    pub to: i64,
}

impl fmt::Display for Movement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (cause, nearest) = match self {
            Movement::Free => return f.write_str("free: every element stays at its byte"),
            Movement::Unknown { reason } => return write!(f, "not known whether it is free: {reason}"),
            Movement::Moves { cause, nearest } => (cause, nearest),
        };
        match cause {
            Cause::Element(Moved { index, from, to }) => {
                write!(f, "moves: element {index:?} goes from offset {from} to {to}")
            }
            Cause::Larger => f.write_str("moves: the result takes more memory"),
            Cause::Space { from, to } => write!(f, "moves: the data is in memory space {from}, not {to}"),
        }?;
        match nearest {
            Ok(layout) => write!(f, "; with {layout} it would be free"),
            Err(reason) => write!(f, "; no layout was found that makes it free: {reason}"),
        }
    }
}

/// Decides whether a reshape, a transpose or a copy (an elementwise operation of one operand) from one array to another
/// moves any element.
///
/// # Errors
/// Another operation, shapes that it cannot have, elements of different widths, layouts cut across memories.
///
/// ```
/// use tensor_layout::analysis::{Cause, Movement, movement};
/// use tensor_layout::operations::Operation;
/// use tensor_layout::operations::Shape;
///
/// let [from, to] = ["f32[8,128]{1,0}", "f32[128,8]{1,0}"].map(|text| Shape::parse(text).unwrap());
/// let transpose = Operation::Transpose { permutation: vec![1, 0] };
/// let Movement::Moves { cause: Cause::Element(first), nearest } = movement(&transpose, &from, &to).unwrap() else {
///     panic!()
/// };
/// assert_eq!((first.index, first.from, first.to), (vec![0, 1], 128, 1));
/// assert_eq!(nearest.unwrap().minor_to_major, [0, 1]);
/// ```
pub fn movement(operation: &Operation, operand: &Shape, result: &Shape) -> Result<Movement, Error> {
    if !matches!(operation, Operation::Reshape | Operation::Transpose { .. } | Operation::Elementwise) {
        return Err(Error::new("the operation must be a reshape, a transpose or a copy, found another"));
    }
    let found = maps(operation, &[operand], &[result])?;
    let (Shape::Array(from), Shape::Array(to)) = (operand, result) else {
        return Err(Error::new("the operand and the result must be arrays, found others"));
    };
    if bits(from).is_none() || bits(from) != bits(to) {
        return Err(Error::new(
            "the elements of the operand and of the result must have the same number of bits, found others",
        ));
    }
    let (Some(sizes), Some(out)) = (from.sizes(), to.sizes()) else {
        return Err(Error::new("the sizes must be bounded, found `?`").unsupported());
    };
    let expansion = Expansion::new(&sizes, &from.layout)?;
    if expansion.is_split_across_memories() || from.layout.metadata_prefix != to.layout.metadata_prefix {
        return Err(
            Error::new("the layouts must be in one memory and have the same metadata, found others").unsupported()
        );
    }
    let Some(Access { maps: all, .. }) = found.reads(0, 0) else { return Ok(Movement::Free) };
    // Without elements nothing moves.
    let [mapped] = &all[..] else { return Ok(Movement::Free) };
    let question =
        Question { map: &mapped.map, operand: expansion.offset_expr(), allocated: expansion.allocated_elements() };
    let spaces = [from, to].map(|array| array.layout.memory_space);
    let cause = match question.compare(&Expansion::new(&out, &to.layout)?)? {
        _ if spaces[0] != spaces[1] => Cause::Space { from: spaces[0], to: spaces[1] },
        Answer::Same => return Ok(Movement::Free),
        Answer::Unknown => {
            let reason = format!("none of the first {COUNTED} elements moves, and there are more");
            return Ok(Movement::Unknown { reason });
        }
        Answer::Moves(moved) => Cause::Element(moved),
        Answer::Small => Cause::Larger,
    };
    let mut proposed = proposed(operation, from, &sizes, &to.layout, &out, &question);
    let mut seen = HashSet::new();
    proposed.retain(|layout| seen.insert(layout.clone()));
    // The first of equals wins.
    proposed.sort_by_key(|(order, tiles)| distance(&to.layout, order, tiles));
    let nearest = question.nearest(&proposed, &from.layout, &to.layout, &out);
    let reason = || format!("{} layouts were tried", proposed.len());
    Ok(Movement::Moves { cause, nearest: nearest.ok_or_else(reason) })
}

/// The limit on orders that differ in the places of dimensions of size 1.
const PLACES: usize = 128;

/// The limit on samples before a layout is checked.
const SAMPLES: usize = 256;

/// An order of dimensions and tiles.
type Proposed = (Vec<usize>, Vec<Tile>);

/// An order with the tiles of each of these layouts, and without tiles.
fn with_tiles(order: &[usize], layouts: &[&Layout]) -> Vec<Proposed> {
    let tiles = layouts.iter().map(|layout| layout.tiles.clone()).chain([Vec::new()]);
    tiles.map(|tiles| (order.to_vec(), tiles)).collect()
}

/// The number of tile entries, counted from the minor end, that differ from the given layout, and of entries of the
/// order.
fn distance(asked: &Layout, order: &[usize], tiles: &[Tile]) -> (usize, usize) {
    let entry = |tiles: &[Tile], k: usize, j: usize| tiles.get(k).and_then(|tile| tile.iter().rev().nth(j).copied());
    let length = |tiles: &[Tile], k: usize| tiles.get(k).map_or(0, Vec::len);
    let other = |k: usize| {
        let all = 0..length(tiles, k).max(length(&asked.tiles, k));
        all.filter(|j| entry(tiles, k, *j) != entry(&asked.tiles, k, *j)).count()
    };
    let entries = (0..tiles.len().max(asked.tiles.len())).map(other).sum();
    (entries, order.iter().zip(&asked.minor_to_major).filter(|(a, b)| a != b).count())
}

/// The origin of the elements of a result.
struct Question<'a> {
    /// The map from the result's index to the operand's.
    map: &'a IndexingMap,
    /// The offset over the operand's index.
    operand: Expr,
    /// The number of elements allocated for the operand.
    allocated: i64,
}

enum Answer {
    Same,
    Moves(Moved),
    Small,
    Unknown,
}

impl Question<'_> {
    /// The offset in the operand over the result's index.
    fn from(&self) -> Expr {
        self.operand.substitute(&self.map.results)
    }

    /// Whether every element keeps its offset.
    fn compare(&self, result: &Expansion) -> Result<Answer, Error> {
        if result.is_split_across_memories() {
            return Err(Error::new("the layout must be in one memory, found several").unsupported());
        }
        let (from, to) = (self.from(), result.offset_expr());
        let mut form = Form::new(&self.map.domain);
        if form.interval(&(from.clone() + to.clone().times(-1))) != Interval::new(0, 0) {
            let large = self.map.box_points() > COUNTED;
            for index in self.map.points().take(COUNTED as usize) {
                let too_large = || Error::new("an offset must fit in 64 bits, found a larger one").too_large();
                let from = from.evaluate(&index).ok_or_else(too_large)?;
                let to = to.evaluate(&index).ok_or_else(too_large)?;
                if from != to {
                    return Ok(Answer::Moves(Moved { index, from, to }));
                }
            }
            if large {
                return Ok(Answer::Unknown);
            }
        }
        Ok(if result.allocated_elements() > self.allocated { Answer::Small } else { Answer::Same })
    }

    /// The first of these layouts with which nothing moves.
    fn nearest(&self, proposed: &[Proposed], from: &Layout, to: &Layout, out: &[i64]) -> Option<Layout> {
        let origin = self.from();
        // Powers of two along each dimension, and its end: most wrong layouts show there.
        let along = |dim: usize| {
            let end = out[dim] - 1;
            let steps = (0..62).map(|bit| 1 << bit).take_while(move |x| *x < end).chain([end]);
            steps.map(move |x| (0..out.len()).map(|k| if k == dim { x } else { 0 }).collect::<Vec<i64>>())
        };
        let samples: Vec<_> =
            (0..out.len()).flat_map(along).take(SAMPLES).map(|at| (origin.evaluate(&at), at)).collect();
        proposed.iter().find_map(|(order, tiles)| {
            let with = |tail_alignment| Layout {
                minor_to_major: order.clone(),
                tiles: tiles.clone(),
                tail_alignment,
                memory_space: from.memory_space,
                ..to.clone()
            };
            let tails = [to.tail_alignment, from.tail_alignment, 1].into_iter().map(with);
            let mut all = tails.filter_map(|layout| Some((Expansion::new(out, &layout).ok()?, layout)));
            let (expansion, layout) = all.find(|(expansion, _)| expansion.allocated_elements() <= self.allocated)?;
            let near = samples.iter().all(|(from, at)| expansion.offset(at).ok() == *from);
            (near && matches!(self.compare(&expansion), Ok(Answer::Same))).then_some(layout)
        })
    }
}

/// Candidate layouts of the result.
fn proposed(
    operation: &Operation,
    from: &Array,
    sizes: &[i64],
    asked: &Layout,
    out: &[i64],
    question: &Question,
) -> Vec<Proposed> {
    let long = |dim: &usize| out[*dim] != 1;
    let mut all = with_tiles(&asked.minor_to_major, &[asked, &from.layout]);
    let together = match operation {
        Operation::Reshape => {
            all.push(((0..out.len()).rev().collect(), rebuilt(from, sizes, out.len())));
            groups(sizes, out)
        }
        _ => {
            // Each dimension of the result is one of the operand.
            let origin = |dim: usize| match operation {
                Operation::Transpose { permutation } => permutation[dim],
                _ => dim,
            };
            let name = |dim: &usize| (0..out.len()).find(|k| origin(*k) == *dim);
            let order: Vec<usize> = from.layout.minor_to_major.iter().filter_map(name).collect();
            all.extend(with_tiles(&order, &[asked, &from.layout]));
            (0..out.len()).filter(long).map(|dim| (vec![origin(dim)], vec![dim])).collect()
        }
    };
    let mut form = Form::new(&question.map.domain);
    // Without tiles the offset is a linear sum of the dimensions.
    let sum = linear(&form.simplify(&question.from())).map(|(terms, _)| {
        let mut order: Vec<usize> = (0..out.len()).filter(long).collect();
        order.sort_by_key(|dim| terms.get(dim).copied());
        (order, Vec::new())
    });
    let bundles = bundles(from, sizes, together);
    let of_bundles = bundles
        .map(|bundles| (bundles.iter().flat_map(|bundle| &bundle.dims).rev().copied().collect::<Vec<_>>(), bundles));
    for (order, bundles) in sum.into_iter().chain(of_bundles) {
        let mut next = order.iter();
        let kept = asked.minor_to_major.iter().map(|dim| if long(dim) { *next.next().unwrap_or(dim) } else { *dim });
        // Tiles depend on the places of dimensions of size 1: the first are tried everywhere, the rest as majormost.
        let mut orders = vec![order.clone()];
        for one in (0..out.len()).rev().filter(|dim| !long(dim)) {
            let places = orders[0].len() + 1;
            let few = places * orders.len() <= PLACES;
            let put = |order: Vec<usize>| {
                let from = if few { 0 } else { places - 1 };
                (from..places).map(move |at| [&order[..at], &[one], &order[at..]].concat())
            };
            orders = orders.into_iter().flat_map(put).collect();
        }
        for order in std::iter::once(kept.collect()).chain(orders) {
            let handed = [false, true].iter().filter_map(|join| handed_on(from, &bundles, &order, out, *join));
            all.extend(handed.map(|tiles| (order.clone(), tiles)));
            all.extend(with_tiles(&order, &[asked, &from.layout]));
        }
    }
    all
}

/// Dimensions that are adjacent in memory and have equal element counts in the operand and the result, majormost first.
#[derive(Clone, Default)]
struct Bundle {
    /// The dimensions of the result, without those of size 1.
    dims: Vec<usize>,
    /// The sizes in the operand.
    ins: Vec<i64>,
    /// The sizes in the result.
    outs: Vec<i64>,
}

/// The bundles in memory order, majormost first: leading dimensions of size 1, then one bundle for each group of
/// corresponding dimensions. `None` if the dimensions of a group are not adjacent and in order.
fn bundles(from: &Array, sizes: &[i64], mut groups: Vec<Correspondence>) -> Option<Vec<Bundle>> {
    let mut all = vec![Bundle::default()];
    let mut awaited = Vec::new().into_iter();
    for dim in from.layout.major_to_minor() {
        if sizes[dim] != 1 && awaited.len() == 0 {
            let k = groups.iter().position(|group| group.0[0] == dim)?;
            let (ins, dims) = groups.swap_remove(k);
            awaited = ins.into_iter();
            all.push(Bundle { dims, ..Bundle::default() });
        }
        if sizes[dim] != 1 && awaited.next() != Some(dim) {
            return None;
        }
        all.last_mut()?.ins.push(sizes[dim]);
    }
    Some(all)
}

/// The operand's tiles, with each size moved to the corresponding dimensions of the result. `join` merges all
/// dimensions that share a size; otherwise only those over which the size cannot be distributed.
fn handed_on(from: &Array, bundles: &[Bundle], order: &[usize], out: &[i64], join: bool) -> Option<Vec<Tile>> {
    let mut bundles = bundles.to_vec();
    bundles.first()?;
    let mut at = 0;
    for dim in order.iter().rev() {
        // A dimension of size 1 joins those that it comes after.
        at = bundles.iter().position(|bundle| bundle.dims.contains(dim)).unwrap_or(at);
        bundles[at].outs.push(out[*dim]);
    }
    let mut tiles = Vec::new();
    for tile in &from.layout.tiles {
        // A tile with more entries than dimensions adds leading dimensions of size 1.
        let missing = tile.len().saturating_sub(bundles.iter().map(|bundle| bundle.ins.len()).sum());
        bundles[0].ins.splice(..0, vec![1; missing]);
        if bundles[0].outs.is_empty() && !bundles[0].ins.is_empty() {
            bundles[0].outs.push(1);
        }
        let (mut outer, mut inner, mut found) = (Vec::new(), Vec::new(), Tile::new());
        for (ins, outs) in named(&bundles, tile)? {
            let mut parts = digits(&outs, whole(&ins)?, join);
            outer.push(Bundle {
                ins: ins.iter().map(|(n, by)| ceil_div(*n, by.unwrap_or(1))).collect(),
                outs: parts.iter().map(|part| ceil_div(part.size, part.by)).collect(),
                ..Bundle::default()
            });
            let ins: Vec<i64> = ins.iter().filter_map(|(_, by)| *by).collect();
            if ins.is_empty() {
                continue;
            }
            // Leading dimensions that the tile covers whole can be omitted.
            if found.is_empty() {
                let named = parts.iter().position(|part| part.by != 1 || part.merged != 0).unwrap_or(parts.len());
                parts.drain(..named.min(parts.len().saturating_sub(1)));
            }
            for part in &parts {
                found.extend(vec![TileEntry::Combine; part.merged]);
                found.push(TileEntry::Size(part.by));
            }
            inner.push(Bundle { ins, outs: parts.iter().map(|part| part.by).collect(), ..Bundle::default() });
        }
        tiles.push(found);
        bundles = outer;
        bundles.extend(inner);
    }
    Some(tiles)
}

/// The sizes in the operand, each with its tile entry, if any, and the sizes in the result.
type Cut = (Vec<(i64, Option<i64>)>, Vec<i64>);

/// The cut of each bundle by a tile. Merged blocks become one.
fn named(bundles: &[Bundle], tile: &[TileEntry]) -> Option<Vec<Cut>> {
    let mut entries = tile.iter().rev();
    let mut all: Vec<Cut> = Vec::new();
    // From the minor end.
    for bundle in bundles.iter().rev() {
        let (mut ins, mut outs) = (Vec::new(), bundle.outs.clone());
        for n in bundle.ins.iter().rev() {
            match entries.next() {
                Some(TileEntry::Combine) => {
                    if ins.is_empty() {
                        let (minor, more) = all.pop()?;
                        ins = minor;
                        outs.extend(more);
                    }
                    let (merged, _) = ins.last_mut()?;
                    *merged = n.checked_mul(*merged)?;
                }
                Some(TileEntry::Size(by)) => ins.push((*n, Some(*by))),
                None => ins.push((*n, None)),
            }
        }
        all.push((ins, outs));
    }
    all.iter_mut().for_each(|(ins, _)| ins.reverse());
    all.reverse();
    Some(all)
}

/// Merges the cuts of several dimensions into one, if they form one.
fn whole(ins: &[(i64, Option<i64>)]) -> Option<i64> {
    let (mut all, mut full) = (1i64, true);
    for (k, (n, by)) in ins.iter().enumerate().rev() {
        let by = by.unwrap_or(1);
        if !full && by != 1 || k != 0 && n % by != 0 {
            return None;
        }
        full &= by == *n;
        all = all.checked_mul(by)?;
    }
    Some(all)
}

/// A dimension of the result, or several merged, and its cut.
struct Divided {
    size: i64,
    by: i64,
    /// The number of dimensions merged into the last one.
    merged: usize,
}

/// Distributes a cut of all dimensions together over them, majormost first.
fn digits(outs: &[i64], all: i64, join: bool) -> Vec<Divided> {
    let (mut found, mut rest, mut end) = (Vec::new(), all, outs.len());
    while end > 0 {
        let (mut first, mut size) = (end, 1i64);
        let by = loop {
            first -= 1;
            size = size.saturating_mul(outs[first]);
            // The majormost one takes the rest, and may be padded.
            if outs[..first].iter().all(|n| *n == 1) {
                break rest;
            }
            if (!join || rest == 1) && (rest % size == 0 || size % rest == 0) {
                break rest.min(size);
            }
        };
        found.push(Divided { size, by, merged: end - 1 - first });
        // After a cut inside a dimension, nothing is left.
        rest = if by == size { rest / by } else { 1 };
        end = first;
    }
    found.reverse();
    found
}

/// Tiles that merge all dimensions into one, cut it into the operand's dimensions, put these in memory order, and
/// continue with the operand's tiles.
fn rebuilt(from: &Array, sizes: &[i64], rank: usize) -> Vec<Tile> {
    use TileEntry::{Combine, Size};
    let mut tiles = Vec::new();
    let Some(mut rest) = sizes.iter().try_fold(1i64, |all, n| all.checked_mul(*n)) else { return tiles };
    // The operand's dimensions, and `None` for further ones of size 1.
    let mut list = vec![None; rank.min(1)];
    if rest > 1 {
        list = vec![None; usize::from(rank > 1)];
        if rank > 1 {
            tiles.push([vec![Combine; rank - 1], vec![Size(rest)]].concat());
        }
        for size in &sizes[..sizes.len() - 1] {
            rest /= size;
            tiles.push(vec![Size(rest)]);
        }
        list.extend((0..sizes.len()).map(Some));
        let order: Vec<usize> = from.layout.major_to_minor().collect();
        // Later dimensions out of order move after the rest.
        for late in order.chunk_by(|a, b| a < b).skip(1) {
            let start = list.iter().position(|value| *value == Some(late[0])).unwrap_or(0);
            let moved = |dim| match late.contains(&dim) {
                true => (Size(sizes[dim]), [None, Some(dim)]),
                false => (Size(1), [Some(dim), None]),
            };
            tiles.push(cut(&mut list, start, moved));
        }
    }
    for tile in &from.layout.tiles {
        let missing = tile.len().saturating_sub(list.iter().flatten().count());
        list.splice(..0, vec![Some(0); missing]);
        let named = (0..list.len()).rev().filter(|k| list[*k].is_some()).nth(tile.len() - 1);
        let mut entries = tile.iter();
        let next = |dim| (*entries.next().unwrap_or(&Size(1)), [Some(dim); 2]);
        tiles.push(cut(&mut list, named.unwrap_or(0), next));
    }
    tiles
}

/// A tile from a position of a list on, with the entry of each dimension, and its outer and inner parts.
fn cut(
    list: &mut Vec<Option<usize>>,
    start: usize,
    mut entry: impl FnMut(usize) -> (TileEntry, [Option<usize>; 2]),
) -> Tile {
    let named = list.split_off(start);
    let last = named.iter().rposition(Option::is_some);
    let mut inner = Vec::new();
    let cut = named.iter().enumerate().map(|(k, value)| {
        let (entry, parts) = match value {
            Some(dim) => entry(*dim),
            // A dimension of size 1 is merged with the next one.
            None if Some(k) < last => (TileEntry::Combine, [None; 2]),
            None => (TileEntry::Size(1), [None; 2]),
        };
        if entry != TileEntry::Combine {
            list.push(parts[0]);
            inner.push(parts[1]);
        }
        entry
    });
    let tile = cut.collect();
    list.extend(inner);
    tile
}

/// Dimensions of the operand, and the corresponding dimensions of the result.
type Correspondence = (Vec<usize>, Vec<usize>);

/// The smallest groups of dimensions, in row-major order, with equal element counts on both sides; without those of
/// size 1.
fn groups(a: &[i64], b: &[i64]) -> Vec<Correspondence> {
    let long = |sizes: &[i64]| (0..sizes.len()).filter(|dim| sizes[*dim] != 1).collect::<Vec<_>>();
    let (mut found, mut own) = (Vec::new(), (Vec::new(), Vec::new()));
    let (mut of_a, mut of_b) = (1i128, 1i128);
    let (mut left, mut right) = (long(a).into_iter(), long(b).into_iter());
    loop {
        let (side, list, all, sizes) =
            if of_a <= of_b { (&mut left, &mut own.0, &mut of_a, a) } else { (&mut right, &mut own.1, &mut of_b, b) };
        let Some(dim) = side.next() else { return found };
        *all = all.saturating_mul(sizes[dim].into());
        list.push(dim);
        if of_a == of_b {
            found.push(std::mem::take(&mut own));
        }
    }
}
