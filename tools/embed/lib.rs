//! What `libLayout.so` is made of: the dialect and its passes with their C++, and the C API of `layout-c/`.
//!
//! CMake links the whole archive (`Package.cmake`). Each function hands on to the crates below and decides nothing itself.
#![deny(unsafe_code)]

#[allow(unsafe_code, reason = "the one place where C and Rust meet")]
mod ffi;
