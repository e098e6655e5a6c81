//! Loops around one element of each operand and result.

use super::sides::{Equations, Related, Sides};
use crate::analysis::relation::{Relation, Terms, too_large};
use crate::expr::Expr;
use crate::maps::domain::{Domain, Interval};
use crate::maps::simplify::Form;
use crate::operations::operation::Loops;
use crate::text::Error;
use std::collections::BTreeMap;

/// Equates each index with its expressions over the loops. Unknown if an expression is no sum of quotients and
/// remainders. An offset outside of its interval is clamped into it, or nothing is related.
pub fn related(loops: &Loops, is_clamped: bool, s: &Sides) -> Equations {
    let mut r = s.relation();
    let Sides { operand, result, .. } = *s;
    if loops.offsets.iter().any(|(k, _)| *k == Some(operand)) {
        // An offset is read for every element.
        return Ok(r.into());
    }
    let Some(index) = &loops.operands[operand] else { return Ok(Related::By(Vec::new())) };
    let vars: Vec<Interval> = loops.sizes.iter().map(|n| Interval::new(0, n - 1)).collect();
    let all = vars.into_iter().chain(loops.offsets.iter().map(|(_, i)| *i));
    let domain = Domain { vars: all.collect(), constraints: Vec::new() };
    let mut form = Form::new(&domain);
    let own: Vec<usize> = loops.sizes.iter().map(|n| r.unknown(0, n - 1)).collect();
    let offsets = loops.offsets.iter().map(|(operand, i)| match operand {
        Some(operand) => r.run_time((i.lo, i.hi), *operand, Vec::new(), is_clamped),
        None => r.unknown(i.lo, i.hi),
    });
    let unknowns: Vec<usize> = own.into_iter().chain(offsets.collect::<Vec<_>>()).collect();
    let sides = loops.results[result].iter().enumerate().map(|(k, e)| (r.out(k), e)).collect::<Vec<_>>();
    let inputs = index.iter().enumerate().map(|(k, e)| (r.input(k), e)).collect::<Vec<_>>();
    for (unknown, e) in sides.into_iter().chain(inputs) {
        let mut terms = vec![(unknown, -1)];
        let Some(constant) = add(&mut r, &mut form, &unknowns, e, 1, &mut terms)? else {
            return Ok(Related::Unknown("an index holds a minimum or a maximum".to_string()));
        };
        r.equation(added_up(terms)?, constant)?;
    }
    Ok(r.into())
}

/// Adds up the terms of each unknown.
fn added_up(terms: Terms) -> Result<Terms, Error> {
    let mut sums = BTreeMap::new();
    for (unknown, c) in terms {
        let sum: &mut i64 = sums.entry(unknown).or_default();
        *sum = sum.checked_add(c).ok_or_else(too_large)?;
    }
    Ok(sums.into_iter().filter(|term| term.1 != 0).collect())
}

/// Adds `c * e` to the terms, with an unknown for each quotient and remainder in it. Returns the constant part.
fn add(
    r: &mut Relation,
    form: &mut Form,
    unknowns: &[usize],
    e: &Expr,
    c: i64,
    terms: &mut Terms,
) -> Result<Option<i64>, Error> {
    match e {
        Expr::Const(x) => return x.checked_mul(c).map(Some).ok_or_else(too_large),
        Expr::Var(v) => terms.push((unknowns[*v], c)),
        Expr::Add(a, b) => {
            let (a, b) = (add(r, form, unknowns, a, c, terms)?, add(r, form, unknowns, b, c, terms)?);
            return a.zip(b).map(|(a, b)| a.checked_add(b).ok_or_else(too_large)).transpose();
        }
        Expr::Mul(a, f) => return add(r, form, unknowns, a, f.checked_mul(c).ok_or_else(too_large)?, terms),
        Expr::FloorDiv(a, d) | Expr::Mod(a, d) => {
            // a = d * quotient + remainder
            let range = form.bounds(&a.clone().floor_div(*d)).narrow().ok_or_else(too_large)?;
            let (quotient, remainder) = (r.unknown(range.lo, range.hi), r.unknown(0, d - 1));
            let mut whole = vec![(quotient, -d), (remainder, -1)];
            let Some(constant) = add(r, form, unknowns, a, 1, &mut whole)? else { return Ok(None) };
            r.equation(added_up(whole)?, constant)?;
            terms.push((if matches!(e, Expr::Mod(..)) { remainder } else { quotient }, c));
        }
        Expr::Min(..) | Expr::Max(..) => return Ok(None),
    }
    Ok(Some(0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::{Access, maps};
    use crate::operations::operation::Operation;
    use crate::operations::shape::Shape;
    use std::collections::BTreeSet;

    /// An index over the loops and the offset, and its size.
    fn index(rng: &mut fastrand::Rng, domain: &Domain) -> (Expr, i64) {
        let v = |rng: &mut fastrand::Rng| Expr::Var(rng.usize(0..domain.vars.len()));
        let e = match rng.u8(0..7) {
            0 => v(rng) + v(rng),
            1 => v(rng).times(rng.i64(2..=3)) + v(rng),
            2 => v(rng).floor_div(2),
            3 => (v(rng).times(3) + v(rng)).modulo(4),
            4 => v(rng).times(2) + Expr::Const(1),
            _ => v(rng),
        };
        let most = Form::new(domain).interval(&e).hi;
        (e, most + 1)
    }

    #[test]
    fn both_directions_are_what_the_loops_do() {
        let mut rng = fastrand::Rng::with_seed(11);
        for _ in 0..2_000 {
            let sizes: Vec<i64> = (0..rng.usize(1..=3)).map(|_| rng.i64(1..=4)).collect();
            let offset = Interval::new(0, rng.i64(0..=2));
            let mut vars: Vec<Interval> = sizes.iter().map(|n| Interval::new(0, n - 1)).collect();
            vars.push(offset);
            let domain = Domain { vars, constraints: Vec::new() };
            let side = |rng: &mut fastrand::Rng| {
                (0..rng.usize(1..=2)).map(|_| index(rng, &domain)).unzip::<_, _, Vec<Expr>, Vec<i64>>()
            };
            let (of_operand, of_result) = (side(&mut rng), side(&mut rng));
            let nest = Loops {
                sizes,
                offsets: vec![(Some(1), offset)],
                operands: vec![Some(of_operand.0.clone()), None],
                results: vec![of_result.0.clone()],
            };
            let shape = |sizes: &[i64]| {
                let sizes: Vec<String> = sizes.iter().map(i64::to_string).collect();
                Shape::parse(&format!("f32[{}]", sizes.join(","))).unwrap()
            };
            let (operand, start, result) = (shape(&of_operand.1), shape(&[]), shape(&of_result.1));
            let operation = Operation::Loops(Box::new(nest));
            let found = maps(&operation, &[&operand, &start], &[&result]).unwrap();
            let at = |index: &[Expr], p: &[i64]| index.iter().map(|e| e.evaluate(p).unwrap()).collect::<Vec<_>>();
            let box_of_loops = crate::maps::map::IndexingMap::new(domain.vars.clone(), Vec::new());
            let expected: BTreeSet<_> =
                box_of_loops.points().map(|p| (at(&of_result.0, &p), at(&of_operand.0, &p), p[p.len() - 1])).collect();
            let pairs = |access: &Access, turned: bool| {
                let mut all = BTreeSet::new();
                for mapped in &access.maps {
                    for p in mapped.map.points() {
                        let (from, to) = (p[..mapped.map.dims].to_vec(), at(&mapped.map.results, &p));
                        let (out, input) = if turned { (to, from) } else { (from, to) };
                        let offsets =
                            mapped.run_time.first().map_or(offset.lo..=offset.hi, |_| p[p.len() - 1]..=p[p.len() - 1]);
                        all.extend(offsets.map(|o| (out.clone(), input.clone(), o)));
                    }
                }
                all
            };
            assert_eq!(pairs(found.reads(0, 0).unwrap(), false), expected, "{operation:?}");
            assert_eq!(pairs(found.feeds(0, 0).unwrap(), true), expected, "{operation:?}");
        }
    }
}
