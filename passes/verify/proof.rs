//! Proofs for shapes of any size: each element of a result is followed back to what makes it, in both programs.

mod any_order;
mod bounds;
mod expressions;
mod flatten;
mod folds;
mod follow;
pub mod formula;
mod index;
mod layout;
mod linear;
mod memory;
mod multiset;
mod obligations;
mod operation;
mod operations;
mod statements;
pub mod subscript;
mod value;

use crate::model::{Function, Program};
use formula::Obligations;
use linear::Undecided;

/// That two functions return the same and leave the same in their arguments, for all contents of these; and what was decided
/// of addresses, if `noted`.
///
/// `allowed` are flags of fast math that hold for all operations.
///
/// # Errors
/// Why that is not shown.
pub fn same(
    meant: (&Program, &Function),
    made: (&Program, &Function),
    (allowed, steps): (u32, usize),
    noted: bool,
) -> Result<Obligations, String> {
    let types = |function: &Function| (function.arguments.len(), function.results.len());
    if types(meant.1) != types(made.1) {
        return Err("arguments or results of another number".to_owned());
    }
    let (meant, made) = (flatten::program(meant.0, meant.1, allowed)?, flatten::program(made.0, made.1, allowed)?);
    if meant.results.len() != made.results.len() {
        return Err("results of another number".to_owned());
    }
    let mut proof = follow::Proof::new([&meant, &made], (allowed, steps), noted.then(Obligations::default));
    for number in 0..meant.results.len() {
        proof.same(number).map_err(|stop| match stop {
            Undecided::Unproved(why) => format!("result {number}: {why}"),
            Undecided::Split(..) => format!("result {number}: too many cases"),
        })?;
    }
    proof.apart(1).and_then(|()| proof.within(1)).map_err(|stop| match stop {
        Undecided::Unproved(why) => why,
        Undecided::Split(..) => "too many cases".to_owned(),
    })?;
    Ok(proof.obligations.unwrap_or_default())
}
