//! `layout-inspect plan`: layouts for all values of an HLO module.

use clap::ValueEnum;
use layout_console::{Complaint, read};
use serde_json::{Map, Value, json};
use std::fmt::Write;
use std::time::{Duration, Instant};
use tensor_layout::hlo::Module;
use tensor_layout::plan::{Entry, LayoutPlan, Request, Unplanned, plan};
use tensor_layout::targets::Target;
use tensor_layout::text::Error;

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
        EntryOption::Fixed => Entry::Fixed,
        EntryOption::Default => Entry::Default,
        EntryOption::Free => Entry::Free,
    };
    let request = Request { entry, ..Request::default() };
    let end = options.seconds.map(|seconds| Instant::now() + Duration::from_secs_f64(seconds.clamp(0.0, 1e9)));
    let mut go_on = |_: &_| end.is_none_or(|end| Instant::now() < end);
    let found = plan(&module.graphs(), module.entry, &module.facts(), &target, &request, &mut go_on);
    let found = found.map_err(|error| match error {
        Unplanned::Wrong(Some((c, k)), error) => {
            let at = module.computations[c].instructions[k].at;
            Complaint::in_file(&options.file, &text, &[Error::at(at, error.message)])
        }
        Unplanned::Wrong(None, error) => Complaint::about(&options.file, error),
        Unplanned::Impossible(why) => Complaint::about(&options.file, why),
    })?;
    let told = Told { module: &module, target: &target, plan: &found };
    Ok(if options.json { format!("{}\n", told.json()) } else { told.text() })
}

/// A plan with the names of its values.
struct Told<'a> {
    module: &'a Module,
    target: &'a Target,
    plan: &'a LayoutPlan,
}

impl Told<'_> {
    fn name(&self, (graph, node): (usize, usize)) -> &str {
        &self.module.computations[graph].instructions[node].name
    }

    /// The name of an array: of an instruction, with the number of the part where it has several.
    fn array(&self, (graph, node, leaf): (usize, usize, usize)) -> String {
        let name = self.name((graph, node));
        let parts = tensor_layout::operations::count(&self.module.computations[graph].instructions[node].shape);
        if parts == 1 { name.to_string() } else { format!("{name}#{leaf}") }
    }

    fn json(&self) -> Value {
        let plan = self.plan;
        let texts = |layouts: &[tensor_layout::tiled::Layout]| layouts.iter().map(ToString::to_string).collect::<Vec<_>>();
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
                "wanted_by": self.name(moved.wanted_by),
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
        })
    }

    fn text(&self) -> String {
        let (plan, unit) = (self.plan, self.target.unit());
        let mut text = String::new();
        let _ = writeln!(text, "cost {} {unit}, bound {}, gap {}", plan.cost, plan.bound, plan.cost - plan.bound);
        for moved in &plan.relayouts {
            let (at, by) = (self.array(moved.at), self.name(moved.wanted_by));
            let _ = writeln!(text, "{at}: {} to {}, {} bytes, {} {unit}, wanted by {by}", moved.from, moved.to, moved.bytes, moved.cost);
        }
        text
    }
}
