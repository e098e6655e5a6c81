//! `layout-expand-foreign`: operations of torch-mlir and IREE as programs of loops.
//!
//! Each is filled into a template of `layout_programs`, whose functions are inlined in the place of the operation. Where
//! the program calls a function that the template lacks, the region of the operation is inlined.
//!
//! ```text
//! %s = "tm_tensor.sort"(%x) ({            %s = scf.for %i = .. iter_args(%line = %x) {
//! ^bb0(%a: f32, %b: f32):            =>     ..
//!   %c = arith.cmpf olt, %a, %b             %c = arith.cmpf olt, %right, %left
//!   "tm_tensor.yield"(%c)                   ..
//! })                                      }
//! ```

use crate::foreign::operation::{Expanded, Foreign};
use crate::foreign::{attention, fft, gather, scan, scatter, sort};
use crate::pass::diagnostic::Diagnostic;
use crate::pass::stages::{Next, StageInput, StageResult};
use layout_ir::{self as ir, Op, Rewriter};

/// The expansion of an operation.
type Expand = for<'c> fn(&Foreign<'c>, &'c Rewriter) -> Expanded<'c>;

/// The dialects, each with its operations.
const DIALECTS: &[(&str, &[(&str, Expand)])] = &[
    (
        "tm_tensor",
        &[
            ("attention", attention::expand),
            ("scan", scan::expand),
            ("scatter", scatter::expand),
            ("sort", sort::expand),
            ("topk", sort::expand_topk),
        ],
    ),
    (
        "iree_linalg_ext",
        &[
            ("attention", attention::expand),
            ("fft", fft::expand),
            ("gather", gather::expand),
            ("scan", scan::expand),
            ("scatter", scatter::expand),
            ("sort", sort::expand),
            ("topk", sort::expand_topk),
        ],
    ),
];

/// Expands all such operations of a module.
pub(crate) fn run<'c>(stage: StageInput<'c>) -> StageResult<'c> {
    let rewriter = stage.rewriter;
    let found: Vec<(Op<'c>, &[(&str, Expand)])> =
        ir::all_operations(rewriter.root()).into_iter().filter_map(|op| Some((op, operations_of(op)?))).collect();
    let mut errors = Vec::new();
    // One in the region of another comes first: the region is copied.
    for (op, known) in found.iter().rev() {
        errors.extend(expand(rewriter, *op, known).err());
    }
    if errors.is_empty() { Ok(Next::of(!found.is_empty())) } else { Err(errors) }
}

/// The operations of the dialect of an operation, if it is one of these dialects; a terminator goes with its operation.
fn operations_of(op: Op) -> Option<&'static [(&'static str, Expand)]> {
    let (dialect, name) = ir::name(op).split_once('.')?;
    let known = DIALECTS.iter().find(|(of, _)| *of == dialect)?.1;
    let inside = ir::parent(op).is_some_and(|parent| ir::name(parent).split('.').next() == Some(dialect));
    (name != "yield" || !inside).then_some(known)
}

fn expand<'c>(rewriter: &'c Rewriter, op: Op<'c>, known: &[(&str, Expand)]) -> Result<(), Diagnostic<'c>> {
    let foreign = Foreign::of(op)?;
    let Some((_, expand)) = known.iter().find(|(name, _)| *name == foreign.name()) else {
        let names: Vec<&str> = known.iter().map(|(name, _)| *name).collect();
        return Err(foreign.refused(format!("of this dialect {} are known", names.join(", "))));
    };
    let values = expand(&foreign, rewriter)?;
    ir::results(op).into_iter().zip(values).for_each(|(old, new)| ir::replace_all_uses(old, new));
    rewriter.erase(op);
    Ok(())
}
