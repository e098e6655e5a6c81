//! Lists of numbers in the value of an option: `8,128`, `1,0`, `0:2,0:3:2`.

use crate::numbers::quoted;
use layout_console::Complaint;
use std::str::FromStr;
use tensor_layout::places::Slice;

/// Numbers between commas: sizes (`i64`) or dimensions (`usize`).
pub fn numbers<N: FromStr>(list: &str) -> Option<Vec<N>> {
    list.split(',').map(|n| n.trim().parse().ok()).collect()
}

/// First index, limit and step between colons, for each dimension; a step of 1 may be left out.
pub fn slices(list: &str) -> Option<Vec<Slice>> {
    let slice = |text: &str| match text.split(':').map(|n| n.trim().parse().ok()).collect::<Option<Vec<_>>>()?[..] {
        [start, limit] => Some(Slice { start, limit, step: 1 }),
        [start, limit, step] => Some(Slice { start, limit, step }),
        _ => None,
    };
    list.split(',').map(slice).collect()
}

/// The complaint about the value of an option: `--tile must be sizes such as 8,128, found `x``.
pub fn wrong(option: &str, expected: &str, found: &str) -> Complaint {
    Complaint::new(format!("{option} must be {expected}, found {}", quoted(found)))
}
