//! Tiled layouts without `*` and TensorLayouts on the address, all small ones: a TensorLayout converts to a tiled
//! layout if and only if one of the tiled layouts has its offsets.

use layout_reference::boxes::indices;
use std::collections::HashMap;
use tensor_layout::conversion::{to_tensor_layout, to_tiled};
use tensor_layout::places::Placement;
use tensor_layout::tiled::{Expansion, Layout, TileEntry};

/// The offset of each element.
fn offsets(sizes: &[i64], layout: &Layout) -> Option<Vec<i64>> {
    let expansion = Expansion::new(sizes, layout).ok()?;
    Some(indices(sizes).iter().map(|index| expansion.offset(index).unwrap()).collect())
}

/// Lists of tiles: up to `tiles` of them, each of up to `entries` of these sizes.
fn tilings(tiles: usize, entries: usize, sizes: &[i64]) -> Vec<Vec<Vec<TileEntry>>> {
    let mut of_length = vec![Vec::new()];
    let mut each: Vec<Vec<TileEntry>> = Vec::new();
    for _ in 0..entries {
        let longer = |tile: &Vec<TileEntry>| {
            sizes.iter().map(|size| [&[TileEntry::Size(*size)], &tile[..]].concat()).collect::<Vec<_>>()
        };
        of_length = of_length.iter().flat_map(longer).collect();
        each.extend(of_length.iter().cloned());
    }
    let mut lists = vec![Vec::new()];
    let mut all = lists.clone();
    for _ in 0..tiles {
        lists = lists
            .iter()
            .flat_map(|list| each.iter().map(move |tile| [&list[..], std::slice::from_ref(tile)].concat()))
            .collect();
        all.extend(lists.iter().cloned());
    }
    all
}

/// Every tiled layout of these sizes with these tiles, one for each list of offsets.
fn tiled_layouts(sizes: &[i64], tilings: &[Vec<Vec<TileEntry>>]) -> HashMap<Vec<i64>, Layout> {
    let orders: &[&[usize]] = match sizes.len() {
        1 => &[&[0]],
        2 => &[&[1, 0], &[0, 1]],
        _ => &[&[2, 1, 0], &[0, 2, 1]],
    };
    let mut found = HashMap::new();
    for order in orders {
        for tiles in tilings {
            let layout =
                Layout { minor_to_major: order.to_vec(), tiles: tiles.clone(), ..Layout::row_major(sizes.len()) };
            if let Some(offsets) = offsets(sizes, &layout) {
                found.entry(offsets).or_insert(layout);
            }
        }
    }
    found
}

#[test]
fn every_tiled_layout_with_digits_is_found() {
    crate::long_test!();
    let one = tilings(3, 2, &[1, 2, 3, 4, 6]);
    let two = tilings(2, 2, &[1, 2, 3, 4]);
    let three = tilings(2, 3, &[2, 3]);
    let mut cases: Vec<(Vec<i64>, _)> = [2, 4, 6, 7, 12].iter().map(|n| (vec![*n], &one)).collect();
    let pairs = [[1, 4], [2, 3], [3, 4], [4, 4], [4, 6], [5, 2], [5, 7], [6, 1]];
    cases.extend(pairs.iter().map(|pair| (pair.to_vec(), &two)));
    cases.extend([[2, 3, 4], [3, 1, 5]].iter().map(|sizes| (sizes.to_vec(), &three)));
    let mut with_digits = 0;
    for (sizes, tilings) in cases {
        for (expected, layout) in tiled_layouts(&sizes, tilings) {
            let name = format!("{sizes:?}{layout}");
            let Ok(parts) = to_tensor_layout(&Expansion::new(&sizes, &layout).unwrap(), &layout) else { continue };
            let placement = Placement::new(&parts, None).unwrap_or_else(|e| panic!("{name}: {}", e.error));
            let back = to_tiled(&placement).unwrap_or_else(|e| panic!("{name}: {parts}: {e}"));
            assert_eq!(offsets(&sizes, &back), Some(expected), "{name}: {parts}, {back}");
            with_digits += 1;
        }
    }
    assert!(with_digits > 1000, "{with_digits}");
}

#[test]
fn what_has_no_tiled_layout_is_like_none() {
    let tilings = tilings(2, 2, &[1, 2, 3, 4, 5, 6]);
    let (mut refused, mut taken) = (0, 0);
    for (sizes, extents) in [([2, 4], [&[2][..], &[2, 2]]), ([4, 3], [&[2, 2], &[3]]), ([3, 4], [&[3], &[2, 3]])] {
        let known = tiled_layouts(&sizes, &tilings);
        let count = extents.iter().map(|own| own.len()).sum::<usize>();
        for strides in indices(&vec![9; count]) {
            let mut strides = strides.into_iter();
            let dims = extents.map(|own| {
                let parts = own.iter().map(|n| format!("{n}:{}", strides.next().unwrap()));
                format!("({})", parts.collect::<Vec<_>>().join(", "))
            });
            let text = format!("({},{})/({}, {})", sizes[0], sizes[1], dims[0], dims[1]);
            let Ok(placement) = Placement::parse(&text) else { continue };
            let places: Vec<i64> = indices(&sizes).iter().map(|index| placement.place(index).unwrap()[0]).collect();
            match to_tiled(&placement) {
                Ok(layout) => {
                    assert_eq!(offsets(&sizes, &layout), Some(places), "{text}: {layout}");
                    taken += 1;
                }
                Err(error) => {
                    assert_eq!(known.get(&places).map(Layout::to_string), None, "{text}: {error}");
                    refused += 1;
                }
            }
        }
    }
    assert!(taken > 50 && refused > 100, "{taken} taken, {refused} refused");
}
