//! Indexing maps of operations and fusions, for reads and feeds, against a slow interpreter of each operation.

mod cases;
mod graphs;
mod loops;
mod pairs;

use self::cases::{Case, KINDS, some};
use self::graphs::{node, reads_of, some_graph, value};
use layout_reference::blocks;
use layout_reference::choices::{self, Choices};
use layout_reference::interpreter::reads::{self, Index, reads};
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use tensor_layout::analysis::{
    Access, Cause, Mapped, Moved, Movement, Needed, RunTime, StridedTile, Traffic, ValueRef, flow, maps, movement,
    traffic,
};
use tensor_layout::expr::{Expr, Named};
use tensor_layout::maps::Interval;
use tensor_layout::maps::{Indexing, IndexingMap};
use tensor_layout::operations::{Array, Shape};
use tensor_layout::operations::{Graph, Node, Value};
use tensor_layout::operations::{Operation, WindowDim};
use tensor_layout::tiled::Expansion;
use tensor_layout::tiled::{Layout, TileEntry};

fn shape(text: &str) -> Shape {
    Shape::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// All pairs of points in the maps; `value` gives the contents of the sources.
fn pairs<S>(access: &Access<S>, value: &dyn Fn(&S, &[i64]) -> i64) -> BTreeSet<(Index, Index)> {
    listed(access, value).into_iter().collect()
}

/// [`pairs`] with duplicates.
fn listed<S>(access: &Access<S>, value: &dyn Fn(&S, &[i64]) -> i64) -> Vec<(Index, Index)> {
    let mut found = Vec::new();
    for mapped in &access.maps {
        let map = &mapped.map;
        assert!(map.box_points() < 5_000_000, "{map}");
        for point in map.points() {
            let holds = mapped.run_time.iter().enumerate().all(|(k, r)| {
                let at: Index = r.element.iter().map(|e| e.evaluate(&point).unwrap()).collect();
                let found = value(&r.source, &at);
                let used = if r.clamped { found.clamp(r.within.lo, r.within.hi) } else { found };
                used == point[map.dims + map.ranges + k]
            });
            if holds {
                found.push((point[..map.dims].to_vec(), map.evaluate(&point).unwrap().unwrap()));
            }
        }
    }
    found
}

/// The contents of an element; some are out of range as an index.
fn held(salt: u64, source: usize, at: &[i64]) -> i64 {
    let mut hash = salt ^ source as u64;
    at.iter().for_each(|x| hash = (hash ^ *x as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29));
    (hash.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as i64 % 8 - 2
}

/// Compares usage counts with listed pairs. Returns whether both counts are exact.
fn check_usage<S: Clone + PartialEq + std::fmt::Display>(
    access: &Access<S>,
    sizes: &[i64],
    value: &dyn Fn(&S, &[i64]) -> i64,
) -> bool {
    let all = listed(access, value);
    let elements: BTreeSet<&Index> = all.iter().map(|pair| &pair.1).collect();
    let usage = access.usage(sizes);
    for (count, found) in [(usage.elements, elements.len()), (usage.reads, all.len())] {
        let found = found as u128;
        assert!(count.least <= found && count.most.is_some_and(|most| found <= most), "{access}\n{count:?} {found}");
    }
    usage.share().is_some() && usage.reads.exact().is_some()
}

fn check((case, salt): &(Case, u64)) -> bool {
    let (operands, results): (Vec<&Shape>, Vec<&Shape>) =
        (case.operands.iter().collect(), case.results.iter().collect());
    let found = maps(&case.operation, &operands, &results)
        .unwrap_or_else(|error| panic!("{:?} {operands:?}: {error}", case.operation));
    let value = |leaf: usize, at: &[i64]| held(*salt, leaf, at);
    let expected = reads(&case.operation, &operands, &results, &value);
    let mut by_leaves: BTreeMap<(usize, usize), BTreeSet<(Index, Index)>> = BTreeMap::new();
    for (operand, result, o, i) in expected {
        by_leaves.entry((operand, result)).or_default().insert((o, i));
    }
    let mut exact = true;
    let leaf_sizes: Vec<Index> = operands.iter().flat_map(|shape| reads::sizes(shape)).collect();
    for (operand, sizes) in leaf_sizes.iter().enumerate() {
        for result in 0..results.len() {
            let expected = by_leaves.remove(&(operand, result)).unwrap_or_default();
            let (reads, feeds) = (found.reads(operand, result).unwrap(), found.feeds(operand, result).unwrap());
            let text =
                format!("{:?}\n{operands:?} -> {results:?}\n{operand}, {result}:\n{reads}\n{feeds}", case.operation);
            assert!(reads.is_known() && feeds.is_known(), "{text}");
            assert_eq!(pairs(reads, &|s, at| value(*s, at)), expected, "reads {text}");
            let turned: BTreeSet<_> = expected.into_iter().map(|(o, i)| (i, o)).collect();
            assert_eq!(pairs(feeds, &|s, at| value(*s, at)), turned, "feeds {text}");
            exact &= check_usage(reads, sizes, &|s, at| value(*s, at));
        }
    }
    exact
}

#[test]
fn operations_against_the_interpreter() {
    for kind in 0..KINDS {
        let exact = Cell::new(0);
        let case = |rng: &mut Choices| (some(rng, kind), rng.u64(..));
        choices::check(400, kind as u64, case, |case| exact.set(exact.get() + usize::from(check(case))));
        // Reads are counted exactly, except for gather and scatter, where they depend on indices.
        let exact = exact.get();
        assert!(exact >= if kind < 19 { 400 } else { 1 }, "{kind}: {exact}");
    }
}

/// The maps of an instruction's reads, then of its feeds, one a line.
fn accesses(text: &str) -> Vec<String> {
    let module = blocks::parse(text);
    let y = blocks::find(&module, "y");
    let operands: Vec<&Shape> =
        y.operands.iter().map(|k| &module.computations[module.entry].instructions[*k].shape).collect();
    let results: Vec<&Shape> = match (&y.operation, &y.shape) {
        (Operation::Reduce { .. }, Shape::Tuple(parts)) => parts.iter().collect(),
        (_, shape) => vec![shape],
    };
    let found = maps(&y.operation, &operands, &results).unwrap();
    let leaves = |shapes: &[&Shape]| shapes.iter().map(|shape| reads::sizes(shape).len()).sum();
    let (operands, results): (usize, usize) = (leaves(&operands), leaves(&results));
    let mut lines = Vec::new();
    for operand in 0..operands {
        for result in 0..results {
            let name = if results == 1 { String::new() } else { format!(".{result}") };
            for (sign, access) in [('<', found.reads(operand, result)), ('>', found.feeds(operand, result))] {
                let access = access.unwrap().to_string();
                lines.extend(access.lines().map(|line| format!("{operand}{name} {sign} {line}")));
            }
        }
    }
    lines
}

#[test]
fn the_table() {
    blocks::check("analysis/table.txt", "> ", accesses);
}

#[test]
fn parts_of_tuples() {
    let tuple = shape("(f32[2], (s32[], f32[3,4]), f32[5])");
    let part = shape("(s32[], f32[3,4])");
    let found = maps(&Operation::GetTupleElement { index: 1 }, &[&tuple], &[&part]).unwrap();
    let text = |operand, result| found.reads(operand, result).unwrap().to_string();
    assert_eq!([text(0, 0), text(3, 1), text(1, 1)], ["KNOWN EMPTY"; 3].map(String::from));
    assert_eq!(text(1, 0), "() -> ()");
    assert_eq!(text(2, 1), "(d0, d1) -> (d0, d1), domain: d0 in [0, 2], d1 in [0, 3]");
    let parts = [shape("f32[2]"), part, shape("f32[5]")];
    let found = maps(&Operation::Tuple, &parts.iter().collect::<Vec<_>>(), &[&tuple]).unwrap();
    assert_eq!(found.feeds(3, 3).unwrap().to_string(), "(d0) -> (d0), domain: d0 in [0, 4]");
    assert_eq!(found.feeds(3, 0).unwrap().to_string(), "KNOWN EMPTY");
    assert!(found.feeds(4, 0).is_none());
}

/// An operation, its operands, its result, and the beginning of the error.
type Misfit = (Operation, &'static [&'static str], &'static str, &'static str);

fn misfits() -> Vec<Misfit> {
    let dims = |dims: &[usize]| Operation::Broadcast { dims: dims.to_vec() };
    let slice =
        |start, limit, stride| Operation::Slice { starts: vec![start], limits: vec![limit], strides: vec![stride] };
    let window = |size, stride| {
        let dim = WindowDim { size, stride, low: 0, high: 0, window_dilation: 1, base_dilation: 1, reversed: false };
        Operation::ReduceWindow { window: vec![dim] }
    };
    vec![
        (dims(&[3]), &["f32[2]"], "f32[2,3]", "entry 0 of `dims` must be a dimension below the rank 2, found 3"),
        (
            dims(&[0, 0]),
            &["f32[2,2]"],
            "f32[2,3]",
            "entry 1 of `dims` must be a dimension that is not named before, found 0",
        ),
        (dims(&[1]), &["f32[2]"], "f32[2,3]", "result 0 must have the sizes [2, 2], found [2, 3]"),
        (dims(&[]), &[], "f32[2,3]", "the operation must have 1 operand, found 0"),
        (Operation::Elementwise, &["f32[2]", "f32[3]"], "f32[2]", "operand 1 must have the sizes [2], found [3]"),
        (slice(3, 2, 1), &["f32[9]"], "f32[1]", "entry 0 of `starts` must be between 0 and the limit 2, found 3"),
        (slice(0, 2, 0), &["f32[9]"], "f32[1]", "entry 0 of `strides` must be at least 1, found 0"),
        (slice(0, 2, 1), &["f32[9]"], "f32[1]", "result 0 must have the sizes [2], found [1]"),
        (Operation::Reshape, &["f32[9]"], "f32[4,2]", "result 0 must have 9 elements, as the operand, found 8"),
        (Operation::Bitcast, &["f32[9]"], "f32[4,2]", "result 0 must have 288 bits, as the operand, found 256"),
        (
            Operation::Concatenate { dim: 1 },
            &["f32[9]"],
            "f32[9]",
            "`dim` must be a dimension below the rank 1, found 1",
        ),
        (Operation::Concatenate { dim: 0 }, &[], "f32[9]", "the operation must have an operand, found none"),
        (window(2, 0), &["f32[9]", "f32[]"], "f32[8]", "entry 0 of `stride` must be at least 1, found 0"),
        (window(2, 1), &["f32[9]", "f32[]"], "f32[9]", "result 0 must have the sizes [8], found [9]"),
        (
            window(2, 1),
            &["f32[9]"],
            "f32[8]",
            "the operation must have an initial value for each input, found 1 operand",
        ),
        (
            Operation::DynamicSlice { sizes: vec![3] },
            &["f32[2]", "s32[]"],
            "f32[3]",
            "entry 0 of `sizes` must be between 0 and the size 2, found 3",
        ),
        (Operation::DynamicUpdateSlice, &["f32[2]"], "f32[2]", "the operation must have at least 2 operands, found 1"),
        (
            Operation::GetTupleElement { index: 2 },
            &["(f32[])"],
            "f32[]",
            "`index` must be below the number of parts, 1, found 2",
        ),
        (
            Operation::GetTupleElement { index: 0 },
            &["f32[]"],
            "f32[]",
            "the operation must have one operand, a tuple, found",
        ),
    ]
}

#[test]
fn what_does_not_fit_is_an_error() {
    for (operation, operands, result, expected) in misfits() {
        let operands: Vec<Shape> = operands.iter().map(|text| shape(text)).collect();
        let error = maps(&operation, &operands.iter().collect::<Vec<_>>(), &[&shape(result)]).unwrap_err();
        assert!(error.message.starts_with(expected), "{operation:?}: {error}");
    }
}

#[test]
fn an_unknown_map_is_no_error() {
    let other = Operation::Other { reason: "values choose where elements go".to_string() };
    let found = maps(&other, &[&shape("f32[2]")], &[&shape("f32[2]")]).unwrap();
    assert_eq!(found.reads(0, 0).unwrap().to_string(), "UNDEFINED: values choose where elements go");
    let found = maps(&Operation::Reshape, &[&shape("f32[?]")], &[&shape("f32[2]")]).unwrap();
    assert_eq!(found.reads(0, 0).unwrap().to_string(), "UNDEFINED: a size is not bounded");
}

fn chain(nodes: Vec<Node>) -> Graph {
    let roots = vec![value(nodes.len() - 1)];
    Graph { nodes, roots }
}

fn parameter(number: usize, text: &str) -> Node {
    node(Operation::Parameter { number }, &[], shape(text))
}

fn transpose(of: usize, permutation: &[usize], text: &str) -> Node {
    node(Operation::Transpose { permutation: permutation.to_vec() }, &[of], shape(text))
}

fn lines(access: Option<&Access<ValueRef>>) -> Vec<String> {
    access.unwrap().to_string().lines().map(String::from).collect()
}

#[test]
fn two_chains_of_transposes_are_one_map() {
    let graph = chain(vec![
        parameter(0, "f32[20,10,50]"),
        transpose(0, &[1, 2, 0], "f32[10,50,20]"),
        transpose(0, &[2, 1, 0], "f32[50,10,20]"),
        transpose(2, &[1, 0, 2], "f32[10,50,20]"),
        node(Operation::Elementwise, &[1, 3], shape("f32[10,50,20]")),
    ]);
    let found = flow(&[graph], 0).unwrap();
    let text = "(d0, d1, d2) -> (d2, d0, d1), domain: d0 in [0, 9], d1 in [0, 49], d2 in [0, 19]";
    assert_eq!(lines(found.reads(0, 0, 0)), [text]);
    let text = "(d0, d1, d2) -> (d1, d2, d0), domain: d0 in [0, 19], d1 in [0, 9], d2 in [0, 49]";
    assert_eq!(lines(found.feeds(0, 0, 0)), [text]);
}

#[test]
fn softmax() {
    let rows = Operation::Broadcast { dims: vec![0, 1] };
    let (all, some) = (|| shape("f32[2,65,125]"), || shape("f32[2,65]"));
    let scalar = || node(Operation::Constant, &[], shape("f32[]"));
    let reduce = |of| node(Operation::Reduce { dims: vec![2] }, &[of, 1], some());
    let graph = chain(vec![
        parameter(0, "f32[2,65,125]"),
        scalar(),
        reduce(0),
        node(rows.clone(), &[2], all()),
        node(Operation::Elementwise, &[0, 3], all()),
        node(Operation::Elementwise, &[4], all()),
        reduce(5),
        node(rows, &[6], all()),
        node(Operation::Elementwise, &[5, 7], all()),
    ]);
    let found = flow(&[graph], 0).unwrap();
    let domain = "d0 in [0, 1], d1 in [0, 64], d2 in [0, 124]";
    let expected = [
        format!("(d0, d1, d2) -> (d0, d1, d2), domain: {domain}"),
        format!("(d0, d1, d2)[s0] -> (d0, d1, s0), domain: {domain}, s0 in [0, 124]"),
    ];
    let mut reads = lines(found.reads(0, 0, 0));
    reads.sort();
    assert_eq!(reads, expected);
    let mut feeds = lines(found.feeds(0, 0, 0));
    feeds.sort();
    assert_eq!(feeds, expected);
    // Dimensions that the results do not use can be dropped.
    let all = &found.reads(0, 0, 0).unwrap().maps;
    let short =
        all.iter().find(|m| m.map.ranges == 1).unwrap().map.without_unused(&[tensor_layout::maps::Kind::Dimension]).0;
    let text = "(d0, d1)[s0] -> (d0, d1, s0), domain: d0 in [0, 1], d1 in [0, 64], s0 in [0, 124]";
    assert_eq!(short.to_string(), text);
}

/// A graph with 2^40 paths; a walk over all of them would not end.
#[test]
fn forty_diamonds() {
    let mut nodes = vec![parameter(0, "f32[64,64]")];
    for k in 0..40 {
        let from = 3 * k;
        nodes.push(transpose(from, &[1, 0], "f32[64,64]"));
        nodes.push(transpose(from, &[1, 0], "f32[64,64]"));
        nodes.push(node(Operation::Elementwise, &[from + 1, from + 2], shape("f32[64,64]")));
    }
    let found = flow(&[chain(nodes)], 0).unwrap();
    assert_eq!(lines(found.reads(0, 0, 0)), ["(d0, d1) -> (d0, d1), domain: d0 in [0, 63], d1 in [0, 63]"]);
}

const SQUARE: &str = "f32[4,4]";

fn part(of: usize, index: usize, text: &str) -> Node {
    node(Operation::GetTupleElement { index }, &[of], shape(text))
}

/// f(p, q) = (transpose(p), p dynamic-slice(q)) is called twice, its parts crossed.
#[test]
fn calls_and_tuples() {
    let pair = "(f32[4,4], f32[2,4])";
    let f = chain(vec![
        parameter(0, SQUARE),
        parameter(1, "s32[]"),
        transpose(0, &[1, 0], SQUARE),
        node(Operation::Constant, &[], shape("s32[]")),
        node(Operation::DynamicSlice { sizes: vec![2, 4] }, &[0, 1, 3], shape("f32[2,4]")),
        node(Operation::Tuple, &[2, 4], shape(pair)),
    ]);
    let g = chain(vec![
        parameter(0, SQUARE),
        parameter(1, "s32[]"),
        node(Operation::Call { computation: 0 }, &[0, 1], shape(pair)),
        part(2, 0, SQUARE),
        node(Operation::Call { computation: 0 }, &[3, 1], shape(pair)),
        part(4, 1, "f32[2,4]"),
    ]);
    let found = flow(&[f, g], 1).unwrap();
    assert_eq!(
        lines(found.reads(0, 0, 0)),
        ["(d0, d1){rt0} -> (d1, d0 + rt0), domain: d0 in [0, 1], d1 in [0, 3], rt0 in [0, 2], rt0: 1#0"]
            .map(|line| line.replace("1#0", "1#0[]"))
    );
    assert_eq!(
        lines(found.feeds(0, 0, 0)),
        [
            "(d0, d1){rt0} -> (d1 - rt0, d0), domain: d0 in [0, 3], d1 in [0, 3], rt0 in [0, 2], d1 - rt0 in [0, 1], rt0: 1#0[]"
        ]
    );
    assert_eq!(lines(found.reads(1, 0, 0)), ["(d0, d1) -> (), domain: d0 in [0, 1], d1 in [0, 3]"]);
}

/// A loop over (i, a, b, c): i counts, a and c are invariant, b becomes b + c.
#[test]
fn loops() {
    let state = "(s32[], f32[4], f32[4], f32[4])";
    let row = "f32[4]";
    let body = chain(vec![
        parameter(0, state),
        part(0, 0, "s32[]"),
        part(0, 1, row),
        part(0, 2, row),
        part(0, 3, row),
        node(Operation::Elementwise, &[1], shape("s32[]")),
        node(Operation::Elementwise, &[3, 4], shape(row)),
        node(Operation::Tuple, &[5, 2, 6, 4], shape(state)),
    ]);
    let condition =
        chain(vec![parameter(0, state), part(0, 0, "s32[]"), node(Operation::Elementwise, &[1], shape("pred[]"))]);
    let rounds = chain(vec![parameter(0, state), node(Operation::While { condition: 0, body: 1 }, &[0], shape(state))]);
    let found = flow(&[condition, body, rounds], 2).unwrap();
    let same = "(d0) -> (d0), domain: d0 in [0, 3]";
    let unknown = "UNDEFINED: a loop runs an unknown number of rounds";
    let none = "KNOWN EMPTY";
    let expected = [
        ["() -> ()", none, none, none],
        [none, same, none, none],
        ["(d0) -> (), domain: d0 in [0, 3]", none, unknown, unknown],
        [none, none, none, same],
    ];
    for (root, row) in expected.iter().enumerate() {
        for (leaf, text) in row.iter().enumerate() {
            assert_eq!(lines(found.reads(0, leaf, root)), [*text], "{root} {leaf}");
        }
    }
    assert_eq!(lines(found.feeds(0, 0, 2)), ["()[s0] -> (s0), domain: s0 in [0, 3]"]);
    assert_eq!(lines(found.feeds(0, 3, 3)), [same]);
}

#[test]
fn branches() {
    let flip = chain(vec![parameter(0, SQUARE), transpose(0, &[1, 0], SQUARE)]);
    let keep = chain(vec![parameter(0, SQUARE)]);
    let branches = chain(vec![
        parameter(0, "pred[]"),
        parameter(1, SQUARE),
        node(Operation::Conditional { branches: vec![0, 1] }, &[0, 1, 1], shape(SQUARE)),
    ]);
    let found = flow(&[flip, keep, branches], 2).unwrap();
    let both = [
        "(d0, d1) -> (d1, d0), domain: d0 in [0, 3], d1 in [0, 3]",
        "(d0, d1) -> (d0, d1), domain: d0 in [0, 3], d1 in [0, 3]",
    ];
    assert_eq!(lines(found.reads(1, 0, 0)), both);
    assert_eq!(lines(found.reads(0, 0, 0)), ["(d0, d1) -> (), domain: d0 in [0, 3], d1 in [0, 3]"]);
}

#[test]
fn graphs_that_are_none() {
    let good = || vec![parameter(0, "f32[4]"), node(Operation::Elementwise, &[0], shape("f32[4]"))];
    let fails = |graphs: &[Graph], entry: usize, expected: &str| {
        assert_eq!(flow(graphs, entry).unwrap_err().message, expected);
    };
    fails(&[], 0, "the graph must be below the number of graphs, 0, found 0");
    let mut nodes = good();
    nodes[1].operands[0].node = 1;
    fails(&[chain(nodes)], 0, "node 1 of graph 0: an operand must be a node before it, found node 1");
    let mut nodes = good();
    nodes[1].operands[0].result = 1;
    fails(
        &[chain(nodes)],
        0,
        "node 1 of graph 0: a result of node 0 must be below the number of its results, 1, found 1",
    );
    let mut nodes = good();
    nodes[1].results = vec![shape("f32[5]")];
    fails(&[chain(nodes)], 0, "node 1 of graph 0: result 0 must have the sizes [4], found [5]");
    let mut nodes = good();
    nodes.push(node(Operation::Call { computation: 0 }, &[1], shape("f32[4]")));
    fails(&[chain(nodes.clone())], 0, "graph 0 must call graphs before it, found a call of graph 0");
    let two = chain(vec![parameter(0, "f32[4]"), parameter(1, "f32[4]")]);
    fails(
        &[two.clone(), chain(nodes)],
        1,
        "node 2 of graph 1: the operands of graph 0 must have [1, 1] arrays, found [1]",
    );
    fails(
        &[Graph { roots: vec![Value { node: 7, result: 0 }], ..two }],
        0,
        "a root must be one of the 2 nodes, found node 7",
    );
    let double = vec![parameter(0, "f32[4]"), parameter(0, "f32[4]")];
    fails(&[chain(double)], 0, "node 1 of graph 0: parameter 0 must be defined once, found a second");
    fails(&[chain(vec![parameter(1, "f32[4]")])], 0, "node 0: expected parameter 0, found parameter 1");
}

#[test]
fn random_fusions_against_the_interpreter() {
    let (maps, exact, all) = (Cell::new(0), Cell::new(0), Cell::new(0));
    let case = |rng: &mut Choices| (some_graph(rng), rng.u64(..));
    choices::check(1500, 0, case, |(graph, salt)| {
        let found = flow(std::slice::from_ref(graph), 0).unwrap();
        let expected = reads_of(graph, &|node, at| held(*salt, node, at));
        let value = |place: &ValueRef, at: &[i64]| held(*salt, place.node, at);
        for (parameter, expected) in expected.into_iter().enumerate() {
            let (reads, feeds) = (found.reads(parameter, 0, 0).unwrap(), found.feeds(parameter, 0, 0).unwrap());
            let text = format!("{graph:?}\n{parameter}:\n{reads}\n{feeds}");
            assert!(reads.is_known() && feeds.is_known(), "{text}");
            assert_eq!(pairs(reads, &value), expected, "{text}");
            let turned: BTreeSet<_> = expected.into_iter().map(|(o, i)| (i, o)).collect();
            assert_eq!(pairs(feeds, &value), turned, "{text}");
            maps.set(maps.get() + reads.maps.len());
            let counted = check_usage(reads, &reads::sizes(&graph.nodes[parameter].results[0])[0], &value);
            exact.set(exact.get() + usize::from(counted));
            all.set(all.get() + 1);
        }
    });
    let (maps, exact, all) = (maps.get(), exact.get(), all.get());
    // Except for gathers of gathers, counts are exact.
    assert!(exact * 100 > all * 95, "{exact} of {all}");
    assert!(maps > 1500, "{maps}");
}

/// The elements of a tile, with its offsets evaluated at a point.
fn elements(tile: &StridedTile, point: &[i64]) -> BTreeSet<Index> {
    let mut all = BTreeSet::from([Vec::new()]);
    for k in 0..tile.sizes.len() {
        let first = tile.offsets[k].evaluate(point).unwrap();
        let along = |at: Index| (0..tile.sizes[k]).map(move |j| [&at[..], &[first + j * tile.strides[k]]].concat());
        all = all.into_iter().flat_map(along).collect();
    }
    all
}

/// Whether an element is inside the bounds of a needed tile.
fn read(needed: &Needed, at: &Index, point: &[i64]) -> bool {
    let ends = |side: usize, k: usize| needed.ends[k][side].as_ref().map(|e| e.evaluate(point).unwrap());
    (0..at.len()).all(|k| ends(0, k).is_none_or(|e| e <= at[k]) && ends(1, k).is_none_or(|e| at[k] <= e))
}

/// The number of the last tile.
const LAST: i64 = 3;

/// Whether the reads at each point are a strided range along each dimension, clipped at the edge, whose start is linear
/// in the tile's number and in run-time values.
fn exists(sizes: &[i64], reads: &[(Index, BTreeSet<Index>)]) -> bool {
    let numbers: BTreeSet<i64> = reads.iter().map(|(point, _)| point[0]).collect();
    // Two tiles do not show linearity.
    let Some(late) = reads.first().map(|read| read.0.len() - 1).filter(|_| numbers.len() > 2) else { return false };
    let along = |all: &BTreeSet<Index>, k: usize| all.iter().map(|at| at[k]).collect::<BTreeSet<i64>>();
    let all = 0..sizes.len();
    all.clone().all(|k| {
        let own: Vec<(&Index, BTreeSet<i64>)> = reads.iter().map(|(point, all)| (point, along(all, k))).collect();
        let fits = |n: i64, step: i64, a: i64, b: i64, held: usize| {
            own.iter().all(|(point, found)| {
                let late: i64 = (0..late).filter(|j| held >> j & 1 == 1).map(|j| point[1 + j]).sum();
                let range = (0..n).map(|j| b + a * point[0] + late + j * step);
                range.filter(|x| (0..sizes[k]).contains(x)).eq(found.iter().copied())
            })
        };
        let firsts = (-12..=12).flat_map(|a| (-8..=8).map(move |b| (a, b)));
        firsts
            .flat_map(|(a, b)| (0..1 << late).map(move |held| (a, b, held)))
            .any(|(a, b, held)| (1..=4).any(|step| (1..=12).any(|n| fits(n, step, a, b, held))))
    }) && reads.iter().all(|(_, found)| found.len() == all.clone().map(|k| along(found, k).len()).product::<usize>())
}

/// The maps of an operation's reads for its first result, each with its operand.
fn all_maps(case: &Case) -> Vec<(usize, Mapped<usize>)> {
    let (operands, results): (Vec<_>, Vec<_>) = (case.operands.iter().collect(), case.results.iter().collect());
    let found = maps(&case.operation, &operands, &results).unwrap();
    let of = |operand| found.reads(operand, 0).unwrap().maps.iter().map(move |map| (operand, map.clone()));
    (0..operands.len()).flat_map(of).collect()
}

/// A tile of an array, whose number is the variable, in steps of its own length.
fn some_tile(rng: &mut Choices, sizes: &[i64]) -> StridedTile {
    let strides: Index = sizes.iter().map(|_| if rng.bool() { 1 } else { 2 }).collect();
    let counts: Index = (0..sizes.len()).map(|k| rng.i64(1..=(sizes[k] / strides[k]).max(1))).collect();
    let along = |k: usize| Expr::Var(0).times(counts[k] * strides[k]);
    let offset = |k: usize| if rng.bool() { along(k) } else { Expr::Const(rng.i64(0..=1)) };
    let offsets = (0..sizes.len()).map(offset).collect();
    StridedTile { offsets, sizes: counts, strides }
}

/// The answer for a tile.
#[derive(PartialEq)]
enum Found {
    /// A correct tile.
    Tile,
    /// No tile, which is correct or cannot be decided here.
    None,
    /// No tile, although one exists.
    Missed,
}

/// Compares the needed tile of a result tile with the reads of each element.
fn check_tile(case: &Case, operand: usize, mapped: &Mapped<usize>, tile: &StridedTile) -> Found {
    let sizes = reads::sizes(&case.operands[operand]).remove(0);
    let inside = |at: &Index| at.iter().zip(&sizes).all(|(x, n)| (0..*n).contains(x));
    let out = reads::sizes(&case.results[0]).remove(0);
    let found = mapped.tile(tile, &[Interval::new(0, LAST)], &out, &sizes).unwrap();
    let map = &mapped.map;
    let late = IndexingMap::new(map.domain.vars[map.dims + map.ranges..].to_vec(), Vec::new());
    let mut reads = Vec::new();
    for (v, held) in (0..=LAST).flat_map(|v| late.points().map(move |held| (v, held))) {
        let point = [&[v][..], &held].concat();
        let first = tile.offsets.iter().map(|e| e.evaluate(&point).unwrap());
        if first.zip(&out).any(|(x, n)| x >= *n) {
            continue;
        }
        let of_tile = elements(tile, &point);
        let expected: BTreeSet<Index> = map
            .points()
            .filter(|p| of_tile.contains(&p[..map.dims]) && p[map.dims + map.ranges..] == held)
            .map(|p| map.evaluate(&p).unwrap().unwrap())
            .collect();
        reads.push((point, expected));
    }
    let needed = match found {
        Ok(needed) => needed,
        Err(reason) => {
            // Divisions, as in interior padding, may hide a tile; rarely also several conditions on one element, and
            // gaps that a condition removes.
            let mut exprs = map.results.iter().chain(map.domain.constraints.iter().map(|c| &c.0));
            let plain = exprs.all(Expr::is_linear)
                && matches!(
                    case.operation,
                    Operation::Slice { .. }
                        | Operation::Concatenate { .. }
                        | Operation::DynamicSlice { .. }
                        | Operation::ReduceWindow { .. }
                        | Operation::Pad { .. }
                        | Operation::Gather(_)
                );
            assert!(!reason.is_empty(), "{mapped}\n{tile:?}");
            return if plain && exists(&sizes, &reads) { Found::Missed } else { Found::None };
        }
    };
    for (point, expected) in reads {
        let mut own = elements(&needed.tile, &point);
        assert!(needed.cut || own.iter().all(inside), "{mapped}\n{tile:?}\n{needed:?} {point:?}");
        own.retain(|at| inside(at) && read(&needed, at, &point));
        assert_eq!(own, expected, "{mapped}\n{tile:?}\n{needed:?} {point:?}");
    }
    Found::Tile
}

#[test]
fn tiles_against_enumeration() {
    let tiled = |rng: &mut Choices, kind| {
        let case = some(rng, kind);
        let out = reads::sizes(&case.results[0]).remove(0);
        let tiles: Vec<StridedTile> = all_maps(&case).iter().map(|_| some_tile(rng, &out)).collect();
        (case, tiles)
    };
    let (all, missed) = (Cell::new(0), Cell::new(0));
    let add = |counter: &Cell<usize>, more: bool| counter.set(counter.get() + usize::from(more));
    for kind in 0..KINDS {
        let before = all.get();
        let test = |(case, tiles): &(Case, Vec<StridedTile>)| {
            for ((operand, mapped), tile) in all_maps(case).iter().zip(tiles) {
                let found = check_tile(case, *operand, mapped, tile);
                add(&all, found == Found::Tile);
                add(&missed, found == Found::Missed);
            }
        };
        choices::check(150, kind as u64, |rng| tiled(rng, kind), test);
        assert!(all.get() - before > 20, "{kind}: {all:?} {before}");
    }
    assert!(missed.get() * 1000 < all.get(), "{missed:?} of {all:?} are missed");
}

fn tile(offsets: &[Expr], sizes: &[i64]) -> StridedTile {
    StridedTile { offsets: offsets.to_vec(), sizes: sizes.to_vec(), strides: vec![1; sizes.len()] }
}

/// The first loop's index times a number.
fn i(factor: i64) -> Expr {
    Expr::Var(0).times(factor)
}

/// The tile that a map reads for a tile in a loop up to `hi`: offsets, sizes and strides in an operand of these sizes,
/// and where it ends there; or the reason why it is no tile.
fn tile_read(map: &str, read_for: &StridedTile, hi: i64, sizes: &[i64]) -> String {
    let map = IndexingMap::parse(map).unwrap();
    let Indexing::Map(map) = map.simplify() else { panic!("empty") };
    let mapped = Mapped::<usize> { map, devices: None, run_time: Vec::new() };
    let from: Index = mapped.map.domain.vars[..mapped.map.dims].iter().map(|i| i.hi + 1).collect();
    match mapped.tile(read_for, &[Interval::new(0, hi)], &from, sizes).unwrap() {
        Err(reason) => reason,
        Ok(needed) => {
            let name = |v: usize| format!("v{v}");
            let offsets: Vec<String> = needed.tile.offsets.iter().map(|e| Named(e, &name).to_string()).collect();
            let mut cut = if needed.cut { " cut".to_string() } else { String::new() };
            for (word, e) in needed.ends.iter().flat_map(|ends| ["from", "to"].into_iter().zip(ends)) {
                cut += &e.as_ref().map_or(String::new(), |e| format!(" {word} {}", Named(e, &name)));
            }
            format!("[{}] {:?} {:?}{cut}", offsets.join(", "), needed.tile.sizes, needed.tile.strides)
        }
    }
}

/// The elements after the last one are outside of the operand, or the answer says where they begin.
#[test]
fn ragged_tiles() {
    let slice = "(d0) -> (d0 * 3 + 1), domain: d0 in [0, 9]";
    assert_eq!(tile_read(slice, &tile(&[i(4)], &[4]), 2, &[31]), "[v0 * 12 + 1] [4] [3] cut");
    assert_eq!(tile_read(slice, &tile(&[i(4)], &[4]), 2, &[40]), "[v0 * 12 + 1] [4] [3] cut to 28");
    let window = "(d0)[s0] -> (d0 * 2 + s0), domain: d0 in [0, 9], s0 in [0, 2]";
    assert_eq!(tile_read(window, &tile(&[i(4)], &[4]), 2, &[21]), "[v0 * 8] [9] [1] cut");
    assert_eq!(tile_read(window, &tile(&[i(4)], &[4]), 2, &[24]), "[v0 * 8] [9] [1] cut to 20");
    let late = "(d0){rt0} -> (d0 + rt0), domain: d0 in [0, 9], rt0 in [0, 20]";
    assert_eq!(tile_read(late, &tile(&[i(4)], &[4]), 2, &[30]), "[v0 * 4 + v1] [4] [1] cut to v1 + 9");
}

#[test]
fn a_tile_of_one_element() {
    let one = "(d0) -> (d0 - 50), domain: d0 in [50, 50]";
    let mut map = IndexingMap::parse(one).unwrap().simplify().map().unwrap().clone();
    assert_eq!(map.to_string(), "(d0) -> (0), domain: d0 in [50, 50]");
    map.domain.vars[0] = Interval::new(50, 50);
    let mapped = Mapped::<usize> { map, devices: None, run_time: Vec::new() };
    let needed = mapped.tile(&tile(&[i(8)], &[8]), &[Interval::new(0, 9)], &[80], &[1]).unwrap().unwrap();
    assert_eq!((needed.cut, &needed.tile.sizes[..], &needed.ends[..]), (true, &[8][..], &[[None, None]][..]));
    assert_eq!(needed.tile.offsets[0].evaluate(&[6]), Some(-2));
}

#[test]
fn tiles_of_products_reshapes_and_windows() {
    // The left operand of a matrix product.
    let lhs = "(d0, d1)[s0] -> (d0, s0), domain: d0 in [0, 63], d1 in [0, 63], s0 in [0, 255]";
    assert_eq!(tile_read(lhs, &tile(&[i(8), Expr::Const(0)], &[8, 16]), 7, &[64, 256]), "[v0 * 8, 0] [8, 256] [1, 1]");
    // Rows of a reshape, and a tile that ends inside a row.
    let split = "(d0) -> (d0 floordiv 8, d0 mod 8), domain: d0 in [0, 31]";
    assert_eq!(tile_read(split, &tile(&[i(16)], &[16]), 1, &[4, 8]), "[v0 * 2, 0] [2, 8] [1, 1]");
    assert_eq!(tile_read(split, &tile(&[i(4)], &[4]), 7, &[4, 8]), "[v0 floordiv 2, (v0 mod 2) * 4] [1, 4] [1, 1]");
    assert_eq!(
        tile_read(split, &tile(&[i(6)], &[6]), 4, &[4, 8]),
        "the index of dimension 0 of the operand must go in equal steps, found d0 floordiv 8"
    );
    // A pooling with padding, and a negative stride.
    let pool = "(d0)[s0] -> (d0*2 + s0 - 1), domain: d0 in [0, 7], s0 in [0, 2], d0*2 + s0 in [1, 16]";
    assert_eq!(tile_read(pool, &tile(&[i(4)], &[4]), 1, &[16]), "[v0 * 8 - 1] [9] [1] cut");
    let turned = "(d0) -> (62 - d0*2), domain: d0 in [0, 31]";
    assert_eq!(tile_read(turned, &tile(&[i(4)], &[4]), 7, &[64]), "[v0 * -8 + 56] [4] [2]");
}

#[test]
fn what_is_read_is_no_tile() {
    let diagonal = "(d0) -> (d0, d0), domain: d0 in [0, 31]";
    assert_eq!(
        tile_read(diagonal, &tile(&[i(4)], &[4]), 7, &[32, 32]),
        "dimensions 0 and 1 of the operand must have different indices, found one that moves both"
    );
    let some = "(d0, d1) -> (d0, d1), domain: d0 in [0, 31], d1 in [0, 31], d0 + d1 in [0, 20]";
    let reason = "what is read must not depend on a condition, found d0 + d1 in [0, 20]";
    assert_eq!(tile_read(some, &tile(&[i(4), Expr::Const(0)], &[4, 4]), 7, &[32, 32]), reason);
    let gaps = "(d0)[s0] -> (d0*5 + s0), domain: d0 in [0, 7], s0 in [0, 2]";
    assert_eq!(
        tile_read(gaps, &tile(&[i(4)], &[4]), 1, &[64]),
        "the index of dimension 0 of the operand must leave no gap, found d0 * 5 + s0"
    );
}

#[test]
fn traffic_of_a_chain() {
    let row = || shape("f32[1000]");
    let graph = chain(vec![
        parameter(0, "f32[1000]"),
        node(Operation::Elementwise, &[0], row()),
        node(Operation::Elementwise, &[1, 0], row()),
        node(Operation::Slice { starts: vec![0], limits: vec![1000], strides: vec![4] }, &[2], shape("f32[250]")),
    ]);
    let (fused, apart) = traffic(&[graph], 0).unwrap();
    let bytes = |t: Traffic| (t.read.exact().unwrap(), t.written.exact().unwrap());
    assert_eq!(bytes(fused), (1000, 1000));
    assert_eq!(bytes(apart), (4000 + 8000 + 1000, 4000 + 4000 + 1000));
}

#[test]
fn what_never_holds_reads_nothing() {
    for text in [
        "() -> (7), domain: 6 in [-3, -3]",
        "(d0) -> (d0), domain: d0 in [0, 4], 1 in [2, 3]",
        "(d0){rt0} -> (d0 + rt0), domain: d0 in [0, 4], rt0 in [0, 3], d0 * 2 in [5, 5]",
    ] {
        let map = IndexingMap::parse(text).unwrap();
        // A source for each run-time variable.
        let late = map.domain.vars[map.dims + map.ranges..].iter();
        let run_time = late.map(|i| RunTime { source: 0, element: vec![Expr::Var(0)], within: *i, clamped: true });
        let maps = vec![Mapped { run_time: run_time.collect(), map, devices: None }];
        let usage = Access { maps, unknown: Vec::new() }.usage(&[9]);
        assert_eq!((usage.elements.exact(), usage.reads.exact()), (Some(0), Some(0)), "{text}");
    }
}

#[test]
fn counts_of_large_tensors() {
    let usage = |text: &str, sizes: &[i64]| {
        let map = Indexing::parse(text).unwrap().simplify().map().unwrap().clone();
        let access =
            Access { maps: vec![Mapped::<usize> { map, devices: None, run_time: Vec::new() }], unknown: Vec::new() };
        let found = access.usage(sizes);
        (found.elements.exact(), found.reads.exact())
    };
    let n = 1i64 << 20;
    let last = n - 1;
    let split = format!("(d0) -> (d0 floordiv 1024, d0 mod 1024), domain: d0 in [0, {last}]");
    assert_eq!(usage(&split, &[1024, 1024]), (Some(1 << 20), Some(1 << 20)));
    let dot = format!("(d0, d1)[s0] -> (d0, s0), domain: d0 in [0, {last}], d1 in [0, {last}], s0 in [0, {last}]");
    assert_eq!(usage(&dot, &[n, n]), (Some(1 << 40), Some(1 << 60)));
    let window = format!("(d0)[s0] -> (d0 + s0), domain: d0 in [0, {last}], s0 in [0, 4095]");
    assert_eq!(usage(&window, &[n + 4095]), (Some((1 << 20) + 4095), Some(1 << 32)));
    let cut = format!(
        "(d0)[s0] -> (d0 * 2 + s0 - 1), domain: d0 in [0, {last}], s0 in [0, 2], d0 * 2 + s0 in [1, {}]",
        2 * n
    );
    assert_eq!(usage(&cut, &[2 * n]), (Some(2 << 20), Some((3 << 20) - 1)));
    // A map without structure has only bounds.
    let odd = format!("(d0, d1) -> ((d0 * 3 + d1 * 7) mod 1001), domain: d0 in [0, {last}], d1 in [0, 3]");
    assert_eq!(usage(&odd, &[1001]).0, None);
    // An update reads all elements except those that it overwrites, at any position.
    let [data, update, start] = ["f32[64,512,8,64]", "f32[64,1,8,64]", "s32[]"].map(shape);
    let operands = [&data, &update, &start, &start, &start, &start];
    let found = maps(&Operation::DynamicUpdateSlice, &operands, &[&data]).unwrap();
    let usage = |operand, sizes: &[i64]| found.reads(operand, 0).unwrap().usage(sizes).elements.exact();
    assert_eq!(usage(0, &[64, 512, 8, 64]), Some(64 * 511 * 8 * 64));
    assert_eq!(usage(1, &[64, 1, 8, 64]), Some(64 * 8 * 64));
}

fn orders(n: usize) -> Vec<Vec<usize>> {
    let mut all = vec![Vec::new()];
    for k in 0..n {
        let put = |order: Vec<usize>| (0..=k).map(move |at| [&order[..at], &[k], &order[at..]].concat());
        all = all.into_iter().flat_map(put).collect();
    }
    all
}

/// The number of tile entries, from the minor end, and of `minor_to_major` entries that differ between two layouts.
fn changes(asked: &Layout, layout: &Layout) -> (usize, usize) {
    let entries = |layout: &Layout| -> BTreeMap<(usize, usize), TileEntry> {
        let tiles = layout.tiles.iter().enumerate();
        tiles.flat_map(|(k, tile)| tile.iter().rev().enumerate().map(move |(j, entry)| ((k, j), *entry))).collect()
    };
    let (a, b) = (entries(asked), entries(layout));
    let places: BTreeSet<_> = a.keys().chain(b.keys()).collect();
    let order = asked.minor_to_major.iter().zip(&layout.minor_to_major);
    (places.iter().filter(|at| a.get(at) != b.get(at)).count(), order.filter(|(a, b)| a != b).count())
}

/// A random operation, with the shapes of its operand and result.
fn moved(rng: &mut Choices) -> (Operation, Shape, Shape) {
    let n = [1, 4, 6, 8, 12, 16, 24][rng.usize(..7)];
    let (a, b) = (cases::factors(rng, n), cases::factors(rng, n));
    let from = cases::some_layout(rng, &a, "f32");
    let (operation, out) = match rng.u8(..3) {
        0 => (Operation::Reshape, b),
        1 => (Operation::Elementwise, a.clone()),
        _ => {
            let mut permutation: Vec<usize> = (0..a.len()).collect();
            rng.shuffle(&mut permutation);
            let out = permutation.iter().map(|d| a[*d]).collect();
            (Operation::Transpose { permutation }, out)
        }
    };
    let mut to = cases::some_layout(rng, &out, "f32");
    // Half of them with the operand's tiles, so that some are bitcasts.
    if rng.bool()
        && let (Shape::Array(array), Shape::Array(from)) = (&mut to, &from)
    {
        array.layout.tiles = from.layout.tiles.clone();
    }
    (operation, from, to)
}

#[test]
fn movement_against_bytes() {
    let (free, found, farther) = (Cell::new(0), Cell::new(0), Cell::new(0));
    let add = |counter: &Cell<usize>, more: bool| counter.set(counter.get() + usize::from(more));
    choices::check(3000, 0, moved, |(operation, from, to)| {
        let out = reads::sizes(to).remove(0);
        if out.len() > 5 || reads::sizes(from)[0].len() > 5 {
            return;
        }
        let arrays = |s: &Shape| tensor_layout::operations::leaves(s)[0].clone();
        let pairs = reads(operation, &[from], &[to], &|_, _| 0);
        let expansion = |array: &Array| Expansion::new(&array.sizes().unwrap(), &array.layout).unwrap();
        let operand = expansion(&arrays(from));
        // The first element that moves, in row-major order of the result.
        let moves = |result: &Expansion| {
            let mut all = pairs.iter().map(|(_, _, o, i)| (o, operand.offset(i).unwrap(), result.offset(o).unwrap()));
            all.find(|(_, from, to)| from != to)
        };
        let same =
            |result: &Expansion| moves(result).is_none() && result.allocated_elements() <= operand.allocated_elements();
        let result = expansion(&arrays(to));
        let text = format!("{operation:?} {from} {to}");
        let array = |layout: &Layout| Array { layout: layout.clone(), ..arrays(to) };
        let asked = arrays(to).layout;
        let tiles = [&asked, &arrays(from).layout, &Layout::row_major(0)].map(|layout| layout.tiles.clone());
        let with = |order: &Vec<usize>, tiles| Layout { minor_to_major: order.clone(), tiles, ..asked.clone() };
        let others = orders(out.len()).into_iter().flat_map(|order| tiles.clone().map(|tiles| with(&order, tiles)));
        match movement(operation, from, to).unwrap() {
            Movement::Free => {
                assert!(same(&result), "{text}");
                add(&free, true);
            }
            Movement::Moves { cause, nearest } => {
                let moved = |(index, from, to): (&Index, i64, i64)| Moved { index: index.clone(), from, to };
                let expected = moves(&result).map_or(Cause::Larger, |found| Cause::Element(moved(found)));
                assert_eq!(cause, expected, "{text}");
                assert!(!same(&result), "{text}");
                // A nearest layout always exists.
                let layout = nearest.unwrap_or_else(|reason| panic!("{text}: {reason}"));
                assert!(same(&expansion(&array(&layout))), "{text} {layout}");
                add(&found, true);
                let least = others.filter(|other| same(&expansion(&array(other)))).map(|other| changes(&asked, &other));
                let least = least.min();
                add(&farther, least.is_some_and(|least| least < changes(&asked, &layout)));
            }
            Movement::Unknown { reason } => panic!("{text}: {reason}"),
        }
    });
    let (free, found, farther) = (free.get(), found.get(), farther.get());
    assert!(free > 200 && found > 1000, "{free} {found}");
    // Layouts that agree only through padding are not all tried.
    assert!(farther * 100 < found, "{farther} {found}");
}

#[test]
fn movement_of_large_tensors() {
    let ask = |operation: Operation, from: &str, to: &str| match movement(&operation, &shape(from), &shape(to)).unwrap()
    {
        Movement::Free => "free".to_string(),
        Movement::Moves { cause, nearest } => {
            let first = match cause {
                Cause::Element(m) => format!("{:?} {} {}", m.index, m.from, m.to),
                other => format!("{other:?}"),
            };
            match nearest {
                Ok(layout) => format!("{first}; {layout}"),
                Err(reason) => format!("{first}; {reason}"),
            }
        }
        Movement::Unknown { reason } => reason,
    };
    let turn = || Operation::Transpose { permutation: vec![1, 0] };
    let (wide, tiled) = ("f32[4096,8192]{1,0:T(8,128)}", "{0,1:T(8,128)}");
    assert_eq!(ask(turn(), wide, &format!("f32[8192,4096]{tiled}")), "free");
    let moved = format!("[0, 1] 128 1; {tiled}");
    assert_eq!(ask(turn(), wide, "f32[8192,4096]{1,0:T(8,128)}"), moved);
    assert_eq!(ask(Operation::Reshape, "f32[90,8,1280]{2,1,0:T(8,128)}", "f32[720,1280]{1,0:T(8,128)}"), "free");
    assert_eq!(ask(Operation::Reshape, "f32[4096,8192]{0,1}", "f32[33554432]"), "[1] 4096 1; {0:T(8192)(4096,1)}");
    assert_eq!(
        ask(Operation::Reshape, "f32[16,256]{1,0:T(8,128)}", "f32[2,8,2,128]"),
        "[0, 0, 1, 0] 1024 128; {3,1,2,0}"
    );
    assert_eq!(ask(Operation::Elementwise, "f32[3]{0}", "f32[3]{0:T(4)}"), "Larger; {0}");
    // Tiles of the operand, on the new dimensions.
    for (from, to, expected) in [
        ("f32[15,256]{1,0:T(8,128)}", "f32[3,5,256]{2,1,0:T(8,128)}", "{2,1,0:T(*,8,128)}"),
        ("f32[15,256]{1,0:T(8,128)}", "f32[3,5,256]", "{2,1,0:T(*,8,128)}"),
        ("f32[6,8]{1,0:T(4,4)}", "f32[6,2,4]{2,1,0:T(4,4)}", "{2,1,0:T(4,1,4)}"),
        ("f32[8,6]{0,1:T(4,2)}", "f32[2,4,6]", "{1,0,2:T(4,1,2)}"),
        ("bf16[15,256]{1,0:T(8,128)(2,1)}", "bf16[3,5,256]{2,1,0}", "{2,1,0:T(*,8,128)(2,1)}"),
        ("bf16[90,8,1280]{2,1,0:T(8,128)(2,1)}", "bf16[9,80,5,256]", "{3,2,1,0:T(8,1,128)(2,1,1)}"),
        ("f32[300]{0:T(8,128)}", "f32[3,100]", "{1,0:T(8,*,128)}"),
        ("f32[3,5,7]{2,1,0:T(*,4,128)}", "f32[15,7]", "{1,0:T(4,128)}"),
        ("f32[60,8]{0,1:T(16)}", "f32[4,3,5,8]", "{2,1,0,3:T(*,*,16)}"),
    ] {
        let found = ask(Operation::Reshape, from, to);
        assert!(found.ends_with(&format!("; {expected}")), "{from} {to}: {found}");
        let free = format!("{}{expected}", to.split('{').next().unwrap());
        assert_eq!(ask(Operation::Reshape, from, &free), "free");
    }
    // A change of memory space.
    let moved = "Space { from: 0, to: 1 }; {0}";
    assert_eq!(ask(Operation::Reshape, "f32[6]", "f32[6]{0:S(1)}"), moved);
    let moved = "Space { from: 5, to: 0 }; {1,0:T(2,128)S(5)}";
    assert_eq!(ask(Operation::Elementwise, "f32[2,3]{1,0:T(2,128)S(5)}", "f32[2,3]{1,0:T(2,128)}"), moved);
    // More dimensions than tiles may have entries.
    let order: Vec<String> = (0..50).map(|dim| dim.to_string()).collect();
    let many = format!("f32[{}]{{{}}}", ["2"; 50].join(","), order.join(","));
    assert_eq!(ask(Operation::Reshape, &many, "f32[1125899906842624]"), "[1] 562949953421312 1; 2 layouts were tried");
}

/// Invalid numbers of every kind give errors or maps, never a panic.
#[test]
fn spoilt_operations() {
    let (errors, fine) = (Cell::new(0), Cell::new(0));
    for kind in 0..KINDS {
        let spoilt = |rng: &mut Choices| {
            let mut case = some(rng, kind);
            cases::spoil(rng, &mut case);
            case
        };
        choices::check(400, kind as u64, spoilt, |case| {
            let (operands, results): (Vec<_>, Vec<_>) = (case.operands.iter().collect(), case.results.iter().collect());
            let Ok(found) = maps(&case.operation, &operands, &results) else { return errors.set(errors.get() + 1) };
            fine.set(fine.get() + 1);
            for (operand, array) in operands.iter().enumerate().take(3) {
                if let Some(access) = found.reads(operand, 0) {
                    access.usage(&reads::sizes(array)[0]);
                }
            }
        });
    }
    assert!(errors.get() > 3000 && fine.get() > 1000, "{errors:?} {fine:?}");
}

#[test]
fn ranges_that_a_constraint_fixes() {
    let mapped =
        |text: &str| Mapped::<usize> { map: IndexingMap::parse(text).unwrap(), devices: None, run_time: Vec::new() };
    let first = mapped("(d0, d1)[s0] -> (d0, d1, s0), domain: d0 in [0, 3], d1 in [0, 3], s0 in [0, 3]");
    let second = "(d0, d1, d2) -> (d0), domain: d0 in [0, 3], d1 in [0, 3], d2 in [0, 3], d0 + d1 - d2 in [0, 0]";
    let both = first.then(&mapped(second)).unwrap().unwrap();
    // The existence of such a range variable is a constraint of its own.
    assert_eq!(both.to_string(), "(d0, d1) -> (d0), domain: d0 in [0, 3], d1 in [0, 3], d0 + d1 in [0, 3]");
}
