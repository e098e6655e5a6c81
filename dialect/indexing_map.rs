//! `#layout.indexing_map`: an indexing map whose results are an affine map.

use crate::affine;
use ::tensor_layout::expr::Expr;
use ::tensor_layout::maps::{Domain, Interval};
use ::tensor_layout::maps::{Indexing, IndexingMap};
use ::tensor_layout::text::Error;
use melior::Context;
use melior::ir::{AffineExpr, AffineMap};

/// What the attribute holds: [`Indexing`] with its expressions as affine maps.
pub struct Parts<'c> {
    /// 0 for a map, 1 for `KNOWN EMPTY`, 2 for `UNDEFINED`.
    pub kind: i64,
    /// The results, over dimension variables as dimensions and all others as symbols.
    pub map: AffineMap<'c>,
    /// How many of the symbols, the first ones, are range variables.
    pub ranges: i64,
    /// Low and high of each variable.
    pub intervals: Vec<i64>,
    /// One result for each constraint.
    pub constraints: AffineMap<'c>,
    /// Low and high of each constraint.
    pub constraint_intervals: Vec<i64>,
    /// The variables' own names, separated by commas; empty where none has one.
    pub names: String,
}

/// Reads the body of the attribute. (C9) A minimum or maximum must go by simplification.
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
        let message = "the coefficients, added up, do not fit in the 64 bits of an affine map";
        return Err(Error::at(greatest_number(text), message));
    }
    let at = ["min", "max"].iter().filter_map(|word| text.find(word)).min();
    let message = "the domain does not decide this minimum or maximum, and an affine map cannot say it";
    Err(Error::at(at.unwrap_or(0), message))
}

fn is_affine(value: &Indexing) -> bool {
    let Indexing::Map(map) = value else { return true };
    map.exprs().all(affine::is_affine)
}

/// Where the greatest number of a text stands.
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

/// Takes a value apart.
///
/// # Panics
/// Where it keeps a minimum or maximum.
pub fn parts<'c>(context: &'c Context, value: &Indexing) -> Parts<'c> {
    let Indexing::Map(map) = value else {
        let empty = AffineMap::empty(context);
        let kind = if *value == Indexing::KnownEmpty { 1 } else { 2 };
        return Parts {
            kind,
            map: empty,
            ranges: 0,
            intervals: Vec::new(),
            constraints: empty,
            constraint_intervals: Vec::new(),
            names: String::new(),
        };
    };
    let variable = |v: usize| match v.checked_sub(map.dims) {
        None => AffineExpr::dim(context, v),
        Some(symbol) => AffineExpr::symbol(context, symbol),
    };
    let of = |exprs: &mut dyn Iterator<Item = &Expr>| {
        let exprs: Vec<_> = exprs.map(|e| affine::affine_expr(context, e, &variable)).collect();
        AffineMap::new(context, map.dims, map.variables() - map.dims, &exprs)
    };
    let ends = |i: &Interval| [i.lo, i.hi];
    let own = map.names.iter().any(Option::is_some);
    let names: Vec<&str> = map.names.iter().map(|n| n.as_deref().unwrap_or("")).collect();
    Parts {
        kind: 0,
        map: of(&mut map.results.iter()),
        ranges: map.ranges as i64,
        intervals: map.domain.vars.iter().flat_map(ends).collect(),
        constraints: of(&mut map.domain.constraints.iter().map(|c| &c.0)),
        constraint_intervals: map.domain.constraints.iter().flat_map(|c| ends(&c.1)).collect(),
        names: if own { names.join(",") } else { String::new() },
    }
}

/// Puts a value together; the error says what does not fit.
pub fn value(parts: &Parts) -> Result<Indexing, String> {
    match parts.kind {
        0 => {}
        1 => return Ok(Indexing::KnownEmpty),
        2 => return Ok(Indexing::Undefined),
        kind => return Err(format!("there is no kind {kind} of indexing map")),
    }
    let (dims, symbols) = (parts.map.dim_count(), parts.map.symbol_count());
    let variables = dims + symbols;
    if (parts.constraints.dim_count(), parts.constraints.symbol_count()) != (dims, symbols) {
        return Err("results and constraints must have the same variables".into());
    }
    // (C7)
    if parts.intervals.len() != 2 * variables {
        return Err(format!("{variables} variables need {} bounds, not {}", 2 * variables, parts.intervals.len()));
    }
    let constraints = parts.constraints.result_count();
    if parts.constraint_intervals.len() != 2 * constraints {
        return Err(format!("{constraints} constraints need {} bounds", 2 * constraints));
    }
    // (C8)
    let ranges = usize::try_from(parts.ranges).ok().filter(|n| *n <= symbols);
    let ranges = ranges.ok_or_else(|| format!("{} range variables are not among {symbols} symbols", parts.ranges))?;
    let names: Vec<Option<String>> = if parts.names.is_empty() {
        vec![None; variables]
    } else {
        parts.names.split(',').map(|n| (!n.is_empty()).then(|| n.to_owned())).collect()
    };
    if names.len() != variables {
        return Err(format!("{variables} variables have {} names", names.len()));
    }
    let intervals = |ends: &[i64]| ends.chunks_exact(2).map(|e| Interval::new(e[0], e[1])).collect::<Vec<_>>();
    let not_affine = "a product or divisor is not a constant";
    let results = affine::exprs_of_map(parts.map).ok_or(not_affine)?;
    let exprs = affine::exprs_of_map(parts.constraints).ok_or(not_affine)?;
    let constraints = exprs.into_iter().zip(intervals(&parts.constraint_intervals)).collect();
    let domain = Domain { vars: intervals(&parts.intervals), constraints };
    Ok(Indexing::Map(IndexingMap { dims, ranges, names, results, domain }))
}
