//! `layout-remove-conversions`: removes conversions without need.
//!
//! A conversion moves bytes and changes no value, and most operations read operands in any layout and write results in
//! any layout. So the layout of a tensor inside a module is free, up to three rules:
//!
//! - *one layout*: some values must share one, such as the results of a loop and its yielded values
//!   (`constraints.rs`);
//! - *fixed*: some keep the written one, such as the arguments of public functions (`constraints.rs`);
//! - *spaces*: a memory space and a TensorLayout fix where data are; they stay as written.
//!
//! 1. Chains of conversions are shortened: each reads the source of its chain.
//! 2. Each use of a conversion gets its own copy (`hoist.rs`): one use may need it where others do not.
//! 3. Values with one layout form a class. Conversions are visited in order of the bytes that they move, the most
//!    first, loops and calls counted (`ExecutionCounts`), and the classes of source and result merge if the rules
//!    allow it (`classes.rs`). Such a conversion disappears; the others existed before, so none is added in any order.
//! 4. The types of values are set. Conversions of an empty tensor, a constant or a fill become the same definition in
//!    the other layout.
//! 5. The remaining conversions are merged for each layout, and move out of loops and into the only branch that uses
//!    them (`hoist.rs`).
//!
//! In `convert(A to B); add; convert(B to A)` between an argument and a result of a public function, both with layout A,
//! all four values become one class, of layout A.
//!
//! Not promised: the fewest bytes. That is a multiway cut, which is NP-hard.

mod classes;
mod constraints;
mod hoist;

use crate::analysis::execution_counts::ExecutionCounts;
use crate::analysis::functions::set_function_type;
use crate::buffers::spread::Axes;
use crate::models::{ModelCalls, Purpose, model_of};
use crate::pass::diagnostic::Diagnostic;
use crate::pass::options::RemoveConversionsOptions;
use crate::pass::stages::{Next, StageInput, StageResult};
use crate::pass::upstream;
use classes::{Classes, bytes};
use constraints::Constraints;
use layout_ir::{self as ir, Op, Rewriter};
use melior::ir::ValueLike;

pub use classes::reshaped;
pub use hoist::erase_dead;

/// Marks a conversion from `layout-plan`, which stays.
pub const PLANNED: &str = "planned";

/// Removes the conversions of a module without need.
pub(crate) fn run<'c>(stage: StageInput<'c, RemoveConversionsOptions>) -> StageResult<'c> {
    let StageInput { rewriter, options, .. } = stage;
    let module = rewriter.root();
    let before = Moved::of(module);
    if before.conversions > 0 {
        let calls = ModelCalls::of(rewriter, module, Purpose::Layouts)?;
        remove(rewriter);
        calls.restore();
    }
    if options.report {
        let after = Moved::of(module);
        upstream::emit(&Diagnostic::remark(
            ir::location(module),
            format!(
                "{} of {} conversions are left: {} of {} bytes",
                after.conversions, before.conversions, after.bytes, before.bytes
            ),
        ));
    }
    Ok(Next::of(before.conversions > 0))
}

fn remove(rewriter: &Rewriter) {
    let module = rewriter.root();
    hoist::shorten_chains(module);
    hoist::split_uses(module);
    let operations = ir::all_operations(module);
    let runs = ExecutionCounts::of(&operations);
    let Constraints { mut classes, functions } =
        Constraints::of(Classes::new(ir::location(module), Axes::of(module, &operations)), &operations);
    let mut conversions: Vec<Op> = operations.iter().copied().filter(|op| is_conversion(*op)).collect();
    conversions.sort_by_key(|op| std::cmp::Reverse(moved_bytes(*op, &runs)));
    for op in &conversions {
        classes.join(ir::operands(*op)[0], ir::result(*op, 0));
    }
    classes.set_types();
    for function in functions {
        set_function_type(function);
    }
    let kept: Vec<Op> = conversions.into_iter().filter(|op| !erase_identity(rewriter, *op)).collect();
    hoist::settle(rewriter, kept);
    hoist::erase_dead(rewriter);
}

/// Whether an operation converts tensors.
fn is_conversion(op: Op) -> bool {
    ir::name(op) == "layout.convert" && ir::tensor(ir::result(op, 0).r#type()).is_some()
}

/// The bytes that a conversion moves, times its executions.
fn moved_bytes(op: Op, runs: &ExecutionCounts) -> u64 {
    let shaped = ir::tensor(ir::result(op, 0).r#type()).expect("a conversion of tensors");
    bytes(&shaped).saturating_mul(runs.of_op(op))
}

/// The totals of a module's conversions, without those in models.
struct Moved {
    conversions: usize,
    bytes: u64,
}

impl Moved {
    fn of(module: Op) -> Moved {
        let operations = ir::all_operations(module);
        let runs = ExecutionCounts::of(&operations);
        let conversions = operations.into_iter().filter(|op| is_conversion(*op) && model_of(*op).is_none());
        let each = conversions.map(|op| moved_bytes(op, &runs));
        each.fold(Moved { conversions: 0, bytes: 0 }, |all, bytes| Moved {
            conversions: all.conversions + 1,
            bytes: all.bytes.saturating_add(bytes),
        })
    }
}

/// Removes a conversion to its source's type; returns false for any other.
fn erase_identity(rewriter: &Rewriter, op: Op) -> bool {
    let (source, result) = (ir::operands(op)[0], ir::result(op, 0));
    if source.r#type() != result.r#type() {
        return false;
    }
    ir::replace_all_uses(result, source);
    rewriter.erase(op);
    true
}
