//! The part of MLIR's C API that melior does not wrap, and a builder that inserts in front of an operation.
//!
//! Passes change IR in place through shared references, as the C API does. All references here live as long as the
//! pass runs; a reference to an operation is dead once [`erase`] has had it, which no type checks.
//!
//! Each `unsafe` block calls the C API with handles of live IR, and asks of a handle only what a check in front of it has
//! found it to be. Where more than that makes it sound, a comment says what.

use layout_dialect::affine;
use melior::ir::attribute::{
    ArrayAttribute, AttributeLike, DenseI32ArrayAttribute, DenseI64ArrayAttribute, TypeAttribute,
};
use melior::ir::block::BlockLike;
use melior::ir::operation::{OperationBuilder, OperationLike, OperationMutLike, OperationRefMut};
use melior::ir::r#type::TypeLike;
use melior::ir::{
    AffineExpr, AffineMap, Attribute, Block, BlockRef, Identifier, Location, Operation, OperationRef, Region,
    RegionLike, Type, Value, ValueLike,
};
use melior::{Context, ContextRef};
use mlir_sys as sys;
use tensor_layout::expr::Expr;

/// An operation in the module that a pass works on.
pub type Op<'c> = OperationRef<'c, 'c>;
/// A value in the module that a pass works on.
pub type Val<'c> = Value<'c, 'c>;

/// The size or stride that stands for one known only at run time.
pub const DYNAMIC: i64 = i64::MIN;

/// What identifies a value, for use as a key.
pub fn key(v: Val) -> usize {
    v.to_raw().ptr as usize
}

/// What identifies an operation, for use as a key.
pub fn op_key(op: Op) -> usize {
    op.to_raw().ptr as usize
}

/// The context that melior's constructors ask for, for one call: they read the handle that `context` is and keep
/// nothing, so it need not outlive the call, whatever the lifetime says.
pub fn borrowed<'c>(context: &ContextRef<'c>) -> &'c Context {
    unsafe { context.to_ref() }
}

/// An operation, for as long as the pass that was handed it runs.
pub fn long_lived<'c>(op: OperationRef<'c, '_>) -> Op<'c> {
    unsafe { OperationRef::from_raw(op.to_raw()) }
}

/// A reference to an operation that the caller owns and keeps.
pub fn long_lived_copy<'c>(op: &Operation<'c>) -> Op<'c> {
    unsafe { OperationRef::from_raw(op.to_raw()) }
}

/// The location of an operation.
pub fn location<'c>(op: Op<'c>) -> Location<'c> {
    unsafe { Location::from_raw(sys::mlirOperationGetLocation(op.to_raw())) }
}

/// The operation's name, such as `memref.load`.
pub fn name<'c>(op: Op<'c>) -> &'c str {
    let identifier = op.name();
    let text = identifier.as_string_ref().as_str().unwrap_or("?");
    // Sound: identifiers are interned in the context.
    unsafe { std::mem::transmute::<&str, &'c str>(text) }
}

/// The operation whose result a value is.
pub fn defining_op<'c>(v: Val<'c>) -> Option<Op<'c>> {
    if !v.is_operation_result() {
        return None;
    }
    Some(unsafe { OperationRef::from_raw(sys::mlirOpResultGetOwner(v.to_raw())) })
}

/// Which result of its operation a value is.
pub fn result_number(v: Val) -> usize {
    unsafe { sys::mlirOpResultGetResultNumber(v.to_raw()) as usize }
}

/// The operation around the block whose argument a value is, and the argument's number.
pub fn block_argument<'c>(v: Val<'c>) -> Option<(Op<'c>, usize)> {
    if !v.is_block_argument() {
        return None;
    }
    unsafe {
        let block = sys::mlirBlockArgumentGetOwner(v.to_raw());
        let parent = OperationRef::from_option_raw(sys::mlirBlockGetParentOperation(block))?;
        Some((parent, sys::mlirBlockArgumentGetArgNumber(v.to_raw()) as usize))
    }
}

/// The operation around an operation.
pub fn parent<'c>(op: Op<'c>) -> Option<Op<'c>> {
    unsafe { OperationRef::from_option_raw(sys::mlirOperationGetParentOperation(op.to_raw())) }
}

/// A value seen with the module's lifetime.
pub fn result<'c>(op: Op<'c>, index: usize) -> Val<'c> {
    op.result(index).expect("an operation has the results that its definition says").into()
}

/// All operands.
pub fn operands<'c>(op: Op<'c>) -> Vec<Val<'c>> {
    op.operands().collect()
}

/// All results.
pub fn results<'c>(op: Op<'c>) -> Vec<Val<'c>> {
    op.results().map(Into::into).collect()
}

/// The blocks of an operation's regions, in order.
pub fn blocks<'c>(op: Op<'c>) -> Vec<BlockRef<'c, 'c>> {
    let mut all = Vec::new();
    for region in op.regions() {
        let mut next = region.first_block();
        while let Some(block) = next {
            all.push(unsafe { BlockRef::from_raw(block.to_raw()) });
            next = block.next_in_region();
        }
    }
    all
}

/// The operations of a block, in order.
pub fn operations<'c>(block: BlockRef<'c, 'c>) -> Vec<Op<'c>> {
    let mut all = Vec::new();
    let mut next = block.first_operation();
    while let Some(op) = next {
        next = op.next_in_block();
        all.push(unsafe { OperationRef::from_raw(op.to_raw()) });
    }
    all
}

/// The arguments of a block.
pub fn arguments<'c>(block: BlockRef<'c, 'c>) -> Vec<Val<'c>> {
    (0..block.argument_count()).map(|k| block.argument(k).expect("k is below the count").into()).collect()
}

/// An operation and all below it, each before what it holds. The stack is on the heap: nesting costs no recursion.
pub fn all_operations<'c>(root: Op<'c>) -> Vec<Op<'c>> {
    let mut all = Vec::new();
    let mut stack = vec![root];
    while let Some(op) = stack.pop() {
        all.push(op);
        for block in blocks(op).into_iter().rev() {
            stack.extend(operations(block).into_iter().rev());
        }
    }
    all
}

/// Gives a value another type.
pub fn set_type<'c>(v: Val<'c>, r#type: Type<'c>) {
    v.set_type(r#type);
}

/// Lets all users of `v` use `with`.
pub fn replace_all_uses<'c>(v: Val<'c>, with: Val<'c>) {
    unsafe { sys::mlirValueReplaceAllUsesOfWith(v.to_raw(), with.to_raw()) }
}

/// The operations that use a value, each with the number of the operand that it is.
pub fn uses<'c>(v: Val<'c>) -> Vec<(Op<'c>, usize)> {
    let mut all = Vec::new();
    unsafe {
        let mut next = sys::mlirValueGetFirstUse(v.to_raw());
        while !next.ptr.is_null() {
            let user = OperationRef::from_raw(sys::mlirOpOperandGetOwner(next));
            all.push((user, sys::mlirOpOperandGetOperandNumber(next) as usize));
            next = sys::mlirOpOperandGetNextUse(next);
        }
    }
    all
}

/// The operation behind another in its block.
pub fn next<'c>(op: Op<'c>) -> Option<Op<'c>> {
    unsafe { OperationRef::from_option_raw(sys::mlirOperationGetNextInBlock(op.to_raw())) }
}

/// Whether one operation stands in front of another in the same block.
pub fn comes_before<'c>(op: Op<'c>, other: Op<'c>) -> bool {
    op.block() == other.block() && op.is_before_in_block(other)
}

/// Whether anything uses a value.
pub fn is_used(v: Val) -> bool {
    unsafe { !sys::mlirValueGetFirstUse(v.to_raw()).ptr.is_null() }
}

/// Removes an operation that has no uses left.
pub fn erase(op: Op) {
    unsafe { sys::mlirOperationDestroy(op.to_raw()) }
}

/// The same operation, for methods that change it.
pub fn edit<'c>(op: Op<'c>) -> OperationRefMut<'c, 'c> {
    unsafe { OperationRefMut::from_raw(op.to_raw()) }
}

/// A copy of an operation, in no block yet.
pub fn clone<'c>(op: Op<'c>) -> Operation<'c> {
    unsafe { Operation::from_raw(sys::mlirOperationClone(op.to_raw())) }
}

/// Takes an operation out of its block and puts it in front of another.
pub fn move_before<'c>(op: Op<'c>, other: Op<'c>) {
    unsafe { sys::mlirOperationMoveBefore(op.to_raw(), other.to_raw()) }
}

/// Makes `to` hold what `from` holds, and takes over its attributes; both are modules.
pub fn replace_contents<'c>(to: Op<'c>, from: Op<'c>) {
    let (old, new) = (blocks(to)[0], blocks(from)[0]);
    for op in operations(old) {
        erase(op);
    }
    for op in operations(new) {
        unsafe {
            sys::mlirOperationRemoveFromParent(op.to_raw());
            sys::mlirBlockAppendOwnedOperation(old.to_raw(), op.to_raw());
        }
    }
}

/// An operation's attribute.
pub fn attribute<'c>(op: Op<'c>, name: &str) -> Option<Attribute<'c>> {
    op.attribute(name).ok()
}

/// An attribute made of integers, as an operation's static sizes are; elements of tensors have 32 bits.
pub fn integers(op: Op, name: &str) -> Vec<i64> {
    let Some(attribute) = attribute(op, name) else { return Vec::new() };
    let raw = attribute.to_raw();
    unsafe {
        if sys::mlirAttributeIsADenseI64Array(raw) {
            let n = sys::mlirDenseArrayGetNumElements(raw);
            (0..n).map(|k| sys::mlirDenseI64ArrayGetElement(raw, k)).collect()
        } else if sys::mlirAttributeIsADenseI32Array(raw) {
            let n = sys::mlirDenseArrayGetNumElements(raw);
            (0..n).map(|k| sys::mlirDenseI32ArrayGetElement(raw, k).into()).collect()
        } else if sys::mlirAttributeIsADenseIntElements(raw) {
            let n = sys::mlirElementsAttrGetNumElements(raw);
            (0..n).map(|k| sys::mlirDenseElementsAttrGetInt32Value(raw, k as isize).into()).collect()
        } else if sys::mlirAttributeIsAArray(raw) {
            let n = sys::mlirArrayAttrGetNumElements(raw);
            let each = (0..n).map(|k| Attribute::from_raw(sys::mlirArrayAttrGetElement(raw, k)));
            each.map(integer).collect::<Option<_>>().unwrap_or_default()
        } else {
            Vec::new()
        }
    }
}

/// Whether an attribute is `unit`.
pub fn is_unit(attribute: Attribute) -> bool {
    unsafe { sys::mlirAttributeIsAUnit(attribute.to_raw()) }
}

/// An attribute made of booleans.
pub fn booleans(op: Op, name: &str) -> Vec<bool> {
    elements(op, name).into_iter().map(|a| unsafe { sys::mlirBoolAttrGetValue(a.to_raw()) }).collect()
}

/// The elements of an array attribute.
pub fn elements<'c>(op: Op<'c>, name: &str) -> Vec<Attribute<'c>> {
    let Some(attribute) = attribute(op, name) else { return Vec::new() };
    array(attribute)
}

/// The elements of an array attribute; none for any other.
pub fn array<'c>(attribute: Attribute<'c>) -> Vec<Attribute<'c>> {
    let raw = attribute.to_raw();
    unsafe {
        if !sys::mlirAttributeIsAArray(raw) {
            return Vec::new();
        }
        let n = sys::mlirArrayAttrGetNumElements(raw);
        (0..n).map(|k| Attribute::from_raw(sys::mlirArrayAttrGetElement(raw, k))).collect()
    }
}

/// A dictionary of these entries.
pub fn dictionary_attribute<'c>(context: &'c Context, entries: &[(Identifier<'c>, Attribute<'c>)]) -> Attribute<'c> {
    let entry =
        |(name, value): &(Identifier, Attribute)| unsafe { sys::mlirNamedAttributeGet(name.to_raw(), value.to_raw()) };
    let entries: Vec<_> = entries.iter().map(entry).collect();
    unsafe {
        let raw = sys::mlirDictionaryAttrGet(context.to_raw(), entries.len() as isize, entries.as_ptr());
        Attribute::from_raw(raw)
    }
}

/// The reassociation of a reshape: the dimensions of the longer shape, grouped by those of the shorter.
pub fn reassociation(op: Op) -> Vec<Vec<usize>> {
    let integer = |a: Attribute| unsafe { sys::mlirIntegerAttrGetValueInt(a.to_raw()) as usize };
    elements(op, "reassociation").into_iter().map(|g| array(g).into_iter().map(integer).collect()).collect()
}

/// The integer of an integer attribute.
pub fn integer(attribute: Attribute) -> Option<i64> {
    unsafe {
        sys::mlirAttributeIsAInteger(attribute.to_raw()).then(|| sys::mlirIntegerAttrGetValueInt(attribute.to_raw()))
    }
}

/// The affine map of an affine map attribute.
pub fn affine_map<'c>(attribute: Attribute<'c>) -> Option<AffineMap<'c>> {
    unsafe {
        sys::mlirAttributeIsAAffineMap(attribute.to_raw())
            .then(|| AffineMap::from_raw(sys::mlirAffineMapAttrGetValue(attribute.to_raw())))
    }
}

/// An attribute that holds an affine map.
pub fn affine_map_attribute<'c>(map: AffineMap<'c>) -> Attribute<'c> {
    unsafe { Attribute::from_raw(sys::mlirAffineMapAttrGet(map.to_raw())) }
}

/// The constraints of an integer set, each with whether it is an equality; none where one is not affine.
pub fn integer_set(attribute: Attribute) -> Option<Vec<(Expr, bool)>> {
    unsafe {
        if !sys::mlirAttributeIsAIntegerSet(attribute.to_raw()) {
            return None;
        }
        let set = sys::mlirIntegerSetAttrGetValue(attribute.to_raw());
        let dims = sys::mlirIntegerSetGetNumDims(set) as usize;
        let variables: Vec<Expr> = (0..sys::mlirIntegerSetGetNumInputs(set) as usize).map(Expr::Var).collect();
        let constraint = |k| {
            let e = AffineExpr::from_raw(sys::mlirIntegerSetGetConstraint(set, k));
            Some((affine::expr_of(e, dims, &variables)?, sys::mlirIntegerSetIsConstraintEq(set, k)))
        };
        (0..sys::mlirIntegerSetGetNumConstraints(set)).map(constraint).collect()
    }
}

/// The indexing maps of a structured operation, one for each operand; none for other operations.
pub fn indexing_maps<'c>(op: Op<'c>) -> Option<Vec<AffineMap<'c>>> {
    let raw = unsafe { sys::mlirLinalgGetIndexingMapsAttribute(op.to_raw()) };
    if raw.ptr.is_null() {
        return None;
    }
    array(unsafe { Attribute::from_raw(raw) }).into_iter().map(affine_map).collect()
}

/// A memref or ranked tensor type taken apart.
#[derive(Clone, Debug, PartialEq)]
pub struct Shaped<'c> {
    /// Sizes, [`DYNAMIC`] where known only at run time.
    pub shape: Vec<i64>,
    /// The type of an element.
    pub element: Type<'c>,
    /// A tensor's encoding, or a memref's layout unless it is the identity.
    pub layout: Option<Attribute<'c>>,
    /// A memref's memory space.
    pub space: Option<Attribute<'c>>,
}

fn shape_of(raw: sys::MlirType) -> Vec<i64> {
    unsafe { (0..sys::mlirShapedTypeGetRank(raw)).map(|k| sys::mlirShapedTypeGetDimSize(raw, k as isize)).collect() }
}

/// Takes a memref type apart.
pub fn memref<'c>(t: Type<'c>) -> Option<Shaped<'c>> {
    let raw = t.to_raw();
    unsafe {
        if !sys::mlirTypeIsAMemRef(raw) {
            return None;
        }
        let layout = Attribute::from_raw(sys::mlirMemRefTypeGetLayout(raw));
        let plain = affine_map(layout).is_some_and(|m| m.is_identity());
        Some(Shaped {
            shape: shape_of(raw),
            element: Type::from_raw(sys::mlirShapedTypeGetElementType(raw)),
            layout: (!plain).then_some(layout),
            space: Attribute::from_option_raw(sys::mlirMemRefTypeGetMemorySpace(raw)),
        })
    }
}

/// Takes a ranked tensor type apart.
pub fn tensor<'c>(t: Type<'c>) -> Option<Shaped<'c>> {
    let raw = t.to_raw();
    unsafe {
        if !sys::mlirTypeIsARankedTensor(raw) {
            return None;
        }
        Some(Shaped {
            shape: shape_of(raw),
            element: Type::from_raw(sys::mlirShapedTypeGetElementType(raw)),
            layout: Attribute::from_option_raw(sys::mlirRankedTensorTypeGetEncoding(raw)),
            space: None,
        })
    }
}

/// Takes a vector type of fixed length apart.
pub fn vector<'c>(t: Type<'c>) -> Option<Shaped<'c>> {
    let raw = t.to_raw();
    unsafe {
        if !sys::mlirTypeIsAVector(raw) || sys::mlirVectorTypeIsScalable(raw) {
            return None;
        }
        let element = Type::from_raw(sys::mlirShapedTypeGetElementType(raw));
        Some(Shaped { shape: shape_of(raw), element, layout: None, space: None })
    }
}

/// The memref type with these parts.
pub fn memref_type<'c>(location: Location<'c>, s: &Shaped<'c>) -> Option<Type<'c>> {
    let null = sys::MlirAttribute { ptr: std::ptr::null() };
    let raw = |a: Option<Attribute<'c>>| a.map_or(null, |a| a.to_raw());
    unsafe {
        let (rank, shape) = (s.shape.len() as isize, s.shape.as_ptr());
        Type::from_option_raw(match s.layout {
            None => sys::mlirMemRefTypeContiguousGetChecked(
                location.to_raw(),
                s.element.to_raw(),
                rank,
                shape,
                raw(s.space),
            ),
            Some(layout) => sys::mlirMemRefTypeGetChecked(
                location.to_raw(),
                s.element.to_raw(),
                rank,
                shape,
                layout.to_raw(),
                raw(s.space),
            ),
        })
    }
}

/// A vector type.
pub fn vector_type<'c>(shape: &[i64], element: Type<'c>) -> Type<'c> {
    unsafe { Type::from_raw(sys::mlirVectorTypeGet(shape.len() as isize, shape.as_ptr(), element.to_raw())) }
}

/// The constant of a shaped type whose elements are all zero bits.
pub fn zeros<'c>(t: Type<'c>) -> Attribute<'c> {
    let zeros = [0u8; 64];
    unsafe {
        let element = Type::from_raw(sys::mlirShapedTypeGetElementType(t.to_raw()));
        let zero = if sys::mlirTypeIsAFloat(element.to_raw()) {
            sys::mlirFloatAttrDoubleGet(sys::mlirTypeGetContext(t.to_raw()), element.to_raw(), 0.0)
        } else if bits(element).is_some() || sys::mlirTypeIsAIndex(element.to_raw()) {
            sys::mlirIntegerAttrGet(element.to_raw(), 0)
        } else {
            return Attribute::from_raw(sys::mlirDenseElementsAttrRawBufferGet(t.to_raw(), 16, zeros.as_ptr().cast()));
        };
        Attribute::from_raw(sys::mlirDenseElementsAttrSplatGet(t.to_raw(), zero))
    }
}

/// An attribute of 64-bit integers.
pub fn integers_attribute<'c>(context: &'c Context, values: &[i64]) -> Attribute<'c> {
    DenseI64ArrayAttribute::new(context, values).into()
}

/// Replaces all operands of an operation.
pub fn set_operands<'c>(op: Op<'c>, values: &[Val<'c>]) {
    edit(op).set_operands(values);
}

/// The ranked tensor type with these parts.
pub fn tensor_type<'c>(s: &Shaped<'c>) -> Type<'c> {
    let null = sys::MlirAttribute { ptr: std::ptr::null() };
    let encoding = s.layout.map_or(null, |a| a.to_raw());
    unsafe {
        let (rank, shape) = (s.shape.len() as isize, s.shape.as_ptr());
        Type::from_raw(sys::mlirRankedTensorTypeGet(rank, shape, s.element.to_raw(), encoding))
    }
}

/// The `strided<[..], offset: n>` attribute.
pub fn strided<'c>(location: Location<'c>, offset: i64, strides: &[i64]) -> Attribute<'c> {
    unsafe {
        Attribute::from_raw(sys::mlirStridedLayoutAttrGet(
            sys::mlirLocationGetContext(location.to_raw()),
            offset,
            strides.len() as isize,
            strides.as_ptr(),
        ))
    }
}

/// The strides of a `strided` attribute.
pub fn strides_of(attribute: Attribute) -> Option<Vec<i64>> {
    let raw = attribute.to_raw();
    unsafe {
        sys::mlirAttributeIsAStridedLayout(raw).then(|| {
            let n = sys::mlirStridedLayoutAttrGetNumStrides(raw);
            (0..n).map(|k| sys::mlirStridedLayoutAttrGetStride(raw, k)).collect()
        })
    }
}

/// The offset of a memref type with a `strided` layout.
pub fn offset_of(t: &Shaped) -> Option<i64> {
    let raw = t.layout?.to_raw();
    unsafe { sys::mlirAttributeIsAStridedLayout(raw).then(|| sys::mlirStridedLayoutAttrGetOffset(raw)) }
}

/// A function type.
pub fn function_type<'c>(of: Type<'c>, inputs: &[Type<'c>], results: &[Type<'c>]) -> Type<'c> {
    let raw = |types: &[Type<'c>]| types.iter().map(|t| t.to_raw()).collect::<Vec<_>>();
    let (inputs, results) = (raw(inputs), raw(results));
    unsafe {
        Type::from_raw(sys::mlirFunctionTypeGet(
            sys::mlirTypeGetContext(of.to_raw()),
            inputs.len() as isize,
            inputs.as_ptr(),
            results.len() as isize,
            results.as_ptr(),
        ))
    }
}

/// A function type taken apart: inputs and results.
pub fn function<'c>(t: Type<'c>) -> Option<(Vec<Type<'c>>, Vec<Type<'c>>)> {
    let raw = t.to_raw();
    unsafe {
        sys::mlirTypeIsAFunction(raw).then(|| {
            let inputs = sys::mlirFunctionTypeGetNumInputs(raw);
            let results = sys::mlirFunctionTypeGetNumResults(raw);
            (
                (0..inputs).map(|k| Type::from_raw(sys::mlirFunctionTypeGetInput(raw, k))).collect(),
                (0..results).map(|k| Type::from_raw(sys::mlirFunctionTypeGetResult(raw, k))).collect(),
            )
        })
    }
}

/// The type in a type attribute.
pub fn type_in(attribute: Attribute) -> Option<Type> {
    TypeAttribute::try_from(attribute).ok().map(|t| t.value())
}

/// The bits of an integer or floating-point type.
pub fn bits(t: Type) -> Option<i64> {
    let raw = t.to_raw();
    unsafe {
        if sys::mlirTypeIsAInteger(raw) {
            Some(sys::mlirIntegerTypeGetWidth(raw).into())
        } else if sys::mlirTypeIsAFloat(raw) {
            Some(sys::mlirFloatTypeGetWidth(raw).into())
        } else {
            None
        }
    }
}

/// The elements of a constant, each as an attribute; none where the data are not in the module (resources).
pub struct Constant<'c> {
    /// All elements alike.
    pub splat: bool,
    raw: sys::MlirAttribute,
    element: Type<'c>,
}

/// Looks into a constant of dense elements.
pub fn constant<'c>(attribute: Attribute<'c>) -> Option<Constant<'c>> {
    let raw = attribute.to_raw();
    unsafe {
        if !sys::mlirAttributeIsADenseElements(raw) {
            return None;
        }
        let shaped = sys::mlirAttributeGetType(raw);
        let element = Type::from_raw(sys::mlirShapedTypeGetElementType(shaped));
        Some(Constant { splat: sys::mlirDenseElementsAttrIsSplat(raw), raw, element })
    }
}

impl<'c> Constant<'c> {
    /// The same data with another type that has as many elements.
    pub fn reshaped(&self, t: Type<'c>) -> Attribute<'c> {
        unsafe { Attribute::from_raw(sys::mlirDenseElementsAttrReshapeGet(self.raw, t.to_raw())) }
    }

    /// A constant all of whose elements are this splat's, of any shape.
    pub fn resplat(&self, t: Type<'c>) -> Attribute<'c> {
        unsafe {
            let value = sys::mlirDenseElementsAttrGetSplatValue(self.raw);
            Attribute::from_raw(sys::mlirDenseElementsAttrSplatGet(t.to_raw(), value))
        }
    }

    /// The data in another order: element `k` of the result is element `source[k]`, or zero where there is none.
    pub fn gathered(&self, t: Type<'c>, source: &[Option<usize>]) -> Option<Attribute<'c>> {
        unsafe {
            let raw = self.element.to_raw();
            if sys::mlirTypeIsAInteger(raw) && sys::mlirIntegerTypeGetWidth(raw) == 1 {
                // Booleans are packed in memory; go through the accessors.
                let get = |k: &Option<usize>| {
                    k.is_some_and(|k| sys::mlirDenseElementsAttrGetBoolValue(self.raw, k as isize)).into()
                };
                let values: Vec<i32> = source.iter().map(get).collect();
                let made = sys::mlirDenseElementsAttrBoolGet(t.to_raw(), values.len() as isize, values.as_ptr());
                return Attribute::from_option_raw(made);
            }
            let bytes = if sys::mlirTypeIsAIndex(raw) {
                8
            } else if sys::mlirTypeIsAComplex(raw) {
                let part = Type::from_raw(sys::mlirComplexTypeGetElementType(raw));
                2 * (bits(part)? as usize).div_ceil(8)
            } else {
                (bits(self.element)? as usize).div_ceil(8)
            };
            let data = sys::mlirDenseElementsAttrGetRawData(self.raw).cast::<u8>();
            let mut buffer = vec![0u8; source.len() * bytes];
            for (slot, from) in buffer.chunks_exact_mut(bytes).zip(source) {
                if let Some(k) = from {
                    std::ptr::copy_nonoverlapping(data.add(k * bytes), slot.as_mut_ptr(), bytes);
                }
            }
            let made = sys::mlirDenseElementsAttrRawBufferGet(t.to_raw(), buffer.len(), buffer.as_ptr().cast());
            Attribute::from_option_raw(made)
        }
    }
}

/// The same expression with no negative coefficient under a remainder: `(i - k) mod 3` is `(i + 2*k) mod 3`.
///
/// MLIR 22's canonicalizer takes the remainder of a sum's lower bound for the lower bound of its remainder, which is
/// wrong below zero: with `i` in `[0, 2]` and `k` in `[0, 3]` it folds `((i - 2*k) mod 5) floordiv 4` to 1.
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

/// A sum that is the same modulo `m`: as it is, or with all factors and constants in `0..m` if one was negative.
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

/// Makes operations in front of one that is there already, at its location.
#[derive(Clone, Copy)]
pub struct Builder<'c> {
    context: ContextRef<'c>,
    /// New operations come in front of this one.
    pub before: Op<'c>,
    /// The location of new operations.
    pub location: Location<'c>,
}

impl<'c> Builder<'c> {
    /// Inserts in front of `op` at its location.
    pub fn before(op: Op<'c>) -> Builder<'c> {
        Builder {
            context: unsafe { ContextRef::from_raw(sys::mlirOperationGetContext(op.to_raw())) },
            before: op,
            location: location(op),
        }
    }

    /// The context of everything made.
    pub fn context(&self) -> &'c Context {
        borrowed(&self.context)
    }

    /// The same with the location of an operation.
    pub fn located(self, op: Op<'c>) -> Builder<'c> {
        Builder { location: location(op), ..self }
    }

    /// The same in another place.
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

    /// How many operands each group of an operation's operands has.
    pub fn segments(&self, counts: &[i32]) -> (Identifier<'c>, Attribute<'c>) {
        self.named("operandSegmentSizes", DenseI32ArrayAttribute::new(self.context(), counts))
    }

    /// Puts an operation in front.
    pub fn insert(&self, op: Operation<'c>) -> Op<'c> {
        unsafe {
            let raw = op.into_raw();
            let block = sys::mlirOperationGetBlock(self.before.to_raw());
            sys::mlirBlockInsertOwnedOperationBefore(block, self.before.to_raw(), raw);
            OperationRef::from_raw(raw)
        }
    }

    /// A `memref.reinterpret_cast` to offset 0 and these sizes and strides, with values for those that are
    /// [`DYNAMIC`].
    pub fn reinterpret(
        &self,
        from: Val<'c>,
        to: Type<'c>,
        sizes: &[i64],
        size_values: &[Val<'c>],
        strides: &[i64],
        stride_values: &[Val<'c>],
    ) -> Val<'c> {
        let integers = |v: &[i64]| DenseI64ArrayAttribute::new(self.context(), v);
        let attributes = [
            self.named("static_offsets", integers(&[0])),
            self.named("static_sizes", integers(sizes)),
            self.named("static_strides", integers(strides)),
            self.segments(&[1, 0, size_values.len() as i32, stride_values.len() as i32]),
        ];
        let operands: Vec<_> = [from].into_iter().chain(size_values.iter().chain(stride_values).copied()).collect();
        self.value("memref.reinterpret_cast", &operands, to, &attributes)
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
        self::result(self.op(name, operands, &[result], attributes), 0)
    }

    /// An `arith.constant`.
    pub fn constant(&self, value: Attribute<'c>) -> Val<'c> {
        let t = unsafe { Type::from_raw(sys::mlirAttributeGetType(value.to_raw())) };
        self.value("arith.constant", &[], t, &[self.named("value", value)])
    }

    /// An `arith.constant` of type index.
    pub fn index(&self, value: i64) -> Val<'c> {
        let t = Type::index(self.context());
        let raw = unsafe { Attribute::from_raw(sys::mlirIntegerAttrGet(t.to_raw(), value)) };
        self.constant(raw)
    }

    /// An integer attribute of type index.
    pub fn index_attribute(&self, value: i64) -> Attribute<'c> {
        unsafe { Attribute::from_raw(sys::mlirIntegerAttrGet(Type::index(self.context()).to_raw(), value)) }
    }

    /// An expression that has no minimum and no maximum as an affine one.
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
    pub fn integer_set(
        &self,
        dims: usize,
        constraints: &[(Expr, bool)],
        position: &dyn Fn(usize) -> usize,
    ) -> Attribute<'c> {
        let dim = |v| AffineExpr::dim(self.context(), position(v));
        let exprs: Vec<_> = constraints.iter().map(|c| self.affine(&c.0, &dim).to_raw()).collect();
        let equalities: Vec<bool> = constraints.iter().map(|c| c.1).collect();
        unsafe {
            let context = sys::mlirOperationGetContext(self.before.to_raw());
            let (count, dims) = (exprs.len() as isize, dims as isize);
            let set = sys::mlirIntegerSetGet(context, dims, 0, count, exprs.as_ptr(), equalities.as_ptr());
            Attribute::from_raw(sys::mlirIntegerSetAttrGet(set))
        }
    }

    /// A named operation of the linalg dialect on tensors, with the body that its definition says.
    pub fn named_structured(&self, name: &str, operands: &[Val<'c>], segments: &[i32], result: Type<'c>) -> Op<'c> {
        let builder = OperationBuilder::new(name, self.location).add_operands(operands).add_results(&[result]);
        let op = builder.add_attributes(&[self.segments(segments)]).add_regions([Region::new()]);
        let op = self.insert(op.build().expect("all parts are given"));
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

    /// An `scf.forall` over these extents, each loop mapped as the attribute beside it says; also returns its terminator.
    pub fn forall(&self, extents: &[i64], mapping: &[Attribute<'c>]) -> (Op<'c>, Op<'c>) {
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
            self.named("staticUpperBound", integers(extents)),
            self.named("staticStep", integers(&vec![1; extents.len()])),
            self.named("mapping", ArrayAttribute::new(self.context(), mapping)),
            self.segments(&[0, 0, 0, 0]),
        ];
        let op = OperationBuilder::new("scf.forall", self.location).add_attributes(&attributes).add_regions([region]);
        let op = self.insert(op.build().expect("all parts are given"));
        let end = operations(blocks(op)[0]).pop().expect("the block has its terminator");
        (op, end)
    }

    /// The part of a buffer with these strides at an index in its first dimensions: a view of all the others.
    pub fn part(&self, of: Val<'c>, strides: &[i64], at: &[Val<'c>]) -> Val<'c> {
        let whole = memref(of.r#type()).expect("a buffer");
        let (fixed, rest) = (at.len(), &whole.shape[at.len()..]);
        let layout = Some(strided(self.location, DYNAMIC, &strides[fixed..]));
        let part = memref_type(self.location, &Shaped { shape: rest.to_vec(), layout, ..whole.clone() });
        let integers = |v: Vec<i64>| DenseI64ArrayAttribute::new(self.context(), &v);
        let padded =
            |first: i64, others: &[i64]| vec![first; fixed].into_iter().chain(others.iter().copied()).collect();
        let attributes = [
            self.named("static_offsets", integers(padded(DYNAMIC, &vec![0; rest.len()]))),
            self.named("static_sizes", integers(padded(1, rest))),
            self.named("static_strides", integers(vec![1; whole.shape.len()])),
            self.segments(&[1, fixed as i32, 0, 0]),
        ];
        let operands: Vec<_> = [of].into_iter().chain(at.iter().copied()).collect();
        self.value("memref.subview", &operands, part.expect("part of a memref is one"), &attributes)
    }

    /// An operation with one region of one block, whose terminator is given; also returns the terminator.
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

/// All attributes of an operation, with their names.
pub fn attributes<'c>(op: Op<'c>) -> Vec<(String, Attribute<'c>)> {
    op.attributes().map(|(name, a)| (name.as_string_ref().as_str().unwrap_or_default().to_owned(), a)).collect()
}

/// The text of a string attribute.
pub fn text<'c>(attribute: Attribute<'c>) -> Option<&'c str> {
    melior::ir::attribute::StringAttribute::try_from(attribute).ok().map(|a| a.value())
}

/// The entries of a dictionary attribute.
pub fn entries<'c>(attribute: Attribute<'c>) -> Vec<(String, Attribute<'c>)> {
    let raw = attribute.to_raw();
    unsafe {
        if !sys::mlirAttributeIsADictionary(raw) {
            return Vec::new();
        }
        let entry = |k| {
            let e = sys::mlirDictionaryAttrGetElement(raw, k);
            let name = Identifier::from_raw(e.name);
            (name.as_string_ref().as_str().unwrap_or_default().to_owned(), Attribute::from_raw(e.attribute))
        };
        (0..sys::mlirDictionaryAttrGetNumElements(raw)).map(entry).collect()
    }
}

/// The context of a location.
pub fn location_context<'c>(location: Location<'c>) -> ContextRef<'c> {
    unsafe { ContextRef::from_raw(sys::mlirLocationGetContext(location.to_raw())) }
}
