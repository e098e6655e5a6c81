//! Index values as expressions, with what loops and bounds say of them.
//!
//! `affine.apply`, sums and products with constants are looked through; what is left are *leaves*: loop variables,
//! whose intervals and steps come from their loops, and values of which nothing is known. A tree of such operations
//! can be exponentially larger than the graph it stands for, so the walk has a budget; past it a value is a leaf.

use crate::ir::{self, Builder, Op, Val};
use layout::expr::Expr;
use layout::simplify::{Domain, Form, Interval, simplify};
use melior::ir::{Type, ValueLike};
use std::collections::HashMap;

/// Operations that one index is looked through.
const BUDGET: usize = 64;

/// Index values as variables of a domain.
#[derive(Default)]
pub struct Leaves<'c> {
    /// The value of each leaf; none yet for the variable of a loop still to be made.
    values: Vec<Option<Val<'c>>>,
    numbers: HashMap<usize, usize>,
    /// What is known of the leaves.
    pub domain: Domain,
}

impl<'c> Leaves<'c> {
    /// The expression of an index value.
    pub fn expr(&mut self, v: Val<'c>) -> Expr {
        let mut budget = BUDGET;
        self.looked_through(v, &mut budget)
    }

    /// A leaf of its own for a value, with what is known of it.
    pub fn leaf(&mut self, v: Val<'c>, interval: Interval) -> Expr {
        let next = self.values.len();
        let number = *self.numbers.entry(ir::key(v)).or_insert(next);
        if number == next {
            self.values.push(Some(v));
            self.domain.vars.push(interval);
        }
        Expr::Var(number)
    }

    /// A leaf for a value that does not exist yet; [`Leaves::bind`] gives it.
    pub fn unbound(&mut self, interval: Interval) -> usize {
        self.values.push(None);
        self.domain.vars.push(interval);
        self.values.len() - 1
    }

    /// Says which value an unbound leaf is.
    pub fn bind(&mut self, leaf: usize, v: Val<'c>) {
        self.values[leaf] = Some(v);
    }

    fn bound(&self, leaf: usize) -> Val<'c> {
        self.values[leaf].expect("a leaf is bound before it is used")
    }

    /// The expressions of a map's results at these operands.
    pub fn apply(&mut self, map: melior::ir::AffineMap<'c>, operands: &[Val<'c>]) -> Option<Vec<Expr>> {
        let results = ir::exprs_of_map(map)?;
        let operands: Vec<Expr> = operands.iter().map(|v| self.expr(*v)).collect();
        Some(results.iter().map(|e| e.substitute(&operands)).collect())
    }

    fn looked_through(&mut self, v: Val<'c>, budget: &mut usize) -> Expr {
        if let Some(number) = self.numbers.get(&ir::key(v)) {
            return Expr::Var(*number);
        }
        if *budget > 0
            && let Some(op) = ir::defining_op(v)
        {
            *budget -= 1;
            if let Some(e) = self.operation(op, budget) {
                return e;
            }
        }
        let interval = ir::block_argument(v).and_then(|(op, k)| self.loop_interval(op, k));
        let (interval, step) = interval.unwrap_or((Interval::ALL, None));
        let e = self.leaf(v, interval);
        if let Some((step, first)) = step {
            let residue = first.rem_euclid(step);
            self.domain.constraints.push((e.clone().modulo(step), Interval::new(residue, residue)));
        }
        e
    }

    fn operation(&mut self, op: Op<'c>, budget: &mut usize) -> Option<Expr> {
        let operands = ir::operands(op);
        match ir::name(op) {
            "arith.constant" => constant(op).map(Expr::Const),
            "arith.addi" => Some(self.looked_through(operands[0], budget) + self.looked_through(operands[1], budget)),
            "arith.subi" => {
                let b = self.looked_through(operands[1], budget);
                Some(self.looked_through(operands[0], budget) + b.times(-1))
            }
            "arith.muli" => {
                let b = constant_value(operands[1]).map(|c| (operands[0], c));
                let (v, c) = b.or_else(|| constant_value(operands[0]).map(|c| (operands[1], c)))?;
                Some(self.looked_through(v, budget).times(c))
            }
            "affine.apply" => {
                let map = ir::affine_map(ir::attribute(op, "map")?)?;
                let result = ir::exprs_of_map(map)?.pop()?;
                let operands: Vec<Expr> = operands.into_iter().map(|v| self.looked_through(v, budget)).collect();
                Some(result.substitute(&operands))
            }
            _ => None,
        }
    }

    /// The closed interval of a loop's variable, and its step and first value where it does not step by one.
    #[allow(clippy::type_complexity, reason = "two optional pairs")]
    fn loop_interval(&mut self, op: Op<'c>, argument: usize) -> Option<(Interval, Option<(i64, i64)>)> {
        let (lower, upper, step) = match ir::name(op) {
            "scf.for" if argument == 0 => {
                let operands = ir::operands(op);
                let bound = |form: &mut Self, v: Val<'c>| {
                    let e = form.expr(v);
                    Form::new(&form.domain).interval(&e)
                };
                let (lower, upper) = (bound(self, operands[0]), bound(self, operands[1]));
                (lower, upper, constant_value(operands[2])?)
            }
            "affine.for" if argument == 0 => {
                let segments = ir::integers(op, "operandSegmentSizes");
                let operands = ir::operands(op);
                let (low, rest) = operands.split_at(usize::try_from(*segments.first()?).ok()?);
                let high = &rest[..usize::try_from(*segments.get(1)?).ok()?];
                let lower = self.bounds(op, "lowerBoundMap", low)?;
                let upper = self.bounds(op, "upperBoundMap", high)?;
                let step = ir::integer(ir::attribute(op, "step")?)?;
                // The lower bound is the greatest of its results, the upper bound the least.
                let lower = Interval::new(lower.iter().map(|i| i.lo).max()?, lower.iter().map(|i| i.hi).max()?);
                let upper = Interval::new(upper.iter().map(|i| i.lo).min()?, upper.iter().map(|i| i.hi).min()?);
                (lower, upper, step)
            }
            _ => return None,
        };
        if step <= 0 {
            return None;
        }
        let last = if upper.hi == i64::MAX { i64::MAX } else { upper.hi.checked_sub(1)? };
        let exact = lower.lo == lower.hi;
        let last = match exact {
            true if last != i64::MAX && last >= lower.lo => lower.lo + (last - lower.lo) / step * step,
            _ => last,
        };
        Some((Interval::new(lower.lo, last), (exact && step > 1).then_some((step, lower.lo))))
    }

    fn bounds(&mut self, op: Op<'c>, name: &str, operands: &[Val<'c>]) -> Option<Vec<Interval>> {
        let exprs = self.apply(ir::affine_map(ir::attribute(op, name)?)?, operands)?;
        let mut form = Form::new(&self.domain);
        Some(exprs.iter().map(|e| form.interval(e)).collect())
    }

    /// Simplifies expressions over the leaves, knowing besides that each of `within` lies in its interval.
    pub fn simplified(&self, exprs: &[Expr], within: &[(Expr, Interval)]) -> Vec<Expr> {
        let mut domain = self.domain.clone();
        domain.constraints.extend(within.iter().cloned());
        simplify(exprs, &domain)
    }

    /// An affine map with these results, and the values of its dimensions.
    pub fn map(&self, b: Builder<'c>, exprs: &[Expr]) -> (melior::ir::Attribute<'c>, Vec<Val<'c>>) {
        let mut used = Vec::new();
        for e in exprs {
            e.for_each_var(&mut |v| {
                if !used.contains(&v) {
                    used.push(v);
                }
            });
        }
        let position = |v: usize| used.iter().position(|u| *u == v).expect("every variable was listed");
        let map = b.map(used.len(), exprs, &position);
        (map, used.iter().map(|v| self.bound(*v)).collect())
    }

    /// A value for an expression over the leaves.
    pub fn value(&self, b: Builder<'c>, e: &Expr) -> Val<'c> {
        match e {
            Expr::Const(c) => b.index(*c),
            Expr::Var(v) => self.bound(*v),
            _ => {
                let (map, operands) = self.map(b, std::slice::from_ref(e));
                b.value("affine.apply", &operands, Type::index(b.context()), &[b.named("map", map)])
            }
        }
    }

    /// Whether all leaves in these expressions may be dimensions of affine operations.
    pub fn are_affine(&self, exprs: &[Expr]) -> bool {
        let mut affine = true;
        for e in exprs {
            e.for_each_var(&mut |v| affine &= ir::is_valid_dim(self.bound(v)));
        }
        affine
    }

    /// Loads an element, with an affine operation where that is allowed.
    pub fn load(&self, b: Builder<'c>, base: Val<'c>, index: &[Expr]) -> Val<'c> {
        let element = ir::memref(base.r#type()).expect("loads are from memrefs").element;
        if self.are_affine(index) {
            let (map, dims) = self.map(b, index);
            let operands: Vec<_> = [base].into_iter().chain(dims).collect();
            return b.value("affine.load", &operands, element, &[b.named("map", map)]);
        }
        self.load_anywhere(b, base, index)
    }

    /// Loads an element with an operation that is allowed everywhere.
    pub fn load_anywhere(&self, b: Builder<'c>, base: Val<'c>, index: &[Expr]) -> Val<'c> {
        let element = ir::memref(base.r#type()).expect("loads are from memrefs").element;
        let operands: Vec<_> = [base].into_iter().chain(index.iter().map(|e| self.value(b, e))).collect();
        b.value("memref.load", &operands, element, &[])
    }

    /// Stores an element, with an affine operation where that is allowed.
    pub fn store(&self, b: Builder<'c>, value: Val<'c>, base: Val<'c>, index: &[Expr]) {
        if self.are_affine(index) {
            let (map, dims) = self.map(b, index);
            let operands: Vec<_> = [value, base].into_iter().chain(dims).collect();
            b.op("affine.store", &operands, &[], &[b.named("map", map)]);
        } else {
            self.store_anywhere(b, value, base, index);
        }
    }

    /// Stores an element with an operation that is allowed everywhere.
    pub fn store_anywhere(&self, b: Builder<'c>, value: Val<'c>, base: Val<'c>, index: &[Expr]) {
        let operands: Vec<_> = [value, base].into_iter().chain(index.iter().map(|e| self.value(b, e))).collect();
        b.op("memref.store", &operands, &[], &[]);
    }
}

/// The integer of an `arith.constant`.
fn constant(op: Op) -> Option<i64> {
    (ir::name(op) == "arith.constant").then(|| ir::attribute(op, "value").and_then(ir::integer)).flatten()
}

/// The integer that a value always is.
pub fn constant_value(v: Val) -> Option<i64> {
    ir::defining_op(v).and_then(constant)
}
