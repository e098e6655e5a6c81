//! Grids of processes, and the groups along some of their axes.
//!
//! A process has the number that MPI gives it, its *rank*, which is its row-major linear index in the grid. A group
//! along axes of the grid contains the processes that differ only in these; its *members* are numbered row-major in the
//! order of the axes.
//!
//! ```text
//! grid 2x4, axes [0]: the groups are {0, 4} {1, 5} {2, 6} {3, 7}; rank 5 is member 1 of the second
//! ```

use layout_ir::{self as ir, Builder, Op, Val};
use melior::ir::{Type, ValueLike};

/// A grid of processes.
pub struct RankGrid {
    /// The sizes of its axes.
    pub shape: Vec<i64>,
    /// Their product.
    pub processes: i64,
}

impl RankGrid {
    /// The grid of a `shard.grid`.
    ///
    /// # Errors
    /// A size that is dynamic or below 1, and more processes than MPI can number.
    pub fn of(op: Op) -> Result<RankGrid, String> {
        let shape = ir::integers(op, "shape");
        if let Some(size) = shape.iter().find(|size| **size < 1) {
            let found = if *size == i64::MIN { "`?`".to_owned() } else { size.to_string() };
            return Err(format!("expected a size of each axis that is known and at least 1, found {found}"));
        }
        let product = shape.iter().try_fold(1i64, |n, size| n.checked_mul(*size));
        let processes = product.filter(|n| *n <= i64::from(i32::MAX));
        let processes = processes.ok_or_else(|| format!("expected at most {} processes", i32::MAX))?;
        Ok(RankGrid { shape, processes })
    }

    /// The axes that an attribute of an operation lists; all of them if the list is empty.
    ///
    /// # Errors
    /// An axis that the grid does not have, or one that is listed twice.
    pub fn axes(&self, op: Op, name: &str) -> Result<Vec<usize>, String> {
        let listed = short_integers(op, name);
        let mut axes = Vec::new();
        for axis in listed {
            let known = usize::try_from(axis).ok().filter(|axis| *axis < self.shape.len());
            let axis = known.ok_or_else(|| format!("expected axes below {}, found {axis}", self.shape.len()))?;
            if axes.contains(&axis) {
                return Err(format!("expected each axis once, found {axis} twice"));
            }
            axes.push(axis);
        }
        Ok(axes)
    }

    /// The rank stride of neighbours along an axis.
    fn stride(&self, axis: usize) -> i64 {
        self.shape[axis + 1..].iter().product()
    }

    /// The groups along some axes.
    pub fn group(&self, axes: &[usize]) -> Group {
        let mut digits: Vec<RankDigit> = Vec::new();
        for axis in axes {
            let next = RankDigit { stride: self.stride(*axis), size: self.shape[*axis] };
            match digits.last_mut() {
                Some(last) if last.stride == next.stride * next.size => {
                    *last = RankDigit { stride: next.stride, size: last.size * next.size };
                }
                _ => digits.push(next),
            }
        }
        Group { members: digits.iter().map(|digit| digit.size).product(), digits, processes: self.processes }
    }
}

/// The integers of a dense array of 16 bits, the dialect's storage of axes.
fn short_integers(op: Op, name: &str) -> Vec<i64> {
    let text = ir::attribute(op, name).map(|attribute| attribute.to_string()).unwrap_or_default();
    let listed = text.trim_start_matches("array<i16").trim_end_matches('>').trim_start_matches(':');
    listed.split(',').filter_map(|number| number.trim().parse().ok()).collect()
}

/// A digit of a rank: neighbours along it are `stride` ranks apart.
#[derive(Clone, Copy)]
struct RankDigit {
    stride: i64,
    size: i64,
}

/// The groups along some axes of a grid.
pub struct Group {
    /// The processes of each group.
    pub members: i64,
    /// Their numbers' digits, the most significant first.
    digits: Vec<RankDigit>,
    processes: i64,
}

impl Group {
    /// The member number of the process with a rank.
    pub fn member<'c>(&self, b: Builder<'c>, rank: Val<'c>) -> Val<'c> {
        let digits: Vec<Val<'c>> = self.digits.iter().map(|digit| self.digit(b, rank, *digit)).collect();
        let sizes: Vec<i64> = self.digits.iter().map(|digit| digit.size).collect();
        linear(b, &digits, &sizes)
    }

    /// A digit of a rank.
    fn digit<'c>(&self, b: Builder<'c>, rank: Val<'c>, digit: RankDigit) -> Val<'c> {
        let shifted = arith(b, "arith.divui", rank, digit.stride);
        if digit.stride * digit.size == self.processes { shifted } else { arith(b, "arith.remui", shifted, digit.size) }
    }

    /// The rank of a member of the group that contains the process with a rank.
    pub fn rank_of<'c>(&self, b: Builder<'c>, rank: Val<'c>, member: Val<'c>) -> Val<'c> {
        if let [RankDigit { stride: 1, size }] = self.digits[..]
            && size == self.processes
        {
            return member;
        }
        let (mut rest, mut found) = (member, rank);
        for digit in self.digits.iter().rev() {
            let new = arith(b, "arith.remui", rest, digit.size);
            rest = arith(b, "arith.divui", rest, digit.size);
            let old = self.digit(b, rank, *digit);
            found = add(b, found, arith(b, "arith.muli", sub(b, new, old), digit.stride));
        }
        found
    }
}

/// The row-major linear index in an array of these sizes.
pub fn linear<'c>(b: Builder<'c>, index: &[Val<'c>], sizes: &[i64]) -> Val<'c> {
    let mut all = index.iter().zip(sizes);
    let Some((first, _)) = all.next() else { return b.index(0) };
    all.fold(*first, |number, (digit, size)| add(b, arith(b, "arith.muli", number, *size), *digit))
}

/// An operation of `arith` on an index and a constant; identities are omitted.
pub fn arith<'c>(b: Builder<'c>, name: &str, x: Val<'c>, n: i64) -> Val<'c> {
    match (name, n) {
        ("arith.muli" | "arith.divui", 1) | ("arith.addi", 0) => x,
        ("arith.remui", 1) => b.index(0),
        _ => b.value(name, &[x, b.index(n)], Type::index(b.context()), &[]),
    }
}

/// A sum of indices.
pub fn add<'c>(b: Builder<'c>, x: Val<'c>, y: Val<'c>) -> Val<'c> {
    b.value("arith.addi", &[x, y], x.r#type(), &[])
}

/// A difference of indices.
pub fn sub<'c>(b: Builder<'c>, x: Val<'c>, y: Val<'c>) -> Val<'c> {
    b.value("arith.subi", &[x, y], x.r#type(), &[])
}
