//! Chains of reshapes, transposes and tilings, as in compilers, composed and simplified.
//!
//! `LAYOUT_CHAINS=FILE` reads chains from a file instead: one a line, `name | a >> b`, `a` first.

mod random;

use fastrand::Rng;
use layout_reference::choices;
use std::cell::Cell;
use std::time::{Duration, Instant};
use tensor_layout::expr::Expr;
use tensor_layout::maps::{Indexing, IndexingMap};

/// The evaluation cost of a map's results: all operations, and the divisions among them.
fn operations(map: &IndexingMap) -> (usize, usize) {
    let printed = map.to_string();
    let results = &printed[..printed.find(", domain").unwrap_or(printed.len())];
    let count = |pieces: &[&str]| pieces.iter().map(|piece| results.matches(piece).count()).sum::<usize>();
    let divisions = count(&["floordiv", "ceildiv", " mod "]);
    (divisions + count(&[" + ", " - ", " * ", "(-", ", -"]), divisions)
}

/// Counts over several chains.
#[derive(Clone, Copy, Default)]
struct Total {
    chains: usize,
    /// The remaining operations, and the divisions among them.
    operations: usize,
    divisions: usize,
    /// The identity chains, and how many of them simplify to one.
    identities: usize,
    recognised: usize,
    time: Duration,
}

/// Composes a chain, and compares it with its maps in sequence.
fn check(chain: &str, total: &mut Total) {
    let mut rng = Rng::with_seed(6);
    let maps: Vec<Indexing> = chain.split(" >> ").map(|m| Indexing::parse(m).unwrap()).collect();
    let start = Instant::now();
    let composed = Indexing::compose(&maps).unwrap();
    total.time += start.elapsed();
    let composed = composed.map().unwrap();
    let sizes = &maps[0].map().unwrap().domain.vars;
    assert_eq!(&composed.domain.vars, sizes, "{chain}");
    assert!(composed.domain.constraints.is_empty(), "{chain}: {composed}");
    let mut identity = composed.results.len() == sizes.len();
    for _ in 0..30 {
        let point: Vec<i64> = sizes.iter().map(|i| rng.i64(i.lo..=i.hi)).collect();
        let step = |at: Vec<i64>, map: &Indexing| map.map().unwrap().evaluate(&at).unwrap().unwrap();
        let expected = maps.iter().fold(point.clone(), step);
        identity &= expected == point;
        assert_eq!(composed.evaluate(&point), Ok(Some(expected)), "{chain}: {composed} at {point:?}");
    }
    let as_such = |(v, e): (usize, &Expr)| *e == Expr::Var(v) || *e == Expr::Const(0) && sizes[v].hi == 0;
    let recognised = identity && composed.results.iter().enumerate().all(as_such);
    assert!(!identity || recognised, "{chain} is an identity: {composed}");
    let (operations, divisions) = operations(composed);
    total.chains += 1;
    total.operations += operations;
    total.divisions += divisions;
    total.identities += usize::from(identity);
    total.recognised += usize::from(recognised);
}

#[test]
fn chains_become_small_and_identities_are_recognised() {
    let total = Cell::new(Total::default());
    let check = |chain: &str| {
        let mut sum = total.get();
        check(chain, &mut sum);
        total.set(sum);
    };
    match std::env::var("LAYOUT_CHAINS") {
        Ok(file) => {
            let text = std::fs::read_to_string(file).unwrap();
            text.lines().for_each(|line| check(line.split(" | ").nth(1).unwrap()));
        }
        Err(_) => choices::check(1000, 5, random::chain, |chain| check(chain)),
    }
    let Total { chains, operations, divisions, identities, recognised, time } = total.get();
    println!(
        "{chains} chains: {operations} operations left, {divisions} of them div or mod, {recognised} of {identities} \
         identities, {:?} a chain",
        time / chains as u32
    );
    assert!(operations * 10 <= 75 * chains && divisions * 10 <= 22 * chains, "{operations} and {divisions} are left");
}
