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

/// Programs of `test/hlo` whose imports are other programs: bitcasts between layouts that loops write.
const OTHERS: [&str; 2] = ["embedding_gather.opt", "kvcache_update.opt"];

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

/// Gathers and scatters of rows, of elements and of batches, with index vectors in any dimension; starts of slices.
#[test]
fn look_ups() {
    let context = jit::context();
    let add = "add {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT c = f32[] add(a, b)\n}\n\n";
    let rows =
        "offset_dims={2}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=2, slice_sizes={1,256}";
    let batch = "offset_dims={}, collapsed_slice_dims={1}, start_index_map={1}, operand_batching_dims={0}, \
                 start_indices_batching_dims={0}, index_vector_dim=2, slice_sizes={1,1}";
    let vectors =
        "offset_dims={1}, collapsed_slice_dims={0,1}, start_index_map={1,0}, index_vector_dim=0, slice_sizes={1,1,128}";
    let to_rows =
        "update_window_dims={2}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=2";
    let to_batch = "update_window_dims={}, inserted_window_dims={1}, scatter_dims_to_operand_dims={1}, \
                    input_batching_dims={0}, scatter_indices_batching_dims={0}, index_vector_dim=2";
    for (name, x, n, y, made) in [
        ("gather", "1000,256", "16,24,1", "16,24,256", format!("gather(x, n), {rows}")),
        ("gather", "64,1000", "64,8,1", "64,8", format!("gather(x, n), {batch}")),
        ("gather", "64,96,128", "2,48", "48,128", format!("gather(x, n), {vectors}")),
        ("scatter", "1000,256", "16,24,1", "16,24,256", format!("scatter(x, n, u), {to_rows}, to_apply=add")),
        ("scatter", "64,1000", "64,8,1", "64,8", format!("scatter(x, n, u), {to_batch}, to_apply=add")),
    ] {
        let result = if name == "gather" { y } else { x };
        let text = format!(
            "HloModule m\n\n{add}ENTRY e {{\n  x = f32[{x}] parameter(0)\n  n = s32[{n}] parameter(1)\n  \
             u = f32[{y}] parameter(2)\n  ROOT y = f32[{result}] {made}\n}}\n"
        );
        compare(&context, &text, &text, true);
    }
    for (name, text) in [
        (
            "one row",
            format!(
                "HloModule m\n\n{add}ENTRY e {{\n  x = f32[512,512] parameter(0)\n  n = s32[1] parameter(1)\n  \
             y = f32[64,512] parameter(2)\n  ROOT s = f32[512,512] scatter(x, n, y), update_window_dims={{0,1}}, \
             inserted_window_dims={{}}, scatter_dims_to_operand_dims={{0}}, index_vector_dim=0, to_apply=add\n}}\n"
            ),
        ),
        (
            "single elements",
            "HloModule m\n\nENTRY e {\n  x = f32[16,100,128] parameter(0)\n  n = s32[16384,3] parameter(1)\n  \
             ROOT g = f32[16384,1,1,1] gather(x, n), offset_dims={1,2,3}, collapsed_slice_dims={}, \
             start_index_map={0,2,1}, index_vector_dim=1, slice_sizes={1,1,1}\n}\n"
                .to_string(),
        ),
    ] {
        compare(&context, name, &text, true);
    }
    let text = "HloModule m\n\nENTRY e {\n  x = f32[512,256] parameter(0)\n  u = f32[8,256] parameter(1)\n  \
                i = s32[] parameter(2)\n  z = s32[] constant(0)\n  j = s32[] add(i, i)\n  \
                d = f32[512,256] dynamic-update-slice(x, u, j, z)\n  \
                s = f32[8,256] dynamic-slice(d, i, z), dynamic_slice_sizes={8,256}\n  \
                ROOT r = (f32[512,256], f32[8,256]) tuple(d, s)\n}\n";
    compare(&context, "starts", text, true);
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
        ("2,16,16,8", "1,1,8,32", "2,16,16,32", "b01f_01io->b01f", "size=1x1"),
        ("2,16,16,8", "1,1,8,32", "2,8,8,32", "b01f_01io->b01f", "size=1x1 stride=2x2"),
        ("8,14,14,32", "3,3,32,64", "8,28,28,64", "b01f_01io->b01f", "size=3x3 pad=1_2x1_2 lhs_dilate=2x2"),
        ("8,14,14,96", "7,7,1,96", "8,14,14,96", "b01f_01io->b01f", "size=7x7 pad=3_3x3_3 GROUPS=96"),
        ("8,14,14,96", "3,3,24,64", "8,14,14,64", "b01f_01io->b01f", "size=3x3 pad=1_1x1_1 GROUPS=4"),
    ] {
        let (window, groups) = window
            .split_once(" GROUPS=")
            .map_or((window, String::new()), |(window, groups)| (window, format!(", feature_group_count={groups}")));
        let text = format!(
            "HloModule c\nENTRY main {{\n  x = f32[{input}] parameter(0)\n  w = f32[{kernel}] parameter(1)\n  ROOT y = \
             f32[{output}] convolution(x, w), window={{{window}}}, dim_labels={labels}{groups}\n}}\n"
        );
        compare(&context, labels, &text, true);
    }
}
