//! `#layout.axis`: the axis of a machine that a parallel loop runs over.

use layout::tensor_layout::check_axis;

/// Checks the parts of a `#layout.axis`.
pub fn verify_axis(name: &str, level: i64) -> Result<(), String> {
    // (C19) The name is one that a TensorLayout can give to an axis.
    check_axis(name)?;
    // (C20) The level is 0 or more.
    if level < 0 { Err(format!("the level of an axis is 0 or more, got {level}")) } else { Ok(()) }
}
