//! What the language server shows of a layout: sizes, waste and strides.
//!
//! MLIR's server shows the types of values and operations under the pointer, and has no way for a dialect to say more. So
//! it runs as a child, and what it answers passes through here: behind a hover whose text has types with layouts, such as
//! `tensor<3x5xf32, #layout.tiled<{1,0:T(2,2)}>>`, stands what these layouts do. Everything else passes as it is. A layout
//! without a type, which is what hovering over an alias `#t` shows, has no sizes: nothing can be said of it.

use serde_json::Value;
use std::fmt::Write as _;
use std::io::{self, BufRead, Read, Write};
use tensor_layout::places::Placement;
use tensor_layout::places::TensorLayout;
use tensor_layout::tiled::Expansion;
use tensor_layout::tiled::Layout;

/// The types that are explained in one hover: an operation may have thousands.
const MOST: usize = 8;

/// Copies the messages of a server, `Content-Length: N`, an empty line and N bytes each, and anything else that it says.
pub fn copy(mut from: impl BufRead, mut to: impl Write) -> io::Result<()> {
    let mut line = Vec::new();
    loop {
        line.clear();
        if from.read_until(b'\n', &mut line)? == 0 {
            return Ok(());
        }
        let length =
            str::from_utf8(&line).ok().and_then(|text| text.strip_prefix("Content-Length: ")?.trim().parse().ok());
        let Some(length) = length else {
            to.write_all(&line)?;
            to.flush()?;
            continue;
        };
        // Other headers of a message, up to the empty line.
        let mut headers = Vec::new();
        while line != b"\r\n" && line != b"\n" {
            line.clear();
            if from.read_until(b'\n', &mut line)? == 0 {
                break;
            }
            headers.extend_from_slice(&line);
        }
        let mut body = Vec::new();
        from.by_ref().take(length).read_to_end(&mut body)?;
        let body = explained(&body).unwrap_or(body);
        write!(to, "Content-Length: {}\r\n", body.len())?;
        to.write_all(&headers)?;
        to.write_all(&body)?;
        to.flush()?;
    }
}

/// A message that answers a hover, with what its layouts do; `None` where there is nothing to say.
fn explained(body: &[u8]) -> Option<Vec<u8>> {
    let mut message: Value = serde_json::from_slice(body).ok()?;
    let shown = message.get_mut("result")?.get_mut("contents")?.get_mut("value")?;
    let Value::String(text) = shown else { return None };
    let mut seen: Vec<&str> = Vec::new();
    let mut facts = String::new();
    for found in types(text) {
        if seen.len() < MOST && !seen.contains(&found) {
            seen.push(found);
            if let Some(of_type) = of_type(found) {
                let _ = write!(facts, "\n`{found}`\n\n{of_type}");
            }
        }
    }
    if facts.is_empty() {
        return None;
    }
    text.push_str(&facts);
    match body.contains(&b'\n') {
        true => serde_json::to_vec_pretty(&message).ok(),
        false => serde_json::to_vec(&message).ok(),
    }
}

/// The tensor and memref types in a text, from left to right.
fn types(text: &str) -> impl Iterator<Item = &str> {
    let starts = text.match_indices("tensor<").chain(text.match_indices("memref<"));
    let mut starts: Vec<usize> = starts.map(|(at, _)| at).collect();
    starts.sort();
    starts.into_iter().filter_map(|at| {
        let open = at + "tensor<".len();
        let inside = split(&text[open..]).map(|parts| parts.iter().map(|part| part.len() + 1).sum::<usize>())?;
        Some(&text[at..open + inside])
    })
}

/// The parts between the commas of a text up to the `>` that closes it.
fn split(text: &str) -> Option<Vec<&str>> {
    let (mut parts, mut start, mut depth, mut before) = (Vec::new(), 0, 0usize, ' ');
    for (at, c) in text.char_indices() {
        match c {
            '>' if before == '-' => {}
            '>' if depth == 0 => {
                parts.push(&text[start..at]);
                return Some(parts);
            }
            '<' | '(' | '[' | '{' => depth += 1,
            '>' | ')' | ']' | '}' => depth = depth.checked_sub(1)?,
            ',' if depth == 0 => {
                parts.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
        before = c;
    }
    None
}

/// What the layout of a type does, as lines of markdown; `None` where it has none of ours, or no static sizes.
fn of_type(text: &str) -> Option<String> {
    let parts = split(text.split_once('<')?.1)?;
    let (shape, rest) = parts.split_first()?;
    let (sizes, element) = sizes_and_element(shape)?;
    let body = |name: &str| rest.iter().find_map(|part| part.trim().strip_prefix(name)?.strip_suffix('>'));
    if let Some(text) = body("#layout.tiled<") {
        let layout = Layout::parse(text).ok()?;
        let expansion = Expansion::new(&sizes, &layout).ok()?;
        let (logical, padded) = (expansion.logical_elements().ok()?, expansion.allocated_elements());
        let bits = if layout.element_bits == 0 { (bits(element)? + 7) / 8 * 8 } else { layout.element_bits };
        return Some(format!(
            "- {}\n- in memory: sizes {:?}, strides {:?}\n",
            amounts(logical, padded, Some(bits)),
            expansion.sizes(),
            expansion.strides()
        ));
    }
    let layout = TensorLayout::parse(body("#layout.tensor_layout<")?).ok()?;
    let placement = Placement::new(&layout, Some(&sizes)).ok()?;
    let axes: Vec<String> = placement.axes().iter().zip(placement.extents()).map(|(a, n)| format!("{a} {n}")).collect();
    let spread = if axes.is_empty() { String::new() } else { format!(", over {}", axes.join(", ")) };
    let whole = amounts(placement.elements(), placement.padded_elements(), None);
    Some(format!("- {whole}\n- {} elements at a place{spread}\n", placement.local_elements()))
}

/// Elements and bytes, with padding, and the share of it.
fn amounts(logical: i64, padded: i64, bits: Option<i64>) -> String {
    let amount = |n: i64| match bits {
        Some(bits) => format!("{n} elements, {} bytes", (i128::from(n) * i128::from(bits) + 7) / 8),
        None => format!("{n} elements"),
    };
    let waste = if padded == 0 { 0.0 } else { (padded - logical) as f64 * 100.0 / padded as f64 };
    format!("{}; with padding {}: {waste:.1} % waste", amount(logical), amount(padded))
}

/// The static sizes and the element type of `3x5xf32`.
fn sizes_and_element(mut text: &str) -> Option<(Vec<i64>, &str)> {
    let mut sizes = Vec::new();
    while let Some((size, rest)) = text.split_once('x').filter(|(size, _)| size.bytes().all(|b| b.is_ascii_digit())) {
        sizes.push(size.parse().ok()?);
        text = rest;
    }
    (!text.starts_with('?')).then_some((sizes, text))
}

/// The bits of an element type.
fn bits(element: &str) -> Option<i64> {
    if let Some(part) = element.strip_prefix("complex<").and_then(|part| part.strip_suffix('>')) {
        return bits(part).map(|bits| 2 * bits);
    }
    if element == "index" {
        return Some(64);
    }
    let digits = element.trim_start_matches(|c: char| c.is_ascii_lowercase());
    digits[..digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len())].parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_with_layouts_are_found_and_explained() {
        let text = "(tensor<3x5xf32>) -> tensor<3x5xf32, #layout.tiled<{1,0:T(2,2)}>>, memref<?x4xf8E4M3FN, #layout.tiled<{1,0}>>";
        let found: Vec<_> = types(text).collect();
        assert_eq!(found[1], "tensor<3x5xf32, #layout.tiled<{1,0:T(2,2)}>>");
        assert_eq!(found.len(), 3);
        assert_eq!(of_type(found[0]), None);
        assert_eq!(of_type(found[2]), None);
        let expected = "- 15 elements, 60 bytes; with padding 24 elements, 96 bytes: 37.5 % waste\n\
            - in memory: sizes [2, 3, 2, 2], strides [12, 4, 2, 1]\n";
        assert_eq!(of_type(found[1]).as_deref(), Some(expected));
        let spread = of_type("tensor<10x7xf32, #layout.tensor_layout<(10,7)/((3:7, 4_PE), (7:1))>>");
        let expected = "- 70 elements; with padding 84 elements: 16.7 % waste\n- 21 elements at a place, over PE 4\n";
        assert_eq!(spread.as_deref(), Some(expected));
        for (element, expected) in
            [("f32", 32), ("bf16", 16), ("f8E4M3FN", 8), ("complex<f64>", 128), ("index", 64), ("i1", 1)]
        {
            assert_eq!(bits(element), Some(expected), "{element}");
        }
    }

    #[test]
    fn only_hovers_change() {
        let hover = r#"{"id":1,"result":{"contents":{"value":"Type: `tensor<2xi8, #layout.tiled<{0:T(4)}>>`"}}}"#;
        let other = r#"{"id":1,"result":[]}"#;
        let stream = format!(
            "usage\nContent-Length: {}\r\n\r\n{hover}Content-Length: {}\r\n\r\n{other}",
            hover.len(),
            other.len()
        );
        let mut out = Vec::new();
        copy(stream.as_bytes(), &mut out).unwrap();
        let out = String::from_utf8(out).unwrap();
        let (first, second) = out.strip_prefix("usage\n").unwrap().rsplit_once("Content-Length: ").unwrap();
        assert_eq!(second, format!("{}\r\n\r\n{other}", other.len()));
        let (length, body) = first.split_once("\r\n\r\n").unwrap();
        assert_eq!(length, format!("Content-Length: {}", body.len()));
        assert!(body.contains("50.0 % waste"), "{body}");
    }

    #[test]
    fn text_that_is_no_type_is_left_alone() {
        for text in
            ["tensor<", "tensor<)>", "memref<,>", "tensor<xx, #layout.tiled<", "tensor<99999999999999999999xf32>"]
        {
            types(text).for_each(|found| drop(of_type(found)));
        }
    }
}
