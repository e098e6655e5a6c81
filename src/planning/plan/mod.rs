//! Layouts for all values of a program at once, and how far they are from the best.
//!
//! ```
//! use tensor_layout::hlo::Module;
//! use layout_plan::plan::{EntryLayouts, Planner, TiledPlanner};
//! use layout_plan::solver::Options;
//! use tensor_layout::targets::Target;
//!
//! let module = Module::parse("HloModule flip
//! ENTRY main {
//!   x = f32[1024,129] parameter(0)
//!   ROOT y = f32[129,1024] transpose(x), dimensions={1,0}
//! }").unwrap();
//! let target = Target::parse("tpu_v5e").unwrap();
//! let (graphs, facts) = (module.graphs(), module.facts());
//! let planner = TiledPlanner::new(&graphs, module.entry, &facts, &target, EntryLayouts::Free).unwrap();
//! let plan = planner.plan(&Options::default(), &mut |_| true).unwrap();
//! assert_eq!((plan.cost, plan.relayouts.len()), (plan.bound, 0));
//! ```
//!
//! The way of a program: it is put into one list ([`program`], [`clone_cheap`]); its arrays get lists of layouts ([`classes`]),
//! its operations ways to combine them ([`ways`]); what is a kernel is decided ([`kernels`]); all costs go into a network
//! ([`prices`], [`problem`]), which the [solver](crate::solver) solves,
//! within the capacities of memories ([`live`],
//! [`space`]); and the solution is told as a plan ([`planner`], [`tiled`], [`layout_plan`]).
//!
//! | file | what it holds |
//! |---|---|
//! | [`program`] | calls, loops and branches put in, tuples taken apart |
//! | [`clone_cheap`] | broadcasts and constants, made again for each use |
//! | [`canonical`] | an order of instances that the order of the text does not change |
//! | [`digits`] | a form in which equal placements are equal |
//! | [`classes`] | the layouts that arrays may have |
//! | [`labels`] | which dimensions of an operation's arrays are one |
//! | [`reshapes`] | which orders go together, and in which reshapes are made |
//! | [`space_to_batch`] | convolutions that cut their images |
//! | [`ways`] | the layouts that an operation's arrays may have together |
//! | [`kernels`] | which operations are one kernel |
//! | [`holders`] | arrays that are held in two layouts |
//! | [`renames`] | arguments and results under other names |
//! | [`prices`] | what ways and relayouts cost |
//! | [`moving`] | what reshapes cost that move elements |
//! | [`homes`] | where arrays lie that have several names |
//! | [`problem`] | the network of costs |
//! | [`build_steps`] | the time in which the network is made |
//! | [`settling`] | where names lie under given layouts |
//! | [`live`] | when arrays are in memory |
//! | [`transfers`] | copies between memories beside kernels |
//! | [`residency`] | where an array may lie while it lives |
//! | [`rematerialize`] | arrays that are made again |
//! | [`placing`] | the memories of arrays as part of the network |
//! | [`space`] | what they take of it, and capacities |
//! | [`laid_out`] | the layouts of each operation's arrays |
//! | [`working`] | what operations work on beside the fastest memory |
//! | [`planned_layout`] | the layout of an array in a plan |
//! | [`layout_plan`] | the plan |
//! | [`planner`] | planning: the best plan, proofs, what other layouts would cost |
//! | [`tiled`] | planning of tiled layouts |
//! | [`doubt`] | layouts of arguments and results that save less than costs may be off |
//! | [`judging`] | plans that something else prices |
//! | [`sharding`] | the same on machines with places: TensorLayouts, and steps over time |

pub mod build_steps;
pub mod canonical;
pub mod classes;
pub mod clone_cheap;
pub mod digits;
pub mod doubt;
pub mod holders;
pub mod homes;
pub mod judging;
pub mod kernels;
pub mod labels;
pub mod laid_out;
pub mod layout_plan;
pub mod live;
pub mod moving;
pub mod placing;
pub mod planned_layout;
pub mod planner;
pub mod prices;
pub mod problem;
pub mod program;
pub mod rematerialize;
pub mod renames;
pub mod reshapes;
pub mod residency;
pub mod settling;
pub mod sharding;
pub mod space;
pub mod space_to_batch;
pub mod tiled;
pub mod transfers;
pub mod ways;
pub mod working;

pub use build_steps::COSTS;
pub use judging::{JudgedPlan, Lesson, Price, Question};
pub use layout_plan::{
    Alternative, Doubt, EntryChange, LaidOut, LayoutPlan, MemoryExcess, PlannedCollective, PlannedRelayout,
    PlannedRemake, PlannedStay, PlannedTransfer, Unplanned,
};
pub use placing::Residence;
pub use planned_layout::{BESIDE, PlannedLayout};
pub use planner::{GoOn, Planner};
pub use program::{ArrayName, EntryOrders, Instance, InstanceKind, Made, Program};
pub use space::{SpaceLimit, SpaceTaken};
pub use tiled::TiledPlanner;
pub use ways::EntryLayouts;
