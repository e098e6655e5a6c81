//! TensorLayouts: tensors spread over the places of a machine, `((4_PE, 3:8), (8:1))`.
//!
//! | file | content |
//! |---|---|
//! | [`tensor_layout`] | the structure |
//! | `notation` | the text |
//! | `search` | search for digits with given coordinates |
//! | [`placement`] | a TensorLayout on a shape: the places and the address of each element |
//! | [`views`] | reshape, transpose and slice as a change of the layout |
//! | [`utilisation`] | the numbers of used places and elements of their memories |
//! | [`model`] | registers, default layouts and costs of a machine |
//! | [`preferences`] | the layouts that a machine's kernels take and make |
//! | [`ready`] | named machines |
//! | [`machine`] | axes, their parents, memories and capacities |
//! | [`relayout`] | copies between two placements, and the traffic of each level of the machine |

pub mod machine;
pub mod model;
mod notation;
pub mod placement;
pub mod preferences;
pub mod ready;
pub mod relayout;
mod search;
pub mod tensor_layout;
pub mod utilisation;
pub mod views;

pub use machine::{Axis, Fit, Machine, Memory, TIME, WORD};
pub use model::{Costs, Decimal, DefaultLayouts, Model, Topology};
pub use placement::{Copies, Held, Misplaced, Placement};
pub use preferences::{DimKind, DimOrder, OrderEntry, PreferenceRow, Preferences};
pub use ready::READY;
pub use relayout::{
    Affine, Block, CollectiveKind, Copy, DigitExchange, IndexDigit, Level, MAX_BLOCKS, RelayoutPlan, RelayoutStep,
    collectives, plan,
};
pub use search::Digit;
pub use tensor_layout::{ADDRESS, Broadcast, Part, Spot, TensorLayout, check_axis, is_tensor_layout};
pub use utilisation::Utilisation;
pub use views::{Slice, View};
