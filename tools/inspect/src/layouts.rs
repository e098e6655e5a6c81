//! `layout-inspect layouts`: the layouts that an array may have on a machine, by their padded bytes.

use crate::machine::accepted;
use crate::numbers::counted;
use crate::protocol::answer::{Candidate, LayoutsByBytes};
use crate::report;
use layout_console::Complaint;
use std::fmt::Write;
use tensor_layout::operations::Shape;
use tensor_layout::targets::{Ranked, Target};
use tensor_layout::text::Error;
use tensor_layout::tiled::jax;

/// List the layouts of an array by padded bytes, with the one that it has by default
#[derive(clap::Args)]
pub struct LayoutsOptions {
    /// The shape, without a layout
    #[arg(value_name = "SHAPE")]
    text: String,
    #[arg(long, default_value = USUAL, help = accepted("The machine"))]
    machine: String,
    /// Print a JSON object
    #[arg(long)]
    json: bool,
}

/// The default machine.
pub const USUAL: &str = "tpu_v5e";

/// The default machine, for serde.
pub fn usual_machine() -> String {
    USUAL.to_string()
}

/// The list.
pub fn run(LayoutsOptions { text, machine, json }: &LayoutsOptions) -> Result<String, Complaint> {
    let target = Target::parse(machine).map_err(|error| Complaint::in_argument(machine, &error))?;
    let found = listed(&target, text).map_err(|error| Complaint::in_argument(text, &error))?;
    if *json {
        return Ok(format!("{}\n", serde_json::json!(found)));
    }
    let width = found.layouts.iter().map(|candidate| candidate.layout.len()).max().unwrap_or(0);
    let bytes = |candidate: &Candidate| counted(candidate.padded_bytes, "byte");
    let widest = found.layouts.iter().map(|candidate| bytes(candidate).len()).max().unwrap_or(0);
    let mut out = String::new();
    for candidate in &found.layouts {
        let mark = if candidate.layout == found.default { "default" } else { "" };
        let jax = candidate.jax.as_deref().unwrap_or("");
        let bytes = bytes(candidate);
        let _ = writeln!(out, "{mark:7}  {bytes:>widest$}  {:width$}  {jax}", candidate.layout);
    }
    Ok(out)
}

/// The layouts of the array with this shape.
///
/// # Errors
/// The text is no shape of an array, has a layout, or has sizes without layouts.
pub fn listed(target: &Target, text: &str) -> Result<LayoutsByBytes, Error> {
    let shape = Shape::parse(text)?;
    if let Some(at) = text.find('{') {
        return Err(Error::at(at, "expected a shape without a layout, found one"));
    }
    let Some((array, sizes)) = report::laid_out(&shape) else {
        return Err(Error::at(0, "expected an array with bounded sizes, found another shape"));
    };
    let in_sizes = |error| report::in_sizes(text, error);
    let default = target.default_layout(array.element, &sizes).map_err(in_sizes)?;
    let ranked = target.layouts(array.element, &sizes).map_err(in_sizes)?;
    let candidate = |ranked: &Ranked| Candidate {
        layout: ranked.layout.to_string(),
        padded_bytes: ranked.padded_bytes,
        jax: jax(&ranked.layout),
    };
    Ok(LayoutsByBytes { default: default.to_string(), layouts: ranked.iter().map(candidate).collect() })
}
