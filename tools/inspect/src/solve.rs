//! `layout-inspect solve`: a plan of least cost for a problem of the ASPLOS 2025 contest on intra-operator parallelism.
//!
//! ```json
//! {"problem": {"name": "two arrays",
//!   "nodes": {"intervals": [[0, 2], [1, 3]], "costs": [[3, 0], [0, 4]], "usages": [[6, 4], [7, 6]]},
//!   "edges": {"nodes": [[0, 1]], "costs": [[0, 1000000000000000000, 5, 0]]},
//!   "usage_limit": 10}}
//! ```
//!
//! A node is a variable with a cost for each choice; its usage counts at the moments of its interval, the end excluded.
//! An edge has a cost for each pair, the choices of its first node as rows. A cost of 10^18 or more is forbidden.

use crate::clock::Clock;
use crate::plan::check_seconds;
use clap::builder::NonEmptyStringValueParser;
use layout_console::{Complaint, check_output, read, write};
use layout_plan::solver::{Certificate, CostNetwork, FORBIDDEN, Options, Solution, check, solve};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::fmt::Write;
use std::path::PathBuf;
use tensor_layout::text::Error;

/// Costs from here on are forbidden.
const INFINITE: i64 = 1_000_000_000_000_000_000;

/// Find choices of least cost for a problem in JSON, with a bound on the cost of all others
#[derive(clap::Args)]
pub struct SolveOptions {
    /// The problem, in the form of the ASPLOS 2025 contest on intra-operator parallelism; - for standard input
    #[arg(value_name = "FILE", value_parser = NonEmptyStringValueParser::new())]
    file: String,
    /// Stop after this time with the best plan so far
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true, default_value_t = 60.0)]
    seconds: f64,
    /// Threads, 1 or 2
    #[arg(long, value_name = "THREADS", default_value_t = 2, value_parser = clap::value_parser!(u8).range(1..=2))]
    threads: u8,
    /// Write the proof of the bound into this file
    #[arg(long, value_name = "FILE")]
    certificate: Option<PathBuf>,
    /// Do not search, but say whether the proof in this file holds for the problem
    #[arg(long, value_name = "FILE", value_parser = NonEmptyStringValueParser::new(), conflicts_with_all = ["certificate", "json"])]
    check: Option<String>,
    /// Print one JSON object: cost, bound, optimal, choices
    #[arg(long)]
    json: bool,
}

/// Solves the problem of a file.
pub fn run(options: &SolveOptions) -> Result<String, Complaint> {
    check_seconds(options.seconds)?;
    options.certificate.as_ref().map_or(Ok(()), |file| check_output(file, &[&options.file]))?;
    let text = read(&options.file)?;
    let network = network(&text).map_err(|error| Complaint::in_file(&options.file, &text, &[error]))?;
    drop(text);
    if let Some(file) = &options.check {
        return replay(&network, file);
    }
    let limits = Options { threads: options.threads.into(), work: u64::MAX, ..Options::default() };
    let mut clock = Clock::new(Some(options.seconds));
    let solution = solve(&network, &limits, &mut |progress| clock.go_on(progress));
    let solution = solution.map_err(|error| Complaint::about(&options.file, error))?;
    if let Some(file) = &options.certificate {
        write(file, &solution.certificate.to_string())?;
    }
    Ok(report(&solution, options.json))
}

/// Whether the proof in a file holds.
fn replay(network: &CostNetwork, file: &str) -> Result<String, Complaint> {
    let text = read(file)?;
    let certificate = Certificate::parse(&text).map_err(|error| Complaint::in_file(file, &text, &[error]))?;
    check(network, &certificate).map_err(|error| Complaint::about(file, error))?;
    Ok(format!("cost    {}\nbound   {}\nboth hold\n", certificate.cost, certificate.bound))
}

fn report(solution: &Solution, json: bool) -> String {
    let (cost, bound, optimal) = (solution.cost(), solution.bound(), solution.optimal());
    if json {
        let answer = serde_json::json!({
            "cost": cost, "bound": bound, "optimal": optimal, "choices": solution.choices(),
        });
        return format!("{answer}\n");
    }
    let mut text =
        format!("cost    {cost}\nbound   {bound}\noptimal {}\nchoices", if optimal { "yes" } else { "not proved" });
    solution.choices().iter().for_each(|choice| write!(text, " {choice}").expect("a string takes everything"));
    text + "\n"
}

#[derive(Deserialize)]
struct File<'a> {
    #[serde(borrow)]
    problem: Problem<'a>,
}

#[derive(Deserialize)]
struct Problem<'a> {
    #[serde(borrow)]
    nodes: Nodes<'a>,
    #[serde(borrow)]
    edges: Edges<'a>,
    #[serde(borrow)]
    usage_limit: &'a RawValue,
}

#[derive(Deserialize)]
struct Nodes<'a> {
    #[serde(borrow)]
    intervals: Vec<&'a RawValue>,
    #[serde(borrow)]
    costs: Vec<&'a RawValue>,
    #[serde(borrow)]
    usages: Vec<&'a RawValue>,
}

#[derive(Deserialize)]
struct Edges<'a> {
    #[serde(borrow)]
    nodes: Vec<&'a RawValue>,
    #[serde(borrow)]
    costs: Vec<&'a RawValue>,
}

/// A text that turns its parts into values, or into errors with their places.
struct Source<'a>(&'a str);

impl Source<'_> {
    fn error(&self, part: &RawValue, message: impl ToString) -> Error {
        let start = part.get().as_ptr() as usize - self.0.as_ptr() as usize;
        Error::at(start, message.to_string())
    }

    fn value<'b, T: Deserialize<'b>>(&self, part: &'b RawValue, expected: &str) -> Result<T, Error> {
        serde_json::from_str(part.get()).map_err(|_| {
            let found = part.get().chars().take(40).collect::<String>();
            self.error(part, format!("expected {expected}, found `{found}`"))
        })
    }

    fn numbers(&self, part: &RawValue) -> Result<Vec<i64>, Error> {
        self.value(part, "a list of integers")
    }

    fn costs(&self, part: &RawValue) -> Result<Vec<i64>, Error> {
        let costs = self.numbers(part)?.into_iter();
        Ok(costs.map(|cost| if cost >= INFINITE { FORBIDDEN } else { cost }).collect())
    }
}

/// The byte of a line and column, both from 1, the column in bytes.
fn offset(text: &str, line: usize, column: usize) -> usize {
    let before: usize = text.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum();
    (before + column.saturating_sub(1)).min(text.len())
}

/// The problem of a text.
///
/// # Errors
/// The text is no problem; the error has the byte at fault.
pub fn network(text: &str) -> Result<CostNetwork, Error> {
    let file: File = serde_json::from_str(text).map_err(|error| {
        let message = error.to_string();
        let message = message.split(" at line ").next().unwrap_or_default();
        Error::at(offset(text, error.line(), error.column()), message)
    })?;
    let Problem { nodes, edges, usage_limit } = file.problem;
    let source = Source(text);
    let count = nodes.costs.len();
    for (list, name) in [(&nodes.intervals, "intervals"), (&nodes.usages, "usages")] {
        if list.len() != count {
            let message = format!("expected as many `{name}` as `costs` of nodes, {count}, found {}", list.len());
            return Err(Error::new(message).with_offset(list.last().and_then(|part| source.error(part, "").at)));
        }
    }
    if edges.nodes.len() != edges.costs.len() {
        let (pairs, costs) = (edges.nodes.len(), edges.costs.len());
        let at = edges.nodes.last().and_then(|part| source.error(part, "").at);
        let message = format!("expected as many `costs` of edges as `nodes`, {pairs}, found {costs}");
        return Err(Error::new(message).with_offset(at));
    }
    let mut network = CostNetwork::new();
    for part in &nodes.costs {
        network.add_variable(source.costs(part)?).map_err(|error| source.error(part, error))?;
    }
    for (ends, costs) in edges.nodes.iter().zip(&edges.costs) {
        let [a, b]: [usize; 2] = source.value(ends, "two nodes")?;
        if let Some(wrong) = [a, b].into_iter().find(|node| *node >= count) {
            return Err(source.error(ends, format!("expected nodes below {count}, found {wrong}")));
        }
        network.add_edge(a, b, source.costs(costs)?).map_err(|error| source.error(costs, error))?;
    }
    let limit = source.value(usage_limit, "an integer")?;
    let memory = network.add_resource(limit).map_err(|error| source.error(usage_limit, error))?;
    for (node, (interval, usages)) in nodes.intervals.iter().zip(&nodes.usages).enumerate() {
        let [begin, end]: [i64; 2] = source.value(interval, "the two moments of an interval")?;
        let amounts = source.numbers(usages)?;
        if begin < end {
            network.add_occupancy(node, memory, begin..end, amounts).map_err(|error| source.error(usages, error))?;
        }
    }
    Ok(network)
}
