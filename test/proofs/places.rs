//! Functions on TensorLayouts, swizzled layouts or special tiled ones, and their lowered forms, each pair with and without a proof.

use super::{NONE, compared};

const MACHINE: &str = "layout.machine = #layout.machine<axes: (2_L1B, 4_PE), memories: (), word: 64>";

/// The messages for a lowered form, with a proof possible and without.
fn said(machine: &str, before: (&str, &str), after: (&str, &str)) -> [Vec<String>; 2] {
    [false, true].map(|has_branch| {
        let text = |(signature, body): (&str, &str)| {
            let (head, last) = body.rsplit_once("return").expect("a return");
            let branch = if has_branch { "cf.br ^end\n^end:" } else { "" };
            format!(
                "module attributes {{{machine}}} {{
                   func.func @f{signature} {{
                     {head}
                     {branch}
                     return{last}
                   }}
                 }}"
            )
        };
        compared(&text(before), &text(after), NONE)
    })
}

/// Checks that a lowered form is equivalent both ways, and wrong after each text replacement.
#[track_caller]
fn no_other(machine: &str, before: (&str, &str), after: (&str, &str), changes: &[(&str, &str)]) {
    let found = said(machine, before, after);
    assert!(found.iter().all(Vec::is_empty), "{found:?}\nof\n{after:?}");
    for (from, to) in changes {
        assert!(after.1.contains(from), "{from} is not in\n{after:?}");
        let changed = after.1.replacen(from, to, 1);
        let found = said(machine, before, (after.0, &changed));
        assert!(found.iter().all(|all| !all.is_empty()), "{found:?} with {to} in the place of {from}");
    }
}

#[test]
fn each_copy_is_written() {
    let rows = "memref<12x8xf32, #layout.tensor_layout<((4_PE, 3:8), (8:1))>>";
    no_other(
        MACHINE,
        (
            &format!("(%x: memref<12x8xf32>, %y: {rows})"),
            &format!("memref.copy %x, %y : memref<12x8xf32> to {rows} return"),
        ),
        (
            "(%x: memref<12x8xf32>, %y: memref<2x4x3x8xf32>)",
            "affine.for %l = 0 to 2 {
               affine.for %p = 0 to 4 {
                 affine.for %i = 0 to 3 {
                   affine.for %j = 0 to 8 {
                     %v = affine.load %x[%p * 3 + %i, %j] : memref<12x8xf32>
                     affine.store %v, %y[%l, %p, %i, %j] : memref<2x4x3x8xf32>
                   }
                 }
               }
             }
             return",
        ),
        &[
            ("%l = 0 to 2", "%l = 0 to 1"),
            ("%l = 0 to 2", "%l = 1 to 2"),
            ("%p = 0 to 4", "%p = 0 to 3"),
            ("%i = 0 to 3", "%i = 1 to 3"),
            ("[%p * 3 + %i, %j]", "[%i * 4 + %p, %j]"),
            ("[%p * 3 + %i, %j]", "[%p * 3 + %i, 7 - %j]"),
            ("%y[%l, %p, %i, %j]", "%y[1 - %l, 3 - %p, %i, %j]"),
        ],
    );
}

#[test]
fn copies_of_an_argument_are_alike() {
    let rows = "memref<12x8xf32, #layout.tensor_layout<((3:8, 4_PE), (8:1))>>";
    let after = |first: &str| {
        format!(
            "affine.for %i = 0 to 12 {{
               affine.for %j = 0 to 8 {{
                 %v = affine.load %x[{first}, %i mod 4, %i floordiv 4, %j] : memref<2x4x3x8xf32>
                 affine.store %v, %y[%i, %j] : memref<12x8xf32>
               }}
             }}
             return"
        )
    };
    // Each element may be read from either of its two copies.
    for first in ["0", "1", "%j mod 2"] {
        no_other(
            MACHINE,
            (
                &format!("(%x: {rows}, %y: memref<12x8xf32>)"),
                &format!("memref.copy %x, %y : {rows} to memref<12x8xf32> return"),
            ),
            ("(%x: memref<2x4x3x8xf32>, %y: memref<12x8xf32>)", &after(first)),
            &[
                ("%i mod 4, %i floordiv 4", "%i floordiv 3, %i mod 3"),
                ("%i mod 4", "(%i + 1) mod 4"),
                ("%y[%i, %j]", "%y[11 - %i, %j]"),
            ],
        );
    }
}

/// Arguments have the dimensions of their layout, even where all addresses are right.
#[test]
fn axes_are_in_the_order_of_the_machine() {
    let rows = "memref<4x8xf32, #layout.tensor_layout<((4_PE), (2_L1B, 4:1))>>";
    let body = |sizes: &str, at: &str| {
        (
            format!("(%x: memref<4x8xf32>, %y: memref<{sizes}xf32>)"),
            format!(
                "affine.for %i = 0 to 4 {{
                   affine.for %j = 0 to 8 {{
                     %v = affine.load %x[%i, %j] : memref<4x8xf32>
                     affine.store %v, %y[{at}] : memref<{sizes}xf32>
                   }}
                 }}
                 return"
            ),
        )
    };
    for (sizes, at, is_right) in [
        ("2x4x4", "%j floordiv 4, %i, %j mod 4", true),
        ("4x2x4", "%i, %j floordiv 4, %j mod 4", false),
        ("8x4", "%j floordiv 4 * 4 + %i, %j mod 4", false),
    ] {
        let after = body(sizes, at);
        let before = (
            format!("(%x: memref<4x8xf32>, %y: {rows})"),
            format!("memref.copy %x, %y : memref<4x8xf32> to {rows} return"),
        );
        let found = said(MACHINE, (&before.0, &before.1), (&after.0, &after.1));
        assert!(found.iter().all(|all| all.is_empty() == is_right), "{found:?} of {sizes}");
    }
}

/// Gaps between the parts of an axis and memory after the last element are undefined.
#[test]
fn gaps_and_padding_are_not_read() {
    let gaps = "memref<4x5xf32, #layout.tensor_layout<((2_PE:3, 2_PE:1), (5:1))>>";
    no_other(
        "layout.machine = #layout.machine<axes: (8_PE), memories: (), word: 64>",
        (
            &format!("(%x: {gaps}, %y: memref<4x5xf32>)"),
            &format!("memref.copy %x, %y : {gaps} to memref<4x5xf32> return"),
        ),
        (
            "(%x: memref<8x5xf32>, %y: memref<4x5xf32>)",
            "affine.for %i = 0 to 4 {
               affine.for %j = 0 to 5 {
                 %v = affine.load %x[%i + %i floordiv 2, %j] : memref<8x5xf32>
                 affine.store %v, %y[%i, %j] : memref<4x5xf32>
               }
             }
             return",
        ),
        &[("%i + %i floordiv 2", "%i"), ("%i + %i floordiv 2", "%i + 4"), ("%y[%i, %j]", "%y[%i, 4 - %j]")],
    );
    let padded = "tensor<10x7xf32, #layout.tensor_layout<((3:7, 4_PE), (7:1))>>";
    no_other(
        "",
        (
            &format!("(%x: tensor<10x7xf32>) -> {padded}"),
            &format!("%y = layout.convert %x : tensor<10x7xf32> to {padded} return %y : {padded}"),
        ),
        (
            "(%x: memref<10x7xf32>) -> memref<4x3x7xf32>",
            "%y = memref.alloc() : memref<4x3x7xf32>
             affine.for %i = 0 to 10 {
               affine.for %j = 0 to 7 {
                 %v = affine.load %x[%i, %j] : memref<10x7xf32>
                 affine.store %v, %y[%i mod 4, %i floordiv 4, %j] : memref<4x3x7xf32>
               }
             }
             return %y : memref<4x3x7xf32>",
        ),
        &[
            ("%i mod 4, %i floordiv 4", "%i floordiv 3, %i mod 3"),
            ("%i = 0 to 10", "%i = 0 to 9"),
            ("%i = 0 to 10", "%i = 1 to 10"),
        ],
    );
}

/// Pieces over `Time` are consecutive, elements of a word adjacent, and parts of an axis may be copies.
#[test]
fn parts_inside_of_a_place() {
    let layout = "memref<4x24xf32, #layout.tensor_layout<((2_PE:1, 2_W), (2:4, 3_Time, 4:1); B@[2_PE:2])>>";
    let lowered = "memref<4x2x2x3x4xf32, strided<[48, 1, 8, 16, 2]>>";
    let body = |to: &str| {
        format!(
            "affine.for %q = 0 to 2 {{
               affine.for %i = 0 to 4 {{
                 affine.for %j = 0 to 24 {{
                   %v = affine.load %x[%i, %j] : memref<4x24xf32>
                   affine.store %v, %y[{to}] : {lowered}
                 }}
               }}
             }}
             return"
        )
    };
    let right = "%q * 2 + %i floordiv 2, %i mod 2, %j floordiv 12, (%j floordiv 4) mod 3, %j mod 4";
    no_other(
        "layout.machine = #layout.machine<axes: (4_PE), memories: (), word: 64>",
        (
            &format!("(%x: memref<4x24xf32>, %y: {layout})"),
            &format!("memref.copy %x, %y : memref<4x24xf32> to {layout} return"),
        ),
        (&format!("(%x: memref<4x24xf32>, %y: {lowered})"), &body(right)),
        &[
            ("%q = 0 to 2", "%q = 0 to 1"),
            ("%q * 2 + %i floordiv 2", "%q + %i floordiv 2 * 2"),
            ("%i mod 2,", "1 - %i mod 2,"),
            ("%j floordiv 12, (%j floordiv 4) mod 3", "%j mod 2, (%j floordiv 8)"),
            ("(%j floordiv 4) mod 3", "2 - (%j floordiv 4) mod 3"),
        ],
    );
}

/// A result has one dimension for each axis, in the machine's order, all its places, and all their memory.
#[test]
fn results_have_the_places_of_the_machine() {
    let layout = "tensor<4x4xf32, #layout.tensor_layout<((2_L1B, 2:4), (4_PE))>>";
    let narrow = "tensor<4x4xf32, #layout.tensor_layout<((2_L1B, 2:1), (4_PE))>>";
    for (layout, sizes, is_right) in [
        (narrow, "2x4x2xf32", true),
        (narrow, "4x2x2xf32", false),
        (narrow, "2x4x2x1xf32", false),
        (narrow, "2x5x2xf32", false),
        (layout, "2x4x2xf32", false),
        (layout, "2x4x2xf32, strided<[20, 5, 4]>", true),
    ] {
        let row = if sizes.contains("strided") { 40 } else { 16 };
        let after = format!(
            "%m = memref.alloc() : memref<{row}xf32>
             affine.for %i = 0 to 4 {{
               affine.for %j = 0 to 4 {{
                 %v = affine.load %x[%i, %j] : memref<4x4xf32>
                 affine.store %v, %m[(%i floordiv 2) * {} + %j * {} + (%i mod 2) * {}] : memref<{row}xf32>
               }}
             }}
             %y = memref.reinterpret_cast %m to offset: [0], sizes: [{}], strides: [{}]
               : memref<{row}xf32> to memref<{sizes}>
             return %y : memref<{sizes}>",
            row / 2,
            row / 8,
            if row == 40 { 4 } else { 1 },
            sizes.split("xf32").next().expect("sizes").replace('x', ", "),
            match sizes {
                "2x4x2xf32" => "8, 2, 1",
                "4x2x2xf32" => "4, 2, 1",
                "2x4x2x1xf32" => "8, 2, 1, 1",
                "2x5x2xf32" => "10, 2, 1",
                _ => "20, 5, 4",
            },
        );
        let found = said(
            MACHINE,
            (
                &format!("(%x: tensor<4x4xf32>) -> {layout}"),
                &format!("%y = layout.convert %x : tensor<4x4xf32> to {layout} return %y : {layout}"),
            ),
            (&format!("(%x: memref<4x4xf32>) -> memref<{sizes}>"), &after),
        );
        assert!(found.iter().all(|all| all.is_empty() == is_right), "{found:?} of {sizes}");
    }
}

/// Merged dimensions count as one: element (i, j) of 3x5 has number 5 i + j. An element size equal to the type's
/// changes nothing.
#[test]
fn merged_dimensions_and_widths_of_elements() {
    for (layout, sizes, at, changes) in [
        (
            "1,0:T(*,4)",
            "4x4",
            "(%i * 5 + %j) floordiv 4, (%i * 5 + %j) mod 4",
            [("%i * 5", "%i * 4"), ("%i = 0", "%i = 1")],
        ),
        (
            "1,0:T(2,4)E(32)",
            "2x2x2x4",
            "%i floordiv 2, %j floordiv 4, %i mod 2, %j mod 4",
            [("%i mod 2", "1 - %i mod 2"), ("0 to 5", "0 to 4")],
        ),
    ] {
        let of = format!("memref<3x5xf32, #layout.tiled<{{{layout}}}>>");
        no_other(
            "",
            (
                &format!("(%x: memref<3x5xf32>, %y: {of})"),
                &format!("memref.copy %x, %y : memref<3x5xf32> to {of} return"),
            ),
            (
                &format!("(%x: memref<3x5xf32>, %y: memref<{sizes}xf32>)"),
                &format!(
                    "affine.for %i = 0 to 3 {{
                       affine.for %j = 0 to 5 {{
                         %v = affine.load %x[%i, %j] : memref<3x5xf32>
                         affine.store %v, %y[{at}] : memref<{sizes}xf32>
                       }}
                     }}
                     return"
                ),
            ),
            &changes,
        );
    }
}

/// Lowered arguments of dynamic sizes: leading dimensions carry the size of a dimension that is cut.
#[test]
fn sizes_of_lowered_arguments() {
    let of = "memref<?x6xf32, #layout.tiled<{1,0:T(2,4)}>>";
    let before =
        (format!("(%x: memref<?x6xf32>, %y: {of})"), format!("memref.copy %x, %y : memref<?x6xf32> to {of} return"));
    for (lowered, at) in [
        ("memref<?x?x2x2x4xf32, strided<[0, 16, 8, 4, 1]>>", "%c0, %p, %q, %r, %s"),
        ("memref<?x?x2x2x4xf32, strided<[0, 16, 4, 8, 1]>>", "%c0, %p, %r, %q, %s"),
    ] {
        let body = format!(
            "%c0 = arith.constant 0 : index
             %n = memref.dim %y, %c0 : {lowered}
             affine.for %i = 0 to %n {{
               affine.for %j = 0 to 6 {{
                 %p = affine.apply affine_map<(i) -> (i floordiv 2)>(%i)
                 %r = affine.apply affine_map<(i) -> (i mod 2)>(%i)
                 %q = affine.apply affine_map<(j) -> (j floordiv 4)>(%j)
                 %s = affine.apply affine_map<(j) -> (j mod 4)>(%j)
                 %v = affine.load %x[%i, %j] : memref<?x6xf32>
                 memref.store %v, %y[{at}] : {lowered}
               }}
             }}
             return"
        );
        let signature = format!("(%x: memref<?x6xf32>, %y: {lowered})");
        let found = |body: &str| said("", (&before.0, &before.1), (&signature, body));
        let tried = "not proved, but tried: for sizes 5x6 and 3x6 and 8x6 and 20x6 of argument 0";
        assert!(found(&body).iter().all(|all| all.len() == 1 && all[0].starts_with(tried)), "{:?}", found(&body));
        for (from, to) in [("0 to 6", "0 to 5"), ("i mod 2", "1 - i mod 2"), ("0 to %n", "4 to %n")] {
            let found = found(&body.replacen(from, to, 1));
            assert!(
                found.iter().all(|all| all.iter().any(|what| what.contains("of argument 1 is"))),
                "{found:?} of {to}"
            );
        }
    }
}

/// Packed elements are not whole elements of memory: each would take a byte.
#[test]
fn packed_elements_are_no_elements_of_memory() {
    let text = |place: &str| {
        (
            format!(
                "#t = #layout.tiled<{{0:E({place})}}>\nfunc.func @f(%x: tensor<8xi4, #t>) -> tensor<8xi4, #t> {{\nreturn %x : tensor<8xi4, #t>\n}}"
            ),
            "func.func @f(%x: memref<8xi4>) -> memref<8xi4> {
            %y = memref.alloc() : memref<8xi4>
            memref.copy %x, %y : memref<8xi4> to memref<8xi4>
            return %y : memref<8xi4>
          }",
        )
    };
    let found = |place: &str| compared(&text(place).0, text(place).1, NONE);
    assert_eq!(found("0"), Vec::<String>::new());
    ["4", "8"].iter().for_each(|place| assert!(!found(place).is_empty()));
}

/// `i mod 3` is less than 3, also where it is cut at 2 again.
#[test]
fn digits_of_digits_have_their_range() {
    for (rows, size) in [(3, 16), (3_000_000, 16_000_000)] {
        let of = format!("memref<{size}xf32>");
        let copied = |to: &str, more: &str| {
            format!(
                "func.func @f(%x: {of}, %y: {of}) {{
                   affine.for %i = 0 to {} {{
                     %a = affine.load %x[%i] : {of}
                     affine.store %a, %y[{to}] : {of}
                   }}
                   {more}
                   return
                 }}",
                rows * 3
            )
        };
        let place = "(%i floordiv 3) * 4 + %i mod 3";
        let again = format!("(({place}) floordiv 2) * 2 + ({place}) mod 2");
        let others = format!(
            "affine.for %q = 0 to {} {{
               %a = affine.load %x[%q * 3 + 3] : {of}
               affine.store %a, %y[%q * 4 + 3] : {of}
             }}",
            rows - 1
        );
        for [one, other] in [[place, &again], [&again, place], [&again, &again]] {
            super::same(&copied(one, ""), &copied(other, ""), super::NONE);
            super::not_same(&copied(one, ""), &copied(other, &others), super::NONE);
        }
    }
}

const SWIZZLED: &str = "memref<8x16xf32, #layout.swizzled<Sw<2,2,2> o {1,0}>>";

/// The text of a program that swizzles an address: bits 4 and 5 flip bits 2 and 3.
const SWIZZLE: &str = "%mask = arith.constant 48 : index
    %shift = arith.constant 2 : index
    %flipping = arith.andi %a, %mask : index
    %flipped = arith.shrui %flipping, %shift : index
    %place = arith.xori %a, %flipped : index";

#[test]
fn swizzled_elements() {
    no_other(
        "",
        (
            &format!("(%x: memref<8x16xf32>, %y: {SWIZZLED})"),
            &format!("memref.copy %x, %y : memref<8x16xf32> to {SWIZZLED} return"),
        ),
        (
            "(%x: memref<8x16xf32>, %y: memref<128xf32>)",
            &format!(
                "affine.for %i = 0 to 8 {{
                   affine.for %j = 0 to 16 {{
                     %v = affine.load %x[%i, %j] : memref<8x16xf32>
                     %a = affine.apply affine_map<(d0, d1) -> (d0 * 16 + d1)>(%i, %j)
                     {SWIZZLE}
                     memref.store %v, %y[%place] : memref<128xf32>
                   }}
                 }}
                 return"
            ),
        ),
        &[
            ("constant 48", "constant 16"),
            ("constant 48", "constant 96"),
            ("constant 2 ", "constant 1 "),
            ("constant 2 ", "constant 4 "),
            ("shrui", "shli"),
            ("xori", "ori"),
            ("xori", "addi"),
            ("xori %a", "xori %flipping"),
            ("%y[%place]", "%y[%a]"),
            ("%y[%place]", "%y[%flipped]"),
            ("d0 * 16 + d1", "d0 + d1 * 8"),
            ("%i = 0 to 8", "%i = 1 to 8"),
            ("%j = 0 to 16", "%j = 0 to 15"),
        ],
    );
}

#[test]
fn swizzled_runs() {
    no_other(
        "",
        (
            &format!("(%x: {SWIZZLED}, %y: memref<8x16xf32>)"),
            &format!("memref.copy %x, %y : {SWIZZLED} to memref<8x16xf32> return"),
        ),
        (
            "(%x: memref<128xf32>, %y: memref<8x16xf32>)",
            &format!(
                "affine.for %i = 0 to 8 {{
                   affine.for %j = 0 to 16 step 4 {{
                     %a = affine.apply affine_map<(d0, d1) -> (d0 * 16 + d1)>(%i, %j)
                     {SWIZZLE}
                     %v = vector.load %x[%place] : memref<128xf32>, vector<4xf32>
                     vector.store %v, %y[%i, %j] : memref<8x16xf32>, vector<4xf32>
                   }}
                 }}
                 return"
            ),
        ),
        &[
            ("constant 48", "constant 32"),
            ("%x[%place]", "%x[%a]"),
            ("d0 * 16 + d1)>", "d0 * 16 + d1 + 1)>"),
            ("vector.load %x[%place]", "vector.load %x[%flipped]"),
            ("%j = 0 to 16 step 4", "%j = 0 to 16 step 8"),
        ],
    );
}

/// Vectors that begin inside of a run, or are longer, are not in one.
#[test]
fn vectors_over_several_runs() {
    for (step, lanes, first) in [(8, 8, 0), (4, 4, 2)] {
        let after = format!(
            "affine.for %i = 0 to 8 {{
               affine.for %j = 0 to {} step {step} {{
                 %a = affine.apply affine_map<(d0, d1) -> (d0 * 16 + d1 + {first})>(%i, %j)
                 {SWIZZLE}
                 %v = vector.load %x[%place] : memref<128xf32>, vector<{lanes}xf32>
                 vector.store %v, %y[%i, %j] : memref<8x16xf32>, vector<{lanes}xf32>
               }}
             }}
             return",
            16 - 2 * first
        );
        let before = format!(
            "affine.for %i = 0 to 8 {{
               affine.for %j = 0 to {} {{
                 %v = affine.load %x[%i, %j + {first}] : {SWIZZLED}
                 affine.store %v, %y[%i, %j] : memref<8x16xf32>
               }}
             }}
             return",
            16 - 2 * first
        );
        let before = (format!("(%x: {SWIZZLED}, %y: memref<8x16xf32>)"), before);
        let after = ("(%x: memref<128xf32>, %y: memref<8x16xf32>)", after);
        let found = said("", (&before.0, &before.1), (after.0, &after.1));
        assert!(found.iter().all(|all| !all.is_empty()), "{found:?} of\n{}", after.1);
    }
}

/// A result is in whole blocks.
#[test]
fn swizzled_results() {
    let layout = "#layout.swizzled<Sw<2,2,2> o {1,0}>";
    let result = format!("tensor<5x16xf32, {layout}>");
    no_other(
        "",
        (
            &format!("(%x: tensor<5x16xf32>) -> {result}"),
            &format!("%y = layout.convert %x : tensor<5x16xf32> to {result} return %y : {result}"),
        ),
        (
            "(%x: memref<5x16xf32>) -> memref<128xf32>",
            &format!(
                "%y = memref.alloc() : memref<128xf32>
                 affine.for %i = 0 to 5 {{
                   affine.for %j = 0 to 16 {{
                     %v = affine.load %x[%i, %j] : memref<5x16xf32>
                     %a = affine.apply affine_map<(d0, d1) -> (d0 * 16 + d1)>(%i, %j)
                     {SWIZZLE}
                     memref.store %v, %y[%place] : memref<128xf32>
                   }}
                 }}
                 return %y : memref<128xf32>"
            ),
        ),
        &[("constant 48", "constant 16"), ("%i = 0 to 5", "%i = 0 to 4"), ("%y[%place]", "%y[%a]")],
    );
}
