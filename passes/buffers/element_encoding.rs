//! The encoding of a layout's elements in those of a memref: `E(n)`, the bits of an element.
//!
//! | element | layout | element of the memref | holds |
//! |---|---|---|---|
//! | `i4` | none | `i4`, a byte | it |
//! | `i4` | `E(8)` | `i8` | one, in the low bits; the others are 0, and not read |
//! | `i4` | `E(4)` | `i8` | two of them, the first in the low bits |
//! | `i1` | `E(1)` | `i8` | eight of them, the first in the lowest bit |
//! | `i1` | `E(32)` | `i32` | one, in the low bits, as in a byte |
//! | `i3` | `E(3)` | `i8` | a part: three bytes hold eight of them |
//! | `i12` | `E(12)` | `i8` | a part: three bytes hold two of them |
//!
//! Memref elements that hold several layout elements are one more level of tiles, without a dimension in the memref:
//! the last expression of an index is then the position inside a byte. A store reads the byte and writes it back with
//! only its own bits changed, so neighbours and padding keep theirs. If parallel iterations may write to
//! one byte of a buffer from outside of them, two atomic operations clear and set the element's bits. Upstream's emulation
//! of narrow types is no pass, and refuses transposed memrefs, arguments and stores.
//!
//! An element that may begin in one byte and end in another is an integer of all bytes that it may touch, shifted. For
//! twelve bits, the first four in byte 1, the integer is `byte 1 | byte 2 << 8`. The last of these bytes exists only if
//! the element reaches it. Otherwise the byte before is read in its place; its bits are then above those of the
//! element, and are written back unchanged.

use crate::buffers::index::IndexVars;
use crate::buffers::operations::{IN_ORDER, LOOP, SAME_BUFFER, is};
use layout_dialect::element;
use layout_ir::{self as ir, Builder, Op, Val};
use melior::ir::attribute::IntegerAttribute;
use melior::ir::r#type::IntegerType;
use melior::ir::{Type, TypeLike, ValueLike};
use std::cmp::Ordering;
use std::fmt;
use tensor_layout::expr::Expr;
use tensor_layout::limits;

/// Kinds of `memref.atomic_rmw`.
const AND: i64 = 2;
const OR: i64 = 14;

/// The most bits of an element: a complex number of two `f64`.
const MOST_BITS: i64 = limits::ELEMENT_BITS;

/// The ratio of layout elements to memref elements, in lowest terms: eight `E(3)` are three bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct UnitsPerElement {
    /// The bits of an element of the memref.
    integer: i64,
    pub elements: i64,
    pub units: i64,
}

impl UnitsPerElement {
    /// Each element of the layout is one of the memref.
    pub const ONE: UnitsPerElement = UnitsPerElement { integer: 0, elements: 1, units: 1 };

    /// The ratio for elements of `own` bits that take `bits`, as `E(n)` gives it; `None` if memref elements are layout
    /// elements.
    ///
    /// # Errors
    /// Fewer bits than the element has, and more than any element has.
    pub fn new(element: &dyn fmt::Display, own: i64, bits: i64) -> Result<Option<UnitsPerElement>, String> {
        // LLVM assumes that the upper bits of an `i4` in a byte are 0, and integers of other than 1, 2, 4, 8 or 16
        // bytes have a larger stride in a memref than their bytes.
        if bits == 0 || bits == own && own % 8 == 0 && own.count_ones() == 1 {
            return Ok(None);
        }
        if bits < own {
            return Err(format!("expected E of at least {own}, the bits of {element}, found E({bits})"));
        }
        match bits {
            16 | 32 | 64 => Ok(Some(UnitsPerElement { integer: bits, ..UnitsPerElement::ONE })),
            ..=MOST_BITS => {
                let elements = 8 >> bits.trailing_zeros().min(3);
                Ok(Some(UnitsPerElement { integer: 8, elements, units: bits * elements / 8 }))
            }
            _ => Err(format!("expected E of at most {MOST_BITS}, the most bits that an element has, found E({bits})")),
        }
    }

    /// Whether each element of the layout fills one element of the memref.
    pub fn is_one(self) -> bool {
        (self.elements, self.units) == (1, 1)
    }

    /// The memref elements for this many layout elements, the last one perhaps partly filled; `None` beyond 64 bits.
    pub fn units_of(self, elements: i64) -> Option<i64> {
        let units = elements.checked_mul(self.units)?;
        Some(units / self.elements + i64::from(units % self.elements != 0))
    }

    /// The memref element of a position in steps, and the step inside it. [`UnitsPerElement::elements`] steps are one
    /// memref element.
    pub fn position(self, steps: Expr) -> (Expr, Option<Expr>) {
        let digit = (self.elements > 1).then(|| steps.clone().modulo(self.elements));
        (steps.floor_div(self.elements), digit)
    }
}

/// The encoding of a layout's elements in those of a memref.
#[derive(Clone, Copy)]
pub struct ElementEncoding<'c> {
    /// An element of the layout.
    pub element: Type<'c>,
    /// An element of the memref.
    pub memref_element: Type<'c>,
    /// The bits of a layout element; `None` if it is a memref element.
    pub bits: Option<i64>,
    /// The ratio of layout elements to memref elements.
    pub ratio: UnitsPerElement,
    /// The dimension of the memref along which its elements are contiguous.
    pub fastest: usize,
}

impl<'c> ElementEncoding<'c> {
    /// Each element of the layout is one of the memref.
    pub fn whole(element: Type<'c>) -> ElementEncoding<'c> {
        ElementEncoding { element, memref_element: element, bits: None, ratio: UnitsPerElement::ONE, fastest: 0 }
    }

    /// The encoding of elements of this many bits, as `E(n)` gives it; 0 is the default.
    ///
    /// # Errors
    /// Fewer bits than the element has, more than any element has, and other bits than its own for an element that
    /// is no integer and no floating-point number.
    pub fn new(element: Type<'c>, bits: i64) -> Result<ElementEncoding<'c>, String> {
        let whole = ElementEncoding::whole(element);
        if bits == 0 {
            return Ok(whole);
        }
        let Some(own) = element::bits(element) else {
            return Err(format!("expected no E for elements of {element}, found E({bits})"));
        };
        let stored = element::stored_bits(own);
        match ir::bits(element) {
            None if stored == bits => return Ok(whole),
            None => return Err(format!("expected E({stored}) for elements of {element}, found E({bits})")),
            Some(_) => {}
        }
        let Some(ratio) = UnitsPerElement::new(&element, own, bits)? else { return Ok(whole) };
        let memref_element = IntegerType::new(ir::borrowed(&element.context()), ratio.integer as u32).into();
        Ok(ElementEncoding { memref_element, bits: Some(bits), ratio, ..whole })
    }

    /// Whether each element of the layout is one of the memref.
    pub fn is_whole(self) -> bool {
        self.bits.is_none()
    }

    /// Whether an element may span several memref elements.
    pub fn straddles(self) -> bool {
        self.ratio.units > 1
    }

    /// Loads the element at an index into a memref, with an affine operation if `affine` is set and this is allowed.
    pub fn load(self, vars: &IndexVars<'c>, b: Builder<'c>, base: Val<'c>, index: &[Expr], affine: bool) -> Val<'c> {
        let load = |index: &[Expr]| match affine {
            true => vars.load(b, base, index),
            false => vars.load_anywhere(b, base, index),
        };
        if self.is_whole() {
            return load(index);
        }
        let (at, digit) = self.split(index);
        let integer = self.integer(b);
        let own = ir::bits(integer).expect("other elements than numbers are whole");
        let bytes = self.bytes(at, digit, own);
        let wide = self.wide(b, bytes.len());
        let loaded = bytes.iter().map(|at| load(at)).enumerate().map(|(k, byte)| {
            let byte = resized(b, byte, wide);
            if k == 0 { byte } else { b.value("arith.shli", &[byte, number(b, wide, 8 * k as i64)], wide, &[]) }
        });
        let loaded = loaded.reduce(|low, high| b.value("arith.ori", &[low, high], wide, &[]));
        let mut held = loaded.expect("an element has a byte");
        if let Some(shift) = self.shift(vars, b, digit, wide) {
            held = b.value("arith.shrui", &[held, shift], wide, &[]);
        }
        let low = resized(b, held, integer);
        if integer == self.element { low } else { b.value("arith.bitcast", &[low], self.element, &[]) }
    }

    /// Stores the element at an index into a memref, with an affine operation if `affine` is set and this is allowed.
    /// Bits of other elements do not change.
    pub fn store(
        self,
        vars: &IndexVars<'c>,
        b: Builder<'c>,
        value: Val<'c>,
        base: Val<'c>,
        index: &[Expr],
        affine: bool,
    ) {
        let store = |value: Val<'c>, index: &[Expr]| match affine {
            true => vars.store(b, value, base, index),
            false => vars.store_anywhere(b, value, base, index),
        };
        let Some(bits) = self.bits else { return store(value, index) };
        let (at, digit) = self.split(index);
        let integer = self.integer(b);
        let value = if integer == self.element { value } else { b.value("arith.bitcast", &[value], integer, &[]) };
        let bytes = self.bytes(at, digit, bits);
        let wide = self.wide(b, bytes.len());
        let shift = self.shift(vars, b, digit, wide);
        let shifted = |v: Val<'c>| shift.map_or(v, |shift| b.value("arith.shli", &[v, shift], wide, &[]));
        let value = shifted(resized(b, value, wide));
        let byte = |v: Val<'c>, k: usize| match k {
            0 => resized(b, v, self.memref_element),
            k => {
                let far = number(b, wide, 8 * k as i64);
                resized(b, b.value("arith.shrui", &[v, far], wide, &[]), self.memref_element)
            }
        };
        // The element's own bits, if its bytes hold others.
        let own = (self.ratio.elements > 1).then(|| shifted(self.low_bits(b, wide, bits)));
        let shared = is_shared(b, base);
        for (k, at) in bytes.iter().enumerate() {
            let value = byte(value, k);
            let Some(own) = own else {
                store(value, at);
                continue;
            };
            let both = |op: &str, x: Val<'c>, y: Val<'c>| b.value(op, &[x, y], self.memref_element, &[]);
            let others = both("arith.xori", byte(own, k), number(b, self.memref_element, -1));
            if shared {
                for (kind, bits) in [(AND, others), (OR, value)] {
                    let kind = IntegerAttribute::new(IntegerType::new(b.context(), 64).into(), kind);
                    let at = at.iter().map(|e| vars.value(b, e));
                    let operands: Vec<Val<'c>> = [bits, base].into_iter().chain(at).collect();
                    b.op("memref.atomic_rmw", &operands, &[self.memref_element], &[b.named("kind", kind)]);
                }
                continue;
            }
            let held = match affine {
                true => vars.load(b, base, at),
                false => vars.load_anywhere(b, base, at),
            };
            store(both("arith.ori", both("arith.andi", held, others), value), at);
        }
    }

    /// The index of the memref element in which a layout element begins, and the step inside it.
    fn split(self, index: &[Expr]) -> (&[Expr], &Expr) {
        match index.split_last() {
            Some((digit, at)) if self.ratio.elements > 1 => (at, digit),
            _ => (index, &Expr::Const(0)),
        }
    }

    /// The memref elements that hold the lowest `bits` bits of an element.
    fn bytes(self, at: &[Expr], digit: &Expr, bits: i64) -> Vec<Vec<Expr>> {
        let unit = self.ratio.integer;
        let last_step = match digit {
            Expr::Const(step) => *step,
            _ => self.ratio.elements - 1,
        };
        let behind = |k: Expr| {
            let mut at = at.to_vec();
            at[self.fastest] = at[self.fastest].clone() + k;
            at
        };
        // Bytes that the element always reaches, and bytes that it may reach.
        let [all, most] = [0, last_step].map(|step| (step * self.step() + bits + unit - 1) / unit);
        let whole = (0..all).map(|k| if k == 0 { at.to_vec() } else { behind(Expr::Const(k)) });
        let last = (digit.clone().times(self.step()) + Expr::Const(bits - 1)).floor_div(unit);
        whole.chain((all..most).map(|_| behind(last.clone()))).collect()
    }

    /// The bits of a step inside an element of the memref.
    fn step(self) -> i64 {
        self.ratio.integer / self.ratio.elements
    }

    /// The integer type of this many memref elements.
    fn wide(self, b: Builder<'c>, count: usize) -> Type<'c> {
        IntegerType::new(b.context(), self.ratio.integer as u32 * count as u32).into()
    }

    /// The distance of an element from the lowest bit; `None` if it is always 0.
    fn shift(self, vars: &IndexVars<'c>, b: Builder<'c>, digit: &Expr, wide: Type<'c>) -> Option<Val<'c>> {
        let shift = match digit {
            Expr::Const(step) => Expr::Const(step * self.step()),
            digit => digit.clone().times(self.step()),
        };
        match shift {
            Expr::Const(0) => None,
            Expr::Const(bits) => Some(number(b, wide, bits)),
            shift => Some(b.value("arith.index_cast", &[vars.value(b, &shift)], wide, &[])),
        }
    }

    /// An integer with its lowest `bits` bits set.
    fn low_bits(self, b: Builder<'c>, wide: Type<'c>, bits: i64) -> Val<'c> {
        if bits < 63 {
            return number(b, wide, (1 << bits) - 1);
        }
        // MLIR's C API takes numbers of 64 bits.
        let all = b.value("arith.subi", &[number(b, wide, 0), number(b, wide, 1)], wide, &[]);
        let above = number(b, wide, ir::bits(wide).unwrap_or(bits) - bits);
        b.value("arith.shrui", &[all, above], wide, &[])
    }

    /// The integer of the element's bits.
    fn integer(self, b: Builder<'c>) -> Type<'c> {
        match ir::bits(self.element) {
            Some(bits) if self.element.is_float() => IntegerType::new(b.context(), bits as u32).into(),
            _ => self.element,
        }
    }
}

/// A number of an integer type.
fn number<'c>(b: Builder<'c>, of: Type<'c>, number: i64) -> Val<'c> {
    b.constant(IntegerAttribute::new(of, number).into())
}

/// Truncates or zero-extends an integer.
fn resized<'c>(b: Builder<'c>, v: Val<'c>, to: Type<'c>) -> Val<'c> {
    let [from, bits] = [v.r#type(), to].map(|t| ir::bits(t).unwrap_or(0));
    match from.cmp(&bits) {
        Ordering::Less => b.value("arith.extui", &[v], to, &[]),
        Ordering::Equal => v,
        Ordering::Greater => b.value("arith.trunci", &[v], to, &[]),
    }
}

/// Whether parallel iterations share a buffer: one defined outside of their loop.
fn is_shared<'c>(b: Builder<'c>, base: Val<'c>) -> bool {
    let mut base = base;
    let owner = loop {
        match ir::defining_op(base) {
            Some(op) if is(ir::name(op), SAME_BUFFER) => base = ir::operands(op)[0],
            Some(op) => break ir::parent(op),
            None => break ir::block_argument(base).map(|(owner, _)| owner),
        }
    };
    let outside = |op: Op<'c>| owner.is_none_or(|owner| ir::op_key(owner) != ir::op_key(op));
    let around = std::iter::successors(ir::parent(b.before), |op| ir::parent(*op));
    around.take_while(|op| outside(*op)).any(|op| is(ir::name(op), LOOP) && !is(ir::name(op), IN_ORDER))
}
