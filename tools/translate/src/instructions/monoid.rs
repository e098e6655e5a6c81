//! Computations on two scalars that are known to be associative and commutative: elements may be combined in any order.
//! A computation on two tuples of scalars is one of them for each position.
//!
//! A computation is recognised by its form, through calls, tuples and copies, never by values at a few numbers. `add` of floats
//! counts as associative, as in XLA: results differ by rounding only.

use super::computation::{Scalars, roots};
use crate::scalar::elementwise::constant;
use crate::writer::Writer;
use tensor_layout::element::ElementType;
use tensor_layout::hlo::{Instruction, Module, Values};
use tensor_layout::operations::Operation;
use tensor_layout::operations::shape::leaves;

/// The most bytes of a term: [`LOG_OF_SUM`] is the longest known one.
const LONGEST: usize = 256;

/// The logarithm of `exp(a) + exp(b)`, as JAX writes it in `cumlogsumexp`.
const LOG_OF_SUM: &str = "select(NE(subtract(l,r),subtract(l,r)),add(l,r),\
                          add(maximum(l,r),log-plus-one(exponential(negate(abs(subtract(l,r)))))))";

/// An associative and commutative computation of two scalars of one type.
struct Monoid {
    form: Form,
    element: ElementType,
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

/// The computations of a reduction on tuples, one for each position.
pub struct Monoids(Vec<Monoid>);

impl Monoids {
    /// The forms of a computation on results so far and elements of these types, in this order; `None` where one is
    /// unknown.
    pub fn new(module: &Module, number: usize, types: &[ElementType]) -> Option<Monoids> {
        let computation = &module.computations[number];
        let own = computation.parameters.iter().map(|k| scalar(&computation.instructions[*k]));
        if !own.eq(types.iter().map(|element| Some(*element))) {
            return None;
        }
        let (left, right) = types.split_at(types.len() / 2);
        let results = leaves(&computation.result().shape);
        if left != right || !results.iter().map(|array| array.element).eq(left.iter().copied()) {
            return None;
        }
        (0..left.len()).map(|position| Monoid::new(module, number, types, position)).collect::<Option<_>>().map(Monoids)
    }

    /// Writes a neutral value for each position, see `Monoid::neutral`.
    pub fn neutral(&self, w: &mut Writer, initial: &[String]) -> Option<Vec<String>> {
        self.0.iter().zip(initial).map(|(monoid, initial)| monoid.neutral(w, initial)).collect()
    }
}

impl Monoid {
    /// The form of a computation's result at a position; `None` where it is unknown, or one of other positions.
    fn new(module: &Module, number: usize, types: &[ElementType], position: usize) -> Option<Monoid> {
        let element = types[position];
        let name = |k: usize| match k {
            _ if k == position => "l",
            _ if k == position + types.len() / 2 => "r",
            _ => UNKNOWN,
        };
        let term = |(k, element): (usize, &ElementType)| Term { text: name(k).to_string(), element: *element };
        let parameters: Vec<Term> = types.iter().enumerate().map(term).collect();
        let roots = roots(module, number, &mut Terms { own: element }, &parameters)?;
        let form = match roots[position].text.as_str() {
            "add(l,r)" | "add(r,l)" => Form::Sum,
            "multiply(l,r)" | "multiply(r,l)" => Form::Product,
            "xor(l,r)" | "xor(r,l)" => Form::ExclusiveOr,
            "maximum(l,r)" | "maximum(r,l)" | "minimum(l,r)" | "minimum(r,l)" | "and(l,r)" | "and(r,l)" | "or(l,r)"
            | "or(r,l)" => Form::Idempotent,
            LOG_OF_SUM => Form::LogOfSum,
            _ => return None,
        };
        // Results beyond the greatest number of this type saturate.
        let saturates = element == ElementType::F4E2M1FN && !matches!(form, Form::Idempotent);
        (!saturates).then_some(Monoid { form, element })
    }

    /// Writes a value that leaves every value unchanged that it is combined with; for an [idempotent](Form::Idempotent)
    /// computation the initial value, which leaves those unchanged that it is part of. `None` where there is none.
    fn neutral(&self, w: &mut Writer, initial: &str) -> Option<String> {
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

/// A computation in its parameters `l` and `r`: `add(l,r)`.
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
