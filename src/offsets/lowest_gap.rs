//! First fit in an order: each range gets the lowest gap among the placed ranges.

use super::{LiveRange, PlacingOrder, crowd};

/// The offset of each range; `meets` has the ranges that overlap each one in time.
pub fn lowest_gap(ranges: &[LiveRange], live: &[Vec<usize>], meets: &[Vec<usize>], order: PlacingOrder) -> Vec<i64> {
    let mut offsets: Vec<Option<i64>> = vec![None; ranges.len()];
    for k in order.of(ranges, &crowd(ranges, live)) {
        let placed = meets[k].iter().filter_map(|other| Some((offsets[*other]?, ranges[*other].bytes)));
        let mut placed: Vec<(i64, i64)> = placed.collect();
        placed.sort_unstable();
        let mut offset = 0;
        for (start, bytes) in placed {
            if offset + ranges[k].bytes <= start {
                break;
            }
            offset = offset.max(ranges[k].align(start + bytes));
        }
        offsets[k] = Some(offset);
    }
    offsets.into_iter().map(|offset| offset.expect("all are placed")).collect()
}
