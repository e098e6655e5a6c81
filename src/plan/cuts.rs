//! Convolutions of few large images, which are cut into pieces: the layouts in which they are read and written.

use super::classes::LayoutId;
use super::ways::{Maker, Port};
use crate::operations::operation::Convolution;

impl Maker<'_, '_> {
    /// Whether a convolution has fewer images than a register has rows, and cuts large ones into several along the last
    /// spatial dimension: it brings the input into a form of its own first, from whichever layout it has.
    pub(super) fn cuts_batches(&self, convolution: &Convolution, input: usize) -> bool {
        let Some((rows, _)) = self.classes.target.machine().model.registers else { return false };
        let sizes = &self.classes.all[input].sizes;
        if convolution.feature_groups > 1 || convolution.batch_groups > 1 {
            return false;
        }
        let longest = convolution.input_spatial.last().map_or(0, |dim| sizes[*dim]);
        sizes[convolution.input_batch] < rows && longest >= 2 * rows
    }

    /// Whether the pieces that images are cut into fill registers or halves of them, so that cutting rows moves nothing.
    /// There are as many pieces as rows; they are as long as the windows of their results take, and longer by a stride until
    /// all of them hold the padded image.
    pub(super) fn cuts_whole_rows(&self, convolution: &Convolution, input: usize, output: usize) -> bool {
        let (Some((rows, _)), Some(window), Some(from), Some(to)) = (
            self.classes.target.machine().model.registers,
            convolution.window.last(),
            convolution.input_spatial.last(),
            convolution.output_spatial.last(),
        ) else {
            return false;
        };
        let [long, made] = [self.classes.all[input].sizes[*from], self.classes.all[output].sizes[*to]];
        let stride = window.stride.max(1);
        let padded = long.saturating_add(window.low.max(0)).saturating_add(window.high.max(0));
        let up = |n: i64, by: i64| n / by + i64::from(n % by != 0);
        let windows = up(made, rows).max(up(padded, rows.saturating_mul(stride)));
        windows.saturating_mul(stride) % (rows / 2).max(1) == 0
    }

    /// The layouts in which images that are cut are read. The form that they are brought into has features in the lanes,
    /// the dimension that is cut, the last spatial one, in the rows, and then images: where pieces fill rows it is made
    /// without a copy of that order, else of one with the first spatial dimension in the rows. The pieces of a single image
    /// become its batch, and the last dimension is in the rows. With few features the first spatial dimension is in the
    /// lanes. The other dimensions are row-major.
    pub(super) fn cut(&self, class: usize, [batch, feature]: [usize; 2], spatial: &[usize], whole: bool) -> Port {
        let own = &self.classes.all[class];
        // Of three spatial dimensions, the first one is most major.
        let outer = spatial.len().saturating_sub(2);
        let [Some(first), Some(last)] = [spatial.get(outer), spatial.last()] else { return self.outside(class, &[]) };
        let single = own.sizes[batch] == 1;
        let start = match (single, whole) {
            (true, _) => vec![feature, *last],
            (false, true) => vec![feature, *last, batch],
            (false, false) => vec![feature, *first],
        };
        let rows = self.classes.target.machine().model.registers.map_or(0, |(rows, _)| rows);
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
    pub(super) fn cut_results(&self, convolution: &Convolution, class: usize, whole: bool) -> Port {
        let (batch, feature) = (convolution.output_batch, convolution.output_feature);
        let own = &self.classes.all[class];
        let mut found = self.cut(class, [batch, feature], &convolution.output_spatial, whole);
        if let ([line], true) = (&convolution.output_spatial[..], own.sizes[batch] > 1) {
            let order = |id: &LayoutId| &own.layouts[usize::from(*id)].minor_to_major;
            found.retain(|id| order(id).first() != Some(line) || order(id).get(1) == Some(&batch));
        }
        found
    }
}
