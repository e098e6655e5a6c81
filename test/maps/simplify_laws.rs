//! Laws of the simplifier, checked on random maps by enumeration of the whole domain.
//!
//! `LAYOUT_LAWS=1000000 cargo test --release --test maps` sets the number, `LAYOUT_LAWS_SEED` the seed.

use crate::sample::Sample;
use fastrand::Rng;
use layout_reference::choices::{self, Choices};
use std::cell::RefCell;
use std::collections::BTreeMap;
use tensor_layout::expr::Expr;
use tensor_layout::maps::replay;
use tensor_layout::maps::{Claim, Explained, Rule, Step, Using};
use tensor_layout::maps::{Domain, Equality, Interval};
use tensor_layout::maps::{Indexing, IndexingMap};

/// The number of cases, and their seed.
fn settings(sample: Sample, seed: u64) -> (u32, u64) {
    let setting = |name| std::env::var(name).ok().map(|value| value.parse().expect("a number"));
    let (cases, seed) = sample.random(100_000, seed);
    (setting("LAYOUT_LAWS").map_or(cases, |cases| cases as u32), setting("LAYOUT_LAWS_SEED").unwrap_or(seed))
}

/// A random expression over `vars` variables.
fn expr(rng: &mut Choices, vars: usize, depth: u32) -> Expr {
    let kinds = if depth == 0 { 3 } else { 13 };
    let part = |rng: &mut Choices| expr(rng, vars, depth - 1);
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

fn interval(rng: &mut Choices, low: i64, longest: i64) -> Interval {
    let lo = rng.i64(-low..=low);
    Interval::new(lo, lo + rng.i64(0..=longest))
}

/// A random map with a small domain.
fn map(rng: &mut Choices) -> IndexingMap {
    let vars = rng.usize(1..=3);
    let longest = [20, 8, 4][vars - 1];
    let intervals: Vec<Interval> = (0..vars).map(|_| interval(rng, 9, longest)).collect();
    let constraints = (0..rng.usize(0..=3)).map(|_| match rng.u8(0..4) {
        // Wide enough to hold at some points.
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

/// The same expression with the terms of each sum, and the operands of minima and maxima, in another order.
fn reordered(rng: &mut Choices, e: &Expr) -> Expr {
    let mut both = |a: &Expr, b: &Expr| {
        let (a, b) = (reordered(rng, a), reordered(rng, b));
        if rng.bool() { (b.into(), a.into()) } else { (a.into(), b.into()) }
    };
    match e {
        Expr::Const(_) | Expr::Var(_) => e.clone(),
        Expr::Add(..) => {
            let mut terms: Vec<Expr> = e.terms().into_iter().map(|term| reordered(rng, term)).collect();
            rng.shuffle(&mut terms);
            Expr::sum(terms)
        }
        Expr::Min(a, b) => {
            let (a, b) = both(a, b);
            Expr::Min(a, b)
        }
        Expr::Max(a, b) => {
            let (a, b) = both(a, b);
            Expr::Max(a, b)
        }
        Expr::Mul(a, c) => Expr::Mul(reordered(rng, a).into(), *c),
        Expr::FloorDiv(a, d) => Expr::FloorDiv(reordered(rng, a).into(), *d),
        Expr::Mod(a, m) => Expr::Mod(reordered(rng, a).into(), *m),
    }
}

/// A map, and its constraints in another order.
fn map_and_order(rng: &mut Choices) -> (IndexingMap, Vec<(Expr, Interval)>) {
    let map = map(rng);
    let mut order = map.domain.constraints.clone();
    rng.shuffle(&mut order);
    (map, order)
}

/// The order of terms in sums changes few results, with nested minima: 5 of 600,000. A part of the cases may have one.
#[test]
fn terms_in_another_order_give_the_same_text() {
    crate::long_test!();
    let (count, seed) = settings(Sample::WHOLE, 9);
    let mut rng = Choices::random(seed);
    let mut differ = Vec::new();
    for _ in 0..count {
        let map = map(&mut rng);
        let mut other = map.clone();
        other.results = map.results.iter().map(|e| reordered(&mut rng, e)).collect();
        other.domain.constraints = map.domain.constraints.iter().map(|(e, i)| (reordered(&mut rng, e), *i)).collect();
        rng.shuffle(&mut other.domain.constraints);
        let (a, b) = (map.simplify(), other.simplify());
        if a.to_string() != b.to_string() {
            differ.push(format!("{map}\n{a}\n{b}"));
        }
    }
    assert!(differ.len() * 40_000 <= count as usize, "{}", differ.join("\n"));
}

/// Every law for one map.
fn check((map, order): &(IndexingMap, Vec<(Expr, Interval)>)) {
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
    assert_eq!(read(&simple).to_string(), simple.to_string(), "reading what was printed of {map}");
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
    if order.len() > 1 {
        let mut other = map.clone();
        other.domain.constraints.clone_from(order);
        assert_eq!(other.simplify().to_string(), simple.to_string(), "{map}\nin another order");
    }
}

#[test]
fn laws_hold_for_random_maps() {
    let (count, seed) = settings(Sample::from_env(), 3);
    choices::check(count, seed, map_and_order, check);
}

/// A number of any size up to 2^62.
fn large(rng: &mut Choices) -> i64 {
    (rng.u64(..) >> rng.u32(2..64)) as i64
}

/// A random sum of terms with numbers of any size, whose divisors rarely have a common factor.
fn large_expr(rng: &mut Choices, vars: usize, depth: u32) -> Expr {
    let terms = (0..rng.usize(1..=if depth == 0 { 18 } else { 3 })).map(|_| {
        let v = Expr::Var(rng.usize(0..vars));
        let divisor = large(rng).max(1);
        match rng.u8(0..8) {
            0 => v,
            1 => v.times(large(rng).min(1 << 20)),
            2..=4 => v.floor_div(divisor),
            5 => v.modulo(divisor),
            6 => Expr::Const(large(rng) - large(rng)),
            _ if depth == 2 => v,
            _ => {
                let (a, b) = (large_expr(rng, vars, depth + 1), large_expr(rng, vars, depth + 1));
                match rng.u8(0..4) {
                    0 => Expr::Min(a.into(), b.into()),
                    1 => Expr::Max(a.into(), b.into()),
                    2 => (a + b).floor_div(divisor),
                    _ => (a + b).modulo(divisor),
                }
            }
        }
    });
    Expr::sum(terms.collect())
}

/// A map with a domain that is too large to enumerate, and points of its box.
fn large_map(rng: &mut Choices) -> (IndexingMap, Vec<Vec<i64>>) {
    let vars = rng.usize(1..=3);
    let intervals: Vec<Interval> = (0..vars)
        .map(|_| {
            let lo = if rng.bool() { -large(rng) } else { 0 };
            Interval::new(lo, lo.saturating_add(large(rng)))
        })
        .collect();
    let mut coordinate = |i: &Interval| match rng.u8(0..6) {
        0 => i.lo,
        1 => i.hi,
        2 => i.lo.saturating_add(large(rng)).min(i.hi),
        _ => rng.i64(i.lo..=i.hi),
    };
    let points: Vec<Vec<i64>> = (0..60).map(|_| intervals.iter().map(&mut coordinate).collect()).collect();
    let constraints = (0..rng.usize(0..=2)).filter_map(|_| {
        let e = large_expr(rng, vars, 0);
        // A constraint that holds at some point, with one end near.
        let middle = e.evaluate(&points[rng.usize(0..points.len())])?;
        let (down, up) = (large(rng) >> rng.u32(0..62), large(rng));
        Some((e, Interval::new(middle.saturating_sub(down), middle.saturating_add(up))))
    });
    let domain = Domain { constraints: constraints.collect(), vars: intervals.clone() };
    let results = vec![large_expr(rng, vars, 0), large_expr(rng, vars, 1)];
    (IndexingMap { domain, ..IndexingMap::new(intervals, results) }, points)
}

/// Bounds beyond 128 bits are dropped: points of domains too large to enumerate keep their values.
#[test]
fn laws_hold_for_large_numbers() {
    let (count, seed) = settings(Sample::WHOLE, 11);
    choices::check(count / 50, seed, large_map, |(map, points)| {
        let simple = map.simplify();
        for point in points {
            let Ok(value) = map.evaluate(point) else { continue };
            let found = match &simple {
                Indexing::Map(simple) => simple.evaluate(point),
                _ => Ok(None),
            };
            assert_eq!(found, Ok(value), "{map}\nbecame {simple}\nat {point:?}");
        }
        if let Indexing::Map(simple) = &simple {
            let printed = simple.to_string();
            assert_eq!(IndexingMap::parse(&printed).map(|map| map.to_string()), Ok(printed));
            assert!(simple.cost() <= map.cost(), "{map}\nbecame dearer: {simple}");
        }
    });
}

/// A number near an end of 62, 63 or 64 bits, or, in half of the cases, a small one.
fn extreme(rng: &mut Choices) -> i64 {
    if rng.bool() {
        let end = [1i64 << 61, 1 << 62, i64::MAX][rng.usize(0..3)];
        let end = if rng.bool() { -i128::from(end) } else { end.into() };
        return (end + i128::from(rng.i64(-3..=3))).clamp(i64::MIN.into(), i64::MAX.into()) as i64;
    }
    rng.i64(-8..=8)
}

/// A random expression with extreme constants, factors and divisors.
fn extreme_expr(rng: &mut Choices, vars: usize, depth: u32) -> Expr {
    let kinds = if depth == 0 { 3 } else { 12 };
    let part = |rng: &mut Choices| extreme_expr(rng, vars, depth - 1);
    let divisor = |rng: &mut Choices| extreme(rng).saturating_abs().max(1);
    match rng.u32(0..kinds) {
        0 => Expr::Const(extreme(rng)),
        1 | 2 => Expr::Var(rng.usize(0..vars)),
        3..=5 => part(rng) + part(rng),
        6 | 7 => part(rng).times(extreme(rng)),
        8 => part(rng).floor_div(divisor(rng)),
        9 | 10 => part(rng).modulo(divisor(rng)),
        _ if rng.bool() => Expr::Min(part(rng).into(), part(rng).into()),
        _ => Expr::Max(part(rng).into(), part(rng).into()),
    }
}

/// The value of an expression by definition; `None` if an intermediate value exceeds 128 bits.
fn value(e: &Expr, point: &[i64]) -> Option<i128> {
    let of = |e: &Expr| value(e, point);
    Some(match e {
        Expr::Const(c) => i128::from(*c),
        Expr::Var(v) => i128::from(point[*v]),
        Expr::Add(a, b) => of(a)?.checked_add(of(b)?)?,
        Expr::Mul(a, c) => of(a)?.checked_mul(i128::from(*c))?,
        Expr::FloorDiv(a, d) => of(a)?.div_euclid(i128::from(*d)),
        Expr::Mod(a, m) => of(a)?.rem_euclid(i128::from(*m)),
        Expr::Min(a, b) => of(a)?.min(of(b)?),
        Expr::Max(a, b) => of(a)?.max(of(b)?),
    })
}

/// The results of a map at a point by definition, none outside of the domain; `None` if a value exceeds 128 bits.
fn values(map: &IndexingMap, point: &[i64]) -> Option<Option<Vec<i128>>> {
    let within = |i: &Interval, x: i128| i128::from(i.lo) <= x && x <= i128::from(i.hi);
    let mut inside = map.domain.vars.iter().zip(point).all(|(i, x)| within(i, i128::from(*x)));
    for (e, i) in &map.domain.constraints {
        inside &= within(i, value(e, point)?);
    }
    let results = map.results.iter().map(|e| value(e, point)).collect::<Option<Vec<_>>>()?;
    Some(inside.then_some(results))
}

/// A map with few points and extreme numbers.
fn extreme_map(rng: &mut Choices) -> IndexingMap {
    let vars = rng.usize(1..=2);
    let longest = [12, 4][vars - 1];
    let short = |rng: &mut Choices, longest: i64| {
        let (end, length) = (extreme(rng), rng.i64(0..=longest));
        if rng.bool() {
            Interval::new(end.saturating_sub(length), end)
        } else {
            Interval::new(end, end.saturating_add(length))
        }
    };
    let intervals: Vec<Interval> = (0..vars).map(|_| short(rng, longest)).collect();
    let constraints = (0..rng.usize(0..=2)).map(|_| {
        let e = extreme_expr(rng, vars, 2);
        let point: Vec<i64> = intervals.iter().map(|i| rng.i64(i.lo..=i.hi)).collect();
        // A constraint that holds at some point, if 64 bits hold the value, with ends that are near it or extreme.
        let near = value(&e, &point).and_then(|x| i64::try_from(x).ok()).unwrap_or(0);
        let lo = if rng.bool() { near.saturating_sub(rng.i64(0..=9)) } else { extreme(rng).min(near) };
        let hi = if rng.bool() { near.saturating_add(rng.i64(0..=9)) } else { extreme(rng).max(near) };
        (e, Interval::new(lo, hi))
    });
    let domain = Domain { vars: intervals.clone(), constraints: constraints.collect() };
    let results = (0..rng.usize(0..=2)).map(|_| extreme_expr(rng, vars, 3)).collect();
    let dims = rng.usize(0..=vars);
    IndexingMap { dims, ranges: vars - dims, domain, ..IndexingMap::new(intervals, results) }
}

/// A map with extreme numbers, and one to compose with it.
fn extreme_maps(rng: &mut Choices) -> [IndexingMap; 2] {
    let first = extreme_map(rng);
    let dims = first.results.len();
    let intervals: Vec<Interval> = (0..dims)
        .map(|_| {
            let (a, b) = (extreme(rng), extreme(rng));
            Interval::new(a.min(b), a.max(b))
        })
        .collect();
    let results = (0..rng.usize(0..=2)).map(|_| if dims == 0 { Expr::Const(0) } else { extreme_expr(rng, dims, 2) });
    let second = IndexingMap::new(intervals, results.collect());
    [first, second]
}

/// Asserts that two maps agree at each point of the first one's box if 128 bits hold both values.
fn agree(map: &IndexingMap, other: &Indexing) {
    let all = IndexingMap { domain: Domain { constraints: Vec::new(), ..map.domain.clone() }, ..map.clone() };
    for point in all.points() {
        let Some(expected) = values(map, &point) else { continue };
        let found = match other {
            Indexing::Map(other) => values(other, &point),
            _ => Some(None),
        };
        if let Some(found) = found {
            assert_eq!(found, expected, "{map}\nbecame {other}\nat {point:?}");
        }
    }
}

/// 64-bit numbers may overflow in negation, sums and products, and an interval that ends at 2^63 - 1 ends there.
#[test]
fn laws_hold_for_random_maps_of_extreme_numbers() {
    let (count, seed) = settings(Sample::from_env(), 23);
    choices::check(count, seed, extreme_maps, |[map, second]| {
        let simple = map.simplify();
        agree(map, &simple);
        assert!(!matches!(map.compare(map), Equality::Different { .. }), "{map}");
        if let Indexing::Map(simple) = &simple {
            let read = IndexingMap::parse(&simple.to_string()).unwrap_or_else(|error| panic!("{simple}: {error}"));
            agree(simple, &Indexing::Map(read));
            assert!(simple.cost() <= map.cost(), "{map}\nbecame dearer: {simple}");
            assert!(!matches!(map.compare(simple), Equality::Different { .. }), "{map}\nbecame {simple}");
        }
        match map.explain() {
            Ok(explained) => {
                assert_eq!(explained.result, simple, "{map}");
                let end = replay(map, &explained.steps).unwrap_or_else(|refused| panic!("{map}: {refused}"));
                agree(map, &end.map_or(Indexing::KnownEmpty, Indexing::Map));
            }
            Err(error) => assert!(!error.message.is_empty()),
        }
        let (inverse, image, points) = (map.invert(), map.image(), map.points());
        for point in points {
            let Ok(Some(results)) = map.evaluate(&point) else { continue };
            assert!(image.iter().zip(&results).all(|(i, x)| i.lo <= *x && *x <= i.hi), "{map} at {point:?}: {image:?}");
            if let Some(Indexing::Map(inverse)) = &inverse {
                assert_eq!(inverse.evaluate(&results), Ok(Some(point)), "{map}\nhas the inverse {inverse}");
            }
        }
        map.rescaled();
        let (direct, _) = map.then(second).unwrap();
        agree(&direct, &Indexing::compose(&[Indexing::Map(map.clone()), Indexing::Map(second.clone())]).unwrap());
    });
}

/// A map with large numbers, and one to compose with it.
fn large_maps(rng: &mut Choices) -> [IndexingMap; 2] {
    let (first, _) = large_map(rng);
    let intervals: Vec<Interval> = first.results.iter().map(|_| Interval::new(0, large(rng))).collect();
    let results = (0..rng.usize(1..=2)).map(|_| large_expr(rng, 2, 1)).collect();
    [first, IndexingMap::new(intervals, results)]
}

/// A map that is printed, read and printed again has the same text, whether it is simple or not.
#[test]
fn maps_that_are_read_back_print_the_same() {
    let (count, seed) = settings(Sample::from_env(), 29);
    let maps = |rng: &mut Choices| [map(rng), extreme_map(rng), large_map(rng).0];
    choices::check(count, seed, maps, |maps| {
        for map in maps {
            let printed = map.to_string();
            let read = IndexingMap::parse(&printed).unwrap_or_else(|error| panic!("{printed}: {error}"));
            assert_eq!(read.to_string(), printed, "{map:?}");
        }
    });
}

/// A composition costs no more than the second map with the results of the first one substituted.
#[test]
fn compositions_with_large_numbers_cost_no_more_than_their_maps() {
    let (count, seed) = settings(Sample::from_env(), 17);
    choices::check(count / 50, seed, large_maps, |maps| {
        let (direct, _) = maps[0].then(&maps[1]).unwrap();
        let both = maps.clone().map(Indexing::Map);
        if let Indexing::Map(composed) = Indexing::compose(&both).unwrap() {
            assert!(composed.cost() <= direct.cost(), "{direct}\nis dearer as {composed}");
        }
    });
}

/// An expression with one changed number.
fn changed(rng: &mut Rng, e: &Expr) -> Expr {
    let other = |rng: &mut Rng, c: i64| c + [-7, -2, -1, 1, 2, 9][rng.usize(0..6)];
    match e {
        Expr::Const(c) => Expr::Const(other(rng, *c)),
        Expr::Var(v) if rng.u8(0..4) == 0 => Expr::Var(v + rng.usize(1..4)),
        Expr::Var(_) => e.clone() + Expr::Const(1),
        Expr::Add(a, b) if rng.bool() => Expr::Add(changed(rng, a).into(), b.clone()),
        Expr::Add(a, b) => Expr::Add(a.clone(), changed(rng, b).into()),
        Expr::Mul(a, c) if rng.bool() => Expr::Mul(a.clone(), other(rng, *c)),
        Expr::Mul(a, c) => Expr::Mul(changed(rng, a).into(), *c),
        Expr::FloorDiv(a, d) if rng.bool() => Expr::FloorDiv(a.clone(), other(rng, *d)),
        Expr::FloorDiv(a, d) => Expr::FloorDiv(changed(rng, a).into(), *d),
        Expr::Mod(a, m) if rng.bool() => Expr::Mod(a.clone(), other(rng, *m)),
        Expr::Mod(a, m) => Expr::Mod(changed(rng, a).into(), *m),
        Expr::Min(a, b) if rng.bool() => Expr::Max(a.clone(), b.clone()),
        Expr::Min(a, b) => Expr::Min(a.clone(), changed(rng, b).into()),
        Expr::Max(a, b) => Expr::Max(changed(rng, a).into(), b.clone()),
    }
}

/// Changes a step, in most cases to a wrong one.
fn corrupt(rng: &mut Rng, step: &mut Step) {
    let shift = |rng: &mut Rng, i: &mut Interval| match rng.bool() {
        true => i.lo += rng.i64(-2..=2),
        false => i.hi += rng.i64(-2..=2),
    };
    let constraint = |rng: &mut Rng, all: &mut Vec<(Expr, Interval)>| match rng.usize(0..=all.len()) {
        k if k == all.len() => drop(all.pop()),
        k if rng.bool() => all[k].0 = changed(rng, &all[k].0),
        k => shift(rng, &mut all[k].1),
    };
    match rng.u8(0..8) {
        0 => step.rule = Rule::ALL[rng.usize(0..Rule::ALL.len())],
        1 => step.fact = None,
        2 => step.using = [Using::Box, Using::All, Using::Solved][rng.usize(0..3)].clone(),
        _ => match &mut step.claim {
            Claim::Equal(a, b) | Claim::Result(_, a, b) if rng.u8(0..4) == 0 => *a = changed(rng, &b.clone()),
            Claim::Equal(_, b) | Claim::Result(_, _, b) => *b = changed(rng, b),
            Claim::Interval(_, a, _) if rng.u8(0..4) == 0 => shift(rng, a),
            Claim::Interval(_, _, b) => shift(rng, b),
            Claim::Constraints(a, _) if rng.u8(0..4) == 0 => constraint(rng, a),
            Claim::Constraints(_, b) => constraint(rng, b),
            Claim::Nothing(a) => constraint(rng, a),
        },
    }
}

/// Whether two maps have the same points and values.
fn same(a: &IndexingMap, b: Option<&IndexingMap>) -> bool {
    let all = IndexingMap { domain: Domain { constraints: Vec::new(), ..a.domain.clone() }, ..a.clone() };
    let value = |map: &IndexingMap, point: &[i64]| map.evaluate(point).ok().flatten();
    all.points().all(|point| value(a, &point) == b.and_then(|b| value(b, &point)))
}

/// A map, and a seed for wrong steps of its simplification.
fn map_and_seed(rng: &mut Choices) -> (IndexingMap, u64) {
    (map(rng), rng.u64(..))
}

#[test]
fn steps_lead_to_the_result_and_wrong_ones_are_refused() {
    let (count, seed) = settings(Sample::from_env(), 3);
    let refused = RefCell::new(BTreeMap::<Rule, u32>::new());
    choices::check(count / 5, seed + 1, map_and_seed, |(map, seed)| {
        let Explained { result, steps, .. } = map.explain().unwrap_or_else(|error| panic!("{map}: {error}"));
        assert_eq!(result, map.simplify(), "{map}");
        let end = replay(map, &steps).unwrap_or_else(|refused| panic!("{map}: {refused} of {steps:?}"));
        assert!(same(map, end.as_ref()), "{map}");
        if !steps.is_empty() {
            wrong_steps_are_refused(&mut Rng::with_seed(*seed), map, &steps, &mut refused.borrow_mut());
        }
    });
    let refused = refused.into_inner();
    // Points are enumerated only if no other rule proves a step, which is too rare for this count: see checker.rs.
    let rare = |rule: &Rule| *rule == Rule::Enumerated;
    let missed: Vec<&Rule> = Rule::ALL.iter().filter(|rule| !refused.contains_key(rule) && !rare(rule)).collect();
    assert!(missed.is_empty() || count < 100_000, "no wrong step of these rules was refused: {missed:?}");
}

/// Makes a step wrong, of the rule with the fewest `refused` ones, and checks the result.
fn wrong_steps_are_refused(rng: &mut Rng, map: &IndexingMap, steps: &[Step], refused: &mut BTreeMap<Rule, u32>) {
    let start = rng.usize(0..steps.len());
    let order = (0..steps.len()).map(|k| (start + k) % steps.len());
    let k = order.min_by_key(|k| refused.get(&steps[*k].rule).map_or(0, |n| n / 100)).unwrap_or(0);
    let mut wrong = steps.to_vec();
    corrupt(rng, &mut wrong[k]);
    match replay(map, &wrong) {
        // A different step may be right, but an accepted one must not change the map.
        Ok(end) => assert!(same(map, end.as_ref()), "{map}: accepted {:?}", wrong[k]),
        Err(_) => *refused.entry(steps[k].rule).or_default() += 1,
    }
    // An equation with 1 added to one side is wrong wherever there is a point.
    let mut wrong = steps.to_vec();
    if let Claim::Equal(_, b) | Claim::Result(_, _, b) = &mut wrong[k].claim {
        *b = Expr::Add(b.clone().into(), Expr::Const(1).into());
        assert!(replay(map, &wrong).is_err() || map.points().next().is_none(), "{map}: accepted {:?}", wrong[k]);
    }
    // A step removed, or moved.
    let mut fewer = steps.to_vec();
    fewer.remove(k);
    let mut turned = steps.to_vec();
    turned.swap(k, 0);
    for steps in [fewer, turned] {
        assert!(replay(map, &steps).map_or(true, |end| same(map, end.as_ref())), "{map}: accepted {steps:?}");
    }
}
