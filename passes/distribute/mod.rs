//! Programs of several processes, and operations spread over places.

pub mod call_mpi;
#[cfg(not(feature = "distribute"))]
#[path = "no_partition.rs"]
pub mod partition;
#[cfg(feature = "distribute")]
pub mod partition;
#[cfg(not(feature = "distribute"))]
#[path = "no_shard_to_mpi.rs"]
pub mod shard_to_mpi;
#[cfg(feature = "distribute")]
pub mod shard_to_mpi;

/// The axis of the machine whose places are processes.
const PROCESS: &str = "Process";

/// On `mpi.init` and `mpi.comm_rank`: the number of processes of the program.
const PROCESSES: &str = "processes";

/// The MPI implementation, for upstream's conversion to LLVM.
pub(crate) const IMPLEMENTATION: (&str, &str) = ("dlti.map", "#dlti.map<\"MPI:Implementation\" = \"OpenMPI\">");
