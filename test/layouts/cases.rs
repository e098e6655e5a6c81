//! Known facts about shapes and layouts, one a line, and wrong texts with their errors.

use layout_reference::lines;
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
    for line in
        [include_str!("../golden/layouts.jsonl"), include_str!("shapes/facts.jsonl")].iter().flat_map(|all| all.lines())
    {
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
            "expanded_sizes" => expansion(text).sizes().into(),
            "padded_elements" => expansion(text).allocated_elements().into(),
            "padded_bytes" => bytes(text).into(),
            "logical_bytes" => expansion(text).logical_bytes(array(text).element).unwrap().into(),
            other => panic!("unknown check {other}"),
        };
        assert_eq!(found, *expected, "{line}");
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
    lines::check("layouts/shapes/printed.txt", "> ", |text, printed| {
        let shape = Shape::parse(text).unwrap_or_else(|e| panic!("{text}: {e} at {:?}", e.at));
        assert_eq!(Shape::parse(printed).as_ref(), Ok(&shape), "{printed}");
        shape.to_string()
    });
    for type_name in tensor_layout::element::ElementType::ALL {
        let text = format!("{type_name}[]");
        assert_eq!(Shape::parse(&text).unwrap().to_string(), text);
    }
    for text in ["{}", "{0}", "{1,0:T(8,128)S(1)}", "{:T(128)}"] {
        assert_eq!(Layout::parse(text).unwrap().to_string(), text);
    }
}

#[test]
fn wrong_texts() {
    lines::check("layouts/shapes/errors.txt", "! ", |text, _| lines::error(&Shape::parse(text).expect_err(text)));
    let deep = |depth: usize| format!("{}{}", "(".repeat(depth), ")".repeat(depth));
    assert!(Shape::parse(&deep(Shape::MAX_DEPTH)).is_ok());
    let error = Shape::parse(&deep(Shape::MAX_DEPTH + 1)).unwrap_err();
    assert_eq!((error.at, &*error.message), (Some(256), "tuples must be nested at most 256 deep, found more"));
    let error = Layout::parse("{2,0}").unwrap_err();
    assert_eq!((error.at, &*error.message), (Some(1), "a dimension in minor_to_major must be in 0 to 1, found 2"));
    let error = Layout::parse("{0} x").unwrap_err();
    assert_eq!((error.at, &*error.message), (Some(4), "expected the end of the layout, found `x`"));
}
