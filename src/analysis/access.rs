//! Pairs of elements as indexing maps, with what the running program adds to them.

use crate::expr::{Expr, Named};
use crate::maps::domain::Interval;
use crate::maps::map::IndexingMap;
use std::fmt;

/// What the value of a run-time variable of a map is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunTime<S = usize> {
    /// What holds the value: an operand's leaf, or a place in a graph.
    pub source: S,
    /// The element that holds it, over the variables of the map.
    pub element: Vec<Expr>,
    /// The interval of the variable.
    pub within: Interval,
    /// Whether a value outside is clamped into `within`; where not, it makes the map say nothing.
    pub clamped: bool,
}

/// An indexing map whose run-time variables have a source each, in their order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mapped<S = usize> {
    /// The map, simplified.
    pub map: IndexingMap,
    /// The number of devices, where elements come from other devices: then dimension 0 and result 0 of the map are the
    /// device, which runs the same program, and the elements' indices come after it.
    pub devices: Option<i64>,
    /// One entry for each run-time variable of the map.
    pub run_time: Vec<RunTime<S>>,
}

/// Which elements of one tensor go with an element of another: the points of all maps together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Access<S = usize> {
    /// The maps; none where nothing is related.
    pub maps: Vec<Mapped<S>>,
    /// Why there may be more than the maps say; none where they say everything.
    pub unknown: Vec<String>,
}

impl<S> Access<S> {
    /// Nothing is related.
    pub fn none() -> Access<S> {
        Access { maps: Vec::new(), unknown: Vec::new() }
    }

    /// The number of devices, where elements come from other devices.
    pub fn devices(&self) -> Option<i64> {
        self.maps.iter().find_map(|m| m.devices)
    }

    /// Whether the maps say everything.
    pub fn is_known(&self) -> bool {
        self.unknown.is_empty()
    }
}

/// The maps, one a line, and then why there may be more; `KNOWN EMPTY` where there is neither.
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

/// The map, and for each run-time variable where its value is: `rt0: 1[d0, 0]`.
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
