//! Strided copies: a replay on buffers agrees with the layouts' definition, padding stays, and copies are few.

use layout_reference::boxes::indices;
use layout_reference::random::Random;
use std::collections::HashMap;
use tensor_layout::element::ElementType::F32;
use tensor_layout::operations::Array;
use tensor_layout::tiled::{Expansion, Layout, TileEntry};
use tensor_layout::transfers::{CopyRules, StridedCopy, Window, strided_copies};

fn below(random: &mut Random, n: i64) -> i64 {
    random.below(n as usize) as i64
}

/// An array of these sizes in any order, with up to two tiles, which may merge dimensions.
fn some_array(random: &mut Random, sizes: &[i64], merges: bool) -> Array {
    let mut order: Vec<usize> = (0..sizes.len()).collect();
    for at in (1..order.len()).rev() {
        order.swap(at, below(random, at as i64 + 1) as usize);
    }
    let mut tiles = Vec::new();
    for first in [true, false] {
        if below(random, 2) == 0 || (!first && tiles.is_empty()) {
            continue;
        }
        let length = 1 + below(random, sizes.len() as i64);
        let mut tile: Vec<TileEntry> = (0..length).map(|_| TileEntry::Size(1 + below(random, 4))).collect();
        if merges && first && length > 1 && below(random, 3) == 0 {
            tile[0] = TileEntry::Combine;
        }
        tiles.push(tile);
    }
    let layout = Layout::new(order.clone(), tiles).or_else(|_| Layout::new(order, vec![])).unwrap();
    Array::new(F32, sizes, layout).unwrap()
}

/// An array of these sizes in any order, with up to three tiles, which may merge dimensions, cut tiles again, and
/// have more dimensions than the shape, and with tail padding.
fn some_tiled(random: &mut Random, sizes: &[i64]) -> Array {
    let plain = some_array(random, sizes, false);
    let tiles = (0..below(random, 4)).map(|_| {
        let length = 1 + below(random, sizes.len() as i64 + 2);
        let mut entry = |last: bool| match below(random, 3) {
            0 if !last => TileEntry::Combine,
            _ => TileEntry::Size(1 + below(random, 4)),
        };
        (1..=length).map(|k| entry(k == length)).collect()
    });
    let tiles = tiles.collect();
    let tail_alignment = 1 + below(random, 2) * below(random, 8);
    let layout = Layout { tiles, tail_alignment, ..plain.layout.clone() };
    Array::new(F32, sizes, layout).unwrap_or(plain)
}

fn some_sizes(random: &mut Random, rank: i64, most: i64) -> Vec<i64> {
    (0..rank).map(|_| 1 + below(random, most)).collect()
}

fn expansion(array: &Array) -> Expansion {
    Expansion::new(&array.sizes().unwrap(), &array.layout).unwrap()
}

/// The pairs of offsets of a copy.
fn pairs(copy: &StridedCopy) -> Vec<(i64, i64)> {
    let at =
        |start: i64, strides: &[i64], index: &[i64]| start + strides.iter().zip(index).map(|(s, k)| s * k).sum::<i64>();
    let pair = |index: &Vec<i64>| (at(copy.from, &copy.from_strides, index), at(copy.to, &copy.to_strides, index));
    indices(&copy.sizes).iter().map(pair).collect()
}

/// The source offset of each written destination offset. Nothing is written twice.
fn replay(copies: &[StridedCopy]) -> HashMap<i64, i64> {
    let mut got = HashMap::new();
    for (from, to) in copies.iter().flat_map(pairs) {
        assert_eq!(got.insert(to, from), None, "{to} twice");
    }
    got
}

/// The same by the definition of the layouts.
fn expected(from: &Array, to: &Array, window: &Window) -> HashMap<i64, i64> {
    let (a, b) = (expansion(from), expansion(to));
    let pair = |index: Vec<i64>| {
        let there: Vec<i64> = (0..index.len()).map(|d| window.from[d] + index[d] * window.steps[d]).collect();
        let here: Vec<i64> = (0..index.len()).map(|d| window.to[d] + index[d]).collect();
        (b.offset(&here).unwrap(), a.offset(&there).unwrap())
    };
    indices(&window.sizes).into_iter().map(pair).collect()
}

#[test]
fn every_element_of_a_window_is_copied_once() {
    let mut random = Random(1);
    for round in 0..4000 {
        let rank = 1 + below(&mut random, 3);
        let (shape, other) = (some_sizes(&mut random, rank, 9), some_sizes(&mut random, rank, 9));
        let from = some_array(&mut random, &shape, round % 4 == 0);
        let to = some_array(&mut random, &other, round % 4 == 1);
        let mut window = Window::whole(&shape);
        for dim in 0..rank as usize {
            window.steps[dim] = 1 + below(&mut random, 3);
            window.from[dim] = below(&mut random, shape[dim]);
            window.to[dim] = below(&mut random, other[dim]);
            let most = (shape[dim] - window.from[dim] - 1) / window.steps[dim] + 1;
            window.sizes[dim] = below(&mut random, most.min(other[dim] - window.to[dim]) + 1);
        }
        for rules in [CopyRules::default(), CopyRules::default().with_rank(1 + below(&mut random, 3) as usize)] {
            let copies = strided_copies(&from, &to, &window, &rules).unwrap();
            assert_eq!(replay(&copies), expected(&from, &to, &window), "{from} {to} {window:?}");
            for copy in &copies {
                assert!(rules.rank.is_none_or(|rank| copy.sizes.len() <= rank), "{copy:?}");
                assert!(copy.sizes.iter().all(|size| *size > 1), "{copy:?}");
                assert_eq!(copy.elements() as usize, pairs(copy).len());
            }
        }
    }
}

#[test]
fn padding_is_written_where_that_is_allowed_alone() {
    let mut random = Random(2);
    let mut fewer = 0;
    for _ in 0..3000 {
        let rank = 1 + below(&mut random, 3);
        let sizes = some_sizes(&mut random, rank, 9);
        let (from, to) = (some_array(&mut random, &sizes, false), some_array(&mut random, &sizes, false));
        let window = Window::whole(&sizes);
        let wanted = expected(&from, &to, &window);
        let kept = strided_copies(&from, &to, &window, &CopyRules::default()).unwrap();
        let all = strided_copies(&from, &to, &window, &CopyRules::default().with_padding()).unwrap();
        let got = replay(&all);
        for (to, from) in &wanted {
            assert_eq!(got.get(to), Some(from));
        }
        let (a, b) = (expansion(&from), expansion(&to));
        for (there, here) in &got {
            assert!((0..b.allocated_elements()).contains(there) && (0..a.allocated_elements()).contains(here));
            assert!(wanted.contains_key(there) || b.index(*there).unwrap().is_none(), "{from} {to}");
        }
        assert!(all.len() <= kept.len(), "{from} {to} {} {}", all.len(), kept.len());
        fewer += usize::from(all.len() < kept.len());
        // Within one layout, the whole array is one copy.
        assert_eq!(strided_copies(&from, &from, &window, &CopyRules::default().with_padding()).unwrap().len(), 1);
    }
    assert!(fewer > 50, "{fewer}");
}

/// With tiles of all kinds, and destination padding that may be written or not: for any old contents, each destination
/// element equals the source's at the same index, and no other memory is written.
#[test]
fn merged_and_repeated_tiles_are_copied_by_their_definition() {
    crate::long_test!();
    let mut random = Random(4);
    let mut fewer = 0;
    for _ in 0..20_000 {
        let rank = 1 + below(&mut random, 3);
        let sizes = some_sizes(&mut random, rank, 5);
        let (from, to) = (some_tiled(&mut random, &sizes), some_tiled(&mut random, &sizes));
        let window = Window::whole(&sizes);
        let wanted = expected(&from, &to, &window);
        let kept = strided_copies(&from, &to, &window, &CopyRules::default()).unwrap();
        assert_eq!(replay(&kept), wanted, "{from} {to}");
        let all = strided_copies(&from, &to, &window, &CopyRules::default().with_padding()).unwrap();
        let (a, b) = (expansion(&from), expansion(&to));
        let got = replay(&all);
        for (to_offset, from_offset) in &wanted {
            assert_eq!(got.get(to_offset), Some(from_offset), "{from} {to} at {to_offset}: {all:?}");
        }
        for (there, here) in &got {
            assert!((0..b.elements()).contains(there) && (0..a.elements()).contains(here), "{from} {to}");
            assert!(wanted.contains_key(there) || b.index(*there).unwrap().is_none(), "{from} {to}");
        }
        fewer += usize::from(all.len() < kept.len());
    }
    assert!(fewer > 300, "{fewer}");
}

/// Dimension 0 is the minor one of those that `*` merges, so one more index would change its place.
#[test]
fn a_merged_dimension_is_not_extended_into_padding() {
    let [from, to] = ["f32[2,2]{0,1:T(*,3)(2,1)}", "f32[2,2]{0,1}"].map(|text| text.parse::<Array>().unwrap());
    let window = Window::whole(&[2, 2]);
    let copies = strided_copies(&from, &to, &window, &CopyRules::default().with_padding()).unwrap();
    assert_eq!(replay(&copies), HashMap::from([(0, 0), (1, 2), (2, 4), (3, 1)]));
}

/// Whether a set of pairs is one strided copy: by trying each distance from the first.
fn is_copy(pairs: &[(i64, i64)]) -> bool {
    let [first, rest @ ..] = pairs else { return false };
    if rest.is_empty() {
        return true;
    }
    rest.iter().any(|other| {
        let step = (other.0 - first.0, other.1 - first.1);
        let has = |pair: (i64, i64)| pairs.contains(&pair);
        let begins: Vec<(i64, i64)> = pairs.iter().copied().filter(|p| !has((p.0 - step.0, p.1 - step.1))).collect();
        let length = |p: &(i64, i64)| (1..).find(|k| !has((p.0 + k * step.0, p.1 + k * step.1))).unwrap();
        begins.len() < pairs.len() && begins.iter().all(|p| length(p) == length(&begins[0])) && is_copy(&begins)
    })
}

/// The least number of copies: the least cover by subsets.
fn least(pairs: &[(i64, i64)]) -> usize {
    let all = (1_usize << pairs.len()) - 1;
    let part = |set: usize| (0..pairs.len()).filter(|k| set >> k & 1 == 1).map(|k| pairs[k]).collect::<Vec<_>>();
    let copies: Vec<bool> = (0..=all).map(|set| is_copy(&part(set))).collect();
    let mut best = vec![usize::MAX; all + 1];
    best[0] = 0;
    for set in 1..=all {
        let lowest = set & set.wrapping_neg();
        let mut sub = set;
        while sub > 0 {
            if sub & lowest > 0 && copies[sub] {
                best[set] = best[set].min(1 + best[set ^ sub]);
            }
            sub = (sub - 1) & set;
        }
    }
    best[all]
}

#[test]
fn there_are_as_few_as_can_be() {
    let mut random = Random(3);
    let (mut cases, mut more) = (0, 0);
    for rank in [1, 1, 2] {
        for _ in 0..150 {
            let sizes = if rank == 1 { vec![2 + below(&mut random, 8)] } else { some_sizes(&mut random, 2, 3) };
            let mut source = sizes.clone();
            source[0] += below(&mut random, 4);
            let (from, to) = (some_array(&mut random, &source, false), some_array(&mut random, &sizes, false));
            let mut window = Window::whole(&sizes);
            window.from[0] = below(&mut random, source[0] - sizes[0] + 1);
            let copies = strided_copies(&from, &to, &window, &CopyRules::default()).unwrap();
            let all: Vec<(i64, i64)> = expected(&from, &to, &window).into_iter().collect();
            let least = least(&all);
            assert!(copies.len() <= least + 1 + usize::from(rank == 2), "{from} {to} {window:?} {copies:?}");
            cases += 1;
            more += copies.len() - least;
        }
    }
    // One more than the least in a single case.
    assert!(cases == 450 && more <= 1, "{more} of {cases}");
}

#[test]
fn what_is_wrong_is_said() {
    let array = |text: &str| text.parse::<Array>().unwrap();
    let wrong = |from: &str, to: &str, window: Window, rules: CopyRules| {
        strided_copies(&array(from), &array(to), &window, &rules).unwrap_err().message
    };
    let whole = Window::whole(&[4]);
    let (a, b, rules) = ("f32[4]{0}", "f32[3]{0}", CopyRules::default());
    assert_eq!(wrong(a, "s32[4]{0}", whole.clone(), rules), "both must have one type of elements, found f32 and s32");
    assert_eq!(
        wrong(a, b, whole.clone(), rules),
        "the window must be inside of dimension 0 of f32[3]{0}, found 4 from 0 on in steps of 1"
    );
    assert_eq!(
        wrong(a, "f32[2,2]{1,0}", whole.clone(), rules),
        "the window must have 2 dimensions, as f32[2,2]{1,0} has"
    );
    assert_eq!(wrong(a, a, whole.clone(), rules.with_rank(0)), "a copy must have at least one loop");
    for (from, steps) in [(-1, 1), (i64::MAX, 1), (0, 0), (1, i64::MAX), (3, 1)] {
        let message = wrong(a, a, Window::slice(&[2], &[from], &[steps]), rules);
        assert!(message.starts_with("the window must be inside of dimension 0"), "{message}");
    }
    let large = "f32[3000000]{0}";
    let message = wrong(large, large, Window::whole(&[3_000_000]), rules);
    assert_eq!(message, "at most 1048576 indices of a dimension can be gone through");
    let cube = ("f32[1100,1100,1100]{0,1,2}", "f32[1100,1100,1100]{2,1,0}");
    let message = wrong(cube.0, cube.1, Window::whole(&[1100; 3]), rules.with_rank(1));
    assert_eq!(message, "there must be at most 1048576 copies");
}
