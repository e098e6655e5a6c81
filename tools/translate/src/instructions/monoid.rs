//! Computations on two scalars that are known to be associative and commutative: elements may be combined in any order.
//!
//! A computation is recognised by its form, through calls, tuples and copies, never by values at a few numbers. `add` of floats
//! counts as associative, as in XLA: results differ by rounding only.

use super::computation::{Scalars, root};
use crate::scalar::elementwise::constant;
use crate::writer::Writer;
use tensor_layout::element::ElementType;
use tensor_layout::hlo::{Instruction, Module, Values};
use tensor_layout::operations::Operation;
use tensor_layout::operations::shape::leaves;

/// The most bytes of a term: [`LOG_OF_SUM`] is the longest known one.
const LONGEST: usize = 256;

/// The logarithm of `exp(a) + exp(b)`, as JAX writes it in `cumlogsumexp`.
const LOG_OF_SUM: &str = "select(NE(subtract({0},{1}),subtract({0},{1})),add({0},{1}),\
                          add(maximum({0},{1}),log-plus-one(exponential(negate(abs(subtract({0},{1})))))))";

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
    pub fn new(module: &Module, number: usize) -> Option<Monoid> {
        let computation = &module.computations[number];
        let [left, right] = computation.parameters[..] else { return None };
        let element = scalar(&computation.instructions[left])?;
        let others = [&computation.instructions[right], computation.result()];
        if others.iter().any(|i| scalar(i) != Some(element)) {
            return None;
        }
        let parameters = [0, 1].map(|number| Term { text: format!("{{{number}}}"), element });
        let form = match root(module, number, &mut Terms { own: element }, &parameters)?.text.as_str() {
            "add({0},{1})" | "add({1},{0})" => Form::Sum,
            "multiply({0},{1})" | "multiply({1},{0})" => Form::Product,
            "xor({0},{1})" | "xor({1},{0})" => Form::ExclusiveOr,
            "maximum({0},{1})" | "maximum({1},{0})" | "minimum({0},{1})" | "minimum({1},{0})" | "and({0},{1})"
            | "and({1},{0})" | "or({0},{1})" | "or({1},{0})" => Form::Idempotent,
            LOG_OF_SUM => Form::LogOfSum,
            _ => return None,
        };
        // Results beyond the greatest number of this type saturate.
        let saturates = element == ElementType::F4E2M1FN && !matches!(form, Form::Idempotent);
        (!saturates).then_some(Monoid { form, element })
    }

    /// Writes a value that leaves every value unchanged that it is combined with; for an [idempotent](Form::Idempotent)
    /// computation the initial value, which leaves those unchanged that it is part of. `None` where there is none.
    pub fn neutral(&self, w: &mut Writer, initial: &str) -> Option<String> {
        use ElementType::{BF16, F8E8M0FNU, F16, F32, F64, Pred};
        let number = match self.form {
            Form::Idempotent => return Some(initial.to_string()),
            // The sum of 0 and -0 is 0. This type has no 0.
            Form::Sum if self.element != F8E8M0FNU => -0.0,
            Form::ExclusiveOr => 0.0,
            // An infinite part times 0 is not a number.
            Form::Product if !self.element.is_complex() => 1.0,
            // Other types have no infinity, or are not those of an exponential.
            Form::LogOfSum if matches!(self.element, BF16 | F16 | F32 | F64) => f64::NEG_INFINITY,
            _ => return None,
        };
        let values = match self.element {
            Pred => Values::Booleans(vec![number != 0.0]),
            element if element.is_complex() => Values::Complex(vec![(number, number)]),
            element if element.is_float() => Values::Floats(vec![number]),
            _ => Values::Integers(vec![number as i128]),
        };
        constant(w, &values, self.element)
    }
}

/// The element type of a scalar.
fn scalar(i: &Instruction) -> Option<ElementType> {
    match leaves(&i.shape)[..] {
        [array] if array.dims.is_empty() => Some(array.element),
        _ => None,
    }
}

/// A computation in its parameters `{0}` and `{1}`: `add({0},{1})`.
#[derive(Clone)]
pub struct Term {
    text: String,
    element: ElementType,
}

/// A part of a term that no known computation has.
const UNKNOWN: &str = "?";

/// Values that are terms. Conversions to a wider type and back to the type `own` are left out.
struct Terms {
    own: ElementType,
}

impl Scalars for Terms {
    type Value = Term;

    fn converted(&mut self, value: &Term, to: ElementType) -> Option<Term> {
        let is_exact = value.element == to || to == self.own || widens(value.element, to);
        Some(Term { text: if is_exact { value.text.clone() } else { UNKNOWN.to_string() }, element: to })
    }

    fn computed(&mut self, i: &Instruction, operands: &[Term], to: ElementType) -> Option<Term> {
        // In the total order NaN equals itself.
        let name = match (&i.operation, operands) {
            (Operation::Elementwise, [from]) if i.opcode == "convert" => return self.converted(from, to),
            (Operation::Bitcast, [from]) if from.element == to => return Some(from.clone()),
            (Operation::Elementwise, _) if i.opcode != "compare" => &*i.opcode,
            (Operation::Elementwise, _) if i.attribute("type").is_none_or(|order| order == "FLOAT") => {
                i.attribute("direction").unwrap_or(UNKNOWN)
            }
            (Operation::Select, _) => &*i.opcode,
            _ => UNKNOWN,
        };
        let terms: Vec<&str> = operands.iter().map(|term| term.text.as_str()).collect();
        let text = Some(format!("{name}({})", terms.join(","))).filter(|text| text.len() <= LONGEST);
        Some(Term { text: text.unwrap_or_else(|| UNKNOWN.to_string()), element: to })
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
