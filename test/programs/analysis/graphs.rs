//! Random small graphs, and the parameter elements that the root reads, through every node.

use super::cases::{Case, array, factors, some};
use layout_reference::boxes::indices;
use layout_reference::choices::Choices;
use layout_reference::interpreter::reads::{Index, Pair, reads, sizes};
use std::collections::BTreeSet;
use tensor_layout::operations::Shape;
use tensor_layout::operations::{Gather, Operation};
use tensor_layout::operations::{Graph, Node, Value};

pub fn value(node: usize) -> Value {
    Value { node, result: 0 }
}

pub fn node(operation: Operation, operands: &[usize], result: Shape) -> Node {
    Node { operation, operands: operands.iter().map(|n| value(*n)).collect(), results: vec![result] }
}

/// A random graph of parameters, a scalar, and some operations.
pub fn some_graph(rng: &mut Choices) -> Graph {
    let mut nodes = Vec::new();
    for number in 0..rng.usize(1..=2) {
        let shape: Index = (0..rng.usize(1..=2)).map(|_| rng.i64(2..=4)).collect();
        nodes.push(node(Operation::Parameter { number }, &[], array(&shape)));
    }
    nodes.push(node(Operation::Parameter { number: nodes.len() }, &[], array(&[])));
    nodes.push(node(Operation::Parameter { number: nodes.len() }, &[], array(&[])));
    let scalar = nodes.len() - 1;
    let wanted = scalar + 1 + rng.usize(1..=6);
    let mut graph = SomeNodes { nodes, scalar };
    while graph.nodes.len() < wanted {
        if let Some(made) = graph.some_node(rng)
            && sizes(&made.results[0])[0].iter().product::<i64>() <= 60
        {
            graph.nodes.push(made);
        }
    }
    let roots = vec![value(graph.nodes.len() - 1)];
    Graph { nodes: graph.nodes, roots }
}

/// The nodes of a graph so far; two of them are scalars, the later with this number.
struct SomeNodes {
    nodes: Vec<Node>,
    scalar: usize,
}

impl SomeNodes {
    /// A node, at best a new one, for long chains.
    fn pick(&self, rng: &mut Choices) -> usize {
        if rng.bool() { self.nodes.len() - 1 } else { rng.usize(..self.nodes.len()) }
    }

    fn sizes(&self, number: usize) -> Index {
        sizes(&self.nodes[number].results[0]).remove(0)
    }

    fn some_node(&self, rng: &mut Choices) -> Option<Node> {
        let nodes = &self.nodes;
        let from = self.pick(rng);
        let own = self.sizes(from);
        let twins: Vec<usize> = (0..nodes.len()).filter(|n| nodes[*n].results == nodes[from].results).collect();
        match rng.u8(..15) {
            0 | 1 => Some(node(Operation::Elementwise, &[from, twins[rng.usize(..twins.len())]], array(&own))),
            2 if !own.contains(&0) => {
                let n = own.iter().product();
                Some(node(Operation::Reshape, &[from], array(&factors(rng, n))))
            }
            3 => {
                let dim = rng.usize(..=own.len());
                let mut out = own.clone();
                out.insert(dim, rng.i64(1..=3));
                let dims = (0..out.len()).filter(|d| *d != dim).collect();
                Some(node(Operation::Broadcast { dims }, &[from], array(&out)))
            }
            4 | 5 if !own.is_empty() => self.row_gather(rng, from, &own),
            6 => Some(self.update(rng, from, &own)),
            kind => self.fitted(rng, kind, from, &own),
        }
    }

    /// A gather of rows at another node's indices.
    fn row_gather(&self, rng: &mut Choices, from: usize, own: &[i64]) -> Option<Node> {
        let rows = self.pick(rng);
        let batch = self.sizes(rows);
        let g = Gather {
            offset_dims: (batch.len()..batch.len() + own.len() - 1).collect(),
            collapsed_slice_dims: vec![0],
            operand_batching_dims: vec![],
            start_indices_batching_dims: vec![],
            start_index_map: vec![0],
            index_vector_dim: batch.len(),
            slice_sizes: [&[1], &own[1..]].concat(),
        };
        let out = array(&[&batch[..], &own[1..]].concat());
        (own[0] != 0).then(|| node(Operation::Gather(Box::new(g)), &[from, rows], out))
    }

    /// An update with another node that fits.
    fn update(&self, rng: &mut Choices, from: usize, own: &[i64]) -> Node {
        let fits = |n: &usize| {
            let part = self.sizes(*n);
            part.len() == own.len() && part.iter().zip(own).all(|(part, n)| part <= n)
        };
        let parts: Vec<usize> = (0..self.nodes.len()).filter(fits).collect();
        let starts = own.iter().map(|_| self.scalar - rng.usize(..2)).collect::<Vec<_>>();
        let operands = [&[from, parts[rng.usize(..parts.len())]], &starts[..]].concat();
        node(Operation::DynamicUpdateSlice, &operands, array(own))
    }

    /// A random operation of the right rank, changed to these sizes.
    fn fitted(&self, rng: &mut Choices, kind: u8, from: usize, own: &[i64]) -> Option<Node> {
        let kinds = [3, 4, 5, 6, 12, 14, 15, 19];
        let case = fit(rng, kinds[usize::from(kind) % kinds.len()], own)?;
        let operands: Vec<usize> = (0..case.operands.len())
            .map(|k| if sizes(&case.operands[k])[0] == own && k == 0 { from } else { usize::MAX })
            .map(|n| if n == usize::MAX { self.scalar - rng.usize(..2) } else { n })
            .collect();
        let fits =
            operands.iter().zip(&case.operands).all(|(n, shape)| sizes(&self.nodes[*n].results[0]) == sizes(shape));
        fits.then(|| node(case.operation, &operands, case.results[0].clone()))
    }
}

/// A random operation of this kind on one operand of these sizes, and scalars.
fn fit(rng: &mut Choices, kind: usize, own: &[i64]) -> Option<Case> {
    (0..300).map(|_| some(rng, kind)).find(|case| {
        let all: Vec<Index> = case.operands.iter().map(|s| sizes(s).remove(0)).collect();
        all[0] == own && all[1..].iter().all(Vec::is_empty) && case.results.len() == 1
    })
}

/// The root's reads of each parameter, as pairs of indices. `held` gives the number in an element of a node.
pub fn reads_of(graph: &Graph, held: &dyn Fn(usize, &[i64]) -> i64) -> Vec<BTreeSet<(Index, Index)>> {
    let root = graph.roots[0].node;
    let mut reached: Vec<BTreeSet<(Index, Index)>> = vec![BTreeSet::new(); graph.nodes.len()];
    reached[root] = indices(&sizes(&graph.nodes[root].results[0])[0]).into_iter().map(|o| (o.clone(), o)).collect();
    for k in (0..=root).rev() {
        let node = &graph.nodes[k];
        let operands: Vec<&Shape> = node.operands.iter().map(|v| &graph.nodes[v.node].results[0]).collect();
        let value = |leaf: usize, at: &[i64]| held(node.operands[leaf].node, at);
        let own: BTreeSet<Pair> = reads(&node.operation, &operands, &[&node.results[0]], &value);
        for (operand, _, o, i) in own {
            let more: Vec<Index> = reached[k].iter().filter(|(_, at)| *at == o).map(|(root, _)| root.clone()).collect();
            reached[node.operands[operand].node].extend(more.into_iter().map(|root| (root, i.clone())));
        }
    }
    let parameters = graph.nodes.iter().enumerate();
    parameters
        .filter(|(_, node)| matches!(node.operation, Operation::Parameter { .. }))
        .map(|(k, _)| std::mem::take(&mut reached[k]))
        .collect()
}
