//! Plans with capacities: steps in closed form, layouts over time, and the bytes at each moment.

use crate::sample::Sample;
use layout_plan::plan::sharding::{
    ArraySlice, Brought, LeastRule, LoopNest, PlannedSteps, ShardingPlanner, SliceLoop, Spread, SteppedTouch, TimeCut,
    cuts, pieces,
};
use layout_plan::plan::{
    EntryLayouts, InstanceKind, LayoutPlan, PlannedLayout, Planner, Residence, SpaceLimit, TiledPlanner, Unplanned,
};
use layout_plan::solver::{Options, check};
use std::collections::{BTreeMap, BTreeSet};
use tensor_layout::element::ElementType;
use tensor_layout::hlo::Module;
use tensor_layout::operations::{Array, Operation, Shape};
use tensor_layout::places::{Machine, Placement};
use tensor_layout::targets::Target;
use tensor_layout::tiled::Expansion;

/// A plan with about a second of search.
fn planned(text: &str, machine: &str, bytes: i64) -> Result<LayoutPlan, Unplanned> {
    planned_with(text, machine, bytes, 1 << 30)
}

fn planned_with(text: &str, machine: &str, bytes: i64, work: u64) -> Result<LayoutPlan, Unplanned> {
    let module = Module::parse(text).unwrap_or_else(|errors| panic!("{errors:?}"));
    let (graphs, facts, machine) = (module.graphs(), module.facts(), Machine::parse(machine).unwrap());
    let (memory, _) = machine.memory_of_places().unwrap();
    let limit = SpaceLimit { space: machine.memories[memory].space, bytes };
    let planner = ShardingPlanner::new(&graphs, module.entry, &facts, &machine)?.limited(&[limit])?;
    let options = Options { work, ..Options::default() };
    let plan = planner.plan(&options, &mut |_| true)?;
    check(planner.network(), &plan.solution.certificate).unwrap();
    assert_eq!(planner.proved(plan.solution.certificate.clone()).unwrap().levels, plan.levels);
    Ok(plan)
}

fn product_text(m: i64, k: i64, n: i64) -> String {
    format!(
        "HloModule product\nENTRY main {{\n x = f32[{m},{k}] parameter(0)\n w = f32[{k},{n}] parameter(1)\n ROOT y = \
         f32[{m},{n}] dot(x, w), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}\n}}"
    )
}

const ONE: &str = "axes: (1_P), memories: (LM: 1 at P with 16384 bytes), word: 32";

/// With b × b blocks of the result, and a column and a row, in b² + 2 b words, the operands arrive n / b times each and
/// the result leaves once.
#[test]
fn a_product_has_the_blocks_of_the_closed_form() {
    for b in [2, 4, 8, 16] {
        let plan = planned(&product_text(64, 64, 64), ONE, 4 * (b * b + 2 * b)).unwrap();
        assert_eq!(plan.levels, [4 * (2 * 64 * 64 * 64 / b + 64 * 64)], "{b}");
        let steps = &plan.steps[0];
        assert_eq!(steps.loops.iter().map(|own| own.step).collect::<Vec<_>>(), [b, b, 1]);
        assert_eq!(steps.rule, LeastRule::Product { offsets: 1 });
        assert!(steps.least[0] <= plan.levels[0]);
        assert_eq!(plan.cost, plan.bound);
    }
    // If everything fits, each array moves once, or stays.
    let plan = planned(&product_text(16, 16, 16), ONE, 3 * 1024).unwrap();
    assert_eq!(plan.levels, [0]);
}

/// Each element is used at the place and in the step of its loops.
#[test]
fn layouts_over_time_are_the_steps() {
    let machine = "axes: (2_G, 4_P), memories: (LM: 1 at P with 16384 bytes), word: 32";
    let mut seen = 0;
    for capacity in [96, 160, 320] {
        let plan = planned(&product_text(64, 32, 64), machine, capacity).unwrap();
        seen += elements_in_steps(&plan);
    }
    assert!(seen > 0);
}

/// Checks that the first operation's loops decide each element's place over time. Returns the elements.
fn elements_in_steps(plan: &LayoutPlan) -> usize {
    let steps = &plan.steps[0];
    assert!(!steps.loops.is_empty());
    let counts: Vec<i64> = steps.loops.iter().map(|own| own.count).collect();
    let mut seen = 0;
    for (array, of) in steps.arrays.iter().zip([[0, 2], [2, 1], [0, 1]]) {
        let Some(layout) = array.layout.as_ref().and_then(PlannedLayout::places) else { continue };
        let sizes = layout.sizes().unwrap();
        let placement = Placement::new(layout, None).unwrap();
        let time = placement.axes().iter().position(|axis| axis == "Time");
        // The elements at each place and step: a piece of a block, as long as a step.
        let mut pieces: BTreeMap<Vec<i64>, BTreeSet<Vec<i64>>> = BTreeMap::new();
        for i in 0..sizes[0] {
            for j in 0..sizes[1] {
                let mut at = placement.place(&[i, j]).unwrap();
                let mut expected = 0;
                for (position, own) in steps.loops.iter().enumerate() {
                    if let Some(dim) = of.iter().position(|of| *of == own.of) {
                        let block = own.step * own.count;
                        let stride: i64 = counts[position + 1..].iter().product();
                        expected += [i, j][dim] % block / own.step * stride;
                    }
                }
                assert_eq!(time.map_or(0, |time| at[time]), expected, "{layout} [{i}, {j}]");
                at.pop();
                pieces.entry(at).or_default().insert(vec![i, j]);
                seen += 1;
            }
        }
        let most = pieces.values().map(BTreeSet::len).max().unwrap() as i64;
        assert!(array.in_place || 4 * most == array.bytes, "{layout}: {most} elements, {} bytes", array.bytes);
    }
    seen
}

/// The bytes of each place at each moment: live values and buffers.
#[test]
fn plans_stay_within_their_capacity_at_each_moment() {
    crate::long_test!();
    let texts = [product_text(64, 64, 32), attention(4, 64, 16), convolution(2, 16, 8, 16)];
    let machine = "axes: (2_G, 4_P), memories: (LM: 1 at P with 65536 bytes), word: 32";
    let places = Machine::parse(machine).unwrap();
    for text in texts {
        let module = Module::parse(&text).unwrap();
        let main = &module.computations[module.entry].instructions;
        for capacity in [2048, 6000] {
            // A plan keeps the capacity, optimal or not.
            let plan = planned_with(&text, machine, capacity, 1 << 26).unwrap();
            let taken: BTreeMap<usize, i64> = (plan.values.iter())
                .filter_map(|((_, node, _), layouts)| Some((node, layouts[0].places()?)))
                .map(|(node, layout)| {
                    let placement = Placement::new(layout, None).unwrap();
                    (*node, places.check(&placement, 32, None).unwrap().bytes)
                })
                .collect();
            for moment in 0..main.len() {
                let lives = |node: &usize| {
                    let used = |(user, own): (usize, &tensor_layout::hlo::Instruction)| {
                        own.operands.contains(node) && user >= moment
                    };
                    let made = *node <= moment || main[*node].opcode == "parameter";
                    made && (main[*node].opcode == "parameter"
                        || *node == moment
                        || *node + 1 == main.len()
                        || main.iter().enumerate().any(used))
                };
                let held: i64 = taken.iter().filter(|(node, _)| lives(node)).map(|(_, bytes)| bytes).sum();
                let own = plan.steps.iter().filter(|steps| steps.by == (module.entry, moment));
                let buffers = own.flat_map(|steps| &steps.arrays).filter(|array| !array.in_place);
                let buffers: i64 = buffers.map(|array| array.bytes * if array.is_double { 2 } else { 1 }).sum();
                assert!(held + buffers <= capacity, "{capacity} at {moment}: {held} and {buffers}");
            }
            for steps in &plan.steps {
                assert!(steps.levels.iter().zip(&steps.least).all(|(own, least)| own >= least), "{steps:?}");
            }
        }
    }
}

/// Attention of `heads` heads with `rows` positions and `features` features.
fn attention(heads: i64, rows: i64, features: i64) -> String {
    format!(
        "HloModule attention
add {{ a = f32[] parameter(0)
 b = f32[] parameter(1)
 ROOT c = f32[] add(a, b) }}
ENTRY main {{
  q = f32[{heads},{rows},{features}] parameter(0)
  k = f32[{heads},{rows},{features}] parameter(1)
  v = f32[{heads},{rows},{features}] parameter(2)
  s = f32[{heads},{rows},{rows}] dot(q, k), lhs_batch_dims={{0}}, rhs_batch_dims={{0}}, lhs_contracting_dims={{2}}, rhs_contracting_dims={{2}}
  e = f32[{heads},{rows},{rows}] exponential(s)
  zero = f32[] constant(0)
  t = f32[{heads},{rows}] reduce(e, zero), dimensions={{2}}, to_apply=add
  u = f32[{heads},{rows},{rows}] broadcast(t), dimensions={{0,1}}
  p = f32[{heads},{rows},{rows}] divide(e, u)
  ROOT o = f32[{heads},{rows},{features}] dot(p, v), lhs_batch_dims={{0}}, rhs_batch_dims={{0}}, lhs_contracting_dims={{2}}, rhs_contracting_dims={{1}}
}}"
    )
}

/// Square images and windows of 3 × 3.
fn convolution(images: i64, size: i64, from: i64, to: i64) -> String {
    format!(
        "HloModule convolution
ENTRY main {{
  x = f32[{images},{size},{size},{from}] parameter(0)
  w = f32[3,3,{from},{to}] parameter(1)
  ROOT y = f32[{images},{size},{size},{to}] convolution(x, w), window={{size=3x3 pad=1_1x1_1}}, dim_labels=b01f_01io->b01f
}}"
    )
}

/// An addition needs at least one element of each array.
#[test]
fn a_capacity_below_what_one_operation_holds_names_it_and_the_least() {
    let text = "HloModule m\nENTRY main {\n x = f32[64,64] parameter(0)\n y = f32[64,64] parameter(1)\n ROOT z = \
                f32[64,64] add(x, y)\n}";
    let Err(Unplanned::Short { space, at, least, capacity, arrays, .. }) = planned(text, ONE, 11) else {
        panic!("12 bytes are needed");
    };
    assert_eq!((space, at, least, capacity), (1, (0, 2), 12, 11));
    assert_eq!(arrays.iter().map(|(_, bytes)| *bytes).collect::<Vec<_>>(), [4, 4, 4]);
    let plan = planned(text, ONE, 12).unwrap();
    assert_eq!(plan.levels, [3 * 64 * 64 * 4]);
    // A sorted line of 64 is in memory as a whole, before and after.
    let sort = "HloModule m\nless { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT c = pred[] compare(a, b), \
                direction=LT }\nENTRY main {\n x = f32[8,64] parameter(0)\n ROOT y = f32[8,64] sort(x), dimensions={1}, \
                to_apply=less\n}";
    let Err(Unplanned::Short { least, .. }) = planned(sort, ONE, 511) else { panic!("512 bytes are needed") };
    assert_eq!(least, 512);
    planned(sort, ONE, 512).unwrap();
    assert!(matches!(planned(text, ONE, 0), Err(Unplanned::Short { least: 12, capacity: 0, .. })));
    assert!(planned(text, ONE, -1).is_err());
}

/// One MAB of MN-Core: four PEs with local memories, and all other data outside.
const MAB: &str = "axes: (4_PE), memories: (LM: 1 at PE with 16384 bytes reading 16 writing 8), word: 64, unit: cycle, \
                   registers: 1x1, links: (PE: 8)";

/// The text of the page before the rows of its table.
const TABLE_HEAD: &str = "# Steps over time\n\nMade by `BLESS=1 cargo test -p layout-plan --test plan`: operations of programs in a \
     capacity of each local memory, with\nwhat does not stay there beside the places. A MAB is four PEs of \
     MN-Core, MN-Core all of its 8192. Bytes are those\nthat the busiest place of each level gets or gives. On `tpu_v5e` \
     the capacity is that of `vmem`, and bytes are those from\n`hbm` and to it, with the padding of tiles. The least is the \
     larger of what must move at all and, for products and\nconvolutions, the bound of Smith, Lowery, Langou and van de \
     Geijn, see [plan-places.md](../docs/plan-places.md#steps-over-time).\nThe ratio is that of the bytes at the last level.\n\n| program | machine | capacity | operation | steps | levels | bytes | least | ratio |\n\
     |---|---|---|---|---|---|---|---|---|\n";

/// `BLESS=1` writes the table.
#[test]
fn the_table_of_steps_is_current() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../benches/time.md");
    let is_blessed = std::env::var_os("BLESS").is_some();
    let recorded = std::fs::read_to_string(path).unwrap_or_default();
    let mut text = String::from(TABLE_HEAD);
    let product = product_text(1024, 512, 512);
    let (heads, images) = (attention(64, 128, 32), convolution(8, 32, 64, 64));
    let programs = [("product 1024 × 512 × 512", &product), ("attention", &heads), ("convolution", &images)];
    let sample = if is_blessed { Sample::WHOLE } else { Sample::from_env() };
    for (name, program) in sample.select_long(programs) {
        let module = Module::parse(program).unwrap();
        let begin = text.len();
        text += &place_rows(name, program, &module);
        text += &tile_rows(name, program, &module);
        let rows = &text[begin..];
        assert!(
            is_blessed || recorded.contains(rows),
            "BLESS=1 writes the table, whose rows for {name} are now\n{rows}"
        );
    }
    if is_blessed {
        std::fs::write(path, &text).unwrap();
    }
}

/// The rows of the machines with places: the steps in each capacity of a local memory.
fn place_rows(name: &str, program: &str, module: &Module) -> String {
    let mut text = String::new();
    for (machine, own, capacities) in [("MAB", MAB, &[16384, 4096][..]), ("MN-Core", "mn_core", &[8192, 2048, 512][..])]
    {
        let axes = Machine::parse(own).unwrap().axes;
        let axes: Vec<&str> = axes.iter().map(|axis| axis.name.as_str()).collect();
        for capacity in capacities {
            let plan = match planned(program, own, *capacity) {
                Ok(plan) => plan,
                Err(why) => {
                    text += &format!("| {name} | {machine} | {capacity} | {why} | | | | | |\n");
                    continue;
                }
            };
            assert!(plan.taken.iter().all(|taken| taken.space != 1 || taken.peak <= *capacity));
            let list = |all: &[i64]| all.iter().map(i64::to_string).collect::<Vec<_>>().join(" ");
            // Steps of resident arrays move nothing.
            for steps in plan.steps.iter().filter(|steps| steps.levels.iter().any(|bytes| *bytes > 0)) {
                let operation = &module.computations[steps.by.0].instructions[steps.by.1].name;
                let counts: Vec<i64> = steps.loops.iter().map(|own| own.count).collect();
                let (own, least) = (steps.levels[axes.len() - 1], steps.least[axes.len() - 1]);
                let ratio = match least {
                    0 => "-".to_string(),
                    least => format!("{:.2}", own as f64 / least as f64),
                };
                text += &format!(
                    "| {name} | {machine} | {capacity} | `{operation}` | {} | {} | {} | {} | {ratio} |\n",
                    if counts.is_empty() { "1".to_string() } else { list(&counts).replace(' ', " × ") },
                    axes.join(" "),
                    list(&steps.levels),
                    list(&steps.least),
                );
            }
        }
    }
    text
}

/// The rows of `tpu_v5e`: the steps in each capacity of `vmem`.
fn tile_rows(name: &str, program: &str, module: &Module) -> String {
    let mut text = String::new();
    for capacity in [1 << 20, 1 << 18] {
        for steps in tiled(program, capacity, Residence::OverTime) {
            let operation = &module.computations[steps.by.0].instructions[steps.by.1].name;
            let counts: Vec<String> = steps.loops.iter().map(|own| own.count.to_string()).collect();
            let (bytes, least) = (steps.levels[0], steps.least[0]);
            let (counts, ratio) = match (steps.needs, counts.is_empty()) {
                (Some(needs), _) => (format!("none, {needs} bytes needed"), "-".to_string()),
                (None, is_one) => {
                    let counts = if is_one { "1".to_string() } else { counts.join(" × ") };
                    (counts, format!("{:.2}", bytes as f64 / least.max(1) as f64))
                }
            };
            text += &format!(
                "| {name} | tpu_v5e | {capacity} | `{operation}` | {counts} | hbm | {bytes} | {least} | {ratio} |\n"
            );
        }
    }
    text
}

/// The steps of a program's operations on `tpu_v5e`, with `bytes` bytes of `vmem`.
fn tiled(text: &str, bytes: i64, residence: Residence) -> Vec<PlannedSteps> {
    let module = Module::parse(text).unwrap_or_else(|errors| panic!("{errors:?}"));
    let (graphs, facts, target) = (module.graphs(), module.facts(), Target::parse("tpu_v5e").unwrap());
    let planner = TiledPlanner::new(&graphs, module.entry, &facts, &target, EntryLayouts::Default).unwrap();
    let mut planner = planner.limited_in(&[SpaceLimit { space: 1, bytes }], residence).unwrap();
    let options = Options { work: 1 << 28, ..Options::default() };
    let plan = planner.plan_in_steps(&options, &mut |_| true).unwrap();
    let (steps, kept) = (plan.steps, plan.kept);
    check(planner.network(), &plan.solution.certificate).unwrap();
    // The reserve is free at each moment, and some operation needs it.
    assert!(
        kept <= bytes && steps.iter().all(|own| own.room >= Some(kept) && own.needs.is_none_or(|needs| needs > bytes))
    );
    assert_eq!(plan.taken.iter().filter(|own| own.space == 1 && own.peak > bytes - kept).count(), 0);
    steps
}

/// The array of an instruction.
fn touched_array<'m>(module: &'m Module, touch: &SteppedTouch) -> &'m Array {
    let node = &module.computations[touch.at.0].instructions[touch.at.1];
    let Shape::Array(array) = &node.shape else { panic!("an array") };
    array
}

/// The bytes of an array. A rematerialized broadcast takes no memory.
fn bytes_of(module: &Module, touch: &SteppedTouch) -> i64 {
    let array = touched_array(module, touch);
    let expansion = Expansion::new(&array.sizes().unwrap(), touch.layout.as_ref().unwrap().tiled().unwrap()).unwrap();
    let is_broadcast = module.computations[touch.at.0].instructions[touch.at.1].opcode == "broadcast";
    if is_broadcast { 0 } else { expansion.padded_bytes(array.element).unwrap() }
}

/// The bytes that a walk over the slices of an array moves. They make up the array.
fn walked_slices(
    element: ElementType,
    slice: &ArraySlice,
    loops: &[SliceLoop],
    array: &SteppedTouch,
    is_result: bool,
) -> i64 {
    let (mut moved, mut seen, mut last) = (0, BTreeMap::<Vec<i64>, i64>::new(), None);
    let counts: Vec<i64> = loops.iter().map(|own| own.count).collect();
    for step in 0..counts.iter().product::<i64>() {
        let at = |position: usize| step / counts[position + 1..].iter().product::<i64>() % counts[position];
        let is_last = |position: usize| at(position) + 1 == counts[position];
        let start = slice.follows.iter().map(|own| own.map_or(0, |(position, by)| at(position) * by));
        let (start, sizes) = (start.collect::<Vec<i64>>(), slice.sizes_in(&is_last));
        let bytes = Expansion::new(&sizes, array.layout.as_ref().unwrap().tiled().unwrap())
            .unwrap()
            .padded_bytes(element)
            .unwrap();
        assert!(array.in_place || bytes <= array.bytes, "{array:?}: {bytes}");
        assert!(start.iter().zip(&sizes).zip(&slice.whole).all(|((start, size), all)| start + size <= *all));
        if last.as_ref() != Some(&start) {
            let before = seen.insert(start.clone(), sizes.iter().product());
            moved += bytes * if is_result && before.is_some() { 2 } else { 1 };
            last = Some(start);
        }
    }
    assert_eq!(seen.values().sum::<i64>(), slice.whole.iter().product::<i64>(), "{array:?}");
    moved
}

/// All slices together make up their array, concurrent ones fit, and changes of slices are the moves.
#[test]
fn steps_in_tiles_are_what_a_walk_over_their_slices_counts() {
    let programs = [
        product_text(100, 300, 500),
        product_text(1024, 512, 512).replace("f32", "bf16"),
        attention(3, 200, 40),
        "HloModule m\nENTRY main {\n x = f32[300,200] parameter(0)\n y = f32[200,300] transpose(x), dimensions={1,0}\n \
         ROOT z = f32[200,300] negate(y)\n}"
            .to_string(),
    ];
    let (mut cut, mut short) = (0, 0);
    for text in &programs {
        let module = Module::parse(text).unwrap();
        for bytes in [20_000, 100_000, 300_000, 1_000_000] {
            for steps in tiled(text, bytes, Residence::ForLife) {
                let room = steps.room.unwrap();
                assert!(room <= bytes);
                if let Some(needs) = steps.needs {
                    assert!(needs > room && steps.loops.is_empty() && steps.arrays.is_empty());
                    short += 1;
                    continue;
                }
                let buffers = steps.arrays.iter().map(|own| own.bytes * if own.is_double { 2 } else { 1 });
                let near = steps.arrays.iter().filter(|own| own.in_place).map(|own| bytes_of(&module, own));
                let (buffers, near) = (buffers.sum::<i64>(), near.sum::<i64>());
                assert!(buffers <= room && buffers + near <= bytes, "{buffers} {near} in {room}");
                let Some(slices) = &steps.slices else { continue };
                cut += 1;
                let all = slices.operands.iter().map(|own| (own, false));
                let all = all.chain(slices.results.iter().map(|own| (own, true))).filter(|(own, _)| own.is_some());
                let mut sum = 0;
                for ((slice, is_result), array) in all.zip(&steps.arrays) {
                    let moved = walked_slices(
                        touched_array(&module, array).element,
                        slice.as_ref().unwrap(),
                        &slices.loops,
                        array,
                        is_result,
                    );
                    assert_eq!(array.levels[0], if array.in_place { 0 } else { moved }, "{text} {bytes}: {array:?}");
                    sum += array.levels[0];
                }
                assert_eq!(sum, steps.levels[0]);
                assert!(steps.levels >= steps.least, "{steps:?}");
            }
        }
    }
    assert!(cut > 10 && short > 0, "{cut} {short}");
}

/// The bytes that a cut of a product moves, step by step, and the peak of its pieces. For each array: its sizes, the
/// loops of its dimensions, its tile.
fn walked(loops: [i64; 3], arrays: &[([i64; 2], [usize; 2], [i64; 2])], cut: &TimeCut) -> [i64; 2] {
    let (mut moved, mut need) = (0, 0);
    for (number, (sizes, of, units)) in arrays.iter().enumerate() {
        let (mut seen, mut last, mut most) = (BTreeSet::new(), None, 0);
        let mut at = vec![0; cut.order.len()];
        loop {
            let start = |of: usize| cut.order.iter().position(|own| *own == of).map_or(0, |k| at[k]) * cut.steps[of];
            let origin = [start(of[0]), start(of[1])];
            let length = |dim: usize| {
                let length = cut.steps[of[dim]].min(sizes[dim] - origin[dim]);
                (length + units[dim] - 1) / units[dim] * units[dim]
            };
            let bytes = 4 * length(0) * length(1);
            most = most.max(bytes);
            if last != Some(origin) {
                // Partial sums are read again.
                moved += if !seen.insert(origin) && number == 2 { 2 * bytes } else { bytes };
                last = Some(origin);
            }
            let ends = |k: &usize| (at[*k] + 1) * cut.steps[cut.order[*k]] < loops[cut.order[*k]];
            let Some(next) = (0..at.len()).rev().find(ends) else { break };
            at[next] += 1;
            at[next + 1..].fill(0);
        }
        need += most;
    }
    [moved, need]
}

/// The arrays of a product: the sizes of each, the loops of its dimensions, and its tile.
type ProductArrays = [([i64; 2], [usize; 2], [i64; 2]); 3];

/// The loops of a product of arrays of these sizes.
fn product_nest(sizes: [[i64; 2]; 3]) -> LoopNest {
    let shapes = sizes.map(|sizes| {
        let Shape::Array(array) = Shape::parse(&format!("f32[{},{}]", sizes[0], sizes[1])).unwrap() else {
            panic!("an array")
        };
        array
    });
    let dot = Operation::Dot {
        lhs_batch: Vec::new(),
        rhs_batch: Vec::new(),
        lhs_contracting: vec![1],
        rhs_contracting: vec![0],
    };
    LoopNest::new(&InstanceKind::Operation(&dot), &[&shapes[0], &shapes[1]], &[&shapes[2]])
}

/// The least bytes that a cut into whole tiles moves in this room, over all step sizes and orders.
fn least_moved(nest: &LoopNest, arrays: &ProductArrays, brought: &[Brought], room: i64) -> Option<i64> {
    let loops @ [m, n, k] = [nest.sizes[0], nest.sizes[1], nest.sizes[2]];
    let (spread, tiles) = (Spread::default(), arrays[0].2);
    let mut best = None::<i64>;
    for a in 1..=m {
        for b in 1..=n {
            for c in 1..=k {
                for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
                    let cut = TimeCut::new(vec![a, b, c], &order, nest, &spread);
                    let [moved, need] = walked(loops, arrays, &cut);
                    let least = [0, 1, 2].map(|k| pieces(nest, &spread, &brought[k], &cut));
                    assert_eq!(least.iter().map(|own| own[1]).sum::<i64>(), moved, "{cut:?} {arrays:?}");
                    assert_eq!(least.iter().map(|own| own[0]).sum::<i64>(), need, "{cut:?} {arrays:?}");
                    let in_tiles = [(a, m, tiles[0]), (b, n, tiles[1]), (c, k, tiles[0] * tiles[1])];
                    let in_tiles = in_tiles.iter().all(|(step, size, unit)| step == size || step % unit == 0);
                    if need <= room && in_tiles {
                        best = Some(best.map_or(moved, |best: i64| best.min(moved)));
                    }
                }
            }
        }
    }
    best
}

/// Products of up to 9 × 9 × 9, against a walk over all step sizes and orders: buffers fit, bytes equal the walk's, and
/// exceed the best by at most an eighth.
#[test]
fn cuts_are_what_all_step_sizes_and_orders_give() {
    let (mut cases, mut optimal, mut number) = (0, 0, 1u64);
    let mut random = |below: u64| {
        number = number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (number >> 33) % below
    };
    for _ in 0..120 {
        let [m, n, k] = [0; 3].map(|_| 1 + random(9) as i64);
        // Their product is their least common multiple.
        let tiles = [[1, 1], [1, 3], [2, 1], [2, 3]][random(4) as usize];
        let arrays = [([m, k], [0, 2], tiles), ([k, n], [2, 1], tiles), ([m, n], [0, 1], tiles)];
        let nest = product_nest(arrays.map(|(sizes, ..)| sizes));
        let whole = |size: i64, unit: i64| (size + unit - 1) / unit * unit;
        let ranges = [&nest.operands[0], &nest.operands[1], &nest.results[0]];
        let brought = arrays.iter().zip(ranges).enumerate().map(|(number, ((sizes, _, units), ranges))| {
            let all = 4 * whole(sizes[0], units[0]) * whole(sizes[1], units[1]);
            let mut array = Brought::new((ranges, sizes), 32, number == 2, all);
            array.units = units;
            array
        });
        let (brought, spread) = (brought.collect::<Vec<_>>(), Spread::default());
        let all = TimeCut::whole(&nest, &spread);
        let loops = [nest.sizes[0], nest.sizes[1], nest.sizes[2]];
        assert_eq!(loops, [m, n, k]);
        let most = walked(loops, &arrays, &all)[1];
        let room = 1 + random(most as u64) as i64;
        let best = least_moved(&nest, &arrays, &brought, room);
        let found = cuts(&nest, &spread, &brought, &[vec![false; 3]], room);
        let Some(best) = best else {
            assert!(found.is_empty(), "{room} {arrays:?}");
            continue;
        };
        let first = found.first().expect("what fits in tiles is found");
        let [moved, need] = walked(loops, &arrays, &first.cut);
        assert!(need == first.bytes && need <= room, "{first:?}");
        assert!(moved >= best && moved * 8 <= best * 9, "{moved} {best} in {room}: {first:?} {arrays:?}");
        (cases, optimal) = (cases + 1, optimal + i32::from(moved == best));
    }
    assert!(cases > 80 && optimal * 10 >= cases * 9, "{optimal} of {cases}");
}
