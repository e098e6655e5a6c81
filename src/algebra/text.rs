//! The text of a layout: CuTe's, with axes, padding, copies and flips of any bits.
//!
//! `((2,4),3):((1,6),2)` has a stride for each size. Without strides they are those of CuTe, the first size fastest.
//! `1@lane` is a step along an axis. `5/(2,3)` is a mode of 5 elements in 3 pairs. `4 o L` begins at address 4, and
//! `Sw<B,M,S> o L` is under a [swizzle](crate::swizzle). `Xor<0^3,1@lane=2> o L` flips bit 0 of the address by its bit
//! 3, and bit 1 along the axis becomes bit 2 of the address. `L; 2:4@warp` has two copies; `L @ lane, warp` names the
//! axes in an order that the strides do not show.

use crate::algebra::layout::{Flip, LayoutFunction, Place};
use crate::algebra::mode::{Digit, Mode, large};
use crate::limits;
use crate::places::tensor_layout::TensorLayout;
use crate::swizzle::Swizzle;
use crate::text::{Cursor, Error, from_str, length};
use smallvec::smallvec;
use std::fmt::{self, Write};

/// The greatest depth of nested tuples.
const DEPTH: usize = limits::NOTATION_TUPLES;

/// Sizes or strides: a number, or a tuple of them.
enum Nested {
    Number { value: i64, axis: Option<usize>, at: usize },
    Tuple { size: Option<i64>, entries: Vec<Nested>, at: usize },
}

/// The reader of one layout, with the axes that it has met.
struct Reader<'c, 'a> {
    cursor: &'c mut Cursor<'a>,
    axes: Vec<String>,
    left: usize,
    strides: StrideOffsets,
}

/// The byte offsets of strides in a text.
#[derive(Default)]
pub(crate) struct StrideOffsets {
    /// The offset of all strides; `None` if the text has sizes alone.
    pub all: Option<usize>,
    /// The offset of the stride of each digit.
    pub of_digits: Vec<usize>,
}

/// A bit of a place: its axis, if it has one, and its number.
type PlaceBit = (Option<usize>, u32);

/// A change of bits: `Ok` by a swizzle, else each bit with those that it becomes.
type Change = Vec<(PlaceBit, Vec<PlaceBit>)>;

impl LayoutFunction {
    /// Reads a layout in the notation of this module.
    ///
    /// # Errors
    /// The fault, at its byte.
    ///
    /// ```
    /// use tensor_layout::algebra::LayoutFunction;
    /// let layout = LayoutFunction::parse("Sw<1,0,2> o 4 o (4,5/(2,3)):(1,(4@lane,4))").unwrap();
    /// assert_eq!((layout.size(), layout.place(4)), (20, vec![4, 5]));
    /// assert_eq!(LayoutFunction::parse("(4,2):(1,2,3)").unwrap_err().at, Some(6));
    /// ```
    pub fn parse(text: &str) -> Result<LayoutFunction, Error> {
        let mut cursor = Cursor::new(text);
        let layout = LayoutFunction::read(&mut cursor)?;
        cursor.finish("the end of the layout")?;
        Ok(layout)
    }

    /// Reads a layout at the cursor.
    pub(crate) fn read(cursor: &mut Cursor) -> Result<LayoutFunction, Error> {
        LayoutFunction::read_located(cursor).map(|(layout, _)| layout)
    }

    /// Reads a layout at the cursor, and where its strides are in the text.
    pub(crate) fn read_located(cursor: &mut Cursor) -> Result<(LayoutFunction, StrideOffsets), Error> {
        let start = cursor.at();
        let (axes, left) = (Vec::new(), 2 * TensorLayout::MAX_PARTS);
        let mut reader = Reader { cursor, axes, left, strides: StrideOffsets::default() };
        let located = |error: Error| Error { at: error.at.or(Some(start)), ..error };
        let change = reader.change()?;
        let base = reader.base()?;
        let mode = reader.mode()?;
        let strides = std::mem::take(&mut reader.strides);
        let copies = if reader.cursor.eat(";") { reader.mode()?.digits() } else { Vec::new() };
        let order = reader.order()?;
        let mut layout = LayoutFunction { axes: reader.axes, mode, copies, base: Place::new(), flips: Vec::new() };
        layout.reorder(order, base, change);
        Ok((layout.checked().map_err(located)?, strides))
    }

    /// Numbers the axes in an order, the address last, which the reader numbers `usize::MAX`.
    fn reorder(&mut self, order: Vec<usize>, base: Vec<(usize, i64)>, change: Change) {
        let address = order.len();
        let number = |axis: usize| order.iter().position(|own| *own == axis).unwrap_or(address);
        self.axes = order.iter().map(|axis| self.axes[*axis].clone()).collect();
        self.mode.renumber(&number);
        self.copies.iter_mut().for_each(|digit| digit.axis = number(digit.axis));
        self.base = smallvec![0; address + 1];
        base.into_iter().for_each(|(axis, at)| self.base[number(axis)] = self.base[number(axis)].saturating_add(at));
        let flip = |((axis, bit), by): (PlaceBit, Vec<PlaceBit>)| {
            let mut of = vec![0; address + 1];
            by.into_iter().for_each(|(axis, bit)| of[axis.map_or(address, number)] ^= 1 << bit);
            Flip { axis: axis.map_or(address, number), bit, of }
        };
        // A bit that is its own sum stays as it is, and has no text.
        let changes = |flip: &Flip| (0..=address).any(|axis| flip.of[axis] != i64::from(axis == flip.axis) << flip.bit);
        self.flips = change.into_iter().map(flip).filter(changes).collect();
    }
}

impl Reader<'_, '_> {
    fn composed(&mut self) -> Result<(), Error> {
        if self.cursor.peek_word() != Some("o") {
            return Err(self.cursor.expected("`o` and a layout"));
        }
        self.cursor.advance(1);
        Ok(())
    }

    /// `Sw<B,M,S> o` or `Xor<0^3> o`.
    fn change(&mut self) -> Result<Change, Error> {
        if let Some(swizzle) = Swizzle::read(self.cursor)? {
            self.composed()?;
            return Ok(swizzle.flips().map(|(bit, by)| ((None, bit), vec![(None, bit), (None, by)])).collect());
        }
        if self.cursor.peek_word() != Some("Xor") {
            return Ok(Vec::new());
        }
        self.cursor.advance("Xor".len());
        self.cursor.expect("<", "`<` and bits")?;
        let mut change = Change::new();
        loop {
            let at = self.cursor.at();
            let bit = self.bit()?;
            if change.iter().any(|(own, _)| *own == bit) {
                return Err(Error::at(at, format!("bit {} must change once, found it twice", bit.1)));
            }
            let mut by = if self.cursor.peek() == Some(b'^') { vec![bit] } else { Vec::new() };
            if by.is_empty() {
                self.cursor.expect("=", "`^` or `=`, and bits")?;
                if self.cursor.peek().is_some_and(|b| b.is_ascii_digit()) {
                    by.push(self.bit()?);
                }
            }
            while self.cursor.eat("^") {
                by.push(self.bit()?);
            }
            change.push((bit, by));
            if !self.cursor.eat(",") {
                break;
            }
        }
        self.cursor.expect(">", "`,` or `>`")?;
        self.composed()?;
        Ok(change)
    }

    fn bit(&mut self) -> Result<PlaceBit, Error> {
        let at = self.cursor.at();
        let bit = self.cursor.integer("the number of a bit")?;
        let small = u32::try_from(bit).ok().filter(|bit| *bit < 62);
        let bit = small.ok_or_else(|| Error::at(at, format!("a bit must be below 62, found {bit}")).too_large())?;
        Ok((self.named()?, bit))
    }

    /// `@lane` without white space before it, which is before the order of the axes.
    fn named(&mut self) -> Result<Option<usize>, Error> {
        if self.cursor.adjoins() && self.cursor.eat("@") { self.name().map(Some) } else { Ok(None) }
    }

    fn name(&mut self) -> Result<usize, Error> {
        let name = self.cursor.word().ok_or_else(|| self.cursor.expected("the name of an axis"))?;
        let known = self.axes.iter().position(|own| own == name);
        Ok(known.unwrap_or_else(|| {
            self.axes.push(name.to_string());
            self.axes.len() - 1
        }))
    }

    /// `4+1@lane o`, if the cursor is at one.
    fn base(&mut self) -> Result<Vec<(usize, i64)>, Error> {
        let (before, known) = (*self.cursor, self.axes.len());
        let mut base = Vec::new();
        while let Ok(Nested::Number { value, axis, .. }) = self.number("an offset") {
            base.push((axis.unwrap_or(usize::MAX), value));
            if !self.cursor.eat("+") {
                break;
            }
        }
        if !base.is_empty() && self.cursor.peek_word() == Some("o") {
            self.composed()?;
            return Ok(base);
        }
        *self.cursor = before;
        self.axes.truncate(known);
        Ok(Vec::new())
    }

    /// `@ lane, warp`: the axes in order; as met without.
    fn order(&mut self) -> Result<Vec<usize>, Error> {
        if !self.cursor.eat("@") {
            return Ok((0..self.axes.len()).collect());
        }
        let mut order = Vec::new();
        loop {
            let at = self.cursor.at();
            let axis = self.name()?;
            if order.contains(&axis) {
                return Err(Error::at(at, format!("the axis {} must be named once, found it twice", self.axes[axis])));
            }
            order.push(axis);
            if !self.cursor.eat(",") {
                break;
            }
        }
        match (0..self.axes.len()).find(|axis| !order.contains(axis)) {
            Some(axis) => Err(self.cursor.expected(&format!("`, {}`, an axis of the strides", self.axes[axis]))),
            None => Ok(order),
        }
    }

    fn number(&mut self, what: &str) -> Result<Nested, Error> {
        let at = self.cursor.at();
        let negative = self.cursor.eat("-");
        self.cursor.eat("_");
        let value = self.cursor.integer(what)?;
        Ok(Nested::Number { value: if negative { -value } else { value }, axis: self.named()?, at })
    }

    /// The sizes, and the strides after `:`.
    fn mode(&mut self) -> Result<Mode, Error> {
        let shape = self.nested(0, "a size")?;
        let mut next = 1;
        if !self.cursor.eat(":") {
            return paired(&shape, None, &mut next);
        }
        self.strides.all = Some(self.cursor.at());
        let strides = self.nested(0, "a stride")?;
        strides.offsets(&mut self.strides.of_digits);
        paired(&shape, Some(&strides), &mut next)
    }

    fn nested(&mut self, depth: usize, what: &str) -> Result<Nested, Error> {
        let at = self.cursor.at();
        let mut size = None;
        if self.cursor.peek() != Some(b'(') {
            self.left = self.left.checked_sub(1).ok_or_else(|| {
                let message = format!("a layout must have at most {} sizes, found more", TensorLayout::MAX_PARTS);
                Error::at(at, message).too_large()
            })?;
            let number = self.number(&format!("{what} or `(`"))?;
            match number {
                Nested::Number { value, axis: None, .. } if what == "a size" && self.cursor.eat("/") => {
                    size = Some(value)
                }
                Nested::Number { axis: Some(_), at, .. } if what == "a size" => {
                    return Err(Error::at(at, "a size must have no axis, found one"));
                }
                _ => return Ok(number),
            }
        }
        self.cursor.expect("(", "`(`")?;
        if depth == DEPTH {
            return Err(Error::at(at, format!("tuples must be nested at most {DEPTH} deep, found more")).too_large());
        }
        let mut entries = Vec::new();
        // A trailing comma, as in Python; some versions print `(8,)`.
        while !self.cursor.eat(")") {
            entries.push(self.nested(depth + 1, what)?);
            if !self.cursor.eat(",") {
                self.cursor.expect(")", "`,` or `)`")?;
                break;
            }
        }
        Ok(Nested::Tuple { size, entries, at })
    }
}

impl Nested {
    /// The byte offsets of the numbers.
    fn offsets(&self, out: &mut Vec<usize>) {
        match self {
            Nested::Number { at, .. } => out.push(*at),
            Nested::Tuple { entries, .. } => entries.iter().for_each(|entry| entry.offsets(out)),
        }
    }
}

/// The mode of sizes and strides, which are those of CuTe where there are none: `next` is the next one.
fn paired(shape: &Nested, strides: Option<&Nested>, next: &mut i64) -> Result<Mode, Error> {
    let unlike = |at: usize, wanted: &str, found: &str| {
        Err(Error::at(at, format!("the strides must be nested as the sizes are, {wanted}, found {found}")))
    };
    match (shape, strides) {
        (Nested::Number { value: extent, at, .. }, None) => {
            let stride = *next;
            *next = next.checked_mul(*extent).ok_or_else(|| large().with_offset(Some(*at)))?;
            digit(*extent, *at, None, stride)
        }
        (Nested::Number { value: extent, at, .. }, Some(Nested::Number { value, axis, .. })) => {
            digit(*extent, *at, *axis, *value)
        }
        (Nested::Number { .. }, Some(Nested::Tuple { at, .. })) => unlike(*at, "a number", "a tuple"),
        (Nested::Tuple { entries, .. }, Some(Nested::Number { at, .. })) => {
            unlike(*at, &format!("a tuple of {}", entries.len()), "a number")
        }
        (Nested::Tuple { size, entries, at }, strides) => {
            if let Some(Nested::Tuple { entries: strides, at, .. }) = strides
                && strides.len() != entries.len()
            {
                return unlike(*at, &format!("a tuple of {}", entries.len()), &strides.len().to_string());
            }
            let stride = |k: usize| match strides {
                Some(Nested::Tuple { entries, .. }) => entries.get(k),
                _ => None,
            };
            let modes = entries.iter().enumerate().map(|(k, entry)| paired(entry, stride(k), next));
            let group = Mode::group(modes.collect::<Result<_, _>>()?);
            let Some(size) = size else { return Ok(group) };
            let padded = Mode::Group { size: *size, modes: group.modes().to_vec() };
            padded.check().map(|_| padded).map_err(|error| error.with_offset(Some(*at)))
        }
    }
}

fn digit(extent: i64, at: usize, axis: Option<usize>, stride: i64) -> Result<Mode, Error> {
    if extent < 1 {
        return Err(Error::at(at, format!("a size must be at least 1, found {extent}")));
    }
    Ok(Mode::Digit(Digit { extent, axis: axis.unwrap_or(usize::MAX), stride }))
}

impl LayoutFunction {
    fn suffix(&self, axis: usize) -> String {
        self.axes.get(axis).map_or(String::new(), |axis| format!("@{axis}"))
    }

    fn bit(&self, axis: usize, bit: u32) -> String {
        format!("{bit}{}", self.suffix(axis))
    }

    /// The swizzle that the flips are, if they are one.
    pub(crate) fn swizzle(&self) -> Option<Swizzle> {
        let address = self.axes.len();
        let pair = |flip: &Flip| {
            let by = flip.of[address] ^ 1 << flip.bit;
            let elsewhere = flip.of[..address].iter().any(|of| *of != 0);
            (flip.axis == address && !elsewhere && by.count_ones() == 1).then(|| (flip.bit, by.trailing_zeros()))
        };
        let mut pairs = self.flips.iter().map(pair).collect::<Option<Vec<_>>>()?;
        pairs.sort_unstable();
        let (bit, by) = *pairs.first()?;
        let swizzle = Swizzle::new(pairs.len() as u32, bit.min(by), by as i32 - bit as i32).ok()?;
        swizzle.flips().eq(pairs).then_some(swizzle)
    }

    /// The flips, the base and the modes.
    fn before(&self) -> String {
        let mask = |flip: &Flip, own: bool| {
            let bits = flip.of.iter().enumerate().flat_map(|(axis, of)| (0..62).map(move |bit| (axis, bit, of)));
            let bits =
                bits.filter(|(axis, bit, of)| *of >> bit & 1 == 1 && !(own && (*axis, *bit) == (flip.axis, flip.bit)));
            bits.map(|(axis, bit, _)| self.bit(axis, bit)).collect::<Vec<_>>().join("^")
        };
        let flip = |flip: &Flip| {
            let own = flip.of[flip.axis] >> flip.bit & 1 == 1;
            format!("{}{}{}", self.bit(flip.axis, flip.bit), if own { "^" } else { "=" }, mask(flip, own))
        };
        let changes = match self.swizzle() {
            Some(swizzle) => format!("{swizzle} o "),
            None if self.flips.is_empty() => String::new(),
            None => format!("Xor<{}> o ", self.flips.iter().map(flip).collect::<Vec<_>>().join(",")),
        };
        let bases = self.base.iter().enumerate().filter(|(_, base)| **base != 0);
        let bases: Vec<String> = bases.map(|(axis, base)| format!("{base}{}", self.suffix(axis))).collect();
        if bases.is_empty() { changes } else { format!("{changes}{} o ", bases.join("+")) }
    }

    fn written(&self, mode: &Mode, of: &dyn Fn(&Digit) -> String, sizes: bool, out: &mut String) {
        match mode {
            Mode::Digit(digit) => out.push_str(&of(digit)),
            Mode::Group { size, modes } => {
                if sizes && Mode::group(modes.clone()).size() != *size {
                    // Writing into a `String` cannot fail.
                    let _ = write!(out, "{size}/");
                }
                out.push('(');
                for (k, mode) in modes.iter().enumerate() {
                    out.push_str(if k > 0 { "," } else { "" });
                    self.written(mode, of, sizes, out);
                }
                out.push(')');
            }
        }
    }

    fn pair(&self, mode: &Mode) -> String {
        let mut out = String::new();
        self.written(mode, &|digit| digit.extent.to_string(), true, &mut out);
        out.push(':');
        let stride =
            |d: &Digit| format!("{}{}", d.stride, if d.stride == 0 { String::new() } else { self.suffix(d.axis) });
        self.written(mode, &stride, false, &mut out);
        out
    }
}

impl fmt::Display for LayoutFunction {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let mut text = self.before() + &self.pair(&self.mode);
        if !self.copies.is_empty() {
            let copies = Mode::group(self.copies.iter().copied().map(Mode::Digit).collect());
            text += &format!("; {}", self.pair(if self.copies.len() == 1 { &copies.modes()[0] } else { &copies }));
        }
        f.write_str(&text)?;
        let mut shown: Vec<&str> = Vec::new();
        for name in text.split('@').skip(1) {
            let name = &name[..length(name, |b| b.is_ascii_alphanumeric() || b == b'_')];
            if !shown.contains(&name) {
                shown.push(name);
            }
        }
        if shown == self.axes { Ok(()) } else { write!(f, " @ {}", self.axes.join(", ")) }
    }
}

from_str!(LayoutFunction: Error);
