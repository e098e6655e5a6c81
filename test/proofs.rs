//! Proofs for all data: pairs of functions, each an equivalent one that is proved and a wrong one that is not.
//!
//! Loops have more iterations than a run may take, so only a proof can show equivalence.

#[path = "proofs/arenas.rs"]
mod arenas;
#[path = "proofs/assertions.rs"]
mod assertions;
#[path = "proofs/callers.rs"]
mod callers;
#[path = "proofs/carried.rs"]
mod carried;
#[path = "proofs/constants.rs"]
mod constants;
#[path = "proofs/data_indices.rs"]
mod data_indices;
#[path = "proofs/executed.rs"]
mod executed;
#[path = "proofs/kernels.rs"]
mod kernels;
#[path = "proofs/lies.rs"]
mod lies;
#[path = "proofs/outside.rs"]
mod outside;
#[path = "proofs/pairs.rs"]
mod pairs;
#[path = "proofs/places.rs"]
mod places;
#[path = "proofs/promises.rs"]
mod promises;
#[path = "proofs/small.rs"]
mod small;
#[path = "proofs/steps.rs"]
mod steps;
#[path = "proofs/undefined.rs"]
mod undefined;
#[path = "proofs/unusual.rs"]
mod unusual;
#[path = "proofs/whiles.rs"]
mod whiles;
#[path = "proofs/whole.rs"]
mod whole;

use layout_verify::{Limits, Source};
use melior::{Context, dialect::DialectRegistry, ir::Module, utility};

const NONE: Limits = Limits {
    steps: Some(1 << 20),
    reassociate: false,
    contract: false,
    approximate: false,
    interfaces: false,
    arenas: false,
    spaces: false,
    obligations: false,
    exact_origins: false,
};
const REASSOCIATE: Limits = Limits { reassociate: true, ..NONE };
const CONTRACT: Limits = Limits { contract: true, ..NONE };

/// A module with `@f` of this text.
fn function(signature: &str, body: &str) -> String {
    format!(
        "func.func @f{signature} {{
          %c0 = arith.constant 0 : index
          %c1 = arith.constant 1 : index
          %c4 = arith.constant 4 : index
          %c8 = arith.constant 8 : index
          {body}
        }}"
    )
}

fn context() -> Context {
    let registry = DialectRegistry::new();
    utility::register_all_dialects(&registry);
    layout_dialect::register(&registry);
    layout_verify::read_resources_by(layout_dialect::resource_data);
    let context = Context::new_with_registry(&registry, false);
    context.load_all_available_dialects();
    context
}

/// The messages for `after` as a form of `before`; none if they are equivalent.
fn compared(before: &str, after: &str, limits: Limits) -> Vec<String> {
    let context = context();
    let read = |text: &str| Module::parse(&context, text).unwrap_or_else(|| panic!("no module:\n{text}"));
    let (before, after) = (read(before), read(after));
    let mut source = Source::new(before.as_operation(), limits);
    source.note(after.as_operation(), 1);
    let errors = source.check().into_iter().map(|(_, error)| error);
    errors.collect::<Vec<_>>().into_iter().chain(source.open()).map(|finding| finding.message).collect()
}

#[track_caller]
fn same(before: &str, after: &str, limits: Limits) {
    let found = compared(before, after, limits);
    assert!(found.is_empty(), "{found:?}\nof\n{before}\n{after}");
}

#[track_caller]
fn not_same(before: &str, after: &str, limits: Limits) {
    assert!(!compared(before, after, limits).is_empty(), "shown to be the same:\n{before}\n{after}");
}

/// Checks that `after` is equivalent, and wrong after each text replacement.
#[track_caller]
fn no_other(before: &str, after: &str, changes: &[(&str, &str)], limits: Limits) {
    same(before, after, limits);
    for (from, to) in changes {
        let changed = after.replacen(from, to, 1);
        assert_ne!(changed, after, "{from} is not in\n{after}");
        not_same(before, &changed, limits);
    }
}

/// The number of elements in these functions' sums.
const COUNT: i64 = 40_000_003;

/// `start` plus all elements in order.
fn in_order(op: &str, of: &str, start: &str) -> String {
    function(
        &format!("(%x: memref<{COUNT}x{of}>) -> {of}"),
        &format!(
            "%n = arith.constant {COUNT} : index
             %start = arith.constant {start} : {of}
             %all = scf.for %i = %c0 to %n step %c1 iter_args(%a = %start) -> ({of}) {{
               %v = memref.load %x[%i] : memref<{COUNT}x{of}>
               %s = {op} %a, %v : {of}
               scf.yield %s : {of}
             }}
             return %all : {of}"
        ),
    )
}

/// The same sum with two accumulators, both from the neutral `start`, and a tail.
fn in_two(op: &str, of: &str, start: &str) -> String {
    function(
        &format!("(%x: memref<{COUNT}x{of}>) -> {of}"),
        &format!(
            "%c2 = arith.constant 2 : index
             %n = arith.constant {COUNT} : index
             %most = arith.constant {} : index
             %start = arith.constant {start} : {of}
             %two:2 = scf.for %i = %c0 to %most step %c2 iter_args(%a = %start, %b = %start) -> ({of}, {of}) {{
               %j = arith.addi %i, %c1 : index
               %v = memref.load %x[%i] : memref<{COUNT}x{of}>
               %w = memref.load %x[%j] : memref<{COUNT}x{of}>
               %s = {op} %v, %a : {of}
               %t = {op} %b, %w : {of}
               scf.yield %s, %t : {of}, {of}
             }}
             %both = {op} %two#1, %two#0 : {of}
             %all = scf.for %i = %most to %n step %c1 iter_args(%a = %both) -> ({of}) {{
               %v = memref.load %x[%i] : memref<{COUNT}x{of}>
               %s = {op} %a, %v : {of}
               scf.yield %s : {of}
             }}
             return %all : {of}",
            COUNT - 1
        ),
    )
}

/// The same sum in the lanes of a vector, which are added at the end.
fn in_lanes(op: &str, of: &str, start: &str) -> String {
    function(
        &format!("(%x: memref<{COUNT}x{of}>) -> {of}"),
        &format!(
            "%n = arith.constant {COUNT} : index
             %most = arith.constant {} : index
             %start = arith.constant dense<{start}> : vector<4x{of}>
             %four = scf.for %i = %c0 to %most step %c4 iter_args(%a = %start) -> (vector<4x{of}>) {{
               %v = vector.load %x[%i] : memref<{COUNT}x{of}>, vector<4x{of}>
               %s = {op} %v, %a : vector<4x{of}>
               scf.yield %s : vector<4x{of}>
             }}
             %low = vector.shuffle %four, %four [0, 1] : vector<4x{of}>, vector<4x{of}>
             %high = vector.shuffle %four, %four [2, 3] : vector<4x{of}>, vector<4x{of}>
             %two = {op} %low, %high : vector<2x{of}>
             %even = vector.extract %two[0] : {of} from vector<2x{of}>
             %odd = vector.extract %two[1] : {of} from vector<2x{of}>
             %one = {op} %even, %odd : {of}
             %all = scf.for %i = %most to %n step %c1 iter_args(%a = %one) -> ({of}) {{
               %v = memref.load %x[%i] : memref<{COUNT}x{of}>
               %s = {op} %a, %v : {of}
               scf.yield %s : {of}
             }}
             return %all : {of}",
            COUNT / 4 * 4
        ),
    )
}

/// Commutative operations, with their neutral number and another one.
const ANY_ORDER: [(&str, &str, &str, &str); 6] = [
    ("arith.addi", "i32", "0", "1"),
    ("arith.muli", "i64", "1", "2"),
    ("arith.xori", "i8", "0", "1"),
    ("arith.minui", "i16", "-1", "5"),
    ("arith.maximumf", "f32", "0xFF800000", "0.0"),
    ("arith.minimumf", "bf16", "0x7F80", "0.0"),
];

#[test]
fn sums_come_in_any_order() {
    for (op, of, start, other) in ANY_ORDER {
        let before = in_order(op, of, start);
        no_other(
            &before,
            &in_two(op, of, start),
            &[
                ("iter_args(%a = %both)", "iter_args(%a = %two#0)"),
                ("%i = %c0 to %most", "%i = %c1 to %most"),
                ("%i = %c0 to %most", "%i = %c0 to %n"),
                ("%w = memref.load %x[%j]", "%w = memref.load %x[%i]"),
                (&format!("arith.constant {start}"), &format!("arith.constant {other}")),
                (&format!("{op} %v, %a"), &format!("{op} %v, %v")),
                (&format!("{op} %b, %w"), &format!("{op} %w, %a")),
            ],
            NONE,
        );
        no_other(
            &before,
            &in_lanes(op, of, start),
            &[
                ("[2, 3]", "[2, 1]"),
                ("%two[1]", "%two[0]"),
                ("dense<", &format!("dense<[{other}, {start}, {start}, {start}]> : vector<4x{of}> //")),
                ("iter_args(%a = %one)", "iter_args(%a = %odd)"),
            ],
            NONE,
        );
    }
}

#[test]
fn sums_of_floating_point_numbers_do_where_that_is_allowed() {
    let before = in_order("arith.addf", "f32", "0.0");
    for after in [in_two("arith.addf", "f32", "0.0"), in_lanes("arith.addf", "f32", "0.0")] {
        same(&before, &after, REASSOCIATE);
        not_same(&before, &after, NONE);
        not_same(&before, &after, CONTRACT);
        not_same(&before, &after.replacen("0.0", "1.0", 1), REASSOCIATE);
    }
}

/// The text of a sum with fast-math flags on each operation of floating-point numbers.
fn flagged(text: &str, flags: &str) -> String {
    let names = ["addf", "mulf", "maximumf", "minimumf", "maxnumf", "minnumf"];
    let lines = text.lines().map(|line| {
        let is_flagged = !flags.is_empty() && names.iter().any(|name| line.contains(&format!("arith.{name} ")));
        if let (true, Some((head, of))) = (is_flagged, line.rsplit_once(" : ")) {
            format!("{head} fastmath<{flags}> : {of}\n")
        } else {
            format!("{line}\n")
        }
    });
    lines.collect()
}

#[test]
fn flags_of_fast_math_are_those_of_the_program_or_of_an_option() {
    let (before, after) = (in_order("arith.addf", "f32", "0.0"), in_two("arith.addf", "f32", "0.0"));
    same(&flagged(&before, "reassoc"), &flagged(&after, "reassoc"), NONE);
    not_same(&before, &flagged(&after, "reassoc"), NONE);
    not_same(&flagged(&before, "reassoc"), &flagged(&after, "reassoc,nnan"), NONE);
    not_same(&flagged(&before, "reassoc"), &after, NONE);
    // A flag may be dropped, but not added.
    same(&flagged(&before, "nnan"), &before, NONE);
    not_same(&before, &flagged(&before, "nnan"), NONE);
    same(&before, &flagged(&before, "contract"), CONTRACT);
    not_same(&before, &flagged(&before, "contract"), NONE);
}

/// Operations with flags: the type, the neutral element, and numbers that are none with these flags.
const NEUTRAL: [(&str, &str, &str, &str, &[&str]); 14] = [
    ("arith.mulf", "reassoc", "f16", "1.0", &["0x3F80", "0.0"]),
    ("arith.mulf", "reassoc,nnan", "bf16", "1.0", &["0x3C00", "0.0"]),
    ("arith.mulf", "reassoc", "f8E4M3FN", "1.0", &["0x3C"]),
    ("arith.mulf", "reassoc", "f8E5M2", "1.0", &["0x38"]),
    ("arith.addf", "reassoc", "f8E4M3FNUZ", "0.0", &["0x80"]),
    ("arith.maximumf", "ninf", "f32", "0xFF7FFFFF", &["0xFF800000", "0xFF7FFFFE", "0x7F7FFFFF"]),
    ("arith.minimumf", "ninf", "bf16", "0x7F7F", &["0x7F80", "0x7F7E"]),
    ("arith.maximumf", "nnan", "f16", "0xFC00", &["0xFBFF", "0x7C00"]),
    ("arith.minimumf", "fast", "f64", "0x7FEFFFFFFFFFFFFF", &["0x7FF0000000000000"]),
    ("arith.maximumf", "", "f8E4M3FN", "0xFE", &["0xFF", "0xFD"]),
    ("arith.maxnumf", "reassoc", "f32", "0x7FC00000", &["0xFF800000", "0xFF7FFFFF"]),
    ("arith.minnumf", "nsz", "f16", "0xFE00", &["0x7C00"]),
    ("arith.maxnumf", "nsz,nnan", "f32", "0xFF800000", &["0x7FC00000", "0xFF7FFFFF"]),
    ("arith.minnumf", "fast", "bf16", "0x7F7F", &["0x7FC0", "0x7F80"]),
];

#[test]
fn neutral_elements_are_those_of_a_type_and_of_flags() {
    for (op, flags, of, start, others) in NEUTRAL {
        let before = flagged(&in_order(op, of, start), flags);
        for after in [in_two(op, of, start), in_lanes(op, of, start)] {
            same(&before, &flagged(&after, flags), NONE);
            for other in others {
                not_same(&before, &flagged(&after.replace(start, other), flags), NONE);
            }
        }
    }
}

/// A promise of an operation on its operands is one of the program before.
#[test]
fn a_promise_is_one_of_the_program_before() {
    let body = |text: &str, result: &str| {
        format!("func.func @f(%x: f32, %y: f32) -> f32 {{\n{text}\nreturn {result} : f32\n}}")
    };
    let largest = |of: &str, flags: &str| format!("%m = arith.maximumf {of} fastmath<{flags}> : f32");
    let with = |number: &str, text: &str| format!("%c = arith.constant {number} : f32\n{text}");
    let before = body("", "%x");
    same(&before, &body(&largest("%x, %x", "none"), "%m"), NONE);
    same(&before, &body(&with("0xFF800000", &largest("%x, %c", "none")), "%m"), NONE);
    not_same(&before, &body(&largest("%x, %x", "nnan"), "%m"), NONE);
    not_same(&before, &body(&with("0xFF800000", &largest("%x, %c", "nnan")), "%m"), NONE);
    not_same(&before, &body(&with("0xFF7FFFFF", &largest("%x, %c", "ninf")), "%m"), NONE);
    // An inner operation promises no more than it did.
    let two = |inner: &str, outer: &str| {
        let inner = largest("%x, %y", inner).replace("%m", "%i");
        body(&format!("{inner}\n{}", largest("%i, %x", outer)), "%m")
    };
    same(&two("ninf", "ninf"), &two("none", "none"), NONE);
    same(&two("nnan,ninf", "ninf"), &two("ninf", "none"), NONE);
    not_same(&two("none", "ninf"), &two("ninf", "ninf"), NONE);
    not_same(&two("ninf", "none"), &two("ninf", "ninf"), NONE);
}

/// A value whose text would be five times as long with each step is not written.
#[test]
fn long_terms_take_steps() {
    let step = |k: i64| {
        let last = k - 1;
        format!(
            "%top{k} = arith.maxsi %v{last}, %w : i32
             %low{k} = arith.minui %v{last}, %w : i32
             %bottom{k} = arith.maxui %v{last}, %w : i32
             %is_nan{k} = arith.cmpi ugt, %bottom{k}, %w : i32
             %has_sign{k} = arith.cmpi slt, %top{k}, %w : i32
             %number{k} = arith.select %has_sign{k}, %low{k}, %top{k} : i32
             %v{k} = arith.select %is_nan{k}, %bottom{k}, %number{k} : i32\n"
        )
    };
    let steps: String = (1..20).map(step).collect();
    let long = |text: &str| {
        let text =
            text.replace("%v = memref", "%v0 = memref").replace("%s = arith.xori %a, %v ", "%s = arith.xori %a, %v19 ");
        let text = text.replace("%s = arith.xori %v, %a ", "%s = arith.xori %a, %v19 ");
        let loads = "%v0 = memref.load %x[%i] : memref<40000003xi32>\n";
        text.replacen(loads, &format!("{loads}%w = arith.constant 7 : i32\n{steps}"), 1)
    };
    let before = long(&in_order("arith.xori", "i32", "0"));
    let found = compared(&before, &long(&in_order("arith.xori", "i32", "5")), NONE);
    assert!(found[0].contains("for all data: result 0: it takes more steps"), "{found:?}");
}

#[test]
fn a_product_and_a_sum_are_rounded_once_where_that_is_allowed() {
    let signature = format!("(%x: memref<{COUNT}xf32>, %y: memref<{COUNT}xf32>) -> f32");
    let sum = |step: &str| {
        let body = format!(
            "%n = arith.constant {COUNT} : index
             %start = arith.constant 1.0 : f32
             %all = scf.for %i = %c0 to %n step %c1 iter_args(%a = %start) -> (f32) {{
               %v = memref.load %x[%i] : memref<{COUNT}xf32>
               %w = memref.load %y[%i] : memref<{COUNT}xf32>
               {step}
               scf.yield %s : f32
             }}
             return %all : f32"
        );
        function(&signature, &body)
    };
    let before = sum("%p = arith.mulf %v, %w : f32\n%s = arith.addf %p, %a : f32");
    let after = sum("%s = math.fma %v, %w, %a : f32");
    same(&before, &after, CONTRACT);
    not_same(&before, &after, NONE);
    not_same(&before, &sum("%s = math.fma %v, %v, %a : f32"), CONTRACT);
    not_same(&before, &sum("%s = math.fma %v, %a, %w : f32"), CONTRACT);
}

/// A copy of a 6400 x 9000 array into tiles of 8 x 128, as a tensor and as a memref of these sizes and strides.
fn tiled(sizes: &str, strides: &str, index: &str) -> [String; 2] {
    let tensor = "tensor<6400x9000xf32, #layout.tiled<{1,0:T(8,128)}>>";
    let (memref, plain) = (format!("memref<{sizes}xf32, strided<[{strides}]>>"), "memref<6400x9000xf32>");
    let before = format!("(%x: tensor<6400x9000xf32>) -> {tensor}");
    let convert = format!("%y = layout.convert %x : tensor<6400x9000xf32> to {tensor}\nreturn %y : {tensor}");
    let body = format!(
        "%rows = arith.constant 800 : index
         %columns = arith.constant 71 : index
         %c128 = arith.constant 128 : index
         %n = arith.constant 9000 : index
         %y = memref.alloc() : {memref}
         scf.for %i = %c0 to %rows step %c1 {{
           scf.for %j = %c0 to %columns step %c1 {{
             scf.for %p = %c0 to %c8 step %c1 {{
               scf.for %q = %c0 to %c128 step %c1 {{
                 %row = affine.apply affine_map<(i, p) -> (8 * i + p)>(%i, %p)
                 %column = affine.apply affine_map<(j, q) -> (128 * j + q)>(%j, %q)
                 %is = arith.cmpi slt, %column, %n : index
                 scf.if %is {{
                   %v = memref.load %x[%row, %column] : {plain}
                   memref.store %v, %y[{index}] : {memref}
                 }}
               }}
             }}
           }}
         }}
         return %y : {memref}"
    );
    [function(&before, &convert), function(&format!("(%x: {plain}) -> {memref}"), &body)]
}

#[test]
fn lowered_results_have_the_strides_of_their_layouts() {
    for (sizes, strides, index) in [
        ("800x8x71x128", "72704, 128, 1024, 1", "%i, %p, %j, %q"),
        ("800x71x8x128", "72704, 1024, 128, 1", "%i, %j, %p, %q"),
    ] {
        let [before, after] = tiled(sizes, strides, index);
        same(&before, &after, NONE);
    }
    // Elements are in the right places, but the memref type differs.
    for (sizes, strides, index) in [
        ("800x71x128x8", "72704, 1024, 1, 128", "%i, %j, %q, %p"),
        ("71x800x8x128", "1024, 72704, 128, 1", "%j, %i, %p, %q"),
        ("800x71x8x128", "72704, 1024, 1, 8", "%i, %j, %p, %q"),
    ] {
        let [before, after] = tiled(sizes, strides, index);
        not_same(&before, &after, NONE);
    }
}

/// The maximum or minimum of all elements, computed on integers; `infinity` is the number beyond which NaN lies.
fn as_integers(largest: bool, infinity: &str) -> String {
    let (outer, inner) = match largest {
        true => (("ugt", 2, 2), (0, 1, 0)),
        false => (("sgt", 0, 0), (2, 2, 1)),
    };
    let ((predicate, a, b), (c, d, e)) = (outer, inner);
    let body = format!(
        "%n = arith.constant {COUNT} : index
         %zero = arith.constant 0 : i32
         %infinity = arith.constant {infinity} : f32
         %start = arith.bitcast %infinity : f32 to i32
         %all:3 = scf.for %i = %c0 to %n step %c1 iter_args(%t = %start, %l = %start, %b = %start) -> (i32, i32, i32) {{
           %f = memref.load %x[%i] : memref<{COUNT}xf32>
           %v = arith.bitcast %f : f32 to i32
           %top = arith.maxsi %v, %t : i32
           %low = arith.minui %v, %l : i32
           %bottom = arith.maxui %v, %b : i32
           scf.yield %top, %low, %bottom : i32, i32, i32
         }}
         %outer = arith.cmpi {predicate}, %all#{a}, %start : i32
         %inner = arith.cmpi slt, %all#{c}, %zero : i32
         %else = arith.select %inner, %all#{d}, %all#{e} : i32
         %bits = arith.select %outer, %all#{b}, %else : i32
         %result = arith.bitcast %bits : i32 to f32
         return %result : f32"
    );
    function(&format!("(%x: memref<{COUNT}xf32>) -> f32"), &body)
}

#[test]
fn the_largest_and_least_numbers_are_found_as_integers() {
    for (op, start, largest) in [("arith.maximumf", "0xFF800000", true), ("arith.minimumf", "0x7F800000", false)] {
        let (before, after) = (in_order(op, "f32", start), as_integers(largest, start));
        let predicate = if largest { "ugt" } else { "sgt" };
        no_other(
            &before,
            &after,
            &[
                (predicate, "sge"),
                ("slt", "sle"),
                ("0 : i32", "1 : i32"),
                (start, "0.0"),
                ("arith.maxui %v, %b", "arith.maxsi %v, %b"),
                ("arith.maxui %v, %b", "arith.maxui %v, %v"),
                ("arith.minui", "arith.minsi"),
                ("%v, %t", "%t, %t"),
                (if largest { "%inner, %all#1" } else { "%inner, %all#2" }, "%inner, %all#0"),
                ("%i = %c0", "%i = %c1"),
            ],
            NONE,
        );
        not_same(&before, &as_integers(!largest, start), NONE);
    }
}

/// Where no number is infinite, NaN lies beyond the largest finite one.
#[test]
fn finite_numbers_are_found_as_integers_where_the_program_promises_them() {
    for (op, end, infinity, largest) in
        [("arith.maximumf", "0xFF7FFFFF", "0xFF800000", true), ("arith.minimumf", "0x7F7FFFFF", "0x7F800000", false)]
    {
        let before = in_order(op, "f32", end);
        for flags in ["ninf", "nnan,ninf", "fast"] {
            same(&flagged(&before, flags), &as_integers(largest, end), NONE);
            same(&flagged(&before, flags), &as_integers(largest, infinity), NONE);
            not_same(&flagged(&before, flags), &as_integers(!largest, end), NONE);
            not_same(&flagged(&before, flags), &as_integers(largest, &end.replace("FFF", "FFE")), NONE);
        }
        for flags in ["", "nnan", "reassoc,nsz"] {
            not_same(&flagged(&before, flags), &as_integers(largest, end), NONE);
        }
    }
}

/// The type decides where a result lies: from the start of its buffer, in row-major order without a layout, and with a
/// layout in as much memory as that takes.
#[test]
fn results_lie_where_their_types_say() {
    let before =
        "func.func @f(%x: tensor<4000x9000xf32>) -> tensor<4000x9000xf32> { return %x : tensor<4000x9000xf32> }";
    let after = |buffer: &str, of: &str| {
        format!(
            "func.func @f(%x: memref<4000x9000xf32>) -> memref<4000x9000xf32{of}> {{
               {buffer}
               memref.copy %x, %a : memref<4000x9000xf32> to memref<4000x9000xf32{of}>
               return %a : memref<4000x9000xf32{of}>
             }}"
        )
    };
    same(before, &after("%a = memref.alloc() : memref<4000x9000xf32>", ""), NONE);
    let columns = ", strided<[1, 4000]>";
    not_same(before, &after(&format!("%a = memref.alloc() : memref<4000x9000xf32{columns}>"), columns), NONE);
    let later = ", strided<[9000, 1], offset: 9000>";
    let buffer = format!(
        "%b = memref.alloc() : memref<4001x9000xf32>
         %a = memref.subview %b[1, 0] [4000, 9000] [1, 1] : memref<4001x9000xf32> to memref<4000x9000xf32{later}>"
    );
    not_same(before, &after(&buffer, later), NONE);
}

/// Four bytes of an arena hold an element of 32 bits, not one of 24.
#[test]
fn elements_of_arenas_have_their_bits() {
    let before = "func.func @f(%x: i32) -> i32 { return %x : i32 }";
    let after = |of: &str, rest: &str| {
        format!(
            "func.func @f(%x: i32) -> i32 {{
               %c0 = arith.constant 0 : index
               %a = memref.alloc() : memref<16xi8>
               %v = memref.view %a[%c0][] : memref<16xi8> to memref<4xi32>
               %w = memref.view %a[%c0][] : memref<16xi8> to memref<4x{of}>
               memref.store %x, %v[%c0] : memref<4xi32>
               %b = memref.load %w[%c0] : memref<4x{of}>
               memref.dealloc %a : memref<16xi8>
               {rest}
             }}"
        )
    };
    same(before, &after("i32", "return %b : i32"), NONE);
    not_same(before, &after("i24", "%r = arith.extui %b : i24 to i32 return %r : i32"), NONE);
}

/// One in another type is not a neutral factor.
#[test]
fn one_is_a_number_of_its_type() {
    let before = |one: &str, of: &str| {
        format!(
            "func.func @f(%x: {of}) -> {of} {{
               %c = arith.constant {one} : {of}
               %y = arith.mulf %x, %c : {of}
               return %y : {of}
             }}"
        )
    };
    let after = |of: &str| format!("func.func @f(%x: {of}) -> {of} {{ return %x : {of} }}");
    let small =
        [("0x3C00", "f16"), ("0x3F80", "bf16"), ("0x3C", "f8E5M2"), ("0x38", "f8E4M3FN"), ("0x40", "f8E4M3FNUZ")];
    for (one, of) in [("0x3F800000", "f32"), ("0x3FF0000000000000", "f64")].into_iter().chain(small) {
        same(&before(one, of), &after(of), NONE);
    }
    let small =
        [("0x3F80", "f16"), ("0x3C00", "bf16"), ("0x38", "f8E5M2"), ("0x3C", "f8E4M3FN"), ("0x38", "f8E4M3FNUZ")];
    let wide = [("0x00003C00", "f32"), ("0x00003F80", "f32"), ("0x000000003F800000", "f64")];
    for (other, of) in wide.into_iter().chain(small) {
        not_same(&before(other, of), &after(of), NONE);
    }
}

/// The assumption of [`the_largest_and_least_numbers_are_found_as_integers`], for all sets of up to three numbers of a
/// format with a sign, two bits of exponent and one of mantissa.
#[test]
fn the_rule_for_integers_holds_for_a_small_format() {
    const SIGN: u8 = 8;
    const INFINITY: u8 = 6;
    let is_nan = |bits: u8| bits & 7 > INFINITY;
    let value = |bits: u8| if bits & SIGN == 0 { i32::from(bits & 7) + 1 } else { -1 - i32::from(bits & 7) };
    let signed = |bits: u8| i32::from(bits) - if bits & SIGN == 0 { 0 } else { 16 };
    for set in (0..16u8).flat_map(|a| (0..16u8).flat_map(move |b| (0..16u8).map(move |c| [a, b, c]))) {
        let top = set.into_iter().max_by_key(|bits| signed(*bits)).expect("three");
        let (low, bottom) = (*set.iter().min().expect("three"), *set.iter().max().expect("three"));
        let largest = match bottom > (SIGN | INFINITY) {
            true => bottom,
            false if signed(top) < 0 => low,
            false => top,
        };
        let least = match signed(top) > signed(INFINITY) {
            true => top,
            false if signed(bottom) < 0 => bottom,
            false => low,
        };
        if set.iter().any(|bits| is_nan(*bits)) {
            assert!(is_nan(largest) && is_nan(least), "{set:?}");
        } else {
            assert_eq!(Some(value(largest)), set.map(value).into_iter().max(), "{set:?}");
            assert_eq!(Some(value(least)), set.map(value).into_iter().min(), "{set:?}");
        }
    }
}

/// In a sequence of passes' forms the last one counts; if it is not proved, the first wrong one is the error.
#[test]
fn an_error_is_of_the_first_form_that_has_it() {
    let text = |first: &str, last: &str| {
        function(
            "(%x: memref<8xf32>, %y: memref<8xf32>)",
            &format!(
                "scf.for %i = %c0 to %c8 step %c1 {{
                   %v = memref.load %x[%{first}] : memref<8xf32>
                   memref.store %v, %y[%i] : memref<8xf32>
                 }}
                 {last}"
            ),
        )
    };
    let (right, other) = (text("i", "return"), text("i", "cf.br ^end\n^end:\nreturn"));
    let (wrong, unknown) =
        (text("c4", "return"), text("i", "%z = memref.realloc %x : memref<8xf32> to memref<9xf32>\nreturn"));
    let found = |forms: &[&str]| {
        let context = context();
        let read = |text: &str| Module::parse(&context, text).unwrap_or_else(|| panic!("no module:\n{text}"));
        let mut source = Source::new(read(&right).as_operation(), NONE);
        for (form, number) in forms.iter().zip(1..) {
            source.note(read(form).as_operation(), number);
        }
        let errors = source.check();
        (errors.into_iter().map(|(number, _)| number).collect::<Vec<_>>(), source.open().len())
    };
    assert_eq!(found(&[&right, &other]), (vec![], 0));
    assert_eq!(found(&[&wrong, &other]), (vec![], 0));
    assert_eq!(found(&[&other, &wrong]), (vec![2], 0));
    assert_eq!(found(&[&other, &wrong, &text("c1", "return")]), (vec![2], 0));
    // A form without a model hides no earlier result.
    assert_eq!(found(&[&other, &unknown]), (vec![], 1));
    assert_eq!(found(&[&wrong, &unknown]), (vec![1], 0));
}
