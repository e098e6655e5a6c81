//! Advice for upstream's errors about memrefs whose layout has no strides.
//!
//! Upstream's verifiers state a requirement, "most minor memref dim must have unit stride", and no interface lets an
//! attribute add to it. So the dialect adds a note to such an error.

/// The errors of upstream's verifiers on memrefs without strides, and the advice.
const ADVICE: &[(&str, &str)] = &[
    (
        "most minor memref dim must have unit stride",
        "a memref with tiles or a swizzle has no strides: use affine.vector_load, affine.vector_store or vector.transfer_read, \
         vector.transfer_write, which layout-lower-memrefs lowers",
    ),
    (
        "is not strided",
        "a memref with tiles or a swizzle has no strides: slice the tensor (tensor.extract_slice, tensor.insert_slice), or \
         slice what layout-lower-memrefs makes of the memref",
    ),
];

/// The note for an error with this text, including its own notes; `None` if the error is about something else.
pub fn advice(error: &str) -> Option<&'static str> {
    let has_layout =
        ["#layout.tiled<", "#layout.tensor_layout<", "#layout.swizzled<"].iter().any(|layout| error.contains(layout));
    ADVICE.iter().find(|(what, _)| has_layout && error.contains(what)).map(|(_, advice)| *advice)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_errors_about_layouts_get_advice() {
        let error = |t: &str| format!("base type '{t}' is not strided");
        assert!(advice(&error("memref<2x3xf32, #layout.tiled<{1,0:T(2,2)}>>")).is_some_and(|a| a.contains("slice")));
        assert_eq!(advice(&error("memref<2x3xf32, affine_map<(d0, d1) -> (d0 * 5 mod 3, d1)>>")), None);
        assert_eq!(advice("#layout.tiled<{1,0:T(2,2)}> is fine"), None);
    }
}
