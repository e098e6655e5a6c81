//! The answer of `plan`: a plan with the names of the program.

use super::shardings;
use crate::clock::Clock;
use crate::copies::CopyAnswer;
use crate::schedule::ScheduleOption;
use layout_plan::plan::sharding::{LeastRule, PlannedSteps, Pod, StepLoop, SteppedTouch};
use layout_plan::plan::{
    ArrayName, Doubt, EntryChange, LayoutPlan, Lesson, PlannedCollective, PlannedLayout, PlannedRelayout,
    PlannedRemake, PlannedStay, PlannedTransfer, Question, SpaceTaken,
};
use layout_plan::solver::Marginal;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use tensor_layout::hlo::Module;
use tensor_layout::operations::count;
use tensor_layout::places::PreferenceRow;
use tensor_layout::targets::Target;

/// A plan: layouts for all values of a program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PlanAnswer {
    /// What the program costs, and what it costs at least, in the unit of the machine.
    pub cost: i64,
    pub bound: i64,
    pub unit: String,
    /// The order of the instructions, where it is not that of the text.
    #[serde(default, skip_serializing_if = "ScheduleOption::is_file")]
    pub schedule: ScheduleOption,
    /// The layouts of the arrays of arguments and results.
    pub entry: EntryArrays,
    /// For each value the layouts that it is held in, by its name; `name#k` for array k of a tuple.
    pub values: BTreeMap<String, Vec<String>>,
    /// On devices, the same as HLO's shardings.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub shardings: BTreeMap<String, Vec<String>>,
    /// On devices, the part of the cost that is their work; the rest is communication.
    #[serde(default, skip_serializing_if = "is_none")]
    pub work: i64,
    /// The values that are made in another memory space than 0, and which.
    pub spaces: BTreeMap<String, u8>,
    /// With capacities, where the values are that are not in one memory as long as they live.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stays: Vec<StayAnswer>,
    /// The copies of values between memories that run beside kernels.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub transfers: Vec<TransferAnswer>,
    /// With a capacity of memory space 0, the values that are in no memory between two reads and made again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub recomputed: Vec<RecomputedAnswer>,
    pub relayouts: Vec<RelayoutAnswer>,
    /// On a machine with places, what all relayouts move at each level, parents first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub levels: Vec<LevelAnswer>,
    /// With capacities, the steps of operations: on a machine with places of each that brings something into these, on
    /// others of each that does not fit into the fastest memory.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<StepsAnswer>,
    /// Where room for steps is asked for, the bytes of the fastest memory that values leave to pieces, so that each operation
    /// has room for its smallest steps; on devices, those that values leave to what operations bring. The bound is one of
    /// plans that do so.
    #[serde(default, skip_serializing_if = "is_none")]
    pub kept: i64,
    /// The most bytes that are in each memory space at once, by its number.
    pub peak: BTreeMap<String, i64>,
    pub memories: Vec<MemoryAnswer>,
    /// What was not decided; left out where all was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left: Option<LeftAnswer>,
    /// What the layouts that the program has cost; `null` where they are not possible here.
    pub given: Option<i64>,
    /// The plan that these layouts are, where it is asked for and possible.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compare: Option<Box<PlanAnswer>>,
    /// Whether the judge likes the plan best with the layouts of all values, and not of arguments and results alone.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub inner: bool,
    /// With any layouts of arguments and results and no judge, how far the costs may be off, and what to leave as it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub doubt: Option<DoubtAnswer>,
    /// What a judge has said, where there is one; the plan is the one that it likes best.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub judged: Option<Vec<Judgement>>,
    /// What the text says that is skipped, such as attributes of other versions of XLA: each message once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

impl PlanAnswer {
    /// The part of an answer that a proof confirms. The cost without a relayout comes from a search of its own,
    /// judgements from the judge, warnings from the text, and the order of the instructions is in the proof itself.
    pub fn provable(&self) -> PlanAnswer {
        let known = |own: &RelayoutAnswer| RelayoutAnswer { without: None, undecided: false, ..own.clone() };
        let relayouts = self.relayouts.iter().map(known).collect();
        let (schedule, warnings) = (ScheduleOption::File, Vec::new());
        PlanAnswer {
            relayouts,
            schedule,
            left: None,
            compare: None,
            inner: false,
            doubt: None,
            judged: None,
            warnings,
            ..self.clone()
        }
    }
}

/// Whether the number is 0, for fields that are left out then.
fn is_none(bytes: &i64) -> bool {
    *bytes == 0
}

/// What was not decided.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LeftAnswer {
    /// What has ended the search before the bound met the cost; left out where it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub search: Option<SearchEnd>,
    /// The number of relayouts of which it is not decided what doing without them costs.
    #[serde(default)]
    pub relayouts: usize,
}

impl LeftAnswer {
    /// The open decisions: why the search ended, and how many relayouts are not explained; `None` without any.
    pub fn of(search: Option<SearchEnd>, relayouts: usize) -> Option<LeftAnswer> {
        (search.is_some() || relayouts > 0).then_some(LeftAnswer { search, relayouts })
    }
}

/// What has ended a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SearchEnd {
    /// The bound is near enough to the cost.
    Gap,
    /// The time is over.
    Time,
    /// So much was looked at as a search may.
    Work,
}

impl SearchEnd {
    /// Why the search for a plan ended by this clock; `None` where the bound met the cost.
    pub fn of(cost: i64, bound: i64, clock: &Clock) -> Option<SearchEnd> {
        (cost != bound).then(|| match clock.has_time() {
            _ if clock.options().is_near(cost, bound) => SearchEnd::Gap,
            true => SearchEnd::Work,
            false => SearchEnd::Time,
        })
    }
}

/// The arrays of arguments and of results, in order, tuples flattened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EntryArrays {
    #[serde(rename = "in")]
    pub arguments: Vec<String>,
    #[serde(rename = "out")]
    pub results: Vec<String>,
}

/// How far the costs of the machine may be off for a program, and the layouts of arguments and results that save less.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DoubtAnswer {
    /// The operation of the program that is most in doubt, or `other`.
    pub operation: String,
    /// Four of five programs with such an operation cost at most so much more than planned, as a part of it.
    pub off: f64,
    /// The cost of the best plan with default layouts of all arguments and results.
    pub default: i64,
    /// The arguments and results that are better left in their default layouts.
    pub leave: Vec<String>,
    /// The layouts of all arguments and results with those, and what the best plan with them costs.
    pub entry: EntryArrays,
    pub cost: i64,
}

/// A relayout.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RelayoutAnswer {
    /// The value that is copied.
    pub at: String,
    /// The layout in which it is made, and the one in which it is wanted.
    pub from: String,
    pub to: String,
    /// The bytes that are read and written.
    pub bytes: i64,
    /// What it costs, with what it breaks.
    pub cost: i64,
    /// The instructions that want it.
    pub wanted_by: Vec<String>,
    /// What the best plan that was found costs in which these take the value as it is made; `null` where none was.
    pub without: Option<i64>,
    /// Whether it is not decided what the best plan without it costs, or that there is none.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub undecided: bool,
    /// On a machine with places, what moves at each level, parents first; `bytes` are those of all places and levels.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub levels: Vec<LevelAnswer>,
    /// On devices, the collectives that do it, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub collectives: Vec<CollectiveAnswer>,
}

/// A collective between devices.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CollectiveAnswer {
    /// What is done, as `all-gather`.
    pub kind: String,
    /// Between the devices whose numbers differ in these parts: how many there are, and how far apart.
    pub along: Vec<[i64; 2]>,
    /// The bytes that each device gets.
    pub bytes: i64,
}

impl From<&PlannedCollective> for CollectiveAnswer {
    fn from(own: &PlannedCollective) -> CollectiveAnswer {
        let along = own.along.iter().map(|line| [line.extent, line.stride]).collect();
        CollectiveAnswer { kind: own.kind.name().to_string(), along, bytes: own.bytes }
    }
}

/// A value in a memory for a part of its life.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StayAnswer {
    pub at: String,
    /// The number of the memory space.
    pub space: u8,
    /// The bytes there: all of the value, or some of its slices.
    pub bytes: i64,
    /// The instructions that run when it is there first and last.
    pub first: String,
    pub last: String,
}

/// A copy between memories that runs beside kernels.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TransferAnswer {
    /// The value.
    pub at: String,
    pub bytes: i64,
    /// The numbers of the memory spaces.
    pub from: u8,
    pub to: u8,
    /// The instruction before which it starts, and the one before which it is done.
    pub start: String,
    pub done: String,
    /// What kernels wait for it, in the unit of the machine; the plan's cost contains it.
    pub exposed: i64,
    /// The share of the bandwidth that it has as long as it runs, in millionths.
    pub share: i64,
    /// The strided copies that it is: one, as the layout is the same in both memories.
    #[serde(default)]
    pub copies: Vec<CopyAnswer>,
}

/// A value that is made again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RecomputedAnswer {
    /// The value, and the bytes that are free between.
    pub at: String,
    pub bytes: i64,
    /// The instruction that reads it last before, and the one before which it is made again.
    pub last: String,
    pub again: String,
    /// What that costs, in the unit of the machine; the plan's cost contains it.
    pub cost: i64,
}

/// The steps of an operation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StepsAnswer {
    /// The instruction.
    pub by: String,
    /// The loops that run in several steps, the outermost first.
    pub loops: Vec<StepLoopAnswer>,
    /// What it reads, then what it makes; scalars apart.
    pub arrays: Vec<StepArrayAnswer>,
    /// The bytes that one place of each level gets or gives, at most, in all steps; on a machine without places one level,
    /// the memory that all is brought from and taken to.
    pub levels: Vec<LevelAnswer>,
    /// The bytes that some place of each level gets or gives at least, whatever the spread and the steps are.
    pub least: Vec<LevelAnswer>,
    /// Why: `product`, the bound for products and convolutions, or `compulsory`, what is beside the places, or not in the
    /// fastest memory, moves once.
    pub rule: String,
    /// On a machine without places, the bytes of the fastest memory that the smallest steps need, where there is less room:
    /// then there are no steps, and arrays are read and written where they lie.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub needs: Option<i64>,
    /// On a machine without places, the bytes of the fastest memory that values leave.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub room: Option<i64>,
}

/// A loop over steps.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StepLoopAnswer {
    /// The number of the instruction's loop.
    pub r#loop: usize,
    /// How much of it a place runs in a step, and the number of steps.
    pub step: i64,
    pub count: i64,
}

/// An array of an operation that runs in steps.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StepArrayAnswer {
    /// The value.
    pub at: String,
    /// Which operand it is; `null` for a result.
    pub operand: Option<usize>,
    /// Whether places use what they hold of it; else they have a buffer for a piece.
    pub in_place: bool,
    /// Which dimensions are cut, each with the number of steps.
    pub cut: Vec<[i64; 2]>,
    /// Where and when elements are used; `null` where that is no layout.
    pub layout: Option<String>,
    /// The bytes of the buffer of a place, and whether there are two, so that the next piece comes while one is used.
    pub bytes: i64,
    pub double: bool,
    /// The bytes that one place of each level gets or gives, at most.
    pub levels: Vec<LevelAnswer>,
}

/// What moves along an axis of a machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LevelAnswer {
    /// The axis.
    pub axis: String,
    /// The bytes that one place along it gets from its parent or gives to it, at most.
    pub bytes: i64,
}

/// What a plan takes of a memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryAnswer {
    /// The number of the memory space, and the name of the machine's memory.
    pub space: u8,
    pub name: String,
    /// The bytes of all values that are ever in it, and those of them that are padding; on a machine with places those in one
    /// such memory, and how many more that is than an even share.
    pub bytes: i64,
    pub padding: i64,
    /// How much less padding that is than in the machine's default layouts.
    pub padding_saved: i64,
    /// The most bytes that are in it at once, and the instruction that runs then.
    pub peak: i64,
    pub at: String,
}

/// What a judge has said of a plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Judgement {
    /// The question: a plan, `default` or `auto` layouts of the entry, `inner` ones as well, or those of a `read back`; and
    /// the layouts that differ from those of the best plan before.
    pub tried: String,
    /// What the plan costs here.
    pub cost: i64,
    /// What the judge says; `null` where it has an error.
    pub judged: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// How much more the change costs here than before, and how much more the judge says.
    pub expected: i64,
    pub found: Option<i64>,
}

/// Plans with the names of a program.
pub struct Names<'a> {
    /// The program.
    pub module: &'a Module,
    /// The machine.
    pub target: &'a Target,
}

impl DoubtAnswer {
    /// The answer of a doubt about a plan, whose layouts of arguments and results are these.
    pub fn new(doubt: &Doubt, entry: &EntryArrays) -> DoubtAnswer {
        let mut entry = entry.clone();
        for change in &doubt.leave {
            let side = if change.argument { &mut entry.arguments } else { &mut entry.results };
            side[change.number] = change.layout.to_string();
        }
        DoubtAnswer {
            operation: doubt.row.map_or("other", PreferenceRow::word).to_string(),
            off: doubt.off.millionths as f64 / 1e6,
            default: doubt.default,
            leave: doubt.leave.iter().map(end_name).collect(),
            entry,
            cost: doubt.cost,
        }
    }
}

impl Names<'_> {
    /// The name of a node.
    pub fn node(&self, (graph, node): (usize, usize)) -> &str {
        &self.module.computations[graph].instructions[node].name
    }

    /// The name of an array: of its instruction, with the leaf's number where it has several.
    pub fn array(&self, (graph, node, leaf): ArrayName) -> String {
        let name = self.node((graph, node));
        let parts = count(&self.module.computations[graph].instructions[node].shape);
        if parts == 1 { name.to_string() } else { format!("{name}#{leaf}") }
    }

    /// The levels of the machine: its axes, or the memory that all is brought from.
    fn levels(&self, bytes: &[i64]) -> Vec<LevelAnswer> {
        let machine = self.target.machine();
        let mut names: Vec<String> = machine.axes.iter().map(|axis| axis.name.clone()).collect();
        if names.is_empty() {
            names.push(machine.space_name(0));
        }
        names.into_iter().zip(bytes).map(|(axis, bytes)| LevelAnswer { axis, bytes: *bytes }).collect()
    }

    /// The answer of a plan, with the known costs of plans without each of its relayouts where these are asked for.
    pub fn answer(&self, plan: &LayoutPlan, without: Option<&[Marginal]>) -> PlanAnswer {
        let mut values: BTreeMap<String, Vec<String>> = BTreeMap::new();
        let mut sharded: BTreeMap<String, Vec<String>> = BTreeMap::new();
        let on_devices = Pod::of(self.target.machine()).is_some();
        let mut spaces = BTreeMap::new();
        for (k, (at, layouts)) in plan.values.iter().enumerate() {
            let name = self.array(*at);
            let own = values.entry(name.clone()).or_default();
            for text in texts(layouts) {
                if !own.contains(&text) {
                    own.push(text);
                }
            }
            for text in
                layouts.iter().filter_map(PlannedLayout::places).filter(|_| on_devices).filter_map(shardings::text)
            {
                let own = sharded.entry(name.clone()).or_default();
                if !own.contains(&text) {
                    own.push(text);
                }
            }
            if let Some(space) = plan.spaces.get(k).filter(|space| **space != 0) {
                spaces.insert(name, *space);
            }
        }
        let known = |k: usize| without.map(|without| without.get(k).copied().unwrap_or_default());
        // Without places, an operation of one step runs as any other.
        let is_cut = |own: &&PlannedSteps| !own.loops.is_empty() || own.needs.is_some() || own.room.is_none();
        let (relayouts, cut) = (plan.relayouts.iter().enumerate(), plan.steps.iter().filter(is_cut));
        PlanAnswer {
            cost: plan.cost,
            bound: plan.bound,
            unit: self.target.unit().to_string(),
            schedule: ScheduleOption::File,
            entry: EntryArrays { arguments: texts(&plan.arguments), results: texts(&plan.results) },
            values,
            shardings: sharded,
            work: plan.work,
            spaces,
            stays: plan.stays.iter().map(|stay| self.stay(stay)).collect(),
            transfers: plan.transfers.iter().map(|moved| self.transfer(moved)).collect(),
            recomputed: plan.remade.iter().map(|remade| self.recomputed(remade)).collect(),
            relayouts: relayouts.map(|(k, moved)| self.relayout(moved, known(k))).collect(),
            levels: self.levels(&plan.levels),
            steps: cut.map(|own| self.steps(own)).collect(),
            kept: plan.kept,
            peak: plan.taken.iter().map(|taken| (taken.space.to_string(), taken.peak)).collect(),
            memories: self.memories(&plan.taken),
            left: None,
            given: None,
            compare: None,
            inner: false,
            doubt: None,
            judged: None,
            warnings: Vec::new(),
        }
    }

    fn stay(&self, stay: &PlannedStay) -> StayAnswer {
        let [first, last] = stay.nodes.map(|node| self.node(node).to_string());
        StayAnswer { at: self.array(stay.at), space: stay.space, bytes: stay.bytes, first, last }
    }

    fn recomputed(&self, remade: &PlannedRemake) -> RecomputedAnswer {
        let [last, again] = remade.nodes.map(|node| self.node(node).to_string());
        RecomputedAnswer { at: self.array(remade.at), bytes: remade.bytes, last, again, cost: remade.cost }
    }

    fn transfer(&self, moved: &PlannedTransfer) -> TransferAnswer {
        let [start, done] = moved.nodes.map(|node| self.node(node).to_string());
        TransferAnswer {
            at: self.array(moved.at),
            bytes: moved.bytes,
            from: moved.from,
            to: moved.to,
            start,
            done,
            exposed: moved.exposed,
            share: moved.share,
            copies: vec![CopyAnswer::from(moved.copy.clone())],
        }
    }

    fn relayout(&self, moved: &PlannedRelayout, without: Option<Marginal>) -> RelayoutAnswer {
        RelayoutAnswer {
            at: self.array(moved.at),
            from: moved.from.to_string(),
            to: moved.to.to_string(),
            bytes: moved.bytes,
            cost: moved.cost,
            wanted_by: moved.wanted_by.iter().map(|node| self.node(*node).to_string()).collect(),
            without: without.and_then(|known| known.cost),
            undecided: without.is_some_and(|known| !known.is_decided),
            levels: self.levels(&moved.traffic.busiest),
            collectives: moved.collectives.iter().map(CollectiveAnswer::from).collect(),
        }
    }

    /// The answer about an operation that runs in steps.
    pub fn steps(&self, own: &PlannedSteps) -> StepsAnswer {
        let one = |own: &StepLoop| StepLoopAnswer { r#loop: own.of, step: own.step, count: own.count };
        let array = |array: &SteppedTouch| StepArrayAnswer {
            at: self.array(array.at),
            operand: array.operand,
            in_place: array.in_place,
            cut: array.cut.iter().map(|(dim, count)| [*dim as i64, *count]).collect(),
            layout: array.layout.as_ref().map(PlannedLayout::to_string),
            bytes: array.bytes,
            double: array.is_double,
            levels: self.levels(&array.levels),
        };
        StepsAnswer {
            by: self.node(own.by).to_string(),
            loops: own.loops.iter().map(one).collect(),
            arrays: own.arrays.iter().map(array).collect(),
            levels: self.levels(&own.levels),
            least: self.levels(&own.least),
            rule: match own.rule {
                LeastRule::Product { .. } => "product".to_string(),
                _ => "compulsory".to_string(),
            },
            needs: own.needs,
            room: own.room,
        }
    }

    fn memories(&self, taken: &[SpaceTaken]) -> Vec<MemoryAnswer> {
        let one = |taken: &SpaceTaken| MemoryAnswer {
            space: taken.space,
            name: self.target.machine().space_name(taken.space),
            bytes: taken.bytes,
            padding: taken.padding,
            padding_saved: taken.default_padding.saturating_sub(taken.padding),
            peak: taken.peak,
            at: self.node(taken.at).to_string(),
        };
        taken.iter().map(one).collect()
    }

    /// A judgement of the judge, as an answer.
    pub fn judgement(&self, lesson: &Lesson) -> Judgement {
        let changes = lesson.changed.iter().map(|change| format!("{} {}", end_name(change), change.layout));
        let named = match lesson.question {
            Question::Plan if lesson.changed.is_empty() => Some("the plan of least cost"),
            Question::Plan => None,
            own => Some(question_name(own)),
        };
        let tried: Vec<String> = named.map(str::to_string).into_iter().chain(changes).collect();
        Judgement {
            tried: tried.join(", "),
            cost: lesson.cost,
            judged: lesson.judged.as_ref().ok().copied(),
            error: lesson.judged.as_ref().err().cloned(),
            expected: lesson.expected,
            found: lesson.found,
        }
    }
}

/// The name of an argument or a result.
fn end_name(change: &EntryChange) -> String {
    format!("{} {}", if change.argument { "argument" } else { "result" }, change.number)
}

/// The name of a question to a judge.
pub fn question_name(question: Question) -> &'static str {
    match question {
        Question::Plan => "plan",
        Question::Default => "default",
        Question::Auto => "auto",
        Question::Inner => "inner",
        Question::ReadBack => "read back",
    }
}

fn texts(layouts: &[PlannedLayout]) -> Vec<String> {
    layouts.iter().map(PlannedLayout::to_string).collect()
}
