//! Products: what a matrix unit does in a product or a convolution.
//!
//! `bf16[256,768] · bf16[768,512]` has 256 rows, 512 columns and a depth of 768. A convolution has a row for each place
//! of its windows in each image, a column for each feature of the result, and the window's elements as its depth.

use crate::operations::operation::{Convolution, Operation};
use crate::operations::shape::Array;

/// A product, as a matrix unit sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Product {
    /// The result.
    pub result: Array,
    /// The result's dimensions that are the left operand's.
    pub rows: Vec<usize>,
    /// The result's dimensions that are the right operand's. All others are those of both.
    pub columns: Vec<usize>,
    /// The depth: so many sums, each of so many elements that lie one behind the other.
    pub depth: (i64, i64),
    /// The groups, each with its part of the columns and its own depth.
    pub groups: i64,
    /// The bits of the widest element of the operands.
    pub bits: i64,
    /// Whether it is a convolution whose input has another dimension than its features in the lanes.
    pub turned: bool,
}

/// A product that no matrix unit helps: it is computed element by element, as a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum LoopProduct {
    /// Nothing is summed over: an elementwise product of two arrays that are broadcast.
    Outer,
    /// One operand has no dimension of its own, as a vector in front of a matrix: the elementwise product is summed up.
    Summed,
}

impl LoopProduct {
    /// The loop that a product is, if it is one. XLA's compiler for a TPU makes broadcasts, a multiplication and a sum of
    /// these, and puts them into one kernel with their neighbours: of `bi,oij,bj->bo` over 60, 30, 50 and 40 elements the
    /// first product is inside of the second one's kernel, 2,274 cycles, where in orders of a product of its own it takes
    /// 4,340.
    pub fn of(operation: &Operation, operands: &[&Array]) -> Option<LoopProduct> {
        let Operation::Dot { lhs_batch, lhs_contracting, .. } = operation else { return None };
        let [lhs, rhs, ..] = operands else { return None };
        let shared = lhs_batch.len() + lhs_contracting.len();
        let alone = |array: &Array| array.dims.len() == shared;
        match lhs_contracting.is_empty() {
            true => Some(LoopProduct::Outer),
            false => (alone(lhs) || alone(rhs)).then_some(LoopProduct::Summed),
        }
    }
}

impl Product {
    /// The product that an operation is, if it is one and no [`LoopProduct`].
    pub fn of(operation: &Operation, operands: &[&Array], result: &Array) -> Option<Product> {
        if LoopProduct::of(operation, operands).is_some() {
            return None;
        }
        let [lhs, rhs, ..] = operands else { return None };
        let bits = lhs.element.bits()?.max(rhs.element.bits()?);
        let product = |rows, columns, depth, groups| {
            let result = result.clone();
            Product { result, rows, columns, depth, groups, bits, turned: false }
        };
        match operation {
            Operation::Dot { lhs_batch, rhs_batch, lhs_contracting, .. } => {
                let (batch, sizes) = (lhs_batch.len(), lhs.sizes()?);
                let left = lhs.dims.len().checked_sub(batch + lhs_contracting.len())?;
                let right = rhs.dims.len().checked_sub(rhs_batch.len() + lhs_contracting.len())?;
                let depth = lhs_contracting.iter().try_fold(1i64, |n, dim| n.checked_mul(*sizes.get(*dim)?))?;
                let rows = (batch..batch + left).collect();
                Some(product(rows, (batch + left..batch + left + right).collect(), (1, depth), 1))
            }
            Operation::Convolution(convolution) => {
                let (rows, depth) = window(convolution, lhs, &rhs.sizes()?, result)?;
                let columns = vec![convolution.output_feature];
                let groups = convolution.feature_groups.max(convolution.batch_groups);
                let minor = fastest_dims(lhs).next();
                let turned = depth.0 > 1 && minor.is_some_and(|minor| minor != convolution.input_feature);
                Some(Product { turned, ..product(rows, columns, depth, groups) })
            }
            _ => None,
        }
    }

    /// Whether each group has so few features that no matrix unit helps.
    pub fn is_depthwise(&self) -> bool {
        let features = self.columns.first().and_then(|dim| self.result.dims.get(*dim)?.bound());
        self.groups > 1 && features.is_some_and(|features| features / self.groups < 8)
    }
}

/// The dimensions of an array, the fastest first. Without tiles, those of size 1 are nowhere in memory.
pub(super) fn fastest_dims(array: &Array) -> impl Iterator<Item = usize> {
    let is_there = |dim: &&usize| array.layout.is_tiled() || array.dims.get(**dim).is_none_or(|n| n.bound() != Some(1));
    array.layout.minor_to_major.iter().filter(is_there).copied()
}

/// The dimensions of the result that are rows, and the depth. A window that meets each index of the kernel at one place only
/// is a batch dimension, as XLA writes that of a product: it is neither.
fn window(c: &Convolution, input: &Array, kernel: &[i64], result: &Array) -> Option<(Vec<usize>, (i64, i64))> {
    let mut rows = vec![c.output_batch];
    let (mut outer, mut inner) = (1i64, *kernel.get(c.kernel_input_feature)?);
    let mut last = true;
    for (k, (window, dim)) in c.window.iter().zip(&c.output_spatial).enumerate().rev() {
        let data = input.dims.get(*c.input_spatial.get(k)?)?.bound();
        let only = data.zip(result.dims.get(*dim)?.bound()).and_then(|(data, n)| window.degenerate_window(data, n));
        if only.is_some_and(|only| only.place.step != 0) {
            continue;
        }
        rows.push(*dim);
        if std::mem::take(&mut last) {
            inner = inner.checked_mul(window.size)?;
        } else {
            outer = outer.checked_mul(window.size)?;
        }
    }
    Some((rows, (outer, inner)))
}
