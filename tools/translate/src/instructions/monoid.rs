//! Computations on two scalars that are known to be associative and commutative: elements may be combined in any order.
//!
//! A computation is recognised by its form, never by values at a few numbers. `add` of floats counts as associative, as
//! in XLA: results differ by rounding only.

use tensor_layout::element::ElementType;
use tensor_layout::hlo::{Computation, Instruction, Values};
use tensor_layout::operations::{Operation, Shape};

/// The most bytes of a term: [`LOG_OF_SUM`] is the longest known one.
const LONGEST: usize = 256;

/// The logarithm of `exp(a) + exp(b)`, as JAX writes it in `cumlogsumexp`.
const LOG_OF_SUM: &str = "select(NE(subtract(a,b),subtract(a,b)),add(a,b),\
                          add(maximum(a,b),log-plus-one(exponential(negate(abs(subtract(a,b)))))))";

/// An associative and commutative computation of two scalars of one type.
pub struct Monoid {
    form: Form,
    pub element: ElementType,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Sum,
    Product,
    ExclusiveOr,
    /// A computation with `f(f(x, y), y) = f(x, y)`: a maximum, a minimum, `and`, `or`.
    Idempotent,
    LogOfSum,
}

impl Monoid {
    /// The form of a computation; `None` where it is unknown.
    pub fn new(computation: &Computation) -> Option<Monoid> {
        let [left, right] = computation.parameters[..] else { return None };
        let element = scalar(&computation.instructions[left])?;
        let others = [&computation.instructions[right], computation.result()];
        if others.iter().any(|i| scalar(i) != Some(element)) {
            return None;
        }
        let mut terms: Vec<Option<String>> = Vec::new();
        for i in &computation.instructions {
            let operands = i.operands.iter().map(|k| Some((&computation.instructions[*k], terms[*k].as_deref()?)));
            let term = operands.collect::<Option<Vec<_>>>().and_then(|operands| term(i, &operands, element));
            terms.push(term.filter(|term| term.len() <= LONGEST));
        }
        let form = match terms[computation.root].as_deref()? {
            "add(a,b)" | "add(b,a)" => Form::Sum,
            "multiply(a,b)" | "multiply(b,a)" => Form::Product,
            "xor(a,b)" | "xor(b,a)" => Form::ExclusiveOr,
            "maximum(a,b)" | "maximum(b,a)" | "minimum(a,b)" | "minimum(b,a)" | "and(a,b)" | "and(b,a)" | "or(a,b)"
            | "or(b,a)" => Form::Idempotent,
            LOG_OF_SUM => Form::LogOfSum,
            _ => return None,
        };
        // Results beyond the greatest number of this type saturate.
        let saturates = element == ElementType::F4E2M1FN && !matches!(form, Form::Idempotent);
        (!saturates).then_some(Monoid { form, element })
    }

    /// Whether an operand leaves a value unchanged that began with it and is combined with it once more.
    pub fn is_neutral(&self, computation: &Computation, operand: usize) -> bool {
        let mut i = &computation.instructions[operand];
        if i.opcode == "convert" {
            i = &computation.instructions[i.operands[0]];
        }
        let values = i.literal.as_ref().map(|literal| &literal.values);
        let is = |number: f64| match values {
            Some(Values::Floats(all)) => all[..] == [number],
            Some(Values::Integers(all)) => all[..] == [number as i128],
            Some(Values::Booleans(all)) => all[..] == [number != 0.0],
            Some(Values::Complex(all)) => all[..] == [(number, 0.0)],
            _ => false,
        };
        match self.form {
            Form::Idempotent => true,
            Form::Sum | Form::ExclusiveOr => is(0.0),
            // An infinite part times 0 is not a number.
            Form::Product => is(1.0) && !self.element.is_complex(),
            Form::LogOfSum => is(f64::NEG_INFINITY),
        }
    }
}

/// The element type of a scalar.
fn scalar(i: &Instruction) -> Option<ElementType> {
    match &i.shape {
        Shape::Array(array) if array.dims.is_empty() => Some(array.element),
        _ => None,
    }
}

/// The term of an instruction in the parameters `a` and `b`, from the terms of its operands. Conversions to a wider
/// type and back to `own`, the parameters' type, are left out.
fn term(i: &Instruction, operands: &[(&Instruction, &str)], own: ElementType) -> Option<String> {
    let to = scalar(i)?;
    match (&i.operation, operands) {
        (Operation::Parameter { number }, _) => Some(if *number == 0 { "a" } else { "b" }.to_string()),
        (Operation::Elementwise, [(from, term)]) if i.opcode == "convert" => {
            (to == own || widens(scalar(from)?, to)).then(|| term.to_string())
        }
        (Operation::Elementwise | Operation::Select, _) => {
            // In the total order NaN equals itself.
            let name = match &*i.opcode {
                "compare" if i.attribute("type").is_none_or(|order| order == "FLOAT") => i.attribute("direction")?,
                "compare" => return None,
                opcode => opcode,
            };
            let terms: Vec<&str> = operands.iter().map(|(_, term)| *term).collect();
            Some(format!("{name}({})", terms.join(",")))
        }
        _ => None,
    }
}

/// Whether a type has all values of another one of its kind.
fn widens(from: ElementType, to: ElementType) -> bool {
    let is_integer = |e: ElementType| e != ElementType::Pred && !e.is_float() && !e.is_complex();
    let has_more_bits = from.bits() < to.bits();
    has_more_bits
        && if from.is_float() {
            matches!(to, ElementType::F32 | ElementType::F64)
        } else {
            is_integer(from) && is_integer(to) && (to.is_signed() || !from.is_signed())
        }
}
