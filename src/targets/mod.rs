//! Machines as a planner of layouts sees them: default layouts, candidates, and costs.
//!
//! ```
//! use tensor_layout::element::ElementType;
//! use tensor_layout::targets::Target;
//!
//! let target = Target::parse("tpu_v5e").unwrap();
//! assert_eq!(target.default_layout(ElementType::F32, &[1024, 129]).unwrap().to_string(), "{0,1:T(8,128)}");
//! assert_eq!(target.unit(), "cycle");
//! ```
//!
//! Everything is computed from a [`Machine`](crate::places::Machine), whose text anyone can write.
//!
//! | file | what it holds |
//! |---|---|
//! | [`target`] | the machine, and the layouts that it lays arrays out in |
//! | [`tiles`] | the unit of costs |
//! | [`product`] | products as a matrix unit sees them |
//! | [`kernel`] | operations that run as one |
//! | [`costs`] | what kernels cost |
//! | [`relayout`] | what relayouts cost |
//! | [`wants`] | the layouts that operations want |

pub mod costs;
pub mod kernel;
pub mod product;
pub mod relayout;
pub mod target;
pub mod tiles;
pub mod wants;

pub use costs::Price;
pub use kernel::{Kernel, PartRead};
pub use product::{LoopProduct, Product};
pub use relayout::RelayoutKind;
pub use target::{Ranked, Target};
pub use tiles::RegisterTiles;
pub use wants::Want;
