//! What results read of operands, and what operands feed of results.

use tensor_layout::analysis::{Access, Mapped, RunTime};
use tensor_layout::maps::{Indexing, Interval, Kind};

/// What a result reads of an operand, and what that feeds of it. Run-time values are named by the number of their
/// operand, or by their place in the function that is called.
pub struct Pair {
    /// From the result's index to the operand's.
    pub reads: Access<String>,
    /// From the operand's index to the result's.
    pub feeds: Access<String>,
}

/// What the results of an operation have to do with its operands: a row for each result, in it a pair for each operand.
pub type Pairs = Vec<Vec<Pair>>;

/// The maps of one direction as values, whose points together are the answer.
pub fn values<S>(access: &Access<S>) -> Vec<Indexing> {
    let known = access.maps.iter().map(|mapped| Indexing::Map(mapped.map.clone()));
    known.chain(access.unknown.first().map(|_| Indexing::Undefined)).collect()
}

/// The maps with run-time variables replaced whose `value` is known, and the others named by `name`.
pub fn with_names<S>(
    access: &Access<S>,
    value: &dyn Fn(&S) -> Option<i64>,
    name: &dyn Fn(&S) -> String,
) -> Access<String> {
    let mut all = Access { maps: Vec::new(), unknown: access.unknown.clone() };
    for Mapped { map, devices, run_time } in &access.maps {
        let (mut map, first) = (map.clone(), map.dims + map.ranges);
        let mut known = false;
        for (k, run_time) in run_time.iter().enumerate() {
            if let Some(value) = value(&run_time.source) {
                let within = run_time.within;
                let value = if run_time.clamped { value.clamp(within.lo, within.hi) } else { value };
                map.domain.vars[first + k] = Interval::new(value, value);
                known = true;
            }
        }
        let mut left: Vec<usize> = (0..map.variables()).collect();
        if known {
            let Indexing::Map(simple) = map.simplify() else { continue };
            (map, left) = simple.without_unused(&[Kind::RunTime]);
        }
        let run_time = left.iter().filter(|v| **v >= first).map(|v| {
            let of = &run_time[*v - first];
            RunTime { source: name(&of.source), element: of.element.clone(), within: of.within, clamped: of.clamped }
        });
        all.maps.push(Mapped { run_time: run_time.collect(), devices: *devices, map });
    }
    all
}
