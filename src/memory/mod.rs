//! The memory that a program takes: which values share a buffer, when each buffer is live, and the peak.
//!
//! ```
//! use tensor_layout::hlo::Module;
//! use tensor_layout::memory::MemoryUse;
//!
//! let text = "HloModule chain, is_scheduled=true
//! ENTRY main {
//!   x = f32[8,100]{1,0:T(8,128)} parameter(0)
//!   a = f32[8,100]{1,0:T(8,128)} negate(x)
//!   b = f32[100,8]{1,0:T(8,128)} transpose(a), dimensions={1,0}
//!   ROOT y = f32[100]{0} custom-call(b), custom_call_target=\"f\"
//! }";
//! let used = MemoryUse::of(&Module::parse(text).unwrap()).unwrap();
//! let hbm = &used.spaces[&0];
//! // x is 4096 bytes with its padding, y 400; a and b, 4096 and 53248, are live together where b is made.
//! assert_eq!((hbm.arguments.padded, hbm.outputs.padded, hbm.temporaries, hbm.peak), (4096, 400, 57344, 61840));
//! assert_eq!(hbm.at, 2);
//! ```
//!
//! # What is counted
//!
//! A *leaf* is an array of the result of an instruction; [`leaves`](crate::operations::leaves) numbers those of a tuple.
//! The leaves that lie in one place are a [`Buffer`]:
//!
//! 1. Tuples, their parts, bitcasts, `opt-barrier` and the ends of asynchronous pairs are other names for their operands.
//!    The operands of a `ConcatBitcast` are the parts of its result. What the body of a loop returns as it gets it is
//!    what the loop was given, and what every branch of a `conditional` returns as it gets it, the operand.
//! 2. The result of an operation that can write over an operand does so where nothing reads that operand's buffer
//!    afterwards, and the buffer may be written. Which these are is in `sharing`; where the text has XLA:TPU's
//!    `aliasing_operands`, it is those.
//! 3. All others are new.
//!
//! A buffer is live from the instruction that makes its first leaf to the last that reads one of its leaves, both
//! included. Instructions run in the order of the text, which is XLA's own schedule where it says `is_scheduled=true`.
//! Tuples and their parts read nothing.
//!
//! The arguments, the outputs and the constants are there for the whole run; an output that `input_output_alias` puts
//! into an argument is no buffer of its own. All else is temporary. The temporaries of a computation that a `while`, a
//! `call`, a `conditional` or an `async-start` runs are live at that instruction, with those of the branch that takes
//! most, and up to the end of the asynchronous pair. Its parameters and results are the caller's buffers. A loop's state
//! is one buffer around: where a value of the next round is made while that of the last is still read, it is a temporary.
//! What a fusion computes has no memory but its results.
//!
//! Memory for an output is there before the output is made. Temporaries may lie in it until then:
//! [`Space::beside_outputs`] is the peak of the others, and [`MemoryUse::in_outputs`] says which these are.
//!
//! Not counted: what a kernel takes for itself (`scoped` memory), gaps between buffers, code.
//!
//! | file | what it holds |
//! |---|---|
//! | `footprint` | bytes of an array, and the lanes that it fills |
//! | `names` | instructions that give their operands other names |
//! | `sharing` | which operand a result may be written over |
//! | `buffers` | the buffers of one computation |
//! | `runs` | which computations an instruction runs |
//! | `inside` | what a computation takes beside the buffers of the instruction that runs it |
//! | `live` | the whole program: live bytes, peak |
//! | `outputs` | temporaries in the memory of outputs, tables of tuples |
//! | `relayout` | the instructions that only move bytes |
//! | `before` | what has to run before what |
//! | `tasks` | a computation as tasks and what they touch |
//! | `schedule` | orders of low peak |

mod before;
mod buffers;
mod footprint;
mod inside;
mod live;
mod names;
mod outputs;
mod relayout;
mod runs;
mod schedule;
mod sharing;
mod tasks;

pub use buffers::{Buffer, FrameBuffers, Role, RunsAs};
pub use footprint::{Footprint, LaneUse};
pub use live::{MemoryUse, Moment, Space};
pub use outputs::InOutput;
pub use relayout::{Relayout, Shift, relayout};
pub use schedule::Schedule;
