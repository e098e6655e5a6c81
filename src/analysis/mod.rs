//! The elements that each operation reads and feeds.
//!
//! For an element of a result, [`Maps::reads`] gives the elements of an operand it is computed from; for an element of
//! an operand, [`Maps::feeds`] gives the elements of a result that use it. Both describe one relation, and both are
//! sets of [indexing maps](crate::maps::map), because one map is not always enough: a `pad` reads its value before,
//! after and between the data.
//!
//! ```
//! use tensor_layout::analysis::maps;
//! use tensor_layout::operations::Operation;
//! use tensor_layout::operations::Shape;
//!
//! let [long, short] = ["f32[256,10]", "f32[10]"].map(|text| Shape::parse(text).unwrap());
//! let init = Shape::parse("f32[]").unwrap();
//! let found = maps(&Operation::Reduce { dims: vec![0] }, &[&long, &init], &[&short]).unwrap();
//! let text = "(d0)[s0] -> (s0, d0), domain: d0 in [0, 9], s0 in [0, 255]";
//! assert_eq!(found.reads(0, 0).unwrap().to_string(), text);
//! let text = "(d0, d1) -> (d1), domain: d0 in [0, 255], d1 in [0, 9]";
//! assert_eq!(found.feeds(0, 0).unwrap().to_string(), text);
//! ```
//!
//! Offsets known only at run time are run-time variables; [`RunTime`] has the element of the operand that holds the
//! value. A relation without a finite map is unknown, with the reason; this is never an error. Shapes that the
//! operation cannot have are errors.
//!
//! Tuples are split: operands and results are numbered by their *leaves*, the arrays in them from left to right. A
//! bounded size counts as its bound.

mod access;
mod amount;
mod bitcast;
mod compose;
mod count;
mod equations;
mod flow;
mod flows;
mod image;
mod linear;
mod maps;
mod movement;
mod points;
mod relation;
mod rounds;
mod tile;
mod traffic;
mod union;
mod walk;

pub use access::{Access, Mapped, RunTime};
pub use amount::{Count, Traffic, Usage};
pub use count::COUNTED;
pub use flow::{Flow, ValueRef};
pub use flows::{Flows, flow, traffic};
pub use linear::{LinearSum, linear};
pub use maps::{Maps, maps};
pub use movement::{Cause, Moved, Movement, movement};
pub use tile::{Needed, StridedTile};
