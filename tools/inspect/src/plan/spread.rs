//! `layout-inspect plan` for a machine with places: TensorLayouts for all values, and the traffic of each level.

use super::answer::Names;
use super::shardings;
use crate::clock::Clock;
use layout_plan::plan::sharding::{Home, Pod, ShardingPlanner};
use layout_plan::plan::{ArrayName, GoOn, Planner, Program, Residence, SpaceLimit, Unplanned};
use tensor_layout::operations::{Facts, Graph};
use tensor_layout::targets::Target;
use tensor_layout::text::Error;

/// Whether values of a program have TensorLayouts on this machine.
pub fn has_places(target: &Target) -> bool {
    !target.machine().axes.is_empty()
}

/// Whether the places of a machine are devices, for which HLO text may have shardings.
pub fn has_devices(target: &Target) -> bool {
    Pod::of(target.machine()).is_some()
}

/// Refuses the options that have no meaning on a machine with places. On devices, comparing is allowed: with the
/// shardings of the text.
///
/// # Errors
/// One of them is used; the first one.
pub fn only(target: &Target, asked: &[(&str, bool, &str)]) -> Result<(), Error> {
    let compares = |name: &str| has_devices(target) && name.ends_with("compare");
    match asked.iter().find(|(name, asked, _)| *asked && has_places(target) && !compares(name)) {
        Some((name, _, why)) => Err(Error::new(format!("`{name}` is for machines without places, found axes: {why}"))),
        None => Ok(()),
    }
}

/// Why layouts of a file have no meaning on a machine with places.
pub const NO_FILE_LAYOUTS: &str = "layouts of HLO text are for one memory, and no TensorLayouts";

/// Why a judge has no meaning there.
pub const NO_JUDGE: &str =
    "a judge prices layouts of arguments and results beside the machine's default ones, and there are none";

/// Why a page has no meaning there.
pub const NO_PAGE: &str = "the page shows tiled layouts";

/// The planner of plans in which values have the shardings of the text, where it has any.
///
/// # Errors
/// A sharding that does not fit the devices, or what is wrong with the program or the capacities.
pub fn given<'a, 'm>(
    names: &Names<'m>,
    (graphs, facts): (&'a [Graph], &Facts),
    limits: &[SpaceLimit],
    clock: &mut Clock,
) -> Result<ShardingPlanner<'a, 'm>, Unplanned> {
    let known = shardings::given(names.module, names.target.machine())?;
    let home = |at: ArrayName| known.get(&at).map_or(Home::Free, |spread| Home::Given(spread.clone()));
    planner(names, (graphs, facts), &home, limits, &mut |progress| clock.go_on(progress))
}

/// The planner of a machine with places; `home` is the given home of each array.
///
/// # Errors
/// The program, the machine, or the capacities are wrong.
pub fn planner<'a, 'm>(
    names: &Names<'m>,
    (graphs, facts): (&'a [Graph], &Facts),
    home: &dyn Fn(ArrayName) -> Home,
    limits: &[SpaceLimit],
    go_on: &mut GoOn,
) -> Result<ShardingPlanner<'a, 'm>, Unplanned> {
    let program = Program::new(graphs, names.module.entry, facts).map_err(|error| Unplanned::Wrong(None, error))?;
    let mut planner = ShardingPlanner::of_program_within(&program, (names.target.machine(), home), go_on)?;
    planner.limit(limits, Residence::ForLife, go_on)?;
    Ok(planner)
}
