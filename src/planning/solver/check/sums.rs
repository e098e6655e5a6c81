//! Sums of costs that may be forbidden, and errors.

use crate::solver::network::FORBIDDEN;
use tensor_layout::text::Error;

pub fn wrong<T>(message: String) -> Result<T, Error> {
    Err(Error::new(message))
}

/// The sum, forbidden if either term is.
pub fn add(a: i64, b: i64) -> Result<i64, Error> {
    if a == FORBIDDEN || b == FORBIDDEN {
        return Ok(FORBIDDEN);
    }
    match a.checked_add(b) {
        Some(sum) if sum.unsigned_abs() < 1 << 62 => Ok(sum),
        _ => wrong(format!("the sum {a} + {b} is too large")),
    }
}

pub fn least(costs: impl IntoIterator<Item = i64>) -> i64 {
    costs.into_iter().min().unwrap_or(FORBIDDEN)
}

/// The sum of costs whose range the network has checked.
pub fn finite_sum(a: i64, b: i64) -> i64 {
    if a == FORBIDDEN || b == FORBIDDEN { FORBIDDEN } else { a + b }
}

/// Transposes a row-major table.
pub fn turned(costs: &[i64], rows: usize) -> Vec<i64> {
    let columns = costs.len() / rows;
    (0..columns).flat_map(|j| (0..rows).map(move |i| costs[i * columns + j])).collect()
}

/// The choices that are not forbidden.
pub fn possible(costs: &[i64]) -> Vec<usize> {
    (0..costs.len()).filter(|choice| costs[*choice] != FORBIDDEN).collect()
}
