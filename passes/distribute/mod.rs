//! Programs of several processes, and operations spread over places.

pub mod call_mpi;
pub mod partition;
pub mod shard_to_mpi;
