//! Operations that read, write or pad blocks.

use super::site::{Found, Site, Types};
use crate::hlo::shapes::{finest, scalar};
use crate::hlo::tokens::number;
use crate::operations::operation::{Gather, Operation};
use crate::operations::shape::Shape;
use crate::text::{Cursor, Error};

/// `slice={[start:limit:stride], ..}`, a range for each dimension.
pub fn slice(site: &mut Site) -> Found {
    let (element, rank) = (site.element(0)?, site.array(0)?.dims.len());
    let attribute = *site.need("slice", "{[start:limit:stride], ..}")?;
    let found = attribute.read(|cursor| ranges(cursor, rank))?;
    let all = |k: usize| found.iter().map(|range| range[k]).collect();
    let operation = Operation::Slice {
        starts: kept(site, "starts", "slice", "start", all(0), attribute.at),
        limits: kept(site, "limits", "slice", "limit", all(1), attribute.at),
        strides: kept(site, "strides", "slice", "stride", all(2), attribute.at),
    };
    site.checked(operation, &Types { operands: vec![element], results: vec![element] })
}

/// The start, the limit and the stride of each dimension, with their positions.
///
/// # Errors
/// Another number of ranges than the rank.
pub fn ranges(cursor: &mut Cursor, rank: usize) -> Result<Vec<[(i64, usize); 3]>, Error> {
    let mut found = Vec::new();
    cursor.expect("{", "`{` to open the ranges")?;
    for dim in 0..rank {
        if dim != 0 {
            cursor.expect(",", &format!("`,` and the range of dimension {dim}"))?;
        }
        cursor.expect("[", &format!("`[` to open the range of dimension {dim}"))?;
        let start = number(cursor, "the start")?;
        cursor.expect(":", "`:` and the limit")?;
        let limit = number(cursor, "the limit")?;
        let at = cursor.at();
        let stride = if cursor.eat(":") { number(cursor, "the stride")? } else { (1, at) };
        cursor.expect("]", "`]` to close the range")?;
        found.push([start, limit, stride]);
    }
    cursor.expect("}", &format!("`}}` to close the ranges of rank {rank}"))?;
    Ok(found)
}

/// Records the positions of the numbers in the attribute, and returns the numbers.
fn kept(
    site: &mut Site,
    field: &'static str,
    attribute: &'static str,
    part: &'static str,
    found: Vec<(i64, usize)>,
    offset: usize,
) -> Vec<i64> {
    for (k, (_, at)) in found.iter().enumerate() {
        site.origin((field, Some(k)), attribute, part, at + offset);
    }
    found.into_iter().map(|(n, _)| n).collect()
}

/// `padding=low_high_interior`, one a dimension with `x` between.
pub fn pad(site: &mut Site) -> Found {
    let (element, rank) = (site.element(0)?, site.array(0)?.dims.len());
    let results = vec![finest(&[element, site.element(1)?])];
    let attribute = *site.need("padding", "low_high_interior, one a dimension with `x` between")?;
    let (mut low, mut high, mut interior) = (Vec::new(), Vec::new(), Vec::new());
    attribute.read(|cursor| {
        for dim in 0..rank {
            if dim != 0 {
                cursor.expect("x", &format!("`x` and the padding of dimension {dim}"))?;
            }
            let before = number(cursor, "the padding before")?;
            cursor.expect("_", "`_` and the padding after")?;
            high.push(number(cursor, "the padding after")?);
            interior.push(if cursor.eat("_") { number(cursor, "the padding between")? } else { (0, before.1) });
            low.push(before);
        }
        Ok(())
    })?;
    let operation = Operation::Pad {
        low: kept(site, "low", "padding", "padding", low, attribute.at),
        high: kept(site, "high", "padding", "padding after", high, attribute.at),
        interior: kept(site, "interior", "padding", "padding between elements", interior, attribute.at),
    };
    site.checked(operation, &Types { operands: vec![element; 2], results })
}

/// The operands from `first` on are starts: one integer scalar for each dimension, or, in older texts, one array of as
/// many.
fn starts(site: &Site, first: usize, operation: Operation) -> Found {
    let (element, rank) = (site.element(0)?, site.array(0)?.dims.len());
    let mut types = Types { operands: vec![element; first], results: vec![element] };
    let found = site.operands.len() - first;
    let row = found == 1 && site.sizes(first)?.0 == [i64::try_from(rank).ok()];
    for operand in first..site.operands.len() {
        let start = site.array(operand)?;
        let integer = start.element.is_signed() || start.element.is_unsigned();
        if !integer || !row && !start.dims.is_empty() {
            return Err(
                site.operand_must(operand, if row { "have integers as elements" } else { "be an integer scalar" })
            );
        }
        types.operands.push(start.element);
    }
    if !row {
        return site.checked(operation, &types);
    }
    let start = scalar(types.operands[first]);
    let operands: Vec<&Shape> =
        site.operands[..first].iter().copied().chain(std::iter::repeat_n(&start, rank)).collect();
    match site.checked_with(operation, &operands, &types)? {
        // The array is the only index of a gather of one block.
        Operation::DynamicSlice { sizes } => Ok(Operation::Gather(Box::new(Gather {
            offset_dims: (0..rank).collect(),
            start_index_map: (0..rank).collect(),
            slice_sizes: sizes,
            ..Gather::default()
        }))),
        _ => Ok(Operation::Other { reason: format!("{}: the starts are one operand, an array", site.raw.opcode) }),
    }
}

/// A block of `dynamic_slice_sizes`.
pub fn dynamic_slice(site: &mut Site) -> Found {
    site.need("dynamic_slice_sizes", "{sizes}")?;
    let sizes = site.list("sizes", "dynamic_slice_sizes")?;
    starts(site, 1, Operation::DynamicSlice { sizes })
}

/// The second operand is written into the first.
pub fn dynamic_update_slice(site: &mut Site) -> Found {
    site.array(1)?;
    starts(site, 2, Operation::DynamicUpdateSlice)
}
