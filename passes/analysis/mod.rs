//! Facts about functions and buffers that several passes ask for.

pub(crate) mod aliases;
pub(crate) mod execution_counts;
pub(crate) mod functions;
pub(crate) mod origins;
pub(crate) mod ownership;
pub(crate) mod same_bytes;
