//! The layouts that operations want of their operands and results: what a planner begins with.
//!
//! The machine's [`Preferences`](crate::places::Preferences) say the orders. A planner for tiles has an operation in no other
//! layouts than those; what each costs is for [`Target::operation_cost`]. All other operations take the layouts that their
//! neighbours have.

use super::target::Target;
use crate::operations::operation::{Algorithm, Convolution, Gather, Operation};
use crate::operations::shape::Array;
use crate::places::{Decimal, DimKind, DimOrder, OrderEntry, PreferenceRow};
use crate::text::Error;
use crate::tiled::{Expansion, Layout};

/// One way to lay out the operands and results of an operation. `None` where every layout is as good.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Want {
    /// The layout of each operand.
    pub operands: Vec<Option<Layout>>,
    /// The layout of each result.
    pub results: Vec<Option<Layout>>,
}

/// An array of an operation with preferences.
struct PreferredArray<'a> {
    array: &'a Array,
    /// The array of the row that it is.
    role: usize,
    /// The kind of each dimension.
    kinds: Vec<DimKind>,
}

impl Target {
    /// The ways to lay out the operands and results of an operation that may be the cheapest. None where every layout is as
    /// good as it is small, as for elementwise operations. Shapes must be those that the operation can have.
    ///
    /// # Errors
    /// The errors of [`Target::layout`].
    pub fn wants(&self, operation: &Operation, operands: &[&Array], results: &[&Array]) -> Result<Vec<Want>, Error> {
        let arrays: Vec<&Array> = operands.iter().chain(results).copied().collect();
        let Some(row) = row(operation) else { return Ok(Vec::new()) };
        let Some(arrays) = preferred(operation, &arrays, operands.len()) else { return Ok(Vec::new()) };
        let mut wants: Vec<Want> = Vec::new();
        for way in self.machine().model.preferences.ways(row) {
            // The first array of a role decides for all of it, as of a sort of several arrays, or of a top k.
            let first = |role| arrays.iter().find(|own| own.role == role);
            let orders = |(role, order): (usize, &DimOrder)| {
                first(role).map_or(vec![Vec::new()], |own| self.orders(own.array, &own.kinds, order))
            };
            let orders: Vec<Vec<Vec<usize>>> = way.iter().enumerate().map(orders).collect();
            for choice in each_of(&orders) {
                let layout = |own: &PreferredArray| {
                    let sizes = own.array.sizes().filter(|sizes| sizes.len() == choice[own.role].len());
                    sizes.map(|sizes| self.layout(own.array.element, &sizes, choice[own.role])).transpose()
                };
                let mut of_operands = arrays.iter().map(layout).collect::<Result<Vec<_>, _>>()?;
                let of_results = of_operands.split_off(operands.len());
                let want = Want { operands: of_operands, results: of_results };
                if !wants.contains(&want) {
                    wants.push(want);
                }
            }
        }
        Ok(wants)
    }

    /// The largest row of the machine's doubt that is about one of some operations, or that of programs without such rows.
    /// `None` where the machine has no such row.
    pub fn doubt<'o>(
        &self,
        operations: impl Iterator<Item = &'o Operation>,
    ) -> Option<(Option<PreferenceRow>, Decimal)> {
        let rows = &self.machine().model.doubt;
        let of = |wanted: Option<PreferenceRow>| rows.iter().copied().find(|(own, _)| *own == wanted);
        operations.filter_map(row).filter_map(|row| of(Some(row))).max_by_key(|(_, off)| *off).or_else(|| of(None))
    }

    /// The orders of an array that an order of kinds stands for; none where a dimension is too short.
    fn orders(&self, array: &Array, kinds: &[DimKind], order: &[(OrderEntry, i64)]) -> Vec<Vec<usize>> {
        let sizes: Vec<i64> = array.dims.iter().map(|dim| dim.bound().unwrap_or(0)).collect();
        let of = |kind: DimKind| (0..kinds.len()).rev().filter(move |dim| kinds[*dim] == kind);
        let mut orders: Vec<Vec<usize>> = vec![Vec::new()];
        for (entry, least) in order {
            let fits =
                |dims: &Vec<usize>| *least == 0 || !dims.is_empty() && dims.iter().all(|dim| sizes[*dim] >= *least);
            let choices: Vec<Vec<usize>> = match *entry {
                OrderEntry::All(kind) => vec![of(kind).collect()],
                OrderEntry::Each(kind) => of(kind).map(|dim| vec![dim]).collect(),
                OrderEntry::Longest(one, other) => {
                    let longest = |kind, but: Option<usize>| {
                        of(kind).filter(|dim| Some(*dim) != but).max_by_key(|dim| (sizes[*dim], *dim))
                    };
                    let first = longest(one, None);
                    let pair: Vec<usize> = first.into_iter().chain(longest(other, first)).collect();
                    vec![pair.clone(), pair.into_iter().rev().collect()]
                }
            };
            let with = |order: &Vec<usize>| {
                let longer = |dims: &Vec<usize>| order.iter().chain(dims).copied().collect::<Vec<_>>();
                choices.iter().filter(|dims| fits(dims)).map(longer).collect::<Vec<_>>()
            };
            orders = orders.iter().flat_map(with).collect();
        }
        let listed = |dim: &usize| order.iter().any(|(entry, _)| entry.kinds().any(|kind| kind == kinds[*dim]));
        if !order.is_empty() && !(0..kinds.len()).any(|dim| listed(&dim)) {
            let default = array.sizes().and_then(|sizes| self.default_layout(array.element, &sizes).ok());
            return vec![default.map_or_else(Vec::new, |layout| layout.minor_to_major)];
        }
        let of_kinds: Vec<usize> = order.iter().flat_map(|(entry, _)| entry.kinds()).flat_map(of).collect();
        for order in &mut orders {
            let all = of_kinds.iter().copied().chain((0..kinds.len()).rev());
            all.for_each(|dim| {
                if !order.contains(&dim) {
                    order.push(dim)
                }
            });
        }
        let is_pair = |(entry, _): &(OrderEntry, i64)| matches!(entry, OrderEntry::Longest(..));
        if order.iter().any(is_pair) { self.least_padded(array, orders) } else { orders }
    }

    /// Keeps the orders that pad least, the one with the last dimension minor first.
    fn least_padded(&self, array: &Array, mut orders: Vec<Vec<usize>>) -> Vec<Vec<usize>> {
        orders.sort_by(|one, other| other.cmp(one));
        orders.dedup();
        let least = orders.iter().map(|order| self.padded_bytes(array, order)).min().flatten();
        orders.retain(|order| self.padded_bytes(array, order) == least);
        orders
    }

    /// The bytes of an array in the layout of an order, padding included.
    fn padded_bytes(&self, array: &Array, order: &[usize]) -> Option<i64> {
        let sizes = array.sizes()?;
        let layout = self.layout(array.element, &sizes, order).ok()?;
        Expansion::new(&sizes, &layout).ok()?.padded_bytes(array.element).ok()
    }
}

/// All ways to take one order of each list.
fn each_of(lists: &[Vec<Vec<usize>>]) -> Vec<Vec<&Vec<usize>>> {
    let mut all = vec![Vec::new()];
    for list in lists {
        let mut longer = Vec::new();
        for own in &all {
            longer.extend(list.iter().map(|order| [&own[..], &[order]].concat()));
        }
        all = longer;
    }
    all
}

/// The row of an operation; `None` for one that has no preferences.
fn row(operation: &Operation) -> Option<PreferenceRow> {
    match operation {
        Operation::Dot { .. } => Some(PreferenceRow::Dot),
        Operation::Convolution(_) => Some(PreferenceRow::Convolution),
        Operation::Gather(_) => Some(PreferenceRow::Gather),
        Operation::Scatter(_) => Some(PreferenceRow::Scatter),
        Operation::Algorithm(algorithm) => match **algorithm {
            Algorithm::Sort { .. } | Algorithm::TopK { .. } => Some(PreferenceRow::Sort),
            Algorithm::Fft { .. } | Algorithm::Cholesky { .. } | Algorithm::TriangularSolve { .. } => {
                Some(PreferenceRow::Matrix)
            }
            _ => None,
        },
        _ => None,
    }
}

/// The arrays of an operation in its row. `None` for an operation that has none.
fn preferred<'a>(operation: &Operation, arrays: &[&'a Array], operands: usize) -> Option<Vec<PreferredArray<'a>>> {
    let of = |role: usize, array: &'a Array, kind: &dyn Fn(usize) -> DimKind| {
        let kinds = (0..array.dims.len()).map(kind).collect();
        PreferredArray { array, role, kinds }
    };
    match operation {
        Operation::Dot { lhs_batch, rhs_batch, lhs_contracting, rhs_contracting } => {
            let [lhs, rhs, result] = *arrays else { return None };
            let side = |batch: &Vec<usize>, contracting: &Vec<usize>, own: DimKind, dim: usize| match dim {
                dim if batch.contains(&dim) => DimKind::Batch,
                dim if contracting.contains(&dim) => DimKind::K,
                _ => own,
            };
            let columns = lhs.dims.len().checked_sub(lhs_contracting.len())?;
            let written = |dim: usize| match dim {
                dim if dim < lhs_batch.len() => DimKind::Batch,
                dim if dim < columns => DimKind::M,
                _ => DimKind::N,
            };
            let left = of(0, lhs, &|dim| side(lhs_batch, lhs_contracting, DimKind::M, dim));
            let right = of(1, rhs, &|dim| side(rhs_batch, rhs_contracting, DimKind::N, dim));
            Some(vec![left, right, of(2, result, &written)])
        }
        Operation::Convolution(convolution) => {
            let [input, kernel, result] = *arrays else { return None };
            Some(vec![
                of(0, input, &|dim| image_kind(dim, convolution.input_batch, convolution.input_feature)),
                of(1, kernel, &|dim| kernel_kind(dim, convolution)),
                of(2, result, &|dim| image_kind(dim, convolution.output_batch, convolution.output_feature)),
            ])
        }
        Operation::Gather(gather) | Operation::Scatter(gather) => {
            let is_scatter = matches!(operation, Operation::Scatter(_));
            let indices = operands / 2;
            let in_data = |dim: usize| match gather.start_index_map.contains(&dim) {
                true => DimKind::Indexed,
                false => DimKind::Offset,
            };
            let in_indices = |dim: usize| if dim == gather.index_vector_dim { DimKind::Vector } else { DimKind::Batch };
            let in_blocks = |dim: usize| block_kind(dim, gather, arrays[0].dims.len());
            let one = |(position, array): (usize, &&'a Array)| match position {
                _ if position == indices => of(1, array, &in_indices),
                _ if position < indices || (is_scatter && position >= operands) => of(0, array, &in_data),
                _ => of(2, array, &in_blocks),
            };
            Some(arrays.iter().enumerate().map(one).collect())
        }
        Operation::Algorithm(algorithm) => {
            let rank = arrays.first()?.dims.len();
            let sorted = match **algorithm {
                Algorithm::Sort { dim } => dim,
                _ => rank.checked_sub(1)?,
            };
            let kind = |dim: usize| if dim == sorted { DimKind::Sorted } else { DimKind::Other };
            Some(arrays.iter().map(|array| of(0, array, &kind)).collect())
        }
        _ => None,
    }
}

fn image_kind(dim: usize, batch: usize, feature: usize) -> DimKind {
    match dim {
        dim if dim == batch => DimKind::Batch,
        dim if dim == feature => DimKind::Feature,
        _ => DimKind::Spatial,
    }
}

fn kernel_kind(dim: usize, convolution: &Convolution) -> DimKind {
    match dim {
        dim if dim == convolution.kernel_output_feature => DimKind::Output,
        dim if dim == convolution.kernel_input_feature => DimKind::Input,
        _ => DimKind::Window,
    }
}

/// The kind of a dimension of looked-up blocks or of updates: that of the data's dimension where it is inside of a block.
fn block_kind(dim: usize, gather: &Gather, rank: usize) -> DimKind {
    let Some(position) = gather.offset_dims.iter().position(|own| *own == dim) else { return DimKind::Batch };
    let gone = |dim: &usize| gather.collapsed_slice_dims.contains(dim) || gather.operand_batching_dims.contains(dim);
    let data = (0..rank).filter(|dim| !gone(dim)).nth(position);
    if data.is_some_and(|dim| gather.start_index_map.contains(&dim)) { DimKind::Indexed } else { DimKind::Offset }
}
