//! TensorLayouts for all values of a program, on a machine with places: what moves, at which level of the machine.
//!
//! ```
//! use tensor_layout::hlo::Module;
//! use tensor_layout::places::Machine;
//! use layout_plan::solver::Options;
//! use layout_plan::plan::Planner;
//! use layout_plan::plan::sharding::ShardingPlanner;
//!
//! let module = Module::parse("HloModule chain
//! ENTRY main {
//!   x = f32[1024,512] parameter(0)
//!   t = f32[512,1024] transpose(x), dimensions={1,0}
//!   ROOT y = f32[512,1024] negate(t)
//! }").unwrap();
//! let machine = Machine::parse("mn_core_2").unwrap();
//! let (graphs, facts) = (module.graphs(), module.facts());
//! let planner = ShardingPlanner::new(&graphs, module.entry, &facts, &machine).unwrap();
//! let plan = planner.plan(&Options::default(), &mut |_| true).unwrap();
//! assert_eq!((plan.cost, plan.relayouts.len()), (0, 0));
//! ```
//!
//! A value has each of its elements in one place. An operation runs as loops, which are spread over the places as well: a
//! place runs its part of the loops, reads the elements that this part takes, and makes those that it gives. What it reads
//! and does not hold comes from other places; what it makes and does not hold goes to others, which add it up if loops of a
//! sum are spread. At each level of the tree, a node gets what its places read and none of them holds:
//!
//! `f32[1024,512] · f32[512,1024]` on 4 × 2 nodes, each with 256 rows and 512 columns: each reads 256 × 512 elements of the
//! left operand, of which it holds 1/8 of all, and 512 × 512 of the right one.
//!
//! The cost is, for each level, the bytes of the node that gets or gives most, at the rate of the link of the level; a byte
//! in a unit of cost where the machine has no link there. How values and loops are spread is chosen together, by the
//! [solver](crate::solver).
//!
//! With capacities, values may also lie beside the places, and the loops of a place run in [steps](time), for which pieces
//! of arrays are brought and taken away.
//!
//! | file | what it holds |
//! |---|---|
//! | [`spread`] | how dimensions or loops are cut into pieces along the axes of a machine |
//! | [`reading`] | what an operation's loops read and make |
//! | [`sets`] | sets of indices |
//! | [`traffic`] | the bytes at each level |
//! | [`candidates`] | the spreads that are tried |
//! | `pod` | devices, and what collectives between them take |
//! | `meshes` | the spreads over devices that are tried |
//! | `on_pod` | the problem on devices |
//! | [`time`] | the loops of a place in steps: pieces of arrays, and how often they are brought |
//! | [`cuts`](mod@cuts) | the cuts over time that are tried |
//! | [`planner`] | the program and its candidates |
//! | [`network`] | the problem as a network of costs |
//! | [`decode`] | the plan that a solution is |
//! | [`steps`] | the steps of an operation of a plan |
//! | [`schedule`] | the steps of each operation of a plan over places |
//! | [`lower_bound`] | the least bytes that an operation moves |
//! | [`slices`] | the slices that an operation takes in steps |
//! | [`tile_steps`](mod@tile_steps) | steps on machines without places, in whole tiles |
//! | [`placed`] | the layouts of each operation's arrays |
//! | [`room`] | capacities |

pub mod candidates;
pub mod cuts;
pub mod decode;
pub mod lower_bound;
mod meshes;
pub mod network;
mod on_pod;
pub mod placed;
pub mod planner;
pub mod pod;
pub mod reading;
pub mod room;
pub mod schedule;
pub mod sets;
pub mod slices;
pub mod spread;
pub mod steps;
pub mod tile_steps;
pub mod time;
pub mod traffic;

pub use candidates::of_array;
pub use cuts::{Brought, CutChoice, cuts, pieces};
pub use lower_bound::{LeastArray, LeastRule};
pub use planner::{Home, ShardingPlanner};
pub use pod::{DeviceLine, Pod};
pub use reading::{IndexRange, LoopNest};
pub use slices::{ArraySlice, OperationSlices, SliceLoop};
pub use spread::{AxisCut, Spread};
pub use steps::{PlannedSteps, StepLoop, SteppedTouch};
pub use tile_steps::{WorkingArray, WorkingSet, tile_steps};
pub use time::TimeCut;
pub use traffic::{Boxes, LevelBytes, Levels, SteppedArray};
