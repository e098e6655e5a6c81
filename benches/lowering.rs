//! The time of lowering for 100, 1,000 and 3,000 functions, each with one access to a tiled buffer and one copy, and
//! for 1,000 to 10,000 operations in one function, 50,000 for the first kind: time should grow in proportion.
//!
//! The second is a table of seconds, with the exponent of the growth from the line before: 1 is in proportion.
//! Each line is one run of a pipeline, `layout-to-llvm` for the first kind and `layout-to-memref` for the others:
//!
//! | kind | function |
//! |---|---|
//! | sums | a sum of the result before and that of eight operations before, all of one tiled type |
//! | shared | a product of the result before and an argument that all operations read |
//! | updates | a slice of an argument, doubled and put into the result before |
//! | loops | an `scf.for` that doubles the result before |

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use layout_passes::pipelines::{TO_LLVM, TO_MEMREF};
use melior::{
    Context,
    dialect::DialectRegistry,
    ir::Module,
    pass::PassManager,
    utility::{parse_pass_pipeline, register_all_dialects},
};
use std::fmt::Write;
use std::time::Instant;

/// A module of `count` functions.
fn program(count: usize) -> String {
    let mut text = String::new();
    let tiled = "memref<15x250xbf16, #layout.tiled<{1,0:T(8,128)(2,1)}>>";
    let plain = "memref<15x250xbf16>";
    for n in 0..count {
        writeln!(
            text,
            "func.func @f{n}(%a: {plain}, %b: {tiled}, %i: index, %j: index) -> bf16 {{\n\
             memref.copy %a, %b : {plain} to {tiled}\n\
             %0 = memref.load %b[%i, %j] : {tiled}\n\
             return %0 : bf16\n}}"
        )
        .expect("writing to a string succeeds");
    }
    text
}

/// The type of the arrays of a large function.
const TILED: &str = "tensor<64x48xf32, #layout.tiled<{1,0:T(8,16)}>>";
/// A name, and the text of the `n`th operation of the function.
type Kind = (&'static str, fn(usize) -> String);

/// The kinds of large functions.
const KINDS: &[Kind] = &[
    ("sums", |n| {
        let earlier = if n > 8 { format!("%{}", n - 8) } else { "%b".into() };
        format!("%{n} = arith.addf %{}, {earlier} : {TILED}", n - 1)
    }),
    ("shared", |n| format!("%{n} = arith.mulf %{}, %b : {TILED}", n - 1)),
    ("updates", |n| {
        let (at, row) = (n % 64, "tensor<1x48xf32>");
        format!(
            "%s{n} = tensor.extract_slice %b[{at}, 0] [1, 48] [1, 1] : {TILED} to {row}\n\
             %d{n} = arith.addf %s{n}, %s{n} : {row}\n\
             %{n} = tensor.insert_slice %d{n} into %{}[{at}, 0] [1, 48] [1, 1] : {row} into {TILED}",
            n - 1
        )
    }),
    ("loops", |n| {
        format!(
            "%{n} = scf.for %i{n} = %zero to %times step %one iter_args(%x{n} = %{}) -> ({TILED}) {{\n\
             %y{n} = arith.addf %x{n}, %x{n} : {TILED}\nscf.yield %y{n} : {TILED}\n}}",
            n - 1
        )
    }),
];

/// A function of at least `count` operations.
fn function(operation: fn(usize) -> String, count: usize) -> String {
    let steps = count.div_ceil(operation(1).lines().filter(|line| line.contains(" = ")).count());
    let mut text = format!(
        "func.func @f(%a: {TILED}, %b: {TILED}, %times: index) -> {TILED} {{\n\
         %zero = arith.constant 0 : index\n%one = arith.constant 1 : index\n%0 = arith.addf %a, %b : {TILED}\n"
    );
    (1..=steps).for_each(|n| writeln!(text, "{}", operation(n)).expect("writing to a string succeeds"));
    text + &format!("return %{steps} : {TILED}\n}}\n")
}

/// Prints the time of lowering one function.
fn scale(context: &Context) {
    for (kind, operation) in KINDS {
        let (pipeline, largest) = if *kind == "sums" { (TO_LLVM, 50_000) } else { (TO_MEMREF, 10_000) };
        let mut before: Option<(usize, f64)> = None;
        for count in [1_000, 5_000, 10_000, 50_000].into_iter().filter(|count| *count <= largest) {
            let mut module = Module::parse(context, &function(*operation, count)).expect("the program is right");
            let passes = PassManager::new(context);
            pipeline
                .add_to(passes.as_operation_pass_manager(), layout_passes::Form::Strided)
                .expect("the pipeline is registered");
            let start = Instant::now();
            passes.run(&mut module).expect("the program can be lowered");
            let seconds = start.elapsed().as_secs_f64();
            let exponent = before.map(|(n, s)| (seconds / s).ln() / (count as f64 / n as f64).ln());
            let exponent = exponent.map_or(String::new(), |e| format!(", exponent {e:.2}"));
            println!("{}, one function, {kind}: {count:>6} operations {seconds:>7.2} s{exponent}", pipeline.name);
            before = Some((count, seconds));
        }
    }
}

fn lower(c: &mut Criterion) {
    let registry = DialectRegistry::new();
    register_all_dialects(&registry);
    layout_dialect::register(&registry);
    let context = Context::new_with_registry(&registry, false);
    context.load_all_available_dialects();
    layout_passes::register();
    let passes = PassManager::new(&context);
    let pipeline = "builtin.module(layout-lower-memrefs)";
    parse_pass_pipeline(passes.as_operation_pass_manager(), pipeline).expect("the pass is registered");

    scale(&context);
    let mut group = c.benchmark_group("layout-lower-memrefs");
    group.sample_size(10);
    for count in [100, 1000, 3000] {
        let text = program(count);
        let parse = || Module::parse(&context, &text).expect("the program is right");
        group.throughput(Throughput::Elements(count as u64));
        group.bench_function(format!("{count} functions"), |b| {
            b.iter_batched(
                parse,
                |mut module| {
                    passes.run(&mut module).expect("the program can be lowered");
                    module
                },
                BatchSize::PerIteration,
            );
        });
    }
}

criterion_group!(benches, lower);
criterion_main!(benches);
