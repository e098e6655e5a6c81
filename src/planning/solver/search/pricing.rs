//! Prices for capacities: the Lagrangian dual, maximised by subgradients.
//!
//! With a price for each moment where capacity may be exceeded, the rest is a problem without capacities, which
//! [`Ascent`] bounds. The bound minus the refund of the capacities, `L(prices)`, is concave. A price rises where the
//! plan of the priced problem exceeds the capacity, and falls elsewhere. The step is Polyak's,
//! `factor × (target - L) / |direction|^2`, along an average of directions. When `L` has not grown for a while, the
//! factor shrinks and the search returns to the best prices.

use super::ascent::Ascent;
use super::model::WorkingNetwork;
use super::pairwise::{Pairwise, TOP, forbidden, plus};
use super::rooms::Rooms;
use crate::solver::certificate::{Dual, Message, Multiplier};

/// The remaining choices of each variable of the model.
pub type Domains = Vec<Vec<u32>>;

/// The dual of a part of the model, with fewer choices.
pub struct Pricing {
    pub domains: Domains,
    problem: Pairwise,
    ascent: Ascent,
    held: Vec<Vec<(u32, usize)>>,
    amounts: Vec<i64>,
    room: Vec<i64>,
    /// By moment of the rooms.
    pub prices: Vec<f64>,
    pub best_prices: Vec<f64>,
    direction: Vec<f64>,
    /// The best `L` so far, in floating point.
    pub best: f64,
    factor: f64,
    since: u32,
    /// How often each choice was in the plans so far.
    seen: Vec<Vec<u32>>,
}

/// The factor shrinks after this many steps without progress.
const PATIENCE: u32 = 60;

/// Sweeps of message passing for each step of the prices.
const SWEEPS: usize = 3;

/// Sweeps before the first step of the prices.
const FIRST_SWEEPS: usize = 30;

/// The least number of sweeps before the bound is computed in integers.
const LEAST_SWEEPS: usize = 2;

/// The share of the last plan in the direction.
const AVERAGE: f64 = 0.2;

impl Pricing {
    /// Starts with `factor`, which is below 1, and removes choices without a partner. Calls `go` before each of the
    /// first sweeps. `None` if a variable has no choice left.
    pub fn new(
        model: &WorkingNetwork,
        mut domains: Domains,
        rooms: &Rooms,
        prices: &[f64],
        factor: f64,
        go: &mut dyn FnMut() -> bool,
    ) -> Option<Pricing> {
        if !consistent(model, &mut domains) {
            return None;
        }
        let problem = restricted(model, &domains);
        let mut pricing = Pricing {
            ascent: Ascent::new(&problem),
            problem,
            domains,
            held: Vec::new(),
            amounts: Vec::new(),
            room: Vec::new(),
            prices: prices.to_vec(),
            best_prices: prices.to_vec(),
            direction: Vec::new(),
            best: f64::NEG_INFINITY,
            factor,
            since: 0,
            seen: Vec::new(),
        };
        pricing.see(rooms);
        pricing.ascent.set_costs(pricing.priced(prices).into_iter());
        for _ in (0..FIRST_SWEEPS).take_while(|_| go()) {
            pricing.ascent.sweep();
        }
        Some(pricing)
    }

    /// Adds the moments that are new.
    pub fn see(&mut self, rooms: &Rooms) {
        if self.room.len() == rooms.room.len() && !self.held.is_empty() {
            return;
        }
        self.held.clear();
        self.amounts.clear();
        for (held, domain) in rooms.held.iter().zip(&self.domains) {
            let mut list = Vec::with_capacity(held.len());
            for (moment, start) in held {
                list.push((*moment, self.amounts.len()));
                self.amounts.extend(domain.iter().map(|choice| rooms.amounts[start + *choice as usize]));
            }
            self.held.push(list);
        }
        self.room = rooms.room.clone();
        self.seen.resize(self.domains.len(), Vec::new());
        for (seen, domain) in self.seen.iter_mut().zip(&self.domains) {
            seen.resize(domain.len(), 0);
        }
        for list in [&mut self.prices, &mut self.best_prices, &mut self.direction] {
            list.resize(rooms.room.len(), 0.0);
        }
    }

    pub fn work(&self) -> u64 {
        SWEEPS as u64 * self.ascent.work()
    }

    /// The costs of choices with prices.
    fn priced(&self, prices: &[f64]) -> Vec<f64> {
        let mut costs: Vec<f64> = self.problem.unary.iter().map(|cost| *cost as f64).collect();
        for (v, held) in self.held.iter().enumerate() {
            let costs = &mut costs[self.problem.start[v]..self.problem.start[v + 1]];
            for (moment, start) in held.iter().filter(|(moment, _)| prices[*moment as usize] > 0.0) {
                let amounts = &self.amounts[*start..start + costs.len()];
                let price = prices[*moment as usize];
                costs.iter_mut().zip(amounts).for_each(|(cost, amount)| *cost += price * *amount as f64);
            }
        }
        costs
    }

    /// The sum of the largest payments and the refund.
    fn load(&self) -> f64 {
        let mut most: Vec<f64> = self.room.iter().map(|room| *room as f64).collect();
        for (held, domain) in self.held.iter().zip(&self.domains) {
            for (moment, start) in held {
                let amounts = &self.amounts[*start..start + domain.len()];
                most[*moment as usize] += amounts.iter().copied().max().unwrap_or(0) as f64;
            }
        }
        most.iter().zip(&self.best_prices).map(|(most, price)| most * price).sum()
    }

    /// Makes one step of the prices towards `target`; returns the plan of the priced problem, in choices of the model.
    pub fn step(&mut self, target: f64) -> Vec<u32> {
        self.ascent.set_costs(self.priced(&self.prices).into_iter());
        (0..SWEEPS).for_each(|_| self.ascent.sweep());
        let refund: f64 = self.prices.iter().zip(&self.room).map(|(price, room)| price * *room as f64).sum();
        let value = self.ascent.bound() - refund;
        if value > self.best {
            if value > self.best + 1e-5 * (target - self.best).abs() {
                self.since = 0;
            }
            self.best = value;
            self.best_prices.copy_from_slice(&self.prices);
        }
        self.since += 1;
        let plan = self.ascent.plan();
        let mut over: Vec<f64> = self.room.iter().map(|room| -*room as f64).collect();
        for ((held, choice), seen) in self.held.iter().zip(&plan).zip(&mut self.seen) {
            seen[*choice as usize] += 1;
            for (moment, start) in held {
                over[*moment as usize] += self.amounts[start + *choice as usize] as f64;
            }
        }
        if self.since > PATIENCE {
            self.since = 0;
            self.factor *= 0.6;
            self.prices.copy_from_slice(&self.best_prices);
            self.direction.fill(0.0);
        } else {
            self.move_prices(&over, target, value);
        }
        plan.iter().zip(&self.domains).map(|(choice, domain)| domain[*choice as usize]).collect()
    }

    fn move_prices(&mut self, over: &[f64], target: f64, value: f64) {
        let mut square = 0.0;
        for ((direction, over), price) in self.direction.iter_mut().zip(over).zip(&self.prices) {
            *direction = AVERAGE * over + (1.0 - AVERAGE) * *direction;
            if *price > 0.0 || *direction > 0.0 {
                square += *direction * *direction;
            }
        }
        if square > 0.0 {
            let step = self.factor * (target - value).max(1e-6 * target.abs()) / square;
            let moves = self.prices.iter_mut().zip(&self.direction);
            moves.for_each(|(price, direction)| *price = (*price + step * direction).max(0.0));
        }
    }

    /// A variable to branch on, and its choices in two parts. The payments of its choices over the plans so far have
    /// the largest variance; the first part pays at most the mean. If payments do not differ, the most frequent choice
    /// is split from the others. `None` if no variable has two choices.
    pub fn split(&self) -> Option<(u32, [Vec<u32>; 2])> {
        let mut best: Option<(f64, u32, f64, Vec<f64>)> = None;
        for (v, (domain, seen)) in self.domains.iter().zip(&self.seen).enumerate().filter(|(_, (d, _))| d.len() > 1) {
            let mut paid = vec![0.0; domain.len()];
            for (moment, start) in &self.held[v] {
                let amounts = &self.amounts[*start..start + domain.len()];
                let price = self.best_prices[*moment as usize];
                paid.iter_mut().zip(amounts).for_each(|(paid, amount)| *paid += price * *amount as f64);
            }
            let count: f64 = seen.iter().map(|n| f64::from(*n)).sum::<f64>().max(1.0);
            let mean = paid.iter().zip(seen).map(|(paid, n)| paid * f64::from(*n)).sum::<f64>() / count;
            let spread =
                paid.iter().zip(seen).map(|(paid, n)| (paid - mean).powi(2) * f64::from(*n)).sum::<f64>() / count;
            // If payments do not differ, the least decided variable wins.
            let most = seen.iter().map(|n| f64::from(*n)).fold(0.0, f64::max) / count;
            let score = spread.sqrt() + 1e-6 * (1.0 - most) + 1e-9 * domain.len() as f64;
            if best.as_ref().is_none_or(|(other, ..)| score > *other) {
                best = Some((score, v as u32, mean, paid));
            }
        }
        let (_, variable, mean, paid) = best?;
        let domain = &self.domains[variable as usize];
        let (low, high): (Vec<usize>, Vec<usize>) = (0..domain.len()).partition(|at| paid[*at] <= mean);
        let named = |list: &[usize]| list.iter().map(|at| domain[*at]).collect();
        if low.is_empty() || high.is_empty() {
            let seen = &self.seen[variable as usize];
            let most = (0..domain.len()).max_by_key(|at| seen[*at]).unwrap_or(0);
            let rest: Vec<usize> = (0..domain.len()).filter(|at| *at != most).collect();
            return Some((variable, [named(&[most]), named(&rest)]));
        }
        Some((variable, [named(&low), named(&high)]))
    }

    /// Whether steps have become too small to gain anything.
    pub fn settled(&self) -> bool {
        self.factor < 1e-3 || self.room.is_empty() && self.since > 4
    }

    /// The dual of the best prices in integers: its bound on the cost of legal plans, and the bound with each remaining
    /// choice. A bound is [`TOP`] if no plan is legal. `go` is called before each of the last sweeps after the first
    /// [`LEAST_SWEEPS`].
    pub fn finish(
        &mut self,
        model: &WorkingNetwork,
        rooms: &Rooms,
        sweeps: usize,
        go: &mut dyn FnMut() -> bool,
    ) -> Finished {
        let load = self.load();
        // Prices diverge if no plan is legal, so they are capped.
        let cut = (1e16 / load).min(1.0);
        self.best_prices.iter_mut().for_each(|price| *price *= cut);
        // Messages of capped prices may be out of range.
        if cut < 1.0 {
            self.ascent.reset();
        }
        let shift = model.shift(load * cut + 2.0 * self.ascent.largest());
        let scale = (shift as f64).exp2();
        let whole = |cost: f64| (cost * scale).round() as i64;
        let prices: Vec<i64> = self.best_prices.iter().map(|price| whole(*price)).collect();
        let rounded: Vec<f64> = prices.iter().map(|price| *price as f64 / scale).collect();
        self.ascent.set_costs(self.priced(&rounded).into_iter());
        // Without a sweep, the messages would belong to other prices.
        for _ in (0..sweeps).take_while(|done| *done < LEAST_SWEEPS || go()) {
            self.ascent.sweep();
        }
        // Sums of rounded costs have to fit; the last sweeps seldom change that.
        if self.ascent.largest() * scale > (57f64).exp2() {
            self.ascent.reset();
        }
        let mut unary = self.charged(&prices, shift);
        let refund: i64 = prices.iter().zip(&self.room).map(|(price, room)| price * room).sum();
        let messages: Vec<[Vec<i64>; 2]> =
            self.ascent.shares().map(|ends| ends.map(|share| share.iter().map(|m| whole(*m)).collect())).collect();
        let tables = self.reparametrized(&mut unary, &messages, shift);
        let (sum, with) = self.minima(&unary, &tables);
        let whole = |sum: i64| {
            if forbidden(sum) {
                TOP
            } else {
                (sum - refund).div_euclid(1 << shift) + i64::from((sum - refund).rem_euclid(1 << shift) > 0)
            }
        };
        Finished {
            bound: whole(sum),
            with: with.into_iter().map(|list| list.into_iter().map(|more| whole(plus(sum, more))).collect()).collect(),
            dual: self.dual(model, rooms, shift, &prices, messages),
        }
    }

    /// The costs of choices with whole prices, all shifted.
    fn charged(&self, prices: &[i64], shift: u32) -> Vec<i64> {
        let mut unary: Vec<i64> = self.problem.unary.iter().map(|cost| cost << shift).collect();
        for (v, held) in self.held.iter().enumerate() {
            let costs = &mut unary[self.problem.start[v]..self.problem.start[v + 1]];
            for (moment, start) in held {
                let amounts = &self.amounts[*start..start + costs.len()];
                costs.iter_mut().zip(amounts).for_each(|(cost, amount)| *cost += prices[*moment as usize] * amount);
            }
        }
        unary
    }

    /// The tables of the links without what their messages move into the costs of choices.
    fn reparametrized(&self, unary: &mut [i64], messages: &[[Vec<i64>; 2]], shift: u32) -> Vec<Vec<i64>> {
        let mut tables = Vec::with_capacity(messages.len());
        for (link, shares) in self.problem.links.iter().zip(messages) {
            for (end, share) in link.ends.iter().zip(shares) {
                let costs = &mut unary[self.problem.start[*end as usize]..self.problem.start[*end as usize + 1]];
                costs.iter_mut().zip(share).for_each(|(cost, m)| *cost += m);
            }
            let costs = self.problem.table(*link).chunks(shares[1].len()).zip(&shares[0]).flat_map(|(row, a)| {
                let left = |(cost, b): (&i64, &i64)| if forbidden(*cost) { TOP } else { (cost << shift) - a - b };
                row.iter().zip(&shares[1]).map(left).collect::<Vec<i64>>()
            });
            tables.push(costs.collect());
        }
        tables
    }

    /// The sum of the minima, and the amount that each choice adds to it.
    fn minima(&self, unary: &[i64], tables: &[Vec<i64>]) -> (i64, Vec<Vec<i64>>) {
        let mut sum = 0;
        let mut with = Vec::with_capacity(self.domains.len());
        for v in 0..self.domains.len() {
            let costs = &unary[self.problem.start[v]..self.problem.start[v + 1]];
            let least = costs.iter().copied().min().unwrap_or(TOP);
            sum = plus(sum, least);
            with.push(costs.iter().map(|cost| cost - least).collect::<Vec<i64>>());
        }
        for (link, table) in self.problem.links.iter().zip(tables) {
            let [a, b] = link.ends.map(|end| end as usize);
            let least = table.iter().copied().min().unwrap_or(TOP);
            sum = plus(sum, least);
            let mut columns = vec![TOP; with[b].len()];
            for (row, more) in table.chunks(columns.len()).zip(&mut with[a]) {
                columns.iter_mut().zip(row).for_each(|(least, cost)| *least = (*least).min(*cost));
                *more = plus(*more, row.iter().copied().min().unwrap_or(TOP) - least);
            }
            with[b].iter_mut().zip(columns).for_each(|(more, column)| *more = plus(*more, column - least));
        }
        (sum, with)
    }

    fn dual(
        &self,
        model: &WorkingNetwork,
        rooms: &Rooms,
        shift: u32,
        prices: &[i64],
        messages: Vec<[Vec<i64>; 2]>,
    ) -> Dual {
        let full = |variable: u32, list: &[i64]| {
            let (name, choices) = &model.names[variable as usize];
            let mut all = vec![0; model.sizes[*name]];
            for (choice, value) in self.domains[variable as usize].iter().zip(list) {
                all[choices[*choice as usize] as usize] = *value;
            }
            all
        };
        let message = |(link, to): (&super::pairwise::Binary, [Vec<i64>; 2])| {
            let [a, b] = link.ends;
            let mut both = [(model.names[a as usize].0, full(a, &to[0])), (model.names[b as usize].0, full(b, &to[1]))];
            both.sort();
            let [(a, to_a), (b, to_b)] = both;
            Message { ends: [a, b], to: [to_a, to_b] }
        };
        let price = |(moment, price): (&u32, &i64)| {
            let moment = model.moments[*moment as usize];
            Multiplier { resource: moment.resource, moment: moment.time, price: *price }
        };
        Dual {
            shift,
            prices: rooms.moments.iter().zip(prices).filter(|(_, price)| **price > 0).map(price).collect(),
            // Messages between variables with one choice each change nothing.
            messages: (self.problem.links.iter().zip(messages))
                .filter(|(_, [a, b])| a.len() * b.len() > 1)
                .map(message)
                .collect(),
            eliminated: Vec::new(),
        }
    }
}

/// The sum of the least costs of all variables and pairs: a lower bound without any dual. `None` if no plan is legal.
pub fn sum_of_minima(model: &WorkingNetwork) -> Option<i64> {
    let mut domains = all_choices(model);
    if !consistent(model, &mut domains) {
        return None;
    }
    let problem = restricted(model, &domains);
    let least = |costs: &[i64]| costs.iter().copied().min().unwrap_or(TOP);
    let unary = (0..problem.variables() as u32).map(|variable| least(problem.costs(variable)));
    let pairs = problem.links.iter().map(|link| least(problem.table(*link)));
    Some(unary.chain(pairs).fold(0, plus)).filter(|sum| !forbidden(*sum))
}

/// All choices of the model.
pub fn all_choices(model: &WorkingNetwork) -> Domains {
    model.names.iter().map(|(_, choices)| (0..choices.len() as u32).collect()).collect()
}

/// A dual in integers.
pub struct Finished {
    pub bound: i64,
    /// The bound with each choice, by variable and position in its domain.
    pub with: Vec<Vec<i64>>,
    pub dual: Dual,
}

/// Removes choices without a partner at some neighbour until none are left; `false` if a variable has no choice left.
fn consistent(model: &WorkingNetwork, domains: &mut Domains) -> bool {
    let mut queue: std::collections::VecDeque<u32> = (0..domains.len() as u32).collect();
    let mut queued = vec![true; domains.len()];
    while let Some(variable) = queue.pop_front() {
        queued[variable as usize] = false;
        for link in &model.links_of[variable as usize] {
            let link = model.pairwise.links[*link as usize];
            let table = model.pairwise.table(link);
            let width = model.pairwise.size(link.ends[1]);
            let own = usize::from(link.ends[1] == variable);
            let other = link.ends[1 - own] as usize;
            let at = |i: u32, j: u32| {
                if own == 0 { i as usize * width + j as usize } else { j as usize * width + i as usize }
            };
            let mine = std::mem::take(&mut domains[variable as usize]);
            let before = domains[other].len();
            domains[other].retain(|j| mine.iter().any(|i| !forbidden(table[at(*i, *j)])));
            let after = domains[other].len();
            domains[variable as usize] = mine;
            if after == 0 {
                return false;
            }
            if after < before && !std::mem::replace(&mut queued[other], true) {
                queue.push_back(other as u32);
            }
        }
    }
    domains.iter().all(|domain| !domain.is_empty())
}

/// The model restricted to the choices of the domains.
fn restricted(model: &WorkingNetwork, domains: &Domains) -> Pairwise {
    let mut problem = Pairwise::new();
    for (v, domain) in domains.iter().enumerate() {
        let costs = model.pairwise.costs(v as u32);
        problem.add_variable(domain.iter().map(|choice| costs[*choice as usize]));
    }
    for link in &model.pairwise.links {
        let (table, width) = (model.pairwise.table(*link), model.pairwise.size(link.ends[1]));
        let [rows, columns] = link.ends.map(|end| &domains[end as usize]);
        let costs = rows.iter().flat_map(|i| columns.iter().map(|j| table[*i as usize * width + *j as usize]));
        problem.add_link(link.ends, costs);
    }
    problem
}
