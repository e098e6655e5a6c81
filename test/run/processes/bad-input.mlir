// Another number of processes than the program's, and processes that do not get to their end: an error at all, an exit
// status that is not 0, and no wait longer than the limit.
// REQUIRES: mpi
// RUN: layout-opt %s --layout-to-llvm -o %t.mlir
// RUN: export RUNNER="mlir-runner %t.mlir -e main -entry-point-result=void -shared-libs=%{runner_libs},%{mpi}"

// RUN: %{mpirun} 2 $RUNNER | FileCheck %s --check-prefix=GOOD
// GOOD: {{\[}}3, 3]

// RUN: not %{mpirun} 3 $RUNNER 2>&1 | FileCheck %s --check-prefix=MORE
// RUN: not %{mpirun} 1 $RUNNER 2>&1 | FileCheck %s --check-prefix=FEWER
// MORE: error: this program is for 2 processes, and was started as 3: use mpirun -n 2
// FEWER: error: this program is for 2 processes, and was started as 1: use mpirun -n 2

// Without mpirun, a process is alone.
// RUN: not $RUNNER 2>&1 | FileCheck %s --check-prefix=FEWER

// One is killed while the other waits for it: the shell stands for a process that dies before it sends.
// RUN: not %{mpirun} 2 bash -c \
// RUN:   '[[ $OMPI_COMM_WORLD_RANK == 1 ]] && { sleep 1; kill -9 $$; }; exec $RUNNER' 2>&1 | FileCheck %s --check-prefix=KILLED
// KILLED: exited on signal 9

// One ends with no error, and without having started.
// RUN: not %{mpirun} 2 bash -c \
// RUN:   '[[ $OMPI_COMM_WORLD_RANK == 1 ]] && exit 3; exec $RUNNER' >%t.out 2>&1
// RUN: not grep -F '[3, 3]' %t.out

// One never arrives.
// RUN: not env MPIRUN_SECONDS=5 %{mpirun} 2 bash -c \
// RUN:   '[[ $OMPI_COMM_WORLD_RANK == 1 ]] && sleep 600; exec $RUNNER' >%t.out 2>&1
// RUN: FileCheck %s --check-prefix=LIMIT < %t.out
// LIMIT: Timeout: 5 seconds

// And the script's own arguments.
// RUN: not %{mpirun} 0 true 2>&1 | FileCheck %s --check-prefix=COUNT
// COUNT: expected a number of processes from 1 to 99999, found 0
// RUN: not %{mpirun} 2 2>&1 | FileCheck %s --check-prefix=USAGE
// USAGE: expected a number of processes and a program
// RUN: not env MPIRUN_SECONDS=-1 %{mpirun} 2 true 2>&1 | FileCheck %s --check-prefix=SECONDS
// SECONDS: expected a number of seconds in MPIRUN_SECONDS, found -1

shard.grid @g(shape = 2)
func.func private @printMemrefF32(tensor<*xf32>)

func.func @main() {
  %rank = shard.process_linear_index on @g : index
  %i = arith.index_cast %rank : index to i32
  %f = arith.sitofp %i : i32 to f32
  %one = arith.constant 1.0 : f32
  %v = arith.addf %f, %one : f32
  %x = tensor.splat %v : tensor<2xf32>
  %s = shard.all_reduce %x on @g grid_axes = [0] : tensor<2xf32> -> tensor<2xf32>
  %zero = arith.constant 0 : index
  %is_first = arith.cmpi eq, %rank, %zero : index
  scf.if %is_first {
    %u = tensor.cast %s : tensor<2xf32> to tensor<*xf32>
    func.call @printMemrefF32(%u) : (tensor<*xf32>) -> ()
  }
  return
}
