//! Arrays in the memory of their layouts, and calls of functions compiled in this process.
//!
//! The function `y[j, i] = x[i, j]`, whose result is in tiles of 2×2:
//!
//! ```
//! use layout_passes::{Form, pipelines};
//! use layout_runtime::{Buffer, Engine, call};
//! use melior::{Context, dialect::DialectRegistry, ir::Module, pass::PassManager, utility};
//!
//! let registry = DialectRegistry::new();
//! utility::register_all_dialects(&registry);
//! layout_dialect::register(&registry);
//! let context = Context::new_with_registry(&registry, false);
//! context.load_all_available_dialects();
//! utility::register_all_llvm_translations(&context);
//!
//! let text = "func.func @transpose(%x: tensor<3x5xf32>) -> tensor<5x3xf32, #layout.tiled<{1,0:T(2,2)}>>
//!     attributes {llvm.emit_c_interface} {
//!   %e = tensor.empty() : tensor<5x3xf32>
//!   %t = linalg.transpose ins(%x : tensor<3x5xf32>) outs(%e : tensor<5x3xf32>) permutation = [1, 0]
//!   %y = layout.convert %t : tensor<5x3xf32> to tensor<5x3xf32, #layout.tiled<{1,0:T(2,2)}>>
//!   return %y : tensor<5x3xf32, #layout.tiled<{1,0:T(2,2)}>>
//! }";
//! let mut module = Module::parse(&context, text).unwrap();
//! let passes = PassManager::new(&context);
//! pipelines::TO_LLVM.add_to(passes.as_operation_pass_manager(), Form::Physical).unwrap();
//! passes.run(&mut module).unwrap();
//! let engine = Engine::new(&module, 2, &[]).unwrap();
//!
//! let numbers: Vec<f32> = (0..15).map(|n| n as f32).collect();
//! let x = Buffer::of(&"f32[3,5]".parse().unwrap(), Form::Physical, &numbers).unwrap();
//! let of = ["f32[5,3]{1,0:T(2,2)}".parse().unwrap()];
//! // SAFETY: the function above takes and gives these arrays.
//! let y = unsafe { call(&engine, "transpose", &[(&x).into()], &of, Form::Physical) }.unwrap().remove(0);
//! assert_eq!(y.descriptor().sizes(), [3, 2, 2, 2]);
//! assert_eq!(y.bytes().len(), 24 * 4);
//! assert_eq!(y.elements::<f32>().unwrap()[..6], [0.0, 5.0, 10.0, 1.0, 6.0, 11.0]);
//! ```
//!
//! Not supported: TensorLayouts, whose buffer holds all places of a machine; `M(n)`, metadata in front of the data; and
//! sizes known only at run time.
//!
//! | file | content |
//! |---|---|
//! | `descriptor` | MLIR's descriptor of a memref |
//! | `element` | Rust's numbers as elements |
//! | `engine` | compiled modules; the call with descriptors |
//! | `buffer` | arrays in memory; the call with arrays |
#![deny(unsafe_code)]

#[allow(unsafe_code, reason = "memory is where compiled code puts it")]
mod buffer;
mod descriptor;
mod element;
#[allow(unsafe_code, reason = "compiled code takes pointers")]
mod engine;

pub use buffer::{Argument, Buffer, call};
pub use descriptor::Descriptor;
pub use element::Element;
pub use engine::{Engine, Passed};
