//! Hovers and hints for layouts in a text, in types such as `tensor<3x5xf32, #layout.tiled<{1,0:T(2,2)}>>` and in
//! aliases.
//!
//! A hover over a layout gives the size of its type, and a picture of the offsets of its first elements:
//!
//! ```text
//!  0  1 |  4  5 |  8  .
//!  2  3 |  6  7 | 10  .
//! ------+-------+------
//! 12 13 | 16 17 | 20  .
//!  .  . |  .  . |  .  .
//! ```
//!
//! A number is the offset of an element in elements, a dot is padding, lines separate tiles. After each type with a
//! layout an inlay hint gives the bytes with padding.

use crate::documents::Positions;
use crate::hover::{self, Facts};
use crate::written::{self, Aliases, types};
use melior::Context;
use serde_json::{Value, json};
use std::cell::OnceCell;
use std::collections::HashMap;
use std::ops::Range;
use tensor_layout::tiled::{self, Expansion, TileEntry};

/// The most rows and columns of a picture.
const MAX_SHOWN: i64 = 8;

/// The most cached hints.
const MAX_KEPT: usize = 10_000;

/// LSP's `InlayHintKind.Type`.
const TYPE: u8 = 1;

/// A cache of the hints of types. The context that parses types is created for the first one.
#[derive(Default)]
pub struct Types {
    context: OnceCell<Context>,
    /// The hints, by the text of the type with aliases resolved.
    hints: HashMap<String, Option<String>>,
}

impl Types {
    /// The markdown about the layout, or the alias of one, at an offset.
    pub fn hover(&self, text: &str, offset: usize) -> Option<String> {
        let range = written::attribute_at(text, offset)?;
        let aliases = Aliases::new(text);
        let written = &text[range.clone()];
        let layout = aliases.get(written, range.start).unwrap_or(written);
        let tiled = layout.strip_prefix("#layout.tiled<").and_then(|inner| inner.strip_suffix('>'));
        let tiled = tiled.and_then(|inner| tiled::Layout::parse(inner).ok());
        let found = written::type_around(text, &range);
        let found = found.and_then(|(start, found)| aliases.resolve(found, start));
        let of_type = found.and_then(|found| {
            let lines = hover::lines(self.context(), &found)?;
            Some((format!("`{found}`\n\n{lines}"), found))
        });
        let picture = tiled.and_then(|layout| {
            let sizes = match &of_type {
                Some((_, found)) => sizes(found)?,
                None => sizes_of_tile(&layout)?,
            };
            picture(&sizes, &layout)
        });
        match (of_type, picture) {
            (None, None) => None,
            (None, Some(picture)) => Some(format!("`{layout}`\n\n{picture}")),
            (Some((facts, _)), picture) => Some(match picture {
                Some(picture) => format!("{facts}\n{picture}"),
                None => facts,
            }),
        }
    }

    /// The inlay hints of the types that begin in a range. Comments have none.
    pub fn hints(&mut self, text: &str, range: Range<usize>) -> Vec<Value> {
        let aliases = Aliases::new(text);
        let mut positions = Positions::new(text);
        let mut hints = Vec::new();
        let line = text[..range.start].rfind('\n').map_or(0, |end| end + 1);
        let (mut at, mut comment) = (line, false);
        for (start, found) in types(&text[line..]).map(|(start, found)| (line + start, found)) {
            if start >= range.end {
                break;
            }
            let passed = &text[at..start];
            let (new_line, rest) = passed.rfind('\n').map_or((false, passed), |end| (true, &passed[end..]));
            comment = !new_line && comment || rest.contains("//");
            at = start;
            if comment || start < range.start {
                continue;
            }
            if let Some(label) = aliases.resolve(found, start).and_then(|found| self.hint(found)) {
                hints.push((start + found.len(), label));
            }
        }
        // The hint of a nested type comes before the hint of the outer type, which begins first.
        hints.sort_by_key(|(end, _)| *end);
        let hint =
            |(end, label)| json!({"position": positions.of(end), "label": label, "kind": TYPE, "paddingLeft": true});
        hints.into_iter().map(hint).collect()
    }

    fn context(&self) -> &Context {
        self.context.get_or_init(hover::context_of_types)
    }

    fn hint(&mut self, found: String) -> Option<String> {
        if let Some(known) = self.hints.get(&found) {
            return known.clone();
        }
        if self.hints.len() >= MAX_KEPT {
            self.hints.clear();
        }
        let hint = Facts::of(self.context(), &found).map(|layout| written::waste(layout.amounts));
        self.hints.insert(found, hint.clone());
        hint
    }
}

/// The static sizes of a type.
fn sizes(found: &str) -> Option<Vec<i64>> {
    let layout = found.find(written::ATTRIBUTE)?;
    written::shape_before(found, layout)?.sizes.into_iter().collect()
}

/// The sizes of an array of one tile; `None` without tiles.
fn sizes_of_tile(layout: &tiled::Layout) -> Option<Vec<i64>> {
    let tile = layout.tiles.first()?;
    let mut sizes = vec![1; layout.rank()];
    for (dim, entry) in layout.minor_to_major.iter().zip(tile.iter().rev()) {
        if let TileEntry::Size(size) = entry {
            sizes[*dim] = *size;
        }
    }
    Some(sizes)
}

/// The offsets of the first elements along the two most minor dimensions, as text; `None` for an array without elements
/// or dimensions.
fn picture(sizes: &[i64], layout: &tiled::Layout) -> Option<String> {
    let expansion = Expansion::new(sizes, layout).ok()?;
    let tile = |from_minor: usize| {
        let entry = layout.tiles.first().and_then(|tile| tile.iter().rev().nth(from_minor));
        if let Some(TileEntry::Size(size)) = entry { *size } else { 1 }
    };
    let minor = *layout.minor_to_major.first()?;
    let second = layout.minor_to_major.get(1).copied();
    let shown = |dim: Option<usize>, tile: i64| {
        dim.map_or(1, |dim| {
            (sizes[dim].clamp(0, MAX_SHOWN) + tile - 1).div_euclid(tile).saturating_mul(tile).min(MAX_SHOWN)
        })
    };
    let (tile_rows, tile_columns) = (tile(1).min(1 << 32), tile(0).min(1 << 32));
    let (rows, columns) = (shown(second, tile_rows), shown(Some(minor), tile_columns));
    let cell = |row: i64, column: i64| {
        let mut index = vec![0; sizes.len()];
        index[minor] = column;
        if let Some(second) = second {
            index[second] = row;
        }
        // An index outside of the array is padding.
        expansion.offset(&index).map_or(".".into(), |offset| offset.to_string())
    };
    let cells: Vec<Vec<String>> = (0..rows).map(|row| (0..columns).map(|column| cell(row, column)).collect()).collect();
    let width = cells.iter().flatten().map(String::len).max()?;
    let mut lines: Vec<String> = Vec::new();
    for (row, cells) in (0..).zip(&cells) {
        let tiles = cells.chunks(if tile_columns > 1 { tile_columns as usize } else { cells.len() });
        let tiles = tiles.map(|cells| cells.iter().map(|cell| format!("{cell:>width$}")).collect::<Vec<_>>().join(" "));
        let line = tiles.collect::<Vec<_>>().join(" | ");
        if tile_rows > 1 && row > 0 && row % tile_rows == 0 {
            lines.push(line.chars().map(|c| if c == '|' { '+' } else { '-' }).collect());
        }
        lines.push(line);
    }
    let across =
        second.map_or(format!("dimension {minor} across"), |second| format!("dimension {second} down, {minor} across"));
    Some(format!("Offsets of the first elements, {across}:\n\n```\n{}\n```\n", lines.join("\n")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hover(text: &str, at: &str) -> Option<String> {
        Types::default().hover(text, text.find(at).unwrap())
    }

    #[test]
    fn layouts_are_explained_in_place() {
        let facts = "`tensor<3x5xf32, #layout.tiled<{1,0:T(2,2)}>>`\n\n\
            - 15 elements, 60 bytes; with padding 24 elements, 96 bytes: 37.5 % waste\n\
            - in memory: sizes [2, 3, 2, 2], strides [12, 4, 2, 1]\n\n\
            Offsets of the first elements, dimension 0 down, 1 across:\n\n```\n \
            0  1 |  4  5 |  8  .\n \
            2  3 |  6  7 | 10  .\n\
            ------+-------+------\n\
            12 13 | 16 17 | 20  .\n \
            .  . |  .  . |  .  .\n```\n";
        let written = "é tensor<3x5xf32, #layout.tiled<{1,0:T(2,2)}>>";
        for at in ["#layout", "{1,0", ">>"] {
            assert_eq!(hover(written, at).as_deref(), Some(facts), "{at}");
        }
        assert_eq!(hover(written, "3x5"), None);
        let alias = "#t = #layout.tiled<{1,0:T(2,2)}>\n %x: tensor<3x5xf32, #t>";
        assert_eq!(hover(alias, "#t>").as_deref(), Some(facts));
        let tile = "`#layout.tiled<{1,0:T(2,2)}>`\n\nOffsets of the first elements, dimension 0 down, 1 across:\n\n```\n0 1\n2 3\n```\n";
        assert_eq!(hover(alias, "{1").as_deref(), Some(tile));
        let open = hover("memref<?x3xf32, #layout.tiled<{0,1}>>", "{0").unwrap();
        assert!(open.ends_with("n0 * 12 bytes\n- in memory: sizes [n0, 3], strides [1, n0]\n"), "{open}");
        let spread = hover("tensor<10x7xf32, #layout.tensor_layout<((3:7, 4_PE), (7:1))>>", "(7:1)").unwrap();
        assert!(spread.ends_with("- 21 elements at a place, over PE 4\n"), "{spread}");
    }

    #[test]
    fn pictures_of_all_kinds_of_layouts() {
        for (sizes, layout, lines) in [
            (&[3][..], "{0}", "0 1 2"),
            (&[3], "{0:T(2)}", "0 1 | 2 ."),
            (&[2, 3], "{0,1}", "0 1\n2 3\n4 5"),
            (&[2, 3], "{1,0:T(*,4)}", "0 1 2 .\n3 4 5 ."),
            (&[2, 20], "{1,0:T(2,9223372036854775807)}", ""),
            (&[2, 2, 20], "{2,1,0:T(2,128)(2,1)}", " 0  2  4  6  8 10 12 14\n 1  3  5  7  9 11 13 15"),
            (&[0, 2], "{1,0}", ""),
            (&[], "{:T(8)}", ""),
        ] {
            let picture = picture(sizes, &tiled::Layout::parse(layout).unwrap()).unwrap_or_default();
            let shown = picture.split("```").nth(1).unwrap_or_default();
            assert_eq!(shown.trim_matches('\n'), lines, "{layout}");
        }
    }

    #[test]
    fn hints_are_behind_types_in_the_range() {
        let text = "#t = #layout.tiled<{0:T(4)}>\n// tensor<2xi8, #t>\n%a: tensor<2xi8, #t>, memref<5xi8>, tensor<?xi8, #t>\n\
            tensor<3xf32, #layout.tiled<{0";
        let labels = |range| {
            let hints = Types::default().hints(text, range);
            hints.iter().map(|hint| format!("{} {}", hint["position"], hint["label"])).collect::<Vec<_>>()
        };
        let only = "{\"character\":20,\"line\":2} \"4 bytes, 50.0 % waste\"";
        assert_eq!(labels(0..text.len()), [only]);
        assert_eq!(labels(50..54), [only]);
        assert_eq!(labels(60..text.len()), Vec::<String>::new());
        assert_eq!(labels(34..45), Vec::<String>::new());
    }
}
