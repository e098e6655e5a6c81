//! Memref descriptors of the LLVM dialect, built from pointers.

use layout_ir::{self as ir, Builder, Val};
use melior::ir::attribute::IntegerAttribute;
use melior::ir::r#type::IntegerType;
use melior::ir::{Attribute, Identifier, Type};

/// A memref of this type at a pointer, with this offset, these sizes and strides. It must not be freed: the allocated
/// pointer is unknown.
pub fn at_pointer<'c>(b: Builder<'c>, pointer: Val<'c>, numbers: &[i64], t: Type<'c>) -> Val<'c> {
    let rank = (numbers.len() - 1) / 2;
    let descriptor = descriptor(b, rank);
    let insert = |into: Val<'c>, value: Val<'c>, at: &[i64]| {
        b.value("llvm.insertvalue", &[into, value], descriptor, &[position(b, at)])
    };
    let made = b.value("llvm.mlir.poison", &[], descriptor, &[]);
    let made = insert(insert(made, pointer, &[0]), pointer, &[1]);
    let made = numbers.iter().enumerate().fold(made, |made, (k, n)| match k.checked_sub(1) {
        None => insert(made, number(b, *n), &[2]),
        Some(k) => insert(made, number(b, *n), &[3 + (k / rank) as i64, (k % rank) as i64]),
    });
    b.value("builtin.unrealized_conversion_cast", &[made], t, &[])
}

/// The LLVM type of a memref descriptor of some rank.
pub fn descriptor<'c>(b: Builder<'c>, rank: usize) -> Type<'c> {
    let arrays = if rank == 0 { String::new() } else { format!(", array<{rank} x i64>, array<{rank} x i64>") };
    let descriptor = Type::parse(b.context(), &format!("!llvm.struct<(ptr, ptr, i64{arrays})>"));
    descriptor.expect("a type of the LLVM dialect")
}

/// The pointer type.
pub fn pointer_type<'c>(b: Builder<'c>) -> Type<'c> {
    Type::parse(b.context(), "!llvm.ptr").expect("a type of the LLVM dialect")
}

/// A constant of 64 bits.
pub fn number<'c>(b: Builder<'c>, n: i64) -> Val<'c> {
    let i64 = IntegerType::new(b.context(), 64).into();
    b.value("llvm.mlir.constant", &[], i64, &[b.named("value", IntegerAttribute::new(i64, n))])
}

/// The position attribute of `llvm.extractvalue` and `llvm.insertvalue`.
pub fn position<'c>(b: Builder<'c>, at: &[i64]) -> (Identifier<'c>, Attribute<'c>) {
    b.named("position", ir::integers_attribute(b.context(), at))
}
