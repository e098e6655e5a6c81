//! Windows that meet the data at one position each, by the definition: every position of every window is tried.

use tensor_layout::operations::{Progression, WindowDim};

/// All positions of a window that are on an element, with the element.
fn met(dim: &WindowDim, data: i64, window: i64) -> Vec<[i64; 2]> {
    let on = |place: i64| {
        let at = window * dim.stride + place * dim.window_dilation - dim.low;
        let element = at / dim.base_dilation;
        let inside = at >= 0 && at % dim.base_dilation == 0 && element < data;
        inside.then_some([if dim.reversed { dim.size - 1 - place } else { place }, element])
    };
    (0..dim.size).filter_map(on).collect()
}

/// The only position of each window and its element, if both are progressions.
fn expected(dim: &WindowDim, data: i64, windows: i64) -> Option<[Progression; 2]> {
    let all: Vec<[i64; 2]> = (0..windows)
        .map(|o| match met(dim, data, o)[..] {
            [only] => Some(only),
            _ => None,
        })
        .collect::<Option<_>>()?;
    let first = *all.first()?;
    let second = *all.get(1).unwrap_or(&first);
    let lines = [0, 1].map(|k| Progression { start: first[k], step: second[k] - first[k] });
    let on_lines = |(o, pair): (usize, &[i64; 2])| (0..2).all(|k| pair[k] == lines[k].start + lines[k].step * o as i64);
    all.iter().enumerate().all(on_lines).then_some(lines)
}

#[test]
fn all_small_windows() {
    let mut found = [0; 2];
    for k in 0..4 * 5 * 8 * 3 * 5 * 2 {
        let digit = |by: i64, n: i64| k / by % n;
        let dim = WindowDim {
            size: 1 + digit(1, 4),
            stride: 1 + digit(4, 5),
            low: digit(20, 8) - 3,
            high: 0,
            window_dilation: 1 + digit(160, 3),
            base_dilation: 1 + digit(480, 5),
            reversed: digit(2400, 2) == 1,
        };
        for (data, windows) in (0..36).map(|n| (n % 6, n / 6)) {
            let only = dim.degenerate_window(data, windows).map(|only| [only.place, only.element]);
            assert_eq!(only, expected(&dim, data, windows), "{dim:?} on {data}, {windows} windows");
            found[usize::from(only.is_some())] += 1;
        }
    }
    assert!(found.iter().all(|n| *n > 10_000), "{found:?}");
}

/// Batch dimensions of products in the forms of XLA:TPU.
#[test]
fn batches_of_products() {
    let counted = Progression { start: 0, step: 1 };
    for n in 2..200 {
        let plain = WindowDim {
            size: n,
            stride: n - 1,
            low: 0,
            high: 0,
            window_dilation: 1,
            base_dilation: n,
            reversed: false,
        };
        let padded = WindowDim { stride: n, low: n - 1, high: n - 1, base_dilation: n - 1, reversed: true, ..plain };
        for dim in [plain, padded] {
            let only = dim.degenerate_window(n, n).unwrap();
            assert_eq!([only.place, only.element], [counted; 2], "{dim:?}");
        }
        assert_eq!(plain.degenerate_window(n + 1, n + 1), None, "the last window has no place");
    }
}

/// A window before any rule has checked it.
#[test]
fn steps_of_nothing() {
    let dim = WindowDim { size: 2, stride: 1, low: 0, high: 0, window_dilation: 1, base_dilation: 2, reversed: false };
    assert!(dim.degenerate_window(2, 2).is_some());
    for n in [0, -1, i64::MIN] {
        assert_eq!(WindowDim { window_dilation: n, ..dim }.degenerate_window(2, 2), None);
        assert_eq!(WindowDim { base_dilation: n, ..dim }.degenerate_window(2, 2), None);
        assert_eq!(dim.degenerate_window(n, 2), None);
        assert_eq!(dim.degenerate_window(2, n), None);
    }
}

/// The largest numbers do not wrap: the first and the last window are right.
#[test]
fn large_numbers() {
    let mut rng = fastrand::Rng::with_seed(1);
    let mut found = 0;
    for _ in 0..200_000 {
        let mut large = || match rng.u8(0..4) {
            0 => i64::MAX - rng.i64(0..3),
            1 => 1 + rng.i64(0..3),
            2 => i64::MAX / rng.i64(2..5),
            _ => rng.i64(1..1 << 20),
        };
        let (size, stride, low, high) = (large(), large(), large(), 0);
        let (window_dilation, base_dilation, data, windows) = (large(), large(), large(), large());
        let low = if low % 2 == 0 { 0 } else { low };
        let dim = WindowDim { size, stride, low, high, window_dilation, base_dilation, reversed: false };
        let Some(only) = dim.degenerate_window(data, windows) else { continue };
        for o in [0, windows - 1].map(i128::from) {
            let at = |line: Progression| i128::from(line.start) + i128::from(line.step) * o;
            let (place, element) = (at(only.place), at(only.element));
            assert!((0..size.into()).contains(&place) && (0..data.into()).contains(&element), "{dim:?}");
            let spread = element * i128::from(base_dilation) + i128::from(low);
            assert_eq!(o * i128::from(stride) + place * i128::from(window_dilation), spread, "{dim:?}");
        }
        found += 1;
    }
    assert!(found > 100, "{found}");
}
