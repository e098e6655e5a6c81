//! Memory, work and moves of plans over devices, against counts by hand.

use crate::sample::Sample;
use layout_plan::plan::sharding::{AxisCut, Home, ShardingPlanner, Spread};
use layout_plan::plan::{LayoutPlan, Planner, Program, Unplanned};
use layout_plan::solver::Options;
use std::fmt::Write;
use tensor_layout::hlo::Module;
use tensor_layout::places::Machine;

fn planned(text: &str, machine: &str) -> Result<LayoutPlan, Unplanned> {
    let module = Module::parse(text).unwrap_or_else(|errors| panic!("{errors:?}\n{text}"));
    let (graphs, facts, machine) = (module.graphs(), module.facts(), Machine::parse(machine).unwrap());
    ShardingPlanner::new(&graphs, module.entry, &facts, &machine)?
        .limited(&[])?
        .plan(&Options::default(), &mut |_| true)
}

/// A line of devices with memories of `memory` bytes, slow links, and one byte read or written in a cycle.
fn line(devices: i64, memory: i64) -> String {
    format!(
        "axes: ({devices}_Device), memories: (HBM: 0 at Device with {memory} bytes reading 1 writing 1), word: 32, \
         unit: cycle, links: (Device: 0.1 grid), work: (Device: 1)"
    )
}

/// `x · x` of an intermediate `x`: 64 rows, columns that 8 does not divide.
const SQUARE: &str = "HloModule f
ENTRY main {
  a = f32[64,100] parameter(0)
  x = f32[64,100] tanh(a)
  y = f32[100,100] dot(x, x), lhs_contracting_dims={0}, rhs_contracting_dims={0}
  ROOT z = f32[100,100] add(y, y)
}";

/// Among 8 devices at most 4 cut the columns: memory holds at least half of the columns of one operand, or sums of the
/// whole result, and an eighth of the argument and of each result.
#[test]
fn what_collectives_bring_is_in_memory() {
    let least = 64 * 100 * 4 / 8 + 64 * 50 * 4 + 100 * 100 * 4 / 8;
    let free = planned(SQUARE, &line(8, 1 << 30)).unwrap();
    assert!(free.taken[0].peak >= least, "{:?}", free.taken);
    // A plan for some memory fits into a larger one, and costs no less in the smaller.
    let mut last = None;
    for memory in Sample::from_env().select((12000..37000).step_by(500)).into_iter().chain([37000]) {
        match planned(SQUARE, &line(8, memory)) {
            Ok(plan) => {
                assert!(plan.taken[0].peak <= memory && memory >= least, "{memory}: {:?}", plan.taken);
                assert!(last.is_none_or(|last| plan.cost <= last), "{memory}: {} {last:?}", plan.cost);
                last = Some(plan.cost);
            }
            Err(why) => {
                assert!(last.is_none(), "{memory}: {why}, and less is enough");
                assert!(why.to_string().contains(&memory.to_string()) || memory < 13200, "{memory}: {why}");
            }
        }
    }
    assert_eq!(last, Some(free.cost));
}

/// A fused intermediate before a product takes no memory, unless collectives move it.
#[test]
fn what_is_moved_inside_of_a_kernel_is_in_memory() {
    let module = Module::parse(SQUARE).unwrap();
    let (graphs, facts) = (module.graphs(), module.facts());
    let program = Program::new(&graphs, module.entry, &facts).unwrap();
    let [mut rows, mut copies] = [Spread::default(), Spread::default()];
    rows.axes.push(vec![AxisCut::of(0, 8)]);
    copies.axes.push(vec![AxisCut::copies(8)]);
    let peak = |x: &Spread, speed: i64| {
        let text = line(8, 1 << 30).replace("reading 1 writing 1", &format!("reading {speed} writing {speed}"));
        let machine = Machine::parse(&text).unwrap();
        let home = |(_, node, _): (usize, usize, usize)| match node {
            0 => Home::Given(rows.clone()),
            1 => Home::Given(x.clone()),
            _ => Home::Free,
        };
        let planner = ShardingPlanner::of_program(&program, &machine, &home).unwrap().limited(&[]).unwrap();
        let plan = planner.plan(&Options::default(), &mut |_| true).unwrap();
        (plan.taken[0].peak, plan.cost)
    };
    let [argument, whole, made] = [64 * 100 * 4 / 8, 64 * 100 * 4, 100 * 100 * 4];
    // With a fast memory the intermediate is gathered, with a slow one its operand.
    for speed in [1, 1000] {
        let gathered = peak(&copies, speed);
        assert!(gathered.0 >= argument + whole + made / 8, "{gathered:?}");
        // Links, and reads and writes.
        assert!(gathered.1 >= (whole - argument) * 10 + whole / speed, "{gathered:?}");
    }
    // Partial sums of the whole result, or gathered pieces.
    let reduced = peak(&rows, 1);
    assert!(reduced.0 >= argument + (whole / 2).min(made), "{reduced:?}");
}

/// An elementwise operation between two products saves neither memory nor cost.
#[test]
fn products_are_in_memory() {
    let text = |between: &str, last: &str| {
        format!(
            "HloModule m
ENTRY main {{
  x = f32[64,8] parameter(0)
  v = f32[8,64] parameter(1)
  w = f32[64,8] parameter(2)
  p = f32[64,64] dot(x, v), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}
{between}  ROOT y = f32[64,8] dot({last}, w), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}
}}"
        )
    };
    for devices in [2, 4, 8] {
        let [plain, tanh] = [("", "p"), ("  h = f32[64,64] tanh(p)\n", "h")].map(|(between, last)| {
            let machine = line(devices, 1 << 30).replace("work: (Device: 1)", "work: (Device: 1000)");
            planned(&text(between, last), &machine).unwrap()
        });
        assert!(tanh.cost >= plain.cost && tanh.taken[0].peak >= plain.taken[0].peak, "{devices}");
        assert!(plain.taken[0].peak >= 64 * 64 * 4 / devices, "{devices}: {:?}", plain.taken);
    }
}

/// A slice or a gather costs as much as its result, for any size of its operand.
#[test]
fn parts_cost_what_they_have() {
    for rows in [100, 1000, 100_000] {
        for (line_of, elements) in [
            ("f32[10,8] slice(t), slice={[0:10],[0:8]}", 80),
            ("f32[10,8] dynamic-slice(t, n, n), dynamic_slice_sizes={10,8}", 80),
            (
                "f32[16,8] gather(t, i), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, \
                 index_vector_dim=1, slice_sizes={1,8}",
                128,
            ),
        ] {
            let text = format!(
                "HloModule m\nENTRY main {{\n t = f32[{rows},8] parameter(0)\n i = s32[16] parameter(1)\n \
                 n = s32[] parameter(2)\n ROOT e = {line_of}\n}}"
            );
            let only_work =
                "axes: (2_Device), memories: (), word: 32, unit: cycle, links: (Device: 0.0001), work: (Device: 1)";
            let plan = planned(&text, only_work).unwrap();
            assert_eq!((plan.work, plan.relayouts.len()), (elements / 2, 0), "{line_of}");
            let plan =
                planned(&text, &line(2, 1 << 30).replace(", work: (Device: 1)", ", work: (Device: 1000)")).unwrap();
            // A device reads and writes half of the elements, and all indices.
            assert!((elements * 4..=elements * 4 + 64).contains(&plan.work), "{line_of}: {}", plan.work);
        }
    }
}

/// A result aliased with an argument takes no more memory, unless the argument is read after its definition.
#[test]
fn a_result_takes_the_place_of_its_argument() {
    for (made, alias, times) in [
        ("multiply(w, w)", "{}: (0, {}, may-alias)", 1),
        ("multiply(w, w)", "", 2),
        ("dot(w, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}", "{}: (0, {}, may-alias)", 2),
    ] {
        let text = format!(
            "HloModule m, input_output_alias={{ {alias} }}\nENTRY main {{\n w = f32[64,64] parameter(0)\n \
             ROOT v = f32[64,64] {made}\n}}"
        );
        for devices in [2, 4] {
            let plan =
                planned(&text, &line(devices, 1 << 30).replace("work: (Device: 1)", "work: (Device: 100000)")).unwrap();
            let peak = plan.taken[0].peak;
            assert!(peak >= times * 64 * 64 * 4 / devices, "{text}: {peak}");
            assert!(times > 1 || peak == 64 * 64 * 4 / devices, "{text}: {peak}");
        }
    }
}

/// A loop moves in each iteration the same as its unrolled body, on devices and in places; the loop-carried array has
/// one home, which may cost one move more.
#[test]
fn what_a_loop_carries_moves_in_each_round() {
    let looped = |trips: i64, body: &str| {
        format!(
            "HloModule m
body {{
  c = (s32[], f32[64,64], f32[64,64]) parameter(0)
  i = s32[] get-tuple-element(c), index=0
  h = f32[64,64] get-tuple-element(c), index=1
  w = f32[64,64] get-tuple-element(c), index=2
  one = s32[] constant(1)
  j = s32[] add(i, one)
  p = f32[64,64] {body}
  ROOT r = (s32[], f32[64,64], f32[64,64]) tuple(j, p, w)
}}
cond {{
  c = (s32[], f32[64,64], f32[64,64]) parameter(0)
  i = s32[] get-tuple-element(c), index=0
  n = s32[] constant({trips})
  ROOT q = pred[] compare(i, n), direction=LT
}}
ENTRY main {{
  z = s32[] constant(0)
  x = f32[64,64] parameter(0)
  w = f32[64,64] parameter(1)
  t = (s32[], f32[64,64], f32[64,64]) tuple(z, x, w)
  l = (s32[], f32[64,64], f32[64,64]) while(t), condition=cond, body=body
  ROOT y = f32[64,64] get-tuple-element(l), index=1
}}"
        )
    };
    let unrolled = |trips: i64, body: &str| {
        let mut text =
            "HloModule m\nENTRY main {\n h0 = f32[64,64] parameter(0)\n w = f32[64,64] parameter(1)\n".to_string();
        for k in 0..trips {
            let body = body.replace("(h", &format!("(h{k}"));
            let _ = writeln!(text, " {}h{} = f32[64,64] {body}", if k + 1 == trips { "ROOT " } else { "" }, k + 1);
        }
        text + "}"
    };
    let devices = "axes: (4_Device), memories: (HBM: 0 at Device with 1000000 bytes reading 1 writing 1), word: 32, \
                   unit: cycle, links: (Device: 1), work: (Device: 1000)";
    let places = "axes: (4_PE), memories: (LM: 1 at PE with 65536 bytes), word: 32, unit: cycle, links: (PE: 1)";
    for (machine, body) in [
        (devices, "dot(h, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}"),
        (places, "dot(h, w), lhs_contracting_dims={1}, rhs_contracting_dims={1}"),
        (places, "dot(h, w), lhs_contracting_dims={0}, rhs_contracting_dims={0}"),
        (places, "transpose(h), dimensions={1,0}"),
    ] {
        let moved = |text: &str| planned(text, machine).unwrap_or_else(|why| panic!("{why}")).levels[0];
        for trips in [2, 3, 10] {
            let [own, flat] = [looped(trips, body), unrolled(trips, body)].map(|text| moved(&text));
            assert!((flat..=flat + 2 * 64 * 64 * 4).contains(&own), "{trips} of {body}: {own} {flat}");
        }
        // As often as the loop runs, also with a loop-carried array in other places.
        let [one, ten] = [10, 100].map(|trips| moved(&looped(trips, body)));
        assert!(ten >= 9 * one && ten <= 10 * one.max(1), "{body}: {one} {ten}");
    }
}
