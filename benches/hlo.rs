//! Reading, importing and analysing HLO: the largest model of the corpus, beside upstream's `mlir-opt` on a file of the
//! same size in the same run, and synthetic modules, whose time should grow in proportion to their instructions.

use std::fmt::Write;
use std::hint::black_box;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use tensor_layout::analysis::{flow, maps};
use tensor_layout::hlo::Module;
use tensor_layout::operations::Shape;

/// The median time of 9 runs.
fn median(mut run: impl FnMut()) -> Duration {
    let mut times: Vec<Duration> = (0..9)
        .map(|_| {
            let start = Instant::now();
            run();
            start.elapsed()
        })
        .collect();
    times.sort();
    times[4]
}

/// A module of about `count` instructions: reshapes, transposes, broadcasts, products and sums, in functions of fifty.
fn synthetic(count: usize) -> String {
    let mut text = String::from("HloModule synthetic\n\n");
    let functions = count.div_ceil(50);
    for f in 0..functions {
        let _ = writeln!(text, "f{f} {{\n  v0 = f32[32,64]{{1,0}} parameter(0)");
        for k in (0..48).step_by(6) {
            let _ = writeln!(
                text,
                "  a{k} = f32[64,32]{{1,0}} transpose(v{k}), dimensions={{1,0}}\n  \
                 b{k} = f32[8,8,32]{{2,1,0}} reshape(a{k})\n  c{k} = f32[2048]{{0}} reshape(b{k})\n  \
                 d{k} = f32[32,64]{{1,0}} reshape(c{k})\n  e{k} = f32[32,32]{{1,0}} dot(d{k}, a{k}), \
                 lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}\n  \
                 v{} = f32[32,64]{{1,0}} dot(e{k}, d{k}), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}",
                k + 6
            );
        }
        let _ = writeln!(text, "  ROOT r = f32[32,64]{{1,0}} add(v48, v0)\n}}\n");
    }
    text.push_str("ENTRY main {\n  x0 = f32[32,64]{1,0} parameter(0)\n");
    for f in 0..functions {
        let root = if f + 1 == functions { "ROOT " } else { "" };
        let _ = writeln!(text, "  {root}x{} = f32[32,64]{{1,0}} call(x{f}), to_apply=f{f}", f + 1);
    }
    text.push_str("}\n");
    text
}

/// Computes the maps of every instruction of a module; returns the number of instructions.
fn analysed(module: &Module) -> usize {
    let mut count = 0;
    for computation in &module.computations {
        for i in &computation.instructions {
            let operands: Vec<&Shape> = i.operands.iter().map(|k| &computation.instructions[*k].shape).collect();
            black_box(maps(&i.operation, &operands, &[&i.shape]).expect("the module was checked"));
            count += 1;
        }
    }
    count
}

/// A tuple of `n` arrays, with an instruction that reads each.
fn wide(n: usize) -> String {
    let mut text = String::from("HloModule wide\n\nENTRY main {\n");
    (0..n).for_each(|k| _ = writeln!(text, "  p{k} = f32[2]{{0}} parameter({k})"));
    let list = |of: &dyn Fn(usize) -> String| (0..n).map(of).collect::<Vec<_>>().join(", ");
    let (types, names) = (list(&|_| "f32[2]{0}".to_string()), list(&|k| format!("p{k}")));
    let _ = writeln!(text, "  t = ({types}) tuple({names})");
    (0..n).for_each(|k| _ = writeln!(text, "  g{k} = f32[2]{{0}} get-tuple-element(t), index={k}"));
    text + "  ROOT r = f32[2]{0} add(g0, g1)\n}\n"
}

/// A chain of computations, each of which calls the one before.
fn chain(n: usize) -> String {
    let mut text = String::from("HloModule chain\n\n");
    for k in 0..n {
        let before = if k == 0 { "negate(p)".to_string() } else { format!("call(p), to_apply=f{}", k - 1) };
        let _ = writeln!(
            text,
            "f{k} {{\n  p = f32[32,64]{{1,0}} parameter(0)\n  q = f32[32,64]{{1,0}} {before}\n  \
             t = f32[64,32]{{1,0}} transpose(q), dimensions={{1,0}}\n  b = f32[32,64]{{1,0}} reshape(t)\n  \
             ROOT r = f32[32,64]{{1,0}} add(p, b)\n}}\n"
        );
    }
    let last = n - 1;
    text + &format!(
        "ENTRY main {{\n  x = f32[32,64]{{1,0}} parameter(0)\n  ROOT c = f32[32,64]{{1,0}} call(x), to_apply=f{last}\n}}\n"
    )
}

/// Prints the time of analysing the accesses of a module's root, at three sizes.
fn scale(name: &str, make: fn(usize) -> String) {
    for count in [100, 1_000, 10_000] {
        let text = make(count);
        let start = Instant::now();
        let module = Module::parse(&text).expect("the module is right");
        let (read, graphs) = (start.elapsed(), module.graphs());
        let start = Instant::now();
        black_box(flow(&graphs, module.entry).is_ok());
        println!("{name} of {count}, {} bytes: read {read:?}, from the root {:?}", text.len(), start.elapsed());
    }
}

fn main() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../test/hlo");
    let files = std::fs::read_dir(&folder).expect("the corpus").map(|entry| entry.expect("a file").path());
    let texts = files.filter(|file| file.extension().is_some_and(|e| e == "hlo"));
    let (file, text) = texts
        .map(|file| (file.clone(), std::fs::read_to_string(file).expect("text")))
        .max_by_key(|(_, text)| text.len())
        .expect("a model");

    // The same number of bytes of MLIR, each line an operation.
    let mut mlir = String::from("func.func @f(%v0: f32) -> f32 {\n");
    let mut n = 0;
    while mlir.len() < text.len() {
        let _ = writeln!(mlir, "  %v{} = arith.addf %v{n}, %v0 : f32 loc(\"add.{n}\"(\"model.py\":{n}:7))", n + 1);
        n += 1;
    }
    let _ = writeln!(mlir, "  return %v{n} : f32\n}}");
    let other = std::env::temp_dir().join(format!("layout-bench-{}.mlir", std::process::id()));
    std::fs::write(&other, &mlir).expect("a temporary file");
    let process = |program: &Path, arguments: &[&Path]| {
        let status =
            Command::new(program).args(arguments).stdout(Stdio::null()).status().expect("the program is there");
        assert!(status.success());
    };
    let translate = Path::new(env!("CARGO_BIN_EXE_layout-translate"));
    let upstream = Path::new(env!("MLIR_SYS_220_PREFIX")).join("bin/mlir-opt");
    let ours = median(|| process(translate, &[Path::new("--import-hlo"), &file]));
    let theirs = median(|| process(&upstream, &[&other]));
    let empty = median(|| process(&upstream, &[Path::new("/dev/null")]));
    std::fs::remove_file(&other).expect("the temporary file");
    let name = file.file_name().unwrap_or_default().display();
    println!("{name}, {} bytes, whole processes, medians of 9:", text.len());
    println!(
        "  layout-translate --import-hlo {ours:?}; mlir-opt on {} bytes {theirs:?}, on nothing {empty:?}",
        mlir.len()
    );
    let module = Module::parse(&text).expect("a model");
    let graphs = module.graphs();
    println!("  read {:?}", median(|| drop(black_box(Module::parse(&text)))));
    println!("  import {:?}", median(|| drop(black_box(layout_translate::import(&module, &text, "model.hlo")))));
    println!("  analyse each of {} instructions {:?}", analysed(&module), median(|| assert!(analysed(&module) > 0)));
    println!("  from the root to the parameters {:?}", median(|| drop(black_box(flow(&graphs, module.entry)))));

    for count in [1_000, 10_000, 100_000] {
        let text = synthetic(count);
        let module = Module::parse(&text).expect("the module is right");
        let start = Instant::now();
        let found = analysed(&module);
        let each = start.elapsed();
        let start = Instant::now();
        black_box(Module::parse(&text).is_ok());
        let read = start.elapsed();
        let start = Instant::now();
        black_box(layout_translate::import(&module, &text, "synthetic.hlo").is_ok());
        let import = start.elapsed();
        println!("{found} instructions, {} bytes: read {read:?}, import {import:?}, analyse each {each:?}", text.len());
    }
    scale("tuple", wide);
    scale("chain", chain);
}
