//! Running combinations.

use crate::foreign::inline::{Sizes, inline};
use crate::foreign::operation::{Expanded, Foreign};
use layout_ir::{self as ir, Rewriter};
use layout_programs::{Program, SCAN};
use minijinja::context;

/// Combines each element of a line with those before it. The outputs are the combinations, and the last of each line.
pub fn expand<'c>(foreign: &Foreign<'c>, rewriter: &'c Rewriter) -> Expanded<'c> {
    foreign.check_counts(&[1], &[2])?;
    let (source, whole, sums) = (&foreign.ins[0], &foreign.outs[0], &foreign.outs[1]);
    let dim = foreign.dimension(source.rank())?;
    let mut others = source.shape.clone();
    others.remove(dim);
    foreign.check_same(("an output", &whole.shape), ("the input", &source.shape))?;
    foreign.check_same(("an accumulator", &sums.shape), ("the input without the dimension", &others))?;
    let element = source.element;
    for out in &foreign.outs {
        foreign.require(out.element == element, format!("expected outputs of {element}, found {}", out.element))?;
    }
    let inclusive = ir::attribute(foreign.op, "inclusive").and_then(ir::boolean);
    let inclusive = inclusive.ok_or_else(|| foreign.refused("expected `inclusive` to be true or false, found none"))?;
    foreign.check_region(&[element; 2], &[element])?;
    let mut sizes = Sizes::default();
    let bounds = sizes.of("%source", source);
    let program = Program::new(
        &SCAN,
        context! {
            source => source.text(), whole => whole.text(), sums => sums.text(), element => element.to_string(),
            prologue => sizes.prologue, bounds, dim, inclusive,
        },
    );
    Ok(inline(rewriter, foreign, &program, "main", &[source.value, whole.value, sums.value]))
}
