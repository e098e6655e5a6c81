//! Loops whose end data decide, in both programs: what holds at the beginning of each iteration.
//!
//! ```text
//! while c(T) { T = f(T) }      while d(U) { U = g(U) }
//! ```
//!
//! Elements of T and U are equal at the beginning of each iteration, if they are at first, and if `f(T) = g(U)` follows. They
//! have as many iterations, if `c(T) = d(U)` follows. So both may be taken for shown while that is being shown, of as many buffers
//! as it takes. Where one of these steps fails, all that was shown meanwhile is forgotten.
//!
//! An element of such a loop is one of any iteration, for what stands in the loop, and else one of the last. Two elements are
//! compared if both are of any iteration, or both of the last.

use crate::proof::follow::{Facts, Proof};
use crate::proof::layout::{AddressMap, row_major};
use crate::proof::linear::{COMPARISONS_OF_A_LOOK, Linear, Shown, Space, unproved};
use crate::proof::pairs::Pair;
use crate::proof::statements::{BlockId, BufferAt};
use crate::proof::value::{LoopPosition, Thunk};
use std::mem;

impl Proof<'_> {
    /// Whether an element is one that an iteration begins with.
    pub(super) fn is_start(&self, side: usize, (buffer, (block, index)): BufferAt) -> bool {
        let is_decided = self.programs[side].blocks[block].exit.is_some();
        index == 0 && is_decided && self.stored[side][block].contains(&buffer)
    }

    /// Tells which of the loops with a data-dependent end around a block enclose the compared block, too.
    pub(super) fn moment(&self, side: usize, block: BlockId) -> Vec<bool> {
        let here = &self.around[side][self.home[side]];
        let decided = |block: &&BlockId| self.programs[side].blocks[**block].exit.is_some();
        self.around[side][block].iter().filter(decided).map(|block| here.contains(block)).collect()
    }

    /// Whether elements in two blocks are both of any iteration or both of the last.
    pub(super) fn are_at_once(&self, [a, b]: [BlockId; 2]) -> bool {
        self.moment(0, a).into_iter().zip(self.moment(1, b)).all(|(a, b)| a == b)
    }

    /// The name of elements that an iteration begins with, and how many elements further those of that name are.
    pub(super) fn start_name(&self, side: usize, of: BufferAt) -> (String, i64) {
        let (buffer, (block, _)) = of;
        self.name(side, of)
            .unwrap_or_else(|| (format!("start {side} {block} {buffer}{:?}", self.moment(side, block)), 0))
    }

    /// Whether two loops have the same number of iterations.
    pub(super) fn are_in_step(&mut self, loops: [BlockId; 2]) -> bool {
        if let Some(known) = self.facts.in_step.get(&loops) {
            return *known;
        }
        let [a, b] = [0, 1].map(|side| &self.programs[side].blocks[loops[side]]);
        let (Some((_, first)), Some((_, second))) = (a.exit, b.exit) else { return false };
        let parents = [a.parent, b.parent].map(|parent| parent.map_or(0, |(block, _)| block));
        if parents != [0, 0] && !self.are_in_step(parents) {
            return false;
        }
        let is_shown = self.or_forgotten(|proof| {
            proof.facts.in_step.insert(loops, true);
            let [first, second] = [(0, first), (1, second)].map(|(side, value)| Thunk::Value {
                side,
                value,
                lane: Linear::default(),
                place: LoopPosition::default(),
            });
            proof.elsewhere(Space::default(), loops, |proof| proof.equal(&first, &second))
        });
        self.facts.in_step.insert(loops, is_shown);
        is_shown
    }

    /// Shows that elements of two buffers are equal at the beginning of each iteration, if so.
    pub(super) fn show_invariant(
        &mut self,
        sizes: &[i64],
        pair: [BufferAt; 2],
        (layout, offset): (&AddressMap, i64),
    ) -> bool {
        let [a, b] = pair;
        let loops = pair.map(|(_, (block, _))| block);
        let bodies = [0, 1].map(|side| &self.programs[side].blocks[loops[side]]);
        let [Some(first), Some(other)] = bodies.map(|body| body.parent) else { return false };
        let ends = [0, 1].map(|side| (loops[side], bodies[side].statements.len()));
        self.or_forgotten(|proof| {
            proof.facts.pairs.insert((a, b), Pair::Same(layout.clone(), offset));
            if row_major(sizes).as_ref() == Some(layout) {
                proof.give_name(a, b, offset);
            }
            if !proof.are_in_step(loops) {
                return unproved("loops of which one may run longer than the other");
            }
            proof.show(sizes, (a.0, first), (b.0, other), (layout, offset))?;
            proof.show(sizes, (a.0, ends[0]), (b.0, ends[1]), (layout, offset))
        })
    }

    /// Whether something is shown. If not, what was found on the way is forgotten. What is known is kept meanwhile, which takes
    /// looks, too: without them, three loops around a copy that turns a row took more than 15 minutes.
    pub(super) fn or_forgotten(&mut self, shown: impl FnOnce(&mut Self) -> Shown<()>) -> bool {
        if self.looks.take(self.facts.len() / COMPARISONS_OF_A_LOOK).is_err() {
            return false;
        }
        let known = self.facts.clone();
        let is_shown = shown(self).is_ok();
        if !is_shown {
            self.replace_facts(known);
        }
        is_shown
    }

    /// Relies on these facts alone; returns those of before.
    pub(super) fn replace_facts(&mut self, facts: Facts) -> Facts {
        let known = mem::replace(&mut self.facts, facts);
        self.note_names();
        known
    }

    /// Checks that each loop with a data-dependent end in one program ends where one of the other program does. What accesses
    /// promise does not hold where a loop before them runs forever, so this comes before it is known.
    pub(super) fn ends(&mut self) -> Shown<()> {
        let loops = self.programs.map(|program| {
            (0..program.blocks.len()).filter(|block| program.blocks[*block].exit.is_some()).collect::<Vec<_>>()
        });
        let [meant, made] = loops;
        let are_paired = made.iter().all(|b| meant.iter().any(|a| self.are_in_step([*a, *b])))
            && meant.iter().all(|a| made.iter().any(|b| self.are_in_step([*a, *b])));
        if are_paired { Ok(()) } else { unproved("a loop that may run longer than before, or not as long") }
    }
}
