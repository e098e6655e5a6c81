//! The axes of two placements as a tree of places.

use crate::places::machine::{Machine, Memory, TIME, WORD};
use crate::places::placement::{Copies, Placement};

pub const FROM: usize = 0;
pub const TO: usize = 1;

/// The constraint that both sides agree on `coordinate floordiv unit` along an axis.
#[derive(Clone, Copy)]
pub struct SamePlace {
    pub axis: usize,
    pub unit: i64,
}

/// The axes of both sides. Behind the named ones are the address and the position, the address in elements.
pub struct Tree {
    pub axes: Vec<String>,
    /// The number of places along each named axis.
    pub places: Vec<i64>,
    /// The number of named axes in the tree; the others are inside a place.
    pub tree_axes: usize,
    /// The levels of the tree, each as the coordinates that its places share.
    pub levels: Vec<SamePlace>,
    /// The number of leading axes that are coordinates of each side's memory.
    pub depths: [usize; 2],
    /// The axes inside a place.
    pub local: Vec<usize>,
    /// The elements of a word.
    pub word: i64,
}

impl Tree {
    pub fn new(
        sides: [&Placement; 2],
        machine: Option<&Machine>,
        memories: [Option<usize>; 2],
        element_bits: i64,
    ) -> Tree {
        let mut axes: Vec<String> =
            machine.map_or(Vec::new(), |m| m.axes.iter().map(|axis| axis.name.clone()).collect());
        let mut places: Vec<i64> =
            machine.map_or(Vec::new(), |m| m.axes.iter().map(|axis| axis.extent.max(1)).collect());
        let inside = |axis: &str| axis == TIME || axis == WORD;
        let named = || sides.into_iter().flat_map(|side| side.axes().iter().zip(side.extents()));
        let others = named().filter(|(axis, _)| !inside(axis));
        let inner = named().filter(|(axis, _)| inside(axis));
        let mut tree_axes = axes.len();
        for (axis, reach) in others.chain(inner) {
            match axes.iter().position(|known| known == axis) {
                Some(known) if machine.is_none() || inside(axis) => places[known] = places[known].max(reach),
                Some(_) => {}
                None => {
                    axes.push(axis.clone());
                    places.push(reach);
                    tree_axes += usize::from(!inside(axis));
                }
            }
        }
        let levels = levels(machine, &places[..tree_axes]);
        let (address, position) = (axes.len(), axes.len() + 1);
        let word_axis = axes.iter().position(|axis| axis == WORD);
        let word =
            machine.map(|m| m.word_bits / element_bits).or_else(|| word_axis.map(|w| places[w])).unwrap_or(1).max(1);
        if let (Some(w), Some(_)) = (word_axis, machine) {
            places[w] = word;
        }
        let in_words = sides.map(|side| side.axes().iter().any(|axis| axis == WORD));
        let depths = memories.map(|memory| {
            let memory = machine.zip(memory).map(|(machine, memory)| (machine, &machine.memories[memory]));
            let below = |(machine, memory): (&Machine, &Memory)| match &memory.axis {
                Some(axis) => machine.depth(axis).map_or(tree_axes, |depth| depth + 1),
                None => 0,
            };
            memory.map_or(tree_axes, below)
        });
        // A layout names axes below its memory only if no memory is deeper: there they are parts of the address.
        let mut local: Vec<usize> =
            (depths[FROM].max(depths[TO])..axes.len()).filter(|axis| Some(*axis) != word_axis).collect();
        match in_words {
            [true, true] => local.extend([address].into_iter().chain(word_axis)),
            [false, false] => local.push(address),
            _ => local.push(position),
        }
        Tree { axes, places, tree_axes, levels, depths, local, word }
    }

    pub fn address(&self) -> usize {
        self.axes.len()
    }

    /// Whether each element of a side is at every place along an axis.
    pub fn everywhere(&self, sides: [&Placement; 2], side: usize, axis: usize) -> bool {
        if (self.depths[side]..self.tree_axes).contains(&axis) {
            return false;
        }
        let side = sides[side];
        match side.axes().iter().position(|name| *name == self.axes[axis]) {
            Some(known) => side.copies(known) == Copies::All,
            None => self.axes[axis] != WORD,
        }
    }
}

/// The levels of a tree with so many places along each axis, by the groups of the machine's axes.
fn levels(machine: Option<&Machine>, places: &[i64]) -> Vec<SamePlace> {
    let mut levels = Vec::new();
    for (axis, places) in places.iter().enumerate() {
        let groups = machine.and_then(|m| m.axes.get(axis)).map_or(&[][..], |axis| &axis.groups);
        let mut unit = 1i64;
        let mut inner = vec![1];
        for group in groups.iter().skip(1).rev().filter(|group| **group > 1) {
            unit = unit.saturating_mul(*group);
            inner.push(unit);
        }
        // A level with a single place is left out.
        inner.retain(|unit| *unit == 1 || unit < places);
        levels.extend(inner.into_iter().rev().map(|unit| SamePlace { axis, unit }));
    }
    levels
}
