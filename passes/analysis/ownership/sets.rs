//! Sets of values that may be the same buffer, or parts of it.

use crate::analysis::ownership::order::BlockKey;
use layout_ir::{self as ir, Val};
use std::collections::HashMap;
use std::ops::RangeInclusive;
use tensor_layout::sets::DisjointSets;

/// A value whose buffer a block has to free or hand on.
#[derive(Clone, Copy)]
pub struct Owned<'c> {
    pub value: Val<'c>,
    /// The block.
    pub block: BlockKey,
    /// The number of its definition, or of its block's first operation if it is a block argument.
    pub at: usize,
}

/// A use: the number of the operation, then of the operand that is handed on. Reads and writes are the last uses of
/// their operation.
pub type Use = (usize, usize);

/// Facts about the values of a set.
#[derive(Default)]
pub struct Set {
    /// Its owned values, as numbers in [`Sets::owned`].
    pub owned: Vec<usize>,
    /// Whether one of them may be a buffer that no block owns, such as an argument.
    pub lent: bool,
    /// Whether one of them may be an allocation of the program itself.
    pub kept: bool,
    /// Their uses, and the last of them.
    pub uses: Vec<Use>,
    pub last: Option<Use>,
    /// Whether the program frees them itself.
    pub by_hand: bool,
}

impl Set {
    /// The owned value if all are its buffer, and the program does not free it.
    pub fn only(&self) -> Option<usize> {
        match self.owned[..] {
            [only] if !self.lent && !self.kept && !self.by_hand => Some(only),
            _ => None,
        }
    }

    /// Whether a use hands an allocation of the program itself to the caller: nothing frees it or returns it again.
    pub fn is_left_to_caller(&self, at: Use) -> bool {
        self.kept && !self.lent && !self.by_hand && self.last == Some(at)
    }

    /// The last use in a range of operations.
    pub fn last_in(&self, operations: RangeInclusive<usize>) -> Option<Use> {
        self.uses.iter().copied().filter(|at| operations.contains(&at.0)).max()
    }
}

/// A union-find of values.
#[derive(Default)]
pub struct Sets<'c> {
    /// All values that are owned.
    pub owned: Vec<Owned<'c>>,
    numbers: HashMap<usize, usize>,
    disjoint: DisjointSets,
    sets: Vec<Set>,
}

impl<'c> Sets<'c> {
    fn find(&mut self, value: Val<'c>) -> usize {
        let number = *self.numbers.entry(ir::key(value)).or_insert_with(|| {
            self.sets.push(Set::default());
            self.disjoint.add()
        });
        self.disjoint.find(number)
    }

    /// The set of a value.
    pub fn of(&mut self, value: Val<'c>) -> &mut Set {
        let at = self.find(value);
        &mut self.sets[at]
    }

    /// Merges the sets of two values.
    pub fn join(&mut self, one: Val<'c>, other: Val<'c>) {
        let (mut into, mut from) = (self.find(one), self.find(other));
        if into == from {
            return;
        }
        if self.sets[into].owned.len() < self.sets[from].owned.len() {
            (into, from) = (from, into);
        }
        self.disjoint.join(into, from);
        let gone = std::mem::take(&mut self.sets[from]);
        let set = &mut self.sets[into];
        set.owned.extend(gone.owned);
        set.uses.extend(gone.uses);
        set.last = set.last.max(gone.last);
        set.lent |= gone.lent;
        set.kept |= gone.kept;
        set.by_hand |= gone.by_hand;
    }

    /// Records an owned value.
    pub fn own(&mut self, owned: Owned<'c>) {
        let number = self.owned.len();
        self.owned.push(owned);
        self.of(owned.value).owned.push(number);
    }

    /// Records a use of a value.
    pub fn used(&mut self, value: Val<'c>, at: Use) {
        let set = self.of(value);
        set.uses.push(at);
        set.last = set.last.max(Some(at));
    }
}
