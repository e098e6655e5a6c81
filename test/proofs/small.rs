//! Small pairs of functions, each compared by a proof, and again with a branch between blocks, by running.

use super::{NONE, compared};

/// A module with `@f` of this body; a branch prevents a proof.
pub fn function(signature: &str, body: &str, has_branch: bool) -> String {
    let (head, last) = body.rsplit_once("return").expect("a return");
    let branch = if has_branch { "cf.br ^end\n^end:" } else { "" };
    format!(
        "memref.global \"private\" constant @ones : memref<4xi32> = dense<1>
         func.func @f{signature} {{
           %c0 = arith.constant 0 : index
           %c1 = arith.constant 1 : index
           %c4 = arith.constant 4 : index
           {head}
           {branch}
           return{last}
         }}"
    )
}

/// The messages for `after` as a form of `before`, with a proof possible and without.
pub fn said(before: (&str, &str), after: (&str, &str)) -> [Vec<String>; 2] {
    [false, true].map(|has_branch| {
        let text = |(signature, body): (&str, &str)| function(signature, body, has_branch);
        compared(&text(before), &text(after), NONE)
    })
}

#[track_caller]
pub fn same(before: (&str, &str), after: (&str, &str)) {
    let found = said(before, after);
    assert!(found.iter().all(Vec::is_empty), "{found:?}\nof\n{after:?}");
}

#[track_caller]
pub fn not_same(before: (&str, &str), after: (&str, &str), why: &str) {
    let found = said(before, after);
    let is_said = |all: &Vec<String>| all.iter().any(|message| message.contains(why));
    assert!(found.iter().all(is_said), "{found:?}\ninstead of {why}, of\n{after:?}");
}

#[test]
fn results_lie_where_their_types_say() {
    let before = ("(%x: tensor<4x9xf32>) -> tensor<4x9xf32>", "return %x : tensor<4x9xf32>");
    let after = |made: &str, layout: &str| {
        let of = format!("memref<4x9xf32{layout}>");
        let body = format!("{made}\nmemref.copy %x, %a : memref<4x9xf32> to {of}\nreturn %a : {of}");
        (format!("(%x: memref<4x9xf32>) -> {of}"), body)
    };
    for (made, layout, is_right) in [
        ("%a = memref.alloc() : memref<4x9xf32>", "", true),
        (
            "%b = memref.alloc() : memref<9x4xf32>
             %a = memref.transpose %b (i, j) -> (j, i) : memref<9x4xf32> to memref<4x9xf32, strided<[1, 4]>>",
            ", strided<[1, 4]>",
            false,
        ),
        (
            "%b = memref.alloc() : memref<5x9xf32>
             %a = memref.subview %b[1, 0] [4, 9] [1, 1] : memref<5x9xf32> to memref<4x9xf32, strided<[9, 1], offset: 9>>",
            ", strided<[9, 1], offset: 9>",
            false,
        ),
    ] {
        let (signature, body) = after(made, layout);
        match is_right {
            true => same(before, (&signature, &body)),
            false => not_same(before, (&signature, &body), "of another type than before"),
        }
    }
}

/// An element of one bit takes a byte of memory, which is an `i8` where the layout says how many bits it takes.
#[test]
fn booleans_have_bytes() {
    let signature = |of: &str| format!("(%x: {of}) -> {of}");
    let tensor = |layout: &str| format!("tensor<3x5xi1, #layout.tiled<{{1,0{layout}}}>>");
    let copied = |of: &str| format!("%a = memref.alloc() : {of}\nmemref.copy %x, %a : {of} to {of}\nreturn %a : {of}");
    for (layout, of, is_right) in [("", "i1", true), (":E(8)", "i8", true), ("", "i8", false), (":E(8)", "i1", false)] {
        let (before, after) = (tensor(layout), format!("memref<3x5x{of}>"));
        let [was, is] = [signature(&before), signature(&after)];
        let [before, after] = [format!("return %x : {before}"), copied(&after)];
        match is_right {
            true => same((&was, &before), (&is, &after)),
            false => not_same((&was, &before), (&is, &after), "of another type than before"),
        }
    }
}

/// A copy of a 3x5 array into a buffer of `buffer` elements, in tiles of 2x2; the last element has number 20.
fn in_tiles(buffer: i64, sizes: &str, strides: &str, index: &str) -> (String, String) {
    let of = format!("memref<{sizes}xf32, strided<[{strides}]>>");
    let list = sizes.replace('x', ", ");
    let body = format!(
        "%b = memref.alloc() : memref<{buffer}xf32>
         %a = memref.reinterpret_cast %b to offset: [0], sizes: [{list}], strides: [{strides}] : memref<{buffer}xf32> to {of}
         affine.for %i = 0 to 3 {{
           affine.for %j = 0 to 5 {{
             %v = affine.load %x[%i, %j] : memref<3x5xf32>
             affine.store %v, %a[{index}] : {of}
           }}
         }}
         return %a : {of}"
    );
    (format!("(%x: memref<3x5xf32>) -> {of}"), body)
}

/// Checks whether a result of this signature and body is 3x5 in tiles of 2x2 with this tail.
#[track_caller]
fn lies((tail, why): (&str, Option<&str>), (signature, body): (String, String)) {
    let tile = format!("tensor<3x5xf32, #layout.tiled<{{1,0:T(2,2){tail}}}>>");
    let convert = format!("%y = layout.convert %x : tensor<3x5xf32> to {tile}\nreturn %y : {tile}");
    let before = format!("(%x: tensor<3x5xf32>) -> {tile}");
    match why {
        None => same((&before, &convert), (&signature, &body)),
        Some(why) => not_same((&before, &convert), (&signature, &body), why),
    }
}

#[test]
fn lowered_results_lie_where_their_layouts_say() {
    let in_memory = "%i floordiv 2, %j floordiv 2, %i mod 2, %j mod 2";
    let of_dimensions = "%i floordiv 2, %i mod 2, %j floordiv 2, %j mod 2";
    for (buffer, sizes, strides, index, why) in [
        (24, "2x3x2x2", "12, 4, 2, 1", in_memory, None),
        (24, "2x2x3x2", "12, 2, 4, 1", of_dimensions, None),
        (100, "2x2x3x2", "12, 2, 4, 1", of_dimensions, None),
        (21, "2x3x2x2", "12, 4, 2, 1", in_memory, Some("smaller than its layout")),
        (21, "2x2x3x2", "12, 2, 4, 1", of_dimensions, Some("smaller than its layout")),
        (24, "2x3x2x2", "12, 4, 1, 2", "%i floordiv 2, %j floordiv 2, %j mod 2, %i mod 2", Some("as its layout says")),
        (24, "3x2x2x2", "4, 12, 2, 1", "%j floordiv 2, %i floordiv 2, %i mod 2, %j mod 2", Some("as its layout says")),
    ] {
        lies(("", why), in_tiles(buffer, sizes, strides, index));
    }
    // A layout whose memory is a multiple of 7 elements.
    lies(("L(7)", None), in_tiles(28, "2x3x2x2", "12, 4, 2, 1", in_memory));
    lies(("L(7)", Some("smaller than its layout")), in_tiles(24, "2x3x2x2", "12, 4, 2, 1", in_memory));
}

#[test]
fn what_was_not_allocated_is_not_freed() {
    let before = ("()", "return");
    same(before, ("()", "%a = memref.alloc() : memref<4xi32>\nmemref.dealloc %a : memref<4xi32>\nreturn"));
    for made in ["%a = memref.alloca() : memref<4xi32>", "%a = memref.get_global @ones : memref<4xi32>"] {
        not_same(before, ("()", &format!("{made}\nmemref.dealloc %a : memref<4xi32>\nreturn")), "was not allocated");
    }
    // Freeing a subview frees the whole allocation.
    let part = |and: &str| {
        format!(
            "%b = memref.alloc() : memref<8xi32>
             %a = memref.subview %b[4] [4] [1] : memref<8xi32> to memref<4xi32, strided<[1], offset: 4>>
             memref.dealloc %a : memref<4xi32, strided<[1], offset: 4>>
             {and}
             return"
        )
    };
    same(before, ("()", &part("")));
    not_same(before, ("()", &part("memref.dealloc %b : memref<8xi32>")), "freed");
}

#[test]
fn results_are_in_memory_of_the_caller() {
    let before = ("() -> tensor<4xi32>", "%x = arith.constant dense<1> : tensor<4xi32>\nreturn %x : tensor<4xi32>");
    let after = |made: &str| {
        format!(
            "{made}
             affine.for %i = 0 to 4 {{
               %one = arith.constant 1 : i32
               affine.store %one, %a[%i] : memref<4xi32>
             }}
             return %a : memref<4xi32>"
        )
    };
    let signature = "() -> memref<4xi32>";
    same(before, (signature, &after("%a = memref.alloc() : memref<4xi32>")));
    not_same(before, (signature, &after("%a = memref.alloca() : memref<4xi32>")), "freed before");
    not_same(before, (signature, &after("%a = memref.get_global @ones : memref<4xi32>")), "a store to a constant");
    let constant = "%a = memref.get_global @ones : memref<4xi32>\nreturn %a : memref<4xi32>";
    not_same(before, (signature, constant), "nobody may write");
}

#[test]
fn results_are_apart() {
    let tensors = "(%x: tensor<4xi32>) -> (tensor<4xi32>, tensor<4xi32>)";
    let twice = "return %x, %x : tensor<4xi32>, tensor<4xi32>";
    let apart = "%a = arith.addi %x, %x : tensor<4xi32>
                 %b = arith.addi %x, %x : tensor<4xi32>
                 return %a, %b : tensor<4xi32>, tensor<4xi32>";
    let signature = "(%x: memref<4xi32>) -> (memref<4xi32>, memref<4xi32>)";
    let sums = |buffers: [&str; 2]| {
        let sum = |to: &str| {
            format!(
                "%{to} = memref.alloc() : memref<4xi32>
                 affine.for %i = 0 to 4 {{
                   %v = affine.load %x[%i] : memref<4xi32>
                   %w = arith.addi %v, %v : i32
                   affine.store %w, %{to}[%i] : memref<4xi32>
                 }}"
            )
        };
        let [a, b] = buffers;
        format!("{}\n{}\nreturn %{a}, %{b} : memref<4xi32>, memref<4xi32>", sum("a"), sum("b"))
    };
    same((tensors, apart), (signature, &sums(["a", "b"])));
    // A tensor that comes in belongs to the caller.
    not_same(
        (tensors, twice),
        (signature, "return %x, %x : memref<4xi32>, memref<4xi32>"),
        "in the buffer of argument 0",
    );
    let copied = "%a = memref.alloc() : memref<4xi32>
                  memref.copy %x, %a : memref<4xi32> to memref<4xi32>";
    same((tensors, twice), (signature, &format!("{copied}\nreturn %a, %a : memref<4xi32>, memref<4xi32>")));
    not_same((tensors, apart), (signature, &sums(["a", "a"])), "are in one buffer, and were not");
    // A result in the caller's memory stays in that memory.
    let one = "(%x: memref<4xi32>) -> memref<4xi32>";
    let copied = &format!("{copied}\nreturn %a : memref<4xi32>");
    let itself = "return %x : memref<4xi32>";
    same((one, itself), (one, itself));
    not_same((one, itself), (one, copied), "are in two buffers, and were not");
    not_same((one, copied), (one, itself), "are in one buffer, and were not");
}

#[test]
fn casts_say_what_is() {
    let before = ("(%x: memref<4x4xf32>) -> f32", "%v = memref.load %x[%c1, %c0] : memref<4x4xf32>\nreturn %v : f32");
    let after = |rows: i64, stride: i64| {
        format!(
            "%a = memref.cast %x : memref<4x4xf32> to memref<?x4xf32, strided<[?, 1]>>
             %b = memref.cast %a : memref<?x4xf32, strided<[?, 1]>> to memref<{rows}x4xf32, strided<[{stride}, 1]>>
             %v = memref.load %b[%c1, %c0] : memref<{rows}x4xf32, strided<[{stride}, 1]>>
             return %v : f32"
        )
    };
    let signature = "(%x: memref<4x4xf32>) -> f32";
    same(before, (signature, &after(4, 4)));
    for (rows, stride) in [(4, 5), (3, 4)] {
        not_same(before, (signature, &after(rows, stride)), "a cast to a type that the value does not have");
    }
}

/// An asynchronous copy of 4 elements with operations during its run.
fn copied(meanwhile: &str, elements: &str, count: i64) -> String {
    format!(
        "%n = arith.constant {count} : index
         %tag = memref.alloc() : memref<1xi32>
         %old = memref.load %x[%c1] : memref<4xi32>
         memref.dma_start %x[%c0], %y[%c0], %c4, %tag[%c0] : memref<4xi32>, memref<4xi32>, memref<1xi32>
         {meanwhile}
         memref.dma_wait %tag[%c0], {elements} : memref<1xi32>
         memref.dealloc %tag : memref<1xi32>
         return"
    )
}

#[test]
fn copies_that_run_have_their_memory_for_themselves() {
    let signature = "(%x: memref<4xi32>, %y: memref<4xi32>)";
    let before = (signature, "memref.copy %x, %y : memref<4xi32> to memref<4xi32>\nreturn");
    same(before, (signature, &copied("", "%c4", 4)));
    same(before, (signature, &copied("memref.store %old, %tag[%c0] : memref<1xi32>", "%n", 4)));
    // At the end of the copy, the source's element has its old value again.
    let there_and_back = "%one = arith.constant 1 : i32
                          memref.store %one, %x[%c1] : memref<4xi32>
                          memref.store %old, %x[%c1] : memref<4xi32>";
    not_same(before, (signature, &copied(there_and_back, "%c4", 4)), "written before the wait");
    let target = "memref.store %old, %y[%c1] : memref<4xi32>";
    not_same(before, (signature, &copied(target, "%c4", 4)), "written before the wait");
    not_same(before, (signature, &copied("", "%n", 3)), "a wait for 3 elements of a copy of 4");
    let freed = "%z = memref.alloc() : memref<4xi32>
                 memref.copy %x, %z : memref<4xi32> to memref<4xi32>
                 %other = memref.alloc() : memref<1xi32>
                 memref.dma_start %z[%c0], %y[%c0], %c4, %other[%c0] : memref<4xi32>, memref<4xi32>, memref<1xi32>
                 memref.dealloc %z : memref<4xi32>
                 memref.dma_wait %other[%c0], %c4 : memref<1xi32>
                 return";
    not_same(before, (signature, freed), "freed before the wait");
}

#[test]
fn promises_may_be_left_out_and_not_added() {
    for (of, plain, promises) in [
        ("i32", "arith.addi %x, %y : i32", "arith.addi %x, %y overflow<nsw> : i32"),
        ("i32", "arith.muli %x, %y : i32", "arith.muli %x, %y overflow<nuw> : i32"),
        ("i32", "arith.shrui %x, %y : i32", "arith.shrui %x, %y exact : i32"),
        ("i32", "arith.divsi %x, %y : i32", "arith.divsi %x, %y exact : i32"),
        ("f32", "arith.mulf %x, %y : f32", "arith.mulf %x, %y fastmath<nnan> : f32"),
        ("f32", "arith.divf %x, %y : f32", "arith.divf %x, %y fastmath<arcp> : f32"),
    ] {
        let signature = format!("(%x: {of}, %y: {of}) -> {of}");
        let body = |operation: &str| format!("%z = {operation}\nreturn %z : {of}");
        let [plain, promises] = [plain, promises].map(body);
        same((&signature, &promises), (&signature, &plain));
        same((&signature, &promises), (&signature, &promises));
        not_same((&signature, &plain), (&signature, &promises), "an operation has a flag that none had");
    }
}

#[test]
fn divisions_are_those_of_the_program() {
    let signature = "(%x: i32, %y: i32) -> i32";
    let itself = "return %x : i32";
    let divided = "%q = arith.divsi %x, %y : i32\nreturn %q : i32";
    let by_number = "%two = arith.constant 2 : i32\n%q = arith.divsi %x, %two : i32\nreturn %x : i32";
    same((signature, divided), (signature, divided));
    same((signature, itself), (signature, by_number));
    same((signature, divided), (signature, &divided.replace("return", "%r = arith.remsi %x, %y : i32\nreturn")));
    let unused = "%q = arith.divsi %x, %y : i32\nreturn %x : i32";
    not_same((signature, itself), (signature, unused), "a division by %arg1[0] that the program before does not do");
    let left_out = "%true = arith.constant true
                    %q = arith.divsi %x, %y : i32
                    %z = arith.select %true, %x, %q : i32
                    return %z : i32";
    not_same((signature, itself), (signature, left_out), "a division by %arg1[0] that the program before does not do");
    // A zero divisor is found.
    let by_nothing = "%zero = arith.constant 0 : i32\n%q = arith.divsi %x, %zero : i32\nreturn %x : i32";
    not_same((signature, itself), (signature, by_nothing), "a division by 0x0 that the program before does not do");
    // The division runs only under a condition.
    let guarded = "%zero = arith.constant 0 : i32
                   %is = arith.cmpi ne, %y, %zero : i32
                   %z = scf.if %is -> i32 {
                     %q = arith.divsi %x, %y : i32
                     scf.yield %q : i32
                   } else {
                     scf.yield %x : i32
                   }
                   return %z : i32";
    let everywhere = "%zero = arith.constant 0 : i32
                      %is = arith.cmpi ne, %y, %zero : i32
                      %q = arith.divsi %x, %y : i32
                      %z = arith.select %is, %q, %x : i32
                      return %z : i32";
    // The run tries numbers that meet the condition, and others.
    not_same(
        (signature, guarded),
        (signature, everywhere),
        "a division by %arg1[0] that the program before does not do",
    );
}

#[test]
fn numbers_of_each_sign_are_tried() {
    // Signed quotients round differently below zero, also in an index.
    let signature = "(%x: i32) -> i32";
    let quotient = |op: &str| format!("%q = arith.{op} %x, %c4i : i32\nreturn %q : i32");
    let with_number = |body: String| format!("%c4i = arith.constant 4 : i32\n{body}");
    let shifted = with_number("%two = arith.constant 2 : i32\n%q = arith.shrsi %x, %two : i32\nreturn %q : i32".into());
    let [floor, toward_zero] = ["floordivsi", "divsi"].map(|op| with_number(quotient(op)));
    not_same((signature, &floor), (signature, &shifted), "not proved, but tried");
    not_same((signature, &floor), (signature, &toward_zero), "is arith.divsi(%arg0[0], 0x4), and was");
    let signature = "(%x: f32) -> f32";
    let [itself, positive] = ["return %x : f32", "%y = math.absf %x : f32\nreturn %y : f32"];
    not_same((signature, itself), (signature, positive), "is math.absf(%arg0[0]), and was");
    let signature = "(%x: i32) -> i32";
    let select = |op: &str| {
        let decides = format!("%is = arith.{op} %x, %c4i : i32");
        let rows = ["%x", "%c4i"].map(|of| format!("scf.yield {of} : i32")).join("\n} else {\n");
        with_number(format!("{decides}\n%z = scf.if %is -> i32 {{\n{rows}\n}}\nreturn %z : i32"))
    };
    not_same((signature, &select("cmpi slt,")), (signature, &select("cmpi ult,")), "and was");
}

/// Stack memory lives until the end of its iteration.
#[test]
fn memory_of_the_stack_ends_with_its_iteration() {
    let signature = "(%x: memref<f32>) -> f32";
    let body = |made: &str| {
        format!(
            "%first = {made} : memref<f32>
             memref.copy %x, %first : memref<f32> to memref<f32>
             %last = scf.for %i = %c0 to %c4 step %c1 iter_args(%m = %first) -> (memref<f32>) {{
               %v = memref.load %m[] : memref<f32>
               %w = arith.addf %v, %v : f32
               %n = {made} : memref<f32>
               memref.store %w, %n[] : memref<f32>
               scf.yield %n : memref<f32>
             }}
             %r = memref.load %last[] : memref<f32>
             return %r : f32"
        )
    };
    let [heap, stack] = ["memref.alloc()", "memref.alloca()"].map(body);
    same((signature, &heap), (signature, &heap));
    not_same((signature, &heap), (signature, &stack), "memory that was freed before");
}

/// In nested parallel loops all iterations of both may run at the same time.
#[test]
fn loops_in_any_order_inside_of_each_other() {
    let signature = "(%x: memref<4x4xf32>, %y: memref<4xf32>)";
    let body = |outer: &str, inner: &str, at: &str| {
        let [first, second] = [(outer, "%i"), (inner, "%j")].map(|(op, v)| match op {
            "scf.for" => format!("scf.for {v} = %c0 to %c4 step %c1 {{"),
            _ => format!("scf.parallel ({v}) = (%c0) to (%c4) step (%c1) {{"),
        });
        format!(
            "{first}
               {second}
                 %v = memref.load %x[%i, %j] : memref<4x4xf32>
                 memref.store %v, %y[{at}] : memref<4xf32>
               }}
             }}
             return"
        )
    };
    let [each, parallel] = ["scf.for", "scf.parallel"];
    for (at, is_inner, is_outer) in [("%i", false, true), ("%j", true, false)] {
        let before = body(each, each, at);
        for (outer, inner, is_right) in
            [(each, each, true), (parallel, each, is_outer), (each, parallel, is_inner), (parallel, parallel, false)]
        {
            match is_right {
                true => same((signature, &before), (signature, &body(outer, inner, at))),
                false => not_same((signature, &before), (signature, &body(outer, inner, at)), ""),
            }
        }
    }
}

/// Atomic operations on an element commute if they are of one kind; sums of floating-point numbers do not.
#[test]
fn atomic_operations_come_in_any_order() {
    for (of, kind, other, is_right) in [
        ("i32", "addi", "addi", true),
        ("i32", "addi", "maxs", false),
        ("f32", "maximumf", "maximumf", true),
        ("f32", "addf", "addf", false),
        ("f32", "assign", "assign", false),
    ] {
        let signature = format!("(%x: memref<4x{of}>, %y: memref<1x{of}>)");
        let body = |head: &str| {
            format!(
                "{head} {{
                   %v = memref.load %x[%i] : memref<4x{of}>
                   %one = memref.atomic_rmw {kind} %v, %y[%c0] : ({of}, memref<1x{of}>) -> {of}
                   %two = memref.atomic_rmw {other} %v, %y[%c0] : ({of}, memref<1x{of}>) -> {of}
                 }}
                 return"
            )
        };
        let before = body("scf.for %i = %c0 to %c4 step %c1");
        let after = body("scf.parallel (%i) = (%c0) to (%c4) step (%c1)");
        match is_right {
            true => same((&signature, &before), (&signature, &after)),
            false => not_same((&signature, &before), (&signature, &after), "changes"),
        }
        // A concurrent read has the value of no certain iteration.
        let read = after.replace("return", "").replacen("%one", "%w = memref.load %y[%c0] : memref<1xOF>\n%one", 1);
        let read = format!("{}\nreturn", read.replace("OF", of));
        not_same((&signature, &before), (&signature, &read), "s");
    }
}

/// Rows of 3 elements as vectors of 4, whose last lane is masked.
#[test]
fn lanes_that_are_left_out_divide_by_numbers() {
    let signature = "(%x: memref<3xi32>, %y: memref<3xi32>)";
    let before = "affine.for %i = 0 to 3 {
                    %v = affine.load %x[%i] : memref<3xi32>
                    %w = affine.load %y[%i] : memref<3xi32>
                    %q = arith.divui %v, %w : i32
                    affine.store %q, %x[%i] : memref<3xi32>
                  }
                  return";
    let after = |other: i64| {
        format!(
            "%is = arith.constant dense<[true, true, true, false]> : vector<4xi1>
             %one = arith.constant dense<1> : vector<4xi32>
             %other = arith.constant dense<{other}> : vector<4xi32>
             %v = vector.maskedload %x[%c0], %is, %one : memref<3xi32>, vector<4xi1>, vector<4xi32> into vector<4xi32>
             %w = vector.maskedload %y[%c0], %is, %other : memref<3xi32>, vector<4xi1>, vector<4xi32> into vector<4xi32>
             %q = arith.divui %v, %w : vector<4xi32>
             vector.maskedstore %x[%c0], %is, %q : memref<3xi32>, vector<4xi1>, vector<4xi32>
             return"
        )
    };
    same((signature, before), (signature, &after(1)));
    not_same((signature, before), (signature, &after(0)), "a division by 0x0 that the program before does not do");
}
