//! Branch and bound: if the bound of a dual is below the cost of the best plan, the choices of a variable are split
//! into two subproblems, recursively.
//!
//! Prices of a subproblem start from the parent's. Choices whose bound reaches the cost of the best plan are excluded
//! before a split. The open problem with the lowest bound is split next. The least bound of all open problems bounds
//! the whole, and grows with each split, so a stopped search still has a better bound than its first dual.

use super::model::WorkingNetwork;
use super::pairwise::forbidden;
use super::pricing::{Domains, Finished, Pricing};
use super::rooms::Rooms;
use crate::solver::certificate::{Dual, Multiplier, ProofNode};
use std::collections::BTreeMap;

/// The limit on price steps in a subproblem.
const STEPS: usize = 150;

/// Sweeps before the bound is computed in integers.
const LAST_SWEEPS: usize = 10;

/// The limit on numbers in a proof; the search stops above it.
const LARGEST_PROOF: usize = 1 << 26;

/// A visited problem, a part of its parent.
struct Subproblem {
    /// The bound of its dual.
    bound: i64,
    dual: Dual,
    /// The cost at or above which choices were excluded, if any were.
    limit: Option<i64>,
    /// The sets of choices of a variable, one for each child; without a branch there is at most one child.
    branch: Option<ProofNode>,
    children: Vec<usize>,
}

/// A problem to split.
struct Open {
    domains: Domains,
    prices: Vec<f64>,
    variable: u32,
    parts: [Vec<u32>; 2],
}

pub struct Branching<'a> {
    model: &'a WorkingNetwork,
    pub rooms: Rooms,
    /// The first node is the whole; children come after their parents.
    nodes: Vec<Subproblem>,
    /// By bound and node number.
    open: BTreeMap<(i64, usize), Open>,
    /// The count of numbers in the duals.
    size: usize,
    /// The best plan found by branching, and its cost.
    pub found: Option<(Vec<u32>, i64)>,
    pub work: u64,
    /// Whether the caller stopped the search before it was complete.
    stopped: bool,
}

/// A callback that answers whether to continue.
pub type Go<'g> = dyn FnMut() -> bool + 'g;

impl<'a> Branching<'a> {
    /// Starts from a dual of the whole problem.
    pub fn new(
        model: &'a WorkingNetwork,
        rooms: &Rooms,
        pricing: Pricing,
        finished: Finished,
        upper: i64,
        go: &mut Go,
    ) -> Branching<'a> {
        let (nodes, open) = (Vec::new(), BTreeMap::new());
        let rooms = rooms.clone();
        let mut all = Branching { model, rooms, nodes, open, size: 0, found: None, work: 0, stopped: false };
        if let Some((domains, prices)) = all.place(pricing, finished, i64::MIN, upper) {
            all.consider(domains, prices, i64::MIN, upper, true, go);
        }
        all
    }

    /// Whether the search is complete, so that the proof is whole.
    pub fn done(&self) -> bool {
        self.open.is_empty() && !self.stopped
    }

    /// The lower bound of the proof, which may be above the cost of the best plan.
    pub fn bound(&self) -> i64 {
        self.values().first().copied().unwrap_or(i64::MIN)
    }

    /// Continues for about `work` table entries; `upper` is the cost of the best plan.
    pub fn run(&mut self, work: u64, upper: i64, go: &mut Go) {
        let end = self.work + work;
        while self.work < end && self.size <= LARGEST_PROOF && !self.stopped {
            let upper = self.least(upper);
            self.open.retain(|(bound, _), _| *bound < upper);
            let Some(((least, node), open)) = self.open.pop_first() else { return };
            self.split(node, open, least, upper, go);
        }
    }

    /// The lower of `upper` and the cost of the best plan found here.
    fn least(&self, upper: i64) -> i64 {
        upper.min(self.found.as_ref().map_or(i64::MAX, |(_, cost)| *cost))
    }

    /// Visits both parts of a problem.
    fn split(&mut self, node: usize, open: Open, least: i64, upper: i64, go: &mut Go) {
        let Open { domains, prices, variable, parts } = open;
        let (name, choices) = &self.model.names[variable as usize];
        let mut named =
            parts.clone().map(|part| part.iter().map(|k| choices[*k as usize] as usize).collect::<Vec<usize>>());
        // Choices already excluded may be in either part.
        let gone = (0..self.model.sizes[*name]).filter(|k| named.iter().all(|part| !part.contains(k)));
        let gone: Vec<usize> = gone.collect();
        named[0].extend(gone);
        self.nodes[node].branch = Some(ProofNode::Branch { variable: *name, parts: named.to_vec() });
        for part in parts {
            let child = self.nodes.len();
            self.nodes[node].children.push(child);
            let mut domains = domains.clone();
            domains[variable as usize] = part;
            // The first part may have found a better plan.
            self.consider(domains, prices.clone(), least, self.least(upper), false, go);
        }
    }

    /// Visits a problem, and then the remainder as long as exclusions shrink it much. `below`: it is the remainder of
    /// the last node. If `go` declines, the problem gets the bound of its dual at that time.
    fn consider(
        &mut self,
        mut domains: Domains,
        mut prices: Vec<f64>,
        least: i64,
        mut upper: i64,
        mut below: bool,
        go: &mut Go,
    ) {
        loop {
            let at = self.nodes.len();
            if std::mem::replace(&mut below, true) {
                self.nodes[at - 1].children.push(at);
            }
            prices.resize(self.rooms.room.len(), 0.0);
            let Some(mut pricing) = Pricing::new(self.model, domains, &self.rooms, &prices, 0.1, go) else {
                // The checker finds by itself that a variable has no choice left.
                return self.close(Dual::default(), i64::MAX);
            };
            for _ in 0..STEPS {
                self.stopped |= !go();
                if self.stopped {
                    break;
                }
                self.work += pricing.work();
                let plan = pricing.step(upper as f64);
                let cost = self.model.cost(&plan);
                if !forbidden(cost) && cost < upper && self.rooms.admit(self.model, &plan) {
                    upper = cost;
                    self.found = Some((plan, cost));
                }
                pricing.see(&self.rooms);
                if pricing.best > upper as f64 - 0.5 || pricing.settled() {
                    break;
                }
            }
            let finished = pricing.finish(self.model, &self.rooms, LAST_SWEEPS, go);
            self.work += LAST_SWEEPS as u64 * pricing.work();
            match self.place(pricing, finished, least, upper) {
                Some(rest) if !self.stopped => (domains, prices) = rest,
                _ => return,
            }
        }
    }

    /// Records a problem with its dual. Returns the remainder after exclusions, if that is much smaller.
    fn place(&mut self, pricing: Pricing, finished: Finished, least: i64, upper: i64) -> Option<(Domains, Vec<f64>)> {
        let at = self.nodes.len();
        let Finished { bound, with, dual } = finished;
        self.close(dual, bound);
        if bound >= upper {
            return None;
        }
        let before: usize = pricing.domains.iter().map(Vec::len).sum();
        let domains: Domains = (pricing.domains.iter().zip(&with))
            .map(|(domain, with)| domain.iter().zip(with).filter(|(_, with)| **with < upper).map(|(k, _)| *k).collect())
            .collect();
        let left: usize = domains.iter().map(Vec::len).sum();
        if left < before {
            self.nodes[at].limit = Some(upper);
        }
        let parts = pricing.split().map(|(variable, parts)| {
            let own = &domains[variable as usize];
            (variable, parts.map(|part| part.into_iter().filter(|k| own.contains(k)).collect::<Vec<u32>>()))
        });
        // Excluded choices may exclude more.
        let whole = parts.as_ref().is_none_or(|(_, parts)| parts.iter().all(|part| !part.is_empty()));
        if left * 10 < before * 9 || !whole || domains.iter().any(Vec::is_empty) {
            return Some((domains, pricing.best_prices));
        }
        match parts {
            None => self.only_plan(&domains, upper),
            Some((variable, parts)) => {
                let open = Open { domains, prices: pricing.best_prices, variable, parts };
                self.open.insert((bound.max(least), at), open);
            }
        }
        None
    }

    /// Closes a problem with one choice for each variable: its plan is legal and no better than the best, or exceeds a
    /// capacity, shown by a price for that moment.
    fn only_plan(&mut self, domains: &Domains, upper: i64) {
        let at = self.nodes.len();
        self.nodes[at - 1].children.push(at);
        let plan: Vec<u32> = domains.iter().map(|domain| domain[0]).collect();
        let cost = self.model.cost(&plan);
        let usage = Rooms::usage(self.model, &plan);
        let over = usage.iter().zip(&self.model.moments).map(|(used, moment)| used - moment.room);
        let Some((excess, moment)) =
            over.zip(&self.model.moments).max_by_key(|(over, _)| *over).filter(|(o, _)| *o > 0)
        else {
            if cost < upper {
                self.found = Some((plan, cost));
            }
            return self.close(Dual::default(), cost);
        };
        let price = Multiplier {
            resource: moment.resource,
            moment: moment.time,
            price: (upper - cost.min(upper)).div_euclid(excess).saturating_add(1),
        };
        self.close(Dual { prices: vec![price], ..Dual::default() }, upper.max(cost));
    }

    fn close(&mut self, dual: Dual, bound: i64) {
        self.size += dual.messages.iter().map(|m| m.to[0].len() + m.to[1].len()).sum::<usize>();
        self.nodes.push(Subproblem { bound, dual, limit: None, branch: None, children: Vec::new() });
    }

    /// The best bound of each problem, by its own dual or its children.
    fn values(&self) -> Vec<i64> {
        let mut values: Vec<i64> = self.nodes.iter().map(|node| node.bound).collect();
        for (at, node) in self.nodes.iter().enumerate().rev() {
            let parts = node.children.iter().map(|child| values[*child]).chain(node.limit).min();
            if let Some(parts) = parts.filter(|_| !node.children.is_empty()) {
                values[at] = values[at].max(parts);
            }
        }
        values
    }

    /// The proof of [`Branching::bound`], in prefix order. A problem gets its own dual if its children show no more.
    pub fn proof(self) -> Vec<ProofNode> {
        let values = self.values();
        let mut nodes: Vec<Option<Subproblem>> = self.nodes.into_iter().map(Some).collect();
        let mut proof = Vec::new();
        let mut stack = vec![0];
        while let Some(at) = stack.pop() {
            let Some(Subproblem { bound, dual, limit, branch, children }) = nodes.get_mut(at).and_then(Option::take)
            else {
                continue;
            };
            if children.is_empty() || values[at] <= bound {
                proof.push(ProofNode::Bound(dual));
                continue;
            }
            if let Some(limit) = limit {
                proof.push(ProofNode::Exclude(limit, dual));
            }
            proof.extend(branch);
            stack.extend(children.into_iter().rev());
        }
        proof
    }
}
