//! Operations on tensors without their text: shapes, operations with their rules and loops, and graphs.

pub mod check;
pub mod collective;
pub mod degenerate_window;
pub mod facts;
pub mod graph;
mod loops;
pub mod operation;
pub mod refusal;
pub(crate) mod rules;
pub mod shape;
pub mod sizes;

pub use collective::{Collective, Exchange};
pub use degenerate_window::{DegenerateWindow, Progression};
pub use facts::{Facts, FixedLayouts, UNKNOWN_TRIPS};
pub use graph::{Graph, Node, Value};
pub use operation::{
    Algorithm, Contraction, Convolution, Fourier, Gather, Loops, Operation, Ragged, RaggedDot, Start, WindowDim,
};
pub use refusal::{Problem, Refusal, Subject};
pub use shape::{Array, Dim, Shape, bits, count, leaves};
pub use sizes::{Size, Sizes};
