//! Memory as bytes, in one of the machine's memories: allocated, or an argument.

use crate::analysis::functions::set_function_type;
use layout_ir::{self as ir, Builder, Op, Val};
use melior::ir::attribute::ArrayAttribute;
use melior::ir::operation::OperationMutLike;
use melior::ir::r#type::IntegerType;
use melior::ir::{Attribute, BlockLike, Type, ValueLike};

/// A memory of the machine.
#[derive(Clone, Copy)]
pub struct ArenaMemory<'c> {
    /// The memory space of its memrefs.
    pub space: Option<Attribute<'c>>,
}

impl<'c> ArenaMemory<'c> {
    /// The memories in which a module allocates, that of memrefs without a memory space first.
    pub fn all(operations: &[Op<'c>]) -> Vec<ArenaMemory<'c>> {
        let made = operations.iter().filter(|op| ir::name(**op) == "memref.alloc");
        let spaces = made.filter_map(|op| ir::memref(ir::result(*op, 0).r#type())?.space);
        let mut numbers: Vec<(i64, Attribute<'c>)> =
            spaces.filter_map(|space| Some((layout_dialect::memory_space(space)?, space))).collect();
        numbers.sort_by_key(|(number, _)| *number);
        numbers.dedup_by_key(|(number, _)| *number);
        let others = numbers.into_iter().map(|(_, space)| ArenaMemory { space: Some(space) });
        std::iter::once(ArenaMemory { space: None }).chain(others).collect()
    }

    /// The suffix of the memory's names: empty, or the number of the memory space.
    pub fn suffix(self) -> String {
        let number = self.space.and_then(layout_dialect::memory_space);
        number.map_or(String::new(), |number| format!("_{number}"))
    }

    /// Adds an argument of this many bytes.
    pub fn add_argument(self, function: Op<'c>, bytes: i64) -> Val<'c> {
        let entry = ir::blocks(function)[0];
        let b = Builder::before(ir::operations(entry)[0]);
        entry.add_argument(self.bytes(b, bytes), ir::location(function));
        if let Some(attributes) = ir::attribute(function, "arg_attrs") {
            let none = ir::dictionary_attribute(b.context(), &[]);
            let all = [ir::array(attributes), vec![none]].concat();
            ir::edit(function).set_attribute("arg_attrs", ArrayAttribute::new(b.context(), &all).into());
        }
        set_function_type(function);
        ir::arguments(entry).pop().expect("the block has an argument now")
    }

    /// The memref type of this many bytes.
    pub fn bytes(self, b: Builder<'c>, bytes: i64) -> Type<'c> {
        let element = IntegerType::new(b.context(), 8).into();
        let shape = ir::Shaped { shape: vec![Some(bytes)], element, layout: None, space: self.space };
        ir::memref_type(b.location, &shape).expect("a memref of bytes")
    }

    /// Emits an allocation of this many bytes.
    pub fn allocate(self, b: Builder<'c>, bytes: i64) -> Val<'c> {
        b.allocation(&[], self.bytes(b, bytes), &[])
    }
}
