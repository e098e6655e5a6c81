//! The terms of a sum, `coefficient * atom` each, without memory of their own where they are few and small.
//!
//! Nearly all sums have at most [`FEW`] terms with coefficients of 64 bits. These lie in the sum itself, so that it is
//! made, copied and dropped without an allocation; longer sums and larger coefficients are in a vector. A list of terms
//! has one form only, so equal lists are equal values.

use std::hash::{Hash, Hasher};

/// The number of an atom in its form.
pub(super) type Atom = u32;

/// How many terms need no memory of their own.
const FEW: usize = 7;

/// Terms by ascending atom, no coefficient 0.
#[derive(Clone, Debug)]
pub(super) enum TermList {
    Near(Near),
    Far(Vec<(Atom, i128)>),
}

/// At most [`FEW`] terms with coefficients of 64 bits.
#[derive(Clone, Copy, Debug)]
pub(super) struct Near {
    len: u32,
    atoms: [Atom; FEW],
    coefficients: [i64; FEW],
}

impl Near {
    /// No terms.
    pub const NONE: Near = Near { len: 0, atoms: [0; FEW], coefficients: [0; FEW] };

    pub fn atoms(&self) -> &[Atom] {
        &self.atoms[..(self.len as usize).min(FEW)]
    }

    pub fn coefficients(&self) -> &[i64] {
        &self.coefficients[..(self.len as usize).min(FEW)]
    }

    pub fn coefficients_mut(&mut self) -> &mut [i64] {
        &mut self.coefficients[..(self.len as usize).min(FEW)]
    }

    /// Adds a term behind all others, unless its coefficient is 0; `None` where there is no place for it.
    #[inline]
    pub fn push(&mut self, atom: Atom, coefficient: i64) -> Option<()> {
        if coefficient != 0 {
            let k = self.len as usize;
            *self.atoms.get_mut(k)? = atom;
            self.coefficients[k] = coefficient;
            self.len += 1;
        }
        Some(())
    }
}

impl TermList {
    pub const NONE: TermList = TermList::Near(Near::NONE);

    /// One term; none where the coefficient is 0.
    pub fn one(atom: Atom, coefficient: i128) -> TermList {
        let mut terms = TermList::NONE;
        terms.push((atom, coefficient));
        terms
    }

    pub fn len(&self) -> usize {
        match self {
            TermList::Near(near) => near.len as usize,
            TermList::Far(terms) => terms.len(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub fn get(&self, k: usize) -> Option<(Atom, i128)> {
        match self {
            TermList::Near(near) => Some((*near.atoms().get(k)?, near.coefficients()[k].into())),
            TermList::Far(terms) => terms.get(k).copied(),
        }
    }

    pub fn first(&self) -> Option<(Atom, i128)> {
        self.get(0)
    }

    pub fn last(&self) -> Option<(Atom, i128)> {
        self.get(self.len().checked_sub(1)?)
    }

    /// The term, where it is the only one.
    pub fn only(&self) -> Option<(Atom, i128)> {
        if self.len() == 1 { self.get(0) } else { None }
    }

    pub fn iter(&self) -> EachTerm<'_> {
        EachTerm { terms: self, at: 0, end: self.len() }
    }

    /// The coefficient of an atom, 0 where it is in no term.
    pub fn coefficient(&self, atom: Atom) -> i128 {
        match self {
            TermList::Near(near) => {
                near.atoms().iter().position(|a| *a == atom).map_or(0, |k| near.coefficients[k].into())
            }
            TermList::Far(terms) => terms.binary_search_by_key(&atom, |t| t.0).map_or(0, |k| terms[k].1),
        }
    }

    /// Adds a term behind all others, unless its coefficient is 0.
    pub fn push(&mut self, (atom, coefficient): (Atom, i128)) {
        if let TermList::Near(near) = self {
            if let Ok(c) = i64::try_from(coefficient)
                && near.push(atom, c).is_some()
            {
                return;
            }
            *self = TermList::Far(self.iter().collect());
        }
        if let TermList::Far(terms) = self
            && coefficient != 0
        {
            terms.push((atom, coefficient));
        }
    }

    /// Adds `coefficient * atom`.
    pub fn add(&mut self, atom: Atom, coefficient: i128) -> Option<()> {
        if self.last().is_none_or(|last| last.0 < atom) {
            self.push((atom, coefficient));
            return Some(());
        }
        if let TermList::Near(near) = self
            && let Some(k) = near.atoms().iter().position(|a| *a == atom)
            && let Some(c) = i64::try_from(coefficient).ok().and_then(|c| near.coefficients[k].checked_add(c))
            && c != 0
        {
            near.coefficients[k] = c;
            return Some(());
        }
        let mut terms: TermList = self.iter().take_while(|t| t.0 < atom).collect();
        terms.push((atom, self.coefficient(atom).checked_add(coefficient)?));
        self.iter().filter(|t| t.0 > atom).for_each(|t| terms.push(t));
        *self = terms;
        Some(())
    }

    /// Divides all coefficients by what divides them.
    pub fn divide(&mut self, by: i128) {
        match (&mut *self, i64::try_from(by)) {
            (TermList::Near(near), Ok(by)) => near.coefficients_mut().iter_mut().for_each(|c| *c /= by),
            _ => *self = self.iter().map(|t| (t.0, t.1 / by)).collect(),
        }
    }

    /// Whether all coefficients are in `-far < c < far`, where `far` is more than 64 bits hold.
    pub fn within(&self, far: i128) -> bool {
        match self {
            TermList::Near(_) => true,
            TermList::Far(terms) => terms.iter().all(|t| -far < t.1 && t.1 < far),
        }
    }

    /// The terms times a number that is not 0.
    pub fn times(&self, by: i128) -> Option<TermList> {
        if let (TermList::Near(near), Ok(by)) = (self, i64::try_from(by)) {
            let mut all = *near;
            if all.coefficients_mut().iter_mut().try_for_each(|c| c.checked_mul(by).map(|new| *c = new)).is_some() {
                return Some(TermList::Near(all));
            }
        }
        self.map(|_, c| c.checked_mul(by))
    }

    /// The terms with other coefficients, none where they become 0; `None` where one has no new one.
    pub fn map(&self, mut change: impl FnMut(Atom, i128) -> Option<i128>) -> Option<TermList> {
        let mut terms = TermList::NONE;
        for (a, c) in self.iter() {
            terms.push((a, change(a, c)?));
        }
        Some(terms)
    }
}

/// The terms one by one.
#[derive(Clone)]
pub(super) struct EachTerm<'a> {
    terms: &'a TermList,
    at: usize,
    end: usize,
}

impl Iterator for EachTerm<'_> {
    type Item = (Atom, i128);

    #[inline]
    fn next(&mut self) -> Option<(Atom, i128)> {
        let k = self.at;
        if k >= self.end {
            return None;
        }
        self.at += 1;
        match self.terms {
            TermList::Near(near) if k < FEW => Some((near.atoms[k], near.coefficients[k].into())),
            TermList::Near(_) => None,
            TermList::Far(terms) => terms.get(k).copied(),
        }
    }
}

impl DoubleEndedIterator for EachTerm<'_> {
    fn next_back(&mut self) -> Option<(Atom, i128)> {
        if self.at >= self.end {
            return None;
        }
        self.end -= 1;
        self.terms.get(self.end)
    }
}

impl FromIterator<(Atom, i128)> for TermList {
    /// Terms that come by ascending atom.
    fn from_iter<T: IntoIterator<Item = (Atom, i128)>>(all: T) -> TermList {
        let mut terms = TermList::NONE;
        all.into_iter().for_each(|t| terms.push(t));
        terms
    }
}

impl PartialEq for TermList {
    fn eq(&self, other: &TermList) -> bool {
        match (self, other) {
            (TermList::Near(a), TermList::Near(b)) => a.atoms() == b.atoms() && a.coefficients() == b.coefficients(),
            (TermList::Far(a), TermList::Far(b)) => a == b,
            _ => false,
        }
    }
}

impl Eq for TermList {}

impl Hash for TermList {
    fn hash<H: Hasher>(&self, state: &mut H) {
        match self {
            TermList::Near(near) => {
                for (a, c) in near.atoms().iter().zip(near.coefficients()) {
                    (u64::from(*a).rotate_left(48) ^ *c as u64).hash(state);
                }
            }
            TermList::Far(terms) => terms.hash(state),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The one form of a list of terms: near exactly where there is place for all.
    #[test]
    fn few_and_small_terms_are_near() {
        let big = i128::from(i64::MAX);
        for (len, c) in [(0, 1), (FEW, big), (FEW, -big - 1), (FEW + 1, 1), (1, big + 1), (FEW, big + 1)] {
            let list: Vec<(Atom, i128)> = (0..len as Atom).map(|a| (a, c)).collect();
            let terms: TermList = list.iter().copied().collect();
            let fits = len <= FEW && i64::try_from(c).is_ok();
            assert_eq!(matches!(terms, TermList::Near(_)), fits, "{len} {c}");
            assert_eq!(terms.iter().collect::<Vec<_>>(), list);
            assert_eq!(terms.map(|_, c| Some(c * 4)).and_then(|t| t.map(|_, c| Some(c / 4))), Some(terms));
        }
    }
}
