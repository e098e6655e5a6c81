//! Shape rules of operations, each violated once: the label, the subject, and the message.
//!
//! `test/operations/refusals.txt` has a line for each case; `BLESS=1` writes it for review.

use std::collections::BTreeSet;
use tensor_layout::expr::Expr;
use tensor_layout::maps::Interval;
use tensor_layout::operations::{
    Algorithm, Collective, Contraction, Convolution, Dim, Exchange, Fourier, Gather, Loops, Operation, RaggedDot,
    Shape, Start, WindowDim,
};

/// An operation that violates a rule: the rule, the operation, its operands and its results.
type Case = (&'static str, Operation, &'static [&'static str], &'static [&'static str]);

fn window(size: i64, stride: i64, dilation: i64) -> Vec<WindowDim> {
    let (window_dilation, base_dilation) = (dilation, 1);
    vec![WindowDim { size, stride, low: 0, high: 0, window_dilation, base_dilation, reversed: false }]
}

fn convolution(change: impl FnOnce(&mut Convolution)) -> Operation {
    let mut convolution = Convolution {
        window: window(3, 1, 1),
        input_batch: 0,
        input_feature: 2,
        input_spatial: vec![1],
        kernel_input_feature: 1,
        kernel_output_feature: 2,
        kernel_spatial: vec![0],
        output_batch: 0,
        output_feature: 2,
        output_spatial: vec![1],
        feature_groups: 1,
        batch_groups: 1,
    };
    change(&mut convolution);
    Operation::Convolution(Box::new(convolution))
}

/// Rows of `[10, 20]` at indices `[5, 1]`.
fn rows(change: impl FnOnce(&mut Gather)) -> Box<Gather> {
    let mut gather = Gather {
        offset_dims: vec![1],
        collapsed_slice_dims: vec![0],
        start_index_map: vec![0],
        index_vector_dim: 1,
        slice_sizes: vec![1, 20],
        ..Gather::default()
    };
    change(&mut gather);
    Box::new(gather)
}

fn unchanged(_: &mut Gather) {}

fn gather(change: impl FnOnce(&mut Gather)) -> Operation {
    Operation::Gather(rows(change))
}

fn scatter(change: impl FnOnce(&mut Gather)) -> Operation {
    Operation::Scatter(rows(|g| {
        g.slice_sizes.clear();
        change(g);
    }))
}

fn loops(change: impl FnOnce(&mut Loops)) -> Operation {
    let index = || vec![Expr::Var(0)];
    let mut loops =
        Loops { sizes: vec![4], offsets: Vec::new(), operands: vec![Some(index())], results: vec![index()] };
    change(&mut loops);
    Operation::Loops(Box::new(loops))
}

fn dot(change: impl FnOnce(&mut [Vec<usize>; 4])) -> Operation {
    let mut lists = [vec![0], vec![0], vec![2], vec![1]];
    change(&mut lists);
    let [lhs_batch, rhs_batch, lhs_contracting, rhs_contracting] = lists;
    Operation::Dot { lhs_batch, rhs_batch, lhs_contracting, rhs_contracting }
}

fn slice(start: i64, limit: i64, stride: i64) -> Operation {
    Operation::Slice { starts: vec![start], limits: vec![limit], strides: vec![stride] }
}

fn pad(low: &[i64], interior: i64) -> Operation {
    Operation::Pad { low: low.to_vec(), high: vec![0], interior: vec![interior] }
}

fn insert(start: i64, stride: i64) -> Operation {
    Operation::InsertSlice { starts: vec![start], strides: vec![stride] }
}

fn cases() -> Vec<Case> {
    let tables = [
        arrays(),
        reductions(),
        slices(),
        windows(),
        blocks(),
        tuples(),
        products(),
        scans_and_sizes(),
        sorts(),
        transforms(),
        factorizations(),
        collectives(),
    ];
    tables.into_iter().flatten().collect()
}

/// The rules of operations on each element and of those that move arrays.
fn arrays() -> Vec<Case> {
    use Operation::*;
    vec![
        ("sizes_c1", Elementwise, &["f32[2]"], &["f32[2]"]),
        ("elementwise_c1", Elementwise, &["f32[2]"], &[]),
        ("elementwise_c2", Elementwise, &["f32[2]", "f32[]", "f32[3]"], &["f32[2]"]),
        ("elementwise_c3", Elementwise, &["f32[2]", "f32[]"], &["f32[2]", "f32[3]"]),
        ("select_c1", Select, &["pred[]", "f32[2]"], &["f32[2]"]),
        ("select_c2", Select, &["pred[3]", "f32[2]", "f32[2]"], &["f32[2]"]),
        ("select_c3", Select, &["pred[]", "f32[2]", "f32[2]"], &["f32[3]"]),
        ("iota_c1", Iota { dim: 0 }, &["f32[2]"], &["f32[2]"]),
        ("iota_c2", Iota { dim: 1 }, &[], &["f32[2]"]),
        ("constant_c1", Constant, &["f32[2]"], &["f32[2]"]),
        ("parameter_c1", Parameter { number: 0 }, &["f32[2]"], &["f32[2]"]),
        ("broadcast_c1", Broadcast { dims: vec![] }, &["f32[]"], &["f32[2]", "f32[2]"]),
        ("broadcast_c2", Broadcast { dims: vec![0] }, &["f32[2,3]"], &["f32[2,3]"]),
        ("broadcast_c3", Broadcast { dims: vec![0, 0] }, &["f32[2,3]"], &["f32[2,3]"]),
        ("broadcast_c4", Broadcast { dims: vec![1] }, &["f32[3]"], &["f32[3,2]"]),
        ("transpose_c1", Transpose { permutation: vec![0] }, &[], &["f32[2]"]),
        ("transpose_c2", Transpose { permutation: vec![0] }, &["f32[2,3]"], &["f32[3,2]"]),
        ("transpose_c3", Transpose { permutation: vec![1, 2] }, &["f32[2,3]"], &["f32[3,2]"]),
        ("transpose_c4", Transpose { permutation: vec![2, 0, 1] }, &["f32[2,3,5]"], &["f32[3,5,2]"]),
        ("reverse_c1", Reverse { dims: vec![] }, &[], &["f32[2]"]),
        ("reverse_c2", Reverse { dims: vec![1] }, &["f32[2]"], &["f32[2]"]),
        ("reverse_c3", Reverse { dims: vec![0] }, &["f32[2]"], &["f32[3]"]),
        ("reshape_c1", Reshape, &["f32[2]", "f32[2]"], &["f32[2]"]),
        ("reshape_c2", Reshape, &["f32[4,6]"], &["f32[3,9]"]),
        ("reshape_c2", Reshape, &["f32[4,6]"], &["f32[4611686018427387904,4611686018427387904,16]"]),
        ("bitcast_c1", Bitcast, &[], &["f32[2]"]),
        ("bitcast_c2", Bitcast, &["f32[6]"], &["f64[6]"]),
        ("concatenate_c1", Concatenate { dim: 0 }, &[], &["f32[2]"]),
        ("concatenate_c2", Concatenate { dim: 2 }, &["f32[2,3]"], &["f32[2,3]"]),
        ("concatenate_c3", Concatenate { dim: 1 }, &["f32[2,3]", "f32[3,4]"], &["f32[2,7]"]),
        ("concatenate_c4", Concatenate { dim: 1 }, &["f32[2,3]", "f32[2,4]"], &["f32[2,8]"]),
        ("concatenate_c4", Concatenate { dim: 0 }, &["f32[9223372036854775807]", "f32[1]"], &["f32[8]"]),
    ]
}

/// The rules of dot products and reductions.
fn reductions() -> Vec<Case> {
    use Operation::*;
    let same = |_: &mut [Vec<usize>; 4]| {};
    let sums = &["f32[9,2,3]", "f32[9,3,5]"][..];
    vec![
        ("dot_c1", dot(same), &["f32[9,2,3]"], &["f32[9,2,5]"]),
        ("dot_c2", dot(|d| d[0] = vec![3]), sums, &["f32[9,2,5]"]),
        ("dot_c3", dot(|d| d[3] = vec![0]), sums, &["f32[9,2,5]"]),
        ("dot_c4", dot(|d| d[3] = vec![]), sums, &["f32[9,2,5]"]),
        ("dot_c5", dot(|d| d[3] = vec![2]), sums, &["f32[9,2,5]"]),
        ("dot_c6", dot(same), sums, &["f32[9,5,2]"]),
        ("inputs_c1", Reduce { dims: vec![0] }, &["f32[2]"], &["f32[]"]),
        ("inputs_c2", Reduce { dims: vec![0] }, &["f32[2]", "f32[]"], &["f32[]", "f32[]"]),
        ("inputs_c3", Reduce { dims: vec![0] }, &["f32[2]", "s32[3]", "f32[]", "s32[]"], &["f32[]", "s32[]"]),
        ("inputs_c4", Reduce { dims: vec![0] }, &["f32[2]", "f32[2]"], &["f32[]"]),
        ("reduce_c1", Reduce { dims: vec![1] }, &["f32[2]", "f32[]"], &["f32[]"]),
        ("reduce_c2", Reduce { dims: vec![1] }, &["f32[2,3,5]", "f32[]"], &["f32[2,3]"]),
    ]
}

/// The rules of slices, padding and updates.
fn slices() -> Vec<Case> {
    use Operation::*;
    vec![
        ("slice_c1", slice(0, 1, 1), &[], &["f32[1]"]),
        ("slice_c2", slice(0, 1, 1), &["f32[8,8]"], &["f32[1]"]),
        ("slice_c3", slice(3, 2, 1), &["f32[8]"], &["f32[1]"]),
        ("slice_c4", slice(0, 9, 1), &["f32[8]"], &["f32[9]"]),
        ("slice_c5", slice(0, 8, 0), &["f32[8]"], &["f32[8]"]),
        ("slice_c6", slice(1, 8, 3), &["f32[8]"], &["f32[2]"]),
        ("pad_c1", pad(&[2], 1), &["f32[3]"], &["f32[7]"]),
        ("pad_c2", pad(&[2], 1), &["f32[3]", "f32[1]"], &["f32[7]"]),
        ("pad_c3", pad(&[2, 2], 1), &["f32[3]", "f32[]"], &["f32[7]"]),
        ("pad_c4", pad(&[2], -1), &["f32[3]", "f32[]"], &["f32[7]"]),
        ("pad_c5", pad(&[-6], 1), &["f32[3]", "f32[]"], &["f32[7]"]),
        ("pad_c5", pad(&[2], i64::MAX), &["f32[3]", "f32[]"], &["f32[7]"]),
        ("pad_c5", pad(&[2], 1), &["f32[3]", "f32[]"], &["f32[8]"]),
        ("dynamic_slice_c1", DynamicSlice { sizes: vec![2] }, &[], &["f32[2]"]),
        ("dynamic_slice_c2", DynamicSlice { sizes: vec![2] }, &["f32[8,8]", "s32[]", "s32[]"], &["f32[2,2]"]),
        ("dynamic_slice_c3", DynamicSlice { sizes: vec![9] }, &["f32[8]", "s32[]"], &["f32[9]"]),
        ("dynamic_slice_c4", DynamicSlice { sizes: vec![2] }, &["f32[8]", "s32[]"], &["f32[3]"]),
        ("starts_c1", DynamicSlice { sizes: vec![2] }, &["f32[8]"], &["f32[2]"]),
        ("starts_c2", DynamicSlice { sizes: vec![2] }, &["f32[8]", "s32[1]"], &["f32[2]"]),
        ("dynamic_update_slice_c1", DynamicUpdateSlice, &["f32[8]"], &["f32[8]"]),
        ("dynamic_update_slice_c2", DynamicUpdateSlice, &["f32[8]", "f32[9]", "s32[]"], &["f32[8]"]),
        ("dynamic_update_slice_c3", DynamicUpdateSlice, &["f32[8]", "f32[2]", "s32[]"], &["f32[2]"]),
        ("insert_slice_c1", insert(1, 2), &["f32[6]"], &["f32[6]"]),
        ("insert_slice_c2", insert(1, 2), &["f32[6]", "f32[3,1]"], &["f32[6]"]),
        ("insert_slice_c3", insert(-1, 2), &["f32[6]", "f32[3]"], &["f32[6]"]),
        ("insert_slice_c4", insert(1, 0), &["f32[6]", "f32[3]"], &["f32[6]"]),
        ("insert_slice_c5", insert(1, 2), &["f32[5]", "f32[3]"], &["f32[5]"]),
        ("insert_slice_c6", insert(1, 2), &["f32[6]", "f32[3]"], &["f32[7]"]),
    ]
}

/// The rules of windows and convolutions.
fn windows() -> Vec<Case> {
    use Operation::*;
    let images = &["f32[4,8,6]", "f32[3,6,9]"][..];
    vec![
        ("window_c1", ReduceWindow { window: window(0, 1, 1) }, &["f32[8]", "f32[]"], &["f32[8]"]),
        ("window_c2", ReduceWindow { window: window(3, 0, 1) }, &["f32[8]", "f32[]"], &["f32[8]"]),
        ("window_c3", ReduceWindow { window: window(3, 1, 0) }, &["f32[8]", "f32[]"], &["f32[8]"]),
        ("window_c4", ReduceWindow { window: wide() }, &["f32[8]", "f32[]"], &["f32[8]"]),
        ("reduce_window_c1", ReduceWindow { window: vec![] }, &["f32[8]", "f32[]"], &["f32[8]"]),
        ("reduce_window_c2", ReduceWindow { window: window(3, 1, 2) }, &["f32[8]", "f32[]"], &["f32[5]"]),
        ("convolution_c1", convolution(|_| {}), &["f32[4,8,6]"], &["f32[4,6,9]"]),
        ("convolution_c2", convolution(|_| {}), &["f32[4,8,6]", "f32[3,6]"], &["f32[4,6,9]"]),
        ("convolution_c3", convolution(|c| c.input_batch = 1), images, &["f32[4,6,9]"]),
        ("convolution_c4", convolution(|c| c.window[0].size = 2), images, &["f32[4,6,9]"]),
        ("convolution_c5", convolution(|c| c.batch_groups = 0), images, &["f32[4,6,9]"]),
        ("convolution_c6", convolution(|c| c.feature_groups = 4), images, &["f32[4,6,9]"]),
        ("convolution_c7", convolution(|c| c.batch_groups = 2), images, &["f32[4,6,9]"]),
        ("convolution_c8", convolution(|c| c.feature_groups = 3), images, &["f32[4,6,9]"]),
        ("convolution_c9", convolution(|_| {}), images, &["f32[4,8,9]"]),
    ]
}

/// The rules of gather and scatter.
fn blocks() -> Vec<Case> {
    let table = &["f32[10,20]", "s32[5,1]"][..];
    let updates = &["f32[10,20]", "s32[5,1]", "f32[5,20]"][..];
    vec![
        ("blocks_c1", gather(|g| g.start_index_map = vec![2]), table, &["f32[5,20]"]),
        ("blocks_c2", gather(|g| g.index_vector_dim = 3), table, &["f32[5,20]"]),
        ("blocks_c3", gather(|g| g.start_index_map = vec![0, 1]), table, &["f32[5,20]"]),
        ("blocks_c4", gather(|g| g.operand_batching_dims = vec![1]), table, &["f32[5,20]"]),
        ("blocks_c5", gather(batched), table, &["f32[5,20]"]),
        ("blocks_c6", gather(batched), &["f32[10,5]", "s32[5,1]"], &["f32[5,20]"]),
        ("gather_c1", gather(unchanged), &["f32[10,20]"], &["f32[5,20]"]),
        ("gather_c2", gather(|g| g.slice_sizes = vec![1]), table, &["f32[5,20]"]),
        ("gather_c3", gather(|g| g.slice_sizes = vec![1, 21]), table, &["f32[5,20]"]),
        ("gather_c4", gather(|g| g.slice_sizes = vec![2, 20]), table, &["f32[5,20]"]),
        ("gather_c5", gather(|g| g.offset_dims = vec![0, 1]), table, &["f32[5,20]"]),
        ("gather_c6", gather(|g| g.offset_dims = vec![2]), table, &["f32[5,20]"]),
        ("gather_c7", gather(unchanged), table, &["f32[20,5]"]),
        ("scatter_c1", scatter(unchanged), table, &["f32[10,20]"]),
        ("scatter_c2", scatter(unchanged), updates, &["f32[10,21]"]),
        ("scatter_c3", scatter(|g| g.offset_dims = vec![0, 1]), updates, &["f32[10,20]"]),
        ("scatter_c4", scatter(unchanged), &["f32[10,20]", "s32[5,1]", "f32[20]"], &["f32[10,20]"]),
        ("scatter_c5", scatter(|g| g.offset_dims = vec![2]), updates, &["f32[10,20]"]),
        ("scatter_c6", scatter(unchanged), &["f32[10,20]", "s32[5,1]", "f32[5,21]"], &["f32[10,20]"]),
        ("scatter_c7", scatter(unchanged), &["f32[10,20]", "s32[5,1]", "f32[6,20]"], &["f32[10,20]"]),
    ]
}

/// The rules of loops, tuples and asynchronous pairs.
fn tuples() -> Vec<Case> {
    use Operation::*;
    vec![
        ("loops_c1", loops(|l| l.sizes = vec![-1]), &["f32[4]"], &["f32[4]"]),
        ("loops_c2", loops(|_| {}), &["f32[4]", "f32[4]"], &["f32[4]"]),
        ("loops_c3", loops(|_| {}), &["f32[4,4]"], &["f32[4]"]),
        ("loops_c4", loops(|l| l.results = vec![vec![Expr::Var(1)]]), &["f32[4]"], &["f32[4]"]),
        ("loops_c5", loops(|l| l.offsets = vec![(Some(0), Interval::new(0, 1))]), &["f32[4]"], &["f32[4]"]),
        ("tuple_c1", Tuple, &["f32[4]"], &["(f32[4], f32[4])"]),
        ("tuple_c2", Tuple, &["f32[4]"], &["(f32[5])"]),
        ("get_tuple_element_c1", GetTupleElement { index: 0 }, &["f32[4]"], &["f32[4]"]),
        ("get_tuple_element_c2", GetTupleElement { index: 2 }, &["(f32[4], f32[5])"], &["f32[4]"]),
        ("get_tuple_element_c3", GetTupleElement { index: 1 }, &["(f32[4], (f32[5], f32[6]))"], &["f32[5]"]),
        ("get_tuple_element_c4", GetTupleElement { index: 1 }, &["(f32[4], f32[5])"], &["f32[4]"]),
        ("leaves_c1", Leaves { numbers: vec![Some(0)] }, &["f32[4]"], &["(f32[4], f32[4])"]),
        ("leaves_c2", Leaves { numbers: vec![None, Some(1)] }, &["f32[4]"], &["(f32[4], f32[4])"]),
        ("leaves_c3", Leaves { numbers: vec![Some(0)] }, &["f32[4]"], &["f32[5]"]),
        ("start_c1", start(Elementwise, None, (usize::MAX, 1)), &["f32[4]"], &["f32[4]"]),
        ("start_c2", start(Elementwise, Some((1, 2)), (0, 1)), &["f32[4]", "f32[4]"], &["(f32[4], f32[4])"]),
        ("start_c3", start(Elementwise, Some((1, 1)), (0, 1)), &["f32[4]"], &["(f32[4], f32[5])"]),
    ]
}

/// The start of an asynchronous pair.
fn start(operation: Operation, operands: Option<(usize, usize)>, results: (usize, usize)) -> Operation {
    Operation::Start(Box::new(Start { operation, operands, results }))
}

/// The rules of exchanges between devices.
fn collectives() -> Vec<Case> {
    let of = |exchange, devices, groups: &[&[i64]]| {
        let groups = groups.iter().map(|group| group.to_vec()).collect();
        Operation::Collective(Box::new(Collective { exchange, devices, groups, blocks: Vec::new() }))
    };
    let pairs: &[&[i64]] = &[&[0, 1], &[2, 3]];
    let (gather, scatter) = (Exchange::Gather { dim: 0 }, Exchange::ReduceScatter { dim: 0 });
    let all = |dim| of(Exchange::AllToAll { dim }, 4, pairs);
    let ragged = || of(Exchange::Ragged, 4, pairs);
    let together = of(Exchange::ReduceTogether, 4, pairs);
    let blocks = |sets, groups: &[&[i64]], blocks: &[&[i64]]| {
        let groups = groups.iter().map(|group| group.to_vec()).collect();
        let blocks = blocks.iter().map(|block| block.to_vec()).collect();
        let exchange = Exchange::PermuteBlocks { sets };
        Operation::Collective(Box::new(Collective { exchange, devices: 4, groups, blocks }))
    };
    let (one, in_place): (&[&[i64]], &[&str]) = (&[&[2]], &["f32[4]", "f32[6]", "s32[]", "s32[]"]);
    vec![
        ("groups_c6", blocks(2, &[&[0, 1], &[1, 2], &[2, 3]], one), in_place, &["f32[6]"]),
        ("groups_c2", blocks(1, &[&[0, 1], &[0, 2]], one), in_place, &["f32[6]"]),
        ("permute_blocks_c1", blocks(2, &[&[0, 1], &[1, 2]], one), in_place, &["f32[6]"]),
        ("permute_blocks_c2", blocks(1, pairs, one), &in_place[..3], &["f32[6]"]),
        ("permute_blocks_c3", blocks(1, pairs, one), in_place, &["f32[4]"]),
        (
            "permute_blocks_c4",
            blocks(1, pairs, &[&[2, 2]]),
            &["f32[4]", "f32[6]", "s32[]", "s32[]", "s32[]", "s32[]"],
            &["f32[6]"],
        ),
        ("permute_blocks_c4", blocks(1, pairs, &[&[5]]), in_place, &["f32[6]"]),
        ("permute_blocks_c5", blocks(1, pairs, one), &["f32[4]", "f32[6]", "s32[]", "s32[1]"], &["f32[6]"]),
        ("groups_c1", of(Exchange::Reduce, 2, &[&[0, 2]]), &["f32[2]"], &["f32[2]"]),
        ("groups_c2", of(Exchange::Reduce, 2, &[&[0, 0]]), &["f32[2]"], &["f32[2]"]),
        ("groups_c2", of(Exchange::Permute, 2, &[&[0, 1], &[1, 1]]), &["f32[2]"], &["f32[2]"]),
        ("groups_c3", of(gather, 3, &[&[0, 1], &[2]]), &["f32[2]"], &["f32[4]"]),
        ("groups_c4", of(Exchange::Reduce, 3, &[&[0, 1]]), &["f32[2]"], &["f32[2]"]),
        ("groups_c5", of(Exchange::Permute, 2, &[&[0]]), &["f32[2]"], &["f32[2]"]),
        ("collective_c1", of(Exchange::Reduce, 4, pairs), &[], &[]),
        ("collective_c1", of(Exchange::Reduce, 4, pairs), &["f32[2]"], &["f32[2]", "f32[2]"]),
        ("collective_c2", of(Exchange::Gather { dim: 1 }, 4, pairs), &["f32[2]"], &["f32[4]"]),
        ("collective_c3", of(Exchange::Broadcast, 4, pairs), &["f32[2]"], &["f32[3]"]),
        ("all_gather_c1", of(gather, 4, pairs), &["f32[2]"], &["f32[2]"]),
        ("all_gather_c1", of(gather, 4, pairs), &["f32[9223372036854775807]"], &["f32[2]"]),
        ("reduce_scatter_c1", of(scatter, 4, pairs), &["f32[3]"], &["f32[1]"]),
        ("reduce_scatter_c2", of(scatter, 4, pairs), &["f32[4]"], &["f32[4]"]),
        ("all_to_all_c1", all(Some(0)), &["f32[3]"], &["f32[3]"]),
        ("all_to_all_c1", all(None), &["f32[3]"], &["f32[3]"]),
        ("all_reduce_c1", together, &["f32[3]", "f32[2]"], &["f32[3]", "f32[2]"]),
        ("all_to_all_c2", all(None), &["f32[3]", "f32[2]"], &["f32[3]", "f32[2]"]),
        ("ragged_c1", ragged(), &["f32[4]"], &["f32[4]"]),
        ("ragged_c2", ragged(), &["f32[]", "f32[]", "s32[2]", "s32[2]", "s32[2]", "s32[2]"], &["f32[]"]),
        ("ragged_c2", ragged(), &["f32[4,2]", "f32[4,3]", "s32[2]", "s32[2]", "s32[2]", "s32[2]"], &["f32[4,3]"]),
        ("ragged_c3", ragged(), &["f32[4]", "f32[4]", "s32[2]", "s32[4]", "s32[2]", "s32[2]"], &["f32[4]"]),
        ("ragged_c3", ragged(), &["f32[4]", "f32[4]", "s32[3]", "s32[3]", "s32[3]", "s32[3]"], &["f32[4]"]),
    ]
}

/// A window whose padding covers most 64-bit numbers, on both sides.
fn wide() -> Vec<WindowDim> {
    let mut wide = window(3, 1, 1);
    (wide[0].low, wide[0].high) = (i64::MAX, i64::MAX);
    wide
}

fn one(algorithm: Algorithm) -> Operation {
    Operation::Algorithm(Box::new(algorithm))
}

/// The rules of scaled and ragged dot products.
fn products() -> Vec<Case> {
    let product = |lhs: usize, rhs: usize| Contraction {
        lhs_contracting: vec![lhs],
        rhs_contracting: vec![rhs],
        ..Contraction::default()
    };
    let scaled = || one(Algorithm::ScaledDot(product(1, 0)));
    let ragged = |ragged, group, rhs| one(Algorithm::RaggedDot(RaggedDot { dims: product(1, rhs), ragged, group }));
    let parts: &[&str] = &["f32[6,4]", "f32[2,4,5]", "s32[2]"];
    vec![
        ("scaled_dot_c1", scaled(), &["f32[6,4]", "f32[4,5]"], &["f32[6,5]"]),
        ("scaled_dot_c2", scaled(), &["f32[6,4]", "f32[4,5]", "f32[3,4]", "f32[3,5]"], &["f32[6,5]"]),
        ("scaled_dot_c3", scaled(), &["f32[6,4]", "f32[4,5]", "f32[3,4]", "f32[2,5]"], &["f32[5,6]"]),
        ("ragged_dot_c1", ragged(0, Some(0), 1), &["f32[6,4]", "f32[2,4,5]"], &["f32[6,5]"]),
        ("ragged_dot_c2", ragged(2, Some(0), 1), parts, &["f32[6,5]"]),
        ("ragged_dot_c3", ragged(0, Some(1), 1), parts, &["f32[6,5]"]),
        ("ragged_dot_c3", ragged(0, None, 1), parts, &["f32[6,5]"]),
        ("ragged_dot_c3", ragged(1, Some(0), 1), parts, &["f32[6,5]"]),
        ("ragged_dot_c4", ragged(0, Some(0), 1), &["f32[6,4]", "f32[2,4,5]", "s32[3]"], &["f32[6,5]"]),
        ("ragged_dot_c5", ragged(0, Some(0), 1), parts, &["f32[2,6,5]"]),
        ("ragged_dot_c5", ragged(1, None, 0), &["f32[6,4]", "f32[4,5]", "s32[2]"], &["f32[6,5]"]),
    ]
}

/// The rules of scans, and of sizes at run time.
fn scans_and_sizes() -> Vec<Case> {
    let scan = |dim, inputs| one(Algorithm::Scan { dim, inputs, reversed: false });
    let reshaped = || one(Algorithm::DynamicReshape);
    let size = |dim| one(Algorithm::DimensionSize { dim });
    vec![
        ("scan_c1", scan(0, 0), &["f32[4]"], &["f32[4]"]),
        ("scan_c1", scan(0, 1), &["f32[4]", "f32[]", "f32[]"], &["f32[]"]),
        ("scan_c2", scan(1, 1), &["f32[4]"], &["f32[4]"]),
        ("scan_c2", scan(0, 1), &["f32[4]", "f32[]"], &["f32[]", "f32[]"]),
        ("scan_c3", scan(0, 2), &["f32[4]", "f32[5]"], &["f32[4]"]),
        ("scan_c4", scan(0, 1), &["f32[4]", "f32[]"], &["f32[4]", "f32[4]"]),
        ("dynamic_reshape_c1", reshaped(), &["f32[4]", "s32[]"], &["f32[2,2]"]),
        ("dynamic_reshape_c2", reshaped(), &["f32[4]", "s32[]"], &["f32[5]"]),
        ("dimension_size_c1", size(0), &[], &["s32[]"]),
        ("dimension_size_c2", size(1), &["f32[2]"], &["s32[]"]),
        ("dimension_size_c3", size(0), &["f32[2]"], &["s32[1]"]),
    ]
}

/// The rules of sorts and selections.
fn sorts() -> Vec<Case> {
    let sort = |dim| one(Algorithm::Sort { dim });
    let top = |k| one(Algorithm::TopK { k });
    let select = |n| one(Algorithm::SelectAndScatter { window: window(n, n, 1) });
    vec![
        ("sort_c1", sort(0), &[], &[]),
        ("sort_c1", sort(0), &["f32[2]"], &["f32[2]", "f32[2]"]),
        ("sort_c2", sort(1), &["f32[2]"], &["f32[2]"]),
        ("sort_c3", sort(0), &["f32[2]", "s32[3]"], &["f32[2]", "s32[3]"]),
        ("sort_c4", sort(0), &["f32[2]", "s32[2]"], &["f32[2]", "s32[3]"]),
        ("top_k_c1", top(2), &["f32[5]"], &["f32[2]"]),
        ("top_k_c1", top(2), &["f32[]"], &["f32[2]", "s32[2]"]),
        ("top_k_c2", top(6), &["f32[5]"], &["f32[6]", "s32[6]"]),
        ("top_k_c3", top(2), &["f32[3,5]"], &["f32[3,2]", "s32[2,3]"]),
        ("select_and_scatter_c1", select(2), &["f32[4]", "f32[2]"], &["f32[4]"]),
        ("select_and_scatter_c2", select(2), &["f32[4,4]", "f32[2,2]", "f32[]"], &["f32[4,4]"]),
        ("select_and_scatter_c3", select(2), &["f32[4]", "f32[3]", "f32[]"], &["f32[4]"]),
        ("select_and_scatter_c4", select(2), &["f32[4]", "f32[2]", "f32[1]"], &["f32[4]"]),
        ("select_and_scatter_c5", select(2), &["f32[4]", "f32[2]", "f32[]"], &["f32[2]"]),
    ]
}

/// The rules of batch normalization and Fourier transforms.
fn transforms() -> Vec<Case> {
    let train = |feature| one(Algorithm::BatchNormTraining { feature });
    let grad = one(Algorithm::BatchNormGrad { feature: 1 });
    let fft = |kind, lengths: &[i64]| one(Algorithm::Fft { kind, lengths: lengths.to_vec() });
    vec![
        ("batch_norm_c1", train(1), &["f32[4,3]", "f32[3]", "f32[3]"], &["f32[4,3]"]),
        ("batch_norm_c2", train(2), &["f32[4,3]", "f32[3]", "f32[3]"], &["f32[4,3]", "f32[3]", "f32[3]"]),
        ("batch_norm_c3", train(1), &["f32[4,3]", "f32[3]", "f32[4]"], &["f32[4,3]", "f32[3]", "f32[3]"]),
        (
            "batch_norm_c3",
            grad,
            &["f32[4,3]", "f32[3]", "f32[3]", "f32[3]", "f32[3]"],
            &["f32[4,3]", "f32[3]", "f32[3]"],
        ),
        ("batch_norm_c4", train(1), &["f32[4,3]", "f32[3]", "f32[3]"], &["f32[4,3]", "f32[3]", "f32[4]"]),
        ("fft_c1", fft(Fourier::Forward, &[4]), &["c64[4]"], &["c64[4]", "c64[4]"]),
        ("fft_c2", fft(Fourier::Forward, &[]), &["c64[4]"], &["c64[4]"]),
        ("fft_c2", fft(Fourier::Forward, &[4, 4]), &["c64[4]"], &["c64[4]"]),
        ("fft_c2", fft(Fourier::Forward, &[0]), &["c64[0]"], &["c64[0]"]),
        ("fft_c3", fft(Fourier::InverseReal, &[4]), &["c64[4]"], &["f32[4]"]),
        ("fft_c4", fft(Fourier::Real, &[5]), &["f32[5]"], &["c64[5]"]),
    ]
}

/// The rules of factorizations, and of bits.
fn factorizations() -> Vec<Case> {
    let solve = |left| one(Algorithm::TriangularSolve { left, lower: true, transposed: false, unit: false });
    let cholesky = one(Algorithm::Cholesky { lower: true });
    let in_place = one(Algorithm::CholeskyInPlace { lower: true });
    let bits = one(Algorithm::RandomBits);
    let joined = one(Algorithm::Joined);
    vec![
        ("cholesky_c1", cholesky.clone(), &[], &["f32[3,3]"]),
        ("cholesky_c2", cholesky.clone(), &["f32[3]"], &["f32[3]"]),
        ("cholesky_c2", cholesky.clone(), &["f32[2,3]"], &["f32[2,3]"]),
        ("cholesky_c3", cholesky, &["f32[3,3]"], &["f32[3]"]),
        ("cholesky_in_place_c1", in_place.clone(), &["f32[3,3]"], &["f32[3,3]"]),
        ("cholesky_in_place_c2", in_place.clone(), &["f32[2,3]"], &["(f32[2,3], s32[])"]),
        ("cholesky_in_place_c3", in_place.clone(), &["f32[3,3]"], &["(f32[3], s32[])"]),
        ("cholesky_in_place_c4", in_place, &["f32[2,3,3]"], &["(f32[2,3,3], s32[])"]),
        ("triangular_solve_c1", solve(true), &["f32[3,3]"], &["f32[3,3]"]),
        ("triangular_solve_c2", solve(true), &["f32[3,4]", "f32[3,2]"], &["f32[3,2]"]),
        ("triangular_solve_c3", solve(true), &["f32[3,3]", "f32[2,3]"], &["f32[2,3]"]),
        ("triangular_solve_c3", solve(false), &["f32[3,3]", "f32[3,2]"], &["f32[3,2]"]),
        ("triangular_solve_c4", solve(false), &["f32[3,3]", "f32[2,3]"], &["f32[3,2]"]),
        ("random_bits_c1", bits.clone(), &["u64[2]"], &["u32[4]"]),
        ("random_bits_c2", bits.clone(), &["u64[]"], &["u64[]", "u32[4]"]),
        ("random_bits_c3", bits, &["u64[2]"], &["u64[3]", "u32[4]"]),
        ("joined_c1", joined.clone(), &[], &["u32[4]"]),
        ("joined_c2", joined.clone(), &["u8[]"], &["u32[]"]),
        ("joined_c3", joined, &["u8[3,4]"], &["u32[4]"]),
    ]
}

/// Batches dimension 1 of the data with dimension 0 of the indices, although dimension 1 has a start, too.
fn batched(g: &mut Gather) {
    g.operand_batching_dims = vec![1];
    g.start_indices_batching_dims = vec![0];
    g.start_index_map = vec![1];
}

fn shapes(texts: &[&str]) -> Vec<Shape> {
    texts.iter().map(|text| Shape::parse(text).unwrap()).collect()
}

#[test]
fn every_rule_is_refused_once() {
    let mut lines = String::new();
    let mut tried = BTreeSet::new();
    for (rule, operation, operands, results) in cases() {
        let (mut operands, results) = (shapes(operands), shapes(results));
        // No text has a negative size.
        if let ("sizes_c1", Some(Shape::Array(array))) = (rule, operands.first_mut()) {
            array.dims[0] = Dim::Exact(-1);
        }
        let (operands, results) = (operands.iter().collect::<Vec<_>>(), results.iter().collect::<Vec<_>>());
        let refusal = operation.check(&operands, &results).expect_err(rule);
        assert_eq!(refusal.rule, rule, "{refusal}");
        lines += &format!("{rule}: {refusal}\n");
        tried.insert(rule.to_string());
    }
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/test/operations/refusals.txt");
    match std::env::var_os("BLESS") {
        Some(_) => std::fs::write(file, lines).unwrap(),
        None => assert_eq!(lines, std::fs::read_to_string(file).unwrap(), "write it with BLESS=1"),
    }
    assert_eq!(described(), tried, "the rules in the descriptions of src/operations, and those tried here");
}

/// The labels in the rules' documentation: after `- ` and between back quotes.
fn described() -> BTreeSet<String> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/operations");
    let mut files = vec![format!("{folder}/check.rs")];
    let rules = std::fs::read_dir(format!("{folder}/rules")).unwrap();
    files.extend(rules.map(|entry| entry.unwrap().path().display().to_string()));
    let mut found = BTreeSet::new();
    for file in files {
        for line in std::fs::read_to_string(file).unwrap().lines() {
            let Some(label) = line.trim_start().strip_prefix("/// - `") else { continue };
            let (label, rest) = label.split_once('`').unwrap();
            if rest.starts_with(':') && label.contains("_c") {
                assert!(found.insert(label.to_string()), "{label} is described twice");
            }
        }
    }
    found
}
