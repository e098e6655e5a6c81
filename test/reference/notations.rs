//! Element offsets of a layout text, computed by the definition of its notation.

use crate::boxes::{indices, position};
use crate::places::Definition;
use crate::tiled::{Memory, lay_out};
use serde_json::Value;
use std::collections::BTreeMap;
use tensor_layout::operations::Shape;
use tensor_layout::places::TensorLayout;
use tensor_layout::tiled::{Layout, TileEntry};

/// All numbers of a text.
fn numbers(text: &str) -> Vec<i64> {
    text.split(|c: char| !c.is_ascii_digit() && c != '-').filter_map(|word| word.parse().ok()).collect()
}

/// The text between the first `from` and the next `to`.
fn between<'a>(text: &'a str, from: &str, to: &str) -> &'a str {
    let rest = &text[text.find(from).unwrap_or_else(|| panic!("{from} in {text}")) + from.len()..];
    &rest[..rest.find(to).unwrap_or_else(|| panic!("{to} in {text}"))]
}

/// The tuples of numbers of a text.
fn tuples(text: &str) -> Vec<Vec<i64>> {
    text.split(')').map(numbers).filter(|tuple| !tuple.is_empty()).collect()
}

/// The offset of each element, in elements and in the order of [`indices`].
pub fn offsets(text: &str, sizes: &[i64]) -> Vec<i64> {
    // Without axes the array is on one device, in the shape's layout.
    let text = text.split_once(" sharding=").or(text.split_once(" #sdy.")).map_or(text, |(shape, _)| shape);
    match text {
        _ if text.contains("#ttg.shared_linear") => shared(text, sizes),
        _ if text.contains("#tpu.tiled") => mosaic(text, sizes),
        _ if text.contains("innerDimsPos") => packed(text, ["innerDimsPos", "innerTileSizes", "outerDimsPerm"], sizes),
        _ if text.contains("linalg.pack") => packed(text, ["inner_dims_pos", "inner_tiles", "outer_dims_perm"], sizes),
        _ if text.contains("affine_map") => affine(between(text, "-> (", ")>"), sizes),
        _ if text.contains("strides=") => numpy(text, sizes),
        _ if text.contains("Layout(") => {
            let tiles = text.split("tiling=").nth(1).unwrap_or("").split("sub").next().unwrap();
            let order = numbers(between(text, "major_to_minor=", ")"));
            let minor_to_major = order.iter().rev().map(|dim| *dim as usize).collect();
            lay_out(sizes, &Layout { minor_to_major, ..tiled(sizes.len(), &tuples(tiles)) }).offsets(sizes)
        }
        _ if text.starts_with("f32[") => {
            let Ok(Shape::Array(array)) = Shape::parse(text) else { panic!("{text}") };
            lay_out(sizes, &array.layout).offsets(sizes)
        }
        _ if text.contains("):(") || text.starts_with(|c: char| c.is_ascii_digit() || c == 'S') => cute(text, sizes),
        _ => Definition::of(&TensorLayout::parse(text).unwrap_or_else(|e| panic!("{text}: {e}"))).addresses(),
    }
}

/// A layout with these tiles.
fn tiled(rank: usize, tiles: &[Vec<i64>]) -> Layout {
    let tile = |tile: &Vec<i64>| tile.iter().map(|size| TileEntry::Size(*size)).collect();
    Layout { tiles: tiles.iter().map(tile).collect(), ..Layout::row_major(rank) }
}

/// NumPy: a stride in bytes along each dimension.
fn numpy(text: &str, sizes: &[i64]) -> Vec<i64> {
    let strides = numbers(between(text, "strides=", ")"));
    let bytes = numbers(text.split("itemsize=").nth(1).unwrap())[0];
    let parts = sizes.iter().zip(strides).map(|(size, stride)| vec![(*size, "Addr", stride / bytes)]);
    Definition::without_copies(sizes, parts.collect()).addresses()
}

/// CuTe: the first of nested sizes varies fastest; then the swizzle, `x xor ((x and y) >> shift)`.
fn cute(text: &str, sizes: &[i64]) -> Vec<i64> {
    let (shape, strides) = text.rsplit(" o ").next().unwrap().split_once(':').unwrap();
    let dims = nested(shape).into_iter().zip(nested(strides)).map(|(extents, strides)| {
        extents.into_iter().zip(strides).rev().map(|(extent, stride)| (extent, "Addr", stride)).collect()
    });
    let addresses = Definition::without_copies(sizes, dims.collect()).addresses();
    let Some(swizzle) = text.strip_prefix("Sw<") else { return addresses };
    let [bits, base, shift] = numbers(swizzle.split('>').next().unwrap())[..] else { panic!("{text}") };
    let parts: Vec<&str> = text.split(" o ").collect();
    let begin = if parts.len() == 3 { numbers(parts[1])[0] } else { 0 };
    let mask = ((1i64 << bits) - 1) << (base + shift.max(0));
    let swizzled = |address: i64| {
        let from = (begin + address) & mask;
        (begin + address) ^ if shift >= 0 { from >> shift } else { from << -shift }
    };
    addresses.into_iter().map(swizzled).collect()
}

/// The numbers for each dimension of a nested tuple, or of one number.
fn nested(text: &str) -> Vec<Vec<i64>> {
    fn flat(value: &Value) -> Vec<i64> {
        value.as_array().map_or_else(|| vec![value.as_i64().unwrap()], |all| all.iter().flat_map(flat).collect())
    }
    let json = text.replace('(', "[").replace(')', "]").replace('_', "");
    let value: Value = serde_json::from_str(&json).unwrap_or_else(|e| panic!("{text}: {e}"));
    value.as_array().map_or_else(|| vec![flat(&value)], |all| all.iter().map(flat).collect())
}

/// Mosaic: strides between first tiles, then nested tiles.
fn mosaic(text: &str, sizes: &[i64]) -> Vec<i64> {
    let (tiles, strides) = between(text, "#tpu.tiled<", ">").rsplit_once(",[").unwrap();
    let (tiles, strides) = (tuples(tiles), numbers(strides));
    let first = tiles.first().cloned().unwrap_or_default();
    let inside = lay_out(&first, &tiled(first.len(), tiles.get(1..).unwrap_or_default())).offsets(&first);
    let untiled = sizes.len() - first.len();
    let units = [&vec![1; untiled][..], &first].concat();
    let offset = |index: Vec<i64>| {
        let tile: i64 = index.iter().zip(&units).zip(&strides).map(|((i, unit), stride)| i / unit * stride).sum();
        let within: Vec<i64> = index.iter().zip(&units).map(|(i, unit)| i % unit).collect();
        tile * inside.len() as i64 + inside[position(&within[untiled..], &first)]
    };
    indices(sizes).into_iter().map(offset).collect()
}

/// Packing: tile numbers in an order, then the indices inside the tiles; the last varies fastest.
fn packed(text: &str, names: [&str; 3], sizes: &[i64]) -> Vec<i64> {
    let [dims, tiles, order] = names.map(|name| numbers(between(text, name, "]")));
    let tile = |dim: i64| dims.iter().position(|d| *d == dim).map_or(1, |k| tiles[k]);
    let all = 0..sizes.len() as i64;
    let units: Vec<i64> = all.clone().map(tile).collect();
    let inner = dims.iter().copied().chain(all.filter(|dim| !dims.contains(dim)));
    let order: Vec<usize> =
        order.iter().map(|dim| 2 * dim).chain(inner.map(|dim| 2 * dim + 1)).map(|k| k as usize).collect();
    Memory::row_major(sizes).cut(&units).transposed(&order).offsets(sizes)
}

/// Affine maps, element by element.
fn affine(results: &str, sizes: &[i64]) -> Vec<i64> {
    indices(sizes).iter().map(|index| affine_offset(results, index, sizes)).collect()
}

/// Affine maps: the results are an index, with sizes of one more than each result's maximum.
fn affine_offset(results: &str, index: &[i64], sizes: &[i64]) -> i64 {
    let words = results.replace('(', " ( ").replace(')', " ) ").replace(',', " , ");
    let mut words: Vec<&str> = words.split_whitespace().rev().collect();
    let mut offset = 0;
    loop {
        let (value, most) = sum(&mut words, index, sizes);
        offset = offset * (most + 1) + value;
        match words.pop() {
            Some(",") => {}
            None => return offset,
            other => panic!("{other:?} in {results}"),
        }
    }
}

/// A value and its maximum by interval arithmetic on each operation. Words are in reverse.
fn sum(words: &mut Vec<&str>, index: &[i64], sizes: &[i64]) -> (i64, i64) {
    let mut all = product(words, index, sizes);
    while let Some(sign @ (&"+" | &"-")) = words.last() {
        let sign = *sign;
        words.pop();
        let term = product(words, index, sizes);
        // The minimum of the subtrahend is unknown here; a single result needs no size.
        all = if sign == "+" { (all.0 + term.0, all.1 + term.1) } else { (all.0 - term.0, all.1) };
    }
    all
}

/// The minimum of the operand is unknown here; a single result needs no size.
fn negated((value, most): (i64, i64)) -> (i64, i64) {
    (-value, most)
}

fn product(words: &mut Vec<&str>, index: &[i64], sizes: &[i64]) -> (i64, i64) {
    let mut value = match words.pop().unwrap() {
        "(" => {
            let inside = sum(words, index, sizes);
            assert_eq!(words.pop(), Some(")"));
            inside
        }
        "-" => negated(product(words, index, sizes)),
        word if word.len() > 1 && word.starts_with('-') => {
            words.push(&word[1..]);
            negated(product(words, index, sizes))
        }
        word => match word.strip_prefix('d') {
            Some(dim) => {
                let dim: usize = dim.parse().unwrap();
                (index[dim], sizes[dim] - 1)
            }
            None => {
                let number = word.parse().unwrap_or_else(|_| panic!("{word}"));
                (number, number)
            }
        },
    };
    while let Some(operation @ (&"*" | &"floordiv" | &"mod")) = words.last() {
        let operation = *operation;
        words.pop();
        let by: i64 = words.pop().unwrap().parse().unwrap();
        value = match operation {
            "*" => (value.0 * by, value.1 * by),
            "floordiv" => (value.0.div_euclid(by), value.1 / by),
            _ => (value.0.rem_euclid(by), by - 1),
        };
    }
    value
}

/// The bases of a Triton input.
pub fn bases(text: &str, input: &str) -> Vec<Vec<i64>> {
    match text.contains(&format!("{input} = [[")) {
        true => between(text, &format!("{input} = [["), "]]").split("], [").map(numbers).collect(),
        false => Vec::new(),
    }
}

/// The element at a place: the exclusive or of its bits' bases.
pub fn element(bases: &[Vec<i64>], place: i64, rank: usize) -> Vec<i64> {
    let on = bases.iter().enumerate().filter(|(bit, _)| place >> bit & 1 == 1);
    on.fold(vec![0; rank], |all, (_, basis)| all.iter().zip(basis).map(|(a, b)| a ^ b).collect())
}

/// Shared memory: the inverse of the map from offset to element.
fn shared(text: &str, sizes: &[i64]) -> Vec<i64> {
    let offset = bases(text, "offset");
    let places: BTreeMap<Vec<i64>, i64> =
        (0..1 << offset.len()).map(|at| (element(&offset, at, sizes.len()), at)).collect();
    indices(sizes).iter().map(|index| places[index]).collect()
}
