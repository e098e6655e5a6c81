// layout-verify: an approximation is another function than the one before.
// RUN: layout-opt %s --verify-diagnostics '--layout-verify=passes={layout-approximate-math}' -o /dev/null

// expected-error @below {{after layout-approximate-math: @approximated: element 0 of argument 0 is arith.mulf}}
module {
  func.func @approximated(%a: memref<4xf32>) {
    %c = arith.constant 0 : index
    %x = vector.load %a[%c] : memref<4xf32>, vector<4xf32>
    %y = math.exp %x fastmath<afn> : vector<4xf32>
    vector.store %y, %a[%c] : memref<4xf32>, vector<4xf32>
    return
  }
}
