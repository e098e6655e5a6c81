//! The relation of two tensors' elements: equations that are solved for one side or the other.
//!
//! A pooling window with stride 2 reads position `w` of window `o` at `i = 2*o + w - 1`. Given `o`, the position `w` is
//! a range variable and `i` follows. Given `i`, the equation `2*o + w = i + 1` with `w` in `[0, 1]` has one solution:
//! `o` and `w` are digits, the quotient and the remainder of `i + 1` by 2. One set of equations gives both directions,
//! so they cannot disagree.
//!
//! The rule: an equation whose coefficients make its unknowns digits (each larger than the sum of all smaller ones) is
//! solved by division with remainder. If no such equation is left, an unknown becomes a range variable. A solved
//! unknown must be in its interval; the simplifier drops such constraints that always hold.

use crate::expr::Expr;
use crate::maps::domain::{Domain, Interval};
use crate::maps::map::{Indexing, IndexingMap};
use crate::maps::simplify::simplify;
use crate::text::Error;

use super::access::{Mapped, RunTime};
use super::compose::DEVICE;

/// The given side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    /// The output's index is given; the map gives the elements it reads.
    Reads,
    /// The input's index is given; the map gives the elements it feeds.
    Feeds,
}

/// A sum of unknowns times constants.
pub(super) type Terms = Vec<(usize, i64)>;

/// The limit on coefficients and constants, so that sums of a few of them fit.
const LARGEST: i64 = 1 << 62;

/// The limit on operations in the value of one unknown before simplification.
const LONGEST: usize = 1 << 16;

/// Equations over the indices of an output and an input, and further unknowns.
#[derive(Clone, Debug)]
pub(super) struct Relation {
    /// The number of devices, which are index 0 of both sides.
    devices: Option<i64>,
    intervals: Vec<Interval>,
    outs: usize,
    ins: usize,
    /// Each sum with its interval; a one-point interval makes it an equation.
    sums: Vec<(Terms, Interval)>,
    /// Unknowns that become range variables before the solution.
    loops: Vec<usize>,
    run_time: Vec<RunTimeUnknown>,
}

#[derive(Clone, Debug)]
struct RunTimeUnknown {
    unknown: usize,
    operand: usize,
    element: Vec<Element>,
    clamped: bool,
}

/// One coordinate of an element: an unknown, or a number.
#[derive(Clone, Copy, Debug)]
pub(super) enum Element {
    Unknown(usize),
    At(i64),
}

impl Relation {
    /// The relation of every element of the output and every element of the input.
    pub fn new(out: &[i64], input: &[i64]) -> Relation {
        Relation {
            devices: None,
            intervals: out.iter().chain(input).map(|n| Interval::new(0, n - 1)).collect(),
            outs: out.len(),
            ins: input.len(),
            sums: Vec::new(),
            loops: Vec::new(),
            run_time: Vec::new(),
        }
    }

    /// The same relation on `n` devices: index 0 of both sides is the device.
    pub fn across(n: i64, out: &[i64], input: &[i64]) -> Relation {
        Relation { devices: Some(n), ..Relation::new(&[&[n], out].concat(), &[&[n], input].concat()) }
    }

    /// The unknown of the output's index along a dimension.
    pub fn out(&self, dim: usize) -> usize {
        dim
    }

    /// The unknown of the input's index along a dimension.
    pub fn input(&self, dim: usize) -> usize {
        self.outs + dim
    }

    /// Adds a further unknown.
    pub fn unknown(&mut self, lo: i64, hi: i64) -> usize {
        self.intervals.push(Interval::new(lo, hi));
        self.intervals.len() - 1
    }

    /// Makes an unknown a range variable.
    pub fn range(&mut self, unknown: usize) {
        self.loops.push(unknown);
    }

    /// Adds an unknown whose value is in an element of an operand; outside `[lo, hi]` it is clamped, or nothing is
    /// related.
    pub fn run_time(&mut self, (lo, hi): (i64, i64), operand: usize, element: Vec<Element>, clamped: bool) -> usize {
        let unknown = self.unknown(lo, hi);
        self.run_time.push(RunTimeUnknown { unknown, operand, element, clamped });
        unknown
    }

    /// Requires that the terms and the constant add up to 0.
    pub fn equation(&mut self, terms: Terms, constant: i64) -> Result<(), Error> {
        let value = constant.checked_neg().ok_or_else(too_large)?;
        self.within(terms, value, value)
    }

    /// Requires that the sum of the terms is in `[lo, hi]`.
    pub fn within(&mut self, terms: Terms, lo: i64, hi: i64) -> Result<(), Error> {
        if terms.iter().map(|t| t.1).chain([lo, hi]).any(|c| !(-LARGEST..=LARGEST).contains(&c)) {
            return Err(too_large());
        }
        self.sums.push((terms, Interval::new(lo, hi)));
        Ok(())
    }

    /// Equates the indices of the two sides along these dimensions.
    pub fn link(&mut self, out: usize, input: usize) -> Result<(), Error> {
        self.equation(vec![(self.out(out), 1), (self.input(input), -1)], 0)
    }

    /// Solves for the map from the given side to the other; `None` if nothing is related.
    ///
    /// # Errors
    /// A coefficient that overflows 64 bits.
    pub fn solve(&self, direction: Direction) -> Result<Option<Mapped>, Error> {
        if self.intervals.iter().any(|i| i.lo > i.hi) {
            return Ok(None);
        }
        let (outs, ins) = (0..self.outs, self.outs..self.outs + self.ins);
        let (given, wanted) = match direction {
            Direction::Reads => (outs, ins),
            Direction::Feeds => (ins, outs),
        };
        let known = given.clone().chain(self.run_time.iter().map(|r| r.unknown));
        let mut solver = Solver {
            relation: self,
            values: vec![None; self.intervals.len()],
            open: (0..self.sums.len()).collect(),
            ranges: Vec::new(),
            constraints: Vec::new(),
        };
        for v in known {
            solver.values[v] = Some(Expr::Var(v));
        }
        for (value, i) in solver.values.iter_mut().zip(&self.intervals) {
            if value.is_none() && i.lo == i.hi {
                *value = Some(Expr::Const(i.lo));
            }
        }
        for v in &self.loops {
            solver.choose(*v);
        }
        // Unknowns of neither side come last; unused ones are skipped.
        let mut choices = wanted.clone().chain(self.outs + self.ins..self.intervals.len());
        loop {
            if solver.step()? {
                continue;
            }
            let next = choices.find(|v| {
                let used = || solver.open.iter().any(|k| self.sums[*k].0.iter().any(|t| t.0 == *v));
                solver.values[*v].is_none() && (wanted.contains(v) || used())
            });
            match next {
                Some(v) => solver.choose(v),
                None => break,
            }
        }
        Ok(solver.finish(given, wanted))
    }
}

struct Solver<'a> {
    relation: &'a Relation,
    values: Vec<Option<Expr>>,
    /// The sums that are not used yet.
    open: Vec<usize>,
    ranges: Vec<usize>,
    constraints: Vec<(Expr, Interval)>,
}

impl Solver<'_> {
    fn choose(&mut self, v: usize) {
        if self.values[v].is_none() {
            self.values[v] = Some(Expr::Var(v));
            self.ranges.push(v);
        }
    }

    /// Uses the solvable sum with the fewest unknowns.
    fn step(&mut self) -> Result<bool, Error> {
        let unknowns = |k: &usize| self.relation.sums[*k].0.iter().filter(|t| self.values[t.0].is_none()).count();
        let mut order: Vec<(usize, usize)> = self.open.iter().map(|k| (unknowns(k), *k)).collect();
        order.sort_unstable();
        for (count, k) in order {
            let (terms, within) = &self.relation.sums[k];
            if count == 0 {
                let all = terms.iter().filter_map(|t| Some(scaled(self.values[t.0].as_ref()?, t.1))).collect();
                self.constraints.push((gathered(all)?, *within));
            } else if within.lo == within.hi {
                // The required sum of the unknown terms, with a positive sign on the largest.
                let open = terms.iter().filter(|t| self.values[t.0].is_none());
                let sign = open.clone().max_by_key(|t| t.1.abs()).map_or(1, |t| t.1.signum());
                let open: Terms = open.map(|t| (t.0, t.1 * sign)).collect();
                let known = terms.iter().filter_map(|t| Some(scaled(self.values[t.0].as_ref()?, -t.1 * sign)));
                let rest = known.chain([Expr::Const(within.lo * sign)]).collect();
                if !self.digits(open, rest)? {
                    continue;
                }
            } else {
                continue;
            }
            self.open.retain(|other| *other != k);
            return Ok(true);
        }
        Ok(false)
    }

    /// Solves `terms = sum of rest`, if the terms are digits.
    fn digits(&mut self, mut terms: Terms, mut rest: Vec<Expr>) -> Result<bool, Error> {
        let interval = |v: usize| self.relation.intervals[v];
        let count = |v: usize| interval(v).hi.checked_sub(interval(v).lo).and_then(|n| n.checked_add(1));
        terms.sort_by_key(|t| t.1.abs());
        let mut below = 0i128;
        for &(v, c) in &terms {
            if i128::from(c.abs()) <= below {
                return Ok(false);
            }
            below += i128::from(c.abs()) * (i128::from(count(v).ok_or_else(too_large)?) - 1);
        }
        // A digit counts up from its least value, or down from its greatest.
        for &(v, c) in &terms {
            let first = if c > 0 { interval(v).lo } else { interval(v).hi };
            rest.push(Expr::Const(first.checked_mul(c).and_then(i64::checked_neg).ok_or_else(too_large)?));
        }
        let mut rest = gathered(rest)?;
        // The digits above leave a remainder below this.
        let mut size = None;
        for &(v, c) in terms.iter().rev() {
            let (up, c, n) = (c > 0, c.abs(), count(v).ok_or_else(too_large)?);
            let digit = rest.clone().floor_div(c);
            if size.is_none() || size != c.checked_mul(n) {
                self.constraints.push((digit.clone(), Interval::new(0, n - 1)));
            }
            rest = match rest {
                // A remainder of a remainder is one remainder.
                Expr::Mod(x, m) if m % c == 0 => x.modulo(c),
                rest => rest.modulo(c),
            };
            size = Some(c);
            let Interval { lo, hi } = interval(v);
            let value = if up { digit + Expr::Const(lo) } else { digit.times(-1) + Expr::Const(hi) };
            if value.size() > LONGEST {
                return Err(Error::new("the index expressions are too large").too_large());
            }
            self.values[v] = Some(value);
        }
        if rest != Expr::Const(0) {
            self.constraints.push((rest, Interval::new(0, 0)));
        }
        Ok(true)
    }

    /// The simplified map, with its variables in order.
    fn finish(self, given: std::ops::Range<usize>, wanted: std::ops::Range<usize>) -> Option<Mapped> {
        let relation = self.relation;
        let run_time = relation.run_time.iter().map(|r| r.unknown);
        let order: Vec<usize> = given.clone().chain(self.ranges.iter().copied()).chain(run_time).collect();
        let mut by = vec![Expr::Const(0); self.values.len()];
        for (new, old) in order.iter().enumerate() {
            by[*old] = Expr::Var(new);
        }
        let value = |v: usize| self.values[v].as_ref().map_or(Expr::Const(0), |e| e.substitute(&by));
        let map = IndexingMap {
            dims: given.len(),
            ranges: self.ranges.len(),
            names: (0..order.len())
                .map(|v| (v == 0 && relation.devices.is_some()).then(|| DEVICE.to_string()))
                .collect(),
            results: wanted.map(value).collect(),
            domain: Domain {
                vars: order.iter().map(|v| relation.intervals[*v]).collect(),
                constraints: self.constraints.iter().map(|(e, i)| (e.substitute(&by), *i)).collect(),
            },
        };
        let Indexing::Map(map) = map.simplify() else { return None };
        let element = |r: &RunTimeUnknown| {
            let at = |e: &Element| match *e {
                Element::Unknown(v) => value(v),
                Element::At(n) => Expr::Const(n),
            };
            simplify(&r.element.iter().map(at).collect::<Vec<_>>(), &map.domain)
        };
        let run_time = relation
            .run_time
            .iter()
            .map(|r| RunTime {
                source: r.operand,
                element: element(r),
                within: relation.intervals[r.unknown],
                clamped: r.clamped,
            })
            .collect();
        Some(Mapped { map, devices: relation.devices, run_time })
    }
}

/// Equates the row-major positions of two lists of unknowns, each with its size and the majormost first. They split
/// into groups with equal numbers of positions, from the minor end, with an equation for each group.
pub(super) fn reshape(r: &mut Relation, outs: &[(usize, i64)], ins: &[(usize, i64)]) -> Result<(), Error> {
    if outs.iter().chain(ins).any(|x| x.1 == 0) {
        return Ok(());
    }
    let mut sides = [outs, ins].map(|side| side.iter().filter(|x| x.1 != 1).rev().peekable());
    while sides.iter_mut().any(|side| side.peek().is_some()) {
        let (mut places, mut terms) = ([1i64; 2], Vec::new());
        loop {
            let smaller = usize::from(places[1] < places[0]);
            let Some(side) = [smaller, 1 - smaller].into_iter().find(|side| sides[*side].peek().is_some()) else {
                break;
            };
            let Some((v, n)) = sides[side].next() else { break };
            terms.push((*v, if side == 0 { places[0] } else { -places[1] }));
            places[side] = places[side].checked_mul(*n).ok_or_else(too_large)?;
            if places[0] == places[1] {
                break;
            }
        }
        r.equation(terms, 0)?;
    }
    Ok(())
}

fn scaled(e: &Expr, c: i64) -> Expr {
    match e {
        Expr::Const(value) if value.checked_mul(c).is_some() => Expr::Const(value * c),
        e => e.clone().times(c),
    }
}

/// The sum of all terms, with one constant.
fn gathered(terms: Vec<Expr>) -> Result<Expr, Error> {
    let (mut constant, mut others) = (0i64, Vec::new());
    for term in terms {
        match term {
            Expr::Const(c) => constant = constant.checked_add(c).ok_or_else(too_large)?,
            term => others.push(term),
        }
    }
    Ok(Expr::sum(others) + Expr::Const(constant))
}

pub(super) fn narrow(n: i128) -> Result<i64, Error> {
    i64::try_from(n).map_err(|_| too_large())
}

pub(super) fn too_large() -> Error {
    Error::new("the indices of the operation do not fit in 64 bits").too_large()
}
