//! The choice of an operation's sharded loops: the one with the least communication and work.
//!
//! The digits of its operands and results are candidates for digits of loops, one or none for each axis of the grid.
//! The cost of a choice is the iterations of a process and the bytes that it receives: to convert operands, to combine
//! partial sums, to convert results. Ties go to fewer bytes, then to fewer collectives.

use super::chain::{GridExchange, chain};
use super::grid::{Digits, Grid, ProcessDigit, local_sizes};
use super::loops::LoopNest;
use super::sharded::Sharded;
use std::collections::HashMap;
use tensor_layout::numbers::ceil_div_wide;

/// The most choices for an exhaustive search. A grid of 3 axes with 7 digits each has 512; above, only the choices of
/// single operands and results are candidates.
const MOST_CHOICES: usize = 512;

/// The iterations that take as long as a byte from another process, if the machine gives no rates: on two cores of a
/// server with AVX2, a product of 768 x 768 x 768 took 8.0 ms, and a message of 4 MiB 1.3 ms: 0.31 ns a byte, and 17
/// iterations.
pub const ITERATIONS_OF_A_BYTE: f64 = 16.0;

/// An operand with its present shardings.
#[derive(Clone, Debug)]
pub struct OperandSharding<'c> {
    /// Its sharding.
    pub sharded: Sharded<'c>,
    /// Whether any other sharding is free, as for fills.
    pub free: bool,
    /// Other shardings that already exist.
    pub known: Vec<Digits>,
}

/// The operands and results of an operation.
pub struct Spreadings<'n, 'c> {
    /// Its loops.
    pub nest: &'n LoopNest<'c>,
    /// Its operands; `None` for those that are no tensors.
    pub operands: Vec<Option<OperandSharding<'c>>>,
    /// Its results in the wanted sharding.
    pub results: Vec<Sharded<'c>>,
    /// For each result, whether partial results can only be gathered.
    pub gathered: Vec<bool>,
    /// The iterations that take as long as a byte from another process.
    pub iterations_of_a_byte: f64,
}

/// The cost of a choice.
#[derive(Clone, Copy, Debug, Default)]
struct ChoiceCost {
    /// The bytes that a process receives.
    bytes: i64,
    /// The iterations of a process.
    work: i64,
    /// The number of collectives.
    steps: usize,
}

/// The combination of partial results.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Combining {
    /// The axes along which each process keeps a part of the sum (reduce-scatter).
    pub scattered: Vec<usize>,
    /// The axes along which each process gets the whole sum (all-reduce).
    pub reduced: Vec<usize>,
    /// The digits after both.
    pub digits: Digits,
}

impl Combining {
    /// The combination for a result with these loop digits and target digits `to`.
    pub fn of(nest: &LoopNest, loops: &Digits, result: usize, to: &Digits, gathered: bool) -> Combining {
        let dims = &nest.results[result];
        let mut digits = nest.digits_of(dims, loops);
        let partial: Vec<usize> = (0..loops.len())
            .filter(|axis| loops[*axis].is_some_and(|digit| !dims.iter().any(|own| own.contains(&digit.dim))))
            .collect();
        let mut scattered = Vec::new();
        if !gathered {
            for axis in &partial {
                let mut next = digits.clone();
                next[*axis] = to[*axis];
                if to[*axis].is_some_and(|digit| !digits.contains(&Some(digit))) && is_nested(&next) {
                    scattered.push(*axis);
                    digits = next;
                }
            }
        }
        let reduced = partial.into_iter().filter(|axis| !scattered.contains(axis)).collect();
        Combining { scattered, reduced, digits }
    }

    /// The scattered parts, each along consecutive axes of one digit.
    pub fn scatters(&self) -> Vec<GridExchange> {
        let mut all: Vec<GridExchange> = Vec::new();
        for axis in &self.scattered {
            let Some(digit) = self.digits[*axis] else { continue };
            let above = all.last_mut().and_then(|own| Some((&mut own.axes, own.after.as_mut()?)));
            match above
                .filter(|(_, own)| own.dim == digit.dim && own.weight == digit.weight.saturating_mul(digit.extent))
            {
                Some((axes, own)) => {
                    axes.push(*axis);
                    *own = ProcessDigit { extent: own.extent.saturating_mul(digit.extent), ..digit };
                }
                None => all.push(GridExchange { axes: vec![*axis], before: None, after: Some(digit) }),
            }
        }
        all
    }

    /// Whether there are partial results.
    pub fn is_needed(&self) -> bool {
        !self.reduced.is_empty() || !self.scattered.is_empty()
    }

    /// The elements that a process receives, for a result of these sizes.
    fn received(&self, grid: &Grid, sizes: &[i64], before: &Digits, gathered: bool) -> i64 {
        let mut local: i64 = local_sizes(sizes, before).iter().product();
        let all = grid.along(&self.reduced);
        if gathered {
            return local.saturating_mul(all - 1);
        }
        let mut received = 0i64;
        for axis in &self.scattered {
            let extent = grid.extents[*axis];
            received = received.saturating_add(local / extent * (extent - 1));
            local /= extent;
        }
        // An all-reduce is a reduce-scatter and an all-gather.
        let twice = ceil_div_wide(i128::from(local) * 2 * i128::from(all - 1), i128::from(all));
        received.saturating_add(i64::try_from(twice).unwrap_or(i64::MAX))
    }
}

/// Whether the digits of each dimension are nested.
fn is_nested(digits: &Digits) -> bool {
    let mut own: Vec<_> = digits.iter().flatten().collect();
    own.sort_by_key(|digit| (digit.dim, digit.weight));
    own.windows(2)
        .all(|pair| pair[0].dim != pair[1].dim || pair[1].weight % pair[0].weight.saturating_mul(pair[0].extent) == 0)
}

impl Spreadings<'_, '_> {
    /// The cheapest digits of loops.
    pub fn best(&self, grid: &Grid) -> Digits {
        let mut best: Option<(ChoiceCost, Digits)> = None;
        let mut chains = KnownChains::default();
        for loops in self.choices(grid) {
            let cost = self.cost(grid, &loops, &mut chains);
            let time = |cost: &ChoiceCost| cost.work as f64 + cost.bytes as f64 * self.iterations_of_a_byte;
            let order = |a: &ChoiceCost, b: &ChoiceCost| {
                time(a).total_cmp(&time(b)).then((a.bytes, a.steps).cmp(&(b.bytes, b.steps)))
            };
            if best.as_ref().is_none_or(|(least, _)| order(&cost, least).is_lt()) {
                best = Some((cost, loops));
            }
        }
        best.map_or(vec![None; grid.rank()], |(_, loops)| loops)
    }

    /// The candidates; the first one shards nothing.
    fn choices(&self, grid: &Grid) -> Vec<Digits> {
        let nest = self.nest;
        let operands =
            self.operands.iter().zip(&nest.operands).filter_map(|(own, dims)| Some((own.as_ref()?, dims.as_ref()?)));
        let operands = operands.map(|(own, dims)| (&own.sharded.digits, dims));
        let results = self.results.iter().map(|own| &own.digits).zip(&nest.results);
        let tensors: Vec<Digits> = operands
            .chain(results)
            .map(|(digits, dims)| digits.iter().map(|digit| nest.digit_of_loop(dims, (*digit)?)).collect())
            .collect();
        let mut of_axis: Vec<Digits> = vec![vec![None]; grid.rank()];
        for (axis, known) in of_axis.iter_mut().enumerate() {
            for digits in &tensors {
                if !known.contains(&digits[axis]) {
                    known.push(digits[axis]);
                }
            }
        }
        let count = of_axis.iter().fold(1usize, |n, known| n.saturating_mul(known.len()));
        let mut all = match count <= MOST_CHOICES {
            true => of_axis.iter().fold(vec![Vec::new()], |all: Vec<Digits>, known| {
                let with = |own: &Digits| known.iter().map(|digit| [&own[..], &[*digit]].concat()).collect::<Vec<_>>();
                all.iter().flat_map(with).collect()
            }),
            false => [vec![vec![None; grid.rank()]], tensors].concat(),
        };
        all.retain(|loops| nest.fits(loops));
        all
    }

    /// The cost of a choice. `chains` caches the chains of each tensor.
    fn cost(&self, grid: &Grid, loops: &Digits, chains: &mut KnownChains) -> ChoiceCost {
        let nest = self.nest;
        let work = nest.local_sizes(loops).iter().fold(1i64, |n, size| n.saturating_mul(*size));
        let mut cost = ChoiceCost { work, ..ChoiceCost::default() };
        for (k, (own, dims)) in self.operands.iter().zip(&nest.operands).enumerate() {
            let (Some(own), Some(dims)) = (own, dims) else { continue };
            let wanted = nest.digits_of(dims, loops);
            // The initial value of a partial sum is needed in the sharding of the sum.
            let partial = nest.outputs.iter().position(|output| *output == Some(k)).filter(|result| {
                Combining::of(nest, loops, *result, &self.results[*result].digits, self.gathered[*result]).is_needed()
            });
            let wanted = partial.map_or(wanted, |result| self.results[result].digits.clone());
            if !own.free && !own.known.contains(&wanted) {
                cost.add(chains.moved(grid, k, &own.sharded, &own.sharded.digits, &wanted));
            }
        }
        for (k, own) in self.results.iter().enumerate() {
            let combining = Combining::of(nest, loops, k, &own.digits, self.gathered[k]);
            if let Some(sizes) = &own.sizes {
                let before = nest.digits_of(&nest.results[k], loops);
                let received = combining.received(grid, sizes, &before, self.gathered[k]);
                let steps = usize::from(!combining.reduced.is_empty()) + combining.scattered.len();
                cost.add((received.saturating_mul(own.element_bytes()), steps));
            }
            cost.add(chains.moved(grid, self.operands.len() + k, own, &combining.digits, &own.digits));
        }
        cost
    }
}

impl ChoiceCost {
    fn add(&mut self, (bytes, steps): (i64, usize)) {
        self.bytes = self.bytes.saturating_add(bytes);
        self.steps += steps;
    }
}

/// The bytes and steps of chains, by a tensor's number and both of its digits.
#[derive(Default)]
struct KnownChains(HashMap<(usize, Digits, Digits), (i64, usize)>);

impl KnownChains {
    fn moved(&mut self, grid: &Grid, number: usize, of: &Sharded, from: &Digits, to: &Digits) -> (i64, usize) {
        let Some(sizes) = of.sizes.as_ref().filter(|_| from != to) else { return (0, 0) };
        *self.0.entry((number, from.clone(), to.clone())).or_insert_with(|| {
            let found = chain(grid, sizes, from, to);
            (found.received.saturating_mul(of.element_bytes()), found.steps.len())
        })
    }
}
