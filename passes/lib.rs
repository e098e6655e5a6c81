//! Passes over the `layout` dialect of MLIR, and pipelines of them.
//!
//! `Passes.td` lists the passes, their options and the pipelines. A build script and mlir-tblgen generate the rest from it:
//! the enum [`Pass`], [`Options`] with their parser, and the C++ that registers them. The body of each pass is `run` in the
//! file with its name, in the folder that its record says.
//!
//! # Rooms
//!
//! A file or folder uses only those above it; `test/rules/arrows.rs` reads this table and the imports.
//!
//! | room | what it holds | uses |
//! |---|---|---|
//! | `options` | the generated options, and their checks | |
//! | `diagnostic` | errors, warnings and remarks with notes | |
//! | `upstream` | MLIR's C++ in safe functions | `diagnostic` |
//! | `buffers` | lowering of types and indices, and traits of upstream's operations | `options`, `upstream` |
//! | `kernel` | one operation, or several fused ones, as a loop nest | `buffers`, `options`, `upstream` |
//! | `async_copies` | asynchronous copies between memories | `buffers` |
//! | `ownership` | ownership and deallocation of a function's buffers | `async_copies`, `buffers` |
//! | `aliases` | small alias sets, for bufferization to take linear time | `buffers`, `ownership` |
//! | `branches` | copies of block arguments that branches would overwrite | `aliases`, `buffers` |
//! | `steps` | the interface of passes, and upstream's passes between their steps | `diagnostic` |
//! | `functions` | the functions of a module, and their callers | |
//! | `runs` | the number of executions of operations | `functions` |
//! | `same_bytes` | reshapes, transposes, packings and conversions that move nothing | `aliases`, `buffers` |
//! | `destinations` | computation of inserted tensors in their destination | `aliases`, `buffers` |
//! | `descriptors` | memref descriptors of the LLVM dialect | |
//! | [`annotate_loops`] | `layout-annotate-loops` | `steps` |
//! | [`approximate_math`] | `layout-approximate-math` | `buffers`, `steps`, `upstream` |
//! | [`call_libm`] | `layout-call-libm` | `steps`, `upstream` |
//! | `dynamic_reshapes` | reshapes whose sizes upstream does not find | `buffers` |
//! | [`lower_bufferization`] | `layout-lower-bufferization` | `steps` |
//! | [`deallocate`] | `layout-deallocate` | `branches`, `buffers`, `diagnostic`, `functions`, `ownership`, `steps` |
//! | [`expand_clones`] | `layout-expand-clones` | `diagnostic`, `steps` |
//! | [`expand_dma`] | `layout-expand-dma` | `async_copies`, `diagnostic`, `options`, `steps` |
//! | [`expand_floats`] | `layout-expand-floats` | `diagnostic`, `steps`, `upstream` |
//! | [`fuse_elementwise`] | `layout-fuse-elementwise` | `aliases`, `buffers`, `steps` |
//! | [`indexing_analysis`] | `layout-indexing-analysis` | `buffers`, `diagnostic`, `options`, `steps`, `upstream` |
//! | `memref_form` | the sizes and strides of a lowered array, for callers | `buffers`, `options` |
//! | [`inline_calls`] | `layout-inline-calls` | `functions`, `steps` |
//! | [`mask_as_integers`] | `layout-mask-as-integers` | `steps` |
//! | [`outline_loops`] | `layout-outline-loops` | `buffers`, `descriptors`, `options`, `steps`, `upstream` |
//! | `padding` | `tensor.pad` as a fill and an insertion | |
//! | `rank_reduction` | slices that drop dimensions of size 1 | `buffers` |
//! | `switches` | `scf.index_switch` as a tree of `scf.if` | |
//! | [`plan_memory`] | `layout-plan-memory` | `descriptors`, `diagnostic`, `functions`, `options`, `ownership`, `steps`, `upstream` |
//! | [`prepare_bufferization`] | `layout-prepare-bufferization` | `aliases`, `async_copies`, `branches`, `buffers`, `deallocate`, `destinations`, `diagnostic`, `options`, `padding`, `rank_reduction`, `same_bytes`, `steps`, `switches`, `upstream` |
//! | [`remove_conversions`] | `layout-remove-conversions` | `buffers`, `diagnostic`, `functions`, `options`, `runs`, `steps`, `upstream` |
//! | [`plan`] | `layout-plan` | `buffers`, `diagnostic`, `functions`, `indexing_analysis`, `options`, `prepare_bufferization`, `remove_conversions`, `runs`, `steps`, `upstream` |
//! | [`partition`] | `layout-partition` | `async_copies`, `buffers`, `diagnostic`, `functions`, `remove_conversions`, `runs`, `steps`, `upstream` |
//! | [`scf_to_cf`] | `layout-scf-to-cf` | `steps`, `upstream` |
//! | [`shorten_interfaces`] | `layout-shorten-interfaces` | `descriptors`, `options`, `steps` |
//! | [`shard_to_mpi`] | `layout-shard-to-mpi` | `diagnostic`, `functions`, `ownership`, `steps` |
//! | [`call_mpi`] | `layout-call-mpi` | `descriptors`, `diagnostic`, `functions`, `shard_to_mpi`, `steps` |
//! | [`convert_to_llvm`] | `layout-convert-to-llvm` | `dynamic_reshapes`, `options`, `shard_to_mpi`, `steps` |
//! | [`simplify_indexing`] | `layout-simplify-indexing` | `buffers`, `steps` |
//! | [`strip_memory_spaces`] | `layout-strip-memory-spaces` | `buffers`, `steps` |
//! | [`verify`] | `layout-verify` | `diagnostic`, `upstream` |
//! | [`verify_llvm`] | `layout-verify-llvm` | `diagnostic`, `steps` |
//! | `vectorize` | vector code of a kernel: registers, plan, prefetch | `buffers`, `kernel`, `options`, `ownership`, `upstream` |
//! | [`lower_memrefs`] | `layout-lower-memrefs` | `async_copies`, `buffers`, `diagnostic`, `functions`, `kernel`, `options`, `ownership`, `same_bytes`, `steps`, `upstream`, `vectorize` |
//! | `pass` | the generated passes as values | `convert_to_llvm`, `deallocate`, `expand_floats`, `inline_calls`, `lower_bufferization`, `options`, `steps`, `upstream` |
//! | [`pipelines`] | the generated pipelines | `options`, `pass`, `upstream`, `verify` |
//! | `exports` | functions for C++: `layout_rs_*` | `diagnostic`, `indexing_analysis`, `pass`, `pipelines`, `steps`, `upstream`, `verify` |
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
mod kernel;
pub mod llvm;
pub mod lower;
mod pass;
pub mod pipelines;
mod registry;
mod vectorize;

pub use choose::indexing_analysis;
pub use lower::memref_form::MemRefForm;
pub use pass::diagnostic::{Diagnostic, Severity};
pub use pass::options::{
    Arena, ConvertToLlvmOptions, ExpandDmaOptions, Form, IndexingAnalysisOptions, Options, OutlineLoopsOptions,
    Padding, Parallel, PlanEntry, PlanMachine, PlanMemoryOptions, PlanOptions, RemoveConversionsOptions,
    ShortenInterfacesOptions, Target,
};
pub use pipelines::{PipelineOptions, add_passes};
pub use registry::Pass;
// For the other crates of this project alone.
pub use pass::upstream::{register, try_register};
#[doc(hidden)]
pub use pipelines::{belonging, spelling};
