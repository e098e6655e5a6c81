//! Builds the C++ of the passes.

#[path = "../tools/glue.rs"]
mod glue;

fn main() {
    glue::build("layout_passes_glue", &["dialect", "passes"]);
}
