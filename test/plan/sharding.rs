//! Sharding over places: bytes against a slow count, and plans against layouts by hand.

use layout_plan::plan::sharding::{AxisCut, Home, IndexRange, Levels, LoopNest, ShardingPlanner, Spread, of_array};
use layout_plan::plan::{InstanceKind, LayoutPlan, PlannedLayout, Planner, Program, Unplanned};
use layout_plan::solver::{Options, check};
use std::collections::BTreeSet;
use tensor_layout::expr::Expr;
use tensor_layout::hlo::Module;
use tensor_layout::operations::{Array, Loops, Operation, WindowDim};
use tensor_layout::places::{Machine, Placement, TensorLayout};

fn planned(text: &str, machine: &str) -> LayoutPlan {
    let module = Module::parse(text).unwrap_or_else(|errors| panic!("{errors:?}"));
    let (graphs, facts, machine) = (module.graphs(), module.facts(), Machine::parse(machine).unwrap());
    let planner = ShardingPlanner::new(&graphs, module.entry, &facts, &machine).unwrap();
    let plan = planner.plan(&Options::default(), &mut |_| true).unwrap();
    check(planner.network(), &plan.solution.certificate).unwrap();
    plan
}

/// The bytes of the busiest node of each level: the loops' reads or writes of an array with this sharding.
fn moved(levels: &Levels, nest: &LoopNest, loops: &Spread, ranges: &[IndexRange], held: (&[i64], &Spread)) -> Vec<i64> {
    let read = levels.boxes(&nest.sizes, loops).of_array(ranges, held.0);
    levels.traffic(&read, &levels.boxes(held.0, held.1), 32).busiest
}

fn spread(text: &str, machine: &Machine) -> Spread {
    Spread::of(&text.parse().unwrap(), machine).unwrap()
}

/// The stencil of Himeno's benchmark, over 128 × 128 × 128: each element depends on all of its neighbours.
const STENCIL: &str = "HloModule stencil
add { a = f32[] parameter(0)
 b = f32[] parameter(1)
 ROOT c = f32[] add(a, b) }
ENTRY main {
  p = f32[128,128,128] parameter(0)
  zero = f32[] constant(0)
  ROOT q = f32[128,128,128] reduce-window(p, zero), window={size=3x3x3 pad=1_1x1_1x1_1}, to_apply=add
}";

/// The stencil's layout by hand.
const BY_HAND: &str = "((2_L2B:1, 16_MAB, 4:64), (2_L1B:4, 4_PE, 2_W, 8:1), (4_L2B:2, 4_L1B:1, 8:8))";

/// The bytes of each level for the plan of the stencil, and by hand.
fn stencil() -> [Vec<i64>; 2] {
    let machine = Machine::parse("mn_core_2").unwrap();
    let by_hand = spread(BY_HAND, &machine);
    let window =
        WindowDim { size: 3, stride: 1, low: 1, high: 1, window_dilation: 1, base_dilation: 1, reversed: false };
    let operation = Operation::ReduceWindow { window: vec![window; 3] };
    let array = Array::parse("f32[128,128,128]").unwrap();
    let nest =
        LoopNest::new(&InstanceKind::Operation(&operation), &[&array, &Array::parse("f32[]").unwrap()], &[&array]);
    let levels = Levels::new(&machine).unwrap();
    let moved = moved(&levels, &nest, &by_hand, &nest.operands[0], (&[128; 3], &by_hand));
    let plan = planned(STENCIL, "mn_core_2");
    assert_eq!(plan.cost, plan.bound);
    assert_eq!(plan.relayouts.len(), 1, "{:?}", plan.relayouts);
    [plan.levels, moved]
}

#[test]
fn a_stencil_moves_no_more_at_any_level_than_the_layout_by_hand() {
    let [own, by_hand] = stencil();
    // An L2B has 64 x 128 x 32, in the middle with one more row before or after, and one more plane on both sides.
    assert_eq!(by_hand[0], (65 * 128 * 34 - 64 * 128 * 32) * 4);
    // A PE has 4 x 16 x 8.
    assert_eq!(by_hand[3], (6 * 18 * 10 - 4 * 16 * 8) * 4);
    assert!(own.iter().zip(&by_hand).all(|(own, by_hand)| own <= by_hand), "{own:?} bytes, by hand {by_hand:?}");
}

/// A product `y[m,n] = x[m,k] * w[k,n]` of these sizes on a machine, with its loops m, n, k placed by hand.
struct ByHand {
    what: &'static str,
    machine: &'static str,
    /// m, k, n.
    sizes: [i64; 3],
    /// The array whose layout is by hand: x, w or y.
    array: usize,
    layout: &'static str,
}

const FOUR_PES: &str = "axes: (4_PE), memories: (LM: 1 at PE with 16384 bytes), word: 64, unit: cycle, links: (PE: 8)";

/// The layouts of the notation's description and of published programs, and one of square blocks. If a layout has
/// copies, places divide the loop that its array does not have.
const PRODUCTS: [ByHand; 11] = [
    ByHand {
        what: "square blocks of the result",
        machine: "mn_core_2",
        sizes: [1024, 512, 1024],
        array: 2,
        layout: "((4_L2B:2, 2_L1B:4, 4_MAB:4, 2_PE:2, 16:16), (2_L2B:1, 4_L1B:1, 4_MAB:1, 2_PE:1, 16:1))",
    },
    ByHand {
        what: "published, left operand",
        machine: "mn_core_2",
        sizes: [256, 16, 1024],
        array: 0,
        layout: "(256,16)/((8_L2B:1, 4:2, 8_L1B:1), (2:1, 4_PE:1, 2_W:1); B@[MAB])",
    },
    ByHand {
        what: "published, right operand",
        machine: "mn_core_2",
        sizes: [256, 16, 1024],
        array: 1,
        layout: "((16:1), (8_MAB:2, 8_L1B:1, 2_MAB:1, 4_PE:1, 2_W:1); B@[8_L2B:1])",
    },
    ByHand {
        what: "published, left operand",
        machine: "mn_core_2",
        sizes: [32, 16, 4096],
        array: 0,
        layout: "((32:2), (2:1, 4_PE:1, 2_W:1))",
    },
    ByHand {
        what: "over the board, left operand",
        machine: "mn_core",
        sizes: [1024, 512, 1024],
        array: 0,
        layout: "((16_L2B, 8_L1B, 8:8), (16_MAB, 8:1, 4_PE))",
    },
    ByHand {
        what: "over the board, result",
        machine: "mn_core",
        sizes: [1024, 1024, 512],
        array: 2,
        layout: "((16_L2B, 8_L1B, 8:8), (16_MAB, 8:1, 4_PE))",
    },
    ByHand { what: "rows", machine: FOUR_PES, sizes: [12, 8, 12], array: 0, layout: "((4_PE, 3:8), (8:1))" },
    ByHand { what: "columns", machine: FOUR_PES, sizes: [12, 8, 12], array: 0, layout: "((12:2), (4_PE, 2:1))" },
    ByHand { what: "cyclic rows", machine: FOUR_PES, sizes: [12, 8, 12], array: 0, layout: "((3:8, 4_PE), (8:1))" },
    ByHand {
        what: "blocks",
        machine: FOUR_PES,
        sizes: [12, 8, 12],
        array: 0,
        layout: "((2_PE:2, 6:4), (2_PE:1, 4:1))",
    },
    ByHand { what: "copies", machine: FOUR_PES, sizes: [12, 8, 12], array: 0, layout: "((12:8), (8:1); B@[PE])" },
];

impl ByHand {
    /// The bytes of each level for the plan, and by hand.
    fn moved(&self) -> [Vec<i64>; 2] {
        let (machine, [m, k, n]) = (Machine::parse(self.machine).unwrap(), self.sizes);
        let text = format!(
            "HloModule product\nENTRY main {{\n x = f32[{m},{k}] parameter(0)\n w = f32[{k},{n}] parameter(1)\n \
             ROOT y = f32[{m},{n}] dot(x, w), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}\n}}"
        );
        let plan = planned(&text, self.machine);
        assert_eq!(plan.cost, plan.bound);
        let levels = Levels::new(&machine).unwrap();
        let dot =
            Operation::Dot { lhs_batch: vec![], rhs_batch: vec![], lhs_contracting: vec![1], rhs_contracting: vec![0] };
        let sizes = [[m, k], [k, n], [m, n]];
        let arrays = sizes.map(|sizes| Array::parse(&format!("f32[{},{}]", sizes[0], sizes[1])).unwrap());
        let nest = LoopNest::new(&InstanceKind::Operation(&dot), &[&arrays[0], &arrays[1]], &[&arrays[2]]);
        let all: Vec<&Vec<IndexRange>> = nest.operands.iter().chain(&nest.results).collect();
        let loop_of = |dim: usize| all[self.array][dim].of_loop();
        let other = (0..3).find(|of| (0..2).all(|dim| loop_of(dim) != Some(*of)));
        let mut loops = spread(self.layout, &machine).renamed(&loop_of);
        loops.axes.iter_mut().flatten().filter(|cut| cut.of.is_none()).for_each(|cut| cut.of = other);
        let mut by_hand = vec![0; levels.count()];
        for (ranges, sizes) in all.into_iter().zip(&sizes) {
            let held = of_array(&loops, ranges).without_copies(sizes);
            let moved = moved(&levels, &nest, &loops, ranges, (sizes, &held));
            by_hand.iter_mut().zip(moved).for_each(|(sum, bytes)| *sum += bytes);
        }
        [plan.levels, by_hand]
    }
}

#[test]
fn products_move_no_more_at_any_level_than_layouts_by_hand() {
    crate::long_test!();
    for product in &PRODUCTS {
        let [own, by_hand] = product.moved();
        let no_more = own.iter().zip(&by_hand).all(|(own, by_hand)| own <= by_hand);
        assert!(no_more, "{} {:?}: {own:?} bytes, by hand {by_hand:?}", product.what, product.sizes);
    }
}

/// Scores, softmax and values of 64 heads, as many as there are L1Bs: each head stays in one. The bytes of each level
/// for the plan, and by hand: queries over MAB and PE, so that each MAB receives the other keys and values of its head,
/// each PE those of its MAB.
fn attention() -> [Vec<i64>; 2] {
    let text = "HloModule attention
add { a = f32[] parameter(0)
 b = f32[] parameter(1)
 ROOT c = f32[] add(a, b) }
ENTRY main {
  q = f32[64,128,32] parameter(0)
  k = f32[64,128,32] parameter(1)
  v = f32[64,128,32] parameter(2)
  s = f32[64,128,128] dot(q, k), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={2}
  e = f32[64,128,128] exponential(s)
  zero = f32[] constant(0)
  t = f32[64,128] reduce(e, zero), dimensions={2}, to_apply=add
  u = f32[64,128,128] broadcast(t), dimensions={0,1}
  p = f32[64,128,128] divide(e, u)
  ROOT o = f32[64,128,32] dot(p, v), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={1}
}";
    let plan = planned(text, "mn_core_2");
    assert_eq!(plan.cost, plan.bound);
    [plan.levels, vec![0, 0, 2 * (128 - 8) * 32 * 4, 2 * (128 - 2) * 32 * 4]]
}

#[test]
fn attention_keeps_heads_where_they_are() {
    crate::long_test!();
    let [own, by_hand] = attention();
    assert!(own.iter().zip(&by_hand).all(|(own, by_hand)| own <= by_hand), "{own:?} bytes, by hand {by_hand:?}");
}

/// Layouts of the notation's description that are no sharding: every second L2B, and pieces over time. Streaming
/// through them moves nothing, and neither does the plan.
#[test]
fn what_streams_moves_nothing_whatever_its_sizes() {
    for layout in
        ["(256,16)/((4_L2B:2, 64:8), (8:1, 2_W:1))", "((), (8:96, 8_L1B:1, 2_Time:25, 2:48, 16:1), (25_Time:1, 4_PE))"]
    {
        let sizes = layout.parse::<TensorLayout>().unwrap().sizes().unwrap();
        let shape = format!("f32{sizes:?}").replace(' ', "");
        let plan = planned(
            &format!("HloModule stream\nENTRY main {{\n x = {shape} parameter(0)\n ROOT y = {shape} negate(x)\n}}"),
            "mn_core_2",
        );
        assert_eq!((plan.cost, &plan.levels[..]), (0, &[0, 0, 0, 0][..]), "{layout}");
    }
}

/// `BLESS=1` writes the table.
#[test]
fn the_table_beside_layouts_by_hand_is_current() {
    crate::long_test!();
    let mut text = String::from(
        "# Plans beside layouts by hand\n\nMade by `BLESS=1 cargo test -p layout-plan --test plan`: the bytes that \
         the busiest place of each\nlevel gets or gives, all operations together, by the plan and with the layout that is \
         made by hand for one of\nthe arrays; the other arrays then as is best for it. Places with copies share out the \
         loop that the array\ndoes not have, and none holds an element that another holds.\n\n\
         | program | by hand | levels | plan | by hand |\n|---|---|---|---|---|\n",
    );
    let mut row = |what: String, layout: &str, machine: &str, [own, by_hand]: [Vec<i64>; 2]| {
        let machine = Machine::parse(machine).unwrap();
        let names: Vec<&str> = machine.axes.iter().map(|axis| axis.name.as_str()).collect();
        let list = |all: &[i64]| all.iter().map(i64::to_string).collect::<Vec<_>>().join(" ");
        text += &format!("| {what} | {layout} | {} | {} | {} |\n", names.join(" "), list(&own), list(&by_hand));
    };
    for product in &PRODUCTS {
        let [m, k, n] = product.sizes;
        let what = format!("product {m} × {k} × {n}, {}", product.what);
        row(what, &format!("`{}`", product.layout), product.machine, product.moved());
    }
    row("attention, 64 heads of 128 × 32".to_string(), "queries over MAB and PE", "mn_core_2", attention());
    row("stencil of 27 points, 128 × 128 × 128".to_string(), &format!("`{BY_HAND}`"), "mn_core_2", stencil());
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../benches/places.md");
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(path, &text).unwrap();
    }
    assert_eq!(std::fs::read_to_string(path).unwrap_or_default(), text, "BLESS=1 writes it");
}

#[test]
fn what_transposes_and_elementwise_operations_leave_in_place_costs_nothing() {
    let text = "HloModule chain
ENTRY main {
  x = f32[100,64,7] parameter(0)
  y = f32[64,7,100] parameter(1)
  t = f32[64,7,100] transpose(x), dimensions={1,2,0}
  a = f32[64,7,100] add(t, y)
  r = f32[448,100] reshape(a)
  ROOT n = f32[448,100] negate(r)
}";
    let plan = planned(text, "mn_core_2");
    assert_eq!((plan.cost, plan.relayouts.len()), (0, 0), "{:?}", plan.relayouts);
}

/// A window in the form of loops, as in MLIR's structured operations, reads the same as an HLO window.
#[test]
fn windows_are_found_in_loops() {
    let array = |text: &str| Array::parse(text).unwrap();
    let window =
        WindowDim { size: 3, stride: 2, low: 0, high: 0, window_dilation: 2, base_dilation: 1, reversed: false };
    let (data, result) = (array("f32[13]"), array("f32[5]"));
    let by_window = LoopNest::new(
        &InstanceKind::Operation(&Operation::ReduceWindow { window: vec![window] }),
        &[&data, &array("f32[]")],
        &[&result],
    );
    let index = |e: Expr| {
        let loops = Loops {
            sizes: vec![5, 3],
            offsets: Vec::new(),
            operands: vec![Some(vec![e])],
            results: vec![vec![Expr::Var(0)]],
        };
        LoopNest::new(&InstanceKind::Operation(&Operation::Loops(Box::new(loops))), &[&data], &[&result])
    };
    let by_loops = index(Expr::Var(0).times(2) + Expr::Var(1).times(2));
    assert_eq!(by_loops.operands, by_window.operands[..1]);
    assert_eq!((by_loops.results, by_loops.cuttable), (by_window.results, vec![true, false]));
    // Any other index expression reads the whole dimension.
    for e in
        [Expr::Var(0).modulo(4), Expr::Var(0).times(-1) + Expr::Const(4), Expr::Var(1), Expr::Var(0).times(i64::MAX)]
    {
        let reads = index(e.clone() + Expr::Var(1).times(i64::MAX)).operands;
        assert_eq!(reads, [[IndexRange::Whole]], "{e:?}");
    }
}

/// An array outside of the places is brought to them, and does not decide where loops run.
#[test]
fn what_is_outside_counts_and_what_is_given_stays() {
    let module =
        Module::parse("HloModule m\nENTRY main {\n x = f32[8,8] parameter(0)\n ROOT y = f32[8,8] negate(x)\n}")
            .unwrap();
    let (graphs, facts) = (module.graphs(), module.facts());
    let machine = Machine::parse("axes: (4_PE), memories: (), word: 32").unwrap();
    let program = Program::new(&graphs, module.entry, &facts).unwrap();
    let plan = |home: &dyn Fn(usize) -> Home| {
        let planner = ShardingPlanner::of_program(&program, &machine, &|(_, node, _)| home(node)).unwrap();
        planner.plan(&Options::default(), &mut |_| true).unwrap()
    };
    let outside = plan(&|node| if node == 0 { Home::Outside } else { Home::Free });
    assert_eq!((&outside.levels[..], &outside.arguments[0]), (&[64][..], &PlannedLayout::Beside));
    let columns = spread("((8:2), (4_PE, 2:1))", &machine);
    let given = plan(&|node| if node == 0 { Home::Given(columns.clone()) } else { Home::Free });
    assert_eq!((given.cost, given.results[0].to_string()), (0, "((8:2), (4_PE, 2:1))".to_string()));
}

/// The number of elements that a node reads and does not hold, one by one.
fn counted(machine: &Machine, loops: &Spread, offset: i64, sizes: &[i64], held: &Spread) -> Vec<i64> {
    let mut busiest = Vec::new();
    let extents: Vec<i64> = machine.axes.iter().map(|axis| axis.extent).collect();
    for level in 0..extents.len() {
        let nodes: i64 = extents[..=level].iter().product();
        let below: i64 = extents[level + 1..].iter().product();
        let most = (0..nodes).map(|node| {
            let (mut reads, mut holds) = (BTreeSet::new(), BTreeSet::new());
            for place in node * below..(node + 1) * below {
                for at in elements(machine, place, sizes, loops) {
                    let read: Vec<i64> = at.iter().map(|i| i + offset).collect();
                    if read.iter().zip(sizes).all(|(i, size)| (0..*size).contains(i)) {
                        reads.insert(read);
                    }
                }
                holds.extend(elements(machine, place, sizes, held));
            }
            reads.difference(&holds).count() as i64
        });
        busiest.push(most.max().unwrap());
    }
    busiest
}

/// The elements of a place, by the sharding's TensorLayout.
fn elements(machine: &Machine, place: i64, sizes: &[i64], spread: &Spread) -> Vec<Vec<i64>> {
    let placement = Placement::new(&spread.layout(sizes, machine).unwrap(), Some(sizes)).unwrap();
    let all: i64 = sizes.iter().product();
    let index = |mut at: i64| {
        let mut index = vec![0; sizes.len()];
        for dim in (0..sizes.len()).rev() {
            index[dim] = at % sizes[dim];
            at /= sizes[dim];
        }
        index
    };
    let here = |index: &Vec<i64>| {
        let at = placement.place(index).unwrap();
        let along = |axis: &str| placement.axes().iter().position(|own| own == axis).map_or(0, |k| at[k]);
        machine.axes.iter().fold(0, |number, axis| number * axis.extent + along(&axis.name)) == place
    };
    (0..all).map(index).filter(here).collect()
}

#[test]
fn traffic_is_what_a_count_of_elements_says() {
    let mut rng = fastrand::Rng::with_seed(8);
    let machine = Machine::parse("axes: (2_C, 4_D), memories: (), word: 32").unwrap();
    let levels = Levels::new(&machine).unwrap();
    for _ in 0..2000 {
        let sizes = [rng.i64(1..9), rng.i64(1..9)];
        let mut spread = || {
            let mut cuts = |pieces: i64| {
                let first = rng.usize(..2);
                let own = *rng.choice(&[1, 2, pieces]).unwrap();
                let mut cuts = vec![AxisCut::of(first, own), AxisCut::of(1 - first, pieces / own)];
                cuts.iter_mut().for_each(|cut| cut.nesting = rng.usize(..3));
                cuts
            };
            let mut spread = Spread { axes: vec![cuts(2), cuts(4)], local: cuts(2) };
            spread.settle();
            spread
        };
        let (loops, held) = (spread(), spread());
        let offset = rng.i64(-2..3);
        let operation = Operation::Pad { low: vec![-offset; 2], high: vec![offset; 2], interior: vec![0; 2] };
        let array = Array::parse(&format!("f32[{},{}]", sizes[0], sizes[1])).unwrap();
        let nest =
            LoopNest::new(&InstanceKind::Operation(&operation), &[&array, &Array::parse("f32[]").unwrap()], &[&array]);
        let found = moved(&levels, &nest, &loops, &nest.operands[0], (&sizes, &held));
        let found: Vec<i64> = found.iter().map(|bytes| bytes / 4).collect();
        assert_eq!(found, counted(&machine, &loops, offset, &sizes, &held), "{sizes:?} {loops:?} {held:?} {offset}");
    }
}

#[test]
fn layouts_are_those_of_the_notation() {
    let machine = Machine::parse("mn_core_2").unwrap();
    let text = "((2_L2B:1, 16_MAB, 4:128), (2_L1B:4, 4_PE, 16:8), (4_L2B:2, 4_L1B:1, 8:1))";
    let own = spread(text, &machine);
    assert_eq!(own.layout(&[128; 3], &machine).unwrap().to_string(), text);
    assert_eq!(spread(BY_HAND, &machine), own);
    for text in [
        "((16:1), (8_MAB:2, 8_L1B:1, 2_MAB:1, 4_PE, 2:16); B@[8_L2B:1])",
        "((8_L2B, 4:2, 8_L1B), (2:1, 4_PE))",
        "((2_L2B:2, 4_PE, 3:1); B@[2_L2B:1])",
    ] {
        let (layout, sizes) =
            (text.parse::<TensorLayout>().unwrap(), text.parse::<TensorLayout>().unwrap().sizes().unwrap());
        let own = spread(text, &machine);
        let again = own.layout(&sizes, &machine).unwrap();
        assert_eq!(spread(&again.to_string(), &machine), own, "{text} {again}");
        assert!(again.axes().iter().all(|axis| layout.axes().contains(axis) || axis == "L2B"), "{text} {again}");
    }
    let error = |text: &str| Spread::of(&text.parse().unwrap(), &machine).unwrap_err().to_string();
    assert!(error("((1000:8, 4_PE, 2:1))").contains("at most 64 pieces in a place, found 1000"));
    assert!(error("((2_PE:2, 6:1))").contains("without gaps"));
    assert!(error("((2_Time, 6:1))").contains("over time"));
}

#[test]
fn costs_that_are_too_large_are_errors_at_their_operation() {
    let text = "HloModule m
body { p = (s32[], f32[800,1280]) parameter(0)
 i = s32[] get-tuple-element(p), index=0
 x = f32[800,1280] get-tuple-element(p), index=1
 one = s32[] constant(1)
 j = s32[] add(i, one)
 y = f32[800,1280] custom-call(x), custom_call_target=\"f\"
 ROOT t = (s32[], f32[800,1280]) tuple(j, y) }
condition { p = (s32[], f32[800,1280]) parameter(0)
 ROOT c = pred[] constant(true) }
ENTRY main {
 x = f32[800,1280] parameter(0)
 zero = s32[] constant(0)
 t = (s32[], f32[800,1280]) tuple(zero, x)
 w = (s32[], f32[800,1280]) while(t), condition=condition, body=body, \
backend_config={\"known_trip_count\":{\"n\":\"9223372036854775807\"}}
 ROOT y = f32[800,1280] get-tuple-element(w), index=1
}";
    let module = Module::parse(text).unwrap_or_else(|errors| panic!("{errors:?}"));
    let (graphs, facts, machine) = (module.graphs(), module.facts(), Machine::parse("mn_core_2").unwrap());
    let Err(Unplanned::Wrong(Some((graph, node)), error)) =
        ShardingPlanner::new(&graphs, module.entry, &facts, &machine)
    else {
        panic!("the costs do not fit");
    };
    // The loop's array receives the body's result in each iteration.
    assert_eq!(module.computations[graph].instructions[node].name, "w");
    assert!(error.message.starts_with("with this the largest values of all add up to more than 2^58"), "{error}");
}

/// Prices of 2^60 rows saturate: a product is planned or refused, never a panic.
#[test]
fn a_product_of_2_to_the_60_rows_is_planned_or_refused() {
    let rows = 1_i64 << 60;
    let text = format!(
        "HloModule m\nENTRY e {{\n a = f32[{rows},3] parameter(0)\n b = f32[3,5] parameter(1)\n \
         ROOT c = f32[{rows},5] dot(a, b), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}\n}}\n"
    );
    let module = Module::parse(&text).unwrap();
    let (graphs, facts) = (module.graphs(), module.facts());
    for machine in ["mn_core", "mn_core_2"].map(|machine| Machine::parse(machine).unwrap()) {
        let mut rounds = 0;
        let found = ShardingPlanner::new(&graphs, module.entry, &facts, &machine).and_then(|planner| {
            planner.plan(&Options::default(), &mut |_| {
                rounds += 1;
                rounds < 100
            })
        });
        assert!(matches!(&found, Ok(_) | Err(Unplanned::Undecided(_) | Unplanned::Wrong(..))), "{found:?}");
    }
}

#[test]
fn machines_without_places_or_with_too_many_are_errors() {
    let module = Module::parse(STENCIL).unwrap();
    let (graphs, facts) = (module.graphs(), module.facts());
    for (machine, message) in [
        ("cpu", "the machine must have axes, found none"),
        ("axes: (100000_PE), memories: (), word: 32", "the machine must have at most 65536 places, found more"),
    ] {
        let machine = Machine::parse(machine).unwrap();
        let found = ShardingPlanner::new(&graphs, module.entry, &facts, &machine).err();
        assert!(matches!(&found, Some(Unplanned::Wrong(None, error)) if error.message == message), "{found:?}");
    }
}
