//! Targets: default layouts, candidates and costs.

use serde_json::Value;
use tensor_layout::operations::{Array, Shape};
use tensor_layout::targets::Target;

fn array(text: &str) -> Array {
    match Shape::parse(text) {
        Ok(Shape::Array(array)) => array,
        other => panic!("{text}: {other:?}"),
    }
}

/// What XLA's compiler for TPUs chooses for entry arrays, over all ranks and types.
#[test]
fn default_layouts_are_those_of_the_compiler() {
    let target = Target::parse("tpu_v5e").unwrap();
    let mut rows = 0;
    for line in include_str!("golden/tpu_default_layouts.jsonl").lines() {
        let fact: Value = serde_json::from_str(line).unwrap();
        let array = array(fact["shape"].as_str().unwrap());
        let sizes = array.sizes().unwrap();
        let found = target.default_layout(array.element, &sizes).unwrap();
        assert_eq!(found.to_string(), fact["layout"].as_str().unwrap(), "{line}");
        rows += 1;
    }
    assert_eq!(rows, 6000);
}
