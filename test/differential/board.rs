//! TensorLayouts evaluated step by step on small tensors: a slow reference that shares no code with the crate.
//!
//! The definition maps an index to a set of places: each part takes a digit of its dimension's index and moves along
//! its axis. Copies are at every step of a part after `B@`, and at every place of an unnamed axis. The buffer of a
//! machine holds all its places side by side, the last axis fastest; inside a place come the pieces over `Time`, then
//! the local addresses, then the elements of a word.

use crate::choices::Choices;
use std::fmt;

/// The axes of the machine, parent to child, and the number of places along each.
pub const AXES: &[(&str, i64)] = &[("L1B", 3), ("MAB", 4), ("PE", 12)];
/// The bits of a word of the machine.
const WORD: i64 = 64;
/// The limit of a buffer's elements, over all places.
const ROOM: i64 = 150_000;

/// The axis of a part.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Along {
    /// An axis of the machine, by number.
    Axis(usize),
    Time,
    Address,
    Word,
}

#[derive(Clone, PartialEq, Debug)]
struct Part {
    extent: i64,
    along: Along,
    stride: i64,
}

/// A TensorLayout without the tensor's sizes.
#[derive(Clone, PartialEq, Debug)]
pub struct Spread {
    dims: Vec<Vec<Part>>,
    /// The parts after `B@`.
    copies: Vec<Part>,
    /// The axes that are named whole after `B@`.
    whole: Vec<usize>,
    /// Whether the sizes precede the layout.
    prefix: bool,
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
        let mut used: Vec<Along> = (0..AXES.len()).map(Along::Axis).chain([Along::Time, Along::Word]).collect();
        used.retain(|along| *along != Along::Word || word > 1);
        rng.shuffle(&mut used);
        used.truncate(rng.usize(1..=3));
        let mut dims = Vec::new();
        for size in sizes {
            let (mut parts, mut rest) = (Vec::new(), *size);
            // From the least significant part on, until the dimension is covered, and at times beyond.
            while rest > 1 || rng.one_in(8) {
                let along = if rng.one_in(3) { Along::Address } else { used[rng.usize(..used.len())] };
                let extent = match along {
                    Along::Axis(axis) => rng.i64(1..=AXES[axis].1.min(rest + 1)),
                    Along::Word => rng.i64(1..=word),
                    Along::Time => rng.i64(1..=rest.min(5)),
                    Along::Address if rng.bool() => rest,
                    Along::Address => rng.i64(1..=rest + 1),
                };
                if extent == 1 && !rng.one_in(8) {
                    continue;
                }
                parts.insert(0, Part { extent, along, stride: 1 });
                rest = (rest + extent - 1) / extent;
            }
            dims.push(parts);
        }
        let axes: Vec<usize> = (0..AXES.len()).collect();
        let mut spread = Spread { dims, copies: Vec::new(), whole: Vec::new(), prefix: rng.one_in(3) };
        if rng.bool() {
            let axis = axes[rng.usize(..axes.len())];
            let along = match rng.u8(0..6) {
                0 => Along::Time,
                1 if word > 1 => Along::Word,
                _ => Along::Axis(axis),
            };
            let most = if along == Along::Word { word } else { 4 };
            spread.copies.push(Part { extent: rng.i64(1..=most), along, stride: 1 });
        }
        spread.whole = axes.into_iter().filter(|axis| !spread.names(Along::Axis(*axis)) && rng.bool()).collect();
        spread.set_strides(rng, sizes);
        spread
    }

    /// Sets strides along each axis: parts in random order, each past the reach of the previous ones, at times with a
    /// gap; or any strides, so that parts may interleave.
    fn set_strides(&mut self, rng: &mut Choices, sizes: &[i64]) {
        let all = (0..AXES.len()).map(Along::Axis).chain([Along::Time, Along::Word, Along::Address]);
        for along in all {
            let interleave = rng.one_in(6);
            let gaps = rng.one_in(3);
            // Steps that only padding reaches are free for other parts, where parts may overlap.
            let overlap = !matches!(along, Along::Axis(_)) && rng.one_in(4);
            let mut parts: Vec<(i64, &mut Part)> = Vec::new();
            for (parts_of, size) in self.dims.iter_mut().zip(sizes) {
                let mut weight: i64 = parts_of.iter().map(|part| part.extent).product();
                for (k, part) in parts_of.iter_mut().enumerate() {
                    weight /= part.extent;
                    let needed = if k == 0 && overlap { (size - 1) / weight + 1 } else { part.extent };
                    parts.push((needed.min(part.extent), part));
                }
            }
            parts.extend(self.copies.iter_mut().map(|part| (part.extent, part)));
            parts.retain(|(_, part)| part.along == along);
            rng.shuffle(&mut parts);
            let mut past = 1;
            for (needed, part) in parts {
                part.stride = if interleave { rng.i64(1..8) } else { past };
                if gaps {
                    part.stride += rng.i64(0..4);
                }
                past = past.max(part.stride) + (needed - 1) * part.stride;
            }
        }
    }

    /// The axes that this dimension alone is spread over.
    pub fn only_over(&self, dim: usize) -> Vec<usize> {
        let over = |axis: &usize| {
            let along = Along::Axis(*axis);
            let others = self.dims.iter().enumerate().filter(|(d, _)| *d != dim).flat_map(|(_, parts)| parts);
            let own = self.dims[dim].iter().any(|part| part.along == along && part.extent > 1);
            own && !others.chain(&self.copies).any(|part| part.along == along)
        };
        (0..AXES.len()).filter(over).collect()
    }

    /// Whether each element is at only some of the places of this axis.
    pub fn is_over(&self, axis: usize) -> bool {
        self.names(Along::Axis(axis))
    }

    fn names(&self, along: Along) -> bool {
        self.parts().any(|part| part.along == along)
    }

    fn parts(&self) -> impl Iterator<Item = &Part> {
        self.dims.iter().flatten().chain(&self.copies)
    }

    /// The extent along an axis, up to the last coordinate that a part reaches.
    fn reach(&self, along: Along) -> i64 {
        self.parts().filter(|part| part.along == along).map(|part| (part.extent - 1) * part.stride).sum::<i64>() + 1
    }

    /// The elements of each place's memory.
    fn room(&self) -> i64 {
        [Along::Time, Along::Address, Along::Word].map(|along| self.reach(along)).iter().product()
    }

    /// Whether the layout fits on the machine and gives each element its own places.
    fn is_good(&self, sizes: &[i64]) -> bool {
        let fits = AXES.iter().enumerate().all(|(axis, (_, n))| self.reach(Along::Axis(axis)) <= *n);
        let words = self.parts().all(|part| part.along != Along::Word) || self.reach(Along::Word) <= 2;
        let mut seen = std::collections::HashSet::new();
        fits && words && self.offsets(sizes).into_iter().flatten().all(|offset| seen.insert(offset))
    }

    /// The offsets of all copies of each element in the buffer, by row-major index.
    pub fn offsets(&self, sizes: &[i64]) -> Vec<Vec<usize>> {
        let mut found = Vec::new();
        for number in 0..sizes.iter().product::<i64>() {
            let mut rest = number;
            let mut digits: Vec<(Along, i64)> = Vec::new();
            for (parts, size) in self.dims.iter().zip(sizes).rev() {
                let mut index = rest % size;
                rest /= size;
                for part in parts.iter().rev() {
                    digits.push((part.along, index % part.extent * part.stride));
                    index /= part.extent;
                }
            }
            let coordinate = |along: Along| digits.iter().filter(|d| d.0 == along).map(|d| d.1).sum::<i64>();
            let mut offsets = vec![0i64];
            for (axis, (_, places)) in AXES.iter().enumerate() {
                let along = Along::Axis(axis);
                let mut at = vec![coordinate(along)];
                for copy in self.copies.iter().filter(|copy| copy.along == along) {
                    at = at.iter().flat_map(|c| (0..copy.extent).map(move |k| c + k * copy.stride)).collect();
                }
                if !self.names(along) {
                    at = (0..*places).collect();
                }
                offsets = offsets.iter().flat_map(|o| at.iter().map(move |c| o * places + c)).collect();
            }
            let mut locals = vec![0i64];
            for along in [Along::Time, Along::Address, Along::Word] {
                let mut at = vec![coordinate(along)];
                for copy in self.copies.iter().filter(|copy| copy.along == along) {
                    at = at.iter().flat_map(|c| (0..copy.extent).map(move |k| c + k * copy.stride)).collect();
                }
                let reach = self.reach(along);
                locals = locals.iter().flat_map(|o| at.iter().map(move |c| o * reach + c)).collect();
            }
            let all = offsets.iter().flat_map(|o| locals.iter().map(move |l| (o * self.room() + l) as usize));
            found.push(all.collect());
        }
        found
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
        for part in self.parts().filter(|part| part.extent > 1) {
            let unit = match part.along {
                Along::Axis(_) => continue,
                Along::Time => self.reach(Along::Address) * self.reach(Along::Word),
                Along::Address => self.reach(Along::Word),
                Along::Word => 1,
            };
            dimensions.push((part.extent, part.stride * unit));
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
        let more = Spread { copies: Vec::new(), ..self.clone() };
        let axis = |part: &Part| matches!(part.along, Along::Axis(axis) if part.extent < AXES[axis].1);
        let fewer = self.copies.iter().any(|part| axis(part) && !more.names(part.along));
        fewer.then_some(more)
    }

    /// The text of the layout for a tensor of these sizes.
    pub fn text(&self, sizes: &[i64]) -> String {
        let dims: Vec<_> = self.dims.iter().map(|parts| format!("({})", list(parts))).collect();
        let mut copies: Vec<_> = self.copies.iter().map(ToString::to_string).collect();
        copies.extend(self.whole.iter().map(|axis| AXES[*axis].0.to_owned()));
        let copies = if copies.is_empty() { String::new() } else { format!("; B@[{}]", copies.join(", ")) };
        let prefix = if self.prefix { format!("({})/", list(sizes)) } else { String::new() };
        format!("{prefix}({}{copies})", dims.join(", "))
    }
}

fn list<T: fmt::Display>(items: &[T]) -> String {
    items.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let axis = match self.along {
            Along::Axis(axis) => AXES[axis].0,
            Along::Time => "Time",
            Along::Word => "W",
            Along::Address => return write!(f, "{}:{}", self.extent, self.stride),
        };
        write!(f, "{}_{axis}:{}", self.extent, self.stride)
    }
}

/// The module attribute that defines the machine.
pub fn machine() -> String {
    let axes: Vec<_> = AXES.iter().map(|(name, n)| format!("{n}_{name}")).collect();
    format!("layout.machine = #layout.machine<axes: ({}), memories: (), word: {WORD}>", axes.join(", "))
}
