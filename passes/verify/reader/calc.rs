//! Operations of `arith` and `math` by their names, and the laws that hold for them.

use crate::reader::flags::{NNAN, NSZ, REASSOC};
use crate::reader::model::{Element, Operator};

/// The function that an operation computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are those of arith")]
pub enum Calc {
    Add,
    Sub,
    Mul,
    DivU,
    DivS,
    FloorDivS,
    CeilDivS,
    CeilDivU,
    RemU,
    RemS,
    And,
    Or,
    Xor,
    Shl,
    ShrU,
    ShrS,
    MinS,
    MaxS,
    MinU,
    MaxU,
    Compare(i64),
    Select,
    ExtU,
    ExtS,
    Trunc,
    Same,
    AddF,
    SubF,
    MulF,
    DivF,
    RemF,
    NegF,
    AbsF,
    AbsI,
    Maximum,
    Minimum,
    MaxNum,
    MinNum,
    CompareF(i64),
    WidenBf16,
    Convert,
    /// The power of two that an `f8E8M0FNU` is.
    PowerOfTwo,
    FromS,
    FromU,
    ToS,
    ToU,
    Fma,
    /// The first of two.
    First,
    /// The real or the imaginary part.
    Part(usize),
    /// A complex number of its parts.
    Create,
    /// A power of integers.
    PowI,
    /// One that others define, whose operands may be swapped.
    Swapped,
    /// One that others define.
    Composed,
    /// Any other.
    Opaque,
}

/// The function that an operation computes.
pub fn calc(operator: &Operator) -> Calc {
    let float = |element: &Element| element.float.is_some();
    let (from, to) = (&operator.from, &operator.to);
    let predicate = operator.attributes.split("predicate = ").nth(1).and_then(|text| text.split([' ', ';']).next());
    let predicate = predicate.and_then(|text| text.parse().ok()).unwrap_or(-1);
    // In the order of AtomicRMWKind; what is stored is the first operand, what is in memory the second.
    let kinds = "addf addi andi first maximumf maxnumf maxsi maxui minimumf minnumf minsi minui mulf muli ori xori";
    let kind = operator.attributes.split("kind = ").nth(1).and_then(|text| text.split([' ', ';']).next());
    let kind = kind.and_then(|text| kinds.split(' ').nth(text.parse().ok()?)).unwrap_or_default();
    let (dialect, name) = operator.name.split_once('.').unwrap_or_default();
    let is_complex = dialect == "complex";
    let calc = match if name == "atomic_rmw" { kind } else { name } {
        "first" => Calc::First,
        "addi" => Calc::Add,
        "subi" => Calc::Sub,
        // Of the latter this is the first result.
        "muli" | "mulsi_extended" | "mului_extended" => Calc::Mul,
        "divui" => Calc::DivU,
        "divsi" => Calc::DivS,
        "floordivsi" => Calc::FloorDivS,
        "ceildivsi" => Calc::CeilDivS,
        "ceildivui" => Calc::CeilDivU,
        "remui" => Calc::RemU,
        "remsi" => Calc::RemS,
        "andi" => Calc::And,
        "ori" => Calc::Or,
        "xori" => Calc::Xor,
        "shli" => Calc::Shl,
        "shrui" => Calc::ShrU,
        "shrsi" => Calc::ShrS,
        "minsi" => Calc::MinS,
        "maxsi" => Calc::MaxS,
        "minui" => Calc::MinU,
        "maxui" => Calc::MaxU,
        "cmpi" => Calc::Compare(predicate),
        "select" => Calc::Select,
        "extui" | "index_castui" if to.bits >= from.bits => Calc::ExtU,
        "extsi" | "index_cast" if to.bits > from.bits => Calc::ExtS,
        "trunci" | "index_cast" | "index_castui" => Calc::Trunc,
        "bitcast" => Calc::Same,
        "addf" if float(to) => Calc::AddF,
        "subf" if float(to) => Calc::SubF,
        "mulf" if float(to) => Calc::MulF,
        "divf" if float(to) => Calc::DivF,
        "remf" if float(to) => Calc::RemF,
        "add" | "mul" if is_complex => Calc::Swapped,
        "sub" | "neg" | "conj" if is_complex => Calc::Composed,
        "create" if is_complex => Calc::Create,
        "ipowi" => Calc::PowI,
        "negf" if float(to) => Calc::NegF,
        "absf" if float(to) => Calc::AbsF,
        "absi" => Calc::AbsI,
        "maximumf" if float(to) => Calc::Maximum,
        "minimumf" if float(to) => Calc::Minimum,
        "maxnumf" if float(to) => Calc::MaxNum,
        "minnumf" if float(to) => Calc::MinNum,
        "cmpf" if float(from) => Calc::CompareF(predicate),
        "extf" if from.text == "bf16" && to.text == "f32" => Calc::WidenBf16,
        "extf" if from.text == "f8E8M0FNU" && float(to) => Calc::PowerOfTwo,
        "scaling_extf" if from.text == "f8E8M0FNU" => Calc::Composed,
        "extf" | "truncf" if float(from) && float(to) && !operator.attributes.contains("roundingmode") => Calc::Convert,
        "sitofp" if float(to) => Calc::FromS,
        "uitofp" if float(to) => Calc::FromU,
        "fptosi" if float(from) => Calc::ToS,
        "fptoui" if float(from) => Calc::ToU,
        "fma" if float(to) => Calc::Fma,
        "re" => Calc::Part(0),
        "im" => Calc::Part(1),
        _ => Calc::Opaque,
    };
    let wide = |element: &Element| element.bits > 64;
    let is_of_any_width = matches!(calc, Calc::Select | Calc::Part(_) | Calc::Create | Calc::Swapped | Calc::Composed);
    if (wide(from) || wide(to)) && !is_of_any_width { Calc::Opaque } else { calc }
}

impl Calc {
    /// Whether the operands may be swapped.
    pub fn commutes(self) -> bool {
        self.associates() || matches!(self, Calc::AddF | Calc::MulF | Calc::Swapped)
    }

    /// Whether it is a division of signed numbers.
    pub fn is_signed(self) -> bool {
        use Calc::*;
        matches!(self, DivS | FloorDivS | CeilDivS | RemS)
    }

    /// Whether a divisor of 0 leaves open what the result is.
    pub fn divides(self) -> bool {
        use Calc::*;
        matches!(self, DivU | DivS | FloorDivS | CeilDivS | CeilDivU | RemU | RemS)
    }

    /// Whether operands may be grouped in any way.
    pub fn associates(self) -> bool {
        use Calc::*;
        matches!(self, Add | Mul | And | Or | Xor | MinS | MaxS | MinU | MaxU | Maximum | Minimum)
    }

    /// The flags of which one says that operands may be grouped in any way, where that is not always so. Of the largest and least
    /// numbers, the order decides the sign of a zero alone.
    pub fn order_flags(self) -> u32 {
        match self {
            Calc::AddF | Calc::MulF => REASSOC,
            Calc::MaxNum | Calc::MinNum => REASSOC | NSZ,
            _ => 0,
        }
    }

    /// Whether the operation, of elements of a type and with flags, leaves an operand as it is where the other one is this
    /// constant; `any_order` where operands come in any order, in which +0.0 is as -0.0.
    ///
    /// ```text
    /// maximumf x -inf = x          with ninf, -inf is poison: maximumf x -3.4e38 = x, as x is not -inf
    /// maxnumf  x NaN  = x          with nnan, NaN is poison: as maximumf
    /// ```
    pub fn is_neutral(self, bits: u64, of: &Element, flags: u32, any_order: bool) -> bool {
        use Calc::*;
        if let Some(float) = of.float {
            return match self {
                AddF => bits == float.least_zero() || any_order && bits == 0,
                SubF => bits == 0,
                MulF | DivF => bits == float.rounded(1.0),
                MaxNum | MinNum if flags & NNAN == 0 => float.is_nan(bits),
                Maximum | MaxNum => bits == float.greatest(flags) | float.sign(),
                Minimum | MinNum => bits == float.greatest(flags),
                _ => false,
            };
        }
        if !of.integer || !(1..=64).contains(&of.bits) {
            return false;
        }
        let ones = u64::MAX >> (64 - of.bits);
        match self {
            Add | Sub | Or | Xor | Shl | ShrU | ShrS | MaxU => bits == 0,
            Mul | DivU | DivS => bits == 1,
            And | MinU => bits == ones,
            MaxS => bits == ones / 2 + 1,
            MinS => bits == ones >> 1,
            _ => false,
        }
    }
}
