//! Accumulators: what they start from, and where their sums go.

use super::kernel::{At, Kernel, Sums};
use super::plan::Mode;
use super::registers::{Key, Rearranged, shuffle, subsets};
use crate::kernel::body::{Argument, Body};
use layout_ir::{self as ir, Builder, Val};
use melior::ir::ValueLike;
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

impl<'c> Kernel<'_, 'c> {
    /// The initial value of each accumulator.
    pub fn start(&self, b: Builder<'c>, at: &At) -> Sums<'c> {
        let lanes = self.plan.lanes.clone();
        let keys = subsets(self.plan.of_accumulators()).filter(|key| self.is_any_there(at, None, &lanes, *key));
        let keys: Vec<Key> = keys.collect();
        if self.plan.mode == Mode::Reassociated {
            let neutral = self.neutral(b);
            return self.accumulators(b, keys.into_iter().map(|key| (key, neutral)));
        }
        let mut loaded = self.loading(b, at);
        let initial = self.body.initial.as_ref().expect("a reduction starts from something");
        self.accumulators(b, keys.into_iter().map(|key| (key, self.argument(b, at, &mut loaded, key, None, initial))))
    }

    /// A register of the element that changes nothing.
    pub fn neutral(&self, b: Builder<'c>) -> Val<'c> {
        let neutral = self.combiner.as_ref().expect("what is added in any order has a combiner").neutral;
        self.broadcast(b, b.constant(neutral))
    }

    /// Puts the accumulators of each output element together and stores them.
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
                results.insert(key, self.body.then.as_ref().map_or_else(|| vec![sum], then));
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
            Some(sum) => self.cast(b, *sum, moved),
            None => b.constant(ir::zeros(ir::vector_type(&[1 << lanes.len()], moved))),
        };
        let mut stored = |key: Key| {
            let sum = registers.register(b, key, &mut source);
            let sum = self.cast(b, sum, self.element(output));
            let before = match &self.body.initial {
                Some(Argument::Value(v)) => b.value("vector.broadcast", &[*v], sum.r#type(), &[]),
                _ => self.cast(b, self.load(b, at, base, output, key), self.element(output)),
            };
            self.combined(b, before, sum)
        };
        self.store(b, at, base, output, &memory, &mut stored);
    }
}
