//! Random types of tensors and memrefs: sizes, elements, layouts.

use crate::board::Spread;
use crate::buffer::GARBAGE;
use crate::element::{Element, Kind};
use layout_reference::choices::Choices;
use std::ops::{Deref, DerefMut};
use tensor_layout::tiled::{Expansion, StridedDim};
use tensor_layout::tiled::{Layout, TileEntry};

/// Random choices, and the kind of program they are for.
pub struct Source<'a> {
    pub choices: &'a mut Choices,
    /// Whether the program becomes vector code: sizes are larger then, and layouts keep more elements contiguous.
    pub vectors: bool,
    /// Whether nothing has a layout.
    pub plain: bool,
}

impl Deref for Source<'_> {
    type Target = Choices;

    fn deref(&self) -> &Choices {
        self.choices
    }
}

impl DerefMut for Source<'_> {
    fn deref_mut(&mut self) -> &mut Choices {
        self.choices
    }
}

/// A layout.
#[derive(Clone, Debug)]
pub enum Notation {
    Tiled(Layout),
    /// A TensorLayout, over the places of a machine.
    Spread(Spread),
    /// A tiled layout whose addresses are swizzled.
    Swizzled(Flips, Layout),
}

/// A swizzle `Sw<bits,base,shift>`.
#[derive(Clone, Debug)]
pub struct Flips {
    bits: u32,
    base: u32,
    shift: i32,
}

impl Flips {
    fn random(rng: &mut Source) -> Flips {
        let bits = rng.usize(1..=3) as u32;
        let shift = (bits as usize + rng.usize(0..3)) as i32;
        Flips { bits, base: rng.usize(0..=5) as u32, shift: if rng.one_in(3) { -shift } else { shift } }
    }

    /// The place of an address, bit by bit.
    pub fn of(&self, address: usize) -> usize {
        let (flipped, by) = (self.base + (-self.shift).max(0) as u32, self.base + self.shift.max(0) as u32);
        (0..self.bits).fold(address, |place, k| place ^ ((address >> (by + k) & 1) << (flipped + k)))
    }

    /// The number of elements in whole blocks.
    pub fn whole(&self, elements: usize) -> usize {
        elements.next_multiple_of(1 << (self.base + self.shift.unsigned_abs() + self.bits))
    }
}

/// The type of a tensor or memref.
#[derive(Clone, Debug)]
pub struct Array {
    pub sizes: Vec<i64>,
    pub element: Element,
    pub layout: Option<Notation>,
    /// The dimensions of dynamic size.
    pub unknown: Vec<usize>,
}

impl Array {
    /// An array with a random layout, or with none.
    pub fn new(rng: &mut Source, sizes: &[i64], element: Element) -> Array {
        // For vector code, few arrays are spread over places.
        let kind = rng.u8(0..8);
        let layout = match kind {
            _ if rng.plain => None,
            1..=4 if rng.vectors && !rng.one_in(12) => Some(tiled(rng, sizes, element)),
            0 => None,
            7 if !rng.one_in(3) => Some(Notation::Swizzled(Flips::random(rng), random_layout(rng, sizes))),
            1..=4 if !sizes.is_empty() => Some(Notation::Spread(Spread::random(rng, sizes, element.size))),
            _ => Some(tiled(rng, sizes, element)),
        };
        Array { sizes: sizes.to_vec(), element, layout, unknown: Vec::new() }
    }

    /// An array with a random tiled layout, or with none.
    pub fn tiled(rng: &mut Source, sizes: &[i64], element: Element) -> Array {
        let layout = (!rng.plain && !rng.one_in(8)).then(|| tiled(rng, sizes, element));
        Array { sizes: sizes.to_vec(), element, layout, unknown: Vec::new() }
    }

    /// Two arrays whose buffers have the same memref type if they are spread over places: the first has copies at a
    /// subset of the second's places. At times without layouts.
    pub fn with_fewer_copies(rng: &mut Source, sizes: &[i64], element: Element) -> [Array; 2] {
        let spreads = if rng.plain {
            [None, None]
        } else {
            loop {
                let spread = Spread::random(rng, sizes, element.size);
                if let Some(more) = spread.with_all_copies() {
                    break [Some(spread), Some(more)];
                }
            }
        };
        let of = |spread: Option<Spread>| {
            let (sizes, layout) = (sizes.to_vec(), spread.map(Notation::Spread));
            Array { sizes, element, layout, unknown: Vec::new() }
        };
        spreads.map(of)
    }

    /// The type's text; `kind` is `tensor` or `memref`.
    pub fn of(&self, kind: &str) -> String {
        let mut text = format!("{kind}<");
        for (d, n) in self.sizes.iter().enumerate() {
            text += &if self.unknown.contains(&d) { "?x".to_owned() } else { format!("{n}x") };
        }
        let layout = self.layout.as_ref().map(|layout| match layout {
            Notation::Tiled(layout) => format!(", #layout.tiled<{layout}>"),
            Notation::Spread(spread) => format!(", #layout.tensor_layout<{}>", spread.text(&self.sizes)),
            Notation::Swizzled(Flips { bits, base, shift }, layout) => {
                format!(", #layout.swizzled<Sw<{bits},{base},{shift}> o {layout}>")
            }
        });
        text + self.element.name + &layout.unwrap_or_default() + ">"
    }

    /// The byte value that the type of argument number `argument` promises for its padding, if it does: some tiled
    /// arrays do. All are zeros, except for some integers.
    pub fn promised(&self, argument: usize) -> Option<u8> {
        let number = argument as i64 + self.sizes.iter().sum::<i64>();
        let tiled = matches!(self.layout, Some(Notation::Tiled(_)));
        let integers = self.element.kind == Kind::Integer && self.element.bits >= 8;
        (tiled && number % 3 == 0).then(|| if integers { GARBAGE[(number / 3 % 3) as usize] } else { 0 })
    }

    pub fn rank(&self) -> usize {
        self.sizes.len()
    }

    /// The tiled layout, also below a swizzle, or row-major if there is none.
    pub fn tiled_layout(&self) -> Layout {
        match &self.layout {
            Some(Notation::Tiled(layout) | Notation::Swizzled(_, layout)) => layout.clone(),
            _ => Layout::row_major(self.rank()),
        }
    }

    /// The bits of an element in memory.
    pub fn stored_bits(&self) -> i64 {
        let of_layout = self.tiled_layout().element_bits;
        if of_layout == 0 { 8 * self.element.size as i64 } else { of_layout }
    }

    /// The bits of an element of the memref.
    pub fn unit_bits(&self) -> i64 {
        self.stored_bits().max(8)
    }

    /// A size larger than any part of a tile.
    fn larger(&self) -> i64 {
        let size = |entry: &TileEntry| if let TileEntry::Size(n) = entry { *n } else { 1 };
        2 * self.tiled_layout().tiles.iter().flatten().map(size).product::<i64>()
    }

    /// Whether no tile cuts a dimension whose size is not in the type.
    pub fn is_uncut(&self, d: usize) -> bool {
        self.parts().iter().any(|p| p.dim == Some(d) && p.size == self.larger())
    }

    /// The parts that become dimensions of the memref. A dynamic size counts as a larger one, with all its parts.
    pub fn parts(&self) -> Vec<StridedDim> {
        self.expansion().expect("small").strided_dims()
    }

    /// The expansion of the larger sizes; `None` if they have too many elements.
    fn expansion(&self) -> Option<Expansion> {
        let (layout, larger) = (self.tiled_layout(), self.larger());
        let sizes = self.sizes.iter().enumerate();
        let sizes: Vec<i64> = sizes.map(|(d, n)| if self.unknown.contains(&d) { larger } else { *n }).collect();
        Expansion::new(&sizes, &layout).ok()
    }

    /// Whether [`Array::parts`] does not panic.
    pub fn has_parts(&self) -> bool {
        self.expansion().is_some()
    }

    /// The position of the part that is cut into bytes, if it fills whole bytes.
    pub fn fastest(&self) -> Option<usize> {
        let fastest = self.parts().into_iter().find(|p| p.stride == 1 && p.size != 1)?;
        let whole = fastest.size % (self.unit_bits() / self.stored_bits()) == 0;
        // The extent of a dimension's first part depends on the dimension's size.
        let first = self.parts().into_iter().find(|p| p.dim == fastest.dim);
        let unknown = fastest.dim.is_some_and(|d| self.unknown.contains(&d)) && first.as_ref() == Some(&fastest);
        (whole && !unknown).then_some(fastest.position)
    }
}

/// A random tiled layout, at times with metadata and with another element size than the type's.
fn tiled(rng: &mut Source, sizes: &[i64], element: Element) -> Notation {
    let mut layout = random_layout(rng, sizes);
    layout.element_bits = match element.bits {
        1 if !rng.one_in(4) => rng.choice(&[1, 1, 1, 2, 4, 8, 32]),
        4 if !rng.one_in(4) => rng.choice(&[4, 4, 4, 4, 8, 16]),
        8.. if rng.one_in(8) => rng.choice(&[8, 16, 32, 64]).max(element.bits as i64),
        _ => 0,
    };
    if rng.one_in(8) {
        layout.metadata_prefix = 8 * rng.i64(1..5);
    }
    Notation::Tiled(layout)
}

/// Common tiles of compilers, and small ones.
const USUAL: &[&str] =
    &["(8,128)", "(8,128)(2,1)", "(8,128)(4,1)", "(2,2)", "(4)", "(2,4)(2,1)", "(3,4)(2,1)", "(16)(8)(2,1)"];
/// Tiles with more contiguous elements, for vector code.
const WIDE: &[&str] = &[
    "(8,128)",
    "(8,128)(2,1)",
    "(8,128)(4,1)",
    "(16,128)(2,1)",
    "(8,32)(4,1)",
    "(4,16)(2,1)",
    "(8,16)(8,1)",
    "(16,16)",
    "(8,8)",
    "(4,64)",
    "(2,32)",
    "(256)",
    "(16)",
    "(8,24)",
    "(32,8)(2,1)",
    "(16,32)(8,4)",
    "(4,12)(2,1)",
];
/// Sizes of tiles for vector code.
const SIZES: &[i64] = &[1, 2, 2, 3, 4, 4, 5, 8, 8, 12, 16, 16, 32];

/// A random layout in the notation's full range, with not many more elements than the array.
fn random_layout(rng: &mut Source, sizes: &[i64]) -> Layout {
    loop {
        let mut layout = Layout::row_major(sizes.len());
        rng.shuffle(&mut layout.minor_to_major);
        match rng.u8(0..10) {
            0 => {}
            1..=4 => {
                let tiles = if rng.vectors { rng.choice(WIDE) } else { rng.choice(USUAL) };
                layout.tiles = Layout::parse(&format!("{{0:T{tiles}}}")).expect("a layout").tiles;
            }
            _ => {
                for _ in 0..rng.usize(1..=3) {
                    let length = rng.usize(1..=sizes.len() + 1);
                    let size =
                        |rng: &mut Source| TileEntry::Size(if rng.vectors { rng.choice(SIZES) } else { rng.i64(1..6) });
                    let mut tile: Vec<TileEntry> = (0..length).map(|_| size(rng)).collect();
                    for entry in &mut tile[..length - 1] {
                        if rng.one_in(6) {
                            *entry = TileEntry::Combine;
                        }
                    }
                    layout.tiles.push(tile);
                }
            }
        }
        if rng.one_in(4) {
            layout.tail_alignment = rng.i64(1..50);
        }
        if Expansion::new(sizes, &layout)
            .is_ok_and(|e| e.allocated_elements() <= 4000 + 2 * e.logical_sizes().iter().product::<i64>())
        {
            return layout;
        }
    }
}

/// Sizes of about a thousand elements, at times with one long dimension.
pub fn random_sizes(rng: &mut Source, rank: usize) -> Vec<i64> {
    if rng.vectors && !rng.one_in(6) {
        return wide_sizes(rng, rank);
    }
    loop {
        let long = rng.usize(0..3 * rank.max(1));
        let size = |d| if d == long { rng.i64(1..150) } else { rng.i64(1..10) };
        let sizes: Vec<i64> = (0..rank).map(size).collect();
        if sizes.iter().product::<i64>() <= 1200 {
            return sizes;
        }
    }
}

/// Sizes of whole or ragged vectors, one or two of them large.
fn wide_sizes(rng: &mut Choices, rank: usize) -> Vec<i64> {
    const WHOLE: &[i64] = &[8, 16, 16, 24, 32, 32, 64, 128, 256];
    loop {
        let (long, second) = (rng.usize(0..rank.max(1)), rng.usize(0..2 * rank.max(1)));
        let whole = rng.bool();
        let size = |d| match d {
            _ if whole && (d == long || d == second) => rng.choice(WHOLE),
            _ if d == long => rng.i64(10..300),
            _ if d == second => rng.i64(6..70),
            _ => rng.i64(1..8),
        };
        let sizes: Vec<i64> = (0..rank).map(size).collect();
        if sizes.iter().product::<i64>() <= 3000 {
            return sizes;
        }
    }
}

pub fn some_rank(rng: &mut Choices) -> usize {
    rng.choice(&[1, 2, 2, 2, 3, 3, 4])
}

/// The dimensions `0..rank` in any order.
pub fn permutation(rng: &mut Choices, rank: usize) -> Vec<usize> {
    shuffled(rng, (0..rank).collect())
}

/// The dimensions in a random order.
pub fn shuffled(rng: &mut Choices, mut dims: Vec<usize>) -> Vec<usize> {
    rng.shuffle(&mut dims);
    dims
}
