//! Exchanges between devices. The device comes first in both indices: `(device, d1)` of the result is related to
//! `(device', d1')` of an operand.

use super::sides::{Equations, Related, Sides};
use crate::analysis::relation::{Relation, Terms, too_large};
use crate::operations::collective::{Collective, Exchange};
use crate::text::Error;

/// The limit on relations for groups or pairs without a pattern.
const MOST: usize = 64;

/// The relations of an operand and a result.
pub fn related(c: &Collective, s: &Sides) -> Equations {
    let all = match c.exchange {
        Exchange::Ragged => return Ok(Related::Unknown("ragged-all-to-all: operands say where rows go".to_string())),
        Exchange::PermuteBlocks { .. } => {
            return Ok(Related::Unknown("collective-permute: operands say where blocks are".to_string()));
        }
        Exchange::AllToAll { dim: None } | Exchange::ReduceTogether => members(c, s)?,
        _ if s.operand != s.result => Some(Vec::new()),
        Exchange::Permute => return permute(c, s),
        _ => members(c, s)?,
    };
    let Some(all) = all else {
        return Ok(Related::Unknown(format!("the groups follow no pattern, and there are more than {MOST} pairs")));
    };
    let each = all.into_iter().map(|(mut r, own, other)| {
        exchanged(c, s, &mut r, &own, &other)?;
        Ok(r)
    });
    Ok(Related::By(each.collect::<Result<_, Error>>()?))
}

/// Adds the equations between the two indices; `own` and `other` are the positions of both devices in their group.
fn exchanged(c: &Collective, s: &Sides, r: &mut Relation, own: &Terms, other: &Terms) -> Result<(), Error> {
    let n = i64::try_from(c.groups.first().map_or(1, Vec::len)).map_err(|_| too_large())?;
    let along = match c.exchange {
        Exchange::Gather { dim } | Exchange::ReduceScatter { dim } | Exchange::AllToAll { dim: Some(dim) } => Some(dim),
        _ => None,
    };
    let [to, from] = [r.out(1), r.input(1)];
    (0..s.input().len()).filter(|k| Some(*k) != along).try_for_each(|k| r.link(1 + k, 1 + k))?;
    match c.exchange {
        Exchange::Gather { dim } => r.equation(with([(to + dim, 1), (from + dim, -1)], other, -s.input()[dim])?, 0),
        Exchange::ReduceScatter { dim } => r.equation(with([(from + dim, 1), (to + dim, -1)], own, -s.out()[dim])?, 0),
        Exchange::AllToAll { dim: Some(dim) } => {
            let part = s.input()[dim] / n;
            let inside = r.unknown(0, part - 1);
            r.equation(with([(to + dim, 1), (inside, -1)], other, -part)?, 0)?;
            r.equation(with([(from + dim, 1), (inside, -1)], own, -part)?, 0)
        }
        Exchange::AllToAll { dim: None } => {
            r.equation(own.clone(), -place(s.operand)?)?;
            r.equation(other.clone(), -place(s.result)?)
        }
        Exchange::Broadcast => r.equation(other.clone(), 0),
        Exchange::Reduce | Exchange::ReduceTogether => Ok(()),
        Exchange::Permute | Exchange::PermuteBlocks { .. } | Exchange::Ragged => Ok(()),
    }
}

fn place(k: usize) -> Result<i64, Error> {
    i64::try_from(k).map_err(|_| too_large())
}

/// The terms, plus others times a factor.
fn with(terms: impl IntoIterator<Item = (usize, i64)>, others: &Terms, factor: i64) -> Result<Terms, Error> {
    let scaled = |(v, c): &(usize, i64)| Ok((*v, c.checked_mul(factor).ok_or_else(too_large)?));
    terms.into_iter().map(Ok).chain(others.iter().map(scaled)).collect()
}

/// The relation of two devices of a group, and the position of each in the group.
type Members = (Relation, Terms, Terms);

/// The relations of two devices of a group, with the positions of both; `None` if there are too many.
fn members(c: &Collective, s: &Sides) -> Result<Option<Vec<Members>>, Error> {
    if let Some((first, outer, inner)) = pattern(&c.groups) {
        let mut r = Relation::across(c.devices, s.out(), s.input());
        let digits =
            |r: &mut Relation, all: &[(i64, i64)]| all.iter().map(|(n, _)| r.unknown(0, n - 1)).collect::<Vec<_>>();
        let (group, own, other) = (digits(&mut r, &outer), digits(&mut r, &inner), digits(&mut r, &inner));
        for (device, place) in [(r.out(0), &own), (r.input(0), &other)] {
            let steps = outer.iter().chain(&inner).map(|(_, step)| *step);
            let terms = group.iter().chain(place).copied().zip(steps);
            r.equation([(device, -1)].into_iter().chain(terms).collect(), first)?;
        }
        let index = |digits: &[usize]| {
            let mut places = 1;
            let mut terms = Vec::new();
            for (v, (n, _)) in digits.iter().zip(&inner) {
                terms.push((*v, places));
                places *= n;
            }
            terms
        };
        return Ok(Some(vec![(r, index(&own), index(&other))]));
    }
    let mut all = Vec::new();
    for group in &c.groups {
        for (k, own) in group.iter().enumerate() {
            for (j, other) in group.iter().enumerate() {
                if all.len() == MOST {
                    return Ok(None);
                }
                let mut r = Relation::across(c.devices, s.out(), s.input());
                r.equation(vec![(r.out(0), 1)], -own)?;
                r.equation(vec![(r.input(0), 1)], -other)?;
                let [own, other] = [k, j].map(|k| place(k).map(|k| vec![(r.unknown(k, k), 1)]));
                all.push((r, own?, other?));
            }
        }
    }
    Ok(Some(all))
}

/// The size and step of each digit of a counter, the fastest digit first.
type Digits = Vec<(i64, i64)>;

/// Groups as a first device, the digits of the group and the digits of the position in it; `None` if they form no
/// counter.
fn pattern(groups: &[Vec<i64>]) -> Option<(i64, Digits, Digits)> {
    let (first, firsts) =
        (groups.first()?, groups.iter().map(|group| group.first().copied()).collect::<Option<Vec<_>>>()?);
    let shifted = |group: &Vec<i64>| {
        group.len() == first.len() && group.iter().zip(first).all(|(a, b)| a - group[0] == b - first[0])
    };
    if !groups.iter().all(shifted) {
        return None;
    }
    let (outer, inner) = (digits(&firsts)?, digits(first)?);
    Some((firsts[0], outer, inner))
}

/// A list as the digits of a counter, from its first number on.
fn digits(list: &[i64]) -> Option<Digits> {
    let (mut rest, mut found) = (list.to_vec(), Vec::new());
    while rest.len() > 1 {
        let step = rest[1] - rest[0];
        let run = 1 + rest.windows(2).take_while(|pair| pair[1] - pair[0] == step).count();
        let fits = |n: &usize| {
            let block = |part: &[i64]| part.iter().zip(&rest).all(|(a, b)| a - part[0] == b - rest[0]);
            rest.len().is_multiple_of(*n) && rest.chunks(*n).all(block)
        };
        let n = (2..=run).rev().find(fits)?;
        found.push((i64::try_from(n).ok()?, step));
        rest = rest.into_iter().step_by(n).collect();
    }
    Some(found)
}

/// One relation for each run of targets with a constant distance to their sources.
fn permute(c: &Collective, s: &Sides) -> Equations {
    let mut pairs: Vec<(i64, i64)> = c.groups.iter().map(|pair| (pair[1], pair[0])).collect();
    pairs.sort_unstable();
    let mut runs: Vec<(i64, i64, i64)> = Vec::new();
    for (target, source) in pairs {
        match runs.last_mut() {
            Some((_, last, away)) if *last + 1 == target && *away == source - target => *last = target,
            _ => runs.push((target, target, source - target)),
        }
    }
    if runs.len() > MOST {
        return Ok(Related::Unknown(format!("the pairs follow no pattern, and there are more than {MOST} runs")));
    }
    let run = |(first, last, away): (i64, i64, i64)| {
        let mut r = Relation::across(c.devices, s.out(), s.input());
        r.within(vec![(r.out(0), 1)], first, last)?;
        r.equation(vec![(r.input(0), 1), (r.out(0), -1)], -away)?;
        (0..s.input().len()).try_for_each(|k| r.link(1 + k, 1 + k))?;
        Ok(r)
    };
    Ok(Related::By(runs.into_iter().map(run).collect::<Result<_, Error>>()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::{Access, maps};
    use crate::operations::operation::Operation;
    use crate::operations::shape::Shape;
    use std::collections::BTreeSet;

    type Pair = (Vec<i64>, Vec<i64>);

    /// All related pairs, both with their devices, by brute force.
    fn expected(c: &Collective, [ins, outs]: [&[i64]; 2], (operand, result): (usize, usize)) -> BTreeSet<Pair> {
        let points = |sizes: &[i64]| {
            let mut all = vec![vec![]];
            for n in [&[c.devices], sizes].concat() {
                all = all.iter().flat_map(|p: &Vec<i64>| (0..n).map(|k| [&p[..], &[k]].concat())).collect();
            }
            all
        };
        let n = c.groups.first().map_or(1, |group| group.len() as i64);
        let reads = |to: &[i64], from: &[i64]| {
            let (t, f) = (to[0], from[0]);
            let same = |but: Option<usize>| (0..ins.len()).all(|k| Some(k) == but || to[k + 1] == from[k + 1]);
            if c.exchange == Exchange::Permute {
                return operand == result && same(None) && c.groups.contains(&vec![f, t]);
            }
            let Some(group) = c.groups.iter().find(|g| g.contains(&t) && g.contains(&f)) else { return false };
            let place = |d: i64| group.iter().position(|x| *x == d).unwrap() as i64;
            let own = operand == result;
            match c.exchange {
                Exchange::Gather { dim } => {
                    own && same(Some(dim)) && to[dim + 1] == place(f) * ins[dim] + from[dim + 1]
                }
                Exchange::Reduce => own && same(None),
                Exchange::ReduceTogether => same(None),
                Exchange::ReduceScatter { dim } => {
                    own && same(Some(dim)) && from[dim + 1] == place(t) * outs[dim] + to[dim + 1]
                }
                Exchange::AllToAll { dim: Some(dim) } => {
                    let part = ins[dim] / n;
                    let block = |k: i64| [k / part, k % part];
                    let ([a, x], [b, y]) = (block(to[dim + 1]), block(from[dim + 1]));
                    own && same(Some(dim)) && x == y && a == place(f) && b == place(t)
                }
                Exchange::AllToAll { dim: None } => {
                    same(None) && place(f) == result as i64 && place(t) == operand as i64
                }
                Exchange::Broadcast => own && same(None) && place(f) == 0,
                Exchange::Permute | Exchange::PermuteBlocks { .. } | Exchange::Ragged => unreachable!(),
            }
        };
        let (to, from) = (points(outs), points(ins));
        let both = to.iter().flat_map(|t| from.iter().map(move |f| (t.clone(), f.clone())));
        both.filter(|(t, f)| reads(t, f)).collect()
    }

    fn found(access: &Access, turned: bool) -> BTreeSet<Pair> {
        assert!(access.is_known(), "{access}");
        let mut all = BTreeSet::new();
        for mapped in &access.maps {
            for p in mapped.map.points() {
                let (a, b) = (p[..mapped.map.dims].to_vec(), mapped.map.evaluate(&p).unwrap().unwrap());
                all.insert(if turned { (b, a) } else { (a, b) });
            }
        }
        all
    }

    fn shuffled(rng: &mut fastrand::Rng, n: i64, size: usize) -> Vec<Vec<i64>> {
        let mut all: Vec<i64> = (0..n).collect();
        match rng.u8(0..4) {
            // In order, by columns, reversed, or shuffled.
            0 => {}
            1 => {
                let columns = n as usize / size;
                all = (0..n as usize).map(|k| (k % size * columns + k / size) as i64).collect();
            }
            2 => all.reverse(),
            _ => rng.shuffle(&mut all),
        }
        all.chunks(size).map(<[i64]>::to_vec).collect()
    }

    #[test]
    fn both_directions_are_what_devices_exchange() {
        let mut rng = fastrand::Rng::with_seed(5);
        for _ in 0..400 {
            let (devices, n) = [(6, 2), (6, 3), (4, 4), (8, 2), (8, 4), (1, 1), (4, 1)][rng.usize(0..7)];
            let dim = rng.usize(0..2);
            let exchange = [
                Exchange::Gather { dim },
                Exchange::Reduce,
                Exchange::ReduceTogether,
                Exchange::ReduceScatter { dim },
                Exchange::AllToAll { dim: Some(dim) },
                Exchange::AllToAll { dim: None },
                Exchange::Broadcast,
                Exchange::Permute,
            ][rng.usize(0..8)];
            let mut groups = shuffled(&mut rng, devices, n);
            if exchange == Exchange::Permute {
                let (a, b) = (shuffled(&mut rng, devices, 1).concat(), shuffled(&mut rng, devices, 1).concat());
                groups = a.iter().zip(&b).map(|(a, b)| vec![*a, *b]).take(rng.usize(0..=devices as usize)).collect();
            }
            if exchange == Exchange::Broadcast {
                groups.truncate(rng.usize(1..=groups.len()));
            }
            let mut ins = vec![rng.i64(1..=3), rng.i64(1..=2)];
            let mut outs = ins.clone();
            match exchange {
                Exchange::Gather { dim } => outs[dim] *= n as i64,
                Exchange::ReduceScatter { dim } => ins[dim] *= n as i64,
                Exchange::AllToAll { dim: Some(dim) } => {
                    ins[dim] *= n as i64;
                    outs[dim] *= n as i64;
                }
                _ => {}
            }
            let count = if exchange == (Exchange::AllToAll { dim: None }) { n } else { 2 };
            let shape = |sizes: &[i64]| Shape::parse(&format!("f32[{},{}]", sizes[0], sizes[1])).unwrap();
            let (operand, result) = (vec![shape(&ins); count], Shape::Tuple(vec![shape(&outs); count]));
            let c = Collective { exchange, devices, groups, blocks: Vec::new() };
            let operation = Operation::Collective(Box::new(c.clone()));
            let all = maps(&operation, &operand.iter().collect::<Vec<_>>(), &[&result]).unwrap();
            for k in 0..count {
                for j in 0..count {
                    let expected = expected(&c, [&ins, &outs], (k, j));
                    assert_eq!(found(all.reads(k, j).unwrap(), false), expected, "{c:?} {ins:?} {k} {j}");
                    assert_eq!(found(all.feeds(k, j).unwrap(), true), expected, "{c:?} {ins:?} {k} {j}");
                }
            }
        }
    }

    #[test]
    fn groups_with_a_pattern_have_one_map() {
        let groups = vec![vec![0, 2], vec![1, 3], vec![4, 6], vec![5, 7]];
        let c = Collective { exchange: Exchange::Gather { dim: 0 }, devices: 8, groups, blocks: Vec::new() };
        let operation = Operation::Collective(Box::new(c));
        let [from, to] = ["f32[16]", "f32[32]"].map(|text| Shape::parse(text).unwrap());
        let all = maps(&operation, &[&from], &[&to]).unwrap();
        let [mapped] = &all.reads(0, 0).unwrap().maps[..] else { panic!("one map") };
        assert_eq!((mapped.devices, mapped.map.name(0)), (Some(8), "device".to_string()));
        assert_eq!(mapped.map.evaluate(&[5, 20]), Ok(Some(vec![7, 4])));
    }
}
