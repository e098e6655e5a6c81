//! Asynchronous pairs: the operation is at the start, and the end is an alias of its results.
//!
//! Further results of a start, arrays that only the device uses, are zeros. Transfers to and from the host and other
//! devices are external functions; a received value is defined at the end of its transfer.

use super::{Site, instruction, not_imported};
use crate::builder::Builder;
use crate::tensor::{ImportResult, Tensor, by_leaf, tensors};
use tensor_layout::hlo::Instruction;
use tensor_layout::operations::{Shape, Start, leaves};

/// The attributes that a transfer passes on.
const TOLD: [&str; 5] = ["channel_id", "is_host_transfer", "infeed_config", "outfeed_config", "frontend_attributes"];

/// Writes the operation of a start, and the start's tuple.
pub fn start(b: &mut Builder, site: &Site, start: &Start) -> ImportResult<Vec<Tensor>> {
    let i = site.i;
    let shape = made(&i.shape, start).ok_or_else(|| not_imported(i))?;
    let opcode = i.opcode.strip_suffix("-start").unwrap_or(&i.opcode);
    let inner = Instruction {
        opcode: opcode.to_string(),
        operation: start.operation.clone(),
        shape: shape.clone(),
        ..i.clone()
    };
    let results = instruction(b, &Site { i: &inner, ..*site })?;
    let results = by_leaf(shape, &results);
    let operands = operand_leaves(site);
    let mut all = Vec::new();
    for (k, outs) in by_leaf(&i.shape, &tensors(&i.shape)?).iter().enumerate() {
        let own = start.result(k).map(|k| &results[k]).or_else(|| start.operand(k).map(|k| &operands[k]));
        all.extend(taken(b, own, outs)?);
    }
    Ok(all)
}

/// The values of an array in the layouts of `outs`; zeros for an unknown array.
fn taken(b: &mut Builder, own: Option<&Vec<Tensor>>, outs: &[Tensor]) -> ImportResult<Vec<Tensor>> {
    match own {
        Some(own) => {
            let own = own.iter().zip(outs).map(|(t, out)| b.precise(t, out)).collect::<ImportResult<Vec<_>>>()?;
            b.all_converted(&own, outs)
        }
        None => Ok(outs.iter().map(|out| b.device_only(out)).collect()),
    }
}

/// The shape of the operation's result: a part of the tuple, or all of it where it has no operands.
fn made<'a>(shape: &'a Shape, start: &Start) -> Option<&'a Shape> {
    let (Shape::Tuple(parts), Some(_)) = (shape, start.operands) else { return Some(shape) };
    let mut before = 0;
    parts.iter().find(|part| {
        let begin = before;
        before += leaves(part).len();
        begin == start.results.0
    })
}

/// The values of each array of the operands.
fn operand_leaves(site: &Site) -> Vec<Vec<Tensor>> {
    site.shapes.iter().zip(site.operands).flat_map(|(shape, values)| by_leaf(shape, values)).collect()
}

/// Arrays of the operands by number; zeros for `None`.
pub fn leaves_of(b: &mut Builder, site: &Site, numbers: &[Option<usize>]) -> ImportResult<Vec<Tensor>> {
    let operands = operand_leaves(site);
    let outs = by_leaf(&site.i.shape, &tensors(&site.i.shape)?);
    let each = outs.iter().zip(numbers);
    let each = each.map(|(outs, number)| taken(b, number.map(|number| &operands[number]), outs));
    Ok(each.collect::<ImportResult<Vec<_>>>()?.concat())
}

/// Sends a value to the host or to another device.
pub fn sent(b: &mut Builder, site: &Site, ins: &[Tensor]) -> Vec<Tensor> {
    transfer(b, site.i, ins, &[])
}

/// Receives a value from the host or from another device.
pub fn received(b: &mut Builder, site: &Site, results: &[Tensor]) -> Vec<Tensor> {
    transfer(b, site.i, &[], results)
}

/// The call of a transfer: `hlo_send`, `hlo_recv`, `hlo_infeed` or `hlo_outfeed`.
fn transfer(b: &mut Builder, i: &Instruction, ins: &[Tensor], outs: &[Tensor]) -> Vec<Tensor> {
    let attributes: Vec<(&str, String)> = TOLD
        .iter()
        .filter_map(|name| Some((*name, i.string(name).or_else(|| i.attribute(name).map(str::to_string))?)))
        .collect();
    let attributes: Vec<(&str, &str)> = attributes.iter().map(|(name, text)| (*name, text.as_str())).collect();
    let name = format!("hlo_{}", i.opcode.trim_end_matches("-done"));
    b.external(&name, &attributes, i, (ins, outs))
}
