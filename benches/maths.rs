//! The speed of reading layouts and of finding an element in them.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use std::hint::black_box;
use tensor_layout::operations::Shape;
use tensor_layout::tiled::Expansion;
use tensor_layout::tiled::Layout;

/// The golden shapes for printing, from real programs.
fn texts() -> Vec<String> {
    include_str!("../test/golden/layouts.jsonl")
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
        .filter(|fact| fact["check"] == "print")
        .map(|fact| fact["shape"].as_str().unwrap().to_string())
        .collect()
}

fn parse(c: &mut Criterion) {
    let texts = texts();
    let mut group = c.benchmark_group("shapes");
    group.throughput(Throughput::Elements(texts.len() as u64));
    group.bench_function("parse", |b| b.iter(|| texts.iter().filter(|text| Shape::parse(text).is_ok()).count()));
    let shapes: Vec<_> = texts.iter().map(|text| Shape::parse(text).unwrap()).collect();
    group.bench_function("print", |b| b.iter(|| shapes.iter().map(|shape| shape.to_string().len()).sum::<usize>()));
}

fn elements(c: &mut Criterion) {
    let mut group = c.benchmark_group("elements");
    for (sizes, text) in [
        (&[16, 256][..], "{1,0}"),
        (&[16, 256], "{1,0:T(8,128)}"),
        (&[16, 256], "{1,0:T(8,128)(2,1)}"),
        (&[15, 250], "{1,0:T(6,100)(3,1)}"),
    ] {
        let layout = Layout::parse(text).unwrap();
        let expansion = Expansion::new(sizes, &layout).unwrap();
        let indices: Vec<[i64; 2]> = (0..sizes[0]).flat_map(|i| (0..sizes[1]).map(move |j| [i, j])).collect();
        group.throughput(Throughput::Elements(1));
        group.bench_function(format!("apply {text}"), |b| b.iter(|| Expansion::new(black_box(sizes), &layout).is_ok()));
        group.throughput(Throughput::Elements(indices.len() as u64));
        group.bench_function(format!("offset {text}"), |b| {
            b.iter(|| indices.iter().map(|index| expansion.offset(index).unwrap()).sum::<i64>());
        });
        group.throughput(Throughput::Elements(expansion.elements() as u64));
        group.bench_function(format!("index {text}"), |b| {
            b.iter(|| (0..expansion.elements()).filter(|offset| expansion.index(*offset).unwrap().is_some()).count());
        });
    }
}

criterion_group!(benches, parse, elements);
criterion_main!(benches);
