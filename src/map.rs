//! Indexing maps: which element of one tensor goes with an element of another, and for which elements that holds.
//!
//! `(d0, d1) -> (d0 floordiv 2, d1 floordiv 2, d0 mod 2, d1 mod 2), domain: d0 in [0, 2], d1 in [0, 4]` sends the
//! elements of a 3×5 tensor to their places in a grid of 2×2 tiles.

use crate::expr::{Expr, Named};
use crate::simplify::{Domain, Interval, simplify};
use std::fmt;

/// Results over dimension variables, and the domain of those variables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexingMap {
    /// What the dimension variables are mapped to.
    pub results: Vec<Expr>,
    /// The interval of each dimension variable, and constraints over them.
    pub domain: Domain,
}

impl IndexingMap {
    /// A map from all indices of a tensor with these sizes, its results simplified over them.
    pub fn of_sizes(sizes: &[i64], results: Vec<Expr>) -> IndexingMap {
        let vars = sizes.iter().map(|n| Interval::new(0, n - 1)).collect();
        let domain = Domain { vars, constraints: Vec::new() };
        IndexingMap { results: simplify(&results, &domain), domain }
    }
}

impl fmt::Display for IndexingMap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = |v: usize| format!("d{v}");
        let dims: Vec<String> = (0..self.domain.vars.len()).map(name).collect();
        let results: Vec<String> = self.results.iter().map(|e| Named(e, &name).to_string()).collect();
        write!(f, "({}) -> ({})", dims.join(", "), results.join(", "))?;
        let mut separator = ", domain: ";
        for (v, i) in self.domain.vars.iter().enumerate() {
            write!(f, "{separator}d{v} in [{}, {}]", i.lo, i.hi)?;
            separator = ", ";
        }
        for (e, i) in &self.domain.constraints {
            write!(f, "{separator}{} in [{}, {}]", Named(e, &name), i.lo, i.hi)?;
            separator = ", ";
        }
        Ok(())
    }
}
