//! Parser and printer of indexing maps.
//!
//! `(d0, d1)[s0] -> (d0, d1 floordiv 8, s0), domain: d0 in [0, 9], d1 in [0, 63], s0 in [0, 15], d0 + s0 in [0, 20]`
//! has the variables, the results, and an interval for each variable, in order, and for each constraint. White space is
//! free; `/` is `floordiv`.
//!
//! From strong to weak bind: a sign; `*`, `floordiv`, `ceildiv`, `mod`, from left to right; `+` and `-`. This is the
//! order of MLIR's affine expressions, so `-(d0) floordiv 2` is `(-d0) floordiv 2` in both. The printer puts
//! parentheses around an operand with a sign and around the operand of a sign.
//!
//! A sum may have any number of terms. Operations nest up to [`DEPTH`] deep and parentheses up to [`PARENTHESES`], so
//! that reading, printing and simplifying, which recurse, take less than 128 KiB of stack. Reading is linear in the
//! text.

use crate::expr::{Expr, Named};
use crate::limits;
use crate::maps::domain::{Domain, Interval};
use crate::maps::map::{Indexing, IndexingMap};
use crate::text::{Cursor, Error, did_you_mean, excerpt, from_str};
use std::collections::BTreeMap;
use std::fmt::{self, Display, Write};

/// The greatest depth of operations; a division counts 4, since it may be written with a sign, a sum and a product
/// inside.
pub const DEPTH: usize = limits::MAP_OPERATIONS;

/// The greatest depth of parentheses, including those of `min(..)` and `max(..)`.
pub const PARENTHESES: usize = limits::MAP_PARENTHESES;

/// Words that cannot name a variable.
const RESERVED: [&str; 6] = ["floordiv", "ceildiv", "mod", "min", "max", "in"];

impl Indexing {
    /// Reads a map, `KNOWN EMPTY` or `UNDEFINED`.
    ///
    /// # Errors
    /// The fault, at its byte of the text.
    pub fn parse(text: &str) -> Result<Indexing, Error> {
        let mut reader = MapReader { cursor: Cursor::without_comments(text), names: BTreeMap::new() };
        let value = if reader.keyword("KNOWN") {
            if !reader.keyword("EMPTY") {
                return Err(reader.cursor.expected("`EMPTY`"));
            }
            Indexing::KnownEmpty
        } else if reader.keyword("UNDEFINED") {
            Indexing::Undefined
        } else {
            Indexing::Map(reader.map()?)
        };
        reader.cursor.finish("the end of the text")?;
        Ok(value)
    }
}

impl IndexingMap {
    /// Reads a map. Unlike [`Indexing::parse`], refuses `KNOWN EMPTY` and `UNDEFINED`.
    ///
    /// # Errors
    /// The fault, at its byte of the text.
    ///
    /// # Example
    /// ```
    /// use tensor_layout::maps::IndexingMap;
    /// let text = "(d0)[s0] -> (d0 * 4 + s0), domain: d0 in [0, 9], s0 in [0, 3], d0 + s0 in [0, 10]";
    /// assert_eq!(IndexingMap::parse(text).unwrap().to_string(), text);
    /// assert_eq!(IndexingMap::parse("(d0) -> (d1), domain: d0 in [0, 9]").unwrap_err().at, Some(9));
    /// ```
    pub fn parse(text: &str) -> Result<IndexingMap, Error> {
        match Indexing::parse(text)? {
            Indexing::Map(map) => Ok(map),
            value => Err(Error::at(0, format!("expected a map, found `{value}`")).syntax()),
        }
    }
}

/// An expression, and the depth of its operations.
struct ParsedExpr {
    expr: Expr,
    depth: usize,
}

/// A map without its domain.
struct MapHead<'a> {
    names: Vec<&'a str>,
    dims: usize,
    ranges: usize,
    results: Vec<Expr>,
}

/// Reads a map of dimension variables alone, without a domain, as in MLIR's `affine_map<..>`: the number of variables
/// and the results.
#[cfg(feature = "notations")]
pub(crate) fn read_affine(cursor: &mut Cursor) -> Result<(usize, Vec<Expr>), Error> {
    let at = cursor.at();
    let mut reader = MapReader { cursor: *cursor, names: BTreeMap::new() };
    let head = reader.head()?;
    *cursor = reader.cursor;
    match head.dims == head.names.len() {
        true => Ok((head.dims, head.results)),
        false => {
            Err(Error::at(at, "the map must have no symbols: their values are known only at run time").unsupported())
        }
    }
}

/// A reader of a map.
struct MapReader<'a> {
    cursor: Cursor<'a>,
    /// The numbers of the variables.
    names: BTreeMap<&'a str, usize>,
}

impl<'a> MapReader<'a> {
    /// Takes a word if it is next.
    fn keyword(&mut self, word: &str) -> bool {
        let next = self.cursor.peek_name() == Some(word);
        if next {
            self.cursor.advance(word.len());
        }
        next
    }

    fn map(&mut self) -> Result<IndexingMap, Error> {
        let head = self.head()?;
        let domain = self.domain(&head.names)?;
        let MapHead { names, dims, ranges, results } = head;
        let mut map = IndexingMap { dims, ranges, names: Vec::new(), results, domain };
        map.names =
            (0..names.len()).map(|v| Some(names[v].to_string()).filter(|name| *name != map.default_name(v))).collect();
        Ok(map)
    }

    /// Reads the variables and the results.
    fn head(&mut self) -> Result<MapHead<'a>, Error> {
        let mut names = Vec::new();
        self.cursor.expect("(", "`(` and the dimension variables")?;
        self.variables(&mut names, ")", "`)`")?;
        let dims = names.len();
        if self.cursor.eat("[") {
            self.variables(&mut names, "]", "`]`")?;
        }
        let ranges = names.len() - dims;
        if self.cursor.eat("{") {
            self.variables(&mut names, "}", "`}`")?;
        }
        self.cursor.expect("->", "`->`")?;
        self.cursor.expect("(", "`(` and the results")?;
        let mut results = Vec::new();
        if !self.cursor.eat(")") {
            loop {
                results.push(self.sum(0)?.expr);
                if !self.cursor.eat(",") {
                    break;
                }
            }
            self.cursor.expect(")", "an operator, `,` or `)`")?;
        }
        Ok(MapHead { names, dims, ranges, results })
    }

    fn variables(&mut self, names: &mut Vec<&'a str>, close: &str, closing: &str) -> Result<(), Error> {
        if self.cursor.eat(close) {
            return Ok(());
        }
        loop {
            let name = self.cursor.peek_name().ok_or_else(|| self.cursor.expected("a variable's name"))?;
            if RESERVED.contains(&name) {
                return Err(Error::at(
                    self.cursor.at(),
                    format!("a variable's name must not be a keyword, found `{name}`"),
                ));
            }
            if self.names.insert(name, names.len()).is_some() {
                return Err(Error::at(
                    self.cursor.at(),
                    format!("a variable must have a name of its own, found a second `{}`", excerpt(name)),
                ));
            }
            names.push(name);
            self.cursor.advance(name.len());
            if !self.cursor.eat(",") {
                return self.cursor.expect(close, &format!("`,` or {closing}"));
            }
        }
    }

    fn domain(&mut self, names: &[&str]) -> Result<Domain, Error> {
        let mut domain = Domain { vars: Vec::with_capacity(names.len()), constraints: Vec::new() };
        if self.cursor.rest().is_empty() && names.is_empty() {
            return Ok(domain);
        }
        self.cursor.expect(",", if names.is_empty() { "`, domain:` or the end of the text" } else { "`, domain:`" })?;
        if !self.keyword("domain") {
            return Err(self.cursor.expected("`domain:`"));
        }
        self.cursor.expect(":", "`:`")?;
        if names.is_empty() && self.cursor.rest().is_empty() {
            return Ok(domain);
        }
        let mut names = names.iter();
        loop {
            match names.next() {
                Some(name) => {
                    if !self.keyword(name) {
                        let name = excerpt(name);
                        return Err(self.cursor.expected(&format!("the domain of `{name}`, as `{name} in [lo, hi]`")));
                    }
                    let interval = self.interval("`in`")?;
                    domain.vars.push(interval);
                }
                None => {
                    let e = self.sum(0)?.expr;
                    let interval = self.interval("an operator or `in`")?;
                    domain.constraints.push((e, interval));
                }
            }
            if self.cursor.rest().is_empty() && names.len() == 0 {
                return Ok(domain);
            }
            self.cursor.expect(",", if names.len() > 0 { "`,`" } else { "`,` or the end of the text" })?;
        }
    }

    fn interval(&mut self, what: &str) -> Result<Interval, Error> {
        if !self.keyword("in") {
            return Err(self.cursor.expected(what));
        }
        self.cursor.expect("[", "`[`")?;
        let lo = self.signed()?;
        self.cursor.expect(",", "`,`")?;
        let hi = self.signed()?;
        self.cursor.expect("]", "`]`")?;
        Ok(Interval { lo, hi })
    }

    fn signed(&mut self) -> Result<i64, Error> {
        let negative = self.cursor.eat("-");
        self.literal(negative)
    }

    /// Reads a number after its sign.
    fn literal(&mut self, negative: bool) -> Result<i64, Error> {
        let rest = self.cursor.rest();
        let digits = &rest[..rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len())];
        if digits.is_empty() {
            return Err(self.cursor.expected("a number"));
        }
        let value = digits.parse::<i128>().ok().map(|n| if negative { -n } else { n });
        let value = value.and_then(|n| i64::try_from(n).ok()).ok_or_else(|| {
            let sign = if negative { "-" } else { "" };
            Error::at(self.cursor.at(), format!("`{sign}{}` does not fit in 64 bits", excerpt(digits))).too_large()
        })?;
        self.cursor.advance(digits.len());
        Ok(value)
    }

    /// Refuses an operation that would be too deep.
    fn nested(&self, depth: usize, at: usize) -> Result<usize, Error> {
        if depth < DEPTH {
            Ok(depth + 1)
        } else {
            Err(Error::at(at, format!("operations must nest at most {DEPTH} deep, found one more")).too_large())
        }
    }

    /// Refuses parentheses that would be too deep.
    fn inside(&self, outer: usize, at: usize) -> Result<usize, Error> {
        if outer < PARENTHESES {
            return Ok(outer + 1);
        }
        Err(Error::at(at, format!("parentheses must nest at most {PARENTHESES} deep, found one more")).too_large())
    }

    /// Reads a sum, with `outer` parentheses open around it.
    fn sum(&mut self, outer: usize) -> Result<ParsedExpr, Error> {
        let first = self.product(outer)?;
        let mut depth = first.depth;
        let mut terms = vec![first.expr];
        loop {
            let negative = self.cursor.rest().starts_with('-') && !self.cursor.rest().starts_with("->");
            if !negative && !self.cursor.rest().starts_with('+') {
                break;
            }
            let at = self.cursor.at();
            self.cursor.advance(1);
            let term = self.product(outer)?;
            depth = depth.max(term.depth);
            // One more for the sign, if there is one.
            self.nested(depth + 1, at)?;
            terms.push(if negative { term.expr.negated() } else { term.expr });
        }
        // A sum of a few terms is a chain, one of many a balanced tree.
        let levels = terms.len().saturating_sub(1).min(8 + terms.len().ilog2() as usize);
        if levels > 0 {
            self.nested(depth + levels, self.cursor.at())?;
        }
        Ok(ParsedExpr { expr: Expr::sum(terms), depth: depth + levels })
    }

    fn product(&mut self, outer: usize) -> Result<ParsedExpr, Error> {
        let negative = self.signs();
        let mut node = self.primary(outer, negative)?;
        loop {
            let at = self.cursor.at();
            let op = match self.cursor.rest().as_bytes().first() {
                Some(b'*') => "*",
                Some(b'/') => "/",
                _ => match self.cursor.peek_name() {
                    Some(word @ ("floordiv" | "ceildiv" | "mod")) => word,
                    _ => break,
                },
            };
            self.cursor.advance(op.len());
            let operand = self.cursor.at();
            let negative = self.signs();
            let right = self.primary(outer, negative)?;
            // A negative divisor takes two more operations, rounding up one.
            let depth = self.nested(node.depth.max(right.depth) + 3, at)?;
            let expr = apply(op, node.expr, right.expr).map_err(|message| Error::at(operand, message))?;
            node = ParsedExpr { expr, depth: depth - 3 + usize::from(op != "*") * 3 };
        }
        Ok(node)
    }

    /// Takes the signs before an operand; returns whether they negate it.
    fn signs(&mut self) -> bool {
        let mut negative = false;
        while self.cursor.eat("-") {
            negative = !negative;
        }
        negative
    }

    fn unknown(&self, name: &str) -> Error {
        let hint = did_you_mean(name, self.names.keys().copied());
        Error::at(self.cursor.at(), format!("unknown variable `{}`{hint}", excerpt(name))).unknown()
    }

    /// Reads a number, variable, minimum, maximum, or a sum in parentheses, negated or not.
    fn primary(&mut self, outer: usize, negative: bool) -> Result<ParsedExpr, Error> {
        let at = self.cursor.at();
        let node = match self.cursor.rest().chars().next() {
            Some('0'..='9') => return Ok(ParsedExpr { expr: Expr::Const(self.literal(negative)?), depth: 0 }),
            Some('(') => {
                let inside = self.inside(outer, at)?;
                self.cursor.advance(1);
                let node = self.sum(inside)?;
                self.cursor.expect(")", "an operator or `)`")?;
                node
            }
            _ => match self.cursor.peek_name() {
                Some(word @ ("min" | "max")) => {
                    let inside = self.inside(outer, at)?;
                    self.cursor.advance(word.len());
                    self.cursor.expect("(", "`(`")?;
                    let a = self.sum(inside)?;
                    self.cursor.expect(",", "an operator or `,`")?;
                    let b = self.sum(inside)?;
                    self.cursor.expect(")", "an operator or `)`")?;
                    let depth = self.nested(a.depth.max(b.depth), at)?;
                    let (a, b) = (Box::new(a.expr), Box::new(b.expr));
                    ParsedExpr { expr: if word == "min" { Expr::Min(a, b) } else { Expr::Max(a, b) }, depth }
                }
                Some(word) if !RESERVED.contains(&word) => {
                    let variable = self.names.get(word).copied();
                    let variable = variable.ok_or_else(|| self.unknown(word))?;
                    self.cursor.advance(word.len());
                    ParsedExpr { expr: Expr::Var(variable), depth: 0 }
                }
                _ => return Err(self.cursor.expected("an expression")),
            },
        };
        if !negative {
            return Ok(node);
        }
        Ok(ParsedExpr { depth: self.nested(node.depth, at)?, expr: node.expr.negated() })
    }
}

/// The value of an expression without variables; an error if it does not fit in 64 bits.
fn constant(e: &Expr) -> Option<Result<i64, String>> {
    if let Expr::Const(c) = e {
        return Some(Ok(*c));
    }
    let mut stack = vec![e];
    while let Some(e) = stack.pop() {
        if let Expr::Var(_) = e {
            return None;
        }
        stack.extend(e.operands());
    }
    Some(e.evaluate(&[]).ok_or_else(|| "this does not fit in 64 bits".to_string()))
}

/// Applies an operation of a product; the operand that must be constant has to be one.
fn apply(op: &str, a: Expr, b: Expr) -> Result<Expr, String> {
    if op == "*" {
        if let Some(factor) = constant(&b) {
            return Ok(a.times(factor?));
        }
        let factor = constant(&a).ok_or("one side of a product must be a constant, found variables in both")?;
        return Ok(b.times(factor?));
    }
    let divisor = constant(&b).ok_or("a divisor must be a constant, found a variable in it")??;
    if divisor == 0 {
        return Err("a divisor must not be 0, found 0".to_string());
    }
    let size = divisor.checked_abs().ok_or("the divisor does not fit in 64 bits")?;
    // By a negative divisor: a floordiv -b = (-a) floordiv b, and a mod -b = -((-a) mod b).
    let a = if divisor < 0 { a.negated() } else { a };
    Ok(match op {
        "mod" if divisor < 0 => a.modulo(size).negated(),
        "mod" => a.modulo(size),
        "ceildiv" => (a + Expr::Const(size - 1)).floor_div(size),
        _ => a.floor_div(size),
    })
}

from_str!(Indexing: Error, IndexingMap: Error);

impl Display for IndexingMap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = |v: usize| self.name(v);
        let mut kinds = [const { Vec::new() }; 3];
        for v in 0..self.domain.vars.len() {
            kinds[self.kind(v) as usize].push(name(v));
        }
        let [dims, ranges, run_time] = kinds;
        write!(f, "({})", dims.join(", "))?;
        if !ranges.is_empty() {
            write!(f, "[{}]", ranges.join(", "))?;
        }
        if !run_time.is_empty() {
            write!(f, "{{{}}}", run_time.join(", "))?;
        }
        f.write_str(" -> (")?;
        for (k, e) in self.results.iter().enumerate() {
            write!(f, "{}{}", if k == 0 { "" } else { ", " }, Named(e, &name))?;
        }
        f.write_char(')')?;
        let mut separator = ", domain: ";
        for (v, i) in self.domain.vars.iter().enumerate() {
            write!(f, "{separator}{} in [{}, {}]", name(v), i.lo, i.hi)?;
            separator = ", ";
        }
        for (e, i) in &self.domain.constraints {
            write!(f, "{separator}{} in [{}, {}]", Named(e, &name), i.lo, i.hi)?;
            separator = ", ";
        }
        Ok(())
    }
}

impl Display for Indexing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Indexing::Map(map) => map.fmt(f),
            Indexing::KnownEmpty => f.write_str("KNOWN EMPTY"),
            Indexing::Undefined => f.write_str("UNDEFINED"),
        }
    }
}
