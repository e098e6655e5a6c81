//! The cost of kernels.
//!
//! All costs are of the form *start + reading + writing + computing*, with the constants of the machine's
//! [`Costs`], which are 0 unless the machine says otherwise. T is a number of [tiles](super::tiles), B the bytes of an
//! array, r and w the rates at which its memory is read and written (nothing is paid where there is none); sums go over
//! operands and results. An array is *far* where its memory has a rate of writing.
//!
//! - **Loops**: `kernel + window · n + Σ B / r + Σ B / w`, and for tiles `reduced_tile` (of operands of reductions),
//!   `computed_tile` (of each operation's result), `spread_tile`, `reordered_tile`, `scattered_tile`, and `packed_tile`
//!   (of the only result, where it is packed). n = max(1, Σ B / `window_bytes`), rounded up; an operation that is
//!   alone and needs more than one window has windows of `lone_window_tiles` tiles.
//! - **Copies** that change the minor dimension: windows of `transpose_window_tiles` tiles of both sides, each
//!   `transpose_window`, and for each far side `transpose_window_far` a window and `transpose_tile` a tile, or B / r or
//!   B / w where that is more. On a machine with `turned_reading`, `transpose_window + turned_reading · B / r + B / w`: there
//!   a kernel of loops reads an array in another order where it is, for `(turned_reading - 1) · B / r` more. Others:
//!   `copy + copy_window · n + Σ B / r + Σ B / w + copy_tile · T`, and `sublane_tile` where the second-minor changes.
//! - **Products**: `product + product_operands` (one operand is far) `+ product_results + product_window · n` (the result
//!   is far or packed) `+ max(m, c) + min(m, c) / n`, n = max(m, c) / `product_window_size`, where m is moving the far arrays and `product_packed_tile`, and
//!   c = `pass` · ⌈K / L⌉ · ⌈N / L⌉ · max(⌈M / R⌉, `least_passes`) for registers of R rows of L words; N are the
//!   columns and M the rows, or the other way round where the result has rows in its lanes. Where rows are several
//!   dimensions that are not in row-major order, a planner adds `product_reordered_tile`, and `packed_part_tile` for
//!   packed elements, for each tile of the left operand and of the result.
//!
//! The costs of `tpu_v5e` were fitted to XLA's own estimates, which leave out what is asynchronous and what its model
//! does not know; here all that moves something costs something.

use super::kernel::{Kernel, PartRead};
use super::product::{Product, fastest_dims};
use super::target::Target;
use super::tiles::RegisterTiles;
use crate::numbers::{ceil_div, ceil_div_wide};
use crate::operations::graph::Graph;
use crate::operations::operation::Operation;
use crate::operations::shape::Array;
use crate::places::{Costs, Decimal};
use crate::text::Error;

/// The cost of a kernel, in the target's unit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Price {
    /// Starting the kernel and its windows.
    pub start: i64,
    /// Reading each operand.
    pub reads: Vec<i64>,
    /// Writing each result.
    pub writes: Vec<i64>,
    /// Computing.
    pub compute: i64,
    /// The time in which computing and moving overlap, and which counts once.
    pub hidden: i64,
    /// The windows that the kernel is cut into.
    pub windows: i64,
}

impl Price {
    /// All together.
    ///
    /// # Errors
    /// The sum does not fit in 64 bits.
    pub fn total(&self) -> Result<i64, Error> {
        let parts = self.reads.iter().chain(&self.writes).chain([&self.compute, &self.start]);
        let sum = parts.fold(-i128::from(self.hidden), |sum, part| sum + i128::from(*part));
        i64::try_from(sum).map_err(|_| too_much())
    }
}

impl Target {
    /// The cost of an operation as a kernel of its own, given the arrays of its operands and results with their
    /// layouts. Operations that move nothing cost nothing, nor do calls, whose computations are counted where they are.
    ///
    /// # Errors
    /// A layout has no meaning, or the cost does not fit in 64 bits.
    pub fn operation_cost(&self, operation: &Operation, operands: &[&Array], results: &[&Array]) -> Result<i64, Error> {
        self.operation_price(operation, operands, results)?.total()
    }

    /// [`Target::operation_cost`] in parts.
    ///
    /// # Errors
    /// The errors of [`Target::operation_cost`].
    pub fn operation_price(
        &self,
        operation: &Operation,
        operands: &[&Array],
        results: &[&Array],
    ) -> Result<Price, Error> {
        if is_free(operation) {
            return Ok(Price::default());
        }
        self.kernel_price(&Kernel::of_operation(operation, operands, results))
    }

    /// The cost of graph `number` of `graphs` as one kernel, run on arrays with layouts.
    ///
    /// # Errors
    /// The errors of [`Target::operation_cost`], and calls that are nested too deep.
    pub fn fusion_cost(
        &self,
        graphs: &[Graph],
        number: usize,
        operands: &[&Array],
        results: &[&Array],
    ) -> Result<i64, Error> {
        self.kernel_price(&Kernel::of_graph(graphs, number, operands, results)?)?.total()
    }

    /// The cost of a kernel, in parts.
    ///
    /// # Errors
    /// The errors of [`Target::operation_cost`].
    pub fn kernel_price(&self, kernel: &Kernel) -> Result<Price, Error> {
        let moved = MovedTiles::new(self, kernel)?;
        match (&kernel.products[..], &kernel.windowed, &kernel.reordered[..]) {
            ([], Some((result, places)), _) => {
                let tiles = self.tiles(result)?.count;
                self.product(kernel, of(self.costs().windowed_tile, tiles.saturating_mul(*places)), &moved)
            }
            ([], None, [(from, to)]) if kernel.lone && kernel.operands.len() == 1 => self.copy(from, to),
            ([], ..) => self.loops(kernel, &moved),
            (products, ..) => {
                let passes = products.iter().map(|product| self.passes(product)).sum();
                self.product(kernel, passes, &moved)
            }
        }
    }

    fn costs(&self) -> &Costs {
        &self.machine().model.costs
    }

    fn loops(&self, kernel: &Kernel, moved: &MovedTiles) -> Result<Price, Error> {
        let costs = self.costs();
        let mut windows = moved.windows(costs.window_bytes);
        let slow = moved.all().any(RegisterTiles::far) || moved.results.iter().any(|result| result.packed);
        if kernel.lone && slow && at_least(moved.bytes(), costs.lone_window_bytes) {
            let widest = moved.all().map(|tiles| tiles.count).max().unwrap_or(0);
            windows = whole_windows(widest, costs.lone_window_tiles);
        }
        let mut start = of(costs.kernel, 1) + of(costs.window, windows);
        let mut compute = Micro(0);
        for (arrays, cost) in [
            (&kernel.reduced, costs.reduced_tile),
            (&kernel.computed, costs.computed_tile),
            (&kernel.spread, costs.spread_tile),
            (&kernel.scattered, costs.scattered_tile),
        ] {
            for array in arrays {
                compute = compute + of(cost, self.tiles(array)?.count);
            }
        }
        for (from, to) in &kernel.reordered {
            let tiles = self.tiles(from)?.count;
            compute = compute
                + match from.layout.minor_to_major.first() == to.layout.minor_to_major.first() {
                    true => of(costs.reordered_tile, tiles),
                    false => self.transposition(from, to)?.0,
                };
        }
        for array in kernel.padded.iter().skip(1) {
            compute = compute + of(costs.padded_tile, self.tiles(array)?.count);
        }
        for result in moved.results.iter().filter(|result| result.packed) {
            let near = if result.far() { Decimal::default() } else { costs.packed_part_tile };
            compute = compute + of(if moved.results.len() == 1 { costs.packed_tile } else { near }, result.count);
        }
        // What is only spread over a near memory is made there.
        if let (true, [result]) = (kernel.is_broadcast(), &moved.results[..])
            && !result.far()
            && !result.packed
        {
            start = of(costs.near_copy, 1);
            compute = of(costs.copy_tile, result.count);
        }
        let reads = moved.operands.iter().map(|parts| parts.iter().fold(Micro(0), |sum, part| sum + reading(part)));
        let writes = moved.results.iter().map(writing);
        Ok(Price {
            start: start.units()?,
            reads: reads.map(Micro::units).collect::<Result<_, _>>()?,
            writes: writes.map(Micro::units).collect::<Result<_, _>>()?,
            compute: compute.units()?,
            hidden: 0,
            windows,
        })
    }

    /// Whether kernels read arrays in any order, from where they are.
    pub fn reads_in_any_order(&self) -> bool {
        self.costs().turned_reading != Decimal::default()
    }

    /// The extra time of a kernel that goes through an array in the order of another layout; only `sublane_tile` for
    /// each tile where the minor dimension is the same.
    ///
    /// # Errors
    /// A layout has no meaning, or the cost does not fit in 64 bits.
    pub fn turning_cost(&self, from: &Array, to: &Array) -> Result<i64, Error> {
        let tiles = self.tiles(from)?;
        if from.layout.minor_to_major.first() == to.layout.minor_to_major.first() {
            return of(self.costs().sublane_tile, tiles.count).units();
        }
        let once = reading(&tiles);
        Micro(once.times(self.costs().turned_reading).0.saturating_sub(once.0).max(0)).units()
    }

    /// A copy into another order, and its windows.
    fn transposition(&self, from: &Array, to: &Array) -> Result<(Micro, i64), Error> {
        let costs = self.costs();
        let sides = [self.tiles(from)?, self.tiles(to)?];
        if self.reads_in_any_order() {
            let moving = reading(&sides[0]).times(costs.turned_reading) + writing(&sides[1]);
            return Ok((of(costs.transpose_window, 1) + moving, 1));
        }
        let windows = whole_windows(sides[0].count.saturating_add(sides[1].count), costs.transpose_window_tiles);
        let mut cost = of(costs.transpose_window, windows);
        for (side, moving) in [(sides[0], reading(&sides[0])), (sides[1], writing(&sides[1]))] {
            if side.far() {
                let moving = Micro(moving.0.max(of(costs.transpose_tile, side.count).0));
                cost = cost + of(costs.transpose_window_far, windows) + moving;
            }
        }
        Ok((cost, windows))
    }

    /// A copy of the same dimensions in another layout, on its own.
    pub(super) fn copy(&self, from: &Array, to: &Array) -> Result<Price, Error> {
        let costs = self.costs();
        let [order, other] = [from, to].map(|array| &array.layout.minor_to_major);
        if order.first() != other.first() {
            let (cost, windows) = self.transposition(from, to)?;
            return Ok(Price { start: cost.units()?, reads: vec![0], writes: vec![0], windows, ..Price::default() });
        }
        let moved = MovedTiles { operands: vec![vec![self.tiles(from)?]], results: vec![self.tiles(to)?] };
        let (read, written) = (moved.operands[0][0], moved.results[0]);
        let windows = moved.windows(costs.window_bytes);
        let start = match moved.all().any(|tiles| tiles.far()) || written.packed {
            true => of(costs.copy, 1) + of(costs.copy_window, windows),
            false => of(costs.near_copy, 1),
        };
        let tiles = read.count.max(written.count);
        let mut compute = of(costs.copy_tile, tiles);
        if order.get(1) != other.get(1) {
            compute = compute + of(costs.sublane_tile, tiles);
        }
        if written.packed {
            compute = compute + of(costs.packed_tile, written.count);
        }
        Ok(Price {
            start: start.units()?,
            reads: vec![if read.far() { reading(&read).units()? } else { 0 }],
            writes: vec![writing(&written).units()?],
            compute: compute.units()?,
            hidden: 0,
            windows,
        })
    }

    /// A copy in the same layout to another memory, beside other kernels.
    pub(super) fn prefetch(&self, from: &Array) -> Result<Price, Error> {
        let start = of(self.costs().prefetch_tile, self.tiles(from)?.count).units()?;
        Ok(Price { start, reads: vec![0], writes: vec![0], windows: 1, ..Price::default() })
    }

    /// A product whose passes take `compute`.
    fn product(&self, kernel: &Kernel, mut compute: Micro, moved: &MovedTiles) -> Result<Price, Error> {
        let costs = self.costs();
        let far = |tiles: &&RegisterTiles| tiles.far();
        let reads: Vec<Micro> =
            moved.operands.iter().map(|parts| parts.iter().filter(far).map(reading).sum()).collect();
        let mut writes: Vec<Micro> = moved.results.iter().map(writing).collect();
        let packed = matches!(moved.results[..], [result] if result.packed);
        if packed {
            writes[0] = writes[0] + of(costs.product_packed_tile, moved.results[0].count);
        }
        for array in kernel.computed.iter().chain(&kernel.reduced) {
            compute = compute + of(costs.product_computed_tile, self.tiles(array)?.count);
        }
        let moving: Micro = reads.iter().chain(&writes).copied().sum();
        let windows = windows(moving.0.max(compute.0), costs.product_window_size);
        let mut start = of(costs.product, 1);
        // A scalar, such as the start of a slice, is read beforehand.
        let scalar = |parts: &Vec<PartRead>| parts.iter().all(|part| part.array.dims.is_empty());
        let mut arrays = kernel.operands.iter().zip(&moved.operands).filter(|(parts, _)| !scalar(parts));
        if arrays.any(|(_, tiles)| tiles.iter().any(RegisterTiles::far)) {
            start = start + of(costs.product_operands, 1);
        }
        let far = moved.results.iter().any(RegisterTiles::far);
        if far || moved.results.iter().max_by_key(|result| result.count).is_some_and(|result| result.packed) {
            start = start + of(costs.product_results, 1) + of(costs.product_window, if far { windows } else { 1 });
        }
        let least = Micro(moving.0.min(compute.0));
        let hidden = Micro(least.0 - least.0 / i128::from(windows));
        Ok(Price {
            start: start.units()?,
            reads: reads.into_iter().map(Micro::units).collect::<Result<_, _>>()?,
            writes: writes.into_iter().map(Micro::units).collect::<Result<_, _>>()?,
            compute: compute.units()?,
            hidden: hidden.units()?,
            windows,
        })
    }

    /// The extra time of a product whose rows are several dimensions that are not in row-major order in its result:
    /// they are brought into that order inside of its kernel, and back.
    ///
    /// # Errors
    /// A layout has no meaning, or the cost does not fit in 64 bits.
    pub fn reordering_cost(&self, operation: &Operation, operands: &[&Array], result: &Array) -> Result<i64, Error> {
        let (Operation::Dot { .. }, Some(product)) = (operation, Product::of(operation, operands, result)) else {
            return Ok(0);
        };
        let sizes = result.sizes().unwrap_or_default();
        let rows = |dim: &&usize| product.rows.contains(dim) && sizes.get(**dim).is_some_and(|size| *size != 1);
        if result.layout.minor_to_major.iter().filter(rows).is_sorted_by(|minor, major| minor > major) {
            return Ok(0);
        }
        let mut cost = Micro(0);
        for array in operands.iter().take(1).copied().chain([result]) {
            let tiles = self.tiles(array)?;
            cost = cost + of(self.costs().product_reordered_tile, tiles.count);
            if tiles.packed && array.element.bits() != Some(32) {
                cost = cost + of(self.costs().packed_part_tile, tiles.count);
            }
        }
        cost.units()
    }

    /// The time of the matrix unit.
    fn passes(&self, product: &Product) -> Micro {
        let (rows, lanes) = self.machine().model.registers.unwrap_or((1, 1));
        let sizes = product.result.sizes().unwrap_or_default();
        let up = |n: i64, by: i64| i128::from(ceil_div(n, by));
        let mut order = fastest_dims(&product.result);
        let (minor, second) = (order.next(), order.next());
        // The result's dimensions of one kind: those in lanes and in rows of registers are padded.
        let size = |dim: usize| sizes.get(dim).copied().unwrap_or(1);
        let all = |dims: &[usize]| dims.iter().fold(1i128, |n, dim| n.saturating_mul(i128::from(size(*dim))));
        // Which of the two kinds is in the lanes is the result's choice; the other one is in the rows.
        let turned = minor.is_some_and(|dim| product.rows.contains(&dim));
        let (in_lanes, in_rows) = match turned {
            true => (&product.rows, &product.columns),
            false => (&product.columns, &product.rows),
        };
        let but = |dims: &[usize], dim: Option<usize>| {
            all(&dims.iter().copied().filter(|other| Some(*other) != dim).collect::<Vec<_>>())
        };
        let groups = i128::from(product.groups);
        let (mut width, mut height) = match turned {
            true => {
                let size = minor.map_or(1, |dim| up(size(dim), lanes));
                (size, but(in_lanes, minor))
            }
            false => (ceil_div_wide(all(in_lanes) / groups, i128::from(lanes)), 1),
        };
        let row = second.filter(|dim| in_rows.contains(dim));
        let rest = but(in_rows, row);
        height = height.saturating_mul(match row {
            Some(dim) => rest.saturating_mul(up(size(dim), rows)),
            None => ceil_div_wide(rest, i128::from(rows)),
        });
        width = width.max(1);
        let batch: Vec<usize> =
            (0..sizes.len()).filter(|dim| !product.rows.contains(dim) && !product.columns.contains(dim)).collect();
        let times = all(&batch).saturating_mul(groups);
        let costs = self.costs();
        height = height.max(i128::from(costs.least_passes.millionths / 1_000_000));
        let depth = i128::from(product.depth.0).saturating_mul(up(product.depth.1, lanes));
        let passes = depth.saturating_mul(width).saturating_mul(height).saturating_mul(times);
        let pass = match product.bits <= 8 {
            true => costs.narrow_pass,
            false if product.turned && !turned => costs.turned_pass,
            false => costs.pass,
        };
        // A machine without a cost of its own for them takes as long for these passes as for others.
        let pass = if pass == Decimal::default() { costs.pass } else { pass };
        Micro(passes.saturating_mul(i128::from(pass.millionths)))
    }
}

/// The arrays of a kernel in tiles.
struct MovedTiles {
    operands: Vec<Vec<RegisterTiles>>,
    results: Vec<RegisterTiles>,
}

impl MovedTiles {
    fn new(target: &Target, kernel: &Kernel) -> Result<MovedTiles, Error> {
        let part = |part: &PartRead| -> Result<RegisterTiles, Error> {
            let tiles = target.tiles(&part.array)?;
            let times = |n: i64| n.checked_mul(part.times).ok_or_else(too_much);
            Ok(RegisterTiles { count: times(tiles.count)?, bytes: times(tiles.bytes)?, ..tiles })
        };
        let parts = |parts: &Vec<PartRead>| parts.iter().map(part).collect::<Result<Vec<_>, _>>();
        Ok(MovedTiles {
            operands: kernel.operands.iter().map(parts).collect::<Result<_, _>>()?,
            results: kernel.results.iter().map(|array| target.tiles(array)).collect::<Result<_, _>>()?,
        })
    }

    fn all(&self) -> impl Iterator<Item = &RegisterTiles> {
        self.operands.iter().flatten().chain(&self.results)
    }

    fn bytes(&self) -> i64 {
        self.all().fold(0i64, |sum, tiles| sum.saturating_add(tiles.bytes))
    }

    /// The windows of a size that all bytes need.
    fn windows(&self, size: Decimal) -> i64 {
        whole_windows(self.bytes(), size)
    }
}

/// A cost in millionths of the unit, saturating: what does not fit in 64 bits as units is refused at the end.
#[derive(Clone, Copy)]
struct Micro(i128);

impl Micro {
    /// So many times as much.
    fn times(self, factor: Decimal) -> Micro {
        Micro(self.0.saturating_mul(i128::from(factor.millionths)) / 1_000_000)
    }

    /// In units, rounded to the nearest.
    fn units(self) -> Result<i64, Error> {
        i64::try_from(self.0.saturating_add(500_000) / 1_000_000).map_err(|_| too_much())
    }
}

impl std::ops::Add for Micro {
    type Output = Micro;

    fn add(self, other: Micro) -> Micro {
        Micro(self.0.saturating_add(other.0))
    }
}

impl std::iter::Sum for Micro {
    fn sum<I: Iterator<Item = Micro>>(parts: I) -> Micro {
        parts.fold(Micro(0), |sum, part| sum + part)
    }
}

/// So many times a cost.
fn of(cost: Decimal, times: i64) -> Micro {
    Micro(i128::from(cost.millionths).saturating_mul(i128::from(times)))
}

/// Reading tiles once.
fn reading(tiles: &RegisterTiles) -> Micro {
    tiles.reading.map_or(Micro(0), |rate| Micro(at_rate(tiles.bytes, rate)))
}

/// Writing tiles once.
fn writing(tiles: &RegisterTiles) -> Micro {
    tiles.writing.map_or(Micro(0), |rate| Micro(at_rate(tiles.bytes, rate)))
}

/// The time for bytes at a rate, which is not 0, in millionths of a unit.
pub(super) fn at_rate(bytes: i64, rate: Decimal) -> i128 {
    i128::from(bytes) * 1_000_000_000_000 / i128::from(rate.millionths.max(1))
}

/// How many windows of a size there are, at least one; one where no size is given.
fn whole_windows(n: i64, size: Decimal) -> i64 {
    windows(i128::from(n) * 1_000_000, size)
}

/// The same for a number of millionths.
fn windows(millionths: i128, size: Decimal) -> i64 {
    let windows = match i128::from(size.millionths) {
        0 => 1,
        size => millionths / size + i128::from(millionths % size != 0),
    };
    i64::try_from(windows.max(1)).unwrap_or(i64::MAX)
}

/// Whether a number is at least a limit; never where there is none.
fn at_least(n: i64, limit: Decimal) -> bool {
    limit != Decimal::default() && i128::from(n) * 1_000_000 >= i128::from(limit.millionths)
}

/// Whether an operation moves nothing.
fn is_free(operation: &Operation) -> bool {
    matches!(
        operation,
        Operation::Bitcast
            | Operation::Parameter { .. }
            | Operation::Constant
            | Operation::Tuple
            | Operation::GetTupleElement { .. }
            | Operation::Leaves { .. }
            | Operation::Call { .. }
            | Operation::While { .. }
            | Operation::Conditional { .. }
    )
}

fn too_much() -> Error {
    Error::new("the cost does not fit in 64 bits").too_large()
}
