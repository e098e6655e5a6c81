//! The passes as values: what `Passes.td` lists, with its options as fields.

use crate::options::Options;
use crate::upstream;
use melior::{Error, pass::OperationPassManager};
use std::fmt;

/// A pass with its options. Prints as in the text of a pipeline: `layout-lower-memrefs{form=physical}`; with `{:#}` with
/// all options, as MLIR prints it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pass {
    /// Frees what bufferization allocated; over functions, see [`crate::deallocate`].
    Deallocate,
    /// Expands clones of strided buffers, see [`crate::expand_clones`].
    ExpandClones,
    /// Says which elements every operation on tensors reads and feeds, see [`crate::indexing_analysis`].
    IndexingAnalysis {
        /// Remarks, and nothing attached.
        report: bool,
    },
    /// Lowers memrefs with layouts, see [`crate::lower_memrefs`].
    LowerMemrefs {
        /// What they become, and how.
        options: Options,
    },
    /// Loads and stores masked vectors of small floats as integers, see [`crate::mask_as_integers`].
    MaskAsIntegers,
    /// Makes tensors with layouts ready for one-shot-bufferize, see [`crate::prepare_bufferization`].
    PrepareBufferization,
    /// Simplifies index arithmetic, see [`crate::simplify_indexing`].
    SimplifyIndexing,
    /// Puts all buffers in one memory, see [`crate::strip_memory_spaces`].
    StripMemorySpaces,
    /// Reports what has no translation to LLVM IR, see [`crate::verify_llvm`].
    VerifyLlvm,
}

/// The names of all passes.
pub(crate) const NAMES: [&str; 9] = [
    "layout-deallocate",
    "layout-expand-clones",
    "layout-indexing-analysis",
    "layout-lower-memrefs",
    "layout-mask-as-integers",
    "layout-prepare-bufferization",
    "layout-simplify-indexing",
    "layout-strip-memory-spaces",
    "layout-verify-llvm",
];

impl Pass {
    /// Adds the pass after those that the manager has.
    ///
    /// # Errors
    /// A manager of passes over operations that this pass does not run on, options that [`Options::check`] finds wrong, and
    /// a process in which another copy of this library registered its passes.
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
    pub fn add_to(self, manager: OperationPassManager) -> Result<(), Error> {
        upstream::add_passes(manager, &self.to_string())
    }
}

impl fmt::Display for Pass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Pass::Deallocate => f.write_str("layout-deallocate"),
            Pass::ExpandClones => f.write_str("layout-expand-clones"),
            Pass::IndexingAnalysis { report } => write!(f, "layout-indexing-analysis{{report={report}}}"),
            Pass::LowerMemrefs { options } => {
                f.write_str("layout-lower-memrefs{")?;
                options.fmt(f)?;
                f.write_str("}")
            }
            Pass::MaskAsIntegers => f.write_str("layout-mask-as-integers"),
            Pass::PrepareBufferization => f.write_str("layout-prepare-bufferization"),
            Pass::SimplifyIndexing => f.write_str("layout-simplify-indexing"),
            Pass::StripMemorySpaces => f.write_str("layout-strip-memory-spaces"),
            Pass::VerifyLlvm => f.write_str("layout-verify-llvm"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::{Form, Parallel, Target};
    use crate::pipelines::{TO_LLVM, add_passes};
    use melior::{Context, pass::PassManager};

    /// Every pass of `Passes.td` is here, with all its options: MLIR prints each as it is written here.
    #[test]
    fn passes_are_those_of_the_td_file() {
        let all = [
            Pass::Deallocate,
            Pass::ExpandClones,
            Pass::IndexingAnalysis { report: false },
            Pass::LowerMemrefs { options: Options::default() },
            Pass::MaskAsIntegers,
            Pass::PrepareBufferization,
            Pass::SimplifyIndexing,
            Pass::StripMemorySpaces,
            Pass::VerifyLlvm,
        ];
        let context = Context::new();
        let mut names = Vec::new();
        for pass in all {
            let manager = PassManager::new(&context);
            let anchor = if pass == Pass::Deallocate { "func.func" } else { "builtin.module" };
            let place = manager.nested_under(anchor);
            pass.add_to(place).unwrap();
            assert_eq!(place.to_string(), format!("{anchor}({pass:#})"));
            names.push(pass.to_string().split('{').next().unwrap().to_string());
        }

        let td = include_str!("Passes.td");
        let mut listed: Vec<&str> = td.split("Pass<\"").skip(1).map(|rest| rest.split_once('"').unwrap().0).collect();
        listed.sort();
        assert_eq!(names, listed);
        assert_eq!(names, NAMES);
    }

    /// What MLIR reads of the short text it prints as the long one, and reads again.
    #[test]
    fn options_are_read_back() {
        let context = Context::new();
        let add = |passes: &str| {
            let manager = PassManager::new(&context);
            let place = manager.nested_under("builtin.module");
            add_passes(place, passes).map(|()| place.to_string())
        };
        let vectors =
            Options { vectorize: Target::Avx512, vector_registers: 24, cache_bytes: 1 << 40, ..Options::default() };
        let loops = Options { reassociate: true, contract: true, parallel: Parallel::Forall, ..Form::Physical.into() };
        for options in [vectors, loops, Options { vectorize: Target::Neon, vector_bits: 64, ..loops }] {
            let pass = Pass::LowerMemrefs { options };
            let long = format!("{pass:#}");
            assert_eq!(add(&pass.to_string()).unwrap(), format!("builtin.module({long})"));
            assert_eq!(add(&long).unwrap(), format!("builtin.module({long})"));
            assert!(add(&(TO_LLVM.passes)(&options)).unwrap().contains(&long));
        }
        let wrong = Options { vector_bits: 48, ..vectors };
        let error = add(&(TO_LLVM.passes)(&wrong)).unwrap_err().to_string();
        assert!(error.contains(&wrong.check().unwrap_err()), "{error}");
        let error = add("layout-expand-clones,layout-lower-memref{form=physical}").unwrap_err().to_string();
        assert!(error.ends_with("\nlayout-lower-memref: did you mean `layout-lower-memrefs`?"), "{error}");
    }
}
