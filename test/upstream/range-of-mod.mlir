// --int-range-optimizations takes the remainders of the two ends of a range for the ends of the remainder's range.
//
// Expected: the comparison stays. At %i = 15 the remainder is 15, and 15 <= 14 is false.
// Found, by MLIR 22.1.8: it is folded to true. For %i in [14, 27], `(d0) -> (d0 mod 16)` is given the signed range
// [27 mod 16, 14 mod 16] = [11, 14] and the unsigned range [14, 11]; the dividend passes a multiple of 16.
//
// Worked around in passes/buffers/index.rs: of affine.apply, affine.min and affine.max, `upstream` asks nothing.
// RUN: mlir-opt %s --int-range-optimizations --allow-unregistered-dialect | FileCheck %s

// CHECK-LABEL: func.func @remainder(
// CHECK: %[[TRUE:.*]] = arith.constant true
// CHECK: "use"(%[[TRUE]])
func.func @remainder() {
  %c14 = arith.constant 14 : index
  affine.for %i = 14 to 28 {
    %r = affine.apply affine_map<(d0) -> (d0 mod 16)>(%i)
    %small = arith.cmpi sle, %r, %c14 : index
    "use"(%small) : (i1) -> ()
  }
  return
}
