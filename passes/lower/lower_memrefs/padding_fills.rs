//! Fills the padding of reduction inputs with neutral values.
//!
//! An example is columns 1000 to 1023 of f32[1000,1000] in tiles of 128 before a product: a fortieth of the product's
//! input, written once, while the product reads each element a thousand times.

use super::padding_state::{block, root};
use super::state::Lowering;
use crate::buffers::lowered::LoweredMemRef;
use crate::kernel::access::{Access, Operand, Size};
use crate::kernel::body::{Argument, Body};
use crate::kernel::nest::Nest;
use crate::kernel::padding::{KnownPadding, PaddingWrite, WholeTiles, whole_tiles, wishes};
use crate::pass::options::{LowerMemrefsOptions, Parallel};
use crate::{kernel, vectorize};
use layout_ir::{self as ir, Builder, Op, Val};
use melior::ir::Attribute;
use tensor_layout::expr::Expr;

/// A planned fill of padding.
pub(super) struct Fill<'c> {
    /// The buffer, over whole tiles.
    access: Access<'c>,
    /// Its sizes without padding.
    sizes: Vec<i64>,
    /// The definition of the buffer.
    pub(super) root: Val<'c>,
    /// The value for its padding.
    pub(super) value: Attribute<'c>,
    /// The operand number in the kernel.
    operand: usize,
    /// The value as a constant, after which the fill is inserted.
    constant: Op<'c>,
}

impl<'c> Lowering<'c> {
    /// The fills that let a reduction run over whole tiles, if they cost less than they save.
    pub(super) fn fills(
        &mut self,
        op: Op<'c>,
        nest: &Nest<'c>,
        body: &Body<'c>,
        known: &KnownPadding<'c>,
        tiles: &mut WholeTiles<'c>,
    ) -> Vec<Fill<'c>> {
        let inputs = nest.operands.len() - nest.outputs;
        let before: Vec<Option<Op<'c>>> = (0..nest.operands.len())
            .map(|k| {
                let written = nest.operands[inputs..].iter().any(|o| same(o.access.base, nest.operands[k].access.base));
                let whole = whole_tiles(&nest.operands[k].access, ir::location(op), tiles);
                let pays = k < inputs && !written && whole.is_some_and(|whole| pays(nest, k, &whole));
                pays.then(|| self.place_of_fill(nest.operands[k].access.base, op)).flatten()
            })
            .collect();
        let fillable: Vec<bool> = before.iter().map(Option::is_some).collect();
        let mut fills: Vec<Fill<'c>> = Vec::new();
        for (operand, value) in wishes(nest, body, known, &fillable, &self.options, ir::location(op), tiles) {
            let access = &nest.operands[operand].access;
            let whole = whole_tiles(access, ir::location(op), tiles);
            let (Some(whole), Some(before)) = (whole, before[operand]) else { continue };
            let root = root(access.base);
            if !fills.iter().any(|fill| ir::key(fill.root) == ir::key(root)) {
                let sizes = access.sizes.iter().filter_map(|n| n.known()).collect();
                let mut access = access.clone();
                access.fill_tiles(Some(whole));
                let constant = Builder::before(before).constant(value);
                let constant = ir::defining_op(constant).expect("a constant is made by an operation");
                fills.push(Fill { access, sizes, root, value, operand, constant });
            }
        }
        fills
    }

    /// The operation before which the padding of a buffer may be filled for `op`; `None` if it may not.
    fn place_of_fill(&mut self, base: Val<'c>, op: Op<'c>) -> Option<Op<'c>> {
        let root = root(base);
        let made = ir::defining_op(root).filter(|_| self.is_owned(root))?;
        let last = self.padding.writers.get(&ir::key(root)).and_then(|writers| writers.last());
        let wanted = last.map_or_else(|| block(made), |writer| writer.block);
        let mut around = std::iter::successors(Some(op), |op| ir::parent(*op));
        let before = around.find(|around| block(*around) == wanted).unwrap_or(op);
        // A view of the buffer may be inside a loop that the buffer is outside of.
        let shows = ir::defining_op(base)?;
        let mut around = std::iter::successors(Some(before), |op| ir::parent(*op));
        let there = around.find(|around| block(*around) == block(shows)).is_some_and(|op| ir::comes_before(shows, op));
        (there && self.kept(root, before) == PaddingWrite::Any).then_some(before)
    }

    /// Emits fills, and records them.
    pub(super) fn fill_padding(&mut self, fills: Vec<Fill<'c>>) {
        // The filled padding is small and read soon.
        let options = LowerMemrefsOptions { cache_bytes: 0, parallel: Parallel::None, ..self.options };
        for fill in fills {
            let b = Builder::before(ir::next(fill.constant).expect("a constant is no terminator"));
            let value = ir::result(fill.constant, 0);
            let body = Body::simple(vec![(value, Argument::Value(value))], None);
            for nest in fill.nests() {
                if vectorize::emit(b, &nest, &body, &options).is_err() {
                    kernel::emit(&nest, b, |inner| inner.store(0, value));
                }
            }
            self.note_fill(fill.root, fill.value, fill.constant);
        }
    }
}

impl<'c> Fill<'c> {
    /// The text of a remark about it.
    pub(super) fn said(&self) -> String {
        format!("padding of operand {} is filled before with {}", self.operand, self.value)
    }

    /// The boxes of padding: for each dimension the indices beyond its end, with earlier dimensions inside theirs.
    fn nests(&self) -> Vec<Nest<'c>> {
        let whole: Vec<i64> = self.access.sizes.iter().filter_map(|n| n.known()).collect();
        let ragged = (0..whole.len()).filter(|d| self.sizes[*d] < whole[*d]);
        let nest = |d: usize| {
            let size = |k: usize| match k.cmp(&d) {
                std::cmp::Ordering::Less => self.sizes[k],
                std::cmp::Ordering::Equal => whole[k] - self.sizes[k],
                std::cmp::Ordering::Greater => whole[k],
            };
            let sizes: Vec<Size<'c>> = (0..whole.len()).map(|k| Size::Static(size(k))).collect();
            let start = |k: usize| Expr::Const(if k == d { self.sizes[k] } else { 0 });
            let logical = (0..whole.len()).map(|k| Expr::Var(k) + start(k)).collect();
            let access = Access { sizes: sizes.clone(), logical, ..self.access.clone() };
            let operands = vec![Operand::new(access, (0..whole.len()).map(Expr::Var).collect())];
            Nest { extents: sizes, operands, outputs: 1, reduced_over_places: Vec::new(), repeats: true }
        };
        ragged.map(nest).collect()
    }
}

fn same(v: Val, other: Val) -> bool {
    ir::key(root(v)) == ir::key(root(other))
}

/// Whether the filled padding of an operand is small compared with a nest's reads.
fn pays(nest: &Nest, operand: usize, whole: &LoweredMemRef) -> bool {
    let count = |sizes: Vec<Option<i64>>| sizes.into_iter().try_fold(1i64, |n, size| n.checked_mul(size?));
    let known = |sizes: &[Size]| count(sizes.iter().map(|n| n.known()).collect());
    let elements = known(&nest.operands[operand].access.sizes);
    let filled = count(whole.shape.clone()).zip(elements).map(|(all, elements)| all - elements);
    let read = known(&nest.extents);
    filled.zip(read).is_some_and(|(filled, read)| filled <= read / READS_PER_FILL)
}

/// The least reads of a nest for each filled element. A product of f32[1000,1000], both inputs with the summed
/// dimension in lanes, reads 40,000 and has, filled, 0.67 of the instructions, for as much time; sums of its rows
/// read 41: 0.84; of f32[120,120] 15: 1.03.
const READS_PER_FILL: i64 = 32;
