//! Programs of several functions and of many steps, each of which reads the previous results.

use super::{COUNT, NONE, REASSOCIATE, function, no_other, not_same, same};
use layout_verify::Limits;

/// The size of each dimension.
const SIZE: i64 = 6007;

/// A function that calls another one, and the callee.
fn called(times: usize, callee: &str, call: &str) -> String {
    let calls: String =
        (1..=times).map(|k| call.replace("NEW", &format!("%x{k}")).replace("OLD", &format!("%x{}", k - 1))).collect();
    format!("func.func @f(%x0: f32) -> f32 {{\n{calls}\nreturn %x{times} : f32\n}}\n{callee}")
}

#[test]
fn calls_are_what_they_call() {
    let double = "func.func private @g(%x: f32) -> f32 { %y = arith.addf %x, %x : f32 return %y : f32 }";
    let before = called(3, double, "NEW = func.call @g(OLD) : (f32) -> f32\n");
    let after = called(3, double, "NEW = arith.addf OLD, OLD : f32\n");
    let changes = [("arith.addf %x1, %x1", "arith.mulf %x1, %x1"), ("arith.addf %x2, %x2", "arith.addf %x2, %x1")];
    no_other(&before, &after, &changes, NONE);
    // Endless recursion.
    let endless = "func.func private @g(%x: f32) -> f32 { %y = func.call @g(%x) : (f32) -> f32 return %y : f32 }";
    let before = called(1, endless, "NEW = func.call @g(OLD) : (f32) -> f32\n");
    super::not_same(&before, &called(1, endless, "NEW = arith.addf OLD, OLD : f32\n"), NONE);
}

/// Steps that each add the previous result and its transpose: the last one reads the argument in `2^steps` ways.
fn transposed(steps: usize, is_lowered: bool) -> String {
    let (of, mut text) = (format!("{SIZE}x{SIZE}xf32"), String::new());
    let kind = if is_lowered { "memref" } else { "tensor" };
    for k in 1..=steps {
        let (last, empty) = (k - 1, if is_lowered { "memref.alloc" } else { "tensor.empty" });
        let maps = "affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i, j)>";
        let result = if is_lowered { String::new() } else { format!("%x{k} = ") };
        let (out, to) =
            if is_lowered { (format!("%x{k}"), String::new()) } else { (format!("%e{k}"), format!("-> {kind}<{of}>")) };
        text += &format!(
            "{out} = {empty}() : {kind}<{of}>
             {result}linalg.generic {{indexing_maps = [{maps}], iterator_types = [\"parallel\", \"parallel\"]}}
               ins(%x{last}, %x{last} : {kind}<{of}>, {kind}<{of}>) outs({out} : {kind}<{of}>) {{
             ^bb0(%a{k}: f32, %b{k}: f32, %c{k}: f32):
               %d{k} = arith.addf %a{k}, %b{k} : f32
               linalg.yield %d{k} : f32
             }} {to}\n"
        );
    }
    format!("func.func @f(%x0: {kind}<{of}>) -> {kind}<{of}> {{\n{text}\nreturn %x{steps} : {kind}<{of}>\n}}")
}

#[test]
fn what_many_steps_read_is_shown_once() {
    let changes = [
        ("%d9 = arith.addf %a9, %b9", "%d9 = arith.addf %b9, %b9"),
        ("%d1 = arith.addf %a1, %b1", "%d1 = arith.subf %a1, %b1"),
        ("ins(%x20, %x20", "ins(%x20, %x19"),
    ];
    no_other(&transposed(40, false), &transposed(40, true), &changes, NONE);
}

/// Booleans that are computed, stored and loaded.
fn kept(store: &str, load: &str) -> String {
    function(
        &format!("(%x: memref<{SIZE}xf32>, %y: memref<{SIZE}xf32>, %other: memref<{SIZE}xi8>)"),
        &format!(
            "%n = arith.constant {SIZE} : index
             %zero = arith.constant 0 : i8
             %b = memref.alloc() : memref<{SIZE}xi1>
             %bytes = builtin.unrealized_conversion_cast %b : memref<{SIZE}xi1> to memref<{SIZE}xi8>
             scf.for %i = %c0 to %n step %c1 {{
               %v = memref.load %x[%i] : memref<{SIZE}xf32>
               %w = memref.load %y[%i] : memref<{SIZE}xf32>
               %is = arith.cmpf olt, %v, %w : f32
               {store}
             }}
             scf.for %i = %c0 to %n step %c1 {{
               %v = memref.load %x[%i] : memref<{SIZE}xf32>
               %w = memref.load %y[%i] : memref<{SIZE}xf32>
               {load}
               %s = arith.select %is, %w, %v : f32
               %t = arith.addf %s, %v : f32
               memref.store %t, %y[%i] : memref<{SIZE}xf32>
             }}
             memref.dealloc %b : memref<{SIZE}xi1>
             return"
        ),
    )
}

#[test]
fn booleans_are_bytes_of_0_and_1() {
    let before = kept(
        &format!("memref.store %is, %b[%i] : memref<{SIZE}xi1>"),
        &format!("%is = memref.load %b[%i] : memref<{SIZE}xi1>"),
    );
    let store = format!("%byte = arith.extui %is : i1 to i8\nmemref.store %byte, %bytes[%i] : memref<{SIZE}xi8>");
    let load = format!("%byte = memref.load %bytes[%i] : memref<{SIZE}xi8>\n%is = arith.cmpi ne, %byte, %zero : i8");
    let changes = [
        ("arith.cmpi ne", "arith.cmpi eq"),
        ("0 : i8", "1 : i8"),
        ("arith.extui", "arith.extsi"),
        ("%byte = arith.extui %is : i1 to i8", "%byte = memref.load %other[%i] : memref<6007xi8>"),
    ];
    no_other(&before, &kept(&store, &load), &changes, NONE);
}

/// A result computed from each row's sum, which is added in order.
fn of_sums(arguments: &str, of: &str, made: &str) -> String {
    function(
        &format!("(%x: memref<{SIZE}x{SIZE}xf32>, %r: memref<{SIZE}x{of}>, {arguments})"),
        &format!(
            "%n = arith.constant {SIZE} : index
             %start = arith.constant 0.0 : f32
             scf.for %i = %c0 to %n step %c1 {{
               %sum = scf.for %j = %c0 to %n step %c1 iter_args(%a = %start) -> (f32) {{
                 %v = memref.load %x[%i, %j] : memref<{SIZE}x{SIZE}xf32>
                 %s = arith.addf %a, %v : f32
                 scf.yield %s : f32
               }}
               {made}
               memref.store %made, %r[%i] : memref<{SIZE}x{of}>
             }}
             return"
        ),
    )
}

#[test]
fn rounding_to_bf16_is_found_as_integers() {
    let before = of_sums("%q: f32", "bf16", "%made = arith.truncf %sum : f32 to bf16");
    let after = of_sums(
        "%q: f32",
        "bf16",
        "%k1 = arith.constant 1 : i32
         %k16 = arith.constant 16 : i32
         %half = arith.constant 32767 : i32
         %quiet = arith.constant 4194304 : i32
         %bits = arith.bitcast %sum : f32 to i32
         %high = arith.shrui %bits, %k16 : i32
         %odd = arith.andi %high, %k1 : i32
         %more = arith.addi %bits, %half : i32
         %even = arith.addi %more, %odd : i32
         %is = arith.cmpf uno, %sum, %sum : f32
         %nan = arith.ori %bits, %quiet : i32
         %all = arith.select %is, %nan, %even : i32
         %upper = arith.shrui %all, %k16 : i32
         %short = arith.trunci %upper : i32 to i16
         %made = arith.bitcast %short : i16 to bf16",
    );
    let changes = [
        ("32767", "32768"),
        ("4194304", "16384"),
        ("%k16 = arith.constant 16", "%k16 = arith.constant 15"),
        ("arith.andi %high", "arith.andi %bits"),
        ("uno, %sum, %sum", "uno, %sum, %q"),
        ("%is, %nan, %even", "%is, %even, %nan"),
        ("%is, %nan, %even", "%is, %nan, %more"),
        ("arith.addi %bits, %half :", "arith.addi %bits, %half overflow<nuw> :"),
    ];
    no_other(&before, &after, &changes, NONE);
}

#[test]
fn the_larger_of_two_is_found_as_integers() {
    let before = of_sums("%q: f32", "f32", "%made = arith.maximumf %sum, %q : f32");
    let after = of_sums(
        "%q: f32",
        "f32",
        "%zero = arith.constant 0 : i32
         %infinity = arith.constant 0xff800000 : i32
         %a = arith.bitcast %sum : f32 to i32
         %b = arith.bitcast %q : f32 to i32
         %top = arith.maxsi %b, %a : i32
         %low = arith.minui %a, %b : i32
         %bottom = arith.maxui %a, %b : i32
         %below = arith.cmpi slt, %top, %zero : i32
         %number = arith.select %below, %low, %top : i32
         %is = arith.cmpi ugt, %bottom, %infinity : i32
         %made_bits = arith.select %is, %bottom, %number : i32
         %made = arith.bitcast %made_bits : i32 to f32",
    );
    let changes = [
        ("arith.maxsi %b, %a", "arith.maxui %b, %a"),
        ("arith.minui %a, %b", "arith.minui %a, %a"),
        ("0xff800000", "0x7f800000"),
        ("cmpi slt", "cmpi sgt"),
        ("cmpi ugt", "cmpi uge"),
        ("%is, %bottom, %number", "%is, %number, %bottom"),
        ("bitcast %q", "bitcast %start"),
    ];
    no_other(&before, &after, &changes, NONE);
}

/// Iterations of a loop at a place that is cut into digits of another number than theirs.
#[test]
fn stores_at_digits_of_a_sum() {
    let of = |first: i64, end: i64, place: &str| {
        format!(
            "func.func @f(%x: memref<{COUNT}xf32>, %y: memref<{}xf32>) {{
               %zero = arith.constant 0.0 : f32
               affine.for %i = 0 to {} {{ affine.store %zero, %y[%i] : memref<{0}xf32> }}
               affine.for %i = {first} to {end} {{
                 %a = affine.load %x[%i] : memref<{COUNT}xf32>
                 affine.store %a, %y[{place}] : memref<{0}xf32>
               }}
               return
             }}",
            COUNT + 77,
            COUNT + 77,
        )
    };
    for (shift, size) in [(1, 8), (3, 8), (11, 8), (7, 16), (63, 64)] {
        let digits = |shift: i64, other: i64, size: i64, factor: i64| {
            format!("((%i + {shift}) floordiv {size}) * {factor} + (%i + {other}) mod {size}")
        };
        let plain = of(0, COUNT, &format!("%i + {shift}"));
        let right = digits(shift, shift, size, size);
        same(&plain, &of(0, COUNT, &right), NONE);
        for (first, end, place) in [
            (1, COUNT, &right),
            (0, COUNT - 1, &right),
            (0, COUNT, &digits(shift - 1, shift, size, size)),
            (0, COUNT, &digits(shift, shift - 1, size, size)),
            (0, COUNT, &digits(shift + 1, shift + 1, size, size)),
            (0, COUNT, &digits(shift, shift, size, size - 1)),
        ] {
            not_same(&plain, &of(first, end, place), NONE);
        }
    }
}

/// A number that is converted is the number that it becomes, if there is one.
#[test]
fn numbers_of_other_types() {
    let cast = |name: &str, from: &str, number: i64, to: &str| {
        function(
            &format!("() -> {to}"),
            &format!("%a = arith.constant {number} : {from}\n%b = arith.{name} %a : {from} to {to}\nreturn %b : {to}"),
        )
    };
    let constant = |number: &str, to: &str| {
        function(&format!("() -> {to}"), &format!("%b = arith.constant {number} : {to}\nreturn %b : {to}"))
    };
    for (name, from, number, to, right, wrong) in [
        ("sitofp", "i32", 0, "f32", "0.0", "-0.0"),
        ("sitofp", "i8", -1, "f32", "-1.0", "255.0"),
        ("uitofp", "i8", -1, "f32", "255.0", "-1.0"),
        ("sitofp", "i64", 16_777_216, "f32", "16777216.0", "16777218.0"),
        ("uitofp", "i1", 1, "f64", "1.0", "-1.0"),
        ("extsi", "i8", -1, "i32", "-1", "255"),
        ("extui", "i8", -1, "i32", "255", "-1"),
        ("trunci", "i32", 511, "i8", "-1", "127"),
    ] {
        same(&cast(name, from, number, to), &constant(right, to), NONE);
        not_same(&cast(name, from, number, to), &constant(wrong, to), NONE);
    }
}

/// `c[m, n]` is the sum of `a[m, k] b[n, k]`, for blocks of 16 rows of `a` and of `b`, which are transposed first.
fn product(is_lowered: bool) -> String {
    let rows = 16 * SIZE;
    let (of, blocks) = (format!("memref<{rows}x16xf32>"), format!("memref<{SIZE}x16x16xf32>"));
    let body = if is_lowered {
        let each = |of: &dyn Fn(usize) -> String| (0..16).map(of).collect::<Vec<_>>();
        let packed = |from: &str, to: &str| {
            let loads = each(&|i| {
                format!(
                    "%k{i} = affine.apply affine_map<(d0) -> (d0 * 16 + {i})>(%t)
                     %r{i} = vector.load %{from}[%k{i}, %c0] : {of}, vector<16xf32>\n"
                )
            });
            let columns = each(&|j| {
                let all = each(&|i| format!("%e{i}_{j}"));
                let lanes = each(&|i| format!("{} = vector.extract %r{i}[{j}] : f32 from vector<16xf32>\n", all[i]));
                let (lanes, all) = (lanes.concat(), all.join(", "));
                format!(
                    "{lanes}%v{j} = vector.from_elements {all} : vector<16xf32>
                     %j{j} = arith.constant {j} : index
                     vector.store %v{j}, %{to}[%t, %j{j}, %c0] : {blocks}, vector<16xf32>\n"
                )
            });
            let (loads, columns) = (loads.concat(), columns.concat());
            format!("%{to} = memref.alloc() : {blocks}\nscf.for %t = %c0 to %n step %c1 {{\n{loads}{columns}}}\n")
        };
        format!(
            "%zeros = arith.constant dense<0.0> : vector<16xf32>
             {}{}
             scf.for %s = %c0 to %n step %c1 {{
               scf.for %t = %c0 to %n step %c1 {{
                 scf.for %u = %c0 to %c16 step %c1 {{
                   %sum = scf.for %k = %c0 to %c16 step %c1 iter_args(%acc = %zeros) -> (vector<16xf32>) {{
                     %x = memref.load %p[%s, %k, %u] : {blocks}
                     %y = vector.load %q[%t, %k, %c0] : {blocks}, vector<16xf32>
                     %z = vector.broadcast %x : f32 to vector<16xf32>
                     %m = arith.mulf %z, %y : vector<16xf32>
                     %next = arith.addf %acc, %m : vector<16xf32>
                     scf.yield %next : vector<16xf32>
                   }}
                   %row = affine.apply affine_map<(d0, d1) -> (d0 * 16 + d1)>(%s, %u)
                   %column = affine.apply affine_map<(d0) -> (d0 * 16)>(%t)
                   vector.store %sum, %c[%row, %column] : memref<{rows}x{rows}xf32>, vector<16xf32>
                 }}
               }}
             }}",
            packed("a", "p"),
            packed("b", "q")
        )
    } else {
        let maps = "affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>";
        format!(
            "linalg.fill ins(%zero : f32) outs(%c : memref<{rows}x{rows}xf32>)
             linalg.generic {{indexing_maps = [{maps}], iterator_types = [\"parallel\", \"parallel\", \"reduction\"]}}
               ins(%a, %b : {of}, {of}) outs(%c : memref<{rows}x{rows}xf32>) {{
             ^bb0(%x: f32, %y: f32, %acc: f32):
               %m = arith.mulf %x, %y : f32
               %next = arith.addf %acc, %m : f32
               linalg.yield %next : f32
             }}"
        )
    };
    function(
        &format!("(%a: {of}, %b: {of}, %c: memref<{rows}x{rows}xf32>)"),
        &format!(
            "%n = arith.constant {SIZE} : index
             %c16 = arith.constant 16 : index
             %zero = arith.constant 0.0 : f32
             {body}
             return"
        ),
    )
}

/// Packing of both operands takes no case for each element of a block and of the other block.
#[test]
fn products_of_two_transposes() {
    let changes = [
        ("%e3_5, %e4_5", "%e4_5, %e3_5"),
        ("vector.extract %r7[9]", "vector.extract %r7[8]"),
        ("%p[%s, %k, %u]", "%p[%s, %u, %k]"),
        ("%p[%s, %k, %u]", "%p[%t, %k, %u]"),
        ("%q[%t, %k, %c0]", "%q[%s, %k, %c0]"),
        ("%k = %c0 to %c16", "%k = %c1 to %c16"),
        ("store %v3, %p[%t, %j3,", "store %v3, %p[%t, %j2,"),
    ];
    let limits = Limits { steps: Some(1 << 19), ..REASSOCIATE };
    no_other(&product(false), &product(true), &changes, limits);
}
