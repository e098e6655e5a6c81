//! Views of all small layouts: a reshape or a slice is a view if and only if some layout has the same addresses.

use layout_reference::boxes::indices;
use layout_reference::places::{Definition, Part};
use tensor_layout::places::{Placement, Slice, TensorLayout};

/// Whether some parts give these addresses: tries every extent of every part, the least significant first.
fn has_parts(addresses: &[i64]) -> bool {
    fn from(addresses: &[i64], parts: &mut Vec<Part>, weight: usize) -> bool {
        let known = &addresses[..weight.min(addresses.len())];
        if Definition::without_copies(&[known.len() as i64], vec![parts.clone()]).addresses() != known {
            return false;
        }
        let Some(stride) = addresses.get(weight) else { return true };
        *stride >= 0
            && (2..=addresses.len().div_ceil(weight)).any(|extent| {
                parts.insert(0, (extent as i64, "Addr", *stride));
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

/// Layouts of parts with extents 2 and 3, in every memory order, with a gap or without, and with up to two elements of
/// padding in the first dimension.
fn layouts() -> Vec<Definition> {
    let mut all = Vec::new();
    for ranks in [&[1][..], &[2], &[3], &[1, 1], &[2, 1], &[1, 2], &[1, 1, 1], &[2, 2]] {
        let count: usize = ranks.iter().sum();
        let all_below = |n: usize, count: usize| indices(&vec![n as i64; count]);
        let is_order = |order: &Vec<i64>| (0..count as i64).all(|k| order.contains(&k));
        for order in all_below(count, count).into_iter().filter(is_order) {
            for chosen in all_below(2, count + 1) {
                let extents: Vec<i64> = chosen[1..].iter().map(|k| k + 2).collect();
                let (mut strides, mut behind) = (vec![0; count], 1);
                for (at, part) in order.iter().map(|part| *part as usize).enumerate() {
                    strides[part] = behind;
                    behind = behind * extents[part] + if at == 0 { chosen[0] } else { 0 };
                }
                let mut parts = extents.into_iter().zip(strides).map(|(extent, stride)| (extent, "Addr", stride));
                let dims: Vec<Vec<Part>> = ranks.iter().map(|n| parts.by_ref().take(*n).collect()).collect();
                let sizes = Definition::without_copies(&[], dims.clone()).padded();
                let padded = (0..3).map(|less| [&[sizes[0] - less], &sizes[1..]].concat());
                all.extend(
                    padded.filter(|sizes| sizes[0] > 0).map(|sizes| Definition::without_copies(&sizes, dims.clone())),
                );
            }
        }
    }
    all
}

/// The address of each element of a view, in row-major order.
fn of_view(layout: &TensorLayout, offset: i64) -> Vec<i64> {
    Definition::of(layout).addresses().iter().map(|address| address + offset).collect()
}

#[test]
fn a_reshape_is_a_view_if_a_layout_has_its_elements() {
    let (mut views, mut copies) = (0, 0);
    for definition in layouts() {
        let (text, own) = (definition.text(), definition.addresses());
        let layout = TensorLayout::parse(&text).unwrap();
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
    assert!(views > 10_000 && copies > 1000, "{views} views, {copies} copies");
}

#[test]
fn a_slice_is_a_view_if_a_layout_has_its_elements() {
    let (mut views, mut copies) = (0, 0);
    for definition in layouts().into_iter().filter(|definition| definition.dims.len() == 1) {
        let (text, own, size) = (definition.text(), definition.addresses(), definition.shape[0]);
        let layout = TensorLayout::parse(&text).unwrap();
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
    assert!(views > 10_000 && copies > 1000, "{views} views, {copies} copies");
}

#[test]
fn the_layouts_are_layouts() {
    for text in layouts().iter().map(Definition::text) {
        Placement::parse(&text).unwrap_or_else(|e| panic!("{text}: {}", e.error));
    }
}
