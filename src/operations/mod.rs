//! Operations on tensors without their text: shapes, what an operation is, and graphs of them.

pub mod graph;
pub mod operation;
pub mod shape;

pub use graph::{Graph, Node, Value};
pub use operation::{Convolution, Gather, Loops, Operation, WindowDim};
pub use shape::{Array, Dim, Shape, leaves};
