//! Shows what a layout means.
fn main() {}
