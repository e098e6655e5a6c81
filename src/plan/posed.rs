//! The problem that a program is: a variable for each instance, whose choices are its ways, and an edge for each operand.

use super::classes::{Classes, LayoutId};
use super::kernels::{Kept, Kernels};
use super::prices::{Meeting, Prices, Taker};
use super::program::{Part, Program};
use super::ways::{Choices, Entry, Way};
use crate::operations::operation::Operation;
use crate::solver::CostNetwork;
use crate::targets::Target;
use crate::text::Error;
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// A program as a problem. Variables are the instances, by their numbers.
pub struct Posed<'a, 't> {
    /// The program.
    pub program: &'a Program<'a>,
    /// What can be chosen.
    pub choices: Choices<'t>,
    /// What is a kernel.
    pub kernels: Kernels,
    /// The users of each array: instances and their operands.
    pub users: Vec<Vec<(usize, usize)>>,
}

/// An operand and where it comes from.
#[derive(Clone, Copy, Debug)]
pub struct Taken {
    /// The instance that takes the array, and as which operand.
    pub by: (usize, usize),
    /// The array.
    pub made: usize,
    /// How often.
    pub times: i64,
}

impl<'a, 't> Posed<'a, 't> {
    /// Poses the problem.
    ///
    /// # Errors
    /// An instance and what is wrong with it.
    pub fn new(program: &'a Program<'a>, target: &'t Target, entry: Entry) -> Result<Posed<'a, 't>, (usize, Error)> {
        let users = program.users();
        let kernels = Kernels::new(program, &users);
        let choices = Choices::new(program, Classes::new(target), entry)?;
        Ok(Posed { program, choices, kernels, users })
    }

    /// The operands of all instances.
    pub fn taken(&self) -> impl Iterator<Item = Taken> + '_ {
        self.program.instances.iter().enumerate().flat_map(|(k, instance)| {
            let times = |made: usize| match instance.part {
                // A loop takes what its body makes as often as the body runs.
                Part::Merge => self.program.instances[self.program.made[made].by].times,
                _ => instance.times,
            };
            let taken = move |(operand, made): (usize, &usize)| Taken { by: (k, operand), made: *made, times: times(*made) };
            instance.operands.iter().enumerate().map(taken)
        })
    }

    /// What the costs of an operand depend on beside the two layouts.
    pub fn meeting(&self, taken: &Taken) -> Meeting {
        let (user, operand) = taken.by;
        let maker = self.program.made[taken.made].by;
        let taker = match self.program.instances[user].part {
            Part::Result(_) => Taker::Result,
            Part::Operation(operation) => match operation {
                Operation::Dot { .. } | Operation::Convolution(_) | Operation::Gather(_) | Operation::Scatter(_) => {
                    Taker::Matrix
                }
                _ => Taker::Stream,
            },
            Part::Argument(..) | Part::Merge | Part::Copy => Taker::Other,
        };
        Meeting {
            class: self.choices.class[taken.made],
            kept: self.kernels.kept[maker],
            argument: matches!(self.program.instances[maker].part, Part::Argument(..)),
            taker,
            reads: self.kernels.reads[user][operand],
        }
    }

    /// The layouts in which an array is made and taken, in these ways of the instances.
    pub fn layouts(&self, taken: &Taken, made: &Way, by: &Way) -> (LayoutId, LayoutId) {
        let from = made.results[self.program.made[taken.made].result];
        (from, by.operands[taken.by.1].unwrap_or(from))
    }

    /// The network of costs.
    ///
    /// # Errors
    /// An instance, and why its costs do not fit.
    pub fn network(&self, prices: &Prices) -> Result<CostNetwork, (usize, Error)> {
        let mut network = CostNetwork::new();
        let mut known: FxHashMap<_, Rc<Vec<i64>>> = FxHashMap::default();
        for (k, ways) in self.choices.ways.iter().enumerate() {
            let key = (self.own(k), Rc::as_ptr(ways), self.kernels.kept[k]);
            let costs = match known.get(&key) {
                Some(costs) => costs.clone(),
                None => {
                    let costs = ways.iter().map(|way| self.cost(prices, k, way)).collect::<Result<Vec<_>, _>>();
                    let costs = Rc::new(costs.map_err(|error| (k, error))?);
                    known.insert(key, costs.clone());
                    costs
                }
            };
            let times = self.program.instances[k].times;
            let costs = times_all(&costs, times).map_err(|error| (k, error))?;
            network.add_variable(costs).map_err(|error| (k, Error::new(error.to_string())))?;
        }
        let mut tables: FxHashMap<_, Rc<Vec<i64>>> = FxHashMap::default();
        for taken in self.taken() {
            let (user, maker) = (taken.by.0, self.program.made[taken.made].by);
            let (made, by) = (&self.choices.ways[maker], &self.choices.ways[user]);
            let meeting = self.meeting(&taken);
            let result = self.program.made[taken.made].result;
            let key = (Rc::as_ptr(made), result, Rc::as_ptr(by), taken.by.1, meeting);
            let table = match tables.get(&key) {
                Some(table) => table.clone(),
                None => {
                    let mut table = Vec::with_capacity(made.len() * by.len());
                    for a in made.iter() {
                        for b in by.iter() {
                            let (from, to) = self.layouts(&taken, a, b);
                            table.push(prices.meeting(meeting, from, to).map_err(|error| (user, error))?);
                        }
                    }
                    let table = Rc::new(table);
                    tables.insert(key, table.clone());
                    table
                }
            };
            if table.iter().all(|cost| *cost == 0) {
                continue;
            }
            let table = times_all(&table, taken.times).map_err(|error| (user, error))?;
            network.add_edge(maker, user, table).map_err(|error| (user, Error::new(error.to_string())))?;
        }
        Ok(network)
    }

    /// The operation of an instance as text, where its cost depends on it.
    fn own(&self, k: usize) -> String {
        match self.program.instances[k].part {
            Part::Operation(operation) => format!("{operation:?}"),
            _ => String::new(),
        }
    }

    /// What an instance costs in a way, once.
    pub fn cost(&self, prices: &Prices, k: usize, way: &Way) -> Result<i64, Error> {
        let instance = &self.program.instances[k];
        let Part::Operation(operation) = instance.part else { return Ok(0) };
        let classes = |numbers: &[usize]| numbers.iter().map(|made| self.choices.class[*made]).collect::<Vec<_>>();
        let kept = if instance.results.iter().all(|made| self.users[*made].is_empty()) {
            // What nothing uses is not computed.
            Kept::Remade
        } else {
            self.kernels.kept[k]
        };
        prices.instance(operation, way, &classes(&instance.operands), &classes(&instance.results), kept)
    }
}

fn times_all(costs: &[i64], times: i64) -> Result<Vec<i64>, Error> {
    let product = |cost: &i64| cost.checked_mul(times).ok_or_else(|| Error::new("the cost does not fit in 64 bits"));
    costs.iter().map(product).collect()
}
