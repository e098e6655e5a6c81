//! Asynchronous pairs: `copy-start` and `copy-done`, `async-start`, `async-update` and `async-done`, and `op-start` and
//! `op-done` of any operation.
//!
//! The start runs the operation, and its result is a tuple: `slice-start` of f32[8] gives `((f32[8]), f32[2], u32[])`,
//! the operands, the slice, and arrays internal to the device. The done takes the slice from the tuple.

use super::collectives::is_of_blocks;
use super::control::other;
use super::site::{Found, Site};
use crate::element::ElementType;
use crate::hlo::shapes::{fits, plain, scalar};
use crate::operations::operation::{Operation, Start};
use crate::operations::shape::{Array, Shape, leaves};
use crate::operations::sizes::Sizes;
use crate::text::{Error, counted};

/// The positions of the operands and of the result in a start's tuple.
struct Parts {
    operands: usize,
    made: usize,
}

/// The positions in the tuple of a start or a done; `None` for `all-reduce-start`, with the operation's result.
fn parts_of(opcode: &str) -> Option<Parts> {
    match opcode.rsplit_once('-').map_or(opcode, |(base, _)| base) {
        "all-reduce" => None,
        "copy" => Some(Parts { operands: 1, made: 0 }),
        _ => Some(Parts { operands: 0, made: 1 }),
    }
}

/// The number of arrays before a part of a tuple.
fn before(parts: &[Shape], part: usize) -> usize {
    parts[..part].iter().map(|part| leaves(part).len()).sum()
}

/// The start of an operation, with the shape of its result.
pub fn start(site: &mut Site) -> Found {
    let opcode = site.raw.opcode;
    let Some(place) = parts_of(opcode) else {
        let made = site.written()?;
        let operation = wrapped(site, made)?;
        let results = (0, leaves(made).len());
        return Ok(Operation::Start(Box::new(Start { operation, operands: None, results })));
    };
    let parts: &[Shape] = match site.written()? {
        Shape::Tuple(parts) if parts.len() >= 2 => parts,
        _ => return Err(site.result_must("be a tuple of the operands, what is made of them, and what the device uses")),
    };
    // A permutation of blocks lists only the input, not the starts of its blocks.
    let blocks = opcode == "collective-permute-start" && is_of_blocks(site);
    let listed = if blocks { &site.operands[..1] } else { &site.operands[..] };
    let given = leaves(&parts[place.operands]);
    let taken: Vec<_> = listed.iter().flat_map(|shape| leaves(shape)).collect();
    let same = |(a, b): (&&Array, &&Array)| a.element == b.element && Sizes::of(a).fits(&Sizes::of(b));
    if given.len() != taken.len() || !given.iter().zip(&taken).all(same) {
        let operands: Vec<Shape> = listed.iter().map(|shape| (*shape).clone()).collect();
        let is = if let [one] = &operands[..] { plain(one) } else { plain(&Shape::Tuple(operands)) };
        return Err(site.result_must(format!("have the operands, {is}, as part {}", place.operands)));
    }
    let count = taken.len();
    if is_incomplete(site, &parts[place.made]) {
        let first = before(parts, place.operands);
        let number = |k: usize| k.checked_sub(first).filter(|k| *k < count);
        return Ok(Operation::Leaves { numbers: (0..leaves(site.written()?).len()).map(number).collect() });
    }
    let operation = wrapped(site, &parts[place.made])?;
    Ok(Operation::Start(Box::new(Start {
        operation,
        operands: Some((before(parts, place.operands), count)),
        results: (before(parts, place.made), leaves(&parts[place.made]).len()),
    })))
}

/// Whether more operands are bound later: the computation has a result, but the tuple's is still empty.
fn is_incomplete(site: &Site, made: &Shape) -> bool {
    let empty = Shape::Tuple(Vec::new());
    let result = site.called.first().and_then(|callee| site.result_of(*callee).ok());
    *made == empty && result.is_some_and(|result| *result != empty)
}

/// The operation without `-start` on the operands, with a result of this shape.
fn wrapped<'a>(site: &mut Site<'a>, shape: &'a Shape) -> Found {
    let Some(rule) = site.wrapped else { return other(site) };
    let whole = site.written.replace(shape);
    let found = rule(site);
    site.written = whole;
    found
}

/// The tuple of the start, unchanged. An update that binds operands is checked as the start that it continues.
pub fn update(site: &mut Site) -> Found {
    if site.operands.len() > 1 {
        return Err(site.operand_must(0, "be a start, to which the others are bound"));
    }
    site.result_is(site.operands[0])?;
    Ok(Operation::Tuple)
}

/// The result, from the tuple of the start.
pub fn done(site: &mut Site) -> Found {
    let Some(place) = parts_of(site.raw.opcode) else { return update(site) };
    let parts = tuple(site, place.made + 1)?;
    if !fits(&parts[place.made], site.shape_or(&parts[place.made])) {
        return Err(site.result_must(format!("be part {} of the start, {}", place.made, plain(&parts[place.made]))));
    }
    Ok(Operation::GetTupleElement { index: place.made })
}

/// The parts of the operand, at least so many.
fn tuple<'a>(site: &Site<'a>, least: usize) -> Result<&'a [Shape], Error> {
    match site.operands[0] {
        Shape::Tuple(parts) if parts.len() >= least => Ok(parts),
        _ => Err(site.operand_must(0, format!("be the tuple of a start, of at least {}", counted(least, "part")))),
    }
}

/// Sends a value to another device or to the host; the result is the value, an array internal to the device, and a
/// token.
pub fn send(site: &mut Site) -> Found {
    let token = scalar(ElementType::Token);
    let expected = Shape::Tuple(vec![site.operands[0].clone(), scalar(ElementType::U32), token]);
    site.result_is(&expected)?;
    let value = leaves(site.operands[0]).len();
    let numbers = (0..value).map(Some).chain([None, Some(value)]).collect();
    Ok(Operation::Leaves { numbers })
}

/// The token of a send.
pub fn send_done(site: &mut Site) -> Found {
    let parts = tuple(site, 3)?;
    site.result_is(&parts[2])?;
    Ok(Operation::GetTupleElement { index: 2 })
}

/// A value from another device or from the host, an array internal to the device, and a token.
pub fn recv(site: &mut Site) -> Found {
    let Shape::Tuple(parts) = site.written()? else { return Err(site.result_must("be a tuple")) };
    if parts.len() != 3 {
        return Err(site.result_must("be a tuple of the value, u32[] and token[]"));
    }
    from_outside(site)
}

/// The value of a recv, and its token.
pub fn recv_done(site: &mut Site) -> Found {
    let parts = tuple(site, 3)?;
    site.result_is(&Shape::Tuple(vec![parts[0].clone(), parts[2].clone()]))?;
    let value = leaves(&parts[0]).len();
    let context = leaves(&parts[1]).len();
    Ok(Operation::Leaves { numbers: (0..value).chain([value + context]).map(Some).collect() })
}

/// A value from the host, and a token.
pub fn infeed(site: &mut Site) -> Found {
    match site.written()? {
        Shape::Tuple(parts) if parts.len() == 2 && fits(&parts[1], &scalar(ElementType::Token)) => from_outside(site),
        _ => Err(site.result_must("be a tuple of the value and a token")),
    }
}

/// The arrays of the result come from no operand, except the last token.
fn from_outside(site: &Site) -> Found {
    let count = leaves(site.written()?).len();
    let token = site.operands.first().map(|_| 0);
    let numbers = (0..count).map(|k| if k + 1 == count { token } else { None }).collect();
    Ok(Operation::Leaves { numbers })
}
