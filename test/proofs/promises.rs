//! Promises of operations beside their results: small pairs of functions, as in `small.rs`.

use super::small::{function, not_same, said, same};
use super::{NONE, compared};
use layout_verify::Limits;

/// An operation on constants whose flags promise something false has no result.
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
        // This computation is not proved but run.
        let texts = [&before(result), &body].map(|body| function(signature, body, true));
        let found = compared(&texts[0], &texts[1], NONE);
        assert_eq!(found.is_empty(), is_right, "{found:?}\nof\n{body}");
    }
}

/// A cast of a constant is a constant where its flags promise nothing false.
#[test]
fn flags_hold_for_casts_of_constants() {
    let cast = |number: &str, cast: &str, from: &str, to: &str| {
        format!("%a = arith.constant {number} : {from}\n%y = arith.{cast} : {from} to {to}\nreturn %y : {to}")
    };
    for (number, op, from, to, result) in [
        ("-1", "trunci %a overflow<nuw>", "i64", "i32", "-1"),
        ("4294967295", "trunci %a overflow<nsw>", "i64", "i32", "-1"),
    ] {
        let signature = format!("() -> {to}");
        let before = format!("%y = arith.constant {result} : {to}\nreturn %y : {to}");
        let (plain, _) = op.rsplit_once(' ').expect("flags");
        same((&signature, &before), (&signature, &cast(number, plain, from, to)));
        not_same((&signature, &before), (&signature, &cast(number, op, from, to)), "");
    }
}

/// Signed and unsigned shifts have the same low bits; the high ones matter in a wider result.
#[test]
fn shifts_differ_in_the_bits_that_come_in() {
    let signature = |to: &str| format!("(%x: i32) -> {to}");
    let body = |shift: &str, to: &str| {
        format!(
            "%by = arith.constant 16 : i32
             %y = arith.{shift} %x, %by : i32
             %z = arith.trunci %y : i32 to {to}
             return %z : {to}"
        )
    };
    for (to, is_right) in [("i8", true), ("i16", true), ("i17", false)] {
        let texts = ["shrui", "shrsi"].map(|shift| function(&signature(to), &body(shift, to), true));
        assert_eq!(compared(&texts[0], &texts[1], NONE).is_empty(), is_right, "{to}");
    }
}

/// A flag's promise about an unchanged number.
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

/// A flag that moves to another operation is not proved. A new flag is wrong, for sums as well.
#[test]
fn flags_stay_where_they_were() {
    let signature = "(%x: f32, %y: f32, %z: f32) -> f32";
    let body = |product: &str, sum: &str| {
        let flags = |flags: &str| if flags.is_empty() { String::new() } else { format!(" fastmath<{flags}>") };
        let [product, sum] = [product, sum].map(flags);
        format!(
            "%p = arith.mulf %x, %y{product} : f32
             %s = arith.addf %p, %z{sum} : f32
             return %s : f32"
        )
    };
    for (before, after, what) in [
        (["nnan", ""], ["", "nnan"], "undefined where"),
        (["contract", "nsz"], ["", "nsz,contract"], "not proved, but tried"),
        (["nnan", ""], ["nnan", "contract"], "an operation has a flag that none had"),
        (["", ""], ["", "reassoc"], "an operation has a flag that none had"),
        (["", ""], ["contract", "contract"], "an operation has a flag that none had"),
    ] {
        let [before, after] = [before, after].map(|[product, sum]| body(product, sum));
        not_same((signature, &before), (signature, &after), what);
    }
    for flags in [["nnan", ""], ["", "nsz,contract"]] {
        let before = body(flags[0], flags[1]);
        same((signature, &before), (signature, &before));
        same((signature, &before), (signature, &body("", "")));
    }
    let difference = |flags: &str| format!("%d = arith.subf %x, %y{flags} : f32\nreturn %d : f32");
    let not_said = difference(" fastmath<reassoc>");
    not_same((signature, &difference("")), (signature, &not_said), "an operation has a flag that none had");
    let reassociated = body("", "reassoc");
    same((signature, &reassociated), (signature, &reassociated));
}

/// The flag of an approximated function needs its option.
#[test]
fn functions_are_approximated_where_that_is_allowed() {
    let text = |flags: &str| {
        let body = format!("%y = math.exp %x{flags} : f32\nreturn %y : f32");
        function("(%x: f32) -> f32", &body, true)
    };
    let found = |approximate: bool| compared(&text(""), &text(" fastmath<afn>"), Limits { approximate, ..NONE });
    assert_eq!(found(true), [""; 0]);
    assert!(found(false)[0].ends_with("an operation has a flag that none had"));
}

/// The caller's arena of 8 bytes after the arguments, if an option asks for one; its contents are undefined.
#[test]
fn arenas_are_of_the_caller() {
    let before = ("(%x: f32) -> f32", "%y = arith.addf %x, %x : f32\nreturn %y : f32");
    let stored = "%m = memref.view %a[%c4][] : memref<8xi8> to memref<f32>
                  memref.store %x, %m[] : memref<f32>";
    let loaded = "%z = memref.load %m[] : memref<f32>
                  %y = arith.addf %z, %z : f32";
    let after = |body: &str| ("(%x: f32, %a: memref<8xi8>) -> f32".to_owned(), format!("{body}\nreturn %y : f32"));
    let found = |(signature, body): (String, String), arenas: bool| {
        let texts = [before, (&signature, &body)].map(|(signature, body)| function(signature, body, true));
        compared(&texts[0], &texts[1], Limits { arenas, ..NONE })
    };
    let right = after(&format!("{stored}\n{loaded}"));
    assert_eq!(found(right.clone(), true), [""; 0]);
    assert_eq!(found(right.clone(), false), ["2 arguments and 1 results, and 1 and 1 before"]);
    let other = (right.0.replace("memref<8xi8>", "f32"), before.1.to_owned());
    assert_eq!(found(other, true), ["2 arguments and 1 results, and 1 and 1 before"]);
    let returned = |of: &str, body: &str| format!("func.func @f(%x: {of}{body}");
    let before_it = returned(
        "tensor<8xi8>",
        ") -> tensor<8xi8> { %y = arith.addi %x, %x : tensor<8xi8>\nreturn %y : tensor<8xi8> }",
    );
    let in_it = returned(
        "memref<8xi8>",
        ", %a: memref<8xi8>) -> memref<8xi8> {
           linalg.add ins(%x, %x : memref<8xi8>, memref<8xi8>) outs(%a : memref<8xi8>)
           return %a : memref<8xi8>
         }",
    );
    assert_eq!(compared(&before_it, &in_it, Limits { arenas: true, ..NONE }), ["a result in an arena"]);
    for wrong in [
        stored.replace("memref.store %x, %m[] : memref<f32>", loaded),
        format!("{stored}\n{loaded}").replace("[%c4]", "[%c5]"),
        format!("{stored}\n{loaded}\nmemref.dealloc %a : memref<8xi8>"),
    ] {
        let wrong = after(&wrong.replace("%m = ", "%c5 = arith.constant 5 : index\n%m = "));
        assert!(!found(wrong.clone(), true).is_empty(), "shown to be the same: {wrong:?}");
    }
}

/// Addresses whose flags promise an exact division or an unsigned difference, and break it.
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

    let below_zero = |flags: &str| {
        format!(
            "%n = arith.subi %c1, %c4 {flags} : index
             %i = arith.addi %n, %c4 : index
             %y = memref.load %x[%i] : memref<4xf32>
             return %y : f32"
        )
    };
    assert!(found(&below_zero("overflow<nsw>")).iter().all(Vec::is_empty));
    assert!(found(&below_zero("overflow<nuw>")).iter().all(|said| !said.is_empty()));

    let beyond = |flags: &str| {
        let texts = ["", flags].map(|flags| {
            let body = format!(
                "%n = arith.constant {} : index
                 %m = arith.muli %n, %c4 {flags} : index
                 %i = arith.addi %m, %c1 : index
                 %y = memref.load %x[%i] : memref<4xf32>
                 return %y : f32",
                1_i64 << 62
            );
            function(signature, &body, true)
        });
        compared(&texts[0], &texts[1], NONE)
    };
    assert!(beyond("").is_empty());
    assert!(!beyond("overflow<nsw>").is_empty());
}

/// A poison value is poison with a mask of zeros, too.
#[test]
fn masks_of_zeros_hide_nothing() {
    let signature = "(%x: i32) -> i32";
    let body = |step: &str| {
        format!(
            "%zero = arith.constant 0 : i32
             %large = arith.constant 2147483647 : i32
             %many = arith.constant 40 : i32
             {step}
             return %z : i32"
        )
    };
    let before = body("%z = arith.andi %x, %zero : i32");
    for (step, is_right) in [
        ("%y = arith.addi %x, %large : i32", true),
        ("%y = arith.addi %x, %large overflow<nsw> : i32", false),
        ("%y = arith.shli %x, %many : i32", false),
    ] {
        let after = body(&format!("{step}\n%z = arith.andi %y, %zero : i32"));
        let texts = [&before, &after].map(|body| function(signature, body, true));
        assert_eq!(compared(&texts[0], &texts[1], NONE).is_empty(), is_right, "{step}");
    }
}

/// Rows of 5 elements in tiles of 2: the sixth is padding, which must not be a divisor, even if no result uses the
/// quotient.
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

/// Two iterations update one byte atomically: disjoint halves of it in any order, the same bits only by one kind of
/// operation, without a read between.
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
        // Both clear the whole byte: in this order, the second one's bits remain.
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
