//! Arrays in memory, laid out by the slow evaluator of `definition.rs`, with garbage where no element is and around them.

use crate::array::{Array, Notation};
use crate::definition::lay_out;
use layout_passes::Form;
use melior::ExecutionEngine;
use std::slice;
use tensor_layout::tiled::Expansion;
use tensor_layout::tiled::Layout;

/// What is where no element is; fresh memory holds the second.
pub const GARBAGE: [u8; 3] = [0, 0x7f, 0xff];
/// Bytes of garbage on each side of a buffer.
const FENCE: usize = 64;

/// An array in memory, garbage where no element is and around it.
pub struct Buffer {
    array: Array,
    /// Of `u64`, for the alignment.
    memory: Vec<u64>,
    /// The byte offsets of all copies of each element, by its row-major number.
    places: Vec<Vec<usize>>,
    garbage: u8,
    /// The descriptor that compiled code takes.
    descriptor: Vec<u64>,
}

impl Buffer {
    /// With these numbers in its elements.
    pub fn new(array: &Array, numbers: &[f64], form: Form, garbage: u8) -> Buffer {
        let (places, elements) = places(array);
        let bytes = elements * array.element.size;
        let mut memory = vec![u64::from_ne_bytes([garbage; 8]); (bytes + 2 * FENCE).div_ceil(8)];
        let start = memory.as_mut_ptr() as u64 + FENCE as u64;
        let mut descriptor = vec![start, start, 0];
        let (sizes, strides) = dimensions(array, form);
        descriptor.extend(sizes.into_iter().chain(strides).map(|n| n as u64));
        let mut buffer = Buffer { array: array.clone(), memory, places, garbage, descriptor };
        for (places, n) in buffer.places.clone().into_iter().zip(numbers) {
            for at in places.into_iter().map(|place| FENCE + place) {
                buffer.all_mut()[at..at + array.element.size].copy_from_slice(&array.element.bytes(*n));
            }
        }
        buffer
    }

    fn all(&self) -> &[u8] {
        // SAFETY: bytes may be read from any initialised memory.
        unsafe { slice::from_raw_parts(self.memory.as_ptr().cast(), self.memory.len() * 8) }
    }

    fn all_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above, and any bytes make `u64`s.
        unsafe { slice::from_raw_parts_mut(self.memory.as_mut_ptr().cast(), self.memory.len() * 8) }
    }

    /// The copies of each element, by its row-major number.
    pub fn numbers(&self) -> Vec<Vec<f64>> {
        read(&self.array, &self.places, &self.all()[FENCE..])
    }

    /// Whether what surrounds it and its padding are as they were.
    pub fn fenced(&self) -> bool {
        let (before, rest) = self.all().split_at(FENCE);
        let free = free(&self.array, &self.places, rest.len());
        let rest = rest.iter().zip(free).filter(|(_, free)| *free).map(|(b, _)| b);
        before.iter().chain(rest).all(|b| *b == self.garbage)
    }
}

/// The byte offsets of all copies of each element, by its row-major number, and how many elements memory holds.
fn places(array: &Array) -> (Vec<Vec<usize>>, usize) {
    let layout = match &array.layout {
        Some(Notation::Spread(spread)) => {
            let mut places = spread.offsets(&array.sizes);
            places.iter_mut().flatten().for_each(|offset| *offset *= array.element.size);
            return (places, spread.elements());
        }
        Some(Notation::Tiled(layout)) => layout.clone(),
        None => Layout::row_major(array.rank()),
    };
    let memory = lay_out(&array.sizes, &layout);
    let mut found = vec![Vec::new(); array.sizes.iter().product::<i64>() as usize];
    for (offset, content) in memory.cells.iter().enumerate() {
        if let Some(index) = content {
            let number = array.sizes.iter().zip(index).fold(0, |at, (n, i)| at * n + i);
            found[number as usize].push(offset * array.element.size);
        }
    }
    (found, memory.cells.len())
}

/// For each of so many bytes, whether no element is there.
fn free(array: &Array, places: &[Vec<usize>], bytes: usize) -> Vec<bool> {
    let mut free = vec![true; bytes];
    for place in places.iter().flatten() {
        free[*place..place + array.element.size].fill(false);
    }
    free
}

fn read(array: &Array, places: &[Vec<usize>], bytes: &[u8]) -> Vec<Vec<f64>> {
    let number = |p: &usize| array.element.number(&bytes[*p..*p + array.element.size]);
    places.iter().map(|copies| copies.iter().map(number).collect()).collect()
}

/// The sizes and strides of the memref that an array is lowered to.
fn dimensions(array: &Array, form: Form) -> (Vec<i64>, Vec<i64>) {
    let layout = match &array.layout {
        Some(Notation::Spread(spread)) => return spread.dimensions().into_iter().unzip(),
        Some(Notation::Tiled(layout)) => layout,
        None => {
            let expansion = Expansion::new(&array.sizes, &Layout::row_major(array.rank())).expect("small");
            return (expansion.sizes().to_vec(), expansion.strides().to_vec());
        }
    };
    let mut parts = Expansion::new(&array.sizes, layout).expect("small").parts();
    if form == Form::Physical {
        parts.sort_by_key(|p| p.position);
    }
    parts.iter().map(|p| (p.size, p.stride)).unzip()
}

/// Calls a compiled function and reads its result; also says whether a result that is spread over places has nothing
/// but elements and garbage.
pub fn call(
    engine: &ExecutionEngine,
    name: &str,
    buffers: &mut [Buffer],
    indices: &[i64],
    result: Option<&Array>,
) -> (Vec<Vec<f64>>, bool) {
    // Room for the descriptor of any rank; a pointer to it is the first argument.
    let mut returned = vec![0u64; 256];
    let mut values: Vec<u64> = result.iter().map(|_| returned.as_mut_ptr() as u64).collect();
    values.extend(buffers.iter_mut().map(|buffer| buffer.descriptor.as_mut_ptr() as u64));
    values.extend(indices.iter().map(|n| *n as u64));
    let mut packed: Vec<*mut ()> = values.iter_mut().map(|v| std::ptr::from_mut(v).cast()).collect();
    // SAFETY: the function takes these descriptors and indices, as its signature was made from the same arguments.
    unsafe { engine.invoke_packed(name, &mut packed) }.expect("the function is there");
    let Some(array) = result else { return (Vec::new(), true) };
    let (places, elements) = places(array);
    let start = (returned[1] + returned[2] * array.element.size as u64) as *const u8;
    // SAFETY: the buffer holds as many elements as the layout counts. It is not freed: it may be an argument's.
    let bytes = unsafe { slice::from_raw_parts(start, elements * array.element.size) };
    let clean = !matches!(array.layout, Some(Notation::Spread(_)))
        || bytes.iter().zip(free(array, &places, bytes.len())).all(|(b, free)| !free || GARBAGE.contains(b));
    (read(array, &places, bytes), clean)
}
