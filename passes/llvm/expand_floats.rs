//! `layout-expand-floats`: arithmetic on floating-point numbers of 4, 6 and 8 bits, for which LLVM has no types, and
//! `math.clampf` on all types, which has no conversion to LLVM.
//!
//! `math.clampf %x to [%lo, %hi]` is the minimum of `%hi` and of the maximum of `%x` and `%lo`, as in SPIR-V's
//! `FClamp`; NaN stays. Upstream's `math-expand-ops` exchanges the bounds, so that the result is `%hi` for all numbers.
//!
//! Upstream's patterns compute in f32 between `arith.extf` and `arith.truncf`. `math.fma` is computed in f64, as f32
//! would round its sum before the rounding to the small type. This file expands the two conversions on bits. The
//! magnitude of a number with `M` bits of mantissa and the bias `B` is, without its sign, the integer `a`:
//!
//! ```text
//! f8E4M3FN, M = 3, B = 7         a < 2^M: a * 2^(1 - B - M)       0b0000_101 is 5 * 2^-9
//!                                else: the bits of f32 are (a << (23 - M)) + ((127 - B) << 23)
//! ```
//!
//! Rounding is to the nearest, ties to even. A normal result is rounded in the integer of the wide number: half
//! of the last place, less one if that place is even, is added before the bits below are cut off. For a subnormal
//! result the floating-point unit rounds: in `x + 2^(1 - B - M + 23)` the last place of the sum is the least subnormal
//! number. No step reads or writes a subnormal number of f32, so flushing these to zero has no effect.
//!
//! An overflow becomes infinity, without infinity NaN, and without both the largest number; NaN without NaN becomes a
//! zero. These are the rules of the Python package ml_dtypes and of LLVM's APFloat, also for `f8E8M0FNU`, which has no zero
//! and no sign: both become NaN, and the midpoint of two numbers becomes the greater one. Between its two least numbers
//! `ml_dtypes` rounds to the greater one, and this file to the nearest.

use crate::pass::diagnostic::Diagnostic;
use crate::pass::stages::{Next, StageInput, StageResult};
use crate::pass::upstream;
use layout_ir::{self as ir, Builder, Op, Rewriter, Val};
use melior::ir::attribute::{DenseElementsAttribute, IntegerAttribute};
use melior::ir::r#type::IntegerType;
use melior::ir::{Attribute, Type, ValueLike};

/// Upstream's pass that computes functions of small numbers in f32. The listed types have functions of their own,
/// beside f32 and f64.
pub(crate) const PASSES: &str = "math-extend-to-supported-types{extra-types=f16,bf16,f80,f128 target-type=f32}";

/// A floating-point type of fewer than 16 bits.
struct Format {
    name: &'static str,
    exponent: u32,
    mantissa: u32,
    bias: i32,
    special: Special,
}

/// The encodings of values that are no finite numbers.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Special {
    /// Infinities and NaN, with all bits of the exponent.
    Ieee,
    /// NaN, with all bits but the sign.
    AllOnes,
    /// NaN alone, in place of the negative zero.
    NegativeZero,
    /// None.
    Finite,
    /// NaN, with all bits; only powers of two are numbers, and none of them is negative.
    PowersOfTwo,
}

#[rustfmt::skip]
const FORMATS: &[Format] = &[
    Format { name: "f4E2M1FN",      exponent: 2, mantissa: 1, bias: 1,   special: Special::Finite },
    Format { name: "f6E2M3FN",      exponent: 2, mantissa: 3, bias: 1,   special: Special::Finite },
    Format { name: "f6E3M2FN",      exponent: 3, mantissa: 2, bias: 3,   special: Special::Finite },
    Format { name: "f8E3M4",        exponent: 3, mantissa: 4, bias: 3,   special: Special::Ieee },
    Format { name: "f8E4M3",        exponent: 4, mantissa: 3, bias: 7,   special: Special::Ieee },
    Format { name: "f8E4M3B11FNUZ", exponent: 4, mantissa: 3, bias: 11,  special: Special::NegativeZero },
    Format { name: "f8E4M3FN",      exponent: 4, mantissa: 3, bias: 7,   special: Special::AllOnes },
    Format { name: "f8E4M3FNUZ",    exponent: 4, mantissa: 3, bias: 8,   special: Special::NegativeZero },
    Format { name: "f8E5M2",        exponent: 5, mantissa: 2, bias: 15,  special: Special::Ieee },
    Format { name: "f8E5M2FNUZ",    exponent: 5, mantissa: 2, bias: 16,  special: Special::NegativeZero },
    Format { name: "f8E8M0FNU",     exponent: 8, mantissa: 0, bias: 127, special: Special::PowersOfTwo },
];

impl Format {
    /// The format of a type, or of the elements of a vector type.
    fn of(t: Type) -> Option<&'static Format> {
        let bits = ir::bits(element(t)).filter(|bits| *bits <= 8)?;
        FORMATS.iter().find(|format| format.bits() == bits && element(t).to_string() == format.name)
    }

    fn sign(&self) -> i64 {
        if self.special == Special::PowersOfTwo { 0 } else { 1 << (self.exponent + self.mantissa) }
    }

    fn bits(&self) -> i64 {
        i64::from(self.exponent + self.mantissa) + i64::from(self.sign() != 0)
    }

    /// The largest finite number, as an integer.
    fn largest(&self) -> i64 {
        let all = (1 << (self.exponent + self.mantissa)) - 1;
        match self.special {
            Special::Ieee => all - (1 << self.mantissa),
            Special::AllOnes | Special::PowersOfTwo => all - 1,
            Special::NegativeZero | Special::Finite => all,
        }
    }
}

/// A standard source format: its width, bits of mantissa and bias.
struct Wide {
    bits: u32,
    mantissa: u32,
    bias: i32,
}

const F32: Wide = Wide { bits: 32, mantissa: 23, bias: 127 };
const F64: Wide = Wide { bits: 64, mantissa: 52, bias: 1023 };

impl Wide {
    /// The bits of `factor * 2^exponent`.
    fn number(&self, factor: f64, exponent: i32) -> i64 {
        let number = factor * 2f64.powi(exponent);
        if self.bits == 32 { i64::from((number as f32).to_bits()) } else { number.to_bits() as i64 }
    }

    fn infinity(&self) -> i64 {
        (i64::MAX >> (64 - self.bits)) - ((1 << self.mantissa) - 1)
    }
}

/// Makes a module compute with such numbers in f32; returns false if nothing changes, as it clamps nothing and all
/// operations on them are moves.
///
/// # Errors
/// Upstream's errors, which are reported.
fn begin<'c>(rewriter: &'c Rewriter) -> Result<bool, Vec<Diagnostic<'c>>> {
    let module = rewriter.root();
    let computes = |op: &Op| match ir::name(*op) {
        "arith.bitcast" | "arith.constant" | "arith.select" => false,
        name => ["arith.", "math.", "vector."].iter().any(|dialect| name.starts_with(dialect)),
    };
    let is_small = |v: Val| Format::of(v.r#type()).is_some();
    let clamps: Vec<Op> = ir::all_operations(module).into_iter().filter(|op| ir::name(*op) == "math.clampf").collect();
    clamps.iter().for_each(|op| clamp(rewriter, *op));
    let mut operations = ir::all_operations(module).into_iter().filter(computes);
    if !operations.any(|op| ir::operands(op).into_iter().chain(ir::results(op)).any(is_small)) {
        return Ok(!clamps.is_empty());
    }
    for op in ir::all_operations(module) {
        if ir::name(op) == "math.fma" && is_small(ir::result(op, 0)) {
            multiply_and_add(rewriter, op);
        }
    }
    let context = Builder::before(module).context();
    let types: Vec<Type> = FORMATS.iter().filter_map(|format| Type::parse(context, format.name)).collect();
    if upstream::compute_in_f32(module, &types) { Ok(true) } else { Err(Vec::new()) }
}

/// Expands a `math.clampf`.
fn clamp<'c>(rewriter: &'c Rewriter, op: Op<'c>) {
    let (b, result, operands) = (Builder::before(op), ir::result(op, 0), ir::operands(op));
    let (t, attributes) = (result.r#type(), b.attributes_of(op));
    let above = b.value("arith.maximumf", &operands[..2], t, &attributes);
    ir::replace_all_uses(result, b.value("arith.minimumf", &[above, operands[2]], t, &attributes));
    rewriter.erase(op);
}

/// Computes a `math.fma` in f64.
fn multiply_and_add<'c>(rewriter: &'c Rewriter, op: Op<'c>) {
    let result = ir::result(op, 0);
    let lanes = LaneBuilder { b: Builder::before(op), shape: ir::vector(result.r#type()).map(|vector| vector.shape) };
    let f64 = Type::float64(lanes.b.context());
    let wide: Vec<Val> = ir::operands(op).into_iter().map(|own| lanes.op("arith.extf", &[own], f64)).collect();
    let sum = lanes.op("math.fma", &wide, f64);
    ir::replace_all_uses(result, lanes.op("arith.truncf", &[sum], element(result.r#type())));
    rewriter.erase(op);
}

/// Expands conversions to and from such numbers.
pub(crate) fn run<'c>(stage: StageInput<'c>) -> StageResult<'c> {
    let StageInput { rewriter, number, .. } = stage;
    if number == 0 {
        let next = Next::Run { passes: PASSES.to_owned(), number: 1, changed: true };
        return Ok(if begin(rewriter)? { next } else { Next::Unchanged });
    }
    let is_conversion = |op: &Op| matches!(ir::name(*op), "arith.extf" | "arith.truncf");
    let conversions = ir::all_operations(rewriter.root()).into_iter().filter(is_conversion);
    let errors: Vec<Diagnostic> = conversions.filter_map(|op| convert(rewriter, op).err()).collect();
    if errors.is_empty() { Ok(Next::Changed) } else { Err(errors) }
}

fn convert<'c>(rewriter: &'c Rewriter, op: Op<'c>) -> Result<(), Diagnostic<'c>> {
    let (operand, result) = (ir::operands(op)[0], ir::result(op, 0));
    let (from, to) = (Format::of(operand.r#type()), Format::of(result.r#type()));
    if from.is_none() && to.is_none() {
        return Ok(());
    }
    let refused = |reason: String| {
        let message = format!("'{}' op cannot be lowered: {reason}", ir::name(op));
        Err(Diagnostic::error(ir::location(op), message))
    };
    if ir::attribute(op, "roundingmode").and_then(ir::integer).is_some_and(|mode| mode != 0) {
        return refused(format!("numbers of {} are rounded to_nearest_even alone", element(result.r#type())));
    }
    let lanes = LaneBuilder { b: Builder::before(op), shape: ir::vector(operand.r#type()).map(|vector| vector.shape) };
    let f32 = Type::float32(lanes.b.context());
    let source = element(operand.r#type());
    let (wide, source_format) = match (from, ir::bits(source)) {
        (Some(format), _) => (lanes.extended(operand, format), F32),
        (None, Some(16)) if source == Type::bfloat16(lanes.b.context()) => (lanes.widened(operand), F32),
        (None, Some(16)) => (lanes.op("arith.extf", &[operand], f32), F32),
        (None, Some(32)) => (operand, F32),
        (None, Some(64)) => (operand, F64),
        _ => return refused(format!("expected a number of at most 64 bits, found {source}")),
    };
    let target = element(result.r#type());
    let made = match (to, ir::bits(target)) {
        (Some(format), _) => lanes.truncated(wide, &source_format, format, target),
        (None, Some(32)) => wide,
        // Exact, and LLVM would call a function of its run-time library.
        (None, Some(16)) if from.is_some() && target == Type::bfloat16(lanes.b.context()) => {
            lanes.upper_half(wide, target)
        }
        (None, Some(16)) => lanes.op("arith.truncf", &[wide], target),
        _ => lanes.op("arith.extf", &[wide], target),
    };
    ir::replace_all_uses(result, made);
    rewriter.erase(op);
    Ok(())
}

/// The type of a scalar, or of the elements of a vector.
fn element<'c>(t: Type<'c>) -> Type<'c> {
    ir::vector(t).map_or(t, |vector| vector.element)
}

/// Predicates of `arith.cmpi` for unsigned integers.
const EQUAL: i64 = 0;
const BELOW: i64 = 6;
const ABOVE: i64 = 8;

/// Operations on scalars, or on all lanes of vectors of a shape.
struct LaneBuilder<'c> {
    b: Builder<'c>,
    shape: Option<Vec<i64>>,
}

impl<'c> LaneBuilder<'c> {
    fn op(&self, name: &str, operands: &[Val<'c>], element: Type<'c>) -> Val<'c> {
        self.b.value(name, operands, self.of(element), &[])
    }

    fn of(&self, element: Type<'c>) -> Type<'c> {
        self.shape.as_ref().map_or(element, |shape| ir::vector_type(shape, element))
    }

    fn integer(&self, bits: u32) -> Type<'c> {
        IntegerType::new(self.b.context(), bits).into()
    }

    /// An operation on two integers of this width, the second of them a constant.
    fn with(&self, name: &str, bits: u32, v: Val<'c>, number: i64) -> Val<'c> {
        self.op(name, &[v, self.number(bits, number)], self.integer(bits))
    }

    fn number(&self, bits: u32, number: i64) -> Val<'c> {
        let one: Attribute = IntegerAttribute::new(self.integer(bits), number).into();
        let all = || DenseElementsAttribute::new(self.of(self.integer(bits)), &[one]).expect("a number for all lanes");
        self.b.constant(if self.shape.is_some() { all().into() } else { one })
    }

    /// Selects an integer by a comparison of `v` with a constant.
    fn choose(&self, bits: u32, (v, predicate, number): (Val<'c>, i64, i64), then: Val<'c>, other: Val<'c>) -> Val<'c> {
        let predicate = IntegerAttribute::new(self.integer(64), predicate);
        let operands = [v, self.number(bits, number)];
        let holds =
            self.b.value("arith.cmpi", &operands, self.of(self.integer(1)), &[self.b.named("predicate", predicate)]);
        self.op("arith.select", &[holds, then, other], self.integer(bits))
    }

    /// Extends a number to f32.
    fn extended(&self, v: Val<'c>, format: &Format) -> Val<'c> {
        let (f32, int) = (Type::float32(self.b.context()), self.integer(32));
        let own = self.op("arith.bitcast", &[v], self.integer(format.bits() as u32));
        let code = self.op("arith.extui", &[own], int);
        let nan = self.number(32, i64::from(f32::NAN.to_bits()));
        let magnitude = self.with("arith.andi", 32, code, (1 << (format.exponent + format.mantissa)) - 1);
        let shifted = self.with("arith.shli", 32, magnitude, i64::from(F32.mantissa - format.mantissa));
        if format.special == Special::PowersOfTwo {
            let least = self.number(32, F32.number(1.0, -format.bias));
            let number = self.choose(32, (code, EQUAL, 0), least, shifted);
            let number = self.choose(32, (code, ABOVE, format.largest()), nan, number);
            return self.op("arith.bitcast", &[number], f32);
        }
        let normal = self.with("arith.addi", 32, shifted, i64::from(F32.bias - format.bias) << F32.mantissa);
        let steps = self.op("arith.uitofp", &[magnitude], f32);
        let step = self.number(32, F32.number(1.0, 1 - format.bias - format.mantissa as i32));
        let step = self.op("arith.bitcast", &[step], f32);
        let subnormal = self.op("arith.mulf", &[steps, step], f32);
        let subnormal = self.op("arith.bitcast", &[subnormal], int);
        let mut number = self.choose(32, (magnitude, BELOW, 1 << format.mantissa), subnormal, normal);
        if matches!(format.special, Special::Ieee | Special::AllOnes) {
            let special = self.with("arith.ori", 32, shifted, F32.infinity());
            number = self.choose(32, (magnitude, ABOVE, format.largest()), special, number);
        }
        let sign = self.with("arith.andi", 32, code, format.sign());
        let sign = self.with("arith.shli", 32, sign, 32 - format.bits());
        number = self.op("arith.ori", &[number, sign], int);
        if format.special == Special::NegativeZero {
            number = self.choose(32, (code, EQUAL, format.sign()), nan, number);
        }
        self.op("arith.bitcast", &[number], f32)
    }

    /// The number of bf16 that an f32 is.
    fn upper_half(&self, v: Val<'c>, t: Type<'c>) -> Val<'c> {
        let code = self.op("arith.bitcast", &[v], self.integer(32));
        let upper = self.with("arith.shrui", 32, code, 16);
        self.op("arith.bitcast", &[self.op("arith.trunci", &[upper], self.integer(16))], t)
    }

    /// The f32 that a number of bf16 is. Of an extension and a mask of the sign LLVM makes an operation of AVX512_BF16, for
    /// which a subnormal number is 0.
    fn widened(&self, v: Val<'c>) -> Val<'c> {
        let upper = self.op("arith.bitcast", &[v], self.integer(16));
        let code = self.with("arith.shli", 32, self.op("arith.extui", &[upper], self.integer(32)), 16);
        self.op("arith.bitcast", &[code], Type::float32(self.b.context()))
    }

    /// Rounds to the nearest number of the format.
    fn truncated(&self, v: Val<'c>, from: &Wide, format: &Format, t: Type<'c>) -> Val<'c> {
        let (bits, int) = (from.bits, self.integer(from.bits));
        let float = element(v.r#type());
        let code = self.op("arith.bitcast", &[v], int);
        let magnitude = self.with("arith.andi", bits, code, i64::MAX >> (64 - bits));
        let dropped = from.mantissa - format.mantissa;
        let half = self.with("arith.addi", bits, magnitude, (1 << (dropped - 1)) - 1);
        let last = match format.special {
            // The last place of a power of two is its only one, and odd.
            Special::PowersOfTwo => self.number(bits, 1),
            _ => {
                let last = self.with("arith.shrui", bits, magnitude, i64::from(dropped));
                self.with("arith.andi", bits, last, 1)
            }
        };
        let rounded = self.op("arith.addi", &[half, last], int);
        let rounded = self.with("arith.shrui", bits, rounded, i64::from(dropped));
        let normal = self.with("arith.subi", bits, rounded, i64::from(from.bias - format.bias) << format.mantissa);
        let made = match format.special {
            Special::PowersOfTwo => self.power_of_two(code, magnitude, normal, from, format),
            _ => {
                let step = 1 - format.bias - format.mantissa as i32;
                let round = from.number(1.0, step + from.mantissa as i32);
                let positive = self.op("arith.bitcast", &[magnitude], float);
                let rounding = self.op("arith.bitcast", &[self.number(bits, round)], float);
                let sum = self.op("arith.addf", &[positive, rounding], float);
                let sum = self.op("arith.bitcast", &[sum], int);
                let subnormal = self.with("arith.subi", bits, sum, round);
                let least = from.number(1.0, 1 - format.bias);
                let number = self.choose(bits, (magnitude, BELOW, least), subnormal, normal);
                let sign = self.with("arith.shrui", bits, code, i64::from(bits) - format.bits());
                let sign = self.with("arith.andi", bits, sign, format.sign());
                self.with_special(number, magnitude, sign, from, format)
            }
        };
        let made = self.op("arith.trunci", &[made], self.integer(format.bits() as u32));
        self.op("arith.bitcast", &[made], t)
    }

    /// A rounded magnitude with its sign, or a special value.
    fn with_special(&self, number: Val<'c>, from: Val<'c>, sign: Val<'c>, wide: &Wide, format: &Format) -> Val<'c> {
        let (bits, int) = (wide.bits, self.integer(wide.bits));
        let constant = |number: i64| self.number(bits, number);
        let signed = |number: Val<'c>| self.op("arith.ori", &[number, sign], int);
        let largest = format.largest();
        let too_large = (number, ABOVE, largest);
        let is_nan = (from, ABOVE, wide.infinity());
        match format.special {
            Special::NegativeZero => {
                let number = self.choose(bits, (number, EQUAL, 0), number, signed(number));
                self.choose(bits, too_large, constant(format.sign()), number)
            }
            Special::Finite => {
                let number = signed(self.choose(bits, too_large, constant(largest), number));
                let zero = self.with("arith.xori", bits, sign, format.sign());
                self.choose(bits, is_nan, zero, number)
            }
            _ => {
                let number = self.choose(bits, too_large, constant(largest + 1), number);
                let nan = largest + 1 + if format.special == Special::Ieee { 1 << (format.mantissa - 1) } else { 0 };
                signed(self.choose(bits, is_nan, constant(nan), number))
            }
        }
    }

    /// Rounds to a format of powers of two.
    fn power_of_two(
        &self,
        code: Val<'c>,
        magnitude: Val<'c>,
        normal: Val<'c>,
        from: &Wide,
        format: &Format,
    ) -> Val<'c> {
        let bits = from.bits;
        let [zero, one] = [0, 1].map(|number| self.number(bits, number));
        let nan = self.number(bits, format.largest() + 1);
        // From the midpoint of the two least numbers on, the second one is the result.
        let subnormal = self.choose(bits, (magnitude, BELOW, from.number(1.5, -format.bias)), zero, one);
        let least = from.number(1.0, 1 - format.bias);
        let number = self.choose(bits, (magnitude, BELOW, least), subnormal, normal);
        let number = self.choose(bits, (number, ABOVE, format.largest()), nan, number);
        // Zero, and numbers with a sign.
        let number = self.choose(bits, (code, ABOVE, i64::MAX >> (64 - bits)), nan, number);
        self.choose(bits, (magnitude, EQUAL, 0), nan, number)
    }
}
