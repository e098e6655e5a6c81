//! The least bytes that an operation moves, however its loops are spread and cut.
//!
//! A product of 1024 × 512 × 512 on one place with 4096 words: 2 · 2^28 / 64 - 2 · 4096 = 8380416 words.
//!
//! - What lies beside the places and is read or made at all is moved once: at each level the nodes share it, and one of them
//!   has at least an even share.
//! - A product of `F` multiplications in a memory of `M` words moves at least `2 F / sqrt(M) - 2 M` words (Smith, Lowery,
//!   Langou, van de Geijn 2019: A tight I/O lower bound for matrix multiplication), for what the memory holds before and
//!   after is `M` each at most. It rests on the inequality of Loomis and Whitney: with `I`, `W`, `O` elements of the operands
//!   and the result there are at most `sqrt(I W O)` multiplications. That holds for several batches, too. In a convolution it
//!   holds for each offset in the window; over `K` offsets there are at most `sqrt(K I W O)`, by the inequality of Cauchy and
//!   Schwarz, which puts `K M` in place of `M` below the root. At each level some node runs an even share of `F`, in the
//!   memory of all its places.
//!
//! Words are those of the narrowest array. Other operations have the first bound only.

use super::reading::{IndexRange, LoopNest};

/// By what rule the least bytes are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LeastRule {
    /// An array beside the places moves once.
    Compulsory,
    /// The larger of that and the bound for products, with the number of offsets in the window, 1 for products.
    Product {
        /// The offsets.
        offsets: i64,
    },
}

/// An array of an operation, for its least bytes.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct LeastArray<'a> {
    /// Its sizes.
    pub sizes: &'a [i64],
    /// The ranges of its indices.
    pub ranges: &'a [IndexRange],
    /// The bits of an element.
    pub bits: i64,
    /// Whether it is made.
    pub is_result: bool,
    /// Whether it lies beside the places, and all of what its indices range over is moved.
    pub is_outside: bool,
}

impl<'a> LeastArray<'a> {
    /// An array with ranges of indices and sizes.
    pub fn new(
        (ranges, sizes): (&'a [IndexRange], &'a [i64]),
        bits: i64,
        is_result: bool,
        is_outside: bool,
    ) -> LeastArray<'a> {
        LeastArray { sizes, ranges, bits, is_result, is_outside }
    }
}

impl LeastRule {
    /// The rule for an operation.
    pub fn of(nest: &LoopNest, arrays: &[LeastArray]) -> LeastRule {
        let offsets = (0..nest.sizes.len()).filter(|of| !nest.cuttable[*of]);
        let offsets = offsets.fold(1i64, |n, of| n.saturating_mul(nest.sizes[of]));
        let follows = |array: &LeastArray, of: usize| {
            array
                .ranges
                .iter()
                .any(|range| matches!(*range, IndexRange::Along { of: own, divisor: 1, .. } if own == of))
        };
        let joins = |of: usize| {
            let own = nest.cuttable[of] && nest.sizes[of] > 1;
            !own || arrays.iter().filter(|array| follows(array, of)).count() >= 2
        };
        let summed = |of: usize| {
            let made = arrays.iter().any(|array| array.is_result && follows(array, of));
            nest.cuttable[of] && nest.sizes[of] > 1 && !made
        };
        let (results, loops) = (arrays.iter().filter(|array| array.is_result).count(), 0..nest.sizes.len());
        match arrays.len() == 3 && results == 1 && loops.clone().all(joins) && loops.clone().any(summed) {
            true => LeastRule::Product { offsets },
            false => LeastRule::Compulsory,
        }
    }

    /// The least bytes that the busiest of `nodes` nodes moves, each of which has `room` bytes of memory.
    pub fn bytes(self, nest: &LoopNest, arrays: &[LeastArray], nodes: i64, room: i64) -> i64 {
        let moved = arrays.iter().filter(|array| array.is_outside);
        let compulsory =
            moved.fold(0i128, |sum, array| sum + i128::from(elements(nest, array)) * i128::from(array.bits));
        let compulsory = i64::try_from(compulsory / 8 / i128::from(nodes.max(1))).unwrap_or(i64::MAX);
        let LeastRule::Product { offsets } = self else { return compulsory };
        let word = arrays.iter().map(|array| array.bits).min().unwrap_or(8).max(1) as f64 / 8.0;
        let multiplications = nest.sizes.iter().map(|size| *size as f64).product::<f64>() / nodes.max(1) as f64;
        let words = (room as f64 / word).max(1.0);
        let least = 2.0 * multiplications / (offsets as f64 * words).sqrt() - 2.0 * words;
        compulsory.max((least * word) as i64)
    }
}

/// The elements of an array that its indices reach, at least.
fn elements(nest: &LoopNest, array: &LeastArray) -> i64 {
    let one = |(range, size): (&IndexRange, &i64)| {
        let IndexRange::Along { of, stride, low, high, divisor } = *range else { return *size };
        let together = i128::from(stride) <= i128::from(high) - i128::from(low) + i128::from(divisor);
        let [start, end] = range.of([0, nest.sizes[of]], *size);
        if together { end - start } else { 0 }
    };
    array.ranges.iter().zip(array.sizes).map(one).fold(1i64, i64::saturating_mul)
}
