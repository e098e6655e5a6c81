//! Which reductions of floating-point numbers are found as integers: see `accumulators`.

use super::plan::{Mode, Plan};
use crate::kernel::combiner::Combiner;
use crate::options::{Options, Target};
use layout_ir as ir;
use melior::ir::ValueLike;

/// Which result a reduction has, where that is the largest or least number.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Extreme {
    Largest,
    Least,
}

impl Extreme {
    /// That of a reduction with this combiner; none where the machine does better without, or has too few registers.
    pub fn of(combiner: Option<&Combiner>, plan: &Plan, target: &Options) -> Option<Extreme> {
        let op = combiner?.op;
        let widest = match target.vectorize {
            Target::Avx512 => 64,
            Target::Avx2 => 32,
            Target::Neon | Target::None => 0,
        };
        let bits = ir::bits(ir::result(op, 0).r#type()).filter(|bits| [16, 32, 64].contains(bits))?;
        match ir::name(op) {
            _ if plan.mode == Mode::Elementwise || bits > widest => None,
            // Contractions have as many accumulators as registers hold in one part.
            _ if 4 * plan.accumulators() > i64::from(target.vector_registers()) => None,
            "arith.maximumf" => Some(Extreme::Largest),
            "arith.minimumf" => Some(Extreme::Least),
            _ => None,
        }
    }
}
