//! A nest as loops over the parts of its dimensions.
//!
//! Each dimension is cut at the tile boundaries of its operands: with one operand in tiles of 8 rows and another in tiles
//! of 2, row `i` is `8*i0 + 2*i1 + i2`, one loop for each part, and every operand's index is a sum of loop variables.
//! Ragged ends are loop bounds, `min(2, 15 - 8*i0 - 2*i1)`, so padding is neither read nor written.
//!
//! Cuts that do not divide each other cannot all be loops: then the nest takes the outputs' cuts, and the other operands
//! keep a division in their index. This is correct but slower.
//!
//! A dynamic size makes tiles that may be ragged: see [`FullTiles`].

use crate::buffers::index::IndexVars;
use crate::buffers::spread::Spread;
use crate::kernel::access::{Reached, Size};
use crate::kernel::full_tiles::FullTiles;
use crate::kernel::nest::{Nest, TileLoop};
use layout_ir::{self as ir, Builder, Val};
use melior::ir::Type;
use std::cmp::Reverse;
use tensor_layout::expr::Expr;
use tensor_layout::maps::{Form, Interval};
use tensor_layout::numbers::ceil_div;

/// The innermost body of a nest.
pub struct Inner<'a, 'c> {
    /// Inserts at the end of the innermost body.
    pub b: Builder<'c>,
    pub vars: &'a IndexVars<'c>,
    pub dims: &'a [Expr],
    /// The accessed element of each operand.
    pub reached: Vec<Reached<'c>>,
}

impl<'c> Inner<'_, 'c> {
    /// The current element of an operand.
    pub fn load(&self, operand: usize) -> Val<'c> {
        self.reached[operand].load(self.vars, self.b, true)
    }

    /// Sets the current element of an operand.
    pub fn store(&self, operand: usize, value: Val<'c>) {
        self.reached[operand].store(self.vars, self.b, value, true);
    }

    /// The current index in a dimension of the iteration space, before an operation.
    pub fn dim(&self, before: Builder<'c>, dim: usize) -> Val<'c> {
        self.vars.value(before, &self.dims[dim])
    }
}

/// Emits the loops of a nest before `b` and calls back for their body.
pub fn emit<'c>(nest: &Nest<'c>, b: Builder<'c>, body: impl FnOnce(&Inner<'_, 'c>)) {
    let scales = scales(nest);
    let mut vars = IndexVars::default();
    let mut parts = Vec::new();
    let (mut dims, mut sizes) = (Vec::new(), Vec::new());
    for (dim, scales) in scales.iter().enumerate() {
        // One value for the size, so that it is one variable.
        let extent = nest.extents[dim];
        let size = extent.known().is_none().then(|| extent.value(b));
        dims.push(split(b, &mut vars, &mut parts, dim, scales, size.map_or(extent, Size::Value)));
        sizes.push(size.and_then(|size| vars.number(size)));
    }
    let mut index = Vec::new();
    let mut within = Vec::new();
    for operand in &nest.operands {
        let view: Vec<Expr> = operand.map.iter().map(|e| e.substitute(&dims)).collect();
        let (exprs, inside) = operand.access.index(&mut vars, &view);
        index.push(exprs);
        within.extend(inside);
    }
    let index: Vec<Vec<Expr>> = index.iter().map(|exprs| vars.simplified(exprs, &within)).collect();
    let dims = vars.simplified(&dims, &[]);

    order(nest, &mut parts, &index, &vars);
    let affine = nest.extents.iter().all(|n| n.known().is_some());
    let full_tiles = if nest.repeats { FullTiles::of(&parts, &scales, sizes) } else { None };
    let mut branch = None;
    let mut b = b;
    for (k, part) in parts.iter().enumerate() {
        if let Some(full_tiles) = full_tiles.as_ref().filter(|full_tiles| full_tiles.first == k) {
            let (entered, inside) = full_tiles.enter(b, &vars);
            (branch, b) = (Some(entered), inside);
        }
        let bounds = vars.simplified(&part.bounds, &[]);
        let outside = b;
        b = a_loop(b, &mut vars, part.var, &bounds, affine);
        if let (Some(branch), Some(full_tiles)) = (&mut branch, &full_tiles)
            && let full = full_tiles.bounds(part)
            && full.len() < part.bounds.len()
        {
            let made = ir::parent(b.before).expect("the inside of a loop is in it");
            branch.note(ir::operands(made)[1], outside.at(made), full);
        }
    }
    let reached = nest.operands.iter().zip(index).map(|(operand, index)| operand.access.at(index));
    body(&Inner { b, vars: &vars, dims: &dims, reached: reached.collect() });
    if let Some(branch) = branch {
        branch.finish(&vars);
    }
}

/// For each dimension the scales of its parts, largest first, the last of them 1.
pub fn scales(nest: &Nest) -> Vec<Vec<i64>> {
    let mut vars = IndexVars::default();
    for n in &nest.extents {
        vars.unbound(Interval::new(0, n.known().map_or(i64::MAX, |n| n - 1)));
    }
    let dims: Vec<Expr> = (0..nest.extents.len()).map(Expr::Var).collect();
    let mut scales = vec![vec![1i64]; nest.extents.len()];
    let digit = |part: &Spread| Some(Expr::Var(part.dim?).floor_div(part.weight).modulo(part.extent));
    let reduced_over_places: Vec<Expr> = nest.reduced_over_places.iter().filter_map(digit).collect();
    // Cuts that do not divide each other conflict; the outputs' cuts come first and win.
    let mut index: Vec<Expr> = Vec::new();
    for (k, operand) in nest.operands.iter().enumerate().rev() {
        if k + nest.outputs + 1 == nest.operands.len() {
            index.extend(reduced_over_places.iter().cloned());
        }
        let view: Vec<Expr> = operand.map.iter().map(|e| e.substitute(&dims)).collect();
        index.extend(operand.access.cut_index(&mut vars, &view));
    }
    for e in index {
        cuts(&e, &mut |dim, cut, inside| {
            let known = scales.get_mut(dim).filter(|s| cut > 1 && !s.contains(&cut));
            let Some(known) = known else { return };
            let above = known.iter().rposition(|s| *s > cut);
            let below = known[above.map_or(0, |k| k + 1)];
            let fits = above.is_none_or(|k| known[k] % cut == 0 || inside == Some(known[k]));
            if fits && cut % below == 0 {
                known.insert(above.map_or(0, |k| k + 1), cut);
            }
        });
    }
    scales
}

/// Sorts the parts into loop order, outermost first: the memory order of the output, with exceptions for
/// reduced dimensions.
pub fn order(nest: &Nest, parts: &mut [TileLoop], index: &[Vec<Expr>], vars: &IndexVars) {
    let uses = |operand: usize, dim: usize| {
        let mut found = false;
        nest.operands[operand].map.iter().for_each(|e| e.for_each_var(&mut |v| found |= v == dim));
        found
    };
    let inputs = nest.operands.len() - nest.outputs;
    let reduced = |dim: usize| !(inputs..nest.operands.len()).any(|o| uses(o, dim));
    let dims = nest.extents.len();
    let descending = |parts: &mut [TileLoop], operand: usize| {
        let stride = |part: &TileLoop| stride(nest, operand, &index[operand], part.var, vars);
        parts.sort_by_cached_key(|p| (Reverse(stride(p)), p.dim, p.level));
    };
    if nest.outputs == 0 {
        // Nothing to order by.
    } else if !(0..dims).any(reduced) {
        descending(parts, inputs);
    } else if let Some(whole) = (0..inputs).find(|o| (0..dims).all(|d| uses(*o, d))) {
        // A reduction of one operand: that operand's memory order, except for the reduced dimensions, which are added
        // up one after another, in program order.
        descending(parts, whole);
        let slots: Vec<usize> = (0..parts.len()).filter(|k| reduced(parts[*k].dim)).collect();
        sort_within(parts, &slots);
    } else {
        let stride = |part: &TileLoop| stride(nest, inputs, &index[inputs], part.var, vars);
        order_contraction(parts, &reduced, &stride);
    }
    // A part whose bound depends on the larger parts of its dimension is inside them.
    for dim in 0..dims {
        let slots: Vec<usize> = (0..parts.len()).filter(|k| parts[*k].dim == dim).collect();
        if slots.iter().any(|k| parts[*k].bounds.len() > 1) {
            sort_within(parts, &slots);
        }
    }
}

/// Loop order of a contraction: the reduction is outside the tiles and the output's fastest loop, so that a tile is
/// reused in the cache. If an input has tiles and the output has none, that loop is the innermost: its stores are
/// contiguous.
fn order_contraction(parts: &mut [TileLoop], reduced: &impl Fn(usize) -> bool, stride: &impl Fn(&TileLoop) -> i64) {
    let innermost = parts.iter().filter(|p| !reduced(p.dim)).min_by_key(|p| stride(p));
    let innermost = innermost.map(|p| (p.dim, p.level));
    let group = |p: &TileLoop| match () {
        () if reduced(p.dim) => 1,
        () if p.level > 0 || Some((p.dim, p.level)) == innermost => 2,
        () => 0,
    };
    parts.sort_by_cached_key(|p| match group(p) {
        1 => (1, 0, p.dim, p.level),
        group => (group, -stride(p), p.dim, p.level),
    });
}

/// The stride of a variable in an operand's buffer, for an index of the operand.
fn stride(nest: &Nest, operand: usize, index: &[Expr], var: usize, vars: &IndexVars) -> i64 {
    let zero = vec![0; vars.domain.vars.len()];
    let mut one = zero.clone();
    one[var] = 1;
    let [one, zero] = [one, zero].map(|point| vars.guessed(point));
    let step = |(k, e): (usize, &Expr)| {
        let difference = e.evaluate(&one)?.checked_sub(e.evaluate(&zero)?)?;
        let stride = nest.operands[operand].access.strides[k];
        // An unknown stride counts as a large one, larger for earlier dimensions.
        difference.checked_mul(stride.unwrap_or(1 << (60 - k.min(20))))
    };
    index.iter().enumerate().map(|e| step(e).unwrap_or(0)).fold(0, i64::saturating_add)
}

/// Sorts the parts in these slots by dimension, larger parts first; the others stay.
fn sort_within(parts: &mut [TileLoop], slots: &[usize]) {
    for (n, slot) in slots.iter().enumerate() {
        let first = slots[n..].iter().copied().min_by_key(|k| (parts[*k].dim, parts[*k].level));
        parts.swap(*slot, first.unwrap_or(*slot));
    }
}

/// Cuts a dimension into parts with these scales; returns its index as their sum.
pub fn split<'c>(
    b: Builder<'c>,
    vars: &mut IndexVars<'c>,
    parts: &mut Vec<TileLoop>,
    dim: usize,
    scales: &[i64],
    extent: Size<'c>,
) -> Expr {
    // The bound of the whole index: a number, or the variable of a value.
    let whole = match extent {
        Size::Static(n) => Expr::Const(n),
        unknown => vars.var(unknown.value(b), Interval::new(0, i64::MAX)),
    };
    // The parts so far, each times its scale.
    let mut terms: Vec<Expr> = Vec::new();
    let mut boxes = vars.domain.clone();
    for (level, scale) in scales.iter().enumerate() {
        let most = match level {
            0 => extent.known().map(|n| ceil_div(n, *scale)),
            _ => Some(ceil_div(scales[level - 1], *scale)),
        };
        if most == Some(1) {
            terms.push(Expr::Const(0));
            continue;
        }
        let mut bounds: Vec<Expr> = most.map(Expr::Const).into_iter().collect();
        let may_be_shorter = |rest: &Expr| most.is_none_or(|most| Form::new(&boxes).interval(rest).lo < most);
        bounds.extend(rests(scales, level, extent.known(), &whole, &terms).filter(may_be_shorter));
        let interval = Interval::new(0, most.map_or(i64::MAX, |n| n - 1));
        let var = vars.unbound(interval);
        boxes.vars.push(interval);
        terms.push(Expr::Var(var).times(*scale));
        parts.push(TileLoop { dim, level, var, bounds });
    }
    let sum = |terms: &[Expr]| terms.iter().cloned().fold(Expr::Const(0), |a, b| a + b);
    let mut within = |from: usize, size: i64| {
        vars.domain.constraints.push((sum(&terms[from..]), Interval::new(0, size - 1)));
    };
    if let Some(n) = extent.known()
        && n % scales[0] != 0
    {
        within(0, n);
    }
    for k in 1..scales.len() {
        if scales[k - 1] % scales[k] != 0 {
            within(k, scales[k - 1]);
        }
    }
    sum(&terms)
}

/// The number of parts of a level before the end of the dimension, and of each larger part: with 15 rows in tiles
/// of 8, `(15 - 8*i0) ceildiv 1` rows of tile `i0`. Larger parts that divide evenly are omitted: their tiles are full.
fn rests<'a>(
    scales: &'a [i64],
    level: usize,
    extent: Option<i64>,
    whole: &'a Expr,
    terms: &'a [Expr],
) -> impl Iterator<Item = Expr> + 'a {
    let scale = scales[level];
    (0..=level).filter_map(move |above| {
        let (limit, size) = match above {
            0 => (whole.clone(), extent),
            _ => (Expr::Const(scales[above - 1]), Some(scales[above - 1])),
        };
        // The rest is a positive multiple of the part above if that divides everything it is subtracted from.
        let mut left_from = [size].into_iter().chain(scales[above..level].iter().map(|s| Some(*s)));
        if level > above && left_from.all(|n| n.is_some_and(|n| n % scales[level - 1] == 0)) {
            return None;
        }
        let rest = terms[above..].iter().fold(limit + Expr::Const(scale - 1), |rest, t| rest + t.clone().times(-1));
        Some(rest.floor_div(scale))
    })
}

/// Calls back for each cut of an index in a dimension, with the dimension, the scale, and the size of the part around
/// the cut, if there is one.
fn cuts(e: &Expr, found: &mut impl FnMut(usize, i64, Option<i64>)) {
    if let Some((dim, chain)) = digit(e) {
        let (mut scale, mut inside) = (1i64, None);
        for (divide, by) in chain {
            let Some(cut) = scale.checked_mul(by) else { return };
            found(dim, cut, inside);
            if divide {
                scale = cut;
            } else {
                inside = Some(cut);
            }
        }
        return;
    }
    match e {
        Expr::Const(_) | Expr::Var(_) => {}
        Expr::Add(a, b) | Expr::Min(a, b) | Expr::Max(a, b) => {
            cuts(a, found);
            cuts(b, found);
        }
        Expr::Mul(a, _) | Expr::FloorDiv(a, _) | Expr::Mod(a, _) => cuts(a, found),
    }
}

/// A chain of divisions and remainders of one variable: the variable, and each divisor, true for a division.
fn digit(e: &Expr) -> Option<(usize, Vec<(bool, i64)>)> {
    match e {
        Expr::Var(v) => Some((*v, Vec::new())),
        Expr::FloorDiv(a, d) | Expr::Mod(a, d) => {
            let (v, mut chain) = digit(a)?;
            chain.push((matches!(e, Expr::FloorDiv(..)), *d));
            Some((v, chain))
        }
        _ => None,
    }
}

/// Emits a loop from 0 to the least of `bounds` by 1; binds `var` to its variable and returns the body's insertion
/// point.
pub fn a_loop<'c>(b: Builder<'c>, vars: &mut IndexVars<'c>, var: usize, bounds: &[Expr], affine: bool) -> Builder<'c> {
    let index = Type::index(b.context());
    let (op, end) = if affine {
        let (map, operands) = vars.map(b, bounds);
        let attributes = [
            b.named("lowerBoundMap", b.map(0, &[Expr::Const(0)], &|v| v)),
            b.named("upperBoundMap", map),
            b.named("step", b.index_attribute(1)),
            b.segments(&[0, operands.len() as i32, 0]),
        ];
        b.with_body("affine.for", &operands, &[], &attributes, &[index], "affine.yield")
    } else {
        let upper = vars.least(b, bounds);
        b.with_body("scf.for", &[b.index(0), upper, b.index(1)], &[], &[], &[index], "scf.yield")
    };
    vars.bind(var, ir::arguments(ir::blocks(op)[0])[0]);
    b.at(end)
}
