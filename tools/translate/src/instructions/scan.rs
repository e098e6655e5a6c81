//! Scan: `scf.for` over the indices along a dimension, with a call of the computation on slices.

use super::{control, shapes};
use crate::builder::Builder;
use crate::tensor::{ImportResult, Tensor};
use tensor_layout::hlo::Instruction;

/// The iteration space of a scan.
pub struct Scan {
    pub dim: usize,
    /// The number of operands with slices; the others are the carries.
    pub inputs: usize,
    pub reversed: bool,
}

/// Writes a scan. The results are slices of each step, then the last carries.
pub fn scan(
    b: &mut Builder,
    i: &Instruction,
    scan: &Scan,
    ins: &[Tensor],
    outs: &[Tensor],
) -> ImportResult<Vec<Tensor>> {
    let computation = i.called.first().copied().ok_or("a scan needs a computation")?;
    let (inputs, carries) = ins.split_at(scan.inputs);
    let (outputs, last) = outs.split_at(outs.len() - carries.len());
    let steps = inputs[0].sizes[scan.dim];
    let inputs: Vec<Tensor> = inputs.iter().map(|t| b.without_encoding(t)).collect();
    let mut begin = b.all_converted(carries, last)?;
    for t in outputs {
        let plain = Tensor { ty: t.plain(), ..t.clone() };
        begin.push(b.empty(&plain));
    }
    let [first, end, one] = [0, steps, 1].map(|n| b.w.index(n));
    let mut done = b.repeat([&first, &end, &one], &begin, |b, step, inside| {
        let at = match scan.reversed {
            true => {
                let most = b.w.index(steps - 1);
                b.w.on_index("subi", &most, step)
            }
            false => step.to_string(),
        };
        one_step(b, computation, scan.dim, &at, &inputs, inside.split_at(carries.len()))
    })?;
    done.rotate_left(carries.len());
    b.all_converted(&done, outs)
}

/// Calls the computation on the slices at an index and the carries, and stores its slices; returns the next carries,
/// and the outputs.
fn one_step(
    b: &mut Builder,
    computation: usize,
    dim: usize,
    at: &str,
    inputs: &[Tensor],
    (carries, outputs): (&[Tensor], &[Tensor]),
) -> ImportResult<Vec<Tensor>> {
    let place = |t: &Tensor| {
        let mut offsets = vec!["0".to_string(); t.sizes.len()];
        offsets[dim] = at.to_string();
        let mut sizes = t.sizes.clone();
        sizes[dim] = 1;
        (offsets, sizes)
    };
    let slice = |t: &Tensor| {
        let mut sizes = t.sizes.clone();
        sizes.remove(dim);
        let slice = Tensor { sizes, ..t.clone() };
        Tensor { ty: slice.plain(), ..slice }
    };
    let mut arguments = Vec::new();
    for t in inputs {
        let (offsets, sizes) = place(t);
        let cut = b.extract_slice(t, &offsets, &sizes, &vec![1; sizes.len()]);
        arguments.push(shapes::reshape(b, &cut, &slice(t)));
    }
    arguments.extend_from_slice(carries);
    let to: Vec<Tensor> = outputs.iter().map(slice).chain(carries.iter().cloned()).collect();
    let mut made = control::call(b, computation, &arguments, &to)?;
    let mut next = made.split_off(outputs.len());
    for (t, made) in outputs.iter().zip(made) {
        let (offsets, sizes) = place(t);
        let wide = Tensor { sizes: sizes.clone(), ..t.clone() };
        let block = shapes::reshape(b, &made, &Tensor { ty: wide.plain(), ..wide });
        next.push(b.named(t, &Builder::insertion(&block, t, &offsets)));
    }
    Ok(next)
}
