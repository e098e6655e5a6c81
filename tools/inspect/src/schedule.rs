//! The order of a program's instructions: the file's, or one that takes less memory.

use clap::ValueEnum;
use layout_plan::memory::{MemoryUse, Schedule};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use tensor_layout::hlo::Module;
use tensor_layout::text::Error;

/// The order in which instructions run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ScheduleOption {
    /// That of the file
    #[default]
    File,
    /// One in which the peak of no memory is higher than in the file's, and that of the main memory as low as is found
    LeastMemory,
}

impl ScheduleOption {
    /// Whether it is the order of the file.
    pub fn is_file(&self) -> bool {
        *self == ScheduleOption::File
    }
}

/// A module in the order of the option.
pub struct OrderedModule {
    /// The module.
    pub module: Module,
    /// The schedule, and the file's peaks with the bounds, where the order is not the file's.
    pub schedule: Option<(Schedule, OrderPeaks)>,
}

/// Two numbers of bytes for each memory space: the peak in the order of the file, and a lower bound for all
/// orders.
pub type OrderPeaks = BTreeMap<u8, [i64; 2]>;

impl OrderedModule {
    /// Puts a module into an order.
    ///
    /// # Errors
    /// An attribute about aliases cannot be read; 64 bits do not hold the bytes.
    pub fn new(module: Module, option: ScheduleOption) -> Result<OrderedModule, Error> {
        if option.is_file() {
            return Ok(OrderedModule { module, schedule: None });
        }
        let (used, schedule) = (MemoryUse::of(&module)?, Schedule::least_memory(&module)?);
        let of = |(space, own): (&u8, &layout_plan::memory::Space)| {
            let bound = schedule.bounds.get(space).copied().unwrap_or(0);
            (*space, [own.peak, own.peak - own.temporaries + bound])
        };
        let peaks = used.spaces.iter().map(of).collect();
        Ok(OrderedModule { module: schedule.apply(&module)?, schedule: Some((schedule, peaks)) })
    }

    /// The orders of computations that differ from the file's.
    pub fn orders(&self) -> BTreeMap<usize, Vec<usize>> {
        self.schedule.as_ref().map_or_else(BTreeMap::new, |(schedule, _)| schedule.orders.clone())
    }
}
