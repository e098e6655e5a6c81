//! Instructions on single elements, as operations of `arith` and `math`.

use tensor_layout::element::ElementType::{self, Pred};
use tensor_layout::hlo::{Instruction, Literal, Values};

/// Where operations are written, and the number of the next value.
pub struct Writer {
    /// The operations so far.
    pub text: String,
    next: usize,
    /// What stands before each line.
    pub indent: usize,
    /// What stands behind each operation.
    pub location: String,
}

type Written = Result<String, String>;

impl Writer {
    pub fn new() -> Writer {
        Writer { text: String::new(), next: 0, indent: 4, location: String::new() }
    }

    /// A name that is not in use.
    pub fn fresh(&mut self) -> String {
        self.next += 1;
        format!("%{}", self.next - 1)
    }

    /// A line without a location.
    pub fn line(&mut self, text: &str) {
        self.text.extend(std::iter::repeat_n(' ', self.indent));
        self.text.push_str(text);
        self.text.push('\n');
    }

    /// An operation with one result; returns the result.
    pub fn op(&mut self, text: &str) -> String {
        let name = self.fresh();
        let line = format!("{name} = {text}{}", self.location);
        self.line(&line);
        name
    }

    /// An operation on operands that all have the type of its result.
    fn same(&mut self, name: &str, operands: &[String], of: &str) -> String {
        self.op(&format!("{name} {} : {of}", operands.join(", ")))
    }

    /// A constant of a scalar type.
    pub fn constant(&mut self, value: &str, of: &str) -> String {
        match value {
            "true" | "false" => self.op(&format!("arith.constant {value}")),
            _ => self.op(&format!("arith.constant {value} : {of}")),
        }
    }

    fn compare(&mut self, predicate: &str, a: &str, b: &str, of: &str) -> String {
        let kind = if of.starts_with(['f', 'b']) { "cmpf" } else { "cmpi" };
        self.op(&format!("arith.{kind} {predicate}, {a}, {b} : {of}"))
    }

    fn select(&mut self, condition: &str, a: &str, b: &str, of: &str) -> String {
        self.op(&format!("arith.select {condition}, {a}, {b} : {of}"))
    }

    /// What an elementwise instruction makes of one element of each operand, whose types are `from`.
    pub fn element(&mut self, i: &Instruction, operands: &[String], from: &[ElementType], to: ElementType) -> Written {
        let (Some(&first), Some(own)) = (from.first(), crate::element(to)) else { return Err(not_imported(i)) };
        if to.is_complex() || from.iter().any(|e| e.is_complex()) {
            return match &*i.opcode {
                "copy" | "optimization-barrier" => Ok(operands[0].clone()),
                "select" => Ok(self.select(&operands[0], &operands[1], &operands[2], &own)),
                _ => Err(format!("`{}` of complex numbers cannot be imported", i.opcode)),
            };
        }
        // Floats may be of different precision; the operation has that of its result, or of its first operand.
        let wanted = if to.is_float() { to } else { first };
        let changes = matches!(&*i.opcode, "convert" | "bitcast-convert") || !wanted.is_float();
        let own_precision = |e: ElementType| if changes || !e.is_float() { e } else { wanted };
        let same = |(x, e): (&String, &ElementType)| self.convert(x, *e, own_precision(*e));
        let operands =
            operands.iter().zip(from).map(same).collect::<Option<Vec<_>>>().ok_or_else(|| not_imported(i))?;
        let (operands, first) = (&operands[..], own_precision(first));
        let of = crate::element(first).ok_or_else(|| not_imported(i))?;
        if first.is_float() && i.opcode != "convert" {
            if let Some(name) = float_op(&i.opcode) {
                return Ok(self.same(name, operands, &of));
            }
        } else if let Some(name) = integer_op(&i.opcode, first) {
            return Ok(self.same(name, operands, &of));
        }
        let (a, b) = (operands[0].clone(), operands.get(1).cloned().unwrap_or_default());
        Ok(match &*i.opcode {
            "copy" | "optimization-barrier" => a,
            "convert" => self.convert(&a, first, to).ok_or_else(|| not_imported(i))?,
            "bitcast-convert" => self.reinterpreted(&a, first, to).ok_or_else(|| not_imported(i))?,
            "compare" => {
                let direction = i.attribute("direction").unwrap_or("");
                let predicate = predicate(direction, first).ok_or_else(|| not_imported(i))?;
                self.compare(predicate, &a, &b, &of)
            }
            "select" => self.select(&a, &b, &operands[2], &own),
            "clamp" => {
                // Below, the value, above.
                let (low, high) = if first.is_float() {
                    ("arith.maximumf", "arith.minimumf")
                } else if first.is_signed() {
                    ("arith.maxsi", "arith.minsi")
                } else {
                    ("arith.maxui", "arith.minui")
                };
                let raised = self.same(low, &[a, b], &of);
                self.same(high, &[raised, operands[2].clone()], &of)
            }
            "not" => {
                let ones = self.constant(if first == Pred { "true" } else { "-1" }, &of);
                self.same("arith.xori", &[a, ones], &of)
            }
            "negate" => {
                let zero = self.constant("0", &of);
                self.same("arith.subi", &[zero, a], &of)
            }
            "sign" if first.is_float() => {
                let (zero, one) = (self.constant("0.0", &of), self.constant("1.0", &of));
                let nonzero = self.compare("one", &a, &zero, &of);
                let unit = self.same("math.copysign", &[one, a.clone()], &of);
                // Zero keeps its sign, and what is no number stays none.
                self.select(&nonzero, &unit, &a, &of)
            }
            "sign" if first.is_signed() => {
                let bits = first.bits().unwrap_or(1);
                let (zero, shift) = (self.constant("0", &of), self.constant(&(bits - 1).to_string(), &of));
                let negative = self.same("arith.shrsi", &[a.clone(), shift], &of);
                let one = self.constant("1", &of);
                let positive = self.compare("sgt", &a, &zero, &of);
                self.select(&positive, &one, &negative, &of)
            }
            "logistic" if first.is_float() => {
                let one = self.constant("1.0", &of);
                let negative = self.same("arith.negf", &[a], &of);
                let power = self.same("math.exp", &[negative], &of);
                let sum = self.same("arith.addf", &[one.clone(), power], &of);
                self.same("arith.divf", &[one, sum], &of)
            }
            "is-finite" if first.is_float() => {
                // The difference of an infinity, or of what is no number, with itself is no number.
                let gap = self.same("arith.subf", &[a.clone(), a], &of);
                self.compare("ord", &gap, &gap, &of)
            }
            "divide" | "remainder" if !first.is_float() && first != Pred => self.divide(i, &a, &b, first, &of),
            "shift-left" | "shift-right-logical" | "shift-right-arithmetic" if !first.is_float() => {
                let bits = self.constant(&first.bits().unwrap_or(0).to_string(), &of);
                let inside = self.compare("ult", &b, &bits, &of);
                let (name, beyond) = match &*i.opcode {
                    "shift-left" => ("arith.shli", self.constant("0", &of)),
                    "shift-right-logical" => ("arith.shrui", self.constant("0", &of)),
                    _ => {
                        let last = self.constant(&(first.bits().unwrap_or(1) - 1).to_string(), &of);
                        ("arith.shrsi", self.same("arith.shrsi", &[a.clone(), last], &of))
                    }
                };
                let shifted = self.same(name, &[a, b], &of);
                self.select(&inside, &shifted, &beyond, &of)
            }
            _ => return Err(not_imported(i)),
        })
    }

    /// Division of integers, where HLO says what `arith` leaves open: by zero it is -1 with the remainder as it was, and
    /// the least number by -1 is itself.
    fn divide(&mut self, i: &Instruction, a: &str, b: &str, e: ElementType, of: &str) -> String {
        let (zero, one, ones) = (self.constant("0", of), self.constant("1", of), self.constant("-1", of));
        let by_zero = self.compare("eq", b, &zero, of);
        let mut bad = by_zero.clone();
        let mut overflow = None;
        if e.is_signed() {
            let least = -(1i128 << (e.bits().unwrap_or(1) - 1));
            let least = self.constant(&least.to_string(), of);
            let is_least = self.compare("eq", a, &least, of);
            let by_ones = self.compare("eq", b, &ones, of);
            let both = self.same("arith.andi", &[is_least, by_ones], "i1");
            bad = self.same("arith.ori", &[bad, both.clone()], "i1");
            overflow = Some(both);
        }
        let safe = self.select(&bad, &one, b, of);
        let kind = if e.is_signed() { "s" } else { "u" };
        if i.opcode == "divide" {
            let quotient = self.same(&format!("arith.div{kind}i"), &[a.to_string(), safe], of);
            // By 1 the least number is itself.
            return self.select(&by_zero, &ones, &quotient, of);
        }
        let rest = self.same(&format!("arith.rem{kind}i"), &[a.to_string(), safe], of);
        let rest = match overflow {
            Some(overflow) => self.select(&overflow, &zero, &rest, of),
            None => rest,
        };
        self.select(&by_zero, a, &rest, of)
    }

    /// The bits of a value as one of another type that takes as many bytes; none between types that MLIR casts not.
    pub fn reinterpreted(&mut self, a: &str, from: ElementType, to: ElementType) -> Option<String> {
        let (of, into) = (crate::element(from)?, crate::element(to)?);
        match from.bits() == to.bits() {
            _ if of == into => Some(a.to_string()),
            _ if from.is_complex() || to.is_complex() => None,
            true => Some(self.op(&format!("arith.bitcast {a} : {of} to {into}"))),
            // Truth values are bytes in memory.
            false if !from.is_float() && !to.is_float() && (from == Pred || to == Pred) => self.convert(a, from, to),
            false => None,
        }
    }

    /// A part of a value, of a narrower type: the one that the loop `number` says, the least significant being 0.
    pub fn part(&mut self, a: &str, from: ElementType, to: ElementType, number: usize) -> Option<String> {
        let (of, own) = (crate::element(from)?, crate::element(to)?);
        let (wide, narrow) = (from.bits()?, to.bits()?);
        if from.is_complex() || to.is_complex() || narrow >= wide {
            return None;
        }
        let (all, part) = (format!("i{wide}"), format!("i{narrow}"));
        let bits = if of == all { a.to_string() } else { self.op(&format!("arith.bitcast {a} : {of} to {all}")) };
        let index = self.op(&format!("linalg.index {number} : index"));
        let (place, width) =
            (self.op(&format!("arith.index_cast {index} : index to {all}")), self.constant(&narrow.to_string(), &all));
        let by = self.same("arith.muli", &[place, width], &all);
        let shifted = self.same("arith.shrui", &[bits, by], &all);
        let cut = self.op(&format!("arith.trunci {shifted} : {all} to {part}"));
        Some(if own == part { cut } else { self.op(&format!("arith.bitcast {cut} : {part} to {own}")) })
    }

    /// A number as one of another type; none between types that have no conversion here.
    pub fn convert(&mut self, a: &str, from: ElementType, to: ElementType) -> Option<String> {
        let (of, into) = (crate::element(from)?, crate::element(to)?);
        if from == to || of == into {
            return Some(a.to_string());
        }
        if from.is_complex() || to.is_complex() {
            return None;
        }
        let (narrow, wide) = (from.bits()?, to.bits()?);
        let cast = |name: &str, a: &str, of: &str, into: &str| format!("arith.{name} {a} : {of} to {into}");
        Some(match (from.is_float(), to.is_float()) {
            (true, true) if narrow < wide => self.op(&cast("extf", a, &of, &into)),
            (true, true) if narrow > wide => self.op(&cast("truncf", a, &of, &into)),
            (true, true) => {
                let middle = if narrow < 32 { "f32" } else { "f64" };
                let wide = self.op(&cast("extf", a, &of, middle));
                self.op(&cast("truncf", &wide, middle, &into))
            }
            (false, true) => self.op(&cast(if from.is_signed() { "sitofp" } else { "uitofp" }, a, &of, &into)),
            (true, false) if to == Pred => {
                let zero = self.constant("0.0", &of);
                self.compare("une", a, &zero, &of)
            }
            (false, false) if to == Pred => {
                let zero = self.constant("0", &of);
                self.compare("ne", a, &zero, &of)
            }
            (true, false) => {
                // What is out of range becomes the nearest number, what is no number zero.
                let bits = u32::try_from(wide).ok()?;
                let (least, most) = match to.is_signed() {
                    true => (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1),
                    false => (0, (1i128 << bits) - 1),
                };
                let middle = "f64";
                let wide = if narrow == 64 { a.to_string() } else { self.op(&cast("extf", a, &of, middle)) };
                let name = if to.is_signed() { "fptosi" } else { "fptoui" };
                let inside = self.op(&cast(name, &wide, middle, &into));
                let above = self.constant(&decimal(most as f64 + if bits < 53 { 1.0 } else { 0.0 }), middle);
                let below = self.constant(&decimal(least as f64), middle);
                // As bits, since literals of a signless type have a sign.
                let most = if to.is_signed() { most } else { -1 };
                let (least, most, zero) = (
                    self.constant(&least.to_string(), &into),
                    self.constant(&most.to_string(), &into),
                    self.constant("0", &into),
                );
                let over = self.compare("oge", &wide, &above, middle);
                let under = self.compare("ole", &wide, &below, middle);
                let none = self.compare("uno", &wide, &wide, middle);
                let value = self.select(&over, &most, &inside, &into);
                let value = self.select(&under, &least, &value, &into);
                self.select(&none, &zero, &value, &into)
            }
            (false, false) if narrow > wide => self.op(&cast("trunci", a, &of, &into)),
            (false, false) => self.op(&cast(if from.is_signed() { "extsi" } else { "extui" }, a, &of, &into)),
        })
    }
}

fn not_imported(i: &Instruction) -> String {
    format!("`{}` cannot be imported", i.opcode)
}

/// Operations on floating-point numbers that have a counterpart of one name.
fn float_op(opcode: &str) -> Option<&'static str> {
    Some(match opcode {
        "abs" => "math.absf",
        "add" => "arith.addf",
        "atan2" => "math.atan2",
        "cbrt" => "math.cbrt",
        "ceil" => "math.ceil",
        "cosine" => "math.cos",
        "divide" => "arith.divf",
        "erf" => "math.erf",
        "exponential" => "math.exp",
        "exponential-minus-one" => "math.expm1",
        "floor" => "math.floor",
        "log" => "math.log",
        "log-plus-one" => "math.log1p",
        "maximum" => "arith.maximumf",
        "minimum" => "arith.minimumf",
        "multiply" => "arith.mulf",
        "negate" => "arith.negf",
        "power" => "math.powf",
        "remainder" => "arith.remf",
        "round-nearest-afz" => "math.round",
        "round-nearest-even" => "math.roundeven",
        "rsqrt" => "math.rsqrt",
        "sine" => "math.sin",
        "sqrt" => "math.sqrt",
        "subtract" => "arith.subf",
        "tan" => "math.tan",
        "tanh" => "math.tanh",
        _ => return None,
    })
}

/// Operations on integers that have a counterpart of one name.
fn integer_op(opcode: &str, e: ElementType) -> Option<&'static str> {
    Some(match opcode {
        "abs" if e.is_signed() => "math.absi",
        // Sums of truth values are disjunctions, products conjunctions.
        "add" if e == Pred => "arith.ori",
        "multiply" if e == Pred => "arith.andi",
        "add" => "arith.addi",
        "and" => "arith.andi",
        "count-leading-zeros" => "math.ctlz",
        "maximum" if e.is_signed() => "arith.maxsi",
        "maximum" => "arith.maxui",
        "minimum" if e.is_signed() => "arith.minsi",
        "minimum" => "arith.minui",
        "multiply" => "arith.muli",
        "or" => "arith.ori",
        "popcnt" => "math.ctpop",
        "subtract" if e != Pred => "arith.subi",
        "xor" => "arith.xori",
        _ => return None,
    })
}

fn predicate(direction: &str, e: ElementType) -> Option<&'static str> {
    let place = ["EQ", "NE", "LT", "LE", "GT", "GE"].iter().position(|known| *known == direction)?;
    Some(
        match (e.is_float(), e.is_signed()) {
            (true, _) => ["oeq", "une", "olt", "ole", "ogt", "oge"],
            (false, true) => ["eq", "ne", "slt", "sle", "sgt", "sge"],
            (false, false) => ["eq", "ne", "ult", "ule", "ugt", "uge"],
        }[place],
    )
}

/// The value of a constant as an attribute's text: a splat, or nested lists. None where it is left out or has no text.
pub fn dense(literal: &Literal, e: ElementType, sizes: &[i64]) -> Option<String> {
    let all: Vec<String> = match &literal.values {
        Values::Booleans(values) => values.iter().map(bool::to_string).collect(),
        Values::Integers(values) => values.iter().map(|x| signless(*x, e)).collect(),
        Values::Floats(values) => values.iter().map(|x| float(*x, e)).collect::<Option<_>>()?,
        Values::Complex(values) => {
            let part = if e == ElementType::C64 { ElementType::F32 } else { ElementType::F64 };
            let one = |(re, im): &(f64, f64)| Some(format!("({}, {})", float(*re, part)?, float(*im, part)?));
            values.iter().map(one).collect::<Option<_>>()?
        }
        Values::Elided | Values::Tuple(_) => return None,
    };
    match all.first() {
        None => Some(String::new()),
        Some(first) if all.iter().all(|x| x == first) => Some(first.clone()),
        _ => {
            let (mut out, mut at) = (String::new(), 0);
            nested(&all, sizes, &mut at, &mut out);
            Some(out)
        }
    }
}

fn nested(all: &[String], sizes: &[i64], at: &mut usize, out: &mut String) {
    let Some((size, rest)) = sizes.split_first() else {
        out.push_str(&all[*at]);
        *at += 1;
        return;
    };
    out.push('[');
    for k in 0..*size {
        out.push_str(if k == 0 { "" } else { ", " });
        nested(all, rest, at, out);
    }
    out.push(']');
}

/// An integer as a literal of a type without a sign, which is read as a signed one.
fn signless(x: i128, e: ElementType) -> String {
    let bits = e.bits().unwrap_or(64);
    let turned = if x >= 1i128 << (bits - 1) && bits > 1 { x - (1i128 << bits) } else { x };
    turned.to_string()
}

/// A floating-point number as a literal: decimal, or its bits where it is none.
fn float(x: f64, e: ElementType) -> Option<String> {
    use ElementType::{BF16, F16, F32, F64};
    if x.is_finite() {
        return Some(decimal(x));
    }
    let (infinity, nan, sign) = match e {
        F16 => (0x7C00u64, 0x7E00, 1u64 << 15),
        BF16 => (0x7F80, 0x7FC0, 1 << 15),
        F32 => (0x7F80_0000, 0x7FC0_0000, 1 << 31),
        F64 => (0x7FF0 << 48, 0x7FF8 << 48, 1 << 63),
        _ => return None,
    };
    let bits = if x.is_nan() { nan } else { infinity } | if x.is_sign_negative() { sign } else { 0 };
    Some(format!("0x{bits:0width$X}", width = e.bits()? as usize / 4))
}

/// A number with the point that MLIR wants.
fn decimal(x: f64) -> String {
    let text = format!("{x:e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    format!("{digits}{}e{exponent}", if digits.contains('.') { "" } else { ".0" })
}

/// A scalar constant of a computation.
pub fn scalar_constant(w: &mut Writer, i: &Instruction, e: ElementType) -> Written {
    let of = crate::element(e).ok_or_else(|| not_imported(i))?;
    let value = i.literal.as_ref().and_then(|literal| dense(literal, e, &[])).ok_or_else(|| not_imported(i))?;
    Ok(w.constant(&value, &of))
}
