//! The ranges of indices that the loops of an operation read and make.
//!
//! A convolution `y[n,i,f] = sum over c, k of x[n,i+k,c] * w[k,c,f]` with a window of 3 has the loops n, i, f, c. For `i`
//! in `[4, 7]` it reads `x` at `[4, 9]`: the range of an index is that of its loop, with what the window adds. Loops and
//! indices are those of [`Operation::loops`].

use crate::plan::labels::loops;
use crate::plan::program::InstanceKind;
use tensor_layout::expr::Expr;
use tensor_layout::operations::operation::{Algorithm, Loops, Operation};
use tensor_layout::operations::shape::Array;

/// The range of an index of an array, for a range of a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum IndexRange {
    /// All indices.
    Whole,
    /// `floor((stride * l + low) / divisor)` up to `floor((stride * l + high) / divisor)`, cut to the dimension.
    Along {
        /// The loop.
        of: usize,
        /// The steps of the index for one of the loop.
        stride: i64,
        /// The least addend.
        low: i64,
        /// The largest addend.
        high: i64,
        /// The divisor.
        divisor: i64,
    },
}

impl IndexRange {
    fn same(of: usize) -> IndexRange {
        IndexRange::Along { of, stride: 1, low: 0, high: 0, divisor: 1 }
    }

    /// Whether the index is that of its loop.
    pub(super) fn is_loop(self) -> bool {
        matches!(self, IndexRange::Along { stride: 1, low: 0, high: 0, divisor: 1, .. })
    }

    /// The loop that the index follows.
    pub fn of_loop(self) -> Option<usize> {
        match self {
            IndexRange::Whole => None,
            IndexRange::Along { of, .. } => Some(of),
        }
    }

    /// The indices of a dimension of size `size` for these values of its loop, both half-open.
    pub fn of(self, [start, end]: [i64; 2], size: i64) -> [i64; 2] {
        let IndexRange::Along { stride, low, high, divisor, .. } = self else { return [0, size] };
        let at = |l: i64, more: i64| l.saturating_mul(stride).saturating_add(more).div_euclid(divisor);
        [at(start, low).clamp(0, size), at(end - 1, high).saturating_add(1).clamp(0, size)]
    }
}

/// The loops of an operation, and the indices of its arrays.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct LoopNest {
    /// How often each loop runs.
    pub sizes: Vec<i64>,
    /// Whether a loop may be cut into pieces that run in different places.
    pub cuttable: Vec<bool>,
    /// By operand and dimension.
    pub operands: Vec<Vec<IndexRange>>,
    /// By result and dimension.
    pub results: Vec<Vec<IndexRange>>,
    /// By operand, whether its elements are read one by one, anywhere: as those of a table are, or where nothing is known.
    pub scattered: Vec<bool>,
}

/// The sizes of an array; a dimension without a bound counts as one element.
pub fn sizes(array: &Array) -> Vec<i64> {
    array.dims.iter().map(|dim| dim.bound().unwrap_or(1).max(1)).collect()
}

impl LoopNest {
    /// The loops of what an instance does. What is not known of an operation is taken to read all of its operands.
    pub fn new(kind: &InstanceKind, operands: &[&Array], results: &[&Array]) -> LoopNest {
        let operation = match kind {
            InstanceKind::Operation(operation) => *operation,
            InstanceKind::Merge | InstanceKind::Copy | InstanceKind::Result(_) => &Operation::Elementwise,
            InstanceKind::Argument(..) | InstanceKind::Opaque => &Operation::Constant,
        };
        if let (Operation::Reshape | Operation::Bitcast, [operand], [result]) = (operation, operands, results) {
            return reshaped(&sizes(operand), &sizes(result));
        }
        match loops(operation, operands, results) {
            Some(loops) => LoopNest::of(operation, &loops, operands, results),
            None => {
                let own = results.first().map_or(Vec::new(), |array| sizes(array));
                let same = |array: &&Array| match array.dims.len() == own.len() {
                    true => (0..own.len()).map(IndexRange::same).collect(),
                    false => vec![IndexRange::Whole; array.dims.len()],
                };
                LoopNest {
                    cuttable: vec![true; own.len()],
                    scattered: vec![true; operands.len()],
                    operands: operands.iter().map(|array| vec![IndexRange::Whole; array.dims.len()]).collect(),
                    results: results.iter().map(same).collect(),
                    sizes: own,
                }
            }
        }
    }

    /// Ranges in place of expressions. An index that is a sum of one loop and of loops that no result has, as that of a
    /// window, follows the first one, and the others are not cut.
    fn of(operation: &Operation, loops: &Loops, operands: &[&Array], results: &[&Array]) -> LoopNest {
        let extents: Vec<i64> = loops.sizes.iter().map(|size| (*size).max(1)).collect();
        let mut cuttable = vec![true; extents.len()];
        // Slices of what is written as a quotient would begin inside of one.
        let divides = !matches!(operation, Operation::Loops(_));
        let mut ranges = |index: &[Expr], array: &Array| -> Vec<IndexRange> {
            let one = |(e, size): (&Expr, i64)| match e {
                Expr::Var(of) if extents.get(*of) == Some(&size) => IndexRange::same(*of),
                Expr::FloorDiv(e, divisor) if divides => summed(e, *divisor, loops, &mut cuttable),
                e => summed(e, 1, loops, &mut cuttable),
            };
            index.iter().zip(sizes(array)).map(one).collect()
        };
        let read = loops.operands.iter().zip(operands).map(|(index, array)| match index {
            Some(index) => ranges(index, array),
            None => vec![IndexRange::Whole; array.dims.len()],
        });
        let mut read: Vec<Vec<IndexRange>> = read.collect();
        let results = loops.results.iter().zip(results).map(|(index, array)| ranges(index, array)).collect();
        match operation {
            Operation::Convolution(convolution) if convolution.feature_groups > 1 || convolution.batch_groups > 1 => {
                let is_spatial = |range: &IndexRange| range.of_loop().is_some_and(|of| of >= 3);
                read.iter_mut()
                    .flatten()
                    .filter(|range| !is_spatial(range))
                    .for_each(|range| *range = IndexRange::Whole);
                cuttable[2] = false;
            }
            Operation::Algorithm(algorithm) => match **algorithm {
                Algorithm::Sort { dim } => cuttable[dim] = false,
                _ => read.iter_mut().flatten().for_each(|range| *range = IndexRange::Whole),
            },
            _ => {}
        }
        let is_scattered = matches!(
            operation,
            Operation::Gather(_)
                | Operation::DynamicSlice { .. }
                | Operation::DynamicUpdateSlice
                | Operation::InsertSlice { .. }
                | Operation::Reverse { .. }
        );
        let scattered = read.iter().map(|ranges| is_scattered && ranges.contains(&IndexRange::Whole)).collect();
        LoopNest { sizes: extents, cuttable, scattered, operands: read, results }
    }

    /// Whether some array has all loops, and none is read in windows or as a whole: then nothing moves where all arrays are
    /// spread as the loops are, and all ways to cut the loops are as good.
    pub fn streams(&self) -> bool {
        let all = || self.operands.iter().chain(&self.results);
        let plain = |range: &IndexRange| {
            matches!(range, IndexRange::Along { low, high, stride, divisor, .. }
            if *divisor > 1 || high - low < *stride)
        };
        let whole = |ranges: &Vec<IndexRange>| {
            (0..self.sizes.len())
                .all(|of| self.sizes[of] == 1 || ranges.iter().any(|range| range.of_loop() == Some(of)))
        };
        all().flatten().all(plain) && all().any(whole)
    }

    /// Whether the indices of an array of `sizes` are those of loops, or all.
    pub(super) fn is_plain(&self, ranges: &[IndexRange], sizes: &[i64]) -> bool {
        ranges.iter().zip(sizes).all(|(range, size)| match range.of_loop() {
            None => true,
            Some(of) => range.is_loop() && self.sizes[of] == *size,
        })
    }
}

/// The indices that a sum of loops, constants and positions in windows reads, divided by a number; all where it is no such
/// sum, or not of one loop of a result.
fn summed(e: &Expr, divisor: i64, loops: &Loops, cuttable: &mut [bool]) -> IndexRange {
    let made = |of: usize| loops.results.iter().flatten().any(|e| *e == Expr::Var(of));
    let mut terms = Vec::new();
    if !split(e, 1, &mut terms) {
        return IndexRange::Whole;
    }
    let (mut follows, mut low, mut high, mut inner) = (None, 0i64, 0i64, Vec::new());
    for (of, factor) in terms {
        let reach = match of {
            None => Some([factor; 2]),
            Some(of) if made(of) && factor > 0 && follows.is_none() => {
                follows = Some((of, factor));
                continue;
            }
            Some(of) if !made(of) => {
                let position = || {
                    let (held, within) = loops.offsets.get(of.checked_sub(loops.sizes.len())?)?;
                    (held.is_none() || within.hi == 0).then_some(within.hi)
                };
                inner.extend(cuttable.get(of).map(|_| of));
                let last = loops.sizes.get(of).map(|size| (size - 1).max(0)).or_else(position);
                last.and_then(|last| last.checked_mul(factor)).map(|reach| [reach.min(0), reach.max(0)])
            }
            Some(_) => None,
        };
        let sum = reach.and_then(|[least, most]| Some((low.checked_add(least)?, high.checked_add(most)?)));
        let Some(sum) = sum else { return IndexRange::Whole };
        (low, high) = sum;
    }
    let Some((of, stride)) = follows else { return IndexRange::Whole };
    inner.into_iter().for_each(|of| cuttable[of] = false);
    IndexRange::Along { of, stride, low, high, divisor }
}

/// The terms of a sum of loops and constants, each times a factor; `false` where it is something else, or does not fit.
fn split(e: &Expr, factor: i64, terms: &mut Vec<(Option<usize>, i64)>) -> bool {
    match e {
        Expr::Const(n) => n.checked_mul(factor).map(|n| terms.push((None, n))).is_some(),
        Expr::Var(of) => {
            terms.push((Some(*of), factor));
            true
        }
        Expr::Add(a, b) => split(a, factor, terms) && split(b, factor, terms),
        Expr::Mul(e, by) => factor.checked_mul(*by).is_some_and(|factor| split(e, factor, terms)),
        _ => false,
    }
}

/// A reshape, whose loops are no indices of dimensions: dimensions that stand for the same elements go together. Of several the first one is followed, so pieces of
/// it are pieces of what they stand for.
fn reshaped(from: &[i64], to: &[i64]) -> LoopNest {
    let mut ranges = vec![IndexRange::Whole; from.len()];
    let (mut i, mut j) = (0, 0);
    loop {
        // Dimensions of size 1 are followed by nothing.
        i += from[i..].iter().take_while(|size| **size == 1).count();
        j += to[j..].iter().take_while(|size| **size == 1).count();
        if i >= from.len() || j >= to.len() {
            break;
        }
        let (first, second) = (i, j);
        let (mut a, mut b) = (from[i], to[j]);
        (i, j) = (i + 1, j + 1);
        while a != b && (a < b && i < from.len() || a > b && j < to.len()) {
            if a < b {
                a = a.saturating_mul(from[i]);
                i += 1;
            } else {
                b = b.saturating_mul(to[j]);
                j += 1;
            }
        }
        if a != b {
            break;
        }
        let (inner, outer) = (b / to[second].max(1), a / from[first].max(1));
        ranges[first] = IndexRange::Along { of: second, stride: inner, low: 0, high: inner - 1, divisor: outer };
    }
    let results = vec![(0..to.len()).map(IndexRange::same).collect()];
    LoopNest {
        sizes: to.to_vec(),
        cuttable: vec![true; to.len()],
        scattered: vec![false],
        operands: vec![ranges],
        results,
    }
}
