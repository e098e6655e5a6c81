//! The passes as values. `Passes.td` lists them; the build script generates the enum [`Pass`], with the names and
//! parsers of the passes, and the match that runs a stage of each.

use crate::bufferize::{deallocate, lower_bufferization};
use crate::choose::inline_calls;
use crate::llvm::{convert_to_llvm, expand_floats};
use crate::pass::options::*;
use crate::pass::stages::{StageInput, StageResult};
use crate::pass::upstream;
use layout_ir::Rewriter;
use melior::{Error, pass::OperationPassManager};
use std::fmt;
use tensor_layout::text::instead;

include!(concat!(env!("OUT_DIR"), "/passes.rs"));

impl Pass {
    /// Adds the pass at the end of a manager's passes.
    ///
    /// # Errors
    /// A manager of passes over operations that this pass does not run on, options that [`LowerMemrefsOptions::check`]
    /// refuses, and a process in which another copy of this library registered its passes.
    ///
    /// # Example
    /// ```
    /// use layout_passes::{Form, Pass};
    /// use melior::{Context, pass::PassManager};
    ///
    /// let context = Context::new();
    /// let manager = PassManager::new(&context);
    /// Pass::LowerMemrefs { options: Form::Physical.into() }.add_to(manager.as_operation_pass_manager()).unwrap();
    /// Pass::Deallocate.add_to(manager.nested_under("func.func")).unwrap();
    /// let text = manager.as_operation_pass_manager().to_string();
    /// assert!(text.starts_with("any(layout-lower-memrefs{") && text.ends_with("},func.func(layout-deallocate))"));
    /// ```
    pub fn add_to(&self, manager: OperationPassManager) -> Result<(), Error> {
        upstream::add_passes(manager, &self.to_string())
    }

    /// All passes that may run between the stages of the pass, in the text of a pipeline.
    pub(crate) fn between_steps(self) -> String {
        match self {
            Pass::ConvertToLlvm { options } => convert_to_llvm::passes(options),
            Pass::LowerBufferization => lower_bufferization::passes(),
            Pass::Deallocate => deallocate::PASSES.to_owned(),
            Pass::ExpandFloats => expand_floats::PASSES.to_owned(),
            Pass::InlineCalls | Pass::Plan { .. } => inline_calls::PASSES.to_owned(),
            _ => String::new(),
        }
    }

    /// Checks the options.
    ///
    /// # Errors
    /// The errors of [`LowerMemrefsOptions::check`].
    pub fn check(&self) -> Result<(), String> {
        if let Pass::LowerMemrefs { options } = self { options.check() } else { Ok(()) }
    }
}

/// A pass without options; a text with options is an error.
fn without_options(pass: Pass, text: &str) -> Result<Pass, String> {
    match words(text).next() {
        Some((option, _)) => Err(format!("unknown option `{option}`: {} has no options", pass.name())),
        None => Ok(pass),
    }
}

impl fmt::Display for Pass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.options() {
            Some(options) if f.alternate() => write!(f, "{}{{{options:#}}}", self.name()),
            Some(options) => write!(f, "{}{{{options}}}", self.name()),
            None => f.write_str(self.name()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pass::options::{Form, Parallel, Target};
    use crate::pipelines::{TO_LLVM, add_passes};
    use melior::{Context, pass::PassManager};

    /// Checks that MLIR prints each pass with all its options in this spelling, and that Rust reads it.
    #[test]
    fn passes_are_those_of_the_td_file() {
        let context = Context::new();
        for known in NAMES {
            let pass = Pass::read(known, "").unwrap();
            let manager = PassManager::new(&context);
            let anchor = if pass == Pass::Deallocate { "func.func" } else { "builtin.module" };
            let place = manager.nested_under(anchor);
            pass.add_to(place).unwrap();
            assert_eq!(place.to_string(), format!("{anchor}({pass:#})"));
            let long = format!("{pass:#}");
            let (name, options) = long.trim_end_matches('}').split_once('{').unwrap_or((&long, ""));
            assert_eq!((name, Pass::read(name, options)), (*known, Ok(pass)));
        }
    }

    #[test]
    fn what_is_not_a_pass_is_refused() {
        let error = "unknown pass `layout-lower-memref`; did you mean `layout-lower-memrefs`?";
        assert_eq!(Pass::read("layout-lower-memref", "").unwrap_err(), error);
        let error = "unknown option `form`: layout-expand-clones has no options";
        assert_eq!(Pass::read("layout-expand-clones", "form=strided").unwrap_err(), error);
    }

    /// Checks that MLIR prints the short text as the long one, and reads that again.
    #[test]
    fn options_are_read_back() {
        let context = Context::new();
        let add = |passes: &str| {
            let manager = PassManager::new(&context);
            let place = manager.nested_under("builtin.module");
            add_passes(place, passes).map(|()| place.to_string())
        };
        let vectors = LowerMemrefsOptions {
            vectorize: Target::Avx512,
            vector_registers: 24,
            cache_bytes: 1 << 40,
            ..LowerMemrefsOptions::default()
        };
        let loops = LowerMemrefsOptions {
            reassociate: true,
            contract: true,
            parallel: Parallel::Forall,
            ..Form::Physical.into()
        };
        for options in [vectors, loops, LowerMemrefsOptions { vectorize: Target::Neon, vector_bits: 64, ..loops }] {
            let pass = Pass::LowerMemrefs { options };
            let long = format!("{pass:#}");
            assert_eq!(add(&pass.to_string()).unwrap(), format!("builtin.module({long})"));
            assert_eq!(add(&long).unwrap(), format!("builtin.module({long})"));
            // Options of passes inside `layout-verify` stay as given.
            let inside = if crate::check::verify::is_wanted() { pass.to_string() } else { long };
            assert!(add(&TO_LLVM.text(options)).unwrap().contains(&inside));
        }
        let wrong = LowerMemrefsOptions { vector_bits: 48, ..vectors };
        let error = add(&TO_LLVM.text(wrong)).unwrap_err().to_string();
        assert!(error.contains(&wrong.check().unwrap_err()), "{error}");
        let error = add("layout-expand-clones,layout-lower-memref{form=physical}").unwrap_err().to_string();
        assert!(error.ends_with("\nlayout-lower-memref; did you mean `layout-lower-memrefs`?"), "{error}");
    }
}
