//! Operations that are folded to an operand or to bits of operands: the rules `neutral`, `select` and `bits`.

use super::{CHOICES, Info, Node, Piece, Term, Terms, Undefined, mask};
use crate::reader::calc::Calc;
use crate::reader::model::Element;

/// Marks an input that is the bits behind an element of an argument.
pub const BEHIND: u32 = 1 << 30;

impl Terms {
    /// The rules `neutral`, `select` and `bits`.
    pub(super) fn moved(&mut self, number: u32, operands: &[Term], width: u8) -> Option<Term> {
        let calc = self.operators[number as usize].1;
        let constant = |k: usize| self.as_constant(*operands.get(k)?);
        if let (Calc::Select, [condition, yes, no]) = (calc, operands) {
            return match self.as_constant(*condition) {
                Some(bits) => Some(if bits & 1 == 1 { *yes } else { *no }),
                None => (yes == no).then_some(*yes),
            };
        }
        if width == 0 {
            return None;
        }
        if let [first, second] = *operands {
            if self.is_neutral(number, second, false) {
                return Some(first);
            }
            if calc.commutes() && self.is_neutral(number, first, false) {
                return Some(second);
            }
        }
        let first = *operands.first()?;
        if self.info(first).width == 0 {
            let Node::Apply(made, parts) = self.node(first) else { return None };
            return match (calc, self.calc_of(*made)) {
                (Calc::Part(part), Calc::Create) => Some(parts[part]),
                _ => None,
            };
        }
        let zeros = |terms: &mut Terms, len: u8| Piece { of: terms.constant(len.into(), 0), low: 0, len };
        match calc {
            Calc::ExtU | Calc::Trunc | Calc::Same => {
                let mut pieces = self.pieces(first, 0, width.min(self.info(first).width));
                if width > self.info(first).width {
                    pieces.push(zeros(self, width - self.info(first).width));
                }
                Some(self.bits(pieces))
            }
            Calc::WidenBf16 => {
                let mut pieces = vec![zeros(self, 16)];
                pieces.extend(self.pieces(first, 0, 16));
                Some(self.bits(pieces))
            }
            Calc::Part(part) => {
                let pieces = self.pieces(first, width * part as u8, width);
                Some(self.bits(pieces))
            }
            Calc::Create => {
                let mut pieces = self.pieces(first, 0, width / 2);
                pieces.extend(self.pieces(operands[1], 0, width / 2));
                Some(self.bits(pieces))
            }
            Calc::Shl | Calc::ShrU => {
                let by = u8::try_from(constant(1)?).ok().filter(|by| (1..width).contains(by))?;
                let pieces = if calc == Calc::Shl {
                    let mut pieces = vec![zeros(self, by)];
                    pieces.extend(self.pieces(first, 0, width - by));
                    pieces
                } else {
                    let mut pieces = self.pieces(first, by, width - by);
                    pieces.push(zeros(self, by));
                    pieces
                };
                Some(self.bits(pieces))
            }
            // Whatever comes in from above, the bits below are those of the operand.
            Calc::ShrS if constant(0).is_none() => {
                let by = u8::try_from(constant(1)?).ok().filter(|by| (1..width).contains(by))?;
                let info = self.result(number, operands, width);
                let node = Node::Apply(self.plain(number), operands.into());
                let of = self.add(node, info);
                let mut pieces = self.pieces(first, by, width - by);
                pieces.push(Piece { of, low: width - by, len: by });
                Some(self.bits(pieces))
            }
            Calc::And => {
                let (of, bits) = match (constant(0), constant(1)) {
                    (_, Some(bits)) => (first, bits),
                    (Some(bits), _) => (operands[1], bits),
                    _ => return None,
                };
                let (mut pieces, mut low) = (vec![], 0);
                while low < width {
                    let rest = bits >> low;
                    let run = if rest & 1 == 1 { rest.trailing_ones() } else { rest.trailing_zeros() };
                    let len = (run as u8).min(width - low);
                    match rest & 1 {
                        1 => pieces.extend(self.pieces(of, low, len)),
                        _ => pieces.push(zeros(self, len)),
                    }
                    low += len;
                }
                Some(self.bits(pieces))
            }
            Calc::Compare(1) if constant(1) == Some(0) && self.info(first).width > 1 => {
                let rest = self.pieces(first, 1, self.info(first).width - 1);
                let zero = |piece: &Piece| {
                    self.as_constant(piece.of).is_some_and(|bits| bits >> piece.low & mask(piece.len) == 0)
                };
                if !rest.iter().all(zero) {
                    return None;
                }
                let low = self.pieces(first, 0, 1);
                Some(self.bits(low))
            }
            Calc::Or | Calc::Xor | Calc::Add => self.united(first, operands[1], width),
            _ => None,
        }
    }

    /// Two terms of which, of each bit, one is 0: their sum, and all other ways of putting them together.
    fn united(&mut self, left: Term, right: Term, width: u8) -> Option<Term> {
        if ![left, right].iter().any(|term| matches!(self.node(*term), Node::Bits(_))) {
            return None;
        }
        let (mut pieces, mut low) = (vec![], 0);
        while low < width {
            let sides = [left, right].map(|term| self.pieces(term, low, width - low)[0]);
            let len = sides[0].len.min(sides[1].len);
            let zero = |side: &Piece| self.as_constant(side.of).is_some_and(|bits| bits >> side.low & mask(len) == 0);
            let side = if zero(&sides[1]) { sides[0] } else { Some(sides[1]).filter(|_| zero(&sides[0]))? };
            pieces.push(Piece { len, ..side });
            low += len;
        }
        Some(self.bits(pieces))
    }

    /// An element that is read from memory: undefined, where a vector has left other bits beside its own.
    pub fn alone(&mut self, term: Term, element: &Element) -> Term {
        if u32::from(self.info(term).width) <= element.bits { term } else { self.undefined(element.bits) }
    }

    /// An element with the bits behind it in memory: nobody wrote them, but where a caller gives the element, they are the caller's.
    pub fn widened(&mut self, term: Term, width: u8) -> Term {
        let own = self.info(term).width;
        if own >= width {
            return term;
        }
        let mut pieces = self.pieces(term, 0, own);
        let len = width - own;
        let of = match *self.node(term) {
            Node::Input(of, number, _) => {
                let element = Element::new(format!("i{len}"), len.into());
                self.input(BEHIND | of, number, &element)
            }
            _ => self.undefined(len.into()),
        };
        pieces.push(Piece { of, low: 0, len });
        self.bits(pieces)
    }

    /// Some bits of a term.
    pub fn pieces(&self, term: Term, low: u8, len: u8) -> Vec<Piece> {
        let (node, _) = &self.nodes[term as usize];
        let Node::Bits(pieces) = node else {
            return if len == 0 { vec![] } else { vec![Piece { of: term, low, len }] };
        };
        let (mut all, mut at) = (vec![], 0);
        for piece in pieces.iter() {
            let (from, to) = (low.max(at), (low + len).min(at + piece.len));
            if from < to {
                all.push(Piece { of: piece.of, low: piece.low + (from - at), len: to - from });
            }
            at += piece.len;
        }
        all
    }

    /// The term of pieces, at most 64 bits in all.
    pub fn bits(&mut self, pieces: Vec<Piece>) -> Term {
        let mut merged: Vec<Piece> = vec![];
        for mut piece in pieces {
            if let Some(bits) = self.as_constant(piece.of) {
                piece = Piece { of: self.constant(piece.len.into(), bits >> piece.low), low: 0, len: piece.len };
            }
            match merged.last().copied() {
                Some(last) if last.of == piece.of && last.low + last.len == piece.low => {
                    merged.last_mut().expect("there is a last one").len += piece.len;
                    continue;
                }
                Some(last) => {
                    if let (Some(low), Some(high)) = (self.as_constant(last.of), self.as_constant(piece.of)) {
                        let len = last.len + piece.len;
                        let of = self.constant(len.into(), high << last.len | low);
                        *merged.last_mut().expect("there is a last one") = Piece { of, low: 0, len };
                        continue;
                    }
                }
                None => (),
            }
            merged.push(piece);
        }
        if let [Piece { of, low: 0, len }] = merged[..]
            && self.info(of).width == len
        {
            return of;
        }
        let (mut width, mut all) = (0, Info::of(0, [0; CHOICES]));
        let (mut least, mut most) = (Undefined::All, Undefined::None);
        let (mut values, mut open) = ([0; CHOICES], [false; CHOICES]);
        for piece in &merged {
            let info = self.info(piece.of);
            (least, most) = (least.min(info.undefined), most.max(info.undefined));
            all.flagged |= info.flagged;
            all.unknown |= info.unknown;
            all.near = all.near.max(info.near);
            open = std::array::from_fn(|choice| open[choice] || info.open[choice]);
            for (value, of) in values.iter_mut().zip(info.values) {
                *value |= (of >> piece.low & mask(piece.len)) << width;
            }
            width += piece.len;
        }
        let undefined = if most == Undefined::None || least == Undefined::All { most } else { Undefined::Some };
        self.add(Node::Bits(merged.into()), Info { width, undefined, values, open, ..all })
    }
}
