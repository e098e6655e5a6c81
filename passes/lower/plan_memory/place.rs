//! Rewrites buffers into their places.

use crate::analysis::functions::{callee, symbol};
use crate::analysis::origins;
use crate::lower::plan_memory::arena::Arenas;
use crate::lower::plan_memory::memory::ArenaMemory;
use crate::lower::plan_memory::planned::ArenaPlan;
use crate::lower::plan_memory::signature::GivenMemory;
use crate::lower::plan_memory::webs::{Creation, Web};
use layout_ir::{self as ir, Builder, Op, Rewriter, Val};
use melior::ir::attribute::IntegerAttribute;
use melior::ir::operation::OperationMutLike;
use melior::ir::r#type::IntegerType;
use melior::ir::{Attribute, Type, ValueLike};
use std::collections::HashMap;

/// Applies the plan of a function, which is `given` its memory by its callers or has its own.
pub fn place<'c>(
    rewriter: &'c Rewriter,
    function: Op<'c>,
    planned: &ArenaPlan<'c>,
    signatures: &HashMap<&'c str, GivenMemory>,
    given: bool,
    arenas: &mut Arenas<'c>,
    poison: bool,
) {
    // Before the end of the arena, which also comes before the return.
    planned.webs.iter().filter_map(|web| web.copied).for_each(|(end, operand)| copy(end, operand));
    let (mut returned, memory) = (HashMap::new(), arenas.memory);
    let arena = if given {
        let own = &signatures[symbol(function).expect("a function that is given memory has a name")];
        for (k, bytes) in own.returned.iter().enumerate() {
            returned.extend(bytes.map(|bytes| (k, memory.add_argument(function, bytes))));
        }
        (own.scratch > 0).then(|| memory.add_argument(function, own.scratch))
    } else {
        arenas.arena(function, planned.bytes)
    };
    let mut placed = Placed { rewriter, memory, poison, replaced: HashMap::new(), results: HashMap::new() };
    for (web, place) in planned.webs.iter().zip(&planned.places) {
        let (base, place) = match web.returned {
            Some(k) => (returned[&k], 0),
            None => (arena.expect("a place is in an arena"), *place),
        };
        web.creations.iter().for_each(|creation| placed.create(web, creation, base, place));
        web.frees.iter().for_each(|free| placed.free(web, *free));
    }
    let scratch: HashMap<usize, i64> = planned.calls.iter().map(|(op, _, place)| (ir::op_key(*op), *place)).collect();
    for call in planned.text.operations.iter().filter(|op| ir::name(**op) == "func.call") {
        if let Some(signature) = callee(*call).and_then(|name| signatures.get(name)) {
            placed.give(*call, signature, arena.zip(scratch.get(&ir::op_key(*call)).copied()));
        }
    }
}

/// Makes a function return a copy.
fn copy(end: Op, operand: usize) {
    let (b, value) = (Builder::before(end), ir::operands(end)[operand]);
    ir::edit(end).set_operand(operand, b.copied_buffer(value, value.r#type()));
}

/// The rewriting state of one function.
struct Placed<'c> {
    rewriter: &'c Rewriter,
    memory: ArenaMemory<'c>,
    poison: bool,
    /// The replacements of allocations.
    replaced: HashMap<usize, Val<'c>>,
    /// The memory of the results of calls.
    results: HashMap<usize, Val<'c>>,
}

impl<'c> Placed<'c> {
    /// Gives a buffer of a web its place; `place` is the web's in `base`.
    fn create(&mut self, web: &Web<'c>, creation: &Creation<'c>, base: Val<'c>, place: i64) {
        let b = Builder::before(creation.op);
        let shift = match creation.other {
            None => b.index(place),
            Some(other) => {
                let other = self.replaced.get(&ir::key(other)).copied().unwrap_or(other);
                other_slot(b, base, other, place, web.slot)
            }
        };
        let view = |t| b.value("memref.view", &[base, shift], t, &[]);
        if self.poison {
            fill(b, view(self.memory.bytes(b, web.slot)), web.slot);
        }
        if ir::name(creation.op) == "memref.alloc" {
            let view = view(creation.value.r#type());
            ir::defining_op(view).into_iter().for_each(|view| origins::add(view, &origins::of(creation.op)));
            ir::replace_all_uses(creation.value, view);
            self.replaced.insert(ir::key(creation.value), view);
            self.rewriter.erase(creation.op);
        } else {
            self.results.insert(ir::key(creation.value), view(self.memory.bytes(b, web.slot)));
        }
    }

    /// Removes a deallocation of a web's buffer; with `poison`, also fills the buffer there.
    fn free(&self, web: &Web<'c>, free: Op<'c>) {
        let view = ir::defining_op(ir::operands(free)[0]).filter(|op| ir::name(*op) == "memref.view");
        if let Some(view) = view.filter(|_| self.poison) {
            let b = Builder::before(free);
            let bytes = b.value("memref.view", &ir::operands(view), self.memory.bytes(b, web.slot), &[]);
            fill(b, bytes, web.slot);
        }
        self.rewriter.erase(free);
    }

    /// Passes a call the memory that its callee wants; `own` is the caller's, with the offset of the scratch memory.
    fn give(&self, call: Op<'c>, signature: &GivenMemory, own: Option<(Val<'c>, i64)>) {
        let b = Builder::before(call);
        let mut operands = ir::operands(call);
        for (k, bytes) in signature.returned.iter().enumerate() {
            let Some(bytes) = *bytes else { continue };
            operands.push(match self.results.get(&ir::key(ir::result(call, k))) {
                Some(memory) if memory.r#type() == self.memory.bytes(b, bytes) => *memory,
                Some(memory) => b.value("memref.view", &[*memory, b.index(0)], self.memory.bytes(b, bytes), &[]),
                None => self.memory.allocate(b, bytes),
            });
        }
        if signature.scratch > 0 {
            operands.push(match own {
                Some((arena, place)) => {
                    b.value("memref.view", &[arena, b.index(place)], self.memory.bytes(b, signature.scratch), &[])
                }
                None => {
                    let memory = self.memory.allocate(b, signature.scratch);
                    let after = ir::next(call).expect("a call is not the last operation of its block");
                    Builder::before(after).op("memref.dealloc", &[memory], &[], &[]);
                    memory
                }
            });
        }
        ir::set_operands(call, &operands);
    }
}

/// The offset of the slot, out of two, that a buffer is not in.
fn other_slot<'c>(b: Builder<'c>, base: Val<'c>, other: Val<'c>, place: i64, slot: i64) -> Val<'c> {
    let index = Type::index(b.context());
    let address = |v| b.value("memref.extract_aligned_pointer_as_index", &[v], index, &[]);
    let (first, second) = (b.index(place), b.index(place + slot));
    let start = b.value("arith.addi", &[address(base), second], index, &[]);
    let less = b.named("predicate", IntegerAttribute::new(IntegerType::new(b.context(), 64).into(), 6));
    let is_first = b.value("arith.cmpi", &[address(other), start], IntegerType::new(b.context(), 1).into(), &[less]);
    b.value("arith.select", &[is_first, second, first], index, &[])
}

/// Fills bytes with ones: a NaN in floating point.
fn fill<'c>(b: Builder<'c>, memory: Val<'c>, bytes: i64) {
    let byte: Type = IntegerType::new(b.context(), 8).into();
    let ones = b.constant(Attribute::from(IntegerAttribute::new(byte, -1)));
    let bounds = [b.index(0), b.index(bytes), b.index(1)];
    let index = Type::index(b.context());
    let (op, end) = b.with_body("scf.for", &bounds, &[], &[], &[index], "scf.yield");
    let at = ir::arguments(ir::blocks(op)[0])[0];
    Builder::before(end).op("memref.store", &[ones, memory, at], &[], &[]);
}
