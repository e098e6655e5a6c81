//! Strided copies in answers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tensor_layout::transfers::StridedCopy;

/// A strided copy: the element at `from` and the sum of the counters times `from_strides` goes to the same of `to`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CopyAnswer {
    /// How many values each counter has; the innermost is last.
    pub sizes: Vec<i64>,
    /// Offsets and strides, in elements.
    pub from: i64,
    pub from_strides: Vec<i64>,
    pub to: i64,
    pub to_strides: Vec<i64>,
}

impl From<StridedCopy> for CopyAnswer {
    fn from(copy: StridedCopy) -> CopyAnswer {
        let StridedCopy { sizes, from, from_strides, to, to_strides, .. } = copy;
        CopyAnswer { sizes, from, from_strides, to, to_strides }
    }
}
