//! Another archive of Rust, with a standard library of its own.

use std::collections::BTreeMap;
use std::panic::catch_unwind;

/// The number of numbers below `n`; -1 after a panic.
#[unsafe(no_mangle)]
pub extern "C" fn other(n: i32) -> i32 {
    let counted = catch_unwind(|| {
        assert!(n > 0, "a panic of the other archive");
        (0..n).map(|k| (k, k.to_string())).collect::<BTreeMap<_, _>>().len() as i32
    });
    counted.unwrap_or(-1)
}
