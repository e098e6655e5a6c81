//! Operations on the parts of a process: attributes, indices, and the fallback to replicated execution.

use super::exchange::Exchanger;
use super::grid::{Digits, local_weight};
use super::loops::{DimLoops, LoopNest};
use super::sharded::{is_tensor, tensor_layout_of};
use crate::analysis::functions::symbol;
use crate::buffers::operations::{ELEMENTWISE, is};
use crate::distribute::PROCESS;
use layout_ir::{self as ir, Op, Val};
use melior::ir::operation::OperationMutLike;
use melior::ir::{Type, ValueLike};
use tensor_layout::expr::Expr;

/// The name of a function that is only declared, has no results and no sharded arguments, and writes to no memory:
/// `bufferization.access = "read"` marks a memref as read.
pub fn is_called_once<'c>(op: Op<'c>) -> Option<&'c str> {
    let declared = ir::name(op) == "func.func" && ir::blocks(op).is_empty();
    let t = declared.then(|| ir::attribute(op, "function_type")).flatten().and_then(ir::type_in)?;
    let (inputs, results) = ir::function(t)?;
    let takes_parts =
        |t: &Type<'c>| tensor_layout_of(*t).is_some_and(|(_, layout)| layout.axes().iter().any(|axis| axis == PROCESS));
    let told = ir::elements(op, "arg_attrs");
    let only_reads = |k: usize| {
        let entries = told.get(k).map(|all| ir::entries(*all)).unwrap_or_default();
        let access = entries.into_iter().find(|(name, _)| name == "bufferization.access");
        access.and_then(|(_, access)| ir::text(access)).is_some_and(|access| access == "read")
    };
    let writes = inputs.iter().enumerate().any(|(k, t)| ir::is_buffer(*t) && !only_reads(k));
    (results.is_empty() && !writes && !inputs.iter().any(takes_parts)).then(|| symbol(op)).flatten()
}

/// The nest of an operation that each process executes whole; `None` for one that may do more than compute.
pub fn done_by_all<'c>(op: Op<'c>) -> Option<LoopNest<'c>> {
    let name = ir::name(op);
    let computes =
        ["tensor.", "linalg.", "complex."].iter().any(|dialect| name.starts_with(dialect)) || is(name, ELEMENTWISE);
    if !computes || !ir::operands(op).into_iter().chain(ir::results(op)).all(|v| ir::memref(v.r#type()).is_none()) {
        return None;
    }
    let dims = |v: &Val<'c>| ir::tensor(v.r#type()).map(|t| vec![Vec::new(); t.shape.len()]);
    let (operands, results) = (ir::operands(op), ir::results(op));
    let made: Vec<DimLoops> = results.iter().map(|v| dims(v).unwrap_or_default()).collect();
    let first = operands.len().saturating_sub(results.len());
    let writes = name.starts_with("linalg.") && operands[first..].iter().all(|v| is_tensor(*v));
    Some(LoopNest {
        sizes: Vec::new(),
        spreads: Vec::new(),
        operands: operands.iter().map(dims).collect(),
        outputs: (0..made.len()).map(|k| writes.then_some(first + k)).collect(),
        combinations: vec![None; made.len()],
        results: made,
        alike: is(name, ELEMENTWISE),
    })
}

/// Sets the attributes of an operation to its local sizes.
pub fn set_sizes(op: Op, nest: &LoopNest, loops: &Digits) {
    let local = nest.local_sizes(loops);
    let (name, dims) = match ir::name(op) {
        "tensor.expand_shape" => ("static_output_shape", &nest.results[0]),
        "tensor.extract_slice" => ("static_sizes", nest.operands[0].as_ref().unwrap_or(&nest.results[0])),
        "tensor.insert_slice" => ("static_sizes", &nest.results[0]),
        _ => return,
    };
    let mut sizes = ir::sizes(op, name);
    for (size, own) in sizes.iter_mut().zip(dims).filter(|(_, own)| !own.is_empty()) {
        *size = Some(own.iter().map(|k| local[*k]).product());
    }
    let context = ir::Builder::before(op).context();
    ir::edit(op).set_attribute(name, ir::sizes_attribute(context, &sizes));
}

/// Makes `linalg.index` in a body return the global index instead of the local one.
pub fn set_indices<'c>(op: Op<'c>, nest: &LoopNest<'c>, loops: &Digits, exchanger: &Exchanger<'_, 'c>) {
    for inside in ir::all_operations(op).into_iter().skip(1).filter(|inside| ir::name(*inside) == "linalg.index") {
        let Some(own) = ir::attribute(inside, "dim").and_then(ir::integer).and_then(|dim| usize::try_from(dim).ok())
        else {
            continue;
        };
        let axes: Vec<usize> =
            (0..loops.len()).filter(|axis| loops[*axis].is_some_and(|digit| digit.dim == own)).collect();
        if axes.is_empty() || ir::nearest_structured(inside) != Some(op) {
            continue;
        }
        let local = ir::result(inside, 0);
        let uses = ir::uses(local);
        let b = exchanger.b.at(ir::next(inside).expect("a body has a terminator")).located(inside);
        let map = b.map(1 + axes.len(), &[whole_index(own, nest.local_sizes(loops)[own], &axes, loops)], &|v| v);
        let operands: Vec<Val> = std::iter::once(local).chain(exchanger.coordinates(&axes)).collect();
        let all = b.value("affine.apply", &operands, Type::index(b.context()), &[b.named("map", map)]);
        uses.into_iter().for_each(|(user, operand)| ir::edit(user).set_operand(operand, all));
    }
}

/// The global index of a loop of this size. Variable 0 is the local index, variable `1 + k` the coordinate of the
/// process along the axis `k` of `axes`.
fn whole_index(own: usize, size: i64, axes: &[usize], loops: &Digits) -> Expr {
    let mut digits: Vec<_> = axes.iter().enumerate().filter_map(|(k, axis)| Some((k, loops[*axis]?))).collect();
    digits.sort_by_key(|(_, digit)| digit.weight);
    let (mut terms, mut from, mut scale) = (Vec::new(), 1, 1);
    for (k, digit) in &digits {
        debug_assert_eq!(digit.dim, own);
        let to = local_weight(digit, loops);
        if to > from {
            terms.push(Expr::Var(0).digit(from, to / from, size).times(from * scale));
        }
        terms.push(Expr::Var(1 + k).times(digit.weight));
        (from, scale) = (to, scale * digit.extent);
    }
    if size > from {
        terms.push(Expr::Var(0).digit(from, size / from, size).times(from * scale));
    }
    Expr::sum(terms)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distribute::partition::grid::{Grid, local_sizes};
    use tensor_layout::places::Placement;

    /// Checks that the processes' indices together are all indices of a loop, each once and in the process of the
    /// layout.
    #[test]
    fn indices_are_those_of_all_processes() {
        let layouts = [
            "((4_Process, 6:1))",
            "((6:1, 4_Process))",
            "((2_Process:2, 3:2, 2_Process:1, 2:1))",
            "((3:2, 4_Process, 2:1))",
        ];
        for layout in layouts {
            let placement = Placement::parse(layout).unwrap();
            let grid = Grid::new(4, &Grid::cuts(&placement)).unwrap();
            let digits = grid.digits(&placement).unwrap();
            let axes: Vec<usize> = (0..grid.rank()).collect();
            let size = local_sizes(&[24], &digits)[0];
            let index = whole_index(0, size, &axes, &digits);
            let mut seen = Vec::new();
            for process in 0..4 {
                for local in 0..size {
                    let coordinates = axes.iter().map(|axis| process / grid.strides[*axis] % grid.extents[*axis]);
                    let point: Vec<i64> = std::iter::once(local).chain(coordinates).collect();
                    let all = index.evaluate(&point).unwrap();
                    assert_eq!(placement.place(&[all]).unwrap()[0], process, "{layout}");
                    seen.push(all);
                }
            }
            seen.sort_unstable();
            assert_eq!(seen, (0..24).collect::<Vec<_>>(), "{layout}");
        }
    }
}
