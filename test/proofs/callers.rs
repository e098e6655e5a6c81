//! The interface of functions, and unknown parts of programs: small pairs of modules, equivalent and not.

use super::{NONE, compared};

/// The messages for two modules.
fn said(before: &str, after: &str) -> Vec<String> {
    compared(before, after, NONE)
}

#[track_caller]
fn not_shown(before: &str, after: &str) {
    assert!(!said(before, after).is_empty(), "shown to be the same:\n{before}\n{after}");
}

#[test]
fn public_functions_stay() {
    let with = |more: &str| format!("func.func @f() {{ return }}\n{more}");
    let gone = |visibility: &str| said(&with(&format!("func.func {visibility} @g() {{ return }}")), &with(""));
    assert_eq!(gone(""), ["a public function that is no longer there"]);
    assert_eq!(gone("private"), [""; 0]);
    let declared = said(&with("func.func @g() { return }"), &with("func.func private @g()"));
    assert_eq!(declared, ["a public function that is no longer there"]);
    let private = said(&with("func.func @g() { return }"), &with("func.func private @g() { return }"));
    assert_eq!(private, ["a function that is no longer public"]);
}

#[test]
fn types_stay() {
    let f = |from: &str, to: &str, body: &str| format!("func.func @f(%x: {from}) -> {to} {{ {body} }}");
    for (from, to) in [
        ("f32", "i32"),
        ("i32", "i64"),
        ("memref<4xf32>", "memref<4xi32>"),
        ("tensor<4xf32>", "memref<4xi32>"),
        ("memref<4x8xf32>", "memref<4x8xf32, strided<[1, 4]>>"),
        ("tensor<4x8xf32>", "memref<4x8xf32, strided<[1, 4]>>"),
        ("tensor<4xf32>", "memref<4xf32, strided<[2], offset: 7>>"),
    ] {
        let [before, after] = [from, to].map(|of| f(of, "i1", "%y = arith.constant true return %y : i1"));
        assert_eq!(said(&before, &after), ["argument 0 of another type than before"], "{to}");
        let [before, after] = [&before, &after].map(|text| text.replace("@f(", "private @f("));
        assert!(!said(&before, &after).iter().any(|message| message.contains("another type")), "{to}");
    }
    let after = f("memref<4xf32, strided<[1]>>", "i1", "%y = arith.constant true return %y : i1");
    assert_eq!(said(&f("tensor<4xf32>", "i1", "%y = arith.constant true return %y : i1"), &after), [""; 0]);
}

/// An unknown operation must not change between the two forms.
#[test]
fn what_is_not_known_is_not_equal() {
    let f = |body: &str| format!("func.func @f(%x: i32, %m: memref<4xi32>) -> i32 {{ {body} }}");
    for (old, new) in [
        (
            "%y = memref.generic_atomic_rmw %m[%c] : memref<4xi32> { ^bb0(%a: i32): %b = arith.addi %a, %a : i32 memref.atomic_yield %b : i32 }",
            "%y = memref.generic_atomic_rmw %m[%c] : memref<4xi32> { ^bb0(%a: i32): %b = arith.muli %a, %a : i32 memref.atomic_yield %b : i32 }",
        ),
        ("vector.print str \"a\"", "vector.print str \"b\""),
        ("vector.print punctuation <newline>", "vector.print punctuation <comma>"),
        ("vector.print %x : i32", "%y = arith.bitcast %x : i32 to f32 vector.print %y : f32"),
        (
            "%v = vector.broadcast %x : i32 to vector<4xi32> vector.print %v : vector<4xi32>",
            "%v = vector.broadcast %x : i32 to vector<2x2xi32> vector.print %v : vector<2x2xi32>",
        ),
    ] {
        let [old, new] = [old, new].map(|text| f(&format!("%c = arith.constant 0 : index {text} return %x : i32")));
        not_shown(&old, &new);
        // An unchanged function is equivalent.
        assert_eq!(said(&old, &old), [""; 0]);
    }
    not_shown(&f("return %x : i32"), &f("ub.unreachable"));
}

#[test]
fn branches_of_a_switch_are_not_known() {
    let f = |a: i32, b: i32| {
        format!(
            "func.func @f(%x: i32) -> i32 {{
               %a = arith.constant {a} : i32
               %b = arith.constant {b} : i32
               cf.switch %x : i32, [default: ^d, 1: ^e]
             ^d:
               return %a : i32
             ^e:
               return %b : i32
             }}"
        )
    };
    assert!(said(&f(10, 20), &f(11, 21))[0].contains("'cf.switch' is not modelled"));
    let nothing = |index: &str| {
        format!(
            "func.func @f(%x: i32, %m: memref<1xi32>) {{
               %c = arith.constant 0 : index
               {index}
               cf.switch %x : i32, [default: ^d, 1: ^e]
             ^d:
               return
             ^e:
               memref.store %x, %m[%c] : memref<1xi32>
               return
             }}"
        )
    };
    not_shown(&nothing("%d = arith.addi %c, %c : index"), &nothing(""));
}

#[test]
fn memory_that_is_written_elsewhere_is_not_known() {
    let module = |f: &str| {
        format!(
            "memref.global \"private\" @g : memref<f32> = dense<0.0>
             func.func @f(%x: f32) {{ %g = memref.get_global @g : memref<f32> {f} return }}
             func.func @r() -> f32 {{
               %g = memref.get_global @g : memref<f32>
               %y = memref.load %g[] : memref<f32>
               return %y : f32
             }}"
        )
    };
    not_shown(&module("memref.store %x, %g[] : memref<f32>"), &module(""));
}

#[test]
fn results_are_the_same_part_of_an_argument() {
    let f = |first: i64| {
        format!(
            "func.func @f(%a: memref<4xf32>) -> memref<2xf32, strided<[1], offset: ?>> {{
               %z = arith.constant 0.0 : f32
               linalg.fill ins(%z : f32) outs(%a : memref<4xf32>)
               %i = arith.constant {first} : index
               %y = memref.subview %a[%i] [2] [1] : memref<4xf32> to memref<2xf32, strided<[1], offset: ?>>
               return %y : memref<2xf32, strided<[1], offset: ?>>
             }}"
        )
    };
    assert_eq!(said(&f(2), &f(2)), [""; 0]);
    not_shown(&f(0), &f(2));
}

/// The least integer divided by -1 has no quotient.
#[test]
fn divisions_that_overflow_are_those_of_the_program() {
    let f = |division: &str| {
        format!(
            "func.func @f(%x: i32, %y: i32) -> i32 {{
               %five = arith.constant 5 : i32
               %minus = arith.constant -1 : i32
               %kept = arith.divsi %five, %y : i32
               {division}
               return %kept : i32
             }}"
        )
    };
    for (division, is_right) in [
        ("", true),
        ("%q = arith.divui %x, %y : i32", true),
        ("%q = arith.remsi %five, %y : i32", true),
        ("%q = arith.divsi %five, %minus : i32", true),
        ("%q = arith.divsi %x, %y : i32", false),
        ("%q = arith.divsi %x, %minus : i32", false),
        ("%q = arith.divui %x, %x : i32", false),
    ] {
        let branch = |text: String| text.replace("return", "cf.br ^end\n^end:\nreturn");
        assert_eq!(said(&branch(f("")), &branch(f(division))).is_empty(), is_right, "{division}");
    }
}

/// Large strides take many steps.
#[test]
fn memory_that_is_too_large_is_not_made() {
    let f = |index: &str| {
        format!(
            "func.func @f(%x: memref<2xf32, strided<[1099511627776]>>) -> f32 {{
               %c = arith.constant 1 : index
               {index}
               cf.br ^end
             ^end:
               %y = memref.load %x[%c] : memref<2xf32, strided<[1099511627776]>>
               return %y : f32
             }}"
        )
    };
    assert!(said(&f("%d = arith.addi %c, %c : index"), &f(""))[0].contains("too many steps"));
}
