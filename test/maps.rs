//! Indexing maps: reading and printing, simplification on documented cases, composition, inversion.

use layout::map::{Indexing, IndexingMap};
use layout::simplify::Interval;
use serde_json::Value;

fn parse(text: &str) -> IndexingMap {
    IndexingMap::parse(text).unwrap_or_else(|error| panic!("{text}: {error} at {:?}", error.at))
}

fn simple(text: &str) -> String {
    parse(text).simplify().to_string()
}

fn check(text: &str, expected: &str) {
    assert_eq!(simple(text), expected, "{text}");
}

/// Each point of both boxes lies in both domains or in none, and has the same results.
fn same(a: &IndexingMap, b: &IndexingMap) {
    let points = |map: &IndexingMap| map.points().map(|p| (map.evaluate(&p).unwrap(), p)).collect::<Vec<_>>();
    assert_eq!(points(a), points(b), "{a}\n{b}");
}

#[test]
fn reference_cases_are_reached_or_beaten() {
    for line in include_str!("golden/maps.jsonl").lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        let text = |key: &str| case[key].as_str().unwrap();
        let reference = parse(text("reference"));
        let found = match case["check"].as_str() {
            Some("simplify") => parse(text("map")).simplify(),
            Some("compose") => {
                let maps = [parse(text("first")), parse(text("second"))];
                Indexing::compose(&maps.map(Indexing::Map)).unwrap()
            }
            other => panic!("{other:?}"),
        };
        let found = found.map().expect("no case is empty");
        let names = |map: &IndexingMap| (0..map.variables()).map(|v| map.name(v)).collect::<Vec<_>>();
        assert_eq!(names(found), names(&reference));
        let inside = |(a, b): (&Interval, &Interval)| b.lo <= a.lo && a.hi <= b.hi;
        assert!(found.domain.vars.iter().zip(&reference.domain.vars).all(inside), "{found}\n{reference}");
        assert!(found.cost() <= reference.cost(), "{found}\n{reference}");
        let printed = reference.simplify().to_string();
        assert_eq!(found.to_string(), printed, "the reference simplified is another map");
    }
}

#[test]
fn documented_examples() {
    check(
        "(d0, d1) -> (d0 + d1 floordiv 16, d1 mod 16), domain: d0 in [0, 6], d1 in [0, 14]",
        "(d0, d1) -> (d0, d1), domain: d0 in [0, 6], d1 in [0, 14]",
    );
    check(
        "(d0, d1, d2) -> ((100*d0 + 10*d1 + d2) floordiv 100, ((100*d0 + 10*d1 + d2) mod 100) floordiv 10, d2 mod 10), \
         domain: d0 in [0, 9], d1 in [0, 9], d2 in [0, 9]",
        "(d0, d1, d2) -> (d0, d1, d2), domain: d0 in [0, 9], d1 in [0, 9], d2 in [0, 9]",
    );
    check(
        "(d0, d1, d2) -> ((16*d0 + 4*d1 + d2) floordiv 8, (16*d0 + 4*d1 + d2) mod 8), \
         domain: d0 in [0, 9], d1 in [0, 9], d2 in [0, 9]",
        "(d0, d1, d2) -> (d0 * 2 + (d1 * 4 + d2) floordiv 8, (d1 * 4 + d2) mod 8), \
         domain: d0 in [0, 9], d1 in [0, 9], d2 in [0, 9]",
    );
    check(
        "(d0, d1) -> (-(-11*d0 - d1 + 109) floordiv 11 + 9), domain: d0 in [0, 9], d1 in [0, 10]",
        "(d0, d1) -> (d0), domain: d0 in [0, 9], d1 in [0, 10]",
    );
}

#[test]
fn more_than_the_reference_does() {
    // Bounds go through sums.
    check(
        "(d0)[s0, s1] -> (d0*6 + s0*3 + s1), domain: d0 in [0, 1999], s0 in [0, 1], s1 in [0, 2], \
         d0*6 + s0*3 + s1 in [0, 598]",
        "(d0)[s0, s1] -> (d0 * 6 + s0 * 3 + s1), domain: d0 in [0, 99], s0 in [0, 1], s1 in [0, 2], \
         d0 * 6 + s0 * 3 + s1 in [0, 598]",
    );
    // Chinese remainder, whatever the order.
    for constraints in ["s0 mod 6 in [3, 3], s0 mod 7 in [5, 5]", "s0 mod 7 in [5, 5], s0 mod 6 in [3, 3]"] {
        check(
            &format!("()[s0] -> (s0), domain: s0 in [0, 99], {constraints}"),
            "()[s0] -> (s0), domain: s0 in [33, 75], s0 mod 42 in [33, 33]",
        );
    }
    check("()[s0] -> (s0), domain: s0 in [0, 99], s0 mod 6 in [3, 3], s0 mod 4 in [2, 2]", "KNOWN EMPTY");
    check(
        "()[s0] -> (s0 mod 7), domain: s0 in [0, 99], s0 mod 14 in [9, 9]",
        "()[s0] -> (2), domain: s0 in [9, 93], s0 mod 14 in [9, 9]",
    );
    check(
        "(d0) -> (d0), domain: d0 in [0, 99], d0 * 9 mod 6 in [3, 3]",
        "(d0) -> (d0), domain: d0 in [1, 99], d0 mod 2 in [1, 1]",
    );
    // Correlated terms.
    check(
        "(d0) -> (d0 floordiv 8 + d0 mod 8 - d0 floordiv 8), domain: d0 in [0, 99]",
        "(d0) -> (d0 mod 8), domain: d0 in [0, 99]",
    );
    check(
        "(d0) -> (d0 floordiv 4 floordiv 2), domain: d0 in [-99, 99]",
        "(d0) -> (d0 floordiv 8), domain: d0 in [-99, 99]",
    );
    check(
        "(d0, d1) -> ((d0 * 4 + d1) floordiv 4 - d0), domain: d0 in [0, 9], d1 in [0, 9]",
        "(d0, d1) -> (d1 floordiv 4), domain: d0 in [0, 9], d1 in [0, 9]",
    );
    check(
        "(d0) -> (d0 * 2 - (d0 floordiv 32) * 64), domain: d0 in [0, 99]",
        "(d0) -> ((d0 mod 32) * 2), domain: d0 in [0, 99]",
    );
    // Negative divisors and negative ends.
    check("(d0) -> (d0 floordiv -3), domain: d0 in [0, 2]", "(d0) -> ((-d0) floordiv 3), domain: d0 in [0, 2]");
    check("(d0) -> (d0 mod -4), domain: d0 in [1, 3]", "(d0) -> (d0 - 4), domain: d0 in [1, 3]");
    check("(d0) -> (d0 mod 4 + d0 floordiv 4 * 4), domain: d0 in [-7, 9]", "(d0) -> (d0), domain: d0 in [-7, 9]");
    // A fact serves every scaled and shifted use.
    check(
        "(d0, d1) -> ((2*d0 + 2*d1) floordiv 16, (3*d0 + 3*d1 + 1) mod 32), domain: d0 in [0, 7], d1 in [0, 7], d0 + d1 in [0, 7]",
        "(d0, d1) -> (0, d0 * 3 + d1 * 3 + 1), domain: d0 in [0, 7], d1 in [0, 7], d0 + d1 in [0, 7]",
    );
    // A range of remainders.
    check("(d0) -> (d0), domain: d0 in [0, 12], d0 mod 8 in [5, 7]", "(d0) -> (d0), domain: d0 in [5, 7]");
    check("(d0) -> (d0), domain: d0 in [0, 20], (d0 + 3) mod 8 in [0, 8]", "(d0) -> (d0), domain: d0 in [0, 20]");
    // Equalities fix variables.
    check(
        "(d0, d1) -> (d0 * 10 + d1), domain: d0 in [0, 99], d1 in [0, 7], d0 * 8 + d1 in [83, 83]",
        "(d0, d1) -> (103), domain: d0 in [10, 10], d1 in [3, 3]",
    );
    check(
        "(d0)[s0] -> (d0 * 8 + s0), domain: d0 in [0, 7], s0 in [0, 9], d0 - s0 in [0, 0]",
        "(d0)[s0] -> (d0 * 9), domain: d0 in [0, 7], s0 in [0, 7], d0 - s0 in [0, 0]",
    );
    // Empty, by a chain of reasons.
    check("(d0) -> (d0), domain: d0 in [3, 2]", "KNOWN EMPTY");
    check(
        "(d0, d1) -> (d0), domain: d0 in [0, 9], d1 in [0, 9], d0 + d1 in [12, 99], d0 - d1 in [10, 20]",
        "KNOWN EMPTY",
    );
    check("() -> (1), domain: 3 in [4, 5]", "KNOWN EMPTY");
    // Arithmetic that does not fit stays as it is.
    check(
        "(d0) -> (d0 * 9223372036854775807 * 3 floordiv 5, d0 mod 1), domain: d0 in [0, 99]",
        "(d0) -> (((d0 * 9223372036854775807) * 3) floordiv 5, 0), domain: d0 in [0, 99]",
    );
}

#[test]
fn minima() {
    let domain = "domain: d0 in [0, 9], d1 in [0, 9]";
    for (e, expected) in [
        ("min(d0, d1)", "min(d0, d1)"),
        ("max(d0, d1)", "max(d0, d1)"),
        ("min(d0 + 3, d1 + 3) - 3", "min(d0, d1)"),
        ("min(d0, d1) + max(d0, d1)", "d0 + d1"),
        ("max(d0 * 2, d1 * 2)", "max(d0, d1) * 2"),
        ("min(d0, 20)", "d0"),
        ("max(d0 - 3, 0)", "max(d0, 3) - 3"),
        ("min(min(d0, 5), 8)", "min(d0, 5)"),
        ("min(d0, d1) + d1 * 5", "min(d0, d1) + d1 * 5"),
    ] {
        let map = parse(&format!("(d0, d1) -> ({e}), {domain}"));
        let found = map.simplify();
        let found = found.map().unwrap();
        same(&map, found);
        let wanted = parse(&format!("(d0, d1) -> ({expected}), {domain}"));
        assert!(found.cost() <= wanted.cost(), "{e}: {found}");
    }
}
