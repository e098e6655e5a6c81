//! The passes that each pipeline runs. `Passes.td` lists them; the build script makes the constants here of it.
//!
//! ```
//! use layout_passes::{Form, pipelines};
//!
//! let text = pipelines::DISTRIBUTE.text(&Form::Physical.into());
//! assert_eq!(text, "layout-to-memref{form=physical}");
//! ```

use crate::options::Options;
use crate::pass::NAMES;
use crate::upstream;
use melior::{Error, pass::OperationPassManager};
use tensor_layout::text::did_you_mean;

/// A pipeline: its name, what it does, and its passes as text.
#[derive(Clone, Copy, Debug)]
pub struct Pipeline {
    /// The name, as in `--layout-to-memref`.
    pub name: &'static str,
    /// Its line in `--help`.
    pub summary: &'static str,
    /// The passes in their order, each as text, in which `$options` is replaced by the options of the pipeline.
    pub passes: &'static [&'static str],
}

impl Pipeline {
    /// The passes as text, inside `builtin.module(..)`.
    pub fn text(&self, options: &Options) -> String {
        self.passes.join(",").replace("$options", &options.to_string())
    }

    /// Adds the passes, with options or only a form of memrefs, after those that a manager of passes over modules has.
    ///
    /// # Errors
    /// A manager of passes over anything else, options that [`Options::check`] finds wrong, and a process in which another
    /// copy of this library registered its passes.
    pub fn add_to(&self, manager: OperationPassManager, options: impl Into<Options>) -> Result<(), Error> {
        upstream::add_passes(manager, &self.text(&options.into()))
    }
}

include!(concat!(env!("OUT_DIR"), "/pipelines.rs"));

/// Adds passes and pipelines, as in the text of a pipeline, after those that a manager has.
///
/// # Errors
/// A name that is not registered, wrong options, a pass over other operations than the manager's, and another copy of
/// this library that registered its passes before.
pub fn add_passes(manager: OperationPassManager, passes: &str) -> Result<(), Error> {
    upstream::add_passes(manager, passes).map_err(|error| match error {
        Error::ParsePassPipeline(message) if message.contains(UNREGISTERED) => {
            let hint = spelling(passes).map(|hint| format!("\n{hint}"));
            Error::ParsePassPipeline(message + &hint.unwrap_or_default())
        }
        error => error,
    })
}

/// MLIR's error for a name in the text of a pipeline that it does not know.
const UNREGISTERED: &str = "does not refer to a registered pass";

/// What is nearly a name of a pass or pipeline here, in the text of a pipeline, and which.
#[doc(hidden)]
pub fn spelling(passes: &str) -> Option<String> {
    let names = || PIPELINES.iter().map(|pipeline| pipeline.name).chain(NAMES.iter().copied());
    let words = passes.split(|c: char| !c.is_ascii_alphanumeric() && !"-_".contains(c));
    let unknown = words.filter(|word| names().all(|name| name != *word));
    let mut hints = unknown.map(|word| (word, did_you_mean(word, names())));
    hints.find(|(_, hint)| !hint.is_empty()).map(|(word, hint)| format!("{word}{hint}"))
}
