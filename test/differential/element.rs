//! Element types: the bytes of a number, and the names of operations on them.

use layout_reference::choices::Choices;

/// An element type.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Element {
    pub name: &'static str,
    /// The size in bits.
    pub bits: usize,
    /// The size in bytes, unless a layout says otherwise.
    pub size: usize,
    pub kind: Kind,
}

#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Kind {
    Integer,
    Float,
}

pub const I1: Element = Element { name: "i1", bits: 1, size: 1, kind: Kind::Integer };
pub const I4: Element = Element { name: "i4", bits: 4, size: 1, kind: Kind::Integer };
pub const I8: Element = Element { name: "i8", bits: 8, size: 1, kind: Kind::Integer };
pub const I16: Element = Element { name: "i16", bits: 16, size: 2, kind: Kind::Integer };
pub const I32: Element = Element { name: "i32", bits: 32, size: 4, kind: Kind::Integer };
pub const I64: Element = Element { name: "i64", bits: 64, size: 8, kind: Kind::Integer };
pub const F16: Element = Element { name: "f16", bits: 16, size: 2, kind: Kind::Float };
pub const BF16: Element = Element { name: "bf16", bits: 16, size: 2, kind: Kind::Float };
pub const F32: Element = Element { name: "f32", bits: 32, size: 4, kind: Kind::Float };
pub const F64: Element = Element { name: "f64", bits: 64, size: 8, kind: Kind::Float };
/// All types except `i1`; the packed one twice as often.
pub const ELEMENTS: &[Element] = &[I4, I4, I8, I16, I32, I64, F16, BF16, F32, F64];

impl Element {
    /// The element type of this name.
    pub fn named(name: &str) -> Option<Element> {
        ELEMENTS.iter().chain([&I1]).copied().find(|element| element.name == name)
    }

    /// The suffix of a whole number: `.0` for floats.
    pub fn point(self) -> &'static str {
        match self.kind {
            Kind::Float => ".0",
            Kind::Integer => "",
        }
    }

    /// A comparison of `arith`, such as `lt`.
    pub fn comparison(self, predicate: &str) -> String {
        match self.kind {
            Kind::Float => format!("arith.cmpf o{predicate}"),
            Kind::Integer => format!("arith.cmpi s{predicate}"),
        }
    }

    /// The operation that casts to a different element type.
    pub fn cast(self, to: Element) -> &'static str {
        match (self.kind, to.kind) {
            (Kind::Integer, Kind::Integer) if to.bits < self.bits => "arith.trunci",
            (Kind::Integer, Kind::Integer) => "arith.extsi",
            (Kind::Float, Kind::Float) if to.size < self.size => "arith.truncf",
            (Kind::Float, Kind::Float) => "arith.extf",
            (Kind::Integer, Kind::Float) => "arith.sitofp",
            (Kind::Float, Kind::Integer) => "arith.fptosi",
        }
    }

    /// The bytes of a number.
    pub fn bytes(self, n: f64) -> Vec<u8> {
        match self {
            I1 => vec![n as i64 as u8 & 1],
            F16 => {
                let bits = (n as f32).to_bits();
                let exponent = if n == 0.0 { 0 } else { (bits >> 23 & 0xff) + 15 - 127 };
                ((bits >> 16 & 0x8000 | exponent << 10 | bits >> 13 & 0x3ff) as u16).to_le_bytes().to_vec()
            }
            BF16 => (n as f32).to_bits().to_le_bytes()[2..].to_vec(),
            F32 => (n as f32).to_le_bytes().to_vec(),
            F64 => n.to_le_bytes().to_vec(),
            I4 => vec![n as i64 as u8 & 15],
            Element { size, .. } => (n as i64).to_le_bytes()[..size].to_vec(),
        }
    }

    /// The number of these bytes.
    pub fn number(self, bytes: &[u8]) -> f64 {
        let mut eight = [0; 8];
        match self {
            I1 => f64::from(bytes[0] & 1),
            I4 => f64::from((bytes[0] << 4) as i8 >> 4),
            F16 => {
                let bits = u16::from_le_bytes([bytes[0], bytes[1]]);
                let (exponent, fraction) = (i32::from(bits >> 10 & 31), f64::from(bits & 0x3ff) / 1024.0);
                let size = match exponent {
                    0 => fraction * 2f64.powi(-14),
                    31 if fraction == 0.0 => f64::INFINITY,
                    31 => f64::NAN,
                    _ => (1.0 + fraction) * 2f64.powi(exponent - 15),
                };
                if bits >> 15 == 1 { -size } else { size }
            }
            BF16 => f64::from(f32::from_le_bytes([0, 0, bytes[0], bytes[1]])),
            F32 => f64::from(f32::from_le_bytes(bytes.try_into().expect("4 bytes"))),
            F64 => f64::from_le_bytes(bytes.try_into().expect("8 bytes")),
            Element { size, .. } => {
                eight[8 - size..].copy_from_slice(bytes);
                (i64::from_le_bytes(eight) >> (64 - 8 * size)) as f64
            }
        }
    }

    /// A float of 7 significant bits and a random exponent, so that sums are rounded; a small integer otherwise.
    pub fn rough_number(self, rng: &mut Choices) -> f64 {
        let least = match self {
            F16 => -12,
            F32 | BF16 => -20,
            F64 => -50,
            _ => return random_number(rng),
        };
        f64::from(rng.i32(1..128)) * 2f64.powi(rng.i32(least..=0)) * if rng.bool() { 1.0 } else { -1.0 }
    }

    /// An operation of `arith` for this type, such as `add`.
    pub fn op(self, name: &str) -> String {
        match (self.kind, name) {
            (Kind::Float, "max" | "min") => format!("arith.{name}imumf"),
            (Kind::Float, _) => format!("arith.{name}f"),
            (Kind::Integer, "max" | "min" | "div") => format!("arith.{name}si"),
            (Kind::Integer, _) => format!("arith.{name}i"),
        }
    }

    /// An MLIR literal.
    pub fn literal(self, n: i64) -> String {
        match self {
            I1 => (n & 1 != 0).to_string(),
            Element { kind: Kind::Float, .. } => format!("{n}.0"),
            _ => n.to_string(),
        }
    }
}

/// A small integer other than 0, usable as a divisor.
pub fn random_number(rng: &mut Choices) -> f64 {
    let n = f64::from(rng.i32(1..=5));
    if rng.bool() { n } else { -n }
}
