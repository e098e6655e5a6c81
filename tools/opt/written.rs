//! Layouts in a text that may be wrong or unfinished.
//!
//! Only brackets in a window before the cursor are examined, so the time does not grow with the file.

use std::collections::HashMap;
use std::ops::Range;
use tensor_layout::element::ElementType;
use tensor_layout::tiled::{Expansion, Layout};

/// The prefix of every attribute of the dialect.
pub const ATTRIBUTE: &str = "#layout.";

/// The most examined bytes before the cursor, and the most bytes of a type.
pub const WINDOW: usize = 1 << 16;

/// The deepest brackets of an explained type: MLIR's parser is recursive.
pub const MAX_DEPTH: usize = 64;

/// The sizes of a type, `None` for dynamic ones, and its element type, where the maths knows it.
#[derive(Debug, PartialEq)]
pub struct Shape {
    pub sizes: Vec<Option<i64>>,
    pub element: Option<ElementType>,
}

/// The length of a text up to the `>` that closes its first bracket, in bytes; `None` where brackets do not match, nest
/// too deep, or close too late.
pub fn length(text: &str) -> Option<usize> {
    let (mut depth, mut before) = (0usize, ' ');
    for (at, c) in text.char_indices() {
        match c {
            _ if at > WINDOW => return None,
            '>' if before == '-' => {}
            '<' | '(' | '[' | '{' if depth == MAX_DEPTH => return None,
            '<' | '(' | '[' | '{' => depth += 1,
            '>' | ')' | ']' | '}' => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return (c == '>').then_some(at + 1);
                }
            }
            _ => {}
        }
        before = c;
    }
    None
}

/// The tensor and memref types in a text, from left to right, each with its first byte.
pub fn types(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let starts = text.match_indices('<').filter_map(|(bracket, _)| {
        let start = bracket.checked_sub("tensor".len())?;
        matches!(
            text.as_bytes()[start..bracket],
            [b't', b'e', b'n', b's', b'o', b'r'] | [b'm', b'e', b'm', b'r', b'e', b'f']
        )
        .then_some(start)
    });
    starts.filter_map(|start| Some((start, &text[start..start + length(&text[start..])?])))
}

/// The aliases of layouts, `#name = #layout.`, in a text.
pub struct Aliases<'a> {
    /// The definitions of each name: the byte after each, and the layout. A text may have several modules.
    known: HashMap<&'a str, Vec<(usize, &'a str)>>,
}

impl<'a> Aliases<'a> {
    /// The aliases that a text defines at the beginning of its lines.
    pub fn new(text: &'a str) -> Aliases<'a> {
        let mut known: HashMap<&str, Vec<(usize, &str)>> = HashMap::new();
        let first = text.starts_with('#').then_some(0);
        for start in first.into_iter().chain(text.match_indices("\n#").map(|(at, _)| at + 1)) {
            let name = alias_name(&text[start..]);
            let Some(value) = text[start + name.len()..].trim_start().strip_prefix('=') else { continue };
            let value = value.trim_start();
            if let (true, Some(length)) = (value.starts_with(ATTRIBUTE), length(value)) {
                let end = text.len() - value.len() + length;
                known.entry(name).or_default().push((end, &value[..length]));
            }
        }
        Aliases { known }
    }

    /// The layout of an alias, its name with `#`, at an offset.
    pub fn get(&self, name: &str, offset: usize) -> Option<&'a str> {
        let all = self.known.get(name)?;
        let before = all.partition_point(|(end, _)| *end <= offset);
        all[..before].last().map(|(_, value)| *value)
    }

    /// The type at an offset with aliases replaced by layouts; `None` where it has no layout of the dialect.
    pub fn resolve(&self, found: &str, offset: usize) -> Option<String> {
        let mut resolved = String::new();
        let mut rest = found;
        while let Some(at) = rest.find('#') {
            let name = alias_name(&rest[at..]);
            resolved.push_str(&rest[..at]);
            resolved.push_str(self.get(name, offset).unwrap_or(name));
            rest = &rest[at + name.len()..];
        }
        resolved.push_str(rest);
        (resolved.contains(ATTRIBUTE) && resolved.len() <= WINDOW).then_some(resolved)
    }
}

/// The alias at the beginning of a text, with its `#`. `#layout` of `#layout.tiled` counts, but no text defines it.
fn alias_name(text: &str) -> &str {
    let end = text[1..].find(|c: char| !c.is_ascii_alphanumeric() && !"_$-".contains(c));
    &text[..end.map_or(text.len(), |end| end + 1)]
}

/// The range of the attribute or alias around an offset, the innermost where they nest.
pub fn attribute_at(text: &str, offset: usize) -> Option<Range<usize>> {
    let start = window(text, offset);
    // The character at the offset belongs to it.
    let end = text[offset..].chars().next().map_or(offset, |c| offset + c.len_utf8());
    text[start..end].rmatch_indices('#').take(MAX_DEPTH).find_map(|(at, _)| {
        let from = start + at;
        let written = &text[from..];
        let length = if written.starts_with(ATTRIBUTE) { length(written)? } else { alias_name(written).len() };
        (offset < from + length).then_some(from..from + length)
    })
}

/// The type around some bytes with its offset, the innermost where they nest.
pub fn type_around<'a>(text: &'a str, inner: &Range<usize>) -> Option<(usize, &'a str)> {
    let start = window(text, inner.start);
    text[start..inner.start].rmatch_indices('<').take(MAX_DEPTH).find_map(|(at, _)| {
        let from = (start + at).checked_sub("tensor".len())?;
        let written = text.get(from..).filter(|text| text.starts_with("tensor<") || text.starts_with("memref<"))?;
        let length = length(written)?;
        (inner.end < from + length).then_some((from, &written[..length]))
    })
}

/// The start of the window before an offset.
pub fn window(text: &str, offset: usize) -> usize {
    (offset.saturating_sub(WINDOW)..=offset).find(|at| text.is_char_boundary(*at)).unwrap_or(offset)
}

/// The typed text, after `#layout.`, of the attribute around an offset; `None` outside of attributes.
pub fn open_attribute(text: &str, offset: usize) -> Option<&str> {
    let before = &text[window(text, offset)..offset];
    let typed = &before[before.rfind(ATTRIBUTE)? + ATTRIBUTE.len()..];
    let name = typed.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(typed.len());
    let open = match typed[name..].trim_start().strip_prefix('<') {
        Some(inner) => !inner.contains('\n') && length(&typed[name..]).is_none(),
        None => name == typed.len(),
    };
    open.then_some(typed)
}

/// The shape of the type whose attribute begins at an offset.
pub fn shape_before(text: &str, offset: usize) -> Option<Shape> {
    let before = &text[window(text, offset)..offset];
    let start = before.rfind("tensor<").max(before.rfind("memref<"))?;
    let (shape, between) = before[start + "tensor<".len()..].split_once(',')?;
    // Another type or another line is in between.
    if between.contains(['>', '\n']) || shape.contains('\n') {
        return None;
    }
    let mut sizes = Vec::new();
    let mut rest = shape.trim();
    while rest.starts_with(|c: char| c.is_ascii_digit() || c == '?') {
        let (size, after) = rest.split_once('x')?;
        sizes.push(if size == "?" { None } else { Some(size.parse().ok()?) });
        rest = after;
    }
    Some(Shape { sizes, element: element(rest) })
}

/// The element type of this name in MLIR.
fn element(name: &str) -> Option<ElementType> {
    let own = match name {
        "i1" => "pred".into(),
        "index" => "s64".into(),
        "complex<f32>" => "c64".into(),
        "complex<f64>" => "c128".into(),
        name => match name.strip_prefix("ui") {
            Some(bits) => format!("u{bits}"),
            None => name.replacen("si", "s", 1).replacen('i', "s", usize::from(name.starts_with('i'))).to_lowercase(),
        },
    };
    ElementType::from_name(&own).filter(|element| element.is_data())
}

/// The size of an array: elements, and bytes where the size of an element is known.
#[derive(Clone, Copy)]
pub struct Amount {
    pub elements: i64,
    pub bytes: Option<i128>,
}

impl Amount {
    /// The size of this number of elements, with `bits` each.
    pub fn new(elements: i64, bits: Option<i64>) -> Amount {
        Amount { elements, bytes: bits.map(|bits| (i128::from(elements) * i128::from(bits) + 7) / 8) }
    }
}

/// The sizes of an array without and with padding. Elements take whole bytes unless the layout says otherwise. Bits
/// that `E(n)` adds to an element are padding, as in [`Expansion::logical_bytes`].
pub fn amounts(expansion: &Expansion, layout: &Layout, bits: i64) -> Option<[Amount; 2]> {
    let own = (bits + 7) / 8 * 8;
    let stored = if layout.element_bits == 0 { own } else { layout.element_bits };
    let logical = Amount::new(expansion.logical_elements().ok()?, Some(stored.min(own)));
    Some([logical, Amount::new(expansion.allocated_elements(), Some(stored))])
}

/// The padded bytes and their waste, for elements of `bits`.
pub fn padding(sizes: &[i64], layout: &Layout, bits: i64) -> Option<String> {
    amounts(&Expansion::new(sizes, layout).ok()?, layout, bits).map(waste)
}

/// `96 bytes, 37.5 % waste`; in elements where their size is not known.
pub fn waste([logical, padded]: [Amount; 2]) -> String {
    let percent = percent([logical, padded]);
    match padded.bytes {
        Some(bytes) => format!("{bytes} bytes, {percent}"),
        None => format!("{} elements, {percent}", padded.elements),
    }
}

/// The share of padding: `37.5 % waste`.
pub fn percent(amounts: [Amount; 2]) -> String {
    let [logical, padded] = amounts.map(|amount| amount.bytes.unwrap_or(amount.elements.into()));
    let waste = if padded == 0 { 0.0 } else { (padded - logical) as f64 * 100.0 / padded as f64 };
    format!("{waste:.1} % waste")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_are_read() {
        let shape = |text: &str| shape_before(text, text.len());
        let read = |sizes: &[Option<i64>], element| Some(Shape { sizes: sizes.into(), element });
        assert_eq!(shape("tensor<3x?xbf16, "), read(&[Some(3), None], Some(ElementType::BF16)));
        assert_eq!(shape("memref<f8E4M3FN, "), read(&[], Some(ElementType::F8E4M3FN)));
        assert_eq!(shape("memref<2xi4,"), read(&[Some(2)], Some(ElementType::S4)));
        assert_eq!(shape("memref<2xui16,"), read(&[Some(2)], Some(ElementType::U16)));
        assert_eq!(shape("memref<2xi1,"), read(&[Some(2)], Some(ElementType::Pred)));
        assert_eq!(shape("memref<2xvector<4xf32>,"), read(&[Some(2)], None));
        for none in
            ["", "tensor<", "tensor<3x", "tensor<3,", "tensor<99999999999999999999xf32, ", "tensor<2xf32, #a>, "]
        {
            assert_eq!(shape(none), None, "{none}");
        }
    }

    #[test]
    fn aliases_stand_for_layouts_from_their_definition_on() {
        let text = "#a = #layout.tiled<{0}>\r\n#b = #other.x\n#a = #layout.tiled<{1,0}>\n#a";
        let aliases = Aliases::new(text);
        assert_eq!(aliases.get("#a", 0), None);
        assert_eq!(aliases.get("#a", 23), Some("#layout.tiled<{0}>"));
        assert_eq!(aliases.get("#a", text.len()), Some("#layout.tiled<{1,0}>"));
        assert_eq!(aliases.get("#b", text.len()), None);
        let resolved = aliases.resolve("tensor<2xf32, #a>", text.len());
        assert_eq!(resolved.as_deref(), Some("tensor<2xf32, #layout.tiled<{1,0}>>"));
        assert_eq!(aliases.resolve("tensor<2xf32, #layout.tiled<{0}>>", 0).map(|text| text.len()), Some(33));
        assert_eq!(aliases.resolve("tensor<2xf32, #ab>", text.len()), None);
    }

    #[test]
    fn attributes_and_types_around_an_offset() {
        let text = "%é: memref<2xf32, #layout.pending<#layout.tiled<{0}>>, #t>, tensor<2xf32>";
        let at = |c: &str| attribute_at(text, text.find(c).unwrap()).map(|range| &text[range]);
        assert_eq!(at("#layout.p"), Some("#layout.pending<#layout.tiled<{0}>>"));
        assert_eq!(at("{0}"), Some("#layout.tiled<{0}>"));
        assert_eq!(at("#t"), Some("#t"));
        assert_eq!((at("memref"), at("tensor")), (None, None));
        let (start, found) = type_around(text, &attribute_at(text, text.find("{0}").unwrap()).unwrap()).unwrap();
        assert_eq!((start, found), (5, &text[5..text.find(", tensor").unwrap()]));
        for offset in (0..=text.len()).filter(|offset| text.is_char_boundary(*offset)) {
            attribute_at(text, offset).and_then(|range| type_around(text, &range));
        }
    }
}
