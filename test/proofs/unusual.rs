//! Pairs that were once wrongly proved, crashed the process, or gave a wrong error.

use super::small::{function, not_same, said, same};
use super::{NONE, compared};

/// The messages if both functions are run.
fn run(signature: &str, before: &str, after: &str) -> Vec<String> {
    compared(&function(signature, before, true), &function(signature, after, true), NONE)
}

#[test]
fn induction_variables_have_their_type() {
    let looped = |body: &str| {
        format!(
            "%a = arith.constant -3 : i8
             %b = arith.constant -2 : i8
             %s = arith.constant 1 : i8
             scf.for %i = %a to %b step %s : i8 {{ {body} }}
             return"
        )
    };
    let print = |n: i32| format!("%a = arith.constant {n} : i16\nvector.print %a : i16\nreturn");
    let wide = looped("%u = arith.extui %i : i8 to i16 vector.print %u : i16");
    assert!(!run("()", &wide, &print(-3)).is_empty());
    assert!(run("()", &wide, &print(253)).is_empty());
    let stored = looped("memref.store %i, %m[%c0] : memref<1xi8>");
    let constant = "%a = arith.constant -3 : i8\nmemref.store %a, %m[%c0] : memref<1xi8>\nreturn";
    assert!(run("(%m: memref<1xi8>)", &stored, constant).is_empty());
}

#[test]
fn transfers_without_dimensions_have_masks() {
    let signature = "(%m: memref<f32>) -> f32";
    let read = |mask: &str, more: &str| {
        format!(
            "%p = arith.constant 7.0 : f32
             %k = arith.constant dense<{mask}> : vector<1xi1>
             %w = vector.transfer_read %m[], %p{more} : memref<f32>, vector<f32>
             %r = vector.extract %w[] : f32 from vector<f32>
             return %r : f32"
        )
    };
    assert!(!run(signature, &read("true", ""), &read("false", ", %k")).is_empty());
    assert!(run(signature, &read("true", ""), &read("true", ", %k")).is_empty());
}

/// A copy reads all of its elements before it writes.
#[test]
fn a_copy_onto_itself_is_no_loop() {
    let part = |offset: i64| {
        let to = format!("memref<3xf32, strided<[1], offset: {offset}>>").replace(", offset: 0", "");
        (format!("memref.subview %m[{offset}] [3] [1] : memref<4xf32> to {to}"), to)
    };
    let [(from, of), (to, with)] = [0, 1].map(part);
    let before = format!("%f = {from}\n%t = {to}\nmemref.copy %f, %t : {of} to {with}\nreturn");
    let after = "affine.for %i = 0 to 3 {
                   %x = affine.load %m[%i] : memref<4xf32>
                   affine.store %x, %m[%i + 1] : memref<4xf32>
                 }
                 return";
    not_same(("(%m: memref<4xf32>)", &before), ("(%m: memref<4xf32>)", after), "element 2 of argument 0");
}

#[test]
fn insertions_of_iterations_are_apart() {
    let signature = "(%t: tensor<4xindex>) -> tensor<4xindex>";
    let inserted = |at: &str| {
        format!(
            "%r = scf.forall (%i) in (2) shared_outs(%q = %t) -> tensor<4xindex> {{
               %e = tensor.from_elements %i : tensor<1xindex>
               scf.forall.in_parallel {{
                 tensor.parallel_insert_slice %e into %q[{at}] [1] [1] : tensor<1xindex> into tensor<4xindex>
               }}
             }}
             return %r : tensor<4xindex>"
        )
    };
    let once = "%r = tensor.insert %c1 into %t[%c0] : tensor<4xindex>\nreturn %r : tensor<4xindex>";
    assert!(!run(signature, once, &inserted("0")).is_empty());
    let both = "%s = tensor.insert %c0 into %t[%c0] : tensor<4xindex>
                %r = tensor.insert %c1 into %s[%c1] : tensor<4xindex>
                return %r : tensor<4xindex>";
    assert!(run(signature, both, &inserted("%i")).is_empty());
}

#[test]
fn results_are_memory_of_the_caller() {
    let signature = "() -> memref<4xi32>";
    let made = "%a = memref.alloc() : memref<4xi32>
                %one = arith.constant 1 : i32
                linalg.fill ins(%one : i32) outs(%a : memref<4xi32>)
                return %a : memref<4xi32>";
    let constant = "%a = memref.get_global @ones : memref<4xi32>\nreturn %a : memref<4xi32>";
    not_same((signature, made), (signature, constant), "memory that nobody may write");
    let of = "memref<0xf32>";
    let free = "memref.dealloc %a : memref<0xf32>";
    let empty = |made: &str, freed: &str| format!("%a = memref.{made}() : {of}\n{freed}\nreturn %a : {of}");
    let signature = format!("() -> {of}");
    for other in [empty("alloc", free), empty("alloca", "")] {
        let found = run(&signature, &empty("alloc", ""), &other);
        assert!(found[0].contains("in memory that was freed"), "{found:?}\nof\n{other}");
    }
    let found = run(&format!("(%a: {of})"), "return", &format!("{free}\nreturn"));
    assert!(found[0].contains("in memory that was freed"), "{found:?}");
}

#[test]
fn strides_of_results_stay() {
    let of = "memref<2xf32, strided<[?], offset: ?>>";
    let part = |offset: i64, stride: i64| {
        let from = format!("memref<2xf32, strided<[{stride}], offset: {offset}>>").replace(", offset: 0", "");
        format!(
            "%a = memref.alloc() : memref<8xf32>
             linalg.fill ins(%x : f32) outs(%a : memref<8xf32>)
             %p = memref.subview %a[{offset}] [2] [{stride}] : memref<8xf32> to {from}
             %r = memref.cast %p : {from} to {of}
             return %r : {of}"
        )
    };
    let signature = format!("(%x: f32) -> {of}");
    assert!(run(&signature, &part(1, 2), &part(1, 2)).is_empty());
    for (offset, stride) in [(0, 2), (1, 3)] {
        not_same((&signature, &part(1, 2)), (&signature, &part(offset, stride)), "");
    }
}

#[test]
fn lanes_behind_a_vector_are_not_there() {
    let signature = "(%m: memref<8xf32>) -> f32";
    let load = "%k = arith.constant 6 : index\n%x = memref.load %m[%k] : memref<8xf32>\nreturn %x : f32";
    let lane = |k: i64| {
        format!(
            "%k = arith.constant {k} : index
             %v = vector.load %m[%c4] : memref<8xf32>, vector<4xf32>
             %x = vector.extract %v[%k] : f32 from vector<4xf32>
             return %x : f32"
        )
    };
    same((signature, load), (signature, &lane(2)));
    let behind = lane(6).replace("[%c4]", "[%c0]");
    not_same((signature, load), (signature, &behind), "");
    let of_one = behind
        .replace("vector.load %m[%c0] : memref<8xf32>, vector<4xf32>", "vector.broadcast %y : f32 to vector<4xf32>");
    not_same(("(%y: f32) -> f32", "return %y : f32"), ("(%y: f32) -> f32", &of_one), "");
}

/// The offset and strides of one run are not those of all runs.
#[test]
fn an_offset_of_the_caller_is_tried() {
    let (of, to) = ("memref<4xf32, strided<[1], offset: ?>>", "memref<4xf32, strided<[1], offset: 3>>");
    let signature = format!("(%m: {of}) -> f32");
    let load = format!("%x = memref.load %m[%c0] : {of}\nreturn %x : f32");
    let cast = format!(
        "%p = memref.reinterpret_cast %m to offset: [3], sizes: [4], strides: [1] : {of} to {to}
         %x = memref.load %p[%c0] : {to}
         return %x : f32"
    );
    let found = said((&signature, &load), (&signature, &cast));
    let is_tried = |all: &Vec<String>| all[0].contains("but tried: for an offset and strides of argument 0");
    assert!(found.iter().all(is_tried), "{found:?}");
}

/// Sizes, offsets and bounds beyond 64 bits, and more elements than steps.
#[test]
fn numbers_that_do_not_fit_end_nothing() {
    for (signature, body) in [
        (
            "(%x: f32) -> tensor<?xf32>",
            "%t = tensor.generate %n { ^bb0(%i: index): tensor.yield %x : f32 } : tensor<?xf32>
             return %t : tensor<?xf32>",
        ),
        (
            "(%s: tensor<2xf32>, %x: f32) -> tensor<?xf32>",
            "%t = tensor.pad %s low[%n] high[%n] { ^bb0(%i: index): tensor.yield %x : f32 }
               : tensor<2xf32> to tensor<?xf32>
             return %t : tensor<?xf32>",
        ),
        (
            "(%m: memref<4x4xf32>)",
            "%p = memref.subview %m[%n, %n] [%c0, %c0] [1, 1]
               : memref<4x4xf32> to memref<?x?xf32, strided<[4, 1], offset: ?>>
             return",
        ),
        (
            "(%m: memref<4xf32>)",
            "%p = memref.subview %m[0] [%n] [1] : memref<4xf32> to memref<?xf32, strided<[1]>>
             return",
        ),
        (
            "(%m: memref<4xf32>, %x: f32)",
            "scf.parallel (%i) = (%n) to (%c0) step (%c1) { memref.store %x, %m[%i] : memref<4xf32> }
             return",
        ),
        (
            "(%m: memref<4xf32>, %x: f32)",
            "scf.parallel (%i) = (%c0) to (%n) step (%c1) { memref.store %x, %m[%i] : memref<4xf32> }
             return",
        ),
    ] {
        for n in ["100000000000", "9223372036854775807", "-9223372036854775808"] {
            let other = "%other = arith.constant 1 : i8\n";
            let [before, after] = ["", other].map(|more| format!("%n = arith.constant {n} : index\n{more}{body}"));
            // The comparison ends with any answer.
            run(signature, &before, &after);
        }
    }
}

/// Results of MLIR's constant folding.
#[test]
fn functions_of_constants_are_numbers() {
    let of = |op: &str, x: &str, to: &str| format!("%x = arith.constant {x}\n%y = {op} %x : {to}\nreturn %y : {to}");
    let constant = |y: &str, to: &str| format!("%y = arith.constant {y} : {to}\nreturn %y : {to}");
    for (op, x, to, right, wrong) in [
        ("math.ceil", "1.5 : f32", "f32", "2.0", "1.0"),
        ("math.floor", "-1.5 : f64", "f64", "-2.0", "-1.0"),
        ("math.round", "2.5 : f32", "f32", "3.0", "2.0"),
        ("math.roundeven", "2.5 : f32", "f32", "2.0", "3.0"),
        ("math.sqrt", "2.25 : f32", "f32", "1.5", "1.25"),
        ("math.ctlz", "16 : i32", "i32", "27", "28"),
        ("math.cttz", "16 : i32", "i32", "4", "27"),
        ("math.ctpop", "-1 : i16", "i16", "16", "15"),
    ] {
        let signature = format!("() -> {to}");
        let found = run(&signature, &of(op, x, to), &constant(right, to));
        assert!(found.is_empty(), "{op}: {found:?}");
        let found = run(&signature, &of(op, x, to), &constant(wrong, to));
        assert!(found.iter().any(|message| message.starts_with("element 0")), "{op}: {found:?}");
    }
    // A near value and an unknown function are not proved; a far-off value of a known function is wrong.
    let is_tried = |found: Vec<String>| found.len() == 1 && found[0].contains("not proved, but tried");
    let exp = of("math.exp", "2.0 : f32", "f32");
    assert!(is_tried(run("() -> f32", &exp, &constant("0x40ec7326", "f32"))));
    assert!(run("() -> f32", &exp, &constant("0.13", "f32"))[0].starts_with("element 0"));
    assert!(is_tried(run("() -> f32", &of("math.erf", "2.0 : f32", "f32"), &constant("0.9953", "f32"))));
    let part = "%z = complex.create %x, %y : complex<f64>\n%r = complex.re %z : complex<f64>\nreturn %r : f64";
    let signature = "(%x: f64, %y: f64) -> f64";
    assert!(run(signature, part, "return %x : f64").is_empty());
    assert!(run(signature, part, "return %y : f64")[0].starts_with("element 0"));
    assert!(run(signature, &part.replace(".re", ".im"), "return %y : f64").is_empty());
}

/// Types without a model may change.
#[test]
fn types_that_are_not_known_are_not_wrong() {
    let f = |of: &str| format!("func.func @f(%x: {of}) -> {of} {{ return %x : {of} }}");
    let found = compared(&f("tensor<*xf32>"), &f("memref<*xf32>"), NONE);
    assert_eq!(found, ["not proved: argument 0 of another type than before is not modelled"]);
}

/// Operations of linalg read and write memory as loads and stores do.
#[test]
fn nests_use_no_memory_that_is_freed() {
    let of = "memref<64xf32>";
    let doubled = |first: &str, last: &str, result: &str| {
        format!(
            "func.func @f(%x: {of}) -> {of} {{
               %a = memref.alloc() : {of}
               memref.copy %x, %a : {of} to {of}
               %b = memref.alloc() : {of}
               {first}
               linalg.add ins(%a, %a : {of}, {of}) outs(%b : {of})
               {last}
               return %{result} : {of}
             }}"
        )
    };
    let free = |memory: &str| format!("memref.dealloc %{memory} : {of}");
    let right = doubled("", "", "b");
    super::same(&right, &doubled("", &free("a"), "b"), NONE);
    super::not_same(&right, &doubled(&free("a"), "", "b"), NONE);
    let unused = doubled("", "", "a");
    super::same(&unused, &doubled("", &free("b"), "a"), NONE);
    super::not_same(&unused, &doubled(&free("b"), "", "a"), NONE);
}
