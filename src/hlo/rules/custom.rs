//! Custom calls. Targets for book-keeping have known operations; all others are opaque.
//!
//! A known target with unexpected shapes is opaque, too.

use super::algorithms::{potrf_call, top_k_call, trsm_call};
use super::control::other;
use super::site::{Found, Site};
use crate::element::ElementType;
use crate::hlo::shapes::{fits, list, plain};
use crate::operations::operation::Operation;
use crate::operations::shape::{Array, Shape};
use crate::text::{Error, counted};
use crate::tiled::layout::{Layout, TileEntry};

/// The operation of a target; `None` for unexpected shapes.
type TargetMeaning = fn(&Site) -> Option<Operation>;

/// The known targets.
const MEANINGS: &[(&str, TargetMeaning)] = &[
    // A buffer to write later.
    ("AllocateBuffer", |site| site.operands.is_empty().then_some(Operation::Constant)),
    // The indices of a gather are known to be in bounds.
    ("AssumeGatherIndicesInBound", same),
    // Adjacent buffers, as one; `parts` has sorted them.
    ("ConcatBitcast", joined),
    // The indices of a gather were packed into one number before.
    ("GatherScatterIndicesBitpacked", same),
    ("GlobalDecreasingSizeBarrier", same),
    ("LayoutConstraint", same),
    ("MoveToDevice", same),
    ("MoveToHost", same),
    ("SPMDFullToShardShape", same),
    ("SPMDShardToFullShape", same),
    ("Sharding", same),
    // The greatest elements of each line, and their positions.
    ("TopK", |site| top_k_call(site)),
    // A 64-bit number from its two halves, and each half.
    ("X64Combine", |site| elementwise(site, 2)),
    ("X64SplitHigh", |site| elementwise(site, 1)),
    ("X64SplitLow", |site| elementwise(site, 1)),
    ("annotate_device_placement", same),
    ("lapack_cpotrf_ffi", |site| potrf_call(site)),
    ("lapack_ctrsm_ffi", |site| trsm_call(site)),
    ("lapack_dpotrf_ffi", |site| potrf_call(site)),
    ("lapack_dtrsm_ffi", |site| trsm_call(site)),
    ("lapack_spotrf_ffi", |site| potrf_call(site)),
    ("lapack_strsm_ffi", |site| trsm_call(site)),
    ("lapack_zpotrf_ffi", |site| potrf_call(site)),
    ("lapack_ztrsm_ffi", |site| trsm_call(site)),
    ("xla.sdy.FuncResultSharding", same),
    ("xla.sdy.GlobalToLocalShape", same),
    ("xla.sdy.LocalToGlobalShape", same),
    ("xla.sdy.PropagationBarrier", same),
];

/// `custom_call_target` is a string.
pub fn custom_call(site: &mut Site) -> Found {
    let target = site.need("custom_call_target", "\"name\"")?;
    if !target.text.starts_with('"') {
        let found = site.excerpt("custom_call_target");
        return Err(site.attribute_must("custom_call_target", format!("be a name in quotes, found {found}")));
    }
    let name = target.text.trim_matches('"');
    constrained(site)?;
    site.written()?;
    let meaning = MEANINGS.iter().find(|(target, _)| *target == name);
    match meaning.and_then(|(_, meaning)| meaning(site)) {
        Some(operation) => Ok(operation),
        None => other(site),
    }
}

/// Checks that `operand_layout_constraints`, if present, has a layout for each operand.
fn constrained(site: &Site) -> Result<(), Error> {
    let key = "operand_layout_constraints";
    let Some(attribute) = site.attribute(key) else { return Ok(()) };
    let shapes = attribute.read(list)?;
    if shapes.len() != site.operands.len() {
        let (needed, found) = (counted(site.operands.len(), "shape"), shapes.len());
        return Err(site.attribute_must(key, format!("have {needed}, one for each operand, found {found}")));
    }
    for (k, ((shape, at), operand)) in shapes.iter().zip(&site.operands).enumerate() {
        if !fits(shape, operand) {
            let must = format!("operand {k} in `{key}` must be {}, found {}", plain(operand), plain(shape));
            return Err(Error::at(attribute.at + at, must));
        }
    }
    Ok(())
}

/// The result is the operand, maybe in another layout, or the operands are its parts.
fn same(site: &Site) -> Option<Operation> {
    match (&site.operands[..], site.written?) {
        ([operand], shape) if fits(operand, shape) => match operand {
            Shape::Array(array) if !matches!(array.element, ElementType::Token | ElementType::Opaque) => {
                Some(Operation::Elementwise)
            }
            _ => Some(Operation::Tuple),
        },
        (_, Shape::Tuple(parts)) => {
            let all = parts.len() == site.operands.len() && parts.iter().zip(&site.operands).all(|(a, b)| fits(a, b));
            all.then_some(Operation::Tuple)
        }
        _ => None,
    }
}

/// An elementwise operation of so many operands.
fn elementwise(site: &Site, operands: usize) -> Option<Operation> {
    let Shape::Array(to) = site.written? else { return None };
    let fit = |operand: &&Shape| matches!(operand, Shape::Array(from) if from.dims == to.dims);
    (site.operands.len() == operands && site.operands.iter().all(fit)).then_some(Operation::Elementwise)
}

/// The concatenation of the operands' bytes, if it is their concatenation along a dimension.
fn joined(site: &Site) -> Option<Operation> {
    let Shape::Array(to) = site.written? else { return None };
    let arrays: Option<Vec<&Array>> =
        site.operands.iter().map(|shape| if let Shape::Array(array) = shape { Some(array) } else { None }).collect();
    let (arrays, sizes) = (arrays?, to.sizes()?);
    // The majormost dimension larger than 1.
    let place = to.layout.minor_to_major.iter().rposition(|dim| sizes[*dim] > 1)?;
    let dim = to.layout.minor_to_major[place];
    let step = first_tile(&to.layout, place)?;
    for (k, array) in arrays.iter().enumerate() {
        let own = array.sizes()?;
        let whole_tiles = k + 1 == arrays.len() || own.get(dim)? % step == 0;
        if array.element != to.element || !is_like(&array.layout, &to.layout) || !whole_tiles {
            return None;
        }
    }
    let operation = Operation::Concatenate { dim };
    operation.check(&site.operands, &[site.written?]).ok().map(|()| operation)
}

/// The tile size along the dimension with `place` more minor ones; `None` if tiles are not consecutive along it.
fn first_tile(layout: &Layout, place: usize) -> Option<i64> {
    let Some((first, later)) = layout.tiles.split_first() else { return Some(1) };
    let combines = layout.tiles.iter().flatten().any(|entry| matches!(entry, TileEntry::Combine));
    if combines || later.iter().any(|tile| tile.len() > first.len()) {
        return None;
    }
    match first.iter().rev().nth(place) {
        Some(TileEntry::Size(size)) => Some(*size),
        _ => Some(1),
    }
}

/// Whether two layouts differ only in the memory space.
fn is_like(a: &Layout, b: &Layout) -> bool {
    let untailed = b.tail_alignment == 1 && b.splits.is_empty() && b.metadata_prefix == 0;
    untailed && Layout { memory_space: b.memory_space, ..a.clone() } == *b
}
