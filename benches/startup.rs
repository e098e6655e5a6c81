//! The start time of `layout-opt`, beside upstream's `mlir-opt` in the same run: whole processes on an empty module, in
//! alternation, so that both see the same machine.

use criterion::{Criterion, criterion_group, criterion_main};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The time of one process that reads an empty module.
fn run(program: &Path) -> Duration {
    let start = Instant::now();
    let status = Command::new(program).arg("/dev/null").stdout(Stdio::null()).status().expect("the program is there");
    assert!(status.success());
    start.elapsed()
}

fn start(c: &mut Criterion) {
    let ours = Path::new(env!("CARGO_BIN_EXE_layout-opt"));
    let upstream = Path::new(env!("MLIR_SYS_220_PREFIX")).join("bin/mlir-opt");
    let rounds = 40;
    let (mut a, mut b): (Vec<_>, Vec<_>) = (0..rounds).map(|_| (run(ours), run(&upstream))).unzip();
    a.sort();
    b.sort();
    let median = rounds / 2;
    println!(
        "start-up, {rounds} runs turn about: layout-opt {:?} (least {:?}), mlir-opt {:?} (least {:?}), ratio {:.2}",
        a[median],
        a[0],
        b[median],
        b[0],
        a[median].as_secs_f64() / b[median].as_secs_f64()
    );
    let mut group = c.benchmark_group("start-up");
    group.sample_size(20);
    group.bench_function("layout-opt", |b| b.iter(|| run(ours)));
    group.bench_function("mlir-opt", |b| b.iter(|| run(&upstream)));
}

criterion_group!(benches, start);
criterion_main!(benches);
