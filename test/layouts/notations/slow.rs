//! Element offsets of a layout text, computed by the definition of its notation. Shares no code with the crate under
//! test, except for tiled layouts and TensorLayouts, which other tests define.

use serde_json::Value;
use std::collections::BTreeMap;
use tensor_layout::operations::Shape;
use tensor_layout::places::Placement;
use tensor_layout::tiled::Expansion;

/// All indices of a box.
pub fn indices(sizes: &[i64]) -> Vec<Vec<i64>> {
    sizes.iter().fold(vec![Vec::new()], |all, size| {
        all.iter().flat_map(|index| (0..*size).map(move |i| [&index[..], &[i]].concat())).collect()
    })
}

/// All numbers of a text.
fn numbers(text: &str) -> Vec<i64> {
    text.split(|c: char| !c.is_ascii_digit() && c != '-').filter_map(|word| word.parse().ok()).collect()
}

/// The text between the first `from` and the next `to`.
fn between<'a>(text: &'a str, from: &str, to: &str) -> &'a str {
    let rest = &text[text.find(from).unwrap_or_else(|| panic!("{from} in {text}")) + from.len()..];
    &rest[..rest.find(to).unwrap_or_else(|| panic!("{to} in {text}"))]
}

/// A function from an element's index to its offset.
type Rule<'a> = dyn Fn(&[i64]) -> i64 + 'a;

/// The offset of each element, in elements and in the order of [`indices`].
pub fn offsets(text: &str, sizes: &[i64]) -> Vec<i64> {
    // Without axes the array is on one device, in the shape's layout.
    let text = text.split_once(" sharding=").or(text.split_once(" #sdy.")).map_or(text, |(shape, _)| shape);
    let rule: Box<Rule> = match text {
        _ if text.contains("#ttg.shared_linear") => return shared(text, sizes),
        _ if text.contains("#tpu.tiled") => Box::new(|index| mosaic(text, index)),
        _ if text.contains("innerDimsPos") => Box::new(|index| {
            let list = |name| numbers(between(text, name, "]"));
            packed(&list("innerDimsPos"), &list("innerTileSizes"), &list("outerDimsPerm"), sizes, index)
        }),
        _ if text.contains("linalg.pack") => Box::new(|index| {
            let list = |name| numbers(between(text, name, "]"));
            packed(&list("inner_dims_pos"), &list("inner_tiles"), &list("outer_dims_perm"), sizes, index)
        }),
        _ if text.contains("affine_map") => Box::new(|index| affine(between(text, "-> (", ")>"), index, sizes)),
        _ if text.contains("strides=") => Box::new(|index| {
            let strides = numbers(between(text, "strides=", ")"));
            let bytes: i64 = index.iter().zip(strides).map(|(i, stride)| i * stride).sum();
            bytes / numbers(text.split("itemsize=").nth(1).unwrap())[0]
        }),
        _ if text.contains("Layout(") => {
            let tiles = text.split("tiling=").nth(1).unwrap_or("").split("sub").next().unwrap();
            let tiles: String =
                tiles.split(')').map(numbers).filter(|tile| !tile.is_empty()).map(|t| format!("{t:?}")).collect();
            let order: Vec<String> =
                numbers(between(text, "major_to_minor=", ")")).iter().rev().map(i64::to_string).collect();
            let tiles = tiles.replace('[', "(").replace(']', ")").replace(' ', "");
            let tiles = if tiles.is_empty() { String::new() } else { format!(":T{tiles}") };
            let sizes: Vec<String> = sizes.iter().map(i64::to_string).collect();
            let shape = format!("f32[{}]{{{}{tiles}}}", sizes.join(","), order.join(","));
            return offsets(&shape, &numbers(&sizes.join(",")));
        }
        _ if text.starts_with("f32[") => {
            let Ok(Shape::Array(array)) = Shape::parse(text) else { panic!("{text}") };
            let expansion = Expansion::new(sizes, &array.layout).unwrap();
            Box::new(move |index| expansion.offset(index).unwrap())
        }
        _ if text.contains("):(") || text.starts_with(|c: char| c.is_ascii_digit() || c == 'S') => {
            Box::new(|index| cute(text, index))
        }
        _ => {
            let placement = Placement::parse(text).unwrap_or_else(|e| panic!("{text}: {:?}", e.error));
            Box::new(move |index| *placement.place(index).unwrap().last().unwrap())
        }
    };
    indices(sizes).iter().map(|index| rule(index)).collect()
}

/// CuTe: the first of nested sizes varies fastest; then the swizzle, `x xor ((x and y) >> shift)`.
fn cute(text: &str, index: &[i64]) -> i64 {
    let layout = text.rsplit(" o ").next().unwrap();
    let split = layout.find(':').unwrap();
    let json = |text: &str| -> Value {
        serde_json::from_str(&text.replace('(', "[").replace(')', "]").replace('_', ""))
            .unwrap_or_else(|e| panic!("{text}: {e}"))
    };
    let (shape, strides) = (json(&layout[..split]), json(&layout[split + 1..]));
    let mut address = match (&shape, &strides) {
        (Value::Array(shape), Value::Array(strides)) => {
            shape.iter().zip(strides).zip(index).map(|((shape, stride), i)| along(shape, stride, &mut i.clone())).sum()
        }
        _ => along(&shape, &strides, &mut index[0].clone()),
    };
    if let Some(swizzle) = text.strip_prefix("Sw<") {
        let [bits, base, shift] = numbers(swizzle.split('>').next().unwrap())[..] else { panic!("{text}") };
        let parts: Vec<&str> = text.split(" o ").collect();
        if parts.len() == 3 {
            address += numbers(parts[1])[0];
        }
        let mask = ((1i64 << bits) - 1) << (base + shift.max(0));
        address ^= if shift >= 0 { (address & mask) >> shift } else { (address & mask) << -shift };
    }
    address
}

/// Takes the digits of `rest` for these nested sizes, the first one first.
fn along(shape: &Value, stride: &Value, rest: &mut i64) -> i64 {
    match (shape, stride) {
        (Value::Array(shape), Value::Array(stride)) => shape.iter().zip(stride).map(|(n, d)| along(n, d, rest)).sum(),
        _ => {
            let (n, d) = (shape.as_i64().unwrap(), stride.as_i64().unwrap());
            let digit = *rest % n;
            *rest /= n;
            digit * d
        }
    }
}

/// Mosaic: strides between first tiles, then nested tiles.
fn mosaic(text: &str, index: &[i64]) -> i64 {
    let attribute = between(text, "#tpu.tiled<", ">");
    let (tiles, strides) = attribute.rsplit_once(",[").unwrap();
    let tiles: Vec<Vec<i64>> = tiles.split(')').map(numbers).filter(|tile| !tile.is_empty()).collect();
    let strides = numbers(strides);
    let first = tiles.first().cloned().unwrap_or_default();
    let untiled = index.len() - first.len();
    let whole: i64 = first.iter().product();
    let mut offset = 0;
    let (mut inside, mut sizes) = (Vec::new(), Vec::new());
    for (dim, i) in index.iter().enumerate() {
        let tile = if dim < untiled { 1 } else { first[dim - untiled] };
        offset += i / tile * strides[dim] * whole;
        if dim >= untiled {
            inside.push(i % tile);
            sizes.push(tile);
        }
    }
    for tile in tiles.iter().skip(1) {
        let from = inside.len() - tile.len();
        for (k, t) in tile.iter().enumerate() {
            let (i, n) = (inside[from + k], sizes[from + k]);
            inside.push(i % t);
            sizes.push(*t);
            (inside[from + k], sizes[from + k]) = (i / t, n / t);
        }
    }
    offset + inside.iter().zip(sizes).fold(0, |sum, (i, n)| sum * n + i)
}

/// Packing: tile numbers in an order, then the indices inside the tiles; the last varies fastest.
fn packed(dims: &[i64], tiles: &[i64], order: &[i64], sizes: &[i64], index: &[i64]) -> i64 {
    let tile = |dim: i64| dims.iter().position(|d| *d == dim).map_or(1, |k| tiles[k]);
    let outer = order.iter().map(|dim| {
        let (t, d) = (tile(*dim), *dim as usize);
        (index[d] / t, (sizes[d] + t - 1) / t)
    });
    let inner = dims.iter().zip(tiles).map(|(dim, t)| (index[*dim as usize] % t, *t));
    outer.chain(inner).fold(0, |sum, (i, n)| sum * n + i)
}

/// Affine maps: the results are an index, with sizes of one more than each result's maximum.
fn affine(results: &str, index: &[i64], sizes: &[i64]) -> i64 {
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
