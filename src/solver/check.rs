//! Checks a [`Certificate`] against its network; shares no code with the search.
//!
//! The plan's cost is added up by [`CostNetwork::cost`]. The proof is followed step by step as the head of
//! `certificate.rs` defines it, from the costs of the network; nothing in the certificate is taken for true but that a
//! sum of minima after these steps is a lower bound. Sums are checked, so a certificate with numbers that are too large
//! is refused. The time is linear in the tables that are looked at.

use super::certificate::{Certificate, Dual, ProofNode, Reduction};
use super::network::{CostNetwork, FORBIDDEN};
use crate::text::Error;
use std::collections::{BTreeMap, BTreeSet, btree_map::Entry};

/// Entries of the largest table that the checker makes.
const LARGEST_TABLE: usize = 1 << 26;

/// Whether the plan is legal and costs what the certificate says, and the bound is what the proof shows.
///
/// # Errors
/// The first thing that is wrong.
pub fn check(network: &CostNetwork, certificate: &Certificate) -> Result<(), Error> {
    let cost = network.cost(&certificate.choices).map_err(|error| Error::new(format!("the plan: {error}")))?;
    if cost != certificate.cost {
        return wrong(format!("the plan costs {cost}, not {}", certificate.cost));
    }
    let mut merged = Merged::new(network);
    for reduction in &certificate.reductions {
        match *reduction {
            Reduction::Drop { variable, choice } => merged.drop_choice(variable, choice)?,
            Reduction::Dominated { variable, choice, by } => merged.drop_dominated(variable, choice, by)?,
            Reduction::Merge { from, into } => merged.merge(from, into)?,
        }
    }
    let bound = proved(network, &merged, certificate)?;
    if bound != Some(certificate.bound) {
        let bound = bound.map_or("that there is no legal plan".to_string(), |bound| format!("the bound {bound}"));
        return wrong(format!("the proof shows {bound}, not the bound {}", certificate.bound));
    }
    if certificate.bound > certificate.cost {
        return wrong(format!("the bound {} is above the cost {cost}", certificate.bound));
    }
    Ok(())
}

fn wrong<T>(message: String) -> Result<T, Error> {
    Err(Error::new(message))
}

/// What the proof shows: the least of the bounds of its leaves, and the cost where choices were excluded; `None` where
/// it shows that no plan is legal.
fn proved(network: &CostNetwork, merged: &Merged, certificate: &Certificate) -> Result<Option<i64>, Error> {
    let mut least: Option<i64> = None;
    // The choices that are forbidden for each node that is still to come.
    let mut open: Vec<BTreeSet<(usize, usize)>> = vec![BTreeSet::new()];
    for (at, node) in certificate.proof.iter().enumerate() {
        let within = |error: Error| Error::new(format!("node {at} of the proof: {}", error.message));
        let Some(mut without) = open.pop() else {
            return wrong(format!("node {at} of the proof is below no other"));
        };
        match node {
            ProofNode::Bound(dual) => {
                let bound = Priced::new(network, merged, &without, dual).and_then(|p| p.bound(dual)).map_err(within)?;
                least = [least, bound].into_iter().flatten().min();
            }
            ProofNode::Exclude(dual) => {
                let priced = Priced::new(network, merged, &without, dual).map_err(within)?;
                without.extend(priced.excluded(dual, certificate.cost).map_err(within)?);
                least = Some(least.map_or(certificate.cost, |least| least.min(certificate.cost)));
                open.push(without);
            }
            ProofNode::Branch { variable, parts } => {
                let size = merged.unary.get(variable).map(Vec::len).unwrap_or(0);
                let all: BTreeSet<usize> = parts.iter().flatten().copied().collect();
                if size == 0 || !all.iter().copied().eq(0..size) {
                    return wrong(format!(
                        "node {at} of the proof: the sets do not have exactly the choices of variable {variable}"
                    ));
                }
                for part in parts.iter().rev() {
                    let mut without = without.clone();
                    without.extend(all.iter().filter(|choice| !part.contains(choice)).map(|k| (*variable, *k)));
                    open.push(without);
                }
            }
        }
    }
    match open.is_empty() {
        true => Ok(least),
        false => wrong(format!("the proof ends with {} nodes missing", open.len())),
    }
}

/// The sum, forbidden if one of the two is.
fn add(a: i64, b: i64) -> Result<i64, Error> {
    if a == FORBIDDEN || b == FORBIDDEN {
        return Ok(FORBIDDEN);
    }
    match a.checked_add(b) {
        Some(sum) if sum.unsigned_abs() < 1 << 62 => Ok(sum),
        _ => wrong(format!("the sum {a} + {b} is too large")),
    }
}

fn least(costs: impl IntoIterator<Item = i64>) -> i64 {
    costs.into_iter().min().unwrap_or(FORBIDDEN)
}

/// The network after reductions. Tables are row-major and stand under both orders of their ends' numbers: `a < b`.
struct Merged {
    /// The costs of the variables that were not merged into others.
    unary: BTreeMap<usize, Vec<i64>>,
    tables: BTreeMap<(usize, usize), Vec<i64>>,
    near: Vec<BTreeSet<usize>>,
    /// Per variable that was not merged: occupancies of it and of what was merged into it, with their amounts.
    occupied: BTreeMap<usize, Vec<(usize, Vec<i64>)>>,
    /// Of each occupancy the resource and the moments.
    spans: Vec<(usize, i64, i64)>,
}

impl Merged {
    fn new(network: &CostNetwork) -> Merged {
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
            merged.add_table(edge.ends, edge.costs.clone());
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

    /// The costs of the pairs, those of `a` as rows.
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

    fn drop_choice(&mut self, variable: usize, choice: usize) -> Result<(), Error> {
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

    fn drop_dominated(&mut self, variable: usize, choice: usize, by: usize) -> Result<(), Error> {
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

    /// The costs of the pairs of a choice with those of a neighbour.
    fn row(&self, variable: usize, other: usize, choice: usize) -> impl Iterator<Item = i64> {
        let costs = &self.tables[&(variable.min(other), variable.max(other))];
        let (own, width) = (self.unary[&variable].len(), self.unary[&other].len());
        let (start, step) = if variable < other { (choice * width, 1) } else { (choice, own) };
        costs[start..].iter().step_by(step).take(width).copied()
    }

    fn merge(&mut self, from: usize, into: usize) -> Result<(), Error> {
        let step = || format!("the merge of variable {from} into {into}");
        let (Some(costs), true) = (self.unary.get(&from), self.unary.contains_key(&into)) else {
            return wrong(format!("{}: one of them does not exist or is merged already", step()));
        };
        let (costs, columns) = (costs.clone(), costs.len());
        if from == into {
            return wrong(format!("{}: they are the same", step()));
        }
        let Some(table) = self.take_table(into, from) else { return wrong(format!("{}: they share no edge", step())) };
        // For each choice of `into` the only one of `from` that is possible with it.
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

/// For sums that the network has checked.
fn finite_sum(a: i64, b: i64) -> i64 {
    if a == FORBIDDEN || b == FORBIDDEN { FORBIDDEN } else { a + b }
}

/// A row-major table with rows and columns exchanged.
fn turned(costs: &[i64], rows: usize) -> Vec<i64> {
    let columns = costs.len() / rows;
    (0..columns).flat_map(|j| (0..rows).map(move |i| costs[i * columns + j])).collect()
}

/// The choices that are not forbidden.
fn possible(costs: &[i64]) -> Vec<usize> {
    (0..costs.len()).filter(|choice| costs[*choice] != FORBIDDEN).collect()
}

/// A table over some variables, row-major.
struct Table {
    scope: Vec<usize>,
    costs: Vec<i64>,
}

/// What is left to minimise after scale, prices and messages.
struct Priced {
    unary: BTreeMap<usize, Vec<i64>>,
    tables: BTreeMap<(usize, usize), Vec<i64>>,
    refund: i64,
    shift: u32,
}

impl Priced {
    fn new(
        network: &CostNetwork,
        merged: &Merged,
        without: &BTreeSet<(usize, usize)>,
        dual: &Dual,
    ) -> Result<Priced, Error> {
        if dual.shift > 60 {
            return wrong("a shift above 60".to_string());
        }
        let scaled = |costs: &Vec<i64>| -> Result<Vec<i64>, Error> {
            let scaled = |cost: &i64| match i64::checked_mul(*cost, 1 << dual.shift) {
                _ if *cost == FORBIDDEN => Ok(FORBIDDEN),
                Some(scaled) if scaled.unsigned_abs() < 1 << 62 => Ok(scaled),
                _ => wrong(format!("the cost {cost} is too large for the shift {}", dual.shift)),
            };
            costs.iter().map(scaled).collect()
        };
        let mut priced = Priced { unary: BTreeMap::new(), tables: BTreeMap::new(), refund: 0, shift: dual.shift };
        for (variable, costs) in &merged.unary {
            priced.unary.insert(*variable, scaled(costs)?);
        }
        for (ends, costs) in &merged.tables {
            priced.tables.insert(*ends, scaled(costs)?);
        }
        for (variable, choice) in without {
            priced.unary.get_mut(variable).expect("a branch is on such a variable")[*choice] = FORBIDDEN;
        }
        priced.drop_alone(merged);
        // Pairs with a forbidden choice are forbidden, so they do not lower a minimum.
        for ((a, b), costs) in &mut priced.tables {
            let (rows, columns) = (&priced.unary[a], &priced.unary[b]);
            for (row, own) in costs.chunks_mut(columns.len()).zip(rows) {
                let forbidden = |other: &i64| *own == FORBIDDEN || *other == FORBIDDEN;
                row.iter_mut()
                    .zip(columns)
                    .filter(|(_, other)| forbidden(other))
                    .for_each(|(cost, _)| *cost = FORBIDDEN);
            }
        }
        priced.pay(network, merged, dual)?;
        priced.reparametrise(dual)?;
        Ok(priced)
    }

    /// Forbids choices that have no partner at some neighbour, until there are none.
    fn drop_alone(&mut self, merged: &Merged) {
        let mut open: BTreeSet<usize> = self.unary.keys().copied().collect();
        while let Some(variable) = open.pop_first() {
            let own: Vec<usize> = possible(&self.unary[&variable]);
            for other in &merged.near[variable] {
                let width = self.unary[&variable.max(*other)].len();
                let costs = &self.tables[&(variable.min(*other), variable.max(*other))];
                let pair =
                    |i: usize, j: usize| if variable < *other { costs[i * width + j] } else { costs[j * width + i] };
                let alone = possible(&self.unary[other]).into_iter();
                let alone: Vec<usize> = alone.filter(|j| own.iter().all(|i| pair(*i, *j) == FORBIDDEN)).collect();
                if !alone.is_empty() {
                    open.insert(*other);
                }
                alone
                    .into_iter()
                    .for_each(|j| self.unary.get_mut(other).expect("a neighbour is not merged")[j] = FORBIDDEN);
            }
        }
    }

    /// Charges the prices, and the refund.
    fn pay(&mut self, network: &CostNetwork, merged: &Merged, dual: &Dual) -> Result<(), Error> {
        // By resource: the sum of the prices at and before each moment that has one.
        let mut sums: Vec<BTreeMap<i64, i128>> = vec![BTreeMap::new(); network.capacities().len()];
        for price in &dual.prices {
            let Some(sums) = sums.get_mut(price.resource) else {
                return wrong(format!("a price for resource {}, which does not exist", price.resource));
            };
            if price.price < 0 {
                return wrong(format!("the price {} is below 0", price.price));
            }
            *sums.entry(price.moment).or_default() += i128::from(price.price);
        }
        let large = || Error::new("prices that are too large");
        let mut refund: i128 = 0;
        for (sums, capacity) in sums.iter_mut().zip(network.capacities()) {
            let mut sum: i128 = 0;
            for price in sums.values_mut() {
                sum += *price;
                *price = sum;
            }
            let all = sum.checked_mul(i128::from(*capacity)).ok_or_else(large)?;
            refund = refund.checked_add(all).ok_or_else(large)?;
        }
        self.refund = i64::try_from(refund).ok().filter(|refund| *refund < 1 << 62).ok_or_else(large)?;
        for (variable, occupied) in &merged.occupied {
            let costs = self.unary.get_mut(variable).expect("of variables that were not merged");
            for (at, amounts) in occupied {
                let occupancy = &network.occupancies()[*at];
                let before =
                    |moment: i64| sums[occupancy.resource].range(..moment).next_back().map_or(0, |(_, sum)| *sum);
                let price = before(occupancy.moments.end) - before(occupancy.moments.start);
                if price == 0 {
                    continue;
                }
                for (cost, amount) in costs.iter_mut().zip(amounts) {
                    let paid = price.checked_mul(i128::from(*amount)).ok_or_else(large)?;
                    *cost = add(*cost, i64::try_from(paid).map_err(|_| large())?)?;
                }
            }
        }
        Ok(())
    }

    fn reparametrise(&mut self, dual: &Dual) -> Result<(), Error> {
        let mut seen = BTreeSet::new();
        for message in &dual.messages {
            let [a, b] = message.ends;
            let named = || format!("the message between variables {a} and {b}");
            let Some(table) = self.tables.get_mut(&(a, b)) else {
                return wrong(format!("{}: after the reductions they share no edge, or are not in order", named()));
            };
            if !seen.insert((a, b)) {
                return wrong(format!("{} stands twice", named()));
            }
            let [to_a, to_b] = &message.to;
            if self.unary[&a].len() != to_a.len() || self.unary[&b].len() != to_b.len() {
                return wrong(format!("{} has the wrong length", named()));
            }
            if to_a.iter().chain(to_b).any(|cost| cost.unsigned_abs() >= 1 << 61) {
                return wrong(format!("{} is too large", named()));
            }
            for (i, row) in table.chunks_mut(to_b.len()).enumerate() {
                for (cost, m) in row.iter_mut().zip(to_b) {
                    *cost = add(*cost, -(m + to_a[i]))?;
                }
            }
            for (end, to) in [(a, to_a), (b, to_b)] {
                for (cost, m) in self.unary.get_mut(&end).expect("an end of a table").iter_mut().zip(to) {
                    *cost = add(*cost, *m)?;
                }
            }
        }
        Ok(())
    }

    /// In the costs of the network: the refund taken off, rounded up to a whole cost.
    fn unscaled(&self, sum: i64) -> Result<i64, Error> {
        match add(sum, -self.refund)? {
            FORBIDDEN => Ok(FORBIDDEN),
            sum => Ok(sum.div_euclid(1 << self.shift) + i64::from(sum.rem_euclid(1 << self.shift) > 0)),
        }
    }

    /// The bound; `None` where there is no plan.
    fn bound(self, dual: &Dual) -> Result<Option<i64>, Error> {
        let mut tables: BTreeMap<usize, Table> = BTreeMap::new();
        let mut near: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
        let sizes: BTreeMap<usize, usize> = self.unary.iter().map(|(v, costs)| (*v, costs.len())).collect();
        let all = (self.unary.iter().map(|(v, costs)| Table { scope: vec![*v], costs: costs.clone() }))
            .chain(self.tables.iter().map(|((a, b), costs)| Table { scope: vec![*a, *b], costs: costs.clone() }));
        for (at, table) in all.enumerate() {
            for v in &table.scope {
                near.entry(*v).or_default().insert(at);
            }
            tables.insert(at, table);
        }
        let mut next = tables.len();
        for variable in &dual.eliminated {
            let Some(bucket) = near.remove(variable) else {
                return wrong(format!("variable {variable} cannot be eliminated: it is gone, or does not exist"));
            };
            let bucket: Vec<Table> = bucket
                .iter()
                .filter_map(|at| tables.remove(at).map(|table| (at, table)))
                .map(|(at, table)| {
                    table.scope.iter().filter(|v| *v != variable).for_each(|v| {
                        near.get_mut(v).expect("variables in tables are not gone").remove(at);
                    });
                    table
                })
                .collect();
            let table = minimised(*variable, &bucket, &sizes)?;
            for v in &table.scope {
                near.entry(*v).or_default().insert(next);
            }
            tables.insert(next, table);
            next += 1;
        }
        let mut sum = 0;
        for table in tables.values() {
            sum = add(sum, least(table.costs.iter().copied()))?;
        }
        Ok(Some(self.unscaled(sum)?).filter(|bound| *bound != FORBIDDEN))
    }

    /// The choices with which the sum of the minima is at or above `cost`.
    fn excluded(&self, dual: &Dual, cost: i64) -> Result<Vec<(usize, usize)>, Error> {
        if !dual.eliminated.is_empty() {
            return wrong("variables are eliminated where choices are excluded".to_string());
        }
        let mut sum = 0;
        // For each choice what it adds to the sum of the minima.
        let mut more = self.unary.clone();
        for costs in more.values_mut() {
            let least = least(costs.iter().copied());
            sum = add(sum, least)?;
            costs.iter_mut().filter(|cost| **cost != FORBIDDEN).for_each(|cost| *cost -= least);
        }
        for ((a, b), costs) in &self.tables {
            let width = self.unary[b].len();
            let all = least(costs.iter().copied());
            sum = add(sum, all)?;
            for (i, row) in costs.chunks(width).enumerate() {
                let more = &mut more.get_mut(a).expect("an end of a table")[i];
                *more = add(*more, if all == FORBIDDEN { 0 } else { add(least(row.iter().copied()), -all)? })?;
            }
            for j in 0..width {
                let more = &mut more.get_mut(b).expect("an end of a table")[j];
                let column = least(costs.iter().skip(j).step_by(width).copied());
                *more = add(*more, if all == FORBIDDEN { 0 } else { add(column, -all)? })?;
            }
        }
        let mut excluded = Vec::new();
        for (variable, costs) in &more {
            for (choice, more) in costs.iter().enumerate() {
                if self.unscaled(add(sum, *more)?)? >= cost {
                    excluded.push((*variable, choice));
                }
            }
        }
        Ok(excluded)
    }
}

/// The minimum over a variable of the sum of tables, over the other variables in them.
fn minimised(variable: usize, bucket: &[Table], sizes: &BTreeMap<usize, usize>) -> Result<Table, Error> {
    let all: BTreeSet<usize> = bucket.iter().flat_map(|table| &table.scope).copied().collect();
    let scope: Vec<usize> = all.into_iter().filter(|v| *v != variable).collect();
    let entries = scope.iter().try_fold(1usize, |product, v| product.checked_mul(sizes[v]));
    let Some(entries) = entries.filter(|entries| entries.saturating_mul(sizes[&variable]) <= LARGEST_TABLE) else {
        return wrong(format!("variable {variable} cannot be eliminated: its table is larger than 2^26"));
    };
    // For each table its stride along the variable and along each of the scope.
    let stride = |table: &Table, v: usize| {
        table
            .scope
            .iter()
            .position(|u| *u == v)
            .map_or(0, |at| table.scope[at + 1..].iter().map(|u| sizes[u]).product())
    };
    let own: Vec<usize> = bucket.iter().map(|table| stride(table, variable)).collect();
    let strides: Vec<Vec<usize>> = bucket.iter().map(|t| scope.iter().map(|v| stride(t, *v)).collect()).collect();
    let mut index = vec![0; scope.len()];
    let mut at = vec![0usize; bucket.len()];
    let mut costs = Vec::with_capacity(entries);
    for _ in 0..entries {
        let mut best = FORBIDDEN;
        for choice in 0..sizes[&variable] {
            let mut sum = 0;
            for (table, (at, own)) in bucket.iter().zip(at.iter().zip(&own)) {
                sum = add(sum, table.costs[at + choice * own])?;
            }
            best = best.min(sum);
        }
        costs.push(best);
        for dim in (0..scope.len()).rev() {
            index[dim] += 1;
            at.iter_mut().zip(&strides).for_each(|(at, strides)| *at += strides[dim]);
            if index[dim] < sizes[&scope[dim]] {
                break;
            }
            at.iter_mut().zip(&strides).for_each(|(at, strides)| *at -= index[dim] * strides[dim]);
            index[dim] = 0;
        }
    }
    Ok(Table { scope, costs })
}
