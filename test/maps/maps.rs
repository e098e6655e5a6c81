//! Indexing maps: parser and printer, simplification of documented cases, composition, inversion.

use layout_reference::lines;
use serde_json::Value;
use tensor_layout::maps::Interval;
use tensor_layout::maps::{Indexing, IndexingMap, Kind, VariableOrigin};

fn parse(text: &str) -> IndexingMap {
    IndexingMap::parse(text).unwrap_or_else(|error| panic!("{text}: {error} at {:?}", error.at))
}

fn simple(text: &str) -> String {
    parse(text).simplify().to_string()
}

fn check(text: &str, expected: &str) {
    assert_eq!(simple(text), expected, "{text}");
}

/// Asserts that both maps have the same points of their boxes in the domain, with the same results.
fn same(a: &IndexingMap, b: &IndexingMap) {
    let points = |map: &IndexingMap| map.points().map(|p| (map.evaluate(&p).unwrap(), p)).collect::<Vec<_>>();
    assert_eq!(points(a), points(b), "{a}\n{b}");
}

#[test]
fn reference_cases_are_reached_or_beaten() {
    for line in include_str!("../golden/maps.jsonl").lines() {
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

/// Ends of intervals are exact, also at 64 bits, and factors may have no negative in 64 bits.
#[test]
fn numbers_at_the_ends_of_64_bits() {
    let (half, most, least) = (1i64 << 62, i64::MAX, i64::MIN);
    let narrowed = |from: &str, constraint: String, to: &str| {
        check(
            &format!("(d0)[s0] -> (d0 + s0), domain: d0 in {from}, s0 in [0, 7], {constraint}"),
            &format!("(d0)[s0] -> (d0 + s0), domain: d0 in {to}, s0 in [0, 7]"),
        );
    };
    check(
        &format!("(d0) -> (d0), domain: d0 in [0, 3], d0 * {half} in [{half}, {most}]"),
        "(d0) -> (1), domain: d0 in [1, 1]",
    );
    narrowed("[-3, 3]", format!("d0 * {half} in [{least}, {most}]"), "[-2, 1]");
    narrowed("[-3, 3]", format!("d0 * -{half} in [{least}, -1]"), "[1, 2]");
    narrowed("[0, 9]", format!("d0 + {} in [0, {most}]", most - 4), "[0, 4]");
    narrowed("[-9, 9]", format!("d0 - {} in [{least}, 0]", most - 4), "[-5, 9]");
    narrowed("[0, 9]", format!("d0 * {half} - {half} in [0, {most}]"), "[1, 2]");
    for empty in [format!("d0 * {half}"), format!("d0 * -{half}"), format!("max(d0, 3) * {half}")] {
        check(&format!("(d0) -> (d0), domain: d0 in [2, 9], {empty} in [0, {most}]"), "KNOWN EMPTY");
    }
    // Beyond 64 bits, so no value is in any interval of 64 bits.
    let map = parse(&format!("(d0) -> (d0), domain: d0 in [0, 3], d0 * {half} in [0, {most}]"));
    assert_eq!((map.contains(&[1]), map.contains(&[2])), (Some(true), Some(false)));
    // A variable over all 64-bit numbers has no others.
    check(
        &format!("(d0) -> (min(d0, {most}), max(d0, {least})), domain: d0 in [{least}, {most}]"),
        &format!("(d0) -> (d0, d0), domain: d0 in [{least}, {most}]"),
    );
    let text = format!("(d0) -> ((((d0 * 2) mod 3) * -{half} + d0) mod 2), domain: d0 in [1, 12]");
    check(&text, "(d0) -> (d0 mod 2), domain: d0 in [1, 12]");
    let text = format!(
        "(d0)[s0] -> (1), domain: d0 in [1, 8], s0 in [0, 2], s0 * {half} + d0 * -{half} in [{least}, {least}]"
    );
    let map = parse(&text);
    let Indexing::Map(simple) = map.simplify() else { panic!("{text}") };
    assert_eq!(simple.points().collect::<Vec<_>>(), [[2, 0], [3, 1], [4, 2]]);
    same(&map, &simple);
}

#[test]
fn remainders_join_in_any_order() {
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

/// The inverse maps each result back to its point, and is undefined elsewhere.
fn check_inverse(text: &str) -> IndexingMap {
    let map = parse(text);
    let inverse = map.invert().unwrap_or_else(|| panic!("{text}: no inverse"));
    let inverse = inverse.map().unwrap().clone();
    let mut image: Vec<(Vec<i64>, Vec<i64>)> = map.points().map(|p| (map.evaluate(&p).unwrap().unwrap(), p)).collect();
    image.sort();
    let back: Vec<_> = inverse.points().map(|p| (p.clone(), inverse.evaluate(&p).unwrap().unwrap())).collect();
    assert_eq!(back, image, "{text}\n{inverse}");
    inverse
}

#[test]
fn inverses() {
    for (text, expected) in [
        (
            "(d0) -> (d0 floordiv 8, d0 mod 8), domain: d0 in [0, 31]",
            Some("(d0, d1) -> (d0 * 8 + d1), domain: d0 in [0, 3], d1 in [0, 7]"),
        ),
        (
            "(d0, d1) -> (d0 * 8 + d1), domain: d0 in [0, 3], d1 in [0, 7]",
            Some("(d0) -> (d0 floordiv 8, d0 mod 8), domain: d0 in [0, 31]"),
        ),
        (
            "(d0, d1, d2) -> (d2, d0, d1), domain: d0 in [0, 3], d1 in [0, 4], d2 in [0, 5]",
            Some("(d0, d1, d2) -> (d1, d2, d0), domain: d0 in [0, 5], d1 in [0, 3], d2 in [0, 4]"),
        ),
        ("(d0) -> (16 - d0), domain: d0 in [0, 16]", Some("(d0) -> (16 - d0), domain: d0 in [0, 16]")),
        ("(d0) -> (d0 * 7 + 3), domain: d0 in [0, 2]", None),
        // The offsets of a tiled layout, with padding outside.
        ("(d0, d1) -> (d0 * 6 + d1 * 2 - (d0 mod 2) * 4 - (d1 mod 2)), domain: d0 in [0, 2], d1 in [0, 4]", None),
        (
            "(d0, d1) -> ((d0 floordiv 2) * 12 + (d1 floordiv 2) * 4 + (d0 mod 2) * 2 + d1 mod 2), domain: d0 in [0, 2], d1 in [0, 4]",
            None,
        ),
        ("(d0, d1) -> (d0 floordiv 2, d1 floordiv 2, d0 mod 2, d1 mod 2), domain: d0 in [0, 2], d1 in [0, 4]", None),
        ("(d0, d1) -> (d0 - 7, d1 * -3, d0 mod 4), domain: d0 in [-4, 9], d1 in [-3, 3], d0 + d1 in [0, 3]", None),
        ("(d0, d1) -> (d0 * 5 + d1 * 3), domain: d0 in [2, 3], d1 in [0, 1]", None),
    ] {
        let inverse = check_inverse(text);
        if let Some(expected) = expected {
            assert_eq!(inverse.to_string(), expected);
        }
    }
    for text in [
        "(d0, d1) -> (d0 + d1), domain: d0 in [0, 3], d1 in [0, 3]",
        "(d0) -> (d0 mod 3), domain: d0 in [0, 3]",
        "(d0, d1) -> (d0), domain: d0 in [0, 3], d1 in [0, 3]",
        "(d0)[s0] -> (d0, s0), domain: d0 in [0, 3], s0 in [0, 3]",
    ] {
        assert_eq!(parse(text).invert(), None, "{text}");
    }
    assert_eq!(parse("(d0) -> (d0), domain: d0 in [1, 0]").invert(), Some(Indexing::KnownEmpty));
}

#[test]
fn variables_that_are_not_needed() {
    let map = parse(
        "(d0, d1)[s0, x]{rt0} -> (d1 + x), domain: d0 in [0, 1], d1 in [0, 2], s0 in [0, 3], x in [0, 4], rt0 in [0, 5]",
    );
    let (ranges, left) = map.without_unused(&[Kind::Range, Kind::RunTime]);
    assert_eq!(ranges.to_string(), "(d0, d1)[x] -> (d1 + x), domain: d0 in [0, 1], d1 in [0, 2], x in [0, 4]");
    assert_eq!(left, [0, 1, 3]);
    let (all, _) = map.without_unused(&[Kind::Dimension, Kind::Range, Kind::RunTime]);
    assert_eq!(all.to_string(), "(d0)[x] -> (d0 + x), domain: d0 in [0, 2], x in [0, 4]");

    let map = parse(
        "(d0)[s0] -> (d0 floordiv 4, s0), domain: d0 in [0, 40], s0 in [-9, 20], d0 mod 4 in [1, 1], s0 mod 2 in [1, 1], s0 mod 3 in [2, 2]",
    );
    let (rescaled, steps) = map.rescaled();
    assert_eq!(rescaled.to_string(), "(d0)[s0] -> (d0, s0 * 6 + 5), domain: d0 in [0, 9], s0 in [-2, 2]");
    assert_eq!(steps, [(4, 1), (6, 5)]);
}

#[test]
fn composition() {
    let first = parse(
        "(d0)[s0, th_x]{rt0} -> (d0 + rt0, s0 + th_x), domain: d0 in [0, 3], s0 in [0, 4], th_x in [0, 5], rt0 in [0, 6]",
    );
    let second = parse(
        "(d0, d1)[s0, th_x]{rt0} -> (d0 * 2 + s0, d1 + rt0 + th_x), domain: d0 in [0, 5], d1 in [0, 9], s0 in [0, 1], th_x in [0, 2], rt0 in [0, 7], d0 + d1 in [0, 8]",
    );
    let (both, sources) = first.then(&second).unwrap();
    use VariableOrigin::{First, Second};
    assert_eq!(sources, [First(0), Second(2), Second(3), First(1), First(2), Second(4), First(3)]);
    assert_eq!((both.dims, both.ranges), (1, 4));
    let names: Vec<_> = (0..7).map(|v| both.name(v)).collect();
    assert_eq!(names, ["d0", "s0", "th_x", "s2", "th_x_1", "rt0", "rt1"]);
    // The same composition through the normal form, and point by point.
    let composed = Indexing::compose(&[Indexing::Map(first.clone()), Indexing::Map(second.clone())]).unwrap();
    assert_eq!(composed, both.simplify());
    for (k, point) in both.points().enumerate().filter(|(k, _)| k % 101 == 0) {
        let at = |source: fn(usize) -> VariableOrigin, count| -> Vec<i64> {
            (0..count).map(|v| sources.iter().position(|s| *s == source(v)).map_or(0, |place| point[place])).collect()
        };
        let of_first = first.evaluate(&at(First, 4)).unwrap().unwrap();
        let mut of_second = at(Second, 5);
        of_second[..2].copy_from_slice(&of_first);
        let expected = second.evaluate(&of_second).unwrap();
        assert_eq!(composed.map().unwrap().evaluate(&point), Ok(expected), "point {k}");
    }
    let [empty, unknown] = [Indexing::KnownEmpty, Indexing::Undefined];
    let map = Indexing::Map(parse("(d0, d1) -> (d0, d1), domain: d0 in [0, 1], d1 in [0, 1]"));
    for (a, b, expected) in [(&map, &empty, &empty), (&empty, &unknown, &empty), (&unknown, &map, &unknown)] {
        assert_eq!(Indexing::compose(&[a.clone(), b.clone()]).as_ref(), Ok(expected));
    }
    // 10 [10,10,10] -> [50,20] -> [10,10,10]
    let there = Indexing::parse("(d0, d1, d2) -> ((d0*100 + d1*10 + d2) floordiv 20, (d0*100 + d1*10 + d2) mod 20), domain: d0 in [0, 9], d1 in [0, 9], d2 in [0, 9]").unwrap();
    let back = Indexing::parse("(d0, d1) -> ((d0*20 + d1) floordiv 100, ((d0*20 + d1) mod 100) floordiv 10, (d0*20 + d1) mod 10), domain: d0 in [0, 49], d1 in [0, 19]").unwrap();
    let identity = Indexing::compose(&[there, back]).unwrap();
    assert_eq!(identity.to_string(), "(d0, d1, d2) -> (d0, d1, d2), domain: d0 in [0, 9], d1 in [0, 9], d2 in [0, 9]");
    assert_eq!(parse("() -> (7)").image(), [Interval::new(7, 7)]);
    assert_eq!(parse("(d0) -> (d0 * -2 + 1), domain: d0 in [-3, 4]").image(), [Interval::new(-7, 7)]);
}

#[test]
fn reading() {
    lines::check("maps/printed.txt", "> ", |text, printed| {
        assert_eq!(Indexing::parse(printed).unwrap().to_string(), printed);
        let found = Indexing::parse(text).unwrap_or_else(|error| panic!("{text}: {error} at {:?}", error.at));
        found.to_string()
    });
}

#[test]
fn errors_have_places() {
    lines::check("maps/errors.txt", "! ", |text, _| lines::error(&Indexing::parse(text).expect_err(text)));
    let deep = format!("(d0) -> ({}d0{}), domain: d0 in [0, 1]", "(".repeat(5000), ")".repeat(5000));
    assert_eq!(Indexing::parse(&deep).unwrap_err().at, Some(9 + 64));
}

/// Hostile texts end soon, with a value or an error.
#[test]
fn large_and_hostile_texts() {
    let list = |n: usize, f: &dyn Fn(usize) -> String, by: &str| (0..n).map(f).collect::<Vec<_>>().join(by);
    const N: usize = 100_000;
    let one = "domain: d0 in [0, 999]";
    let names = list(20_000, &|k| format!("d{k}"), ", ");
    let boxes = list(20_000, &|k| format!("d{k} in [0, {k}]"), ", ");
    for text in [
        format!("(d0) -> ({}), {one}", list(N, &|k| format!("d0 * {k}"), " + ")),
        format!("(d0) -> ({}), {one}", list(N, &|k| format!("(d0 mod {})", k + 2), " - ")),
        format!("(d0) -> ({}), {one}", list(20_000, &|k| format!("min(d0, {k})"), " + ")),
        format!("(d0) -> ({}), {one}", list(N, &|k| format!("d0 floordiv {}", k + 1), ", ")),
        format!("(d0) -> (d0 {}), {one}", " mod 7".repeat(N)),
        format!("(d0) -> ({}d0), {one}", "-".repeat(N)),
        format!("(d0) -> ({}d0), {one}", "min(1, ".repeat(N)),
        format!("({names}) -> ({}), domain: {boxes}", names.replace(", ", " + ")),
        format!("({names}) -> (d1), domain: {boxes}, {} in [0, 100]", names.replace(", ", " + ")),
        format!("({names}) -> (d1), domain: {boxes}, {}", list(20_000, &|k| format!("d{k} mod 3 in [1, 1]"), ", ")),
        format!("(d0) -> (d0), {one}, {}", list(20_000, &|k| format!("d0 + {k} in [0, 100000]"), ", ")),
        format!("(d0) -> (d0), {one}, {}", list(20_000, &|k| format!("d0 mod {} in [0, 7]", k + 9), ", ")),
        format!("(d0, d1) -> (d0), domain: d0 in [0, 999], d1 in [0, 999], {}", list(5_000, &|k| format!("d0 * {k} + d1 in [0, 100000]"), ", ")),
        "(d0) -> (d0 * 9223372036854775807 * 9223372036854775807 * 9223372036854775807 floordiv 3 mod 9223372036854775807), domain: d0 in [-9223372036854775808, 9223372036854775807]".to_string(),
        "(d0, d1) -> ((d0 * 9223372036854775807 + d1 * 9223372036854775805) mod 9223372036854775783 floordiv 4611686018427387847), domain: d0 in [-9223372036854775808, 9223372036854775807], d1 in [-4, 9223372036854775807], (d0 * 9223372036854775807 + d1 * 9223372036854775805) mod 9223372036854775783 in [5, 5], d0 mod 9223372036854775783 in [1, 1]".to_string(),
    ] {
        let head: String = text.chars().take(60).collect();
        let Ok(map) = Indexing::parse(&text) else { continue };
        let simple = map.simplify();
        if let (Some(map), Some(simple)) = (map.map(), simple.map()) {
            assert!(simple.cost() <= map.cost(), "{head}");
        }
    }
}

/// Nested text is parsed and processed, or refused with an error, on a small stack: a language server's or a plug-in's
/// threads may have no more.
#[test]
fn nested_maps_fit_on_a_stack_of_128_kib() {
    type Wrap<'a> = &'a dyn Fn(String, usize) -> String;
    let nest = |depth: usize, wrap: Wrap| (0..depth).fold("d0".to_string(), wrap);
    let domain = "domain: d0 in [0, 100000], d1 in [0, 9]";
    let work = move |text: String| {
        let Ok(map) = IndexingMap::parse(&text) else { return false };
        let again = IndexingMap::parse("(d0) -> ((d0 + 1) floordiv 3), domain: d0 in [0, 100000]").unwrap();
        assert_eq!(IndexingMap::parse(&map.to_string()).as_ref(), Ok(&map));
        let (simple, _) = (map.simplify(), map.explain().is_ok());
        let values = map.evaluate(&[3, 4]).unwrap();
        assert_eq!(simple.map().unwrap().evaluate(&[3, 4]).unwrap(), values);
        let _ = Indexing::Map(map.clone()).compare(&simple);
        // Compositions nest deeper, up to their own bound.
        let (mut both, mut bounded) = (map, false);
        for _ in 0..100 {
            match both.then(&again) {
                Ok((next, _)) => both = IndexingMap { dims: 2, ..next },
                Err(error) => {
                    bounded = true;
                    assert!(error.message.contains("must nest at most 160 deep"), "{error}");
                    break;
                }
            }
        }
        assert!(bounded);
        let _ = (both.simplify(), both.to_string(), both.clone() == both);
        true
    };
    let forms: [(&str, Wrap); 5] = [
        ("parentheses", &|e, _| format!("({e})")),
        ("minima", &|e, k| format!("min(d1 + {k}, {e})")),
        ("divisions", &|e, _| format!("({e} + d1) floordiv 3")),
        ("remainders", &|e, k| format!("({e}) mod {} + d1", 1000 - k)),
        ("signs", &|e, _| format!("-({e} - d1)")),
    ];
    for (name, wrap) in forms {
        let mut read = 0;
        for depth in [1, 10, 30, 50, 63, 64, 65, 200, 1000] {
            let text = format!("(d0, d1) -> ({}), {domain}", nest(depth, wrap));
            let thread = std::thread::Builder::new().stack_size(128 << 10);
            let done = thread.spawn(move || work(text)).unwrap().join().unwrap();
            read = if done { depth } else { read };
        }
        assert!((50..=64).contains(&read), "{name}: {read} levels are read");
    }
}

#[test]
fn a_point_with_another_number_of_entries_is_in_no_domain() {
    let map = IndexingMap::parse("(d0, d1) -> (d0), domain: d0 in [0, 9], d1 in [0, 9], d0 + d1 in [0, 9]").unwrap();
    assert_eq!(map.contains(&[1, 2]), Some(true));
    for point in [&[][..], &[1], &[1, 2, 3]] {
        assert_eq!(map.contains(point), Some(false), "{point:?}");
        assert!(map.evaluate(point).is_err(), "{point:?}");
    }
}
