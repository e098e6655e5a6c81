//! Functions of one block, and the regions of `scf`, as graphs of operations.

use super::graph::{Building, Captured, other};
use super::pairs::{Pair, Pairs, with_names};
use super::site::{scalar, shape, site};
use crate::models::{Models, Purpose};
use crate::pass::diagnostic::Diagnostic;
use crate::pass::upstream::emit;
use layout_ir::{self as ir, Detached, Op};
use melior::ir::attribute::FlatSymbolRefAttribute;
use melior::ir::{BlockRef, ValueLike};
use std::collections::{BTreeMap, HashMap, VecDeque};
use tensor_layout::analysis::{Access, Flows, ValueRef};
use tensor_layout::element::ElementType;
use tensor_layout::operations::{Graph, Operation, Value};

/// The functions of a module as graphs, callees first.
#[derive(Default)]
pub struct Functions {
    graphs: Vec<Graph>,
    numbers: HashMap<String, usize>,
    /// Nodes that are numbers in attributes, by graph and node.
    fixed: HashMap<(usize, usize), i64>,
    flows: Flows,
    /// The names of the functions that operations of other compilers are, by the keys of these.
    models: HashMap<usize, String>,
    /// Whether a model is wrong, which has been reported.
    pub is_wrong: bool,
}

impl Functions {
    pub fn below(root: Op) -> Functions {
        let mut functions = Functions::default();
        let mut bodies: BTreeMap<String, Option<Op>> = BTreeMap::new();
        for op in ir::all_operations(root) {
            if ir::name(op) == "func.func"
                && let Some(name) = symbol(op)
            {
                // A symbol that occurs twice, because of nested modules, is not analysed.
                bodies.entry(name).and_modify(|body| *body = None).or_insert(Some(op));
            }
        }
        let detached = Detached::default();
        let errors = functions.add_models(root, &detached, &mut bodies).err().unwrap_or_default();
        errors.iter().for_each(emit);
        functions.is_wrong = !errors.is_empty();
        for name in bodies.keys() {
            functions.add(name, &bodies, &mut Vec::new());
        }
        functions
    }

    /// Names the functions that operations with models are, also those in the functions of others.
    fn add_models<'c>(
        &mut self,
        root: Op<'c>,
        detached: &'c Detached,
        bodies: &mut BTreeMap<String, Option<Op<'c>>>,
    ) -> Result<(), Vec<Diagnostic<'c>>> {
        let models = Models::of(root);
        let (mut left, mut errors) = (VecDeque::from(models.below(root, true)?), Vec::new());
        while let Some(model) = left.pop_front() {
            // No function of a module has such a name.
            let name = format!("{} {}", ir::name(model.op), self.models.len());
            match model.function(&name, Purpose::Values, &|function| detached.keep(function)) {
                Ok((function, _)) => {
                    left.extend(models.inside(&model, function)?);
                    bodies.insert(name.clone(), Some(function));
                }
                Err(own) => errors.extend(own),
            }
            self.models.insert(ir::op_key(model.op), name);
        }
        if errors.is_empty() { Ok(()) } else { Err(errors) }
    }

    /// Adds a function after its callees; returns its number, if it is a graph.
    fn add(&mut self, name: &str, bodies: &BTreeMap<String, Option<Op>>, callers: &mut Vec<String>) -> Option<usize> {
        if let Some(number) = self.numbers.get(name) {
            return Some(*number);
        }
        let [block] = ir::blocks((*bodies.get(name)?)?)[..] else { return None };
        // Recursive functions and very deep calls are no graphs.
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

    /// Adds the operations of a block; returns the values that its terminator forwards.
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

    /// An operation as a node, and its operands.
    fn operation(
        &mut self,
        op: Op,
        own: Vec<Value>,
        graph: &mut Building,
        bodies: &BTreeMap<String, Option<Op>>,
        callers: &mut Vec<String>,
    ) -> (Operation, Vec<Value>) {
        if let Some(name) = self.callee(op) {
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

    /// Adds an operation that runs its regions, as a conditional or a loop over a tuple of all values that they use;
    /// returns its results. `None` for other operations, and for regions that forward more than one value for each
    /// result.
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
        // A region is one more call, without a name.
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

    /// The name of the function that an operation calls, or that is its model.
    fn callee(&self, op: Op) -> Option<String> {
        callee(op).or_else(|| self.models.get(&ir::op_key(op)).cloned())
    }

    /// The maps between a function's results and its arguments, or a call's results and its operands.
    pub fn analyse(&mut self, op: Op) -> Option<Pairs> {
        let name = if ir::name(op) == "func.func" { symbol(op)? } else { self.callee(op)? };
        let entry = *self.numbers.get(&name)?;
        let found = self.flows.flow(&self.graphs, entry).ok()?;
        let value = |place: &ValueRef| self.fixed.get(&(place.graph, place.node)).copied();
        let access = |access: Option<&Access<ValueRef>>| {
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

/// The maximal depth of analysed calls.
const DEEPEST: usize = 256;

/// The regions of an operation as computations. Each takes a tuple: the given values, then the captured ones.
struct Regions<'a, 'o> {
    functions: &'a mut Functions,
    captured: &'a [Captured],
    bodies: &'a BTreeMap<String, Option<Op<'o>>>,
    callers: &'a mut Vec<String>,
}

impl Regions<'_, '_> {
    /// The graph of a region with these given values, and the values that it forwards.
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
        // Only if the first region forwards its arguments unchanged.
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

    /// The induction variable runs from the first bound to the second, in steps.
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
        // The variable depends on all three bounds.
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
