//! An array in the memory of its layout, as an argument or result of compiled functions.
//!
//! `f32[5,3]{1,0:T(2,2)}` is 6 tiles of 2×2: memory for 24 elements, in functions' physical form
//! `memref<3x2x2x2xf32>`. Its 15 elements go in and come out dense, in row-major order; the other 9 are padding.

use crate::descriptor::Descriptor;
use crate::element::Element;
use crate::engine::{Engine, Passed};
use layout_passes::{Form, MemRefForm};
use std::ffi::c_void;
use std::slice;
use tensor_layout::operations::Array;
use tensor_layout::packing::Packer;
use tensor_layout::text::Error;

unsafe extern "C" {
    fn free(pointer: *mut c_void);
}

/// The unit of allocation: a cache line, as wide as the widest vector.
#[repr(C, align(64))]
#[derive(Clone, Copy)]
struct Line([u8; 64]);

/// An array in memory.
pub struct Buffer {
    array: Array,
    packer: Packer,
    descriptor: Descriptor,
    /// The memory allocated here; `None` where compiled code has allocated.
    own: Option<Box<[Line]>>,
}

impl Buffer {
    /// An array whose elements and padding are zero, for functions lowered to this form.
    ///
    /// # Errors
    /// Lowering or [`Packer::new`] refuses the array.
    pub fn zeroed(array: &Array, form: Form) -> Result<Buffer, Error> {
        let (packer, plain) = (Packer::new(array)?, MemRefForm::new(array, form)?);
        let mut own = vec![Line([0; 64]); packer.memory_bytes().div_ceil(64).max(1)].into_boxed_slice();
        let descriptor = Descriptor::new(own.as_mut_ptr() as u64, 0, &plain.sizes, &plain.strides);
        Ok(Buffer { array: array.clone(), packer, descriptor, own: Some(own) })
    }

    /// An array with these elements, in row-major order, each in the whole bytes of its type.
    ///
    /// # Errors
    /// As for [`Buffer::zeroed`], or the number of bytes is not that of the elements.
    pub fn of_bytes(array: &Array, form: Form, dense: &[u8]) -> Result<Buffer, Error> {
        let mut buffer = Buffer::zeroed(array, form)?;
        let width = array.element.bytes().and_then(|bytes| usize::try_from(bytes).ok()).unwrap_or(0);
        let packer = buffer.packer.clone();
        packer.pack(dense, &vec![0; width], buffer.bytes_mut())?;
        Ok(buffer)
    }

    /// An array with these elements, in row-major order.
    ///
    /// # Errors
    /// As for [`Buffer::of_bytes`], or the array has another element type.
    pub fn of<T: Element>(array: &Array, form: Form, elements: &[T]) -> Result<Buffer, Error> {
        check_type::<T>(array)?;
        let mut dense = Vec::with_capacity(size_of_val(elements));
        elements.iter().for_each(|element| element.append(&mut dense));
        Buffer::of_bytes(array, form, &dense)
    }

    /// The shape and the layout.
    pub fn array(&self) -> &Array {
        &self.array
    }

    /// The descriptor for compiled functions.
    pub fn descriptor(&self) -> &Descriptor {
        &self.descriptor
    }

    /// The memory, padding included. The padding of a result is undefined.
    pub fn bytes(&self) -> &[u8] {
        if self.packer.memory_bytes() == 0 {
            return &[];
        }
        // SAFETY: the memory has this many bytes, allocated here or by a function with such a result.
        unsafe { slice::from_raw_parts(self.descriptor.start() as *const u8, self.packer.memory_bytes()) }
    }

    /// The memory, writable.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        if self.packer.memory_bytes() == 0 {
            return &mut [];
        }
        // SAFETY: as above, and this is the only reference: a buffer is given away as a whole only.
        unsafe { slice::from_raw_parts_mut(self.descriptor.start() as *mut u8, self.packer.memory_bytes()) }
    }

    /// The elements in row-major order, each in the whole bytes of its type.
    ///
    /// # Errors
    /// None that [`Buffer::zeroed`] has not found.
    pub fn to_bytes(&self) -> Result<Vec<u8>, Error> {
        let mut dense = vec![0; self.packer.dense_bytes()];
        self.packer.unpack(self.bytes(), &mut dense)?;
        Ok(dense)
    }

    /// The elements in row-major order.
    ///
    /// # Errors
    /// The array has another element type.
    pub fn elements<T: Element>(&self) -> Result<Vec<T>, Error> {
        check_type::<T>(&self.array)?;
        Ok(self.to_bytes()?.chunks_exact(size_of::<T>()).map(T::read).collect())
    }
}

fn check_type<T: Element>(array: &Array) -> Result<(), Error> {
    match array.element == T::TYPE {
        true => Ok(()),
        false => Err(Error::new(format!("the array has elements of {}, expected {}", array.element, T::TYPE))),
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        if self.own.is_none() {
            // SAFETY: compiled code allocates with malloc and gave the buffer away.
            unsafe { free(self.descriptor.allocated() as *mut c_void) }
        }
    }
}

/// The argument of a call for one parameter.
pub enum Argument<'a> {
    /// An array that the function reads.
    Reads(&'a Buffer),
    /// An array that the function may write.
    Writes(&'a mut Buffer),
    /// A number in the low bits: an index, an integer of at most 64 bits, or the bits of a float.
    Number(u64),
}

impl<'a> From<&'a Buffer> for Argument<'a> {
    fn from(buffer: &'a Buffer) -> Argument<'a> {
        Argument::Reads(buffer)
    }
}

impl<'a> From<&'a mut Buffer> for Argument<'a> {
    fn from(buffer: &'a mut Buffer) -> Argument<'a> {
        Argument::Writes(buffer)
    }
}

/// Calls a compiled function whose results are these arrays, in this form.
///
/// # Safety
/// Before `layout-to-llvm` lowered it to this form, the function had parameters and results of these shapes and
/// layouts, and `llvm.emit_c_interface`. Results are its own allocations, as after `layout-to-llvm`, and the module's
/// `malloc` is this process's. The function does not write to [`Argument::Reads`].
///
/// # Errors
/// No such function, a result that [`Buffer::zeroed`] refuses, or one whose sizes or strides are not those of its
/// layout.
pub unsafe fn call(
    engine: &Engine,
    name: &str,
    arguments: &[Argument],
    results: &[Array],
    form: Form,
) -> Result<Vec<Buffer>, Error> {
    let passed: Vec<Passed> = arguments
        .iter()
        .map(|argument| match argument {
            Argument::Reads(buffer) => Passed::Memory(buffer.descriptor.clone()),
            Argument::Writes(buffer) => Passed::Memory(buffer.descriptor.clone()),
            Argument::Number(number) => Passed::Number(*number),
        })
        .collect();
    let expected: Vec<(MemRefForm, Packer)> = results
        .iter()
        .map(|array| Ok((MemRefForm::new(array, form)?, Packer::new(array)?)))
        .collect::<Result<_, Error>>()?;
    let mut given: Vec<Descriptor> = expected.iter().map(|(plain, _)| Descriptor::of_rank(plain.sizes.len())).collect();
    // SAFETY: the caller ensures the function's types.
    unsafe { engine.invoke(name, &mut given, &passed) }?;
    let mut buffers = Vec::new();
    for ((array, (_, packer)), descriptor) in results.iter().zip(&expected).zip(given) {
        buffers.push(Buffer { array: array.clone(), packer: packer.clone(), descriptor, own: None });
    }
    for (buffer, (plain, _)) in buffers.iter().zip(&expected) {
        let found = &buffer.descriptor;
        if (found.sizes(), found.strides(), found.offset()) != (plain.sizes.clone(), plain.strides.clone(), 0) {
            let (sizes, strides) = (found.sizes(), found.strides());
            return Err(Error::new(format!(
                "`{name}` gives a memref of sizes {sizes:?} and strides {strides:?}; {} has {:?} and {:?}",
                buffer.array, plain.sizes, plain.strides
            )));
        }
    }
    Ok(buffers)
}
