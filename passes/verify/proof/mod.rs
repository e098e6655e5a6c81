//! Proofs for shapes of any size: each element of a result is followed back to what makes it, in both programs.

mod any_order;
mod assertions;
mod bounds;
mod calls;
mod carried;
mod dependence;
mod equations;
mod expressions;
mod factors;
mod flatten;
mod folds;
mod follow;
pub mod formula;
mod index;
mod index_range;
mod index_ranges;
mod invariants;
mod lanes;
mod layout;
mod lemmas;
mod linear;
mod memo;
mod memory;
mod multiset;
mod obligations;
mod operation;
mod operations;
mod outcome;
mod pairs;
mod provenance;
mod recurrences;
mod results;
mod shown;
mod signatures;
pub mod smt;
mod statements;
pub mod subscript;
mod swizzled;
mod table;
mod tables;
mod value;
mod view;
mod whiles;

use crate::reader::model::{Function, Program};
use follow::Proof;
use formula::Obligations;
use linear::Undecided;
use statements::{FunctionResult, Statements};

/// How many values are made in the time of a look: of functions that call each other twice, 4.7 million took 0.55 s.
const VALUES_OF_A_LOOK: usize = 4;

/// Proves that two functions return the same and leave the same in their arguments, for all contents of these; returns
/// the obligations about addresses, if `noted`.
///
/// `allowed` are flags of fast math that hold for all operations.
///
/// # Errors
/// Why that is not shown, or [`Why::Wrong`].
pub fn same(
    meant: (&Program, &Function),
    made: (&Program, &Function),
    (allowed, looks, pairs): (u32, &mut usize, Pairs),
    noted: bool,
) -> Result<Obligations, Why> {
    let types = |function: &Function| (function.arguments.len(), function.results.len());
    if types(meant.1) != types(made.1) {
        return Err("arguments or results of another number".to_owned().into());
    }
    let (results, is_public) = (meant.1.results.len(), meant.1.public);
    let mut statements = |(program, function): (&Program, &Function)| {
        let most = calls::VALUES.min(looks.saturating_mul(VALUES_OF_A_LOOK));
        let made = flatten::program(program, function, (allowed, most));
        let values = match &made {
            Ok(made) => made.values.len(),
            Err(why) if why.ends_with(calls::TOO_MANY) => most,
            Err(_) => 0,
        };
        *looks = looks.saturating_sub(values / VALUES_OF_A_LOOK);
        made
    };
    let (mut meant, mut made) = (statements(meant)?, statements(made)?);
    if meant.results.len() != made.results.len() {
        return Err("results of another number".to_owned().into());
    }
    swizzled::take_out(&meant, &mut made)?;
    tables::pair(&mut meant, &mut made);
    let mut proof = Proof::new([&meant, &made], (allowed, *looks), noted.then(Obligations::default));
    if pairs == Pairs::Signed {
        proof.sign_buffers();
    }
    let shown = of_both(&mut proof, results, is_public);
    *looks = proof.looks.0;
    shown.map(|()| proof.obligations.unwrap_or_default())
}

/// The pairs of buffers that are tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pairs {
    /// Pairs with one signature.
    Signed,
    /// All.
    All,
}

/// Why two functions are not shown to be the same.
#[derive(Debug)]
pub enum Why {
    /// It is not known.
    Open(String),
    /// They are not, and how.
    Wrong(String),
}

impl From<String> for Why {
    fn from(why: String) -> Why {
        Why::Open(why)
    }
}

impl From<Undecided> for Why {
    fn from(stop: Undecided) -> Why {
        match stop {
            Undecided::Unproved(why) => Why::Open(why),
            Undecided::Wrong(how) => Why::Wrong(how),
            Undecided::Split(..) | Undecided::Order(..) => Why::Open("too many cases".to_owned()),
        }
    }
}

fn of_both(proof: &mut Proof, results: usize, is_public: bool) -> Result<(), Why> {
    let [meant, made] = proof.programs;
    let (same_assertions, same_ends) = (proof.same_assertions(), proof.ends());
    proof.find_index_ranges();
    for number in 0..meant.results.len() {
        proof.same(number).map_err(|stop| match Why::from(stop) {
            Why::Wrong(how) if is_public => Why::Wrong(format!("{} has {how}", name(number, results))),
            Why::Wrong(why) | Why::Open(why) => Why::Open(format!("result {number}: {why}")),
        })?;
    }
    same_assertions?;
    same_ends?;
    // Two results in one buffer are so in both, and with memory that is given.
    let memory = |function: &Statements, k: usize| match function.results.get(k) {
        Some(FunctionResult::Elements(result)) => Some((result.buffer, result.is_memref)),
        _ => None,
    };
    for (i, j) in (0..results).flat_map(|i| (i + 1..made.results.len()).map(move |j| (i, j))) {
        let [was, is] = [meant, made].map(|function| memory(function, i).zip(memory(function, j)));
        let (Some(((a, had_memory), (b, _))), Some(((c, true), (d, _)))) = (was, is) else { continue };
        // A tensor that comes in belongs to the caller of a public function.
        let wrong = if j < results { c == d && a != b } else { !had_memory && is_public && c == d };
        if had_memory && (a == b) != (c == d) || wrong {
            return Err(format!("results {i} and {j} that are in one buffer, or were").into());
        }
    }
    Ok(proof.beside().and_then(|()| proof.apart(1)).and_then(|()| proof.within(1)).and_then(|()| proof.divides())?)
}

/// The name of a value that a function leaves, by its number: results come first, then arguments that are memory or tensors.
fn name(number: usize, results: usize) -> String {
    match number.checked_sub(results) {
        None => format!("result {number}"),
        Some(argument) => format!("memory {argument} of the arguments"),
    }
}
