//! `layout-inspect view`: the layout of a reshape, transpose or slice that is a view of the same buffer.

use crate::{lists, report};
use layout_console::Complaint;

/// Print the layout of a reshape, transpose or slice, if that is a view of the same buffer
#[derive(clap::Args)]
pub struct ViewOptions {
    /// The layout, or a shape with its layout
    #[arg(value_name = "LAYOUT")]
    text: String,
    #[command(flatten)]
    view: ViewChoice,
}

#[derive(clap::Args)]
#[group(required = true, multiple = false)]
struct ViewChoice {
    /// The sizes of the view: 3,2
    #[arg(long, value_name = "SIZES", allow_hyphen_values = true)]
    reshape: Option<String>,
    /// The dimension of the layout that each dimension of the view is: 1,0
    #[arg(long, value_name = "DIMENSIONS", allow_hyphen_values = true)]
    transpose: Option<String>,
    /// First index, limit and step of each dimension: 0:2,0:3:2
    #[arg(long, value_name = "SLICES", allow_hyphen_values = true)]
    slice: Option<String>,
}

/// The layout of the view and its offset, in elements.
pub fn run(ViewOptions { text, view }: &ViewOptions) -> Result<String, Complaint> {
    let in_text = |error| Complaint::in_argument(text, &error);
    let layout = report::placement(text).map_err(in_text)?.layout().clone();
    let found = if let Some(list) = &view.reshape {
        let sizes = lists::numbers(list).ok_or_else(|| lists::wrong("--reshape", "sizes such as 3,2", list))?;
        layout.reshaped(&sizes)
    } else if let Some(list) = &view.transpose {
        let permutation =
            lists::numbers(list).ok_or_else(|| lists::wrong("--transpose", "dimensions such as 1,0", list))?;
        layout.transposed(&permutation)
    } else {
        let list = view.slice.as_deref().unwrap_or_default();
        let slices = lists::slices(list).ok_or_else(|| lists::wrong("--slice", "slices such as 0:2,0:3:2", list))?;
        layout.sliced(&slices)
    };
    let found = found.map_err(in_text)?;
    Ok(format!("layout    {}\noffset    {}\n", found.layout, found.offset))
}
