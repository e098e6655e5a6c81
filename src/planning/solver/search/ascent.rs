//! Lower bounds by reparametrisation: sequential tree-reweighted message passing (Kolmogorov's TRW-S).
//!
//! Costs of pairs move to the choices at their ends: `m_a(i)` and `m_b(j)` are subtracted from the pair `(i, j)` and
//! added to the choices. For any messages, the sum of the remaining minima is a lower bound. A variable takes from its
//! pairs their minimum for each choice, then gives an equal share to each link ahead. One sweep goes up through the
//! variables and one down. The bound never falls. A link ahead is as the variable left it when it was behind: what the
//! variable would take from it is known, but for the first way up, so each link is gone through once on each way.
//!
//! Floating point is enough here: the messages are rounded to integers afterwards, and the proven bound comes from the
//! integers.

use super::pairwise::{Pairwise, forbidden};

/// Costs with messages.
#[derive(Clone)]
pub struct Ascent {
    start: Vec<usize>,
    /// The costs with prices, without messages; and `theta` with them.
    base: Vec<f64>,
    pub theta: Vec<f64>,
    links: Vec<Share>,
    tables: Vec<f64>,
    pub messages: Vec<f64>,
    /// The links of each variable to lower variables, and (`up`) to higher ones.
    down: Vec<Vec<u32>>,
    up: Vec<Vec<u32>>,
    /// Whether no sweep has gone up since the messages were none.
    is_new: bool,
}

/// A link, with the offsets of its costs and of its messages to both ends.
#[derive(Clone, Copy)]
struct Share {
    ends: [u32; 2],
    table: usize,
    message: [usize; 2],
}

/// The lower of two costs, neither of which is no number: one instruction.
fn lower(a: f64, b: f64) -> f64 {
    if b < a { b } else { a }
}

/// The least of the differences of two lists, in parts that do not wait for each other.
fn least_difference(costs: &[f64], less: &[f64]) -> f64 {
    const PARTS: usize = 8;
    let (costs, less) = (costs.chunks_exact(PARTS), less.chunks_exact(PARTS));
    let rest = costs.remainder().iter().zip(less.remainder()).fold(f64::INFINITY, |least, (a, b)| lower(least, a - b));
    let mut parts = [f64::INFINITY; PARTS];
    for (costs, less) in costs.zip(less) {
        for ((part, cost), less) in parts.iter_mut().zip(costs).zip(less) {
            *part = lower(*part, cost - less);
        }
    }
    parts.into_iter().fold(rest, lower)
}

fn float(cost: i64) -> f64 {
    if forbidden(cost) { f64::INFINITY } else { cost as f64 }
}

impl Ascent {
    /// The initial state. Every choice must be possible: finite, and with a partner at each neighbour.
    pub fn new(problem: &Pairwise) -> Ascent {
        let count = problem.variables();
        let base: Vec<f64> = problem.unary.iter().map(|cost| float(*cost)).collect();
        let mut ascent = Ascent {
            start: problem.start.clone(),
            theta: base.clone(),
            base,
            links: Vec::with_capacity(problem.links.len()),
            tables: problem.tables.iter().map(|cost| float(*cost)).collect(),
            messages: Vec::new(),
            down: vec![Vec::new(); count],
            up: vec![Vec::new(); count],
            is_new: true,
        };
        let mut messages = 0;
        for (at, link) in problem.links.iter().enumerate() {
            let [a, b] = link.ends;
            let sizes = link.ends.map(|end| problem.size(end));
            ascent.links.push(Share { ends: link.ends, table: link.table, message: [messages, messages + sizes[0]] });
            messages += sizes[0] + sizes[1];
            let (low, high) = (a.min(b), a.max(b));
            ascent.up[low as usize].push(at as u32);
            ascent.down[high as usize].push(at as u32);
        }
        ascent.messages = vec![0.0; messages];
        ascent
    }

    /// The work of a sweep, in table entries.
    pub fn work(&self) -> u64 {
        2 * self.tables.len() as u64 + self.base.len() as u64
    }

    /// Replaces the costs of the choices, and keeps the messages.
    pub fn set_costs(&mut self, costs: impl Iterator<Item = f64>) {
        for ((base, theta), cost) in self.base.iter_mut().zip(&mut self.theta).zip(costs) {
            *theta += cost - *base;
            *base = cost;
        }
    }

    /// Removes all messages.
    pub fn reset(&mut self) {
        self.is_new = true;
        self.messages.fill(0.0);
        self.theta.copy_from_slice(&self.base);
    }

    /// The sum of the largest |message| of each link, which bounds the messages to one variable.
    pub fn largest(&self) -> f64 {
        let largest = |messages: &[f64]| messages.iter().fold(0.0, |most: f64, m| most.max(m.abs()));
        self.shares().map(|[a, b]| largest(a).max(largest(b))).sum()
    }

    fn size(&self, variable: u32) -> usize {
        self.start[variable as usize + 1] - self.start[variable as usize]
    }

    /// One sweep up and one down.
    pub fn sweep(&mut self) {
        let count = self.start.len() - 1;
        let (up, down) = (std::mem::take(&mut self.up), std::mem::take(&mut self.down));
        let mut least = Vec::new();
        for v in 0..count {
            if self.is_new {
                up[v].iter().for_each(|link| self.pull(v as u32, *link as usize, &mut least));
            }
            self.pass(v as u32, &up[v], &down[v], &mut least);
        }
        self.is_new = false;
        for v in (0..count).rev().skip(1) {
            self.pass(v as u32, &down[v], &up[v], &mut least);
        }
        (self.up, self.down) = (up, down);
    }

    fn pass(&mut self, variable: u32, ahead: &[u32], behind: &[u32], least: &mut Vec<f64>) {
        for link in behind {
            self.pull(variable, *link as usize, least);
        }
        let share = 1.0 / ahead.len().max(behind.len()).max(1) as f64;
        let theta = self.start[variable as usize]..self.start[variable as usize + 1];
        let size = theta.len();
        for link in ahead {
            let link = self.links[*link as usize];
            let end = usize::from(link.ends[1] == variable);
            let messages = &mut self.messages[link.message[end]..link.message[end] + size];
            for (message, theta) in messages.iter_mut().zip(&self.theta[theta.clone()]) {
                *message -= share * theta;
            }
        }
        let kept = 1.0 - share * ahead.len() as f64;
        self.theta[theta].iter_mut().for_each(|theta| *theta *= kept);
    }

    /// Moves the minimum of each choice's pairs to the choice.
    fn pull(&mut self, variable: u32, link: usize, least: &mut Vec<f64>) {
        let Share { ends, table, message } = self.links[link];
        let [rows, columns] = ends.map(|end| self.size(end));
        let costs = &self.tables[table..table + rows * columns];
        let (to_a, to_b) = self.messages[message[0]..message[1] + columns].split_at_mut(rows);
        least.clear();
        let to = if ends[0] == variable {
            least.extend(costs.chunks(columns).map(|row| least_difference(row, to_b)));
            to_a
        } else {
            least.resize(columns, f64::INFINITY);
            for (row, m) in costs.chunks(columns).zip(&*to_a) {
                least.iter_mut().zip(row).for_each(|(least, cost)| *least = lower(*least, cost - m));
            }
            to_b
        };
        let theta = &mut self.theta[self.start[variable as usize]..self.start[variable as usize + 1]];
        for ((message, theta), least) in to.iter_mut().zip(theta).zip(&*least) {
            *theta += least - *message;
            *message = *least;
        }
    }

    /// The sum of the minima.
    pub fn bound(&self) -> f64 {
        let unary = (0..self.start.len() - 1).map(|v| {
            self.theta[self.start[v]..self.start[v + 1]].iter().fold(f64::INFINITY, |least, cost| least.min(*cost))
        });
        unary.sum::<f64>() + self.links.iter().map(|link| self.least_pair(link)).sum::<f64>()
    }

    fn least_pair(&self, link: &Share) -> f64 {
        let [rows, columns] = link.ends.map(|end| self.size(end));
        let to_a = &self.messages[link.message[0]..link.message[0] + rows];
        let to_b = &self.messages[link.message[1]..link.message[1] + columns];
        let rows = self.tables[link.table..link.table + rows * columns].chunks(columns).zip(to_a);
        rows.fold(f64::INFINITY, |least, (row, a)| lower(least, least_difference(row, to_b) - a))
    }

    /// A greedy plan: for each variable in order, the cheapest choice given those before it.
    pub fn plan(&self) -> Vec<u32> {
        let mut plan: Vec<u32> = Vec::with_capacity(self.start.len() - 1);
        let mut costs = Vec::new();
        for v in 0..self.start.len() - 1 {
            costs.clear();
            costs.extend_from_slice(&self.theta[self.start[v]..self.start[v + 1]]);
            for link in &self.down[v] {
                let Share { ends: [a, b], table, message } = self.links[*link as usize];
                let columns = self.size(b);
                if b as usize == v {
                    let i = plan[a as usize] as usize;
                    let row = &self.tables[table + i * columns..table + (i + 1) * columns];
                    let messages = &self.messages[message[1]..message[1] + columns];
                    costs.iter_mut().zip(row).zip(messages).for_each(|((sum, cost), m)| *sum += cost - m);
                } else {
                    let j = plan[b as usize] as usize;
                    let column = self.tables[table + j..].iter().step_by(columns);
                    let messages = &self.messages[message[0]..message[1]];
                    costs.iter_mut().zip(column).zip(messages).for_each(|((sum, cost), m)| *sum += cost - m);
                }
            }
            let best = (0..costs.len()).min_by(|a, b| costs[*a].total_cmp(&costs[*b])).unwrap_or(0);
            plan.push(best as u32);
        }
        plan
    }

    /// The messages of each link to both ends, in the order of the problem's links.
    pub fn shares(&self) -> impl Iterator<Item = [&[f64]; 2]> {
        self.links.iter().map(|link| {
            let sizes = link.ends.map(|end| self.size(end));
            [0, 1].map(|end| &self.messages[link.message[end]..link.message[end] + sizes[end]])
        })
    }
}
