//! Operations on elements that are others where their operands are known.

use crate::proof::follow::Proof;
use crate::proof::linear::{Shown, Undecided};
use crate::proof::operation::Operation;
use crate::proof::provenance::Provenance;
use crate::proof::statements::Maker;
use crate::proof::subscript::ValueId;
use crate::proof::value::{Head, Thunk};
use crate::reader::calc::Calc;
use crate::reader::flags::NINF;
use crate::reader::model::{Element, Operator};

/// Predicates of `arith.cmpi`.
const SIGNED_LESS: i64 = 2;
const SIGNED_AT_MOST: i64 = 3;
const SIGNED_GREATER: i64 = 4;
const SIGNED_AT_LEAST: i64 = 5;
const UNSIGNED_LESS: i64 = 6;
const UNSIGNED_AT_MOST: i64 = 7;
const UNSIGNED_GREATER: i64 = 8;

/// `arith.cmpi ne`, `arith.cmpf uno`.
const NOT_EQUAL: Calc = Calc::Compare(1);
const UNORDERED: Calc = Calc::CompareF(14);

/// A bit of the upper half of an `f32` below the exponent: with one of them, a number without finite value is NaN.
const QUIET: u64 = 0x007f_0000;

/// How many bits a type of integers has.
pub fn bits_of(of: &str) -> Option<u32> {
    if of == "index" { Some(64) } else { of.strip_prefix('i')?.parse().ok().filter(|bits| (1..=64).contains(bits)) }
}

/// A constant of a type, without bits that an integer does not have.
pub fn constant_text(of: &str, bits: u64) -> String {
    format!("{of} {}", bits & bits_of(of).map_or(u64::MAX, |width| u64::MAX >> (64 - width)))
}

/// The operation that selections stand for, and the integers that they select, each with the operation that makes it.
type Selections = (Operation, Vec<(Thunk, Calc)>);

/// The range of the signed numbers that compare so with one; its end is one more than the last.
pub fn compared_range(predicate: i64, bound: i64) -> Option<(i64, i64)> {
    let next = bound.saturating_add(1);
    Some(match predicate {
        SIGNED_LESS => (i64::MIN, bound),
        SIGNED_AT_MOST => (i64::MIN, next),
        SIGNED_GREATER => (next, i64::MAX),
        SIGNED_AT_LEAST => (bound, i64::MAX),
        UNSIGNED_LESS if bound >= 0 => (0, bound),
        UNSIGNED_AT_MOST if bound >= 0 => (0, next),
        _ => return None,
    })
}

/// An operation from elements of one type to those of another.
pub fn operation(name: &str, from: (&str, u32), to: (&str, u32)) -> Operation {
    let [from, to] = [from, to].map(|(text, bits)| Element::new(text, bits));
    Operation::of(&Operator { name: name.to_owned(), attributes: String::new(), flags: 0, from, to })
}

/// Whether an operation makes a byte of an `i1`, and promises nothing of it.
fn is_byte(cast: &Operation) -> bool {
    *cast.name == *"arith.extui i1 i8" && cast.flags == 0
}

impl Proof<'_> {
    /// The operands of an operation that computes this.
    fn operands(&mut self, thunk: &Thunk, is: impl Fn(&Operation) -> bool) -> Shown<Option<Vec<Thunk>>> {
        Ok(match self.head(thunk.clone())? {
            Head::Elements(operation, operands) if is(&operation) => Some(operands),
            _ => None,
        })
    }

    /// The operands of one with two operands, of which the second is a number.
    fn with_number(&mut self, thunk: &Thunk, calc: Calc) -> Shown<Option<(Thunk, u64)>> {
        let Some(operands) = self.operands(thunk, |operation| operation.calc() == calc && operation.flags == 0)? else {
            return Ok(None);
        };
        let [x, number] = &operands[..] else { return Ok(None) };
        Ok(match self.head(number.clone())? {
            Head::Constant(bits) => {
                bits.split_once(' ').and_then(|(_, bits)| bits.parse().ok()).map(|n| (x.clone(), n))
            }
            _ => None,
        })
    }

    /// The result of an operation on known operands: what it computes of constants, and the `i1` that a byte holds, where this is
    /// compared with 0.
    pub(super) fn of_known(&mut self, operation: &Operation, operands: &[ValueId], at: &Thunk) -> Shown<Option<Thunk>> {
        let Thunk::Value { side, value, lane, place } = at else { return Ok(None) };
        let thunk = |value: ValueId| Thunk::Value { side: *side, value, lane: lane.clone(), place: place.clone() };
        match (operation.calc(), operands) {
            _ if self.provenances[*side][*value] == Provenance::Constant => {
                self.evaluated(operation, operands.iter().map(|x| thunk(*x)).collect())
            }
            (NOT_EQUAL, [x, zero]) if operation.operator.0.from.text == "i8" => {
                let is_zero = self.head(thunk(*zero))? == Head::Constant("i8 0".to_owned());
                let byte = self.operands(&thunk(*x), is_byte)?;
                Ok(byte.filter(|_| is_zero).map(|mut operands| operands.remove(0)))
            }
            (calc, [x]) if self.is_cast(calc, *side, *x) => self.evaluated(operation, vec![thunk(*x)]),
            (Calc::Compare(predicate), [x, y]) if self.provenances[*side][*value] == Provenance::Index => {
                self.compared(predicate, [thunk(*x), thunk(*y)])
            }
            _ => Ok(None),
        }
    }

    /// Whether two integers that are computed of indices are in an order, as signed numbers.
    fn compared(&mut self, predicate: i64, sides: [Thunk; 2]) -> Shown<Option<Thunk>> {
        let Some(numbers) = self.of_each(&sides, Self::integer)? else { return Ok(None) };
        // The difference that is at least 0 where x < y, x <= y, x > y or x >= y.
        let difference = match predicate {
            SIGNED_LESS => numbers[1].minus(&numbers[0])?.add(-1)?,
            SIGNED_AT_MOST => numbers[1].minus(&numbers[0])?,
            SIGNED_GREATER => numbers[0].minus(&numbers[1])?.add(-1)?,
            SIGNED_AT_LEAST => numbers[0].minus(&numbers[1])?,
            _ => return Ok(None),
        };
        // It is not worth a case for each index.
        let holds = self.space.at_least_zero(&difference).ok();
        Ok(holds.map(|holds| Thunk::Known(Box::new(Head::Constant(format!("i1 {}", u8::from(holds)))))))
    }

    /// Whether an operation casts what may be an index: among integers, most casts are of data.
    fn is_cast(&self, calc: Calc, side: usize, operand: ValueId) -> bool {
        let is_data = |maker: &Maker| matches!(maker, Maker::Load { .. } | Maker::Result(..) | Maker::Carried(..));
        match calc {
            Calc::FromS | Calc::FromU => true,
            Calc::Trunc | Calc::ExtU | Calc::ExtS => !is_data(&self.programs[side].values[operand].0),
            _ => false,
        }
    }

    /// The result of an operation on operands that are all constants.
    fn evaluated(&mut self, operation: &Operation, operands: Vec<Thunk>) -> Shown<Option<Thunk>> {
        let number = |proof: &mut Self, head: &Head| {
            Ok(match head {
                Head::Constant(bits) => bits.split_once(' ').and_then(|(_, bits)| bits.parse().ok()),
                Head::Index(e) => proof.space.normal(e)?.as_constant().map(|n| n as u64),
                _ => None,
            })
        };
        let Some(numbers) = self.of_each(&operands, number)? else { return Ok(None) };
        let to = &operation.element().text;
        // An index is no element.
        let result = operation.evaluated(&numbers, self.allowed).filter(|_| to != "index");
        Ok(result.map(|bits| Thunk::Known(Box::new(Head::Constant(format!("{to} {bits}"))))))
    }

    /// An `i1` of the byte that holds it; none of what may be another number than 0 and 1.
    pub(super) fn as_bool(&mut self, byte: Thunk) -> Shown<Option<Thunk>> {
        Ok(match self.head(byte)? {
            Head::Constant(bits) if bits == "i8 0" || bits == "i8 1" => {
                Some(Thunk::Known(Box::new(Head::Constant(bits.replace("i8", "i1")))))
            }
            Head::Elements(cast, mut operands) if is_byte(&cast) => Some(operands.remove(0)),
            _ => None,
        })
    }

    /// The floating-point number whose bits are found as integers, by one of the ways that are known.
    pub(super) fn as_integers(&mut self, integer: &Thunk, of: &str) -> Shown<Option<Head>> {
        let found = match of {
            "bf16" => self.rounded(integer).transpose(),
            _ => None,
        };
        let found = found.or_else(|| match of {
            "f16" | "bf16" | "f32" | "f64" => self.extreme_of_two(integer, of).transpose(),
            _ => None,
        });
        match found.transpose() {
            Err(Undecided::Unproved(_)) => Ok(None),
            found => found,
        }
    }

    /// The rounding of an `f32` to `bf16` that these bits are, where they are found as integers.
    ///
    /// With `u` the bits of `x`, half of what the lower 16 bits may be is added, and one more where the upper ones are odd:
    ///
    /// ```text
    /// bf16(x) = (x is NaN ? u | quiet : u + 0x7fff + (u >> 16 & 1)) >> 16
    /// ```
    fn rounded(&mut self, integer: &Thunk) -> Shown<Option<Head>> {
        let is_half = |cast: &Operation| *cast.name == *"arith.trunci i32 i16" && cast.flags == 0;
        let Some(high) = self.operands(integer, is_half)? else { return Ok(None) };
        let Some((chosen, 16)) = self.with_number(&high[0], Calc::ShrU)? else { return Ok(None) };
        let Some(chosen) = self.operands(&chosen, |select| *select.name == *"select")? else { return Ok(None) };
        let [is_nan, nan, sum] = &chosen[..] else { return Ok(None) };
        let Some(compared) = self.operands(is_nan, |compare| compare.calc() == UNORDERED && compare.flags == 0)? else {
            return Ok(None);
        };
        let [x, y] = &compared[..] else { return Ok(None) };
        let Some((first, quiet)) = self.with_number(nan, Calc::Or)? else { return Ok(None) };
        let Some(sum) = self.operands(sum, |add| add.calc() == Calc::Add && add.flags == 0)? else { return Ok(None) };
        let [half, odd] = &sum[..] else { return Ok(None) };
        let Some((second, 0x7fff)) = self.with_number(half, Calc::Add)? else { return Ok(None) };
        let Some((odd, 1)) = self.with_number(odd, Calc::And)? else { return Ok(None) };
        let Some((third, 16)) = self.with_number(&odd, Calc::ShrU)? else { return Ok(None) };
        let mut same = x == y && quiet & QUIET != 0;
        for bits in [first, second, third] {
            let of = self.operands(&bits, |bits| *bits.name == *"bits of f32")?;
            same = same && of.as_deref() == Some(std::slice::from_ref(x));
        }
        let round = operation("arith.truncf", ("f32", 32), ("bf16", 16));
        Ok(same.then(|| Head::Elements(round, vec![x.clone()])))
    }

    /// The selections among integers that find the largest or least of floating-point numbers of one of these types: the operation
    /// that they stand for, and the integers, each with the operation that makes it of the bits of the numbers.
    ///
    /// As integers, numbers with a clear sign are in their order, those with the sign set in the opposite one, and NaN is
    /// behind the infinity of its sign. So of the same numbers, with `top` the largest as signed integer, and `low` and
    /// `bottom` the least and the largest as unsigned ones:
    ///
    /// ```text
    /// largest = bottom > -inf, unsigned ? bottom : top < 0 ? low : top
    /// least   = top > inf, signed ? top : bottom < 0 ? bottom : low
    /// ```
    ///
    /// With the largest finite number in the place of infinity, they stand for the operation that promises that none is infinite.
    pub(super) fn selections(&mut self, integer: &Thunk, types: &[&str]) -> Shown<Option<Selections>> {
        use Calc::{Compare, MaxS, MaxU, MinU};
        let (mut left, mut compared, mut values) = (integer.clone(), Vec::new(), Vec::new());
        for _ in 0..2 {
            let Some(choice) = self.operands(&left, |select| *select.name == *"select")? else { return Ok(None) };
            let [condition, yes, no] = &choice[..] else { return Ok(None) };
            let Head::Elements(compare, sides) = self.head(condition.clone())? else { return Ok(None) };
            let ([value, with], Compare(predicate)) = (&sides[..], compare.calc()) else { return Ok(None) };
            let Head::Constant(number) = self.head(with.clone())? else { return Ok(None) };
            compared.push((predicate, number));
            values.extend([value.clone(), yes.clone()]);
            left = no.clone();
        }
        values.push(left);
        let [(outer, end), (SIGNED_LESS, zero)] = &compared[..] else { return Ok(None) };
        let (name, parts) = match *outer {
            UNSIGNED_GREATER => ("arith.maximumf", [MaxU, MaxU, MaxS, MinU, MaxS]),
            SIGNED_GREATER => ("arith.minimumf", [MaxS, MaxS, MaxU, MaxU, MinU]),
            _ => return Ok(None),
        };
        let (Some((integer, _)), Some((of_zero, "0"))) = (end.split_once(' '), zero.split_once(' ')) else {
            return Ok(None);
        };
        let width = bits_of(integer).filter(|_| integer == of_zero).unwrap_or(0);
        let all = types
            .iter()
            .flat_map(|of| [0, NINF].map(|flags| Operation { flags, ..operation(name, (of, width), (of, width)) }));
        let by = all.into_iter().find(|by| {
            let is_as_wide = by.element().float.is_some_and(|float| float.sign() == 1 << (width.max(1) - 1));
            is_as_wide && by.is_neutral(end)
        });
        Ok(by.map(|by| (by, values.into_iter().zip(parts).collect())))
    }

    /// The largest or least of two floating-point numbers whose bits these are, where it is found as integers.
    fn extreme_of_two(&mut self, integer: &Thunk, of: &str) -> Shown<Option<Head>> {
        let Some((by, values)) = self.selections(integer, &[of])? else { return Ok(None) };
        let integer = format!("i{}", by.element().bits);
        let mut both: Option<Vec<Thunk>> = None;
        for (value, part) in &values {
            let Some(operands) = self.operands(value, |operation| operation.calc() == *part && operation.flags == 0)?
            else {
                return Ok(None);
            };
            let turned: Vec<Thunk> = operands.iter().rev().cloned().collect();
            let known = both.get_or_insert(operands.clone());
            if *known != operands && *known != turned {
                return Ok(None);
            }
        }
        let mut numbers = Vec::new();
        for bits in both.unwrap_or_default() {
            numbers.push(match self.head(bits)? {
                Head::Elements(bits, mut operands) if *bits.name == format!("bits of {of}") => operands.remove(0),
                Head::Constant(bits) if bits.starts_with(&integer) => {
                    Thunk::Known(Box::new(Head::Constant(bits.replacen(&integer, of, 1))))
                }
                _ => return Ok(None),
            });
        }
        Ok(Some(Head::Elements(by, numbers)))
    }
}
