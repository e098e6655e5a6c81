//! The equations between an operand's index and a result's.
//!
//! A slice from 1 in steps of 2 has `in = 1 + 2 * out`; solved for `in` it gives the elements read, solved for `out`
//! the elements fed. They follow from the loops of an operation ([`Operation::loops`]), but for operations with conditions
//! beside them, which have functions of their own. A `pad` needs several lists of equations for its value: before, between
//! and after the data. A window says which of its unknowns is a range, and a gather in which element a start is.

mod algorithms;
mod collectives;
mod gather;
mod loops;
mod products;
mod sides;
mod slices;
mod windows;

use super::access::Access;
use super::bitcast;
use super::relation::Direction;
use crate::operations::operation::{Loops, Operation};
use crate::operations::rules::tuples::before;
use crate::operations::shape::{Array, Shape, leaves};
use crate::text::Error;
use sides::{Equations, Related, Sides};
use std::cell::OnceCell;

/// An operation applied to operands and results, split into arrays.
pub(super) struct Application<'a> {
    operation: &'a Operation,
    /// The arrays of the operands; for a `get-tuple-element`, only the arrays of the part.
    pub operands: Vec<&'a Array>,
    /// The number of operand arrays before those.
    pub first: usize,
    /// The arrays of the results.
    pub results: Vec<&'a Array>,
    /// The sizes of both; `None` if one is unbounded.
    sizes: Option<[Vec<Vec<i64>>; 2]>,
    /// For each result array, the operand array that the operation passes on as it.
    passed: Vec<Option<usize>>,
    /// The operation of an asynchronous start.
    started: Option<Box<Application<'a>>>,
    /// The loops of the operation, if it has any.
    loops: OnceCell<Option<Loops>>,
}

impl<'a> Application<'a> {
    /// Checks the operation and splits it.
    ///
    /// # Errors
    /// A rule that does not hold.
    pub fn new(
        operation: &'a Operation,
        operands: &[&'a Shape],
        results: &[&'a Shape],
    ) -> Result<Application<'a>, Error> {
        operation.check(operands, results)?;
        let arrays = |shapes: &[&'a Shape]| shapes.iter().flat_map(|shape| leaves(shape)).collect::<Vec<_>>();
        // A tuple of many parts may have as many users, so only one part is visited.
        let (first, from) = match (operation, operands) {
            (Operation::GetTupleElement { index }, [Shape::Tuple(parts)]) => {
                (before(*index, operands)?, arrays(&[&parts[*index]]))
            }
            _ => (0, arrays(operands)),
        };
        Ok(Application::of(operation, first, from, arrays(results)))
    }

    /// A checked operation on arrays, without the first `first` arrays of the operands.
    fn of(
        operation: &'a Operation,
        first: usize,
        operands: Vec<&'a Array>,
        results: Vec<&'a Array>,
    ) -> Application<'a> {
        let passed = match operation {
            Operation::Tuple | Operation::GetTupleElement { .. } => (0..results.len()).map(Some).collect(),
            Operation::Leaves { numbers } => numbers.clone(),
            Operation::Start(start) => (0..results.len()).map(|k| start.operand(k)).collect(),
            _ => Vec::new(),
        };
        let started = match operation {
            Operation::Start(start) => {
                let made = results.iter().copied().skip(start.results.0).take(start.results.1).collect();
                Some(Box::new(Application::of(&start.operation, 0, operands.clone(), made)))
            }
            _ => None,
        };
        let sizes = |arrays: &[&Array]| arrays.iter().map(|a| a.sizes()).collect::<Option<Vec<_>>>();
        let sizes = sizes(&operands).zip(sizes(&results)).map(|(operands, results)| [operands, results]);
        Application { operation, operands, first, results, sizes, passed, started, loops: OnceCell::new() }
    }

    /// The operand array that the operation passes on as this result, if any.
    pub fn passed(&self, result: usize) -> Option<usize> {
        self.passed.get(result).copied().flatten()
    }

    /// Whether a result array is newly computed, and neither an operand nor internal to the device.
    pub fn makes(&self, result: usize) -> bool {
        match self.operation {
            Operation::Start(start) => start.result(result).is_some(),
            _ => self.passed(result).is_none(),
        }
    }

    /// The elements that an element of an array reads or feeds on the other side.
    pub fn access(&self, operand: usize, result: usize, direction: Direction) -> Result<Access, Error> {
        Ok(match self.related(operand, result, direction)? {
            Related::Unknown(reason) => Access { maps: Vec::new(), unknown: vec![reason] },
            Related::By(relations) => {
                let maps = relations.iter().filter_map(|r| r.solve(direction).transpose());
                Access { maps: maps.collect::<Result<_, _>>()?, unknown: Vec::new() }
            }
        })
    }

    /// The equations between an operand and a result.
    fn related(&self, operand: usize, result: usize, direction: Direction) -> Equations {
        let none = Ok(Related::By(Vec::new()));
        if let (Operation::Start(start), Some(inner)) = (self.operation, &self.started)
            && let Some(result) = start.result(result)
        {
            return inner.related(operand, result, direction);
        }
        if matches!(self.operation, Operation::Leaves { .. } | Operation::Start(_)) && self.passed(result).is_none() {
            return none;
        }
        let [ins, outs] = match self.known_sizes() {
            Ok(sizes) => sizes,
            Err(reason) => return Ok(Related::Unknown(reason.to_string())),
        };
        let s = &Sides { ins, outs, operand, result, direction };
        match self.operation {
            Operation::DynamicUpdateSlice if operand == 0 => slices::kept(&s.ins[0], &s.ins[1]),
            // An initial value is read for every element, also where nothing is reduced.
            Operation::Reduce { .. } if operand >= s.ins.len() / 2 => Ok(s.relation().into()),
            Operation::Elementwise
            | Operation::Select
            | Operation::Broadcast { .. }
            | Operation::Transpose { .. }
            | Operation::Reverse { .. }
            | Operation::Reduce { .. }
            | Operation::Concatenate { .. }
            | Operation::Dot { .. }
            | Operation::Slice { .. }
            | Operation::DynamicSlice { .. }
            | Operation::DynamicUpdateSlice
            | Operation::Loops(_) => self.looped(s),
            Operation::Reshape => s.reshape(),
            Operation::Bitcast => self.bitcast(s),
            Operation::Pad { low, interior, .. } => slices::pad(low, interior, s),
            Operation::InsertSlice { starts, strides } => slices::insert_slice(starts, strides, s),
            Operation::ReduceWindow { window } => windows::reduce_window(window, s),
            Operation::Convolution(c) => windows::convolution(c, s),
            Operation::Gather(g) => gather::gather(g, s),
            Operation::Scatter(g) => gather::scatter(g, s),
            Operation::Algorithm(one) => algorithms::algorithm(one, s),
            Operation::Collective(c) => collectives::related(c, s),
            Operation::Tuple | Operation::GetTupleElement { .. } | Operation::Leaves { .. } | Operation::Start(_) => {
                match self.passed(result) {
                    Some(from) if from == operand => s.identity(),
                    _ => none,
                }
            }
            Operation::Iota { .. }
            | Operation::Constant
            | Operation::Parameter { .. }
            | Operation::Call { .. }
            | Operation::While { .. }
            | Operation::Conditional { .. }
            | Operation::Other { .. } => none,
        }
    }

    /// The sizes of the operands and of the results, or the reason why nothing is known between them.
    fn known_sizes(&self) -> Result<&[Vec<Vec<i64>>; 2], &str> {
        match self.operation {
            Operation::Other { reason } => Err(reason),
            Operation::Call { .. } | Operation::While { .. } | Operation::Conditional { .. } => {
                Err("the computation that runs is not known here")
            }
            _ => self.sizes.as_ref().ok_or("a size is not bounded"),
        }
    }

    /// The equations of the operation's loops.
    fn looped(&self, s: &Sides) -> Equations {
        match self.loops.get_or_init(|| self.operation.loops(&self.operands, &self.results)) {
            Some(loops) => loops::related(loops, !matches!(self.operation, Operation::Loops(_)), s),
            None => Ok(Related::Unknown("the dimensions of its arrays do not match".to_string())),
        }
    }

    /// The equations of a bitcast, which follow from the layouts.
    fn bitcast(&self, s: &Sides) -> Equations {
        let mut r = s.relation();
        let reason = bitcast::relate(&mut r, self.results[s.result], self.operands[s.operand], s.direction)?;
        Ok(reason.map_or_else(|| r.into(), Related::Unknown))
    }
}
