//! The code of one block: loads, prefetches and stores.

use super::distance::Distance;
use super::extremes::Piece;
use super::kernel::{At, Kernel, Sums};
use super::mask::{LaneMask, Mask};
use super::plan::Mode;
use super::registers::{Key, Rearranged, mask, subsets};
use crate::buffers::index_values::swizzled;
use layout_ir::{self as ir, Builder, Val};
use melior::ir::attribute::{BoolAttribute, IntegerAttribute};
use melior::ir::r#type::IntegerType;
use melior::ir::{Attribute, Identifier, Type, ValueLike};
use std::collections::HashMap;

/// `memref.prefetch` locality hints: into L1, and into the last level.
const NEAREST: i64 = 3;
const FAR: i64 = 1;

/// The vectors that one block has loaded.
pub struct Loaded<'c> {
    pub bases: Vec<Val<'c>>,
    pub registers: Vec<Rearranged<'c>>,
    pub expanded: HashMap<(usize, Key), Val<'c>>,
}

/// The position of a lane, as an attribute.
fn position<'c>(b: Builder<'c>, lane: i64) -> (Identifier<'c>, Attribute<'c>) {
    b.named("static_position", ir::integers_attribute(b.context(), &[lane]))
}

impl<'c> Kernel<'_, 'c> {
    /// The type in which an operand's elements are shuffled: small ones as integers, which the machine shuffles faster.
    pub fn moved(&self, b: Builder<'c>, operand: usize) -> Type<'c> {
        let element = self.element(operand);
        match ir::bits(element) {
            Some(n @ (8 | 16)) => IntegerType::new(b.context(), n as u32).into(),
            _ => element,
        }
    }

    pub fn loading(&self, b: Builder<'c>, at: &At) -> Loaded<'c> {
        let bases = at.addresses.iter().map(|address| address.value(b, &self.vars, &self.values)).collect();
        let wanted = |o: usize| -> Vec<usize> {
            self.plan.lanes.iter().copied().filter(|bit| self.plan.bits[o] >> bit & 1 == 1).collect()
        };
        let registers = (0..self.buffers.len()).map(|o| Rearranged::new(&self.plan.memory[o], &wanted(o))).collect();
        Loaded { bases, registers, expanded: HashMap::new() }
    }

    /// The index of an operand's element with this key, behind the address of the block.
    fn place(&self, b: Builder<'c>, base: Val<'c>, operand: usize, key: Key) -> Val<'c> {
        let address = self.offset(operand, key).behind(b, base, &self.values);
        self.plan.swizzles[operand].map_or(address, |swizzle| swizzled(b, address, swizzle))
    }

    /// The index of an operand's element with this key, if it exists; else of one that does.
    pub fn index_of(
        &self,
        b: Builder<'c>,
        at: &At,
        base: Val<'c>,
        operand: usize,
        key: Key,
        mask: &Mask<'c>,
    ) -> Val<'c> {
        let index = |key: Key| self.place(b, base, operand, key);
        match mask {
            Mask::Whole(there) => {
                let operands = [*there, index(key), index(self.first_lane(at, key))];
                b.value("arith.select", &operands, Type::index(b.context()), &[])
            }
            _ => index(key),
        }
    }

    /// Loads the contiguous elements of an operand from `key` on.
    pub fn load(&self, b: Builder<'c>, at: &At, base: Val<'c>, operand: usize, key: Key) -> Val<'c> {
        let lanes = &self.plan.memory[operand];
        let t = ir::vector_type(&[1 << lanes.len()], self.element(operand));
        let there = self.mask(b, at, &self.lane_masks(at, Some(operand), lanes, key));
        let index = self.index_of(b, at, base, operand, key, &there);
        let (buffer, element) = (self.buffers[operand], self.element(operand));
        let loaded = match there {
            Mask::None => b.constant(ir::zeros(t)),
            _ if lanes.is_empty() => {
                let one = b.value("memref.load", &[buffer, index], element, &[]);
                b.value("vector.broadcast", &[one], t, &[])
            }
            Mask::One(lane) => {
                let index = Distance::fixed(lane).behind(b, index, &self.values);
                let one = b.value("memref.load", &[buffer, index], element, &[]);
                b.value("vector.insert", &[one, b.constant(ir::zeros(t))], t, &[position(b, lane)])
            }
            Mask::Lanes(bits) => b.value("vector.maskedload", &[buffer, index, bits, b.constant(ir::zeros(t))], t, &[]),
            Mask::All | Mask::Whole(_) => b.value("vector.load", &[buffer, index], t, &[]),
        };
        self.cast(b, loaded, self.moved(b, operand))
    }

    /// Prefetches the data after a block, in one of `parts` parts. Non-temporal stores need no prefetch; stores through
    /// the caches need the nearest one. Prefetches are not swizzled: a swizzle moves elements within blocks.
    pub fn prefetch(&self, b: Builder<'c>, at: &At, part: usize, parts: usize) {
        let through = |o: usize| o >= self.output && !at.streams && self.plan.mode == Mode::Elementwise;
        let crowded = (0..self.buffers.len()).any(|o| through(o) && self.is_large(o) != Some(false));
        for (operand, prefetch) in self.prefetches.iter().enumerate() {
            let Some(prefetch) = prefetch.as_ref().filter(|_| operand < self.output || through(operand)) else {
                continue;
            };
            let near = prefetch.in_one_piece && !crowded;
            let hint =
                IntegerAttribute::new(IntegerType::new(b.context(), 32).into(), if near { NEAREST } else { FAR });
            let flag = |name: &str, value: bool| b.named(name, BoolAttribute::new(b.context(), value));
            let lines = &prefetch.lines[part * prefetch.lines.len() / parts..(part + 1) * prefetch.lines.len() / parts];
            if lines.is_empty() {
                continue;
            }
            let base = at.prefetches[operand].value(b, &self.vars, &self.values);
            for line in lines {
                let index = line.behind(b, base, &self.values);
                let is_write = flag("isWrite", operand >= self.output);
                let attributes = [is_write, b.named("localityHint", hint), flag("isDataCache", true)];
                b.op("memref.prefetch", &[self.buffers[operand], index], &[], &attributes);
            }
        }
    }

    /// A vector with its bits reinterpreted as elements of another type.
    pub fn cast(&self, b: Builder<'c>, v: Val<'c>, element: Type<'c>) -> Val<'c> {
        let t = ir::vector(v.r#type()).expect("registers are vectors");
        if t.element == element {
            return v;
        }
        b.value("vector.bitcast", &[v], ir::vector_type(&t.shape, element), &[])
    }

    pub fn broadcast(&self, b: Builder<'c>, v: Val<'c>) -> Val<'c> {
        let t = ir::vector_type(&[1 << self.plan.lanes.len()], v.r#type());
        b.value("vector.broadcast", &[v], t, &[])
    }

    /// Loads all vectors of the block with lanes, in memory order.
    pub fn load_in_order(&self, b: Builder<'c>, at: &At, loaded: &mut Loaded<'c>) {
        for operand in 0..self.output {
            let memory = &self.plan.memory[operand];
            if !self.plan.lanes.iter().any(|bit| self.plan.bits[operand] >> bit & 1 == 1) {
                continue;
            }
            let mut keys: Vec<Key> = subsets(self.plan.bits[operand] & !mask(memory)).collect();
            keys.retain(|key| self.has_lanes(at, Some(operand), memory, *key));
            keys.sort_by_cached_key(|key| self.offset(operand, *key).order());
            let base = loaded.bases[operand];
            for key in keys {
                loaded.registers[operand].load(b, key, &mut |key| self.load(b, at, base, operand, key));
            }
        }
    }

    /// One block: computes outputs, or adds to the accumulators.
    pub fn block(&self, b: Builder<'c>, at: &At, sums: Sums<'c>) -> Sums<'c> {
        let loaded = self.loading(b, at);
        if self.plan.mode == Mode::Elementwise {
            self.compute_outputs(b, at, loaded);
            return sums;
        }
        self.accumulate(b, at, loaded, sums)
    }

    fn compute_outputs(&self, b: Builder<'c>, at: &At, mut loaded: Loaded<'c>) {
        self.prefetch(b, at, 0, 1);
        self.load_in_order(b, at, &mut loaded);
        let mut computed: HashMap<Key, Vec<Val<'c>>> = HashMap::new();
        for output in self.output..self.buffers.len() {
            let base = loaded.bases[output];
            let mut source = |key: Key| {
                let make = || self.compute(b, at, &mut loaded, self.body, key, None);
                computed.entry(key).or_insert_with(make)[output - self.output]
            };
            self.store(b, at, base, output, &self.plan.lanes, &mut source);
        }
    }

    fn accumulate(&self, b: Builder<'c>, at: &At, mut loaded: Loaded<'c>, mut sums: Sums<'c>) -> Sums<'c> {
        let in_turn = self.reduction_order(&sums);
        let parts = in_turn.len();
        for (part, (number, step)) in in_turn.into_iter().enumerate() {
            self.prefetch(b, at, part, parts);
            let key = number & !self.plan.kept | step;
            if number & self.plan.kept != step & self.plan.kept {
                continue;
            }
            if !self.has_lanes(at, None, &self.plan.lanes, key) {
                continue;
            }
            // An extreme has parts instead.
            let sum = sums.get(&(number, Piece::Whole)).copied();
            let Some(next) = self.compute(b, at, &mut loaded, self.body, key, sum).pop() else { continue };
            let counting = self.counting(at, key);
            let chosen = match self.mask(b, at, &counting) {
                Mask::All => None,
                Mask::None => continue,
                Mask::Whole(bits) | Mask::Lanes(bits) => Some(bits),
                Mask::One(_) => Some(self.lanes_mask(b, at, &counting)),
            };
            let next = chosen.map_or(next, |bits| {
                let otherwise = sum.unwrap_or_else(|| self.neutral(b));
                b.value("arith.select", &[bits, next, otherwise], next.r#type(), &[])
            });
            match sum {
                Some(_) => {
                    sums.insert((number, Piece::Whole), next);
                }
                None => self.take(b, &mut sums, number, next),
            }
        }
        sums
    }

    /// The accumulators, each with the steps that are added to it.
    fn reduction_order(&self, sums: &Sums<'c>) -> Vec<(Key, Key)> {
        let mut steps: Vec<Key> = subsets(self.plan.reduced & !mask(&self.plan.lanes)).collect();
        // Sums are written in this order: larger parts of a dimension change last.
        steps.sort_by_key(|step| self.plan.levels.iter().map(|level| level.step(*step)).collect::<Vec<_>>());
        let mut keys: Vec<Key> = sums.keys().map(|of| of.0).collect();
        keys.dedup();
        // If additions may be reordered, go accumulator by accumulator, so that memory is read in order; else each
        // loaded register serves all accumulators.
        match self.plan.mode {
            Mode::Reassociated => keys.iter().flat_map(|sum| steps.iter().map(|step| (*sum, *step))).collect(),
            _ => steps.iter().flat_map(|step| keys.iter().map(|sum| (*sum, *step))).collect(),
        }
    }

    /// Stores the registers of `source`, which have these lanes.
    pub fn store(
        &self,
        b: Builder<'c>,
        at: &At,
        base: Val<'c>,
        output: usize,
        lanes: &[usize],
        source: &mut dyn FnMut(Key) -> Val<'c>,
    ) {
        let memory = &self.plan.memory[output];
        let mut registers = Rearranged::new(lanes, memory);
        let moved = if registers.is_same() { self.element(output) } else { self.moved(b, output) };
        let mut source = |key: Key| self.cast(b, self.as_elements(b, output, source(key)), moved);
        let mut keys: Vec<Key> = subsets(self.plan.bits[output] & !mask(memory)).collect();
        keys.sort_by_cached_key(|key| self.offset(output, *key).order());
        for key in keys {
            let there = self.lane_masks(at, Some(output), memory, key);
            if !there.iter().any(LaneMask::is_possible) {
                continue;
            }
            let value = registers.register(b, key, &mut source);
            let value = self.cast(b, value, self.element(output));
            let index = self.place(b, base, output, key);
            let buffer = self.buffers[output];
            match self.mask(b, at, &there) {
                Mask::None => {}
                Mask::One(lane) => {
                    let value = b.value("vector.extract", &[value], self.element(output), &[position(b, lane)]);
                    let index = Distance::fixed(lane).behind(b, index, &self.values);
                    b.op("memref.store", &[value, buffer, index], &[], &[]);
                }
                Mask::Lanes(bits) => {
                    b.op("vector.maskedstore", &[buffer, index, bits, value], &[], &[]);
                }
                Mask::Whole(there) => {
                    let inside = b.at(b.branch(there));
                    inside.op("vector.store", &[value, buffer, index], &[], &[]);
                }
                Mask::All => {
                    let attributes = if at.streams { self.streaming(b, output) } else { Vec::new() };
                    b.op("vector.store", &[value, buffer, index], &[], &attributes);
                }
            }
        }
    }

    /// The attributes of a non-temporal store.
    fn streaming(&self, b: Builder<'c>, output: usize) -> Vec<(Identifier<'c>, Attribute<'c>)> {
        let bytes = self.vector(output) * self.bytes(output);
        let alignment = IntegerAttribute::new(IntegerType::new(b.context(), 64).into(), bytes);
        vec![b.named("nontemporal", BoolAttribute::new(b.context(), true)), b.named("alignment", alignment)]
    }
}
