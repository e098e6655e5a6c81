//! Buffers as compiled functions take and give them, and the call of one. All that is unsafe is here.

use melior::ExecutionEngine;
use std::ffi::c_void;

unsafe extern "C" {
    fn free(pointer: *mut c_void);
}

/// MLIR's descriptor of a memref of numbers.
#[repr(C)]
struct Descriptor<const RANK: usize> {
    allocated: *mut f32,
    aligned: *mut f32,
    offset: i64,
    sizes: [i64; RANK],
    strides: [i64; RANK],
}

/// A buffer of numbers.
pub struct Buffer<const RANK: usize> {
    descriptor: Descriptor<RANK>,
    /// What was allocated here; nothing where compiled code has allocated.
    own: Option<Box<[f32]>>,
}

impl Buffer<2> {
    /// A row-major buffer.
    pub fn row_major(sizes: [u64; 2], elements: impl Iterator<Item = f32>) -> Self {
        let mut own: Box<[f32]> = elements.collect();
        assert_eq!(own.len() as u64, sizes[0] * sizes[1]);
        let at = own.as_mut_ptr();
        let sizes = sizes.map(|size| size as i64);
        Buffer {
            descriptor: Descriptor { allocated: at, aligned: at, offset: 0, sizes, strides: [sizes[1], 1] },
            own: Some(own),
        }
    }
}

impl<const RANK: usize> Buffer<RANK> {
    /// The size of each dimension.
    pub fn sizes(&self) -> [i64; RANK] {
        self.descriptor.sizes
    }

    /// How many elements a step along each dimension moves.
    pub fn strides(&self) -> [i64; RANK] {
        self.descriptor.strides
    }

    /// The elements in memory order, padding included: `count` of them, as many as are allocated.
    pub fn elements(&self, count: usize) -> Vec<f32> {
        let reach = self.sizes().iter().zip(self.strides()).map(|(size, stride)| (size - 1) * stride).sum::<i64>();
        assert!((reach as usize) < count && self.descriptor.offset == 0);
        // SAFETY: the buffer has as many elements as its layout needs; padding is read as raw bytes of a number.
        (0..count).map(|k| unsafe { self.descriptor.aligned.add(k).read() }).collect()
    }
}

impl<const RANK: usize> Drop for Buffer<RANK> {
    fn drop(&mut self) {
        if self.own.is_none() {
            // SAFETY: compiled code allocates with malloc and gave the buffer away.
            unsafe { free(self.descriptor.allocated.cast()) }
        }
    }
}

/// Calls a function of one buffer that gives another; it has `llvm.emit_c_interface`, and these ranks.
pub fn call<const FROM: usize, const TO: usize>(
    engine: &ExecutionEngine,
    name: &str,
    from: &Buffer<FROM>,
) -> Result<Buffer<TO>, melior::Error> {
    let null = std::ptr::null_mut();
    let mut to = Descriptor { allocated: null, aligned: null, offset: 0, sizes: [0; TO], strides: [0; TO] };
    // The C interface takes a pointer to the result and to each argument; packed arguments are pointers to those.
    let mut result: *mut Descriptor<TO> = &mut to;
    let mut argument: *const Descriptor<FROM> = &from.descriptor;
    // SAFETY: the function has this type; it reads its argument and writes its result.
    unsafe {
        engine.invoke_packed(name, &mut [(&raw mut result).cast(), (&raw mut argument).cast()])?;
    }
    Ok(Buffer { descriptor: to, own: None })
}
