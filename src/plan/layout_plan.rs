//! Planning a program: the plan, what it costs, and what other layouts would cost.

use super::again::made_again;
use super::classes::LayoutId;
use super::holders::HeldIn;
use super::posed::{Located, Posed, Taken};
use super::prices::Prices;
use super::program::{Doing, Program};
use super::ways::EntryLayouts;
use crate::operations::facts::Facts;
use crate::operations::graph::Graph;
use crate::solver::{CostNetwork, FORBIDDEN, NoPlan, Options, Progress, Solution, min_marginals, solve};
use crate::targets::Target;
use crate::text::Error;
use crate::tiled::layout::Layout;

/// An array of a graph: the node's graph, its number there, and which of the arrays of its results.
pub type ArrayName = (usize, usize, usize);

/// A program whose layouts are to be planned.
pub struct Planner<'a, 't> {
    posed: Posed<'a, 't>,
    network: CostNetwork,
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
    /// For each array the layouts that it is held in, the one that it is made in first. An array that is made several times
    /// has several entries.
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
    /// The nodes that take it: their graphs, and their numbers there.
    pub wanted_by: Vec<(usize, usize)>,
}

/// The layouts of an operation's arrays.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaidOut {
    /// The graph, and the number of the node in it.
    pub node: (usize, usize),
    /// In which it takes its operands.
    pub operands: Vec<Layout>,
    /// In which it makes its results.
    pub results: Vec<Layout>,
}

/// What a layout of an array would cost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alternative {
    /// The layout.
    pub layout: Layout,
    /// The cost of the best plan in which the array is made in it; `None` where there is none.
    pub cost: Option<i64>,
}

/// Why there is no plan.
#[derive(Clone, Debug)]
pub enum Unplanned {
    /// A node, if one is at fault, and what is wrong.
    Wrong(Option<(usize, usize)>, Error),
    /// No layouts are possible.
    Impossible(NoPlan),
}

impl From<Located> for Unplanned {
    fn from((node, error): Located) -> Unplanned {
        Unplanned::Wrong(Some(node), error)
    }
}

impl<'a, 't> Planner<'a, 't> {
    /// Poses the problem of the graph with number `entry`; other graphs are those that it calls.
    ///
    /// # Errors
    /// What is wrong with the program: a size without a bound, costs that do not fit in 64 bits.
    pub fn new(
        graphs: &'a [Graph],
        entry: usize,
        facts: &Facts,
        target: &'t Target,
        ends: EntryLayouts,
    ) -> Result<Planner<'a, 't>, Unplanned> {
        let program = Program::new(graphs, entry, facts).map_err(|error| Unplanned::Wrong(None, error))?;
        Planner::of_program(&program, target, ends)
    }

    /// Poses the problem of a program.
    ///
    /// # Errors
    /// Those of [`Planner::new`], and a fixed layout that has no meaning on its array.
    pub fn of_program(
        program: &Program<'a>,
        target: &'t Target,
        ends: EntryLayouts,
    ) -> Result<Planner<'a, 't>, Unplanned> {
        let program = made_again(program).map_err(|error| Unplanned::Wrong(None, error))?;
        let posed = Posed::new(program, target, ends)?;
        let network = posed.network(&Prices::new(&posed.choices.classes))?;
        Ok(Planner { posed, network })
    }

    /// The number of arrays for which layouts are chosen.
    pub fn arrays(&self) -> usize {
        self.posed.program.made.len()
    }

    /// The problem as a network of costs.
    pub fn network(&self) -> &CostNetwork {
        &self.network
    }

    /// The best plan. `go_on` is asked now and then; when it says no, the best plan so far is taken.
    ///
    /// # Errors
    /// Why there is no plan.
    pub fn plan(&self, options: &Options, go_on: &mut dyn FnMut(&Progress) -> bool) -> Result<LayoutPlan, Unplanned> {
        let solution = solve(&self.network, options, &mut |progress| go_on(progress)).map_err(Unplanned::Impossible)?;
        Ok(Telling { posed: &self.posed, prices: Prices::new(&self.posed.choices.classes), solution }.plan()?)
    }

    /// In which layouts each operation takes and makes its arrays. What is made again for each use has several entries.
    ///
    /// # Errors
    /// A cost does not fit in 64 bits.
    pub fn laid_out(&self, plan: &LayoutPlan) -> Result<Vec<LaidOut>, Unplanned> {
        let Posed { program, choices, .. } = &self.posed;
        let telling =
            Telling { posed: &self.posed, prices: Prices::new(&choices.classes), solution: plan.solution.clone() };
        let mut all: Vec<LaidOut> = Vec::with_capacity(program.instances.len());
        for instance in &program.instances {
            let results = instance.results.iter().map(|made| telling.layout(*made, telling.made_in(*made)));
            all.push(LaidOut { node: instance.node, operands: Vec::new(), results: results.collect() });
        }
        for taken in self.posed.taken() {
            let (user, made) = (taken.by.0, taken.made);
            let way = &choices.ways[user][plan.solution.choices()[user]];
            let met = self.posed.met(&telling.prices, &taken, telling.held(made), way);
            let to = met.map_err(|error| Unplanned::Wrong(Some(all[user].node), error))?.to;
            all[user].operands.push(telling.layout(made, to));
        }
        Ok(all)
    }

    /// What the layouts that the program has cost; `None` where they are not possible here.
    pub fn given(&self) -> Option<i64> {
        let Posed { program, choices, holders, .. } = &self.posed;
        let mut chosen = Vec::with_capacity(self.network.variables().len());
        for (k, instance) in program.instances.iter().enumerate() {
            let results = |way: &super::ways::Way| {
                instance.results.iter().zip(&way.results).all(|(made, id)| choices.given[*made] == *id)
            };
            let alike = |way: &super::ways::Way| {
                let same = |(made, id): (&usize, &Option<LayoutId>)| id.is_none_or(|id| choices.given[*made] == id);
                instance.operands.iter().zip(&way.operands).filter(|pair| same(*pair)).count()
            };
            let ways = choices.ways[k].iter().enumerate().filter(|(_, way)| results(way));
            chosen.push(ways.max_by_key(|(number, way)| (alike(way), std::cmp::Reverse(*number)))?.0);
        }
        for (made, holder) in holders.iter().enumerate() {
            let Some((_, states)) = holder else { continue };
            chosen.push(states.iter().position(|state| *state == (choices.given[made], None))?);
        }
        self.network.cost(&chosen).ok()
    }

    /// For each layout that an array may be made in, what the best plan with it costs; an entry for each time that the
    /// array is made. Empty where no array has this name, and where the tables would be too large.
    pub fn why(&self, name: ArrayName, options: &Options) -> Vec<Vec<Alternative>> {
        let Posed { program, choices, .. } = &self.posed;
        let all: Vec<usize> = (0..program.made.len()).filter(|made| array_name(program, *made) == name).collect();
        let variables: Vec<usize> = all.iter().map(|made| program.made[*made].by).collect();
        let Some(marginals) = min_marginals(&self.network, &variables, options) else { return Vec::new() };
        let mut found = Vec::new();
        for (made, costs) in all.iter().zip(marginals) {
            let class = &choices.classes.all[choices.class[*made]];
            let mut best = vec![None; class.layouts.len()];
            for (way, cost) in choices.ways[program.made[*made].by].iter().zip(costs) {
                let own: &mut Option<i64> = &mut best[usize::from(way.results[program.made[*made].result])];
                if cost != FORBIDDEN {
                    *own = Some(own.map_or(cost, |least| least.min(cost)));
                }
            }
            let alternative = |(layout, cost): (&Layout, Option<i64>)| Alternative { layout: layout.clone(), cost };
            let mut own: Vec<Alternative> = class.layouts.iter().zip(best).map(alternative).collect();
            own.sort_by_key(|alternative| alternative.cost.unwrap_or(i64::MAX));
            found.push(own);
        }
        found
    }
}

/// A solution as a plan.
struct Telling<'p, 'a, 't> {
    posed: &'p Posed<'a, 't>,
    prices: Prices<'p, 't>,
    solution: Solution,
}

impl Telling<'_, '_, '_> {
    fn plan(self) -> Result<LayoutPlan, Located> {
        let program = &self.posed.program;
        let mut held: Vec<Vec<LayoutId>> = (0..program.made.len()).map(|made| vec![self.made_in(made)]).collect();
        let relayouts = self.relayouts(&mut held)?;
        let mut arguments: Vec<((usize, usize), usize)> = Vec::new();
        let mut results: Vec<(usize, usize)> = Vec::new();
        for instance in &program.instances {
            match instance.doing {
                Doing::Argument(number, leaf) => arguments.push(((number, leaf), instance.results[0])),
                Doing::Result(number) => results.push((number, instance.results[0])),
                _ => {}
            }
        }
        arguments.sort_unstable();
        results.sort_unstable();
        let is_result = |made: &usize| matches!(program.instances[program.made[*made].by].doing, Doing::Result(_));
        let values = (0..program.made.len())
            .filter(|made| !is_result(made))
            .map(|made| (array_name(program, made), held[made].iter().map(|id| self.layout(made, *id)).collect()));
        Ok(LayoutPlan {
            cost: self.solution.cost(),
            bound: self.solution.bound(),
            arguments: arguments.iter().map(|(_, made)| self.layout(*made, self.made_in(*made))).collect(),
            results: results.iter().map(|(_, made)| self.layout(*made, self.made_in(*made))).collect(),
            values: values.collect(),
            relayouts,
            solution: self.solution,
        })
    }

    /// The layout that an array is made in.
    fn made_in(&self, made: usize) -> LayoutId {
        let (by, result) = (self.posed.program.made[made].by, self.posed.program.made[made].result);
        self.posed.choices.ways[by][self.solution.choices()[by]].results[result]
    }

    /// The layouts that an array is held in.
    fn held(&self, made: usize) -> HeldIn {
        match &self.posed.holders[made] {
            Some((variable, states)) => states[self.solution.choices()[*variable]],
            None => (self.made_in(made), None),
        }
    }

    fn layout(&self, made: usize, id: LayoutId) -> Layout {
        self.posed.choices.classes.all[self.posed.choices.class[made]].layouts[usize::from(id)].clone()
    }

    /// The relayouts; adds to each array the layouts that they make.
    fn relayouts(&self, held: &mut [Vec<LayoutId>]) -> Result<Vec<PlannedRelayout>, Located> {
        let program = &self.posed.program;
        let mut found = Vec::new();
        // The relayout to the second layout of an array.
        let mut second: Vec<Option<usize>> = vec![None; program.made.len()];
        for (made, number) in second.iter_mut().enumerate() {
            if let (from, Some(to)) = self.held(made) {
                let by = &program.instances[program.made[made].by];
                let cost = self.posed.held(&self.prices, made, (from, Some(to))).map_err(|error| (by.node, error))?;
                *number = Some(found.len());
                found.push(self.relayout(held, made, (from, to), cost.saturating_mul(by.times)));
            }
        }
        for taken in self.posed.taken() {
            let Taken { by: (user, _), made, times } = taken;
            let (node, state) = (program.instances[user].node, self.held(made));
            let way = &self.posed.choices.ways[user][self.solution.choices()[user]];
            let met = self.posed.met(&self.prices, &taken, state, way).map_err(|error| (node, error))?;
            if met.from != met.to {
                let cost = self.prices.relayout(self.posed.meeting(&taken), met.from, met.to);
                let cost = cost.map_err(|error| (node, error))?.saturating_mul(times);
                let mut relayout = self.relayout(held, made, (met.from, met.to), cost);
                relayout.wanted_by.push(node);
                found.push(relayout);
            } else if let Some(number) = second[made].filter(|_| met.from != state.0) {
                found[number].wanted_by.push(node);
            }
        }
        Ok(found)
    }

    fn relayout(
        &self,
        held: &mut [Vec<LayoutId>],
        made: usize,
        (from, to): (LayoutId, LayoutId),
        cost: i64,
    ) -> PlannedRelayout {
        if !held[made].contains(&to) {
            held[made].push(to);
        }
        let bytes = &self.posed.choices.classes.all[self.posed.choices.class[made]].bytes;
        PlannedRelayout {
            at: array_name(&self.posed.program, made),
            from: self.layout(made, from),
            to: self.layout(made, to),
            bytes: bytes[usize::from(from)].saturating_add(bytes[usize::from(to)]),
            cost,
            wanted_by: Vec::new(),
        }
    }
}

/// The name of an array of a program.
fn array_name(program: &Program, made: usize) -> ArrayName {
    let (graph, node) = program.instances[program.made[made].by].node;
    (graph, node, program.made[made].leaf)
}
