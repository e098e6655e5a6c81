//! `layout-indexing-analysis`: which elements every operation on tensors reads and feeds.
//!
//! `site` is the one table from MLIR's operations to [`Operation`]: structured operations through their indexing maps,
//! those of `tensor` through what they mean. [`tensor_layout::analysis`] does the rest. Functions of one block are
//! graphs of such operations: a call reads what its callee's results read of its arguments, and a function gets the
//! maps between its results and its arguments.

use crate::buffers::operations::{ELEMENTWISE, is};
use crate::diagnostic::{Diagnostic, Severity};
use crate::upstream::emit;
use layout_dialect::{FEEDS, MACHINE, READS, affine, element};
use layout_ir::{self as ir, Builder, Op, Shaped, Val};
use melior::ir::attribute::{ArrayAttribute, FlatSymbolRefAttribute};
use melior::ir::operation::OperationMutLike;
use melior::ir::{Attribute, BlockRef, OperationRef, Type, ValueLike};
use std::collections::{BTreeMap, HashMap, HashSet};
use tensor_layout::analysis::{Access, Flows, Mapped, Maps, Place, RunTime, maps};
use tensor_layout::element::ElementType;
use tensor_layout::expr::Expr;
use tensor_layout::maps::Interval;
use tensor_layout::maps::{Indexing, Kind};
use tensor_layout::notations::to_tensor_layout;
use tensor_layout::operations::{Array, Dim, Shape};
use tensor_layout::operations::{Graph, Node, Value};
use tensor_layout::operations::{Loops, Operation};
use tensor_layout::places::Placement;
use tensor_layout::places::plan;
use tensor_layout::text::Error;
use tensor_layout::tiled::Expansion;
use tensor_layout::tiled::Layout;

/// The value for an operand of [`Operation`].
#[derive(Clone, Copy)]
enum SiteOperand {
    /// The operand with this number.
    Own(usize),
    /// A scalar from its region.
    Given,
    /// A scalar in an attribute.
    Fixed(i64),
}

/// An operation with the operands and results that its indices are about.
struct Site {
    operation: Operation,
    operands: Vec<SiteOperand>,
}

/// What a result reads of an operand, and what that feeds of it. Run-time values are named by the number of their
/// operand, or by their place in the function that is called.
pub struct Pair {
    /// From the result's index to the operand's.
    pub reads: Access<String>,
    /// From the operand's index to the result's.
    pub feeds: Access<String>,
}

/// What the results of an operation have to do with its operands: a row for each result, in it a pair for each operand.
pub type Pairs = Vec<Vec<Pair>>;

/// Attaches what each operation below `root` reads and feeds, or reports it as remarks.
pub fn run(root: Op, report: bool) {
    for (op, pairs) in below(root) {
        if report && let Some(said) = traffic(root, op) {
            emit(&said);
        }
        if report {
            emit(&remark(op, &pairs));
        } else {
            let b = Builder::before(op);
            ir::edit(op).set_attribute(READS, attribute(b, &pairs, |pair| &pair.reads));
            ir::edit(op).set_attribute(FEEDS, attribute(b, &pairs, |pair| &pair.feeds));
        }
    }
}

/// The operations on tensors below `root`, itself included, with what they read and feed. Calls are looked into.
pub fn analyse_below<'a>(root: OperationRef<'_, 'a>) -> Vec<(Op<'a>, Pairs)> {
    below(root).collect()
}

fn below<'c>(root: Op<'c>) -> impl Iterator<Item = (Op<'c>, Pairs)> {
    let mut functions = Functions::below(root);
    ir::all_operations(root).into_iter().filter_map(move |op| {
        // What their regions do with the operands is a matter of the function.
        if matches!(ir::name(op), "scf.if" | "scf.for" | "scf.while") {
            return None;
        }
        Some((op, functions.analyse(op).or_else(|| alone(op))?))
    })
}

/// The maps of one direction as values, whose points together are the answer.
pub fn values<S>(access: &Access<S>) -> Vec<Indexing> {
    let known = access.maps.iter().map(|mapped| Indexing::Map(mapped.map.clone()));
    known.chain(access.unknown.first().map(|_| Indexing::Undefined)).collect()
}

/// For each result and each operand the maps of one direction.
fn attribute<'c>(b: Builder<'c>, pairs: &[Vec<Pair>], of: fn(&Pair) -> &Access<String>) -> Attribute<'c> {
    let array = |elements: Vec<Attribute<'c>>| -> Attribute<'c> { ArrayAttribute::new(b.context(), &elements).into() };
    // A relation that an affine map cannot hold is UNDEFINED in the attribute.
    let undefined = || layout_dialect::indexing_map_attribute(b.context(), &Indexing::Undefined);
    let map = |value: &Indexing| {
        let made = layout_dialect::indexing_map_attribute(b.context(), value).or_else(|_| undefined());
        made.expect("the dialect is loaded")
    };
    let maps = |pair: &Pair| array(values(of(pair)).iter().map(map).collect());
    array(pairs.iter().map(|row| array(row.iter().map(maps).collect())).collect())
}

/// What a conversion moves between places, as a remark; none where neither side is a TensorLayout.
fn traffic<'c>(root: Op<'c>, op: Op<'c>) -> Option<Diagnostic<'c>> {
    if ir::name(op) != "layout.convert" {
        return None;
    }
    let types = [ir::operands(op)[0].r#type(), ir::result(op, 0).r#type()];
    let shaped = types.map(|t| ir::tensor(t).or_else(|| ir::memref(t)));
    let [Some(from), Some(to)] = shaped else { return None };
    let spread = |side: &Shaped| side.layout.and_then(layout_dialect::tensor_layout).is_some();
    if !spread(&from) && !spread(&to) {
        return None;
    }
    let machine = ir::attribute(root, MACHINE).and_then(layout_dialect::machine);
    let bits = element::bits(from.element).ok_or_else(|| Error::new(format!("{} has no known size", from.element)));
    let planned = placement(&from).and_then(|from| Ok((from, placement(&to)?)));
    let planned = planned.and_then(|(from, to)| Ok((from, to, bits?)));
    let planned = planned.and_then(|(from, to, bits)| plan(&from, &to, machine.as_ref(), bits));
    let lines = match planned {
        Ok(plan) => plan.to_string().lines().map(String::from).collect(),
        Err(error) => vec![format!("not known: {error}")],
    };
    let location = ir::location(op);
    let notes = lines.into_iter().map(|line| (location, line)).collect();
    Some(Diagnostic { severity: Severity::Remark, location, message: "traffic of `layout.convert`".into(), notes })
}

/// The layout of a type.
fn placement(side: &Shaped) -> Result<Placement, Error> {
    let sizes = side.sizes().ok_or_else(|| Error::new("a size is known only at run time"))?;
    let layout = match side.layout.and_then(layout_dialect::tensor_layout) {
        Some(layout) => layout,
        None => {
            let tiled = side.layout.and_then(layout_dialect::tiled);
            let tiled = tiled.unwrap_or_else(|| Layout::row_major(side.shape.len()));
            to_tensor_layout(&Expansion::new(&sizes, &tiled)?, &tiled)?
        }
    };
    Placement::new(&layout, Some(&sizes)).map_err(|misplaced| misplaced.error)
}

/// The maps as a remark with a note for each operand.
fn remark<'c>(op: Op<'c>, pairs: &[Vec<Pair>]) -> Diagnostic<'c> {
    let (location, several) = (ir::location(op), pairs.len() > 1);
    let mut notes = Vec::new();
    for (result, row) in pairs.iter().enumerate() {
        for (operand, pair) in row.iter().enumerate() {
            let of = if several { format!(" for result {result}") } else { String::new() };
            for (verb, access) in [("is read", &pair.reads), ("feeds", &pair.feeds)] {
                notes.extend(
                    access.to_string().lines().map(|line| (location, format!("operand {operand} {verb}{of}: {line}"))),
                );
            }
        }
    }
    let message = format!("indexing of `{}`", ir::name(op));
    Diagnostic { severity: Severity::Remark, location, message, notes }
}

/// What an operation reads and feeds. Calls and functions are followed through the program around them, for which
/// [`analyse_below`] reads it only once. None where no tensor is taken or given.
///
/// ```
/// use melior::{Context, dialect::DialectRegistry, ir::{BlockLike, Module, RegionLike, operation::OperationLike}, utility};
///
/// let registry = DialectRegistry::new();
/// utility::register_all_dialects(&registry);
/// let context = Context::new_with_registry(&registry, false);
/// let text = "func.func @f(%x: tensor<2x3xf32>) -> tensor<6xf32> {
///     %y = tensor.collapse_shape %x [[0, 1]] : tensor<2x3xf32> into tensor<6xf32>
///     return %y : tensor<6xf32>
/// }";
/// let module = Module::parse(&context, text).unwrap();
/// let function = module.body().first_operation().unwrap();
/// let reshape = function.region(0).unwrap().first_block().unwrap().first_operation().unwrap();
/// let pairs = layout_passes::indexing_analysis::analyse(reshape).unwrap();
/// assert_eq!(pairs[0][0].reads.to_string(), "(d0) -> (d0 floordiv 3, d0 mod 3), domain: d0 in [0, 5]");
/// assert_eq!(pairs[0][0].feeds.to_string(), "(d0, d1) -> (d0 * 3 + d1), domain: d0 in [0, 1], d1 in [0, 2]");
/// ```
pub fn analyse(op: OperationRef) -> Option<Pairs> {
    let op: Op = op;
    if !matches!(ir::name(op), "func.func" | "func.call") {
        return alone(op);
    }
    let mut root = op;
    while let Some(parent) = ir::parent(root) {
        root = parent;
    }
    Functions::below(root).analyse(op).or_else(|| alone(op))
}

/// [`analyse`] without a look at anything else: calls are unknown.
fn alone(op: Op) -> Option<Pairs> {
    let site = site(op)?;
    let own = ir::operands(op);
    let operand = |operand: &SiteOperand| match operand {
        SiteOperand::Own(number) => shape(own[*number].r#type()),
        SiteOperand::Given | SiteOperand::Fixed(_) => scalar(ElementType::S64),
    };
    let operands: Vec<Shape> = site.operands.iter().map(operand).collect();
    let results: Vec<Shape> = ir::results(op).iter().map(|v| shape(v.r#type())).collect();
    let (operands, results) = (operands.iter().collect::<Vec<_>>(), results.iter().collect::<Vec<_>>());
    let found = maps(&site.operation, &operands, &results);
    let pair = |number, result| {
        let place = site.operands.iter().position(|operand| matches!(operand, SiteOperand::Own(own) if *own == number));
        let value = |source: &usize| match site.operands.get(*source) {
            Some(SiteOperand::Fixed(value)) => Some(*value),
            _ => None,
        };
        let name = |source: &usize| match site.operands.get(*source) {
            Some(SiteOperand::Own(number)) => number.to_string(),
            _ => source.to_string(),
        };
        let access = |of: fn(&Maps, usize, usize) -> Option<&Access>| match (&found, place) {
            (Ok(maps), Some(k)) => of(maps, k, result).map_or_else(Access::none, |a| with_names(a, &value, &name)),
            (Ok(_), None) => Access::none(),
            (Err(error), _) => Access { maps: Vec::new(), unknown: vec![error.to_string()] },
        };
        Pair { reads: access(Maps::reads), feeds: access(Maps::feeds) }
    };
    Some((0..results.len()).map(|result| (0..own.len()).map(|number| pair(number, result)).collect()).collect())
}

/// The maps with run-time variables replaced whose `value` is known, and the others named by `name`.
fn with_names<S>(access: &Access<S>, value: &dyn Fn(&S) -> Option<i64>, name: &dyn Fn(&S) -> String) -> Access<String> {
    let mut all = Access { maps: Vec::new(), unknown: access.unknown.clone() };
    for Mapped { map, devices, run_time } in &access.maps {
        let (mut map, first) = (map.clone(), map.dims + map.ranges);
        let mut known = false;
        for (k, run_time) in run_time.iter().enumerate() {
            if let Some(value) = value(&run_time.source) {
                let within = run_time.within;
                let value = if run_time.clamped { value.clamp(within.lo, within.hi) } else { value };
                map.domain.vars[first + k] = Interval::new(value, value);
                known = true;
            }
        }
        let mut left: Vec<usize> = (0..map.variables()).collect();
        if known {
            let Indexing::Map(simple) = map.simplify() else { continue };
            (map, left) = simple.without_unused(&[Kind::RunTime]);
        }
        let run_time = left.iter().filter(|v| **v >= first).map(|v| {
            let of = &run_time[*v - first];
            RunTime { source: name(&of.source), element: of.element.clone(), within: of.within, clamped: of.clamped }
        });
        all.maps.push(Mapped { run_time: run_time.collect(), devices: *devices, map });
    }
    all
}

/// The functions of a module as graphs; each comes after those that it calls.
#[derive(Default)]
struct Functions {
    graphs: Vec<Graph>,
    numbers: HashMap<String, usize>,
    /// Nodes that are numbers in attributes, by graph and node.
    fixed: HashMap<(usize, usize), i64>,
    flows: Flows,
}

impl Functions {
    fn below(root: Op) -> Functions {
        let mut functions = Functions::default();
        let mut bodies: BTreeMap<String, Option<Op>> = BTreeMap::new();
        for op in ir::all_operations(root) {
            if ir::name(op) == "func.func"
                && let Some(name) = symbol(op)
            {
                // What has the name of another, in a nested module, is not looked into.
                bodies.entry(name).and_modify(|body| *body = None).or_insert(Some(op));
            }
        }
        for name in bodies.keys() {
            functions.add(name, &bodies, &mut Vec::new());
        }
        functions
    }

    /// Adds a function after those that it calls; its number, if it is a graph.
    fn add(&mut self, name: &str, bodies: &BTreeMap<String, Option<Op>>, callers: &mut Vec<String>) -> Option<usize> {
        if let Some(number) = self.numbers.get(name) {
            return Some(*number);
        }
        let [block] = ir::blocks((*bodies.get(name)?)?)[..] else { return None };
        // What calls itself is no graph, nor is what calls very deeply.
        if callers.len() > DEEPEST || callers.iter().any(|caller| caller == name) {
            return None;
        }
        callers.push(name.to_string());
        let mut graph = Building::default();
        for (number, argument) in ir::arguments(block).into_iter().enumerate() {
            graph.add(Operation::Parameter { number }, Vec::new(), &[argument]);
        }
        let roots = self.block(block, &mut graph, bodies, callers);
        callers.pop();
        let number = self.push(graph, roots?);
        self.numbers.insert(name.to_string(), number);
        Some(number)
    }

    fn push(&mut self, graph: Building, roots: Vec<Value>) -> usize {
        let number = self.graphs.len();
        self.graphs.push(Graph { nodes: graph.nodes, roots });
        self.fixed.extend(graph.fixed.into_iter().map(|(node, value)| ((number, node), value)));
        number
    }

    /// Adds the operations of a block; the values that its terminator forwards.
    fn block(
        &mut self,
        block: BlockRef,
        graph: &mut Building,
        bodies: &BTreeMap<String, Option<Op>>,
        callers: &mut Vec<String>,
    ) -> Option<Vec<Value>> {
        for op in ir::operations(block) {
            let own: Option<Vec<Value>> =
                ir::operands(op).iter().map(|v| graph.places.get(&ir::key(*v)).copied()).collect();
            if matches!(ir::name(op), "func.return" | "scf.yield" | "scf.condition") {
                return own;
            }
            let Some(own) = own else {
                graph.add(other("an operand comes from elsewhere".to_string()), Vec::new(), &ir::results(op));
                continue;
            };
            let captured = graph.captured(op);
            if let Some(results) = self.control(op, &own, &captured, graph, bodies, callers) {
                graph.places.extend(ir::results(op).iter().map(|v| ir::key(*v)).zip(results));
                continue;
            }
            let (operation, operands) = self.operation(op, own, graph, bodies, callers);
            graph.with_captured(op, operation, operands, captured);
        }
        None
    }

    /// An operation as a node, and the values that it takes.
    fn operation(
        &mut self,
        op: Op,
        own: Vec<Value>,
        graph: &mut Building,
        bodies: &BTreeMap<String, Option<Op>>,
        callers: &mut Vec<String>,
    ) -> (Operation, Vec<Value>) {
        if let Some(name) = callee(op) {
            return match self.add(&name, bodies, callers) {
                Some(computation) => (Operation::Call { computation }, own),
                None => (other(format!("`{name}` is not looked into")), own),
            };
        }
        match site(op) {
            Some(site) => {
                let operands = site.operands.iter().map(|operand| graph.operand(operand, &own)).collect();
                (site.operation, operands)
            }
            // On scalars alone.
            None if own.is_empty() => (Operation::Constant, own),
            None => (Operation::Elementwise, own),
        }
    }

    /// Adds an operation that runs its regions, as a conditional or a loop over a tuple of all that they use; its
    /// results. None for other operations, and regions that forward more than a value for each result.
    fn control(
        &mut self,
        op: Op,
        own: &[Value],
        captured: &[Captured],
        graph: &mut Building,
        bodies: &BTreeMap<String, Option<Op>>,
        callers: &mut Vec<String>,
    ) -> Option<Vec<Value>> {
        if ir::results(op).is_empty() || callers.len() > DEEPEST {
            return None;
        }
        // A region is one more call, of no name.
        callers.push(String::new());
        let mut regions = Regions { functions: self, captured, bodies, callers };
        let results = match (ir::name(op), &ir::blocks(op)[..]) {
            ("scf.if", [yes, no]) => regions.conditional(op, own, [*yes, *no], graph),
            ("scf.while", [before, after]) => regions.while_loop(op, own, *before, *after, graph),
            ("scf.for", [block]) => regions.for_loop(op, own, *block, graph),
            _ => None,
        };
        callers.pop();
        results
    }

    /// What a function's results read of its arguments, or a call's of its operands.
    fn analyse(&mut self, op: Op) -> Option<Pairs> {
        let name = if ir::name(op) == "func.func" { symbol(op)? } else { callee(op)? };
        let entry = *self.numbers.get(&name)?;
        let found = self.flows.flow(&self.graphs, entry).ok()?;
        let value = |place: &Place| self.fixed.get(&(place.graph, place.node)).copied();
        let access = |access: Option<&Access<Place>>| {
            access.map_or_else(Access::none, |access| with_names(access, &value, &|place| place.to_string()))
        };
        let pair = |parameter, root| Pair {
            reads: access(found.reads(parameter, 0, root)),
            feeds: access(found.feeds(parameter, 0, root)),
        };
        let parameters = found.parameters().len();
        let row = |root| (0..parameters).map(|parameter| pair(parameter, root)).collect();
        (found.roots() > 0).then(|| (0..found.roots()).map(row).collect())
    }
}

/// The depth to which calls are followed.
const DEEPEST: usize = 256;

/// A value that a region takes from outside, and its key.
type Captured = (usize, Value);

/// A graph while it is made.
#[derive(Default)]
struct Building {
    nodes: Vec<Node>,
    /// The node and result of each value.
    places: HashMap<usize, Value>,
    fixed: Vec<(usize, i64)>,
}

impl Building {
    fn add(&mut self, operation: Operation, operands: Vec<Value>, results: &[Val]) {
        if results.is_empty() {
            return;
        }
        let node = self.node(operation, operands, results.iter().map(|v| shape(v.r#type())).collect());
        for (result, v) in results.iter().enumerate() {
            self.places.insert(ir::key(*v), Value { node, result });
        }
    }

    fn node(&mut self, operation: Operation, operands: Vec<Value>, results: Vec<Shape>) -> usize {
        self.nodes.push(Node { operation, operands, results });
        self.nodes.len() - 1
    }

    fn shape(&self, value: Value) -> Shape {
        self.nodes[value.node].results[value.result].clone()
    }

    fn tuple(&mut self, parts: Vec<Value>) -> Value {
        let shapes = parts.iter().map(|v| self.shape(*v)).collect();
        Value { node: self.node(Operation::Tuple, parts, vec![Shape::Tuple(shapes)]), result: 0 }
    }

    fn element(&mut self, tuple: Value, index: usize) -> Value {
        let Shape::Tuple(parts) = self.shape(tuple) else { unreachable!("only tuples have parts") };
        let node = self.node(Operation::GetTupleElement { index }, vec![tuple], vec![parts[index].clone()]);
        Value { node, result: 0 }
    }

    /// The values from before an operation that its regions use.
    fn captured(&self, op: Op) -> Vec<Captured> {
        let inner = ir::blocks(op).into_iter().flat_map(ir::operations).flat_map(ir::all_operations);
        let mut seen = HashSet::new();
        inner
            .flat_map(ir::operands)
            .map(ir::key)
            .filter(|key| seen.insert(*key))
            .filter_map(|key| Some((key, *self.places.get(&key)?)))
            .collect()
    }

    /// A graph for a region whose arguments are `given`: its parameter is a tuple of these and of what is captured.
    fn region(&self, block: BlockRef, given: &[Value], captured: &[Captured]) -> Building {
        let mut inner = Building::default();
        let shapes = given.iter().chain(captured.iter().map(|c| &c.1)).map(|v| self.shape(*v)).collect();
        inner.node(Operation::Parameter { number: 0 }, Vec::new(), vec![Shape::Tuple(shapes)]);
        let part = |inner: &mut Building, k| inner.element(Value { node: 0, result: 0 }, k);
        for (k, argument) in ir::arguments(block).into_iter().take(given.len()).enumerate() {
            let value = part(&mut inner, k);
            inner.places.insert(ir::key(argument), value);
        }
        for (k, (key, _)) in captured.iter().enumerate() {
            let own = part(&mut inner, given.len() + k);
            inner.places.insert(*key, own);
        }
        inner
    }

    /// The captured values in the graph of a region: the last parts of its parameter.
    fn taken(&mut self, captured: usize) -> Vec<Value> {
        let Shape::Tuple(parts) = self.shape(Value { node: 0, result: 0 }) else { unreachable!("the parameter") };
        (parts.len() - captured..parts.len()).map(|k| self.element(Value { node: 0, result: 0 }, k)).collect()
    }

    /// Adds an operation whose region takes these values from outside, nobody knows where.
    fn with_captured(&mut self, op: Op, operation: Operation, mut operands: Vec<Value>, captured: Vec<Captured>) {
        let constant = |v: &Value| self.nodes[v.node].operation == Operation::Constant;
        let captured: Vec<Value> = captured.into_iter().map(|c| c.1).filter(|v| !constant(v)).collect();
        if captured.is_empty() || matches!(operation, Operation::Other { .. }) {
            operands.extend(&captured);
            self.add(operation, operands, &ir::results(op));
            return;
        }
        let shapes: Vec<Shape> = ir::results(op).iter().map(|v| shape(v.r#type())).collect();
        let outside = self.node(other(format!("the region of `{}` takes it", ir::name(op))), captured, shapes.clone());
        let inside = self.node(operation, operands, shapes.clone());
        for (result, v) in ir::results(op).iter().enumerate() {
            let parts = [inside, outside].map(|node| Value { node, result }).to_vec();
            let node = self.node(Operation::Elementwise, parts, vec![shapes[result].clone()]);
            self.places.insert(ir::key(*v), Value { node, result: 0 });
        }
    }

    fn operand(&mut self, operand: &SiteOperand, own: &[Value]) -> Value {
        match operand {
            SiteOperand::Own(number) => return own[*number],
            SiteOperand::Given => {}
            SiteOperand::Fixed(value) => self.fixed.push((self.nodes.len(), *value)),
        }
        let results = vec![scalar(ElementType::S64)];
        self.nodes.push(Node { operation: Operation::Constant, operands: Vec::new(), results });
        Value { node: self.nodes.len() - 1, result: 0 }
    }
}

/// What is unknown, and why.
fn other(reason: String) -> Operation {
    Operation::Other { reason }
}

/// The regions of an operation as computations. Each is a call of a tuple: what it is given, then what it captures.
struct Regions<'a, 'o> {
    functions: &'a mut Functions,
    captured: &'a [Captured],
    bodies: &'a BTreeMap<String, Option<Op<'o>>>,
    callers: &'a mut Vec<String>,
}

impl Regions<'_, '_> {
    /// The graph of a region that is given these values, and the values that it forwards.
    fn region(&mut self, block: BlockRef, given: &[Value], graph: &Building) -> Option<(Building, Vec<Value>)> {
        let mut inner = graph.region(block, given, self.captured);
        let forwarded = self.functions.block(block, &mut inner, self.bodies, self.callers)?;
        Some((inner, forwarded))
    }

    fn outside(&self) -> Vec<Value> {
        self.captured.iter().map(|c| c.1).collect()
    }

    fn conditional(
        &mut self,
        op: Op,
        own: &[Value],
        blocks: [BlockRef; 2],
        graph: &mut Building,
    ) -> Option<Vec<Value>> {
        let mut branches = Vec::new();
        for block in blocks {
            let (inner, forwarded) = self.region(block, &[], graph)?;
            branches.push(self.functions.push(inner, forwarded));
        }
        let all = graph.tuple(self.outside());
        let shapes = ir::results(op).iter().map(|v| shape(v.r#type())).collect();
        let node = graph.node(Operation::Conditional { branches }, vec![own[0], all, all], shapes);
        Some((0..ir::results(op).len()).map(|result| Value { node, result }).collect())
    }

    fn while_loop(
        &mut self,
        op: Op,
        own: &[Value],
        before: BlockRef,
        after: BlockRef,
        graph: &mut Building,
    ) -> Option<Vec<Value>> {
        let (inner, forwarded) = self.region(before, own, graph)?;
        // Only where the first region forwards what it was given.
        let arguments: Vec<usize> = ir::arguments(before).into_iter().map(ir::key).collect();
        let same = arguments.iter().zip(forwarded.get(1..)?).all(|(key, value)| inner.places[key] == *value);
        if !same || arguments.len() != forwarded.len() - 1 {
            return None;
        }
        let condition = self.functions.push(inner, vec![forwarded[0]]);
        let (mut inner, mut forwarded) = self.region(after, own, graph)?;
        forwarded.extend(inner.taken(self.captured.len()));
        let body = self.functions.push(inner, forwarded);
        let all = graph.tuple([own, &self.outside()].concat());
        let node = graph.node(Operation::While { condition, body }, vec![all], vec![graph.shape(all)]);
        Some((0..ir::results(op).len()).map(|k| graph.element(Value { node, result: 0 }, k)).collect())
    }

    /// The loop's variable goes from the first bound up to the second, in steps.
    fn for_loop(&mut self, op: Op, own: &[Value], block: BlockRef, graph: &mut Building) -> Option<Vec<Value>> {
        let (bounds, initial) = own.split_at_checked(3)?;
        let given = [&bounds[..1], initial].concat();
        let variable = ir::key(*ir::arguments(block).first()?);
        let (mut inner, mut forwarded) = self.region(block, &given, graph)?;
        let captured_inside = inner.taken(self.captured.len());
        let scalar = vec![scalar(ElementType::S64)];
        let next = inner.node(Operation::Elementwise, vec![inner.places[&variable]], scalar.clone());
        forwarded.insert(0, Value { node: next, result: 0 });
        forwarded.extend(captured_inside);
        let body = self.functions.push(inner, forwarded);
        let mut inner = graph.region(block, &given, self.captured);
        let less = inner.node(Operation::Elementwise, vec![inner.places[&variable]], scalar);
        let condition = self.functions.push(inner, vec![Value { node: less, result: 0 }]);
        // The variable is made of all three.
        let shapes = vec![graph.shape(bounds[0])];
        let bounds = graph.node(Operation::Elementwise, bounds.to_vec(), shapes);
        let all = graph.tuple([&[Value { node: bounds, result: 0 }], initial, &self.outside()].concat());
        let node = graph.node(Operation::While { condition, body }, vec![all], vec![graph.shape(all)]);
        Some((0..ir::results(op).len()).map(|k| graph.element(Value { node, result: 0 }, k + 1)).collect())
    }
}

/// The symbol that a function defines.
fn symbol(function: Op) -> Option<String> {
    ir::text(ir::attribute(function, "sym_name")?).map(str::to_string)
}

/// The symbol of the function that an operation calls, if it is a call.
fn callee(op: Op) -> Option<String> {
    let callee = (ir::name(op) == "func.call").then(|| ir::attribute(op, "callee")).flatten()?;
    FlatSymbolRefAttribute::try_from(callee).ok().map(|symbol| symbol.value().to_string())
}

/// The table: what an operation does with indices; none where it has no tensor.
fn site(op: Op) -> Option<Site> {
    let (operands, results) = (ir::operands(op), ir::results(op));
    let tensors = |values: &[Val]| values.iter().any(|v| ir::tensor(v.r#type()).is_some());
    if results.is_empty() || !tensors(&operands) && !tensors(&results) {
        return None;
    }
    let (operation, taken) = match ir::name(op) {
        "tensor.cast" | "tensor.bitcast" | "layout.convert" => (Operation::Elementwise, operands.len()),
        "tensor.expand_shape" | "tensor.collapse_shape" | "tensor.reshape" => (Operation::Reshape, 1),
        "tensor.splat" => (Operation::Broadcast { dims: Vec::new() }, 1),
        "tensor.empty" | "arith.constant" => (Operation::Constant, 0),
        "tensor.concat" => {
            let dim = usize::try_from(ir::integer(ir::attribute(op, "dim")?)?).ok()?;
            (Operation::Concatenate { dim }, operands.len())
        }
        "tensor.pad" => {
            return Some(padding(op).unwrap_or_else(|| unknown(op, "the padding is known only at run time")));
        }
        "tensor.insert_slice" => {
            let other = || {
                unknown(op, "the slice has a size known only at run time, strides beside such a start, or another rank")
            };
            return Some(insertion(op).unwrap_or_else(other));
        }
        "tensor.extract_slice" | "tensor.extract" => match slice(op) {
            Some(loops) => (Operation::Loops(Box::new(loops)), operands.len()),
            None => return Some(unknown(op, "the slice has a size or stride that is known only at run time")),
        },
        name if is(name, ELEMENTWISE) => (Operation::Elementwise, operands.len()),
        name => match ir::indexing_maps(op) {
            Some(maps) => match structured(op, &maps) {
                Some(loops) => (Operation::Loops(Box::new(loops)), operands.len()),
                None => return Some(unknown(op, "the loops have sizes that are known only at run time")),
            },
            None => return Some(unknown(op, &format!("`{name}` is not looked into"))),
        },
    };
    Some(Site { operation, operands: (0..taken).map(SiteOperand::Own).collect() })
}

fn unknown(op: Op, reason: &str) -> Site {
    let operands = (0..ir::operands(op).len()).map(SiteOperand::Own).collect();
    Site { operation: Operation::Other { reason: reason.to_string() }, operands }
}

/// The loops of a structured operation. What its body does not use is not read.
fn structured(op: Op, maps: &[melior::ir::AffineMap]) -> Option<Loops> {
    let operands = ir::operands(op);
    let indices = maps.iter().map(|map| affine::exprs_of_map(*map)).collect::<Option<Vec<_>>>()?;
    let mut loops = vec![None; maps.first()?.dim_count()];
    for (index, operand) in indices.iter().zip(&operands) {
        // A scalar has no sizes and no index.
        let sizes = ir::tensor(operand.r#type()).map(|t| t.shape).unwrap_or_default();
        for (e, size) in index.iter().zip(sizes) {
            if let (Expr::Var(v), Some(size)) = (e, size) {
                loops[*v] = Some(size);
            }
        }
    }
    let arguments = ir::arguments(*ir::blocks(op).first()?);
    let used = |k: usize| arguments.get(k).is_none_or(|argument| ir::is_used(*argument));
    let read = indices.iter().enumerate().map(|(k, index)| used(k).then(|| index.clone())).collect();
    let results = indices[indices.len() - ir::results(op).len()..].to_vec();
    Some(Loops { sizes: loops.into_iter().collect::<Option<_>>()?, offsets: Vec::new(), operands: read, results })
}

/// The loops of `tensor.extract_slice` and `tensor.extract`.
fn slice(op: Op) -> Option<Loops> {
    let operands = ir::operands(op);
    let source = ir::tensor(operands[0].r#type())?.sizes()?;
    let one = ir::name(op) == "tensor.extract";
    let list = |name, default| if one { vec![default; source.len()] } else { ir::sizes(op, name) };
    let known = |numbers: Vec<Option<i64>>| numbers.into_iter().collect::<Option<Vec<i64>>>();
    let starts = list("static_offsets", None);
    let (sizes, steps) = (known(list("static_sizes", Some(1)))?, known(list("static_strides", Some(1)))?);
    let result = ir::tensor(ir::results(op)[0].r#type()).map_or(Some(Vec::new()), |t| t.sizes())?;
    let kept = kept(&sizes, &result)?;
    let (mut offsets, mut index) = (Vec::new(), Vec::new());
    for (k, start) in starts.iter().enumerate() {
        // Of the loops, one for each dimension, those of size 1 that the result leaves out are none.
        let along = kept.iter().position(|dim| *dim == k).map_or(Expr::Const(0), Expr::Var).times(steps[k]);
        let start = if let Some(start) = *start {
            Expr::Const(start)
        } else {
            let reach = sizes[k].checked_sub(1)?.checked_mul(steps[k])?;
            offsets.push((1 + offsets.len(), Interval::new(0, source[k].checked_sub(1)?.checked_sub(reach)?)));
            Expr::Var(kept.len() + offsets.len() - 1)
        };
        index.push(along + start);
    }
    let mut operands = vec![None; operands.len()];
    operands[0] = Some(index);
    let loops = kept.iter().map(|k| sizes[*k]).collect();
    Some(Loops { sizes: loops, offsets, operands, results: vec![(0..kept.len()).map(Expr::Var).collect()] })
}

/// Which of a slice's dimensions its result keeps: those of size 1 may be left out.
fn kept(sizes: &[i64], result: &[i64]) -> Option<Vec<usize>> {
    let mut kept = Vec::with_capacity(result.len());
    for (k, size) in sizes.iter().enumerate() {
        let left = sizes.len() - k - (result.len() - kept.len());
        if result.get(kept.len()) == Some(size)
            && (*size != 1 || left == 0 || sizes[k..].len() > result.len() - kept.len())
        {
            kept.push(k);
        } else if *size != 1 {
            return None;
        }
    }
    (kept.len() == result.len()).then_some(kept)
}

/// `tensor.pad` with sizes that are known, and one value for all padding.
fn padding(op: Op) -> Option<Site> {
    let known = |name| ir::sizes(op, name).into_iter().collect::<Option<Vec<i64>>>();
    let (low, high) = (known("static_low")?, known("static_high")?);
    let end = ir::operations(*ir::blocks(op).first()?).pop()?;
    let value = *ir::operands(end).first()?;
    let inside = ir::block_argument(value).is_some_and(|(owner, _)| ir::op_key(owner) == ir::op_key(op));
    if inside {
        return None;
    }
    let interior = vec![0; low.len()];
    let operation = Operation::Pad { low, high, interior };
    Some(Site { operation, operands: vec![SiteOperand::Own(0), SiteOperand::Given] })
}

/// `tensor.insert_slice` of a block of the same rank.
fn insertion(op: Op) -> Option<Site> {
    let operands = ir::operands(op);
    let (starts, sizes) = (ir::sizes(op, "static_offsets"), ir::sizes(op, "static_sizes"));
    let (source, strides) = (ir::tensor(operands[0].r#type())?.shape, ir::sizes(op, "static_strides"));
    if sizes != source {
        return None;
    }
    if strides.iter().any(|n| *n != Some(1)) {
        let known = |numbers: Vec<Option<i64>>| numbers.into_iter().collect::<Option<Vec<i64>>>();
        let operation = Operation::InsertSlice { starts: known(starts)?, strides: known(strides)? };
        return Some(Site { operation, operands: vec![SiteOperand::Own(1), SiteOperand::Own(0)] });
    }
    let mut dynamic = 2..operands.len();
    let mut taken = vec![SiteOperand::Own(1), SiteOperand::Own(0)];
    for start in starts {
        taken.push(match start {
            Some(start) => SiteOperand::Fixed(start),
            None => SiteOperand::Own(dynamic.next()?),
        });
    }
    Some(Site { operation: Operation::DynamicUpdateSlice, operands: taken })
}

/// The shape of a tensor, or of a scalar.
fn shape(t: Type) -> Shape {
    let Some(tensor) = ir::tensor(t) else { return scalar(element(t)) };
    let size = |n: &Option<i64>| n.map_or(Dim::Unbounded, Dim::Exact);
    let own = tensor.layout.and_then(layout_dialect::tiled);
    Shape::Array(Array {
        element: element(tensor.element),
        dims: tensor.shape.iter().map(size).collect(),
        layout: own.unwrap_or_else(|| Layout::row_major(tensor.shape.len())),
    })
}

fn scalar(element: ElementType) -> Shape {
    Shape::Array(Array { element, dims: Vec::new(), layout: Layout::row_major(0) })
}

/// An element type of as many bits: the analysis needs only the bits. 64 bits where there is none.
fn element(t: Type) -> ElementType {
    let bits = element::bits(t);
    ElementType::ALL.iter().copied().find(|e| bits.is_some() && e.bits() == bits).unwrap_or(ElementType::S64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use melior::ir::Module;
    use melior::{Context, dialect::DialectRegistry, utility};

    /// A call reads what its callee's result reads, analysed alone or with all below the module.
    #[test]
    fn calls_are_followed() {
        let registry = DialectRegistry::new();
        utility::register_all_dialects(&registry);
        let context = Context::new_with_registry(&registry, false);
        let text = "func.func @flat(%x: tensor<2x3xf32>) -> tensor<6xf32> {
            %y = tensor.collapse_shape %x [[0, 1]] : tensor<2x3xf32> into tensor<6xf32>
            return %y : tensor<6xf32>
        }
        func.func @caller(%x: tensor<2x3xf32>) -> tensor<6xf32> {
            %y = func.call @flat(%x) : (tensor<2x3xf32>) -> tensor<6xf32>
            return %y : tensor<6xf32>
        }";
        let module = Module::parse(&context, text).unwrap();
        let below = analyse_below(module.as_operation());
        let (call, among) = below.iter().find(|(op, _)| ir::name(*op) == "func.call").unwrap();
        let own = analyse(*call).unwrap();
        let expected = "(d0) -> (d0 floordiv 3, d0 mod 3), domain: d0 in [0, 5]";
        assert_eq!([&own, among].map(|pairs| pairs[0][0].reads.to_string()), [expected; 2]);
    }
}
