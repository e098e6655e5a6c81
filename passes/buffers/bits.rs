//! Operations on bits of indices as expressions.
//!
//! `x and 448` is `x floordiv 64 mod 8 * 64`, and `x xor y` is `x + y` where no bit is 1 in both: the bits of `i * 64` and of
//! `j` below 64 are apart. Only indices that are not negative have such expressions.

use tensor_layout::expr::Expr;
use tensor_layout::maps::{Domain, Form};

/// The result of `arith.andi`, `ori`, `xori`, `shrui` or `shli`; `None` where no expression is known.
pub fn of(name: &str, [x, y]: [Expr; 2], domain: &Domain) -> Option<Expr> {
    if name == "arith.xori" && x == y {
        return Some(Expr::Const(0));
    }
    let bits = possible(&x, domain)?;
    match (name, &y) {
        ("arith.shrui", Expr::Const(by @ 0..63)) => Some(x.floor_div(1 << by)),
        ("arith.shli", Expr::Const(by @ 0..63)) => (bits <= i64::MAX >> by).then(|| x.times(1 << by)),
        ("arith.andi" | "arith.ori", _) if x == y => Some(x),
        ("arith.xori" | "arith.ori", _) => are_disjoint([&x, &y], domain).then_some(x + y),
        ("arith.andi", _) if are_disjoint([&x, &y], domain) => Some(Expr::Const(0)),
        ("arith.andi", Expr::Const(mask)) => masked(x, bits & mask),
        _ => None,
    }
}

/// Whether two expressions are not negative, and no bit is 1 in both.
pub fn are_disjoint(of: [&Expr; 2], domain: &Domain) -> bool {
    let [x, y] = of.map(|e| possible(e, domain));
    x.zip(y).is_some_and(|(x, y)| x & y == 0)
}

/// The bits of a mask that are in an expression, if these lie side by side.
fn masked(x: Expr, mask: i64) -> Option<Expr> {
    if mask == i64::MAX {
        return Some(x);
    }
    let (low, bits) = (1i64 << mask.trailing_zeros().min(62), mask.count_ones());
    (mask / low == (1 << bits) - 1).then(|| x.floor_div(low).modulo(1 << bits).times(low))
}

/// The bits that may be 1; `None` where the expression may be negative.
fn possible(e: &Expr, domain: &Domain) -> Option<i64> {
    let interval = Form::new(domain).interval(e);
    let below = i64::MAX >> (interval.hi.leading_zeros().saturating_sub(1));
    let inside = |e: &Expr| possible(e, domain).unwrap_or(i64::MAX);
    let own = match e {
        Expr::Const(c) => *c,
        Expr::Mul(a, by) if *by > 0 => {
            let low = 1 << by.trailing_zeros();
            let bits = if low == *by { inside(a).checked_mul(low) } else { None };
            bits.unwrap_or(i64::MAX - (low - 1))
        }
        Expr::FloorDiv(a, by) if by.count_ones() == 1 => inside(a) / by,
        Expr::Mod(a, by) if by.count_ones() == 1 => inside(a) & (by - 1),
        Expr::Add(a, b) => {
            let (x, y) = (inside(a), inside(b));
            // A carry goes up from a bit that both have.
            if x & y == 0 { x | y } else { i64::MAX - ((1 << (x | y).trailing_zeros()) - 1) }
        }
        _ => i64::MAX,
    };
    (interval.lo >= 0).then_some(own & below)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tensor_layout::maps::Interval;

    /// The expressions of so many operations on two variables and some numbers.
    fn exprs(operations: usize) -> Vec<Expr> {
        let leaves = [Expr::Var(0), Expr::Var(1), Expr::Const(5), Expr::Const(448)];
        if operations == 0 {
            return leaves.to_vec();
        }
        let grown = |e: Expr| {
            let sums = leaves.clone().map(|leaf| e.clone() + leaf);
            let others = [e.clone().times(8), e.clone().times(6), e.clone().floor_div(4), e.modulo(16)];
            sums.into_iter().chain(others)
        };
        exprs(operations - 1).into_iter().flat_map(grown).collect()
    }

    fn computed(name: &str, [a, b]: [i64; 2]) -> i64 {
        match name {
            "arith.shrui" => a >> b,
            "arith.shli" => a << b,
            "arith.andi" => a & b,
            "arith.xori" => a ^ b,
            _ => a | b,
        }
    }

    /// Checks that each expression is the operation, at points of the domain.
    #[test]
    fn expressions_are_the_operations() {
        let domain = Domain { vars: vec![Interval::new(0, 11), Interval::new(0, 63)], constraints: Vec::new() };
        let points = [[0, 0], [1, 63], [5, 1], [6, 37], [11, 22], [11, 63]];
        let mut known = 0;
        for x in exprs(2) {
            for (name, others) in [
                ("arith.shrui", vec![Expr::Const(0), Expr::Const(3)]),
                ("arith.shli", vec![Expr::Const(0), Expr::Const(3)]),
                ("arith.andi", [exprs(0), vec![Expr::Const(48), Expr::Const(0), x.clone()]].concat()),
                ("arith.xori", [exprs(1), vec![x.clone()]].concat()),
                ("arith.ori", [exprs(1), vec![x.clone()]].concat()),
            ] {
                for y in others {
                    let Some(result) = of(name, [x.clone(), y.clone()], &domain) else { continue };
                    known += 1;
                    for point in points {
                        let expected = computed(name, [&x, &y].map(|e| e.evaluate(&point).unwrap()));
                        assert_eq!(result.evaluate(&point), Some(expected), "{x:?} {name} {y:?} at {point:?}");
                    }
                }
            }
        }
        assert!(known > 2_000, "{known}");
        let negative = Domain { vars: vec![Interval::new(-1, 11)], constraints: Vec::new() };
        assert_eq!(of("arith.andi", [Expr::Var(0), Expr::Const(3)], &negative), None);
    }
}
