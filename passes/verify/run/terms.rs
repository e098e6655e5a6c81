//! Symbolic elements: what a program computes of its inputs, each different value once.
//!
//! A term is a number; equal terms have the same number. A term has no type but its width: `arith.bitcast` leaves it as it
//! is. Each term also has a value for each of three choices of inputs: in the first all numbers are small integers, of which
//! sums and products are exact in any order; in the second floating-point inputs have all their digits; in the third integers
//! and floating-point numbers may be negative. They decide branches and addresses, and where two terms differ, whether that is
//! seen.
//!
//! Terms are equal up to the rules here, each of which is an equation of all values of its operands:
//!
//! | rule | equation |
//! |---|---|
//! | fold | an operation of constants is its result (not of `math`) |
//! | commute | `x + y = y + x`, also products, bitwise operations, least and greatest |
//! | integers | sums, products, least and greatest of integers and of `maximumf`, `minimumf` in any order and grouping |
//! | reassociate | the same of `addf` and `mulf`, where both sides may (flag or option) |
//! | contract | `fma x y z = x * y + z`, where both sides may |
//! | neutral | `x + 0`, `x * 1`, `x + -0.0`, `x * 1.0`, `max x -inf` are `x`; `x + 0.0` where sums are reassociated |
//! | select | of a constant, and of twice the same |
//! | bits | shifts by constants, masks, `extui`, `trunci`, and `extf` of `bf16` to `f32` move bits |

mod promises;

use crate::reader::calc::{Calc, calc};
use crate::reader::flags::{CONTRACT, REASSOC};
use crate::reader::model::Operator;
use crate::run::arith::{CHOICES, evaluate, is_open, mix};
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;

/// The most terms of a sum in any order that are counted one by one: of one that doubles in each round of a loop, the hashes of
/// all terms would be 0 after 128 rounds. What has more is a term of its own.
const MOST_OF_A_SUM: u64 = 1 << 32;

/// The number of a term.
pub type Term = u32;

/// Some bits of a term.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Piece {
    /// Of which.
    pub of: Term,
    /// The first, counted from the least significant.
    pub low: u8,
    /// How many.
    pub len: u8,
}

/// What a term is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Node {
    /// An element of an input: of which input, and its number.
    Input(u32, u64),
    /// Memory that nobody has written, or padding. One term stands for all: what is made of it is compared with nothing.
    Undefined,
    /// A number.
    Constant(u64),
    /// An operation.
    Apply(u32, Rc<[Term]>),
    /// An operation on as many terms, in any order, of which this is the sum of the hashes.
    Any(u32, u64, u128),
    /// Pieces, from the least significant on.
    Bits(Rc<[Piece]>),
}

/// What is known of a term.
#[derive(Clone, Copy, Debug)]
pub struct Info {
    /// In bits; 0 for more than 64.
    pub width: u8,
    /// Whether undefined memory is in it.
    pub undefined: bool,
    /// Of the choices of inputs.
    pub values: [u64; CHOICES],
    /// Whether the program has no value there with that choice: a division by 0.
    pub open: [bool; CHOICES],
}

/// What a program takes for granted where it computes terms.
#[derive(Clone, Debug, Default)]
pub struct Promises {
    /// The flags of the operations that make a term.
    flags: FxHashMap<Term, u32>,
    /// By what it divides.
    divisors: FxHashSet<Term>,
}

/// All terms.
#[derive(Debug, Default)]
pub struct Terms {
    /// Those of the program before.
    promises: Promises,
    /// Whether the program that runs is the one before: what it takes for granted holds.
    is_before: bool,
    /// A divisor by which the program before does not divide and that may be 0.
    divisor: Option<Term>,
    numbers: FxHashMap<(u8, Node), Term>,
    nodes: Vec<(Node, Info)>,
    operators: Vec<(Operator, Calc)>,
    operator_numbers: FxHashMap<Operator, u32>,
    pub(super) reassociate: bool,
    pub(super) contract: bool,
    /// The choice of inputs by which branches and addresses are decided.
    pub choice: usize,
}

fn mask(width: u8) -> u64 {
    if width >= 64 || width == 0 { u64::MAX } else { (1 << width) - 1 }
}

impl Terms {
    /// No terms; whether sums of floating-point numbers may be reassociated, and products and sums be rounded once.
    pub fn new(reassociate: bool, contract: bool) -> Terms {
        Terms { reassociate, contract, ..Terms::default() }
    }

    /// What a term is.
    pub fn node(&self, term: Term) -> &Node {
        &self.nodes[term as usize].0
    }

    /// What is known of a term.
    pub fn info(&self, term: Term) -> Info {
        self.nodes[term as usize].1
    }

    /// The operation of a number.
    pub fn operator_of(&self, number: u32) -> &Operator {
        &self.operators[number as usize].0
    }

    fn add(&mut self, node: Node, info: Info) -> Term {
        let next = self.nodes.len() as Term;
        *self.numbers.entry((info.width, node)).or_insert_with_key(|(_, node)| {
            self.nodes.push((node.clone(), info));
            next
        })
    }

    /// The number of an operation, for [`Terms::apply`].
    pub fn operator(&mut self, operator: &Operator) -> u32 {
        if let Some(number) = self.operator_numbers.get(operator) {
            return *number;
        }
        let number = self.operators.len() as u32;
        self.operators.push((operator.clone(), calc(operator)));
        self.operator_numbers.insert(operator.clone(), number);
        number
    }

    /// A constant of a width in bits.
    pub fn constant(&mut self, width: u32, bits: u64) -> Term {
        let width = u8::try_from(width).ok().filter(|width| *width <= 64).unwrap_or(0);
        let bits = bits & mask(width);
        self.add(
            Node::Constant(bits),
            Info { width, undefined: false, values: [bits; CHOICES], open: [false; CHOICES] },
        )
    }

    /// An element of an input.
    pub fn input(&mut self, of: u32, number: u64, element: &crate::reader::model::Element) -> Term {
        let width = u8::try_from(element.bits).ok().filter(|width| *width <= 64).unwrap_or(0);
        let hash = mix(of.into(), number);
        let values = crate::run::arith::inputs(element, hash).map(|value| value & mask(width));
        self.add(Node::Input(of, number), Info { width, undefined: false, values, open: [false; CHOICES] })
    }

    /// An element of memory that has no contents, or of padding. Its values are large as numbers of any kind, of both signs and
    /// some, so that each sum, product, least or greatest number shows that it was read.
    pub fn undefined(&mut self, width: u32) -> Term {
        let width = u8::try_from(width).ok().filter(|width| *width <= 64).unwrap_or(0);
        let top = |choice: usize| [Some(0x7e), Some(0xfe)].get(choice).copied().flatten().filter(|_| width >= 16);
        let values = std::array::from_fn(|choice| {
            let some = mix(!0, choice as u64) & mask(width);
            top(choice).map_or(some, |top: u64| some & mask(width - 8) | top << (width - 8))
        });
        self.add(Node::Undefined, Info { width, undefined: true, values, open: [false; CHOICES] })
    }

    /// The number that a term is, if it is one.
    pub fn as_constant(&self, term: Term) -> Option<u64> {
        if let (Node::Constant(bits), Info { width: 1.., .. }) = self.nodes[term as usize] { Some(bits) } else { None }
    }

    /// A program is going to run: the one before, or one that may promise what this one does.
    pub fn begin(&mut self, promises: Option<&Promises>) {
        (self.is_before, self.divisor) = (promises.is_none(), None);
        self.promises = promises.cloned().unwrap_or_default();
    }

    /// What the program that ran took for granted, and a divisor of its own that may be 0.
    pub fn end(&mut self) -> (Promises, Option<Term>) {
        (std::mem::take(&mut self.promises), self.divisor.take())
    }

    /// Whether several of an operation may come in any order.
    fn in_any_order(&self, number: u32) -> bool {
        let (operator, calc) = &self.operators[number as usize];
        calc.associates() || calc.associates_if_allowed() && (self.reassociate || operator.flags & REASSOC != 0)
    }

    /// An operation on terms. With a flag that neither an option allows nor the program before has there, it is another term.
    pub fn apply(&mut self, number: u32, operands: &[Term]) -> Term {
        let (operator, calc) = &self.operators[number as usize];
        let allowed = if self.reassociate { REASSOC } else { 0 } | if self.contract { CONTRACT } else { 0 };
        let (calc, more, width) = (*calc, operator.flags & !(allowed | REASSOC), operator.to.bits);
        if let (true, Some(by)) = (calc.divides(), operands.get(1)) {
            let is_zero = self.as_constant(*by).is_none_or(|bits| bits == 0);
            if self.is_before {
                self.promises.divisors.insert(*by);
            } else if is_zero && !self.promises.divisors.contains(by) {
                let worse = self.divisor.is_none_or(|known| self.info(known).values[self.choice] != 0);
                self.divisor = if worse { Some(*by) } else { self.divisor };
            }
        }
        let term = self.computed(number, operands);
        if more == 0 || self.keeps(number, more, operands, term) {
            return term;
        }
        let known = self.promises.flags.get(&term).copied().unwrap_or(0);
        if self.is_before {
            self.promises.flags.insert(term, known | more);
        } else if more & !known != 0 {
            let width = u8::try_from(width).ok().filter(|width| *width <= 64).unwrap_or(0);
            return self.add(Node::Apply(number, operands.into()), Info { width, ..self.info(term) });
        }
        term
    }

    /// An operation on terms, whatever its flags promise.
    fn computed(&mut self, number: u32, operands: &[Term]) -> Term {
        let (operator, calc) = &self.operators[number as usize];
        let (calc, width, flags) = (*calc, operator.to.bits, operator.flags);
        let width = u8::try_from(width).ok().filter(|width| *width <= 64).unwrap_or(0);
        if let Some(moved) = self.moved(calc, operands, width) {
            return moved;
        }
        let (mut undefined, mut constants, mut open) = (false, calc != Calc::Opaque, [false; CHOICES]);
        for operand in operands {
            let (node, info) = &self.nodes[*operand as usize];
            undefined |= info.undefined;
            open = std::array::from_fn(|choice| open[choice] || info.open[choice]);
            constants &= matches!(node, Node::Constant(_)) && info.width > 0;
        }
        let values = std::array::from_fn(|choice| {
            let value = |k: usize| operands.get(k).map_or(0, |operand| self.nodes[*operand as usize].1.values[choice]);
            evaluate(&self.operators[number as usize], choice, operands.len(), value) & mask(width)
        });
        if let [a, ref b @ ..] = *operands {
            let [a, b] = [a, b.first().copied().unwrap_or(a)].map(|operand| self.info(operand).values);
            let is_open = |choice: usize| is_open(&self.operators[number as usize], a[choice], b[choice]);
            open = std::array::from_fn(|choice| open[choice] || is_open(choice));
        }
        let info = Info { width, undefined, values, open };
        let any_order = self.in_any_order(number);
        // Constants that are added in another order have other sums.
        if constants && open == [false; CHOICES] && (calc.associates() || !any_order) {
            return self.constant(width.into(), values[1]);
        }
        if calc == Calc::Fma && (self.contract || flags & CONTRACT != 0) {
            let [times, plus] = ["arith.mulf", "arith.addf"].map(|name| {
                let operator = &self.operators[number as usize].0;
                Operator { name: name.into(), ..operator.clone() }
            });
            let [times, plus] = [times, plus].map(|operator| self.operator(&operator));
            let product = self.computed(times, &operands[..2]);
            return self.computed(plus, &[product, operands[2]]);
        }
        if any_order && operands.len() == 2 && width > 0 {
            return self.any(number, [operands[0], operands[1]], info);
        }
        let plain = self.plain(number);
        let operands = match *operands {
            [a, b] if calc.commutes() => [a.min(b), a.max(b)].into(),
            _ => operands.into(),
        };
        self.add(Node::Apply(plain, operands), info)
    }

    /// The operation without flags that only allow: they are not part of what is computed.
    fn plain(&mut self, number: u32) -> u32 {
        let operator = &self.operators[number as usize].0;
        if operator.flags == 0 {
            return number;
        }
        let plain = Operator { flags: 0, ..operator.clone() };
        self.operator(&plain)
    }

    /// A sum, product, least or greatest in any order.
    fn any(&mut self, number: u32, operands: [Term; 2], info: Info) -> Term {
        let (plain, calc) = (self.plain(number), self.operators[number as usize].1);
        let (mut count, mut sum, mut last) = (0_u64, 0_u128, 0);
        for operand in operands {
            if self.as_constant(operand).is_some_and(|bits| calc.is_neutral(bits, info.width, true)) {
                continue;
            }
            last = operand;
            match &self.nodes[operand as usize].0 {
                Node::Any(inner, more, hash) if *inner == plain && count + more <= MOST_OF_A_SUM => {
                    (count, sum) = (count + more, sum.wrapping_add(*hash))
                }
                _ => {
                    let [low, high] = [1, 2].map(|salt| u128::from(mix(mix(salt, operand.into()), salt)));
                    (count, sum) = (count + 1, sum.wrapping_add(high << 64 | low));
                }
            }
        }
        let one_left = operands
            .iter()
            .filter(|operand| **operand != last)
            .all(|operand| self.as_constant(*operand).is_some_and(|bits| calc.is_neutral(bits, info.width, true)));
        if count > 0 && one_left && operands[0] != operands[1] {
            return last;
        }
        self.add(Node::Any(plain, count, sum), info)
    }

    /// The rules `neutral`, `select` and `bits`.
    fn moved(&mut self, calc: Calc, operands: &[Term], width: u8) -> Option<Term> {
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
            if constant(1).is_some_and(|bits| calc.is_neutral(bits, width, false)) {
                return Some(first);
            }
            if calc.commutes() && constant(0).is_some_and(|bits| calc.is_neutral(bits, width, false)) {
                return Some(second);
            }
        }
        let first = *operands.first()?;
        if self.info(first).width == 0 {
            return None;
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

    /// Some bits of a term.
    pub fn pieces(&self, term: Term, low: u8, len: u8) -> Vec<Piece> {
        let (node, _) = &self.nodes[term as usize];
        let Node::Bits(pieces) = node else { return vec![Piece { of: term, low, len }] };
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
        let (mut width, mut undefined, mut values, mut open) = (0, false, [0; CHOICES], [false; CHOICES]);
        for piece in &merged {
            let info = self.info(piece.of);
            undefined |= info.undefined;
            open = std::array::from_fn(|choice| open[choice] || info.open[choice]);
            for (value, of) in values.iter_mut().zip(info.values) {
                *value |= (of >> piece.low & mask(piece.len)) << width;
            }
            width += piece.len;
        }
        self.add(Node::Bits(merged.into()), Info { width, undefined, values, open })
    }
}
