//! Operations that read, write or pad blocks.

use super::sides::{Equations, Related, Sides};
use crate::analysis::relation::{Direction, Relation, narrow};
use crate::operations::rules::windows::dilated;

/// `out[k] = low[k] + (interior[k] + 1) * in[k]` for the data; the value is read everywhere else.
pub fn pad(low: &[i64], interior: &[i64], s: &Sides) -> Equations {
    // Checked before: the interior plus one is a stride that fits.
    let steps: Vec<i64> = interior.iter().map(|n| n.saturating_add(1)).collect();
    if s.operand != 0 {
        return padding(Relation::new(s.out(), &[]), &s.ins[0], s.out(), low, &steps, s.direction);
    }
    let mut r = s.relation();
    for k in 0..s.input().len() {
        r.equation(vec![(r.input(k), steps[k]), (r.out(k), -1)], low[k])?;
    }
    Ok(r.into())
}

/// `out[k] = starts[k] + strides[k] * in[k]` for the update; the data are read everywhere else.
pub fn insert_slice(starts: &[i64], strides: &[i64], s: &Sides) -> Equations {
    let mut r = s.relation();
    if s.operand == 0 {
        (0..s.out().len()).try_for_each(|k| r.link(k, k))?;
        // Both indices are equal, so an equation for one of them is enough.
        return padding(r, &s.ins[1], s.out(), starts, strides, Direction::Reads);
    }
    for k in 0..s.input().len() {
        r.equation(vec![(r.input(k), strides[k]), (r.out(k), -1)], starts[k])?;
    }
    Ok(r.into())
}

/// The indices of a tensor without an element of `data`, which starts at `low` and advances in `steps`: data in all
/// dimensions before `k`, but not in dimension `k`.
fn padding(
    mut before: Relation,
    data: &[i64],
    out: &[i64],
    low: &[i64],
    steps: &[i64],
    direction: Direction,
) -> Equations {
    let mut found = Vec::new();
    let ranges = |r: &mut Relation, v| {
        if direction == Direction::Feeds {
            r.range(v)
        }
    };
    for k in 0..data.len() {
        let (n, low, step) = (data[k], low[k], steps[k]);
        if n == 0 {
            found.push(before);
            return Ok(Related::By(found));
        }
        let o = before.out(k);
        let last = narrow(dilated(n, step) - 1 + i128::from(low))?;
        for (lo, hi) in [(0, low.saturating_sub(1)), (last.saturating_add(1), out[k] - 1)] {
            if lo <= hi {
                let mut r = before.clone();
                r.within(vec![(o, 1)], lo, hi)?;
                found.push(r);
            }
        }
        if step == 1 {
            before.within(vec![(o, 1)], low, last)?;
            continue;
        }
        let mut r = before.clone();
        let (at, past) = (r.unknown(0, n - 2), r.unknown(1, step - 1));
        ranges(&mut r, at);
        ranges(&mut r, past);
        r.equation(vec![(at, step), (past, 1), (o, -1)], low)?;
        found.push(r);
        let at = before.unknown(0, n - 1);
        ranges(&mut before, at);
        before.equation(vec![(at, step), (o, -1)], low)?;
    }
    Ok(Related::By(found))
}

/// The elements of data that are left where an update is written into them, `out[k] = in[k]`: inside of it in all
/// dimensions before `k`, and before or after it in dimension `k`. Operand `2 + k` holds its start.
pub fn kept(data: &[i64], update: &[i64]) -> Equations {
    let mut found = Vec::new();
    let mut before = Relation::new(data, data);
    (0..data.len()).try_for_each(|k| before.link(k, k))?;
    for (k, (n, part)) in data.iter().zip(update).enumerate() {
        let from = |r: &mut Relation, lo, hi| {
            let start = r.run_time((0, n - part), 2 + k, Vec::new(), true);
            r.within(vec![(r.out(k), 1), (start, -1)], lo, hi)
        };
        for (lo, hi) in [(-n, -1), (*part, *n)] {
            let mut r = before.clone();
            from(&mut r, lo, hi)?;
            found.push(r);
        }
        from(&mut before, 0, part - 1)?;
    }
    Ok(Related::By(found))
}
