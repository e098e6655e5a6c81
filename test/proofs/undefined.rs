//! Unwritten memory, memory beside an argument's elements, and dynamic strides.

use super::small::{function, not_same, said, same};
use super::{NONE, compared};

/// An empty tensor is undefined; a value selected or moved from another one is not.
#[test]
fn what_is_defined_in_part_stays() {
    let select = |other: &str| {
        (
            "(%c: i1, %x: f32, %y: f32) -> f32",
            format!(
                "%none = tensor.empty() : tensor<1xf32>
                 %u = tensor.extract %none[%c0] : tensor<1xf32>
                 %r = arith.select %c, %x, {other} : f32
                 return %r : f32"
            ),
        )
    };
    let (signature, before) = select("%u");
    let before = (signature, &*before);
    let is = |body: &str| said(before, (signature, body)).map(|all| all.is_empty());
    // Some inputs make the condition true, others false, so this may be x: tried, not proved.
    let tried = said(before, (signature, "return %x : f32"));
    assert!(tried.iter().all(|all| all[0].contains("not proved, but tried")), "{tried:?}");
    not_same(before, (signature, "return %y : f32"), "element 0 of result 0");
    let negated = "%r = arith.negf %x : f32 return %r : f32";
    not_same(before, (signature, negated), "element 0 of result 0");
    assert_eq!(is(before.1), [true; 2]);
    // If both operands are undefined, so is the result.
    let (signature, before) = select("%u");
    let before = before.replace("%c, %x,", "%c, %u,");
    assert!(
        compared(&function(signature, &before, true), &function(signature, "return %y : f32", true), NONE).is_empty()
    );
}

#[test]
fn defined_bits_stay() {
    let before = (
        "(%x: i16) -> i32",
        "%none = tensor.empty() : tensor<1xi16>
         %u = tensor.extract %none[%c0] : tensor<1xi16>
         %low = arith.extui %x : i16 to i32
         %high = arith.extui %u : i16 to i32
         %by = arith.constant 16 : i32
         %top = arith.shli %high, %by : i32
         %r = arith.ori %low, %top : i32
         return %r : i32",
    );
    let of = |op: &str| format!("%r = arith.{op} %x : i16 to i32 return %r : i32");
    let tried = said(before, (before.0, &of("extui")));
    assert!(tried.iter().all(|all| all[0].contains("not proved, but tried")), "{tried:?}");
    let zero = "%r = arith.constant 0 : i32 return %r : i32";
    not_same(before, (before.0, zero), "element 0 of result 0");
}

/// Memory between the elements of an argument is not the function's.
#[test]
fn memory_beside_elements_is_not_written() {
    let signature = "(%m: memref<4xf32, strided<[2], offset: 1>>, %x: f32)";
    let plain = "memref.store %x, %m[%c1] : memref<4xf32, strided<[2], offset: 1>>\nreturn";
    let store = |offset: i64| {
        format!(
            "%p = memref.reinterpret_cast %m to offset: [{offset}], sizes: [1], strides: [1] : memref<4xf32, strided<[2], offset: 1>> to memref<1xf32, strided<[1], offset: {offset}>>
             memref.store %x, %p[%c0] : memref<1xf32, strided<[1], offset: {offset}>>\n"
        )
    };
    same((signature, plain), (signature, &(store(3) + "return")));
    let beside = "memory between the elements of argument 0";
    for offset in [0, 2, 4] {
        let both = store(offset) + plain;
        not_same((signature, plain), (signature, &both), beside);
        let two = format!("%two = arith.addf %x, %x : f32\n{}{plain}", store(offset).replace("%x", "%two"));
        not_same((signature, &both), (signature, &two), beside);
        not_same((signature, &both), (signature, plain), beside);
    }
    // Elements that share addresses leave other memory free.
    let of = "memref<4x4xf32, strided<[0, 2]>>";
    let signature = format!("(%m: {of}, %x: f32)");
    let write = format!(
        "%p = memref.reinterpret_cast %m to offset: [1], sizes: [1], strides: [1] : {of} to memref<1xf32, strided<[1], offset: 1>>
         memref.store %x, %p[%c0] : memref<1xf32, strided<[1], offset: 1>>
         return"
    );
    not_same((&signature, "return"), (&signature, &write), beside);
}

/// Dynamic strides are not those of row-major order.
#[test]
fn strides_of_the_caller_are_not_known() {
    let of = "memref<4x4xf32, strided<[?, ?], offset: ?>>";
    let signature = format!("(%m: {of}, %x: f32) -> f32");
    let before = format!("%y = memref.load %m[%c1, %c4] : {of}\nreturn %y : f32").replace("%c4", "%c1");
    let cast = |strides: &str, offset: &str| {
        let to = format!("memref<4x4xf32, strided<[{strides}], offset: {offset}>>");
        format!(
            "%p = memref.reinterpret_cast %m to offset: [{offset}], sizes: [4, 4], strides: [{strides}] : {of} to {to}
             %y = memref.load %p[%c1, %c1] : {to}
             return %y : f32"
        )
    };
    let found = said((&signature, &before), (&signature, &cast("4, 1", "0")));
    assert!(found.iter().all(|all| !all.is_empty()), "{found:?}");
    // Upstream's bufferization of function boundaries uses the caller's strides.
    let read = |of: &str| {
        let load = if of.starts_with("tensor") { "tensor.extract" } else { "memref.load" };
        (format!("(%m: {of}) -> f32"), format!("%y = {load} %m[%c1, %c1] : {of}\nreturn %y : f32"))
    };
    let [(tensor, from), (memory, to)] = ["tensor<4x4xf32>", of].map(read);
    let found = said((&tensor, &from), (&memory, &to));
    assert!(
        found.iter().all(|all| all[0] == "not proved, but tried: for an offset and strides of argument 0"),
        "{found:?}"
    );
    let wrong = to.replace("[%c1, %c1]", "[%c0, %c1]");
    not_same((&tensor, &from), (&memory, &wrong), "element 0 of result 0");
}

/// An affine map of a memref gives its strides.
#[test]
fn maps_of_memrefs_are_strides() {
    let of = |layout: &str| format!("(%m: memref<4xf32, {layout}>) -> f32");
    let body = |layout: &str| format!("%y = memref.load %m[%c1] : memref<4xf32, {layout}>\nreturn %y : f32");
    let (map, plain) = ("affine_map<(d0) -> (d0 * 3)>", "affine_map<(d0) -> (d0)>");
    let through = |offset: i64, layout: &str| {
        format!(
            "%p = memref.reinterpret_cast %m to offset: [{offset}], sizes: [1], strides: [1] : memref<4xf32, {layout}> to memref<1xf32, strided<[1], offset: {offset}>>
             %y = memref.load %p[%c0] : memref<1xf32, strided<[1], offset: {offset}>>
             return %y : f32"
        )
    };
    for (layout, address) in [(map, 3), (plain, 1)] {
        let before = (of(layout), body(layout));
        same((&before.0, &before.1), (&before.0, &through(address, layout)));
        not_same((&before.0, &before.1), (&before.0, &through(4 - address, layout)), "");
    }
}

/// Unsigned bounds differ from signed ones.
#[test]
fn unsigned_loops_are_not_known() {
    let body = |kind: &str| {
        format!(
            "%minus = arith.constant -1 : index
             scf.for {kind} %i = %minus to %c4 step %c1 {{ memref.store %x, %m[%c0] : memref<1xf32> }}
             return"
        )
    };
    let signature = "(%m: memref<1xf32>, %x: f32)";
    not_same((signature, &body("unsigned")), (signature, &body("")), "'scf.for' is not modelled");
}

#[test]
fn integers_are_rounded_once() {
    for (op, from, bits) in [
        // Rounded to f64 first, each of these lies halfway between two numbers of f32, and rounds the other way.
        ("sitofp", "0x4000004000000001", 0x5e80_0001_u32),
        ("sitofp", "-4611686293305294849", 0xde80_0001),
        ("uitofp", "0x8000008000000001", 0x5f00_0001),
    ] {
        let body = |value: String| format!("{value}\nreturn %y : f32");
        let number = body(format!("%n = arith.constant {from} : i64\n%y = arith.{op} %n : i64 to f32"));
        let constant = |bits: u32| body(format!("%y = arith.constant {bits:#x} : f32"));
        for (bits, is_right) in [(bits, true), (bits - 1, false)] {
            let texts = [&number, &constant(bits)].map(|body| function("() -> f32", body, true));
            assert_eq!(compared(&texts[0], &texts[1], NONE).is_empty(), is_right, "{from} {bits:#x}");
        }
    }
}

/// Discardable attributes have no meaning.
#[test]
fn attributes_of_others_mean_nothing() {
    let sum = |more: &str| format!("%y = arith.addf %x, %x {more} : f32\nreturn %y : f32");
    let signature = "(%x: f32) -> f32";
    same((signature, &sum("{my.note = 7, predicate = 3}")), (signature, &sum("")));
    same((signature, &sum("")), (signature, &sum("{my.note = 7}")));
    not_same((signature, &sum("")), (signature, &sum("fastmath<nnan>")), "");
}

/// A tensor of too many elements to list.
#[test]
fn a_large_splat_is_shown() {
    let of = "tensor<65536x65536xf32>";
    let signature = format!("(%x: f32, %y: f32) -> {of}");
    let filled = |x: &str| {
        format!(
            "%e = tensor.empty() : {of}
             %t = linalg.fill ins({x} : f32) outs(%e : {of}) -> {of}
             return %t : {of}"
        )
    };
    let splat = format!("%t = tensor.splat %x : {of}\nreturn %t : {of}");
    let found = said((&signature, &splat), (&signature, &filled("%x")));
    assert!(found[0].is_empty(), "{found:?}");
    assert!(found[1][0].contains("too many steps"), "{found:?}");
    assert!(said((&signature, &splat), (&signature, &filled("%y"))).iter().all(|all| !all.is_empty()));
    let small = "tensor<3x2xf32>";
    let texts = [&splat, &filled("%x"), &filled("%y")].map(|text| text.replace(of, small));
    let signature = signature.replace(of, small);
    same((&signature, &texts[0]), (&signature, &texts[1]));
    not_same((&signature, &texts[0]), (&signature, &texts[2]), "");
}

/// Affine maps never overflow, and neither does the result of `--lower-affine`.
#[test]
fn maps_become_arithmetic_without_overflow() {
    let signature = "(%i: index, %m: memref<1xindex>)";
    let store = "memref.store %j, %m[%c0] : memref<1xindex>\nreturn";
    let map = format!("%j = affine.apply affine_map<(d0) -> (d0 * 4)>(%i)\n{store}");
    let product = |flags: &str| format!("%j = arith.muli %i, %c4 {flags} : index\n{store}");
    for flags in ["", "overflow<nsw>"] {
        let found = said((signature, &map), (signature, &product(flags)));
        assert!(found.iter().flatten().all(|message| message.contains("not proved, but tried")), "{flags} {found:?}");
    }
    not_same((signature, &map), (signature, &product("overflow<nuw>")), "has a flag that none had");
    not_same((signature, &product("")), (signature, &product("overflow<nsw>")), "");
}
