//! Parsing of a text to a [`Module`]: reading, then resolution of names and checks of instructions. A text of StableHLO
//! is written as HLO before.

use super::module::Module;
use super::{read, resolve, stablehlo};
use crate::text::{Error, from_str};

impl Module {
    /// Parses a module of HLO, or of StableHLO in the pretty or the generic form.
    ///
    /// # Errors
    /// The errors in `text`, in order; at least one, at most [`Module::MAX_ERRORS`].
    pub fn parse(text: &str) -> Result<Module, Vec<Error>> {
        if stablehlo::is_stablehlo(text) { stablehlo::parse(text, Module::parse_hlo) } else { Module::parse_hlo(text) }
    }

    fn parse_hlo(text: &str) -> Result<Module, Vec<Error>> {
        let mut errors = Vec::new();
        let raw = read::module(text, &mut errors);
        let module = resolve::module(raw, text.len(), &mut errors);
        errors.sort_by_key(|error| error.at);
        errors.truncate(Self::MAX_ERRORS);
        module.filter(|_| errors.is_empty()).ok_or(errors)
    }
}

from_str!(Module: Vec<Error>);
