//! Accumulators: their initial values, and the storing of results.

use super::extremes::{Extreme, PARTS, Piece};
use super::kernel::{At, Kernel, Sums};
use super::plan::Mode;
use super::registers::{Key, Rearranged, shuffle, subsets};
use crate::kernel::body::{Argument, Body};
use crate::kernel::combiner::Combiner;
use layout_ir::{self as ir, Builder, Val};
use melior::ir::ValueLike;
use melior::ir::r#type::IntegerType;
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

impl<'c> Kernel<'_, 'c> {
    /// The initial value of each accumulator.
    pub fn start(&self, b: Builder<'c>, at: &At) -> Sums<'c> {
        let lanes = self.plan.lanes.clone();
        let keys = subsets(self.plan.of_accumulators()).filter(|key| self.has_lanes(at, None, &lanes, *key));
        let keys: Vec<Key> = keys.collect();
        if self.plan.mode == Mode::Reassociated {
            let neutral = self.neutral(b);
            return self.accumulators(b, keys.into_iter().map(|key| (key, neutral)));
        }
        let mut loaded = self.loading(b, at);
        let initial = self.body.initial.as_ref().expect("a reduction starts from something");
        self.accumulators(b, keys.into_iter().map(|key| (key, self.argument(b, at, &mut loaded, key, None, initial))))
    }

    /// A register of the neutral element.
    pub fn neutral(&self, b: Builder<'c>) -> Val<'c> {
        let neutral = self.combiner.as_ref().expect("what is added in any order has a combiner").neutral;
        self.broadcast(b, b.constant(neutral))
    }

    /// Combines the accumulators of each output element and stores the results.
    pub fn store_sums(&self, b: Builder<'c>, at: &At, sums: Sums<'c>) {
        let output = self.output;
        let base = at.addresses[output].value(b, &self.vars, &self.values);
        let mut lanes = self.plan.lanes.clone();
        let sums = self.results(b, &sums);
        if self.plan.mode == Mode::Sequential {
            let mut loaded = self.loading(b, at);
            let mut results: HashMap<Key, Vec<Val<'c>>> = HashMap::new();
            for (key, sum) in sums {
                let then = |then: &Rc<Body<'c>>| self.compute(b, at, &mut loaded, then, key, Some(sum));
                results.insert(key, self.body.epilogue.as_ref().map_or_else(|| vec![sum], then));
            }
            for output in output..self.buffers.len() {
                let t = ir::vector_type(&[1 << lanes.len()], self.element(output));
                let mut source = |key: Key| match results.get(&key) {
                    Some(results) => results[output - self.output],
                    None => b.constant(ir::zeros(t)),
                };
                self.store(b, at, loaded.bases[output], output, &lanes, &mut source);
            }
            return;
        }
        let mut whole: BTreeMap<Key, Val<'c>> = BTreeMap::new();
        for (key, sum) in sums {
            let key = key & !self.plan.kept;
            let sum = match whole.get(&key) {
                Some(other) => self.combined(b, *other, sum),
                None => sum,
            };
            whole.insert(key, sum);
        }
        while let Some(k) = lanes.iter().rposition(|bit| self.plan.reduced >> bit & 1 == 1) {
            let half =
                |upper: i64| -> Vec<i64> { (0..1i64 << lanes.len()).filter(|lane| lane >> k & 1 == upper).collect() };
            for sum in whole.values_mut() {
                let [low, high] = [0, 1].map(|upper| shuffle(b, &[*sum], &half(upper)));
                *sum = self.combined(b, low, high);
            }
            lanes.remove(k);
        }
        let memory = self.plan.memory[output].clone();
        let mut registers = Rearranged::new(&lanes, &memory);
        let moved = if registers.is_same() { self.element(output) } else { self.moved(b, output) };
        let mut source = |key: Key| match whole.get(&key) {
            Some(sum) => self.cast(b, self.as_elements(b, output, *sum), moved),
            None => b.constant(ir::zeros(ir::vector_type(&[1 << lanes.len()], moved))),
        };
        let mut stored = |key: Key| {
            let sum = registers.register(b, key, &mut source);
            let value = |v: Val<'c>| self.as_values(b, output, self.cast(b, v, self.element(output)));
            let sum = value(sum);
            let before = match &self.body.initial {
                Some(Argument::Value(v)) => b.value("vector.broadcast", &[*v], sum.r#type(), &[]),
                _ => value(self.load(b, at, base, output, key)),
            };
            self.combined(b, before, sum)
        };
        self.store(b, at, base, output, &memory, &mut stored);
    }

    /// Accumulators that start from these elements.
    pub fn accumulators(&self, b: Builder<'c>, elements: impl IntoIterator<Item = (Key, Val<'c>)>) -> Sums<'c> {
        let mut sums = Sums::new();
        for (key, element) in elements {
            if self.extreme.is_none() {
                sums.insert((key, Piece::Whole), element);
                continue;
            }
            let integers = self.integers(b, element);
            sums.extend(PARTS.map(|(part, _)| ((key, part), integers)));
        }
        sums
    }

    /// Adds an element of the reduction's type to the parts of an accumulator.
    pub fn take(&self, b: Builder<'c>, sums: &mut Sums<'c>, key: Key, element: Val<'c>) {
        let integers = self.integers(b, element);
        for (part, op) in PARTS {
            let part = sums.get_mut(&(key, part)).expect("accumulators stay");
            *part = b.value(op, &[*part, integers], integers.r#type(), &[]);
        }
    }

    /// The results in the accumulators.
    pub fn results(&self, b: Builder<'c>, sums: &Sums<'c>) -> BTreeMap<Key, Val<'c>> {
        let first = |of: &&(Key, Piece)| matches!(of.1, Piece::Whole | Piece::Top);
        let result = |of: &(Key, Piece)| match self.extreme {
            Some(extreme) => (of.0, self.put_together(b, extreme, PARTS.map(|(part, _)| sums[&(of.0, part)]))),
            None => (of.0, sums[of]),
        };
        sums.keys().filter(first).map(result).collect()
    }

    /// The combination of two elements.
    pub fn combined(&self, b: Builder<'c>, x: Val<'c>, y: Val<'c>) -> Val<'c> {
        let Combiner { op, .. } = *self.combiner.as_ref().expect("this mode has a combiner");
        let Some(extreme) = self.extreme else {
            return b.value(ir::name(op), &[x, y], x.r#type(), &self.attributes(b, op));
        };
        let [x, y] = [x, y].map(|element| self.integers(b, element));
        self.put_together(b, extreme, PARTS.map(|(_, op)| b.value(op, &[x, y], x.r#type(), &[])))
    }

    /// The result from the parts of an accumulator.
    fn put_together(&self, b: Builder<'c>, extreme: Extreme, parts: [Val<'c>; 3]) -> Val<'c> {
        let lanes = ir::vector(parts[0].r#type()).expect("registers are vectors").shape;
        let Combiner { op, neutral, .. } = *self.combiner.as_ref().expect("an extreme has a combiner");
        let element = ir::result(op, 0).r#type();
        let infinity = b.value("vector.broadcast", &[b.constant(neutral)], ir::vector_type(&lanes, element), &[]);
        self.cast(b, extreme.put_together(b, parts, self.integers(b, infinity)), element)
    }

    /// A register as integers.
    fn integers(&self, b: Builder<'c>, v: Val<'c>) -> Val<'c> {
        let element = ir::vector(v.r#type()).expect("registers are vectors").element;
        let bits = ir::bits(element).expect("the plan has checked the elements' types");
        self.cast(b, v, IntegerType::new(b.context(), bits as u32).into())
    }
}
