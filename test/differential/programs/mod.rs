//! Random programs, one function for each kind. Their templates are in `templates/`.

mod contractions;
mod control;
mod conversions;
mod elementwise;
mod memory;
mod padding;
mod padding_numbers;
mod reductions;
mod shapes;

use crate::array::{Array, Source};
use crate::element::{BF16, Element, F16, F32, F64, I8, I16, I32, I64};
use crate::program::Program;
use layout_reference::choices::Choices;
use tensor_layout::tiled::{Layout, TileEntry};

/// The name of a kind and its generator.
pub type Kind = (&'static str, fn(&mut Source) -> Program);

/// All kinds.
pub const KINDS: &[Kind] = &[
    ("convert", elementwise::convert),
    ("elementwise", elementwise::elementwise),
    ("chain", elementwise::chain),
    ("generic", contractions::generic),
    ("matmul", contractions::matmul),
    ("contract", contractions::contract),
    ("pair", elementwise::pair),
    ("reduce", reductions::reduce),
    ("transpose", shapes::transpose),
    ("slices", shapes::slices),
    ("window", reductions::window),
    ("dynamic", shapes::dynamic),
    ("pad", shapes::pad),
    ("reshape", shapes::reshape),
    ("loop", control::a_loop),
    ("branch", control::branch),
    ("call", control::call),
    ("constant", elementwise::constant),
    ("loads", memory::loads),
    ("affine", memory::affine),
    ("buffers", memory::buffers),
    ("transfer", memory::transfer),
    ("cast", elementwise::cast),
    ("fold", reductions::fold),
    ("batches", contractions::batches),
    ("views", memory::views),
    ("softmax", reductions::softmax),
    ("product", shapes::product),
    ("conversions", conversions::conversions),
    ("bits", elementwise::bits),
    ("bytes", memory::bytes),
    ("rows", memory::rows),
    PADDING[0],
    PADDING[1],
    PADDING[2],
    PADDING[3],
    ("taken_over", elementwise::taken_over),
];

/// The kinds on incomplete tiles, lowered with `padding=typed`.
pub const PADDING: [Kind; 4] = [
    ("padding_reductions", padding::reductions),
    ("padding_products", padding::products),
    ("padding_loops", padding::loops),
    ("padding_aliases", padding::aliases),
];

/// Element types, each with the wider one of its products and sums.
const WIDENED: &[(Element, Element)] = &[
    (F32, F32),
    (BF16, F32),
    (F16, F32),
    (F64, F64),
    (F32, F64),
    (I8, I32),
    (I16, I32),
    (I32, I32),
    (I64, I64),
    (I8, I8),
    (I16, I16),
    (I8, I16),
    (BF16, F64),
];

/// An array whose sizes are the extents of these dimensions of an iteration space.
fn of_extents(rng: &mut Source, extents: &[i64], dims: &[usize], element: Element) -> Array {
    Array::new(rng, &dims.iter().map(|d| extents[*d]).collect::<Vec<_>>(), element)
}

/// A random set of dynamic dimensions. Their sizes may become 1 or 0.
fn unknown_dims(rng: &mut Choices, sizes: &mut [i64]) -> Vec<usize> {
    let unknown: Vec<usize> = (0..sizes.len()).filter(|_| rng.bool()).collect();
    for d in &unknown {
        match rng.u8(0..16) {
            0 => sizes[*d] = 0,
            1 => sizes[*d] = 1,
            _ => {}
        }
    }
    unknown
}

/// An array with a tiled layout and these dynamic dimensions.
fn with_unknown(rng: &mut Source, sizes: &[i64], element: Element, unknown: &[usize]) -> Array {
    loop {
        let array = Array { unknown: unknown.to_vec(), ..Array::tiled(rng, sizes, element) };
        if !array.has_parts() {
            continue;
        }
        // Each row must begin at a byte.
        let bytes = array.stored_bits() >= 8 || array.fastest().is_some();
        if unknown.is_empty() || merges_known(&array.tiled_layout(), unknown) && bytes {
            return array;
        }
    }
}

/// Whether a layout merges only whole dimensions, all of static size except the majormost.
fn merges_known(layout: &Layout, unknown: &[usize]) -> bool {
    let Some((first, others)) = layout.tiles.split_first() else { return true };
    let merges = |tile: &[TileEntry]| tile.contains(&TileEntry::Combine);
    let mut dims = layout.minor_to_major.iter().rev().skip(layout.minor_to_major.len().saturating_sub(first.len()));
    let missing = first.len().saturating_sub(layout.minor_to_major.len());
    // Whether the previous dimension is merged into the next one.
    let mut merged = false;
    let fits = first[missing..].iter().all(|entry| {
        let inner = std::mem::replace(&mut merged, *entry == TileEntry::Combine);
        dims.next().is_none_or(|d| !inner || !unknown.contains(d))
    });
    fits && !others.iter().any(|tile| merges(tile))
}

/// A random array for each element of the result.
fn arrays<const N: usize>(rng: &mut Source, sizes: &[i64], element: Element) -> [Array; N] {
    [(); N].map(|()| Array::new(rng, sizes, element))
}
