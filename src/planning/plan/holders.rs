//! Arrays that are held in two layouts, so that a relayout that several operations need is made once.
//!
//! Such an array has a variable of its own: the layout that it is made in, and one more, or none. Each operation that takes
//! the array reads what it can of the two, or pays for a relayout of its own. A second layout is considered where an
//! operation takes the array in few layouts only, and another could take it in one of these, too.

use super::classes::LayoutId;
use super::ways::Choices;

/// The most second layouts of an array.
const MOST_SECONDS: usize = 6;

/// The layouts that an array is held in: the one that it is made in, and perhaps another.
pub type HeldIn = (LayoutId, Option<LayoutId>);

/// The states of an array with these users, instances and their operands; `None` where it is held in one layout. `ends` are the
/// layouts that a result of the program has where its layout is not free: so a free one has no less to choose from.
pub fn states(
    choices: &Choices,
    class: usize,
    made: &[LayoutId],
    users: &[(usize, usize)],
    ends: &[LayoutId],
) -> Option<Vec<HeldIn>> {
    if users.len() < 2 {
        return None;
    }
    let all = choices.classes.all[class].layouts.len();
    let mut takers = vec![0usize; all];
    let mut needed = vec![false; all];
    ends.iter().for_each(|id| needed[usize::from(*id)] = true);
    for (user, operand) in users {
        let mut taken = vec![false; all];
        for way in choices.ways[*user].iter() {
            match way.operands[*operand] {
                Some(id) => taken[usize::from(id)] = true,
                None => choices.ports[*user][*operand].iter().for_each(|id| taken[usize::from(*id)] = true),
            }
        }
        let few = taken.iter().filter(|taken| **taken).count() < all;
        for (id, taken) in taken.into_iter().enumerate().filter(|(_, taken)| *taken) {
            takers[id] += 1;
            needed[id] |= few && taken;
        }
    }
    let bytes = &choices.classes.all[class].bytes;
    let mut seconds: Vec<usize> = (0..all).filter(|id| needed[*id] && takers[*id] > 1).collect();
    seconds.sort_by_key(|id| (bytes[*id], *id));
    seconds.truncate(MOST_SECONDS);
    let mut own = made.to_vec();
    own.sort_unstable();
    own.dedup();
    // An array that is made as everybody takes it needs no other layout.
    if seconds.iter().all(|id| own == [*id as LayoutId]) {
        return None;
    }
    let with = |from: &LayoutId| {
        let from = *from;
        let more = seconds.iter().map(|id| *id as LayoutId).filter(move |id| *id != from);
        std::iter::once(None).chain(more.map(Some)).map(move |second| (from, second)).collect::<Vec<_>>()
    };
    Some(own.iter().flat_map(with).collect())
}
