//! Promises of flags about terms, and the bits that atomic operations leave as they are.

use super::{Term, Terms, mask};
use crate::reader::arith::keeps;
use crate::reader::calc::Calc;
use crate::reader::model::Operator;

impl Terms {
    /// Whether what flags promise is known to hold: of integers that are constants, or that stay what they are.
    pub(super) fn keeps(&self, number: u32, flags: u32, operands: &[Term], term: Term) -> bool {
        let operator = &self.operators[number as usize];
        let constants: Option<Vec<u64>> = operands.iter().map(|operand| self.as_constant(*operand)).collect();
        match constants.as_deref() {
            Some([a]) => keeps(operator, flags, *a, 0),
            Some([a, b]) => keeps(operator, flags, *a, *b),
            _ => operator.0.from.integer && operands.contains(&term),
        }
    }

    /// A division that the program does: it must not be by 0, nor of the least signed integer by -1, where the program before
    /// does not do it.
    pub(super) fn divide(&mut self, is_signed: bool, of: Term, by: Term) {
        if self.is_before {
            self.promises.divisors.extend([(None, by), (Some(of), by)]);
            return;
        }
        let least = |term: Term| 1_u64 << (self.info(term).width.max(1) - 1);
        let is_zero =
            self.as_constant(by).is_none_or(|bits| bits == 0) && !self.promises.divisors.contains(&(None, by));
        let overflows = is_signed
            && self.as_constant(by).is_none_or(|bits| bits == mask(self.info(by).width))
            && self.as_constant(of).is_none_or(|bits| bits == least(of))
            && !self.promises.divisors.contains(&(Some(of), by));
        if is_zero || overflows {
            let worse = self.divisor.is_none_or(|known| self.info(known).values[self.choice] != 0);
            self.divisor = if worse { Some(by) } else { self.divisor };
        }
    }

    /// An atomic operation with this term: what it computes, whether its order with others of its kind does not matter, and
    /// the bits of memory that it may change.
    pub fn atomic(&mut self, operator: &Operator, term: Term) -> (Calc, bool, u64) {
        let number = self.operator(operator);
        let calc = self.operators[number as usize].1;
        let commutes = self.in_any_order(number);
        let keeps = match calc {
            Calc::And => 1,
            Calc::Or | Calc::Xor => 0,
            _ => return (calc, commutes, u64::MAX),
        };
        let (mut at, mut kept) = (0, 0);
        for piece in self.pieces(term, 0, self.info(term).width) {
            if let Some(bits) = self.as_constant(piece.of) {
                let same = if keeps == 1 { bits >> piece.low } else { !(bits >> piece.low) };
                kept |= (same & mask(piece.len)) << at;
            }
            at += piece.len;
        }
        (calc, commutes, mask(at) & !kept)
    }
}
