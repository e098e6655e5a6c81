//! Drawings of a layout as SVG: a grid of the elements of the last two dimensions, with padding in grey.
//!
//! A cell of a TensorLayout has the coordinates of the place, the address, and a colour for each place; a cell of a
//! shape has the offset, and the first tiles are outlined. Only the first slice is drawn, at most [`MOST`] rows and
//! columns.

use crate::algebra::LayoutFunction;
use crate::operations::shape::Array;
use crate::places::placement::{Copies, Placement};
use crate::text::Error;
use crate::tiled::Expansion;
use crate::tiled::layout::{Layout, TileEntry};
use std::fmt::{Arguments, Write};

/// The limit on drawn rows and columns.
pub const MOST: i64 = 64;
/// The limit on places in the legend.
const LEGEND: usize = 32;

/// The size of a cell, and the margins for the row numbers, the titles and the legend.
const WIDTH: i64 = 64;
const HEIGHT: i64 = 32;
const LEFT: i64 = 48;
const TOP: i64 = 64;
const RIGHT: i64 = 240;

/// The elements of a slice, with title and legend.
struct Grid {
    title: String,
    /// The meaning of the text in the cells: `offsets in elements`.
    note: String,
    /// The sizes and the padded sizes of the last two dimensions.
    sizes: [i64; 2],
    padded: [i64; 2],
    /// The sizes of the outlined tiles, 0 for none.
    tiles: [i64; 2],
    /// The cell of an element.
    cell: Box<dyn Fn([i64; 2]) -> Cell>,
    /// The colours, with the name of the place for each.
    legend: Vec<(String, String)>,
    /// The number of places that the legend leaves out.
    more: usize,
}

/// The lines of text in a cell, and its colour.
struct Cell {
    lines: Vec<String>,
    fill: String,
}

/// Draws the offset of each element: at most `most` rows and columns, and never more than [`MOST`].
///
/// # Errors
/// No offsets: `token[]` and `opaque[]`, unbounded sizes, a layout that is cut across memories; errors of
/// [`Expansion::new`].
///
/// ```
/// use tensor_layout::drawing::{MOST, draw_array};
/// use tensor_layout::operations::Shape;
/// let Shape::Array(array) = Shape::parse("f32[3,5]{1,0:T(2,2)}").unwrap() else { panic!("an array") };
/// assert!(draw_array(&array, [MOST; 2]).unwrap().starts_with("<svg "));
/// ```
pub fn draw_array(array: &Array, most: [i64; 2]) -> Result<String, Error> {
    let nothing = || Error::new("there are no offsets to draw").unsupported();
    let sizes = array.sizes().filter(|_| array.element.is_data()).ok_or_else(nothing)?;
    let expansion = Expansion::new(&sizes, &array.layout)?;
    if expansion.is_split_across_memories() {
        return Err(nothing());
    }
    let (padded, tiles) = (padded_sizes(&sizes, &array.layout), tile_sizes(&sizes, &array.layout));
    let leading = sizes.len().saturating_sub(2);
    let grid = Grid {
        title: array.to_string(),
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
    };
    Ok(svg(&grid, most))
}

/// Draws a TensorLayout: the place of each element, of at most so many rows and columns, and at most [`MOST`].
pub fn draw_placement(placement: Placement, most: [i64; 2]) -> String {
    svg(&places(placement), most)
}

/// Draws a layout as a function: the places of the first mode as rows and of the second as columns, coloured by the
/// coordinates along its axes, and at most so many rows and columns, and at most [`MOST`].
pub fn draw_function(layout: &LayoutFunction, most: [i64; 2]) -> String {
    let sizes = layout.sizes();
    let shown: [i64; 2] = [0, 1].map(|mode| sizes.get(mode).copied().unwrap_or(1));
    let shown = if sizes.len() < 2 { [1, shown[0]] } else { shown };
    let (title, leading) = (layout.to_string(), sizes.iter().skip(2).copied().collect::<Vec<_>>());
    let axes = match layout.axes() {
        [] => "address".to_string(),
        axes => format!("{}, and address", axes.join("/")),
    };
    let layout = layout.clone();
    let place = move |at: [i64; 2]| {
        let index = if sizes.len() < 2 { at[1] } else { at[0] + at[1] * sizes[0] };
        layout.place(index.min(layout.size() - 1))
    };
    let mut found: Vec<Vec<i64>> = Vec::new();
    for cell in (0..shown[0].min(MOST)).flat_map(|row| (0..shown[1].min(MOST)).map(move |column| [row, column])) {
        let mut own = place(cell);
        own.pop();
        if let Err(at) = found.binary_search(&own) {
            found.insert(at, own);
        }
    }
    let text = |own: &[i64]| own.iter().map(i64::to_string).collect::<Vec<_>>().join("/");
    let legend = found.iter().take(LEGEND).enumerate().filter(|_| found.len() > 1);
    let grid = Grid {
        title,
        note: format!("{axes}{}", slice_note(&leading)),
        sizes: shown,
        padded: shown,
        tiles: [0, 0],
        legend: legend.map(|(k, own)| (colour(k), text(own))).collect(),
        more: if found.len() > 1 { found.len().saturating_sub(LEGEND) } else { 0 },
        cell: Box::new(move |at| {
            let place = place(at);
            let (address, own) = place.split_last().unwrap_or((&0, &[]));
            let number = found.binary_search_by(|place| place[..].cmp(own)).unwrap_or(0);
            // Without axes, a colour for each of 8 banks shows what is in conflict.
            let number = if own.is_empty() { address.rem_euclid(8) as usize } else { number };
            let lines = if own.is_empty() { Vec::new() } else { vec![text(own)] };
            Cell { lines: [lines, vec![address.to_string()]].concat(), fill: colour(number) }
        }),
    };
    svg(&grid, most)
}

/// The coordinates of a place, with `*` along an axis where every coordinate has a copy.
pub fn label(placement: &Placement, place: &[i64]) -> String {
    let coordinate = |(axis, at): (usize, &i64)| match axis < placement.axes().len() {
        true if placement.copies(axis) == Copies::All => "*".to_string(),
        _ => at.to_string(),
    };
    place.iter().enumerate().map(coordinate).collect::<Vec<_>>().join("/")
}

/// The size of the first tile along each dimension; 0 if the tile has none for it alone.
pub fn tile_sizes(sizes: &[i64], layout: &Layout) -> Vec<i64> {
    let mut found = vec![0; sizes.len()];
    let Some(tile) = layout.tiles.first() else { return found };
    for (k, &dim) in layout.minor_to_major.iter().enumerate().take(tile.len()) {
        let entry = tile.len() - 1 - k;
        let merged = entry > 0 && tile[entry - 1] == TileEntry::Combine;
        if let (TileEntry::Size(t), false) = (tile[entry], merged) {
            found[dim] = t;
        }
    }
    found
}

/// The logical sizes rounded up to whole tiles of the first tile.
pub fn padded_sizes(sizes: &[i64], layout: &Layout) -> Vec<i64> {
    let up = |(size, tile): (&i64, i64)| match tile {
        0 => *size,
        t => (size.div_euclid(t) + i64::from(size % t != 0)).checked_mul(t).unwrap_or(*size),
    };
    sizes.iter().zip(tile_sizes(sizes, layout)).map(up).collect()
}

/// The last two sizes; `missing` if there are fewer.
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
    // The places to draw, in order; at most one per cell.
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

/// A light colour for each number, with neighbours far apart.
fn colour(number: usize) -> String {
    // The golden angle.
    format!("hsl({}, 70%, 82%)", number * 137 % 360)
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

fn svg(grid: &Grid, most: [i64; 2]) -> String {
    let mut drawing = Drawing::new(grid, most);
    drawing.titles(grid);
    drawing.cells(grid);
    drawing.tiles(grid);
    drawing.legend(grid);
    drawing.out + "</svg>\n"
}

/// The text of an SVG drawing.
struct Drawing {
    out: String,
    /// The drawn rows and columns.
    shown: [i64; 2],
    height: i64,
}

/// The left edge of a column, and the upper edge of a row.
fn x(column: i64) -> i64 {
    LEFT + column * WIDTH
}

fn y(row: i64) -> i64 {
    TOP + row * HEIGHT
}

impl Drawing {
    fn new(grid: &Grid, most: [i64; 2]) -> Drawing {
        let shown = [0, 1].map(|axis| grid.padded[axis].min(most[axis]).min(MOST));
        let legend = (grid.legend.len() + usize::from(grid.more > 0)) as i64 * 20;
        let (width, height) = (x(shown[1]) + RIGHT, TOP + (shown[0] * HEIGHT).max(legend) + 32);
        let mut drawing = Drawing { out: String::new(), shown, height };
        drawing.line(format_args!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" font-family=\"monospace\" font-size=\"11\">"
        ));
        drawing.line(format_args!("<rect width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>"));
        drawing
    }

    fn line(&mut self, text: Arguments) {
        // Writing into a `String` cannot fail.
        let _ = writeln!(self.out, "{text}");
    }

    fn text(&mut self, x: i64, y: i64, anchor: &str, text: &str) {
        let text = escaped(text);
        self.line(format_args!("<text x=\"{x}\" y=\"{y}\" text-anchor=\"{anchor}\">{text}</text>"));
    }

    fn titles(&mut self, grid: &Grid) {
        // A layout may have hundreds of parts.
        let title: String = grid.title.chars().take(200).collect();
        self.text(LEFT, 18, "start", &title);
        self.text(LEFT, 36, "start", &format!("{}; grey is padding", grid.note));
    }

    /// Draws the cells, with the numbers of their rows and columns.
    fn cells(&mut self, grid: &Grid) {
        for column in 0..self.shown[1].min(grid.sizes[1]) {
            self.text(x(column) + WIDTH / 2, TOP - 6, "middle", &column.to_string());
        }
        for row in 0..self.shown[0] {
            if row < grid.sizes[0] {
                self.text(LEFT - 6, y(row) + HEIGHT / 2 + 4, "end", &row.to_string());
            }
            for column in 0..self.shown[1] {
                let element = row < grid.sizes[0] && column < grid.sizes[1];
                let padding = || Cell { lines: Vec::new(), fill: "#c8c8c8".to_string() };
                self.cell(row, column, if element { (grid.cell)([row, column]) } else { padding() });
            }
        }
    }

    fn cell(&mut self, row: i64, column: i64, Cell { lines, fill }: Cell) {
        self.line(format_args!(
            "<rect x=\"{}\" y=\"{}\" width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"{fill}\" stroke=\"#888888\" stroke-width=\"0.5\"/>",
            x(column),
            y(row)
        ));
        let first = if lines.len() == 1 { 20 } else { 14 };
        for (k, label) in lines.iter().enumerate() {
            self.text(x(column) + WIDTH / 2, y(row) + first + k as i64 * 13, "middle", label);
        }
    }

    /// Draws the borders of the first tiles, and the number of omitted rows and columns.
    fn tiles(&mut self, grid: &Grid) {
        let (right, bottom) = (x(self.shown[1]), y(self.shown[0]));
        for (axis, tile) in grid.tiles.iter().enumerate().filter(|(_, tile)| **tile > 0) {
            for edge in (0..=self.shown[axis]).step_by(usize::try_from(*tile).unwrap_or(usize::MAX)) {
                let (x1, y1, x2, y2) =
                    if axis == 0 { (LEFT, y(edge), right, y(edge)) } else { (x(edge), TOP, x(edge), bottom) };
                self.line(format_args!(
                    "<line x1=\"{x1}\" y1=\"{y1}\" x2=\"{x2}\" y2=\"{y2}\" stroke=\"#000000\" stroke-width=\"2\"/>"
                ));
            }
        }
        let left = [(grid.padded[0] - self.shown[0], "rows"), (grid.padded[1] - self.shown[1], "columns")];
        let left = left.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{n} more {what}"));
        let left: Vec<String> = left.collect();
        if !left.is_empty() {
            self.text(LEFT, self.height - 10, "start", &format!(".. {}", left.join(", ")));
        }
    }

    fn legend(&mut self, grid: &Grid) {
        let at = x(self.shown[1]) + 16;
        for (k, (colour, name)) in grid.legend.iter().enumerate() {
            let top = TOP + k as i64 * 20;
            self.line(format_args!(
                "<rect x=\"{at}\" y=\"{top}\" width=\"14\" height=\"14\" fill=\"{colour}\" stroke=\"#888888\"/>"
            ));
            self.text(at + 20, top + 11, "start", name);
        }
        if grid.more > 0 {
            let top = TOP + grid.legend.len() as i64 * 20;
            self.text(at, top + 11, "start", &format!(".. {} more places", grid.more));
        }
    }
}
