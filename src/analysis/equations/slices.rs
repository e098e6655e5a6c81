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

/// `in[k] = start[k] + out[k]`, where `start[k]` is the value of operand `1 + k`, clamped into the data.
pub fn dynamic_slice(sizes: &[i64], s: &Sides) -> Equations {
    let mut r = s.relation();
    if s.operand == 0 {
        for (k, (n, part)) in s.input().iter().zip(sizes).enumerate() {
            let start = r.run_time((0, n - part), 1 + k, Vec::new(), true);
            r.equation(vec![(r.out(k), 1), (start, 1), (r.input(k), -1)], 0)?;
        }
    }
    Ok(r.into())
}

/// `out[k] = start[k] + in[k]` for the update, where `start[k]` is the value of operand `2 + k`; the data are read
/// everywhere else.
pub fn dynamic_update_slice(s: &Sides) -> Equations {
    updated(s.operand, &s.ins[0], &s.ins[1])
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

/// The equations of the data, the update or a start when the update is written into the data.
fn updated(operand: usize, data: &[i64], update: &[i64]) -> Equations {
    let room = |k: usize| (0, data[k] - update[k]);
    let start = |r: &mut Relation, k: usize| r.run_time(room(k), 2 + k, Vec::new(), true);
    match operand {
        0 => {
            // Outside: inside in all dimensions before `k`, and before or after the update in dimension `k`.
            let mut found = Vec::new();
            let mut before = Relation::new(data, data);
            (0..data.len()).try_for_each(|k| before.link(k, k))?;
            for (k, (n, part)) in data.iter().zip(update).enumerate() {
                let from = |r: &mut Relation, lo, hi| {
                    let start = start(r, k);
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
        1 => {
            let mut r = Relation::new(data, update);
            for k in 0..data.len() {
                let start = start(&mut r, k);
                r.equation(vec![(r.input(k), 1), (start, 1), (r.out(k), -1)], 0)?;
            }
            Ok(Related::By(vec![r]))
        }
        _ => Ok(Related::By(vec![Relation::new(data, &[])])),
    }
}
