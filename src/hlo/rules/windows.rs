//! Windows, and convolutions.

use super::site::{Found, Site, Types};
use crate::hlo::shapes::finest;
use crate::hlo::tokens::number;
use crate::operations::operation::{Convolution, Operation, WindowDim};
use crate::text::{Cursor, Error, did_you_mean, excerpt, length};

/// The fields of `window`, and the corresponding fields of [`WindowDim`].
const FIELDS: [(&str, &str); 4] =
    [("size", "size"), ("stride", "stride"), ("lhs_dilate", "base_dilation"), ("rhs_dilate", "window_dilation")];

/// `window={size=3x3 stride=2x2 pad=1_1x0_0}`: one entry for each of `rank` dimensions.
pub(super) fn window(site: &mut Site, rank: usize) -> Result<Vec<WindowDim>, Error> {
    let none = WindowDim { size: 1, stride: 1, low: 0, high: 0, window_dilation: 1, base_dilation: 1, reversed: false };
    let mut window = vec![none; rank];
    let Some(&attribute) = site.attribute("window") else {
        return if rank == 0 { Ok(window) } else { site.need("window", "{size=..}").map(|_| window) };
    };
    let fields = attribute.fields()?;
    if rank != 0 && !fields.iter().any(|field| field.name == "size") {
        return Err(site.attribute_must("window", format!("have the field `size`, found {}", site.excerpt("window"))));
    }
    site.origin(("window", None), "window", "", attribute.at);
    for field in fields {
        let known = FIELDS.iter().find(|(name, _)| *name == field.name);
        let mut places = Vec::new();
        field.read(|cursor| {
            for (i, dim) in window.iter_mut().enumerate() {
                if i != 0 {
                    cursor.expect("x", &format!("`x` and the entry of dimension {i} of {rank}"))?;
                }
                let (value, at) = number(cursor, "a number")?;
                places.push(at);
                match field.name {
                    "size" => dim.size = value,
                    "stride" => dim.stride = value,
                    "lhs_dilate" => dim.base_dilation = value,
                    "rhs_dilate" => dim.window_dilation = value,
                    "rhs_reversal" => dim.reversed = value != 0,
                    "pad" => {
                        cursor.expect("_", "`_` and the padding after")?;
                        (dim.low, dim.high) = (value, number(cursor, "the padding after")?.0);
                    }
                    name => {
                        let known = FIELDS.iter().map(|(name, _)| *name).chain(["rhs_reversal", "pad"]);
                        let hint = did_you_mean(name, known);
                        return Err(
                            Error::at(0, format!("unknown field `{}` of `window`{hint}", excerpt(name))).unknown()
                        );
                    }
                }
            }
            Ok(())
        })?;
        if let Some((part, name)) = known {
            for (k, at) in places.into_iter().enumerate() {
                site.origin((name, Some(k)), "window", part, at + field.at);
            }
        }
    }
    Ok(window)
}

/// The dimensions of one array in `dim_labels`: those of the two letters, then the spatial ones by their digits.
fn labels(cursor: &mut Cursor, letters: [char; 2], rank: usize) -> Result<(usize, usize, Vec<usize>), Error> {
    let at = cursor.at();
    let text = cursor.rest();
    let text = &text[..length(text, |b| b.is_ascii_alphanumeric())];
    let [a, b] = letters;
    let form = || {
        Error::at(at, format!("expected `{a}`, `{b}` and digits from 0, {rank} in all, found `{}`", excerpt(text)))
            .syntax()
    };
    cursor.advance(text.len());
    // Only positions up to the rank are read, each once.
    let place = |c: char| Some(text.char_indices().find(|(_, found)| *found == c)?.0);
    let (Some(first), Some(second), true) = (place(a), place(b), text.len() == rank) else { return Err(form()) };
    let mut spatial: Vec<(u32, usize)> = text.char_indices().filter_map(|(i, c)| Some((c.to_digit(10)?, i))).collect();
    spatial.sort();
    let digits = spatial.iter().enumerate().all(|(i, (digit, _))| i as u32 == *digit);
    if !digits || spatial.len() + 2 != rank {
        return Err(form());
    }
    Ok((first, second, spatial.into_iter().map(|(_, i)| i).collect()))
}

/// `dim_labels=b01f_01io->b01f` names each dimension of the input, the kernel and the result. The result's type is
/// free.
pub fn convolution(site: &mut Site) -> Found {
    let (rank, of_kernel) = (site.array(0)?.dims.len(), site.array(1)?.dims.len());
    let attribute = *site.need("dim_labels", "b01f_01io->b01f")?;
    let (input, kernel, output) = attribute.read(|cursor| {
        let of_input = labels(cursor, ['b', 'f'], rank)?;
        cursor.expect("_", "`_` and the kernel's dimensions")?;
        let of_kernel = labels(cursor, ['i', 'o'], of_kernel)?;
        cursor.expect("->", "`->` and the result's dimensions")?;
        Ok((of_input, of_kernel, labels(cursor, ['b', 'f'], rank)?))
    })?;
    let window = window(site, input.2.len())?;
    let operation = Operation::Convolution(Box::new(Convolution {
        window,
        input_batch: input.0,
        input_feature: input.1,
        input_spatial: input.2,
        kernel_input_feature: kernel.0,
        kernel_output_feature: kernel.1,
        kernel_spatial: kernel.2,
        output_batch: output.0,
        output_feature: output.1,
        output_spatial: output.2,
        feature_groups: site.number("feature_groups", "feature_group_count", 1)?,
        batch_groups: site.number("batch_groups", "batch_group_count", 1)?,
    }));
    let operands = vec![site.element(0)?, site.element(1)?];
    let results = vec![site.result_element(finest(&operands))?];
    site.checked(operation, &Types { operands, results })
}
