//! Scatters: blocks of updates into an array.

use crate::foreign::inline::{Sizes, inline};
use crate::foreign::operation::{Expanded, Foreign};
use crate::pass::diagnostic::Diagnostic;
use layout_ir::Rewriter;
use layout_programs::{Program, SCATTER};
use minijinja::{Value, context};

/// The first dimensions of the updates, which number the blocks, and whether an index is a dimension of the indices.
///
/// torch-mlir has one such dimension. The other dimensions of the updates are the last of the data; in IREE
/// as many as no index is for.
fn rows(foreign: &Foreign, depth: usize) -> Option<(usize, bool)> {
    let [updates, indices] = [&foreign.ins[0], &foreign.ins[1]].map(|t| t.rank());
    let data = foreign.outs[0].rank();
    let rows = if foreign.is_torch() { 1 } else { (updates + depth).checked_sub(data)? };
    let is_dimension = indices == rows + 1;
    let fits = rows > 0 && rows <= updates && updates - rows <= data;
    (fits && (is_dimension || indices == rows && depth == 1 && !foreign.is_torch())).then_some((rows, is_dimension))
}

fn check<'c>(foreign: &Foreign<'c>) -> Result<(Vec<usize>, usize, bool), Diagnostic<'c>> {
    foreign.check_counts(&[2], &[1])?;
    let (updates, indices, data) = (&foreign.ins[0], &foreign.ins[1], &foreign.outs[0]);
    let dims = foreign.dimension_map(data.rank())?;
    let Some((rows, is_dimension)) = rows(foreign, dims.len()) else {
        let ranks = [updates.rank(), indices.rank(), data.rank()];
        return Err(foreign.refused(format!(
            "expected updates and indices whose ranks fit {} indexed dimensions, found ranks {}, {} and {} of the data",
            dims.len(),
            ranks[0],
            ranks[1],
            ranks[2]
        )));
    };
    let mut wanted = updates.shape[..rows].to_vec();
    wanted.extend(is_dimension.then_some(Some(dims.len() as i64)));
    foreign.check_same(("indices", &indices.shape), ("the updates, and of the dimension map", &wanted))?;
    let kind = indices.element;
    foreign.require(indices.has_indices(), format!("expected indices of signless integers, found {kind}"))?;
    for (k, (update, of)) in
        updates.shape[rows..].iter().zip(&data.shape[data.rank() + rows - updates.rank()..]).enumerate()
    {
        let fits = update.zip(*of).is_none_or(|(update, of)| update <= of);
        foreign.require(
            fits,
            format!("expected blocks no larger than the data, found dimension {} of the updates", rows + k),
        )?;
    }
    foreign.check_region(&[updates.element, data.element], &[data.element])?;
    Ok((dims, rows, is_dimension))
}

/// Combines blocks of updates into an array. The region takes an element of the updates and one of the array.
pub fn expand<'c>(foreign: &Foreign<'c>, rewriter: &'c Rewriter) -> Expanded<'c> {
    let (dims, rows, is_dimension) = check(foreign)?;
    let (updates, indices, data) = (&foreign.ins[0], &foreign.ins[1], &foreign.outs[0]);
    let mut sizes = Sizes::default();
    let (of_updates, of_data) = (sizes.of("%update0", updates), sizes.of("%data0", data));
    let block = of_updates[rows..].to_vec();
    let row = |k: usize| format!("%row{k}");
    let places = (0..block.len()).map(|k| format!("%at{k}"));
    let update_at = (0..rows).map(row).chain(places).collect::<Vec<_>>().join(", ");
    let first_place = data.rank() - block.len();
    let start = |(dim, size): (usize, &String)| {
        let place = dim.checked_sub(first_place);
        let width = place.map_or(Some(1), |k| updates.shape[rows + k]);
        let number = dims.iter().position(|d| *d == dim).map(|number| {
            let last = is_dimension.then(|| format!("%c{number}"));
            (0..rows).map(row).chain(last).collect::<Vec<_>>().join(", ")
        });
        let is_checked = number.is_some() || width.is_none() || data.shape[dim].is_none();
        let count = is_checked.then(|| match (data.shape[dim], width) {
            (Some(n), Some(width)) => format!("%c{}", (n - width).saturating_add(1)),
            _ => sizes.starts(dim, size, place.map_or("%c1", |k| &block[k])),
        });
        context! { dim, number, place, row => None::<usize>, count }
    };
    let starts: Vec<Value> = of_data.iter().enumerate().map(start).collect();
    let array = context! {
        data => data.text(), update => updates.text(), element => data.element.to_string(),
        update_element => updates.element.to_string(),
    };
    let kind = indices.element.to_string();
    let program = Program::new(
        &SCATTER,
        context! {
            arrays => [array], indices => indices.text(), cast => (kind != "index").then_some("index_cast"), kind,
            rows => &of_updates[..rows], block => if block.is_empty() { vec!["%c1".into()] } else { block },
            starts, update_at, prologue => sizes.prologue, updates_first => true,
        },
    );
    Ok(inline(rewriter, foreign, &program, "main", &[indices.value, updates.value, data.value]))
}
