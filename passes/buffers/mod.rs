//! What becomes of one buffer: its type, its index, the operations that reach it.

pub mod globals;
pub mod index;
pub mod lowered;
pub mod operations;
pub mod spread;
pub mod type_converter;
