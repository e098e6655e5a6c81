//! Types of MLIR as shapes of HLO.

use crate::element::ElementType;
use crate::operations::shape::{Array, Dim, Shape, count};
use crate::text::{Cursor, Error, excerpt};
use crate::tiled::layout::Layout;
use std::collections::HashMap;

/// A type: its shape, or the error that says why HLO has none.
pub(super) type Type = Result<Shape, Error>;

/// The aliases of a text, by their names.
#[derive(Clone, Default)]
pub(super) struct Aliases<'a> {
    pub types: HashMap<&'a str, Type>,
    /// The texts of attributes.
    pub attributes: HashMap<&'a str, &'a str>,
}

/// The most arrays of a tuple, through aliases, too.
const MOST_ARRAYS: usize = crate::limits::STABLEHLO_ARRAYS;

/// Whether two values are of one type, in whatever layouts.
pub(super) fn is_same(a: &Shape, b: &Shape) -> bool {
    match (a, b) {
        (Shape::Tuple(a), Shape::Tuple(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| is_same(a, b)),
        (Shape::Array(a), Shape::Array(b)) => a.element == b.element && a.dims == b.dims,
        _ => a == b,
    }
}

/// Reads a type; `aliases` are those of the text.
pub(super) fn read(cursor: &mut Cursor, aliases: &Aliases) -> Result<Type, Error> {
    let (at, rest) = (cursor.at(), cursor.rest());
    let end = extent(rest).filter(|end| *end > 0).ok_or_else(|| cursor.expected("a type"))?;
    let text = &rest[..end];
    cursor.advance(end);
    Ok(shape(text, aliases, 0).map_err(|error| error.shifted(at)))
}

/// The length of the type at the start of a text.
fn extent(text: &str) -> Option<usize> {
    let mut depth = 0usize;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'<' | b'(' | b'[' | b'{' => depth += 1,
            b'>' if text[..at].ends_with('-') => {}
            b'\n' if depth > 0 => return None,
            b'>' | b')' | b']' | b'}' if depth > 0 => {
                depth -= 1;
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            _ if depth > 0 || byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'!' | b'.' | b'$') => {}
            _ => return Some(at),
        }
    }
    (depth == 0).then_some(text.len())
}

/// The text between `start` and the last `>`, with its position.
fn inside<'a>(text: &'a str, start: &str) -> Option<(&'a str, usize)> {
    let inner = text.strip_prefix(start)?.trim_start().strip_prefix('<')?.strip_suffix('>')?;
    Some((inner, text.len() - inner.len() - 1))
}

/// The shape of a type; positions are in `text`.
fn shape(text: &str, aliases: &Aliases, depth: usize) -> Type {
    if let Some((inner, from)) = inside(text, "tensor") {
        return array(inner, aliases).map(Shape::Array).map_err(|error| error.shifted(from));
    }
    if let Some((inner, from)) = inside(text, "tuple") {
        let part =
            |(part, at): (&str, usize)| shape(part, aliases, depth + 1).map_err(|error| error.shifted(from + at));
        if depth >= Shape::MAX_DEPTH {
            let message = format!("tuples must be at most {} deep, found more", Shape::MAX_DEPTH);
            return Err(Error::at(0, message).too_large());
        }
        let tuple = Shape::Tuple(parts(inner).into_iter().map(part).collect::<Result<_, _>>()?);
        if count(&tuple) > MOST_ARRAYS {
            let message = format!("a tuple must have at most {MOST_ARRAYS} arrays, found more");
            return Err(Error::at(0, message).too_large());
        }
        return Ok(tuple);
    }
    if matches!(text, "!stablehlo.token" | "!mhlo.token") {
        return Ok(token());
    }
    if let Some(known) = text.strip_prefix('!').and_then(|name| aliases.types.get(name)) {
        // The place is that of the use.
        return known.clone().map_err(|error| error.with_offset(Some(0)));
    }
    let message = format!("expected a type that HLO has, such as `tensor<2x3xf32>`, found `{}`", excerpt(text));
    Err(Error::at(0, message).unsupported())
}

/// The shape of a token.
pub(super) fn token() -> Shape {
    Shape::Array(Array { element: ElementType::Token, dims: Vec::new(), layout: Layout::row_major(0) })
}

/// The shape of the context of a transfer.
pub(super) fn scalar_u32() -> Shape {
    Shape::Array(Array { element: ElementType::U32, dims: Vec::new(), layout: Layout::row_major(0) })
}

/// The parts of a list, at commas outside of brackets, each with its position.
pub(super) fn parts(text: &str) -> Vec<(&str, usize)> {
    let (mut found, mut depth, mut begin, mut quoted) = (Vec::new(), 0usize, 0, false);
    let mut previous = b' ';
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'"' if previous != b'\\' => quoted = !quoted,
            _ if quoted => {}
            b'<' | b'(' | b'[' | b'{' => depth += 1,
            b'>' if previous == b'-' => {}
            b'>' | b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            b',' if depth == 0 => {
                found.push((begin, at));
                begin = at + 1;
            }
            _ => {}
        }
        previous = byte;
    }
    if !text[begin..].trim().is_empty() {
        found.push((begin, text.len()));
    }
    let trimmed = |(begin, end): (usize, usize)| {
        let part = &text[begin..end];
        (part.trim(), begin + part.len() - part.trim_start().len())
    };
    found.into_iter().map(trimmed).collect()
}

/// `2x?xf32, #stablehlo.bounds<?, 4>`.
fn array(text: &str, aliases: &Aliases) -> Result<Array, Error> {
    let parts = parts(text);
    let (body, _) =
        *parts.first().ok_or_else(|| Error::at(0, "expected sizes and an element type, found none").syntax())?;
    let (mut rest, mut dims) = (body, Vec::new());
    while let Some((size, after)) = rest.split_once('x') {
        let dim = match size.trim() {
            "?" => Dim::Unbounded,
            digits if !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()) => {
                let large =
                    || Error::at(body.len() - rest.len(), format!("a size must fit in 64 bits, found {digits}"));
                Dim::Exact(digits.parse().map_err(|_| large().too_large())?)
            }
            _ => break,
        };
        dims.push(dim);
        rest = after;
    }
    let at = body.len() - rest.len();
    let element = element(rest.trim()).map_err(|error| error.shifted(at))?;
    if let Some((encoding, at)) = parts.get(1) {
        let alias = encoding.strip_prefix('#').and_then(|name| aliases.attributes.get(name));
        bounds(alias.unwrap_or(encoding), &mut dims).map_err(|error| error.shifted(*at))?;
    }
    if dims.len() > Layout::MAX_RANK {
        return Err(Error::at(
            0,
            format!("there must be at most {} dimensions, found {}", Layout::MAX_RANK, dims.len()),
        )
        .too_large());
    }
    let layout = Layout::row_major(dims.len());
    if let Some(sizes) = dims.iter().map(|dim| dim.bound()).collect::<Option<Vec<i64>>>() {
        Array::new(element, &sizes, layout.clone()).map_err(|error| error.with_offset(Some(0)))?;
    }
    Ok(Array { element, dims, layout })
}

/// The element type of a name of MLIR.
fn element(name: &str) -> Result<ElementType, Error> {
    if name.starts_with('!') {
        let message =
            format!("expected an element type that HLO has, found `{}`: it has no quantised types", excerpt(name));
        return Err(Error::at(0, message).unsupported());
    }
    let complex = inside(name, "complex").map(|(part, _)| match part {
        "f32" => Some(ElementType::C64),
        "f64" => Some(ElementType::C128),
        _ => None,
    });
    // `1` as a sign of an integer is `pred`, and `si1` and `ui1` are integers.
    let found = complex.unwrap_or_else(|| ElementType::from_foreign_name(name));
    match found {
        Some(element) if element.is_data() && !name.contains('_') => Ok(element),
        _ => {
            let message =
                format!("expected an element type such as `f32`, `i32` or `complex<f32>`, found `{}`", excerpt(name));
            Err(Error::at(0, message).unknown())
        }
    }
}

/// Bounds of sizes: `#stablehlo.bounds<?, 4>` or `#stablehlo.type_extensions<bounds = [?, 4]>`.
fn bounds(text: &str, dims: &mut [Dim]) -> Result<(), Error> {
    let list = inside(text, "#stablehlo.bounds").or_else(|| inside(text, "#mhlo.type_extensions"));
    let list = list.or_else(|| inside(text, "#stablehlo.type_extensions"));
    let message =
        || format!("expected `#stablehlo.bounds<..>` with a bound or `?` for each size, found `{}`", excerpt(text));
    let wrong = || Error::at(0, message()).unsupported();
    let (list, _) = list.ok_or_else(wrong)?;
    let list = list.trim_start_matches("bounds").trim_start().trim_start_matches('=').trim();
    let bounds = parts(list.trim_matches(['[', ']']));
    if bounds.len() != dims.len() {
        return Err(wrong());
    }
    for (dim, (bound, _)) in dims.iter_mut().zip(bounds) {
        match (*dim, bound) {
            (_, "?") => {}
            (Dim::Unbounded, bound) => *dim = Dim::Bounded(bound.parse().map_err(|_| wrong())?),
            _ => return Err(wrong()),
        }
    }
    Ok(())
}
