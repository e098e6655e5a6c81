//! The count of elements that stay: both sides' coordinates are equal where classes of variables are.

use super::counts::{Budget, Range, each, elements, product, solutions, sum};
use super::joint::Joint;
use super::moves::MAX_BLOCKS;
use super::tree::{FROM, SamePlace, TO};
use crate::text::Error;
use rustc_hash::FxHashMap;

/// The most places that are tried as the busiest before all are enumerated.
const MAX_TRIED: usize = 1 << 14;

/// Values of some variables.
type Assignment = Vec<(usize, i64)>;

/// Classes of variables that must be equal.
pub struct Equal {
    classes: Vec<Class>,
    /// Constraints along axes whose strides do not nest, which classes cannot express.
    tangled: Vec<SamePlace>,
    /// Whether source and destination always differ in place.
    pub never: bool,
}

/// Variables that must be equal, and with `zero` also 0.
struct Class {
    vars: Vec<usize>,
    zero: bool,
}

impl Class {
    /// The number of values common to all variables.
    fn count(&self, ranges: &[Range]) -> i64 {
        let low = self.low(ranges);
        let high = self.vars.iter().map(|var| ranges[*var].0 + ranges[*var].1).min().unwrap_or(1);
        let high = if self.zero { high.min(1) } else { high };
        (high - low).max(0)
    }

    /// The least value that may be common to all variables.
    fn low(&self, ranges: &[Range]) -> i64 {
        self.vars.iter().map(|var| ranges[*var].0).max().unwrap_or(0)
    }
}

impl Joint {
    /// The classes of variables that constraints make equal.
    pub fn equal(&self, constraints: &[SamePlace]) -> Equal {
        let mut class: Vec<usize> = (0..self.vars.len()).collect();
        let mut zero = vec![false; self.vars.len()];
        let mut tangled = Vec::new();
        for constraint in constraints {
            let [from, to] = &self.coordinates[constraint.axis];
            if !self.nested[constraint.axis] {
                tangled.push(*constraint);
                continue;
            }
            let with = |side: &[(usize, i64)], stride| side.iter().find(|(_, s)| *s == stride).map(|(var, _)| *var);
            for &(var, stride) in from.iter().filter(|(_, stride)| *stride >= constraint.unit) {
                match with(to, stride) {
                    Some(other) => {
                        let (keep, gone) = (class[var], class[other]);
                        class.iter_mut().filter(|class| **class == gone).for_each(|class| *class = keep);
                    }
                    None => zero[var] = true,
                }
            }
            for &(var, stride) in to.iter().filter(|(_, stride)| *stride >= constraint.unit) {
                zero[var] |= with(from, stride).is_none();
            }
        }
        let mut classes: Vec<Class> = Vec::new();
        for name in 0..self.vars.len() {
            let vars: Vec<usize> = (0..self.vars.len()).filter(|var| class[*var] == name).collect();
            let zero = vars.iter().any(|var| zero[*var]);
            if !vars.is_empty() {
                classes.push(Class { vars, zero });
            }
        }
        Equal { classes, tangled, never: false }
    }

    /// The number of elements and copies for which the constraints hold.
    pub fn total(&self, equal: &Equal, steps: &mut Budget) -> Result<i64, Error> {
        if equal.never {
            return Ok(0);
        }
        self.boxes.iter().try_fold(0, |total, ranges| {
            steps.take()?;
            sum(total, self.count(equal, ranges, steps)?)
        })
    }

    /// The elements and copies of one box for which the constraints hold.
    fn count(&self, equal: &Equal, ranges: &[Range], steps: &mut Budget) -> Result<i64, Error> {
        if equal.tangled.is_empty() {
            return product(equal.classes.iter().map(|class| class.count(ranges)));
        }
        if let [SamePlace { axis, unit: 1 }] = equal.tangled[..] {
            return self.solutions(axis, equal, ranges, steps);
        }
        let mut count = 0i64;
        let involved = self.involved(&equal.tangled);
        each(&involved, ranges, steps, &mut |ranges| {
            if equal.tangled.iter().all(|constraint| self.holds(*constraint, ranges)) {
                count = sum(count, product(equal.classes.iter().map(|class| class.count(ranges)))?)?;
            }
            Ok(())
        })?;
        Ok(count)
    }

    /// [`Joint::count`] for one tangled constraint: equal coordinates along an axis whose strides do not nest.
    fn solutions(&self, axis: usize, equal: &Equal, ranges: &[Range], steps: &mut Budget) -> Result<i64, Error> {
        let (mut wanted, mut free, mut terms) = (0, 1i64, Vec::new());
        for class in &equal.classes {
            let step = |side: usize| {
                let steps = self.coordinates[axis][side].iter().filter(|(var, _)| class.vars.contains(var));
                steps.map(|(_, stride)| i128::from(*stride)).sum::<i128>()
            };
            let (factor, count) = (step(FROM) - step(TO), class.count(ranges));
            wanted -= factor * i128::from(class.low(ranges));
            match factor {
                0 => free = product([free, count].into_iter())?,
                _ if count == 0 => free = 0,
                _ => terms.push((factor, i128::from(count))),
            }
        }
        terms.sort_by_key(|(factor, _)| std::cmp::Reverse(factor.abs()));
        if free == 0 { Ok(0) } else { product([free, solutions(&terms, wanted, steps)?].into_iter()) }
    }

    /// The variables in the coordinates of constraints.
    fn involved(&self, constraints: &[SamePlace]) -> Vec<usize> {
        let sides = constraints.iter().flat_map(|constraint| &self.coordinates[constraint.axis]);
        let mut vars: Vec<usize> = sides.flatten().map(|(var, _)| *var).collect();
        vars.sort_unstable();
        vars.dedup();
        vars
    }

    /// Whether a constraint holds where each of its variables has a single value.
    fn holds(&self, constraint: SamePlace, ranges: &[Range]) -> bool {
        let [from, to] = [FROM, TO].map(|side| self.coordinate(constraint, side, ranges));
        from == to
    }

    fn coordinate(&self, constraint: SamePlace, side: usize, ranges: &[Range]) -> i128 {
        let steps = self.coordinates[constraint.axis][side].iter();
        let sum: i128 = steps.map(|(var, stride)| i128::from(ranges[*var].0) * i128::from(*stride)).sum();
        sum.div_euclid(i128::from(constraint.unit))
    }

    /// The elements that leave the busiest place of a side for other places; `same` defines a place.
    ///
    /// A place is a value of each variable that determines its coordinates. The number of leaving elements is constant
    /// between the bounds of ranges, except for places where equal variables differ, so a few values from each bound on
    /// are enough.
    pub fn busiest(&self, side: usize, same: &[SamePlace], equal: &Equal, steps: &mut Budget) -> Result<i64, Error> {
        let mut fixed: Vec<usize> = Vec::new();
        for constraint in same {
            let coordinate = self.coordinates[constraint.axis][side].iter();
            fixed.extend(coordinate.filter(|(_, stride)| *stride >= constraint.unit).map(|(var, _)| *var));
        }
        fixed.sort_unstable();
        fixed.dedup();
        let Some(first) = self.boxes.first() else { return Ok(0) };
        if equal.tangled.is_empty()
            && let Some((choices, tried)) = self.places_to_try(first, &fixed, equal)
        {
            let mut most = 0;
            for number in 0..tried {
                let mut rest = number;
                let place = choices.iter().flat_map(|values| {
                    let value = &values[rest % values.len()];
                    rest /= values.len();
                    value.iter().copied()
                });
                most = most.max(self.leaving(&place.collect::<Vec<_>>(), equal)?);
            }
            return Ok(most);
        }
        let involved = self.involved(same);
        let mut leaving: FxHashMap<Vec<i128>, i64> = FxHashMap::default();
        for ranges in &self.boxes {
            each(&involved, ranges, steps, &mut |ranges| {
                if equal.never || !same.iter().all(|constraint| self.holds(*constraint, ranges)) {
                    let place = same.iter().map(|constraint| self.coordinate(*constraint, side, ranges)).collect();
                    let all = leaving.entry(place).or_default();
                    *all = sum(*all, elements(ranges)?)?;
                }
                Ok(())
            })?;
        }
        Ok(leaving.into_values().max().unwrap_or(0))
    }

    /// For each class the values of its variables to try, and the number of places that they form; `None` if these are
    /// too many. `fixed` are the variables that determine the place, `first` are the ranges of the first box.
    fn places_to_try(&self, first: &[Range], fixed: &[usize], equal: &Equal) -> Option<(Vec<Vec<Assignment>>, usize)> {
        let mut choices: Vec<Vec<Assignment>> = Vec::new();
        let mut tried = self.boxes.len();
        for class in &equal.classes {
            let among: Vec<usize> = class.vars.iter().copied().filter(|var| fixed.contains(var)).collect();
            let uniform = self.boxes.iter().all(|ranges| class.vars.iter().all(|var| ranges[*var] == first[*var]));
            let mut values: Vec<Assignment> = vec![Vec::new()];
            for var in &among {
                let bounds = self.bounds_of(class, *var, uniform.then_some(first), among.len() > 1);
                tried = tried.saturating_mul(bounds.len());
                if tried > MAX_TRIED {
                    return None;
                }
                let with = |some: &Assignment, bound: &i64| [&some[..], &[(*var, *bound)]].concat();
                values = values.iter().flat_map(|some| bounds.iter().map(move |bound| with(some, bound))).collect();
            }
            if uniform {
                // The same in all boxes: where the fewest stay, the most leave, whatever the other classes do.
                let staying = |some: &Assignment| class.count(&placed(first, some));
                tried /= values.len().max(1);
                values = values.into_iter().min_by_key(staying).into_iter().collect();
            }
            choices.push(values);
        }
        Some((choices, tried / self.boxes.len()))
    }

    /// The values of a class's variable at which the number of leaving elements may change: the bounds of the class's
    /// ranges in all boxes, or in the first where all are alike, and with `next` the values after them.
    fn bounds_of(&self, class: &Class, var: usize, alike: Option<&[Range]>, next: bool) -> Vec<i64> {
        let mut bounds = if class.zero { vec![0, 1] } else { vec![0] };
        for ranges in self.boxes.iter().take(if alike.is_some() { 1 } else { MAX_BLOCKS }) {
            bounds.extend(class.vars.iter().flat_map(|var| [ranges[*var].0, ranges[*var].0 + ranges[*var].1]));
        }
        if next {
            bounds.extend(bounds.clone().into_iter().map(|bound| bound + 1));
        }
        bounds.sort_unstable();
        bounds.dedup();
        let range = alike.map_or((0, self.vars[var].extent), |first| first[var]);
        bounds.retain(|bound| (range.0..range.0 + range.1).contains(bound));
        bounds
    }

    /// The elements with these values of variables that break the classes.
    fn leaving(&self, place: &[(usize, i64)], equal: &Equal) -> Result<i64, Error> {
        let mut leaving = 0i64;
        for ranges in &self.boxes {
            let inside = |&(var, value): &(usize, i64)| (0..ranges[var].1).contains(&(value - ranges[var].0));
            if place.iter().all(inside) {
                let ranges = placed(ranges, place);
                let counts = equal.classes.iter().map(|class| class.count(&ranges));
                let staying = if equal.never { 0 } else { product(counts)? };
                leaving = sum(leaving, elements(&ranges)? - staying)?;
            }
        }
        Ok(leaving)
    }
}

/// Ranges with some variables fixed to single values.
fn placed(ranges: &[Range], values: &[(usize, i64)]) -> Vec<Range> {
    let mut ranges = ranges.to_vec();
    values.iter().for_each(|(var, value)| ranges[*var] = (*value, 1));
    ranges
}
