//! Plans over devices: closed forms of data, tensor and mixed parallelism, and what is an error.

use std::fmt::Write;
use tensor_layout::hlo::Module;
use tensor_layout::places::{CollectiveKind, Machine};
use tensor_layout::plan::Unplanned;
use tensor_layout::solver::Options;
use tensor_layout::spreading::{SpreadPlan, Spreader};

fn try_planned(text: &str, machine: &str) -> Result<SpreadPlan, Unplanned> {
    let module = Module::parse(text).unwrap_or_else(|errors| panic!("{errors:?}\n{text}"));
    let (graphs, facts, machine) = (module.graphs(), module.facts(), Machine::parse(machine).unwrap());
    Spreader::new(&graphs, module.entry, &facts, &machine)?.limited(&[])?.plan(&Options::default(), &mut |_| true)
}

fn planned(text: &str, machine: &str) -> SpreadPlan {
    let plan = try_planned(text, machine).unwrap_or_else(|why| panic!("{why}"));
    assert_eq!(plan.cost, plan.bound, "{text}");
    plan
}

/// The kinds of a plan's collectives, slices apart, with the bytes that a device gets, in order.
fn collectives(plan: &SpreadPlan) -> Vec<(CollectiveKind, i64)> {
    let all = plan.moves.iter().flat_map(|moved| &moved.collectives);
    let mut all: Vec<(CollectiveKind, i64)> =
        all.filter(|own| own.kind != CollectiveKind::Slice).map(|own| (own.kind, own.bytes)).collect();
    all.sort_by_key(|(kind, bytes)| (kind.name(), *bytes));
    all
}

/// A step of training of layers without biases: `sizes` are the rows of a batch, then the features, before and after each layer.
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
        let _ = writeln!(main, "  p{k} = f32[{batch},{n}] dot(h{k}, w{k}), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}");
        let _ = writeln!(main, "  h{} = f32[{batch},{n}] tanh(p{k})", k + 1);
    }
    let _ = writeln!(main, "  d{layers} = f32[{batch},{last}] subtract(h{layers}, t)");
    let mut results = Vec::new();
    for (k, pair) in features.windows(2).enumerate().rev() {
        let (m, n) = (pair[0], pair[1]);
        let _ = writeln!(main, "  s{k} = f32[{batch},{n}] multiply(h{}, h{})", k + 1, k + 1);
        let _ = writeln!(main, "  e{k} = f32[{batch},{n}] multiply(d{}, s{k})", k + 1);
        let _ = writeln!(main, "  g{k} = f32[{m},{n}] dot(h{k}, e{k}), lhs_contracting_dims={{0}}, rhs_contracting_dims={{0}}");
        let _ = writeln!(main, "  v{k} = f32[{m},{n}] subtract(w{k}, g{k})");
        if k > 0 {
            let _ = writeln!(main, "  d{k} = f32[{batch},{m}] dot(e{k}, w{k}), lhs_contracting_dims={{1}}, rhs_contracting_dims={{1}}");
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

/// A switch: a byte in a unit of cost, and so many operations; a collective costs as much as 100 bytes to start.
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
            let mut wanted: Vec<(CollectiveKind, i64)> = features
                .windows(2)
                .map(|pair| (CollectiveKind::AllReduce, all_reduced(pair[0] * pair[1] * 4, devices)))
                .collect();
            wanted.sort_by_key(|(_, bytes)| *bytes);
            assert_eq!(collectives(&plan), wanted, "{devices} devices, {features:?}");
            assert_eq!(plan.levels[0], wanted.iter().map(|(_, bytes)| bytes).sum::<i64>());
        }
    }
}

/// The bytes that each device gets in an all-reduce of so many, along so many devices.
fn all_reduced(bytes: i64, devices: i64) -> i64 {
    2 * (devices - 1) * bytes / devices
}

#[test]
fn tensor_parallelism_is_one_all_reduce_of_activations_for_each_pair_of_layers() {
    for devices in [2, 4, 8, 16, 32, 64] {
        for pairs in [1, 2, 3] {
            // The first weight of a pair is cut by columns, the second by rows: sums of its products are added up. On the way
            // back it is the first one's, but nobody asks for the gradient of the input.
            let features: Vec<i64> = [64, 65536].into_iter().cycle().take(2 * pairs + 1).collect();
            let plan = planned(&training(64, &features), &switch(devices, 1 << 10, 1 << 40));
            let wanted = vec![(CollectiveKind::AllReduce, all_reduced(64 * 64 * 4, devices)); 2 * pairs - 1];
            assert_eq!(collectives(&plan), wanted, "{devices} devices, {pairs} pairs");
        }
    }
}

#[test]
fn mixed_parallelism_is_the_best_of_all_meshes() {
    for (devices, [a, b]) in [(4i64, [2i64, 2]), (16, [4, 4]), (64, [8, 8])] {
        let (batch, narrow, wide) = (16384, 64, 8192);
        let bytes = |a: i64, b: i64| {
            all_reduced(batch / a * narrow * 4, b) + 2 * all_reduced(narrow * wide / b * 4, a)
        };
        let meshes = (0..=devices.ilog2()).map(|k| [1 << k, devices >> k]);
        assert_eq!(meshes.min_by_key(|[a, b]| bytes(*a, *b)), Some([a, b]));
        let plan = planned(&training(batch, &[narrow, wide, narrow]), &switch(devices, 1 << 10, 1 << 40));
        assert_eq!(plan.levels[0], bytes(a, b), "{devices} devices: {:?}", collectives(&plan));
    }
}
