//! Sums of index variables, over boxes.
//!
//! A [`Space`] has index variables, each with a range. A variable may be cut into two digits, `x = d * outer + inner`;
//! then it stands for that sum, and every expression is one of digits. The range of the digits holds all values that
//! the variable has, and more where `d` does not divide: what is proved of all digits holds of the variable.

pub use crate::proof::factors::Var;

use crate::proof::factors::Factors;
use std::collections::BTreeMap;

/// Why nothing was decided.
#[derive(Clone, Debug, PartialEq)]
pub enum Undecided {
    /// It is one way below the value `at` of the variable, and may be another from there on.
    Split(Var, i64),
    /// It is one way where an expression is below this number, and may be another elsewhere.
    Order(Linear, i64),
    /// It cannot be shown, and why.
    Unproved(String),
    /// It does not hold, and why.
    Wrong(String),
}

pub type Shown<T> = Result<T, Undecided>;

/// An error: a claim cannot be shown, and why.
pub fn unproved<T>(why: impl Into<String>) -> Shown<T> {
    Err(Undecided::Unproved(why.into()))
}

/// How many values may still be looked at.
pub struct Looks(pub usize);

/// How many bytes of text are written, and how many indices are written or compared, in the time of a look.
const TEXT_OF_A_LOOK: usize = 64;
const INDICES_OF_A_LOOK: usize = 4;

/// How many terms or families are compared with one in the time of a look.
pub const COMPARISONS_OF_A_LOOK: usize = 8;

impl Looks {
    /// Counts values that are looked at.
    ///
    /// # Errors
    /// There are not so many left.
    pub fn take(&mut self, count: usize) -> Shown<()> {
        let left = self.0.checked_sub(count);
        self.0 = left.unwrap_or(0);
        left.map_or_else(|| unproved("it takes more steps"), |_| Ok(()))
    }

    /// Counts text that is written.
    ///
    /// # Errors
    /// There are not so many left.
    pub fn take_text(&mut self, text: &str) -> Shown<()> {
        self.take(text.len() / TEXT_OF_A_LOOK)
    }

    /// Counts the indices of a term.
    ///
    /// # Errors
    /// There are not so many left.
    pub fn take_indices(&mut self, indices: usize) -> Shown<()> {
        self.take(indices / INDICES_OF_A_LOOK)
    }
}

/// A constant and a sum of variables with factors other than 0.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Linear {
    pub terms: Factors,
    pub constant: i64,
}

fn overflow<T>(number: Option<T>) -> Shown<T> {
    number.ok_or_else(|| Undecided::Unproved("numbers beyond 64 bits".to_owned()))
}

impl Linear {
    pub fn constant(constant: i64) -> Linear {
        Linear { terms: Factors::default(), constant }
    }

    pub fn var(var: Var) -> Linear {
        Linear { terms: Factors::one(var), constant: 0 }
    }

    pub fn as_constant(&self) -> Option<i64> {
        self.terms.is_empty().then_some(self.constant)
    }

    pub fn times(&self, factor: i64) -> Shown<Linear> {
        let constant = overflow(self.constant.checked_mul(factor))?;
        Ok(Linear { terms: overflow(self.terms.times(factor))?, constant })
    }

    pub fn plus(&self, other: &Linear) -> Shown<Linear> {
        let mut result = self.clone();
        result.gain(other, 1)?;
        Ok(result)
    }

    pub fn minus(&self, other: &Linear) -> Shown<Linear> {
        let mut result = self.clone();
        result.gain(other, -1)?;
        Ok(result)
    }

    pub fn add(&self, constant: i64) -> Shown<Linear> {
        let constant = overflow(self.constant.checked_add(constant))?;
        Ok(Linear { terms: self.terms.clone(), constant })
    }

    /// Adds another one, so many times.
    pub fn gain(&mut self, other: &Linear, times: i64) -> Shown<()> {
        let constant = other.constant.checked_mul(times).and_then(|more| self.constant.checked_add(more));
        self.constant = overflow(constant)?;
        let mut each = other.terms.iter();
        overflow(each.try_for_each(|(var, a)| self.terms.more(var, a.checked_mul(times)?)))
    }
}

/// The same expression with others in the place of variables.
pub fn replaced(e: &Linear, with: &BTreeMap<Var, Linear>) -> Shown<Linear> {
    if !e.terms.vars().any(|var| with.contains_key(&var)) {
        return Ok(e.clone());
    }
    let mut result = Linear::constant(e.constant);
    for (var, a) in e.terms.iter() {
        match with.get(&var) {
            Some(value) => result.gain(value, a)?,
            None => result.gain(&Linear::var(var), a)?,
        }
    }
    Ok(result)
}

/// How a variable is cut.
#[derive(Clone, Copy, Debug)]
struct Digits {
    outer: Var,
    inner: Var,
    size: i64,
}

#[derive(Clone, Debug)]
struct VarInfo {
    /// The least value, and one more than the greatest.
    range: (i64, i64),
    digits: Option<Digits>,
    /// The variable that this is a digit of.
    of: Option<Var>,
}

/// An index that the program reads: the same number wherever its term and the indices in it are the same.
#[derive(Clone, Debug)]
pub struct DataIndex {
    pub term: String,
    pub places: Vec<Linear>,
    range: (i64, i64),
    pub var: Var,
}

/// Index variables with their ranges.
#[derive(Clone, Debug, Default)]
pub struct Space {
    vars: Vec<VarInfo>,
    /// The earlier states of variables, in the order in which they changed.
    before: Vec<(Var, VarInfo)>,
    /// The indices which the program reads, in the order of their variables.
    data: Vec<DataIndex>,
    /// Expressions that are at least 0.
    facts: Vec<Linear>,
}

/// A state of a space, to come back to.
#[derive(Clone, Copy, Debug)]
pub struct SpaceMark {
    vars: usize,
    before: usize,
    facts: usize,
}

impl Space {
    /// A new variable from 0 up to below `extent`, at least 1.
    pub fn var(&mut self, extent: i64) -> Var {
        self.within(0, extent)
    }

    pub fn within(&mut self, low: i64, high: i64) -> Var {
        self.vars.push(VarInfo { range: (low, high.max(low + 1)), digits: None, of: None });
        self.vars.len() - 1
    }

    pub fn range_of(&self, var: Var) -> (i64, i64) {
        self.vars[var].range
    }

    /// The state at hand.
    pub fn mark(&self) -> SpaceMark {
        SpaceMark { vars: self.vars.len(), before: self.before.len(), facts: self.facts.len() }
    }

    /// Comes back to a state, without the variables that are new since.
    pub fn undo(&mut self, mark: SpaceMark) {
        for (var, info) in self.before.drain(mark.before..).rev() {
            self.vars[var] = info;
        }
        self.vars.truncate(mark.vars);
        self.facts.truncate(mark.facts);
        self.data.retain(|data| data.var < mark.vars);
    }

    /// Whether a variable stands for an index that the program reads.
    pub fn is_data(&self, var: Var) -> bool {
        self.data.iter().any(|data| data.var == var)
    }

    /// The index which the program reads that a variable stands for.
    pub fn data_of(&self, var: Var) -> Option<&DataIndex> {
        self.data.iter().find(|data| data.var == var)
    }

    /// The variable for an index that is this term with these indices in it.
    pub fn data(&mut self, term: &str, places: &[Linear], range: (i64, i64)) -> Shown<Var> {
        for known in self.data.iter().filter(|known| known.term == term && known.places.len() == places.len()) {
            let mut pairs = known.places.iter().zip(places);
            if pairs.try_fold(true, |same, (a, b)| Ok(same && self.is_zero(&a.minus(b)?)?))? {
                return Ok(known.var);
            }
        }
        let var = self.within(range.0, range.1);
        self.data.push(DataIndex { term: term.to_owned(), places: places.to_vec(), range, var });
        Ok(var)
    }

    /// The indices that the program reads at places which depend on variables.
    pub fn dependent(&self) -> Vec<DataIndex> {
        let depends = |data: &&DataIndex| data.places.iter().any(|place| !place.terms.is_empty());
        self.data.iter().filter(depends).cloned().collect()
    }

    /// The same index at other places.
    pub fn data_at(&mut self, data: &DataIndex, with: &BTreeMap<Var, Linear>) -> Shown<Option<Var>> {
        let vars = || data.places.iter().flat_map(|place| place.terms.vars());
        if !vars().any(|var| with.keys().any(|known| self.root_of(*known) == self.root_of(var))) {
            return Ok(None);
        }
        if vars().any(|var| !with.contains_key(&var) && with.keys().any(|k| self.root_of(*k) == self.root_of(var))) {
            return unproved("an index of data at a part of an index");
        }
        let places = data.places.iter().map(|place| replaced(place, with)).collect::<Shown<Vec<_>>>()?;
        self.data(&data.term, &places, data.range).map(Some)
    }

    /// Whether a variable, or one on which it depends as data, is such a one.
    pub fn depends(&self, var: Var, is: &dyn Fn(Var) -> bool) -> bool {
        let root = self.root_of(var);
        match self.data.iter().find(|data| data.var == root) {
            Some(data) => data.places.iter().flat_map(|place| place.terms.vars()).any(|var| self.depends(var, is)),
            None => is(root),
        }
    }

    /// Takes an expression to be at least 0.
    pub fn assume(&mut self, fact: Linear) {
        self.facts.push(fact);
    }

    /// The expressions that are taken to be at least 0.
    pub fn facts(&self) -> &[Linear] {
        &self.facts
    }

    /// A variable that becomes something else.
    fn changed(&mut self, var: Var) -> &mut VarInfo {
        self.before.push((var, self.vars[var].clone()));
        &mut self.vars[var]
    }

    /// Leaves out the values that a variable has below a range and behind it.
    fn narrow(&mut self, var: Var, low: i64, high: i64) {
        let (a, b) = self.vars[var].range;
        if a < low || high < b {
            self.changed(var).range = (a.max(low), b.min(high));
        }
    }

    /// Keeps only the values of `var` from `low` up to below `high`; whether there is a point.
    pub fn restrict(&mut self, var: Var, low: i64, high: i64) -> bool {
        self.narrow(var, low, high);
        let mut at = Some(var);
        while let Some(var) = at {
            if let Some(Digits { outer, inner, size }) = self.vars[var].digits {
                let ((a, b), (c, d)) = (self.vars[outer].range, self.vars[inner].range);
                self.narrow(var, a * size + c, (b - 1) * size + d);
            }
            if !self.tightened(var) {
                return false;
            }
            at = self.vars[var].of;
        }
        true
    }

    /// Leaves out values of digits that their variable does not have; whether there is a value.
    fn tightened(&mut self, var: Var) -> bool {
        let (low, high) = self.vars[var].range;
        let Some(Digits { outer, inner, size }) = self.vars[var].digits else { return low < high };
        self.narrow(outer, low.div_euclid(size), (high - 1).div_euclid(size) + 1);
        let (first, end) = self.vars[outer].range;
        if first + 1 == end {
            self.narrow(inner, low - first * size, high - first * size);
        }
        low < high && self.tightened(outer) && self.tightened(inner)
    }

    /// A case to look at by itself: the last value of a digit beyond which its variable does not have all others.
    pub fn loose(&self, known: usize) -> Option<Undecided> {
        (0..self.vars.len()).filter(|var| self.root_of(*var) < known).find_map(|var| {
            let Digits { outer, inner, size } = self.vars[var].digits?;
            let (low, high) = self.vars[var].range;
            let ((a, b), (c, d)) = (self.vars[outer].range, self.vars[inner].range);
            let above = (b - 1) * size + d > high;
            let below = a * size + c < low;
            let at = if above { b - 1 } else { a + 1 };
            ((above || below) && b - a > 1).then_some(Undecided::Split(outer, at))
        })
    }

    /// How many variables there are.
    pub fn len(&self) -> usize {
        self.vars.len()
    }

    /// The variable that this is a digit of, of a digit, and so on.
    pub fn root_of(&self, var: Var) -> Var {
        self.vars[var].of.map_or(var, |whole| self.root_of(whole))
    }

    /// The variable that this is a digit of, what its digits are cut at, and whether this is the outer one.
    pub fn part_of(&self, var: Var) -> Option<(Var, i64, bool)> {
        let whole = self.vars[var].of?;
        self.vars[whole].digits.map(|Digits { outer, size, .. }| (whole, size, outer == var))
    }

    /// The digits that a variable is cut into, and how often the first one counts.
    pub fn cut_of(&self, var: Var) -> Option<(Var, Var, i64)> {
        self.vars[var].digits.map(|Digits { outer, inner, size }| (outer, inner, size))
    }

    /// The variables that `var` is a sum of: itself, where it is not cut.
    pub fn digits_of(&self, var: Var) -> Vec<Var> {
        match self.vars[var].digits {
            None => vec![var],
            Some(Digits { outer, inner, .. }) => [self.digits_of(outer), self.digits_of(inner)].concat(),
        }
    }

    /// The same expression of digits alone, without variables that have one value.
    pub fn normal(&self, e: &Linear) -> Shown<Linear> {
        let is_plain = |var: Var| {
            let VarInfo { range: (low, high), digits, .. } = &self.vars[var];
            digits.is_none() && low + 1 != *high
        };
        if e.terms.vars().all(is_plain) {
            return Ok(e.clone());
        }
        let mut result = Linear::constant(e.constant);
        e.terms.iter().try_for_each(|(var, a)| self.gain_digits(&mut result, var, a))?;
        Ok(result)
    }

    /// Adds the digits of a variable, so many times.
    fn gain_digits(&self, sum: &mut Linear, var: Var, times: i64) -> Shown<()> {
        let (low, high) = self.vars[var].range;
        match self.vars[var].digits {
            _ if low + 1 == high => {
                let constant = low.checked_mul(times).and_then(|more| sum.constant.checked_add(more));
                sum.constant = overflow(constant)?;
                Ok(())
            }
            None => overflow(sum.terms.more(var, times)),
            Some(Digits { outer, inner, size }) => {
                self.gain_digits(sum, outer, overflow(size.checked_mul(times))?)?;
                self.gain_digits(sum, inner, times)
            }
        }
    }

    /// The least and the greatest value, or bounds of these.
    pub fn range(&self, e: &Linear) -> Shown<(i64, i64)> {
        let mut e = self.normal(e)?;
        let (mut low, mut high) = self.bounds(&e)?;
        for fact in &self.facts {
            let fact = self.normal(fact)?;
            let Some((var, factor)) = fact.terms.iter().next() else { continue };
            let Some(times) = e.terms.get(var).filter(|a| a % factor == 0).map(|a| a / factor) else { continue };
            let rest = self.bounds(&e.minus(&fact.times(times)?)?)?;
            if times > 0 { low = low.max(rest.0) } else { high = high.min(rest.1) }
        }
        // Digits whose factors fit together are the variable again, whose range is the narrower one.
        let mut seen: Vec<Var> = e.terms.vars().collect();
        while let Some(digit) = seen.pop() {
            let Some(var) = self.vars[digit].of else { continue };
            let Some(Digits { outer, inner, size }) = self.vars[var].digits else { continue };
            let one = |v: Var| self.vars[v].range.0 + 1 == self.vars[v].range.1;
            let factor = match (e.terms.get(outer), e.terms.get(inner)) {
                (Some(a), Some(b)) if b.checked_mul(size) == Some(a) => b,
                (Some(a), None) if one(inner) && a % size == 0 => a / size,
                (None, Some(b)) if one(outer) => b,
                _ => continue,
            };
            for (digit, size) in [(outer, size), (inner, 1)] {
                if e.terms.remove(digit).is_none() {
                    e = e.minus(&Linear::constant(self.vars[digit].range.0).times(size)?.times(factor)?)?;
                }
            }
            e = e.plus(&Linear::var(var).times(factor)?)?;
            seen.push(var);
        }
        let (a, b) = self.bounds(&e)?;
        Ok((low.max(a), high.min(b)))
    }

    /// Bounds of a sum from those of its variables.
    fn bounds(&self, e: &Linear) -> Shown<(i64, i64)> {
        let (mut low, mut high) = (e.constant, e.constant);
        for (var, a) in e.terms.iter() {
            let (first, end) = self.vars[var].range;
            let ends = [overflow(a.checked_mul(first))?, overflow(a.checked_mul(end - 1))?];
            low = overflow(low.checked_add(ends[0].min(ends[1])))?;
            high = overflow(high.checked_add(ends[0].max(ends[1])))?;
        }
        Ok((low, high))
    }

    pub fn is_zero(&self, e: &Linear) -> Shown<bool> {
        match self.normal(e)?.as_constant() {
            None if !self.facts.is_empty() => Ok(self.range(e)? == (0, 0)),
            constant => Ok(constant == Some(0)),
        }
    }

    /// Whether the program has all values of the variables: neither facts nor data exclude some.
    pub fn is_reached(&self) -> bool {
        self.facts.is_empty() && !(0..self.vars.len() as Var).any(|var| self.is_data(var))
    }

    /// Whether an expression is another number than 0 for some values of the variables, all of which are reached: it is one of
    /// digits, and these have no values that their variables do not have.
    pub fn has_other(&self, e: &Linear) -> Shown<bool> {
        let e = self.normal(e)?;
        Ok(!self.is_zero(&e)? && e.terms.vars().all(|var| self.is_exact(self.root_of(var))))
    }

    /// Whether a variable has the value of all digits that it is cut into.
    fn is_exact(&self, var: Var) -> bool {
        self.inexact(var).is_empty()
    }

    /// The variables, among one and its digits, that do not have all values of their own digits.
    pub fn inexact(&self, var: Var) -> Vec<Var> {
        let Some(Digits { outer, inner, size }) = self.vars[var].digits else { return vec![] };
        let ((low, high), (a, b), (c, d)) = (self.vars[var].range, self.vars[outer].range, self.vars[inner].range);
        let is_exact = low <= a * size + c && (b - 1) * size + d <= high;
        let whole = (!is_exact).then_some(var);
        whole.into_iter().chain(self.inexact(outer)).chain(self.inexact(inner)).collect()
    }

    /// Whether the expression is at least 0 everywhere (`true`) or nowhere (`false`).
    pub fn at_least_zero(&self, e: &Linear) -> Shown<bool> {
        match self.range(e)? {
            (low, _) if low >= 0 => Ok(true),
            (_, high) if high < 0 => Ok(false),
            _ => Err(self.cut_at_zero(e)?),
        }
    }

    /// Where to cut a variable of an expression that is below 0 somewhere and not elsewhere: the one of largest factor.
    fn cut_at_zero(&self, e: &Linear) -> Shown<Undecided> {
        let e = self.normal(e)?;
        if let Some(order) = self.order(&e)? {
            return Ok(order);
        }
        let Some((var, a)) = e.terms.iter().max_by_key(|(_, a)| a.unsigned_abs()) else {
            return Ok(Undecided::Unproved("a constant".to_owned()));
        };
        let (low, high) = self.vars[var].range;
        let mut rest = e.clone();
        rest.terms.remove(var);
        let (rest_low, rest_high) = self.range(&rest)?;
        // The first value at which it may be otherwise than at the lowest.
        let at = if a > 0 { -(rest_high.div_euclid(a)) } else { rest_low.div_euclid(-a) + 1 };
        let at = if at > low && at < high {
            at
        } else if a > 0 {
            (-rest_low).div_euclid(a) + 1
        } else {
            rest_high.div_euclid(-a) + 1
        };
        Ok(Undecided::Split(var, if at > low && at < high { at } else { low + (high - low) / 2 }))
    }

    /// Where to cut what an index of data is compared with: the terms whose factors are multiples of its own.
    fn order(&self, e: &Linear) -> Shown<Option<Undecided>> {
        let data = e.terms.iter().filter(|(var, _)| self.is_data(self.root_of(*var)));
        let Some(times) = data.map(|(_, a)| a.unsigned_abs()).max().and_then(|a| i64::try_from(a).ok()) else {
            return Ok(None);
        };
        let (mut both, mut rest) = (Linear::default(), Linear::constant(e.constant));
        for (var, a) in e.terms.iter() {
            let (sum, a) = if a % times == 0 { (&mut both, a / times) } else { (&mut rest, a) };
            sum.gain(&Linear::var(var), a)?;
        }
        if both.terms.vars().count() < 2 {
            return Ok(None);
        }
        let ((low, high), (least, most)) = (self.range(&both)?, self.range(&rest)?);
        let mut cuts = [-most.div_euclid(times), -least.div_euclid(times)].into_iter();
        Ok(cuts.find(|at| low < *at && *at <= high).map(|at| Undecided::Order(both, at)))
    }

    /// The quotient, rounded down, and the remainder.
    pub fn divide(&mut self, e: &Linear, c: i64) -> Shown<(Linear, Linear)> {
        if c <= 0 {
            return unproved("a division by no positive number");
        }
        loop {
            let e = self.normal(e)?;
            let mut quotient = Linear::default();
            let mut rest = Linear::constant(e.constant);
            for (var, a) in e.terms.iter() {
                let (into, a) = if a % c == 0 { (&mut quotient, a / c) } else { (&mut rest, a) };
                overflow(into.terms.more(var, a))?;
            }
            let (low, high) = self.range(&rest)?;
            let q = low.div_euclid(c);
            if high.div_euclid(c) == q {
                let remainder = rest.add(overflow(q.checked_mul(-c))?)?;
                return Ok((quotient.add(q)?, remainder));
            }
            // A variable that has more values than it takes to come to a multiple of `c` is cut there.
            let cut = rest.terms.iter().find_map(|(var, a)| {
                let size = c / gcd(a, c);
                let (first, end) = self.vars[var].range;
                (first.div_euclid(size) != (end - 1).div_euclid(size)).then_some((var, size))
            });
            match cut {
                Some((var, size)) => self.cut(var, size),
                None => return Err(self.cut_at_zero(&rest.add(-(q + 1) * c)?)?),
            }
        }
    }

    fn cut(&mut self, var: Var, size: i64) {
        let (low, high) = self.vars[var].range;
        let outer = self.within(low.div_euclid(size), (high - 1).div_euclid(size) + 1);
        let inner = self.within(0, size);
        self.changed(var).digits = Some(Digits { outer, inner, size });
        (self.vars[outer].of, self.vars[inner].of) = (Some(var), Some(var));
    }

    /// The values of `unknown`, each a factor and a range, whose sum is `e`; none where there are none.
    ///
    /// # Errors
    /// Factors of which one sum may have two ways; those have to be so that what is below each never comes to it.
    pub fn solve(&mut self, e: &Linear, unknown: &[(i64, i64, i64)]) -> Shown<Option<Vec<Linear>>> {
        let mut order: Vec<usize> = (0..unknown.len()).collect();
        order.sort_by_key(|k| unknown[*k].0);
        let mut rest = e.clone();
        let mut most = 0i64;
        for k in &order {
            let (a, low, high) = unknown[*k];
            if a <= most {
                return unproved("subscripts that may meet");
            }
            most = overflow(a.checked_mul(high - 1 - low).and_then(|b| b.checked_add(most)))?;
            rest = rest.minus(&Linear::constant(low).times(a)?)?;
        }
        let mut values = vec![Linear::default(); unknown.len()];
        if unknown.is_empty() {
            // Without unknowns, the sum itself has to be 0.
            let zero = self.at_least_zero(e)? && self.at_least_zero(&e.times(-1)?)?;
            return Ok(zero.then_some(values));
        }
        Ok(self.solve_in_order(&rest, unknown, &order, &mut values)?.then_some(values))
    }

    /// The same from 0 on, for the unknowns of these numbers, least factor first.
    fn solve_in_order(
        &mut self,
        e: &Linear,
        unknown: &[(i64, i64, i64)],
        order: &[usize],
        values: &mut [Linear],
    ) -> Shown<bool> {
        let factor = |k: usize| unknown[order[k]].0;
        // What is below a factor of which all greater ones are multiples is the sum of those below it.
        if let Some(k) = (1..order.len()).find(|k| (*k..order.len()).all(|more| factor(more) % factor(*k) == 0)) {
            let (above, below) = self.divide(e, factor(k))?;
            return Ok(self.solve_in_order(&below, unknown, &order[..k], values)?
                && self.solve_in_order(&above.times(factor(k))?, unknown, &order[k..], values)?);
        }
        let (a, low, high) = unknown[order[0]];
        let (value, nothing) = self.divide(e, a)?;
        for least in [&value, &Linear::constant(high - 1 - low).minus(&value)?, &nothing.times(-1)?] {
            if !self.at_least_zero(least)? {
                return Ok(false);
            }
        }
        values[order[0]] = value.add(low)?;
        Ok(true)
    }
}

fn gcd(a: i64, b: i64) -> i64 {
    let (mut a, mut b) = (a.abs(), b.abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}
