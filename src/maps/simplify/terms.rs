//! The terms of a sum, `coefficient * atom` each, without heap memory if they are few.
//!
//! Nearly all sums have at most [`FEW`] terms. These are stored inline, so that sums are made, copied and dropped
//! without an allocation; longer sums are in a vector.

use crate::numbers::{negatable, product};
use std::hash::{Hash, Hasher};
use std::ops::Deref;

/// The number of an atom in its form.
pub(super) type Atom = u32;

/// A coefficient with its atom.
pub(super) type Term = (Atom, i64);

/// The most terms that are stored inline.
const FEW: usize = 5;

/// Terms by ascending atom, no coefficient 0.
#[derive(Clone, Debug)]
pub(super) enum TermList {
    Near(u32, [Term; FEW]),
    Far(Vec<Term>),
}

impl TermList {
    pub const NONE: TermList = TermList::Near(0, [(0, 0); FEW]);

    /// One term; none if the coefficient is 0.
    pub fn one(atom: Atom, coefficient: i64) -> TermList {
        let mut terms = TermList::NONE;
        terms.push((atom, coefficient));
        terms
    }

    /// The term, if it is the only one.
    pub fn only(&self) -> Option<Term> {
        if let [term] = **self { Some(term) } else { None }
    }

    pub fn iter(&self) -> std::iter::Copied<std::slice::Iter<'_, Term>> {
        (**self).iter().copied()
    }

    /// The coefficient of an atom, 0 if no term has it.
    pub fn coefficient(&self, atom: Atom) -> i64 {
        let terms = &**self;
        if terms.len() <= FEW {
            return terms.iter().find(|t| t.0 == atom).map_or(0, |t| t.1);
        }
        terms.binary_search_by_key(&atom, |t| t.0).map_or(0, |k| terms[k].1)
    }

    /// Appends a term, unless its coefficient is 0.
    #[inline]
    pub fn push(&mut self, term: Term) {
        if term.1 == 0 {
            return;
        }
        match self {
            TermList::Near(len, terms) if (*len as usize) < FEW => {
                terms[*len as usize] = term;
                *len += 1;
            }
            _ => self.spilled().push(term),
        }
    }

    /// Adds `coefficient * atom`; `None` if the sum is not between `-i64::MAX` and `i64::MAX`.
    pub fn add(&mut self, atom: Atom, coefficient: i64) -> Option<()> {
        let (place, found) = match self.iter().rev().position(|t| t.0 <= atom) {
            Some(behind) => (self.len() - behind, self[self.len() - 1 - behind].0 == atom),
            None => (0, false),
        };
        negatable(coefficient)?;
        if found {
            let sum = self[place - 1].1.checked_add(coefficient).and_then(negatable)?;
            if sum != 0 {
                self.terms_mut()[place - 1].1 = sum;
                return Some(());
            }
            match self {
                TermList::Near(len, terms) => {
                    terms.copy_within(place..*len as usize, place - 1);
                    *len -= 1;
                }
                TermList::Far(terms) => {
                    terms.remove(place - 1);
                }
            }
        } else if coefficient != 0 {
            match self {
                TermList::Near(len, terms) if (*len as usize) < FEW => {
                    terms.copy_within(place..*len as usize, place + 1);
                    terms[place] = (atom, coefficient);
                    *len += 1;
                }
                _ => self.spilled().insert(place, (atom, coefficient)),
            }
        }
        Some(())
    }

    /// The terms in a vector, to which inline terms are moved.
    #[cold]
    fn spilled(&mut self) -> &mut Vec<Term> {
        if let TermList::Near(..) = self {
            let mut all = Vec::with_capacity(2 * FEW);
            all.extend_from_slice(self);
            *self = TermList::Far(all);
        }
        match self {
            TermList::Far(terms) => terms,
            TermList::Near(..) => unreachable!("they are in a vector now"),
        }
    }

    fn terms_mut(&mut self) -> &mut [Term] {
        match self {
            TermList::Near(len, terms) => &mut terms[..(*len as usize).min(FEW)],
            TermList::Far(terms) => terms,
        }
    }

    /// Divides all coefficients by a positive common divisor.
    pub fn divide(&mut self, by: i64) {
        self.terms_mut().iter_mut().for_each(|t| t.1 /= by);
    }

    /// Multiplies all coefficients by a number that is not 0; `None` if one is not between `-i64::MAX` and `i64::MAX`.
    pub fn multiply(&mut self, by: i64) -> Option<()> {
        self.terms_mut().iter_mut().try_for_each(|t| {
            t.1 = product(t.1, by)?;
            Some(())
        })
    }
}

impl Deref for TermList {
    type Target = [Term];

    #[inline]
    fn deref(&self) -> &[Term] {
        match self {
            TermList::Near(len, terms) => &terms[..(*len as usize).min(FEW)],
            TermList::Far(terms) => terms,
        }
    }
}

impl FromIterator<Term> for TermList {
    /// Collects terms by ascending atom; those with coefficient 0 are left out.
    fn from_iter<T: IntoIterator<Item = Term>>(all: T) -> TermList {
        let mut terms = TermList::NONE;
        all.into_iter().for_each(|t| terms.push(t));
        terms
    }
}

impl PartialEq for TermList {
    fn eq(&self, other: &TermList) -> bool {
        **self == **other
    }
}

impl Eq for TermList {}

impl Hash for TermList {
    fn hash<H: Hasher>(&self, state: &mut H) {
        for (a, c) in self.iter() {
            (u64::from(a).rotate_left(48) ^ c as u64).hash(state);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    /// Compares with a map from atoms to coefficients, for lists around the inline length.
    #[test]
    fn terms_add_up_as_in_a_map() {
        let mut random = fastrand::Rng::with_seed(3);
        for _ in 0..2000 {
            let (mut terms, mut map) = (TermList::NONE, BTreeMap::new());
            for _ in 0..random.usize(0..3 * FEW) {
                let (atom, c) = (random.u32(0..FEW as u32 + 3), random.i64(-2..=2));
                terms.add(atom, c).unwrap();
                *map.entry(atom).or_insert(0) += c;
                map.retain(|_, c| *c != 0);
                assert_eq!(terms.to_vec(), map.clone().into_iter().collect::<Vec<_>>());
                assert_eq!(terms.coefficient(atom), map.get(&atom).copied().unwrap_or(0));
                assert_eq!(terms.iter().collect::<TermList>(), terms);
            }
        }
        let mut most = TermList::one(0, i64::MAX);
        assert_eq!((most.add(0, 1), most.multiply(2)), (None, None));
        let mut none = TermList::NONE;
        assert_eq!((none.add(0, i64::MIN), none.add(0, -i64::MAX)), (None, Some(())));
    }
}
