//! Arrays in memory, laid out by the slow evaluator of `layout_reference::tiled`, with garbage in the padding and around them.

use crate::array::{Array, Notation};
use layout_passes::Form;
use layout_reference::tiled::lay_out;
use layout_runtime::{Descriptor, Engine, Passed};
use std::slice;
use tensor_layout::tiled::Expansion;

/// Bytes of padding; fresh memory holds the second.
pub const GARBAGE: [u8; 3] = [0, 0x7f, 0xff];
/// Bytes of garbage on each side of a buffer.
const FENCE: usize = 64;

/// An array in memory, with garbage in its padding and around it.
pub struct Buffer {
    array: Array,
    /// `u64` for alignment.
    memory: Vec<u64>,
    /// The offset of the first element, behind the fence and the metadata.
    start: usize,
    /// The offsets in bits of all copies of each element, by row-major index.
    places: Vec<Vec<usize>>,
    garbage: u8,
    /// The byte from which on only elements may be written.
    free_from: usize,
    /// The argument descriptor for compiled code.
    descriptor: Descriptor,
}

impl Buffer {
    /// A buffer with these numbers as elements; `typed` lets a program write to its padding.
    pub fn new(array: &Array, numbers: &[f64], form: Form, garbage: u8, typed: bool) -> Buffer {
        let (places, bytes) = places(array);
        let prefix = array.tiled_layout().metadata_prefix;
        let start = FENCE + prefix as usize;
        let mut memory = vec![u64::from_ne_bytes([garbage; 8]); (start + bytes + FENCE).div_ceil(8)];
        let pointer = memory.as_mut_ptr() as u64 + FENCE as u64;
        let (sizes, strides) = dimensions(array, form);
        let descriptor = Descriptor::new(pointer, prefix * 8 / array.unit_bits(), &sizes, &strides);
        let free_from = if typed { bytes } else { 0 };
        let mut buffer = Buffer { array: array.clone(), memory, start, places, garbage, free_from, descriptor };
        // LLVM assumes zeros in the other bits of an `i4`'s byte; those of an integer wider than `E` are not read.
        let own = 8 * array.element.size;
        let bits = if array.stored_bits() == own as i64 { own } else { array.element.bits };
        for (places, n) in buffer.places.clone().into_iter().zip(numbers) {
            for place in places {
                put(buffer.all_mut(), start * 8 + place, bits, &array.element.bytes(*n));
            }
        }
        buffer
    }

    fn all(&self) -> &[u8] {
        // SAFETY: bytes may be read from any initialised memory.
        unsafe { slice::from_raw_parts(self.memory.as_ptr().cast(), self.memory.len() * 8) }
    }

    fn all_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above, and any bytes are valid `u64`s.
        unsafe { slice::from_raw_parts_mut(self.memory.as_mut_ptr().cast(), self.memory.len() * 8) }
    }

    /// The copies of each element, by row-major index.
    pub fn numbers(&self) -> Vec<Vec<f64>> {
        read(&self.array, &self.places, &self.all()[self.start..])
    }

    /// Whether fences, metadata and padding are unchanged; padding only if it may not be written.
    pub fn fenced(&self) -> bool {
        let (before, rest) = self.all().split_at(self.start);
        let free = free(&self.array, &self.places, rest.len());
        before.iter().all(|b| *b == self.garbage)
            && rest.iter().zip(free).skip(self.free_from).all(|(b, free)| (b ^ self.garbage) & free == 0)
    }
}

/// Writes `bits` bits of a value from bit `at` on, lowest first.
fn put(memory: &mut [u8], at: usize, bits: usize, value: &[u8]) {
    for bit in 0..bits {
        let (byte, mask) = ((at + bit) / 8, 1 << ((at + bit) % 8));
        memory[byte] = if value[bit / 8] >> (bit % 8) & 1 == 1 { memory[byte] | mask } else { memory[byte] & !mask };
    }
}

/// Reads `bits` bits from bit `at` on, lowest first.
fn get(memory: &[u8], at: usize, bits: usize) -> Vec<u8> {
    let mut value = vec![0; bits.div_ceil(8)];
    for bit in 0..bits {
        value[bit / 8] |= (memory[(at + bit) / 8] >> ((at + bit) % 8) & 1) << (bit % 8);
    }
    value
}

/// The offsets in bits of all copies of each element, by row-major index, and the size in bytes.
fn places(array: &Array) -> (Vec<Vec<usize>>, usize) {
    let bits = array.stored_bits() as usize;
    if let Some(Notation::Spread(spread)) = &array.layout {
        let mut places = spread.offsets(&array.sizes);
        places.iter_mut().flatten().for_each(|offset| *offset *= bits);
        return (places, spread.elements() * bits / 8);
    }
    let memory = lay_out(&array.sizes, &array.tiled_layout());
    let offsets = memory.offsets(&array.sizes).into_iter().map(|offset| offset as usize);
    let (offsets, elements): (Vec<usize>, usize) = match &array.layout {
        Some(Notation::Swizzled(flips, _)) => {
            (offsets.map(|offset| flips.of(offset)).collect(), flips.whole(memory.cells.len()))
        }
        _ => (offsets.collect(), memory.cells.len()),
    };
    (offsets.into_iter().map(|offset| vec![offset * bits]).collect(), (elements * bits).div_ceil(8))
}

/// A mask of the bits without an element, for each byte.
fn free(array: &Array, places: &[Vec<usize>], bytes: usize) -> Vec<u8> {
    let mut free = vec![0xff; bytes];
    let bits = array.stored_bits() as usize;
    for place in places.iter().flatten() {
        put(&mut free, *place, bits, &[0; 8]);
    }
    free
}

fn read(array: &Array, places: &[Vec<usize>], bytes: &[u8]) -> Vec<Vec<f64>> {
    let number = |place: &usize| array.element.number(&get(bytes, *place, array.element.bits));
    places.iter().map(|copies| copies.iter().map(number).collect()).collect()
}

/// The sizes and strides of an array's lowered memref.
fn dimensions(array: &Array, form: Form) -> (Vec<i64>, Vec<i64>) {
    if let Some(Notation::Spread(spread)) = &array.layout {
        return spread.dimensions().into_iter().unzip();
    }
    if let Some(Notation::Swizzled(..)) = &array.layout {
        let bytes = places(array).1 as i64;
        return (vec![bytes / array.element.size as i64], vec![1]);
    }
    let layout = array.tiled_layout();
    let real = Expansion::new(&array.sizes, &layout).expect("small");
    let parts = array.parts();
    let mut found: Vec<(usize, i64, i64)> =
        parts.iter().map(|p| (p.position, real.sizes()[p.position], real.strides()[p.position])).collect();
    let held = array.unit_bits() / array.stored_bits();
    if held > 1 {
        match array.fastest() {
            Some(position) => {
                for (at, size, stride) in &mut found {
                    if *at == position {
                        *size /= held;
                    } else {
                        *stride = (*stride / held).max(1);
                    }
                }
            }
            None => found = vec![(0, (real.elements() + held - 1) / held, 1)],
        }
    }
    if form == Form::Physical {
        found.sort_by_key(|part| part.0);
    }
    // The dynamic sizes that tiles cut come first.
    let carried = array.unknown.iter().copied().filter(|d| !array.is_uncut(*d)).map(|d| (array.sizes[d], 0));
    carried.chain(found.into_iter().map(|(_, size, stride)| (size, stride))).unzip()
}

/// Calls a compiled function and reads its result. The second value is whether a result over places holds only elements
/// and garbage.
pub fn call(
    engine: &Engine,
    name: &str,
    buffers: &mut [Buffer],
    indices: &[i64],
    result: Option<&Array>,
) -> (Vec<Vec<f64>>, bool) {
    // Both forms have the same rank.
    let rank = |array: &Array| dimensions(array, Form::Strided).0.len();
    let mut results: Vec<Descriptor> = result.iter().map(|array| Descriptor::of_rank(rank(array))).collect();
    let memories = buffers.iter().map(|buffer| Passed::Memory(buffer.descriptor.clone()));
    let passed: Vec<Passed> = memories.chain(indices.iter().map(|n| Passed::Number(*n as u64))).collect();
    // SAFETY: the function takes these descriptors and indices: its signature has the same arguments.
    unsafe { engine.invoke(name, &mut results, &passed) }.expect("the function is there");
    let Some(array) = result else { return (Vec::new(), true) };
    let (places, bytes) = places(array);
    let start = (results[0].start() + results[0].offset() as u64 * array.unit_bits() as u64 / 8) as *const u8;
    // SAFETY: the buffer has the layout's number of elements. It is not freed: it may be an argument's.
    let bytes = unsafe { slice::from_raw_parts(start, bytes) };
    let clean = !matches!(array.layout, Some(Notation::Spread(_)))
        || bytes.iter().zip(free(array, &places, bytes.len())).all(|(b, free)| free == 0 || GARBAGE.contains(b));
    (read(array, &places, bytes), clean)
}
