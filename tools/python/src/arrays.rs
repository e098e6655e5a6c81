//! Bytes of NumPy's arrays: the crate's only unsafe code.

#![allow(unsafe_code)]

use crate::errors::plain;
use pyo3::buffer::PyBuffer;
use pyo3::prelude::*;
use std::slice;
use tensor_layout::packing::Packer;
use tensor_layout::text::Error;

/// The bytes of a buffer that is read.
///
/// # Safety
/// Nothing writes to the buffer while the slice exists. Python code alone cannot ensure that, since another thread may
/// write to an array at any time: as with NumPy's own functions, threads that share an array must not write to it while
/// it is read.
unsafe fn read(buffer: &PyBuffer<u8>) -> &[u8] {
    match buffer.len_bytes() {
        0 => &[],
        // SAFETY: the buffer is contiguous (`contiguous`), has `bytes` bytes, and is held by `buffer`.
        bytes => unsafe { slice::from_raw_parts(buffer.buf_ptr().cast(), bytes) },
    }
}

/// The bytes of a buffer that is written.
///
/// # Safety
/// As [`read`]; and nothing reads the buffer: it is a new array of the package.
#[allow(clippy::mut_from_ref, reason = "the memory is Python's, and the caller promises that there is one slice of it")]
unsafe fn written(buffer: &PyBuffer<u8>) -> &mut [u8] {
    match buffer.len_bytes() {
        0 => &mut [],
        // SAFETY: as in `read`; the buffer may be written (`distinct`).
        bytes => unsafe { slice::from_raw_parts_mut(buffer.buf_ptr().cast(), bytes) },
    }
}

/// Refuses buffers that are not contiguous bytes, and a destination that is read-only or overlaps a source.
fn check(from: &[&PyBuffer<u8>], to: &PyBuffer<u8>) -> PyResult<()> {
    let range = |buffer: &PyBuffer<u8>| (buffer.buf_ptr() as usize, buffer.buf_ptr() as usize + buffer.len_bytes());
    let (start, end) = range(to);
    let overlap = |buffer: &&PyBuffer<u8>| {
        let (first, last) = range(buffer);
        first < end && start < last
    };
    let contiguous = from.iter().chain([&to]).all(|buffer| buffer.is_c_contiguous());
    if !contiguous || to.readonly() || from.iter().any(overlap) {
        return Err(plain(Error::new("expected contiguous bytes, and others to write to")));
    }
    Ok(())
}

/// [`Packer::pack`] on buffers.
pub fn pack(py: Python, packer: &Packer, from: &PyBuffer<u8>, padding: &[u8], to: &PyBuffer<u8>) -> PyResult<()> {
    check(&[from], to)?;
    // SAFETY: the buffers are contiguous and do not overlap, and `to` is the package's own.
    let (dense, memory) = unsafe { (read(from), written(to)) };
    py.detach(|| packer.pack(dense, padding, memory)).map_err(plain)
}

/// [`Packer::unpack`] on buffers.
pub fn unpack(py: Python, packer: &Packer, from: &PyBuffer<u8>, to: &PyBuffer<u8>) -> PyResult<()> {
    check(&[from], to)?;
    // SAFETY: as in `pack`.
    let (memory, dense) = unsafe { (read(from), written(to)) };
    py.detach(|| packer.unpack(memory, dense)).map_err(plain)
}

/// [`Packer::offsets`] into a buffer of 64-bit integers.
pub fn offsets(py: Python, packer: &Packer, to: &PyBuffer<i64>) -> PyResult<()> {
    if !to.is_c_contiguous() || to.readonly() {
        return Err(plain(Error::new("expected a contiguous array to write to")));
    }
    let offsets: &mut [i64] = match to.item_count() {
        0 => &mut [],
        // SAFETY: the buffer is contiguous, of this type, held by `to`, and the package's own.
        count => unsafe { slice::from_raw_parts_mut(to.buf_ptr().cast(), count) },
    };
    py.detach(|| packer.offsets(offsets)).map_err(plain)
}
