//! Memory as bytes: allocated, or an argument.

use crate::functions::set_function_type;
use crate::plan_memory::webs::ALIGNMENT;
use layout_ir::{self as ir, Builder, Op, Val};
use melior::ir::attribute::{ArrayAttribute, IntegerAttribute};
use melior::ir::operation::OperationMutLike;
use melior::ir::r#type::IntegerType;
use melior::ir::{BlockLike, Type};

/// One more argument of so many bytes.
pub fn add_argument<'c>(function: Op<'c>, bytes: i64) -> Val<'c> {
    let entry = ir::blocks(function)[0];
    let b = Builder::before(ir::operations(entry)[0]);
    entry.add_argument(bytes_type(b, bytes), ir::location(function));
    if let Some(attributes) = ir::attribute(function, "arg_attrs") {
        let none = ir::dictionary_attribute(b.context(), &[]);
        let all = [ir::array(attributes), vec![none]].concat();
        ir::edit(function).set_attribute("arg_attrs", ArrayAttribute::new(b.context(), &all).into());
    }
    set_function_type(function);
    ir::arguments(entry).pop().expect("the block has an argument now")
}

/// So many bytes.
pub fn bytes_type<'c>(b: Builder<'c>, bytes: i64) -> Type<'c> {
    let element = IntegerType::new(b.context(), 8).into();
    let shape = ir::Shaped { shape: vec![Some(bytes)], element, layout: None, space: None };
    ir::memref_type(b.location, &shape).expect("a memref of bytes")
}

/// An allocation of so many bytes.
pub fn allocate<'c>(b: Builder<'c>, bytes: i64) -> Val<'c> {
    let alignment = IntegerAttribute::new(IntegerType::new(b.context(), 64).into(), ALIGNMENT);
    let attributes = [b.named("alignment", alignment), b.segments(&[0, 0])];
    b.value("memref.alloc", &[], bytes_type(b, bytes), &attributes)
}
