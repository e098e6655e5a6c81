//! A permutation of blocks, in place: each device gets a block of its source, and writes it into a tensor of its own.
//!
//! A number 1 goes the way of the block: a device without a source gets 0, and keeps its old block.

use super::collectives::call;
use super::shapes::starts;
use crate::builder::{Builder, Operand};
use crate::collectives::{ARRIVED, Collectives, is_local};
use crate::syntax::plain;
use crate::tensor::{ImportResult, Tensor};
use tensor_layout::hlo::Instruction;
use tensor_layout::operations::{Collective, Exchange};

/// Writes a permutation of blocks. The operands are inputs, as many outputs, and the starts of blocks: of all inputs,
/// then of all outputs. A start is clamped so that the block fits.
pub fn permuted(
    b: &mut Builder,
    i: &Instruction,
    (c, sets): (&Collective, usize),
    ins: &[Tensor],
    outs: &[Tensor],
) -> ImportResult<Vec<Tensor>> {
    let (data, begins) = ins.split_at(2 * outs.len());
    let (inputs, outputs) = data.split_at(outs.len());
    let (mut froms, mut tos) = begins.split_at(begins.len() / 2);
    let length = (c.groups.len() / sets.max(1)).max(1);
    let mut results = Vec::new();
    for (k, (input, out)) in inputs.iter().zip(outs).enumerate() {
        let input = b.precise(input, out)?;
        let (input, mut whole) = (b.without_encoding(&input), b.precise(&outputs[k], out)?);
        whole = b.without_encoding(&whole);
        for set in 0..sets {
            let block = &c.blocks[k * sets + set];
            let (from, to);
            (from, froms) = froms.split_at(block.len());
            (to, tos) = tos.split_at(block.len());
            let Some(pairs) = c.groups.chunks(length).nth(set).filter(|_| !block.contains(&0)) else { continue };
            let pairs =
                Collective { exchange: Exchange::Permute, groups: pairs.to_vec(), blocks: Vec::new(), ..c.clone() };
            let from = starts(b, from, &input.sizes, block);
            let to = starts(b, to, &whole.sizes, block);
            let sent = b.extract_slice(&input, &from, block, &vec![1; block.len()]);
            let old = b.extract_slice(&whole, &to, block, &vec![1; block.len()]);
            let new = received(b, i, &pairs, &sent, &old)?;
            whole = b.named(&whole, &Builder::insertion(&new, &whole, &to));
        }
        results.push(b.converted(&whole, out));
    }
    Ok(results)
}

/// The block from this device's source, or the old block without a source.
fn received(b: &mut Builder, i: &Instruction, c: &Collective, sent: &Tensor, old: &Tensor) -> ImportResult<Tensor> {
    if b.collectives == Collectives::Single || is_local(c) {
        // All devices hold the same.
        let is_target = c.groups.iter().any(|pair| pair.last() == Some(&0));
        return Ok(if is_target { sent.clone() } else { old.clone() });
    }
    let one = Tensor {
        name: String::new(),
        sizes: vec![1],
        element: ARRIVED,
        element_text: "i32".into(),
        ty: plain(&[1], "i32"),
    };
    let full = b.named(&one, &format!("arith.constant dense<1> : {}", one.ty));
    let arrived = call(b, i, c, &full, &one, usize::MAX);
    let arrived = b.element_as_tensor(&arrived, 0);
    let arrived = b.scalar(&arrived);
    let (zero, new) = (b.w.constant("0", "i32"), call(b, i, c, sent, old, usize::MAX));
    let is_target = b.w.compare("ne", &arrived, &zero, "i32");
    b.each(vec![Operand::own(&new), Operand::own(old)], old, |w, args| {
        Ok(w.select(&is_target, &args[0], &args[1], &old.element_text))
    })
}
