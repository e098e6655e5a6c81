//! Passes over the `layout` dialect of MLIR, and pipelines of them.
//!
//! `Passes.td` lists the passes, their options, and the pipelines; C++ generated from it calls the bodies in this crate,
//! one file for each pass.
//!
//! ```
//! use layout_passes::{Form, Pass, pipelines};
//! use melior::{Context, dialect::DialectRegistry, ir::Module, pass::PassManager};
//!
//! let registry = DialectRegistry::new();
//! melior::utility::register_all_dialects(&registry);
//! layout_dialect::register(&registry);
//! let context = Context::new_with_registry(&registry, false);
//! context.load_all_available_dialects();
//!
//! let text = "func.func private @f(memref<3x5xf32, #layout.tiled<{1,0:T(2,2)}>>)";
//! let mut module = Module::parse(&context, text).unwrap();
//! let passes = PassManager::new(&context);
//! Pass::LowerMemrefs { options: Form::Physical.into() }.add_to(passes.as_operation_pass_manager()).unwrap();
//! passes.run(&mut module).unwrap();
//! assert!(module.as_operation().to_string().contains("memref<2x3x2x2xf32>"));
//!
//! let passes = PassManager::new(&context);
//! pipelines::TO_LLVM.add_to(passes.as_operation_pass_manager(), Form::Strided).unwrap();
//! passes.run(&mut module).unwrap();
//! ```
//!
//! [`register`] makes the passes known by name, for pipelines given as text. [`indexing_analysis::analyse`] is the
//! analysis without a pass: the indexing maps of an operation as values.
#![deny(unsafe_code)]

mod board;
mod carriers;
mod combiner;
pub mod deallocate;
pub mod expand_clones;
#[allow(unsafe_code, reason = "the one place where C++ and Rust meet")]
mod ffi;
mod fusion;
mod index;
pub mod indexing_analysis;
pub mod lower_memrefs;
mod lowered;
pub mod mask_as_integers;
mod nest;
mod options;
mod pass;
pub mod pipelines;
mod places;
pub mod prepare_bufferization;
mod retype;
pub mod simplify_indexing;
pub mod strip_memory_spaces;
mod vectorize;
mod vectors;

pub use ffi::{add_passes, register, try_register};
pub(crate) use ffi::{emit, is_valid_dim};
pub use options::{Form, IndexingAnalysisOptions, Options, Parallel, Target};
pub use pass::Pass;
// For the other crates of this project alone.
#[doc(hidden)]
pub use pipelines::spelling;

use melior::ir::Location;

/// How much a diagnostic matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// What was asked for cannot be done.
    Error,
    /// It was done, and may not be what was wanted.
    Warning,
    /// Something worth knowing.
    Remark,
}

/// Something to tell the user, at a place in the program.
#[derive(Clone, Debug)]
pub struct Diagnostic<'c> {
    /// How much it matters.
    pub severity: Severity,
    /// The place.
    pub location: Location<'c>,
    /// The text, without a final full stop.
    pub message: String,
    /// What stands below it, each at a place of its own.
    pub notes: Vec<(Location<'c>, String)>,
}

impl<'c> Diagnostic<'c> {
    /// An error without notes.
    pub fn error(location: Location<'c>, message: impl Into<String>) -> Self {
        Self { severity: Severity::Error, location, message: message.into(), notes: Vec::new() }
    }

    /// A remark without notes.
    pub fn remark(location: Location<'c>, message: impl Into<String>) -> Self {
        Self { severity: Severity::Remark, ..Self::error(location, message) }
    }

    /// The diagnostic with one more note.
    pub fn note(mut self, location: Location<'c>, message: impl Into<String>) -> Self {
        self.notes.push((location, message.into()));
        self
    }
}
