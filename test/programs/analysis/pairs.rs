//! Asynchronous pairs: a start has the reads and feeds of its operation, also through the end of the pair.

use super::cases::{Case, KINDS, some};
use layout_reference::choices;
use tensor_layout::analysis::{flow, maps};
use tensor_layout::hlo::Module;
use tensor_layout::operations::{Array, Graph, Node, Operation, Shape, Start, Value, leaves};

/// The start of an operation. Its result holds the operands, the operation's results, and a context for the device.
fn started(case: &Case) -> (Operation, Shape, usize) {
    let context = Shape::parse("u32[]").unwrap();
    let shape = Shape::Tuple(vec![Shape::Tuple(case.operands.clone()), Shape::Tuple(case.results.clone()), context]);
    let (first, count) = (case.operands.len(), case.results.len());
    let start = Start { operation: case.operation.clone(), operands: Some((0, first)), results: (first, count) };
    (Operation::Start(Box::new(start)), shape, first)
}

#[test]
fn a_start_reads_and_feeds_what_its_operation_does() {
    let check = |case: &Case| {
        let (operation, shape, first) = started(case);
        let operands: Vec<&Shape> = case.operands.iter().collect();
        let whole = maps(&operation, &operands, &[&shape]).unwrap();
        let own = maps(&case.operation, &operands, &case.results.iter().collect::<Vec<_>>()).unwrap();
        for operand in 0..operands.len() {
            for result in 0..leaves(&shape).len() {
                let found = (whole.reads(operand, result), whole.feeds(operand, result));
                match result.checked_sub(first).filter(|made| *made < case.results.len()) {
                    Some(made) => assert_eq!(found, (own.reads(operand, made), own.feeds(operand, made))),
                    None => {
                        let passed =
                            maps(&Operation::Tuple, &operands[operand..=operand], &operands[operand..=operand]);
                        let passed = passed.unwrap();
                        let same = (operand == result).then(|| (passed.reads(0, 0), passed.feeds(0, 0)));
                        let empty = found.0.unwrap().maps.is_empty() && found.0.unwrap().is_known();
                        assert!(same == Some(found) || same.is_none() && empty, "{case:?}");
                    }
                }
            }
        }
    };
    for kind in 0..KINDS {
        choices::check(60, kind as u64, |rng| some(rng, kind), check);
    }
}

/// The reads and feeds of a pair, through its end, are the operation's.
#[test]
fn a_pair_is_its_operation() {
    let check = |case: &Case| {
        let (operation, shape, first) = started(case);
        let parameters = case.operands.iter().enumerate().map(|(number, shape)| Node {
            operation: Operation::Parameter { number },
            operands: Vec::new(),
            results: vec![shape.clone()],
        });
        let mut nodes: Vec<Node> = parameters.collect();
        let operands: Vec<Value> = (0..nodes.len()).map(|node| Value { node, result: 0 }).collect();
        let mut plain = nodes.clone();
        let whole = Shape::Tuple(case.results.clone());
        plain.push(Node {
            operation: case.operation.clone(),
            operands: operands.clone(),
            results: vec![whole.clone()],
        });
        nodes.push(Node { operation, operands, results: vec![shape] });
        let start = Value { node: nodes.len() - 1, result: 0 };
        let numbers = (first..first + case.results.len()).map(Some).collect();
        nodes.push(Node { operation: Operation::Leaves { numbers }, operands: vec![start], results: vec![whole] });
        let graph = |nodes: Vec<Node>| {
            let roots = vec![Value { node: nodes.len() - 1, result: 0 }];
            flow(&[Graph { nodes, roots }], 0).unwrap()
        };
        let (pair, plain) = (graph(nodes), graph(plain));
        for operand in 0..case.operands.len() {
            for root in 0..case.results.len() {
                assert_eq!(pair.reads(operand, 0, root), plain.reads(operand, 0, root), "{case:?}");
                assert_eq!(pair.feeds(operand, 0, root), plain.feeds(operand, 0, root), "{case:?}");
            }
        }
    };
    for kind in 0..KINDS {
        choices::check(60, kind as u64, |rng| some(rng, kind), check);
    }
}

/// Reads from the root of a module to its parameters.
#[test]
fn a_called_computation_is_seen_through_a_pair() {
    let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/test/hlo/small/pairs.hlo")).unwrap();
    let module = Module::parse(&text).unwrap();
    let found = flow(&module.graphs(), module.entry).unwrap();
    let reads = |parameter, root| found.reads(parameter, 0, root).unwrap().to_string();
    assert_eq!(reads(0, 1), "(d0)[s0] -> (d0, s0), domain: d0 in [0, 5], s0 in [0, 8]");
    assert_eq!(reads(1, 1), "(d0)[s0] -> (s0), domain: d0 in [0, 5], s0 in [0, 8]");
    // The two slices of its concatenation.
    let transposed = "(d0, d1) -> (d1, d0), domain: d0 in [0, 8], d1 in [4, 5]\n\
                      (d0, d1) -> (d1, d0), domain: d0 in [0, 8], d1 in [0, 3]";
    assert_eq!((&*reads(0, 3), &*reads(0, 6)), (transposed, transposed));
    assert_eq!(reads(1, 3), "KNOWN EMPTY");
    assert_eq!(reads(2, 4), "(d0) -> (d0), domain: d0 in [0, 5]");
    let sizes = |array: &Array| array.sizes().unwrap();
    let main = &module.computations[module.entry];
    let shapes: Vec<_> = leaves(&main.result().shape).into_iter().map(sizes).collect();
    assert_eq!(shapes.len(), found.roots());
}
