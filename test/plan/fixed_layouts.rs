//! Fixed layouts of instructions: plans keep them, with copies where needed.

use layout_plan::plan::{EntryLayouts, LayoutPlan, Planner, TiledPlanner};
use layout_plan::solver::Options;
use std::collections::BTreeSet;
use tensor_layout::hlo::Module;
use tensor_layout::operations::{Shape, leaves};
use tensor_layout::targets::Target;

/// The plan of a text, checked to keep each instruction's fixed layouts.
fn planned(text: &str, machine: &str, entry: EntryLayouts) -> LayoutPlan {
    let module = Module::parse(text).unwrap_or_else(|errors| panic!("{errors:?}\n{text}"));
    let target = Target::parse(machine).unwrap();
    let (graphs, facts) = (module.graphs(), module.facts());
    let planner = TiledPlanner::new(&graphs, module.entry, &facts, &target, entry).unwrap();
    let plan = planner.plan(&Options::default(), &mut |_| true).unwrap();
    let mut seen = BTreeSet::new();
    for own in planner.laid_out(&plan).unwrap() {
        // A program result has its definition's node and comes after that.
        let Some(fixed) = facts.fixed_layouts.get(&own.node).filter(|_| seen.insert(own.node)) else { continue };
        for (found, kept) in own.operands.iter().zip(&fixed.operands) {
            let kept = kept.as_ref().map(|kept| &kept.minor_to_major);
            let order = found.as_ref().unwrap().order();
            assert!(kept.is_none_or(|kept| kept == order), "{order:?} on {machine}\n{text}");
        }
        for (result, operand) in &fixed.aliases {
            if let (Some(operand), Some(result)) = (own.operands.get(*operand), own.results.get(*result)) {
                assert_eq!(operand.as_ref(), Some(result), "{machine}\n{text}");
            }
        }
        let shapes = &graphs[own.node.0].nodes[own.node.1].results;
        let arrays = shapes.iter().flat_map(leaves).collect::<Vec<_>>();
        if fixed.results && own.results.len() == arrays.len() {
            for (found, kept) in own.results.iter().zip(arrays) {
                assert_eq!(found.order(), kept.layout.minor_to_major, "{machine}\n{text}");
            }
        }
    }
    plan
}

/// A program of these lines, with the given entry layouts.
fn main_of(entry: &str, lines: &[&str]) -> String {
    let head = "HloModule m, entry_computation_layout=";
    let sum = "sum {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT s = f32[] add(a, b)\n}\n";
    format!("{head}{entry}\n{sum}ENTRY e {{\n  {}\n}}\n", lines.join("\n  "))
}

/// The number of relayouts of a program with a fixed entry, on each machine.
fn relayouts(text: &str) -> [usize; 2] {
    ["cpu", "tpu_v5e"].map(|machine| planned(text, machine, EntryLayouts::Fixed).relayouts.len())
}

/// Operands have the layouts of the list, and results those of the text, in any context.
#[test]
fn constraints_of_custom_calls_are_kept() {
    let call = "custom-call(q), custom_call_target=\"k\", operand_layout_constraints";
    let turned = main_of(
        "{(f32[512,1024]{1,0})->f32[512,1024]{0,1}}",
        &[
            "p = f32[512,1024] parameter(0)",
            "q = f32[512,1024] exponential(p)",
            &format!("ROOT c = f32[512,1024]{{0,1}} {call}={{f32[512,1024]{{0,1}}}}"),
        ],
    );
    // One copy changes the operand's layout, before or after the exponential.
    assert_eq!(relayouts(&turned)[1], 1, "{turned}");
    let fitting = turned.replace("(f32[512,1024]{1,0})", "(f32[512,1024]{0,1})");
    assert_eq!(relayouts(&fitting), [0, 0], "{fitting}");
    // A result of the program in another layout than the call's is a copy.
    let copied = fitting.replace("->f32[512,1024]{0,1}", "->f32[512,1024]{1,0}");
    assert_eq!(relayouts(&copied), [1, 1], "{copied}");
    let several = main_of(
        "{(f32[64,256]{1,0}, f32[256,64]{0,1})->f32[64,256]{1,0}}",
        &[
            "p = f32[64,256] parameter(0)",
            "q = f32[256,64] parameter(1)",
            "c = (f32[64,256]{0,1}, f32[256,64]{1,0}) custom-call(p, q), custom_call_target=\"k\", operand_layout_constraints={f32[64,256]{1,0}, f32[256,64]{0,1}}",
            "a = f32[64,256] get-tuple-element(c), index=0",
            "b = f32[256,64] get-tuple-element(c), index=1",
            "t = f32[64,256] transpose(b), dimensions={1,0}",
            "ROOT r = f32[64,256] add(a, t)",
        ],
    );
    planned(&several, "tpu_v5e", EntryLayouts::Fixed);
    planned(&several, "cpu", EntryLayouts::Default);
    let started = main_of(
        "{(f32[64,256]{1,0})->f32[64,256]{1,0}}",
        &[
            "p = f32[64,256] parameter(0)",
            "s = ((f32[64,256]{0,1}), f32[64,256]{0,1}, u32[]) custom-call-start(p), custom_call_target=\"k\", operand_layout_constraints={f32[64,256]{0,1}}",
            "ROOT d = f32[64,256]{0,1} custom-call-done(s)",
        ],
    );
    assert_eq!(relayouts(&started), [2, 2], "{started}");
}

/// Without constraints a custom call accepts any layouts.
#[test]
fn custom_calls_without_constraints_need_no_copies() {
    let one = main_of(
        "{(f32[42,2,3]{0,1,2})->f32[1,2,3,4]{0,2,3,1}}",
        &["p = f32[42,2,3] parameter(0)", "ROOT c = f32[1,2,3,4] custom-call(p), custom_call_target=\"f\""],
    );
    assert_eq!(relayouts(&one), [0, 0], "{one}");
    let many = main_of(
        "{(f32[8,16,24]{0,2,1}, f32[8,16,24]{2,1,0})->(f32[8,16,24]{1,0,2}, f32[16,24]{0,1}, f32[8]{0})}",
        &[
            "p = f32[8,16,24] parameter(0)",
            "q = f32[8,16,24] parameter(1)",
            "c = (f32[8,16,24], f32[16,24], f32[8]) custom-call(p, q), custom_call_target=\"f\"",
            "x = f32[8,16,24] get-tuple-element(c), index=0",
            "y = f32[16,24] get-tuple-element(c), index=1",
            "z = f32[8] get-tuple-element(c), index=2",
            "ROOT r = (f32[8,16,24], f32[16,24], f32[8]) tuple(x, y, z)",
        ],
    );
    assert_eq!(relayouts(&many), [0, 0], "{many}");
    // A result aliased with an operand has its layout.
    let aliased = main_of(
        "{(f32[64,256]{0,1})->f32[64,256]{1,0}}",
        &[
            "p = f32[64,256] parameter(0)",
            "ROOT c = f32[64,256] custom-call(p), custom_call_target=\"f\", output_to_operand_aliasing={{}: (0, {})}",
        ],
    );
    assert_eq!(relayouts(&aliased), [1, 1], "{aliased}");
}

/// Values of infeeds, outfeeds and other transfers have the layout of the text.
#[test]
fn transfers_keep_their_layouts() {
    let fed = main_of(
        "{()->f32[64,256]{1,0}}",
        &[
            "t = token[] after-all()",
            "i = (f32[64,256]{0,1}, token[]) infeed(t)",
            "ROOT d = f32[64,256]{0,1} get-tuple-element(i), index=0",
        ],
    );
    assert_eq!(relayouts(&fed), [1, 1], "{fed}");
    assert_eq!(relayouts(&fed.replace("->f32[64,256]{1,0}", "->f32[64,256]{0,1}")), [0, 0]);
    let out = main_of(
        "{(f32[64,256]{1,0})->f32[64,256]{1,0}}",
        &[
            "p = f32[64,256] parameter(0)",
            "t = token[] after-all()",
            "o = token[] outfeed(p, t), outfeed_shape=f32[64,256]{0,1}",
            "ROOT r = f32[64,256] negate(p)",
        ],
    );
    assert_eq!(relayouts(&out), [1, 1], "{out}");
    let sent = main_of(
        "{(f32[64,256]{1,0})->f32[64,256]{1,0}}",
        &[
            "p = f32[64,256] parameter(0)",
            "t = token[] after-all()",
            "s = (f32[64,256]{0,1}, u32[], token[]) send(p, t), channel_id=1",
            "e = token[] send-done(s), channel_id=1",
            "v = (f32[64,256]{0,1}, u32[], token[]) recv(t), channel_id=2",
            "w = (f32[64,256]{0,1}, token[]) recv-done(v), channel_id=2",
            "ROOT r = f32[64,256]{0,1} get-tuple-element(w), index=0",
        ],
    );
    assert_eq!(relayouts(&sent), [2, 2], "{sent}");
}

#[test]
fn results_that_are_to_keep_their_layouts_do() {
    for opcode in [
        "negate(p), metadata={op_name=\"a\" preserve_layout=true}",
        "all-reduce(p), to_apply=sum, constrain_layout=true",
        "custom-call(p), custom_call_target=\"LayoutConstraint\"",
    ] {
        let text = main_of(
            "{(f32[64,256]{1,0})->f32[64,256]{1,0}}",
            &["p = f32[64,256] parameter(0)", &format!("ROOT r = f32[64,256]{{0,1}} {opcode}")],
        );
        planned(&text, "tpu_v5e", EntryLayouts::Free);
        planned(&text, "cpu", EntryLayouts::Free);
        let [cpu, tpu] = relayouts(&text);
        assert!((1..=2).contains(&cpu) && (1..=2).contains(&tpu), "{cpu} {tpu}\n{text}");
        let free = text.replace(" preserve_layout=true", " preserve=\"preserve_layout=true\"");
        if free != text {
            assert_eq!(relayouts(&free), [0, 0], "{free}");
        }
    }
    let reshaped = main_of(
        "{(f32[32,650]{1,0}, s32[16,1,18]{0,1,2})->f32[16,1,18,32]{3,1,2,0}}",
        &[
            "operand = f32[32,650]{1,0} parameter(0)",
            "turned = f32[650,32]{0,1} transpose(operand), dimensions={1,0}",
            "indices = s32[16,1,18]{0,1,2} parameter(1)",
            "flat = s32[288,1]{1,0} reshape(indices)",
            "rows = f32[288,1,32]{2,1,0} gather(turned, flat), offset_dims={1,2}, collapsed_slice_dims={}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,32}",
            "ROOT r = f32[16,1,18,32]{3,2,1,0} reshape(rows), metadata={preserve_layout=true}",
        ],
    );
    for machine in ["cpu", "tpu_v5e"] {
        for entry in [EntryLayouts::Fixed, EntryLayouts::Default, EntryLayouts::Free] {
            planned(&reshaped, machine, entry);
        }
    }
}

/// Branches accept any layout: all results of a conditional share one.
#[test]
fn conditionals_copy_only_what_a_branch_has_otherwise() {
    let branches = "yes {\n  p = (f32[128,8],f32[128,8]) parameter(0)\n  a = f32[128,8] get-tuple-element(p), index=0\n  b = f32[128,8] get-tuple-element(p), index=1\n  c = f32[128,8] add(a, b)\n  ROOT t = (f32[128,8]) tuple(c)\n}\nno {\n  p = (f32[128,8],f32[128,8]) parameter(0)\n  k = token[] after-all()\n  i = (f32[128,8]{0,1}, token[]) infeed(k)\n  d = f32[128,8]{0,1} get-tuple-element(i), index=0\n  ROOT t = (f32[128,8]) tuple(d)\n}\n";
    let text = |layout: &str| {
        format!(
            "HloModule m, entry_computation_layout={{(f32[128,8]{layout}, f32[128,8]{layout}, pred[])->(f32[128,8]{layout})}}\n{branches}ENTRY e {{\n  x = f32[128,8] parameter(0)\n  y = f32[128,8] parameter(1)\n  p = pred[] parameter(2)\n  t = (f32[128,8], f32[128,8]) tuple(x, y)\n  ROOT c = (f32[128,8]) conditional(p, t, t), true_computation=yes, false_computation=no\n}}\n"
        )
    };
    assert_eq!(relayouts(&text("{0,1}")), [0, 0]);
    // The infeed's layout differs from the result's: one copy, in that branch.
    let text = text("{1,0}");
    assert_eq!(relayouts(&text), [1, 1]);
    let module = Module::parse(&text).unwrap();
    let plan = planned(&text, "tpu_v5e", EntryLayouts::Fixed);
    let (graph, node, _) = plan.relayouts[0].at;
    assert_eq!(module.computations[graph].instructions[node].name, "i");
    assert!(matches!(module.computations[graph].instructions[node].shape, Shape::Tuple(_)));
}

/// A result in the buffer of an argument has the argument's layout, also where two look-ups want two.
#[test]
fn an_argument_and_the_result_in_its_buffer_have_one_layout() {
    let lines = "p = f32[200,500] parameter(0)
  i = s32[300] parameter(1)
  x = f32[1000,500] parameter(2)
  j = s32[200] parameter(3)
  c = f32[200,300] gather(p, i), offset_dims={0}, collapsed_slice_dims={1}, start_index_map={1}, index_vector_dim=1, slice_sizes={200,1}
  y = f32[200,500] gather(x, j), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,500}
  ROOT r = (f32[200,500], f32[200,300]) tuple(y, c)";
    let head = |alias: &str| format!("HloModule m{alias}\nENTRY main {{\n  {lines}\n}}\n");
    let apart = planned(&head(""), "tpu_v5e", EntryLayouts::Free);
    assert_ne!(apart.arguments[0].order(), apart.results[0].order());
    for kind in ["must-alias", "may-alias"] {
        let alias = format!(", input_output_alias={{ {{0}}: (0, {{}}, {kind}) }}");
        let plan = planned(&head(&alias), "tpu_v5e", EntryLayouts::Free);
        assert_eq!(plan.arguments[0], plan.results[0]);
        assert!(plan.cost >= apart.cost);
    }
}
