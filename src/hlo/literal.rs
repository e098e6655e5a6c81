//! The values of constants.

use crate::element::ElementType;
use crate::operations::shape::{Array, Shape};
use crate::text::{Cursor, Error, counted, excerpt, length};

/// The value of a constant, typed by the constant's shape.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Literal {
    /// The text of the value: `1.5`, `{{1,2},{3,4}}`, `{...}`.
    pub text: String,
    /// The elements.
    pub values: Values,
}

/// The elements of a literal in row-major order.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// `{...}`: elided by the printer.
    Elided,
    /// Values of `pred`.
    Booleans(Vec<bool>),
    /// Values of an integer type, each in range.
    Integers(Vec<i128>),
    /// Values of a floating-point type, to the precision of `f64`; `-nan` has its sign.
    Floats(Vec<f64>),
    /// Real and imaginary parts.
    Complex(Vec<(f64, f64)>),
    /// Values of a tuple.
    Tuple(Vec<Literal>),
}

impl Literal {
    /// The literals of arrays, in order; an elided tuple is one literal.
    pub fn leaves(&self) -> Vec<&Literal> {
        match &self.values {
            Values::Tuple(parts) => parts.iter().flat_map(Literal::leaves).collect(),
            _ => vec![self],
        }
    }

    /// Reads the literal of a constant of this shape; recursion is as deep as the shape.
    pub(super) fn read(cursor: &mut Cursor, shape: &Shape) -> Result<Literal, Error> {
        let (start, text) = (cursor.at(), cursor.rest());
        let values = match shape {
            Shape::Tuple(_) if left_out(cursor)? => Values::Elided,
            Shape::Tuple(parts) => {
                cursor.expect("(", "`(` to open the tuple's value")?;
                let mut values = Vec::new();
                for (i, part) in parts.iter().enumerate() {
                    if i != 0 {
                        cursor.expect(",", "`,` and the tuple's next value")?;
                    }
                    values.push(Literal::read(cursor, part)?);
                }
                cursor.expect(")", "`)` to close the tuple's value")?;
                Values::Tuple(values)
            }
            Shape::Buffer(array) | Shape::Array(array) => Values::read(cursor, array)?,
        };
        let length = cursor.at().saturating_sub(start).min(text.len());
        Ok(Literal { text: text[..length].trim_end().to_string(), values })
    }
}

/// The remedy if an array has a single value.
const ONE_VALUE: &str = "one value is what XLA's parser reads as the first element, with zeros for all others, and a \
                         `broadcast` of a scalar constant has it everywhere";

impl Values {
    fn read(cursor: &mut Cursor, array: &Array) -> Result<Values, Error> {
        if left_out(cursor)? {
            return Ok(Values::Elided);
        }
        let Some(sizes) = array.sizes() else {
            return Err(Error::at(cursor.at(), "the sizes of a constant must be known, found `?`").unsupported());
        };
        let element = array.element;
        let mut values = match element {
            ElementType::Pred => Values::Booleans(Vec::new()),
            _ if element.is_signed() || element.is_unsigned() => Values::Integers(Vec::new()),
            _ if element.is_float() => Values::Floats(Vec::new()),
            _ if element.is_complex() => Values::Complex(Vec::new()),
            _ => {
                return Err(Error::at(
                    cursor.at(),
                    format!("a constant must have elements with values, found `{element}`"),
                ));
            }
        };
        let begin = *cursor;
        values.read_level(cursor, element, &sizes).map_err(|error| {
            let is_one_value = begin.peek() != Some(b'{') && values.push(&mut begin.clone(), element).is_ok();
            let message = format!("{}; {ONE_VALUE}", error.message);
            if is_one_value { error.with_message(message) } else { error }
        })?;
        Ok(values)
    }

    /// Reads the list for dimension 0 of `sizes`; recursion is as deep as the rank.
    fn read_level(&mut self, cursor: &mut Cursor, element: ElementType, sizes: &[i64]) -> Result<(), Error> {
        let Some((&size, inner)) = sizes.split_first() else {
            return self.push(cursor, element);
        };
        // Messages are built only on error: there may be millions of values.
        if !cursor.eat("{") {
            return Err(cursor.expected(&format!("`{{` to open {}", counted(size, "value"))));
        }
        // An array with an inner dimension of 0 may be written `{}`.
        if inner.contains(&0) && cursor.eat("}") {
            return Ok(());
        }
        for i in 0..size {
            if i != 0 && !cursor.eat(",") {
                return Err(cursor.expected(&format!("`,` after value {i} of {size}")));
            }
            self.read_level(cursor, element, inner)?;
        }
        if cursor.eat("}") { Ok(()) } else { Err(cursor.expected(&format!("`}}` after {}", counted(size, "value")))) }
    }

    fn push(&mut self, cursor: &mut Cursor, element: ElementType) -> Result<(), Error> {
        let at = cursor.at();
        if let Values::Complex(all) = self {
            let pair = cursor.eat("(");
            let re = float(cursor, element)?;
            let mut im = 0.0;
            if pair {
                cursor.expect(",", "`,` and the imaginary part")?;
                im = float(cursor, element)?;
                cursor.expect(")", "`)` after the imaginary part")?;
            }
            all.push((re, im));
            return Ok(());
        }
        if let Values::Floats(all) = self {
            all.push(float(cursor, element)?);
            return Ok(());
        }
        let word = number(cursor, element)?;
        let wrong = || Error::at(at, format!("expected a value of `{element}`, found `{}`", excerpt(word))).syntax();
        match self {
            Values::Booleans(all) => all.push(match word {
                "true" | "1" => true,
                "false" | "0" => false,
                _ => return Err(wrong()),
            }),
            Values::Integers(all) => {
                let value: i128 = word.parse().map_err(|_| wrong())?;
                let bits = element.bits().unwrap_or(64) - i64::from(element.is_signed());
                let (lowest, end) = (if element.is_signed() { -(1i128 << bits) } else { 0 }, 1i128 << bits);
                // XLA reads a negative `u64` modulo 2^64.
                let wraps = element == ElementType::U64 && (-(1i128 << 63)..0).contains(&value);
                let value = if wraps { value + end } else { value };
                if !(lowest..end).contains(&value) {
                    let found = excerpt(word);
                    let message = format!("a value of `{element}` must be {lowest} to {}, found `{found}`", end - 1);
                    return Err(Error::at(at, message));
                }
                all.push(value);
            }
            _ => return Err(wrong()),
        }
        Ok(())
    }
}

/// Parses `{...}`, if it is next.
fn left_out(cursor: &mut Cursor) -> Result<bool, Error> {
    let mut ahead = *cursor;
    let found = ahead.eat("{") && ahead.eat("...");
    if found {
        ahead.expect("}", "`}` after `{...`")?;
        *cursor = ahead;
    }
    Ok(found)
}

/// Parses the word of a number.
fn number<'a>(cursor: &mut Cursor<'a>, element: ElementType) -> Result<&'a str, Error> {
    let rest = cursor.rest();
    let end = length(rest, |b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-' | b'.' | b'_'));
    if end == 0 {
        return Err(cursor.expected(&format!("a value of `{element}`")));
    }
    cursor.advance(end);
    Ok(&rest[..end])
}

fn float(cursor: &mut Cursor, element: ElementType) -> Result<f64, Error> {
    let at = cursor.at();
    let word = number(cursor, element)?;
    // The payload of a NaN stays text.
    if word.ends_with("nan") && cursor.eat("(") {
        number(cursor, element)?;
        cursor.expect(")", "`)` after the bits of a nan")?;
    }
    let known = |b: u8| b.is_ascii_digit() || matches!(b, b'+' | b'-' | b'.' | b'e' | b'E');
    let value = match word.trim_start_matches(['+', '-']) {
        "nan" | "inf" => word.parse().ok(),
        _ => word.bytes().all(known).then(|| word.parse().ok()).flatten(),
    };
    // A value that would round to infinity is too large.
    let large = |value: f64| match element {
        ElementType::F16 => value.abs() >= 65520.0,
        ElementType::BF16 => value.abs() >= 3.396_177_529_230_495_7e38,
        ElementType::F32 | ElementType::C64 => (value as f32).is_infinite(),
        _ => value.is_infinite(),
    };
    match value {
        Some(value) if word.ends_with("inf") || !large(value) => Ok(value),
        Some(_) => Err(Error::at(
            at,
            format!("a value of `{element}` must round to a finite number, found `{}`", excerpt(word)),
        )),
        None => Err(Error::at(at, format!("expected a value of `{element}`, found `{}`", excerpt(word))).syntax()),
    }
}
