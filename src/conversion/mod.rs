//! Conversion of a tiled layout to a TensorLayout with the same places, and back, or the reason why there is none.
//!
//! `f32[3,5]{1,0:T(2,2)}` is `(3,5)/((2:12, 2:2), (3:4, 2:1))`: each part of the lowered form is a part on the address.
//! A TensorLayout has no tail padding, so `L(n)` is dropped; and it cannot express an index without digits, such as an
//! index that `*` merges with another before a tile cuts across both.
//!
//! In the other direction, the parts by falling strides are the dimensions of memory. A tiled layout without `*` has
//! them if and only if each stride is a multiple of the next smaller one: the excess over the extent of that part is
//! padding. This goes on a dimension of size 1, or on the leading dimension of a tile longer than the rank, if the
//! stride is a multiple of the size of what follows it and the part that follows is not the most significant one of its
//! dimension; else on that part. Then tiles cut the parts that are not in place yet until all are. A tile at least as
//! large as a dimension pads it, so a padded part must be the first of a dimension that a tile takes whole:
//! `((4:8), (2:4, 3:1))` is `{1,0:T(3)(4)}`, where the second tile pads what the first one cuts off.
//!
//! Every result is compared with its source before it is returned.

pub mod meaning;

pub use meaning::Meaning;

use crate::maps::equal::Equality;
use crate::places::placement::Placement;
use crate::places::tensor_layout::{Broadcast, Part, TensorLayout};
use crate::places::views::{joined, quoted};
use crate::text::Error;
use crate::tiled::expansion::Expansion;
use crate::tiled::layout::{Layout, TileEntry};
use std::cmp::Reverse;

/// The largest size of a dimension that is checked element by element.
const PROBED: i64 = 1 << 16;

/// The TensorLayout that puts each element at its place in `layout`; `expansion` must be of this layout.
///
/// # Errors
/// The reason why there is none: no dimensions, cuts across memories, or offsets of a dimension without digits.
///
/// # Example
/// ```
/// use tensor_layout::conversion::to_tensor_layout;
/// use tensor_layout::tiled::{Expansion, Layout};
/// let parts = |sizes: &[i64], layout: &str| {
///     let layout = Layout::parse(layout).unwrap();
///     to_tensor_layout(&Expansion::new(sizes, &layout).unwrap(), &layout)
/// };
/// assert_eq!(parts(&[3, 5], "{1,0:T(2,2)}").unwrap().to_string(), "(3,5)/((2:12, 2:2), (3:4, 2:1))");
/// assert_eq!(parts(&[2, 3], "{0,1}").unwrap().to_string(), "(2:1, 3:2)");
/// let none = parts(&[9, 20], "{0,1:T(8,16)(3,1)}").unwrap_err();
/// assert_eq!(none.message, "the tile size 3 does not divide the tile size 8");
/// ```
pub fn to_tensor_layout(expansion: &Expansion, layout: &Layout) -> Result<TensorLayout, Error> {
    if expansion.is_split_across_memories() {
        return Err(Error::new("the layout must not be cut across memories, found `SC`").unsupported());
    }
    let sizes = expansion.logical_sizes();
    if sizes.is_empty() {
        return Err(Error::new("a TensorLayout must have at least one dimension, found none"));
    }
    let of_parts = |dim: usize| {
        let parts = expansion.strided_dims().into_iter().filter(|part| part.dim == Some(dim));
        Some(parts.map(|part| Part { extent: part.size, axis: None, stride: part.stride }).collect())
    };
    // Where `*` merges dimensions, one has the parts of all; the digits of each are found from offsets.
    let offset = |index: &[i64]| expansion.offset(index).ok().map(|offset| vec![offset]);
    let looked_at = |dim: usize| digits(sizes, dim, &[], &offset);
    let mut why = None;
    for parts in [&of_parts as &dyn Fn(usize) -> Option<Vec<Part>>, &looked_at] {
        let Some(dims) = (0..sizes.len()).map(parts).collect::<Option<Vec<_>>>() else { continue };
        match verified(expansion, made(sizes, dims, Vec::new())) {
            Ok(made) => return Ok(made),
            Err(error) => why = Some(error),
        }
    }
    Err(obstacle(layout)
        .or(why)
        .unwrap_or_else(|| Error::new("the dimensions are too large to look for their digits").too_large()))
}

/// A layout with these parts on these sizes, without parts of one step.
pub(crate) fn made(sizes: &[i64], dims: Vec<Vec<Part>>, broadcast: Vec<Broadcast>) -> TensorLayout {
    let dims: Vec<Vec<Part>> = match sizes.contains(&0) {
        // An empty tensor is nowhere.
        true => sizes.iter().map(|size| joined(vec![Part { extent: (*size).max(1), axis: None, stride: 0 }])).collect(),
        false => dims.into_iter().map(joined).collect(),
    };
    let mut made = TensorLayout { shape: None, dims, broadcast, strided: false };
    made.shape = Some(sizes.to_vec()).filter(|sizes| made.padded_sizes().as_ref() != Ok(sizes));
    let plain = |parts: &Vec<Part>| parts.len() <= 1 && parts.iter().all(|part| part.axis.is_none());
    made.strided = made.shape.is_none() && made.broadcast.is_empty() && made.dims.iter().all(plain);
    if made.strided {
        let one = Part { extent: 1, axis: None, stride: 1 };
        made.dims.iter_mut().filter(|parts| parts.is_empty()).for_each(|parts| parts.push(one.clone()));
    }
    made
}

/// The layout, if it has the places of its source.
fn verified(expansion: &Expansion, made: TensorLayout) -> Result<TensorLayout, Error> {
    let placement = Placement::new(&made, None).map_err(|misplaced| misplaced.error)?;
    same(expansion, &placement).map(|()| made)
}

/// Refuses two layouts with different places.
fn same(tiled: &Expansion, parts: &Placement) -> Result<(), Error> {
    match Meaning::of_tiled(tiled, 0).compare(&Meaning::from(parts)) {
        Equality::Equal => Ok(()),
        Equality::Different { witness: Some(index), .. } => {
            Err(Error::new(format!("the offsets have no digits that reach element {index:?}")).unsupported())
        }
        Equality::Different { reason, .. } | Equality::Unknown { reason } => Err(Error::new(reason)),
    }
}

/// The parts of a dimension, from the places where all other indices are 0, the least significant part first: as many
/// equal steps as possible, then the same for every `extent`-th element. Each step must move along one axis only.
/// `place` has a coordinate for each of the axes and last the address, all 0 at the index 0.
pub(crate) fn digits(
    sizes: &[i64],
    dim: usize,
    axes: &[String],
    place: &dyn Fn(&[i64]) -> Option<Vec<i64>>,
) -> Option<Vec<Part>> {
    if sizes[dim] > PROBED || sizes.contains(&0) {
        return None;
    }
    let mut index = vec![0; sizes.len()];
    let mut at = |i: i64| {
        index[dim] = i;
        place(&index)
    };
    let mut parts = Vec::new();
    let mut weight = 1;
    while weight < sizes[dim] {
        let step = at(weight)?;
        let like = |n: &i64| {
            let far = step.iter().map(|stride| stride.checked_mul(*n)).collect::<Option<Vec<i64>>>();
            far.is_some() && at(n * weight) == far
        };
        let count = sizes[dim] / weight + i64::from(sizes[dim] % weight != 0);
        let extent = 1 + (1..count).take_while(like).count() as i64;
        let mut moves = step.iter().enumerate().filter(|(_, stride)| **stride != 0);
        let (axis, stride) = moves.next()?;
        if *stride < 0 || extent == 1 || moves.next().is_some() {
            return None;
        }
        parts.insert(0, Part { extent, axis: axes.get(axis).cloned(), stride: *stride });
        weight *= extent;
    }
    Some(parts)
}

/// The tile entry without a counterpart in the other notation, if the text of the tiles shows one.
fn obstacle(layout: &Layout) -> Option<Error> {
    for (k, tile) in layout.tiles.iter().enumerate() {
        if let Some(merge) = tile.iter().position(|entry| *entry == TileEntry::Combine) {
            let order: Vec<usize> = layout.major_to_minor().collect();
            let run = tile[merge..].iter().take_while(|entry| **entry == TileEntry::Combine).count();
            let first = (order.len() + merge).checked_sub(tile.len());
            let merged = first.and_then(|first| order.get(first..=first + run)).filter(|_| k == 0);
            return Some(Error::new(match merged {
                Some(merged) => {
                    let (last, others) = merged.split_last()?;
                    let others = others.iter().map(usize::to_string).collect::<Vec<_>>().join(", ");
                    format!("`*` merges dimensions {others} and {last}, and the tile cuts across them")
                }
                None => "`*` merges what a tile before it has cut".to_string(),
            }));
        }
    }
    layout.tiles.windows(2).find_map(|pair| {
        let both = pair[0].iter().rev().zip(pair[1].iter().rev());
        both.into_iter().find_map(|both| match both {
            (TileEntry::Size(large), TileEntry::Size(small)) if large % small != 0 => {
                Some(Error::new(format!("the tile size {small} does not divide the tile size {large}")))
            }
            _ => None,
        })
    })
}

/// One dimension of memory during the search for tiles: a part of a logical dimension, or with `None` of the leading
/// dimension of a tile longer than the rank.
#[derive(Clone, Copy, Debug)]
struct Run {
    dim: Option<usize>,
    /// The number of indices, as a digit of its dimension.
    extent: i64,
    /// The number of steps in memory, at least `extent`: the rest is padding.
    padded: i64,
    /// The distance of a step in the index of the dimension; for pure padding, more than any other.
    weight: i64,
}

/// The tiled layout with the places of the placement.
///
/// # Errors
/// The reason why there is none: a named axis, copies, or strides that are no multiples of each other. Layouts with
/// `*`, which could express more, are not tried.
///
/// # Example
/// ```
/// use tensor_layout::conversion::to_tiled;
/// use tensor_layout::places::Placement;
/// let tiled = |text| to_tiled(&Placement::parse(text).unwrap());
/// assert_eq!(tiled("((4:8), (5:1))").unwrap().to_string(), "{1,0:T(8)}");
/// assert_eq!(tiled("(3,5)/((2:12, 2:2), (3:4, 2:1))").unwrap().to_string(), "{1,0:T(2,2)}");
/// assert_eq!(tiled("((4_PE), (8:1))").unwrap_err().message, "a tiled layout must use the address alone, found the axis PE");
/// ```
pub fn to_tiled(placement: &Placement) -> Result<Layout, Error> {
    on_the_address(placement, "a tiled layout")?;
    let sizes = placement.sizes();
    if sizes.contains(&0) {
        return Ok(Layout::row_major(sizes.len()));
    }
    let runs = runs(placement)?;
    // Dimensions of size 1 can have any position: at their number, or before all others.
    let mut order: Vec<usize> = Vec::new();
    for dim in runs.iter().filter_map(|run| run.dim.filter(|dim| sizes[*dim] > 1)) {
        if !order.contains(&dim) {
            order.push(dim);
        }
    }
    let mut natural = order.clone();
    let single: Vec<usize> = (0..sizes.len()).filter(|dim| !order.contains(dim)).collect();
    for dim in &single {
        let before = natural.iter().position(|other| other > dim).unwrap_or(natural.len());
        natural.insert(before, *dim);
    }
    let mut why = Error::new("expected parts in an order that tiles make, found another order in memory").unsupported();
    for order in [natural, [single, order].concat()] {
        let tiled = arranged(&runs, &order);
        match Expansion::new(sizes, &tiled) {
            Ok(expansion) if same(&expansion, placement).is_ok() => return Ok(tiled),
            Ok(_) => {}
            Err(error) => why = error,
        }
    }
    Err(why)
}

/// Refuses named axes and copies, which the notation `who` lacks.
pub(crate) fn on_the_address(placement: &Placement, who: &str) -> Result<(), Error> {
    let layout = placement.layout();
    if let Some(axis) = layout.dims.iter().flatten().find_map(|part| part.axis.as_ref()) {
        return Err(Error::new(format!("{who} must use the address alone, found the axis {axis}")));
    }
    let copies = layout.broadcast.iter().find_map(|broadcast| match broadcast {
        Broadcast::Part { axis, .. } => Some(axis),
        Broadcast::Axis(_) => None,
    });
    match copies {
        Some(axis) => Err(Error::new(format!("{who} must have no copies, found copies along {axis}"))),
        None => Ok(()),
    }
}

/// The parts of a dimension that its elements reach, with their weights, the least significant first. The last one has
/// only the steps that elements reach.
pub(crate) fn reached(placement: &Placement, dim: usize) -> Vec<(i64, Part)> {
    let size = placement.sizes()[dim];
    let mut parts = Vec::new();
    let mut weight = 1;
    for part in joined(placement.layout().dims[dim].clone()).into_iter().rev() {
        if weight >= size {
            break;
        }
        // Steps that no element reaches are padding.
        let reach = size / weight + i64::from(size % weight != 0);
        parts.push((weight, Part { extent: part.extent.min(reach), ..part.clone() }));
        weight *= part.extent;
    }
    parts
}

/// The dimensions of memory, majormost first, including padding.
fn runs(placement: &Placement) -> Result<Vec<Run>, Error> {
    let sizes = placement.sizes();
    // The part, its dimension, its weight, and whether it is the most significant one there.
    let mut parts: Vec<(Part, usize, i64, bool)> = Vec::new();
    for dim in 0..sizes.len() {
        let own = reached(placement, dim);
        let count = own.len();
        let own = own.into_iter().enumerate();
        parts.extend(own.map(|(k, (weight, part))| (part, dim, weight, k + 1 == count)));
    }
    parts.sort_by_key(|(part, ..)| Reverse(part.stride));
    let single = sizes.iter().position(|size| *size == 1);
    let mut runs: Vec<Run> = Vec::new();
    // The size of everything behind the next part; the stride of the part behind it, and whether that is the most
    // significant one of its dimension.
    let (mut behind, mut stride, mut on_top) = (1i64, 1, false);
    for (part, dim, weight, top) in parts.into_iter().rev() {
        let divides = part.stride % behind == 0;
        match runs.last_mut() {
            _ if part.stride == behind => {}
            Some(last) if part.stride > behind && part.stride % stride == 0 && (on_top || !divides) => {
                last.padded = part.stride / stride;
            }
            _ if part.stride > behind && divides => {
                let extent = part.stride / behind;
                runs.push(Run { dim: single, extent, padded: extent, weight: i64::MAX });
            }
            _ => {
                let part = quoted(&part);
                return Err(Error::new(format!(
                    "without `*`, the part {part} of dimension {dim} must have a stride that is a multiple of {stride}, the next smaller one"
                )));
            }
        }
        let large = || Error::new("the size in elements does not fit in 64 bits").too_large();
        behind = part.stride.checked_mul(part.extent).ok_or_else(large)?;
        runs.push(Run { dim: Some(dim), extent: part.extent, padded: part.extent, weight });
        (stride, on_top) = (part.stride, top);
    }
    runs.reverse();
    Ok(runs)
}

/// The tiles that give these dimensions of memory for this order of the logical ones. The caller verifies them.
///
/// Each intermediate dimension is a list of runs, the most significant first. Leading runs that are in memory
/// order stay; a tile cuts all others, and its grid is, dimension by dimension, the next run in memory. If that is in
/// the middle of a dimension, a tile cuts this dimension first; if it still needs padding, a tile takes all dimensions
/// whole. Each tile leaves fewer runs that are not the first of a dimension, not padded or not in place.
fn arranged(runs: &[Run], order: &[usize]) -> Layout {
    let of = |dim: Option<usize>| {
        let mut own: Vec<usize> = (0..runs.len()).filter(|k| runs[*k].dim == dim).collect();
        own.sort_by_key(|k| Reverse(runs[*k].weight));
        own
    };
    let leading = Some(of(None)).filter(|own| !own.is_empty());
    let mut dims: Vec<Vec<usize>> = leading.into_iter().chain(order.iter().map(|dim| of(Some(*dim)))).collect();
    // In a dimension of size 1, all steps are padding: its first run must be padded.
    let to_pad = |run: &Run| run.padded > run.extent || run.weight == i64::MAX;
    let mut to_pad: Vec<bool> = runs.iter().map(to_pad).collect();
    let mut layout = Layout::row_major(order.len());
    layout.minor_to_major = order.iter().rev().copied().collect();
    let (mut placed, mut from) = (0, 0);
    loop {
        let in_order = |own: &[usize], next: usize| {
            own.iter().enumerate().take_while(|(k, run)| **run == next + k && !to_pad[**run]).count()
        };
        while from < dims.len() && in_order(&dims[from], placed) == dims[from].len() {
            placed += dims[from].len();
            from += 1;
        }
        if from == dims.len() {
            return layout;
        }
        let mut next = placed;
        let mut outside = Vec::new();
        for own in &dims[from..] {
            outside.push(in_order(own, next));
            next += outside[outside.len() - 1];
        }
        let mut first = from;
        if next == placed {
            let amid = |own: &Vec<usize>| own.iter().position(|run| *run == placed);
            let Some((dim, at)) = (from..dims.len()).find_map(|dim| Some((dim, amid(&dims[dim])?))) else {
                return layout;
            };
            if at > 0 {
                first = dim;
                outside = vec![0; dims.len() - dim];
                outside[0] = at;
            }
        }
        let mut inside: Vec<Vec<usize>> = Vec::new();
        let mut tile = Vec::new();
        for (own, outside) in dims[first..].iter_mut().zip(outside) {
            let own = own.split_off(outside);
            // A tile that takes a dimension whole pads its first run; else it cuts between two digits.
            let steps =
                |(k, run): (usize, &usize)| if outside + k == 0 { runs[*run].padded } else { runs[*run].extent };
            tile.push(TileEntry::Size(own.iter().enumerate().map(steps).product()));
            if let (Some(top), 0) = (own.first(), outside) {
                to_pad[*top] = false;
            }
            inside.push(own);
        }
        layout.tiles.push(tile);
        dims.append(&mut inside);
    }
}
