//! Elements narrower than their place in memory.
//!
//! | element | in memory | as a value |
//! |---|---|---|
//! | `i1` | a byte that is 0 or 1, as LLVM stores it | the byte is not 0 |
//! | `i1`, `i4`, .. with `E(8)`, `E(16)`, .. | an integer, whose upper bits are written as 0 and not read | the low bits |
//!
//! LLVM stores a vector of `i1` as packed bits. So the kernel treats a buffer of `i1` as `i8`, and its elements stay
//! bytes until an operation uses them:
//!
//! ```text
//! memref<4096xi1>  as  memref<4096xi8>     load vector<16xi8>, shuffle, compare with 0, compute
//! ```
//!
//! A truncation to `vector<16xi1>` would do as well, but LLVM moves it before the shuffle, and machines have no
//! instructions that shuffle bits: a choice between f32 by bytes of `T(8,128)(4,1)` took most of the time of
//! `embedding_gather` in TPU layouts.

use super::elements::{Narrow, is_bool};
use super::kernel::Kernel;
use super::tail::{UNEQUAL, compare};
use crate::buffers::lowered::with_elements;
use layout_ir::{self as ir, Builder, Val};
use melior::ir::r#type::IntegerType;
use melior::ir::{Type, ValueLike};

/// A buffer of `i1` viewed as `i8`; other buffers unchanged.
pub fn as_bytes<'c>(b: Builder<'c>, buffer: Val<'c>) -> Val<'c> {
    let element = ir::memref(buffer.r#type()).expect("operands are memrefs").element;
    if is_bool(element) { with_elements(b, buffer, IntegerType::new(b.context(), 8).into()) } else { buffer }
}

impl<'c> Kernel<'_, 'c> {
    /// Decodes a register of an operand's elements.
    pub fn as_values(&self, b: Builder<'c>, operand: usize, v: Val<'c>) -> Val<'c> {
        match self.narrow[operand] {
            Narrow::Same => v,
            Narrow::Bool => compare(b, UNEQUAL, v, b.constant(ir::zeros(v.r#type())), self.lanes_of(v, 1, b)),
            Narrow::LowBits(value) => {
                let bits = ir::bits(value).expect("other elements than numbers are whole");
                self.cast(b, b.value("arith.trunci", &[v], self.lanes_of(v, bits, b), &[]), value)
            }
        }
    }

    /// Encodes a register of values as elements of an operand.
    pub fn as_elements(&self, b: Builder<'c>, operand: usize, v: Val<'c>) -> Val<'c> {
        let value = ir::vector(v.r#type()).expect("registers are vectors").element;
        match self.narrow[operand] {
            Narrow::Bool if is_bool(value) => b.value("arith.extui", &[v], self.lanes_of(v, 8, b), &[]),
            Narrow::LowBits(element) if element == value => {
                let bits = ir::bits(value).expect("other elements than numbers are whole");
                let integer = IntegerType::new(b.context(), bits as u32).into();
                let wide = self.lanes_of(v, 8 * self.bytes(operand), b);
                b.value("arith.extui", &[self.cast(b, v, integer)], wide, &[])
            }
            _ => v,
        }
    }

    /// The vector type with as many integers of this width.
    fn lanes_of(&self, v: Val<'c>, bits: i64, b: Builder<'c>) -> Type<'c> {
        let lanes = ir::vector(v.r#type()).expect("registers are vectors").shape;
        ir::vector_type(&lanes, IntegerType::new(b.context(), bits as u32).into())
    }
}
