//! A machine and the layouts of its arrays.
//!
//! The rule of [`DefaultLayouts::Tiles`], for registers of R rows of L words of w bits. An element of b bits counts as
//! one of at most w bits, since wider ones are kept as several arrays; k = w / b elements share a word. `p2(n)` is the
//! smallest power of two that is at least n, and `up(n, m)` is n rounded up to a multiple of m.
//!
//! 1. An array without elements: descending order, no tiles.
//! 2. Rank 0: `T(kL)`.
//! 3. Rank 1: `T(t)`, t = p2(n) but at least kL and at most RL; where k > 1, then `(L)(k,1)`.
//! 4. Rank 2 and more: tiles of r(n) rows by L, where n is the second-minor size: kR where b is at most 8 and kR divides
//!    n, else p2(n) but at least k and at most R. Where k > 1, then `(k,1)`.
//! 5. The order: of all pairs of different dimensions, minor and second-minor, the one with the fewest padded elements;
//!    where k > R, rows that no tile fits count as padded to R only. Of equals one without any padding, then the one with
//!    the larger minor dimension, then the larger second-minor. The others follow, descending.
//!
//! Elements of less than 8 bits have `E(b)`. With R = 8, L = 128 and w = 32 this is what XLA does for a TPU:
//! `f32[1024,129]` is `{0,1:T(8,128)}`, since 129 rows in the lanes would be padded to 256.

use crate::element::ElementType;
use crate::places::{DefaultLayouts, Machine};
use crate::text::{Error, from_str};
use crate::tiled::{Expansion, Layout, Tile, TileEntry};

/// A machine for which layouts are chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    machine: Machine,
}

/// A layout and the memory that it takes.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Ranked {
    /// The layout.
    pub layout: Layout,
    /// The bytes of memory, padding included.
    pub padded_bytes: i64,
}

/// The words in whose multiples an array of one dimension or none is laid out, and the rest of the rule's numbers.
struct Packing {
    rows: i64,
    lanes: i64,
    /// The elements that share a word.
    shared: i64,
    /// The bits of an element, at most a word's.
    bits: i64,
}

impl Target {
    /// The most dimensions of arrays of which [`Target::layouts`] gives all orders.
    pub const ALL_ORDERS: usize = 4;

    /// Reads a machine, or the name of a ready one.
    ///
    /// # Errors
    /// The error, and its byte in `text`.
    pub fn parse(text: &str) -> Result<Target, Error> {
        Target::new(Machine::parse(text)?)
    }

    /// The target that a machine is.
    ///
    /// # Errors
    /// The rule of default layouts has no meaning on it.
    pub fn new(machine: Machine) -> Result<Target, Error> {
        let word = machine.word_bits;
        if machine.model.layouts == DefaultLayouts::Tiles && (word < 8 || word.count_ones() != 1) {
            let message = format!("tiles need words of 8 bits or more, a power of two; found {word}");
            return Err(Error::new(message));
        }
        Ok(Target { machine })
    }

    /// The machine.
    pub fn machine(&self) -> &Machine {
        &self.machine
    }

    /// Whether arrays are in tiles of registers unless their owner asks otherwise.
    pub fn has_tiles(&self) -> bool {
        self.machine.model.layouts == DefaultLayouts::Tiles
    }

    /// The unit of all costs, such as `cycle`; `byte` where the machine names none.
    pub fn unit(&self) -> &str {
        if self.machine.model.unit.is_empty() { "byte" } else { &self.machine.model.unit }
    }

    /// The layout that an array has unless its owner asks for another.
    ///
    /// # Errors
    /// `element` is not data, a size is negative, or the padded elements do not fit in 64 bits.
    pub fn default_layout(&self, element: ElementType, sizes: &[i64]) -> Result<Layout, Error> {
        let order = self.default_order(element, sizes)?;
        let layout = self.layout(element, sizes, &order)?;
        Expansion::new(sizes, &layout)?.padded_bytes(element)?;
        Ok(layout)
    }

    /// The layout with this order, minor to major, in the tiles that go with it.
    ///
    /// # Errors
    /// `element` is not data, or `order` is no order of so many dimensions.
    pub fn layout(&self, element: ElementType, sizes: &[i64], order: &[usize]) -> Result<Layout, Error> {
        let packing = self.packing(element)?;
        let mut layout = Layout { minor_to_major: order.to_vec(), ..Layout::row_major(0) };
        layout.check(sizes)?;
        let Some(packing) = packing else { return Ok(layout) };
        if packing.bits < 8 {
            layout.element_bits = packing.bits;
        }
        if !sizes.contains(&0) {
            layout.tiles = packing.tiles(sizes, order);
        }
        Ok(layout)
    }

    /// The layouts of all orders of up to [`Target::ALL_ORDERS`] dimensions, and of all pairs of a minor and a second-minor
    /// dimension of more, by padded bytes, smallest first; of equals the default first, then row-major, then as listed.
    ///
    /// # Errors
    /// The errors of [`Target::default_layout`].
    pub fn layouts(&self, element: ElementType, sizes: &[i64]) -> Result<Vec<Ranked>, Error> {
        let default = self.default_layout(element, sizes)?;
        let mut found = Vec::new();
        for order in orders(sizes.len()) {
            let layout = self.layout(element, sizes, &order)?;
            let padded_bytes = Expansion::new(sizes, &layout)?.padded_bytes(element)?;
            found.push(Ranked { layout, padded_bytes });
        }
        found.sort_by_key(|ranked| (ranked.padded_bytes, ranked.layout != default));
        Ok(found)
    }

    /// The order of the default layout, minor to major.
    fn default_order(&self, element: ElementType, sizes: &[i64]) -> Result<Vec<usize>, Error> {
        let descending: Vec<usize> = (0..sizes.len()).rev().collect();
        if let Some(size) = sizes.iter().find(|size| **size < 0) {
            return Err(Error::new(format!("a size must be at least 0, found {size}")));
        }
        let Some(packing) = self.packing(element)? else { return Ok(descending) };
        if sizes.len() < 2 || sizes.contains(&0) {
            return Ok(descending);
        }
        let too_many = || Error::new("the padded elements of the array do not fit in 64 bits").too_large();
        let all = sizes.iter().try_fold(1i128, |all, size| all.checked_mul(i128::from(*size))).ok_or_else(too_many)?;
        let mut best: Option<((i128, bool), usize, usize)> = None;
        for &minor in &descending {
            for &second in descending.iter().filter(|second| **second != minor) {
                let rest = all / i128::from(sizes[minor]) / i128::from(sizes[second]);
                let padded = |rows: i64| {
                    let padded = [(sizes[minor], packing.lanes), (sizes[second], rows)];
                    padded.into_iter().try_fold(rest, |n, (size, by)| {
                        let (size, by) = (i128::from(size), i128::from(by));
                        n.checked_mul((size + by - 1) / by * by)
                    })
                };
                let rows = packing.rows_of(sizes[second]);
                let counted =
                    padded(if rows > packing.rows && sizes[second] % rows != 0 { packing.rows } else { rows });
                let (counted, taken) = counted.zip(padded(rows)).ok_or_else(too_many)?;
                let cost = (counted, taken != all);
                // Larger dimensions come first, so that the first of equals is the right one.
                if best.is_none_or(|(least, ..)| cost < least) {
                    best = Some((cost, minor, second));
                }
            }
        }
        Ok(best.map_or(descending, |(_, minor, second)| order_of(sizes.len(), minor, second)))
    }

    /// How elements are packed into registers; `None` where layouts have no tiles.
    fn packing(&self, element: ElementType) -> Result<Option<Packing>, Error> {
        let bits = element.bits().ok_or_else(|| Error::new(format!("`{element}` has no layout")).unsupported())?;
        let model = &self.machine.model;
        let (DefaultLayouts::Tiles, Some((rows, lanes))) = (model.layouts, model.registers) else { return Ok(None) };
        let bits = if element == ElementType::Pred { 8 } else { bits.min(self.machine.word_bits) };
        Ok(Some(Packing { rows, lanes, shared: self.machine.word_bits / bits, bits }))
    }
}

impl Packing {
    /// The rows of a tile where the second-minor size is `n`, at least 1.
    fn rows_of(&self, n: i64) -> i64 {
        let packed = self.rows.saturating_mul(self.shared);
        if self.bits <= 8 && n % packed == 0 { packed } else { power(n).min(self.rows).max(self.shared) }
    }

    /// The tiles of an array with elements.
    fn tiles(&self, sizes: &[i64], order: &[usize]) -> Vec<Tile> {
        let tile = |entries: &[i64]| entries.iter().map(|n| TileEntry::Size(*n)).collect::<Tile>();
        let line = self.shared.saturating_mul(self.lanes);
        let mut tiles = match *order {
            [] => return vec![tile(&[line])],
            [_] => {
                let longest = self.rows.saturating_mul(self.lanes);
                vec![tile(&[power(sizes[0]).min(longest).max(line)])]
            }
            [_, second, ..] => vec![tile(&[self.rows_of(sizes[second]), self.lanes])],
        };
        if self.shared > 1 {
            if order.len() == 1 {
                tiles.push(tile(&[self.lanes]));
            }
            tiles.push(tile(&[self.shared, 1]));
        }
        tiles
    }
}

/// The smallest power of two that is at least `n`; the largest that 64 bits hold where there is none.
fn power(n: i64) -> i64 {
    n.max(1).unsigned_abs().checked_next_power_of_two().and_then(|n| i64::try_from(n).ok()).unwrap_or(1 << 62)
}

/// The order in which `minor` and `second` vary fastest, and the others follow in descending order.
fn order_of(rank: usize, minor: usize, second: usize) -> Vec<usize> {
    let others = (0..rank).rev().filter(|dim| *dim != minor && *dim != second);
    [minor, second].into_iter().chain(others).collect()
}

/// All orders of a few dimensions, or those of all pairs of many; row-major first.
fn orders(rank: usize) -> Vec<Vec<usize>> {
    if rank > Target::ALL_ORDERS {
        let pairs = (0..rank).rev().flat_map(|minor| (0..rank).rev().map(move |second| (minor, second)));
        return pairs.filter(|(minor, second)| minor != second).map(|(m, s)| order_of(rank, m, s)).collect();
    }
    let mut all = vec![Vec::new()];
    for _ in 0..rank {
        let longer = |order: &Vec<usize>| {
            let order = order.clone();
            let rest = (0..rank).rev().filter(|dim| !order.contains(dim)).collect::<Vec<_>>();
            rest.into_iter().map(move |dim| order.iter().copied().chain([dim]).collect::<Vec<_>>())
        };
        all = all.iter().flat_map(longer).collect();
    }
    all
}

from_str!(Target: Error);
