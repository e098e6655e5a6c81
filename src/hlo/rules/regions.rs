//! Checks of called computations: their parameters and results must match the instruction.

use super::site::Site;
use crate::element::ElementType;
use crate::hlo::shapes::{agree, alike, plain, scalar, together};
use crate::operations::shape::Shape;
use crate::text::{Error, counted, excerpt};

impl Site<'_> {
    /// Checks that the `number`th named computation has scalars of these types as parameters and as results.
    pub(super) fn region(
        &self,
        key: &str,
        number: usize,
        takes: &[ElementType],
        gives: &[ElementType],
    ) -> Result<(), Error> {
        self.need(key, "computation")?;
        let Some(&region) = self.called.get(number) else {
            return Err(self.attribute_must(key, format!("name one computation, found {}", self.excerpt(key))));
        };
        let scalars = |types: &[ElementType]| types.iter().copied().map(scalar).collect::<Vec<_>>();
        let (takes, gives) = (scalars(takes), scalars(gives));
        let in_tuple = matches!(self.result_of(region), Ok(Shape::Tuple(parts)) if parts.len() == 1);
        let gives = if in_tuple { Shape::Tuple(gives) } else { together(gives) };
        self.fitted(key, region, &takes.iter().collect::<Vec<_>>(), &gives, alike)
    }

    /// Checks that a computation combines two values into one, for each of these types: first all values so far, then
    /// all new ones. A single value may be in a tuple.
    pub(super) fn reducer(&self, key: &str, number: usize, types: &[ElementType]) -> Result<(), Error> {
        self.region(key, number, &types.repeat(2), types)
    }

    /// Checks that a computation has parameters of these operands' shapes, and this result.
    pub(super) fn calls(&self, key: &str, callee: usize, operands: &[&Shape], result: &Shape) -> Result<(), Error> {
        self.fitted(key, callee, operands, result, |a, b| a == b)
    }

    /// Checks the parameters of a computation, and that it has the instruction's result.
    pub(super) fn calls_whole(&self, key: &str, callee: usize, operands: &[&Shape]) -> Result<(), Error> {
        let result = match self.written {
            Some(written) => written,
            None => self.shape_or(self.result_of(callee)?),
        };
        self.calls(key, callee, operands, result)
    }

    fn fitted(
        &self,
        key: &str,
        callee: usize,
        operands: &[&Shape],
        result: &Shape,
        elements: fn(ElementType, ElementType) -> bool,
    ) -> Result<(), Error> {
        let Some(callee) = self.signatures.get(callee).and_then(Option::as_ref) else { return Ok(()) };
        let (name, found, needed) = (excerpt(callee.name), callee.parameters.len(), operands.len());
        if found != needed {
            let parameters = counted(needed, "parameter");
            let must = format!("name a computation of {parameters}, found {found} in `{name}`");
            return Err(self.attribute_must(key, must));
        }
        for (k, (parameter, operand)) in callee.parameters.iter().zip(operands).enumerate() {
            if !agree(parameter, operand, &elements) {
                let (expected, found) = (plain(operand), plain(parameter));
                let must = format!("name a computation with {expected} as parameter {k}, found {found} in `{name}`");
                return Err(self.attribute_must(key, must));
            }
        }
        if !agree(callee.result, result, &elements) {
            let (expected, found) = (plain(result), plain(callee.result));
            let must = format!("name a computation with the result {expected}, found {found} in `{name}`");
            return Err(self.attribute_must(key, must));
        }
        Ok(())
    }
}
