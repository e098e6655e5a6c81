//! The meaning of tiled layouts and TensorLayouts: the place of each element, as an indexing map.
//!
//! A [`Meaning`] takes the index of an element to its coordinate along each named axis and to its local address. The
//! meaning also lists the copies along each axis. A tiled layout names no axis: it uses the address alone. An axis that
//! is unnamed, or broadcast whole, holds a copy at each of its places, so both are left out.

use crate::maps::equal::Equality;
use crate::maps::map::IndexingMap;
use crate::places::placement::{Copies, Placement};
use crate::places::tensor_layout::ADDRESS;
use crate::tiled::expansion::Expansion;

/// The places of the elements of a tensor, in any notation.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Meaning {
    /// The sizes of the tensor.
    pub sizes: Vec<i64>,
    /// The named axes.
    pub axes: Vec<String>,
    /// The map from an index to the coordinate along each of the axes, and last the local address in elements.
    pub map: IndexingMap,
    /// The copies along each of the axes, none of them at every place.
    pub copies: Vec<Copies>,
    /// XLA's number of the memory space; 0 if a notation has none.
    pub memory_space: u8,
}

impl From<&Placement> for Meaning {
    fn from(placement: &Placement) -> Meaning {
        let all = placement.axes().len();
        let named: Vec<usize> = (0..all).filter(|axis| placement.copies(*axis) != Copies::All).collect();
        let mut map = placement.map();
        map.results = named.iter().copied().chain([all]).map(|axis| map.results[axis].clone()).collect();
        Meaning {
            sizes: placement.sizes().to_vec(),
            axes: named.iter().map(|axis| placement.axes()[*axis].clone()).collect(),
            map,
            copies: named.iter().map(|axis| placement.copies(*axis)).collect(),
            memory_space: 0,
        }
    }
}

impl Meaning {
    /// The meaning of a tiled layout in a memory space. The layout must not be cut across memories.
    pub fn of_tiled(expansion: &Expansion, memory_space: u8) -> Meaning {
        let sizes = expansion.logical_sizes().to_vec();
        let map = IndexingMap::of_sizes(&sizes, vec![expansion.offset_expr()]);
        Meaning { sizes, axes: Vec::new(), map, copies: Vec::new(), memory_space }
    }

    /// Compares the places of all elements. The witness is an index.
    ///
    /// # Example
    /// ```
    /// use tensor_layout::maps::Equality;
    /// use tensor_layout::conversion::Meaning;
    /// use tensor_layout::places::Placement;
    /// use tensor_layout::tiled::{Expansion, Layout};
    /// let tiles = Expansion::new(&[3, 5], &Layout::parse("{1,0:T(2,2)}").unwrap()).unwrap();
    /// let parts = Placement::parse("(3,5)/((2:12, 2:2), (3:4, 2:1))").unwrap();
    /// assert_eq!(Meaning::of_tiled(&tiles, 0).compare(&Meaning::from(&parts)), Equality::Equal);
    /// ```
    pub fn compare(&self, other: &Meaning) -> Equality {
        let different = |witness: Option<Vec<i64>>, reason: String| Equality::Different { witness, reason };
        if self.sizes != other.sizes {
            return different(None, format!("the sizes are {:?} and {:?}", self.sizes, other.sizes));
        }
        if self.memory_space != other.memory_space {
            let spaces = (self.memory_space, other.memory_space);
            return different(None, format!("the memory spaces are {} and {}", spaces.0, spaces.1));
        }
        if self.sizes.contains(&0) {
            return Equality::Equal;
        }
        let any = || Some(vec![0; self.sizes.len()]);
        for (first, second, which) in [(self, other, "second"), (other, self, "first")] {
            if let Some(axis) = first.axes.iter().find(|axis| !second.axes.contains(axis)) {
                let reason = format!("the {which} has each element at every place of {axis}, the other does not");
                return different(any(), reason);
            }
        }
        let mut open = None;
        for k in 0..=self.axes.len() {
            let place = match self.axes.get(k) {
                None => other.axes.len(),
                Some(axis) => other.axes.iter().position(|other| other == axis).unwrap_or(other.axes.len()),
            };
            let name = self.axes.get(k).map_or(ADDRESS, String::as_str);
            let only =
                |map: &IndexingMap, k: usize| IndexingMap { results: vec![map.results[k].clone()], ..map.clone() };
            let (a, b) = (only(&self.map, k), only(&other.map, place));
            match a.compare(&b) {
                Equality::Equal => {}
                Equality::Different { witness: Some(index), .. } => {
                    let at = |map: &IndexingMap| map.evaluate(&index).ok().flatten().map_or(0, |c| c[0]);
                    let what = if name == ADDRESS { "addresses".to_string() } else { format!("places along {name}") };
                    let reason = format!("the {what} are {} and {}", at(&a), at(&b));
                    return different(Some(index), reason);
                }
                Equality::Different { witness, reason } => return different(witness, reason),
                unknown => open = Some(unknown),
            }
            if let (Some(a), Some(b)) = (self.copies.get(k), other.copies.get(place))
                && !a.same(b)
            {
                return different(any(), format!("the copies along {name} are at other places"));
            }
        }
        open.unwrap_or(Equality::Equal)
    }
}
