//! How the elements of a memref hold those of a layout: `E(n)`, the bits that an element takes.
//!
//! | element | layout | element of the memref | holds |
//! |---|---|---|---|
//! | `i4` | none, `E(8)` | `i4`, a byte | it |
//! | `i4` | `E(4)` | `i8` | two of them, the first in the low bits |
//! | `i1` | `E(1)` | `i8` | eight of them, the first in the lowest bit |
//! | `i1` | `E(32)` | `i32` | one, in the low bits; the others are 0, and not read |
//!
//! The memref elements that hold several are one more level of tiles, of which the memref has no dimension: the last
//! expression of an index is then the position among those in one byte. A store reads the byte and writes it back with
//! its own bits changed, so neighbours and padding keep theirs. Where iterations run at the same time, and may write to
//! one byte of a buffer from outside of them, two atomic operations clear and set the element's bits. Upstream's emulation of narrow types is no pass, and
//! refuses transposed memrefs, arguments and stores.

use crate::buffers::index::IndexVars;
use crate::buffers::operations::{SAME_BUFFER, is};
use layout_dialect::element;
use layout_ir::{self as ir, Builder, Op, Val};
use melior::ir::attribute::IntegerAttribute;
use melior::ir::r#type::IntegerType;
use melior::ir::{Type, TypeLike};
use std::fmt;
use tensor_layout::expr::Expr;

/// Kinds of `memref.atomic_rmw`.
const AND: i64 = 2;
const OR: i64 = 14;

/// How the elements of a memref hold those of a layout.
#[derive(Clone, Copy)]
pub struct Packing<'c> {
    /// An element of the layout.
    pub element: Type<'c>,
    /// An element of the memref.
    pub held_in: Type<'c>,
    /// The bits that an element of the layout takes; none where it is an element of the memref.
    pub bits: Option<i64>,
    /// How many elements of the layout one of the memref holds.
    pub count: i64,
}

impl<'c> Packing<'c> {
    /// Each element of the layout is one of the memref.
    pub fn whole(element: Type<'c>) -> Packing<'c> {
        Packing { element, held_in: element, bits: None, count: 1 }
    }

    /// The packing of elements that take so many bits, as `E(n)` says; 0 is the default.
    ///
    /// # Errors
    /// Bits that are less than the element's, and bits that are neither a part of a byte nor those of an integer in
    /// memory.
    pub fn new(element: Type<'c>, bits: i64) -> Result<Packing<'c>, String> {
        let whole = Packing::whole(element);
        if bits == 0 {
            return Ok(whole);
        }
        let Some(own) = element::bits(element) else {
            return Err(format!("expected no E for elements of {element}, found E({bits})"));
        };
        let stored = element::stored_bits(own);
        if stored != bits && ir::bits(element).is_none() {
            return Err(format!("expected E({stored}) for elements of {element}, found E({bits})"));
        }
        let Some(integer) = Self::held(&element, own, bits)? else { return Ok(whole) };
        let held_in = IntegerType::new(ir::borrowed(&element.context()), integer as u32).into();
        Ok(Packing { held_in, bits: Some(bits), count: integer / bits, ..whole })
    }

    /// The bits of the integer of the memref that holds elements of `own` bits which take so many, as `E(n)` says; none
    /// where an element of the memref is one of the layout.
    ///
    /// # Errors
    /// As in [`Packing::new`].
    pub fn held(element: &dyn fmt::Display, own: i64, bits: i64) -> Result<Option<i64>, String> {
        if bits == 0 || bits == element::stored_bits(own) {
            return Ok(None);
        }
        if bits < own {
            return Err(format!("expected E of at least {own}, the bits of {element}, found E({bits})"));
        }
        match bits {
            1 | 2 | 4 => Ok(Some(8)),
            16 | 32 | 64 => Ok(Some(bits)),
            _ => Err(format!(
                "expected E of 1, 2, 4, 8, 16, 32 or 64, found E({bits}): memory is read in whole integers, and such an \
                 element is neither one of them nor inside one byte"
            )),
        }
    }

    /// Whether each element of the layout is one of the memref.
    pub fn is_whole(self) -> bool {
        self.bits.is_none()
    }

    /// Loads the element at an index into a memref, with an affine operation where that is wanted and allowed.
    pub fn load(self, vars: &IndexVars<'c>, b: Builder<'c>, base: Val<'c>, index: &[Expr], affine: bool) -> Val<'c> {
        let load = |index: &[Expr]| match affine {
            true => vars.load(b, base, index),
            false => vars.load_anywhere(b, base, index),
        };
        if self.is_whole() {
            return load(index);
        }
        let (at, digit) = self.split(index);
        let mut held = load(at);
        if let Some(shift) = self.shift(vars, b, digit) {
            held = b.value("arith.shrui", &[held, shift], self.held_in, &[]);
        }
        let integer = self.integer(b);
        let low = b.value("arith.trunci", &[held], integer, &[]);
        if integer == self.element { low } else { b.value("arith.bitcast", &[low], self.element, &[]) }
    }

    /// Stores the element at an index into a memref, with an affine operation where that is wanted and allowed. Bits of
    /// other elements stay as they are.
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
        if self.is_whole() {
            return store(value, index);
        }
        let (at, digit) = self.split(index);
        let integer = self.integer(b);
        let value = if integer == self.element { value } else { b.value("arith.bitcast", &[value], integer, &[]) };
        let mut value = b.value("arith.extui", &[value], self.held_in, &[]);
        if self.count > 1 {
            let both = |op: &str, x: Val<'c>, y: Val<'c>| b.value(op, &[x, y], self.held_in, &[]);
            let mut own = self.number(b, (1 << self.bits.unwrap_or(0)) - 1);
            if let Some(shift) = self.shift(vars, b, digit) {
                (own, value) = (both("arith.shli", own, shift), both("arith.shli", value, shift));
            }
            let others = both("arith.xori", own, self.number(b, -1));
            if is_shared(b, base) {
                for (kind, bits) in [(AND, others), (OR, value)] {
                    let kind = IntegerAttribute::new(IntegerType::new(b.context(), 64).into(), kind);
                    let at = at.iter().map(|e| vars.value(b, e));
                    let operands: Vec<Val<'c>> = [bits, base].into_iter().chain(at).collect();
                    b.op("memref.atomic_rmw", &operands, &[self.held_in], &[b.named("kind", kind)]);
                }
                return;
            }
            let held = match affine {
                true => vars.load(b, base, at),
                false => vars.load_anywhere(b, base, at),
            };
            value = both("arith.ori", both("arith.andi", held, others), value);
        }
        store(value, at);
    }

    /// The index of the memref's element, and the position of the layout's element in it.
    fn split(self, index: &[Expr]) -> (&[Expr], &Expr) {
        match index.split_last() {
            Some((digit, at)) if self.count > 1 => (at, digit),
            _ => (index, &Expr::Const(0)),
        }
    }

    /// How far an element is from the lowest bit; none where it always is there.
    fn shift(self, vars: &IndexVars<'c>, b: Builder<'c>, digit: &Expr) -> Option<Val<'c>> {
        let shift = digit.clone().times(self.bits?);
        match shift {
            Expr::Const(0) => None,
            Expr::Const(bits) => Some(self.number(b, bits)),
            shift => Some(b.value("arith.index_cast", &[vars.value(b, &shift)], self.held_in, &[])),
        }
    }

    /// A number of the type of the memref's elements.
    fn number(self, b: Builder<'c>, number: i64) -> Val<'c> {
        b.constant(IntegerAttribute::new(self.held_in, number).into())
    }

    /// The integer of the element's bits.
    fn integer(self, b: Builder<'c>) -> Type<'c> {
        match ir::bits(self.element) {
            Some(bits) if self.element.is_float() => IntegerType::new(b.context(), bits as u32).into(),
            _ => self.element,
        }
    }
}

/// Whether iterations that run at the same time reach a buffer: one that is made outside of their loop.
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
    around
        .take_while(|op| outside(*op))
        .any(|op| matches!(ir::name(op), "affine.parallel" | "scf.forall" | "scf.parallel"))
}
