//! HLO text, as XLA and JAX dump it, before and after optimisation.
//!
//! ```
//! use tensor_layout::hlo::Module;
//! use tensor_layout::operations::Operation;
//!
//! let text = "HloModule flip
//! ENTRY main {
//!   x = f32[2,3]{1,0} parameter(0)
//!   ROOT y = f32[3,2]{1,0} transpose(x), dimensions={1,0}
//! }";
//! let module = Module::parse(text).unwrap();
//! let main = &module.computations[module.entry];
//! let y = &main.instructions[main.root];
//! assert_eq!((&*y.name, &*y.operands), ("y", &[0][..]));
//! assert_eq!(y.operation, Operation::Transpose { permutation: vec![1, 0] });
//!
//! let errors = Module::parse(&text.replace("f32[3,2]", "f32[2,3]")).unwrap_err();
//! assert_eq!(errors[0].line_column(text), Some((4, 12)));
//! assert_eq!(errors[0].message, "`transpose` gives f32[3,2] here, f32[2,3] is written");
//! ```
//!
//! A module that is returned is whole: every name is resolved, every operation of [`Operation`] has the shape that it
//! must have, no computation calls itself. Computations stand behind those that they call, instructions behind those
//! that they use; texts already in that order keep it. All errors of a text are found, up to [`Module::MAX_ERRORS`]:
//! what is wrong in one instruction does not hide what is wrong in another.
//!
//! Names keep no `%`. Attributes that say nothing about indices are kept as text. Sharding, aliasing and what else is
//! local to a compiler is not interpreted.

mod literal;
mod module;
mod opcodes;
mod parse;
mod raw;
mod read;
mod resolve;
mod rules;
mod words;

pub use literal::{Literal, Values};
pub use module::{Attribute, Computation, Instruction, Module, Source};
