//! Functions of complex numbers that HLO has for real ones only, by their real and imaginary parts.
//!
//! The inverse functions are Kahan's ("Branch cuts for complex elementary functions"): square roots of `1 + z` and `1 - z`
//! keep their precision near the branch points and do not overflow.

use super::constants::part_of;
use super::math::Math;
use super::site::OperationSite;
use super::writer::Value;
use crate::operations::shape::Array;
use crate::text::Error;

/// The real and the imaginary part of a number.
pub(super) type ComplexParts = [Value; 2];

/// A function of the operand: of the parts of a complex number, or else what `real` writes.
pub(super) fn function(
    site: &mut OperationSite,
    of: impl Fn(&mut Complex, &ComplexParts) -> ComplexParts,
    real: fn(&mut OperationSite) -> Result<Vec<Value>, Error>,
) -> Result<Vec<Value>, Error> {
    let array = site.operand_array(0)?;
    let Some(part) = part_of(array.element) else { return real(site) };
    let z = site.operand(0)?.clone();
    let mut complex = Complex { math: Math { site, array: Array { element: part, ..array } } };
    let parts = complex.parts(&z);
    let value = of(&mut complex, &parts);
    site.result("complex", &value, &[])
}

/// Expressions of complex numbers of one type.
pub(super) struct Complex<'s, 'w, 'a> {
    math: Math<'s, 'w, 'a>,
}

impl Complex<'_, '_, '_> {
    fn parts(&mut self, z: &Value) -> ComplexParts {
        [self.math.one("real", z), self.math.one("imag", z)]
    }

    fn product(&mut self, x: &Value, y: &Value) -> Value {
        self.math.two("multiply", x, y)
    }

    /// `a b + c d`.
    fn sum_of_products(&mut self, [a, b]: [&Value; 2], [c, d]: [&Value; 2]) -> Value {
        let (left, right) = (self.product(a, b), self.product(c, d));
        self.math.two("add", &left, &right)
    }

    /// `a b - c d`.
    fn difference_of_products(&mut self, [a, b]: [&Value; 2], [c, d]: [&Value; 2]) -> Value {
        let (left, right) = (self.product(a, b), self.product(c, d));
        self.math.two("subtract", &left, &right)
    }

    /// The square root of a number with these parts.
    fn root(&mut self, [re, im]: [&Value; 2]) -> ComplexParts {
        let (abs, size) = (self.math.one("abs", re), self.hypotenuse(re, im));
        let (abs, size) = (self.math.with("multiply", &abs, 0.5), self.math.with("multiply", &size, 0.5));
        let sum = self.math.two("add", &abs, &size);
        let (long, zero) = (self.math.one("sqrt", &sum), self.math.number(0.0));
        let half = self.math.with("multiply", im, 0.5);
        let short = self.math.two("divide", &half, &long);
        let is_zero = self.math.compare("EQ", &long, &zero);
        let short = self.math.select(&is_zero, &zero, &short);
        // The inverse has the sign of a zero.
        let one = self.math.number(1.0);
        let inverse = self.math.two("divide", &one, im);
        let (steep, flat) = (self.signed(&long, &inverse), self.math.one("abs", &short));
        [self.math.below(re, 0.0, &flat, &long), self.math.below(re, 0.0, &steep, &short)]
    }

    /// The square roots of `1 + z` and `1 - z`, with the signs of zeros.
    fn roots(&mut self, [x, y]: &ComplexParts) -> [ComplexParts; 2] {
        let (one, negative) = (self.math.number(1.0), self.math.one("negate", y));
        let (more, less) = (self.math.two("add", &one, x), self.math.two("subtract", &one, x));
        [self.root([&more, y]), self.root([&less, &negative])]
    }

    pub fn square(&mut self, [x, y]: &ComplexParts) -> ComplexParts {
        let (less, more) = (self.math.two("subtract", x, y), self.math.two("add", x, y));
        [self.product(&less, &more), self.sum_of_products([x, y], [x, y])]
    }

    pub fn asin(&mut self, z: &ComplexParts) -> ComplexParts {
        let [[a, b], [c, d]] = self.roots(z);
        let under = self.difference_of_products([&a, &c], [&b, &d]);
        // The imaginary part of the first root by the conjugate of the second.
        let im = self.difference_of_products([&b, &c], [&a, &d]);
        let im = self.math.one("asinh", &im);
        [self.math.two("atan2", &z[0], &under), self.signed(&im, &z[1])]
    }

    pub fn acos(&mut self, z: &ComplexParts) -> ComplexParts {
        let [[a, b], [c, d]] = self.roots(z);
        let half = self.math.two("atan2", &c, &a);
        let im = self.difference_of_products([&a, &d], [&b, &c]);
        let im = self.math.one("asinh", &im);
        let im = self.signed(&im, &z[1]);
        [self.math.two("add", &half, &half), self.math.one("negate", &im)]
    }

    pub fn acosh(&mut self, [x, y]: &ComplexParts) -> ComplexParts {
        let (less, more) = (self.math.with("subtract", x, 1.0), self.math.with("add", x, 1.0));
        let ([a, b], [c, d]) = (self.root([&less, y]), self.root([&more, y]));
        let re = self.sum_of_products([&a, &c], [&b, &d]);
        let half = self.math.two("atan2", &b, &c);
        let angle = self.math.two("add", &half, &half);
        [self.math.one("asinh", &re), self.signed(&angle, y)]
    }

    /// `i asin(-i z)`.
    pub fn asinh(&mut self, [x, y]: &ComplexParts) -> ComplexParts {
        let negative = self.math.one("negate", x);
        let [re, im] = self.asin(&[y.clone(), negative]);
        [self.signed(&im, x), re]
    }

    /// A number with the sign of another, which is positive for both zeros, as in XLA.
    fn signed(&mut self, x: &Value, of: &Value) -> Value {
        let positive = self.math.one("abs", x);
        let negative = self.math.one("negate", &positive);
        self.math.below(of, 0.0, &negative, &positive)
    }

    pub fn atanh(&mut self, z: &ComplexParts) -> ComplexParts {
        let [x, y] = [self.finite(&z[0]), self.finite(&z[1])];
        let x = self.math.one("abs", &x);
        let (one, square) = (self.math.number(1.0), self.product(&y, &y));
        let (less, more) = (self.math.two("subtract", &one, &x), self.math.two("add", &one, &x));
        let four = self.math.with("multiply", &x, 4.0);
        let distance = self.sum_of_products([&less, &less], [&y, &y]);
        let ratio = self.math.two("divide", &four, &distance);
        let log = self.math.one("log-plus-one", &ratio);
        let near = self.math.with("multiply", &log, 0.25);
        let under = self.product(&less, &more);
        let under = self.math.two("subtract", &under, &square);
        let under = self.math.with("multiply", &under, 0.5);
        let angle = self.math.two("atan2", &y, &under);
        // The square of a larger number may overflow, and the real part is then that of 1 / z.
        let size = self.hypotenuse(&x, &y);
        let far = self.math.two("divide", &x, &size);
        let far = self.math.two("divide", &far, &size);
        let most = if self.math.is_wide() { 1e150 } else { 1e18 };
        let re = self.math.below(&size, most, &near, &far);
        [self.signed(&re, &z[0]), self.math.with("multiply", &angle, 0.5)]
    }

    /// The nearest finite number.
    fn finite(&mut self, x: &Value) -> Value {
        let most = if self.math.is_wide() { f64::MAX } else { f32::MAX.into() };
        let less = self.math.with("minimum", x, most);
        self.math.with("maximum", &less, -most)
    }

    /// The root of the sum of two squares, which do not overflow.
    fn hypotenuse(&mut self, x: &Value, y: &Value) -> Value {
        let (x, y) = (self.math.one("abs", x), self.math.one("abs", y));
        let (most, least) = (self.math.two("maximum", &x, &y), self.math.two("minimum", &x, &y));
        let ratio = self.math.two("divide", &least, &most);
        let square = self.product(&ratio, &ratio);
        let sum = self.math.with("add", &square, 1.0);
        let root = self.math.one("sqrt", &sum);
        let size = self.product(&most, &root);
        // The ratio of two zeros or of two infinities is no number.
        let double = self.math.two("add", &most, &most);
        let is_end = self.math.compare("EQ", &double, &most);
        self.math.select(&is_end, &most, &size)
    }

    pub fn log_plus_one(&mut self, [x, y]: &ComplexParts) -> ComplexParts {
        let more = self.math.with("add", x, 1.0);
        let size = self.hypotenuse(&more, y);
        // x (x + 2) + y^2 is the square of the size without 1. Near a size of 1, its logarithm keeps the digits that the
        // logarithm of the size loses; far from 1, the other does.
        let two = self.math.with("add", x, 2.0);
        let square = self.sum_of_products([x, &two], [y, y]);
        let near = self.math.one("log-plus-one", &square);
        let (near, far) = (self.math.with("multiply", &near, 0.5), self.math.one("log", &size));
        let large = self.math.below(&size, 2.0, &near, &far);
        [self.math.below(&size, 0.5, &far, &large), self.math.two("atan2", y, &more)]
    }

    /// `-i atanh(i z)`.
    pub fn atan(&mut self, [x, y]: &ComplexParts) -> ComplexParts {
        let negative = self.math.one("negate", y);
        let [re, im] = self.atanh(&[negative, x.clone()]);
        [im, self.math.one("negate", &re)]
    }
}
