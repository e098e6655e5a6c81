//! Simplified maps with padded digits, reordered terms or empty domains.

use layout_reference::lines;
use tensor_layout::maps::IndexingMap;

fn parse(text: &str) -> IndexingMap {
    IndexingMap::parse(text).unwrap_or_else(|error| panic!("{text}: {error} at {:?}", error.at))
}

/// Checks that a map simplifies to the text, which simplifies to itself, and that the checker accepts each step.
fn check(text: &str, expected: &str) {
    let map = parse(text);
    let simple = map.simplify();
    assert_eq!(simple.to_string(), expected, "{text}");
    assert_eq!(simple.simplify(), simple, "{text}");
    let explained = map.explain().unwrap_or_else(|error| panic!("{text}: {error}"));
    assert_eq!(explained.result, simple, "{text}");
}

#[test]
fn a_digit_s_range_decides_its_quotients_and_remainders() {
    let one = "domain: d0 in [0, 1000]";
    check(&format!("(d0) -> (((d0 mod 64) floordiv 8) floordiv 16), {one}"), &format!("(d0) -> (0), {one}"));
    check(
        &format!("(d0) -> (((d0 mod 64) floordiv 8) mod 16), {one}"),
        &format!("(d0) -> ((d0 mod 64) floordiv 8), {one}"),
    );
    let two = "domain: d0 in [0, 1000], d1 in [0, 9]";
    check(
        &format!("(d0, d1) -> (((d0 mod 60) floordiv 10 + d1 * 8) floordiv 8), {two}"),
        &format!("(d0, d1) -> (d1), {two}"),
    );
    check(
        &format!("(d0, d1) -> (((d0 mod 60) floordiv 10 + d1 * 8) mod 8), {two}"),
        &format!("(d0, d1) -> ((d0 mod 60) floordiv 10), {two}"),
    );
    check(
        "(d0, d1) -> (((d0 floordiv 3) * 3 + d1) floordiv 6), domain: d0 in [0, 11], d1 in [0, 2]",
        "(d0, d1) -> (d0 floordiv 6), domain: d0 in [0, 11], d1 in [0, 2]",
    );
}

#[test]
fn maps_simplify_to_the_recorded_ones() {
    lines::check("maps/simplified.txt", "> ", |text, expected| {
        check(text, expected);
        expected.to_string()
    });
}

/// A grid of three digits, the middle one with `extent` values in `padded` places: a digit of an index, cut by a
/// divisor that does not divide it. The lowest digit is another variable, or the next lower digit of the same index.
fn check_grid(step: i64, (extent, padded): (i64, i64), below: Option<(i64, i64)>) -> usize {
    let middle =
        if step == 1 { format!("d0 mod {extent}") } else { format!("(d0 mod {}) floordiv {step}", step * extent) };
    let (low, width, last) = match below {
        Some((1, width)) => ("0".to_string(), width, 0),
        Some((count, width)) => ("d2".to_string(), width, count - 1),
        None => (format!("d0 mod {step}"), step + step % 2, 0),
    };
    let all = padded * width;
    let sum = format!("d1 * {all} + ({middle}) * {width} + ({low})");
    let domain = format!("domain: d0 in [0, 1000], d1 in [0, 9], d2 in [0, {last}]");
    let rows = [
        (format!("({sum}) floordiv {all}"), "d1"),
        (format!("(({sum}) mod {all}) floordiv {width}"), &*middle),
        (format!("(({sum}) floordiv {width}) mod {padded}"), &*middle),
        (format!("({sum}) mod {width}"), &*low),
    ];
    for (text, digit) in &rows {
        let simple = |e: &str| parse(&format!("(d0, d1, d2) -> ({e}), {domain}")).simplify().to_string();
        assert_eq!(simple(text), simple(digit), "{text}, {domain}");
    }
    rows.len()
}

#[test]
fn digits_of_padded_grids_are_recovered() {
    let mut digits = 0;
    for extent in 2..=10 {
        for padded in [extent, extent + 1, 8, 12, 16].into_iter().filter(|padded| *padded >= extent) {
            for step in [1, 2, 3, 8, 10] {
                for below in [Some((1, 1)), Some((3, 4)), Some((8, 8)), None] {
                    digits += check_grid(step, (extent, padded), below);
                }
            }
        }
    }
    assert!(digits > 3000, "{digits}");
}

#[test]
fn the_order_of_terms_and_the_factors_under_a_remainder_change_nothing() {
    for sum in ["-d0 + d1 * 2", "d1 * 2 - d0", "d1 * 2 + d0 * 3", "d0 * -5 + d1 * -2"] {
        check(
            &format!("(d0, d1) -> (d0), domain: d0 in [0, 1], d1 in [0, 2], ({sum}) mod 4 in [1, 1]"),
            "(d0, d1) -> (1), domain: d0 in [1, 1], d1 in [1, 1]",
        );
    }
    for factor in [16, 4, -2, 10, -8] {
        check(
            &format!("(d0) -> ((d0 * {factor}) mod 6), domain: d0 in [0, 1000]"),
            "(d0) -> ((d0 * 4) mod 6), domain: d0 in [0, 1000]",
        );
    }
}

#[test]
fn residues_of_equalities_meet_those_of_constraints() {
    let million = "d0 in [0, 1000000], d1 in [0, 1000000]";
    check(
        &format!("(d0, d1) -> (d0), domain: {million}, d0 + d1 * 16 in [1000007, 1000007], d0 mod 12 in [1, 1]"),
        "KNOWN EMPTY",
    );
    check(&format!("(d0, d1) -> (d0), domain: {million}, d0 * 6 + d1 * 15 in [100, 100]"), "KNOWN EMPTY");
    // 7 modulo 16 and 1 modulo 3.
    check(
        &format!("(d0, d1) -> (d0), domain: {million}, d0 + d1 * 16 in [1000007, 1000007], d0 mod 3 in [1, 1]"),
        "(d0, d1) -> (d0), domain: d0 in [7, 999991], d1 in [1, 62500], d0 + d1 * 16 in [1000007, 1000007], d0 mod 3 in [1, 1]",
    );
    // Bounds that would creep from one constraint to the other, one step each time.
    let wide = "d0 in [0, 1000000], d1 in [0, 1000000], d2 in [0, 1000000]";
    check(
        &format!("(d0, d1, d2) -> (d0), domain: {wide}, d0 - d1 in [1, 9], d1 - d2 in [1, 9], d2 - d0 in [1, 9]"),
        &format!("(d0, d1, d2) -> (d0), domain: {wide}, d0 - d1 in [1, 9], d0 - d2 in [-9, -1], d1 - d2 in [1, 9]"),
    );
}

#[test]
fn a_remainder_goes_into_a_quotient_with_its_factor() {
    let domain = "domain: d0 in [0, 179], d1 in [0, 13]";
    check(
        &format!("(d0, d1) -> ((d0 * 14 + d1) floordiv 6 - (d0 floordiv 9) * 21), {domain}"),
        &format!("(d0, d1) -> ((d1 + (d0 mod 9) * 14) floordiv 6), {domain}"),
    );
    // The remainder modulo 2 does not change the half.
    let domain = "domain: d0 in [0, 9], d1 in [0, 20]";
    check(
        &format!("(d0, d1) -> ((d1 + (d0 mod 8) * 21 - ((d0 + d1) mod 2)) floordiv 2), {domain}"),
        &format!("(d0, d1) -> ((d1 + (d0 mod 8) * 21) floordiv 2), {domain}"),
    );
}
