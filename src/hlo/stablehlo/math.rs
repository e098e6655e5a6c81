//! Expressions of arrays of one type, as instructions.

use super::site::OperationSite;
use super::writer::Value;
use crate::element::ElementType;
use crate::operations::shape::{Array, Shape};

/// Expressions of values of one type.
pub(super) struct Math<'s, 'w, 'a> {
    pub site: &'s mut OperationSite<'w, 'a>,
    pub array: Array,
}

impl Math<'_, '_, '_> {
    fn shape(&self) -> Shape {
        Shape::Array(self.array.clone())
    }

    /// A number in every element.
    pub fn number(&mut self, value: f64) -> Value {
        self.splat(&if value.is_infinite() {
            if value > 0.0 { "inf" } else { "-inf" }.to_string()
        } else {
            format!("{value:e}").replace("NaN", "nan")
        })
    }

    pub fn integer(&mut self, value: i64) -> Value {
        self.splat(&value.to_string())
    }

    fn splat(&mut self, text: &str) -> Value {
        let at = self.site.operation.at;
        let scalar = self.site.scalar(&self.array, text, at);
        if self.array.dims.is_empty() {
            return scalar;
        }
        let shape = self.shape();
        self.site.step("number", &shape, "broadcast", &[scalar], &[("dimensions", "{}".to_string(), at)])
    }

    pub fn one(&mut self, opcode: &str, x: &Value) -> Value {
        let shape = self.shape();
        self.site.step(&opcode.replace('-', "_"), &shape, opcode, std::slice::from_ref(x), &[])
    }

    pub fn two(&mut self, opcode: &str, x: &Value, y: &Value) -> Value {
        let shape = self.shape();
        self.site.step(&opcode.replace('-', "_"), &shape, opcode, &[x.clone(), y.clone()], &[])
    }

    /// An operation with a number.
    pub fn with(&mut self, opcode: &str, x: &Value, number: f64) -> Value {
        let number = self.number(number);
        self.two(opcode, x, &number)
    }

    pub fn pred(&self) -> Shape {
        Shape::Array(Array { element: ElementType::Pred, ..self.array.clone() })
    }

    pub fn compare(&mut self, direction: &str, x: &Value, y: &Value) -> Value {
        let (shape, at) = (self.pred(), self.site.operation.at);
        self.site.step(
            "compare",
            &shape,
            "compare",
            &[x.clone(), y.clone()],
            &[("direction", direction.to_string(), at)],
        )
    }

    /// Whether two conditions are equal.
    pub fn same(&mut self, x: &Value, y: &Value) -> Value {
        self.compare("EQ", x, y)
    }

    pub fn either(&mut self, x: &Value, y: &Value) -> Value {
        let shape = self.pred();
        self.site.step("or", &shape, "or", &[x.clone(), y.clone()], &[])
    }

    pub fn select(&mut self, condition: &Value, yes: &Value, no: &Value) -> Value {
        let shape = self.shape();
        self.site.step("select", &shape, "select", &[condition.clone(), yes.clone(), no.clone()], &[])
    }

    /// `yes` where `x` is below a number, else `no`.
    pub fn below(&mut self, x: &Value, number: f64, yes: &Value, no: &Value) -> Value {
        let number = self.number(number);
        let condition = self.compare("LT", x, &number);
        self.select(&condition, yes, no)
    }

    /// A polynomial, its highest coefficient first.
    pub fn polynomial(&mut self, x: &Value, coefficients: &[f64]) -> Value {
        let mut value = self.number(coefficients[0]);
        for coefficient in &coefficients[1..] {
            let product = self.two("multiply", &value, x);
            value = self.with("add", &product, *coefficient);
        }
        value
    }

    pub fn is_wide(&self) -> bool {
        self.array.element == ElementType::F64
    }
}
