//! Element relations as indexing maps, with the run-time values they depend on.

use crate::expr::{Expr, Named};
use crate::maps::domain::Interval;
use crate::maps::map::IndexingMap;
use std::fmt;

/// The source of a run-time variable of a map.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunTime<S = usize> {
    /// The holder of the value: an operand's leaf, or a node of a graph.
    pub source: S,
    /// The index of the element that holds it, over the variables of the map.
    pub element: Vec<Expr>,
    /// The interval of the variable.
    pub within: Interval,
    /// Whether a value outside is clamped into `within`; otherwise such a value makes the map empty.
    pub clamped: bool,
}

/// An indexing map with a source for each run-time variable, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mapped<S = usize> {
    /// The map, simplified.
    pub map: IndexingMap,
    /// The number of devices, if elements come from other devices. Dimension 0 and result 0 of the map are then the
    /// device, which runs the same program, and the element's indices follow.
    pub devices: Option<i64>,
    /// One entry for each run-time variable of the map.
    pub run_time: Vec<RunTime<S>>,
}

/// The elements of one tensor related to an element of another: the points of all maps together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Access<S = usize> {
    /// The maps; none if nothing is related.
    pub maps: Vec<Mapped<S>>,
    /// Reasons why elements beyond the maps may be related; none if the maps are complete.
    pub unknown: Vec<String>,
}

impl<S> Access<S> {
    /// The empty relation.
    pub fn none() -> Access<S> {
        Access { maps: Vec::new(), unknown: Vec::new() }
    }

    /// The number of devices, if elements come from other devices.
    pub fn devices(&self) -> Option<i64> {
        self.maps.iter().find_map(|m| m.devices)
    }

    /// Whether the maps are complete.
    pub fn is_known(&self) -> bool {
        self.unknown.is_empty()
    }
}

/// The maps, one per line, then the reasons why there may be more; `KNOWN EMPTY` if there are neither.
impl<S: fmt::Display> fmt::Display for Access<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.maps.is_empty() && self.unknown.is_empty() {
            return f.write_str("KNOWN EMPTY");
        }
        let mut first = true;
        let mut line = |f: &mut fmt::Formatter<'_>| if std::mem::take(&mut first) { Ok(()) } else { writeln!(f) };
        for mapped in &self.maps {
            line(f)?;
            write!(f, "{mapped}")?;
        }
        for reason in &self.unknown {
            line(f)?;
            write!(f, "UNDEFINED: {reason}")?;
        }
        Ok(())
    }
}

/// The map, then the source of each run-time variable: `rt0: 1[d0, 0]`.
impl<S: fmt::Display> fmt::Display for Mapped<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.map)?;
        for (k, run_time) in self.run_time.iter().enumerate() {
            let name = |v| self.map.name(v);
            let own = name(self.map.dims + self.map.ranges + k);
            write!(f, ", {own}: {}[", run_time.source)?;
            for (k, e) in run_time.element.iter().enumerate() {
                f.write_str(if k == 0 { "" } else { ", " })?;
                write!(f, "{}", Named(e, &name))?;
            }
            f.write_str("]")?;
        }
        Ok(())
    }
}
