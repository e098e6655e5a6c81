//! The iteration space of a kernel, with its operands. `loops.rs` cuts it at tile boundaries.

use crate::buffers::spread::Spread;
use crate::kernel::access::{Access, Operand, Size};
use tensor_layout::expr::Expr;

/// An iteration over the elements of operands; the last `outputs` of them are written.
pub struct Nest<'c> {
    /// The sizes of the iteration space.
    pub extents: Vec<Size<'c>>,
    /// The operands that are read, then those that are written.
    pub operands: Vec<Operand<'c>>,
    /// The number of outputs, the last operands.
    pub outputs: usize,
    /// Parts of reduced dimensions that are spread over places: each place reduces its own share.
    pub reduced_over_places: Vec<Spread>,
    /// Whether the body may be emitted twice: it does not access memory itself.
    pub repeats: bool,
}

/// One loop: a part of a dimension.
pub struct TileLoop {
    pub dim: usize,
    /// Its position among the scales of its dimension.
    pub level: usize,
    pub var: usize,
    /// Upper bounds; the loop ends at the least one.
    pub bounds: Vec<Expr>,
}

/// The nest that copies all elements.
pub fn copy_nest<'c>(from: Access<'c>, to: Access<'c>) -> Nest<'c> {
    let extents = from.sizes.iter().zip(&to.sizes).map(|(a, b)| if a.known().is_some() { *a } else { *b });
    let extents: Vec<Size<'c>> = extents.collect();
    let identity: Vec<Expr> = (0..extents.len()).map(Expr::Var).collect();
    let operands = [from, to].map(|access| Operand::new(access, identity.clone())).into();
    Nest { extents, operands, outputs: 1, reduced_over_places: Vec::new(), repeats: true }
}
