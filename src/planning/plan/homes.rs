//! Where arrays lie that have several names.
//!
//! A transpose or a reshape of a stored array is that array, where nothing moves. So a chain of them from an argument to a
//! result of the program has the argument's memory until something is copied, fast memory after that, and the result's
//! from the last copy on. What a copy costs depends on where it is in the chain: of `f32[4,32,32,64]` whose blocks of 2 × 2
//! are interleaved, one copy from the argument to the result takes 135,744 cycles, and three, of which the first fills fast
//! memory and the last empties it, 8,067, 1,200 and 11,866.
//!
//! Each of its names has its ways once for each memory that it may be in. And a reshape that has a [form](super::reshapes) is
//! made in other layouts only where it moves nothing and what it takes is there in the one, or what it makes is wanted in
//! the other: where copies stand on both sides, it is made in its form. So it has such ways twice, with no relayout before
//! it, and with none after it. A transpose has the layout of one of its sides, too: copies do not stand on both.

use super::classes::LayoutId;
use super::kernels::Kernels;
use super::moving::{ends, form, in_place};
use super::prices::{Meeting, Prices, Taker};
use super::program::{InstanceKind, Program};
use super::renames::Renames;
use super::ways::{AliasOf, Choices, Tied, Way};
use crate::solver::FORBIDDEN;
use rustc_hash::FxHashMap;
use std::rc::Rc;
use tensor_layout::text::Error;

/// The lists of ways of names, by those that they are made of and what [`homes`] tells apart.
type KnownWays = FxHashMap<(*const Vec<Way>, [bool; 4]), Rc<Vec<Way>>>;

/// Lists the ways of names once for each memory, and those of reshapes by the side that is as it is.
pub fn homes(
    program: &Program,
    choices: &mut Choices,
    (kernels, users): (&Kernels, &[Vec<(usize, usize)>]),
    renames: &Renames,
) {
    let mut known = KnownWays::default();
    // The lists of before stay, so that no other has their addresses.
    let before = choices.ways.clone();
    let is_end = |k: usize| matches!(program.instances[k].kind, InstanceKind::Result(_));
    for (k, instance) in program.instances.iter().enumerate() {
        let [result] = instance.results[..] else { continue };
        let form = form(program, choices, k);
        if !kernels.renamed[k] && form.is_none() {
            continue;
        }
        // A kernel that moves something writes it where it is wanted, under whatever name.
        let moves_there = form.is_some_and(|ends| !in_place(choices, ends))
            && matches!(users[result][..], [(user, _)] if renames.to_result[user] || is_end(user));
        let key = [kernels.renamed[k], renames.of_argument[result], renames.to_result[k], moves_there];
        if let Some(known) = known.get(&(Rc::as_ptr(&before[k]), key)) {
            choices.ways[k] = known.clone();
            continue;
        }
        let [renamed, argument, to_result, moves_there] = key;
        let mut all = Vec::new();
        for (number, way) in before[k].iter().enumerate() {
            let own = ends(program, choices, k, way);
            let moves = own.is_some_and(|ends| !in_place(choices, ends));
            let tied = match own {
                Some(_) if moves || form.is_none() || form == own => vec![None],
                // Where a transpose can have the layout of neither side, it has its first one.
                None if number == 0 => vec![Some(Tied::Operand), Some(Tied::Result), None],
                _ => vec![Some(Tied::Operand), Some(Tied::Result)],
            };
            let to_result = to_result || moves_there && form == own;
            let lie = [(AliasOf::Near, true), (AliasOf::Argument, argument), (AliasOf::Result, to_result)];
            let may = |(home, may): &(AliasOf, bool)| renamed && *may && !(moves && *home == AliasOf::Argument);
            let mut homes: Vec<Option<AliasOf>> =
                lie.iter().filter(|own| may(own)).map(|(home, _)| Some(*home)).collect();
            if !renamed || moves && form.is_none() {
                homes = vec![None];
            }
            for tied in tied {
                all.extend(homes.iter().map(|home| Way { home: *home, tied, ..way.clone() }));
            }
        }
        let all = Rc::new(all);
        known.insert((Rc::as_ptr(&before[k]), key), all.clone());
        choices.ways[k] = all;
    }
}

/// The cost of a name in `home` for an array that has a location; `named` says whether the array already has a name
/// that nothing else takes and that says where it lies.
///
/// # Errors
/// The cost does not fit in 64 bits.
pub fn rename(
    prices: &Prices,
    meeting: Meeting,
    (lies, named): (AliasOf, bool),
    home: AliasOf,
    (from, to): (LayoutId, LayoutId),
) -> Result<i64, Error> {
    match (lies, home) {
        (lies, home) if from == to && lies == home => Ok(0),
        // The kernel that makes it writes it there.
        (AliasOf::Near, AliasOf::Result) if from == to && !named => prices.written_far(meeting.class, to),
        (AliasOf::Result, _) | (_, AliasOf::Argument) => Ok(FORBIDDEN),
        _ if from == to => Ok(FORBIDDEN),
        _ => prices.relayout(meeting, from, to),
    }
}

/// The cost of making a name a result of the program.
///
/// # Errors
/// The cost does not fit in 64 bits.
pub fn end(prices: &Prices, meeting: Meeting, lies: AliasOf, (from, to): (LayoutId, LayoutId)) -> Result<i64, Error> {
    match lies {
        AliasOf::Result if from == to => Ok(0),
        AliasOf::Result => Ok(FORBIDDEN),
        _ if from == to => prices.copied(meeting.class, to, meeting.argument),
        _ => prices.relayout(Meeting { taker: Taker::Result, ..meeting }, from, to),
    }
}
