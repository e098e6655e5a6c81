//! Elements with another width in memory: `E(4)` puts two into a byte, `E(32)` one into four.

/// The widths of an element.
#[derive(Clone, Copy)]
pub struct Bits {
    /// The bytes outside the memory, and the number of low bits of them in use.
    pub width: usize,
    pub own: usize,
    /// The bits in memory.
    pub inside: usize,
    /// Whether the upper bits are sign extension.
    pub signed: bool,
}

/// Bit `k` of a row of bytes, the first in the low bits.
fn bit(bytes: &[u8], k: usize) -> bool {
    bytes[k / 8] >> (k % 8) & 1 == 1
}

/// Packs elements of whole bytes to their width in memory.
pub fn squeeze(whole: &[u8], Bits { width, own, inside, .. }: Bits, packed: &mut [u8]) {
    packed.fill(0);
    // Several elements to a byte.
    if let (1, 1 | 2 | 4) = (width, inside) {
        let low = (1_u8 << own) - 1;
        for (byte, elements) in packed.iter_mut().zip(whole.chunks(8 / inside)) {
            *byte = elements.iter().rev().fold(0, |byte, element| byte << inside | element & low);
        }
        return;
    }
    for (k, element) in whole.chunks_exact(width).enumerate() {
        for at in (0..own).filter(|at| bit(element, *at)) {
            let to = k * inside + at;
            packed[to / 8] |= 1 << (to % 8);
        }
    }
}

/// Unpacks elements into whole bytes.
pub fn spread(packed: &[u8], Bits { width, own, inside, signed }: Bits, whole: &mut [u8]) {
    // The sign extension of a negative number.
    let above = if signed && own < 8 { u8::MAX << own } else { 0 };
    if let (1, 1 | 2 | 4) = (width, inside) {
        let low = (1_u8 << own) - 1;
        for (byte, elements) in packed.iter().zip(whole.chunks_mut(8 / inside)) {
            for (k, element) in elements.iter_mut().enumerate() {
                let bits = byte >> (k * inside) & low;
                *element = if bits >> (own - 1) == 1 { bits | above } else { bits };
            }
        }
        return;
    }
    whole.fill(0);
    for (k, element) in whole.chunks_exact_mut(width).enumerate() {
        for at in (0..own).filter(|at| bit(packed, k * inside + at)) {
            element[at / 8] |= 1 << (at % 8);
        }
        if bit(element, own - 1) {
            element[0] |= above;
        }
    }
}
