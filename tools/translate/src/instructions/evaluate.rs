//! The value of a computation on scalars whose arguments are known, as far as a few usual instructions go.
//!
//! Floats are rounded to their type after each instruction. What is not known gives no value, and spoils only what is
//! made of it.

use crate::tensor::first_leaf;
use tensor_layout::element::ElementType;
use tensor_layout::hlo::{Computation, Instruction, Literal, Module, Values};
use tensor_layout::operations::{Operation, Shape, leaves};

/// How many instructions are followed, those of called computations included.
const STEPS: usize = 1000;

/// A real number or a truth value, which is 0 or 1.
#[derive(Clone, Copy, Debug)]
pub enum Scalar {
    Float(f64),
    Int(i128),
}

impl PartialEq for Scalar {
    /// Floats are equal where their bits are, and where both are no number.
    fn eq(&self, other: &Scalar) -> bool {
        match (self, other) {
            (Scalar::Float(a), Scalar::Float(b)) => a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan(),
            (Scalar::Int(a), Scalar::Int(b)) => a == b,
            _ => false,
        }
    }
}

impl Scalar {
    /// The value of a constant.
    pub fn of(literal: &Literal) -> Option<Scalar> {
        match &literal.values {
            Values::Booleans(all) => all.first().map(|x| Scalar::Int((*x).into())),
            Values::Integers(all) => all.first().map(|x| Scalar::Int(*x)),
            Values::Floats(all) => all.first().map(|x| Scalar::Float(*x)),
            _ => None,
        }
    }

    /// A small number of a type; of a truth value whether it is odd.
    pub fn sample(e: ElementType, n: i8) -> Option<Scalar> {
        Scalar::Int(if e == ElementType::Pred { i128::from(n & 1) } else { n.into() }).to(e)
    }

    /// The nearest number of a type, an integer modulo the numbers of its type.
    pub fn to(self, e: ElementType) -> Option<Scalar> {
        match self {
            Scalar::Float(x) if e.is_float() => rounded(x, e).map(Scalar::Float),
            Scalar::Int(x) if e.is_float() => rounded(x as f64, e).map(Scalar::Float),
            Scalar::Int(x) if e == ElementType::Pred => Some(Scalar::Int((x != 0).into())),
            Scalar::Int(x) if e.is_signed() || e.is_unsigned() => {
                let bits = e.bits()?;
                let low = x & ((1 << bits) - 1);
                let is_negative = e.is_signed() && low >> (bits - 1) == 1;
                Some(Scalar::Int(if is_negative { low - (1 << bits) } else { low }))
            }
            _ => None,
        }
    }

    /// Whether two numbers are the same but for rounding to 8 bits.
    pub fn is_near(&self, other: &Scalar) -> bool {
        match (self, other) {
            (Scalar::Float(a), Scalar::Float(b)) if a.is_finite() && b.is_finite() => {
                (a - b).abs() <= 0.02 * a.abs().max(b.abs())
            }
            _ => self == other,
        }
    }
}

/// The nearest float of a type. Of types with less than 16 bits only 0, 1 and -1 are known.
fn rounded(x: f64, e: ElementType) -> Option<f64> {
    // Bits after the first one, the exponent of the least normal number, and the first number that is too large.
    let (bits, least, most) = match e {
        ElementType::F64 => return Some(x),
        ElementType::F32 => return Some(f64::from(x as f32)),
        ElementType::BF16 => (7, -126, f64::from(f32::MAX)),
        ElementType::F16 => (10, -14, 65520.0),
        _ => return (x == 0.0 || x.abs() == 1.0).then_some(x),
    };
    if x == 0.0 || !x.is_finite() {
        return Some(x);
    }
    let exponent = (x.abs().log2().floor() as i32).max(least);
    let unit = f64::from(exponent - bits).exp2();
    let near = (x / unit).round_ties_even() * unit;
    Some(if near.abs() >= most { f64::INFINITY.copysign(x) } else { near })
}

/// The value of an instruction that is a constant, or one of another type.
pub fn constant(computation: &Computation, k: usize) -> Option<Scalar> {
    let i = &computation.instructions[k];
    let value = match (&i.operation, &i.operands[..]) {
        (Operation::Constant, _) => Scalar::of(i.literal.as_ref()?)?,
        (Operation::Elementwise, [from]) if i.opcode == "convert" => {
            let from = &computation.instructions[*from];
            from.literal.as_ref().and_then(Scalar::of)?
        }
        _ => return None,
    };
    value.to(leaves(&i.shape).first()?.element)
}

/// What a computation gives for these arguments, which are of the types of its parameters; `None` where that is not known.
pub fn evaluate(module: &Module, computation: usize, arguments: &[Scalar]) -> Option<Vec<Scalar>> {
    let arguments: Vec<Option<Scalar>> = arguments.iter().copied().map(Some).collect();
    followed(module, computation, &arguments, &mut { STEPS })?.into_iter().collect()
}

/// The leaves of the root, as far as they are known.
fn followed(
    module: &Module,
    computation: usize,
    arguments: &[Option<Scalar>],
    steps: &mut usize,
) -> Option<Vec<Option<Scalar>>> {
    let computation = &module.computations[computation];
    let mut values: Vec<Vec<Option<Scalar>>> = Vec::new();
    for i in &computation.instructions {
        *steps = steps.checked_sub(1)?;
        let operands: Vec<Option<Scalar>> = i.operands.iter().flat_map(|k| values[*k].iter().copied()).collect();
        let single = |x: Option<Scalar>| vec![x.and_then(|x| x.to(leaves(&i.shape).first()?.element))];
        values.push(match &i.operation {
            Operation::Tuple => operands,
            Operation::Call { computation } => followed(module, *computation, &operands, steps)?,
            _ if !matches!(&i.shape, Shape::Array(array) if array.dims.is_empty()) => return None,
            Operation::Parameter { number } => single(*arguments.get(*number)?),
            Operation::GetTupleElement { index } => {
                let place = first_leaf(&computation.instructions[i.operands[0]].shape, *index)?;
                single(*operands.get(place)?)
            }
            Operation::Constant => single(i.literal.as_ref().and_then(Scalar::of)),
            Operation::Broadcast { .. } | Operation::Reshape => single(operands[0]),
            Operation::Elementwise | Operation::Select if i.opcode == "select" => single(match operands[0] {
                Some(Scalar::Int(1)) => operands[1],
                Some(_) => operands[2],
                None => None,
            }),
            Operation::Elementwise => {
                let known: Option<Vec<Scalar>> = operands.into_iter().collect();
                single(known.and_then(|known| elementwise(i, &known)))
            }
            _ => vec![None],
        });
    }
    Some(values.swap_remove(computation.root))
}

fn elementwise(i: &Instruction, x: &[Scalar]) -> Option<Scalar> {
    use Scalar::{Float, Int};
    match (&*i.opcode, x) {
        ("convert" | "copy", [x]) => Some(*x),
        ("compare", [a, b]) if i.attribute("type") != Some("TOTALORDER") => {
            let order = match (a, b) {
                (Float(a), Float(b)) => a.partial_cmp(b),
                (Int(a), Int(b)) => Some(a.cmp(b)),
                _ => return None,
            };
            Some(Int(match i.attribute("direction")? {
                "EQ" => order.is_some_and(|order| order.is_eq()),
                "NE" => order.is_none_or(|order| order.is_ne()),
                "LT" => order.is_some_and(|order| order.is_lt()),
                "LE" => order.is_some_and(|order| order.is_le()),
                "GT" => order.is_some_and(|order| order.is_gt()),
                "GE" => order.is_some_and(|order| order.is_ge()),
                _ => return None,
            }
            .into()))
        }
        (opcode, [Int(a), Int(b)]) => Some(Int(match opcode {
            "add" => a.wrapping_add(*b),
            "subtract" => a.wrapping_sub(*b),
            "multiply" => a.wrapping_mul(*b),
            "maximum" => *a.max(b),
            "minimum" => *a.min(b),
            "and" => a & b,
            "or" => a | b,
            "xor" => a ^ b,
            _ => return None,
        })),
        (opcode, [Float(a), Float(b)]) => Some(Float(match opcode {
            "add" => a + b,
            "subtract" => a - b,
            "multiply" => a * b,
            "divide" => a / b,
            "maximum" | "minimum" if a.is_nan() || b.is_nan() => f64::NAN,
            // Of two zeros either may be the larger one.
            "maximum" | "minimum" if a == b && a.to_bits() != b.to_bits() => return None,
            "maximum" => a.max(*b),
            "minimum" => a.min(*b),
            _ => return None,
        })),
        (opcode, [Float(x)]) => Some(Float(match opcode {
            "abs" => x.abs(),
            "negate" => -x,
            "exponential" => x.exp(),
            "exponential-minus-one" => x.exp_m1(),
            "log" => x.ln(),
            "log-plus-one" => x.ln_1p(),
            "sqrt" => x.sqrt(),
            "tanh" => x.tanh(),
            _ => return None,
        })),
        _ => None,
    }
}
