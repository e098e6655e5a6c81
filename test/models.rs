//! Models of the corpus, imported, lowered and run, against a slow interpreter of HLO, and with `LAYOUT_JAX=PYTHON`
//! against the JAX of that Python.
//!
//! Each model is shrunk by smaller sizes, and run unchanged and with tiled layouts on its parameters. Parameter
//! elements are small numbers that depend on their index.

mod jit;

use fastrand::Rng;
use layout_console::Complaint;
use layout_passes::Form;
use layout_reference::interpreter::number::rounded;
use layout_reference::interpreter::{self, Number, Value};
use layout_runtime::{Buffer, call};
use layout_test::Sample;
use libtest_mimic::{Arguments, Failed, Trial};
use melior::{ir, pass::PassManager, utility};
use std::fmt::Write;
use std::process::{Command, ExitCode};
use tensor_layout::element::ElementType;
use tensor_layout::hlo::Module;
use tensor_layout::operations::leaves;
use tensor_layout::operations::{Array, Shape};
use tensor_layout::tiled::Layout;

/// The models, and the replacements of numbers in their texts.
const MODELS: &[(&str, &[(&str, &str)])] = &[
    ("attention", &[("768", "48"), ("256", "20"), ("128", "10"), ("64", "4")]),
    ("conv", &[("28", "9"), ("32", "5")]),
    ("embedding_gather", &[("32000", "50"), ("31999", "49"), ("512", "8")]),
    ("int8_matmul", &[("256", "10"), ("128", "6"), ("512", "7")]),
    ("kvcache_update", &[("512", "12"), ("64", "6"), ("2x1x8x32", "2x1x8x3")]),
    ("layernorm", &[("768", "30"), ("00130208337", "0333333351"), ("128", "4")]),
    ("lstm_scan", &[("64", "6"), ("128", "5"), ("256", "10"), ("384", "15"), ("512", "20")]),
    ("mlp_train_step", &[("784", "9"), ("256", "7")]),
    ("pad_flip_pool", &[]),
    ("resnet_block", &[("56", "6"), ("28", "3"), ("64", "4"), ("256", "8")]),
    ("softmax", &[]),
    (
        "vit_patchify",
        &[("224", "12"), ("14", "3"), ("16", "4"), ("196", "9"), ("392", "18"), ("768", "48"), ("384", "7")],
    ),
];

/// Small modules of operations that the models lack.
const SMALL: &[&str] = &[
    "batches",
    "bitcast",
    "bits",
    "bytes",
    "called_windows",
    "complex",
    "complex_bits",
    "computations",
    "constants",
    "control",
    "cut_windows",
    "dynamic",
    "dynamic_blocks",
    "dynamic_reshape",
    "dynamic_slice",
    "dynamic_update",
    "dynamic_windows",
    "empty",
    "fft",
    "formats",
    "lapack",
    "moves",
    "norms",
    "numbers",
    "ordered_windows",
    "padded_windows",
    "pairs",
    "precision",
    "ragged",
    "random",
    "rng",
    "rows",
    "running_windows",
    "scaled",
    "scan",
    "scatter",
    "select_and_scatter",
    "solve",
    "sort",
    "stochastic",
    "whole_windows",
    "windows",
];

/// Tells a process which model to run: `file kind`.
const PART: &str = "LAYOUT_MODEL_PART";

/// The Python with JAX to compare with.
const JAX: &str = "LAYOUT_JAX";

/// The small modules that JAX cannot run. It takes no bitcasts in, nor between complex and real numbers, nor an iota of
/// truth values, nor tuples of constants, nor a TPU's custom calls, nor floats of different precision, ends on windows
/// without any place and on calls of LAPACK, has its own random numbers, and no code of its own for the newest operations
/// and for all sizes up to a bound. It combines the elements of a window in an order of its own, which only associative
/// computations allow, and runs no calls, loops and branches in computations on scalars.
const WITHOUT_JAX: [&str; 17] = [
    "bitcast",
    "called_windows",
    "complex_bits",
    "computations",
    "constants",
    "dynamic_reshape",
    "dynamic_update",
    "dynamic_windows",
    "empty",
    "lapack",
    "ordered_windows",
    "pairs",
    "precision",
    "ragged",
    "rng",
    "scaled",
    "scan",
];

/// Kinds of runs: a name, whether parameters have tiles, the form of tiled memrefs, and the options of vector code.
const KINDS: [(&str, bool, Form, &str); 4] = [
    ("plain", false, Form::Strided, ""),
    ("strided", true, Form::Strided, ""),
    ("physical", true, Form::Physical, ""),
    ("vectors", true, Form::Strided, "vectorize=avx2 reassociate contract"),
];

fn main() -> ExitCode {
    if let Ok(part) = std::env::var(PART) {
        let (file, kind) = part.split_once(' ').expect("a file and a kind");
        let kind = KINDS.into_iter().find(|known| known.0 == kind).expect("a kind");
        return match compare(file, kind) {
            Ok(()) => ExitCode::SUCCESS,
            Err(difference) => {
                eprintln!("{difference}");
                ExitCode::FAILURE
            }
        };
    }
    let models = MODELS.iter().flat_map(|(model, _)| [format!("{model}.unopt"), format!("{model}.opt")]);
    let files = models.chain(SMALL.iter().map(|name| format!("small/{name}"))).enumerate();
    // Each sample has models of all kinds.
    let parts = files.flat_map(|(number, file)| {
        (0..KINDS.len()).map(move |k| format!("{file} {}", KINDS[(number / 2 + k) % KINDS.len()].0))
    });
    let trial = |part: String| Trial::test(part.clone(), move || child(&part));
    let mut trials: Vec<Trial> = Sample::from_env().select(parts).into_iter().map(trial).collect();
    trials.push(Trial::test("windows by hand", || windows_by_hand().map_err(Failed::from)));
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

/// Runs one model in its own process: compiled code may crash.
fn child(part: &str) -> Result<(), Failed> {
    let own = std::env::current_exe().map_err(|error| error.to_string())?;
    let output = Command::new(own).env(PART, part).output().map_err(|error| error.to_string())?;
    match output.status.success() {
        true => Ok(()),
        false => Err(format!("{}\n{}", output.status, String::from_utf8_lossy(&output.stderr)).into()),
    }
}

/// A row of [`WINDOWS`].
type WindowCase = ([&'static str; 2], &'static str, i32, &'static str, &'static [f64], &'static [f64]);

/// Windows over arrays of `s32`: the sizes of array and result, the computation on `a` and `b`, the initial value, the
/// window, the elements, and the result.
const WINDOWS: [WindowCase; 14] = [
    (["5", "5"], CAPPED, 0, "size=5 pad=0_4", &[8., 7., -6., 4., -5.], &[2., 0., -7., -1., -5.]),
    (["5", "5"], CAPPED, 0, "size=5 pad=4_0", &[8., 7., -6., 4., -5.], &[8., 9., 3., 7., 2.]),
    (["5", "5"], "add(a, b)", 1, "size=5 pad=4_0", &[1., 2., 3., 4., 5.], &[2., 4., 7., 11., 16.]),
    (["5", "5"], "add(a, b)", 1, "size=5 pad=0_4", &[1., 2., 3., 4., 5.], &[16., 15., 13., 10., 6.]),
    (["5", "5"], "add(a, b)", 1, "size=3 pad=1_1", &[1., 2., 3., 4., 5.], &[4., 7., 10., 13., 10.]),
    (["2", "4"], "add(a, b)", 7, "size=2 pad=3_0", &[1., 2.], &[7., 7., 8., 10.]),
    (["3", "3"], "subtract(a, b)", 0, "size=2 pad=1_0", &[1., 2., 3.], &[-1., -3., -5.]),
    (["3", "3"], "subtract(b, a)", 4, "size=3 pad=0_2", &[1., 2., 5.], &[0., 7., 1.]),
    (["2", "3"], "multiply(a, b)", 2, "size=3 pad=1_1 lhs_dilate=2", &[3., 5.], &[6., 30., 10.]),
    (["3", "3"], "add(a, b)", 1, "size=5 pad=2_2", &[1., 3., -1.], &[4., 4., 4.]),
    (["3", "3"], "maximum(a, b)", 2, "size=3 pad=0_2", &[1., 3., -1.], &[3., 3., 2.]),
    (["2,2", "2,2"], "add(a, b)", 1, "size=2x2 pad=1_0x1_0", &[1., 2., 3., 4.], &[2., 4., 5., 11.]),
    (["2,2", "2,2"], "add(a, b)", 0, "size=2x2 pad=1_0x0_1", &[1., 2., 3., 4.], &[3., 2., 10., 6.]),
    (["2,2", "2,2"], CAPPED, 0, "size=2x2 pad=0_1x0_1", &[8., 7., -6., 4.], &[7., 9., -2., 4.]),
];

/// A sum that saturates at 9.
const CAPPED: &str = "minimum(add(a, b), constant(9))";

/// The interpreter and compiled code compute the values of [`WINDOWS`].
fn windows_by_hand() -> Result<(), String> {
    for ([from, to], computation, init, window, elements, expected) in WINDOWS {
        let computation = match computation {
            CAPPED => "s = s32[] add(a, b)\n  n = s32[] constant(9)\n  ROOT c = s32[] minimum(s, n)".to_string(),
            _ => format!("ROOT c = s32[] {computation}"),
        };
        let text = format!(
            "HloModule m\nfold {{\n  a = s32[] parameter(0)\n  b = s32[] parameter(1)\n  {computation}\n}}\nENTRY main {{\n  \
             x = s32[{from}] parameter(0)\n  v = s32[] constant({init})\n  \
             ROOT y = s32[{to}] reduce-window(x, v), window={{{window}}}, to_apply=fold\n}}\n"
        );
        let (text, _, count) = harnessed(&text)?;
        let told = |errors: Vec<tensor_layout::text::Error>| Complaint::in_file("windows", &text, &errors).plain();
        let module = Module::parse(&text).map_err(told)?;
        let data = elements.iter().map(|x| Number::Float(*x)).collect();
        let all = Value { element: ElementType::F64, sizes: vec![elements.len() as i64], data };
        let results = interpreter::run(&module, module.entry, &[vec![all]]);
        let interpreted: Vec<f64> = results[0].data.iter().map(|x| x.real()).collect();
        let mlir = layout_translate::import(&module, &text, "windows").map_err(told)?;
        let compiled = execute(&mlir, elements, count, Form::Strided, "")?;
        if [&interpreted[..], &compiled[..]] != [expected; 2] {
            return Err(format!("{text}gives {interpreted:?} and {compiled:?}, not {expected:?}"));
        }
    }
    Ok(())
}

/// Replaces numbers in a text that are whole tokens.
fn smaller(text: &str, sizes: &[(&str, &str)]) -> String {
    let (mut out, mut rest) = (String::new(), text);
    while !rest.is_empty() {
        let word = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
        let (word, next) = rest.split_at(word.max(1).min(rest.len()));
        out.push_str(sizes.iter().find(|size| size.0 == word).map_or(word, |size| size.1));
        rest = next;
    }
    out
}

/// Element `n` of parameter `p`: a small number of the type.
fn number(p: usize, n: i64, e: ElementType) -> f64 {
    let r = (n * 7919 + p as i64 * 104_729 + 13) % 1009;
    match e {
        ElementType::Pred => (r % 2) as f64,
        e if e.is_float() => rounded(e, (r - 504) as f64 / 1024.0),
        _ => (r % 23 - if e.is_signed() { 5 } else { 0 }) as f64,
    }
}

/// The model with a new entry that takes the elements of all parameters and returns those of all results, as `f64`.
fn harnessed(text: &str) -> Result<(String, Vec<f64>, usize), String> {
    let told = |errors: Vec<tensor_layout::text::Error>| Complaint::in_file("model", text, &errors).plain();
    let module = Module::parse(text).map_err(told)?;
    let entry = &module.computations[module.entry];
    let shape = |array: &Array| Shape::Array(Array { layout: Layout::row_major(array.dims.len()), ..array.clone() });
    let (mut body, mut numbers, mut arguments) = (String::new(), Vec::new(), Vec::new());
    for (p, k) in entry.parameters.iter().enumerate() {
        let array = leaves(&entry.instructions[*k].shape)[0];
        let sizes = array.sizes().expect("sizes");
        let (first, count) = (numbers.len(), sizes.iter().product::<i64>());
        numbers.extend((0..count).map(|n| number(p, n, array.element)));
        let wide = Shape::Array(Array { element: ElementType::F64, ..array.clone() });
        let _ = writeln!(body, "  part{p} = f64[{count}]{{0}} slice(all), slice={{[{first}:{}]}}", numbers.len());
        let _ = writeln!(
            body,
            "  whole{p} = {wide} reshape(part{p})\n  argument{p} = {} convert(whole{p})",
            entry.instructions[*k].shape
        );
        arguments.push(format!("argument{p}"));
    }
    let result = &entry.result().shape;
    let _ = writeln!(body, "  out = {result} call({}), to_apply={}", arguments.join(", "), entry.name);
    let (mut parts, mut total) = (Vec::new(), 0);
    for (k, array) in leaves(result).into_iter().enumerate() {
        let count: i64 = array.sizes().expect("sizes").iter().product();
        let own = match result {
            Shape::Tuple(_) => {
                let _ =
                    writeln!(body, "  result{k} = {} get-tuple-element(out), index={k}", Shape::Array(array.clone()));
                format!("result{k}")
            }
            _ => "out".to_string(),
        };
        let wide = shape(&Array { element: ElementType::F64, ..array.clone() });
        let _ = writeln!(body, "  wide{k} = {wide} convert({own})\n  flat{k} = f64[{count}]{{0}} reshape(wide{k})");
        parts.push(format!("flat{k}"));
        total += count;
    }
    let _ = writeln!(body, "  ROOT numbers = f64[{total}]{{0}} concatenate({}), dimensions={{0}}", parts.join(", "));
    let start = text.find(['\n']).unwrap_or(0);
    let model = text[start..].replacen("\nENTRY ", "\n", 1);
    let all = format!("  all = f64[{}]{{0}} parameter(0)", numbers.len());
    Ok((format!("HloModule harness{model}\nENTRY harness {{\n{all}\n{body}}}\n"), numbers, total as usize))
}

/// Adds tiles to the parameters of the computation that the harness calls.
fn tile(module: &mut Module) {
    let mut rng = Rng::with_seed(7);
    let harness = &module.computations[module.entry];
    let called = harness.instructions.iter().find(|i| i.name == "out").expect("a call").called[0];
    let model = &module.computations[called];
    // A tiled parameter has other bytes, which a bitcast would show.
    let cast = |k: &usize| model.instructions.iter().any(|i| i.opcode == "bitcast" && i.operands.contains(k));
    for k in model.parameters.iter().copied().filter(|k| !cast(k)).collect::<Vec<_>>() {
        let Shape::Array(array) = &mut module.computations[called].instructions[k].shape else { continue };
        let order = array.layout.to_string();
        let tiles: &[&str] = match array.dims.len() {
            0 => continue,
            1 => &["T(4)", "T(128)"],
            _ => &["T(8,128)", "T(2,4)", "T(4,8)(2,1)"],
        };
        let tiles = tiles[rng.usize(0..tiles.len())];
        array.layout = Layout::parse(&format!("{}:{tiles}}}", order.trim_end_matches('}'))).expect("a layout");
    }
}

/// Runs a model both ways; the error names the difference.
fn compare(file: &str, (_, tiled, form, vectors): (&str, bool, Form, &str)) -> Result<(), String> {
    let model = file.split('.').next();
    let sizes = MODELS.iter().find(|known| Some(known.0) == model).map_or(&[][..], |known| known.1);
    let read = |file: &str| {
        let path = format!("{}/hlo/{file}.hlo", env!("CARGO_MANIFEST_DIR"));
        std::fs::read_to_string(path).map(|text| smaller(&text, sizes)).map_err(|error| error.to_string())
    };
    let (text, numbers, count) = harnessed(&read(file)?)?;
    let told = |errors: Vec<tensor_layout::text::Error>| Complaint::in_file(file, &text, &errors).plain();
    let mut module = Module::parse(&text).map_err(told)?;
    let data = numbers.iter().map(|x| Number::Float(*x)).collect();
    let all = Value { element: ElementType::F64, sizes: vec![numbers.len() as i64], data };
    let results = interpreter::run(&module, module.entry, &[vec![all]]);
    let mut references = vec![("the interpreter", results[0].data.iter().map(|x| x.real()).collect::<Vec<f64>>())];
    let has_jax = file.strip_prefix("small/").is_none_or(|name| !WITHOUT_JAX.contains(&name));
    if let Some(python) = std::env::var(JAX).ok().filter(|_| has_jax) {
        // XLA does not import its own optimised text; the unoptimised model is the same function.
        let text = harnessed(&read(&file.replace(".opt", ".unopt"))?)?.0;
        references.push(("JAX", jax(&python, &text, &numbers)?));
    }
    if tiled {
        tile(&mut module);
    }
    let mlir = layout_translate::import(&module, &text, file).map_err(told)?;
    let found = execute(&mlir, &numbers, count, form, vectors)?;
    references
        .iter()
        .try_for_each(|(name, expected)| near(&found, expected).map_err(|error| format!("{name}: {error}")))
}

/// Compares numbers with a reference: sums may come in another order, and functions from another math library.
fn near(found: &[f64], expected: &[f64]) -> Result<(), String> {
    let most = expected.iter().fold(0f64, |most, x| most.max(x.abs()));
    if expected.is_empty() || !most.is_finite() || most == 0.0 {
        return Err(format!("nothing to compare: the largest of {} numbers is {most}", expected.len()));
    }
    for (k, (e, f)) in expected.iter().zip(found).enumerate() {
        let near = (e - f).abs() <= 2e-5 * most + 1e-4 * e.abs();
        if !near {
            return Err(format!("number {k} of {} is {f}, not {e}", expected.len()));
        }
    }
    Ok(())
}

/// The results of XLA for the harness.
fn jax(python: &str, text: &str, numbers: &[f64]) -> Result<Vec<f64>, String> {
    let told = |error: std::io::Error| error.to_string();
    let folder = tempfile::tempdir().map_err(told)?;
    let files = ["module.hlo", "numbers", "results"].map(|name| folder.path().join(name));
    std::fs::write(&files[0], text).map_err(told)?;
    std::fs::write(&files[1], numbers.iter().flat_map(|x| x.to_ne_bytes()).collect::<Vec<u8>>()).map_err(told)?;
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/reference.py");
    let output = Command::new(python).arg(script).args(&files).env("JAX_PLATFORMS", "cpu").output().map_err(told)?;
    if !output.status.success() {
        return Err(format!("JAX: {}\n{}", output.status, String::from_utf8_lossy(&output.stderr)));
    }
    let bytes = std::fs::read(&files[2]).map_err(told)?;
    Ok(bytes.chunks_exact(8).map(|x| f64::from_ne_bytes(x.try_into().expect("8 bytes"))).collect())
}

/// Lowers the harness and calls it.
fn execute(mlir: &str, numbers: &[f64], count: usize, form: Form, vectors: &str) -> Result<Vec<f64>, String> {
    let context = jit::context();
    let (before, rest) = mlir.split_once("func.func @harness(").ok_or("there is no harness")?;
    let rest = rest.replacen(") {\n", ") attributes {llvm.emit_c_interface} {\n", 1);
    let text = format!("{before}func.func @harness({rest}");
    let mut module = ir::Module::parse(&context, &text).ok_or("the import does not verify")?;
    let passes = PassManager::new(&context);
    let pipeline = format!("builtin.module(layout-to-llvm{{form={} {vectors}}})", form.name());
    utility::parse_pass_pipeline(passes.as_operation_pass_manager(), &pipeline).map_err(|error| error.to_string())?;
    passes.run(&mut module).map_err(|error| error.to_string())?;
    let engine = jit::engine(&module);
    let told = |error: tensor_layout::text::Error| error.message;
    let row = |count: usize| Array::new(ElementType::F64, &[count as i64], Layout::row_major(1)).map_err(told);
    let argument = Buffer::of(&row(numbers.len())?, form, numbers).map_err(told)?;
    // SAFETY: the harness takes and returns a row of numbers.
    let results = unsafe { call(&engine, "harness", &[(&argument).into()], &[row(count)?], form) }.map_err(told)?;
    results[0].elements().map_err(told)
}
