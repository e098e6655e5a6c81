//! The cost of bringing an array from one layout into another.

use super::costs::{Price, at_rate};
use super::target::Target;
use crate::operations::shape::Array;
use crate::places::{Placement, plan};
use crate::text::Error;
use crate::tiled::{Expansion, Layout};

/// How a relayout moves elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum RelayoutKind {
    /// Every element stays at its byte.
    Bitcast,
    /// The same layout in another memory.
    Prefetch,
    /// Whole tiles change places.
    Tiles,
    /// Elements stay in their lanes.
    Sublanes,
    /// Elements change lanes.
    Lanes,
}

impl Target {
    /// The cost of bringing an array from one layout into another.
    ///
    /// # Errors
    /// A layout has no meaning on the array, or the cost does not fit in 64 bits.
    pub fn relayout_cost(&self, array: &Array, from: &Layout, to: &Layout) -> Result<i64, Error> {
        self.relayout_price(array, from, to)?.total()
    }

    /// [`Target::relayout_cost`] in parts.
    ///
    /// # Errors
    /// The errors of [`Target::relayout_cost`].
    pub fn relayout_price(&self, array: &Array, from: &Layout, to: &Layout) -> Result<Price, Error> {
        let kind = self.relayout_kind(array, from, to)?;
        let [from, to] = [from, to].map(|layout| Array { layout: layout.clone(), ..array.clone() });
        match kind {
            RelayoutKind::Bitcast => Ok(Price::default()),
            RelayoutKind::Prefetch => self.prefetch(&from),
            _ => self.copy(&from, &to),
        }
    }

    /// How long a copy of bytes to another memory takes that runs beside kernels: what passes until it begins, that of a
    /// window of a kernel, and what it moves at the slower of the rates at which one memory is read and the other written.
    ///
    /// # Errors
    /// The time does not fit in 64 bits.
    pub fn transfer_time(&self, bytes: i64, [from, to]: [u8; 2]) -> Result<[i64; 2], Error> {
        let memory = |space: u8| self.machine().memories.iter().rfind(|memory| memory.space == space);
        let rates = [memory(from).and_then(|memory| memory.reading), memory(to).and_then(|memory| memory.writing)];
        let moving = rates.into_iter().flatten().map(|rate| at_rate(bytes, rate)).max().unwrap_or(0);
        let window = i128::from(self.machine().model.costs.window.millionths);
        let units = |millionths: i128| i64::try_from((millionths + 999_999) / 1_000_000);
        match [window, moving].map(units) {
            [Ok(window), Ok(moving)] => Ok([window, moving]),
            _ => Err(Error::new("the cost does not fit in 64 bits").too_large()),
        }
    }

    /// The cost of bringing a tensor of elements of so many bits from one placement to another: at each level of the
    /// tree, the bytes that the busiest place gives or gets, whichever are more, at the rate of its link; and the bytes
    /// that change their address inside a place, read and written at the rates of its memory.
    ///
    /// # Errors
    /// The errors of [`plan`], and a cost that does not fit in 64 bits.
    pub fn placement_cost(&self, from: &Placement, to: &Placement, element_bits: i64) -> Result<i64, Error> {
        let machine = self.machine();
        let plan = plan(from, to, Some(machine), element_bits)?;
        let mut cost = 0i128;
        for level in &plan.levels {
            let link = machine.model.links.iter().find(|(axis, _)| *axis == level.axis);
            cost = cost.saturating_add(link.map_or(0, |(_, rate)| at_rate(level.up.max(level.down), *rate)));
        }
        if let Some(memory) = plan.memories[1].map(|memory| &machine.memories[memory])
            && plan.elements > 0
        {
            // Each place has its share of what stays in its place and moves there.
            let share = i128::from(to.local_elements()) * i128::from(plan.stay - plan.unmoved);
            let bytes = share / i128::from(plan.elements) * i128::from(element_bits) / 8;
            let bytes = i64::try_from(bytes).unwrap_or(i64::MAX);
            for rate in [memory.reading, memory.writing].into_iter().flatten() {
                cost = cost.saturating_add(at_rate(bytes, rate));
            }
        }
        i64::try_from(cost.saturating_add(500_000) / 1_000_000)
            .map_err(|_| Error::new("the cost does not fit in 64 bits").too_large())
    }

    /// How elements of an array move from one layout to another.
    ///
    /// # Errors
    /// A layout has no meaning on the array.
    pub fn relayout_kind(&self, array: &Array, from: &Layout, to: &Layout) -> Result<RelayoutKind, Error> {
        let Some(sizes) = array.sizes() else { return Ok(RelayoutKind::Lanes) };
        let [before, after] = [Expansion::new(&sizes, from)?, Expansion::new(&sizes, to)?];
        // A part of size 1 is nowhere but at its beginning.
        let parts = |side: &Expansion| {
            let parts = side.strided_dims().into_iter().filter(|part| part.size > 1);
            parts.map(|part| (part.dim, part.size, part.stride)).collect::<Vec<_>>()
        };
        let same = before.allocated_elements() == after.allocated_elements() && parts(&before) == parts(&after);
        let bits = (from.element_bits, from.metadata_prefix) == (to.element_bits, to.metadata_prefix);
        Ok(match (same && bits, from.memory_space == to.memory_space) {
            (true, true) => RelayoutKind::Bitcast,
            (true, false) => RelayoutKind::Prefetch,
            _ if from.minor_to_major.first() != to.minor_to_major.first() => RelayoutKind::Lanes,
            _ if from.minor_to_major.get(1) != to.minor_to_major.get(1) || from.tiles != to.tiles => {
                RelayoutKind::Sublanes
            }
            _ => RelayoutKind::Tiles,
        })
    }
}
