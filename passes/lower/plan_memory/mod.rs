//! `layout-plan-memory`: puts the buffers of a call into one allocation, its *arena*, for each memory of the machine.
//!
//! ```text
//! %x = alloc : memref<4x8xf32>   ...  dealloc %x          %all = alloc : memref<192xi8>
//! %y = alloc : memref<16xf32>    ...  dealloc %y    =>    %x = view %all[0], %y = view %all[128]
//! ```
//!
//! A buffer is *live* from its allocation to its deallocation, in the order of the text, including everything that runs
//! in between, or through the loops and conditionals that hand it on (see `webs`). Two buffers may share an address if
//! their live ranges do not overlap; [`mod@tensor_layout::offsets`] finds the offsets. A buffer in a loop's body has
//! the same offset in each iteration. Buffers in loops with parallel iterations, buffers
//! of dynamic size, and buffers that a public function returns stay allocations.
//!
//! Functions are planned before their callers. A private function whose calls are all known is given its memory as
//! arguments: bytes for each buffer that it returns, and bytes for all the others. To its caller, these are buffers:
//! the first live as long as the results, the last during the call. So the arena of a public function also covers
//! all its callees, and its size is known at compile time. A function that may call itself, or has
//! other references, has an arena of its own.

mod arena;
mod memory;
mod place;
mod planned;
mod signature;
mod webs;

use crate::analysis::functions::{called_only_functions, callee, symbol};
use crate::pass::diagnostic::Diagnostic;
use crate::pass::options::{Arena, PlanMemoryOptions};
use crate::pass::stages::{Next, StageInput, StageResult};
use crate::pass::upstream;
use arena::Arenas;
use layout_ir::{self as ir, Op, Rewriter};
use memory::ArenaMemory;
use planned::ArenaPlan;
use std::collections::{HashMap, HashSet};

/// Plans the memory of a module; returns [`Next::Unchanged`] if there is nothing to plan.
///
/// # Errors
/// A function of the module with the name of a needed one.
pub(crate) fn run<'c>(stage: StageInput<'c, PlanMemoryOptions>) -> StageResult<'c> {
    let StageInput { rewriter, options, .. } = stage;
    if options.arena == Arena::None {
        return Ok(Next::Unchanged);
    }
    let module = rewriter.root();
    let operations = ir::all_operations(module);
    if options.arena == Arena::Argument {
        no_public_calls(&operations)?;
    }
    let (mut found, mut arenas) = (false, None);
    for memory in ArenaMemory::all(&operations) {
        found |= plan_in(rewriter, options, memory, &mut arenas)?;
    }
    arenas.into_iter().for_each(Arenas::finish);
    Ok(Next::of(found))
}

/// Plans the buffers of a module in one memory; returns false if there are none.
///
/// # Errors
/// The errors of [`run`].
fn plan_in<'c>(
    rewriter: &'c Rewriter,
    options: PlanMemoryOptions,
    memory: ArenaMemory<'c>,
    arenas: &mut Option<Arenas<'c>>,
) -> Result<bool, Vec<Diagnostic<'c>>> {
    let operations = ir::all_operations(rewriter.root());
    let called_only = called_only_functions(&operations);
    let mut signatures = HashMap::new();
    let mut all = Vec::new();
    for (function, calls_itself) in callees_first(&operations) {
        let given = !calls_itself && symbol(function).is_some_and(|name| called_only.contains_key(name));
        let planned = ArenaPlan::of(function, &signatures, memory, given);
        if given {
            signatures
                .insert(symbol(function).expect("a function that is only called has a name"), planned.signature());
        }
        all.push((function, planned, given));
    }
    let buffers: usize = all.iter().flat_map(|(_, planned, _)| &planned.webs).map(|web| web.creations.len()).sum();
    if options.arena == Arena::Call && buffers as u64 <= options.buffers {
        return Ok(false);
    }
    let told = all.iter().filter(|(_, planned, given)| options.report && !given && planned.bytes > 0);
    told.for_each(|(function, planned, _)| upstream::emit(&remark(*function, planned, memory)));
    let arenas = match arenas {
        Some(arenas) => arenas,
        None => arenas.insert(Arenas::of(rewriter, options.arena)?),
    };
    arenas.memory = memory;
    for (function, planned, given) in &all {
        place::place(rewriter, *function, planned, &signatures, *given, arenas, options.poison);
    }
    Ok(options.arena != Arena::Call || !all.is_empty())
}

/// The remark about an arena: its contents, and its peak.
fn remark<'c>(function: Op<'c>, planned: &ArenaPlan<'c>, memory: ArenaMemory<'c>) -> Diagnostic<'c> {
    let ArenaPlan { webs, calls, bytes, peak, .. } = planned;
    let count = webs.iter().filter(|web| web.returned.is_none()).count() + calls.len();
    let space = memory.space.and_then(layout_dialect::memory_space).unwrap_or(0);
    let message = format!(
        "the arena in memory space {space} has {bytes} bytes for {count} buffers, of which at most {peak} are live at once"
    );
    Diagnostic::remark(ir::location(function), message)
}

/// # Errors
/// Calls of public functions: their callers have to pass memory that the module's own calls do not.
fn no_public_calls<'c>(operations: &[Op<'c>]) -> Result<(), Vec<Diagnostic<'c>>> {
    let is_public = |op: &&Op<'c>| {
        let visibility = ir::attribute(**op, "sym_visibility").and_then(ir::text);
        ir::name(**op) == "func.func" && visibility != Some("private") && !ir::blocks(**op).is_empty()
    };
    let public: HashSet<&str> = operations.iter().filter(is_public).filter_map(|op| symbol(*op)).collect();
    let wrong = |op: &Op<'c>| {
        let name = callee(*op).filter(|name| public.contains(name))?;
        let message = format!(
            "with arena=argument, `{name}` has an argument that this call does not give: call a private function"
        );
        Some(Diagnostic::error(ir::location(*op), message))
    };
    let wrong: Vec<Diagnostic> = operations.iter().filter_map(wrong).collect();
    if wrong.is_empty() { Ok(()) } else { Err(wrong) }
}

/// The functions with a body, callees first, each with whether it may call itself.
fn callees_first<'c>(operations: &[Op<'c>]) -> Vec<(Op<'c>, bool)> {
    let is_function = |op: &&Op<'c>| {
        ir::name(**op) == "func.func" && ir::parent(**op) == Some(operations[0]) && !ir::blocks(**op).is_empty()
    };
    let functions: Vec<Op<'c>> = operations.iter().filter(is_function).copied().collect();
    let numbers: HashMap<&str, usize> =
        functions.iter().enumerate().filter_map(|(k, op)| Some((symbol(*op)?, k))).collect();
    let called = |function: &Op<'c>| -> Vec<usize> {
        let calls = ir::all_operations(*function).into_iter().filter_map(callee);
        calls.filter_map(|name| numbers.get(name).copied()).collect()
    };
    let called: Vec<Vec<usize>> = functions.iter().map(called).collect();
    let (mut order, mut done, mut open, mut circular) = (vec![], HashSet::new(), HashSet::new(), HashSet::new());
    for first in 0..functions.len() {
        // Each function is pushed twice: once to push its callees, then to be recorded itself.
        let mut stack = vec![(first, false)];
        while let Some((function, is_ready)) = stack.pop() {
            if is_ready {
                open.remove(&function);
                done.insert(function);
                order.push(function);
            } else if open.contains(&function) {
                // A recursive call; all functions opened since then may be called again.
                circular.extend(open.iter().copied());
            } else if !done.contains(&function) {
                open.insert(function);
                stack.push((function, true));
                stack.extend(called[function].iter().map(|callee| (*callee, false)));
            }
        }
    }
    order.into_iter().map(|k| (functions[k], circular.contains(&k))).collect()
}
