//! `layout-inspect plan`: layouts for all values of an HLO module.

pub mod answer;
mod judge;
pub mod proof;
mod shardings;
pub mod spread;
pub mod text;
mod why;

use crate::clock::Clock;
use crate::machine::accepted;
use crate::numbers;
use crate::schedule::{OrderedModule, ScheduleOption};
use answer::{DoubtAnswer, LeftAnswer, Names, PlanAnswer, SearchEnd};
use clap::ValueEnum;
use clap::builder::NonEmptyStringValueParser;
use judge::JudgeCommand;
use layout_console::{Complaint, check_output, read, warn};
use layout_plan::plan::sharding::{Home, Levels};
use layout_plan::plan::{
    Alternative, EntryLayouts, EntryOrders, GoOn, JudgedPlan, LayoutPlan, Planner, Program, Residence, SpaceLimit,
    TiledPlanner, Unplanned,
};
use layout_plan::solver::{Certificate, LARGEST_SUM, Marginal, Progress};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::PathBuf;
use tensor_layout::hlo::Module;
use tensor_layout::operations::{Facts, Graph};
use tensor_layout::targets::Target;
use tensor_layout::text::{Error, instead};

/// Choose a layout for every value of an HLO module, and say how far that is from the best
#[derive(clap::Args)]
pub struct PlanOptions {
    /// HLO text as XLA and JAX dump it, - for standard input
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    file: String,
    #[arg(long, value_name = "MACHINE", help = accepted("The machine"))]
    machine: String,
    /// What the arguments and results of the program may be laid out in
    #[arg(long, value_enum, default_value = "default")]
    entry: EntryOption,
    /// The bytes that a memory may take at once, all arrays together: vmem=16MiB, or the number of its space; none for no
    /// limits [default: those of the machine]
    #[arg(long, value_name = "SPACE=BYTES")]
    capacity: Vec<String>,
    /// The order of the instructions that is planned
    #[arg(long, value_enum, default_value = "file")]
    schedule: ScheduleOption,
    /// Leave each value in the memory that it is made in
    #[arg(long, requires = "capacity")]
    stay: bool,
    /// Leave room in the fastest memory for the smallest steps of each operation
    #[arg(long, requires = "capacity", conflicts_with = "judge")]
    room_for_steps: bool,
    /// Stop the search after so many seconds, with the best plan so far
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true)]
    seconds: Option<f64>,
    /// Write the plan with the proof of its bound into this file, for check-plan
    #[arg(long, value_name = "FILE")]
    certificate: Option<PathBuf>,
    /// Let this command price plans: it gets questions as lines of JSON and answers {"cost":n} or {"error":".."}
    #[arg(long, value_name = "COMMAND", value_parser = NonEmptyStringValueParser::new())]
    judge: Option<String>,
    /// The most questions that the judge is asked
    #[arg(long, value_name = "N", default_value_t = 16, requires = "judge")]
    judgements: usize,
    /// Say beside the plan what the layouts that the file has would cost and copy
    #[arg(long)]
    compare: bool,
    /// Say what each layout of this instruction would cost, all others chosen anew
    #[arg(long, value_name = "NAME", conflicts_with_all = ["json", "judge", "compare", "certificate"])]
    why: Option<String>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

impl PlanOptions {
    /// Complains about options that have no meaning on a machine with places.
    fn check_places(&self, target: &Target) -> Result<(), Complaint> {
        let given = [
            ("--entry fixed", self.entry == EntryOption::Fixed, spread::NO_FILE_LAYOUTS),
            ("--judge", self.judge.is_some(), spread::NO_JUDGE),
            ("--compare", self.compare, spread::NO_FILE_LAYOUTS),
        ];
        spread::only(target, &given).map_err(|error| Complaint::new(error.message))?;
        if spread::has_places(target)
            && let Err(error) = Levels::new(target.machine())
        {
            return Err(Complaint::in_argument(&self.machine, &error.with_offset(Some(0))));
        }
        Ok(())
    }

    /// The capacities.
    fn capacities(&self, target: &Target) -> Result<Capacities, Complaint> {
        let found = Capacities::parse(target, &self.capacity);
        let found = found.map_err(|(text, error)| Complaint::in_argument(&text, &error))?;
        Ok(Capacities { stay: self.stay, ..found })
    }

    /// Writes the proof of a plan, if asked. `stay` is whether values stay in the memories that they are made in.
    fn prove(
        &self,
        (limits, stay, orders): (&[SpaceLimit], bool, &Orders),
        offered: &[EntryOrders],
        plan: &PlanAnswer,
        certificate: &Certificate,
    ) -> Result<(), Complaint> {
        let Some(file) = &self.certificate else { return Ok(()) };
        let capacities = limits.iter().map(|limit| (limit.space, limit.bytes)).collect();
        let machine = self.machine.clone();
        let (entry, orders, plan) = (self.entry, orders.clone(), plan.provable());
        let proved = proof::Proved { machine, entry, offered: offered.to_vec(), capacities, stay, orders, plan };
        proof::save(file, &proved, certificate)
    }
}

/// What the arguments and results of a program may be laid out in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum EntryOption {
    /// In the layouts that the file gives
    Fixed,
    /// In the machine's default layouts
    #[default]
    Default,
    /// In any
    Free,
}

/// The orders of computations that differ from the file's, by the numbers of the computations.
type Orders = BTreeMap<usize, Vec<usize>>;

/// How a program is planned that does not fit.
const LIFTED: &str = "the capacity `none` plans without limits";

/// The most relayouts, dearest first, for which the cost of doing without is computed.
const EXPLAINED: usize = 12;

/// The plan as text or JSON.
pub fn run(options: &PlanOptions) -> Result<String, Complaint> {
    let target = Target::parse(&options.machine).map_err(|error| Complaint::in_argument(&options.machine, &error))?;
    options.check_places(&target)?;
    options.seconds.map_or(Ok(()), check_seconds)?;
    let capacities = options.capacities(&target)?;
    options.certificate.as_ref().map_or(Ok(()), |file| check_output(file, &[&options.file]))?;
    let text = read(&options.file)?;
    let module = Module::parse(&text).map_err(|errors| Complaint::in_file(&options.file, &text, &errors))?;
    warn(&Complaint::warnings(&options.file, &text, &module.warnings));
    let ordered = OrderedModule::new(module, options.schedule);
    let ordered = ordered.map_err(|error| Complaint::in_file(&options.file, &text, &[error]))?;
    let orders = ordered.orders();
    let module = ordered.module;
    let mut clock = Clock::of_plan(options.seconds);
    let (graphs, facts) = (module.graphs(), module.facts());
    let names = Names { module: &module, target: &target };
    let wrong = |why| complaint(&options.file, &text, located(&module, &target, why));
    let request = PlanRequest { entry: options.entry, capacities: &capacities };
    let (mut judged, mut offered) = (None, Vec::new());
    let mut planner: Box<dyn Planner> = match &options.judge {
        None => posed(&names, (&graphs, &facts), request, Some(&mut clock)).map_err(wrong)?,
        Some(command) => {
            let found = tiled(&names, (&graphs, &facts), request, &mut |progress| clock.go_on(progress));
            let mut planner = found.map_err(wrong)?;
            costs_are_known(&planner, &mut clock);
            if !capacities.are_kept(&planner).map_err(wrong)? {
                plan_in_memories(&mut planner, &capacities, &mut clock).map_err(wrong)?;
            }
            judged = Some(judge_plans(&names, &mut planner, command, options.judgements, &mut clock)?.map_err(wrong)?);
            offered = planner.offered().to_vec();
            Box::new(planner)
        }
    };
    let planner = planner.as_mut();
    if judged.is_none() {
        costs_are_known(planner, &mut clock);
    }
    if let Some(name) = &options.why {
        // On places, what operations bring takes room, too, and that is known of a plan only.
        let is_asked = options.room_for_steps || spread::has_places(&target) && !capacities.limits.is_empty();
        if is_asked || !capacities.are_kept(planner).map_err(wrong)? {
            best_plan(planner, &capacities, options.room_for_steps, &mut clock).map_err(wrong)?;
        }
        let mut ask = |at| {
            let found = planner.why(at, &clock.options(), &mut |progress| clock.go_on(progress));
            let text = |own: Alternative| (own.layout.to_string(), own.best);
            found.into_iter().map(|own| own.into_iter().map(text).collect()).collect()
        };
        return why::text(&names, &mut ask, name).map_err(|error| Complaint::about(&options.file, error));
    }
    let (plan, mut answer) = match judged {
        None => plan_of(&names, planner, &capacities, options.room_for_steps, &mut clock).map_err(wrong)?,
        Some(JudgedPlan { mut plan, inner, least, lessons, .. }) => {
            let search = SearchEnd::of(least, plan.bound, &clock);
            let mut answer = described(&names, planner, (&mut plan, search), &clock).map_err(wrong)?;
            answer.inner = inner;
            answer.judged = Some(lessons.iter().map(|lesson| names.judgement(lesson)).collect());
            (plan, answer)
        }
    };
    answer.schedule = options.schedule;
    // On places, values do not change their memory.
    let stay = options.stay && !spread::has_places(&target);
    options.prove((planner.capacities(), stay, &orders), &offered, &answer, &plan.solution.certificate)?;
    if options.compare {
        match compared(&names, (&graphs, &facts), planner, &capacities, &mut clock) {
            Ok(given) => answer.compare = Some(Box::new(given)),
            Err(Unplanned::Wrong(Some(at), error)) if !spread::has_places(&target) => {
                let message = format!("the layouts of the file are not compared: {}", error.message);
                let at = module.computations[at.0].instructions[at.1].at;
                warn(&Complaint::warnings(&options.file, &text, &[Error::at(at, message)]));
            }
            Err(why) => return Err(wrong(why)),
        }
    }
    Ok(if options.json { format!("{}\n", json(&answer)) } else { text::text(&answer) })
}

/// The request to a planner.
#[derive(Clone, Copy)]
pub struct PlanRequest<'q> {
    /// The layouts that arguments and results may have.
    pub entry: EntryOption,
    /// The capacities that a plan keeps.
    pub capacities: &'q Capacities,
}

/// The answer to a request, with the plan of the layouts of the text if it is to be compared.
///
/// # Errors
/// There is no plan, or the layouts of the text are none.
pub fn planned(
    names: &Names,
    request: PlanRequest,
    (room_for_steps, compare): (bool, bool),
    clock: &mut Clock,
) -> Result<PlanAnswer, Unplanned> {
    let (graphs, facts) = (names.module.graphs(), names.module.facts());
    let mut planner = posed(names, (&graphs, &facts), request, Some(&mut *clock))?;
    let (_, mut answer) = plan_of(names, planner.as_mut(), request.capacities, room_for_steps, clock)?;
    if compare {
        let given = compared(names, (&graphs, &facts), planner.as_ref(), request.capacities, clock)?;
        answer.compare = Some(Box::new(given));
    }
    Ok(answer)
}

/// The answer of the plan that the layouts of the text are: those of its shardings, on a machine with places.
///
/// # Errors
/// They are no plan.
fn compared(
    names: &Names,
    (graphs, facts): (&[Graph], &Facts),
    planner: &dyn Planner,
    capacities: &Capacities,
    clock: &mut Clock,
) -> Result<PlanAnswer, Unplanned> {
    if let Some(given) = planner.given_plan()? {
        return Ok(names.answer(&given, Some(&[])));
    }
    let mut planner = spread::given(names, (graphs, facts), &capacities.limits, clock)?;
    Ok(plan_of(names, &mut planner, capacities, false, clock)?.1)
}

/// Complains about seconds that are negative or not finite.
pub fn check_seconds(seconds: f64) -> Result<(), Complaint> {
    if seconds.is_finite() && seconds >= 0.0 {
        return Ok(());
    }
    Err(Complaint::new(format!("expected a number of seconds from 0, found `{seconds}`")))
}

/// The best plan and its answer; with `room_for_steps`, among plans that leave room for the smallest steps of each
/// operation.
///
/// # Errors
/// There is no plan.
pub fn plan_of(
    names: &Names,
    planner: &mut dyn Planner,
    capacities: &Capacities,
    room_for_steps: bool,
    clock: &mut Clock,
) -> Result<(LayoutPlan, PlanAnswer), Unplanned> {
    let mut plan = best_plan(planner, capacities, room_for_steps, clock)?;
    let search = SearchEnd::of(plan.cost, plan.bound, clock);
    let mut answer = described(names, planner, (&mut plan, search), clock)?;
    let (rest, work) = clock.after();
    let go_on = &mut |progress: &Progress| rest.has_time() && progress.work < work;
    let doubt = planner.doubt(&plan, &clock.options(), go_on);
    answer.doubt = doubt.map(|doubt| DoubtAnswer::new(&doubt, &answer.entry));
    Ok((plan, answer))
}

/// The best plan within the capacities; with `room_for_steps`, among plans that leave room for the smallest steps of each
/// operation.
fn best_plan(
    planner: &mut dyn Planner,
    capacities: &Capacities,
    room_for_steps: bool,
    clock: &mut Clock,
) -> Result<LayoutPlan, Unplanned> {
    let plan = plan_in_memories(planner, capacities, clock)?;
    if !room_for_steps {
        return Ok(plan);
    }
    loop {
        let plan = planner.plan_in_steps(&clock.options(), &mut |progress| clock.go_on(progress))?;
        let over = if capacities.unlimited { Vec::new() } else { planner.exceeded(&plan) };
        if over.is_empty() {
            return Ok(plan);
        }
        planner.limit(&over, capacities.residence(), &mut |progress| clock.go_on(progress))?;
    }
}

/// The best plan within the capacities, also those of the machine: they are added where the best plan without them
/// exceeds them, so a plan that fits is the same with and without.
fn plan_in_memories(
    planner: &mut dyn Planner,
    capacities: &Capacities,
    clock: &mut Clock,
) -> Result<LayoutPlan, Unplanned> {
    let options = clock.options();
    if capacities.are_kept(planner)? {
        return planner.plan(&options, &mut |progress| clock.go_on(progress));
    }
    let mut first = clock.half();
    let plan = planner.plan(&first.options(), &mut |progress| first.go_on(progress))?;
    clock.resume(&first);
    let mut over = planner.exceeded(&plan);
    if over.is_empty() {
        if options.is_near(plan.cost, plan.bound) {
            return Ok(plan);
        }
        let better = planner.plan_from(&plan, &options, &mut |progress| clock.go_on(progress))?;
        return Ok(if planner.exceeded(&better).is_empty() { better } else { plan });
    }
    loop {
        planner.limit(&over, capacities.residence(), &mut |progress| clock.go_on(progress))?;
        let plan = planner.plan(&options, &mut |progress| clock.go_on(progress))?;
        over = planner.exceeded(&plan);
        if over.is_empty() {
            return Ok(plan);
        }
    }
}

/// The answer of a plan and of how its search ended.
fn described(
    names: &Names,
    planner: &dyn Planner,
    (plan, search): (&mut LayoutPlan, Option<SearchEnd>),
    clock: &Clock,
) -> Result<PlanAnswer, Unplanned> {
    let without = explained(planner, plan, clock);
    let undecided = without.iter().flatten().filter(|own| !own.is_decided).count();
    planner.add_steps(plan)?;
    let (given, warnings) = (planner.given(), names.module.warning_messages());
    let left = LeftAnswer::of(search, undecided);
    Ok(PlanAnswer { given, left, warnings, ..names.answer(plan, without.as_deref()) })
}

/// The answer with `ok`, as in the line protocol.
pub fn json(answer: &PlanAnswer) -> serde_json::Value {
    let mut object = serde_json::json!(answer);
    if let Some(object) = object.as_object_mut() {
        object.insert("ok".to_string(), true.into());
    }
    object
}

/// The planner of a request: the one place that asks whether the machine has places. Without a clock it may take any
/// time.
///
/// # Errors
/// The program, the machine, or the capacities are wrong.
pub fn posed<'p>(
    names: &Names<'p>,
    (graphs, facts): (&'p [Graph], &Facts),
    request: PlanRequest,
    clock: Option<&mut Clock>,
) -> Result<Box<dyn Planner + 'p>, Unplanned> {
    let mut clock = clock;
    let mut go_on = |progress: &Progress| clock.as_mut().is_none_or(|clock| clock.go_on(progress));
    Ok(match spread::has_places(names.target) {
        true => {
            Box::new(spread::planner(names, (graphs, facts), &|_| Home::Free, &request.capacities.limits, &mut go_on)?)
        }
        false => Box::new(tiled(names, (graphs, facts), request, &mut go_on)?),
    })
}

/// The planner of tiled layouts.
///
/// # Errors
/// The program or the capacities are wrong.
pub fn tiled<'p>(
    names: &Names<'p>,
    (graphs, facts): (&'p [Graph], &Facts),
    PlanRequest { entry, capacities }: PlanRequest,
    go_on: &mut GoOn,
) -> Result<TiledPlanner<'p, 'p>, Unplanned> {
    let ends = match entry {
        EntryOption::Fixed => EntryLayouts::Fixed,
        EntryOption::Default => EntryLayouts::Default,
        EntryOption::Free => EntryLayouts::Free,
    };
    let program = Program::new(graphs, names.module.entry, facts).map_err(|error| Unplanned::Wrong(None, error))?;
    let mut planner = TiledPlanner::of_program_within(&program, (names.target, ends), go_on)?;
    planner.limit(&capacities.limits, capacities.residence(), go_on)?;
    Ok(planner)
}

fn costs_are_known(planner: &dyn Planner, clock: &mut Clock) {
    clock.say(&format!("the costs of {} arrays are known", planner.arrays()));
}

/// The capacities that a plan keeps.
#[derive(Clone, Debug, Default)]
pub struct Capacities {
    /// The stated capacities.
    pub limits: Vec<SpaceLimit>,
    /// Whether other memories have room for anything, and not only for what the machine has.
    pub unlimited: bool,
    /// Whether each value stays in the memory that it is made in.
    pub stay: bool,
}

impl Capacities {
    /// The capacities of texts such as `vmem=16777216`, or of `none` alone.
    ///
    /// # Errors
    /// The text that is wrong, and the error with the byte at fault.
    pub fn parse(target: &Target, texts: &[String]) -> Result<Capacities, (String, Error)> {
        let mut found = Capacities::default();
        for text in texts {
            let wrong = |error: Error| (text.clone(), error);
            if text == "none" {
                found.unlimited = true;
            } else {
                let own = limit(target, text).map_err(wrong)?;
                if found.limits.iter().any(|other| other.space == own.space) {
                    let memory = target.machine().space_name(own.space);
                    return Err(wrong(Error::at(0, format!("`{memory}` must have one capacity, found two"))));
                }
                found.limits.push(own);
            }
            if found.unlimited && !found.limits.is_empty() {
                return Err(wrong(Error::at(0, "expected `none` alone, or capacities of memories")));
            }
        }
        Ok(found)
    }

    /// Whether values may change their memory.
    fn residence(&self) -> Residence {
        if self.stay { Residence::ForLife } else { Residence::OverTime }
    }

    /// Whether all plans that are asked for keep the capacities that they have to keep.
    fn are_kept(&self, planner: &dyn Planner) -> Result<bool, Unplanned> {
        Ok(self.unlimited || !planner.may_exceed()?)
    }
}

/// A capacity such as `vmem=16777216`.
///
/// # Errors
/// The text is no capacity; the error has the byte at fault.
pub fn limit(target: &Target, text: &str) -> Result<SpaceLimit, Error> {
    let Some((space, bytes)) = text.split_once('=') else {
        return Err(Error::at(text.len(), "expected `=` and the bytes of the memory, such as vmem=16MiB"));
    };
    if space.trim().is_empty() {
        return Err(Error::at(0, "expected a memory before `=`, such as vmem=16MiB"));
    }
    let memories = &target.machine().memories;
    let names: Vec<&str> = memories.iter().map(|memory| memory.name.as_str()).collect();
    let named = memories.iter().find(|memory| memory.name == space).map(|memory| memory.space);
    let Some(number) = named.or_else(|| space.parse().ok()) else {
        return Err(Error::at(0, format!("unknown memory `{space}`{}", instead(space, &names))).unknown());
    };
    target.machine().check_limits([number].into_iter()).map_err(|error| error.with_offset(Some(0)))?;
    let start = text.len() - bytes.len();
    let bytes = numbers::bytes(bytes, LARGEST_SUM);
    let bytes = bytes.map_err(|error| {
        let at = error.at.map(|at| start + at);
        error.with_offset(at)
    })?;
    Ok(SpaceLimit { space: number, bytes })
}

/// A complaint about a program without a plan, at the error's place in the file.
pub fn complaint(file: &str, text: &str, why: Error) -> Complaint {
    match why {
        error @ Error { at: Some(_), .. } => Complaint::in_file(file, text, &[error]),
        error => Complaint::about(file, error.message),
    }
}

/// The error of a program without a plan, at its byte of the text.
pub fn located(module: &Module, target: &Target, why: Unplanned) -> Error {
    let place = |(c, k): (usize, usize)| module.computations.get(c)?.instructions.get(k).map(|own| own.at);
    match why {
        Unplanned::Wrong(node, error) => error.with_offset(node.and_then(place)),
        Unplanned::Short { memory, at, least, capacity, arrays, .. } => {
            let names = Names { module, target };
            let named = |(array, bytes): &(_, i64)| format!("`{}` ({bytes})", names.array(*array));
            let most = arrays.iter().map(named).collect::<Vec<_>>().join(", ");
            let most = if most.is_empty() { most } else { format!("; most is taken by {most}") };
            let message = format!(
                "no plan fits: here `{memory}` must hold {least} bytes, {} more than its capacity {capacity}{most}; {LIFTED}",
                least - capacity
            );
            Error::new(message).with_offset(place(at))
        }
        Unplanned::Unfit(ref nearest) => Error::new(format!("{why}; {LIFTED}")).with_offset(place(nearest.at)),
        Unplanned::Undecided(Some(ref nearest)) => {
            Error::new(format!("{why}; {LIFTED}")).undecided().with_offset(place(nearest.at))
        }
        Unplanned::Undecided(None) => Error::new(why.to_string()).undecided(),
        why => Error::new(why.to_string()),
    }
}

/// The costs of plans without the dearest relayouts; `None` where the planner does not say them.
fn explained(planner: &dyn Planner, plan: &LayoutPlan, clock: &Clock) -> Option<Vec<Marginal>> {
    let mut dearest: Vec<usize> = (0..plan.relayouts.len()).collect();
    dearest.sort_by_key(|k| std::cmp::Reverse(plan.relayouts[*k].cost));
    dearest.truncate(EXPLAINED);
    let mut found = vec![Marginal::default(); plan.relayouts.len()];
    let (mut rest, mut work) = clock.after();
    for (done, k) in dearest.iter().enumerate() {
        let mut used = 0;
        let mut go_on = |progress: &Progress| {
            used = progress.work;
            rest.has_time() && used < work
        };
        found[*k] = planner.without(&plan.relayouts[*k], &clock.options(), &mut go_on)?;
        rest.say(&format!("{} of {} relayouts are explained", done + 1, dearest.len()));
        work = work.saturating_sub(used);
    }
    Some(found)
}

/// The plan that the judge prices lowest.
fn judge_plans(
    names: &Names,
    planner: &mut TiledPlanner,
    command: &str,
    most: usize,
    clock: &mut Clock,
) -> Result<Result<JudgedPlan, Unplanned>, Complaint> {
    let mut asked = JudgeCommand::new(command);
    let mut number = 0;
    // The search and the judge share the clock.
    let options = clock.options();
    let clock = RefCell::new(clock);
    let go_on = &mut |progress: &Progress| clock.borrow_mut().go_on(progress);
    let found = planner.judged(&options, most, go_on, &mut |question, plan| {
        let plan = names.answer(plan, Some(&[]));
        let said = clock.borrow_mut().without_counting(|clock| asked.ask(question, &plan, clock))?;
        number += 1;
        match &said {
            Ok(price) => eprintln!("judged {number} of {most}: {}", price.cost),
            Err(error) => eprintln!("judged {number} of {most}: {error}"),
        }
        Some(said)
    });
    match asked.broken.take() {
        Some(broken) => Err(Complaint::about(command, broken)),
        None => Ok(found),
    }
}
