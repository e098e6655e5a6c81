//! Parsing of a text to a [`Module`]: reading, then resolution of names and checks of instructions.

use super::module::Module;
use super::{read, resolve};
use crate::text::{Error, from_str};

impl Module {
    /// Parses a module.
    ///
    /// # Errors
    /// The errors in `text`, in order; at least one, at most [`Module::MAX_ERRORS`].
    pub fn parse(text: &str) -> Result<Module, Vec<Error>> {
        let mut errors = Vec::new();
        let raw = read::module(text, &mut errors);
        let module = resolve::module(raw, text.len(), &mut errors);
        errors.sort_by_key(|error| error.at);
        errors.truncate(Self::MAX_ERRORS);
        module.filter(|_| errors.is_empty()).ok_or(errors)
    }
}

from_str!(Module: Vec<Error>);
