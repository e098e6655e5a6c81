//! Shapes: an element type, sizes and a layout; and tuples of shapes.
//!
//! `f32[123,456]` is an array of 123 rows and 456 columns without a layout, which means major to minor, and prints
//! `f32[123,456]{1,0}`. `(f32[2], token[])` is a tuple, `b(f32[2])` a buffer that holds an array. A size may be a
//! bound, `<=n`, or unknown, `?`.
//!
//! Printing is XLA's, canonical, and parses to the same shape. Limits: [`Shape::MAX_DEPTH`], [`Layout::MAX_RANK`].

use crate::element::ElementType;
use crate::limits;
use crate::text::{Cursor, Error, excerpt, from_str, length};
use crate::tiled::expansion::Expansion;
use crate::tiled::layout::{Layout, list, too_many_dims};
use std::fmt;

/// The size of one logical dimension, in elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dim {
    /// `n`.
    Exact(i64),
    /// `<=n`: known at run time, and at most `n`, the size of the memory.
    Bounded(i64),
    /// `?`: known at run time.
    Unbounded,
}

impl Dim {
    /// The size that memory is laid out for; `None` without a bound.
    pub fn bound(self) -> Option<i64> {
        match self {
            Dim::Exact(n) | Dim::Bounded(n) => Some(n),
            Dim::Unbounded => None,
        }
    }
}

/// An array, or `token[]` or `opaque[]`, which have no dimensions.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Array {
    /// The element type.
    pub element: ElementType,
    /// The logical sizes.
    pub dims: Vec<Dim>,
    /// The layout, of the same rank.
    pub layout: Layout,
}

impl Array {
    /// The array with these sizes.
    ///
    /// # Errors
    /// `token` and `opaque`, which have no dimensions, and sizes that [`Expansion::new`] refuses.
    ///
    /// ```
    /// use tensor_layout::element::ElementType;
    /// use tensor_layout::operations::Array;
    /// let array = Array::new(ElementType::F32, &[3, 5], "{1,0:T(2,2)}".parse().unwrap()).unwrap();
    /// assert_eq!(array, "f32[3,5]{1,0:T(2,2)}".parse().unwrap());
    /// ```
    pub fn new(element: ElementType, sizes: &[i64], layout: Layout) -> Result<Array, Error> {
        if !element.is_data() {
            return Err(Error::new(format!("an array must hold data, found `{element}`")).unsupported());
        }
        Expansion::new(sizes, &layout)?;
        Ok(Array { element, dims: sizes.iter().copied().map(Dim::Exact).collect(), layout })
    }

    /// Reads a shape that is an array.
    ///
    /// # Errors
    /// As [`Shape::parse`]; also tuples and buffers.
    pub fn parse(text: &str) -> Result<Array, Error> {
        match Shape::parse(text)? {
            Shape::Array(array) => Ok(array),
            other => Err(Error::at(
                Cursor::new(text).at(),
                format!("expected an array, found `{}`", excerpt(&other.to_string())),
            )),
        }
    }

    /// The logical sizes that memory is laid out for; `None` if one is unbounded.
    pub fn sizes(&self) -> Option<Vec<i64>> {
        self.dims.iter().map(|dim| dim.bound()).collect()
    }
}

/// A shape.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Shape {
    /// `(a, b)`.
    Tuple(Vec<Shape>),
    /// `b(a)`.
    Buffer(Array),
    /// `f32[2,3]{1,0}`, `token[]`.
    Array(Array),
}

impl Shape {
    /// The greatest depth of nested tuples.
    pub const MAX_DEPTH: usize = limits::TUPLES;

    /// Reads a shape, with white space and comments between its tokens and at both ends.
    ///
    /// # Errors
    /// The fault, at its byte of `text`.
    ///
    /// ```
    /// use tensor_layout::operations::Shape;
    /// assert_eq!(Shape::parse("f32[2, 3]").unwrap().to_string(), "f32[2,3]{1,0}");
    /// let error = Shape::parse("f32[2]{0:T(0)}").unwrap_err();
    /// assert_eq!((error.at, &*error.message), (Some(11), "a tile size must be at least 1, found 0"));
    /// ```
    pub fn parse(text: &str) -> Result<Shape, Error> {
        let mut cursor = Cursor::new(text);
        let shape = Shape::read(&mut cursor, 0)?;
        cursor.finish("the end of the shape")?;
        Ok(shape)
    }

    /// Reads a shape inside `depth` tuples.
    pub(crate) fn read(cursor: &mut Cursor, depth: usize) -> Result<Shape, Error> {
        let at = cursor.at();
        if cursor.eat("(") {
            if depth == Self::MAX_DEPTH {
                return Err(Error::at(
                    at,
                    format!("tuples must be nested at most {} deep, found more", Self::MAX_DEPTH),
                )
                .too_large());
            }
            let mut elements = Vec::new();
            if cursor.eat(")") {
                return Ok(Shape::Tuple(elements));
            }
            loop {
                elements.push(Shape::read(cursor, depth + 1)?);
                if !cursor.eat(",") {
                    cursor.expect(")", "`,` or `)` to close the tuple")?;
                    return Ok(Shape::Tuple(elements));
                }
            }
        }
        if cursor.peek_word() == Some("b") {
            cursor.word();
            cursor.expect("(", "`(` after `b`")?;
            let array = Array::read(cursor, "an array: an element type")?;
            cursor.expect(")", "`)` to close `b(`")?;
            return Ok(Shape::Buffer(array));
        }
        Ok(Shape::Array(Array::read(cursor, "a shape: an element type, `b(` or `(`")?))
    }
}

impl Array {
    fn read(cursor: &mut Cursor, what: &str) -> Result<Array, Error> {
        let at = cursor.at();
        if let Some(shape) = mlir_shape(cursor.rest()) {
            return Err(Error::at(at, format!("expected {what}, found a type of MLIR; XLA writes `{shape}`")).syntax());
        }
        let name = cursor.word().ok_or_else(|| cursor.expected(what))?;
        let element = ElementType::parse(name).map_err(|error| error.with_offset(Some(at)))?;
        if !cursor.eat("[") {
            return Err(cursor.expected(&format!("`[` after `{name}`")));
        }
        let mut dims = Vec::new();
        if !element.is_data() {
            cursor.expect("]", &format!("`]`: `{name}` has no dimensions"))?;
            if cursor.at_layout() {
                return Err(Error::at(cursor.at(), format!("`{name}` must not have a layout, found one")));
            }
            return Ok(Array { element, dims, layout: Layout::row_major(0) });
        }
        if !cursor.eat("]") {
            loop {
                if dims.len() == Layout::MAX_RANK {
                    return Err(Error::at(cursor.at(), too_many_dims()).too_large());
                }
                dims.push(if cursor.eat("?") {
                    Dim::Unbounded
                } else if cursor.eat("<=") {
                    Dim::Bounded(cursor.integer("a bound")?)
                } else {
                    let what = if dims.is_empty() { "a size, `<=`, `?` or `]`" } else { "a size, `<=` or `?`" };
                    Dim::Exact(cursor.integer(what)?)
                });
                if !cursor.eat(",") {
                    break;
                }
            }
            cursor.expect("]", "`,` or `]` to close the sizes")?;
        }
        let layout = if cursor.at_layout() {
            let sizes: Vec<_> = dims.iter().map(|dim| dim.bound()).collect();
            Layout::read(cursor, Some(&sizes))?
        } else {
            Layout::row_major(dims.len())
        };
        Ok(Array { element, dims, layout })
    }
}

/// The XLA shape of a text that begins with a tensor, memref or vector type of MLIR: `f32[3,5]{1,0:T(2,2)}` for
/// `tensor<3x5xf32, #layout.tiled<{1,0:T(2,2)}>>`. Other encodings are left out.
fn mlir_shape(text: &str) -> Option<String> {
    let mut rest = ["tensor<", "memref<", "vector<"].iter().find_map(|kind| text.strip_prefix(kind))?;
    let mut sizes = Vec::new();
    while let Some((size, behind)) = rest.split_once('x')
        && (size == "?" || size.parse::<u64>().is_ok())
    {
        sizes.push(size);
        rest = behind;
    }
    let name = &rest[..length(rest, |b| b.is_ascii_alphanumeric())];
    let (name, behind) = match rest.strip_prefix("complex<f") {
        Some(part) if part.starts_with("32>") => ("c64", &part[3..]),
        Some(part) if part.starts_with("64>") => ("c128", &part[3..]),
        _ => (name, &rest[name.len()..]),
    };
    let element = ElementType::from_name(name).or_else(|| ElementType::from_foreign_name(name))?;
    let layout = behind.split_once("#layout.tiled<").and_then(|(_, layout)| layout.split_once('>'));
    Some(format!("{element}[{}]{}", sizes.join(","), layout.map_or("", |(layout, _)| layout.trim_matches('"'))))
}

from_str!(Shape: Error, Array: Error);

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Shape::Array(array) => write!(f, "{array}"),
            Shape::Buffer(array) => write!(f, "b({array})"),
            Shape::Tuple(elements) => {
                f.write_str("(")?;
                for (i, element) in elements.iter().enumerate() {
                    if i != 0 {
                        f.write_str(", ")?;
                        if i % 5 == 0 {
                            write!(f, "/*index={i}*/")?;
                        }
                    }
                    write!(f, "{element}")?;
                }
                f.write_str(")")
            }
        }
    }
}

impl fmt::Display for Array {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}[", self.element)?;
        list(f, &self.dims)?;
        f.write_str("]")?;
        // The layout of a scalar without attributes is the only one that is not printed.
        if self.dims.is_empty() && self.layout == Layout::row_major(0) {
            return Ok(());
        }
        write!(f, "{}", self.layout)
    }
}

impl fmt::Display for Dim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Dim::Exact(n) => write!(f, "{n}"),
            Dim::Bounded(n) => write!(f, "<={n}"),
            Dim::Unbounded => f.write_str("?"),
        }
    }
}

/// The arrays of a shape, from left to right.
pub fn leaves(shape: &Shape) -> Vec<&Array> {
    let (mut found, mut stack) = (Vec::new(), vec![shape]);
    while let Some(shape) = stack.pop() {
        match shape {
            Shape::Tuple(parts) => stack.extend(parts.iter().rev()),
            Shape::Array(array) | Shape::Buffer(array) => found.push(array),
        }
    }
    found
}

/// The number of arrays of a shape.
pub fn count(shape: &Shape) -> usize {
    match shape {
        Shape::Tuple(parts) => parts.iter().map(count).sum(),
        Shape::Array(_) | Shape::Buffer(_) => 1,
    }
}

/// The number of the first array of each shape among the arrays of all shapes, and last the number of all arrays.
pub fn firsts<'s>(shapes: impl IntoIterator<Item = &'s Shape>) -> Vec<usize> {
    let mut firsts = vec![0];
    for shape in shapes {
        firsts.push(firsts[firsts.len() - 1] + count(shape));
    }
    firsts
}

/// The bits of an element in memory.
pub fn bits(array: &Array) -> Option<i64> {
    match array.layout.element_bits {
        0 => Some(array.element.bytes()? * 8),
        bits => Some(bits),
    }
}
