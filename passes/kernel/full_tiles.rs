//! Separate code for full and ragged tiles, for sizes known only at run time.
//!
//! For `n` rows in tiles of 8, tile `i0` has `min(8, n - 8*i0)`. A loop with such a bound is not unrolled or vectorised
//! like a loop of 8. So the loops inside the tile are emitted twice, under `n - 8*i0 >= 8` with constant bounds, and
//! under the opposite with the others:
//!
//! ```text
//! for i0 = 0 to ceil(n / 8)
//!   full = n - 8*i0 >= 8
//!   if full      { for i1 = 0 to 8 .. }
//!   if not full  { for i1 = 0 to min(8, n - 8*i0) .. }
//! ```
//!
//! One condition covers all dimensions, so a tile at any edge is ragged; the branch is taken once for each tile. For
//! static sizes, whose bounds are constants or nearly so, there is one set of loops.

use crate::buffers::index::IndexVars;
use crate::kernel::nest::TileLoop;
use layout_ir::{self as ir, Builder, Op, Val};
use melior::ir::Type;
use melior::ir::attribute::IntegerAttribute;
use melior::ir::r#type::IntegerType;
use tensor_layout::expr::Expr;

/// The loops of a nest that are emitted twice, and their condition.
pub struct FullTiles {
    /// The first of these loops.
    pub first: usize,
    /// Terms that are all at least 0 if all tiles are full.
    conditions: Vec<Expr>,
    /// For each dimension, the variable of its size if that is known only at run time.
    sizes: Vec<Option<usize>>,
}

/// Conditional loops under construction.
pub struct Branch<'c> {
    op: Op<'c>,
    /// Upper bounds that are constant in full tiles: the value, its insertion point, and the bounds there.
    bounds: Vec<(Val<'c>, Builder<'c>, Vec<Expr>)>,
}

impl FullTiles {
    /// The loops inside tiles, for parts in loop order; `None` if no tile can be ragged at run time.
    /// `sizes` holds the variables of dynamic sizes.
    pub fn of(parts: &[TileLoop], scales: &[Vec<i64>], sizes: Vec<Option<usize>>) -> Option<FullTiles> {
        let outermost = |part: &TileLoop| part.level == 0 && sizes[part.dim].is_some();
        let first = parts.iter().rposition(outermost)? + 1;
        let mut conditions = Vec::new();
        for (dim, size) in sizes.iter().enumerate() {
            let Some(size) = *size else { continue };
            let inside = parts[first..].iter().filter(|part| part.dim == dim && uses(&part.bounds, size));
            let Some(level) = inside.map(|part| part.level).min() else { continue };
            let outer = parts[..first].iter().filter(|part| part.dim == dim && part.level < level);
            let begins = outer.map(|part| Expr::Var(part.var).times(-scales[dim][part.level]));
            let needs = Expr::Const(-scales[dim][level - 1]);
            conditions.push(Expr::sum([Expr::Var(size), needs].into_iter().chain(begins).collect()));
        }
        (!conditions.is_empty()).then_some(FullTiles { first, conditions, sizes })
    }

    /// Emits the branch for full tiles; returns it and the insertion point inside.
    pub fn enter<'c>(&self, b: Builder<'c>, vars: &IndexVars<'c>) -> (Branch<'c>, Builder<'c>) {
        let bit: Type<'c> = IntegerType::new(b.context(), 1).into();
        let wide = IntegerType::new(b.context(), 64).into();
        // Predicate `sge`.
        let predicate = b.named("predicate", IntegerAttribute::new(wide, 5));
        let conditions = self.conditions.iter().map(|e| {
            let left = vars.value(b, &vars.simplified(std::slice::from_ref(e), &[])[0]);
            b.value("arith.cmpi", &[left, b.index(0)], bit, &[predicate])
        });
        let conditions: Vec<Val<'c>> = conditions.collect();
        let full = conditions.into_iter().reduce(|x, y| b.value("arith.andi", &[x, y], bit, &[]));
        let end = b.branch(full.expect("there is a condition"));
        let op = ir::parent(end).expect("the end of a branch is in it");
        (Branch { op, bounds: Vec::new() }, b.at(end))
    }

    /// The bounds of a part in full tiles.
    pub fn bounds(&self, part: &TileLoop) -> Vec<Expr> {
        let open = |e: &Expr| self.sizes[part.dim].is_some_and(|size| uses(std::slice::from_ref(e), size));
        part.bounds.iter().filter(|e| !open(e)).cloned().collect()
    }
}

impl<'c> Branch<'c> {
    /// Records the upper bound of a loop before `b`, and its bounds in full tiles.
    pub fn note(&mut self, bound: Val<'c>, b: Builder<'c>, full: Vec<Expr>) {
        self.bounds.push((bound, b, full));
    }

    /// Completes the loops once they have their body: copies them into the branch for ragged tiles, and sets the bounds
    /// of full tiles.
    pub fn finish(self, vars: &IndexVars<'c>) {
        let b = Builder::before(ir::next(self.op).expect("a branch is no terminator")).located(self.op);
        let full = ir::operands(self.op)[0];
        let bit: Type<'c> = IntegerType::new(b.context(), 1).into();
        let one = b.constant(IntegerAttribute::new(bit, 1).into());
        let ragged = b.value("arith.xori", &[full, one], bit, &[]);
        let copy = b.copy(self.op);
        ir::set_operands(copy, &[ragged]);
        for (bound, b, full) in self.bounds {
            let full = vars.simplified(&full, &[]);
            ir::replace_all_uses(bound, vars.least(b, &full));
        }
    }
}

fn uses(exprs: &[Expr], var: usize) -> bool {
    let mut found = false;
    exprs.iter().for_each(|e| e.for_each_var(&mut |v| found |= v == var));
    found
}
