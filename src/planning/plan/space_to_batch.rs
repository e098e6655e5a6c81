//! Convolutions that cut their images: of fewer images than a register has rows.
//!
//! Each image is cut along the last spatial dimension into as many pieces as a register has rows, so that pieces of all
//! images fill registers. A piece is as long as it takes to hold the padded image. The image is a reshape then, with the
//! batch in front of the dimension that is cut, `[16,50,4,64]` to `[16,50,4,8,8]` of 16 features and 4 images of 50 × 50 that
//! 64 hold, and so is the result, `[25,32,4,32]` to `[25,4,32,32]`. With two spatial dimensions XLA's compiler has the
//! argument and the result of a convolution in the [form](super::reshapes) of these two: the rule gives both of 4 such
//! convolutions whose entry it chose, in `NHWC` and `NCHW` order, and of `f32[4,16,50,50]` in the default layouts, in other
//! plans, and in this form, 68,222, 67,593 and 55,885 cycles.

use super::classes::{LayoutClasses, LayoutId};
use super::reshapes::pair;
use tensor_layout::numbers::ceil_div;
use tensor_layout::operations::operation::{Convolution, WindowDim};

/// The layouts in which an operation can take an operand, independent of all others. Empty where ways say it.
pub type Port = Vec<LayoutId>;

/// How often the bytes of the pieces of a result count where those of the result count once. The layouts of 13 of 13 results
/// come out with 3 and with 4, 10 with 1.
const RESULT: i128 = 3;

/// The images that convolutions cut, and the layouts of these images.
pub struct SpaceToBatch<'c, 't>(pub &'c LayoutClasses<'t>);

/// How many elements of a dimension two pieces have in common that lie next to each other.
fn shared(window: &WindowDim) -> i64 {
    let reach = window.size.max(1).saturating_sub(1).saturating_mul(window.window_dilation.max(1));
    reach.saturating_add(1).saturating_sub(window.stride.max(1)).max(0)
}

/// Adds the orders in which images are cut to the layouts of a convolution's input and output. Arrays of more than four
/// dimensions have only some orders by themselves.
pub fn offer(classes: &mut LayoutClasses, convolution: &Convolution, input: usize, output: usize) {
    for (class, batch, feature, spatial) in [
        (input, convolution.input_batch, convolution.input_feature, &convolution.input_spatial),
        (output, convolution.output_batch, convolution.output_feature, &convolution.output_spatial),
    ] {
        let [outer @ .., first, last] = &spatial[..] else { continue };
        for pair in [[feature, *first], [*first, feature]] {
            let order = pair.into_iter().chain([*last, batch]).chain(outer.iter().rev().copied());
            classes.offer(class, &order.collect::<Vec<_>>());
        }
    }
}

impl SpaceToBatch<'_, '_> {
    fn rows(&self) -> i64 {
        self.0.target.machine().model.registers.map_or(1, |(rows, _)| rows)
    }

    /// The layouts in which images that are cut are read, and in which they are written.
    pub fn ports(&self, convolution: &Convolution, input: usize, output: usize) -> [Port; 2] {
        if let Some(both) = self.forms(convolution, input, output) {
            return both.map(|id| vec![id]);
        }
        let whole = self.windows(convolution, input, output).is_some_and(|windows| {
            let stride = convolution.window.last().map_or(1, |window| window.stride.max(1));
            windows.saturating_mul(stride) % (self.rows() / 2).max(1) == 0
        });
        let dims = [convolution.input_batch, convolution.input_feature];
        [self.cut(input, dims, &convolution.input_spatial, whole), self.cut_results(convolution, output, whole)]
    }

    /// How many windows of the last spatial dimension a piece has.
    fn windows(&self, convolution: &Convolution, input: usize, output: usize) -> Option<i64> {
        let (rows, window) = (self.rows(), convolution.window.last()?);
        let made = self.0.all[output].sizes[*convolution.output_spatial.last()?];
        let padded = self.padded(convolution, input);
        Some(ceil_div(made, rows).max(ceil_div(padded, rows.saturating_mul(window.stride.max(1)))))
    }

    /// The layouts of images of two spatial dimensions.
    fn forms(&self, convolution: &Convolution, input: usize, output: usize) -> Option<[LayoutId; 2]> {
        let ([_, from], [_, to]) = (&convolution.input_spatial[..], &convolution.output_spatial[..]) else {
            return None;
        };
        if convolution.window.iter().any(|window| window.window_dilation > 1) {
            return None;
        }
        let windows = self.windows(convolution, input, output)?;
        let rows = self.rows();
        let window = convolution.window.last()?;
        let piece = windows.checked_mul(window.stride.max(1))?;
        let batch = self.0.all[input].sizes[convolution.input_batch];
        let long = piece.checked_mul(rows)?;
        // Pieces that share elements are made longer before they are images.
        let pieces = match shared(window) > 0 {
            true => vec![batch, rows, piece],
            false => vec![batch.checked_mul(rows)?, piece],
        };
        let others = |dims: usize, batch: usize| (0..dims).filter(move |dim| *dim != batch);
        let dims: Vec<usize> = others(convolution.window.len() + 2, convolution.input_batch).collect();
        let read = self.form((input, dims), [convolution.input_batch, *from], [&[batch, long], &pieces], [1, 1])?;
        // Results have features last.
        let dims = convolution.output_spatial.iter().copied().chain([convolution.output_feature]).collect();
        let cut = [&[batch.checked_mul(rows)?, windows][..], &[batch, windows.checked_mul(rows)?]];
        let written = self.form((output, dims), [convolution.output_batch, *to], [cut[1], cut[0]], [1, RESULT])?;
        Some([read, written])
    }

    /// The layout of an array whose batch, in front of the dimension that is cut, and that dimension are reshaped, the first
    /// side being that of the array itself; `dims` are its other dimensions, and `weights` says how often the bytes of each
    /// side count.
    fn form(
        &self,
        (class, mut dims): (usize, Vec<usize>),
        [batch, long]: [usize; 2],
        sides: [&[i64]; 2],
        weights: [i128; 2],
    ) -> Option<LayoutId> {
        let own = &self.0.all[class];
        let at = dims.iter().position(|dim| *dim == long)?;
        let sizes: Vec<i64> = dims.iter().map(|dim| own.sizes[*dim]).collect();
        let sides = sides.map(|cut| [&sizes[..at], cut, &sizes[at + 1..]].concat());
        let [order, _] = pair(self.0.target, own.element, [&sides[0], &sides[1]], weights)?;
        dims.insert(at, batch);
        let mut order: Vec<usize> = order.iter().map(|dim| dims[*dim]).collect();
        if own.sizes[batch] == 1 {
            order.retain(|dim| *dim != batch);
            order.push(batch);
        }
        self.0.find(class, &order)
    }

    /// Whether a convolution has fewer images than a register has rows, and cuts large ones into several along the last
    /// spatial dimension: it brings the input into a form of its own first, from whichever layout it has.
    pub fn cuts(&self, convolution: &Convolution, input: usize) -> bool {
        let Some((rows, _)) = self.0.target.machine().model.registers else { return false };
        let sizes = &self.0.all[input].sizes;
        let spread = convolution.window.iter().any(|window| window.base_dilation > 1);
        if spread || convolution.batch_groups > 1 {
            return false;
        }
        let long = self.padded(convolution, input) >= 2 * rows;
        sizes[convolution.input_batch] < rows && long && self.fits(convolution, input)
    }

    /// How long the last spatial dimension of images is with its padding.
    fn padded(&self, convolution: &Convolution, input: usize) -> i64 {
        let (Some(dim), Some(window)) = (convolution.input_spatial.last(), convolution.window.last()) else { return 0 };
        self.0.all[input].sizes[*dim].saturating_add(window.low.max(0)).saturating_add(window.high.max(0))
    }

    /// Whether a piece of an image has as many elements as it shares with the next one. Images of which pieces are shorter
    /// stay whole: by XLA's count, a window of 5 × 5 over `f32[2,34,19,17]` takes 13,006 cycles with images in the rows, and
    /// 17,052 in `{3,2,1,0}`.
    fn fits(&self, convolution: &Convolution, input: usize) -> bool {
        convolution.window.last().is_none_or(|window| {
            let stride = window.stride.max(1);
            let piece =
                ceil_div(self.padded(convolution, input), self.rows().saturating_mul(stride)).saturating_mul(stride);
            shared(window) <= piece
        })
    }

    /// The layouts in which images that are cut are read. The form that they are brought into has features in the lanes,
    /// the dimension that is cut, the last spatial one, in the rows, and then images: where pieces fill rows it is made
    /// without a copy of that order, else of one with the first spatial dimension in the rows. The pieces of a single image
    /// become its batch, and the last dimension is in the rows. With few features the first spatial dimension is in the
    /// lanes. The other dimensions are row-major.
    fn cut(&self, class: usize, [batch, feature]: [usize; 2], spatial: &[usize], whole: bool) -> Port {
        let own = &self.0.all[class];
        // Of three spatial dimensions, the first one is most major.
        let outer = spatial.len().saturating_sub(2);
        let [Some(first), Some(last)] = [spatial.get(outer), spatial.last()] else { return self.any(class) };
        let single = own.sizes[batch] == 1;
        let start = match (single, whole) {
            (true, _) => vec![feature, *last],
            (false, true) => vec![feature, *last, batch],
            (false, false) => vec![feature, *first],
        };
        let rows = self.0.target.machine().model.registers.map_or(0, |(rows, _)| rows);
        let fits = |order: &[usize]| {
            // Beside two spatial dimensions or more, features are in the rows where they fill them.
            let second = match own.sizes[feature] < rows || spatial.len() == 1 {
                true => !single || order.get(1) != Some(&batch),
                false => order.get(1) == Some(&feature),
            };
            let in_lanes = order.first() == Some(first) && second;
            let begun = if in_lanes { 2 } else { start.len() };
            let place = |dim: &usize| (!spatial[..outer].contains(dim), *dim);
            (in_lanes || order.starts_with(&start)) && order[begun..].is_sorted_by(|a, b| place(a) > place(b))
        };
        let ids = 0..own.layouts.len() as LayoutId;
        ids.filter(|id| fits(&own.layouts[usize::from(*id)].minor_to_major)).collect()
    }

    /// The layouts in which images that are cut are written: as they are read, but those with one spatial dimension, which
    /// is in the lanes, have images in the rows, as their pieces are.
    fn cut_results(&self, convolution: &Convolution, class: usize, whole: bool) -> Port {
        let (batch, feature) = (convolution.output_batch, convolution.output_feature);
        let own = &self.0.all[class];
        let mut found = self.cut(class, [batch, feature], &convolution.output_spatial, whole);
        if let ([line], true) = (&convolution.output_spatial[..], own.sizes[batch] > 1) {
            let order = |id: &LayoutId| &own.layouts[usize::from(*id)].minor_to_major;
            found.retain(|id| order(id).first() != Some(line) || order(id).get(1) == Some(&batch));
        }
        found
    }

    fn any(&self, class: usize) -> Port {
        (0..self.0.all[class].layouts.len() as LayoutId).collect()
    }
}
