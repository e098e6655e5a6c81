//! Random small operations with their shapes.

use layout_reference::choices::Choices;
use layout_reference::interpreter::reads::Index;
use tensor_layout::operations::Shape;
use tensor_layout::operations::{Convolution, Gather, Operation, WindowDim};

/// An operation, its operands and its results.
#[derive(Debug)]
pub struct Case {
    pub operation: Operation,
    pub operands: Vec<Shape>,
    pub results: Vec<Shape>,
}

pub fn array(sizes: &[i64]) -> Shape {
    let text: Vec<String> = sizes.iter().map(i64::to_string).collect();
    Shape::parse(&format!("f32[{}]", text.join(","))).unwrap()
}

pub fn some_sizes(rng: &mut Choices, rank: usize, most: i64) -> Index {
    (0..rank).map(|_| if rng.u8(..20) == 0 { 0 } else { rng.i64(1..=most) }).collect()
}

fn permutation(rng: &mut Choices, n: usize) -> Vec<usize> {
    let mut all: Vec<usize> = (0..n).collect();
    rng.shuffle(&mut all);
    all
}

fn some_dims(rng: &mut Choices, n: usize) -> Vec<usize> {
    (0..n).filter(|_| rng.bool()).collect()
}

fn some_window(rng: &mut Choices, n: i64) -> (WindowDim, i64) {
    let dim = WindowDim {
        size: rng.i64(1..=5),
        stride: rng.i64(1..=6),
        low: rng.i64(-2..=3),
        high: rng.i64(-2..=3),
        window_dilation: if rng.bool() { 1 } else { rng.i64(2..=3) },
        base_dilation: if rng.bool() { 1 } else { rng.i64(2..=3) },
        reversed: rng.bool(),
    };
    let long = |n: i64, step: i64| if n == 0 { 0 } else { (n - 1) * step + 1 };
    let padded = long(n, dim.base_dilation) + dim.low + dim.high;
    let window = long(dim.size, dim.window_dilation);
    let windows = if padded < window { 0 } else { (padded - window) / dim.stride + 1 };
    (dim, windows)
}

/// Random sizes with this product.
pub fn factors(rng: &mut Choices, mut product: i64) -> Index {
    let mut found = Vec::new();
    while product != 1 {
        let divisors: Vec<i64> = (2..=product).filter(|d| product % d == 0).collect();
        let d = divisors[rng.usize(..divisors.len())];
        found.push(d);
        product /= d;
    }
    for _ in 0..rng.u8(..3) {
        found.insert(rng.usize(..=found.len()), 1);
    }
    rng.shuffle(&mut found);
    found
}

/// A random tiled layout for these sizes.
pub fn some_layout(rng: &mut Choices, sizes: &[i64], element: &str) -> Shape {
    let order: Vec<String> = permutation(rng, sizes.len()).iter().map(usize::to_string).collect();
    let mut tiles = String::new();
    if !sizes.is_empty() {
        for _ in 0..rng.u8(..3) {
            let tile: Vec<String> = (0..rng.usize(1..=2))
                .map(|k| if k == 0 && rng.u8(..6) == 0 { "*".to_string() } else { rng.i64(1..=4).to_string() })
                .collect();
            if tile.last().is_some_and(|last| last != "*") {
                tiles += &format!("({})", tile.join(","));
            }
        }
    }
    let list: Vec<String> = sizes.iter().map(i64::to_string).collect();
    let attributes = if tiles.is_empty() { String::new() } else { format!(":T{tiles}") };
    let layout = if sizes.is_empty() { String::new() } else { format!("{{{}{attributes}}}", order.join(",")) };
    Shape::parse(&format!("{element}[{}]{layout}", list.join(","))).unwrap()
}

fn some_gather(rng: &mut Choices) -> (Gather, Index, Index, Index) {
    let rank = rng.usize(1..=3);
    let data = some_sizes(rng, rank, 4).iter().map(|n| *n.max(&1)).collect::<Vec<_>>();
    let mut batching: Vec<usize> = some_dims(rng, rank);
    batching.truncate(rng.usize(..2));
    let starts: Vec<usize> = permutation(rng, rank).into_iter().filter(|d| !batching.contains(d)).collect();
    let starts = starts[..rng.usize(..=starts.len())].to_vec();
    let collapsed: Vec<usize> = (0..rank).filter(|d| !batching.contains(d) && rng.u8(..3) == 0).collect();
    let gone = |d: &usize| batching.contains(d) || collapsed.contains(d);
    let slices: Index = (0..rank).map(|d| if gone(&d) { 1 } else { rng.i64(1..=data[d]) }).collect();
    // The dimensions of the indices: batch dimensions and others, in some order.
    let others = rng.usize(..=2);
    let mut rows: Vec<Option<usize>> = batching.iter().map(|d| Some(*d)).collect();
    rows.extend(vec![None; others]);
    rng.shuffle(&mut rows);
    let mut indices: Index = rows.iter().map(|d| d.map_or_else(|| rng.i64(1..=3), |d| data[d])).collect();
    let index_vector_dim = if starts.len() == 1 && rng.bool() { indices.len() } else { rng.usize(..=indices.len()) };
    let listed = !(starts.len() == 1 && index_vector_dim == indices.len() && rng.bool());
    let of_batch = |d: &usize| {
        let row = rows.iter().position(|r| *r == Some(*d)).unwrap();
        row + usize::from(listed && row >= index_vector_dim)
    };
    let start_indices_batching_dims = batching.iter().map(of_batch).collect();
    let batch = indices.clone();
    if listed {
        indices.insert(index_vector_dim, starts.len() as i64);
    }
    let kept: Vec<usize> = (0..rank).filter(|d| !gone(d)).collect();
    let mut places = permutation(rng, batch.len() + kept.len());
    places.truncate(kept.len());
    places.sort_unstable();
    let mut out = Vec::new();
    let (mut b, mut k) = (batch.iter(), kept.iter());
    for place in 0..batch.len() + kept.len() {
        out.push(if places.contains(&place) { slices[*k.next().unwrap()] } else { *b.next().unwrap() });
    }
    let g = Gather {
        offset_dims: places,
        collapsed_slice_dims: collapsed,
        operand_batching_dims: batching,
        start_indices_batching_dims,
        start_index_map: starts,
        index_vector_dim,
        slice_sizes: slices,
    };
    (g, data, indices, out)
}

pub const KINDS: usize = 24;

fn case(operation: Operation, operands: &[Index], results: &[Index]) -> Case {
    let shapes = |all: &[Index]| all.iter().map(|s| array(s)).collect();
    Case { operation, operands: shapes(operands), results: shapes(results) }
}

/// A random operation of one of the kinds, with small shapes.
pub fn some(rng: &mut Choices, kind: usize) -> Case {
    let rank = rng.usize(..=3);
    let input = some_sizes(rng, rank, 4);
    match kind {
        0 => case(Operation::Elementwise, &[input.clone(), vec![], input.clone()], &[input]),
        1 => {
            let condition = if rng.bool() { vec![] } else { input.clone() };
            case(Operation::Select, &[condition, input.clone(), input.clone()], &[input])
        }
        2 => some_broadcast(rng),
        3 => some_transpose(rng, input),
        4 => case(
            Operation::Reverse { dims: some_dims(rng, rank) },
            std::slice::from_ref(&input),
            std::slice::from_ref(&input),
        ),
        5 => some_reduce(rng, input),
        6 => some_slice(rng, input),
        7 | 8 => some_reshape(rng),
        9 | 10 => some_bitcast(rng),
        11 => some_repacking(rng),
        12 => some_concatenate(rng),
        13 => some_dot(rng),
        14 => some_pad(rng, input),
        15 | 16 => some_reduce_window(rng),
        17 | 18 => some_convolution(rng),
        19 | 20 => {
            let part: Index = input.iter().map(|n| rng.i64(0..=*n)).collect();
            let scalars = vec![Vec::new(); rank];
            if kind == 19 {
                let operands = [&[input][..], &scalars].concat();
                return case(Operation::DynamicSlice { sizes: part.clone() }, &operands, &[part]);
            }
            let operands = [&[input.clone(), part][..], &scalars].concat();
            case(Operation::DynamicUpdateSlice, &operands, &[input])
        }
        21 => some_insert_slice(rng, input),
        22 => {
            let (g, data, indices, out) = some_gather(rng);
            case(Operation::Gather(Box::new(g)), &[data, indices], &[out])
        }
        _ => some_scatter(rng),
    }
}

fn some_broadcast(rng: &mut Choices) -> Case {
    let rank = rng.usize(..=4);
    let out = some_sizes(rng, rank, 3);
    let mut dims = permutation(rng, out.len());
    dims.truncate(rng.usize(..=dims.len()));
    let from = dims.iter().map(|d| out[*d]).collect();
    case(Operation::Broadcast { dims }, &[from], &[out])
}

fn some_transpose(rng: &mut Choices, input: Index) -> Case {
    let permutation = permutation(rng, input.len());
    let out = permutation.iter().map(|d| input[*d]).collect();
    case(Operation::Transpose { permutation }, &[input], &[out])
}

fn some_reduce(rng: &mut Choices, input: Index) -> Case {
    let dims = some_dims(rng, input.len());
    let out: Index = (0..input.len()).filter(|d| !dims.contains(d)).map(|d| input[d]).collect();
    let operation = Operation::Reduce { dims };
    if rng.bool() {
        return case(operation, &[input, vec![]], &[out]);
    }
    case(operation, &[input.clone(), input, vec![], vec![]], &[out.clone(), out])
}

fn some_slice(rng: &mut Choices, input: Index) -> Case {
    let starts: Index = input.iter().map(|n| rng.i64(0..=*n)).collect();
    let limits: Index = input.iter().zip(&starts).map(|(n, s)| rng.i64(*s..=*n)).collect();
    let strides: Index = input.iter().map(|_| rng.i64(1..=3)).collect();
    let out = (0..input.len()).map(|k| (limits[k] - starts[k] + strides[k] - 1) / strides[k]).collect();
    case(Operation::Slice { starts, limits, strides }, &[input], &[out])
}

fn some_reshape(rng: &mut Choices) -> Case {
    let n = [1, 6, 8, 12, 16, 24, 30, 36][rng.usize(..8)];
    let (a, b) = (factors(rng, n), factors(rng, n));
    case(Operation::Reshape, &[a], &[b])
}

fn some_bitcast(rng: &mut Choices) -> Case {
    let n = [1, 6, 8, 12, 16, 24][rng.usize(..6)];
    let (a, b) = (factors(rng, n), factors(rng, n));
    let (from, to) = (some_layout(rng, &a, "f32"), some_layout(rng, &b, "f32"));
    Case { operation: Operation::Bitcast, operands: vec![from], results: vec![to] }
}

/// A bitcast between elements of other sizes.
fn some_repacking(rng: &mut Choices) -> Case {
    let r = [1, 2, 4][rng.usize(..3)];
    let n = [2, 6, 12][rng.usize(..3)];
    let (mut a, mut b) = (factors(rng, n), factors(rng, n * r));
    let mut elements = ["f32", ["f32", "bf16", "s8"][[1, 2, 4].iter().position(|x| *x == r).unwrap()]];
    if rng.bool() {
        std::mem::swap(&mut a, &mut b);
        elements.reverse();
    }
    // Without tiles both sides must have the same bytes, with tiles they need not.
    let (from, to) = (some_layout(rng, &a, elements[0]), some_layout(rng, &b, elements[1]));
    Case { operation: Operation::Bitcast, operands: vec![from], results: vec![to] }
}

fn some_concatenate(rng: &mut Choices) -> Case {
    let rank = rng.usize(1..=3);
    let base = some_sizes(rng, rank, 3);
    let dim = rng.usize(..base.len());
    let mut whole = base.clone();
    whole[dim] = 0;
    let parts: Vec<Index> = (0..rng.usize(1..=3))
        .map(|_| {
            let mut part = base.clone();
            part[dim] = rng.i64(0..=3);
            whole[dim] += part[dim];
            part
        })
        .collect();
    case(Operation::Concatenate { dim }, &parts, &[whole])
}

fn some_dot(rng: &mut Choices) -> Case {
    let counts = [rng.usize(..=1), rng.usize(..=2), rng.usize(..=2), rng.usize(..=1)];
    let parts = counts.map(|n| some_sizes(rng, n, 3));
    let order = |rng: &mut Choices, parts: [&Index; 3]| {
        let all = parts.map(|p| &p[..]).concat();
        let place = permutation(rng, all.len());
        let mut sizes = vec![0; all.len()];
        place.iter().zip(&all).for_each(|(p, n)| sizes[*p] = *n);
        let (a, b) = (parts[0].len(), parts[1].len());
        let mut free = place[a + b..].to_vec();
        free.sort_unstable();
        let free_sizes: Index = free.iter().map(|d| sizes[*d]).collect();
        (sizes, place[..a].to_vec(), place[a..a + b].to_vec(), free_sizes)
    };
    let (lhs, lhs_batch, lhs_contracting, left) = order(rng, [&parts[0], &parts[1], &parts[2]]);
    let (rhs, rhs_batch, rhs_contracting, right) = order(rng, [&parts[0], &parts[1], &parts[3]]);
    let out = [&parts[0][..], &left, &right].concat();
    case(Operation::Dot { lhs_batch, rhs_batch, lhs_contracting, rhs_contracting }, &[lhs, rhs], &[out])
}

fn some_pad(rng: &mut Choices, input: Index) -> Case {
    let interior: Index = input.iter().map(|_| rng.i64(0..=2)).collect();
    let long = |k: usize| if input[k] == 0 { 0 } else { (input[k] - 1) * (interior[k] + 1) + 1 };
    let low: Index = input.iter().map(|_| rng.i64(-2..=3)).collect();
    let high: Index = (0..input.len()).map(|k| rng.i64(-2..=3).max(-low[k] - long(k))).collect();
    let out = (0..input.len()).map(|k| long(k) + low[k] + high[k]).collect();
    case(Operation::Pad { low, high, interior }, &[input, vec![]], &[out])
}

fn some_reduce_window(rng: &mut Choices) -> Case {
    let rank = rng.usize(1..=2);
    let input = some_sizes(rng, rank, 6);
    let (window, out): (Vec<_>, Index) = input.iter().map(|n| some_window(rng, *n)).unzip();
    case(Operation::ReduceWindow { window }, &[input, vec![]], &[out])
}

fn some_convolution(rng: &mut Choices) -> Case {
    let spatial = rng.usize(1..=2);
    let (feature_groups, batch_groups) = if rng.bool() { (rng.i64(1..=2), 1) } else { (1, rng.i64(1..=2)) };
    let (a, k, o) = (permutation(rng, spatial + 2), permutation(rng, spatial + 2), permutation(rng, spatial + 2));
    let (mut input, mut kernel, mut out) = (vec![0; spatial + 2], vec![0; spatial + 2], vec![0; spatial + 2]);
    out[o[0]] = rng.i64(1..=2);
    input[a[0]] = out[o[0]] * batch_groups;
    kernel[k[0]] = rng.i64(1..=2);
    input[a[1]] = kernel[k[0]] * feature_groups;
    kernel[k[1]] = rng.i64(1..=2) * feature_groups * batch_groups;
    out[o[1]] = kernel[k[1]];
    let mut window = Vec::new();
    for d in 2..spatial + 2 {
        input[a[d]] = rng.i64(1..=4);
        let (dim, windows) = some_window(rng, input[a[d]]);
        kernel[k[d]] = dim.size;
        out[o[d]] = windows;
        window.push(dim);
    }
    let c = Convolution {
        window,
        input_batch: a[0],
        input_feature: a[1],
        input_spatial: a[2..].to_vec(),
        kernel_input_feature: k[0],
        kernel_output_feature: k[1],
        kernel_spatial: k[2..].to_vec(),
        output_batch: o[0],
        output_feature: o[1],
        output_spatial: o[2..].to_vec(),
        feature_groups,
        batch_groups,
    };
    case(Operation::Convolution(Box::new(c)), &[input, kernel], &[out])
}

fn some_insert_slice(rng: &mut Choices, input: Index) -> Case {
    let strides: Index = (0..input.len()).map(|_| rng.i64(1..=3)).collect();
    let starts: Index = input.iter().map(|n| rng.i64(0..=*n)).collect();
    let most = |k: usize| (input[k] - starts[k] + strides[k] - 1) / strides[k];
    let part: Index = (0..input.len()).map(|k| rng.i64(0..=most(k))).collect();
    case(Operation::InsertSlice { starts, strides }, &[input.clone(), part], &[input])
}

fn some_scatter(rng: &mut Choices) -> Case {
    let (g, data, indices, updates) = some_gather(rng);
    let operation = Operation::Scatter(Box::new(Gather { slice_sizes: Vec::new(), ..g }));
    if rng.bool() {
        return case(operation, &[data.clone(), indices, updates], &[data]);
    }
    let operands = [data.clone(), data.clone(), indices, updates.clone(), updates];
    case(operation, &operands, &[data.clone(), data])
}

/// The number, at times an extreme one, and the dimension that replace one of an operation.
struct Replacement {
    number: i64,
    dim: usize,
}

impl Replacement {
    fn replace_number(&self, rng: &mut Choices, list: &mut [i64]) {
        if !list.is_empty() {
            list[rng.usize(..list.len())] = self.number;
        }
    }

    fn replace_dim(&self, rng: &mut Choices, list: &mut Vec<usize>) {
        match list.is_empty() || rng.bool() {
            true => list.push(self.dim),
            false => {
                let k = rng.usize(..list.len());
                list[k] = self.dim;
            }
        }
    }

    fn replace_window(&self, rng: &mut Choices, list: &mut [WindowDim]) {
        if let Some(dim) = list.first_mut() {
            let fields = [
                &mut dim.size,
                &mut dim.stride,
                &mut dim.low,
                &mut dim.high,
                &mut dim.window_dilation,
                &mut dim.base_dilation,
            ];
            *fields.into_iter().nth(rng.usize(..6)).unwrap() = self.number;
        }
    }

    fn replace_size(&self, rng: &mut Choices, shapes: &mut Vec<Shape>) {
        if shapes.is_empty() || rng.u8(..5) == 0 {
            shapes.pop();
            return;
        }
        let k = rng.usize(..shapes.len());
        if let Shape::Array(array) = &mut shapes[k]
            && let Some(dim) = array.dims.first_mut()
        {
            *dim = tensor_layout::operations::Dim::Exact(self.number);
        }
    }

    fn replace_attribute(&self, rng: &mut Choices, operation: &mut Operation) {
        match operation {
            Operation::Broadcast { dims } | Operation::Reverse { dims } | Operation::Reduce { dims } => {
                self.replace_dim(rng, dims);
            }
            Operation::Transpose { permutation } => self.replace_dim(rng, permutation),
            Operation::Slice { starts: a, limits: b, strides: c } | Operation::Pad { low: a, high: b, interior: c } => {
                let k = rng.usize(..3);
                self.replace_number(rng, [a, b, c].into_iter().nth(k).unwrap());
            }
            Operation::Concatenate { dim } => *dim = self.dim,
            Operation::Dot { lhs_batch, rhs_batch, lhs_contracting, rhs_contracting } => {
                let lists = [lhs_batch, rhs_batch, lhs_contracting, rhs_contracting];
                let k = rng.usize(..4);
                self.replace_dim(rng, lists.into_iter().nth(k).unwrap());
            }
            Operation::ReduceWindow { window } => self.replace_window(rng, window),
            Operation::Convolution(c) => match rng.u8(..5) {
                0 => c.feature_groups = self.number,
                1 => c.batch_groups = self.number,
                2 => self.replace_dim(rng, &mut c.kernel_spatial),
                3 => c.output_feature = self.dim,
                _ => self.replace_window(rng, &mut c.window),
            },
            Operation::DynamicSlice { sizes } => self.replace_number(rng, sizes),
            Operation::Gather(g) | Operation::Scatter(g) => match rng.u8(..7) {
                0 => self.replace_dim(rng, &mut g.offset_dims),
                1 => self.replace_dim(rng, &mut g.collapsed_slice_dims),
                2 => self.replace_dim(rng, &mut g.operand_batching_dims),
                3 => self.replace_dim(rng, &mut g.start_indices_batching_dims),
                4 => self.replace_dim(rng, &mut g.start_index_map),
                5 => g.index_vector_dim = self.dim,
                _ => self.replace_number(rng, &mut g.slice_sizes),
            },
            _ => {}
        }
    }
}

/// Changes a number, at times to an extreme one, in the operation or its shapes.
pub fn spoil(rng: &mut Choices, case: &mut Case) {
    const NUMBERS: [i64; 12] =
        [i64::MIN, i64::MIN + 1, -(1 << 62), -1, 0, 1, 2, 7, 1 << 31, 1 << 62, i64::MAX - 1, i64::MAX];
    let replacement = Replacement { number: NUMBERS[rng.usize(..NUMBERS.len())], dim: rng.usize(..5) };
    match rng.u8(..3) == 0 {
        true => {
            let shapes = if rng.bool() { &mut case.operands } else { &mut case.results };
            replacement.replace_size(rng, shapes);
        }
        false => replacement.replace_attribute(rng, &mut case.operation),
    }
}
