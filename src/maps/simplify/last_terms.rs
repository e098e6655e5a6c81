//! Candidates for the last term of a sum.
//!
//! A remainder atom is removed in one of two ways: as `c * (x mod m)`, or, with a coefficient `-c`, together with the
//! terms that it completes to a division: `c*m * (x floordiv m) = c*x - c*(x mod m)`, where `x` may be any sum equal
//! modulo `m`, chosen to cancel most of the rest. A minimum is removed together with a part of the rest, which goes
//! into both sides.

use super::form::{Form, What};
use super::planned::{CompoundTerm, LastTerm, Tried};
use super::sum::{Sum, divides, is_multiple, residue};
use super::terms::{Atom, TermList};
use crate::numbers::{difference, near_gcd, negatable, product};
use std::cmp::Ordering;

/// The most atoms tried as the last term of a sum; only one if more than [`MANY`] are not plain.
const TRIED: usize = 2;
const MANY: usize = 16;

/// A term `num/den * (x mod m)` of a sum, to be its last one.
struct LastRemainder<'s> {
    s: &'s Sum,
    atom: Atom,
    num: i64,
    /// Whether the sum has more than [`MANY`] terms that are not plain.
    many: bool,
    /// The other terms.
    without: Sum,
    x: Sum,
    m: i64,
    /// `x` with coefficients of least magnitude modulo `m`.
    symmetric: Sum,
    /// The step of `x` modulo `m`, and if that is above 1, what `x` is modulo the step.
    g: i64,
    r: i64,
}

impl LastRemainder<'_> {
    /// The last terms that are remainders, where the denominator divides `num`.
    fn remainders(&self, out: &mut Vec<LastTerm>) -> Option<()> {
        let LastRemainder { s, num, many, without, x, m, symmetric, g, r, .. } = self;
        let c = num / s.den;
        let both = [Some(symmetric).filter(|symmetric| *symmetric != x && !many), Some(x)];
        for x in both.into_iter().flatten() {
            out.push((CompoundTerm::Remainder(x.clone(), *m), c, without.clone()));
            // c * (x mod m) = (c * x) mod (c * m), unless that takes one more factor.
            if let (2.., 2.., Some(cm)) = (c.abs(), x.content(), product(c.abs(), *m)) {
                out.push((CompoundTerm::Remainder(x.scaled(c.abs(), 1)?, cm), c.signum(), without.clone()));
            }
        }
        if *g > 1 && !many {
            // x mod m = g * (((x - r)/g) mod (m/g)) + r, where x is r modulo g as a whole.
            let (inner, rest) = (x.clone().shifted(-r)?.scaled(1, *g)?, without.clone().shifted(product(c, *r)?)?);
            out.push((CompoundTerm::Remainder(inner, m / g), product(c, *g)?, rest));
        }
        Some(())
    }
}

impl Form {
    /// The candidates for the last term of a sum that has remainders and minima.
    pub(super) fn last_terms(&mut self, s: &Sum) -> Option<Tried> {
        let mut count = 0;
        // Atoms that contain others come first.
        let mut others: [Option<(Atom, i64)>; TRIED] = [None; TRIED];
        for mut t in s.terms.iter() {
            if self.is_plain(t.0) {
                continue;
            }
            count += 1;
            for place in &mut others {
                match place {
                    Some(first) if self.compare(first.0, t.0) == Ordering::Less => std::mem::swap(first, &mut t),
                    Some(_) => {}
                    None => {
                        *place = Some(t);
                        break;
                    }
                }
            }
        }
        let many = count > MANY;
        let new = || Tried { last: Vec::with_capacity(12), order: Vec::with_capacity(12) };
        let mut tried = self.spare.pop().unwrap_or_else(new);
        let alternatives = &mut tried.last;
        for (atom, num) in others.into_iter().take(if many { 1 } else { TRIED }).flatten() {
            self.alternatives(s, atom, num, many, alternatives)?;
        }
        if s.den > 1 {
            // If the whole constant goes inside, none is left beside the quotient.
            alternatives.push(whole(s, s.constant)?);
            let within = residue(s.constant, s.den);
            if within != s.constant {
                alternatives.push(whole(s, within)?);
            }
        }
        self.work(tried.last.len() * s.terms.len())?;
        Some(tried)
    }

    /// The last terms that contain this atom.
    fn alternatives(&mut self, s: &Sum, atom: Atom, num: i64, many: bool, out: &mut Vec<LastTerm>) -> Option<()> {
        let without = s.plus_atom(atom, -num, s.den)?;
        let own = &self.atoms[atom as usize];
        let (x, m) = match &own.what {
            What::Remainder(x, m) => (x.clone(), *m),
            What::Least(x) => {
                let x = x.clone();
                return self.minima(&without, &x, (num, s.den), out);
            }
            What::Var(_) | What::Opaque(_) => unreachable!("filtered by the caller"),
        };
        let g = near_gcd(own.step, m) % m;
        let r = if g > 1 { residue(own.residue, g) } else { 0 };
        let last = LastRemainder { s, atom, num, many, without, symmetric: x.symmetric(m), x, m, g, r };
        let whole = divides(s.den, num);
        if whole {
            last.remainders(out)?;
        }
        if !many {
            self.digits_above(&last, out)?;
        }
        // -num/den = c; the quotient's coefficient is c*m.
        let above = product(num, m)?;
        if many && whole || !divides(s.den, above) {
            return Some(());
        }
        if whole && last.without.terms.is_empty() && last.without.constant == 0 {
            // Alone it is no quotient: c * x - c*m * (x floordiv m) costs more.
            return Some(());
        }
        self.quotients(&last, above / s.den, out)?;
        self.counted_down(&last, above / s.den, out)
    }

    /// The quotients that the remainder completes the other terms to, each with a coefficient of `-above`.
    fn quotients(&mut self, last: &LastRemainder, above: i64, out: &mut Vec<LastTerm>) -> Option<()> {
        let LastRemainder { s, num, many, without, m, g, r, .. } = last;
        let mut bases = self.bases(last)?;
        for numerator in bases.drain(..) {
            let rest = without.plus(&numerator, *num, s.den)?;
            if *g > 1 && !many {
                // x floordiv m = ((x - r)/g) floordiv (m/g)
                let inner = numerator.clone().shifted(-r)?.scaled(1, *g)?;
                out.push((CompoundTerm::Quotient(inner, m / g), -above, rest.clone()));
            }
            out.push((CompoundTerm::Quotient(numerator, *m), -above, rest));
        }
        self.bases = bases;
        Some(())
    }

    /// The sums equal to `x` modulo `m` that cancel some of the other terms.
    fn bases(&mut self, last: &LastRemainder) -> Option<Vec<Sum>> {
        let LastRemainder { s, atom, num, without, symmetric, x, m, .. } = last;
        let wanted = without.scaled(-num.signum() * s.den, num.abs())?;
        let mut bases = std::mem::take(&mut self.bases);
        bases.clear();
        bases.push(x.clone());
        let holding = |(other, _): (Atom, i64)| match &self.atoms[other as usize].what {
            What::Remainder(y, n) if other != *atom && divides(*m, *n) => {
                (self.residue(&x.plus(y, -1, 1)?, *m) == Some(0)).then_some(other)
            }
            _ => None,
        };
        let mut others: Vec<Atom> = s.terms.iter().filter_map(holding).collect();
        others.sort_unstable_by(|a, b| self.compare(*a, *b));
        bases.extend(others.into_iter().map(Sum::atom));
        bases.extend(self.with_remainders(x, &wanted, (*atom, *m)));
        for k in 0..bases.len() {
            let nearest = self.nearest(&bases[k], &wanted, *m)?;
            if !bases.contains(&nearest) {
                bases.push(nearest);
            }
        }
        if !bases.contains(symmetric) {
            bases.push(symmetric.clone());
        }
        Some(bases)
    }

    /// The remainder of a sum counted down, by `x mod m = m - 1 - z mod m` with `z = -x - 1`, and
    /// `z mod m = z - m * (z floordiv m)`.
    fn counted_down(&self, last: &LastRemainder, above: i64, out: &mut Vec<LastTerm>) -> Option<()> {
        let LastRemainder { s, num, many, without, x, m, .. } = last;
        let &(first, k) = x.terms.first()?;
        if !many && *num > 0 && without.coefficient(first).signum() == -k.signum() {
            let without = without.plus(&Sum::constant(m - 1), *num, s.den)?;
            let z = x.scaled(-1, 1)?.shifted(-1)?;
            let z = self.nearest(&z, &without.scaled(s.den, *num)?, *m)?;
            let rest = without.plus(&z, -num, s.den)?;
            out.push((CompoundTerm::Quotient(z, *m), above, rest));
        }
        Some(())
    }

    /// `x mod m - x mod n` as `n * ((x floordiv n) mod (m/n))`, if that rounds up, which takes no addition.
    fn digits_above(&self, last: &LastRemainder, out: &mut Vec<LastTerm>) -> Option<()> {
        let LastRemainder { s, atom, num, without, x, m, .. } = last;
        for (other, k) in s.terms.iter() {
            if let What::Remainder(_, n) = self.atoms[other as usize].what
                && k == -num
                && x.constant.checked_add(1).is_some_and(|next| divides(n, next))
                && let Some(factor) = product(*num, n)
                && divides(s.den, factor)
                && self.has_digit(*atom, other)
            {
                let inner = x.plus_atom(other, -1, 1)?.scaled(1, n)?;
                let rest = without.plus_atom(other, -k, s.den)?;
                out.push((CompoundTerm::Remainder(inner, m / n), factor / s.den, rest));
            }
        }
        Some(())
    }

    /// The last terms of `rest + num/den * min(x, 0)`.
    fn minima(&mut self, rest: &Sum, x: &Sum, (num, den): (i64, i64), out: &mut Vec<LastTerm>) -> Option<()> {
        let term = |a, b| if num > 0 { CompoundTerm::Min(a, b) } else { CompoundTerm::Max(a, b) };
        let opposite = |a, b| if num > 0 { CompoundTerm::Max(a, b) } else { CompoundTerm::Min(a, b) };
        // All of the rest goes inside, except for a common factor and the sign.
        let all = rest.plus(x, num, den)?;
        let k = [&all, rest].iter().fold(0, |k, s| near_gcd(near_gcd(k, s.constant), s.content())).max(1);
        for k in [k, -k] {
            let (a, b) = (all.scaled(k.signum(), k.abs())?, rest.scaled(k.signum(), k.abs())?);
            out.push((if k > 0 { term(a, b) } else { opposite(a, b) }, k, Sum::constant(0)));
        }
        if rest.den > 1 {
            // The least part that makes both sides integers goes inside.
            let inside = Sum { den: rest.den, ..rest.symmetric(rest.den) }.lowest();
            let other = inside.plus(x, num, den)?;
            out.push((term(other, inside.clone()), 1, rest.plus(&inside, -1, 1)?));
        }
        if den / near_gcd(num, den) != 1 {
            return Some(());
        }
        let c = num / den;
        let sign = c.signum();
        // The terms with variables of x go inside, with or without the constant; or nothing.
        let (shared, _) = rest.split(|a, k| x.coefficient(a) != 0 && divides(c, k / near_gcd(k, rest.den)));
        for constant in [0, rest.constant] {
            let inside = Sum { constant, ..shared.clone() }.lowest().scaled(1, c.abs())?;
            if inside.den == 1 {
                let before = rest.plus(&inside, -c.abs(), 1)?;
                out.push((term(inside.plus(x, sign, 1)?, inside), c.abs(), before));
            }
        }
        out.push((term(x.scaled(sign, 1)?, Sum::constant(0)), c.abs(), rest.clone()));
        Some(())
    }

    /// A sum equal to `x` modulo `m` with remainders of `wanted` put in, `None` if none fits: `k * (y mod n)` is
    /// `k * y` modulo `m` if `m` divides `k * n`.
    fn with_remainders(&self, x: &Sum, wanted: &Sum, (atom, m): (Atom, i64)) -> Option<Sum> {
        let mut with: Option<Sum> = None;
        for (other, k) in wanted.terms.iter() {
            if let What::Remainder(y, n) = &self.atoms[other as usize].what
                && other != atom
                && divides(wanted.den, k)
                && is_multiple(k / wanted.den, *n, m)
            {
                let k = k / wanted.den;
                with = Some(with.as_ref().unwrap_or(x).plus(y, -k, 1)?.plus_atom(other, k, 1)?);
            }
        }
        with
    }

    /// `base` with coefficients changed by multiples of `m` to those in `wanted`, where possible.
    fn nearest(&self, base: &Sum, wanted: &Sum, m: i64) -> Option<Sum> {
        let step = wanted.den.checked_mul(m)?;
        let mut sum = Sum { constant: base.constant, terms: TermList::NONE, den: 1 };
        let (mut i, mut j) = (0, 0);
        while i < base.terms.len() || j < wanted.terms.len() {
            let a = base.terms.get(i).map_or(Atom::MAX, |t| t.0);
            let b = wanted.terms.get(j).map_or(Atom::MAX, |t| t.0);
            let own = if a <= b { base.terms[i].1 } else { 0 };
            let other = if b <= a { wanted.terms[j].1 } else { 0 };
            i += usize::from(a <= b);
            j += usize::from(b <= a);
            let gap = other.checked_sub(own.checked_mul(wanted.den)?)?;
            let c = if divides(step, gap) { own.checked_add(gap / wanted.den).and_then(negatable)? } else { own };
            sum.terms.push((a.min(b), c));
        }
        let gap = wanted.constant.checked_sub(sum.constant.checked_mul(wanted.den)?)?;
        sum.constant = negatable(sum.constant.checked_add(gap.div_euclid(step).checked_mul(m)?)?)?;
        Some(sum)
    }
}

/// The quotient of all terms that the denominator does not divide, with this part of the constant.
fn whole(s: &Sum, constant: i64) -> Option<LastTerm> {
    let (whole, part) = s.split(|_, c| divides(s.den, c));
    let part = Sum { constant, terms: part.terms, den: 1 };
    let whole = Sum { constant: difference(s.constant, constant)?, ..whole }.lowest();
    Some((CompoundTerm::Quotient(part, s.den), 1, whole))
}
