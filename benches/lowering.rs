//! What lowering costs for 100, 1,000 and 3,000 functions, each with one access to a tiled buffer and one copy: time
//! is to grow in proportion.

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use melior::{
    Context,
    dialect::DialectRegistry,
    ir::Module,
    pass::PassManager,
    utility::{parse_pass_pipeline, register_all_dialects},
};
use std::fmt::Write;

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
