//! The flow of one graph: from the root down, every value gets the maps by which the root reaches it.

use super::access::Access;
use super::compose::identity;
use super::equations::Application;
use super::flow::{Flow, FlowTable, Pair, Row, TOO_MUCH, ValueRef};
use super::relation::{Direction, Relation};
use super::rounds::Rounds;
use super::union::Union;
use crate::operations::graph::{Graph, Node, Value};
use crate::operations::operation::Operation;
use crate::operations::shape::{Array, Shape, count, leaves};
use crate::text::Error;
use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write;
use std::rc::Rc;
use std::slice;

/// The computation that an operation runs on all of its operands, and the root behind an array of the result.
fn called(operation: &Operation, result: usize) -> Option<(usize, usize)> {
    match operation {
        Operation::Call { computation } => Some((*computation, result)),
        Operation::Start(start) => called(&start.operation, start.result(result)?),
        _ => None,
    }
}

/// The maps of operations, by the text of the operation and its arrays, and by leaves: programs repeat their layers.
pub type Solved = RefCell<HashMap<String, Rc<(Access, Access)>>>;

/// The limits on entries, and on the leaves of one.
const MOST_SOLVED: usize = 1 << 14;
const SMALL: usize = 16;

/// One graph, while its flow is computed.
pub struct Walk<'a> {
    graphs: &'a [Graph],
    solved: &'a Solved,
    number: usize,
    graph: &'a Graph,
    flows: &'a FlowTable,
    pub applied: Vec<Application<'a>>,
    /// The sizes of each node's leaves; `None` if one is unbounded.
    sizes: Vec<Vec<Option<Vec<i64>>>>,
    /// For each node and leaf of its operands, the defining node and leaf.
    operands: Vec<Vec<(usize, usize)>>,
    /// For each node and leaf of its operands, the number of the operand, and of the leaf in it.
    positions: Vec<Vec<(usize, usize)>>,
    /// The node of each parameter.
    parameters: Vec<usize>,
    /// The maps of nodes, by node, operand's leaf and result's leaf.
    known: BTreeMap<(usize, usize, usize), Rc<Pair>>,
    /// The loops, by node.
    loops: BTreeMap<usize, Rounds>,
}

impl<'a> Walk<'a> {
    pub fn new(
        graphs: &'a [Graph],
        number: usize,
        flows: &'a FlowTable,
        solved: &'a Solved,
    ) -> Result<Walk<'a>, Error> {
        let graph = &graphs[number];
        let mut walk = Walk {
            graphs,
            solved,
            number,
            graph,
            flows,
            applied: Vec::new(),
            sizes: Vec::new(),
            operands: Vec::new(),
            positions: Vec::new(),
            parameters: Vec::new(),
            known: BTreeMap::new(),
            loops: BTreeMap::new(),
        };
        let mut parameters = BTreeMap::new();
        for (k, node) in graph.nodes.iter().enumerate() {
            let wrong = |message: String| Error::new(format!("node {k} of graph {number}: {message}"));
            walk.apply(k).map_err(wrong)?;
            if let Operation::Parameter { number } = node.operation
                && parameters.insert(number, k).is_some()
            {
                return Err(wrong(format!("parameter {number} must be defined once, found a second")));
            }
        }
        for (expected, (number, node)) in parameters.into_iter().enumerate() {
            if number != expected {
                return Err(Error::new(format!(
                    "node {node}: expected parameter {expected}, found parameter {number}"
                )));
            }
            walk.parameters.push(node);
        }
        Ok(walk)
    }

    /// Applies the operation of a node to the results of the nodes before it.
    fn apply(&mut self, k: usize) -> Result<(), String> {
        let graph = self.graph;
        let node = &graph.nodes[k];
        let shapes = node.operands.iter().map(|value| {
            let from = graph.nodes[..k].get(value.node);
            let from = from.ok_or_else(|| format!("an operand must be a node before it, found node {}", value.node))?;
            from.results.get(value.result).ok_or_else(|| no_result(value, from))
        });
        let shapes = shapes.collect::<Result<Vec<&Shape>, String>>()?;
        let results: Vec<&Shape> = node.results.iter().collect();
        let applied = Application::new(&node.operation, &shapes, &results).map_err(|error| error.message)?;
        self.sizes.push(applied.results.iter().map(|array| array.sizes()).collect());
        let only = matches!(node.operation, Operation::GetTupleElement { .. });
        let (mut operands, mut positions) = (Vec::new(), Vec::new());
        for (number, value) in node.operands.iter().enumerate() {
            let own = if only { applied.operands.len() } else { count(shapes[number]) };
            let first = graph.nodes[value.node].first(value.result) + applied.first;
            positions.extend((0..own).map(|leaf| (number, applied.first + leaf)));
            operands.extend((first..first + own).map(|leaf| (value.node, leaf)));
        }
        self.applied.push(applied);
        self.operands.push(operands);
        self.positions.push(positions);
        self.called(k)
    }

    /// Checks that the computations of a node have its operands as parameters and its results as roots.
    fn called(&self, k: usize) -> Result<(), String> {
        let node = &self.graph.nodes[k];
        let results = self.sizes[k].len();
        match &node.operation {
            Operation::Call { computation } => self.interface(*computation, &node.operands, results),
            Operation::Start(start) => match start.operation {
                Operation::Call { computation } => self.interface(computation, &node.operands, start.results.1),
                Operation::While { .. } | Operation::Conditional { .. } => {
                    Err("a loop or a conditional must not be started beside others, found one".to_string())
                }
                _ => Ok(()),
            },
            Operation::While { condition, body } => {
                self.takes(*condition, &node.operands)?;
                self.takes(*body, &node.operands)?;
                self.gives(*condition, 1)?;
                self.gives(*body, results)?;
                if self.operands[k].len() == results {
                    return Ok(());
                }
                Err(format!(
                    "a loop must have as many arrays as its operand, {}, found {results}",
                    self.operands[k].len()
                ))
            }
            Operation::Conditional { branches } => {
                if node.operands.len() != branches.len() + 1 {
                    let (expected, found) = (branches.len() + 1, node.operands.len());
                    return Err(format!(
                        "a conditional must have {expected} operands, one for each branch and one before, found {found}"
                    ));
                }
                let mut branches = branches.iter().zip(&node.operands[1..]);
                branches.try_for_each(|(callee, operand)| self.interface(*callee, slice::from_ref(operand), results))
            }
            _ => Ok(()),
        }
    }

    /// Checks that a computation has the operands as parameters and as many arrays as roots.
    fn interface(&self, callee: usize, operands: &[Value], roots: usize) -> Result<(), String> {
        self.takes(callee, operands)?;
        self.gives(callee, roots)
    }

    /// Checks that a computation has the operands as parameters.
    fn takes(&self, callee: usize, operands: &[Value]) -> Result<(), String> {
        let flow = &self.flows[&callee];
        let shapes = operands.iter().map(|v| &self.graph.nodes[v.node].results[v.result]);
        let given: Vec<usize> = shapes.map(count).collect();
        // Without roots, nothing is known of the parameters, or needed.
        if flow.roots() != 0 && flow.parameters() != given {
            let expected = flow.parameters();
            return Err(format!("the operands of graph {callee} must have {expected:?} arrays, found {given:?}"));
        }
        Ok(())
    }

    /// Checks that a computation has as many arrays as roots.
    fn gives(&self, callee: usize, roots: usize) -> Result<(), String> {
        match self.flows[&callee].roots() {
            found if found == roots => Ok(()),
            found => Err(format!("graph {callee} must have {roots} arrays as roots, found {found}")),
        }
    }

    /// The operation of a node.
    pub fn operation(&self, k: usize) -> &'a Operation {
        &self.graph.nodes[k].operation
    }

    /// The arrays of each parameter.
    pub fn parameter_arrays(&self) -> Vec<Vec<&'a Array>> {
        self.parameters.iter().map(|node| self.applied[*node].results.clone()).collect()
    }

    /// The arrays of the roots; the roots must be checked.
    pub fn root_arrays(&self) -> Vec<&'a Array> {
        self.graph.roots.iter().flat_map(|v| leaves(&self.graph.nodes[v.node].results[v.result])).collect()
    }

    /// The reads and feeds of all root leaves.
    pub fn all(mut self, work: &mut u64) -> Result<Flow, Error> {
        let (mut rows, mut passed) = (Vec::new(), Vec::new());
        for root in &self.graph.roots {
            let node = self.graph.nodes.get(root.node);
            let node = node.ok_or_else(|| {
                Error::new(format!(
                    "a root must be one of the {} nodes, found node {}",
                    self.graph.nodes.len(),
                    root.node
                ))
            })?;
            let shape = node.results.get(root.result);
            let shape = shape.ok_or_else(|| Error::new(no_result(root, node)))?;
            let first = node.first(root.result);
            for leaf in first..first + count(shape) {
                rows.push(self.from(root.node, leaf, work)?);
                let place = self.place((root.node, leaf));
                passed.push(match self.graph.nodes[place.node].operation {
                    Operation::Parameter { number } => Some((number, place.leaf)),
                    _ => None,
                });
            }
        }
        let parameters = self.parameters.iter().map(|node| self.sizes[*node].len()).collect();
        Ok(Flow { rows, parameters, none: (Access::none(), Access::none()), passed })
    }

    /// The reads and feeds of one root leaf.
    fn from(&mut self, root: usize, leaf: usize, work: &mut u64) -> Result<Row, Error> {
        let start = match &self.sizes[root][leaf] {
            Some(sizes) => identity(sizes)?,
            None => Access { maps: Vec::new(), unknown: vec!["a size is not bounded".to_string()] },
        };
        // By node and leaf; only reached ones. The last node goes first: no remaining node uses it.
        let mut sets = BTreeMap::from([((root, leaf), (Union::of(start.clone()), Union::of(start)))]);
        let mut row = Row::default();
        while let Some((&(k, _), _)) = sets.last_key_value() {
            let own = sets.split_off(&(k, 0));
            if let Operation::Parameter { number } = self.graph.nodes[k].operation {
                let pairs = own.into_iter().map(|((_, leaf), (reads, feeds))| (leaf, (reads.access, feeds.access)));
                let there = pairs.filter(|(_, (reads, feeds))| !reads.is_empty() || !feeds.is_empty());
                row.pairs.extend(there.map(|(leaf, pair)| ((number, leaf), pair)));
                continue;
            }
            for ((_, result), (reads, feeds)) in own {
                if reads.is_empty() && feeds.is_empty() {
                    continue;
                }
                for operand in self.related(k, result)? {
                    let Some(left) = work.checked_sub(1) else {
                        let access = Access { maps: Vec::new(), unknown: vec![TOO_MUCH.to_string()] };
                        row.pairs.clear();
                        row.others = Some((access.clone(), access));
                        return Ok(row);
                    };
                    *work = left;
                    let own = self.pair(k, operand, result)?;
                    let (of_reads, of_feeds) = sets.entry(self.operands[k][operand]).or_default();
                    // Maps are composed at the node's result.
                    let middle = self.sizes[k][result].as_deref();
                    of_reads.extend(&reads.access, &own.0, middle, work);
                    of_feeds.extend(&own.1, &feeds.access, middle, work);
                }
            }
        }
        Ok(row)
    }

    /// The operand leaves of a node that a leaf of its result may depend on.
    fn related(&mut self, k: usize, result: usize) -> Result<Vec<usize>, Error> {
        if let Some(operand) = self.applied[k].passed(result) {
            return Ok(vec![operand]);
        }
        match self.graph.nodes[k].operation {
            Operation::While { condition, body } => self.reached(k, condition, body, result),
            Operation::Call { computation } => {
                let row = &self.flows[&computation].rows[result];
                if row.others.is_some() {
                    return Ok((0..self.operands[k].len()).collect());
                }
                let place = |pair: &(usize, usize)| self.positions[k].binary_search(pair).ok();
                Ok(row.pairs.keys().filter_map(place).collect())
            }
            _ => Ok((0..self.operands[k].len()).collect()),
        }
    }

    /// The maps between a leaf of a node's result and a leaf of its operands, both ways.
    pub fn pair(&mut self, k: usize, operand: usize, result: usize) -> Result<Rc<Pair>, Error> {
        if let Some(pair) = self.known.get(&(k, operand, result)) {
            return Ok(pair.clone());
        }
        let node = &self.graph.nodes[k];
        let (number, leaf) = self.positions[k][operand];
        if let Some((computation, root)) = called(&node.operation, result) {
            let pair = Rc::new(self.inside(k, computation, (number, leaf), root, 0));
            self.known.insert((k, operand, result), pair.clone());
            return Ok(pair);
        }
        let pair = match &node.operation {
            Operation::Conditional { branches } if number > 0 => {
                self.inside(k, branches[number - 1], (0, leaf), result, number)
            }
            Operation::Conditional { .. } => self.everything(k, operand, result)?,
            Operation::While { condition, body } => self.repeated(k, *condition, *body, operand, result)?,
            _ => {
                let lift = |access: &Access| -> Access<ValueRef> {
                    access.clone().place(&|leaf: &usize| self.place(self.operands[k][*leaf]))
                };
                let found = self.solved(k, operand, result)?;
                (lift(&found.0), lift(&found.1))
            }
        };
        let pair = Rc::new(pair);
        self.known.insert((k, operand, result), pair.clone());
        Ok(pair)
    }

    /// The maps of a node's operation by itself, cached.
    fn solved(&self, k: usize, operand: usize, result: usize) -> Result<Rc<(Access, Access)>, Error> {
        let (applied, node) = (&self.applied[k], &self.graph.nodes[k]);
        let small = applied.operands.len().max(applied.results.len()) <= SMALL;
        let mut key = String::new();
        if small {
            let _ = write!(key, "{operand} {result} {:?}", node.operation);
            applied.operands.iter().chain(&applied.results).for_each(|array| _ = write!(key, " {array}"));
            if let Some(found) = self.solved.borrow().get(&key) {
                return Ok(found.clone());
            }
        }
        let reads = applied.access(operand, result, Direction::Reads)?;
        let found = Rc::new((reads, applied.access(operand, result, Direction::Feeds)?));
        if small {
            let mut solved = self.solved.borrow_mut();
            if solved.len() == MOST_SOLVED {
                solved.clear();
            }
            solved.insert(key, found.clone());
        }
        Ok(found)
    }

    /// The maps of a parameter of a computation that node `k` runs on its operands from `first` on.
    fn inside(&self, k: usize, callee: usize, (parameter, leaf): (usize, usize), root: usize, first: usize) -> Pair {
        let nodes = &self.graphs[callee].nodes;
        let outside = |place: &ValueRef| match (&place.calls[..], nodes.get(place.node).map(|node| &node.operation)) {
            // A value in a parameter is in an operand.
            ([], Some(Operation::Parameter { number })) => {
                let value = self.graph.nodes[k].operands[first + number];
                self.place((value.node, self.graph.nodes[value.node].first(value.result) + place.leaf))
            }
            _ => ValueRef { calls: [&[k], &place.calls[..]].concat(), ..place.clone() },
        };
        let flow = &self.flows[&callee];
        let lift = |access: Option<&Access<ValueRef>>| {
            access.map_or_else(Access::none, |access| access.clone().place(&outside))
        };
        (lift(flow.reads(parameter, leaf, root)), lift(flow.feeds(parameter, leaf, root)))
    }

    /// The maps of a loop: a part that the body passes on is read unchanged, any other by an unknown number of rounds.
    fn repeated(
        &mut self,
        k: usize,
        condition: usize,
        body: usize,
        operand: usize,
        result: usize,
    ) -> Result<Pair, Error> {
        let reached = self.reached(k, condition, body, result)?.binary_search(&operand).is_ok();
        let nothing = Ok((Access::none(), Access::none()));
        let own = self.sizes[k][result].as_ref().map(|sizes| identity(sizes)).transpose()?;
        if !reached {
            return nothing;
        }
        let rounds = &self.loops[&k];
        let passes = self.flows[&body].passed[result] == Some(rounds.parts[result]);
        if passes && own.is_none() {
            return self.everything(k, operand, result);
        }
        if !passes && rounds.changes[&result].binary_search(&operand).is_ok() {
            let (node, leaf) = self.operands[k][operand];
            if self.sizes[node][leaf].as_ref().is_some_and(Vec::is_empty) {
                return self.everything(k, operand, result);
            }
            let unknown = vec!["a loop runs an unknown number of rounds".to_string()];
            let access = Access { maps: Vec::new(), unknown };
            return Ok((access.clone(), access));
        }
        match own {
            Some(same) if operand == result => Ok((same.clone(), same)),
            _ => nothing,
        }
    }

    /// The operand parts that a part of a loop's result depends on, ascending.
    fn reached(&mut self, k: usize, condition: usize, body: usize, result: usize) -> Result<Vec<usize>, Error> {
        let (condition, body) = (&self.flows[&condition], &self.flows[&body]);
        let rounds = self.loops.entry(k).or_insert_with(|| Rounds::new(condition, body));
        let own = self.sizes[k][result].as_ref().map(|sizes| identity(sizes)).transpose()?;
        if body.passed[result] == Some(rounds.parts[result]) {
            let all = 0..self.operands[k].len();
            return Ok(if own.is_some() { vec![result] } else { all.collect() });
        }
        let mut all = rounds.changes(body, result, own.as_ref()).to_vec();
        if let (Err(at), true) = (all.binary_search(&result), own.is_some()) {
            all.insert(at, result);
        }
        Ok(all)
    }

    /// The relation of every element of an operand with every element of the result.
    fn everything(&self, k: usize, operand: usize, result: usize) -> Result<Pair, Error> {
        let (node, leaf) = self.operands[k][operand];
        let (Some(input), Some(out)) = (&self.sizes[node][leaf], &self.sizes[k][result]) else {
            let access = Access { maps: Vec::new(), unknown: vec!["a size is not bounded".to_string()] };
            return Ok((access.clone(), access));
        };
        let relation = Relation::new(out, input);
        let access = |direction| -> Result<Access<ValueRef>, Error> {
            let maps = relation.solve(direction)?.into_iter().collect();
            Ok(Access { maps, unknown: Vec::new() }.place(&|leaf: &usize| self.place(self.operands[k][*leaf])))
        };
        Ok((access(Direction::Reads)?, access(Direction::Feeds)?))
    }

    /// The source of a leaf: pass-through operations are skipped.
    fn place(&self, (mut node, mut leaf): (usize, usize)) -> ValueRef {
        while let Some(from) = self.applied[node].passed(leaf) {
            (node, leaf) = self.operands[node][from];
        }
        ValueRef { calls: Vec::new(), graph: self.number, node, leaf }
    }
}

fn no_result(value: &Value, node: &Node) -> String {
    let (found, expected) = (value.result, node.results.len());
    format!("a result of node {} must be below the number of its results, {expected}, found {found}", value.node)
}

impl Node {
    /// The number of leaves before those of a result.
    fn first(&self, result: usize) -> usize {
        self.results[..result].iter().map(count).sum()
    }
}
