//! The plan of one function.

use crate::analysis::functions::callee;
use crate::lower::plan_memory::memory::ArenaMemory;
use crate::lower::plan_memory::signature::GivenMemory;
use crate::lower::plan_memory::webs::{Text, Web, webs};
use layout_ir::{self as ir, Op};
use std::collections::HashMap;
use tensor_layout::offsets::{LiveRange, SearchLimits, offsets};

/// Limits of the offset search: a hundredth of a second for each function.
const LIMITS: SearchLimits = SearchLimits { capacity: None, steps: 200_000 };

/// A function with its buffers in places.
pub struct ArenaPlan<'c> {
    pub text: Text<'c>,
    pub webs: Vec<Web<'c>>,
    /// The offset of each web that is not returned.
    pub places: Vec<i64>,
    /// Calls of functions that are given scratch memory, with its bytes and offset.
    pub calls: Vec<(Op<'c>, i64, i64)>,
    /// The bytes of the arena.
    pub bytes: i64,
    /// The peak of live bytes, a lower bound for the arena.
    pub peak: i64,
}

impl<'c> ArenaPlan<'c> {
    /// The plan of a function. If its bytes overflow, nothing has a place.
    pub fn of(
        function: Op<'c>,
        signatures: &HashMap<&'c str, GivenMemory>,
        memory: ArenaMemory<'c>,
        given: bool,
    ) -> ArenaPlan<'c> {
        let text = Text::of(function);
        let webs = webs(&text, signatures, memory, given);
        let scratch = |op: Op<'c>| {
            let bytes = signatures.get(callee(op)?)?.scratch;
            (bytes > 0 && text.is_in_order(op)).then_some((op, bytes))
        };
        let calls: Vec<(Op, i64)> = text.operations.iter().filter_map(|op| scratch(*op)).collect();
        let own = webs.iter().filter(|web| web.returned.is_none()).map(Web::interval);
        let during = |(call, bytes): &(Op<'c>, i64)| {
            let at = text.number(*call);
            Some(LiveRange { live: (at, at), bytes: *bytes, alignment: ir::ALIGNMENT })
        };
        let intervals: Option<Vec<LiveRange>> = own.chain(calls.iter().map(during)).collect();
        let Some(found) = intervals.and_then(|intervals| offsets(&intervals, &LIMITS).ok()) else {
            return ArenaPlan { text, webs: vec![], places: vec![], calls: vec![], bytes: 0, peak: 0 };
        };
        let (mut places, bytes, peak) = (found.offsets.into_iter(), found.bytes, found.peak);
        let of_webs = webs.iter().map(|web| if web.returned.is_none() { places.next() } else { None });
        let of_webs = of_webs.map(Option::unwrap_or_default).collect();
        let calls = calls.into_iter().zip(places).map(|((op, bytes), place)| (op, bytes, place)).collect();
        ArenaPlan { text, webs, places: of_webs, calls, bytes, peak }
    }

    /// The memory that callers have to pass.
    pub fn signature(&self) -> GivenMemory {
        let ends = self.text.operations.iter().filter(|op| ir::name(**op) == "func.return");
        let count = ends.map(|op| ir::operands(*op).len()).max().unwrap_or(0);
        let mut returned = vec![None; count];
        for web in &self.webs {
            if let Some(k) = web.returned {
                returned[k] = web.interval().map(|interval| interval.bytes);
            }
        }
        GivenMemory { returned, scratch: self.bytes }
    }
}
