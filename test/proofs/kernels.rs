//! Forms whose operations name those that they implement: right ones, wrong ones, and numbers that are wrong.

use super::{COUNT, NONE, context};
use layout_test::Checkout;
use layout_verify::{Evidence, Limits, Source};
use melior::ir::Module;
use std::path::PathBuf;
use std::{env, fs};

/// How `@f` of the second text is shown, and what is said of it; operations of the first text have numbers.
fn found(before: &str, after: &str) -> (Option<Evidence>, Vec<String>) {
    let context = context();
    let read = |text: &str| Module::parse(&context, text).unwrap_or_else(|| panic!("no module:\n{text}"));
    let (before, after) = (read(before), read(after));
    let mut source = Source::new(before.as_operation(), Limits { steps: Some(1 << 14), ..NONE });
    source.note_numbered(before.as_operation());
    source.note(after.as_operation(), 1);
    let errors = source.check().into_iter().map(|(_, error)| error);
    let messages = errors.collect::<Vec<_>>().into_iter().chain(source.open()).map(|finding| finding.message).collect();
    (source.shown().find(|(name, _)| *name == "f").map(|(_, evidence)| evidence), messages)
}

/// Checks that the second text is proved, and not after any of the replacements.
#[track_caller]
fn no_other(before: &str, after: &str, changes: &[(&str, &str)]) {
    assert_eq!(found(before, after), (Some(Evidence::Proved), vec![]), "{after}");
    for (from, to) in changes {
        let changed = after.replacen(from, to, 1);
        assert_ne!(changed, after, "{from} is not in\n{after}");
        let (evidence, messages) = found(before, &changed);
        assert!(evidence.is_none() && !messages.is_empty(), "shown:\n{changed}");
    }
}

/// A loop over all elements, with a number.
fn kernel(number: &str, body: &str) -> String {
    format!("scf.for %i = %c0 to %n step %c1 {{\n{body}\n}} {{layout.origins = array<i64: {number}>}}\n")
}

/// A function of two arguments.
fn function(body: &str) -> String {
    format!(
        "func.func @f(%x: memref<{COUNT}xf32>, %y: memref<{COUNT}xf32>) {{
           %c0 = arith.constant 0 : index
           %c1 = arith.constant 1 : index
           %n = arith.constant {COUNT} : index
           %zero = arith.constant 0.0 : f32
           {body}
           return
         }}"
    )
    .replace("MEM", &format!("memref<{COUNT}xf32>"))
}

const ALLOCATION: &str = "%m = memref.alloc() {layout.origins = array<i64: 0>} : MEM\n";
const EXP: &str = "linalg.exp {layout.origins = array<i64: 1>} ins(%x : MEM) outs(%m : MEM)\n";
const NEGATION: &str = "linalg.negf {layout.origins = array<i64: 2>} ins(%m : MEM) outs(%y : MEM)\n";
const FREE: &str = "memref.dealloc %m : MEM\n";

fn loop_of_exp() -> String {
    kernel("1", "%a = memref.load %x[%i] : MEM\n%b = math.exp %a : f32\nmemref.store %b, %m[%i] : MEM")
}

fn loop_of_negation() -> String {
    kernel("2", "%a = memref.load %m[%i] : MEM\n%b = arith.negf %a : f32\nmemref.store %b, %y[%i] : MEM")
}

/// A value without uses is not followed, and has a meaning nevertheless.
#[test]
fn dimensions_that_are_not_there() {
    let before = function(&[ALLOCATION, EXP, NEGATION].concat());
    let after = [ALLOCATION, &loop_of_exp(), &loop_of_negation(), FREE].concat();
    no_other(
        &before,
        &function(&format!("{after}%d = memref.dim %x, %c0 : MEM")),
        &[("memref.dim %x, %c0", "memref.dim %x, %c1"), ("memref.dim %x, %c0", "memref.dim %x, %n")],
    );
}

#[test]
fn kernels_are_shown_one_at_a_time() {
    let before = function(&[ALLOCATION, EXP, NEGATION].concat());
    no_other(
        &before,
        &function(&[ALLOCATION, &loop_of_exp(), &loop_of_negation(), FREE].concat()),
        &[
            ("math.exp", "math.log"),
            ("%n step", "%c1 step"),
            ("memref.load %m", "memref.load %x"),
            ("memref.store %b, %y", "memref.store %b, %x"),
            (
                "return",
                &format!(
                    "memref.store %zero, %x[%c0] {{layout.origins = array<i64: 3>}} : memref<{COUNT}xf32>\nreturn"
                ),
            ),
            ("return", &format!("memref.store %zero, %x[%c0] : memref<{COUNT}xf32>\nreturn")),
        ],
    );
}

/// Two operations that one kernel implements, whose buffer between them is gone.
#[test]
fn one_kernel_implements_two_operations() {
    let before = function(&[ALLOCATION, EXP, NEGATION].concat());
    let body = "%a = memref.load %x[%i] : MEM\n%b = math.exp %a : f32\n%c = arith.negf %b : f32
                memref.store %c, %y[%i] : MEM";
    let after = function(&kernel("1, 2", body));
    no_other(&before, &after, &[("math.exp %a", "math.exp %zero"), ("arith.negf", "math.exp"), ("%y[%i]", "%y[%c0]")]);
    // A buffer that another kernel reads has to be there.
    let read =
        before.replace("return", "linalg.copy {layout.origins = array<i64: 3>} ins(%m : MEM) outs(%x : MEM)\nreturn");
    let read = read.replace("MEM", &format!("memref<{COUNT}xf32>"));
    let copied = kernel("3", "%a = memref.load %x[%i] : MEM\nmemref.store %a, %x[%i] : MEM");
    let (evidence, _) = found(&read, &function(&[kernel("1, 2", body), copied].concat()));
    assert_eq!(evidence, None);
}

/// Numbers are a claim: other ones prove nothing that does not hold.
#[test]
fn wrong_numbers_prove_nothing_wrong() {
    let before = function(&[ALLOCATION, EXP, NEGATION].concat());
    let [exp, negation] = [loop_of_exp(), loop_of_negation()];
    let wrong = exp.replace("math.exp", "math.log");
    for numbers in ["2", "1, 2", "7", "0"] {
        let renumbered = wrong.replace("i64: 1>", &format!("i64: {numbers}>"));
        let (evidence, _) = found(&before, &function(&[ALLOCATION, &renumbered, &negation, FREE].concat()));
        assert_eq!(evidence, None, "{renumbered}");
    }
    let unnumbered = function(&[ALLOCATION, &exp, &negation, FREE].concat()).replace("{layout.origins", "{other");
    assert_eq!(found(&before, &unnumbered).0, Some(Evidence::Proved));
}

/// Kernels change places only where neither writes what the other one reaches.
#[test]
fn kernels_keep_their_order() {
    let copy = |number: &str, from: &str, to: &str| {
        format!("linalg.copy {{layout.origins = array<i64: {number}>}} ins(%{from} : MEM) outs(%{to} : MEM)\n")
    };
    let looped = |number: &str, from: &str, to: &str| {
        kernel(number, &format!("%a = memref.load %{from}[%i] : MEM\nmemref.store %a, %{to}[%i] : MEM"))
    };
    let other = "%k = memref.alloc() {layout.origins = array<i64: 5>} : MEM\n";
    let before = function(
        &[ALLOCATION, other, &copy("1", "x", "m"), &copy("2", "y", "k"), &copy("3", "m", "y"), &copy("4", "k", "x")]
            .concat(),
    );
    let kernels = [looped("1", "x", "m"), looped("2", "y", "k"), looped("3", "m", "y"), looped("4", "k", "x")];
    let ordered =
        |order: [usize; 4]| function(&(ALLOCATION.to_owned() + other + &order.map(|k| kernels[k].clone()).concat()));
    for order in [[0, 1, 2, 3], [1, 0, 2, 3], [1, 0, 3, 2], [0, 1, 3, 2]] {
        assert_eq!(found(&before, &ordered(order)), (Some(Evidence::Proved), vec![]), "{order:?}");
    }
    for order in [[0, 2, 1, 3], [1, 3, 0, 2], [2, 0, 1, 3], [3, 0, 1, 2]] {
        assert_eq!(found(&before, &ordered(order)).0, None, "{order:?}");
    }
}

/// A load that two kernels use is in front of both, and nothing writes its memory between them.
#[test]
fn loads_stay_in_front_of_stores() {
    let store = |number: &str, value: &str, to: &str, at: &str| {
        format!("memref.store %{value}, %{to}[%{at}] {{layout.origins = array<i64: {number}>}} : MEM\n")
    };
    let load = "%e = memref.load %x[%c0] : MEM\n";
    let zero = store("2", "zero", "x", "c0");
    let [first, second] = [store("1", "e", "y", "c0"), store("3", "e", "y", "c1")];
    let before = function(&[load, &first, &zero, &second].concat());
    for (parts, is_right) in [
        ([load, &zero, &first, &second], true),
        ([&zero, load, &first, &second], false),
        ([load, &zero, &second, &zero], false),
    ] {
        let text = function(&parts.concat());
        assert_eq!(found(&before, &text).0.is_some(), is_right, "{text}");
    }
}

/// Nothing reaches a buffer behind its end, and none ends twice.
#[test]
fn freed_buffers_are_not_used() {
    let before = function(&[ALLOCATION, EXP, NEGATION].concat());
    let [exp, negation] = [loop_of_exp(), loop_of_negation()];
    for parts in [
        [ALLOCATION, &exp, FREE, &negation],
        [ALLOCATION, FREE, &exp, &negation],
        [ALLOCATION, &exp, &negation, "memref.dealloc %m : MEM\nmemref.dealloc %m : MEM\n"],
        [ALLOCATION, &exp, &negation, "memref.dealloc %x : MEM\n"],
    ] {
        assert_eq!(found(&before, &function(&parts.concat())).0, None, "{parts:?}");
    }
    // A result is not memory of the stack, and neither an argument nor freed.
    let with_result = |text: String| {
        text.replace(&format!("memref<{COUNT}xf32>) {{"), &format!("memref<{COUNT}xf32>) -> memref<{COUNT}xf32> {{"))
            .replace("return", &format!("return %m : memref<{COUNT}xf32>"))
    };
    let before = with_result(function(&[ALLOCATION, EXP].concat()));
    let after = with_result(function(&[ALLOCATION, &exp].concat()));
    no_other(
        &before,
        &after,
        &[
            ("memref.alloc()", "memref.alloca()"),
            ("return %m", "return %x"),
            ("return", &format!("memref.dealloc %m : memref<{COUNT}xf32>\nreturn")),
        ],
    );
}

/// One buffer stands for two whose elements are not needed at once.
#[test]
fn one_buffer_stands_for_two() {
    let operation = |name: &str, number: i64, from: &str, to: &str| {
        format!("linalg.{name} {{layout.origins = array<i64: {number}>}} ins(%{from} : MEM) outs(%{to} : MEM)\n")
    };
    let other = "%k = memref.alloc() {layout.origins = array<i64: 5>} : MEM\n";
    let [to_y, again, end] =
        [operation("negf", 2, "m", "y"), operation("exp", 3, "y", "k"), operation("negf", 4, "k", "x")];
    let before = function(&[ALLOCATION, EXP, &to_y, other, &again, &end].concat());
    let looped = |number: &str, operation: &str, from: &str, to: &str| {
        let body =
            format!("%a = memref.load %{from}[%i] : MEM\n%b = {operation} %a : f32\nmemref.store %b, %{to}[%i] : MEM");
        kernel(number, &body)
    };
    let kernels = [
        loop_of_exp(),
        loop_of_negation(),
        looped("3", "math.exp", "y", "m"),
        looped("4", "arith.negf", "m", "x"),
        FREE.to_owned(),
    ];
    let both = ALLOCATION.replace("i64: 0>", "i64: 0, 5>");
    let after = function(&(both.clone() + &kernels.concat()));
    no_other(&before, &after, &[("memref.load %m", "memref.load %x"), ("memref.store %b, %m", "memref.store %b, %y")]);
    // Both are needed at once.
    let [late, early] = [operation("negf", 2, "m", "y"), operation("log", 3, "x", "k")];
    let before = function(&[ALLOCATION, EXP, other, &early, &late, &end].concat());
    let kernels = [
        loop_of_exp(),
        looped("3", "math.log", "x", "m"),
        loop_of_negation(),
        looped("4", "arith.negf", "m", "x"),
        FREE.to_owned(),
    ];
    assert_eq!(found(&before, &function(&(both + &kernels.concat()))).0, None);
}

/// No wrong program of `Inputs/kernels` is proved: buffers that other operations show, stores in bodies, buffers that end twice,
/// and operations whose result nothing uses. `LAYOUT_PAIRS` names another folder, of which all that is found is printed.
#[test]
fn wrong_kernels_of_files_are_not_proved() {
    let other = env::var_os("LAYOUT_PAIRS").map(PathBuf::from);
    let folder = other.clone().unwrap_or_else(|| Checkout::new().root.join("test/proofs/Inputs/kernels"));
    let mut count = 0;
    for entry in fs::read_dir(folder).expect("a folder of pairs").flatten() {
        let text = fs::read_to_string(entry.path()).expect("a file of a pair");
        let Some((before, after)) = text.split_once("// -----\n") else { continue };
        let (evidence, messages) = found(before, after);
        if other.is_some() {
            println!("{}\t{evidence:?}\t{messages:?}", entry.file_name().display());
            continue;
        }
        assert!(evidence.is_none() && !messages.is_empty(), "{}: {evidence:?}", entry.path().display());
        count += 1;
    }
    assert!(other.is_some() || count > 10, "{count} files");
}

/// A buffer that a kernel reads for the last time, and writes in the place of another one.
#[test]
fn a_buffer_in_the_place_of_what_it_is_made_of() {
    let second = "%w = memref.alloc() {layout.origins = array<i64: 3>} : MEM\n";
    let negation = "linalg.negf {layout.origins = array<i64: 4>} ins(%m : MEM) outs(%w : MEM)\n";
    let absolute =
        |of: &str| format!("linalg.abs {{layout.origins = array<i64: 5>}} ins(%{of} : MEM) outs(%y : MEM)\n");
    let before = |of: &str| function(&[ALLOCATION, EXP, second, negation, &absolute(of)].concat());
    let in_place =
        kernel("4", "%a = memref.load %m[%i] : MEM\n%b = arith.negf %a : f32\nmemref.store %b, %m[%i] : MEM");
    let read = kernel("5", "%a = memref.load %m[%i] : MEM\n%b = math.absf %a : f32\nmemref.store %b, %y[%i] : MEM");
    let allocation = ALLOCATION.replace("i64: 0", "i64: 0, 3");
    let after = function(&[&allocation, &loop_of_exp(), &in_place, &read, FREE].concat());
    no_other(
        &before("w"),
        &after,
        &[
            ("arith.negf %a", "math.absf %a"),
            ("%a = memref.load %m[%i]", "%a = memref.load %m[%c0]"),
            ("arith.negf %a : f32\nmemref.store %b, %m", "arith.negf %a : f32\nmemref.store %a, %m"),
        ],
    );
    assert!(found(&before("m"), &after).0.is_none(), "what is read later is overwritten");
}
