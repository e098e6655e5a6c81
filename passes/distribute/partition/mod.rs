//! `layout-partition`: makes one program for each process, in which tensors are the parts of that process.
//!
//! ```text
//! tensor<1024x512xf32, ((8_Process, 128:512), (512:1))>  -->  tensor<128x512xf32>
//! linalg.matmul of 1024 x 512 by 512 x 256               -->  linalg.matmul of 128 x 512 by 512 x 256
//! layout.convert to tensor<1024x512xf32>                 -->  shard.all_gather
//! ```
//!
//! Types fix the part of each process. For each operation the pass chooses the sharded loops (`choice`), converts
//! operands to what these loops read, and results to their types. All processes run the
//! same program on different parts, so they reach the same collectives in the same order.
//!
//! | file | contents |
//! |---|---|
//! | `grid` | the processes as a grid, and digits of dimensions on it |
//! | `chain` | a relayout as a chain of collectives |
//! | `sharded` | sharded tensor types, and the types of parts |
//! | `loops` | operations as loop nests |
//! | `choice` | the choice of sharded loops |
//! | `exchange` | collectives as operations of `shard` |
//! | `operations` | attributes and indices of operations on parts |
//! | `made_again` | tensors that are free to recompute |
//! | `partial` | partial sums and their combination |
//! | `write` | the walk over the module |
//!
//! Not promised: a global minimum of communication; each operation is decided alone. Floating-point sums
//! over a sharded dimension are rounded in another order.

mod chain;
mod choice;
mod exchange;
mod grid;
mod loops;
mod made_again;
mod operations;
mod partial;
mod sharded;
mod write;

use crate::choose::remove_conversions::erase_dead;
use crate::distribute::PROCESS;
use crate::pass::diagnostic::Diagnostic;
use crate::pass::stages::{Next, StageInput, StageResult};
use choice::ITERATIONS_OF_A_BYTE;
use grid::Grid;
use layout_dialect::MACHINE;
use layout_ir::{self as ir, Builder, Op};
use melior::ir::operation::OperationMutLike;
use melior::ir::{Type, ValueLike};
use sharded::{inner_machine, tensor_layout_of, values};
use std::collections::HashSet;
use tensor_layout::places::{Decimal, Placement};
use write::{Partition, Stop};

/// The name of the grid, unless the module has another symbol of that name.
const GRID: &str = "processes";

/// Partitions a module; returns [`Next::Unchanged`] if its machine has no processes.
///
/// # Errors
/// Operations that cannot be partitioned; then the module is unchanged.
pub(crate) fn run<'c>(stage: StageInput<'c>) -> StageResult<'c> {
    let rewriter = stage.rewriter;
    let module = rewriter.root();
    let at = |op: Op<'c>, message: String| vec![Diagnostic::error(ir::location(op), message)];
    let machine = ir::attribute(module, MACHINE).and_then(layout_dialect::machine);
    let Some(machine) = machine.filter(|machine| machine.depth(PROCESS).is_some()) else {
        let spread = ir::all_operations(module).into_iter().find(|op| types(*op).into_iter().any(names_process));
        return spread.map_or(Ok(Next::Unchanged), |op| {
            Err(at(
                op,
                format!("a layout along {PROCESS} needs a machine: `{MACHINE}` on the module with the axis {PROCESS}"),
            ))
        });
    };
    let inner = inner_machine(&machine).map_err(|message| at(module, message))?;
    let rate = |rates: &[(String, Decimal)]| rates.iter().find(|(axis, _)| axis == PROCESS).map(|own| own.1.millionths);
    let per_byte = match (rate(&machine.model.work), rate(&machine.model.links)) {
        (Some(work), Some(link)) if link > 0 => work as f64 / link as f64,
        _ => ITERATIONS_OF_A_BYTE,
    };
    let mut cuts = cuts(module)?;
    loop {
        let grid = Grid::new(machine.axes[0].extent, &cuts).map_err(|message| at(module, message))?;
        let copy = rewriter.copy(module);
        match Partition::run(rewriter, copy, &grid, &symbol(module), per_byte) {
            Ok(()) => {
                rewriter.replace_contents(module, copy);
                break;
            }
            Err(Stop::FurtherCuts(more)) => cuts.extend(more),
            Err(Stop::Wrong(diagnostics)) => return Err(diagnostics),
        }
    }
    let context = Builder::before(module).context();
    match inner {
        Some(inner) => {
            let inner = layout_dialect::machine_attribute(context, &inner);
            let inner = inner.map_err(|error| at(module, error.message))?;
            ir::edit(module).set_attribute(MACHINE, inner);
        }
        None => drop(ir::edit(module).remove_attribute(MACHINE)),
    }
    erase_dead(rewriter);
    Ok(Next::Changed)
}

/// The types in an operation: of its results, of the arguments of its blocks, and of the function itself.
fn types<'c>(op: Op<'c>) -> Vec<Type<'c>> {
    let mut all: Vec<Type> = values(op).into_iter().map(|v| v.r#type()).collect();
    let function = ir::attribute(op, "function_type").and_then(ir::type_in).and_then(ir::function);
    all.extend(function.into_iter().flat_map(|(inputs, results)| inputs.into_iter().chain(results)));
    all
}

fn names_process(t: Type) -> bool {
    tensor_layout_of(t).is_some_and(|(_, layout)| layout.axes().iter().any(|axis| axis == PROCESS))
}

/// The strides at which the layouts of a module cut the processes.
fn cuts<'c>(module: Op<'c>) -> Result<Vec<i64>, Vec<Diagnostic<'c>>> {
    let (mut cuts, mut seen) = (Vec::new(), HashSet::new());
    for op in ir::all_operations(module) {
        for t in types(op) {
            if !seen.insert(t) || !names_process(t) {
                continue;
            }
            let wrong = |message: &str| vec![Diagnostic::error(ir::location(op), format!("{t}: {message}"))];
            let mut around = std::iter::successors(ir::parent(op), |op| ir::parent(*op));
            if around.find(|op| ir::name(*op) == "builtin.module").is_some_and(|inner| inner != module) {
                return Err(wrong(
                    "only what the outermost module has is spread over processes, found it in an inner one",
                ));
            }
            if ir::tensor(t).is_none() {
                return Err(wrong("only tensors are spread over processes, found a memref"));
            }
            let Some((shaped, layout)) = tensor_layout_of(t) else { continue };
            let sizes = shaped.sizes();
            let sizes = sizes.ok_or_else(|| wrong("a tensor that is spread over processes must have static sizes"))?;
            let placement = Placement::new(&layout, Some(&sizes)).map_err(|why| wrong(&why.error.message))?;
            cuts.extend(Grid::cuts(&placement));
        }
    }
    cuts.sort_unstable();
    cuts.dedup();
    Ok(cuts)
}

/// A name for the grid that is unique in the module.
fn symbol(module: Op) -> String {
    let known: HashSet<&str> = ir::blocks(module)
        .into_iter()
        .flat_map(ir::operations)
        .filter_map(crate::analysis::functions::symbol)
        .collect();
    let mut names = std::iter::once(GRID.to_string()).chain((0u64..).map(|k| format!("{GRID}_{k}")));
    names.find(|name| !known.contains(name.as_str())).unwrap_or_else(|| GRID.to_string())
}
