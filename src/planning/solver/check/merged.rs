//! The network after the reductions of a certificate; each reduction is checked.

use super::sums::{finite_sum, turned, wrong};
use crate::solver::network::{CostNetwork, FORBIDDEN};
use std::collections::{BTreeMap, BTreeSet, btree_map::Entry};
use tensor_layout::text::Error;

/// The network after reductions. Tables are row-major and keyed by their ends `(a, b)` with `a < b`.
pub struct Merged {
    /// The costs of the variables that were not merged.
    pub unary: BTreeMap<usize, Vec<i64>>,
    pub tables: BTreeMap<(usize, usize), Vec<i64>>,
    pub near: Vec<BTreeSet<usize>>,
    /// The occupancies of each unmerged variable and of those merged into it, with their amounts.
    pub occupied: BTreeMap<usize, Vec<(usize, Vec<i64>)>>,
    /// The resource, first moment and end of each occupancy.
    spans: Vec<(usize, i64, i64)>,
}

impl Merged {
    pub fn new(network: &CostNetwork) -> Merged {
        let mut merged = Merged {
            unary: network.variables().iter().cloned().enumerate().collect(),
            tables: BTreeMap::new(),
            near: vec![BTreeSet::new(); network.variables().len()],
            occupied: BTreeMap::new(),
            spans: (network.occupancies().iter())
                .map(|occupancy| (occupancy.resource, occupancy.moments.start, occupancy.moments.end))
                .collect(),
        };
        for edge in network.edges() {
            merged.add_table(edge.ends, edge.costs.to_vec());
        }
        for (at, occupancy) in network.occupancies().iter().enumerate() {
            merged.occupied.entry(occupancy.variable).or_default().push((at, occupancy.amounts.clone()));
        }
        merged
    }

    /// Costs of the network are at most 2^58 in sum, so these sums fit.
    fn add_table(&mut self, [a, b]: [usize; 2], costs: Vec<i64>) {
        let costs = if a < b { costs } else { turned(&costs, self.unary[&a].len()) };
        match self.tables.entry((a.min(b), a.max(b))) {
            Entry::Vacant(entry) => {
                entry.insert(costs);
                self.near[a].insert(b);
                self.near[b].insert(a);
            }
            Entry::Occupied(mut entry) => {
                let sums = entry.get_mut().iter_mut().zip(costs);
                sums.for_each(|(sum, cost)| *sum = finite_sum(*sum, cost));
            }
        }
    }

    /// The costs of the pairs, with the choices of `a` as rows.
    fn table(&self, a: usize, b: usize) -> Option<Vec<i64>> {
        let table = self.tables.get(&(a.min(b), a.max(b)))?;
        Some(if a < b { table.clone() } else { turned(table, self.unary[&b].len()) })
    }

    fn take_table(&mut self, a: usize, b: usize) -> Option<Vec<i64>> {
        let table = self.table(a, b)?;
        self.tables.remove(&(a.min(b), a.max(b)));
        self.near[a].remove(&b);
        self.near[b].remove(&a);
        Some(table)
    }

    pub fn drop_choice(&mut self, variable: usize, choice: usize) -> Result<(), Error> {
        let step = || format!("choice {choice} of variable {variable} is not without a partner");
        if self.unary.get(&variable).is_none_or(|costs| choice >= costs.len()) {
            return wrong(format!("{}: it does not exist", step()));
        }
        let alone = |other: &usize| {
            let row = self.row(variable, *other, choice);
            row.zip(&self.unary[other]).all(|(pair, cost)| pair == FORBIDDEN || *cost == FORBIDDEN)
        };
        if !self.near[variable].iter().any(alone) {
            return wrong(step());
        }
        self.unary.get_mut(&variable).expect("checked above")[choice] = FORBIDDEN;
        Ok(())
    }

    pub fn drop_dominated(&mut self, variable: usize, choice: usize, by: usize) -> Result<(), Error> {
        let step = || format!("choice {choice} of variable {variable} is not dominated by {by}");
        let Some(costs) = self.unary.get(&variable).filter(|costs| choice.max(by) < costs.len() && choice != by) else {
            return wrong(format!("{}: one of them does not exist", step()));
        };
        // Sums of the network are below 2^59, so these differences fit.
        if costs[by] == FORBIDDEN || costs[choice] == FORBIDDEN {
            return wrong(format!("{}: one of them is forbidden", step()));
        }
        let mut more = costs[by] - costs[choice];
        for other in &self.near[variable] {
            let pairs = self.row(variable, *other, by).zip(self.row(variable, *other, choice));
            let mut most: Option<i64> = None;
            for ((new, old), _) in pairs.zip(&self.unary[other]).filter(|(_, cost)| **cost != FORBIDDEN) {
                match (new, old) {
                    (_, FORBIDDEN) => {}
                    (FORBIDDEN, _) => return wrong(format!("{}: variable {other} may forbid it", step())),
                    _ => most = most.max(Some(new - old)),
                }
            }
            more += most.unwrap_or(0);
        }
        // Occupancies over the same moments count as one.
        let mut amounts: BTreeMap<(usize, i64, i64), (i64, i64)> = BTreeMap::new();
        for (occupancy, amount) in self.occupied.get(&variable).into_iter().flatten() {
            let sums = amounts.entry(self.spans[*occupancy]).or_default();
            *sums = (sums.0 + amount[by], sums.1 + amount[choice]);
        }
        if more > 0 || amounts.values().any(|(new, old)| new > old) {
            return wrong(step());
        }
        self.unary.get_mut(&variable).expect("checked above")[choice] = FORBIDDEN;
        Ok(())
    }

    /// The costs of a choice with each choice of a neighbour.
    fn row(&self, variable: usize, other: usize, choice: usize) -> impl Iterator<Item = i64> {
        let costs = &self.tables[&(variable.min(other), variable.max(other))];
        let (own, width) = (self.unary[&variable].len(), self.unary[&other].len());
        let (start, step) = if variable < other { (choice * width, 1) } else { (choice, own) };
        costs[start..].iter().step_by(step).take(width).copied()
    }

    pub fn merge(&mut self, from: usize, into: usize) -> Result<(), Error> {
        let step = || format!("the merge of variable {from} into {into}");
        let (Some(costs), true) = (self.unary.get(&from), self.unary.contains_key(&into)) else {
            return wrong(format!("{}: one of them does not exist or is merged already", step()));
        };
        let (costs, columns) = (costs.clone(), costs.len());
        if from == into {
            return wrong(format!("{}: they are the same", step()));
        }
        let Some(table) = self.take_table(into, from) else { return wrong(format!("{}: they share no edge", step())) };
        // The only possible choice of `from` for each choice of `into`.
        let mut follows = Vec::with_capacity(self.unary[&into].len());
        for (i, row) in table.chunks(columns).enumerate() {
            let mut possible = (0..columns).filter(|j| row[*j] != FORBIDDEN && costs[*j] != FORBIDDEN);
            if self.unary[&into][i] == FORBIDDEN {
                follows.push(None);
                continue;
            }
            follows.push(possible.next());
            if possible.next().is_some() {
                return wrong(format!("{}: choice {i} of variable {into} leaves more than one choice", step()));
            }
        }
        self.unary.remove(&from);
        for (i, follows) in follows.iter().enumerate() {
            let cost = follows.map_or(FORBIDDEN, |j| finite_sum(table[i * columns + j], costs[j]));
            let sum = &mut self.unary.get_mut(&into).expect("checked above")[i];
            *sum = finite_sum(*sum, cost);
        }
        for other in self.near[from].clone() {
            let key = (from.min(other), from.max(other));
            let table = self.tables.remove(&key).expect("neighbours have a table");
            self.near[other].remove(&from);
            let width = self.unary[&other].len();
            let table = if from < other { table } else { turned(&table, width) };
            let row = |j: &Option<usize>| match j {
                Some(j) => table[j * width..(j + 1) * width].to_vec(),
                None => vec![FORBIDDEN; width],
            };
            self.add_table([into, other], follows.iter().flat_map(row).collect());
        }
        self.near[from].clear();
        let amounts = self
            .occupied
            .remove(&from)
            .unwrap_or_default()
            .into_iter()
            .map(|(at, amounts)| (at, follows.iter().map(|j| j.map_or(0, |j| amounts[j])).collect::<Vec<_>>()));
        self.occupied.entry(into).or_default().extend(amounts);
        Ok(())
    }
}
