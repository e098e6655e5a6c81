//! Equality of maps is an equivalence relation, and agrees with the definition on random maps.

use fastrand::Rng;
use tensor_layout::maps::{Equality, Indexing, IndexingMap};

/// A random map from a few functions, kinds of variables and domains, so that many are equal.
fn random(rng: &mut Rng) -> Indexing {
    if rng.u8(0..12) == 0 {
        return if rng.bool() { Indexing::KnownEmpty } else { Indexing::Undefined };
    }
    let (variables, second) =
        [("(d0, d1)", "d1"), ("(d0)[s0]", "s0"), ("(d0){rt0}", "rt0"), ("(d0)", "0")][rng.usize(0..4)];
    let results = ["d0", "d0 mod 4", "d0 floordiv 4 * 4 + d0 mod 4", "min(d0, 3)", "X + d0 - X", "d0 + X floordiv 100"];
    let last = [3, 7, 9][rng.usize(0..3)];
    let own = if second == "0" { String::new() } else { format!(", {second} in [0, {}]", rng.i64(1..3)) };
    let constraints =
        ["", ", d0 in [0, 3]", ", d0 * 2 in [0, 7]", ", d0 in [5, 4]", ", d0 mod 2 in [3, 3]", ", X + d0 in [40, 50]"];
    let text = format!(
        "{variables} -> ({}), domain: d0 in [0, {last}]{own}{}",
        results[rng.usize(0..results.len())],
        constraints[rng.usize(0..constraints.len())]
    );
    Indexing::parse(&text.replace('X', second)).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// Whether two maps are equal by the definition.
fn same(a: &Indexing, b: &Indexing) -> bool {
    let shape = |map: &IndexingMap| (map.dims, map.ranges, map.variables(), map.results.len());
    let table = |value: &Indexing| {
        let map = value.map()?;
        let rows: Vec<_> = map.points().map(|p| (map.evaluate(&p).unwrap(), p)).collect();
        (!rows.is_empty()).then(|| (shape(map), rows))
    };
    match (a, b) {
        (Indexing::Undefined, _) | (_, Indexing::Undefined) => a == b,
        _ => table(a) == table(b),
    }
}

#[test]
fn small_maps_are_equal_where_the_definition_says_so() {
    let mut rng = Rng::with_seed(1);
    let mut equal = 0;
    for _ in 0..20_000 {
        let (a, b) = (random(&mut rng), random(&mut rng));
        let found = a.compare(&b);
        assert!(!matches!(found, Equality::Unknown { .. }), "{a}\n{b}: {found:?}");
        assert_eq!(found == Equality::Equal, same(&a, &b), "{a}\n{b}: {found:?}");
        equal += usize::from(found == Equality::Equal);
    }
    assert!((2000..18_000).contains(&equal), "{equal}");
}

/// A map whose domain is too large to search; some are empty, which is not always found.
fn large(rng: &mut Rng) -> Indexing {
    let two = rng.bool();
    let result =
        ["d0", "d0 floordiv 8 * 8 + d0 mod 8", "d0 + d1", "d1 + d0", "(d0 * 2 + d1 * 2) floordiv 2", "d0 mod 7"]
            [rng.usize(0..6)];
    let constraint = [
        "",
        ", d0 mod 8 in [0, 5]",
        ", (d0 mod 8) * 2 in [0, 11]",
        ", d0 * d1 in [0, 3]",
        // Without a point.
        ", (d0 mod 3) * 2 + (d0 mod 5) * 2 + d1 mod 2 in [13, 13]",
        ", min(d0 mod 7, d1 mod 5) in [6, 6]",
    ][rng.usize(0..6)];
    let variables = if two { "(d0, d1)" } else { "(d0)[d1]" };
    let text = format!("{variables} -> ({result}), domain: d0 in [0, 99999], d1 in [0, 99999]{constraint}");
    Indexing::parse(&text.replace("d0 * d1", "d0 * 3 - d1")).unwrap()
}

/// Equality is symmetric and transitive, and a map equals itself.
#[test]
fn equality_is_an_equivalence() {
    let mut rng = Rng::with_seed(2);
    for _ in 0..60 {
        let small = rng.bool();
        let mut next = || if small { random(&mut rng) } else { large(&mut rng) };
        let all = [next(), next(), next(), next()];
        let kind = |a: &Indexing, b: &Indexing| match a.compare(b) {
            Equality::Equal => Some(true),
            Equality::Different { .. } => Some(false),
            Equality::Unknown { .. } => None,
        };
        let mut table = [[None; 4]; 4];
        for (k, a) in all.iter().enumerate() {
            for (j, b) in all.iter().enumerate() {
                table[k][j] = kind(a, b);
            }
        }
        for (k, a) in all.iter().enumerate() {
            assert_eq!(table[k][k], Some(true), "{a}");
            for (j, b) in all.iter().enumerate() {
                assert_eq!(table[k][j], table[j][k], "{a}\n{b}");
                for (i, c) in all.iter().enumerate() {
                    if table[k][j] == Some(true) && table[j][i] == Some(true) {
                        assert_eq!(table[k][i], Some(true), "{a}\n{b}\n{c}");
                    }
                }
            }
        }
    }
}

/// Maps of different shapes may both be empty, so they are not different; a value beyond 64 bits decides nothing.
#[test]
fn what_is_not_known_is_said() {
    let unknown = |a: &str, b: &str| {
        let (a, b) = (Indexing::parse(a).unwrap(), Indexing::parse(b).unwrap());
        for (a, b) in [(&a, &b), (&b, &a)] {
            let found = a.compare(b);
            assert!(matches!(found, Equality::Unknown { .. }), "{a}\n{b}: {found:?}");
        }
    };
    let none = "domain: d0 in [0, 99999], x in [0, 99999], d0 mod 4 + d0 mod 6 in [1, 1]";
    unknown(&format!("(d0, x) -> (d0), {none}"), &format!("(d0)[x] -> (d0), {none}"));
    unknown(&format!("(d0, x) -> (d0), {none}"), "KNOWN EMPTY");
    let far = "* 9223372036854775807 * 9223372036854775807 * 9223372036854775807";
    let text = |e: &str| format!("(d0) -> (({e} {far}) floordiv 7), domain: d0 in [1, 9]");
    unknown(&text("d0"), &text("(d0 + 1)"));
}
