//! When arrays are in memory.
//!
//! Moment k is the time at which instance k runs; after the last one, at moment n, the results are there. `a` made by
//! instance 3 and read by 5 and 9 is there at 3 to 9. What is read inside of a kernel is there until the last operation of
//! the kernel. Arguments are there all the time, results at the end, and what a result is made of until then.
//!
//! An array that a loop carries is there from the beginning of the loop to its last reader in the body; then the array of
//! the next round, from where it is made to the end of the loop; and then it again, to its last reader after the loop.
//! An array that the loop never changes is there as long as the loop.

use super::kernels::{Kept, Kernels};
use super::program::{InstanceKind, Program};
use std::ops::Range;

/// The moments at which each array of a program is in memory; none for those that never are.
pub fn moments(program: &Program, users: &[Vec<(usize, usize)>], kernels: &Kernels) -> Vec<Vec<Range<i64>>> {
    let ends = loop_ends(program);
    (0..program.made.len()).map(|made| of_array(program, users, kernels, &ends, made)).collect()
}

/// For each merge of a loop the last instance of the loop.
pub(super) fn loop_ends(program: &Program) -> Vec<Option<usize>> {
    let n = program.instances.len();
    let mut ends = vec![None; n];
    let mut first = 0;
    while first < n {
        let node = program.instances[first].node;
        let same = |k: &usize| program.instances[*k].kind == InstanceKind::Merge && program.instances[*k].node == node;
        let last = (first..n).take_while(same).last().unwrap_or(first);
        let own = first..=last;
        let operands = own.clone().flat_map(|k| &program.instances[k].operands);
        // The merges of one loop stand in a row, and only those have operands that come later.
        let end = operands.map(|made| program.made[*made].by).max().filter(|end| *end > last);
        own.for_each(|k| ends[k] = end);
        first = last + 1;
    }
    ends
}

fn of_array(
    program: &Program,
    users: &[Vec<(usize, usize)>],
    kernels: &Kernels,
    ends: &[Option<usize>],
    made: usize,
) -> Vec<Range<i64>> {
    let by = program.made[made].by;
    let end = program.instances.len();
    let range = |first: usize, last: usize| first as i64..last as i64 + 1;
    match program.instances[by].kind {
        InstanceKind::Argument(..) => return vec![range(0, end)],
        InstanceKind::Result(_) => return vec![range(end, end)],
        _ if kernels.kept[by] != Kept::Stored => return Vec::new(),
        // It is another name of what is there already, unless it is a result.
        _ if kernels.renamed[by] && kernels.part_of[by] != [by] => return Vec::new(),
        _ => {}
    }
    let mut reads = Vec::new();
    for (user, _) in &users[made] {
        match program.instances[*user].kind {
            InstanceKind::Result(_) => reads.push(end - 1),
            // The next round's array.
            InstanceKind::Merge if *user < by => reads.extend(ends[*user]),
            _ => reads.extend(kernels.part_of[*user].iter().copied().chain([*user])),
        }
    }
    let last = reads.iter().copied().max().unwrap_or(by).max(by);
    match ends[by] {
        None => vec![range(by, last)],
        Some(end) if program.instances[by].operands.len() < 2 => vec![range(by, last.max(end))],
        Some(end) => {
            let inside = reads.into_iter().filter(|read| *read <= end).max().unwrap_or(by);
            let mut found = vec![range(by, inside)];
            if last > end {
                found.push(range(end + 1, last));
            }
            found
        }
    }
}
