//! The cost of reshapes that move elements.
//!
//! Where a reshape has a [form](super::reshapes), what it takes is brought into that before it, and what it makes out of it
//! after it. In that form it moves nothing, or it is a kernel without a price: what it takes is stored for it, and those that
//! go on with what it makes read that. Without a form, it is the cheapest copy to a pair of layouts in which nothing moves
//! and of which it has one, or a kernel that reads and writes.

use super::classes::LayoutId;
use super::kernels::Kept;
use super::prices::{Extent, Meeting, Prices, Taker};
use super::program::{InstanceKind, Program};
use super::ways::{Choices, Way};
use tensor_layout::operations::operation::Operation;
use tensor_layout::text::Error;

/// The class and the layout of what a reshape takes, and of what it makes.
pub type ReshapeEnds = [(usize, LayoutId); 2];

/// The neighbours of a reshape.
#[derive(Clone, Copy, Debug)]
pub struct Around {
    /// The storage of its operand.
    pub made_by: Kept,
    /// Whether that is an argument of the program.
    pub argument: bool,
    /// The storage of its result.
    pub kept: Kept,
    /// Who takes it.
    pub taker: Taker,
}

/// The ends of an instance in a way, if it is a reshape.
pub fn ends(program: &Program, choices: &Choices, k: usize, way: &Way) -> Option<ReshapeEnds> {
    match (&way.operands[..], &way.results[..]) {
        ([Some(from)], [to]) => with_layouts(program, choices, k, [*from, *to]),
        _ => None,
    }
}

/// The ends in which an instance is made, if it is a reshape that has a form.
pub fn form(program: &Program, choices: &Choices, k: usize) -> Option<ReshapeEnds> {
    let [(from, _), (to, _)] = with_layouts(program, choices, k, [0, 0])?;
    let [before, after] = choices.forms.of(from, to)?;
    Some([(from, before), (to, after)])
}

fn with_layouts(program: &Program, choices: &Choices, k: usize, [from, to]: [LayoutId; 2]) -> Option<ReshapeEnds> {
    let instance = &program.instances[k];
    match (instance.kind, &instance.operands[..], &instance.results[..]) {
        (InstanceKind::Operation(Operation::Reshape), [operand, ..], [result]) => {
            Some([(choices.class[*operand], from), (choices.class[*result], to)])
        }
        _ => None,
    }
}

/// Whether two layouts put the elements of the row-major numbering into the same places.
pub fn in_place(choices: &Choices, ends: ReshapeEnds) -> bool {
    let [from, to] = ends.map(|(class, id)| &choices.classes.all[class].rows[usize::from(id)]);
    from.is_some() && from == to
}

/// The cost of a reshape that has a form.
///
/// # Errors
/// The cost does not fit in 64 bits.
pub fn through_form(
    prices: &Prices,
    choices: &Choices,
    [from, to]: ReshapeEnds,
    [before, after]: ReshapeEnds,
    around: Around,
) -> Result<i64, Error> {
    let bare = !in_place(choices, [before, after]);
    let first = copy(prices, from, before.1, (around.made_by, around.argument), Taker::Other)?;
    let mut cost = first;
    if bare && from.1 == before.1 && around.made_by == Kept::Fused {
        cost = cost.saturating_add(prices.storing(from)?);
    }
    let stored = if bare || from.1 != before.1 { Kept::Stored } else { around.kept };
    cost = cost.saturating_add(copy(prices, after, to.1, (stored, false), around.taker)?);
    if around.kept == Kept::Fused && stored == Kept::Stored {
        cost = cost.saturating_add(prices.rereading(to)?);
    }
    Ok(cost)
}

/// The cost of a reshape without a form, beside its own.
///
/// # Errors
/// The cost does not fit in 64 bits.
pub fn without_form(
    prices: &Prices,
    choices: &Choices,
    [from, to]: ReshapeEnds,
    others: impl Iterator<Item = ReshapeEnds>,
    around: Around,
) -> Result<i64, Error> {
    let mut least: Option<i64> = None;
    for [before, after] in others {
        if in_place(choices, [before, after]) && (before == from || after == to) {
            let [first, second] = [
                copy(prices, from, before.1, (around.made_by, around.argument), Taker::Other)?,
                copy(prices, after, to.1, (around.kept, false), around.taker)?,
            ];
            let both = first.saturating_add(second);
            least = Some(least.map_or(both, |least| least.min(both)));
        }
    }
    least.map_or_else(|| prices.moving(from, around.made_by, to, around.kept), Ok)
}

fn copy(
    prices: &Prices,
    (class, from): (usize, LayoutId),
    to: LayoutId,
    (kept, argument): (Kept, bool),
    taker: Taker,
) -> Result<i64, Error> {
    let extent = Extent::Nothing;
    prices.relayout(
        Meeting { class, kept, argument, taker, extent, reads: 0, in_place: false, follows: false },
        from,
        to,
    )
}
