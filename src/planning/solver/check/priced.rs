//! A network after scale, prices and messages, and its minima.

use super::merged::Merged;
use super::sums::{add, least, possible, wrong};
use crate::solver::certificate::Dual;
use crate::solver::network::{CostNetwork, FORBIDDEN};
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet, btree_map::Entry};
use tensor_layout::text::Error;

/// The largest table of the checker, and all its tables at one time, in entries.
const LARGEST_TABLE: usize = 1 << 26;
const LARGEST_TABLES: usize = 1 << 28;

/// A table over some variables, row-major.
struct CostTable {
    scope: Vec<usize>,
    costs: Vec<i64>,
}

/// The tables to minimise after scale, prices and messages.
pub struct Priced {
    unary: BTreeMap<usize, Vec<i64>>,
    tables: BTreeMap<(usize, usize), Vec<i64>>,
    refund: i64,
    shift: u32,
}

impl Priced {
    pub fn new(
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
        let unary = merged.unary.iter().map(|(variable, costs)| Ok((*variable, scaled(costs)?)));
        priced.unary = unary.collect::<Result<_, Error>>()?;
        let tables = merged.tables.iter().map(|(ends, costs)| Ok((*ends, scaled(costs)?)));
        priced.tables = tables.collect::<Result<_, Error>>()?;
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

    /// Forbids choices without a partner at some neighbour, until none are left.
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

    /// Charges the prices, and computes the refund.
    fn pay(&mut self, network: &CostNetwork, merged: &Merged, dual: &Dual) -> Result<(), Error> {
        // For each resource, the prefix sums of its prices by moment.
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
        let large = || Error::new("prices that are too large").too_large();
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
                for (cost, amount) in costs.iter_mut().zip(amounts).filter(|(cost, _)| **cost != FORBIDDEN) {
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

    /// The bound; `None` if there is no legal plan.
    pub fn bound(self, dual: &Dual) -> Result<Option<i64>, Error> {
        let Priced { unary, tables, refund, shift } = self;
        let sizes: FxHashMap<usize, usize> = unary.iter().map(|(v, costs)| (*v, costs.len())).collect();
        let unary = unary.into_iter().map(|(v, costs)| CostTable { scope: vec![v], costs });
        let pairs = tables.into_iter().map(|((a, b), costs)| CostTable { scope: vec![a, b], costs });
        let mut tables: Vec<Option<CostTable>> = unary.chain(pairs).map(Some).collect();
        // For each variable, the tables that contain or contained it.
        let mut near: FxHashMap<usize, Vec<usize>> = FxHashMap::default();
        for (at, table) in tables.iter().flatten().enumerate() {
            table.scope.iter().for_each(|v| near.entry(*v).or_default().push(at));
        }
        let mut entries: usize = tables.iter().flatten().map(|table| table.costs.len()).sum();
        for variable in &dual.eliminated {
            let Some(bucket) = near.remove(variable) else {
                return wrong(format!("variable {variable} cannot be eliminated: it is gone, or does not exist"));
            };
            let bucket: Vec<CostTable> = bucket.into_iter().filter_map(|at| tables[at].take()).collect();
            let gone: usize = bucket.iter().map(|table| table.costs.len()).sum();
            let table = minimised(*variable, &added(bucket)?, &sizes)?;
            entries = entries - gone + table.costs.len();
            if entries > LARGEST_TABLES {
                return wrong(format!("with variable {variable} all tables are larger than 2^28"));
            }
            table.scope.iter().for_each(|v| near.entry(*v).or_default().push(tables.len()));
            tables.push(Some(table));
        }
        let mut sum = 0;
        for table in tables.iter().flatten() {
            sum = add(sum, least(table.costs.iter().copied()))?;
        }
        Ok(Some(unscaled(sum, refund, shift)?).filter(|bound| *bound != FORBIDDEN))
    }

    /// The choices whose sum of minima is at or above `cost`.
    pub fn excluded(&self, dual: &Dual, cost: i64) -> Result<Vec<(usize, usize)>, Error> {
        if !dual.eliminated.is_empty() {
            return wrong("variables are eliminated where choices are excluded".to_string());
        }
        let mut sum = 0;
        // The amount that each choice adds to the sum of the minima.
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
                if unscaled(add(sum, *more)?, self.refund, self.shift)? >= cost {
                    excluded.push((*variable, choice));
                }
            }
        }
        Ok(excluded)
    }
}

/// Converts a sum to costs of the network: minus the refund, divided by the scale, rounded up.
fn unscaled(sum: i64, refund: i64, shift: u32) -> Result<i64, Error> {
    match add(sum, -refund)? {
        FORBIDDEN => Ok(FORBIDDEN),
        sum => Ok(sum.div_euclid(1 << shift) + i64::from(sum.rem_euclid(1 << shift) > 0)),
    }
}

/// Adds tables over the same variables, so that the later work does not depend on their number.
fn added(bucket: Vec<CostTable>) -> Result<Vec<CostTable>, Error> {
    let mut sums: BTreeMap<Vec<usize>, Vec<i64>> = BTreeMap::new();
    for CostTable { scope, costs } in bucket {
        match sums.entry(scope) {
            Entry::Vacant(entry) => drop(entry.insert(costs)),
            Entry::Occupied(mut entry) => {
                for (sum, cost) in entry.get_mut().iter_mut().zip(costs) {
                    *sum = add(*sum, cost)?;
                }
            }
        }
    }
    Ok(sums.into_iter().map(|(scope, costs)| CostTable { scope, costs }).collect())
}

/// The minimum over a variable of the sum of tables: a table over their other variables.
fn minimised(variable: usize, bucket: &[CostTable], sizes: &FxHashMap<usize, usize>) -> Result<CostTable, Error> {
    let all: BTreeSet<usize> = bucket.iter().flat_map(|table| &table.scope).copied().collect();
    let scope: Vec<usize> = all.into_iter().filter(|v| *v != variable).collect();
    let entries = scope.iter().try_fold(1usize, |product, v| product.checked_mul(sizes[v]));
    let Some(entries) = entries.filter(|entries| entries.saturating_mul(sizes[&variable]) <= LARGEST_TABLE) else {
        return wrong(format!("variable {variable} cannot be eliminated: its table is larger than 2^26"));
    };
    // The stride of each table along the variable, and along each variable of the scope.
    let stride = |table: &CostTable, v: usize| {
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
    Ok(CostTable { scope, costs })
}
