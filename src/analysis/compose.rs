//! Composition of maps: the maps of a chain of operations.

use super::access::{Access, Mapped, RunTime};
use crate::expr::Expr;
use crate::maps::domain::Interval;
use crate::maps::map::{Indexing, IndexingMap, Kind};
use crate::maps::simplify::{Form, simplify};
use crate::text::Error;

/// The name of the device dimension.
pub(super) const DEVICE: &str = "device";

/// The identity: every element is related to itself.
pub(super) fn identity<S>(sizes: &[i64]) -> Result<Access<S>, Error> {
    if sizes.contains(&0) {
        return Ok(Access::none());
    }
    let intervals = sizes.iter().map(|n| Interval::new(0, n - 1)).collect();
    let map = IndexingMap::new(intervals, (0..sizes.len()).map(Expr::Var).collect());
    let Indexing::Map(map) = map.simplify() else { return Ok(Access::none()) };
    Ok(Access { maps: vec![Mapped { map, devices: None, run_time: Vec::new() }], unknown: Vec::new() })
}

impl<S> Access<S> {
    /// Whether nothing is related, for certain.
    pub(super) fn is_empty(&self) -> bool {
        self.maps.is_empty() && self.unknown.is_empty()
    }

    /// Translates the sources.
    pub(super) fn place<T>(self, to: &impl Fn(&S) -> T) -> Access<T> {
        let run_time =
            |r: RunTime<S>| RunTime { source: to(&r.source), element: r.element, within: r.within, clamped: r.clamped };
        let mapped = |m: Mapped<S>| Mapped {
            map: m.map,
            devices: m.devices,
            run_time: m.run_time.into_iter().map(run_time).collect(),
        };
        Access { maps: self.maps.into_iter().map(mapped).collect(), unknown: self.unknown }
    }
}

impl<S> Mapped<S> {
    /// Whether this is the identity on an array with these indices.
    pub(super) fn is_identity(&self, indices: &[Interval]) -> bool {
        let map = &self.map;
        let same = |(v, e): (usize, &Expr)| *e == Expr::Var(v);
        map.domain.constraints.is_empty()
            && map.domain.vars[..] == *indices
            && (map.dims, map.results.len()) == (indices.len(), indices.len())
            && map.results.iter().enumerate().all(same)
    }
}

impl<S: Clone + PartialEq> Access<S> {
    /// Substitutes known run-time values: `value` gives the value at an index of a source. A value outside its interval
    /// is clamped, or makes the map empty, as [`RunTime::clamped`] says.
    pub fn with_values(self, value: impl Fn(&S, &[Expr]) -> Option<Expr>) -> Access<S> {
        let maps = self.maps.into_iter();
        let maps = maps.filter_map(|m| if m.run_time.is_empty() { Some(m) } else { m.with_values(&value) });
        Access { maps: maps.collect(), unknown: self.unknown }
    }
}

impl<S: Clone + PartialEq> Mapped<S> {
    fn with_values(mut self, value: &impl Fn(&S, &[Expr]) -> Option<Expr>) -> Option<Mapped<S>> {
        let first = self.map.dims + self.map.ranges;
        for k in 0..self.run_time.len() {
            let RunTime { source, element, within, clamped } = self.run_time[k].clone();
            let Some(found) = value(&source, &element) else { continue };
            let mut form = Form::new(&self.map.domain);
            let (found, reach) = (form.simplify(&found), form.bounds(&found));
            let inside = within.holds(reach);
            let found = match found {
                Expr::Const(c) if clamped => Expr::Const(c.clamp(within.lo, within.hi)),
                // Clamping would need a minimum and a maximum.
                _ if clamped && !inside => continue,
                found => found,
            };
            self.replace(first + k, &found);
            let narrowed = std::mem::replace(&mut self.map.domain.vars[first + k], within);
            self.map.domain.constraints.push((found, narrowed));
            self.run_time[k].clamped = true;
        }
        self.shortened()
    }

    /// Composes this map with `second` and simplifies, without redundant variables; `None` if no point is left.
    /// Run-time variables keep their sources.
    ///
    /// # Errors
    /// As [`IndexingMap::then`].
    pub fn then(&self, second: &Mapped<S>) -> Result<Option<Mapped<S>>, Error> {
        self.then_within(second, &[])
    }

    /// Like [`Mapped::then`], with the results of this map known to be in `known`.
    pub(super) fn then_within(&self, second: &Mapped<S>, known: &[Interval]) -> Result<Option<Mapped<S>>, Error> {
        if let (Some(n), None) | (None, Some(n)) = (self.devices, second.devices) {
            return self.across(n).then_within(&second.across(n), known);
        }
        let known = match self.devices {
            Some(n) if !known.is_empty() => &[&[Interval::new(0, n - 1)], known].concat()[..],
            _ => known,
        };
        let (a, b) = (&self.map, &second.map);
        let all = a.then_within(b, known)?;
        // In canonical form on every path, so that equal maps compare equal.
        let Indexing::Map(map) = all.simplify() else { return Ok(None) };
        // Dimensions, ranges of the second and the first, run-time variables of the second and the first.
        let (ranges, run_time) = (a.dims + b.ranges, a.dims + b.ranges + a.ranges);
        let vars = |from: usize, n: usize| (from..from + n).map(Expr::Var);
        let own: Vec<Expr> = vars(0, a.dims)
            .chain(vars(ranges, a.ranges))
            .chain(vars(run_time + second.run_time.len(), self.run_time.len()))
            .collect();
        let others: Vec<Expr> = a
            .results
            .iter()
            .map(|e| e.substitute(&own))
            .chain(vars(a.dims, b.ranges))
            .chain(vars(run_time, second.run_time.len()))
            .collect();
        let over = |r: &RunTime<S>, by: &[Expr]| RunTime {
            element: simplify(&r.element.iter().map(|e| e.substitute(by)).collect::<Vec<_>>(), &map.domain),
            ..r.clone()
        };
        let run_time = second.run_time.iter().map(|r| over(r, &others));
        let run_time = run_time.chain(self.run_time.iter().map(|r| over(r, &own))).collect();
        Ok(Mapped { map, devices: self.devices, run_time }.shortened())
    }

    /// The map on each of `n` devices, which read their own elements.
    pub(super) fn across(&self, n: i64) -> Mapped<S> {
        if self.devices.is_some() {
            return self.clone();
        }
        let by: Vec<Expr> = (0..self.map.variables()).map(|v| Expr::Var(v + 1)).collect();
        let over = |e: &Expr| e.substitute(&by);
        let mut map = self.map.clone();
        map.dims += 1;
        map.names.insert(0, Some(DEVICE.to_string()));
        map.results = std::iter::once(Expr::Var(0)).chain(self.map.results.iter().map(over)).collect();
        map.domain.vars.insert(0, Interval::new(0, n - 1));
        map.domain.constraints = self.map.domain.constraints.iter().map(|(e, i)| (over(e), *i)).collect();
        let run_time =
            self.run_time.iter().map(|r| RunTime { element: r.element.iter().map(over).collect(), ..r.clone() });
        Mapped { map, devices: Some(n), run_time: run_time.collect() }
    }

    /// Substitutes an expression for a variable everywhere.
    fn replace(&mut self, v: usize, by: &Expr) {
        let mut all: Vec<Expr> = (0..self.map.variables()).map(Expr::Var).collect();
        all[v] = by.clone();
        let domain = &mut self.map.domain.constraints;
        let exprs = self.map.results.iter_mut().chain(domain.iter_mut().map(|c| &mut c.0));
        let elements = self.run_time.iter_mut().flat_map(|r| &mut r.element);
        exprs.chain(elements).for_each(|e| *e = e.substitute(&all));
    }

    /// Removes run-time variables equal to another, range variables fixed by a constraint, and unused range and
    /// run-time variables.
    fn shortened(mut self) -> Option<Mapped<S>> {
        let first = self.map.dims + self.map.ranges;
        // An unclamped variable restricts the map even if nothing depends on it.
        let mut needed: Vec<bool> = self.run_time.iter().map(|r| !r.clamped).collect();
        for (k, needed) in needed.iter_mut().enumerate() {
            if let Some(same) = (0..k).find(|j| self.run_time[*j] == self.run_time[k]) {
                self.replace(first + k, &Expr::Var(first + same));
                // Both are in the interval that the simplifier found for either.
                let interval = std::mem::replace(&mut self.map.domain.vars[first + k], self.run_time[k].within);
                self.map.domain.constraints.push((Expr::Var(first + same), interval));
                *needed = false;
            }
        }
        for _ in 0..self.map.ranges {
            let Some((v, value)) = self.fixed() else { break };
            self.replace(v, &value);
            self.map.domain.constraints.push((value, self.map.domain.vars[v]));
        }
        let Indexing::Map(map) = self.map.simplify() else { return None };
        self.map = map;
        // The source of one run-time variable may be indexed by another.
        loop {
            let elements = self.run_time.iter().zip(&needed).filter(|x| *x.1).flat_map(|x| &x.0.element);
            let mut used = vec![false; self.map.variables()];
            let exprs = self.map.results.iter().chain(self.map.domain.constraints.iter().map(|c| &c.0));
            exprs.chain(elements).for_each(|e| e.for_each_var(&mut |v| used[v] = true));
            let narrower = |k: usize| self.map.domain.vars[first + k] != self.run_time[k].within;
            let now: Vec<bool> = (0..needed.len()).map(|k| needed[k] || used[first + k] || narrower(k)).collect();
            if now == needed {
                break;
            }
            needed = now;
        }
        // Elements become results while variables are removed.
        let results = self.map.results.len();
        let mut kept: Vec<RunTime<S>> =
            self.run_time.iter().zip(&needed).filter(|x| *x.1).map(|x| x.0.clone()).collect();
        for r in &kept {
            self.map.results.extend(r.element.iter().cloned());
        }
        // Keeps run-time variables that only decide whether a block exists.
        let held = first..first + needed.len();
        let held: Vec<usize> = held.filter(|v| needed[v - first]).collect();
        self.map.results.extend(held.iter().map(|v| Expr::Var(*v)));
        let (mut map, _) = self.map.without_unused(&[Kind::Range, Kind::RunTime]);
        let mut elements = map.results.split_off(results).into_iter();
        for r in &mut kept {
            r.element.iter_mut().zip(&mut elements).for_each(|(old, new)| *old = new);
        }
        let Indexing::Map(map) = map.simplify() else { return None };
        for r in &mut kept {
            r.element = simplify(&r.element, &map.domain);
        }
        Some(Mapped { map, devices: self.devices, run_time: kept })
    }

    /// A range variable fixed by a constraint, and its value.
    fn fixed(&self) -> Option<(usize, Expr)> {
        for (e, within) in self.map.domain.constraints.iter().filter(|(_, i)| i.lo == i.hi) {
            let terms = e.terms();
            for (k, term) in terms.iter().enumerate() {
                let (v, sign) = match term {
                    Expr::Var(v) => (*v, 1),
                    Expr::Mul(x, c @ (1 | -1)) => match **x {
                        Expr::Var(v) => (v, *c),
                        _ => continue,
                    },
                    _ => continue,
                };
                let mut uses = 0;
                e.for_each_var(&mut |other| uses += usize::from(other == v));
                if self.map.kind(v) == Kind::Range && uses == 1 {
                    let others = terms.iter().enumerate().filter(|(j, _)| *j != k);
                    let mut rest: Vec<Expr> = others.map(|(_, t)| (*t).clone().times(-sign)).collect();
                    rest.push(Expr::Const(within.lo.checked_mul(sign)?));
                    return Some((v, Expr::sum(rest)));
                }
            }
        }
        None
    }

    /// The canonical form: range and run-time variables numbered in order of use; range variables count up from 0 at
    /// their first use.
    pub(super) fn canonical(&self) -> Mapped<S> {
        let (dims, ranges) = (self.map.dims, self.map.ranges);
        if self.map.variables() == dims {
            return self.clone();
        }
        let mut order = Vec::new();
        let exprs = self.map.results.iter().chain(self.map.domain.constraints.iter().map(|c| &c.0));
        for e in exprs.chain(self.run_time.iter().flat_map(|r| &r.element)) {
            e.for_each_var(&mut |v| {
                if v >= dims && !order.contains(&v) {
                    order.push(v);
                }
            });
        }
        order.extend((dims..self.map.variables()).filter(|v| !order.contains(v)).collect::<Vec<_>>());
        order.sort_by_key(|v| *v >= dims + ranges);
        let mut by: Vec<Expr> = (0..self.map.variables()).map(Expr::Var).collect();
        let mut map = self.map.clone();
        for (k, v) in order.iter().enumerate() {
            let own = self.map.domain.vars[*v];
            by[*v] = Expr::Var(dims + k);
            map.domain.vars[dims + k] = own;
            if self.map.kind(*v) == Kind::Range
                && let Some(length) = own.hi.checked_sub(own.lo)
            {
                map.domain.vars[dims + k] = Interval::new(0, length);
                let down = self.map.results.iter().flat_map(Expr::terms).find_map(|term| match term {
                    Expr::Mul(x, c) if **x == Expr::Var(*v) => Some(*c < 0),
                    x => (*x == Expr::Var(*v)).then_some(false),
                });
                by[*v] = match down {
                    Some(true) => Expr::Const(own.hi) + Expr::Var(dims + k).times(-1),
                    _ => Expr::Var(dims + k) + Expr::Const(own.lo),
                };
            }
            map.names[dims + k] = self.map.names[*v].clone();
        }
        map.results = map.results.iter().map(|e| e.substitute(&by)).collect();
        map.domain.constraints = map.domain.constraints.iter().map(|(e, i)| (e.substitute(&by), *i)).collect();
        let Indexing::Map(map) = map.simplify() else { return self.clone() };
        let run_time = order[ranges..].iter().map(|v| {
            let r = &self.run_time[v - dims - ranges];
            let element: Vec<Expr> = r.element.iter().map(|e| e.substitute(&by)).collect();
            RunTime { element: simplify(&element, &map.domain), ..r.clone() }
        });
        Mapped { run_time: run_time.collect(), devices: self.devices, map }
    }
}
