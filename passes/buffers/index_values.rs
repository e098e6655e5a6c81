//! Emits expressions over variables: as values, affine maps, loads and stores.

use crate::buffers::index::{IndexVars, Source};
use crate::pass::upstream;
use layout_dialect::affine;
use layout_ir::{self as ir, Builder, Val};
use melior::ir::{Type, ValueLike};
use std::collections::HashMap;
use tensor_layout::expr::Expr;
use tensor_layout::swizzle::Swizzle;

impl<'c> IndexVars<'c> {
    /// The value of a variable, before `b`.
    fn made(&self, b: Builder<'c>, var: usize) -> Val<'c> {
        let index = Type::index(b.context());
        match &self.sources[var] {
            Source::Size(memref, dim) => b.value("memref.dim", &[*memref, b.index(*dim as i64)], index, &[]),
            Source::Product([x, y]) => b.value("arith.muli", &[self.value(b, x), self.value(b, y)], index, &[]),
            Source::Swizzled(address, swizzle) => swizzled(b, self.value(b, address), *swizzle),
            _ => self.bound(var),
        }
    }

    /// An affine map with these results, and the values of its dimensions.
    pub fn map(&self, b: Builder<'c>, exprs: &[Expr]) -> (melior::ir::Attribute<'c>, Vec<Val<'c>>) {
        let (dims, positions) = self.dims(b, exprs);
        (b.map(dims.len(), exprs, &|v| positions[&v]), dims)
    }

    /// The values of the variables in these expressions, each once, and the position of each variable among them.
    pub fn dims(&self, b: Builder<'c>, exprs: &[Expr]) -> (Vec<Val<'c>>, HashMap<usize, usize>) {
        let (mut dims, mut positions) = (Vec::new(), HashMap::new());
        for e in exprs {
            e.for_each_var(&mut |v| {
                positions.entry(v).or_insert_with(|| {
                    dims.push(self.made(b, v));
                    dims.len() - 1
                });
            });
        }
        (dims, positions)
    }

    /// A value for an expression over the variables.
    pub fn value(&self, b: Builder<'c>, e: &Expr) -> Val<'c> {
        match e {
            Expr::Const(c) => b.index(*c),
            Expr::Var(v) => self.made(b, *v),
            _ => {
                let (map, operands) = self.map(b, std::slice::from_ref(e));
                b.value("affine.apply", &operands, Type::index(b.context()), &[b.named("map", map)])
            }
        }
    }

    /// A value for the least of some expressions.
    pub fn least(&self, b: Builder<'c>, exprs: &[Expr]) -> Val<'c> {
        if let [one] = exprs {
            return self.value(b, one);
        }
        let (map, operands) = self.map(b, exprs);
        b.value("affine.min", &operands, Type::index(b.context()), &[b.named("map", map)])
    }

    /// Whether affine operations can hold these expressions, with all their variables as dimensions.
    pub fn are_affine(&self, exprs: &[Expr]) -> bool {
        let mut affine = exprs.iter().all(affine::is_affine);
        for e in exprs {
            e.for_each_var(&mut |v| {
                let made = matches!(self.sources[v], Source::Size(..) | Source::Product(_) | Source::Swizzled(..));
                affine &= !made && upstream::is_valid_dim(self.bound(v));
            });
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

/// The place to which a swizzle takes an address: the bits that flip, shifted to those that they flip, and `xori`.
pub fn swizzled<'c>(b: Builder<'c>, address: Val<'c>, swizzle: Swizzle) -> Val<'c> {
    if swizzle.flipping() == 0 {
        return address;
    }
    let binary = |name: &str, x: Val<'c>, y: Val<'c>| b.value(name, &[x, y], Type::index(b.context()), &[]);
    let flipping = binary("arith.andi", address, b.index(swizzle.flipping()));
    let shift = if swizzle.distance() < 0 { "arith.shli" } else { "arith.shrui" };
    let flipped = binary(shift, flipping, b.index(swizzle.distance().unsigned_abs().into()));
    binary("arith.xori", address, flipped)
}
