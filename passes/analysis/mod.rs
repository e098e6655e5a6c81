//! Facts about functions and buffers that several passes ask for.

pub(crate) mod aliases;
pub(crate) mod functions;
pub(crate) mod ownership;
pub(crate) mod runs;
pub(crate) mod same_bytes;
