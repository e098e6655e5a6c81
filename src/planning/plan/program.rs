//! A program as one list of instances: calls, loops and branches put in, tuples taken apart.
//!
//! `y = call(x), to_apply={ p -> negate(p) }` becomes one instance, `negate(x)`; called twice, it becomes two, each with a
//! layout of its own. Values are arrays: a tuple is the list of its arrays, and what packs and unpacks tuples is gone.
//!
//! A loop becomes one [`InstanceKind::Merge`] for each array that it carries, with two operands: the array before the loop, and
//! the one that the body makes of it. The body stands once and counts as often as it runs. A conditional becomes its
//! branches, and a merge of their results.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use tensor_layout::limits;
use tensor_layout::operations::facts::{Facts, FixedLayouts, UNKNOWN_TRIPS};
use tensor_layout::operations::graph::{Graph, Node, Value};
use tensor_layout::operations::operation::{Operation, Start};
use tensor_layout::operations::shape::{Array, Shape, count, firsts, leaves};
use tensor_layout::targets::LoopProduct;
use tensor_layout::text::Error;
use tensor_layout::tiled::layout::Layout;

/// An operation of a graph, in one of the calls of the graph.
#[derive(Clone, Debug)]
pub struct Instance<'a> {
    /// The kind of the instance.
    pub kind: InstanceKind<'a>,
    /// The numbers of the arrays that it reads.
    pub operands: Vec<usize>,
    /// The numbers of the arrays that it makes.
    pub results: Vec<usize>,
    /// How often it runs, at least 1.
    pub times: i64,
    /// The trip count of the loop whose merge this is; else 0.
    pub rounds: i64,
    /// The graph and the number of the node in it.
    pub node: (usize, usize),
    /// Whether it is never made again, see [`Facts::once`].
    pub once: bool,
}

/// The kind of an instance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum InstanceKind<'a> {
    /// An argument of the program: its number, and which of its arrays.
    Argument(usize, usize),
    /// An operation.
    Operation(&'a Operation),
    /// One of the operands, and in its layout.
    Merge,
    /// The operand, in any layout.
    Copy,
    /// An operation of which nothing is known: it takes and makes arrays in the layouts that the program gives.
    Opaque,
    /// A result of the program, by its number.
    Result(usize),
}

/// An array that a program makes.
#[derive(Clone, Debug)]
pub struct Made<'a> {
    /// Its shape, and the layout that the program gives it.
    pub array: &'a Array,
    /// The number of the instance that makes it.
    pub by: usize,
    /// Its number among the instance's results.
    pub result: usize,
    /// Its number among the arrays of the node's results.
    pub leaf: usize,
    /// Whether it keeps the layout that the program gives it.
    pub fixed: bool,
    /// The layout of an argument or result that the program says apart from its shape, which then counts: before a compiler
    /// has assigned layouts, shapes are row-major, and its tiles may change until the end.
    pub said: Option<Box<Layout>>,
}

/// An array of a graph: the node's graph, its number there, and which of the arrays of its results.
pub type ArrayName = (usize, usize, usize);

/// A program.
#[derive(Clone, Debug, Default)]
pub struct Program<'a> {
    /// The instances; each comes after those that it uses, but for merges of loops.
    pub instances: Vec<Instance<'a>>,
    /// The arrays.
    pub made: Vec<Made<'a>>,
    /// See [`Facts::carried`].
    pub carried: BTreeMap<usize, (usize, usize)>,
    /// See [`Facts::fixed_layouts`].
    pub fixed_layouts: BTreeMap<(usize, usize), FixedLayouts>,
    /// Other names of arrays: those of nodes that compute the same.
    pub names: Vec<(ArrayName, usize)>,
    /// See [`Facts::casts`].
    pub casts: BTreeSet<(usize, usize)>,
    /// The nodes of graphs that say whether a loop goes on, or which branch runs.
    pub deciding: BTreeSet<(usize, usize)>,
}

/// The most instances that a program may have: calls of calls can double them again and again.
pub const MOST_INSTANCES: usize = limits::PLAN_INSTANCES;

/// A graph that is being put in.
struct Entered {
    graph: usize,
    /// The node that is next.
    next: usize,
    /// The arrays of each node before it, by result and leaf.
    known: Vec<Vec<usize>>,
    arguments: Vec<Vec<usize>>,
    times: i64,
    /// The number of its scope, and whether that ends with it.
    scope: usize,
    ends_scope: bool,
    after: After,
}

/// The use of the roots of a graph.
enum After {
    /// They are the results of the program.
    Results,
    /// They are the results of the node that is next in the frame below.
    Node,
    /// They are what the start of an asynchronous pair makes of its operands.
    Start { operands: Vec<usize> },
    /// They say whether a loop goes on; then its body follows.
    Condition { merges: Vec<usize>, body: usize },
    /// They are the arrays of the loop in the next round.
    Body { merges: Vec<usize> },
    /// They are a branch's results: those of the branches before, and the branches to come.
    Branch { made: Vec<Vec<usize>>, rest: Vec<(usize, Vec<usize>)> },
}

/// An order of dimensions, minor to major, for each array of the arguments and then for each of the results.
pub type EntryOrders = Vec<Vec<usize>>;

impl<'a> Program<'a> {
    /// The node that runs at a moment of the schedule, which is the number of an instance; at the end the last one.
    pub fn at_moment(&self, moment: i64) -> (usize, usize) {
        let last = self.instances.len().saturating_sub(1);
        let at = usize::try_from(moment).unwrap_or(0).min(last);
        self.instances.get(at).map_or((0, 0), |instance| instance.node)
    }

    /// The program that a graph is, with the graphs that it calls.
    ///
    /// # Errors
    /// A node that uses a later one, a graph that calls a later one, a call whose operands are not the parameters; more
    /// than [`MOST_INSTANCES`], and counts beyond 64 bits.
    pub fn new(graphs: &'a [Graph], entry: usize, facts: &Facts) -> Result<Program<'a>, Error> {
        let graph = graphs.get(entry).ok_or_else(|| {
            Error::new(format!("the graph must be below the number of graphs, {}, found {entry}", graphs.len()))
        })?;
        if size(&graphs[..=entry]) > MOST_INSTANCES {
            return Err(too_many());
        }
        let (carried, fixed_layouts) = (facts.carried.clone(), facts.fixed_layouts.clone());
        let program = Program { carried, fixed_layouts, casts: facts.casts.clone(), ..Program::default() };
        let mut builder = Inlining {
            graphs,
            facts,
            program,
            frames: Vec::new(),
            parts: HashMap::new(),
            computed: HashMap::new(),
            scopes: Vec::new(),
        };
        let mut arguments = Vec::new();
        for (k, node) in graph.nodes.iter().enumerate() {
            if let Operation::Parameter { number } = node.operation {
                arguments.resize(arguments.len().max(number + 1), Vec::new());
                for leaf in 0..node.results.iter().map(count).sum() {
                    let made =
                        builder.push(InstanceKind::Argument(number, leaf), (entry, k), Vec::new(), &[leaf], 1)?;
                    builder.said(made[0], facts.arguments.get(&(number, leaf)));
                    arguments[number].extend(made);
                }
            }
        }
        builder.enter(entry, arguments, (1, Scope::Apart), After::Results);
        while let Some(frame) = builder.frames.pop() {
            builder.go(frame)?;
        }
        Ok(builder.program)
    }

    /// The name of an array.
    pub fn name(&self, made: usize) -> ArrayName {
        let (graph, node) = self.instances[self.made[made].by].node;
        (graph, node, self.made[made].leaf)
    }

    /// Whether an array is a result of the program, which is the array that it takes.
    pub fn is_result(&self, made: usize) -> bool {
        matches!(self.instances[self.made[made].by].kind, InstanceKind::Result(_))
    }

    /// The arrays of all arguments in order, and those of all results.
    pub fn entry_arrays(&self) -> [Vec<usize>; 2] {
        let (mut arguments, mut results) = (Vec::new(), Vec::new());
        for instance in &self.instances {
            match instance.kind {
                InstanceKind::Argument(number, leaf) => arguments.push(((number, leaf), instance.results[0])),
                InstanceKind::Result(number) => results.push(((number, 0), instance.results[0])),
                _ => {}
            }
        }
        [arguments, results].map(|mut arrays| {
            arrays.sort_unstable();
            arrays.into_iter().map(|(_, made)| made).collect()
        })
    }

    /// For each instance whether its work is needed: by a result of the program, by what a loop carries or branches make, by
    /// what decides about these, or by an operation that is more than its results. Others are dead code.
    pub fn needed(&self) -> Vec<bool> {
        let is_root = |instance: &Instance| {
            matches!(
                instance.kind,
                InstanceKind::Argument(..) | InstanceKind::Merge | InstanceKind::Opaque | InstanceKind::Result(_)
            ) || instance.once
                || instance.results.is_empty()
                || self.deciding.contains(&instance.node)
        };
        let mut needed: Vec<bool> = self.instances.iter().map(is_root).collect();
        let mut open: Vec<usize> = (0..needed.len()).filter(|k| needed[*k]).collect();
        while let Some(k) = open.pop() {
            for made in &self.instances[k].operands {
                let by = self.made[*made].by;
                if !needed[by] {
                    needed[by] = true;
                    open.push(by);
                }
            }
        }
        needed
    }

    /// The instances that read each array, with the number of the operand.
    pub fn users(&self) -> Vec<Vec<(usize, usize)>> {
        let mut users = vec![Vec::new(); self.made.len()];
        for (k, instance) in self.instances.iter().enumerate() {
            for (operand, value) in instance.operands.iter().enumerate() {
                users[*value].push((k, operand));
            }
        }
        users
    }

    /// The layouts that an instance keeps. A result of the program is taken as its owner says, not as it is made.
    pub fn fixed_layouts(&self, instance: &Instance) -> Option<&FixedLayouts> {
        let keeps = !matches!(instance.kind, InstanceKind::Result(_));
        self.fixed_layouts.get(&instance.node).filter(|_| keeps)
    }

    /// The loop that an instance is, if it is a product that no matrix unit helps.
    pub fn loop_product(&self, k: usize) -> Option<LoopProduct> {
        let InstanceKind::Operation(operation @ Operation::Dot { .. }) = self.instances[k].kind else { return None };
        let operands: Vec<&Array> = self.instances[k].operands.iter().map(|made| self.made[*made].array).collect();
        LoopProduct::of(operation, &operands)
    }
}

/// The scope of a graph that is put in: what is computed in it or around it is known.
enum Scope {
    /// The scope of the caller.
    Same(usize),
    /// A new one, of the body of a loop or of a branch.
    Inside(usize),
    /// A new one in none.
    Apart,
}

/// A scope that was entered.
struct OpenScope {
    /// The scope around it.
    around: usize,
    /// The outermost scope whose arrays are known in it: scopes are numbered as they are entered.
    outermost: usize,
    /// Whether it has not ended.
    is_open: bool,
}

/// The key of a value number: the number in [`Facts::computed`], and the operands.
type Computed = (usize, Vec<usize>);

struct Inlining<'a, 'b> {
    graphs: &'a [Graph],
    facts: &'b Facts,
    program: Program<'a>,
    frames: Vec<Entered>,
    /// The number of the first array of each part of a tuple, by the graph, the node and which of its results it is.
    parts: HashMap<(usize, usize, usize), Vec<usize>>,
    /// The arrays that were made, with their scope, by what computes them and its operands.
    computed: HashMap<Computed, Vec<(usize, Vec<usize>)>>,
    scopes: Vec<OpenScope>,
}

impl<'a> Inlining<'a, '_> {
    /// Adds an instance whose results are these leaves of a node.
    fn push(
        &mut self,
        kind: InstanceKind<'a>,
        node: (usize, usize),
        operands: Vec<usize>,
        made: &[usize],
        times: i64,
    ) -> Result<Vec<usize>, Error> {
        let by = self.program.instances.len();
        if by >= MOST_INSTANCES {
            return Err(too_many());
        }
        let arrays: Vec<&'a Array> = self.graphs[node.0].nodes[node.1].results.iter().flat_map(leaves).collect();
        let first = self.program.made.len();
        for (result, leaf) in made.iter().enumerate() {
            self.program.made.push(Made { array: arrays[*leaf], by, result, leaf: *leaf, fixed: false, said: None });
        }
        let results: Vec<usize> = (first..self.program.made.len()).collect();
        let (once, rounds) = (self.facts.once.contains(&node), 0);
        self.program.instances.push(Instance { kind, operands, results: results.clone(), times, rounds, node, once });
        Ok(results)
    }

    /// Keeps what the program says of the layout of an argument or result.
    fn said(&mut self, made: usize, layout: Option<&Layout>) {
        self.program.made[made].said = layout.cloned().map(Box::new);
    }

    /// Says that arrays decide what runs.
    fn decide(&mut self, arrays: &[usize]) {
        let Program { instances, made, deciding, .. } = &mut self.program;
        deciding.extend(arrays.iter().map(|array| instances[made[*array].by].node));
    }

    /// Begins to put in a graph.
    fn enter(&mut self, graph: usize, arguments: Vec<Vec<usize>>, (times, scope_of): (i64, Scope), after: After) {
        let known = Vec::with_capacity(self.graphs[graph].nodes.len());
        let new = self.scopes.len();
        let (scope, ends_scope) = if let Scope::Same(scope) = scope_of { (scope, false) } else { (new, true) };
        let (around, outermost) = match scope_of {
            Scope::Inside(around) => (around, self.scopes[around].outermost),
            _ => (new, new),
        };
        if ends_scope {
            self.scopes.push(OpenScope { around, outermost, is_open: true });
        }
        self.frames.push(Entered { graph, next: 0, known, arguments, times, scope, ends_scope, after });
    }

    /// The arrays of what is computed already, in a scope or in one around it.
    fn known(&mut self, key: &Computed, scope: usize) -> Option<Vec<usize>> {
        let all = self.computed.get_mut(key)?;
        // A scope that has ended is around no other one.
        while all.last().is_some_and(|(own, _)| !self.scopes[*own].is_open) {
            all.pop();
        }
        all.last().filter(|(own, _)| *own >= self.scopes[scope].outermost).map(|(_, made)| made.clone())
    }

    /// Known arrays under the name of a node as well.
    fn renamed(&mut self, at: (usize, usize), known: Vec<usize>) -> Vec<usize> {
        self.program.names.extend(known.iter().enumerate().map(|(leaf, made)| ((at.0, at.1, leaf), *made)));
        known
    }

    /// Goes on with a graph, up to its end or to a call.
    fn go(&mut self, mut frame: Entered) -> Result<(), Error> {
        let graph: &'a Graph = &self.graphs[frame.graph];
        while let Some(node) = graph.nodes.get(frame.next) {
            match self.node(&mut frame, node).map_err(|error| {
                let message = format!("node {} of graph {}: {error}", frame.next, frame.graph);
                error.with_message(message)
            })? {
                Some(made) => {
                    frame.known.push(made);
                    frame.next += 1;
                }
                None => {
                    // What was entered is above this frame.
                    let entered = self.frames.len() - 1;
                    self.frames.insert(entered, frame);
                    return Ok(());
                }
            }
        }
        let mut roots = Vec::new();
        for root in &graph.roots {
            roots.extend(value(graph, &frame.known, root.node, root.result)?);
        }
        self.leave(frame, roots)
    }

    /// Leaves a graph when all its nodes are there.
    fn leave(&mut self, frame: Entered, roots: Vec<usize>) -> Result<(), Error> {
        self.scopes[frame.scope].is_open &= !frame.ends_scope;
        match frame.after {
            After::Results => return self.results(&roots),
            After::Node => self.found(roots),
            After::Start { operands } => {
                let below = &self.frames[self.frames.len() - 1];
                let (at, times) = ((below.graph, below.next), below.times);
                let node: &'a Node = &self.graphs[at.0].nodes[at.1];
                let Operation::Start(start) = &node.operation else { return Ok(()) };
                let own = node.results.iter().map(count).sum();
                let made = self.started(start, at, &operands, &roots, own, times)?;
                self.found(made);
            }
            After::Condition { merges, body } => {
                self.decide(&roots);
                let below = &self.frames[self.frames.len() - 1];
                let arguments = self.arguments(body, below.graph, &merges)?;
                // The condition and the body run as often.
                let around = self.scopes[frame.scope].around;
                self.enter(body, arguments, (frame.times, Scope::Inside(around)), After::Body { merges });
            }
            After::Body { merges } => {
                // What the body passes on needs no second operand.
                for (merge, next) in merges.iter().zip(roots).filter(|(merge, next)| *merge != next) {
                    let own = &mut self.program.instances[self.program.made[*merge].by];
                    own.operands.push(next);
                    own.rounds = frame.times;
                }
                self.found(merges);
            }
            After::Branch { mut made, rest } => {
                made.push(roots);
                match rest.is_empty() {
                    true => self.merge(made)?,
                    false => {
                        let below = &self.frames[self.frames.len() - 1];
                        self.branch(below.graph, (frame.times, below.scope), made, rest)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Adds the results of the program.
    fn results(&mut self, roots: &[usize]) -> Result<(), Error> {
        for (number, root) in roots.iter().enumerate() {
            let (by, leaf) = (self.program.made[*root].by, self.program.made[*root].leaf);
            let node = self.program.instances[by].node;
            let made = self.push(InstanceKind::Result(number), node, vec![*root], &[leaf], 1)?;
            self.said(made[0], self.facts.results.get(&number));
        }
        Ok(())
    }

    /// Begins to put in the next branch of a conditional in a graph, after those whose results are there.
    fn branch(
        &mut self,
        graph: usize,
        (times, around): (i64, usize),
        made: Vec<Vec<usize>>,
        mut rest: Vec<(usize, Vec<usize>)>,
    ) -> Result<(), Error> {
        let Some((branch, operands)) = rest.pop() else { return Err(Error::new("a branch must be there")) };
        let arguments = self.arguments(branch, graph, &operands)?;
        self.enter(branch, arguments, (times, Scope::Inside(around)), After::Branch { made, rest });
        Ok(())
    }

    /// Merges the results of the branches of a conditional. One branch is a call.
    fn merge(&mut self, mut branches: Vec<Vec<usize>>) -> Result<(), Error> {
        if let [roots] = &mut branches[..] {
            let roots = std::mem::take(roots);
            self.found(roots);
            return Ok(());
        }
        let below = &self.frames[self.frames.len() - 1];
        let (node, times) = ((below.graph, below.next), below.times);
        let mut merged = Vec::new();
        for leaf in 0..branches[0].len() {
            let operands = branches.iter().map(|roots| roots[leaf]).collect();
            merged.extend(self.push(InstanceKind::Merge, node, operands, &[leaf], times)?);
        }
        self.found(merged);
        Ok(())
    }

    /// The results of the node that the topmost frame waits for.
    fn found(&mut self, made: Vec<usize>) {
        if let Some(below) = self.frames.last_mut() {
            below.known.push(made);
            below.next += 1;
        }
    }

    /// The arrays of a part of a tuple. As a tuple of many parts may have as many users, its arrays are counted once.
    fn part(&mut self, frame: &Entered, tuple: &Value, index: usize) -> Result<Vec<usize>, Error> {
        let (number, graph) = (tuple.node, &self.graphs[frame.graph]);
        let (Some(arrays), Some(from)) = (frame.known.get(number), graph.nodes.get(number)) else {
            return Err(no_node(number));
        };
        let Some(Shape::Tuple(parts)) = from.results.get(tuple.result) else {
            return Err(Error::new("the operand must be a tuple, found an array"));
        };
        let before: usize = from.results.iter().take(tuple.result).map(count).sum();
        let firsts = self.parts.entry((frame.graph, number, tuple.result)).or_insert_with(|| firsts(parts));
        let part = firsts.get(index).zip(firsts.get(index + 1));
        let part = part.and_then(|(first, end)| arrays.get(before + first..before + end));
        part.map(<[usize]>::to_vec).ok_or_else(|| Error::new("the tuple must have such a part"))
    }

    /// The arrays that a node makes; `None` where a graph was entered that makes them.
    fn node(&mut self, frame: &mut Entered, node: &'a Node) -> Result<Option<Vec<usize>>, Error> {
        let graph = &self.graphs[frame.graph];
        let at = (frame.graph, frame.next);
        if let (Operation::GetTupleElement { index }, [tuple]) = (&node.operation, &node.operands[..]) {
            return self.part(frame, tuple, *index).map(Some);
        }
        let mut operands = Vec::new();
        for operand in &node.operands {
            operands.push(value(graph, &frame.known, operand.node, operand.result)?);
        }
        let all: Vec<usize> = operands.concat();
        let key = self.facts.computed.get(&at).map(|number| (*number, all.clone()));
        let known = match &key {
            Some(key) => self.known(key, frame.scope),
            None => None,
        };
        if let Some(known) = known {
            return Ok(Some(self.renamed(at, known)));
        }
        let made = self.put_in(frame, node, operands)?;
        if let Some((key, made)) = key.zip(made.as_ref()) {
            self.computed.entry(key).or_default().push((frame.scope, made.clone()));
        }
        Ok(made)
    }

    /// The arrays that a node makes of these operands, if it is no name of others.
    fn put_in(
        &mut self,
        frame: &Entered,
        node: &'a Node,
        operands: Vec<Vec<usize>>,
    ) -> Result<Option<Vec<usize>>, Error> {
        let at = (frame.graph, frame.next);
        let all: Vec<usize> = operands.concat();
        let own: usize = node.results.iter().map(count).sum();
        Ok(Some(match &node.operation {
            Operation::Parameter { number } => {
                frame.arguments.get(*number).cloned().ok_or_else(|| no_argument(*number))?
            }
            Operation::Tuple => all,
            Operation::Leaves { numbers } => self.leaves(numbers, &all, at, frame.times)?,
            Operation::Start(start) => match &start.operation {
                Operation::Call { computation } => {
                    self.call(*computation, frame, operands, After::Start { operands: all })?;
                    return Ok(None);
                }
                operation => {
                    let made: Vec<usize> = (0..own).filter(|leaf| start.result(*leaf).is_some()).collect();
                    let made = self.push(self.kind(operation, at, &all), at, all.clone(), &made, frame.times)?;
                    self.started(start, at, &all, &made, own, frame.times)?
                }
            },
            Operation::Call { computation } => {
                self.call(*computation, frame, operands, After::Node)?;
                return Ok(None);
            }
            Operation::While { condition, body } => {
                self.begin(at, &all, [*condition, *body], (frame.times, frame.scope))?;
                return Ok(None);
            }
            Operation::Conditional { branches } => {
                self.decide(operands.first().map_or(&[], Vec::as_slice));
                let rest = branches.iter().copied().zip(operands.into_iter().skip(1)).rev().collect();
                self.branch(at.0, (frame.times, frame.scope), Vec::new(), rest)?;
                return Ok(None);
            }
            operation if apart(operation, node.operands.len(), (all.len(), own)) => {
                let one = |leaf: usize| {
                    let operands: Vec<usize> = all.get(leaf).copied().into_iter().collect();
                    self.push(self.kind(operation, at, &operands), at, operands, &[leaf], frame.times)
                };
                (0..own).map(one).collect::<Result<Vec<_>, _>>()?.concat()
            }
            operation => {
                let made: Vec<usize> = (0..own).collect();
                self.push(self.kind(operation, at, &all), at, all, &made, frame.times)?
            }
        }))
    }

    /// Begins to put in a loop: a merge for each array that it carries, and the condition.
    fn begin(
        &mut self,
        at: (usize, usize),
        carried: &[usize],
        [condition, body]: [usize; 2],
        (outer, around): (i64, usize),
    ) -> Result<(), Error> {
        let mut merges = Vec::new();
        for (leaf, value) in carried.iter().enumerate() {
            merges.extend(self.push(InstanceKind::Merge, at, vec![*value], &[leaf], outer)?);
        }
        let trips = self.facts.trips.get(&at).copied().unwrap_or(UNKNOWN_TRIPS).max(1);
        let arguments = self.arguments(condition, at.0, &merges)?;
        self.enter(
            condition,
            arguments,
            (times(outer, trips)?, Scope::Inside(around)),
            After::Condition { merges, body },
        );
        Ok(())
    }

    /// The kind of an instance of a node. A copy to another element type has other layouts than its operand. A bitcast
    /// between row-major arrays is a reshape in any layouts, and so is a broadcast to as many elements.
    fn kind(&self, operation: &'a Operation, at: (usize, usize), operands: &[usize]) -> InstanceKind<'a> {
        let mut made = self.graphs[at.0].nodes[at.1].results.iter().flat_map(leaves).zip(operands);
        let is_alike = made.all(|(array, from)| self.program.made[*from].array.element == array.element);
        if self.facts.copies.contains(&at) && is_alike {
            InstanceKind::Copy
        } else if is_alike && self.is_reshape(operation, at, operands) {
            InstanceKind::Operation(&Operation::Reshape)
        } else {
            InstanceKind::Operation(operation)
        }
    }

    /// Whether an operation on these operands only keeps the row-major order of the elements.
    fn is_reshape(&self, operation: &Operation, at: (usize, usize), operands: &[usize]) -> bool {
        let mut made = self.graphs[at.0].nodes[at.1].results.iter().flat_map(leaves);
        let ([operand], Some(made), None) = (operands, made.next(), made.next()) else { return false };
        let taken = self.program.made[*operand].array;
        let is_row_major = |array: &Array| array.layout == Layout::row_major(array.dims.len());
        let elements = |array: &Array| array.sizes()?.into_iter().try_fold(1i64, i64::checked_mul);
        match operation {
            Operation::Bitcast => is_row_major(taken) && is_row_major(made),
            Operation::Broadcast { dims } => dims.is_sorted() && elements(taken) == elements(made) && !dims.is_empty(),
            _ => false,
        }
    }

    /// The arrays of the start of an asynchronous pair: operands, what the operation makes, and what only the device uses.
    fn started(
        &mut self,
        start: &Start,
        at: (usize, usize),
        all: &[usize],
        made: &[usize],
        own: usize,
        times: i64,
    ) -> Result<Vec<usize>, Error> {
        let value = |leaf: usize| {
            let operand = start.operand(leaf).and_then(|operand| all.get(operand));
            start.result(leaf).and_then(|result| made.get(result)).or(operand).copied()
        };
        self.filled((0..own).map(value), at, times)
    }

    /// Arrays of the operands by their numbers; those without one are made of nothing.
    fn leaves(
        &mut self,
        numbers: &[Option<usize>],
        all: &[usize],
        at: (usize, usize),
        times: i64,
    ) -> Result<Vec<usize>, Error> {
        if self.facts.fixed_layouts.get(&at).is_some_and(|fixed| !fixed.operands.is_empty()) {
            // What is sent goes on to the receiver as well.
            self.push(InstanceKind::Opaque, at, all.to_vec(), &[], times)?;
        }
        self.filled(numbers.iter().map(|number| all.get((*number)?).copied()), at, times)
    }

    /// Known arrays of a node, and for each other one a constant.
    fn filled(
        &mut self,
        known: impl Iterator<Item = Option<usize>>,
        at: (usize, usize),
        times: i64,
    ) -> Result<Vec<usize>, Error> {
        let mut made = Vec::new();
        for (leaf, value) in known.enumerate() {
            match value {
                Some(value) => made.push(value),
                None => made.extend(self.push(
                    InstanceKind::Operation(&Operation::Constant),
                    at,
                    Vec::new(),
                    &[leaf],
                    times,
                )?),
            }
        }
        Ok(made)
    }

    /// Begins to put in a graph that a node calls: one operand a parameter.
    fn call(&mut self, graph: usize, frame: &Entered, operands: Vec<Vec<usize>>, after: After) -> Result<(), Error> {
        self.below(graph, frame.graph)?;
        let fits = parameters(&self.graphs[graph]).iter().zip(&operands).all(|(n, own)| *n == own.len());
        let arguments = if fits { operands } else { self.arguments(graph, frame.graph, &operands.concat())? };
        let scope = match self.facts.behind_barriers.contains(&(frame.graph, frame.next)) {
            true => Scope::Apart,
            false => Scope::Same(frame.scope),
        };
        self.enter(graph, arguments, (frame.times, scope), after);
        Ok(())
    }

    /// The arguments of a graph, of all arrays together.
    fn arguments(&self, graph: usize, caller: usize, all: &[usize]) -> Result<Vec<Vec<usize>>, Error> {
        self.below(graph, caller)?;
        let mut rest = all;
        let mut found = Vec::new();
        for n in parameters(&self.graphs[graph]) {
            let (own, more) = rest.split_at_checked(n).ok_or_else(|| no_argument(found.len()))?;
            found.push(own.to_vec());
            rest = more;
        }
        Ok(found)
    }

    /// Checks that a graph calls one before it.
    fn below(&self, graph: usize, caller: usize) -> Result<(), Error> {
        if graph < caller {
            return Ok(());
        }
        Err(Error::new(format!("graph {caller} must call graphs before it, found a call of graph {graph}")))
    }
}

/// Whether an operation on a tuple is one on each of its arrays alone, given how many operands it has, and how many arrays
/// it takes and makes. Then each has layouts of its own.
fn apart(operation: &Operation, operands: usize, (taken, made): (usize, usize)) -> bool {
    match operation {
        Operation::Constant => taken == 0 && made != 1,
        Operation::Elementwise => operands == 1 && taken == made && made != 1,
        _ => false,
    }
}

/// The number of nodes of the last graph with its calls put in. Each graph calls graphs before it.
fn size(graphs: &[Graph]) -> usize {
    let mut sizes = Vec::with_capacity(graphs.len());
    for graph in graphs {
        let of = |callee: &usize| sizes.get(*callee).copied().unwrap_or(0);
        let nodes =
            graph.nodes.iter().map(|node| node.operation.callees().iter().map(of).fold(1, usize::saturating_add));
        let size = nodes.fold(0, usize::saturating_add);
        sizes.push(size);
    }
    sizes.pop().unwrap_or(0)
}

/// The number of arrays of each parameter of a graph.
fn parameters(graph: &Graph) -> Vec<usize> {
    let mut found = Vec::new();
    for node in &graph.nodes {
        if let Operation::Parameter { number } = node.operation {
            found.resize(found.len().max(number + 1), 0);
            found[number] = node.results.iter().map(count).sum();
        }
    }
    found
}

/// The arrays of a value.
fn value(graph: &Graph, known: &[Vec<usize>], node: usize, result: usize) -> Result<Vec<usize>, Error> {
    let (Some(arrays), Some(from)) = (known.get(node), graph.nodes.get(node)) else {
        return Err(no_node(node));
    };
    let first: usize = from.results.iter().take(result).map(count).sum();
    let own = from.results.get(result).map(count);
    let all = own.and_then(|own| arrays.get(first..first + own));
    all.map(<[usize]>::to_vec).ok_or_else(|| Error::new(format!("node {node} must have a result {result}, found none")))
}

fn no_node(node: usize) -> Error {
    Error::new(format!("an operand must be a node before it, found node {node}"))
}

pub(super) fn too_many() -> Error {
    Error::new(format!("with its calls put in, the program must have at most {MOST_INSTANCES} operations")).too_large()
}

fn no_argument(number: usize) -> Error {
    Error::new(format!("a call must have an operand for parameter {number}, found none"))
}

fn times(outer: i64, trips: i64) -> Result<i64, Error> {
    outer
        .checked_mul(trips)
        .ok_or_else(|| Error::new("the rounds of nested loops must fit in 64 bits, found more").too_large())
}
