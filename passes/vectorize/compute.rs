//! The computation of a kernel: the operations of its body on whole registers.

use super::block::Loaded;
use super::kernel::{At, Kernel};
use super::mask::Mask;
use super::registers::{Key, mask, place, shuffle};
use crate::buffers::operations::{DIVIDES, FUSES_MULTIPLY_ADD, is};
use crate::kernel::body::{Argument, Body};
use crate::kernel::combiner::Combiner;
use crate::pass::upstream::FastMath;
use layout_ir::{self as ir, Builder, Op, Val};
use melior::ir::attribute::{DenseElementsAttribute, IntegerAttribute};
use melior::ir::r#type::IntegerType;
use melior::ir::{Attribute, Identifier, Type, TypeLike, ValueLike};
use std::collections::HashMap;

impl<'c> Kernel<'_, 'c> {
    /// An operand's register with this key, in the lanes of the computation.
    pub fn register(&self, b: Builder<'c>, at: &At, loaded: &mut Loaded<'c>, operand: usize, key: Key) -> Val<'c> {
        let bits = self.plan.bits[operand];
        let own: Vec<usize> = self.plan.lanes.iter().copied().filter(|bit| bits >> bit & 1 == 1).collect();
        let key = key & bits & !mask(&self.plan.lanes);
        if let Some(known) = loaded.expanded.get(&(operand, key)) {
            return *known;
        }
        let base = loaded.bases[operand];
        let made = if own.is_empty() {
            match self.mask(b, at, &[self.there(at, Some(operand), key)]) {
                Mask::None => {
                    b.constant(ir::zeros(ir::vector_type(&[1 << self.plan.lanes.len()], self.element(operand))))
                }
                there => {
                    let index = self.index_of(b, at, base, operand, key, &there);
                    let one = b.value("memref.load", &[self.buffers[operand], index], self.element(operand), &[]);
                    self.broadcast(b, one)
                }
            }
        } else {
            let mut source = |key: Key| self.load(b, at, base, operand, key & bits);
            let moved = loaded.registers[operand].register(b, key, &mut source);
            let moved = self.cast(b, moved, self.element(operand));
            // An operand without a lane bit repeats its elements along it.
            let lane = |lane: usize| {
                let at = place(&self.plan.lanes, 0, lane);
                own.iter().enumerate().map(|(k, bit)| ((at >> bit & 1) << k) as i64).sum()
            };
            match own.len() == self.plan.lanes.len() {
                true => moved,
                false => shuffle(b, &[moved], &(0..1 << self.plan.lanes.len()).map(lane).collect::<Vec<i64>>()),
            }
        };
        let made = self.as_values(b, operand, made);
        loaded.expanded.insert((operand, key), made);
        made
    }

    /// The value of an argument of a body, for one register.
    pub fn argument(
        &self,
        b: Builder<'c>,
        at: &At,
        loaded: &mut Loaded<'c>,
        key: Key,
        sum: Option<Val<'c>>,
        from: &Argument<'c>,
    ) -> Val<'c> {
        match from {
            Argument::Element(operand) => self.register(b, at, loaded, *operand, key),
            Argument::Value(v) => self.broadcast(b, *v),
            Argument::Accumulator => sum.expect("only reductions have sums"),
            Argument::Fused(body) => self.compute(b, at, loaded, body, key, sum)[0],
        }
    }

    /// The values that a body yields, for one register; for an extreme, the element that its combiner adds.
    pub fn compute(
        &self,
        b: Builder<'c>,
        at: &At,
        loaded: &mut Loaded<'c>,
        body: &Body<'c>,
        key: Key,
        sum: Option<Val<'c>>,
    ) -> Vec<Val<'c>> {
        let Some(block) = body.block else {
            let value = self.argument(b, at, loaded, key, sum, &body.arguments[0].1);
            return vec![self.widening.map_or(value, |op| self.on_lanes(b, op, &[value]))];
        };
        let mut values: HashMap<usize, Val<'c>> = HashMap::new();
        for (argument, from) in &body.arguments {
            let done = self.done.values().any(|operand| Body::is(from, *operand));
            let has_value = sum.is_some() || !matches!(from, Argument::Accumulator);
            if !done && has_value && ir::is_used(*argument) {
                values.insert(ir::key(*argument), self.argument(b, at, loaded, key, sum, from));
            }
        }
        let known = |b: Builder<'c>, values: &HashMap<usize, Val<'c>>, v: Val<'c>| {
            values.get(&ir::key(v)).copied().unwrap_or_else(|| self.broadcast(b, v))
        };
        for op in ir::operations(block) {
            let inside = b.located(op);
            if let Some(operand) = self.done.get(&ir::op_key(op)) {
                values.insert(ir::key(ir::result(op, 0)), self.register(b, at, loaded, *operand, key));
                continue;
            }
            if let (Some(_), Some(combiner)) = (self.extreme, self.combines(op)) {
                return vec![known(inside, &values, ir::operands(op)[combiner.element])];
            }
            let operands: Vec<Val<'c>> = match ir::name(op) {
                "arith.constant" => Vec::new(),
                _ => ir::operands(op).into_iter().map(|v| known(inside, &values, v)).collect(),
            };
            if ir::name(op) == "linalg.yield" {
                return operands;
            }
            let made = self.operation(inside, at, body, key, op, &operands);
            values.insert(ir::key(ir::result(op, 0)), made);
        }
        Vec::new()
    }

    /// The result of an operation of a body on registers.
    fn operation(
        &self,
        b: Builder<'c>,
        at: &At,
        body: &Body<'c>,
        key: Key,
        op: Op<'c>,
        operands: &[Val<'c>],
    ) -> Val<'c> {
        match ir::name(op) {
            "arith.constant" => {
                let value = ir::attribute(op, "value").expect("a constant has a value");
                self.broadcast(b, b.constant(value))
            }
            "linalg.index" => {
                let dim = ir::attribute(op, "dim").and_then(ir::integer).unwrap_or(0) as usize;
                self.indices(b, at, dim, key)
            }
            name if is(name, DIVIDES) => self.division(b, body, op, [operands[0], operands[1]]),
            "arith.truncf" if self.rounds_by_hand(b, op) => self.rounded(b, operands[0]),
            _ => self.on_lanes(b, op, operands),
        }
    }

    /// An operation of scalars, on vectors of the lanes.
    fn on_lanes(&self, b: Builder<'c>, op: Op<'c>, operands: &[Val<'c>]) -> Val<'c> {
        let t = ir::vector_type(&[1 << self.plan.lanes.len()], ir::result(op, 0).r#type());
        b.value(ir::name(op), operands, t, &self.attributes(b, op))
    }

    /// The combiner of the reduction, if this operation is the one.
    fn combines(&self, op: Op<'c>) -> Option<&Combiner<'c>> {
        self.combiner.as_ref().filter(|combiner| ir::op_key(combiner.op) == ir::op_key(op))
    }

    /// Whether an operation rounds f32 to the nearest bf16, for which most machines have no instruction and LLVM calls
    /// a function for each element.
    pub fn rounds_by_hand(&self, b: Builder<'c>, op: Op<'c>) -> bool {
        let (from, to) = (ir::operands(op)[0].r#type(), ir::result(op, 0).r#type());
        from.is_f32() && to == Type::bfloat16(b.context()) && ir::attribute(op, "roundingmode").is_none()
    }

    /// A vector of f32 as bf16: ties go to even, and NaN stays NaN.
    pub fn rounded(&self, b: Builder<'c>, v: Val<'c>) -> Val<'c> {
        let integer = |bits: u32| -> Type<'c> { IntegerType::new(b.context(), bits).into() };
        let of = |element: Type<'c>| ir::vector_type(&[1 << self.plan.lanes.len()], element);
        let word = |n: i64| {
            let n = IntegerAttribute::new(integer(32), n).into();
            b.constant(DenseElementsAttribute::new(of(integer(32)), &[n]).expect("a number makes a constant").into())
        };
        let on_words = |name: &str, x: Val<'c>, y: Val<'c>| b.value(name, &[x, y], of(integer(32)), &[]);
        let bits = self.cast(b, v, integer(32));
        let odd = on_words("arith.andi", on_words("arith.shrui", bits, word(16)), word(1));
        let nearest = on_words("arith.addi", on_words("arith.addi", bits, word(0x7FFF)), odd);
        let unordered = IntegerAttribute::new(integer(64), 14);
        let is_nan = b.value("arith.cmpf", &[v, v], of(integer(1)), &[b.named("predicate", unordered)]);
        let quiet = on_words("arith.ori", bits, word(0x40_0000));
        let chosen = b.value("arith.select", &[is_nan, quiet, nearest], of(integer(32)), &[]);
        let high = on_words("arith.shrui", chosen, word(16));
        self.cast(b, b.value("arith.trunci", &[high], of(integer(16)), &[]), Type::bfloat16(b.context()))
    }

    /// The attributes of an operation's vector form.
    pub fn attributes(&self, b: Builder<'c>, op: Op<'c>) -> Vec<(Identifier<'c>, Attribute<'c>)> {
        let contracts = self.target.contract && is(ir::name(op), FUSES_MULTIPLY_ADD);
        let mut attributes = b.attributes_of(op);
        // Partial sums may overflow although the whole does not.
        if self.combines(op).is_some() {
            attributes.retain(|a| a.0 != Identifier::new(b.context(), "overflowFlags"));
        }
        if contracts {
            let flags = FastMath::of(op).with(FastMath::CONTRACT).attribute(b.context());
            attributes.retain(|a| a.0 != Identifier::new(b.context(), "fastmath"));
            attributes.push(b.named("fastmath", flags));
        }
        attributes
    }

    /// The indices of a register's elements along a dimension.
    pub fn indices(&self, b: Builder<'c>, at: &At, dim: usize, key: Key) -> Val<'c> {
        let first = self.broadcast(b, self.vars.value(b, &at.dims[dim]));
        let index = |lane: usize| -> i64 {
            let element = place(&self.plan.lanes, key, lane);
            let of_dim = self.plan.levels.iter().filter(|l| l.dim == dim);
            of_dim.map(|l| l.step(element) * l.scale).sum()
        };
        let lanes = 1 << self.plan.lanes.len();
        let t = ir::vector_type(&[lanes as i64], Type::index(b.context()));
        let steps: Vec<Attribute<'c>> = (0..lanes).map(|lane| b.index_attribute(index(lane))).collect();
        let steps = DenseElementsAttribute::new(t, &steps).expect("indices make a constant");
        b.value("arith.addi", &[first, b.constant(steps.into())], t, &[])
    }
}
