//! The speed of placing and finding elements of a TensorLayout, and of planning conversions.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use std::hint::black_box;
use tensor_layout::places::Machine;
use tensor_layout::places::plan;
use tensor_layout::places::{Held, Placement};

/// 1024×512 over a whole board.
const BOARD: &str = "((16_L2B, 8_L1B, 8:8), (16_MAB, 8:1, 4_PE))";

fn places(c: &mut Criterion) {
    let placement = Placement::parse(BOARD).unwrap();
    let mut group = c.benchmark_group("places");
    group.throughput(Throughput::Elements(placement.elements() as u64));
    group.bench_function("place_into", |b| {
        let mut place = [0; 5];
        b.iter(|| {
            let mut sum = 0;
            for i in 0..1024 {
                for j in 0..512 {
                    placement.place_into(black_box(&[i, j]), &mut place).unwrap();
                    sum += place[4];
                }
            }
            sum
        });
    });
    let all: Vec<[i64; 5]> = (0..16 * 8 * 16 * 4).map(|k| [k / 512, k / 64 % 8, k / 4 % 16, k % 4, k % 64]).collect();
    group.throughput(Throughput::Elements(all.len() as u64));
    group.bench_function("held", |b| {
        b.iter(|| all.iter().filter(|place| matches!(placement.held(&place[..]), Ok(Held::Element(_)))).count());
    });
}

fn plans(c: &mut Criterion) {
    let board = Machine::parse("mn_core").unwrap();
    let mut group = c.benchmark_group("plans");
    for (name, from, to) in [
        ("board", BOARD, "((4_PE, 4:16, 2_L2B:8, 4_MAB:4, 8_L1B), (8_L2B:1, 4_MAB:1, 16:1))"),
        (
            "board, local extents a thousand times larger",
            "((16_L2B, 8_L1B, 8000:8000), (16_MAB, 8000:1, 4_PE))",
            "((4_PE, 4000:16000, 2_L2B:8, 4_MAB:4, 8_L1B), (8_L2B:1, 4_MAB:1, 16000:1))",
        ),
        ("board to one memory", BOARD, "((1024:512), (512:1))"),
        (
            "padded board",
            "(1000,500)/((16_L2B, 8_L1B, 8:8), (16_MAB, 8:1, 4_PE))",
            "(1000,500)/((8_L1B, 16_L2B, 8:8), (16_MAB, 4_PE, 8:1))",
        ),
    ] {
        let (from, to) = (Placement::parse(from).unwrap(), Placement::parse(to).unwrap());
        group.bench_function(name, |b| b.iter(|| plan(black_box(&from), &to, Some(&board), 32).unwrap().blocks.len()));
    }
}

criterion_group!(benches, places, plans);
criterion_main!(benches);
