//! Symbols beside functions, prints, and private functions: small pairs of modules.

use super::{NONE, compared, context};
use layout_verify::Source;
use melior::ir::Module;

/// The errors and the remarks for a module as a form of another one.
fn found(before: &str, after: &str) -> [Vec<String>; 2] {
    let context = context();
    let read = |text: &str| Module::parse(&context, text).unwrap_or_else(|| panic!("no module:\n{text}"));
    let (before, after) = (read(before), read(after));
    let mut source = Source::new(before.as_operation(), NONE);
    source.note(after.as_operation(), 1);
    let errors = source.check().into_iter().map(|(_, error)| error.message).collect();
    [errors, source.open().into_iter().map(|finding| finding.message).collect()]
}

fn is_error(before: &str, after: &str, why: &str) {
    let [errors, open] = found(before, after);
    assert!(errors.iter().any(|message| message.contains(why)), "{errors:?} {open:?}\nof\n{after}");
}

fn is_open(before: &str, after: &str, why: &str) {
    let [errors, open] = found(before, after);
    assert!(errors.is_empty() && open.iter().any(|message| message.contains(why)), "{errors:?} {open:?}\nof\n{after}");
}

fn is_shown(before: &str, after: &str) {
    assert_eq!(found(before, after), [vec![], vec![]] as [Vec<String>; 2], "{after}");
}

#[test]
fn public_globals_stay() {
    let with = |global: &str| format!("{global}\nfunc.func @f() {{ return }}");
    let ones = with("memref.global constant @g : memref<2xf32> = dense<1.0>");
    is_shown(&ones, &ones);
    is_error(&ones, &with(""), "a public global that is no longer there");
    is_error(
        &ones,
        &with("memref.global constant @g : memref<2xf32> = dense<2.0>"),
        "a public global with other elements",
    );
    is_open(
        &ones,
        &with("memref.global @g : memref<2xf32> = dense<1.0>"),
        "a public global of another type or other attributes",
    );
    is_open(
        &ones,
        &with("memref.global constant @g : memref<1x2xf32> = dense<1.0>"),
        "a public global of another type or other attributes",
    );
    let private =
        |value: f32| with(&format!("memref.global \"private\" constant @g : memref<2xf32> = dense<{value:?}>"));
    is_shown(&private(1.0), &private(2.0));
    is_shown(&private(1.0), &with(""));
    let other = "a public global of another type or other attributes";
    let wide = |n: i32| with(&format!("memref.global constant @g : memref<2xi128> = dense<{n}>"));
    is_open(&wide(1), &wide(2), other);
    is_open(
        &with("memref.global @g : memref<2xf32>"),
        &with("memref.global @g : memref<2xf32> = uninitialized"),
        other,
    );
    is_open(&ones, &ones.replace("dense<1.0>", "dense<1.0> {alignment = 64}"), other);
}

/// Top-level operations that are not `func` functions have no known meaning.
#[test]
fn other_operations_of_a_module_are_said() {
    let nested = |n: i32| {
        format!(
            "func.func @f() {{ return }}\nmodule {{ func.func @g() -> i32 {{ %x = arith.constant {n} : i32 return %x : i32 }} }}"
        )
    };
    is_shown(&nested(1), &nested(1));
    is_open(&nested(1), &nested(2), "'builtin.module' is not modelled, and changes");
    is_open(&nested(1), "func.func @f() { return }", "'builtin.module' is not modelled, and changes");
    let llvm =
        |n: i32| format!("llvm.func @g() -> i32 {{ %x = llvm.mlir.constant({n} : i32) : i32 llvm.return %x : i32 }}");
    is_shown(&llvm(1), &llvm(1));
    is_open(&llvm(1), &llvm(2), "'llvm.func' is not modelled, and changes");
    is_open("func.func @f() { return }", &nested(1), "'builtin.module' is not modelled, and new");
    is_open("func.func @g() { return }", "llvm.func @g() { llvm.return }", "'llvm.func' now is not modelled");
}

/// A private function may change if only proved functions call it.
#[test]
fn private_functions_are_seen_by_their_callers() {
    let module = |inner: &str, outer: &str| {
        format!(
            "func.func private @inner(%n: i32) -> i32 {{ %c = arith.constant 6 : i32 {inner} }}
             func.func @outer() -> i32 {{
               %three = arith.constant 3 : i32
               {outer}
             }}"
        )
    };
    let (double, six) = ("%s = arith.addi %n, %n : i32 return %s : i32", "return %c : i32");
    let (seven, call) = (
        "%one = arith.constant 1 : i32 %s = arith.addi %c, %one : i32 return %s : i32",
        "%r = func.call @inner(%three) : (i32) -> i32 return %r : i32",
    );
    is_shown(&module(double, call), &module(six, call));
    is_error(&module(double, call), &module(seven, call), "result 0 has the constant i32 7, which differs from i32 6");
    // Another name, and a function that others may link to.
    let named = |inner: &str| module(inner, call).replace("@inner", "@\"a@b\"");
    is_error(&named(double), &named(six), "element 0 of result 0");
    let linked = |inner: &str| {
        let attributes = "(%n: i32) -> i32 attributes {llvm.emit_c_interface} {";
        module(inner, call).replacen("(%n: i32) -> i32 {", attributes, 1)
    };
    is_error(&linked(double), &linked(six), "element 0 of result 0");
    // No known caller, and a possible unknown one.
    is_error(&module(double, "return %three : i32"), &module(six, "return %three : i32"), "element 0 of result 0");
    let also = "\nmodule { llvm.func @inner() }\nfunc.func @more() { %f = func.constant @inner : (i32) -> i32 return }";
    is_error(&(module(double, call) + also), &(module(six, call) + also), "element 0 of result 0");
}

fn with_print(print: &str) -> String {
    format!("func.func @f(%x: f32, %v: vector<2xf32>, %w: vector<1x2xi8>, %b: i1, %n: index) {{ {print}\nreturn }}")
}

#[test]
fn prints_are_what_they_write() {
    let (open, comma) = ("vector.print punctuation <open>", "vector.print punctuation <comma>");
    let close = "vector.print punctuation <close>";
    let number = |of: &str| format!("vector.print {of} punctuation <no_punctuation>");
    let vector =
        "%a = vector.extract %v[0] : f32 from vector<2xf32> %b1 = vector.extract %v[1] : f32 from vector<2xf32>\n";
    let each = format!(
        "{vector}{open}\n{}\n{comma}\n{}\n{close}\nvector.print punctuation <newline>",
        number("%a : f32"),
        number("%b1 : f32")
    );
    let whole = with_print("vector.print %v : vector<2xf32>");
    is_shown(&whole, &with_print(&each));
    is_error(&whole, &with_print(&each.replace("%a : f32", "%b1 : f32")), "what is printed");
    is_error(&whole, &with_print(&each.replace(comma, open)), "is printed, and");
    is_error(&whole, &with_print(&each.replace(close, "")), "is printed, and");
    is_error(&whole, &with_print(""), "nothing more is printed, and");
    is_error(&with_print(""), &whole, "is printed, and nothing more before");
    let bits = "%c = arith.bitcast %x : f32 to i32 vector.print %c : i32";
    is_error(
        &with_print("vector.print %x : f32"),
        &with_print(bits),
        "an element of i32 is printed, and an element of f32",
    );
    let text =
        |all: &[&str]| with_print(&all.iter().map(|text| format!("vector.print str {text:?}\n")).collect::<String>());
    is_shown(&text(&["ab"]), &text(&["a", "b"]));
    is_error(&text(&["ab"]), &text(&["b", "a"]), "is printed, and");
    // Integers are printed as wider ones, an i1 without its sign.
    let wide = |op: &str, to: &str| with_print(&format!("%c = arith.{op} %b : i1 to {to} vector.print %c : {to}"));
    is_shown(&with_print("vector.print %b : i1"), &wide("extui", "i8"));
    is_error(&with_print("vector.print %b : i1"), &wide("extsi", "i8"), "what is printed");
}

/// MLIR's own pass prints each element of a vector separately.
#[test]
fn decomposed_prints_are_shown() {
    let context = context();
    let text = with_print("vector.print %w : vector<1x2xi8>\nvector.print %v : vector<2xf32>");
    let mut module = Module::parse(&context, &text).expect("a module");
    melior::utility::register_all_passes();
    let passes = melior::pass::PassManager::new(&context);
    melior::utility::parse_pass_pipeline(passes.as_operation_pass_manager(), "builtin.module(convert-vector-to-scf)")
        .expect("a pipeline");
    passes.run(&mut module).expect("it runs");
    let after = module.as_operation().to_string();
    assert!(!after.contains("vector.print %arg2"), "{after}");
    is_shown(&text, &after);
}

/// Iterations in any order print in any order.
#[test]
fn prints_in_any_order_are_not_shown() {
    let loops = |head: &str| with_print(&format!("{head} {{ vector.print %i : index }}"));
    let in_order = loops("affine.for %i = 0 to 4");
    let apart = loops("scf.forall (%i) in (4)");
    assert!(compared(&in_order, &in_order, NONE).is_empty());
    is_open(&in_order, &apart, "a print in a loop whose iterations come in any order");
}
