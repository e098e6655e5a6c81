// Sums over an axis of the machine are added in the order of the program, one by one, unless `reassociate` says
// otherwise: 1e8 + 1 - 1e8 + 1 + ... in f32 is another number in any other order.
// RUN: layout-opt %s --layout-to-llvm | \
// RUN: mlir-runner -e main -entry-point-result=void -shared-libs=%{runner_libs} | FileCheck %s
// RUN: layout-opt %s --layout-to-llvm=form=physical | \
// RUN: mlir-runner -e main -entry-point-result=void -shared-libs=%{runner_libs} | FileCheck %s
// RUN: layout-opt %s --layout-to-llvm=reassociate=true | \
// RUN: mlir-runner -e main -entry-point-result=void -shared-libs=%{runner_libs} | FileCheck %s --check-prefix=SHARES

#spread = #layout.tensor_layout<((4_PE, 2:1))>
#copied = #layout.tensor_layout<((1:1))>

// One after another, 1 is lost beside 1e8, and each 3 after it counts.
// CHECK: ( 9 )
// The places have 1e8 + 1, -1e8 + 3, 3 + 3 and 0 + 0, of which 1 and 3 are lost.
// SHARES: ( 6 )
func.func @main() {
  %x = arith.constant dense<[1.0e8, 1.0, -1.0e8, 3.0, 3.0, 3.0, 0.0, 0.0]> : tensor<8xf32>
  %s = layout.convert %x : tensor<8xf32> to tensor<8xf32, #spread>
  %zero = arith.constant dense<0.0> : tensor<1xf32>
  %z = layout.convert %zero : tensor<1xf32> to tensor<1xf32, #copied>
  %sum = linalg.generic {
    indexing_maps = [affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]
  } ins(%s : tensor<8xf32, #spread>) outs(%z : tensor<1xf32, #copied>) {
  ^bb0(%e: f32, %o: f32):
    %r = arith.addf %o, %e : f32
    linalg.yield %r : f32
  } -> tensor<1xf32, #copied>
  %p = layout.convert %sum : tensor<1xf32, #copied> to tensor<1xf32>
  %i = arith.constant 0 : index
  %f = arith.constant 0.0 : f32
  %v = vector.transfer_read %p[%i], %f : tensor<1xf32>, vector<1xf32>
  vector.print %v : vector<1xf32>
  return
}
