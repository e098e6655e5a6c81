//! Laws of the simplifier, held against enumeration of the whole domain on random maps.
//!
//! `LAYOUT_LAWS=1000000 cargo test --release --test simplify_laws` tries that many, `LAYOUT_LAWS_SEED` others.

use fastrand::Rng;
use layout::expr::Expr;
use layout::map::{Indexing, IndexingMap};
use layout::simplify::{Domain, Interval};

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(default)
}

/// A random expression over `vars` variables.
fn expr(rng: &mut Rng, vars: usize, depth: u32) -> Expr {
    let kinds = if depth == 0 { 3 } else { 13 };
    let part = |rng: &mut Rng| expr(rng, vars, depth - 1);
    match rng.u32(0..kinds) {
        0 => Expr::Const(rng.i64(-12..=12)),
        1 | 2 => Expr::Var(rng.usize(0..vars)),
        3..=6 => part(rng) + part(rng),
        7 | 8 => part(rng).times(rng.i64(-8..=8)),
        9 => part(rng).floor_div(rng.i64(1..=12)),
        10 => (part(rng) + Expr::Const(6)).floor_div(7),
        11 => part(rng).modulo(rng.i64(1..=12)),
        _ if rng.bool() => Expr::Min(part(rng).into(), part(rng).into()),
        _ => Expr::Max(part(rng).into(), part(rng).into()),
    }
}

fn interval(rng: &mut Rng, low: i64, longest: i64) -> Interval {
    let lo = rng.i64(-low..=low);
    Interval::new(lo, lo + rng.i64(0..=longest))
}

/// A random map with a small domain.
fn map(rng: &mut Rng) -> IndexingMap {
    let vars = rng.usize(1..=3);
    let longest = [20, 8, 4][vars - 1];
    let intervals: Vec<Interval> = (0..vars).map(|_| interval(rng, 9, longest)).collect();
    let constraints = (0..rng.usize(0..=3)).map(|_| match rng.u8(0..4) {
        // Wide enough to hold for some points.
        0 => {
            let m = rng.i64(2..=9);
            let lo = rng.i64(0..m);
            let hi = if rng.bool() { lo } else { rng.i64(lo..m) };
            (expr(rng, vars, 1).modulo(m), Interval::new(lo, hi))
        }
        1 => {
            let e = expr(rng, vars, 1);
            let lo = rng.i64(-6..=6);
            (e, Interval::new(lo, lo))
        }
        _ => (expr(rng, vars, 2), interval(rng, 12, 15)),
    });
    let domain = Domain { vars: intervals.clone(), constraints: constraints.collect() };
    let results = (0..rng.usize(0..=2)).map(|_| expr(rng, vars, 4)).collect();
    let dims = rng.usize(0..=vars);
    IndexingMap { dims, ranges: vars - dims, domain, ..IndexingMap::new(intervals, results) }
}

/// Every law for one map.
fn check(rng: &mut Rng, map: &IndexingMap) {
    let read = |map: &IndexingMap| {
        let printed = map.to_string();
        IndexingMap::parse(&printed).unwrap_or_else(|error| panic!("{printed}: {error} at {:?}", error.at))
    };
    let copy = read(map);
    assert!(copy.cost() <= map.cost(), "{map}\nread as {copy}");
    let simple = map.simplify();
    let Indexing::Map(simple) = simple else {
        assert_eq!(map.points().next(), None, "{map}: is not empty");
        return;
    };
    assert_eq!(read(&simple).to_string(), simple.to_string(), "reading what was printed");
    assert!(simple.cost() <= map.cost(), "{map}\nbecame dearer: {simple}");
    assert_eq!(simple.variables(), map.variables());
    for (a, b) in map.domain.vars.iter().zip(&simple.domain.vars) {
        assert!(a.lo <= b.lo && b.hi <= a.hi, "{map}\nhas grown: {simple}");
    }
    let all = IndexingMap { domain: Domain { constraints: Vec::new(), ..map.domain.clone() }, ..map.clone() };
    for point in all.points() {
        let (a, b) = (map.evaluate(&point), simple.evaluate(&point));
        assert_eq!(a, b, "{map}\nbecame {simple}\nat {point:?}");
        assert_eq!(a, copy.evaluate(&point), "{map}\nread as {copy}\nat {point:?}");
    }
    let again = simple.simplify();
    assert_eq!(again.to_string(), simple.to_string(), "{map}\nsimplifies twice");
    if map.domain.constraints.len() > 1 {
        let mut other = map.clone();
        rng.shuffle(&mut other.domain.constraints);
        assert_eq!(other.simplify().to_string(), simple.to_string(), "{map}\nin another order");
    }
}

#[test]
fn laws_hold_for_random_maps() {
    let (count, seed) = (setting("LAYOUT_LAWS", 100_000), setting("LAYOUT_LAWS_SEED", 3));
    let mut rng = Rng::with_seed(seed);
    for _ in 0..count {
        let map = map(&mut rng);
        check(&mut rng, &map);
    }
}

#[test]
fn steps_of_random_maps_are_accepted() {
    let (count, seed) = (setting("LAYOUT_LAWS", 100_000) / 5, setting("LAYOUT_LAWS_SEED", 3));
    let mut rng = Rng::with_seed(seed + 1);
    let mut bad: std::collections::BTreeMap<String, (usize, String)> = Default::default();
    for _ in 0..count {
        let map = map(&mut rng);
        match map.explain() {
            Ok(explained) => assert_eq!(explained.result, map.simplify()),
            Err(error) => {
                let text = error.to_string();
                let key: String = text.chars().filter(|c| !c.is_ascii_digit()).collect();
                let e = bad.entry(key).or_insert((0, map.to_string()));
                e.0 += 1;
                if map.to_string().len() < e.1.len() {
                    e.1 = map.to_string()
                }
            }
        }
    }
    for (k, v) in bad {
        println!("{k}: {v:?}");
    }
}
