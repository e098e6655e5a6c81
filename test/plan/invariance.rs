//! The cost of a plan depends on the program's graph alone: not on the order of independent instructions in the text,
//! on names, on explicit default layouts, or on dead instructions.

mod programs;

use self::programs::{Program, Written};
use fastrand::Rng;
use layout_plan::plan::sharding::ShardingPlanner;
use layout_plan::plan::{EntryLayouts, Planner, TiledPlanner, Unplanned};
use layout_plan::solver::Options;
use std::env;
use tensor_layout::element::ElementType;
use tensor_layout::hlo::Module;
use tensor_layout::places::Machine;
use tensor_layout::targets::Target;

/// The cost and the lower bound of a text's plan on a machine.
fn planned(text: &str, machine: &str, entry: EntryLayouts) -> Result<(i64, i64), Unplanned> {
    let module = Module::parse(text).unwrap_or_else(|errors| panic!("{errors:?}\n{text}"));
    let (graphs, facts) = (module.graphs(), module.facts());
    let target = Target::parse(machine).unwrap();
    if target.machine().axes.is_empty() {
        let planner = TiledPlanner::new(&graphs, module.entry, &facts, &target, entry)?;
        let plan = planner.plan(&Options::default(), &mut |_| true)?;
        return Ok((plan.cost, plan.bound));
    }
    let machine = Machine::parse(machine).unwrap();
    let planner = ShardingPlanner::new(&graphs, module.entry, &facts, &machine)?;
    let plan = planner.plan(&Options::default(), &mut |_| true)?;
    Ok((plan.cost, plan.bound))
}

/// The number of programs in a test: `INVARIANCE_CASES`, or `usual`.
fn cases(usual: u64) -> u64 {
    env::var("INVARIANCE_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
}

/// Compares programs of consecutive seeds, and lists all texts that differ.
fn compare(count: u64, differ: impl Fn(u64) -> Option<String>) {
    let found: Vec<String> = (0..cases(count)).filter_map(differ).collect();
    assert!(found.is_empty(), "{} differ:\n{}", found.len(), found.join("\n\n"));
}

/// Two texts of one program, if their costs differ.
fn differing(seed: u64, machine: &str, texts: [(&str, EntryLayouts); 2]) -> Option<String> {
    let [one, other] = texts.map(|(text, entry)| planned(text, machine, entry).map_err(|why| why.to_string()));
    let [a, b] = texts.map(|(text, _)| text);
    (one != other).then(|| format!("seed {seed} on {machine}: {one:?} and {other:?}\n{a}\n{b}"))
}

/// A machine of few nodes, so that many programs are cut unevenly.
const PLACES: &str = "axes: (2_G, 4_PE), memories: (LM: 1 at PE with 32768 bytes), word: 32";

#[test]
fn the_order_of_the_text_and_names_change_nothing() {
    for (machine, count) in [("tpu_v5e", 12), ("cpu", 12), (PLACES, 12), ("mn_core_2", 2), ("tpu_v5e_8", 4)] {
        compare(count, |seed| {
            let mut rng = Rng::with_seed(seed);
            let program = Program::random(&mut rng);
            let entry = if rng.bool() { EntryLayouts::Default } else { EntryLayouts::Free };
            let one = program.text(&Written::default());
            let other = program.text(&Written::shuffled(&program, &mut rng));
            differing(seed, machine, [(&one, entry), (&other, entry)])
        });
    }
}

#[test]
fn what_is_computed_twice_costs_as_much_as_once() {
    for (machine, count) in [("tpu_v5e", 24), ("cpu", 24), (PLACES, 12)] {
        compare(count, |seed| {
            let mut rng = Rng::with_seed(seed);
            let program = Program::random(&mut rng);
            let twice = program.with_a_copy(&mut rng);
            let (one, other) = (program.text(&Written::default()), twice.text(&Written::shuffled(&twice, &mut rng)));
            differing(seed, machine, [(&one, EntryLayouts::Free), (&other, EntryLayouts::Free)])
        });
    }
}

/// A cast is a part of the product that it casts wherever it stands, once both are merged with what is equal.
#[test]
fn casts_of_products_are_found_in_the_whole_program() {
    let free = |computations: &str, body: &str| {
        let text = format!(
            "HloModule m\n\n{computations}ENTRY e {{\n  p = f32[512,512] parameter(0)\n  q = f32[512,512] parameter(1)\n{body}}}\n"
        );
        planned(&text, "tpu_v5e", EntryLayouts::Free).unwrap().0
    };
    let dot = |name: &str| {
        format!("  {name} = f32[512,512] dot(p, q), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}\n")
    };
    let cast = |name: &str, of: &str| format!("  {name} = bf16[512,512] convert({of})\n");
    let negated = "  ROOT n = bf16[512,512] negate(c)\n";
    let flat = free("", &[&dot("d"), &cast("c", "d"), negated].concat());
    let of = "f {\n  d = f32[512,512] parameter(0)\n  ROOT c = bf16[512,512] convert(d)\n}\n\n";
    let call = "  c = bf16[512,512] call(d), to_apply=f\n";
    assert_eq!(free(of, &[&dot("d"), call, negated].concat()), flat);
    // Twice the same product and cast is once.
    let both = "  ROOT r = (bf16[512,512], bf16[512,512]) tuple(c, g)\n";
    let once = free("", &[&dot("d"), &cast("c", "d"), "  g = bf16[512,512] negate(c)\n", both].concat());
    let twice = [&dot("d"), &cast("c", "d"), &dot("h"), &cast("k", "h"), "  g = bf16[512,512] negate(k)\n", both];
    assert_eq!(free("", &twice.concat()), once);
    // What also takes the product itself takes it in its own type.
    let wide = "  g = f32[512,512] negate(d)\n  ROOT r = (bf16[512,512], f32[512,512]) tuple(c, g)\n";
    let other = "  g = f32[512,512] negate(h)\n  ROOT r = (bf16[512,512], f32[512,512]) tuple(c, g)\n";
    let one = free("", &[&dot("d"), &cast("c", "d"), wide].concat());
    assert_eq!(free("", &[&dot("d"), &cast("c", "d"), &dot("h"), other].concat()), one);
}

#[test]
fn both_names_of_what_is_computed_twice_have_layouts() {
    let text = "HloModule m\n\nENTRY e {\n  x = f32[256,128] parameter(0)\n  a = f32[256,128] negate(x)\n  \
                b = f32[256,128] negate(x)\n  ROOT c = f32[256,128] add(a, b)\n}\n";
    let module = Module::parse(text).unwrap();
    let (graphs, facts, target) = (module.graphs(), module.facts(), Target::parse("tpu_v5e").unwrap());
    let planner = TiledPlanner::new(&graphs, module.entry, &facts, &target, EntryLayouts::Free).unwrap();
    let plan = planner.plan(&Options::default(), &mut |_| true).unwrap();
    let layouts = |node: usize| {
        let own = plan.values.iter().filter(|((_, other, _), _)| *other == node).map(|(_, layouts)| layouts.clone());
        own.collect::<Vec<_>>()
    };
    assert_eq!(layouts(1), layouts(2));
    let why = |node: usize| planner.why((module.entry, node, 0), &Options::default(), &mut |_| true);
    assert!(!why(1).is_empty());
    assert_eq!(why(1), why(2));
}

/// A program of `x` and `y` with two sums, the second of which `again` computes, and a condition `c`.
fn two_sums(computations: &str, again: &str) -> String {
    format!(
        "HloModule m\n\nadd {{\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT c = f32[] add(a, b)\n}}\n\n\
         {computations}ENTRY e {{\n  x = f32[512,256] parameter(0)\n  y = f32[256,512] parameter(1)\n  \
         c = pred[] parameter(2)\n  z = f32[] constant(0)\n  p = f32[512,512] dot(x, y), lhs_contracting_dims={{1}}, \
         rhs_contracting_dims={{0}}\n  s = f32[512] reduce(p, z), dimensions={{0}}, to_apply=add\n{again}  \
         ROOT r = (f32[512], f32[512]) tuple(s, t)\n}}\n"
    )
}

#[test]
fn equal_operations_are_found_through_calls_and_around_branches_and_no_further() {
    let dot = "dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}";
    let part = |name: &str, root: &str| {
        format!(
            "{name} {{\n  x = f32[512,256] parameter(0)\n  y = f32[256,512] parameter(1)\n  z = f32[] constant(0)\n  \
             p = f32[512,512] {root}\n  ROOT s = f32[512] reduce(p, z), dimensions={{0}}, to_apply=add\n}}\n\n"
        )
    };
    let free = |computations: &str, again: &str| {
        planned(&two_sums(computations, again), "tpu_v5e", EntryLayouts::Free).unwrap().0
    };
    let (first, once) = (part("f", dot), free("", "  t = f32[512] negate(s)\n"));
    let call = "  u = f32[512] call(x, y), to_apply=f\n  t = f32[512] negate(u)\n";
    assert_eq!(free(&first, call), once);
    // A barrier says that it is computed again, in a call as well.
    let behind = "  o = (f32[512,256], f32[256,512]) tuple(x, y)\n  b = (f32[512,256], f32[256,512]) opt-barrier(o)\n  \
                  v = f32[512,256] get-tuple-element(b), index=0\n  w = f32[256,512] get-tuple-element(b), index=1\n";
    let called = format!("{behind}  u = f32[512] call(v, w), to_apply=f\n  t = f32[512] negate(u)\n");
    let inline = format!(
        "{behind}  q = f32[512,512] dot(v, w), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}\n  \
         u = f32[512] reduce(q, z), dimensions={{0}}, to_apply=add\n  t = f32[512] negate(u)\n"
    );
    let twice = free("", &inline);
    assert!(twice > once, "{twice} is the cost of two sums, and {once} that of one");
    assert_eq!(free(&first, &called), twice);
    // A branch sees what is computed before it, and not what is computed in another one.
    let other = part("g", dot);
    let pair = "(f32[512,256], f32[256,512])";
    let branch = |name: &str| {
        format!(
            "{name} {{\n  p = {pair} parameter(0)\n  x = f32[512,256] get-tuple-element(p), index=0\n  \
             y = f32[256,512] get-tuple-element(p), index=1\n  ROOT s = f32[512] call(x, y), to_apply=g\n}}\n\n"
        )
    };
    let branches = format!("{other}{}{}", branch("h"), branch("i"));
    let conditional = format!(
        "  o = {pair} tuple(x, y)\n  u = f32[512] conditional(c, o, o), true_computation=h, false_computation=i\n  \
         t = f32[512] negate(u)\n"
    );
    let seen = free(&branches, &conditional);
    assert!(seen < once + once / 2, "{seen} is the cost of two branches that see the sum, which costs {once}");
}

#[test]
fn dead_code_costs_nothing() {
    for (machine, count) in [("tpu_v5e", 12), ("cpu", 12)] {
        compare(count, |seed| {
            let program = Program::random(&mut Rng::with_seed(seed));
            let one = program.text(&Written::default());
            let other = program.without_dead_code().text(&Written::default());
            differing(seed, machine, [(&one, EntryLayouts::Free), (&other, EntryLayouts::Free)])
        });
    }
    // Dead code has neither the first read of a value nor is it merged with live code, at any position.
    let sum = "  v4 = f32[3] add(v1, v1)\n";
    let dead = "  v7 = f32[3] add(v1, v1)\n  v8 = f32[3] tanh(v4)\n";
    let text = |lines: &str| {
        format!("HloModule m\nENTRY main {{\n  v1 = f32[3] parameter(0)\n{lines}  ROOT root = (f32[3]) tuple(v4)\n}}\n")
    };
    let (before, after) = dead.split_at(dead.find("  v8").expect("the second one"));
    for lines in [sum.to_string(), format!("{before}{sum}{after}"), format!("{sum}{dead}")] {
        let cost = planned(&text(&lines), "tpu_v5e", EntryLayouts::Default).unwrap();
        assert_eq!(cost, (1_827, 1_827), "{lines}");
    }
}

#[test]
fn default_layouts_that_the_text_says_change_nothing() {
    for machine in ["tpu_v5e", "cpu"] {
        let target = Target::parse(machine).unwrap();
        compare(16, |seed| {
            let program = Program::random(&mut Rng::with_seed(seed));
            let plain = program.text(&Written::default());
            let ends = program.text(&Written { layouts: Some((&target, true)), ..Written::default() });
            let all = program.text(&Written { layouts: Some((&target, false)), ..Written::default() });
            let plain = (&*plain, EntryLayouts::Default);
            let texts = [(&*ends, EntryLayouts::Fixed), (&*all, EntryLayouts::Default), (&*all, EntryLayouts::Fixed)];
            texts.into_iter().find_map(|text| differing(seed, machine, [plain, text]))
        });
    }
}

/// Chains of a reshape, a transpose and a reshape back or on, up to seven dimensions.
#[test]
fn default_layouts_around_reshapes_change_nothing() {
    crate::long_test!();
    let target = Target::parse("tpu_v5e").unwrap();
    compare(60, |seed| {
        let mut rng = Rng::with_seed(seed);
        let factors: Vec<i64> = (0..rng.usize(3..8)).map(|_| [2, 3, 4, 6, 8, 16, 33][rng.usize(..7)]).collect();
        let mut order: Vec<usize> = (0..factors.len()).collect();
        if rng.usize(..4) > 0 {
            rng.shuffle(&mut order);
        }
        let transposed: Vec<i64> = order.iter().map(|dim| factors[*dim]).collect();
        let [before, after] = [merged(&mut rng, &factors), merged(&mut rng, &transposed)];
        let order = order.iter().map(usize::to_string).collect::<Vec<_>>().join(",");
        let (first, last) = (rng.bool(), rng.bool());
        let text = |is_said: &dyn Fn(usize) -> bool| {
            let array = |number: usize, sizes: &[i64]| {
                let layout = target.default_layout(ElementType::F32, sizes).unwrap().to_string();
                let text = sizes.iter().map(i64::to_string).collect::<Vec<_>>().join(",");
                format!("f32[{text}]{}", if is_said(number) { layout } else { String::new() })
            };
            let (x, a, b, y) = (array(0, &before), array(2, &factors), array(3, &transposed), array(4, &after));
            let [unary, then] = [first, last].map(|is_negated| if is_negated { "negate" } else { "copy" });
            format!(
                "HloModule m\nENTRY main {{\n  x = {x} parameter(0)\n  t = {} {unary}(x)\n  a = {a} reshape(t)\n  \
                 b = {b} transpose(a), dimensions={{{order}}}\n  y = {} reshape(b)\n  ROOT z = {y} {then}(y)\n}}\n",
                array(1, &before),
                array(5, &after)
            )
        };
        let plain = text(&|_| false);
        let said = rng.u32(..);
        let texts = [text(&|_| true), text(&|number| said >> number & 1 == 1)];
        let plain = (&*plain, EntryLayouts::Default);
        planned(plain.0, "tpu_v5e", EntryLayouts::Default).unwrap_or_else(|error| panic!("{error:?}\n{}", plain.0));
        let texts = [
            (&*texts[0], EntryLayouts::Default),
            (&*texts[0], EntryLayouts::Fixed),
            (&*texts[1], EntryLayouts::Default),
        ];
        texts.into_iter().find_map(|text| differing(seed, "tpu_v5e", [plain, text]))
    });
}

/// Neighbouring sizes multiplied at random.
fn merged(rng: &mut Rng, sizes: &[i64]) -> Vec<i64> {
    let mut merged = vec![sizes[0]];
    for size in &sizes[1..] {
        match merged.last_mut().filter(|_| rng.bool()) {
            Some(last) => *last *= size,
            None => merged.push(*size),
        }
    }
    merged
}

/// A reshape into many dimensions before a transpose has a plan.
#[test]
fn reshapes_before_transposes_are_planned() {
    for order in ["0,3,4,2,1", "0,4,3,1,2", "0,4,3,2,1", "0,1,2,3,4"] {
        let text = format!(
            "HloModule m\nENTRY main {{\n  x = f32[2,36,36] parameter(0)\n  r = f32[2,6,6,6,6] reshape(x)\n  \
             ROOT t = f32[2,6,6,6,6] transpose(r), dimensions={{{order}}}\n}}\n"
        );
        planned(&text, "tpu_v5e", EntryLayouts::Default).unwrap_or_else(|error| panic!("{order}: {error:?}"));
    }
}

/// A transpose that can have the layout of neither reshape beside it has copies on both sides.
#[test]
fn a_transpose_between_reshapes_is_planned() {
    let between_reshapes = "HloModule m\nENTRY main {\n  a = f32[8,2,3,2] parameter(0)\n  \
        b = f32[2,2,2,2,3,2] reshape(a)\n  c = f32[2,2,3,2,2,2] transpose(b), dimensions={2,5,4,0,3,1}\n  \
        ROOT d = f32[2,2,2,2,3,2] reshape(c)\n}\n";
    let [default, free] = [EntryLayouts::Default, EntryLayouts::Free].map(|entry| {
        let (cost, bound) = planned(between_reshapes, "tpu_v5e", entry).unwrap();
        assert_eq!(cost, bound);
        cost
    });
    assert!(free <= default, "{free} {default}");
}

/// Free layouts include the default ones: also of arrays with another name that are results and have other users.
#[test]
fn free_layouts_cost_no_more_than_the_default_ones() {
    let dearer = |machine: &str, text: &str| {
        let [default, free] =
            [EntryLayouts::Default, EntryLayouts::Free].map(|entry| planned(text, machine, entry).unwrap());
        (free.1 > default.0).then(|| format!("{free:?} {default:?} on {machine}\n{text}"))
    };
    let main = |lines: &str| format!("HloModule m\nENTRY main {{\n{lines}\n}}\n");
    let names = [
        "y = f32[8,8,128] reshape(x)\n  ROOT r = (f32[8,8,128], f32[8,8,128]) tuple(y, y)",
        "y = f32[128,64] transpose(x), dimensions={1,0}\n  ROOT r = (f32[128,64], f32[128,64]) tuple(y, y)",
        "y = f32[128,64] transpose(x), dimensions={1,0}\n  z = f32[128,64] negate(y)\n  \
         ROOT r = (f32[128,64], f32[128,64]) tuple(y, z)",
        "z = f32[64,128] negate(x)\n  y = f32[128,64] transpose(z), dimensions={1,0}\n  \
         ROOT r = (f32[128,64], f32[64,128]) tuple(y, z)",
    ];
    for lines in names {
        let text = main(&format!("  x = f32[64,128] parameter(0)\n  {lines}"));
        assert_eq!(dearer("tpu_v5e", &text), None);
    }
    for (machine, count) in [("tpu_v5e", 12), ("cpu", 6)] {
        compare(count, |seed| {
            let program = Program::random(&mut Rng::with_seed(1000 + seed));
            dearer(machine, &program.text(&Written::default()))
        });
    }
}
