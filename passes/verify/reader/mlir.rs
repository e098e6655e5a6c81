//! Attributes and types of MLIR as plain data.

use crate::reader::model::{Axes, Element, Expr, Kind, Place, Size, Slot, Type};
use crate::reader::places;
use melior::ir::attribute::AttributeLike;
use melior::ir::operation::OperationLike;
use melior::ir::{
    AffineExpr, AffineMap, Attribute, BlockRef, Location, OperationRef, Type as MlirType, TypeLike, Value,
};
use mlir_sys as sys;
use rustc_hash::FxHashSet;
use std::collections::BTreeSet;
use std::ffi::c_void;
use std::sync::OnceLock;

/// An operation of the module that is read.
pub type Op<'c> = OperationRef<'c, 'c>;

/// The value of a dynamic size in MLIR's arrays of sizes.
pub const DYNAMIC: i64 = i64::MIN;

/// The operation's name.
pub fn name(op: Op) -> String {
    op.name().as_string_ref().as_str().unwrap_or_default().to_owned()
}

/// Whether an operation of this name ends a block in a way that is known.
pub fn ends_block(name: &str) -> bool {
    let known = ["func.return", "cf.br", "cf.cond_br", "scf.forall.in_parallel", "scf.condition", "scf.reduce"];
    known.contains(&name) || name.ends_with(".yield")
}

/// An attribute that the operation's definition has: anyone may add others, which say nothing of what it does.
pub fn attribute<'c>(op: Op<'c>, name: &str) -> Option<Attribute<'c>> {
    let name = melior::StringRef::new(name).to_raw();
    // SAFETY: the operation is alive, and the name outlives the calls; an attribute that is not there is null. Of an operation
    // whose definition has none, the first reader gives what the second one does.
    unsafe {
        let other = Attribute::from_option_raw(sys::mlirOperationGetDiscardableAttributeByName(op.to_raw(), name));
        let own = Attribute::from_option_raw(sys::mlirOperationGetInherentAttributeByName(op.to_raw(), name));
        own.filter(|_| other.is_none())
    }
}

/// The integer of an integer attribute.
pub fn integer(attribute: Attribute) -> Option<i64> {
    // SAFETY: the attribute is alive, and read as an integer only if it is one.
    unsafe {
        sys::mlirAttributeIsAInteger(attribute.to_raw()).then(|| sys::mlirIntegerAttrGetValueInt(attribute.to_raw()))
    }
}

/// The text of a string attribute or of a symbol.
pub fn text(attribute: Attribute) -> Option<String> {
    let raw = attribute.to_raw();
    // SAFETY: the attribute is alive, and read as what it is; the text lives as long as the context.
    let string = unsafe {
        let string = match (sys::mlirAttributeIsAString(raw), sys::mlirAttributeIsAFlatSymbolRef(raw)) {
            (true, _) => sys::mlirStringAttrGetValue(raw),
            (_, true) => sys::mlirFlatSymbolRefAttrGetValue(raw),
            _ => return None,
        };
        std::slice::from_raw_parts(string.data.cast::<u8>(), string.length)
    };
    String::from_utf8(string.to_vec()).ok()
}

/// The elements of an array attribute.
pub fn array<'c>(attribute: Attribute<'c>) -> Option<Vec<Attribute<'c>>> {
    let raw = attribute.to_raw();
    // SAFETY: the attribute is alive, and an array; elements are read below their count.
    unsafe {
        sys::mlirAttributeIsAArray(raw).then(|| {
            (0..sys::mlirArrayAttrGetNumElements(raw))
                .map(|k| Attribute::from_raw(sys::mlirArrayAttrGetElement(raw, k)))
                .collect()
        })
    }
}

/// An entry of a dictionary attribute.
pub fn entry<'c>(attribute: Attribute<'c>, name: &str) -> Option<Attribute<'c>> {
    let raw = attribute.to_raw();
    let name = sys::MlirStringRef { data: name.as_ptr().cast(), length: name.len() };
    // SAFETY: the attribute is alive, and a dictionary; the name outlives the call. What it does not have is null.
    unsafe {
        let found = sys::mlirAttributeIsADictionary(raw).then(|| sys::mlirDictionaryAttrGetElementByName(raw, name))?;
        (!found.ptr.is_null()).then(|| Attribute::from_raw(found))
    }
}

/// The entries of a dictionary attribute, each as `name = value`.
pub fn entries(attribute: Attribute) -> Vec<String> {
    let raw = attribute.to_raw();
    // SAFETY: the attribute is alive, and a dictionary; entries are read below their count, and names live as the context.
    unsafe {
        let count = sys::mlirAttributeIsADictionary(raw).then(|| sys::mlirDictionaryAttrGetNumElements(raw));
        let entry = |k| {
            let named = sys::mlirDictionaryAttrGetElement(raw, k);
            let name = melior::StringRef::from_raw(sys::mlirIdentifierStr(named.name));
            format!("{} = {}", name.as_str().unwrap_or_default(), Attribute::from_raw(named.attribute))
        };
        (0..count.unwrap_or(0)).map(entry).collect()
    }
}

/// The integers of an attribute that lists them; none where it is missing.
pub fn integers(op: Op, name: &str) -> Option<Vec<i64>> {
    listed(attribute(op, name)?)
}

/// The integers that an attribute lists.
pub fn listed(attribute: Attribute) -> Option<Vec<i64>> {
    let raw = attribute.to_raw();
    // SAFETY: the attribute is alive, and elements are read below their count, by the reader of the kind it is of.
    unsafe {
        if sys::mlirAttributeIsADenseI64Array(raw) {
            return Some(
                (0..sys::mlirDenseArrayGetNumElements(raw)).map(|k| sys::mlirDenseI64ArrayGetElement(raw, k)).collect(),
            );
        }
        if sys::mlirAttributeIsADenseI32Array(raw) {
            let element = |k| sys::mlirDenseI32ArrayGetElement(raw, k).into();
            return Some((0..sys::mlirDenseArrayGetNumElements(raw)).map(element).collect());
        }
    }
    array(attribute)?.into_iter().map(|element| integer(element).or_else(|| boolean(element))).collect()
}

fn boolean(attribute: Attribute) -> Option<i64> {
    let raw = attribute.to_raw();
    // SAFETY: the attribute is alive, and read as a boolean only if it is one.
    unsafe { sys::mlirAttributeIsABool(raw).then(|| sys::mlirBoolAttrGetValue(raw).into()) }
}

/// The results of the affine map of an attribute.
pub fn map(attribute: Attribute) -> Option<Vec<Expr>> {
    let raw = attribute.to_raw();
    // SAFETY: the attribute is alive, and read as a map only if it is one.
    let map = unsafe {
        if !sys::mlirAttributeIsAAffineMap(raw) {
            return None;
        }
        AffineMap::from_raw(sys::mlirAffineMapAttrGetValue(raw))
    };
    (0..map.result_count()).map(|k| expr(map.result(k).ok()?, map.dim_count())).collect()
}

/// The constraints of the integer set of an attribute, each with whether it is an equality.
pub fn set(attribute: Attribute) -> Option<Vec<(Expr, bool)>> {
    let raw = attribute.to_raw();
    // SAFETY: the attribute is alive, and read as a set only if it is one; constraints are read below their count.
    unsafe {
        if !sys::mlirAttributeIsAIntegerSet(raw) {
            return None;
        }
        let set = sys::mlirIntegerSetAttrGetValue(raw);
        let dims = sys::mlirIntegerSetGetNumDims(set) as usize;
        let constraint = |k| {
            let constraint = AffineExpr::from_raw(sys::mlirIntegerSetGetConstraint(set, k));
            Some((expr(constraint, dims)?, sys::mlirIntegerSetIsConstraintEq(set, k)))
        };
        (0..sys::mlirIntegerSetGetNumConstraints(set)).map(constraint).collect()
    }
}

fn expr(e: AffineExpr, dims: usize) -> Option<Expr> {
    if e.is_dim() {
        return Some(Expr::Operand(e.dim_position() as u32));
    }
    if e.is_symbol() {
        return Some(Expr::Operand((dims + e.symbol_position()) as u32));
    }
    if e.is_constant() {
        return Some(Expr::Constant(e.constant_value()));
    }
    let sides = Box::new((expr(e.lhs(), dims)?, expr(e.rhs(), dims)?));
    match (e.is_add(), e.is_mul(), e.is_mod(), e.is_floor_div()) {
        (true, ..) => Some(Expr::Add(sides)),
        (_, true, ..) => Some(Expr::Mul(sides)),
        (_, _, true, _) => Some(Expr::Mod(sides)),
        (.., true) => Some(Expr::FloorDiv(sides)),
        _ => e.is_ceil_div().then_some(Expr::CeilDiv(sides)),
    }
}

/// The maps of a structured operation of linalg, one for each operand.
pub fn indexing_maps(op: Op) -> Option<Vec<Vec<Expr>>> {
    // SAFETY: the operation is alive; the attribute is null where it is no structured operation.
    let maps = unsafe { Attribute::from_option_raw(sys::mlirLinalgGetIndexingMapsAttribute(op.to_raw())) }?;
    array(maps)?.into_iter().map(map).collect()
}

/// Reads the bytes of a `dense_resource`, which MLIR's C API does not; `None` where the module has none of its name.
pub type ReadResource = for<'c> fn(Attribute<'c>) -> Option<&'c [u8]>;

/// The reader of resources, where there is one.
pub static READ_RESOURCE: OnceLock<ReadResource> = OnceLock::new();

/// The elements of a `dense_resource` as bits, each in whole bytes; `None` where the data are other ones.
fn resource_items(attribute: Attribute, element: &Element) -> Option<Vec<u64>> {
    let data = READ_RESOURCE.get().and_then(|read| read(attribute))?;
    // SAFETY: the attribute has a resource, so that it has elements.
    let count = usize::try_from(unsafe { sys::mlirElementsAttrGetNumElements(attribute.to_raw()) }).ok()?;
    let width = element.bits.div_ceil(8) as usize;
    (width <= 8 && count.checked_mul(width) == Some(data.len())).then(|| numbers(data, width))
}

/// Numbers of so many bytes, the lowest first.
fn numbers(data: &[u8], width: usize) -> Vec<u64> {
    data.chunks(width).map(|bytes| bytes.iter().rev().fold(0, |n, byte| n << 8 | u64::from(*byte))).collect()
}

/// The elements of a constant as bits, or one where all are equal; none for elements of more than 64 bits.
pub fn items(attribute: Attribute, element: &Element) -> Option<Vec<u64>> {
    let mut raw = attribute.to_raw();
    // SAFETY: the attribute is alive. A number is made the one element of a tensor, whose reader then serves all. Raw data
    // has one element after the other in whole bytes, of a splat only one; booleans have a reader of their own.
    unsafe {
        let number =
            sys::mlirAttributeIsAInteger(raw) || sys::mlirAttributeIsAFloat(raw) || sys::mlirAttributeIsABool(raw);
        if number {
            let none = sys::MlirAttribute { ptr: std::ptr::null_mut() };
            let shape = sys::mlirRankedTensorTypeGet(0, std::ptr::null(), sys::mlirAttributeGetType(raw), none);
            raw = sys::mlirDenseElementsAttrSplatGet(shape, raw);
        }
        if !sys::mlirAttributeIsADenseElements(raw) {
            return resource_items(attribute, element);
        }
        let splat = sys::mlirDenseElementsAttrIsSplat(raw);
        let count = if splat { 1 } else { usize::try_from(sys::mlirElementsAttrGetNumElements(raw)).ok()? };
        if element.text == "i1" {
            let at = |k| u64::from(sys::mlirDenseElementsAttrGetBoolValue(raw, k as isize));
            return Some((0..count).map(at).collect());
        }
        let width = element.bits.div_ceil(8) as usize;
        // An integer of no bits has no address either.
        if !(1..=8).contains(&width) {
            return None;
        }
        // Of no elements there is no address.
        if count == 0 {
            return Some(vec![]);
        }
        let data = sys::mlirDenseElementsAttrGetRawData(raw).cast::<u8>();
        Some(numbers(std::slice::from_raw_parts(data, count * width), width))
    }
}

/// The element that a type is.
pub fn element(r#type: MlirType) -> Option<Element> {
    let raw = r#type.to_raw();
    // SAFETY: the type is alive, and its width is read as what it is.
    let bits = unsafe {
        if sys::mlirTypeIsAIndex(raw) {
            64
        } else if sys::mlirTypeIsAInteger(raw) {
            sys::mlirIntegerTypeGetWidth(raw)
        } else if sys::mlirTypeIsAFloat(raw) {
            sys::mlirFloatTypeGetWidth(raw)
        } else if sys::mlirTypeIsAComplex(raw) {
            let part = element(MlirType::from_raw(sys::mlirComplexTypeGetElementType(raw)))?;
            part.bits.checked_mul(2)?
        } else {
            return None;
        }
    };
    Some(Element::new(r#type.to_string(), bits))
}

/// A type as data.
pub fn r#type(from: MlirType) -> Type {
    element(from).map(Type::Scalar).or_else(|| shaped(from)).unwrap_or_else(|| Type::Other(from.to_string()))
}

fn shaped(from: MlirType) -> Option<Type> {
    let raw = from.to_raw();
    // SAFETY: the type is alive, and read as what it is; sizes are read below the rank, and the array of strides has room
    // for one of each dimension.
    unsafe {
        let kind = match (sys::mlirTypeIsARankedTensor(raw), sys::mlirTypeIsAVector(raw), sys::mlirTypeIsAMemRef(raw)) {
            (true, ..) => Kind::Tensor,
            (_, true, _) => Kind::Vector,
            (.., true) => Kind::MemRef,
            _ => return None,
        };
        if kind == Kind::Vector && sys::mlirVectorTypeIsScalable(raw) {
            return None;
        }
        let element = element(MlirType::from_raw(sys::mlirShapedTypeGetElementType(raw)))?;
        let rank = sys::mlirShapedTypeGetRank(raw) as usize;
        let size = |d| Some(sys::mlirShapedTypeGetDimSize(raw, d as isize)).filter(|n| *n != DYNAMIC);
        let sizes = (0..rank).map(size).collect();
        let space = match kind {
            Kind::Vector => None,
            Kind::Tensor => Attribute::from_option_raw(sys::mlirRankedTensorTypeGetEncoding(raw)),
            Kind::MemRef => Attribute::from_option_raw(sys::mlirMemRefTypeGetMemorySpace(raw)),
        };
        // An encoding that is no layout is dropped, or becomes a memory space.
        let is_layout = if kind == Kind::Tensor { LAYOUT } else { PENDING };
        let (pending, space) = match space.map(|space| space.to_string()) {
            Some(text) if text.starts_with(is_layout) => (Some(pending(&text)), None),
            space => (None, space),
        };
        let place = match kind {
            Kind::Vector | Kind::Tensor => Place::RowMajor(pending),
            Kind::MemRef => {
                let layout = Attribute::from_raw(sys::mlirMemRefTypeGetLayout(raw)).to_string();
                let (mut strides, mut offset) = (vec![0; rank], 0);
                if layout.starts_with(LAYOUT) {
                    Place::Layout(layout)
                } else if sys::mlirMemRefTypeGetStridesAndOffset(raw, strides.as_mut_ptr(), &mut offset).value == 0 {
                    return None;
                } else {
                    let known = |n: i64| Some(n).filter(|n| *n != DYNAMIC);
                    let strides = strides.into_iter().map(known).collect();
                    match sys::mlirAffineMapIsIdentity(sys::mlirMemRefTypeGetAffineMap(raw)) {
                        true => Place::RowMajor(pending),
                        false => Place::Strided { offset: known(offset), strides, pending },
                    }
                }
            }
        };
        Some(Type::Shaped { kind, element, sizes, place, space })
    }
}

const LAYOUT: &str = "#layout.";
const PENDING: &str = "#layout.pending<";

/// The layout inside of `#layout.pending`.
fn pending(layout: &str) -> String {
    let inner = layout.strip_prefix(PENDING).and_then(|layout| layout.strip_suffix('>'));
    inner.unwrap_or(layout).to_owned()
}

/// The identity of a value.
pub fn key(value: Value) -> usize {
    use melior::ir::ValueLike;
    value.to_raw().ptr as usize
}

/// Prints operations of a module, whose values are numbered once for all of them. MLIR verifies and numbers all of the module
/// to print an operation by itself.
pub struct Printer<'c> {
    state: sys::MlirAsmState,
    /// The module does not change while its numbers are in use.
    _module: Op<'c>,
}

impl<'c> Printer<'c> {
    pub fn new(module: Op<'c>) -> Printer<'c> {
        // SAFETY: the module is alive, and the state has a copy of the flags.
        let state = unsafe {
            let flags = sys::mlirOpPrintingFlagsCreate();
            let state = sys::mlirAsmStateCreateForOperation(module.to_raw(), flags);
            sys::mlirOpPrintingFlagsDestroy(flags);
            state
        };
        Printer { state, _module: module }
    }

    /// The text of an operation of the module.
    pub fn text(&self, op: Op<'c>) -> String {
        unsafe extern "C" fn add(part: sys::MlirStringRef, text: *mut c_void) {
            // SAFETY: `text` is the vector below, and MLIR gives a part of the text.
            unsafe { (*text.cast::<Vec<u8>>()).extend(std::slice::from_raw_parts(part.data.cast::<u8>(), part.length)) }
        }
        let mut text: Vec<u8> = Vec::new();
        // SAFETY: the operation is alive and in the module of the state, and the callback takes the vector.
        unsafe { sys::mlirOperationPrintWithState(op.to_raw(), self.state, Some(add), (&raw mut text).cast()) };
        String::from_utf8_lossy(&text).into_owned()
    }
}

impl Drop for Printer<'_> {
    fn drop(&mut self) {
        // SAFETY: the state is alive, and used by nothing else.
        unsafe { sys::mlirAsmStateDestroy(self.state) }
    }
}

/// The symbols that a text of MLIR may name.
pub fn symbols(text: &str) -> impl Iterator<Item = String> {
    text.split('@').skip(1).map(|rest| match rest.strip_prefix('"') {
        Some(quoted) => quoted.split('"').next().unwrap_or_default().to_owned(),
        None => rest.chars().take_while(|c| c.is_alphanumeric() || "_$.-".contains(*c)).collect(),
    })
}

/// Adds the symbols that an operation names and those inside of it do. To print it would take as long as to print all of its function.
pub fn add_named(op: Op, names: &mut BTreeSet<String>) {
    for (_, value) in op.attributes() {
        names.extend(symbols(&value.to_string()));
    }
    let inside = (0..op.region_count()).flat_map(|k| blocks(op, k)).flat_map(operations);
    inside.for_each(|op| add_named(op, names));
}

/// The text of an operation without an attribute, on it and on those inside of it.
pub fn text_without(op: Op, name: &str) -> String {
    let copy = (*op).clone();
    let mut left = vec![borrowed(&copy)];
    while let Some(op) = left.pop() {
        let name = sys::MlirStringRef { data: name.as_ptr().cast(), length: name.len() };
        // SAFETY: the operation is alive, nobody else has the copy, and the name outlives the call.
        unsafe { sys::mlirOperationRemoveAttributeByName(op.to_raw(), name) };
        left.extend((0..op.region_count()).flat_map(|k| blocks(op, k)).flat_map(operations));
    }
    copy.to_string()
}

/// The blocks of a region of an operation.
pub fn blocks<'c>(op: Op<'c>, region: usize) -> Vec<BlockRef<'c, 'c>> {
    use melior::ir::{RegionLike, block::BlockLike};
    let region = op.regions().nth(region);
    let mut next = region.and_then(|region| region.first_block());
    let mut all = Vec::new();
    while let Some(block) = next {
        // SAFETY: the block lives as long as its operation, for `'c`.
        all.push(unsafe { BlockRef::from_raw(block.to_raw()) });
        next = block.next_in_region();
    }
    all
}

/// The operations of a block.
pub fn operations<'c>(block: BlockRef<'c, 'c>) -> Vec<Op<'c>> {
    use melior::ir::block::BlockLike;
    let mut next = block.first_operation();
    let mut all = Vec::new();
    while let Some(op) = next {
        // SAFETY: the operation lives as long as its block, for `'c`.
        all.push(unsafe { OperationRef::from_raw(op.to_raw()) });
        next = op.next_in_block();
    }
    all
}

/// The axes that TensorLayouts of a module run over: those of the machine that it names, else as far as its layouts reach, in the
/// order in which they appear.
pub fn axes(module: Op) -> Axes {
    let machine = module.attribute("layout.machine").ok().map(|machine| machine.to_string());
    if let Some(text) = machine.as_ref().and_then(|text| Some(text.split_once("axes: (")?.1.split_once(')')?.0)) {
        // `4x2_L2B` are four groups of two.
        let places = |n: &str| n.split('x').try_fold(1_i64, |all, n| all.checked_mul(n.parse().ok()?));
        let axis = |text: &str| text.split_once('_').and_then(|(n, name)| Some((name.to_owned(), places(n)?)));
        return text.split(", ").filter_map(axis).collect();
    }
    let (mut axes, mut seen) = (Axes::new(), FxHashSet::default());
    add_axes(module, &mut axes, &mut seen);
    axes
}

/// Adds the axes of types of an operation and of those inside: results, arguments of blocks, and types that it names.
fn add_axes(op: Op, axes: &mut Axes, seen: &mut FxHashSet<usize>) {
    use melior::ir::{ValueLike, block::BlockLike};
    let inside: Vec<BlockRef> = (0..op.region_count()).flat_map(|k| blocks(op, k)).collect();
    let arguments = inside.iter().flat_map(|b| (0..b.argument_count()).filter_map(|k| b.argument(k).ok()));
    let types = op.results().map(|v| v.r#type()).chain(arguments.map(|v| v.r#type()));
    for of in types.filter(|of| seen.insert(of.to_raw().ptr as usize)) {
        places::add_axes(axes, &r#type(of));
    }
    for named in ["function_type", "type"].into_iter().filter_map(|name| attribute(op, name)) {
        let (inputs, results) = signature(named).unwrap_or_default();
        inputs.iter().chain(&results).chain(&type_of(named)).for_each(|of| places::add_axes(axes, of));
    }
    inside.into_iter().flat_map(operations).for_each(|op| add_axes(op, axes, seen));
}

/// The type of a type attribute.
pub fn type_of(attribute: Attribute) -> Option<Type> {
    let raw = attribute.to_raw();
    // SAFETY: the attribute is alive, and read as a type only if it is one.
    unsafe { sys::mlirAttributeIsAType(raw).then(|| r#type(MlirType::from_raw(sys::mlirTypeAttrGetValue(raw)))) }
}

/// The types of the arguments and results of a function, from the attribute of its type.
pub fn signature(attribute: Attribute) -> Option<(Vec<Type>, Vec<Type>)> {
    let raw = attribute.to_raw();
    // SAFETY: the attribute is alive, and read as the type of a function only if it is one; types are read below their count.
    unsafe {
        if !sys::mlirAttributeIsAType(raw) || !sys::mlirTypeIsAFunction(sys::mlirTypeAttrGetValue(raw)) {
            return None;
        }
        let function = sys::mlirTypeAttrGetValue(raw);
        let input = |k| r#type(MlirType::from_raw(sys::mlirFunctionTypeGetInput(function, k)));
        let result = |k| r#type(MlirType::from_raw(sys::mlirFunctionTypeGetResult(function, k)));
        let inputs = (0..sys::mlirFunctionTypeGetNumInputs(function)).map(input).collect();
        Some((inputs, (0..sys::mlirFunctionTypeGetNumResults(function)).map(result).collect()))
    }
}

/// The number of dimensions of the domain of a structured operation of linalg.
pub fn map_dims(op: Op) -> Option<usize> {
    // SAFETY: the operation is alive; the attribute is null where it is no structured operation, and else an array of maps.
    let maps = unsafe { Attribute::from_option_raw(sys::mlirLinalgGetIndexingMapsAttribute(op.to_raw())) }?;
    let map = array(maps)?.into_iter().next()?;
    // SAFETY: an element of the array is a map.
    Some(unsafe { AffineMap::from_raw(sys::mlirAffineMapAttrGetValue(map.to_raw())) }.dim_count())
}

/// An operation to read, whoever owns it.
pub fn borrowed<'c>(op: &'c impl OperationLike<'c, 'c>) -> Op<'c> {
    // SAFETY: it lives as long as what is borrowed.
    unsafe { OperationRef::from_raw(op.to_raw()) }
}

/// A location of the context that a module lives in, from what the reader noted.
pub fn location<'c>(_module: Op<'c>, noted: usize) -> Option<Location<'c>> {
    // SAFETY: locations live as long as their context, which is that of the module.
    (noted != 0).then(|| unsafe { Location::from_raw(sys::MlirLocation { ptr: noted as *const c_void }) })
}

/// Numbers of the text, and slots in the places of those that the program computes.
pub fn mixed(numbers: &[i64], slots: &[Slot]) -> Option<Vec<Size>> {
    let mut slots = slots.iter();
    let size =
        |n: &i64| if *n == DYNAMIC { slots.next().map(|slot| Size::Slot(*slot)) } else { Some(Size::Static(*n)) };
    numbers.iter().map(size).collect()
}
