//! Known facts about shapes and layouts, one a line, and wrong texts with their errors.

use serde_json::Value;
use tensor_layout::operations::{Array, Shape};
use tensor_layout::tiled::Expansion;
use tensor_layout::tiled::Layout;

fn array(text: &str) -> Array {
    match Shape::parse(text) {
        Ok(Shape::Array(array)) => array,
        other => panic!("{text}: {other:?}"),
    }
}

fn expansion(text: &str) -> Expansion {
    let array = array(text);
    Expansion::new(&array.sizes().unwrap(), &array.layout).unwrap_or_else(|e| panic!("{text}: {e}"))
}

fn bytes(text: &str) -> i64 {
    expansion(text).padded_bytes(array(text).element).unwrap()
}

#[test]
fn golden_facts() {
    for line in include_str!("../golden/layouts.jsonl").lines() {
        let fact: Value = serde_json::from_str(line).unwrap();
        let text = fact["shape"].as_str().unwrap();
        let expected = &fact["expected"];
        let found: Value = match fact["check"].as_str().unwrap() {
            "print" => Shape::parse(text).map_or_else(|e| panic!("{line}: {e}"), |s| s.to_string()).into(),
            "rejected" => Shape::parse(text).map_or(Value::Null, |s| s.to_string().into()),
            "linear_index" => {
                let index: Vec<i64> = serde_json::from_value(fact["index"].clone()).unwrap();
                let offset = expansion(text).offset(&index).unwrap();
                assert_eq!(expansion(text).index(offset), Ok(Some(index)), "{line}");
                offset.into()
            }
            "padded_elements" => expansion(text).allocated_elements().into(),
            "padded_bytes" => bytes(text).into(),
            "logical_bytes" => expansion(text).logical_bytes(array(text).element).unwrap().into(),
            other => panic!("unknown check {other}"),
        };
        assert_eq!(found, *expected, "{line}");
    }
}

#[test]
fn offsets() {
    for (text, index, offset) in [
        ("f32[3,5]{1,0:T(2,2)}", &[2, 3][..], 17),
        ("f32[8,4]{1,0:T(2,2)}", &[3, 1], 11),
        ("f32[8,4]{1,0}", &[3, 1], 13),
        ("f32[4,8]{1,0:T(2,4)(2,1)}", &[0, 0], 0),
        ("f32[4,8]{1,0:T(2,4)(2,1)}", &[1, 0], 1),
        ("f32[4,8]{1,0:T(2,4)(2,1)}", &[0, 1], 2),
        ("f32[4,8]{1,0:T(2,4)(2,1)}", &[1, 1], 3),
        ("f32[4,8]{1,0:T(2,4)(2,1)}", &[0, 4], 8),
        ("f32[8,8]{1,0:T(2,4)(2,1)}", &[6, 5], 58),
        ("f32[8,8]{1,0:T(2,4)(2,1,1,1)}", &[6, 5], 51),
        ("bf16[16,256]{1,0:T(8,128)(2,1)}", &[1, 0], 1),
        ("bf16[2,8,128]{2,1,0:T(8,128)(2,1)}", &[0, 2, 0], 256),
        ("bf16[2048]{0:T(1024)(128)(2,1)}", &[1], 2),
        ("bf16[2048]{0:T(1024)(128)(2,1)}", &[128], 1),
        ("f32[2,3]{0,1}", &[1, 0], 1),
        ("f32[2,3]{1,0}", &[1, 0], 3),
    ] {
        let expansion = expansion(text);
        assert_eq!(expansion.offset(index), Ok(offset), "{text} at {index:?}");
        assert_eq!(expansion.index(offset), Ok(Some(index.to_vec())), "{text} at {offset}");
    }
}

#[test]
fn expanded_sizes() {
    for (text, sizes, elements) in [
        ("f32[3,5]{1,0:T(2,2)}", &[2, 3, 2, 2][..], 24),
        ("bf16[2048]{0:T(1024)(128)(2,1)}", &[2, 4, 128, 2, 1], 2048),
        ("s32[]{:T(128)}", &[1, 128], 128),
        ("bf16[300]{0:T(8,128)}", &[1, 3, 8, 128], 3072),
        ("f32[2,7,8,11,10]{4,3,2,1,0:T(*,*,2,*,3)}", &[56, 37, 2, 3], 12432),
        ("f32[8,128]{1,0:T(8,128)(3,1)}", &[1, 1, 3, 128, 3, 1], 9 * 128),
        ("f32[<=6,6]{1,0:T(4,4)}", &[2, 2, 4, 4], 64),
        // The largest piece decides, with tiles and without.
        ("f32[10,4]{1,0:SC(0:3,7)}", &[4, 4], 16),
        ("f32[10,4]{0,1:SC(1:6)}", &[4, 6], 24),
        ("s32[6]{0:T(4)S(1)SC(0:1)}", &[2, 4], 8),
        // Tail padding counts only with tiles.
        ("f32[3,5]{1,0:T(2,2)L(16)}", &[2, 3, 2, 2], 32),
        ("f32[3,5]{1,0:L(16)}", &[3, 5], 15),
        ("f32[0,5]{1,0:T(2,2)L(16)}", &[0, 3, 2, 2], 0),
    ] {
        let expansion = expansion(text);
        assert_eq!((expansion.sizes(), expansion.allocated_elements()), (sizes, elements), "{text}");
    }
}

#[test]
fn sizes_in_bytes() {
    for (text, expected) in [
        ("bf16[16,1280,40]{2,1,0:T(8,128)(2,1)}", 5_242_880),
        ("bf16[16,1280,40]{1,2,0:T(8,128)(2,1)}", 1_638_400),
        ("u8[327680,327680]{1,0:T(8,128)(4,1)}", 107_374_182_400),
        ("s4[9216,6144]{1,0:T(64,128)(8,1)E(4)}", 28_311_552),
        ("s32[1,127]{1,0:T(2,128)E(32)}", 1_024),
        ("pred[3]", 3),
        ("s4[3]", 3),
        ("u2[3]", 3),
        ("c64[3]", 24),
        ("c128[3]", 48),
        ("s8[3]{0:E(4)}", 2),
        ("f32[9223372036854775807]{0:E(1)}", 1 << 60),
    ] {
        assert_eq!(bytes(text), expected, "{text}");
    }
}

#[test]
fn what_64_bits_do_not_hold_is_an_error() {
    for (text, message) in [
        ("f32[4294967296,4294967296]", "the number of elements does not fit in 64 bits"),
        ("f32[1]{0:T(4294967296,4294967296)}", "the number of elements does not fit in 64 bits"),
        ("f32[9223372036854775807]{0:T(2)}", "the number of elements does not fit in 64 bits"),
        ("f32[4294967296,4294967296]{1,0:T(*,1)}", "the number of elements does not fit in 64 bits"),
        ("f32[9]{0:T(1)L(9223372036854775807)}", ""),
        ("f32[9223372036854775807]{0:T(1)L(2)}", "the number of elements does not fit in 64 bits"),
    ] {
        let array = array(text);
        let found = Expansion::new(&array.sizes().unwrap(), &array.layout).map_or_else(|e| e.message, |_| "".into());
        assert_eq!(found, message, "{text}");
    }
    let large = expansion("f32[9223372036854775807]");
    let error = large.padded_bytes(array("f32[]").element).unwrap_err();
    assert_eq!(error.message, "the size in bytes does not fit in 64 bits");
    assert_eq!(error.at, None);
}

#[test]
fn a_layout_cut_across_memories_has_no_offsets() {
    let cut = expansion("s32[6]{0:T(128)S(1)SC(0:3)}");
    assert!(cut.is_split_across_memories());
    let message = "the layout is cut across memories (`SC`): an offset needs the memory it is in";
    assert_eq!(cut.offset(&[0]).unwrap_err().message, message);
    assert_eq!(cut.index(0).unwrap_err().message, message);
}

#[test]
fn layouts_that_were_not_parsed_are_checked() {
    let good = Layout::parse("{1,0:T(2,2)}").unwrap();
    assert!(Expansion::new(&[3, 5], &good).is_ok());
    let last = "the last entry of a tile must be a size, found `*`: there is no more-minor dimension to merge into";
    for (sizes, layout, message) in [
        (&[3][..], good.clone(), "minor_to_major must list 1 dimension, found 2 entries"),
        (&[3, -1], good.clone(), "a size must be at least 0, found -1"),
        (&[3, 5], Layout { tiles: vec![vec![]], ..good.clone() }, last),
        (
            &[3, 5],
            Layout { minor_to_major: vec![1, 1], ..good.clone() },
            "minor_to_major must list each dimension once, found 1 twice",
        ),
        (&[3, 5], Layout { tail_alignment: 0, ..good.clone() }, "the tail alignment must be at least 1, found 0"),
        (&[3, 5], Layout { element_bits: -1, ..good.clone() }, "the bits of an element must be at least 0, found -1"),
    ] {
        assert_eq!(Expansion::new(sizes, &layout).unwrap_err().message, message);
    }
}

#[test]
fn printing() {
    for (text, printed) in [
        (" f32 [ 2 , 3 ] { 1 , 0 : T ( 2 , * , 4 ) ( 2 ) } ", "f32[2,3]{1,0:T(2,*,4)(2)}"),
        ("f32[2,3] // to the end\n{1,0}", "f32[2,3]{1,0}"),
        ("/**/f32[/*é // */2]//", "f32[2]{0}"),
        ("f32[]{:}", "f32[]"),
        ("f32[2]{0:}", "f32[2]{0}"),
        ("f32[]{:T(256)}", "f32[]{:T(256)}"),
        ("f32[002]{00:T(08)}", "f32[2]{0:T(8)}"),
        ("f32[2]{0:L(1)E(0)S(0)M(0)}", "f32[2]{0}"),
        ("f32[2]{0:D(D)T(2)}", "f32[2]{0:T(2)}"),
        ("f32[2,9]{1,0:D(D,D)}", "f32[2,9]{1,0}"),
        (
            "f32[9,9]{1,0:T(2,*,4)(2)L(8)#(u8)*(u32)E(4)S(127)SC(0:1,2)(1:2)M(9)}",
            "f32[9,9]{1,0:T(2,*,4)(2)L(8)#(u8)*(u32)E(4)S(127)SC(0:1,2)(1:2)M(9)}",
        ),
        ("f32[?,<=3]", "f32[?,<=3]{1,0}"),
        ("f32[?]{0:SC(0:9)}", "f32[?]{0:SC(0:9)}"),
        ("()", "()"),
        ("(f32[])", "(f32[])"),
        (
            "(s8[],s8[],s8[],s8[],s8[],s8[],s8[],s8[],s8[],s8[],s8[1])",
            "(s8[], s8[], s8[], s8[], s8[], /*index=5*/s8[], s8[], s8[], s8[], s8[], /*index=10*/s8[1]{0})",
        ),
        ("((),(token[],b(f32[2])))", "((), (token[], b(f32[2]{0})))"),
    ] {
        let shape = Shape::parse(text).unwrap_or_else(|e| panic!("{text}: {e} at {:?}", e.at));
        assert_eq!(shape.to_string(), printed, "{text}");
        assert_eq!(Shape::parse(printed), Ok(shape), "{printed}");
    }
    for type_name in tensor_layout::element::ElementType::ALL {
        let text = format!("{type_name}[]");
        assert_eq!(Shape::parse(&text).unwrap().to_string(), text);
    }
    for text in ["{}", "{0}", "{1,0:T(8,128)S(1)}", "{:T(128)}"] {
        assert_eq!(Layout::parse(text).unwrap().to_string(), text);
    }
}

/// A wrong shape, the byte at fault, and the message.
const WRONG: &[(&str, usize, &str)] = &[
    ("", 0, "expected a shape: an element type, `b(` or `(`, found the end of the text"),
    ("f32", 3, "expected `[` after `f32`, found the end of the text"),
    ("f32[", 4, "expected a size, `<=`, `?` or `]`, found the end of the text"),
    ("f32[2", 5, "expected `,` or `]` to close the sizes, found the end of the text"),
    ("f32[2,]", 6, "expected a size, `<=` or `?`, found `]`"),
    ("f32[,2]", 4, "expected a size, `<=`, `?` or `]`, found `,`"),
    ("f32[2,,3]", 6, "expected a size, `<=` or `?`, found `,`"),
    ("f32[-1]", 4, "expected a size, `<=`, `?` or `]`, found `-`"),
    ("f32[2 3]", 6, "expected `,` or `]` to close the sizes, found `3`"),
    ("f32[<2]", 4, "expected a size, `<=`, `?` or `]`, found `<`"),
    ("f32[<=]", 6, "expected a bound, found `]`"),
    ("f32[?3]", 5, "expected `,` or `]` to close the sizes, found `3`"),
    ("f32[9223372036854775808]", 4, "`9223372036854775808` does not fit in 64 bits"),
    ("F32[2]", 0, "unknown element type `F32`; XLA writes `f32`"),
    ("f33[2]", 0, "unknown element type `f33`; did you mean `f32`?"),
    (" foo[2]", 1, "unknown element type `foo`"),
    ("f32[2]x", 6, "expected the end of the shape, found `x`"),
    ("f32[123,456]foobar{0,1}", 12, "expected the end of the shape, found `foobar`"),
    ("f32[123,456]{foo}", 13, "expected a dimension number, `:` or `}`, found `foo`"),
    ("f32[2]{0", 8, "expected `,`, `:` or `}`, found the end of the text"),
    ("f32[2]{", 7, "expected a dimension number, `:` or `}`, found the end of the text"),
    ("f32[2]{}", 7, "minor_to_major must list 1 dimension, found 0 entries"),
    ("f32[]{}", 6, "expected no layout after a scalar, found `{}`"),
    ("f32[]{0}", 6, "minor_to_major must list 0 dimensions, found 1 entry"),
    ("f32[2]{1}", 7, "a dimension in minor_to_major must be in 0 to 0, found 1"),
    ("f32[2,3]{0}", 10, "minor_to_major must list 2 dimensions, found 1 entry"),
    ("f32[2,3]{0,1,2}", 13, "minor_to_major must list 2 dimensions, found 3 entries"),
    ("f32[2,3]{0,0}", 11, "minor_to_major must list each dimension once, found 0 twice"),
    ("f32[2,3]{0,2}", 11, "a dimension in minor_to_major must be in 0 to 1, found 2"),
    ("f32[2,3]{0,1,}", 13, "expected a dimension number, found `}`"),
    ("f32[2,3]{0 1}", 11, "expected `,`, `:` or `}`, found `1`"),
    ("f32[2]{0:T}", 10, "expected `(` after `T`, found `}`"),
    ("f32[2]{0:T()}", 11, "expected a tile size or `*`, found `)`"),
    ("f32[2]{0:T(0)}", 11, "a tile size must be at least 1, found 0"),
    ("f32[2]{0:T(-3)}", 11, "a tile size must be at least 1, found -3"),
    ("f32[2]{0:T(8}", 12, "expected `,` or `)` to close `T(`, found `}`"),
    ("f32[2]{0:T(8", 12, "expected `,` or `)` to close `T(`, found the end of the text"),
    ("f32[2]{0:T(8,)}", 13, "expected a tile size or `*`, found `)`"),
    ("f32[2]{0:T(8)(}", 14, "expected a tile size or `*`, found `}`"),
    (
        "f32[2]{0:T(*)}",
        11,
        "the last entry of a tile must be a size, found `*`: there is no more-minor dimension to merge into",
    ),
    (
        "f32[2]{0:T(8,*)}",
        13,
        "the last entry of a tile must be a size, found `*`: there is no more-minor dimension to merge into",
    ),
    ("f32[2]{0:T(x)}", 11, "expected a tile size or `*`, found `x`"),
    ("f32[2]{0:T(8)T(8)}", 13, "an attribute must appear once, found a second `T`"),
    ("f32[2]{0:T8}", 9, "unknown attribute `T8`; expected T, L, #, *, E, S, SC or M"),
    ("f32[2]{0:t(8)}", 9, "unknown attribute `t`; did you mean `T`?"),
    ("f32[2]{0:T(8),L(2)}", 13, "expected an attribute or `}`, found `,`"),
    ("f32[2]{0:L(0)}", 11, "the tail alignment must be at least 1, found 0"),
    ("f32[2]{0:L()}", 11, "expected the tail alignment in elements, found `)`"),
    ("f32[2]{0:L(1,2)}", 12, "expected `)` to close `L(`, found `,`"),
    ("f32[2]{0:S(1)E(4)}", 13, "`E` must come before `S`, found it after"),
    ("f32[2]{0:S(1)T(4)}", 13, "`T` must come before `S`, found it after"),
    ("f32[2]{0:E(4)*(u8)}", 13, "`*` must come before `E`, found it after"),
    ("f32[2]{0:S(128)}", 11, "the number of a memory space must be in 0 to 127, found 128"),
    ("f32[2]{0:S(-1)}", 11, "expected the number of a memory space, found `-`"),
    ("f32[2]{0:#(s8)}", 11, "expected an unsigned integer type, found `s8`"),
    ("f32[2]{0:#(u23)}", 11, "expected an unsigned integer type, found `u23`; did you mean `u32`?"),
    ("f32[2]{0:*(foo)}", 11, "expected an unsigned integer type, found `foo`"),
    ("f32[2]{0:#()}", 11, "expected an unsigned integer type, found `)`"),
    ("f32[2]{0:SC(0)}", 13, "expected `:` between a dimension and its cuts, found `)`"),
    ("f32[2]{0:SC(1:1)}", 12, "a physical dimension must be less than the rank, 1, found 1"),
    ("f32[2]{0:SC(0:0)}", 14, "a cut must be greater than the one before it, 0, found 0"),
    ("f32[2]{0:SC(0:2)}", 14, "a cut must be less than the size of the dimension, 2, found 2"),
    ("f32[6]{0:SC(0:3,3)}", 16, "a cut must be greater than the one before it, 3, found 3"),
    ("f32[6]{0:SC(0:3)(0:4)}", 17, "each physical dimension must have one list of cuts, found a second one for 0"),
    ("f32[6]{0:SC(0:)}", 14, "expected an index to cut at, found `)`"),
    ("f32[2,3]{1,0:D(D)}", 16, "`D` must have one level for each of the 2 dimensions, found 1 level"),
    ("f32[2,3]{1,0:D(D,C+)}", 17, "a level must be dense (`D`), found another one for dimension 1"),
    ("f32[2]{0:D(D~)}", 11, "a level must be dense (`D`), found another one for dimension 0"),
    ("f32[2]{0:D(D,D)}", 13, "`D` must have one level for each of the 1 dimension, found more"),
    ("f32[2]{0:D()}", 11, "expected a level, `D`, found `)`"),
    ("f32[2]{0:T(2)D(D)}", 13, "`D` must come before `T`, found it after"),
    ("f32[10,10]{1,0:T(128,8)P(f32[10,10])}", 23, "unknown attribute `P`; expected T, L, #, *, E, S, SC or M"),
    ("f32[2]{0:T(8)} f32[2]", 15, "expected the end of the shape, found `f32`"),
    ("f32[2]{0:T(99999999999999999999)}", 11, "`99999999999999999999` does not fit in 64 bits"),
    ("f32[2] /* never", 7, "expected `*/` to close this comment"),
    ("f32[2]{0:T(8 /* never", 13, "expected `*/` to close this comment"),
    ("f32[2]{0:E(4)} é", 15, "expected the end of the shape, found `é`"),
    ("é", 0, "expected a shape: an element type, `b(` or `(`, found `é`"),
    ("f32[2]{0é}", 8, "expected `,`, `:` or `}`, found `é`"),
    ("token", 5, "expected `[` after `token`, found the end of the text"),
    ("token[2]", 6, "expected `]`: `token` has no dimensions, found `2`"),
    ("token[]{}", 7, "`token` must not have a layout, found one"),
    ("opaque[]{:T(8)}", 8, "`opaque` must not have a layout, found one"),
    ("(f32[2],)", 8, "expected a shape: an element type, `b(` or `(`, found `)`"),
    ("(f32[2]", 7, "expected `,` or `)` to close the tuple, found the end of the text"),
    ("(f32[2] f32[3])", 8, "expected `,` or `)` to close the tuple, found `f32`"),
    ("(,)", 1, "expected a shape: an element type, `b(` or `(`, found `,`"),
    (")", 0, "expected a shape: an element type, `b(` or `(`, found `)`"),
    ("b", 1, "expected `(` after `b`, found the end of the text"),
    ("b(", 2, "expected an array: an element type, found the end of the text"),
    ("b((f32[]))", 2, "expected an array: an element type, found `(`"),
    ("b(f32[]", 7, "expected `)` to close `b(`, found the end of the text"),
    ("b()", 2, "expected an array: an element type, found `)`"),
];

#[test]
fn wrong_texts() {
    for (text, at, message) in WRONG {
        match Shape::parse(text) {
            Ok(shape) => panic!("{text}: read as {shape}"),
            Err(error) => assert_eq!((error.at, &*error.message), (Some(*at), *message), "{text}"),
        }
    }
    let deep = |depth: usize| format!("{}{}", "(".repeat(depth), ")".repeat(depth));
    assert!(Shape::parse(&deep(Shape::MAX_DEPTH)).is_ok());
    let error = Shape::parse(&deep(Shape::MAX_DEPTH + 1)).unwrap_err();
    assert_eq!((error.at, &*error.message), (Some(256), "tuples must be nested at most 256 deep, found more"));
    let error = Layout::parse("{2,0}").unwrap_err();
    assert_eq!((error.at, &*error.message), (Some(1), "a dimension in minor_to_major must be in 0 to 1, found 2"));
    let error = Layout::parse("{0} x").unwrap_err();
    assert_eq!((error.at, &*error.message), (Some(4), "expected the end of the layout, found `x`"));
}
