//! Pairs of small functions, right and wrong: each right one is proved or executed, and no wrong one.

use super::{NONE, context};
use layout_test::Checkout;
use layout_verify::{Finding, Limits, Source};
use melior::ir::Module;
use std::fs;
use std::path::PathBuf;

/// The message against `@f` of the second text.
fn shown(before: &str, after: &str, flags: [bool; 2]) -> Result<(), String> {
    found("f", before, after, flags).map_err(|finding| finding.message)
}

/// The finding against a function of the second text.
fn found(name: &str, before: &str, after: &str, [reassociate, contract]: [bool; 2]) -> Result<(), Finding> {
    let context = context();
    let read = |text: &str| Module::parse(&context, text).unwrap_or_else(|| panic!("no module:\n{text}"));
    let (before, after) = (read(before), read(after));
    let mut source = Source::new(before.as_operation(), Limits { reassociate, contract, ..NONE });
    source.note(after.as_operation(), 1);
    let errors = source.check().into_iter().map(|(_, error)| error);
    errors.chain(source.open()).find(|finding| finding.function == name).map_or(Ok(()), Err)
}

/// A correct second form, and text replacements that each make it wrong.
#[track_caller]
fn no_other(before: &str, after: &str, changes: &[(&str, &str)]) {
    if let Err(why) = shown(before, after, [false; 2]) {
        panic!("{why}: not shown:\n{before}\n{after}");
    }
    for (from, to) in changes {
        let changed = after.replacen(from, to, 1);
        assert_ne!(changed, after, "{from} is not in\n{after}");
        assert!(shown(before, &changed, [false; 2]).is_err(), "shown:\n{before}\n{changed}");
    }
}

#[test]
fn elements_are_where_their_layout_puts_them() {
    no_other(
        "#t = #layout.tiled<{1,0:T(2,2)}>
         func.func @f(%x: tensor<3x4xf32, #t>) -> tensor<3x4xf32> {
           %y = layout.convert %x : tensor<3x4xf32, #t> to tensor<3x4xf32>
           return %y : tensor<3x4xf32>
         }",
        "func.func @f(%x: memref<2x2x2x2xf32>) -> memref<3x4xf32> {
           %y = memref.alloc() : memref<3x4xf32>
           affine.for %i = 0 to 3 {
             affine.for %j = 0 to 4 {
               %e = affine.load %x[%i floordiv 2, %j floordiv 2, %i mod 2, %j mod 2] : memref<2x2x2x2xf32>
               affine.store %e, %y[%i, %j] : memref<3x4xf32>
             }
           }
           return %y : memref<3x4xf32>
         }",
        &[
            ("%i = 0 to 3", "%i = 0 to 2"),
            ("%i = 0 to 3", "%i = 0 to 4"),
            ("%j = 0 to 4", "%j = 1 to 4"),
            ("%i mod 2, %j mod 2", "%j mod 2, %i mod 2"),
            ("%i floordiv 2", "%j floordiv 2"),
            ("[%i, %j] : memref<3x4xf32>", "[2 - %i, %j] : memref<3x4xf32>"),
            ("return", "memref.dealloc %y : memref<3x4xf32>\nreturn"),
            ("memref.alloc()", "memref.alloca()"),
            ("affine.for %j = 0 to 4 {", "affine.for %j = 0 to 4 {\nmemref.dealloc %x : memref<2x2x2x2xf32>"),
            ("affine.store", "affine.store %e, %x[0, 0, 0, 0] : memref<2x2x2x2xf32>\naffine.store"),
        ],
    );
}

#[test]
fn vectors_are_their_lanes() {
    no_other(
        "func.func @f(%x: tensor<6xf32>, %y: tensor<6xf32>) -> tensor<6xf32> {
           %e = tensor.empty() : tensor<6xf32>
           %z = linalg.sub ins(%x, %y : tensor<6xf32>, tensor<6xf32>) outs(%e : tensor<6xf32>) -> tensor<6xf32>
           return %z : tensor<6xf32>
         }",
        "func.func @f(%x: memref<6xf32>, %y: memref<6xf32>) -> memref<6xf32> {
           %0 = arith.constant 0 : index
           %2 = arith.constant 2 : index
           %p = arith.constant 0.0 : f32
           %mask = arith.constant dense<[true, true, false, false]> : vector<4xi1>
           %none = arith.constant dense<0.0> : vector<4xf32>
           %z = memref.alloc() : memref<6xf32>
           %a = vector.load %x[%0] : memref<6xf32>, vector<4xf32>
           %b = vector.load %y[%0] : memref<6xf32>, vector<4xf32>
           %c = arith.subf %a, %b : vector<4xf32>
           vector.store %c, %z[%0] : memref<6xf32>, vector<4xf32>
           %4 = arith.addi %2, %2 : index
           %d = vector.transfer_read %x[%4], %p : memref<6xf32>, vector<4xf32>
           %e = vector.maskedload %y[%4], %mask, %none : memref<6xf32>, vector<4xi1>, vector<4xf32> into vector<4xf32>
           %g = arith.subf %d, %e : vector<4xf32>
           vector.maskedstore %z[%4], %mask, %g : memref<6xf32>, vector<4xi1>, vector<4xf32>
           return %z : memref<6xf32>
         }",
        &[
            ("arith.subf %a, %b", "arith.subf %b, %a"),
            ("arith.subf %a, %b : vector", "arith.subf %a, %b fastmath<nnan> : vector"),
            ("[true, true, false, false]", "[true, true, true, false]"),
            ("[true, true, false, false]", "[true, false, false, false]"),
            ("%d = vector.transfer_read %x[%4]", "%d = vector.transfer_read %x[%2]"),
            (
                "%d = vector.transfer_read %x[%4], %p : m",
                "%d = vector.transfer_read %x[%4], %p {in_bounds = [true]} : m",
            ),
            ("arith.addi %2, %2", "arith.addi %2, %0"),
            (
                "vector.store %c",
                "%w = vector.shuffle %c, %c [1, 0, 2, 3] : vector<4xf32>, vector<4xf32>\nvector.store %w",
            ),
        ],
    );
}

/// A sum keeps its order unless an option allows another.
#[test]
fn sums_keep_their_order() {
    let sum = |first: i64, step: i64, op: &str| {
        format!(
            "func.func @f(%x: memref<8xf32>, %s: f32) -> f32 {{
               %r = affine.for %i = 0 to 8 iter_args(%a = %s) -> f32 {{
                 %e = affine.load %x[{first} + %i * {step}] : memref<8xf32>
                 %n = arith.{op} %a, %e : f32
                 affine.yield %n : f32
               }}
               return %r : f32
             }}"
        )
    };
    let up = sum(0, 1, "addf");
    assert_eq!(shown(&up, &up, [false; 2]), Ok(()));
    assert!(shown(&up, &sum(7, -1, "addf"), [false; 2]).is_err());
    assert_eq!(shown(&up, &sum(7, -1, "addf"), [true, false]), Ok(()));
    assert!(shown(&up, &sum(7, -1, "mulf"), [true, false]).is_err());
    assert!(shown(&up, &sum(0, 0, "addf"), [true, false]).is_err());
    assert_eq!(shown(&sum(0, 1, "maximumf"), &sum(7, -1, "maximumf"), [false; 2]), Ok(()));
}

#[test]
fn one_rounding_is_another_number() {
    let text = |body: &str| format!("func.func @f(%x: f32, %y: f32, %z: f32) -> f32 {{\n{body}\nreturn %r : f32\n}}");
    let two = text("%p = arith.mulf %x, %y : f32\n%r = arith.addf %p, %z : f32");
    let one = text("%r = math.fma %x, %y, %z : f32");
    assert!(shown(&two, &one, [false; 2]).is_err());
    assert_eq!(shown(&two, &one, [false, true]), Ok(()));
    assert!(shown(&two, &text("%r = math.fma %x, %z, %y : f32"), [false, true]).is_err());
}

/// Parallel iterations share no memory that one of them writes.
#[test]
fn parallel_iterations_are_apart() {
    let before = "func.func @f(%x: memref<4xf32>, %y: memref<4xf32>) {
                    affine.for %i = 0 to 4 {
                      %e = affine.load %x[%i] : memref<4xf32>
                      affine.store %e, %y[%i] : memref<4xf32>
                    }
                    return
                  }";
    no_other(
        before,
        "func.func @f(%x: memref<4xf32>, %y: memref<4xf32>) {
           %t = memref.alloc() : memref<1xf32>
           scf.forall (%i) in (4) {
             %u = memref.alloc() : memref<1xf32>
             %e = memref.load %x[%i] : memref<4xf32>
             affine.store %e, %u[0] : memref<1xf32>
             %g = affine.load %u[0] : memref<1xf32>
             memref.store %g, %y[%i] : memref<4xf32>
             memref.dealloc %u : memref<1xf32>
           }
           memref.dealloc %t : memref<1xf32>
           return
         }",
        &[
            ("%u[0]", "%t[0]"),
            ("%g = affine.load %u[0]", "%g = affine.load %t[0]"),
            ("in (4)", "in (3)"),
            ("in (4)", "in (5)"),
            ("memref.dealloc %u : memref<1xf32>", "memref.dealloc %t : memref<1xf32>"),
        ],
    );
}

/// Unwritten memory holds no element; a result has its own memory, with its layout's size.
#[test]
fn results_are_whole() {
    let before = "#t = #layout.tiled<{0:T(4)}>
                  func.func @f(%x: tensor<6xi32>) -> (tensor<6xi32>, tensor<6xi32, #t>) {
                    %y = layout.convert %x : tensor<6xi32> to tensor<6xi32, #t>
                    return %x, %y : tensor<6xi32>, tensor<6xi32, #t>
                  }";
    no_other(
        before,
        "func.func @f(%x: memref<6xi32>) -> (memref<6xi32>, memref<2x4xi32>) {
           %y = memref.alloc() : memref<6xi32>
           %z = memref.alloc() : memref<2x4xi32>
           memref.copy %x, %y : memref<6xi32> to memref<6xi32>
           %flat = memref.collapse_shape %z [[0, 1]] : memref<2x4xi32> into memref<8xi32>
           %part = memref.subview %flat[0] [6] [1] : memref<8xi32> to memref<6xi32>
           memref.copy %x, %part : memref<6xi32> to memref<6xi32>
           return %y, %z : memref<6xi32>, memref<2x4xi32>
         }",
        &[
            ("return %y, %z", "return %x, %z"),
            ("memref.copy %x, %y", "memref.copy %y, %y"),
            ("return", "memref.dealloc %z : memref<2x4xi32>\nreturn"),
            ("%y = memref.alloc", "%y = memref.alloca"),
            ("memref.copy %x, %part : memref<6xi32> to memref<6xi32>", ""),
        ],
    );
}

/// A constant is not written, a divisor is one of the first form, and prints are the same.
#[test]
fn nothing_else_happens() {
    let text = |body: &str| {
        format!(
            "memref.global \"private\" constant @c : memref<2xi32> = dense<[3, 4]>
             func.func @f(%x: i32, %y: i32) -> i32 {{
               %k = arith.constant 7 : i32
               %0 = arith.constant 0 : index
               %c = memref.get_global @c : memref<2xi32>
               {body}
             }}"
        )
    };
    no_other(
        &text("%q = arith.divsi %x, %y : i32\n%r = arith.addi %q, %k : i32\nvector.print %q : i32\nreturn %r : i32"),
        &text(
            "%three = affine.load %c[0] : memref<2xi32>\n%four = affine.load %c[1] : memref<2xi32>
             %seven = arith.addi %three, %four : i32\n%q = arith.divsi %x, %y : i32\n%r = arith.addi %seven, %q : i32
             vector.print %q : i32\nreturn %r : i32",
        ),
        &[
            ("%c[1]", "%c[0]"),
            ("vector.print %q : i32", ""),
            ("vector.print %q", "vector.print %r"),
            ("vector.print %q : i32", "vector.print %q : i32\nvector.print %q : i32"),
            ("return", "%d = arith.remsi %y, %x : i32\nreturn"),
            ("return", "memref.store %x, %c[%0] : memref<2xi32>\nreturn"),
            ("arith.addi %seven, %q : i32", "arith.addi %seven, %q overflow<nsw> : i32"),
        ],
    );
}

/// A divisor of one function is not one of another, and other forms that were once accepted.
#[test]
fn forms_that_were_accepted_once() {
    let text = |signature: &str, body: &str| {
        format!(
            "func.func @f({signature}) {{
               %0 = arith.constant 0 : index
               %1 = arith.constant 1 : index
               %true = arith.constant true
               {body}
               return
             }}"
        )
    };
    let arguments = "%x: memref<8xi32>, %y: memref<8xi32>, %v: i32";
    let nothing = text(arguments, "");
    for body in [
        "%s = arith.select %true, %x, %y : memref<8xi32>\nmemref.store %v, %s[%0] : memref<8xi32>",
        "%a = arith.constant -2 : i32\n%b = arith.constant 2 : i32\n%c = arith.constant 1 : i32
         scf.for %i = %a to %b step %c : i32 { memref.store %v, %x[%0] : memref<8xi32> }",
    ] {
        assert!(shown(&nothing, &text(arguments, body), [false; 2]).is_err(), "shown: {body}");
    }
    let print = |kind: &str| text(arguments, &format!("vector.print str \"{kind}\""));
    assert_eq!(shown(&print("a"), &print("a"), [false; 2]), Ok(()));
    assert!(shown(&print("a"), &print("b"), [false; 2]).is_err());
}

/// Each function is compared by itself.
#[test]
fn functions_promise_nothing_for_others() {
    let text = |body: &str| {
        format!(
            "func.func @f(%x: i32, %y: i32) -> i32 {{\n%q = arith.divsi %x, %y : i32\nreturn %q : i32\n}}
             func.func @g(%x: i32, %y: i32) -> i32 {{\n{body}\nreturn %x : i32\n}}"
        )
    };
    let [before, after] = ["", "%q = arith.divsi %x, %y : i32"].map(text);
    let found = |name| found(name, &before, &after, [false; 2]).is_ok();
    assert_eq!(["f", "g"].map(found), [true, false]);
}

/// A text is shown against itself, and then none of the pairs of changes of both sides.
#[track_caller]
fn both_changed(text: &str, pairs: &[(&str, &str, &str)]) {
    assert_eq!(shown(text, text, [false; 2]), Ok(()), "{text}");
    for (from, before, after) in pairs {
        let [before, after] = [before, after].map(|to| text.replacen(from, to, 1));
        assert!(shown(&before, &after, [false; 2]).is_err(), "shown:\n{before}\n{after}");
    }
}

/// An operation that may trap keeps its operands, whether or not its result is used.
#[test]
fn divisions_are_of_the_same_operands() {
    let at = "%r = arith.divsi %x, %y : i32";
    let text = "func.func @f(%x: i32, %y: i32) -> i32 {
                  %m = arith.constant -2147483648 : i32
                  %o = arith.constant -1 : i32
                  %z = arith.constant 0 : i32
                  %r = arith.divsi %x, %y : i32
                  return %r : i32
                }";
    let [of_zero, of_least] = ["divsi %z, %o : i32", "divsi %m, %o : i32"].map(|op| format!("%r = arith.{op}"));
    let more = |op: &str| format!("%q = arith.{op} : i32\n{at}");
    both_changed(
        text,
        &[
            (at, &of_zero, &format!("%q = arith.divsi %m, %o : i32\n{of_zero}")),
            (at, &of_least.replace("divsi", "divui"), "%r = arith.remsi %m, %o : i32"),
            (at, at, &more("divsi %y, %x")),
        ],
    );
}

/// Operands of linalg have the sizes of its domain.
#[test]
fn operands_fit_their_domain() {
    let text = "func.func @f(%x: memref<8xf32>, %y: memref<8xf32>, %z: memref<8xf32>) {
                  %n = arith.constant 4 : index
                  %m = arith.constant 4 : index
                  %a = memref.subview %x[0] [%n] [1] : memref<8xf32> to memref<?xf32, strided<[1]>>
                  %b = memref.subview %y[0] [%m] [1] : memref<8xf32> to memref<?xf32, strided<[1]>>
                  %c = memref.subview %z[0] [%n] [1] : memref<8xf32> to memref<?xf32, strided<[1]>>
                  linalg.add ins(%a, %b : memref<?xf32, strided<[1]>>, memref<?xf32, strided<[1]>>)
                    outs(%c : memref<?xf32, strided<[1]>>)
                  return
                }";
    let of = |n: i64| format!("%m = arith.constant {n} : index");
    both_changed(text, &[(&of(4), &of(4), &of(5)), (&of(4), &of(6), &of(5)), (&of(4), &of(5), &of(4))]);
}

/// Memory between the elements of an argument keeps its contents and is never read as an element.
#[test]
fn gaps_stay() {
    let text = "func.func @f(%x: memref<3xf32, strided<[2], offset: 1>>, %v: f32) -> f32 {
                  %all = memref.reinterpret_cast %x to offset: [0], sizes: [6], strides: [1]
                    : memref<3xf32, strided<[2], offset: 1>> to memref<6xf32>
                  affine.store %v, %all[1] : memref<6xf32>
                  %r = affine.load %all[3] : memref<6xf32>
                  return %r : f32
                }";
    let (store, load) = ("affine.store %v, %all[1] : memref<6xf32>", "%r = affine.load %all[3] : memref<6xf32>");
    let at = |text: &str, k: usize| text.replace("[1]", &format!("[{k}]")).replace("[3]", &format!("[{k}]"));
    both_changed(
        text,
        &[
            (store, store, &format!("{store}\n{}", at(store, 2))),
            (store, store, &format!("{store}\n{}", at(store, 0))),
            (load, &at(load, 4), load),
            (load, &at(load, 4), &at(load, 2)),
            (load, &at(load, 0), load),
        ],
    );
}

/// Subviews that a function returns are the same subviews.
#[test]
fn results_are_the_same_parts() {
    let part = "strided<[1], offset: ?>";
    let sub = |name: &str, of: &str, at: i64| {
        format!(
            "%n{name} = arith.constant {at} : index
             %{name} = memref.subview %{of}[%n{name}] [2] [1] : memref<8xf32> to memref<2xf32, {part}>\n"
        )
    };
    let text = |[a, b]: [&str; 2], [i, j]: [i64; 2]| {
        format!(
            "func.func @f(%x: memref<8xf32>) -> (memref<2xf32, {part}>, memref<2xf32, {part}>) {{
               %h = memref.alloc() : memref<8xf32>
               %v = arith.constant 1.0 : f32
               linalg.fill ins(%v : f32) outs(%h : memref<8xf32>)
               linalg.fill ins(%v : f32) outs(%x : memref<8xf32>)
               {}{}return %a, %b : memref<2xf32, {part}>, memref<2xf32, {part}>
             }}",
            sub("a", a, i),
            sub("b", b, j)
        )
    };
    for of in [["h", "h"], ["x", "x"], ["x", "h"]] {
        let before = text(of, [0, 4]);
        assert_eq!(shown(&before, &before, [false; 2]), Ok(()), "{of:?}");
        for at in [[0, 1], [4, 0], [2, 6], [0, 0]] {
            assert!(shown(&before, &text(of, at), [false; 2]).is_err(), "{of:?}: {at:?}");
        }
    }
}

/// Constants of fewer than 8 bits compare equal in exactly these bits.
#[test]
fn packed_constants_have_their_bits() {
    let compared = |of: &str| {
        format!(
            "func.func @f() -> vector<2xi1> {{
               %a = arith.constant dense<{of}> : vector<2xi4>
               %b = arith.constant dense<[0, 1]> : vector<2xi4>
               %r = arith.cmpi eq, %a, %b : vector<2xi4>
               return %r : vector<2xi1>
             }}"
        )
    };
    assert_eq!(shown(&compared("[0, 1]"), &compared("\"0x1021\""), [false; 2]), Ok(()));
    assert!(shown(&compared("[0, 2]"), &compared("\"0x1021\""), [false; 2]).is_err());
}

/// Operations, terminators and attributes that verification does not know, or that differ from their looks.
#[test]
fn what_is_not_known_is_refused() {
    let refused = |text: &str, bodies: &[&str]| {
        for text in bodies.iter().map(|body| text.replace("BODY", body)) {
            let other = text.replacen("{\n", "{\n%other = arith.constant true\n", 1);
            assert!(shown(&text, &other, [false; 2]).is_err(), "shown:\n{text}");
        }
    };
    refused("func.func @f(%x: memref<2xf32>) {\nBODY\n}", &["ub.unreachable"]);
    let load = "%r = ml_program.global_load @g : tensor<4xi32>";
    refused(
        "ml_program.global private mutable @g(dense<4> : tensor<4xi32>) : tensor<4xi32>
         func.func @f(%x: tensor<4xi32>) -> tensor<4xi32> {\nBODY\nreturn %r : tensor<4xi32>\n}",
        &[load, &format!("ml_program.global_store @g = %x : tensor<4xi32>\n{load}")],
    );
}

/// A function is an error where other numbers or elements are left, or an access is outside of memory, and a remark where an
/// operation has no meaning here.
#[test]
fn what_differs_is_told_from_what_is_not_known() {
    let text = |body: &str| format!("func.func @f(%x: memref<4xf32>, %y: f32) -> f32 {{\n{body}\nreturn %r : f32\n}}");
    let load = |at: i64| text(&format!("%i = arith.constant {at} : index\n%r = memref.load %x[%i] : memref<4xf32>"));
    for (after, differs) in [
        (load(1), true),
        (load(4), true),
        (text("%r = arith.constant 1.0 : f32"), true),
        (text("%r = arith.negf %y : f32"), true),
        (text("%r = func.call @g(%y) : (f32) -> f32") + "\nfunc.func private @g(f32) -> f32", false),
    ] {
        let finding = found("f", &load(0), &after, [false; 2]).expect_err(&after);
        assert_eq!(finding.is_error, differs, "{after}: {}", finding.message);
    }
}

/// The type of each operand says what an operation computes.
#[test]
fn operands_have_their_types() {
    let with = |of: &str| {
        format!(
            "func.func @f(%x: f8E8M0FNU, %y: i8) -> f32 {{
               %a = arith.bitcast %y : i8 to {of}
               %r = arith.scaling_extf %a, %x : {of}, f8E8M0FNU to f32
               return %r : f32
             }}"
        )
    };
    assert_eq!(shown(&with("f8E4M3FN"), &with("f8E4M3FN"), [false; 2]), Ok(()));
    assert!(shown(&with("f8E4M3FN"), &with("f8E5M2"), [false; 2]).is_err());
}

/// A discardable attribute is not an inherent one.
#[test]
fn attributes_are_the_operations_own() {
    let text = "func.func @f(%x: memref<4xi32>, %i: i32) -> (i1, i32) {
                  %0 = arith.constant 0 : index
                  %1 = arith.constant 1 : index
                  %2 = arith.constant 2 : i32
                  %3 = arith.constant 3 : i32
                  %e = memref.load %x[%1] : memref<4xi32>
                  memref.store %i, %x[%0] : memref<4xi32>
                  %c = arith.cmpi slt, %2, %3 : i32
                  vector.print str \"a\"
                  return %c, %e : i1, i32
                }";
    let (load, compare) = ("memref.load %x[%1] :", "arith.cmpi slt, %2, %3 :");
    both_changed(
        text,
        &[
            (load, "memref.load %x[%0] {map = affine_map<(d0) -> (d0 + 1)>} :", load),
            (compare, compare, "arith.cmpi sgt, %2, %3 {a = \"predicate = 2 : i64\"} :"),
            ("vector.print str \"a\"", "vector.print punctuation <newline> {a = \"a\"}", "vector.print str \"a\""),
            ("slt, %2, %3", "slt, %2, %3", "sgt, %2, %3"),
        ],
    );
}

/// A caller's buffer keeps its memory space.
#[test]
fn memory_is_where_it_was() {
    let text = "func.func @f(%x: memref<4xi32, 1>) -> memref<4xi32, 1> {
                  %y = memref.alloc() : memref<4xi32, 1>
                  memref.copy %x, %y : memref<4xi32, 1> to memref<4xi32, 1>
                  return %y : memref<4xi32, 1>
                }";
    assert_eq!(shown(text, text, [false; 2]), Ok(()));
    assert!(shown(text, &text.replace(", 1>", ", 2>"), [false; 2]).is_err());
    let tensor = "func.func @f(%x: tensor<4xi32>) -> tensor<4xi32> {\nreturn %x : tensor<4xi32>\n}";
    let of = |space: &str| text.replace(", 1>", space);
    assert_eq!(shown(tensor, &of(">"), [false; 2]), Ok(()));
    assert!(shown(tensor, &of(", 1>"), [false; 2]).is_err());
    let tiled = tensor.replace("xi32>", "xi32, #layout.tiled<{0:T(4)S(1)}>>");
    assert_eq!(shown(&tiled, &of(", #layout.memory_space<vmem>>"), [false; 2]), Ok(()));
    assert!(shown(&tiled, &of(">"), [false; 2]).is_err());
}

/// `docs/verify-trust.md` says how many lines of code an answer rests on.
#[test]
fn the_page_of_trust_counts_lines() {
    let root = Checkout::new().root;
    let page = fs::read_to_string(root.join("docs/verify-trust.md")).expect("the page");
    let is_code = |line: &&str| !line.trim().is_empty() && !line.trim().starts_with("//");
    let mut rows = 0;
    for row in page.lines().filter(|line| line.starts_with("| `")) {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        let [_, names, limit, ..] = cells[..] else { continue };
        let Ok(limit) = limit.replace(',', "").parse::<usize>() else { continue };
        let paths = names.split(", ").map(|name| root.join("passes/verify").join(name.trim_matches('`')));
        let lines: usize = paths.flat_map(rust_files).map(|text| text.lines().filter(is_code).count()).sum();
        assert!((limit * 9 / 10..limit).contains(&lines), "{names}: {lines} lines");
        rows += 1;
    }
    assert_eq!(rows, 5);
}

/// The texts of a file, or of the Rust files of a folder.
fn rust_files(path: PathBuf) -> Vec<String> {
    let Ok(entries) = fs::read_dir(&path) else { return vec![fs::read_to_string(&path).expect("a file")] };
    let paths = entries.flatten().map(|entry| entry.path());
    paths
        .filter(|path| path.is_dir() || path.extension().is_some_and(|name| name == "rs"))
        .flat_map(rust_files)
        .collect()
}
