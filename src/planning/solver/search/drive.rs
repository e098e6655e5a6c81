//! The phases of a search in order, and the resulting certificate.

use super::answer::{NoPlan, Options, Progress, Solution};
use super::branch::Branching;
use super::eliminate::Elimination;
use super::fitting::Fitting;
use super::local::Local;
use super::model::WorkingNetwork;
use super::order::order;
use super::pairwise::forbidden;
use super::pricing::{Finished, Pricing, all_choices, sum_of_minima};
use super::rooms::Rooms;
use crate::solver::certificate::{Certificate, Dual, ProofNode};
use crate::solver::network::CostNetwork;
use std::thread;

/// Work of the first and of the longest turn of branching and local search, in table entries; each turn is twice as
/// long as the last.
const FIRST_TURN: u64 = 1 << 16;
const LONGEST_TURN: u64 = 1 << 22;

/// The limit on entries of all tables of an elimination, in multiples of the largest table.
pub const TABLES: u64 = 8;

/// Price steps between two looks at whether more of them gain anything.
const STEPS: usize = 20;

/// Price steps between two plans that are made legal.
const STEPS_OF_FITTING: usize = 5;

/// The limit on variables for branching.
const BRANCHING: usize = 4096;

/// Sweeps before the bound is computed in integers.
const LAST_SWEEPS: usize = 50;

/// Finds a plan of least cost, as far as the limits allow, with a bound.
///
/// `watch` is called from time to time; if it returns `false`, the search ends with its best plan. For the same network
/// and options, and a `watch` that always agrees, the result is deterministic.
///
/// # Errors
/// See [`NoPlan`].
pub fn solve(
    network: &CostNetwork,
    options: &Options,
    watch: &mut dyn FnMut(&Progress) -> bool,
) -> Result<Solution, NoPlan> {
    solve_from(network, &[], options, watch)
}

/// Like [`solve`], with a known plan `start`. The result costs no more than it, and exists however early the search
/// ends. An illegal start is ignored.
///
/// # Errors
/// See [`NoPlan`].
pub fn solve_from(
    network: &CostNetwork,
    start: &[usize],
    options: &Options,
    watch: &mut dyn FnMut(&Progress) -> bool,
) -> Result<Solution, NoPlan> {
    let start = network.cost(start).ok().map(|cost| (start, cost));
    let (mut reduced, mut stopped) = (0, false);
    let model = WorkingNetwork::new(network, |entries| {
        reduced += entries;
        let cost = start.map(|(_, cost)| cost);
        stopped = !watch(&Progress { phase: "reductions", cost, bound: None, work: reduced });
        !stopped
    })?;
    let mut drive = Drive {
        network,
        model: &model,
        start,
        options,
        watch,
        reduced,
        work: 0,
        over: stopped,
        stopped,
        best: None,
        nearest: None,
        bound: None,
        proof: Vec::new(),
    };
    if !drive.stopped {
        let is_exact = drive.exact()?;
        if !is_exact && !drive.stopped {
            drive.search()?;
        }
    }
    drive.solution()
}

struct Drive<'a> {
    network: &'a CostNetwork,
    model: &'a WorkingNetwork,
    /// A known legal plan of the network, and its cost.
    start: Option<(&'a [usize], i64)>,
    options: &'a Options,
    watch: &'a mut dyn FnMut(&Progress) -> bool,
    /// Table entries visited by the reductions; the work limit applies to the search alone.
    reduced: u64,
    work: u64,
    /// `over`: the caller has ended the search. `stopped`: the caller, a limit or a small gap has.
    over: bool,
    stopped: bool,
    /// The best legal plan of the model, and its cost.
    best: Option<(Vec<u32>, i64)>,
    /// A plan without forbidden choices and pairs.
    nearest: Option<Vec<u32>>,
    /// The bound of the proof.
    bound: Option<i64>,
    proof: Vec<ProofNode>,
}

impl Drive<'_> {
    /// Reports to the caller; returns whether to continue.
    fn report(&mut self, phase: &'static str) -> bool {
        let cost = self.best.as_ref().map(|(_, cost)| *cost);
        let near = cost.zip(self.bound).is_some_and(|(cost, bound)| self.options.is_near(cost, bound));
        let progress = Progress { phase, cost, bound: self.bound, work: self.reduced.saturating_add(self.work) };
        self.over = self.over || !(self.watch)(&progress);
        self.stopped = self.stopped || self.over || near || self.work >= self.options.work;
        !self.stopped
    }

    /// Like [`Drive::report`], but only the caller can stop the phase; limits apply after it.
    fn ask(&mut self, phase: &'static str) -> bool {
        self.report(phase);
        !self.over
    }

    /// The cost to beat; above the cost of all plans if none is known.
    fn upper(&self) -> i64 {
        self.best.as_ref().map_or(self.model.largest_cost + 1, |(_, cost)| *cost)
    }

    fn take(&mut self, plan: Vec<u32>, cost: i64) {
        if cost < self.upper() {
            self.best = Some((plan, cost));
        }
    }

    /// Finds the optimum by elimination, if capacities do not matter and tables are small enough.
    fn exact(&mut self) -> Result<bool, NoPlan> {
        let entries = self.options.table_entries;
        if !self.model.moments.is_empty() {
            return Ok(false);
        }
        let Some(order) = order(&self.model.pairwise, entries, entries.saturating_mul(TABLES)) else {
            return Ok(false);
        };
        let model = self.model;
        let eliminated = Elimination::new(&model.pairwise, &order, |entries| {
            let before = self.work;
            self.work += entries;
            // Report only every 2^20 entries: small tables are many.
            if before >> 20 != self.work >> 20 {
                self.report("elimination");
            }
            !self.stopped
        });
        let Some(eliminated) = eliminated else { return Ok(false) };
        if forbidden(eliminated.minimum) {
            return Err(NoPlan::Proved { nearest: None });
        }
        self.take(eliminated.plan(), eliminated.minimum);
        self.bound = Some(eliminated.minimum);
        let eliminated = order.variables.iter().map(|v| model.names[*v as usize].0).collect();
        self.proof = vec![ProofNode::Bound(Dual { eliminated, ..Dual::default() })];
        Ok(true)
    }

    fn search(&mut self) -> Result<(), NoPlan> {
        let mut rooms = Rooms::new(self.model);
        let model = self.model;
        let go = &mut || self.ask("prices");
        let Some(mut pricing) = Pricing::new(model, all_choices(model), &rooms, &[], 0.5, go) else {
            return Err(NoPlan::Proved { nearest: None });
        };
        while !self.stopped && !pricing.settled() && !self.is_reached(&pricing) {
            for step in 0..STEPS {
                self.price(&mut pricing, &mut rooms, step % STEPS_OF_FITTING == 0);
                if !self.ask("prices") || self.is_reached(&pricing) {
                    break;
                }
            }
        }
        let finished = pricing.finish(model, &rooms, LAST_SWEEPS, &mut || self.ask("prices"));
        self.bound = Some(finished.bound);
        if finished.bound >= self.upper() && self.best.is_none() {
            return Err(self.no_plan());
        }
        if !self.stopped && finished.bound < self.upper() {
            return self.turns(&rooms, pricing, finished);
        }
        self.proof = vec![ProofNode::Bound(finished.dual)];
        Ok(())
    }

    /// Whether the bound of the prices is as near to the cost as it has to be.
    fn is_reached(&self, pricing: &Pricing) -> bool {
        let is_near = |(_, cost): &(Vec<u32>, i64)| self.options.is_near(*cost, pricing.best as i64);
        pricing.best >= self.upper() as f64 - 0.5 || self.best.as_ref().is_some_and(is_near)
    }

    /// Makes a step of the prices; `fits` is whether its plan is made legal.
    fn price(&mut self, pricing: &mut Pricing, rooms: &mut Rooms, fits: bool) {
        let target = match &self.best {
            Some((_, cost)) => *cost as f64,
            None => pricing.best.max(-1e18) + 0.2 * pricing.best.abs().min(1e18) + 1.0,
        };
        self.work += pricing.work();
        let plan = pricing.step(target);
        let cost = self.model.cost(&plan);
        if !forbidden(cost) {
            if fits {
                let mut fitting = Fitting::new(self.model, rooms, &pricing.best_prices, plan.clone());
                if fitting.run() {
                    let cost = self.model.cost(&fitting.plan);
                    self.take(fitting.plan, cost);
                }
                self.work += fitting.work;
            }
            if rooms.admit(self.model, &plan) {
                self.take(plan, cost);
            } else {
                self.nearest = Some(plan);
            }
        }
        pricing.see(rooms);
    }

    /// Branching and local search in turns.
    fn turns(&mut self, rooms: &Rooms, pricing: Pricing, finished: Finished) -> Result<(), NoPlan> {
        let prices = pricing.best_prices.clone();
        let model = self.model;
        if let Some(plan) = self.start.and_then(|(start, _)| model.narrowed(start)) {
            let cost = model.cost(&plan);
            self.take(plan, cost);
        }
        let upper = self.upper();
        let mut branching = Branching::new(model, rooms, pricing, finished, upper, &mut || self.report("search"));
        let branches = self.model.names.len() <= BRANCHING;
        let mut local: Option<Local> = None;
        let threads = self.options.threads;
        let mut turn = FIRST_TURN;
        while !self.stopped {
            if local.is_none() {
                let start = self.best.as_ref().map(|(plan, _)| plan.clone()).or_else(|| self.nearest.clone());
                local = start.map(|plan| Local::new(model, rooms, plan, 1));
                local.iter_mut().for_each(|local| local.set_prices(rooms, &prices));
            }
            let upper = self.upper();
            let mut branch = || {
                if branches {
                    branching.run(turn, upper, &mut || self.report("search"));
                }
            };
            let mut search = || local.iter_mut().for_each(|local| local.run(turn));
            // Where a thread cannot be had, one does both.
            let has_spawned = thread::scope(|scope| {
                let has_spawned = threads > 1 && thread::Builder::new().spawn_scoped(scope, &mut search).is_ok();
                branch();
                has_spawned
            });
            if !has_spawned {
                search();
            }
            self.work += 2 * turn;
            turn = (2 * turn).min(LONGEST_TURN);
            self.meet(&mut branching, &mut local);
            if branches && branching.done() {
                break;
            }
            self.report("search");
        }
        // The search is complete and found no plan.
        if branching.done() && self.best.is_none() {
            return Err(self.no_plan());
        }
        self.bound = Some(branching.bound().min(self.upper()));
        self.proof = branching.proof();
        Ok(())
    }

    /// Exchanges the best plan between branching and local search.
    fn meet(&mut self, branching: &mut Branching, local: &mut Option<Local>) {
        if let Some((plan, cost)) = &branching.found {
            self.take(plan.clone(), *cost);
        }
        if let Some(local) = local {
            let (plan, worth) = local.best();
            if worth.short == 0.0 {
                self.take(plan.to_vec(), worth.cost);
            }
            if let Some((plan, _)) = &self.best {
                local.adopt(plan);
            }
        }
        self.bound = Some(branching.bound().min(self.upper()));
    }

    fn no_plan(&self) -> NoPlan {
        let nearest = self.nearest.as_ref().and_then(|plan| self.network.cost(&self.model.lifted(plan)).err());
        NoPlan::Proved { nearest }
    }

    fn solution(self) -> Result<Solution, NoPlan> {
        let found = self.best.as_ref().map(|(plan, _)| self.model.lifted(plan));
        let found = found.map(|choices| self.network.cost(&choices).map(|cost| (choices, cost)));
        let found = found.transpose().map_err(|nearest| NoPlan::NotFound { nearest })?;
        let start = self.start.map(|(start, cost)| (start.to_vec(), cost));
        let Some((choices, cost)) = found.into_iter().chain(start).min_by_key(|(_, cost)| *cost) else {
            return Err(match self.nearest.map(|plan| self.network.cost(&self.model.lifted(&plan))) {
                Some(Err(nearest)) => NoPlan::NotFound { nearest },
                _ => NoPlan::Stopped,
            });
        };
        let (bound, proof) = match self.bound {
            Some(bound) => (bound, self.proof),
            None => {
                let bound = sum_of_minima(self.model).ok_or(NoPlan::Stopped)?;
                (bound, vec![ProofNode::Bound(Dual::default())])
            }
        };
        let reductions = self.model.reductions.clone();
        Ok(Solution { certificate: Certificate { choices, cost, bound, reductions, proof } })
    }
}
