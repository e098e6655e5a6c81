//! Plans over devices: closed forms of data, tensor and mixed parallelism, and errors.

use crate::sample::Sample;
use layout_plan::plan::sharding::{AxisCut, Home, Levels, ShardingPlanner, Spread};
use layout_plan::plan::{LayoutPlan, PlannedLayout, Planner, Program, SpaceLimit, Unplanned};
use layout_plan::solver::Options;
use std::fmt::Write;
use tensor_layout::hlo::Module;
use tensor_layout::places::CollectiveKind::{AllGather, AllReduce, AllToAll, Permute, ReduceScatter, Slice};
use tensor_layout::places::{CollectiveKind, Machine, TensorLayout};

fn try_planned(text: &str, machine: &str) -> Result<LayoutPlan, Unplanned> {
    let module = Module::parse(text).unwrap_or_else(|errors| panic!("{errors:?}\n{text}"));
    let (graphs, facts, machine) = (module.graphs(), module.facts(), Machine::parse(machine).unwrap());
    ShardingPlanner::new(&graphs, module.entry, &facts, &machine)?
        .limited(&[])?
        .plan(&Options::default(), &mut |_| true)
}

fn planned(text: &str, machine: &str) -> LayoutPlan {
    let plan = try_planned(text, machine).unwrap_or_else(|why| panic!("{why}"));
    assert_eq!(plan.cost, plan.bound, "{text}");
    plan
}

/// The kinds of a plan's collectives, without slices, with the bytes that a device receives, in order.
fn collectives(plan: &LayoutPlan) -> Vec<(CollectiveKind, i64)> {
    let all = plan.relayouts.iter().flat_map(|moved| &moved.collectives);
    let mut all: Vec<(CollectiveKind, i64)> =
        all.filter(|own| own.kind != Slice).map(|own| (own.kind, own.bytes)).collect();
    all.sort_by_key(|(kind, bytes)| (kind.name(), *bytes));
    all
}

/// A training step of layers without biases; `features` are the sizes before and after each layer.
fn training(batch: i64, features: &[i64]) -> String {
    let layers = features.len() - 1;
    let mut main = String::new();
    let last = features[layers];
    let _ = writeln!(main, "  h0 = f32[{batch},{}] parameter(0)", features[0]);
    let _ = writeln!(main, "  t = f32[{batch},{last}] parameter(1)");
    for (k, pair) in features.windows(2).enumerate() {
        let (m, n) = (pair[0], pair[1]);
        let _ = writeln!(main, "  w{k} = f32[{m},{n}] parameter({})", k + 2);
    }
    for (k, pair) in features.windows(2).enumerate() {
        let n = pair[1];
        let _ = writeln!(
            main,
            "  p{k} = f32[{batch},{n}] dot(h{k}, w{k}), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}"
        );
        let _ = writeln!(main, "  h{} = f32[{batch},{n}] tanh(p{k})", k + 1);
    }
    let _ = writeln!(main, "  d{layers} = f32[{batch},{last}] subtract(h{layers}, t)");
    let mut results = Vec::new();
    for (k, pair) in features.windows(2).enumerate().rev() {
        let (m, n) = (pair[0], pair[1]);
        let _ = writeln!(main, "  s{k} = f32[{batch},{n}] multiply(h{}, h{})", k + 1, k + 1);
        let _ = writeln!(main, "  e{k} = f32[{batch},{n}] multiply(d{}, s{k})", k + 1);
        let _ = writeln!(
            main,
            "  g{k} = f32[{m},{n}] dot(h{k}, e{k}), lhs_contracting_dims={{0}}, rhs_contracting_dims={{0}}"
        );
        let _ = writeln!(main, "  v{k} = f32[{m},{n}] subtract(w{k}, g{k})");
        if k > 0 {
            let _ = writeln!(
                main,
                "  d{k} = f32[{batch},{m}] dot(e{k}, w{k}), lhs_contracting_dims={{1}}, rhs_contracting_dims={{1}}"
            );
        }
        results.push((k, format!("f32[{m},{n}]")));
    }
    results.reverse();
    let shapes = results.iter().map(|(_, shape)| shape.clone()).collect::<Vec<_>>().join(", ");
    let names = results.iter().map(|(k, _)| format!("v{k}")).collect::<Vec<_>>().join(", ");
    let _ = writeln!(main, "  ROOT step = ({shapes}) tuple({names})");
    let carried = (0..layers).map(|k| format!("{{{k}}}: ({}, {{}}, may-alias)", k + 2)).collect::<Vec<_>>().join(", ");
    format!("HloModule training, input_output_alias={{ {carried} }}\n\nENTRY main {{\n{main}}}\n")
}

/// A switch: one byte and `work` operations in a unit of cost; a collective starts at the cost of 100 bytes.
fn switch(devices: i64, work: i64, memory: i64) -> String {
    format!(
        "axes: ({devices}_Device), memories: (HBM: 0 at Device with {memory} bytes), word: 32, unit: cycle, \
         links: (Device: 1), work: (Device: {work}), costs: (collective: 100)"
    )
}

#[test]
fn data_parallelism_is_one_all_reduce_for_each_weight() {
    for devices in [2, 4, 8, 16, 32, 64] {
        for features in [&[32, 64, 32][..], &[32, 64, 64, 32]] {
            let plan = planned(&training(65536, features), &switch(devices, 1 << 6, 1 << 40));
            let mut wanted: Vec<(CollectiveKind, i64)> =
                features.windows(2).map(|pair| (AllReduce, all_reduced(pair[0] * pair[1] * 4, devices))).collect();
            wanted.sort_by_key(|(_, bytes)| *bytes);
            assert_eq!(collectives(&plan), wanted, "{devices} devices, {features:?}");
            assert_eq!(plan.levels[0], wanted.iter().map(|(_, bytes)| bytes).sum::<i64>());
        }
    }
}

/// The bytes that each device receives in an all-reduce of `bytes` over `devices`.
fn all_reduced(bytes: i64, devices: i64) -> i64 {
    2 * (devices - 1) * bytes / devices
}

#[test]
fn tensor_parallelism_is_one_all_reduce_of_activations_for_each_pair_of_layers() {
    crate::long_test!();
    for devices in [2, 4, 8, 16, 32, 64] {
        for pairs in [1, 2, 3] {
            // The first weight of a pair is cut by columns, the second by rows: the partial sums of its products are
            // reduced. In the backward pass the first weight has them, but no result needs the gradient of the input.
            let features: Vec<i64> = [64, 65536].into_iter().cycle().take(2 * pairs + 1).collect();
            let plan = planned(&training(64, &features), &switch(devices, 1 << 10, 1 << 40));
            let wanted = vec![(AllReduce, all_reduced(64 * 64 * 4, devices)); 2 * pairs - 1];
            assert_eq!(collectives(&plan), wanted, "{devices} devices, {pairs} pairs");
        }
    }
}

#[test]
fn mixed_parallelism_is_the_best_of_all_meshes() {
    for (devices, [a, b]) in Sample::from_env().select_long([(4i64, [2i64, 2]), (16, [4, 4]), (64, [8, 8])]) {
        let (batch, narrow, wide) = (16384, 64, 8192);
        let bytes = |a: i64, b: i64| all_reduced(batch / a * narrow * 4, b) + 2 * all_reduced(narrow * wide / b * 4, a);
        let meshes = (0..=devices.ilog2()).map(|k| [1 << k, devices >> k]);
        assert_eq!(meshes.min_by_key(|[a, b]| bytes(*a, *b)), Some([a, b]));
        let plan = planned(&training(batch, &[narrow, wide, narrow]), &switch(devices, 1 << 10, 1 << 40));
        assert_eq!(plan.levels[0], bytes(a, b), "{devices} devices: {:?}", collectives(&plan));
    }
}

/// Results aliased with weights have their sharding: else weights would be replicated before and cut after a step.
#[test]
fn what_a_step_makes_of_its_weights_is_sharded_as_they_are() {
    let text = training(65536, &[32, 64, 32]);
    let (head, main) = text.split_once('\n').unwrap();
    assert!(head.contains("input_output_alias"));
    let [tied, apart] = [text.clone(), format!("HloModule training\n{main}")].map(|text| {
        let plan = planned(&text, &switch(4, 1 << 6, 1 << 40));
        (plan.cost, plan.arguments[2..] == plan.results[..], plan.levels[0])
    });
    assert_eq!((tied.1, apart.1), (true, false));
    // Without aliases, sums are only scattered.
    assert_eq!((tied.2, apart.2), (2 * all_reduced(32 * 64 * 4, 4), all_reduced(32 * 64 * 4, 4)));
    assert!(apart.0 < tied.0);
}

#[test]
fn the_memory_of_each_device_is_a_limit() {
    crate::long_test!();
    // Weights of 2 MiB each, and few rows: if they fit, they are replicated.
    let text = training(1 << 16, &[512, 1024, 512]);
    let free = planned(&text, &switch(8, 1 << 6, 1 << 40));
    let mut last = free.cost;
    let whole = free.taken[0].peak;
    let mut fits = true;
    for part in [1000, 996, 993, 991, 988, 985, 980, 970, 950, 900] {
        let memory = whole * part / 1000;
        let machine = switch(8, 1 << 6, memory);
        match try_planned(&text, &machine) {
            Ok(plan) => {
                assert!(fits && plan.taken[0].peak <= memory, "{part}: {:?}", plan.taken);
                assert!(plan.bound <= plan.cost && plan.cost >= last, "{part}");
                last = plan.cost;
            }
            Err(Unplanned::Short { least, capacity, arrays, .. }) => {
                assert!(least > capacity && !arrays.is_empty(), "{part}: {least} {capacity} {arrays:?}");
            }
            Err(why) => {
                let why = why.to_string();
                assert!(
                    why.starts_with("not decided") && why.contains(&format!("into {memory} bytes of `HBM`")),
                    "{part}: {why}"
                );
                fits = false;
            }
        }
    }
    assert!(last > free.cost, "no capacity mattered");
}

#[test]
fn errors_say_what_is_missing() {
    let text = training(64, &[32, 64, 32]);
    let said = |machine: &str| try_planned(&text, machine).err().map(|why| why.to_string()).unwrap_or_default();
    for (machine, wanted) in [
        (
            switch(7, 64, 1 << 30),
            "the 7 devices must divide a dimension of the program, whole or by a factor; its sizes are 32, 64",
        ),
        (switch(70000, 64, 1 << 30), "the machine must have at most 65536 places, found more"),
        (
            switch(4, 64, 100),
            "an array of 8192 bytes takes at least 2048 bytes of each of 4 devices, 1948 more than the 100 of HBM",
        ),
    ] {
        let found = said(&machine);
        assert!(found.contains(wanted), "{machine}: {found}");
    }
    // Of 7 * 2 devices, only 2 divide the sizes.
    assert!(try_planned(&text, &switch(14, 64, 1 << 30)).is_ok());
    let Err(Unplanned::Short { least, capacity, arrays, .. }) = try_planned(&text, &switch(4, 64, 7000)) else {
        panic!("there is a plan in 7000 bytes");
    };
    assert!(least > capacity && capacity == 7000);
    assert!(arrays.iter().any(|(_, bytes)| *bytes == 64 * 32 * 4 / 4), "{arrays:?}");
}

/// The plan of `y = negate(x)` with these shardings of `x` and `y`.
fn resharded(sizes: &[i64], from: &Spread, to: &Spread, machine: &Machine) -> LayoutPlan {
    let list = sizes.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
    let text =
        format!("HloModule m\nENTRY main {{\n x = f32[{list}] parameter(0)\n ROOT y = f32[{list}] negate(x)\n}}");
    given(&text, machine, &|node| Some(if node == 0 { from.clone() } else { to.clone() }))
}

/// The plan of a program with given shardings of its values.
fn given(text: &str, machine: &Machine, spread: &dyn Fn(usize) -> Option<Spread>) -> LayoutPlan {
    let module = Module::parse(text).unwrap();
    let (graphs, facts) = (module.graphs(), module.facts());
    let program = Program::new(&graphs, module.entry, &facts).unwrap();
    let home = |(_, node, _): (usize, usize, usize)| spread(node).map_or(Home::Free, Home::Given);
    ShardingPlanner::of_program(&program, machine, &home).unwrap().plan(&Options::default(), &mut |_| true).unwrap()
}

/// The number of times that an argument's copies double; a plan costs a unit more for each.
fn doublings(argument: &Spread) -> i64 {
    argument.axes[0].iter().filter(|cut| cut.of.is_none()).map(|cut| i64::from(cut.pieces.ilog2())).sum()
}

/// Cuts of an array over devices; `None` are copies.
fn cut(cuts: &[(Option<usize>, i64)]) -> Spread {
    let mut spread = Spread::default();
    spread.axes.push(cuts.iter().map(|(of, n)| of.map_or(AxisCut::copies(*n), |of| AxisCut::of(of, *n))).collect());
    spread.settle();
    spread
}

/// The cost of each collective along parts of rings and lines, by closed forms.
#[test]
fn links_of_a_torus_are_used_as_the_closed_forms_say() {
    let text = |of: &str, joins: &str| {
        format!("axes: ({of}_Device), memories: (), word: 32, unit: cycle, links: (Device: 1 {joins})")
    };
    let machine = |of: &str, joins: &str| Machine::parse(&text(of, joins)).unwrap();
    // 16 * 16 elements of 16 bytes, so 4096 bytes.
    let sizes = [16, 64];
    let all = 4096;
    let copies = cut(&[(None, 16)]);
    let rows = cut(&[(Some(0), 16)]);
    let columns = cut(&[(Some(1), 16)]);
    let cost = |from: &Spread, to: &Spread, machine: &Machine| {
        let plan = resharded(&sizes, from, to, machine);
        (collectives(&plan).iter().map(|(kind, _)| *kind).collect::<Vec<_>>(), plan.cost - doublings(from))
    };
    let [switch, line, ring] = [("16", ""), ("16", "grid"), ("16", "torus")].map(|(of, joins)| machine(of, joins));
    let gathered = all / 16 * 15;
    assert_eq!(cost(&rows, &copies, &switch), (vec![AllGather], gathered));
    assert_eq!(cost(&rows, &copies, &line), (vec![AllGather], gathered));
    assert_eq!(cost(&rows, &copies, &ring), (vec![AllGather], gathered / 2));
    // A device has 256 bytes. In a ring of 16 a byte crosses 4 links, of which each device has 2; the middle of the
    // line carries 8 * 8 pieces of 16 bytes each way.
    assert_eq!(cost(&rows, &columns, &switch), (vec![AllToAll], 256 / 16 * 15));
    assert_eq!(cost(&rows, &columns, &ring), (vec![AllToAll], 256 * 4 / 2));
    assert_eq!(cost(&rows, &columns, &line), (vec![AllToAll], 8 * 8 * 16));
    // Slices cost nothing.
    assert_eq!(cost(&copies, &columns, &ring), (vec![], 0));
    // Two rings at once; of one of them, both of its links.
    let square = machine("4x4", "torus");
    assert_eq!(cost(&rows, &copies, &square), (vec![AllGather], gathered / 4));
    let blocks = cut(&[(Some(0), 4), (Some(1), 4)]);
    let [outer, inner] = [[(Some(0), 4), (None, 4)], [(None, 4), (Some(1), 4)]].map(|cuts| cut(&cuts));
    for half in [&outer, &inner] {
        assert_eq!(cost(&blocks, half, &square), (vec![AllGather], all / 16 * 3 / 2));
    }
    // Groups of every second device of a ring of 16: 8 devices; two such groups share each link. Neighbours are a line.
    let strided = [cut(&[(Some(0), 8), (Some(1), 2)]), cut(&[(None, 8), (Some(1), 2)])];
    assert_eq!(cost(&strided[0], &strided[1], &ring), (vec![AllGather], all / 2 / 8 * 7 * 2 / 2));
    let pairs = [cut(&[(Some(1), 8), (Some(0), 2)]), cut(&[(Some(1), 8), (None, 2)])];
    assert_eq!(cost(&pairs[0], &pairs[1], &ring), (vec![AllGather], all / 8 / 2));
    // Devices with copies may slice first, so that the whole ring gathers.
    assert_eq!(cost(&cut(&[(Some(0), 8), (None, 2)]), &copies, &ring), (vec![AllGather], gathered / 2));
}

/// For any homes, a device receives at least what it needs and does not hold, and at most all that it does not hold.
#[test]
fn chains_are_between_what_is_missing_and_all_of_it() {
    let machine = "axes: (8_Device), memories: (), word: 32, unit: cycle, links: (Device: 1), work: (Device: 1000)";
    let machine = Machine::parse(machine).unwrap();
    let levels = Levels::new(&machine).unwrap();
    let sizes = [8, 16];
    let whole = 8 * 16 * 4;
    let mut all = Vec::new();
    for mesh in [vec![8], vec![4, 2], vec![2, 4], vec![2, 2, 2]] {
        for number in 0..3usize.pow(mesh.len() as u32) {
            let of = |k: usize| [None, Some(0), Some(1)][number / 3usize.pow(k as u32) % 3];
            let cuts: Vec<_> = mesh.iter().enumerate().map(|(k, n)| (of(k), *n)).collect();
            let spread = cut(&cuts);
            if !all.contains(&spread) {
                all.push(spread);
            }
        }
    }
    assert!(all.len() > 20, "{}", all.len());
    let mut kinds = std::collections::BTreeSet::new();
    for from in &all {
        for to in &all {
            let plan = resharded(&sizes, from, to, &machine);
            let [held, wanted] = [from, to].map(|spread| levels.boxes(&sizes, spread));
            let least = levels.traffic(&wanted, &held, 32).busiest[0];
            let pieces: i64 = (0..2).map(|dim| from.pieces(dim)).product();
            let most = whole - whole / pieces;
            let found = collectives(&plan);
            let got = plan.levels[0];
            assert!(least <= got && got <= most, "{from:?} -> {to:?}: {least} <= {got} <= {most}, {found:?}");
            assert_eq!(plan.cost - plan.work - doublings(from), got);
            kinds.extend(found.iter().map(|(kind, _)| kind.name()));
        }
    }
    assert_eq!(kinds.into_iter().collect::<Vec<_>>(), [AllGather, AllToAll, Permute].map(CollectiveKind::name));
}

/// Sums over all devices or over half of them, with results replicated, cut, or cut along another dimension.
#[test]
fn sums_are_reduced_to_where_they_are_held() {
    let machine = Machine::parse("axes: (8_Device), memories: (), word: 32, unit: cycle, links: (Device: 1)").unwrap();
    let text = "HloModule m
ENTRY main {
  x = f32[16,64] parameter(0)
  w = f32[64,32] parameter(1)
  ROOT y = f32[16,32] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}";
    let whole = 16 * 32 * 4;
    let sums = cut(&[(Some(1), 8)]);
    let of = |y: Spread, x: Spread, w: Spread| {
        collectives(&given(text, &machine, &|node| [&x, &w, &y].get(node).map(|own| (*own).clone())))
    };
    let all = |y: Spread| of(y, sums.clone(), cut(&[(Some(0), 8)]));
    assert_eq!(all(cut(&[(None, 8)])), [(AllReduce, whole / 8 * 7 * 2)]);
    assert_eq!(all(cut(&[(Some(0), 8)])), [(ReduceScatter, whole / 8 * 7)]);
    assert_eq!(all(cut(&[(Some(0), 2), (Some(1), 4)])), [(ReduceScatter, whole / 8 * 7)]);
    // First scattered into 4 pieces, each of which is then reduced over 2.
    assert_eq!(all(cut(&[(Some(0), 4), (None, 2)])), [(AllReduce, whole / 4), (ReduceScatter, whole / 4 * 3)]);
    // Rows over 2, sums over 4.
    let x = || cut(&[(Some(0), 2), (Some(1), 4)]);
    let w = || cut(&[(None, 2), (Some(0), 4)]);
    assert_eq!(of(cut(&[(Some(0), 2), (None, 4)]), x(), w()), [(AllReduce, whole / 2 / 4 * 3 * 2)]);
    assert_eq!(of(cut(&[(Some(0), 2), (Some(1), 4)]), x(), w()), [(ReduceScatter, whole / 2 / 4 * 3)]);
}

/// With a rate of work devices may compute the same; without one, they divide it.
#[test]
fn without_a_rate_of_work_it_is_divided() {
    let text = "HloModule m
ENTRY main {
  x = f32[8,1024] parameter(0)
  w = f32[1024,8] parameter(1)
  ROOT y = f32[8,8] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}";
    let machine =
        |work: &str| format!("axes: (4_Device), memories: (), word: 32, unit: cycle, links: (Device: 1){work}");
    let parts = |plan: &LayoutPlan| plan.work;
    let divided = planned(text, &machine(""));
    assert_eq!((divided.work, divided.relayouts.len()), (0, 0));
    // Also where no other move would be needed: each computes a fourth, and a gather completes it.
    let copies = cut(&[(None, 4)]);
    let made = given(text, &Machine::parse(&machine("")).unwrap(), &|_| Some(copies.clone()));
    assert_eq!(collectives(&made), [(AllGather, 8 * 8 * 4 / 4 * 3)]);
    // Each device computes all products, or a fourth of them.
    let fast = planned(text, &machine(", work: (Device: 100000000)"));
    assert!(fast.cost <= 1 + 2 * 4, "{}", fast.cost);
    let slow = planned(text, &machine(", work: (Device: 1)"));
    assert_eq!(parts(&slow), 2 * 8 * 8 * 1024 / 4);
}

#[test]
fn capacities_of_other_spaces_and_twice_are_errors() {
    let module = Module::parse(&training(64, &[32, 64, 32])).unwrap();
    let (graphs, facts, machine) = (module.graphs(), module.facts(), Machine::parse("tpu_v5e_4").unwrap());
    let problem = |limits: &[SpaceLimit]| {
        ShardingPlanner::new(&graphs, module.entry, &facts, &machine).unwrap().limited(limits).map(|_| ())
    };
    let limit = |space: u8| SpaceLimit { space, bytes: 1 << 30 };
    assert!(problem(&[limit(0)]).is_ok());
    assert!(problem(&[limit(3)]).unwrap_err().to_string().contains("no memory space 3"));
    assert!(problem(&[limit(0), limit(0)]).unwrap_err().to_string().contains("one capacity, found two"));
}

#[test]
fn pods_have_names() {
    let torus = Machine::parse("tpu_v5e_256").unwrap();
    assert_eq!(torus.axes[0].groups, [16, 16]);
    for (name, groups, joins) in [
        ("tpu_v5e_2", &[2][..], "grid"),
        ("tpu_v5e_8", &[2, 4], "grid"),
        ("tpu_v5e_128", &[8, 16], "grid"),
        ("tpu_v5e_4096", &[64, 64], "torus"),
    ] {
        let machine = Machine::parse(name).unwrap();
        assert_eq!(machine.axes[0].groups, groups);
        assert_eq!(machine.axes[0].extent, groups.iter().product::<i64>());
        assert!(machine.to_string().contains(&format!("links: (Device: 0.05 {joins})")), "{machine}");
        assert_eq!((&machine.memories, &machine.model.work), (&torus.memories, &torus.model.work));
    }
    for name in ["tpu_v5e_1", "tpu_v5e_3", "tpu_v5e_8192", "tpu_v5e_", "tpu_v5e_-4"] {
        assert!(Machine::parse(name).is_err(), "{name}");
    }
}

/// The layouts of a plan are in the notation, on all devices.
#[test]
fn layouts_name_all_devices_that_have_a_copy() {
    let plan = planned(&training(16384, &[64, 8192, 64]), &switch(16, 1 << 10, 1 << 40));
    let machine = Machine::parse(&switch(16, 1 << 10, 1 << 40)).unwrap();
    for layout in plan.values.iter().filter_map(|(_, layouts)| layouts[0].places()) {
        let again: TensorLayout = layout.to_string().parse().unwrap();
        assert_eq!(Spread::of(&again, &machine).unwrap().used(0), 16, "{layout}");
    }
}

/// No choice of homes over meshes of two axes, in either order, is cheaper than the best plan over these meshes.
#[test]
fn both_orders_of_a_mesh_are_tried() {
    crate::long_test!();
    let machine = "axes: (8_Device), memories: (), word: 32, unit: cycle, links: (Device: 1 grid), work: (Device: 16)";
    let machine_of = Machine::parse(machine).unwrap();
    let mut best_of_swapped = 0;
    for [rows, features, made] in [[12, 36, 12], [24, 36, 16], [20, 36, 12]] {
        let text = format!(
            "HloModule m
ENTRY main {{
  x = f32[{rows},{features}] parameter(0)
  w = f32[{features},{made}] parameter(1)
  y = f32[{rows},{made}] dot(x, w), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}
  ROOT z = f32[{made},{made}] dot(y, y), lhs_contracting_dims={{0}}, rhs_contracting_dims={{0}}
}}"
        );
        let best = planned(&text, machine);
        for mesh in [[2, 4], [4, 2]] {
            let homes: Vec<Spread> = (0..9)
                .map(|k| [k % 3, k / 3].map(|own| [None, Some(0), Some(1)][own]))
                .map(|of| cut(&[(of[0], mesh[0]), (of[1], mesh[1])]))
                .filter(|own| own.pieces(0) <= 4 && own.pieces(1) <= 4)
                .filter(|own| [rows, features, made].iter().all(|size| size % own.pieces(0).max(own.pieces(1)) == 0))
                .collect();
            for y in &homes {
                for x in &homes {
                    let plan = given(&text, &machine_of, &|node| [Some(x), None, Some(y), None][node].cloned());
                    assert!(plan.cost >= best.cost, "{} {}, {text} {x:?} {y:?}", plan.cost, best.cost);
                    best_of_swapped += i64::from(mesh == [2, 4] && plan.cost == best.cost);
                }
            }
        }
    }
    assert!(best_of_swapped > 0);
}

/// If one side's sharding is given, the other follows.
#[test]
fn results_follow_arguments_that_are_given() {
    let text = training(4096, &[32, 64, 32]);
    let machine = Machine::parse(&switch(4, 1 << 6, 1 << 40)).unwrap();
    let free = planned(&text, &switch(4, 1 << 6, 1 << 40));
    for own in [cut(&[(None, 4)]), cut(&[(Some(0), 4)]), cut(&[(Some(1), 2), (Some(0), 2)])] {
        let plan = given(&text, &machine, &|node| (node == 2).then(|| own.clone()));
        assert_eq!(plan.arguments[2..], plan.results[..], "{own:?}");
        assert!(plan.cost >= free.cost, "{own:?}: {} {}", plan.cost, free.cost);
        let layout = own.layout(&[32, 64], &machine).unwrap();
        assert_eq!(plan.results[0], PlannedLayout::Places(layout));
    }
}
