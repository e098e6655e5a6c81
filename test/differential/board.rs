//! TensorLayouts over the places of a machine, and the buffers that hold them.
//!
//! A part that no axis of the machine has is at every place. The buffer of a machine holds all its places side by side,
//! the last axis fastest; inside a place come the pieces over `Time`, then the local addresses, then the elements of a
//! word.

use layout_reference::boxes::indices;
use layout_reference::choices::Choices;
use layout_reference::places::{Definition, Part, Place};

/// The axes of the machine, parent to child, and the number of places along each.
pub const AXES: &[(&str, i64)] = &[("L1B", 3), ("MAB", 4), ("PE", 12)];
/// The axes inside of a place, the last one fastest.
const LOCAL: [&str; 3] = ["Time", "Addr", "W"];
/// The bits of a word of the machine.
const WORD: i64 = 64;
/// The limit of a buffer's elements, over all places.
const ROOM: i64 = 150_000;

/// A TensorLayout of any sizes.
#[derive(Clone, Debug, PartialEq)]
pub struct Spread {
    definition: Definition,
    /// Whether the sizes precede the layout.
    prefix: bool,
}

/// The number of places along an axis of the machine.
fn places(axis: &str) -> Option<i64> {
    AXES.iter().find(|(name, _)| *name == axis).map(|axis| axis.1)
}

impl Spread {
    /// A random layout for these sizes, at least one, and for elements of `bytes` bytes.
    pub fn random(rng: &mut Choices, sizes: &[i64], bytes: usize) -> Spread {
        loop {
            let spread = Spread::any(rng, sizes, WORD / (8 * bytes as i64));
            if AXES.iter().map(|axis| axis.1).product::<i64>() * spread.room() <= ROOM && spread.is_good(sizes) {
                return spread;
            }
        }
    }

    /// Parts for these sizes, whether or not they fit.
    fn any(rng: &mut Choices, sizes: &[i64], word: i64) -> Spread {
        let mut used: Vec<&str> = AXES.iter().map(|axis| axis.0).chain(["Time", "W"]).collect();
        used.retain(|axis| *axis != "W" || word > 1);
        rng.shuffle(&mut used);
        used.truncate(rng.usize(1..=3));
        let mut dims = Vec::new();
        for size in sizes {
            let (mut parts, mut rest) = (Vec::new(), *size);
            // From the least significant part on, until the dimension is covered, and at times beyond.
            while rest > 1 || rng.one_in(8) {
                let axis = if rng.one_in(3) { "Addr" } else { used[rng.usize(..used.len())] };
                let extent = match axis {
                    "W" => rng.i64(1..=word),
                    "Time" => rng.i64(1..=rest.min(5)),
                    "Addr" if rng.bool() => rest,
                    "Addr" => rng.i64(1..=rest + 1),
                    _ => rng.i64(1..=places(axis).expect("an axis of the machine").min(rest + 1)),
                };
                if extent == 1 && !rng.one_in(8) {
                    continue;
                }
                parts.insert(0, (extent, axis, 1));
                rest = (rest + extent - 1) / extent;
            }
            dims.push(parts);
        }
        let mut spread = Spread { definition: Definition::without_copies(sizes, dims), prefix: rng.one_in(3) };
        if rng.bool() {
            let axis = AXES[rng.usize(..AXES.len())].0;
            let axis = match rng.u8(0..6) {
                0 => "Time",
                1 if word > 1 => "W",
                _ => axis,
            };
            let most = if axis == "W" { word } else { 4 };
            spread.definition.copies.push((rng.i64(1..=most), axis, 1));
        }
        let unnamed = AXES.iter().map(|axis| axis.0).filter(|axis| !spread.is_over(axis) && rng.bool()).collect();
        spread.definition.whole = unnamed;
        spread.set_strides(rng, sizes);
        spread
    }

    /// Sets strides along each axis: parts in random order, each past the reach of the previous ones, at times with a
    /// gap; or any strides, so that parts may interleave.
    fn set_strides(&mut self, rng: &mut Choices, sizes: &[i64]) {
        for axis in AXES.iter().map(|axis| axis.0).chain(["Time", "W", "Addr"]) {
            let interleave = rng.one_in(6);
            let gaps = rng.one_in(3);
            // Steps that only padding reaches are free for other parts, where parts may overlap.
            let overlap = places(axis).is_none() && rng.one_in(4);
            let mut parts: Vec<(i64, &mut Part)> = Vec::new();
            for (parts_of, size) in self.definition.dims.iter_mut().zip(sizes) {
                let mut weight: i64 = parts_of.iter().map(|part| part.0).product();
                for (k, part) in parts_of.iter_mut().enumerate() {
                    weight /= part.0;
                    let needed = if k == 0 && overlap { (size - 1) / weight + 1 } else { part.0 };
                    parts.push((needed.min(part.0), part));
                }
            }
            parts.extend(self.definition.copies.iter_mut().map(|part| (part.0, part)));
            parts.retain(|(_, part)| part.1 == axis);
            rng.shuffle(&mut parts);
            let mut past = 1;
            for (needed, part) in parts {
                part.2 = if interleave { rng.i64(1..8) } else { past };
                if gaps {
                    part.2 += rng.i64(0..4);
                }
                past = past.max(part.2) + (needed - 1) * part.2;
            }
        }
    }

    /// The axes that this dimension alone is spread over.
    pub fn only_over(&self, dim: usize) -> Vec<&'static str> {
        let Definition { dims, copies, .. } = &self.definition;
        let over = |axis: &&str| {
            let others = dims.iter().enumerate().filter(|(d, _)| *d != dim).flat_map(|(_, parts)| parts);
            let own = dims[dim].iter().any(|part| part.1 == *axis && part.0 > 1);
            own && !others.chain(copies).any(|part| part.1 == *axis)
        };
        AXES.iter().map(|axis| axis.0).filter(over).collect()
    }

    /// Whether each element is at only some of the places of this axis.
    pub fn is_over(&self, axis: &str) -> bool {
        self.definition.parts().any(|part| part.1 == axis)
    }

    /// The extent along an axis, up to the last coordinate that a part reaches.
    fn reach(&self, axis: &str) -> i64 {
        let parts = self.definition.parts().filter(|part| part.1 == axis);
        parts.map(|(extent, _, stride)| (extent - 1) * stride).sum::<i64>() + 1
    }

    /// The elements of each place's memory.
    fn room(&self) -> i64 {
        LOCAL.map(|axis| self.reach(axis)).iter().product()
    }

    /// Whether the layout fits on the machine and gives each element its own places.
    fn is_good(&self, sizes: &[i64]) -> bool {
        let fits = AXES.iter().all(|(axis, n)| self.reach(axis) <= *n);
        let words = !self.is_over("W") || self.reach("W") <= 2;
        let mut seen = std::collections::HashSet::new();
        fits && words && self.offsets(sizes).into_iter().flatten().all(|offset| seen.insert(offset))
    }

    /// The offsets of all copies of each element in the buffer, by row-major index.
    pub fn offsets(&self, sizes: &[i64]) -> Vec<Vec<usize>> {
        let at = |place: Place| {
            let coordinates = |axis: &str, n: i64| place.get(axis).map_or(0..n, |at| *at..at + 1);
            let local = LOCAL.iter().fold(0, |at, axis| at * self.reach(axis) + place.get(axis).unwrap_or(&0));
            let places = AXES.iter().fold(vec![0], |all, (axis, n)| {
                all.iter().flat_map(|at| coordinates(axis, *n).map(move |c| at * n + c)).collect()
            });
            places.into_iter().map(move |at| (at * self.room() + local) as usize).collect::<Vec<_>>()
        };
        let copies = |index: &Vec<i64>| self.definition.every_place(index).into_iter().flat_map(at).collect();
        indices(sizes).iter().map(copies).collect()
    }

    /// The elements of the buffer.
    pub fn elements(&self) -> usize {
        (AXES.iter().map(|axis| axis.1).product::<i64>() * self.room()) as usize
    }

    /// The sizes and strides of the buffer: a dimension for each axis, then one for each part inside a place.
    pub fn dimensions(&self) -> Vec<(i64, i64)> {
        let mut stride = self.room();
        let mut dimensions = Vec::new();
        for (_, places) in AXES.iter().rev() {
            dimensions.insert(0, (*places, stride));
            stride *= places;
        }
        for (extent, axis, stride) in self.definition.parts().filter(|part| part.0 > 1) {
            let Some(number) = LOCAL.iter().position(|local| local == axis) else { continue };
            let unit: i64 = LOCAL[number + 1..].iter().map(|axis| self.reach(axis)).product();
            dimensions.push((*extent, stride * unit));
        }
        dimensions
    }

    /// The sizes of the buffer's allocation: its dimensions if they are dense and in memory order, else one size of all
    /// elements.
    pub fn allocation(&self) -> Vec<i64> {
        let mut dense = 1;
        let in_order = self.dimensions().iter().rev().all(|(size, stride)| {
            let expected = dense;
            dense *= size;
            *stride == expected
        });
        let sizes = self.dimensions().iter().map(|(size, _)| *size).collect();
        if in_order { sizes } else { vec![self.elements() as i64] }
    }

    /// The same layout with copies at every place of an axis that has fewer; `None` if no axis has fewer.
    pub fn with_all_copies(&self) -> Option<Spread> {
        let mut more = self.clone();
        let is_part = |(extent, axis, _): &Part| places(axis).is_some_and(|n| *extent < n);
        let copies = std::mem::take(&mut more.definition.copies);
        copies.iter().any(|part| is_part(part) && !more.is_over(part.1)).then_some(more)
    }

    /// The text of the layout for a tensor of these sizes.
    pub fn text(&self, sizes: &[i64]) -> String {
        let text = Definition { shape: sizes.to_vec(), ..self.definition.clone() }.text();
        if self.prefix { text } else { text.split_once('/').expect("sizes").1.to_string() }
    }
}

/// The module attribute that defines the machine.
pub fn machine() -> String {
    let axes: Vec<_> = AXES.iter().map(|(name, n)| format!("{n}_{name}")).collect();
    format!("layout.machine = #layout.machine<axes: ({}), memories: (), word: {WORD}>", axes.join(", "))
}
