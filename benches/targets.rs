//! The error of the costs of `tpu_v5e` against the `estimated_cycles` of XLA's compiler for TPUs.
//!
//! `cargo bench --bench targets -- MICRO.jsonl CORPUS [--machine M] [--rows | --fit | --write FILE]` reads small
//! programs, a JSON object a line, and the `.v5e.hlo` texts of a folder. It prints tables of the error by kind of
//! operation; `--rows` every operation; `--fit` the machine with fitted constants; `--write` writes the document
//! `benches/targets.md`.
//!
//! The error of an operation is |ln(cost / estimate)|. A quarter of the small programs, by a hash of their names, and
//! every other program of the corpus were left out when the constants were fitted.

use serde_json::Value;
use std::collections::BTreeMap;
use std::{env, fs};
use tensor_layout::hlo::{Instruction, Module};
use tensor_layout::operations::{Array, Contraction, Dim, Operation, Shape, leaves};
use tensor_layout::places::{Costs, Decimal};
use tensor_layout::targets::{Kernel, PartRead, Product, Target};

/// An operation with the compiler's estimate of its cycles.
struct Row {
    /// The program of the operation.
    name: String,
    /// The kind of operation in the tables of errors.
    kind: &'static str,
    /// Whether constants were fitted to the row.
    fitted: bool,
    /// The compiler's estimate, in cycles.
    estimate: f64,
    kernel: Kernel,
}

fn main() {
    let arguments: Vec<String> = env::args().skip(1).filter(|a| a != "--bench").collect();
    let [micro, corpus, ..] = &arguments[..] else {
        println!(
            "usage: cargo bench --bench targets -- MICRO.jsonl CORPUS [--machine M] [--rows | --fit | --write FILE]"
        );
        return;
    };
    let machine = arguments.iter().skip_while(|a| *a != "--machine").nth(1).map_or("tpu_v5e", |text| text);
    let target = Target::parse(machine).unwrap_or_else(|error| panic!("{error}"));
    let mut rows = small(micro);
    let whole = programs(corpus);
    if arguments.iter().any(|a| a == "--fit") {
        rows.extend(whole);
        println!("{}", fit(target, &rows).machine());
        return;
    }
    if arguments.iter().any(|a| a == "--rows") {
        for row in rows.iter().chain(&whole) {
            let price = target.kernel_price(&row.kernel).expect("sizes of real programs fit");
            let cost = price.total().expect("costs of real programs fit");
            let arrays = |arrays: Vec<&Array>| arrays.iter().map(|a| a.to_string()).collect::<Vec<_>>().join(" ");
            let operands = row.kernel.operands.iter().flatten().map(|part| &part.array).collect();
            println!(
                "{:.3}\t{}\t{cost}\t{}\t{}\t{}\t-> {}\t{:?}",
                (cost as f64 / row.estimate).ln(),
                row.kind,
                row.estimate,
                row.name,
                arrays(operands),
                arrays(row.kernel.results.iter().collect()),
                (price.start, price.reads, price.writes, price.compute, price.hidden, price.windows),
            );
        }
        return;
    }
    let mut text = HEAD.to_string();
    let titles = [("Small programs", &rows), ("Programs", &whole)];
    for (title, rows) in titles {
        text += &table(&format!("{title}, left out of the fit"), &target, rows.iter().filter(|row| !row.fitted));
        text += &table(&format!("{title}, all"), &target, rows.iter());
    }
    text += &totals(&target, &whole);
    text += &choices(&target, &rows);
    match arguments.iter().skip_while(|a| *a != "--write").nth(1) {
        Some(path) => fs::write(path, text).expect("the document is written"),
        None => print!("{text}"),
    }
}

/// Fits one constant after the other, in smaller and smaller steps, until the mean error of the fitted rows stops
/// falling. An operation's error counts as 0.7 at most, so operations outside the formulas do not decide.
fn fit(target: Target, rows: &[Row]) -> Target {
    let rows: Vec<&Row> = rows.iter().filter(|row| row.fitted).collect();
    let error = |target: &Target| {
        let one = |row: &&Row| (cost(target, row) / row.estimate).ln().abs().min(0.7);
        rows.iter().map(one).sum::<f64>() / rows.len() as f64
    };
    let (mut best, mut least) = (target.clone(), error(&target));
    for step in [0.3, 0.1, 0.03, 0.01, 0.003] {
        for round in 0..6 {
            let before = least;
            for name in Costs::NAMES {
                for factor in [1.0 + step, 1.0 / (1.0 + step)] {
                    let mut machine = best.machine().clone();
                    let cost = machine.model.costs.get(name).unwrap_or_default().millionths;
                    let cost = (cost as f64 * factor / 1000.0).round() as i64 * 1000;
                    machine.model.costs.set(name, Decimal { millionths: cost });
                    let changed = Target::new(machine).expect("costs do not matter");
                    let now = error(&changed);
                    if now < least {
                        (best, least) = (changed, now);
                        break;
                    }
                }
            }
            eprintln!("step {step}, round {round}: {least:.5}");
            if least > before - 1e-5 {
                break;
            }
        }
    }
    best
}

/// The cost of a row.
fn cost(target: &Target, row: &Row) -> f64 {
    let cost = target.kernel_price(&row.kernel).and_then(|price| price.total()).expect("real sizes fit");
    cost.max(1) as f64
}

/// The table of sums over the operations of each program.
fn totals(target: &Target, rows: &[Row]) -> String {
    let mut programs: BTreeMap<&str, (bool, f64, f64)> = BTreeMap::new();
    for row in rows {
        let program = row.name.split('/').next().unwrap_or("");
        let sums = programs.entry(program).or_insert((row.fitted, 0.0, 0.0));
        (sums.1, sums.2) = (sums.1 + cost(target, row), sums.2 + row.estimate);
    }
    let mut text =
        "\n## Sums of programs\n\n| program | in the fit | estimated | cost | ÷ |\n|---|---|---|---|---|\n".to_string();
    for (program, (fitted, cost, estimate)) in programs {
        let fitted = if fitted { "yes" } else { "no" };
        text += &format!("| {program} | {fitted} | {estimate:.0} | {cost:.0} | {:.3} |\n", cost / estimate);
    }
    text
}

/// How often costs choose the cheaper of two layouts of the entry, and the loss of following them.
fn choices(target: &Target, rows: &[Row]) -> String {
    let mut programs: BTreeMap<&str, (f64, f64)> = BTreeMap::new();
    for row in rows {
        let sums = programs.entry(&row.name).or_default();
        *sums = (sums.0 + cost(target, row), sums.1 + row.estimate);
    }
    // Programs of `test/sizes/orders` with the same sizes differ in the layouts of the entry.
    let mut groups: BTreeMap<(&str, &str), Vec<(f64, f64)>> = BTreeMap::new();
    for (name, sums) in programs {
        if let Some((test, rest)) = name.split_once('/')
            && let Some((sizes, _)) = rest.split_once("]/")
        {
            groups.entry((test, sizes)).or_default().push(sums);
        }
    }
    let mut tests: BTreeMap<&str, (u32, u32, Vec<f64>)> = BTreeMap::new();
    for ((test, _), layouts) in groups {
        let found = tests.entry(test).or_default();
        for (k, a) in layouts.iter().enumerate() {
            for b in layouts[..k].iter().filter(|b| (a.1 / b.1).ln().abs() > 0.03) {
                found.0 += 1;
                found.1 += u32::from((a.0 < b.0) == (a.1 < b.1));
            }
        }
        let by = |side: fn(&(f64, f64)) -> f64| layouts.iter().min_by(|a, b| side(a).total_cmp(&side(b)));
        if let (Some(chosen), Some(best), true) = (by(|l| l.0), by(|l| l.1), layouts.len() > 1) {
            found.2.push(chosen.1 / best.1 - 1.0);
        }
    }
    let mut text =
        "\n## Choices\n\nOf layouts of the entry of one small program whose estimates differ by more than 3 %, how \
        often the cheaper one costs less; and how much more than the best the one is estimated at that costs least.\n\n\
        | programs | pairs | right | mean loss | greatest loss |\n|---|---|---|---|---|\n"
            .to_string();
    for (test, (pairs, right, losses)) in tests.into_iter().filter(|(_, (pairs, ..))| *pairs > 20) {
        let mean = losses.iter().sum::<f64>() / losses.len() as f64 * 100.0;
        let most = losses.iter().fold(0f64, |most, loss| most.max(*loss)) * 100.0;
        let right = f64::from(right) / f64::from(pairs) * 100.0;
        text += &format!("| {test} | {pairs} | {right:.1} % | {mean:.1} % | {most:.1} % |\n");
    }
    text
}

/// The head of the document, before its tables.
const HEAD: &str = "\
# Costs of `tpu_v5e`

Made by `cargo bench --bench targets`. XLA's compiler for TPUs writes `estimated_cycles` beside each fusion, copy and
convolution; here the costs of `tpu_v5e` are compared with them. Layouts and memory spaces are those that the compiler has
chosen. The error of an operation is |ln(cost / estimate)|; the table has the median and the 90th percentile. The rank
correlation is Spearman's. The sum is that of all costs over that of all estimates.

- Small programs: one operation each, of many sizes and layouts. A quarter of them was left out of the fit.
- Programs: whole ones, as compiled. Every other one was left out of the fit.

The form of the formulas was found by looking at all of them; the constants were not.

Formulas fitted to the same small programs by hand, in a script, had 0.015 / 0.114 on those that were left out, and
0.026 / 0.344 on 18 programs that were left out.

What is off: windows of combined elements, whose places do not say how the compiler goes through them; convolutions of
three channels; products whose other work is computed again for each block of the result.
";

fn table<'a>(title: &str, target: &Target, rows: impl Iterator<Item = &'a Row>) -> String {
    let mut kinds: BTreeMap<&str, Vec<(f64, f64)>> = BTreeMap::new();
    for row in rows {
        let cost = cost(target, row);
        for kind in [row.kind, " all"] {
            kinds.entry(kind).or_default().push((cost, row.estimate));
        }
    }
    let mut text = format!(
        "\n## {title}\n\n| kind | operations | rank correlation | median | p90 | sum |\n|---|---|---|---|---|---|\n"
    );
    for (kind, pairs) in kinds {
        let mut errors: Vec<f64> = pairs.iter().map(|(cost, estimate)| (cost / estimate).ln().abs()).collect();
        errors.sort_by(f64::total_cmp);
        let at = |share: f64| errors[((errors.len() - 1) as f64 * share).round() as usize];
        let sum = |side: fn(&(f64, f64)) -> f64| pairs.iter().map(side).sum::<f64>();
        let rank = if pairs.len() < 3 { String::new() } else { format!("{:.3}", rank_correlation(&pairs)) };
        text += &format!(
            "| {} | {} | {rank} | {:.3} | {:.3} | {:.3} |\n",
            kind.trim(),
            pairs.len(),
            at(0.5),
            at(0.9),
            sum(|pair| pair.0) / sum(|pair| pair.1),
        );
    }
    text
}

/// Spearman's coefficient.
fn rank_correlation(pairs: &[(f64, f64)]) -> f64 {
    let ranks = |values: Vec<f64>| {
        let mut order: Vec<usize> = (0..values.len()).collect();
        order.sort_by(|a, b| values[*a].total_cmp(&values[*b]));
        let mut ranks = vec![0.0; values.len()];
        let mut start = 0;
        while start < order.len() {
            let same = order[start..].iter().take_while(|k| values[**k] == values[order[start]]).count();
            for k in &order[start..start + same] {
                ranks[*k] = start as f64 + (same as f64 - 1.0) / 2.0;
            }
            start += same;
        }
        ranks
    };
    let (a, b) = (ranks(pairs.iter().map(|p| p.0).collect()), ranks(pairs.iter().map(|p| p.1).collect()));
    let mean = (pairs.len() as f64 - 1.0) / 2.0;
    let product = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| (x - mean) * (y - mean)).sum::<f64>();
    product(&a, &b) / (product(&a, &a) * product(&b, &b)).sqrt()
}

/// The operations of compiled programs.
fn programs(folder: &str) -> Vec<Row> {
    let mut paths: Vec<_> =
        fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("a file").path()).collect();
    paths.retain(|path| path.to_string_lossy().ends_with(".v5e.hlo"));
    paths.sort();
    let mut rows = Vec::new();
    for (number, path) in paths.iter().enumerate() {
        let text = fs::read_to_string(path).expect("text");
        let module = Module::parse(&text).unwrap_or_else(|errors| panic!("{}: {:?}", path.display(), errors[0]));
        let graphs = module.graphs();
        let program = path.file_name().unwrap_or_default().to_string_lossy().replace(".v5e.hlo", "");
        for computation in &module.computations {
            for instruction in &computation.instructions {
                let Some(estimate) = estimate(instruction) else { continue };
                let operands: Vec<&Array> =
                    instruction.operands.iter().flat_map(|k| leaves(&computation.instructions[*k].shape)).collect();
                let results = leaves(&instruction.shape);
                let kernel = match &instruction.operation {
                    Operation::Call { computation } => Kernel::of_graph(&graphs, *computation, &operands, &results),
                    operation => Ok(Kernel::of_operation(operation, &operands, &results)),
                };
                let kernel = kernel.expect("calls are not nested deep");
                let inside: Vec<&str> = instruction
                    .called
                    .iter()
                    .flat_map(|k| module.computations[*k].instructions.iter().map(|i| &*i.opcode))
                    .collect();
                let name = format!("{program}/{}", instruction.name);
                let kind = kind(&instruction.opcode, &inside, &kernel);
                rows.push(Row { name, kind, fitted: number % 2 == 0, estimate, kernel });
            }
        }
    }
    rows
}

/// The compiler's estimate for an instruction, if any.
fn estimate(instruction: &Instruction) -> Option<f64> {
    let (_, rest) = instruction.attribute("backend_config")?.split_once("\"estimated_cycles\":\"")?;
    rest.split('"').next()?.parse().ok().filter(|cycles| *cycles > 0.0)
}

fn kind(opcode: &str, inside: &[&str], kernel: &Kernel) -> &'static str {
    if kernel.windowed.is_some() {
        return "windows without products";
    }
    if let Some(product) = kernel.products.last() {
        return if product.depth.0 > 1 || product.groups > 1 { "convolution" } else { "product" };
    }
    let has = |names: &[&str]| inside.iter().any(|name| names.contains(name));
    match opcode {
        "copy" => match &kernel.reordered[..] {
            [(from, to)] if from.layout.minor_to_major.first() != to.layout.minor_to_major.first() => {
                "copy, minor changes"
            }
            _ => "copy, minor stays",
        },
        "fusion" if has(&["reduce", "reduce-window"]) => "reduce fusion",
        "fusion" if has(&["slice", "pad", "transpose", "copy", "dynamic-slice", "dynamic-update-slice"]) => {
            "fusion with slice, pad, copy"
        }
        "fusion" => "elementwise fusion",
        _ => "bare operation",
    }
}

/// The operations of the small programs.
fn small(path: &str) -> Vec<Row> {
    let text = fs::read_to_string(path).expect("text");
    let mut rows = Vec::new();
    for line in text.lines() {
        let fact: Value = serde_json::from_str(line).expect("JSON");
        if fact["target"] != "v5e" {
            continue;
        }
        let list = |name: &str| -> Vec<String> {
            fact[name].as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_string).collect()
        };
        let arrays = |name: &str| -> Vec<Array> { list(name).iter().map(|text| array(text)).collect() };
        let (operands, results, inside) = (arrays("ins"), arrays("out"), list("ops"));
        let inside: Vec<&str> = inside.iter().map(|name| &**name).collect();
        let (opcode, program) = (fact["op"].as_str().unwrap_or(""), fact["program"].as_str().unwrap_or(""));
        let about = fact["at"].as_str().unwrap_or("");
        let Some(kernel) = kernel(opcode, program, about, &inside, operands, results) else { continue };
        let fitted = program.bytes().fold(0u32, |hash, b| hash.wrapping_mul(31).wrapping_add(u32::from(b))) % 4 != 0;
        let estimate = fact["cycles"].as_f64().unwrap_or(0.0);
        if estimate > 0.0 {
            let kind = kind(opcode, &inside, &kernel);
            rows.push(Row { name: program.to_string(), kind, fitted, estimate, kernel });
        }
    }
    rows
}

fn array(text: &str) -> Array {
    match Shape::parse(text) {
        Ok(Shape::Array(array)) => array,
        other => panic!("{text}: {other:?}"),
    }
}

/// The kernel of a small program's operation, as far as its description tells.
fn kernel(
    opcode: &str,
    program: &str,
    about: &str,
    inside: &[&str],
    operands: Vec<Array>,
    results: Vec<Array>,
) -> Option<Kernel> {
    let mut kernel = Kernel { lone: opcode != "fusion", results, ..Kernel::default() };
    let result = kernel.results[0].clone();
    let whole = |array: &Array| vec![PartRead { array: array.clone(), times: 1 }];
    kernel.operands = operands.iter().map(whole).collect();
    if inside.contains(&"slice") || inside.contains(&"dynamic-slice") {
        let part = Array { dims: result.dims.clone(), ..operands[0].clone() };
        kernel.operands[0] = whole(if part.dims.len() == operands[0].dims.len() { &part } else { &result });
    }
    let moving = ["bitcast", "broadcast", "copy", "slice", "pad", "reduce", "iota", "convolution", "reduce-window"];
    let mut computing = inside.iter().filter(|name| !moving.contains(name)).count();
    // `chain16` is 16 times `tanh(x * 1.5 + x)`.
    if let Some(times) = program.strip_prefix("chain").and_then(|rest| rest.split('/').next()?.parse::<usize>().ok()) {
        computing = 3 * times;
    }
    kernel.padded = vec![result.clone(); if inside.contains(&"pad") { operands.len() } else { 0 }];
    kernel.broadcast = inside.contains(&"broadcast");
    let widest = operands.iter().chain([&result]).max_by_key(|a| a.sizes().map(|s| s.iter().product::<i64>()))?.clone();
    kernel.computed = vec![widest; computing];
    if inside.contains(&"reduce-window") {
        kernel.windowed = Some((result.clone(), if program.starts_with("pool") { 4 } else { 2 }));
    }
    if inside.contains(&"reduce") {
        let first = operands.first()?;
        kernel.reduced = operands.iter().filter(|a| a.dims == first.dims).cloned().collect();
    }
    for operand in &operands {
        if operand.dims == result.dims && operand.layout.minor_to_major != result.layout.minor_to_major
            || opcode == "copy"
        {
            kernel.reordered.push((operand.clone(), result.clone()));
        }
        if inside.contains(&"broadcast") && operand.dims.len() == 1 && result.dims.len() > 1 {
            let minor = result.layout.minor_to_major[0];
            if operand.dims[0] != result.dims[minor] {
                let mut spread = result.clone();
                spread.dims[minor] = Dim::Exact(1);
                kernel.spread.push(spread);
            }
        }
    }
    if inside.contains(&"convolution") {
        kernel.reordered.clear();
        let product = product(program, about, &operands, &result)?;
        if product.is_depthwise() {
            kernel.windowed = Some((result, product.depth.0 * product.depth.1));
        } else {
            kernel.products.push(product);
        }
    }
    Some(kernel)
}

/// The product of a small program: its name has the operands' sizes in order.
fn product(program: &str, about: &str, operands: &[Array], result: &Array) -> Option<Product> {
    let sizes: Vec<Vec<i64>> = program
        .split("', (")
        .skip(1)
        .map(|text| text.split(')').next().unwrap_or("").split(',').filter_map(|n| n.trim().parse().ok()).collect())
        .collect();
    let [lhs, rhs, ..] = &sizes[..] else { return None };
    let of = |sizes: &Vec<i64>| operands.iter().find(|a| a.sizes().as_ref() == Some(sizes));
    let (left, right) = (of(lhs)?, of(rhs)?);
    let rank = lhs.len();
    if program.starts_with("conv") || program.starts_with("dwconv") {
        let text = format!(
            "HloModule m\nENTRY e {{\n a = {left} parameter(0)\n b = {right} parameter(1)\n ROOT c = {result} convolution(a, b), {}\n}}\n",
            about.replace(" dim_labels", ", dim_labels").replace(" feature_group", ", feature_group")
        );
        let module = Module::parse(&text).ok()?;
        let operation = module.computations[module.entry].result().operation.clone();
        return Product::of(&operation, &[left, right], result);
    }
    let batch: Vec<usize> = (0..rank.checked_sub(2)?).collect();
    let dims = Contraction { lhs_batch: batch.clone(), rhs_batch: batch, ..Contraction::default() };
    let operation = Operation::Dot {
        lhs_batch: dims.lhs_batch.clone(),
        rhs_batch: dims.rhs_batch.clone(),
        lhs_contracting: vec![rank - 1],
        rhs_contracting: vec![rank - 2],
    };
    let expected: Vec<i64> = [&lhs[..rank - 1], &rhs[rank - 1..]].concat();
    if result.sizes()? != expected {
        return None;
    }
    Product::of(&operation, &[left, right], result)
}
