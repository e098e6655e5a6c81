//! Whether two terms have other values for some inputs: both are computed for many, special ones among them.
//!
//! The special values of few inputs are tried together. Of more inputs, all have one value, or one has a special value, those
//! first that one term alone depends on, or each has any. Inputs count for which the program before does what it did where it ran:
//! data decides branches and addresses as then, nothing is divided by 0, and its flags promise nothing that does not hold.

use super::{Node, Operands, Promises, Term, Terms, Undefined, mask};
use crate::reader::arith::{self, breaks, evaluate, is_open, leaves_sign, mix};
use crate::reader::calc::Calc;
use crate::reader::flags::{CONTRACT, NEW, REASSOC};
use crate::reader::floats::{Format, parts};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;

/// How many inputs are tried at most for two terms.
const TRIALS: usize = 1 << 13;

/// Conditions on the inputs that are tried.
pub struct Assumed<'a> {
    /// The promises of the program before.
    pub promises: &'a Promises,
    /// The terms that decided branches and addresses.
    pub decided: &'a BTreeSet<Term>,
}

/// The value of a term for some inputs, and whether it is open: as the program before says it, and as the other one does; and
/// whether the sign of a zero that it is made of is.
#[derive(Clone, Copy, Default)]
struct ElementValue {
    bits: u64,
    open: [bool; 2],
    has_any_sign: bool,
}

impl Terms {
    /// The operands of a term: terms of lesser numbers.
    pub fn operands(&self, term: Term) -> Operands {
        match self.node(term) {
            Node::Apply(_, operands) => operands.clone(),
            Node::Any(..) => self.halves.get(&term).map_or_else(Operands::new, |halves| Operands::from_slice(halves)),
            Node::Bits(pieces) => pieces.iter().map(|piece| piece.of).collect(),
            Node::Input(..) | Node::Undefined | Node::Constant(_) => Operands::new(),
        }
    }

    /// All that terms are made of, if that is at most an eighth of `steps`, which it takes, and their values are known for other
    /// inputs.
    fn made_of(&self, roots: impl Iterator<Item = Term>, steps: &mut usize) -> Option<BTreeSet<Term>> {
        let (mut open, mut all): (Vec<Term>, _) = (roots.collect(), FxHashSet::default());
        let most = *steps / 8;
        while let Some(term) = open.pop() {
            let info = self.info(term);
            if info.undefined != Undefined::None || info.unknown || all.len() > most {
                *steps -= all.len().min(*steps);
                return None;
            }
            if all.insert(term) {
                open.extend(self.operands(term));
            }
        }
        *steps -= all.len();
        Some(all.into_iter().collect())
    }

    /// Inputs for which two terms of an element of a type have other values, if such are found; takes of `steps` what is computed.
    pub fn apart(&self, [old, new]: [Term; 2], of: &str, assumed: &Assumed, steps: &mut usize) -> Option<String> {
        let promises = assumed.promises;
        let divisors = promises.divisors.iter().flat_map(|(of, by)| of.iter().chain([by]));
        let conditions = divisors.chain(assumed.decided).copied();
        let all = self.made_of([old, new].into_iter().chain(conditions), steps)?;
        let [of_old, of_new] = [old, new].map(|term| self.made_of([term].into_iter(), steps).unwrap_or_default());
        let calc = |term: &Term| match self.node(*term) {
            Node::Apply(number, _) | Node::Any(number, ..) => Some(self.calc_of(*number)),
            _ => None,
        };
        use Calc::{AddF, DivF, Fma, MulF, SubF};
        let rounds = |term: &Term| matches!(calc(term), Some(AddF | SubF | MulF | DivF | Fma));
        let is_any = |term: &Term| matches!(self.node(*term), Node::Any(..));
        let may_round = self.allowed & (REASSOC | CONTRACT) != 0;
        if of_old.union(&of_new).any(|term| rounds(term) && (may_round || is_any(term))) {
            return None;
        }
        let is_near = self.info(old).near.max(self.info(new).near) > 0.0;
        let parts = parts(of);
        let is_one_sided = |term: &Term| of_old.contains(term) != of_new.contains(term);
        let is_input = |term: &&Term| matches!(self.node(**term), Node::Input(..));
        let mut inputs: Vec<Term> = all.iter().filter(is_input).copied().collect();
        inputs.sort_by_key(|term| !is_one_sided(term));
        let own = inputs.iter().take_while(|term| is_one_sided(term)).count();
        let tables: Vec<Vec<u64>> = inputs.iter().map(|term| self.special(*term)).collect();
        let cases = tables.iter().try_fold(1_usize, |all, table| all.checked_mul(table.len()));
        let trials = (*steps / 4 / all.len().max(1)).min(TRIALS);
        let cases = cases.filter(|cases| *cases <= trials);
        let mut values: FxHashMap<Term, ElementValue> = FxHashMap::default();
        for trial in 0..cases.unwrap_or(trials) {
            *steps = steps.saturating_sub(all.len());
            let (mut rest, round) = (trial, trial / 3);
            for (k, (term, table)) in inputs.iter().zip(&tables).enumerate() {
                let usual = self.info(*term).values[self.choice];
                let hash = mix(trial as u64, k as u64) as usize;
                // Infinities and NaNs first.
                let from_last = |k: usize| table[table.len() - 1 - k % table.len()];
                let bits = match (cases, trial % 3) {
                    (Some(_), _) => {
                        let digit = rest % table.len();
                        rest /= table.len();
                        table[digit]
                    }
                    (_, 0) => from_last(round),
                    (_, 1) => {
                        let among = if own == 0 { inputs.len() } else { own };
                        if k == round % among { from_last(round / among) } else { usual }
                    }
                    _ if hash & 1 == 0 => usual,
                    _ => table[(hash >> 1) % table.len()],
                };
                values.insert(*term, ElementValue { bits, ..ElementValue::default() });
            }
            for term in &all {
                if !is_input(&term) {
                    let value = self.value(*term, promises, &values);
                    values.insert(*term, value);
                }
            }
            let value = |term: &Term| values[term];
            let is_same = |term: &Term| {
                let is = value(term);
                !is.open[0] && is.bits == self.info(*term).values[self.choice]
            };
            let least = |term: &Term| 1_u64 << (self.info(*term).width.max(1) - 1);
            let ones = |term: &Term| mask(self.info(*term).width);
            let divides = promises.divisors.iter().all(|(of, by)| match of {
                None => value(by).bits != 0,
                Some(of) => value(by).bits != ones(by) || value(of).bits != least(of),
            });
            let has_any_sign = value(&old).has_any_sign || value(&new).has_any_sign;
            if !divides || !assumed.decided.iter().all(is_same) || value(&old).open[0] || has_any_sign {
                continue;
            }
            let (was, is) = (value(&old).bits, value(&new).bits);
            let differs = |(float, low): (Option<Format>, u32)| {
                let Some(float) = float else { return was != is && !is_near };
                let [was, is] = [was, is].map(|bits| float.part(bits, low));
                let nan = [was, is].map(|bits| float.is_nan(bits));
                nan[0] != nan[1] || !is_near && !nan[0] && was != is
            };
            if value(&new).open[1] || parts.iter().copied().any(differs) {
                let shown =
                    inputs.iter().take(3).map(|term| format!("{} is {:#x}", self.text(*term, 1), values[term].bits));
                let shown = shown.collect::<Vec<_>>().join(" and ");
                let what =
                    if value(&new).open[1] { "undefined".to_owned() } else { format!("{is:#x} instead of {was:#x}") };
                return Some(if shown.is_empty() { what } else { format!("{what} where {shown}") });
            }
        }
        None
    }

    /// The special values of an input.
    fn special(&self, term: Term) -> Vec<u64> {
        let Node::Input(.., kind) = self.node(term) else { return vec![] };
        arith::special(&self.elements[*kind as usize])
    }

    /// The value of a term that is no input, of those of its operands.
    fn value(&self, term: Term, promises: &Promises, values: &FxHashMap<Term, ElementValue>) -> ElementValue {
        let operands = self.operands(term);
        let of = |k: usize| operands.get(k).map_or_else(ElementValue::default, |operand| values[operand]);
        let mut open = [0, 1].map(|side| operands.iter().any(|operand| values[operand].open[side]));
        let mut has_any_sign = operands.iter().any(|operand| values[operand].has_any_sign);
        match self.node(term) {
            Node::Constant(bits) => ElementValue { bits: *bits, open, has_any_sign },
            Node::Bits(pieces) => {
                let mut low = 0;
                let bits = pieces.iter().fold(0, |all, piece| {
                    let part = (values[&piece.of].bits >> piece.low & mask(piece.len)) << low;
                    low += piece.len;
                    all | part
                });
                ElementValue { bits, open, has_any_sign }
            }
            Node::Apply(number, _) | Node::Any(number, ..) => {
                let operator = &self.operators[*number as usize];
                let bits = evaluate(operator, 1, operands.len(), |k| of(k).bits) & mask(self.info(term).width);
                // The operand that is not selected does not count.
                if operator.1 == Calc::Select {
                    let taken = of(if of(0).bits & 1 == 1 { 1 } else { 2 });
                    open = [0, 1].map(|side| of(0).open[side] || taken.open[side]);
                }
                let (a, b) = (of(0).bits, of(if operands.len() > 1 { 1 } else { 0 }).bits);
                let own = operator.0.flags & !NEW;
                let promised = promises.flags.get(&term).copied().unwrap_or(0);
                let is_open = is_open(operator, a, b);
                has_any_sign |= leaves_sign(operator, own | promised, (a, b), bits);
                open = [
                    open[0] || breaks(operator, own | promised, (a, b), bits),
                    open[1] || breaks(operator, own, (a, b), bits),
                ];
                ElementValue { bits, open: open.map(|open| open || is_open), has_any_sign }
            }
            Node::Input(..) | Node::Undefined => ElementValue::default(),
        }
    }
}
