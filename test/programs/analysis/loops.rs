//! The loops of operations against a slow interpreter of each operation.

use super::cases::{KINDS, some};
use super::held;
use layout_reference::choices;
use layout_reference::interpreter::reads::reads;
use std::cell::Cell;
use std::collections::BTreeSet;
use tensor_layout::expr::Expr;
use tensor_layout::maps::{IndexingMap, Interval};
use tensor_layout::operations::{Array, Operation, Shape, WindowDim, leaves};

/// The most iterations of a case.
const MOST_ITERATIONS: i64 = 50_000;

/// Whether iterations whose indices are in the arrays read nothing more than the operation. Those of a padding, of data under
/// an update, and of features of other groups do.
fn is_exact(operation: &Operation) -> bool {
    match operation {
        Operation::Convolution(c) => {
            let is_padded = |dim: &WindowDim| (dim.low, dim.high, dim.base_dilation) != (0, 0, 1);
            c.feature_groups == 1 && c.batch_groups == 1 && !c.window.iter().any(is_padded)
        }
        Operation::ReduceWindow { window } => window.iter().all(|dim| dim.base_dilation == 1),
        Operation::Pad { .. } | Operation::DynamicUpdateSlice | Operation::InsertSlice { .. } => false,
        _ => true,
    }
}

#[test]
fn elements_are_read_in_iterations() {
    let tried = Cell::new(0);
    for kind in 0..KINDS {
        choices::check(
            100,
            kind as u64,
            |rng| (some(rng, kind), rng.u64(..)),
            |(case, salt)| {
                let (operands, results): (Vec<&Shape>, Vec<&Shape>) =
                    (case.operands.iter().collect(), case.results.iter().collect());
                let arrays =
                    |shapes: &[&Shape]| shapes.iter().flat_map(|shape| leaves(shape)).cloned().collect::<Vec<Array>>();
                let [ins, outs] = [arrays(&operands), arrays(&results)];
                let [ins, outs]: [Vec<&Array>; 2] = [ins.iter().collect(), outs.iter().collect()];
                let Some(loops) = case.operation.loops(&ins, &outs) else { return };
                let vars: Vec<Interval> = loops.sizes.iter().map(|n| Interval::new(0, n - 1)).collect();
                let vars: Vec<Interval> = vars.into_iter().chain(loops.offsets.iter().map(|own| own.1)).collect();
                let count = vars.iter().fold(1i64, |n, own| n.saturating_mul(own.hi - own.lo + 1));
                // An initial value is read also where nothing is reduced.
                if count == 0 || count > MOST_ITERATIONS {
                    return;
                }
                tried.set(tried.get() + 1);
                let at = |index: &[Expr], point: &[i64]| {
                    index.iter().map(|e| e.evaluate(point).unwrap()).collect::<Vec<_>>()
                };
                let inside =
                    |array: &Array, at: &[i64]| at.iter().zip(array.sizes().unwrap()).all(|(x, n)| (0..n).contains(x));
                let mut iterated = BTreeSet::new();
                for point in IndexingMap::new(vars, Vec::new()).points() {
                    for (operand, index) in loops.operands.iter().enumerate() {
                        let Some(read) = index.as_ref().map(|index| at(index, &point)) else { continue };
                        for (result, made) in loops.results.iter().enumerate().filter(|_| inside(ins[operand], &read)) {
                            iterated.insert((operand, result, at(made, &point), read.clone()));
                        }
                    }
                }
                let expected = reads(&case.operation, &operands, &results, &|leaf, at| held(*salt, leaf, at));
                let missing = expected.difference(&iterated).next();
                assert_eq!(missing, None, "{:?} {operands:?} {loops:?}", case.operation);
                if loops.offsets.iter().all(|own| own.0.is_none()) && is_exact(&case.operation) {
                    assert_eq!(expected, iterated, "{:?} {operands:?} {loops:?}", case.operation);
                }
            },
        );
    }
    assert!(tried.get() > 1_000, "{}", tried.get());
}
