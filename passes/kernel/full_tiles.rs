//! Full tiles apart from ragged ones, where the sizes are known only at run time.
//!
//! Of `n` rows in tiles of 8, tile `i0` has `min(8, n - 8*i0)`. A loop with such a bound is not unrolled or vectorised as
//! one to 8 is. So the loops inside the tile stand twice, under `n - 8*i0 >= 8` with constant bounds, and under the
//! opposite with the others:
//!
//! ```text
//! for i0 = 0 to ceil(n / 8)
//!   full = n - 8*i0 >= 8
//!   if full      { for i1 = 0 to 8 .. }
//!   if not full  { for i1 = 0 to min(8, n - 8*i0) .. }
//! ```
//!
//! One condition covers all dimensions, so a tile at any edge is ragged; the branch is taken once for each tile. With
//! sizes in the types, where MLIR has bounds that are constants or nearly so, there is one set of loops.

use crate::buffers::index::IndexVars;
use crate::kernel::nest::Part;
use layout_ir::{self as ir, Builder, Op, Val};
use melior::ir::Type;
use melior::ir::attribute::IntegerAttribute;
use melior::ir::r#type::IntegerType;
use tensor_layout::expr::Expr;

/// Which loops of a nest stand twice, and when.
pub struct FullTiles {
    /// The loops from this one on.
    pub first: usize,
    /// All tiles are full where each of these is at least 0.
    conditions: Vec<Expr>,
    /// For each dimension, the variable of its size if that is known only at run time.
    sizes: Vec<Option<usize>>,
}

/// The loops that are under a condition while they are made.
pub struct Branch<'c> {
    op: Op<'c>,
    /// The upper bounds that are constant in full tiles: the value, where it is made, and the bounds there.
    bounds: Vec<(Val<'c>, Builder<'c>, Vec<Expr>)>,
}

impl FullTiles {
    /// The loops inside tiles, of these parts in the order of the loops; none where no tile can be ragged at run time.
    /// `sizes` are the variables of sizes that are known only then.
    pub fn of(parts: &[Part], scales: &[Vec<i64>], sizes: Vec<Option<usize>>) -> Option<FullTiles> {
        let outermost = |part: &Part| part.level == 0 && sizes[part.dim].is_some();
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

    /// The branch for full tiles; returns it with its inside.
    pub fn enter<'c>(&self, b: Builder<'c>, vars: &IndexVars<'c>) -> (Branch<'c>, Builder<'c>) {
        let bit: Type<'c> = IntegerType::new(b.context(), 1).into();
        let wide = IntegerType::new(b.context(), 64).into();
        // Signed, at least.
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
    pub fn bounds(&self, part: &Part) -> Vec<Expr> {
        let open = |e: &Expr| self.sizes[part.dim].is_some_and(|size| uses(std::slice::from_ref(e), size));
        part.bounds.iter().filter(|e| !open(e)).cloned().collect()
    }
}

impl<'c> Branch<'c> {
    /// Takes note of the upper bound of a loop made before `b`, and of those that it has in full tiles.
    pub fn note(&mut self, bound: Val<'c>, b: Builder<'c>, full: Vec<Expr>) {
        self.bounds.push((bound, b, full));
    }

    /// Once the loops have their body: lets a copy of them run where not all tiles are full, and gives these the bounds
    /// of full ones.
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
