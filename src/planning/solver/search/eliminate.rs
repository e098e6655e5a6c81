//! Exact minima by variable elimination, one table for each variable.
//!
//! Eliminating `v` with neighbours `s1 .. sn` (its scope) replaces all tables that contain `v` by one over the scope:
//! `m(s1 .. sn) = min over v of their sum`. The last table, without variables, is the minimum. Backwards through the
//! order, the best choice of `v` follows from the choices of its scope.
//!
//! In each table the variable that is eliminated next comes last, so its entries are contiguous.

use super::order::Order;
use super::pairwise::{Pairwise, TOP, forbidden, plus};

/// A table over some variables, row-major: the last varies fastest.
struct Factor {
    /// The variable eliminated last comes first.
    scope: Vec<u32>,
    costs: Vec<i64>,
}

/// The tables of an elimination.
pub struct Elimination<'a> {
    problem: &'a Pairwise,
    order: &'a Order,
    /// The minimum; [`TOP`] if every plan is forbidden.
    pub minimum: i64,
    /// For each variable, the tables that contained it when it was eliminated.
    buckets: Vec<Vec<Factor>>,
}

impl<'a> Elimination<'a> {
    /// Eliminates all variables. Calls `go` before each with the entries of its table; `None` if `go` declines.
    pub fn new(problem: &'a Pairwise, order: &'a Order, mut go: impl FnMut(u64) -> bool) -> Option<Elimination<'a>> {
        let mut all = Elimination { problem, order, minimum: 0, buckets: buckets(problem, order) };
        for (variable, scope) in order.variables.iter().zip(&order.scopes) {
            let outer = all.entries(scope);
            if !go((outer * problem.size(*variable)) as u64) {
                return None;
            }
            let bucket = &all.buckets[*variable as usize];
            let mut costs = Vec::with_capacity(outer);
            let mut walk = all.walk(*variable, scope, &[]);
            for _ in 0..outer {
                costs.push(plus(0, walk.sum(bucket).iter().fold(TOP, |least, cost| least.min(*cost))));
                walk.step();
            }
            match scope.last() {
                None => all.minimum = plus(all.minimum, costs[0]),
                Some(next) => add(&mut all.buckets[*next as usize], Factor { scope: scope.clone(), costs }),
            }
        }
        Some(all)
    }

    /// A plan of least cost; an arbitrary plan if all are forbidden.
    pub fn plan(&self) -> Vec<u32> {
        let mut plan = vec![0; self.problem.variables()];
        for (variable, scope) in self.order.variables.iter().zip(&self.order.scopes).rev() {
            let mut walk = self.walk(*variable, scope, &[]);
            walk.go_to(&scope.iter().map(|v| plan[*v as usize] as usize).collect::<Vec<_>>());
            let sum = walk.sum(&self.buckets[*variable as usize]);
            plan[*variable as usize] = (0..sum.len()).min_by_key(|choice| sum[*choice]).unwrap_or(0) as u32;
        }
        plan
    }

    /// For each choice of each variable, the cost of the best plan with this choice (its min-marginal), or [`TOP`] if
    /// there is none. `visit` gets them variable by variable, the last eliminated first.
    ///
    /// The joint min-marginal of each variable's scope is passed down the order. Together with choice `k` of the
    /// variable it is `joint(s) + sum(s, k) - min over k of sum(s, k)`, where `sum` is the sum of the variable's
    /// bucket: the tables above contain the bucket as that minimum.
    pub fn marginals(&self, mut visit: impl FnMut(u32, &[i64])) {
        let count = self.problem.variables();
        let mut children: Vec<Vec<u32>> = vec![Vec::new(); count];
        for (variable, scope) in self.order.variables.iter().zip(&self.order.scopes) {
            if let Some(next) = scope.last() {
                children[*next as usize].push(*variable);
            }
        }
        let mut joints: Vec<Vec<i64>> = vec![Vec::new(); count];
        for (variable, scope) in self.order.variables.iter().zip(&self.order.scopes).rev() {
            let v = *variable as usize;
            let joint = if scope.is_empty() { vec![self.minimum] } else { std::mem::take(&mut joints[v]) };
            let scopes: Vec<&[u32]> = children[v].iter().map(|child| self.scope(*child)).collect();
            let mut below: Vec<Vec<i64>> = scopes.iter().map(|scope| vec![TOP; self.entries(scope)]).collect();
            let mut best = vec![TOP; self.problem.size(*variable)];
            let mut walk = self.walk(*variable, scope, &scopes);
            let tables = self.buckets[v].len();
            for joint in joint {
                let starts = walk.offsets[tables..].to_vec();
                let sum = walk.sum(&self.buckets[v]);
                let least = sum.iter().fold(TOP, |least, cost| least.min(*cost));
                for choice in (0..sum.len()).filter(|choice| !forbidden(joint) && !forbidden(sum[*choice])) {
                    let cost = joint + (sum[choice] - least);
                    best[choice] = best[choice].min(cost);
                    for (table, start) in below.iter_mut().zip(&starts) {
                        table[start + choice] = table[start + choice].min(cost);
                    }
                }
                walk.step();
            }
            children[v].iter().zip(below).for_each(|(child, table)| joints[*child as usize] = table);
            visit(*variable, &best);
        }
    }

    fn scope(&self, variable: u32) -> &[u32] {
        &self.order.scopes[self.order.position[variable as usize] as usize]
    }

    fn entries(&self, scope: &[u32]) -> usize {
        scope.iter().map(|v| self.problem.size(*v)).product()
    }

    /// An odometer over the choices of a scope, through the tables of a variable's bucket and `more` tables.
    fn walk(&self, variable: u32, scope: &[u32], more: &[&[u32]]) -> Odometer {
        let bucket = self.buckets[variable as usize].iter().map(|factor| &factor.scope[..]);
        let strides = bucket.chain(more.iter().copied()).map(|table| {
            let stride = |v: &u32| {
                let at = table.iter().position(|u| u == v)?;
                Some(table[at + 1..].iter().map(|u| self.problem.size(*u)).product())
            };
            scope.iter().map(|v| stride(v).unwrap_or(0)).collect::<Vec<usize>>()
        });
        let strides: Vec<Vec<usize>> = strides.collect();
        Odometer {
            index: vec![0; scope.len()],
            sizes: scope.iter().map(|v| self.problem.size(*v)).collect(),
            offsets: vec![0; strides.len()],
            strides: (0..scope.len()).map(|dim| strides.iter().map(|table| table[dim]).collect()).collect(),
            sum: vec![0; self.problem.size(variable)],
        }
    }
}

/// The costs of each variable, and of each link in the bucket of the end that is eliminated first.
fn buckets(problem: &Pairwise, order: &Order) -> Vec<Vec<Factor>> {
    let own = |v: u32| vec![Factor { scope: vec![v], costs: problem.costs(v).to_vec() }];
    let mut buckets: Vec<Vec<Factor>> = (0..problem.variables() as u32).map(own).collect();
    for link in &problem.links {
        let ([a, b], table) = (link.ends, problem.table(*link));
        let factor = if order.position[a as usize] > order.position[b as usize] {
            Factor { scope: vec![a, b], costs: table.to_vec() }
        } else {
            let (rows, columns) = (problem.size(a), problem.size(b));
            let costs = (0..columns).flat_map(|j| (0..rows).map(move |i| table[i * columns + j]));
            Factor { scope: vec![b, a], costs: costs.collect() }
        };
        add(&mut buckets[factor.scope[1] as usize], factor);
    }
    buckets
}

/// Adds a table to a bucket, into the table over the same variables if there is one.
fn add(bucket: &mut Vec<Factor>, factor: Factor) {
    match bucket.iter_mut().find(|other| other.scope == factor.scope) {
        Some(other) => other.costs.iter_mut().zip(factor.costs).for_each(|(a, b)| *a = plus(*a, b)),
        None => bucket.push(factor),
    }
}

/// The choices of a scope in row-major order, and the offset of each table's entries for them.
struct Odometer {
    index: Vec<usize>,
    sizes: Vec<usize>,
    offsets: Vec<usize>,
    /// By dimension of the scope and table.
    strides: Vec<Vec<usize>>,
    sum: Vec<i64>,
}

impl Odometer {
    /// For each choice of the eliminated variable, the sum of all tables of its bucket; forbidden sums are [`TOP`] / 2
    /// or more.
    fn sum(&mut self, bucket: &[Factor]) -> &[i64] {
        let size = self.sum.len();
        self.sum.copy_from_slice(&bucket[0].costs[..size]);
        for (at, (factor, offset)) in bucket.iter().zip(&self.offsets).enumerate().skip(1) {
            let costs = &factor.costs[*offset..*offset + size];
            // Eight times `TOP` is too large, so seven terms fit.
            self.sum.iter_mut().zip(costs).for_each(|(sum, cost)| *sum = sum.wrapping_add(*cost));
            if at % 6 == 0 {
                self.sum.iter_mut().for_each(|sum| *sum = plus(*sum, 0));
            }
        }
        &self.sum
    }

    fn step(&mut self) {
        for dim in (0..self.index.len()).rev() {
            let strides = &self.strides[dim];
            self.index[dim] += 1;
            if self.index[dim] < self.sizes[dim] {
                self.offsets.iter_mut().zip(strides).for_each(|(offset, stride)| *offset += stride);
                return;
            }
            let back = self.index[dim] - 1;
            self.index[dim] = 0;
            self.offsets.iter_mut().zip(strides).for_each(|(offset, stride)| *offset -= back * stride);
        }
    }

    fn go_to(&mut self, index: &[usize]) {
        self.index.copy_from_slice(index);
        for (at, strides) in index.iter().zip(&self.strides) {
            self.offsets.iter_mut().zip(strides).for_each(|(offset, stride)| *offset += at * stride);
        }
    }
}
