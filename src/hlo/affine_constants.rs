//! Integers known from the text: constants, iotas, and rearrangements or conversions of these.
//!
//! `iota()` along dimension 1, as `s32[2,8]`, is `0 + 0*i0 + 1*i1`; its slice by `[0:2], [1:8:3]` is `1 + 3*i1`. An
//! offset from such values is no run-time variable.

use super::literal::{Literal, Values};
use super::module::{Computation, Instruction};
use crate::element::ElementType;
use crate::expr::Expr;
use crate::operations::operation::Operation;
use crate::operations::shape::{Array, Shape};

/// Integers that are an affine function of the index.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct AffineValues {
    /// The value at index 0.
    pub constant: i64,
    /// The step of the value along each dimension.
    pub steps: Vec<i64>,
}

impl AffineValues {
    /// The value at an index.
    pub fn at(&self, index: &[Expr]) -> Expr {
        let terms = self.steps.iter().zip(index).filter(|x| *x.0 != 0).map(|(step, i)| i.clone().times(*step));
        Expr::sum(terms.chain([Expr::Const(self.constant)].into_iter().filter(|c| *c != Expr::Const(0))).collect())
    }

    /// Row-major values as an affine function, if they are one.
    fn of(values: &[i128], sizes: &[i64]) -> Option<AffineValues> {
        let constant = i64::try_from(*values.first()?).ok()?;
        let mut steps = vec![0; sizes.len()];
        let mut weight = 1;
        for (step, size) in steps.iter_mut().zip(sizes).rev() {
            if *size > 1 {
                *step = i64::try_from(values.get(weight)? - i128::from(constant)).ok()?;
            }
            weight = weight.checked_mul(usize::try_from(*size).ok()?)?;
        }
        let found = AffineValues { constant, steps };
        let mut index = vec![0i128; sizes.len()];
        for value in values {
            let sum: i128 = found.steps.iter().zip(&index).map(|(step, i)| i128::from(*step) * i).sum();
            (sum + i128::from(constant) == *value).then_some(())?;
            for (i, size) in index.iter_mut().zip(sizes).rev() {
                *i += 1;
                if *i < i128::from(*size) {
                    break;
                }
                *i = 0;
            }
        }
        Some(found)
    }

    /// The values along `dims` of an array of this rank, and equal along its other dimensions.
    fn broadcast(&self, dims: &[usize], rank: usize) -> AffineValues {
        let mut steps = vec![0; rank];
        for (dim, step) in dims.iter().zip(&self.steps) {
            steps[*dim] = *step;
        }
        AffineValues { constant: self.constant, steps }
    }

    /// The values of a slice.
    fn sliced(&self, starts: &[i64], strides: &[i64]) -> Option<AffineValues> {
        let mut constant = self.constant;
        let mut steps = Vec::new();
        for ((step, start), stride) in self.steps.iter().zip(starts).zip(strides) {
            constant = constant.checked_add(step.checked_mul(*start)?)?;
            steps.push(step.checked_mul(*stride)?);
        }
        Some(AffineValues { constant, steps })
    }

    /// The values in other sizes. Dimensions of size 1 come and go if the elements keep their order; otherwise all
    /// values must be equal.
    fn reshaped(&self, old: &[i64], new: &[i64], keeps_order: bool) -> Option<AffineValues> {
        fn long(sizes: &[i64]) -> impl Iterator<Item = (usize, i64)> {
            sizes.iter().copied().enumerate().filter(|(_, size)| *size != 1)
        }
        let mut steps = vec![0; new.len()];
        if keeps_order && long(old).map(|(_, size)| size).eq(long(new).map(|(_, size)| size)) {
            long(new).zip(long(old)).for_each(|((to, _), (from, _))| steps[to] = self.steps[from]);
        } else if long(old).any(|(dim, _)| self.steps[dim] != 0) {
            return None;
        }
        Some(AffineValues { constant: self.constant, steps })
    }

    /// Whether the values fit the integer type.
    fn fits(&self, array: &Array) -> Option<bool> {
        let element = array.element;
        let signed = element.is_signed();
        if !signed && !element.is_unsigned() {
            return Some(false);
        }
        let (mut lo, mut hi) = (i128::from(self.constant), i128::from(self.constant));
        for (step, size) in self.steps.iter().zip(array.sizes()?) {
            let far = i128::from(*step).checked_mul(i128::from(size) - 1)?;
            lo = lo.checked_add(far.min(0))?;
            hi = hi.checked_add(far.max(0))?;
        }
        let bits = element.bits()? - i64::from(signed);
        let least = if signed { -(1i128 << bits) } else { 0 };
        // A value is handled in 64 signed bits.
        Some(least <= lo && hi < 1i128 << bits.min(63))
    }
}

impl Computation {
    /// The known integers of each instruction.
    pub fn affine_constants(&self) -> Vec<Option<AffineValues>> {
        let mut known: Vec<Option<AffineValues>> = Vec::with_capacity(self.instructions.len());
        for instruction in &self.instructions {
            let found = self.value(instruction, &known);
            known.push(found);
        }
        known
    }

    fn value(&self, instruction: &Instruction, known: &[Option<AffineValues>]) -> Option<AffineValues> {
        let Shape::Array(array) = &instruction.shape else { return None };
        let sizes = array.sizes()?;
        let operand =
            || Some((known[*instruction.operands.first()?].clone()?, &self.instructions[instruction.operands[0]]));
        let found = match &instruction.operation {
            Operation::Constant => match &instruction.literal {
                Some(Literal { values: Values::Integers(values), .. }) => AffineValues::of(values, &sizes)?,
                _ => return None,
            },
            Operation::Iota { dim } => {
                let mut steps = vec![0; sizes.len()];
                *steps.get_mut(*dim)? = 1;
                AffineValues { constant: 0, steps }
            }
            Operation::Broadcast { dims } => operand()?.0.broadcast(dims, sizes.len()),
            Operation::Transpose { permutation } => {
                let (AffineValues { constant, steps }, _) = operand()?;
                AffineValues { constant, steps: permutation.iter().map(|dim| steps[*dim]).collect() }
            }
            Operation::Slice { starts, strides, .. } => operand()?.0.sliced(starts, strides)?,
            Operation::Reshape | Operation::Bitcast => {
                let (affine, from) = operand()?;
                let Shape::Array(from) = &from.shape else { return None };
                (from.element == array.element).then_some(())?;
                let keeps_order = matches!(instruction.operation, Operation::Reshape);
                affine.reshaped(&from.sizes()?, &sizes, keeps_order)?
            }
            Operation::Elementwise if matches!(&*instruction.opcode, "convert" | "copy") => operand()?.0,
            _ => return None,
        };
        found.fits(array)?.then_some(found).filter(|_| array.element != ElementType::Pred)
    }
}
