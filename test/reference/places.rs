//! The meaning of a TensorLayout, computed step by step: the set of places of each index. Shares no code with the crate
//! under test.

use crate::boxes::{indices, is_inside, steps};
use crate::choices::Choices;
use std::collections::{BTreeMap, BTreeSet};
use tensor_layout::places::{self, Broadcast, Copies, TensorLayout};

/// A part: its extent, its axis, `Addr` among them, and its stride.
pub type Part = (i64, &'static str, i64);

/// The axes of random layouts; parts prefer the first ones.
const AXES: [&str; 4] = ["Addr", "P", "Q2", "R"];

/// A layout by its definition.
#[derive(Clone, Debug, PartialEq)]
pub struct Definition {
    /// The sizes of the tensor.
    pub shape: Vec<i64>,
    /// The parts of each dimension, most significant first.
    pub dims: Vec<Vec<Part>>,
    /// The broadcast parts.
    pub copies: Vec<Part>,
    /// The axes that are broadcast whole.
    pub whole: Vec<&'static str>,
}

/// A coordinate along each named axis that is not broadcast whole, and the local address.
pub type Place = BTreeMap<&'static str, i64>;

/// The coordinates of the copies of an element along an axis, given the least; `None` for all.
pub fn along(copies: &Copies, first: i64) -> Option<Vec<i64>> {
    match copies {
        Copies::Steps(parts) => Some(steps(first, parts)),
        Copies::All => None,
    }
}

impl Definition {
    /// The definition of a parsed layout.
    pub fn of(layout: &TensorLayout) -> Definition {
        let axis = |name: &str| *AXES.iter().find(|axis| **axis == name).expect("an axis of random layouts");
        let part = |part: &places::Part| (part.extent, part.axis.as_deref().map_or("Addr", axis), part.stride);
        let dims: Vec<Vec<Part>> = layout.dims.iter().map(|parts| parts.iter().map(part).collect()).collect();
        let (mut copies, mut whole) = (Vec::new(), Vec::new());
        for broadcast in &layout.broadcast {
            match broadcast {
                Broadcast::Axis(name) => whole.push(axis(name)),
                Broadcast::Part { extent, axis: name, stride } => {
                    copies.push((*extent, axis(name), stride.unwrap_or(1)))
                }
            }
        }
        let mut definition = Definition { shape: Vec::new(), dims, copies, whole };
        definition.shape = layout.shape.clone().unwrap_or_else(|| definition.padded());
        definition
    }

    /// A layout of parts alone.
    pub fn without_copies(shape: &[i64], dims: Vec<Vec<Part>>) -> Definition {
        Definition { shape: shape.to_vec(), dims, copies: Vec::new(), whole: Vec::new() }
    }

    /// The sizes with padding.
    pub fn padded(&self) -> Vec<i64> {
        self.dims.iter().map(|parts| parts.iter().map(|part| part.0).product()).collect()
    }

    /// The text of the layout, with every stride and the sizes.
    pub fn text(&self) -> String {
        let part = |(extent, axis, stride): &Part| match *axis {
            "Addr" => format!("{extent}:{stride}"),
            axis => format!("{extent}_{axis}:{stride}"),
        };
        let list = |parts: &[Part]| parts.iter().map(part).collect::<Vec<_>>().join(", ");
        let dims: Vec<String> = self.dims.iter().map(|parts| format!("({})", list(parts))).collect();
        let sizes: Vec<String> = self.shape.iter().map(i64::to_string).collect();
        let copies: Vec<String> =
            self.whole.iter().map(|axis| axis.to_string()).chain(self.copies.iter().map(part)).collect();
        let copies = if copies.is_empty() { String::new() } else { format!("; B@[{}]", copies.join(", ")) };
        format!("({})/({}{copies})", sizes.join(","), dims.join(", "))
    }

    /// The parts, copies included.
    pub fn parts(&self) -> impl Iterator<Item = &Part> {
        self.dims.iter().flatten().chain(&self.copies)
    }

    /// The axes of parts, and the address.
    pub fn axes(&self) -> BTreeSet<&'static str> {
        self.parts().map(|part| part.1).chain(["Addr"]).collect()
    }

    /// The least coordinate of an element or of padding along an axis, or its address.
    fn least(&self, index: &[i64], axis: &str) -> i64 {
        let mut sum = 0;
        for (parts, i) in self.dims.iter().zip(index) {
            let mut rest = *i;
            for (extent, along, stride) in parts.iter().rev() {
                sum += if *along == axis { rest % extent * stride } else { 0 };
                rest /= extent;
            }
        }
        sum
    }

    /// The places of each copy of an element or of padding, one for each copy.
    pub fn every_place(&self, index: &[i64]) -> Vec<Place> {
        let place: Place = self.axes().into_iter().map(|axis| (axis, self.least(index, axis))).collect();
        let mut all = vec![place];
        for (extent, axis, stride) in &self.copies {
            let step = |place: &Place, k: i64| {
                let mut place = place.clone();
                *place.get_mut(axis).unwrap() += k * stride;
                place
            };
            all = all.iter().flat_map(|place| (0..*extent).map(|k| step(place, k)).collect::<Vec<_>>()).collect();
        }
        all
    }

    /// The set of places of an element.
    pub fn places(&self, index: &[i64]) -> BTreeSet<Place> {
        self.every_place(index).into_iter().collect()
    }

    /// The least coordinate along each of these axes, and the address.
    pub fn coordinates(&self, index: &[i64], axes: &[&str]) -> Vec<i64> {
        axes.iter().chain(&["Addr"]).map(|axis| self.least(index, axis)).collect()
    }

    /// The address of each element, in row-major order.
    pub fn addresses(&self) -> Vec<i64> {
        indices(&self.shape).iter().map(|index| self.least(index, "Addr")).collect()
    }

    /// Whether two elements share a place, or two copies of one element do.
    pub fn collide(&self, a: &[i64], b: &[i64]) -> bool {
        let (x, y) = (self.every_place(a), self.places(b));
        if a == b { x.len() != y.len() } else { x.iter().any(|place| y.contains(place)) }
    }

    /// Two elements that share a place.
    pub fn collision(&self) -> Option<(Vec<i64>, Vec<i64>)> {
        let mut taken: BTreeMap<Place, Vec<i64>> = BTreeMap::new();
        for index in indices(&self.shape) {
            for place in self.every_place(&index) {
                if let Some(other) = taken.insert(place, index.clone()) {
                    return Some((other, index));
                }
            }
        }
        None
    }

    /// The element at each place, `None` for padding, by the coordinates along these axes and the address.
    pub fn held(&self, axes: &[&str]) -> BTreeMap<Vec<i64>, Option<Vec<i64>>> {
        let mut held = BTreeMap::new();
        for index in indices(&self.padded()) {
            let element = is_inside(&index, &self.shape);
            for place in self.every_place(&index) {
                let key: Vec<i64> = axes.iter().chain(&["Addr"]).map(|a| place.get(*a).copied().unwrap_or(0)).collect();
                let entry = held.entry(key).or_insert(None);
                if element {
                    *entry = Some(index.clone());
                }
            }
        }
        held
    }

    /// A random layout that is small enough to enumerate; about half of them are well-formed.
    pub fn random(rng: &mut Choices) -> Definition {
        let mut parts: Vec<(Option<usize>, Part)> = Vec::new();
        let rank = rng.usize(1..=3);
        for dim in 0..rank {
            for _ in 0..rng.usize(0..=3) {
                parts.push((Some(dim), (rng.i64(1..=3), AXES[rng.usize(0..3)], 0)));
            }
        }
        for _ in 0..rng.usize(0..=4).saturating_sub(2) {
            parts.push((None, (rng.i64(1..=3), AXES[rng.usize(1..3)], 0)));
        }
        // Nested strides with gaps, in random order; sometimes any strides.
        let mut order: Vec<usize> = (0..parts.len()).collect();
        rng.shuffle(&mut order);
        let mut reach: BTreeMap<&str, i64> = BTreeMap::new();
        let any = rng.u8(0..3) != 0;
        for k in order {
            let (extent, axis, stride) = &mut parts[k].1;
            let behind = reach.entry(axis).or_insert(1);
            let gap = if rng.u8(0..6) == 0 { 2 } else { 1 };
            *stride = if any { rng.i64(0..=5) } else { *behind * gap };
            *behind = *stride * *extent;
        }
        let of = |dim: Option<usize>| parts.iter().filter(|p| p.0 == dim).map(|p| p.1).collect::<Vec<_>>();
        let dims: Vec<Vec<Part>> = (0..rank).map(|dim| of(Some(dim))).collect();
        let copies = of(None);
        let used: BTreeSet<&str> = parts.iter().map(|part| part.1.1).collect();
        let whole = ["P", "Q2", "R"].into_iter().filter(|axis| !used.contains(axis) && rng.u8(0..4) == 0).collect();
        let mut shape: Vec<i64> = dims.iter().map(|parts| parts.iter().map(|part| part.0).product()).collect();
        for n in &mut shape {
            if rng.bool() {
                let least = i64::from(rng.u8(0..30) != 0);
                *n -= rng.i64(0..=(*n).min(3) - least);
            }
        }
        Definition { shape, dims, copies, whole }
    }

    /// The same layout in another form, or a similar one.
    pub fn varied(&self, rng: &mut Choices) -> Definition {
        let mut other = self.clone();
        for _ in 0..rng.usize(1..=3) {
            let dim = rng.usize(0..other.dims.len());
            match rng.u8(0..8) {
                // Splits a part in two.
                0 | 1 => {
                    let parts = &mut other.dims[dim];
                    if let Some(k) = (0..parts.len()).find(|k| parts[*k].0 == 3) {
                        // Differs if the third place is used.
                        let (_, axis, stride) = parts[k];
                        parts.splice(k..=k, [(2, axis, 2 * stride), (2, axis, stride)]);
                    }
                }
                2 => {
                    let parts = &mut other.dims[dim];
                    let next =
                        |k: &usize| parts[*k].1 == parts[k + 1].1 && parts[*k].2 == parts[k + 1].0 * parts[k + 1].2;
                    if let Some(k) = (0..parts.len().saturating_sub(1)).find(next) {
                        let (a, b) = (parts[k], parts[k + 1]);
                        parts.splice(k..=k + 1, [(a.0 * b.0, b.1, b.2)]);
                    }
                }
                3 => other.dims[dim].push((1, "Addr", 1)),
                4 => other.copies.reverse(),
                5 => {
                    if let Some(k) = (0..other.copies.len()).find(|k| other.copies[*k].0 == 2) {
                        let (_, axis, stride) = other.copies[k];
                        other.copies[k] = (2, axis, stride);
                        other.copies.push((1, axis, 5));
                    }
                }
                6 => {
                    if !other.axes().contains("R") && !other.whole.contains(&"R") {
                        other.whole.push("R");
                    }
                }
                _ => {
                    if let Some(part) = other.dims[dim].first_mut() {
                        part.2 += rng.i64(0..=1);
                    }
                }
            }
        }
        other
    }
}
