//! Chains of reshapes, transposes and tilings, as compilers make them, composed and simplified.
//!
//! `LAYOUT_CHAINS=FILE` takes chains from a file instead of making them: one a line, `name | a >> b`, `a` first.

#[path = "chains/random.rs"]
mod random;

use fastrand::Rng;
use tensor_layout::expr::Expr;
use tensor_layout::maps::{Indexing, IndexingMap};

/// What a text costs to evaluate: all operations, and those that divide.
fn operations(map: &IndexingMap) -> (usize, usize) {
    let printed = map.to_string();
    let results = &printed[..printed.find(", domain").unwrap_or(printed.len())];
    let count = |pieces: &[&str]| pieces.iter().map(|piece| results.matches(piece).count()).sum::<usize>();
    let divisions = count(&["floordiv", "ceildiv", " mod "]);
    (divisions + count(&[" + ", " - ", " * ", "(-", ", -"]), divisions)
}

#[test]
fn chains_come_out_small_and_identities_as_such() {
    let chains: Vec<String> = match std::env::var("LAYOUT_CHAINS") {
        Ok(file) => {
            std::fs::read_to_string(file).unwrap().lines().map(|l| l.split(" | ").nth(1).unwrap().into()).collect()
        }
        Err(_) => {
            let mut rng = Rng::with_seed(5);
            (0..1000).map(|_| random::chain(&mut rng)).collect()
        }
    };
    let mut rng = Rng::with_seed(6);
    let (mut all, mut divisions, mut identities, mut recognised) = (0, 0, 0, 0);
    let mut time = std::time::Duration::ZERO;
    for chain in &chains {
        let maps: Vec<Indexing> = chain.split(" >> ").map(|m| Indexing::parse(m).unwrap()).collect();
        let start = std::time::Instant::now();
        let composed = Indexing::compose(&maps).unwrap();
        time += start.elapsed();
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
        identities += usize::from(identity);
        recognised += usize::from(identity && composed.results.iter().enumerate().all(as_such));
        let (operations, divide) = operations(composed);
        all += operations;
        divisions += divide;
    }
    println!(
        "{} chains: {all} operations left, {divisions} of them div or mod, {recognised} of {identities} identities, {:?} a chain",
        chains.len(),
        time / chains.len() as u32
    );
    assert_eq!(recognised, identities);
    assert!(all * 10 <= 75 * chains.len() && divisions * 10 <= 22 * chains.len(), "{all} and {divisions} are left");
}
