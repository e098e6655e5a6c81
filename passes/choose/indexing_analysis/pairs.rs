//! The maps between results and operands, in both directions.

use tensor_layout::analysis::{Access, Mapped, RunTime};
use tensor_layout::maps::{Indexing, Interval, Kind};

/// The elements of an operand that a result reads, and the elements of the result that the operand feeds. Run-time
/// values are named by their operand number, or by their position in the called function.
pub struct Pair {
    /// From the result's index to the operand's.
    pub reads: Access<String>,
    /// From the operand's index to the result's.
    pub feeds: Access<String>,
}

/// The maps of an operation: a row for each result, with a pair for each operand.
pub type Pairs = Vec<Vec<Pair>>;

/// The maps of one direction as values; their union is the answer.
pub fn values<S>(access: &Access<S>) -> Vec<Indexing> {
    let known = access.maps.iter().map(|mapped| Indexing::Map(mapped.map.clone()));
    known.chain(access.unknown.first().map(|_| Indexing::Undefined)).collect()
}

/// The maps with known run-time variables replaced by their `value`, and the others named by `name`.
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
