//! The picture of a layout as SVG: a grid of the elements of the last two dimensions, padding in grey.
//!
//! Elements of a TensorLayout have the colour of their place and say its coordinates and the address; those of a shape
//! say their offset, and the first tiles are outlined. Drawn are the first slice and at most [`MOST`] rows and columns.

use crate::picture::{padded_sizes, tile_sizes};
use crate::places::label;
use crate::report::{self, Subject};
use std::fmt::Write;
use tensor_layout::places::Placement;
use tensor_layout::text::Error;
use tensor_layout::tiled::Expansion;

/// The most rows and columns that are drawn, and the most places in the legend.
const MOST: i64 = 64;
const LEGEND: usize = 32;

/// A cell, and the margins: of the numbers on the left, of the titles above, of the legend on the right.
const WIDTH: i64 = 64;
const HEIGHT: i64 = 32;
const LEFT: i64 = 48;
const TOP: i64 = 64;
const RIGHT: i64 = 240;

/// What is drawn.
struct Grid {
    title: String,
    /// What the texts in the cells are.
    note: String,
    /// The sizes and the padded sizes of the last two dimensions.
    sizes: [i64; 2],
    padded: [i64; 2],
    /// The sizes of the tiles that are outlined, 0 where none are.
    tiles: [i64; 2],
    /// What is in a cell with an element.
    cell: Box<dyn Fn([i64; 2]) -> Cell>,
    /// The colours, and what they stand for.
    legend: Vec<(String, String)>,
    /// The number of other things that colours stand for.
    more: usize,
}

/// The lines of text in a cell, and its colour.
struct Cell {
    lines: Vec<String>,
    fill: String,
}

/// The picture of a shape or a TensorLayout.
///
/// # Errors
/// As the report's, and where a shape has no elements to draw.
pub fn draw(text: &str) -> Result<String, Error> {
    Ok(match report::parse(text).map_err(|misplaced| misplaced.error)? {
        Subject::Places(placement) => svg(&places(*placement)),
        Subject::Shape(shape) => {
            let nothing = || Error::new("there are no offsets to draw");
            let (array, sizes) = report::laid_out(&shape).ok_or_else(nothing)?;
            let expansion = Expansion::new(&sizes, &array.layout).map_err(|e| report::in_sizes(text, e))?;
            if expansion.is_split() {
                return Err(nothing());
            }
            let (padded, tiles) = (padded_sizes(&sizes, &array.layout), tile_sizes(&sizes, &array.layout));
            let leading = sizes.len().saturating_sub(2);
            svg(&Grid {
                title: shape.to_string(),
                note: format!("offsets in elements{}", slice_note(&sizes[..leading])),
                sizes: plane(&sizes, 1),
                padded: plane(&padded, 1),
                tiles: plane(&tiles, 0),
                cell: Box::new(move |at| {
                    let offset = expansion.offset(&index(at, sizes.len()));
                    Cell {
                        lines: vec![offset.map_or_else(|e| e.message, |offset| offset.to_string())],
                        fill: "#ffffff".to_string(),
                    }
                }),
                legend: Vec::new(),
                more: 0,
            })
        }
    })
}

/// The last two sizes, `missing` where there are fewer.
fn plane(sizes: &[i64], missing: i64) -> [i64; 2] {
    let last = |k: usize| sizes.len().checked_sub(k).map_or(missing, |k| sizes[k]);
    [last(2), last(1)]
}

/// The index of a cell in the first slice.
fn index(at: [i64; 2], rank: usize) -> Vec<i64> {
    let mut index = vec![0; rank];
    for (i, at) in index.iter_mut().rev().zip([at[1], at[0]]) {
        *i = at;
    }
    index
}

fn slice_note(leading: &[i64]) -> String {
    let all: i128 = leading.iter().map(|size| i128::from(*size)).fold(1, i128::saturating_mul);
    if all > 1 { format!(", the first of {all} slices") } else { String::new() }
}

fn places(placement: Placement) -> Grid {
    let rank = placement.sizes().len();
    let (sizes, padded) = (plane(placement.sizes(), 1), plane(placement.padded_sizes(), 1));
    let named = placement.axes().len();
    let empty = placement.sizes().contains(&0);
    let of = move |placement: &Placement, at: [i64; 2]| placement.place(&index(at, rank)).unwrap_or_default();
    // The places that are drawn, in order; no more than there are cells.
    let mut found: Vec<Vec<i64>> = Vec::new();
    for row in (0..sizes[0].min(MOST)).filter(|_| !empty) {
        for column in 0..sizes[1].min(MOST) {
            let mut place = of(&placement, [row, column]);
            place.truncate(named);
            if let Err(at) = found.binary_search(&place) {
                found.insert(at, place);
            }
        }
    }
    let legend = found.iter().take(LEGEND).enumerate().filter(|_| named > 0);
    let legend = legend.map(|(k, place)| (colour(k), label(&placement, place))).collect();
    let axes = if named == 0 { "address".to_string() } else { format!("{}, and address", placement.axes().join("/")) };
    Grid {
        title: placement.layout().to_string(),
        note: format!("{axes}{}", slice_note(&placement.sizes()[..rank.saturating_sub(2)])),
        sizes: if empty { [0, 0] } else { sizes },
        padded,
        tiles: [0, 0],
        more: if named == 0 { 0 } else { found.len().saturating_sub(LEGEND) },
        legend,
        cell: Box::new(move |at| {
            let place = of(&placement, at);
            let (address, coordinates) = place.split_last().unwrap_or((&0, &[]));
            let number = found.binary_search_by(|place| place[..].cmp(coordinates)).unwrap_or(0);
            let mut lines = vec![address.to_string()];
            if named > 0 {
                lines.insert(0, label(&placement, coordinates));
            }
            Cell { lines, fill: colour(number) }
        }),
    }
}

/// A light colour for each number, neighbours far apart.
fn colour(number: usize) -> String {
    // The golden angle.
    format!("hsl({}, 70%, 82%)", number * 137 % 360)
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

fn svg(grid: &Grid) -> String {
    let shown = [grid.padded[0].min(MOST), grid.padded[1].min(MOST)];
    let legend = (grid.legend.len() + usize::from(grid.more > 0)) as i64 * 20;
    let (width, height) = (LEFT + shown[1] * WIDTH + RIGHT, TOP + (shown[0] * HEIGHT).max(legend) + 32);
    let mut out = String::new();
    // A `String` takes all that is written to it.
    let mut line = |text: String| writeln!(out, "{text}").unwrap();
    line(format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" font-family=\"monospace\" font-size=\"11\">"
    ));
    line(format!("<rect width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>"));
    let text = |x: i64, y: i64, anchor: &str, text: &str| {
        format!("<text x=\"{x}\" y=\"{y}\" text-anchor=\"{anchor}\">{}</text>", escaped(text))
    };
    // A layout may have hundreds of parts.
    let title: String = grid.title.chars().take(200).collect();
    line(text(LEFT, 18, "start", &title));
    line(text(LEFT, 36, "start", &format!("{}; grey is padding", grid.note)));
    let (x, y) = (|column: i64| LEFT + column * WIDTH, |row: i64| TOP + row * HEIGHT);
    for column in 0..shown[1].min(grid.sizes[1]) {
        line(text(x(column) + WIDTH / 2, TOP - 6, "middle", &column.to_string()));
    }
    for row in 0..shown[0] {
        if row < grid.sizes[0] {
            line(text(LEFT - 6, y(row) + HEIGHT / 2 + 4, "end", &row.to_string()));
        }
        for column in 0..shown[1] {
            let element = row < grid.sizes[0] && column < grid.sizes[1];
            let padding = || Cell { lines: Vec::new(), fill: "#c8c8c8".to_string() };
            let Cell { lines, fill } = if element { (grid.cell)([row, column]) } else { padding() };
            line(format!(
                "<rect x=\"{}\" y=\"{}\" width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"{fill}\" stroke=\"#888888\" stroke-width=\"0.5\"/>",
                x(column),
                y(row)
            ));
            for (k, label) in lines.iter().enumerate() {
                let first = if lines.len() == 1 { 20 } else { 14 };
                line(text(x(column) + WIDTH / 2, y(row) + first + k as i64 * 13, "middle", label));
            }
        }
    }
    for (axis, tile) in grid.tiles.iter().enumerate().filter(|(_, tile)| **tile > 0) {
        let (right, bottom) = (x(shown[1]), y(shown[0]));
        for edge in (0..=shown[axis]).step_by(usize::try_from(*tile).unwrap_or(usize::MAX)) {
            let (x1, y1, x2, y2) =
                if axis == 0 { (LEFT, y(edge), right, y(edge)) } else { (x(edge), TOP, x(edge), bottom) };
            line(format!(
                "<line x1=\"{x1}\" y1=\"{y1}\" x2=\"{x2}\" y2=\"{y2}\" stroke=\"#000000\" stroke-width=\"2\"/>"
            ));
        }
    }
    let left = [(grid.padded[0] - shown[0], "rows"), (grid.padded[1] - shown[1], "columns")];
    let left: Vec<String> = left.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{n} more {what}")).collect();
    if !left.is_empty() {
        line(text(LEFT, height - 10, "start", &format!(".. {}", left.join(", "))));
    }
    let at = x(shown[1]) + 16;
    for (k, (colour, name)) in grid.legend.iter().enumerate() {
        let top = TOP + k as i64 * 20;
        line(format!("<rect x=\"{at}\" y=\"{top}\" width=\"14\" height=\"14\" fill=\"{colour}\" stroke=\"#888888\"/>"));
        line(text(at + 20, top + 11, "start", name));
    }
    if grid.more > 0 {
        line(text(at, TOP + grid.legend.len() as i64 * 20 + 11, "start", &format!(".. {} more places", grid.more)));
    }
    line("</svg>".to_string());
    out
}
