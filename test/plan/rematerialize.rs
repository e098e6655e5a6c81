//! Rematerialization of arrays if memory space 0 is too small, against all choices of small programs.

use fastrand::Rng;
use layout_plan::plan::clone_cheap::made_again;
use layout_plan::plan::problem::LayoutProblem;
use layout_plan::plan::program::{InstanceKind, Program};
use layout_plan::plan::rematerialize::Remaking;
use layout_plan::plan::{EntryLayouts, LayoutPlan, Planner, Residence, SpaceLimit, TiledPlanner, Unplanned};
use layout_plan::solver::{Options, check};
use std::collections::HashSet;
use std::ops::Range;
use tensor_layout::hlo::Module;
use tensor_layout::operations::Graph;
use tensor_layout::targets::Target;

/// The bytes of each array: too large for the fastest memory, and without padding in any layout.
const BYTES: i64 = 4096 * 4096 * 4;

/// Products of two earlier arrays each; the last one is the result.
fn products(rng: &mut Rng, operations: usize) -> String {
    let mut text = String::from("HloModule m\nENTRY main {\n");
    (0..2).for_each(|k| text += &format!("  v{k} = f32[4096,4096] parameter({k})\n"));
    let mut used = vec![true, true];
    for k in 2..2 + operations {
        // Prefers an unread array, so that each is read.
        let unread = used.iter().position(|used| !used).filter(|_| rng.bool() || k == 1 + operations);
        let (a, b) = (unread.unwrap_or(rng.usize(..k)), rng.usize(..k));
        (used[a], used[b]) = (true, true);
        used.push(false);
        let root = if k == 1 + operations { "ROOT " } else { "" };
        text += &format!(
            "  {root}v{k} = f32[4096,4096] dot(v{a}, v{b}), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}\n"
        );
    }
    text + "}\n"
}

fn planned(
    graphs: &[Graph],
    module: &Module,
    limit: Option<i64>,
    residence: Residence,
) -> Result<LayoutPlan, Unplanned> {
    let target = Target::parse("tpu_v5e").unwrap();
    let mut planner = TiledPlanner::new(graphs, module.entry, &module.facts(), &target, EntryLayouts::Default).unwrap();
    if let Some(bytes) = limit {
        planner = planner.limited_in(&[SpaceLimit { space: 0, bytes }], residence).unwrap();
    }
    let plan = planner.plan(&Options::default(), &mut |_| true)?;
    assert_eq!(check(planner.network(), &plan.solution.certificate), Ok(()));
    Ok(plan)
}

/// A choice for an array: its live ranges, and the rematerialization before a moment with its cost.
#[derive(Clone, Debug)]
struct Choice {
    moments: Vec<Range<i64>>,
    again: Option<i64>,
    cost: i64,
}

/// The choices of each array, and its operands. With `any`, an array may be rematerialized at each moment before its
/// next read, else only directly before the read.
fn choices(graphs: &[Graph], module: &Module, any: bool) -> Option<Vec<(Vec<Choice>, Vec<usize>)>> {
    let target = Target::parse("tpu_v5e").unwrap();
    let program = made_again(&Program::new(graphs, module.entry, &module.facts()).unwrap()).unwrap();
    let planner = TiledPlanner::of_program(&program, &target, EntryLayouts::Default).unwrap();
    let problem = LayoutProblem::new(program, &target, EntryLayouts::Default).unwrap();
    let rematerialize = Remaking::new(&problem, planner.network());
    let mut all = Vec::new();
    for (made, moments) in problem.moments().into_iter().enumerate() {
        let by = problem.program.made[made].by;
        let mut own = vec![Choice { moments: moments.clone(), again: None, cost: 0 }];
        let mut inputs = Vec::new();
        if let (InstanceKind::Operation(_), Some(rerun)) =
            (problem.program.instances[by].kind, rematerialize.rerun(&problem, made))
        {
            // All operands are in memory, and each is a kernel.
            assert_eq!(
                rerun.inputs.len(),
                problem.program.instances[by].operands.iter().collect::<std::collections::BTreeSet<_>>().len()
            );
            let last = problem.program.instances.len() - 1;
            let is_result = |user: &usize| matches!(problem.program.instances[*user].kind, InstanceKind::Result(_));
            let reads = problem.users[made].iter().map(|(user, _)| if is_result(user) { last } else { *user });
            let mut points: Vec<i64> = reads.chain([by]).map(|at| at as i64).collect();
            points.sort_unstable();
            points.dedup();
            if points.len() > 4 {
                return None;
            }
            for pair in points.windows(2).filter(|pair| pair[1] > pair[0] + 1) {
                for again in if any { pair[0] + 2 } else { pair[1] }..=pair[1] {
                    let parts = vec![moments[0].start..pair[0] + 1, again..moments[0].end];
                    own.push(Choice { moments: parts, again: Some(again), cost: rerun.cost });
                }
            }
            inputs = rerun.inputs;
        }
        all.push((own, inputs));
    }
    Some(all)
}

/// The least cost of all joint choices within a capacity.
fn least(all: &[(Vec<Choice>, Vec<usize>)], capacity: i64) -> Option<i64> {
    let end = all.iter().flat_map(|(own, _)| &own[0].moments).map(|own| own.end).max().unwrap();
    let mut chosen = vec![0; all.len()];
    let mut best: Option<i64> = None;
    loop {
        let own = |made: usize| &all[made].0[chosen[made]];
        let is_there = |made: usize, at: i64| own(made).moments.iter().any(|moments| moments.contains(&at));
        let fits =
            (0..end).all(|at| (0..all.len()).filter(|made| is_there(*made, at)).count() as i64 * BYTES <= capacity);
        let made_of =
            |made: usize| own(made).again.is_none_or(|at| all[made].1.iter().all(|input| is_there(*input, at)));
        if fits && (0..all.len()).all(made_of) {
            let cost = (0..all.len()).map(|made| own(made).cost).sum();
            best = Some(best.map_or(cost, |best: i64| best.min(cost)));
        }
        let Some(next) = (0..all.len()).find(|made| chosen[*made] + 1 < all[*made].0.len()) else { return best };
        chosen[next] += 1;
        chosen[..next].fill(0);
    }
}

#[test]
fn the_plan_makes_again_what_costs_least() {
    let (mut again, mut none, mut kept) = (0, 0, 0);
    // A value without users takes no memory, so few programs are short of it.
    for seed in 0..300 {
        let mut rng = Rng::with_seed(seed);
        let operations = rng.usize(3..9);
        let text = products(&mut rng, operations);
        let module = Module::parse(&text).unwrap();
        let graphs = module.graphs();
        let both = [true, false].map(|any| choices(&graphs, &module, any));
        let [Some(any), Some(before)] = both else { continue };
        if any.iter().map(|(own, _)| own.len()).product::<usize>() > 20_000 {
            continue;
        }
        let free = planned(&graphs, &module, None, Residence::OverTime).unwrap();
        for arrays in 4..9 {
            let capacity = arrays * BYTES;
            // Plans rematerialize before reads of the array or of its results: between the two bounds.
            let [any, before] = [&any, &before].map(|all| least(all, capacity));
            match planned(&graphs, &module, Some(capacity), Residence::OverTime) {
                Ok(plan) => {
                    let cost = plan.cost - free.cost;
                    assert!(any.is_some_and(|any| any <= cost), "{arrays} {cost} {any:?} {text}");
                    assert!(before.is_none_or(|before| cost <= before), "{arrays} {cost} {before:?} {text}");
                    assert_eq!(plan.remade.iter().map(|own| own.cost).sum::<i64>(), cost, "{arrays} {text}");
                    assert!(plan.taken.iter().all(|taken| taken.space != 0 || taken.peak <= capacity), "{text}");
                    assert_eq!(plan.cost, plan.bound);
                    again += usize::from(cost > 0);
                    kept += usize::from(cost == 0);
                }
                Err(_) => {
                    assert_eq!(before, None, "{arrays} {text}");
                    none += 1;
                }
            }
        }
    }
    assert!(again > 10 && none > 20 && kept > 50, "{again} {none} {kept}");
}

/// A training step of `layers` layers, whose forward pass consists of products or of custom calls.
fn training_step(layers: usize, is_product: bool) -> String {
    let mut text = String::from("HloModule step\nENTRY main {\n  a0 = f32[4096,4096] parameter(0)\n");
    text += "  w = f32[4096,4096] parameter(1)\n";
    let dot = |a: &str, b: &str| {
        format!("f32[4096,4096] dot({a}, {b}), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}\n")
    };
    let call = |a: &str, b: &str| format!("f32[4096,4096] custom-call({a}, {b}), custom_call_target=\"f\"\n");
    for k in 0..layers {
        let before = format!("a{k}");
        text += &format!("  a{} = {}", k + 1, if is_product { dot(&before, "w") } else { call(&before, "w") });
    }
    let mut gradient = format!("a{layers}");
    for k in (1..=layers).rev() {
        text += &format!("  {}g{k} = {}", if k == 1 { "ROOT " } else { "" }, dot(&format!("a{k}"), &gradient));
        gradient = format!("g{k}");
    }
    text + "}\n"
}

/// Products are rematerialized; custom calls are not, as their effects are unknown.
#[test]
fn what_may_have_an_effect_is_not_made_again() {
    for is_product in [true, false] {
        let module = Module::parse(&training_step(8, is_product)).unwrap();
        let graphs = module.graphs();
        let free = planned(&graphs, &module, None, Residence::OverTime).unwrap();
        let peak = free.taken.iter().find(|taken| taken.space == 0).unwrap().peak;
        match planned(&graphs, &module, Some(peak / 4 * 3), Residence::OverTime) {
            Ok(plan) => assert!(is_product && plan.remade.len() == 3, "{:?}", plan.remade),
            Err(_) => assert!(!is_product),
        }
    }
}

/// A training step keeps values of the forward pass for the backward pass. With half the memory, only plans that
/// rematerialize some of them fit.
#[test]
fn a_training_step_fits_into_half_the_memory() {
    const LAYERS: usize = 16;
    let module = Module::parse(&training_step(LAYERS, true)).unwrap();
    let graphs = module.graphs();
    let free = planned(&graphs, &module, None, Residence::OverTime).unwrap();
    let peak = |plan: &LayoutPlan| plan.taken.iter().find(|taken| taken.space == 0).unwrap().peak;
    // The arguments, the forward values, and the first backward value.
    assert_eq!(peak(&free), 19 * BYTES);
    let half = 10 * BYTES;
    assert!(planned(&graphs, &module, Some(half), Residence::ForLife).is_err());
    let plan = planned(&graphs, &module, Some(half), Residence::OverTime).unwrap();
    assert!(peak(&plan) <= half);
    let cost: i64 = plan.remade.iter().map(|own| own.cost).sum();
    assert!(plan.remade.len() >= 9 && plan.cost == free.cost + cost && plan.bound > free.cost, "{:?}", plan.remade);
}

fn square_dot(a: &str, b: &str) -> String {
    format!("f32[4096,4096] dot({a}, {b}), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}\n")
}

/// A program that makes `a`, and reads it before and after a row of products.
fn with_two_reads(made: &str) -> String {
    let mut text = String::from("HloModule m\nadd {\n  p = f32[] parameter(0)\n  q = f32[] parameter(1)\n");
    text += "  ROOT r = f32[] add(p, q)\n}\ndraw {\n  p = f32[] parameter(0)\n";
    text += "  ROOT r = f32[] rng(p, p), distribution=rng_uniform\n}\n";
    text += "ENTRY main {\n  x = f32[4096,4096] parameter(0)\n  w = f32[4096,4096] parameter(1)\n";
    text += "  t = token[] after-all()\n  s = f32[] constant(2)\n";
    text += made;
    text += &format!("  b0 = {}  b1 = {}", square_dot("a", "w"), square_dot("b0", "b0"));
    (2..7).for_each(|k| text += &format!("  b{k} = {}", square_dot(&format!("b{}", k - 1), &format!("b{}", k - 2))));
    text + &format!("  ROOT y = {}}}\n", square_dot("b6", "a"))
}

/// The number of arrays that are rematerialized where `a` cannot be kept. None of them needs an operation with an effect.
fn remade(made: &str) -> Result<usize, Unplanned> {
    let text = with_two_reads(made);
    let module = Module::parse(&text).unwrap_or_else(|error| panic!("{error:?} in {text}"));
    let (graphs, facts, target) = (module.graphs(), module.facts(), Target::parse("tpu_v5e").unwrap());
    let program = made_again(&Program::new(&graphs, module.entry, &facts).unwrap()).unwrap();
    let planner = TiledPlanner::of_program(&program, &target, EntryLayouts::Default).unwrap();
    let problem = LayoutProblem::new(program, &target, EntryLayouts::Default).unwrap();
    let mut seen = HashSet::new();
    for own in &problem.program.made {
        let by = &problem.program.instances[own.by];
        if facts.once.contains(&by.node) && matches!(by.kind, InstanceKind::Operation(_)) {
            assert!(seen.insert((by.node, own.leaf)), "{text}");
        }
    }
    let rematerialize = Remaking::new(&problem, planner.network());
    for made in 0..problem.program.made.len() {
        let by = problem.program.made[made].by;
        let Some(rerun) = rematerialize.rerun(&problem, made) else { continue };
        let mut next = vec![by];
        while let Some(k) = next.pop() {
            let instance = &problem.program.instances[k];
            assert!(!facts.once.contains(&instance.node), "{text}");
            let others = instance.operands.iter().filter(|operand| !rerun.inputs.contains(operand));
            next.extend(others.map(|operand| problem.program.made[*operand].by));
        }
    }
    // x, w and three of the row are live at once, without `a`.
    let plan = planned(&graphs, &module, Some(5 * BYTES + 8192), Residence::OverTime);
    plan.map(|plan| plan.remade.len())
}

/// An array with an early and a late read is rematerialized from stored values. An operation with an effect never runs
/// twice.
#[test]
fn what_has_an_effect_runs_once() {
    assert_eq!(remade(&format!("  a = {}", square_dot("x", "x"))).unwrap(), 1);
    for (one, effect) in [
        ("  u = f32[] add(s, s)\n", false),
        ("  i = (f32[], token[]) infeed(t)\n  u = f32[] get-tuple-element(i), index=0\n", true),
        ("  u = f32[] rng(s, s), distribution=rng_uniform\n", true),
        ("  u = f32[] map(s), dimensions={}, to_apply=draw\n", true),
        ("  u = f32[] all-reduce(s), replica_groups={}, to_apply=add\n", true),
        ("  u = f32[] custom-call(s), custom_call_target=\"Sharding\", custom_call_has_side_effect=true\n", true),
        ("  u = f32[] custom-call(s), custom_call_target=\"f\"\n", false),
    ] {
        let sum = "  c = f32[4096,4096] add(x, v)\n";
        let made =
            format!("{one}  v = f32[4096,4096] broadcast(u), dimensions={{}}\n{sum}  a = {}", square_dot("x", "c"));
        let module = Module::parse(&with_two_reads(&made)).unwrap();
        assert_eq!(module.facts().once.iter().any(|(c, _)| *c == module.entry), effect, "{one}");
        // The stored value of `u` is gone at the end.
        assert!(remade(&made).is_err() || !effect, "{one}");
    }
}

#[test]
fn what_is_made_by_an_effect_is_kept() {
    for whole in [
        "  i = (f32[4096,4096], token[]) infeed(t)\n  a = f32[4096,4096] get-tuple-element(i), index=0\n",
        "  u = f32[4096,4096] rng(s, s), distribution=rng_normal\n  a = f32[4096,4096] dot(u, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n",
        "  a = f32[4096,4096] all-reduce(x), replica_groups={}, to_apply=add\n",
        "  a = f32[4096,4096] map(x), dimensions={0,1}, to_apply=draw\n",
    ] {
        assert!(remade(whole).is_err(), "{whole}");
    }
}
