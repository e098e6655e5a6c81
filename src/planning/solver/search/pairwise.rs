//! Costs of choices and of pairs of choices in flat arrays, shared by all searches.
//!
//! A cost at or above [`TOP`] / 2 is forbidden. Finite sums are at most 2^58 in absolute value, so the sum of two
//! clamped costs is in range, and tells finite from forbidden.

use crate::solver::network::FORBIDDEN;

/// A forbidden cost in sums: 2^60.
pub const TOP: i64 = 1 << 60;

/// Whether a sum contains a forbidden cost.
pub fn forbidden(cost: i64) -> bool {
    cost >= TOP / 2
}

/// The sum of two costs, forbidden if either is.
pub fn plus(a: i64, b: i64) -> i64 {
    let sum = a + b;
    if forbidden(sum) { TOP } else { sum }
}

/// Converts a cost of the network for sums: [`FORBIDDEN`] becomes [`TOP`].
pub fn clamped(cost: i64) -> i64 {
    if cost == FORBIDDEN { TOP } else { cost }
}

/// Two variables and the offset of the costs of their pairs in [`Pairwise::tables`]; row-major, `ends[0]` first.
#[derive(Clone, Copy, Debug)]
pub struct Binary {
    pub ends: [u32; 2],
    pub table: usize,
}

/// A network without capacities.
#[derive(Clone, Debug, Default)]
pub struct Pairwise {
    /// The offset of each variable's costs in `unary`, and the end of the last.
    pub start: Vec<usize>,
    pub unary: Vec<i64>,
    pub links: Vec<Binary>,
    pub tables: Vec<i64>,
}

impl Pairwise {
    pub fn new() -> Pairwise {
        Pairwise { start: vec![0], ..Pairwise::default() }
    }

    pub fn add_variable(&mut self, costs: impl Iterator<Item = i64>) {
        self.unary.extend(costs);
        self.start.push(self.unary.len());
    }

    pub fn add_link(&mut self, ends: [u32; 2], costs: impl Iterator<Item = i64>) {
        self.links.push(Binary { ends, table: self.tables.len() });
        self.tables.extend(costs);
    }

    pub fn variables(&self) -> usize {
        self.start.len() - 1
    }

    pub fn size(&self, variable: u32) -> usize {
        self.start[variable as usize + 1] - self.start[variable as usize]
    }

    pub fn costs(&self, variable: u32) -> &[i64] {
        &self.unary[self.start[variable as usize]..self.start[variable as usize + 1]]
    }

    pub fn table(&self, link: Binary) -> &[i64] {
        &self.tables[link.table..link.table + self.size(link.ends[0]) * self.size(link.ends[1])]
    }
}
