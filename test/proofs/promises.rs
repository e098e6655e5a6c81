//! What operations promise that do not say it in their results: small pairs of functions, as in `small.rs`.

use super::small::{function, not_same, said, same};
use super::{NONE, compared};

/// An operation on numbers whose flags promise what does not hold has no result, whatever the numbers would give.
#[test]
fn flags_hold_for_constants() {
    let before = |result: &str| format!("%y = arith.constant {result} : i8\nreturn %y : i8");
    let after = |a: &str, b: &str, op: &str| {
        let body =
            format!("%a = arith.constant {a} : i8\n%b = arith.constant {b} : i8\n%y = arith.{op} : i8\nreturn %y : i8");
        ("() -> i8", body)
    };
    for (a, b, op, result, is_right) in [
        ("6", "2", "divui %a, %b exact", "3", true),
        ("7", "2", "divui %a, %b exact", "3", false),
        ("-7", "2", "divsi %a, %b exact", "-3", false),
        ("12", "2", "shrui %a, %b exact", "3", true),
        ("13", "2", "shrui %a, %b exact", "3", false),
        ("100", "27", "addi %a, %b overflow<nsw, nuw>", "127", true),
        ("100", "28", "addi %a, %b overflow<nuw>", "-128", true),
        ("100", "28", "addi %a, %b overflow<nsw>", "-128", false),
        ("2", "3", "subi %a, %b overflow<nsw>", "-1", true),
        ("2", "3", "subi %a, %b overflow<nuw>", "-1", false),
        ("64", "2", "muli %a, %b overflow<nsw>", "-128", false),
        ("64", "1", "shli %a, %b overflow<nsw>", "-128", false),
        ("64", "1", "shli %a, %b overflow<nuw>", "-128", true),
        ("1", "8", "shli %a, %b", "0", false),
        ("-128", "-1", "divsi %a, %b", "0", false),
    ] {
        let (signature, body) = after(a, b, op);
        // Nothing is proved of what it computes here: it is run.
        let texts = [&before(result), &body].map(|body| function(signature, body, true));
        let found = compared(&texts[0], &texts[1], NONE);
        assert_eq!(found.is_empty(), is_right, "{found:?}\nof\n{body}");
    }
}

/// What a flag promises of a number that nothing changes, too.
#[test]
fn flags_hold_for_what_stays() {
    let before = ("(%x: f32) -> f32", "return %x : f32");
    let after =
        |flags: &str| format!("%c = arith.constant 1.0 : f32\n%y = arith.mulf %x, %c{flags} : f32\nreturn %y : f32");
    same(before, (before.0, &after("")));
    for flag in ["nnan", "ninf", "nsz"] {
        not_same(before, (before.0, &after(&format!(" fastmath<{flag}>"))), "");
    }
}

/// A divisor in an address that is promised to have no remainder, and has one.
#[test]
fn flags_hold_for_addresses() {
    let signature = "(%x: memref<4xf32>) -> f32";
    let before = (signature, "%y = memref.load %x[%c1] : memref<4xf32>\nreturn %y : f32");
    let after = |n: i64, flags: &str| {
        format!(
            "%n = arith.constant {n} : index
             %i = arith.divui %n, %c4 {flags} : index
             %y = memref.load %x[%i] : memref<4xf32>
             return %y : f32"
        )
    };
    let found = |body: &str| said(before, (signature, body));
    assert!(found(&after(4, "exact")).iter().all(Vec::is_empty));
    assert!(found(&after(7, "")).iter().all(Vec::is_empty));
    assert!(found(&after(7, "exact")).iter().all(|said| !said.is_empty()));
}

/// Rows of 5 elements in tiles of 2: what is behind the fifth is padding, by which nothing may be divided, though no result
/// depends on the quotient.
#[test]
fn nothing_is_divided_by_padding() {
    let tile = "#layout.tiled<{0:T(2)}>";
    let signature = format!("(%y: tensor<5xi32, {tile}>) -> tensor<5xi32, {tile}>");
    let before = format!(
        "%c = arith.constant dense<7> : tensor<5xi32, {tile}>
         %q = arith.divsi %c, %y : tensor<5xi32, {tile}>
         return %q : tensor<5xi32, {tile}>"
    );
    let after = |step: &str, most: i64| {
        format!(
            "%c = arith.constant 7 : i32
             %z = memref.alloc() : memref<3x2xi32>
             affine.for %i = 0 to 3 {{
               affine.for %j = 0 to min affine_map<(d0) -> (2, d0 * {step} + {most})>(%i) {{
                 %w = affine.load %y[%i, %j] : memref<3x2xi32>
                 %q = arith.divsi %c, %w : i32
                 affine.store %q, %z[%i, %j] : memref<3x2xi32>
               }}
             }}
             return %z : memref<3x2xi32>"
        )
    };
    let found = |body: &str| said((&signature, &before), ("(%y: memref<3x2xi32>) -> memref<3x2xi32>", body));
    let right = found(&after("-2", 5));
    assert!(right.iter().all(Vec::is_empty), "{right:?}");
    let wrong = found(&after("0", 2));
    assert!(wrong.iter().all(|said| !said.is_empty()), "{wrong:?}");
}

/// Two iterations that change one byte atomically: the halves of it each for itself in any order, and the same bits with one kind
/// of operation alone, which nobody looks at in between.
#[test]
fn atomic_operations_come_in_any_order() {
    let after = |text: &str| {
        format!(
            "%low = arith.constant 15 : i8
             %high = arith.constant -16 : i8
             %four = arith.constant 4 : i8
             %five = arith.constant 5 : i8
             %x = arith.constant 1 : i8
             %z = memref.alloc() : memref<1xi8>
             memref.store %x, %z[%c0] : memref<1xi8>
             scf.forall (%i) = (0) to (2) step (1) {{
               %n = arith.index_cast %i : index to i8
               %by = arith.muli %n, %four : i8
               %new = arith.shli %five, %by : i8
               %mask = arith.shli %low, %by : i8
               %all = arith.constant -1 : i8
               %others = arith.xori %mask, %all : i8
               {text}
             }}
             %r = memref.load %z[%c0] : memref<1xi8>
             return %r : i8"
        )
    };
    let result = |n: i64| format!("%r = arith.constant {n} : i8\nreturn %r : i8");
    let atomic = |kind: &str, of: &str| format!("memref.atomic_rmw {kind} {of}, %z[%c0] : (i8, memref<1xi8>) -> i8\n");
    let (cleared, set) = ("%a = ".to_owned() + &atomic("andi", "%others"), "%b = ".to_owned() + &atomic("ori", "%new"));
    let added = "%a = ".to_owned() + &atomic("addi", "%five");
    let loaded = "%v = memref.load %z[%c0] : memref<1xi8>\n";
    for (text, n, is_right) in [
        (format!("{cleared}{set}"), 0x55, true),
        (added.clone(), 11, true),
        // Both clear the whole byte: in this order, what is left is of the second.
        (format!("%a = {}{set}", atomic("andi", "%x")), 0x51, false),
        (format!("{added}%b = {}", atomic("muli", "%five")), 55, false),
        (format!("{set}{loaded}"), 0x55, false),
        (format!("memref.store %five, %z[%c0] : memref<1xi8>\n{added}"), 10, false),
    ] {
        let texts = [result(n), after(&text)].map(|body| function("() -> i8", &body, true));
        let found = compared(&texts[0], &texts[1], NONE);
        assert_eq!(found.is_empty(), is_right, "{found:?}\nof\n{text}");
    }
}
