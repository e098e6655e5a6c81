//! Gathers: blocks of an array at indices.

use crate::foreign::inline::{Sizes, inline};
use crate::foreign::operation::{Expanded, Foreign};
use layout_ir::Rewriter;
use layout_programs::{GATHER, Program};
use minijinja::{Value, context};

/// Takes blocks of the first input at the indices of the second.
pub fn expand<'c>(foreign: &Foreign<'c>, rewriter: &'c Rewriter) -> Expanded<'c> {
    foreign.check_counts(&[2], &[1])?;
    let (source, indices, whole) = (&foreign.ins[0], &foreign.ins[1], &foreign.outs[0]);
    let dims = foreign.dimension_map(source.rank())?;
    let kind = indices.element;
    foreign.require(indices.has_indices(), format!("expected indices of signless integers, found {kind}"))?;
    let element = source.element;
    foreign.require(whole.element == element, format!("expected a result of {element}, found {}", whole.element))?;
    let kept: Vec<usize> = (0..source.rank()).filter(|dim| !dims.contains(dim)).collect();
    let Some(rows) = whole.rank().checked_sub(kept.len()) else {
        let (least, found) = (kept.len(), whole.rank());
        return Err(
            foreign.refused(format!("expected a result of rank {least}, that of a block, or more, found {found}"))
        );
    };
    let is_dimension = indices.rank() == rows + 1;
    let fits = is_dimension || indices.rank() == rows && dims.len() == 1;
    foreign.require(
        fits,
        format!("expected indices of rank {rows}, or one more for several dimensions, found {}", indices.rank()),
    )?;
    let mut wanted = whole.shape[..rows].to_vec();
    wanted.extend(is_dimension.then_some(Some(dims.len() as i64)));
    foreign.check_same(("indices", &indices.shape), ("the result, and of the dimension map", &wanted))?;
    let blocks: Vec<Option<i64>> = kept.iter().map(|dim| source.shape[*dim]).collect();
    foreign.check_same(("blocks", &whole.shape[rows..]), ("the source", &blocks))?;

    let mut sizes = Sizes::default();
    let bounds = sizes.of("%source", source);
    let number = |(number, dim): (usize, &usize)| -> Value {
        let last = is_dimension.then(|| format!("%c{number}"));
        let at: Vec<String> = (0..rows).map(|k| format!("%i{k}")).chain(last).collect();
        context! { dim, at => at.join(", "), size => bounds[*dim] }
    };
    let numbers: Vec<Value> = dims.iter().enumerate().map(number).collect();
    let place = |dim: usize| match kept.iter().position(|k| *k == dim) {
        Some(k) => format!("%i{}", rows + k),
        None => format!("%at{dim}"),
    };
    let position: Vec<String> = (0..source.rank()).map(place).collect();
    let names: Vec<String> = (0..whole.rank()).map(|k| format!("d{k}")).collect();
    let program = Program::new(
        &GATHER,
        context! {
            source => source.text(), indices => indices.text(), whole => whole.text(), element => element.to_string(),
            kind => kind.to_string(), prologue => sizes.prologue, rank => whole.rank(), numbers,
            position => position.join(", "), map => format!("affine_map<({0}) -> ({0})>", names.join(", ")),
            iterators => vec!["\"parallel\""; whole.rank()].join(", "),
        },
    );
    Ok(inline(rewriter, foreign, &program, "main", &[source.value, indices.value, whole.value]))
}
