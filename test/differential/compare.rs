//! One program run with and without layouts on the same numbers.

use crate::array::Array;
use crate::buffer::{Buffer, GARBAGE, call};
use crate::element::random_number;
use crate::program::Program;
use layout_passes::Form;
use layout_reference::choices::Choices;
use layout_runtime::Engine;

/// The relative tolerance of results that are rounded in another order.
const TOLERANCE: f64 = 1e-5;

/// The rounding of results.
#[derive(Clone, Copy, PartialEq)]
pub enum Rounding {
    /// Not at all.
    None,
    /// The same as without layouts.
    Same,
    /// In any way.
    Other,
}

/// A run's result: all copies of each element of arguments and result, and whether other memory is clean.
struct Left {
    arguments: Vec<Vec<Vec<f64>>>,
    result: Vec<Vec<f64>>,
    clean: bool,
}

/// A program compiled twice, and the numbers it is run on.
pub struct Comparison<'a> {
    pub program: &'a Program,
    /// The engine without layouts, and the prefix of the functions' names.
    pub plain: (&'a Engine, &'a str),
    /// The engine with layouts, and its prefix.
    pub tiled: (&'a Engine, &'a str),
    /// Whether arguments and result have layouts; else only intermediate values have.
    pub laid_out: bool,
    pub form: Form,
    /// The seed of the numbers.
    pub seed: u64,
    pub rounding: Rounding,
    /// Whether allocated memory holds garbage, rather than its earlier contents.
    pub fresh: bool,
    /// Whether padding may be written unless its argument's type says its contents.
    pub typed: bool,
}

impl Comparison<'_> {
    fn run(&self, (engine, name): (&Engine, &str), layouts: bool) -> Left {
        let mut rng = Choices::random(self.seed);
        let typed = |array: &Array| Array { layout: array.layout.clone().filter(|_| layouts), ..array.clone() };
        let mut buffers: Vec<Buffer> = Vec::new();
        for array in &self.program.arguments {
            let number = |_| match self.rounding {
                Rounding::Same => array.element.rough_number(&mut rng),
                _ => random_number(&mut rng),
            };
            let numbers: Vec<f64> = (0..array.sizes.iter().product::<i64>()).map(number).collect();
            let garbage = rng.choice(&GARBAGE);
            let promised = array.promised(buffers.len()).filter(|_| layouts);
            let free = self.typed && promised.is_none();
            buffers.push(Buffer::new(&typed(array), &numbers, self.form, promised.unwrap_or(garbage), free));
        }
        let result = self.program.result.as_ref().map(typed);
        let (result, clean) = call(engine, name, &mut buffers, &self.program.indices, result.as_ref());
        let arguments = buffers.iter().map(Buffer::numbers).collect();
        let clean = clean || !self.fresh || self.program.shares_memory();
        Left { arguments, result, clean: clean && buffers.iter().all(Buffer::fenced) }
    }

    /// Runs the program both ways.
    ///
    /// # Errors
    /// If the results differ.
    pub fn check(&self) -> Result<(), String> {
        let (expected, found) = (self.run(self.plain, false), self.run(self.tiled, self.laid_out));
        if !found.clean {
            return Err("it wrote where no element is".into());
        }
        for (k, (expected, found)) in expected.arguments.iter().zip(&found.arguments).enumerate() {
            self.same(&format!("argument {k}"), expected, found)?;
        }
        self.same("the result", &expected.result, &found.result)
    }

    /// Whether all copies of all elements have the expected values.
    fn same(&self, what: &str, expected: &[Vec<f64>], found: &[Vec<f64>]) -> Result<(), String> {
        let tolerance = if self.rounding == Rounding::Other { TOLERANCE } else { 0.0 };
        let near = |a: f64, b: f64| a == b || (a - b).abs() <= tolerance * b.abs().max(1.0);
        let same = |a: f64, b: f64| match self.rounding {
            // Zeros of different sign differ.
            Rounding::Same => a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan()),
            _ => near(a, b) || (a.is_nan() && b.is_nan()),
        };
        let differs = |k: &usize| found[*k].iter().any(|copy| !same(*copy, expected[*k][0]));
        let differences: Vec<usize> = (0..expected.len()).filter(differs).collect();
        let Some(first) = differences.first() else { return Ok(()) };
        let (e, f) = (expected[*first][0], &found[*first]);
        Err(format!("{what}: {} of {} differ, number {first} is {f:?}, not {e}", differences.len(), expected.len()))
    }
}
