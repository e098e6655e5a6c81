//! Quotients rounded up, greatest common divisors and inverses, and products and differences whose negatives also fit in 64 bits.
//!
//! The checker of simplifications has its own, in `maps/check/linear.rs`, because it shares no code with the
//! simplifier.

/// `a / by`, rounded up; `by` is positive.
pub fn ceil_div(a: i64, by: i64) -> i64 {
    a.div_euclid(by) + i64::from(a.rem_euclid(by) != 0)
}

/// [`ceil_div`] of 128 bits.
pub fn ceil_div_wide(a: i128, by: i128) -> i128 {
    a.div_euclid(by) + i128::from(a.rem_euclid(by) != 0)
}

/// The greatest common divisor, not negative; of 0 and a number, that number without its sign.
pub fn gcd(a: i128, b: i128) -> i128 {
    let (mut a, mut b) = (a.unsigned_abs(), b.unsigned_abs());
    while b != 0 {
        if let (Ok(x), Ok(y)) = (u64::try_from(a), u64::try_from(b)) {
            let (mut x, mut y) = (x, y);
            while y != 0 {
                (x, y) = (y, x % y);
            }
            return x.into();
        }
        (a, b) = (b, a % b);
    }
    a as i128
}

/// [`gcd`] of numbers that are not `i64::MIN`.
pub fn near_gcd(a: i64, b: i64) -> i64 {
    let (mut x, mut y) = (a.unsigned_abs(), b.unsigned_abs());
    while y != 0 {
        (x, y) = (y, x % y);
    }
    x as i64
}

/// The number, if its negative also fits in 64 bits.
pub(crate) fn negatable(x: i64) -> Option<i64> {
    (x != i64::MIN).then_some(x)
}

/// `a * b`, if it and its negative fit in 64 bits.
pub(crate) fn product(a: i64, b: i64) -> Option<i64> {
    negatable(a.checked_mul(b)?)
}

/// `a - b`, if it and its negative fit in 64 bits.
pub(crate) fn difference(a: i64, b: i64) -> Option<i64> {
    negatable(a.checked_sub(b)?)
}

/// The inverse of `c` modulo `m > 0`, in `0..m`; `None` if `c` and `m` have a common divisor.
pub(crate) fn inverse(c: i128, m: i128) -> Option<i128> {
    let (mut r0, mut r1, mut t0, mut t1) = (m, c.rem_euclid(m), 0i128, 1i128);
    while r1 != 0 {
        let q = r0 / r1;
        (r0, r1) = (r1, r0 - q * r1);
        (t0, t1) = (t1, t0.checked_sub(q.checked_mul(t1)?)?);
    }
    (r0 == 1).then(|| t0.rem_euclid(m))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares with the definitions, for all small numbers of both signs.
    #[test]
    fn they_are_what_their_names_say() {
        for a in -30i128..=30 {
            for b in -30i128..=30 {
                let divides_both = |d: &i128| *d > 0 && a % d == 0 && b % d == 0;
                let expected = if a == 0 && b == 0 { 0 } else { (1..=30).rev().find(divides_both).unwrap() };
                assert_eq!(gcd(a, b), expected, "{a} {b}");
                assert_eq!(i128::from(near_gcd(a as i64, b as i64)), expected, "{a} {b}");
                if b > 0 {
                    let inverses: Vec<i128> = (0..b).filter(|x| (a * x - 1) % b == 0).collect();
                    assert_eq!(inverse(a, b), inverses.first().copied(), "{a} {b}");
                }
            }
        }
        assert_eq!((gcd(1 << 100, 3 << 90), gcd(-(1 << 100), 0)), (1 << 90, 1 << 100));
        assert_eq!(inverse(3, 1 << 90).map(|x| x * 3 % (1 << 90)), Some(1));
    }
}
