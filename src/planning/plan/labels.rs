//! Loop labels of the dimensions of an operation's arrays: dimensions with the same loop are one.
//!
//! `reduce(x[2,65,125], 0), dimensions={2}` runs over loops 0, 1 and 2; `x` has the loops `[0, 1, 2]`, the result `[0, 1]`.
//! An order of the loops is an order of the dimensions of each array: with the loops in the order `{2,0,1}`, minor first,
//! `x` is `{2,0,1}` and the result `{0,1}`. So a kernel reads and writes everything in the order in which it runs. The loop
//! of a dimension is the first one in its index, as [`Operation::loops`] says it.

use tensor_layout::expr::Expr;
use tensor_layout::operations::operation::{Algorithm, Loops, Operation};
use tensor_layout::operations::shape::Array;

/// The loop of each dimension of each array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Labels {
    /// The loops of the operands' dimensions.
    pub operands: Vec<Vec<usize>>,
    /// The loops of the results' dimensions.
    pub results: Vec<Vec<usize>>,
    /// Whether an order of one array is one of all others: the operation streams through all of them.
    pub streams: bool,
}

/// The loops along which dimensions of an operation's arrays go together. Those of an algorithm over lines or matrices are
/// the dimensions that all of its arrays have; an iteration reads more than one element.
pub fn loops(operation: &Operation, operands: &[&Array], results: &[&Array]) -> Option<Loops> {
    let Operation::Algorithm(algorithm) = operation else { return operation.loops(operands, results) };
    let goes_along = matches!(
        **algorithm,
        Algorithm::Sort { .. }
            | Algorithm::TopK { .. }
            | Algorithm::SelectAndScatter { .. }
            | Algorithm::Fft { .. }
            | Algorithm::Cholesky { .. }
            | Algorithm::TriangularSolve { .. }
            | Algorithm::Scan { .. }
    );
    Loops::alike(operands, results).filter(|_| goes_along)
}

impl Labels {
    /// The loops of an operation; `None` where its dimensions have nothing to do with each other. A dimension whose index
    /// has no loop has a label of its own, and so has one whose index is written as more than a loop.
    pub fn new(operation: &Operation, operands: &[&Array], results: &[&Array]) -> Option<Labels> {
        let loops = loops(operation, operands, results)?;
        let is_written = matches!(operation, Operation::Loops(_));
        let mut others = loops.sizes.len()..;
        let mut label = |e: &Expr| {
            let follows = if is_written && !matches!(e, Expr::Var(_)) { Vec::new() } else { loops.in_index(e) };
            follows.first().copied().or_else(|| others.next()).unwrap_or_default()
        };
        let mut own = |index: &Vec<Expr>| index.iter().map(&mut label).collect::<Vec<_>>();
        let results = loops.results.iter().map(&mut own).collect();
        let operands = loops.operands.iter().map(|index| index.as_ref().map_or(Vec::new(), &mut own)).collect();
        let mut found = Labels { operands, results, streams: true };
        found.streams = match operation {
            Operation::Dot { .. } | Operation::Convolution(_) | Operation::Gather(_) => false,
            Operation::Loops(_) => found.widest().is_some(),
            _ => true,
        };
        Some(found)
    }

    /// The number of loops.
    pub fn loops(&self) -> usize {
        self.operands.iter().chain(&self.results).flatten().max().map_or(0, |most| most + 1)
    }

    /// The array that has all loops, each once, if there is one: the first result, else the first operand.
    pub fn widest(&self) -> Option<(bool, usize)> {
        let whole = |labels: &Vec<usize>| {
            let mut sorted = labels.clone();
            sorted.sort_unstable();
            sorted.dedup();
            sorted.len() == labels.len() && labels.len() == self.loops()
        };
        let result = self.results.iter().position(whole).map(|k| (true, k));
        result.or_else(|| self.operands.iter().position(whole).map(|k| (false, k)))
    }
}

/// An order of the dimensions of one array as an order of its loops.
pub fn order_of_loops(labels: &[usize], minor_to_major: &[usize]) -> Vec<usize> {
    minor_to_major.iter().map(|dim| labels[*dim]).collect()
}

/// The order of dimensions that an order of loops is, minor to major. Dimensions of loops that are not in the order are
/// most major, in descending order.
pub fn order_of_dimensions(labels: &[usize], loops: &[usize]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..labels.len()).rev().collect();
    order.sort_by_key(|dim| loops.iter().position(|own| *own == labels[*dim]).unwrap_or(usize::MAX));
    order
}
