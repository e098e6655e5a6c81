//! Views of all small layouts: a reshape or a slice is a view if and only if some layout has the same addresses.

use tensor_layout::places::{Placement, Slice, TensorLayout};

/// The address of an index along one dimension, its parts `(extent, stride)` most significant first.
fn address(parts: &[(i64, i64)], mut index: i64) -> i64 {
    let digit = |(extent, stride): &(i64, i64)| {
        let digit = index % extent;
        index /= extent;
        digit * stride
    };
    parts.iter().rev().map(digit).sum()
}

/// Whether some parts give these addresses: tries every extent of every part, the least significant first.
fn has_parts(addresses: &[i64]) -> bool {
    fn from(addresses: &[i64], parts: &mut Vec<(i64, i64)>, weight: usize) -> bool {
        let known = &addresses[..weight.min(addresses.len())];
        if !(0..).zip(known).all(|(i, expected)| address(parts, i) == *expected) {
            return false;
        }
        let Some(stride) = addresses.get(weight) else { return true };
        *stride >= 0
            && (2..=addresses.len().div_ceil(weight)).any(|extent| {
                parts.insert(0, (extent as i64, *stride));
                let found = from(addresses, parts, weight * extent);
                parts.remove(0);
                found
            })
    }
    from(addresses, &mut Vec::new(), 1)
}

/// Whether a layout gives these addresses, relative to the first, to a tensor's elements in row-major order.
fn has_layout(sizes: &[i64], addresses: &[i64]) -> bool {
    let from_first: Vec<i64> = addresses.iter().map(|address| address - addresses[0]).collect();
    let mut weight = from_first.len();
    let mut dims: Vec<(usize, Vec<i64>)> = Vec::new();
    for size in sizes {
        weight /= *size as usize;
        dims.push((weight, (0..*size as usize).map(|i| from_first[i * weight]).collect()));
    }
    let sum = |at: usize| dims.iter().map(|(weight, own)| own[at / weight % own.len()]).sum::<i64>();
    (0..from_first.len()).all(|at| sum(at) == from_first[at]) && dims.iter().all(|(_, own)| has_parts(own))
}

/// Lists of `count` numbers below `n`.
fn numbers(n: usize, count: usize) -> Vec<Vec<usize>> {
    let longer = |all: Vec<Vec<usize>>| {
        all.iter().flat_map(|list| (0..n).map(move |k| [&list[..], &[k]].concat())).collect::<Vec<_>>()
    };
    (0..count).fold(vec![Vec::new()], |all, _| longer(all))
}

/// Dimensions of parts with extents 2 and 3, in every memory order, with a gap or without.
fn layouts() -> Vec<Vec<Vec<(i64, i64)>>> {
    let mut all = Vec::new();
    for ranks in [&[1][..], &[2], &[3], &[1, 1], &[2, 1], &[1, 2], &[1, 1, 1], &[2, 2]] {
        let count: usize = ranks.iter().sum();
        let orders = numbers(count, count).into_iter().filter(|order| (0..count).all(|k| order.contains(&k)));
        for order in orders.collect::<Vec<_>>() {
            for chosen in numbers(2, count + 1) {
                let extents: Vec<i64> = chosen[1..].iter().map(|k| *k as i64 + 2).collect();
                let (mut strides, mut behind) = (vec![0; count], 1);
                for (at, part) in order.iter().enumerate() {
                    strides[*part] = behind;
                    behind = behind * extents[*part] + if at == 0 { chosen[0] as i64 } else { 0 };
                }
                let mut parts = extents.into_iter().zip(strides);
                all.push(ranks.iter().map(|n| parts.by_ref().take(*n).collect()).collect());
            }
        }
    }
    all
}

fn text(sizes: &[i64], dims: &[Vec<(i64, i64)>]) -> String {
    let join = |list: Vec<String>, by: &str| list.join(by);
    let dim = |parts: &Vec<(i64, i64)>| {
        format!("({})", join(parts.iter().map(|(extent, stride)| format!("{extent}:{stride}")).collect(), ", "))
    };
    let sizes = join(sizes.iter().map(i64::to_string).collect(), ",");
    format!("({sizes})/({})", join(dims.iter().map(dim).collect(), ", "))
}

/// The sizes of these parts, and with one or two elements of padding in the first dimension.
fn padded(dims: &[Vec<(i64, i64)>]) -> Vec<Vec<i64>> {
    let sizes: Vec<i64> = dims.iter().map(|parts| parts.iter().map(|(extent, _)| extent).product()).collect();
    let of_first = |less: i64| [&[sizes[0] - less], &sizes[1..]].concat();
    (0..3).map(of_first).filter(|sizes| sizes[0] > 0).collect()
}

fn addresses(sizes: &[i64], dims: &[Vec<(i64, i64)>]) -> Vec<i64> {
    sizes.iter().zip(dims).fold(vec![0], |all, (size, parts)| {
        all.iter().flat_map(|sum| (0..*size).map(move |i| sum + address(parts, i))).collect()
    })
}

/// The address of each element of a view, in row-major order.
fn of_view(layout: &TensorLayout, offset: i64) -> Vec<i64> {
    let dims: Vec<Vec<(i64, i64)>> =
        layout.dims.iter().map(|parts| parts.iter().map(|part| (part.extent, part.stride)).collect()).collect();
    addresses(&layout.sizes().unwrap(), &dims).iter().map(|address| address + offset).collect()
}

#[test]
fn a_reshape_is_a_view_if_a_layout_has_its_elements() {
    let (mut views, mut copies) = (0, 0);
    for dims in layouts() {
        for sizes in padded(&dims) {
            let text = text(&sizes, &dims);
            let layout = TensorLayout::parse(&text).unwrap();
            let own = addresses(&sizes, &dims);
            let count = own.len() as i64;
            let divisors: Vec<i64> = (1..=count).filter(|n| count % n == 0).collect();
            for first in &divisors {
                for second in divisors.iter().filter(|second| count % (first * *second) == 0) {
                    let other = [*first, *second, count / first / second];
                    match layout.reshaped(&other) {
                        Ok(view) => {
                            assert_eq!(of_view(&view.layout, view.offset), own, "{text} as {other:?}: {}", view.layout);
                            views += 1;
                        }
                        Err(error) => {
                            assert!(!has_layout(&other, &own), "{text} as {other:?} is a view: {error}");
                            copies += 1;
                        }
                    }
                }
            }
        }
    }
    assert!(views > 10_000 && copies > 1000, "{views} views, {copies} copies");
}

#[test]
fn a_slice_is_a_view_if_a_layout_has_its_elements() {
    let (mut views, mut copies) = (0, 0);
    for dims in layouts().into_iter().filter(|dims| dims.len() == 1) {
        for sizes in padded(&dims) {
            let (text, size) = (text(&sizes, &dims), sizes[0]);
            let layout = TensorLayout::parse(&text).unwrap();
            let own = addresses(&sizes, &dims);
            for start in 0..size {
                for (limit, step) in (start + 1..=size).flat_map(|limit| (1..=size).map(move |step| (limit, step))) {
                    let taken: Vec<i64> = (start..limit).step_by(step as usize).map(|i| own[i as usize]).collect();
                    match layout.sliced(&[Slice { start, limit, step }]) {
                        Ok(view) => {
                            let found = of_view(&view.layout, view.offset);
                            assert_eq!(found, taken, "{text} by {start}:{limit}:{step}: {}", view.layout);
                            views += 1;
                        }
                        Err(error) => {
                            let is_view = has_layout(&[taken.len() as i64], &taken);
                            assert!(!is_view, "{text} by {start}:{limit}:{step} is a view: {error}");
                            copies += 1;
                        }
                    }
                }
            }
        }
    }
    assert!(views > 10_000 && copies > 1000, "{views} views, {copies} copies");
}

#[test]
fn the_layouts_are_layouts() {
    for dims in layouts() {
        let sizes = &padded(&dims)[0];
        Placement::parse(&text(sizes, &dims)).unwrap_or_else(|e| panic!("{}: {}", text(sizes, &dims), e.error));
    }
}
