//! The content of `libLayout.so`: the dialect and its passes with their C++, and the C API of `layout-c/`.
//!
//! CMake links the whole archive (`Package.cmake`). Each function converts its arguments and calls the crates below.
#![deny(unsafe_code)]

#[allow(unsafe_code, reason = "C calls it, with pointers")]
mod ffi;
#[allow(unsafe_code, reason = "C calls it, with pointers")]
mod queries;
