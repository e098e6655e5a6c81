//! The picture of offsets: the position of each element of an array in memory.
//!
//! Rows are the last dimension but one, columns the last; an array of a higher rank is drawn slice by slice. The sizes
//! are rounded up to whole tiles of the first tile, with a dot for each offset of padding:
//!
//! ```text
//!         0  1  2  3  4
//!     0   0  1  4  5  8  .
//!     1   2  3  6  7 10  .
//!     2  12 13 16 17 20  .
//!         .  .  .  .  .  .
//! ```

use tensor_layout::drawing::padded_sizes;
use tensor_layout::tiled::{Expansion, Layout};

/// The most drawn rows, columns and slices.
const ROWS: i64 = 24;
const COLUMNS: i64 = 16;
pub const SLICES: i64 = 4;

/// Draws the offsets; empty where there are no elements or no offsets.
pub fn picture(expansion: &Expansion, layout: &Layout) -> String {
    let sizes = expansion.logical_sizes();
    if expansion.is_split_across_memories() || sizes.contains(&0) {
        return String::new();
    }
    let mut out = String::new();
    slices(&mut out, sizes, &padded_sizes(sizes, layout), |index| {
        expansion.offset(index).map_or_else(|error| error.to_string(), |offset| offset.to_string())
    });
    out
}

/// Draws the text `cell` of each index, slice by slice, and a dot for an index outside `sizes`.
pub fn slices(out: &mut String, sizes: &[i64], padded: &[i64], cell: impl Fn(&[i64]) -> String) {
    let (leading, plane) = sizes.split_at(sizes.len().saturating_sub(2));
    let mut slice = vec![0; leading.len()];
    for drawn in 0.. {
        if drawn == SLICES {
            // The product of the leading sizes alone may not fit in 64 bits; it is only printed.
            let all = leading.iter().map(|size| i128::from(*size)).product::<i128>();
            out.push_str(&format!("  .. {} more slices\n", all - i128::from(SLICES)));
            break;
        }
        if !leading.is_empty() {
            let index: Vec<_> = slice.iter().map(i64::to_string).collect();
            out.push_str(&format!("  [{},:,:]\n", index.join(",")));
        }
        draw(out, &cell, &slice, plane, &padded[leading.len()..]);
        if !next(&mut slice, leading) {
            break;
        }
    }
}

/// Moves to the next index, the last dimension fastest; false after the last index.
pub fn next(index: &mut [i64], sizes: &[i64]) -> bool {
    for (i, size) in index.iter_mut().zip(sizes).rev() {
        *i += 1;
        if *i < *size {
            return true;
        }
        *i = 0;
    }
    false
}

/// Draws one slice: a grid, a row for rank 1, one number for a scalar.
fn draw(out: &mut String, content: &impl Fn(&[i64]) -> String, slice: &[i64], plane: &[i64], padded: &[i64]) {
    let of = |sizes: &[i64]| match *sizes {
        [rows, columns] => (rows, columns),
        [columns] => (1, columns),
        _ => (1, 1),
    };
    let ((rows, columns), (all_rows, all_columns)) = (of(plane), of(padded));
    let (shown_rows, shown_columns) = (all_rows.min(ROWS), all_columns.min(COLUMNS));
    let cell = |row: i64, column: i64| {
        if row >= rows || column >= columns {
            return ".".to_string();
        }
        content(&[slice, &[row, column][2 - plane.len()..]].concat())
    };
    let grid: Vec<Vec<String>> =
        (0..shown_rows).map(|row| (0..shown_columns).map(|column| cell(row, column)).collect()).collect();
    let head: Vec<String> =
        (0..shown_columns).map(|column| if column < columns { column.to_string() } else { String::new() }).collect();
    let width = grid.iter().flatten().chain(&head).map(String::len).max().unwrap_or(1);
    let mut line = |label: String, cells: &[String]| {
        let cells: String = cells.iter().map(|cell| format!(" {cell:>width$}")).collect();
        let line = format!("  {label:>4}  {cells}");
        out.push_str(line.trim_end());
        out.push('\n');
    };
    if !plane.is_empty() {
        line(String::new(), &head);
    }
    for (row, cells) in grid.iter().enumerate() {
        let named = plane.len() == 2 && (row as i64) < rows;
        line(if named { row.to_string() } else { String::new() }, cells);
    }
    if all_rows > shown_rows || all_columns > shown_columns {
        let more = |n: i64, what: &str| (n > 0).then(|| format!("{n} more {what}"));
        let left = [more(all_rows - shown_rows, "rows"), more(all_columns - shown_columns, "columns")];
        let left: Vec<_> = left.into_iter().flatten().collect();
        out.push_str(&format!("  .. {}\n", left.join(", ")));
    }
}
