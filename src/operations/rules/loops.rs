//! Loops around one element of each operand and result.

use super::arrays::{Arrays, Verdict, entries};
use crate::expr::Expr;
use crate::operations::operation::Loops;
use crate::operations::refusal::Refusal;
use crate::operations::sizes::Sizes;

/// - `loops_c1`: no loop runs a negative number of times.
/// - `loops_c2`: there is an entry for each operand and for each result.
/// - `loops_c3`: an index has an expression for each dimension of its array.
/// - `loops_c4`: the expressions use no variable but the loops and the offsets.
/// - `loops_c5`: the offsets are scalar operands.
pub fn loops(loops: &Loops, arrays: &Arrays) -> Verdict {
    if let Some((k, n)) = loops.sizes.iter().enumerate().find(|(_, n)| **n < 0) {
        return Err(Refusal::entry("loops_c1", "sizes", k, format!("must be at least 0, found {n}")));
    }
    entries("loops_c2", "operands", loops.operands.len(), arrays.ins.len(), "one for each operand")?;
    entries("loops_c2", "results", loops.results.len(), arrays.results_count(), "one for each result")?;
    let vars = loops.sizes.len() + loops.offsets.len();
    for (k, (e, sizes)) in loops.operands.iter().zip(&arrays.ins).enumerate() {
        e.as_ref().map_or(Ok(()), |e| index("operands", k, e, sizes, vars))?;
    }
    for (k, (e, sizes)) in loops.results.iter().zip(arrays.given()).enumerate() {
        index("results", k, e, sizes, vars)?;
    }
    let held = loops.offsets.iter().enumerate().filter_map(|(k, (operand, _))| Some((k, operand.as_ref()?)));
    for (k, operand) in held {
        if arrays.ins.get(*operand).is_none_or(|sizes| sizes.rank() != 0) {
            let must = format!("must be the number of a scalar operand, found {operand}");
            return Err(Refusal::entry("loops_c5", "offsets", k, must));
        }
    }
    Ok(())
}

/// Checks `loops_c3` and `loops_c4` of one index.
fn index(name: &'static str, k: usize, index: &[Expr], sizes: &Sizes, vars: usize) -> Verdict {
    if index.len() != sizes.rank() {
        let must = format!("must have {} expressions, one for each dimension, found {}", sizes.rank(), index.len());
        return Err(Refusal::entry("loops_c3", name, k, must));
    }
    let mut largest = None;
    index.iter().for_each(|e| e.for_each_var(&mut |v| largest = largest.max(Some(v))));
    match largest.filter(|v| *v >= vars) {
        Some(v) => {
            let must = format!("must use variables below {vars}, the loops and the offsets, found {v}");
            Err(Refusal::entry("loops_c4", name, k, must))
        }
        None => Ok(()),
    }
}
