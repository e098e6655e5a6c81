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
//! assert_eq!(errors[0].message, "the result of `transpose` must be f32[3,2], found f32[2,3]");
//! ```
//!
//! In a parsed module every name is resolved, every [operation](crate::operations::operation::Operation) has passed its
//! check, and no computation calls itself. Computations come after their callees, instructions after their operands; a
//! text in that order keeps it. All errors of a text are reported, up to [`Module::MAX_ERRORS`]: an error in one
//! instruction hides no others.
//!
//! Names omit the `%`. Attributes without effect on indices stay text. Sharding and other attributes of one compiler
//! are not interpreted; a near miss of a name of HLO is an error. Omitted shapes are inferred from operands and
//! attributes.
//!
//! The stages: `read` parses the text (`raw`, `tokens`, `literal`), `resolve` turns names into numbers and runs the
//! rule of each opcode (`opcodes`, `rules`), and the result is a [`Module`].

mod affine_constants;
pub mod aliases;
mod assignment;
mod async_update;
mod attributes;
mod concat_bitcast;
mod devices;
mod facts;
mod fixed_layouts;
mod infer;
mod literal;
pub(crate) mod mesh;
mod module;
mod opcodes;
mod parse;
mod raw;
mod read;
mod resolve;
mod rules;
mod shapes;
pub(crate) mod sharding;
mod stablehlo;
mod tokens;
mod tuple_elements;

pub use affine_constants::AffineValues;
pub use assignment::Assignment;
pub use literal::{Literal, Values};
pub use module::{Attribute, Computation, Instruction, Module, Source};
pub use sharding::{DeviceTiles, Sharding, Subgroup, shardings};
