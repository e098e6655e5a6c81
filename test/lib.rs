//! The lit tests of the workspace: see `lit.rs`.
