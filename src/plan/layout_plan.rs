//! A plan: the layouts of all arrays of a program, and the relayouts where two meet.

use super::classes::LayoutId;
use super::posed::{Posed, Taken};
use super::prices::Prices;
use super::program::{Part, Program};
use super::ways::Entry;
use crate::operations::facts::Facts;
use crate::operations::graph::Graph;
use crate::solver::{NoPlan, Options, Progress, Solution, solve};
use crate::targets::Target;
use crate::text::Error;
use crate::tiled::layout::Layout;

/// An array of a graph: the node's graph, its number there, and which of the arrays of its results.
pub type ArrayName = (usize, usize, usize);

/// What is planned for.
#[derive(Clone, Copy, Debug, Default)]
pub struct Request {
    /// What arguments and results may be laid out in.
    pub entry: Entry,
    /// Limits of the search.
    pub options: Options,
}

/// Layouts for a program.
#[derive(Clone, Debug)]
pub struct LayoutPlan {
    /// What the program costs, in the unit of the target.
    pub cost: i64,
    /// What it costs at least, however it is laid out.
    pub bound: i64,
    /// The layouts of the arguments' arrays, in order.
    pub arguments: Vec<Layout>,
    /// The layouts of the results' arrays, in order.
    pub results: Vec<Layout>,
    /// For each array the layouts that it is held in, the one that it is made in first.
    pub values: Vec<(ArrayName, Vec<Layout>)>,
    /// Where layouts meet.
    pub relayouts: Vec<PlannedRelayout>,
    /// The proof of the bound.
    pub solution: Solution,
}

/// A relayout.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedRelayout {
    /// The array.
    pub at: ArrayName,
    /// The layout in which it is made.
    pub from: Layout,
    /// The layout in which it is taken.
    pub to: Layout,
    /// The bytes that are read and written, padding included.
    pub bytes: i64,
    /// What it costs, with what it breaks.
    pub cost: i64,
    /// The node that takes it: its graph, and its number there.
    pub wanted_by: (usize, usize),
}

/// Why there is no plan.
#[derive(Clone, Debug)]
pub enum Unplanned {
    /// A node, if one is at fault, and what is wrong.
    Wrong(Option<(usize, usize)>, Error),
    /// No layouts are possible.
    Impossible(NoPlan),
}

/// Plans the layouts of the graph with number `entry`; other graphs are those that it calls. `go_on` is asked now and then.
///
/// # Errors
/// What is wrong with the program, or why there is no plan.
pub fn plan(
    graphs: &[Graph],
    entry: usize,
    facts: &Facts,
    target: &Target,
    request: &Request,
    go_on: &mut dyn FnMut(&Progress) -> bool,
) -> Result<LayoutPlan, Unplanned> {
    let program = Program::new(graphs, entry, facts).map_err(|error| Unplanned::Wrong(None, error))?;
    let located = |(k, error): (usize, Error)| Unplanned::Wrong(Some(program.instances[k].node), error);
    let posed = Posed::new(&program, target, request.entry).map_err(located)?;
    let prices = Prices::new(&posed.choices.classes);
    let network = posed.network(&prices).map_err(located)?;
    let solution = solve(&network, &request.options, &mut |progress| go_on(progress)).map_err(Unplanned::Impossible)?;
    told(&posed, &prices, solution).map_err(located)
}

/// The plan that a solution is.
fn told(posed: &Posed, prices: &Prices, solution: Solution) -> Result<LayoutPlan, (usize, Error)> {
    let (program, classes) = (posed.program, &posed.choices.classes);
    let way = |k: usize| &posed.choices.ways[k][solution.choices()[k]];
    let layout = |made: usize, id: LayoutId| classes.all[posed.choices.class[made]].layouts[usize::from(id)].clone();
    let made_in = |made: usize| way(program.made[made].by).results[program.made[made].result];
    let mut held: Vec<Vec<LayoutId>> = (0..program.made.len()).map(|made| vec![made_in(made)]).collect();
    let mut relayouts = Vec::new();
    let mut relayout = |held: &mut Vec<Vec<LayoutId>>, made: usize, from, to, cost: i64, wanted_by| {
        if !held[made].contains(&to) {
            held[made].push(to);
        }
        let class = &classes.all[posed.choices.class[made]];
        relayouts.push(PlannedRelayout {
            at: name(program, made),
            from: layout(made, from),
            to: layout(made, to),
            bytes: class.bytes[usize::from(from)].saturating_add(class.bytes[usize::from(to)]),
            cost,
            wanted_by,
        });
    };
    for (made, holder) in posed.holders.iter().enumerate() {
        let Some((variable, states)) = holder else { continue };
        let by = program.made[made].by;
        if let (from, Some(to)) = states[solution.choices()[*variable]] {
            let cost = posed.held(prices, made, (from, Some(to))).map_err(|error| (by, error))?;
            let user = posed.users[made].first().map_or(by, |(user, _)| *user);
            let times = program.instances[by].times;
            relayout(&mut held, made, from, to, cost.saturating_mul(times), program.instances[user].node);
        }
    }
    for taken in posed.taken() {
        let Taken { by: (user, _), made, times } = taken;
        let state = match &posed.holders[made] {
            Some((variable, states)) => states[solution.choices()[*variable]],
            None => (made_in(made), None),
        };
        let found = posed.met(prices, &taken, state, way(user)).and_then(|met| {
            Ok((met, prices.relayout(posed.meeting(&taken), met.from, met.to)?))
        });
        let (met, cost) = found.map_err(|error| (user, error))?;
        if met.from != met.to {
            let wanted_by = program.instances[user].node;
            relayout(&mut held, made, met.from, met.to, cost.saturating_mul(times), wanted_by);
        }
    }
    let entry = |is: &dyn Fn(&Part) -> bool| {
        let of = program.instances.iter().filter(|instance| is(&instance.part));
        of.map(|instance| instance.results[0]).collect::<Vec<_>>()
    };
    let mut arguments: Vec<((usize, usize), usize)> = Vec::new();
    for instance in &program.instances {
        if let Part::Argument(number, leaf) = instance.part {
            arguments.push(((number, leaf), instance.results[0]));
        }
    }
    arguments.sort_unstable();
    let results = entry(&|part| matches!(part, Part::Result(_)));
    let values = (0..program.made.len())
        .filter(|made| !matches!(program.instances[program.made[*made].by].part, Part::Result(_)))
        .map(|made| (name(program, made), held[made].iter().map(|id| layout(made, *id)).collect()));
    Ok(LayoutPlan {
        cost: solution.cost(),
        bound: solution.bound(),
        arguments: arguments.iter().map(|(_, made)| layout(*made, made_in(*made))).collect(),
        results: results.iter().map(|made| layout(*made, made_in(*made))).collect(),
        values: values.collect(),
        relayouts,
        solution,
    })
}

fn name(program: &Program, made: usize) -> ArrayName {
    let (graph, node) = program.instances[program.made[made].by].node;
    (graph, node, program.made[made].leaf)
}
