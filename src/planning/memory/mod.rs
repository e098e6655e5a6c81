//! The memory use of a program: which values share a buffer, the live range of each buffer, and the peak.
//!
//! ```
//! use tensor_layout::hlo::Module;
//! use layout_plan::memory::MemoryUse;
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
//! # Rules
//!
//! A *leaf* is an array of an instruction's result; [`leaves`](tensor_layout::operations::leaves) numbers those of a tuple.
//! The leaves of one allocation are a [`Buffer`]:
//!
//! 1. Tuples, their parts, bitcasts, `opt-barrier` and the ends of asynchronous pairs are names of their operands.
//!    The operands of a `ConcatBitcast` are parts of its result. A leaf that a loop's body returns unchanged is the
//!    loop's operand, and a leaf that every branch of a `conditional` returns unchanged is that operand.
//! 2. The result of an operation that can overwrite an operand does so if nothing reads the operand's buffer later, and
//!    the buffer is not read-only. `sharing` lists these operations; with XLA:TPU's `aliasing_operands` in the text,
//!    its lists apply instead. An update in a called computation overwrites the parameter, and so the caller's operand,
//!    under the same conditions; otherwise the caller passes a copy.
//! 3. All other leaves get new buffers.
//!
//! A buffer is live from the definition of its first leaf to the last read of any of its leaves, both included.
//! Instructions run in the order of the text, XLA's own schedule if the module has `is_scheduled=true`. Tuples and
//! their parts read nothing.
//!
//! Arguments, outputs and constants are live for the whole run; an output that `input_output_alias` donates an argument
//! to has no buffer of its own. All other buffers are temporaries. The temporaries of a computation run by a `while`,
//! `call`, `conditional` or `async-start` are live at that instruction (the largest branch counts), and up to the end
//! of an asynchronous pair. Its parameters and results are buffers of the caller. A loop's state is one buffer: if the
//! next value is defined while the last one is still read, it is a temporary; a branch or a call defines it there if each
//! computation defines it after its last read. Values inside a fusion have no memory,
//! except its results.
//!
//! The memory of an output exists before its definition, and temporaries may use it until then:
//! [`MemoryUse::in_outputs`] lists these, and no other number counts them.
//!
//! Not counted: memory inside a kernel (`scoped` memory), gaps between buffers, code.
//!
//! | file | content |
//! |---|---|
//! | `footprint` | bytes of an array, and its use of lanes |
//! | `names` | instructions that rename their operands |
//! | `sharing` | operands that a result may overwrite |
//! | `runs` | the computations that an instruction runs, and how |
//! | `buffers` | the buffers of one computation |
//! | `inside` | the peak of a called computation beside the caller's buffers |
//! | `live` | the whole program: live bytes, peak |
//! | `ranges` | the ranges of time in which buffers are in one memory |
//! | `outputs` | temporaries in the memory of outputs, tables of tuples |
//! | `relayout` | instructions that only move bytes |
//! | `before` | dependences between instructions |
//! | `tasks` | a computation as tasks and the buffers they touch |
//! | `schedule` | orders of low peak |

mod before;
mod buffers;
mod footprint;
mod inside;
mod live;
mod names;
mod outputs;
mod ranges;
mod relayout;
mod runs;
mod schedule;
mod sharing;
mod tasks;

pub use buffers::{Buffer, FrameBuffers, Role};
pub use footprint::{Footprint, LaneUse};
pub use live::{LiveBuffer, MemoryUse, Moment, Space, Span};
pub use outputs::InOutput;
pub use relayout::{Relayout, RelayoutKind, fused_relayouts, relayout};
pub use runs::RunsAs;
pub use schedule::Schedule;
