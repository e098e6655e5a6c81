//! Where a tiled layout puts an element, from the definition.
//!
//! The sizes and the index are taken from the dimension that varies slowest in memory to the one that varies fastest. Each
//! tile of rank `k` takes the last `k` of them: sizes `d` with indices `e` become sizes `ceil(d / t)` with `e / t`, all of
//! them, and then sizes `t` with `e mod t`. At the end the index is counted in row-major order. `*` merges a dimension into
//! the next one first. Element (2, 3) of 3x5 in `{1,0:T(2,2)}`: sizes `[2, 3, 2, 2]`, index `[1, 1, 0, 1]`, offset 17.

use crate::reader::model::{Element, Place, Type};
use crate::reader::places;
use crate::reader::swizzles::Swizzle;
use std::cmp::Reverse;

/// Row-major strides; none beyond 64 bits.
pub fn row_major(sizes: &[i64]) -> Option<Vec<i64>> {
    let (mut strides, mut stride) = (vec![0; sizes.len()], 1_i64);
    for d in (0..sizes.len()).rev() {
        strides[d] = stride;
        stride = stride.checked_mul(sizes[d].max(1))?;
    }
    Some(strides)
}

/// Whether sizes are those that are said.
pub fn are_sizes(sizes: &[i64], said: &[Option<i64>]) -> bool {
    sizes.len() == said.len() && sizes.iter().zip(said).all(|(n, said)| said.is_none_or(|said| said == *n))
}

/// Whether strides of a shape are those that are said; a dimension of one element has any stride.
pub fn are_strides(sizes: &[i64], strides: &[i64], said: &mut dyn Iterator<Item = Option<i64>>) -> bool {
    let mut each = sizes.iter().zip(strides).zip(said);
    sizes.contains(&0) || each.all(|((n, stride), said)| *n == 1 || said.is_none_or(|said| said == *stride))
}

/// The offset and strides that a type says, none for those that only the program has; none of a layout.
pub fn stated(r#type: &Type, sizes: &[i64]) -> Option<(Option<i64>, Vec<Option<i64>>)> {
    let Type::Shaped { place, .. } = r#type else { return None };
    match place {
        Place::RowMajor(_) => Some((Some(0), row_major(sizes).unwrap_or_default().into_iter().map(Some).collect())),
        Place::Strided { offset, strides, .. } => Some((*offset, strides.clone())),
        Place::Layout(_) => None,
    }
}

/// Whether memory has the sizes, offset and strides that a type says; the offset is none where only the program has it.
pub fn is_of(r#type: &Type, sizes: &[i64], offset: Option<i64>, strides: &[i64]) -> bool {
    let (Type::Shaped { sizes: said, .. }, Some((first, along))) = (r#type, stated(r#type, sizes)) else {
        return false;
    };
    are_sizes(sizes, said)
        && first.is_none_or(|first| Some(first) == offset)
        && are_strides(sizes, strides, &mut along.into_iter())
}

/// Whether memory of these sizes and strides is the parts of [`Layout::lowered`], in the order of memory or in that of the
/// dimensions; none beyond 64 bits. A part of one element has any stride; where sizes are known at run time alone, it may be left
/// out. Parts of merged dimensions belong to several, so where a layout merges any, they may be in every order.
pub fn are_parts(
    layout: &Layout,
    parts: Vec<TilePart>,
    (sizes, strides): (&[i64], &[i64]),
    is_static: bool,
) -> Option<bool> {
    let merges = layout.tiles.iter().flatten().any(Option::is_none);
    let has_place = |n: i64| n != 1 || is_static && !merges;
    let of = |n: i64, stride: i64| (n, if n == 1 { 0 } else { stride });
    let found = sizes.iter().zip(strides).filter(|(n, _)| has_place(**n));
    let mut found: Vec<(i64, i64)> = found.map(|(n, stride)| of(*n, *stride)).collect();
    let own = row_major(&parts.iter().map(|part| part.size).collect::<Vec<_>>())?;
    let ones = |all: &mut dyn Iterator<Item = i64>| all.filter(|n| *n == 1).count();
    let more = ones(&mut sizes.iter().copied()) > ones(&mut parts.iter().map(|part| part.size));
    let placed = parts.into_iter().zip(own).filter(|(part, _)| has_place(part.size));
    let mut parts: Vec<(TilePart, i64)> = placed.collect();
    let shape =
        |parts: &[(TilePart, i64)]| parts.iter().map(|(part, stride)| of(part.size, *stride)).collect::<Vec<_>>();
    let in_memory = shape(&parts);
    parts.sort_by_key(|(part, _)| part.significance());
    let by_dimension = shape(&parts);
    if !merges {
        return Some(found == in_memory || found == by_dimension);
    }
    let mut parts = in_memory;
    parts.sort_unstable();
    found.sort_unstable();
    Some(parts == found && !(is_static && more))
}

/// A part of a dimension that tiles cut.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TilePart {
    /// The dimension; of merged ones the first. Those that a tile longer than the rank adds have numbers below zero, the slowest
    /// the least.
    pub dim: isize,
    pub size: i64,
    /// How far a step of the part moves in its dimension.
    scale: i64,
    /// Whether it has the size of the dimension, which nothing or tiles of 1 alone have cut.
    pub is_whole: bool,
}

impl TilePart {
    /// All of a dimension.
    pub fn whole(dim: usize, size: i64) -> TilePart {
        TilePart { dim: dim as isize, size, scale: 1, is_whole: true }
    }

    /// In this order the parts are by their dimensions, and of each the most significant first.
    pub fn significance(&self) -> impl Ord + use<> {
        (self.dim, Reverse(self.scale))
    }
}

impl Type {
    /// Whether another type is of the same elements in the same shape.
    pub fn is_but_for_layout(&self, other: &Type) -> bool {
        let (Type::Shaped { kind, element, sizes, .. }, Type::Shaped { kind: k, element: e, sizes: n, .. }) =
            (self, other)
        else {
            return self == other;
        };
        (kind, element, sizes) == (k, e, n)
    }

    /// The layout that it has or is to get.
    pub fn layout(&self) -> Option<&str> {
        match self {
            Type::Shaped { place: Place::Layout(text) | Place::RowMajor(Some(text)), .. } => Some(text),
            Type::Shaped { place: Place::Strided { pending: Some(text), .. }, .. } => Some(text),
            _ => None,
        }
    }
}

/// The memory space of lowered memory, where the text of a layout has the number of one.
pub fn memory_space(text: &str) -> Option<String> {
    let number = text.split_once("S(")?.1.split_once(')')?.0;
    let name = match number {
        "1" => "vmem".to_owned(),
        "5" => "host".to_owned(),
        other => format!("device {other}"),
    };
    Some(format!("#layout.memory_space<{name}>"))
}

/// The sizes of a tile; none for `*`.
pub type Tile = Vec<Option<i64>>;

/// `#layout.tiled<{..}>`.
#[derive(Clone, Debug, PartialEq)]
pub struct Layout {
    minor_to_major: Vec<usize>,
    tiles: Vec<Tile>,
    tail: i64,
    /// How many bits an element takes, where the layout says so.
    pub bits: Option<u32>,
    /// Bytes in front of the elements.
    pub prefix_bytes: i64,
    /// A TensorLayout, where this is one: indices of memory that is not lowered are logical, so any order will do.
    spread: Option<String>,
}

impl Layout {
    /// Reads the layout of an attribute's text; none for any other.
    pub fn read(text: &str) -> Option<Layout> {
        let mut layout =
            Layout { minor_to_major: vec![], tiles: vec![], tail: 1, bits: None, prefix_bytes: 0, spread: None };
        if text.starts_with(places::PREFIX) || Swizzle::read(text).is_some() {
            return Some(Layout { spread: Some(text.to_owned()), ..layout });
        }
        let text = text.strip_prefix("#layout.tiled<{")?.strip_suffix("}>")?;
        let (order, mut rest) = text.split_once(':').unwrap_or((text, ""));
        let numbers =
            |text: &str| text.split(',').filter(|n| !n.is_empty()).map(|n| n.parse().ok()).collect::<Option<_>>();
        layout.minor_to_major = numbers(order)?;
        let mut key = "";
        while !rest.is_empty() {
            let (name, after) = rest.split_once('(')?;
            let (value, after) = after.split_once(')')?;
            // A tile after another has no name.
            key = if name.is_empty() { key } else { name };
            match key {
                "T" => {
                    let entry = |n: &str| if n == "*" { Some(None) } else { n.parse().ok().map(Some) };
                    layout.tiles.push(value.split(',').map(entry).collect::<Option<_>>()?);
                }
                "L" => layout.tail = value.parse().ok()?,
                "E" => layout.bits = Some(value.parse().ok()?),
                "M" => layout.prefix_bytes = value.parse().ok()?,
                // The memory, and the widths of indices and pointers, move no element.
                "S" | "#" | "*" => (),
                _ => return None,
            }
            rest = after;
        }
        Some(layout)
    }

    /// Whether it is no TensorLayout and not swizzled.
    pub fn is_tiled(&self) -> bool {
        self.spread.is_none()
    }

    /// Whether elements of so many bits take whole bytes, as they do in memory of their own type.
    pub fn is_in_bytes(&self, element: u32) -> bool {
        self.bits.is_none_or(|bits| bits == 0 || bits == element.div_ceil(8) * 8)
    }

    /// Dimensions from major to minor and tiles, none for `*`, of a layout of so many dimensions that begins with its elements.
    pub fn plain_tiles(&self, rank: usize) -> Option<(Vec<usize>, Vec<Tile>)> {
        let order: Vec<usize> = self.minor_to_major.iter().rev().copied().collect();
        let is_plain = self.prefix_bytes == 0 && self.spread.is_none();
        let is_plain = is_plain && self.tiles.iter().flatten().flatten().all(|t| *t > 0);
        (is_plain && order.len() == rank && (0..rank).all(|d| order.contains(&d))).then(|| (order, self.tiles.clone()))
    }

    /// Parts and index after all tiles, from the slowest to the fastest.
    fn expanded(&self, sizes: &[i64], index: &[i64]) -> Option<Vec<(TilePart, i64)>> {
        let order: Vec<usize> = match self.spread {
            Some(_) => (0..sizes.len()).collect(),
            None => self.minor_to_major.iter().rev().copied().collect(),
        };
        let whole = |d: usize| Some((TilePart::whole(d, *sizes.get(d)?), *index.get(d)?));
        let mut all: Vec<(TilePart, i64)> = order.into_iter().map(whole).collect::<Option<_>>()?;
        for tile in &self.tiles {
            while all.len() < tile.len() {
                all.insert(0, (TilePart { dim: -1 - all.len() as isize, ..TilePart::whole(0, 1) }, 0));
            }
            let none = (TilePart { dim: isize::MAX, ..TilePart::whole(0, 1) }, 0_i64);
            let (mut outer, mut inner, mut merged) = (vec![], vec![], none);
            for ((part, e), t) in all.split_off(all.len() - tile.len()).into_iter().zip(tile) {
                let (before, at) = merged;
                let (dim, size) = (before.dim.min(part.dim), before.size.checked_mul(part.size)?);
                let is_whole = part.is_whole && before == none.0;
                merged = (TilePart { dim, size, is_whole, ..part }, at.checked_mul(part.size)?.checked_add(e)?);
                let Some(t) = t.filter(|t| *t > 0) else { continue };
                let (part, e) = std::mem::replace(&mut merged, none);
                let size = part.size.div_euclid(t).checked_add((part.size % t > 0).into())?;
                let (scale, is_whole) = (part.scale.checked_mul(t)?, part.is_whole && t == 1);
                outer.push((TilePart { size, scale, is_whole, ..part }, e / t));
                inner.push((TilePart { size: t, is_whole: false, ..part }, e % t));
            }
            all.extend(outer.into_iter().chain(inner));
        }
        Some(all)
    }

    /// The number of elements before an element, without the prefix.
    pub fn offset(&self, sizes: &[i64], index: &[i64]) -> Option<i64> {
        let mut all = self.expanded(sizes, index)?.into_iter();
        all.try_fold(0_i64, |at, (part, e)| at.checked_mul(part.size)?.checked_add(e))
    }

    /// The parts that a shape is cut into, in the order of memory.
    pub fn parts(&self, sizes: &[i64]) -> Option<Vec<TilePart>> {
        Some(self.expanded(sizes, &vec![0; sizes.len()])?.into_iter().map(|(part, _)| part).collect())
    }

    /// The parts that are dimensions of lowered memory, in its order: those of one element are left out, but for the last one of a
    /// dimension without others.
    pub fn lowered(&self, sizes: &[i64]) -> Option<Vec<TilePart>> {
        let all = self.parts(sizes)?;
        let is_last = |k: usize| all[k].dim >= 0 && all[k + 1..].iter().all(|part| part.dim != all[k].dim);
        let is_long = |dim: isize| all.iter().any(|part| part.dim == dim && part.size != 1);
        let is_kept = |k: &usize| all[*k].size != 1 || is_last(*k) && !is_long(all[*k].dim);
        Some((0..all.len()).filter(is_kept).map(|k| all[k]).collect())
    }

    /// The type of the elements of lowered memory: that of the layout's elements, or the integer in which these are packed.
    pub fn unit(&self, element: &Element) -> String {
        match self.bits {
            None | Some(0) => element.text.clone(),
            Some(bits) if bits == element.bits && bits == element.pitch() => element.text.clone(),
            Some(bits @ (16 | 32 | 64)) => format!("i{bits}"),
            Some(_) => "i8".to_owned(),
        }
    }

    /// The number of elements with padding.
    pub fn size(&self, sizes: &[i64]) -> Option<i64> {
        let size = self.parts(sizes)?.into_iter().try_fold(1_i64, |size, part| size.checked_mul(part.size))?;
        let tail = if self.tiles.is_empty() { 1 } else { self.tail.max(1) };
        size.checked_add(tail - 1)?.div_euclid(tail).checked_mul(tail)
    }
}
