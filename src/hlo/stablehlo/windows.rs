//! Convolutions, and reductions over windows.

use super::attributes::{MlirAttribute, field};
use super::control::body;
use super::site::{OperationSite, by, precision, sizes_at_run_time};
use super::writer::{Value, Written};
use crate::operations::shape::{Array, Dim};
use crate::text::Error;

/// The numbers of a window, one for each of its dimensions; an empty list is the default.
#[derive(Default)]
struct Window {
    size: Vec<i64>,
    stride: Vec<i64>,
    /// Low and high padding in turn.
    padding: Vec<i64>,
    /// The dilation of the data.
    base: Vec<i64>,
    dilation: Vec<i64>,
    reversal: Vec<i64>,
}

impl Window {
    /// `{size=3x3 stride=2x2 pad=1_1x1_1}`, without defaults.
    fn text(&self, of: &MlirAttribute) -> Result<String, Error> {
        let rank = self.size.len();
        let lists = [&self.stride, &self.base, &self.dilation, &self.reversal];
        if lists.iter().any(|list| !list.is_empty() && list.len() != rank)
            || !self.padding.is_empty() && self.padding.len() != 2 * rank
        {
            return Err(of.expected(&format!("numbers for each of the {rank} dimensions of the window")));
        }
        if rank == 0 {
            return Ok("{}".to_string());
        }
        let list = |numbers: &[i64]| by(numbers.iter().map(i64::to_string));
        let mut text = format!("{{size={}", list(&self.size));
        for (name, numbers, default) in [
            ("stride", &self.stride, 1),
            ("lhs_dilate", &self.base, 1),
            ("rhs_dilate", &self.dilation, 1),
            ("rhs_reversal", &self.reversal, 0),
        ] {
            if numbers.iter().any(|n| *n != default) {
                text += &format!(" {name}={}", list(numbers));
            }
        }
        if self.padding.iter().any(|n| *n != 0) {
            text += &format!(" pad={}", by(self.padding.chunks(2).map(|pair| format!("{}_{}", pair[0], pair[1]))));
        }
        Ok(text + "}")
    }
}

/// The attribute `window` of an operation over windows.
fn window(site: &mut OperationSite) -> Result<Written, Error> {
    let own = site.need(&["window_dimensions"])?;
    let window = Window {
        size: own.integers()?,
        stride: site.integers_or_none(&["window_strides"])?,
        padding: site.integers_or_none(&["padding"])?,
        base: site.integers_or_none(&["base_dilations"])?,
        dilation: site.integers_or_none(&["window_dilations"])?,
        reversal: Vec::new(),
    };
    Ok(("window", window.text(&own)?, own.at))
}

pub(super) fn reduce_window(site: &mut OperationSite) -> Result<Vec<Value>, Error> {
    let (window, body) = (window(site)?, body(site, 0, "body")?);
    site.many("reduce-window", &[window, body])
}

pub(super) fn select_and_scatter(site: &mut OperationSite) -> Result<Vec<Value>, Error> {
    let window = window(site)?;
    let (select, scatter) = (body(site, 0, "select")?, body(site, 1, "scatter")?);
    site.one("select-and-scatter", &[window, ("select", select.1, select.2), ("scatter", scatter.1, scatter.2)])
}

/// The roles of dimensions: `b01f_01io->b01f`, with a letter or digit for each dimension of the data, the kernel and
/// the result.
struct Labels {
    text: String,
    /// The dimensions of the kernel along the window.
    kernel: Vec<usize>,
}

impl Labels {
    /// Reads `[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]`.
    fn read(own: &MlirAttribute) -> Result<Labels, Error> {
        let wrong = || own.expected("dimensions such as `[b, 0, f]x[0, i, o]->[b, 0, f]`");
        let text =
            own.text.strip_prefix("#stablehlo.conv<").and_then(|text| text.strip_suffix('>')).unwrap_or(own.text);
        if text.starts_with("raw") || !text.contains("->") {
            return Labels::raw(own);
        }
        let (operands, result) = text.split_once("->").ok_or_else(wrong)?;
        let (data, kernel) = operands.split_once("]x[").ok_or_else(wrong)?;
        let letters = |text: &str| -> Vec<String> {
            text.trim().trim_matches(['[', ']']).split(',').map(|part| part.trim().to_string()).collect()
        };
        let (data, kernel, result) = (letters(data), letters(kernel), letters(result));
        Labels::of(&data, &kernel, &result).ok_or_else(wrong)
    }

    /// Reads `raw input_batch_dimension = 0, ..`.
    fn raw(own: &MlirAttribute) -> Result<Labels, Error> {
        let fields = own.fields()?;
        let fields: Vec<MlirAttribute> = fields
            .into_iter()
            .map(|own| MlirAttribute { name: own.name.trim_start_matches("raw").trim(), ..own })
            .collect();
        let one = |name: &str| field(&fields, name).ok_or_else(|| own.expected(&format!("`{name}`")))?.integer();
        let roles = |first: (&str, &str), second: (&str, &str), spatial: &str| -> Result<Vec<String>, Error> {
            let spatial = field(&fields, spatial).map_or(Ok(Vec::new()), MlirAttribute::integers)?;
            let mut letters = vec![String::new(); spatial.len() + 2];
            let single = [(one(first.0)?, first.1.to_string()), (one(second.0)?, second.1.to_string())];
            let along = spatial.iter().enumerate().map(|(k, dim)| (*dim, k.to_string()));
            for (dim, letter) in single.into_iter().chain(along) {
                let place = usize::try_from(dim).ok().and_then(|dim| letters.get_mut(dim));
                *place.ok_or_else(|| own.expected("dimensions of the operands"))? = letter;
            }
            Ok(letters)
        };
        let data = roles(("input_batch_dimension", "b"), ("input_feature_dimension", "f"), "input_spatial_dimensions")?;
        let kernel = roles(
            ("kernel_input_feature_dimension", "i"),
            ("kernel_output_feature_dimension", "o"),
            "kernel_spatial_dimensions",
        )?;
        let result =
            roles(("output_batch_dimension", "b"), ("output_feature_dimension", "f"), "output_spatial_dimensions")?;
        Labels::of(&data, &kernel, &result).ok_or_else(|| own.expected("each dimension once"))
    }

    fn of(data: &[String], kernel: &[String], result: &[String]) -> Option<Labels> {
        let along = |k: usize| kernel.iter().position(|letter| *letter == k.to_string());
        let places: Vec<usize> = (0..kernel.len().checked_sub(2)?).map(along).collect::<Option<_>>()?;
        let text = format!("{}_{}->{}", data.concat(), kernel.concat(), result.concat());
        Some(Labels { text, kernel: places })
    }

    /// The sizes of the window: those of the kernel.
    fn sizes(&self, kernel: &Array) -> Option<Vec<i64>> {
        let size = |dim: &usize| kernel.dims.get(*dim).copied().and_then(Dim::bound);
        self.kernel.iter().map(size).collect()
    }
}

/// A convolution whose padding is a constant.
pub(super) fn dynamic_convolution(site: &mut OperationSite) -> Result<Vec<Value>, Error> {
    let padding = site.operand_integers(2).ok_or_else(|| sizes_at_run_time(site.operation))?;
    site.operands.truncate(2);
    convolution_with(site, Some(padding))
}

pub(super) fn convolution(site: &mut OperationSite) -> Result<Vec<Value>, Error> {
    convolution_with(site, None)
}

/// A convolution with this padding, or else with that of its attributes.
fn convolution_with(site: &mut OperationSite, padding: Option<Vec<i64>>) -> Result<Vec<Value>, Error> {
    let own = site.need(&["dimension_numbers", "dim_numbers"])?;
    let labels = Labels::read(&own)?;
    let size = labels.sizes(&site.operand_array(1)?).ok_or_else(|| own.expected("dimensions of the kernel"))?;
    const FIELDS: [&str; 5] = ["stride", "pad", "lhs_dilate", "rhs_dilate", "reverse"];
    let fields = site.attribute(&["window"]).map_or(Ok(Vec::new()), |own| own.fields_of(&FIELDS))?;
    let mut numbers = |short: &str, long: &'static str| match field(&fields, short) {
        // Nested lists of pairs.
        Some(own) => own.integers(),
        None => site.integers_or_none(&[long]),
    };
    let window = Window {
        size,
        stride: numbers("stride", "window_strides")?,
        padding: padding.map_or_else(|| numbers("pad", "padding"), Ok)?,
        base: numbers("lhs_dilate", "lhs_dilation")?,
        dilation: numbers("rhs_dilate", "rhs_dilation")?,
        reversal: numbers("reverse", "window_reversal")?,
    };
    let mut attributes = vec![("window", window.text(&own)?, own.at), ("dim_labels", labels.text, own.at)];
    for name in ["feature_group_count", "batch_group_count"] {
        let count = site.attribute(&[name]).map(|own| Ok::<_, Error>((own.integer()?, own.at))).transpose()?;
        attributes.extend(count.filter(|(n, _)| *n != 1).map(|(n, at)| (name, n.to_string(), at)));
    }
    attributes.extend(precision(site)?);
    site.one("convolution", &attributes)
}
