//! Branch and bound: where the bound of one dual is below the cost of the best plan, the choices of a variable are
//! distributed over two problems, and so on.
//!
//! In each problem the prices start from those of the one above. Choices whose bound reaches the cost of the best plan are
//! excluded before a problem is split. The problems are gone through depth first, so the proof is a list in prefix order.

use super::model::WorkingNetwork;
use super::pairwise::forbidden;
use super::pricing::{Domains, Pricing};
use super::rooms::Rooms;
use crate::solver::certificate::{Dual, Multiplier, ProofNode};

/// Steps of the prices in a problem, at most.
const STEPS: usize = 150;

/// Sweeps before bounds are taken in integers.
const LAST_SWEEPS: usize = 10;

/// Numbers in a proof, at most; a longer one is given up.
const LARGEST_PROOF: usize = 1 << 26;

/// A problem that is still to be looked at.
struct Open {
    domains: Domains,
    prices: Vec<f64>,
}

pub struct Branching<'a> {
    model: &'a WorkingNetwork,
    pub rooms: Rooms,
    stack: Vec<Open>,
    pub proof: Vec<ProofNode>,
    /// Numbers in the proof.
    size: usize,
    /// The best plan that was found here, and its cost.
    pub found: Option<(Vec<u32>, i64)>,
    pub work: u64,
}

impl<'a> Branching<'a> {
    pub fn new(model: &'a WorkingNetwork, rooms: &Rooms, domains: Domains, prices: &[f64]) -> Branching<'a> {
        let root = Open { domains, prices: prices.to_vec() };
        Branching { model, rooms: rooms.clone(), stack: vec![root], proof: Vec::new(), size: 0, found: None, work: 0 }
    }

    /// Whether everything was looked at, so that the proof is whole.
    pub fn done(&self) -> bool {
        self.stack.is_empty()
    }

    /// Whether the proof has become too long.
    pub fn hopeless(&self) -> bool {
        self.size > LARGEST_PROOF
    }

    /// Goes on for about `work` table entries; `upper` is the cost of the best plan.
    pub fn run(&mut self, work: u64, upper: i64) {
        let end = self.work + work;
        while self.work < end && !self.hopeless() {
            let Some(open) = self.stack.pop() else { return };
            self.visit(open, upper.min(self.found.as_ref().map_or(i64::MAX, |(_, cost)| *cost)));
        }
    }

    fn visit(&mut self, open: Open, mut upper: i64) {
        let Open { domains, mut prices } = open;
        prices.resize(self.rooms.room.len(), 0.0);
        let Some(mut pricing) = Pricing::new(self.model, domains, &self.rooms, &prices, 0.1) else {
            // The checker finds by itself that a variable has no choice left.
            self.emit(ProofNode::Bound(Dual::default()));
            return;
        };
        for _ in 0..STEPS {
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
        let finished = pricing.finish(self.model, &self.rooms, LAST_SWEEPS);
        self.work += LAST_SWEEPS as u64 * pricing.work();
        if finished.bound >= upper {
            self.emit(ProofNode::Bound(finished.dual));
            return;
        }
        let mut left = 0;
        let before: usize = pricing.domains.iter().map(Vec::len).sum();
        let domains: Domains = (pricing.domains.iter().zip(&finished.with))
            .map(|(domain, with)| domain.iter().zip(with).filter(|(_, with)| **with < upper).map(|(k, _)| *k).collect())
            .inspect(|domain: &Vec<u32>| left += domain.len())
            .collect();
        let split = pricing.split();
        let prices = pricing.best_prices;
        if left < before {
            self.emit(ProofNode::Exclude(finished.dual));
        }
        // What was excluded may exclude more.
        if left * 10 < before * 9 {
            self.stack.push(Open { domains, prices });
            return;
        }
        let Some((variable, parts)) = split else { return self.only_plan(&domains, upper) };
        let parts =
            parts.map(|part| part.into_iter().filter(|k| domains[variable as usize].contains(k)).collect::<Vec<u32>>());
        if parts.iter().any(Vec::is_empty) {
            self.stack.push(Open { domains, prices });
            return;
        }
        let (name, choices) = &self.model.names[variable as usize];
        let mut named =
            parts.clone().map(|part| part.iter().map(|k| choices[*k as usize] as usize).collect::<Vec<usize>>());
        // Choices that are gone may be in any part.
        let [first, second] = &mut named;
        first.extend(
            (0..self.model.sizes[*name])
                .filter(|k| !second.contains(k))
                .filter(|k| !first.contains(k))
                .collect::<Vec<usize>>(),
        );
        self.emit(ProofNode::Branch { variable: *name, parts: named.to_vec() });
        for part in parts.into_iter().rev() {
            let mut domains = domains.clone();
            domains[variable as usize] = part;
            self.stack.push(Open { domains, prices: prices.clone() });
        }
    }

    /// A problem with one choice for each variable: its plan is legal and no better than the best, or short of room, which
    /// a price for the moment shows.
    fn only_plan(&mut self, domains: &Domains, upper: i64) {
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
            return self.emit(ProofNode::Bound(Dual::default()));
        };
        let price = Multiplier {
            resource: moment.resource,
            moment: moment.time,
            price: (upper - cost.min(upper)).div_euclid(excess).saturating_add(1),
        };
        self.emit(ProofNode::Bound(Dual { prices: vec![price], ..Dual::default() }));
    }

    fn emit(&mut self, node: ProofNode) {
        if let ProofNode::Bound(dual) | ProofNode::Exclude(dual) = &node {
            self.size += dual.messages.iter().map(|m| m.to[0].len() + m.to[1].len()).sum::<usize>();
        }
        self.proof.push(node);
    }
}
