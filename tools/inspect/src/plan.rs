//! `layout-inspect plan`: layouts for all values of an HLO module.

use clap::ValueEnum;
use layout_console::{Complaint, read};
use serde_json::{Map, Value, json};
use std::fmt::Write;
use std::time::{Duration, Instant};
use tensor_layout::hlo::Module;
use tensor_layout::operations::count;
use tensor_layout::plan::{Alternative, EntryLayouts, LayoutPlan, Planner, Unplanned};
use tensor_layout::solver::Options;
use tensor_layout::targets::Target;
use tensor_layout::text::{Error, did_you_mean};

/// Choose a layout for every value of an HLO module, and say how far that is from the best
#[derive(clap::Args)]
pub struct PlanOptions {
    /// HLO text as XLA and JAX dump it, - for standard input
    file: String,
    /// The machine: a name such as tpu_v5e, or the text of a machine
    #[arg(long, value_name = "MACHINE")]
    machine: String,
    /// What the arguments and results of the program may be laid out in
    #[arg(long, value_enum, default_value = "default")]
    entry: EntryOption,
    /// Stop the search after so many seconds, with the best plan so far
    #[arg(long, value_name = "SECONDS")]
    seconds: Option<f64>,
    /// Say what each layout of this instruction would cost, all others chosen anew
    #[arg(long, value_name = "NAME", conflicts_with = "json")]
    why: Option<String>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// What the arguments and results of the program may be laid out in.
#[derive(Clone, Copy, ValueEnum)]
enum EntryOption {
    /// In the layouts that the file gives
    Fixed,
    /// In the machine's default layouts
    Default,
    /// In any
    Free,
}

/// The plan as text or JSON.
pub fn run(options: &PlanOptions) -> Result<String, Complaint> {
    let target = Target::parse(&options.machine).map_err(|error| Complaint::in_argument(&options.machine, &error))?;
    let text = read(&options.file)?;
    let module = Module::parse(&text).map_err(|errors| Complaint::in_file(&options.file, &text, &errors))?;
    let entry = match options.entry {
        EntryOption::Fixed => EntryLayouts::Fixed,
        EntryOption::Default => EntryLayouts::Default,
        EntryOption::Free => EntryLayouts::Free,
    };
    let complain = |error| match error {
        Unplanned::Wrong(Some((c, k)), error) => {
            let at = module.computations[c].instructions[k].at;
            Complaint::in_file(&options.file, &text, &[Error::at(at, error.message)])
        }
        Unplanned::Wrong(None, error) => Complaint::about(&options.file, error),
        Unplanned::Impossible(why) => Complaint::about(&options.file, why),
    };
    let (graphs, facts) = (module.graphs(), module.facts());
    let planner = Planner::new(&graphs, module.entry, &facts, &target, entry).map_err(complain)?;
    if let Some(name) = &options.why {
        return why(&module, &planner, name, target.unit()).map_err(|error| Complaint::about(&options.file, error));
    }
    let found = search(&planner, options.seconds).map_err(complain)?;
    let told = Told { module: &module, target: &target, plan: &found, given: planner.given() };
    Ok(if options.json { format!("{}\n", told.json()) } else { told.text() })
}

/// The best plan that is found in so many seconds.
fn search(planner: &Planner, seconds: Option<f64>) -> Result<LayoutPlan, Unplanned> {
    let end = seconds.map(|seconds| Instant::now() + Duration::from_secs_f64(seconds.clamp(0.0, 1e9)));
    planner.plan(&Options::default(), &mut |_| end.is_none_or(|end| Instant::now() < end))
}

/// The plan of a module, as JSON and as text.
///
/// # Errors
/// Those of [`Planner::new`] and [`Planner::plan`].
pub fn planned(
    module: &Module,
    target: &Target,
    entry: EntryLayouts,
    seconds: Option<f64>,
) -> Result<[String; 2], Unplanned> {
    let (graphs, facts) = (module.graphs(), module.facts());
    let planner = Planner::new(&graphs, module.entry, &facts, target, entry)?;
    let found = search(&planner, seconds)?;
    let told = Told { module, target, plan: &found, given: planner.given() };
    Ok([told.json().to_string(), told.text()])
}

/// What the layouts of an instruction would cost.
fn why(module: &Module, planner: &Planner, name: &str, unit: &str) -> Result<String, Error> {
    let name = name.trim_start_matches('%');
    let mut text = String::new();
    for (c, computation) in module.computations.iter().enumerate() {
        for (k, _) in computation.instructions.iter().enumerate().filter(|(_, own)| own.name == name) {
            for leaf in 0..count(&computation.instructions[k].shape) {
                for alternatives in planner.why((c, k, leaf), &Options::default()) {
                    let best = alternatives.first().and_then(|best| best.cost);
                    for Alternative { layout, cost } in alternatives {
                        let _ = match (cost, best) {
                            (Some(cost), Some(best)) => writeln!(text, "{layout}: {cost} {unit}, {} more", cost - best),
                            _ => writeln!(text, "{layout}: not possible"),
                        };
                    }
                }
            }
        }
    }
    if text.is_empty() {
        let all = module.computations.iter().flat_map(|computation| &computation.instructions);
        let hint = did_you_mean(name, all.map(|instruction| instruction.name.as_str()));
        return Err(Error::new(format!("no layout is chosen for an instruction `{name}`{hint}")));
    }
    Ok(text)
}

/// A plan with the names of its values.
struct Told<'a> {
    module: &'a Module,
    target: &'a Target,
    plan: &'a LayoutPlan,
    given: Option<i64>,
}

impl Told<'_> {
    fn name(&self, (graph, node): (usize, usize)) -> &str {
        &self.module.computations[graph].instructions[node].name
    }

    /// The name of an array: of an instruction, with the number of the part where it has several.
    fn array(&self, (graph, node, leaf): (usize, usize, usize)) -> String {
        let name = self.name((graph, node));
        let parts = count(&self.module.computations[graph].instructions[node].shape);
        if parts == 1 { name.to_string() } else { format!("{name}#{leaf}") }
    }

    fn json(&self) -> Value {
        let plan = self.plan;
        let texts =
            |layouts: &[tensor_layout::tiled::Layout]| layouts.iter().map(ToString::to_string).collect::<Vec<_>>();
        let mut values: Map<String, Value> = Map::new();
        for (at, layouts) in &plan.values {
            let own = values.entry(self.array(*at)).or_insert_with(|| json!([]));
            let Some(own) = own.as_array_mut() else { continue };
            for text in texts(layouts) {
                if !own.iter().any(|known| *known == json!(text)) {
                    own.push(json!(text));
                }
            }
        }
        let relayouts = plan.relayouts.iter().map(|moved| {
            json!({
                "at": self.array(moved.at),
                "from": moved.from.to_string(),
                "to": moved.to.to_string(),
                "bytes": moved.bytes,
                "cost": moved.cost,
                "wanted_by": moved.wanted_by.iter().map(|node| self.name(*node)).collect::<Vec<_>>(),
            })
        });
        json!({
            "ok": true,
            "cost": plan.cost,
            "bound": plan.bound,
            "unit": self.target.unit(),
            "entry": {"in": texts(&plan.arguments), "out": texts(&plan.results)},
            "values": values,
            "relayouts": relayouts.collect::<Vec<_>>(),
            "given": self.given,
        })
    }

    fn text(&self) -> String {
        let (plan, unit) = (self.plan, self.target.unit());
        let mut text = String::new();
        let _ = writeln!(text, "cost {} {unit}, bound {}, gap {}", plan.cost, plan.bound, plan.cost - plan.bound);
        for moved in &plan.relayouts {
            let by: Vec<&str> = moved.wanted_by.iter().map(|node| self.name(*node)).collect();
            let (at, by) = (self.array(moved.at), by.join(", "));
            let _ = writeln!(
                text,
                "{at}: {} to {}, {} bytes, {} {unit}, wanted by {by}",
                moved.from, moved.to, moved.bytes, moved.cost
            );
        }
        text
    }
}
