//! The speed of reading, composing and simplifying indexing maps.

#[path = "../test/layouts/chains/random.rs"]
mod random;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use layout_reference::choices::Choices;
use std::hint::black_box;
use tensor_layout::maps::{Indexing, IndexingMap};

/// The examples of the reference's documentation, and a pair of reshapes that is the identity.
const EXAMPLES: [&str; 5] = [
    "(d0, d1) -> (d0 + d1 floordiv 16, d1 mod 16), domain: d0 in [0, 6], d1 in [0, 14]",
    "(d0, d1, d2) -> ((100*d0 + 10*d1 + d2) floordiv 100, ((100*d0 + 10*d1 + d2) mod 100) floordiv 10, d2 mod 10), domain: d0 in [0, 9], d1 in [0, 9], d2 in [0, 9]",
    "(d0, d1, d2) -> ((16*d0 + 4*d1 + d2) floordiv 8, (16*d0 + 4*d1 + d2) mod 8), domain: d0 in [0, 9], d1 in [0, 9], d2 in [0, 9]",
    "(d0, d1) -> (-((-11*d0 - d1 + 109) floordiv 11) + 9), domain: d0 in [0, 9], d1 in [0, 10]",
    "(d0, d1, d2) -> (((d0*100 + d1*10 + d2) floordiv 20 * 20 + (d0*100 + d1*10 + d2) mod 20) floordiv 100, ((d0*100 + d1*10 + d2) floordiv 20 * 20 + (d0*100 + d1*10 + d2) mod 20) floordiv 10 mod 10, ((d0*100 + d1*10 + d2) floordiv 20 * 20 + (d0*100 + d1*10 + d2) mod 20) mod 10), domain: d0 in [0, 9], d1 in [0, 9], d2 in [0, 9]",
];

fn examples(c: &mut Criterion) {
    let mut group = c.benchmark_group("simplify");
    for (k, text) in EXAMPLES.iter().enumerate() {
        let map = IndexingMap::parse(text).unwrap();
        group.bench_function(format!("example {}", k + 1), |b| b.iter(|| black_box(&map).simplify()));
    }
}

fn chains(c: &mut Criterion) {
    let mut rng = Choices::random(5);
    let texts: Vec<String> = (0..1000).map(|_| random::chain(&mut rng)).collect();
    let parse = |text: &String| -> Vec<Indexing> { text.split(" >> ").map(|m| Indexing::parse(m).unwrap()).collect() };
    let chains: Vec<Vec<Indexing>> = texts.iter().map(parse).collect();
    let mut group = c.benchmark_group("chains");
    group.sample_size(20).throughput(Throughput::Elements(chains.len() as u64));
    group.bench_function("read", |b| b.iter(|| texts.iter().map(parse).collect::<Vec<_>>()));
    group.bench_function("compose and simplify", |b| {
        b.iter(|| chains.iter().map(|chain| Indexing::compose(chain).unwrap()).collect::<Vec<_>>());
    });
}

criterion_group!(benches, examples, chains);
criterion_main!(benches);
