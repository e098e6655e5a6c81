//! What is read of MLIR's attributes and types, through its C API.

use crate::terms::{Element, Item, ones};
use melior::ir::{AffineExpr, AffineMap, Attribute, AttributeLike, BlockRef, OperationRef};
use melior::ir::{RegionLike, Type, TypeLike, ValueLike, block::BlockLike, operation::OperationLike};
use mlir_sys as sys;

pub type Op<'c> = OperationRef<'c, 'c>;

/// A size that only the program has.
pub const DYNAMIC: i64 = i64::MIN;

pub fn name(op: Op) -> String {
    op.name().as_string_ref().as_str().unwrap_or_default().to_owned()
}

/// An attribute that is an operation's own: anyone may add others, which mean nothing.
pub fn attribute<'c>(op: Op<'c>, name: &str) -> Option<Attribute<'c>> {
    let name = melior::StringRef::new(name).to_raw();
    // SAFETY: the operation is alive; an attribute is null where there is none. Of an operation that has none of its own, the
    // first reader gives those of the second.
    unsafe {
        let other = Attribute::from_option_raw(sys::mlirOperationGetDiscardableAttributeByName(op.to_raw(), name));
        let own = Attribute::from_option_raw(sys::mlirOperationGetInherentAttributeByName(op.to_raw(), name));
        own.filter(|_| other.is_none())
    }
}

/// The names and texts of those attributes.
pub fn attributes(op: Op) -> Vec<(String, String)> {
    let names = op.attributes().map(|(name, _)| name.as_string_ref().as_str().unwrap_or_default().to_owned());
    names.filter_map(|name| attribute(op, &name).map(|of| of.to_string()).map(|text| (name, text))).collect()
}

/// The text of a string attribute or of a symbol.
pub fn text(op: Op, name: &str) -> Option<String> {
    Some(attribute(op, name)?.to_string().trim_start_matches('@').trim_matches('"').to_owned())
}

/// Whether anything uses a value.
pub fn is_used(value: melior::ir::Value) -> bool {
    // SAFETY: the value is alive.
    unsafe { !sys::mlirOpOperandIsNull(sys::mlirValueGetFirstUse(value.to_raw())) }
}

/// The operations of each block of a region.
pub fn blocks<'c>(op: Op<'c>, region: usize) -> Vec<(BlockRef<'c, 'c>, Vec<Op<'c>>)> {
    let mut all = vec![];
    let mut next = op.regions().nth(region).and_then(|region| region.first_block());
    while let Some(block) = next {
        let (mut inside, mut op) = (vec![], block.first_operation());
        while let Some(next) = op {
            // SAFETY: operations and blocks live as long as the module.
            inside.push(unsafe { OperationRef::from_raw(next.to_raw()) });
            op = next.next_in_block();
        }
        // SAFETY: the same.
        all.push((unsafe { BlockRef::from_raw(block.to_raw()) }, inside));
        next = block.next_in_region();
    }
    all
}

/// An integer; true is -1.
pub fn integer(attribute: Attribute) -> Option<i64> {
    let raw = attribute.to_raw();
    // SAFETY: it is read as an integer if it is one.
    unsafe { sys::mlirAttributeIsAInteger(raw).then(|| sys::mlirIntegerAttrGetValueInt(raw)) }
}

pub fn array<'c>(attribute: Attribute<'c>) -> Option<Vec<Attribute<'c>>> {
    let raw = attribute.to_raw();
    // SAFETY: elements are read below their count.
    let at = |k| unsafe { Attribute::from_raw(sys::mlirArrayAttrGetElement(raw, k)) };
    // SAFETY: it is an array.
    unsafe { sys::mlirAttributeIsAArray(raw).then(|| (0..sys::mlirArrayAttrGetNumElements(raw)).map(at).collect()) }
}

/// A list of integers; none where there is no such attribute.
pub fn integers(op: Op, name: &str) -> Option<Vec<i64>> {
    let attribute = attribute(op, name)?;
    let raw = attribute.to_raw();
    // SAFETY: each reader is that of the kind, below the count.
    unsafe {
        let is_long = sys::mlirAttributeIsADenseI64Array(raw);
        let long = |k| sys::mlirDenseI64ArrayGetElement(raw, k);
        let at = |k| if is_long { long(k) } else { sys::mlirDenseI32ArrayGetElement(raw, k).into() };
        if is_long || sys::mlirAttributeIsADenseI32Array(raw) {
            return Some((0..sys::mlirDenseArrayGetNumElements(raw)).map(at).collect());
        }
    }
    array(attribute)?.into_iter().map(integer).collect()
}

/// An affine expression.
#[derive(Clone)]
pub enum Expr {
    Operand(usize),
    Number(i64),
    Of(char, Box<[Expr; 2]>),
}

impl Expr {
    /// The value; none beyond 64 bits, and where it is divided by no positive number.
    pub fn value(&self, operands: &[i64]) -> Option<i64> {
        Some(match self {
            Expr::Operand(k) => *operands.get(*k)?,
            Expr::Number(n) => *n,
            Expr::Of(op, sides) => {
                let [a, b] = [sides[0].value(operands)?, sides[1].value(operands)?];
                match op {
                    '+' => a.checked_add(b)?,
                    '*' => a.checked_mul(b)?,
                    _ if b <= 0 => return None,
                    '%' => a.rem_euclid(b),
                    '/' => a.div_euclid(b),
                    _ => a.div_euclid(b).checked_add(i64::from(a.rem_euclid(b) != 0))?,
                }
            }
        })
    }

    fn read(e: AffineExpr, dims: usize) -> Expr {
        let kinds = [(e.is_add(), '+'), (e.is_mul(), '*'), (e.is_mod(), '%'), (e.is_floor_div(), '/')];
        match (e.is_dim(), e.is_symbol(), e.is_constant()) {
            (true, ..) => Expr::Operand(e.dim_position()),
            (_, true, _) => Expr::Operand(dims + e.symbol_position()),
            (.., true) => Expr::Number(e.constant_value()),
            _ => {
                let op = kinds.into_iter().find(|kind| kind.0).map_or('^', |kind| kind.1);
                Expr::Of(op, Box::new([Expr::read(e.lhs(), dims), Expr::read(e.rhs(), dims)]))
            }
        }
    }
}

/// The number of dimensions of an affine map, and its results.
pub fn map(attribute: Attribute) -> Option<(usize, Vec<Expr>)> {
    let raw = attribute.to_raw();
    // SAFETY: it is read as a map if it is one.
    let map = unsafe {
        sys::mlirAttributeIsAAffineMap(raw).then(|| AffineMap::from_raw(sys::mlirAffineMapAttrGetValue(raw)))?
    };
    let result = |k| map.result(k).ok().map(|e| Expr::read(e, map.dim_count()));
    Some((map.dim_count(), (0..map.result_count()).map(result).collect::<Option<_>>()?))
}

/// The maps of an operation of linalg.
pub fn indexing_maps(op: Op) -> Option<Vec<(usize, Vec<Expr>)>> {
    // SAFETY: the operation is alive; the attribute is null where there are no maps.
    let maps = unsafe { Attribute::from_option_raw(sys::mlirLinalgGetIndexingMapsAttribute(op.to_raw())) };
    array(maps?)?.into_iter().map(map).collect()
}

/// What is known of a type.
#[derive(Clone, PartialEq, Debug)]
pub struct Kind {
    /// `s`calar, `v`ector, `t`ensor, `m`emref.
    pub kind: char,
    pub element: Element,
    pub sizes: Vec<i64>,
    /// Of a memref without a layout of ours: strides, and the offset behind them.
    pub strides: Vec<i64>,
    /// The text of a layout of ours.
    pub layout: Option<String>,
    /// The text of the memory space, `S` if it is one of the layout, or nothing.
    pub space: String,
}

fn element(of: Type) -> Option<Element> {
    let raw = of.to_raw();
    // SAFETY: the width is read of what has one.
    let bits = unsafe {
        match (sys::mlirTypeIsAIndex(raw), sys::mlirTypeIsAInteger(raw), sys::mlirTypeIsAFloat(raw)) {
            (true, ..) => 64,
            (_, true, _) => sys::mlirIntegerTypeGetWidth(raw),
            (.., true) => sys::mlirFloatTypeGetWidth(raw),
            _ => return None,
        }
    };
    (bits <= 64).then(|| Element { text: of.to_string(), bits })
}

/// Reads a type; none of those that are not known here.
pub fn kind(of: Type) -> Option<Kind> {
    let raw = of.to_raw();
    if let Some(element) = element(of) {
        return Some(Kind { kind: 's', element, sizes: vec![], strides: vec![], layout: None, space: String::new() });
    }
    // SAFETY: each reader is that of the kind; sizes are read below the rank, strides into an array of as many.
    unsafe {
        let kind = match (sys::mlirTypeIsARankedTensor(raw), sys::mlirTypeIsAVector(raw), sys::mlirTypeIsAMemRef(raw)) {
            (true, ..) => 't',
            (_, true, _) if !sys::mlirVectorTypeIsScalable(raw) => 'v',
            (.., true) => 'm',
            _ => return None,
        };
        let element = element(Type::from_raw(sys::mlirShapedTypeGetElementType(raw)))?;
        let rank = sys::mlirShapedTypeGetRank(raw);
        let sizes = (0..rank).map(|d| sys::mlirShapedTypeGetDimSize(raw, d as isize)).collect();
        let (mut strides, mut layout, mut space) = (vec![], None, None);
        if kind == 't' {
            layout = Attribute::from_option_raw(sys::mlirRankedTensorTypeGetEncoding(raw)).map(|l| l.to_string());
        } else if kind == 'm' {
            let text = Attribute::from_raw(sys::mlirMemRefTypeGetLayout(raw)).to_string();
            space = Attribute::from_option_raw(sys::mlirMemRefTypeGetMemorySpace(raw)).map(|space| space.to_string());
            let (mut all, mut offset) = (vec![0; rank as usize + 1], 0);
            if text.starts_with("#layout.") {
                layout = Some(text);
            } else if sys::mlirMemRefTypeGetStridesAndOffset(raw, all.as_mut_ptr(), &mut offset).value == 0 {
                return None;
            } else {
                all[rank as usize] = offset;
                strides = all;
            }
        }
        let of_layout = layout.iter().filter(|text| text.contains("S(")).map(|_| "S".to_owned()).collect();
        Some(Kind { kind, element, sizes, strides, layout, space: space.unwrap_or(of_layout) })
    }
}

/// How many elements a shape of the text has: at most 2^24, which take 256 MiB.
pub fn count(sizes: &[i64]) -> Option<usize> {
    let count = sizes.iter().try_fold(1usize, |all, n| all.checked_mul(usize::try_from(*n).ok()?))?;
    (count <= 1 << 24).then_some(count)
}

/// The elements of a constant of a type.
pub fn constant(attribute: Attribute, kind: &Kind) -> Option<Vec<Item>> {
    let mut raw = attribute.to_raw();
    // SAFETY: a number becomes a tensor of one element; raw data has one element after the other in whole bytes, of a splat
    // one, but for booleans, which have a reader of their own.
    unsafe {
        let is_number = [sys::mlirAttributeIsAInteger, sys::mlirAttributeIsAFloat, sys::mlirAttributeIsABool];
        if is_number.into_iter().any(|is| is(raw)) {
            let none = sys::MlirAttribute { ptr: std::ptr::null_mut() };
            let of = sys::mlirRankedTensorTypeGet(0, std::ptr::null(), sys::mlirAttributeGetType(raw), none);
            raw = sys::mlirDenseElementsAttrSplatGet(of, raw);
        }
        if !sys::mlirAttributeIsADenseElements(raw) {
            return None;
        }
        let count = count(&kind.sizes)?;
        let stored = if sys::mlirDenseElementsAttrIsSplat(raw) { 1 } else { count };
        let width = kind.element.bits.div_ceil(8) as usize;
        let data = sys::mlirDenseElementsAttrGetRawData(raw).cast::<u8>();
        let one = |k: usize| match kind.element.bits {
            1 => sys::mlirDenseElementsAttrGetBoolValue(raw, k as isize).into(),
            _ => (0..width).rev().fold(0, |n, byte| n << 8 | u64::from(*data.add(k % stored * width + byte))),
        };
        Some((0..count).map(|k| Item::Number(one(k) & ones(kind.element.bits))).collect())
    }
}
