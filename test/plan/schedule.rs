//! Instruction orders that lower the peak: worked examples, and random programs against random orders.

use crate::sample::Sample;
use fastrand::Rng;
use layout_plan::memory::{MemoryUse, Schedule};
use layout_reference::random_hlo::program;
use std::collections::{BTreeMap, BTreeSet};
use tensor_layout::hlo::{Computation, Module};

fn parse(text: &str) -> Module {
    Module::parse(text).unwrap_or_else(|errors| panic!("{}: {:?}\n{text}", errors[0], errors[0].line_column(text)))
}

/// The bytes of temporaries in each memory.
fn temporaries(module: &Module) -> BTreeMap<u8, i64> {
    let used = MemoryUse::of(module).unwrap();
    used.spaces.iter().map(|(space, own)| (*space, own.temporaries)).collect()
}

/// The names of the instructions of the entry.
fn names(module: &Module) -> Vec<&str> {
    module.computations[module.entry].instructions.iter().map(|own| &*own.name).collect()
}

/// Three products, each followed by a small reduction; the text computes all products first.
const WIDE: &str = "HloModule wide
sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}
ENTRY main {
  x = f32[100]{0} parameter(0)
  zero = f32[] constant(0)
  a = f32[100]{0} reverse(x), dimensions={0}
  b = f32[100]{0} multiply(x, x)
  c = f32[100]{0} add(x, x)
  d = f32[] reduce(a, zero), dimensions={0}, to_apply=sum
  e = f32[] reduce(b, zero), dimensions={0}, to_apply=sum
  f = f32[] reduce(c, zero), dimensions={0}, to_apply=sum
  ROOT y = (f32[], f32[], f32[]) tuple(d, e, f)
}
";

#[test]
fn what_is_large_is_read_before_the_next_is_made() {
    let module = parse(WIDE);
    assert_eq!(temporaries(&module)[&0], 1200);
    let schedule = Schedule::least_memory(&module).unwrap();
    let ordered = schedule.apply(&module).unwrap();
    assert_eq!((temporaries(&ordered)[&0], schedule.bounds[&0]), (400, 400));
    // The same instructions, each with the same operands by name.
    let operands = |module: &Module| {
        let own = &module.computations[module.entry].instructions;
        let of = |k: &usize| own[*k].name.clone();
        own.iter().map(|i| (i.name.clone(), i.operands.iter().map(of).collect::<Vec<_>>())).collect::<BTreeMap<_, _>>()
    };
    assert_eq!(operands(&ordered), operands(&module));
    assert_eq!(ordered.computations[ordered.entry].result().name, "y");
}

#[test]
fn the_body_of_a_loop_is_ordered() {
    let text = WIDE.replace("ENTRY main {\n  x = f32[100]{0} parameter(0)", "body {\n  x = f32[100]{0} parameter(0)");
    let text = text.replace(
        "ROOT y = (f32[], f32[], f32[]) tuple(d, e, f)",
        "g = f32[] add(d, e)\n  h = f32[] add(g, f)\n  ROOT y = f32[100]{0} broadcast(h), dimensions={}",
    ) + "until {\n  p = f32[100]{0} parameter(0)\n  ROOT t = pred[] constant(true)\n}
ENTRY main {\n  x = f32[100]{0} parameter(0)\n  ROOT w = f32[100]{0} while(x), condition=until, body=body\n}\n";
    let module = parse(&text);
    let schedule = Schedule::least_memory(&module).unwrap();
    let ordered = schedule.apply(&module).unwrap();
    let (before, after) = (temporaries(&module)[&0], temporaries(&ordered)[&0]);
    // The output may hold the largest of them.
    assert_eq!((before, after, schedule.bounds[&0]), (804, 408, 8));
}

#[test]
fn effects_and_control_keep_their_order() {
    let custom = |k: usize, more: &str| format!("  o{k} = f32[] custom-call(d{k}), custom_call_target=\"f\"{more}\n");
    let text = |effect: &str, control: &str| {
        let mut text = String::from("HloModule m\nENTRY main {\n  x = f32[100]{0} parameter(0)\n");
        text += "  d1 = f32[200]{0} concatenate(x, x), dimensions={0}\n  d0 = f32[100]{0} reverse(x), dimensions={0}\n";
        // The larger one first lowers the peak.
        text += &custom(0, effect);
        text += &custom(1, &format!("{effect}{control}"));
        text + "  ROOT y = (f32[], f32[]) tuple(o0, o1)\n}\n"
    };
    let order = |text: &str| {
        let module = parse(text);
        let schedule = Schedule::least_memory(&module).unwrap();
        let ordered = schedule.apply(&module).unwrap();
        let names = names(&ordered).into_iter().map(str::to_string).collect::<Vec<_>>();
        let place = |name: &str| names.iter().position(|own| own == name).unwrap();
        let controls = |module: &Module| {
            let own = &module.computations[module.entry].instructions;
            let of = |k: &usize| own[*k].name.clone();
            own.iter().map(|i| (i.name.clone(), i.control.iter().map(of).collect())).collect::<BTreeMap<_, Vec<_>>>()
        };
        assert_eq!(controls(&ordered), controls(&module), "{text}");
        (place("o0") < place("o1"), place("o0") < place("d1"), schedule.bounds[&0])
    };
    for (effect, control) in [(", custom_call_has_side_effect=true", ""), ("", ", control-predecessors={o0}")] {
        assert_eq!(order(&text(effect, control)), (true, true, 800), "{effect}{control}");
    }
    let swapped = |module: &Module| Schedule::of_orders(BTreeMap::from([(module.entry, vec![0, 1, 2, 4, 3, 5])]));
    for (effect, control) in [(", custom_call_has_side_effect=true", ""), ("", ", control-predecessors={o0}")] {
        let module = parse(&text(effect, control));
        let error = swapped(&module).apply(&module).unwrap_err();
        assert_eq!(error.message, "the order of `main`: `o0` must run before `o1`, found it after that");
    }
    let module = parse(&text("", ""));
    assert!(swapped(&module).apply(&module).is_ok());
}

/// An instruction that runs a computation with an effect has an effect.
#[test]
fn calls_of_what_has_an_effect_keep_their_order() {
    let text = |effect: &str| {
        format!(
            "HloModule m
inner {{
  p = f32[100]{{0}} parameter(0)
  ROOT o = f32[] custom-call(p), custom_call_target=\"f\"{effect}
}}
ENTRY main {{
  x = f32[100]{{0}} parameter(0)
  a = f32[] call(x), to_apply=inner
  b = f32[] call(x), to_apply=inner
  ROOT y = (f32[], f32[]) tuple(a, b)
}}
"
        )
    };
    let swapped = |text: &str| {
        let module = parse(text);
        Schedule::of_orders(BTreeMap::from([(module.entry, vec![0, 2, 1, 3])])).apply(&module).map(|_| ())
    };
    assert!(swapped(&text("")).is_ok());
    let error = swapped(&text(", custom_call_has_side_effect=true")).unwrap_err();
    assert_eq!(error.message, "the order of `main`: `a` must run before `b`, found it after that");
}

/// A reader of a buffer may run after its update in place, which then writes to a copy; no order of least memory has
/// such a copy without need.
#[test]
fn updates_in_place_stay_in_place() {
    let update = "dynamic-update-slice(a, u, i)";
    let lists = "backend_config={\"aliasing_operands\":{\"lists\":[{\"indices\":[\"0\",\"1\"]}]}}";
    let call = "custom-call(a), custom_call_target=\"g\"";
    for update in [
        update,
        "scatter(a, j, v), update_window_dims={}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, \
            index_vector_dim=1, to_apply=second",
        "sort(a), dimensions={0}, to_apply=less",
        format!("{call}, output_to_operand_aliasing={{{{}}: (0, {{}})}}").as_str(),
        format!("{call}, {lists}").as_str(),
    ] {
        let text = format!(
            "HloModule m
less {{
  p = f32[] parameter(0)
  q = f32[] parameter(1)
  ROOT l = pred[] compare(p, q), direction=LT
}}
second {{
  p = f32[] parameter(0)
  ROOT q = f32[] parameter(1)
}}
ENTRY main {{
  x = f32[100]{{0}} parameter(0)
  i = s32[] parameter(1)
  u = f32[1]{{0}} parameter(2)
  j = s32[2,1]{{1,0}} parameter(3)
  v = f32[2]{{0}} parameter(4)
  a = f32[100]{{0}} reverse(x), dimensions={{0}}
  r = f32[] custom-call(a), custom_call_target=\"f\"
  d = f32[100]{{0}} {update}
  s = f32[] custom-call(d), custom_call_target=\"f\"
  ROOT y = (f32[], f32[]) tuple(r, s)
}}
"
        );
        let module = parse(&text);
        let order = vec![0, 1, 2, 3, 4, 5, 7, 6, 8, 9];
        let later = Schedule::of_orders(BTreeMap::from([(module.entry, order)])).apply(&module).unwrap();
        // The update needs a buffer of its own, and no output is large enough to hold it.
        assert_eq!((temporaries(&module)[&0], temporaries(&later)[&0]), (400, 800), "{update}");
        let schedule = Schedule::least_memory(&module).unwrap();
        assert_eq!((temporaries(&schedule.apply(&module).unwrap())[&0], schedule.bounds[&0]), (400, 400), "{update}");
    }
}

/// In the least order `r` reads `a` after the update of `a`, which writes to a copy: `r` and `b` are not live together.
#[test]
fn an_update_is_a_copy_where_that_takes_less() {
    let text = "HloModule m
ENTRY main {
  x = f32[100]{0} parameter(0)
  i = s32[] parameter(1)
  u = f32[1]{0} parameter(2)
  a = f32[100]{0} reverse(x), dimensions={0}
  r = f32[1000]{0} custom-call(a), custom_call_target=\"f\"
  d = f32[100]{0} dynamic-update-slice(a, u, i)
  b = f32[1000]{0} custom-call(d), custom_call_target=\"f\"
  s = f32[] custom-call(b), custom_call_target=\"f\"
  t = f32[] custom-call(r, s), custom_call_target=\"f\"
  ROOT y = (f32[], f32[]) tuple(s, t)
}
";
    let module = parse(text);
    let schedule = Schedule::least_memory(&module).unwrap();
    let found = temporaries(&schedule.apply(&module).unwrap())[&0];
    assert_eq!((temporaries(&module)[&0], found, schedule.bounds[&0]), (8400, 4800, 4800));
}

#[test]
fn orders_that_are_none_are_errors() {
    let module = parse(WIDE);
    let error = |number, order: &[usize]| {
        Schedule::of_orders(BTreeMap::from([(number, order.to_vec())])).apply(&module).unwrap_err().message
    };
    let main = module.entry;
    assert_eq!(error(main, &[0, 1]), "the order of `main`: there must be 9 instructions, found 2");
    assert_eq!(error(main, &[0, 0]), "the order of `main`: `x` must be there once");
    assert_eq!(error(main, &[9]), "the order of `main`: a number must be below 9, found 9");
    let moved = [0, 1, 5, 2, 3, 4, 6, 7, 8];
    assert_eq!(error(main, &moved), "the order of `main`: `a` must run before `d`, found it after that");
    assert_eq!(error(7, &[]), "only computations that run have an order, found one of 7");
}

/// Whether an instruction may follow others; parameters stay first.
fn is_ready(computation: &Computation, k: usize, before: &[usize]) -> bool {
    let own = &computation.instructions[k];
    let parameters = if own.opcode == "parameter" { Vec::new() } else { computation.parameters.clone() };
    own.operands.iter().chain(&parameters).all(|operand| before.contains(operand))
        && (own.opcode != "parameter"
            || computation.parameters.iter().all(|other| other >= &k || before.contains(other)))
}

/// A random order of the entry in which each instruction comes after its operands.
fn shuffled(module: &Module, rng: &mut Rng) -> Vec<usize> {
    let own = &module.computations[module.entry].instructions;
    let mut order: Vec<usize> = Vec::new();
    while order.len() < own.len() {
        let ready = |k: &usize| !order.contains(k) && is_ready(&module.computations[module.entry], *k, &order);
        let ready: Vec<usize> = (0..own.len()).filter(ready).collect();
        order.push(*rng.choice(&ready).unwrap());
    }
    order
}

#[test]
fn no_order_of_random_programs_takes_less_than_the_bound() {
    let (mut lower, mut proved, mut all, mut tried) = (0, 0, 0, 0);
    let seeds = Sample::from_env().select(0..400);
    for seed in seeds.iter().copied() {
        let module = parse(&program(seed));
        let schedule = Schedule::least_memory(&module).unwrap();
        let ordered = schedule.apply(&module).unwrap();
        let (before, after) = (temporaries(&module), temporaries(&ordered));
        let bound = |space: &u8| schedule.bounds.get(space).copied().unwrap_or(0);
        for (space, bytes) in &after {
            let (least, most) = (bound(space), before[space]);
            assert!(least <= *bytes && *bytes <= most, "seed {seed}: {least}, {bytes}, {most}");
            lower += usize::from(*bytes < before[space]);
            proved += usize::from(bound(space) == *bytes);
            all += 1;
        }
        // Random orders, also of called computations.
        let mut rng = Rng::with_seed(seed);
        for _ in 0..30 {
            let mut orders = schedule.orders.clone();
            orders.insert(module.entry, shuffled(&module, &mut rng));
            let Ok(other) = Schedule::of_orders(orders).apply(&module) else { continue };
            tried += 1;
            for (space, bytes) in temporaries(&other) {
                let bound = bound(&space);
                assert!(bound <= bytes, "seed {seed}, space {space}: {bound} above {bytes}\n{}", program(seed));
            }
        }
    }
    let least = seeds.len() / 10;
    assert!(lower > least && proved * 10 > all * 7 && tried > 70 * least, "{lower} {proved} of {all}, {tried}");
}

/// A random program of one computation: elementwise and other operations, multiple results, donated arguments.
fn straight(rng: &mut Rng, most: usize) -> String {
    let shapes = ["f32[8]{0}", "f32[16]{0}", "f32[24]{0}"];
    let mut values: Vec<(String, usize)> = Vec::new();
    let mut lines = String::new();
    let parameters = rng.usize(1..3);
    for k in 0..rng.usize(parameters + 2..=most - 1) {
        let name = format!("v{k}");
        let (shape, what) = if k < parameters {
            (rng.usize(..3), format!("parameter({k})"))
        } else {
            let (x, shape) = rng.choice(&values).unwrap().clone();
            let same: Vec<&String> = values.iter().filter(|own| own.1 == shape).map(|own| &own.0).collect();
            let y = rng.choice(same).unwrap();
            match rng.usize(..6) {
                0 => (shape, format!("negate({x})")),
                1 | 2 => (shape, format!("add({x}, {y})")),
                3 => (shape, format!("reverse({x}), dimensions={{0}}")),
                4 => (0, format!("slice({x}), slice={{[0:8]}}")),
                _ if shape == 0 => (rng.usize(1..3), String::new()),
                _ => (shape, format!("copy({x})")),
            }
        };
        let what = if what.is_empty() {
            let small: Vec<&String> = values.iter().filter(|own| own.1 == 0).map(|own| &own.0).collect();
            let parts: Vec<&str> = (0..=shape).map(|_| rng.choice(&small).unwrap().as_str()).collect();
            format!("concatenate({}), dimensions={{0}}", parts.join(", "))
        } else {
            what
        };
        lines += &format!("  {name} = {} {what}\n", shapes[shape]);
        values.push((name, shape));
    }
    let made = &values[parameters..];
    let mut results: Vec<&(String, usize)> = made.iter().filter(|_| rng.usize(..3) == 0).collect();
    if results.is_empty() {
        results.push(made.last().unwrap());
    }
    let mut header = String::new();
    if let Some(k) = results.iter().position(|own| own.1 == values[0].1).filter(|_| rng.bool()) {
        header = format!(", input_output_alias={{ {{{k}}}: (0, {{}}, may-alias) }}");
    }
    let types: Vec<&str> = results.iter().map(|own| shapes[own.1]).collect();
    let names: Vec<&str> = results.iter().map(|own| &*own.0).collect();
    let root = format!("  ROOT root = ({}) tuple({})\n", types.join(", "), names.join(", "));
    format!("HloModule straight{header}\nENTRY main {{\n{lines}{root}}}\n")
}

/// Parameters are there from the beginning, wherever the text has them.
#[test]
fn the_place_of_parameters_changes_nothing() {
    let peaks = |module: &Module| {
        let spaces = MemoryUse::of(module).unwrap().spaces;
        spaces.into_iter().map(|(space, own)| (space, own.peak, own.temporaries)).collect::<Vec<_>>()
    };
    for seed in 0..300 {
        for text in [straight(&mut Rng::with_seed(seed), 12), program(seed)] {
            let module = parse(&text);
            let numbers: BTreeSet<usize> = MemoryUse::of(&module).unwrap().frames.keys().map(|frame| frame.0).collect();
            let moved = |late: bool| {
                let order = |number: &usize| {
                    let own = &module.computations[*number];
                    let reader = |k: &usize| own.instructions.iter().position(|other| other.operands.contains(k));
                    let mut order: Vec<usize> = (0..own.instructions.len()).collect();
                    order.sort_by_key(|k| match own.instructions[*k].opcode.as_str() {
                        "parameter" if late => (reader(k).unwrap_or(*k), 0),
                        "parameter" => (0, own.instructions.len() - k),
                        _ => (*k, own.instructions.len()),
                    });
                    (*number, order)
                };
                Schedule::of_orders(numbers.iter().map(order).collect()).apply(&module).unwrap()
            };
            for late in [false, true] {
                assert_eq!(peaks(&moved(late)), peaks(&module), "seed {seed}, {late}\n{text}");
            }
        }
    }
}

/// All orders of the entry that begin with `begun`, up to `most`.
fn orders(module: &Module, begun: &mut Vec<usize>, found: &mut Vec<Vec<usize>>, most: usize) {
    let own = &module.computations[module.entry].instructions;
    if begun.len() == own.len() {
        found.push(begun.clone());
        return;
    }
    for k in 0..own.len() {
        let ready = !begun.contains(&k) && is_ready(&module.computations[module.entry], k, begun);
        if ready && found.len() < most {
            begun.push(k);
            orders(module, begun, found, most);
            begun.pop();
        }
    }
}

/// Small programs, all orders of which are tried: the order and the bound beside the least of all.
#[test]
fn orders_of_small_programs_are_the_least_of_all() {
    let (mut lower, mut least_of, mut proved, mut whole) = (0, 0, 0, 0);
    for seed in 0..200 {
        let text = straight(&mut Rng::with_seed(seed), 9);
        let module = parse(&text);
        let schedule = Schedule::least_memory(&module).unwrap();
        let found = temporaries(&schedule.apply(&module).unwrap())[&0];
        let mut all = Vec::new();
        orders(&module, &mut Vec::new(), &mut all, 300);
        let apply = |order: &Vec<usize>| {
            let other = Schedule::of_orders(BTreeMap::from([(module.entry, order.clone())]));
            temporaries(&other.apply(&module).unwrap())[&0]
        };
        let least = all.iter().map(apply).min().unwrap();
        assert!(schedule.bounds[&0] <= least, "seed {seed}: {} above {least}\n{text}", schedule.bounds[&0]);
        whole += usize::from(all.len() < 300);
        least_of += usize::from(found <= least);
        proved += usize::from(found == schedule.bounds[&0]);
        lower += usize::from(found < temporaries(&module)[&0]);
    }
    assert!(lower > 20 && whole > 100, "{lower} {whole}");
    // `docs/memory.md` has these numbers.
    assert_eq!((least_of, proved), (200, 200));
}

/// Programs of 16 to 64 instructions, with donated arguments and without: how many have an order with less, and how
/// many of the orders are proved to be the least. `docs/memory.md` has these numbers.
#[test]
fn orders_of_up_to_64_instructions_are_lower() {
    let counted = |size: usize| {
        let (mut lower, mut proved) = (0, 0);
        for seed in 0..20 {
            let mut rng = Rng::with_seed(seed);
            let mut programs = std::iter::repeat_with(|| parse(&straight(&mut rng, size)));
            let module = programs.find(|own| own.computations[own.entry].instructions.len() == size).unwrap();
            let schedule = Schedule::least_memory(&module).unwrap();
            let found = temporaries(&schedule.apply(&module).unwrap())[&0];
            proved += usize::from(found == schedule.bounds[&0]);
            lower += usize::from(found < temporaries(&module)[&0]);
        }
        (size, lower, proved)
    };
    for expected in Sample::from_env().select_long([(16, 17, 16), (32, 20, 14), (48, 20, 15), (64, 20, 14)]) {
        assert_eq!(counted(expected.0), expected);
    }
}

/// A large value must be updated in place to end in a result, which decides its last read.
#[test]
fn values_that_end_in_results_take_nothing() {
    for (text, before, after) in [
        (include_str!("../schedule/two_results.hlo"), 36, 0),
        (include_str!("../schedule/chain_into_a_result.hlo"), 56_912, 51_200),
    ] {
        let module = parse(text);
        let schedule = Schedule::least_memory(&module).unwrap();
        let ordered = schedule.apply(&module).unwrap();
        let found = (temporaries(&module)[&0], temporaries(&ordered)[&0], schedule.bounds[&0]);
        assert_eq!((found.0, found.1), (before, after));
        assert!(found.2 <= after);
    }
}

/// An update copies its operand if the text reads it later or twice; other readers may then follow.
#[test]
fn updates_of_copies_have_no_readers_before_them() {
    let text = "HloModule m
ENTRY main {
  v0 = f32[256]{0} parameter(0)
  v1 = f32[256]{0} parameter(1)
  v2 = f32[1000]{0} parameter(2)
  z = s32[] constant(0)
  v3 = f32[1256]{0} concatenate(v0, v2), dimensions={0}
  v4 = f32[256]{0} custom-call(v0, v3), custom_call_target=\"f\"
  v5 = f32[1256]{0} negate(v3)
  v6 = f32[1256]{0} dynamic-update-slice(v3, v3, z)
  v7 = f32[628]{0} slice(v3), slice={[0:628]}
  ROOT t = (f32[256]{0}, f32[1256]{0}, f32[1256]{0}, f32[628]{0}) tuple(v4, v5, v6, v7)
}
";
    let module = parse(text);
    let peak = |module: &Module| MemoryUse::of(module).unwrap().spaces[&0].peak;
    let ordered = Schedule::least_memory(&module).unwrap().apply(&module).unwrap();
    assert_eq!((peak(&module), peak(&ordered)), (24_660, 19_636));
}
