//! Elements of one bit, each in a byte of its own.
//!
//! LLVM stores an `i1` as a byte that is 0 or 1, and a vector of `i1` as packed bits. So the kernel sees such a buffer as
//! one of `i8`, and its elements are bytes until something is computed with them:
//!
//! ```text
//! memref<4096xi1>  as  memref<4096xi8>     load vector<16xi8>, shuffle, compare with 0, compute
//! ```
//!
//! A truncation to `vector<16xi1>` would do as well, but LLVM moves it before the shuffle, and machines have no instructions
//! that shuffle bits: a choice between f32 by bytes of `T(8,128)(4,1)` took most of the time of `embedding_gather` in the
//! layouts of a TPU.
//!
//! A descriptor of `i1` is one of `i8`, as pointers have no type: the cast is gone with `reconcile-unrealized-casts`.

use super::kernel::Kernel;
use super::rest::{UNEQUAL, compare};
use crate::buffers::operations::BYTES_OF_BOOLS;
use layout_ir::{self as ir, Builder, Shaped, Val};
use melior::ir::r#type::IntegerType;
use melior::ir::{Type, ValueLike};

/// Whether elements are of one bit.
pub fn is_bool(element: Type) -> bool {
    ir::bits(element) == Some(1)
}

/// A buffer of such elements as one of bytes; others as they are.
pub fn as_bytes<'c>(b: Builder<'c>, buffer: Val<'c>) -> Val<'c> {
    let shaped = ir::memref(buffer.r#type()).expect("operands are memrefs");
    if !is_bool(shaped.element) {
        return buffer;
    }
    let bytes = Shaped { element: IntegerType::new(b.context(), 8).into(), ..shaped };
    let t = ir::memref_type(b.location, &bytes).expect("bytes make a memref");
    b.value(BYTES_OF_BOOLS, &[buffer], t, &[])
}

impl<'c> Kernel<'_, 'c> {
    /// A register of an operand's elements as values to compute with.
    pub fn as_values(&self, b: Builder<'c>, operand: usize, v: Val<'c>) -> Val<'c> {
        if !self.bools[operand] {
            return v;
        }
        compare(b, UNEQUAL, v, b.constant(ir::zeros(v.r#type())), self.lanes_of(v, 1, b))
    }

    /// A register of values as elements of an operand.
    pub fn as_elements(&self, b: Builder<'c>, operand: usize, v: Val<'c>) -> Val<'c> {
        let computed = ir::vector(v.r#type()).is_some_and(|t| is_bool(t.element));
        if self.bools[operand] && computed { b.value("arith.extui", &[v], self.lanes_of(v, 8, b), &[]) } else { v }
    }

    /// The type of a vector of as many integers of so many bits.
    fn lanes_of(&self, v: Val<'c>, bits: u32, b: Builder<'c>) -> Type<'c> {
        let lanes = ir::vector(v.r#type()).expect("registers are vectors").shape;
        ir::vector_type(&lanes, IntegerType::new(b.context(), bits).into())
    }
}
