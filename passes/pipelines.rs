//! The passes that each pipeline runs.

use crate::options::Options;
use crate::pass::NAMES;
use crate::upstream;
use layout::text::nearest;
use melior::{Error, pass::OperationPassManager};

/// A pipeline: its name, what it does, and its passes as text.
pub struct Pipeline {
    /// The name, as in `--layout-to-memref`.
    pub name: &'static str,
    /// Its line in `--help`.
    pub summary: &'static str,
    /// The passes, inside `builtin.module(..)`.
    pub passes: fn(&Options) -> String,
}

impl Pipeline {
    /// Adds the passes, with options or only a form of memrefs, after those that a manager of passes over modules has.
    ///
    /// # Errors
    /// A manager of passes over anything else, options that [`Options::check`] finds wrong, and a process in which another
    /// copy of this library registered its passes.
    pub fn add_to(&self, manager: OperationPassManager, options: impl Into<Options>) -> Result<(), Error> {
        upstream::add_passes(manager, &(self.passes)(&options.into()))
    }
}

/// All pipelines.
pub const PIPELINES: &[Pipeline] = &[TO_MEMREF, DISTRIBUTE, TO_LLVM];

/// From tensors and memrefs with layouts to plain memrefs.
pub const TO_MEMREF: Pipeline = Pipeline {
    name: "layout-to-memref",
    summary: "Lower tensors and memrefs with layouts to plain memrefs",
    passes: |options| {
        format!(
            "layout-prepare-bufferization,convert-elementwise-to-linalg,\
             one-shot-bufferize{{bufferize-function-boundaries allow-return-allocs-from-loops \
             function-boundary-type-conversion=identity-layout-map unknown-type-conversion=identity-layout-map \
             use-encoding-for-memory-space}},\
             cse,canonicalize,layout-lower-memrefs{{{options}}},cse,func.func(layout-deallocate),\
             bufferization-lower-deallocations,layout-expand-clones,convert-bufferization-to-memref,\
             canonicalize,cse"
        )
    },
};

/// From tensors and memrefs with TensorLayouts to one program for every place of the machine.
pub const DISTRIBUTE: Pipeline = Pipeline {
    name: "layout-distribute",
    summary: "Lower tensors and memrefs with TensorLayouts to one program for every place of the machine",
    passes: |options| format!("layout-to-memref{{{options}}}"),
};

/// From tensors and memrefs with layouts to the LLVM dialect.
pub const TO_LLVM: Pipeline = Pipeline {
    name: "layout-to-llvm",
    summary: "Lower tensors and memrefs with layouts to the LLVM dialect",
    passes: |options| {
        format!(
            "layout-to-memref{{{options}}},convert-linalg-to-loops,func.func(scf-forall-to-for),layout-strip-memory-spaces,\
             func.func(convert-vector-to-scf),lower-affine,convert-scf-to-cf,expand-strided-metadata,lower-affine,\
             convert-vector-to-llvm,convert-math-to-llvm,convert-math-to-libm,convert-to-llvm,\
             convert-complex-to-standard,convert-scf-to-cf,convert-math-to-llvm,convert-math-to-libm,convert-to-llvm,\
             layout-mask-as-integers,reconcile-unrealized-casts,layout-verify-llvm"
        )
    },
};

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
    let names = || PIPELINES.iter().map(|pipeline| pipeline.name).chain(NAMES);
    let mut words = passes.split(|c: char| !c.is_ascii_alphanumeric() && !"-_".contains(c));
    words.find_map(|word| match nearest(word, names()) {
        Some(near) if near != word => Some(format!("{word}: did you mean `{near}`?")),
        _ => None,
    })
}
