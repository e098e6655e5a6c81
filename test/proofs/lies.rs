//! Functions that return their argument or a copy: where a layout's elements lie, and how much memory it takes.

use super::{NONE, compared, function, not_same, same};

/// A function that returns its argument, of this layout.
fn returned(shape: &str, layout: &str) -> String {
    let t = format!("tensor<{shape}, #layout.tiled<{{{layout}}}>>");
    function(&format!("(%x: {t}) -> {t}"), &format!("return %x : {t}"))
}

/// A function that returns a copy of a memref in an allocation of `count` elements.
fn copied(memref: &str, element: &str, count: i64, sizes: &str, strides: &str) -> String {
    function(
        &format!("(%x: {memref}) -> {memref}"),
        &format!(
            "%a = memref.alloc() : memref<{count}x{element}>
             %r = memref.reinterpret_cast %a to offset: [0], sizes: [{sizes}], strides: [{strides}] : memref<{count}x{element}> to {memref}
             memref.copy %x, %r : {memref} to {memref}
             return %r : {memref}"
        ),
    )
}

#[test]
fn the_tail_is_memory_of_a_result() {
    let before = returned("3xf32", "0:T(2)L(39)");
    let after = |count| copied("memref<2x2xf32>", "f32", count, "2, 2", "2, 1");
    same(&before, &after(39), NONE);
    not_same(&before, &after(38), NONE);
    same(&returned("3xf32", "0:T(2)"), &after(4), NONE);
}

#[test]
fn bytes_have_the_last_part_of_several_elements() {
    // For 6x4 in tiles of 4 and then 2x1, the last part of several elements has two: a byte.
    let before = returned("6x1x4xi4", "2,0,1:T(16)(8)(2,1)E(4)");
    let of = |memref: &str, sizes: &str, strides: &str| copied(memref, "i8", 48, sizes, strides);
    same(&before, &of("memref<1x6x8x1xi8>", "1, 6, 8, 1", "48, 8, 1, 1"), NONE);
    let strided = "memref<6x1x1x8xi8, strided<[8, 48, 1, 1]>>";
    same(&before, &of(strided, "6, 1, 1, 8", "8, 48, 1, 1"), NONE);
    not_same(&before, &of("memref<1x8x6x1xi8>", "1, 8, 6, 1", "48, 6, 1, 1"), NONE);
    not_same(&before, &of("memref<1x6x4x2xi8>", "1, 6, 4, 2", "48, 8, 2, 1"), NONE);
}

#[test]
fn bytes_of_parts_of_both_are_one_row() {
    let row = |count: i64| format!("memref<{count}xi8>");
    let before = returned("2x4x3xi1", "2,1,0:T(2,2)L(10)E(2)");
    let after = |of: i64, count| copied(&row(of), "i8", count, &of.to_string(), "1");
    same(&before, &after(8, 10), NONE);
    not_same(&before, &after(8, 9), NONE);
    not_same(&before, &after(10, 10), NONE);
}

#[test]
fn parts_of_merged_dimensions_come_in_any_order() {
    let before = returned("5x4x3xi64", "1,2,0:T(*,4)");
    let after = |sizes: &str, strides: &str| {
        let memref = format!("memref<{}xi64, strided<[{strides}]>>", sizes.replace(", ", "x"));
        copied(&memref, "i64", 60, sizes, strides)
    };
    same(&before, &after("5, 3, 4", "12, 4, 1"), NONE);
    same(&before, &after("3, 5, 4", "4, 12, 1"), NONE);
    not_same(&before, &after("5, 3, 4", "12, 1, 3"), NONE);
    not_same(&before, &after("3, 5, 4", "20, 4, 1"), NONE);
}

/// The sum of an argument's whole memory, padding included.
#[test]
fn padding_of_an_argument_holds_what_is_said() {
    let sum = |promise: &str| {
        function(
            &format!("(%x: tensor<3xi32, #layout.tiled<{{0:T(4)}}>> {promise}) -> i32"),
            "%zero = arith.constant dense<0> : tensor<i32>
             %s = linalg.reduce { arith.addi } ins(%x : tensor<3xi32, #layout.tiled<{0:T(4)}>>) outs(%zero : tensor<i32>) dimensions = [0]
             %v = tensor.extract %s[] : tensor<i32>
             return %v : i32",
        )
    };
    let after = function(
        "(%x: memref<4xi32>) -> i32",
        "%zero = arith.constant 0 : i32
         %v = scf.for %i = %c0 to %c4 step %c1 iter_args(%s = %zero) -> (i32) {
           %y = memref.load %x[%i] : memref<4xi32>
           %z = arith.addi %s, %y : i32
           scf.yield %z : i32
         }
         return %v : i32",
    );
    same(&sum("{layout.padding = 0 : i32}"), &after, NONE);
    not_same(&sum("{layout.padding = 1 : i32}"), &after, NONE);
    not_same(&sum(""), &after, NONE);
    // A private function has no promise from its callers.
    let private = |text: &str| text.replace("@f", "private @f");
    not_same(&private(&sum("{layout.padding = 0 : i32}")), &private(&after), NONE);
}

/// An inserted tensor has the sizes of its slice.
#[test]
fn insertions_of_other_sizes_are_no_programs() {
    let insert = |size: &str| {
        function(
            "(%x: tensor<4x4xf32>, %y: tensor<3x2xf32>, %n: index) -> tensor<4x4xf32>",
            &format!(
                "%d = tensor.cast %y : tensor<3x2xf32> to tensor<?x2xf32>
                 %r = tensor.insert_slice %d into %x[0, 0] [{size}, 2] [1, 1] : tensor<?x2xf32> into tensor<4x4xf32>
                 return %r : tensor<4x4xf32>"
            ),
        )
    };
    let [three, four] =
        ["%c3", "%c4"].map(|size| insert(size).replace("%c4 = ", "%c3 = arith.constant 3 : index\n%c4 = "));
    same(&three, &three, NONE);
    not_same(&three, &four, NONE);
    let found = compared(&four, &three, NONE);
    assert!(found.iter().any(|found| found.contains("no sizes and numbers that were tried")), "{found:?}");
}

/// An argument of a type that its layout cannot have is an error, with a proof and without.
#[test]
fn arguments_are_of_the_types_of_their_layouts() {
    let before = function(
        "(%x: tensor<2x4xi4, #layout.tiled<{1,0:E(4)}>>) -> i4",
        "%v = tensor.extract %x[%c1, %c1] : tensor<2x4xi4, #layout.tiled<{1,0:E(4)}>>
         return %v : i4",
    );
    let packed = |sizes: &str| {
        function(
            &format!("(%x: memref<{sizes}xi8>) -> i4"),
            &format!(
                "%b = memref.load %x[%c1, %c0] : memref<{sizes}xi8>
                 %four = arith.constant 4 : i8
                 %h = arith.shrui %b, %four : i8
                 %v = arith.trunci %h : i8 to i4
                 return %v : i4"
            ),
        )
    };
    same(&before, &packed("2x2"), NONE);
    let whole = function(
        "(%x: memref<2x4xi4>) -> i4",
        "%v = memref.load %x[%c1, %c1] : memref<2x4xi4>
         return %v : i4",
    );
    for (after, why) in [(packed("4x1"), "not the one of its layout"), (whole, "of another type than before")] {
        let found = compared(&before, &after, NONE);
        let is_error = |found: &String| found.contains(why) && !found.contains("not proved");
        assert!(found.iter().any(is_error), "{found:?}");
    }
}

/// A result of other sizes is another result, even without elements.
#[test]
fn results_have_the_sizes_that_the_program_gives_them() {
    let before = function(
        "(%n: index, %m: index) -> tensor<?x?xf32>",
        "%e = tensor.empty(%n, %m) : tensor<?x?xf32>
         %f = arith.constant 1.0 : f32
         %r = linalg.fill ins(%f : f32) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
         return %r : tensor<?x?xf32>",
    );
    let after = |sizes: &str| {
        function(
            "(%n: index, %m: index) -> memref<?x?xf32>",
            &format!(
                "%a = memref.alloc({sizes}) : memref<?x?xf32>
                 %f = arith.constant 1.0 : f32
                 linalg.fill ins(%f : f32) outs(%a : memref<?x?xf32>)
                 return %a : memref<?x?xf32>"
            ),
        )
    };
    let is_error = |after: &str| compared(&before, after, NONE).iter().any(|found| !found.contains("not proved"));
    assert!(!is_error(&after("%n, %m")));
    for sizes in ["%m, %n", "%n, %n", "%m, %m"] {
        assert!(is_error(&after(sizes)), "{sizes}");
    }
}

/// Promises do not cover the tail and the prefix of an argument.
#[test]
fn promised_padding_is_that_of_tiles() {
    let before = function(
        "(%x: tensor<3xi32, #layout.tiled<{0:T(2)L(8)M(8)}>> {layout.padding = 0 : i32}) -> i32",
        "%zero = arith.constant 0 : i32
         return %zero : i32",
    );
    let after = |at: &str| {
        function(
            "(%x: memref<2x2xi32, strided<[2, 1], offset: 2>>) -> i32",
            &format!(
                "%m = memref.reinterpret_cast %x to offset: [0], sizes: [10], strides: [1] : memref<2x2xi32, strided<[2, 1], offset: 2>> to memref<10xi32>
                 %k = arith.constant {at} : index
                 %v = memref.load %m[%k] : memref<10xi32>
                 return %v : i32"
            ),
        )
    };
    same(&before, &after("5"), NONE);
    for at in ["0", "1", "6", "9"] {
        not_same(&before, &after(at), NONE);
    }
}
