//! Whether terms that are not equal have other values, and terms as text.

use crate::reader::flags::{CONTRACT, REASSOC};
use crate::run::arith::CHOICES;
use crate::run::terms::{Info, Node, Piece, Term, Terms};

impl Terms {
    /// Whether the values of two terms are those of the same result; where sums may be reassociated, nearly the same. Where data
    /// decided something, terms are those of one choice of inputs alone.
    pub fn alike(&self, was: Info, is: Info, is_decided: bool) -> bool {
        let number = |bits: u64| match was.width {
            64 => f64::from_bits(bits),
            32 => f32::from_bits(bits as u32).into(),
            _ => f32::from_bits((bits as u32) << 16).into(),
        };
        let mut choices = (0..CHOICES).filter(|choice| !is_decided || *choice == self.choice);
        choices.all(|choice| {
            let (a, b) = (was.values[choice], is.values[choice]);
            if was.open[choice] || a == b {
                return true;
            }
            let (a, b) = (number(a), number(b));
            self.allowed & (REASSOC | CONTRACT) != 0 && (a - b).abs() <= 0.02 * a.abs().max(b.abs())
        })
    }

    /// A term as text, down to a depth.
    pub fn text(&self, term: Term, depth: u32) -> String {
        let list = |terms: &[Term]| terms.iter().map(|term| self.text(*term, depth - 1)).collect::<Vec<_>>().join(", ");
        match self.node(term) {
            Node::Input(of, number) => format!("%arg{of}[{number}]"),
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
