//! The order in which variables are eliminated.
//!
//! Eliminating a variable makes a table over its neighbours, which become neighbours of each other. Good orders keep
//! tables small. The next variable is, greedily, the one that joins the fewest unjoined pairs of neighbours (min-fill),
//! and on ties the one with the smallest table. Counting the pairs among many neighbours is slow, so above [`COUNTED`]
//! neighbours all pairs count as new.

use super::pairwise::Pairwise;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The limit on neighbours for counting unjoined pairs one by one.
const COUNTED: usize = 48;

/// Variables in elimination order, and the neighbours of each at that time.
pub struct Order {
    pub variables: Vec<u32>,
    /// By position in the order; the neighbour eliminated last comes first.
    pub scopes: Vec<Vec<u32>>,
    /// The position of each variable in `variables`.
    pub position: Vec<u32>,
    /// Entries of all tables with the minimised variable, and (`kept`) without it.
    pub entries: u64,
    pub kept: u64,
}

/// Finds an order whose tables have at most `largest` entries each and, without the eliminated variable, `most` in all;
/// `None` if the graph is too dense.
pub fn order(problem: &Pairwise, largest: u64, most: u64) -> Option<Order> {
    let mut graph = Adjacency::new(problem);
    let mut order = Order {
        variables: Vec::with_capacity(graph.near.len()),
        scopes: Vec::with_capacity(graph.near.len()),
        position: vec![u32::MAX; graph.near.len()],
        entries: 0,
        kept: 0,
    };
    while let Some(variable) = graph.next() {
        let entries = graph.entries(variable);
        order.entries = order.entries.saturating_add(entries);
        order.kept = order.kept.saturating_add(entries / graph.sizes[variable as usize]);
        if entries > largest || order.kept > most {
            return None;
        }
        order.position[variable as usize] = order.variables.len() as u32;
        order.variables.push(variable);
        order.scopes.push(graph.eliminate(variable));
    }
    for scope in &mut order.scopes {
        scope.sort_unstable_by_key(|variable| Reverse(order.position[*variable as usize]));
    }
    Some(order)
}

/// The number of pairs that elimination would join, the logarithm of the table's entries, the variable.
type Key = (u64, u64, u32);

struct Adjacency {
    sizes: Vec<u64>,
    /// 1024 × log2 of the sizes.
    weights: Vec<u64>,
    /// Sorted; eliminated variables stay in the list.
    near: Vec<Vec<u32>>,
    gone: Vec<bool>,
    /// The number of remaining neighbours, and (`weight`) the sum of their weights.
    degree: Vec<u64>,
    weight: Vec<u64>,
    heap: BinaryHeap<Reverse<Key>>,
    /// The current key of each variable; other keys in the heap are stale.
    current: Vec<Key>,
}

impl Adjacency {
    fn new(problem: &Pairwise) -> Adjacency {
        let count = problem.variables();
        let sizes: Vec<u64> = (0..count as u32).map(|v| problem.size(v) as u64).collect();
        let weights: Vec<u64> = sizes.iter().map(|size| ((*size as f64).log2() * 1024.0) as u64).collect();
        let mut near = vec![Vec::new(); count];
        for link in &problem.links {
            let [a, b] = link.ends;
            near[a as usize].push(b);
            near[b as usize].push(a);
        }
        for list in &mut near {
            list.sort_unstable();
            list.dedup();
        }
        let degree = near.iter().map(|list| list.len() as u64).collect();
        let weight = near.iter().map(|list| list.iter().map(|v| weights[*v as usize]).sum()).collect();
        let gone = vec![false; count];
        let current = vec![(0, 0, 0); count];
        let mut graph = Adjacency { sizes, weights, near, gone, degree, weight, heap: BinaryHeap::new(), current };
        (0..count as u32).for_each(|variable| graph.push(variable));
        graph
    }

    fn push(&mut self, variable: u32) {
        let v = variable as usize;
        let key = (self.fill(variable), self.weight[v] + self.weights[v], variable);
        self.current[v] = key;
        self.heap.push(Reverse(key));
    }

    /// The number of unjoined pairs of neighbours.
    fn fill(&self, variable: u32) -> u64 {
        let degree = self.degree[variable as usize];
        let pairs = degree * degree.saturating_sub(1) / 2;
        if degree < 2 || degree as usize > COUNTED {
            return pairs;
        }
        let live = self.live(variable);
        let joined = |(at, a): (usize, &u32)| live[at + 1..].iter().filter(|b| self.joined(*a, **b)).count();
        pairs - live.iter().enumerate().map(joined).sum::<usize>() as u64
    }

    fn joined(&self, a: u32, b: u32) -> bool {
        let (a, b) = if self.near[a as usize].len() < self.near[b as usize].len() { (a, b) } else { (b, a) };
        self.near[a as usize].binary_search(&b).is_ok()
    }

    fn live(&self, variable: u32) -> Vec<u32> {
        self.near[variable as usize].iter().copied().filter(|v| !self.gone[*v as usize]).collect()
    }

    fn next(&mut self) -> Option<u32> {
        while let Some(Reverse(key)) = self.heap.pop() {
            if !self.gone[key.2 as usize] && self.current[key.2 as usize] == key {
                return Some(key.2);
            }
        }
        None
    }

    /// The number of entries of the table over a variable and its neighbours.
    fn entries(&self, variable: u32) -> u64 {
        let v = variable as usize;
        if self.weight[v] + self.weights[v] > 62 * 1024 {
            return u64::MAX;
        }
        let near = self.near[v].iter().filter(|u| !self.gone[**u as usize]);
        near.fold(self.sizes[v], |product, u| product.saturating_mul(self.sizes[*u as usize]))
    }

    /// Eliminates a variable: joins its neighbours, and returns them.
    fn eliminate(&mut self, variable: u32) -> Vec<u32> {
        let scope = self.live(variable);
        self.gone[variable as usize] = true;
        self.near[variable as usize] = Vec::new();
        for u in &scope {
            self.degree[*u as usize] -= 1;
            self.weight[*u as usize] -= self.weights[variable as usize];
        }
        for (at, a) in scope.iter().enumerate() {
            for b in &scope[at + 1..] {
                self.join(*a, *b);
            }
        }
        scope.iter().for_each(|u| self.push(*u));
        scope
    }

    fn join(&mut self, a: u32, b: u32) {
        for (a, b) in [(a, b), (b, a)] {
            if let Err(at) = self.near[a as usize].binary_search(&b) {
                self.near[a as usize].insert(at, b);
                self.degree[a as usize] += 1;
                self.weight[a as usize] += self.weights[b as usize];
            }
        }
    }
}
