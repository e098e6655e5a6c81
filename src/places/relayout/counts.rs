//! Counting without overflow, and in a bounded number of steps.

use crate::numbers::{gcd, inverse};
use crate::text::Error;

/// The values of a variable in a box: the least, and their number.
pub type Range = (i64, i64);

pub fn too_many() -> Error {
    Error::new("the number of elements and copies, or of their bytes, does not fit in 64 bits").too_large()
}

/// The product of counts.
pub fn product(mut counts: impl Iterator<Item = i64>) -> Result<i64, Error> {
    counts.try_fold(1i64, i64::checked_mul).ok_or_else(too_many)
}

/// The sum of two counts.
pub fn sum(a: i64, b: i64) -> Result<i64, Error> {
    a.checked_add(b).ok_or_else(too_many)
}

/// The number of values in a box.
pub fn elements(ranges: &[Range]) -> Result<i64, Error> {
    product(ranges.iter().map(|range| range.1))
}

/// The number of values that may still be enumerated.
pub struct Budget(pub usize);

impl Budget {
    pub fn take(&mut self) -> Result<(), Error> {
        self.0 = self.0.checked_sub(1).ok_or_else(entangled)?;
        Ok(())
    }
}

fn entangled() -> Error {
    Error::new(
        "counting what moves takes too many steps: the strides of the two layouts divide the indices in too many ways",
    )
    .too_large()
}

/// Enumerates the values of some variables: their ranges become single values.
pub fn each(
    vars: &[usize],
    ranges: &[Range],
    steps: &mut Budget,
    visit: &mut dyn FnMut(&[Range]) -> Result<(), Error>,
) -> Result<(), Error> {
    let mut now = ranges.to_vec();
    vars.iter().for_each(|var| now[*var].1 = 1);
    loop {
        steps.take()?;
        visit(&now)?;
        let more = vars.iter().find(|&&var| {
            now[var].0 += 1;
            let inside = now[var].0 < ranges[var].0 + ranges[var].1;
            if !inside {
                now[var].0 = ranges[var].0;
            }
            inside
        });
        if more.is_none() {
            return Ok(());
        }
    }
}

/// The number of values of unknowns, each from 0 to before its count, with `sum(factor * unknown) = wanted`. The
/// factors are not 0, the largest first. All but two unknowns are enumerated, over the values that the rest can make up
/// for.
pub fn solutions(terms: &[(i128, i128)], wanted: i128, steps: &mut Budget) -> Result<i64, Error> {
    steps.take()?;
    let divisor = terms.iter().fold(0, |divisor, (factor, _)| gcd(divisor, *factor));
    if wanted.checked_rem(divisor).unwrap_or(wanted) != 0 {
        return Ok(0);
    }
    let (factor, count, rest) = match terms {
        [] => return Ok(1),
        [(factor, count)] => return Ok(i64::from((0..*count).contains(&(wanted / factor)))),
        [first, second] => return pairs(*first, *second, wanted),
        [(factor, count), rest @ ..] => (*factor, *count, rest),
    };
    let ends = |(factor, count): &(i128, i128)| factor * (count - 1);
    let (least, most) = (rest.iter().map(|t| ends(t).min(0)).sum(), rest.iter().map(|t| ends(t).max(0)).sum());
    let (low, high) = within(factor, wanted, least, most);
    let mut found = 0;
    for value in low.max(0)..=high.min(count - 1) {
        found = sum(found, solutions(rest, wanted - factor * value, steps)?)?;
    }
    Ok(found)
}

/// The least and the most `k` with `least <= start - step * k <= most`.
fn within(step: i128, start: i128, least: i128, most: i128) -> (i128, i128) {
    let (a, b) = if step > 0 { (start - most, start - least) } else { (least - start, most - start) };
    (-(-a).div_euclid(step.abs()), b.div_euclid(step.abs()))
}

/// [`solutions`] for two unknowns; their greatest common divisor must divide `wanted`.
fn pairs((a, n): (i128, i128), (b, m): (i128, i128), wanted: i128) -> Result<i64, Error> {
    let divisor = gcd(a, b);
    let (a, b, wanted) = (a / divisor, b / divisor, wanted / divisor);
    let inverse = inverse(a, b.abs()).ok_or_else(entangled)?;
    // One solution is the least first unknown; all others are `b` apart.
    let product = wanted.rem_euclid(b.abs()).checked_mul(inverse).ok_or_else(entangled)?;
    let x = product.rem_euclid(b.abs());
    let y = (wanted - a * x) / b;
    let (low, high) = within(a * b.signum(), y, 0, m - 1);
    let count = high.min((n - 1 - x).div_euclid(b.abs())) - low.max(0) + 1;
    i64::try_from(count.max(0)).map_err(|_| too_many())
}
