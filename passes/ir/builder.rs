//! A builder, which inserts operations before an existing one.

use crate::attributes::{affine_map_attribute, attributes};
use crate::read::{Op, Val, blocks, location, location_context, operations};
use crate::types::{Shaped, memref, memref_type, sizes_attribute, strided};
use layout_dialect::{affine, borrowed};
use melior::Context;
use melior::ir::attribute::{
    ArrayAttribute, AttributeLike, DenseI32ArrayAttribute, DenseI64ArrayAttribute, IntegerAttribute,
};
use melior::ir::block::BlockLike;
use melior::ir::operation::{OperationBuilder, OperationLike};
use melior::ir::r#type::IntegerType;
use melior::ir::{
    AffineExpr, AffineMap, Attribute, Block, Identifier, Location, Operation, OperationRef, Region, RegionLike, Type,
    ValueLike,
};
use mlir_sys as sys;
use tensor_layout::expr::Expr;

/// The alignment of allocations in bytes, the same as bufferization's: a cache line.
pub const ALIGNMENT: i64 = 64;

/// Sizes, strides or offsets, `None` if known only at run time, and the values of the dynamic ones in their order.
pub type Numbers<'a, 'c> = (&'a [Option<i64>], &'a [Val<'c>]);

/// Makes operations before an existing one, at its location.
#[derive(Clone, Copy)]
pub struct Builder<'c> {
    context: &'c Context,
    /// New operations come before this one.
    pub before: Op<'c>,
    /// The location of new operations.
    pub location: Location<'c>,
}

impl<'c> Builder<'c> {
    /// Inserts before `op` at its location.
    pub fn before(op: Op<'c>) -> Builder<'c> {
        let location = location(op);
        Builder { context: borrowed(&location_context(location)), before: op, location }
    }

    /// The context of all operations of the builder.
    pub fn context(&self) -> &'c Context {
        self.context
    }

    /// The same builder with the location of an operation.
    pub fn located(self, op: Op<'c>) -> Builder<'c> {
        Builder { location: location(op), ..self }
    }

    /// The same builder at another insertion point.
    pub fn at(self, before: Op<'c>) -> Builder<'c> {
        Builder { before, ..self }
    }

    /// All attributes of an operation, for another one.
    pub fn attributes_of(&self, op: Op<'c>) -> Vec<(Identifier<'c>, Attribute<'c>)> {
        attributes(op).into_iter().map(|(name, attribute)| self.named(&name, attribute)).collect()
    }

    /// An attribute with its name.
    pub fn named(&self, name: &str, value: impl Into<Attribute<'c>>) -> (Identifier<'c>, Attribute<'c>) {
        (Identifier::new(self.context(), name), value.into())
    }

    /// The number of operands in each group of an operation's operands.
    pub fn segments(&self, counts: &[i32]) -> (Identifier<'c>, Attribute<'c>) {
        self.named("operandSegmentSizes", DenseI32ArrayAttribute::new(self.context(), counts))
    }

    /// The alignment of allocations.
    pub fn alignment(&self) -> (Identifier<'c>, Attribute<'c>) {
        self.named("alignment", IntegerAttribute::new(IntegerType::new(self.context(), 64).into(), ALIGNMENT))
    }

    /// A `memref.alloc` at [`ALIGNMENT`], with the sizes known at run time and further attributes.
    pub fn allocation(
        &self,
        sizes: &[Val<'c>],
        t: Type<'c>,
        attributes: &[(Identifier<'c>, Attribute<'c>)],
    ) -> Val<'c> {
        let own = [self.segments(&[sizes.len() as i32, 0]), self.alignment()];
        self.value("memref.alloc", sizes, t, &[&own, attributes].concat())
    }

    /// A copy of a buffer in a new allocation of a type with its sizes.
    pub fn copied_buffer(&self, source: Val<'c>, t: Type<'c>) -> Val<'c> {
        let shape = memref(t).map_or_else(Vec::new, |shaped| shaped.shape);
        let size =
            |d: usize| self.value("memref.dim", &[source, self.index(d as i64)], Type::index(self.context()), &[]);
        let sizes: Vec<Val<'c>> = (0..shape.len()).filter(|d| shape[*d].is_none()).map(size).collect();
        let copy = self.allocation(&sizes, t, &[]);
        self.op("memref.copy", &[source, copy], &[], &[]);
        copy
    }

    /// Inserts an operation.
    ///
    /// # Panics
    /// If the operation that it is inserted before is in no block, because it was erased.
    pub fn insert(&self, op: Operation<'c>) -> Op<'c> {
        let block = self.before.block().expect("new operations are inserted before one in a block").to_raw();
        // SAFETY: the operation that new ones are inserted before is in the block, which takes over the new one.
        unsafe {
            let raw = op.into_raw();
            sys::mlirBlockInsertOwnedOperationBefore(block, self.before.to_raw(), raw);
            OperationRef::from_raw(raw)
        }
    }

    /// A `memref.reinterpret_cast` to this offset, these sizes and strides. The offset is one number.
    pub fn reinterpret(
        &self,
        from: Val<'c>,
        to: Type<'c>,
        offset: Numbers<'_, 'c>,
        sizes: Numbers<'_, 'c>,
        strides: Numbers<'_, 'c>,
    ) -> Val<'c> {
        let list = |v: Numbers| sizes_attribute(self.context(), v.0);
        let attributes = [
            self.named("static_offsets", list(offset)),
            self.named("static_sizes", list(sizes)),
            self.named("static_strides", list(strides)),
            self.segments(&[1, offset.1.len() as i32, sizes.1.len() as i32, strides.1.len() as i32]),
        ];
        let operands: Vec<_> = [&[from], offset.1, sizes.1, strides.1].concat();
        self.value("memref.reinterpret_cast", &operands, to, &attributes)
    }

    /// The buffer of a memref, its offset, its sizes and its strides, in this order.
    ///
    /// # Panics
    /// If the value is no memref with a rank.
    pub fn metadata(&self, of: Val<'c>) -> Vec<Val<'c>> {
        let shaped = memref(of.r#type()).expect("a memref");
        let index = vec![Type::index(self.context()); 1 + 2 * shaped.shape.len()];
        let element = memref_type(self.location, &Shaped { shape: Vec::new(), layout: None, ..shaped });
        let types = [vec![element.expect("a memref of one element")], index].concat();
        crate::read::results(self.op("memref.extract_strided_metadata", &[of], &types, &[]))
    }

    /// A copy of an operation with its regions.
    pub fn copy(&self, op: Op<'c>) -> Op<'c> {
        // SAFETY: the operation is alive, and nothing else owns its copy.
        self.insert(unsafe { Operation::from_raw(sys::mlirOperationClone(op.to_raw())) })
    }

    /// An operation without regions.
    pub fn op(
        &self,
        name: &str,
        operands: &[Val<'c>],
        results: &[Type<'c>],
        attributes: &[(Identifier<'c>, Attribute<'c>)],
    ) -> Op<'c> {
        let builder = OperationBuilder::new(name, self.location);
        let op = builder.add_operands(operands).add_results(results).add_attributes(attributes).build();
        self.insert(op.expect("an operation with its result types given can be built"))
    }

    /// The result of an operation that has one.
    pub fn value(
        &self,
        name: &str,
        operands: &[Val<'c>],
        result: Type<'c>,
        attributes: &[(Identifier<'c>, Attribute<'c>)],
    ) -> Val<'c> {
        crate::read::result(self.op(name, operands, &[result], attributes), 0)
    }

    /// An `arith.constant`.
    pub fn constant(&self, value: Attribute<'c>) -> Val<'c> {
        // SAFETY: the attribute is alive; the type of one without is `none`.
        let t = unsafe { Type::from_raw(sys::mlirAttributeGetType(value.to_raw())) };
        self.value("arith.constant", &[], t, &[self.named("value", value)])
    }

    /// An `arith.constant` of type index.
    pub fn index(&self, value: i64) -> Val<'c> {
        self.constant(self.index_attribute(value))
    }

    /// Whether two values of type index are the same.
    pub fn equal(&self, x: Val<'c>, y: Val<'c>) -> Val<'c> {
        let integer = |bits| IntegerType::new(self.context(), bits).into();
        let equal = self.named("predicate", IntegerAttribute::new(integer(64), 0));
        self.value("arith.cmpi", &[x, y], integer(1), &[equal])
    }

    /// An integer attribute of type index.
    pub fn index_attribute(&self, value: i64) -> Attribute<'c> {
        IntegerAttribute::new(Type::index(self.context()), value).into()
    }

    /// An affine expression; minima and maxima are not allowed.
    fn affine(&self, e: &Expr, dim: &dyn Fn(usize) -> AffineExpr<'c>) -> AffineExpr<'c> {
        affine::affine_expr(self.context(), e, dim).expect("lowering makes no affine minimum or maximum")
    }

    /// An affine map of `dims` dimensions with these results.
    pub fn map(&self, dims: usize, exprs: &[Expr], position: &dyn Fn(usize) -> usize) -> Attribute<'c> {
        let dim = |v| AffineExpr::dim(self.context(), position(v));
        let exprs: Vec<_> = exprs.iter().map(|e| self.affine(&nonnegative(e), &dim)).collect();
        affine_map_attribute(AffineMap::new(self.context(), dims, 0, &exprs))
    }

    /// An integer set of `dims` dimensions with these constraints, each with whether it is an equality.
    ///
    /// # Panics
    /// If there is no constraint.
    pub fn integer_set(
        &self,
        dims: usize,
        constraints: &[(Expr, bool)],
        position: &dyn Fn(usize) -> usize,
    ) -> Attribute<'c> {
        let dim = |v| AffineExpr::dim(self.context(), position(v));
        let exprs: Vec<_> = constraints.iter().map(|c| self.affine(&c.0, &dim).to_raw()).collect();
        let equalities: Vec<bool> = constraints.iter().map(|c| c.1).collect();
        assert!(!constraints.is_empty(), "an integer set has a constraint");
        // SAFETY: there is a constraint; the lists have one entry for each, and MLIR copies them.
        unsafe {
            let context = self.context.to_raw();
            let (count, dims) = (exprs.len() as isize, dims as isize);
            let set = sys::mlirIntegerSetGet(context, dims, 0, count, exprs.as_ptr(), equalities.as_ptr());
            Attribute::from_raw(sys::mlirIntegerSetAttrGet(set))
        }
    }

    /// A `linalg.copy` or a `linalg.fill` on tensors, with the body of its definition.
    ///
    /// # Panics
    /// For any other operation.
    pub fn named_structured(&self, name: &str, operands: &[Val<'c>], segments: &[i32], result: Type<'c>) -> Op<'c> {
        let builder = OperationBuilder::new(name, self.location).add_operands(operands).add_results(&[result]);
        let op = builder.add_attributes(&[self.segments(segments)]).add_regions([Region::new()]);
        let op = self.insert(op.build().expect("all parts are given"));
        assert!(matches!(name, "linalg.copy" | "linalg.fill"), "`{name}` has no body that MLIR knows");
        // SAFETY: the operation is alive, and a named one with an empty region.
        unsafe { sys::mlirLinalgFillBuiltinNamedOpRegion(op.to_raw()) }
        op
    }

    /// An `scf.if` without results and without a second branch; returns the terminator of the first.
    pub fn branch(&self, condition: Val<'c>) -> Op<'c> {
        let block = Block::new(&[]);
        block.append_operation(OperationBuilder::new("scf.yield", self.location).build().expect("a terminator"));
        let region = Region::new();
        region.append_block(block);
        let builder = OperationBuilder::new("scf.if", self.location).add_operands(&[condition]);
        let op = builder.add_regions([region, Region::new()]).build().expect("all parts are given");
        operations(blocks(self.insert(op))[0]).pop().expect("the block has its terminator")
    }

    /// An `scf.if` with both branches; returns their terminators, which have no operands yet.
    pub fn conditional(&self, condition: Val<'c>, results: &[Type<'c>]) -> (Op<'c>, Op<'c>) {
        let branch = || {
            let block = Block::new(&[]);
            block.append_operation(OperationBuilder::new("scf.yield", self.location).build().expect("a terminator"));
            let region = Region::new();
            region.append_block(block);
            region
        };
        let builder = OperationBuilder::new("scf.if", self.location).add_operands(&[condition]).add_results(results);
        let op = builder.add_regions([branch(), branch()]).build().expect("all parts are given");
        let ends: Vec<Op<'c>> = blocks(self.insert(op)).into_iter().flat_map(operations).collect();
        (ends[0], ends[1])
    }

    /// An `scf.forall` over these extents, with values for those that are known only at run time, each loop mapped as the
    /// attribute beside it says; also returns its terminator.
    pub fn forall(&self, extents: &[Option<i64>], values: &[Val<'c>], mapping: &[Attribute<'c>]) -> (Op<'c>, Op<'c>) {
        let index = Type::index(self.context());
        let block = Block::new(&vec![(index, self.location); extents.len()]);
        let inner = Region::new();
        inner.append_block(Block::new(&[]));
        let end = OperationBuilder::new("scf.forall.in_parallel", self.location).add_regions([inner]).build();
        block.append_operation(end.expect("all parts are given"));
        let region = Region::new();
        region.append_block(block);
        let integers = |v: &[i64]| DenseI64ArrayAttribute::new(self.context(), v);
        let attributes = [
            self.named("staticLowerBound", integers(&vec![0; extents.len()])),
            self.named("staticUpperBound", sizes_attribute(self.context(), extents)),
            self.named("staticStep", integers(&vec![1; extents.len()])),
            self.named("mapping", ArrayAttribute::new(self.context(), mapping)),
            self.segments(&[0, values.len() as i32, 0, 0]),
        ];
        let op = OperationBuilder::new("scf.forall", self.location).add_operands(values).add_attributes(&attributes);
        let op = op.add_regions([region]);
        let op = self.insert(op.build().expect("all parts are given"));
        let end = operations(blocks(op)[0]).pop().expect("the block has its terminator");
        (op, end)
    }

    /// The part of a buffer with these strides at an index in its first dimensions: a view of all the others.
    pub fn part(&self, of: Val<'c>, strides: &[Option<i64>], at: &[Val<'c>]) -> Val<'c> {
        let whole = memref(of.r#type()).expect("a buffer");
        let (fixed, rest) = (at.len(), &whole.shape[at.len()..]);
        let layout = Some(strided(self.location, None, &strides[fixed..]));
        let part = memref_type(self.location, &Shaped { shape: rest.to_vec(), layout, ..whole.clone() });
        let list = |first: Option<i64>, others: &[Option<i64>]| {
            sizes_attribute(self.context(), &[&vec![first; fixed], others].concat())
        };
        let ones = vec![Some(1); rest.len()];
        let attributes = [
            self.named("static_offsets", list(None, &vec![Some(0); rest.len()])),
            self.named("static_sizes", list(Some(1), rest)),
            self.named("static_strides", list(Some(1), &ones)),
            self.segments(&[1, fixed as i32, 0, 0]),
        ];
        let operands: Vec<_> = [of].into_iter().chain(at.iter().copied()).collect();
        self.value("memref.subview", &operands, part.expect("part of a memref is one"), &attributes)
    }

    /// An operation with one region of one block, with this terminator; also returns the terminator.
    #[allow(clippy::too_many_arguments, reason = "an operation has that many parts")]
    pub fn with_body(
        &self,
        name: &str,
        operands: &[Val<'c>],
        results: &[Type<'c>],
        attributes: &[(Identifier<'c>, Attribute<'c>)],
        arguments: &[Type<'c>],
        terminator: &str,
    ) -> (Op<'c>, Op<'c>) {
        let block = Block::new(&arguments.iter().map(|t| (*t, self.location)).collect::<Vec<_>>());
        let end = OperationBuilder::new(terminator, self.location).build().expect("a terminator without operands");
        block.append_operation(end);
        let region = Region::new();
        region.append_block(block);
        let builder = OperationBuilder::new(name, self.location);
        let op = builder.add_operands(operands).add_results(results).add_attributes(attributes).add_regions([region]);
        let op = self.insert(op.build().expect("an operation with its result types given can be built"));
        let end = operations(blocks(op)[0]).pop().expect("the block has its terminator");
        (op, end)
    }
}

/// The same expression without negative coefficients under a remainder: `(i - k) mod 3` is `(i + 2*k) mod 3`.
///
/// MLIR 22's canonicalizer uses the remainder of a sum's lower bound as the lower bound of its remainder, which is
/// wrong below zero: with `i` in `[0, 2]` and `k` in `[0, 3]` it folds `((i - 2*k) mod 5) floordiv 4` to 1.
/// `test/upstream/canonicalize-mod.mlir` fails once that is fixed.
fn nonnegative(e: &Expr) -> Expr {
    match e {
        Expr::Const(_) | Expr::Var(_) => e.clone(),
        Expr::Add(a, b) => nonnegative(a) + nonnegative(b),
        Expr::Mul(a, f) => nonnegative(a).times(*f),
        Expr::FloorDiv(a, d) => nonnegative(a).floor_div(*d),
        Expr::Mod(a, m) => residues(&nonnegative(a), *m).modulo(*m),
        Expr::Min(a, b) => Expr::Min(Box::new(nonnegative(a)), Box::new(nonnegative(b))),
        Expr::Max(a, b) => Expr::Max(Box::new(nonnegative(a)), Box::new(nonnegative(b))),
    }
}

/// A sum that is equal modulo `m`: unchanged, or with all factors and constants in `0..m` if one was negative.
fn residues(e: &Expr, m: i64) -> Expr {
    if has_negative(e) { reduced(e, 1 % m, m) } else { e.clone() }
}

fn has_negative(e: &Expr) -> bool {
    match e {
        Expr::Const(c) => *c < 0,
        Expr::Add(a, b) => has_negative(a) || has_negative(b),
        Expr::Mul(a, f) => *f < 0 || has_negative(a),
        _ => false,
    }
}

/// `e * factor` modulo `m`, term by term.
fn reduced(e: &Expr, factor: i64, m: i64) -> Expr {
    let times = |f: i64| (i128::from(f.rem_euclid(m)) * i128::from(factor) % i128::from(m)) as i64;
    match e {
        Expr::Const(c) => Expr::Const(times(*c)),
        Expr::Add(a, b) => reduced(a, factor, m) + reduced(b, factor, m),
        Expr::Mul(a, f) => reduced(a, times(*f), m),
        e => e.clone().times(factor),
    }
}
