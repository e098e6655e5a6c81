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
//! | compose | `complex.neg`, `conj`, `add` and `sub` are those of the parts, `scaling_extf x s = extf x * extf s` |
//! | neutral | `x + 0`, `x * 1`, `x + -0.0`, `x * 1.0`, `max x -inf` are `x`; `x + 0.0` where sums are reassociated |
//! | select | of a constant, and of twice the same |
//! | bits | shifts by constants, masks, `extui`, `trunci`, `extf` of `bf16` to `f32`, and parts of complex numbers move bits |

mod bits;
mod compose;
mod promises;
mod trials;

use crate::reader::arith::{CHOICES, evaluate, is_known, is_open, leaves_sign, mix};
use crate::reader::calc::{Calc, calc};
use crate::reader::flags::{NEW, NSW, REASSOC};
use crate::reader::floats::Format;
use crate::reader::model::{Element, Operator};
pub use bits::BEHIND;
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::{SmallVec, smallvec};
use std::rc::Rc;
pub use trials::Assumed;

/// The most terms of a sum in any order that are counted one by one: of one that doubles in each round of a loop, the hashes of
/// all terms would be 0 after 128 rounds. What has more is a term of its own.
const MOST_OF_A_SUM: u64 = 1 << 32;

/// The number of a term.
pub type Term = u32;

/// The operands of an operation. Few have more than 3; for the others nothing is allocated.
pub type Operands = SmallVec<[Term; 3]>;

/// Some bits of a term.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Piece {
    /// The term.
    pub of: Term,
    /// The first, counted from the least significant.
    pub low: u8,
    /// How many.
    pub len: u8,
}

/// The definition of a term.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Node {
    /// An element of an input: of which input, its number, and that of its type.
    Input(u32, u64, u32),
    /// Memory that nobody has written, or padding. One term stands for all: what is made of it is compared with nothing.
    Undefined,
    /// A number.
    Constant(u64),
    /// An operation.
    Apply(u32, Operands),
    /// An operation on as many terms, in any order, of which this is the sum of the hashes.
    Any(u32, u64, u128),
    /// Pieces, from the least significant on.
    Bits(Rc<[Piece]>),
}

/// How much of a term is made of memory that nobody has written, or of padding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Undefined {
    /// None of it.
    None,
    /// Some bits, or an operand of which a selection takes one.
    Some,
    /// All of it, whatever the data: it may be anything.
    All,
}

/// The facts about a term.
#[derive(Clone, Copy, Debug)]
pub struct Info {
    /// In bits; 0 for more than 64.
    pub width: u8,
    /// How much of it is made of undefined memory.
    pub undefined: Undefined,
    /// Whether the value of an operation in it is not known.
    pub unknown: bool,
    /// How far the value may be from that of another form of the same program, as a part of it: 0, but where a function is
    /// known nearly, or numbers are rounded in any order.
    pub near: f32,
    /// Whether an operation in it has a flag that no option allows and no operation of the program before has.
    pub flagged: bool,
    /// The values for the choices of inputs.
    pub values: [u64; CHOICES],
    /// Whether the program has no value there with that choice: a division by 0.
    pub open: [bool; CHOICES],
}

/// The assumptions of a program where it computes terms.
#[derive(Clone, Debug, Default)]
pub struct Promises {
    /// The flags of the operations that make a term.
    flags: FxHashMap<Term, u32>,
    /// The flags of any operation on terms.
    all: u32,
    /// The flags of operations on indices: results of affine maps do not overflow.
    of_indices: u32,
    /// By what it divides; and what, where signed numbers overflow.
    divisors: FxHashSet<(Option<Term>, Term)>,
}

/// All terms.
#[derive(Debug, Default)]
pub struct Terms {
    /// The promises of the program before.
    promises: Promises,
    /// Whether the program that runs is the one before: what it takes for granted holds.
    is_before: bool,
    /// A divisor by which the program before does not divide and that may be 0.
    divisor: Option<Term>,
    numbers: FxHashMap<(u8, Node), Term>,
    nodes: Vec<(Node, Info)>,
    operators: Vec<(Operator, Calc)>,
    /// By the number of each, that of the same one without flags, if that is known.
    plain: Vec<Option<u32>>,
    operator_numbers: FxHashMap<Operator, u32>,
    /// The types of inputs, and two operands of each [`Node::Any`]: what its values are made of.
    elements: Vec<Element>,
    halves: FxHashMap<Term, [Term; 2]>,
    /// Flags of fast math that all operations of floating-point numbers may have.
    pub(super) allowed: u32,
    /// The choice of inputs by which branches and addresses are decided.
    pub choice: usize,
}

/// How far sums and products of so many terms are from each other: 2 %, and more of types whose roundings add up to more.
fn rounded_in_any_order(float: Format, count: u64) -> f32 {
    (count as f32 * 2_f32.powi(-(float.fraction as i32))).max(0.02)
}

impl Info {
    /// The facts about a defined term of these values.
    fn of(width: u8, values: [u64; CHOICES]) -> Info {
        let (undefined, open) = (Undefined::None, [false; CHOICES]);
        Info { width, undefined, unknown: false, near: 0.0, flagged: false, values, open }
    }
}

pub fn mask(width: u8) -> u64 {
    if width >= 64 || width == 0 { u64::MAX } else { (1 << width) - 1 }
}

impl Terms {
    /// No terms, and flags of fast math that all operations may have.
    pub fn new(allowed: u32) -> Terms {
        Terms { allowed, ..Terms::default() }
    }

    /// The definition of a term.
    pub fn node(&self, term: Term) -> &Node {
        &self.nodes[term as usize].0
    }

    /// The facts about a term.
    pub fn info(&self, term: Term) -> Info {
        self.nodes[term as usize].1
    }

    /// The function that the operation of a number computes.
    pub fn calc_of(&self, number: u32) -> Calc {
        self.operators[number as usize].1
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
        self.plain.push((operator.flags == 0).then_some(number));
        self.operator_numbers.insert(operator.clone(), number);
        number
    }

    /// A constant of a width in bits.
    pub fn constant(&mut self, width: u32, bits: u64) -> Term {
        let width = u8::try_from(width).ok().filter(|width| *width <= 64).unwrap_or(0);
        let bits = bits & mask(width);
        self.add(Node::Constant(bits), Info::of(width, [bits; CHOICES]))
    }

    /// An element of an input.
    pub fn input(&mut self, of: u32, number: u64, element: &Element) -> Term {
        let known = self.elements.iter().position(|known| known == element);
        let kind = known.unwrap_or_else(|| {
            self.elements.push(element.clone());
            self.elements.len() - 1
        });
        let width = u8::try_from(element.bits).ok().filter(|width| *width <= 64).unwrap_or(0);
        let hash = mix(of.into(), number);
        let values = crate::reader::arith::inputs(element, hash).map(|value| value & mask(width));
        self.add(Node::Input(of, number, kind as u32), Info::of(width, values))
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
        self.add(Node::Undefined, Info { undefined: Undefined::All, ..Info::of(width, values) })
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

    /// The program computes an affine map.
    pub fn note_map(&mut self) {
        if self.is_before {
            self.promises.of_indices |= NSW;
        }
    }

    /// Returns the promises of the program that ran, and a divisor of its own that may be 0.
    pub fn end(&mut self) -> (Promises, Option<Term>) {
        (std::mem::take(&mut self.promises), self.divisor.take())
    }

    /// Whether several of an operation may come in any order.
    fn in_any_order(&self, number: u32) -> bool {
        let (operator, calc) = &self.operators[number as usize];
        calc.associates() || (self.allowed | operator.flags) & calc.order_flags() != 0
    }

    /// An operation on terms. With a flag that neither an option allows nor the program before has there, it is another term.
    pub fn apply(&mut self, number: u32, operands: &[Term]) -> Term {
        let (operator, calc) = &self.operators[number as usize];
        let (calc, flags, width) = (*calc, operator.flags & !self.allowed, operator.to.bits);
        let is_index = operator.to.text == "index";
        if let (true, [of, by]) = (calc.divides(), operands) {
            self.divide(calc.is_signed(), *of, *by);
        }
        // A power with an exponent below 0 is a quotient.
        if let (Calc::PowI, [of, by]) = (calc, operands)
            && self.as_constant(*by).is_some_and(|bits| bits >> (width - 1) & 1 == 1)
        {
            self.divide(false, *of, *of);
        }
        let term = self.computed(number, operands);
        if self.is_before {
            self.promises.all |= flags;
        }
        let of_indices = if is_index { self.promises.of_indices } else { 0 };
        let is_new = flags & !self.promises.all & !of_indices;
        // Sums in any order have other parts than before.
        let of_order = if self.is_before { REASSOC } else { REASSOC | calc.order_flags() };
        let more = flags & !of_order | is_new;
        if more == 0 || self.keeps(number, more, operands, term) {
            return term;
        }
        let known = self.promises.flags.get(&term).copied().unwrap_or(0);
        if self.is_before {
            self.promises.flags.insert(term, known | more);
        } else if more & !known != 0 {
            let width = u8::try_from(width).ok().filter(|width| *width <= 64).unwrap_or(0);
            let (info, mut number) = (self.info(term), number);
            // What none had in this function, another one of the program may have had.
            if more & is_new != 0 {
                let operator = &self.operators[number as usize].0;
                number = self.operator(&Operator { flags: operator.flags | NEW, ..operator.clone() });
            }
            let flagged = info.flagged || more & is_new != 0;
            return self.add(Node::Apply(number, operands.into()), Info { width, flagged, ..info });
        }
        term
    }

    /// Whether an operand is a constant that leaves the other one as it is.
    fn is_neutral(&self, number: u32, operand: Term, any_order: bool) -> bool {
        let (Operator { to, flags, .. }, calc) = &self.operators[number as usize];
        self.as_constant(operand).is_some_and(|bits| calc.is_neutral(bits, to, *flags, any_order))
    }

    /// An operation on terms, whatever its flags promise.
    fn computed(&mut self, number: u32, operands: &[Term]) -> Term {
        let (operator, calc) = &self.operators[number as usize];
        let (calc, width) = (*calc, operator.to.bits);
        let width = u8::try_from(width).ok().filter(|width| *width <= 64).unwrap_or(0);
        // What is a number whatever an operand is may be none where that is none; an operand that is not selected does not count.
        let is_open = |operand: &Term| self.info(*operand).flagged || self.info(*operand).open.contains(&true);
        let any_open = calc != Calc::Select && operands.iter().any(is_open);
        if let Some(moved) =
            self.moved(number, operands, width).filter(|moved| !any_open || self.as_constant(*moved).is_none())
        {
            return moved;
        }
        let constant =
            |operand: &Term| matches!(self.nodes[*operand as usize], (Node::Constant(_), Info { width: 1.., .. }));
        let constants = operands.iter().all(constant) && is_known(&self.operators[number as usize]) == Some(true);
        let (any_order, mut info) = (self.in_any_order(number), None);
        if constants {
            let made = self.result(number, operands, width);
            let value = |operand: Option<&Term>| operand.map_or(0, |operand| self.info(*operand).values[1]);
            let ends = (value(operands.first()), value(operands.last()));
            let has_any_sign = leaves_sign(&self.operators[number as usize], 0, ends, made.values[1]);
            // Constants that are added in another order have other sums.
            if made.open == [false; CHOICES] && !has_any_sign && (calc.associates() || !any_order) {
                return self.constant(width.into(), made.values[1]);
            }
            info = Some(made);
        }
        if let Some(term) = self.composed(number, operands) {
            return term;
        }
        let node = match *operands {
            [a, b] if any_order && width > 0 => match self.any(number, [a, b]) {
                Ok(term) => return term,
                Err(node) => node,
            },
            [a, b] if calc.commutes() => Node::Apply(self.plain(number), smallvec![a.min(b), a.max(b)]),
            _ => Node::Apply(self.plain(number), operands.into()),
        };
        // Most terms are known: the values of the others alone are computed.
        let key = (width, node);
        if let Some(known) = self.numbers.get(&key) {
            return *known;
        }
        let mut info = info.unwrap_or_else(|| self.result(number, operands, width));
        let Node::Any(_, count, _) = key.1 else { return self.add(key.1, info) };
        if let (Some(float), Calc::AddF | Calc::MulF) = (self.operators[number as usize].0.to.float, calc) {
            info.near = info.near.max(rounded_in_any_order(float, count));
        }
        let term = self.add(key.1, info);
        if let [a, b] = operands {
            self.halves.insert(term, [*a, *b]);
        }
        term
    }

    /// The facts about the result of an operation.
    fn result(&self, number: u32, operands: &[Term], width: u8) -> Info {
        let operator = &self.operators[number as usize];
        let of = |k: usize| operands.get(k).map(|operand| &self.nodes[*operand as usize].1);
        let open = |choice: usize| {
            let value = |k: usize| of(k).map_or(0, |info| info.values[choice]);
            let is_open = match operands {
                [] => false,
                [_] => is_open(operator, value(0), value(0)),
                _ => is_open(operator, value(0), value(1)),
            };
            is_open || operands.iter().any(|operand| self.info(*operand).open[choice])
        };
        let any = |of: fn(&Info) -> bool| operands.iter().any(|operand| of(&self.info(*operand)));
        let known = is_known(operator);
        // Two roundings of bf16 are 0.8 % apart; of f32, libraries and polynomials differ in the last digits, some 1e-6.
        let own = match known {
            Some(false) if width <= 16 => 0.02,
            Some(false) => 1e-4,
            _ => 0.0,
        };
        let undefined = match (operator.1, operands) {
            (Calc::Select, [condition, yes, no]) => {
                let [condition, yes, no] = [*condition, *yes, *no].map(|operand| self.info(operand).undefined);
                match condition.max(yes).max(no) {
                    Undefined::None => Undefined::None,
                    _ if condition.max(yes.min(no)) == Undefined::All => Undefined::All,
                    _ => Undefined::Some,
                }
            }
            _ => operands.iter().map(|operand| self.info(*operand).undefined).max().unwrap_or(Undefined::None),
        };
        Info {
            width,
            undefined,
            unknown: any(|info| info.unknown) || known.is_none(),
            near: operands.iter().fold(own, |near, operand| near.max(self.info(*operand).near)),
            flagged: any(|info| info.flagged),
            values: std::array::from_fn(|choice| {
                let value = |k: usize| of(k).map_or(0, |info| info.values[choice]);
                evaluate(operator, choice, operands.len(), value) & mask(width)
            }),
            open: std::array::from_fn(open),
        }
    }

    /// The operation without flags that only allow: they are not part of what is computed.
    fn plain(&mut self, number: u32) -> u32 {
        if let Some(plain) = self.plain[number as usize] {
            return plain;
        }
        let plain = self.operator(&Operator { flags: 0, ..self.operators[number as usize].0.clone() });
        self.plain[number as usize] = Some(plain);
        plain
    }

    /// A sum, product, least or greatest in any order, unless it is one of its operands.
    fn any(&mut self, number: u32, operands: [Term; 2]) -> Result<Term, Node> {
        let plain = self.plain(number);
        let (mut count, mut sum, mut last) = (0_u64, 0_u128, 0);
        for operand in operands {
            if self.is_neutral(number, operand, true) {
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
        let one_left =
            operands.iter().filter(|operand| **operand != last).all(|operand| self.is_neutral(number, *operand, true));
        if count > 0 && one_left && operands[0] != operands[1] {
            return Ok(last);
        }
        Err(Node::Any(plain, count, sum))
    }
}
