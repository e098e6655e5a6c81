//! Offsets in one memory: live ranges that overlap do not share bytes, small cases have the lowest end, and cut
//! rectangles are reassembled.

use crate::sample::Sample;
use layout_reference::random::Random;
use tensor_layout::offsets::{Arena, LiveRange, NoOffsets, SearchLimits, offsets};

fn random_ranges(
    random: &mut Random,
    count: usize,
    moments: usize,
    bytes: usize,
    alignments: &[i64],
) -> Vec<LiveRange> {
    let one = |_| {
        let (a, b) = (random.below(moments), random.below(moments));
        let alignment = alignments[random.below(alignments.len())];
        LiveRange { live: (a.min(b), a.max(b)), bytes: random.below(bytes) as i64, alignment }
    };
    (0..count).map(one).collect()
}

fn meet(a: &LiveRange, b: &LiveRange) -> bool {
    (a.live.0.max(b.live.0)..=a.live.1.min(b.live.1)).next().is_some()
}

/// Checks the properties of all offsets.
fn assert_valid(ranges: &[LiveRange], found: &Arena) {
    assert_eq!(found.offsets.len(), ranges.len());
    let moments = ranges.iter().map(|i| i.live.0);
    let live = |moment: usize| ranges.iter().filter(move |i| i.live.0 <= moment && moment <= i.live.1);
    let peak = moments.map(|moment| live(moment).map(|i| i.bytes).sum::<i64>()).max().unwrap_or(0);
    let end = ranges.iter().zip(&found.offsets).map(|(i, offset)| i.bytes + offset).max().unwrap_or(0);
    assert_eq!((found.peak, found.bytes), (peak, end));
    assert!(peak <= found.bound && found.bound <= found.bytes, "{found:?}");
    for (k, (one, at)) in ranges.iter().zip(&found.offsets).enumerate() {
        assert!(*at >= 0 && at % one.alignment == 0, "{one:?} {at}");
        for (other, there) in ranges.iter().zip(&found.offsets).skip(k + 1) {
            let apart = one.bytes.min(other.bytes) == 0 || at + one.bytes <= *there || there + other.bytes <= *at;
            assert!(!meet(one, other) || apart, "{one:?} at {at}, {other:?} at {there}");
        }
    }
}

/// The lowest end, by trying every offset below the best one for every range.
fn lowest(ranges: &[LiveRange], placed: &mut Vec<i64>, best: &mut i64) {
    let k = placed.len();
    let Some(one) = ranges.get(k) else {
        *best = ranges.iter().zip(&*placed).map(|(i, at)| i.bytes + at).max().unwrap_or(0);
        return;
    };
    for at in (0..).step_by(one.alignment as usize).take_while(|at| at + one.bytes < 1000) {
        if at + one.bytes >= *best {
            return;
        }
        let free = |(other, there): (&LiveRange, &i64)| {
            !meet(one, other)
                || one.bytes.min(other.bytes) == 0
                || at + one.bytes <= *there
                || there + other.bytes <= at
        };
        if ranges.iter().zip(&*placed).all(free) {
            placed.push(at);
            lowest(ranges, placed, best);
            placed.pop();
        }
    }
}

#[test]
fn small_cases_have_the_lowest_end() {
    let (rounds, seed) = Sample::from_env().random(3000, 7);
    let mut random = Random(seed);
    let mut aligned = 0;
    for round in 0..rounds {
        let alignments: &[i64] = if round % 2 == 0 { &[1] } else { &[1, 2, 4] };
        let count = 1 + random.below(7);
        let ranges = random_ranges(&mut random, count, 7, 7, alignments);
        let found = offsets(&ranges, &SearchLimits::default()).unwrap();
        assert_valid(&ranges, &found);
        let mut best = 1000;
        lowest(&ranges, &mut Vec::new(), &mut best);
        assert_eq!((found.bytes, found.bound), (best, best), "{ranges:?}");
        aligned += u32::from(best > found.peak);
        // A memory of these bytes holds them, one byte less does not.
        let limited =
            |capacity| offsets(&ranges, &SearchLimits { capacity: Some(capacity), ..SearchLimits::default() });
        assert_valid(&ranges, &limited(best).unwrap());
        match limited(best - 1).unwrap_err() {
            NoOffsets::Peak { bytes, capacity, .. } => assert_eq!((bytes, capacity), (found.peak, best - 1)),
            NoOffsets::Fragments { bytes, capacity, is_proved } => {
                assert!(bytes >= best && capacity == best - 1 && is_proved);
            }
            other => panic!("{other}"),
        }
    }
    // Some of them have holes by alignment.
    assert!(aligned > rounds / 30, "{aligned} of {rounds}");
}

#[test]
fn the_peak_is_not_always_reached() {
    let of = |(first, last, bytes)| LiveRange { live: (first, last), bytes, alignment: 1 };
    let all = [(1, 4, 2), (0, 0, 3), (3, 6, 3), (4, 5, 4), (5, 6, 4), (0, 3, 3), (1, 2, 1), (3, 3, 3), (0, 2, 4)];
    let ranges = all.map(of);
    let found = offsets(&ranges, &SearchLimits::default()).unwrap();
    assert_valid(&ranges, &found);
    let mut best = 1000;
    lowest(&ranges, &mut Vec::new(), &mut best);
    assert_eq!((found.peak, found.bytes, found.bound, best), (11, 12, 12, 12));
    let limits = SearchLimits { capacity: Some(11), ..SearchLimits::default() };
    let none = NoOffsets::Fragments { bytes: 12, capacity: 11, is_proved: true };
    assert_eq!(offsets(&ranges, &limits), Err(none));
}

/// Nearly as many pairs as the limit of the list, from ranges that all overlap.
#[test]
fn long_ranges_are_valid() {
    let mut random = Random(5);
    let ranges: Vec<LiveRange> = (0..2800)
        .map(|k| LiveRange { live: (k, 2800 + random.below(40)), bytes: 1 + random.below(100) as i64, alignment: 64 })
        .collect();
    let found = offsets(&ranges, &SearchLimits::default()).unwrap();
    assert_valid(&ranges, &found);
    assert!(found.bytes > found.peak, "the walk alone found the peak");
}

#[test]
fn large_cases_are_valid() {
    crate::long_test!();
    let mut random = Random(3);
    for round in 0..60 {
        let count = 1 + random.below(400);
        let ranges = random_ranges(&mut random, count, 1 + round * 20, 9000, &[1, 64, 4096]);
        let found = offsets(&ranges, &SearchLimits { capacity: None, steps: 20_000 }).unwrap();
        assert_valid(&ranges, &found);
    }
}

/// A rectangle of `bytes` and 1000 moments, cut into `count` at random offsets and times; `pinwheels` of 100 cuts are
/// four parts around a fifth, which no straight cut separates.
fn cut(random: &mut Random, count: usize, bytes: i64, pinwheels: usize) -> Vec<LiveRange> {
    let mut parts = vec![(0, 1000, 0, bytes)];
    while parts.len() < count {
        let at = random.below(parts.len());
        let (first, last, low, high) = parts[at];
        let rows = ((high - low) / 1024) as usize;
        if random.below(100) < pinwheels && last - first > 2 && rows > 2 {
            let left = first + 1 + random.below(last - first - 2);
            let right = left + 1 + random.below(last - left - 1);
            let below = 1 + random.below(rows - 2);
            let above = low + 1024 * (below + 1 + random.below(rows - below - 1)) as i64;
            let below = low + 1024 * below as i64;
            parts[at] = (left, right, below, above);
            parts.extend([(first, left, low, above), (left, last, low, below)]);
            parts.extend([(right, last, below, high), (first, right, above, high)]);
            continue;
        }
        let (part, other) = if random.below(2) == 0 && last - first > 3 {
            let middle = first + 1 + random.below(last - first - 1);
            ((first, middle, low, high), (middle, last, low, high))
        } else if rows > 2 {
            let middle = low + 1024 * (1 + random.below(rows - 1) as i64);
            ((first, last, low, middle), (first, last, middle, high))
        } else {
            continue;
        };
        parts[at] = part;
        parts.push(other);
    }
    for at in (1..parts.len()).rev() {
        parts.swap(at, random.below(at + 1));
    }
    let range = |(first, last, low, high)| LiveRange { live: (first, last - 1), bytes: high - low, alignment: 1 };
    parts.into_iter().map(range).collect()
}

#[test]
fn what_was_cut_is_put_together() {
    let mut random = Random(1);
    // The buffers, the pinwheels in 100 cuts, the removed ones in 100 buffers, the repetitions.
    for (count, pinwheels, taken, times) in [
        (20, 0, 0, 30),
        (60, 0, 0, 20),
        (120, 0, 0, 6),
        (200, 0, 0, 4),
        (60, 50, 0, 20),
        (100, 50, 0, 6),
        (100, 25, 2, 4),
        (200, 0, 3, 3),
    ] {
        for _ in 0..times {
            let mut ranges = cut(&mut random, count, 1 << 20, pinwheels);
            ranges.truncate(ranges.len() - ranges.len() * taken / 100);
            let limits = SearchLimits { capacity: Some(1 << 20), steps: 20_000_000 };
            let found = offsets(&ranges, &limits).unwrap_or_else(|error| panic!("{count} {pinwheels}: {error}"));
            assert_valid(&ranges, &found);
            assert!(found.bytes <= 1 << 20);
        }
    }
}

/// Three parts without a common moment: if the middle one is infeasible, that is proved, however hard the others are.
#[test]
fn parts_are_searched_by_themselves() {
    let mut random = Random(11);
    let moved = |range: LiveRange, by: usize| LiveRange { live: (range.live.0 + by, range.live.1 + by), ..range };
    let mut ranges = cut(&mut random, 60, 1 << 20, 50);
    // Two halves of the memory, each without its last byte, which is at an odd offset; and one byte.
    let half = LiveRange { live: (1000, 1010), bytes: (1 << 19) - 1, alignment: 1 << 19 };
    ranges.extend([half, LiveRange { live: (1005, 1020), ..half }, LiveRange { bytes: 1, alignment: 1, ..half }]);
    ranges.extend(cut(&mut random, 60, 1 << 20, 50).into_iter().map(|range| moved(range, 1021)));
    let found = offsets(&ranges, &SearchLimits { capacity: Some(1 << 20), steps: 20_000_000 });
    assert_valid(&ranges, &found.unwrap());
    // The other free byte is at an odd offset, too.
    ranges.push(LiveRange { live: (1005, 1006), bytes: 1, alignment: 2 });
    let none = offsets(&ranges, &SearchLimits { capacity: Some(1 << 20), steps: 20_000_000 }).unwrap_err();
    assert!(matches!(none, NoOffsets::Fragments { is_proved: true, .. }), "{none}");
}

#[test]
fn many_are_placed_by_the_walk_alone() {
    let mut random = Random(5);
    // All are live together for a while, so that their pairs are not listed.
    let one = |k: usize| LiveRange { live: (k, 5000 + k), bytes: 64 * (1 + random.below(9) as i64), alignment: 64 };
    let ranges: Vec<LiveRange> = (0..5000).map(one).collect();
    let found = offsets(&ranges, &SearchLimits::default()).unwrap();
    assert_eq!((found.bytes, found.bound), (found.peak, found.peak));
    // A chain in which each overlaps only the next ones.
    let one = |k: usize| LiveRange { live: (k, k + 3), bytes: 1 + random.below(1000) as i64, alignment: 1 };
    let ranges: Vec<LiveRange> = (0..200_000).map(one).collect();
    let found = offsets(&ranges, &SearchLimits::default()).unwrap();
    assert!(found.bytes < 2 * found.peak);
}

#[test]
fn faults_are_named() {
    let fault = |live, bytes, alignment, capacity| {
        let range = LiveRange { live, bytes, alignment };
        offsets(&[range, range], &SearchLimits { capacity, steps: 10 }).unwrap_err()
    };
    assert_eq!(fault((1, 0), 1, 1, None), NoOffsets::Wrong { range: 0 });
    assert_eq!(fault((0, 0), -1, 1, None), NoOffsets::Wrong { range: 0 });
    assert_eq!(fault((0, 0), 1, 0, None), NoOffsets::Wrong { range: 0 });
    assert_eq!(fault((0, 0), i64::MAX / 2 + 1, 1, None), NoOffsets::TooLarge);
    assert_eq!(fault((0, 0), 1, i64::MAX, None), NoOffsets::TooLarge);
    assert_eq!(
        fault((3, usize::MAX - 1), 50, 1, Some(99)).to_string(),
        "100 bytes are live at moment 3, and the memory has 99"
    );
    assert_eq!(offsets(&[], &SearchLimits::default()).unwrap().bytes, 0);
}
