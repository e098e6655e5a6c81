//! Combining elements: reductions, windows of them, and sorting.

use super::control::other;
use super::site::{Found, Site, Types};
use super::slices::dimension;
use super::windows::window;
use crate::element::ElementType;
use crate::operations::operation::Operation;
use crate::operations::refusal::{Problem, Refusal, Subject};
use crate::operations::rules::windows::windows;
use crate::operations::sizes::{Size, Sizes};
use crate::text::Error;

/// The types of inputs followed by as many initial values; those of the inputs are the results'.
fn inputs(site: &Site) -> Result<Types, Error> {
    let n = site.operands.len() / 2;
    let results = (0..n).map(|k| site.element(k)).collect::<Result<Vec<_>, Error>>()?;
    // Where the number of operands is odd, that is the error.
    let operands = results.iter().chain(&results).copied().collect();
    for k in n..site.operands.len() {
        site.array(k)?;
    }
    Ok(Types { operands, results })
}

/// The elements of `dimensions` are combined.
pub fn reduce(site: &mut Site) -> Found {
    let types = inputs(site)?;
    site.need("dimensions", "{dimensions}")?;
    site.need("to_apply", "computation")?;
    let dims = site.dims("dims", "dimensions")?;
    let operation = site.checked(Operation::Reduce { dims }, &types)?;
    site.reducer("to_apply", 0, &types.results)?;
    Ok(operation)
}

/// The elements of each window are combined.
pub fn reduce_window(site: &mut Site) -> Found {
    let types = inputs(site)?;
    let rank = site.array(0)?.dims.len();
    let window = window(site, rank)?;
    let operation = site.checked(Operation::ReduceWindow { window }, &types)?;
    site.reducer("to_apply", 0, &types.results)?;
    Ok(operation)
}

/// Operands of the same sizes are sorted along a dimension by a comparison of their elements.
///
/// - `sort_c1`: the dimension is one of the operands'.
pub fn sort(site: &mut Site) -> Found {
    let n = site.operands.len();
    let operands = (0..n).map(|k| site.element(k)).collect::<Result<Vec<_>, Error>>()?;
    let rank = site.array(0)?.dims.len();
    dimension(site, "sort_c1", "dimensions", rank)?;
    let types = Types { results: operands.clone(), operands };
    site.checked(Operation::Elementwise, &types)?;
    let sizes = site.sizes(0)?;
    for k in 1..n {
        sized(site, "sort_c2", k, &sizes.0, &types)?;
    }
    let pairs: Vec<ElementType> = types.operands.iter().flat_map(|element| [*element; 2]).collect();
    site.region("to_apply", 0, &pairs, &[ElementType::Pred])?;
    other(site)
}

/// That an operand has these sizes.
fn sized(site: &Site, rule: &'static str, operand: usize, expected: &[Size], types: &Types) -> Result<(), Error> {
    let (expected, found) = (Sizes(expected.to_vec()), site.sizes(operand)?);
    if found.fits(&expected) {
        return Ok(());
    }
    let problem = Problem::Sizes { expected, found };
    Err(site.refused(&Refusal { rule, subject: Subject::Operand(operand), problem }, types))
}

/// One computation selects an element in each window of the first operand; another puts those of the second there.
///
/// - `select_and_scatter_c1`: the second operand has an element for each window.
/// - `select_and_scatter_c2`: the initial value is a scalar.
/// - `select_and_scatter_c3`: the result has the sizes of the first operand.
pub fn select_and_scatter(site: &mut Site) -> Found {
    let (element, sizes) = (site.element(0)?, site.sizes(0)?);
    let window = window(site, sizes.rank())?;
    let types = Types { operands: vec![element; 3], results: vec![element] };
    let source = sizes.0.iter().zip(&window).enumerate().map(|(k, (size, dim))| windows(k, *size, dim));
    let source = source.collect::<Result<Vec<Size>, _>>().map_err(|refusal| site.refused(&refusal, &types))?;
    sized(site, "select_and_scatter_c1", 1, &source, &types)?;
    sized(site, "select_and_scatter_c2", 2, &[], &types)?;
    (1..3).try_for_each(|k| site.operand_type(k, element))?;
    site.region("select", 0, &[element; 2], &[ElementType::Pred])?;
    site.reducer("scatter", 1, &[element])?;
    site.result_is(site.operands[0])?;
    other(site)
}
