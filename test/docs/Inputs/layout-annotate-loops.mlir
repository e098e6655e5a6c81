// layout-opt --layout-annotate-loops
func.func @fill(%x: vector<4xf32>, %m: memref<64xf32>) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c64 = arith.constant 64 : index
  scf.for %i = %c0 to %c64 step %c4 {
    vector.store %x, %m[%i] : memref<64xf32>, vector<4xf32>
  }
  return
}
