//! One program has one optimum: a plan costs as much from HLO as from its import, and freer entries cost no more.

use crate::jit;
use layout_plan::plan::{EntryLayouts, Planner, TiledPlanner};
use layout_plan::solver::Options;
use layout_reference::changes::modules;
use melior::diagnostic::DiagnosticSeverity;
use melior::ir::Module;
use melior::ir::operation::OperationLike;
use melior::pass::PassManager;
use melior::{Context, utility};
use std::cell::Cell;
use std::rc::Rc;
use tensor_layout::hlo;
use tensor_layout::targets::Target;

/// Programs of `test/hlo` whose imports are other programs: loops whose trip counts only HLO says, look-ups as loops, bitcasts
/// that loops write, convolutions without windows as products.
const OTHERS: [&str; 10] = [
    "attention.opt",
    "embedding_gather.opt",
    "embedding_gather.unopt",
    "kvcache_update.opt",
    "kvcache_update.unopt",
    "lstm_scan.opt",
    "lstm_scan.unopt",
    "resnet_block.opt",
    "resnet_block.unopt",
    "vit_patchify.opt",
];

/// Whether two costs differ by at most a fiftieth.
fn alike(a: i64, b: i64) -> bool {
    (a - b).abs() * 50 <= a.max(b)
}

/// The cost of a plan of HLO.
fn cost_of_hlo(text: &str, entry: EntryLayouts) -> i64 {
    let module = hlo::Module::parse(text).expect("a module");
    let (graphs, target) = (module.graphs(), Target::parse("tpu_v5e").expect("a machine"));
    let planner = TiledPlanner::new(&graphs, module.entry, &module.facts(), &target, entry).expect("a problem");
    planner.plan(&Options::default(), &mut |_| true).expect("a plan").cost
}

/// The cost of a plan of the import of HLO.
fn cost_of_import(context: &Context, text: &str, entry: &str) -> i64 {
    let module = hlo::Module::parse(text).expect("a module");
    let mlir = layout_translate::import(&module, text, "program").expect("an import");
    let cost = Rc::new(Cell::new(0));
    let told = cost.clone();
    let handler = context.attach_diagnostic_handler(move |diagnostic| {
        let message = diagnostic.to_string();
        if let Some(rest) = message.strip_prefix("the plan costs ") {
            told.set(rest.split(' ').next().and_then(|number| number.parse().ok()).expect("a cost"));
        }
        matches!(diagnostic.severity(), DiagnosticSeverity::Remark)
    });
    let mut module = Module::parse(context, &mlir).expect("MLIR");
    let passes = PassManager::new(context);
    let pipeline = format!("builtin.module(layout-plan{{machine=tpu_v5e report entry={entry}}})");
    utility::parse_pass_pipeline(passes.as_operation_pass_manager(), &pipeline).expect("a pipeline");
    passes.run(&mut module).expect("a plan");
    assert!(module.as_operation().verify(), "{mlir}");
    context.detach_diagnostic_handler(handler);
    cost.get()
}

/// Compares the costs of a program with those of its import, where that is the same program.
fn compare(context: &Context, name: &str, text: &str, same: bool) {
    let costs = ["free", "default", "fixed"].map(|entry| cost_of_import(context, text, entry));
    assert!(costs.is_sorted(), "{name} costs {costs:?} in any layouts, in the default ones, and as it is");
    let of_hlo = [EntryLayouts::Free, EntryLayouts::Default].map(|entry| cost_of_hlo(text, entry));
    assert!(of_hlo.is_sorted(), "{name} costs {of_hlo:?} in any layouts, and in the default ones");
    let fits = of_hlo.iter().zip(costs).all(|(a, b)| alike(*a, b));
    assert!(fits || !same, "{name} costs {of_hlo:?}, and its import {costs:?}");
}

#[test]
fn programs_and_their_imports() {
    let context = jit::context();
    for (path, text) in modules("hlo") {
        let same = !OTHERS.iter().any(|other| path.ends_with(&format!("{other}.hlo")));
        compare(&context, &path, &text, same);
    }
}

/// Convolutions with their dimensions in any order, with strides, dilations, padding and groups.
#[test]
fn convolutions() {
    let context = jit::context();
    for (input, kernel, output, labels, window) in [
        ("2,16,16,8", "3,3,8,32", "2,16,16,32", "b01f_01io->b01f", "size=3x3 pad=1_1x1_1"),
        ("2,8,16,16", "32,8,3,3", "2,32,14,14", "bf01_oi01->bf01", "size=3x3"),
        ("2,8,17,17", "32,8,3,3", "2,32,8,8", "bf01_oi01->bf01", "size=3x3 stride=2x2"),
        ("16,16,8,2", "3,3,32,8", "12,12,32,2", "01fb_01oi->01fb", "size=3x3 rhs_dilate=2x2"),
        ("8,2,16,16", "8,3,3,32", "32,2,16,16", "fb01_i01o->fb01", "size=3x3 pad=1_1x1_1"),
        ("4,64,16", "5,16,32", "4,60,32", "b0f_0io->b0f", "size=5"),
        ("2,8,8,8,4", "3,3,3,4,16", "2,6,6,6,16", "b012f_012io->b012f", "size=3x3x3"),
    ] {
        let text = format!(
            "HloModule c\nENTRY main {{\n  x = f32[{input}] parameter(0)\n  w = f32[{kernel}] parameter(1)\n  ROOT y = \
             f32[{output}] convolution(x, w), window={{{window}}}, dim_labels={labels}\n}}\n"
        );
        compare(&context, labels, &text, true);
    }
}
