//! A graph of operations under construction, with values of MLIR.

use super::site::{SiteOperand, scalar, shape};
use layout_ir::{self as ir, Op, Val};
use melior::ir::{BlockRef, ValueLike};
use std::collections::{HashMap, HashSet};
use tensor_layout::element::ElementType;
use tensor_layout::operations::{Node, Operation, Shape, Value};

/// A value that a region captures, and its key.
pub type Captured = (usize, Value);

/// A graph under construction.
#[derive(Default)]
pub struct Building {
    pub nodes: Vec<Node>,
    /// The node and result of each value.
    pub places: HashMap<usize, Value>,
    pub fixed: Vec<(usize, i64)>,
}

impl Building {
    pub fn add(&mut self, operation: Operation, operands: Vec<Value>, results: &[Val]) {
        if results.is_empty() {
            return;
        }
        let node = self.node(operation, operands, results.iter().map(|v| shape(v.r#type())).collect());
        for (result, v) in results.iter().enumerate() {
            self.places.insert(ir::key(*v), Value { node, result });
        }
    }

    pub fn node(&mut self, operation: Operation, operands: Vec<Value>, results: Vec<Shape>) -> usize {
        self.nodes.push(Node { operation, operands, results });
        self.nodes.len() - 1
    }

    pub fn shape(&self, value: Value) -> Shape {
        self.nodes[value.node].results[value.result].clone()
    }

    pub fn tuple(&mut self, parts: Vec<Value>) -> Value {
        let shapes = parts.iter().map(|v| self.shape(*v)).collect();
        Value { node: self.node(Operation::Tuple, parts, vec![Shape::Tuple(shapes)]), result: 0 }
    }

    pub fn element(&mut self, tuple: Value, index: usize) -> Value {
        let Shape::Tuple(parts) = self.shape(tuple) else { unreachable!("only tuples have parts") };
        let node = self.node(Operation::GetTupleElement { index }, vec![tuple], vec![parts[index].clone()]);
        Value { node, result: 0 }
    }

    /// The values defined before an operation that its regions use.
    pub fn captured(&self, op: Op) -> Vec<Captured> {
        let inner = ir::blocks(op).into_iter().flat_map(ir::operations).flat_map(ir::all_operations);
        let mut seen = HashSet::new();
        inner
            .flat_map(ir::operands)
            .map(ir::key)
            .filter(|key| seen.insert(*key))
            .filter_map(|key| Some((key, *self.places.get(&key)?)))
            .collect()
    }

    /// A graph for a region with the arguments `given`: its parameter is a tuple of these and the captured values.
    pub fn region(&self, block: BlockRef, given: &[Value], captured: &[Captured]) -> Building {
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
    pub fn taken(&mut self, captured: usize) -> Vec<Value> {
        let Shape::Tuple(parts) = self.shape(Value { node: 0, result: 0 }) else { unreachable!("the parameter") };
        (parts.len() - captured..parts.len()).map(|k| self.element(Value { node: 0, result: 0 }, k)).collect()
    }

    /// Adds an operation whose region captures these values, with unknown uses.
    pub fn with_captured(&mut self, op: Op, operation: Operation, mut operands: Vec<Value>, captured: Vec<Captured>) {
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

    pub fn operand(&mut self, operand: &SiteOperand, own: &[Value]) -> Value {
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

/// An unknown operation, and the reason.
pub fn other(reason: String) -> Operation {
    Operation::Other { reason }
}
