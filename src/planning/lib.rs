//! Layouts for all values of a program: plans with a bound, memory, orders, and programs over many memories.
//!
//! `tensor-layout` says what a layout is and what an operation reads; this crate chooses. It reads a program as
//! [`tensor_layout::hlo::Module`] or as graphs of [`tensor_layout::operations`], and answers with plans whose
//! [certificates](solver::check) a checker replays.
//!
//! # Example
//!
//! ```
//! use layout_plan::memory::MemoryUse;
//! use layout_plan::plan::{EntryLayouts, Planner, TiledPlanner};
//! use layout_plan::solver::Options;
//! use layout_plan::plan::sharding::ShardingPlanner;
//! use tensor_layout::hlo::Module;
//! use tensor_layout::places::Machine;
//! use tensor_layout::targets::Target;
//!
//! # fn main() -> Result<(), tensor_layout::text::Error> {
//! let tpu = Target::parse("tpu_v5e")?;
//! // hlo, memory: a program, and the bytes that it takes.
//! let text = "HloModule flip
//! ENTRY main {
//!   x = f32[8,128]{1,0} parameter(0)
//!   ROOT y = f32[128,8]{1,0} transpose(x), dimensions={1,0}
//! }";
//! let module = Module::parse(text).unwrap();
//! assert_eq!(MemoryUse::of(&module)?.spaces[&0].peak, 2 * 4096);
//!
//! // plan, solver: layouts for all of its arrays, with a bound below which no plan is.
//! let (graphs, facts) = (module.graphs(), module.facts());
//! let planner = TiledPlanner::new(&graphs, module.entry, &facts, &tpu, EntryLayouts::Free).unwrap();
//! let plan = planner.plan(&Options::default(), &mut |_| true).unwrap();
//! assert_eq!((plan.cost, plan.relayouts.len()), (plan.bound, 0));
//!
//! // plan::sharding: the same on a machine with places. Nothing moves.
//! let machine = Machine::parse("mn_core_2")?;
//! let planner = ShardingPlanner::new(&graphs, module.entry, &facts, &machine).unwrap();
//! assert_eq!(planner.plan(&Options::default(), &mut |_| true).unwrap().levels, [0, 0, 0, 0]);
//! # Ok(())
//! # }
//! ```
//!
//! # Rooms
//!
//! As in `tensor-layout`: a room uses only the rooms of its last column.
//!
//! | room | content | uses |
//! |---|---|---|
//! | `random` | pseudorandom numbers | |
//! | [`scheduling`] | orders of tasks with few live bytes | |
//! | [`memory`] | the buffers of a program, their live ranges, the peak, and orders with a lower one | `random`, `scheduling` |
//! | [`solver`] | choices of least cost: plan, bound, certificate and its checker | `random` |
//! | [`plan`] | layouts for all values of a program, on machines with places TensorLayouts, and steps over time | `solver` |
//!
//! # Invariants
//!
//! - Nothing here knows MLIR, reads files or prints; there is no unsafe code.
//! - [`solver::check`] shares no code with the search.
//! - Costs and bytes are `i64` and never wrap: a number that does not fit is an error.

pub mod memory;
pub mod plan;
mod random;
pub mod scheduling;
pub mod solver;
