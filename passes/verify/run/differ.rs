//! Whether terms that are not equal have other values, and terms as text.

use crate::reader::arith::CHOICES;
use crate::reader::calc::Calc;
use crate::reader::flags::{CONTRACT, REASSOC};
use crate::reader::floats::{Format, parts};
use crate::run::terms::{BEHIND, Node, Piece, Term, Terms, Undefined, mask};

/// How deep selections and moved bits are looked into for what is undefined: each level is a call on the stack.
const DEPTH: u32 = 64;

impl Terms {
    /// Whether the values of two terms of an element of a type are those of the same result, where the first one is defined. Where
    /// rounding may differ, and where functions are known nearly, they are nearly the same. Where data decided something, terms
    /// are those of one choice of inputs alone.
    pub fn alike(&self, old: Term, new: Term, of: &str, is_decided: bool) -> bool {
        let (was, is) = (self.info(old), self.info(new));
        let any_rounding = if self.allowed & (REASSOC | CONTRACT) != 0 { 0.02 } else { 0.0 };
        let own = was.near.max(is.near);
        let near = f64::from(own.max(any_rounding));
        let is_near = |(float, low): (Option<Format>, u32), values: [u64; 2]| {
            let Some(float) = float else { return own > 0.0 };
            let bits = values.map(|value| float.part(value, low));
            let [a, b] = bits.map(|bits| float.number(bits));
            // An overflow in one order may be none in another.
            let is_open = near > 0.0 && !(a.is_finite() && b.is_finite());
            bits[0] == bits[1] || a.is_nan() && b.is_nan() || is_open || (a - b).abs() <= near * a.abs().max(b.abs())
        };
        let mut choices = (0..CHOICES).filter(|choice| !is_decided || *choice == self.choice);
        choices.all(|choice| {
            let values = [was.values[choice], is.values[choice]];
            let known = self.defined_bits(old, choice, DEPTH);
            was.open[choice]
                || (values[0] ^ values[1]) & known == 0
                || known == u64::MAX && parts(of).into_iter().all(|part| is_near(part, values))
        })
    }

    /// An operation in a term whose value is not known.
    pub fn not_computed(&self, mut term: Term) -> Option<&str> {
        while self.info(term).unknown {
            let operands = self.operands(term);
            match (operands.iter().find(|operand| self.info(**operand).unknown), self.node(term)) {
                (Some(operand), _) => term = *operand,
                (None, Node::Apply(number, _) | Node::Any(number, ..)) => return Some(&self.operator_of(*number).name),
                _ => return None,
            }
        }
        None
    }

    /// The bits of a term that do not depend on undefined memory with a choice of inputs; none where that takes more depth.
    fn defined_bits(&self, term: Term, choice: usize, depth: u32) -> u64 {
        match self.info(term).undefined {
            Undefined::None => return u64::MAX,
            Undefined::Some if depth > 0 => (),
            _ => return 0,
        }
        let of = |term: Term| self.defined_bits(term, choice, depth - 1);
        match self.node(term) {
            Node::Bits(pieces) => {
                let mut low = 0;
                let place = |piece: &Piece| {
                    let bits = (of(piece.of) >> piece.low & mask(piece.len)) << low;
                    low += piece.len;
                    bits
                };
                pieces.iter().map(place).fold(0, |all, bits| all | bits)
            }
            Node::Apply(number, operands) => match (self.calc_of(*number), &operands[..]) {
                (Calc::Select, [condition, yes, no]) if of(*condition) & 1 == 1 => {
                    of(if self.info(*condition).values[choice] & 1 == 1 { *yes } else { *no })
                }
                _ => 0,
            },
            _ => 0,
        }
    }

    /// A term as text, down to a depth.
    pub fn text(&self, term: Term, depth: u32) -> String {
        let list = |terms: &[Term]| terms.iter().map(|term| self.text(*term, depth - 1)).collect::<Vec<_>>().join(", ");
        match self.node(term) {
            Node::Input(of, number, _) => {
                let place = ["", "what is behind ", "what is beside "][(of >> 30).min(2) as usize];
                format!("{place}%arg{}[{number}]", of & (BEHIND - 1))
            }
            Node::Undefined => "undefined".into(),
            Node::Constant(bits) => format!("{bits:#x}"),
            _ if depth == 0 => format!("t{term}"),
            Node::Apply(operator, operands) => {
                let operator = self.operator_of(*operator);
                let more = if operator.flags == 0 { "" } else { " with flags that it did not have" };
                format!("{}{more}({})", operator.name, list(operands))
            }
            Node::Any(operator, count, _) => format!("{} of {count} terms (t{term})", self.operator_of(*operator).name),
            Node::Bits(pieces) => {
                let piece = |piece: &Piece| {
                    let text = self.text(piece.of, depth - 1);
                    if piece.len == self.info(piece.of).width {
                        text
                    } else {
                        format!("{text}[{}:+{}]", piece.low, piece.len)
                    }
                };
                format!("bits({})", pieces.iter().map(piece).collect::<Vec<_>>().join(", "))
            }
        }
    }
}
