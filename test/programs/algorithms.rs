//! Indexing maps of `Algorithm` operations, such as sorts, scans and batch normalizations, by trial: a change of one
//! operand element must change exactly the result elements that the maps name.

use crate::elements::Index;
use crate::interpreter::{self, Number, Value, each};
use fastrand::Rng;
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
    fn is_matrix(self) -> bool {
        matches!(self, Kind::Matrix | Kind::MatrixMore)
    }
}

const COMPUTATIONS: &str = "less {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = pred[] compare(a, b), direction=LT
}

by_first {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  c = s32[] parameter(2)
  d = s32[] parameter(3)
  ROOT e = pred[] compare(a, b), direction=GT
}

most {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = pred[] compare(a, b), direction=GE
}

add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}

both {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  c = f32[] add(a, b)
  ROOT d = (f32[], f32[]) tuple(c, c)
}
";

/// Operations: the shapes of the operands, and the text after them; `@` stands for the operands.
const CASES: &[(Kind, &[&str], &str)] = &[
    (
        Kind::Exact,
        &["f32[4,6]", "f32[6,3]", "f32[2,3]", "f32[6,1]"],
        "f32[4,3] scaled-dot(@), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
    ),
    (
        Kind::More,
        &["f32[4,3]", "f32[2,3,2]", "s32[2]"],
        "f32[4,2] ragged-dot(@), lhs_contracting_dims={1}, rhs_contracting_dims={1}, lhs_ragged_dims={0}, \
         rhs_group_dims={0}",
    ),
    (
        Kind::More,
        &["f32[2,5]", "f32[5,3]", "s32[3]"],
        "f32[3,2,3] ragged-dot(@), lhs_contracting_dims={1}, rhs_contracting_dims={0}, lhs_ragged_dims={1}",
    ),
    (Kind::Exact, &["f32[5]", "f32[]"], "(f32[5], f32[]) scan(@), dimensions={0}, num_carries=1, to_apply=both"),
    (
        Kind::Exact,
        &["f32[5]", "f32[]"],
        "(f32[5], f32[]) scan(@), dimensions={0}, num_carries=1, is_reverse=true, to_apply=both",
    ),
    (Kind::Exact, &["f32[2,4,2]"], "f32[2,4,2] sort(@), dimensions={1}, to_apply=less"),
    (Kind::More, &["f32[3,4]", "s32[3,4]"], "(f32[3,4], s32[3,4]) sort(@), dimensions={1}, to_apply=by_first"),
    (Kind::Exact, &["f32[2,5]"], "(f32[2,3], s32[2,3]) topk(@), k=3, largest=true"),
    (
        Kind::Exact,
        &["f32[5,4]", "f32[2,2]", "f32[]"],
        "f32[5,4] select-and-scatter(@), window={size=3x2 stride=2x2}, select=most, scatter=add",
    ),
    // A window of one element leaves no choice.
    (
        Kind::More,
        &["f32[6]", "f32[4]", "f32[]"],
        "f32[6] select-and-scatter(@), window={size=2 stride=2 pad=1_1}, select=most, scatter=add",
    ),
    (
        Kind::Exact,
        &["f32[2,3,2]", "f32[3]", "f32[3]"],
        "(f32[2,3,2], f32[3], f32[3]) batch-norm-training(@), epsilon=0.1, feature_index=1",
    ),
    (
        Kind::Exact,
        &["f32[2,3]", "f32[3]", "f32[3]", "f32[3]", "f32[3]"],
        "f32[2,3] batch-norm-inference(@), epsilon=3, feature_index=1",
    ),
    (
        Kind::Exact,
        &["f32[3,2,2]", "f32[2]", "f32[2]", "f32[2]", "f32[3,2,2]"],
        "(f32[3,2,2], f32[2], f32[2]) batch-norm-grad(@), epsilon=3, feature_index=1",
    ),
    (Kind::Exact, &["c64[2,3,2]"], "c64[2,3,2] fft(@), fft_type=FFT, fft_length={2}"),
    (Kind::Exact, &["c64[2,3,2]"], "c64[2,3,2] fft(@), fft_type=IFFT, fft_length={3,2}"),
    (Kind::Exact, &["f32[2,5]"], "c64[2,3] fft(@), fft_type=RFFT, fft_length={5}"),
    (Kind::Exact, &["c64[2,3]"], "f32[2,5] fft(@), fft_type=IRFFT, fft_length={5}"),
    (Kind::Matrix, &["f32[2,4,4]"], "f32[2,4,4] cholesky(@), lower=true"),
    (Kind::Matrix, &["f32[4,4]"], "f32[4,4] cholesky(@), lower=false"),
    (
        Kind::MatrixMore,
        &["f32[2,4,4]"],
        "(f32[2,4,4]{1,2,0}, s32[2]) custom-call(@), custom_call_target=\"lapack_spotrf_ffi\", \
         backend_config={uplo = 76 : ui8}",
    ),
    (
        Kind::MatrixMore,
        &["f32[4,4]"],
        "(f32[4,4]{0,1}, s32[]) custom-call(@), custom_call_target=\"lapack_spotrf_ffi\", \
         backend_config={uplo = 85 : ui8}",
    ),
    (Kind::Matrix, &["f32[2,3,3]", "f32[2,3,2]"], "f32[2,3,2] triangular-solve(@), left_side=true, lower=true"),
    (
        Kind::Matrix,
        &["f32[4,4]", "f32[4,2]"],
        "f32[4,2] triangular-solve(@), left_side=true, lower=true, transpose_a=TRANSPOSE",
    ),
    (Kind::Matrix, &["f32[4,4]", "f32[2,4]"], "f32[2,4] triangular-solve(@), left_side=false, lower=true"),
    (
        Kind::Matrix,
        &["f32[4,4]", "f32[2,4]"],
        "f32[2,4] triangular-solve(@), left_side=false, lower=false, unit_diagonal=true, transpose_a=TRANSPOSE",
    ),
    (Kind::More, &["u64[2]"], "(u64[2], u32[3,4]) rng-bit-generator(@), algorithm=rng_three_fry"),
    (Kind::More, &["u64[3]"], "(u64[3], u32[3]) rng-bit-generator(@), algorithm=rng_default"),
    (Kind::Exact, &["u8[3,4]"], "u32[3] bitcast-convert(@)"),
    (Kind::Exact, &["f32[3,4]"], "s32[] get-dimension-size(@), dimensions={1}"),
];

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
    for (kind, shapes, text) in CASES {
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
        for (operand, seen) in seen(&module, &mut rng, *kind).into_iter().enumerate() {
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
