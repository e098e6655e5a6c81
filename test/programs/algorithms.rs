//! Indexing maps of `Algorithm` operations, such as sorts, scans and batch normalizations, by trial: a change of one
//! operand element must change exactly the result elements that the maps name.

use fastrand::Rng;
use layout_reference::interpreter::reads::Index;
use layout_reference::interpreter::{self, Number, Value, each};
use std::collections::BTreeSet;
use tensor_layout::analysis::{Access, maps};
use tensor_layout::element::ElementType;
use tensor_layout::hlo::Module;
use tensor_layout::operations::{Shape, leaves};

/// How strictly an operation's maps are compared.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    /// The maps name exactly the elements that may change.
    Exact,
    /// The maps may name more elements.
    More,
    /// [`Kind::Exact`], on matrices with a large diagonal.
    Matrix,
    /// [`Kind::More`], on such matrices.
    MatrixMore,
}

impl Kind {
    fn named(name: &str) -> Kind {
        match name {
            "exact" => Kind::Exact,
            "more" => Kind::More,
            "matrix" => Kind::Matrix,
            "matrix-more" => Kind::MatrixMore,
            other => panic!("{other} is no kind"),
        }
    }

    fn is_matrix(self) -> bool {
        matches!(self, Kind::Matrix | Kind::MatrixMore)
    }
}

const COMPUTATIONS: &str = include_str!("algorithms/computations.hlo");

const OPERATIONS: &str = include_str!("algorithms/operations.txt");

/// Random elements.
fn some(rng: &mut Rng, shape: &Shape, matrix: bool) -> Value {
    let array = leaves(shape)[0];
    let (element, sizes) = (array.element, array.sizes().unwrap());
    let mut data = Vec::new();
    each(&sizes, |index| data.push(element_at(rng, element, matrix && index.len() > 1, index)));
    Value { element, sizes, data }
}

fn element_at(rng: &mut Rng, element: ElementType, matrix: bool, index: &[i64]) -> Number {
    let x = rng.f64() * 2.0 - 1.0;
    let large = matrix && index[index.len() - 1] == index[index.len() - 2];
    match element {
        ElementType::F32 => Number::Float(x + if large { 6.0 } else { 0.0 }),
        ElementType::C64 => Number::Complex(x, rng.f64()),
        _ => Number::Int(rng.u64(..).into()),
    }
    .to(element)
}

/// All pairs of a result element and an operand element in the maps.
fn pairs(access: &Access) -> BTreeSet<(Index, Index)> {
    let points = access.maps.iter().flat_map(|mapped| {
        let map = &mapped.map;
        map.points().map(|point| (point[..map.dims].to_vec(), map.evaluate(&point).unwrap().unwrap()))
    });
    points.collect()
}

/// For each operand and each result, the pairs of a result element and an operand element that changed together.
fn seen(module: &Module, rng: &mut Rng, kind: Kind) -> Vec<Vec<BTreeSet<(Index, Index)>>> {
    let main = &module.computations[module.entry];
    let shapes: Vec<&Shape> = main.parameters.iter().map(|k| &main.instructions[*k].shape).collect();
    let results = leaves(&main.result().shape).len();
    let mut found = vec![vec![BTreeSet::new(); results]; shapes.len()];
    for _ in 0..500 {
        let arguments: Vec<Vec<Value>> = shapes.iter().map(|s| vec![some(rng, s, kind.is_matrix())]).collect();
        let before = interpreter::run(module, module.entry, &arguments);
        for operand in 0..shapes.len() {
            let (mut place, sizes) = (0, arguments[operand][0].sizes.clone());
            each(&sizes, |at| {
                let mut changed = arguments.clone();
                let value = &mut changed[operand][0];
                value.data[place] = element_at(rng, value.element, kind.is_matrix() && at.len() > 1, at);
                place += 1;
                let after = interpreter::run(module, module.entry, &changed);
                for (result, (a, b)) in before.iter().zip(&after).enumerate() {
                    let mut k = 0;
                    each(&a.sizes, |o| {
                        if a.data[k] != b.data[k] {
                            found[operand][result].insert((o.to_vec(), at.to_vec()));
                        }
                        k += 1;
                    });
                }
            });
        }
    }
    found
}

#[test]
fn changes_are_those_of_the_maps() {
    crate::long_test!();
    let mut rng = Rng::with_seed(15);
    for line in OPERATIONS.lines().filter(|line| !line.starts_with("# ")) {
        let (head, text) = line.split_once(" -> ").unwrap();
        let (kind, shapes) = head.split_once(' ').unwrap();
        let (kind, shapes): (Kind, Vec<&str>) = (Kind::named(kind), shapes.split(' ').collect());
        let names: Vec<String> = (0..shapes.len()).map(|k| format!("p{k}")).collect();
        let parameters: String = shapes
            .iter()
            .zip(&names)
            .enumerate()
            .map(|(k, (s, name))| format!("  {name} = {s} parameter({k})\n"))
            .collect();
        let body = text.replace('@', &names.join(", "));
        let text = format!("HloModule m\n\n{COMPUTATIONS}\nENTRY main {{\n{parameters}  ROOT y = {body}\n}}\n");
        let module = Module::parse(&text).unwrap_or_else(|errors| panic!("{text}{errors:?}"));
        let main = &module.computations[module.entry];
        let y = main.result();
        let operands: Vec<&Shape> = y.operands.iter().map(|k| &main.instructions[*k].shape).collect();
        let results: Vec<&Shape> = match &y.shape {
            Shape::Tuple(parts) => parts.iter().collect(),
            shape => vec![shape],
        };
        let found = maps(&y.operation, &operands, &results).unwrap();
        for (operand, seen) in seen(&module, &mut rng, kind).into_iter().enumerate() {
            for (result, seen) in seen.into_iter().enumerate() {
                let (reads, feeds) = (found.reads(operand, result).unwrap(), found.feeds(operand, result).unwrap());
                let name = format!("{body}: operand {operand}, result {result}\n{reads}\n{feeds}");
                assert!(reads.is_known() && feeds.is_known(), "{name}");
                let (said, turned) = (pairs(reads), pairs(feeds));
                assert_eq!(said, turned.into_iter().map(|(i, o)| (o, i)).collect(), "{name}");
                if matches!(kind, Kind::More | Kind::MatrixMore) {
                    assert!(seen.is_subset(&said), "{name}\n{:?}", seen.difference(&said).collect::<Vec<_>>());
                } else {
                    assert_eq!(seen, said, "{name}");
                }
            }
        }
    }
}
