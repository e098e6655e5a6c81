//! Sharded tensors of a module, and the types of their parts.

use super::grid::{Digits, Grid, local_sizes};
use crate::distribute::PROCESS;
use layout_ir::{self as ir, Op, Shaped};
use melior::Context;
use melior::ir::{Attribute, Type, ValueLike};
use tensor_layout::places::{Broadcast, Machine, Placement, TensorLayout};

/// A tensor that is sharded over processes.
#[derive(Clone, Debug, PartialEq)]
pub struct Sharded<'c> {
    /// The global sizes; `None` if one is known only at run time, then each process has a copy.
    pub sizes: Option<Vec<i64>>,
    /// The digit of each axis of the grid.
    pub digits: Digits,
    /// The layout of a process's part; `None` for row-major.
    pub inner: Option<Attribute<'c>>,
    /// The type of an element.
    pub element: Type<'c>,
}

impl<'c> Sharded<'c> {
    /// The sharding that a type describes.
    ///
    /// # Errors
    /// Processes without any part, sizes that are not divided evenly, and a sharded size that is known only at run
    /// time.
    pub fn of(grid: &Grid, context: &'c Context, shaped: &Shaped<'c>) -> Result<Sharded<'c>, String> {
        let whole = Sharded {
            sizes: shaped.sizes(),
            digits: vec![None; grid.rank()],
            inner: shaped.layout,
            element: shaped.element,
        };
        let Some(layout) = shaped.layout.and_then(layout_dialect::tensor_layout) else { return Ok(whole) };
        let Some(sizes) = shaped.sizes() else {
            return match layout.axes().iter().any(|axis| axis == PROCESS) {
                true => Err(format!(
                    "a tensor that is spread over processes must have static sizes, found {:?}",
                    shaped.shape
                )),
                false => Ok(whole),
            };
        };
        let placement = Placement::new(&layout, Some(&sizes)).map_err(|misplaced| misplaced.error.message)?;
        let digits = grid.digits(&placement)?;
        let inner = inner_layout(&layout, &sizes, &digits)?;
        let inner = inner.map(|layout| layout_dialect::tensor_layout_attribute(context, &layout)).transpose();
        Ok(Sharded { digits, inner: inner.map_err(|error| error.message)?, ..whole })
    }

    /// Whether each process has the whole tensor.
    pub fn is_whole(&self) -> bool {
        self.digits.iter().all(Option::is_none)
    }

    /// The sizes of a process's part.
    pub fn local(&self) -> Option<Vec<i64>> {
        Some(local_sizes(self.sizes.as_ref()?, &self.digits))
    }

    /// The bytes of an element, rounded up; an index has 8.
    pub fn element_bytes(&self) -> i64 {
        ir::bits(self.element).map_or(8, |bits| (bits + 7) / 8)
    }

    /// The type of a process's part; `None` if sizes are known only at run time.
    pub fn r#type(&self) -> Option<Type<'c>> {
        let shape = self.local()?.into_iter().map(Some).collect();
        Some(ir::tensor_type(&Shaped { shape, element: self.element, layout: self.inner, space: None }))
    }

    /// The same sharding with row-major parts.
    pub fn plain(&self) -> Sharded<'c> {
        Sharded { inner: None, ..self.clone() }
    }

    /// The same tensor in another sharding, with row-major parts.
    pub fn spread(&self, digits: &Digits) -> Sharded<'c> {
        Sharded { digits: digits.clone(), ..self.plain() }
    }
}

/// A layout without the processes; `None` if the rest is row-major.
fn inner_layout(layout: &TensorLayout, sizes: &[i64], digits: &Digits) -> Result<Option<TensorLayout>, String> {
    let local = local_sizes(sizes, digits);
    let dims: Vec<Vec<_>> = layout
        .dims
        .iter()
        .map(|parts| parts.iter().filter(|part| part.axis.as_deref() != Some(PROCESS)).cloned().collect())
        .collect();
    let mut inner = TensorLayout::new(dims).map_err(|error| error.message)?;
    let elsewhere = |copies: &&Broadcast| match copies {
        Broadcast::Axis(axis) | Broadcast::Part { axis, .. } => axis != PROCESS,
    };
    inner.broadcast = layout.broadcast.iter().filter(elsewhere).cloned().collect();
    let padded = inner.padded_sizes().map_err(|error| error.message)?;
    inner.shape = (padded != local).then(|| local.clone());
    let placement = Placement::new(&inner, Some(&local)).map_err(|misplaced| misplaced.error.message)?;
    Ok((!is_row_major(&placement)).then_some(inner))
}

/// Whether elements are in row-major order at consecutive addresses of one place.
fn is_row_major(placement: &Placement) -> bool {
    let sizes = placement.sizes();
    let below = |dim: usize| sizes[dim + 1..].iter().product::<i64>();
    placement.axes().is_empty()
        && placement.padded_sizes() == sizes
        && placement
            .digits()
            .iter()
            .filter(|digit| digit.extent > 1)
            .all(|digit| digit.dim.is_some_and(|dim| digit.weight.checked_mul(below(dim)) == Some(digit.stride)))
}

/// The machine of one process; `None` if no axis remains.
///
/// # Errors
/// Processes inside of other places.
pub fn inner_machine(machine: &Machine) -> Result<Option<Machine>, String> {
    let mut inner = machine.clone();
    let first = inner.axes.remove(0);
    if first.name != PROCESS {
        return Err(format!(
            "the axis {PROCESS} must be the outermost one of the machine, found it inside of {}",
            first.name
        ));
    }
    for memory in inner.memories.iter_mut().filter(|memory| memory.axis.as_deref() == Some(PROCESS)) {
        memory.axis = None;
    }
    let model = &mut inner.model;
    [&mut model.links, &mut model.work].into_iter().for_each(|rates| rates.retain(|(axis, _)| axis != PROCESS));
    model.topologies.retain(|(axis, _)| axis != PROCESS);
    Ok((!inner.axes.is_empty() || !inner.memories.is_empty()).then_some(inner))
}

/// The results of an operation and the arguments of its blocks.
pub fn values<'c>(op: Op<'c>) -> Vec<ir::Val<'c>> {
    ir::results(op).into_iter().chain(ir::blocks(op).into_iter().flat_map(ir::arguments)).collect()
}

/// The TensorLayout of a tensor or memref type, if it has one.
pub fn tensor_layout_of(t: Type) -> Option<(Shaped, TensorLayout)> {
    let shaped = ir::tensor(t).or_else(|| ir::memref(t))?;
    let layout = shaped.layout.and_then(layout_dialect::tensor_layout)?;
    Some((shaped, layout))
}

/// Whether a value is a tensor of known rank.
pub fn is_tensor(v: ir::Val) -> bool {
    ir::tensor(v.r#type()).is_some()
}
