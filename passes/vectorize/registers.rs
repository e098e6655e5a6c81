//! Blocks of elements in vector registers.
//!
//! A block has a power of two elements in each of its digits, so an element's position in it is a string of *bits*.
//! Some of the bits number the lanes; the others number the registers. Transposing, interleaving packed rows and
//! splitting them are then one operation, a change of the lanes' bits, in steps that each bring in at most one bit:
//! every register of a step is one `vector.shuffle` of at most two registers of the step before.

use layout_ir::{self as ir, Builder, Val};
use std::collections::HashMap;

/// The bits that number the lanes, lowest first.
pub type Lanes = Vec<usize>;

/// The position of an element, or of a register: bit `k` of the block is bit `k` of the number.
pub type Key = u64;

/// The position of a register's lane.
pub fn place(lanes: &[usize], register: Key, lane: usize) -> Key {
    lanes.iter().enumerate().fold(register, |at, (k, bit)| if lane >> k & 1 == 1 { at | 1 << bit } else { at })
}

/// The mask with these bits set.
pub fn mask(bits: &[usize]) -> Key {
    bits.iter().fold(0, |all, bit| all | 1 << bit)
}

/// The numbers with no bits beyond these, in order.
pub fn subsets(bits: Key) -> impl Iterator<Item = Key> {
    let mut next = Some(0);
    std::iter::from_fn(move || {
        let this = next?;
        next = if this == bits { None } else { Some((this | !bits).wrapping_add(1) & bits) };
        Some(this)
    })
}

/// The lanes at each step from one arrangement to another, the last being `to`; empty if both are the same.
fn steps(from: &[usize], to: &[usize]) -> Vec<Lanes> {
    let mut steps: Vec<Lanes> = Vec::new();
    let mut lanes = from.to_vec();
    let mut extra: Vec<usize> = lanes.iter().copied().filter(|bit| !to.contains(bit)).collect();
    // Bits that stay are in their final order after each step: machines have instructions that interleave pairs, then
    // pairs of pairs. If none stays, halves are swapped, which loads can do.
    let interleaves = extra.len() < from.len();
    let place = |bit: &usize| to.iter().position(|b| b == bit).unwrap_or(to.len());
    for bit in to.iter().filter(|bit| !from.contains(bit)) {
        let gone = extra.pop();
        match lanes.iter().position(|bit| Some(*bit) == gone) {
            Some(k) => lanes[k] = *bit,
            None => lanes.push(*bit),
        }
        if interleaves {
            lanes.sort_by_key(place);
        }
        steps.push(lanes.clone());
    }
    for gone in extra.into_iter().rev() {
        lanes.retain(|bit| *bit != gone);
        steps.push(lanes.clone());
    }
    // The last step can order the lanes at no cost.
    match steps.last_mut() {
        Some(last) => *last = to.to_vec(),
        None if lanes != to => steps.push(to.to_vec()),
        None => {}
    }
    steps
}

/// Registers of one block and one element type, in one arrangement, computed on demand from another.
pub struct Rearranged<'c> {
    /// The arrangements: the source's, and one after each step.
    lanes: Vec<Lanes>,
    known: Vec<HashMap<Key, Val<'c>>>,
}

impl<'c> Rearranged<'c> {
    /// Rearranges registers with lanes `from` to lanes `to`.
    pub fn new(from: &[usize], to: &[usize]) -> Self {
        let lanes: Vec<Lanes> = [from.to_vec()].into_iter().chain(steps(from, to)).collect();
        Rearranged { known: vec![HashMap::new(); lanes.len()], lanes }
    }

    /// Whether the arrangement does not change.
    pub fn is_same(&self) -> bool {
        self.lanes.len() == 1
    }

    /// Loads a register of the first arrangement now, rather than on demand.
    pub fn load(&mut self, b: Builder<'c>, key: Key, source: &mut dyn FnMut(Key) -> Val<'c>) {
        self.at(b, 0, key, source);
    }

    /// The register with this key; `source` returns those of the first arrangement, called once for each.
    pub fn register(&mut self, b: Builder<'c>, key: Key, source: &mut dyn FnMut(Key) -> Val<'c>) -> Val<'c> {
        self.at(b, self.lanes.len() - 1, key, source)
    }

    fn at(&mut self, b: Builder<'c>, step: usize, key: Key, source: &mut dyn FnMut(Key) -> Val<'c>) -> Val<'c> {
        if let Some(known) = self.known[step].get(&key) {
            return *known;
        }
        let made = if step == 0 { source(key) } else { self.shuffled(b, step, key, source) };
        self.known[step].insert(key, made);
        made
    }

    fn shuffled(&mut self, b: Builder<'c>, step: usize, key: Key, source: &mut dyn FnMut(Key) -> Val<'c>) -> Val<'c> {
        let (before, after) = (self.lanes[step - 1].clone(), self.lanes[step].clone());
        let within = mask(&before);
        let mut sources: Vec<Key> = Vec::new();
        let mut picked = Vec::new();
        for lane in 0..1usize << after.len() {
            let element = place(&after, key, lane);
            let register = element & !within;
            let number = sources.iter().position(|known| *known == register).unwrap_or_else(|| {
                sources.push(register);
                sources.len() - 1
            });
            let lane = before.iter().enumerate().map(|(k, bit)| (element >> bit & 1) << k).sum::<u64>();
            picked.push(((number << before.len()) as u64 + lane) as i64);
        }
        let sources: Vec<Val<'c>> =
            sources.into_iter().map(|register| self.at(b, step - 1, register, source)).collect();
        shuffle(b, &sources, &picked)
    }
}

/// The elements with these numbers of one or two concatenated registers.
pub fn shuffle<'c>(b: Builder<'c>, sources: &[Val<'c>], picked: &[i64]) -> Val<'c> {
    use melior::ir::ValueLike;
    let t = ir::vector(sources[0].r#type()).expect("registers are vectors");
    let whole = t.shape == [picked.len() as i64] && picked.iter().enumerate().all(|(k, p)| k as i64 == *p);
    if whole {
        return sources[0];
    }
    let result = ir::vector_type(&[picked.len() as i64], t.element);
    let operands = [sources[0], *sources.last().expect("there is a source")];
    b.value("vector.shuffle", &operands, result, &[b.named("mask", ir::integers_attribute(b.context(), picked))])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every step brings in one bit at most, so that each register is a shuffle of two.
    #[test]
    fn steps_lead_from_each_arrangement_to_each() {
        fn arrangements(bits: usize, lanes: usize) -> Vec<Lanes> {
            if lanes == 0 {
                return vec![Vec::new()];
            }
            let shorter = arrangements(bits, lanes - 1);
            let longer = |l: &Lanes| (0..bits).filter(|b| !l.contains(b)).map(|b| [&l[..], &[b]].concat()).collect();
            shorter.iter().flat_map::<Vec<Lanes>, _>(longer).collect()
        }
        let all: Vec<Lanes> = (0..4).flat_map(|lanes| arrangements(5, lanes)).collect();
        for from in &all {
            for to in &all {
                let mut before = from.clone();
                for step in steps(from, to) {
                    assert!(step.iter().filter(|bit| !before.contains(bit)).count() <= 1, "{from:?} {to:?}");
                    before = step;
                }
                assert_eq!(&before, to);
            }
        }
    }

    #[test]
    fn subsets_in_order() {
        assert_eq!(subsets(0b1010).collect::<Vec<_>>(), [0, 0b10, 0b1000, 0b1010]);
        assert_eq!(subsets(0).collect::<Vec<_>>(), [0]);
    }
}
