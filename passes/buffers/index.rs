//! Index values as expressions over variables with known ranges.
//!
//! The walk goes through `affine.apply`, sums, products with constants, operations on bits, linearised and delinearised indices. The leaves
//! are *variables*: those of loops, with intervals and steps from the loops, and values without known facts.
//! A tree of such operations can be exponentially larger than their graph, so the walk has a budget; beyond
//! it a value is a variable.

use crate::buffers::bits;
use crate::pass::upstream;
use layout_dialect::affine;
use layout_ir::{self as ir, Op, Val};
use melior::ir::ValueLike;
use std::collections::HashMap;
use tensor_layout::expr::Expr;
use tensor_layout::maps::{Domain, Form, Interval, simplify};
use tensor_layout::swizzle::Swizzle;

/// The most symbolic bounds that are recorded for a loop.
const BOUNDS: usize = 4;

/// The most operations that the walk of one index goes through.
const BUDGET: usize = 24;

/// Index values as variables of a domain.
#[derive(Clone, Default)]
pub struct IndexVars<'c> {
    /// The source of each variable's value.
    pub(super) sources: Vec<Source<'c>>,
    numbers: HashMap<usize, usize>,
    /// The facts about the variables.
    pub domain: Domain,
}

/// The source of a variable's value.
#[derive(Clone)]
pub(super) enum Source<'c> {
    /// A loop that is not emitted yet.
    Unbound,
    Value(Val<'c>),
    /// The size of a memref's dimension, emitted at its use.
    Size(Val<'c>, usize),
    /// The product of two expressions over earlier variables, emitted at its use.
    Product([Expr; 2]),
    /// The place to which a swizzle takes an address, emitted at its use.
    Swizzled(Expr, Swizzle),
}

/// The facts about a variable.
#[derive(Default)]
struct Known {
    interval: Option<Interval>,
    /// The step and one value, if the step is not one.
    step: Option<(i64, Expr)>,
    /// Lower bounds, inclusive.
    from: Vec<Expr>,
    /// Upper bounds, exclusive.
    below: Vec<Expr>,
}

impl Known {
    fn of(interval: Interval) -> Known {
        Known { interval: Some(interval), ..Known::default() }
    }
}

/// The bounds of a loop.
struct Bounds {
    /// The interval of the lower bound.
    lower: Interval,
    /// The interval of the exclusive upper bound.
    upper: Interval,
    step: i64,
    /// The expressions whose maximum is the lower bound, if known.
    from: Vec<Expr>,
    /// The expressions whose minimum is the upper bound, if known.
    below: Vec<Expr>,
}

impl Bounds {
    fn of(lower: Interval, upper: Interval, step: i64) -> Bounds {
        Bounds { lower, upper, step, from: Vec::new(), below: Vec::new() }
    }
}

impl<'c> IndexVars<'c> {
    /// The expression of an index value.
    pub fn expr(&mut self, v: Val<'c>) -> Expr {
        let mut budget = BUDGET;
        self.through_operations(v, &mut budget)
    }

    /// The expression of an index value as a variable or constant, without walking through its operation.
    pub fn shallow(&mut self, v: Val<'c>) -> Expr {
        match (constant_value(v), self.numbers.get(&ir::key(v))) {
            (Some(c), _) => Expr::Const(c),
            (None, Some(number)) => Expr::Var(*number),
            (None, None) => self.as_variable(v, &mut { BUDGET }),
        }
    }

    /// A variable of its own for a value, with this interval.
    pub fn var(&mut self, v: Val<'c>, interval: Interval) -> Expr {
        let next = self.sources.len();
        let number = *self.numbers.entry(ir::key(v)).or_insert(next);
        if number == next {
            self.push(Source::Value(v), interval);
        }
        Expr::Var(number)
    }

    /// A variable for the size of a dimension of a memref.
    pub fn size(&mut self, memref: Val<'c>, dim: usize) -> Expr {
        let is_it =
            |source: &Source| matches!(source, Source::Size(v, d) if (ir::key(*v), *d) == (ir::key(memref), dim));
        let known = self.sources.iter().position(is_it);
        Expr::Var(known.unwrap_or_else(|| self.push(Source::Size(memref, dim), Interval::new(0, i64::MAX))))
    }

    /// The product of two nonnegative expressions over the variables: a new variable, unless one is a number.
    pub fn product(&mut self, factors: [Expr; 2]) -> Expr {
        let factors: [Expr; 2] = self.simplified(&factors, &[]).try_into().expect("two simplified are two");
        match factors {
            [Expr::Const(a), Expr::Const(b)] => Expr::Const(a.saturating_mul(b)),
            [Expr::Const(c), e] | [e, Expr::Const(c)] => e.times(c),
            factors => {
                let known = self.sources.iter().position(|s| matches!(s, Source::Product(known) if *known == factors));
                let made = || self.push(Source::Product(factors), Interval::new(0, i64::MAX));
                Expr::Var(known.unwrap_or_else(made))
            }
        }
    }

    /// A variable for the place to which a swizzle takes an address.
    pub fn swizzled(&mut self, address: Expr, swizzle: Swizzle) -> Expr {
        Expr::Var(self.push(Source::Swizzled(address, swizzle), Interval::new(0, i64::MAX)))
    }

    /// Adds a variable.
    fn push(&mut self, source: Source<'c>, interval: Interval) -> usize {
        self.sources.push(source);
        self.domain.vars.push(interval);
        self.sources.len() - 1
    }

    /// The variable of a value, if it is one.
    pub fn number(&self, v: Val<'c>) -> Option<usize> {
        self.numbers.get(&ir::key(v)).copied()
    }

    /// A variable for a value that does not exist yet; [`IndexVars::bind`] sets it.
    pub fn unbound(&mut self, interval: Interval) -> usize {
        self.push(Source::Unbound, interval)
    }

    /// Sets the value of an unbound variable.
    pub fn bind(&mut self, var: usize, v: Val<'c>) {
        self.sources[var] = Source::Value(v);
    }

    /// Whether a variable is an existing value.
    #[cfg(feature = "vectorize")]
    pub fn is_bound(&self, var: usize) -> bool {
        matches!(self.sources[var], Source::Value(_))
    }

    /// The value of a variable that is an existing value.
    pub fn bound(&self, var: usize) -> Val<'c> {
        match self.sources[var] {
            Source::Value(v) => v,
            _ => panic!("a variable is bound before it is used"),
        }
    }

    /// A point with estimates for dynamic sizes, about a thousand, and values for products and, before the swizzle, for
    /// addresses; other variables keep their values.
    pub fn guessed(&self, mut point: Vec<i64>) -> Vec<i64> {
        for (var, source) in self.sources.iter().enumerate() {
            match source {
                Source::Product([x, y]) => {
                    let [x, y] = [x, y].map(|e| e.evaluate(&point).unwrap_or(0));
                    point[var] = x.saturating_mul(y);
                }
                Source::Swizzled(address, _) => point[var] = address.evaluate(&point).unwrap_or(0),
                Source::Size(..) => point[var] = 1 << 10,
                _ => {}
            }
        }
        point
    }

    /// The expressions of a map's results at these operands.
    pub fn apply(&mut self, map: melior::ir::AffineMap<'c>, operands: &[Val<'c>]) -> Option<Vec<Expr>> {
        let operands: Vec<Expr> = operands.iter().map(|v| self.expr(*v)).collect();
        affine::exprs_at(map, &operands)
    }

    fn through_operations(&mut self, v: Val<'c>, budget: &mut usize) -> Expr {
        if let Some(number) = self.numbers.get(&ir::key(v)) {
            return Expr::Var(*number);
        }
        if *budget > 0
            && let (Some(op), Some(result)) = (ir::defining_op(v), ir::result_number(v))
        {
            *budget -= 1;
            if let Some(e) = self.operation(op, result, budget) {
                return e;
            }
        }
        self.as_variable(v, budget)
    }

    /// A variable for a value, with all known facts.
    fn as_variable(&mut self, v: Val<'c>, budget: &mut usize) -> Expr {
        let Known { interval, step, from, below } = self.known(v).unwrap_or_default();
        let interval = self.narrowed_by_range_inference(v, interval.unwrap_or(Interval::ALL), budget);
        let e = self.var(v, interval);
        let gap = |more: &Expr, less: &Expr| more.clone() + less.clone().times(-1);
        // The intervals already contain constant bounds.
        let open = |e: &&Expr| !matches!(e, Expr::Const(_));
        let low = from.iter().filter(open).map(|low| (gap(&e, low), Interval::new(0, i64::MAX)));
        let high = below.iter().filter(open).map(|high| (gap(high, &e), Interval::new(1, i64::MAX)));
        self.domain.constraints.extend(low.chain(high).take(BOUNDS));
        match step {
            Some((step, Expr::Const(first))) => {
                let residue = first.rem_euclid(step);
                self.domain.constraints.push((e.clone().modulo(step), Interval::new(residue, residue)));
            }
            Some((step, first)) => {
                self.domain.constraints.push((gap(&e, &first).modulo(step), Interval::new(0, 0)));
            }
            None => {}
        }
        e
    }

    /// The expression of an operation's result; `None` if the walk does not go through it.
    fn operation(&mut self, op: Op<'c>, result: usize, budget: &mut usize) -> Option<Expr> {
        let operands = ir::operands(op);
        match ir::name(op) {
            "arith.constant" => constant(op).map(Expr::Const),
            "arith.addi" => {
                let sum = self.through_operations(operands[0], budget) + self.through_operations(operands[1], budget);
                self.no_overflow(op, sum)
            }
            "arith.subi" => {
                let from = self.through_operations(operands[0], budget);
                let difference = from + self.through_operations(operands[1], budget).times(-1);
                self.no_overflow(op, difference)
            }
            "arith.muli" => {
                let b = constant_value(operands[1]).map(|c| (operands[0], c));
                let (v, c) = b.or_else(|| constant_value(operands[0]).map(|c| (operands[1], c)))?;
                let product = self.through_operations(v, budget).times(c);
                self.no_overflow(op, product)
            }
            "arith.andi" | "arith.ori" | "arith.xori" | "arith.shrui" | "arith.shli" => self.bitwise(op, budget),
            "affine.apply" => {
                let map = ir::affine_map(ir::attribute(op, "map")?)?;
                let operands: Vec<Expr> = operands.into_iter().map(|v| self.through_operations(v, budget)).collect();
                affine::exprs_at(map, &operands)?.pop()
            }
            "affine.linearize_index" => self.linearized(op, budget),
            "affine.delinearize_index" => self.delinearized(op, result, budget),
            "memref.dim" | "tensor.dim" => {
                let t = operands[0].r#type();
                let shape = ir::memref(t).or_else(|| ir::tensor(t))?.shape;
                let size = *shape.get(usize::try_from(constant_value(operands[1])?).ok()?)?;
                size.map(Expr::Const)
            }
            _ => None,
        }
    }

    /// The expression of an operation on bits.
    fn bitwise(&mut self, op: Op<'c>, budget: &mut usize) -> Option<Expr> {
        let (name, operands) = (ir::name(op), ir::operands(op));
        let [a, b] = [0, 1].map(|k| self.through_operations(operands[k], budget));
        if let Some(flip) = ir::defining_op(operands[0]).filter(|op| ir::name(*op) == "arith.xori") {
            let inside = ir::operands(flip);
            let [x, y] = [0, 1].map(|k| self.through_operations(inside[k], budget));
            match name {
                "arith.xori" if y == b => return Some(x),
                "arith.xori" if x == b => return Some(y),
                // The bits that are not flipped.
                "arith.andi" if bits::are_disjoint([&y, &b], &self.domain) => {
                    return bits::of(name, [x, b], &self.domain);
                }
                _ => {}
            }
        }
        bits::of(name, [a, b], &self.domain)
    }

    /// `(a * size_b + b) * size_c + c`, by the static sizes of an `affine.linearize_index`.
    fn linearized(&mut self, op: Op<'c>, budget: &mut usize) -> Option<Expr> {
        let operands = ir::operands(op);
        let basis = ir::integers(op, "static_basis");
        let count = usize::try_from(*ir::integers(op, "operandSegmentSizes").first()?).ok()?;
        let (mut sum, mut stride) = (Expr::Const(0), 1i64);
        for (k, v) in operands.get(..count)?.iter().enumerate().rev() {
            sum = self.through_operations(*v, budget).times(stride) + sum;
            // The basis may omit the outermost size; it is not needed.
            if k > 0 {
                let size = *basis.get(basis.len().checked_sub(count - k)?)?;
                stride = stride.checked_mul(size).filter(|_| size > 0)?;
            }
        }
        Some(sum)
    }

    /// One digit of the operand of an `affine.delinearize_index` with static sizes.
    fn delinearized(&mut self, op: Op<'c>, result: usize, budget: &mut usize) -> Option<Expr> {
        let basis = ir::integers(op, "static_basis");
        let inner = ir::results(op).len() - 1 - result;
        let below = (basis.len().checked_sub(inner)?..basis.len())
            .try_fold(1i64, |n, k| n.checked_mul(basis[k]).filter(|_| basis[k] > 0))?;
        let digit = self.through_operations(*ir::operands(op).first()?, budget).floor_div(below);
        if result == 0 {
            return Some(digit);
        }
        let size = *basis.get(basis.len().checked_sub(inner + 1)?)?;
        (size > 0).then(|| digit.modulo(size))
    }

    /// The expression of an operation that wraps around, if it cannot overflow: the operation promises so, or the
    /// ranges of its variables exclude it.
    fn no_overflow(&self, op: Op<'c>, e: Expr) -> Option<Expr> {
        let promised = upstream::no_signed_wrap(op);
        let interval = Form::new(&self.domain).interval(&e);
        (promised || (interval.lo > i64::MIN && interval.hi < i64::MAX)).then_some(e)
    }

    /// The facts about a variable that follow from its operation.
    fn known(&mut self, v: Val<'c>) -> Option<Known> {
        if let Some((op, argument)) = ir::block_argument(v) {
            return self.loop_interval(op, argument);
        }
        let op = ir::defining_op(v)?;
        let bounds = match ir::name(op) {
            "affine.min" | "affine.max" => self.bounds(op, "map", &ir::operands(op))?,
            "memref.dim" | "tensor.dim" => return Some(Known::of(Interval::new(0, i64::MAX))),
            _ => return None,
        };
        extreme(&bounds, ir::name(op) == "affine.max").map(Known::of)
    }

    /// An interval, narrowed by upstream's range inference from the operands' intervals.
    fn narrowed_by_range_inference(&mut self, v: Val<'c>, interval: Interval, budget: &mut usize) -> Interval {
        // MLIR 22 infers wrong bounds for a map with a remainder: [11, 14] for `i mod 16`, i in [14, 27].
        // test/upstream/range-of-mod.mlir fails once that is fixed.
        let wrong = |op| matches!(ir::name(op), "affine.apply" | "affine.min" | "affine.max");
        if *budget == 0 || ir::defining_op(v).is_none_or(wrong) {
            return interval;
        }
        let mut bounds = |operand: Val<'c>| {
            let e = self.through_operations(operand, budget);
            let interval = Form::new(&self.domain).interval(&e);
            Some((interval.lo, interval.hi))
        };
        let Some((lo, hi)) = upstream::infer_range(v, &mut bounds) else { return interval };
        Interval::new(interval.lo.max(lo), interval.hi.min(hi))
    }

    /// The facts about a loop's variable.
    fn loop_interval(&mut self, op: Op<'c>, argument: usize) -> Option<Known> {
        let Bounds { lower, upper, step, from, below } = match ir::name(op) {
            "scf.for" if argument == 0 => self.scf_for(op)?,
            "scf.parallel" => self.scf_parallel(op, argument)?,
            "scf.forall" => self.scf_forall(op, argument)?,
            "affine.for" if argument == 0 => self.affine_for(op)?,
            "affine.parallel" => self.affine_parallel(op, argument)?,
            _ => return None,
        };
        if step <= 0 {
            return None;
        }
        let last = if upper.hi == i64::MAX { i64::MAX } else { upper.hi.checked_sub(1)? };
        let exact = lower.lo == lower.hi;
        let last = match last.checked_sub(lower.lo) {
            Some(reach) if exact && last != i64::MAX && reach >= 0 => lower.lo + reach / step * step,
            _ => last,
        };
        let step = match &from[..] {
            _ if step == 1 => None,
            _ if exact => Some((step, Expr::Const(lower.lo))),
            [first] => Some((step, first.clone())),
            _ => None,
        };
        Some(Known { interval: Some(Interval::new(lower.lo, last)), step, from, below })
    }

    fn scf_for(&mut self, op: Op<'c>) -> Option<Bounds> {
        let operands = ir::operands(op);
        let (lower, upper) = (self.interval(operands[0]), self.interval(operands[1]));
        if ir::attribute(op, "unsignedCmp").is_some() && (lower.lo < 0 || upper.lo < 0) {
            return None;
        }
        Some(Bounds::of(lower, upper, constant_value(operands[2])?))
    }

    fn scf_parallel(&mut self, op: Op<'c>, argument: usize) -> Option<Bounds> {
        let loops = usize::try_from(*ir::integers(op, "operandSegmentSizes").first()?).ok()?;
        let operands = ir::operands(op);
        if argument >= loops {
            return None;
        }
        let (lower, upper) = (self.interval(operands[argument]), self.interval(operands[loops + argument]));
        Some(Bounds::of(lower, upper, constant_value(operands[2 * loops + argument])?))
    }

    /// The bounds of an `scf.forall`: each is in an attribute, or among the operands of its group.
    fn scf_forall(&mut self, op: Op<'c>, argument: usize) -> Option<Bounds> {
        let segments = ir::integers(op, "operandSegmentSizes");
        let operands = ir::operands(op);
        let mut group = 0;
        let mut bounds = Vec::new();
        for (name, count) in ["staticLowerBound", "staticUpperBound", "staticStep"].into_iter().zip(segments) {
            let known = ir::sizes(op, name);
            let value = *known.get(argument)?;
            let before = known[..argument].iter().filter(|n| n.is_none()).count();
            bounds.push(match value {
                None => self.interval(*operands.get(group + before)?),
                Some(n) => Interval::new(n, n),
            });
            group += usize::try_from(count).ok()?;
        }
        let [lower, upper, step] = bounds[..] else { return None };
        (step.lo == step.hi).then(|| Bounds::of(lower, upper, step.lo))
    }

    fn affine_for(&mut self, op: Op<'c>) -> Option<Bounds> {
        let segments = ir::integers(op, "operandSegmentSizes");
        let operands = ir::operands(op);
        let (low, rest) = operands.split_at(usize::try_from(*segments.first()?).ok()?);
        let high = &rest[..usize::try_from(*segments.get(1)?).ok()?];
        let from = self.apply(ir::affine_map(ir::attribute(op, "lowerBoundMap")?)?, low)?;
        let below = self.apply(ir::affine_map(ir::attribute(op, "upperBoundMap")?)?, high)?;
        let mut form = Form::new(&self.domain);
        let lower: Vec<Interval> = from.iter().map(|e| form.interval(e)).collect();
        let upper: Vec<Interval> = below.iter().map(|e| form.interval(e)).collect();
        let step = ir::integer(ir::attribute(op, "step")?)?;
        Some(Bounds { lower: extreme(&lower, true)?, upper: extreme(&upper, false)?, step, from, below })
    }

    /// The bounds of an `affine.parallel`: results of one map, in one group for each loop.
    fn affine_parallel(&mut self, op: Op<'c>, argument: usize) -> Option<Bounds> {
        let operands = ir::operands(op);
        let map = ir::affine_map(ir::attribute(op, "lowerBoundsMap")?)?;
        let (low, high) = operands.split_at(map.dim_count() + map.symbol_count());
        let mut group = |bounds: &str, groups: &str, operands: &[Val<'c>]| {
            let counts = ir::integers(op, groups);
            let before: i64 = counts.get(..argument)?.iter().sum();
            let (before, count) = (usize::try_from(before).ok()?, usize::try_from(*counts.get(argument)?).ok()?);
            let all = self.bounds(op, bounds, operands)?;
            all.get(before..before.checked_add(count)?).map(<[_]>::to_vec)
        };
        let lower = group("lowerBoundsMap", "lowerBoundsGroups", low)?;
        let upper = group("upperBoundsMap", "upperBoundsGroups", high)?;
        let step = *ir::integers(op, "steps").get(argument)?;
        Some(Bounds::of(extreme(&lower, true)?, extreme(&upper, false)?, step))
    }

    /// The interval of an index value.
    fn interval(&mut self, v: Val<'c>) -> Interval {
        let e = self.expr(v);
        Form::new(&self.domain).interval(&e)
    }

    fn bounds(&mut self, op: Op<'c>, name: &str, operands: &[Val<'c>]) -> Option<Vec<Interval>> {
        let exprs = self.apply(ir::affine_map(ir::attribute(op, name)?)?, operands)?;
        let mut form = Form::new(&self.domain);
        Some(exprs.iter().map(|e| form.interval(e)).collect())
    }

    /// Simplifies expressions over the variables, with the additional facts that each of `within` is in its interval.
    pub fn simplified(&self, exprs: &[Expr], within: &[(Expr, Interval)]) -> Vec<Expr> {
        let mut domain = self.domain.clone();
        domain.constraints.extend(within.iter().cloned());
        simplify(exprs, &domain)
    }
}

/// The index of an operation with index operands and perhaps a map.
pub fn indices<'c>(op: Op<'c>, operands: &[Val<'c>], vars: &mut IndexVars<'c>) -> Result<Vec<Expr>, String> {
    match ir::attribute(op, "map").and_then(ir::affine_map) {
        Some(map) => vars.apply(map, operands).ok_or_else(|| "its map is not affine".into()),
        None => Ok(operands.iter().map(|v| vars.expr(*v)).collect()),
    }
}

/// The interval of the maximum or minimum of values in these intervals.
fn extreme(of: &[Interval], greatest: bool) -> Option<Interval> {
    let (lows, highs) = (of.iter().map(|i| i.lo), of.iter().map(|i| i.hi));
    Some(match greatest {
        true => Interval::new(lows.max()?, highs.max()?),
        false => Interval::new(lows.min()?, highs.min()?),
    })
}

/// The integer of an `arith.constant`.
fn constant(op: Op) -> Option<i64> {
    (ir::name(op) == "arith.constant").then(|| ir::attribute(op, "value").and_then(ir::integer)).flatten()
}

/// The integer that a value always is.
pub fn constant_value(v: Val) -> Option<i64> {
    ir::defining_op(v).and_then(constant)
}
