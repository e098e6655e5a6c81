//! Intervals one after another, each in the lowest gap that what is placed leaves it.

use super::{Interval, neighbours};
use std::cmp::Reverse;

/// In which order: that of the most...
#[derive(Clone, Copy, Debug)]
pub enum Order {
    /// ...bytes.
    Bytes,
    /// ...moments times bytes.
    Area,
    /// ...moments.
    Length,
}

/// All orders.
pub const ORDERS: [Order; 3] = [Order::Bytes, Order::Area, Order::Length];

/// The offset of each interval.
pub fn lowest_gap(intervals: &[Interval], live: &[Vec<usize>], order: Order) -> Vec<i64> {
    let meets = neighbours(intervals, live);
    let key = |k: &usize| {
        let (length, bytes) = (intervals[*k].moments().count() as i64, intervals[*k].bytes);
        let area = length.saturating_mul(bytes);
        Reverse(match order {
            Order::Bytes => (bytes, length),
            Order::Area => (area, bytes),
            Order::Length => (length, bytes),
        })
    };
    let mut ordered: Vec<usize> = (0..intervals.len()).collect();
    ordered.sort_by_cached_key(key);
    let mut offsets: Vec<Option<i64>> = vec![None; intervals.len()];
    for k in ordered {
        let placed = meets[k].iter().filter_map(|other| Some((offsets[*other]?, intervals[*other].bytes)));
        let mut placed: Vec<(i64, i64)> = placed.collect();
        placed.sort_unstable();
        let mut offset = 0;
        for (start, bytes) in placed {
            if offset + intervals[k].bytes <= start {
                break;
            }
            offset = offset.max(intervals[k].align(start + bytes));
        }
        offsets[k] = Some(offset);
    }
    offsets.into_iter().map(|offset| offset.expect("all are placed")).collect()
}
