//! Reductions of elements, whole or in windows.

use super::site::{Found, Site, Types};
use super::windows::window;
use crate::operations::operation::Operation;
use crate::operations::shape::Shape;
use crate::text::Error;

/// The types of the inputs, followed by as many initial values; the results have the inputs' types.
fn inputs(site: &Site) -> Result<Types, Error> {
    let n = site.operands.len() / 2;
    let results = (0..n).map(|k| site.element(k)).collect::<Result<Vec<_>, Error>>()?;
    // An odd number of operands is an error elsewhere.
    let operands = results.iter().chain(&results).copied().collect();
    for k in n..site.operands.len() {
        site.array(k)?;
    }
    Ok(Types { operands, results })
}

/// Reduces the elements along `dimensions`.
pub fn reduce(site: &mut Site) -> Found {
    let types = inputs(site)?;
    site.need("dimensions", "{dimensions}")?;
    site.need("to_apply", "computation")?;
    let dims = site.dims("dims", "dimensions")?;
    let callee = site.called.first().and_then(|callee| site.result_of(*callee).ok());
    let is_tuple = types.results.len() == 1 && matches!(callee, Some(Shape::Tuple(_)));
    let operation = site.checked_in_tuple(Operation::Reduce { dims }, &types, is_tuple)?;
    site.reducer("to_apply", 0, &types.results)?;
    Ok(operation)
}

/// Reduces the elements of each window.
pub fn reduce_window(site: &mut Site) -> Found {
    let types = inputs(site)?;
    let rank = site.array(0)?.dims.len();
    let window = window(site, rank)?;
    let operation = site.checked_in_tuple(Operation::ReduceWindow { window }, &types, false)?;
    site.reducer("to_apply", 0, &types.results)?;
    Ok(operation)
}
