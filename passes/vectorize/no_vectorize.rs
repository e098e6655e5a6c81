//! Vector code in a build without the feature `vectorize`. [`LowerMemrefsOptions::check`] refuses the option, so no nest
//! gets here.

use crate::kernel::body::Body;
use crate::kernel::common_rows::CommonRows;
use crate::kernel::nest::Nest;
use crate::pass::options::LowerMemrefsOptions;
use layout_ir::{Builder, Op, Val};

/// Emits nothing, and says why.
pub fn emit<'c>(_: Builder<'c>, _: &Nest<'c>, _: &Body<'c>, _: &LowerMemrefsOptions) -> Result<(), String> {
    Err("there is no vector code in this build".to_string())
}

/// Kernels over the same rows: there are none.
pub enum NoRowBlocks {}

pub use NoRowBlocks as RowBlocks;

impl NoRowBlocks {
    /// Refuses all kernels.
    pub fn of<'c>(
        _: Builder<'c>,
        _: &[&(Nest<'c>, Body<'c>)],
        _: &CommonRows<'c>,
        _: &LowerMemrefsOptions,
    ) -> Result<NoRowBlocks, usize> {
        Err(0)
    }

    /// Emits the kernels.
    pub fn emit<'c>(self, _: Builder<'c>, _: &[Op<'c>], _: &dyn Fn(Val<'c>) -> bool) {
        match self {}
    }
}
