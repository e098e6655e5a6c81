//! Programs that are long, mutated or full of windows, imported.

#[path = "../../../test/reference/changes.rs"]
mod changes;

mod long;
mod mutations;
mod windows;
