//! Windows that slide over dimensions.

use super::sides::{Equations, Sides};
use crate::analysis::relation::{Direction, Relation, too_large};
use crate::operations::operation::{Convolution, WindowDim};
use crate::text::Error;

/// The unknown of a window that becomes a range variable.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Ranges {
    /// The position in the window.
    Places,
    /// The windows that cover a position, counted from the last one.
    Windows,
    /// Neither of these.
    Neither,
}

/// `in[k]` is at a position of window `out[k]`. An initial value is read for every element.
pub fn reduce_window(window: &[WindowDim], s: &Sides) -> Equations {
    let mut r = s.relation();
    if s.operand < s.ins.len() / 2 {
        let ranges = if s.direction == Direction::Reads { Ranges::Places } else { Ranges::Windows };
        for (k, dim) in window.iter().enumerate() {
            let (o, i) = (r.out(k), r.input(k));
            place(&mut r, dim, o, i, ranges)?;
        }
    }
    Ok(r.into())
}

/// Relates an element of the input or the kernel to the result of each of its products.
pub fn convolution(c: &Convolution, s: &Sides) -> Equations {
    let mut r = s.relation();
    products(&mut r, c, [&s.ins[0], &s.ins[1], s.out()], s.operand == 1, s.direction)?;
    Ok(r.into())
}

/// Puts `i` at a position of window `o`; returns the position.
pub(super) fn place(r: &mut Relation, dim: &WindowDim, o: usize, i: usize, ranges: Ranges) -> Result<usize, Error> {
    let w = r.unknown(0, dim.size - 1);
    let step = dim.window_dilation;
    let rest = [(i, -dim.base_dilation)];
    let low = dim.low.checked_neg().ok_or_else(too_large)?;
    // The number of positions of a window before the next window begins.
    let between = dim.stride / step;
    if ranges == Ranges::Windows && dim.stride % step == 0 && dim.size > between && between > 1 {
        // The position is `between * back + first`: `back` windows ago the same element was at `first`.
        let back = r.unknown(0, (dim.size - 1) / between);
        let first = r.unknown(0, between - 1);
        r.range(back);
        r.equation([&[(o, dim.stride), (back, dim.stride), (first, step)], &rest[..]].concat(), low)?;
        r.equation(vec![(back, between), (first, 1), (w, -1)], 0)?;
        return Ok(w);
    }
    let windows = ranges == Ranges::Windows && i128::from(dim.stride) <= i128::from(step) * i128::from(dim.size - 1);
    if ranges == Ranges::Places || windows {
        r.range(w);
    }
    r.equation([&[(o, dim.stride), (w, step)], &rest[..]].concat(), low)?;
    Ok(w)
}

/// Adds the products of a convolution: an element of the result with elements of the input and the kernel. The relation
/// is between the result and one of these; the indices of the other are unknowns.
fn products(
    r: &mut Relation,
    c: &Convolution,
    [input, kernel, out]: [&[i64]; 3],
    of_kernel: bool,
    direction: Direction,
) -> Result<(), Error> {
    let other: Vec<usize> = if of_kernel { input } else { kernel }.iter().map(|n| r.unknown(0, n - 1)).collect();
    let own: Vec<usize> = (0..if of_kernel { kernel.len() } else { input.len() }).map(|k| r.input(k)).collect();
    let (input_at, kernel_at) = if of_kernel { (other, own) } else { (own, other) };
    let reads = direction == Direction::Reads;
    let ranges = match direction {
        Direction::Reads => Ranges::Places,
        Direction::Feeds if of_kernel => Ranges::Neither,
        Direction::Feeds => Ranges::Windows,
    };
    for (k, dim) in c.window.iter().enumerate() {
        let (o, i) = (r.out(c.output_spatial[k]), input_at[c.input_spatial[k]]);
        let w = place(r, dim, o, i, ranges)?;
        let at = kernel_at[c.kernel_spatial[k]];
        match dim.reversed {
            true => r.equation(vec![(w, 1), (at, 1)], 1 - dim.size)?,
            false => r.equation(vec![(w, 1), (at, -1)], 0)?,
        }
    }
    let outputs = out[c.output_feature];
    let o = r.out(c.output_feature);
    let (feature, part) = (input_at[c.input_feature], kernel_at[c.kernel_input_feature]);
    if reads {
        r.range(part);
    }
    r.equation(vec![(o, 1), (kernel_at[c.kernel_output_feature], -1)], 0)?;
    // Each group of input features gives a group of output features.
    let each = outputs / c.feature_groups;
    let group = r.unknown(0, c.feature_groups - 1);
    let within = r.unknown(0, each - 1);
    if !reads && !of_kernel && c.batch_groups == 1 {
        r.range(within);
    }
    r.equation(vec![(group, each), (within, 1), (o, -1)], 0)?;
    r.equation(vec![(group, kernel[c.kernel_input_feature]), (part, 1), (feature, -1)], 0)?;
    // Each group of batches does, too.
    let (each, batches) = (outputs / c.batch_groups, out[c.output_batch]);
    let group = r.unknown(0, c.batch_groups - 1);
    let within = r.unknown(0, each - 1);
    if !reads && !of_kernel && c.batch_groups != 1 {
        r.range(within);
    }
    r.equation(vec![(group, each), (within, 1), (o, -1)], 0)?;
    r.equation(vec![(group, batches), (r.out(c.output_batch), 1), (input_at[c.input_batch], -1)], 0)
}
