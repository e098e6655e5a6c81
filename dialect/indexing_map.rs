//! `#layout.indexing_map`: an [`Indexing`] in MLIR's parts.
//!
//! Results and constraints become affine maps, so that MLIR's own passes can read them; intervals become lists of
//! numbers. `(d0)[s0] -> (d0 * 8 + s0), domain: d0 in [0, 9], s0 in [0, 7]` has the results
//! `(d0)[s0] -> (d0 * 8 + s0)`, one range variable and the intervals `0, 9, 0, 7`.
//!
//! An affine map has no minimum and no maximum, and MLIR adds and multiplies its coefficients without a check. A value
//! with either is refused, unless simplification over the domain removes the cause.

use crate::affine;
use ::tensor_layout::expr::Expr;
use ::tensor_layout::maps::{Domain, Interval};
use ::tensor_layout::maps::{Indexing, IndexingMap};
use ::tensor_layout::text::Error;
use melior::Context;
use melior::ir::{AffineExpr, AffineMap};

/// The parts of the attribute: [`Indexing`] with its expressions as affine maps.
pub struct Parts<'c> {
    /// 0 for a map, 1 for `KNOWN EMPTY`, 2 for `UNDEFINED`.
    pub kind: i64,
    /// The results, over dimension variables as dimensions and all others as symbols.
    pub map: AffineMap<'c>,
    /// The number of range variables, the first symbols.
    pub ranges: i64,
    /// Low and high of each variable.
    pub intervals: Vec<i64>,
    /// One result for each constraint.
    pub constraints: AffineMap<'c>,
    /// Low and high of each constraint.
    pub constraint_intervals: Vec<i64>,
    /// The variables' own names, separated by commas; empty if none has one.
    pub names: String,
}

/// Reads the body of the attribute. (indexing_map_c3) Simplification over the domain has to remove a
/// minimum or maximum.
pub fn parse(text: &str) -> Result<Indexing, Error> {
    let read = Indexing::parse(text)?;
    if is_affine(&read) {
        return Ok(read);
    }
    let Indexing::Map(map) = read else { return Ok(read) };
    let simple = map.simplify();
    if is_affine(&simple) {
        return Ok(simple);
    }
    if let Indexing::Map(map) = &simple
        && !map.exprs().all(affine::fits)
    {
        let message = "the sum of the coefficients must fit in 64 bits, in which MLIR adds them without a check";
        return Err(Error::at(greatest_number(text), message));
    }
    let at = ["min", "max"].iter().filter_map(|word| text.find(word)).min();
    let message = "an affine map cannot hold this minimum or maximum, which depends on the index even over the domain";
    Err(Error::at(at.unwrap_or(0), message))
}

fn is_affine(value: &Indexing) -> bool {
    let Indexing::Map(map) = value else { return true };
    map.exprs().all(affine::is_affine)
}

/// The byte at which the greatest number of a text starts.
fn greatest_number(text: &str) -> usize {
    let digit = |c: char| c.is_ascii_digit();
    let starts = text.char_indices().filter(|(at, c)| digit(*c) && !text[..*at].ends_with(digit));
    let value = |at: usize| {
        let digits = text[at..].trim_start_matches('0');
        let digits = &digits[..digits.find(|c| !digit(c)).unwrap_or(digits.len())];
        (digits.len(), digits)
    };
    starts.map(|(at, _)| at).max_by_key(|at| value(*at)).unwrap_or(0)
}

impl Parts<'_> {
    /// Whether the kind is a map: neither `KNOWN EMPTY` nor `UNDEFINED`.
    pub fn is_map(&self) -> bool {
        self.kind == 0
    }
}

/// The parts of a value.
///
/// # Errors
/// (indexing_map_c3) A result or a constraint that has a minimum or a maximum, or coefficients beyond 64 bits.
pub fn parts<'c>(context: &'c Context, value: &Indexing) -> Result<Parts<'c>, Error> {
    let Indexing::Map(map) = value else {
        let empty = AffineMap::empty(context);
        let kind = if *value == Indexing::KnownEmpty { 1 } else { 2 };
        return Ok(Parts {
            kind,
            map: empty,
            ranges: 0,
            intervals: Vec::new(),
            constraints: empty,
            constraint_intervals: Vec::new(),
            names: String::new(),
        });
    };
    let variable = |v: usize| match v.checked_sub(map.dims) {
        None => AffineExpr::dim(context, v),
        Some(symbol) => AffineExpr::symbol(context, symbol),
    };
    let expr = |e: &Expr| {
        let affine = if affine::fits(e) { affine::affine_expr(context, e, &variable) } else { None };
        affine.ok_or_else(|| Error::new(format!("an affine map cannot hold `{value}`: it has {}", obstacle(e))))
    };
    let of = |exprs: &mut dyn Iterator<Item = &Expr>| {
        let exprs = exprs.map(expr).collect::<Result<Vec<_>, _>>()?;
        Ok::<_, Error>(AffineMap::new(context, map.dims, map.variables() - map.dims, &exprs))
    };
    let ends = |i: &Interval| [i.lo, i.hi];
    let own = map.names.iter().any(Option::is_some);
    let names: Vec<&str> = map.names.iter().map(|n| n.as_deref().unwrap_or("")).collect();
    Ok(Parts {
        kind: 0,
        map: of(&mut map.results.iter())?,
        ranges: map.ranges as i64,
        intervals: map.domain.vars.iter().flat_map(ends).collect(),
        constraints: of(&mut map.domain.constraints.iter().map(|c| &c.0))?,
        constraint_intervals: map.domain.constraints.iter().flat_map(|c| ends(&c.1)).collect(),
        names: if own { names.join(",") } else { String::new() },
    })
}

/// The reason why an expression is not affine.
fn obstacle(e: &Expr) -> &'static str {
    if affine::fits(e) { "a minimum or maximum" } else { "coefficients whose sum does not fit in 64 bits" }
}

/// The value of parts, which C++ may have made.
///
/// # Errors
/// Parts that contradict each other.
pub fn value(parts: &Parts) -> Result<Indexing, String> {
    match parts.kind {
        0 => {}
        1 => return Ok(Indexing::KnownEmpty),
        2 => return Ok(Indexing::Undefined),
        kind => return Err(format!("expected kind 0, 1 or 2 of indexing map, found {kind}")),
    }
    let (dims, symbols) = (parts.map.dim_count(), parts.map.symbol_count());
    let variables = dims + symbols;
    if (parts.constraints.dim_count(), parts.constraints.symbol_count()) != (dims, symbols) {
        return Err("results and constraints must have the same variables".into());
    }
    // (indexing_map_c1)
    if parts.intervals.len() != 2 * variables {
        return Err(format!(
            "expected {} bounds of {variables} variables, found {}",
            2 * variables,
            parts.intervals.len()
        ));
    }
    let constraints = parts.constraints.result_count();
    if parts.constraint_intervals.len() != 2 * constraints {
        return Err(format!(
            "expected {} bounds of {constraints} constraints, found {}",
            2 * constraints,
            parts.constraint_intervals.len()
        ));
    }
    // (indexing_map_c2)
    let ranges = usize::try_from(parts.ranges).ok().filter(|n| *n <= symbols);
    let ranges = ranges.ok_or_else(|| format!("expected 0 to {symbols} range variables, found {}", parts.ranges))?;
    let names: Vec<Option<String>> = if parts.names.is_empty() {
        vec![None; variables]
    } else {
        parts.names.split(',').map(|n| (!n.is_empty()).then(|| n.to_owned())).collect()
    };
    if names.len() != variables {
        return Err(format!("expected {variables} names of variables, found {}", names.len()));
    }
    let intervals = |ends: &[i64]| ends.chunks_exact(2).map(|e| Interval::new(e[0], e[1])).collect::<Vec<_>>();
    let not_affine = "one factor of each product, and each divisor, must be a constant";
    let results = affine::exprs_of_map(parts.map).ok_or(not_affine)?;
    let exprs = affine::exprs_of_map(parts.constraints).ok_or(not_affine)?;
    let constraints = exprs.into_iter().zip(intervals(&parts.constraint_intervals)).collect();
    let domain = Domain { vars: intervals(&parts.intervals), constraints };
    Ok(Indexing::Map(IndexingMap { dims, ranges, names, results, domain }))
}
