//! Targets: default layouts, candidates and costs.

use serde_json::Value;
use tensor_layout::element::ElementType;
use tensor_layout::operations::{Algorithm, Array, Operation, Shape};
use tensor_layout::places::Placement;
use tensor_layout::targets::{RelayoutKind, Target};
use tensor_layout::tiled::Layout;

fn array(text: &str) -> Array {
    match Shape::parse(text) {
        Ok(Shape::Array(array)) => array,
        other => panic!("{text}: {other:?}"),
    }
}

/// The choices of XLA's compiler for TPUs for entry arrays, over all ranks and types.
#[test]
fn default_layouts_are_those_of_the_compiler() {
    let target = Target::parse("tpu_v5e").unwrap();
    let mut rows = 0;
    for line in include_str!("../golden/tpu_default_layouts.jsonl").lines() {
        let fact: Value = serde_json::from_str(line).unwrap();
        let array = array(fact["shape"].as_str().unwrap());
        let sizes = array.sizes().unwrap();
        let found = target.default_layout(array.element, &sizes).unwrap();
        assert_eq!(found.to_string(), fact["layout"].as_str().unwrap(), "{line}");
        rows += 1;
    }
    assert_eq!(rows, 6000);
}

/// The bytes of a layout, counted: the elements of whole tiles, tile by tile.
fn counted(sizes: &[i64], order: &[usize], tile: [i64; 2], bytes: i64) -> i64 {
    let padded = order.iter().enumerate().map(|(place, dim)| {
        let by = if place == 0 {
            tile[1]
        } else if place == 1 {
            tile[0]
        } else {
            1
        };
        (sizes[*dim] + by - 1) / by * by
    });
    padded.product::<i64>() * bytes
}

#[test]
fn layouts_are_all_orders_with_their_padded_bytes() {
    let target = Target::parse("tpu_v5e").unwrap();
    let sizes = [3, 100, 7, 260];
    let found = target.layouts(ElementType::F32, &sizes).unwrap();
    assert_eq!(found.len(), 24);
    let mut orders: Vec<_> = found.iter().map(|ranked| ranked.layout.minor_to_major.clone()).collect();
    orders.sort();
    orders.dedup();
    assert_eq!(orders.len(), 24);
    let default = target.default_layout(ElementType::F32, &sizes).unwrap();
    assert_eq!(found[0].layout, default);
    for (before, after) in found.iter().zip(&found[1..]) {
        assert!(before.padded_bytes <= after.padded_bytes);
    }
    for ranked in &found {
        let order = &ranked.layout.minor_to_major;
        // 8 rows, or 4 where there are 3 of them.
        let rows = if sizes[order[1]] == 3 { 4 } else { 8 };
        assert_eq!(ranked.padded_bytes, counted(&sizes, order, [rows, 128], 4), "{}", ranked.layout);
    }
    // With many dimensions, each ordered pair of the two fastest.
    assert_eq!(target.layouts(ElementType::BF16, &[2, 3, 4, 5, 6]).unwrap().len(), 20);
    assert_eq!(target.layouts(ElementType::BF16, &[]).unwrap().len(), 1);
}

#[test]
fn what_has_no_layout_is_refused() {
    let target = Target::parse("tpu_v5e").unwrap();
    let message = |sizes: &[i64]| target.default_layout(ElementType::F32, sizes).unwrap_err().message;
    assert_eq!(message(&[-1]), "a size must be at least 0, found -1");
    assert!(message(&[i64::MAX, 3]).contains("64 bits"), "{}", message(&[i64::MAX, 3]));
    assert!(message(&[i64::MAX; 256]).contains("64 bits"), "{}", message(&[i64::MAX; 256]));
    let token = target.default_layout(ElementType::Token, &[]).unwrap_err();
    assert_eq!(token.message, "`token` has no layout");
    let order = target.layout(ElementType::F32, &[2, 3], &[0, 0]).unwrap_err();
    assert_eq!(order.message, "minor_to_major must list each dimension once, found 0 twice");
    let words = "axes: (), memories: (), word: 24, registers: 8x128, layouts: tiles";
    let error = Target::parse(words).unwrap_err();
    assert_eq!(error.message, "tiles need words of 8 bits or more, a power of two; found 24");
}

/// The cost of an operation on shapes.
fn cost(target: &Target, operation: &Operation, operands: &[&str], result: &str) -> i64 {
    let operands: Vec<Array> = operands.iter().map(|text| array(text)).collect();
    let operands: Vec<&Array> = operands.iter().collect();
    target.operation_cost(operation, &operands, &[&array(result)]).unwrap()
}

#[test]
fn costs_are_what_the_formulas_say() {
    let text = "axes: (), memories: (far: 0 with 99999 bytes reading 2 writing 4, near: 1 with 99999 bytes), word: 32, \
        unit: tick, registers: 2x4, layouts: tiles, costs: (kernel: 10, window: 5.5, window_bytes: 256, \
        packed_tile: 1000, reduced_tile: 3, copy: 100, copy_window: 20, copy_tile: 1, sublane_tile: 2, \
        transpose_window: 7, transpose_window_far: 30, transpose_window_tiles: 4, transpose_tile: 0.25, product: 1, \
        product_operands: 2, product_results: 4, product_window: 8, product_window_size: 50, pass: 0.5, least_passes: 3)";
    let target = Target::parse(text).unwrap();
    assert_eq!(target.unit(), "tick");
    // 4 tiles of 32 bytes are read and written: one window.
    let (far, near) = ("f32[4,8]{1,0:T(2,4)}", "f32[4,8]{1,0:T(2,4)S(1)}");
    assert_eq!(cost(&target, &Operation::Elementwise, &[far], far), 10 + 6 + 64 + 32);
    assert_eq!(cost(&target, &Operation::Elementwise, &[near], near), 10 + 6);
    // Three times 128 bytes: two windows, 11.
    assert_eq!(cost(&target, &Operation::Elementwise, &[far, far], far), 10 + 11 + 2 * 64 + 32);
    // Half the bytes, and a result that is packed.
    let packed = "bf16[4,8]{1,0:T(2,4)(2,1)}";
    assert_eq!(cost(&target, &Operation::Elementwise, &[packed], packed), 10 + 6 + 32 + 16 + 4000);
    // A reduction of 4 tiles to one of 4 elements, which is packed, too: 16 bytes.
    let reduce = Operation::Reduce { dims: vec![1] };
    assert_eq!(cost(&target, &reduce, &[far, "f32[]{:T(4)S(1)}"], "f32[4]{0:T(4)S(1)}"), 10 + 6 + 64 + 12 + 1000);
    // Another order of the two dimensions: 8 tiles of both sides, two windows; moves take longer than the transpose.
    let turned = "f32[4,8]{0,1:T(2,4)}";
    assert_eq!(cost(&target, &Operation::Elementwise, &[far], turned), 2 * (7 + 30 + 30) + 64 + 32);
    let transpose = Operation::Transpose { permutation: vec![1, 0] };
    assert_eq!(cost(&target, &transpose, &[far], "f32[8,4]{1,0:T(2,4)}"), 2 * (7 + 30 + 30) + 64 + 32);
    // The minor dimension stays: 2 × 2 tiles of both, each array twice.
    let (from, to) = ("f32[2,2,4]{2,1,0:T(2,4)}", "f32[2,2,4]{2,0,1:T(2,4)}");
    assert_eq!(cost(&target, &Operation::Elementwise, &[from], to), 100 + 20 + 32 + 16 + 2 * 3);
    // 4 × 8 times 8 × 4: a depth of 2, one column of lanes, 2 rows of registers, at least 3 passes.
    let dot =
        Operation::Dot { lhs_batch: vec![], rhs_batch: vec![], lhs_contracting: vec![1], rhs_contracting: vec![0] };
    let product = cost(&target, &dot, &[far, "f32[8,4]{1,0:T(2,4)S(1)}"], "f32[4,4]{1,0:T(2,4)}");
    // Moving takes 64 + 16, computing 2 × 1 × 3 × 0.5 = 3, of which 1.5 are hidden: in two windows.
    assert_eq!(product, 1 + 2 + 4 + 2 * 8 + 80 + 3 - 2);
    // Operations without moves.
    assert_eq!(cost(&target, &Operation::Bitcast, &[far], far), 0);
    assert_eq!(cost(&target, &Operation::Call { computation: 0 }, &[far], far), 0);
}

#[test]
fn costs_that_do_not_fit_are_errors() {
    let target = Target::parse("axes: (), memories: (m: 0 with 9 bytes reading 0.000001), word: 32, unit: t").unwrap();
    let huge = array("f32[4611686018427387,100]");
    let error = target.operation_cost(&Operation::Elementwise, &[&huge], &[&huge]).unwrap_err();
    assert_eq!(error.message, "the cost does not fit in 64 bits");
    let wide = array("f32[4611686018427387904]");
    let error = target.operation_cost(&Operation::Elementwise, &[&wide], &[&wide]).unwrap_err();
    assert!(error.message.contains("64 bits"), "{}", error.message);
}

#[test]
fn a_relayout_costs_by_what_it_moves() {
    let target = Target::parse("tpu_v5e").unwrap();
    let of = |shape: &str, from: &str, to: &str| {
        let [from, to] = [from, to].map(|text| Layout::parse(text).unwrap());
        let array = array(shape);
        (target.relayout_kind(&array, &from, &to).unwrap(), target.relayout_cost(&array, &from, &to).unwrap())
    };
    let (rows, columns, near) = ("{1,0:T(8,128)}", "{0,1:T(8,128)}", "{1,0:T(8,128)S(1)}");
    assert_eq!(of("f32[1024,1024]", rows, rows), (RelayoutKind::Bitcast, 0));
    assert_eq!(of("f32[1024,1024]", rows, near).0, RelayoutKind::Prefetch);
    let (kind, lanes) = of("f32[1024,1024]", rows, columns);
    assert_eq!(kind, RelayoutKind::Lanes);
    let (kind, inside) = of("f32[1024,1024]", near, "{0,1:T(8,128)S(1)}");
    assert!(kind == RelayoutKind::Lanes && inside < lanes / 10, "{inside} {lanes}");
    let (kind, sublanes) = of("f32[16,64,128]", "{2,1,0:T(8,128)}", "{2,0,1:T(8,128)}");
    assert_eq!(kind, RelayoutKind::Sublanes);
    let (kind, tiles) = of("f32[16,4,8,128]", "{3,2,1,0:T(8,128)}", "{3,2,0,1:T(8,128)}");
    assert!(kind == RelayoutKind::Tiles && 0 < tiles && tiles < sublanes, "{tiles} {sublanes}");
    // A dimension of size 1 may be anywhere above the two that are tiled.
    assert_eq!(of("f32[1,16,128,128]", "{3,2,1,0:T(8,128)}", "{3,2,0,1:T(8,128)}"), (RelayoutKind::Bitcast, 0));
}

#[test]
fn wants_are_layouts_that_the_operation_can_have() {
    let target = Target::parse("tpu_v5e").unwrap();
    let [lhs, rhs, out] = ["bf16[8,128,256]", "bf16[8,256,512]", "bf16[8,128,512]"].map(array);
    let dot =
        Operation::Dot { lhs_batch: vec![0], rhs_batch: vec![0], lhs_contracting: vec![2], rhs_contracting: vec![1] };
    let wants = target.wants(&dot, &[&lhs, &rhs], &[&out]).unwrap();
    assert_eq!(wants.len(), 8);
    for want in &wants {
        for layout in want.operands.iter().chain(&want.results) {
            let layout = layout.as_ref().unwrap();
            assert_eq!(layout.minor_to_major[2], 0, "the batch is major: {layout}");
            assert_eq!(layout.to_string().split(':').nth(1), Some("T(8,128)(2,1)}"));
        }
    }
    let keys = array("f32[4,100]");
    let sort = Operation::Algorithm(Box::new(Algorithm::Sort { dim: 1 }));
    let wants = target.wants(&sort, &[&keys], &[&keys]).unwrap();
    assert_eq!(wants.len(), 1);
    assert_eq!(wants[0].operands[0].as_ref().unwrap().minor_to_major, [0, 1]);
    assert_eq!(target.wants(&Operation::Elementwise, &[&keys], &[&keys]), Ok(Vec::new()));
}

/// One order holds for all arrays of a sort, whatever their types and sizes.
#[test]
fn arrays_of_one_operation_have_one_order() {
    let target = Target::parse("tpu_v5e").unwrap();
    let sorted = |algorithm: Algorithm, operands: &[&Array], results: &[&Array]| {
        let wants = target.wants(&Operation::Algorithm(Box::new(algorithm)), operands, results).unwrap();
        let order = |layout: &Option<Layout>| layout.as_ref().unwrap().minor_to_major.clone();
        for want in &wants {
            let first = order(&want.operands[0]);
            assert!(want.operands.iter().chain(&want.results).all(|layout| order(layout) == first), "{want:?}");
        }
        wants.iter().map(|want| order(&want.operands[0])).collect::<Vec<_>>()
    };
    let (wide, narrow) = (array("f32[3,2]"), array("s8[3,2]"));
    assert_eq!(sorted(Algorithm::Sort { dim: 0 }, &[&wide, &narrow], &[&wide, &narrow]), [[1, 0]]);
    // The operand's lines fill the lanes, and the result's 16 elements do not.
    let (data, top) = (array("f32[200,1000]"), array("f32[200,16]"));
    assert_eq!(sorted(Algorithm::TopK { k: 16 }, &[&data], &[&top, &top]), [[0, 1], [1, 0]]);
}

#[test]
fn a_move_between_places_costs_what_its_links_carry() {
    let text = "axes: (2_A, 4_C), memories: (LM: 1 at C with 4096 bytes reading 4 writing 2), word: 32, unit: tick, \
        links: (A: 2, C: 8)";
    let target = Target::parse(text).unwrap();
    let cost = |from: &str, to: &str| {
        let [from, to] = [from, to].map(|text| Placement::parse(text).unwrap());
        target.placement_cost(&from, &to, 32).unwrap()
    };
    let rows = "((2_A, 4_C, 8:8), (8:1))";
    assert_eq!(cost(rows, rows), 0);
    // Inside each place: 64 elements of 4 bytes, 8 of which stay.
    assert_eq!(cost(rows, "((2_A, 4_C, 8:1), (8:8))"), 56 * 4 / 4 + 56 * 4 / 2);
    // To another C of the same A: three quarters of each C's 64 elements, over its link. A quarter stays in its place.
    let turned = cost(rows, "((2_A, 8:4, 4_C), (8:32))");
    assert!(turned > 48 * 4 / 8, "{turned}");
    // All elements of half of the places: each A sends half of 4 C of 64 elements to the other one.
    assert!(cost(rows, "((8:8, 2_A, 4_C), (8:1))") > 4 * 64 / 2 * 4 / 2);
}
