//! Local search: optimises one or two blocks of the plan at a time, exactly.
//!
//! A block grows from a random variable along its links; a second block starts at a variable live at the same moment,
//! so that one can make room for the other. With the rest fixed, elimination finds the block's best choices under
//! prices for capacity: the prices of the dual times a random factor, raised if the plan is over capacity. A slightly
//! worse plan is accepted at times (simulated annealing, reheated in turns).
//!
//! Plans are compared by their excess over the capacities first, in units of each capacity, then by cost. So the same
//! search finds a first legal plan.

use super::eliminate::Elimination;
use super::model::WorkingNetwork;
use super::order::order;
use super::pairwise::{Pairwise, TOP, plus};
use super::rooms::Rooms;
use crate::random::Random;

/// The limits on entries of the largest table of a block, and of all its tables.
const BLOCK_TABLE: u64 = 1 << 13;
const BLOCK_TABLES: u64 = 1 << 15;

/// The number of moves in one round of cooling.
const ROUND: u64 = 2000;

/// The excess and the cost of a plan.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Worth {
    /// The sum over moments of the use above the capacity, each divided by the capacity.
    pub short: f64,
    pub cost: i64,
}

#[derive(Clone)]
struct Standing {
    plan: Vec<u32>,
    used: Vec<i64>,
    worth: Worth,
}

pub struct Local<'a> {
    model: &'a WorkingNetwork,
    pub rooms: Rooms,
    prices: Vec<f64>,
    now: Standing,
    best: Standing,
    random: Random,
    moves: u64,
    pub work: u64,
    in_block: Vec<u32>,
}

impl<'a> Local<'a> {
    /// Starts from a plan without forbidden choices and pairs.
    pub fn new(model: &'a WorkingNetwork, rooms: &Rooms, plan: Vec<u32>, seed: u64) -> Local<'a> {
        let cost = model.cost(&plan);
        let now = Standing { plan, used: Vec::new(), worth: Worth { short: f64::INFINITY, cost } };
        let mut local = Local {
            model,
            rooms: rooms.clone(),
            prices: Vec::new(),
            best: now.clone(),
            now,
            random: Random::new(seed),
            moves: 0,
            work: 0,
            in_block: vec![u32::MAX; model.names.len()],
        };
        local.measure();
        local.best = local.now.clone();
        local
    }

    /// The best plan so far.
    pub fn best(&self) -> (&[u32], Worth) {
        (&self.best.plan, self.best.worth)
    }

    /// Continues from another plan if it is better than the best one here.
    pub fn adopt(&mut self, plan: &[u32]) {
        let before = self.now.clone();
        self.now.plan = plan.to_vec();
        self.now.worth.cost = self.model.cost(plan);
        self.measure();
        if self.now.worth < self.best.worth {
            self.best = self.now.clone();
        } else {
            self.now = before;
            self.measure();
        }
    }

    /// Takes over the prices of the moments of other rooms.
    pub fn set_prices(&mut self, rooms: &Rooms, prices: &[f64]) {
        self.prices.fill(0.0);
        for (moment, price) in rooms.moments.iter().zip(prices) {
            let at = self.rooms.add(self.model, *moment);
            self.prices.resize(self.rooms.room.len(), 0.0);
            self.prices[at] = *price;
        }
        self.measure();
        self.best.used = self.rooms.used(&self.best.plan);
        self.best.worth.short = short(&self.best.used, &self.rooms.room);
    }

    /// Measures the current plan; adds moments where it exceeds the capacity.
    fn measure(&mut self) {
        self.rooms.admit(self.model, &self.now.plan);
        self.now.used = self.rooms.used(&self.now.plan);
        self.now.worth.short = short(&self.now.used, &self.rooms.room);
        self.prices.resize(self.rooms.room.len(), 0.0);
    }

    /// Makes moves until about `work` more entries were visited.
    pub fn run(&mut self, work: u64) {
        let end = self.work + work;
        while self.work < end {
            self.try_block();
            self.moves += 1;
        }
    }

    /// The temperature: it falls within a round, from one of several heights.
    fn temperature(&self) -> f64 {
        let height = [1e-3, 1e-2, 1e-4, 3e-3][(self.moves / ROUND % 4) as usize];
        let left = 1.0 - (self.moves % ROUND) as f64 / ROUND as f64;
        height * left * left * self.best.worth.cost.unsigned_abs() as f64
    }

    fn try_block(&mut self) {
        if self.moves.is_multiple_of(ROUND) {
            self.now = self.best.clone();
            self.measure();
        }
        let block = self.block();
        let mut factor = [0.0, 0.5, 1.0, 1.0, 2.0][self.random.below(5)] * (0.5 + self.random.unit());
        if self.now.worth.short > 0.0 {
            factor += 1.0;
        }
        for _ in 0..4 {
            let Some(choices) = self.solve(&block, factor) else { return };
            if self.move_to(&block, &choices) {
                return;
            }
            factor = factor.max(0.25) * 4.0;
        }
    }

    /// A random block: variables connected by links, in one piece or two.
    fn block(&mut self) -> Vec<u32> {
        let count = self.model.names.len();
        let size = 1 + self.random.below([4, 12, 24, 40][self.random.clone().below(4)]);
        let mut block = vec![self.random.below(count) as u32];
        self.in_block[block[0] as usize] = 0;
        let second = if self.random.below(2) == 0 { size / 2 } else { usize::MAX };
        while block.len() < size.min(count) {
            let next = if block.len() == second { self.contemporary(block[0]) } else { self.neighbour(&block) };
            match next {
                Some(next) if self.in_block[next as usize] == u32::MAX => {
                    self.in_block[next as usize] = block.len() as u32;
                    block.push(next);
                }
                Some(_) => {}
                None => break,
            }
            self.work += 8;
            if self.random.below(64) == 0 {
                break;
            }
        }
        block.iter().for_each(|v| self.in_block[*v as usize] = u32::MAX);
        block
    }

    /// A variable linked to one of the block, more often to a late one.
    fn neighbour(&mut self, block: &[u32]) -> Option<u32> {
        let from = block[self.random.below(block.len()).max(self.random.below(block.len()))];
        let links = &self.model.links_of[from as usize];
        if links.is_empty() {
            return None;
        }
        let [a, b] = self.model.pairwise.links[links[self.random.below(links.len())] as usize].ends;
        Some(if a == from { b } else { a })
    }

    /// A variable live at the same time as another.
    fn contemporary(&mut self, of: u32) -> Option<u32> {
        let held = &self.rooms.held[of as usize];
        let moment = if held.is_empty() {
            self.random.below(self.rooms.moments.len().max(1)) as u32
        } else {
            held[self.random.below(held.len())].0
        };
        (0..16)
            .map(|_| self.random.below(self.model.names.len()) as u32)
            .find(|v| self.rooms.held[*v as usize].iter().any(|(at, _)| *at == moment))
    }

    /// The best choices of a block under the prices times a factor.
    fn solve(&mut self, block: &[u32], factor: f64) -> Option<Vec<u32>> {
        let (model, plan) = (self.model, &self.now.plan);
        block.iter().enumerate().for_each(|(at, v)| self.in_block[*v as usize] = at as u32);
        let mut problem = Pairwise::new();
        let mut inner = Vec::new();
        for v in block {
            let mut costs = model.pairwise.costs(*v).to_vec();
            for at in &model.links_of[*v as usize] {
                let link = model.pairwise.links[*at as usize];
                let own = usize::from(link.ends[1] == *v);
                let other = link.ends[1 - own];
                if self.in_block[other as usize] != u32::MAX {
                    if own == 0 {
                        inner.push(link);
                    }
                    continue;
                }
                let (table, width) = (model.pairwise.table(link), model.pairwise.size(link.ends[1]));
                let fixed = plan[other as usize] as usize;
                let (start, step) = if own == 0 { (fixed, width) } else { (fixed * width, 1) };
                let pairs = table[start..].iter().step_by(step);
                costs.iter_mut().zip(pairs).for_each(|(sum, cost)| *sum = plus(*sum, *cost));
            }
            for (moment, start) in &self.rooms.held[*v as usize] {
                let price = factor * self.price(*moment as usize);
                let amounts = &self.rooms.amounts[*start..start + costs.len()];
                let paid = |amount: &i64| (price * *amount as f64).min(1e15) as i64;
                costs.iter_mut().zip(amounts).for_each(|(sum, amount)| *sum = plus(*sum, paid(amount)));
            }
            self.work += costs.len() as u64;
            problem.add_variable(costs.into_iter());
        }
        for link in inner {
            problem
                .add_link(link.ends.map(|end| self.in_block[end as usize]), model.pairwise.table(link).iter().copied());
        }
        block.iter().for_each(|v| self.in_block[*v as usize] = u32::MAX);
        let order = order(&problem, BLOCK_TABLE, BLOCK_TABLES)?;
        self.work += order.entries + 32 * block.len() as u64;
        let eliminated = Elimination::new(&problem, &order, |_| true)?;
        if eliminated.minimum >= TOP / 2 { None } else { Some(eliminated.plan()) }
    }

    /// The price of a moment; a small default if the dual has none.
    fn price(&self, moment: usize) -> f64 {
        let over = self.now.used[moment] - self.rooms.room[moment];
        let room = self.rooms.room[moment].max(1) as f64;
        let own = self.now.worth.cost.unsigned_abs().max(1) as f64 / room;
        if over > 0 { self.prices[moment].max(own) } else { self.prices[moment].max(1e-4 * own) }
    }

    /// Moves a block to new choices unless the plan gets much worse; `false` if they need more capacity than before.
    fn move_to(&mut self, block: &[u32], choices: &[u32]) -> bool {
        let changed: Vec<(u32, u32)> = (block.iter().copied().zip(choices.iter().copied()))
            .filter(|(v, choice)| self.now.plan[*v as usize] != *choice)
            .collect();
        if changed.is_empty() {
            return true;
        }
        let before = (self.now.used.clone(), self.now.worth);
        let old: Vec<u32> = changed.iter().map(|(v, _)| self.now.plan[*v as usize]).collect();
        let mut cost = i128::from(before.1.cost);
        for ((v, choice), old) in changed.iter().zip(&old) {
            cost += self.change(*v, *old, *choice);
        }
        let cost = cost as i64;
        self.now.worth = Worth { short: short(&self.now.used, &self.rooms.room), cost };
        let warm = cost as f64 - before.1.cost as f64 <= -self.temperature() * self.random.unit().max(1e-9).ln();
        let fits = self.now.worth.short <= before.1.short;
        let better = self.now.worth.short < before.1.short;
        let mut taken = better || fits && warm;
        if taken && self.now.worth < self.best.worth {
            if self.now.worth.short == 0.0 && !self.rooms.admit(self.model, &self.now.plan) {
                taken = false;
            } else {
                self.best = self.now.clone();
            }
        }
        if !taken {
            changed.iter().zip(&old).for_each(|((v, _), old)| self.now.plan[*v as usize] = *old);
            (self.now.used, self.now.worth) = before;
            if self.now.used.len() < self.rooms.room.len() {
                self.measure();
                self.best.used = self.rooms.used(&self.best.plan);
            }
        }
        fits
    }

    /// Changes one choice, and returns the change in cost. Between the changes of a block, pairs may be forbidden;
    /// their costs cancel in the end.
    fn change(&mut self, variable: u32, old: u32, new: u32) -> i128 {
        let v = variable as usize;
        let costs = self.model.pairwise.costs(variable);
        let mut more = i128::from(costs[new as usize] - costs[old as usize]);
        for at in &self.model.links_of[v] {
            let link = self.model.pairwise.links[*at as usize];
            let before = self.model.pair_cost(link, &self.now.plan);
            self.now.plan[v] = new;
            more += i128::from(self.model.pair_cost(link, &self.now.plan) - before);
            self.now.plan[v] = old;
        }
        self.now.plan[v] = new;
        for (moment, start) in &self.rooms.held[v] {
            let amounts = &self.rooms.amounts[*start..];
            self.now.used[*moment as usize] += amounts[new as usize] - amounts[old as usize];
        }
        more
    }
}

fn short(used: &[i64], room: &[i64]) -> f64 {
    let over = used.iter().zip(room).filter(|(used, room)| used > room);
    over.map(|(used, room)| (used - room) as f64 / (*room).max(1) as f64).sum()
}
