//! Windows that move over dimensions.

use super::arrays::{Arrays, Verdict, distinct, entries};
use super::reduce::inputs;
use crate::operations::operation::{Convolution, WindowDim};
use crate::operations::refusal::{Refusal, Subject};
use crate::operations::sizes::Size;

/// The number of places from the first to the last of `n` elements that are `step` apart: `(n - 1) * step + 1`, or 0
/// without elements. So `dilated(3, 2)` is 5.
pub(crate) fn dilated(n: i64, step: i64) -> i128 {
    if n == 0 { 0 } else { (i128::from(n) - 1) * i128::from(step) + 1 }
}

/// The number of windows that fit into dimension `k`, of `size` elements:
/// `floor((dilated(size, base_dilation) + low + high - dilated(window.size, window_dilation)) / stride) + 1`, or 0
/// if the window is larger. A window of 3 in steps of 2 over 8 elements, padded by 1 on both sides, has
/// `7 / 2 + 1 = 4` places.
///
/// - `window_c1`: the window's size is at least 1.
/// - `window_c2`: its stride is at least 1.
/// - `window_c3`: its dilations are at least 1.
/// - `window_c4`: the number of windows fits in 64 bits.
pub(crate) fn windows(k: usize, size: Size, dim: &WindowDim) -> Result<Size, Refusal> {
    for (rule, name, found) in [
        ("window_c1", "size", dim.size),
        ("window_c2", "stride", dim.stride),
        ("window_c3", "base_dilation", dim.base_dilation),
        ("window_c3", "window_dilation", dim.window_dilation),
    ] {
        if found < 1 {
            return Err(Refusal::entry(rule, name, k, format!("must be at least 1, found {found}")));
        }
    }
    let Some(size) = size else { return Ok(None) };
    let padded = dilated(size, dim.base_dilation) + i128::from(dim.low) + i128::from(dim.high);
    let window = dilated(dim.size, dim.window_dilation);
    let count = if padded < window { 0 } else { (padded - window) / i128::from(dim.stride) + 1 };
    let large = |_| {
        let must = format!("must give a number of windows that fits in 64 bits, found {count}");
        Refusal::entry("window_c4", "size", k, must)
    };
    i64::try_from(count).map(Some).map_err(large)
}

/// The rules of [`inputs`] and of [`windows`], and:
///
/// - `reduce_window_c1`: `window` has an entry for each dimension of the inputs.
/// - `reduce_window_c2`: the results have a dimension for each, of the number of windows.
pub fn reduce_window(window: &[WindowDim], arrays: &Arrays) -> Verdict {
    let input = inputs(arrays)?;
    entries("reduce_window_c1", "window", window.len(), input.rank(), "one for each dimension of the inputs")?;
    let sizes = input.0.iter().zip(window).enumerate().map(|(k, (size, dim))| windows(k, *size, dim));
    arrays.results("reduce_window_c2", &sizes.collect::<Result<Vec<_>, _>>()?)
}

/// The rules of [`windows`], and:
///
/// - `convolution_c1`: there are two operands, the input and the kernel, and one result.
/// - `convolution_c2`: both have two dimensions more than `window` has entries.
/// - `convolution_c3`: the dimensions of each array are different dimensions of it, and there are as many spatial ones
///   as `window` has entries.
/// - `convolution_c4`: the window has the sizes of the kernel's spatial dimensions.
/// - `convolution_c5`: `feature_groups` and `batch_groups` are at least 1.
/// - `convolution_c6`: `feature_groups` divides the input's features and the kernel's output features.
/// - `convolution_c7`: `batch_groups` divides the input's batch and the kernel's output features.
/// - `convolution_c8`: the kernel has the input features of one group: 6 input features in 3 groups need a kernel of 2.
/// - `convolution_c9`: the result has the batch of the input divided by `batch_groups`, the kernel's output features,
///   and the number of windows in each spatial dimension.
pub fn convolution(c: &Convolution, arrays: &Arrays) -> Verdict {
    arrays.count("convolution_c1", 2, 1)?;
    dimensions(c, arrays)?;
    let (input, kernel) = (&arrays.ins[0].0, &arrays.ins[1].0);
    for (k, (dim, of_kernel)) in c.window.iter().zip(&c.kernel_spatial).enumerate() {
        if let Some(size) = kernel[*of_kernel].filter(|size| *size != dim.size) {
            let must = format!("must be {size}, as the kernel's, found {}", dim.size);
            return Err(Refusal::entry("convolution_c4", "size", k, must));
        }
    }
    let outputs = kernel[c.kernel_output_feature];
    groups(c, input[c.input_batch], input[c.input_feature], outputs)?;
    let features = input[c.input_feature].map(|n| n / c.feature_groups);
    if let Some((needed, found)) = features.zip(kernel[c.kernel_input_feature]).filter(|(a, b)| a != b) {
        let must = format!("must have {needed} input features, those of one group, found {found}");
        return Err(Refusal::new("convolution_c8", Subject::Operand(1), must));
    }
    let mut expected = vec![None; input.len()];
    expected[c.output_batch] = input[c.input_batch].map(|n| n / c.batch_groups);
    expected[c.output_feature] = outputs;
    for (k, dim) in c.window.iter().enumerate() {
        expected[c.output_spatial[k]] = windows(k, input[c.input_spatial[k]], dim)?;
    }
    arrays.result("convolution_c9", 0, &expected)
}

/// Checks `convolution_c2` and `convolution_c3`.
fn dimensions(c: &Convolution, arrays: &Arrays) -> Verdict {
    let spatial = c.window.len();
    for k in 0..2 {
        let found = arrays.ins[k].rank();
        if found != spatial + 2 {
            let must = format!("must have {} dimensions, two more than the window, found {found}", spatial + 2);
            return Err(Refusal::new("convolution_c2", Subject::Operand(k), must));
        }
    }
    for (name, first, second, dims) in [
        ("input_spatial", c.input_batch, c.input_feature, &c.input_spatial),
        ("kernel_spatial", c.kernel_input_feature, c.kernel_output_feature, &c.kernel_spatial),
        ("output_spatial", c.output_batch, c.output_feature, &c.output_spatial),
    ] {
        entries("convolution_c3", name, dims.len(), spatial, "one for each dimension of the window")?;
        distinct("convolution_c3", name, &[dims, &[first, second][..]].concat(), spatial + 2)?;
    }
    Ok(())
}

/// Checks `convolution_c5` to `convolution_c7`.
fn groups(c: &Convolution, batch: Size, features: Size, outputs: Size) -> Verdict {
    for (rule, name, groups, sizes) in [
        (
            "convolution_c6",
            "feature_groups",
            c.feature_groups,
            [("input features", features), ("output features", outputs)],
        ),
        ("convolution_c7", "batch_groups", c.batch_groups, [("batch", batch), ("output features", outputs)]),
    ] {
        if groups < 1 {
            return Err(Refusal::field("convolution_c5", name, format!("must be at least 1, found {groups}")));
        }
        for (what, size) in sizes {
            if let Some(size) = size.filter(|size| size % groups != 0) {
                let must = format!("must divide the {what}, {size}, found {groups}");
                return Err(Refusal::field(rule, name, must));
            }
        }
    }
    Ok(())
}
