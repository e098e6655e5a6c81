//! What a computation reads and feeds: operations composed along a graph.
//!
//! In `y = p + transpose(p)` the root reads `p` at `(d0, d1)` and at `(d1, d0)`. From the root down, every value gets
//! the set of maps by which the root reaches it; an operation's maps take the set of its result to those of its
//! operands. Nodes come after those that they use, so each is visited once, whatever the number of paths to it; equal
//! maps are kept once, so forty diamonds in a chain still give one map.
//!
//! ```
//! use tensor_layout::analysis::flow;
//! use tensor_layout::operations::{Graph, Node, Value};
//! use tensor_layout::operations::Operation;
//! use tensor_layout::operations::Shape;
//!
//! let node = |operation, operands: &[usize]| Node {
//!     operation,
//!     operands: operands.iter().map(|node| Value { node: *node, result: 0 }).collect(),
//!     results: vec![Shape::parse("f32[9,9]").unwrap()],
//! };
//! let nodes = vec![
//!     node(Operation::Parameter { number: 0 }, &[]),
//!     node(Operation::Transpose { permutation: vec![1, 0] }, &[0]),
//!     node(Operation::Elementwise, &[0, 1]),
//! ];
//! let graph = Graph { nodes, roots: vec![Value { node: 2, result: 0 }] };
//! let found = flow(&[graph], 0).unwrap();
//! let maps: Vec<String> = found.reads(0, 0, 0).unwrap().maps.iter().map(|m| m.to_string()).collect();
//! assert_eq!(maps[0], "(d0, d1) -> (d0, d1), domain: d0 in [0, 8], d1 in [0, 8]");
//! assert_eq!(maps[1], "(d0, d1) -> (d1, d0), domain: d0 in [0, 8], d1 in [0, 8]");
//! ```
//!
//! The flow of a computation is computed once, however often it is called. A conditional reads what each of its
//! branches reads. A loop passes on what its body passes on; what the body changes is unknown, because the number of
//! rounds is.
//!
//! Limits: [`MOST_MAPS`] maps for a value, [`MOST_OPERATIONS`] in a map, and [`WORK`] in all; beyond these the access
//! is unknown, with the reason.

use super::access::{Access, Mapped};
use super::compose::identity;
use super::equations::Application;
use super::relation::{Direction, Relation};
use crate::maps::domain::Interval;
use crate::maps::equal::Equality;
use crate::operations::graph::{Graph, Node, Value};
use crate::operations::operation::Operation;
use crate::operations::shape::{Array, Shape, count, leaves};
use crate::text::Error;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::rc::Rc;

/// A leaf of a node's results, in a graph or in one that it calls. Prints as `7#0`, and `4/7#0` in what node 4 calls.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The nodes that call the graph, the outermost first.
    pub calls: Vec<usize>,
    /// The graph that the node is in.
    pub graph: usize,
    /// The node.
    pub node: usize,
    /// The leaf, counted through all results of the node.
    pub leaf: usize,
}

/// What a computation reads and feeds.
#[derive(Clone, Debug)]
pub struct Flow {
    /// By leaves of the roots.
    rows: Vec<Row>,
    /// The number of leaves of each parameter.
    parameters: Vec<usize>,
    none: Pair,
    /// For each leaf of the roots that is a parameter's leaf as it is, which one.
    passed: Vec<Option<(usize, usize)>>,
}

/// What a leaf of the roots reads, and what is fed to it.
#[derive(Clone, Debug, Default)]
struct Row {
    /// By parameter and leaf; others have nothing to do with it.
    pairs: BTreeMap<(usize, usize), Pair>,
    /// What goes for the other ones, where the work was too much.
    others: Option<Pair>,
}

/// What is read for an element of the root, and what of the root is made of an element.
type Pair = (Access<Place>, Access<Place>);

/// How many maps are kept for one value; what is beyond is unknown.
const MOST_MAPS: usize = 256;
/// How many operations a map may have, divisions counted three times; what is beyond is unknown.
const MOST_OPERATIONS: u32 = 400;
/// How many variables and operations all maps may have that are composed, each step along an operand counting as one, and
/// how many more for each operation, and for each array in its results; what is beyond is unknown. So an analysis takes as
/// long as there are operations.
pub(super) const WORK: u64 = 10_000;
const WORK_PER_NODE: u64 = 60;
const WORK_PER_LEAF: u64 = 20;
const TOO_MUCH: &str = "the maps have too many operations together";
/// How many reasons are kept.
const MOST_REASONS: usize = 8;
/// How many maps are compared as they are before they are written in one way.
const FIRST: usize = 4;
/// How many maps are compared point by point, on how many points.
const COMPARED: (usize, u128) = (16, 4096);

impl Flow {
    /// From an index of a leaf of the roots to what is read of a leaf of a parameter; `None` where there is none.
    /// Leaves of the roots are counted through all roots.
    pub fn reads(&self, parameter: usize, leaf: usize, root: usize) -> Option<&Access<Place>> {
        self.pair(parameter, leaf, root).map(|pair| &pair.0)
    }

    /// From an index of a leaf of a parameter to what it feeds of a leaf of the roots; `None` where there is none.
    pub fn feeds(&self, parameter: usize, leaf: usize, root: usize) -> Option<&Access<Place>> {
        self.pair(parameter, leaf, root).map(|pair| &pair.1)
    }

    fn pair(&self, parameter: usize, leaf: usize, root: usize) -> Option<&Pair> {
        let row = self.rows.get(root).filter(|_| self.parameters.get(parameter).is_some_and(|n| leaf < *n))?;
        Some(row.pairs.get(&(parameter, leaf)).or(row.others.as_ref()).unwrap_or(&self.none))
    }

    /// The parameters and their leaves that a leaf of the roots has to do with, ascending. A tuple of many arrays has
    /// few for each.
    pub fn related(&self, root: usize) -> impl Iterator<Item = (usize, usize)> {
        self.rows.get(root).into_iter().flat_map(|row| row.pairs.keys().copied())
    }

    /// What goes for all other parameters of a leaf of the roots, where there were too many to look at.
    pub fn others(&self, root: usize) -> Option<&Access<Place>> {
        self.rows.get(root)?.others.as_ref().map(|pair| &pair.0)
    }

    /// The number of leaves of the roots.
    pub fn roots(&self) -> usize {
        self.rows.len()
    }

    /// Whether a leaf of the roots is a parameter's leaf as it is.
    pub fn passes_on(&self, root: usize) -> bool {
        self.passed.get(root).is_some_and(Option::is_some)
    }

    /// The number of leaves of each parameter.
    pub fn parameters(&self) -> &[usize] {
        &self.parameters
    }
}

/// Flows by the numbers of their graphs.
pub(super) type FlowTable = BTreeMap<usize, Flow>;

/// The numbers of the graph `entry` and of all that it calls, ascending, without those that are known. What a known
/// graph calls is known, so it is not looked at: asking for each of a chain of calls takes as long as asking for the
/// last one.
pub(super) fn missing<T>(known: &BTreeMap<usize, T>, graphs: &[Graph], entry: usize) -> Result<BTreeSet<usize>, Error> {
    let n = graphs.len();
    if entry >= n {
        return Err(Error::new(format!("the graph must be below the number of graphs, {n}, found {entry}")));
    }
    let mut missing = BTreeSet::new();
    let mut next = Some(entry).filter(|k| !known.contains_key(k));
    while let Some(k) = next {
        missing.insert(k);
        for callee in graphs[k].nodes.iter().flat_map(|node| callees(&node.operation)) {
            if callee >= k {
                let message = format!("graph {k} must call graphs before it, found a call of graph {callee}");
                return Err(Error::new(message));
            }
            if !known.contains_key(&callee) {
                missing.insert(callee);
            }
        }
        next = missing.range(..k).next_back().copied();
    }
    Ok(missing)
}

/// Adds the flows of these graphs, each of which comes after those that it calls. `spare` is the work that is left.
pub(super) fn add(
    known: &mut FlowTable,
    graphs: &[Graph],
    missing: &BTreeSet<usize>,
    spare: &mut u64,
) -> Result<(), Error> {
    for k in missing {
        let nodes = &graphs[*k].nodes;
        let arrays = nodes.iter().flat_map(|node| &node.results).map(|shape| count(shape) as u64).sum::<u64>();
        *spare = spare.saturating_add(WORK_PER_NODE * nodes.len() as u64 + WORK_PER_LEAF * arrays);
        let found = Walk::new(graphs, *k, known)?.all(spare)?;
        known.insert(*k, found);
    }
    Ok(())
}

/// The computations that an operation runs.
fn callees(operation: &Operation) -> Vec<usize> {
    match operation {
        Operation::Call { computation } => vec![*computation],
        Operation::While { condition, body } => vec![*condition, *body],
        Operation::Conditional { branches } => branches.clone(),
        Operation::Start(start) => callees(&start.operation),
        _ => Vec::new(),
    }
}

/// The computation that an operation runs on all of its operands, and which of its roots an array of the result is.
fn called(operation: &Operation, result: usize) -> Option<(usize, usize)> {
    match operation {
        Operation::Call { computation } => Some((*computation, result)),
        Operation::Start(start) => called(&start.operation, start.result(result)?),
        _ => None,
    }
}

/// One graph, while its flow is computed.
pub(super) struct Walk<'a> {
    graphs: &'a [Graph],
    number: usize,
    graph: &'a Graph,
    flows: &'a FlowTable,
    pub applied: Vec<Application<'a>>,
    /// The sizes of each node's leaves; `None` where one is not bounded.
    sizes: Vec<Vec<Option<Vec<i64>>>>,
    /// For each node and leaf of its operands, the node and leaf that it is.
    operands: Vec<Vec<(usize, usize)>>,
    /// For each node and leaf of its operands, the number of the operand, and which of its leaves it is.
    positions: Vec<Vec<(usize, usize)>>,
    /// The node of each parameter.
    parameters: Vec<usize>,
    /// What leaves of results read and feed, by node, operand's leaf and result's leaf.
    known: BTreeMap<(usize, usize, usize), Rc<Pair>>,
    /// The loops, by node.
    loops: BTreeMap<usize, Rounds>,
}

/// What the parts of a loop depend on; lists are ascending.
struct Rounds {
    /// The parameter and the leaf of each part.
    parts: Vec<(usize, usize)>,
    /// For each part, those that a round reads for it.
    reads: Vec<Vec<usize>>,
    /// Those on which the number of rounds depends, in any round.
    counting: BTreeSet<usize>,
    /// For each requested result, those on which it depends, in any round.
    changes: BTreeMap<usize, Vec<usize>>,
}

impl<'a> Walk<'a> {
    pub fn new(graphs: &'a [Graph], number: usize, flows: &'a FlowTable) -> Result<Walk<'a>, Error> {
        let graph = &graphs[number];
        let mut walk = Walk {
            graphs,
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
            let (mut operands, mut positions) = (Vec::new(), Vec::new());
            let mut shapes: Vec<&Shape> = Vec::new();
            for value in &node.operands {
                let from = graph.nodes[..k].get(value.node);
                let from = from
                    .ok_or_else(|| wrong(format!("an operand must be a node before it, found node {}", value.node)))?;
                let shape = from.results.get(value.result);
                let shape = shape.ok_or_else(|| wrong(no_result(value, from)))?;
                shapes.push(shape);
            }
            let results: Vec<&Shape> = node.results.iter().collect();
            let applied = Application::new(&node.operation, &shapes, &results).map_err(|error| wrong(error.message))?;
            walk.sizes.push(applied.results.iter().map(|array| array.sizes()).collect());
            let only = matches!(node.operation, Operation::GetTupleElement { .. });
            for (number, value) in node.operands.iter().enumerate() {
                let own = if only { applied.operands.len() } else { count(shapes[number]) };
                let first = graph.nodes[value.node].first(value.result) + applied.first;
                positions.extend((0..own).map(|leaf| (number, applied.first + leaf)));
                operands.extend((first..first + own).map(|leaf| (value.node, leaf)));
            }
            walk.applied.push(applied);
            walk.operands.push(operands);
            walk.positions.push(positions);
            walk.called(k).map_err(wrong)?;
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

    /// Checks that the computations that a node runs have its operands as parameters and its results as roots.
    fn called(&self, k: usize) -> Result<(), String> {
        let node = &self.graph.nodes[k];
        let arity = |callee: usize, operands: &[Value]| {
            let flow = &self.flows[&callee];
            let shapes = operands.iter().map(|v| &self.graph.nodes[v.node].results[v.result]);
            let given: Vec<usize> = shapes.map(count).collect();
            // Without any root nothing is known of the parameters, or needed.
            if flow.roots() != 0 && flow.parameters() != given {
                let expected = flow.parameters();
                return Err(format!("the operands of graph {callee} must have {expected:?} arrays, found {given:?}"));
            }
            Ok(())
        };
        let gives = |callee: usize, roots: usize| match self.flows[&callee].roots() {
            found if found == roots => Ok(()),
            found => Err(format!("graph {callee} must have {roots} arrays as roots, found {found}")),
        };
        let results = self.sizes[k].len();
        match &node.operation {
            Operation::Call { computation } => {
                arity(*computation, &node.operands)?;
                gives(*computation, results)
            }
            Operation::Start(start) => match start.operation {
                Operation::Call { computation } => {
                    arity(computation, &node.operands)?;
                    gives(computation, start.results.1)
                }
                Operation::While { .. } | Operation::Conditional { .. } => {
                    Err("a loop or a conditional must not be started beside others, found one".to_string())
                }
                _ => Ok(()),
            },
            Operation::While { condition, body } => {
                arity(*condition, &node.operands)?;
                arity(*body, &node.operands)?;
                gives(*condition, 1)?;
                gives(*body, results)?;
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
                branches.iter().enumerate().try_for_each(|(b, callee)| {
                    arity(*callee, &node.operands[b + 1..b + 2])?;
                    gives(*callee, results)
                })
            }
            _ => Ok(()),
        }
    }

    /// What a node does.
    pub fn operation(&self, k: usize) -> &'a Operation {
        &self.graph.nodes[k].operation
    }

    /// The arrays of each parameter.
    pub fn parameter_arrays(&self) -> Vec<Vec<&'a Array>> {
        self.parameters.iter().map(|node| self.applied[*node].results.clone()).collect()
    }

    /// The arrays of the roots; the roots were checked.
    pub fn root_arrays(&self) -> Vec<&'a Array> {
        self.graph.roots.iter().flat_map(|v| leaves(&self.graph.nodes[v.node].results[v.result])).collect()
    }

    /// What every leaf of the roots reads.
    fn all(mut self, work: &mut u64) -> Result<Flow, Error> {
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

    /// What one leaf of the root reads of all parameters.
    fn from(&mut self, root: usize, leaf: usize, work: &mut u64) -> Result<Row, Error> {
        let start = match &self.sizes[root][leaf] {
            Some(sizes) => identity(sizes)?,
            None => Access { maps: Vec::new(), unknown: vec!["a size is not bounded".to_string()] },
        };
        // By node and leaf; only those that are reached are here. The last node goes first: it is used by none that is
        // left.
        let mut sets = BTreeMap::from([((root, leaf), (Set::of(start.clone()), Set::of(start)))]);
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
                    // Maps to be joined meet at the node's result.
                    let middle = self.sizes[k][result].as_deref();
                    of_reads.extend(&reads.access, &own.0, middle, work);
                    of_feeds.extend(&own.1, &feeds.access, middle, work);
                }
            }
        }
        Ok(row)
    }

    /// The leaves of a node's operands that one of its result may have to do with.
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

    /// What a leaf of a node's result reads of a leaf of its operands, and the other way round.
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
                let lift = |access: Access| -> Access<Place> {
                    access.place(&|leaf: &usize| self.place(self.operands[k][*leaf]))
                };
                let applied = &self.applied[k];
                let reads = lift(applied.access(operand, result, Direction::Reads)?);
                (reads, lift(applied.access(operand, result, Direction::Feeds)?))
            }
        };
        let pair = Rc::new(pair);
        self.known.insert((k, operand, result), pair.clone());
        Ok(pair)
    }

    /// What a computation that node `k` runs on its operands from `first` on reads of a parameter.
    fn inside(&self, k: usize, callee: usize, (parameter, leaf): (usize, usize), root: usize, first: usize) -> Pair {
        let nodes = &self.graphs[callee].nodes;
        let outside = |place: &Place| match (&place.calls[..], nodes.get(place.node).map(|node| &node.operation)) {
            // What is in a parameter is in an operand.
            ([], Some(Operation::Parameter { number })) => {
                let value = self.graph.nodes[k].operands[first + number];
                self.place((value.node, self.graph.nodes[value.node].first(value.result) + place.leaf))
            }
            _ => Place { calls: [&[k], &place.calls[..]].concat(), ..place.clone() },
        };
        let flow = &self.flows[&callee];
        let lift =
            |access: Option<&Access<Place>>| access.map_or_else(Access::none, |access| access.clone().place(&outside));
        (lift(flow.reads(parameter, leaf, root)), lift(flow.feeds(parameter, leaf, root)))
    }

    /// What a loop reads of its operand: a part that the body only passes on is read as it is, anything else by an
    /// unknown number of rounds.
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

    /// The parts of a loop's operand that a part of its result has to do with, ascending.
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

    /// Every element of an operand is read for every element of the result.
    fn everything(&self, k: usize, operand: usize, result: usize) -> Result<Pair, Error> {
        let (node, leaf) = self.operands[k][operand];
        let (Some(input), Some(out)) = (&self.sizes[node][leaf], &self.sizes[k][result]) else {
            let access = Access { maps: Vec::new(), unknown: vec!["a size is not bounded".to_string()] };
            return Ok((access.clone(), access));
        };
        let relation = Relation::new(out, input);
        let access = |direction| -> Result<Access<Place>, Error> {
            let maps = relation.solve(direction)?.into_iter().collect();
            Ok(Access { maps, unknown: Vec::new() }.place(&|leaf: &usize| self.place(self.operands[k][*leaf])))
        };
        Ok((access(Direction::Reads)?, access(Direction::Feeds)?))
    }

    /// The source of a leaf: operations that only forward it are skipped.
    fn place(&self, (mut node, mut leaf): (usize, usize)) -> Place {
        while let Some(from) = self.applied[node].passed(leaf) {
            (node, leaf) = self.operands[node][from];
        }
        Place { calls: Vec::new(), graph: self.number, node, leaf }
    }
}

impl Rounds {
    fn new(condition: &Flow, body: &Flow) -> Rounds {
        let leaves = |(parameter, n): (usize, &usize)| (0..*n).map(move |leaf| (parameter, leaf));
        let parts: Vec<(usize, usize)> = body.parameters().iter().enumerate().flat_map(leaves).collect();
        let all = |flow: &Flow, root: usize| match flow.others(root) {
            Some(_) => (0..parts.len()).collect(),
            None => flow.related(root).filter_map(|part| parts.binary_search(&part).ok()).collect(),
        };
        let reads: Vec<Vec<usize>> = (0..parts.len()).map(|root| all(body, root)).collect();
        let counting: Vec<usize> = all(condition, 0);
        let mut rounds = Rounds { counting: BTreeSet::new(), parts, reads, changes: BTreeMap::new() };
        rounds.counting = rounds.closed(counting);
        rounds
    }

    /// These parts, those that a round reads for them, those that a round reads for these, and so on.
    fn closed(&self, mut queue: Vec<usize>) -> BTreeSet<usize> {
        let mut reached = self.counting.clone();
        reached.extend(&queue);
        while let Some(part) = queue.pop() {
            queue.extend(self.reads[part].iter().copied().filter(|other| reached.insert(*other)));
        }
        reached
    }

    /// The parts that any round may look at for a result: those that it depends on, and those that the number of rounds
    /// depends on. A part that every round makes of itself, element by element (`same`), is made of itself at the end,
    /// too.
    fn changes(&mut self, body: &Flow, result: usize, same: Option<&Access<Place>>) -> &[usize] {
        if !self.changes.contains_key(&result) {
            let (parameter, leaf) = self.parts[result];
            let alone = match same {
                Some(_) => self.reads[result] == [result] && body.reads(parameter, leaf, result) == same,
                None => self.reads[result].is_empty(),
            };
            let reached = self.closed(if alone { Vec::new() } else { vec![result] });
            self.changes.insert(result, reached.into_iter().collect());
        }
        &self.changes[&result]
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

/// An access to which more is added.
#[derive(Clone, Debug)]
struct Set {
    access: Access<Place>,
    /// The text of each map, its variables in the order in which they are used.
    texts: BTreeSet<String>,
}

impl Default for Set {
    fn default() -> Set {
        Set { access: Access::none(), texts: BTreeSet::new() }
    }
}

impl Set {
    fn of(access: Access<Place>) -> Set {
        let mut set = Set::default();
        access.maps.into_iter().for_each(|m| set.add(m));
        set.access.unknown = access.unknown;
        set
    }

    fn is_empty(&self) -> bool {
        self.access.is_empty()
    }

    /// Adds all of `first` and then `second`, by way of an array of these sizes, with as much work as is left.
    fn extend(&mut self, first: &Access<Place>, second: &Access<Place>, sizes: Option<&[i64]>, work: &mut u64) {
        if first.is_empty() || second.is_empty() {
            return;
        }
        for reason in first.unknown.iter().chain(&second.unknown) {
            self.doubt(reason);
        }
        // The index of what is read of an array is one of the array.
        let inside: Vec<Interval> = sizes.unwrap_or(&[]).iter().map(|n| Interval::new(0, n - 1)).collect();
        for a in &first.maps {
            for b in &second.maps {
                if b.is_identity(&inside) {
                    self.add(a.clone());
                    continue;
                }
                if a.is_identity(&inside) {
                    self.add(b.clone());
                    continue;
                }
                let size = |m: &Mapped<Place>| u64::from(m.map.cost()) + m.map.variables() as u64;
                let Some(left) = work.checked_sub(size(a) + size(b)) else {
                    return self.doubt(TOO_MUCH);
                };
                *work = left;
                match a.then_within(b, &inside) {
                    Ok(Some(both)) if both.map.cost() > MOST_OPERATIONS => {
                        self.doubt(&format!("a map has more than {MOST_OPERATIONS} operations"));
                    }
                    Ok(Some(both)) => self.add(both),
                    Ok(None) => {}
                    Err(error) => self.doubt(&error.message),
                }
            }
        }
    }

    fn doubt(&mut self, reason: &str) {
        let unknown = &mut self.access.unknown;
        if unknown.len() < MOST_REASONS && !unknown.iter().any(|other| other == reason) {
            unknown.push(reason.to_string());
        }
    }

    fn add(&mut self, mapped: Mapped<Place>) {
        if self.access.maps.len() >= MOST_MAPS {
            return self.doubt(&format!("there are more than {MOST_MAPS} maps"));
        }
        if self.access.maps.iter().take(FIRST).any(|other| *other == mapped) {
            return;
        }
        if !self.texts.insert(mapped.canonical().to_string()) {
            return;
        }
        let (most, points) = COMPARED;
        let equal = |other: &Mapped<Place>| {
            let alike = other.run_time == mapped.run_time && other.map.domain.vars == mapped.map.domain.vars;
            alike && mapped.map.box_points() <= points && other.map.compare(&mapped.map) == Equality::Equal
        };
        if self.access.maps.len() > most || !self.access.maps.iter().any(equal) {
            self.access.maps.push(mapped);
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for call in &self.calls {
            write!(f, "{call}/")?;
        }
        write!(f, "{}#{}", self.node, self.leaf)
    }
}
