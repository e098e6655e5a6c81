//! Reductions of elements of several processes.

use layout_ir::{self as ir, Builder, Val};
use melior::ir::attribute::{FloatAttribute, IntegerAttribute};
use melior::ir::{Attribute, Type, ValueLike};

/// A reduction of elements of one type.
pub struct ElementReduction<'c> {
    operation: &'static str,
    /// The type of the computation: the result's, or f32 for shorter floats, which are rounded once at the end.
    pub within: Type<'c>,
    /// The type of the result.
    to: Type<'c>,
    /// Whether a sum is divided by the number of elements at the end.
    pub is_average: bool,
}

/// The kind of a number type.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Numbers {
    /// Integers of any width, and `index`.
    Integers,
    /// Floats of any width.
    Floats,
    /// Complex numbers.
    Complex,
}

/// The reductions of the dialect `shard`: word, kind of elements, and the operation of two elements.
pub const REDUCTIONS: &[(&str, Numbers, &str)] = &[
    ("sum", Numbers::Integers, "arith.addi"),
    ("sum", Numbers::Floats, "arith.addf"),
    ("sum", Numbers::Complex, "complex.add"),
    ("product", Numbers::Integers, "arith.muli"),
    ("product", Numbers::Floats, "arith.mulf"),
    ("product", Numbers::Complex, "complex.mul"),
    ("max", Numbers::Integers, "arith.maxsi"),
    ("max", Numbers::Floats, "arith.maximumf"),
    ("min", Numbers::Integers, "arith.minsi"),
    ("min", Numbers::Floats, "arith.minimumf"),
    ("bitwise_and", Numbers::Integers, "arith.andi"),
    ("bitwise_or", Numbers::Integers, "arith.ori"),
    ("bitwise_xor", Numbers::Integers, "arith.xori"),
];

fn numbers(t: Type) -> Option<Numbers> {
    let text = t.to_string();
    let is_integer = text == "index" || text.strip_prefix('i').is_some_and(|bits| bits.parse::<u32>().is_ok());
    match () {
        () if is_integer => Some(Numbers::Integers),
        () if text.starts_with("complex<") => Some(Numbers::Complex),
        () if text == "tf32" || text.starts_with("bf") || text.starts_with('f') => Some(Numbers::Floats),
        () => None,
    }
}

impl<'c> ElementReduction<'c> {
    /// The reduction for a word of the dialect, from elements of one type to those of another.
    ///
    /// # Errors
    /// A word that does not apply to this type, and types without a conversion.
    pub fn of(b: Builder<'c>, word: &str, from: Type<'c>, to: Type<'c>) -> Result<ElementReduction<'c>, String> {
        use Numbers::{Complex, Floats, Integers};
        let unknown = |t: Type| format!("expected elements that are numbers, found {t}");
        let (old, new) = (numbers(from).ok_or_else(|| unknown(from))?, numbers(to).ok_or_else(|| unknown(to))?);
        let combined = if word == "average" && new != Complex { "sum" } else { word };
        let row = REDUCTIONS.iter().find(|row| (row.0, row.1) == (combined, new));
        let &(.., operation) = row.ok_or_else(|| format!("no reduction `{word}` of {to} is known"))?;
        let bits = |t: Type| ir::bits(t).unwrap_or(64);
        let is_converted = from == to
            || match (old, new) {
                (Integers, Integers) => {
                    bits(from) < bits(to) && to.to_string() != "index" && from.to_string() != "index"
                }
                (Floats, Floats) => bits(from) < bits(to),
                (Integers, Floats) => from.to_string() != "index",
                _ => false,
            };
        if !is_converted {
            return Err(format!("expected a result of {from} or of a type that has all its numbers, found {to}"));
        }
        let within = if new == Floats && bits(to) < 32 { Type::float32(b.context()) } else { to };
        Ok(ElementReduction { operation, within, to, is_average: word == "average" })
    }

    /// An element in the type of the computation.
    pub fn widened(&self, b: Builder<'c>, v: Val<'c>) -> Val<'c> {
        let name = match (numbers(v.r#type()), numbers(self.within)) {
            _ if v.r#type() == self.within => return v,
            (Some(Numbers::Integers), Some(Numbers::Floats)) => "arith.sitofp",
            (Some(Numbers::Integers), _) => "arith.extsi",
            _ => "arith.extf",
        };
        b.value(name, &[v], self.within, &[])
    }

    /// Combines two elements.
    pub fn combined(&self, b: Builder<'c>, x: Val<'c>, y: Val<'c>) -> Val<'c> {
        b.value(self.operation, &[x, y], self.within, &[])
    }

    /// An element of the result, from the combination over `count` processes.
    pub fn finished(&self, b: Builder<'c>, v: Val<'c>, count: i64) -> Val<'c> {
        let mut made = v;
        if self.is_average {
            let is_integer = numbers(self.within) == Some(Numbers::Integers);
            let divisor: Attribute = match is_integer {
                true => IntegerAttribute::new(self.within, count).into(),
                false => FloatAttribute::new(b.context(), self.within, count as f64).into(),
            };
            let name = if is_integer { "arith.divsi" } else { "arith.divf" };
            made = b.value(name, &[made, b.constant(divisor)], self.within, &[]);
        }
        if self.within == self.to { made } else { b.value("arith.truncf", &[made], self.to, &[]) }
    }
}
