//! Computations on two scalars that are known to be associative and commutative: elements may be combined in any order.
//!
//! A computation is recognised by its form, through calls and fusions, never by values at a few numbers. `add` of floats
//! counts as associative, as in XLA: results differ by rounding only.

use std::collections::{BTreeSet, HashMap};
use tensor_layout::element::ElementType;
use tensor_layout::hlo::{Computation, Instruction, Module, Values};
use tensor_layout::operations::{Operation, Shape};

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
        let form = match result(module, number, element)?.as_str() {
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

/// The term of a computation's result in its parameters `{0}` and `{1}`. Each computation that it calls has one term of
/// its own, so that calls of calls take no longer.
fn result(module: &Module, number: usize, own: ElementType) -> Option<String> {
    let callee =
        |i: &Instruction| if let Operation::Call { computation } = i.operation { Some(computation) } else { None };
    let (mut called, mut left) = (BTreeSet::new(), vec![number]);
    while let Some(next) = left.pop() {
        if called.insert(next) {
            left.extend(module.computations[next].instructions.iter().filter_map(callee));
        }
    }
    let mut results: HashMap<usize, Option<String>> = HashMap::new();
    // A computation comes after those that it calls.
    for next in called {
        let computation = &module.computations[next];
        let mut terms: Vec<Option<String>> = Vec::new();
        for i in &computation.instructions {
            let operands = i.operands.iter().map(|k| Some((&computation.instructions[*k], terms[*k].as_deref()?)));
            let inside = callee(i).and_then(|callee| results.get(&callee)?.as_deref());
            let term = operands.collect::<Option<Vec<_>>>().and_then(|operands| term(i, &operands, own, inside));
            terms.push(term.filter(|term| term.len() <= LONGEST));
        }
        results.insert(next, terms.swap_remove(computation.root));
    }
    results.remove(&number)?
}

/// The term of an instruction in the parameters, from the terms of its operands and of the computation that it calls.
/// Conversions to a wider type and back to `own` are left out.
fn term(i: &Instruction, operands: &[(&Instruction, &str)], own: ElementType, inside: Option<&str>) -> Option<String> {
    let to = scalar(i)?;
    match (&i.operation, operands) {
        (Operation::Parameter { number }, _) => Some(format!("{{{number}}}")),
        (Operation::Call { .. }, _) => {
            let mut parts = inside?.split('{');
            let mut whole = parts.next()?.to_string();
            for part in parts {
                let (number, rest) = part.split_once('}')?;
                whole += operands.get(number.parse::<usize>().ok()?)?.1;
                whole += rest;
            }
            Some(whole)
        }
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
