//! Values of constants: `dense<[1.0, 2.0]> : tensor<2xf32>` as a literal of HLO.

use super::types::{self, Aliases};
use crate::element::ElementType;
use crate::formats::{Format, format};
use crate::operations::shape::{Array, Shape};
use crate::text::{Cursor, Error, excerpt};
use std::fmt::Write;

/// The elements of a constant, as text or as bytes.
pub(super) struct Dense<'a> {
    /// The byte offset of the constant, for errors, and its text.
    at: usize,
    whole: &'a str,
    array: Array,
    /// The text in `dense<..>`.
    text: &'a str,
}

/// The error of a text that should be of another form.
pub(super) fn expected(at: usize, text: &str, form: &str) -> Error {
    Error::at(at, format!("expected {form}, found `{}`", excerpt(text))).syntax()
}

/// The value of a constant.
pub(super) enum Elements {
    /// All elements have this value.
    Splat(String),
    /// The elements in braces.
    Elements(String),
}

impl<'a> Dense<'a> {
    /// Reads `dense<..> : type`, which is at an offset.
    pub fn read(whole: &'a str, at: usize) -> Result<Dense<'a>, Error> {
        let wrong = || expected(at, whole, "elements and their type, such as `dense<0> : tensor<2xi64>`");
        let (value, kind) = whole.rsplit_once(": tensor").ok_or_else(wrong)?;
        let text = value.trim_end().strip_prefix("dense<").and_then(|text| text.strip_suffix('>')).ok_or_else(wrong)?;
        let begin = whole.len() - "tensor".len() - kind.len();
        let kind = types::read(&mut Cursor::new(&whole[begin..]), &Aliases::default())?;
        match kind.map_err(|error| error.shifted(at + begin))? {
            Shape::Array(array) => Ok(Dense { at, whole, array, text: text.trim() }),
            _ => Err(wrong()),
        }
    }

    /// The elements of the text in `dense<..>`.
    pub fn of_text((whole, at): (&'a str, usize), array: &Array, text: &'a str) -> Dense<'a> {
        Dense { at, whole, array: array.clone(), text: text.trim() }
    }

    /// Whether the elements are those of an array: of its type and sizes.
    pub fn is_of(&self, array: &Array) -> bool {
        self.array.element == array.element && self.array.dims == array.dims
    }

    /// The error of a value that should be of another form.
    fn expected(&self, form: &str) -> Error {
        expected(self.at, self.whole, form)
    }

    fn count(&self) -> Option<usize> {
        let sizes = self.array.sizes()?;
        sizes.iter().try_fold(1usize, |count, size| count.checked_mul(usize::try_from(*size).ok()?))
    }

    /// The elements as integers.
    pub fn integers(&self) -> Result<Vec<i64>, Error> {
        let wrong = || self.expected("integers");
        let count = self.count().ok_or_else(wrong)?;
        let read = |token: &str| match token {
            "true" => Ok(1),
            "false" => Ok(0),
            _ => token.parse::<i64>().map_err(|_| wrong()),
        };
        if let Some(bytes) = self.bytes()? {
            let tokens = self.decoded(&bytes, count)?;
            return tokens.iter().map(|token| read(token)).collect();
        }
        let found: Vec<i64> = numbers_of(self.text).map(read).collect::<Result<_, _>>()?;
        match found[..] {
            [one] if !self.text.starts_with('[') && count <= MOST_COPIES => Ok(vec![one; count]),
            _ if found.len() == count => Ok(found),
            _ => Err(wrong()),
        }
    }

    /// The elements as the text of a literal of these sizes, which have as many elements as the array.
    pub fn value(&self, to: &[i64]) -> Result<Elements, Error> {
        let wrong = |what: &str| self.expected(what);
        let count = self.count().ok_or_else(|| wrong("a constant of known sizes"))?;
        let bytes = self.bytes()?;
        let element = self.array.element;
        let complex = element.is_complex();
        let tokens: Vec<String> = match &bytes {
            Some(bytes) => self.decoded(bytes, count)?,
            None if complex => complex_numbers(self.text).map(|pair| self.pair(pair)).collect::<Result<_, _>>()?,
            None => numbers_of(self.text).map(|token| number(self.at, token, element)).collect::<Result<_, _>>()?,
        };
        let is_list = bytes.is_none() && self.text.starts_with('[');
        match &tokens[..] {
            [one] if !is_list => Ok(Elements::Splat(one.clone())),
            _ if tokens.len() == count => {
                let sizes = self.array.sizes().unwrap_or_default();
                if bytes.is_none() && count > 0 && !is_nested(self.text, &sizes) {
                    return Err(wrong(&format!("lists inside each other of {}", counts(&sizes))));
                }
                let mut text = String::new();
                if count == 0 && !to.is_empty() {
                    return Ok(Elements::Elements("{}".to_string()));
                }
                braces(to, &mut tokens.iter(), &mut text);
                Ok(Elements::Elements(text))
            }
            _ => Err(wrong(&format!("{count} elements"))),
        }
    }

    /// The bytes of `"0x.."`.
    fn bytes(&self) -> Result<Option<Vec<u8>>, Error> {
        let Some(digits) = self.text.strip_prefix("\"0x").and_then(|text| text.strip_suffix('"')) else {
            return Ok(None);
        };
        let byte = |pair: &[u8]| {
            let digit = |byte: &u8| char::from(*byte).to_digit(16);
            Some((digit(pair.first()?)? * 16 + digit(pair.get(1)?)?) as u8)
        };
        let bytes: Option<Vec<u8>> = digits.as_bytes().chunks(2).map(byte).collect();
        bytes.map(Some).ok_or_else(|| self.expected("pairs of hexadecimal digits"))
    }

    /// The elements of bytes, the least significant first; one element alone is that of all.
    fn decoded(&self, bytes: &[u8], count: usize) -> Result<Vec<String>, Error> {
        let element = self.array.element;
        let parts = if element.is_complex() { 2 } else { 1 };
        let bits = usize::try_from(element.bits().unwrap_or(8)).unwrap_or(8) / parts;
        let size = bits.div_ceil(8);
        if element == ElementType::Pred && bytes.len() == count.div_ceil(8) && count > 1 {
            let bit = |k: usize| (bytes[k / 8] >> (k % 8) & 1 == 1).to_string();
            return Ok((0..count).map(bit).collect());
        }
        let whole = bytes.len() / (size * parts);
        if !bytes.len().is_multiple_of(size * parts) || whole != count && whole != 1 {
            return Err(self.expected(&format!("{count} elements of {bits} bits")));
        }
        let pattern = |bytes: &[u8]| bytes.iter().rev().fold(0u64, |bits, byte| bits << 8 | u64::from(*byte));
        let part = part_of(element).unwrap_or(element);
        let one = |bytes: &[u8]| match bytes.chunks(size).map(|bytes| of_bits(pattern(bytes), part)).collect::<Vec<_>>()
        {
            parts if parts.len() == 2 => format!("({}, {})", parts[0], parts[1]),
            parts => parts.concat(),
        };
        Ok(bytes.chunks(size * parts).map(one).collect())
    }

    /// `(re, im)`.
    fn pair(&self, text: &str) -> Result<String, Error> {
        let part = part_of(self.array.element).unwrap_or(self.array.element);
        let (re, im) = text.split_once(',').ok_or_else(|| self.expected("pairs such as `(1.0, 2.0)`"))?;
        Ok(format!("({}, {})", number(self.at, re.trim(), part)?, number(self.at, im.trim(), part)?))
    }
}

/// One number as HLO writes it: hexadecimal digits are the bits, or an integer with a sign.
pub(super) fn number(at: usize, token: &str, element: ElementType) -> Result<String, Error> {
    let wrong = |form: &str| Error::at(at, format!("expected {form}, found `{}`", excerpt(token))).syntax();
    let is_float = element.is_float();
    let (sign, digits) = token.strip_prefix('-').filter(|_| !is_float).map_or((1, token), |rest| (-1, rest));
    if let Some(digits) = digits.strip_prefix("0x") {
        let width = element.bits().unwrap_or(64);
        let form = format!("hexadecimal digits of {width} bits");
        let bits = u64::from_str_radix(digits, 16).map_err(|_| wrong(&form))?;
        if width < 64 && bits >> width != 0 {
            return Err(wrong(&form));
        }
        return Ok(of_bits(if sign < 0 { bits.wrapping_neg() } else { bits }, element));
    }
    let known = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-' | b'.');
    let begins = digits.starts_with(|c: char| c.is_ascii_digit() || is_float && matches!(c, '-' | '+' | '.'));
    if !token.bytes().all(known) || !(begins || matches!(token, "true" | "false")) {
        return Err(wrong(&format!("a value of `{element}`")));
    }
    Ok(token.to_string())
}

/// The type of the parts of a complex number.
pub(super) fn part_of(element: ElementType) -> Option<ElementType> {
    match element {
        ElementType::C64 => Some(ElementType::F32),
        ElementType::C128 => Some(ElementType::F64),
        _ => None,
    }
}

/// The most copies of one integer that an attribute may mean.
const MOST_COPIES: usize = 1 << 16;

/// The numbers and words of a nested list.
pub(super) fn numbers_of(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| matches!(c, '[' | ']' | ',') || c.is_whitespace()).filter(|token| !token.is_empty())
}

/// The texts in parentheses of a nested list.
fn complex_numbers(text: &str) -> impl Iterator<Item = &str> {
    text.split('(').skip(1).map(|part| part.split(')').next().unwrap_or(part))
}

/// `2, then 3 elements`.
fn counts(sizes: &[i64]) -> String {
    let sizes: Vec<String> = sizes.iter().map(i64::to_string).collect();
    format!("{} elements", sizes.join(", then "))
}

/// Whether a text is lists inside each other of these sizes.
fn is_nested(text: &str, sizes: &[i64]) -> bool {
    let mut rest = text;
    has_level(&mut rest, sizes) && rest.trim().is_empty()
}

/// Takes the list of the first size off a text.
fn has_level(rest: &mut &str, sizes: &[i64]) -> bool {
    *rest = rest.trim_start();
    let Some((size, inner)) = sizes.split_first() else {
        let end = if rest.starts_with('(') { rest.find(')').map(|end| end + 1) } else { rest.find([',', ']', '[']) };
        let end = end.unwrap_or(rest.len());
        *rest = &rest[end..];
        return end > 0;
    };
    let eat = |symbol: char, rest: &mut &str| {
        let after = rest.trim_start().strip_prefix(symbol);
        after.inspect(|after| *rest = after).is_some()
    };
    eat('[', rest) && (0..*size).all(|k| (k == 0 || eat(',', rest)) && has_level(rest, inner)) && eat(']', rest)
}

/// Writes elements in the braces of a literal.
fn braces<'t>(sizes: &[i64], tokens: &mut impl Iterator<Item = &'t String>, out: &mut String) {
    let Some((size, inner)) = sizes.split_first() else {
        out.push_str(tokens.next().map_or("", |token| token));
        return;
    };
    out.push('{');
    for k in 0..*size {
        if k > 0 {
            out.push(',');
        }
        braces(inner, tokens, out);
    }
    out.push('}');
}

/// The number of these bits, as HLO writes it.
fn of_bits(bits: u64, element: ElementType) -> String {
    if let Some(format) = format_of(element) {
        return float(bits as i64, &format, element);
    }
    match element {
        ElementType::Pred => (bits & 1 == 1).to_string(),
        ElementType::F64 => float_text(f64::from_bits(bits)),
        // Only an exponent.
        ElementType::F8E8M0FNU if bits == 0xff => "nan".to_string(),
        ElementType::F8E8M0FNU => float_text(2f64.powi(bits as i32 - 127)),
        _ => {
            let width = element.bits().unwrap_or(64) as u32;
            let value = bits & (u64::MAX >> (64 - width));
            let negative = element.is_signed() && value >> (width - 1) & 1 == 1;
            let value = i128::from(value) - if negative { 1i128 << width } else { 0 };
            value.to_string()
        }
    }
}

/// The format of a type.
fn format_of(element: ElementType) -> Option<Format> {
    match element {
        ElementType::F32 => Some(Format::ieee(32, 23, 127)),
        ElementType::BF16 => Some(Format::ieee(16, 7, 127)),
        ElementType::F16 => Some(Format::ieee(16, 10, 15)),
        _ => format(element),
    }
}

fn float(bits: i64, format: &Format, element: ElementType) -> String {
    let (sign, code) = (bits >> (format.bits - 1) & 1 == 1, bits & ((1 << (format.bits - 1)) - 1));
    let value = if format.one_zero && bits == format.nan {
        f64::NAN
    } else if code > format.most {
        if code == format.beyond && code != format.nan { f64::INFINITY } else { f64::NAN }
    } else {
        let (power, part) = (code >> format.mantissa, code & ((1 << format.mantissa) - 1));
        let hidden = if power == 0 { 0.0 } else { 1.0 };
        let scale = power.max(1) - format.bias;
        (hidden + part as f64 / 2f64.powi(format.mantissa as i32)) * 2f64.powi(scale as i32)
    };
    let value = if sign { -value } else { value };
    // A value of `f32` has a shorter text than the same value of `f64`.
    if element == ElementType::F32 && value.is_finite() { format!("{:e}", value as f32) } else { float_text(value) }
}

fn float_text(value: f64) -> String {
    let mut text = String::new();
    let _ = match value {
        value if value.is_nan() => write!(text, "{}nan", if value.is_sign_negative() { "-" } else { "" }),
        value if value.is_infinite() => write!(text, "{}inf", if value < 0.0 { "-" } else { "" }),
        value => write!(text, "{value:e}"),
    };
    text
}
