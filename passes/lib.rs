//! Passes over the `layout` dialect of MLIR, and pipelines of them.
//!
//! `Passes.td` lists the passes, their options and the pipelines. A build script and mlir-tblgen generate the rest from it:
//! the enum [`Pass`], [`LowerMemrefsOptions`] with their parser, and the C++ that registers them. The body of each pass
//! is `run` in the file with its name, in the folder that its record says.
//!
//! # Rooms
//!
//! A file or folder uses only those above it; `test/rules/arrows.rs` reads this table and the imports.
//!
//! | room | what it holds | uses |
//! |---|---|---|
//! | `pass` | the interface of passes: options, stages, diagnostics, MLIR's C++ in safe functions | |
//! | `buffers` | lowering of types and indices, traits of upstream's operations, asynchronous copies, descriptors | `pass` |
//! | `analysis` | facts about functions and buffers: aliases, ownership, numbers of executions, copies that move nothing | `buffers` |
//! | [`models`] | operations of other compilers as functions that compute the same | `analysis`, `pass` |
//! | `kernel` | one operation, or several fused ones, as a loop nest | `buffers`, `pass` |
//! | `vectorize` | vector code of a kernel: registers, plan, prefetch | `analysis`, `buffers`, `kernel`, `pass` |
//! | [`bufferize`] | from tensors to buffers, and their deallocation | `analysis`, `buffers`, `pass` |
//! | [`foreign`] | operations of other projects' dialects: StableHLO by the import of HLO, others as programs of loops | `buffers`, `pass` |
//! | [`choose`] | plans of layouts, removal of conversions, indexing maps | `analysis`, `bufferize`, `buffers`, `models`, `pass` |
//! | [`distribute`] | operations spread over places, and programs of several processes | `analysis`, `buffers`, `choose`, `pass` |
//! | [`lower`] | from memrefs with layouts to loops over upstream's memrefs, and arenas | `analysis`, `buffers`, `kernel`, `pass`, `vectorize` |
//! | [`llvm`] | from loops to the LLVM dialect | `buffers`, `distribute`, `pass` |
//! | [`check`] | verification of other passes, and of their result | `analysis`, `models`, `pass` |
//! | `registry` | the generated passes as values | `bufferize`, `choose`, `llvm`, `pass` |
//! | [`pipelines`] | the generated pipelines | `check`, `pass`, `registry` |
//! | `exports` | functions for C++: `layout_rs_*` | `check`, `choose`, `lower`, `pass`, `pipelines`, `registry` |
//!
//! # Example
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

mod analysis;
pub mod bufferize;
mod buffers;
pub mod check;
pub mod choose;
pub mod distribute;
#[allow(unsafe_code, reason = "C++ calls these functions")]
mod exports;
pub mod foreign;
#[cfg_attr(not(feature = "vectorize"), allow(dead_code, reason = "vector code uses the rest"))]
mod kernel;
pub mod llvm;
pub mod lower;
#[cfg_attr(
    not(all(feature = "plan", feature = "verify")),
    allow(dead_code, unused_imports, reason = "these use the rest")
)]
pub mod models;
mod pass;
pub mod pipelines;
mod registry;
#[cfg(not(feature = "vectorize"))]
#[path = "vectorize/no_vectorize.rs"]
mod vectorize;
#[cfg(feature = "vectorize")]
mod vectorize;

pub use choose::indexing_analysis;
pub use lower::memref_form::MemRefForm;
pub use pass::diagnostic::{Diagnostic, Severity};
pub use pass::options::*;
pub use pipelines::{PipelineOptions, add_passes};
pub use registry::Pass;
// For the other crates of this project alone.
pub use pass::upstream::{register, try_register};
#[doc(hidden)]
pub use pipelines::{belonging, spelling};
