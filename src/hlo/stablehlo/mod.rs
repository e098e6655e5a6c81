//! StableHLO text, pretty and generic, as a module of HLO.
//!
//! The text is read without MLIR, and written as HLO, whose reader checks it: `syntax` reads operations, `types` and
//! `attributes` and `constants` their parts, `operations` has a row for each operation, and `writer` keeps the place of
//! each part, so that errors and instructions have their places in the text of StableHLO.
//!
//! | StableHLO | HLO |
//! |---|---|
//! | `func.func @main` | the entry |
//! | other functions that it calls | computations |
//! | regions | computations; what they use from outside is passed to them, constants are repeated inside |
//! | several results | a tuple and its elements |
//! | `mhlo.layout_mode` | `entry_computation_layout` |
//! | `tf.aliasing_output`, `jax.buffer_donor` | `input_output_alias`, `buffer_donor` |
//! | `mhlo.sharding`, `sdy.sharding` | `sharding` |
//! | `loc("name"("file":1:2))` | `metadata` |

mod attributes;
mod collectives;
mod complex;
mod constants;
mod control;
mod functions;
mod header;
mod literals;
mod locations;
mod math;
mod operations;
mod products;
mod sharding;
mod site;
mod strings;
mod syntax;
mod types;
mod windows;
mod writer;

use super::module::Module;
use crate::text::{Cursor, Error};
use writer::Placed;

/// Whether a text is a module of MLIR with functions, or with operations of StableHLO, MHLO or CHLO.
pub(super) fn is_stablehlo(text: &str) -> bool {
    let cursor = Cursor::new(text.trim_start_matches(super::read::BYTE_ORDER_MARK));
    let begins = ["module", "#", "!", "func.func", "sdy.mesh", "\"builtin.module\"", "\"func.func\"", "{-#"];
    let begins = begins.iter().any(|word| cursor.rest().starts_with(word));
    let is_stable = || ["stablehlo.", "mhlo.", "chlo."].iter().any(|dialect| has_dialect(text, dialect));
    // A function may only call others, or return its arguments.
    begins && (is_stable() || text.contains("func.func") && !has_dialect(text, "vhlo."))
}

/// Whether a text has a name of this dialect; `vhlo.` and words that end with it are others.
fn has_dialect(text: &str, dialect: &str) -> bool {
    text.match_indices(dialect).any(|(at, _)| {
        let before = text[..at].bytes().next_back();
        before.is_none_or(|b| !b.is_ascii_alphanumeric() && b != b'_' && b != b'.')
    })
}

/// Parses a module of StableHLO; `parse` is that of HLO.
///
/// # Errors
/// The errors in `text`, in order; at least one.
pub(super) fn parse(text: &str, parse: impl Fn(&str) -> Result<Module, Vec<Error>>) -> Result<Module, Vec<Error>> {
    let ((hlo, unused), warnings) = translated(text)?;
    let origin = |error: Error| Error { at: error.at.map(|at| hlo.origin(at)), ..error };
    let checked = |hlo: &Placed| {
        let origin = |error: Error| Error { at: error.at.map(|at| hlo.origin(at)), ..error };
        parse(&hlo.text).map_err(|errors| in_order(errors.into_iter().map(origin).collect()))
    };
    let mut module = checked(&hlo)?;
    if let Some(unused) = unused {
        checked(&unused)?;
    }
    let warnings_of_hlo = std::mem::take(&mut module.warnings).into_iter().map(origin);
    module.warnings = in_order(warnings.into_iter().chain(warnings_of_hlo).collect());
    for attribute in &mut module.attributes {
        attribute.at = hlo.origin(attribute.at);
    }
    for computation in &mut module.computations {
        computation.at = hlo.origin(computation.at);
        for instruction in &mut computation.instructions {
            instruction.at = hlo.origin(instruction.at);
            instruction.attributes.iter_mut().for_each(|own| own.at = hlo.origin(own.at));
        }
    }
    Ok(module)
}

/// A module of HLO, and that of what nothing uses: see [`writer::Writer::finish`].
type WithUnused = (Placed, Option<Placed>);

/// The module that StableHLO becomes, and warnings.
fn translated(text: &str) -> Result<(WithUnused, Vec<Error>), Vec<Error>> {
    let module = syntax::module(text).map_err(|error| vec![error])?;
    let mut writer = writer::Writer::new(&module, operations::convert);
    let written = header::entry(&mut writer, text.len());
    let (errors, warnings) = (std::mem::take(&mut writer.errors), std::mem::take(&mut writer.warnings));
    match written {
        Ok((header, entry)) if errors.is_empty() => Ok((writer.finish(&header, &entry), warnings)),
        Ok(_) => Err(in_order(errors)),
        Err(error) => Err(in_order(errors.into_iter().chain([error]).collect())),
    }
}

/// Errors in the order of the text, each once.
fn in_order(mut errors: Vec<Error>) -> Vec<Error> {
    errors.sort_by_key(|error| error.at);
    errors.dedup();
    errors.truncate(Module::MAX_ERRORS);
    errors
}
