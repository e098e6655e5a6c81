//! Whether terms that are not equal have other values, and terms as text.

use crate::reader::calc::Calc;
use crate::reader::flags::{CONTRACT, REASSOC};
use crate::run::arith::CHOICES;
use crate::run::terms::{BEHIND, Node, Piece, Term, Terms, Undefined, mask};

/// How deep selections and moved bits are looked into for what is undefined: each level is a call on the stack.
const DEPTH: u32 = 64;

impl Terms {
    /// Whether the values of two terms are those of the same result, where the first one is defined; where sums may be
    /// reassociated, and where functions are known nearly, nearly the same. Where data decided something, terms are those of one choice of inputs alone.
    pub fn alike(&self, old: Term, new: Term, is_decided: bool) -> bool {
        let (was, is) = (self.info(old), self.info(new));
        let number = |bits: u64| match was.width {
            64 => f64::from_bits(bits),
            32 => f32::from_bits(bits as u32).into(),
            _ => f32::from_bits((bits as u32) << 16).into(),
        };
        let mut choices = (0..CHOICES).filter(|choice| !is_decided || *choice == self.choice);
        choices.all(|choice| {
            let (a, b) = (was.values[choice], is.values[choice]);
            let known = self.defined_bits(old, choice, DEPTH);
            if was.open[choice] || (a ^ b) & known == 0 {
                return true;
            }
            let (a, b) = (number(a), number(b));
            // Two roundings of bf16 are 0.8 % apart; of f32, libraries and polynomials differ in the last digits, some 1e-6.
            let near = match self.allowed & (REASSOC | CONTRACT) != 0 || (was.near || is.near) && was.width <= 16 {
                true => 0.02,
                false if was.near || is.near => 1e-4,
                false => return false,
            };
            known == u64::MAX && (a - b).abs() <= near * a.abs().max(b.abs())
        })
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
