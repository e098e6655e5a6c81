//! Builds the C++ of the tools.

#[path = "../glue.rs"]
mod glue;

fn main() {
    glue::build("layout_opt_glue", &["tools/opt"]);
}
