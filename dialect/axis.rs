//! `#layout.axis`: the axis of a machine that a parallel loop runs over.

use ::tensor_layout::places::check_axis;

/// Checks the parts of a `#layout.axis`.
pub fn verify_axis(name: &str, level: i64) -> Result<(), String> {
    // (axis_c1) The name is one that a TensorLayout can give to an axis.
    check_axis(name)?;
    // (axis_c2) The level is 0 or more.
    if level < 0 { Err(format!("the level of an axis must be 0 or more, found {level}")) } else { Ok(()) }
}

/// The body of the attribute, as MLIR's own parser reads it.
pub fn print(name: &str, level: i64) -> String {
    format!("\"{name}\", level = {level}")
}
